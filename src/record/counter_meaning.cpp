#include "record/counter_meaning.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

#include "record/host_counters.hpp"

namespace weir::record {

namespace {

using M = CounterMeaning;

// Left out on purpose: rx_dropped of an interface, which also counts packets of protocols that no program
// asked for; rnr_nak_retry_err and the like, where a receiver had no buffer posted; out-of-order segments of
// TCP and selective acknowledgements, which are echoes of what is listed; what filters of an interface
// discard.
constexpr CounterRow counter_rows[] = {
    {},
    // Pauses are found by parts of their names: pause_row().
    {"pause_frames_received", M::pause_received, ""},
    {"pause_time_received_us", M::pause_received_us, ""},
    {"pause_transitions_received", M::pause_transitions, ""},
    {"pause_frames_sent", M::pause_sent, ""},
    {"pause_time_sent_us", M::pause_sent_us, ""},
    {"pause_transitions_sent", M::pause_transitions, ""},
    // Marks and notifications are also found by a part of their name: marking_row().
    {"ecn_marked_packets", M::marked, "ip.received_ce_packets"},
    {"ecn_echoes", M::marked, "tcp.delivered_ce_segments"},
    {"cnp_sent", M::notified, ""},
    {"cnp_handled", M::notified, ""},
    // Where data is read by its receiver, it is read again: lost data shows with the receiver only.
    // mlx5, bnxt_re, irdma, rxe, mana
    {"out_of_sequence", M::resent,
     "out_of_sequence oos_drop_count rcvd_out_of_order_packets out_of_seq_request responder_oos"},
    // A NAK stands for all that was under way; hardware was seen to count one for 73 lost packets.
    {"sequence_errors", M::resent_burst,
     "packet_seq_err seq_err_naks_rcvd nak_sequence_error rcvd_seq_err requester_oos_nak"},
    {"sequence_errors", M::resent_burst,
     "implied_nak_seq_err nak_sequence_error_implied requester_implicit_nak"},
    // irdma, cxgb4, efa
    {"rdma_retransmissions", M::resent,
     "retranssegs tcpretranssegs ip4retranssegs ip6retranssegs retrans_pkts"},
    {"rdma_retransmissions", M::resent_burst, "roce_adp_retrans completer_retry_err"},
    {"ack_timeouts", M::timed_out,
     "local_ack_timeout_err to_retransmits rto retrans_timeout_events requester_timeout"},
    {"ack_timeouts", M::timed_out, "roce_adp_retrans_to"},
    // mlx5 and rxe, bnxt_re
    {"", M::received_twice, "duplicate_request dup_req"},
    {"rdma_given_up", M::resent_burst,
     "req_transport_retries_exceeded max_retry_exceeded unresponsive_remote_events retry_exceeded_err"},
    {"rdma_given_up", M::resent_burst, "missing_resp impaired_remote_conn_events"},
    // Segments sent again that were lost again are sent once more.
    {"tcp_retransmissions", M::resent, "tcp.retransmitted_segments tcp.lost_retransmits"},
    {"tcp_timeouts", M::resent_burst, "tcp.timeouts"},
    // On the way in and on the way out; what a name with "discard" counts: discard_row().
    {"dropped_by_hosts", M::dropped,
     "out_of_buffer rx_out_of_buffer rx_drops rx_missed_errors rx_fifo_errors rx_over_errors"},
    {"dropped_by_hosts", M::dropped, "tx_discards"},
    {"dropped_by_hosts", M::dropped, "qdisc_drops"},
    {"dropped_by_hosts", M::dropped, "tcp.receive_queue_drops"},
    {"dropped_by_hosts", M::dropped, "tcp.backlog_drops"},
    {"dropped_by_hosts", M::dropped, "tcp.receive_buffer_drops"},
    // Those of full buffers are among the errors.
    {"dropped_by_hosts", M::dropped, "udp.receive_errors udp.receive_buffer_errors"},
    {"dropped_by_hosts", M::dropped, "udp.send_buffer_errors"},
    {"dropped_by_hosts", M::dropped, "ip.reassembly_failures"},
    {"dropped_by_hosts", M::dropped, "ip.receive_discards"},
    {"dropped_by_hosts", M::dropped, "ip.send_discards"},
    {"dropped_by_hosts", M::dropped, "softnet.dropped"},
    {"damaged_packets", M::dropped,
     "rx_icrc_encapsulated crc_errors port_rcv_errors symbol_error rx_crc_errors tcp.receive_errors"},
    {"received_packets", M::received_packets, "rx_packets port_rcv_packets rx_pkts rcvd_pkts"},
    {"", M::received_packets, "tcp.received_segments"},
    {"sent_packets", M::sent_packets, "tx_packets port_xmit_packets tx_pkts sent_pkts"},
    {"sent_segments", M::sent_packets, "tcp.sent_segments"},
    {"", M::received_bytes, "rx_bytes port_rcv_bytes ip4inoctets ip.received_bytes"},
};

/// Whether `name`, which is not empty, is one of `names`.
bool among(std::string_view names, std::string_view name) {
    for (std::size_t at = names.find(name); at != std::string_view::npos; at = names.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || names[at - 1] == ' ') && (end == names.size() || names[end] == ' ')) {
            return true;
        }
    }
    return false;
}

