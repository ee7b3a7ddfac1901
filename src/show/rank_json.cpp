#include "show/rank_json.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "record/json_values.hpp"

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
        object.add("least_slack_s", sets.least_slack ? Json(sets.least_slack->in_seconds()) : Json());
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

}  // namespace

Json rank_json(const record::RankRecord& rank) {
    const record::RankSummary& summary = rank.summary;
    const Role role = summary.node.role;
    constexpr std::size_t most_fields = 37;
    DistinctFields object(most_fields);
    const auto add = [&object](const char* name, Json value) { object.add(name, std::move(value)); };
    add("rank", rank.rank);
    add("role", core::role_name(role));
    add("index", summary.node.index);
    add("host", record::text_or_null(rank.host));
    add("pid", rank.pid > 0 ? Json(rank.pid) : Json());
    add("cpus", record::text_or_null(rank.cpus));
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
    add("clock_drift_ppm", summary.clock_drift_ppm ? Json(*summary.clock_drift_ppm) : Json());
    add("clock_drift_error_ppm",
        summary.clock_drift_error_ppm ? Json(*summary.clock_drift_error_ppm) : Json());
    return std::move(object).json();
}

}  // namespace weir::show
