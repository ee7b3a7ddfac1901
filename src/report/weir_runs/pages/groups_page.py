"""The page of a job with several groups: the job's verdict and sums, a table of groups with the worst first, charts
over all groups, and a section for each group. Pages of single groups are those of their runs (report_page.py)."""

import dataclasses
from pathlib import Path

from ..basics import whole_file
from ..basics.errors import ReportError
from ..basics.units import capital, counted, number, part, text
from ..figures import figure_files, groups_charts, page_parts
from ..reading.grouped_runs import worst_first
from . import GROUP_PAGES
from .report_page import STATES, answer, flat, sentence, short_verdict, verdict_text, what_was_run, write_report
from .run_tiles import tile

_CHARTS = (groups_charts.goodput, groups_charts.buffers, groups_charts.heat_map)
# More groups than this have a line in the table and no section: they are too many to read, and not the worst.
SECTIONS_MAX = 100
# Lines of the table that are seen at once; the others unfold.
ROWS_FIRST = 12


def write_groups_page(grouped, page, figures_directory, formats, footer, pages):
    """Writes the page of a job, its figures, and the pages of the `pages` worst groups beside it
    (group-07/report.html). Returns the paths of all figures, and the groups whose pages were written."""
    series = groups_charts.groups_series(grouped)
    made = [chart for chart in (make(series) for make in _CHARTS) if chart] if series else []
    written = figure_files.write(figures_directory, made, formats, grouped.title)
    shown = [page_parts.shown(chart.name, chart) for chart in made]
    ordered = worst_first(grouped)
    drawn = []
    for group in ordered:
        if len(drawn) < pages and _write_group(grouped, group, page, formats, footer, written):
            drawn.append(group)
    page.parent.mkdir(parents=True, exist_ok=True)
    content = page_parts.render(Path(__file__).parent / "templates/groups.html.j2", footer=footer, title=grouped.title,
                                charts=shown, **_contents(grouped, ordered, page, drawn))
    whole_file.replace(page, content)
    return written, drawn


def group_page(group, page):
    """Where the page of a group lies: beside the job's."""
    return page.parent / group.directory.name / "report.html"


def _write_group(grouped, group, page, formats, footer, written):
    """Whether the group has a page now."""
    if group.run is None:
        return False
    target = group_page(group, page)
    run = dataclasses.replace(group.run, heading=f"{grouped.title}: {group.name}")
    try:
        whole_file.make_directory(target.parent)
        written += write_report([run], target, target.parent / "figures", formats, footer)
    except ReportError as error:
        problem = f"The page of this group was not written: {error}."
        if not any(str(error) in known for known in group.problems):
            group.problems.append(problem)
        return False
    return True


def _contents(grouped, ordered, page, drawn):
    """What the template needs beside charts."""
    words, tone = short_verdict(grouped)
    links = {group.number: f"{group.directory.name}/report.html" for group in ordered if group in drawn
             or group_page(group, page).exists()}
    return {
        "what": _what(grouped), "tone": tone, "short_verdict": words, "said": _answer(grouped, ordered),
        "remarks": grouped.remarks, "tiles_shown": _tiles(grouped),
        "rows": [{**_row(group), "link": links.get(group.number), "has_section": place < SECTIONS_MAX}
                 for place, group in enumerate(ordered)],
        # One that is left is no reason to unfold.
        "rows_first": ROWS_FIRST if len(ordered) > ROWS_FIRST + 1 else len(ordered),
        "about_pages": _about_pages(grouped, links),
        "sections": [_section(group, links.get(group.number)) for group in ordered[:SECTIONS_MAX]],
        "left_out": max(0, len(ordered) - SECTIONS_MAX),
        "plan": list(grouped.plan.items()), "environment": flat(grouped.record["environment"])}


def _answer(grouped, ordered):
    """As report_page.answer, of the job: how many groups were good, and why the worst one was not."""
    good = sum(group.verdict.get("sustained") is True and group.verdict.get("on_time") is not False
               for group in ordered)
    worst = ordered[0] if ordered else None
    of_worst = _answer_of(worst) if worst and good < len(ordered) else {}
    because, do = (of_worst.get(part) and f"{capital(worst.name)}: {of_worst[part]}" for part in ("because", "do"))
    whole = "on time" if grouped.verdict.get("on_time") is not None else "sustained"
    return {"sentence": f"{good} of {counted(len(ordered), 'group')} {'was' if good == 1 else 'were'} {whole}.",
            "because": because, "do": do, "certainty": of_worst.get("certainty"), "evidence": verdict_text(grouped)}


def _answer_of(group):
    """As report_page.answer, of one group; its own record has more than the job's."""
    said = answer(group.run if group.run and group.run.verdict.get("answer") else group, None)
    failure = (group.entry.get("failure") or {}).get("what")
    if failure and failure not in f"{said['sentence']} {said['evidence']}":
        said["sentence"] = f"{said['sentence']} {sentence(capital(failure))}".strip()
    return said


