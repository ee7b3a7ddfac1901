// A row of the tables of rules: what is wrong with a host, or with a path of it, and what helps.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "host/subject.hpp"

namespace weir::host {

using Texts = std::vector<std::string>;

inline std::string list(const Texts& entries) {
    return entries.empty() ? "none" : fmt::format("{}", fmt::join(entries, ", "));
}

/// The words, if that is wrong.
template <typename... Args>
std::string when(bool wrong, fmt::format_string<Args...> words, Args&&... args) {
    return wrong ? fmt::format(words, std::forward<Args>(args)...) : std::string{};
}

inline std::string state_of(const RdmaPort& port) {
    return fmt::format("{} is {}", port.name(), port.state.empty() ? "in no known state" : port.state);
}

/// RoCE packets need up to 96 bytes around their payload (iboe_get_mtu of the kernel).
inline int mtu_for_largest_packets(const RdmaPort& port) {
    return port.largest_mtu_bytes.value_or(0) + 96;
}

/// What a rule finds: a sentence, which is empty if nothing is wrong, or several.
using Wrong = std::variant<std::string, Texts>;

struct HostRule {
    Per per;
    Severity severity;
    const char* topic;
    std::function<Wrong(const Subject&)> wrong;
    const char* remedy = "";  ///< may name {interface}, {down}, {mtu}, {port}, {gid}, {cores}
};

constexpr const char* check_cable = "check cable, switch port and driver: ibstat, ip link";

/// Rules about RDMA ports and interfaces (rules_network.cpp); those about the host are in rules.cpp.
std::span<const HostRule> network_rules();

}  // namespace weir::host
