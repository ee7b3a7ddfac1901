"""A comparison as one self-contained page: the answer first, then the evidence for it. Its charts are HTML and SVG
(figures/svg_figures.py), so it needs no script."""

from pathlib import Path

from weir_runs.basics import units, whole_file
from weir_runs.figures import page_parts
from weir_runs.reading.key_figures import KEY_FIGURES
from . import (answer_charts, axis_curves, capacity_ranking, comparison_text, network_mechanisms,
               run_charts, what_was_run)
from .answer import value_of
from .run_groups import are_network_settings

# Drawn against axes of numbers beside what decides.
_OF_CURVES = ("delivery_p99", "slowest_consumer_mean", "worst_occupancy")
CURVES_MAX = 3
# With more groups the table of what differs in their simulated networks lies behind a fold.
FEW_GROUPS = 4


def write_page(report, path, footer):
    whole_file.replace(path, page_text(report, footer))


def page_text(report, footer, template="compare.html.j2", settings=None, sweep=None, **more):
    """The page. `template` may extend compare.html.j2, and gets `more`. `settings`: of each group {axis: value as
    text}; an axis of numbers is drawn as one. `sweep`: name and file of the campaign, for the facts on top."""
    answer, shown = report.answer, run_charts.shown_runs(report)
    side_by_side = run_charts.side_by_side(shown.groups, shown.chosen, shown.colours)
    ranking = answer_charts.ranking_chart(answer, shown.every, report.capacity)
    title = more.pop("title", None) or _title(report)
    return page_parts.render(
        Path(__file__).parent / "templates" / template,
        **more,
        title=title,
        kicker=_kicker(report),
        what_was_run=what_was_run.facts(report.groups, sweep),
        command=what_was_run.command(report.groups),
        answer=answer,
        numbers=answer_charts.big_numbers(answer, report.groups, report.capacity),
        ranking=ranking,
        leaders=ranking.leaders(),
        ranked_by=", then ".join(figure.head + (" runs" if figure.kind == "share" else "")
                                 for figure in answer.columns),
        searched=report.capacity is not None,
        ranking_key=_ranking_key(report),
        mechanism_words=_mechanism_words(report),
        FEW_GROUPS=FEW_GROUPS,
        curves=_curves(answer, shown, _settings(report, settings)),
        mechanisms=answer_charts.mechanism_charts(answer, _explaining(report, shown.every)),
        not_counted=answer_charts.not_counted(answer),
        remarks=report.remarks,
        pairing=comparison_text.pairing_lines(report, hints=False) if report.comparisons else [],
        alike=comparison_text.alike_lines(report) if report.comparisons else [],
        groups=[{"name": group.name, "runs": [str(run.directory) for run in group.runs]} for group in report.groups],
        plan_differences=report.plan_differences,
        only_settings=are_network_settings(report.plan_differences),
        tables=[{"name": comparison.new.name, "network": _network(report, comparison),
                 "rows": [_row(result) for result in comparison.scored],
                 "explaining": [_row(result) for result in comparison.explaining],
                 "silent": comparison_text.silent(comparison)} for comparison in report.comparisons],
        relevant=units.exact_percent(report.settings.relevant),
        side_by_side=side_by_side,
        how_typical=shown.how,
        dashed=", ".join(dict.fromkeys(line.name for row in side_by_side for plot in row.plots for line in plot.lines
                                       if line.is_rule)),
        every_run=run_charts.every_run(KEY_FIGURES, shown.groups, shown.figures, shown.colours),
        footer=footer)


def _title(report):
    names = [group.name for group in report.groups]
    if len(names) < 2:  # of a search whose runs are not there
        names = list(report.answer.names)
    title = f"{' and '.join(names[1:])} against {names[0]}" if len(names) > 1 else names[0]
    return title[:1].upper() + title[1:] if title.startswith("the ") else title


def _explaining(report, every):
    """The groups with the runs of which the counters are shown: those of the answer's `why`."""
    if not report.capacity:
        return every
    return [capacity_ranking.runs_beyond(setting, group) for setting, group in zip(report.capacity.settings, every)]


