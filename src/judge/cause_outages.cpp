#include "judge/cause_outages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "files/formatting.hpp"
#include "judge/cause_interfaces.hpp"

namespace weir::judge {

using core::Duration;
using core::Instant;
using core::Role;

namespace {

/// Ranks to which nothing came at the same time.
struct Silence {
    Instant begin;  ///< of the longest
    Instant end;
    std::vector<const record::RankRecord*> ranks;  ///< the longest first; empty: nobody was cut off

    [[nodiscard]] Duration length() const { return end - begin; }
};

constexpr Duration least_timeout = Duration::milliseconds(200);  ///< of TCP, which may wait for longer

bool counts_tcp(const HeldRun& run) {
    return run.facts.simulated == nullptr && run.facts.network != nullptr;
}

/// Of all hosts.
TcpLosses tcp_losses(const HeldRun& run) {
    TcpLosses sum;
    for (const TcpLosses& host : run.facts.network->tcp) {
        sum.sent += host.sent;
        sum.resent += host.resent;
        sum.timeouts += host.timeouts;
    }
    return sum;
}

Instant silence_begin(const record::RankSummary& rank) {
    return rank.silence_end - rank.silence_with_drain;
}

Silence longest_silence(const HeldRun& run) {
    if (tcp_losses(run).timeouts == 0) {
        return {};
    }
    Silence silence;
    Duration stood_still;
    for (const record::RankRecord& rank : run.ranks) {
        stood_still = std::max(stood_still, rank.summary.poll_gap_max_with_drain);
        if (rank.summary.silence_with_drain > silence.length()) {
            silence = {silence_begin(rank.summary), rank.summary.silence_end, {&rank}};
        }
    }
    // A rank that is stopped reads what came meanwhile a little later than it goes on.
    if (silence.length() < least_timeout || silence.length().ns <= stood_still.ns + stood_still.ns / 2) {
        return {};
    }
    for (const record::RankRecord& rank : run.ranks) {
        const Duration common = std::min(silence.end, rank.summary.silence_end) -
                                std::max(silence.begin, silence_begin(rank.summary));
        if (&rank != silence.ranks.front() && common.ns * 2 >= silence.length().ns) {
            silence.ranks.push_back(&rank);
        }
    }
    return silence;
}

const record::RankRecord* scheduler_of(const HeldRun& run) {
    const auto found = std::find_if(run.ranks.begin(), run.ranks.end(), [](const record::RankRecord& rank) {
        return rank.summary.node.role == Role::scheduler;
    });
    return found == run.ranks.end() ? nullptr : &*found;
}

/// Who was cut off: the only one to which nothing came, or the scheduler, if nothing came to anybody.
/// nullptr: several ranks.
const record::RankRecord* cut_off(const HeldRun& run, const Silence& silence) {
    if (silence.ranks.size() == 1) {
        return silence.ranks.front();
    }
    const record::RankRecord* const scheduler = scheduler_of(run);
    const bool all = silence.ranks.size() + 1 == run.ranks.size();
    return all ? scheduler : nullptr;
}

std::string names_of(const std::vector<const record::RankRecord*>& ranks) {
    constexpr std::size_t listed = 3;
    std::vector<std::string> names;
    names.reserve(ranks.size());
    for (const record::RankRecord* const rank : ranks) {
        names.push_back(files::node_text(rank->summary.node, rank->host));
    }
    if (names.size() > listed) {
        return fmt::format("{} of the ranks, {} among them", names.size(), names.front());
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// The network was away for as long as explains the lateness.
std::optional<NamedCause> network_gone(const HeldRun& run) {
    const Silence silence = longest_silence(run);
    const Duration length = silence.length();
    const Duration late = run.held.worst_lateness.value_or(Duration::max());
    const Duration at_most{length.ns + length.ns / 3 + run.plan.interval.ns / 5};
    if (silence.ranks.empty() || late > at_most || was_late_before(run, silence.begin)) {
        return std::nullopt;
    }
    const record::RankRecord* const where = cut_off(run, silence);
    const bool of_one = silence.ranks.size() == 1;
    const std::string who = where == nullptr ? "to " + names_of(silence.ranks)
                            : of_one         ? "to it"
                                             : "from it or to it";
    const std::string text =
        fmt::format("nothing came {} from {} to {}, though data was under way and ranks ran; {}.", who,
                    files::instant((silence.begin - Instant{}).in_seconds()),
                    files::instant((silence.end - Instant{}).in_seconds()),
                    files::counted(tcp_losses(run).timeouts, "TCP time-out"));
    const double share = fraction(length, silence.ranks.front()->summary.covered);
    constexpr const char* remedy = "look at links, switches and cables on this way";
    return where != nullptr ? cause_at(CauseKind::network_failure, *where, share, text, remedy)
                            : cause_of(CauseKind::network_failure, share, text, remedy);
}

/// nullptr: there are several, or none.
const record::RankRecord* only_producer_on(const HeldRun& run, const std::string& host) {
    const record::RankRecord* found = nullptr;
    for (const record::RankRecord& rank : run.ranks) {
        if (rank.summary.node.role == Role::producer && rank.host == host) {
            if (found != nullptr) {
                return nullptr;
            }
            found = &rank;
        }
    }
    return found;
}

/// The producer whose host had nearly all time-outs, or the consumer that was slow beside the others while
/// data came to it. nullptr: neither.
const record::RankRecord* end_of_losses(const HeldRun& run, std::uint64_t of_all) {
    constexpr double nearly_all = 0.8;
    constexpr double slow = 0.65;  ///< of the others' rate
    for (const TcpLosses& host : run.facts.network->tcp) {
        if (static_cast<double>(host.timeouts) >= nearly_all * static_cast<double>(of_all) &&
            run.plan.producers > 1) {
            return only_producer_on(run, host.host);
        }
    }
    const LinkUse& consumers = run.held.consumers;
    return consumers.slowest != nullptr && consumers.slowest_bits < slow * consumers.others_bits
               ? consumers.slowest
               : nullptr;
}

/// Whether TCP can have carried the data: hosts count all of their connections, and RDMA's data are in none.
bool tcp_carries(const HeldRun& run, const TcpLosses& all) {
    constexpr double segment_bytes_max = 9000;
    double received = 0;
    for (const record::RankRecord& rank : run.ranks) {
        if (rank.summary.node.role == Role::consumer) {
            received += static_cast<double>(rank.summary.measured.received.bytes.count);
        }
    }
    return static_cast<double>(all.sent) * segment_bytes_max >= received;
}

/// Packets were lost on one rank's way, again and again: TCP waited for its time-outs for much of the time. A
/// full link loses packets as well, and TCP sends these again before it times out.
std::optional<NamedCause> packets_lost(const HeldRun& run) {
    constexpr std::uint64_t some = 5;
    constexpr double much = 0.05;  ///< of the measured time, on each host that timed out
    const TcpLosses all = tcp_losses(run);
    const auto hosts = std::count_if(run.facts.network->tcp.begin(), run.facts.network->tcp.end(),
                                     [](const TcpLosses& host) { return host.timeouts > 0; });
    const double waited = fraction(static_cast<double>(all.timeouts) * least_timeout.in_seconds(),
                                   run.plan.duration.in_seconds() * static_cast<double>(hosts));
    if (all.timeouts < some || waited < much || run.held.held_up == 0 || !tcp_carries(run, all) ||
        interfaces_too_slow(run)) {
        return std::nullopt;
    }
    const record::RankRecord* const where = end_of_losses(run, all.timeouts);
    if (where == nullptr) {
        return std::nullopt;
    }
    const bool sends = where->summary.node.role == Role::producer;
    return cause_at(CauseKind::network_failure, *where, std::max(waited, run.held.owners.network),
                    fmt::format("packets {} it were lost on the way: {}, and {} of the segments were sent "
                                "again.",
                                sends ? "from" : "to", files::counted(all.timeouts, "TCP time-out"),
                                files::loss_share(all.resent, all.sent)),
                    "look at its link, cable and the port of the switch: errors, drops, MTU");
}

}  // namespace

bool was_late_before(const HeldRun& run, Instant begin) {
    const std::int64_t before = std::max<std::int64_t>(0, begin.ns) / run.plan.interval.ns;
    return std::any_of(run.ranks.begin(), run.ranks.end(), [&](const record::RankRecord& rank) {
        const record::SetsInTime& sets = rank.summary.sets_in_time;
        return rank.summary.node.role == Role::producer &&
               sets.late + static_cast<std::uint64_t>(before) > sets.sets && sets.late > 0;
    });
}

bool was_cut_off(const HeldRun& run) {
    return counts_tcp(run) && !longest_silence(run).ranks.empty();
}

std::optional<NamedCause> find_outage(const HeldRun& run) {
    if (!counts_tcp(run)) {
        return std::nullopt;
    }
    auto cause = network_gone(run);
    return cause ? std::move(cause) : packets_lost(run);
}

}  // namespace weir::judge
