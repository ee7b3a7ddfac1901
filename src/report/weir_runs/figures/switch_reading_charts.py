"""A chart of what a real switch counted during a run, from its readings (weir-sweep, read-every)."""

import numpy as np

from ..basics.units import scale
from ..reading import switch_counters
from ..reading.metrics import second_0
from ..reading.series import measured_seconds
from ..reading.switch_reading import COUNTER, KNOWN, kind, title_and_unit
from .charts import Panel, PanelChart, extreme

PANELS_MAX = 6


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
    panels = [_panel(name, by_name[name], begun)
              for name in sorted(by_name, key=lambda name: (order.index(name) if name in order else len(order), name))]
    panels = [panel for panel in panels if panel][:PANELS_MAX]
    if not panels:
        return None
    return PanelChart("switch-readings", "Switch, as it was read", panels, measured_seconds(run),
                      "The port with the most in each time between two readings, drawn at its end. Counters that did "
                      "not move are left out.")


def _panel(name, ports, begun):
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
