#include "judge/ledger_check.hpp"

#include "catch.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir::judge;
using namespace weir::record;
using namespace weir::core;
using test::contains;

TEST_CASE("Ledgers that agree have no finding") {
    const Plan plan = test::small_plan();
    auto ranks = test::good_ranks(plan);
    CHECK(ledger_differences(plan, ranks).empty());
    // A corrupt event was received all the same.
    ranks[3].summary.ledger.corrupt.add(EventId::of({0}, 0), {1'000'000});
    CHECK(ledger_differences(plan, ranks).empty());
    const LedgerSums sums = sum_ledgers(ranks);
    CHECK(sums.producers.sent.events == 60);
    CHECK(sums.consumers.received == sums.producers.sent);
    CHECK(sums.scheduler.received == sums.producers.sent);
}

TEST_CASE("Traffic is what both sides have in their ledgers") {
    auto ranks = test::good_ranks(test::small_plan());
    TrafficMatrix matrix;
    for (std::uint32_t consumer = 0; consumer < 3; ++consumer) {
        matrix.set({consumer}, test::good_traffic());
    }
    CHECK(traffic_differences(Plan{}, matrix, ranks).empty());
    auto entries = test::good_traffic();
    SECTION("an event too many") {
        entries[1].traffic += {1, {5}};
        matrix.set({2}, entries);
        const auto differences = traffic_differences(Plan{}, matrix, ranks);
        REQUIRE(differences.size() == 2);
        CHECK(differences[0] ==
              "consumer 2 on eb12 received 20 events, 20000000 bytes; added up by producer it counted 21 "
              "events, 20000005 bytes.");
        CHECK(differences[1] ==
              "producer 1 on eb02 sent 30 events, 30000000 bytes; consumers received 31 events, 30000005 "
              "bytes from it.");
    }
    SECTION("of equal sums, but of another producer") {
        entries[0].traffic += {1, {1'000'000}};
        entries[1].traffic = {9, {9'000'000}};
        matrix.set({0}, entries);
        const auto differences = traffic_differences(Plan{}, matrix, ranks);
        REQUIRE(differences.size() == 2);
        CHECK(contains(differences[0], "producer 0 on eb01 sent 30 events"));
        CHECK(contains(differences[1], "consumers received 29 events, 29000000 bytes from it"));
    }
    SECTION("of a producer that does not exist") {
        entries[1].producer = 77;
        matrix.set({0}, entries);
        const auto differences = traffic_differences(Plan{}, matrix, ranks);
        REQUIRE(differences.size() == 1);
        CHECK(contains(differences[0],
                       "producer 1 on eb02 sent 30 events, 30000000 bytes; consumers received 20"));
    }
    SECTION("nothing was handed in") {
        CHECK(traffic_differences(Plan{}, {}, ranks).size() == 5);
    }
    SECTION("where a ledger is missing there is nothing to compare with") {
        matrix.set({0}, {});
        for (const std::size_t rank : {1, 2, 3}) {
            ranks[rank].summary.ledger_known = false;
        }
        CHECK(traffic_differences(Plan{}, matrix, ranks).empty());
    }
}

TEST_CASE("A consumer that was lost before it handed in its account is in the scheduler's") {
    const Plan plan = test::small_plan();
    auto ranks = test::good_ranks(plan);
    TrafficMatrix matrix;
    for (std::uint32_t consumer = 0; consumer < 2; ++consumer) {
        matrix.set({consumer}, test::good_traffic());
    }
    RankSummary& lost = ranks.back().summary;
    REQUIRE(lost.node == NodeId{Role::consumer, 2});
    Recovery recovery;
    recovery.done_by_lost = lost.ledger.received;
    recovery.without_ledger.push_back({2});
    lost.ledger = {};
    lost.ledger_known = false;
    CHECK(ledger_differences(plan, ranks, &recovery).empty());
    CHECK(traffic_differences(plan, matrix, ranks, &recovery).empty());
    recovery.done_by_lost = {};
    CHECK(ledger_differences(plan, ranks, &recovery).size() == 1);
}

TEST_CASE("What disagrees is named with numbers") {
    Plan plan = test::small_plan();
    auto ranks = test::good_ranks(plan);
    SECTION("an event that nobody received") {
        ranks[1].summary.ledger.sent.add(EventId::of({0}, 100), {5});
        ranks[1].summary.ledger.generated.add(EventId::of({0}, 100), {5});
        const auto differences = ledger_differences(plan, ranks);
        REQUIRE(differences.size() == 1);
        CHECK(differences[0] ==
              "sent by producers: 61 events, 60000005 bytes; received by consumers: 60 events, 60000000 "
              "bytes.");
    }
    SECTION("a producer that does not add up") {
        ranks[2].summary.ledger.generated.add(EventId::of({1}, 100), {5});
        const auto differences = ledger_differences(plan, ranks);
        REQUIRE(differences.size() == 1);
        CHECK(
            contains(differences[0],
                     "producer 1 on eb02 generated 31 events, 30000005 bytes, but sent and lost 30 events"));
    }
    SECTION("the same numbers of other events") {
        Tally& received = ranks[4].summary.ledger.received;
        received.hash += 1;
        const auto differences = ledger_differences(plan, ranks);
        REQUIRE(differences.size() == 2);
        CHECK(contains(differences[0], "equal totals (60 events, 60000000 bytes), but not the same events"));
        CHECK(contains(differences[1], "done according to the scheduler"));
        // Without a scheduler in the way of data only the two sides are compared.
        plan.policy = PolicyKind::none;
        CHECK(ledger_differences(plan, ranks).size() == 1);
    }
    SECTION("a rank that is gone, an event that stayed incomplete") {
        ranks[3].summary.ledger_known = false;
        ranks[5].summary.ledger.incomplete.add(EventId::of({1}, 9), {10});
        const auto differences = ledger_differences(plan, ranks);
        REQUIRE(differences.size() == 2);
        CHECK(differences[0] == "consumer 0 on eb10 handed in no ledger.");
        CHECK(differences[1] == "consumer 2 on eb12 began to receive 1 event that never became complete.");
    }
    SECTION("many ranks at once do not flood the page") {
        std::vector<RankRecord> many;
        for (int i = 0; i < 500; ++i) {
            RankRecord rank;
            rank.summary.node = {Role::producer, static_cast<std::uint32_t>(i)};
            many.push_back(rank);
        }
        const auto differences = ledger_differences(plan, many);
        REQUIRE(differences.size() == 9);
        CHECK(differences.back() == "492 ranks more have the same problem.");
    }
}
