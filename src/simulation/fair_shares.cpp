#include "simulation/fair_shares.hpp"

#include <algorithm>

namespace weir::simulation {

using core::BitRate;
using core::Bytes;
using core::Instant;

namespace {

/// With fewer flows a hub saves nothing.
constexpr std::size_t least_at_hub = 4;
/// A link becomes a hub when it has limited its flows alone in so many solutions since it was one.
constexpr std::uint32_t least_times_alone = 4;

}  // namespace

FairShares::FairShares(std::vector<BitRate> capacities, std::uint32_t flows_limit)
    : links_(capacities.size()), ends_(flows_limit) {
    for (std::size_t link = 0; link < capacities.size(); ++link) {
        WEIR_ASSERT(capacities[link].bits_per_second >= 0);
        links_[link].capacity = capacities[link].bits_per_second;
    }
}

void FairShares::touch(std::uint32_t link) {
    if (!links_[link].dirty) {
        links_[link].dirty = true;
        dirty_.push_back(link);
    }
}

FlowId FairShares::begin(Instant now, LinkId up, LinkId down, Bytes bytes) {
    WEIR_ASSERT(up != down && bytes > Bytes{0});
    const std::uint32_t index = flows_.add(
        {.links = {up.value, down.value}, .total = bit_nanoseconds(bytes), .since = now, .active = true});
    WEIR_ASSERT(!ends_.contains(index));
    FluidFlow& flow = flows_[index];
    for (std::size_t side = 0; side < 2; ++side) {
        Link& link = links_[flow.links[side]];
        flow.positions[side] = static_cast<std::uint32_t>(link.flows.size());
        link.flows.push_back(index);
        link.offered += links_[flow.links[1 - side]].capacity;
        touch(flow.links[side]);
    }
    return {index};
}

void FairShares::end(Instant /*now*/, FlowId id) {
    FluidFlow& flow = flows_[id.value];
    WEIR_ASSERT(flow.active);
    if (!paths_.empty()) {
        end_path(id.value);
        return;
    }
    for (std::size_t side = 0; side < 2; ++side) {
        // Touched while the flow still counts: whoever shared the link with it may have more now.
        touch(flow.links[side]);
        Link& link = links_[flow.links[side]];
        link.offered -= links_[flow.links[1 - side]].capacity;
        const std::uint32_t moved = link.flows.back();
        link.flows[flow.positions[side]] = moved;
        link.flows.pop_back();
        flows_[moved].positions[flows_[moved].links[0] == flow.links[side] ? 0 : 1] = flow.positions[side];
    }
    flow.active = false;
    flow.rate = 0;
    if (flow.hub != no_hub) {
        Hub& hub = hubs_[links_[flow.hub].hub];
        forget_end(hub, id.value);
        hub.first = hub.first == id.value ? no_flow : hub.first;
        flow.hub = no_hub;
    }
    ends_.erase(id.value);
    flows_.remove(id.value);
}

void FairShares::set_capacity(Instant /*now*/, LinkId id, BitRate capacity) {
    WEIR_ASSERT(capacity.bits_per_second >= 0);
    Link& link = links_[id.value];
    const BitNanoseconds change = BitNanoseconds{capacity.bits_per_second} - link.capacity;
    // The other links' bounds change with it, so they may couple others than before: all are looked at.
    touch(id.value);
    for (const std::uint32_t index : link.flows) {
        const std::uint32_t other = other_link(flows_[index], id.value);
        links_[other].offered += change;
        touch(other);
    }
    link.capacity = capacity.bits_per_second;
}

void FairShares::share_out(Instant now) {
    if (dirty_.empty()) {
        return;
    }
    if (!paths_.empty()) {
        share_out_paths(now);
        return;
    }
    if (!share_out_hub(now)) {
        collect(now);
        fill(now);
    }
}

/// Finds the links and flows whose rates the changes can reach.
void FairShares::collect(Instant now) {
    const std::uint64_t mark = ++mark_;
    involved_links_.swap(dirty_);
    dirty_.clear();
    for (const std::uint32_t link : involved_links_) {
        links_[link].dirty = false;
        links_[link].mark = mark;
    }
    std::size_t flows = 0;
    // The list grows while it is walked over: an iterator would not last.
    for (std::size_t next = 0; next < involved_links_.size(); ++next) {  // NOLINT(modernize-loop-convert)
        const std::uint32_t link = involved_links_[next];
        if (links_[link].hub != no_hub) {
            dissolve_hub(now, link);
        }
        for (const std::uint32_t index : links_[link].flows) {
            FluidFlow& flow = flows_[index];
            if (flow.mark == mark) {
                continue;
            }
            flow.mark = mark;
            flow.fixed = false;
            if (flow.hub != no_hub) {
                dissolve_hub(now, flow.hub);
            }
            ++flows;
            const std::uint32_t other = other_link(flow, link);
            if (links_[other].mark != mark && can_fill(links_[other])) {
                links_[other].mark = mark;
                involved_links_.push_back(other);
            }
        }
    }
    involved_flows_ = flows;
}

FairShares::Share FairShares::share_of(std::uint32_t link) const {
    return {links_[link].left / links_[link].unfixed, link};
}

/// Progressive filling: the link whose flows get the least is full first; they are fixed at its equal share,
/// and what they leave on their other links is shared by the rest.
void FairShares::fill(Instant now) {
    shares_.clear();
    bool link_of_all = false;
    for (const std::uint32_t index : involved_links_) {
        Link& link = links_[index];
        link.left = link.capacity;
        link.unfixed = static_cast<std::uint32_t>(link.flows.size());
        // A link that cannot fill limits no flow; it would win ties of rounded shares.
        if (can_fill(link)) {
            shares_.push_back(share_of(index));
            link_of_all = link_of_all || link.unfixed == involved_flows_;
        }
    }
    if (link_of_all && fill_from_one_link(now)) {
        return;
    }
    std::size_t unfixed = involved_flows_ - fill_in_order(now);
    for (std::size_t next = 0; unfixed > 0 && next < involved_links_.size(); ++next) {
        for (const std::uint32_t index : links_[involved_links_[next]].flows) {
            FluidFlow& flow = flows_[index];
            if (!flow.fixed) {
                flow.fixed = true;
                --unfixed;
                set_rate(now, index,
                         std::min(links_[flow.links[0]].capacity, links_[flow.links[1]].capacity));
            }
        }
    }
}

/// One link that has all flows, and the least for them, is the whole solution: no order is needed. False:
/// there is none.
bool FairShares::fill_from_one_link(Instant now) {
    const Share least = *std::min_element(shares_.begin(), shares_.end());
    if (links_[least.link].unfixed != involved_flows_) {
        return false;
    }
    // Where most ends change, sorting them once is less work than moving each in the heap.
    sorts_once_ = 2 * involved_flows_ > ends_.size();
    fix_flows(now, least);
    if (std::exchange(sorts_once_, false)) {
        ends_.restore();
    }
    Link& link = links_[least.link];
    if (involved_flows_ >= least_at_hub && ++link.times_alone >= least_times_alone) {
        make_hub(now, least.link);
    }
    return true;
}

/// Fixes the flows of all links that fill, and returns how many these are. A link's share never falls while
/// others are fixed, so an old entry in the heap is too small at worst and is put back.
std::size_t FairShares::fill_in_order(Instant now) {
    const auto later = [](const Share& a, const Share& b) { return b < a; };
    std::make_heap(shares_.begin(), shares_.end(), later);
    std::size_t fixed = 0;
    while (fixed < involved_flows_ && !shares_.empty()) {
        const Share least = shares_.front();
        std::pop_heap(shares_.begin(), shares_.end(), later);
        shares_.pop_back();
        if (links_[least.link].unfixed == 0) {
            continue;
        }
        if (const Share current = share_of(least.link); current.rate != least.rate) {
            shares_.push_back(current);
            std::push_heap(shares_.begin(), shares_.end(), later);
        } else {
            fixed += fix_flows(now, least);
        }
    }
    return fixed;
}

/// Gives all flows of a link that have no rate yet its share, and returns how many.
std::size_t FairShares::fix_flows(Instant now, const Share& share) {
    std::size_t fixed = 0;
    const std::uint64_t mark = mark_;
    for (const std::uint32_t index : links_[share.link].flows) {
        FluidFlow& flow = flows_[index];
        if (flow.fixed) {
            continue;
        }
        flow.fixed = true;
        ++fixed;
        Link& other = links_[other_link(flow, share.link)];
        // A link that is not part of the solution cannot fill, so it carries what the other end can bring.
        if (other.mark == mark) {
            other.left -= share.rate;
            --other.unfixed;
        } else {
            WEIR_ASSERT(share.rate <= other.capacity);
        }
        set_rate(now, index, share.rate);
    }
    return fixed;
}

void FairShares::set_rate(Instant now, std::uint32_t index, std::int64_t rate) {
    FluidFlow& flow = flows_[index];
    if (rate == flow.rate && (rate == 0 || ends_.contains(index))) {
        return;
    }
    if (watcher_) {
        watcher_({index});
    }
    flow.moved += static_cast<BitNanoseconds>(flow.rate) * (now - flow.since).ns;
    flow.since = now;
    flow.rate = rate;
    const BitNanoseconds rest = flow.total > flow.moved ? flow.total - flow.moved : 0;
    if (rate == 0 && rest > 0) {
        ends_.erase(index);
        return;
    }
    set_end(now, index, rate, rest);
}

void FairShares::set_end(Instant now, std::uint32_t index, std::int64_t rate, BitNanoseconds rest) {
    // What has all moved ends now, also if its link was just taken away. Beyond the clock's range is "not in
    // this run".
    const BitNanoseconds end = now.ns + (rest == 0 ? 0 : core::quotient(rest + rate - 1, rate));
    constexpr BitNanoseconds latest = core::Instant::never().ns - 1;
    const auto key = static_cast<std::int64_t>(std::min(end, latest));
    if (sorts_once_) {
        ends_.update_unsorted(index, key);
    } else {
        ends_.update(index, key);
    }
}

// Flows with paths: max-min fair rates by progressive filling of all links of a fabric. The rates of all
// flows grow together; a link that is full stops those that use it, however small their part in it.
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
