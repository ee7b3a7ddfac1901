#include "telemetry/job_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "telemetry/checked_json.hpp"
#include "telemetry/formatting.hpp"
#include "telemetry/json_text.hpp"
#include "telemetry/json_values.hpp"
#include "telemetry/run_record.hpp"
#include "telemetry/whole_file.hpp"

namespace weir::telemetry {

namespace {

using Json = nlohmann::ordered_json;

/// Null where there is none.
Json field(const Json& json, const char* name) {
    return json.is_object() && json.contains(name) ? json[name] : Json();
}

std::uint64_t number(const Json& json, const char* name) {
    return whole_number_if_any<std::uint64_t>(field(json, name)).value_or(0);
}

/// Not so large that a sum of all groups' ranks could overflow.
std::optional<std::int64_t> bits_per_second(const Json& json) {
    constexpr std::int64_t largest = 1'000'000'000'000'000;
    const auto rate = whole_number_if_any<std::int64_t>(json);
    return rate && *rate >= 0 && *rate <= largest ? rate : std::nullopt;
}

std::string text(const Json& json, const char* name) {
    const Json value = field(json, name);
    return value.is_string() ? value.get<std::string>() : std::string{};
}

bool is(const Json& json, const char* name, bool expected) {
    const Json value = field(json, name);
    return value.is_boolean() && value.get<bool>() == expected;
}

/// Payload that the consumers received in the measured time, by second; null: of no consumer known.
Json goodput_of(const Json& run) {
    std::int64_t sum = 0;
    bool known = false;
    for (const Json& rank : field(run, "ranks")) {
        const auto mean = bits_per_second(field(rank, "mean_bits_per_second"));
        if (text(rank, "role") == "consumer" && mean) {
            sum += *mean;
            known = true;
        }
    }
    return known ? Json(sum) : Json();
}

Json hosts_of(const Json& run) {
    std::set<std::string> known;
    Json hosts = Json::array();
    for (const Json& rank : field(run, "ranks")) {
        const std::string host = text(rank, "host");
        if (!host.empty() && known.insert(host).second) {
            hosts.push_back(host);
        }
    }
    return hosts;
}

/// What the verdicts of all groups come to.
struct Sum {
    std::vector<std::uint32_t> unsustained;
    std::vector<std::uint32_t> late;
    std::vector<std::uint32_t> unjudged;
    std::vector<std::uint32_t> failed;
    std::uint64_t sets = 0;
    std::uint64_t late_sets = 0;
    std::uint64_t lost_events = 0;
    Json max_occupancy;
    Json worst_group;
    std::vector<std::uint32_t> interrupted;
    bool on_time_known = true;
};

Sum sum_of(const JobRecord& record) {
    Sum sum;
    for (const GroupEntry& entry : record.groups) {
        const Json verdict = field(entry.json, "verdict");
        const std::string status = text(entry.json, "status");
        if (status == "failed") {
            sum.failed.push_back(entry.group);
        }
        if (status == "interrupted") {
            sum.interrupted.push_back(entry.group);
        }
        if (!is(verdict, "judged", true)) {
            sum.unjudged.push_back(entry.group);
        } else if (is(verdict, "sustained", false)) {
            sum.unsustained.push_back(entry.group);
        }
        sum.on_time_known = sum.on_time_known && field(verdict, "on_time").is_boolean();
        if (is(verdict, "on_time", false)) {
            sum.late.push_back(entry.group);
        }
        sum.sets += number(verdict, "sets");
        sum.late_sets += number(verdict, "late_sets");
        sum.lost_events += number(verdict, "lost_events");
        const Json occupancy = field(field(entry.json, "totals"), "max_occupancy");
        if (occupancy.is_number() &&
            (sum.max_occupancy.is_null() || occupancy.get<double>() > sum.max_occupancy.get<double>())) {
            sum.max_occupancy = occupancy;
            sum.worst_group = entry.group;
        }
    }
    return sum;
}

std::string verdict_text(const JobRecord& record, const Sum& sum) {
    const std::size_t groups = record.groups.size();
    const std::size_t judged = groups - sum.unjudged.size();
    std::string all;
    const auto say = [&](const std::string& sentence) { all += (all.empty() ? "" : " ") + sentence; };
    if (!sum.failed.empty()) {
        say(fmt::format("{} of {} failed: {}.", sum.failed.size(), counted(groups, "group"),
                        name_some("group", sum.failed)));
    }
    if (!sum.interrupted.empty()) {
        say(fmt::format("{} of {} interrupted: {}.", sum.interrupted.size(), counted(groups, "group"),
                        name_some("group", sum.interrupted)));
    }
    if (judged == 0) {
        say("No group was judged.");
        return all;
    }
    if (sum.unsustained.empty()) {
        say(fmt::format("Sustained{} in {}.", sum.late.empty() ? "" : ", but not on time,",
                        judged == groups ? fmt::format("all {} groups", groups)
                                         : fmt::format("the {} that were judged", counted(judged, "group"))));
    } else {
        say(fmt::format("NOT sustained in {} of {}: {}.", sum.unsustained.size(), counted(groups, "group"),
                        name_some("group", sum.unsustained)));
    }
    if (!sum.late.empty()) {
        say(fmt::format("{} of {} sets were late, in {}.", sum.late_sets, sum.sets,
                        name_some("group", sum.late)));
    } else if (sum.sets > 0) {
        say(fmt::format("No set of {} was late.", sum.sets));
    }
    if (sum.lost_events > 0) {
        say(fmt::format("{} lost.", counted(sum.lost_events, "event")));
    }
    if (sum.max_occupancy.is_number()) {
        say(fmt::format("Worst occupancy {:.3f}, in group {}.", sum.max_occupancy.get<double>(),
                        sum.worst_group.get<std::uint32_t>()));
    }
    return all;
}

Json verdict_json(const JobRecord& record) {
    const Sum sum = sum_of(record);
    const bool judged = sum.unjudged.empty();
    // One group that is not sustained decides for all; otherwise every group must have been judged.
    const Json sustained = !sum.unsustained.empty() ? Json(false) : judged ? Json(true) : Json();
    const Json on_time = !sum.late.empty() ? Json(false) : sum.on_time_known ? Json(true) : Json();
    return {{"judged", judged},
            {"sustained", sustained},
            {"on_time", on_time},
            {"sets", sum.sets},
            {"late_sets", sum.late_sets},
            {"lost_events", sum.lost_events},
            {"max_occupancy", sum.max_occupancy},
            {"worst_group", sum.worst_group},
            {"unsustained_groups", sum.unsustained},
            {"late_groups", sum.late},
            {"unjudged_groups", sum.unjudged},
            {"text", verdict_text(record, sum)}};
}

/// Adds what is a number in both; null where one of them is.
void add_totals(Json& sums, const Json& totals) {
    for (auto& [name, sum] : sums.items()) {
        const Json one = field(totals, name.c_str());
        if (!sum.is_number() || !one.is_number()) {
            sum = name == "max_occupancy" && one.is_number() ? one : name == "max_occupancy" ? sum : Json();
        } else if (name == "max_occupancy") {
            sum = std::max(sum.get<double>(), one.get<double>());
        } else {
            sum = whole_number_if_any<std::uint64_t>(sum).value_or(0) +
                  whole_number_if_any<std::uint64_t>(one).value_or(0);
        }
    }
}

/// Of the groups from which something came.
Json totals_json(const JobRecord& record) {
    Json sums;
    for (const GroupEntry& entry : record.groups) {
        const Json totals = field(entry.json, "totals");
        if (totals.is_null()) {
            continue;
        }
        if (sums.is_null()) {
            sums = totals;
        } else {
            add_totals(sums, totals);
        }
    }
    return sums;
}

Json goodput_json(const JobRecord& record) {
    std::int64_t sum = 0;
    bool known = false;
    for (const GroupEntry& entry : record.groups) {
        if (const auto goodput = bits_per_second(field(entry.json, "goodput_bits_per_second"))) {
            sum += *goodput;
            known = true;
        }
    }
    return known ? Json(sum) : Json();
}

std::uint64_t seconds_of(const JobRecord& record) {
    std::optional<std::uint64_t> least;
    for (const GroupEntry& entry : record.groups) {
        const std::uint64_t seconds = number(entry.json, "seconds");
        least = least ? std::min(*least, seconds) : seconds;
    }
    return least.value_or(0);
}

/// The first group that failed, else the first that was interrupted.
Json failure_json(const JobRecord& record) {
    if (!record.ended) {
        return {{"what", std::string(has_not_ended)}, {"group", nullptr}};
    }
    for (const char* const status : {"failed", "interrupted"}) {
        for (const GroupEntry& entry : record.groups) {
            if (text(entry.json, "status") == status) {
                return {{"what", fmt::format("group {}: {}", entry.group,
                                             text(field(entry.json, "failure"), "what"))},
                        {"group", entry.group}};
            }
        }
    }
    return {};
}

/// 0: the worst.
int badness(const GroupEntry& entry) {
    const Json verdict = field(entry.json, "verdict");
    const std::string status = text(entry.json, "status");
    return status == "failed"                ? 0
           : is(verdict, "sustained", false) ? 1
           : is(verdict, "on_time", false)   ? 2
           : !is(verdict, "judged", true)    ? 3
                                             : 4;
}

double occupancy_of(const GroupEntry& entry) {
    const Json occupancy = field(field(entry.json, "totals"), "max_occupancy");
    return occupancy.is_number() ? occupancy.get<double>() : -1;
}

std::string state_of(const GroupEntry& entry) {
    const Json verdict = field(entry.json, "verdict");
    const std::string status = text(entry.json, "status");
    return status != "complete"              ? status
           : is(verdict, "sustained", true)  ? "sustained"
           : is(verdict, "sustained", false) ? "NOT sustained"
                                             : "not judged";
}

/// "1203.4" in the unit, or "-".
std::string rate_cell(const Json& rate, RateUnit unit) {
    const auto known = whole_number_if_any<std::int64_t>(rate);
    return known ? in_unit({*known}, unit) : "-";
}

std::string row(const std::string& group, const std::string& state, const std::string& goodput,
                const std::string& occupancy, std::uint64_t late, std::uint64_t sets, std::uint64_t lost) {
    return fmt::format("{:>10}  {:<14}{:>10}{:>11}{:>18}{:>10}\n", group, state, goodput, occupancy,
                       fmt::format("{} of {}", late, sets), lost);
}

std::string table_text(const JobRecord& record) {
    const Json goodput = goodput_json(record);
    const std::size_t groups = std::max<std::size_t>(1, record.groups.size());
    const RateUnit unit = unit_for(
        {whole_number_if_any<std::int64_t>(goodput).value_or(1) / static_cast<std::int64_t>(groups)});
    std::string table =
        fmt::format("{:>10}  {:<14}{:>10}{:>11}{:>18}{:>10}\n", "group", "", "goodput", "worst", "late sets",
                    "lost") +
        fmt::format("{:>10}  {:<14}{:>10}{:>11}{:>18}{:>10}\n", "", "", unit.name, "occupancy", "", "events");
    const auto occupancy_text = [](double occupancy) {
        return occupancy < 0 ? std::string{"-"} : fmt::format("{:.3f}", occupancy);
    };
    constexpr std::size_t shown_max = 20;
    const std::vector<std::uint32_t> order = worst_first(record);
    for (std::size_t i = 0; i < std::min(order.size(), shown_max); ++i) {
        const GroupEntry& entry = record.groups[order[i]];
        const Json verdict = field(entry.json, "verdict");
        table += row(std::to_string(entry.group), state_of(entry),
                     rate_cell(field(entry.json, "goodput_bits_per_second"), unit),
                     occupancy_text(occupancy_of(entry)), number(verdict, "late_sets"),
                     number(verdict, "sets"), number(verdict, "lost_events"));
    }
    if (order.size() > shown_max) {
        table += fmt::format("{:>10}  {} more, all better than these\n", "...", order.size() - shown_max);
    }
    const Sum sum = sum_of(record);
    table += row(fmt::format("all {}", record.groups.size()), "", rate_cell(goodput, unit),
                 sum.max_occupancy.is_number() ? occupancy_text(sum.max_occupancy.get<double>()) : "-",
                 sum.late_sets, sum.sets, sum.lost_events);
    return table;
}

}  // namespace

GroupEntry group_entry(std::uint32_t group, std::string directory, const Json& run, int exit_status) {
    const Json resolved = field(field(run, "plan"), "resolved");
    Json json{{"group", group},
              {"directory", directory},
              {"status", field(run, "status")},
              {"failure", field(run, "failure")},
              {"seconds", field(run, "seconds")},
              {"producers", field(resolved, "producers")},
              {"consumers", field(resolved, "consumers")},
              {"hosts", hosts_of(run)},
              {"seed", field(resolved, "seed")},
              {"exit_status", exit_status},
              {"goodput_bits_per_second", goodput_of(run)},
              {"clock_error_us", field(field(run, "clock"), "error_us")},
              {"verdict", field(run, "verdict")},
              {"totals", field(run, "totals")}};
    return {group, std::move(directory), std::move(json)};
}

namespace {
constexpr const char* nothing_came = "nothing came from this group";
}  // namespace

GroupEntry missing_group(std::uint32_t group, std::string directory) {
    const Json run{
        {"status", "failed"},
        {"failure", {{"what", nothing_came}, {"rank", nullptr}, {"role", nullptr}, {"host", nullptr}}},
        {"seconds", 0}};
    return group_entry(group, std::move(directory), run, 1);
}

std::optional<GroupEntry> group_entry_from_file(std::uint32_t group, std::string directory,
                                                const std::string& path) {
    if (!how_it_ended(path)) {
        return std::nullopt;
    }
    const Json run = json_of_file(path);
    if (!run.is_object()) {
        return std::nullopt;
    }
    return group_entry(group, std::move(directory), run, text(run, "status") == "complete" ? 0 : 1);
}

GroupEntry group_entry_or_missing(const std::string& directory, const std::vector<std::string>& groups,
                                  std::uint32_t group) {
    const std::string& name = groups.at(group);
    const auto entry = group_entry_from_file(group, name, directory + "/" + name + "/run.json");
    return entry ? *entry : missing_group(group, name);
}

bool is_whole_job_record(const std::string& path) {
    const Json json = json_of_file(path);
    const Json groups = field(json, "groups");
    return how_it_ended(path) && std::none_of(groups.begin(), groups.end(), [](const Json& group) {
               return text(field(group, "failure"), "what") == nothing_came;
           });
}

JobRecord job_record_from_files(const std::string& directory, const std::vector<std::string>& groups) {
    JobRecord record;
    record.directory = directory;
    record.describe(json_of_file(directory + "/" + groups.at(0) + "/run.json"),
                    static_cast<std::uint32_t>(groups.size()));
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
        record.groups.push_back(group_entry_or_missing(directory, groups, group));
    }
    return record;
}

