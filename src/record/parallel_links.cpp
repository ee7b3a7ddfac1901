#include "record/parallel_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "files/formatting.hpp"

namespace weir::record {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

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
    const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    Json all = Json::array();
    for (const ParallelLinkTotals& total : totals) {
        Json links = Json::array();
        for (std::size_t index = 0; index < total.of.links.size(); ++index) {
            const ParallelLink& link = total.of.links[index];
            links.push_back({{"from", link.from},
                             {"port", link.port},
                             {"to", link.to},
                             {"sent_bytes", total.sent_bytes[index]}});
        }
        const std::optional<LoadBalance> balance = balance_of(total.sent_bytes);
        all.push_back({{"switch", total.of.at},
                       {"direction", total.of.outgoing ? "out" : "in"},
                       {"most_over_mean", balance ? Json(balance->most_over_mean) : Json()},
                       {"jain_index", balance ? Json(balance->jain_index) : Json()},
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
               : fmt::format(
                     "of {} parallel links {} {} the most loaded had {:.2f} x the mean (Jain index {:.3f})",
                     worst->of.links.size(), worst->of.outgoing ? "from" : "to", worst->of.at,
                     of_worst.most_over_mean, of_worst.jain_index);
}

}  // namespace weir::record
