// Nodes: core and recorder together. A whole run in one process, without a network and in virtual time: what
// was moved by the rows is what was moved by the ledgers.
#include "participant/rank_node.hpp"

#include <algorithm>
#include <deque>
#include <memory>

#include "catch.hpp"
#include "judge/ledger_check.hpp"

using namespace weir::core;
using namespace weir::participant;
using weir::record::Latencies;
using weir::record::LiveSample;
using weir::record::RankRecord;
using weir::record::RankSummary;

namespace {

/// Three seconds of sets of ten events of 100 bytes, after one second of warm-up.
Plan small_plan() {
    Plan plan;
    plan.producers = 2;
    plan.consumers = 3;
    plan.rate = {8000};
    plan.interval = Duration::seconds(1);
    plan.event_size = {.kind = DistributionKind::fixed, .mean = 100};
    plan.buffer = {1000};
    plan.chunk_size = {40};
    plan.slot_size = {100};
    plan.window = 2;
    plan.slots = 2;
    plan.streams = 2;
    plan.duration = Duration::seconds(3);
    plan.warmup = Duration::seconds(1);
    plan.drain = Duration::seconds(2);
    return plan;
}

/// All ranks; messages and chunks take no time.
class World {
  public:
    struct Rank {
        NodeId id;
        Latencies latencies;
        std::vector<LiveSample> reports;
        std::unique_ptr<RowOutput> output;
        std::optional<RankNode> rank_node;
        Node* node = nullptr;
        std::uint64_t faults = 0;
    };

    explicit World(const Plan& plan) {
        now_ = Instant{} - plan.warmup;
        add(plan, scheduler_node());
        for (std::uint32_t p = 0; p < plan.producers; ++p) {
            add(plan, {Role::producer, p});
        }
        for (std::uint32_t c = 0; c < plan.consumers; ++c) {
            add(plan, {Role::consumer, c});
        }
    }

    void run() {
        for (const auto& rank : ranks_) {
            perform(*rank, [&](Actions& out) { rank->node->on_start(now_, out); });
        }
        deliver_all();
        while (!std::all_of(ranks_.begin(), ranks_.end(),
                            [](const auto& rank) { return rank->node->finished(); })) {
            Instant next = Instant::never();
            for (const auto& rank : ranks_) {
                next = std::min(next, rank->node->next_deadline());
            }
            REQUIRE(next < Instant{} + Duration::seconds(60));
            now_ = std::max(now_, next);
            for (const auto& rank : ranks_) {
                perform(*rank, [&](Actions& out) { rank->node->on_time(now_, out); });
                deliver_all();
            }
        }
        for (const auto& rank : ranks_) {
            rank->node->finish_recording(now_);
        }
    }

    [[nodiscard]] const std::vector<std::unique_ptr<Rank>>& ranks() const { return ranks_; }
    Rank& rank(NodeId id) {
        return **std::find_if(ranks_.begin(), ranks_.end(), [&](const auto& rank) { return rank->id == id; });
    }

  private:
    struct Delivery {
        NodeId from;
        NodeId to;
        ControlMessage message;
        bool is_chunk = false;
        SendChunk chunk;
    };

    void add(const Plan& plan, NodeId id) {
        ranks_.push_back(std::make_unique<Rank>());
        Rank& rank = *ranks_.back();
        rank.id = id;
        rank.output = std::make_unique<RowOutput>(
            nullptr, [&rank](const LiveSample& report) { rank.reports.push_back(report); });
        rank.rank_node.emplace(make_node(plan, id, now_, rank.latencies, *rank.output));
        rank.node = rank.rank_node->operator->();
    }

    template <typename Input>
    void perform(Rank& rank, Input&& input) {
        Actions out;
        input(out);
        rank.node->record(now_, out);
        rank.faults += out.faults.size();
        for (const SendChunk& chunk : out.chunks) {
            under_way_.push_back({rank.id, node_of(chunk.to), {}, true, chunk});
        }
        for (const SendMessage& message : out.messages) {
            under_way_.push_back({rank.id, message.to, message.message, false, {}});
        }
    }

