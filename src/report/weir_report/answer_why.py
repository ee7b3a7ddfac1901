"""Why a setting did what it did: the network's mechanism, and what the hosts counted, as share of time or of packets.
Received and sent pauses are two things. What no host counts is missing, which is not 0."""

from __future__ import annotations

import dataclasses

import numpy as np

from . import host_counters, network_mechanisms, units

# What hosts' interfaces call the packets that they handled.
_PACKETS = {"sent": ("port_xmit_packets", "tx_packets", "tx_packets_phy", "out_segments"),
            "received": ("port_rcv_packets", "rx_packets", "rx_packets_phy", "in_segments")}


@dataclasses.dataclass(frozen=True)
class Counter:
    """One kind of counter of one setting, as median of its runs. `value`: None is not counted; `share`: of the time of all
    counting ports, or of packets, 0 to 1; None: not known. `of`: 'time' or 'packets'."""

    name: str
    title: str
    unit: str
    value: float | None
    share: float | None
    of: str | None
    runs: int  # that counted it

    @property
    def text(self):
        if self.value is None:
            return "not counted"
        if self.share is not None:
            return f"{units.percent(self.share)} of {'the time' if self.of == 'time' else self.of}"
        return f"{units.text(self.value, 's')}" if self.unit == "s" else f"{units.number(round(self.value))} {self.unit}"


@dataclasses.dataclass(frozen=True)
class Why:
    setting: str
    mechanism: str  # lossy 4 of 5
    counters: tuple  # of Counter, every family
    missing: tuple  # titles of what no host counts

    @property
    def shown(self):
        """Those with anything in them."""
        return [counter for counter in self.counters if counter.value]


def why(group, name):
    families = host_counters.FAMILIES
    of_runs = [_of_run(run) for run in group.runs]
    counters = [_counter(family, of_runs) for family in families]
    return Why(name, network_mechanisms.text(group), tuple(counters),
               tuple(counter.title for counter in counters if counter.value is None))


def _of_run(run):
    """{family's name: (value, share, of)}"""
    measured = host_counters.measured(run)
    sums = host_counters.sums(run)
    packets = {side: _packets(measured, names) for side, names in _PACKETS.items()}
    seconds = run.record.get("seconds")
    found = {}
    for family in host_counters.FAMILIES:
        if family.name not in sums:
            continue
        value, share, of = sums[family.name], None, None
        if family.unit == "s":
            ports = _counting_ports(measured, family)
            share, of = (value / (seconds * ports), "time") if seconds and ports else (None, None)
        elif family.unit in ("packets", "segments") or family.name in ("rdma_retransmissions",):
            whole = packets["received" if family.name in ("ecn_marked_packets", "out_of_sequence", "dropped_by_hosts",
                                                          "cnp_handled") else "sent"]
            share, of = (value / whole, "packets") if whole else (None, None)
        found[family.name] = (value, share, of)
    return found


def _packets(measured, names):
    """Packets of all hosts; a device that has them under several names counts once."""
    whole = 0.0
    for counters in measured.values():
        devices = {}
        for column, value in counters.items():
            device, _, counter = column.rpartition(".")
            if counter.lower() in names and device != "tcp":
                devices[device] = max(devices.get(device, 0.0), value)
        whole += sum(devices.values())
    return whole


def _counting_ports(measured, family):
    return sum(len({column.rpartition(".")[0] for column in counters if host_counters.family_of(column) is family})
               for counters in measured.values())


def _counter(family, of_runs):
    there = [found[family.name] for found in of_runs if family.name in found]
    if not there:
        return Counter(family.name, family.title, family.unit, None, None, None, 0)
    shares = [share for _, share, _ in there if share is not None]
    return Counter(family.name, family.title, family.unit, float(np.median([value for value, _, _ in there])),
                   float(np.median(shares)) if shares else None, there[0][2], len(there))
