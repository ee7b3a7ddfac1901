"""The page of a campaign: what was measured beside what was predicted, the comparison of all settings, and every
run."""

from weir_runs.basics import text_table, units
from weir_runs.basics.list_values import mean, median
from weir_runs.reading.key_figures import KEY_FIGURES
from ..comparison import comparison_page as compare_page
from . import collect

# What fits beside each other.
FIGURES = [figure for figure in KEY_FIGURES if figure.name in (
    "sustained", "goodput", "slowest_consumer_mean", "worst_occupancy", "blocked_share", "offer_to_grant_p99",
    "delivery_p99")]


def page_text(collection, report, footer, by=None):
    measured = {"slurm": "measured", "local": "measured on one machine", "simulation": "simulated"}[collection.world]
    return compare_page.page_text(
        report,
        footer,
        "sweep.html.j2",
        settings=None if collection.capacity else collect.settings_of_groups(
            collection, [group.name for group in report.groups], by),
        title=collection.plan.name,
        sweep=f"{collection.plan.name} ({collection.plan.file})" if collection.plan.file else collection.plan.name,
        world=measured,
        seed=collection.plan.seed,
        has_predictions=bool(collection.predicted or collection.predicted_capacity),
        overview=limits_table(collection) if collection.capacity else overview_table(collection, by),
        switch=collection.switch,
        points=[{
            "point": measured.point.name,
            "setting": collection.setting_name(measured.point),
            "repetition": measured.point.repetition,
            "state": measured.state.state,
            "bad": measured.state.state != "complete",
            "what": str(measured.state.directory.name) if measured.state.directory else measured.state.reason,
        } for measured in collection.points])


def limits_table(collection):
    """The limits that a search measured beside those that were predicted; no rows if none were predicted."""
    capacity, predicted = collection.capacity, collection.predicted_capacity
    heads = [f"{capacity.quantity.title}, measured", "predicted", "difference"]
    if not predicted:
        return {"heads": heads, "rows": []}
    rows = []
    for row in collect.limit_rows(capacity, predicted):
        column = f"limit_{collect.value_column(capacity.find)}"
        values = row[column], row[f"predicted_{column}"]
        difference = "-" if None in values else units.change(*values)
        rows.append({"name": row["setting"], "what": units.counted(row["rounds"], "round"), "kind": "measured",
                     "cells": [*(units.text(value, capacity.quantity.unit) for value in values), difference]})
    return {"heads": heads, "rows": rows}


def overview_table(collection, by=None):
    """Heads and rows of cells, as text: medians of every group, measured and predicted."""
    found = []
    for name, points in collect.members(collection, by).items():
        sides = ([measured.figures for measured in points if measured.run],
                 [predicted for measured in points if (predicted := collection.predicted.get(measured.point.number))])
        found.append((name, sides, [[_middle(figure, side) for side in sides] for figure in FIGURES]))
    shown = [place for place in range(len(FIGURES)) if any(values[place] != [None, None] for *_, values in found)]
    rows = []
    for name, (runs, predicted), values in found:
        cells = [(FIGURES[place], *values[place]) for place in shown]
        rows.append({"name": name, "what": units.counted(len(runs), "run"), "kind": "measured",
                     "cells": [figure.text(measured) for figure, measured, _ in cells]})
        if collection.predicted:
            rows.append({"name": "", "what": f"{len(predicted)} predicted", "kind": "predicted",
                         "cells": [figure.text(value) for figure, _, value in cells]})
            rows.append({"name": "", "what": "difference", "kind": "difference",
                         "cells": [_difference(*cell) for cell in cells]})
    return {"heads": [FIGURES[place].head for place in shown], "rows": rows}


def _middle(figure, side):
    """Median; of shares the mean."""
    values = [figures.get(figure.name) for figures in side]
    return mean(values) if figure.kind == "share" else median(values)


def _difference(figure, measured, predicted):
    """Measured against predicted: -3.1 %; shares in points."""
    if measured is None or predicted is None:
        return "-"
    if figure.unit == "%":
        points = 100.0 * (measured - predicted)
        return f"{points:+.1f} points" if abs(points) >= 0.05 else "0 points"
    return units.change(measured, predicted)


def overview_lines(collection, by=None):
    """The same for a terminal."""
    table = overview_table(collection, by)
    rows = [(row["name"], row["what"], *row["cells"]) for row in table["rows"]]
    return text_table.aligned([("setting", "", *table["heads"]), *rows], left=(0, 1))
