// The part of FailureDetector that names the cause: one rank, and one sentence for users.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "ending/failure_detector.hpp"
#include "files/formatting.hpp"

namespace weir::ending {

namespace {

constexpr std::size_t named_max = 4;

std::string signal_text(int signal) {
    return fmt::format("signal {} ({})", signal, strsignal(signal));
}

std::vector<int> without(std::vector<int> ranks, int rank) {
    ranks.erase(std::remove(ranks.begin(), ranks.end(), rank), ranks.end());
    return ranks;
}

/// "3 more ranks on fn03, fn04 and 7 more"
std::string others_text(const job::RunSettings& settings, const std::vector<int>& ranks) {
    std::vector<std::string> hosts;
    for (const int rank : ranks) {
        const std::string& host = settings.host_of(rank);
        if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) {
            hosts.push_back(host);
        }
    }
    return fmt::format("{} more {} on {}", ranks.size(), ranks.size() == 1 ? "rank" : "ranks",
                       files::listed(hosts, named_max));
}

/// Small messages, such as heartbeats, get through where an MTU on the way is too small, and large ones
/// vanish.
std::string mtu_hint(const std::string& host) {
    return fmt::format(
        "; if small messages come through and large ones do not, an MTU on the way is too small "
        "(`ping -M do -s 8972 {}` with jumbo frames, -s 1472 without)",
        host);
}

}  // namespace

std::string process_gone_text(const job::RunSettings& settings, int rank) {
    return fmt::format("{} is gone: its process does not exist any more", rank_text(settings, rank));
}

/// Whether `silent` is every rank on every other host, there are several such hosts, and no rank on the own
/// host is silent: then the own host is cut off.
bool FailureDetector::hears_no_other_host(const std::vector<int>& silent) const {
    std::set<std::string> other_hosts;
    std::vector<int> ranks_there;
    for (int rank = 0; rank < settings_.roles.ranks(); ++rank) {
        if (host_of(rank) != host_of(self_)) {
            other_hosts.insert(host_of(rank));
            ranks_there.push_back(rank);
        }
    }
    return other_hosts.size() > 1 && silent == ranks_there;
}

show::Failure FailureDetector::cause_of(const Evidence& evidence) const {
    const auto of = [&](const std::string& what) { return failure_of(settings_, evidence.rank, what); };
    switch (evidence.kind) {
        case Evidence::Kind::process_gone:
            return of((evidence.text.empty() ? process_gone_text(settings_, evidence.rank)
                                             : fmt::format("{} is gone: its connection has failed: {}",
                                                           name_of(evidence.rank), evidence.text)) +
                      (evidence.hint.empty() ? "" : "; ") + evidence.hint);
        case Evidence::Kind::silence:
            return leads() ? cause_of_silence(evidence.rank) : of(silence_text(evidence.rank));
        case Evidence::Kind::failure_reported:
        case Evidence::Kind::cannot_continue:
            return of(evidence.text);
        case Evidence::Kind::transfer_failed:
        case Evidence::Kind::network_failed:
            return cause_of_failed_transfer(evidence.rank, evidence.text);
        case Evidence::Kind::exchange_timeout:
            return cause_of_timeout(evidence.missing, evidence.text);
        case Evidence::Kind::no_answer:
            return reported_ && stage_ == Stage::exchange ? *reported_ : cause_of_no_answer();
        case Evidence::Kind::signal:
        case Evidence::Kind::signal_reported:
            return {};
    }
    return {};
}

std::string FailureDetector::silence_text(int rank) const {
    return fmt::format("{} has not responded for {}", name_of(rank), files::exact(settings_.silence_timeout));
}

show::Failure FailureDetector::own_host_cut_off(const std::vector<int>& silent,
                                                const std::string& consequence) const {
    core::Duration shortest = silence_of(silent.front());
    for (const int rank : silent) {
        shortest = std::min(shortest, silence_of(rank));
    }
    return failure_of(
        settings_, self_,
        fmt::format("{} receives nothing from other hosts: none of the {} ranks there for {}{}{}",
                    name_of(self_), silent.size(), files::readable(shortest), consequence.empty() ? "" : "; ",
                    consequence));
}

