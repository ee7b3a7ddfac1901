// Periods of heartbeats against ranks and time-outs.
#include "catch.hpp"
#include "core/messages.hpp"

using namespace weir::core;

TEST_CASE("Few ranks send several heartbeats a second") {
    const HeartbeatPeriods periods = heartbeat_periods(8, Duration::seconds(5));
    CHECK(periods.leader == Duration::milliseconds(100));
    CHECK(periods.others == Duration::milliseconds(200));
}

TEST_CASE(
    "However many ranks there are, the scheduler's rank has a bounded number of heartbeats per second") {
    for (const std::int64_t ranks : {2, 87, 401, 801, 1000, 4501, 20000}) {
        for (const Duration timeout : {Duration::milliseconds(500), Duration::seconds(1),
                                       Duration::seconds(5), Duration::seconds(60)}) {
            if (timeout < silence_timeout_least(ranks)) {
                continue;
            }
            const HeartbeatPeriods periods = heartbeat_periods(ranks, timeout);
            CAPTURE(ranks, timeout.ns, periods.leader.ns, periods.others.ns);
            CHECK(static_cast<double>(ranks - 1) / periods.leader.in_seconds() < 4000.5);
            CHECK(static_cast<double>(ranks - 1) / periods.others.in_seconds() < 4000.5);
            CHECK(periods.leader * 4 <= timeout);
            CHECK(periods.others * 4 <= timeout);
        }
    }
}

TEST_CASE("The least silence time-out is a millisecond for each rank") {
    CHECK(silence_timeout_least(4501) == Duration::milliseconds(4500));
    CHECK(silence_timeout_least(1) == Duration{});
    // What is accepted at the limit has room for four heartbeats, and what is below it has not.
    const HeartbeatPeriods at_limit = heartbeat_periods(4501, silence_timeout_least(4501));
    CHECK(at_limit.others * 4 == silence_timeout_least(4501));
    CHECK(heartbeat_periods(4501, Duration::seconds(1)).others * 4 > Duration::seconds(1));
}
