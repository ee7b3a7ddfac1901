"""A comparison as one self-contained page: the table, a dot per run for every key figure, and the runs' seconds laid over
each other. Interactive where plotly is installed; the still pictures are always there."""

import numpy as np

from . import compare_text, matplotlib_figures, network_mechanisms, page_parts, series, units
from .charts import BLUE, GREEN, ORANGE, PURPLE, VERMILION, DotChart, DotColumn, DotPanel, Line, Panel, TimeChart
from .errors import naming
from .key_figures import KEY_FIGURES
from .run_groups import are_network_settings

# The baseline is blue; of many new groups, colours repeat after the fourth.
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE)
# Longer runs are drawn with fewer points: the worst of each group of seconds.
POINTS_MAX = 600
# Axes of dots cover at least this share of the largest value, so that the spread of equal runs does not look large.
LEAST_SPAN = 0.1


def write_page(report, path, footer):
    content = page_text(report, footer)
    with naming(path):
        path.write_text(content, encoding="utf-8")


def page_text(report, footer, template="compare.html.j2", **more):
    """The page. `template` may extend compare.html.j2, and gets `more`."""
    charts = {chart.name: chart for chart in (_dots(report), _seconds(report)) if chart}
    title = more.pop("title", None) or _title(report)
    return page_parts.render(
        template, charts,
        **more,
        title=title,
        conclusion=compare_text.conclusion(report),
        conclusions=[(comparison.new.name, compare_text.conclude(comparison)) for comparison in report.comparisons],
        tone=_tone(report),
        short=_short(report),
        remarks=report.remarks,
        pairing=compare_text.pairing_lines(report, hints=False),
        alike=compare_text.alike_lines(report),
        groups=[{"name": group.name, "runs": [str(run.directory) for run in group.runs], "colour": _colour(index)}
                for index, group in enumerate(report.groups)],
        plan_differences=report.plan_differences,
        only_settings=are_network_settings(report.plan_differences),
        tables=[{"name": comparison.new.name, "network": _network(report, comparison),
                 "rows": [_row(result) for result in comparison.scored],
                 "explaining": [_row(result) for result in comparison.explaining],
                 "silent": compare_text.silent(comparison)} for comparison in report.comparisons],
        relevant=f"{100.0 * report.settings.relevant:g} %",
        charts=[page_parts.shown(name, chart, matplotlib_figures.rendered(chart, ["png"])["png"])
                for name, chart in charts.items()],
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


def _colour(index):
    return COLOURS[index if index < len(COLOURS) else 1 + (index - 1) % (len(COLOURS) - 1)]


def _colour_names(report):
    names = {BLUE: "blue", VERMILION: "red", GREEN: "green", PURPLE: "pink", ORANGE: "orange"}
    return ", ".join(f"{names[_colour(index)]} {group.name}" for index, group in enumerate(report.groups))


def _dots(report):
    """Columns of dots, one per group, for every key figure."""
    panels = []
    for figure in KEY_FIGURES:
        results = [next((result for result in comparison.results + comparison.alike if result.figure == figure), None)
                   for comparison in report.comparisons]
        first = next((result for result in results if result), None)
        if first is None or not any(result in comparison.scored + comparison.explaining
                                    for comparison, result in zip(report.comparisons, results)):
            continue
        sides = [first.baseline] + [result.new if result else None for result in results]
        largest = max((abs(value) for side in sides if side for value in side.values), default=0.0)
        if not largest:
            continue  # dots at 0 show nothing that the table does not
        percent = first.figure.unit == "%"
        factor, unit = (0.01, "%") if percent else units.scale(first.figure.unit, largest)
        columns = [DotColumn(group.name, _colour(index), [value / factor for value in side.values] if side else [],
                             [run.directory.name for run in group.runs])
                   for index, (group, side) in enumerate(zip(_in_order(report), sides))]
        counted = not percent and first.figure.unit in compare_text.COUNTED
        panels.append(DotPanel(first.figure.title, "" if unit == "1" else unit, columns, _is_paired(report),
                               max(LEAST_SPAN * largest / factor, 2.0 if counted else 0.0)))
    if not panels:
        return None
    pairs = " Grey lines join pairs." if any(comparison.pairing for comparison in report.comparisons) else ""
    return DotChart("dots", "Every run", panels,
                    f"One dot per run, a bar at the median: {_colour_names(report)}.{pairs} Axes need not begin at 0.")


def _is_paired(report):
    return len(report.comparisons) == 1 and report.comparisons[0].pairing is not None


def _in_order(report):
    """Groups with their runs in the order of the values."""
    return [report.comparisons[0].baseline] + [comparison.new for comparison in report.comparisons]


SERIES = (
    ("Fullest producer of each second, occupancy", "1", "producer", "max"),
    ("Slowest consumer of each second", "b/s", "consumer", "min"),
    ("Blocked consumers, share of their time", "%", "consumer", "mean"),
)


def _seconds(report):
    """A line per run over its seconds."""
    panels, measured = [], []
    for title, unit, role, how in SERIES:
        lines = []
        for index, group in enumerate(report.groups):
            for run in group.runs:
                values = _per_second(run, role, unit, how)
                if values is not None:
                    x, y = _thinned(run.rows(role), values, how)
                    lines.append(Line(f"{group.name}: {run.directory.name}", x, y, "mean", colour=_colour(index)))
                    measured.append(series.measured_seconds(run))
        if not lines:
            continue
        factor, unit_name = (0.01, "%") if unit == "%" else units.scale(unit, max(np.nanmax(line.y) for line in lines))
        for line in lines:
            line.y = line.y / factor
        panels.append(Panel(title, "" if unit_name == "1" else unit_name, lines=lines,
                            least_top={"1": 1.05, "%": 5.0}.get(unit, 0.0)))
    if not panels:
        return None
    known = [ends for ends in measured if ends]
    return TimeChart("seconds", "Second by second", panels,
                     (min(first for first, _ in known), max(last for _, last in known)) if known else None,
                     "One line per run: " + _colour_names(report) + ". Pale: warm-up and drain.")


def _per_second(run, role, unit, how):
    rows = run.rows(role)
    if unit == "b/s":
        values = series.rates(run, role)
    elif role == "producer":
        values = series.column(run, role, "occupancy_peak")
    else:
        values = rows.column("blocked_s") / rows.column("covered_s") if "blocked_s" in rows else None
    if values is None or not np.isfinite(values).any():
        return None
    # Seconds that no rank has stay empty, without numpy's warning about them.
    there = np.isfinite(values).any(axis=0)
    reduced = np.full(values.shape[1], np.nan)
    reduced[there] = {"min": np.nanmin, "max": np.nanmax, "mean": np.nanmean}[how](values[:, there], axis=0)
    return reduced


def _thinned(rows, values, how):
    starts = np.arange(0, len(values), -(-len(values) // POINTS_MAX))
    reduce = {"min": np.fmin, "max": np.fmax, "mean": np.fmax}[how]
    return rows.seconds[starts], reduce.reduceat(values, starts)
