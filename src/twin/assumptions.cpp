#include "twin/assumptions.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "record/quantiles.hpp"

namespace weir::twin {

namespace {

constexpr double alike = 0.85;         ///< ranks whose links carry this share of the others' have the same
constexpr double slowest_link = 1e3;   ///< b/s
constexpr double longest_latency = 1;  ///< s
constexpr double agree = 0.01;
constexpr std::size_t most_stalls = 400;

/// What the ranks of a role moved, by index.
struct Moved {
    std::vector<double> bits;
    std::vector<double> seconds;
    std::vector<std::string> hosts;  ///< empty: not known

    /// Of the link, which ranks of the same host share.
    [[nodiscard]] double rate(std::size_t i) const {
        double all_bits = 0;
        double all_seconds = 0;
        for (const std::size_t rank : sharing(i)) {
            all_bits += bits[rank];
            all_seconds += seconds[rank];
        }
        return all_seconds > 0 ? all_bits / all_seconds : 0;
    }
    [[nodiscard]] std::vector<std::size_t> sharing(std::size_t i) const {
        if (hosts[i].empty()) {
            return {i};
        }
        std::vector<std::size_t> ranks;
        for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
            if (hosts[rank] == hosts[i]) {
                ranks.push_back(rank);
            }
        }
        return ranks;
    }
};

Moved moved_by(const ShownRun& run, core::Role role) {
    Moved moved;
    const std::size_t count = role == core::Role::producer ? run.producers : run.consumers;
    moved.bits.resize(count);
    moved.seconds.resize(count);
    moved.hosts.resize(count);
    for (const ShownRank& rank : run.ranks) {
        if (rank.node.role == role) {
            moved.bits[rank.node.index] = rank.bits_per_second * rank.measured_s;
            moved.seconds[rank.node.index] = rank.moving_s;
            moved.hosts[rank.node.index] = rank.host;
        }
    }
    return moved;
}

/// Nothing: all seconds are alike, or slow ones come again and again.
std::optional<SlowedLink> slowed_link(const ShownRank& rank) {
    constexpr double used_s = 0.1;  ///< a second in which less was under way shows no speed
    constexpr double slow = 0.6;    ///< of the usual rate
    constexpr double busy = 0.9;    ///< of the time: a link that was in use that long is slow sooner,
    constexpr double slower = 0.95;
    std::vector<ShownSecond> seconds;
    std::vector<double> rates;
    for (const ShownSecond& second : rank.seconds) {
        if (second.moving_s >= used_s) {
            seconds.push_back(second);
            rates.push_back(second.bits / second.moving_s);
        }
    }
    if (seconds.size() < 3) {
        return std::nullopt;
    }
    const double most = *std::max_element(rates.begin(), rates.end());
    std::vector<bool> is_slow;
    is_slow.reserve(rates.size());
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const bool was_busy = seconds[i].moving_s >= busy * seconds[i].covered_s;
        is_slow.push_back(rates[i] < (was_busy ? slower : slow) * most);
    }
    const auto first = std::find(is_slow.begin(), is_slow.end(), true);
    const auto after = std::find(first, is_slow.end(), false);
    if (first == is_slow.end() || first == is_slow.begin() ||
        std::find(after, is_slow.end(), true) != is_slow.end()) {
        return std::nullopt;
    }
    const auto begin = rates.begin() + (first - is_slow.begin());
    const auto end = rates.begin() + (after - is_slow.begin());
    // In the first one it was fast for a while, if it is not as slow as the next.
    const double usual = record::median_of(std::vector<double>(rates.begin(), begin));
    const double least = *std::min_element(begin, end);
    const double fast_s = std::clamp((*begin - least) / std::max(usual - least, 1.0), 0.0, 1.0);
    const ShownSecond& from = seconds[static_cast<std::size_t>(begin - rates.begin())];
    const ShownSecond& last = seconds[static_cast<std::size_t>(end - rates.begin()) - 1];
    return SlowedLink{.node = rank.node,
                      .begin_s = from.begin_s + fast_s,
                      .end_s = last.begin_s + (last.measured ? 1 : last.covered_s),
                      .least = least,
                      .factor = std::clamp(least / usual, 1e-4, 1.0)};
}

/// Ranks that are alike; one that is not is alone, or with those of its host. Without those that moved
/// nothing, of which nothing is known.
std::vector<std::vector<std::size_t>> groups_of(const Moved& moved) {
    std::vector<double> rates;
    for (std::size_t i = 0; i < moved.bits.size(); ++i) {
        if (moved.rate(i) > 0) {
            rates.push_back(moved.rate(i));
        }
    }
    const double usual = rates.empty() ? 0 : record::median_of(std::move(rates));
    std::vector<std::vector<std::size_t>> groups(1);
    for (std::size_t i = 0; i < moved.bits.size(); ++i) {
        const double rate = moved.rate(i);
        if (rate >= alike * usual && rate <= usual / alike) {
            groups.front().push_back(i);
        } else if (rate > 0 && moved.sharing(i).front() == i) {
            groups.push_back(moved.sharing(i));
        }
    }
    return groups;
}

