// Exit statuses of `weir`, the same for every command.
#pragma once

namespace weir::participant {

inline constexpr int exit_ok = 0;      ///< ran, and every check asked for held
inline constexpr int exit_failed = 1;  ///< could not run to its end, or what arrived is not what was sent
inline constexpr int exit_usage = 2;   ///< bad command line or input
inline constexpr int exit_requirement = 3;    ///< ran, but something that --require asks for did not hold
inline constexpr int exit_signal_base = 128;  ///< plus the number of the signal that ended the run

}  // namespace weir::participant