void JobRecord::describe(const Json& run, std::uint32_t group_count) {
    plan = Json::object();
    const Json of_group = field(run, "plan");
    for (const auto& [name, value] : of_group.items()) {
        if (name == "resolved") {
            plan["groups"] = std::to_string(group_count);
        }
        plan[name] = value;
    }
    labels = field(run, "labels");
    environment = field(run, "environment");
    started_at = text(run, "started_at");
}

Json to_json(const JobRecord& record) {
    const Sum sum = sum_of(record);
    const char* const status = !sum.failed.empty()        ? "failed"
                               : !sum.interrupted.empty() ? "interrupted"
                                                          : "complete";
    Json json{
        {"schema", "weir-groups/1"},
        {"status", status},
        {"failure", failure_json(record)},
        {"started_at", text_or_null(record.started_at)},
        {"seconds", seconds_of(record)},
        {"labels", record.labels},
        {"verdict", verdict_json(record)},
        {"totals", totals_json(record)},
        {"goodput_bits_per_second", goodput_json(record)},
        {"clock", {{"error_us", record.clock_error_us ? finite_or_null(*record.clock_error_us) : Json()}}}};
    json["groups"] = Json::array();
    for (const GroupEntry& entry : record.groups) {
        json["groups"].push_back(entry.json);
    }
    json["plan"] = record.plan;
    json["environment"] = record.environment;
    return json;
}

