// Hosts with NICs and switches on a virtual clock, packet by packet: queues, shared memory, pauses (PFC),
// marks (ECN), DCQCN, losses and their recovery. Deterministic for a seed.
//
// A packet stays in one item (event_wheel.hpp) on its whole way: in a queue, or in the wheel of events while
// it is on a link. Nothing is copied or allocated per packet.
//
// One class in several files, because its parts call each other for every packet: network_switches.cpp,
// network_switches.cpp, network_hosts.cpp, and network_failures.cpp and network_deadlock.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "core/ring_queue.hpp"
#include "core/switch_plan.hpp"
#include "packet/balancing.hpp"
#include "packet/credits.hpp"
#include "packet/event_wheel.hpp"
#include "packet/failure.hpp"
#include "packet/flow.hpp"
#include "packet/host_queue.hpp"
#include "packet/link.hpp"
#include "packet/packet.hpp"
#include "packet/queue_pair.hpp"
#include "packet/shared_buffer.hpp"
#include "packet/tcp_connection.hpp"
#include "packet/topology.hpp"
#include "packet/udp_socket.hpp"

namespace weir::packet {

// More functions: each packet calls most of its parts. They are to become objects that own their counters:
// ports, shared buffers, those that pause, hosts.
class PacketNetwork {
  public:
    struct Setup {
        const Topology& topology;  ///< must outlive it
        core::SwitchPlan switches;
        core::NicPlan nics;
        core::TcpPlan tcp{};
        core::HostPlan hosts{};
        DatagramFraming datagrams{};
        std::uint64_t seed = 1;
        Picoseconds begin{};  ///< of its clock
    };
    explicit PacketNetwork(const Setup& setup);
    PacketNetwork(const PacketNetwork&) = delete;
    PacketNetwork& operator=(const PacketNetwork&) = delete;
    ~PacketNetwork() = default;

    enum class Protocol : std::uint8_t { queue_pair, tcp };
    /// There must be a way from one host to the other one. Which of several follows from the seed, both hosts
    /// and `number`, which tells apart flows of a pair.
    FlowIndex connect(NodeIndex from, NodeIndex to, Priority priority,
                      Protocol protocol = Protocol::queue_pair, std::uint32_t number = 0);
    /// A new connection from the host of `used`, a connection with which the caller is done, and under its
    /// index. False: packets of it are still under way, or its timer may come too late; nothing has changed.
    bool connect_again(Picoseconds now, FlowIndex used, NodeIndex to, Protocol protocol,
                       std::uint32_t number = 0);
    /// Hands a message to a flow. `now` is not before what advance() has reported; what has happened within
    /// the nanosecond before it comes first.
    void post(Picoseconds now, FlowIndex flow, MessageHandle message, core::Bytes bytes);

    FlowIndex open_socket(NodeIndex from, Priority priority);
    /// As post(), to a socket.
    void post_datagram(Picoseconds now, FlowIndex socket, NodeIndex to, MessageHandle message,
                       core::Bytes bytes);
    /// The program of a host is done with the last datagram that was reported as arrived there. Until then it
    /// reads no other, and what arrives waits in the socket's buffer.
    void read_next(Picoseconds now, NodeIndex node);

    /// Traffic of others from one host to others in turn, from now on and for ever: advance() needs an end.
    /// `number` tells apart several of one host. Its acknowledgements have its priority.
    void add_background(const core::BackgroundPlan& plan, NodeIndex from, const std::vector<NodeIndex>& to,
                        std::uint32_t number = 0);

    /// From now on both directions of a host's cable carry `factor` (0 to 1) of their rate; 0: nothing.
    void set_speed(Picoseconds now, NodeIndex host, double factor);

    /// Something that will fail; returns its number.
    std::uint32_t add_failure(FabricFailure failure);
    /// From now on, or no more. Of failures of one cable the worst counts, and shares of errors add up.
    void set_failed(Picoseconds now, std::uint32_t failure, bool on);
    /// So far: a gap that has not ended is as long as from its beginning to `until`.
    [[nodiscard]] FailureCosts failure_costs(std::uint32_t failure, Picoseconds until) const;
    [[nodiscard]] const LinkLosses& losses(LinkIndex link) const { return losses_[link]; }
    /// Packets that a switch lost because it had no way to their host.
    [[nodiscard]] const Carried& without_way(NodeIndex node) const { return without_way_[node.value]; }
    [[nodiscard]] const WatchdogCounts& watchdogs() const { return watchdogs_; }
    /// In the order of their discovery; the first NetworkEvent::most_kept.
    [[nodiscard]] const std::vector<NetworkEvent>& network_events() const { return network_events_; }
    /// Links between switches that may wait for each other in a circle, by the routes of now; empty: none.
    [[nodiscard]] const std::vector<LinkIndex>& possible_deadlock() const { return buffer_cycle_; }
    /// Routes of now use the cable, whether or not it is cut.
    [[nodiscard]] bool routes_use(CableIndex cable) const { return unused_.empty() || !unused_[cable]; }

