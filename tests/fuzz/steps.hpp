// What happens to a node of the protocol, as the fuzzers' inputs write it: a plan, then steps, each a byte
// with its kind and what belongs to it. Read by the harnesses, written by write_corpus.cpp.
#pragma once

#include <cstdint>

#include "core/messages.hpp"
#include "core/units.hpp"
#include "fuzz_input.hpp"

namespace weir::fuzz {

enum class Step : std::uint8_t { message, time, chunk, chunks_left, result, finish, loss };
inline constexpr std::uint32_t step_count = 7;
/// More of them show nothing new, and take long.
inline constexpr int steps_max = 400;

inline core::NodeId take_node(FuzzInput& input) {
    const auto role = static_cast<core::Role>(input.below(3));
    return {role, role == core::Role::scheduler ? 0 : std::uint32_t{input.take<std::uint8_t>()}};
}

/// A message as it lies in memory; another kind where there is none of its number, so that no input is
/// wasted.
inline core::ControlMessage take_message(FuzzInput& input) {
    const auto message = input.take<core::ControlMessage>();
    return core::is_message(message) ? message : core::ControlMessage{core::Heartbeat{}};
}

/// Later by up to 2^31 us; a clock does not go back.
inline void pass_time(FuzzInput& input, core::Instant& now) {
    now = now + core::Duration::microseconds(input.take<std::uint32_t>() >> 1U);
}

}  // namespace weir::fuzz
