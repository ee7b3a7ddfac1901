// The answer that everything else is evidence for: what came out, why, what to do, and how sure that is.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/plan.hpp"
#include "judge/verdict.hpp"

namespace weir::judge {

/// One line each; empty: nothing is to be said.
struct ShortAnswer {
    std::string_view word;       ///< "SUSTAINED", "LATE", "NOT SUSTAINED" or "NOT JUDGED"
    std::string sentence;        ///< of some twenty words, with its full stop
    std::string because;         ///< the main cause, with its first numbers
    std::string to_do;           ///< what puts the run on time
    std::string_view certainty;  ///< of the cause: "certain", "likely" or "cannot tell"
};

/// What to do where a run was too short to be judged.
inline constexpr std::string_view longer_run = "Make a longer run (--duration)";

/// `simulated`: advice names options of a simulation, too.
ShortAnswer answer_of(const core::Plan& plan, const Verdict& verdict, bool simulated);

/// What was found, and the rest of what is known of causes, after what an answer has.
std::string evidence_text(const Verdict& verdict);
/// The rest of what is known of causes, after what `ShortAnswer::because` has.
std::string further_causes_text(std::span<const NamedCause> causes,
                                std::span<const NamedCause> observed = {});

/// Fills what is said of causes. `observed`: what rows show, where `causes` were proved.
void put_causes(std::span<const NamedCause> causes, std::span<const NamedCause> observed,
                const std::string& advice, bool simulated, ShortAnswer& answer);

/// The lines of the answer as terminals have them, each begun by its subject in so many columns.
std::string answer_lines(const ShortAnswer& answer, std::size_t subject_width, bool terminal);

}  // namespace weir::judge