    void deliver_all() {
        while (!under_way_.empty()) {
            const Delivery next = under_way_.front();
            under_way_.pop_front();
            Rank& to = rank(next.to);
            if (!next.is_chunk) {
                perform(to, [&](Actions& out) { to.node->on_message(now_, next.from, next.message, out); });
                continue;
            }
            Rank& from = rank(next.from);
            perform(from, [&](Actions& out) {
                from.rank_node->producer()->on_chunks_sent(now_, next.chunk.stream, next.chunk.chunk.sequence,
                                                           1, out);
            });
            perform(to, [&](Actions& out) {
                to.rank_node->consumer()->on_chunk(now_, next.chunk.place,
                                                   {.source = next.from, .chunk = next.chunk.chunk}, out);
            });
        }
    }

    Instant now_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::deque<Delivery> under_way_;
};

void check_rows(World& world, const Plan& plan) {
    std::vector<RankRecord> records;
    weir::record::TrafficMatrix traffic;
    for (const auto& rank : world.ranks()) {
        CHECK(rank->faults == 0);
        const RankSummary summary = rank->node->summary();
        CHECK(summary.node == rank->id);
        CHECK(summary.ledger_known);
        CHECK(summary.rows == static_cast<std::int64_t>(rank->reports.size()));
        Bytes moved;
        std::int64_t expected_second = -1;
        for (const LiveSample& report : rank->reports) {
            moved += report.moved;
            CHECK(report.node == rank->id);
            CHECK(report.start.second == expected_second++);
        }
        CHECK(summary.whole_seconds == 3);
        CHECK(moved == summary.run.moved(rank->id.role).bytes);
        if (rank->id.role == Role::producer) {
            CHECK(summary.run.generated.bytes == summary.ledger.generated.bytes);
            CHECK(summary.run.generated.events == summary.ledger.generated.events);
            CHECK(summary.run.sent.bytes == summary.ledger.sent.bytes);
            CHECK(summary.run.sent.events == summary.ledger.sent.events);
            CHECK(summary.run.lost.events == summary.ledger.lost.events);
        } else if (rank->id.role == Role::consumer) {
            CHECK(summary.run.received.bytes == summary.ledger.received.bytes);
            CHECK(summary.run.received.events == summary.ledger.received.events);
        }
        records.emplace_back().summary = summary;
        if (rank->id.role == Role::consumer) {
            traffic.set(ConsumerId{rank->id.index}, rank->node->account().traffic);
        } else {
            CHECK(rank->node->account().traffic.empty());
        }
    }
    CHECK(weir::judge::ledger_differences(plan, records).empty());
    CHECK(weir::judge::traffic_differences(plan, traffic, records).empty());
}

}  // namespace

TEST_CASE("The rows of a run sum to the counts of its ledgers") {
    const Plan plan = small_plan();
    World world(plan);
    world.run();
    check_rows(world, plan);
    const RankSummary producer = world.rank({Role::producer, 0}).node->summary();
    CHECK(producer.ledger.sent.events == 40);
    CHECK(producer.run.grants == 40);
    CHECK(producer.measured.sent.events == 30);  // the warm-up is not judged
    CHECK_FALSE(producer.overflowed());
    const Latencies& latencies = world.rank({Role::producer, 0}).latencies;
    CHECK(latencies.transfer.count() == 30);
    CHECK(latencies.offer_to_grant.count() == 30);
    const RankSummary scheduler = world.rank(scheduler_node()).node->summary();
    CHECK(scheduler.ledger.received.events == 80);
    CHECK(scheduler.run.grants == 80);
}

TEST_CASE("The rows of busy consumers sum to what they processed") {
    Plan plan = small_plan();
    plan.busy = {.kind = DistributionKind::fixed, .mean = 1e8};  // 0.1 s for each event of 100 bytes
    World world(plan);
    world.run();
    check_rows(world, plan);
    std::uint64_t processed = 0;
    for (std::uint32_t consumer = 0; consumer < 3; ++consumer) {
        const auto& rank = world.rank({Role::consumer, consumer});
        const RankSummary summary = rank.node->summary();
        processed += summary.run.processed.events;
        CHECK(summary.time.blocked > Duration{0});
        CHECK(rank.latencies.processing.count() > 0);
        CHECK_FALSE(rank.rank_node->consumer()->processing());  // the run is over
    }
    CHECK(processed <= 80);
    CHECK(processed >= 80 - 3 * 2);  // what was still in the slots at the end
}

