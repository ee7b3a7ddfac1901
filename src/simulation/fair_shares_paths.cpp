// Flows with paths: max-min fair rates by progressive filling of all links of a fabric. The rates of all
// flows grow together; a link that is full stops those that use it, however small their part in it.
#include <algorithm>
#include <utility>

#include "simulation/fair_shares.hpp"

namespace weir::simulation {

using core::Bytes;
using core::Instant;

FlowId FairShares::begin(Instant now, std::vector<PathLink> path, Bytes bytes) {
    WEIR_ASSERT(bytes > Bytes{0});
    const std::uint32_t index = flows_.add({.total = bit_nanoseconds(bytes), .since = now, .active = true});
    WEIR_ASSERT(!ends_.contains(index));
    if (paths_.size() <= index) {
        paths_.resize(index + 1);
    }
    flows_[index].positions[0] = static_cast<std::uint32_t>(on_paths_.size());
    on_paths_.push_back(index);
    set_path(now, {index}, std::move(path));
    return {index};
}

void FairShares::set_path(Instant /*now*/, FlowId id, std::vector<PathLink> path) {
    paths_[id.value] = std::move(path);
    touch(0);  // any link: all are solved together
}

void FairShares::end_path(std::uint32_t index) {
    touch(0);
    FluidFlow& flow = flows_[index];
    const std::uint32_t moved = on_paths_.back();
    on_paths_[flow.positions[0]] = moved;
    flows_[moved].positions[0] = flow.positions[0];
    on_paths_.pop_back();
    paths_[index].clear();
    flow.active = false;
    flow.rate = 0;
    ends_.erase(index);
    flows_.remove(index);
}

void FairShares::share_out_paths(Instant now) {
    for (const std::uint32_t link : dirty_) {
        links_[link].dirty = false;
    }
    dirty_.clear();
    load_paths();
    // A link's level never falls while others are fixed: an old entry is too low at worst and is put back.
    const auto higher = [](const Share& a, const Share& b) { return b < a; };
    std::make_heap(shares_.begin(), shares_.end(), higher);
    while (!shares_.empty()) {
        const Share lowest = shares_.front();
        std::pop_heap(shares_.begin(), shares_.end(), higher);
        shares_.pop_back();
        if (loads_[lowest.link].parts == 0) {
            continue;
        }
        if (const Share current = level_of(lowest.link); current.rate != lowest.rate) {
            shares_.push_back(current);
            std::push_heap(shares_.begin(), shares_.end(), higher);
        } else {
            fix_paths(now, lowest);
        }
    }
    for (const std::uint32_t index : on_paths_) {
        if (paths_[index].empty()) {
            set_rate(now, index, 0);
        }
    }
}

void FairShares::load_paths() {
    loads_.resize(links_.size());
    for (const std::uint32_t link : loaded_) {
        loads_[link].flows.clear();
    }
    loaded_.clear();
    for (const std::uint32_t index : on_paths_) {
        flows_[index].fixed = false;
        for (const PathLink& use : paths_[index]) {
            PathLoad& load = loads_[use.link.value];
            if (load.flows.empty()) {
                load.left = BitNanoseconds{links_[use.link.value].capacity} * PathLink::whole;
                load.parts = 0;
                loaded_.push_back(use.link.value);
            }
            load.flows.push_back(index);
            load.parts += use.parts;
        }
    }
    shares_.clear();
    for (const std::uint32_t link : loaded_) {
        shares_.push_back(level_of(link));
    }
}

/// The rate at which all flows without one fill the link.
FairShares::Share FairShares::level_of(std::uint32_t link) const {
    const PathLoad& load = loads_[link];
    return {static_cast<std::int64_t>(core::quotient(load.left, load.parts)), link};
}

/// Gives it to them.
void FairShares::fix_paths(Instant now, const Share& level) {
    for (const std::uint32_t index : loads_[level.link].flows) {
        FluidFlow& flow = flows_[index];
        if (flow.fixed) {
            continue;
        }
        flow.fixed = true;
        for (const PathLink& use : paths_[index]) {
            PathLoad& load = loads_[use.link.value];
            load.left -= BitNanoseconds{level.rate} * use.parts;
            load.parts -= use.parts;
        }
        set_rate(now, index, level.rate);
    }
}

}  // namespace weir::simulation
