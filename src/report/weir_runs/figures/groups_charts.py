"""Charts of a job with several groups: sums and extremes over its groups, by second."""

import dataclasses

import numpy as np

from ..basics.errors import ReportError
from ..basics.units import counted, scale, text
from ..reading.series import column, measured_seconds, over_ranks, rates, target_rate
from .charts import HeatMap, Line, Panel, PanelChart, rule
from .heat_maps import about_columns, worst_view
from .time_charts import PALE, occupancy_panel, rank_panel

GROUPS = "single groups"


@dataclasses.dataclass
class GroupsSeries:
    """Values of the groups that have rows, groups x seconds; NaN where a group has no row of a second. `grouped`: only
    these groups."""

    grouped: object
    planned: list  # all groups
    seconds: np.ndarray
    rates: np.ndarray  # received by all consumers of the group, b/s
    occupancy: np.ndarray  # worst of any producer
    late_sets: np.ndarray
    lost_events: np.ndarray
    measured: tuple | None  # first and last measured second of any group


def groups_series(grouped):
    """Reads the rows of one group after the other, and keeps none of them. None if no group has any. A group whose rows
    are broken gets a problem, and is left out."""
    found = []
    for group in grouped.groups:
        if group.run is None:
            continue
        try:
            run = dataclasses.replace(group.run)  # which is gone after this, with its rows
            values = _by_second(run)
        except ReportError as error:
            group.problems.append(f"The rows of this group are not drawn: {error}.")
            continue
        if len(values[0]):
            found.append((group, measured_seconds(run), *values))
    if not found:
        return None
    first = min(entry[2][0] for entry in found)
    seconds = np.arange(first, max(entry[2][-1] for entry in found) + 1)
    ends = [entry[1] for entry in found if entry[1]]
    return GroupsSeries(dataclasses.replace(grouped, groups=[entry[0] for entry in found]), grouped.groups, seconds,
                     *(_together(seconds, [(entry[2], entry[part]) for entry in found]) for part in range(3, 7)),
                     (min(begin for begin, _ in ends), max(end for _, end in ends)) if ends else None)


def _by_second(run):
    """(seconds, rates, occupancy, late sets, lost events) of a group."""
    parts = [("consumer", rates(run, "consumer"), np.nansum), *(
        (role, column(run, role, name), combine) for role, name, combine in (
            ("producer", "occupancy_peak", np.nanmax), ("producer", "late_sets", np.nansum),
            ("producer", "lost_events", np.nansum), ("consumer", "lost_events", np.nansum)))]
    ends = [run.rows(role).seconds[[0, -1]] for role in ("producer", "consumer") if len(run.rows(role).seconds)]
    if not ends:
        return [np.empty(0, int)]
    seconds = np.arange(min(begin for begin, _ in ends), max(end for _, end in ends) + 1)
    lines = [np.full(len(seconds), np.nan) if values is None or not len(run.rows(role).seconds) else
             _together(seconds, [(run.rows(role).seconds, over_ranks(values, combine))])[0]
             for role, values, combine in parts]
    return [seconds, *lines[:3], np.nansum(lines[3:], axis=0)]


def _together(seconds, parts):
    """One line for each part (seconds, values) on common seconds."""
    lines = np.full((len(parts), len(seconds)), np.nan)
    for line, (own, values) in zip(lines, parts):
        line[own[0] - seconds[0]:own[0] - seconds[0] + len(own)] = values
    return lines


def goodput(series):
    """What all groups received together, and the slowest and the fastest of them."""
    if not np.isfinite(series.rates).any():
        return None
    grouped, x = series.grouped, series.seconds
    summed = over_ranks(series.rates, np.nansum)
    targets = _targets(series)
    target = targets[0] if len(set(targets)) == 1 else None  # one line for all
    wanted = sum(targets) if all(targets) else None
    factor, unit = scale("b/s", max(np.nanmax(summed), wanted or 0))
    total = Panel("Goodput of all groups together", unit, lines=[Line("sum of all groups", x, summed / factor, "mean")])
    if wanted:
        total.lines.append(rule(f"target {text(wanted, 'b/s')}", wanted / factor, "target"))
    single = rank_panel(grouped, "group", "Goodput of each group", x, series.rates, unit="b/s",
                        styles=("lowest", "mean", "highest"),
                        rules=[(f"target {text(target, 'b/s')}", target, "target")])
    single.members = GROUPS
    _name_extremes(single, "slowest group", "fastest group")
    return PanelChart("goodput", "Goodput", [total, single], series.measured,
                      f"Payload received by all consumers of a group, by the second. {_absent(series)}{PALE}",
                      holds=1.0)


def _targets(series):
    """Payload that each planned group is to receive, b/s; None where it is not known."""
    rate = target_rate(series.grouped, "producer")
    # Nothing came from a group that has no entry of producers: it was to have as many as the plan has.
    producers = [group.entry.get("producers") or series.grouped.resolved.get("producers") for group in series.planned]
    return [rate * count if rate and count else None for count in producers]


def buffers(series):
    """The fullest buffer of all groups; late sets and losses where there are any."""
    panels = []
    if np.isfinite(series.occupancy).any():
        panels.append(_occupancy_panel(series))
    for title, values in (("Late sets", series.late_sets), ("Events lost", series.lost_events)):
        if np.nansum(values):
            panels.append(Panel(title, "in the second", whole_numbers=True, lines=[
                Line("all groups", series.seconds, np.nansum(values, axis=0), "highest", _leading(series, values))]))
    if not panels:
        return None
    return PanelChart("buffers", "Buffers of producers", panels, series.measured,
                      "Worst occupancy: the fullest buffer of any producer of a group in a second. The pointer shows "
                      f"which group it is. {_absent(series)}{PALE}", holds=1.0)


def _occupancy_panel(series):
    x, values = series.seconds, series.occupancy
    panel = occupancy_panel(series.grouped, "group", "Worst occupancy of any producer", x, values, ("highest",))
    panel.members = GROUPS
    _name_extremes(panel, "", "fullest group")
    return panel


def _leading(series, values):
    """The group with most of each second."""
    names = [group.name for group in series.grouped.groups]
    return [f"most: {names[index]}" if most else "none"
            for index, most in zip(np.nan_to_num(values).argmax(axis=0), np.nan_to_num(values).max(axis=0))]


def _name_extremes(panel, lowest, highest):
    for line in panel.lines:
        line.name = {"lowest": lowest, "highest": highest}.get(line.style, line.name)


def _absent(series):
    absent = len(series.planned) - len(series.grouped.groups)
    return (f"{counted(absent, 'group')} of {len(series.planned)} left no rows and {'is' if absent == 1 else 'are'} "
            "not in it. " if absent else "")


def heat_map(series):
    """Groups x seconds; nothing for a job with few groups, whose lines can be told apart."""
    views = []
    if len(series.grouped.groups) < 4:
        return None
    for title, values, unit, worst in (("Goodput", series.rates, "b/s", "low"),
                                       ("Worst occupancy", series.occupancy, "1", "high"),
                                       ("Late sets", series.late_sets, "", "high")):
        if np.isfinite(values).any() and (title != "Late sets" or np.nansum(values)):
            views.append(worst_view(title, values, unit, series.grouped, "group", worst=worst, x=series.seconds))
    return HeatMap("heat-map", "Every group in every second", "second", views,
                   f"{_absent(series)}One line per group. "
                   f"{about_columns(views[0], series.seconds) if views else ''}Dark is more. A group that lags is a "
                   "pale line of goodput; a full one is a dark line of occupancy.")
