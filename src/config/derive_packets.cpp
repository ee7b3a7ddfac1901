#include "config/passes.hpp"

#include "config/checks.hpp"
#include "config/passes.hpp"
#include "config/switch_file.hpp"
#include "core/fabric_layout.hpp"

namespace weir::config {

namespace {

/// A jumbo frame; longer ones are not in use on Ethernet.
constexpr core::Bytes longest_mtu{9216};
/// Time-outs of TCP connections and queue pairs double up to a minute.
constexpr core::Duration longest_recovery = core::Duration::seconds(120);

void refuse_options(const RunRequest& request) {
    for (const char* option : {"switch", "switch-set", "pfc", "ecn", "loss-recovery", "control-priority",
                               "control-network", "switch-rows"}) {
        if (request.network.fluid_fabric && std::string_view(option).starts_with("switch") &&
            std::string_view(option) != "switch-rows") {
            continue;
        }
        // A real run has no use for what a scenario assumes for simulations.
        const bool is_unused = !request.simulated && request.origin(option) == Origin::scenario;
        if (!is_unused && request.insists(option, "network")) {
            throw UsageError("--{}: needs --network packet", option);
        }
    }
    if (request.simulated && request.insists("queue-pairs", "network")) {
        throw UsageError("--queue-pairs: needs --network packet");
    }
}

/// Whether a fluid is to have the fabric of a switch file. Only where somebody wrote that it is a fluid: else
/// --network packet was forgotten, or the file is a scenario's for that.
bool asks_for_fluid_fabric(const RunRequest& request) {
    return request.simulated && request.given("network") &&
           (request.insists("switch", "network") || request.insists("switch-set", "network"));
}

void check_fluid_keys(const RunRequest& request) {
    for (const std::string& key : request.packets.keys) {
        const std::string_view name = std::string_view(key).substr(0, key.find('='));
        const std::size_t dot = std::min(name.find('.'), name.size() - 1);
        if (!fluid_takes(name.substr(0, dot), name.substr(dot + 1))) {
            throw UsageError(
                "--switch-set: {}: needs --network packet; fluid takes [topology], [placement], "
                "balancing.kind and failures.convergence",
                name);
        }
    }
    if (request.switches.fabric.switches.balancing.kind == core::BalancingKind::flowlets) {
        throw UsageError(
            "--switch: [balancing] kind: flowlets need gaps between packets, which a fluid does not have; "
            "write ecmp or spray, or use --network packet");
    }
}

/// A run of packets lasts for seconds; longer ones with short rows would fill disks.
constexpr std::int64_t most_rows = 20'000;

void check_rows(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    const std::int64_t rows = (plan.warmup + plan.duration).ns / request.packets.row_length.ns;
    if (rows > most_rows && request.packets.row_length < core::Duration::seconds(1)) {
        throw UsageError(
            "--switch-rows: {} gives {} rows for each port, and {} are the most; make it longer, or "
            "--duration and --warmup shorter",
            files::exact(request.packets.row_length), rows, most_rows);
    }
}

/// A full packet must fit: it would be lost however often it was sent.
void check_port_buffer(const core::NetworkPlan& network) {
    if (network.port_buffer < full_packet(network)) {
        throw UsageError("--port-buffer: {} is less than a packet of {} (--mtu {}); make it larger",
                         files::exact(network.port_buffer), files::exact(full_packet(network)),
                         to_text(network.mtu));
    }
}

/// A full packet must also fit into a queue of fixed size, where a switch has one.
void check_egress_threshold(const core::NetworkPlan& network) {
    const core::Bytes threshold = network.fabric.switches.egress_threshold;
    const std::uint32_t slices = network.fabric.switches.slices;
    if (threshold.count > 0 && threshold < full_packet(network) * slices) {
        throw UsageError(
            "--switch: [switch] egress-threshold: {}{} is less than a packet of {} (--mtu {}); make it "
            "larger",
            files::exact(threshold), slices > 1 ? fmt::format(" in {} slices", slices) : "",
            files::exact(full_packet(network)), to_text(network.mtu));
    }
}

SwitchDescription describe_switch(const RunRequest& request) {
    return at_place("--switch", [&] {
        SwitchDescription description = load_switch(request.packets.switch_name).description;
        if (description.drop_tail && request.packets.pfc.value_or(false)) {
            throw UsageError(
                "ports that share no memory pause nobody; use another one, for example shallow, or --pfc "
                "off");
        }
        apply_options(description, request.packets);
        check_description(description);
        if (description.fabric.switches.watchdog.on && !description.pfc && !request.packets.pfc) {
            throw UsageError(
                "[watchdog] on: it acts on queues that are paused, and PFC is off; write --pfc on, or "
                "watchdog.on = false");
        }
        return description;
    });
}

/// A window that the acknowledgements of full packets do not reach would wait for time-outs.
void check_window(const core::NicPlan& nics, core::Bytes mtu) {
    const core::Bytes least = mtu * static_cast<std::int64_t>(core::packets_per_ack(nics));
    if (nics.window.count > 0 && nics.window < least) {
        throw UsageError(
            "--switch: [nic] window: {} is less than packets-per-ack, {}, packets of --mtu {}; make it at "
            "least {}",
            files::exact(nics.window), nics.packets_per_ack, to_text(mtu), files::exact(least));
    }
}

/// A rate that no link has would not lower any. The usual one is at most that of the link.
void check_least_rate(const RunRequest& request) {
    const core::DcqcnPlan& dcqcn = request.network.fabric.nics.dcqcn;
    core::BitRate fastest = std::max(request.network.producer_link, request.network.consumer_link);
    for (const auto* own : {&request.network.own_producer_links, &request.network.own_consumer_links}) {
        for (const core::OwnLinks& some : *own) {
            fastest = std::max(fastest, some.rate);
        }
    }
    if (dcqcn.on && core::has_queue_pairs(request.plan, request.network) && dcqcn.least_rate > fastest &&
        dcqcn.least_rate != core::DcqcnPlan{}.least_rate) {
        throw UsageError(
            "--switch: [dcqcn] least-rate: {} is more than any link has, {}, so that nothing would slow "
            "down; make it less",
            files::exact(dcqcn.least_rate), files::exact(fastest));
    }
}

/// Datagrams have no other model. Their switch drops what its ports do not hold, unless another one is asked
/// for.
void derive_for_datagrams(RunRequest& request) {
    core::NetworkPlan& network = request.network;
    if (network.model != core::NetworkModel::packet && request.insists("network", "transport")) {
        throw UsageError("--network: the model fluid has no datagrams; leave it out, or use packet");
    }
    if (!request.packets.separate_control) {
        request.packets.separate_control = network.model != core::NetworkModel::packet;
    }
    network.model = core::NetworkModel::packet;
    if (!request.given("switch")) {
        request.packets.switch_name = "plain";
    }
}

/// Hosts, cables and routes, and nothing of the memory of switches.
void derive_fluid_fabric(RunRequest& request) {
    request.switches = describe_switch(request);
    check_fluid_keys(request);
    request.network.fabric = fabric_of(request.switches, request.network.port_buffer);
    request.notes.emplace_back(fluid_note);
}

void check_overhead(const RunRequest& request) {
    const bool lossy = request.plan.lossy();
    if (request.simulated && request.network.packet_overhead &&
        (request.network.framing == core::Framing::none || lossy)) {
        throw UsageError("--packet-overhead: {} has no packets of which it could be; leave it out, or use {}",
                         lossy ? "--transport datagram, whose headers are those of UDP," : "--framing none",
                         lossy ? "--transport send" : "--framing roce");
    }
}

}  // namespace

bool fluid_takes(std::string_view section, std::string_view key) {
    return section == "topology" || section == "placement" || (section == "balancing" && key == "kind") ||
           (section == "failures" && key == "convergence");
}

core::Bytes full_packet(const core::NetworkPlan& network) {
    const core::PacketShape shape = core::packet_shape(network);
    return {shape.payload + shape.overhead};
}

core::Bytes largest_headroom(const RunRequest& request) {
    return core::largest_headroom(request.network, request.plan.producers, request.plan.consumers);
}

core::Bytes pause_takes(const core::NetworkPlan& network, core::BitRate rate) {
    constexpr core::Bytes pause_frame{84};
    const core::Duration both_ways = core::cable_delay(network, core::Tier::host) * 2;
    const auto on_the_way =
        static_cast<core::WideInteger>(rate.bits_per_second) * both_ways.ns / 8'000'000'000;
    return core::Bytes{static_cast<std::int64_t>(on_the_way)} + full_packet(network) * 2 + pause_frame;
}

void check_switch_memory(const RunRequest& request) {
    const core::SwitchPlan& plan = request.network.fabric.switches;
    if (request.network.model != core::NetworkModel::packet) {
        return;
    }
    const core::SharedMemory shared =
        core::least_shared(request.network, request.plan.producers, request.plan.consumers);
    if (plan.egress_pool.count > 0 && shared.of_queues.count <= 0) {
        throw UsageError(
            "--switch: {}: [switch] queue-reserved: {} for each lossy queue leave nothing of the egress-pool "
            "of {}, in {} slices; make it less, or egress-pool larger",
            request.packets.switch_name, files::exact(plan.queue_reserved), files::exact(plan.egress_pool),
            plan.slices);
    }
    if (shared.pool.count > 0) {
        return;
    }
    const core::Bytes headroom = largest_headroom(request);
    if (headroom >= plan.pool) {
        throw UsageError(
            "--switch: {}: [switch] headroom: {} for a port of 100 Gb/s are {} for all ports of a switch, "
            "and "
            "its pool has {}; make headroom smaller, or pool larger",
            request.packets.switch_name, files::exact(plan.headroom_at_100g), files::readable(headroom),
            files::exact(plan.pool));
    }
    throw UsageError(
        "--switch: {}: [switch] pool: of {}, headroom of {} and what is reserved for each port (pg-reserved, "
        "queue-reserved) leave nothing to share, in {} slices; make them less, or pool larger",
        request.packets.switch_name, files::exact(plan.pool), files::readable(headroom), plan.slices);
}

void derive_packet_size(RunRequest& request) {
    if (!request.given("mtu")) {
        request.network.mtu = {request.network.framing == core::Framing::tcp ? 1500 : 4096};
    }
}

void derive_packets(RunRequest& request) {
    check_overhead(request);
    if (request.simulated && request.plan.lossy()) {
        derive_for_datagrams(request);
    }
    if (request.network.model != core::NetworkModel::packet) {
        request.network.fluid_fabric = asks_for_fluid_fabric(request);
        refuse_options(request);
        if (request.network.fluid_fabric) {
            derive_fluid_fabric(request);
        }
        return;
    }
    if (request.network.mtu > longest_mtu) {
        throw UsageError("--mtu: {} is more than the {} that a packet may carry with --network packet",
                         files::exact(request.network.mtu), files::exact(longest_mtu));
    }
    check_rows(request);
    request.switches = describe_switch(request);
    request.network.separate_control = request.packets.separate_control.value_or(false);
    // A datagram that no port holds is lost, and that is all.
    const bool sent_once = request.plan.lossy() && request.network.separate_control;
    if (request.switches.drop_tail && !sent_once) {
        check_port_buffer(request.network);
    }
    if (!sent_once) {
        request.plan.recovery_time = longest_recovery;
    }
    request.network.fabric = fabric_of(request.switches, request.network.port_buffer);
    derive_queue_pairs(request);
    request.network.fabric.queue_pairs = request.queue_pairs;
    if (!request.switches.drop_tail) {
        check_egress_threshold(request.network);
    }
    if (request.socket_buffer.count > 0) {
        request.network.fabric.hosts.socket_buffer = request.socket_buffer;
    }
    check_window(request.network.fabric.nics, request.network.mtu);
    check_least_rate(request);
}

}  // namespace weir::config
