#include "twin/shown_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "files/formatting.hpp"
#include "record/host_counters.hpp"

namespace weir::twin {

namespace {

using Json = nlohmann::ordered_json;

/// A value of run.json, with its way from the top, for messages.
class RecordValue {
  public:
    RecordValue(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

    [[nodiscard]] bool has(const char* name) const {
        return json_.is_object() && json_.contains(name) && !json_[name].is_null();
    }
    [[nodiscard]] RecordValue at(const char* name) const {
        const std::string path = path_.empty() ? name : path_ + "." + name;
        if (!has(name)) {
            throw Unreadable(fmt::format("run.json has no '{}'; it must be one of a run of this weir", path));
        }
        return {json_[name], path};
    }
    [[nodiscard]] RecordValue at(std::size_t index) const {
        return {json_[index], fmt::format("{}[{}]", path_, index)};
    }
    [[nodiscard]] std::size_t size() const { return json_.is_array() ? json_.size() : 0; }
    [[nodiscard]] const Json& json() const { return json_; }

    /// Finite and not negative unless `may_be_negative`.
    [[nodiscard]] double number(bool may_be_negative = false) const {
        if (!json_.is_number()) {
            throw Unreadable(fmt::format("run.json: '{}' is not a number", path_));
        }
        const auto value = json_.get<double>();
        if (!std::isfinite(value) || (!may_be_negative && value < 0) || std::abs(value) > 1e30) {
            throw Unreadable(fmt::format("run.json: '{}' is {}, which cannot be", path_, value));
        }
        return value;
    }
    [[nodiscard]] double number_or_0(const char* name) const { return has(name) ? at(name).number() : 0; }
    [[nodiscard]] std::uint64_t count() const {
        const double value = number();
        if (value > 9e15) {
            throw Unreadable(fmt::format("run.json: '{}' is {}, which cannot be", path_, value));
        }
        return static_cast<std::uint64_t>(value);
    }
    /// Number of a rank among those of its role.
    [[nodiscard]] std::uint32_t index() const {
        const std::uint64_t value = count();
        if (value > std::numeric_limits<std::uint32_t>::max()) {
            throw Unreadable(fmt::format("run.json: '{}' is {}, which cannot be", path_, value));
        }
        return static_cast<std::uint32_t>(value);
    }
    [[nodiscard]] std::string text() const {
        if (!json_.is_string()) {
            throw Unreadable(fmt::format("run.json: '{}' is not a text", path_));
        }
        return json_.get<std::string>();
    }
    [[nodiscard]] std::string text_or_empty(const char* name) const {
        return has(name) ? at(name).text() : std::string{};
    }
    [[nodiscard]] bool truth_or_false(const char* name) const {
        return has(name) && json_[name].is_boolean() && json_[name].get<bool>();
    }

  private:
    const Json& json_;
    std::string path_;
};

ShownTimes read_times(const RecordValue& latency, const char* name) {
    ShownTimes times;
    if (!latency.has(name)) {
        return times;
    }
    const RecordValue of = latency.at(name);
    times.count = of.at("count").count();
    if (times.count == 0) {
        return times;
    }
    times.p50_us = of.at("p50_us").number();
    times.p99_us = of.at("p99_us").number();
    const RecordValue upper = of.at("buckets").at("upper_us");
    const RecordValue events = of.at("buckets").at("events");
    if (upper.size() != events.size()) {
        throw Unreadable(fmt::format("run.json: the buckets of '{}' do not match", name));
    }
    constexpr double middle = 1 - 1.0 / 64;  // a bucket begins at 31/32 of its end
    for (std::size_t i = 0; i < upper.size(); ++i) {
        times.mean_us += upper.at(i).number() * middle * events.at(i).number();
    }
    times.mean_us /= static_cast<double>(times.count);
    return times;
}

core::Role role_of(const RecordValue& rank) {
    const std::string name = rank.at("role").text();
    if (const auto role = files::role_named(name)) {
        return *role;
    }
    throw Unreadable(fmt::format("run.json: there is no role '{}'", name));
}

ShownRank read_rank(const RecordValue& from) {
    ShownRank rank;
    rank.node = {role_of(from), from.at("index").index()};
    rank.host = from.text_or_empty("host");
    rank.leaf = from.text_or_empty("leaf");
    rank.file = from.at("file").text();
    rank.measured_s = from.at("measured_s").number();
    rank.stalled_s = from.number_or_0("stalled_s");
    const RecordValue time = from.at("time");
    const RecordValue load = from.at("load");
    const double whole = std::max(rank.measured_s, 1e-9);
    rank.free_slot_s = load.number_or_0("free_slot_s");
    if (rank.node.role == core::Role::scheduler) {
        return rank;
    }
    const double to_us = load.number_or_0("heartbeat_to_leader_us_p75");
    const double from_us = load.number_or_0("heartbeat_from_leader_us_p75");
    rank.way_s = 1e-6 * (to_us > 0 && from_us > 0 ? std::min(to_us, from_us) : std::max(to_us, from_us));
    const bool sends = rank.node.role == core::Role::producer;
    rank.bits_per_second = from.number_or_0("mean_bits_per_second");
    const RecordValue moved = from.at(sends ? "sent" : "received");
    rank.events = moved.at("events").count();
    rank.bytes = moved.at("bytes").number();
    if (sends) {
        rank.moving_s = load.at("sending_s").number();
        rank.transferring = time.at("transferring_s").number() / whole;
        rank.waiting_for_slot = time.at("waiting_for_slot_s").number() / whole;
        rank.waiting_for_grant = time.at("waiting_for_grant_s").number() / whole;
        rank.waiting_for_data = time.at("waiting_for_data_s").number() / whole;
        return rank;
    }
    rank.moving_s = time.at("receiving_s").number();
    rank.receiving = rank.moving_s / whole;
    rank.blocked = time.at("blocked_s").number() / whole;
    rank.processing_s = time.at("processing_s").number();
    return rank;
}

/// By host, the interface or RDMA port that moved most: bonds and bridges count bytes again.
std::vector<ShownHost> read_hosts(const RecordValue& run) {
    std::vector<ShownHost> hosts;
    if (!run.has("hosts")) {
        return hosts;
    }
    const RecordValue from = run.at("hosts");
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (!from.at(i).json().is_object() || !from.at(i).has("totals")) {
            continue;
        }
        ShownHost& host = hosts.emplace_back();
        host.name = from.at(i).text_or_empty("name");
        const auto speeds = record::nominal_speeds(from.at(i).json().value("settings", Json()));
        for (const auto& [name, value] : from.at(i).at("totals").json().items()) {
            const auto is = [&counter = name](const char* a, const char* b) {
                return counter.ends_with(a) || counter.ends_with(b);
            };
            double* const bytes = is(".rx_bytes", ".port_rcv_bytes")    ? &host.received_bytes
                                  : is(".tx_bytes", ".port_xmit_bytes") ? &host.sent_bytes
                                                                        : nullptr;
            if (bytes == nullptr || !value.is_number()) {
                continue;
            }
            if (value.get<double>() > std::max(host.received_bytes, host.sent_bytes)) {
                const auto speed = speeds.find(std::string(record::source_of(name)));
                host.bits_per_second = speed != speeds.end() && speed->second.is_device
                                           ? static_cast<double>(speed->second.rate.bits_per_second)
                                           : 0;
            }
            *bytes = std::max(*bytes, value.get<double>());
        }
    }
    return hosts;
}

/// Ranks of a role that share a host share its interface.
void share_interfaces(ShownRun& run) {
    for (ShownRank& rank : run.ranks) {
        const auto host = std::find_if(run.hosts.begin(), run.hosts.end(),
                                       [&](const ShownHost& one) { return one.name == rank.host; });
        if (rank.host.empty() || host == run.hosts.end()) {
            continue;
        }
        const auto sharing = std::count_if(run.ranks.begin(), run.ranks.end(), [&](const ShownRank& other) {
            return other.host == rank.host && other.node.role == rank.node.role;
        });
        rank.interface_bits_per_second = host->bits_per_second / static_cast<double>(sharing);
    }
}

void read_losses(const RecordValue& recovery, ShownRun& run) {
    const RecordValue losses = recovery.at("losses");
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const RecordValue from = losses.at(i);
        ShownLoss loss;
        loss.consumer = from.at("consumer").index();
        loss.since_s = from.at("silent_since_s").number(true);
        if (from.has("back_at_s")) {
            loss.back_s = from.at("back_at_s").number(true);
        }
        run.losses.push_back(loss);
    }
}

void read_verdict(const RecordValue& verdict, ShownRun& run) {
    if (!verdict.truth_or_false("judged") && !verdict.has("on_time")) {
        throw Unreadable(
            "the run was not judged, so there is nothing to explain; take a run that has a verdict");
    }
    const std::string text = verdict.text_or_empty("text");
    run.verdict = verdict.has("answer") ? verdict.at("answer").text_or_empty("verdict")
                                        : text.substr(0, text.find(" Main cause:"));
    run.on_time = verdict.truth_or_false("on_time");
    run.sustained = verdict.truth_or_false(verdict.truth_or_false("judged") ? "sustained" : "on_time");
    run.sets = verdict.at("sets").count();
    run.late_sets = verdict.at("late_sets").count();
    run.least_slack_s = verdict.has("least_slack_s") ? verdict.at("least_slack_s").number(true) : 0;
    run.lost_events = verdict.has("lost_events") ? verdict.at("lost_events").count() : 0;
}

void read_plan(const RecordValue& plan, ShownRun& run) {
    for (const auto& [name, value] : plan.json().items()) {
        if (value.is_string()) {
            run.plan.emplace_back(name, value.get<std::string>());
        }
    }
    if (plan.text_or_empty("transport") == "datagram" && !run.has_packets()) {
        run.no_twin = "a simulation of what it showed has no datagrams, and loses nothing on the way";
    }
    const RecordValue resolved = plan.at("resolved");
    run.interval_s = resolved.at("interval_s").number();
    run.duration_s = resolved.at("duration_s").number();
    run.default_buffer = resolved.at("buffer_bytes").number() == resolved.number_or_0("set_bytes");
    run.default_slot_size =
        resolved.number_or_0("slot_size_bytes") == resolved.number_or_0("event_size_mean_bytes");
    if (run.interval_s <= 0 || run.duration_s <= 0) {
        throw Unreadable("run.json: 'plan.resolved' has an interval or a duration of 0, which cannot be");
    }
}

void read_switch(const RecordValue& environment, ShownRun& run) {
    const auto given = std::find_if(run.plan.begin(), run.plan.end(),
                                    [](const auto& option) { return option.first == "switch"; });
    const bool is_file = given != run.plan.end() &&
                         (given->second.find('/') != std::string::npos || given->second.ends_with(".toml"));
    if (!run.has_packets() || !is_file) {
        return;
    }
    for (const auto& [section, keys] : environment.at("packet_network").json().items()) {
        for (const auto& [key, value] : keys.items()) {
            if (keys.is_object() && value.is_string() && !value.get_ref<const std::string&>().empty()) {
                run.switch_keys.push_back(
                    fmt::format("{}.{}={}", section, key, value.get_ref<const std::string&>()));
            }
        }
    }
}

}  // namespace

