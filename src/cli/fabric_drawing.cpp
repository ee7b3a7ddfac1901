#include "cli/fabric_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "config/quantities.hpp"
#include "core/fabric_layout.hpp"
#include "files/formatting.hpp"

namespace weir::cli {

namespace {

using config::RunRequest;
using core::Tier;
using core::TopologyKind;
using core::TopologyPlan;
using files::exact;

/// More leaves are counted instead of listed.
constexpr std::size_t most_leaves = 16;

/// "spine-0 .. spine-3", "worker-0 .. worker-7, scheduler".
std::string ranges_text(const std::vector<std::string>& names) {
    const auto split = [](const std::string& name) {
        const std::size_t dash = name.rfind('-');
        return dash == std::string::npos ? std::pair{name, -1}
                                         : std::pair{name.substr(0, dash), std::stoi(name.substr(dash + 1))};
    };
    std::string text;
    for (std::size_t first = 0; first < names.size();) {
        std::size_t last = first;
        while (last + 1 < names.size() && split(names[last + 1]).first == split(names[last]).first &&
               split(names[last + 1]).second == split(names[last]).second + 1) {
            ++last;
        }
        const char* between = last == first + 1 ? ", " : " .. ";
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", names[first],
                            last == first ? "" : between + names[last]);
        first = last + 1;
    }
    return text;
}

class Drawing {
  public:
    explicit Drawing(const RunRequest& request)
        : network_(request.network),
          plan_(network_.fabric.topology),
          placement_(network_, request.plan.producers, request.plan.consumers, request.plan.seed),
          layout_(core::fabric_layout(network_, placement_)) {}

    [[nodiscard]] bool is_plain() const {
        const auto& hosts = placement_.hosts();
        return plan_.kind == TopologyKind::star &&
               std::all_of(hosts.begin(), hosts.end(),
                           [](const auto& host) { return host.nics == 1 && host.ranks.size() == 1; });
    }

    std::vector<DrawnLine> lines() {
        add("topology", title());
        if (layout_.has(Tier::core)) {
            add_tier(Tier::core,
                     fmt::format("each spine to {} of them: {} x {}, {}", plan_.cores / plan_.spines,
                                 plan_.core_links, exact(plan_.core_rate), delay_text(Tier::spine)));
        }
        if (layout_.has(Tier::spine)) {
            add_tier(Tier::spine, fmt::format("each leaf to each spine{}: {} x {}, {}",
                                              layout_.has(Tier::core) ? " of its pod" : "", plan_.uplinks,
                                              exact(plan_.uplink_rate), delay_text(Tier::leaf)));
        }
        add_leaves();
        for (const core::OwnCables& own : plan_.own_cables) {
            add("", fmt::format("{} to {}: {}", core::switch_text(own.lower), core::switch_text(own.upper),
                                exact(own.rate)));
        }
        add_capacity();
        return std::move(lines_);
    }

    [[nodiscard]] nlohmann::ordered_json json() const {
        const core::BisectionBandwidth halves = core::bisection(layout_);
        nlohmann::ordered_json json{{"switches", layout_.switches.size()},
                                    {"hosts", placement_.shared_out()},
                                    {"nics", plan_.nics},
                                    {"oversubscription", nlohmann::ordered_json::object()},
                                    {"bisection_bits_per_second", halves.bandwidth.bits_per_second},
                                    {"half_of_hosts_bits_per_second", halves.of_hosts.bits_per_second}};
        for (const auto& [name, tier] : {std::pair{"leaf", Tier::leaf}, {"spine", Tier::spine}}) {
            if (const double over = core::oversubscription(layout_, tier); over > 0) {
                json["oversubscription"][name] = over;
            }
        }
        for (const core::Placement::Host& host : placement_.hosts()) {
            const auto index = static_cast<std::uint32_t>(&host - placement_.hosts().data());
            nlohmann::ordered_json leaves = nlohmann::ordered_json::array();
            for (std::uint32_t port = host.first_port; port < host.first_port + host.nics; ++port) {
                leaves.push_back(layout_.ports[port].leaf);
            }
            json["placed"].push_back({{"host", placement_.name(index)}, {"leaves", std::move(leaves)}});
        }
        return json;
    }

