#include "explorer/cause_refutation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/formatting.hpp"
#include "judge/hold_up.hpp"

namespace weir::explorer {

using namespace weir::files;
using namespace weir::judge;
using namespace weir::record;
using core::Duration;
using core::Role;
using files::node_text;
using judge::CauseEvidence;
using judge::CauseKind;
using judge::due_bytes;
using judge::NamedCause;
using judge::RunFacts;
using record::RankRecord;
using record::RankSummary;

namespace {

const RankSummary* summary_of(const NamedCause& cause, std::span<const RankRecord> ranks) {
    const auto rank = std::find_if(ranks.begin(), ranks.end(), [&](const RankRecord& one) {
        return cause.where && one.summary.node == *cause.where;
    });
    return rank != ranks.end() ? &rank->summary : nullptr;
}

template <typename Field>
Duration sum_of(std::span<const RankRecord> ranks, Role role, const Field& field) {
    Duration sum;
    for (const RankRecord& rank : ranks) {
        sum += rank.summary.node.role == role ? field(rank.summary) : Duration{};
    }
    return sum;
}

/// Whether producers that were held up ever had a transfer under way.
bool any_transfer(std::span<const RankRecord> ranks) {
    return sum_of(ranks, Role::producer, [](const RankSummary& one) { return one.time.transferring; }) >
           Duration{};
}

std::string of_links(const NamedCause& cause, std::span<const RankRecord> ranks, const RankSummary* at) {
    const Role role = cause.what == CauseKind::consumer_links ? Role::consumer : Role::producer;
    if (cause.where && cause.where->role != role) {
        return fmt::format("the link of a {} is that of {}", core::role_name(role), node_text(*cause.where));
    }
    if (at != nullptr && at->measured.moved(role).bytes <= core::Bytes{} &&
        at->run.moved(role).bytes <= core::Bytes{}) {
        return fmt::format("{} moved nothing over its link", node_text(at->node));
    }
    return any_transfer(ranks) ? "" : "nothing was transferred";
}

std::string of_slots(const core::Plan& plan, std::span<const RankRecord> ranks) {
    const Duration waited =
        sum_of(ranks, Role::producer, [](const RankSummary& one) { return one.time.waiting_for_slot; }) +
        sum_of(ranks, Role::scheduler, [](const RankSummary& one) { return one.time.waiting_for_slot; });
    return plan.consumers_grant() || waited > Duration{} ? "" : "nothing ever waited for a slot";
}

std::string of_plan(const NamedCause& cause, const core::Plan& plan) {
    switch (cause.what) {
        case CauseKind::shaping:
            return plan.shaping.kind == core::ShapingKind::none ? "there is no shaping" : "";
        case CauseKind::outstanding:
            return plan.builds() && plan.assigned_events > 0 ? "" : "--outstanding limits nothing";
        case CauseKind::requests:
            return plan.pulls() ? "" : "nothing is requested";
        case CauseKind::high_water:
            return plan.high_water > 0 ? "" : "there is no --high-water";
        case CauseKind::scheduler:
        case CauseKind::control_latency:
            return "";
        default:
            break;
    }
    return "";
}

std::string of_rank(const core::Plan& plan, const RankSummary* at) {
    if (at == nullptr) {
        return "no rank is named";
    }
    const bool in_time =
        at->node.role != Role::producer || at->measured.generated.bytes >= due_bytes(plan, *at);
    return in_time && at->poll_gap_max_with_drain <= Duration{}
               ? fmt::format("{} never stood still{}", node_text(at->node),
                             at->node.role == Role::producer ? " and generated what was due" : "")
               : "";
}

}  // namespace

std::string refutation_of(const NamedCause& cause, const core::Plan& plan, std::span<const RankRecord> ranks,
                          const RunFacts& facts) {
    const RankSummary* const at = summary_of(cause, ranks);
    const auto processing = [](const RankSummary& one) { return one.time.processing; };
    switch (cause.what) {
        case CauseKind::consumer_links:
        case CauseKind::producer_links:
            return of_links(cause, ranks, at);
        case CauseKind::slots:
            return of_slots(plan, ranks);
        case CauseKind::processing:
            return sum_of(ranks, Role::consumer, processing) > Duration{} ? ""
                                                                          : "no consumer processed anything";
        case CauseKind::stalled_rank:
            return cause.evidence == CauseEvidence::observed ? of_rank(plan, at) : "";
        case CauseKind::lost_consumers:
            return facts.recovery != nullptr && facts.recovery->loss_count > 0 ? "" : "no consumer was lost";
        case CauseKind::buffer:
            return plan.generation == core::Generation::saturate ? "there is no rate to buffer for" : "";
        default:
            return of_plan(cause, plan);
    }
}

}  // namespace weir::explorer
