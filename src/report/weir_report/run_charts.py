"""The charts of one run. Each function returns a chart of charts.py, or None if the run has nothing for it."""

import numpy as np

from . import host_counters
from .charts import (BLUE, CURVE_COLOURS, GREEN, GREY, LIGHT, ORANGE, PURPLE, SKY, VERMILION, Area, CurveChart, HeatMap,
                     HeatView, Line, Panel, TimeChart)
from .key_figures import LATENCY_RESOLUTION
from .units import scale, text

# More ranks than this are drawn as a band: single lines could not be told apart.
MEMBERS_MAX = 100
# More than fits on a screen is grouped: each cell then shows the worst of its group.
CELLS_MAX = 240
SAMPLES_PER_SECOND = 20


def rates(run, role):
    """Payload in b/s, ranks x seconds. A second that the run covers only in part counts for its part."""
    rows = run.rows(role)
    column = "sent_bytes" if role == "producer" else "received_bytes"
    if column not in rows:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        return 8.0 * rows.column(column) / rows.column("covered_s")


def rate_window(run):
    """Seconds over which rates of single ranks are compared (see src/telemetry/rate_window.hpp); None: there are too few events
    for that. Runs that do not say it were compared by the second."""
    return run.record.get("rate_window_s", 1)


def compared_rates(run, role):
    """As rates(), each second with those before it that make its window; none without a window."""
    values, window = rates(run, role), rate_window(run)
    if values is None or window == 1:
        return values
    means = np.full(values.shape, np.nan)
    if window and window <= values.shape[1]:
        # A second that a rank lacks would leave its mark on all that follow.
        gaps = np.cumsum(np.pad(np.isnan(values), ((0, 0), (1, 0))), axis=1)
        sums = np.cumsum(np.pad(np.nan_to_num(values), ((0, 0), (1, 0))), axis=1)
        means[:, window - 1:] = (sums[:, window:] - sums[:, :-window]) / window
        means[:, window - 1:][gaps[:, window:] > gaps[:, :-window]] = np.nan
    return means


def _over_window(run, title):
    window = rate_window(run)
    return title if window in (1, None) else f"{title}, mean of {window} s"


def blocked_at_once(run):
    """Number of blocked consumers: the mean and the most over the 20 instants of each second."""
    rows = run.rows("consumer")
    if "blocked_samples_50ms" not in rows:
        return None
    masks = np.nan_to_num(rows.column("blocked_samples_50ms")).astype(np.int64)
    counts = np.stack([((masks >> bit) & 1).sum(axis=0) for bit in range(SAMPLES_PER_SECOND)])
    return counts.mean(axis=0), counts.max(axis=0)


def evenness_by_second(run):
    """Jain's index of the consumers' rates (see src/telemetry/fairness.hpp); None for fewer than two."""
    values = compared_rates(run, "consumer")
    if values is None or len(values) < 2 or not np.isfinite(values).any():
        return None
    values = np.nan_to_num(values)
    squares = (values**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0, values.sum(axis=0)**2 / (len(values) * squares), np.nan)


def smallest_share_by_second(run):
    """What the consumer that got least got, of what the one that got most got; None for fewer than two."""
    values = compared_rates(run, "consumer")
    if values is None or len(values) < 2 or not np.isfinite(values).any():
        return None
    values = np.nan_to_num(values)
    largest = values.max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(largest > 0, values.min(axis=0) / largest, np.nan)


