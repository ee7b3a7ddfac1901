#include "show/run_record.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "files/json.hpp"
#include "record/json_values.hpp"
#include "show/plan_text.hpp"

namespace weir::show {

using core::Role;

namespace {

using Json = nlohmann::ordered_json;

/// An object whose fields are all different, for what there is thousands of: Json's own ways to add a field
/// look for it among the others, and an initializer list copies each several times.
class DistinctFields {
  public:
    explicit DistinctFields(std::size_t count) : json_(Json::object()) { fields().reserve(count); }
    void add(const char* name, Json value) { fields().emplace_back(name, std::move(value)); }
    Json json() && { return std::move(json_); }

  private:
    Json::object_t& fields() { return json_.get_ref<Json::object_t&>(); }

    Json json_;
};

Json json_of(const core::Traffic& traffic) {
    DistinctFields object(2);
    object.add("events", traffic.events);
    object.add("bytes", traffic.bytes.count);
    return std::move(object).json();
}

/// Adds the columns of a role whose sums stand here. Integrals carry the thing that is counted: "free_slot_s"
/// is slots times seconds.
void add_columns(const record::Row& sums, Role role, record::SumsIn here, DistinctFields& object) {
    for (const record::Column& column : record::columns_of(role)) {
        if (column.sums == here) {
            object.add(column.name.data(), std::get<core::Duration>(column.number(sums)).in_seconds());
        }
    }
}

Json load_json(const record::Row& sums, Role role) {
    const record::Load& load = sums.load;
    DistinctFields object(9);
    const auto add_delays = [&](const char* name, const record::DelayCounts& delays) {
        if (delays.any()) {
            object.add(name, delays.upper_quartile().in_microseconds());
        }
    };
    add_delays("heartbeat_to_leader_us_p75", load.heartbeats.to_leader);
    add_delays("heartbeat_from_leader_us_p75", load.heartbeats.from_leader);
    add_columns(sums, role, record::SumsIn::load, object);
    if (role == Role::producer) {
        object.add("transfers_s", load.transfers.in_seconds());
    }
    if (role != Role::scheduler) {
        object.add("transfer_rate_deviation", load.transfer_rates.relative_deviation());
        object.add("link_share_deviation", load.link_shares.relative_deviation());
        object.add("link_rate_deviation", load.link_rates.relative_deviation());
    }
    return std::move(object).json();
}

void add_role_fields(const record::RankSummary& summary, DistinctFields& object) {
    const Role role = summary.node.role;
    if (role == Role::producer) {
        object.add("generated", json_of(summary.run.generated));
        object.add("sent", json_of(summary.run.sent));
        object.add("lost", json_of(summary.run.lost));
        object.add("grants", summary.run.grants);
        object.add("max_occupancy", record::finite_or_null(summary.max_occupancy));
        object.add("max_occupancy_second", record::second_or_null(summary.max_occupancy_second));
        object.add("first_overflow_second", record::second_or_null(summary.first_overflow_second));
        object.add("overflow_seconds", summary.overflow_seconds);
        object.add("overflowed_at_close", summary.overflowed_at_close);
        const record::SetsInTime& sets = summary.sets_in_time;
        object.add("sets", sets.sets);
        object.add("late_sets", sets.late);
        object.add("first_late_second", record::second_or_null(sets.first_late_second));
        object.add("least_slack_s", record::or_null(sets.least_slack));
    } else if (role == Role::consumer) {
        object.add("received", json_of(summary.run.received));
        object.add("processed", json_of(summary.run.processed));
        object.add("corrupt_events", summary.run.corrupt_events);
        object.add("duplicate_events", summary.run.duplicate_events);
    } else {
        object.add("grants", summary.run.grants);
    }
}

/// Without a whole second (an early end, or a rank known by its last live sample only) there is no slowest
/// one.
void add_rates(const record::RankSummary& summary, DistinctFields& object) {
    const bool known = summary.slowest_second != record::no_second;
    object.add("mean_bits_per_second",
               summary.in_time.time.ns > 0 ? Json(summary.throughput().bits_per_second) : Json());
    object.add("slowest_second", record::second_or_null(summary.slowest_second));
    object.add("slowest_second_bits_per_second", known ? Json(summary.slowest.bits_per_second) : Json());
    object.add("slowest_window_second", record::second_or_null(summary.slowest_window_second));
    object.add("slowest_window_bits_per_second", summary.slowest_window_second != record::no_second
                                                     ? Json(summary.slowest_window.bits_per_second)
                                                     : Json());
    object.add("fastest_second", record::second_or_null(summary.fastest_second));
    object.add("fastest_second_bits_per_second", known ? Json(summary.fastest.bits_per_second) : Json());
    object.add("peak_10ms_bits_per_second", known ? Json(summary.peak_10ms.bits_per_second) : Json());
}

/// When after the beginning of each interval the producers generate their sets.
Json set_phases(const core::Plan& plan) {
    Json phases = Json::array();
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        phases.push_back(core::set_phase(plan, {producer}).in_seconds());
    }
    return phases;
}

judge::CauseKind kind_of(const std::string& name) {
    const auto* const found = std::find(judge::cause_kind_names.begin(), judge::cause_kind_names.end(), name);
    return found == judge::cause_kind_names.end()
               ? judge::CauseKind::not_told
               : static_cast<judge::CauseKind>(found - judge::cause_kind_names.begin());
}

judge::CauseEvidence evidence_of(const std::string& name) {
    const auto& names = judge::cause_evidence_names;
    const auto* const found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? judge::CauseEvidence::observed
                                : static_cast<judge::CauseEvidence>(found - names.begin());
}

/// Of "consumer 1"; nothing: not known.
std::optional<core::NodeId> node_of(const Json& where) {
    const auto role = files::role_named(files::text_in(where, "role"));
    const std::string name = files::text_in(where, "name");
    std::uint32_t index = 0;
    std::from_chars(name.data() + name.rfind(' ') + 1, name.data() + name.size(), index);
    return role ? std::optional(core::NodeId{*role, index}) : std::nullopt;
}

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

Json cause_json(const RunRecord& record, const judge::NamedCause& cause) {
    const bool alone = cause.together_with == judge::CauseKind::not_told;
    const auto option = [](const judge::RemedyOption& one) {
        return Json{{"option", one.name}, {"value", record::text_or_null(one.value)}};
    };
    return {{"what", judge::name_of(cause.what)},
            {"where", place_json(record, cause)},
            {"share", cause.share},
            {"evidence", judge::name_of(cause.evidence)},
            {"together_with", alone ? Json() : Json(judge::name_of(cause.together_with))},
            {"not_told_apart", cause.not_told_apart},
            {"remedy", record::text_or_null(cause.remedy)},
            {"options", record::list_of(cause.options, option)},
            {"text", cause.text}};
}

}  // namespace

