#include "record/parallel_links.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "record/json_values.hpp"

namespace weir::record {

double jain_index(std::span<const double> values) {
    double sum = 0;
    double sum_of_squares = 0;
    for (const double value : values) {
        sum += value;
        sum_of_squares += value * value;
    }
    return sum * sum / (static_cast<double>(values.size()) * sum_of_squares);
}

std::optional<LoadBalance> balance_of(std::span<const double> loads) {
    const double most = loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
    if (most <= 0) {
        return std::nullopt;
    }
    const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(loads.size());
    return LoadBalance{most / mean, jain_index(loads)};
}

std::string switch_row_time(core::Instant begin, core::Duration length, Phase phase) {
    return fmt::format("{},{},{}", files::exact_seconds(begin.ns), files::exact_seconds(length.ns),
                       phase_name(phase));
}

std::string parallel_links_file() {
    return "switch/parallel-links.csv";
}

std::string parallel_links_csv_header() {
    return "begin_s,covered_s,phase,switch,direction,links,sent_bytes,most_sent_bytes,most_over_mean,jain_"
           "index\n";
}

ParallelLinkLoads::ParallelLinkLoads(std::vector<ParallelLinks> all) {
    for (ParallelLinks& some : all) {
        for (const ParallelLink& link : some.links) {
            sent_.resize(std::max(sent_.size(), link.sender + 1));
            std::vector<double>& ports = sent_[link.sender];
            ports.resize(std::max(ports.size(), std::size_t{link.port} + 1));
        }
        const std::size_t count = some.links.size();
        totals_.push_back({std::move(some), std::vector<double>(count), {}, {}});
    }
}

void ParallelLinkLoads::add(std::size_t sender, std::uint32_t port, core::Bytes sent) {
    if (sender < sent_.size() && port < sent_[sender].size()) {
        sent_[sender][port] += static_cast<double>(sent.count);
    }
}

std::vector<double> ParallelLinkLoads::loads(std::size_t index) const {
    std::vector<double> of_links;
    for (const ParallelLink& link : totals_[index].of.links) {
        of_links.push_back(sent_[link.sender][link.port]);
    }
    return of_links;
}

std::string ParallelLinkLoads::end_row(core::Instant begin, core::Duration length, Phase phase) {
    const std::string time = switch_row_time(begin, length, phase);
    std::string lines;
    for (std::size_t index = 0; index < totals_.size(); ++index) {
        ParallelLinkTotals& total = totals_[index];
        const std::vector<double> of_links = loads(index);
        const std::optional<LoadBalance> balance = balance_of(of_links);
        if (!balance) {
            continue;
        }
        lines += fmt::format("{},{},{},{},{:.0f},{:.0f},{:.6f},{:.6f}\n", time, total.of.at,
                             total.of.outgoing ? "out" : "in", of_links.size(),
                             std::accumulate(of_links.begin(), of_links.end(), 0.0),
                             *std::max_element(of_links.begin(), of_links.end()), balance->most_over_mean,
                             balance->jain_index);
        if (phase == Phase::measure) {
            std::transform(of_links.begin(), of_links.end(), total.sent_bytes.begin(),
                           total.sent_bytes.begin(), std::plus<>());
            total.highest_most_over_mean =
                std::max(total.highest_most_over_mean.value_or(0), balance->most_over_mean);
            total.lowest_jain_index = std::min(total.lowest_jain_index.value_or(1), balance->jain_index);
        }
    }
    for (std::vector<double>& ports : sent_) {
        std::fill(ports.begin(), ports.end(), 0);
    }
    return lines;
}

nlohmann::ordered_json to_json(const std::vector<ParallelLinkTotals>& totals) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const ParallelLinkTotals& total : totals) {
        nlohmann::ordered_json links = nlohmann::ordered_json::array();
        for (std::size_t index = 0; index < total.of.links.size(); ++index) {
            const ParallelLink& link = total.of.links[index];
            links.push_back({{"from", link.from},
                             {"port", link.port},
                             {"to", link.to},
                             {"sent_bytes", total.sent_bytes[index]}});
        }
        const std::optional<LoadBalance> balance = balance_of(total.sent_bytes);
        all.push_back(
            {{"switch", total.of.at},
             {"direction", total.of.outgoing ? "out" : "in"},
             {"most_over_mean",
              balance ? nlohmann::ordered_json(balance->most_over_mean) : nlohmann::ordered_json()},
             {"jain_index", balance ? nlohmann::ordered_json(balance->jain_index) : nlohmann::ordered_json()},
             {"highest_most_over_mean", or_null(total.highest_most_over_mean)},
             {"lowest_jain_index", or_null(total.lowest_jain_index)},
             {"links", std::move(links)}});
    }
    return all;
}

