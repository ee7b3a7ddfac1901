#include "twin/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "record/quantiles.hpp"

namespace weir::twin {

namespace {

// Tolerances. Of shares of time, late sets and intervals in hundredths of the whole.
constexpr double goodput_tolerance = 0.02;
constexpr double late_tolerance = 10;
constexpr double share_tolerance = 10;
constexpr double spread_tolerance = 10;
constexpr double slack_tolerance = 0.10;  ///< of an interval
constexpr double worst_tolerance = 0.25;  ///< of the lateness
constexpr double time_tolerance = 0.5;    ///< of a latency
constexpr double small_time = 0.02;       ///< of an interval: latencies that differ by less are alike
constexpr double stalled_tolerance = 5;
constexpr double links_tolerance = 0.25;  ///< headers and control messages take a part of an interface

Figure absolute(std::string name, std::string unit, double run, double twin, double tolerance) {
    return {std::move(name), std::move(unit), run, twin, twin - run, tolerance, false};
}

Figure relative(std::string name, std::string unit, double run, double twin, double tolerance) {
    const double deviation = run != 0 ? twin / run - 1 : twin == 0 ? 0 : std::numeric_limits<double>::max();
    return {std::move(name), std::move(unit), run, twin, deviation, tolerance, true};
}

double late_share(const ShownRun& run) {
    return run.sets > 0 ? 100 * static_cast<double>(run.late_sets) / static_cast<double>(run.sets) : 0;
}

double mean_share(const ShownRun& run, core::Role role, double ShownRank::* share) {
    double sum = 0;
    double count = 0;
    for (const ShownRank& rank : run.ranks) {
        if (rank.node.role == role) {
            sum += rank.*share;
            ++count;
        }
    }
    return count > 0 ? 100 * sum / count : 0;
}

/// By how much the rates of ranks differ while something is under way: those of full links are even.
double spread_of_rates(const ShownRun& run, core::Role role) {
    double count = 0;
    double sum = 0;
    double squares = 0;
    for (const ShownRank& rank : run.ranks) {
        if (rank.node.role == role && rank.moving_s > 0) {
            const double rate = rank.bits_per_second * rank.measured_s / rank.moving_s;
            ++count;
            sum += rate;
            squares += rate * rate;
        }
    }
    return sum > 0 ? 100 * std::sqrt(std::max(0.0, squares * count / (sum * sum) - 1)) : 0;
}

/// Alike within a share of the value, or within a share of the interval if that is more.
Figure time_figure(std::string name, double run_us, double twin_us, double interval_s) {
    const double run = run_us * 1e-6;
    const double tolerance = std::max(time_tolerance * run, small_time * interval_s);
    return absolute(std::move(name), "s", run, twin_us * 1e-6, tolerance);
}

void add_times(TwinComparison& comparison, const char* name, const ShownTimes& run, const ShownTimes& twin,
               double interval_s) {
    if (run.count > 0) {
        comparison.figures.push_back(
            time_figure(std::string(name) + ", median", run.p50_us, twin.p50_us, interval_s));
        comparison.figures.push_back(
            time_figure(std::string(name) + ", 99 %", run.p99_us, twin.p99_us, interval_s));
    }
}

/// For how long half of the ranks or more stood still: not one of them was stopped, hosts were busy with
/// something else. A twin has hosts of its own.
void add_stalls(TwinComparison& comparison, const ShownRun& run) {
    std::vector<double> shares;
    shares.reserve(run.ranks.size());
    for (const ShownRank& rank : run.ranks) {
        shares.push_back(100 * rank.stalled_s / std::max(rank.measured_s, 1e-9));
    }
    const double usual = record::median_of(std::move(shares));
    comparison.figures.push_back(absolute(stalls_name, "%", usual, 0, stalled_tolerance));
}

}  // namespace

double Figure::excess() const {
    return tolerance > 0    ? std::abs(deviation) / tolerance
           : deviation == 0 ? 0
                            : std::numeric_limits<double>::max();
}

bool TwinComparison::near() const {
    return std::all_of(figures.begin(), figures.end(), [](const Figure& figure) { return figure.near(); });
}

bool Figure::is_of_links() const {
    return name == producer_links_name || name == consumer_links_name;
}

bool TwinComparison::has_slow_links() const {
    return std::any_of(figures.begin(), figures.end(),
                       [](const Figure& figure) { return figure.is_of_links(); });
}

double TwinComparison::misfit() const {
    constexpr double most = 6;  ///< tolerances: a figure that is farther off says no more
    double sum = 0;
    for (const Figure& figure : figures) {
        const double excess = figure.is_of_links() ? 0 : std::min(figure.excess(), most);
        sum += excess * excess;
    }
    return sum;
}

const Figure& TwinComparison::worst() const {
    return *std::max_element(figures.begin(), figures.end(),
                             [](const Figure& a, const Figure& b) { return a.excess() < b.excess(); });
}

TwinComparison compare(const ShownRun& run, const ShownRun& twin) {
    TwinComparison comparison;
    std::vector<Figure>& figures = comparison.figures;
    figures.push_back(relative("goodput", "b/s", run.goodput(), twin.goodput(), goodput_tolerance));
    figures.push_back(absolute("late sets", "%", late_share(run), late_share(twin), late_tolerance));
    // A run with late sets is not reproduced by one without, however few they are.
    if ((run.late_sets > 0) != (twin.late_sets > 0)) {
        figures.back().tolerance = 0;
    }
    const double slack_limit =
        std::max(slack_tolerance * run.interval_s, worst_tolerance * std::max(0.0, -run.least_slack_s));
    figures.push_back(absolute("least slack", "s", run.least_slack_s, twin.least_slack_s, slack_limit));
    const auto add_share = [&](const char* name, core::Role role, double ShownRank::* share) {
        figures.push_back(absolute(name, "%", mean_share(run, role, share), mean_share(twin, role, share),
                                   share_tolerance));
    };
    add_share("producers: transferring", core::Role::producer, &ShownRank::transferring);
    add_share("producers: waiting for a slot", core::Role::producer, &ShownRank::waiting_for_slot);
    add_share("producers: waiting for a grant", core::Role::producer, &ShownRank::waiting_for_grant);
    add_share("producers: waiting for data", core::Role::producer, &ShownRank::waiting_for_data);
    add_share("consumers: receiving", core::Role::consumer, &ShownRank::receiving);
    add_share("consumers: blocked", core::Role::consumer, &ShownRank::blocked);
    for (const core::Role role : {core::Role::producer, core::Role::consumer}) {
        figures.push_back(absolute(
            role == core::Role::producer ? "producers: spread of rates" : "consumers: spread of rates", "%",
            spread_of_rates(run, role), spread_of_rates(twin, role), spread_tolerance));
    }
    add_times(comparison, "scheduling", run.scheduling, twin.scheduling, run.interval_s);
    add_times(comparison, "transfer", run.transfer, twin.transfer, run.interval_s);
    add_times(comparison, "delivery", run.delivery, twin.delivery, run.interval_s);
    add_stalls(comparison, run);
    return comparison;
}

void add_slow_links(TwinComparison& comparison, const ShownRun& run, const Assumptions& assumptions) {
    for (const core::Role role : {core::Role::producer, core::Role::consumer}) {
        const bool sends = role == core::Role::producer;
        if (!(sends ? assumptions.limits.producer_links : assumptions.limits.consumer_links)) {
            continue;
        }
        const std::vector<double>& links = sends ? assumptions.producer_links : assumptions.consumer_links;
        std::vector<Figure> figures;
        for (const ShownRank& rank : run.ranks) {
            const double foreign = assumptions.foreign_of(rank.node);
            if (rank.node.role == role && rank.interface_bits_per_second > 0 && rank.events > 0) {
                figures.push_back(relative(
                    sends ? producer_links_name : consumer_links_name, "b/s", rank.interface_bits_per_second,
                    links.at(rank.node.index) / payload_share + foreign, links_tolerance));
            }
        }
        const auto middle = figures.begin() + static_cast<std::ptrdiff_t>(figures.size() / 2);
        std::nth_element(figures.begin(), middle, figures.end(),
                         [](const Figure& a, const Figure& b) { return a.deviation < b.deviation; });
        if (middle != figures.end() && middle->deviation < -links_tolerance) {
            comparison.figures.push_back(*middle);
        }
    }
}

}  // namespace weir::twin