Json rank_json(const record::RankRecord& rank) {
    const record::RankSummary& summary = rank.summary;
    const Role role = summary.node.role;
    constexpr std::size_t most_fields = 39;
    DistinctFields object(most_fields);
    const auto add = [&object](const char* name, Json value) { object.add(name, std::move(value)); };
    add("rank", rank.rank);
    add("role", core::role_name(role));
    add("index", summary.node.index);
    add("host", record::text_or_null(rank.host));
    add("leaf", record::text_or_null(rank.leaf));
    add("pid", rank.pid > 0 ? Json(rank.pid) : Json());
    add("cpus", record::text_or_null(rank.cpus));
    if (!rank.listening.empty()) {
        add("listening", rank.listening);
    }
    add("file", record::text_or_null(rank.file));
    add("ended_regularly", rank.ended_regularly);
    add("rows", summary.rows);
    add("last_second", record::second_or_null(summary.last_second));
    add("measured_s", summary.covered.in_seconds());
    add_role_fields(summary, object);
    if (role != Role::scheduler) {
        add_rates(summary, object);
    }
    record::Row sums;
    sums.time = summary.time;
    sums.load = summary.load;
    DistinctFields time(4);
    add_columns(sums, role, record::SumsIn::time, time);
    add("time", std::move(time).json());
    add("load", load_json(sums, role));
    add("poll_gap_max_us", summary.poll_gap_max.in_microseconds());
    add("poll_gap_max_second", record::second_or_null(summary.poll_gap_second));
    add("stalled_s", summary.stalled.in_seconds());
    add("clock_drift_ppm", record::or_null(summary.clock_drift_ppm));
    add("clock_drift_error_ppm", record::or_null(summary.clock_drift_error_ppm));
    return std::move(object).json();
}

