"""What the confirming runs show: pairs of runs with equal seeds, by the same estimates, intervals and levels as
weir-compare. Pure.

Each run is taken as a share of the other side's run with the same seed: a present setting that is three times as slow
with some seeds would otherwise hide with its spread that it is slower with all.

Where runs of equal settings do not differ, two of them are as good as five.

The settings that are confirmed share 5 %, for the best of several looks better than it is. If none of them is told
apart from the present one though the best seems to gain enough, that one is run again, alone and with other seeds: the
first confirmation has FIRST_ALPHA of the 5 %, the second one the rest. The neighbours of the chosen one, whose runs say
what each axis is worth there, share 5 % of their own, and so do the shares of their runs that break a constraint: one
run of five that does is seen by chance, too."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from weir_compare.comparison import statistics
from weir_compare.comparison.figure_results import (BETTER, NO_DIFFERENCE, Settings, Side, WORSE, call_figure,
                                                    measure_figure)
from weir_runs.basics.list_values import mean
from . import candidate_search

# By seed: both sides of a pair were simulated with the same one.
PAIRS = (None, None)
FEWEST_PAIRS = 5
SETTINGS = Settings()
FIRST_ALPHA = 0.04
# The second confirmation has so many times the seeds of the first at most.
AGAIN_MOST = 4
# A change that gains less is not proposed. With the 2 % that `relevant` asks for, a fifth of the choices would no
# longer be within 1 % of the best.
WORTH_A_CHANGE = 0.005
MATTERS, DOES_NOT_MATTER, NOT_TOLD = "matters", "does not matter", "not told"


@dataclasses.dataclass(frozen=True)
class Change:
    """What a setting's figure is beside that of another one, as a share of that one's. `gain`: above 0 is better."""

    gain: float | None
    low: float | None = None  # 95 % interval
    high: float | None = None
    call: str = ""  # better, worse, no difference or inconclusive
    detectable: float | None = None  # a gain that these runs would have found four times out of five
    relevant: bool = False
    # pairs that would find this gain four times out of five, at the level of the second confirmation
    needed: int | None = None
    # the same as `gain` of the means: where runs are good or bad by chance, the median has few values
    mean: float | None = None
    together: bool = False  # the interval is that of all comparisons of its family together, and not of this one alone

    @property
    def is_better(self):
        """Certainly, and by enough to matter."""
        return self.call == BETTER and self.relevant

    @property
    def is_worse(self):
        return self.call == WORSE and self.relevant

    @property
    def is_worth_nothing(self):
        """Whether what is changed here may as well stay as it was."""
        return self.is_same and self.gain > -WORTH_A_CHANGE

    @property
    def is_same(self):
        """No difference that matters."""
        return self.call == NO_DIFFERENCE or self.call in (BETTER, WORSE) and not self.relevant


def changes(compared, alpha=statistics.ALPHA):
    """A Change for each of `compared`: (KeyFigure, values of the baseline, values of the other), of runs in the order
    of their seeds, None where a run has none. All share `alpha`."""
    results = []
    for figure, baseline, values in compared:
        alike = not differ(baseline, values)
        pairs = _as_shares([(one, other) for one, other in zip(baseline, values) if one is not None
                            and other is not None])
        if alike and candidate_search.SEEDS_OF_EQUALS <= len(pairs) < FEWEST_PAIRS:
            pairs = pairs[:1] * FEWEST_PAIRS  # further ones would be the same
        first, second = zip(*pairs) if pairs else ((), ())
        results.append(measure_figure(figure, Side(first), Side(second), SETTINGS, PAIRS if len(pairs) >= FEWEST_PAIRS
                                      else None))
    levels = statistics.holm_levels(np.array([math.nan if result.p_value is None else result.p_value
                                              for result in results]), alpha)
    return [_change(figure, result, level) for (figure, _, _), result, level in zip(compared, results, levels)]


def differ(baseline, values):
    """Whether runs of two settings differ from seed to seed in how they are beside each other, or some have no value
    and others do."""
    pairs = list(zip(baseline, values))
    seen = [pair for pair in pairs if None not in pair]
    if len(seen) < len(pairs):
        return any(value is not None for pair in pairs for value in pair)
    return any(max(side) - min(side) > candidate_search.NO_NOISE * max(map(abs, side))
               for side in zip(*_as_shares(seen)))


def _as_shares(pairs):
    """Pairs of a baseline and another setting, each as a share of its baseline where that can be."""
    return [(1.0, other / one) for one, other in pairs] if all(one > 0.0 for one, _ in pairs) else pairs


def _change(figure, result, level):
    if result.difference is None or result.p_value is None:
        return Change(None, call=result.call or "")
    call_figure(result, level, SETTINGS)
    scale = abs(result.baseline.median) or result.scale or 1.0
    sign = 1.0 if figure.better == "higher" else -1.0
    low, high, together = _interval(result, level)
    low, high = sorted((sign * low / scale, sign * high / scale))
    size = len(result.baseline.values)
    needed = statistics.runs_needed(result.estimate, size, abs(result.difference),
                                    statistics.ALPHA - FIRST_ALPHA) if result.difference else None
    difference = mean(result.new.values) - mean(result.baseline.values)
    return Change(sign * result.difference / scale, low, high, result.call,
                  None if result.detectable is None else result.detectable / scale, result.is_relevant, needed,
                  sign * difference / scale, together)


def _interval(result, level):
    """(low, high, whether it is that of all comparisons together): a difference that is not called, because several
    share 5 %, gets the interval of that level, which holds 0 as the call says."""
    if result.call in (BETTER, WORSE, NO_DIFFERENCE) or result.low <= 0.0 <= result.high:
        return result.low, result.high, False
    estimate = statistics.with_p_value(result.estimate, min(max(result.p_value, 1e-9), 0.999))
    half = float(statistics.threshold(estimate, level))
    return result.difference - half, result.difference + half, True


def confirmed(figure, present, finalists):
    """The Changes of the finalists against the present setting, by the first confirmation."""
    return changes([(figure, present, values) for values in finalists], FIRST_ALPHA)


def again(found, keeps, seeds, most=None):
    """(index of the finalist that is run again, with so many other seeds); None: one is chosen already, or none would
    be found better. `found`: of `confirmed`; `seeds`: of the first confirmation; `most`: seeds that one campaign can
    have, None: any number."""
    if choose(found, keeps) is not None:
        return None
    possible = [index for index, change in enumerate(found) if keeps[index] and change.gain is not None
                and change.gain > 0.0 and change.relevant and change.needed is not None]
    best = max(possible, key=lambda index: found[index].gain, default=None)
    if best is None or found[best].needed > min(AGAIN_MOST * seeds, most or math.inf):
        return None
    return best, max(found[best].needed, FEWEST_PAIRS)


def confirmed_again(figure, present, values):
    """The Change of that finalist, by the second confirmation alone."""
    return changes([(figure, present, values)], statistics.ALPHA - FIRST_ALPHA)[0]


def choose(found, keeps, present_keeps=True):
    """The index of the finalist that is proposed; None: there is none. It keeps all constraints, is certainly better
    than the present setting by enough to matter, which need not be where that one breaks a constraint, and gains most
    on average. `found`: their Changes; `keeps`: whether its runs keep all constraints."""
    possible = [index for index, change in enumerate(found) if keeps[index] and change.gain is not None
                and (change.is_better or not present_keeps)]
    return max(possible, key=lambda index: found[index].gain if found[index].mean is None else found[index].mean,
               default=None)


def replaces(figure, neighbour, present, proposed=None, present_keeps=True):
    """(the Change of a neighbour against the present setting, whether it is proposed in the place of `proposed`), by
    runs with other seeds than those by which it was found. It must be certainly better than both; the two comparisons
    share 5 %. `proposed`: None where nothing but the present setting is proposed; `present_keeps`: whether that one
    keeps all constraints, for else it need not be beaten."""
    found = changes([(figure, values, neighbour) for values in (present, proposed) if values is not None])
    beats_present = found[0].is_better or found[0].gain is not None and not present_keeps
    return found[0], beats_present and all(change.is_better for change in found[1:])


def is_as_good(figure, fewest, present, proposed, present_keeps=True):
    """(the Change of the setting with the fewest changes against the present one; that against the proposed one;
    whether it takes its place), by runs with other seeds. It must be certainly better than the present setting, and not
    seem worse than the proposed one by what is worth a change."""
    change, beside = changes([(figure, values, fewest) for values in (present, proposed)])
    beats_present = change.is_better or change.gain is not None and not present_keeps
    return change, beside, beats_present and beside.gain is not None and beside.gain > -WORTH_A_CHANGE


def breaks(compared):
    """Whether the second setting of each pair certainly breaks a constraint more often than the first one, by
    Boschloo's test. `compared`: pairs of (runs that broke it, runs); fewer than FEWEST_PAIRS are of settings whose runs
    do not differ. All share 5 %."""
    def chance(before, after):
        (broke, runs), (count, size) = (_counted_as(*one) for one in (before, after))
        known = min(runs, size) >= statistics.FEWEST_RUNS and count * runs > broke * size
        return statistics.share_p_values(broke, runs, size)[count] if known else math.nan

    chances = np.array([chance(*pair) for pair in compared], float)
    return [bool(found) for found in chances <= statistics.holm_levels(chances)] if len(chances) else []


def _counted_as(broke, runs):
    return (FEWEST_PAIRS * (broke // runs),
            FEWEST_PAIRS) if candidate_search.SEEDS_OF_EQUALS <= runs < FEWEST_PAIRS and broke in (0, runs) else (broke,
                                                                                                                  runs)


def judged(neighbours):
    """What the neighbours of the chosen setting on one axis say of it, by their Changes against it."""
    if any(change.is_better or change.is_worse for change in neighbours):
        return MATTERS
    if neighbours and all(change.is_same for change in neighbours):
        return DOES_NOT_MATTER
    return NOT_TOLD