double sum_of(const std::vector<double>& values, const std::vector<std::size_t>& group) {
    double sum = 0;
    for (const std::size_t i : group) {
        sum += values[i];
    }
    return sum;
}

double rate_of(const Moved& moved, const std::vector<std::size_t>& group) {
    const double seconds = sum_of(moved.seconds, group);
    return seconds > 0 ? sum_of(moved.bits, group) / seconds : 0;
}

/// By how much the links of a group must be faster. Where less was moved in all, or more, that decides: for
/// how long something was on its way is known less well than how much of it there was. But not over links
/// that were idle for most of the time: links of the other role, where these are assumed to be a limit too,
/// decided how much they moved.
double missing_speed(const Moved& wanted, const Moved& found, const std::vector<std::size_t>& group,
                     double duration_s, bool of_both_roles) {
    constexpr double idle = 0.3;
    const double rate = rate_of(found, group);
    const double bits = sum_of(found.bits, group);
    if (rate <= 0 || bits <= 0 || rate_of(wanted, group) <= 0) {
        return 1;
    }
    const double amount = sum_of(wanted.bits, group) / bits;
    const bool was_idle = of_both_roles && sum_of(wanted.seconds, group) <
                                               idle * duration_s * static_cast<double>(group.size());
    return std::abs(amount - 1) < agree || was_idle ? rate_of(wanted, group) / rate : amount;
}

/// What the links carried, without the seconds in which they were slower.
Moved moved_at_full_speed(const ShownRun& run, core::Role role, const std::vector<SlowedLink>& slowed) {
    Moved moved = moved_by(run, role);
    for (const SlowedLink& link : slowed) {
        for (const ShownRank& rank : run.ranks) {
            for (const ShownSecond& second : rank.seconds) {
                if (rank.node == link.node && rank.node.role == role && second.measured &&
                    second.begin_s + 1 > link.begin_s && second.begin_s < link.end_s) {
                    moved.bits[rank.node.index] -= second.bits;
                    moved.seconds[rank.node.index] -= second.moving_s;
                }
            }
        }
    }
    return moved;
}

/// What interfaces say, less the headers of packets of 4096 bytes; where it is not known, any speed.
std::vector<double> interface_links(const ShownRun& run, core::Role role) {
    std::vector<double> links(role == core::Role::producer ? run.producers : run.consumers, fastest_link);
    for (const ShownRank& rank : run.ranks) {
        if (rank.node.role == role && rank.interface_bits_per_second > 0) {
            links[rank.node.index] = payload_share * rank.interface_bits_per_second;
        }
    }
    return links;
}

/// A little more than an interface has is what seconds show that began with data on the way; much more: what
/// it says is not so. Not of packets, whose twins came less near with it.
double within_interface(const ShownRun& run, double link, double interface) {
    constexpr double a_little = 1.1;
    const bool is_limit = !run.has_packets() && link < a_little * interface;
    return std::clamp(link, slowest_link, is_limit ? std::max(interface, slowest_link) : fastest_link);
}

std::vector<double> least_links(const ShownRun& run, core::Role role, const Assumptions& assumptions) {
    const Moved moved = moved_at_full_speed(run, role, assumptions.slowed_links);
    std::vector<double> links = interface_links(run, role);
    const auto groups = groups_of(moved);
    for (const auto& group : groups) {
        if (assumptions.limits.exceptions && &group == &groups.front()) {
            continue;
        }
        const double rate = rate_of(moved, group);
        for (const std::size_t i : group) {
            links[i] = rate > 0 ? within_interface(run, rate, links[i]) : links[i];
        }
    }
    return links;
}

