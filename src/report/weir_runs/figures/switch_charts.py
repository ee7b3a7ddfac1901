"""Charts of what the switches of a simulation counted: queue, pauses, marks, drops and rates on one axis of time."""

import numpy as np

from ..basics.units import scale
from ..reading.series import measured_seconds
from ..reading.switch_counters import ranks_behind
from .charts import Area, LIGHT, Line, Panel, PanelChart, extreme


def switches(run):
    """None for runs without rows of switches."""
    tables = {name: columns for name, columns in run.switch_rows().items() if len(columns["begin_s"])}
    if not tables:
        return None
    ports = _Ports(run, tables)
    panels = [panel for panel in (_queues(ports), _pauses(ports), _marks_and_drops(ports), _rates(ports)) if panel]
    row = run.record["switch"]["row_s"]
    measured = measured_seconds(run)
    if measured is not None:
        measured = (measured[0], measured[1] + 1 - row)  # the last row that begins in the last second
    return PanelChart("switches", "Switches", panels, measured,
                      f"One value for {'each second' if row == 1 else f'every {row:g} s'}. Values of ports are of all "
                      "their priorities together; names are those of what a port leads to.", holds=row)


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
    for shown, name, style in (("marked (ECN)", "marked_packets", "highest"), ("dropped", "dropped_packets", "lowest")):
        values = ports.of(name).sum(axis=0)
        if values.any():
            lines.append(Line(f"{shown}, all ports", ports.times, _per_second(values, ports), style))
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
