// Random packet networks under random traffic: no byte is unaccounted for at any instant, no pool holds more
// than it has, lossless priorities lose nothing, and everything posted arrives once and in order.
#include "packet/packet_network.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "core/random.hpp"
#include "leaf_spine.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

constexpr std::int64_t mega = 1'000'000;
constexpr Picoseconds microsecond = Picoseconds::nanoseconds(1000);

/// A network with all that it needs to be built again.
struct Case {
    Topology topology;
    std::uint32_t hosts = 0;
    core::SwitchPlan switches;
    core::NicPlan nics;
    core::TcpPlan tcp;
};

core::BitRate draw_rate(core::Random& random) {
    constexpr std::int64_t rates[] = {100 * mega, 1000 * mega, 10'000 * mega, 100'000 * mega};
    return {rates[random.below(4)]};
}

Topology draw_topology(core::Random& random, std::uint32_t hosts) {
    std::vector<core::BitRate> rates;
    for (std::uint32_t host = 0; host < hosts; ++host) {
        rates.push_back(draw_rate(random));
    }
    const core::Duration delay{static_cast<std::int64_t>(random.below(2000))};
    if (random.below(2) == 0) {
        return star(rates, delay);
    }
    return leaf_spine({.leaves = static_cast<std::uint32_t>(1 + random.below(3)),
                       .spines = static_cast<std::uint32_t>(1 + random.below(3)),
                       .hosts = rates,
                       .between = draw_rate(random),
                       .delay = delay,
                       .cables = static_cast<std::uint32_t>(1 + random.below(2))});
}

