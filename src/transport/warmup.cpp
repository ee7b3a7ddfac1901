
#include "transport/warmup.hpp"
#include "transport/chunk_header.hpp"

namespace weir::transport {

namespace {

/// Work of one step: some milliseconds. A message is some of it whatever its size.
constexpr std::size_t work_bytes_per_step = std::size_t{16} << 20U;
constexpr std::size_t work_bytes_of_message = std::size_t{16} << 10U;
constexpr std::size_t page_bytes = 4096;
/// Also what limits how many connections are made at a time.
constexpr std::size_t greetings_at_a_time = 64;
constexpr std::int64_t chunks_at_a_time = 64;
/// No other packet is so short.
constexpr std::array<std::byte, 1> greeting{std::byte{'W'}};

/// For which a greeting of a consumer is leave, the first for twice as many: what all producers together may
/// send without its help stays small.
std::int64_t chunks_per_greeting(const core::Plan& plan) {
    constexpr std::int64_t least = 32;
    constexpr std::int64_t bytes = std::int64_t{16} << 20U;
    return std::max(least, bytes / core::chunk_stride_bytes(plan) / plan.producers);
}

/// For transports whose chunks go into places.
class ChunkWarmup final : public Warmup {
  public:
    explicit ChunkWarmup(const Parts& parts)
        : Warmup(parts),
          per_pair_(std::max(warmup_messages_per_pair(parts.plan), std::int64_t{parts.connections})),
          per_place_(core::chunk_buffers_per_place(parts.plan)),
          per_greeting_(chunks_per_greeting(parts.plan)) {
        const core::RoleMap& roles = parts_.roles;
        const std::int64_t more =
            std::max(std::int64_t{0}, core::detail::ceil_div(per_pair_, per_greeting_) - 2);
        if (parts_.self.role == core::Role::consumer) {
            pairs_.resize(roles.producers());
            expect_more_greetings(more * roles.producers(), 0);
        } else if (parts_.self.role == core::Role::producer) {
            pairs_.resize(roles.consumers());
            expect_more_greetings(0, more * roles.consumers());
            // Producers begin at different consumers, so that these do not all get their data at the same
            // time.
            next_consumer_ = static_cast<std::uint32_t>(std::uint64_t{parts_.self.index} * roles.consumers() /
                                                        roles.producers());
            // As many on each stream, for each has buffers of its own.
            streams_.resize(parts_.plan.streams);
            for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
                const auto count = static_cast<std::int64_t>(streams_.size());
                streams_[stream].quota =
                    data_total() / count + (static_cast<std::int64_t>(stream) < data_total() % count ? 1 : 0);
            }
        }
    }

  private:
    /// A producer's. Of a transfer all chunks go to one place, as in the run.
    struct Stream {
        std::int64_t quota = 0;  ///< chunks of transfers that it has not begun
        std::uint32_t under_way = 0;
        std::int64_t rest = 0;  ///< of its transfer
        core::ConsumerId to;
        std::int64_t buffer = 0;  ///< of the consumer's, for the next chunk
    };
    struct Pair {
        std::int64_t greetings = 0;  ///< producer: that came; each is leave for some chunks more
        std::int64_t chunks = 0;     ///< of transfers that were begun; consumer: that came
    };

    void exchange(const Polled& found) override {
        if (!filled() || parts_.self.role == core::Role::scheduler) {
            return;
        }
        if (parts_.self.role == core::Role::consumer) {
            open_places();
            for (const ChunkArrived& chunk : found.chunks) {
                receive(chunk);
            }
            return;
        }
        for (const ChunkSent& sent : found.sent) {
            --streams_[sent.stream.value].under_way;
            ++done_;
        }
        send();
    }

    [[nodiscard]] std::int64_t data_done() const override { return done_; }
    [[nodiscard]] std::int64_t data_total() const override {
        return per_pair_ * static_cast<std::int64_t>(pairs_.size());
    }

