#include "config/passes.hpp"

namespace weir::config {

namespace {

/// A pass of the table: `function` gets the request, or only the plan of it.
template <auto function>
void run(RunRequest& request) {
    if constexpr (std::is_invocable_v<decltype(function), RunRequest&>) {
        function(request);
    } else {
        function(request.plan);
    }
}

void enter_numbers(RunRequest& request) {
    request.plan.producers = request.roles.producers;
    request.plan.consumers = request.roles.consumers;
}

constexpr Pass pass_table[] = {
    {"addresses", 0, fact::addresses, "destination rate interval producers consumers generation duration",
     run<prepare_traffic>},
    {"numbers", fact::addresses, fact::numbers, "", run<enter_numbers>},
    {"scale", fact::addresses, fact::rates, "scale", run<apply_scale>},
    {"time scale", fact::rates, fact::times, "time-scale", run<apply_time_scale>},
    {"traffic", fact::times | fact::numbers, fact::traffic, "time-scale pattern destination rate interval",
     run<derive_traffic>},
    {"event size", fact::traffic, fact::event_size, "rate event-size", run<derive_event_size>},
    {"buffer", fact::event_size, fact::buffer, "", run<derive_buffer>},
    {"slot size", fact::buffer, fact::slot_size, "event-size", run<derive_slot_size>},
    {"event in buffer", fact::buffer | fact::slot_size, 0, "buffer", run<check_buffer>},
    {"chunks", fact::slot_size, fact::chunks, "chunk-size slots", run<derive_chunk_size>},
    {"datagrams", fact::slot_size | fact::numbers, fact::chunks, "chunk-size producers",
     run<derive_datagrams>},
    {"packet size", 0, fact::packets, "", run<derive_packet_size>},
    {"duration", fact::times, 0, "duration", run<check_duration>},
    {"set phase", fact::times, fact::set_phase, "set-phase duration", run<derive_set_phase>},
    {"pattern", 0, 0, "pattern initiation", run<check_pattern>},
    {"credits", 0, fact::credits, "requests outstanding low-water fragment-timeout reasks high-water",
     run<derive_credits>},
    {"busy", fact::times, fact::busy, "busy-consumers busy-cpu", run<derive_busy>},
    {"results", fact::times, fact::results, "result-size", run<derive_result_size>},
    {"datagram options", 0, 0, "socket-buffer datagram-network", run<check_datagram_options>},
    {"engine", 0, fact::engine,
     "join join-token ranks engine queue-pairs control-traffic-class data-traffic-class control-device "
     "data-device",
     run<derive_engine>},
    {"network", fact::rates | fact::times | fact::packets, fact::network,
     "packet-overhead network switch switch-set pfc ecn loss-recovery control-priority control-network "
     "switch-rows queue-pairs mtu port-buffer",
     run<derive_packets>},
    {"busy consumers", fact::numbers | fact::busy, 0, "busy-consumers", run<check_busy_consumers>},
    {"links", fact::numbers | fact::rates, 0, "producer-link consumer-link", run<check_own_links>},
    {"hosts", fact::numbers | fact::traffic | fact::network, 0, "switch queue-pairs",
     run<check_ranks_on_hosts>},
    {"receives", fact::numbers | fact::chunks, 0, "slots", run<check_places>},
    {"requirements", fact::buffer, 0, "require", run<check_requirements>},
    {"detection", fact::results | fact::network, 0, "silence-timeout on-failure", run<derive_detection_time>},
    {"addressed events", fact::traffic, 0, "policy destination transport", run<check_addresses>},
    {"senders", fact::numbers | fact::traffic, 0, "slots", run<check_senders>},
    {"roles", 0, 0, "role producers-per-host consumers-per-host scheduler-rank", run<check_roles>},
    {"groups", 0, 0, "groups group-hosts", run<check_groups>},
    {"amounts", fact::layout | fact::traffic | fact::buffer, 0, "duration event-size", run<check_amounts>},
    {"switch-memory", fact::layout | fact::network, 0, "switch", run<check_switch_memory>},
    {"heartbeats", fact::numbers, fact::time_out, "silence-timeout", run<derive_silence_timeout>},
    {"row interval", fact::numbers | fact::times, fact::rows, "", run<derive_row_interval>},
    {"rows", fact::numbers | fact::rows, 0, "row-interval", run<check_row_interval>},
};

}  // namespace

std::span<const Pass> passes() {
    return pass_table;
}

void run_passes(RunRequest& request) {
    for (const Pass& pass : pass_table) {
        if ((pass.needs & fact::layout) == 0) {
            pass.run(request);
        }
    }
}

void run_passes_for_layout(RunRequest& request) {
    for (const Pass& pass : pass_table) {
        if ((pass.needs & (fact::numbers | fact::layout)) != 0) {
            pass.run(request);
        }
    }
}

}  // namespace weir::config
