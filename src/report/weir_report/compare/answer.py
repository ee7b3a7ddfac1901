"""The answer to "which of these settings is best, and why": plain data, made of groups of runs and of measured capacities.
terminal.py prints it, page.py draws it, --json has it. Nothing is read or printed here but rows of runs.

One figure decides, unless the user chose another: lost data and sustained first; then the capacity if it was measured,
else the margin at a fixed rate (late sets, slack, worst occupancy, carried rate) or, at full load, the goodput alone; then latency and fairness.
Counters explain and decide nothing."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..basics.errors import ReportError
from ..runs.key_figures import KEY_FIGURES, SCORED_FIGURES, KeyFigure, key_figures
from ..runs.plan_pressure import PlanPressure
from . import answer_headline, bad_runs, answer_next, answer_text, answer_why, capacity_ranking, ranking, statistics, victims
from .run_groups import Group

# The order in which figures decide at a fixed rate.
_CHAIN = ("sustained", "lost_events", "late_share", "longest_stay", "worst_occupancy", "goodput", "delivery_p99", "evenness")
# Where no run was sustained, queues grow for as long as a run lasts: what was carried shows more than how late it was.
_OVERLOADED = ("lost_events", "goodput", "late_share", "longest_stay", "worst_occupancy", "delivery_p99", "evenness")
# At full load there is always data to send: latencies and occupancies are those of full queues.
_FULL_LOAD = ("lost_events", "goodput")
# Values that do not stand for themselves.
_SWITCHED = ("on", "off", "yes", "no", "true", "false")


@dataclasses.dataclass(frozen=True)
class Value:
    """One figure of one setting: the median of its runs and the 95 % interval of that, in the figure's unit; of yes or no:
    the share, Wilson's interval, and how many runs."""

    figure: KeyFigure
    value: float | None
    low: float | None
    high: float | None
    runs: int
    yes: int | None = None
    text: str = "-"  # 85.8 Gb/s; 5 of 5 runs


@dataclasses.dataclass(frozen=True)
class Ranked:
    """One setting's place: from `rank` (1 is the best) to `last_rank`, which are the same where it is told apart from all
    others, for all that is certain. `shared`: they are not. `certain`: whether it is told apart from the
    next setting of the list, by `told_by`; None for the last one. `difference` to the next: this minus next, in
    told_by's unit (of the deciding figure, if they are not told apart)."""

    setting: str
    index: int  # of the group
    value: float | None
    low: float | None
    high: float | None
    runs: int
    rank: int
    last_rank: int
    shared: bool
    certain: bool | None
    told_by: KeyFigure | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    text: str
    details: tuple = ()  # a Value of each of Answer.columns
    judged: bool = True  # False: too few runs
    complete: int = 0  # runs, or rounds of a search
    failed: int = 0
    missing: int = 0
    doubt: object | None = None  # doubts.Doubt of this one and the next

    @property
    def place(self):
        """1, or 2-4; - if it is not judged"""
        if not self.judged:
            return "-"
        return f"{self.rank}-{self.last_rank}" if self.shared else str(self.rank)


@dataclasses.dataclass(frozen=True)
class Answer:
    """What terminal.py and the page show first. Everything is in the order of the ranking unless it has a name of a
    setting in it."""

    headline: str  # a few sentences, the first one has the answer
    winner: str | None  # certainly better than all others that are judged
    recommended: str | None  # the winner; without one, the only leader without a bad run, if that is not by chance
    decided_by: KeyFigure | None
    chosen: bool  # the user chose the deciding figure (--decide-by)
    columns: tuple  # figures by which neighbours of the ranking are told apart, decided_by first
    ranking: list  # of Ranked
    why: list  # of answer_why.Why, one per setting
    victims: list  # of victims.Victims, one per setting where that could be found out
    not_told: list  # sentences
    next: str  # one sentence
    names: tuple  # of the settings as shown, in the order of the groups
    measured: ranking.Ranking
    pressure: PlanPressure = PlanPressure()
    proofs: tuple = ()  # of proofs.Trial


def deciding_figures():
    """Names that --decide-by takes: everything that is scored."""
    return [figure.name for figure in KEY_FIGURES if figure.is_scored]


