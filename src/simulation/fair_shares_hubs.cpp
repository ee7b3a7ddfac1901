// Hubs: links whose flows all move at the link's equal share, limited by no other link.
//
// A hub stays one as long as every change is on it and on links all of whose flows are its own, it can fill,
// and none of those links gives its flows less. All other changes are solved as ever, and a hub that they
// reach is dissolved first: its flows get rate, progress and end of their own.
#include <algorithm>
#include <limits>

#include "simulation/fair_shares.hpp"

namespace weir::simulation {

using core::Instant;

/// The only hub among the links that have changed; no_hub: there is none, or more than one.
std::uint32_t FairShares::dirty_hub() const {
    std::uint32_t found = no_hub;
    for (const std::uint32_t link : dirty_) {
        if (links_[link].hub != no_hub) {
            if (found != no_hub) {
                return no_hub;
            }
            found = link;
        }
    }
    return found;
}

bool FairShares::only_link_of(std::uint32_t link, std::uint32_t hub) const {
    const std::vector<std::uint32_t>& flows = links_[link].flows;
    return std::all_of(flows.begin(), flows.end(),
                       [&](std::uint32_t index) { return other_link(flows_[index], link) == hub; });
}

/// Up to this rate of its flows the link does not limit them, and the hub does. Of equal shares the link with
/// the lowest number comes first, and what it leaves to others is rounded: then it limits its flows.
std::int64_t FairShares::most_rate(std::uint32_t hub, std::uint32_t link) const {
    const Link& limiting = links_[link];
    if (limiting.flows.empty() || !can_fill(limiting)) {
        return std::numeric_limits<std::int64_t>::max();
    }
    const std::int64_t share = limiting.capacity / static_cast<std::int64_t>(limiting.flows.size());
    return hub < link ? share : share - 1;
}

/// The least of these rates over all links of its flows.
std::int64_t FairShares::most_rate(std::uint32_t hub) const {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const std::uint32_t flow : links_[hub].flows) {
        most = std::min(most, most_rate(hub, other_link(flows_[flow], hub)));
    }
    return most;
}

/// False: the changes are not those of one hub.
bool FairShares::share_out_hub(Instant now) {
    const std::uint32_t index = dirty_hub();
    if (index == no_hub) {
        return false;
    }
    const Link& link = links_[index];
    Hub& hub = hubs_[link.hub];
    if (link.flows.empty() || !can_fill(link)) {
        return false;
    }
    for (const std::uint32_t changed : dirty_) {
        if (changed != index) {
            if (!only_link_of(changed, index)) {
                return false;
            }
            hub.most_rate = std::min(hub.most_rate, most_rate(index, changed));
        }
    }
    const std::int64_t rate = link.capacity / static_cast<std::int64_t>(link.flows.size());
    if (rate > hub.most_rate) {
        hub.most_rate = most_rate(index);
    }
    if (rate == 0 || rate > hub.most_rate) {
        return false;
    }
    if (rate != hub.rate) {
        watch_hub(hub, link);
        hub.watched = watch_;
    }
    hub.moved = moved(hub, now);
    hub.since = now;
    hub.rate = rate;
    for (const std::uint32_t changed : dirty_) {
        links_[changed].dirty = false;
        if (changed != index) {
            join_hub(hub, changed);
        }
    }
    dirty_.clear();
    set_first_end(now, hub);
    return true;
}

/// Its flows' rates are about to change.
void FairShares::watch_hub(const Hub& hub, const Link& link) {
    if (watcher_ && hub.watched != watch_) {
        for (const std::uint32_t flow : link.flows) {
            if (flows_[flow].hub != no_hub) {
                watcher_({flow});
            }
        }
    }
}

/// The flows of a link that are new.
void FairShares::join_hub(Hub& hub, std::uint32_t index) {
    for (const std::uint32_t number : links_[index].flows) {
        FluidFlow& flow = flows_[number];
        if (flow.hub != no_hub) {
            continue;
        }
        if (watcher_) {
            watcher_({number});
        }
        flow.hub = hub.link;
        flow.moved -= hub.moved;
        note_end(hub, number);
    }
}

