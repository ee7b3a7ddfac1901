#include "files/formatting.hpp"
#include "host/host_rule.hpp"

namespace weir::host {

namespace {

/// Legs that are down, or that came up with half of the speed of another or less.
Texts weak_legs(const Subject& s) {
    Texts weak;
    std::int64_t fastest = 0;
    for (const BondLeg& leg : s.interface->legs) {
        fastest = std::max(fastest, leg.speed_bits_per_second.value_or(0));
    }
    for (const BondLeg& leg : s.interface->legs) {
        const std::int64_t speed = leg.speed_bits_per_second.value_or(fastest);
        if (!leg.up || 2 * speed <= fastest) {
            weak.push_back(fmt::format(
                "{}, a leg of {}, {}", leg.name, s.interface->name,
                leg.up ? fmt::format("has {}, and another {}", files::readable(core::BitRate{speed}),
                                     files::readable(core::BitRate{fastest}))
                       : "is down"));
        }
    }
    return weak;
}

/// The interface of a path, and the VLAN on it that the GID belongs to.
Texts of_interfaces(const Subject& s, bool (*wrong)(const Interface&), std::string_view what) {
    Texts names;
    for (const Interface* const each : {s.interface, s.sender}) {
        if (wrong(*each) && (names.empty() || each != s.interface)) {
            names.push_back(fmt::format("{} {}", each->name, what));
        }
    }
    return names;
}

std::string legs_by_address(const Subject& s) {
    const std::size_t legs = s.interface->legs.size();
    return when(
        legs > 1 && s.interface->leg_choice == "layer2",
        "{} chooses a leg by MAC addresses (layer2): all data between two hosts, or to hosts behind a "
        "router, take one of its {} legs, as a queue pair always does",
        s.interface->name, legs);
}

/// "3 (RoCE v2, 10.0.0.7)" for each entry of a type, or of all.
std::string gid_entries(const RdmaPort& port, std::string_view type) {
    Texts entries;
    for (const Gid& gid : port.gids) {
        if (type.empty() || gid.type == type) {
            entries.push_back(fmt::format("{} ({}, {})", gid.index,
                                          gid.type.empty() ? "type unknown" : gid.type,
                                          ipv4_of(gid).value_or(gid.gid)));
        }
    }
    return list(entries);
}

/// "GID index 3 of mlx5_0:1 (UCX_IB_GID_INDEX)"
std::string gid_chosen(const Subject& s) {
    return fmt::format("GID index {} of {} ({})", *s.path->gid_index, s.port->name(), s.view.choice.gid_why);
}

bool gid_of_version_1(const Subject& s) {
    return s.gid != nullptr && !s.gid->type.empty() && s.gid->type != "RoCE v2";
}

/// Only where a better one is there, or is not.
std::string version_1_gid(const Subject& s, bool better_there) {
    return when(gid_of_version_1(s) && (usable_gid(*s.port) != nullptr) == better_there,
                "{} is {}, whose packets carry neither DSCP nor ECN marks and are not routed; RoCE v2: {}",
                gid_chosen(s), s.gid == nullptr ? "" : s.gid->type, gid_entries(*s.port, "RoCE v2"));
}

bool has_far_gid(const Subject& s) {
    const Gid* const usable = usable_gid(*s.port);
    return usable != nullptr && !is_link_local(*usable);
}

/// "GID index 1 of mlx5_0:1 (...) is link-local: ..."; only where one that is not is there, or is not.
std::string link_local_gid(const Subject& s, bool far_gid_there) {
    const bool near = s.gid != nullptr && !gid_of_version_1(s) && is_link_local(*s.gid);
    return when(near && has_far_gid(s) == far_gid_there,
                "{} is link-local: it reaches hosts on the same segment only", gid_chosen(s));
}

/// By an older UCX than the one that was assumed.
std::string gid_by_version(const Subject& s) {
    const Gid* const older = gid_chosen_by_ucx(*s.port, UcxRule::until_1_19);
    if (rule_of_ucx(s.host) || number_of_variable(s.host, "UCX_IB_GID_INDEX") || older == s.gid) {
        return "";
    }
    return fmt::format(
        "UCX chooses GID index {} of {} since version 1.20, and before {}, which is "
        "link-local",
        s.gid->index, s.port->name(), older->index);
}

std::string small_packets(const RdmaPort& port) {
    const int active = port.active_mtu_bytes.value_or(0);
    const int largest = port.largest_mtu_bytes.value_or(0);
    return when(active > 0 && active < largest, "{} sends RDMA packets of {} B where {} B are possible",
                port.name(), active, largest);
}

bool small_mtu(const Subject& s) {
    return !small_packets(*s.port).empty() && s.interface != nullptr && s.interface->mtu_bytes &&
           *s.interface->mtu_bytes < mtu_for_largest_packets(*s.port);
}

/// Some priorities have it, and that of the data has not.
bool passes_by_data(const std::optional<Priorities>& enabled, const Subject& s) {
    return enabled && *enabled != 0 && s.path->priority &&
           (*enabled >> static_cast<unsigned>(*s.path->priority) & 1U) == 0;
}

std::string ecn_beside_data(const std::optional<Priorities>& enabled, const char* which, const Subject& s) {
    return when(passes_by_data(enabled, s),
                "the data has priority {}, but the ECN {} of {} is enabled for {}",
                s.path->priority.value_or(0), which, s.interface->name, priorities_text(enabled));
}

bool nothing_against_loss(const Interface& interface) {
    const auto off = [](const auto& set) { return set && *set == 0; };
    return off(interface.pfc) && (off(interface.ecn_notification) || off(interface.ecn_reaction)) &&
           off(interface.pause_receiving);
}

constexpr const char* another_gid =
    "set the index of a RoCE v2 entry with -x UCX_IB_GID_INDEX={gid}, or leave the choice to UCX";
constexpr const char* enable_ecn =
    "enable it for that priority: /sys/class/net/INTERFACE/ecn/roce_{{np,rp}}/enable/";

using enum Severity;

const HostRule rules_of_network[] = {
    {Per::port, serious, "device", [](const Subject& s) { return s.port->active ? "" : state_of(*s.port); },
     check_cable},
    {Per::gid_index, serious, "gid",
     [](const Subject& s) {
         return when(s.gid == nullptr, "{} is empty; available: {}", gid_chosen(s), gid_entries(*s.port, ""));
     },
     another_gid},
    {Per::gid_index, serious, "gid", [](const Subject& s) { return version_1_gid(s, true); }, another_gid},
    {Per::gid_index, serious, "gid", [](const Subject& s) { return version_1_gid(s, false); },
     "the port makes no entry of RoCE v2: update driver and firmware, or ask whoever provides the function"},
    {Per::port, serious, "gid",
     [](const Subject& s) {
         const bool roce = s.port->active && s.port->link_layer != "InfiniBand";
         return when(roce && s.port->gids.empty(), "{} has no GID: no RoCE connection can be made",
                     s.port->name());
     },
     "assign an address to its interface; if that is of another namespace, give the port to this one, or "
     "name other ports: -x UCX_NET_DEVICES=..."},
    {Per::gid_index, warning, "gid", [](const Subject& s) { return link_local_gid(s, true); },
     "-x UCX_IB_GID_INDEX={gid}"},
    {Per::gid_index, warning, "gid", [](const Subject& s) { return link_local_gid(s, false); },
     "assign an address to the interface, and use the entry that results from it"},
    {Per::gid_index, warning, "gid", gid_by_version, "-x UCX_IB_GID_INDEX={gid}"},
    {Per::gid_index, note, "gid",
     [](const Subject& s) {
         const std::string owner = s.gid == nullptr ? "" : s.gid->interface;
         return when(!owner.empty() && owner != s.port->interface, "GID index {} of {} belongs to {}",
                     *s.path->gid_index, s.port->name(), owner);
     }},
    {Per::port, warning, "mtu",
     [](const Subject& s) {
         return small_mtu(s) ? fmt::format("{}, because {} has an MTU of {} B", small_packets(*s.port),
                                           s.interface->name, *s.interface->mtu_bytes)
                             : "";
     },
     "on all hosts and switch ports: ip link set dev {interface} mtu {mtu}"},
    {Per::port, note, "mtu",
     [](const Subject& s) {
         return small_mtu(s) || s.port->link_layer != "InfiniBand" ? "" : small_packets(*s.port);
     },
     "the subnet manager sets it"},
    {Per::interface, serious, "device",
     [](const Subject& s) {
         return of_interfaces(s, [](const Interface& each) { return !each.up && each.seen; }, "is down");
     },
     "ip link set dev {down} up"},
    {Per::rdma_interface, warning, "device",
     [](const Subject& s) {
         return of_interfaces(
             s, [](const Interface& each) { return !each.seen; },
             fmt::format("has a GID of {} and cannot be seen from here", s.port->name()));
     },
     "it is of another network namespace: see there whether it is up, and its MTU"},
    {Per::interface, warning, "bond", weak_legs, check_cable},
    {Per::interface, note, "bond", legs_by_address,
     "choose by ports: xmit_hash_policy layer3+4, and use several queue pairs (--queue-pairs, "
     "UCX_IB_NUM_PATHS)"},
    {Per::rdma_interface, serious, "pfc",
     [](const Subject& s) {
         return when(passes_by_data(s.interface->pfc, s),
                     "the data has priority {} (traffic class {}, {}), but PFC on {} is enabled for {}",
                     s.path->priority.value_or(0), s.path->traffic_class.value_or(0),
                     s.view.choice.traffic_class_why, s.interface->name, priorities_text(s.interface->pfc));
     },
     "choose a traffic class whose priority has PFC (UCX_IB_TRAFFIC_CLASS = 4 x DSCP + 2; by default, the "
     "priority is DSCP / 8), or enable PFC for the priority of the data"},
    {Per::rdma_interface, serious, "ecn",
     [](const Subject& s) { return ecn_beside_data(s.interface->ecn_notification, "notification point", s); },
     enable_ecn},
    {Per::rdma_interface, serious, "ecn",
     [](const Subject& s) { return ecn_beside_data(s.interface->ecn_reaction, "reaction point", s); },
     enable_ecn},
    {Per::rdma_interface, warning, "pfc",
     [](const Subject& s) {
         return when(nothing_against_loss(*s.interface),
                     "{} has neither PFC nor pause frames nor ECN: RoCE on it loses packets under load",
                     s.interface->name);
     },
     "use such a setting only on purpose, to compare it; see the documentation of card and switch"},
    {Per::rdma_interface, warning, "pause",
     [](const Subject& s) {
         return when(s.interface->pfc.value_or(0) != 0 && s.interface->pause_receiving.value_or(false),
                     "{} has pause frames for the whole link in addition to PFC: the switch may stop all "
                     "priorities",
                     s.interface->name);
     },
     "ethtool --pause {interface} rx off tx off"},
    {Per::rdma_interface, note, "pfc",
     [](const Subject& s) {
         return when(
             !s.interface->pfc && !s.interface->ecn_notification && s.interface->seen,
             "the kernel does not report the PFC and ECN settings of {}{}", s.interface->name,
             s.port->virtual_function ? ", a virtual function: they are those of the card's own" : "");
     },
     "use the tool of the vendor (mlnx_qos, niccli), or ask the administrator"},
};

}  // namespace

std::span<const HostRule> network_rules() {
    return rules_of_network;
}

}  // namespace weir::host
