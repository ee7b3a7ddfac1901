"""Charts of switches: what those of a simulation counted (queue, pauses, marks, drops and rates on one axis of time),
how evenly they loaded parallel links, and what a real one counted, from its readings (weir-sweep, read-every)."""

import numpy as np

from ..basics.units import number, scale, text
from ..reading import switch_counters
from ..reading.metrics import second_0
from ..reading.series import measured_seconds
from ..reading.switch_counters import ranks_behind
from ..reading.switch_reading import COUNTER, KNOWN, kind, title_and_unit
from .charts import Area, BLUE, LIGHT, Line, Panel, PanelChart, VERMILION, extreme

LINKS_SHOWN = 5
READINGS_MAX = 6
_DIRECTIONS = {"out": "from", "in": "to"}


def switches(run):
    """None for runs without rows of switches."""
    tables = {name: columns for name, columns in run.switch_rows().items() if len(columns["begin_s"])}
    if not tables:
        return None
    ports = _Ports(run, tables)
    panels = [panel for panel in (_queues(ports), _pauses(ports), _marks_and_drops(ports), _rates(ports)) if panel]
    return _by_row(run, "switches", "Switches", panels, ". Values of ports are of all their priorities together; names "
                   "are those of what a port leads to.")


def _by_row(run, name, title, panels, caption):
    """A chart whose values hold for a row of a simulated switch. `caption`: behind how long that is."""
    row, measured = run.record["switch"]["row_s"], measured_seconds(run)
    if measured is not None:
        measured = (measured[0], measured[1] + 1 - row)  # the last row that begins in the last second
    return PanelChart(name, title, panels, measured,
                      f"One value for {'each second' if row == 1 else 'every ' + text(row, 's')}{caption}", holds=row)


class _Ports:
    """Values by port and time, priorities together."""

    def __init__(self, run, tables):
        observed = np.unique(np.concatenate([columns["begin_s"] for columns in tables.values()]))
        self.times = _without_gaps(observed, run.record["switch"]["row_s"])
        entries = {(entry["switch"], entry["port"]): entry for entry in run.record["switch"]["ports"]}
        named = {key: entry["peer"] for key, entry in entries.items()}
        keys = sorted({(name, int(port)) for name, columns in tables.items() for port in np.unique(columns["port"])})
        self.names = [named.get(key, f"{key[0]}, port {key[1]}") for key in keys]
        self._ranks = [ranks_behind(entries[key]) if key in entries else [] for key in keys]
        self._lines = {key: line for line, key in enumerate(keys)}
        self._tables = tables
        self.covered = np.full(len(self.times), run.record["switch"]["row_s"])
        for columns in tables.values():
            self.covered[np.searchsorted(self.times, columns["begin_s"])] = columns["covered_s"]

    def of(self, name, highest=False):
        """Ports x times: the sum over priorities, or the highest."""
        values = np.zeros((len(self.names), len(self.times)))
        for switch, columns in self._tables.items():
            lines = np.array([self._lines[switch, int(port)] for port in columns["port"]])
            places = (lines, np.searchsorted(self.times, columns["begin_s"]))
            (np.maximum if highest else np.add).at(values, places, columns[name])
        return values

    def of_pool(self):
        """The fullest switch."""
        values = np.zeros(len(self.times))
        for columns in self._tables.values():
            np.maximum.at(values, np.searchsorted(self.times, columns["begin_s"]), columns["pool_peak_bytes"])
        return values

    def leading_to(self, role):
        return np.array([any(rank.startswith(f"{role}-") for rank in ranks) for ranks in self._ranks])

    def highest(self, shown, values, style="highest"):
        """A line of the largest value of any port, with the port's name at every point."""
        return extreme(shown, self.times, values, self.names.__getitem__, style)


def _without_gaps(times, row):
    """No rows are written for times in which nothing moved or waited: they are drawn as such."""
    parts = [times]
    for begin, end in zip(times[:-1], times[1:]):
        if end - begin > 1.5 * row:
            parts.append(np.arange(begin + row, end - row / 2, row))
    return np.unique(np.concatenate(parts))


def _queues(ports):
    peaks, means, pool = ports.of("queue_peak_bytes", highest=True), ports.of("queue_mean_bytes"), ports.of_pool()
    factor, unit = scale("B", max(peaks.max(), pool.max()))
    return Panel("Queues in front of ports", unit, areas=[
        Area("memory in use by all, peak", ports.times, np.zeros(len(pool)), pool / factor, LIGHT)], lines=[
            ports.highest("longest queue, peak", peaks / factor),
            ports.highest("longest queue, mean over time", means / factor, "mean")])


def _pauses(ports):
    stopped = np.divide(ports.of("pausing_s", highest=True), ports.covered,
                        out=np.zeros((len(ports.names), len(ports.times))), where=ports.covered > 0)
    producers = ports.leading_to("producer")
    if not stopped.any():
        return None
    lines = [ports.highest("longest of any host", 100 * stopped)]
    if producers.any():
        lines.append(Line("producers, mean", ports.times, 100 * stopped[producers].mean(axis=0), "mean"))
    return Panel("Stopped by pauses", "% of time", lines=lines, least_top=10.0)


