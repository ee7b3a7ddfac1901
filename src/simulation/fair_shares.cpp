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
        links_[link].capacity = links_[link].spare = capacities[link].bits_per_second;
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
        --link.spare;
        touch(flow.links[side]);
    }
    count_limit(flow, true);
    return {index};
}

/// Of its links, that it is one of those that they limit, or do not.
void FairShares::count_limit(const FluidFlow& flow, bool on) {
    const std::uint32_t change = on ? 1U : -1U;
    if (flow.limit != no_link) {
        links_[flow.limit].limited += change;
        return;
    }
    for (const std::uint32_t link : flow.links) {
        links_[link].unlimited += change;
    }
}

void FairShares::end(Instant /*now*/, FlowId id) {
    FluidFlow& flow = flows_[id.value];
    WEIR_ASSERT(flow.active);
    if (!paths_.empty()) {
        end_path(id.value);
        return;
    }
    count_limit(flow, false);
    for (std::size_t side = 0; side < 2; ++side) {
        touch(flow.links[side]);
        Link& link = links_[flow.links[side]];
        link.spare += rate(flow) + 1;
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
    link.spare += capacity.bits_per_second - link.capacity;
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
    ++mark_;
    collected_ = 0;
    involved_links_.clear();
    involved_flows_.clear();
    for (const std::uint32_t index : dirty_) {
        Link& link = links_[index];
        link.dirty = false;
        if (link.limited + link.unlimited > 0 || (link.spare < 0 && can_fill(link))) {
            involve(index);
        }
    }
    dirty_.clear();
    do {
        collect();
        fill(now);
    } while (involve_more());
    for (const std::uint32_t index : involved_links_) {
        Link& link = links_[index];
        if (link.hub == no_hub && link.limited == link.flows.size() && link.limited >= least_at_hub &&
            ++link.times_alone >= least_times_alone) {
            make_hub(now, index);
        }
    }
}

/// Makes the link part of the solution.
void FairShares::involve(std::uint32_t index) {
    if (links_[index].mark != mark_) {
        links_[index].mark = mark_;
        involved_links_.push_back(index);
    }
}

/// Makes those flows part of the solution that its links limit, or no link, and their other links if these
/// limit flows or have next to nothing left.
void FairShares::collect() {
    const std::uint64_t mark = mark_;
    for (; collected_ < involved_links_.size(); ++collected_) {
        const std::uint32_t index = involved_links_[collected_];
        const Link& link = links_[index];
        // New flows come last, and are often all.
        std::uint32_t wanted = link.limited + link.unlimited;
        for (std::size_t place = link.flows.size(); wanted > 0; --place) {
            const std::uint32_t number = link.flows[place - 1];
            FluidFlow& flow = flows_[number];
            if (flow.limit != index && flow.limit != no_link) {
                continue;
            }
            --wanted;
            if (flow.mark == mark) {
                continue;
            }
            flow.mark = mark;
            flow.changed = false;
            involved_flows_.push_back(number);
            const std::uint32_t other = other_link(flow, index);
            if (links_[other].limited > 0 || (links_[other].spare < 0 && can_fill(links_[other]))) {
                involve(other);
            }
        }
    }
}

/// Makes those links part of the solution that it was wrong to leave out. False: there are none.
bool FairShares::involve_more() {
    const std::size_t links = involved_links_.size();
    for (const std::uint32_t index : involved_flows_) {
        const FluidFlow& flow = flows_[index];
        if (!flow.changed) {
            continue;
        }
        for (const std::uint32_t number : flow.links) {
            const Link& link = links_[number];
            if (link.mark != mark_ && can_fill(link) && (link.spare < 0 || flow.limit == no_link)) {
                involve(number);
            }
        }
    }
    for (std::size_t next = 0; next < links; ++next) {
        const Link& link = links_[involved_links_[next]];
        if (link.involved < link.flows.size() && can_fill(link) && (link.limited > 0 || link.spare < 0)) {
            involve_passed(involved_links_[next]);
        }
    }
    return involved_links_.size() > links;
}

/// Of a link with flows that kept their rates: these must have come before it. All do that have less by a bit
/// per second for each flow than those that it limits, or if it limits none, than one of its flows; of the
/// others the order decides. If it is not so, they take part.
void FairShares::involve_passed(std::uint32_t index) {
    const Link& link = links_[index];
    const auto count = static_cast<std::int64_t>(link.flows.size());
    const std::int64_t level = link.limited > 0 ? link.level : most_rate(link);
    near_.clear();
    bool all_involved = true;
    for (const std::uint32_t number : link.flows) {
        const FluidFlow& flow = flows_[number];
        if (flow.limit != index && rate(flow) > level - count) {
            near_.push_back({rate(flow), flow.limit});
            all_involved = all_involved && flow.mark == mark_;
        }
    }
    if (all_involved || comes_after_near(index, level)) {
        return;
    }
    for (const Share& flow : near_) {
        involve(flow.link);
    }
}

/// Whether each of those flows had its rate before it was the link's turn.
bool FairShares::comes_after_near(std::uint32_t index, std::int64_t level) {
    const Link& link = links_[index];
    std::sort(near_.begin(), near_.end());
    auto flows = static_cast<std::int64_t>(near_.size() + link.limited);
    std::int64_t left = link.spare + static_cast<std::int64_t>(link.flows.size()) + link.limited * level;
    for (const Share& flow : near_) {
        left += flow.rate;
    }
    for (const Share& flow : near_) {
        if (!(flow < Share{left / flows, index})) {
            return false;
        }
        left -= flow.rate;
        --flows;
    }
    return true;
}

std::int64_t FairShares::most_rate(const Link& link) const {
    std::int64_t most = 0;
    for (const std::uint32_t number : link.flows) {
        most = std::max(most, rate(flows_[number]));
    }
    return most;
}

FairShares::Share FairShares::share_of(std::uint32_t link) const {
    // Less than nothing is left where flows had more than it carries now: they are looked at again.
    return {std::max<std::int64_t>(links_[link].left, 0) / links_[link].unfixed, link};
}

/// Progressive filling: the link whose flows get the least is full first; they are fixed at its equal share,
/// and what they leave on their other links is shared by the rest.
void FairShares::fill(Instant now) {
    count_involved();
    shares_.clear();
    bool link_of_all = false;
    for (const std::uint32_t index : involved_links_) {
        // A link that cannot fill limits no flow; it would win ties of rounded shares.
        if (links_[index].unfixed > 0 && can_fill(links_[index])) {
            shares_.push_back(share_of(index));
            link_of_all = link_of_all || links_[index].unfixed == involved_flows_.size();
        }
    }
    if (link_of_all && fill_from_one_link(now)) {
        return;
    }
    std::size_t unfixed = involved_flows_.size() - fill_in_order(now);
    for (std::size_t next = 0; unfixed > 0 && next < involved_flows_.size(); ++next) {
        FluidFlow& flow = flows_[involved_flows_[next]];
        if (!flow.fixed) {
            flow.fixed = true;
            --unfixed;
            fix_flow(now, involved_flows_[next],
                     std::min(links_[flow.links[0]].capacity, links_[flow.links[1]].capacity), no_link);
        }
    }
}

/// What other flows leave of each link to those that are part of the solution, and how many these are.
void FairShares::count_involved() {
    for (const std::uint32_t index : involved_links_) {
        Link& link = links_[index];
        link.left = link.spare + static_cast<std::int64_t>(link.flows.size());
        link.unfixed = 0;
    }
    for (const std::uint32_t index : involved_flows_) {
        FluidFlow& flow = flows_[index];
        flow.fixed = false;
        const std::int64_t present = rate(flow);
        for (const std::uint32_t number : flow.links) {
            Link& link = links_[number];
            if (link.mark == mark_) {
                link.left += present;
                ++link.unfixed;
            }
        }
    }
    for (const std::uint32_t index : involved_links_) {
        links_[index].involved = links_[index].unfixed;
    }
}

/// One link that has all flows, and the least for them, is the whole solution: no order is needed. False:
/// there is none.
bool FairShares::fill_from_one_link(Instant now) {
    const Share least = *std::min_element(shares_.begin(), shares_.end());
    if (links_[least.link].unfixed != involved_flows_.size()) {
        return false;
    }
    // Where most ends change, sorting them once is less work than moving each in the heap.
    sorts_once_ = 2 * involved_flows_.size() > ends_.size();
    fix_flows(now, least);
    if (std::exchange(sorts_once_, false)) {
        ends_.restore();
    }
    return true;
}

/// Fixes the flows of all links that fill, and returns how many these are. A link's share never falls while
/// others are fixed, so an old entry in the heap is too small at worst and is put back.
std::size_t FairShares::fill_in_order(Instant now) {
    const auto later = [](const Share& a, const Share& b) { return b < a; };
    std::make_heap(shares_.begin(), shares_.end(), later);
    std::size_t fixed = 0;
    while (fixed < involved_flows_.size() && !shares_.empty()) {
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
    Link& link = links_[share.link];
    const std::size_t count = link.unfixed;
    link.level = share.rate;
    if (link.hub != no_hub) {
        if (count == link.flows.size() && share.rate > 0) {
            fix_hub(now, share);
            return count;
        }
        dissolve_hub(now, share.link);
    }
    for (const std::uint32_t index : link.flows) {
        FluidFlow& flow = flows_[index];
        if (flow.mark == mark_ && !flow.fixed) {
            flow.fixed = true;
            Link& other = links_[other_link(flow, share.link)];
            other.left -= share.rate;
            --other.unfixed;
            fix_flow(now, index, share.rate, share.link);
        }
    }
    link.unfixed = 0;
    return count;
}

void FairShares::fix_flow(Instant now, std::uint32_t index, std::int64_t rate, std::uint32_t limit) {
    FluidFlow& flow = flows_[index];
    if (flow.hub != no_hub) {
        dissolve_hub(now, flow.hub);
    }
    note_rate(flow, rate - flow.rate, limit);
    set_rate(now, index, rate);
}

/// Its rate is about to change by so much.
void FairShares::note_rate(FluidFlow& flow, std::int64_t change, std::uint32_t limit) {
    if (flow.limit != limit) {
        count_limit(flow, false);
        flow.limit = limit;
        count_limit(flow, true);
        flow.changed = true;
    }
    if (change != 0) {
        flow.changed = true;
        links_[flow.links[0]].spare -= change;
        links_[flow.links[1]].spare -= change;
    }
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

}  // namespace weir::simulation
