"""Which of several settings are told apart, and by which figure: the one engine of every comparison. Values of runs in,
ranks out; nothing is read or printed here.

All pairs of settings are compared, by a chain of figures: a pair is told apart by the first figure of the chain that
finds a difference which is large enough to matter. The figure that decides is chosen after the data were seen, so all
figures of the chain and all pairs are one family: Holm's levels for the figures and a closed test of the pairs of each
keep the chance that any of equal settings is placed before another below ALPHA. A figure that has one value in all runs
of all settings takes no part; that can be seen without looking at which run has which setting. Figures beside
the chain, which decide nothing, are a family of their own.

Yes or no (completed, sustained) comes first in the chain. It comes in few steps, so that it would never be called if it
shared its level with ten other tests: where it differs between runs, it gets OUTCOME_ALPHA and the rest of the chain
what is left.

A run that failed is the worst outcome that there is: it was not sustained, and a setting is never better than one of
which fewer runs failed; nor than one of which fewer runs lost data or were not sustained (bad_runs.py). What cannot be
certain, whatever the runs show, is in `doubts`.

Rejected: to test each figure at ALPHA and to stop at the first that is called, which names a winner among two
equal settings in more than one of ten comparisons (tests/report/test_ranking.py)."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np

from weir_runs.reading.key_figures import COMPLETED
from . import bad_runs, run_kinds, statistics
from .figure_results import (BETTER, FigureResult, INCONCLUSIVE, Settings, Side, WORSE, add_pairs, all_equal,
                             call_figure, floor, measure_figure)

# The part of ALPHA that yes or no gets where its value is not the same in all runs. All against none of three runs a
# side has a p-value of 3.1 % (two settings) or 3.6 % (three).
OUTCOME_ALPHA = 0.04
SETTINGS_CLOSED = 8
# The closed test of numbers looks at all sets of settings; of more settings, Holm's levels judge all pairs.
SETTINGS_CLOSED_NUMBERS = 12


FAILED_MORE = "more of its runs failed"


@dataclasses.dataclass
class Runs:
    """What is compared. Everything is by setting, in one order."""

    values: dict  # {figure's name: [values of each setting's complete runs, absent ones None]}
    failed: tuple = ()  # how many runs failed
    # {(i, j), i < j: doubts.Doubt, why nothing is certain of these two}
    doubts: dict = dataclasses.field(default_factory=dict)
    # times_of(i, j): None, or ((indices of runs of i, of j that are pairs), (times or None, times or None))
    times_of: object = None
    few_times_of: object = None  # the same, of pairs that are too few to be used

    def __post_init__(self):
        self.count = len(next(iter(self.values.values()))) if self.values else 0
        self.failed = tuple(self.failed) or (0,) * self.count

    def complete(self, i):
        return max((len(of_settings[i]) for of_settings in self.values.values()), default=0)

    def failed_share(self, i):
        return self.failed[i] / max(1, self.failed[i] + self.complete(i))

    @property
    def bad(self):
        """bad_runs.BadRuns of each setting."""
        return tuple(bad_runs.count(self.values, i, self.failed[i]) for i in range(self.count))

    def with_failures(self):
        """The same, where runs that failed count as not sustained, and whether a run was completed is a figure."""
        if not any(self.failed):
            return self
        values = dict(self.values)
        if _has_information(values.get("sustained")):
            values["sustained"] = [[*side, *[0.0] * failed] for side, failed in zip(values["sustained"], self.failed)]
        values[COMPLETED.name] = [[1.0] * self.complete(i) + [0.0] * failed for i, failed in enumerate(self.failed)]
        return dataclasses.replace(self, values=values)


@dataclasses.dataclass(eq=False)
class Pair:
    """One figure of two settings. `first`, `second`: indices of settings."""

    first: int
    second: int
    figure: object
    result: FigureResult  # its difference is first minus second
    objection: str | None = None  # why the call, which holds, tells the two settings not apart

    @property
    def is_called(self):
        return self.result.call in (BETTER, WORSE)

    @property
    def is_told(self):
        """Called, and large enough to matter."""
        return self.is_called and self.result.is_relevant and self.objection is None

    def seen_from(self, index):
        """The result as a difference from setting `index`."""
        return self.result if index == self.second else self.result.opposite()

    @property
    def better(self):
        """Index of the better setting of a pair that is called."""
        return self.first if (self.result.difference > 0.0) == (self.figure.better == "higher") else self.second

    @property
    def worse(self):
        return self.first + self.second - self.better


@dataclasses.dataclass
class Ranking:
    """`told[i][j]`: the Pair by which settings i and j are told apart, or None. `ranks` and `last_ranks`: 1 is the
    best; the places that a setting may have, given those that are certainly better and worse. `order`: indices, best
    first."""

    chain: tuple  # figures with information, in their order
    pairs: list  # every Pair that was looked at
    told: list
    ranks: list
    last_ranks: list
    order: list
    decided_by: object | None  # the first figure that told any two apart; else the first of the chain
    judged: tuple = ()  # by setting: whether it has as many runs as are judged
    doubts: dict = dataclasses.field(default_factory=dict)  # as of Runs
    bad: tuple = ()  # bad_runs.BadRuns by setting
    is_open: bool = False  # a setting that is not judged is known to be better than could be measured: so nothing wins

    def of_figure(self, figure, i, j):
        """The Pair of two settings and a figure, or None."""
        return next((pair for pair in self.pairs
                     if pair.figure is figure and {pair.first, pair.second} == {i, j}), None)

    @property
    def objected(self):
        """Pairs of the chain that bad runs keep from being told apart, though a test calls them."""
        return [pair for pair in self.pairs if pair.figure in self.chain
                and (pair.objection or pair.result.reason in bad_runs.REASONS)]

    def beaten_by(self, i):
        return [j for j in range(len(self.told)) if self.told[i][j] is not None and self.told[i][j].better == j]

    def doubt(self, i, j):
        """The Doubt of two settings, or None."""
        return self.doubts.get((min(i, j), max(i, j)))

    @property
    def winner(self):
        """Index of a setting that is told apart from all others that are judged, and is better; None: there is none."""
        first = self.order[0]
        others = [j for j, judged in enumerate(self.judged) if judged and j != first]
        alone = all(self.told[first][j] is not None and self.told[first][j].better == first for j in others)
        return first if alone and others and not self.is_open else None


def rank(figures, runs, settings=Settings(), beside=()):
    """The Ranking of Runs by a chain of figures. `beside`: figures that decide nothing, and are tested as well."""
    complete, bad = runs, runs.bad
    chain, runs = _chain(figures, runs)
    pairs = called_pairs(chain, runs, settings)
    others = called_pairs([figure for figure in beside if figure not in chain and figure.name in runs.values], runs,
                          settings)
    for pair in (*pairs, *others):
        _take_back(pair, complete, bad)
    numbers = [figure for figure in chain if figure.kind != "share"] or list(chain)
    judged = [complete.complete(i) + complete.failed[i] >= statistics.FEWEST_RUNS for i in range(runs.count)]
    by_default = next((figure for figure in chain if figure.name == "sustained"), None) if _are_unlike(bad) else None
    return made_of(chain, [*pairs, *others], runs.values, by_default or (numbers[0] if numbers else None), judged,
                   doubts=runs.doubts, bad=bad)


def _are_unlike(bad):
    """Runs of some settings were bad, and of others none."""
    return len({each.are_good for each in bad if each.runs}) > 1


def _chain(figures, runs):
    """(figures with information, Runs). One figure says yes or no: sustained, which includes failures, else
    completed."""
    counted = runs.with_failures()
    chain = [figure for figure in figures if _has_information(counted.values.get(figure.name))]
    if (any(runs.failed) and not any(figure.kind == "share" for figure in chain)
        and _has_information(counted.values[COMPLETED.name])):
        chain.insert(0, COMPLETED)
    return tuple(chain), counted


def measured_pairs(chain, runs, settings):
    """Every Pair of which both sides have values, without its call."""
    two = list(itertools.combinations(range(runs.count), 2))
    numbers = [figure for figure in chain if figure.kind != "share"]
    in_modes = {(i, j): _in_modes(numbers, runs, i, j, settings) for i, j in two}
    pairs = (_measure(figure, i, j, runs, settings, in_modes[i, j]) for figure in chain for i, j in two)
    return [pair for pair in pairs if pair is not None]


def _in_modes(figures, runs, i, j, settings):
    """The values of both settings in all figures in which their runs fall into two groups; () if these are the settings
    wherever they do. If they are not in one figure, they may be so in another one by chance: of six figures of three
    runs a side, in one of six comparisons. Those of the second setting come first, as in every result."""
    kept, by_chance = [], False
    for figure in figures:
        sides = [[value for value in runs.values[figure.name][index] if value is not None] for index in (j, i)]
        found = run_kinds.of_two_settings(*sides, max(settings.relevant, 2.0 * figure.resolution))
        if found is not None:
            kept.append(sides)
            by_chance = by_chance or not found
    return kept if by_chance else ()


def called_pairs(figures, runs, settings):
    """The same with their calls: one family."""
    pairs = measured_pairs(figures, runs, settings)
    _call(pairs, runs.values, settings)
    return pairs


def made_of(chain, pairs, values, by_default, judged, *, doubts=None, bad=()):
    """The Ranking out of judged pairs, which are in the order of the chain. `by_default`: the figure that is shown
    where no two settings are told apart. `judged`: by setting, whether it has enough runs; the others have no place."""
    count = len(judged)
    told = [[None] * count for _ in range(count)]
    of_chain = {figure.name for figure in chain}
    for pair in pairs:
        if pair.is_told and told[pair.first][pair.second] is None and pair.figure.name in of_chain:
            told[pair.first][pair.second] = told[pair.second][pair.first] = pair
    used = {id(pair.figure) for pair in pairs if told[pair.first][pair.second] is pair}
    decided_by = next((figure for figure in chain if id(figure) in used), by_default)
    made = Ranking(chain, pairs, told, [0] * count, [0] * count, list(range(count)), decided_by, tuple(judged),
                   doubts or {}, tuple(bad))
    made.ranks = [1 + len(made.beaten_by(i)) for i in range(count)]
    made.last_ranks = [sum(judged) - sum(i in made.beaten_by(j) for j in range(count) if judged[j]) if judged[i]
                       else count for i in range(count)]
    # Of settings that share a place, those without a bad run come first. Where the deciding figure is the same, the
    # next ones give the order.
    late = {pair.better for pair in pairs if pair.result.reason == bad_runs.LATE_MORE}
    is_bad = [i in late or bool(bad) and not bad[i].are_good and _are_unlike(bad) for i in range(count)]
    order_by = ([decided_by] if decided_by else []) + [figure for figure in chain if figure is not decided_by]
    made.order.sort(key=lambda i: (not judged[i], bool(decided_by) and _place(decided_by, values, i)[0],
                                   made.ranks[i] + made.last_ranks[i],
                                   is_bad[i], *(_place(figure, values, i) for figure in order_by)))
    return made


def _take_back(pair, runs, bad):
    """Calls that cannot hold, however large the difference is. `bad`: as of Ranking."""
    doubt = runs.doubts.get((pair.first, pair.second))
    result = pair.result
    if doubt and result.figure.is_scored and not all_equal(result):
        result.call, result.reason = INCONCLUSIVE, doubt.reason
    elif pair.is_called and runs.failed_share(pair.better) > runs.failed_share(pair.worse) + 1e-9:
        result.call, result.reason = INCONCLUSIVE, FAILED_MORE
    elif pair.is_called:
        objection = bad_runs.objection(pair.figure, bad[pair.better], bad[pair.worse])
        if objection == bad_runs.BOTH_LOST:
            pair.objection = objection
        elif objection:
            result.call, result.reason = INCONCLUSIVE, objection


def _has_information(of_settings):
    """Two settings have it, and not one value in all runs."""
    sides = [[value for value in side if value is not None] for side in of_settings or []]
    known = [value for side in sides for value in side]
    return sum(bool(side) for side in sides) >= 2 and max(known) - min(known) > 1e-9 * abs(known[0])


def _place(figure, values, i):
    """Sorts by the median, best first; those without a value are the last."""
    known = [value for value in values[figure.name][i] if value is not None]
    if not known:
        return (1, 0.0)
    middle = float(np.mean(known) if figure.kind == "share" else np.median(known))
    return (0, -middle if figure.better == "higher" else middle)


def _measure(figure, i, j, runs, settings, in_modes):
    """The Pair, without its call; None if a side has no value."""
    sides, times = [runs.values[figure.name][i], runs.values[figure.name][j]], None
    matched = runs.times_of(i, j) if runs.times_of and figure.kind != "share" else None
    few = runs.few_times_of(i, j) if runs.few_times_of and figure.kind != "share" and not matched else None
    if matched:
        sides, times = _matched(sides, *matched)
    of_pairs = _matched(sides, *few) if few else None
    sides = [Side(tuple(float(value) for value in side if value is not None)) for side in sides]
    if not all(side.values for side in sides):
        return None
    result = measure_figure(figure, sides[1], sides[0], settings, times, in_modes)
    if of_pairs and result.estimate is not None and len(of_pairs[0][0]) >= statistics.FEWEST_RUNS:
        add_pairs(result, *of_pairs[0][::-1], of_pairs[1])
    return Pair(i, j, figure, result)


def _matched(sides, chosen, times):
    """(values of both sides by pair, without pairs that lack one; their times, those of the second side first)."""
    sides = [[side[index] for index in indices] for side, indices in zip(sides, chosen)]
    kept = [index for index, two in enumerate(zip(*sides)) if None not in two]
    return ([[side[index] for index in kept] for side in sides],
            tuple(None if side is None else [side[index] for index in kept] for side in times[::-1]))


def _call(pairs, values, settings):
    shares = [pair for pair in pairs if pair.figure.kind == "share"]
    numbers = [pair for pair in pairs if pair.figure.kind != "share"]
    for figure in {pair.figure.name: pair.figure for pair in shares}.values():
        of_figure = [pair for pair in shares if pair.figure is figure]
        _call_shares(of_figure, values[figure.name], OUTCOME_ALPHA if numbers else statistics.ALPHA, settings)
    apart = {(pair.first, pair.second) for pair in shares if pair.is_called}
    family = [pair for pair in numbers if (pair.first, pair.second) not in apart]
    # Where yes or no is not the same in all runs, it has had its part of the chance.
    unsure = any((pair.first, pair.second) not in apart and pair.result.p_value is not None
                 and len({*pair.result.baseline.values, *pair.result.new.values}) > 1 for pair in shares)
    alpha = statistics.ALPHA - OUTCOME_ALPHA if unsure else statistics.ALPHA
    _call_numbers([pair for pair in family if pair.result.p_value is not None], alpha, settings)
    # What yes or no tells apart, numbers need not tell apart: they decide nothing there.
    _call_numbers([pair for pair in numbers if pair not in family and pair.result.p_value is not None],
                  statistics.ALPHA, settings)


def _call_numbers(family, alpha, settings):
    """Figures share the level: each gets alpha / (figures of which not all pairs are called). So two settings are
    judged at Holm's levels."""
    of_figures = [[pair for pair in family if pair.figure.name == name]
                  for name in {pair.figure.name: None for pair in family}]
    if any(len(_members(pairs)) > SETTINGS_CLOSED_NUMBERS for pairs in of_figures):
        p_values = np.array([np.nan if all_equal(pair.result) else pair.result.p_value for pair in family])
        for pair, level in zip(family, statistics.holm_levels(p_values, alpha)):
            call_figure(pair.result, level, settings)
        return
    for pairs in of_figures:
        adjusted = statistics.closed_p_values([(pair.first, pair.second) for pair in pairs],
                                              [pair.result.estimate for pair in pairs],
                                              [pair.result.p_value for pair in pairs])
        for pair, p_value in zip(pairs, adjusted):
            pair.result.p_value = float(p_value)
    for pair in (pair for pair in family if all_equal(pair.result)):
        call_figure(pair.result, alpha, settings)
    tested = [[pair for pair in pairs if not all_equal(pair.result)] for pairs in of_figures]
    _call_in_steps([pairs for pairs in tested if pairs], alpha, settings)


