// The network as a fluid: every node has an up link to a non-blocking switch and a down link from it, and the
// transfers that are under way share the links max-min fairly: no transfer can have more without another one,
// that has no more than it, having less (Bertsekas and Gallager, "Data Networks", section 6.5.2; computed by
// progressive filling). Rates change only when a transfer begins or ends or a link changes, so there are no
// packets to simulate.
//
// Solved incrementally, with the same integers as from nothing: of the flows on a changed link only those
// that it limits are solved anew, the others keep their rates, and from a flow the change goes on to its
// other link only if that limits flows, or has next to nothing left. The result is checked: a link that has
// less left than a bit per second for each of its flows, or limits flows to little more than others have that
// kept their rates, becomes part of the solution, and so do they. Rates, progress and times are integers
// (bits per second, bit nanoseconds, nanoseconds), so that a run is the same on every machine and no byte is
// lost to rounding.
//
// A link that limits all its flows is a hub (a consumer of the fragments of many producers, or the other way
// round). Its flows are a bundle of one rate, so what each has moved is what the hub has moved per flow since
// the flow began, and only the first of their ends is worked out. A change looks at each flow, but computes
// nothing for it (fair_shares_hubs.cpp).
//
// Through a fabric a flow has a path: any number of links, each with the part of it that goes there (all of
// it by ECMP, equal parts where packets are spread). Shares of paths are solved as a whole at each
// change (fair_shares_paths.cpp); flows of both kinds do not mix.
//
// Rejected: packets (10^6 times the events), and a fresh solution of the whole network at each change (the
// farm has 4500 links and 4000 changes per second).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/indexed_heap.hpp"
#include "core/units.hpp"
#include "simulation/pool.hpp"

namespace weir::simulation {

using LinkId = core::Index<struct LinkKind>;
/// A transfer in the network; the number is used again after its end.
using FlowId = core::Index<struct FlowKind>;

/// Bits times nanoseconds: what a rate moves in a time, without division.
using BitNanoseconds = core::WideInteger;
constexpr BitNanoseconds bit_nanoseconds(core::Bytes bytes) {
    return static_cast<BitNanoseconds>(bytes.count) * 8 * 1000000000;
}

/// A link of a path, and how much of the flow takes it.
struct PathLink {
    static constexpr std::uint32_t whole = 1U << 20U;
    LinkId link;
    std::uint32_t parts = whole;  ///< of `whole`
    bool operator==(const PathLink&) const = default;
};

// More functions: it solves links alone, hubs and paths over the same flows.
class FairShares {
  public:
    /// `capacities`: payload rates of the links, by LinkId. `flows_limit`: flows that can be under way at a
    /// time.
    FairShares(std::vector<core::BitRate> capacities, std::uint32_t flows_limit);

    /// A transfer of `bytes` over two different links. Its rate is known after the next share_out().
    FlowId begin(core::Instant now, LinkId up, LinkId down, core::Bytes bytes);
    /// A transfer of `bytes` over a path, each link of which stands in it once; an empty one moves nothing.
    FlowId begin(core::Instant now, std::vector<PathLink> path, core::Bytes bytes);
    /// From now on it takes this path.
    void set_path(core::Instant now, FlowId id, std::vector<PathLink> path);
    /// Takes a transfer out, finished or not.
    void end(core::Instant now, FlowId id);
    /// Changes what a link carries; 0: nothing.
    void set_capacity(core::Instant now, LinkId id, core::BitRate capacity);

    /// Shares the links anew after changes, all of which were made at `now`. To be called before time moves
    /// on.
    void share_out(core::Instant now);

    /// From now on `watcher` is called with each flow whose rate a share_out() changes, before it does. Of a
    /// flow at a hub it may hear once only until watch_again().
    void watch_rates(std::function<void(FlowId)> watcher) { watcher_ = std::move(watcher); }
    void watch_again() { ++watch_; }