def _mechanism_words(report):
    """[(setting, mechanism)], or a sentence if no setting differs in that."""
    if not network_mechanisms.is_shown(report.groups):
        return ""
    known = [(why.setting, why.mechanism + (f" ({why.at})" if why.at else "")) for why in report.answer.why]
    if all(words.startswith(network_mechanisms.UNKNOWN) and "," not in words for _, words in known):
        return "What slowed the network down is not known in any run."
    return known


def _settings(report, given):
    """{axis: value} of each setting, in the order of the answer's names. --by KEY makes KEY an axis."""
    if report.capacity:
        return [setting.values for setting in report.capacity.settings]
    if given is None and report.by:
        return [{report.by: group.name.removeprefix(f"{report.by}=")} for group in report.groups]
    return given or []


def _curves(answer, shown, settings):
    """What decides, and how long and how full it got, against every axis of numbers."""
    rows = sorted(zip(answer.ranking, shown.figures), key=lambda pair: pair[0].index)
    numbers = [figure for figure in answer.columns if figure.kind == "number"]
    others = [figure for figure in KEY_FIGURES if figure.name in _OF_CURVES and figure not in numbers]
    made = []
    for figure in numbers + others:
        values = [ranked.details[answer.columns.index(figure)] if figure in answer.columns else
                  value_of(figure, [of_run.get(figure.name) for of_run in figures]) for ranked, figures in rows]
        if len({value.value for value in values}) > 1:
            made.append((figure.head, figure.unit,
                         [(value.value, value.low, value.high) for value in values]))
    return axis_curves.curves(settings, made[:CURVES_MAX])


def _kicker(report):
    """3 settings, 5 runs each, simulated"""
    capacity = report.capacity
    if capacity:
        runs = sum(len(search.runs) for setting in capacity.settings for search in setting.searches)
        world = {"slurm": "measured", "local": "measured on one machine", "simulation": "simulated"}[capacity.world]
        return (f"{units.counted(len(capacity.settings), 'setting')}, the limit of each searched with "
                f"{units.counted(runs, 'run')} in all, {world}")
    numbers = [len(group.runs) for group in report.groups]
    runs = (units.counted(numbers[0], "run") if len(set(numbers)) == 1 else f"{min(numbers)} to {max(numbers)} runs")
    worlds = {run.world for group in report.groups for run in group.runs}
    world = {"simulation": ", simulated", "measurement": ", measured"}[worlds.pop()] if len(worlds) == 1 else ""
    return f"{units.counted(len(numbers), 'setting')}, {runs} each{world}"


def _ranking_key(report):
    """How the chart of the ranking reads."""
    answer = report.answer
    key = "Bar: the median, with its 95 % interval; a dot per run."
    if report.capacity:
        criterion = {"sustained": "was sustained", "on-time": "was on time",
                     "lossless": "lost nothing"}[report.capacity.criterion]
        key = (f"Bar: the median limit, with its 95 % interval. A dot: a run that {criterion}; a cross: "
               "another one. Runs far from all limits are left out.")
    elif answer.decided_by and answer.decided_by.kind == "share":
        key = (f"Bar: the median, with its 95 % interval; a dot per run that was {answer.decided_by.title}, a cross "
               "per run that was not.")
    return f"{key} {units.capital('; '.join(answer.meanings))}." if answer.meanings else key


def _row(result):
    return {"title": result.figure.title,
            "baseline": comparison_text.value_of(result, result.baseline),
            "new": comparison_text.value_of(result, result.new),
            "difference": comparison_text.change(result, result.difference),
            "interval": comparison_text.interval(result),
            "threshold": comparison_text.least(result, result.threshold),
            "detectable": comparison_text.least(result, result.detectable),
            "call": comparison_text.judgement(result),
            "tone": {"better": "good-text", "worse": "bad-text"}.get(result.call, "")}


def _network(report, comparison):
    """The mechanisms of both sides; None for simulations alone."""
    if not network_mechanisms.is_shown(report.groups):
        return None
    sides = comparison.baseline, comparison.new
    return {"baseline": network_mechanisms.text(sides[0]), "new": network_mechanisms.text(sides[1]),
            "call": {True: "differs", False: "", None: "not known"}[network_mechanisms.differs(*sides)]}