    /// From now on (or no more) switches have no entry for the port of this host: its datagrams are copied to
    /// all other hosts of a switch that they pass, which discard them. The copies take room and time, and
    /// belong to no flow.
    void set_flooded(NodeIndex host, bool on) { nodes_[host.value].flooded = on; }

    struct Report {
        enum class Kind : std::uint8_t {
            arrived,  ///< the receiver has the whole message
            sent,     ///< the sender was told that it arrived; a datagram: it has left the host
            lost,     ///< a datagram that will not arrive
        };
        Kind kind = Kind::arrived;
        FlowIndex flow;
        MessageHandle message = 0;
        Picoseconds at;
    };
    /// When something happens next; never() if nothing is under way.
    [[nodiscard]] Picoseconds next_time() const { return events_.next_time(); }
    /// Goes on to `until`, or to the first instant at which there is something to report.
    const std::vector<Report>& advance(Picoseconds until);

    [[nodiscard]] Picoseconds now() const { return now_; }
    [[nodiscard]] const LinkCounts& counts(LinkIndex link, Priority priority) const {
        return links_[link].queues[priority].counts;
    }
    /// Bytes that wait before a link.
    [[nodiscard]] std::int64_t queued_bytes(LinkIndex link, Priority priority) const {
        return links_[link].queues[priority].bytes;
    }
    /// Bytes in a switch's queue, integrated over time until `at`, not before now(), in byte x 1024 ps. Wraps
    /// around: the mean over some time is a difference.
    [[nodiscard]] std::uint64_t queue_integral(LinkIndex link, Priority priority, Picoseconds at) const;
    /// For how long the sender was paused until `at`.
    [[nodiscard]] Picoseconds paused(LinkIndex link, Priority priority, Picoseconds at) const;
    /// By link: sent, and not arrived. Looks at every packet.
    [[nodiscard]] std::vector<CarriedByPriority> on_the_way() const;
    [[nodiscard]] const HostCounts& host_counts(NodeIndex host) const { return host_counts_[host.value]; }
    [[nodiscard]] std::uint32_t flows() const { return static_cast<std::uint32_t>(flows_.size()); }
    /// The most bytes in the host's socket since the last call.
    std::int64_t restart_socket_peak(NodeIndex host);
    [[nodiscard]] const HostQueueCounts& queue_counts(NodeIndex host) const {
        return host_queues_[host.value].counts;
    }
    /// From now on, the peaks of a switch are those since now.
    void restart_peaks(NodeIndex at);
    [[nodiscard]] const Flow& flow(FlowIndex flow) const { return *flows_[flow.value]; }
    /// Bytes of each flow that wait in a queue or are on a link: sent, and neither arrived nor dropped.
    /// Looks at every packet.
    [[nodiscard]] std::vector<std::uint64_t> bytes_inside() const;
    [[nodiscard]] const SharedBuffer& buffer(NodeIndex node) const { return *nodes_[node.value].buffer; }
    /// Packets that have gone over a link so far, pauses included.
    [[nodiscard]] std::uint64_t transmissions() const { return transmissions_; }

  private:
    /// Of a host, or any node: how packets for it go. Switches know ways to its gateway, which it shares.
    struct PacketAddress {
        std::uint32_t gateway = 0;               ///< by number, from 1 on; 0: there is no way
        LinkIndex last = NetworkEvent::no_link;  ///< from its gateway
        std::uint32_t identity = 0;              ///< Topology::identity()
    };
    /// The links on shortest paths to a gateway.
    struct Ways {
        std::uint32_t count = 0;
        std::uint32_t first = 0;  ///< if there is one: this link; else where they begin in ways_
    };
    struct NodeState {
        LinkIndex uplink = 0;        ///< hosts
        std::uint32_t gateway = 0;   ///< switches: their number, if they are one
        PrioritySet ready_mask = 0;  ///< hosts: priorities with flows in `ready`
        bool flooded = false;        ///< hosts: set_flooded()
        Picoseconds wake_at = Picoseconds::never();
        std::unique_ptr<SharedBuffer> buffer{};       ///< switches
        std::vector<Ways> ways{};                     ///< switches, by gateway
        std::unique_ptr<Balancer> balancer{};         ///< switches: chooses where there are several
        std::array<FlowRow, priority_count> ready{};  ///< hosts: flows with packets
    };

