"""Charts of a comparison that come from the runs themselves, and which runs they draw: all of them, or of a measured
capacity those at the limit of each setting. Seconds (or steps, see short_run_rows.py) of a typical run
of each setting side by side, and all runs of each setting by every key figure. Data only; figures/svg_figures.py draws
them."""

import dataclasses
import re
from pathlib import PurePath

import numpy as np

from weir_runs.basics import units
from weir_runs.figures.charts import (FLAT_BELOW, GREY, INK, Line, Mark, Panel, PlotRow, Row, RowChart,
                                      curve_colour, in_fitting_time, rule)
from weir_runs.reading import series, short_run_rows
from weir_runs.reading.key_figures import KEY_FIGURES, key_figures
from .run_groups import Group

# Plots are narrow: longer runs are drawn with the lowest and the highest of each few seconds.
POINTS_MAX = 240
# On a whole page; with many settings, lines have fewer points.
POINTS_OF_PAGE = 60_000
# Runs in the background of one plot.
PALE_MAX = 8
# Axes of values cover at least this share of the largest, so that the spread of equal runs does not look large.
LEAST_SPAN = 0.1
# Seconds outside of the measured ones are left out if less than this was covered.
SHORT_S = 0.5
# Typical runs are chosen by this where yes or no decides.
_FALLBACK = next(figure for figure in KEY_FIGURES if figure.name == "worst_occupancy")


@dataclasses.dataclass
class Shown:
    """In the order of the ranking, each with the setting's short name, its runs, their key figures, its colour, and the
    index of its typical run. `every`: the groups with all runs, in the order of the answer's names. `how`: how the
    typical run was chosen, a sentence."""

    groups: list
    figures: list
    colours: list
    chosen: list
    every: list
    how: str


def shown_runs(report):
    answer, capacity = report.answer, report.capacity
    order = [row.index for row in answer.ranking]
    every = list(report.groups)
    if capacity:
        by_name = {group.name: group for group in report.groups}
        every = [by_name.get(setting.name, Group(setting.name, [])) for setting in capacity.settings]
        found = [at_limit(capacity, setting, group.runs) for setting, group in zip(capacity.settings, every)]
        groups = [Group(answer.names[index], [run for _, run in found[index]]) for index in order]
        chosen = [typical([value for value, _ in found[index]]) for index in order]
        how = ("At the limit of each setting: the best run of each round that held, so at other values than those of "
               "other settings. In colour the one in the middle, grey the others.")
    else:
        groups = [Group(answer.names[index], every[index].runs) for index in order]
    figures = [[key_figures(run) for run in group.runs] for group in groups]
    if not capacity:
        by = next((figure for figure in answer.columns if figure.kind == "number"), _FALLBACK)
        chosen = [typical([of_run[by.name] for of_run in side]) for side in figures]
        how = f"In colour the run in the middle by {by.head}, grey the other runs."
    return Shown(groups, figures, [curve_colour(index) for index in order], chosen, every, how)


def at_limit(capacity, setting, runs):
    """[(value, run)]: of each complete round the best value that held."""
    by_name = {run.directory.name: run for run in runs}
    best = max if capacity.quantity.better == "higher" else min
    found = []
    for search in setting.searches:
        held = [trial for trial in search.runs if trial.held and trial.directory
                and PurePath(trial.directory).name in by_name]
        if search.complete and held:
            trial = best(held, key=lambda trial: trial.value)
            found.append((trial.value, by_name[PurePath(trial.directory).name]))
    return found


