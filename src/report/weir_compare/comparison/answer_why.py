"""Why a setting did what it did: the network's mechanism, and what the hosts and the switch counted, as share of time
or of packets. Received and sent pauses are two things. What nothing counts is missing, which is not 0."""

from __future__ import annotations

import collections
import dataclasses
import re

import numpy as np

from weir_runs.basics import units
from weir_runs.reading import host_counters, switch_counters
from weir_runs.reading.host_counters import Family
from weir_runs.reading.key_figures import key_figures
from . import network_mechanisms, victims

# What comes first is shown first.
_OWN = (Family("switch_dropped_packets", "packets dropped by the switch", "packets", short="dropped by the switch"),
        Family("switch_marked_packets", "packets marked by the switch", "packets", short="marked by the switch",
               beside="ecn_marked_packets"),
        Family("missing_datagrams", "datagrams missing", "packets"),
        Family("blocked_share", "consumers blocked", "s"))
# What switches count of what hosts count as well.
_ALSO_OF_HOSTS = {"pauses_sent": "pause_frames_received", "pausing_s": "pause_time_received",
                  "pauses_received": "pause_frames_sent", "paused_s": "pause_time_sent"}
# What comes last: the rest of what the switch counts. Packets and bytes that it carried explain nothing.
_OF_SWITCH = tuple(Family(f"switch_{name}", f"{title} (switch)", unit, beside=_ALSO_OF_HOSTS.get(name))
                   for name, (title, unit) in switch_counters.KNOWN.items()
                   if name not in (*switch_counters.TRAFFIC, "marked_packets", "dropped_packets"))
# Explain little, and are not in the line of a terminal.
_LONG = ("switch_dropped_bytes", "switch_queue_peak_bytes", "switch_pool_peak_bytes", "switch_headroom_peak_bytes",
         "switch_ingress_peak_bytes", "duplicate_requests")

_CNPS = ("cnp_sent", "cnp_handled")
_MARKS = ("ecn_marked_packets", "switch_marked_packets")
ACKNOWLEDGEMENTS = "all of {} B: acknowledgements, which are not ECN-capable in the model, so that WRED drops them"
CNPS_WITHOUT_MARKS = "no packet was marked: network cards also send CNPs for packets that come out of order"


@dataclasses.dataclass(frozen=True)
class Counter:
    """One kind of counter of one setting, as median of its runs. `value`: None is not counted; `share`: of the time of
    the ports on which it moved, or of packets, 0 to 1; None: not known. `of`: 'time' or 'packets'."""

    family: Family
    value: float | None = None
    share: float | None = None
    of: str | None = None
    runs: int = 0  # that counted it
    ports: int | None = None  # of hosts, which it moved on, as median; None: not known
    counting: int | None = None  # ports that count it

    @property
    def name(self):
        return self.family.name

    @property
    def title(self):
        return self.family.title

    @property
    def unit(self):
        return self.family.unit

    @property
    def short(self):
        return self.family.short or self.title

    @property
    def in_line(self):
        """ECN marks 14 % of packets; 742 sequence errors"""
        if self.value is None or self.share is not None or self.unit in ("s", "B"):
            return f"{self.short} {self.text}"
        number = round(self.value)
        return f"{number} {self.short.removesuffix('s') if number == 1 else self.short}"

    @property
    def text(self):
        if self.value is None:
            return "not counted"
        if self.share is not None:
            ports = (f" ({self.ports} of {units.counted(self.counting, 'port')})" if self.ports
                     and self.ports < self.counting else "")
            return f"{units.percentage(self.share)} of {'the time' if self.of == 'time' else self.of}{ports}"
        return units.text(self.value if self.unit in ("s", "B") else round(self.value), self.unit)


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
    # of the fullest port that leads to a consumer, or of the busiest interface: the median of the runs
    use: float | None = None
    link: str = "fullest port"
    held_up: str = ""  # by what: the main cause of most of the runs that had one
    acknowledgement_bytes: int | None = None  # of each packet that the switch lost, if all are acknowledgements

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
        repeated = {name for name, counter in values.items() if counter.family.beside in values}
        sent, handled = values.get("cnp_sent"), values.get("cnp_handled")
        if sent and handled and abs(sent.value - handled.value) <= 0.02 * handled.value:
            repeated.add("cnp_sent")
        told = [counter for counter in self.shown if counter.name not in (*repeated, *_LONG)]
        return sorted(told, key=lambda counter: "dropped" not in counter.name)

    def text(self, most):
        """PFC paused senders in 5 of 5 runs; pauses received 8.3 % of the time, ... `most`: so many counters."""
        told = self.told[:most]
        counters = [counter.in_line for counter in told]
        cnps = [place for place, counter in enumerate(told) if counter.name in _CNPS]
        if cnps and self.cnps_without_marks:
            counters[cnps[-1]] += f" ({CNPS_WITHOUT_MARKS})"
        for place, counter in enumerate(told):
            if counter.name == "switch_dropped_packets" and self.acknowledgement_bytes:
                counters[place] += f" ({ACKNOWLEDGEMENTS.format(self.acknowledgement_bytes)})"
        mechanism = [self.held_up] if self.held_up else []
        mechanism += [] if self.mechanism.startswith(network_mechanisms.SIMULATED) else [self.mechanism]
        mechanism += [f"{self.link} used {units.percent(self.use)}"] if self.use is not None else []
        return "; ".join([*mechanism, *([", ".join(counters)] if counters else [])])