/// Processing as it was, over processing as drawn; and consumers that differ from the others.
void read_processing(const ShownRun& run, Assumptions& assumptions) {
    double seconds = 0;
    double events = 0;
    for (const ShownRank& rank : run.ranks) {
        seconds += rank.processing_s;
        events += rank.processed_events;
    }
    if (run.processing.mean_us <= 0 || events < 20 || seconds <= 0) {
        return;
    }
    std::vector<double> means;
    for (const ShownRank& rank : run.ranks) {
        if (rank.processed_events > 0) {
            means.push_back(rank.processing_s / rank.processed_events);
        }
    }
    // The lower one of two in the middle: of two consumers one may be slow.
    const auto middle = means.begin() + static_cast<std::ptrdiff_t>((means.size() - 1) / 2);
    std::nth_element(means.begin(), middle, means.end());
    const double usual = *middle;
    double others_s = 0;
    double others = 0;
    for (const ShownRank& rank : run.ranks) {
        if (rank.node.role != core::Role::consumer || rank.processed_events < 5) {
            continue;
        }
        // Far beyond the standard error of times that are drawn from an exponential distribution.
        const double ratio = rank.processing_s / rank.processed_events / usual;
        if (ratio > std::max(1 / alike, 1 + 5 / std::sqrt(rank.processed_events))) {
            assumptions.slow_consumers.push_back({rank.node.index, ratio});
        } else {
            others_s += rank.processing_s;
            others += rank.processed_events;
        }
    }
    const double factor = others > 0 ? others_s / others / (run.processing.mean_us * 1e-6) : 1;
    constexpr double grain = 0.03;  // of the histogram's buckets
    if (assumptions.slow_consumers.empty() && std::abs(factor - 1) > grain) {
        assumptions.processing_factor = factor;
    }
}

void read_stalls(const ShownRun& run, Assumptions& assumptions) {
    const double shortest_s = std::max(0.01, run.interval_s * 0.02);
    for (const ShownStall& stall : run.stalls) {
        if (stall.length_s >= shortest_s) {
            assumptions.stalls.push_back(stall);
        }
    }
    std::stable_sort(assumptions.stalls.begin(), assumptions.stalls.end(),
                     [](const ShownStall& a, const ShownStall& b) { return a.length_s > b.length_s; });
    assumptions.stalls.resize(std::min(assumptions.stalls.size(), most_stalls));
    assumptions.left_out_stalls = run.stalls.size() - assumptions.stalls.size();
}

}  // namespace

namespace {

/// Bytes of interfaces beyond the payload of the ranks there, its headers, and the messages for each event.
/// Less is no sign of others: data that are sent again are as much. None in a simulation, in which all
/// traffic was asked for, and where it is not known which ranks a host has.
std::vector<ForeignTraffic> foreign_traffic(const ShownRun& run) {
    constexpr double with_headers = 1.06;
    constexpr double message_bytes = 1000;  ///< of each event: its offer, grant and end, with their headers
    constexpr double least = 0.15;          ///< of the payload, or of what is usual
    std::vector<ForeignTraffic> found;
    if (run.simulated || !run.hosts_known()) {
        return found;
    }
    const double usual = run.goodput() / std::max(1U, run.consumers);
    for (const ShownHost& host : run.hosts) {
        for (const core::Role role : {core::Role::producer, core::Role::consumer}) {
            std::vector<const ShownRank*> ranks;
            double payload = 0;
            for (const ShownRank& rank : run.ranks) {
                if (rank.host == host.name && rank.node.role == role) {
                    ranks.push_back(&rank);
                    payload += rank.bits_per_second;
                }
            }
            const double bytes = role == core::Role::producer ? host.sent_bytes : host.received_bytes;
            const double own = payload * (with_headers + message_bytes / std::max(run.event_bytes(), 1.0));
            const double foreign = 8 * bytes / run.duration_s - own;
            for (const ShownRank* rank : ranks) {
                if (foreign >= least * std::max(payload, usual)) {
                    found.push_back({rank->node, foreign / static_cast<double>(ranks.size())});
                }
            }
        }
    }
    return found;
}

/// Messages that wait behind data make slots look free for longer than the way takes: heartbeats show it.
double longest_latency_of(const ShownRun& run) {
    const double way_s = run.longest_way_s();
    return way_s > 0 ? std::min(way_s, longest_latency) : longest_latency;
}

}  // namespace

bool has_exceptions(const ShownRun& run) {
    return groups_of(moved_by(run, core::Role::producer)).size() > 1 ||
           groups_of(moved_by(run, core::Role::consumer)).size() > 1;
}

bool links_change(const ShownRun& run, core::Role role) {
    return std::any_of(run.ranks.begin(), run.ranks.end(), [&](const ShownRank& rank) {
        return rank.node.role == role && slowed_link(rank).has_value();
    });
}

namespace {

/// Before a link became slow, and beside it, links were as fast as their interfaces say, if that is known.
bool changes_at_interface_speed(const ShownRun& run, Limits limits, core::Role role) {
    return limits.change && limits.has(role) &&
           std::all_of(run.ranks.begin(), run.ranks.end(), [&](const ShownRank& rank) {
               return rank.node.role != role || rank.interface_bits_per_second > 0;
           });
}

}  // namespace