    void greeted_by(core::NodeId from) override {
        if (parts_.self.role == core::Role::producer && from.role == core::Role::consumer) {
            ++pairs_[from.index].greetings;
        }
    }

    void open_places() {
        for (std::uint32_t place = 0; !open_ && place < parts_.plan.places(); ++place) {
            parts_.transport.open_place({place});
        }
        open_ = true;
    }

    void receive(const ChunkArrived& chunk) {
        // Where producers have more buffers than a consumer, two may put into one at a time.
        const bool is_whole = parts_.plan.transport != core::TransportKind::put ||
                              data_total() <= static_cast<std::int64_t>(parts_.buffers.count());
        const bool is_expected = chunk.header_intact && chunk.chunk.event_bytes == parts_.plan.slot_size;
        const core::NodeId from = parts_.roles.node(chunk.source.value);
        if (from.role != core::Role::producer || ++pairs_[from.index].chunks > per_pair_ ||
            (is_whole && !is_expected)) {
            throw TransportError("warm-up", chunk.source,
                                 "it sent a message that is none of the " + std::to_string(per_pair_) +
                                     " that this rank expects: do all ranks run the same plan?");
        }
        ++done_;
        count_work(parts_.buffers.message_bytes());
        parts_.transport.open_place(chunk.place);
        const std::int64_t chunks = pairs_[from.index].chunks;
        if (chunks % per_greeting_ == 0 && chunks + per_greeting_ < per_pair_) {
            greet_again(chunk.source.value);
        }
    }

    void send() {
        const std::uint32_t window = std::min(parts_.plan.window, parts_.plan.chunks_per_fragment());
        for (std::uint32_t id = 0; id < streams_.size(); ++id) {
            Stream& stream = streams_[id];
            while (stream.under_way < window && handed_over_ - done_ < chunks_at_a_time && may_work() &&
                   (stream.rest > 0 || begin_transfer(stream))) {
                send_chunk({id}, stream);
            }
        }
    }

    bool begin_transfer(Stream& stream) {
        // Not before the last one has left: no two chunks of a stream have the same sequence at a time.
        for (std::size_t tried = 0; stream.under_way == 0 && stream.quota > 0 && tried < pairs_.size();
             ++tried) {
            const core::ConsumerId to{next_consumer_};
            next_consumer_ = (next_consumer_ + 1) % parts_.roles.consumers();
            Pair& pair = pairs_[to.value];
            const std::int64_t leave =
                pair.greetings == 0 ? 0 : std::min(per_pair_, (pair.greetings + 1) * per_greeting_);
            if (pair.chunks < leave) {
                // Each producer begins where the one before it ends, so all buffers of the consumer have
                // their turn.
                stream.to = to;
                stream.buffer =
                    (per_pair_ * parts_.self.index + pair.chunks) % (per_place_ * parts_.plan.places());
                stream.rest =
                    std::min({leave - pair.chunks, per_place_ - stream.buffer % per_place_, stream.quota});
                pair.chunks += stream.rest;
                stream.quota -= stream.rest;
                return true;
            }
        }
        return false;
    }

    void send_chunk(core::StreamId id, Stream& stream) {
        const core::Plan& plan = parts_.plan;
        const auto sequence = static_cast<std::uint32_t>(stream.buffer % per_place_);
        const core::Bytes offset = plan.chunk_size * sequence;
        parts_.transport.send_chunk(
            {.to = stream.to,
             .place = {static_cast<std::uint32_t>(stream.buffer / per_place_)},
             .stream = id,
             // An event that no run has: nothing that stays in a place passes for one of its chunks.
             .chunk = {.event = core::EventId::of(core::ProducerId{parts_.self.index},
                                                  core::EventId::sequence_limit - 1),
                       .event_bytes = plan.slot_size,
                       .offset = offset,
                       .length = std::min(plan.chunk_size, plan.slot_size - offset),
                       .sequence = sequence,
                       .generated_at = {}}});
        ++stream.buffer;
        --stream.rest;
        ++stream.under_way;
        ++handed_over_;
        count_work(parts_.buffers.message_bytes());
    }