def _call_in_steps(left, alpha, settings):
    """`left`: pairs of each figure. Once all pairs of a figure are called, the others share the level."""
    while left:
        levels = [statistics.closed_level(alpha / len(left), len(_members(pairs))) for pairs in left]
        called = [all(pair.result.p_value <= level for pair in pairs) for pairs, level in zip(left, levels)]
        for pairs, level, is_called in zip(left, levels, called):
            if is_called or not any(called):
                for pair in pairs:
                    _judge(pair.result, level, settings)
        left = [pairs for pairs, is_called in zip(left, called) if any(called) and not is_called]


def _judge(result, level, settings):
    """Where its own test would call a pair, and other settings, or what chance gives, are why it is not called, its
    error becomes so large that it is not: then the threshold is above the difference."""
    if (result.p_value > level and statistics.p_value(result.estimate) <= level
        and abs(result.difference) > floor(result, settings)):
        result.estimate = statistics.with_p_value(result.estimate, min(result.p_value, 0.999))
    call_figure(result, level, settings)


def _members(pairs):
    return {index for pair in pairs for index in (pair.first, pair.second)}


def _call_shares(pairs, of_settings, alpha, settings):
    """Two settings: Boschloo's test. Among more, a pair is called if that test calls it and if every set of settings
    that has both in it is called not to be alike: a closed test, in which no correction for the number of pairs is
    needed."""
    sides = [[value for value in side if value is not None] for side in of_settings]
    sizes, yes = [len(side) for side in sides], [int(sum(side)) for side in sides]
    there = [index for index, size in enumerate(sizes) if size]
    alike = functools.cache(lambda members: statistics.alike_p_value([sizes[i] for i in members],
                                                                     [yes[i] for i in members]))
    for pair in pairs:
        if pair.result.p_value is None:
            continue
        others = [index for index in there if index not in (pair.first, pair.second)]
        # With many settings, not all sets are looked at: all of them, and those with one more.
        counts = range(1, len(others) + 1) if len(others) <= SETTINGS_CLOSED - 2 else (1, len(others))
        for count in counts:
            for more in itertools.combinations(others, count):
                if pair.result.p_value <= alpha:
                    together = alike(tuple(sorted((pair.first, pair.second, *more))))
                    pair.result.p_value = max(pair.result.p_value, together)
        call_figure(pair.result, alpha, settings)