    static constexpr std::uint32_t no_failure = std::numeric_limits<std::uint32_t>::max();
    struct FailureState {
        FabricFailure what;
        bool lasting = false;
        FailureCosts costs{};
    };
    /// What failures make of a cable.
    struct CableState {
        std::uint32_t cut_by = no_failure;
        std::uint32_t errors_by = no_failure;
        double error_share = 0;
        double speed = 1;
        double speed_of_host = 1;  ///< set_speed()
    };
    /// Cables of which routes do not know yet.
    struct Unrouted {
        std::vector<CableIndex> cables{};
        std::uint32_t failure = no_failure;
        bool mended = false;
    };
    /// Of a flow to a host, since it lost data.
    struct Gap {
        std::uint32_t failure = no_failure;
        std::uint32_t missing = 0;  ///< the first packet that was lost
        std::uint32_t expected =
            0;              ///< the next packet that the receiver expected when it was looked at last
        Picoseconds since;  ///< when a packet came in order last
    };
    /// A queue of a switch that the watchdog looks at.
    struct Watch {
        Picoseconds since;  ///< it is paused, or is not
        bool paused = false;
        bool acts = false;     ///< the watchdog, on this queue
        bool pending = false;  ///< an event is
    };
    using Stopped = std::pair<LinkIndex, Priority>;
    /// Others that send messages.
    struct Others {
        std::vector<FlowIndex> flows{};  ///< in turn
        std::size_t turn = 0;
        core::Bytes message;
        Picoseconds spacing;
    };

    void handle(Item* handled);
    [[gnu::noinline]] void handle_rare(Item* handled);
    void push(Picoseconds at, Item::Kind kind, std::uint32_t index, Priority priority = 0);
    void set_now(Picoseconds now) { now_ = std::max(now_, std::min(now, next_time())); }
    void kick(LinkIndex index);
    void kick_host(Link& link);
    void kick_switch(Link& link);
    [[nodiscard]] bool may_begin(Link& link);
    void wait_for(Link& link);
    void wake_later(std::uint32_t node, Picoseconds at);
    void follow_up(Link& link);
    void begin(Link& link, Item* item);
    Item* next_of_switch(Link& link, PrioritySet candidates);
    Item* take(Link& link, Priority priority);
    Item* next_of_host(Link& link);
    Item* next_of_flows(NodeState& host, Priority priority, Picoseconds& earliest);
    void enqueue(Link& link, Item* item);
    Item* dequeue(Link& link, Priority priority);
    [[nodiscard]] Priority choose_priority(Link& link, PrioritySet candidates, PrioritySet strict);
    [[nodiscard, gnu::noinline]] Priority weigh(Link& link, PrioritySet candidates);
    void receive_at_switch(Link& link, Item* item);
    void admit(Link& link, Item* item);
    [[gnu::noinline]] bool keep_out(const Link& link, LinkIndex out_index, Item* item);
    [[gnu::noinline]] void discard(Link::Queue& queue, Item* item);
    [[gnu::noinline]] void refuse(const Link& link, Link& out, Item* item);
    [[nodiscard]] bool takes_last_place(const Link& link, Link& out, Priority priority, const Packet& packet);
    [[gnu::noinline]] void flood(Link& link, const Packet& packet);
    void arrive_at_host(Item* item);
    void receive_at_host(const Packet& packet, Flow& flow);
    [[gnu::noinline]] void arrive_in_ring(const Packet& packet);
    void received_at_host(NodeIndex node);
    void pause_switch(NodeIndex node);
    [[gnu::noinline]] void receive_frame(const Packet& frame);
    [[gnu::noinline]] void drop(const Packet& packet);
    void sent_by_host(Link& link, const Packet& packet);
    void add_messages(const core::BackgroundPlan& plan, NodeIndex from, const std::vector<NodeIndex>& to,
                      std::uint32_t number, core::Random& random);
    void send_of_others(std::uint32_t index);
    [[nodiscard]] Flow::Ends ends_of(NodeIndex from, NodeIndex to, Priority priority,
                                     std::uint32_t number) const;
    [[nodiscard]] Link link_of(const Topology& topology, const Topology::Link& link) const;
    [[nodiscard]] std::unique_ptr<Flow> make_connection(const Flow::Ends& ends, Protocol protocol) const;
    [[gnu::noinline]] void send_pause(LinkIndex index, Priority priority, bool on);
    void pause_arrived(LinkIndex index, Priority priority, bool on);
    void refresh(LinkIndex index, Priority priority);

