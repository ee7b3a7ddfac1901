#include "simulation/counterfactuals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "files/formatting.hpp"
#include "judge/cause_text.hpp"
#include "simulation/lateness.hpp"
#include "simulation/relaxations.hpp"
#include "simulation/simulator.hpp"

namespace weir::simulation {

namespace {

using judge::CauseEvidence;
using judge::CauseKind;
using judge::NamedCause;
using show::RunRecord;

/// A relaxation, relaxed as far as one of its steps.
struct Change {
    const Relaxation* relaxation = nullptr;
    std::size_t step = 0;
};
using Changes = std::vector<Change>;

struct SimulatedOutcome {
    bool complete = false;  ///< not broken off, and no failure
    bool suffices = false;
    double gone = 0;  ///< of the run's badness, 0 to 1
    std::uint64_t late_sets = 0;
    core::Duration late_by{};  ///< at worst
    std::uint64_t lost_events = 0;
};

/// A cause that was found, or two that are one together, with the steps that the remedy names.
struct Found {
    Changes changes;
    SimulatedOutcome outcome;
};

class CauseSearch {
  public:
    CauseSearch(const SimulatedRun& run, const RunRecord& record, const ExplainBudget& budget,
                std::uint32_t jobs, const SearchWatchers& watchers, std::span<const RunChange> conditions)
        : run_(run),
          record_(record),
          budget_(budget),
          jobs_(jobs),
          watchers_(watchers),
          conditions_(conditions),
          badness_(record),
          table_(relaxations_of(run)) {
        std::erase_if(table_, [this](const Relaxation& relaxation) { return cannot_help(relaxation); });
        known_ = std::min(table_.size(), budget_.simulations);
    }

    ProvedCauses carry_out() {
        find_single();
        if (found_.empty()) {
            find_pair();
        }
        refine();
        if (stopped_) {
            return {.causes = {}, .simulations = done_, .interrupted = true};
        }
        return {.causes = named(), .simulations = done_, .interrupted = false};
    }

  private:
    /// Known from the run, without a simulation.
    [[nodiscard]] bool cannot_help(const Relaxation& relaxation) const {
        if (relaxation.what == CauseKind::buffer) {
            // A larger buffer makes nothing faster; it holds what would be dropped, or a set that it cannot
            // hold.
            const core::Plan& plan = run_.run.plan;
            return plan.overflow == core::Overflow::count && record_.verdict.late_sets > 0 &&
                   plan.buffer >= plan.set_bytes();
        }
        const bool of_memory = relaxation.what == CauseKind::switch_loss && !relaxation.where;
        return of_memory && record_.switches && record_.switches->sum().dropped_packets == 0;
    }

    // Simulations.

    /// How much may be late before a simulation is broken off: what is to suffice is never late, what is to
    /// take away most is hardly.
    enum class Bears : std::uint8_t { nothing, little };

    [[nodiscard]] SimulatedOutcome outcome_of(const Changes& changes, Bears bears) const {
        SimulatedOutcome outcome = outcome_under({}, changes, bears);
        for (const RunChange& condition : conditions_) {
            if (!outcome.suffices) {
                break;
            }
            const SimulatedOutcome harder = outcome_under(condition, changes, bears);
            outcome = harder.suffices ? outcome : harder;
        }
        return outcome;
    }

    [[nodiscard]] SimulatedOutcome outcome_under(const RunChange& condition, const Changes& changes,
                                                 Bears bears) const {
        SimulatedRun changed = run_;
        changed.run.directory.clear();
        changed.records_network = false;
        for (const Change& change : changes) {
            change.relaxation->steps[change.step].apply(changed);
        }
        if (condition) {
            condition(changed);
        }
        const double bearable = bears == Bears::nothing ? 0 : badness_.bearable_lateness(most_share);
        const SimulationResult result =
            simulate(changed, {.second = {},
                               .interruption = [&](core::Instant) { return interrupted() ? SIGINT : 0; },
                               .worth_going_on =
                                   [&](const Simulator& simulator) {
                                       return lateness_so_far(changed.run.plan, simulator) <= bearable;
                                   }});
        const RunRecord& record = result.record;
        SimulatedOutcome outcome;
        outcome.complete = record.status == show::RunStatus::complete;
        outcome.suffices = is_good(record);
        outcome.late_sets = record.verdict.late_sets;
        outcome.late_by = late_by(record);
        outcome.lost_events = record.verdict.lost_events;
        if (outcome.suffices) {
            outcome.gone = 1;
        } else if (outcome.complete) {
            outcome.gone = badness_.gone_in(record);
        }
        return outcome;
    }