Case draw_case(core::Random& random) {
    const auto hosts = static_cast<std::uint32_t>(2 + random.below(6));
    Case drawn{draw_topology(random, hosts), hosts, {}, {}, {}};
    core::SwitchPlan& switches = drawn.switches;
    // Room for the headroom of every port and priority, whatever is drawn below.
    const auto ports = static_cast<std::int64_t>(drawn.topology.links().size());
    // At 100 Mb/s it is 20 kB: a packet that keeps the PAUSE waiting, two that follow, and eight such frames.
    switches.headroom_at_100g = {20 * mega};
    switches.pool = {ports * 8 * switches.headroom_at_100g.count +
                     static_cast<std::int64_t>(20'000 + random.below(500'000))};
    switches.lossless = static_cast<core::PriorityMask>(random.below(2) == 0 ? 0 : random.below(256));
    if (switches.lossless == 0) {
        switches.pool = {static_cast<std::int64_t>(20'000 + random.below(500'000))};
    }
    switches.ingress_threshold = {
        static_cast<std::int64_t>(random.below(2) == 0 ? 0 : 2000 + random.below(50'000))};
    switches.egress_threshold = {
        static_cast<std::int64_t>(random.below(2) == 0 ? 0 : 3000 + random.below(50'000))};
    switches.ecn.on = random.below(2) == 0;
    switches.ecn.at_enqueue = random.below(2) == 0;
    switches.strict = static_cast<core::PriorityMask>(random.below(256));
    switches.convergence = core::Duration::microseconds(static_cast<std::int64_t>(random.below(500)));
    switches.watchdog.on = random.below(3) == 0;
    switches.watchdog.detection =
        core::Duration::microseconds(static_cast<std::int64_t>(50 + random.below(1000)));
    switches.watchdog.restoration = switches.watchdog.detection;
    switches.watchdog.action =
        random.below(2) == 0 ? core::WatchdogAction::drop : core::WatchdogAction::forward;
    core::NicPlan& nics = drawn.nics;
    nics.payload = {static_cast<std::int64_t>(500 + random.below(4000))};
    nics.recovery = random.below(2) == 0 ? core::LossRecovery::go_back_n : core::LossRecovery::selective;
    nics.ack_timeout = core::Duration::microseconds(static_cast<std::int64_t>(500 + random.below(5000)));
    nics.ack_priority = static_cast<Priority>(random.below(8));
    nics.cnp_priority = static_cast<Priority>(random.below(8));
    nics.window = {static_cast<std::int64_t>(random.below(2) == 0 ? 0 : 5000 + random.below(100'000))};
    nics.dcqcn.on = random.below(2) == 0;
    nics.reorder = {static_cast<std::int64_t>(random.below(2) == 0 ? 0 : random.below(200'000))};
    switches.balancing = {.kind = static_cast<core::BalancingKind>(random.below(4)),
                          .gap = core::Duration::microseconds(static_cast<std::int64_t>(random.below(20))),
                          .adaptive_gap = core::Duration{static_cast<std::int64_t>(random.below(2000))},
                          .hashes_queue_pairs = random.below(2) == 0};
    nics.control = static_cast<core::PairControl>(random.below(3));
    nics.credits.unasked = {static_cast<std::int64_t>(random.below(2) == 0 ? 0 : random.below(200'000))};
    drawn.tcp.ecn = random.below(2) == 0;
    drawn.tcp.least_timeout = core::Duration::milliseconds(1);
    drawn.tcp.most_timeout = core::Duration::milliseconds(50);
    return drawn;
}

class Traffic {
  public:
    Traffic(Case drawn, std::uint64_t seed)
        : case_(std::move(drawn)),
          random_(seed, 3),
          network_({.topology = case_.topology,
                    .switches = case_.switches,
                    .nics = case_.nics,
                    .tcp = case_.tcp,
                    .seed = seed}) {
        const std::uint64_t flows = 1 + random_.below(12);
        for (std::uint64_t flow = 0; flow < flows; ++flow) {
            const auto from = static_cast<std::uint32_t>(random_.below(case_.hosts));
            const auto to =
                static_cast<std::uint32_t>((from + 1 + random_.below(case_.hosts - 1)) % case_.hosts);
            network_.connect(
                {from}, {to}, static_cast<Priority>(random_.below(8)),
                random_.below(3) == 0 ? PacketNetwork::Protocol::tcp : PacketNetwork::Protocol::queue_pair);
        }
        for (int failure = 0; failure < 4; ++failure) {
            network_.add_failure(draw_failure());
        }
        lasts_.resize(4);
        posted_.resize(flows);
        arrived_.resize(flows);
        sent_.resize(flows);
    }

    /// Posts and disturbs at random instants, and audits at others.
    void run() {
        for (int step = 0; step < 60; ++step) {
            const auto flow = static_cast<std::uint32_t>(random_.below(posted_.size()));
            network_.post(network_.now(), {flow}, posted_[flow]++,
                          {static_cast<std::int64_t>(1 + random_.below(100'000))});
            if (random_.below(5) == 0) {
                const auto host = static_cast<std::uint32_t>(random_.below(case_.hosts));
                network_.set_speed(network_.now(), {host}, static_cast<double>(random_.below(2)));
            }
            if (random_.below(5) == 0) {
                const auto failure = static_cast<std::uint32_t>(random_.below(lasts_.size()));
                lasts_[failure] = !lasts_[failure];
                network_.set_failed(network_.now(), failure, lasts_[failure]);
            }
            run_for(microsecond * static_cast<std::int64_t>(random_.below(100)));
            audit();
        }
        for (std::uint32_t host = 0; host < case_.hosts; ++host) {
            network_.set_speed(network_.now(), {host}, 1);
        }
        for (std::uint32_t failure = 0; failure < lasts_.size(); ++failure) {
            if (lasts_[failure]) {
                network_.set_failed(network_.now(), failure, false);
            }
        }
    }
    void run_for(Picoseconds time) {
        const Picoseconds until = network_.now() + time;
        while (network_.next_time() <= until && network_.next_time() != Picoseconds::never()) {
            note(network_.advance(until));
        }
    }
    /// Whether all has arrived in the end.
    bool run_to_end() {
        for (int round = 0; round < 2'000'000; ++round) {
            if (sent_ == posted_) {
                run_for(microsecond * 10'000'000);
                return arrived_ == posted_;
            }
            if (network_.next_time() == Picoseconds::never()) {
                return false;
            }
            note(network_.advance(network_.next_time() + microsecond * 1000));
            if (round % 64 == 0) {
                audit();
            }
        }
        return false;
    }

    void audit() {
        const std::vector<std::uint64_t> inside = network_.bytes_inside();
        for (std::uint32_t flow = 0; flow < inside.size(); ++flow) {
            const Flow::WireBytes& traffic = network_.flow({flow}).traffic;
            REQUIRE(traffic.sent == traffic.arrived + traffic.dropped + inside[flow]);
        }
        std::uint64_t on_first_links = 0;
        for (LinkIndex link = 0; link < case_.topology.links().size(); ++link) {
            const Topology::Link& ends = case_.topology.links()[link];
            for (Priority priority = 0; priority < priority_count; ++priority) {
                on_first_links +=
                    case_.topology.is_switch(ends.from) ? 0 : network_.counts(link, priority).bytes;
            }
        }
        std::uint64_t sent = 0;
        for (std::uint32_t flow = 0; flow < inside.size(); ++flow) {
            sent += network_.flow({flow}).traffic.sent;
        }
        REQUIRE(on_first_links <= sent);
        const std::vector<CarriedByPriority> on_the_way = network_.on_the_way();
        for (std::uint32_t node = case_.hosts; node < case_.topology.nodes(); ++node) {
            std::int64_t queued = 0;
            std::uint64_t came = 0;
            std::uint64_t went = 0;
            for (const LinkIndex link : case_.topology.ports({node})) {
                for (Priority priority = 0; priority < priority_count; ++priority) {
                    queued += network_.queued_bytes(link, priority);
                    came += network_.counts(link ^ 1U, priority).bytes;
                    const LinkCounts& leaving = network_.counts(link, priority);
                    went += leaving.bytes + leaving.dropped_bytes;
                }
                came -= on_the_way[link ^ 1U].sum().bytes + network_.losses(link ^ 1U).on_link.sum().bytes;
                went += network_.losses(link).before_link.bytes;
            }
            went += network_.without_way({node}).bytes;
            REQUIRE(came == went + static_cast<std::uint64_t>(queued));
            REQUIRE(network_.buffer({node}).used() == queued);
            REQUIRE(network_.buffer({node}).peak() <= case_.switches.pool.count);
        }
    }
    [[nodiscard]] bool lossless_dropped() const {
        for (LinkIndex link = 0; link < case_.topology.links().size(); ++link) {
            for (Priority priority = 0; priority < priority_count; ++priority) {
                if ((case_.switches.lossless >> priority & 1U) != 0 &&
                    network_.counts(link, priority).dropped > 0) {
                    return true;
                }
            }
        }
        return false;
    }
    [[nodiscard]] const PacketNetwork& network() const { return network_; }

    /// Whether every byte that failures lost is that of one of them.
    [[nodiscard]] bool losses_agree() const {
        std::uint64_t by_failure = network_.watchdogs().dropped.bytes;
        for (std::uint32_t failure = 0; failure < lasts_.size(); ++failure) {
            const FailureCosts costs = network_.failure_costs(failure, network_.now());
            by_failure += costs.lost().bytes;
            if (costs.open_gaps > 0) {
                return false;
            }
        }
        std::uint64_t lost = 0;
        for (LinkIndex link = 0; link < case_.topology.links().size(); ++link) {
            lost += network_.losses(link).on_link.sum().bytes + network_.losses(link).before_link.bytes;
        }
        for (std::uint32_t node = 0; node < case_.topology.nodes(); ++node) {
            lost += network_.without_way({node}).bytes;
        }
        return lost == by_failure;
    }
    [[nodiscard]] bool was_cut() const { return was_cut_; }

  private:
    FabricFailure draw_failure() {
        FabricFailure failure;
        failure.kind = static_cast<FabricFailure::Kind>(random_.below(4));
        failure.share = 0.1 + 0.4 * random_.uniform();
        failure.host = {static_cast<std::uint32_t>(random_.below(case_.hosts))};
        const auto cables = case_.topology.links().size() / 2;
        for (std::uint64_t more = 1 + random_.below(3);
             more > 0 && failure.kind != FabricFailure::Kind::storm; --more) {
            failure.cables.push_back(static_cast<CableIndex>(random_.below(cables)));
        }
        was_cut_ = was_cut_ || failure.kind == FabricFailure::Kind::cut;
        return failure;
    }
    void note(const std::vector<PacketNetwork::Report>& reports) {
        for (const PacketNetwork::Report& report : reports) {
            auto& counts = report.kind == PacketNetwork::Report::Kind::arrived ? arrived_ : sent_;
            REQUIRE(report.message == counts[report.flow.value]++);
        }
    }

    Case case_;
    core::Random random_;
    PacketNetwork network_;
    std::vector<bool> lasts_;  ///< by failure
    bool was_cut_ = false;
    // Messages of each flow; handles count up from 0.
    std::vector<std::uint64_t> posted_;
    std::vector<std::uint64_t> arrived_;
    std::vector<std::uint64_t> sent_;
};

}  // namespace

TEST_CASE("In random packet networks every byte is accounted for, and everything arrives") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{101}));
    CAPTURE(seed);
    core::Random random(seed, 0);
    Traffic traffic(draw_case(random), seed);
    traffic.run();
    CHECK(traffic.run_to_end());
    traffic.audit();
    // What was in the headroom when a cable was cut may still be there when it is mended.
    CHECK((traffic.was_cut() || !traffic.lossless_dropped()));
    CHECK(traffic.losses_agree());
    const std::vector<std::uint64_t> inside = traffic.network().bytes_inside();
    CHECK(std::accumulate(inside.begin(), inside.end(), std::uint64_t{0}) == 0);
}

TEST_CASE("A random packet network runs the same way again") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{6}));
    const auto run = [seed] {
        core::Random random(seed, 0);
        Traffic traffic(draw_case(random), seed);
        traffic.run();
        traffic.run_to_end();
        return std::pair{traffic.network().now(), traffic.network().transmissions()};
    };
    CHECK(run() == run());
}
