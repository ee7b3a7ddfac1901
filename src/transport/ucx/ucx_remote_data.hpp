// What the transports `put` and `get` have in common over the engine `ucx`: every rank learns where the
// chunk buffers of the others are and how they are reached, once, and small active messages go with the
// transfers, which give their target no notice.
#pragma once

#include <deque>

#include "transport/ucx/ucx_data.hpp"

namespace weir::transport {

class UcxRemoteData : public UcxData {
  public:
    void drop(const Arrival& /*arrival*/) override {}

    [[nodiscard]] std::string address() const override;
    void set_addresses(std::vector<std::string> addresses) override;
    void reconnect(int rank, const std::string& address) override;
    void progress() override;

  protected:
    UcxRemoteData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers);

    /// Announces a message; with get also the answer of its receiver. Plain memory on the wire: all ranks run
    /// the same executable.
    struct DataNotice {
        std::int32_t source = -1;
        std::uint32_t place = 0;
        std::uint32_t buffer = 0;  ///< put: of the receiver; get: of the source
        std::uint32_t bytes = 0;
        std::uint32_t transfer = 0;  ///< the sender's
        std::uint32_t ticket = 0;
    };
    /// An outgoing message. `pending` requests, and with get the receiver's answer, are awaited; then
    /// next_step() is called.
    struct Transfer {
        UcxRemoteData* data = nullptr;
        std::uint32_t index = 0;
        std::uint32_t ticket = 0;  ///< of each use another
        std::size_t sending = 0;
        int to = -1;  ///< -1: not in use
        int pending = 0;
        int step = 0;
        bool answered = false;
        ucs_status_t status = UCS_OK;
        DataNotice notice;
    };

    Transfer& begin_transfer(int to, Target target, std::size_t bytes, std::size_t sending);
    /// All that the transfer waited for has ended; its status is UCS_OK as long as all went well.
    virtual void next_step(Transfer& transfer) = 0;
    /// A message was announced while arrivals are dropped.
    virtual void announce_dropped(const Arrival& /*arrival*/) {}
    void end_transfer(Transfer& transfer);
    /// Counts the request of a call if it is under way.
    void await(Transfer& transfer, ucs_status_ptr_t result);
    /// One of what the transfer waits for has ended.
    void ended(Transfer& transfer, ucs_status_t status);
    void send_notice(Transfer& transfer);

    /// Where byte 0 of a chunk buffer of another rank is, for UCX.
    [[nodiscard]] std::uint64_t remote_address(int rank, std::uint32_t buffer) const {
        return bases_[static_cast<std::size_t>(rank)] + std::uint64_t{buffer} * stride_;
    }
    [[nodiscard]] Transfer* find(const DataNotice& notice);
    /// UCX calls it with the transfer of an ended request.
    static void request_ended(void* request, ucs_status_t status, void* transfer);

    std::deque<Transfer> transfers_;  ///< UCX has pointers to them

  private:
    static ucs_status_t message_announced(void* to, const void* header, std::size_t header_length, void* data,
                                          std::size_t bytes, const ucp_am_recv_param_t* params);
    void take_address(int rank, const std::string& text, std::string& of_worker);

    std::uint64_t stride_ = 0;
    std::vector<std::uint64_t> bases_;  ///< by rank
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> ready_;  ///< for their next step
};

}  // namespace weir::transport