def over_time(run):
    """Throughput of producers and consumers, blocked consumers, evenness, occupancy: what figures 3 to 7 of the LHCb 2021 paper
    show."""
    panels = []
    for role, title in (("producer", "Producers' throughput"), ("consumer", "Consumers' throughput")):
        values, named = compared_rates(run, role), _over_window(run, title)
        if values is not None and not np.isfinite(values).any():
            values, named = rates(run, role), f"{title}, by the second"  # too few events to compare ranks by
        if values is not None and np.isfinite(values).any():
            panels.append(_rank_panel(run, role, named, values, "b/s", ("lowest", "mean", "highest")))
    blocked = blocked_at_once(run)
    if blocked is not None:
        x = run.rows("consumer").seconds
        panels.append(Panel("Blocked consumers", f"of {len(run.rows('consumer'))}", whole_numbers=True, lines=[
            Line("most at one instant", x, blocked[1], "highest"), Line("mean", x, blocked[0], "mean")]))
    evenness = evenness_by_second(run)
    if evenness is not None:
        panels.append(Panel(_over_window(run, "Evenness of consumers"), "", largest=1.0, lines=[
            Line("Jain index of their rates", run.rows("consumer").seconds, evenness, "mean"),
            Line("smallest/largest rate", run.rows("consumer").seconds, smallest_share_by_second(run), "lowest")]))
    producers = run.rows("producer")
    if "occupancy_peak" in producers and np.isfinite(producers.column("occupancy_peak")).any():
        panel = _rank_panel(run, "producer", "Buffer occupancy, peak of the second", producers.column("occupancy_peak"),
                            "1", ("mean", "highest"))
        panel.lines.append(Line(_full(run), producers.seconds[[0, -1]], np.ones(2), "rule"))
        panels.append(panel)
    late = _column(run, "producer", "late_sets")
    if late is not None and np.nansum(late):
        panels.append(Panel("Late sets: something was left when the next one was generated", "in the second",
                            whole_numbers=True,
                            lines=[Line("of all producers", producers.seconds, np.nansum(late, axis=0), "highest")]))
    panels += _building_panels(run)
    if not panels:
        return None
    return TimeChart("over-time", "The run, second by second", panels, _measured(run),
                     "One value per rank and second. Grey: single ranks"
                     + (", or where 80 % of them lie" if _many(run) else "")
                     + ". Pale ends: warm-up and drain, which are not judged.")


def _full(run):
    """What is true of a buffer that is full depends on --overflow."""
    return ("full: what is generated then is lost" if run.plan.get("overflow") == "drop" else
            "above 1: overflow, counted and kept")


def _building_panels(run):
    """Pattern build: events that all consumers finished, and what was lost meanwhile. Nothing with other patterns."""
    panels = []
    for title, parts in (("Events built", (("finished_events", "finished", "mean"), ("given_up_events", "given up", "lowest"))),
                         ("Fragments asked for again", (("asked_again", "asked again", "highest"),))):
        lines = []
        for column, name, style in parts:
            values = _column(run, "consumer", column)
            if values is not None and np.isfinite(values).any():
                lines.append(Line(f"{name}, all consumers", run.rows("consumer").seconds, np.nansum(values, axis=0), style))
        if lines:
            panels.append(Panel(title, "in the second", whole_numbers=True, lines=lines))
    return panels


# Gaps of more than so many times the usual one are left to the chart of latencies, which is logarithmic.
GAPS_SHOWN = 4


def gaps(run):
    """Shaping in-step: how the times from packet to packet are spread, of senders and receivers, and how late packets were."""
    panels = []
    for name, title in (("send_gap", "From packet to packet, at producers"), ("pacing_error", "Later than the grid"),
                        ("receive_gap", "From packet to packet, at consumers")):
        entry = run.record["latency"].get(name) or {}
        if not entry.get("count") or not run.record["latency"]["send_gap"].get("count"):
            continue
        x, packets = (np.array(entry["buckets"][part], float) for part in ("upper_us", "events"))
        shown = x <= GAPS_SHOWN * max(run.record["latency"]["send_gap"]["p50_us"], entry["p50_us"])
        if not shown.any():
            continue
        # A rectangle per bucket: those between that are empty are not listed.
        upper, share = x[shown], 100 * packets[shown] / entry["count"]
        edges = np.stack([upper * (1 - LATENCY_RESOLUTION), upper * (1 - LATENCY_RESOLUTION), upper, upper], axis=1).ravel()
        heights = np.stack([0 * share, share, share, 0 * share], axis=1).ravel()
        panels.append(Panel(title, "%", lines=[Line("of all packets", edges, heights, "mean")]))
    if not panels:
        return None
    return TimeChart("gaps", "Senders in step", panels, None,
                     "Share of packets by bucket of the histogram, each 3 % wide. What took longer is in the chart of latencies, "
                     "which is logarithmic.", "us")


