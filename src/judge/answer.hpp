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

ShortAnswer answer_of(const core::Plan& plan, const Verdict& verdict);

/// What was found, and the rest of what is known of causes, after what an answer has.
std::string evidence_text(const Verdict& verdict);
/// The rest of what is known of causes, after what `ShortAnswer::because` has.
std::string further_causes_text(std::span<const NamedCause> causes);

/// Fills what is said of causes.
void put_causes(std::span<const NamedCause> causes, const std::string& advice, ShortAnswer& answer);

/// The lines of the answer as terminals have them, each begun by its subject in so many columns.
std::string answer_lines(const ShortAnswer& answer, std::size_t subject_width, bool terminal);

}  // namespace weir::judge