Assumptions assumed_of(const ShownRun& run, Limits limits) {
    Assumptions assumptions;
    assumptions.limits = limits;
    for (const ShownRank& rank : run.ranks) {
        if (limits.change && rank.node.role != core::Role::scheduler && limits.has(rank.node.role)) {
            if (const auto slowed = slowed_link(rank)) {
                assumptions.slowed_links.push_back(*slowed);
            }
        }
    }
    const auto links_of = [&](core::Role role) {
        const bool shown = limits.has(role) && !changes_at_interface_speed(run, limits, role);
        return shown ? least_links(run, role, assumptions) : interface_links(run, role);
    };
    assumptions.producer_links = links_of(core::Role::producer);
    assumptions.consumer_links = links_of(core::Role::consumer);
    for (SlowedLink& link : assumptions.slowed_links) {
        if (changes_at_interface_speed(run, limits, link.node.role)) {
            const auto& links = link.node.role == core::Role::producer ? assumptions.producer_links
                                                                       : assumptions.consumer_links;
            link.factor = std::clamp(link.least / links[link.node.index], 1e-4, 1.0);
        }
    }
    const ShownRank& scheduler = run.scheduler();
    assumptions.scheduler_s = scheduler.messages > 0 ? scheduler.handling_s / scheduler.messages : 0;
    // On its way there and back; what waits in the scheduler comes out when the twin is simulated.
    assumptions.latency_s =
        std::clamp(run.unseen_slot_s() / 2 - assumptions.scheduler_s, 0.0, longest_latency_of(run));
    assumptions.foreign = foreign_traffic(run);
    std::erase_if(assumptions.foreign, [&](const ForeignTraffic& foreign) {  // what changes is not steady
        return std::any_of(assumptions.slowed_links.begin(), assumptions.slowed_links.end(),
                           [&](const SlowedLink& link) { return link.node == foreign.node; });
    });
    read_processing(run, assumptions);
    read_stalls(run, assumptions);
    return assumptions;
}

double Assumptions::foreign_of(core::NodeId node) const {
    const auto found = std::find_if(foreign.begin(), foreign.end(),
                                    [&](const ForeignTraffic& one) { return one.node == node; });
    return found == foreign.end() ? 0 : found->bits_per_second;
}

bool Correction::correct_value(double& value, double ratio, Strength& strength) {
    if (std::abs(ratio - 1) < agree) {
        return false;
    }
    const double missing = std::log(ratio);
    if (missing * strength.last < 0) {
        strength.power = std::max(strength.power / 2, 0.25);
    } else if (std::abs(missing) > 0.6 * std::abs(strength.last) && strength.last != 0) {
        strength.power = std::min(strength.power * 2, 16.0);
    }
    strength.last = missing;
    const double most = std::log(4.0);
    value *= std::exp(std::clamp(missing * strength.power, -most, most));
    return true;
}

bool Correction::correct_links(std::vector<double>& links, const ShownRun& twin, core::Role role,
                               const Limits& limits) {
    const bool of_both_roles = limits.producer_links && limits.consumer_links;
    const Moved wanted = moved_by(run_, role);
    const Moved found = moved_by(twin, role);
    bool changed = false;
    const auto groups = groups_of(wanted);
    for (const auto& group : groups) {
        if (group.empty() || (limits.exceptions && &group == &groups.front())) {
            continue;
        }
        double link = links[group.front()];
        if (!correct_value(link, missing_speed(wanted, found, group, run_.duration_s, of_both_roles),
                           links_[std::pair(role, group.front())])) {
            continue;
        }
        link = within_interface(run_, link, interface_links(run_, role)[group.front()]);
        changed = changed || link != links[group.front()];
        for (const std::size_t i : group) {
            links[i] = link;
        }
    }
    return changed;
}

bool Correction::correct(Assumptions& assumptions, const ShownRun& twin) {
    bool changed = false;
    const auto is_corrected = [&](core::Role role) {
        return assumptions.limits.has(role) && !changes_at_interface_speed(run_, assumptions.limits, role);
    };
    if (is_corrected(core::Role::producer)) {
        changed = correct_links(assumptions.producer_links, twin, core::Role::producer, assumptions.limits);
    }
    if (is_corrected(core::Role::consumer)) {
        changed = correct_links(assumptions.consumer_links, twin, core::Role::consumer, assumptions.limits) ||
                  changed;
    }
    if (told_ == Latency::none) {
        return changed;
    }
    // In proportion: how often an event waits for a message on its way depends on the plan.
    const bool from_slots = told_ == Latency::from_slots;
    const double there = from_slots ? twin.unseen_slot_s() : twin.waiting_share();
    const double here = from_slots ? run_.unseen_slot_s() : run_.waiting_share();
    double latency = std::max(assumptions.latency_s, 1e-7);
    if (there > 0 && here > 0 && correct_value(latency, here / there, latency_)) {
        latency = std::clamp(latency, 1e-9, longest_latency_of(run_));
        changed = changed || std::abs(latency - assumptions.latency_s) > 1e-6;
        assumptions.latency_s = latency;
    }
    return changed;
}

}  // namespace weir::twin
