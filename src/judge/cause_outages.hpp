// Outages: the network was away for a while, or lost packets on the way to or from one rank.
#pragma once

#include <optional>

#include "judge/cause_rules.hpp"

namespace weir::judge {

/// Whether more sets of some producer were late than had their deadline after `begin`: a cause lies before
/// its effect.
bool was_late_before(const HeldRun& run, core::Instant begin);

/// Nothing came to some rank for longer than ranks stood still, while the kernel waited for acknowledgements
/// in vain. A host that is busy makes ranks nap late; it does not make the kernel time out.
bool was_cut_off(const HeldRun& run);

/// The network was away for as long as explains the lateness, or lost what one rank was to get or had sent.
std::optional<NamedCause> find_outage(const HeldRun& run);

}  // namespace weir::judge