def typical(values):
    """Index of the run in the middle: the median, or with an even number the lower one of the two in the middle. Values
    that are absent are left out; 0 if all are."""
    known = [index for index, value in enumerate(values) if value is not None]
    if not known:
        return 0
    return sorted(known, key=lambda index: (values[index], index))[(len(known) - 1) // 2]


def side_by_side(groups, chosen, colours):
    """Rows of plots, one per setting. `chosen`: the index of each group's typical run. `groups`: named as they are to
    be shown, each with its colour."""
    lines = sum(min(len(group.runs), PALE_MAX + 1) for group in groups)
    most = max(20, min(POINTS_MAX, POINTS_OF_PAGE // max(1, 4 * lines)))
    sides = list(zip(groups, chosen, colours))
    occupancy, rates, blocked = (make(sides) for make in (_occupancy, _rates, _blocked))
    rows = [row for row in (occupancy, _closer(occupancy), rates, blocked, _closer(blocked)) if row]
    return [dataclasses.replace(row, points_max=most) for row in rows]


def _closer(row):
    """The plots that the scale of all makes flat, on a scale of their own; None if there are none, or nothing is to be
    seen in them."""
    if row is None:
        return None
    tops = [max((float(np.nanmax(line.y)) for line in plot.series), default=0.0) for plot in row.plots]
    small = [plot for plot, top in zip(row.plots, tops) if plot.lines and top < FLAT_BELOW * max(tops)
             and plot.constant is None]
    own = "on a scale of their own" if len(small) > 1 else "on a scale of its own"
    return dataclasses.replace(row, title=f"{row.title}, {own}", plots=small) if small else None


def _occupancy(sides):
    row = _row("Fullest producer: occupancy", "", sides, "producer",
               lambda run: series.column(run, "producer", "occupancy_peak"), np.nanmax)
    if row:
        row.least_top = 1.1
        _add_rule(row, 1.0, "full buffer")
    return row


def _rates(sides):
    # In a short step a consumer may receive nothing and be none the slower.
    in_steps = any(isinstance(short_run_rows.drawn(run), short_run_rows.InSteps) for group, _, _ in sides
                   for run in group.runs)
    row = _row("Consumers: rate received, mean" if in_steps else "Slowest consumer: rate received", "b/s", sides,
               "consumer", lambda run: _without_short_ends(run, series.compared_rates(run, "consumer")),
               np.nanmean if in_steps else np.nanmin)
    if not row:
        return None
    targets = {series.target_rate(group.runs[index], "consumer") for group, index, _ in sides if group.runs}
    if len(targets) == 1 and None not in targets:
        _add_rule(row, targets.pop(), "planned rate")
    return _scaled(row)


def _blocked(sides):
    row = _row("Blocked consumers: share of their time", "%", sides, "consumer",
               lambda run: _without_short_ends(run, series.per_second(run, "consumer", "blocked_s")), np.nanmean)
    if not row or not any(np.nan_to_num(line.y).any() for line in row.series):
        return None
    row.least_top = 0.05
    return _scaled(row)


def _add_rule(row, value, name):
    for plot in row.plots:
        if plot.lines:
            plot.lines.append(rule(name, value, "limit", INK))


def _scaled(row):
    """In a unit that keeps the numbers short."""
    factor, row.unit = units.scale(row.unit, row.y_range()[1])
    for plot in row.plots:
        for line in plot.lines:
            line.y = line.y / factor
    row.least_top /= factor
    return row


def _without_short_ends(run, values):
    """In a fraction of a second before or after the measured ones, a rate is that of what happened to come in it."""
    rows, ends = run.rows("consumer"), series.measured_seconds(run)
    if values is None or ends is None:
        return values
    outside = (rows.seconds < ends[0]) | (rows.seconds > ends[1])
    return np.where(outside & (rows.column("covered_s") < SHORT_S * short_run_rows.length(run)), np.nan, values)


def _row(title, unit, sides, role, values_of, how):
    """The typical run of each group in its colour, others pale behind it; None if no run has such values. `sides`:
    (group, index of its typical run, colour)."""
    plots = []
    for group, middle, colour_of in sides:
        if not group.runs:
            plots.append(Panel(group.name, "", [], colour=colour_of))
            continue
        others = [run for position, run in enumerate(group.runs) if position != middle][:PALE_MAX]
        typical_run = group.runs[middle]
        lines = []
        for run in (*others, typical_run):
            shown = short_run_rows.drawn(run)
            values = values_of(shown)
            if values is None or not np.isfinite(values).any():
                continue
            x, y = shown.rows(role).seconds, series.over_ranks(values, how)
            style = ("curve", colour_of) if run is typical_run else ("member", GREY)
            lines.append(Line(run.short_name, x, y, style[0], colour=style[1]))
        is_drawn = any(line.style != "member" for line in lines)
        missing = "" if is_drawn else ": too few events for a rate" if unit == "b/s" else ": not recorded"
        plots.append(Panel(group.name, "", lines, note=_short_name(typical_run) + missing, colour=colour_of,
                           measured=series.measured_seconds(short_run_rows.drawn(typical_run))))
    if not any(plot.lines for plot in plots):
        return None
    lengths = {short_run_rows.length(short_run_rows.drawn(run)) for group, _, _ in sides for run in group.runs}
    return in_fitting_time(PlotRow(title, unit, plots, holds=lengths.pop() if len(lengths) == 1 else 0.0))


def _short_name(run):
    """The number of a sweep's run, of which the name repeats the setting; of others the name."""
    match = re.fullmatch(r"(\d{4,})-.*-r\d+", run.directory.name)
    return f"run {match[1] if match else run.short_name}"


def every_run(figures, groups, values, colours):
    """A RowChart of each figure that is not the same in all runs: a dot per run, a bar at the median. `values`: figures
    of each run of each group."""
    made = []
    for figure in figures:
        sides = [[of_run.get(figure.name) for of_run in side] for side in values]
        known = [value for side in sides for value in side if value is not None]
        if figure.kind == "share" or len(set(known)) < 2:
            continue
        largest = max(abs(value) for value in known)
        factor, unit = units.scale(figure.unit, largest)
        rows = []
        for group, side, colour_of in zip(groups, sides, colours):
            marks = [Mark(value / factor, f"{run.short_name}: {units.text(value, figure.unit)}")
                     for run, value in zip(group.runs, side) if value is not None]
            rows.append(Row(group.name, colour_of, float(np.median([mark.value for mark in marks])) if marks else None,
                            marks=marks, missing="" if marks else "not measured"))
        made.append(RowChart(figure.title, "" if unit == "1" else unit, rows, least_span=LEAST_SPAN * largest / factor))
        if figure.is_scored and (leaders := made[-1].leaders()):
            made.append(dataclasses.replace(leaders, title=f"{figure.title}, the best {len(leaders.rows)} on a scale "
                                                           "of their own"))
    return made
