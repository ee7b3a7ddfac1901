#include "config/traffic_classes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "config/near_name.hpp"
#include "config/option_values.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

using core::BitRate;
using core::Bytes;
using core::FabricPlan;
using core::mask_of;
using core::Priority;
using One = ClassDescription;

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
