// How full the busiest link of a run was, beside what was counted of losses, pauses and marks: a full link
// without any of these has no room either. Of hosts the interfaces' own bytes and the speed that was read
// when the run began; of a simulation packet by packet the switches' ports.
//
// Where all speeds are known, the busiest is the one with the largest share of its speed, else the one with
// the most bytes. Means over the measured seconds: a burst does not show in them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "record/host_counters.hpp"
#include "record/switch_counters.hpp"

namespace weir::judge {

struct BusiestLink {
    std::string text;           ///< empty: there is none
    std::optional<double> use;  ///< share of its speed; nothing: that is not known
};

/// "the busiest interface, eth0 on eb01, received 8.20 Gb/s, 82 % of its speed"; where the speed is not
/// known, this is reported. None if no interface counts bytes.
BusiestLink busiest_link(std::span<const record::HostCounters> hosts);

/// "the busiest port, to consumer-0, was used 98 % of 10.00 Gb/s". None if nothing was sent.
BusiestLink busiest_link(const record::SwitchTotals& switches);

}  // namespace weir::judge
