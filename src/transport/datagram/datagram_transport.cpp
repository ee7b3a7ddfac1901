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
#include <map>

#include "core/datagram_frames.hpp"
#include "transport/datagram/datagram_header.hpp"
#include "transport/datagram/datagram_socket.hpp"
#include "transport/datagram/datagram_transport.hpp"
#include "transport/datagram/datagram_warmup.hpp"
#include "transport/mpi/mpi_transport.hpp"

namespace weir::transport {

namespace {

/// Calls of the kernel in one poll, so that the loop of a rank that always has datagrams goes on.
constexpr int receives_per_poll = 8;

class DatagramTransport final : public MpiTransport {
  public:
    /// Collective, see MpiTransport. Opens the socket and allocates a producer's chunk buffers. Throws
    /// CapacityError and TransportError, in both cases on this rank only.
    DatagramTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan, DatagramOptions options)
        : MpiTransport(comm, roles, std::move(plan)),
          options_(std::move(options)),
          unreachable_(plan_.consumers, false) {
        const std::int64_t bytes = core::chunk_capacity_bytes(plan_);
        if (plan_.chunk_size.count < core::datagram_least_bytes || bytes > core::datagram_most_bytes) {
            throw CapacityError("a datagram of " + std::to_string(plan_.chunk_size.count) +
                                " bytes is not possible: --chunk-size must be " +
                                std::to_string(core::datagram_least_bytes) + " to " +
                                std::to_string(core::datagram_most_bytes) + " bytes");
        }
        if (plan_.producers > datagram_index_limit || plan_.places() > datagram_index_limit ||
            plan_.chunks_per_fragment() > datagram_chunks_limit) {
            throw CapacityError("a datagram has room for " + std::to_string(datagram_index_limit) +
                                " producers, as many --slots of a consumer, and " +
                                std::to_string(datagram_chunks_limit) + " chunks of an event");
        }
        if (self_.role == core::Role::scheduler) {
            return;
        }
        const auto all = host_addresses();
        addresses_ = wanted_addresses(all, options_.network);
        if (addresses_.empty() && !options_.network.empty()) {
            std::string there;
            for (const HostAddress& address : all) {
                there += (there.empty() ? "" : ", ") + to_text(address);
            }
            throw TransportError(
                "--datagram-network", Rank{},
                "no IPv4 address of this host is in '" + options_.network + "'; it has " + there);
        }
        if (self_.role == core::Role::producer) {
            buffers_ = ChunkBuffers::for_producer(plan_);
            outgoing_ = OutgoingChunks(plan_, buffers_);
            // Each chunk may be doubled on purpose.
            waiting_.reserve(2 * outgoing_.entries());
            datagrams_.reserve(2 * outgoing_.entries());
        }
        socket_ = std::make_unique<DatagramSocket>(
            options_.socket_buffer,
            self_.role == core::Role::consumer ? DatagramForm::size_of({bytes}) : std::size_t{0});
        const DatagramSocket::Memory memory = socket_->memory();
        state_.send_buffer_bytes = memory.send_limit_bytes;
        state_.receive_buffer_bytes = memory.receive_limit_bytes;
    }

    DatagramTransport(const DatagramTransport&) = delete;
    DatagramTransport& operator=(const DatagramTransport&) = delete;
    ~DatagramTransport() override {
        // The kernel has copied what it took: nothing reaches into this memory.
        static_cast<void>(withdraw_all([](Deadline) { return true; }));
    }

    void open_place(core::PlaceId place) override {
        WEIR_ASSERT(self_.role == core::Role::consumer && place.value < plan_.places());
        WEIR_ASSERT(!closed_);
    }

