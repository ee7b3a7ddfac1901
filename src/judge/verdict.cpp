#include "judge/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/plan.hpp"
#include "files/formatting.hpp"
#include "judge/answer.hpp"
#include "judge/cause_text.hpp"
#include "judge/verdict_cause.hpp"
#include "judge/verdict_growth.hpp"
#include "record/second_clock.hpp"

namespace weir::judge {

namespace {

using core::Role;

/// Corrupt and duplicate events and a failed integrity check in one sentence; empty if there are none.
std::string integrity_text(std::span<const record::RankRecord> ranks, const RunFacts& facts) {
    std::uint64_t corrupt = 0;
    std::uint64_t duplicate = 0;
    for (const record::RankRecord& rank : ranks) {
        const record::RankSummary& summary = rank.summary;
        corrupt += summary.ledger_known ? summary.ledger.corrupt.events : summary.run.corrupt_events;
        duplicate += summary.ledger_known ? summary.ledger.duplicate.events : summary.run.duplicate_events;
    }
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (corrupt > 0) {
        add(files::counted(corrupt, "event") + " arrived corrupt");
    }
    if (duplicate > 0) {
        add(files::counted(duplicate, "event") + " arrived twice");
    }
    if (!facts.ledger_differences.empty()) {
        add("the integrity check failed");
    }
    return text;
}

struct Losses {
    std::uint64_t generated = 0;
    std::uint64_t by_producers = 0;  ///< dropped at overflow, or left over at the end
    std::uint64_t on_the_way = 0;
    std::uint64_t too_many = 0;  ///< of those of producers: may have come when as many waited as can
    [[nodiscard]] std::uint64_t all() const { return by_producers + on_the_way; }
};

struct Producers {
    std::vector<const record::RankRecord*> overflowing;  ///< the worst first
    std::vector<const record::RankRecord*> late;         ///< the worst first
    const record::RankRecord* fullest = nullptr;
    const record::RankRecord* least_slack =
        nullptr;  ///< the one whose data was gone latest; nullptr: not known
    std::uint64_t dropped_in_measure = 0;
    std::int64_t first_overflow_second = record::no_second;
    std::int64_t whole_seconds = 0;  ///< that all producers have
    record::SetsInTime sets;         ///< sums over all, least and first
    core::BitRate sent_mean;
};

std::int64_t earlier(std::int64_t a, std::int64_t b) {
    return a == record::no_second ? b : b == record::no_second ? a : std::min(a, b);
}

void add_sets(record::SetsInTime& sum, const record::SetsInTime& sets) {
    sum.sets += sets.sets;
    sum.late += sets.late;
    sum.first_late_second = earlier(sum.first_late_second, sets.first_late_second);
    sum.first_late_at = std::min(sum.first_late_at, sets.first_late_at);
    if (sets.least_slack) {
        sum.least_slack = std::min(sum.least_slack.value_or(*sets.least_slack), *sets.least_slack);
    }
}

Producers sum_producers(std::span<const record::RankRecord> ranks) {
    Producers found;
    found.whole_seconds = std::numeric_limits<std::int64_t>::max();
    double sent = 0;
    std::int64_t producers = 0;
    for (const record::RankRecord& rank : ranks) {
        const record::RankSummary& summary = rank.summary;
        if (summary.node.role != Role::producer) {
            continue;
        }
        ++producers;
        sent += static_cast<double>(summary.throughput().bits_per_second);
        found.whole_seconds = std::min(found.whole_seconds, summary.whole_seconds);
        found.dropped_in_measure += summary.measured.lost.events;
        if (found.fullest == nullptr || summary.max_occupancy > found.fullest->summary.max_occupancy) {
            found.fullest = &rank;
        }
        if (summary.overflowed()) {
            found.overflowing.push_back(&rank);
        }
        if (summary.sets_in_time.late > 0) {
            found.late.push_back(&rank);
        }
        const auto slack = summary.sets_in_time.least_slack;
        if (slack && (!found.sets.least_slack || *slack < *found.sets.least_slack)) {
            found.least_slack = &rank;
        }
        add_sets(found.sets, summary.sets_in_time);
        found.first_overflow_second = earlier(found.first_overflow_second, summary.first_overflow_second);
    }
    if (producers == 0) {
        found.whole_seconds = 0;
    } else {
        found.sent_mean = {static_cast<std::int64_t>(sent / static_cast<double>(producers))};
    }
    std::stable_sort(found.overflowing.begin(), found.overflowing.end(),
                     [](const record::RankRecord* a, const record::RankRecord* b) {
                         return a->summary.max_occupancy > b->summary.max_occupancy;
                     });
    std::stable_sort(
        found.late.begin(), found.late.end(), [](const record::RankRecord* a, const record::RankRecord* b) {
            const record::SetsInTime& left = a->summary.sets_in_time;
            const record::SetsInTime& right = b->summary.sets_in_time;
            return left.least_slack.value_or(core::Duration{}) < right.least_slack.value_or(core::Duration{});
        });
    return found;
}

Losses sum_losses(const core::Plan& plan, std::span<const record::RankRecord> ranks) {
    Losses losses;
    for (const record::RankRecord& rank : ranks) {
        const record::RankSummary& summary = rank.summary;
        const bool known = summary.ledger_known;
        if (summary.node.role == Role::producer) {
            losses.generated += known ? summary.ledger.generated.events : summary.run.generated.events;
            losses.by_producers += known ? summary.ledger.lost.events : summary.run.lost.events;
            if (summary.run.generated.events > core::waiting_events_limit) {
                losses.too_many += summary.measured.lost.events;
            }
        } else if (summary.node.role == Role::consumer && plan.lossy()) {
            // Otherwise what a consumer began to receive and never had whole was counted by its producer.
            losses.on_the_way += known ? summary.ledger.incomplete.events : summary.run.lost.events;
        }
    }
    return losses;
}

/// In one of a second or two, the number of a second says next to nothing.
bool is_short(const core::Plan& plan) {
    return plan.duration < core::Duration::seconds(2);
}

/// A producer that has no more room than for the set that it generates.
bool holds_one_set(const core::Plan& plan) {
    return plan.generation == core::Generation::sets && plan.buffer == plan.set_bytes() && !plan.addressed();
}

/// "worst occupancy 0.62, producer 3 on eb07 in second 120"
std::string fullest_text(const core::Plan& plan, const Producers& producers) {
    if (producers.fullest == nullptr) {
        return "no producer reported";
    }
    const record::RankSummary& summary = producers.fullest->summary;
    std::string text =
        fmt::format("worst occupancy {}, {}", files::number(summary.max_occupancy),
                    files::node_text(producers.fullest->summary.node, producers.fullest->host));
    if (summary.max_occupancy_second != record::no_second && !is_short(plan)) {
        text += fmt::format(" in second {}", summary.max_occupancy_second);
    }
    return text;
}

std::vector<std::uint32_t> indices(const std::vector<const record::RankRecord*>& ranks) {
    std::vector<std::uint32_t> list;
    list.reserve(ranks.size());
    for (const record::RankRecord* rank : ranks) {
        list.push_back(rank->summary.node.index);
    }
    return list;
}

/// " once, in second 4", " from second 4 on".
std::string overflow_time(const core::Plan& plan, const Producers& producers) {
    // Then a late set and the next one are the overflow, unless one of before the measured time was.
    const std::int64_t late_second = producers.sets.first_late_second;
    const auto of_one_set = [&](const record::RankRecord* rank) {
        const std::int64_t overflow_second = rank->summary.first_overflow_second;
        return rank->summary.overflow_seconds <= 2 && late_second >= overflow_second - 1 &&
               late_second <= overflow_second + 1;
    };
    const bool once = holds_one_set(plan) && producers.sets.late == 1 &&
                      std::all_of(producers.overflowing.begin(), producers.overflowing.end(), of_one_set);
    if (is_short(plan)) {
        return once ? " once" : "";
    }
    const std::int64_t first = producers.first_overflow_second;
    const auto only_then = [&](const record::RankRecord* rank) {
        return rank->summary.overflow_seconds == 1 && rank->summary.first_overflow_second == first;
    };
    const bool one_second =
        std::all_of(producers.overflowing.begin(), producers.overflowing.end(), only_then);
    return once || one_second ? fmt::format("{} in second {}", once ? " once," : "", first)
                              : fmt::format(" from second {} on", first);
}

std::string overflow_text(const core::Plan& plan, const Producers& producers, const Verdict& verdict) {
    const bool dropped = plan.overflow == core::Overflow::drop && producers.dropped_in_measure > 0;
    const std::string who = files::name_some("producer", verdict.overflowing_producers);
    const bool one = verdict.overflowing_producers.size() == 1;
    const std::string whose =
        fmt::format("{} {}{}", one ? "its" : "their", dropped ? "full " : "", one ? "buffer" : "buffers");
    if (verdict.first_overflow_second == record::no_second) {
        return plan.generation == core::Generation::sets
                   ? fmt::format("{} had no room for another set one interval after the last one ({}).", who,
                                 fullest_text(plan, producers))
                   : fmt::format("{} exceeded {} at the end, with events that were generated late ({}).", who,
                                 whose, fullest_text(plan, producers));
    }
    return fmt::format("{} {} {}{} ({}).", who, dropped ? "dropped events at" : "exceeded", whose,
                       overflow_time(plan, producers), fullest_text(plan, producers));
}

std::string lost_text(const core::Plan& plan, const Losses& losses) {
    const bool both = losses.by_producers > 0 && losses.on_the_way > 0;
    std::string how;
    if (losses.by_producers > 0) {
        how = both ? std::to_string(losses.by_producers) : "they";
        how += plan.overflow == core::Overflow::drop ? " were dropped at full buffers or left over at the end"
                                                     : " were not sent before the drain time was over";
        if (plan.overflow == core::Overflow::count && losses.too_many > 0) {
            how += fmt::format(", or came when {} events waited already, which is the most that can",
                               core::waiting_events_limit);
        }
    }
    if (losses.on_the_way > 0) {
        how += both ? fmt::format(", {}", losses.on_the_way) : "they";
        how += " were sent and did not arrive whole";
    }
    const char* what = plan.builds() ? "fragment" : "event";
    return fmt::format("{} of {} ({}) were lost: {}.", losses.all(), files::counted(losses.generated, what),
                       files::loss_share(losses.all(), losses.generated), how);
}

/// For a run in which some set was late.
std::string late_text(const core::Plan& plan, const Producers& producers) {
    const record::SetsInTime& sets = producers.sets;
    std::string text =
        plan.generation == core::Generation::sets
            ? fmt::format("{} of {} {} late: some data was left when the next set was generated", sets.late,
                          files::counted(sets.sets, "set"), sets.late == 1 ? "was" : "were")
            : fmt::format("In {} of {}, some data was left {} after it was generated", sets.late,
                          files::counted(sets.sets, "interval"), files::exact(plan.interval));
    text += fmt::format(" ({}, {}", files::name_some("producer", indices(producers.late)),
                        first_late_text(plan, sets));
    const record::RankRecord& worst = *producers.late.front();
    const auto slack = worst.summary.sets_in_time.least_slack;
    // What was never gone was later than that.
    const bool all_gone = worst.summary.run.lost.events == 0;
    if (slack && *slack < core::Duration{} && all_gone) {
        text += fmt::format("; {}{} late", sets.late > 1 ? "at worst " : "",
                            files::readable(core::Duration{} - *slack));
        if (producers.late.size() > 1) {
            text += ", " + files::node_text(worst.summary.node, worst.host);
        }
    }
    return text + ").";
}

/// Without the occupancy where it means nothing: a set that has just been generated fills a buffer of its
/// size.
std::string buffers_text(const core::Plan& plan, const Producers& producers) {
    return holds_one_set(plan) && producers.fullest != nullptr
               ? std::string{"No producer exceeded its buffer."}
               : fmt::format("No producer exceeded its buffer ({}).", fullest_text(plan, producers));
}

const char* on_time_text(const core::Plan& plan) {
    return plan.generation == core::Generation::sets
               ? "every set was gone before the next one was generated"
               : "all data was gone within one interval after it was generated";
}

/// "516 ms of 1.00 s, producer 1 on eb02"; there must be one.
std::string slack_text(const core::Plan& plan, const Producers& producers) {
    return fmt::format("{} of {}, {}", files::readable(*producers.sets.least_slack),
                       files::exact(plan.interval),
                       files::node_text(producers.least_slack->summary.node, producers.least_slack->host));
}

/// For a run that is sustained. What counts is the slack, so it comes first.
std::string sustained_text(const core::Plan& plan, const Producers& producers, const UnseenGrowth& unseen) {
    const std::string length = files::length_text(plan.duration);
    const bool late = producers.sets.late > 0;
    std::string text;
    if (late || producers.least_slack == nullptr) {
        text = fmt::format("Sustained{}: for {} no producer exceeded its buffer ({}).",
                           late ? ", but not on time" : "", length, fullest_text(plan, producers));
    } else {
        text = fmt::format("Sustained: for {} {}. Least slack: {}. {}", length, on_time_text(plan),
                           slack_text(plan, producers), buffers_text(plan, producers));
    }
    return unseen.is_worth_a_note()
               ? fmt::format("{} {}.", text, files::capitalised(unseen_growth_text(plan, unseen)))
               : text;
}

/// For a run that went well, as far as it went.
std::string too_short_text(const core::Plan& plan, const Producers& producers, const UnseenGrowth& unseen) {
    return fmt::format(
        "Not judged: no producer exceeded its buffer ({}), but whether that lasts is not known: {}.",
        fullest_text(plan, producers), unseen_growth_text(plan, unseen));
}

/// For a run that ended early without an overflow.
std::string ended_early_text(const core::Plan& plan, const Producers& producers) {
    return producers.whole_seconds == 0
               ? std::string{"Not judged: the run ended before its first measured second was over."}
               : fmt::format(
                     "Not judged: the run ended after {} of {}; until then no producer exceeded its buffer "
                     "({}).",
                     producers.whole_seconds, files::length_text(plan.duration),
                     fullest_text(plan, producers));
}

/// Datagrams from elsewhere take room in sockets and time of consumers: reported where they are not few.
void add_strays(std::span<const record::RankRecord> ranks, Verdict& verdict) {
    record::DatagramCounts all;
    for (const record::RankRecord& rank : ranks) {
        all += rank.summary.run.datagrams;
    }
    constexpr std::uint64_t many = 100;  // one in so many
    if (all.strays == 0 || all.strays * many < all.received) {
        return;
    }
    verdict.findings += fmt::format(" {} datagrams came into the run's sockets from elsewhere.", all.strays);
    verdict.advice += fmt::format(
        "{}find out who else sends to these hosts (tcpdump), or take another network "
        "(--datagram-network)",
        verdict.advice.empty() ? "" : "; ");
}

/// What the points of the producers show; complete runs only.
void put_growth(const Growths& growths, bool overflow, Verdict& verdict) {
    for (const Growing& growing : growths.producers) {
        verdict.growing_producers.push_back(growing.rank->summary.node.index);
    }
    if (growths.all) {
        verdict.growth_bytes_per_second = growths.all->bytes_per_second();
        verdict.growth_tolerance_bytes_per_second = growths.all->tolerance_bytes_per_second();
    }
    if (growths.in_buffers() && !overflow) {
        verdict.buffer_full_after_s = first_full_after_s(growths);
    } else if (growths.slots.overload && !overflow) {
        verdict.slots_growth_bytes_per_second = growths.slots.bytes_per_second;
        verdict.slots_full_after_s = growths.slots.full_after_s;
    }
}

/// Where all sets were gone in time and a buffer was too full in second 0 only: sets of before were there,
/// too.
std::string left_of_warmup(const core::Plan& plan, const Producers& producers) {
    const bool in_second_0 =
        !producers.overflowing.empty() &&
        std::all_of(
            producers.overflowing.begin(), producers.overflowing.end(), [](const record::RankRecord* rank) {
                return rank->summary.first_overflow_second == 0 && rank->summary.overflow_seconds == 1;
            });
    const bool holds_a_set = !plan.addressed() && plan.buffer >= plan.set_bytes();
    return in_second_0 && holds_a_set && plan.generation == core::Generation::sets
               ? ", so what exceeded a buffer was left of the warm-up; a longer --warmup shows whether it "
                 "stays"
               : "";
}

core::Duration longest_wait(const core::Plan& plan, const Producers& producers) {
    return producers.sets.least_slack ? plan.interval - *producers.sets.least_slack : core::Duration::max();
}

/// Judges a run that has a rate to sustain.
void judge_rate(const core::Plan& plan, std::span<const record::RankRecord> ranks, const RunFacts& facts,
                const Producers& producers, const Losses& losses, Verdict& verdict) {
    const bool overflow = !producers.overflowing.empty();
    const bool lost = losses.all() > 0 && facts.complete;
    const bool late = producers.sets.late > 0;
    const Growths growths = facts.complete ? find_growths(plan, ranks) : Growths{};
    put_growth(growths, overflow, verdict);
    const bool all_gone = plan.generation == core::Generation::sets && !plan.addressed() && !late;
    const UnseenGrowth unseen = facts.complete
                                    ? unseen_growth(plan, growths, all_gone, longest_wait(plan, producers))
                                    : UnseenGrowth{};
    const bool too_short = !overflow && !lost && !growths.any() && unseen.is_large();
    verdict.judged = overflow || (facts.complete && !too_short);
    verdict.sustained = verdict.judged && !overflow && !lost && !growths.any();
    if (late || lost || facts.complete) {
        verdict.on_time = !late && !lost;
    }
    verdict.findings = overflow            ? "NOT sustained: " + overflow_text(plan, producers, verdict)
                       : growths.any()     ? "NOT sustained: " + growth_text(growths)
                       : lost              ? "NOT sustained: " + lost_text(plan, losses)
                       : verdict.sustained ? sustained_text(plan, producers, unseen)
                       : too_short         ? too_short_text(plan, producers, unseen)
                                           : ended_early_text(plan, producers);
    if (late) {
        verdict.findings += ' ' + late_text(plan, producers);
    } else if (!verdict.sustained && verdict.on_time.value_or(false) && producers.least_slack != nullptr) {
        verdict.findings += fmt::format(" {} (least slack {}){}.", files::capitalised(on_time_text(plan)),
                                        slack_text(plan, producers), left_of_warmup(plan, producers));
    }
    if ((overflow || growths.any()) && lost) {
        verdict.findings += ' ' + lost_text(plan, losses);
    }
    const bool held_up = !verdict.on_time.value_or(true) || (verdict.judged && !verdict.sustained);
    if (!held_up) {
        verdict.advice = too_short ? longer_run : "";
        return;
    }
    // Where only slots fill, nobody was held up yet, so that nobody's time shows why.
    const bool only_slots = growths.slots.overload && !growths.in_buffers() && !overflow && !late && !lost;
    std::vector<NamedCause> observed =
        only_slots ? std::vector{cause_of_overload(growths.slots)} : attribute_causes(plan, ranks, facts);
    verdict.causes = facts.proved != nullptr ? *facts.proved : observed;
    verdict.observed = facts.proved != nullptr ? std::move(observed) : std::vector<NamedCause>{};
    verdict.advice = advice_text(verdict.causes);
}

}  // namespace

std::string first_late_text(const core::Plan& plan, const record::SetsInTime& sets) {
    const char* const first = sets.late > 1 ? "first " : "";
    return is_short(plan) && sets.first_late_at != core::Instant::never()
               ? fmt::format("{}{} into the measured time", first,
                             files::readable(sets.first_late_at - core::Instant{}))
               : fmt::format("{}in second {}", first, sets.first_late_second);
}

std::string_view cause_name(const Verdict& verdict) {
    return verdict.causes.empty() ? "none" : name_of(verdict.causes.front().what);
}

Verdict judge_run(const core::Plan& plan, std::span<const record::RankRecord> ranks, const RunFacts& facts) {
    Verdict verdict;
    const Producers producers = sum_producers(ranks);
    const Losses losses = sum_losses(plan, ranks);
    const bool saturate = plan.generation == core::Generation::saturate;
    verdict.max_occupancy = saturate                       ? std::numeric_limits<double>::quiet_NaN()
                            : producers.fullest == nullptr ? 0
                                                           : producers.fullest->summary.max_occupancy;
    verdict.lost_events = losses.all();
    verdict.overflowing_producers = indices(producers.overflowing);
    verdict.first_overflow_second = producers.first_overflow_second;
    verdict.sets = producers.sets.sets;
    verdict.late_sets = producers.sets.late;
    verdict.first_late_second = producers.sets.first_late_second;
    verdict.first_late_at = producers.sets.first_late_at;
    verdict.late_producers = indices(producers.late);
    verdict.least_slack = producers.sets.least_slack;
    if (!saturate) {
        judge_rate(plan, ranks, facts, producers, losses, verdict);
    } else {
        verdict.findings = fmt::format(
            "Not judged: with generation saturate there is always data to send. Producers sent {} each on "
            "average.",
            files::readable(producers.sent_mean));
        if (losses.all() > 0 && facts.complete) {
            verdict.findings += ' ' + lost_text(plan, losses);
        }
    }
    add_strays(ranks, verdict);
    if (facts.recovery != nullptr && facts.recovery->loss_count > 0) {
        verdict.findings += ' ' + record::recovery_text(*facts.recovery);
    }
    if (facts.switches != nullptr) {
        if (const std::string failures = record::failures_text(facts.switches->failures); !failures.empty()) {
            verdict.findings += ' ' + failures;
        }
    }
    if (const std::string integrity = integrity_text(ranks, facts); !integrity.empty()) {
        if (verdict.causes.empty()) {
            verdict.causes.push_back({.what = CauseKind::integrity, .share = 1, .text = integrity + "."});
        }
        if (verdict.on_time) {
            verdict.on_time = false;
        }
        const std::string what = fmt::format("the data was not delivered as it was sent: {}.", integrity);
        if (verdict.sustained) {
            verdict.sustained = false;
            verdict.findings = "NOT sustained: " + what;
        } else {
            verdict.findings += " But " + what;
        }
    }
    verdict.text = verdict.findings;
    if (!verdict.causes.empty() && verdict.causes.front().what != CauseKind::integrity) {
        verdict.text += ' ' + causes_text(verdict.causes);
    }
    return verdict;
}

}  // namespace weir::judge
