// Messages of data over UCP, out of and into the chunk buffers, which are registered once: active messages,
// by rendezvous unless they are small. A message is announced with the place it is for, and its bytes move
// when the receiver has a buffer for it.
//
// (Rejected: tagged messages. A receive for any producer, as places need it, is then found by a search
// through all that are posted, and nothing names the sender but the tag.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/buffers.hpp"
#include "transport/ucx_network.hpp"

namespace weir::transport {

class UcxData {
  public:
    enum class Kind : unsigned { chunk, warmup };

    /// A message that this rank has not received yet.
    struct Arrival {
        std::uint32_t place = 0;
        Rank source;
        std::size_t bytes = 0;
        /// UCX's: the bytes, or what they can be fetched by; nullptr: bytes that are not needed.
        void* data = nullptr;
        bool rendezvous = false;
    };
    /// The bytes of an outgoing message are free.
    struct Sent {
        std::size_t sending = 0;
        bool delivered = false;  ///< false: its receiver cannot be reached
    };
    /// The bytes of a message lie in a buffer.
    struct Received {
        Arrival arrival;
        std::size_t buffer = 0;
        bool complete = false;  ///< false: its sender cannot be reached any more
    };

    /// `self` is this rank; `buffers` are all of its chunk buffers and outlive this object; `sendings`:
    /// messages to be sent that have an index, see send(). Throws TransportError.
    UcxData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers, std::size_t sendings);
    UcxData(const UcxData&) = delete;
    UcxData& operator=(const UcxData&) = delete;
    ~UcxData();

    /// `message` lies in a chunk buffer and stays until sent() has `sending`. The same index may be sent
    /// again meanwhile if it has the same place.
    void send(Kind kind, int to, std::uint32_t place, std::span<const std::byte> message,
              std::size_t sending);
    /// Takes the bytes of a message into the buffer, which is free and has room for them.
    void receive(const Arrival& arrival, std::size_t buffer);
    /// Does without the bytes of a message. For its sender it has left.
    void drop(const Arrival& arrival);
    /// Drops what is announced from now on.
    void drop_arrivals() { drops_ = true; }

    void progress() { network_.progress(); }
    /// Throws TransportError for what progress() has found out; UcxNetwork::report_failures.
    void report_failures(std::vector<Unreachable>& found);
    /// transport.hpp. What had been under way to the rank is in sent() when it returns.
    void disconnect(int rank);

    // What has happened, in that order; the caller removes what it has dealt with.
    [[nodiscard]] std::vector<Arrival>& arrivals(Kind kind) {
        return arrivals_[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] std::vector<Sent>& sent() { return sent_; }
    [[nodiscard]] std::vector<Received>& received() { return received_; }

    /// Messages whose bytes are under way.
    [[nodiscard]] std::size_t sending() const { return sending_; }
    [[nodiscard]] std::size_t receiving() const { return receiving_; }

    /// Closes all endpoints. False: the deadline passed with something under way that reaches into the
    /// buffers.
    bool close(Deadline deadline);

    [[nodiscard]] UcxNetwork& network() { return network_; }

  private:
    /// In front of every message. Plain memory on the wire: all ranks run the same executable.
    struct Header {
        std::int32_t source = -1;
        std::uint32_t place = 0;
    };
    struct Sending {
        UcxData* data = nullptr;
        int to = -1;
        Header header;
    };
    struct Receiving {
        UcxData* data = nullptr;
        Arrival arrival;
    };
    struct Handler {
        UcxData* data = nullptr;
        Kind kind = Kind::chunk;
    };

    static void message_sent(void* request, ucs_status_t status, void* sending);
    static void message_received(void* request, ucs_status_t status, std::size_t bytes, void* receiving);
    static ucs_status_t message_announced(void* handler, const void* header, std::size_t header_length,
                                          void* data, std::size_t bytes, const ucp_am_recv_param_t* params);

    [[nodiscard]] ucp_request_param_t request_params() const;
    void end_sending(std::size_t sending, ucs_status_t status);
    void end_receiving(std::size_t buffer, ucs_status_t status);

    int self_;
    int ranks_;
    const ChunkBuffers& buffers_;
    UcxNetwork network_;
    ucp_mem_h memory_ = nullptr;
    std::array<Handler, 2> handlers_;
    std::vector<std::size_t> sending_to_;  ///< messages under way, by rank
    std::vector<Sending> sendings_;        ///< UCX has pointers to them
    std::vector<Receiving> receivings_;    ///< by buffer; likewise
    std::array<std::vector<Arrival>, 2> arrivals_;
    std::vector<Sent> sent_;
    std::vector<Received> received_;
    std::size_t sending_ = 0;
    std::size_t receiving_ = 0;
    std::string unreadable_;  ///< what came that is no message of data
    bool drops_ = false;
};

}  // namespace weir::transport
