"""What hosts' counters add up to, under one name for the many that drivers have. They explain a difference and are
never better or worse: a switch that marks packets is no fault. What is not counted is absent, which is not 0.

The names are those of src/telemetry/counter_meaning.cpp, which judges a single run by them (tests/report/test_compare_scores.py
holds both alike); here they are grouped finer. Received and sent pauses are different things, and so are CNPs sent and CNPs heeded: never one sum."""

import dataclasses
import functools
import re

import numpy as np

_PRIORITY = re.compile(r"(prio|priority_|pri|ppp)\d")
_PAUSES = re.compile(r"pause|pfc|xoff|_ppp|flow_control")


@dataclasses.dataclass(frozen=True)
class Family:
    """Counters with one meaning. `names`: of devices, in lower case; with a dot: of the kernel's protocols."""

    name: str
    title: str
    unit: str
    names: tuple = ()
    pauses: str = ""  # 'rx frames' and the like, instead of names
    factor: float = 1.0


FAMILIES = (
    Family("pause_frames_received", "pause frames received", "frames", pauses="rx frames"),
    Family("pause_time_received", "pause time, received", "s", pauses="rx duration", factor=1e-6),
    Family("pause_transitions_received", "transitions to pause, received", "times", pauses="rx transition"),
    Family("pause_frames_sent", "pause frames sent", "frames", pauses="tx frames"),
    Family("pause_time_sent", "pause time, sent", "s", pauses="tx duration", factor=1e-6),
    Family("pause_transitions_sent", "transitions to pause, sent", "times", pauses="tx transition"),
    Family("ecn_marked_packets", "packets with an ECN mark", "packets",
           ("np_ecn_marked_roce_packets", "cc_rx_ce_pkts", "rx_ecn_marked_pkts", "rxecnmrkd",
            "ip.received_ce_packets")),
    Family("cnp_sent", "congestion notifications (CNP) sent", "packets",
           ("np_cnp_sent", "cc_tx_cnp_pkts", "tx_cnp_pkts", "cnpsent")),
    Family("cnp_handled", "congestion notifications (CNP) received", "packets",
           ("rp_cnp_handled", "cc_rx_cnp_pkts", "rx_cnp_pkts", "cnphandled")),
    Family("out_of_sequence", "RDMA packets out of sequence", "packets",
           ("out_of_sequence", "oos_drop_count", "rcvd_out_of_order_packets", "out_of_seq_request", "responder_oos")),
    Family("sequence_errors", "RDMA sequence errors (each for a burst)", "bursts",
           ("packet_seq_err", "implied_nak_seq_err", "seq_err_naks_rcvd", "nak_sequence_error", "nak_sequence_error_implied", "rcvd_seq_err",
            "requester_oos_nak", "requester_implicit_nak")),
    Family("rdma_retransmissions", "RDMA retransmissions", "times",
           ("roce_adp_retrans", "completer_retry_err", "retrans_pkts", "retranssegs", "tcpretranssegs",
            "ip4retranssegs", "ip6retranssegs")),
    Family("ack_timeouts", "RDMA acknowledgement time-outs", "times",
           ("local_ack_timeout_err", "roce_adp_retrans_to", "to_retransmits", "rto", "retrans_timeout_events", "requester_timeout")),
    Family("rdma_given_up", "RDMA requests given up", "times",
           ("req_transport_retries_exceeded", "max_retry_exceeded", "missing_resp", "unresponsive_remote_events",
            "impaired_remote_conn_events", "retry_exceeded_err")),
    Family("tcp_retransmissions", "TCP segments sent again", "segments", ("tcp.retransmitted_segments", "tcp.lost_retransmits")),
    Family("tcp_timeouts", "TCP time-outs", "times", ("tcp.timeouts",)),
    Family("dropped_by_hosts", "packets dropped by hosts", "packets",
           ("out_of_buffer", "rx_out_of_buffer", "rx_drops", "rx_missed_errors", "rx_fifo_errors", "rx_over_errors", "qdisc_drops",
            "tcp.receive_queue_drops", "tcp.backlog_drops", "tcp.receive_buffer_drops", "udp.receive_errors", "udp.receive_buffer_errors",
            "udp.send_buffer_errors", "ip.reassembly_failures", "ip.receive_discards", "ip.send_discards", "softnet.dropped")),
    Family("damaged_packets", "packets that hosts received damaged", "packets",
           ("rx_icrc_encapsulated", "crc_errors", "port_rcv_errors", "symbol_error", "rx_crc_errors", "tcp.receive_errors")),
)
# In counter_meaning.cpp, and an echo of what another family counts: the sender of marked packets is told of them.
ECHOES = ("tcp.delivered_ce_segments",)
_DROPPED = next(family for family in FAMILIES if family.name == "dropped_by_hosts")


