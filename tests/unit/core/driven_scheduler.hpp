// A scheduler in a test. A policy that only watches stands in for the real ones, which have tests of their
// own.
#pragma once

#include <map>
#include <memory>
#include <vector>
#include "catch.hpp"
#include "core/actions.hpp"
#include "core/scheduler.hpp"

namespace weir::core::scheduler_test {

inline Plan small_plan() {
    Plan plan;
    plan.producers = 2;
    plan.consumers = 3;
    plan.rate = {1000000};
    plan.interval = Duration::seconds(1);
    plan.chunk_size = {40};
    plan.slot_size = {100};
    plan.window = 2;
    plan.slots = 2;
    plan.streams = 2;
    plan.duration = Duration::seconds(10);
    plan.drain = Duration::seconds(5);
    return plan;
}

inline Plan direct_plan() {
    Plan plan = small_plan();
    plan.policy = PolicyKind::none;
    return plan;
}

inline Instant at_s(std::int64_t seconds) {
    return Instant{} + Duration::seconds(seconds);
}

struct Standings {
    std::map<std::uint32_t, ProducerStanding> producers;
    std::map<std::uint32_t, ConsumerStanding> consumers;
};

/// Pairs the first producer that can send with the first consumer that has a free slot.
class FirstPolicy final : public Policy {
  public:
    explicit FirstPolicy(Standings& standings) : standings_(standings) {}

    void update(ProducerId producer, const ProducerStanding& standing) override {
        standings_.producers[producer.value] = standing;
    }
    void update(ConsumerId consumer, const ConsumerStanding& standing) override {
        standings_.consumers[consumer.value] = standing;
    }
    std::optional<Pairing> choose() override {
        for (const auto& [producer, producer_standing] : standings_.producers) {
            for (const auto& [consumer, consumer_standing] : standings_.consumers) {
                if (producer_standing.eligible && consumer_standing.free_slots > 0) {
                    return Pairing{{producer}, {consumer}};
                }
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] bool producer_available() const override {
        for (const auto& [producer, standing] : standings_.producers) {
            if (standing.eligible) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] bool consumer_available() const override {
        for (const auto& [consumer, standing] : standings_.consumers) {
            if (standing.free_slots > 0) {
                return true;
            }
        }
        return false;
    }

  private:
    Standings& standings_;
};

/// A scheduler whose every input returns what it led to.
class Driven {
  public:
    explicit Driven(const Plan& plan)
        : scheduler_(plan, plan.consumers_grant() ? nullptr : std::make_unique<FirstPolicy>(standings)) {}

    Instant now = at_s(1);
    Standings standings;

    Actions message(NodeId from, const ControlMessage& message) {
        Actions out;
        scheduler_.on_message(now, from, message, out);
        return out;
    }
    Actions time(Instant instant) {
        now = instant;
        Actions out;
        scheduler_.on_time(now, out);
        return out;
    }
    Actions lost(std::uint32_t consumer) {
        Actions out;
        scheduler_.on_consumer_lost(now, {consumer}, out);
        return out;
    }
    Actions finish() {
        Actions out;
        scheduler_.finish(out);
        return out;
    }

    Actions ready(std::uint32_t consumer, std::uint32_t slot) {
        return message({Role::consumer, consumer}, Ready{{slot}});
    }
    Actions offer(std::uint32_t producer, std::uint64_t events, std::int64_t bytes) {
        return message({Role::producer, producer}, Offer{{events, {bytes}}});
    }
    Actions done(std::uint32_t consumer, std::uint32_t slot, EventId event, std::int64_t bytes,
                 Done::Credit credit = Done::Credit::kept) {
        return message({Role::consumer, consumer}, Done{.slot = {slot},
                                                        .fragments = 1,
                                                        .bytes = {bytes},
                                                        .hash = ledger_mix(event, {bytes}),
                                                        .event = event,
                                                        .credit = credit});
    }
    Actions decline(std::uint32_t producer, std::uint32_t consumer, std::uint32_t slot) {
        return message({Role::producer, producer}, Decline{{consumer}, {slot}});
    }
    Actions drained(std::uint32_t producer, std::uint64_t sent_events = 0) {
        return message({Role::producer, producer},
                       Drained{{sent_events, {100 * static_cast<std::int64_t>(sent_events)}}});
    }
    Actions progress(std::uint32_t consumer, std::uint64_t events) {
        return message({Role::consumer, consumer},
                       Progress{{events, {100 * static_cast<std::int64_t>(events)}}});
    }
    void report(NodeId node, const Ledger& ledger) {
        Actions report;
        append_ledger_report(ledger, report);
        for (const SendMessage& entry : report.messages) {
            CHECK(message(node, entry.message).faults.empty());
        }
    }

    const Scheduler* operator->() const { return &scheduler_; }

  private:
    Scheduler scheduler_;
};

inline void check_grant(const SendMessage& sent, std::uint32_t producer, std::uint32_t consumer,
                        std::uint32_t slot, std::uint64_t number) {
    CHECK(sent.to == NodeId{Role::producer, producer});
    CHECK(sent.message == ControlMessage{Grant{{consumer}, {slot}, number}});
}

/// finish to both producers and all three consumers, and nothing else.
inline void check_finish(const Actions& out) {
    REQUIRE(out.messages.size() == 5);
    for (std::uint32_t node = 0; node < 5; ++node) {
        CHECK(out.messages[node].message == ControlMessage{Finish{}});
        CHECK(out.messages[node].to ==
              (node < 2 ? NodeId{Role::producer, node} : NodeId{Role::consumer, node - 2}));
    }
}

/// Nothing but a fault that names the sender, and the counts are as they were.
inline void check_refused(Driven& scheduler, NodeId from, const ControlMessage& message) {
    const auto waiting = scheduler->waiting_events();
    const auto free = scheduler->free_slots();
    const auto outstanding = scheduler->outstanding();
    const auto state = scheduler->state();
    const Tally done = scheduler->done();
    const Actions out = scheduler.message(from, message);
    REQUIRE(out.faults.size() == 1);
    CHECK(out.faults[0].kind == Fault::Kind::protocol_violation);
    CHECK(out.faults[0].source == from);
    CHECK(out.faults[0].destination == scheduler_node());
    CHECK(out.messages.empty());
    CHECK(scheduler->waiting_events() == waiting);
    CHECK(scheduler->free_slots() == free);
    CHECK(scheduler->outstanding() == outstanding);
    CHECK(scheduler->state() == state);
    CHECK(scheduler->done() == done);
}

inline constexpr NodeId producer_0{Role::producer, 0};
inline constexpr NodeId producer_1{Role::producer, 1};
inline constexpr NodeId consumer_0{Role::consumer, 0};
inline constexpr EventId event_0 = EventId::of({0}, 0);
inline constexpr EventId event_1 = EventId::of({1}, 0);

}  // namespace weir::core::scheduler_test
