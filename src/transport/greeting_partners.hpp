// Who greets whom before second 0: one greeting each way between the scheduler and every other rank, and one
// from every consumer to every producer, so that the connections that control packets take exist before
// anything is measured. Both sides compute from the roles how many there are; there is nothing to agree on.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.hpp"
#include "core/role_map.hpp"

namespace weir::transport {

struct GreetingPartners {
    std::vector<int> to;        ///< ranks that this one greets
    std::int64_t expected = 0;  ///< greetings that come
};

[[nodiscard]] GreetingPartners greeting_partners(core::NodeId self, const core::RoleMap& roles);

}  // namespace weir::transport
