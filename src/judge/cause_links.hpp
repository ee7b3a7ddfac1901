// The rules for links and for the network between them.
#pragma once

#include <optional>

#include "judge/cause_rules.hpp"

namespace weir::judge {

/// Whether the time of transfers is more than any other owner's, and enough.
bool is_for_links(const HeldRun& run);

/// The link of one rank, of whichever stands out more.
std::optional<NamedCause> link_of_one(const HeldRun& run);
/// The links of all consumers or producers; not_told, if they are full and it does not show whose.
std::optional<NamedCause> links_of_all(const HeldRun& run);
/// What counters show of the network between the links.
std::optional<NamedCause> network_mechanism(const HeldRun& run);
/// That, where simulated senders were slowed down by marks or notifications and no link was full: the most
/// that links were seen to carry is then what senders were allowed.
std::optional<NamedCause> slowed_beside_open_links(const HeldRun& run);
/// That, where packets were lost, no interface carried its nominal speed and no data wait before links.
std::optional<NamedCause> losses_beside_open_links(const HeldRun& run);

}  // namespace weir::judge