    [[nodiscard]] bool interrupted() const { return watchers_.interrupted && watchers_.interrupted(); }

    /// All of them, several at a time, as far as the budget goes; the outcomes are in the order of the
    /// changes.
    std::vector<SimulatedOutcome> try_all(const std::vector<Changes>& all, const std::vector<Bears>& bears) {
        const std::size_t count = std::min(all.size(), budget_.simulations - done_);
        std::vector<SimulatedOutcome> outcomes(count);
        std::atomic<std::size_t> next{0};
        std::mutex reporting;
        const std::size_t before = done_;
        known_ = std::max(known_, before + count);
        const auto work = [&] {
            for (;;) {
                const std::size_t index = next.fetch_add(1);
                if (index >= count || interrupted()) {
                    return;
                }
                outcomes[index] = outcome_of(all[index], bears[index]);
                const std::lock_guard lock(reporting);
                ++done_;
                if (watchers_.progress) {
                    watchers_.progress(done_, known_);
                }
            }
        };
        work_on_threads(std::max<std::size_t>(std::min<std::size_t>(jobs_, count), 1) - 1, work, work);
        stopped_ = stopped_ || interrupted() || done_ < before + count;
        return outcomes;
    }

    std::vector<SimulatedOutcome> try_all(const std::vector<Changes>& all) {
        return try_all(all, std::vector<Bears>(all.size(), Bears::nothing));
    }

    [[nodiscard]] static Change widest(const Relaxation& relaxation) {
        return {&relaxation, relaxation.steps.size() - 1};
    }

    // Which of them are causes.

    void find_single() {
        std::vector<Changes> all;
        std::vector<Bears> bears;
        for (const Relaxation& relaxation : table_) {
            all.push_back({widest(relaxation)});
            bears.push_back(relaxation.where ? Bears::little : Bears::nothing);
        }
        const std::vector<SimulatedOutcome> outcomes = try_all(all, bears);
        singles_tried_ = outcomes.size();
        keep_causes(all, outcomes);
        if (!found_.empty()) {
            return;
        }
        // Most runs have a cause that suffices: only now is it worth while to look what takes away most.
        std::erase_if(all,
                      [](const Changes& changes) { return changes.front().relaxation->where.has_value(); });
        keep_causes(all, try_all(all, std::vector<Bears>(all.size(), Bears::little)));
    }

    /// Nothing suffices alone, and nothing takes away most: two limits hold the run up, one behind the other.
    void find_pair() {
        const std::vector<Changes> pairs = pairs_to_try();
        pairs_tried_ = pairs.size() <= budget_.simulations - done_;
        if (stopped_ || !pairs_tried_) {
            return;
        }
        keep_causes(pairs, try_all(pairs));
        // Others differ by what does not matter.
        found_.resize(std::min<std::size_t>(found_.size(), 1));
    }

    /// With everything relaxed and one limit put back: if the run is late again, that limit is in every pair
    /// that suffices. This saves most pairs.
    [[nodiscard]] std::vector<bool> is_needed() {
        Changes everything;
        for (const Relaxation& relaxation : table_) {
            everything.push_back(widest(relaxation));
        }
        std::vector<Changes> all{everything};
        for (std::size_t i = 0; i < everything.size(); ++i) {
            all.push_back(everything);
            all.back().erase(all.back().begin() + static_cast<std::ptrdiff_t>(i));
        }
        std::vector<bool> needed(table_.size(), false);
        if (all.size() > budget_.simulations - done_) {
            return needed;
        }
        const std::vector<SimulatedOutcome> outcomes = try_all(all);
        for (std::size_t i = 0; outcomes.front().suffices && i < needed.size(); ++i) {
            needed[i] = !outcomes[i + 1].suffices;
        }
        return needed;
    }

    [[nodiscard]] std::vector<Changes> pairs_to_try() {
        if (stopped_ || table_.size() < 2) {
            return {};
        }
        const std::vector<bool> needed = is_needed();
        const auto most = static_cast<std::size_t>(std::count(needed.begin(), needed.end(), true));
        std::vector<Changes> pairs;
        for (std::size_t a = 0; a < table_.size(); ++a) {
            for (std::size_t b = a + 1; b < table_.size(); ++b) {
                const std::size_t has = (needed[a] ? 1U : 0U) + (needed[b] ? 1U : 0U);
                const bool overlap =
                    table_[a].what == table_[b].what && !(table_[a].where && table_[b].where);
                if (has == most && !overlap) {
                    pairs.push_back({widest(table_[a]), widest(table_[b])});
                }
            }
        }
        return pairs;
    }