    void change_failure(std::uint32_t index, bool on);
    void combine_failures(CableIndex cable);
    void set_condition(LinkIndex index);
    void lose_on_links(const std::vector<CableIndex>& cut);
    void cut_link(LinkIndex index);
    void mend_link(LinkIndex index);
    void end_pauses(LinkIndex index);
    void lose_queue(LinkIndex index, Priority priority, Carried& sum, std::uint32_t failure);
    [[gnu::noinline]] void turn_away(const Link& link, LinkIndex out, Item* item);
    void check_errors(Item* item);
    void converge();
    void find_ways();
    void add_gateway(NodeIndex gateway);
    void set_storm(NodeIndex node);
    void lose(const Packet& packet, std::uint32_t failure);
    [[gnu::noinline]] void arrived_after_loss(const Packet& packet);
    void note(NetworkEvent event);

    Watch* watch_of(LinkIndex index, Priority priority);
    void watch_pause(LinkIndex index, Priority priority, bool on);
    void look_later(LinkIndex index, Priority priority);
    void look_at_queue(LinkIndex index, Priority priority);
    void act_on_queue(LinkIndex index, Priority priority, bool on);
    [[nodiscard]] PrioritySet dropped_by_watchdog(LinkIndex index) const;

    void examine_later();
    void examine();
    [[nodiscard]] std::map<Stopped, std::vector<LinkIndex>> stopped_links() const;
    [[nodiscard]] bool holds_packets_of(const Link& link, Priority priority, std::uint32_t port) const;

    [[gnu::noinline]] void reply(const Packet& to, Flow& flow, Packet::Kind kind, bool marked);
    void enqueue_at_host(const Packet& packet, Flow& flow, NodeIndex host);
    [[gnu::noinline]] void account_for(const Packet& packet, Flow& flow);
    void grant_at(NodeIndex node);
    void give_credit(Flow& flow);
    void grant_later(NodeIndex node);
    [[nodiscard]] double granted_byte_time_ps(NodeIndex node) const;
    [[nodiscard]] Picoseconds next_grant(NodeIndex node) const;
    void activate(FlowIndex index);
    void start(Flow& flow);
    void set_timer(Flow& flow);
    void timed_out(FlowIndex index);
    [[nodiscard]] bool is_marked(Link& link, Priority priority) const;
    [[nodiscard]] LinkIndex way(const NodeState& node, const Item& item);
    [[nodiscard]] Ways ways(const NodeState& node, NodeIndex to) const {
        const PacketAddress& host = addresses_[to.value];
        return host.gateway == node.gateway && host.gateway != 0 ? Ways{1, host.last}
                                                                 : node.ways[host.gateway];
    }
    [[nodiscard]] std::uint64_t queue_time() const {
        return static_cast<std::uint64_t>(now_.count) >> queue_time_shift;
    }
    LinkCounts& count(LinkIndex link, Priority priority) { return links_[link].queues[priority].counts; }

    const Topology* topology_;
    core::SwitchPlan switches_;
    core::HostPlan hosts_;
    HostTimes host_times_;
    DatagramFraming framing_;
    // Flows refer to these.
    std::unique_ptr<core::NicPlan> nics_;
    std::unique_ptr<core::TcpPlan> tcp_;
    std::uint64_t seed_;
    Picoseconds now_;
    Items items_;
    EventWheel events_;
    std::vector<Link> links_;
    std::vector<NodeState> nodes_;
    std::vector<HostQueue> host_queues_;    ///< by node
    std::vector<CreditGranter> granters_;   ///< by node; empty: no credits
    std::vector<PacketAddress> addresses_;  ///< by node
    std::vector<LinkIndex> ways_;
    std::vector<std::unique_ptr<Flow>> flows_;
    std::vector<HostCounts> host_counts_;  ///< by node
    std::vector<Others> others_;
    std::vector<std::vector<LinkIndex>> ports_;
    std::vector<Report> reports_;
    std::vector<MessageHandle> finished_;
    std::uint64_t transmissions_ = 0;
    bool marks_at_enqueue_;
    bool marks_at_dequeue_;

    std::vector<FailureState> failures_;
    std::vector<CableState> cables_;
    std::vector<LinkLosses> losses_;    ///< by link
    std::vector<Carried> without_way_;  ///< by node
    core::RingQueue<Unrouted> unrouted_;
    std::vector<bool> unused_;              ///< cables, by the routes of now; empty: none is
    std::uint32_t routed_by_ = no_failure;  ///< whose beginning or end routes followed last
    std::map<std::uint64_t, Gap> gaps_;     ///< by flow and receiving host
    std::vector<Watch> watches_;            ///< by link and priority; empty: no watchdog
    WatchdogCounts watchdogs_;
    std::vector<LinkIndex> buffer_cycle_;
    bool examining_ = false;  ///< an event is pending
    bool deadlocked_ = false;
    std::vector<NetworkEvent> network_events_;
};

}  // namespace weir::packet
