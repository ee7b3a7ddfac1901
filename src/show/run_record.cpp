#include "show/run_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "files/json.hpp"
#include "judge/fairness.hpp"
#include "judge/ledger_check.hpp"
#include "record/json_values.hpp"

namespace weir::show {

namespace {

using core::Role;
using record::list_of;
using Json = nlohmann::ordered_json;

Json json_of(const record::LatencyDigest& digest) {
    Json json{{"count", digest.count}};
    const auto add = [&](const char* name, double value) {
        json[name] = digest.count > 0 ? Json(value) : Json();
    };
    add("p50_us", digest.p50_us);
    add("p90_us", digest.p90_us);
    add("p99_us", digest.p99_us);
    add("p99_9_us", digest.p99_9_us);
    add("max_us", digest.max_us);
    json["buckets"] = {{"upper_us", digest.buckets.upper_us}, {"events", digest.buckets.events}};
    return json;
}

/// It may have come from elsewhere, and without its zero.
std::string_view detail_of(const FaultRecord& fault) {
    return {fault.detail, strnlen(fault.detail, sizeof fault.detail)};
}

Json json_of(const FaultRecord& fault) {
    return {{"kind", fault_name(fault.kind)},
            {"source", files::node_text(fault.source)},
            {"destination", files::node_text(fault.destination)},
            {"event_producer", fault.event.producer().value},
            {"event_sequence", fault.event.sequence()},
            {"offset_bytes", fault.offset.count},
            {"chunk", fault.sequence},
            {"detail", std::string(detail_of(fault))}};
}

Json json_of(const core::LostRange& lost) {
    return {{"producer", lost.producer.value},
            {"first_sequence", lost.first},
            {"last_sequence", lost.last},
            {"reason", files::word_of(lost.reason, {"overflow", "undelivered", "on_the_way"})}};
}

Json network_json(const RunRecord& record) {
    if (!record.network) {
        return {};
    }
    const Json all = list_of(record.network->mechanisms, judge::mechanism_name);
    return {{"mechanism", all.front()},
            {"mechanisms", all},
            {"evidence", record.network->evidence},
            {"busiest_use", record::or_null(record.network->busiest_use)}};
}

/// Compares what the ranks of a role moved in the measured time; nothing where that is too few events.
Json fairness_json(const RunRecord& record, Role role) {
    const auto window = rate_window_s(record);
    if (!window || *window > seconds_of(record)) {
        return {};
    }
    std::vector<double> shares;
    for (const record::RankRecord& rank : record.ranks) {
        if (rank.summary.node.role == role) {
            shares.push_back(static_cast<double>(rank.summary.measured.moved(role).bytes.count));
        }
    }
    const auto fairness = judge::fairness_of(shares);
    return fairness ? Json{{"smallest_over_largest", fairness->smallest_over_largest},
                           {"jain_index", fairness->jain_index}}
                    : Json();
}

Json totals_json(const RunRecord& record) {
    const record::Counts totals = totals_of(record);
    const record::Known known{.builds = record.plan.builds(),
                              .asks_again = record.plan.asks_again(),
                              .control_packets = totals.control_packets > 0,
                              .credits = !record.plan.consumers_grant()};
    Json json;
    record::each_total(totals, record::SumsIn::totals, [&](const record::Column& column, std::int64_t sum) {
        const bool is_known = column.known == nullptr || known.*column.known;
        json[std::string(column.name)] = is_known ? Json(sum) : Json();
    });
    json["max_occupancy"] = record::finite_or_null(record.verdict.max_occupancy);
    return json;
}

/// Columns, because there may be 200 rows; null where the scheduler gets no offers, or they were too
/// few.
Json event_series_json(const std::vector<record::EventMark>& marks) {
    if (marks.empty()) {
        return {};
    }
    using Mark = record::EventMark;
    const auto seconds = [](const Mark& mark) { return (mark.at - core::Instant{}).in_seconds(); };
    return {{"events", list_of(marks, [](const Mark& mark) { return mark.events; })},
            {"at_s", list_of(marks, seconds)},
            {"bytes", list_of(marks, [](const Mark& mark) { return mark.bytes.count; })},
            {"events_without_credit", list_of(marks, [](const Mark& mark) { return mark.without_credit; })}};
}

Json ranks_json(const RunRecord& record, std::optional<std::int64_t> window_s) {
    Json ranks = Json::array();
    for (const record::RankRecord& rank : record.ranks) {
        ranks.push_back(rank_json(rank));
        // With `saturate` the window is known only now, and one of a second was kept.
        if (window_s != record::kept_window_s(record.plan) && rank.summary.node.role != Role::scheduler) {
            ranks.back()["slowest_window_second"] = nullptr;
            ranks.back()["slowest_window_bits_per_second"] = nullptr;
        }
    }
    return ranks;
}

/// As many as are listed.
template <typename Item>
Json first_of(const std::vector<Item>& items) {
    return list_of(std::span(items).first(std::min(items.size(), RunRecord::listed_max)),
                   [](const Item& item) { return json_of(item); });
}

void add_ucx_paths(Json& environment, const RunRecord& record) {
    for (const auto& [network, paths] : record.ucx_paths) {
        for (const auto& [path, connections] : paths) {
            environment["ucx_paths"][network].push_back(path);
            environment["ucx_connections"][network][path] = connections;
        }
    }
}

bool is_simulated(const RunRecord& record) {
    const Json environment = files::parse_json(record.environment);
    return environment.is_object() && environment.value("world", "") == "simulation";
}

}  // namespace

judge::ShortAnswer answer_of(const RunRecord& record) {
    return judge::answer_of(record.plan, record.verdict, is_simulated(record));
}

namespace {

/// Of the bytes that consumers received, in chunks whose payload was checked. Nothing: none was to be
/// checked, or it is not known.
std::optional<double> verified_payload_share(const RunRecord& record) {
    const core::Ledger consumers = judge::sum_ledgers(record.ranks).consumers;
    if (record.plan.verify < core::Verify::sample || consumers.received.bytes <= core::Bytes{0} ||
        is_simulated(record)) {
        return std::nullopt;
    }
    // Chunks of events that stayed incomplete may have been checked, too.
    return std::min(1.0, static_cast<double>(consumers.payload_checked.count) /
                             static_cast<double>(consumers.received.bytes.count));
}

}  // namespace

Json json_of(const Failure& failure) {
    return {{"what", failure.what},
            {"rank", record::or_null(failure.rank)},
            {"role", record::text_or_null(failure.role)},
            {"host", record::text_or_null(failure.host)}};
}

Failure failure_from(const Json& json) {
    return {.what = files::text_in(json, "what"),
            .rank = files::value_in<int>(json, "rank"),
            .role = files::text_in(json, "role"),
            .host = files::text_in(json, "host")};
}

const char* status_name(RunStatus status) {
    return files::word_of(status, {"complete", "interrupted", "failed"});
}

const char* fault_name(core::Fault::Kind kind) {
    return files::word_of(kind, {"corrupt_header", "corrupt_payload", "unexpected_chunk", "duplicate_chunk",
                                 "incomplete_event", "protocol_violation"});
}

FaultRecord fault_record(const core::Fault& fault) {
    FaultRecord record{.kind = fault.kind,
                       .source = fault.source,
                       .destination = fault.destination,
                       .event = fault.event,
                       .offset = fault.offset,
                       .sequence = fault.sequence};
    std::strncpy(record.detail, fault.detail, sizeof(record.detail) - 1);
    return record;
}

std::string fault_text(const FaultRecord& fault) {
    std::string text = fmt::format("{}: {} -> {}", fault_name(fault.kind), files::node_text(fault.source),
                                   files::node_text(fault.destination));
    if (fault.kind != core::Fault::Kind::protocol_violation) {
        text += fmt::format(", event {} of producer {}, chunk {} at byte {}", fault.event.sequence(),
                            fault.event.producer().value, fault.sequence, fault.offset.count);
    }
    const std::string_view detail = detail_of(fault);
    return detail.empty() ? text : fmt::format("{} ({})", text, detail);
}

record::Counts totals_of(const RunRecord& record) {
    record::Counts totals;
    for (const record::RankRecord& rank : record.ranks) {
        totals += rank.summary.run;
    }
    const auto accounted_for = [&](const record::RankRecord& rank) {
        return rank.summary.ledger_known ||
               (record.recovery && record.recovery->is_without_ledger(rank.summary.node));
    };
    const bool ledgers_known =
        !record.ranks.empty() && std::all_of(record.ranks.begin(), record.ranks.end(), accounted_for);
    if (ledgers_known) {
        const auto traffic = [](const core::Tally& tally) {
            return core::Traffic{tally.events, tally.bytes};
        };
        const judge::LedgerSums sums = judge::sum_ledgers(record.ranks);
        totals.generated = traffic(sums.producers.generated);
        totals.sent = traffic(sums.producers.sent);
        // Where nothing is lost on the way, what a consumer never had whole is among what its producer lost.
        totals.lost = traffic(record.plan.lossy() ? sums.producers.lost + sums.consumers.incomplete
                                                  : sums.producers.lost);
        // The scheduler has the account of consumers that were lost.
        totals.received = traffic(record.recovery ? sums.scheduler.received : sums.consumers.received);
        totals.corrupt_events = sums.consumers.corrupt.events;
        totals.duplicate_events = sums.consumers.duplicate.events;
        totals.results = traffic(sums.scheduler.results);
    }
    return totals;
}

std::string checked_text(const RunRecord& record) {
    const record::Counts totals = totals_of(record);
    std::string ids =
        std::string{"counts and hashes of ids"} +
        (totals.received.events >= totals.generated.events ? "" : ", also of events that are missing");
    if (is_simulated(record)) {
        return ids;
    }
    // A datagram's header is checked whatever the level.
    if (record.plan.verify == core::Verify::none && !record.plan.lossy()) {
        return ids + "; headers and payload not checked";
    }
    if (record.plan.verify == core::Verify::full) {
        return fmt::format("headers, {}; all payload checked", ids);
    }
    const auto share = verified_payload_share(record);
    return fmt::format("headers, {}; payload {}", ids,
                       share && *share > 0 ? fmt::format("of {} of the bytes checked", files::percent(*share))
                                           : "not checked");
}

std::int64_t seconds_of(const RunRecord& record) {
    std::int64_t seconds = std::numeric_limits<std::int64_t>::max();
    for (const record::RankRecord& rank : record.ranks) {
        if (!record.plan.outlives_consumers || rank.summary.node.role != Role::consumer) {
            seconds = std::min(seconds, rank.summary.whole_seconds);
        }
    }
    return record.ranks.empty() ? 0 : seconds;
}

nlohmann::ordered_json to_json(const RunRecord& record) {
    Json json{{"schema", "weir-run/1"}, {"status", status_name(record.status)}};
    json["failure"] = record.failure ? json_of(*record.failure) : Json();
    json["started_at"] = record::text_or_null(record.started_at);
    json["seconds"] = seconds_of(record);
    Json labels = Json::object();
    for (const auto& [name, value] : record.labels) {
        labels[name] = value;
    }
    json["labels"] = std::move(labels);
    json["verdict"] = verdict_json(record);
    json["network"] = network_json(record);
    if (record.switches) {
        json["switch"] = to_json(*record.switches);
    }
    json["totals"] = totals_json(record);
    json["datagrams"] = record.datagrams ? to_json(*record.datagrams) : Json();
    const auto window = rate_window_s(record);
    json["rate_window_s"] = record::or_null(window);
    json["evenness"] = {{"consumers", fairness_json(record, Role::consumer)}};
    json["event_series"] = event_series_json(record.event_marks);

    Json latency = Json::object();
    for (const record::LatencyDigests::Latency& one : record::LatencyDigests::all()) {
        latency[one.name] = json_of(record.latencies.*one.item);
    }
    json["latency"] = std::move(latency);
    json["clock"] = {{"error_us", record::number_or_null(record.clock_error_us)}};
    json["ledger"] = {{"agrees", record.ledger_checked ? Json(record.ledger_differences.empty()) : Json()},
                      {"differences", record.ledger_differences}};
    json["ledger"]["verified_payload_share"] = record::or_null(verified_payload_share(record));
    json["fault_count"] = std::max(record.fault_count, std::uint64_t{record.faults.size()});
    json["faults"] = first_of(record.faults);
    json["lost_range_count"] = std::max(record.lost_range_count, std::uint64_t{record.lost.size()});
    json["lost"] = first_of(record.lost);
    for (const record::PhaseSummary& phase : record.phases) {
        json["phases"].push_back(to_json(phase));
    }
    for (const record::SizeClass& sizes : record.size_classes) {
        json["size_classes"].push_back(to_json(sizes));
    }
    for (const record::CollectiveSummary& collective : record.collectives) {
        json["collectives"].push_back(to_json(collective));
    }
    if (record.recovery) {
        json["recovery"] = to_json(*record.recovery);
    }

    Json plan = Json::object();
    for (const auto& [option, value] : record.plan_options) {
        plan[option] = value;
    }
    plan["resolved"] = resolved_json(record.plan, record.pressure);
    json["plan"] = std::move(plan);
    json["environment"] = files::parse_json(record.environment);
    if (record.late_starts) {
        json["environment"]["late_starts"] = *record.late_starts;
    }
    add_ucx_paths(json["environment"], record);
    json["hosts"] = list_of(record.hosts, record::host_json);
    json["ranks"] = ranks_json(record, window);
    return json;
}

RunRecord unfinished(RunRecord record) {
    record.status = RunStatus::failed;
    record.failure = Failure{.what = std::string(has_not_ended)};
    record.verdict = {};
    record.verdict.max_occupancy = std::numeric_limits<double>::quiet_NaN();
    record.verdict.text = record.verdict.findings = "Not judged: the run has not ended.";
    return record;
}

std::optional<Failure> how_it_ended(const std::string& path) {
    return how_it_ended(files::json_of_file(path));
}

std::optional<Failure> how_it_ended(const Json& run) {
    if (!run.is_object() || !run.contains("failure")) {
        return std::nullopt;
    }
    const Failure read = failure_from(run["failure"]);
    return read.what == has_not_ended ? std::nullopt : std::optional(read);
}

files::MaybeIoError end_unfinished(const std::string& path, RunStatus status, const Failure& failure) {
    Json json = files::json_of_file(path);
    if (!json.is_object() || how_it_ended(json)) {
        return {};
    }
    json["status"] = status_name(status);
    json["failure"] = json_of(failure);
    json["verdict"]["text"] = status == RunStatus::interrupted ? "Not judged: the run was interrupted."
                                                               : "Not judged: the run failed.";
    files::WholeFile file(path);
    file.put(files::json_file_text(json));
    return file.finish(files::OnDisk::later);
}

std::optional<std::int64_t> rate_window_s(const RunRecord& record) {
    if (record.plan.generation != core::Generation::saturate) {
        return record::rate_window_s(record.plan);
    }
    core::Bytes sent;
    core::Duration time;
    for (const record::RankRecord& rank : record.ranks) {
        if (rank.summary.node.role == core::Role::producer) {
            sent += rank.summary.in_time.bytes;
            time += rank.summary.in_time.time;
        }
    }
    return record::rate_window_s(record.plan, record::rate_of(sent, time));
}

std::string run_json_text(const RunRecord& record) {
    // Host names and options come from outside: what is not UTF-8 must not end a run that has just finished.
    return files::json_file_text(to_json(record));
}

files::MaybeIoError write_run_json(const std::string& path, const RunRecord& record, files::OnDisk on_disk) {
    files::WholeFile file(path);
    file.put(run_json_text(record));
    return file.finish(on_disk);
}

}  // namespace weir::show
