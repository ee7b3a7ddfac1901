#include "config/switch_description.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/fabric.hpp"
#include "config/near_name.hpp"
#include "config/quantities.hpp"
#include "config/switch_keys.hpp"
#include "config/traffic_classes.hpp"
#include "config/usage_error.hpp"
#include "core/switch_memory.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

using core::Bytes;
using core::FabricPlan;
using core::mask_of;
using core::Priority;

constexpr Priority highest_priority = core::priority_count - 1;
/// NVIDIA's NICs send CNPs with it.
constexpr Priority usual_own_priority = 6;

/// The priority of a class. `own` is strictly above data, in switches and NICs.
Priority enter_class(FabricPlan& fabric, const std::string& name) {
    if (name == "data") {
        return fabric.data_priority;
    }
    if (name != "own") {
        return static_cast<Priority>(parse_count(name, 0, highest_priority));
    }
    const Priority own = std::max(usual_own_priority, static_cast<Priority>(fabric.data_priority + 1));
    fabric.switches.strict |= mask_of(own);
    fabric.nics.strict |= mask_of(own);
    return own;
}

void check_below_pool(const char* key, Bytes size, Bytes pool) {
    if (size > pool) {
        throw UsageError("[switch] {}: {} is more than the pool of {}; make it less", key, files::exact(size),
                         files::exact(pool));
    }
}

void check_classes(const SwitchDescription& description) {
    for (const auto& [key, name] :
         {std::pair{"control", description.control}, {"ack", description.ack}, {"cnp", description.cnp}}) {
        if (name == "own" && description.fabric.data_priority == highest_priority) {
            throw UsageError(
                "[classes] {}: 'own' is above data, which has priority {}; write data = {} or less", key,
                highest_priority, highest_priority - 1);
        }
    }
}

void check_thresholds(const SwitchDescription& description) {
    const core::SwitchPlan& plan = description.fabric.switches;
    if (!description.drop_tail) {
        check_below_pool("ingress-threshold", plan.ingress_threshold, plan.pool);
        check_below_pool("egress-threshold", plan.egress_threshold, plan.pool);
        check_below_pool("headroom", plan.headroom_at_100g, plan.pool);
        check_below_pool("headroom-pool", plan.headroom_pool, plan.pool);
    }
    if (plan.ingress_threshold.count > 0 && plan.resume_offset > plan.ingress_threshold) {
        throw UsageError("[switch] resume-offset: {} is more than the ingress-threshold of {}; make it less",
                         files::exact(plan.resume_offset), files::exact(plan.ingress_threshold));
    }
    if (plan.ecn.none_below > plan.ecn.all_above) {
        throw UsageError("[ecn] none-below: {} is more than all-above, {}; make it at most that",
                         files::exact(plan.ecn.none_below), files::exact(plan.ecn.all_above));
    }
}

/// What divides memory that ports share needs some. How much must be left: check_switch_memory.
void check_division(const SwitchDescription& description) {
    const core::SwitchPlan& plan = description.fabric.switches;
    for (const auto& [key, given] : {std::pair{"slices", plan.slices > 1},
                                     {"headroom-pool", plan.headroom_pool.count > 0},
                                     {"pg-reserved", plan.group_reserved.count > 0},
                                     {"queue-reserved", plan.queue_reserved.count > 0},
                                     {"egress-pool", plan.egress_pool.count > 0}}) {
        if (given && description.drop_tail) {
            throw UsageError(
                "[switch] {}: ports share no memory of which this could be a part; leave it out, or write "
                "drop-tail = false",
                key);
        }
    }
    if (plan.headroom_pool.count > 0 && plan.headroom_at_100g > plan.headroom_pool) {
        throw UsageError(
            "[switch] headroom: {} of a port of 100 Gb/s is more than the headroom-pool of all, {}; make it "
            "less",
            files::exact(plan.headroom_at_100g), files::exact(plan.headroom_pool));
    }
}

void check_nics(const core::NicPlan& nics) {
    if (nics.window_follows_rate && nics.window.count == 0) {
        throw UsageError(
            "[nic] window-follows-rate: there is no window; write window = \"SIZE\", what a round trip at "
            "full speed takes, or window-follows-rate = false");
    }
    if (nics.window_follows_rate && nics.control != core::PairControl::dcqcn) {
        throw UsageError(
            "[nic] window-follows-rate: only DCQCN has a rate that a window follows; write false, or control "
            "= \"dcqcn\"");
    }
    if (nics.swift.range_from >= nics.swift.range_to) {
        throw UsageError("[swift] range-from: {} is not below range-to, {}; make it less",
                         number_text(nics.swift.range_from), number_text(nics.swift.range_to));
    }
    if (nics.selective_timeout_low > nics.selective_timeout_high) {
        throw UsageError(
            "[nic] selective-timeout-low: {} is more than selective-timeout-high, {}; make it at most that",
            files::exact(nics.selective_timeout_low), files::exact(nics.selective_timeout_high));
    }
}

