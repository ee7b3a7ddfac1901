#include "record/parallel_links.hpp"

#include <nlohmann/json.hpp>

#include "catch.hpp"

using namespace weir;
using namespace weir::record;

TEST_CASE("Balance: k equal loads on n links have Jain's index k/n, and the most loaded n/k of the mean") {
    for (std::size_t links = 1; links <= 16; ++links) {
        for (std::size_t loaded = 1; loaded <= links; ++loaded) {
            std::vector<double> loads(links);
            std::fill_n(loads.begin(), loaded, 12'345.0);
            const LoadBalance balance = balance_of(loads).value();
            const double share = static_cast<double>(loaded) / static_cast<double>(links);
            CHECK(balance.jain_index == Approx(share));
            CHECK(balance.most_over_mean == Approx(1 / share));
        }
    }
    CHECK_FALSE(balance_of(std::vector<double>(4)));
    CHECK_FALSE(balance_of({}));
}

TEST_CASE("Parallel links: a row for each that has any load, totals of what was measured") {
    ParallelLinkLoads loads(
        {{"switch-0", true, {{0, 2, "switch-0", "switch-1"}, {0, 3, "switch-0", "switch-2"}}},
         {"switch-0", false, {{1, 0, "switch-1", "switch-0"}, {2, 0, "switch-2", "switch-0"}}}});
    constexpr core::Duration second = core::Duration::seconds(1);
    loads.add(0, 2, {500});
    CHECK(loads.end_row(core::Instant{-1'000'000'000}, second, Phase::warmup) ==
          "-1.000000000,1.000000000,warmup,switch-0,out,2,500,500,2.000000,0.500000\n");
    CHECK(loads.end_row({}, second, Phase::measure).empty());
    loads.add(0, 1, {700});  // a port to a host
    loads.add(0, 2, {300});
    loads.add(0, 3, {40});
    loads.add(0, 3, {60});  // another priority
    CHECK(loads.end_row({}, second, Phase::measure) ==
          "0.000000000,1.000000000,measure,switch-0,out,2,400,300,1.500000,0.800000\n");
    loads.add(0, 3, {200});
    loads.end_row(core::Instant{1'000'000'000}, second, Phase::measure);
    const std::vector<ParallelLinkTotals>& totals = loads.totals();
    REQUIRE(totals.size() == 2);
    CHECK(totals[0].sent_bytes == std::vector<double>{300, 300});
    CHECK(totals[0].highest_most_over_mean == 2.0);
    CHECK(totals[0].lowest_jain_index == 0.5);
    CHECK(totals[1].sent_bytes == std::vector<double>{0, 0});
    const auto json = to_json(totals);
    CHECK(json[0]["jain_index"] == 1.0);
    CHECK(json[0]["links"][1]["to"] == "switch-2");
    CHECK(json[1]["most_over_mean"].is_null());
    CHECK(parallel_links_text(totals) ==
          "of 2 parallel links from switch-0 the most loaded had 1 x the mean (Jain index 1)");
    CHECK(parallel_links_text({totals[1]}).empty());
}