    void send_chunk(const core::SendChunk& chunk) override {
        WEIR_ASSERT(self_.role == core::Role::producer && chunk.place.value < plan_.places());
        WEIR_ASSERT(chunk.to.value < peers_.consumers.size() && !warming_up());
        if (chunk.chunk.event.sequence() >= datagram_events_limit) {
            throw TransportError("sending datagrams", Rank{}, "an event's number has more than 40 bits");
        }
        const auto disturbance = next_disturbance();
        const std::size_t entry = outgoing_.reserve(chunk, DatagramForm::size_of(chunk.chunk.length),
                                                    disturbance == DisturbanceKind::duplicate ? 2 : 1);
        const auto datagram = outgoing_.message(entry);
        form_.write(datagram, chunk);
        if (disturbance == DisturbanceKind::corrupt_header) {
            datagram[datagram_header_bytes / 2] ^= std::byte{1};
        } else if (disturbance == DisturbanceKind::corrupt_payload) {
            datagram[(datagram_header_bytes + datagram.size()) / 2] ^= std::byte{1};
        }
        for (int copy = 0; copy < outgoing_.at(entry).copies; ++copy) {
            waiting_.push_back(entry);
            datagrams_.push_back({peers_.consumers[chunk.to.value], datagram});
        }
        if (waiting_.size() == DatagramSocket::at_a_time) {
            flush();
        }
    }

    [[nodiscard]] const core::SocketState* socket_state() const override {
        return socket_ == nullptr ? nullptr : &state_;
    }

  private:
    std::unique_ptr<Warmup> make_warmup() override {
        return make_datagram_warmup(Warmup::Parts{*this, self_, roles_, plan_, buffers_},
                                    DatagramSetup{.data = data_comm_,
                                                  .socket = socket_.get(),
                                                  .addresses = addresses_,
                                                  .by_default = options_.network.empty(),
                                                  .host = options_.host,
                                                  .peers = peers_,
                                                  .form = form_});
    }

    void poll_data(Polled& found) override {
        if (warming_up()) {
            return;  // what arrives is warm-up's
        }
        if (self_.role == core::Role::producer) {
            if (state_.mtu_bytes == 0) {  // the first time after the warm-up
                state_.mtu_bytes = *std::min_element(peers_.mtus.begin(), peers_.mtus.end());
            }
            flush();
            found.sent.insert(found.sent.end(), left_.begin(), left_.end());
            left_.clear();
            return;
        }
        if (self_.role != core::Role::consumer || closed_) {
            return;
        }
        look_at_socket();
        // Whatever waits is charged to the socket: when nothing is, it need not be read.
        for (int call = 0; state_.occupancy_bytes > 0 && call < receives_per_poll && receive_datagrams(found);
             ++call) {
        }
    }

    bool stop_receiving(Deadline deadline, Polled& late) override {
        if (self_.role == core::Role::consumer && !closed_) {
            while (receive_datagrams(late) && std::chrono::steady_clock::now() < deadline) {
            }
            look_at_socket();
        }
        closed_ = true;
        return true;
    }

    bool release_data(Deadline /*deadline*/) override { return true; }

    void flush() {
        while (!waiting_.empty()) {
            const std::size_t count = std::min(waiting_.size(), DatagramSocket::at_a_time);
            const DatagramSocket::SendOutcome sent = socket_->send(std::span(datagrams_).first(count));
            taken(sent.taken);
            if (sent.outcome == DatagramSocket::Outcome::unreachable) {
                const auto consumer = std::find(peers_.consumers.begin(), peers_.consumers.end(), sent.where);
                const auto index = static_cast<std::uint32_t>(consumer - peers_.consumers.begin());
                if (consumer == peers_.consumers.end() || unreachable_[index]) {
                    continue;  // of an address that this run does not send to, or known
                }
                unreachable_[index] = true;
                const int rank = rank_of(core::ConsumerId{index});
                throw TransportError("sending datagrams", Rank{rank},
                                     peers_.hosts[static_cast<std::size_t>(rank)].name + " at " +
                                         to_text(sent.where) + " does not take them: " + sent.why)
                    .that_leaves_control();
            }
            if (sent.outcome == DatagramSocket::Outcome::no_room) {
                ++state_.send_retries;
                state_.refused_by_queue += sent.by_queue ? 1U : 0U;
                return;
            }
        }
    }

