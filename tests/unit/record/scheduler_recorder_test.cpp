#include "record/scheduler_recorder.hpp"

#include <vector>

#include "catch.hpp"
#include "test_runs.hpp"

namespace record_scheduler_recorder_test_file {

using namespace weir::record;
using namespace weir::core;

TEST_CASE("The scheduler's second has whom it waited for, and what it received") {
    std::vector<SchedulerRow> rows;
    std::vector<LiveSample> reports;
    SchedulerRecorder recorder(test::small_plan(), Instant{0},
                               [&](const SchedulerRow& row, const LiveSample& report) {
                                   rows.push_back(row);
                                   reports.push_back(report);
                               });
    const auto at = [](std::int64_t ms) { return Instant{ms * 1000000}; };
    recorder.set_state(at(100),
                       {.offers_waiting = false, .credits_available = true, .offers = 0, .credits = 24});
    recorder.message(at(100), weir::core::Ready{});
    recorder.message(at(110), weir::core::Ready{});
    recorder.message(at(300), weir::core::Offer{});
    recorder.message(at(300), weir::core::Heartbeat{});
    recorder.set_state(at(300),
                       {.offers_waiting = true, .credits_available = true, .offers = 5, .credits = 20});
    recorder.granted(at(300), 4);
    recorder.set_state(at(700),
                       {.offers_waiting = true, .credits_available = false, .offers = 3, .credits = 0});
    recorder.message(at(800), weir::core::Done{});
    recorder.poll_gap(at(850), Duration::microseconds(12));
    recorder.advance(at(2000));
    recorder.finish(at(2500));
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].time.idle == Duration::milliseconds(100));
    CHECK(rows[0].time.waiting_for_data == Duration::milliseconds(200));
    CHECK(rows[0].time.waiting_for_stream == Duration::milliseconds(400));
    CHECK(rows[0].time.waiting_for_slot == Duration::milliseconds(300));
    CHECK(rows[0].time.sum() == Duration::seconds(1));
    CHECK(rows[0].ready_messages == 2);
    CHECK(rows[0].offer_messages == 1);
    CHECK(rows[0].done_messages == 1);
    CHECK(rows[0].grants == 4);
    CHECK(rows[0].waiting_events == 3);
    CHECK(rows[0].free_slots == 0);
    CHECK(rows[0].poll_gaps.largest == Duration::microseconds(12));
    CHECK(rows[1].time.waiting_for_slot == Duration::seconds(1));
    CHECK(rows[1].ready_messages == 0);
    CHECK(reports[0].waiting_events == 3);
    CHECK(reports[1].run.grants == 4);
    CHECK(recorder.summary().time.waiting_for_slot == Duration::milliseconds(1300));
    CHECK(recorder.summary().node == scheduler_node());
    CHECK_FALSE(rows[0].known.control_packets);
}

TEST_CASE("Packets of control messages are counted by second") {
    std::vector<SchedulerRow> rows;
    const auto at = [](std::int64_t ms) { return Instant{ms * 1000000}; };
    SchedulerRecorder recorder(test::small_plan(), at(0),
                               [&](const SchedulerRow& row, const LiveSample&) { rows.push_back(row); });
    recorder.control_packets(at(100), 3);
    recorder.control_packets(at(900), 10);
    recorder.control_packets(at(1500), 12);
    recorder.advance(at(3000));
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].known.control_packets);
    CHECK(rows[0].control_packets == 10);
    CHECK(rows[1].control_packets == 2);
    CHECK(rows[2].control_packets == 0);
    CHECK(recorder.summary().run.control_packets == 12);
}

TEST_CASE("Free slots and outstanding events are integrated, and handling is counted where it ended") {
    std::vector<SchedulerRow> rows;
    const auto at = [](std::int64_t ms) { return Instant{ms * 1000000}; };
    SchedulerRecorder recorder(test::small_plan(), at(0),
                               [&](const SchedulerRow& row, const LiveSample&) { rows.push_back(row); });
    recorder.set_state(at(0), {.offers_waiting = true, .credits_available = true, .credits = 3});
    recorder.handled(at(200), Duration::milliseconds(150));
    recorder.set_state(at(200), {.offers_waiting = true, .credits = 0, .outstanding = 5});
    recorder.handled(at(1100), Duration::milliseconds(50));
    recorder.advance(at(2000));
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].load.free_slots == Duration::milliseconds(600));
    CHECK(rows[0].load.outstanding == Duration::milliseconds(4000));
    CHECK(rows[0].load.handling == Duration::milliseconds(150));
    CHECK(rows[1].load.free_slots == Duration{});
    CHECK(rows[1].load.outstanding == Duration::seconds(5));
    CHECK(rows[1].load.handling == Duration::milliseconds(50));
    CHECK(recorder.summary().load.handling == Duration::milliseconds(200));
}

}  // namespace record_scheduler_recorder_test_file