    /// When the next transfer is through, and which one (of several the one with the lowest number). Only
    /// after share_out().
    [[nodiscard]] core::Instant next_end() const {
        return ends_.empty() ? core::Instant::never() : core::Instant{ends_.key(ends_.top())};
    }
    [[nodiscard]] FlowId next_to_end() const { return {ends_.top()}; }

    /// What has moved until `now`.
    [[nodiscard]] BitNanoseconds moved(FlowId flow, core::Instant now) const {
        return moved(flows_[flow.value], now);
    }
    [[nodiscard]] core::BitRate rate(FlowId flow) const { return {rate(flows_[flow.value])}; }
    [[nodiscard]] core::BitRate capacity(LinkId link) const { return {links_[link.value].capacity}; }

  private:
    static constexpr std::uint32_t no_hub = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t no_flow = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t no_link = std::numeric_limits<std::uint32_t>::max();
    struct FluidFlow {
        std::array<std::uint32_t, 2> links{};
        std::array<std::uint32_t, 2> positions{};  ///< in the lists of the links
        std::uint32_t limit = no_link;             ///< the link that limits it; without one: the smaller
        std::uint32_t hub = no_hub;                ///< the link whose hub it belongs to
        std::int64_t rate = 0;                     ///< bits per second; not at a hub
        BitNanoseconds total = 0;
        BitNanoseconds moved = 0;  ///< until `since`; at a hub: less what each of its flows has moved
        core::Instant since;
        std::uint64_t mark = 0;  ///< the solution that it was last part of
        bool active = false;
        bool fixed = false;
        bool changed = false;  ///< in this solution, its rate or what limits it
    };
    struct Link {
        std::int64_t capacity = 0;
        BitNanoseconds offered = 0;  ///< sum over its flows of the capacity of their other link
        /// Capacity that its flows leave, less a bit per second for each: from 0 on it limits none.
        std::int64_t spare = 0;
        std::uint32_t limited = 0;    ///< flows that it limits
        std::uint32_t unlimited = 0;  ///< flows that no link limits, those that have just begun among them
        std::vector<std::uint32_t> flows;
        std::uint64_t mark = 0;  ///< the solution that it was last part of
        bool dirty = false;
        std::uint32_t hub = no_hub;     ///< in hubs_
        std::uint32_t times_alone = 0;  ///< solutions in which it limited all its flows
        // While a solution is computed, of the flows that are part of it:
        std::uint32_t involved = 0;
        std::int64_t level = 0;  ///< what those have that it limits
        std::int64_t left = 0;
        std::uint32_t unfixed = 0;
    };
    struct HubEnd {
        BitNanoseconds moved = 0;
        std::uint32_t flow = 0;
    };
    struct Hub {
        std::uint32_t link = 0;
        std::int64_t rate = 0;
        BitNanoseconds moved = 0;  ///< by each flow, until `since`
        core::Instant since;
        std::uint64_t watched = 0;      ///< its flows were reported to the watcher in this watch
        std::uint32_t first = no_flow;  ///< the flow that is in ends_
        // What `moved` is when flows end: the next few in order, and where they stop. No other flow ends
        // before `others_end`.
        std::array<HubEnd, 8> ends{};
        std::uint32_t ends_known = 0;
        BitNanoseconds others_end = 0;
    };
    struct Share {
        std::int64_t rate = 0;
        std::uint32_t link = 0;
        bool operator<(const Share& other) const {
            return rate != other.rate ? rate < other.rate : link < other.link;
        }
    };