def make_answer(groups, settings, capacity=None, pressure=PlanPressure(), doubts=None, pairs=None, prover=None):
    """`groups`: usable runs, two settings or more. `settings`: figure_results.Settings; its decide_by names the figure that
    decides. `capacity`: a capacity.Capacity, which then decides; the groups are those of its settings, by name, and one is
    enough. `pressure`: whether settings of the switch can act in these runs at all. `doubts`: see ranking.Runs. `pairs`: the
    PairsOfGroups, None to use none. `prover`: a proofs.Prover, which simulates."""
    if capacity is not None:
        return _of_capacity(groups, settings, capacity, pressure)
    values = values_of(groups)
    runs = ranking.Runs(values, tuple(len(group.failed) for group in groups), doubts or {},
                        *((pairs.times_of, pairs.few_times_of) if pairs else ()))
    ranked = ranking.rank(_chain(groups, values, settings.decide_by), runs, settings, SCORED_FIGURES)
    values = runs.with_failures().values
    columns = _columns(ranked)
    details = [tuple(value_of(figure, values[figure.name][index]) for figure in columns) for index in range(len(groups))]
    return _made(groups, short_names([group.name for group in groups]), ranked, columns, details, values, settings, pressure,
                 prover=prover)


def values_of(groups):
    """{name of every key figure: [values of each group's runs]}"""
    values = {figure.name: [] for figure in KEY_FIGURES}
    for group in groups:
        of_runs = [key_figures(run) for run in group.runs]
        for name, of_figure in values.items():
            of_figure.append([figures[name] for figures in of_runs])
    return values


def _of_capacity(groups, settings, capacity, pressure):
    if settings.decide_by not in (None, "capacity"):
        raise ReportError(f"--decide-by: '{settings.decide_by}' is not what was searched for; a measured capacity decides")
    by_name = {group.name: group for group in groups}
    groups = [by_name.get(setting.name, Group(setting.name, [])) for setting in capacity.settings]
    ranked = capacity_ranking.rank(capacity, settings)
    figures = ranked.decided_by, capacity_ranking.every_run_of(capacity)
    limits = capacity_ranking.limits(capacity)
    details = [tuple(_limit_values(figures, limit)) for limit in limits]
    names = short_names([setting.name for setting in capacity.settings])
    beyond = [capacity_ranking.runs_beyond(setting, group) for setting, group in zip(capacity.settings, groups)]
    values = {figure.name: [[of_setting[place].value] for of_setting in details] for place, figure in enumerate(figures)}
    return _made(beyond, names, ranked, figures, details, values, settings, pressure, capacity, limits)


def _limit_values(figures, limit):
    """What half of the runs hold, with its interval, and what every run held."""
    half, every = figures
    if limit is None:
        return [Value(figure, None, None, None, 0) for figure in figures]
    text = answer_text.amount(half, limit.value)
    low, high = (end if np.isfinite(end) and limit.is_answer else None for end in (limit.low, limit.high))
    return [Value(half, limit.value, low, high, limit.rounds, None, f"{limit.bound} {text}" if limit.bound else text),
            Value(every, limit.every_run, None, None, limit.rounds, None, answer_text.amount(every, limit.every_run))]


def _made(groups, names, ranked, columns, details, values, settings, pressure, capacity=None, limits=(), prover=None):
    rows = _ranked(ranked, details, names, groups, capacity is not None)
    at = "in the runs next to the limit" if capacity else None
    why = [answer_why.why(groups[row.index], names[row.index], at) for row in rows]
    there = [row.index for row in rows if groups[row.index].runs]
    suffering = victims.find_victims([groups[index] for index in there], [names[index] for index in there])
    found = answer_text.Findings(groups, names, ranked, rows, values, settings, why, capacity, tuple(limits), pressure, prover)
    headline = answer_headline.headline(found, suffering)
    winner = None if ranked.winner is None or pressure.cannot_differ else names[ranked.winner]
    return Answer(
        headline=headline,
        winner=winner,
        recommended=_recommended(found, winner),
        decided_by=ranked.decided_by,
        chosen=settings.decide_by is not None,
        columns=columns,
        ranking=rows,
        why=why,
        victims=suffering,
        not_told=answer_next.not_told(found),
        next=answer_next.next_step(found),
        names=names,
        measured=ranked,
        pressure=pressure,
        proofs=tuple(prover.made) if prover else ())


