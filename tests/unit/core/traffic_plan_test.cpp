#include "core/traffic_plan.hpp"

#include <map>
#include <set>

#include "catch.hpp"
#include "core/bits.hpp"
#include "core/random.hpp"

using namespace weir::core;

namespace {

TrafficPlan::Entry entry(std::uint32_t from, std::uint32_t to, std::int64_t bytes, std::int64_t at_ms = 0,
                         std::uint32_t phase = 0) {
    return {{from}, {.at = Duration::milliseconds(at_ms), .to = {to}, .phase = phase, .bytes = {bytes}}};
}

}  // namespace

TEST_CASE("A traffic plan has who sends what, when, and the sums") {
    const TrafficPlan plan(3, 3, {{"a", {}, {}}, {"b", Duration::milliseconds(5), {}}},
                           {entry(0, 0, 10), entry(0, 2, 30), entry(2, 0, 50, 5, 1), entry(2, 0, 1),
                            entry(2, 1, 4), entry(2, 2, 2)});
    // The consumer behind the producer's own number is the first.
    REQUIRE(plan.of({0}).size() == 2);
    CHECK(plan.of({0})[0].to == ConsumerId{2});
    CHECK(plan.of({0})[1].to == ConsumerId{0});
    CHECK(plan.of({1}).empty());
    REQUIRE(plan.of({2}).size() == 4);
    CHECK(plan.of({2})[3].bytes == Bytes{50});

    CHECK(plan.pairs() == 5);
    CHECK(plan.pair({0}, {2}) == 1U);
    CHECK_FALSE(plan.pair({0}, {1}));
    CHECK_FALSE(plan.pair({1}, {0}));
    CHECK(plan.pair({2}, {1}) == 3U);
    REQUIRE(plan.senders_to({0}).size() == 2);
    CHECK(plan.senders_to({0})[1] == TrafficPlan::Sender{{2}, 2});
    REQUIRE(plan.to({0}).size() == 3);
    CHECK(plan.to({0})[2].bytes == Bytes{50});
    CHECK(plan.to({0})[2].phase == 1);

    CHECK(plan.set_bytes({2}) == Bytes{57});
    CHECK(plan.first_bytes({2}) == Bytes{7});
    CHECK(plan.largest_set() == Bytes{57});
    CHECK(plan.total() == Bytes{97});
    CHECK(plan.received_by({0}) == Bytes{61});
    CHECK(plan.largest_transfer() == Bytes{50});
    CHECK(plan.last_at({0}) == Duration{});
    CHECK(plan.last_at() == Duration::milliseconds(5));
}

TEST_CASE("Pairs of a random plan are numbered one by one, as both sides see them") {
    Random random(5, 1);
    for (int round = 0; round < 50; ++round) {
        const auto producers = static_cast<std::uint32_t>(1 + random.below(9));
        const auto consumers = static_cast<std::uint32_t>(1 + random.below(9));
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> bytes;
        std::vector<TrafficPlan::Entry> entries;
        for (std::uint64_t i = 0; i < 1 + random.below(60); ++i) {
            const auto from = static_cast<std::uint32_t>(random.below(producers));
            const auto to = static_cast<std::uint32_t>(random.below(consumers));
            const auto size = static_cast<std::int64_t>(1 + random.below(1000));
            entries.push_back(entry(from, to, size, static_cast<std::int64_t>(i)));
            bytes[{from, to}] += size;
        }
        const TrafficPlan plan(producers, consumers, {{"all", {}, {}}}, entries);
        CHECK(plan.pairs() == bytes.size());
        std::set<std::uint32_t> numbers;
        for (const auto& [pair, size] : bytes) {
            const auto number = plan.pair({pair.first}, {pair.second});
            REQUIRE(number);
            CHECK(numbers.insert(*number).second);
            Bytes received;
            for (const TrafficPlan::Incoming& transfer : plan.to({pair.second})) {
                received += transfer.from.value == pair.first ? transfer.bytes : Bytes{};
            }
            CHECK(received.count == size);
        }
        for (std::uint32_t consumer = 0; consumer < consumers; ++consumer) {
            for (const TrafficPlan::Sender& sender : plan.senders_to({consumer})) {
                CHECK(plan.pair(sender.producer, {consumer}) == sender.pair);
            }
        }
    }
}

TEST_CASE("The next number that is in two sets of bits is found, from any number on") {
    std::vector<std::uint64_t> a(words_for(130));
    std::vector<std::uint64_t> b(words_for(130));
    CHECK(a.size() == 3);
    CHECK_FALSE(next_in_both(a, b, 5));
    for (const std::uint32_t bit : {0U, 5U, 63U, 64U, 129U}) {
        set_bit(a, bit);
    }
    for (const std::uint32_t bit : {5U, 6U, 64U, 129U}) {
        set_bit(b, bit);
    }
    CHECK(next_in_both(a, b, 0) == 5U);
    CHECK(next_in_both(a, b, 6) == 64U);
    CHECK(next_in_both(a, b, 65) == 129U);
    clear_bit(b, 129);
    CHECK(next_in_both(a, b, 65) == 5U);
    CHECK(next_in_both(a, b, 6) == 64U);
    std::vector<std::uint32_t> both;
    for_each_in_both(a, b, [&](std::uint32_t bit) { both.push_back(bit); });
    CHECK(both == std::vector<std::uint32_t>{5, 64});
}
