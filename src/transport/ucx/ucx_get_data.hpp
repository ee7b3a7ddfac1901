// Transport `get` over the engine `ucx`: a producer informs the consumer in which of its buffers a message
// lies, the consumer reads it when it has a buffer for it, and sends a message. Then the message has left.
#pragma once

#include "transport/ucx/ucx_remote_data.hpp"

namespace weir::transport {

class UcxGetData final : public UcxRemoteData {
  public:
    UcxGetData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers);

    void send(int to, Target target, std::span<const std::byte> message, std::size_t sending) override;
    void receive(const Arrival& arrival, std::size_t buffer) override;
    void drop(const Arrival& arrival) override { answer(arrival); }
    void progress() override;

  private:
    static constexpr unsigned answer_kind = message_kind + 1;

    struct Reading {
        UcxGetData* data = nullptr;
        Arrival arrival;
    };
    /// UCX has pointers to those that are in use.
    struct Answer {
        UcxGetData* data = nullptr;
        std::uint32_t index = 0;
        DataNotice notice;
    };

    static void message_read(void* request, ucs_status_t status, void* reading);
    static void answer_sent(void* request, ucs_status_t status, void* answer);
    static ucs_status_t answer_arrived(void* self, const void* header, std::size_t header_length, void* data,
                                       std::size_t bytes, const ucp_am_recv_param_t* params);

    void next_step(Transfer& transfer) override { end_transfer(transfer); }
    void announce_dropped(const Arrival& arrival) override { to_answer_.push_back(arrival); }
    void give_up(int rank) override;
    [[nodiscard]] bool answering() const override {
        return answers_.size() > free_answers_.size() || !to_answer_.empty();
    }
    void end_reading(std::size_t buffer, ucs_status_t status);
    void take_answer(Transfer& transfer, ucs_status_t status);
    void answer(const Arrival& arrival);

    std::vector<Reading> readings_;  ///< by buffer; UCX has pointers to them
    std::deque<Answer> answers_;
    std::vector<std::uint32_t> free_answers_;
    std::vector<Arrival> to_answer_;
};

}  // namespace weir::transport