/// Whether `name` is that of a key of a class: "class.storage.rate".
bool set_key_of_class(SwitchDescription& description, std::string_view name, std::string_view value) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) {
        return false;
    }
    return at_place(name.substr(0, dot), [&] {
        const std::optional<std::string_view> one = class_of_section(name.substr(0, dot));
        if (one) {
            set_class_key(class_named(description, *one), name.substr(dot + 1), value);
        }
        return one.has_value();
    });
}

/// A list as a switch file has it, `[0, 1]` or `["a", "b"]`, as values are read: `0,1`. Anything else as it
/// is.
std::string without_brackets(std::string_view text) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
        return std::string(text);
    }
    std::string plain;
    for (const char letter : text.substr(1, text.size() - 2)) {
        if (letter != ' ' && letter != '"') {
            plain += letter;
        }
    }
    return plain;
}

}  // namespace

std::string parse_class(std::string_view text) {
    if (text == "data" || text == "own") {
        return std::string(text);
    }
    try {
        return fmt::format("{}", parse_count(text, 0, highest_priority));
    } catch (const UsageError&) {
        throw UsageError("'{}' is not one of: data, own, 0 to {}", text, highest_priority);
    }
}

void set_key(SwitchDescription& description, std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        throw UsageError("'{}' sets nothing; write SECTION.KEY=VALUE, for example ecn.none-below=50kB", text);
    }
    const std::string_view name = text.substr(0, equals);
    if (set_key_of_class(description, name, text.substr(equals + 1))) {
        return;
    }
    std::vector<std::string> names;
    for (const SwitchKey& key : switch_keys()) {
        names.push_back(fmt::format("{}.{}", key.section, key.name));
        if (names.back() == name) {
            at_place(name, [&] { set_value(key, description, without_brackets(text.substr(equals + 1))); });
            return;
        }
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    const auto near = near_names(name, known, 1);
    throw UsageError("there is no key '{}'; {}", name,
                     near.empty() ? "docs/simulating-a-switch.md lists them"
                                  : fmt::format("did you mean {}?", near.front()));
}

void apply_options(SwitchDescription& description, const PacketOptions& options) {
    for (const std::string& key : options.keys) {
        set_key(description, key);
    }
    description.pfc = options.pfc.value_or(description.pfc);
    description.fabric.switches.ecn.on = options.ecn.value_or(description.fabric.switches.ecn.on);
    description.fabric.nics.recovery = options.recovery.value_or(description.fabric.nics.recovery);
    if (!options.control.empty()) {
        description.control = options.control;
    }
}

void check_description(const SwitchDescription& description) {
    const FabricPlan& fabric = description.fabric;
    check_classes(description);
    check_thresholds(description);
    check_division(description);
    if (description.drop_tail && description.pfc) {
        throw UsageError(
            "[pfc] on: ports that share no memory pause nobody; write false, or drop-tail = false");
    }
    check_traffic_classes(description);
    check_nics(fabric.nics);
    check_topology(fabric);
    if (fabric.switches.watchdog.on && fabric.switches.pauses_whole_links) {
        throw UsageError(
            "[watchdog] on: a watchdog looks at priorities, and pauses stop whole links; write false, or "
            "[pfc] whole-links = false");
    }
    if (fabric.tcp.least_timeout > fabric.tcp.most_timeout) {
        throw UsageError("[tcp] least-timeout: {} is more than most-timeout, {}; make it at most that",
                         files::exact(fabric.tcp.least_timeout), files::exact(fabric.tcp.most_timeout));
    }
    if (fabric.hosts.pause_above > 0 && fabric.hosts.resume_at >= fabric.hosts.pause_above) {
        throw UsageError("[host] resume-at: {} is not below pause-above, {}; make it less",
                         fabric.hosts.resume_at, fabric.hosts.pause_above);
    }
}

core::FabricPlan fabric_of(const SwitchDescription& description, Bytes port_buffer) {
    FabricPlan fabric = description.fabric;
    fabric.control_priority = enter_class(fabric, description.control);
    fabric.nics.ack_priority = enter_class(fabric, description.ack);
    fabric.nics.cnp_priority = enter_class(fabric, description.cnp);
    fabric.switches.lossless = description.pfc ? mask_of(fabric.data_priority) : core::PriorityMask{0};
    fabric.switches.pauses_whole_links = description.pfc && fabric.switches.pauses_whole_links;
    fabric.switches.watchdog.on = description.pfc && fabric.switches.watchdog.on;
    enter_traffic_classes(fabric, description);
    fabric.nics.dcqcn.on = description.dcqcn && fabric.nics.control == core::PairControl::dcqcn &&
                           (fabric.switches.ecn.on || fabric.nics.dcqcn.notify_losses);
    if (fabric.switches.is_lossless(fabric.data_priority)) {
        // A paused packet is late and not lost. IRN has no time-outs with PFC (conweave-ns3, rdma-hw.cc).
        fabric.nics.selective_timeout_low = fabric.nics.selective_timeout_high = fabric.nics.ack_timeout;
    }
    fabric.tcp.ecn = description.tcp_ecn && fabric.switches.ecn.on;
    if (description.drop_tail) {
        fabric.switches.pool = core::endless_pool;
        fabric.switches.egress_threshold = port_buffer;
    }
    return fabric;
}

}  // namespace weir::config
