"""The report of one or more runs: what is on the page, and where its numbers come from. All numbers that run.json has
are taken from it; rows are only drawn."""

import re
from pathlib import Path

from ..basics import whole_file
from ..basics.units import capital, counted, part, share, text
from ..figures import (burst_charts, counter_charts, figure_files, heat_maps, latency_charts,
                       lost_consumers, network_drawing, page_parts, phase_charts, switch_charts, time_charts)
from ..figures.latency_charts import LATENCIES, latency_number, latency_unit
from ..reading import (class_counters, network_failures, plan_pressure, short_run_rows, switch_counters,
                       transfer_tables, twin)
from ..reading.key_figures import KEY_FIGURES, key_figures
from ..reading.run_state import LOST, RUNNING
from . import so_far
from .run_tiles import rank_tables, run_tiles

# The parts of a page, with their charts. The one that proves the verdict stands before them.
_PARTS = {
    "time": (time_charts.where_the_time_went, phase_charts.over_time, time_charts.by_events, latency_charts.gaps,
             latency_charts.latencies),
    "affected": (time_charts.slowest_sets, time_charts.buffers, time_charts.throughput, burst_charts.bursts,
                 heat_maps.ranks_by_second),
    "network": (heat_maps.traffic, switch_charts.switches, switch_charts.parallel_links, counter_charts.counters,
                switch_charts.readings)}
# Drawn by the short rows of a run of a few seconds.
_IN_STEPS = (time_charts.buffers, time_charts.throughput, heat_maps.ranks_by_second)
_OVERVIEW = ("lost_events", "late_share", "goodput", "slowest_consumer_lowest_second", "worst_occupancy",
             "blocked_share", "delivery_p99_9")


def write_report(runs, page, figures_directory, formats, footer):
    """Writes the figures and the page of runs, see report_content(). Returns the paths of the figures."""
    content, written = report_content(runs, figures_directory, formats, footer)
    page.parent.mkdir(parents=True, exist_ok=True)
    whole_file.replace(page, content)
    return written


def report_content(runs, figures_directory, formats, footer):
    """Writes the figures of every run into `figures_directory` (one folder for each run if there are several; without
    `formats` none). Returns the page and the paths of the figures."""
    sections, written = [], []
    for position, run in enumerate(runs):
        directory = figures_directory if len(runs) == 1 else figures_directory / f"{position + 1}-{_safe(run.name)}"
        made = {part: [chart for make in makers
                       for chart in _listed(make(short_run_rows.drawn(run) if make in _IN_STEPS else run))]
                for part, makers in _PARTS.items()}
        written += figure_files.write(directory, [chart for charts in made.values() for chart in charts], formats,
                                      run.title)
        charts = {part: [page_parts.shown(f"run-{position + 1}-{chart.name}", chart) for chart in charts]
                  for part, charts in made.items()}
        charts["network"] = _drawn(run, position) + charts["network"]
        sections.append(section(run, position, _proof(run, charts["affected"]), charts))
    content = page_parts.render(
        Path(__file__).parent / "templates/report.html.j2", runs=sections, footer=footer,
        title=runs[0].title if len(runs) == 1 else f"{len(runs)} runs of weir",
        overview=[figure for figure in KEY_FIGURES if figure.name in _OVERVIEW])
    return content, written


def _drawn(run, position):
    """The drawing of the network as a chart, in a list."""
    network = network_drawing.of_run(run)
    if network is None:
        return []
    drawn, about = network_drawing.drawing(network)
    return [{"id": f"run-{position + 1}-network", "name": "network", "title": "Use of links", "drawn": drawn,
             "caption": about}]


def _listed(made):
    return made if isinstance(made, list) else [made] if made else []


def _safe(name):
    """A run's name as part of a file's name."""
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return kept.strip("-.")[:60] or "run"


def _proof(run, charts):
    """What shows best that the verdict is right, taken out of `charts`: buffers that overflow, or else sets against
    their deadline."""
    by_name = {chart["name"]: chart for chart in charts}
    order = ("buffers", "slowest-sets") if run.verdict.get("sustained") is False else ("slowest-sets", "buffers")
    found = next((by_name[name] for name in order if name in by_name), None)
    if found:
        charts.remove(found)
    return found


STATES = {RUNNING: ("STILL RUNNING", "none"), LOST: ("LOST", "bad")}
# How the sentence of the verdict begins, in run.json.
_HEADINGS = ("Not judged: ", "NOT sustained: ", "Sustained: ", "Sustained, but not on time: ")


def short_verdict(run):
    """(word, tone) of a run, of a job or of one of its groups: the word of the terminal."""
    verdict = run.verdict
    if run.status in STATES:
        return STATES[run.status]
    if not verdict.get("judged") or verdict.get("sustained") is None:
        return "NOT JUDGED", "none"
    if not verdict["sustained"]:
        return "NOT SUSTAINED", "bad"
    # With a buffer of several sets, all of them can be late and none overflow.
    return ("LATE", "warn") if verdict.get("on_time") is False else ("SUSTAINED", "good")


def verdict_text(run):
    """The sentences of the verdict, without the words that stand above them."""
    full_text = run.verdict.get("text") or ""
    heading = next((heading for heading in _HEADINGS if full_text.startswith(heading)), "")
    return capital(full_text[len(heading):])