nlohmann::ordered_json resolved_json(const core::Plan& plan, const std::optional<core::Pressure>& pressure) {
    Json json = {{"producers", plan.producers},
                 {"consumers", plan.consumers},
                 {"generation", files::word_of(plan.generation, {"sets", "steady", "saturate"})},
                 {"rate_bits_per_second", plan.rate.bits_per_second},
                 {"interval_s", plan.interval.in_seconds()},
                 {"set_bytes", plan.set_bytes().count},
                 {"event_size_mean_bytes", plan.event_size.mean},
                 {"buffer_bytes", plan.buffer.count},
                 {"chunk_size_bytes", plan.chunk_size.count},
                 {"slot_size_bytes", plan.slot_size.count},
                 {"window", plan.window},
                 {"slots", plan.slots},
                 {"streams", plan.streams},
                 {"busy_mean_s", plan.busy.mean * 1e-9},
                 {"result_size_mean_bytes", core::expected_mean(plan.result_size)},
                 {"duration_s", plan.duration.in_seconds()},
                 {"warmup_s", plan.warmup.in_seconds()},
                 {"drain_s", plan.drain.in_seconds()},
                 {"seed", plan.seed}};
    if (plan.addressed()) {
        json["traffic"] = {{"phases", plan.traffic->phases().size()},
                           {"pairs", plan.traffic->pairs()},
                           {"bytes_per_interval", plan.traffic->total().count},
                           {"most_sent_bytes", plan.traffic->largest_set().count},
                           {"most_received_bytes", plan.traffic->most_received().count}};
    }
    if (plan.row_interval.ns > 0) {
        json["row_interval_s"] = plan.row_interval.in_seconds();
        json["row_interval_asked_for"] = plan.row_interval_asked_for;
    }
    if (plan.is_staggered()) {
        json["set_phases_s"] = set_phases(plan);
    }
    if (pressure) {
        json["pressure"] = to_json(*pressure);
    }
    return json;
}

nlohmann::ordered_json answer_json(const judge::ShortAnswer& answer) {
    return {
        {"verdict", record::text_or_null(
                        answer.sentence.empty() ? "" : fmt::format("{}: {}", answer.word, answer.sentence))},
        {"because", record::text_or_null(answer.because)},
        {"do", record::text_or_null(answer.to_do)},
        {"certainty", record::text_or_null(std::string(answer.certainty))}};
}

nlohmann::ordered_json verdict_json(const RunRecord& record) {
    const judge::Verdict& verdict = record.verdict;
    const auto cause = [&](const judge::NamedCause& one) { return cause_json(record, one); };
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
            {"on_time", record::or_null(verdict.on_time)},
            {"sets", verdict.sets},
            {"late_sets", verdict.late_sets},
            {"first_late_second", record::second_or_null(verdict.first_late_second)},
            {"late_producers", verdict.late_producers},
            {"worst_late_s", verdict.late_sets > 0 && slack_s < 0 ? Json(-slack_s) : Json()},
            {"least_slack_s", record::or_null(verdict.least_slack)},
            {"lost_events", verdict.lost_events},
            {"cause", judge::cause_name(verdict)},
            {"causes", record::list_of(verdict.causes, cause)},
            {"observed", record::list_of(verdict.observed, cause)},
            {"answer", answer_json(answer_of(record))},
            {"text", verdict.text},
            {"advice", record::text_or_null(verdict.advice)},
            {"blocked_at_once_max", record.blocked_at_once.consumers},
            {"blocked_at_once_second", record::second_or_null(record.blocked_at_once.second)}};
}

std::vector<judge::NamedCause> causes_from(const Json& verdict, const char* list) {
    std::vector<judge::NamedCause> causes;
    for (const Json& one : files::field(verdict, list)) {
        causes.push_back({.what = kind_of(files::text_in(one, "what")),
                          .where = node_of(files::field(one, "where")),
                          .host = files::text_in(files::field(one, "where"), "host"),
                          .share = files::value_in<double>(one, "share").value_or(0),
                          .evidence = evidence_of(files::text_in(one, "evidence")),
                          .text = files::text_in(one, "text"),
                          .remedy = files::text_in(one, "remedy"),
                          .together_with = kind_of(files::text_in(one, "together_with")),
                          .not_told_apart = files::value_in<bool>(one, "not_told_apart").value_or(false)});
    }
    return causes;
}

std::string summary_line(const Json& json, const std::string& directory) {
    Json line{{"type", "summary"}, {"directory", directory}};
    line.update(json);
    return files::json_text(line);
}

}  // namespace weir::show
