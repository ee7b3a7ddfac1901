#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "files/formatting.hpp"
#include "judge/cause_interfaces.hpp"
#include "judge/cause_outages.hpp"
#include "judge/cause_rules.hpp"
#include "record/pairs.hpp"
#include "record/rows.hpp"
#include "record/second_clock.hpp"

namespace weir::judge {

using core::Duration;
using core::Role;

namespace {

constexpr double stalled_share_min = 0.10;
constexpr double lost_share_min = 0.01;  ///< of the generated events, on the way

// What follows from the plan or an incident alone.

/// The part of all late sets that is alike for all producers: they share consumers. 1 without late sets.
double common_lateness(const HeldRun& run) {
    std::vector<std::uint64_t> late;
    for (const record::RankRecord& rank : run.ranks) {
        if (rank.summary.node.role == Role::producer) {
            late.push_back(rank.summary.sets_in_time.late);
        }
    }
    std::sort(late.begin(), late.end());
    const std::uint64_t all = std::accumulate(late.begin(), late.end(), std::uint64_t{0});
    return all <= late.size() ? 1
                              : std::min(1.0, static_cast<double>(late[late.size() / 2] * late.size()) /
                                                  static_cast<double>(all));
}

/// Only lateness that begins while a consumer is away, or soon after its rate is back.
std::optional<NamedCause> consumers_lost(const HeldRun& run) {
    if (run.facts.recovery == nullptr) {
        return std::nullopt;
    }
    const std::int64_t first = run.held.first_trouble_second;
    const std::int64_t intervals = 1 + run.plan.interval.ns / record::ns_per_second;
    for (const record::ConsumerLoss& loss : run.facts.recovery->losses) {
        const std::int64_t silent = record::second_of(loss.silent_since);
        std::int64_t over = loss.sank() ? loss.recovered_second : silent;
        if (over == record::no_second || !loss.back_at) {
            over = record::second_of(core::Instant{run.plan.duration.ns});  // it lasted to the end
        }
        over = std::max(over, loss.back_at ? record::second_of(*loss.back_at) : over) + intervals;
        const bool after = !was_late_before(run, loss.silent_since);
        if (after && (first == record::no_second || (first >= silent && first <= over))) {
            NamedCause cause = cause_of(
                CauseKind::lost_consumers, common_lateness(run),
                fmt::format("{} was lost in second {}, and until then every set was on time.",
                            files::node_text(core::node_of(loss.consumer)), silent),
                "give producers more --buffer for the time in which a loss is not noticed, a shorter "
                "--silence-timeout, or more consumers");
            cause.where = core::node_of(loss.consumer);
            return cause;
        }
    }
    return std::nullopt;
}

std::optional<NamedCause> buffer_below_set(const HeldRun& run) {
    const core::Plan& plan = run.plan;
    // Where sets are late as well, a larger buffer only holds them for longer.
    if (plan.generation != core::Generation::sets || plan.addressed() || plan.buffer >= plan.set_bytes() ||
        (run.held.late_sets > 0 && run.held.dropped == 0)) {
        return std::nullopt;
    }
    return cause_of(CauseKind::buffer, 1,
                    fmt::format("a set is {} and the buffer {}: it does not fit when it is generated.",
                                files::readable(plan.set_bytes()), files::readable(plan.buffer)),
                    "make --buffer at least as large as a set");
}

/// What hosts dropped before any socket had it: in the receive rings of NICs, and in the queues behind them.
std::uint64_t dropped_before_sockets(const HeldRun& run) {
    const record::DatagramAccount* const account = run.facts.datagrams;
    if (account == nullptr) {
        return 0;
    }
    // Counters are those of whole hosts: what is few beside the missing may be of others.
    const std::int64_t dropped = account->explained.interface + account->explained.softnet;
    return dropped * 2 >= account->missing ? static_cast<std::uint64_t>(dropped) : 0;
}

/// Where datagrams were dropped, and what helps there.
struct DropPlace {
    CauseKind what;
    std::string text;
    std::string remedy;
};

/// All that may be on its way to a consumer at a time, with a header for each chunk; two digits, upwards.
core::Bytes on_the_way_to_one(const core::Plan& plan) {
    constexpr std::int64_t header = 64;
    const std::uint64_t transfers = std::min(std::uint64_t{plan.slots} * plan.fragments_per_event(),
                                             std::uint64_t{plan.streams} * plan.producers);
    const std::uint64_t chunks = plan.chunks_per_fragment();  // a window ends where a datagram has left
    const double bytes =
        static_cast<double>(transfers * chunks) * static_cast<double>(plan.chunk_size.count + header);
    const double grain = std::pow(10, std::floor(std::log10(std::max(bytes, 10.0))) - 1);
    return {std::llround(std::ceil(bytes / grain) * grain)};
}

DropPlace drop_place(const HeldRun& run) {
    const std::uint64_t sockets = run.held.socket_drops;
    const std::uint64_t before = dropped_before_sockets(run);
    if (before > sockets) {
        return {CauseKind::host_loss,
                fmt::format("; hosts dropped {} in full receive rings, before they reached a socket",
                            files::counted(before, "packet")),
                run.facts.simulated != nullptr
                    ? "try --shaping, or larger receive rings of hosts (switch file: [host] ring-packets)"
                    : "try --shaping, or larger receive rings and queues of hosts (`ethtool -G`, "
                      "net.core.netdev_max_backlog)"};
    }
    const record::DatagramAccount* const account = run.facts.datagrams;
    const std::int64_t elsewhere = account != nullptr ? account->unexplained() : 0;
    if (sockets > 0 && std::cmp_less_equal(elsewhere, sockets)) {
        return {CauseKind::host_loss,
                fmt::format("; {} were dropped at full sockets of consumers",
                            files::counted(sockets, "datagram")),
                fmt::format(
                    "use sockets that hold {} (--socket-buffer), which is all that may be on its way to a "
                    "consumer at a time; or --shaping",
                    files::readable(on_the_way_to_one(run.plan)))};
    }
    return {CauseKind::switch_loss,
            elsewhere > 0 ? fmt::format("; {} are in no host's counters",
                                        files::counted(static_cast<std::uint64_t>(elsewhere), "datagram"))
                          : "",
            "the line `datagrams` shows where they were lost; try --shaping, or a switch with more memory"};
}

/// A lost fragment holds its stream and its slot until it is given up, which looks like a slow scheduler.
std::optional<NamedCause> datagrams_lost(const HeldRun& run) {
    const HoldUp& held = run.held;
    const double lost =
        fraction(static_cast<double>(held.lost_on_the_way), static_cast<double>(held.generated_events));
    // What links cannot carry is lost before them: more memory there would only lose it later.
    if (held.lost_on_the_way == 0 || (lost < lost_share_min && held.held_up > 0) ||
        interfaces_too_slow(run)) {
        return std::nullopt;
    }
    const std::string held_up =
        held.held_up > 0
            ? fmt::format(
                  ", and each held a stream and a slot until it was given up, {} after it "
                  "was sent",
                  files::readable(run.plan.fragment_timeout * (std::int64_t{run.plan.reasks} + 1)))
            : "";
    const DropPlace place = drop_place(run);
    return cause_of(place.what, lost,
                    fmt::format("{} of the {} did not arrive whole{}{}.",
                                files::loss_share(held.lost_on_the_way, held.generated_events),
                                run.plan.builds() ? "fragments" : "events", held_up, place.text),
                    place.remedy);
}

/// When the longest stall of the rank began, at the earliest: its end is known by its second.
core::Instant earliest_begin(const record::RankSummary& stalled) {
    return core::Instant{stalled.poll_gap_second_with_drain * record::ns_per_second} -
           stalled.poll_gap_max_with_drain;
}

/// Begins before the first lateness and ends not long before it.
bool is_near(const HeldRun& run, const record::RankSummary& stalled) {
    const std::int64_t first = run.held.first_trouble_second;
    const std::int64_t over =
        stalled.poll_gap_second_with_drain + 1 + run.plan.interval.ns / record::ns_per_second;
    return !was_late_before(run, earliest_begin(stalled)) &&
           (first == record::no_second ||
            (first >= record::second_of(earliest_begin(stalled)) && first <= over));
}

/// Share of the measured time; a stall that began in it may end in the drain.
double stalled_share(const record::RankSummary& rank) {
    return std::min(1.0, fraction(rank.stalled_with_drain, rank.covered));
}

/// Whether a rank stood still for as long as explains the lateness: once, or again and again.
bool explains(const HeldRun& run, const record::RankSummary& stalled) {
    const double share = stalled_share(stalled);
    const bool often = share >= stalled_share_min && share >= 0.7 * run.held.shortfall &&
                       stalled.stalled_with_drain >= stalled.poll_gap_max_with_drain * 3;
    const std::int64_t longest_ns = stalled.poll_gap_max_with_drain.ns;
    const Duration late = run.held.worst_lateness.value_or(Duration::max());
    const Duration at_most{longest_ns + longest_ns / 3 + run.plan.interval.ns / 5};
    const bool once = longest_ns >= Duration::milliseconds(50).ns && late <= at_most && is_near(run, stalled);
    // A producer holds up itself, and with pattern build those that have fragments of the same events.
    const bool concerns = stalled.node.role != Role::producer ||
                          (is_held_up(stalled) && (run.plan.builds() || run.held.late_sets == 0 ||
                                                   stalled.sets_in_time.late * 2 > run.held.late_sets));
    // What a consumer did not take others could.
    const bool shared = stalled.node.role == Role::consumer && !run.waits_in_turn();
    const double part = shared ? share / run.plan.consumers : share;
    constexpr double allowed = 0.1;
    return concerns && (often || once) && part + allowed >= run.held.shortfall;
}

NamedCause stall_of(const record::RankRecord& rank) {
    const record::RankSummary& summary = rank.summary;
    const std::string in_all = summary.stalled_with_drain <= summary.covered
                                   ? files::percent(stalled_share(summary)) + " of the time"
                                   : files::readable(summary.stalled_with_drain) + " in all, with the drain";
    return cause_at(
        CauseKind::stalled_rank, rank, stalled_share(summary),
        fmt::format("it did not run for {}, for up to {} at once, which ended in second {}.", in_all,
                    files::readable(summary.poll_gap_max_with_drain), summary.poll_gap_second_with_drain),
        "give each rank a core of its own, and look for other load on the host");
}

/// Data wait before the link of another rank, for more of the time than this one stood still.
bool waits_elsewhere(const HeldRun& run, const record::RankRecord& stalled) {
    const auto elsewhere = [&](const LinkQueue& queue) {
        return queue.stands_at_one() && queue.longest != &stalled;
    };
    return (elsewhere(run.held.consumers.queue) || elsewhere(run.held.producers.queue)) &&
           stalled_share(stalled.summary) < 0.5 * run.held.owners.network;
}

/// Consumers work all the time, and that is what events wait for.
bool works_all_the_time(const HeldRun& run) {
    constexpr double all = 0.95;
    return run.held.processing_share >= all && run.held.owners.processing >= run.enough();
}

std::optional<NamedCause> rank_stood_still(const HeldRun& run) {
    const record::RankRecord* worst = nullptr;
    for (const record::RankRecord& rank : run.ranks) {
        if (rank.summary.poll_gap_max_with_drain >= record::PollGaps::stall && explains(run, rank.summary) &&
            (worst == nullptr || rank.summary.stalled_with_drain > worst->summary.stalled_with_drain)) {
            worst = &rank;
        }
    }
    if (worst == nullptr || waits_elsewhere(run, *worst) || works_all_the_time(run) ||
        interfaces_too_slow(run) || was_cut_off(run) ||
        (run.links_full() && run.held.shortfall > 0.02 &&
         stalled_share(worst->summary) < run.held.shortfall)) {
        return std::nullopt;
    }
    return stall_of(*worst);
}

std::optional<NamedCause> generated_late(const HeldRun& run) {
    const record::RankRecord* latest = nullptr;
    double least = 0.98;
    for (const record::RankRecord& rank : run.ranks) {
        const record::RankSummary& summary = rank.summary;
        if (summary.node.role != Role::producer) {
            continue;
        }
        const auto due = static_cast<double>(due_bytes(run.plan, summary).count);
        const auto generated = static_cast<double>(summary.measured.generated.bytes.count);
        if (due > 0 && generated / due < least) {
            least = generated / due;
            latest = &rank;
        }
    }
    if (latest == nullptr) {
        return std::nullopt;
    }
    if (stalled_share(latest->summary) >= 0.5 * (1 - least)) {
        return stall_of(*latest);
    }
    return cause_at(CauseKind::stalled_rank, *latest, 1 - least,
                    fmt::format("it did not run often enough: it generated only {} of what was due.",
                                files::percent(least)),
                    "give each rank a core of its own, and look for other load on the host");
}

}  // namespace

std::optional<NamedCause> find_incident(const HeldRun& run) {
    constexpr std::array rules{consumers_lost, buffer_below_set, datagrams_lost,
                               find_outage,    rank_stood_still, generated_late};
    for (const auto rule : rules) {
        if (auto cause = rule(run)) {
            return cause;
        }
    }
    return std::nullopt;
}

}  // namespace weir::judge
