// Hubs: links that limit all their flows. A hub is dissolved when a solution lets another link limit one of
// them: they get rate, progress and end of their own.
#include <algorithm>
#include <limits>

#include "simulation/fair_shares.hpp"

namespace weir::simulation {

using core::Instant;

/// All flows of a hub's link get its share, and those that are new join it.
void FairShares::fix_hub(Instant now, const Share& share) {
    Link& link = links_[share.link];
    Hub& hub = hubs_[link.hub];
    const std::int64_t change = share.rate - hub.rate;
    if (change != 0) {
        watch_hub(hub, link);
        hub.watched = watch_;
    }
    hub.moved = moved(hub, now);
    hub.since = now;
    hub.rate = share.rate;
    for (const std::uint32_t index : link.flows) {
        FluidFlow& flow = flows_[index];
        Link& other = links_[other_link(flow, share.link)];
        flow.fixed = true;
        other.left -= share.rate;
        --other.unfixed;
        if (flow.hub == share.link) {
            flow.changed = flow.changed || change != 0;
            other.spare -= change;
            link.spare -= change;
        } else {
            if (flow.hub != no_hub) {
                dissolve_hub(now, flow.hub);
            }
            note_rate(flow, share.rate - flow.rate, share.link);
            join_hub(now, hub, index);
        }
    }
    link.unfixed = 0;
    set_first_end(now, hub);
}

/// Its flows' rates are about to change.
void FairShares::watch_hub(const Hub& hub, const Link& link) {
    if (watcher_ && hub.watched != watch_) {
        for (const std::uint32_t flow : link.flows) {
            if (flows_[flow].hub == hub.link) {
                watcher_({flow});
            }
        }
    }
}

void FairShares::join_hub(Instant now, Hub& hub, std::uint32_t index) {
    FluidFlow& flow = flows_[index];
    if (watcher_) {
        watcher_({index});
    }
    flow.moved = moved(flow, now) - hub.moved;
    flow.rate = 0;
    flow.hub = hub.link;
    ends_.erase(index);
    note_end(hub, index);
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
    const Hub hub{.link = index, .rate = rate(flows_[link.flows.front()]), .since = now};
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
        if (flow.hub != index) {
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
