"""The worst seconds of a run at the interval of --row-interval: from the run to a burst."""

import numpy as np

from .charts import HeatMap, Line, Panel, PanelChart
from .heat_maps import worst_view
from .series import column, line_rate, target_rate
from .time_charts import occupancy_panel, rank_panel, target_name
from .units import scale, text

SECONDS_MAX = 3


def bursts(run):
    """A chart for each of the worst seconds, and a heat map of the first of them; none if --row-interval did not ask for them: the
    charts over time show the short rows of a short run."""
    chosen = worst_seconds(run)
    interval = run.resolved.get("row_interval_s")
    if not interval or not chosen or not run.resolved.get("row_interval_asked_for", True):
        return []
    stretches = [(second - 1, second + 1) for second in chosen]
    found = {role: run.bursts(role, tuple(stretches)) for role in ("producer", "consumer", "scheduler")}
    made = []
    for number, (second, reasons) in enumerate(chosen.items()):
        tables = {role: of_role[number] for role, of_role in found.items()}
        chart = _second(run, second, reasons, tables, interval)
        if chart is not None:
            made.append(chart)
            if len(made) == 1:
                made += _every_rank(run, second, tables, interval)
    return made


def worst_seconds(run):
    """{second: why it is shown}, in order of time: where a buffer overflowed first, where one was fullest, and where consumers
    received least."""
    found = [(run.record["verdict"].get("first_overflow_second"), "first overflow")]
    producers, consumers = run.rows("producer"), run.rows("consumer")
    peaks, received = column(run, "producer", "occupancy_peak"), column(run, "consumer", "received_bytes")
    if peaks is not None and np.isfinite(measured := peaks[:, producers.phases == "measure"]).any():
        found.append((producers.measured_seconds[np.nanmax(np.nan_to_num(measured), axis=0).argmax()], "fullest buffer"))
    if received is not None and (consumers.phases == "measure").any():
        found.append((consumers.measured_seconds[np.nansum(received, axis=0)[consumers.phases == "measure"].argmin()],
                      "lowest throughput"))
    reasons = {}
    for second, why in found:
        if second is not None and len(reasons) < SECONDS_MAX:
            reasons.setdefault(int(second), []).append(why)
    return dict(sorted(reasons.items()))


def _second(run, second, reasons, tables, interval):
    x = _milliseconds(tables["consumer"], second)
    panels = [panel for panel in (_together(run, tables, x), _occupancy(run, tables, x), _consumers(run, tables, x),
                                  _blocked(run, tables, x), _scheduler(tables, x)) if panel]
    if not panels:
        return None
    return PanelChart(f"burst-second-{second}", f"Second {second} in steps of {text(interval, 's')}: {', '.join(reasons)}", panels,
                     (0, 1000 - 1000 * interval),
                     "One value for each step, at its beginning. Pale: the seconds before and after. " + _about_chunks(run, interval), f"ms from the beginning of second {second}")


def _about_chunks(run, interval):
    """Bytes count when a chunk is whole, which shows in steps that are hardly longer."""
    speeds = [speed for role in ("producer", "consumer") if (speed := line_rate(run, role))]
    chunk = run.resolved.get("chunk_size_bytes")
    if not speeds or not chunk or 2 * (longest := 8 * chunk / min(speeds)) < interval:
        return "Bytes count when their chunk is whole."
    return (f"Bytes count when their chunk is whole, and a chunk ({text(chunk, 'B')}) takes {text(longest, 's')} at the line rate: steps "
            "show when chunks ended, and not how fast they came. A smaller --chunk-size shows more.")


def _milliseconds(table, second):
    return np.round(1000 * (table.begins - second), 3)


def _rates(table, name):
    """b/s, ranks x steps."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = 8 * table.column(name) / table.column("covered_s")
    return np.where(np.isfinite(values), values, np.nan)


def _sum(values):
    return np.where(np.isfinite(values).any(axis=0), np.nansum(values, axis=0), np.nan)


def _together(run, tables, x):
    received = _sum(_rates(tables["consumer"], "received_bytes"))
    if not np.isfinite(received).any():
        return None
    target = target_rate(run, "producer")
    needed = target and target * run.resolved["producers"]
    factor, unit = scale("b/s", max(np.nanmax(received), needed or 0))
    lines = [Line("received", x, received / factor, "mean")]
    if needed:
        lines.append(Line(f"generated in the mean {text(needed, 'b/s')}", x[[0, -1]], np.full(2, needed / factor), "target"))
    return Panel("Throughput of all consumers together", unit, lines=lines)


def _occupancy(run, tables, x):
    peaks = tables["producer"].column("occupancy_peak")
    return occupancy_panel(run, "Buffer occupancy, peak of each step", x, peaks) if np.isfinite(peaks).any() else None


def _consumers(run, tables, x):
    values = _rates(tables["consumer"], "received_bytes")
    if not np.isfinite(values).any():
        return None
    target, link = target_rate(run, "consumer"), line_rate(run, "consumer")
    return rank_panel(run, "consumer", "Throughput of consumers", x, values, "b/s", ("lowest", "mean", "highest"),
                      [(target_name("consumer", target), target, "target"),
                       (f"line rate {text(link, 'b/s')}", link if link and link < 2 * np.nanmax(values) else None, "link")],
                      members_max=1)  # lines of single ranks cross in every step: the heat map has them


def _blocked(run, tables, x):
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = tables["consumer"].column("blocked_s") / tables["consumer"].column("covered_s")
    blocked = _sum(np.where(np.isfinite(shares), shares, np.nan))
    if not np.nansum(blocked):
        return None
    return Panel("Blocked consumers", f"of {run.resolved['consumers']}", least_top=1.0, lines=[
        Line("mean over the step", x, blocked, "mean")])


def _scheduler(tables, x):
    waiting, free = (_sum(tables["scheduler"].column(name)) for name in ("waiting_events_max", "free_slots_min"))
    if not np.nansum(waiting) and not np.nansum(free):
        return None  # with policy none it sees no events
    return Panel("Events and slots at the scheduler", "", whole_numbers=True, lines=[
        Line("most events that waited for a grant", x, waiting, "highest"), Line("fewest free slots", x, free, "lowest")])


def _every_rank(run, second, tables, interval):
    """As heat_maps.ranks_by_second, of one second."""
    inside = np.isin(_milliseconds(tables["consumer"], second), np.arange(0, 1000, 1000 * interval).round(3))
    x = _milliseconds(tables["consumer"], second)[inside]
    with np.errstate(divide="ignore", invalid="ignore"):
        blocked = tables["consumer"].column("blocked_s") / tables["consumer"].column("covered_s")
    views = []
    for role, title, values, unit, worst in (
            ("consumer", "Consumers: throughput", _rates(tables["consumer"], "received_bytes"), "b/s", "low"),
            ("consumer", "Consumers: blocked share", blocked, "1", "high"),
            ("producer", "Producers: occupancy", tables["producer"].column("occupancy_peak"), "1", "high")):
        values = values[:, inside]
        if not np.isfinite(values).any() or not np.nansum(values):
            continue
        views.append(worst_view(title, values, unit, run, role, worst, x))
    return [HeatMap(f"burst-ranks-{second}", f"Every rank in second {second}", f"ms from the beginning of second {second}", views,
                    "Dark is more. With many ranks a line is the slowest, fullest or most blocked of a group.")] if views else []
