// How messages of data get over UCP out of a producer's chunk buffers and into a consumer's, which are
// registered once. The transports differ in this alone: ucx_data.cpp (send), ucx_remote_data.cpp
// (put, get). A message is announced with the place it is for; the receiver says into which buffer it
// goes, or that it is not wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/buffers.hpp"
#include "transport/ucx/ucx_network.hpp"

namespace weir::transport {

class UcxData {
  public:
    /// Where a message goes at its receiver.
    struct Target {
        std::uint32_t place = 0;
        std::uint32_t buffer =
            0;  ///< of all of the receiver's, with put; the others choose one at the receiver
    };
    /// A message that this rank has not received yet.
    struct Arrival {
        std::uint32_t place = 0;
        Rank source;
        std::size_t bytes = 0;
        void* data = nullptr;        ///< send: UCX's: the bytes, or what they can be fetched by
        bool rendezvous = false;     ///< send
        std::uint32_t buffer = 0;    ///< put: of this rank, where the bytes lie; get: of the source
        std::uint32_t transfer = 0;  ///< get: the source's name for it
        std::uint32_t ticket = 0;    ///< get: the source's, of this use of `transfer`
    };
    /// The bytes of an outgoing message are free.
    struct SentMessage {
        std::size_t sending = 0;
        bool delivered = false;  ///< false: its receiver cannot be reached
    };
    /// The bytes of a message lie in a buffer.
    struct Received {
        Arrival arrival;
        std::size_t buffer = 0;
        bool complete = false;  ///< false: its sender cannot be reached any more
    };

    UcxData(const UcxData&) = delete;
    UcxData& operator=(const UcxData&) = delete;
    virtual ~UcxData();

    /// `message` lies in a chunk buffer and stays until sent() has `sending`, an index of the caller's. The
    /// same index may be sent again meanwhile if it has the same target.
    virtual void send(int to, Target target, std::span<const std::byte> message, std::size_t sending) = 0;
    /// Takes the bytes of a message into the buffer, which is free and has room for them. With put, they are
    /// there.
    virtual void receive(const Arrival& arrival, std::size_t buffer) = 0;
    /// Does without the bytes of a message. For its sender it has left.
    virtual void drop(const Arrival& arrival) = 0;
    /// Drops what is announced from now on.
    void drop_arrivals() { drops_ = true; }
    /// put: messages are announced when they lie in their buffer.
    [[nodiscard]] virtual bool writes_into_buffers() const { return false; }

    /// Address of this rank, for set_addresses() and reconnect() of the others.
    [[nodiscard]] virtual std::string address() const { return network_.address(); }
    /// By rank. Before the first send(). Throws TransportError.
    virtual void set_addresses(std::vector<std::string> addresses) {
        network_.set_addresses(std::move(addresses));
    }
    virtual void reconnect(int rank, const std::string& address) { network_.reconnect(rank, address); }

    virtual void progress() { network_.progress(); }
    /// Throws TransportError for what progress() has found out; UcxNetwork::report_failures.
    void report_failures(std::vector<Unreachable>& found);
    /// transport.hpp. What had been under way to the rank is in sent() when it returns.
    void disconnect(int rank);

    // What has happened, in that order; the caller removes what it has dealt with.
    [[nodiscard]] std::vector<Arrival>& arrivals() { return arrivals_; }
    [[nodiscard]] std::vector<SentMessage>& sent() { return sent_; }
    [[nodiscard]] std::vector<Received>& received() { return received_; }

    /// Messages whose bytes are under way.
    [[nodiscard]] std::size_t sending() const { return sending_; }
    [[nodiscard]] std::size_t receiving() const { return receiving_; }

    /// Closes all endpoints. False: the deadline passed with something under way that reaches into the
    /// buffers.
    bool close(Deadline deadline);

    /// UCX may still have requests that reach into the buffers, of connections that were closed by force.
    [[nodiscard]] bool gave_up() const { return gave_up_; }

    [[nodiscard]] UcxNetwork& network() { return network_; }

  protected:
    /// `self` is this rank; `buffers` are all of its chunk buffers and outlive this object. Throws
    /// TransportError.
    UcxData(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers);

    static constexpr unsigned message_kind = 0;

    /// With a callback for a request and what it gets.
    [[nodiscard]] ucp_request_param_t request_params(ucp_send_nbx_callback_t callback, void* argument) const;
    /// In the beginning of send(), and when the message has left, or cannot any more.
    void begin_sending(int to);
    void end_sending(std::size_t sending, int to, ucs_status_t status);
    void begin_receiving() { ++receiving_; }
    void end_receiving(const Arrival& arrival, std::size_t buffer, ucs_status_t status);
    /// Something came that is no message of data.
    void refuse(std::size_t bytes);
    /// What is under way to this rank is so no longer.
    virtual void give_up(int /*rank*/) {}
    /// Something besides the bytes is still under way.
    [[nodiscard]] virtual bool answering() const { return false; }

    int self_;
    int ranks_;
    const ChunkBuffers& buffers_;
    UcxNetwork network_;
    ucp_mem_h memory_ = nullptr;
    std::vector<Arrival> arrivals_;
    bool drops_ = false;

  private:
    std::vector<std::size_t> sending_to_;  ///< messages under way, by rank
    std::vector<SentMessage> sent_;
    std::vector<Received> received_;
    std::size_t sending_ = 0;
    std::size_t receiving_ = 0;
    bool gave_up_ = false;
    std::string unreadable_;
};

// For the transports `send`, `put` and `get`. Throw TransportError.
std::unique_ptr<UcxData> make_ucx_messages(UcxNetwork::Settings settings, int self,
                                           const ChunkBuffers& buffers);
std::unique_ptr<UcxData> make_ucx_puts(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers);
std::unique_ptr<UcxData> make_ucx_gets(UcxNetwork::Settings settings, int self, const ChunkBuffers& buffers);

}  // namespace weir::transport