def by_events(run):
    """How fast the run was from step to step of as many events: a dispatcher that slows down with their number shows here."""
    series = run.record.get("event_series")
    if not series or len(series["events"]) < 2:
        return None
    events = np.array([0, *series["events"]], float)
    seconds = np.diff([0.0, *series["at_s"]])
    if (seconds <= 0).any():
        return None
    step = int(events[1])
    middle = (events[1:] + events[:-1]) / 2
    factor, unit = scale("b/s", (8 * np.diff([0, *series["bytes"]]) / seconds).max())
    panels = [Panel(f"Rate of every {step} events", unit, lines=[
        Line("payload", middle, 8 * np.diff([0, *series["bytes"]]) / seconds / factor, "mean")])]
    panels.append(Panel(f"Time of every {step} events", "s", lines=[Line("time", middle, seconds, "mean")]))
    without = np.diff([0, *series["events_without_credit"]])
    if without.any() and run.resolved.get("generation") != "saturate":
        # Offered in the time of a step, and not the ones that were done in it: no share of these.
        panels.append(Panel("Events that came when no credit was there", "events per step", whole_numbers=True, lines=[
            Line("offered", middle, without, "highest")]))
    return TimeChart("by-events", "The run, event by event", panels, None,
                     "From second 0 on, as the scheduler was told that events were done.", "events done")


def heat_map(run):
    """Ranks x seconds: the form in which thousands of ranks can be read."""
    views = []
    seconds, grouped = None, False
    for role, title, values, unit, worst in (
            ("consumer", _over_window(run, "Consumers: throughput"), compared_rates(run, "consumer"), "b/s", "low"),
            ("consumer", "Consumers: blocked share", _column(run, "consumer", "blocked_s"), "1", "high"),
            ("producer", _over_window(run, "Producers: throughput"), compared_rates(run, "producer"), "b/s", "low"),
            ("producer", "Producers: occupancy", _column(run, "producer", "occupancy_peak"), "1", "high")):
        if values is None or not np.isfinite(values).any():
            continue
        factor, unit_name = scale(unit, np.nanmax(values))
        reduced, names, columns = _reduce(values / factor, run, role, worst)
        if seconds is not None and len(columns) != len(seconds):
            continue  # a role that left files of another length
        seconds = columns
        high = 1.0 if title.endswith("blocked share") else float(np.nanmax(reduced))
        views.append(HeatView(title, "" if unit_name == "1" else unit_name, reduced, names, 0.0, high or 1.0,
                              worst == "high"))
        grouped = grouped or len(names) < len(values)
    if not views:
        return None
    return HeatMap("heat-map", "Every rank in every second", "second", seconds, views,
                   ("One line for a group of ranks: the slowest, fullest or most blocked of them. " if grouped else
                    "One line per rank. ")
                   + "A line that is dark throughout is a rank that lags, a dark column a second in which all did.")


def where_the_time_went(run):
    """Stacked shares of time per second, mean over the ranks of a role."""
    panels = []
    for role, title, parts in (
            ("producer", "Producers' streams", (("transferring", "transferring_s", GREEN),
                                                ("waiting for a slot", "waiting_for_slot_s", ORANGE),
                                                ("waiting for a grant", "waiting_for_grant_s", VERMILION),
                                                ("waiting for data", "waiting_for_data_s", LIGHT))),
            ("consumer", "Consumers", (("receiving", "receiving_s", SKY), ("blocked", "blocked_s", PURPLE),
                                       ("nothing coming", "waiting_for_data_s", LIGHT))),
            ("scheduler", "Scheduler", (("events, but no free slot", "waiting_for_slot_s", ORANGE),
                                        ("events, but no free stream", "waiting_for_stream_s", BLUE),
                                        ("free slots, but no events", "waiting_for_data_s", LIGHT),
                                        ("neither", "idle_s", GREY)))):
        rows = run.rows(role)
        if not all(column in rows for _, column, _ in parts):
            continue
        low = np.zeros(len(rows.seconds))
        areas = []
        covered = _mean(rows.column("covered_s"))
        for name, column, colour in parts:
            high = low + np.nan_to_num(_mean(rows.column(column)) / covered)
            areas.append(Area(name, rows.seconds, 100 * low, 100 * high, colour))
            low = high
        panels.append(Panel(title, "% of time", areas=areas, largest=100.0))
    if not panels:
        return None
    return TimeChart("where-the-time-went", "Where the time went", panels, _measured(run),
                     "Mean over all ranks of a role. Producers that wait for a slot are held up by consumers, those that "
                     "wait for a grant by the scheduler; a long transfer is the network's.")


