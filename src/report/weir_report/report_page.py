"""The report of one or more runs: what stands on the page, and where its numbers come from. All numbers that run.json
has are taken from it; rows are only drawn."""

from . import matplotlib_figures, page_parts, plotly_figures, run_charts
from .errors import naming
from .key_figures import KEY_FIGURES, key_figures, slowest_window
from .units import number, part, share, text

_CHARTS = (run_charts.over_time, run_charts.by_events, run_charts.heat_map, run_charts.where_the_time_went, run_charts.traffic,
           run_charts.gaps, run_charts.latencies, run_charts.counters)
_OVERVIEW = ("lost_events", "late_share", "goodput", "slowest_consumer_lowest_second", "worst_occupancy", "blocked_share", "delivery_p99_9")
RANKS_SHOWN = 5


def write_report(runs, page, figures_directory, formats, footer):
    """Writes the figures of every run into `figures_directory` (one folder for each run if there are several) and the
    page into `page`. Returns the paths of the figures."""
    interactive = {}
    sections, written = [], []
    for position, run in enumerate(runs):
        directory = figures_directory if len(runs) == 1 else figures_directory / f"{position + 1}-{_safe(run.name)}"
        directory.mkdir(parents=True, exist_ok=True)
        shown = []
        for make in _CHARTS:
            chart = make(run)
            if chart is None:
                continue
            paths = matplotlib_figures.write(chart, directory, sorted({*formats, "png"}, key=formats_order), run.name)
            identity = f"run-{position + 1}-{chart.name}"
            interactive[identity] = plotly_figures.figure(chart)
            shown.append({"id": identity, "name": chart.name, "title": chart.title, "caption": chart.caption,
                          "picture": page_parts.picture(next(path for path in paths if path.suffix == ".png"))})
            if "png" not in formats:
                next(path for path in paths if path.suffix == ".png").unlink()
            written += [path for path in paths if path.suffix[1:] in formats]
        sections.append(section(run, position, shown))
    plotly = page_parts.plotly_source()
    title = runs[0].name if len(runs) == 1 else f"{len(runs)} runs of weir"
    overview = [figure for figure in KEY_FIGURES if figure.name in _OVERVIEW]
    page.parent.mkdir(parents=True, exist_ok=True)
    content = page_parts.templates().get_template("report.html.j2").render(
        title=title, runs=sections, overview=overview, footer=footer,
        plotly=page_parts.packed(plotly) if plotly else None,
        figures=page_parts.packed_figures(interactive) if plotly else None)
    with naming(page):
        page.write_text(content, encoding="utf-8")
    return written


def formats_order(name):
    return matplotlib_figures.FORMATS.index(name)


def _safe(name):
    """A run's name as part of a file's name."""
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return kept.strip("-.")[:60] or "run"


def short_verdict(run):
    verdict = run.record["verdict"]
    if not verdict.get("judged") or verdict.get("sustained") is None:
        return "Not judged", "none"
    if not verdict["sustained"]:
        return "NOT sustained", "bad"
    # With a buffer of several sets, all of them can be late and none overflow.
    return ("Sustained, but not on time", "none") if verdict.get("on_time") is False else ("Sustained", "good")


def overview_cell(figure, figures):
    value = figures[figure.name]
    if figure.name == "late_share":
        return share(value, 1.0) or "-"
    return part(value, figures.get(figure.of)) if figure.of else text(value, figure.unit)


def section(run, position, charts):
    verdict, tone = short_verdict(run)
    record = run.record
    figures = key_figures(run)
    full_text = record["verdict"].get("text", "")
    for beginning in ("Sustained: ", "Sustained, but not on time: ", "NOT sustained: ", "Not judged: "):
        if full_text.startswith(beginning):
            full_text = full_text[len(beginning):]
            full_text = full_text[:1].upper() + full_text[1:]
    return {
        "id": f"run-{position + 1}", "name": run.name, "what": _what(run), "tone": tone, "short_verdict": verdict,
        "verdict_text": full_text, "remarks": run.remarks, "network": (record.get("network") or {}).get("evidence"), "tiles": _tiles(run), "charts": charts,
        "first_overflow": record["verdict"].get("first_overflow_second"), "figures": figures,
        "cells": {figure.name: overview_cell(figure, figures) for figure in KEY_FIGURES},
        "has_latency_chart": any(chart["name"] == "latencies" for chart in charts),
        "latencies": _latency_rows(record["latency"]),
        "rank_tables": [table for table in (_consumer_table(run), _producer_table(run)) if table["rows"]],
        "faults": _faults(record), "plan": list(run.plan.items()), "environment": _flat(record["environment"]),
    }