    [[nodiscard]] bool can_fill(const Link& link) const { return link.offered > link.capacity; }
    [[nodiscard]] std::uint32_t other_link(const FluidFlow& flow, std::uint32_t link) const {
        return flow.links[0] == link ? flow.links[1] : flow.links[0];
    }
    [[nodiscard]] std::int64_t rate(const FluidFlow& flow) const {
        return flow.hub == no_hub ? flow.rate : hub_of(flow).rate;
    }
    [[nodiscard]] BitNanoseconds moved(const FluidFlow& flow, core::Instant now) const {
        return flow.moved + (flow.hub == no_hub
                                 ? static_cast<BitNanoseconds>(flow.rate) * (now - flow.since).ns
                                 : moved(hub_of(flow), now));
    }
    void touch(std::uint32_t link);
    void involve(std::uint32_t index);
    void collect();
    bool involve_more();
    void involve_passed(std::uint32_t index);
    bool comes_after_near(std::uint32_t index, std::int64_t level);
    [[nodiscard]] std::int64_t most_rate(const Link& link) const;
    void count_involved();
    void fill(core::Instant now);
    bool fill_from_one_link(core::Instant now);
    std::size_t fill_in_order(core::Instant now);
    std::size_t fix_flows(core::Instant now, const Share& share);
    void fix_flow(core::Instant now, std::uint32_t index, std::int64_t rate, std::uint32_t limit);
    void note_rate(FluidFlow& flow, std::int64_t change, std::uint32_t limit);
    void count_limit(const FluidFlow& flow, bool on);
    void set_rate(core::Instant now, std::uint32_t index, std::int64_t rate);
    [[nodiscard]] Share share_of(std::uint32_t link) const;
    void set_end(core::Instant now, std::uint32_t index, std::int64_t rate, BitNanoseconds rest);

    // Paths.
    void end_path(std::uint32_t index);
    void share_out_paths(core::Instant now);
    void load_paths();
    [[nodiscard]] Share level_of(std::uint32_t link) const;
    void fix_paths(core::Instant now, const Share& level);

    // Hubs.
    [[nodiscard]] static BitNanoseconds moved(const Hub& hub, core::Instant now) {
        return hub.moved + static_cast<BitNanoseconds>(hub.rate) * (now - hub.since).ns;
    }
    [[nodiscard]] const Hub& hub_of(const FluidFlow& flow) const { return hubs_[links_[flow.hub].hub]; }
    void fix_hub(core::Instant now, const Share& share);
    void watch_hub(const Hub& hub, const Link& link);
    void join_hub(core::Instant now, Hub& hub, std::uint32_t index);
    void note_end(Hub& hub, std::uint32_t index);
    static void forget_end(Hub& hub, std::uint32_t index);
    void find_ends(Hub& hub);
    void set_first_end(core::Instant now, Hub& hub);
    void make_hub(core::Instant now, std::uint32_t index);
    void dissolve_hub(core::Instant now, std::uint32_t index);

    std::vector<Link> links_;
    Pool<Hub> hubs_;
    Pool<FluidFlow> flows_;
    core::IndexedHeap<std::int64_t> ends_;  ///< active flows that move, by the time of their end in ns
    bool sorts_once_ = false;               ///< the ends, after all flows of a link have their rates
    std::vector<std::uint32_t> dirty_;
    std::uint64_t mark_ = 0;
    std::vector<std::uint32_t> involved_links_;
    std::size_t collected_ = 0;  ///< so many of these have named their flows
    std::vector<std::uint32_t> involved_flows_;
    std::vector<Share> shares_;
    std::vector<Share> near_;  ///< rates and limits of one link's flows that have about as much as it gives
    /// What the flows on a link take of it, while paths are solved.
    struct PathLoad {
        BitNanoseconds left = 0;  ///< rate x PathLink::whole
        std::int64_t parts = 0;   ///< of flows without a rate
        std::vector<std::uint32_t> flows;
    };
    std::vector<std::vector<PathLink>> paths_;  ///< by flow; empty: flows have two links
    std::vector<std::uint32_t> on_paths_;       ///< flows
    std::vector<PathLoad> loads_;               ///< by link
    std::vector<std::uint32_t> loaded_;         ///< links
    std::function<void(FlowId)> watcher_;
    std::uint64_t watch_ = 1;
};

}  // namespace weir::simulation
