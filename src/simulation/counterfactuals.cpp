#include "simulation/counterfactuals.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "simulation/lateness.hpp"
#include "simulation/proved_text.hpp"
#include "simulation/relaxations.hpp"
#include "simulation/remedy_range.hpp"
#include "simulation/simulator.hpp"

namespace weir::simulation {

namespace {

using judge::CauseKind;
using show::RunRecord;

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
        tried_.limits = table_.size();
    }

    ProvedCauses carry_out() {
        find_single();
        try_slots_with_streams();
        if (!found_.empty() && !found_.front().outcome.suffices) {
            find_partner();
        }
        if (!one_suffices()) {
            find_pair();
        }
        if (budget_.has_remedies) {
            refine();
        }
        if (stopped_ && !out_of_time()) {
            return {.causes = {}, .simulations = done_, .interrupted = true};
        }
        ProvedCauses proved{.causes = named_causes(record_, found_, tried_), .simulations = done_};
        if (proved.causes.empty()) {
            proved.causes.push_back(cause_not_told(record_, tried_, nearest_));
        }
        proved.was_cut_short =
            stopped_ || (!one_suffices() && (tried_.singles < table_.size() || !tried_.pairs));
        return proved;
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
        const bool has_amount = !std::all_of(changes.begin(), changes.end(), [](const Change& change) {
            return change.relaxation->ends_fault;
        });
        if (outcome.suffices && has_amount) {
            outcome.suffices =
                std::all_of(conditions_.begin(), conditions_.end(), [&](const RunChange& condition) {
                    return outcome_under(condition, changes, bears).suffices;
                });
            outcome.only_just = !outcome.suffices;
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
                               .interruption = [&](core::Instant) { return must_stop() ? SIGINT : 0; },
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
        if (outcome.complete) {
            outcome.gone = outcome.suffices ? 1 : badness_.gone_in(record);
        }
        return outcome;
    }

    [[nodiscard]] bool out_of_time() const {
        return budget_.processor_s > 0 && watchers_.processor_s &&
               watchers_.processor_s() - begin_s_ > budget_.processor_s;
    }
    [[nodiscard]] bool must_stop() const {
        return (watchers_.interrupted && watchers_.interrupted()) || out_of_time();
    }

    /// All of them, several at a time, as far as the budget goes; the outcomes are in the order of the
    /// changes. Without `bears` none bears anything.
    std::vector<SimulatedOutcome> try_all(const std::vector<Changes>& all,
                                          const std::vector<Bears>& bears = {}) {
        const std::size_t count = std::min(all.size(), budget_.simulations - done_);
        std::vector<SimulatedOutcome> outcomes(count);
        std::atomic<std::size_t> next{0};
        std::mutex reporting;
        const std::size_t before = done_;
        known_ = std::max(known_, before + count);
        const auto work = [&] {
            for (;;) {
                const std::size_t index = next.fetch_add(1);
                if (index >= count || must_stop()) {
                    return;
                }
                outcomes[index] = outcome_of(all[index], bears.empty() ? Bears::nothing : bears[index]);
                if (must_stop() && !outcomes[index].complete) {
                    return;
                }
                const std::lock_guard lock(reporting);
                ++done_;
                if (watchers_.progress) {
                    watchers_.progress(done_, known_);
                }
            }
        };
        work_on_threads(std::max<std::size_t>(std::min<std::size_t>(jobs_, count), 1) - 1, work, work);
        stopped_ = stopped_ || must_stop() || done_ < before + count;
        return outcomes;
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
        std::vector<SimulatedOutcome> outcomes = try_all(all, bears);
        tried_.singles = std::min(outcomes.size(), done_);
        try_fewer(all, outcomes);
        keep_causes(all, outcomes);
        if (!found_.empty() || badness_.value() <= 0) {
            return;
        }
        // Most runs have a cause that suffices: only now is it worth while to look what takes away most.
        std::erase_if(all,
                      [](const Changes& changes) { return changes.front().relaxation->where.has_value(); });
        keep_causes(all, try_all(all, std::vector<Bears>(all.size(), Bears::little)));
    }

    /// Where the most of a count is too many, fewer may suffice, and become the widest step.
    void try_fewer(std::vector<Changes>& all, std::vector<SimulatedOutcome>& outcomes) {
        std::vector<Changes> fewer;
        std::vector<std::size_t> of;
        for (std::size_t i = 0; i < outcomes.size() && !outcomes[i].suffices; ++i) {
            const std::size_t most = table_[i].steps.size() - 1;
            for (std::size_t third = 1; table_[i].can_be_too_much && third < 3; ++third) {
                if (const std::size_t step = most * third / 3; step > most * (third - 1) / 3) {
                    fewer.push_back({{&table_[i], step}});
                    of.push_back(i);
                }
            }
        }
        const std::vector<SimulatedOutcome> found = try_all(fewer);
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i].suffices && !outcomes[of[i]].suffices) {
                all[of[i]] = fewer[i];
                outcomes[of[i]] = found[i];
                table_[of[i]].steps.resize(fewer[i].front().step + 1);
            }
        }
    }

    /// More slots and more streams together cost as little as either: tried where what suffices alone costs
    /// more.
    void try_slots_with_streams() {
        const auto of = [this](CauseKind what) {
            return std::find_if(table_.begin(), table_.end(),
                                [what](const Relaxation& one) { return one.what == what; });
        };
        const auto slots = of(CauseKind::slots);
        const auto streams = of(CauseKind::streams);
        if (slots == table_.end() || streams == table_.end() || !one_suffices()) {
            return;
        }
        const Relaxation* first = found_.front().changes.front().relaxation;
        if (first > &*streams && !first->where) {
            const std::vector<Changes> pairs{
                {widest(*slots), widest(*streams)},
                {{&*slots, slots->steps.size() / 2}, {&*streams, streams->steps.size() / 2}}};
            const std::vector<SimulatedOutcome> outcomes = try_all(pairs);
            for (std::size_t i = 0; i < outcomes.size(); ++i) {
                if (outcomes[i].suffices) {
                    found_.insert(found_.begin() + 1, Found{pairs[i], outcomes[i]});
                    return;
                }
            }
        }
    }

    [[nodiscard]] bool one_suffices() const {
        return std::any_of(found_.begin(), found_.end(),
                           [](const Found& found) { return found.outcome.suffices; });
    }

    /// Relaxed together they are no more than one of them.
    static bool overlap(const Relaxation& a, const Relaxation& b) {
        return a.what == b.what && !(a.where && b.where);
    }

    /// What takes away most does not suffice: the cheapest that does together with it.
    void find_partner() {
        const Change first = found_.front().changes.front();
        std::vector<Changes> pairs;
        for (const Relaxation& relaxation : table_) {
            const bool suffices_alone = std::any_of(found_.begin(), found_.end(), [&](const Found& found) {
                return found.outcome.suffices && found.changes.front().relaxation == &relaxation;
            });
            if (&relaxation != first.relaxation && !suffices_alone &&
                !overlap(relaxation, *first.relaxation)) {
                pairs.push_back({first, widest(relaxation)});
            }
        }
        const std::vector<SimulatedOutcome> outcomes = try_all(pairs);
        tried_.partners = outcomes.size() == pairs.size();
        keep_pair(pairs, outcomes);
    }

    /// Two limits hold the run up, one behind the other, and relaxing one alone does little.
    void find_pair() {
        const std::vector<Changes> pairs = pairs_to_try();
        if (stopped_ || pairs.size() > budget_.simulations - done_) {
            return;
        }
        tried_.pairs = true;
        keep_pair(pairs, try_all(pairs));
    }

    /// The first that suffices: others differ by what does not matter. What is a part of it, or takes away
    /// most only, need not be named beside it.
    void keep_pair(const std::vector<Changes>& pairs, const std::vector<SimulatedOutcome>& outcomes) {
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            if (outcomes[i].suffices) {
                const CauseKind what = pairs[i][0].relaxation->what;
                const bool alike = pairs[i][1].relaxation->what == what;
                std::erase_if(found_, [&](const Found& found) {
                    return !found.outcome.suffices ||
                           (alike && found.changes.front().relaxation->what == what);
                });
                found_.insert(found_.begin(), Found{pairs[i], outcomes[i]});
                return;
            }
        }
    }

    /// With everything relaxed and one limit put back: if the run is late again, that limit is in every pair
    /// that suffices. This saves most pairs. Unknown, and so none, where not even all of them suffice.
    [[nodiscard]] std::vector<bool> is_needed() {
        std::vector<Changes> all;
        for (const Relaxation& put_back : table_) {
            all.emplace_back();
            for (const Relaxation& relaxation : table_) {
                if (&relaxation != &put_back) {
                    all.back().push_back(widest(relaxation));
                }
            }
        }
        std::vector<bool> needed(table_.size(), false);
        if (all.size() > budget_.simulations - done_) {
            return needed;
        }
        const std::vector<SimulatedOutcome> outcomes = try_all(all);
        const bool all_suffice = std::any_of(outcomes.begin(), outcomes.end(),
                                             [](const SimulatedOutcome& one) { return one.suffices; });
        for (std::size_t i = 0; all_suffice && i < outcomes.size(); ++i) {
            needed[i] = !outcomes[i].suffices;
        }
        return needed;
    }

    [[nodiscard]] bool is_first(const Relaxation& relaxation) const {
        return !found_.empty() && found_.front().changes.front().relaxation == &relaxation;
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
                const bool was_tried = tried_.partners && (is_first(table_[a]) || is_first(table_[b]));
                if (has == most && !was_tried && !overlap(table_[a], table_[b])) {
                    pairs.push_back({widest(table_[a]), widest(table_[b])});
                }
            }
        }
        for (std::size_t i = 0; most > 2 && i < needed.size(); ++i) {
            if (needed[i]) {
                tried_.needed.push_back(&table_[i]);
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

    void refine() {
        std::vector<Found*> wanted;
        for (Found& found : found_) {
            if ((budget_.refines_all || wanted.empty()) && found.outcome.suffices) {
                wanted.push_back(&found);
            }
        }
        std::vector<RemedyRange> open;
        open.reserve(wanted.size());
        for (Found* found : wanted) {
            open.emplace_back(*found);
        }
        close_in(open);
        for (const std::size_t one : {0U, 1U}) {
            open.clear();
            for (Found* found : wanted) {
                if (found->changes.size() > 1) {
                    open.emplace_back(*found, one);
                }
            }
            close_in(open);
        }
    }

    /// Looks for the smallest step that suffices, by strides from the smallest on and then by bisection: what
    /// does not suffice is soon broken off, and what does takes a whole run.
    void close_in(std::vector<RemedyRange>& open) {
        while (!stopped_) {
            std::vector<Changes> all;
            std::vector<RemedyRange*> asked;
            for (RemedyRange& range : open) {
                if (range.below < range.top) {
                    all.push_back(range.at(range.next()));
                    asked.push_back(&range);
                }
            }
            const std::vector<SimulatedOutcome> outcomes = try_all(all);
            if (outcomes.empty()) {
                break;
            }
            for (std::size_t i = 0; i < outcomes.size(); ++i) {
                asked[i]->learn(asked[i]->next(), outcomes[i]);
            }
        }
        for (const RemedyRange& range : open) {
            range.found->is_least = range.below >= range.top;
        }
    }

    const SimulatedRun& run_;
    const RunRecord& record_;
    ExplainBudget budget_;
    std::uint32_t jobs_;
    const SearchWatchers& watchers_;
    double begin_s_ = watchers_.processor_s ? watchers_.processor_s() : 0;
    std::span<const RunChange> conditions_;
    Badness badness_;
    std::vector<Relaxation> table_;
    std::vector<Found> found_;      ///< the causes, in the order in which they are named
    std::optional<Found> nearest_;  ///< what took away most
    std::size_t done_ = 0;
    std::size_t known_ = 0;  ///< simulations that are foreseen so far
    Tried tried_;
    bool stopped_ = false;
};

}  // namespace

bool needs_explanation(const RunRecord& record) {
    return record.status == show::RunStatus::complete && record.verdict.on_time && !is_good(record);
}

ProvedCauses prove_causes(const SimulatedRun& run, const RunRecord& record, const ExplainBudget& budget,
                          std::uint32_t jobs, const SearchWatchers& watchers,
                          std::span<const RunChange> conditions) {
    return CauseSearch(run, record, budget, std::max(jobs, 1U), watchers, conditions).carry_out();
}

}  // namespace weir::simulation