bool ShownRun::has_packets() const {
    return std::find(plan.begin(), plan.end(), std::pair<std::string, std::string>("network", "packet")) !=
           plan.end();
}

double ShownRun::goodput() const {
    double sum = 0;
    for (const ShownRank& rank : ranks) {
        sum += rank.node.role == core::Role::consumer ? rank.bits_per_second : 0;
    }
    return sum;
}

double ShownRun::event_bytes() const {
    double bytes = 0;
    double events = 0;
    for (const ShownRank& rank : ranks) {
        if (rank.node.role == core::Role::consumer) {
            bytes += rank.bytes;
            events += static_cast<double>(rank.events);
        }
    }
    return events > 0 ? bytes / events : 0;
}

double ShownRun::unseen_slot_s() const {
    double free = 0;
    double measured_s = 0;
    for (const ShownRank& rank : ranks) {
        free += rank.node.role == core::Role::consumer    ? rank.free_slot_s
                : rank.node.role == core::Role::scheduler ? -rank.free_slot_s
                                                          : 0;
        measured_s = std::max(measured_s, rank.measured_s);
    }
    const double events = goodput() / 8 * measured_s / std::max(event_bytes(), 1.0);
    return events > 0 ? free / events : 0;
}

double ShownRun::longest_way_s() const {
    constexpr double bucket = 2;  ///< delays are counted to a factor of two
    constexpr double nap_s =
        2.5e-3;  ///< the longest of an idle rank (host/idle.hpp), and what it takes to wake
    double shortest = 0;
    for (const ShownRank& rank : ranks) {
        shortest = rank.way_s > 0 && (shortest == 0 || rank.way_s < shortest) ? rank.way_s : shortest;
    }
    return clock_error_s > 0 ? std::min(bucket * shortest, bucket * clock_error_s + nap_s)
                             : bucket * shortest;
}

