#include "show/groups_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "files/formatting.hpp"
#include "files/json.hpp"
#include "judge/cause_text.hpp"
#include "record/json_values.hpp"
#include "show/run_record.hpp"

namespace weir::show {

namespace {

using Json = nlohmann::ordered_json;
using files::field;
using files::text_in;
using files::value_in;

constexpr const char* nothing_came = "nothing came from this group";

std::uint64_t number(const Json& json, const char* name) {
    return files::value_in<std::uint64_t>(json, name).value_or(0);
}

/// Not so large that a sum of all groups' ranks could overflow.
std::optional<std::int64_t> bits_per_second(const Json& json, const char* name) {
    constexpr std::int64_t largest = 1'000'000'000'000'000;
    const auto rate = files::value_in<std::int64_t>(json, name);
    return rate && *rate >= 0 && *rate <= largest ? rate : std::nullopt;
}

template <typename T>
void add_to(std::optional<T>& sum, const std::optional<T>& one) {
    if (one) {
        sum = sum.value_or(T{}) + *one;
    }
}

/// Payload that the consumers received in the measured time, by second; nothing: of no consumer known.
std::optional<std::int64_t> goodput_of(const Json& run) {
    std::optional<std::int64_t> sum;
    for (const Json& rank : field(run, "ranks")) {
        if (text_in(rank, "role") == "consumer") {
            add_to(sum, bits_per_second(rank, "mean_bits_per_second"));
        }
    }
    return sum;
}

Json hosts_of(const Json& run) {
    std::set<std::string> known;
    Json hosts = Json::array();
    for (const Json& rank : field(run, "ranks")) {
        const std::string host = text_in(rank, "host");
        if (!host.empty() && known.insert(host).second) {
            hosts.push_back(host);
        }
    }
    return hosts;
}

/// Of the entry of a group, or the sum of all.
struct Figures {
    std::string status;
    bool judged = false;
    std::optional<bool> sustained;
    std::optional<bool> on_time;
    std::uint64_t sets = 0;
    std::uint64_t late_sets = 0;
    std::uint64_t lost_events = 0;
    std::optional<double> occupancy;
    std::optional<std::int64_t> goodput;

