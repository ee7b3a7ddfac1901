#include "packet/shared_buffer.hpp"

#include <algorithm>

#include "core/assertion.hpp"

namespace weir::packet {

namespace {

std::int64_t share(double alpha, std::int64_t free) {
    return static_cast<std::int64_t>(alpha * static_cast<double>(std::max<std::int64_t>(free, 0)));
}

}  // namespace

SharedBuffer::SharedBuffer(const core::SwitchPlan& plan, const std::vector<core::BitRate>& port_rates)
    : plan_(plan), accounts_(port_rates.size() * priority_count), sharable_(plan.pool.count) {
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

std::int64_t SharedBuffer::ingress_threshold() const {
    return plan_.ingress_threshold.count > 0 ? plan_.ingress_threshold.count
                                             : share(plan_.ingress_alpha, free());
}

std::int64_t SharedBuffer::egress_threshold() const {
    return plan_.egress_threshold.count > 0 ? plan_.egress_threshold.count
                                            : share(plan_.egress_alpha, free());
}

bool SharedBuffer::admit(std::uint32_t ingress_port, Priority priority, std::int64_t bytes,
                         std::int64_t queued) {
    Account& source = account(ingress_port, priority);
    if (lossless(priority)) {
        if (source.shared + bytes > ingress_threshold() || bytes > free()) {
            if (source.headroom + bytes > source.headroom_limit) {
                // The pause ends when a packet of this port leaves: there must be one.
                source.refused = source.shared > 0;
                return false;
            }
            source.headroom += bytes;
            in_headroom_ += bytes;
            peak_ = std::max(peak_, used());
            return true;
        }
    } else if (queued + bytes > egress_threshold() || bytes > free()) {
        return false;
    }
    source.shared += bytes;
    shared_ += bytes;
    peak_ = std::max(peak_, used());
    return true;
}

void SharedBuffer::release(std::uint32_t ingress_port, Priority priority, std::int64_t bytes) {
    Account& source = account(ingress_port, priority);
    const std::int64_t from_headroom = std::min(source.headroom, bytes);
    source.headroom -= from_headroom;
    in_headroom_ -= from_headroom;
    source.shared -= bytes - from_headroom;
    shared_ -= bytes - from_headroom;
    WEIR_ASSERT(source.shared >= 0 && shared_ >= 0 && in_headroom_ >= 0);
}

bool SharedBuffer::must_pause(std::uint32_t ingress_port, Priority priority) const {
    if (!lossless(priority)) {
        return false;
    }
    const Account& source = account(ingress_port, priority);
    return !source.paused && (source.headroom > 0 || source.refused ||
                              (source.shared > 0 && source.shared >= ingress_threshold()));
}

bool SharedBuffer::may_resume(std::uint32_t ingress_port, Priority priority) const {
    const Account& source = account(ingress_port, priority);
    return source.paused && source.headroom == 0 &&
           (source.shared == 0 || source.shared + plan_.resume_offset.count <= ingress_threshold());
}

}  // namespace weir::packet
