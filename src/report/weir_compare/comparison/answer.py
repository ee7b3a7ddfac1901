"""The answer to "which of these settings is best, and why": plain data, made of groups of runs and of measured
capacities. answer_lines.py prints it, comparison_page.py draws it, --json has it. Nothing is read or printed here but
rows of runs.

One figure decides, unless the user chose another: lost data and sustained first; then the capacity if it was measured,
else the margin at a fixed rate (late sets, slack, worst occupancy, carried rate) or, at full load, the goodput alone;
then latency and fairness. Counters explain and decide nothing."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from weir_runs.basics.errors import ReportError
from weir_runs.basics.short_answer import ShortAnswer
from weir_runs.reading.key_figures import KEY_FIGURES, KeyFigure, SCORED_FIGURES, key_figures
from . import answer_next, answer_verdict, answer_why, capacity_ranking, ranking, statistics, victims
from .idle_settings import IdleSettings
from .run_groups import Group

# The order in which figures decide at a fixed rate.
_CHAIN = ("sustained", "lost_events", "late_share", "longest_stay", "worst_occupancy", "goodput", "delivery_p99",
          "evenness")
# Where no run was sustained, queues grow for as long as a run lasts: what was carried shows more than how late it was.
_OVERLOADED = ("lost_events", "goodput", "late_share", "longest_stay", "worst_occupancy", "delivery_p99", "evenness")
# At full load there is always data to send: latencies and occupancies are those of full queues.
_FULL_LOAD = ("lost_events", "goodput")
# Values that do not stand for themselves.
_SWITCHED = ("on", "off", "yes", "no", "true", "false")


@dataclasses.dataclass(frozen=True)
class Value:
    """One figure of one setting: the median of its runs and the 95 % interval of that, in the figure's unit; of yes or
    no: the share, Wilson's interval, and how many runs."""

    figure: KeyFigure | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 0
    yes: int | None = None
    text: str = "-"  # 85.8 Gb/s; 5 of 5 runs


@dataclasses.dataclass(frozen=True)
class Ranked:
    """One setting's place: from `rank` (1 is the best) to `last_rank`, which are the same where it certainly differs
    from all others. `certain`: whether it certainly differs from the next setting of the list, by
    `told_by`; None for the last one. `difference` to the next, with its interval: this minus next, in told_by's unit
    (of the deciding figure, if that is not certain)."""

    setting: str
    index: int  # of the group
    rank: int
    last_rank: int
    certain: bool | None
    told_by: KeyFigure | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    details: tuple  # a Value of each of Answer.columns
    judged: bool  # False: too few runs
    complete: int  # runs, or rounds of a search
    failed: int
    missing: int
    doubt: object | None  # doubts.Doubt of this one and the next

    @property
    def first(self):
        """The Value of the figure that decides."""
        return self.details[0] if self.details else Value(None)

    @property
    def shared(self):
        return self.rank != self.last_rank

    @property
    def place(self):
        """1; 2 (tied); - if it is not judged"""
        return f"{self.rank}{' (tied)' if self.shared else ''}" if self.judged else "-"