def answer(run, explained):
    """What stands first: {sentence, because, do, certainty, evidence}; None: not known, or nothing to say."""
    verdict = run.verdict
    said = dict(verdict.get("answer") or {})
    is_proved = any(cause["evidence"] in ("proof", "counterfactual") for cause in verdict.get("causes") or ())
    evidence = verdict_text(run)
    if explained and explained["answer"] and not is_proved:
        # One list of causes for each page: that of weir explain, which takes its time.
        said = {**explained["answer"], "verdict": said.get("verdict")}
        evidence = evidence.split(" Main cause: ")[0]
    elif said.get("because"):
        evidence = re.sub(r"Main cause: [^.]*\. ", "", evidence)  # it stands there
    sentence_of_verdict = (said.get("verdict") or "").partition(": ")[2]
    return {"sentence": sentence_of_verdict or evidence, "because": said.get("because"),
            "do": said.get("do") or sentence(verdict.get("advice")), "certainty": said.get("certainty"),
            "evidence": evidence.removeprefix(sentence_of_verdict).strip() if sentence_of_verdict else None}


def overview_cell(figure, figures):
    value = figures[figure.name]
    if figure.name == "late_share":
        return share(value) or "-"
    return part(value, figures.get(figure.of)) if figure.of else figure.text(value)


def section(run, position, proof, charts):
    """What the template needs of one run."""
    verdict, tone = short_verdict(run)
    record = run.record
    explained, ended = twin.of_run(run), run.status not in STATES
    said = answer(run, explained) if ended else so_far.answer(run)
    figures = key_figures(run)
    layout = f"{counted(run.resolved['producers'], 'producer')} to {counted(run.resolved['consumers'], 'consumer')}"
    return {
        "id": f"run-{position + 1}", "name": run.name, "title": run.title, "what": what_was_run(run, layout),
        "tone": said.get("tone", tone) if run.status == RUNNING else tone, "short_verdict": verdict, "answer": said,
        "so_far": [] if ended else list(so_far.tiles(run)),
        "remarks": run.remarks, "network": (record.get("network") or {}).get("evidence"),
        "cannot_act": plan_pressure.cannot_act(run),
        "tiles": run_tiles(run) if ended else [], "proof": proof, "charts": charts,
        "first_overflow": record["verdict"].get("first_overflow_second"),
        "cells": {figure.name: overview_cell(figure, figures) for figure in KEY_FIGURES},
        "latencies": _latency_rows(run), "latency_unit": latency_unit(run)[0],
        "rank_tables": rank_tables(run) if ended else [],
        "twin": explained, "switch": _switch(run), "classes": class_counters.table(run),
        "parallel_links": switch_charts.links_table(run), "losses": lost_consumers.table(run),
        "failures": network_failures.table(run), "phases": _phases(run), "sizes": transfer_tables.sizes(run),
        "size_columns": transfer_tables.SIZE_HEADS,
        "collectives": transfer_tables.collectives(run), "collective_columns": transfer_tables.COLLECTIVE_HEADS,
        "faults": _faults(record),
        "plan": list(run.plan.items()), "environment": flat(record["environment"]),
    }


def _phases(run):
    """Chart and table of phases; None if events have no address."""
    table, chart = transfer_tables.phases(run), phase_charts.rows(run)
    return table and {**table, "chart": chart, "about_chart": chart and phase_charts.about_rows(chart)}


def _switch(run):
    """What the switch counted, for its table; None if it was not read."""
    counters = switch_counters.of_run(run)
    return counters and {"when": counters.when, "problems": counters.problems, "rows": switch_counters.lines(counters)}


def sentence(text):
    return text and text.rstrip(".") + "."


def what_was_run(run, layout, more=""):
    """Layout, load, length, world, begin and directory of a run or job in a sentence. `more`: after it."""
    resolved, parts = run.resolved, [layout]
    if resolved.get("traffic"):
        parts.append(f"{text(resolved['traffic']['bytes_per_interval'], 'B')} of addressed events every "
                     f"{text(resolved['interval_s'], 's')}")
    elif resolved.get("generation") == "saturate":
        parts.append("as fast as possible")
    elif resolved.get("rate_bits_per_second"):
        parts.append(f"{text(resolved['rate_bits_per_second'], 'b/s')} from each producer")
    as_planned = run.status in ("complete", *STATES)  # what has not ended has not counted its seconds
    seconds = resolved.get("duration_s") if as_planned else run.record.get("seconds")
    if seconds is not None:
        parts.append(text(seconds, "s"))
    parts.append("simulated" if run.world == "simulation" else "measured")
    if run.started_at:
        parts.append(f"started {run.started_at:%Y-%m-%d %H:%M:%S} UTC")
    return ", ".join(parts) + f".{more} Run directory: {run.directory.resolve().name}."


def _latency_rows(run):
    rows = []
    for name, title in LATENCIES:
        entry = run.record["latency"].get(name) or {}
        if entry.get("count"):
            rows.append([title, *(latency_number(run, entry.get(f"{key}_us"))
                                  for key in ("p50", "p90", "p99", "p99_9", "max")), entry["count"]])
    return rows


def _faults(record):
    faults = [", ".join(f"{name} {value}" for name, value in fault.items() if value is not None)
              if isinstance(fault, dict) else str(fault) for fault in record.get("faults", [])[:20]]
    count = record.get("fault_count") or 0
    if count > len(faults):
        faults.append(f"and {count - len(faults)} more")
    return faults + [str(difference) for difference in (record.get("ledger") or {}).get("differences", [])]


def flat(value, prefix=""):
    """Nested objects as (path, text)."""
    if isinstance(value, dict):
        return [pair for name, part in value.items() for pair in flat(part, f"{prefix}.{name}" if prefix else name)]
    if isinstance(value, list) and value and all(isinstance(part, dict) and {"option", "value"} <= part.keys()
                                                 for part in value):
        return [(prefix, " ".join(f"--{part['option']} {part['value']}".rstrip() for part in value))]
    if isinstance(value, list):
        return [(prefix, ", ".join(str(part) for part in value) or "-")]
    return [(prefix, "-" if value is None else str(value))]