def _what(run):
    resolved = run.resolved
    parts = [f"{resolved['producers']} producers to {resolved['consumers']} consumers"]
    if resolved.get("generation") == "saturate":
        parts.append("as fast as it goes")
    elif resolved.get("rate_bits_per_second"):
        parts.append(f"{text(resolved['rate_bits_per_second'], 'b/s')} from each producer")
    seconds = run.record.get("seconds")
    if seconds is not None:
        parts.append(f"{seconds} s")
    parts.append("simulated" if run.world == "simulation" else "measured")
    if run.started_at:
        parts.append(f"started {run.started_at:%Y-%m-%d %H:%M:%S} UTC")
    return ", ".join(parts) + "."


def _tiles(run):
    """Key numbers, each with its place in run.json where it has one."""
    record = run.record
    totals, verdict = record["totals"], record["verdict"]
    figures = key_figures(run)
    consumers, producers = run.ranks("consumer"), run.ranks("producer")
    tiles = []

    def add(title, shown, bad=False, path=None, value=None):
        tiles.append({"title": title, "text": shown, "bad": bad, "path": path, "value": value})

    add("goodput of all consumers, mean", text(figures["goodput"], "b/s"))
    slow = [rank for rank in consumers if slowest_window(rank)[0] is not None]
    if slow:
        rank = min(slow, key=lambda entry: slowest_window(entry)[0])
        rate, first = slowest_window(rank)
        field = "slowest_window" if "slowest_window_second" in rank else "slowest_second"
        add(f"lowest {_stretch(run)} of any consumer: {run.rank_name('consumer', rank['index'])} {_when(run, first)}",
            text(rate, "b/s"), path=f"ranks.{rank['rank']}.{field}_bits_per_second", value=rate)
    worst = totals.get("max_occupancy")
    if worst is not None:
        full = [rank for rank in producers if rank.get("max_occupancy") == worst]
        where = f": {run.rank_name('producer', full[0]['index'])} in second {full[0].get('max_occupancy_second')}" if full else ""
        add(f"worst occupancy{where}; above 1 is overflow", number(worst), worst > 1, "totals.max_occupancy", worst)
    _add_late_sets(run, add)
    add("of the consumers' time blocked by processing", text(figures["blocked_share"], "%"))
    if verdict.get("blocked_at_once_max") is not None:
        add("consumers blocked at once, at most", f"{verdict['blocked_at_once_max']} of {run.resolved['consumers']}",
            path="verdict.blocked_at_once_max", value=verdict["blocked_at_once_max"])
    evenness = (record.get("evenness") or {}).get("consumers")
    if evenness and len(consumers) > 1:
        add(f"smallest over largest amount that a consumer received; Jain index {number(evenness['jain_index'])}",
            number(evenness["smallest_over_largest"]), path="evenness.consumers.smallest_over_largest",
            value=evenness["smallest_over_largest"])
    without = totals.get("events_without_credit")
    if without and run.resolved.get("generation") != "saturate":
        add("events that came when no credit was there", number(without), path="totals.events_without_credit", value=without)
    if totals.get("results"):
        add(f"results that came with credits, {text(totals.get('result_bytes'), 'B')}", number(totals["results"]),
            path="totals.results", value=totals["results"])
    delivery = record["latency"].get("delivery") or {}
    if delivery.get("count") and delivery["p99_9_us"] is not None:
        add("delivery, 99.9 % of events within", text(delivery["p99_9_us"] * 1e-6, "s"), path="latency.delivery.p99_9_us",
            value=delivery["p99_9_us"])
    add("events received", number(totals.get("received_events")), path="totals.received_events",
        value=totals.get("received_events"))
    lost = totals.get("lost_events")
    add("events lost in the whole run, and their share of those generated", part(lost, totals.get("generated_events")),
        bool(lost), "totals.lost_events", lost)
    missing = figures["missing_datagrams"]
    if missing is not None:
        add("datagrams that did not arrive, and their share of those sent", part(missing, figures["sent_datagrams"]),
            missing > 0, "datagrams.missing", missing)
    ledger = record.get("ledger") or {}
    if run.status == "complete":
        add("ledgers of producers, consumers and scheduler", "agree" if ledger.get("agrees") else "DISAGREE",
            not ledger.get("agrees"), "ledger.agrees", ledger.get("agrees"))
    if run.world == "measurement":
        error = (record.get("clock") or {}).get("error_us")
        add("clock error, at most", text(None if error is None else error * 1e-6, "s"), path="clock.error_us", value=error)
    return tiles