    /// The kernel has taken the first so many of those that wait.
    void taken(std::size_t count) {
        for (const std::size_t entry : std::span(waiting_).first(count)) {
            const OutgoingChunks::Chunk& chunk = outgoing_.at(entry);
            count_datagram(chunk);
            if (outgoing_.end_copy(entry)) {
                left_.push_back({chunk.stream, chunk.sequence});
            }
        }
        const auto rest = static_cast<std::ptrdiff_t>(count);
        waiting_.erase(waiting_.begin(), waiting_.begin() + rest);
        datagrams_.erase(datagrams_.begin(), datagrams_.begin() + rest);
    }

    void count_datagram(const OutgoingChunks::Chunk& chunk) {
        const auto bytes = static_cast<std::int64_t>(chunk.message_bytes);
        if (bytes != cost_of_bytes_ || chunk.to != cost_to_) {
            cost_of_bytes_ = bytes;
            cost_to_ = chunk.to;
            cost_ = core::wire_cost(bytes, peers_.mtus[cost_to_.value]);
        }
        ++state_.sent_datagrams;
        state_.sent_bytes += static_cast<std::uint64_t>(bytes);
        state_.sent_frames += static_cast<std::uint64_t>(cost_.frames);
        state_.wire_bytes += static_cast<std::uint64_t>(cost_.bytes);
    }

    /// Whether there were any.
    bool receive_datagrams(Polled& found) {
        const auto arrived = socket_->receive();
        for (const DatagramSocket::Incoming& datagram : arrived) {
            const auto content = form_.read(datagram.bytes);
            if (!content) {
                report_unreadable(datagram, found);
                continue;
            }
            ChunkArrived& arrival = found.chunks.emplace_back();
            arrival.place = content->place;
            arrival.source = {roles_.rank(core::node_of(content->chunk.event.producer()))};
            arrival.payload_checked = content->payload_checked;
            arrival.chunk = content->chunk;
        }
        return arrived.size() == static_cast<std::size_t>(core::datagrams_at_a_time);
    }

    void report_unreadable(const DatagramSocket::Incoming& datagram, Polled& found) {
        if (form_.read_hello(datagram.bytes, core::ConsumerId{self_.index})) {
            return;  // warm-up's, on its way for long
        }
        const auto producer = producers_.find(datagram.from);
        if (producer == producers_.end()) {
            ++state_.strays;
            return;
        }
        found.chunks.push_back({.place = {},
                                .source = Rank{producer->second},
                                .header_intact = false,
                                .payload_intact = false,
                                .chunk = {}});
    }

    void look_at_socket() {
        const DatagramSocket::Memory memory = socket_->memory();
        if (producers_.empty()) {  // the first time after the warm-up
            drops_in_warmup_ = memory.drops;
            for (std::uint32_t producer = 0; producer < roles_.producers(); ++producer) {
                const int rank = roles_.rank(core::node_of(core::ProducerId{producer}));
                const std::uint16_t port = peers_.ports[static_cast<std::size_t>(rank)];
                producers_[{INADDR_LOOPBACK, port}] = rank;
                for (const HostAddress& address : peers_.hosts[static_cast<std::size_t>(rank)].addresses) {
                    producers_[{address.address, port}] = rank;
                }
            }
        }
        state_.occupancy_bytes = memory.received_bytes;
        state_.receive_drops = memory.drops - drops_in_warmup_;
    }

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

}  // namespace

std::unique_ptr<TransportBase> make_datagrams(MPI_Comm comm, const core::RoleMap& roles,
                                              const core::Plan& plan, const DatagramOptions& options) {
    return std::make_unique<DatagramTransport>(comm, roles, plan, options);
}

}  // namespace weir::transport
