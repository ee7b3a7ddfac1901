"""The page of a campaign: what was measured beside what was predicted, the comparison of all settings, and every
run."""

from weir_runs.basics import text_table, units
from ..comparison import comparison_page as compare_page
from . import collect
from .collect import overview

# What fits beside each other.
FIGURES = ("sustained", "goodput", "slowest_consumer_mean", "worst_occupancy", "blocked_share", "offer_to_grant_p99",
           "delivery_p99")


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
    """Heads and rows of cells, as text."""
    all_groups = overview(collection, by)
    shown = [position for position, beside in enumerate(all_groups[0][3]) if beside.figure.name in FIGURES
             and any(value is not None for group in all_groups
                     for value in (group[3][position].measured, group[3][position].predicted))]
    heads = [all_groups[0][3][position].figure.head for position in shown]
    rows = []
    for name, runs, simulated, besides in all_groups:
        chosen = [besides[position] for position in shown]
        rows.append({"name": name, "what": units.counted(runs, "run"),
                     "cells": [beside.figure.text(beside.measured) for beside in chosen],
                     "kind": "measured"})
        if collection.predicted:
            rows.append({"name": "", "what": f"{simulated} predicted",
                         "cells": [beside.figure.text(beside.predicted) for beside in chosen],
                         "kind": "predicted"})
            rows.append({"name": "", "what": "difference", "cells": [difference(beside) for beside in chosen],
                         "kind": "difference"})
    return {"heads": heads, "rows": rows}


def difference(beside):
    """Measured against predicted: -3.1 %; shares in points."""
    if beside.measured is None or beside.predicted is None:
        return "-"
    if beside.figure.unit == "%":
        points = 100.0 * (beside.measured - beside.predicted)
        return f"{points:+.1f} points" if abs(points) >= 0.05 else "0 points"
    return units.change(beside.measured, beside.predicted)


def overview_lines(collection, by=None):
    """The same for a terminal."""
    table = overview_table(collection, by)
    rows = [(row["name"], row["what"], *row["cells"]) for row in table["rows"]]
    return text_table.aligned([("setting", "", *table["heads"]), *rows], left=(0, 1))
