// The network as a fluid: a transfer moves at its fair share of two links (fair_shares.hpp) from the instant
// at which its producer hands over the first chunk; a chunk has left when the fluid has moved its bytes, and
// has arrived a latency later. That later chunks are handed over in time is the checker's to see.
//
// Reports late, which makes the number of events that of the transfers and not that of the chunks: chunks
// count at the next of their transfer's end, a tick (every 10 ms), and the instant before their producer's
// next set. The first chunk of a transfer arrives on time, because it changes what its consumer's slots do.
// Which chunks count at a tick is worked out, recorded and reported only when it matters: before anything
// else happens to a node, its rate changes, or rows are closed. Rows are also credited with
// how much of the chunks under way has moved when a second ends.
//
// With a fabric (--switch), a transfer takes links of it (fluid_fabric.hpp), and its routes after failures.
//
// With shaping, a chunk is a transfer of its own, because each has its own instant, and all are reported at
// once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "simulation/fair_shares.hpp"
#include "simulation/fluid_fabric.hpp"
#include "simulation/pool.hpp"
#include "simulation/separate_control.hpp"

namespace weir::simulation {

class FluidNetwork final : public SeparateControl {
  public:
    FluidNetwork(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                 NetworkClient& client);

    void start(core::Instant now) override;
    void send_chunks(core::Instant now, std::uint32_t producer,
                     std::span<const core::SendChunk> chunks) override;
    void cancel(core::Instant now, std::uint32_t producer, core::StreamId stream) override;
    [[nodiscard]] core::Instant next(core::Instant now, core::Instant /*until*/) override;
    void advance(core::Instant now) override;
    void set_link(core::Instant now, FlatNode node, double factor) override;
    void set_failed(core::Instant now, std::uint32_t number, const Disturbance& disturbance,
                    bool on) override;

    [[nodiscard]] core::Duration report_period() const override {
        return by_chunk_ ? core::Duration{} : tick_period;
    }
    void catch_up(FlatNode node) override {
        if (accounts_[node].reported != ticks_) {
            report_ticks(node);
        }
    }
    void record(FlatNode node) override {
        if (accounts_[node].recorded != ticks_) {
            record_ticks(node);
        }
    }
    void report_left(core::Instant now, FlatNode producer) override;

  private:
    static constexpr core::Duration tick_period = core::Duration::milliseconds(10);

    enum Kind : std::uint8_t {
        first_chunk = first_data_kind,  ///< a: transfer, b: its serial number
        all_left,                       ///< a, b: as above; its producer stood still when the last byte left
        all_arrived,                    ///< a: transfer
        tick,
        routes_converge,
    };
    /// How far a transfer's chunks have passed one of its ends.
    struct Passage {
        std::uint32_t chunks = 0;    ///< have passed
        std::uint32_t reported = 0;  ///< of them
        BitNanoseconds next = 0;     ///< when this has passed, the next chunk has
        core::Bytes credited;        ///< so much of it is in the rows
    };
    struct Transfer {
        FlowId flow;
        std::uint32_t serial = 0;  ///< no other transfer has it
        bool active = false;
        bool moving = false;  ///< not all has left
        core::Duration latency;
        ChunkRun first;
        core::Bytes bytes;                 ///< of the whole transfer
        std::uint32_t first_sequence = 0;  ///< of its chunks
        std::uint32_t chunks = 0;
        std::uint64_t ticks = 0;  ///< so many have been counted
        Passage sent;
        Passage arrived;
    };
    /// What the transfers of a node do at ticks, between its turns.
    struct Account {
        std::vector<std::uint32_t> transfers{};  ///< those that go on; not with shaping
        std::uint64_t recorded = 0;              ///< so many ticks are in its rows
        std::uint64_t reported = 0;              ///< so many ticks have been reported to it
        std::vector<core::Bytes> bytes{};        ///< that count at ticks recorded + 1, recorded + 2, ...