    void keep_causes(const std::vector<Changes>& all, const std::vector<SimulatedOutcome>& outcomes) {
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            if (!nearest_ || outcomes[i].gone > nearest_->outcome.gone) {
                nearest_ = Found{all[i], outcomes[i]};
            }
            if (outcomes[i].suffices || outcomes[i].gone >= most_share) {
                found_.push_back({all[i], outcomes[i]});
            }
        }
        std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
            return a.outcome.suffices != b.outcome.suffices
                       ? a.outcome.suffices
                       : !a.outcome.suffices && a.outcome.gone > b.outcome.gone;
        });
        drop_wider();
        put_one_rank_first();
    }

    /// What is said of one rank need not be said of all of its role; and once is enough.
    void drop_wider() {
        const auto is_wider = [this](const Found& wide) {
            const Relaxation& of_all = *wide.changes.front().relaxation;
            return std::any_of(found_.begin(), found_.end(), [&](const Found& other) {
                const Relaxation& narrow = *other.changes.front().relaxation;
                const bool first = &other < &wide;
                return &other != &wide && narrow.what == of_all.what && !of_all.where &&
                       (other.outcome.suffices || !wide.outcome.suffices) && (narrow.where || first);
            });
        };
        std::vector<Found> kept;
        std::copy_if(found_.begin(), found_.end(), std::back_inserter(kept),
                     [&](const Found& found) { return found.changes.size() > 1 || !is_wider(found); });
        found_ = std::move(kept);
    }

    /// If repairing one rank takes away most, that comes before what would be done to all of its role,
    /// although that suffices: it is what differs, and there is less of it.
    void put_one_rank_first() {
        for (auto wide = found_.begin(); wide != found_.end(); ++wide) {
            const Relaxation& of_all = *wide->changes.front().relaxation;
            const auto narrow = std::find_if(wide, found_.end(), [&](const Found& other) {
                const Relaxation& of_one = *other.changes.front().relaxation;
                return !of_all.where && of_one.where && of_one.what == of_all.what;
            });
            if (narrow != found_.end()) {
                std::rotate(wide, narrow, narrow + 1);
            }
        }
    }

    // Remedies.

    /// A cause that suffices, of which a smaller step is looked for. Of two together both grow at once, so
    /// that neither remedy is larger than it must be while the other could be.
    struct Range {
        explicit Range(Found& cause) : found(&cause), widest(cause.changes) {
            for (const Change& change : widest) {
                top = std::max(top, change.step);
            }
        }
        Found* found;
        Changes widest;
        std::size_t top = 0;     ///< the smallest step that is known to suffice
        std::size_t below = 0;   ///< so many steps are known not to suffice
        std::size_t stride = 0;  ///< until a step suffices: from `below` to the next one
        bool closed_in = false;  ///< a smaller step than the widest suffices

        [[nodiscard]] std::size_t next() const {
            return closed_in ? (below + top) / 2 : std::min(below + stride, top - 1);
        }
        [[nodiscard]] Changes at(std::size_t step) const {
            Changes changes = widest;
            for (Change& change : changes) {
                change.step = std::min(change.step, step);
            }
            return changes;
        }
        void learn(std::size_t step, const SimulatedOutcome& outcome) {
            if (outcome.suffices) {
                found->changes = at(step);
                found->outcome = outcome;
                top = step;
                closed_in = true;
            } else {
                below = step + 1;
                stride = std::max<std::size_t>(1, stride * 2);
            }
        }
    };

    /// Looks for the smallest step that suffices, by strides from the smallest on and then by bisection: what
    /// does not suffice is soon broken off, and what does takes a whole run.
    void refine() {
        std::vector<Range> open;
        for (Found& found : found_) {
            const bool wanted = budget_.refines_all || open.empty();
            if (wanted && found.outcome.suffices) {
                open.emplace_back(found);
            }
        }
        while (!stopped_) {
            std::vector<Changes> all;
            std::vector<Range*> asked;
            for (Range& range : open) {
                if (range.below < range.top) {
                    all.push_back(range.at(range.next()));
                    asked.push_back(&range);
                }
            }
            const std::vector<SimulatedOutcome> outcomes = try_all(all);
            if (outcomes.empty()) {
                return;
            }
            for (std::size_t i = 0; i < outcomes.size(); ++i) {
                asked[i]->learn(asked[i]->next(), outcomes[i]);
            }
        }
    }

    // Words.

    [[nodiscard]] std::string effect_of(const SimulatedOutcome& outcome) const {
        const judge::Verdict& verdict = record_.verdict;
        if (outcome.suffices) {
            const bool lost = verdict.lost_events > 0;
            return verdict.late_sets > 0
                       ? fmt::format("every set would have been on time{}", lost ? ", and nothing lost" : "")
                   : lost ? "nothing would have been lost"
                          : "the run would have been sustained";
        }
        std::string text =
            outcome.late_sets == 0
                ? "every set would have been on time, but "
                : fmt::format("{} of {} would have been late, by at most {}, instead of {}, by at most {}",
                              outcome.late_sets, files::counted(verdict.sets, "set"),
                              files::readable(outcome.late_by), verdict.late_sets,
                              files::readable(late_by(record_)));
        if (outcome.late_sets == 0 && outcome.lost_events == 0) {
            return text + "the run not sustained";
        }
        if (verdict.lost_events > 0) {
            text +=
                fmt::format("{}{} lost instead of {}", outcome.late_sets == 0 ? "" : ", and ",
                            files::counted(outcome.lost_events, record_.plan.builds() ? "fragment" : "event"),
                            verdict.lost_events);
        }
        return text;
    }

    [[nodiscard]] static const RelaxedStep& step_of(const Change& change) {
        return change.relaxation->steps[change.step];
    }

    [[nodiscard]] NamedCause cause_of(const Found& found, std::size_t index) const {
        const Change& change = found.changes[index];
        NamedCause cause;
        cause.what = change.relaxation->what;
        cause.where = change.relaxation->where;
        cause.share = found.outcome.gone;
        cause.suffices = found.outcome.suffices;
        cause.evidence = CauseEvidence::counterfactual;
        cause.remedy = step_of(change).remedy;
        if (found.changes.size() == 1) {
            cause.text = fmt::format("{}, {}.", step_of(change).with, effect_of(found.outcome));
            return cause;
        }
        const Change& other = found.changes[1 - index];
        cause.together_with = other.relaxation->what;
        cause.remedy =
            fmt::format("{} and {}", step_of(found.changes[0]).remedy, step_of(found.changes[1]).remedy);
        cause.text =
            fmt::format("{}, and {}, {}; one of them alone is not enough.", step_of(found.changes[0]).with,
                        step_of(found.changes[1]).with, effect_of(found.outcome));
        return cause;
    }

    [[nodiscard]] NamedCause not_told() const {
        NamedCause cause;
        cause.what = CauseKind::not_told;
        cause.evidence = CauseEvidence::counterfactual;
        const std::string limits = files::counted(table_.size(), "limit");
        cause.text = fmt::format("{} relaxed, one at a time{}, and none put the run on time.",
                                 singles_tried_ < table_.size()
                                     ? fmt::format("only {} of {} were", singles_tried_, limits)
                                     : limits + " were",
                                 pairs_tried_ ? " and in pairs" : "");
        if (nearest_ && nearest_->outcome.gone > 0) {
            cause.text += fmt::format(" The nearest: {}, {}.", step_of(nearest_->changes.front()).with,
                                      effect_of(nearest_->outcome));
        }
        return cause;
    }

    [[nodiscard]] std::vector<NamedCause> named() const {
        std::vector<NamedCause> causes;
        for (const Found& found : found_) {
            for (std::size_t index = 0; index < found.changes.size(); ++index) {
                causes.push_back(cause_of(found, index));
            }
        }
        if (causes.empty()) {
            causes.push_back(not_told());
        }
        return causes;
    }

    const SimulatedRun& run_;
    const RunRecord& record_;
    ExplainBudget budget_;
    std::uint32_t jobs_;
    const SearchWatchers& watchers_;
    std::span<const RunChange> conditions_;
    Badness badness_;
    std::vector<Relaxation> table_;
    std::vector<Found> found_;      ///< the causes, in the order in which they are named
    std::optional<Found> nearest_;  ///< what took away most
    std::size_t done_ = 0;
    std::size_t known_ = 0;          ///< simulations that are foreseen so far
    std::size_t singles_tried_ = 0;  ///< less than there are, if the budget is small
    bool pairs_tried_ = false;
    bool stopped_ = false;
};

}  // namespace

bool needs_explanation(const RunRecord& record) {
    return record.status == show::RunStatus::complete && record.verdict.judged && !is_good(record);
}

ProvedCauses prove_causes(const SimulatedRun& run, const RunRecord& record, const ExplainBudget& budget,
                          std::uint32_t jobs, const SearchWatchers& watchers,
                          std::span<const RunChange> conditions) {
    return CauseSearch(run, record, budget, std::max(jobs, 1U), watchers, conditions).carry_out();
}

}  // namespace weir::simulation
