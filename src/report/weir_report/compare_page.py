"""A comparison as one self-contained page: the answer first, then the evidence for it. Its charts are HTML and SVG
(svg_figures.py), so it needs no script."""

import re

from . import answer_charts, compare_text, network_mechanisms, page_parts, run_charts, units
from .errors import naming
from .key_figures import KEY_FIGURES, key_figures
from .run_groups import Group, are_network_settings

# Typical runs are chosen by this where yes or no decides.
_FALLBACK = next(figure for figure in KEY_FIGURES if figure.name == "worst_occupancy")


def write_page(report, path, footer):
    content = page_text(report, footer)
    with naming(path):
        path.write_text(content, encoding="utf-8")


def page_text(report, footer, template="compare.html.j2", **more):
    """The page. `template` may extend compare.html.j2, and gets `more`."""
    answer = report.answer
    order = [row.index for row in answer.ranking]
    shown = [Group(answer.names[index], report.groups[index].runs) for index in order]
    values = [[key_figures(run) for run in group.runs] for group in shown]
    colours = [run_charts.colour(index) for index in order]
    by = answer.decided_by if answer.decided_by and answer.decided_by.kind == "number" else _FALLBACK
    chosen = [run_charts.typical([of_run[by.name] for of_run in side]) for side in values]
    side_by_side = run_charts.side_by_side(shown, chosen, colours)
    title = more.pop("title", None) or _title(report)
    return page_parts.render(
        template,
        **more,
        title=title,
        kicker=_kicker(report),
        answer=answer,
        headline=re.split(r"(?<=[.]) +(?=[A-Z])", answer.headline, maxsplit=1),
        ranking=answer_charts.ranking_chart(answer, report.groups),
        ranking_key=_ranking_key(answer),
        has_mechanisms=network_mechanisms.is_shown(report.groups),
        mechanisms=answer_charts.mechanism_charts(answer, report.groups),
        not_counted=answer_charts.not_counted(answer),
        remarks=report.remarks,
        pairing=compare_text.pairing_lines(report, hints=False),
        alike=compare_text.alike_lines(report),
        groups=[{"name": group.name, "short": name, "runs": [str(run.directory) for run in group.runs], "colour": run_charts.colour(index)}
                for index, (name, group) in enumerate(zip(answer.names, report.groups))],
        plan_differences=report.plan_differences,
        only_settings=are_network_settings(report.plan_differences),
        tables=[{"name": comparison.new.name, "network": _network(report, comparison),
                 "rows": [_row(result) for result in comparison.scored],
                 "explaining": [_row(result) for result in comparison.explaining],
                 "silent": compare_text.silent(comparison)} for comparison in report.comparisons],
        relevant=f"{100.0 * report.settings.relevant:g} %",
        side_by_side=side_by_side,
        typical_by=by.title,
        dashed=", ".join(dict.fromkeys(name for row in side_by_side for _, name in row.limits)),
        every_run=run_charts.every_run(KEY_FIGURES, shown, values, colours),
        footer=footer)


def _title(report):
    title = f"{' and '.join(group.name for group in report.groups[1:])} against {report.groups[0].name}"
    return title[:1].upper() + title[1:] if title.startswith("the ") else title


def _kicker(report):
    """3 settings, 5 runs each, simulated"""
    numbers = [len(group.runs) for group in report.groups]
    runs = f"{units.counted(numbers[0], 'run')} each" if len(set(numbers)) == 1 else f"{min(numbers)} to {max(numbers)} runs each"
    worlds = {run.world for group in report.groups for run in group.runs}
    world = {"simulation": ", simulated", "measurement": ", measured"}[worlds.pop()] if len(worlds) == 1 else ""
    return f"{units.counted(len(numbers), 'setting')}, {runs}{world}"


def _ranking_key(answer):
    """How the chart of the ranking reads."""
    interval = "Bar: the median, with its 95 % interval; a dot per run."
    if answer.decided_by and answer.decided_by.kind == "share":
        interval = f"A dot per run that was {answer.decided_by.title}, a cross per run that was not."
    shared = " = shares its rank: not told apart from one before it." if any(row.shared for row in answer.ranking) else ""
    return interval + shared


def _row(result):
    return {
        "title": result.figure.title,
        "baseline": compare_text.value_of(result, result.baseline),
        "new": compare_text.value_of(result, result.new),
        "difference": compare_text.change(result, result.difference),
        "interval": compare_text.interval(result),
        "threshold": compare_text.least(result, result.threshold),
        "detectable": compare_text.least(result, result.detectable),
        "call": compare_text.judgement(result),
        "tone": {
            "better": "good-text",
            "worse": "bad-text"
        }.get(result.call, "")
    }


def _network(report, comparison):
    """The mechanisms of both sides; None for simulations alone."""
    if not network_mechanisms.is_shown(report.groups):
        return None
    sides = comparison.baseline, comparison.new
    return {
        "baseline": network_mechanisms.text(sides[0]),
        "new": network_mechanisms.text(sides[1]),
        "call": {True: "differs", False: "", None: "not known"}[network_mechanisms.differs(*sides)]
    }