        /// The bytes of the ticks from `first`, which is not recorded yet, to `last`.
        std::span<core::Bytes> at_ticks(std::uint64_t first, std::uint64_t last) {
            if (bytes.size() < last - recorded) {
                bytes.resize(last - recorded);
            }
            return std::span(bytes).subspan(first - recorded - 1, last - first + 1);
        }
    };
    /// What passes an end of a transfer at ticks.
    struct TickSteps {
        BitNanoseconds moved = 0;  ///< at the first tick
        BitNanoseconds step = 0;   ///< from tick to tick
        std::uint32_t most = 0;    ///< so many chunks can have passed
    };
    /// What a node's transfers have moved beyond the chunks that count.
    struct Moving {
        core::Bytes bytes;
        core::Instant since = core::Instant::never();  ///< of the oldest of which no chunk has arrived
    };

    [[nodiscard]] LinkId up(FlatNode node) const { return {2 * node}; }
    [[nodiscard]] LinkId down(FlatNode node) const { return {2 * node + 1}; }
    [[nodiscard]] FlatNode producer_of(const Transfer& transfer) const {
        return row().producer(transfer.first.producer);
    }
    [[nodiscard]] FlatNode consumer_of(const Transfer& transfer) const {
        return row().consumer(transfer.first.chunk.to.value);
    }

    void handle_data(core::Instant now, const QueueEvent& event) override;
    void begin(core::Instant now, std::uint32_t producer, const core::SendChunk& chunk);
    [[nodiscard]] std::vector<core::BitRate> capacities() const;
    void set_capacities(core::Instant now, const std::vector<LinkId>& links);
    void converge(core::Instant now);
    void end_left(core::Instant now, std::uint32_t index);
    void end_arrived(std::uint32_t index);

    // Chunks.
    [[nodiscard]] BitNanoseconds boundary(const Transfer& transfer, std::uint32_t chunks) const;
    [[nodiscard]] ChunkRun run_of(const Transfer& transfer, std::uint32_t first, std::uint32_t count) const;
    /// Marks what has passed an end as reported, and returns the run that was not yet.
    ChunkRun mark_reported(const Transfer& transfer, Passage& end) const {
        const std::uint32_t first = std::exchange(end.reported, end.chunks);
        return run_of(transfer, first, end.chunks - first);
    }
    /// Lets all chunks pass, but not more than `most`, that have passed when so much has moved. Returns how
    /// many these are.
    std::uint32_t pass_chunks(const Transfer& transfer, Passage& end, std::uint32_t most,
                              BitNanoseconds moved) const;
    /// What has arrived, its latency after it left, while the transfer moves.
    [[nodiscard]] BitNanoseconds arrived_by(core::Instant now, const Transfer& transfer) const;
    void report_sent(std::uint32_t index, BitNanoseconds moved);
    void report_arrived(std::uint32_t index, BitNanoseconds arrived);

    // Ticks.
    [[nodiscard]] core::Instant tick_time(std::uint64_t number) const {
        return first_tick_ + tick_period * static_cast<std::int64_t>(number - 1);
    }
    void handle_tick(core::Instant now);
    void credit_moving(core::Instant now);
    core::Bytes beyond_chunks(const Transfer& transfer, Passage& end, BitNanoseconds moved) const;
    /// Works out which chunks of a transfer have left and arrived at the ticks so far.
    void count_ticks(Transfer& transfer) {
        if (transfer.ticks != ticks_) {
            count_new_ticks(transfer);
        }
    }
    void count_new_ticks(Transfer& transfer);
    void count_passing(const Transfer& transfer, Passage& end, Account& account, std::uint64_t first,
                       const TickSteps& steps) const;
    void record_ticks(FlatNode node);
    void report_ticks(FlatNode node);

    core::Bytes chunk_size_;
    bool by_chunk_;                        ///< a chunk is a transfer of its own
    std::unique_ptr<FluidFabric> fabric_;  ///< nullptr: each rank has a link to one switch
    FairShares shares_;
    Pool<Transfer> transfers_;
    std::uint32_t begun_ = 0;
    std::vector<std::uint32_t> transfer_of_flow_;
    std::vector<std::uint32_t> new_transfers_;  ///< whose rate is not known yet

    core::Instant first_tick_;
    std::uint64_t ticks_ = 0;  ///< so far
    std::vector<Account> accounts_;
    std::vector<Moving> moving_;             ///< while it is credited
    std::vector<record::ChunkBytes> steps_;  ///< of one node, while they are recorded
    /// Index and serial number of those whose first chunk may not have arrived.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> first_chunk_ahead_;
};

}  // namespace weir::simulation