def _marks_and_drops(ports):
    lines = []
    for shown, name, colour in (("marked (ECN)", "marked_packets", BLUE), ("dropped", "dropped_packets", VERMILION)):
        values = ports.of(name).sum(axis=0)
        if values.any():
            lines.append(Line(f"{shown}, all ports", ports.times, _per_second(values, ports), colour=colour))
    return Panel("Packets marked and dropped", "per second", lines=lines) if lines else None


def _rates(ports):
    consumers = ports.leading_to("consumer")
    if not consumers.any():
        return None
    sent = 8 * _per_second(ports.of("sent_bytes"), ports)[consumers]
    factor, unit = scale("b/s", sent.max())
    sent = sent / factor
    return Panel("Sent to each consumer, on the wire", unit, lines=[
        Line("lowest", ports.times, sent.min(axis=0), "lowest"),
        Line("mean", ports.times, sent.mean(axis=0), "mean"),
        Line("highest", ports.times, sent.max(axis=0), "highest")])


def _per_second(values, ports):
    return np.divide(values, ports.covered, out=np.zeros(values.shape), where=ports.covered > 0)


# --- Parallel links.


def parallel_links(run):
    """None for runs without parallel links."""
    rows = run.parallel_link_rows()
    if rows is None or not len(rows["begin_s"]):
        return None
    times = np.unique(rows["begin_s"])
    groups = sorted(set(zip(rows["switch"], rows["direction"])))
    lines = {group: line for line, group in enumerate(groups)}
    places = (np.array([lines[group] for group in zip(rows["switch"], rows["direction"])]),
              np.searchsorted(times, rows["begin_s"]))

    def of(column):
        values = np.full((len(groups), len(times)), np.nan)
        values[places] = rows[column]
        return values

    def panel(title, column, style, least_top):
        values = of(column)
        return Panel(title, "", least_top=least_top, lines=[
            extreme(f"{style} of any links", times, values, lambda line: _link_name(*groups[line]), style),
            Line("mean", times, np.nanmean(values, axis=0), "mean")])

    return _by_row(run, "parallel-links", "Balance of parallel links", [
        panel("Most loaded link / mean (MMR)", "most_over_mean", "highest", 1.0),
        panel("Jain index of their loads (JFI)", "jain_index", "lowest", 1.05)],
        " and all links of a switch of which it takes any: 1 is even. Times in which nothing was sent on them are left "
        "out.")


def links_table(run):
    """{'heads', 'rows'} of texts; None for runs without parallel links."""
    entries = [entry for entry in (run.record.get("switch") or {}).get("parallel_links") or []
               if entry["jain_index"] is not None]
    if not entries:
        return None
    entries.sort(key=lambda entry: entry["jain_index"])
    return {"heads": ("parallel links, least even first", "links", "MMR", "in the worst row", "JFI",
                      "in the worst row"),
            "rows": [(_link_name(entry["switch"], entry["direction"]), str(len(entry["links"])),
                      *(number(entry[name]) for name in ("most_over_mean", "highest_most_over_mean", "jain_index",
                                                         "lowest_jain_index"))) for entry in entries[:LINKS_SHOWN]]}


def _link_name(switch, direction):
    return f"{_DIRECTIONS.get(direction, direction)} {switch}"


# --- Readings.


def readings(run):
    """None without readings during the run."""
    series, begun = switch_counters.series(run), second_0(run.directory)
    if begun is None or all(len(values) < 3 for values in series.values()):
        return None
    by_name = {}
    for (port, priority, name), values in series.items():
        if len(values) > 2 and name not in switch_counters.TRAFFIC:
            by_name.setdefault(name, []).append((port if priority is None else f"{port} priority {priority}", values))
    order = list(KNOWN)
    panels = [_reading_panel(name, by_name[name], begun)
              for name in sorted(by_name, key=lambda name: (order.index(name) if name in order else len(order), name))]
    panels = [panel for panel in panels if panel][:READINGS_MAX]
    if not panels:
        return None
    return PanelChart("switch-readings", "Switch, as it was read", panels, measured_seconds(run),
                      "The port with the most in each time between two readings, drawn at its end. Counters that did "
                      "not move are left out.")


def _reading_panel(name, ports, begun):
    """The highest port at each time: per second for counters, else as it was read. A counter that went back is no value
    there."""
    times = np.unique([time for _, values in ports for time, _ in values])
    table = np.full((len(ports), len(times)), np.nan)
    for line, (_, values) in enumerate(ports):
        for time, value in values:
            table[line, np.searchsorted(times, time)] = value
    if kind(name) == COUNTER:
        table, times = np.diff(table, axis=1) / np.diff(times), times[1:]
        table[table < 0] = np.nan
    if not np.nansum(np.abs(table)):
        return None
    title, unit = title_and_unit(name)
    factor, unit = scale(unit, np.nanmax(table))
    return Panel(title, f"{unit} per second" if kind(name) == COUNTER else unit, lines=[
        extreme("port with the most", times - begun, table / factor, lambda port: ports[port][0])])
