"""What hosts' counters add up to, by family, as run.json has it (hosts[].families): one name for the many that drivers
have (src/record/counter_catalogue.cpp, docs/counters.md). Families explain a difference and are never better or worse:
a switch that marks packets is no fault. What is not counted is absent, which is not 0. Received and sent pauses are
different things, and so are CNPs sent and CNPs heeded: never one sum."""

from __future__ import annotations

import dataclasses

from ..basics.units import counted
from .run import kept


@dataclasses.dataclass(frozen=True)
class Family:
    """Counters with one meaning. `of`: what they are a share of: 'time', or the family with all packets. `short`: the
    title inside a sentence that names the setting; `beside`: the family that says the same better, where it is counted
    as well."""

    name: str
    title: str
    unit: str
    of: str | None = None
    short: str = ""
    beside: str | None = None

    @property
    def key(self):
        """In run.json, where times are in microseconds."""
        return f"{self.name}_us" if self.unit == "s" else self.name


FAMILIES = (
    Family("pause_frames_received", "pause frames received", "frames", None, "pauses received", "pause_time_received"),
    Family("pause_time_received", "pause time, received", "s", "time", "paused"),
    Family("pause_transitions_received", "transitions to pause, received", "times", None, "times paused",
           "pause_time_received"),
    Family("pause_frames_sent", "pause frames sent", "frames", None, "pauses sent", "pause_time_sent"),
    Family("pause_time_sent", "pause time, sent", "s", "time", "pausing others"),
    Family("pause_transitions_sent", "transitions to pause, sent", "times", None, "times pausing", "pause_time_sent"),
    Family("ecn_marked_packets", "packets with an ECN mark", "packets", "received_packets", "ECN marks"),
    Family("ecn_echoes", "TCP segments that arrived marked, as senders were told", "segments", "sent_segments",
           "ECN marks (TCP)", "ecn_marked_packets"),
    Family("cnp_sent", "congestion notifications (CNP) sent", "packets", "sent_packets", "CNPs sent"),
    Family("cnp_handled", "congestion notifications (CNP) received", "packets", "received_packets", "CNPs received"),
    Family("out_of_sequence", "RDMA packets out of sequence", "packets", "received_packets", "out of sequence"),
    Family("sequence_errors", "RDMA sequence errors (each for a burst)", "bursts", None, "sequence errors"),
    Family("rdma_retransmissions", "RDMA retransmissions", "times", "sent_packets", "retransmissions"),
    Family("ack_timeouts", "RDMA acknowledgement time-outs", "times", None, "acknowledgement time-outs"),
    Family("rdma_given_up", "RDMA requests given up", "times"),
    Family("tcp_retransmissions", "TCP segments sent again", "segments", "sent_segments", "TCP retransmissions"),
    Family("tcp_timeouts", "TCP time-outs", "times"),
    Family("dropped_by_hosts", "packets dropped by hosts", "packets", "received_packets", "dropped by hosts"),
    Family("damaged_packets", "packets that hosts received damaged", "packets", "received_packets",
           "received damaged"),
)


def _in_units(recorded):
    """{family's name: sum in its unit} of an object of run.json."""
    return {family.name: recorded[family.key] * (1e-6 if family.unit == "s" else 1.0) for family in FAMILIES
            if family.key in recorded}


@kept
def ports(run):
    """{(host, device or protocol): {family's name: sum over the measured seconds}}"""
    return {(host["name"], source): _in_units(families) for host in run.record.get("hosts") or []
            for source, families in (host.get("families_by_source") or {}).items()}


@kept
def sums(run):
    """{family's name: sum over the measured seconds of all hosts}; without those that no host counts."""
    found = {}
    for host in run.record.get("hosts") or []:
        for name, value in _in_units(host.get("families") or {}).items():
            found[name] = found.get(name, 0.0) + value
    return found


def packets(run, whole):
    """Sum over all hosts: 'sent_packets', 'received_packets' or 'sent_segments', which families are shares of."""
    return float(sum((host.get("families") or {}).get(whole, 0) for host in run.record.get("hosts") or []))


def gaps(run):
    """{(host, 'mlx5_0.out_of_sequence'): (second, 'gone' or 'reset')}: counters that miss a part of the run."""
    return {(host["name"], f"{gap['source']}.{name}"): (max(0, gap["second"]), gap["what"])
            for host in run.record.get("hosts") or [] for gap in host.get("gaps") or [] for name in gap["counters"]}


def missing(runs):
    """A sentence on runs in which counters were gone or reset; None if there are none."""
    lost = {run.directory.name: gaps(run) for run in runs if gaps(run)}
    if not lost:
        return None
    first, found = next(iter(lost.items()))
    (host, column), (second, what) = min(found.items(), key=lambda gap: gap[1])
    since = "reset in second" if what == "reset" else "gone from second"
    return (f"What hosts counted is of part of the run in {counted(len(lost), 'run')}: counters were gone or reset "
            f"(first: {first}, {column} on {host}, {since} {second}).")


def unknown(runs):
    """A sentence on runs that an earlier weir made, whose run.json has no families; None if there are none."""
    old = [run for run in runs if any(host.get("totals") is not None and "families" not in host
                                      for host in run.record.get("hosts") or [])]
    if not old:
        return None
    return (f"What hosts counted is not compared of {counted(len(old), 'run')} of an earlier weir, whose run.json has "
            f"no sums by family (first: {old[0].directory.name}).")


def measured_seconds(run):
    """How long was measured; runs may be shorter than a second, which `seconds` of run.json rounds to 0. None: not
    known."""
    return max((rank.get("measured_s") or 0.0 for rank in run.record.get("ranks", [])),
               default=0.0) or run.record.get("seconds")