TEST_CASE("Events that were lost are in the rows as in the ledgers") {
    Plan plan = small_plan();
    plan.overflow = Overflow::drop;
    plan.drain = Duration::milliseconds(2500);
    plan.busy = {.kind = DistributionKind::fixed, .mean = 1e9};
    World world(plan);
    world.run();
    check_rows(world, plan);
    std::uint64_t lost = 0;
    for (std::uint32_t producer = 0; producer < 2; ++producer) {
        const auto& node = *world.rank({Role::producer, producer}).node;
        std::uint64_t named = 0;
        for (const LostRange& range : node.account().lost) {
            named += range.last - range.first + 1;
        }
        CHECK(named == node.summary().ledger.lost.events);
        lost += named;
    }
    CHECK(lost > 0);
}

TEST_CASE("What happens at the last instant of a run is in a row also when that begins a second") {
    Plan plan = small_plan();
    plan.busy = {.kind = DistributionKind::fixed, .mean = 1e10};
    plan.drain = Duration::seconds(2);  // its end, where the rest is lost, is instant 5 s
    World world(plan);
    world.run();
    for (std::uint32_t producer = 0; producer < 2; ++producer) {
        const RankSummary summary = world.rank({Role::producer, producer}).node->summary();
        CHECK(summary.ledger.lost.events > 0);
        CHECK(summary.run.lost.events == summary.ledger.lost.events);
    }
}

TEST_CASE("Without a scheduler rows and ledgers agree as well") {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    World world(plan);
    world.run();
    check_rows(world, plan);
    CHECK(world.rank({Role::producer, 1}).node->summary().ledger.sent.events == 40);
    CHECK(world.rank(scheduler_node()).rank_node->scheduler()->no_credit_time(Instant{}) == Duration{0});
}

TEST_CASE("A heartbeat is no message of the protocol") {
    World world(small_plan());
    for (const auto& rank : world.ranks()) {
        Actions out;
        rank->node->on_message(Instant{}, scheduler_node(), Heartbeat{{5}}, out);
        CHECK(out.faults.empty());
        CHECK(out.messages.empty());
    }
}

TEST_CASE("The scheduler's node counts how long no slot was free") {
    World world(small_plan());
    SchedulerNode& scheduler = *world.ranks()[0]->rank_node->scheduler();
    Actions out;
    scheduler.on_message(Instant{}, {Role::producer, 0}, Offer{{1, {100}}}, out);
    scheduler.record(Instant{}, out);
    CHECK(scheduler.no_credit_time(Instant{} + Duration::seconds(2)) == Duration::seconds(2));
}

TEST_CASE("A producer that comes late to its next set has overflowed if something of the last one was left") {
    Plan plan = small_plan();
    plan.event_size.mean = 1000;  // one event per set, in one chunk
    plan.slot_size = plan.chunk_size = {1000};
    plan.warmup = {};
    for (const std::int64_t sets_in_buffer : {1, 2}) {
        plan.buffer = {1000 * sets_in_buffer};
        Latencies latencies;
        RowOutput output(nullptr, [](const LiveSample&) {});
        ProducerNode node(plan, ProducerId{0}, Instant{}, latencies, output);
        const auto at = [&](std::int64_t ms, const auto& input) {
            Actions out;
            const Instant now = Instant{} + Duration::milliseconds(ms);
            input(now, out);
            node.record(now, out);
        };
        at(0, [&](Instant now, Actions& out) { node.on_time(now, out); });
        at(10,
           [&](Instant now, Actions& out) { node.on_message(now, scheduler_node(), Grant{{0}, {0}}, out); });
        // It was away when the next set was due, and this event left meanwhile.
        at(1500, [&](Instant now, Actions& out) { node.on_chunks_sent(now, {0}, 0, 1, out); });
        at(1500, [&](Instant now, Actions& out) { node.on_time(now, out); });
        node.finish_recording(Instant{} + Duration::milliseconds(1600));
        CHECK(node.summary().max_occupancy <= 1);
        CHECK(node.summary().sets_in_time.late == 1);
        CHECK(node.summary().overflowed() == (sets_in_buffer == 1));
        CHECK((node.summary().first_overflow_second == 1) == (sets_in_buffer == 1));
    }
}
