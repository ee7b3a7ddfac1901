// Transport `datagram`: a chunk is one UDP datagram (datagram_header.hpp), sent once. What is lost stays lost
// and is counted: every producer counts what the kernel took from it, every consumer what it took off its
// socket. Control packets and warm-up go over MPI as with the other transports.
//
// A chunk is reported as sent when the kernel has taken it. One for which there is no room is kept and tried
// again at the next poll, never dropped here. A consumer checks each datagram where the kernel has put it, in
// a ring of a few buffers, and lets it be overwritten: what was taken off the socket counts as delivered.
// (Rejected: copying it into its slot. That measures this host's memory and not the network, and there is
// nothing to post: `open_place` has nothing to do.) A producer's datagrams come out of memory as large as
// --buffer, like those of the other transports.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/datagram_frames.hpp"
#include "transport/datagram/datagram_header.hpp"
#include "transport/datagram/datagram_socket.hpp"
#include "transport/datagram/datagram_warmup.hpp"
#include "transport/mpi/mpi_transport.hpp"

namespace weir::transport {

/// What of it is not in the plan.
struct DatagramOptions {
    core::Bytes socket_buffer;  ///< asked of the kernel, for sending and receiving; 0: its default
    std::string network;        ///< name of an interface, or a network like 10.0.0.0/8; empty: chosen
    /// Name of the host of this rank, unique among hosts: ranks on one host use loopback. Empty: the name
    /// that the system has.
    std::string host = {};
};

class DatagramTransport final : public MpiTransport {
  public:
    /// Collective, see MpiTransport. Opens the socket and allocates a producer's chunk buffers. Throws
    /// CapacityError and TransportError, in both cases on this rank only.
    DatagramTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan, DatagramOptions options);
    DatagramTransport(const DatagramTransport&) = delete;
    DatagramTransport& operator=(const DatagramTransport&) = delete;
    ~DatagramTransport() override;

    void open_place(core::PlaceId place) override;
    void send_chunk(const core::SendChunk& chunk) override;
    [[nodiscard]] const core::SocketState* socket_state() const override {
        return socket_ == nullptr ? nullptr : &state_;
    }

  private:
    std::unique_ptr<Warmup> make_warmup() override;
    void poll_data(Polled& found) override;
    bool stop_receiving(Deadline deadline, Polled& late) override;
    bool release_data(Deadline deadline) override;

    void flush();
    /// The kernel has taken the first so many of those that wait.
    void taken(std::size_t count);
    void count_datagram(const OutgoingChunks::Chunk& chunk);
    /// Whether there were any.
    bool receive_datagrams(Polled& found);
    void report_unreadable(const DatagramSocket::Incoming& datagram, Polled& found);
    void look_at_socket();

    DatagramOptions options_;
    std::vector<HostAddress> addresses_;
    DatagramPeers peers_;
    std::vector<bool> unreachable_;  ///< producer: consumers whose host reported that no socket is there
    DatagramForm form_;
    std::unique_ptr<DatagramSocket> socket_;  ///< none on the scheduler's rank
    core::SocketState state_;

    // Producer.
    std::vector<std::size_t> waiting_;                 ///< entries of outgoing_, one for each copy
    std::vector<DatagramSocket::Outgoing> datagrams_;  ///< theirs
    std::vector<ChunkSent> left_;                      ///< to be reported by the next poll
    std::int64_t cost_of_bytes_ = -1;                  ///< size and consumer of the datagram that cost_ is of
    core::ConsumerId cost_to_;
    core::WireCost cost_;

    // Consumer.
    std::map<Endpoint, int> producers_;  ///< ranks, by where their datagrams come from
    std::uint64_t drops_in_warmup_ = 0;
};

}  // namespace weir::transport
