"""Charts of a run over seconds. Each function returns a chart of charts.py, or None if the run has nothing for it."""

import numpy as np

from ..basics.units import number, scale, text
from ..reading.series import (blocked_at_once, column, compared_rates, fairness_by_second, line_rate, mean,
                              measured_seconds, over_ranks, over_window, per_second, rates, target_rate)
from ..reading.short_run_rows import InSteps, by_second, each, length
from . import lost_consumers
from .charts import Area, BLUE, GREEN, LIGHT, Line, ORANGE, PURPLE, Panel, PanelChart, SKY, VERMILION, extreme, rule

# More ranks than this are drawn as a band: single lines could not be told apart.
MEMBERS_MAX = 100
# More bars than this are grouped.
BARS_MAX = 240


def slowest_sets(run):
    """Generation `sets`: the longest time that each producer needed for a set. The deadline is the next set."""
    interval = run.resolved.get("interval_s")
    ranks = [rank for rank in run.ranks("producer") if rank.get("least_slack_s") is not None]
    if run.resolved.get("generation") != "sets" or interval is None or not ranks:
        return None
    names = [run.rank_name("producer", rank["index"]) for rank in ranks]
    longest = np.array([interval - rank["least_slack_s"] for rank in ranks])
    edges = group_edges(len(longest), BARS_MAX)
    factor, unit = scale("s", max(longest.max(), interval))
    if len(edges) <= len(longest):
        names = group_names(run, "producer", edges)
        longest = np.maximum.reduceat(longest, edges[:-1])
    late = longest > interval
    lines = [Line(name, np.arange(len(names)), np.where(shown, longest / factor, np.nan), "bar", colour=colour)
             for name, shown, colour in (("in time", ~late, BLUE), ("late", late, VERMILION)) if shown.any()]
    lines.append(rule(f"deadline: the next set, after {text(interval, 's')}", interval / factor, "limit"))
    return PanelChart("slowest-sets", "How long producers needed for a set",
                      [Panel("Slowest set, from generation to delivery", unit, lines)], None,
                      f"One bar for {'each producer' if len(edges) > len(ranks) else 'the slowest of some producers'}"
                      + ". What is left to the deadline is the slack"
                      + (". Sets above the line were late." if run.record["verdict"].get("late_sets")
                         else "; no set was late."), "", x_names=names)


def buffers(run):
    """What decides whether a run is sustained: occupancy, late sets and losses."""
    panels = occupancies(run)
    for role, title, name in (("producer", "Late sets", "late_sets"),
                              ("producer", "Events lost at producers", "lost_events"),
                              ("consumer", "Events lost on the way", "lost_events")):
        panels += _sums(run, role, title, ((name, f"all {role}s", "highest"),), also_zero=False, colour=VERMILION)
    if not panels:
        return None
    return PanelChart("buffers", "Buffers of producers", panels, measured_seconds(run), _about_sets(run, panels) + PALE,
                      holds=length(run))


def occupancies(run):
    """A panel of the buffers of all producers, in a list; nothing without values."""
    peaks, x = column(run, "producer", "occupancy_peak"), run.rows("producer").seconds
    if peaks is None or not np.isfinite(peaks).any():
        return []
    panel = occupancy_panel(run, "producer", f"Buffer occupancy, peak of each {each(run)}", x, peaks,
                            ("mean", "highest"))
    one_set = set_occupancy(run)
    if one_set is not None and one_set < 0.99:
        panel.lines.append(rule(f"one new set: {number(one_set)}", one_set, "target"))
    return [panel]


def occupancy_panel(run, role, title, x, peaks, styles):
    """As rank_panel(), with the limit, and what lies above it."""
    panel = rank_panel(run, role, title, x, peaks, unit="1", styles=styles)
    highest = np.nanmax(np.nan_to_num(peaks), axis=0)
    if (highest > 1).any():
        panel.areas.insert(0, Area("overflow", x, np.ones(len(x)), np.maximum(highest, 1.0), VERMILION))
    panel.lines.append(rule(_full(run), 1.0, "limit"))
    panel.least_top = 1.2
    return panel


def _about_sets(run, panels):
    """Why an occupancy of 1 can be healthy."""
    one_set, sentences = set_occupancy(run), ""
    if one_set is not None:
        filled = "the whole buffer" if one_set >= 0.99 else f"{number(one_set)} of the buffer"
        sentences = (f"A set is generated at once and fills {filled} at that moment: the peak is never lower, and what "
                     "counts is the slack. Above that, data of earlier sets is left. ")
    if any(panel.title == "Late sets" for panel in panels):
        sentences += "A set is late if some of it is left when the next one is generated. "
    return sentences


