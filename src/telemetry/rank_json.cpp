#include "telemetry/rank_json.hpp"

#include <cstddef>
#include <utility>

#include "telemetry/json_values.hpp"

namespace weir::telemetry {

using core::Role;

namespace {

using Json = nlohmann::ordered_json;

/// An object whose fields are all different, for what there is thousands of: Json's own ways to add a field
/// look for it among the others, and an initializer list copies each several times.
class DistinctFields {
  public:
    explicit DistinctFields(std::size_t count) : json_(Json::object()) { fields().reserve(count); }
    void add(const char* name, Json value) { fields().emplace_back(name, std::move(value)); }
    Json take() { return std::move(json_); }

  private:
    Json::object_t& fields() { return json_.get_ref<Json::object_t&>(); }

    Json json_;
};

Json json_of(const Flow& flow) {
    DistinctFields object(2);
    object.add("events", flow.events);
    object.add("bytes", flow.bytes.count);
    return object.take();
}

Json time_json(const TimeUse& time, Role role) {
    DistinctFields object(4);
    const auto add = [&](const char* name, core::Duration value) { object.add(name, value.in_seconds()); };
    switch (role) {
        case Role::producer:
            add("transferring_s", time.transferring);
            add("waiting_for_slot_s", time.waiting_for_slot);
            add("waiting_for_grant_s", time.waiting_for_grant);
            add("waiting_for_data_s", time.waiting_for_data);
            break;
        case Role::consumer:
            add("processing_s", time.processing);
            add("receiving_s", time.receiving);
            add("blocked_s", time.blocked);
            add("waiting_for_data_s", time.waiting_for_data);
            break;
        case Role::scheduler:
            add("waiting_for_data_s", time.waiting_for_data);
            add("waiting_for_slot_s", time.waiting_for_slot);
            add("waiting_for_stream_s", time.waiting_for_stream);
            add("idle_s", time.idle);
            break;
    }
    return object.take();
}

}  // namespace

Json rank_json(const RankRecord& rank) {
    const RankSummary& summary = rank.summary;
    const Role role = summary.node.role;
    constexpr std::size_t most_fields = 36;
    DistinctFields object(most_fields);
    const auto add = [&object](const char* name, Json value) { object.add(name, std::move(value)); };
    add("rank", rank.rank);
    add("role", core::role_name(role));
    add("index", summary.node.index);
    add("host", text_or_null(rank.host));
    add("pid", rank.pid > 0 ? Json(rank.pid) : Json());
    add("cpus", text_or_null(rank.cpus));
    add("file", text_or_null(rank.file));
    add("ended_regularly", rank.ended_regularly);
    add("rows", summary.rows);
    add("last_second", second_or_null(summary.last_second));
    add("measured_s", summary.covered.in_seconds());
    if (role == Role::producer) {
        add("generated", json_of(summary.run.generated));
        add("sent", json_of(summary.run.sent));
        add("lost", json_of(summary.run.lost));
        add("grants", summary.run.grants);
        add("max_occupancy", finite_or_null(summary.max_occupancy));
        add("max_occupancy_second", second_or_null(summary.max_occupancy_second));
        add("first_overflow_second", second_or_null(summary.first_overflow_second));
        add("overflow_seconds", summary.overflow_seconds);
        add("overflowed_at_close", summary.overflowed_at_close);
        const SetsInTime& sets = summary.sets_in_time;
        add("sets", sets.sets);
        add("late_sets", sets.late);
        add("first_late_second", second_or_null(sets.first_late_second));
        add("least_slack_s", sets.least_slack ? Json(sets.least_slack->in_seconds()) : Json());
    } else if (role == Role::consumer) {
        add("received", json_of(summary.run.received));
        add("processed", json_of(summary.run.processed));
        add("corrupt_events", summary.run.corrupt_events);
        add("duplicate_events", summary.run.duplicate_events);
    } else {
        add("grants", summary.run.grants);
    }
    if (role != Role::scheduler) {
        // Without a whole second (an early end, or a rank known by its last report only) there is no slowest
        // one.
        const bool known = summary.slowest_second != no_second;
        add("mean_bits_per_second",
            summary.covered.ns > 0 ? Json(summary.throughput().bits_per_second) : Json());
        add("slowest_second", second_or_null(summary.slowest_second));
        add("slowest_second_bits_per_second", known ? Json(summary.slowest.bits_per_second) : Json());
        add("slowest_window_second", second_or_null(summary.slowest_window_second));
        add("slowest_window_bits_per_second", summary.slowest_window_second != no_second
                                                  ? Json(summary.slowest_window.bits_per_second)
                                                  : Json());
        add("fastest_second", second_or_null(summary.fastest_second));
        add("fastest_second_bits_per_second", known ? Json(summary.fastest.bits_per_second) : Json());
        add("peak_10ms_bits_per_second", known ? Json(summary.peak_10ms.bits_per_second) : Json());
    }
    add("time", time_json(summary.time, role));
    add("poll_gap_max_us", summary.poll_gap_max.in_microseconds());
    add("poll_gap_max_second", second_or_null(summary.poll_gap_second));
    add("stalled_s", summary.stalled.in_seconds());
    add("clock_drift_ppm", summary.clock_drift_ppm ? Json(*summary.clock_drift_ppm) : Json());
    add("clock_drift_error_ppm",
        summary.clock_drift_error_ppm ? Json(*summary.clock_drift_error_ppm) : Json());
    return object.take();
}

}  // namespace weir::telemetry
