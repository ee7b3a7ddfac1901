#include "simulation/proved_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "files/formatting.hpp"
#include "judge/cause_text.hpp"
#include "simulation/lateness.hpp"
#include "simulation/margin.hpp"

namespace weir::simulation {

namespace {

using judge::CauseEvidence;
using judge::CauseKind;
using judge::NamedCause;
using show::RunRecord;

/// What a run would have been with a relaxation that does not suffice.
std::string what_is_left(const RunRecord& record, const SimulatedOutcome& outcome) {
    const judge::Verdict& verdict = record.verdict;
    std::string text =
        outcome.late_sets == 0
            ? "every set would have been on time, but "
            : fmt::format(
                  "{} of {} would have been late, by at most {}, instead of {}, by at "
                  "most {}",
                  outcome.late_sets, files::counted(verdict.sets, "set"), files::readable(outcome.late_by),
                  verdict.late_sets, files::readable(late_by(record)));
    if (outcome.late_sets == 0 && outcome.lost_events == 0) {
        return text + "the run not sustained";
    }
    if (verdict.lost_events > 0) {
        text += fmt::format("{}{} lost instead of {}", outcome.late_sets == 0 ? "" : ", and ",
                            files::counted(outcome.lost_events, record.plan.builds() ? "fragment" : "event"),
                            verdict.lost_events);
    }
    return text;
}

std::string effect_of(const RunRecord& record, const SimulatedOutcome& outcome) {
    if (!outcome.suffices && !outcome.only_just) {
        return what_is_left(record, outcome);
    }
    const bool lost = record.verdict.lost_events > 0;
    const std::string good = record.verdict.late_sets > 0 ? fmt::format("every set would have been on time{}",
                                                                        lost ? ", and nothing lost" : "")
                             : lost                       ? "nothing would have been lost"
                                                          : "the run would have been sustained";
    return good + (outcome.only_just ? fmt::format(", but only just: not with links {0} slower, times "
                                                   "{0} longer and other seeds",
                                                   files::percent(margin))
                                     : "");
}

const RelaxedStep& step_of(const Change& change) {
    return change.relaxation->steps[change.step];
}

/// All together; none if one of them is no option.
std::vector<judge::RemedyOption> options_of(const Changes& changes) {
    std::vector<judge::RemedyOption> options;
    for (const Change& change : changes) {
        const std::vector<judge::RemedyOption>& more = step_of(change).options;
        if (more.empty()) {
            return {};
        }
        options.insert(options.end(), more.begin(), more.end());
    }
    for (judge::RemedyOption& option : options) {
        std::erase(option.value, ' ');  // as on command lines: 2Gb/s
    }
    return options;
}

std::string with_all(const Changes& changes) {
    std::string text;
    for (const Change& change : changes) {
        text += (text.empty() ? "" : ", and ") + step_of(change).with;
    }
    return text;
}

/// "too few slots; links of consumers".
std::string text_of(const std::vector<const Relaxation*>& relaxations) {
    std::vector<std::string> names;
    for (const Relaxation* relaxation : relaxations) {
        NamedCause cause;
        cause.what = relaxation->what;
        cause.where = relaxation->where;
        cause.evidence = CauseEvidence::proof;
        names.push_back(judge::subject_of(cause));
    }
    return fmt::format("{}", fmt::join(names, "; "));
}

/// Of a run that more than two limits hold up.
std::string needed_text(const Tried& tried) {
    return fmt::format(
        "with all of {} relaxed at once it would have been good, but not without any of {}: {}",
        files::counted(tried.limits, "limit"), tried.needed.size(), text_of(tried.needed));
}

/// The end of a sentence on a cause that takes away most, and not all.
std::string what_else(bool other_suffices, const Tried& tried) {
    const std::string not_enough = "; that is not enough by itself";
    return not_enough + (other_suffices          ? "."
                         : !tried.needed.empty() ? ": " + needed_text(tried) + "."
                         : tried.partners        ? ", nor with any one of the other limits relaxed, too."
                                                 : ", and what else it takes was not tried.");
}

/// What has one step has no amount.
bool is_least(const Found& found) {
    return found.is_least ||
           std::all_of(found.changes.begin(), found.changes.end(),
                       [](const Change& change) { return change.relaxation->steps.size() == 1; });
}

NamedCause named(const RunRecord& record, const Found& found, std::size_t index, bool is_first,
                 const std::string& end) {
    const Change& change = found.changes[index];
    NamedCause cause;
    cause.what = change.relaxation->what;
    cause.where = change.relaxation->where;
    cause.share = found.outcome.gone;
    cause.suffices = found.outcome.suffices;
    cause.evidence = CauseEvidence::proof;
    // Of an alternative of which less may do, an amount would be no advice.
    const bool offered = !found.outcome.only_just && (is_first || is_least(found));
    cause.remedy = offered ? step_of(change).remedy : "";
    cause.options = offered ? options_of(found.changes) : std::vector<judge::RemedyOption>{};
    cause.text = fmt::format("{}{}, {}{}", with_all(found.changes),
                             found.outcome.suffices && !is_least(found) ? " (less may do)" : "",
                             effect_of(record, found.outcome), end);
    if (found.changes.size() > 1) {
        cause.together_with = found.changes[1 - index].relaxation->what;
        cause.remedy = !offered ? ""
                                : fmt::format("{} and {}", step_of(found.changes[0]).remedy,
                                              step_of(found.changes[1]).remedy);
    }
    return cause;
}

std::string goal_of(const judge::Verdict& verdict) {
    return verdict.late_sets > 0     ? "put the run on time"
           : verdict.lost_events > 0 ? "kept everything from being lost"
                                     : "made the run sustained";
}

}  // namespace

std::vector<NamedCause> named_causes(const RunRecord& record, const std::vector<Found>& found,
                                     const Tried& tried) {
    const bool any_suffices =
        std::any_of(found.begin(), found.end(), [](const Found& one) { return one.outcome.suffices; });
    std::vector<NamedCause> causes;
    for (const Found& one : found) {
        const std::string end = one.outcome.only_just ? "."
                                : !one.outcome.suffices
                                    ? what_else(any_suffices || &one != &found.front(), tried)
                                : one.changes.size() > 1 ? "; one of them alone is not enough."
                                                         : ".";
        for (std::size_t index = 0; index < one.changes.size(); ++index) {
            causes.push_back(named(record, one, index, &one == &found.front(), end));
        }
    }
    return causes;
}

NamedCause cause_not_told(const RunRecord& record, const Tried& tried, const std::optional<Found>& nearest) {
    NamedCause cause;
    cause.what = CauseKind::not_told;
    cause.evidence = CauseEvidence::proof;
    const std::string limits =
        fmt::format("{} {}", files::counted(tried.limits, "limit"), tried.limits == 1 ? "was" : "were");
    cause.text = fmt::format(
        "{} relaxed, one at a time{}, and none {}",
        tried.singles < tried.limits ? fmt::format("only {} of {}", tried.singles, limits) : limits,
        tried.pairs && tried.needed.empty() ? " and in pairs" : "", goal_of(record.verdict));
    if (!tried.needed.empty()) {
        cause.text += "; " + needed_text(tried) + ".";
    } else {
        cause.text += tried.pairs || tried.limits < 2 ? "." : "; pairs were not tried.";
    }
    if (nearest && nearest->outcome.gone > 0) {
        cause.text += fmt::format(" The nearest: {}, {}.", with_all(nearest->changes),
                                  effect_of(record, nearest->outcome));
    }
    return cause;
}

}  // namespace weir::simulation