@functools.cache
def family_of(column):
    """The family of 'mlx5_0.np_cnp_sent', or None."""
    source, _, counter = column.rpartition(".")
    for name in (counter.lower().removeprefix("vport_"), column):
        for family in FAMILIES:
            if name in family.names:
                return family
    if source in ("tcp", "udp", "ip", "softnet") or not source:
        return None
    if "discard" in counter.lower() and "filter" not in counter.lower():
        return _DROPPED
    pauses = _pauses(counter.lower())
    return next((family for family in FAMILIES if pauses and family.pauses == pauses), None)


def _pauses(name):
    """'rx frames', 'tx duration', ...; None if the counter is none of pauses. As pause_meaning in C++."""
    if not _PAUSES.search(name) or "storm" in name or "discard" in name or "drop" in name:
        return None
    side = "tx" if "tx" in name and "rx" not in name else "rx"
    if "transition" in name or "xon_2_xoff" in name:
        return f"{side} transition"
    if "duration" in name:
        return f"{side} duration"
    return f"{side} frames" if ("pfc" not in name or "frames" in name) and "xon" not in name else None


def sums(run):
    """{family's name: sum over the measured seconds of all hosts}; without those that no host counts."""
    found = {}
    for counters in measured(run).values():
        of_device = {}
        for column, value in counters.items():
            family = family_of(column)
            if family is not None:
                source, _, counter = column.rpartition(".")
                of_device.setdefault((family, source), []).append((counter.lower(), value))
        for (family, _), values in of_device.items():
            found[family.name] = found.get(family.name, 0.0) + family.factor * _of_device(family, values)
    return found


def _of_device(family, values):
    """A device counts the same under several names (rx_pause_ctrl_phy has the frames of rx_prio3_pause, too); only
    priorities add up."""
    if not family.pauses:
        return max(value for _, value in values)
    whole = [value for name, value in values if not _PRIORITY.search(name)]
    return max([sum(value for name, value in values if _PRIORITY.search(name)), *whole])


def measured_seconds(run):
    """How long was measured; runs may be shorter than a second, which `seconds` of run.json rounds to 0. None: not known."""
    return max((rank.get("measured_s") or 0.0 for rank in run.record.get("ranks", [])), default=0.0) or run.record.get("seconds")


def measured(run):
    """{host: {column: sum over the measured seconds}}: as in run.json, so that it is the same everywhere; of runs
    that ended before their time, what the hosts' files have."""
    totals = {entry["name"]: entry.get("totals") for entry in run.record.get("hosts") or []}
    end = run.record.get("seconds")
    end = None if end is None else max(1, end)  # a run shorter than a second has one row
    found = {}
    for host, columns in run.host_counters().items():
        inside = (columns["second"] >= 0) & (columns["second"] < (np.inf if end is None else end))
        known = {name: values[inside] for name, values in columns.items() if "." in name}
        known = {name: values for name, values in known.items() if np.isfinite(values).any()}
        recorded = totals.get(host)
        found[host] = {name: float(np.nansum(values)) if recorded is None else float(recorded.get(name, 0))
                       for name, values in known.items()}
    for host, recorded in totals.items():
        if recorded and host not in found:
            found[host] = {name: float(value) for name, value in recorded.items()}
    return found
