#include "config/switch_keys.hpp"

#include <tuple>

namespace weir::config {

namespace {

using core::BackgroundPlan;
using core::BalancingPlan;
using core::CreditPlan;
using core::DcqcnPlan;
using core::EcnPlan;
using core::FabricPlan;
using core::HostPlan;
using core::NicPlan;
using core::PlacementPlan;
using core::SwiftPlan;
using core::SwitchPlan;
using core::TcpPlan;
using core::TopologyPlan;
using core::WatchdogPlan;
using Description = SwitchDescription;

/// Where the part of a type is in a description.
template <typename Part>
constexpr Part& part_of(Description& d) {
    const auto parts = std::tie(d, d.fabric, d.fabric.switches, d.fabric.switches.ecn,
                                d.fabric.switches.watchdog, d.fabric.switches.balancing, d.fabric.nics,
                                d.fabric.nics.dcqcn, d.fabric.nics.swift, d.fabric.nics.credits, d.fabric.tcp,
                                d.fabric.hosts, d.fabric.background, d.fabric.topology, d.fabric.placement);
    return std::get<Part&>(parts);
}

template <typename Part, typename Value>
constexpr Value& member_of(Description& d, Value Part::* member) {
    return part_of<Part>(d).*member;
}

/// The member, in the part of a description that has one.
template <auto member>
constexpr auto in = +[](Description& d) -> auto& { return member_of(d, member); };

constexpr double microsecond = 1e3;
constexpr double second = 1e9;
constexpr double most_bytes = 1e15;
constexpr double most_rate = 1e14;
constexpr double most_hosts = 65'536;
constexpr double last_priority = core::priority_count - 1;

constexpr std::string_view paper = "Zhu et al., SIGCOMM 2015";
constexpr std::string_view hpcc = "simulator of HPCC";
constexpr std::string_view irn = "IRN (Mittal et al., SIGCOMM 2018)";
constexpr std::string_view conweave = "conweave-ns3, IRN";
constexpr std::string_view nvidia = "NVIDIA's NICs";
constexpr std::string_view sonic = "SONiC (`pfcwd start_default`, below 32 ports)";
constexpr std::string_view connectx = "ConnectX-5";
constexpr std::string_view htsim = "csg-htsim (`swift.cpp`)";
constexpr std::string_view kumar = "Kumar et al., SIGCOMM 2020";

constexpr SwitchKey keys[] = {
    {"switch", "drop-tail", in<&Description::drop_tail>, 0, 1,
     "no pool: each queue of a port holds `--port-buffer`, and the rest is lost"},
    {"switch", "pool", in<&SwitchPlan::pool>, 10'000, most_bytes, "memory that all ports share",
     "QFX5200-32C"},
    {"switch", "ingress-alpha", in<&SwitchPlan::ingress_alpha>, 0.001, 1000,
     "a lossless priority of a port may hold this times what is free of the pool; then it is paused", hpcc},
    {"switch", "ingress-threshold", in<&SwitchPlan::ingress_threshold>, 0, most_bytes,
     "a fixed size instead; `0B`: use `ingress-alpha`"},
    {"switch", "egress-alpha", in<&SwitchPlan::egress_alpha>, 0.001, 1000,
     "a queue of a lossy priority may hold this times what is free of the pool, or of `egress-pool`; the "
     "rest is lost"},
    {"switch", "egress-threshold", in<&SwitchPlan::egress_threshold>, 0, most_bytes,
     "a fixed size instead; `0B`: use `egress-alpha`"},
    {"switch", "headroom", in<&SwitchPlan::headroom_at_100g>, 0, most_bytes,
     "memory for what still arrives after a pause: of one lossless priority of a port of 100 Gb/s; of others "
     "in proportion, with at least 25 Gb/s",
     "Linux, mlxsw"},
    {"switch", "resume-offset", in<&SwitchPlan::resume_offset>, 0, most_bytes,
     "a pause ends when a port holds so much less than the threshold", hpcc},
    {"switch", "cell", in<&SwitchPlan::cell>, 0, 1e6,
     "memory is given out in cells: a packet takes as many whole ones as it needs, without preamble and gap; "
     "`0B`: byte by byte"},
    {"switch", "slices", in<&SwitchPlan::slices>, 1, 64,
     "equal parts of the memory, of the headroom pool and of fixed thresholds; a packet can use one, by the "
     "port at which it came: ports are in slices in turn"},
    {"switch", "headroom-pool", in<&SwitchPlan::headroom_pool>, 0, most_bytes,
     "of the pool, for the headroom of all ports: each takes up to `headroom` while there is some; `0B`: "
     "each has its own"},
    {"switch", "pg-reserved", in<&SwitchPlan::group_reserved>, 0, most_bytes,
     "of the pool, for each lossless priority of each port alone; used first, not shared, not counted for a "
     "pause"},
    {"switch", "queue-reserved", in<&SwitchPlan::queue_reserved>, 0, most_bytes,
     "of the pool, or of `egress-pool`, for each queue of a lossy priority alone; used first"},
    {"switch", "egress-pool", in<&SwitchPlan::egress_pool>, 0, most_bytes,
     "what queues of lossy priorities share, with `egress-alpha`; their packets need room here and in the "
     "pool; `0B`: the pool alone"},
    {"switch", "arbitration", in<&SwitchPlan::arbitration>, 0, 0,
     "of packets of one priority that wait for a port: in the order in which they came, or from each ingress "
     "port in turn"},
    {"switch", "strict", MaskMember{in<&SwitchPlan::strict>}, 0, last_priority,
     "priorities that go first, the highest of them first; classes that are `own` are added"},
    {"switch", "weights", in<&SwitchPlan::weights>, 1, 1000,
     "of the other priorities, 0 to 7 (deficit round robin)"},

    {"pfc", "on", in<&Description::pfc>, 0, 1, "pauses for the class of data; the option `--pfc` beats it"},
    {"pfc", "whole-links", in<&SwitchPlan::pauses_whole_links>, 0, 1,
     "IEEE 802.3x: pauses stop a whole link, and all priorities are lossless"},

    {"watchdog", "on", in<&WatchdogPlan::on>, 0, 1,
     "switches act on queues that their peer pauses for too long; needs PFC, and not `whole-links`"},
    {"watchdog", "detection", in<&WatchdogPlan::detection>, microsecond, 60 * second,
     "a queue that is paused for so long without a break is treated by `action`", sonic},
    {"watchdog", "action", in<&WatchdogPlan::action>, 0, 0,
     "`drop`: what waits in the queue and what comes for it is lost; `forward`: pauses do not stop it",
     sonic},
    {"watchdog", "restoration", in<&WatchdogPlan::restoration>, microsecond, 60 * second,
     "a queue that was not paused for so long is treated as usual again", sonic},
    {"watchdog", "polling", in<&WatchdogPlan::polling>, 0, 60 * second,
     "it sees both at multiples of this time only (SONiC: 200 ms); `0s`: at once"},

    {"failures", "convergence", in<&SwitchPlan::convergence>, 0, 60 * second,
     "from a cable that is cut or mended until routes follow it; until then what is sent to a cut one is "
     "lost",
     "RFC 7938, 7: below a second"},

    {"ecn", "on", in<&EcnPlan::on>, 0, 1, "marks; the option `--ecn` beats it"},
    {"ecn", "none-below", in<&EcnPlan::none_below>, 0, most_bytes,
     "a queue up to this size is not marked (Kmin)", paper},
    {"ecn", "all-above", in<&EcnPlan::all_above>, 0, most_bytes,
     "of a queue beyond this size, every packet is marked (Kmax)", paper},
    {"ecn", "probability", in<&EcnPlan::probability_at_top>, 0.0001, 1,
     "of a mark at `all-above`; from `none-below` on it grows in proportion (Pmax)", paper},
    {"ecn", "of-rate", in<&EcnPlan::of_rate>, 0, most_rate,
     "both sizes are those of a port of this rate, of others in proportion; `0b/s`: of all ports"},
    {"ecn", "at-enqueue", in<&EcnPlan::at_enqueue>, 0, 1,
     "mark by the queue that a packet finds, instead of the one that it leaves"},
    {"ecn", "drops", in<&EcnPlan::drops>, 0, 1,
     "what cannot be marked is lost instead, with the same probability, by the queue that it finds (WRED): "
     "packets that do not take marks, and with `on = false` all"},

    {"dcqcn", "on", in<&Description::dcqcn>, 0, 1, "NICs act on marks, if ECN is on"},
    {"dcqcn", "rules", in<&DcqcnPlan::rules>, 0, 0,
     "how a sender reacts: as the paper of 2015 has it, or the simulator of HPCC, which most results with "
     "ns-3 rest on; see \"Rules of DCQCN\"",
     paper},
    {"dcqcn", "cnp-spacing", in<&DcqcnPlan::cnp_spacing>, 0, second,
     "`2015`: least time between two notifications of a queue pair; `hpcc`: a rate is cut at most once in "
     "this time",
     paper},
    {"dcqcn", "notify-losses", in<&DcqcnPlan::notify_losses>, 0, 1,
     "receivers also notify of packets that come ahead of a missing one, as NICs do; needs no ECN. `hpcc`: "
     "with each negative acknowledgement"},
    {"dcqcn", "alpha-period", in<&DcqcnPlan::alpha_period>, microsecond, second,
     "alpha falls once in this time", paper},
    {"dcqcn", "rate-period", in<&DcqcnPlan::rate_period>, microsecond, second,
     "the rate rises once in this time", paper},
    {"dcqcn", "gain", in<&DcqcnPlan::gain>, 0.0001, 1, "g, by which alpha moves", paper},
    {"dcqcn", "fast-stages", in<&DcqcnPlan::fast_stages>, 0, 1000,
     "rises towards the old rate before the rate grows beyond (F)", paper},
    {"dcqcn", "byte-counter", in<&DcqcnPlan::byte_counter>, 1000, most_bytes,
     "the rate also rises when so much was sent (B)", paper},
    {"dcqcn", "additive-increase", in<&DcqcnPlan::additive_increase>, 1000, most_rate, "Rai", paper},
    {"dcqcn", "hyper-increase", in<&DcqcnPlan::hyper_increase>, 1000, most_rate,
     "Rhai, when both time and bytes have passed the fast stages", paper},
    {"dcqcn", "least-rate", in<&DcqcnPlan::least_rate>, 1000, most_rate,
     "of a queue pair, however often it is notified"},
    {"dcqcn", "resets-at-line-rate", in<&DcqcnPlan::resets_at_line_rate>, 0, 1,
     "once its rate is the link's again, a queue pair is as if it had never been notified: alpha is 1 at the "
     "next notification; `false`: alpha goes on decaying; see \"Rules of DCQCN\"",
     "QCN (IEEE 802.1Qau)"},
    {"dcqcn", "of-rate", in<&DcqcnPlan::of_rate>, 0, most_rate,
     "both increases are those of a NIC of this rate, of others in proportion; `0b/s`: of all"},

    {"swift", "target", in<&SwiftPlan::target>, microsecond, second,
     "of a round trip with a large window; a longer one cuts the window. Longer than a round trip without "
     "queues",
     htsim},
    {"swift", "range", in<&SwiftPlan::range>, 0, second, "that the target is longer for small windows",
     htsim},
    {"swift", "range-from", in<&SwiftPlan::range_from>, 0.001, 1e6,
     "packets: with a window of so many, the target is longer by all of `range`", kumar},
    {"swift", "range-to", in<&SwiftPlan::range_to>, 0.001, 1e6, "packets: with so many, by nothing", kumar},
    {"swift", "increase", in<&SwiftPlan::increase>, 0.001, 1000,
     "packets that the window grows in a round trip", htsim},
    {"swift", "cut", in<&SwiftPlan::cut>, 0.001, 1,
     "part of the window by which it is cut, times the part of the round trip above the target (beta)",
     htsim},
    {"swift", "largest-cut", in<&SwiftPlan::largest_cut>, 0.001, 0.999,
     "part of the window, once in a round trip, and after a loss", htsim},

    {"credits", "unasked", in<&CreditPlan::unasked>, 0, 1e9,
     "unsolicited bytes: that a sender which had nothing under way sends before it has a credit: a round "
     "trip at full speed"},
    {"credits", "of-rate", in<&CreditPlan::of_rate>, 0, most_rate,
     "`unasked` is that of a link of this rate, of others in proportion; `0b/s`: of all"},
    {"credits", "grant", in<&CreditPlan::grant>, 100, 1e9,
     "bytes on the wire that one credit is for, at most"},
    {"credits", "share", in<&CreditPlan::share>, 0.01, 1,
     "of its link that a receiver gives out; the clocks of links differ"},

    {"nic", "control", in<&NicPlan::control>, 0, 0,
     "congestion control of queue pairs; see \"Other congestion control\""},
    {"nic", "recovery", in<&NicPlan::recovery>, 0, 1,
     "what is sent again after a loss; the option `--loss-recovery` beats it", "ConnectX-5"},
    {"nic", "packets-per-ack", in<&NicPlan::packets_per_ack>, 1, 1024,
     "an acknowledgement for so many packets, and one for the last of each message"},
    {"nic", "ack-bytes", in<&NicPlan::ack_bytes>, 64, 256, "of an acknowledgement on the wire, gap included"},
    {"nic", "nak-spacing", in<&NicPlan::nak_spacing>, 0, second,
     "least time between two negative acknowledgements of a queue pair", hpcc},
    {"nic", "ack-timeout", in<&NicPlan::ack_timeout>, 10 * microsecond, 60 * second,
     "without progress for so long, everything is sent again; with `selective` only where PFC is on",
     "IBTA, exponent 14"},
    {"nic", "selective-timeout-low", in<&NicPlan::selective_timeout_low>, 10 * microsecond, 60 * second,
     "`selective` without PFC: time-out with at most three packets under way", irn},
    {"nic", "selective-timeout-high", in<&NicPlan::selective_timeout_high>, 10 * microsecond, 60 * second,
     "`selective` without PFC: time-out with more packets under way", conweave},
    {"nic", "reorder", in<&NicPlan::reorder>, 0, 1e9,
     "a receiver keeps packets that come ahead of a missing one, and takes it for lost only when one comes "
     "so many bytes ahead; `0B`: with the first one ahead, and go-back-N keeps none"},
    {"nic", "queue-pairs", in<&NicPlan::most_queue_pairs>, 0, 1e9,
     "that a NIC holds; a run that needs more is refused; 0: no limit", connectx},
    {"nic", "window", in<&NicPlan::window>, 0, 1e9,
     "a queue pair has at most so much under way; `0B`: no limit, with `selective` 4096 packets"},
    {"nic", "window-follows-rate", in<&NicPlan::window_follows_rate>, 0, 1,
     "the window is that of full speed, and less in proportion to DCQCN's rate; then each packet is "
     "acknowledged",
     hpcc},
    {"nic", "strict", MaskMember{in<&NicPlan::strict>}, 0, last_priority, "as in `[switch]`"},

    {"classes", "data", PriorityMember{in<&FabricPlan::data_priority>}, 0, last_priority, "priority of data"},
    {"classes", "control", in<&Description::control>, 0, 0,
     "of grants and all other messages of weir; the option `--control-priority` beats it"},
    {"classes", "ack", in<&Description::ack>, 0, 0, "of acknowledgements", "IBTA"},
    {"classes", "cnp", in<&Description::cnp>, 0, 0, "of congestion notifications", nvidia},

    {"tcp", "control", in<&TcpPlan::control>, 0, 0, "congestion control, with `--framing tcp`", "Linux"},
    {"tcp", "ecn", in<&Description::tcp_ecn>, 0, 1, "packets may be marked, if ECN is on; DCTCP needs it"},
    {"tcp", "most-packets", in<&TcpPlan::most_packets>, 2, 65536, "of one connection under way: its buffers"},
    {"tcp", "initial-timeout", in<&TcpPlan::initial_timeout>, 10 * microsecond, 60 * second,
     "before a round trip was measured", "RFC 6298"},
    {"tcp", "least-timeout", in<&TcpPlan::least_timeout>, 10 * microsecond, 60 * second, "for retransmission",
     "Linux"},
    {"tcp", "most-timeout", in<&TcpPlan::most_timeout>, 10 * microsecond, 60 * second,
     "for retransmission, after repeated losses", "RFC 6298"},

    {"host", "send-time", in<&HostPlan::send_time>, 0, second,
     "that the kernel needs for a packet that it sends"},
    {"host", "ring-packets", in<&HostPlan::ring_packets>, 0, 1e6,
     "that may wait in the NIC for the kernel; the rest is lost; 0: no limit"},
    {"host", "interrupt-delay", in<&HostPlan::interrupt_delay>, 0, second,
     "from a packet in an empty ring until the kernel reads it"},
    {"host", "receive-time", in<&HostPlan::receive_time>, 0, second,
     "that the kernel needs for a packet in the ring"},
    {"host", "receive-rate", in<&HostPlan::receive_rate>, 0, most_rate, "and for its bytes; `0b/s`: no time"},
    {"host", "socket-buffer", in<&HostPlan::socket_buffer>, 0, most_bytes,
     "datagrams that no program has read; the rest is lost; `0B`: no limit"},
    {"host", "socket-overhead", in<&HostPlan::socket_overhead>, 0, 1e6,
     "that the kernel charges for each packet beside its payload"},
    {"host", "read-time", in<&HostPlan::read_time>, 0, second, "that the program needs for a datagram"},
    {"host", "pause-above", in<&HostPlan::pause_above>, 0, 1e6,
     "with so many packets in its ring, a host pauses the switch; 0: never"},
    {"host", "resume-at", in<&HostPlan::resume_at>, 0, 1e6, "down to so many packets, a pause ends"},

    {"background", "rate", in<&BackgroundPlan::rate>, 0, most_rate,
     "that each producer's host sends to the consumers' hosts in turn, whatever becomes of it; `0b/s`: none"},
    {"background", "packet", in<&BackgroundPlan::packet>, 84, 9300, "on the wire, gap included"},
    {"background", "priority", PriorityMember{in<&BackgroundPlan::priority>}, 0, last_priority, "its class"},

    {"topology", "kind", in<&TopologyPlan::kind>, 0, 0,
     "one switch; leaves and spines with ECMP; pods of them below cores; or leaves and spines with a leaf "
     "for each NIC of a host"},
    {"topology", "leaves", in<&TopologyPlan::leaves>, 1, 1000,
     "switches with hosts, which are shared out evenly in their order (`rail-optimized`: to as many leaves "
     "at a time as hosts have NICs); `three-tier`: of all pods"},
    {"topology", "spines", in<&TopologyPlan::spines>, 0, 1000,
     "switches that connect leaves; `three-tier`: of each pod; 0: rails that nothing connects"},
    {"topology", "uplink-rate", in<&TopologyPlan::uplink_rate>, 1000, most_rate,
     "of a cable from leaf to spine"},
    {"topology", "uplinks", in<&TopologyPlan::uplinks>, 1, 1000, "cables from each leaf to each spine"},
    {"topology", "pods", in<&TopologyPlan::pods>, 1, 1000,
     "`three-tier`: groups of leaves that have spines of their own"},
    {"topology", "cores", in<&TopologyPlan::cores>, 1, 1000,
     "`three-tier`: switches that connect pods; each spine of a pod has an equal part of them"},
    {"topology", "core-rate", in<&TopologyPlan::core_rate>, 1000, most_rate, "of a cable from spine to core"},
    {"topology", "core-links", in<&TopologyPlan::core_links>, 1, 1000,
     "cables from a spine to each of its cores"},
    {"topology", "own-rates", in<&TopologyPlan::own_cables>, 0, 0,
     "of cables between two switches that are not as fast as the others of their tier, as "
     "`leaf-0:spine-1=50Gb/s`"},
    {"topology", "host-delay", in<&TopologyPlan::host_delay>, 0, 0.1 * second,
     "of a cable from a host to its leaf, one way; `0s`: half of `--latency`"},
    {"topology", "uplink-delay", in<&TopologyPlan::uplink_delay>, 0, 0.1 * second,
     "of a cable from leaf to spine; `0s`: half of `--latency`"},
    {"topology", "core-delay", in<&TopologyPlan::core_delay>, 0, 0.1 * second,
     "of a cable from spine to core; `0s`: half of `--latency`"},
    {"topology", "hosts", in<&TopologyPlan::hosts>, 0, most_hosts,
     "that share the leaves, some of which may have no rank; 0: as many as the ranks need"},
    {"topology", "nics", in<&TopologyPlan::nics>, 1, 64, "of each host, every one with a cable of its own"},

    {"placement", "kind", in<&PlacementPlan::kind>, 0, 0,
     "which ranks sit on which host; see \"Ranks and hosts\" in simulating-a-fabric.md"},
    {"placement", "per-host", in<&PlacementPlan::per_host>, 1, 1000, "ranks (`rows`) or workers on a host"},
    {"placement", "hosts", in<&PlacementPlan::hosts>, 0, most_hosts - 1,
     "`explicit`: the host of each worker, or of each producer and then of each consumer"},
    {"placement", "scheduler-shares", in<&PlacementPlan::scheduler_shares>, 0, 1,
     "the scheduler sits on host 0, and not on one of its own at the first leaf"},
    {"placement", "seed", in<&PlacementPlan::seed>, 0, 4e9, "`random`; 0: that of the run"},
    {"placement", "memory-rate", in<&PlacementPlan::memory_rate>, 1000, most_rate,
     "at which a host copies what its ranks send each other"},
    {"placement", "memory-delay", in<&PlacementPlan::memory_delay>, 0, 0.1 * second,
     "until such a message has arrived, besides"},

    {"balancing", "kind", in<&BalancingPlan::kind>, 0, 0,
     "which of equally short ways a packet takes: the one that a hash of its flow gives, one for each "
     "flowlet or packet in turn, or the one on which it waits least"},
    {"balancing", "gap", in<&BalancingPlan::gap>, 0, 3600 * second,
     "`flowlets`: a packet that comes so long after the last one of its flow may take another way"},
    {"balancing", "adaptive-gap", in<&BalancingPlan::adaptive_gap>, 0, 3600 * second,
     "the same for `adaptive`; `0s`: every packet may"},
    {"balancing", "hash-queue-pairs", in<&BalancingPlan::hashes_queue_pairs>, 0, 1,
     "flows between two hosts have hashes of their own; `false`: one for all"},
};

}  // namespace

std::span<const SwitchKey> switch_keys() {
    return keys;
}

}  // namespace weir::config
