"""How evenly switches of a simulation loaded parallel links: a chart over time, and a table of those that were loaded
the least evenly."""

import numpy as np

from ..basics.units import number
from ..reading.series import measured_seconds
from .charts import Line, Panel, PanelChart, extreme

LINKS_SHOWN = 5
_DIRECTIONS = {"out": "from", "in": "to"}


def over_time(run):
    """None for runs without parallel links."""
    rows = run.parallel_link_rows()
    if rows is None or not len(rows["begin_s"]):
        return None
    row = run.record["switch"]["row_s"]
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
            extreme(f"{style} of any links", times, values, lambda line: _name(*groups[line]), style),
            Line("mean", times, np.nanmean(values, axis=0), "mean")])

    measured = measured_seconds(run)
    if measured is not None:
        measured = (measured[0], measured[1] + 1 - row)
    return PanelChart("parallel-links", "Balance of parallel links", [
        panel("Most loaded link / mean (MMR)", "most_over_mean", "highest", 1.0),
        panel("Jain index of their loads (JFI)", "jain_index", "lowest", 1.05)], measured,
        f"One value for {'each second' if row == 1 else f'every {row:g} s'} and all links of a switch of which it "
        "takes any: 1 is even. Times in which nothing was sent on them are left out.", holds=row)


def table(run):
    """{'heads', 'rows'} of texts; None for runs without parallel links."""
    entries = [entry for entry in (run.record.get("switch") or {}).get("parallel_links") or []
               if entry["jain_index"] is not None]
    if not entries:
        return None
    entries.sort(key=lambda entry: entry["jain_index"])
    return {"heads": ("parallel links, least even first", "links", "MMR", "in the worst row", "JFI",
                      "in the worst row"),
            "rows": [(_name(entry["switch"], entry["direction"]), str(len(entry["links"])),
                      *(number(entry[name]) for name in ("most_over_mean", "highest_most_over_mean", "jain_index",
                                                         "lowest_jain_index"))) for entry in entries[:LINKS_SHOWN]]}


def _name(switch, direction):
    return f"{_DIRECTIONS.get(direction, direction)} {switch}"
