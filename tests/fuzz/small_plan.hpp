// A plan of a few nodes out of a few bytes: any pattern, policy, transport, ... that config lets pass.
#pragma once

#include "core/plan.hpp"
#include "fuzz_input.hpp"

namespace weir::fuzz {

/// Bytes that small_plan takes.
inline constexpr std::size_t plan_bytes = 48;

core::Plan small_plan(FuzzInput& input);

}  // namespace weir::fuzz
