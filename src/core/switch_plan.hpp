// The switch, the NICs and the protocols that a simulation packet by packet assumes. Values that stand here
// are those of the sources named beside them; config sets what differs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace weir::core {

// How hosts and switches of a simulated network are connected, and which ranks sit on which host, as a user
// asks for it. core/fabric_layout.hpp and core/fabric_layout.hpp work out what follows from it.

enum class TopologyKind : std::uint8_t {
    star,            ///< one switch
    leaf_spine,      ///< every leaf has cables to every spine
    three_tier,      ///< pods of leaves and spines, and cores above them
    rail_optimized,  ///< leaf and spine, with each NIC of a host at a leaf of its own
};

/// Switches by what they connect, and cables by the lower of their ends.
enum class Tier : std::uint8_t { host, leaf, spine, core };

struct SwitchName {
    Tier tier = Tier::leaf;
    std::uint32_t index = 0;
    bool operator==(const SwitchName&) const = default;
};

/// All cables between two switches, where they have a speed of their own.
struct OwnCables {
    SwitchName lower;
    SwitchName upper;
    BitRate rate;
    bool operator==(const OwnCables&) const = default;
};

struct TopologyPlan {
    TopologyKind kind = TopologyKind::star;
    std::uint32_t leaves = 2;  ///< in all; they share the hosts evenly, the first ones to the first leaf
    std::uint32_t spines = 1;  ///< three tiers: of each pod
    BitRate uplink_rate{100'000'000'000};
    std::uint32_t uplinks = 1;  ///< cables from each leaf to each spine (of its pod)
    // Three tiers: spine number s of every pod has cables to the cores of plane s, cores / spines of them.
    std::uint32_t pods = 2;
    std::uint32_t cores = 1;
    BitRate core_rate{100'000'000'000};
    std::uint32_t core_links = 1;  ///< cables from a spine to each core of its plane
    // Delay of a cable, one way; 0: half of the network's latency.
    Duration host_delay{};
    Duration uplink_delay{};
    Duration core_delay{};
    std::uint32_t hosts = 0;  ///< 0: as many as the ranks need
    std::uint32_t nics = 1;   ///< of each host; each has its cable to a leaf
    std::vector<OwnCables> own_cables{};
    bool operator==(const TopologyPlan&) const = default;
};

enum class PlacementKind : std::uint8_t {
    rows,  ///< the scheduler, the producers, the consumers, a host for each: as a fluid without hosts has it
    by_worker,  ///< producer i and consumer i on one host
    by_rail,    ///< by worker, as many on a host as it has NICs, a NIC for each
    listed,     ///< as `hosts` says
    random,     ///< workers, or ranks if there are more of one role, on hosts that are drawn
};

struct PlacementPlan {
    PlacementKind kind = PlacementKind::rows;
    std::uint32_t per_host = 1;          ///< ranks (rows) or workers on a host; by rail: as many as NICs
    std::vector<std::uint32_t> hosts{};  ///< listed: of each worker, or of each producer and each consumer
    bool scheduler_shares = false;       ///< it sits on host 0, and not on one of its own; rows: never
    std::uint32_t seed = 0;              ///< random; 0: that of the run
    // Between ranks of one host.
    BitRate memory_rate{200'000'000'000};
    Duration memory_delay = Duration::nanoseconds(500);
    bool operator==(const PlacementPlan&) const = default;
};

/// 802.1p priority. Where priorities are strict, the higher one goes first.
using Priority = std::uint8_t;
inline constexpr std::size_t priority_count = 8;
/// One bit for each priority.
using PriorityMask = std::uint8_t;
constexpr PriorityMask mask_of(Priority priority) {
    return static_cast<PriorityMask>(1U << priority);
}

/// A value for a link of `rate` where that for one of `reference` is known; reference 0: for every link.
constexpr Bytes in_proportion(Bytes value, BitRate rate, BitRate reference) {
    return reference.bits_per_second == 0
               ? value
               : Bytes{static_cast<std::int64_t>(static_cast<WideInteger>(value.count) *
                                                 rate.bits_per_second / reference.bits_per_second)};
}
constexpr BitRate in_proportion(BitRate value, BitRate rate, BitRate reference) {
    return {in_proportion(Bytes{value.bits_per_second}, rate, reference).count};
}

/// When a switch marks a packet (RED on the length of the queue): never up to `none_below`, with a
/// probability that grows to `probability_at_top` at `all_above`, and always beyond. Values: Zhu et al.,
/// "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015.
struct EcnPlan {
    bool on = false;
    bool drops = false;  ///< packets that it may not mark are lost alike, by the queue that they find
    Bytes none_below{5'000};
    Bytes all_above{200'000};
    double probability_at_top = 0.01;
    BitRate of_rate{};        ///< the thresholds are those of such a port, of others in proportion; 0: of all
    bool at_enqueue = false;  ///< by the queue that a packet finds, and not by the one that it leaves
    bool operator==(const EcnPlan&) const = default;
};

/// Which of the packets that wait for a port, of one priority, goes next.
enum class Arbitration : std::uint8_t {
    fifo,                 ///< the one that came first
    ingress_round_robin,  ///< the first of each ingress port in turn, a packet each
};

enum class WatchdogAction : std::uint8_t {
    drop,    ///< what waits and what comes for the queue is lost
    forward  ///< the queue sends in spite of pauses
};

/// A pause holds for 65535 quanta of 512 bit times at most (IEEE 802.1Qbb), and is renewed at half of that:
/// after the time that a link needs for so many bytes.
inline constexpr Bytes pause_renewed_after{65535 * 64 / 2};

/// PFC watchdog of a switch: what it does with a queue that its peer pauses for ever. Values: SONiC,
/// sonic-utilities, pfcwd/main.py, for a switch with fewer than 32 ports.
struct WatchdogPlan {
    bool on = false;
    Duration detection = Duration::milliseconds(200);  ///< a queue that is paused for so long
    WatchdogAction action = WatchdogAction::drop;
    Duration restoration = Duration::milliseconds(200);  ///< ends once it was not paused for so long
    Duration polling{};  ///< it looks at multiples of this only; 0: at any instant
    bool operator==(const WatchdogPlan&) const = default;
};

/// When a switch sends a flow another of several equally short ways.
enum class BalancingKind : std::uint8_t {
    ecmp,      ///< never: a hash of the flow chooses
    flowlets,  ///< after a gap between two of its packets: the ways in turn
    spray,     ///< for every packet: the ways in turn
    adaptive,  ///< after a gap, which may be none: the way on which a packet waits least
};

/// How switches share traffic out to several equally short ways.
struct BalancingPlan {
    BalancingKind kind = BalancingKind::ecmp;
    Duration gap = Duration::microseconds(2);  ///< flowlets
    Duration adaptive_gap{};
    bool hashes_queue_pairs = true;  ///< flows of two hosts have hashes of their own, and not one for all

    /// A fluid takes all ways at once. Flowlets need gaps, and it has none.
    [[nodiscard]] constexpr bool spreads_fluid() const {
        return kind == BalancingKind::spray || kind == BalancingKind::adaptive;
    }
    /// A flow may take another way with every packet if they come so far apart.
    [[nodiscard]] constexpr bool spreads_packets(Duration apart) const {
        return kind == BalancingKind::spray || (kind == BalancingKind::flowlets && gap <= apart) ||
               (kind == BalancingKind::adaptive && adaptive_gap <= apart);
    }
    bool operator==(const BalancingPlan&) const = default;

    /// Packets of a flow may overtake each other. None waits for longer than a gap of a second.
    [[nodiscard]] constexpr bool reorders() const {
        constexpr Duration long_gap = Duration::seconds(1);
        switch (kind) {
            case BalancingKind::flowlets:
                return gap < long_gap;
            case BalancingKind::adaptive:
                return adaptive_gap < long_gap;
            case BalancingKind::spray:
                return true;
            case BalancingKind::ecmp:
                break;
        }
        return false;
    }
};

/// A switch with one pool of memory that all ports share. Values: QFX5200-32C; HPCC's simulator (Li et al.,
/// SIGCOMM 2019); Linux, mlxsw.
struct SwitchPlan {
    Bytes pool{16'000'000};
    PriorityMask lossless = 0;  ///< priorities with flow control
    /// A lossless (port, priority) may hold `ingress_alpha` x what is free of the pool before it is paused.
    double ingress_alpha = 0.125;
    Bytes ingress_threshold{};  ///< instead, if above 0: a fixed one
    /// Memory kept for what is under way when a pause is sent, for a port of 100 Gb/s; see headroom().
    Bytes headroom_at_100g{102'528};
    Bytes resume_offset{3'000};  ///< a pause ends this far below the threshold
    // How a chip divides its memory; core/network_plan.hpp works out what follows.
    Bytes cell{};              ///< memory is given out in cells of this size; 0: byte by byte
    std::uint32_t slices = 1;  ///< equal parts of the memory; what comes in at a port can use one
    Bytes headroom_pool{};     ///< of the pool, for the headroom of all ports; 0: each has its own
    Bytes group_reserved{};    ///< of each (port, lossless priority), used before what is shared
    Bytes queue_reserved{};    ///< of each queue of a lossy priority, used before what is shared
    Bytes egress_pool{};       ///< lossy queues share this beside the pool; 0: the pool itself
    /// Plain flow control (IEEE 802.3x) instead of that by priority: a pause stops all that a link carries.
    /// All priorities are lossless, and a port has one threshold and one headroom for them together.
    bool pauses_whole_links = false;
    /// A queue of a lossy priority may hold `egress_alpha` x what is free of the pool.
    double egress_alpha = 1;
    Bytes egress_threshold{};  ///< instead, if above 0: a fixed one for each port and priority
    EcnPlan ecn;
    /// Of priorities that are marked by rules of their own. Only while `ecn` is on, and as it says when.
    std::array<std::optional<EcnPlan>, priority_count> own_ecn{};
    Arbitration arbitration = Arbitration::fifo;
    BalancingPlan balancing;
    PriorityMask strict = 0;  ///< go first, the highest of them first
    std::array<std::uint32_t, priority_count> weights{1, 1, 1, 1, 1, 1, 1, 1};  ///< of the others
    WatchdogPlan watchdog;
    /// From the instant at which a cable is cut or mended until all switches have the routes that follow from
    /// it. RFC 7938, 7: links are found down in milliseconds, and routes converge in less than a second.
    Duration convergence = Duration::milliseconds(100);
    bool operator==(const SwitchPlan&) const = default;

    [[nodiscard]] const EcnPlan& ecn_of(Priority priority) const {
        return own_ecn[priority] ? *own_ecn[priority] : ecn;
    }
    /// Whether queues of this priority never lose packets, as long as the headroom suffices.
    [[nodiscard]] bool is_lossless(Priority priority) const {
        return pauses_whole_links || (lossless & mask_of(priority)) != 0;
    }
};

/// Headroom of a port for each of its lossless priorities: as Linux gives it (mlxsw), in proportion to the
/// lanes of 25 Gb/s, of which a slower port has one.
constexpr Bytes headroom(const SwitchPlan& plan, BitRate port_rate) {
    constexpr std::int64_t lane = 25'000'000'000;
    const std::int64_t rate = port_rate.bits_per_second < lane ? lane : port_rate.bits_per_second;
    return {
        static_cast<std::int64_t>(static_cast<WideInteger>(plan.headroom_at_100g.count) * rate / (4 * lane))};
}

/// How the sender of a flow reacts to notifications; packet/dcqcn.hpp has what differs.
enum class DcqcnRules : std::uint8_t {
    paper,  ///< Zhu et al. 2015
    hpcc    ///< the simulator of HPCC, after the NICs of a vendor
};

/// DCQCN. Values: Zhu et al. 2015.
struct DcqcnPlan {
    bool on = false;
    DcqcnRules rules = DcqcnRules::paper;
    /// Paper: the notification point sends at most one CNP of a flow in this time. HPCC: one for each packet,
    /// and the reaction point cuts the rate at most once in this time.
    Duration cnp_spacing = Duration::microseconds(50);
    Duration alpha_period = Duration::microseconds(55);
    Duration rate_period = Duration::microseconds(55);
    double gain = 1.0 / 256;
    std::uint32_t fast_stages = 5;
    Bytes byte_counter{10'000'000};
    bool notify_losses = true;  ///< NP: a CNP also for a packet that comes ahead of a missing one
    /// Once its rate is the link's again, a flow is as one that was never notified. So has QCN it, from which
    /// the rise of the rate is (a limiter at full rate becomes inactive); the paper says nothing about it.
    bool resets_at_line_rate = true;
    BitRate additive_increase{40'000'000};
    BitRate hyper_increase{40'000'000};
    BitRate least_rate{10'000'000};
    BitRate of_rate{};  ///< the increases are those of such a NIC, of others in proportion; 0: of all
    bool operator==(const DcqcnPlan&) const = default;
};

/// Credits of receivers: each NIC gives out the rate of its link among the senders that have data for it.
/// packet/credits.hpp has the rules and their sources. Values: choices of weir.
struct CreditPlan {
    Bytes unasked{150'000};            ///< that a sender which had nothing under way sends at once
    BitRate of_rate{100'000'000'000};  ///< that is for such a link, of others in proportion; 0: of all
    Bytes grant{16'000};               ///< bytes on the wire that one credit is for, at most
    double share = 0.998;              ///< of its link that a receiver gives out
    bool operator==(const CreditPlan&) const = default;
};

/// Swift: a window by delay. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in
/// the Datacenter", SIGCOMM 2020; values of csg-htsim (swift.cpp).
struct SwiftPlan {
    Duration target = Duration::microseconds(20);  ///< of a round trip, of a large window (base target)
    Duration range = Duration::microseconds(100);  ///< that the target is longer for the least window
    double range_from = 0.1;                       ///< packets: with a window of so many, all of the range
    double range_to = 100;                         ///< with so many, nothing
    double increase = 1;                           ///< packets in a round trip
    double cut = 0.8;                              ///< beta
    double largest_cut = 0.5;                      ///< max_mdf
    bool operator==(const SwiftPlan&) const = default;
};

/// Congestion control of queue pairs.
enum class PairControl : std::uint8_t { dcqcn, swift, credits };

enum class LossRecovery : std::uint8_t { go_back_n, selective };

struct NicPlan {
    Bytes payload{4096};                 ///< of a full packet
    Bytes overhead{82};                  ///< of a packet, preamble and gap included
    Bytes ack_bytes{84};                 ///< of an acknowledgement or CNP on the wire
    std::uint32_t packets_per_ack = 16;  ///< besides one at the end of each message
    LossRecovery recovery = LossRecovery::go_back_n;
    Duration nak_spacing = Duration::microseconds(4);           ///< at least; HPCC's simulator
    Duration ack_timeout = Duration::nanoseconds(4'096 << 14);  // IBTA 9.7.6.1.3, exponent 14: 67 ms
    // Selective: instead, with at most three packets under way, and with more. Mittal et al., SIGCOMM 2018;
    // conweave-ns3 for the longer one.
    Duration selective_timeout_low = Duration::microseconds(100);
    Duration selective_timeout_high = Duration::microseconds(1350);
    /// A receiver keeps packets that come ahead of a missing one, and takes it for late and not for lost up
    /// to so many bytes ahead; 0: for lost with the first packet ahead.
    Bytes reorder{};
    bool may_be_overtaken = false;  ///< packets on their way; the network says so (BalancingPlan)
    std::uint32_t most_queue_pairs = 1U << 18U;  ///< that a NIC holds; 0: no limit. ConnectX-5
    Bytes window{};                              ///< under way at most; 0: no limit, selective 4096 packets
    bool window_follows_rate =
        false;  ///< the window is that for full speed, and less in proportion to the rate
    Priority ack_priority = 0;
    Priority cnp_priority = 0;
    PriorityMask strict = 0;  ///< as in SwitchPlan
    PairControl control = PairControl::dcqcn;
    DcqcnPlan dcqcn;
    SwiftPlan swift;
    CreditPlan credits;
    bool operator==(const NicPlan&) const = default;
};

/// A window that shrinks needs an acknowledgement of each packet: what is under way may be more than the
/// window all at once, and must be acknowledged nevertheless.
constexpr std::uint32_t packets_per_ack(const NicPlan& plan) {
    return plan.window_follows_rate || plan.control == PairControl::swift ? 1 : plan.packets_per_ack;
}

enum class CongestionControl : std::uint8_t { newreno, cubic, dctcp };

struct TcpPlan {
    Bytes payload{1448};  ///< of a full segment: MTU 1500 with time stamps
    Bytes overhead{90};   ///< Ethernet 38, IP 20, TCP 32
    CongestionControl control = CongestionControl::cubic;
    bool ecn = false;                                      ///< packets may be marked; DCTCP needs it
    std::uint32_t most_packets = 4096;                     ///< under way: send and receive buffer
    Duration initial_timeout = Duration::seconds(1);       // RFC 6298
    Duration least_timeout = Duration::milliseconds(200);  // Linux
    Duration most_timeout = Duration::seconds(60);
    bool operator==(const TcpPlan&) const = default;
};

/// What a host does with packets between its NIC and a program. Times of 0 and sizes of 0: no limit.
struct HostPlan {
    Duration send_time{};            ///< that the kernel needs for a packet that it sends
    std::uint32_t ring_packets = 0;  ///< room in the NIC for packets that have arrived; others are dropped
    Duration interrupt_delay{};      ///< from a packet in an empty ring until the kernel looks at it
    Duration receive_time{};         ///< that the kernel needs for a packet in the ring
    BitRate receive_rate{};          ///< and for its bytes
    Bytes socket_buffer{};    ///< datagrams of one receiver that no program has read; others are dropped
    Bytes socket_overhead{};  ///< that the kernel charges for each packet of a datagram beside its payload
    Duration read_time{};     ///< that the program needs for a datagram
    /// Flow control by the host, if the switch has any: with so many packets in the ring it pauses the
    /// switch, 0: never; down to so many it lets it go on.
    std::uint32_t pause_above = 0;
    std::uint32_t resume_at = 0;
    bool operator==(const HostPlan&) const = default;
};

/// Traffic of others from each producer's host to the consumers' hosts in turn.
struct BackgroundPlan {
    enum class Kind : std::uint8_t {
        packets,  ///< at a constant rate, whatever becomes of them
        tcp,      ///< messages over a connection to each host
        rdma,     ///< messages over a queue pair to each host
    };
    BitRate rate{};       ///< of each producer's host, packets on the wire, messages as they are; 0: none
    Bytes packet{1'538};  ///< on the wire
    Priority priority = 1;
    Kind kind = Kind::packets;
    Bytes message{1'000'000};
    bool operator==(const BackgroundPlan&) const = default;
};

/// A priority that has a name, and what others send with it.
struct TrafficClass {
    std::string name;
    BackgroundPlan traffic;  ///< with the class's priority
    bool operator==(const TrafficClass&) const = default;
};

/// Connections for the data of a producer and a consumer, each with a rate, window and order of its own.
struct QueuePairs {
    static constexpr std::uint32_t most = 256;
    bool of_events = false;       ///< one for each event, for which further messages of the pair do not wait
    std::uint32_t of_a_pair = 1;  ///< else so many, which messages take in turn
    bool operator==(const QueuePairs&) const = default;
};

/// Which model of the network a simulation uses.
enum class NetworkModel : std::uint8_t {
    fluid,   ///< transfers share links fairly; a switch without limits
    packet,  ///< every packet through the buffers of a switch
};

/// All that the packet model needs beside the speeds of links.
struct FabricPlan {
    SwitchPlan switches;
    NicPlan nics;
    TcpPlan tcp;
    HostPlan hosts;
    BackgroundPlan background;
    std::vector<TrafficClass> classes{};  ///< whose packets are counted apart; empty: none are
    TopologyPlan topology;
    PlacementPlan placement;
    QueuePairs queue_pairs;
    Priority data_priority = 3;
    Priority control_priority = 3;
    bool operator==(const FabricPlan&) const = default;

    /// What the network carries beside the run: bits per second of each producer's host.
    [[nodiscard]] BitRate of_others() const {
        BitRate all = background.rate;
        for (const TrafficClass& one : classes) {
            all.bits_per_second += one.traffic.rate.bits_per_second;
        }
        return all;
    }
};

}  // namespace weir::core