std::string parallel_links_text(const std::vector<ParallelLinkTotals>& totals) {
    const ParallelLinkTotals* worst = nullptr;
    LoadBalance of_worst;
    for (const ParallelLinkTotals& total : totals) {
        const std::optional<LoadBalance> balance = balance_of(total.sent_bytes);
        if (balance && (worst == nullptr || balance->jain_index < of_worst.jain_index)) {
            worst = &total;
            of_worst = *balance;
        }
    }
    return worst == nullptr
               ? std::string{}
               : fmt::format("of {} parallel links {} {} the most loaded had {} x the mean (Jain index {})",
                             worst->of.links.size(), worst->of.outgoing ? "from" : "to", worst->of.at,
                             files::number(of_worst.most_over_mean), files::number(of_worst.jain_index));
}

std::optional<double> EvenLoads::index_of(std::span<const double> loads_bytes) const {
    const double total = std::accumulate(loads_bytes.begin(), loads_bytes.end(), 0.0);
    const std::optional<LoadBalance> balance = balance_of(loads_bytes);
    if (!balance || total < least_load_bytes_ * static_cast<double>(loads_bytes.size())) {
        return std::nullopt;
    }
    return balance->jain_index;
}

void EvenLoads::begin(std::uint32_t failure, core::Instant at, const std::vector<std::size_t>& groups) {
    UnevenLinks& begun = failures_[failure];
    begun = {.begin = at, .uneven_until = at};
    for (const std::size_t index : groups) {
        if (const std::deque<double>& rows = before_[index]; !rows.empty()) {
            begun.groups.push_back({index, *std::min_element(rows.begin(), rows.end()) - tolerance});
        }
    }
}

void EvenLoads::end(std::uint32_t failure, core::Instant at) {
    failures_[failure].end = at;
}

void EvenLoads::add_row(core::Instant begin, core::Instant end,
                        std::span<const std::optional<double>> jain_indices) {
    for (auto& [number, failure] : failures_) {
        if (begin >= failure.end) {
            continue;
        }
        for (Group& group : failure.groups) {
            const std::optional<double>& jain = jain_indices[group.index];
            if (!jain) {
                continue;
            }
            ++failure.rows;
            group.even = *jain >= group.least;
            if (!group.even) {
                failure.uneven_until = end;
            }
        }
    }
    for (std::size_t group = 0; group < before_.size(); ++group) {
        if (jain_indices[group]) {
            before_[group].push_back(*jain_indices[group]);
            if (before_[group].size() > rows_before) {
                before_[group].pop_front();
            }
        }
    }
}

void EvenLoads::follow_routes(std::uint32_t failure, std::size_t group, core::Instant begin,
                              core::Instant end) {
    UnevenLinks& left = failures_.at(failure);
    const bool judged = std::any_of(left.groups.begin(), left.groups.end(),
                                    [&](const Group& one) { return one.index == group; });
    if (judged && begin < left.end) {
        left.uneven_until = std::max(left.uneven_until, end);
    }
}

std::optional<core::Duration> EvenLoads::even_after(std::uint32_t failure) const {
    const auto found = failures_.find(failure);
    if (found == failures_.end() || found->second.rows == 0) {
        return std::nullopt;
    }
    const UnevenLinks& known = found->second;
    const bool even =
        std::all_of(known.groups.begin(), known.groups.end(), [](const Group& group) { return group.even; });
    return even ? std::optional(known.uneven_until - known.begin) : std::nullopt;
}

}  // namespace weir::record
