#include "packet/shared_buffer.hpp"

namespace weir::packet {

namespace {

/// Preamble and gap, of which a switch stores nothing. Where memory is not given out in cells, they count: so
/// do simulators whose values the defaults are.
constexpr std::int64_t not_stored_bytes = 20;

/// Fixed sizes are those of all slices together.
std::int64_t of_slice(const core::SwitchPlan& plan, core::Bytes threshold) {
    return threshold.count == 0
               ? 0
               : std::max<std::int64_t>(core::memory_units(plan, threshold) / plan.slices, 1);
}

}  // namespace

SharedBuffer::SharedBuffer(const core::SwitchPlan& plan, const std::vector<core::BitRate>& port_rates)
    : unit_bytes_(core::bytes_of_units(plan, 1).count),
      lossless_(plan.pauses_whole_links ? PrioritySet{0xff} : plan.lossless),
      priorities_told_apart_(plan.pauses_whole_links ? Priority{0} : Priority{0xff}),
      queues_apart_(plan.egress_pool.count > 0),
      ingress_alpha_(plan.ingress_alpha),
      egress_alpha_(plan.egress_alpha),
      ingress_threshold_(of_slice(plan, plan.ingress_threshold)),
      egress_threshold_(of_slice(plan, plan.egress_threshold)),
      resume_offset_(core::memory_units(plan, plan.resume_offset)),
      groups_(port_rates.size() * priority_count),
      queues_(port_rates.size() * priority_count * plan.slices),
      slices_(plan.slices) {
    const core::MemorySlice all = core::memory_slice(plan, port_rates);
    WEIR_ASSERT(all.shared > 0 && (!queues_apart_ || all.shared_by_queues > 0));
    // Without a pool each port has its own, which is taken off already.
    const std::int64_t free_headroom =
        plan.headroom_pool.count > 0 ? all.headroom : std::numeric_limits<std::int64_t>::max();
    const std::size_t queues_of_slice = port_rates.size() * priority_count;
    sharable_ = all.shared;
    for (std::uint32_t slice = 0; slice < plan.slices; ++slice) {
        slices_[slice] = {
            .pool = all.shared, .pool_of_queues = all.shared_by_queues, .headroom = free_headroom};
        for (std::size_t place = 0; place < queues_of_slice; ++place) {
            Account& queue = queues_[slice * queues_of_slice + place];
            queue.free = queues_apart_ ? &slices_[slice].pool_of_queues : &slices_[slice].pool;
            queue.slice = slice;
            queue.reserved = core::memory_units(plan, plan.queue_reserved);
            queue.shared = -queue.reserved;
        }
    }
    for (std::uint32_t port = 0; port < port_rates.size(); ++port) {
        // Neighbours in different slices: who is connected where is not known, so load is spread.
        const std::uint32_t slice = port % plan.slices;
        first_queue_.push_back(static_cast<std::uint32_t>(slice * queues_of_slice));
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            Account& group = groups_[port * priority_count + priority];
            group.free = &slices_[slice].pool;
            group.slice = slice;
            group.reserved = core::memory_units(plan, plan.group_reserved);
            group.shared = -group.reserved;
            group.headroom_limit = core::memory_units(plan, core::headroom(plan, port_rates[port]));
        }
    }
}

std::int64_t SharedBuffer::cells_of(std::int64_t bytes) const {
    return (bytes - not_stored_bytes + unit_bytes_ - 1) / unit_bytes_;
}

/// Of a packet that finds no other place.
bool SharedBuffer::into_headroom(Account& source, std::int64_t units) {
    std::int64_t& free = slices_[source.slice].headroom;
    if (source.headroom + units > source.headroom_limit || units > free) {
        // The pause ends when a packet of this port leaves: there must be one.
        source.refused = !source.empty();
        return false;
    }
    source.headroom += units;
    free -= units;
    store(units);
    return true;
}

/// What of a packet that leaves was there: all of it that may have been.
std::int64_t SharedBuffer::out_of_headroom(Account& source, std::int64_t units) {
    const std::int64_t freed = std::min(source.headroom, units);
    source.headroom -= freed;
    slices_[source.slice].headroom += freed;
    return freed;
}

}  // namespace weir::packet
