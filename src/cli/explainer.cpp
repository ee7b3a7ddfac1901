#include "cli/explainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <optional>
#include <utility>

#include "cli/slow_network.hpp"
#include "config/usage_error.hpp"
#include "files/formatting.hpp"
#include "host/signals.hpp"
#include "judge/cause_text.hpp"
#include "simulation/counterfactuals.hpp"
#include "simulation/lateness.hpp"
#include "simulation/margin.hpp"

namespace weir::cli {

namespace {

using judge::CauseEvidence;
using judge::CauseKind;
using judge::is_direct;
using judge::NamedCause;

// Chosen on fitting seeds of bench/study causes.
constexpr double strictness = 0.15;      ///< a figure at its tolerance takes away so much of a logarithm
constexpr double slow_links = 0.1;       ///< weight of a twin with links that interfaces contradict
constexpr double each_more = 0.3;        ///< for each link that became slow beside a first one
constexpr double of_pair = 0.7;          ///< of two limits at once, beside single ones
constexpr double observed_too = 6;       ///< how much more likely is what was observed
constexpr double observed_alone = 0.05;  ///< the weight of what was observed and no twin has
constexpr double incident_alone = 0.3;   ///< the same, of what rows show directly, or no fluid can have
constexpr double nothing = 0.04;         ///< less is too little to be told
constexpr double rival = 0.5;            ///< of the best score: not told apart
constexpr double counts = 0.02;          ///< twins below this part of the best weight are not relaxed

/// Of those that are direct, what every twin has.
bool is_incident(CauseKind kind) {
    return kind == CauseKind::stalled_rank || kind == CauseKind::lost_consumers || kind == CauseKind::buffer;
}

/// Those that only a twin of packets has.
bool is_of_packets(CauseKind kind) {
    return is_direct(kind) && !is_incident(kind) && kind != CauseKind::network_failure &&
           kind != CauseKind::host_loss;  // what hosts take is not known of them
}

double weight_of(const Twin& twin) {
    const std::size_t slowed = twin.assumptions.slowed_links.size();
    return (twin.comparison.has_slow_links() ? slow_links : 1) *
           std::exp(-strictness * twin.comparison.misfit()) *
           std::pow(each_more, static_cast<double>(std::max<std::size_t>(slowed, 1) - 1));
}

/// One thing that may have held the run up.
struct Hypothesis {
    double score = 0;
    std::size_t twin = 0;               ///< the heaviest that has it; of `twins`
    double says = 0;                    ///< how much that says; 0: none has it
    const NamedCause* cause = nullptr;  ///< there
    const NamedCause* observed = nullptr;
};

class Explainer {
  public:
    Explainer(const twin::ShownRun& run, std::span<const NamedCause> observed, ExplainCost cost)
        : run_(run), observed_(observed), cost_(std::move(cost)) {}

    Explained carry_out() {
        explained_.no_twin = run_.no_twin;
        if (run_.no_twin.empty()) {
            find_twins();
        }
        relax_twins();
        const std::vector<Hypothesis> hypotheses = weigh();
        name_causes(hypotheses);
        return std::move(explained_);
    }

  private:
    using Clock = std::chrono::steady_clock;

