// Causes as sentences for people: the one place where their words are chosen.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "judge/causes.hpp"

namespace weir::judge {

/// "links of consumers", "the link of consumer 0 on eb07", "too few slots".
std::string subject_of(const NamedCause& cause);

/// Stands in the text of links that are slower than their interfaces say.
inline constexpr std::string_view slower_than_interfaces = " each where interfaces have ";
/// "too few slots", or "too few slots, together with processing on consumers"; there must be one.
std::string main_subject(std::span<const NamedCause> causes);
/// "Or processing on consumers: with ...", of those after the first and what it takes besides.
std::string other_causes_text(std::span<const NamedCause> causes);
/// "Main cause: too few slots. With 2 slots ... Or processing on consumers: with ...". Causes that were
/// simulated are alternatives, causes that were only observed add up. Empty without causes.
std::string causes_text(std::span<const NamedCause> causes);

/// What can be done, the first cause's remedy first, with a capital and without a full stop: "A; or B". What
/// is not enough is advised only if nothing is, and called so. Empty: nothing is known.
std::string advice_text(std::span<const NamedCause> causes);

/// What stopped or was lost is to be kept going; where to look for the reason, a simulation does not know.
void say_where_to_look(std::span<NamedCause> causes);

}  // namespace weir::judge
