#include "config/switch_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "config/fabric.hpp"
#include "config/option_values.hpp"
#include "config/quantities.hpp"
#include "config/switch_keys.hpp"
#include "config/usage_error.hpp"
#include "config/words.hpp"
#include "core/network_plan.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

using core::BitRate;
using core::Bytes;
using core::FabricPlan;
using core::mask_of;
using core::Priority;
using One = ClassDescription;

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

constexpr Choice<core::BackgroundPlan::Kind> kinds_of_others[] = {
    {"packets", core::BackgroundPlan::Kind::packets},
    {"tcp", core::BackgroundPlan::Kind::tcp},
    {"rdma", core::BackgroundPlan::Kind::rdma}};
constexpr Priority highest_class = core::priority_count - 1;
constexpr std::size_t longest_name = 32;
constexpr Bytes largest_threshold{1'000'000'000'000'000};
constexpr BitRate largest_rate{100'000'000'000'000};

std::string text_of(bool value) {
    return chosen(value, true_or_false);
}
Priority priority_of(const One& one) {
    return one.priority.value_or(0);
}
core::EcnPlan ecn_of(const One& one, const core::EcnPlan& usual) {
    core::EcnPlan ecn = usual;
    ecn.on = one.ecn.value_or(true);
    ecn.drops = usual.drops && ecn.on;
    ecn.none_below = one.none_below.value_or(usual.none_below);
    ecn.all_above = one.all_above.value_or(usual.all_above);
    ecn.probability_at_top = one.probability.value_or(usual.probability_at_top);
    return ecn;
}
const core::EcnPlan& used_ecn(const One& one, const FabricPlan& plan) {
    return plan.switches.ecn_of(priority_of(one));
}

constexpr ClassKey class_rows[] = {
    {"priority", "0..7",
     [](One& o, Text t) { o.priority = static_cast<Priority>(count(t, 0, highest_class)); },
     [](const One& o, const FabricPlan&) { return fmt::format("{}", priority_of(o)); }, "",
     "which the class names; must be given. Messages of a run have it by `[classes]`"},
    {"lossless", syntax_of<true_or_false>, [](One& o, Text t) { o.lossless = choose(t, true_or_false); },
     [](const One& o, const FabricPlan& f) { return text_of(f.switches.is_lossless(priority_of(o))); }, "",
     "PFC acts on it, where PFC is on; without this key only on data"},
    {"strict", syntax_of<true_or_false>, [](One& o, Text t) { o.strict = choose(t, true_or_false); },
     [](const One& o, const FabricPlan& f) {
         return text_of((f.switches.strict & mask_of(priority_of(o))) != 0);
     },
     "",
     "goes first in switches and NICs, the highest priority of several; without this key as `strict` says"},
    {"weight", "count", [](One& o, Text t) { o.weight = count(t, 1, 1000); },
     [](const One& o, const FabricPlan& f) { return fmt::format("{}", f.switches.weights[priority_of(o)]); },
     "", "its share where it is not strict; without this key as `[switch] weights` says"},
    {"ecn", syntax_of<true_or_false>, [](One& o, Text t) { o.ecn = choose(t, true_or_false); },
     [](const One& o, const FabricPlan& f) { return text_of(f.switches.ecn.on && used_ecn(o, f).on); }, "",
     "`false`: its packets are never marked, nor lost instead; `true`: they are where ECN is on"},
    {"none-below", "size", [](One& o, Text t) { o.none_below = bounded(t, Bytes{}, largest_threshold); },
     [](const One& o, const FabricPlan& f) { return to_text(used_ecn(o, f).none_below); }, "",
     "as in `[ecn]`, for its queues; without this key what stands there"},
    {"all-above", "size", [](One& o, Text t) { o.all_above = bounded(t, Bytes{}, largest_threshold); },
     [](const One& o, const FabricPlan& f) { return to_text(used_ecn(o, f).all_above); }, "", "the same"},
    {"probability", "number", [](One& o, Text t) { o.probability = bounded_number(t, 0.0001, 1); },
     [](const One& o, const FabricPlan& f) { return number_text(used_ecn(o, f).probability_at_top); }, "",
     "the same"},
    {"rate", "rate", [](One& o, Text t) { o.others.rate = bounded(t, BitRate{}, largest_rate); },
     [](const One& o, const FabricPlan&) { return to_text(o.others.rate); }, "0b/s",
     "that others send in this class, from each producer's host to the consumers' hosts in turn; `0b/s`: "
     "none"},
    {"traffic", syntax_of<kinds_of_others>,
     [](One& o, Text t) { o.others.kind = choose(t, kinds_of_others); },
     [](const One& o, const FabricPlan&) { return chosen(o.others.kind, kinds_of_others); }, "packets",
     "of others: packets at a constant rate, whatever becomes of them, or messages over connections, which "
     "slow down"},
    {"packet", "size", [](One& o, Text t) { o.others.packet = bounded(t, Bytes{84}, Bytes{9300}); },
     [](const One& o, const FabricPlan&) { return to_text(o.others.packet); }, "1.538kB",
     "`packets`: on the wire, gap included"},
    {"message", "size",
     [](One& o, Text t) { o.others.message = bounded(t, Bytes{1000}, Bytes{1'000'000'000}); },
     [](const One& o, const FabricPlan&) { return to_text(o.others.message); }, "1MB",
     "`tcp`, `rdma`: of one message. It is left out while four earlier ones to the same host are not "
     "through"},
};

void check_priority(const SwitchDescription& description, const One& one) {
    if (!one.priority) {
        throw UsageError("[class.{}] priority: it is missing; write priority = 0 to {}", one.name,
                         highest_class);
    }
    for (const One& other : description.classes) {
        if (&other != &one && other.priority == one.priority) {
            throw UsageError("[class.{}] priority: {} is also that of [class.{}]; a priority is one class",
                             one.name, *one.priority, other.name);
        }
    }
}

void check_losses(const SwitchDescription& description, const One& one) {
    if (one.lossless == true && description.drop_tail) {
        throw UsageError(
            "[class.{}] lossless: ports that share no memory pause nobody; write false, or [switch] "
            "drop-tail = false",
            one.name);
    }
    if (one.lossless == false && description.fabric.switches.pauses_whole_links) {
        throw UsageError(
            "[class.{}] lossless: pauses stop whole links, with all classes; write true, or [pfc] "
            "whole-links = false",
            one.name);
    }
}

void check_marks(const SwitchDescription& description, const One& one) {
    const core::EcnPlan ecn = ecn_of(one, description.fabric.switches.ecn);
    if (ecn.none_below > ecn.all_above) {
        throw UsageError("[class.{}] none-below: {} is more than all-above, {}; make it at most that",
                         one.name, files::exact(ecn.none_below), files::exact(ecn.all_above));
    }
}

void set_bit(core::PriorityMask& mask, Priority priority, std::optional<bool> on) {
    if (on) {
        mask = static_cast<core::PriorityMask>(*on ? mask | mask_of(priority) : mask & ~mask_of(priority));
    }
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

std::span<const ClassKey> class_keys() {
    return class_rows;
}

ClassDescription& class_named(SwitchDescription& description, std::string_view name) {
    const auto found = std::find_if(description.classes.begin(), description.classes.end(),
                                    [&](const One& one) { return one.name == name; });
    if (found != description.classes.end()) {
        return *found;
    }
    return description.classes.emplace_back(One{.name = std::string(name)});
}

std::optional<std::string_view> class_of_section(std::string_view section) {
    constexpr std::string_view beginning = "class.";
    if (!section.starts_with(beginning)) {
        return std::nullopt;
    }
    const std::string_view name = section.substr(beginning.size());
    const auto may_stand_in_name = [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_';
    };
    if (name.empty() || name.size() > longest_name ||
        !std::all_of(name.begin(), name.end(), may_stand_in_name)) {
        throw UsageError(
            "'{}' is no name of a class; write letters, digits, - and _, {} at most, as in class.storage",
            name, longest_name);
    }
    return name;
}

void set_class_key(ClassDescription& one, std::string_view key, std::string_view text) {
    std::vector<std::string_view> names;
    for (const ClassKey& known : class_rows) {
        if (known.name == key) {
            at_place(key, [&] { known.set(one, text); });
            return;
        }
        names.push_back(known.name);
    }
    const auto near = near_names(key, names, 1);
    throw UsageError(near.empty() ? fmt::format("has no key '{}'; it has: {}", key, fmt::join(names, ", "))
                                  : fmt::format("has no key '{}'; did you mean {}?", key, near.front()));
}

void check_traffic_classes(const SwitchDescription& description) {
    for (const One& one : description.classes) {
        check_priority(description, one);
        check_losses(description, one);
        check_marks(description, one);
    }
}

void enter_traffic_classes(FabricPlan& fabric, const SwitchDescription& description) {
    for (const One& one : description.classes) {
        const Priority priority = priority_of(one);
        if (description.pfc) {
            set_bit(fabric.switches.lossless, priority, one.lossless);
        }
        set_bit(fabric.switches.strict, priority, one.strict);
        set_bit(fabric.nics.strict, priority, one.strict);
        fabric.switches.weights[priority] = one.weight.value_or(fabric.switches.weights[priority]);
        if (one.ecn || one.none_below || one.all_above || one.probability) {
            fabric.switches.own_ecn[priority] = ecn_of(one, fabric.switches.ecn);
        }
        fabric.classes.push_back({one.name, one.others});
        fabric.classes.back().traffic.priority = priority;
    }
    std::sort(fabric.classes.begin(), fabric.classes.end(),
              [](const auto& a, const auto& b) { return a.traffic.priority < b.traffic.priority; });
}

}  // namespace weir::config