@dataclasses.dataclass(frozen=True)
class Findings:
    """What the sentences of an answer are made of."""

    groups: list
    names: tuple
    ranked: ranking.Ranking
    columns: tuple  # figures by which neighbours of the ranking are told apart, the one that decides first
    details: list  # of each setting a Value for each column
    values: dict
    settings: object  # figure_results.Settings
    pressure: IdleSettings = IdleSettings()
    capacity: object | None = None  # capacity.Capacity, if that decides
    limits: tuple = ()  # capacity_estimates.Limit of each setting, or None; with a capacity
    prover: object | None = None  # proofs.Prover; None: nothing is simulated

    @functools.cached_property
    def rows(self):
        """[Ranked]"""
        return [self._row(index, following) for index, following in zip(self.ranked.order,
                                                                        [*self.ranked.order[1:], None])]

    def _row(self, index, following):
        ranked, group = self.ranked, self.groups[index]
        if following is not None and not ranked.judged[following]:
            following = None
        pair = ranked.told[index][following] if following is not None else None
        apart = pair is not None and pair.better == index
        if following is not None and not apart and ranked.decided_by:
            pair = ranked.of_figure(ranked.decided_by, index, following)
        difference, low, high = _difference(pair, index)
        details = self.details[index]
        return Ranked(
            setting=self.names[index], index=index, rank=ranked.ranks[index], last_rank=ranked.last_ranks[index],
            certain=None if following is None else apart, told_by=pair.figure if apart else None,
            difference=difference, difference_low=low, difference_high=high, details=details,
            judged=ranked.judged[index],
            complete=(details[0].runs if details else 0) if self.capacity else len(group.runs),
            failed=len(group.failed), missing=sum(group.missing.values()),
            doubt=None if following is None else ranked.doubt(index, following))

    @functools.cached_property
    def why(self):
        """[answer_why.Why] in the order of the rows."""
        at = "in the runs next to the limit" if self.capacity else None
        return [answer_why.why(self.groups[row.index], row.setting, at) for row in self.rows]

    def why_of(self, row):
        return next(why for why in self.why if why.setting == row.setting)

    def limit(self, row):
        return self.limits[row.index]

    def pair(self, one, other, figure=None):
        """The Pair of two rows by a figure, or by the one that decides; None: there is none."""
        figure = figure or self.ranked.decided_by
        return figure and self.ranked.of_figure(figure, one.index, other.index)

    @property
    def few(self):
        """Names of settings with fewer repetitions than are judged."""
        return [name for name, judged in zip(self.names, self.ranked.judged) if not judged]

    @property
    def is_judged(self):
        """Whether two settings or more have enough repetitions."""
        return sum(self.ranked.judged) > 1

    @property
    def full_load(self):
        return _is_full_load(self.groups)

    @property
    def leaders(self):
        """Rows that no other setting is better than; where each is worse than some other one, those that the fewest are
        better than."""
        judged = [row for row in self.rows if row.judged]
        return [row for row in judged if row.rank == min(row.rank for row in judged)]

    @property
    def doubt_of_leaders(self):
        """The first Doubt of two leaders that follow each other, or None."""
        pairs = zip(self.leaders, self.leaders[1:])
        return next((doubt for one, other in pairs if (doubt := self.ranked.doubt(one.index, other.index))), None)

    @property
    def numbers(self):
        """Figures that could decide and are no yes or no, the one that does first."""
        return [figure for figure in (self.ranked.decided_by, *self.ranked.chain) if figure and figure.kind != "share"]


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the terminal and the page show first. Everything is in the order of the ranking unless it has a name of a
    setting in it."""

    short: ShortAnswer
    evidence: tuple  # sentences: what the short answer rests on, and what is odd
    winner: str | None  # certainly better than all others that are judged
    recommended: str | None  # the winner; without one, the only leader without a bad run, if that is not by chance
    decided_by: KeyFigure | None
    chosen: bool  # the user chose the deciding figure (--decide-by)
    columns: tuple  # as of Findings
    ranking: list  # of Ranked
    why: list  # of answer_why.Why, one per setting
    victims: list  # of victims.Victims, one per setting where that could be found out
    not_told: list  # sentences
    names: tuple  # of the settings as shown, in the order of the groups
    measured: ranking.Ranking
    pressure: IdleSettings = IdleSettings()
    proofs: tuple = ()  # of proofs.Trial

    @property
    def headline(self):
        """All of it in sentences."""
        short = self.short
        return " ".join(filter(None, (f"{short.verdict}", short.because, *self.evidence)))

    @property
    def next(self):
        return self.short.do

    @property
    def meanings(self):
        """What the words of the ranking mean."""
        shared = any(row.shared and row.judged for row in self.ranking) and not self.pressure.cannot_differ
        place = ["tied: these runs cannot tell the settings apart"] if shared else []
        return place + [figure.meaning for figure in self.columns if figure.meaning]


def deciding_figures():
    """Names that --decide-by takes: everything that is scored."""
    return [figure.name for figure in KEY_FIGURES if figure.is_scored]


def make_answer(groups, settings, capacity=None, pressure=IdleSettings(), *, doubts=None, pairs=None, prover=None):
    """`groups`: usable runs, two settings or more. `settings`: figure_results.Settings; its decide_by names the figure
    that decides. `capacity`: a capacity.Capacity, which then decides; the groups are those of its settings, by name,
    and one is enough. `pressure`: whether settings of the switch can act in these runs at all. `doubts`: see
    ranking.Runs. `pairs`: the PairsOfGroups, None to use none. `prover`: a proofs.Prover, which simulates."""
    if capacity is not None:
        return _of_capacity(groups, settings, capacity, pressure)
    values = values_of(groups)
    runs = ranking.Runs(values, tuple(len(group.failed) for group in groups), doubts or {},
                        *((pairs.times_of, pairs.few_times_of) if pairs else ()))
    ranked = ranking.rank(_chain(groups, values, settings.decide_by), runs, settings, SCORED_FIGURES)
    values = runs.with_failures().values
    columns = _columns(ranked)
    details = [tuple(value_of(figure, values[figure.name][index]) for figure in columns)
               for index in range(len(groups))]
    return _made(Findings(groups, short_names([group.name for group in groups]), ranked, columns, details, values,
                          settings, pressure, prover=prover))


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
        raise ReportError(
            f"--decide-by: '{settings.decide_by}' is not what was searched for; a measured capacity decides")
    by_name = {group.name: group for group in groups}
    groups = [by_name.get(setting.name, Group(setting.name, [])) for setting in capacity.settings]
    ranked = capacity_ranking.rank(capacity, settings)
    figures = ranked.decided_by, capacity_ranking.every_run_of(capacity)
    limits = capacity_ranking.limits(capacity)
    details = [tuple(_limit_values(figures, limit)) for limit in limits]
    names = short_names([setting.name for setting in capacity.settings])
    beyond = [capacity_ranking.runs_beyond(setting, group) for setting, group in zip(capacity.settings, groups)]
    values = {figure.name: [[of_setting[place].value] for of_setting in details]
              for place, figure in enumerate(figures)}
    return _made(Findings(beyond, names, ranked, figures, details, values, settings, pressure, capacity,
                          tuple(limits)))


def _limit_values(figures, limit):
    """The median limit, with its interval, and what was held in every run."""
    half, every = figures
    if limit is None:
        return [Value(figure) for figure in figures]
    text = half.text(limit.value)
    low, high = (end if np.isfinite(end) and limit.is_answer else None for end in (limit.low, limit.high))
    return [Value(half, limit.value, low, high, limit.rounds, text=f"{limit.bound} {text}" if limit.bound else text),
            Value(every, limit.every_run, runs=limit.rounds, text=every.text(limit.every_run))]


def _made(found):
    there = [row.index for row in found.rows if found.groups[row.index].runs]
    suffering = victims.find_victims([found.groups[index] for index in there], [found.names[index] for index in there])
    short, evidence = answer_verdict.verdict(found, suffering)  # which proves, too
    ranked = found.ranked
    winner = None if ranked.winner is None or found.pressure.cannot_differ else found.names[ranked.winner]
    return Answer(
        short=dataclasses.replace(short, do=answer_next.next_step(found)),
        evidence=tuple(evidence),
        winner=winner,
        recommended=_recommended(found, winner),
        decided_by=ranked.decided_by,
        chosen=found.settings.decide_by is not None,
        columns=found.columns,
        ranking=found.rows,
        why=found.why,
        victims=suffering,
        not_told=answer_next.not_told(found),
        names=found.names,
        measured=ranked,
        pressure=found.pressure,
        proofs=tuple(found.prover.made) if found.prover else ())


def _recommended(found, winner):
    if winner is not None:
        limit = found.limits[found.ranked.winner] if found.capacity else None
        return winner if limit is None or limit.every_run is not None else None
    advised = answer_next.recommended(found)
    return None if advised is None else found.names[advised[0]]


def _chain(groups, values, decide_by):
    figures = {figure.name: figure for figure in KEY_FIGURES}
    if decide_by is not None:
        if decide_by not in deciding_figures():
            raise ReportError(f"--decide-by: '{decide_by}' is not one of {', '.join(deciding_figures())}")
        return [figures[decide_by]]
    if _is_full_load(groups):
        return [figures[name] for name in _FULL_LOAD]
    outcomes = [value for side in values["sustained"] for value in side]
    overloaded = bool(outcomes) and all(value == 0.0 for value in outcomes)
    return [figures[name] for name in (_OVERLOADED if overloaded else _CHAIN)]


def short_names(names):
    """'setting=pfc' is pfc, if all names have one label, and the same, and the values are words that stand for
    themselves."""
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


def _is_full_load(groups):
    """Producers of all runs send as much as they can."""
    return all(run.resolved.get("generation") == "saturate" for group in groups for run in group.runs)


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
        return Value(figure)
    if figure.kind == "share":
        yes = int(sum(known))
        low, high = statistics.interval_of_share(yes, len(known))
        return Value(figure, yes / len(known), low, high, len(known), yes, f"{yes} of {len(known)} runs")
    middle, low, high = float(np.median(known)), None, None
    if len(known) >= statistics.FEWEST_RUNS:
        low, high = statistics.interval_of_values(known)
        if low <= 0.0 < min(known):  # of what cannot be 0: shares of its size
            low, high = np.exp(statistics.interval_of_values(np.log(known)))
        low = max(low, 0.0) if min(known) >= 0.0 else low
        high = min(high, 1.0) if figure.is_part or figure.name == "evenness" else high
    return Value(figure, middle, low, high, len(known), text=figure.text(middle))