  private:
    void add(std::string name, std::string text) { lines_.push_back({std::move(name), std::move(text)}); }

    [[nodiscard]] std::string title() const {
        const std::string hosts =
            fmt::format("{}{}", files::counted(placement_.shared_out(), "host"),
                        plan_.nics > 1 ? fmt::format(" with {} NICs", plan_.nics) : std::string{});
        switch (plan_.kind) {
            case TopologyKind::star:
                return fmt::format("one switch, {}", hosts);
            case TopologyKind::leaf_spine:
                break;
            case TopologyKind::three_tier:
                return fmt::format("{} pods of {} leaves and {} spines, {} cores, {}", plan_.pods,
                                   plan_.leaves / plan_.pods, plan_.spines, plan_.cores, hosts);
            case TopologyKind::rail_optimized:
                return fmt::format("{} rails, {} leaves and {} spines, {}", plan_.nics, plan_.leaves,
                                   plan_.spines, hosts);
        }
        return fmt::format("{} leaves and {} spines, {}", plan_.leaves, plan_.spines, hosts);
    }

    [[nodiscard]] std::string delay_text(Tier lower) const {
        return exact(core::cable_delay(network_, lower));
    }

    void add_tier(Tier tier, const std::string& below) {
        std::vector<std::string> names;
        for (const core::SwitchName name : layout_.switches) {
            if (name.tier == tier) {
                names.push_back(core::switch_text(name));
            }
        }
        add("", ranges_text(names));
        add("", " |  " + below);
    }

    void add_leaves() {
        const core::Placement::Host& first = placement_.hosts().front();
        const bool alike = std::all_of(placement_.hosts().begin(), placement_.hosts().end(),
                                       [&](const auto& host) { return host.rate == first.rate; });
        std::map<std::uint32_t, std::vector<std::string>> at;
        for (const core::FabricLayout::Port& port : layout_.ports) {
            std::vector<std::string>& names = at[port.leaf];
            if (names.empty() || names.back() != placement_.name(port.host)) {
                names.push_back(placement_.name(port.host));
            }
        }
        std::size_t listed = 0;
        for (const auto& [leaf, names] : at) {
            if (++listed > most_leaves) {
                add("", fmt::format("and {} more leaves", at.size() - most_leaves));
                break;
            }
            const bool star = plan_.kind == TopologyKind::star;
            const std::string pod =
                plan_.kind == TopologyKind::three_tier
                    ? fmt::format("pod {}, ", std::uint64_t{leaf} * plan_.pods / plan_.leaves)
                    : std::string{};
            add("", fmt::format("{}{:8} {}", pod, star ? "switch" : core::switch_text(layout_.switches[leaf]),
                                ranges_text(names)));
        }
        add("",
            fmt::format("hosts: {}, {}", alike ? exact(first.rate) + " for each NIC" : "speeds of their own",
                        delay_text(Tier::host)));
    }

    void add_capacity() {
        std::string text;
        for (const auto& [name, tier] : {std::pair{"leaves", Tier::leaf}, {"spines", Tier::spine}}) {
            if (const double over = core::oversubscription(layout_, tier); over > 0) {
                text += fmt::format("{}{} {} : 1", text.empty() ? "" : ", ", name, files::number(over));
            }
        }
        if (!text.empty()) {
            add("capacity", "oversubscription of " + text);
        }
        const core::BisectionBandwidth halves = core::bisection(layout_);
        add(text.empty() ? "capacity" : "",
            fmt::format("bisection bandwidth {}, {} of what half of the hosts can send",
                        files::readable(halves.bandwidth),
                        files::percent(halves.bandwidth.bits_per_second, halves.of_hosts.bits_per_second)));
    }

    const core::NetworkPlan& network_;
    const TopologyPlan& plan_;
    core::Placement placement_;
    core::FabricLayout layout_;
    std::vector<DrawnLine> lines_;
};

}  // namespace

std::vector<DrawnLine> fabric_lines(const RunRequest& request) {
    Drawing drawing(request);
    return drawing.is_plain() ? std::vector<DrawnLine>{} : drawing.lines();
}

nlohmann::ordered_json fabric_json(const RunRequest& request) {
    return Drawing(request).json();
}

}  // namespace weir::cli
