// Deadlocks of a lossless network: whether routes allow one. Packets that wait in a switch keep memory of the
// link on which they came, and so pause it; if the routes make such links wait for each other in a circle, a
// deadlock is possible (Dally and Seitz, 1987; Hu et al., "Deadlocks in Datacenter Networks: Why Do They
// Form, and How to Avoid Them", HotNets 2016: necessary, and not sufficient).
#pragma once

#include <vector>

#include "packet/topology.hpp"

namespace weir::packet {

/// Links between switches that may have to wait for each other in a circle, in the order in which packets
/// take them; empty: there is no such circle. Without the cables marked in `unused`, by number; empty: with
/// all. Hosts send to all others.
std::vector<LinkIndex> buffer_cycle(const Topology& topology, const std::vector<bool>& unused = {});

}  // namespace weir::packet