PALE = "Pale: warm-up and drain, which are not judged."


def set_occupancy(run):
    """Share of the buffer that a new set fills; None if producers do not generate sets."""
    resolved = run.resolved
    # Producers with addressed events have sets of different sizes, and may generate them in parts.
    sizes = resolved.get("set_bytes"), resolved.get("buffer_bytes")
    return sizes[0] / sizes[1] if resolved.get("generation") == "sets" and not resolved.get("traffic") and all(
        sizes) else None


def _full(run):
    """What happens at a full buffer depends on --overflow."""
    drops = run.plan.get("overflow") == "drop"
    return "full: what is generated then is lost" if drops else "limit: above 1 is overflow"


def throughput(run):
    """Rates of producers and consumers, blocked consumers, fairness: what figures 3 to 7 of the LHCb 2021 paper
    show."""
    panels, above = [], []
    for role in ("producer", "consumer"):
        panels += rates_of_ranks(run, role, above)
    panels += blocked(run)
    lost = lost_consumers.panel(by_second(run))
    if lost is not None:
        panels.append(lost)
    # What came in a step is that of a few chunks.
    fairness = None if isinstance(run, InSteps) else fairness_by_second(run)
    if fairness is not None:
        x = run.rows("consumer").seconds
        panels.append(Panel(over_window(run, "Fairness of consumers"), "", least_top=1.05, lines=[
            Line("Jain index of their rates", x, fairness[0], "mean"),
            Line("min/max throughput ratio", x, fairness[1], "lowest")]))
    panels += _building_panels(run)
    if not panels:
        return None
    many = max(len(run.rows("producer")), len(run.rows("consumer"))) > MEMBERS_MAX
    return PanelChart("over-time", "Throughput and fairness", panels, measured_seconds(run),
                      f"One value per rank and {each(run)}. Grey: single ranks"
                      + (", or where 80 % of them lie. " if many else ". ")
                      + ("Bytes count when their chunk is whole. " if isinstance(run, InSteps) else "")
                      + (f"Line rates are far above: {', '.join(above)}. " if above else "") + PALE, holds=length(run))


def rates_of_ranks(run, role, above=None, members_max=MEMBERS_MAX):
    """A panel of the throughput of a role, in a list; nothing without values. A line rate that lies far above is not
    drawn, and said in `above`."""
    title = f"Throughput of {role}s"
    values, named = compared_rates(run, role), over_window(run, title)
    if values is not None and not np.isfinite(values).any():
        values, named = rates(run, role), f"{title}, by the second"  # too few events to compare ranks by
    if values is None or not np.isfinite(values).any():
        return []
    target, link = target_rate(run, role), line_rate(run, role)
    if link and link > 2 * max(np.nanmax(values), target or 0):
        (above if above is not None else []).append(f"{role}s {text(link, 'b/s')}")
        link = None
    needed = "target" if role == "producer" else "needed in the mean"
    return [rank_panel(run, role, named, run.rows(role).seconds, values, unit="b/s", members_max=members_max,
                       styles=("lowest", "mean", "highest"),
                       rules=[(f"{needed} {text(target, 'b/s')}", target, "target"),
                              (f"line rate {text(link, 'b/s')}", link, "link")])]


def blocked(run):
    """A panel of how many consumers are blocked, in a list: at 20 instants of each second, or the mean where rows have
    no samples; nothing if none ever was."""
    counts, x, unit = blocked_at_once(run), run.rows("consumer").seconds, f"of {len(run.rows('consumer'))}"
    if counts is not None:
        return [Panel("Blocked consumers", unit, whole_numbers=True, least_top=1.0, lines=[
            Line("most at one instant", x, counts[1], "highest"), Line("mean", x, counts[0], "mean")])]
    shares = per_second(run, "consumer", "blocked_s")
    if shares is None or not np.nansum(shares):
        return []
    return [Panel("Blocked consumers", unit, least_top=1.0,
                  lines=[Line("mean", x, over_ranks(shares, np.nansum), "mean")])]


def _building_panels(run):
    """Pattern build: events that all consumers finished, and what was lost meanwhile. Nothing with other patterns."""
    return [*_sums(run, "consumer", "Events built", (("finished_events", "finished, all consumers", "mean"),
                                                     ("given_up_events", "given up, all consumers", "lowest"))),
            *_sums(run, "consumer", "Fragments requested again",
                   (("asked_again", "requested again, all consumers", "highest"),))]


