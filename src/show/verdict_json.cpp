#include "show/verdict_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "files/formatting.hpp"
#include "record/json_values.hpp"

namespace weir::show {

namespace {

using Json = nlohmann::ordered_json;

/// The rank that a cause concerns; null: all of a role, or none.
Json place_json(const RunRecord& record, const judge::NamedCause& cause) {
    if (!cause.where) {
        return {};
    }
    const auto rank =
        std::find_if(record.ranks.begin(), record.ranks.end(),
                     [&](const record::RankRecord& one) { return one.summary.node == *cause.where; });
    return {{"rank", rank != record.ranks.end() ? Json(rank->rank) : Json()},
            {"role", core::role_name(cause.where->role)},
            {"name", files::node_text(*cause.where)},
            {"host", record::text_or_null(cause.host)}};
}

Json causes_json(const RunRecord& record) {
    Json causes = Json::array();
    for (const judge::NamedCause& cause : record.verdict.causes) {
        const bool alone = cause.together_with == judge::CauseKind::not_told;
        causes.push_back({{"what", judge::name_of(cause.what)},
                          {"where", place_json(record, cause)},
                          {"share", cause.share},
                          {"evidence", judge::name_of(cause.evidence)},
                          {"together_with", alone ? Json() : Json(judge::name_of(cause.together_with))},
                          {"remedy", record::text_or_null(cause.remedy)},
                          {"text", cause.text}});
    }
    return causes;
}

}  // namespace

nlohmann::ordered_json verdict_json(const RunRecord& record) {
    const judge::Verdict& verdict = record.verdict;
    const double slack_s = verdict.least_slack.value_or(core::Duration{}).in_seconds();
    return {{"judged", verdict.judged},
            {"sustained", verdict.judged ? Json(verdict.sustained) : Json()},
            {"first_overflow_second", record::second_or_null(verdict.first_overflow_second)},
            {"overflowing_producers", verdict.overflowing_producers},
            {"growing_producers", verdict.growing_producers},
            {"backlog_growth_bytes_per_second", record::number_or_null(verdict.growth_bytes_per_second)},
            {"backlog_growth_tolerance_bytes_per_second",
             record::number_or_null(verdict.growth_tolerance_bytes_per_second)},
            {"buffer_full_after_s", record::number_or_null(verdict.buffer_full_after_s)},
            {"slots_growth_bytes_per_second", record::number_or_null(verdict.slots_growth_bytes_per_second)},
            {"slots_full_after_s", record::number_or_null(verdict.slots_full_after_s)},
            {"on_time", verdict.on_time ? Json(*verdict.on_time) : Json()},
            {"sets", verdict.sets},
            {"late_sets", verdict.late_sets},
            {"first_late_second", record::second_or_null(verdict.first_late_second)},
            {"late_producers", verdict.late_producers},
            {"worst_late_s", verdict.late_sets > 0 && slack_s < 0 ? Json(-slack_s) : Json()},
            {"least_slack_s", verdict.least_slack ? Json(slack_s) : Json()},
            {"lost_events", verdict.lost_events},
            {"cause", judge::cause_name(verdict)},
            {"causes", causes_json(record)},
            {"text", verdict.text},
            {"advice", record::text_or_null(verdict.advice)},
            {"blocked_at_once_max", record.blocked_at_once.consumers},
            {"blocked_at_once_second", record::second_or_null(record.blocked_at_once.second)}};
}

}  // namespace weir::show
