// The memory of a switch: who may hold how much of it, when a sender is to be paused, and when a packet is
// dropped. Pure bookkeeping.
//
// Where pauses stop whole links (IEEE 802.3x), a port has one account for all priorities.
//
// Lossless priorities are counted where they come in: a (port, priority) above its threshold is paused, and
// what still comes goes into the headroom of that port and priority. Lossy ones are limited where they leave.
// The order of the checks is that of the simulator of HPCC (Li et al., SIGCOMM 2019): admission, then
// counters, then the pause at each packet that comes; the end of a pause only when one leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/assertion.hpp"
#include "packet/packet.hpp"

namespace weir::packet {

class SharedBuffer {
  public:
    /// One rate for each port.
    SharedBuffer(const core::SwitchPlan& plan, const std::vector<core::BitRate>& port_rates);

    /// Whether a packet may be stored; if so it is counted. `queued`: bytes in the queue that it is for.
    [[nodiscard]] bool admit(std::uint32_t ingress_port, Priority priority, std::int64_t bytes,
                             std::int64_t queued);
    /// A packet has left. With the port and priority with which it came.
    void release(std::uint32_t ingress_port, Priority priority, std::int64_t bytes);

    /// A packet has taken the place of another one of the same size. Of a priority that is not lossless.
    void exchange(std::uint32_t old_port, std::uint32_t new_port, Priority priority, std::int64_t bytes) {
        account(old_port, priority).shared -= bytes;
        account(new_port, priority).shared += bytes;
    }

    /// Whether this sender is to be paused, and is not. Never while nothing of it is stored: a pause ends
    /// when something leaves.
    [[nodiscard]] bool must_pause(std::uint32_t ingress_port, Priority priority) const;
    /// Whether the pause of this sender is to end.
    [[nodiscard]] bool may_resume(std::uint32_t ingress_port, Priority priority) const;
    void set_paused(std::uint32_t ingress_port, Priority priority, bool paused) {
        account(ingress_port, priority).paused = paused;
        account(ingress_port, priority).refused = false;
    }
    [[nodiscard]] bool paused(std::uint32_t ingress_port, Priority priority) const {
        return account(ingress_port, priority).paused;
    }

    [[nodiscard]] bool lossless(Priority priority) const { return (lossless_ >> priority & 1U) != 0; }
    /// Bytes stored, headroom included.
    [[nodiscard]] std::int64_t used() const { return shared_ + in_headroom_; }
    [[nodiscard]] std::int64_t peak() const { return peak_; }
    void restart_peak() { peak_ = used(); }
    /// What may be shared: the pool without all headroom.
    [[nodiscard]] std::int64_t sharable() const { return sharable_; }

  private:
    struct Account {
        std::int64_t shared = 0;
        std::int64_t headroom = 0;
        std::int64_t headroom_limit = 0;
        bool paused = false;
        bool refused = false;  ///< a packet, since the last pause
    };
    [[nodiscard]] Account& account(std::uint32_t port, Priority priority) {
        return accounts_[port * priority_count + (priority & priorities_told_apart_)];
    }
    [[nodiscard]] const Account& account(std::uint32_t port, Priority priority) const {
        return accounts_[port * priority_count + (priority & priorities_told_apart_)];
    }
    [[nodiscard]] std::int64_t free() const { return sharable_ - shared_; }
    [[nodiscard]] std::int64_t ingress_threshold() const;
    [[nodiscard]] std::int64_t egress_threshold() const;
    [[nodiscard]] static std::int64_t share(double alpha, std::int64_t free) {
        return static_cast<std::int64_t>(alpha * static_cast<double>(std::max<std::int64_t>(free, 0)));
    }

    core::SwitchPlan plan_;
    PriorityMask lossless_;
    Priority priorities_told_apart_;  ///< 0: they have one account; else all bits
    std::vector<Account> accounts_;
    std::int64_t sharable_ = 0;
    std::int64_t shared_ = 0;
    std::int64_t in_headroom_ = 0;
    std::int64_t peak_ = 0;
};

// What is called for every packet.

inline std::int64_t SharedBuffer::ingress_threshold() const {
    return plan_.ingress_threshold.count > 0 ? plan_.ingress_threshold.count
                                             : share(plan_.ingress_alpha, free());
}

inline std::int64_t SharedBuffer::egress_threshold() const {
    return plan_.egress_threshold.count > 0 ? plan_.egress_threshold.count
                                            : share(plan_.egress_alpha, free());
}

inline bool SharedBuffer::admit(std::uint32_t ingress_port, Priority priority, std::int64_t bytes,
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

inline void SharedBuffer::release(std::uint32_t ingress_port, Priority priority, std::int64_t bytes) {
    Account& source = account(ingress_port, priority);
    std::int64_t from_shared = bytes;
    if (source.headroom > 0) [[unlikely]] {
        const std::int64_t from_headroom = std::min(source.headroom, bytes);
        source.headroom -= from_headroom;
        in_headroom_ -= from_headroom;
        from_shared -= from_headroom;
    }
    source.shared -= from_shared;
    shared_ -= from_shared;
    WEIR_ASSERT(source.shared >= 0 && shared_ >= 0);
}

inline bool SharedBuffer::must_pause(std::uint32_t ingress_port, Priority priority) const {
    if (!lossless(priority)) {
        return false;
    }
    const Account& source = account(ingress_port, priority);
    return !source.paused && (source.headroom > 0 || source.refused ||
                              (source.shared > 0 && source.shared >= ingress_threshold()));
}

inline bool SharedBuffer::may_resume(std::uint32_t ingress_port, Priority priority) const {
    const Account& source = account(ingress_port, priority);
    return source.paused && source.headroom == 0 &&
           (source.shared == 0 || source.shared + plan_.resume_offset.count <= ingress_threshold());
}

}  // namespace weir::packet
