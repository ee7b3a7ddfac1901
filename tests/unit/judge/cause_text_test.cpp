#include "judge/cause_text.hpp"

#include <vector>

#include "catch.hpp"

using namespace weir::judge;
using weir::core::NodeId;
using weir::core::Role;

namespace {

NamedCause cause_at(CauseKind what, std::optional<NodeId> where = {}, std::string host = {}) {
    NamedCause cause;
    cause.what = what;
    cause.where = where;
    cause.host = std::move(host);
    return cause;
}

}  // namespace

TEST_CASE("A cause is called by what it is and, if it is one rank's, by the rank and its host") {
    CHECK(subject_of(cause_at(CauseKind::consumer_links)) == "links of consumers");
    CHECK(subject_of(cause_at(CauseKind::consumer_links, NodeId{Role::consumer, 3}, "eb07")) ==
          "the link of consumer 3 on eb07");
    CHECK(subject_of(cause_at(CauseKind::stalled_rank, weir::core::scheduler_node())) ==
          "the scheduler, which stood still");
    CHECK(subject_of(cause_at(CauseKind::scheduler)) == "the scheduler");
    CHECK(subject_of(cause_at(CauseKind::scheduler, weir::core::scheduler_node(), "eb01")) ==
          "the scheduler on eb01");
    CHECK(subject_of(cause_at(CauseKind::not_told)) == "not told");
    NamedCause latency = cause_at(CauseKind::control_latency);
    CHECK(subject_of(latency) == "latency of messages");
    latency.evidence = CauseEvidence::proof;  // relaxed for all messages
    CHECK(subject_of(latency) == "latency of the network");
}

TEST_CASE("The text names the first cause, its partner and some of the others") {
    CHECK(causes_text({}).empty());
    CHECK(advice_text({}).empty());
    std::vector<NamedCause> causes{cause_at(CauseKind::consumer_links), cause_at(CauseKind::producer_links)};
    causes[0].text = "one and two.";
    causes[0].remedy = causes[1].remedy = "both";
    causes[0].together_with = CauseKind::producer_links;
    causes[1].together_with = CauseKind::consumer_links;
    CHECK(causes_text(causes) ==
          "Main cause: links of consumers, together with links of producers. One and two.");
    CHECK(advice_text(causes) == "Both");
    causes[0].together_with = causes[1].together_with = CauseKind::not_told;
    causes[1].text = "three.";
    causes[1].remedy = "other";
    CHECK(causes_text(causes) ==
          "Main cause: links of consumers. One and two. Also links of producers: three.");
    causes[1].evidence = CauseEvidence::proof;
    CHECK(causes_text(causes) ==
          "Main cause: links of consumers. One and two. Or links of producers: three.");
    CHECK(advice_text(causes) == "Both; or other");
    causes[0].suffices = false;
    CHECK(advice_text(causes) == "Other");
    causes[1].suffices = false;
    CHECK(advice_text(causes) == "Both (not enough by itself); or other (not enough by itself)");
}
