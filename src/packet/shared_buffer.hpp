// The memory of a switch: who may hold how much of it, when a sender is to be paused, and when a packet is
// dropped. Pure bookkeeping, in bytes, or in cells where memory is given out in cells.
//
// Where pauses stop whole links (IEEE 802.3x), a port has one account for all priorities.
//
// Lossless priorities are counted where they come in: a (port, priority) above its threshold is paused, and
// what still comes goes into the headroom of that port and priority. Lossy ones are counted and limited where
// they leave. What an account has reserved is used first, and only what it holds beyond that is shared.
// The order of the checks is that of the simulator of HPCC (Li et al., SIGCOMM 2019): admission, then
// counters, then the pause at each packet that comes; the end of a pause only when one leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/assertion.hpp"
#include "core/network_plan.hpp"
#include "packet/packet.hpp"

namespace weir::packet {

class SharedBuffer {
  public:
    /// One rate for each port.
    SharedBuffer(const core::SwitchPlan& plan, const std::vector<core::BitRate>& port_rates);
    // Accounts point at pools.
    SharedBuffer(const SharedBuffer&) = delete;
    SharedBuffer& operator=(const SharedBuffer&) = delete;
    SharedBuffer(SharedBuffer&&) = delete;
    SharedBuffer& operator=(SharedBuffer&&) = delete;
    ~SharedBuffer() = default;

    /// Whether a packet may be stored; if so it is counted. `egress_port`: with the queue that it is for.
    [[nodiscard]] bool admit(std::uint32_t ingress_port, Priority priority, std::int64_t bytes,
                             std::uint32_t egress_port);
    /// A packet has left. As it was admitted.
    void release(std::uint32_t ingress_port, Priority priority, std::int64_t bytes,
                 std::uint32_t egress_port);

    /// Whether what comes in at both ports is in the same slice, so that packets of one size and queue that
    /// are of a lossy priority may take each other's place.
    [[nodiscard]] bool share_slice(std::uint32_t ingress_port, std::uint32_t other) const {
        return first_queue_[ingress_port] == first_queue_[other];
    }

    /// Whether this sender is to be paused, and is not. Never while nothing of it is stored: a pause ends
    /// when something leaves.
    [[nodiscard]] bool must_pause(std::uint32_t ingress_port, Priority priority) const;
    /// Whether the pause of this sender is to end.
    [[nodiscard]] bool may_resume(std::uint32_t ingress_port, Priority priority) const;
    void set_paused(std::uint32_t ingress_port, Priority priority, bool paused) {
        group(ingress_port, priority).paused = paused;
        group(ingress_port, priority).refused = false;
    }
    [[nodiscard]] bool paused(std::uint32_t ingress_port, Priority priority) const {
        return group(ingress_port, priority).paused;
    }

    [[nodiscard]] bool lossless(Priority priority) const { return (lossless_ >> priority & 1U) != 0; }
    /// Bytes stored, headroom included.
    [[nodiscard]] std::int64_t used() const { return used_ * unit_bytes_; }
    [[nodiscard]] std::int64_t peak() const { return peak_ * unit_bytes_; }
    void restart_peak() { peak_ = used_; }
    /// What may be shared of the pool: of a slice, without all headroom and what is reserved.
    [[nodiscard]] std::int64_t sharable() const { return sharable_ * unit_bytes_; }

  private:
    /// What is free of it, never below 0.
    struct Slice {
        std::int64_t pool = 0;
        std::int64_t pool_of_queues = 0;  ///< if they have one
        std::int64_t headroom = 0;
    };
    /// Of a lossless priority of an ingress port, or of a queue of a lossy one. A cache line.
    struct alignas(64) Account {
        /// What it holds of its pool, without headroom. Below 0: so much of its reserve is not used.
        std::int64_t shared = 0;
        std::int64_t reserved = 0;
        std::int64_t headroom = 0;
        std::int64_t* free = nullptr;  ///< of its pool
        std::int64_t headroom_limit = 0;
        std::uint32_t slice = 0;
        bool paused = false;
        bool refused = false;  ///< a packet, since the last pause

