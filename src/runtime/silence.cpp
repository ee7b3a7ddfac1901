#include "runtime/silence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

namespace weir::runtime {

namespace {

const std::string& host_of(const RunSettings& settings, int rank) {
    return settings.places[static_cast<std::size_t>(rank)].host;
}

/// "3 more ranks on fn03, fn04 and 7 other hosts"
std::string others_text(const RunSettings& settings, const std::vector<int>& ranks) {
    constexpr std::size_t most_named = 4;
    std::vector<std::string> hosts;
    for (const int rank : ranks) {
        if (std::find(hosts.begin(), hosts.end(), host_of(settings, rank)) == hosts.end()) {
            hosts.push_back(host_of(settings, rank));
        }
    }
    const std::size_t unnamed = hosts.size() > most_named ? hosts.size() - most_named : 0;
    hosts.resize(hosts.size() - unnamed);
    return fmt::format("{} more {} on {}{}", ranks.size(), ranks.size() == 1 ? "rank" : "ranks",
                       fmt::join(hosts, ", "),
                       unnamed == 0   ? std::string{}
                       : unnamed == 1 ? std::string(" and 1 other host")
                                      : fmt::format(" and {} other hosts", unnamed));
}

/// Whether `silent` is every rank on every other host, there are several such hosts, and no rank on the own
/// host is silent: then it is the own host that is cut off.
bool hears_no_other_host(const RunSettings& settings, int self, const std::vector<int>& silent) {
    const std::string& own = host_of(settings, self);
    std::set<std::string> other_hosts;
    std::size_t ranks = 0;
    for (int rank = 0; rank < settings.roles.ranks(); ++rank) {
        if (host_of(settings, rank) != own) {
            other_hosts.insert(host_of(settings, rank));
            ++ranks;
        }
    }
    return other_hosts.size() > 1 && silent.size() == ranks &&
           std::none_of(silent.begin(), silent.end(),
                        [&](int rank) { return host_of(settings, rank) == own; });
}

std::string cut_off_text(const RunSettings& settings, const PeerWatch& watch, int self,
                         const std::vector<int>& silent, core::Instant now) {
    core::Duration shortest = watch.silence(silent.front(), now);
    for (const int rank : silent) {
        shortest = std::min(shortest, watch.silence(rank, now));
    }
    return fmt::format("{} hears no other host any more: none of the {} ranks there for {:.1f} s",
                       rank_text(settings, self), silent.size(), shortest.in_seconds());
}

}  // namespace

Silence explain_silence(const RunSettings& settings, const PeerWatch& watch, int self, int longest,
                        core::Instant now) {
    std::vector<int> silent = watch.all_silent(now, {settings.silence_timeout.ns / 2});
    if (hears_no_other_host(settings, self, silent)) {
        return {self, cut_off_text(settings, watch, self, silent, now)};
    }
    silent.erase(std::remove(silent.begin(), silent.end(), longest), silent.end());
    return {longest, fmt::format("{} has not been heard for {:.1f} s{}", rank_text(settings, longest),
                                 settings.silence_timeout.in_seconds(),
                                 silent.empty() ? "" : "; nor have " + others_text(settings, silent))};
}

Silence explain_signal(const RunSettings& settings, const PeerWatch& watch, int self, int signal,
                       core::Instant since, core::Duration missed_after, core::Instant now) {
    const std::string ended = fmt::format("signal {} ({}) ended the run", signal, strsignal(signal));
    if (const auto missed = watch.all_silent(now, missed_after);
        hears_no_other_host(settings, self, missed)) {
        return {self, fmt::format("{}; {}", cut_off_text(settings, watch, self, missed, now), ended)};
    }
    std::vector<int> silent = watch.all_silent(now, now - since);
    std::ptrdiff_t unseen = 0;
    for (int rank = 0; rank < settings.roles.ranks(); ++rank) {
        unseen += rank != self && !watch.sees_process_of(rank) ? 1 : 0;
    }
    const auto seen = [&](int rank) { return watch.sees_process_of(rank); };
    silent.erase(std::remove_if(silent.begin(), silent.end(), seen), silent.end());
    // If nobody is heard, the job is ending everywhere, and the others were quicker than this rank.
    if (silent.empty() || std::ssize(silent) == unseen) {
        return {};
    }
    const int longest = *std::max_element(silent.begin(), silent.end(), [&](int a, int b) {
        return watch.silence(a, now) < watch.silence(b, now);
    });
    silent.erase(std::remove(silent.begin(), silent.end(), longest), silent.end());
    return {longest, fmt::format("{} fell silent{}, and {}", rank_text(settings, longest),
                                 silent.empty() ? "" : ", as did " + others_text(settings, silent), ended)};
}

Silence explain_failed_transfer(const RunSettings& settings, const PeerWatch& watch, int self, int peer,
                                const std::string& why, core::Duration missed_after, core::Instant now) {
    const std::vector<int> silent = watch.all_silent(now, missed_after);
    if (hears_no_other_host(settings, self, silent)) {
        return {self, fmt::format("{}; {}", cut_off_text(settings, watch, self, silent, now), why)};
    }
    return {peer, fmt::format("{} and {} cannot talk to each other any more: {}", rank_text(settings, self),
                              rank_text(settings, peer), why)};
}

}  // namespace weir::runtime
