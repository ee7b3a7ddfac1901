#include "record/recovery.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "catch.hpp"

using namespace weir::core;
using namespace weir::record;

namespace {

RecoveryWatch watch_of(std::int64_t first, const std::vector<std::int64_t>& rates) {
    RecoveryWatch watch;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        ClusterSecond second;
        second.second = first + static_cast<std::int64_t>(i);
        second.consumers.mean = {rates[i] / 2};
        second.consumers.ranks = 2;
        second.max_occupancy = static_cast<double>(i) / 10;
        watch.add(second);
    }
    return watch;
}

ConsumerLoss loss_at(double silent_s, double lost_s) {
    return {.consumer = {3},
            .silent_since = {static_cast<std::int64_t>(silent_s * 1e9)},
            .lost_at = {static_cast<std::int64_t>(lost_s * 1e9)}};
}

}  // namespace

TEST_CASE("a recovery is measured in whole seconds against the five before") {
    std::vector<ConsumerLoss> losses{loss_at(6.5, 8.5)};
    watch_of(0, {0, 1000, 1000, 1000, 1000, 1000, 960, 400, 200, 900, 960, 100})
        .measure(Duration::seconds(12), losses);
    CHECK(losses[0].rate_before == BitRate{1000});
    CHECK(losses[0].lowest_rate == BitRate{200});
    CHECK(losses[0].lowest_second == 8);
    CHECK(losses[0].seconds_below == 3);
    CHECK(losses[0].recovered_second == 10);
    REQUIRE(losses[0].recovery_time());
    CHECK(*losses[0].recovery_time() == Duration::milliseconds(3500));
    CHECK(losses[0].max_occupancy == 0.9);
}

TEST_CASE("a rate that does not come back before the end has no recovery time") {
    std::vector<ConsumerLoss> losses{loss_at(5, 6)};
    watch_of(0, {1000, 1000, 1000, 1000, 1000, 500, 500, 1000}).measure(Duration::seconds(7), losses);
    CHECK(losses[0].seconds_below == 2);
    CHECK(losses[0].sank());
    CHECK_FALSE(losses[0].recovery_time());
}

TEST_CASE(
    "a rate that does not sink has recovered at once, and one that sinks much later is of another cause") {
    std::vector<ConsumerLoss> losses{loss_at(5, 6)};
    watch_of(0, {1000, 1000, 1000, 1000, 1000, 990, 990, 990, 100}).measure(Duration::seconds(9), losses);
    CHECK_FALSE(losses[0].sank());
    CHECK(losses[0].recovery_time() == Duration{});
}

TEST_CASE("a loss is measured up to the next one") {
    std::vector<ConsumerLoss> losses{loss_at(5, 6), loss_at(7.2, 8)};
    watch_of(0, {1000, 1000, 1000, 1000, 1000, 500, 500, 100, 1000, 1000})
        .measure(Duration::seconds(10), losses);
    CHECK(losses[0].lowest_rate == BitRate{500});
    CHECK_FALSE(losses[0].recovery_time());
    CHECK(losses[1].rate_before == BitRate{800});
    CHECK(losses[1].lowest_rate == BitRate{100});
    CHECK(losses[1].recovered_second == 8);
}

TEST_CASE("without a second before the loss, or after generation, nothing is measured") {
    std::vector<ConsumerLoss> losses{loss_at(-1, 1), loss_at(4, 5)};
    watch_of(0, {1000, 1000, 1000, 1000, 0, 0}).measure(Duration::seconds(4), losses);
    for (const ConsumerLoss& loss : losses) {
        CHECK(loss.rate_before == BitRate{0});
        CHECK(std::isnan(loss.max_occupancy));
        Recovery recovery;
        recovery.losses = {loss};
        recovery.loss_count = 1;
        const auto json = to_json(recovery)["losses"][0];
        CHECK(json["recovery_s"].is_null());
        CHECK(json["rate_before_bits_per_second"].is_null());
    }
}

TEST_CASE("the text names who was lost, how deep the rate sank and what is doubtful") {
    Recovery recovery;
    CHECK(recovery_text(recovery).empty());
    recovery.losses = {loss_at(5, 6), loss_at(7, 8), loss_at(7, 8), loss_at(7, 8)};
    recovery.losses[0].back_at = Instant{Duration::seconds(9).ns};
    recovery.loss_count = 4;
    watch_of(0, {1000, 1000, 1000, 1000, 1000, 250, 1000, 1000})
        .measure(Duration::seconds(8), recovery.losses);
    recovery.redelivered_events = 2;
    recovery.doubtful_events = 1;
    const std::string text = recovery_text(recovery);
    INFO(text);
    CHECK(text.find("Consumer 3 was silent from 5 s on, lost at 6 s and back at 9 s.") == 0);
    CHECK(text.find("for 1 second, at worst 25 %, and back after 1 s.") != std::string::npos);
    CHECK(text.find("Consumers were lost 4 times in all. 2 events were sent in vain to consumers that were "
                    "lost; 1 of them may have been received") != std::string::npos);
}
