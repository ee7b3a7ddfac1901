#include "twin/assumptions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::twin {

namespace {

constexpr double alike = 0.85;         ///< ranks whose links carry this share of the others' have the same
constexpr double slowest_link = 1e3;   ///< b/s
constexpr double fastest_link = 1e12;  ///< that a fluid simulation takes
constexpr double longest_latency = 1;  ///< s
constexpr double agree = 0.01;
constexpr std::size_t most_stalls = 400;

/// What the ranks of a role moved, by index.
struct Moved {
    std::vector<double> bits;
    std::vector<double> seconds;

    [[nodiscard]] double rate(std::size_t i) const { return seconds[i] > 0 ? bits[i] / seconds[i] : 0; }
};

Moved moved_by(const ShownRun& run, core::Role role) {
    Moved moved;
    const std::size_t count = role == core::Role::producer ? run.producers : run.consumers;
    moved.bits.resize(count);
    moved.seconds.resize(count);
    for (const ShownRank& rank : run.ranks) {
        if (rank.node.role == role) {
            moved.bits[rank.node.index] = rank.bits_per_second * rank.measured_s;
            moved.seconds[rank.node.index] = rank.moving_s;
        }
    }
    return moved;
}

double median(std::vector<double> values) {
    if (values.empty()) {
        return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Ranks that are alike; one that is not is alone.
std::vector<std::vector<std::size_t>> groups_of(const Moved& moved) {
    std::vector<double> rates;
    for (std::size_t i = 0; i < moved.bits.size(); ++i) {
        if (moved.rate(i) > 0) {
            rates.push_back(moved.rate(i));
        }
    }
    const double usual = median(std::move(rates));
    std::vector<std::vector<std::size_t>> groups(1);
    for (std::size_t i = 0; i < moved.bits.size(); ++i) {
        const double rate = moved.rate(i);
        if (rate == 0 || (rate >= alike * usual && rate <= usual / alike)) {
            groups.front().push_back(i);
        } else {
            groups.push_back({i});
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
/// how long something was on its way is known less well than how much of it there was.
double missing_speed(const Moved& wanted, const Moved& found, const std::vector<std::size_t>& group) {
    const double rate = rate_of(found, group);
    const double bits = sum_of(found.bits, group);
    if (rate <= 0 || bits <= 0 || rate_of(wanted, group) <= 0) {
        return 1;
    }
    const double amount = sum_of(wanted.bits, group) / bits;
    return std::abs(amount - 1) < agree ? rate_of(wanted, group) / rate : amount;
}

std::vector<double> least_links(const ShownRun& run, core::Role role) {
    const Moved moved = moved_by(run, role);
    std::vector<double> links(moved.bits.size(), fastest_link);
    for (const auto& group : groups_of(moved)) {
        const double rate = rate_of(moved, group);
        for (const std::size_t i : group) {
            links[i] = rate > 0 ? std::clamp(rate, slowest_link, fastest_link) : fastest_link;
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
    const double usual = median(means);
    double others_s = 0;
    double others = 0;
    for (const ShownRank& rank : run.ranks) {
        if (rank.node.role != core::Role::consumer || rank.processed_events < 20) {
            continue;
        }
        const double ratio = rank.processing_s / rank.processed_events / usual;
        if (ratio > 1 / alike) {
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

Assumptions assumed_of(const ShownRun& run, Limits limits) {
    Assumptions assumptions;
    assumptions.limits = limits;
    assumptions.producer_links = limits.producer_links ? least_links(run, core::Role::producer)
                                                       : std::vector(run.producers, fastest_link);
    assumptions.consumer_links = limits.consumer_links ? least_links(run, core::Role::consumer)
                                                       : std::vector(run.consumers, fastest_link);
    const ShownRank& scheduler = run.scheduler();
    assumptions.scheduler_s = scheduler.messages > 0 ? scheduler.handling_s / scheduler.messages : 0;
    // On its way there and back; what waits in the scheduler comes out when the twin is simulated.
    assumptions.latency_s =
        std::clamp(run.unseen_slot_s() / 2 - assumptions.scheduler_s, 0.0, longest_latency);
    read_processing(run, assumptions);
    read_stalls(run, assumptions);
    return assumptions;
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

bool Correction::correct_links(std::vector<double>& links, const ShownRun& twin, core::Role role) {
    const Moved wanted = moved_by(run_, role);
    const Moved found = moved_by(twin, role);
    bool changed = false;
    for (const auto& group : groups_of(wanted)) {
        if (group.empty()) {
            continue;
        }
        double link = links[group.front()];
        if (!correct_value(link, missing_speed(wanted, found, group),
                           links_[std::pair(role, group.front())])) {
            continue;
        }
        link = std::clamp(link, slowest_link, fastest_link);
        changed = changed || link != links[group.front()];
        for (const std::size_t i : group) {
            links[i] = link;
        }
    }
    return changed;
}

bool Correction::correct(Assumptions& assumptions, const ShownRun& twin) {
    bool changed = false;
    if (assumptions.limits.producer_links) {
        changed = correct_links(assumptions.producer_links, twin, core::Role::producer);
    }
    if (assumptions.limits.consumer_links) {
        changed = correct_links(assumptions.consumer_links, twin, core::Role::consumer) || changed;
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
        latency = std::clamp(latency, 1e-9, longest_latency);
        changed = changed || std::abs(latency - assumptions.latency_s) > 1e-6;
        assumptions.latency_s = latency;
    }
    return changed;
}

Assumptions with_margin(const Assumptions& assumptions, double margin) {
    Assumptions slower = assumptions;
    for (std::vector<double>* links : {&slower.producer_links, &slower.consumer_links}) {
        for (double& link : *links) {
            link *= 1 - margin;
        }
    }
    slower.latency_s *= 1 + margin;
    slower.scheduler_s *= 1 + margin;
    slower.processing_factor *= 1 + margin;
    return slower;
}

}  // namespace weir::twin
