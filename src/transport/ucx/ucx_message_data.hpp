// Transport `send` over the engine `ucx`: active messages, by rendezvous unless they are small. The bytes of
// a message move when the receiver has a buffer for it.
//
// (Rejected: tagged messages. A receive for any producer, as places need it, is then found by a search
// through all that are posted, and nothing names the sender but the tag.)
#pragma once

#include <deque>

#include "transport/ucx/ucx_data.hpp"

namespace weir::transport {

class UcxMessageData final : public UcxData {
  public:
    UcxMessageData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers);

    void send(int to, Target target, std::span<const std::byte> message, std::size_t sending) override;
    void receive(const Arrival& arrival, std::size_t buffer) override;
    void drop(const Arrival& arrival) override;

  private:
    /// In front of every message. Plain memory on the wire: all ranks run the same executable.
    struct Header {
        std::int32_t source = -1;
        std::uint32_t place = 0;
    };
    struct Sending {
        UcxMessageData* data = nullptr;
        std::uint32_t index = 0;
        std::size_t sending = 0;
        int to = -1;  ///< -1: not in use, or given up
        Header header;
    };
    struct Receiving {
        UcxMessageData* data = nullptr;
        Arrival arrival;
    };

    static void message_sent(void* request, ucs_status_t status, void* sending);
    static void message_received(void* request, ucs_status_t status, std::size_t bytes, void* receiving);
    static ucs_status_t message_announced(void* to, const void* header, std::size_t header_length, void* data,
                                          std::size_t bytes, const ucp_am_recv_param_t* params);

    void give_up(int rank) override;

    std::deque<Sending> sendings_;  ///< UCX has pointers to them
    std::vector<std::uint32_t> free_;
    std::vector<Receiving> receivings_;  ///< by buffer; UCX has pointers to them
};

}  // namespace weir::transport