    Figures() = default;
    explicit Figures(const Json& entry)
        : status(text_in(entry, "status")), goodput(bits_per_second(entry, "goodput_bits_per_second")) {
        const Json& verdict = field(entry, "verdict");
        judged = value_in<bool>(verdict, "judged").value_or(false);
        sustained = value_in<bool>(verdict, "sustained");
        on_time = value_in<bool>(verdict, "on_time");
        sets = number(verdict, "sets");
        late_sets = number(verdict, "late_sets");
        lost_events = number(verdict, "lost_events");
        occupancy = value_in<double>(field(entry, "totals"), "max_occupancy");
    }
    [[nodiscard]] std::string state() const {
        return status != "complete" ? status
               : !sustained         ? "not judged"
               : *sustained         ? "sustained"
                                    : "NOT sustained";
    }
    /// 0: the worst.
    [[nodiscard]] int rank() const {
        return status == "failed"                ? 0
               : sustained == false              ? 1
               : on_time == false                ? 2
               : status != "complete" || !judged ? 3
                                                 : 4;
    }
};

/// What held up a job of several groups: what did the worst of them.
struct GroupCause {
    std::uint32_t group = 0;
    std::string cause;   ///< as in run.json of that group
    std::string text;    ///< "Group 3, main cause: too few slots. ..."
    std::string advice;  ///< "Group 3: ..."; empty: none is known
};

/// Of the worst group that names one; nothing: none does.
std::optional<GroupCause> cause_of_worst(const GroupsRecord& record) {
    for (const std::uint32_t group : worst_first(record)) {
        const Json& verdict = field(record.groups[group], "verdict");
        const std::vector<judge::NamedCause> causes = causes_from(verdict);
        if (causes.empty()) {
            continue;
        }
        const std::string advice = text_in(verdict, "advice");
        return GroupCause{.group = group,
                          .cause = text_in(verdict, "cause"),
                          .text = fmt::format("Group {}, m{}", group, judge::causes_text(causes).substr(1)),
                          .advice = advice.empty() ? "" : fmt::format("Group {}: {}", group, advice)};
    }
    return std::nullopt;
}

/// What the verdicts of all groups come to.
struct Sum {
    Figures all;
    std::optional<std::uint32_t> worst_group;
    std::vector<std::uint32_t> unsustained;
    std::vector<std::uint32_t> late;
    std::vector<std::uint32_t> unjudged;
    std::vector<std::uint32_t> failed;
    std::vector<std::uint32_t> interrupted;
    std::optional<GroupCause> cause;
};

Sum sum_of(const GroupsRecord& record) {
    Sum sum;
    bool on_time_known = true;
    for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
        const Figures one(record.groups[group]);
        const auto note = [&](bool holds, std::vector<std::uint32_t>& groups) {
            if (holds) {
                groups.push_back(group);
            }
        };
        note(one.status == "failed", sum.failed);
        note(one.status == "interrupted", sum.interrupted);
        note(!one.judged, sum.unjudged);
        note(one.judged && one.sustained == false, sum.unsustained);
        note(one.on_time == false, sum.late);
        on_time_known = on_time_known && one.on_time;
        sum.all.sets += one.sets;
        sum.all.late_sets += one.late_sets;
        sum.all.lost_events += one.lost_events;
        add_to(sum.all.goodput, one.goodput);
        if (one.occupancy && (!sum.all.occupancy || *one.occupancy > *sum.all.occupancy)) {
            sum.all.occupancy = one.occupancy;
            sum.worst_group = group;
        }
    }
    // One group that is not sustained is enough; otherwise every group must have been judged.
    sum.all.judged = sum.unjudged.empty();
    if (!sum.unsustained.empty() || sum.all.judged) {
        sum.all.sustained = sum.unsustained.empty();
    }
    if (!sum.late.empty() || on_time_known) {
        sum.all.on_time = sum.late.empty();
    }
    sum.cause = cause_of_worst(record);
    sum.all.status = !sum.failed.empty() ? "failed" : !sum.interrupted.empty() ? "interrupted" : "complete";
    return sum;
}

std::string verdict_text(const GroupsRecord& record, const Sum& sum) {
    const std::size_t groups = record.groups.size();
    const std::size_t judged = groups - sum.unjudged.size();
    std::string all;
    const auto say = [&](const std::string& sentence) { all += (all.empty() ? "" : " ") + sentence; };
    const auto say_ended = [&](const char* how, const std::vector<std::uint32_t>& which) {
        if (!which.empty()) {
            say(fmt::format("{} of {} {}: {}.", which.size(), files::counted(groups, "group"), how,
                            files::name_some("group", which)));
        }
    };
    say_ended("failed", sum.failed);
    say_ended("interrupted", sum.interrupted);
    if (judged == 0) {
        say("No group was judged.");
    } else if (sum.unsustained.empty()) {
        say(fmt::format("Sustained{} in {}.", sum.late.empty() ? "" : ", but not on time,",
                        judged == groups
                            ? fmt::format("all {} groups", groups)
                            : fmt::format("the {} that were judged", files::counted(judged, "group"))));
    } else {
        say(fmt::format("NOT sustained in {} of {}: {}.", sum.unsustained.size(),
                        files::counted(groups, "group"), files::name_some("group", sum.unsustained)));
    }
    if (!sum.late.empty()) {
        say(fmt::format("{} of {} sets were late, in {}.", sum.all.late_sets, sum.all.sets,
                        files::name_some("group", sum.late)));
    } else if (sum.all.sets > 0) {
        say(fmt::format("No set of {} was late.", sum.all.sets));
    }
    if (sum.all.lost_events > 0) {
        say(fmt::format("{} lost.", files::counted(sum.all.lost_events, "event")));
    }
    if (sum.worst_group) {
        say(fmt::format("Worst occupancy {}, in group {}.", files::number(*sum.all.occupancy),
                        *sum.worst_group));
    }
    if (sum.cause) {
        say(sum.cause->text);
    }
    return all;
}

Json verdict_json(const GroupsRecord& record, const Sum& sum) {
    return {{"judged", sum.all.judged},
            {"sustained", record::or_null(sum.all.sustained)},
            {"on_time", record::or_null(sum.all.on_time)},
            {"sets", sum.all.sets},
            {"late_sets", sum.all.late_sets},
            {"lost_events", sum.all.lost_events},
            {"max_occupancy", record::or_null(sum.all.occupancy)},
            {"worst_group", record::or_null(sum.worst_group)},
            {"unsustained_groups", sum.unsustained},
            {"late_groups", sum.late},
            {"unjudged_groups", sum.unjudged},
            {"worst_first", worst_first(record)},
            {"cause", sum.cause ? Json(sum.cause->cause) : Json("none")},
            {"cause_group", sum.cause ? Json(sum.cause->group) : Json()},
            {"text", verdict_text(record, sum)},
            {"advice", record::text_or_null(sum.cause ? sum.cause->advice : "")}};
}

/// Adds what is a number in both; null where one of them is. Of `max_occupancy` the largest.
void add_totals(Json& sums, const Json& totals) {
    for (auto& [name, sum] : sums.items()) {
        const Json& one = field(totals, name.c_str());
        if (name == "max_occupancy") {
            sum = one.is_number() && (!sum.is_number() || one > sum) ? one : sum;
        } else if (!sum.is_number() || !one.is_number()) {
            sum = Json();
        } else {
            sum = files::whole_number_if_any<std::uint64_t>(sum).value_or(0) +
                  files::whole_number_if_any<std::uint64_t>(one).value_or(0);
        }
    }
}

/// Of the groups from which something came.
Json totals_json(const GroupsRecord& record) {
    Json sums;
    for (const Json& entry : record.groups) {
        const Json& totals = field(entry, "totals");
        if (sums.is_null()) {
            sums = totals;
        } else if (!totals.is_null()) {
            add_totals(sums, totals);
        }
    }
    return sums;
}

std::uint64_t seconds_of(const GroupsRecord& record) {
    std::optional<std::uint64_t> least;
    for (const Json& entry : record.groups) {
        least = std::min(least.value_or(UINT64_MAX), number(entry, "seconds"));
    }
    return least.value_or(0);
}

/// The first group that failed, else the first that was interrupted.
Json failure_json(const GroupsRecord& record, const Sum& sum) {
    if (!record.ended) {
        return {{"what", std::string(has_not_ended)}, {"group", nullptr}};
    }
    const auto& bad = sum.failed.empty() ? sum.interrupted : sum.failed;
    if (bad.empty()) {
        return {};
    }
    const std::uint32_t group = bad.front();
    return {
        {"what", fmt::format("group {}: {}", group, text_in(field(record.groups[group], "failure"), "what"))},
        {"group", group}};
}

std::string cells(std::string_view group, std::string_view state, std::string_view goodput,
                  std::string_view occupancy, std::string_view late_sets, std::string_view lost_events) {
    return fmt::format("{:>10}  {:<14}{:>10}{:>11}{:>18}{:>10}\n", group, state, goodput, occupancy,
                       late_sets, lost_events);
}

std::string row(const std::string& group, const std::string& state, const Figures& figures,
                files::Unit unit) {
    return cells(group, state, figures.goodput ? files::in_unit({*figures.goodput}, unit) : "-",
                 figures.occupancy ? files::number(*figures.occupancy) : "-",
                 fmt::format("{} of {}", figures.late_sets, figures.sets),
                 std::to_string(figures.lost_events));
}

std::string table_text(const GroupsRecord& record, const Sum& sum) {
    const auto groups = static_cast<std::int64_t>(std::max<std::size_t>(1, record.groups.size()));
    const files::Unit unit = files::unit_for({sum.all.goodput.value_or(1) / groups});
    std::string table = cells("group", "", "goodput", "worst", "late sets", "lost") +
                        cells("", "", unit.name, "occupancy", "", "events");
    constexpr std::size_t shown_max = 20;
    const std::vector<std::uint32_t> order = worst_first(record);
    for (std::size_t i = 0; i < std::min(order.size(), shown_max); ++i) {
        const Figures figures(record.groups[order[i]]);
        table += row(std::to_string(order[i]), figures.state(), figures, unit);
    }
    if (order.size() > shown_max) {
        table += fmt::format("{:>10}  {} more, all better than these\n", "...", order.size() - shown_max);
    }
    return table + row(fmt::format("all {}", record.groups.size()), "", sum.all, unit);
}

}  // namespace

