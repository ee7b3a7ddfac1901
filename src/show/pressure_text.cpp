#include "show/pressure_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "files/formatting.hpp"

namespace weir::show {

namespace {

using Json = nlohmann::ordered_json;
using core::Pressure;

const char* limit_name(Pressure::Limit limit) {
    switch (limit) {
        case Pressure::Limit::slots:
            return "slots";
        case Pressure::Limit::streams:
            return "streams";
        case Pressure::Limit::requests:
            return "requests";
        case Pressure::Limit::outstanding:
            break;
    }
    return "outstanding";
}

const char* port_name(Pressure::Port port) {
    switch (port) {
        case Pressure::Port::consumer:
            return "consumer";
        case Pressure::Port::scheduler:
            return "scheduler";
        case Pressure::Port::uplink:
            break;
    }
    return "uplink";
}

const char* port_text(Pressure::Port port) {
    switch (port) {
        case Pressure::Port::consumer:
            return "a consumer's port";
        case Pressure::Port::scheduler:
            return "the scheduler's port";
        case Pressure::Port::uplink:
            break;
    }
    return "a port between switches";
}

const char* acts_text(Pressure::Setting setting) {
    switch (setting) {
        case Pressure::Setting::pause:
            return "PFC pauses";
        case Pressure::Setting::mark:
            return "ECN marks";
        case Pressure::Setting::drop:
            return "The switch drops";
        case Pressure::Setting::given:
            break;
    }
    return "The switch acts";
}

const char* more_text(Pressure::Limit limit) {
    switch (limit) {
        case Pressure::Limit::slots:
            return "more slots (--slots)";
        case Pressure::Limit::streams:
            return "more streams (--streams) or producers";
        case Pressure::Limit::requests:
            return "more requests (--requests)";
        case Pressure::Limit::outstanding:
            break;
    }
    return "more events assigned at a time (--outstanding)";
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
    return pressure >= 10                     ? fmt::format("{:.0f}", pressure)
           : pressure < 1 && pressure > 0.995 ? std::string{"just below 1"}
                                              : fmt::format("{:.2g}", pressure);
}

}  // namespace

const char* setting_name(Pressure::Setting setting) {
    switch (setting) {
        case Pressure::Setting::pause:
            return "pfc";
        case Pressure::Setting::mark:
            return "ecn";
        case Pressure::Setting::drop:
            return "drop";
        case Pressure::Setting::given:
            break;
    }
    return "switch";
}

std::string under_way_text(const Pressure& pressure) {
    return fmt::format("at most {} under way into a consumer's port: {} of {}{}, as --{} allows",
                       files::readable(pressure.under_way), files::counted(pressure.transfers, "transfer"),
                       files::readable(pressure.transfer),
                       pressure.window_bound ? " (--window x --chunk-size)" : "", limit_name(pressure.limit));
}

std::string waiting_text(const Pressure::Acting& acting) {
    return fmt::format("{} from {} in {} on, and at most {} can wait there (pressure {})",
                       acts_text(acting.setting), files::readable(acting.acts_at), port_text(acting.port),
                       files::readable(acting.queue), number(acting.pressure));
}

std::string setting_text(const Pressure& pressure, const Pressure::Acting& acting) {
    const std::string text = waiting_text(acting);
    return acting.can_act() ? text
                            : fmt::format("{}: it cannot act in this plan, but with {}", text,
                                          remedy_text(pressure, acting));
}

std::string unknown_text(const Pressure& pressure) {
    switch (pressure.unknown) {
        case Pressure::Unknown::nothing:
            return {};
        case Pressure::Unknown::real_switch:
            return "from how many bytes on the switch pauses, marks or drops is not known; --acts-at SIZE "
                   "says it";
        case Pressure::Unknown::no_switch:
            return "this network model has no switch; --network packet has one";
        case Pressure::Unknown::other_traffic:
            break;
    }
    return "traffic of others ([background] of the switch file) waits in the same ports";
}

nlohmann::ordered_json to_json(const Pressure& pressure) {
    Json settings = Json::array();
    for (const Pressure::Acting& acting : pressure.settings) {
        settings.push_back({{"setting", setting_name(acting.setting)},
                            {"port", port_name(acting.port)},
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
