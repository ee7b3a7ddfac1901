#include "packet/shared_buffer.hpp"

namespace weir::packet {

SharedBuffer::SharedBuffer(const core::SwitchPlan& plan, const std::vector<core::BitRate>& port_rates)
    : plan_(plan),
      lossless_(plan.pauses_whole_links ? PriorityMask{0xff} : plan.lossless),
      priorities_told_apart_(plan.pauses_whole_links ? Priority{0} : Priority{0xff}),
      accounts_(port_rates.size() * priority_count),
      sharable_(plan.pool.count) {
    for (std::size_t port = 0; port < port_rates.size(); ++port) {
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            if (plan.pauses_whole_links ? priority != 0 : !lossless(static_cast<Priority>(priority))) {
                continue;
            }
            const std::int64_t limit = core::headroom(plan, port_rates[port]).count;
            accounts_[port * priority_count + priority].headroom_limit = limit;
            sharable_ -= limit;
        }
    }
    WEIR_ASSERT(sharable_ > 0);
}

}  // namespace weir::packet
