// What follows from the speeds of interfaces: whose are named, and with which numbers.
#include <array>
#include <cstddef>
#include <cstdint>

#include "catch.hpp"
#include "judge/verdict.hpp"
#include "judged_run.hpp"
#include "record/pairs.hpp"

using namespace weir::judge;
using namespace weir::record;
using namespace weir::core;
using test::contains;

namespace {

/// 2 producers of 8 Gb/s each, 3 consumers, each of which took what its interface can.
JudgedRun run_of_interfaces(std::array<std::int64_t, 2> producers, std::array<std::int64_t, 3> consumers) {
    JudgedRun run;
    run.overflow(0, 2.0, 1, 10, 0, 0);
    run.overflow(1, 2.0, 1, 10, 0, 0);
    run.facts.interface_rates.assign(6, BitRate{});
    for (std::size_t i = 0; i < 2; ++i) {
        run.facts.interface_rates[1 + i] = {producers.at(i)};
        run.producer(i).measured.sent.bytes = {std::min<std::int64_t>(producers.at(i), 8'000'000'000) * 9 /
                                               8};
    }
    for (std::size_t i = 0; i < 3; ++i) {
        run.facts.interface_rates[3 + i] = {consumers.at(i)};
        run.consumer(i).measured.received.bytes = {consumers.at(i) * 9 / 8};
        run.consumer(i).time.receiving = Duration::seconds(10);
    }
    return run;
}

}  // namespace

TEST_CASE("One slow interface is named with its own speed, and never with a mean") {
    // 16 Gb/s of three consumers, 5.333 Gb/s of each: 7 + 2 + 6.5 are 15.5, and with 7 instead of 2 20.5.
    JudgedRun run =
        run_of_interfaces({20'000'000'000, 20'000'000'000}, {7'000'000'000, 2'000'000'000, 6'500'000'000});
    Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "consumer-links");
    CHECK(verdict.causes.front().where == NodeId{Role::consumer, 1});
    CHECK(contains(verdict.text,
                   "The interface of consumer 1 has 2 Gb/s, and 5.33 Gb/s are needed of it; all 3 "
                   "consumers together have 15.5 Gb/s of the 16 Gb/s that are needed."));
    // Others have room for its share, unless each has to take its own.
    run = run_of_interfaces({20'000'000'000, 20'000'000'000}, {8'000'000'000, 2'000'000'000, 8'000'000'000});
    CHECK_FALSE(contains(run.judged().text, "interface of"));
    run.plan.policy = PolicyKind::round_robin;
    CHECK(contains(run.judged().text,
                   "The interface of consumer 1 has 2 Gb/s, and 5.33 Gb/s are needed of it."));
    // None alone makes the difference.
    run = run_of_interfaces({20'000'000'000, 20'000'000'000}, {5'500'000'000, 5'000'000'000, 4'900'000'000});
    verdict = run.judged();
    CHECK_FALSE(verdict.causes.front().where);
    CHECK(contains(verdict.text,
                   "Interfaces of consumers have 15.4 Gb/s together, and 16 Gb/s are needed of them; the "
                   "slowest, of consumer 2, has 4.9 Gb/s."));

    run =
        run_of_interfaces({7'000'000'000, 20'000'000'000}, {20'000'000'000, 20'000'000'000, 20'000'000'000});
    verdict = run.judged();
    CHECK(verdict.causes.front().where == NodeId{Role::producer, 0});
    CHECK(contains(verdict.text, "The interface of producer 0 has 7 Gb/s, and 8 Gb/s are needed of it."));
    run = run_of_interfaces({7'000'000'000, 6'000'000'000}, {20'000'000'000, 20'000'000'000, 20'000'000'000});
    verdict = run.judged();
    CHECK_FALSE(verdict.causes.front().where);
    CHECK(contains(verdict.text,
                   "Interfaces of producers 0 and 1 have too little: the slowest, of producer 1, "
                   "has 6 Gb/s, and 8 Gb/s are needed of each."));
}

TEST_CASE("Datagrams that links cannot carry are no loss that memory of a switch would mend") {
    JudgedRun run =
        run_of_interfaces({20'000'000'000, 20'000'000'000}, {5'000'000'000, 5'000'000'000, 5'000'000'000});
    run.plan.transport = TransportKind::datagram;
    run.plan.fragment_timeout = Duration::milliseconds(50);
    for (std::size_t i = 0; i < 2; ++i) {
        run.overflow(i, 1.2, 3, 1, 0, 9);
        run.producer(i).run.generated.events = 100;
    }
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).measured.received.bytes = {1'000'000'000};  // whole events are few
    }
    run.consumer(1).run.lost.events = 20;
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "consumer-links");
    CHECK(contains(verdict.text, "Interfaces of consumers have 5 Gb/s, and 5.33 Gb/s are needed of each."));
    run.facts.interface_rates[3] = {7'000'000'000};
    CHECK(cause_name(run.judged()) == "switch-loss");  // 17 Gb/s are enough
}
