#include "cli/twin_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "config/distributions.hpp"
#include "config/fabric.hpp"
#include "config/option_table.hpp"
#include "config/quantities.hpp"

namespace weir::cli {

namespace {

using config::GivenOption;

// Applied already (scale), of the machine, without a meaning in the fluid model, or given below in another
// form.
constexpr std::array left_out{"scale",
                              "time-scale",
                              "scenario",
                              "require",
                              "producers",
                              "consumers",
                              "producer-hosts",
                              "consumer-hosts",
                              "scheduler-host",
                              "role",
                              "groups",
                              "group-hosts",
                              "join",
                              "producers-per-host",
                              "consumers-per-host",
                              "ranks",
                              "row-interval",
                              "counters",
                              "acts-at",
                              "idle",
                              "busy-cpu",
                              "join-token",
                              "busy",
                              "scheduler-rank",
                              "queue-pairs",
                              "verify"};

/// Of the network: what runs show is given below, and what was planted is not known.
constexpr std::array shown_of_network{"producer-link",  "consumer-link", "latency",
                                      "scheduler-time", "switch-rows",   "fault"};

/// Whether a key of a switch file is of what is configured; who else sends, and what hosts take, is not.
bool is_configured(std::string_view key) {
    return !key.starts_with("background.") && !key.starts_with("host.");
}

bool is_kept(const twin::ShownRun& run, const std::string& name) {
    const config::Option* option = config::find_option(name);
    if (option == nullptr || option->is(config::only_measured) ||
        (config::is_for_simulations(option->group) && !run.has_packets()) ||
        option->group == config::OptionGroup::testing || option->group == config::OptionGroup::output) {
        return false;
    }
    if (!run.switch_keys.empty() && name.starts_with("switch")) {
        return false;  // all of its keys are given below
    }
    if ((name == "buffer" && run.default_buffer) || (name == "slot-size" && run.default_slot_size)) {
        return false;  // so that they follow the rate, and the size of events
    }
    return std::find(left_out.begin(), left_out.end(), name) == left_out.end() &&
           std::find(shown_of_network.begin(), shown_of_network.end(), name) == shown_of_network.end();
}

/// One option for each word: keys of a switch stand one after the other in a plan.
void add_keys(const std::string& name, std::string_view words, std::vector<GivenOption>& options) {
    while (!words.empty()) {
        const std::size_t end = std::min(words.find(' '), words.size());
        if (is_configured(words)) {
            options.push_back({name, std::string(words.substr(0, end))});
        }
        words.remove_prefix(std::min(end + 1, words.size()));
    }
}

/// What interfaces carry of this payload, in packets of 4096 bytes.
std::vector<double> on_the_wire(std::vector<double> links) {
    for (double& link : links) {
        link = std::min(link / twin::payload_share, twin::fastest_link);
    }
    return links;
}

std::string node_key(core::NodeId node) {
    return node.role == core::Role::scheduler ? "scheduler"
                                              : fmt::format("{}={}", core::role_name(node.role), node.index);
}

/// Links of a role: without the traffic of others, which takes its part of them by a fault of its own.
std::vector<double> add_foreign(const twin::Assumptions& assumptions, core::Role role,
                                std::vector<GivenOption>& options) {
    const bool sends = role == core::Role::producer;
    std::vector<double> links = sends ? assumptions.producer_links : assumptions.consumer_links;
    for (const twin::ForeignTraffic& foreign : assumptions.foreign) {
        if (foreign.node.role != role || links.at(foreign.node.index) >= twin::fastest_link) {
            continue;
        }
        double& link = links.at(foreign.node.index);
        const double left = assumptions.limits.has(role) ? link : link - foreign.bits_per_second;
        link = left + foreign.bits_per_second;
        constexpr double least = 0.001;
        options.push_back({"fault", fmt::format("degrade:{},factor={:.4f}", node_key(foreign.node),
                                                std::max(left / link, least))});
    }
    return links;
}

core::BitRate rate_of(double bits_per_second) {
    // Four digits: no more than the run can show.
    const double grain = std::pow(10.0, std::floor(std::log10(bits_per_second)) - 3);
    return {std::max<std::int64_t>(1, std::llround(std::round(bits_per_second / grain) * grain))};
}

core::Duration time_of(double seconds) {
    return {std::llround(seconds * 1e9)};
}

/// The speed that most have, and who has another one.
std::string links_text(const std::vector<double>& links) {
    std::map<std::int64_t, std::size_t> ranks_with;
    for (const double link : links) {
        ++ranks_with[rate_of(link).bits_per_second];
    }
    // Of two that as many have, the faster one: a slow link is the exception.
    const auto usual =
        std::max_element(ranks_with.rbegin(), ranks_with.rend(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        })->first;
    std::vector<core::OwnLinks> own;
    for (std::uint32_t i = 0; i < links.size(); ++i) {
        if (const core::BitRate rate = rate_of(links[i]); rate.bits_per_second != usual) {
            own.push_back({i, i, rate});
        }
    }
    return config::link_speeds_text({usual}, own);
}

std::string busy_text(const std::string& planned, double factor) {
    config::NamedDistribution busy = config::parse_busy(planned);
    if (factor != 1 && busy.distribution.kind != core::DistributionKind::trace) {
        config::scale_values(busy.distribution, {std::llround(factor * 1000), 1000});
    }
    return config::busy_text(busy);
}

/// Stalls of one rank must not overlap.
void add_stalls(std::vector<twin::ShownStall> stalls, std::vector<GivenOption>& options) {
    std::sort(stalls.begin(), stalls.end(),
              [](const twin::ShownStall& a, const twin::ShownStall& b) { return a.end_s < b.end_s; });
    std::map<std::string, double> free_from;
    for (const twin::ShownStall& stall : stalls) {
        const std::string node = node_key(stall.node);
        const double begin = std::max({stall.end_s - stall.length_s, free_from[node], 0.0});
        const core::Duration length = time_of(stall.end_s - begin);
        if (length < core::Duration::milliseconds(1)) {
            continue;
        }
        free_from[node] = stall.end_s + 0.001;
        options.push_back({"fault", fmt::format("pause:{},at={},for={}", node,
                                                config::to_text(time_of(begin)), config::to_text(length))});
    }
}

void add_losses(const twin::ShownRun& run, std::vector<GivenOption>& options) {
    for (const twin::ShownLoss& loss : run.losses) {
        const core::Duration begin = time_of(std::max(loss.since_s, 0.0));
        std::string text = fmt::format("die:consumer={},at={}", loss.consumer, config::to_text(begin));
        if (loss.back_s) {
            const core::Duration back = std::max(time_of(*loss.back_s), begin + core::Duration{1});
            text += fmt::format(",back={}", config::to_text(back));
        }
        options.push_back({"fault", text});
    }
}

}  // namespace

std::vector<GivenOption> twin_options(const twin::ShownRun& run, const twin::Assumptions& assumptions) {
    std::vector<GivenOption> options{{"producers", fmt::format("{}", run.producers)},
                                     {"consumers", fmt::format("{}", run.consumers)}};
    for (const auto& [name, value] : run.plan) {
        if (name == "busy") {
            options.push_back({name, busy_text(value, assumptions.processing_factor)});
        } else if (name == "switch-set" && is_kept(run, name)) {
            add_keys(name, value, options);
        } else if (is_kept(run, name)) {
            options.push_back({name, value});
        }
    }
    for (const std::string& key : run.switch_keys) {
        if (is_configured(key)) {
            options.push_back({"switch-set", key});
        }
    }
    if (!run.has_packets()) {
        options.push_back({"network", "fluid"});
    }
    const auto links_of = [](const std::vector<double>& payload) { return links_text(on_the_wire(payload)); };
    options.push_back({"producer-link", links_of(add_foreign(assumptions, core::Role::producer, options))});
    options.push_back({"consumer-link", links_of(add_foreign(assumptions, core::Role::consumer, options))});
    options.push_back({"latency", config::to_text(time_of(assumptions.latency_s))});
    options.push_back({"scheduler-time", config::to_text(time_of(assumptions.scheduler_s))});
    options.push_back({"row-interval", "1s"});
    for (const twin::SlowConsumer& slow : assumptions.slow_consumers) {
        options.push_back(
            {"fault", fmt::format("slow:consumer={},factor={:.3f}", slow.consumer, slow.factor)});
    }
    for (const twin::SlowedLink& link : assumptions.slowed_links) {
        const std::string lasts =
            link.end_s < run.duration_s
                ? fmt::format("for={},", config::to_text(time_of(link.end_s - link.begin_s)))
                : "";
        options.push_back({"fault", fmt::format("degrade:{},at={},{}factor={:.4f}", node_key(link.node),
                                                config::to_text(time_of(link.begin_s)), lasts, link.factor)});
    }
    add_stalls(assumptions.stalls, options);
    add_losses(run, options);
    return options;
}

std::string shell_command(const std::vector<GivenOption>& options) {
    std::string text = "weir simulate";
    for (const GivenOption& option : options) {
        const bool plain = option.value.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789.,:=/_+-") == std::string::npos;
        std::string value = option.value;
        if (!plain) {
            std::string quoted;
            for (const char c : value) {
                quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
            }
            value = "'" + quoted + "'";
        }
        if (const config::Option* known = config::find_option(option.name);
            known != nullptr && !value.empty() && value == known->usual.value) {
            continue;
        }
        text += fmt::format(" --{}{}{}", option.name, value.empty() ? "" : " ", value);
    }
    return text;
}

}  // namespace weir::cli