def _what(grouped):
    groups = counted(len(grouped.groups), "group")
    layouts = {(group.entry.get("producers"), group.entry.get("consumers"))
               for group in grouped.groups} - {(None, None)}
    if len(layouts) == 1 and all(next(iter(layouts))):
        producers, consumers = next(iter(layouts))
        layout = f"{groups} of {counted(producers, 'producer')} and {counted(consumers, 'consumer')} each"
    else:
        producers, consumers = (sum(group.entry.get(role) or 0 for group in grouped.groups)
                                for role in ("producers", "consumers"))
        layout = f"{groups} with {counted(producers, 'producer')} and {counted(consumers, 'consumer')} in all"
    return what_was_run(grouped, layout, " Groups share nothing.")


def _tiles(grouped):
    record, verdict = grouped.record, grouped.record["verdict"]
    totals = record.get("totals") or {}
    made = [tile("goodput of all groups together, mean", text(record.get("goodput_bits_per_second"), "b/s"),
                 "goodput_bits_per_second", record.get("goodput_bits_per_second"))]
    held = sum(group.verdict.get("sustained") is True for group in grouped.groups)
    unjudged = sum(group.verdict.get("sustained") is None for group in grouped.groups)
    made.append(tile("groups that were sustained" + (f"; {unjudged} not judged" if unjudged else ""),
                     f"{held} of {len(grouped.groups)}", bad=held + unjudged < len(grouped.groups)))
    worst = totals.get("max_occupancy", verdict.get("max_occupancy"))
    if worst is not None:
        where = "" if verdict.get("worst_group") is None else f": group {verdict['worst_group']}"
        made.append(tile(f"worst occupancy of any producer{where}; above 1 is overflow", number(worst),
                         "verdict.max_occupancy", verdict.get("max_occupancy"), worst > 1))
    late, sets = verdict.get("late_sets"), verdict.get("sets")
    if late is not None and sets:
        where = f", in {counted(len(verdict['late_groups']), 'group')}" if verdict.get("late_groups") else ""
        made.append(tile(f"late sets, of {sets}{where}", part(late, sets), "verdict.late_sets", late, bool(late)))
    lost = totals.get("lost_events", verdict.get("lost_events"))
    made.append(tile("events lost in the whole run, and their share of those generated",
                     part(lost, totals.get("generated_events")), "verdict.lost_events", verdict.get("lost_events"),
                     bool(lost)))
    error = (record.get("clock") or {}).get("error_us")
    if error is not None:
        made.append(tile("clock error between groups, at most", text(error * 1e-6, "s"), "clock.error_us", error))
    return made


def group_verdict(group):
    """(words, tone) of a group; what failed is bad, though it is not judged."""
    if group.status == "failed":
        return "FAILED", "bad"
    if not group.verdict and group.status not in STATES:
        return "NOT JUDGED", "none"
    return short_verdict(group)


def _row(group):
    words, tone = group_verdict(group)
    verdict, totals = group.verdict, group.totals
    first = verdict.get("first_overflow_second")
    return {"id": f"group-{group.number}", "name": group.name, "words": words, "tone": tone, "cells": [
        "-" if first is None else f"second {first}", number(totals.get("max_occupancy")),
        part(verdict.get("late_sets"), verdict.get("sets")),
        text(verdict.get("least_slack_s"), "s"), number(totals.get("lost_events")),
        text(group.entry.get("goodput_bits_per_second"), "b/s")]}


def _section(group, link):
    words, tone = group_verdict(group)
    entry = group.entry
    producers, consumers, error_us = (entry.get(name) for name in ("producers", "consumers", "clock_error_us"))
    failure = (entry.get("failure") or {}).get("what")
    facts = [(name, value) for name, value in (
        ("hosts", ", ".join(entry.get("hosts") or [])),
        ("layout", f"{producers} -> {consumers}" if producers and consumers else None), ("seed", entry.get("seed")),
        ("judged seconds", entry.get("seconds")), ("goodput", text(entry.get("goodput_bits_per_second"), "b/s")),
        ("worst occupancy", number(group.totals.get("max_occupancy"))),
        ("late sets", part(group.verdict.get("late_sets"), group.verdict.get("sets"))),
        ("least slack", text(group.verdict.get("least_slack_s"), "s")),
        ("lost events", number(group.totals.get("lost_events"))),
        ("clock error", text(error_us and error_us * 1e-6, "s"))) if value not in (None, "", "-")]
    return {"id": f"group-{group.number}", "name": group.name, "words": words, "tone": tone, "facts": facts,
            "said": _answer_of(group), "link": link, "directory": group.directory.name,
            "remarks": [remark for remark in (*group.problems, *(group.run.remarks if group.run else ())) if not failure
                        or failure not in remark]}


def _about_pages(grouped, links):
    """Which groups have a page, and how the others get one."""
    count = len(grouped.groups)
    if len(links) == count:
        return "Each group has a page of its own."
    have = "has a page of its own" if len(links) == 1 else "have a page of their own"
    most = (f"{counted(len(links), 'group')} of {count} {have}" if links
            else "None of the groups has a page of its own yet")
    return f"{most}. weir-report writes those of the worst {GROUP_PAGES}; with --group-pages all, those of all."