show::Failure FailureDetector::cause_of_silence(int longest) const {
    // Whoever has been silent for half as long counts as silent as well.
    const std::vector<int> silent = silent_for({settings_.silence_timeout.ns / 2});
    if (hears_no_other_host(silent)) {
        return own_host_cut_off(silent, {});
    }
    const std::vector<int> others = without(silent, longest);
    return failure_of(
        settings_, longest,
        silence_text(longest) + (others.empty() ? "" : "; nor have " + others_text(settings_, others)));
}

show::Failure FailureDetector::cause_of_failed_transfer(int peer, const std::string& why) const {
    if (peer < 0 || peer >= settings_.roles.ranks() || peer == self_) {
        return failure_of(settings_, self_, fmt::format("{}: {}", name_of(self_), why));
    }
    // Only the leader gets heartbeats of all others, and only in the loop.
    if (leads() && stage_ == Stage::loop) {
        const std::vector<int> silent = silent_for(missed_limit());
        if (hears_no_other_host(silent)) {
            return own_host_cut_off(silent, why);
        }
    }
    return failure_of(
        settings_, peer,
        fmt::format("{} and {} cannot reach each other: {}", name_of(self_), name_of(peer), why));
}

show::Failure FailureDetector::cause_of_timeout(const std::vector<int>& missing,
                                                const std::string& why) const {
    if (missing.empty()) {
        return failure_of(settings_, self_,
                          fmt::format("{} {}, although all ranks answer now: they are too slow, or the "
                                      "network loses what they send (`weir check` probes it)",
                                      name_of(self_), why));
    }
    if (leads() && std::ssize(missing) + 1 == settings_.roles.ranks() && missing.size() > 1) {
        return failure_of(settings_, self_,
                          fmt::format("{} reaches no other rank any more; it {}", name_of(self_), why));
    }
    const auto elsewhere = std::find_if(missing.begin(), missing.end(),
                                        [&](int rank) { return host_of(rank) != host_of(self_); });
    return failure_of(
        settings_, missing.front(),
        fmt::format("{} {} not answer; {} {}{}", ranks_text(settings_, missing),
                    missing.size() == 1 ? "does" : "do", name_of(self_), why,
                    elsewhere == missing.end() ? std::string{} : mtu_hint(host_of(*elsewhere))));
}

show::Failure FailureDetector::cause_of_no_answer() const {
    // MPI itself may hang on the leader: Open MPI's TCP does when a rank on another host ends.
    const std::string leader = name_of(leader_);
    return failure_of(
        settings_, leader_,
        signal_ == 0 ? fmt::format("{} did not answer when the run had to end", leader)
                     : fmt::format("{} came, and {} did not answer; if another rank has died, the launcher "
                                   "names it",
                                   signal_text(signal_), leader));
}

/// Behind the signal: the own host, if all others were silent for long, or a rank whose process is not
/// watched and which was silent after the signal although others were not. Nothing: no rank's failure.
std::optional<show::Failure> FailureDetector::cause_of_signal() const {
    const std::string ended = signal_text(signal_) + " ended the run";
    if (const std::vector<int> missed = silent_for(missed_limit()); hears_no_other_host(missed)) {
        return own_host_cut_off(missed, ended);
    }
    std::vector<int> silent = silent_for(now_ - signalled_at_);
    const auto watched = [&](int rank) { return watched_[static_cast<std::size_t>(rank)]; };
    silent.erase(std::remove_if(silent.begin(), silent.end(), watched), silent.end());
    const auto unwatched = std::count(watched_.begin(), watched_.end(), false) - 1;  // this rank is, too
    // If all ranks are silent, the job is ending everywhere, and the others were quicker than this rank.
    if (silent.empty() || std::ssize(silent) == unwatched) {
        return std::nullopt;
    }
    const int longest = *std::max_element(silent.begin(), silent.end(),
                                          [&](int a, int b) { return silence_of(a) < silence_of(b); });
    const std::vector<int> others = without(silent, longest);
    return failure_of(settings_, longest,
                      fmt::format("{} fell silent{}, and {}", name_of(longest),
                                  others.empty() ? "" : ", as did " + others_text(settings_, others), ended));
}

}  // namespace weir::ending