MaybeIoError write_job_json(const std::string& path, const JobRecord& record) {
    WholeFile file(path);
    file.put(json_text(to_json(record), 2) + "\n");
    return file.finish();
}

int exit_status_of(const JobRecord& record) {
    // Statuses from 128 on are of signals.
    constexpr int signal_base = 128;
    const auto rank = [](int status) {
        return status == 1 ? 3 : status > signal_base ? 2 : status != 0 ? 1 : 0;
    };
    int worst = 0;
    for (const GroupEntry& entry : record.groups) {
        const int status = entry.json.value("exit_status", 1);
        worst = rank(status) > rank(worst) ? status : worst;
    }
    return worst;
}

std::vector<std::uint32_t> worst_first(const JobRecord& record) {
    std::vector<std::uint32_t> order(record.groups.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const GroupEntry& one = record.groups[a];
        const GroupEntry& other = record.groups[b];
        return badness(one) != badness(other) ? badness(one) < badness(other)
                                              : occupancy_of(one) > occupancy_of(other);
    });
    return order;
}

std::string job_summary_text(const JobRecord& record, bool terminal) {
    const Json verdict = verdict_json(record);
    const Json failure = failure_json(record);
    const bool bad = !failure.is_null() || is(verdict, "sustained", false);
    const bool good = !bad && is(verdict, "sustained", true);
    std::string all;
    if (!failure.is_null()) {
        all += fmt::format(
            "{}{}\n", sum_of(record).failed.empty() ? "Interrupted: " : "FAILED: ", text(failure, "what"));
    }
    all += text(verdict, "text") + "\n";
    if (terminal && (bad || good)) {
        all = fmt::format("{}{}{}", bad ? colour_red : colour_green, all, colour_none);
    }
    all += "\n" + table_text(record);
    if (record.clock_error_us) {
        all += fmt::format("\nsecond 0 of the groups is at most {:.1f} us apart\n", *record.clock_error_us);
    }
    all += fmt::format("\nrun directory        {}\n", record.directory);
    return all;
}

std::string job_summary_json(const JobRecord& record) {
    Json json = to_json(record);
    json.erase("environment");
    Json line{{"type", "summary"}, {"directory", record.directory}};
    for (const auto& [name, value] : json.items()) {
        line[name] = value;
    }
    return json_text(line);
}

}  // namespace weir::telemetry
