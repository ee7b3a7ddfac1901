"""Charts of what hosts counted: network interfaces and protocols of the kernel."""

import numpy as np

from ..basics.units import counter, listed, scale
from ..reading import host_counters
from ..reading.series import measured_seconds, rates
from .charts import Line, Panel, PanelChart

PANELS_MAX = 8
PORTS_MAX = 3


def counters(run):
    """Counters of network interfaces that moved, beside the throughput; sums over hosts."""
    hosts = {host: columns for host, columns in run.host_counters().items() if len(columns["second"])}
    if not hosts:
        return None
    first = min(int(columns["second"].min()) for columns in hosts.values())
    last = max(int(columns["second"].max()) for columns in hosts.values())
    seconds = np.arange(first, last + 1)
    sums = {}
    for columns in hosts.values():
        position = columns["second"].astype(int) - first
        for name, values in columns.items():
            if name in ("second", "covered_s") or not np.nansum(np.abs(values)):
                continue
            total = sums.setdefault(name, np.zeros(len(seconds)))
            np.add.at(total, position, np.nan_to_num(values))
    if not sums:
        return None
    panels = []
    received = rates(run, "consumer")
    if received is not None:
        rows = run.rows("consumer")
        total = np.nansum(received, axis=0)
        factor, unit = scale("b/s", total.max())
        panels.append(Panel("Payload received, all consumers", unit,
                            lines=[Line("payload", rows.seconds, total / factor, "mean")]))
    shown = sorted(sums, key=lambda name: (_rank_of_counter(name), name))[:PANELS_MAX]
    in_measure = measured(run)
    gaps = host_counters.gaps(run)
    for name in shown:
        panels.append(Panel(f"{name} ({_counted(name, in_measure)}{_missing(name, gaps)})", "in the second",
                            lines=[Line(name, seconds, sums[name], "highest")]))
    left = len(sums) - len(shown)
    return PanelChart("counters", "Network counters", panels, measured_seconds(run),
                      "Sums over hosts; counters that stayed at 0 are left out"
                      + (f", and {left} more that moved." if left else ".") + _families(run), holds=1.0)


def _families(run):
    """' Packets dropped by hosts 90000 (eth0 on eb01 50000 and udp on eb01 40000).': what a comparison shows of these
    counters."""
    found = []
    for family in host_counters.FAMILIES:
        of_ports = sorted(((families.get(family.name, 0.0), source, host)
                           for (host, source), families in host_counters.ports(run).items()), reverse=True)
        moved = [f"{source} on {host} {counter(value, family.unit)}" for value, source, host in of_ports if value]
        if moved:
            found.append(f"{family.title} {counter(host_counters.sums(run)[family.name], family.unit)} "
                         f"({listed(moved, PORTS_MAX)})")
    return f" Together: {'; '.join(found)}." if found else ""


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


def _counted(name, in_measure):
    """12 in the measured seconds, most on eb01: 7"""
    unit = "B" if name.endswith("_bytes") else ""
    on_hosts = {host: counters[name] for host, counters in in_measure.items() if name in counters}
    if not on_hosts:
        return "not known in the measured seconds"
    whole = sum(on_hosts.values())
    most = max(on_hosts, key=on_hosts.get, default=None)
    where = ("" if not whole else f", on {most}" if on_hosts[most] == whole else
             f", most on {most}: {counter(on_hosts[most], unit)}")
    return f"{counter(whole, unit)} in the measured seconds{where}"


def _missing(name, gaps):
    """; missing on eb01 from second 2 on"""
    texts = [f"missing on {host} from second {second} on" if what == "gone" else f"reset on {host} in second {second}"
             for (host, column), (second, what) in sorted(gaps.items()) if column == name]
    return f"; {listed(texts, PORTS_MAX)}" if texts else ""


def _rank_of_counter(name):
    """Signs of trouble first."""
    for rank, words in enumerate((("pause",), ("cnp", "ecn", "marked"),
                                  ("retrans", "timeout", "discard", "drop", "err", "out_of"))):
        if any(word in name for word in words):
            return rank
    return 9
