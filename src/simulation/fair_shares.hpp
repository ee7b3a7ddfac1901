// The network as a fluid: every node has an up link to a non-blocking switch and a down link from it, and the
// transfers that are under way share the links max-min fairly: no transfer can have more without another one,
// that has no more than it, having less (Bertsekas and Gallager, "Data Networks", section 6.5.2; computed by
// progressive filling). Rates change only when a transfer begins or ends or a link changes, so there are no
// packets to simulate.
//
// Solved incrementally: a change is followed from its two links to the transfers on them, and from a transfer
// to its other link only if that link could be full, that is if the other ends of all its transfers together
// could bring more than it carries. Links that cannot fill couple nobody. Rates, progress and times are
// integers (bits per second, bit nanoseconds, nanoseconds), so that a run is the same on every machine and no
// byte is lost to rounding.
//
// Rejected: packets (10^6 times the events), and a fresh solution of the whole network at each change (the
// farm has 4500 links and 4000 changes per second).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/ids.hpp"
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

class FairShares {
  public:
    /// `capacities`: payload rates of the links, by LinkId. `flows_limit`: flows that can be under way at a
    /// time.
    FairShares(std::vector<core::BitRate> capacities, std::uint32_t flows_limit);

    /// A transfer of `bytes` over two different links. Its rate is known after the next share_out().
    FlowId begin(core::Instant now, LinkId up, LinkId down, core::Bytes bytes);
    /// Takes a transfer out, finished or not.
    void end(core::Instant now, FlowId id);
    /// Changes what a link carries; 0: nothing.
    void set_capacity(core::Instant now, LinkId id, core::BitRate capacity);

    /// Shares the links anew after changes, all of which were made at `now`. To be called before time moves
    /// on.
    void share_out(core::Instant now);

    /// From now on `watcher` is called with each flow whose rate a share_out() changes, before it does.
    void watch_rates(std::function<void(FlowId)> watcher) { watcher_ = std::move(watcher); }

    /// When the next transfer is through, and which one (of several the one with the lowest number). Only
    /// after share_out().
    [[nodiscard]] core::Instant next_end() const {
        return ends_.empty() ? core::Instant::never() : core::Instant{ends_.key(ends_.top())};
    }
    [[nodiscard]] FlowId next_to_end() const { return {ends_.top()}; }

    /// What has moved until `now`.
    [[nodiscard]] BitNanoseconds moved(FlowId flow, core::Instant now) const {
        const Flow& it = flows_[flow.value];
        return it.moved + static_cast<BitNanoseconds>(it.rate) * (now - it.since).ns;
    }
    [[nodiscard]] core::BitRate rate(FlowId flow) const { return {flows_[flow.value].rate}; }
    [[nodiscard]] core::BitRate capacity(LinkId link) const { return {links_[link.value].capacity}; }
    [[nodiscard]] std::uint32_t flows_on(LinkId link) const {
        return static_cast<std::uint32_t>(links_[link.value].flows.size());
    }
    /// Sum of the rates on a link.
    [[nodiscard]] core::BitRate load(LinkId link) const;

    /// Flows whose rate was computed, in all solutions so far: the work done.
    [[nodiscard]] std::uint64_t flows_solved() const { return flows_solved_; }

  private:
    struct Flow {
        std::array<std::uint32_t, 2> links{};
        std::array<std::uint32_t, 2> positions{};  ///< in the lists of the links
        std::int64_t rate = 0;                     ///< bits per second
        BitNanoseconds total = 0;
        BitNanoseconds moved = 0;  ///< until `since`
        core::Instant since;
        std::uint64_t mark = 0;  ///< the solution that it was last part of
        bool active = false;
        bool fixed = false;
    };
    struct Link {
        std::int64_t capacity = 0;
        BitNanoseconds offered = 0;  ///< sum over its flows of the capacity of their other link
        std::vector<std::uint32_t> flows;
        std::uint64_t mark = 0;
        bool dirty = false;
        // While a solution is computed:
        std::int64_t left = 0;
        std::uint32_t unfixed = 0;
    };
    struct Share {
        std::int64_t rate = 0;
        std::uint32_t link = 0;
        bool operator<(const Share& other) const {
            return rate != other.rate ? rate < other.rate : link < other.link;
        }
    };

    [[nodiscard]] bool can_fill(const Link& link) const { return link.offered > link.capacity; }
    [[nodiscard]] std::uint32_t other_link(const Flow& flow, std::uint32_t link) const {
        return flow.links[0] == link ? flow.links[1] : flow.links[0];
    }
    void touch(std::uint32_t link);
    void collect();
    void fill(core::Instant now);
    bool fill_from_one_link(core::Instant now);
    std::size_t fill_in_order(core::Instant now);
    std::size_t fix_flows(core::Instant now, const Share& share);
    void set_rate(core::Instant now, std::uint32_t index, std::int64_t rate);
    [[nodiscard]] Share share_of(std::uint32_t link) const;

    std::vector<Link> links_;
    Pool<Flow> flows_;
    core::IndexedHeap<std::int64_t> ends_;  ///< active flows that move, by the time of their end in ns
    bool sorts_once_ = false;               ///< the ends, after all flows of a link have their rates
    std::vector<std::uint32_t> dirty_;
    std::uint64_t mark_ = 0;
    std::vector<std::uint32_t> involved_links_;
    std::size_t involved_flows_ = 0;
    std::vector<Share> shares_;
    std::uint64_t flows_solved_ = 0;
    std::function<void(FlowId)> watcher_;
};

}  // namespace weir::simulation
