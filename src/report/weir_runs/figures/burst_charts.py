"""The worst seconds of a run at the interval of --row-interval: from the run to a burst."""

import dataclasses

import numpy as np

from ..basics.units import scale, text
from ..reading.series import column, line_rate, measured_seconds, over_ranks, rates, target_rate
from ..reading.short_run_rows import InSteps, length
from .charts import Line, Panel, PanelChart, rule
from .heat_maps import ranks_by_second
from .time_charts import blocked, occupancies, rates_of_ranks

SECONDS_MAX = 3


def bursts(run):
    """A chart for each of the worst seconds, and a heat map of the first of them; none if --row-interval did not ask
    for them: the charts over time show the short rows of a short run."""
    chosen = worst_seconds(run)
    interval = run.resolved.get("row_interval_s")
    if not interval or not chosen or not run.resolved.get("row_interval_asked_for", True):
        return []
    read = tuple((second - 1, second + 1) for second in chosen)
    made = []
    for second, reasons in chosen.items():
        around, alone = (InSteps(run, interval, second, second + 1, seconds, read=read, in_ms=True)
                         for seconds in (1, 0))
        chart = _second(around, second, reasons)
        if chart is not None:
            made.append(chart)
            if len(made) == 1:
                made += _every_rank(alone, second)
    return made


def worst_seconds(run):
    """{second: why it is shown}, in order of time: where a buffer overflowed first, where one was fullest, and where
    consumers received least."""
    found = [(run.record["verdict"].get("first_overflow_second"), "first overflow")]
    producers, consumers = run.rows("producer"), run.rows("consumer")
    peaks, received = column(run, "producer", "occupancy_peak"), column(run, "consumer", "received_bytes")
    if peaks is not None and np.isfinite(measured := peaks[:, producers.phases == "measure"]).any():
        found.append((producers.measured_seconds[np.nanmax(np.nan_to_num(measured), axis=0).argmax()],
                      "fullest buffer"))
    if received is not None and (consumers.phases == "measure").any():
        found.append((consumers.measured_seconds[np.nansum(received, axis=0)[consumers.phases == "measure"].argmin()],
                      "lowest throughput"))
    reasons = {}
    for second, why in found:
        if second is not None and len(reasons) < SECONDS_MAX:
            reasons.setdefault(int(second), []).append(why)
    return dict(sorted(reasons.items()))


def _second(run, second, reasons):
    # Lines of single consumers cross in every step: the heat map has them.
    panels = [*_together(run), *occupancies(run), *rates_of_ranks(run, "consumer", members_max=1), *blocked(run),
              *_scheduler(run)]
    if not panels:
        return None
    return PanelChart(f"burst-second-{second}",
                      f"Second {second} in steps of {text(run.step_s, 's')}: {', '.join(reasons)}", panels,
                      measured_seconds(run), "One value for each step. Pale: the seconds before and after. "
                      + _about_chunks(run, run.step_s), _x_title(second), holds=length(run))


def _x_title(second):
    return f"ms from the beginning of second {second}"


def _about_chunks(run, interval):
    """Bytes count when a chunk is whole, which shows in steps that are hardly longer."""
    speeds = [speed for role in ("producer", "consumer") if (speed := line_rate(run, role))]
    chunk = run.resolved.get("chunk_size_bytes")
    if not speeds or not chunk or 2 * (longest := 8 * chunk / min(speeds)) < interval:
        return "Bytes count when their chunk is whole."
    return (f"Bytes count when their chunk is whole, and a chunk ({text(chunk, 'B')}) takes {text(longest, 's')} at "
            "the line rate: steps show when chunks ended, and not how fast they came. A smaller --chunk-size shows "
            "more.")


def _together(run):
    received = rates(run, "consumer")
    if received is None or not np.isfinite(received).any():
        return []
    received, x = over_ranks(received, np.nansum), run.rows("consumer").seconds
    target = target_rate(run, "producer")
    needed = target and target * run.resolved["producers"]
    factor, unit = scale("b/s", max(np.nanmax(received), needed or 0))
    lines = [Line("received", x, received / factor, "mean")]
    if needed:
        lines.append(rule(f"generated in the mean {text(needed, 'b/s')}", needed / factor, "target"))
    return [Panel("Throughput of all consumers together", unit, lines=lines)]


def _scheduler(run):
    waiting, free = (column(run, "scheduler", name) for name in ("waiting_events_max", "free_slots_min"))
    if waiting is None or free is None or not (np.nansum(waiting) or np.nansum(free)):
        return []  # with policy none it gets no offers
    x = run.rows("scheduler").seconds
    return [Panel("Events and slots at the scheduler", "", whole_numbers=True, lines=[
        Line("most events that waited for a grant", x, over_ranks(waiting, np.nansum), "highest"),
        Line("fewest free slots", x, over_ranks(free, np.nansum), "lowest")])]


def _every_rank(run, second):
    chart = ranks_by_second(run)
    return [dataclasses.replace(chart, name=f"burst-ranks-{second}", title=f"Every rank in second {second}",
                                x_title=_x_title(second))] if chart else []
