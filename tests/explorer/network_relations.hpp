// Metamorphic relations of the models of the network: how what they report has to change, or not to, when
// what they are given is changed in a certain way. They need no other model that is right.
//
// later         all transfers later by some time: every instant moves by exactly that time
// idle          a producer and a consumer more, which have nothing to do: nothing changes
// permuted      fluid: producers and consumers in another order: the same instants in that order. Packets
// draw
//               random numbers by rank, so there hosts are permuted together with their numbers, in
//               tests/property
// memory        datagrams in equal frames through one switch: more memory for a port never loses more
// headroom      flow control with headroom for what is on the way: nothing is lost
// shares        equal transfers that begin together at equal hosts, to one consumer, end together: in the
//               fluid to 2 ns; packets within two of each producer
// conserved     of each transfer all bytes arrive once, or are reported as lost; no flow has bytes left over
#pragma once

#include <cstdint>
#include <string>

namespace weir::explorer {

/// Draws a network with traffic for each relation from the seed, and holds the models against them. Returns
/// which one is broken, and where; empty: all hold. A few milliseconds.
std::string broken_relation(std::uint64_t seed);

}  // namespace weir::explorer
