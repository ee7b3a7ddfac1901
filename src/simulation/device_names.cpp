#include "simulation/device_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "core/assertion.hpp"

namespace weir::simulation {

using packet::CableIndex;
using packet::LinkIndex;
using packet::NodeIndex;

namespace {

std::optional<std::uint32_t> number_of(std::string_view text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

DeviceNames::DeviceNames(const packet::Topology& topology, std::vector<std::string> names,
                         std::vector<std::string> switches)
    : topology_(topology), names_(std::move(names)), switches_(std::move(switches)) {
    WEIR_ASSERT(names_.size() == topology.nodes() && switches_.size() <= names_.size());
}

std::string DeviceNames::link_name(LinkIndex link) const {
    const packet::Topology::Link& ends = topology_.links()[link];
    const std::vector<LinkIndex>& ports = topology_.ports(ends.from);
    const auto between = std::count_if(
        ports.begin(), ports.end(), [&](LinkIndex other) { return topology_.links()[other].to == ends.to; });
    return fmt::format("{}:{}{}", name(ends.from), name(ends.to),
                       between > 1 ? fmt::format("/{}", ends.parallel) : std::string{});
}

std::optional<NodeIndex> DeviceNames::find(std::string_view name) const {
    if (const auto found = std::find(names_.begin(), names_.end(), name); found != names_.end()) {
        return NodeIndex{static_cast<std::uint32_t>(found - names_.begin())};
    }
    if (const auto found = std::find(switches_.begin(), switches_.end(), name); found != switches_.end()) {
        return NodeIndex{static_cast<std::uint32_t>(names_.size() - switches_.size()) +
                         static_cast<std::uint32_t>(found - switches_.begin())};
    }
    return std::nullopt;
}

NodeIndex DeviceNames::known(std::string_view name) const {
    if (const std::optional<NodeIndex> node = find(name)) {
        return *node;
    }
    throw std::invalid_argument(fmt::format("there is no '{}'; there are {}", name, examples()));
}

std::vector<CableIndex> DeviceNames::cables(std::string_view name) const {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string_view ends = name.substr(0, slash);
    const std::size_t colon = ends.find(':');
    if (colon == std::string_view::npos) {
        throw std::invalid_argument(
            fmt::format("'{}' names no link; write both of its ends, as {}", name, link_name(0)));
    }
    const NodeIndex from = known(ends.substr(0, colon));
    const NodeIndex to = known(ends.substr(colon + 1));
    std::vector<CableIndex> found;
    for (const LinkIndex link : topology_.ports(from)) {
        if (topology_.links()[link].to == to) {
            found.push_back(link / 2);
        }
    }
    if (found.empty()) {
        throw std::invalid_argument(
            fmt::format("there is no cable from {} to {}", ends.substr(0, colon), ends.substr(colon + 1)));
    }
    if (slash == name.size()) {
        return found;
    }
    const std::optional<std::uint32_t> number = number_of(name.substr(slash + 1));
    if (!number || *number >= found.size()) {
        throw std::invalid_argument(fmt::format("'{}': cables are numbered from 0 to {} there",
                                                name.substr(slash), found.size() - 1));
    }
    return {found[*number]};
}

std::vector<CableIndex> DeviceNames::cables(NodeIndex node) const {
    std::vector<CableIndex> found;
    for (const LinkIndex link : topology_.ports(node)) {
        found.push_back(link / 2);
    }
    return found;
}

std::string DeviceNames::examples() const {
    return fmt::format("{}, ..., {}, and {} to {}", names_.front(), names_.back(), switches_.front(),
                       switches_.back());
}

}  // namespace weir::simulation
