"""The ranking of settings by their measured capacity: a Ranking like that of figures of runs, with rounds of searches in
the place of runs. Limits and differences: capacity_estimates.py."""

from __future__ import annotations

import math
from pathlib import Path

from . import capacity_estimates, ranking
from .figure_results import BETTER, INCONCLUSIVE, NO_DIFFERENCE, WORSE, FigureResult, Side
from .key_figures import MARGIN, KeyFigure
from .run_groups import Group
from .statistics import ALPHA, FEWEST_RUNS, POWER, t_quantile


def figure_of(capacity):
    quantity = capacity.quantity
    return KeyFigure("capacity", quantity.title, quantity.unit, quantity.better, rank=MARGIN)


def limits(capacity):
    """capacity_estimates.Limit of every setting, None where no round is complete."""
    return [capacity_estimates.limit(capacity, setting) for setting in capacity.settings]


def rank(capacity, settings):
    """All pairs of settings; `settings`: figure_results.Settings."""
    figure = figure_of(capacity)
    found = limits(capacity)
    pairs = _tested(capacity, figure, settings)
    values = [None if limit is None else limit.value for limit in found]
    judged = [limit is not None and limit.rounds >= FEWEST_RUNS for limit in found]
    return ranking.made_of([figure], pairs, {figure.name: [[value] for value in values]}, figure, judged)


def runs_beyond(setting, group):
    """Those runs of a group in which the setting (of a Capacity) just failed, which shows why; if there are none, those at
    the limit."""
    by_end = {True: [], False: []}
    for search in setting.searches:
        ends = (search.low, search.high)
        for trial in search.runs:
            if trial.directory and trial.held is not None and trial.value in ends:
                by_end[trial.held].append(Path(trial.directory).parts)
    for held in (False, True):
        runs = [run for run in group.runs if any(run.directory.parts[-len(parts):] == parts for parts in by_end[held])]
        if runs:
            return Group(group.name, runs)
    return Group(group.name, [])


def _tested(capacity, figure, settings):
    """Holm's procedure: the pairs that are certain at the level of all are certain, the others are looked at again at the
    level of those that are left."""
    count = len(capacity.settings)
    there = [(i, j) for i in range(count) for j in range(i + 1, count)
             if capacity_estimates.difference(capacity, capacity.settings[j], capacity.settings[i]) is not None]
    certain = {}
    while True:
        level = ALPHA / max(1, len(there) - len(certain))
        differences = {two: certain.get(two) or (capacity_estimates.difference(
            capacity, capacity.settings[two[1]], capacity.settings[two[0]], level), level) for two in there}
        found = {two: (difference, at) for two, (difference, at) in differences.items() if difference.certain}
        if len(found) == len(certain):
            return [_pair(capacity, figure, two, *differences[two], settings) for two in there]
        certain = found


def _pair(capacity, figure, two, difference, level, settings):
    sides = [capacity_estimates.limit(capacity, capacity.settings[index]) for index in two]
    scale = max(abs(side.value) for side in sides) or None
    result = FigureResult(
        figure, Side((sides[1].value,)), Side((sides[0].value,)), difference=difference.value, scale=scale,
        low=_finite(difference.low), high=_finite(difference.high), threshold=difference.threshold,
        detectable=None if difference.threshold is None else _detectable(difference, level),
        level=level, relevant=settings.relevant * (scale or 0.0), call=INCONCLUSIVE, paired=True)
    if difference.certain:
        result.call = BETTER if (difference.value > 0.0) == (figure.better == "higher") else WORSE
    elif difference.threshold is not None and max(abs(difference.low), abs(difference.high)) <= result.relevant:
        result.call = NO_DIFFERENCE
    return ranking.Pair(*two, figure, result, difference.more_rounds)


def _finite(value):
    return value if math.isfinite(value) else None


def _detectable(difference, level):
    """The true difference that would be called with a chance of POWER."""
    freedom = difference.rounds - 1
    error = difference.threshold / float(t_quantile(level / 2.0, freedom))
    return difference.threshold + float(t_quantile(1.0 - POWER, freedom)) * error
