"""How long the phases of a run with addressed events took: a row for each name beside its ideal and its transfers, and
all of them over time."""

import numpy as np

from ..basics.list_values import nearest_rank
from ..basics.units import number, scale, text
from ..reading.transfer_tables import PHASES_SHOWN, slowest_first
from .charts import BLUE, Line, Mark, Panel, PanelChart, Row, RowChart, rule
from .time_charts import group_edges

# More phases than this are drawn in groups of neighbours, each as its slowest.
POINTS_MAX = 300
ABOUT_ROWS = ("Line: the median of all phases of this name, from their beginning until the last byte was there; band: "
              "the shortest and the longest. Dots and small numbers: how long transfers took at most, of half of the "
              "pairs (the mean of each), of 99 % of them, and the longest one.")
ABOUT_IDEAL = (" Green: the ideal, what the fullest link, or all cables upwards of a leaf or a pod, need for the "
               "payload.")


def rows(run):
    """A row for each phase name, the slowest first; None if no phase was complete."""
    shown = [phase for phase in slowest_first(run)[:PHASES_SHOWN] if phase["completion_s_max"] is not None]
    if not shown:
        return None
    factor, unit = scale("s", max(phase["completion_s_max"] for phase in shown))
    transfers = _transfers(run, [phase["name"] for phase in shown])
    made = []
    for phase in shown:
        of_pairs = transfers.get(phase["name"])
        median, ideal = phase["completion_s_median"], phase["ideal_s"]
        made.append(Row(phase["name"], BLUE, _in(median, factor), _in(phase["completion_s_min"], factor),
                        _in(phase["completion_s_max"], factor),
                        [Mark(value / factor, f"{words}: {text(value, 's')}") for words, value in of_pairs or ()],
                        text=text(median, "s") + (f", {number(median / ideal)} x ideal" if median and ideal else ""),
                        note=_tail(of_pairs), ideal=_in(ideal or None, factor)))
    return RowChart("Completion of phases", unit, made, from_zero=True, marks_are="transfer time")


def about_rows(chart):
    return ABOUT_ROWS + (ABOUT_IDEAL if any(row.ideal is not None for row in chart.rows) else "")


def _in(value, factor):
    return None if value is None else value / factor


def _tail(of_pairs):
    if not of_pairs:
        return ""
    (_, half), (_, most), (_, longest) = of_pairs
    factor, unit = scale("s", longest)
    return f"transfers {number(half / factor)}, {number(most / factor)}, {number(longest / factor)} {unit}"


def _transfers(run, names):
    """{phase: ((words, seconds), ...)} of its transfers: half of the pairs, 99 %, the longest of all."""
    columns = run.transfers()
    if columns is None:
        return {}
    phases, found = columns["phase"], {}
    for name in names:
        mine = (phases == name) & np.isfinite(columns["completion_s_mean"])
        if np.any(mine):
            means = np.sort(columns["completion_s_mean"][mine])
            longest = np.nanmax(np.append(columns["completion_s_max"][mine], means[-1]))
            found[name] = (("half of the pairs, in the mean, at most", float(nearest_rank(means, 0.5))),
                           ("99 % of the pairs, in the mean, at most", float(nearest_rank(means, 0.99))),
                           ("longest transfer", float(longest)))
    return found


def over_time(run):
    """Every phase by when it began; None for a run with fewer than two."""
    columns = run.phases()
    if columns is None or len(columns["begins_s"]) < 2 or not np.isfinite(columns["completion_s"]).any():
        return None
    names = columns["phase"]
    edges = group_edges(len(columns["begins_s"]), POINTS_MAX)
    slowest = _slowest(columns["completion_s"], edges)
    x = columns["begins_s"][edges[:-1]]
    if len(np.unique(x)) < 2 or not (np.diff(x) >= 0).all():
        return None
    factor, unit = scale("s", float(np.nanmax(columns["completion_s"])))
    single, grouped = (names == names[0]).all(), len(edges) <= len(columns["begins_s"])
    notes = None if single else names[slowest].tolist()
    panels = [Panel("Completion", unit, lines=[
        Line("slowest phase" if grouped else "completion", x, columns["completion_s"][slowest] / factor, "highest",
             notes)])]
    ideal = columns["ideal_s"]
    if np.isfinite(ideal).all() and (ideal > 0).all():
        if single:
            panels[0].lines.append(rule(f"ideal {text(float(ideal[0]), 's')}", ideal[0] / factor, "target"))
        else:
            ratio = columns["completion_s"] / ideal
            furthest = _slowest(ratio, edges)
            panels.append(Panel("Completion / ideal", "", least_top=1.1, lines=[
                Line("furthest from its ideal" if grouped else "completion / ideal", x, ratio[furthest], "highest",
                     names[furthest].tolist()),
                rule("ideal", 1.0, "target")]))
    about = f" Of up to {int(np.diff(edges).max())} phases after each other, the slowest." if grouped else ""
    return PanelChart("phases", "Phases over time", panels, None,
                      f"One value for each phase, at its beginning.{about} Phases that are not complete are missing.",
                      "second")


def _slowest(values, edges):
    """The index of the largest value of each group; absent ones are the smallest."""
    filled = np.where(np.isfinite(values), values, -np.inf)
    return np.array([begin + int(np.argmax(filled[begin:end])) for begin, end in zip(edges[:-1], edges[1:])])
