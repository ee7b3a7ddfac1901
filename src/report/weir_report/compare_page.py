"""A comparison as one self-contained page: the answer first, then the evidence for it. Its charts are HTML and SVG
(svg_figures.py), so it needs no script."""

from . import compare_text, network_mechanisms, page_parts, run_charts
from .errors import naming
from .key_figures import KEY_FIGURES, key_figures
from .run_groups import are_network_settings


def write_page(report, path, footer):
    content = page_text(report, footer)
    with naming(path):
        path.write_text(content, encoding="utf-8")


def page_text(report, footer, template="compare.html.j2", **more):
    """The page. `template` may extend compare.html.j2, and gets `more`."""
    values = [[key_figures(run) for run in group.runs] for group in report.groups]
    chosen = [run_charts.typical([of_run["worst_occupancy"] for of_run in side]) for side in values]
    side_by_side = run_charts.side_by_side(report.groups, chosen)
    title = more.pop("title", None) or _title(report)
    return page_parts.render(
        template,
        **more,
        title=title,
        conclusion=compare_text.conclusion(report),
        conclusions=[(comparison.new.name, compare_text.conclude(comparison)) for comparison in report.comparisons],
        tone=_tone(report),
        short=_short(report),
        remarks=report.remarks,
        pairing=compare_text.pairing_lines(report, hints=False),
        alike=compare_text.alike_lines(report),
        groups=[{"name": group.name, "runs": [str(run.directory) for run in group.runs], "colour": run_charts.colour(index)}
                for index, group in enumerate(report.groups)],
        plan_differences=report.plan_differences,
        only_settings=are_network_settings(report.plan_differences),
        tables=[{"name": comparison.new.name, "network": _network(report, comparison),
                 "rows": [_row(result) for result in comparison.scored],
                 "explaining": [_row(result) for result in comparison.explaining],
                 "silent": compare_text.silent(comparison)} for comparison in report.comparisons],
        relevant=f"{100.0 * report.settings.relevant:g} %",
        side_by_side=side_by_side,
        typical_by="worst occupancy",
        dashed=", ".join(dict.fromkeys(name for row in side_by_side for _, name in row.limits)),
        every_run=run_charts.every_run(KEY_FIGURES, report.groups, values),
        footer=footer)


def _title(report):
    title = f"{' and '.join(group.name for group in report.groups[1:])} against {report.groups[0].name}"
    return title[:1].upper() + title[1:] if title.startswith("the ") else title


def _tone(report):
    return "bad" if report.calls("worse") else "good" if report.calls("better") else "none"


def _short(report):
    if all(comparison.too_few for comparison in report.comparisons):
        return "Not judged"
    if report.calls("worse") and report.calls("better"):
        return "Worse in some key figures, better in others"
    return {"bad": "Worse", "good": "Better", "none": "Nothing was found to be worse or better"}[_tone(report)]


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