std::string ShownRun::host_of(core::NodeId node) const {
    const auto rank =
        std::find_if(ranks.begin(), ranks.end(), [&](const ShownRank& one) { return one.node == node; });
    return rank == ranks.end() ? std::string{} : rank->host;
}

double ShownRun::slot_share() const {
    double sum = 0;
    for (const ShownRank& rank : ranks) {
        sum += rank.waiting_for_slot;
    }
    return sum / std::max(1U, producers);
}

double ShownRun::waiting_share() const {
    double sum = 0;
    for (const ShownRank& rank : ranks) {
        sum += rank.waiting_for_slot + rank.waiting_for_grant;
    }
    return sum / std::max(1U, producers);
}

bool ShownRun::has_one_leaf() const {
    return !ranks.empty() && !ranks.front().leaf.empty() &&
           std::all_of(ranks.begin(), ranks.end(),
                       [&](const ShownRank& rank) { return rank.leaf == ranks.front().leaf; });
}

bool ShownRun::hosts_known() const {
    return std::all_of(ranks.begin(), ranks.end(), [](const ShownRank& rank) {
        return rank.node.role == core::Role::scheduler || !rank.host.empty();
    });
}

const ShownRank& ShownRun::scheduler() const {
    return *std::find_if(ranks.begin(), ranks.end(),
                         [](const ShownRank& rank) { return rank.node.role == core::Role::scheduler; });
}

