#include "telemetry/counter_meaning.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

#include "telemetry/host_counters.hpp"

namespace weir::telemetry {

namespace {

// Left out on purpose: rx_dropped of an interface, which also counts packets of protocols that nobody asked
// for; rnr_nak_retry_err and the like, where a receiver had no buffer posted; duplicate requests,
// out-of-order segments of TCP and selective acknowledgements, which are echoes of what is listed; what
// filters of an interface discard.
constexpr std::string_view drop_names[] = {
    // mlx5, bnxt_re, irdma, efa
    "out_of_buffer", "rx_out_of_buffer", "rx_icrc_encapsulated", "crc_errors", "rx_drops",
    // ports by the standard, interfaces, queueing disciplines
    "port_rcv_errors", "symbol_error", "rx_crc_errors", "rx_missed_errors", "rx_fifo_errors",
    "rx_over_errors", "qdisc_drops"};

/// Where data is read by its receiver, the reader asks again: lost data shows with the receiver only.
constexpr std::string_view resent_names[] = {"out_of_sequence",  // mlx5
                                             "oos_drop_count",   // bnxt_re
                                             "rcvd_out_of_order_packets",
                                             "retranssegs",
                                             "tcpretranssegs",  // irdma
                                             "ip4retranssegs",
                                             "ip6retranssegs",      // cxgb4
                                             "retrans_pkts",        // efa
                                             "out_of_seq_request",  // rxe
                                             "responder_oos"};      // mana

/// A NAK stands for all that was under way; hardware was seen to count one for 73 lost packets.
constexpr std::string_view burst_names[] = {
    // mlx5
    "packet_seq_err", "implied_nak_seq_err", "local_ack_timeout_err", "roce_adp_retrans",
    "roce_adp_retrans_to", "req_transport_retries_exceeded",
    // bnxt_re
    "to_retransmits", "seq_err_naks_rcvd", "max_retry_exceeded", "missing_resp",
    // irdma
    "nak_sequence_error", "nak_sequence_error_implied", "rto",
    // efa
    "retrans_timeout_events", "unresponsive_remote_events", "impaired_remote_conn_events",
    // rxe
    "completer_retry_err", "rcvd_seq_err", "retry_exceeded_err",
    // mana
    "requester_timeout", "requester_oos_nak", "requester_implicit_nak"};

/// Of the protocols, with their source.
constexpr std::string_view protocol_drops[] = {
    "tcp.receive_queue_drops", "tcp.backlog_drops",      "tcp.receive_buffer_drops",
    "tcp.receive_errors",      "udp.receive_errors",     "udp.receive_buffer_errors",
    "udp.send_buffer_errors",  "ip.reassembly_failures", "ip.receive_discards",
    "ip.send_discards",        "softnet.dropped"};

constexpr std::string_view packet_names[] = {"rx_packets", "port_rcv_packets", "rx_pkts", "rcvd_pkts"};

template <typename Names>
bool among(const Names& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// "rx_prio3_pause", "rx_priority_3_xoff_nic" (ice), "rx_pfc_ena_frames_pri3" (bnxt), "rx_ppp3_frames"
/// (cxgb4), "rx_priority_flow_control_frames" (qede), and the times and changes beside them.
CounterMeaning pause_meaning(const std::string& name) {
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    const bool received = has("rx") || !has("tx");
    const bool pauses = has("pause") || has("pfc") || has("xoff") || has("_ppp") || has("flow_control");
    if (!pauses || has("storm")) {
        return CounterMeaning::none;
    }
    if (has("transition") || has("xon_2_xoff")) {
        return CounterMeaning::pause_transitions;
    }
    if (has("duration")) {
        return received ? CounterMeaning::pause_received_us : CounterMeaning::pause_sent_us;
    }
    // XON is the end of a pause.
    const bool frames = (!has("pfc") || has("frames")) && !has("xon");
    return !frames    ? CounterMeaning::none
           : received ? CounterMeaning::pause_received
                      : CounterMeaning::pause_sent;
}

CounterMeaning meaning_of_protocol(std::string_view column) {
    if (among(protocol_drops, column)) {
        return CounterMeaning::dropped;
    }
    if (column == "tcp.retransmitted_segments" || column == "tcp.lost_retransmits") {
        return CounterMeaning::resent;
    }
    if (column == "tcp.timeouts") {
        return CounterMeaning::resent_burst;
    }
    if (column == "ip.received_ce_packets" || column == "tcp.delivered_ce_segments") {
        return CounterMeaning::marked;
    }
    return column == "ip.received_bytes"       ? CounterMeaning::received_bytes
           : column == "tcp.received_segments" ? CounterMeaning::received_packets
                                               : CounterMeaning::none;
}

}  // namespace

bool is_protocol(std::string_view source) {
    return source == "tcp" || source == "udp" || source == "ip" || source == "softnet";
}

CounterMeaning meaning_of(std::string_view column) {
    if (is_protocol(source_of(column))) {
        return meaning_of_protocol(column);
    }
    std::string name(counter_of(column));
    std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    });
    if (name.starts_with("vport_")) {
        name.erase(0, 6);
    }
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    if (name == "rx_bytes" || name == "port_rcv_bytes" || name == "ip4inoctets") {
        return CounterMeaning::received_bytes;
    }
    if (among(packet_names, name)) {
        return CounterMeaning::received_packets;
    }
    if (among(drop_names, name) || (has("discard") && !has("filter"))) {
        return CounterMeaning::dropped;
    }
    if (among(resent_names, name)) {
        return CounterMeaning::resent;
    }
    if (among(burst_names, name)) {
        return CounterMeaning::resent_burst;
    }
    if (has("cnp")) {
        return has("ignored") || has("restart") ? CounterMeaning::none : CounterMeaning::notified;
    }
    if (has("ecn_mark") || has("ecnmrkd") || has("cc_rx_ce") || name.ends_with("_marked")) {
        return CounterMeaning::marked;
    }
    return pause_meaning(name);
}

}  // namespace weir::telemetry
