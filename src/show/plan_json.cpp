#include "show/plan_json.hpp"

#include <nlohmann/json.hpp>

#include "core/distribution.hpp"
#include "core/set_phase.hpp"
#include "record/phase_times.hpp"
#include "show/pressure_text.hpp"

namespace weir::show {

namespace {

using Json = nlohmann::ordered_json;

const char* generation_name(core::Generation generation) {
    switch (generation) {
        case core::Generation::sets:
            return "sets";
        case core::Generation::steady:
            return "steady";
        case core::Generation::saturate:
            return "saturate";
    }
    return "unknown";
}

/// When after the beginning of each interval the producers generate their sets.
Json set_phases(const core::Plan& plan) {
    Json phases = Json::array();
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        phases.push_back(core::set_phase(plan, {producer}).in_seconds());
    }
    return phases;
}

}  // namespace

nlohmann::ordered_json resolved_json(const core::Plan& plan, const std::optional<core::Pressure>& pressure) {
    Json json = {{"producers", plan.producers},
                 {"consumers", plan.consumers},
                 {"generation", generation_name(plan.generation)},
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
        json["traffic"] = record::to_json(*plan.traffic);
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

}  // namespace weir::show