void FairShares::note_end(Hub& hub, std::uint32_t index) {
    const BitNanoseconds end = flows_[index].total - flows_[index].moved;
    if (end >= hub.others_end) {
        return;
    }
    if (hub.ends_known == hub.ends.size()) {
        hub.others_end = std::max(end, hub.ends.back().moved);
        if (end == hub.others_end) {
            return;
        }
        --hub.ends_known;
    }
    std::uint32_t place = hub.ends_known++;
    for (; place > 0 && hub.ends[place - 1].moved > end; --place) {
        hub.ends[place] = hub.ends[place - 1];
    }
    hub.ends[place] = {end, index};
}

void FairShares::forget_end(Hub& hub, std::uint32_t index) {
    const auto known = hub.ends.begin() + hub.ends_known;
    const auto found =
        std::find_if(hub.ends.begin(), known, [&](const HubEnd& end) { return end.flow == index; });
    if (found != known) {
        std::move(found + 1, known, found);
        --hub.ends_known;
    }
}

void FairShares::find_ends(Hub& hub) {
    hub.ends_known = 0;
    hub.others_end = std::numeric_limits<BitNanoseconds>::max();
    for (const std::uint32_t index : links_[hub.link].flows) {
        note_end(hub, index);
    }
}

/// If several of the hub's flows end in the same nanosecond, only the one with the lowest number is in ends_.
void FairShares::set_first_end(Instant now, Hub& hub) {
    if (hub.ends_known == 0) {
        find_ends(hub);
    }
    const BitNanoseconds rest = std::max<BitNanoseconds>(hub.ends[0].moved - hub.moved, 0);
    // All that have no more left than what moves until then end together.
    const BitNanoseconds until = hub.moved + core::quotient(rest + hub.rate - 1, hub.rate) * hub.rate;
    std::uint32_t first = hub.ends[0].flow;
    for (std::uint32_t next = 1; next < hub.ends_known && hub.ends[next].moved <= until; ++next) {
        first = std::min(first, hub.ends[next].flow);
    }
    if (hub.others_end <= until) {
        for (const std::uint32_t index : links_[hub.link].flows) {
            if (flows_[index].total - flows_[index].moved <= until) {
                first = std::min(first, index);
            }
        }
    }
    if (hub.first != first && hub.first != no_flow) {
        ends_.erase(hub.first);
    }
    hub.first = first;
    set_end(now, first, hub.rate, rest);
}

/// All flows of the link have just got the same rate.
void FairShares::make_hub(Instant now, std::uint32_t index) {
    Link& link = links_[index];
    const Hub hub{
        .link = index, .rate = rate(flows_[link.flows.front()]), .since = now, .most_rate = most_rate(index)};
    if (hub.rate == 0) {
        return;
    }
    link.hub = hubs_.add(hub);
    for (const std::uint32_t flow : link.flows) {
        flows_[flow].moved = moved(flows_[flow], now);
        flows_[flow].hub = index;
        ends_.erase(flow);
    }
    set_first_end(now, hubs_[link.hub]);
}

void FairShares::dissolve_hub(Instant now, std::uint32_t index) {
    Link& link = links_[index];
    const Hub hub = hubs_[link.hub];
    for (const std::uint32_t number : link.flows) {
        FluidFlow& flow = flows_[number];
        if (flow.hub == no_hub) {
            continue;
        }
        flow.moved = moved(flow, now);
        flow.since = now;
        flow.rate = hub.rate;
        flow.hub = no_hub;
        set_end(now, number, hub.rate, std::max<BitNanoseconds>(flow.total - flow.moved, 0));
    }
    hubs_.remove(link.hub);
    link.hub = no_hub;
    link.times_alone = 0;
}

}  // namespace weir::simulation
