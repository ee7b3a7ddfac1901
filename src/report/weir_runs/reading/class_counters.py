"""Traffic by class (802.1p priority): what hosts count against what the switches at the other end of their cables
count. Nothing appears or disappears on a cable or in a switch without a counter, so a difference is a finding.

Simulations count by class where the switch file names classes; of real runs, drivers such as mlx5 and bnxt do
(tx_prio3_packets, tx_packets_pri3), and readers of switches where the switch prints packets by priority. All times of
the run count, with warm-up and drain: a switch is read before and after it.
"""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from ..basics.units import counter, share
from . import switch_counters

TOLERANCE = 0.02  # sonic-mgmt, tests of RoCE: counters of hosts and switches within 2 %
# What can be under way on the cable of a host when both of its ends are read, and readings of a real switch are not of
# the same instant.
PACKETS_UNDER_WAY = 32
HOST_COUNTER = re.compile(r"(?P<source>.+)\.(?P<way>[rt]x)_(?:prio(?P<mlx5>[0-7])_packets|packets_pri(?P<bnxt>[0-7]))")


@dataclasses.dataclass(frozen=True)
class ClassCounts:
    """Packets of one priority over the whole run. None: not counted, or not known."""

    priority: int
    name: str
    hosts_sent: int | None = None
    hosts_received: int | None = None
    from_hosts: int | None = None  # that switches received from hosts
    to_hosts: int | None = None  # that switches sent to them
    switches_received: int | None = None  # with what they received from each other
    switches_sent: int | None = None
    dropped: int | None = None
    stored: int = 0  # at most so many were in switches at the end
    cables: int = 1  # of hosts


def of_run(run):
    """[ClassCounts] by priority; empty if packets are not counted by class on both sides."""
    hosts, cables = _hosts(run)
    switches = _simulated(run) if (run.record.get("switch") or {}).get("classes") else _read(run)
    names = {one["priority"]: one["name"] for one in (run.record.get("switch") or {}).get("classes") or []}
    return [ClassCounts(priority, names.get(priority, f"priority {priority}"), **hosts[priority], **switches[priority],
                        cables=cables)
            for priority in sorted(hosts) if priority in switches]


def _hosts(run):
    """{priority: {'hosts_sent', 'hosts_received'}}, and how many NICs count so. A second that is not known makes the
    sum unknown."""
    found, sources = {}, set()
    for host, columns in run.host_counters().items():
        for column, values in columns.items():
            match = HOST_COUNTER.fullmatch(column)
            if not match:
                continue
            sources.add((host, match["source"]))
            of = found.setdefault(int(match["mlx5"] or match["bnxt"]), {"hosts_sent": 0, "hosts_received": 0})
            way = "hosts_sent" if match["way"] == "tx" else "hosts_received"
            unknown = of[way] is None or np.isnan(np.asarray(values, dtype=float)).any()
            of[way] = None if unknown else of[way] + int(values.sum())
    return found, len(sources)


def _simulated(run):
    """{priority: counts}, from the rows of all simulated switches."""
    tables = run.switch_rows()
    peers = {(port["switch"], port["port"]): port["peer"] for port in run.record["switch"]["ports"]}
    found = {}
    for switch, table in tables.items():
        to_host = np.array([peers.get((switch, int(port)), "") not in tables for port in table["port"]], dtype=bool)
        for priority in np.unique(table["priority"]):
            rows = table["priority"] == priority
            of = found.setdefault(int(priority), dict.fromkeys(
                ("from_hosts", "to_hosts", "switches_received", "switches_sent", "dropped", "stored"), 0))
            for name, column, where in (("from_hosts", "received_packets", rows & to_host),
                                        ("to_hosts", "sent_packets", rows & to_host),
                                        ("switches_received", "received_packets", rows),
                                        ("switches_sent", "sent_packets", rows),
                                        ("dropped", "dropped_packets", rows)):
                of[name] += int(table[column][where].sum())
            of["stored"] += _stored(table, rows)
    return found


def _stored(table, rows):
    """How many packets queues can have held at the end: their peaks in the last rows."""
    sent = table["sent_packets"][rows].sum()
    last = rows & (table["begin_s"] == table["begin_s"].max(initial=0.0))
    return int(table["queue_peak_bytes"][last].sum() * sent / max(table["sent_bytes"][rows].sum(), 1)) + 1


def _read(run):
    """{priority: counts}, from readings of a real switch: of all ports that were read."""
    counters = switch_counters.of_run(run)
    found = {}
    for change in counters.changes if counters else ():
        name = {"received_packets": "from_hosts", "sent_packets": "to_hosts",
                "dropped_packets": "dropped"}.get(change.name)
        if name and change.priority is not None and change.why != switch_counters.NOT_COUNTED:
            of = found.setdefault(change.priority, {})
            known = change.value is not None and of.get(name, 0) is not None
            of[name] = of.get(name, 0) + int(change.value) if known else None
    return found


# --- Findings.


def findings(run):
    """A sentence for each difference of more than 2 %; [] if all counters agree, or are not there."""
    explained = _lost_on_links(run)
    return [words + (explained if "not counted" in words else "") + "." for one in of_run(run)
            for words in _differences(one)]


def _differences(one):
    on_cables = PACKETS_UNDER_WAY * one.cables
    yield from _difference(one, "hosts sent", one.hosts_sent, "switches received from them", one.from_hosts, on_cables)
    yield from _difference(one, "switches sent to hosts", one.to_hosts, "hosts received", one.hosts_received, on_cables)
    if one.switches_received is not None:
        left = one.switches_sent + one.dropped
        missing = one.switches_received - left
        # What is stored has come and not left.
        beyond = missing - one.stored if missing > 0 else -missing
        if beyond > TOLERANCE * max(one.switches_received, left):
            why = ("fewer: lost in a switch and not counted" if missing > 0
                   else "more: it made copies, or not all of its ports were read")
            yield (f"{one.name}: switches received {counter(one.switches_received, 'packets')} and sent or dropped "
                   f"{counter(left, 'packets')}, {share(abs(missing), max(one.switches_received, left))} {why}")


def _difference(one, first_text, first, second_text, second, under_way):
    """Of what one side sent and the other one received."""
    if first is None or second is None or abs(first - second) <= max(TOLERANCE * max(first, second), under_way):
        return
    words = ("fewer: lost on cables and not counted" if second < first
             else "more: of others, or of ports that hosts do not count")
    yield (f"{one.name}: {first_text} {counter(first, 'packets')}, and {second_text} {counter(second, 'packets')}, "
           f"{share(abs(first - second), max(first, second))} {words}")


def _lost_on_links(run):
    """What the failures of a simulation lost, which no counter of a switch or host has."""
    faults = ((run.record.get("switch") or {}).get("failures") or {}).get("faults") or []
    lost = sum(fault.get(name, {}).get("packets", 0) for fault in faults
               for name in ("lost_on_links", "lost_by_errors"))
    return f" (failures that were simulated lost {counter(lost, 'packets')} of all classes on cables)" if lost else ""


# --- As text.

HEADER = ("class", "hosts sent", "switches received", "dropped", "switches sent", "hosts received")


def table(run):
    """{'heads', 'rows', 'findings'} of texts; None if nothing is counted by class."""
    rows = [(one.name, *(counter(value, "packets") if value is not None else "unknown"
                         for value in (one.hosts_sent, one.from_hosts, one.dropped, one.to_hosts, one.hosts_received)))
            for one in of_run(run)]
    return {"heads": HEADER, "rows": rows, "findings": findings(run)} if rows else None