def traffic(run):
    """Producers x consumers."""
    matrix = run.traffic()
    if matrix is None or not matrix.any():
        return None
    factor, unit = scale("B", matrix.max())
    groups = [_groups(size, CELLS_MAX) for size in matrix.shape]
    reduced = np.add.reduceat(np.add.reduceat(matrix / factor, groups[0][:-1], axis=0), groups[1][:-1], axis=1)
    names = [_group_names(run, role, edges) for role, edges in zip(("producer", "consumer"), groups)]
    smallest, largest = matrix.min(), matrix.max()
    return HeatMap("traffic", "Who sent how much to whom", "", names[1],
                   [HeatView("Received bytes, whole run", unit, reduced, names[0], 0.0, float(reduced.max()), True)],
                   f"Least of any pair: {text(smallest, 'B')}, most: {text(largest, 'B')}; mean "
                   f"{text(matrix.mean(), 'B')}.")


LATENCIES = (("offer_to_grant", "offer to grant"), ("grant_to_first_byte", "grant to first byte"),
             ("transfer", "transfer"), ("delivery", "delivery"), ("processing", "processing"), ("building", "building"),
             ("send_gap", "send gap"), ("pacing_error", "pacing error"), ("receive_gap", "receive gap"))


def latencies(run):
    """Share of events that took longer than a time, from the histograms' buckets."""
    lines = []
    for name, title in LATENCIES:
        entry = run.record["latency"].get(name) or {}
        buckets = entry.get("buckets")
        if not buckets or not entry.get("count"):
            continue
        x = np.array(buckets["upper_us"], float)
        events = np.array(buckets["events"], float)
        longer = 1.0 - np.cumsum(events) / events.sum()
        # The last bucket's end is "nobody": the slowest event itself stands there instead.
        keep = (longer > 0.5 / events.sum()) & (x > 0)
        x = np.append(x[keep], max(entry["max_us"], x[keep][-1] if keep.any() else 0.0))
        y = np.append(longer[keep], 1.0 / events.sum())
        if x[-1] > 0:
            # All events took longer than the lower end of the first bucket.
            x, y = np.insert(x, 0, x[0] * (1 - LATENCY_RESOLUTION)), np.insert(y, 0, 1.0)
            lines.append(Line(title, x, y, "member", [text(1e-6 * value, "s") for value in x]))
    if not lines:
        return None
    return CurveChart("latencies", "Latencies", "us", lines,
                      "Share of events that took longer. 10⁻² is the 99th percentile, 10⁻³ the 99.9th; the curve ends at "
                      "the slowest event.")


COUNTER_PANELS_MAX = 8


def counters(run):
    """Counters of network interfaces that moved, beside the throughput; sums over hosts."""
    hosts = {host: columns for host, columns in run.host_counters().items() if len(columns["second"])}
    if not hosts:
        return None
    first = min(int(columns["second"].min()) for columns in hosts.values())
    last = max(int(columns["second"].max()) for columns in hosts.values())
    seconds = np.arange(first, last + 1)
    sums = {}
    for columns in hosts.values():
        position = columns["second"].astype(int) - first
        for name, values in columns.items():
            if name in ("second", "covered_s") or not np.nansum(np.abs(values)):
                continue
            total = sums.setdefault(name, np.zeros(len(seconds)))
            np.add.at(total, position, np.nan_to_num(values))
    if not sums:
        return None
    panels = []
    received = rates(run, "consumer")
    if received is not None:
        rows = run.rows("consumer")
        total = np.nansum(received, axis=0)
        factor, unit = scale("b/s", total.max())
        panels.append(Panel("Payload received, all consumers", unit,
                            lines=[Line("payload", rows.seconds, total / factor, "mean")]))
    shown = sorted(sums, key=lambda name: (_rank_of_counter(name), name))[:COUNTER_PANELS_MAX]
    in_measure = host_counters.measured(run)
    for name in shown:
        panels.append(Panel(f"{name} ({_counted(name, in_measure)})", "per second",
                            lines=[Line(name, seconds, sums[name], "highest")]))
    left = len(sums) - len(shown)
    return TimeChart("counters", "What the network interfaces counted", panels, _measured(run),
                     "Sums over hosts; counters that stayed at 0 are left out"
                     + (f", and {left} more that moved." if left else "."))