def _add_late_sets(run, add):
    """A set is late if something of it was left when the next one was generated. Older runs did not look."""
    verdict = run.record["verdict"]
    sets, late = verdict.get("sets"), verdict.get("late_sets")
    if late is not None and sets:
        where = ""
        if late and verdict.get("first_late_second") is not None:
            where = f": from second {verdict['first_late_second']} on"
        if late and verdict.get("late_producers"):
            where += f", worst {run.rank_name('producer', verdict['late_producers'][0])}"
        add(f"sets late, of {sets}{where}", part(late, sets), bool(late), "verdict.late_sets", late)
    if late and verdict.get("worst_late_s") is not None:
        add("latest departure after its deadline", text(verdict["worst_late_s"], "s"), True,
            "verdict.worst_late_s", verdict["worst_late_s"])
    elif verdict.get("least_slack_s") is not None:
        slack = verdict["least_slack_s"]
        add("least slack between the last departure and its deadline", text(slack, "s"), slack < 0, "verdict.least_slack_s", slack)


def _latency_rows(latency):
    rows = []
    for name, title in run_charts.LATENCIES:
        entry = latency.get(name) or {}
        if entry.get("count"):
            rows.append({"title": title, "count": entry["count"],
                         "quantiles": [None if entry.get(key) is None else entry[key] * 1e-6
                                    for key in ("p50_us", "p90_us", "p99_us", "p99_9_us", "max_us")]})
    return rows


def _ends(entries, key):
    """The first and last few by `key`, and whether some were left out between them."""
    entries = sorted((entry for entry in entries if entry.get(key) is not None), key=lambda entry: entry[key])
    if len(entries) <= 2 * RANKS_SHOWN:
        return entries, []
    return entries[:RANKS_SHOWN], entries[-RANKS_SHOWN:]


def _second(value, second):
    return f"{value} (second {second})" if second is not None else value


def _stretch(run):
    window = run_charts.rate_window(run)
    return "second" if window in (1, None) else f"{window} s"


def _when(run, first):
    window = run_charts.rate_window(run)
    return f"in second {first}" if window in (1, None) else f"in seconds {first} to {first + window - 1}"


def _with_gap(first, last, width):
    return first + ([("...",) + ("",) * (width - 1)] if last else []) + last


def _consumer_table(run):
    def row(rank):
        rate, first = slowest_window(rank)
        share = (rank.get("time") or {}).get("blocked_s", 0.0) / rank["measured_s"] if rank.get("measured_s") else None
        return (run.rank_name("consumer", rank["index"]), text(rank["mean_bits_per_second"], "b/s"),
                f"{text(rate, 'b/s')} ({_when(run, first)[3:]})" if rate is not None else "-",
                text(share, "%"))

    first, last = _ends(run.ranks("consumer"), "mean_bits_per_second")
    heads = ("consumer, slowest first", "mean", f"slowest {_stretch(run)}", "blocked")
    return {"heads": heads, "rows": _with_gap([row(rank) for rank in first], [row(rank) for rank in last], len(heads))}


def _producer_table(run):
    def row(rank):
        return (run.rank_name("producer", rank["index"]), text(rank.get("mean_bits_per_second"), "b/s"),
                _second(number(rank["max_occupancy"]), rank.get("max_occupancy_second")),
                str(rank.get("overflow_seconds", "-"))) + (late(rank) if judged else ())

    def late(rank):
        return (_second(part(rank.get("late_sets"), rank.get("sets")), rank.get("first_late_second")),
                text(rank.get("least_slack_s"), "s"))

    entries = run.ranks("producer")
    judged = any(rank.get("late_sets") is not None for rank in entries)
    first, last = _ends(entries, "max_occupancy")
    heads = ("producer, fullest first", "mean", "worst occupancy", "seconds with overflow")
    heads += ("late sets (first second)", "least slack") if judged else ()
    return {"heads": heads,
            "rows": _with_gap([row(rank) for rank in reversed(last or first)],
                              [row(rank) for rank in reversed(first)] if last else [], len(heads))}


def _faults(record):
    faults = [", ".join(f"{name} {value}" for name, value in fault.items() if value is not None) if isinstance(fault, dict)
              else str(fault) for fault in record.get("faults", [])[:20]]
    count = record.get("fault_count") or 0
    if count > len(faults):
        faults.append(f"and {count - len(faults)} more")
    return faults + [str(difference) for difference in (record.get("ledger") or {}).get("differences", [])]


def _flat(value, prefix=""):
    """Nested objects as (path, text)."""
    if isinstance(value, dict):
        return [pair for name, part in value.items() for pair in _flat(part, f"{prefix}.{name}" if prefix else name)]
    if isinstance(value, list):
        return [(prefix, ", ".join(str(part) for part in value) or "-")]
    return [(prefix, "-" if value is None else str(value))]
