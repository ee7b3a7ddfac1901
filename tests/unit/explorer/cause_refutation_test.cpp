#include "explorer/cause_refutation.hpp"

#include <initializer_list>
#include <utility>

#include "catch.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir::explorer;
using namespace weir::judge;
using namespace weir::record;
using namespace weir::explorer;
using namespace weir::core;
using weir::record::test::contains;

namespace {

struct Run {
    Plan plan = test::small_plan();
    std::vector<RankRecord> ranks = test::good_ranks(plan);

    std::string against(CauseKind what, std::optional<NodeId> where = {}) {
        NamedCause cause;
        cause.what = what;
        cause.where = where;
        return refutation_of(cause, plan, ranks, {});
    }
};

constexpr NodeId producer{Role::producer, 1};
constexpr NodeId consumer{Role::consumer, 0};

}  // namespace

TEST_CASE("A cause that the plan does not have is refuted") {
    Run run;
    CHECK(contains(run.against(CauseKind::shaping), "no shaping"));
    CHECK(contains(run.against(CauseKind::outstanding), "--outstanding"));
    CHECK(contains(run.against(CauseKind::requests), "requested"));
    CHECK(contains(run.against(CauseKind::high_water), "--high-water"));
    CHECK(contains(run.against(CauseKind::lost_consumers), "no consumer was lost"));
    run.plan.shaping.kind = ShapingKind::bucket;
    run.plan.pattern = Pattern::build;
    run.plan.assigned_events = 2;
    run.plan.initiation = Initiation::pull;
    run.plan.high_water = 3;
    for (const CauseKind kind :
         {CauseKind::shaping, CauseKind::outstanding, CauseKind::requests, CauseKind::high_water}) {
        CHECK(run.against(kind) == "");
    }
}

TEST_CASE("A cause that left no trace in any row is refuted") {
    Run run;
    CHECK(contains(run.against(CauseKind::slots), "nothing ever waited for a slot"));
    CHECK(contains(run.against(CauseKind::processing), "no consumer processed"));
    CHECK(contains(run.against(CauseKind::stalled_rank, consumer), "consumer 0 never stood still"));
    CHECK(contains(run.against(CauseKind::stalled_rank), "no rank is named"));
    CHECK(contains(run.against(CauseKind::stalled_rank, producer),
                   "producer 1 never stood still and generated what"));
    CHECK(run.against(CauseKind::consumer_links, consumer) == "");
    CHECK(contains(run.against(CauseKind::producer_links, consumer), "the link of a producer"));
    run.ranks[1].summary.time.waiting_for_slot = Duration::seconds(1);
    run.ranks[3].summary.time.processing = Duration::seconds(1);
    run.ranks[3].summary.poll_gap_max_with_drain = Duration::seconds(1);  // also if it ends in the drain
    run.ranks[2].summary.measured.generated.bytes = {9'000'000'000};
    CHECK(run.against(CauseKind::slots) == "");
    CHECK(run.against(CauseKind::processing) == "");
    CHECK(run.against(CauseKind::stalled_rank, consumer) == "");
    CHECK(run.against(CauseKind::stalled_rank, producer) == "");
    run.ranks[3].summary.run = run.ranks[3].summary.measured = {};
    CHECK(contains(run.against(CauseKind::consumer_links, consumer), "moved nothing"));
    for (RankRecord& rank : run.ranks) {
        rank.summary.time.transferring = {};
    }
    CHECK(contains(run.against(CauseKind::producer_links), "nothing was transferred"));
}