        [[nodiscard]] bool empty() const { return shared + reserved == 0; }
        void hold(std::int64_t units, std::int64_t from_pool) {
            shared += units;
            *free -= from_pool;
        }
    };
    [[nodiscard]] std::size_t group_index(std::uint32_t port, Priority priority) const {
        return port * priority_count + (priority & priorities_told_apart_);
    }
    [[nodiscard]] Account& group(std::uint32_t port, Priority priority) {
        return groups_[group_index(port, priority)];
    }
    [[nodiscard]] const Account& group(std::uint32_t port, Priority priority) const {
        return groups_[group_index(port, priority)];
    }
    [[nodiscard]] Account& queue(std::uint32_t ingress_port, std::uint32_t egress_port, Priority priority) {
        return queues_[first_queue_[ingress_port] + egress_port * priority_count + priority];
    }
    [[nodiscard]] std::int64_t units_of(std::int64_t bytes) const {
        return unit_bytes_ == 1 ? bytes : cells_of(bytes);
    }
    [[nodiscard]] std::int64_t cells_of(std::int64_t bytes) const;
    [[nodiscard]] bool into_headroom(Account& source, std::int64_t units);
    [[nodiscard]] std::int64_t out_of_headroom(Account& source, std::int64_t units);
    void store(std::int64_t units) {
        used_ += units;
        peak_ = std::max(peak_, used_);
    }
    /// What of the last `units` of an account comes out of its pool, where it holds `shared` with them.
    [[nodiscard]] static std::int64_t from_pool(std::int64_t shared, std::int64_t units) {
        return shared >= units ? units : std::max<std::int64_t>(shared, 0);
    }
    [[nodiscard]] std::int64_t ingress_threshold(std::int64_t free) const {
        return ingress_threshold_ > 0 ? ingress_threshold_ : share(ingress_alpha_, free);
    }
    [[nodiscard]] std::int64_t egress_threshold(std::int64_t free) const {
        return egress_threshold_ > 0 ? egress_threshold_ : share(egress_alpha_, free);
    }
    [[nodiscard]] static std::int64_t share(double alpha, std::int64_t free) {
        return static_cast<std::int64_t>(alpha * static_cast<double>(free));
    }
    [[nodiscard]] bool admit_lossless(Account& source, std::int64_t units);
    [[nodiscard]] bool admit_lossy(Account& queue, std::int64_t units);

    std::int64_t unit_bytes_;
    PrioritySet lossless_;
    Priority priorities_told_apart_;  ///< 0: they have one account; else all bits
    bool queues_apart_;               ///< they have a pool of their own
    double ingress_alpha_;
    double egress_alpha_;
    std::int64_t ingress_threshold_;
    std::int64_t egress_threshold_;
    std::int64_t resume_offset_;
    std::int64_t sharable_ = 0;
    std::vector<Account> groups_;             ///< by ingress port and priority
    std::vector<Account> queues_;             ///< by slice, egress port and priority
    std::vector<std::uint32_t> first_queue_;  ///< of its slice, by ingress port
    std::vector<Slice> slices_;
    std::int64_t used_ = 0;
    std::int64_t peak_ = 0;
};

// What is called for every packet.

inline bool SharedBuffer::admit(std::uint32_t ingress_port, Priority priority, std::int64_t bytes,
                                std::uint32_t egress_port) {
    const std::int64_t units = units_of(bytes);
    if (lossless(priority)) {
        return admit_lossless(group(ingress_port, priority), units);
    }
    return admit_lossy(queue(ingress_port, egress_port, priority), units);
}

inline bool SharedBuffer::admit_lossless(Account& source, std::int64_t units) {
    const std::int64_t shared = source.shared + units;
    const std::int64_t more = from_pool(shared, units);
    if (shared > ingress_threshold(*source.free) || more > *source.free) [[unlikely]] {
        return into_headroom(source, units);
    }
    source.hold(units, more);
    store(units);
    return true;
}

inline bool SharedBuffer::admit_lossy(Account& queue, std::int64_t units) {
    const std::int64_t shared = queue.shared + units;
    const std::int64_t more = from_pool(shared, units);
    if (shared > egress_threshold(*queue.free) || more > *queue.free) {
        return false;
    }
    if (queues_apart_) [[unlikely]] {
        std::int64_t& free = slices_[queue.slice].pool;
        if (units > free) {
            return false;
        }
        free -= units;
    }
    queue.hold(units, more);
    store(units);
    return true;
}

inline void SharedBuffer::release(std::uint32_t ingress_port, Priority priority, std::int64_t bytes,
                                  std::uint32_t egress_port) {
    const std::int64_t units = units_of(bytes);
    used_ -= units;
    if (lossless(priority)) {
        Account& source = group(ingress_port, priority);
        const std::int64_t rest = source.headroom > 0 ? units - out_of_headroom(source, units) : units;
        source.hold(-rest, -from_pool(source.shared, rest));
        WEIR_ASSERT(source.shared + source.reserved >= 0);
        return;
    }
    Account& source = queue(ingress_port, egress_port, priority);
    source.hold(-units, -from_pool(source.shared, units));
    if (queues_apart_) [[unlikely]] {
        slices_[source.slice].pool += units;
    }
    WEIR_ASSERT(source.shared + source.reserved >= 0);
}

inline bool SharedBuffer::must_pause(std::uint32_t ingress_port, Priority priority) const {
    if (!lossless(priority)) {
        return false;
    }
    const Account& source = group(ingress_port, priority);
    return !source.paused && (source.headroom > 0 || source.refused ||
                              (source.shared >= ingress_threshold(*source.free) && !source.empty()));
}

inline bool SharedBuffer::may_resume(std::uint32_t ingress_port, Priority priority) const {
    const Account& source = group(ingress_port, priority);
    return source.paused && source.headroom == 0 &&
           (source.shared <= 0 || source.shared + resume_offset_ <= ingress_threshold(*source.free));
}

}  // namespace weir::packet