GroupsRecord::GroupsRecord(std::string run_directory, std::vector<std::string> directories)
    : directory(std::move(run_directory)), group_directories(std::move(directories)) {
    const Json nothing{
        {"status", "failed"},
        {"failure", {{"what", nothing_came}, {"rank", nullptr}, {"role", nullptr}, {"host", nullptr}}},
        {"seconds", 0}};
    for (std::uint32_t group = 0; group < group_directories.size(); ++group) {
        groups.push_back(entry(group, nothing, 1));
    }
}

void GroupsRecord::describe(const Json& run) {
    plan = Json::object();
    const Json& of_group = field(run, "plan");
    for (const auto& [name, value] : of_group.items()) {
        if (name == "resolved") {
            plan["groups"] = std::to_string(groups.size());
        }
        plan[name] = value;
    }
    labels = field(run, "labels");
    environment = field(run, "environment");
    started_at = text_in(run, "started_at");
}

Json GroupsRecord::entry(std::uint32_t group, const Json& run, int exit_status) const {
    const Json& resolved = field(field(run, "plan"), "resolved");
    return {{"group", group},
            {"directory", group_directories.at(group)},
            {"status", field(run, "status")},
            {"failure", field(run, "failure")},
            {"seconds", field(run, "seconds")},
            {"producers", field(resolved, "producers")},
            {"consumers", field(resolved, "consumers")},
            {"hosts", hosts_of(run)},
            {"seed", field(resolved, "seed")},
            {"exit_status", exit_status},
            {"goodput_bits_per_second", record::or_null(goodput_of(run))},
            {"clock_error_us", field(field(run, "clock"), "error_us")},
            {"verdict", field(run, "verdict")},
            {"totals", field(run, "totals")}};
}