ShownRun read_record(const nlohmann::ordered_json& json) {
    const RecordValue record(json, "");
    if (const std::string schema = record.text_or_empty("schema"); schema != "weir-run/1") {
        throw Unreadable(
            schema == "weir-groups/1"
                ? "this is a job with several groups; take the directory of one group, group-00"
                : fmt::format("run.json: the schema is '{}'; right would be 'weir-run/1'", schema));
    }
    if (const std::string status = record.at("status").text(); status != "complete") {
        throw Unreadable(
            fmt::format("the run is {}; only of a run that came to its end there can be a twin", status));
    }
    ShownRun run;
    read_verdict(record.at("verdict"), run);
    read_plan(record.at("plan"), run);
    const RecordValue latency = record.at("latency");
    run.scheduling = read_times(latency, "offer_to_grant");
    run.transfer = read_times(latency, "transfer");
    run.delivery = read_times(latency, "delivery");
    run.processing = read_times(latency, "processing");
    run.hosts = read_hosts(record);
    if (record.has("recovery")) {
        read_losses(record.at("recovery"), run);
    }
    run.clock_error_s = record.has("clock") ? 1e-6 * record.at("clock").number_or_0("error_us") : 0;
    const RecordValue environment = record.at("environment");
    run.simulated = environment.text_or_empty("world") == "simulation";
    read_switch(environment, run);
    const RecordValue ranks = record.at("ranks");
    std::uint32_t schedulers = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        run.ranks.push_back(read_rank(ranks.at(i)));
        const core::Role role = run.ranks.back().node.role;
        run.producers += role == core::Role::producer ? 1 : 0;
        run.consumers += role == core::Role::consumer ? 1 : 0;
        schedulers += role == core::Role::scheduler ? 1 : 0;
    }
    const auto beyond = [&](const ShownRank& rank) {
        return rank.node.index >= (rank.node.role == core::Role::producer   ? run.producers
                                   : rank.node.role == core::Role::consumer ? run.consumers
                                                                            : 1);
    };
    if (schedulers != 1 || run.producers == 0 || run.consumers == 0 ||
        std::any_of(run.ranks.begin(), run.ranks.end(), beyond)) {
        throw Unreadable("run.json: 'ranks' is not one scheduler, and producers and consumers from 0 on");
    }
    share_interfaces(run);
    return run;
}

}  // namespace weir::twin