def why(group, name, at=None):
    of_runs = [_of_run(run) for run in group.runs]
    uses = [use for run in group.runs if (use := _link_use(run)) is not None]
    counters = [_counter(family, of_runs) for family in (*_OWN, *host_counters.FAMILIES, *_OF_SWITCH)]
    measured = any(run.world == "measurement" for run in group.runs)
    lost = {switch_counters.bytes_of_lost_acknowledgements(run.record) for run in group.runs
            if (run.record.get("switch") or {}).get("dropped_packets")}
    return Why(name, len(group.runs), network_mechanisms.text(group) if group.runs else network_mechanisms.UNKNOWN,
               tuple(counters), tuple(counter.title for counter in counters if counter.value is None),
               most=next(iter(network_mechanisms.count(group)), network_mechanisms.UNKNOWN), at=at,
               use=float(np.median(uses)) if uses else None,
               link="busiest interface" if measured else "fullest port",
               acknowledgement_bytes=lost.pop() if len(lost) == 1 else None, held_up=_held_up(group.runs))


def _held_up(runs):
    """'held up by links of consumers in 4 of 5 runs': what the runs themselves call their main cause; '': nothing."""
    named = collections.Counter(found[1] for run in runs if (
        found := re.search(r"Main cause: (.+?)\.(?: [A-Z]|$)", run.verdict.get("text") or "")))
    del named["not told"]
    if not named:
        return ""
    cause, times = named.most_common(1)[0]
    return f"held up by {cause} in {times} of {units.counted(len(runs), 'run')}"


def _link_use(run):
    """Share of its speed that the fullest port to a consumer carried, as the switch of a simulation counted it; of a
    measured run that of the busiest interface. None: not known."""
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
            of_ports = [families[family.name] for families in host_counters.ports(run).values()
                        if family.name in families]
            ports = sum(value > 0.0 for value in of_ports), len(of_ports)
            share = value / (seconds * max(1, ports[0])) if seconds and ports[1] else None
        elif family.of and (whole := host_counters.packets(run, family.of)):
            share = value / whole
        found[family.name] = (value, share, None if share is None else family.of.rpartition("_")[2], *ports)
    return found


def _own(run):
    """What the run counts itself, and what the switch counted: in the form of _of_run."""
    figures = key_figures(run)
    found, blocked, missing = {}, figures["blocked_share"], figures["missing_datagrams"]
    if blocked is not None:
        found["blocked_share"] = (blocked, blocked, "time")
    if missing is not None:
        whole = figures["sent_datagrams"]
        found["missing_datagrams"] = (missing, missing / whole if whole else None, "packets")
    return found | {f"switch_{name}": of_name for name, of_name in switch_counters.shares(run).items()}


def _counter(family, of_runs):
    there = [found[family.name] for found in of_runs if family.name in found]
    if not there:
        return Counter(family)
    shares = [found[1] for found in there if found[1] is not None]
    ports = [found[3:] for found in there if len(found) > 3 and found[3] is not None]
    moved, counting = (int(np.median(numbers)) for numbers in zip(*ports)) if ports else (None, None)
    return Counter(family, float(np.median([found[0] for found in there])),
                   float(np.median(shares)) if shares else None, there[0][2], len(there), moved, counting)
