#include "config/link_speeds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/distributions.hpp"
#include "config/option_values.hpp"
#include "config/passes.hpp"

namespace weir::config {

namespace {

using core::BitRate;
using core::OwnLinks;

constexpr std::string_view advice = "write for example 100Gb/s,0-3=25Gb/s,7=400Gb/s";

BitRate link_speed(Text text) {
    return bounded(text, BitRate{1000}, fastest_rate);
}

OwnLinks own_links(Text text) {
    const std::size_t equals = text.find('=');
    if (equals == Text::npos) {
        throw UsageError("'{}' does not say whose speed it is; {}", text, advice);
    }
    const std::vector<std::uint32_t> hosts = parse_index_list(text.substr(0, equals));
    return {hosts.front(), hosts.back(), link_speed(text.substr(equals + 1))};
}

void check_hosts(const char* option, const std::vector<OwnLinks>& own, const char* role,
                 std::uint32_t hosts) {
    if (hosts > 0 && !own.empty() && own.back().last >= hosts) {
        throw UsageError("--{}: there is no {} {}; write indices from 0 to {}", option, role, own.back().last,
                         hosts - 1);
    }
}

}  // namespace

void parse_link_speeds(std::string_view text, BitRate& usual, std::vector<OwnLinks>& own) {
    std::size_t comma = text.find(',');
    const BitRate speed = link_speed(text.substr(0, comma));
    std::vector<OwnLinks> found;
    while (comma != Text::npos) {
        text.remove_prefix(comma + 1);
        comma = text.find(',');
        found.push_back(own_links(text.substr(0, comma)));
    }
    std::sort(found.begin(), found.end(),
              [](const OwnLinks& a, const OwnLinks& b) { return a.first < b.first; });
    for (std::size_t i = 1; i < found.size(); ++i) {
        if (found[i].first <= found[i - 1].last) {
            throw UsageError("host {} has two speeds; write it once", found[i].first);
        }
    }
    usual = speed;
    own = std::move(found);
}

std::string link_speeds_text(BitRate usual, const std::vector<OwnLinks>& own) {
    std::string text = to_text(usual);
    for (const OwnLinks& some : own) {
        text += some.first == some.last ? fmt::format(",{}={}", some.first, to_text(some.rate))
                                        : fmt::format(",{}-{}={}", some.first, some.last, to_text(some.rate));
    }
    return text;
}

void check_own_links(const RunRequest& request) {
    if (request.simulated) {
        check_hosts("producer-link", request.network.own_producer_links, "producer", request.plan.producers);
        check_hosts("consumer-link", request.network.own_consumer_links, "consumer", request.plan.consumers);
    }
}

}  // namespace weir::config