    void find_twins() {
        std::vector<twin::Limits> assumed{{false, false}, {true, true}, {true, false}, {false, true}};
        if (twin::has_exceptions(run_)) {
            assumed.push_back({.exceptions = true});
        }
        for (const core::Role role : {core::Role::producer, core::Role::consumer}) {
            const bool sends = role == core::Role::producer;
            if (twin::links_change(run_, role)) {
                assumed.push_back({.producer_links = sends, .consumer_links = !sends, .change = true});
            }
        }
        constexpr double for_all = 0.6;  ///< of the time; the rest is for what puts them on time
        const double each = for_all / static_cast<double>(assumed.size());
        double until = 0;
        for (const twin::Limits limits : assumed) {
            until += each;
            if (out_of_time()) {
                explained_.cut_short = true;
                explained_.no_twin = "its simulations take too long";
                break;
            }
            WeighedTwin weighed;
            try {
                const auto is_out_of_time = [this] {
                    show_progress();
                    return out_of_time();
                };
                weighed.twin =
                    nearest_twin(run_, limits, is_out_of_time, [&] { return used_share() >= until; });
            } catch (const TwinFailed&) {
                explained_.no_twin = "none of its simulations came to an end";
                continue;
            } catch (const config::UsageError& error) {
                explained_.no_twin = error.what();
                continue;
            }
            weighed.weight = weight_of(weighed.twin);
            explained_.simulations += weighed.twin.simulations;
            explained_.twins.push_back(std::move(weighed));
            // What links and the switch do as planned needs no other assumption.
            const twin::TwinComparison& found = explained_.twins.back().twin.comparison;
            const bool as_planned = !limits.producer_links && !limits.consumer_links;
            if (as_planned && (run_.has_packets() ? found.near() : found.misfit() < twin::like_equal_runs)) {
                break;
            }
        }
        std::stable_sort(explained_.twins.begin(), explained_.twins.end(),
                         [](const WeighedTwin& a, const WeighedTwin& b) { return a.weight > b.weight; });
    }

    [[nodiscard]] double left_s() const {
        const double used = processor_seconds(cost_.jobs) - begin_s_;
        return std::min(cost_.processor_s - used, cost_.wall_s - passed_s());
    }
    [[nodiscard]] double passed_s() const {
        return std::chrono::duration<double>(Clock::now() - began_).count();
    }
    void show_progress() const {
        if (cost_.progress) {
            cost_.progress(passed_s());
        }
    }
    [[nodiscard]] bool out_of_time() const { return left_s() <= 0; }
    /// Of the time, of which there is as much as the scarcer of the two has.
    [[nodiscard]] double used_share() const {
        return std::max((processor_seconds(cost_.jobs) - begin_s_) / cost_.processor_s,
                        passed_s() / cost_.wall_s);
    }

    /// What is enough in each twin that counts, without a search for how much of it.
    void relax_twins() {
        for (WeighedTwin& weighed : explained_.twins) {
            if (weighed.weight >= counts * explained_.twins.front().weight && !was_good()) {
                weighed.causes = causes_in(weighed.twin, false);
            }
        }
    }

    [[nodiscard]] bool was_good() const { return run_.on_time && run_.sustained && run_.lost_events == 0; }

    std::vector<NamedCause> causes_in(const Twin& twin, bool with_remedies) {
        const double left = left_s();
        if (!simulation::needs_explanation(twin.record) || left <= 0) {
            explained_.cut_short = explained_.cut_short || left <= 0;
            return {};
        }
        constexpr std::size_t most_simulations = 400;
        const std::vector<simulation::RunChange> conditions =
            with_remedies ? simulation::margin_conditions() : std::vector<simulation::RunChange>{};
        simulation::ProvedCauses proved =
            simulation::prove_causes(twin.run, twin.record,
                                     {.simulations = most_simulations,
                                      .has_remedies = with_remedies,
                                      .refines_all = true,
                                      .processor_s = left},
                                     cost_.jobs,
                                     {.progress = [this](std::size_t, std::size_t) { show_progress(); },
                                      .interrupted = [] { return host::caught_signal() != 0; },
                                      .processor_s = [this] { return -left_s(); }},
                                     conditions);
        if (proved.interrupted) {
            throw Interrupted{host::caught_signal()};
        }
        explained_.simulations += proved.simulations;
        std::erase_if(proved.causes, [](const NamedCause& cause) {
            return cause.what == CauseKind::not_told || !cause.suffices;
        });
        for (NamedCause& cause : proved.causes) {
            cause.evidence = CauseEvidence::twin;
            cause.host = cause.where ? run_.host_of(*cause.where) : "";
        }
        blame_others(twin.assumptions, proved.causes);
        return std::move(proved.causes);
    }