def _counted(name, in_measure):
    """12 in the measured seconds, most on eb01: 7"""
    def said(value):
        return text(value, "B") if name.endswith("_bytes") else f"{value:.0f}"
    on_hosts = {host: counters[name] for host, counters in in_measure.items() if name in counters}
    whole = sum(on_hosts.values())
    most = max(on_hosts, key=on_hosts.get, default=None)
    where = "" if not whole else f", on {most}" if on_hosts[most] == whole else f", most on {most}: {said(on_hosts[most])}"
    return f"{said(whole)} in the measured seconds{where}"


def _rank_of_counter(name):
    """Signs of trouble first."""
    for rank, words in enumerate((("pause",), ("cnp", "ecn", "marked"), ("retrans", "timeout", "discard", "drop", "err", "out_of"))):
        if any(word in name for word in words):
            return rank
    return 9


def _measured(run):
    seconds = run.rows("consumer").measured_seconds
    if not len(seconds):
        seconds = run.rows("producer").measured_seconds
    return (int(seconds[0]), int(seconds[-1])) if len(seconds) else None


def _many(run):
    return max(len(run.rows("producer")), len(run.rows("consumer"))) > MEMBERS_MAX


def _column(run, role, name):
    rows = run.rows(role)
    return rows.column(name) if name in rows else None


def _mean(values):
    """Over ranks; NaN where no rank has a row."""
    counted = np.isfinite(values).sum(axis=0)
    return np.where(counted > 0, np.nansum(values, axis=0) / np.maximum(counted, 1), np.nan)


def _rank_panel(run, role, title, values, unit, lines):
    x = run.rows(role).seconds
    factor, unit_name = scale(unit, np.nanmax(values))
    values = values / factor
    panel = Panel(title, "" if unit_name == "1" else unit_name)
    present = np.isfinite(values).any(axis=0)
    if 1 < len(values) <= MEMBERS_MAX:
        panel.lines += [Line(run.rank_name(role, index), x, row, "member") for index, row in enumerate(values)]
    elif len(values) > MEMBERS_MAX:
        band = np.full((2, len(x)), np.nan)
        band[:, present] = np.nanquantile(values[:, present], (0.1, 0.9), axis=0)
        panel.areas.append(Area(f"80 % of {role}s", x, band[0], band[1], LIGHT))
    filled = {"lowest": np.where(np.isnan(values), np.inf, values), "highest": np.where(np.isnan(values), -np.inf, values)}
    for style in lines:
        if style == "mean":
            panel.lines.append(Line("mean", x, _mean(values), "mean"))
        elif len(values) > 1 or "mean" not in lines:
            which = filled[style].argmin(axis=0) if style == "lowest" else filled[style].argmax(axis=0)
            y = np.where(present, values[which, np.arange(len(x))], np.nan)
            names = {index: run.rank_name(role, index) for index in np.unique(which)}
            panel.lines.append(Line(style, x, y, style, [names[index] for index in which]))
    return panel


def _groups(size, most):
    """Edges of at most `most` groups of about the same size."""
    return np.unique(np.linspace(0, size, min(size, most) + 1).round().astype(int))


def _group_names(run, role, edges):
    return [run.rank_name(role, int(begin)) if end - begin == 1 else f"{role}s {begin}..{end - 1}"
            for begin, end in zip(edges[:-1], edges[1:])]


def _reduce(values, run, role, worst):
    """At most CELLS_MAX lines, each the lowest or highest of its group; columns stay seconds."""
    edges = _groups(len(values), CELLS_MAX)
    if worst == "low":
        reduced = np.minimum.reduceat(np.where(np.isnan(values), np.inf, values), edges[:-1], axis=0)
    else:
        reduced = np.maximum.reduceat(np.where(np.isnan(values), -np.inf, values), edges[:-1], axis=0)
    return np.where(np.isfinite(reduced), reduced, np.nan), _group_names(run, role, edges), run.rows(role).seconds


def curve_colour(index):
    return CURVE_COLOURS[index % len(CURVE_COLOURS)]
