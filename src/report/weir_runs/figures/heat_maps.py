"""Heat maps of a run: the form in which thousands of ranks can be read. Dark is more in all of them."""

import numpy as np

from ..basics.units import scale, text
from ..reading.series import column, compared_rates, measured_seconds, over_window, per_second
from ..reading.short_run_rows import InSteps, each
from .charts import HeatMap, HeatView
from .time_charts import group_edges, group_names

# More than fits on a screen is grouped: each cell then shows the worst of its group.
CELLS_MAX = 240
# Longer runs have a column for several seconds.
COLUMNS_MAX = 600
_WORST = {"low": np.fmin, "high": np.fmax}  # of what is known


def ranks_by_second(run):
    """Ranks x seconds; None for a run with one."""
    views, measured = [], measured_seconds(run)
    if measured and measured[0] == measured[1]:
        return None
    grouped = False
    for role, title, values, unit, worst in (
            ("producer", "Producers: occupancy", column(run, "producer", "occupancy_peak"), "1", "high"),
            ("producer", over_window(run, "Producers: throughput"), compared_rates(run, "producer"), "b/s", "low"),
            ("consumer", over_window(run, "Consumers: throughput"), compared_rates(run, "consumer"), "b/s", "low"),
            ("consumer", "Consumers: blocked share", per_second(run, "consumer", "blocked_s"), "1", "high")):
        if values is None or not np.isfinite(values).any():
            continue
        views.append(worst_view(title, values, unit, run, role, worst=worst, x=run.rows(role).seconds))
        grouped = grouped or len(views[-1].row_names) < len(values)
    if not views:
        return None
    return HeatMap("heat-map", f"Every rank in every {each(run)}", "second", views,
                   ("One line for a group of ranks: the slowest, fullest or most blocked of them. " if grouped else
                    "One line per rank. ")
                   + about_columns(views[0], run.rows("producer").seconds,
                                   "steps" if isinstance(run, InSteps) else "seconds")
                   + "Dark is more. A rank that lags is a pale line of throughput; a full or blocked one is a dark "
                   "line.")


def worst_view(title, values, unit, run, role, *, worst, x):
    """The values of all ranks of a role (ranks x times, `x`: those times) in a unit that reads well, and not more than
    can be seen."""
    factor, unit_name = scale(unit, np.nanmax(values))
    reduced, names = group_worst(values / factor, run, role, worst)
    reduced, x = _worst_columns(reduced, np.asarray(x, float), worst)
    high = float(np.nanmax(reduced)) if unit == "b/s" else max(1.0, float(np.nanmax(reduced)))
    return HeatView(title, "" if unit_name == "1" else unit_name, reduced, names, x, high or 1.0)


def _worst_columns(values, x, worst):
    """At most COLUMNS_MAX columns, each the lowest or highest of its times, in the middle of these."""
    size = -(-len(x) // COLUMNS_MAX)
    if size == 1:
        return values, x
    begins = np.arange(0, len(x), size)
    return _WORST[worst].reduceat(values, begins, axis=1), x[begins] + (size - 1) / 2 * (x[1] - x[0])


def about_columns(view, seconds, what="seconds"):
    size = -(-len(seconds) // COLUMNS_MAX)
    return f"One column for {size} {what}. " if size > 1 and len(view.columns) < len(seconds) else ""


def group_worst(values, run, role, worst):
    """At most CELLS_MAX lines, each the lowest or highest of its group, and their names."""
    edges = group_edges(len(values), CELLS_MAX)
    return _WORST[worst].reduceat(values, edges[:-1], axis=0), group_names(run, role, edges)


def traffic(run):
    """Producers x consumers."""
    matrix = run.traffic()
    if matrix is None or not matrix.any():
        return None
    factor, unit = scale("B", matrix.max())
    groups = [group_edges(size, CELLS_MAX) for size in matrix.shape]
    reduced = np.add.reduceat(np.add.reduceat(matrix / factor, groups[0][:-1], axis=0), groups[1][:-1], axis=1)
    names = [group_names(run, role, edges) for role, edges in zip(("producer", "consumer"), groups)]
    return HeatMap("traffic", "Traffic matrix", "",
                   [HeatView("Bytes received in the whole run", unit, reduced, *names, float(reduced.max()))],
                   f"Dark is more. Least of any pair: {text(matrix.min(), 'B')}, most: {text(matrix.max(), 'B')}; mean "
                   f"{text(matrix.mean(), 'B')}.")