    /// What was observed of this kind: at this rank, if it has one there.
    [[nodiscard]] const NamedCause* observed_of(CauseKind what, std::optional<core::NodeId> where) const {
        const NamedCause* found = nullptr;
        for (const NamedCause& one : observed_) {
            const bool of_its_links =
                what == CauseKind::other_traffic && where &&
                one.what == (where->role == core::Role::consumer ? CauseKind::consumer_links
                                                                 : CauseKind::producer_links);
            const bool fits =
                (one.what == what || of_its_links) && (!one.where || !where || one.where == where);
            found = found == nullptr && fits ? &one : found;
        }
        return found;
    }

    [[nodiscard]] bool is_in_twins(CauseKind what) const {
        return is_incident(what) || (run_.has_packets() && is_of_packets(what));
    }

    /// By how much a hypothesis is more likely because of what was observed.
    [[nodiscard]] double times(const NamedCause* observed) const {
        if (observed == nullptr || (run_.has_packets() && is_of_packets(observed->what))) {
            return 1;  // a twin of packets is marked, paused and loses as well, whatever holds it up
        }
        return 1 + observed_too * (observed == &observed_.front() ? 1 : 0.5);
    }

    /// The most likely first.
    std::vector<Hypothesis> weigh() {
        std::map<std::pair<CauseKind, std::optional<core::NodeId>>, Hypothesis> found;
        for (std::size_t i = 0; i < explained_.twins.size(); ++i) {
            const WeighedTwin& weighed = explained_.twins[i];
            for (const NamedCause& cause : weighed.causes) {
                Hypothesis& hypothesis = found[{cause.what, cause.where}];
                hypothesis.observed = observed_of(cause.what, cause.where);
                // What is enough alone is said of the twin that has it so, if that is about as good.
                constexpr double alone = 3;
                const bool is_one_of_two = cause.together_with != CauseKind::not_told;
                const double says = weighed.weight * (is_one_of_two ? 1 : alone);
                hypothesis.score +=
                    weighed.weight * (is_one_of_two ? of_pair : 1) * times(hypothesis.observed);
                if (says > hypothesis.says) {
                    hypothesis.twin = i;
                    hypothesis.says = says;
                    hypothesis.cause = &cause;
                }
            }
        }
        if (!observed_.empty() && observed_.front().what != CauseKind::not_told) {
            add_observed(found);
        }
        std::vector<Hypothesis> hypotheses;
        hypotheses.reserve(found.size());
        for (auto& [key, hypothesis] : found) {
            hypotheses.push_back(hypothesis);
        }
        std::stable_sort(hypotheses.begin(), hypotheses.end(),
                         [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
        return hypotheses;
    }

    /// What was observed first counts also where no twin has it.
    template <typename Found>
    void add_observed(Found& found) const {
        const NamedCause& first = observed_.front();
        Hypothesis* best = nullptr;
        for (auto& [key, hypothesis] : found) {
            if (hypothesis.observed == &first && (best == nullptr || hypothesis.score > best->score)) {
                best = &hypothesis;
            }
        }
        if (best == nullptr) {
            best = &found[{first.what, first.where}];
            best->observed = &first;
        }
        // Twins have incidents too: one that reproduces the run, and is late without it, refutes it.
        double refuted = 0;
        for (const WeighedTwin& weighed : explained_.twins) {
            const bool has = std::any_of(weighed.causes.begin(), weighed.causes.end(),
                                         [&](const NamedCause& one) { return one.what == first.what; });
            refuted = is_in_twins(first.what) && !weighed.causes.empty() && !has
                          ? std::max(refuted, weighed.weight)
                          : refuted;
        }
        best->score +=
            (is_direct(first.what) ? incident_alone * (1 - refuted) : observed_alone) * times(&first);
    }

    void name_causes(const std::vector<Hypothesis>& hypotheses) {
        if (was_good()) {
            return;
        }
        if (hypotheses.empty() || hypotheses.front().score < nothing) {
            name_none();
            return;
        }
        Hypothesis first = hypotheses.front();
        const bool slow_network = is_slow_network(first);
        if (slow_network) {
            const auto found = slow_role(explained_.twins);
            if (!found) {
                name_slow_network(first);
                return;
            }
            first = {.twin = found->twin, .cause = found->cause};
        }
        if (first.cause == nullptr) {
            explained_.causes.push_back(*first.observed);
        } else {
            const WeighedTwin& weighed = explained_.twins[first.twin];
            explained_.causes =
                in_order(*first.cause, causes_in(weighed.twin, true), weighed.twin.comparison.near());
        }
        NamedCause& named = explained_.causes.front();
        if (const twin::Figure* const links =
                first.cause == nullptr || named.where ? nullptr : slow_links(first.twin, named.what)) {
            named.text = fmt::format(
                "they carried {}{}{}: slower ports or cables, cables between switches, or traffic of others. "
                "{}",
                files::rate_text(links->twin), judge::slower_than_interfaces, files::rate_text(links->run),
                files::capitalised(named.text));
        }
        if (!slow_network) {
            add_rival(first, hypotheses);
        }
        judge::say_where_to_look(explained_.causes);
        if (first.cause != nullptr) {
            const auto begin = explained_.twins.begin();
            const auto place = begin + static_cast<std::ptrdiff_t>(first.twin);
            std::rotate(begin, place, place + 1);
        }
    }

    /// Links of a whole role, slower than their interfaces say, fit whatever is slow between two hosts.
    [[nodiscard]] bool is_slow_network(const Hypothesis& first) const {
        return first.cause != nullptr && first.observed == nullptr && !first.cause->where &&
               (first.cause->what == CauseKind::producer_links ||
                first.cause->what == CauseKind::consumer_links) &&
               explained_.twins[first.twin].twin.comparison.has_slow_links();
    }

    /// What the twin needs of these links, against their interfaces; nullptr: no less than those have.
    [[nodiscard]] const twin::Figure* slow_links(std::size_t twin, CauseKind what) const {
        const std::string_view name = what == CauseKind::producer_links   ? twin::producer_links_name
                                      : what == CauseKind::consumer_links ? twin::consumer_links_name
                                                                          : "";
        const auto& figures = explained_.twins[twin].twin.comparison.figures;
        const auto found = std::find_if(figures.begin(), figures.end(),
                                        [&](const twin::Figure& figure) { return figure.name == name; });
        return found == figures.end() ? nullptr : &*found;
    }

    void name_slow_network(const Hypothesis& first) {
        const twin::Figure* const own = slow_links(first.twin, first.cause->what);
        // The interfaces of the other role are those that are contradicted, if not those of this one.
        const twin::Figure& links =
            own != nullptr ? *own : explained_.twins[first.twin].twin.comparison.figures.back();
        explained_.causes.push_back({.what = CauseKind::not_told, .evidence = CauseEvidence::twin});
        explained_.causes.back().text = fmt::format(
            "links gave {} each where their interfaces have {}: slower ports or cables{}, or traffic of "
            "others.",
            files::rate_text(links.twin), files::rate_text(links.run),
            run_.has_one_leaf() ? " of producers or of consumers" : ", cables between switches");
        explained_.causes.back().remedy =
            "run one producer and one consumer at a time, on several pairs of hosts: those that are as slow "
            "share a port or cable, whose speed and errors are to be read";
    }

    void name_none() {
        if (!observed_.empty() && observed_.front().what == CauseKind::not_told) {
            explained_.causes.push_back(observed_.front());
            return;
        }
        NamedCause none{.what = CauseKind::not_told, .evidence = CauseEvidence::twin};
        none.text = "no simulation with what this run showed comes near enough to it to tell.";
        explained_.causes.push_back(std::move(none));
    }

    /// What is `enough` in a twin, of which `first` is the most likely. If the twin is near in all figures,
    /// the cheapest remedy comes first.
    [[nodiscard]] std::vector<NamedCause> in_order(const NamedCause& first, std::vector<NamedCause> enough,
                                                   bool near) const {
        const auto is_first = [&](const NamedCause& one) {
            return one.what == first.what && one.where == first.where;
        };
        const bool has_margin = std::any_of(enough.begin(), enough.end(), is_first);
        if (!has_margin && (!near || enough.empty())) {
            // Not with links a little slower or another seed, or there was no time to look.
            enough.insert(enough.begin(), first);
            enough.front().remedy.clear();
            enough.front().options.clear();
            enough.front().text =
                "without it every set would have been on time; how much of it would do is not known.";
        } else if (has_margin && !near) {
            const auto rest = std::stable_partition(enough.begin(), enough.end(), [&](const NamedCause& one) {
                return is_first(one) || (first.together_with != CauseKind::not_told &&
                                         one.what == first.together_with && one.together_with == first.what);
            });
            std::stable_partition(enough.begin(), rest, is_first);
        }
        keep_one_of_each(enough);
        // A shorter way is the dearest remedy.
        if (near && observed_of(CauseKind::control_latency, std::nullopt) == nullptr) {
            std::stable_partition(enough.begin(), enough.end(), [](const NamedCause& one) {
                return one.what != CauseKind::control_latency || one.together_with != CauseKind::not_told;
            });
        }
        enough.front().text = "in a simulation of this run, " + enough.front().text;
        if (enough.front().what == CauseKind::slots) {
            enough.front().text =
                fmt::format("producers waited for a slot for {} of the time. {}",
                            files::percent(run_.slot_share()), files::capitalised(enough.front().text));
        }
        for (NamedCause& cause : enough) {
            if (const NamedCause* const observed = observed_of(cause.what, cause.where)) {
                add_evidence(*observed, cause);
            }
        }
        return enough;
    }

    /// A link that became slow can be mended or be made faster: one cause, with the remedy that comes first.
    static void keep_one_of_each(std::vector<NamedCause>& causes) {
        std::vector<NamedCause> kept;
        kept.reserve(causes.size());
        for (NamedCause& cause : causes) {
            const bool known = std::any_of(kept.begin(), kept.end(), [&](const NamedCause& other) {
                return other.what == cause.what && other.where == cause.where &&
                       other.together_with == cause.together_with;
            });
            if (!known) {
                kept.push_back(std::move(cause));
            }
        }
        causes = std::move(kept);
    }

    /// What was observed is said first: it stands in the rows.
    static void add_evidence(const NamedCause& observed, NamedCause& cause) {
        cause.evidence = CauseEvidence::observed_and_twin;
        cause.share = observed.share;
        cause.text = observed.text + " " + files::capitalised(cause.text);
        if (!cause.where) {
            cause.where = observed.where;
            cause.host = observed.host;
        }
        if (cause.remedy.empty()) {
            cause.remedy = observed.remedy;
        }
    }

    /// What the run does not tell apart from the first.
    void add_rival(const Hypothesis& first, const std::vector<Hypothesis>& hypotheses) {
        if (first.cause == nullptr && first.observed->what == CauseKind::network_failure) {
            return;  // links that were away fit whatever makes them slow
        }
        for (const Hypothesis& other : hypotheses) {
            const bool would_do =
                std::any_of(explained_.causes.begin(), explained_.causes.end(), [&](const NamedCause& named) {
                    return other.cause != nullptr && named.what == other.cause->what;
                });
            if (other.cause == first.cause || other.score < rival * first.score || would_do ||
                other.cause == nullptr) {
                continue;
            }
            NamedCause named = *other.cause;
            named.not_told_apart = true;
            named.remedy.clear();
            named.options.clear();
            named.text = "it explains the run nearly as well.";
            explained_.causes.push_back(std::move(named));
            return;
        }
    }

    const twin::ShownRun& run_;
    std::span<const NamedCause> observed_;
    ExplainCost cost_;
    double begin_s_ = processor_seconds(cost_.jobs);
    Clock::time_point began_ = Clock::now();
    Explained explained_;
};

}  // namespace

double processor_seconds(std::uint32_t jobs) {
    timespec used{};
    clock_gettime(jobs == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

Explained explain_run(const twin::ShownRun& run, std::span<const NamedCause> observed,
                      const ExplainCost& cost) {
    return Explainer(run, observed, cost).carry_out();
}

}  // namespace weir::cli