def _recommended(found, winner):
    """As next_step says."""
    if winner is not None:
        limit = found.limits[found.ranked.winner] if found.capacity else None
        return winner if limit is None or limit.every_run is not None else None
    advice = bad_runs.advice(found) if answer_next.is_about_bad_runs(found) else None
    return None if advice is None or advice[0] is None else found.names[advice[0]]


def _chain(groups, values, decide_by):
    figures = {figure.name: figure for figure in KEY_FIGURES}
    if decide_by is not None:
        if decide_by not in deciding_figures():
            raise ReportError(f"--decide-by: '{decide_by}' is not one of {', '.join(deciding_figures())}")
        return [figures[decide_by]]
    if answer_text.full_load(groups):
        return [figures[name] for name in _FULL_LOAD]
    outcomes = [value for side in values["sustained"] for value in side]
    overloaded = bool(outcomes) and all(value == 0.0 for value in outcomes)
    return [figures[name] for name in (_OVERLOADED if overloaded else _CHAIN)]


def short_names(names):
    """'setting=pfc' is pfc, if all names have one label, and the same, and the values are words that stand for themselves."""
    parts = [name.split("=") for name in names]
    alike = len({part[0] for part in parts}) == 1 and all(
        len(part) == 2 and part[1][:1].isalpha() and part[1] not in _SWITCHED for part in parts)
    if alike:
        return tuple(part[1] for part in parts)
    return tuple({"the baseline": "baseline", "the new runs": "new"}.get(name, name) for name in names)


def _columns(ranked):
    """Beside yes or no there is a number, the first of the chain."""
    figures = [ranked.decided_by] if ranked.decided_by else []
    if figures and figures[0].kind == "share":
        numbers = [figure for figure in ranked.chain if figure.kind != "share"]
        figures += [figure for figure in numbers if figure.name == "longest_stay"] or numbers[:1]
    if ranked.objected:
        figures += [figure for figure in ranked.chain if figure.name == "sustained" and figure not in figures]
    for one, other in zip(ranked.order, ranked.order[1:]):
        pair = ranked.told[one][other]
        if pair is not None and pair.figure not in figures:
            figures.append(pair.figure)
    return tuple(figures)


def _ranked(ranked, details, names, groups, searched):
    rows = []
    for place, index in enumerate(ranked.order):
        following = ranked.order[place + 1] if place + 1 < len(ranked.order) else None
        if following is not None and not ranked.judged[following]:
            following = None
        pair = ranked.told[index][following] if following is not None else None
        apart = pair is not None and pair.better == index
        if following is not None and not apart and ranked.decided_by:
            pair = ranked.of_figure(ranked.decided_by, index, following)
        first = details[index][0] if details[index] else value_of(None, [])
        rows.append(Ranked(names[index], index, first.value, first.low, first.high, first.runs, ranked.ranks[index], ranked.last_ranks[index],
                           ranked.ranks[index] != ranked.last_ranks[index], None if following is None else apart,
                           pair.figure if apart else None, *_difference(pair, index), first.text, details[index],
                           ranked.judged[index], first.runs if searched else len(groups[index].runs), len(groups[index].failed),
                           sum(groups[index].missing.values()),
                           None if following is None else ranked.doubt(index, following)))
    return rows


def _difference(pair, first):
    """(difference, low, high) of the Pair of two settings: `first` minus the other."""
    if pair is None or pair.result.difference is None:
        return None, None, None
    result = pair.result if pair.first == first else pair.result.opposite()
    return result.difference, result.low, result.high


def value_of(figure, of_runs):
    """Value of the runs of one setting."""
    known = [float(value) for value in of_runs if value is not None]
    if figure is None or not known:
        return Value(figure, None, None, None, 0)
    if figure.kind == "share":
        yes = int(sum(known))
        low, high = statistics.interval_of_share(yes, len(known))
        return Value(figure, yes / len(known), low, high, len(known), yes, f"{yes} of {len(known)} runs")
    middle = float(np.median(known))
    low, high = (None, None) if len(known) < statistics.FEWEST_RUNS else statistics.interval_of_values(known)
    if low is not None and min(known) >= 0.0:
        low = max(low, 0.0)
    if high is not None and figure.unit in ("%",) or figure.name == "evenness":
        high = None if high is None else min(high, 1.0)
    return Value(figure, middle, low, high, len(known), None, answer_text.amount(figure, middle))
