"""Why a setting did what it did: the network's mechanism, and what the hosts and the switch counted, as share of time or of
packets. Received and sent pauses are two things. What nothing counts is missing, which is not 0."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..basics import units
from ..runs import host_counters, switch_counters
from ..runs.key_figures import key_figures
from . import network_mechanisms, victims

_SHORT = {"pause_frames_received": "pauses received", "pause_time_received": "paused", "pause_frames_sent": "pauses sent",
          "pause_time_sent": "pausing others", "pause_transitions_received": "times paused", "pause_transitions_sent": "times pausing",
          "ecn_marked_packets": "ECN marks", "ecn_echoes": "ECN marks (TCP)", "cnp_sent": "CNPs sent", "cnp_handled": "CNPs received",
          "out_of_sequence": "out of sequence", "sequence_errors": "sequence errors", "rdma_retransmissions": "retransmissions",
          "ack_timeouts": "acknowledgement time-outs", "tcp_retransmissions": "TCP retransmissions",
          "dropped_by_hosts": "dropped by hosts", "damaged_packets": "received damaged", "tcp_timeouts": "TCP time-outs",
          "rdma_given_up": "RDMA requests given up",
          "switch_dropped_packets": "dropped by the switch", "switch_marked_packets": "marked by the switch"}


# What comes first is shown first.
_OWN = (host_counters.Family("switch_dropped_packets", "packets dropped by the switch", "packets"),
        host_counters.Family("switch_marked_packets", "packets marked by the switch", "packets"),
        host_counters.Family("missing_datagrams", "datagrams missing", "packets"),
        host_counters.Family("blocked_share", "consumers blocked", "s"))
# What comes last: the rest of what the switch counts. Packets and bytes that it carried explain nothing.
_OF_SWITCH = tuple(host_counters.Family(f"switch_{name}", f"{title} (switch)", unit)
                   for name, (title, unit) in switch_counters.KNOWN.items()
                   if name not in (*switch_counters.TRAFFIC, "marked_packets", "dropped_packets"))
# Explain little, and are not in the line of a terminal.
_LONG = ("switch_dropped_bytes", "switch_queue_peak_bytes", "switch_pool_peak_bytes", "switch_headroom_peak_bytes",
         "switch_ingress_peak_bytes", "duplicate_requests")

# What is not shown where the other one is.
_BESIDE = {"pause_frames_received": "pause_time_received", "pause_transitions_received": "pause_time_received",
           "pause_frames_sent": "pause_time_sent", "pause_transitions_sent": "pause_time_sent",
           "switch_marked_packets": "ecn_marked_packets", "ecn_echoes": "ecn_marked_packets", "switch_pauses_sent": "pause_frames_received",
           "switch_pausing_s": "pause_time_received", "switch_pauses_received": "pause_frames_sent",
           "switch_paused_s": "pause_time_sent"}


_CNPS = ("cnp_sent", "cnp_handled")
_MARKS = ("ecn_marked_packets", "switch_marked_packets")
CNPS_WITHOUT_MARKS = "no packet was marked: network cards also send CNPs for packets that come out of order"


@dataclasses.dataclass(frozen=True)
class Counter:
    """One kind of counter of one setting, as median of its runs. `value`: None is not counted; `share`: of the time of the
    ports on which it moved, or of packets, 0 to 1; None: not known. `of`: 'time' or 'packets'."""

    name: str
    title: str
    unit: str
    value: float | None
    share: float | None
    of: str | None
    runs: int  # that counted it
    ports: int | None = None  # of hosts, which it moved on, as median; None: not known
    counting: int | None = None  # ports that count it

    @property
    def short(self):
        return _SHORT.get(self.name, self.title)

    @property
    def in_line(self):
        """ECN marks 14 % of packets; 742 sequence errors"""
        if self.value is None or self.share is not None or self.unit in ("s", "B"):
            return f"{self.short} {self.text}"
        number = round(self.value)
        return f"{units.number(number)} {self.short.removesuffix('s') if number == 1 else self.short}"

    @property
    def text(self):
        if self.value is None:
            return "not counted"
        if self.share is not None:
            ports = f" ({self.ports} of {units.counted(self.counting, 'port')})" if self.ports and self.ports < self.counting else ""
            return f"{units.percentage(self.share)} of {'the time' if self.of == 'time' else self.of}{ports}"
        return units.text(self.value, self.unit) if self.unit in ("s", "B") else f"{units.number(round(self.value))} {self.unit}"


@dataclasses.dataclass(frozen=True)
class Why:
    """`mechanism`: with the number of runs; `most`: of most runs."""

    setting: str
    runs: int  # behind it; 0: there is nothing to say
    mechanism: str  # lossy 4 of 5
    counters: tuple  # of Counter, every family
    missing: tuple  # titles of what nothing counts
    most: str = network_mechanisms.UNKNOWN
    at: str | None = None  # with a measured capacity: which runs these are
    use: float | None = None  # of the fullest port that leads to a consumer, or of the busiest interface: the median of the runs
    link: str = "fullest port"

    @property
    def shown(self):
        """Those with anything in them."""
        return [counter for counter in self.counters if counter.value]

    @property
    def cnps_without_marks(self):
        """CNPs were counted and marks were, too, and there was no mark: ECN is off, or never acted."""
        marks = [counter.value for counter in self.counters if counter.name in _MARKS and counter.value is not None]
        return bool(marks) and not any(marks) and any(counter.name in _CNPS for counter in self.shown)

    @property
    def told(self):
        """Those of `shown` that do not repeat another one."""
        values = {counter.name: counter for counter in self.shown}
        beside = {name: other for name, other in _BESIDE.items() if other in values}
        sent, handled = values.get("cnp_sent"), values.get("cnp_handled")
        if sent and handled and abs(sent.value - handled.value) <= 0.02 * handled.value:
            beside["cnp_sent"] = "cnp_handled"
        told = [counter for counter in self.shown if counter.name not in beside and counter.name not in _LONG]
        return sorted(told, key=lambda counter: "dropped" not in counter.name)

    def text(self, most):
        """held back by PFC 5 of 5; pauses received 8.3 % of the time, ... `most`: so many counters."""
        told = self.told[:most]
        counters = [counter.in_line for counter in told]
        cnps = [place for place, counter in enumerate(told) if counter.name in _CNPS]
        if cnps and self.cnps_without_marks:
            counters[cnps[-1]] += f" ({CNPS_WITHOUT_MARKS})"
        mechanism = [] if self.mechanism.startswith(network_mechanisms.SIMULATED) else [self.mechanism]
        mechanism += [f"{self.link} used {units.percent(self.use)}"] if self.use is not None else []
        return "; ".join([*mechanism, *([", ".join(counters)] if counters else [])])


def why(group, name, at=None):
    of_runs = [_of_run(run) for run in group.runs]
    uses = [use for run in group.runs if (use := _link_use(run)) is not None]
    counters = [_counter(figure, of_runs) for figure in (*_OWN, *host_counters.FAMILIES, *_OF_SWITCH)]
    return Why(name, len(group.runs), network_mechanisms.text(group) if group.runs else network_mechanisms.UNKNOWN, tuple(counters),
               tuple(counter.title for counter in counters if counter.value is None),
               next(iter(network_mechanisms.count(group)), network_mechanisms.UNKNOWN), at, float(np.median(uses)) if uses else None,
               "busiest interface" if any(run.world == "measurement" for run in group.runs) else "fullest port")


def _link_use(run):
    """Share of its speed that the fullest port to a consumer carried, as the switch of a simulation counted it; of a measured run that of
    the busiest interface. None: not known."""
    if run.world == "simulation":
        uses = [port["use"] for port in (run.record.get("switch") or {}).get("ports", ())
                if any(rank.startswith("consumer") for rank in switch_counters.ranks_behind(port))]
        return max(uses, default=None)
    return (run.record.get("network") or {}).get("busiest_use") if victims.has_real_links(run) else None


def _of_run(run):
    """{family's name: (value, share, of, ports whose counters moved, ports that count it)}"""
    sums, seconds, found = host_counters.sums(run), host_counters.measured_seconds(run), _own(run)
    for family in host_counters.FAMILIES:
        if family.name not in sums:
            continue
        value, share, ports = sums[family.name], None, (None, None)
        if family.of == "time":
            of_ports = [families[family.name] for families in host_counters.ports(run).values() if family.name in families]
            ports = sum(value > 0.0 for value in of_ports), len(of_ports)
            share = value / (seconds * max(1, ports[0])) if seconds and ports[1] else None
        elif family.of and (whole := host_counters.packets(run, family.of)):
            share = value / whole
        found[family.name] = (value, share, None if share is None else family.of.rpartition("_")[2], *ports)
    return found


def _own(run):
    """What the run counts itself, and what the switch counted: in the form of _of_run."""
    figures = key_figures(run)
    found = {}
    if figures["blocked_share"] is not None:
        found["blocked_share"] = (figures["blocked_share"], figures["blocked_share"], "time")
    if figures["missing_datagrams"] is not None:
        whole = figures["sent_datagrams"]
        found["missing_datagrams"] = (figures["missing_datagrams"], figures["missing_datagrams"] / whole if whole else None,
                                      "packets")
    return found | {f"switch_{name}": of_name for name, of_name in switch_counters.shares(run).items()}


def _counter(family, of_runs):
    there = [found[family.name] for found in of_runs if family.name in found]
    if not there:
        return Counter(family.name, family.title, family.unit, None, None, None, 0)
    shares = [found[1] for found in there if found[1] is not None]
    return Counter(family.name, family.title, family.unit, float(np.median([found[0] for found in there])),
                   float(np.median(shares)) if shares else None, there[0][2], len(there), *_median_ports(there))


def _median_ports(there):
    ports = [found[3:] for found in there if len(found) > 3 and found[3] is not None]
    return (int(np.median([moved for moved, _ in ports])), int(np.median([all_of for _, all_of in ports]))) if ports else (None, None)
