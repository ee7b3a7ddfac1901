#include "show/plan_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "files/formatting.hpp"

namespace weir::show {

namespace {

using Json = nlohmann::ordered_json;
using core::Pressure;

const char* limit_name(Pressure::Limit limit) {
    return files::word_of(limit, {"slots", "streams", "requests", "outstanding"});
}

const char* more_text(Pressure::Limit limit) {
    return files::word_of(
        limit, {"more slots (--slots)", "more streams (--streams) or producers", "more requests (--requests)",
                "more events assigned at a time (--outstanding)"});
}

/// What lets the setting act. Pressure grows in proportion to what a transfer has under way.
std::string remedy_text(const Pressure& pressure, const Pressure::Acting& acting) {
    if (acting.port == Pressure::Port::scheduler) {
        return "larger results (--result-size) or more slots (--slots)";
    }
    const char* more = more_text(pressure.limit);
    if (pressure.window_bound || acting.pressure <= 0) {
        return fmt::format("more of each event under way (--window, --chunk-size) or {}", more);
    }
    const core::Bytes enough{std::llround(static_cast<double>(pressure.transfer.count) / acting.pressure)};
    return fmt::format("events of {} or more (--event-size) or {}", files::readable(enough), more);
}

/// Two digits; what is below 1 does not become 1.
std::string number(double pressure) {
    return pressure < 1 && pressure > 0.995 ? "just below 1" : files::number(pressure, 2);
}

}  // namespace

std::string load_text(const core::Plan& plan) {
    if (plan.generation == core::Generation::saturate) {
        return fmt::format("{} to {}, as fast as possible", files::counted(plan.producers, "producer"),
                           files::counted(plan.consumers, "consumer"));
    }
    if (plan.addressed()) {
        return fmt::format("{} to {}, {} of addressed events every {}",
                           files::counted(plan.producers, "producer"),
                           files::counted(plan.consumers, "consumer"), files::readable(plan.traffic->total()),
                           files::exact(plan.interval));
    }
    return fmt::format("{} x {} to {}", files::counted(plan.producers, "producer"), files::exact(plan.rate),
                       files::counted(plan.consumers, "consumer"));
}

std::vector<std::string> last_set_lines(const core::Plan& plan) {
    if (plan.generation != core::Generation::sets || plan.interval.ns <= 0 || plan.duration.ns <= 0) {
        return {};
    }
    const std::int64_t sets = (plan.duration.ns - 1) / plan.interval.ns + 1;
    const core::Duration left{plan.duration.ns - (sets - 1) * plan.interval.ns};
    if (left == plan.interval) {
        return {};
    }
    std::vector<std::string> lines{fmt::format(
        "a duration of {} is not a multiple of the interval of {}: set {} of {} comes {} before the end",
        files::exact(plan.duration), files::exact(plan.interval), sets, sets, files::readable(left))};
    if (left + plan.drain < plan.interval) {
        lines.push_back(
            fmt::format("the drain takes up to {} and not {}, so that this set has its whole interval",
                        files::readable(plan.interval - left), files::exact(plan.drain)));
    }
    return lines;
}

const char* setting_name(Pressure::Setting setting) {
    return files::word_of(setting, {"pfc", "ecn", "drop", "switch"});
}

std::string under_way_text(const Pressure& pressure) {
    return fmt::format("at most {} under way into a consumer's port: {} of {}{}, as --{} allows",
                       files::readable(pressure.under_way), files::counted(pressure.transfers, "transfer"),
                       files::readable(pressure.transfer),
                       pressure.window_bound ? " (--window x --chunk-size)" : "", limit_name(pressure.limit));
}

std::string waiting_text(const Pressure::Acting& acting) {
    const char* const acts =
        files::word_of(acting.setting, {"PFC pauses", "ECN marks", "The switch drops", "The switch acts"});
    const char* const port =
        files::word_of(acting.port, {"a consumer's port", "the scheduler's port", "a port between switches"});
    return fmt::format("{} from {} in {} on, and at most {} can wait there (pressure {})", acts,
                       files::readable(acting.acts_at), port, files::readable(acting.queue),
                       number(acting.pressure));
}

std::string setting_text(const Pressure& pressure, const Pressure::Acting& acting) {
    const std::string text = waiting_text(acting);
    return acting.can_act() ? text
                            : fmt::format("{}: it cannot act in this plan, but with {}", text,
                                          remedy_text(pressure, acting));
}

std::string unknown_text(const Pressure& pressure) {
    return files::word_of(
        pressure.unknown,
        {"", "from how many bytes on the switch pauses, marks or drops is not known; --acts-at SIZE says it",
         "this network model has no switch; --network packet has one",
         "traffic of others ([background] of the switch file) waits in the same ports"});
}

nlohmann::ordered_json to_json(const Pressure& pressure) {
    Json settings = Json::array();
    for (const Pressure::Acting& acting : pressure.settings) {
        settings.push_back({{"setting", setting_name(acting.setting)},
                            {"port", files::word_of(acting.port, {"consumer", "scheduler", "uplink"})},
                            {"queue_bytes", acting.queue.count},
                            {"acts_at_bytes", acting.acts_at.count},
                            {"pressure", acting.pressure},
                            {"can_act", acting.can_act()},
                            {"text", waiting_text(acting)},
                            {"remedy", acting.can_act() ? Json() : Json(remedy_text(pressure, acting))}});
    }
    const std::string unknown = unknown_text(pressure);
    return {{"under_way_bytes", pressure.under_way.count},
            {"transfers", pressure.transfers},
            {"transfer_bytes", pressure.transfer.count},
            {"limited_by", limit_name(pressure.limit)},
            {"settings", std::move(settings)},
            {"unknown", unknown.empty() ? Json() : Json(unknown)},
            {"text", under_way_text(pressure)}};
}

}  // namespace weir::show