def _sums(run, role, title, parts, also_zero=True, colour=None):
    """A panel of columns (name, title, style) over all ranks of a role by the second, in a list; nothing without a
    value, or where none is above 0, or in a run of a second or two, which are no line. `colour`: as of a Line."""
    run, lines = by_second(run), []
    if np.count_nonzero(run.rows(role).seconds >= 0) < 3:
        return []
    for name, shown, style in parts:
        values = column(run, role, name)
        if values is not None and (np.isfinite(values).any() if also_zero else np.nansum(values)):
            lines.append(Line(shown, run.rows(role).seconds, np.nansum(values, axis=0), style, colour=colour))
    return [Panel(title, "in the second", whole_numbers=True, lines=lines)] if lines else []


def by_events(run):
    """Speed in steps of equally many events: a scheduler that slows down with their number shows here."""
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
        panels.append(Panel("Credit stalls: events offered when no consumer had a credit", "events per step",
                            whole_numbers=True, lines=[Line("offered", middle, without, "highest")]))
    return PanelChart("by-events", "Speed by number of events", panels, None,
                      "From second 0 on, as events were reported done to the scheduler.", "events done")


def where_the_time_went(run):
    """Stacked shares of time per second, mean over the ranks of a role."""
    panels = []
    for role, title, parts in (
            ("producer", "Producers' streams", (("transferring", "transferring_s", GREEN),
                                                ("waiting for a slot", "waiting_for_slot_s", ORANGE),
                                                ("waiting for a grant", "waiting_for_grant_s", BLUE),
                                                ("waiting for data", "waiting_for_data_s", LIGHT))),
            ("consumer", "Consumers", (("receiving", "receiving_s", SKY), ("blocked", "blocked_s", PURPLE),
                                       ("waiting for data", "waiting_for_data_s", LIGHT))),
            ("scheduler", "Scheduler", (("events, but no free slot", "waiting_for_slot_s", ORANGE),
                                        ("events, but no free stream", "waiting_for_stream_s", BLUE),
                                        ("free slots, but no events", "waiting_for_data_s", LIGHT),
                                        ("neither events nor free slots", "idle_s", SKY)))):
        rows = run.rows(role)
        if not all(name in rows for _, name, _ in parts):
            continue
        low = np.zeros(len(rows.seconds))
        areas = []
        covered = mean(rows.column("covered_s"))
        for shown, name, colour in parts:
            high = low + np.nan_to_num(mean(rows.column(name)) / covered)
            areas.append(Area(shown, rows.seconds, 100 * low, 100 * high, colour))
            low = high
        panels.append(Panel(title, "% of time", areas=areas, largest=100.0))
    if not panels:
        return None
    return PanelChart("where-the-time-went", "Shares of time", panels, measured_seconds(run),
                      "Mean over all ranks of a role. Producers that wait for a slot are held up by consumers, those "
                      "that wait for a grant by the scheduler; long transfers point to the network.", holds=1.0)


def rank_panel(run, role, title, x, values, *, unit, styles, rules=(), members_max=MEMBERS_MAX):
    """Lines of the wanted styles over the ranks of a role. `values`: ranks x times, `x`: those times; `rules`: (name,
    value or None, style) of straight lines; more than `members_max` ranks are a band."""
    rules = [rule for rule in rules if rule[1]]
    factor, unit_name = scale(unit, max([np.nanmax(values), *(value for _, value, _ in rules)]))
    values = values / factor
    panel = Panel(title, "" if unit_name == "1" else unit_name)
    present = np.isfinite(values).any(axis=0)
    if 1 < len(values) <= members_max:
        panel.lines += [Line(run.rank_name(role, index), x, row, "member") for index, row in enumerate(values)]
    elif len(values) > 1:
        band = np.full((2, len(x)), np.nan)
        band[:, present] = np.nanquantile(values[:, present], (0.1, 0.9), axis=0)
        panel.areas.append(Area(f"80 % of {role}s", x, band[0], band[1], LIGHT))
    for style in styles:
        if style == "mean":
            panel.lines.append(Line("mean", x, mean(values), "mean"))
        elif len(values) > 1 or "mean" not in styles:
            panel.lines.append(extreme(style, x, values, lambda index: run.rank_name(role, index), style))
    panel.lines += [rule(name, value / factor, style) for name, value, style in rules]
    return panel


def group_edges(size, most):
    """Edges of at most `most` groups of about the same size."""
    return np.unique(np.linspace(0, size, min(size, most) + 1).round().astype(int))


def group_names(run, role, edges):
    return [run.rank_name(role, int(begin)) if end - begin == 1 else f"{role}s {begin}..{end - 1}"
            for begin, end in zip(edges[:-1], edges[1:])]
