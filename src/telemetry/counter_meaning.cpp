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
// out-of-order segments and selective acknowledgements, which are echoes of what is listed.
constexpr std::string_view loss_names[] = {
    // mlx5
    "out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err", "out_of_buffer",
    "roce_adp_retrans", "roce_adp_retrans_to", "req_transport_retries_exceeded", "rx_out_of_buffer",
    // bnxt_re
    "to_retransmits", "seq_err_naks_rcvd", "max_retry_exceeded", "missing_resp", "oos_drop_count",
    // rxe. Where data is read by its receiver, lost data shows in the first one only: the reader asks again.
    "completer_retry_err", "out_of_seq_request", "rcvd_seq_err", "retry_exceeded_err",
    // ports by the standard, interfaces, queueing disciplines
    "port_rcv_errors", "symbol_error", "rx_crc_errors", "rx_missed_errors", "rx_fifo_errors",
    "rx_over_errors", "qdisc_drops"};

/// Of the protocols, with their source.
constexpr std::string_view protocol_losses[] = {
    "tcp.retransmitted_segments", "tcp.timeouts",           "tcp.lost_retransmits",
    "tcp.receive_queue_drops",    "tcp.backlog_drops",      "tcp.receive_buffer_drops",
    "tcp.receive_errors",         "udp.receive_errors",     "udp.receive_buffer_errors",
    "udp.send_buffer_errors",     "ip.reassembly_failures", "ip.receive_discards",
    "ip.send_discards",           "softnet.dropped"};

constexpr std::string_view packet_names[] = {"rx_packets", "port_rcv_packets", "rx_pkts", "rcvd_pkts"};

template <typename Names>
bool among(const Names& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

CounterMeaning pause_meaning(const std::string& name) {
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    const bool received = has("rx") || !has("tx");
    if (has("duration")) {
        return received && (has("pause") || has("pfc")) ? CounterMeaning::pause_microseconds
                                                        : CounterMeaning::none;
    }
    // Transitions and storms are other units than frames; XON is the end of a pause.
    const bool frames = (has("pause") || has("xoff") || has("pfc_ena_frames") || has("pfc_frames")) &&
                        !has("transition") && !has("storm") && !has("xon");
    return !frames    ? CounterMeaning::none
           : received ? CounterMeaning::pause_received
                      : CounterMeaning::pause_sent;
}

}  // namespace

CounterMeaning meaning_of(std::string_view column) {
    if (among(protocol_losses, column)) {
        return CounterMeaning::lost;
    }
    const std::string_view source = source_of(column);
    if (column == "ip.received_ce_packets" || column == "tcp.delivered_ce_segments") {
        return CounterMeaning::marked;
    }
    if (column == "ip.received_bytes") {
        return CounterMeaning::received_bytes;
    }
    if (column == "tcp.received_segments") {
        return CounterMeaning::received_packets;
    }
    if (source == "tcp" || source == "udp" || source == "ip" || source == "softnet") {
        return CounterMeaning::none;
    }
    std::string name(counter_of(column));
    std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    });
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    if (name == "rx_bytes" || name == "port_rcv_bytes") {
        return CounterMeaning::received_bytes;
    }
    if (among(packet_names, name)) {
        return CounterMeaning::received_packets;
    }
    if (among(loss_names, name) || has("discard")) {
        return CounterMeaning::lost;
    }
    if ((has("cnp") && !has("ignored") && !has("restart")) || has("ecn_mark") || has("ecnmrkd") ||
        has("cc_rx_ce") || name.ends_with("_marked")) {
        return CounterMeaning::marked;
    }
    return pause_meaning(name);
}

}  // namespace weir::telemetry