std::string GroupsRecord::path_of(std::uint32_t group) const {
    return directory + "/" + group_directories.at(group) + "/run.json";
}

std::optional<Json> GroupsRecord::entry_from_file(std::uint32_t group) const {
    const Json run = files::json_of_file(path_of(group));
    if (!how_it_ended(run)) {
        return std::nullopt;
    }
    return entry(group, run, text_in(run, "status") == "complete" ? 0 : 1);
}

bool GroupsRecord::groups_have_ended() const {
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
        if (!how_it_ended(files::json_of_file(path_of(group)))) {
            return false;
        }
    }
    return true;
}

void GroupsRecord::read_groups() {
    describe(files::json_of_file(path_of(0)));
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
        groups[group] = entry_from_file(group).value_or(groups[group]);
    }
}

files::MaybeIoError GroupsRecord::write() const {
    files::WholeFile file(directory + "/run.json");
    const Json json = to_json(*this);
    file.put(files::json_text(json, 2) + "\n");
    // Processes that end because of a failure may be killed before a busy disk has it.
    return file.finish(json["status"] == "complete" ? files::OnDisk::synced : files::OnDisk::later);
}

bool GroupsRecord::is_written(bool whole) const {
    const Json json = files::json_of_file(directory + "/run.json");
    const Json& entries = field(json, "groups");
    return how_it_ended(json) && !(whole && std::any_of(entries.begin(), entries.end(), [](const Json& one) {
                                       return text_in(field(one, "failure"), "what") == nothing_came;
                                   }));
}

Json to_json(const GroupsRecord& record) {
    const Sum sum = sum_of(record);
    return {{"schema", "weir-groups/1"},
            {"status", sum.all.status},
            {"failure", failure_json(record, sum)},
            {"started_at", record::text_or_null(record.started_at)},
            {"seconds", seconds_of(record)},
            {"labels", record.labels},
            {"verdict", verdict_json(record, sum)},
            {"totals", totals_json(record)},
            {"goodput_bits_per_second", record::or_null(sum.all.goodput)},
            {"clock", {{"error_us", record::number_or_null(record.clock_error_us)}}},
            {"groups", record.groups},
            {"plan", record.plan},
            {"environment", record.environment}};
}

int exit_status_of(const GroupsRecord& record) {
    // Statuses from 128 on are of signals.
    constexpr int signal_base = 128;
    const auto rank = [](int status) {
        return status == 1 ? 3 : status > signal_base ? 2 : status != 0 ? 1 : 0;
    };
    int worst = 0;
    for (const Json& entry : record.groups) {
        const int status = entry.value("exit_status", 1);
        worst = rank(status) > rank(worst) ? status : worst;
    }
    return worst;
}

std::vector<std::uint32_t> worst_first(const GroupsRecord& record) {
    const std::vector<Figures> figures(record.groups.begin(), record.groups.end());
    std::vector<std::uint32_t> order(figures.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const int one = figures[a].rank();
        const int other = figures[b].rank();
        return one != other ? one < other
                            : std::tie(figures[a].occupancy, figures[a].late_sets) >
                                  std::tie(figures[b].occupancy, figures[b].late_sets);
    });
    return order;
}

std::string groups_summary_text(const GroupsRecord& record, bool terminal) {
    const Sum sum = sum_of(record);
    const Json failure = failure_json(record, sum);
    const bool bad = !failure.is_null() || sum.all.sustained == false;
    const bool good = !bad && sum.all.sustained == true;
    std::string all;
    if (!failure.is_null()) {
        all += fmt::format("{}{}\n",
                           sum.failed.empty() ? "Interrupted: " : "FAILED: ", text_in(failure, "what"));
    }
    all += files::wrapped(verdict_text(record, sum));
    if (sum.cause && !sum.cause->advice.empty()) {
        all += files::wrapped("Advice: " + sum.cause->advice + ".");
    }
    if (terminal && (bad || good)) {
        all = fmt::format("{}{}{}", bad ? files::colour_red : files::colour_green, all, files::colour_none);
    }
    all += "\n" + table_text(record, sum);
    if (record.clock_error_us) {
        all += fmt::format("\nsecond 0 of the groups is at most {} apart\n",
                           files::seconds_text(*record.clock_error_us * 1e-6));
    }
    all += fmt::format("\nrun directory        {}\n", record.directory);
    return all;
}

std::string groups_summary_json(const GroupsRecord& record) {
    Json json = to_json(record);
    json.erase("environment");
    return summary_line(json, record.directory);
}

}  // namespace weir::show
