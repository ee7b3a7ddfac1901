#include "packet/balancing.hpp"

namespace weir::packet {

namespace {

class Ecmp final : public Balancer {
  public:
    LinkIndex choose(const Crossing& packet, const std::vector<Link>& /*links*/) override {
        return packet.ways[hashed_way(packet.path, packet.ways.size())];
    }
};

/// The state of a switch for flowlets: an entry for each flow and direction that has crossed it.
class Flowlets {
  public:
    explicit Flowlets(Picoseconds gap) : gap_(gap) {}

    struct Entry {
        std::uint64_t path = 0;
        std::uint64_t turn = 0;  ///< flowlets before this one
        Picoseconds last;
        LinkIndex way = 0;    ///< the policy's
        bool begins = false;  ///< with the packet that has just come
    };
    /// The flowlet of a packet that has come.
    Entry& of(const Crossing& packet) {
        const std::uint64_t key = std::uint64_t{packet.flow.value} << 32U | packet.to.value;
        const auto [known, added] = entries_.try_emplace(key);
        Entry& entry = known->second;
        // A connection may have taken the place of another one.
        if (added || entry.path != packet.path) {
            entry = {.path = packet.path, .last = packet.now, .begins = true};
            return entry;
        }
        entry.begins = packet.now - entry.last >= gap_;
        entry.turn += entry.begins ? 1 : 0;
        entry.last = packet.now;
        return entry;
    }

  private:
    Picoseconds gap_;
    std::unordered_map<std::uint64_t, Entry> entries_;
};

class InTurn final : public Balancer {
  public:
    explicit InTurn(Picoseconds gap) : flowlets_(gap) {}

    LinkIndex choose(const Crossing& packet, const std::vector<Link>& /*links*/) override {
        return packet.ways[way_in_turn(packet.path, flowlets_.of(packet).turn, packet.ways.size())];
    }

  private:
    Flowlets flowlets_;
};

class Adaptive final : public Balancer {
  public:
    explicit Adaptive(Picoseconds gap) : flowlets_(gap) {}

    LinkIndex choose(const Crossing& packet, const std::vector<Link>& links) override {
        Flowlets::Entry& entry = flowlets_.of(packet);
        if (entry.begins ||
            std::find(packet.ways.begin(), packet.ways.end(), entry.way) == packet.ways.end()) {
            entry.way = shortest(packet, entry.turn, links);
        }
        return entry.way;
    }

  private:
    /// For so long a packet would wait for its turn: what is being sent, and what waits with its priority.
    static Picoseconds wait(const Crossing& packet, const Link& link) {
        const Picoseconds queued{link.queues[packet.priority].bytes * link.picoseconds_per_byte_fixed >> 16};
        return std::max(link.free_at - packet.now, Picoseconds{}) + queued;
    }
    /// Of equally short ones the first in turn.
    static LinkIndex shortest(const Crossing& packet, std::uint64_t turn, const std::vector<Link>& links) {
        const std::uint64_t ways = packet.ways.size();
        const std::uint64_t first = way_in_turn(packet.path, turn, ways);
        LinkIndex best = packet.ways[first];
        Picoseconds least = wait(packet, links[best]);
        for (std::uint64_t next = 1; next < ways; ++next) {
            const LinkIndex way = packet.ways[(first + next) % ways];
            if (const Picoseconds waits = wait(packet, links[way]); waits < least) {
                best = way;
                least = waits;
            }
        }
        return best;
    }

    Flowlets flowlets_;
};

}  // namespace

std::unique_ptr<Balancer> make_balancer(const core::BalancingPlan& plan) {
    using enum core::BalancingKind;
    switch (plan.kind) {
        case ecmp:
            return std::make_unique<Ecmp>();
        case flowlets:
            return std::make_unique<InTurn>(Picoseconds::of(plan.gap));
        case spray:
            return std::make_unique<InTurn>(Picoseconds{});
        case adaptive:
            return std::make_unique<Adaptive>(Picoseconds::of(plan.adaptive_gap));
    }
    WEIR_UNREACHABLE("a kind of balancing without a policy");
}

}  // namespace weir::packet