    std::int64_t per_pair_;
    std::int64_t per_place_;     ///< buffers
    std::int64_t per_greeting_;  ///< chunks
    std::int64_t done_ = 0;      ///< chunks that have left or come
    std::vector<Pair> pairs_;    ///< by index of the other role
    std::vector<Stream> streams_;
    std::int64_t handed_over_ = 0;
    std::uint32_t next_consumer_ = 0;
    bool open_ = false;
};

}  // namespace

Warmup::Warmup(const Parts& parts) : parts_(parts), fill_seed_(payload_seed(parts.plan, parts.self.index)) {
    const core::RoleMap& roles = parts_.roles;
    if (parts_.self.role != core::Role::scheduler) {
        to_greet_.push_back(roles.scheduler_rank());
    }
    // Ranks begin at different ones, so that these are not all greeted at the same time.
    for (int i = 1; i < roles.ranks(); ++i) {
        const int other = (roles.rank(parts_.self) + i) % roles.ranks();
        if (parts_.self.role == core::Role::scheduler ||
            (parts_.self.role == core::Role::consumer && roles.node(other).role == core::Role::producer)) {
            to_greet_.push_back(other);
        }
    }
    const std::int64_t others = parts_.self.role == core::Role::scheduler ? roles.ranks() - 1
                                : parts_.self.role == core::Role::producer
                                    ? 1 + std::int64_t{roles.consumers()}
                                    : 1;
    expect_more_greetings(static_cast<std::int64_t>(to_greet_.size()), others);
}

void Warmup::expect_more_greetings(std::int64_t to_send, std::int64_t to_come) {
    greetings_to_send_ += to_send;
    greetings_expected_ += to_come;
}

void Warmup::count_work(std::size_t bytes) {
    work_bytes_ += bytes + work_bytes_of_message;
}

bool Warmup::may_work() const {
    return work_bytes_ < work_bytes_per_step;
}

bool Warmup::step(Polled& early) {
    work_bytes_ = 0;
    fill();
    do {
        found_.clear();
        parts_.transport.poll(found_);
        if (!found_.unreachable.empty()) {
            throw TransportError("warm-up", found_.unreachable.front().rank, found_.unreachable.front().why);
        }
        take_greetings(early);
        exchange(found_);
        if (filled()) {
            greet();
        }
    } while (!found_.empty() && may_work());
    return messages_done() == messages_total();
}

void Warmup::fill() {
    for (; !filled() && may_work(); ++filled_) {
        const auto buffer = static_cast<std::size_t>(filled_);
        const auto memory = parts_.buffers.at(buffer);
        if (parts_.self.role == core::Role::producer) {
            fill_payload(memory, buffer_seed(fill_seed_, buffer));
        } else {
            for (std::size_t at = 0; at < memory.size(); at += page_bytes) {
                memory[at] = std::byte{0};
            }
        }
        work_bytes_ += memory.size();
    }
}

void Warmup::take_greetings(Polled& early) {
    for (const PacketArrived& packet : found_.packets) {
        const auto content = found_.content(packet);
        if (!std::equal(content.begin(), content.end(), greeting.begin(), greeting.end())) {
            early.add_packet(packet.source, content);
            continue;
        }
        if (++greetings_came_ > greetings_expected_) {
            throw TransportError("warm-up", packet.source,
                                 "a greeting too many: do all ranks run the same plan?");
        }
        greeted_by(parts_.roles.node(packet.source.value));
    }
}

void Warmup::greet() {
    while (greeted_ < static_cast<std::int64_t>(to_greet_.size()) &&
           parts_.transport.packets_under_way() < greetings_at_a_time) {
        parts_.transport.send_packet(Rank{to_greet_[static_cast<std::size_t>(greeted_++)]}, greeting);
    }
}

std::unique_ptr<Warmup> make_chunk_warmup(const Warmup::Parts& parts) {
    return std::make_unique<ChunkWarmup>(parts);
}

}  // namespace weir::transport
