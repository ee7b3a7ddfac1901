#include "packet/packet_network.hpp"

namespace weir::packet {

namespace {

/// IEEE 802.3: a clock is right within 100 ppm. Links are slower and never faster than they should be.
constexpr std::uint64_t most_drift_ppm = 100;

/// Nearly all events are a packet's transmission, the delay of a cable, or both ahead.
Picoseconds horizon(const PacketNetwork::Setup& setup) {
    const std::int64_t packet = std::max((setup.nics.payload + setup.nics.overhead).count,
                                         (setup.tcp.payload + setup.tcp.overhead).count);
    Picoseconds longest;
    for (const Topology::Link& link : setup.topology.links()) {
        const double transmission_s =
            static_cast<double>(packet) * 8 / static_cast<double>(link.rate.bits_per_second);
        longest =
            std::max(longest, Picoseconds::of(link.delay) + Picoseconds::microseconds(transmission_s * 1e6));
    }
    return longest * 2;
}

/// For each link that it is free again, and a packet on its way.
std::size_t slots(const PacketNetwork::Setup& setup) {
    constexpr std::size_t on_a_link = 2;
    return std::max(EventWheel::least_slots, std::bit_ceil(on_a_link * setup.topology.links().size()));
}

}  // namespace

PacketNetwork::PacketNetwork(const Setup& setup)
    : topology_(&setup.topology),
      switches_(setup.switches),
      hosts_(setup.hosts),
      host_times_(setup.hosts),
      framing_(setup.datagrams),
      nics_(std::make_unique<core::NicPlan>(setup.nics)),
      tcp_(std::make_unique<core::TcpPlan>(setup.tcp)),
      seed_(setup.seed),
      now_(setup.begin),
      events_(horizon(setup), slots(setup)),
      marks_at_enqueue_(setup.switches.ecn.on && setup.switches.ecn.at_enqueue),
      marks_at_dequeue_(setup.switches.ecn.on && !setup.switches.ecn.at_enqueue) {
    nics_->may_be_overtaken = switches_.balancing.reorders();
    const Topology& topology = setup.topology;
    links_.reserve(topology.links().size());
    nodes_.reserve(topology.nodes());
    for (const Topology::Link& link : topology.links()) {
        Link made = link_of(topology, link);
        made.index = static_cast<LinkIndex>(links_.size());
        made.transmitted =
            items_.add(made.from_switch ? Item::Kind::transmitted_by_switch : Item::Kind::transmitted_by_host,
                       made.index);
        links_.push_back(made);
    }
    host_counts_.resize(topology.nodes());
    host_queues_.resize(topology.nodes());
    granters_.resize(nics_->control == core::PairControl::credits ? topology.nodes() : 0);
    for (std::uint32_t index = 0; index < topology.nodes(); ++index) {
        NodeState node;
        addresses_.push_back({.identity = topology.identity({index})});
        const std::vector<LinkIndex>& ports = topology.ports({index});
        if (topology.is_switch({index})) {
            std::vector<core::BitRate> rates;
            rates.reserve(ports.size());
            for (const LinkIndex port : ports) {
                rates.push_back(topology.links()[port].rate);
            }
            node.buffer = std::make_unique<SharedBuffer>(switches_, rates);
            node.balancer = make_balancer(switches_.balancing);
        } else {
            WEIR_ASSERT(ports.size() == 1);
            node.uplink = ports.front();
        }
        nodes_.push_back(std::move(node));
        ports_.push_back(ports);
    }
    cables_.resize(links_.size() / 2);
    losses_.resize(links_.size());
    without_way_.resize(nodes_.size());
    if (switches_.watchdog.on) {
        watches_.resize(links_.size() * priority_count);
    }
    find_ways();
}

/// All of a link but its event.
Link PacketNetwork::link_of(const Topology& topology, const Topology::Link& link) const {
    using enum core::RandomPurpose;
    const auto stream = [&](core::RandomPurpose purpose) {
        return core::Random(seed_, core::random_stream(purpose, topology.identity(link.from),
                                                       topology.identity(link.to), link.parallel));
    };
    const auto nominal = static_cast<std::int64_t>(static_cast<core::WideInteger>(8'000'000'000'000) * 65536 /
                                                   link.rate.bits_per_second);
    Link made;
    // The clocks of two NICs differ: without that, the packets of two senders would always meet in the same
    // order.
    made.full_speed_fixed =
        nominal +
        nominal / 1'000'000 * static_cast<std::int64_t>(stream(link_clock).below(most_drift_ppm + 1));
    made.picoseconds_per_byte_fixed = made.full_speed_fixed;
    made.delay = Picoseconds::of(link.delay);
    for (Priority priority = 0; priority < priority_count; ++priority) {
        const core::EcnPlan& ecn = switches_.ecn_of(priority);
        constexpr core::Bytes endless{std::numeric_limits<std::int64_t>::max()};
        Link::Queue& queue = made.queues[priority];
        queue.never_marked_bytes =
            (ecn.on || ecn.drops ? core::in_proportion(ecn.none_below, link.rate, ecn.of_rate) : endless)
                .count;
        queue.always_marked_bytes = core::in_proportion(ecn.all_above, link.rate, ecn.of_rate).count;
        made.dropping |= static_cast<PrioritySet>(ecn.drops ? core::mask_of(priority) : 0);
    }
    made.from_switch = topology.is_switch(link.from);
    made.leads_to_switch = topology.is_switch(link.to);
    made.arrives = made.leads_to_switch ? Item::Kind::arrives_at_switch : Item::Kind::arrives_at_host;
    made.from = link.from.value;
    made.to = link.to.value;
    made.from_port = static_cast<std::uint16_t>(link.from_port);
    made.to_port = static_cast<std::uint16_t>(link.to_port);
    made.random = stream(made.from_switch ? mark : host_delay);
    made.places = stream(place);
    made.errors = stream(link_errors);
    made.takes_turns = switches_.arbitration != core::Arbitration::fifo && made.from_switch;
    if (made.takes_turns) {
        made.turns.assign(priority_count, IngressTurns(topology.ports(link.from).size()));
    }
    return made;
}

Flow::Ends PacketNetwork::ends_of(NodeIndex from, NodeIndex to, Priority priority,
                                  std::uint32_t number) const {
    const FlowIndex flow{static_cast<std::uint32_t>(flows_.size())};
    const Link& uplink = links_[nodes_[from.value].uplink];
    WEIR_ASSERT(uplink.to == to.value || !unused_.empty() ||
                (uplink.leads_to_switch && ways(nodes_[uplink.to], to).count > 0));
    const auto rate = static_cast<std::int64_t>(static_cast<core::WideInteger>(8'000'000'000'000) * 65536 /
                                                uplink.full_speed_fixed);
    const auto hashed = [&](std::uint32_t of) {
        return path_of(seed_, addresses_[from.value].identity, addresses_[to.value].identity, of);
    };
    const std::uint64_t identity = hashed(number);
    return {flow,
            from,
            to,
            priority,
            {rate},
            identity,
            switches_.balancing.hashes_queue_pairs ? identity : hashed(0)};
}

FlowIndex PacketNetwork::connect(NodeIndex from, NodeIndex to, Priority priority, Protocol protocol,
                                 std::uint32_t number) {
    const Flow::Ends ends = ends_of(from, to, priority, number);
    flows_.push_back(make_connection(ends, protocol));
    return ends.index;
}

std::unique_ptr<Flow> PacketNetwork::make_connection(const Flow::Ends& ends, Protocol protocol) const {
    if (protocol == Protocol::tcp) {
        return std::make_unique<TcpConnection>(*tcp_, ends);
    }
    return std::make_unique<QueuePair>(*nics_, ends);
}

bool PacketNetwork::connect_again(Picoseconds now, FlowIndex used, NodeIndex to, Protocol protocol,
                                  std::uint32_t number) {
    set_now(now);
    std::unique_ptr<Flow>& place = flows_[used.value];
    if (!place->quiet()) {
        return false;
    }
    Flow::Ends ends = ends_of(place->ends().from, to, place->ends().priority, number);
    ends.index = used;
    std::unique_ptr<Flow> made = make_connection(ends, protocol);
    made->succeed(*place);
    place = std::move(made);
    return true;
}

void PacketNetwork::post(Picoseconds now, FlowIndex flow, MessageHandle message, core::Bytes bytes) {
    set_now(now);
    Flow& posted = *flows_[flow.value];
    const bool starts = posted.idle();
    posted.post(message, bytes);
    if (starts) {
        start(posted);
    }
    activate(flow);
}

void PacketNetwork::push(Picoseconds at, Item::Kind kind, std::uint32_t index, Priority priority) {
    Item* const item = items_.add(kind, index);
    item->priority = priority;
    events_.push(at, item);
}

/// All that happens with every packet is compiled in one piece here, and what is rare apart from it: GCC does
/// not tell them apart.
[[gnu::flatten]] const std::vector<PacketNetwork::Report>& PacketNetwork::advance(Picoseconds until) {
    reports_.clear();
    while (reports_.empty()) {
        Item* const next = events_.pop(until);
        if (next == nullptr) {
            break;
        }
        now_ = next->at;
        if (const Item* const after = events_.next(); after != nullptr) {
            // Not all events are of a link, or of a packet.
            if (after->index < links_.size()) {
                __builtin_prefetch(&links_[after->index]);
            }
            if (after->flow != nullptr) {
                __builtin_prefetch(&after->flow->traffic);
            }
        }
        handle(next);
    }
    return reports_;
}

inline void PacketNetwork::handle(Item* handled) {
    std::uint32_t index = handled->index;
    // One jump for what happens with every packet: in which order is hard to foretell for a processor.
    switch (handled->kind) {
        case Item::Kind::transmitted_by_host:
            links_[index].waiting = false;
            break;
        case Item::Kind::wake:
            items_.remove(handled);
            if (nodes_[index].wake_at > now_) {
                return;  // a later one took its place
            }
            nodes_[index].wake_at = Picoseconds::never();
            index = nodes_[index].uplink;
            break;
        case Item::Kind::transmitted_by_switch: {
            Link& link = links_[index];
            link.waiting = false;
            kick_switch(link);
            return;
        }
        case Item::Kind::arrives_at_switch:
            receive_at_switch(links_[index], handled);
            return;
        case Item::Kind::arrives_at_host: {
            arrive_at_host(handled);
            return;
        }
        default:
            handle_rare(handled);
            return;
    }
    kick_host(links_[index]);
}

void PacketNetwork::handle_rare(Item* handled) {
    const Item::Kind kind = handled->kind;
    if (kind == Item::Kind::may_have_errors) {
        return check_errors(handled);
    }
    const Priority priority = handled->priority;
    const std::uint32_t index = handled->index;
    items_.remove(handled);
    switch (kind) {
        case Item::Kind::left:
            reports_.push_back(
                {Report::Kind::sent, {index}, static_cast<UdpSocket&>(*flows_[index]).complete_left(), now_});
            return;
        case Item::Kind::received:
            return received_at_host({index});
        case Item::Kind::read: {
            const HostQueue::Unread& first = host_queues_[index].socket.front();
            reports_.push_back({Report::Kind::arrived, first.flow, first.datagram, now_});
            return;
        }
        case Item::Kind::timeout:
            return timed_out({index});
        case Item::Kind::pause:
            return pause_arrived(index, priority, true);
        case Item::Kind::resume:
            return pause_arrived(index, priority, false);
        case Item::Kind::refresh:
            return refresh(index, priority);
        case Item::Kind::failure:
            return change_failure(index, priority != 0);
        case Item::Kind::converge:
            return converge();
        case Item::Kind::watch:
            return look_at_queue(index, priority);
        case Item::Kind::examine:
            return examine();
        case Item::Kind::grant:
            return grant_at({index});
        case Item::Kind::others:
            return send_of_others(index);
        case Item::Kind::lost:
            return;
        default:
            WEIR_UNREACHABLE("an item without an event, or of a kind that is handled elsewhere");
    }
}

// Readings

std::uint64_t PacketNetwork::queue_integral(LinkIndex link, Priority priority, Picoseconds at) const {
    return counts(link, priority).queue_integral +
           static_cast<std::uint64_t>(queued_bytes(link, priority)) *
               (static_cast<std::uint64_t>(at.count) >> queue_time_shift);
}

Picoseconds PacketNetwork::paused(LinkIndex link, Priority priority, Picoseconds at) const {
    const Picoseconds ended = counts(link, priority).paused;
    const bool lasts = (links_[link].paused & core::mask_of(priority)) != 0 &&
                       (priority == 0 || !switches_.pauses_whole_links);
    return lasts ? ended + (at - links_[link].queues[priority].paused_from) : ended;
}

std::vector<CarriedByPriority> PacketNetwork::on_the_way() const {
    std::vector<CarriedByPriority> carried(links_.size());
    for (const Item& item : items_.all()) {
        if (item.on_link()) {
            carried[item.index].add(item.packet);
        }
    }
    return carried;
}

std::vector<std::uint64_t> PacketNetwork::bytes_inside() const {
    std::vector<std::uint64_t> bytes(flows_.size());
    for (const Item& item : items_.all()) {
        if ((item.kind == Item::Kind::queued || item.on_link()) && !item.packet.copy) {
            bytes[item.packet.flow.value] += item.packet.wire_bytes;
        }
    }
    for (const HostQueue& host : host_queues_) {
        for (std::size_t place = 0; place < host.ring.size(); ++place) {
            bytes[host.ring.at(place).flow.value] += host.ring.at(place).wire_bytes;
        }
    }
    return bytes;
}

void PacketNetwork::restart_peaks(NodeIndex at) {
    for (const LinkIndex link : ports_[at.value]) {
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            Link::Queue& queue = links_[link].queues[priority];
            queue.counts.peak_queue_bytes = queue.bytes;
        }
    }
    nodes_[at.value].buffer->restart_peak();
}

}  // namespace weir::packet