const CounterRow& named(std::string_view name) {
    const auto* row = std::find_if(std::begin(counter_rows) + 1, std::end(counter_rows),
                                   [&](const CounterRow& one) { return among(one.names, name); });
    return row == std::end(counter_rows) ? counter_rows[0] : *row;
}

/// The first row of a family.
const CounterRow& first_of(std::string_view family) {
    return *std::find_if(std::begin(counter_rows), std::end(counter_rows),
                         [&](const CounterRow& row) { return row.family == family; });
}

/// The parts of a name by which counters are recognized that have a number or a queue in it.
class NameParts {
  public:
    explicit NameParts(std::string_view name) : name_(name) {}
    [[nodiscard]] bool has(std::string_view word) const { return name_.find(word) != std::string_view::npos; }
    [[nodiscard]] bool is_sent() const { return has("tx") && !has("rx"); }

  private:
    std::string_view name_;
};

/// "rx_prio3_buf_discard", "tx_discards_phy"
const CounterRow& discard_row(const NameParts& parts) {
    return parts.has("filter") ? counter_rows[0] : named(parts.is_sent() ? "tx_discards" : "rx_drops");
}

/// "np_cnp_sent", "rp_cnp_handled", "rx_cnp_pkts", "rx_ecn_marked_pkts", "rx_prio3_marked"
const CounterRow& marking_row(std::string_view name, const NameParts& parts) {
    if (parts.has("cnp")) {
        return parts.has("ignored") || parts.has("restart") ? counter_rows[0]
               : parts.has("sent") || parts.is_sent()       ? first_of("cnp_sent")
                                                            : first_of("cnp_handled");
    }
    const bool marked =
        parts.has("ecn_mark") || parts.has("ecnmrkd") || parts.has("cc_rx_ce") || name.ends_with("_marked");
    return marked ? first_of("ecn_marked_packets") : counter_rows[0];
}

/// "rx_prio3_pause", "rx_priority_3_xoff_nic" (ice), "rx_pfc_ena_frames_pri3" (bnxt), "rx_ppp3_frames"
/// (cxgb4), "rx_priority_flow_control_frames" (qede), and the times and changes beside them.
const CounterRow& pause_row(const NameParts& parts) {
    const bool pauses = parts.has("pause") || parts.has("pfc") || parts.has("xoff") || parts.has("_ppp") ||
                        parts.has("flow_control");
    if (!pauses || parts.has("storm")) {
        return counter_rows[0];
    }
    const auto either = [&](std::string_view received, std::string_view sent) -> const CounterRow& {
        return first_of(parts.is_sent() ? sent : received);
    };
    if (parts.has("transition") || parts.has("xon_2_xoff")) {
        return either("pause_transitions_received", "pause_transitions_sent");
    }
    if (parts.has("duration")) {
        return either("pause_time_received_us", "pause_time_sent_us");
    }
    // XON is the end of a pause.
    const bool frames = (!parts.has("pfc") || parts.has("frames")) && !parts.has("xon");
    return frames ? either("pause_frames_received", "pause_frames_sent") : counter_rows[0];
}

}  // namespace

bool is_protocol(std::string_view source) {
    return source == "tcp" || source == "udp" || source == "ip" || source == "softnet";
}

const CounterRow& row_of(std::string_view column) {
    if (is_protocol(source_of(column))) {
        return named(column);
    }
    std::string name(counter_of(column));
    std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    });
    if (name.starts_with("vport_")) {
        name.erase(0, 6);
    }
    if (name.empty()) {
        return counter_rows[0];
    }
    const NameParts parts(name);
    if (const CounterRow& row = named(name); row.meaning != CounterMeaning::none) {
        return row;
    }
    if (parts.has("discard")) {
        return discard_row(parts);
    }
    const CounterRow& marks = marking_row(name, parts);
    return marks.meaning != CounterMeaning::none || parts.has("cnp") ? marks : pause_row(parts);
}

bool is_of_priority(std::string_view column) {
    const std::string_view name = counter_of(column);
    for (const std::string_view word : {"prio", "priority_", "pri", "ppp"}) {
        for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
            const std::size_t next = at + word.size();
            if (next < name.size() && std::isdigit(static_cast<unsigned char>(name[next])) != 0) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace weir::record
