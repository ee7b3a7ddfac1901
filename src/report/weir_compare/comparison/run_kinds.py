"""Runs that are not all of one kind: those of one setting that fall into two groups far apart, as where a flow's path
is chosen by chance, and one run that makes most of the spread of a setting. Pure."""

import dataclasses

import numpy as np

# Fewer runs, or a single one apart from the others, are no mode.
RUNS_FEWEST = 6
RUNS_APART = 2
# The gap between both groups, over the wider of them.
GAP_FACTOR = 3.0
# Of four normal runs, one would be named as an outlier in 5 %.
OUTLIER_RUNS_FEWEST = 5
# Of normal runs, the spread falls to a fifth without one of them in 1.1 % (five), 0.2 % (six) and less.
SPREAD_FACTOR = 5.0


@dataclasses.dataclass(frozen=True)
class Modes:
    """`fewer`: so many of `runs` are in the smaller group, at `there` (median); the others at `rest`."""

    fewer: int
    runs: int
    there: float
    rest: float


def find_modes(values, relevant):
    """Modes, or None. `relevant`: a gap below this share of the median is none."""
    ordered = np.sort([float(value) for value in values if value is not None])
    groups = _groups(ordered, relevant)
    if groups is None:
        return None
    smaller, larger = sorted(groups[::-1], key=len)
    return Modes(len(smaller), len(ordered), float(np.median(smaller)), float(np.median(larger)))


def of_two_settings(one, other, relevant):
    """Whether the two groups into which the runs of two settings fall are the settings; None: they fall into none.
    `relevant`: as of find_modes."""
    groups = _groups(np.sort([*one, *other]), relevant)
    return None if groups is None else any(np.array_equal(np.sort(side), groups[0]) for side in (one, other))


def _groups(ordered, relevant):
    """(the lower, the upper), or None."""
    if len(ordered) < RUNS_FEWEST:
        return None
    gaps = np.diff(ordered)
    cut = RUNS_APART + int(np.argmax(gaps[RUNS_APART - 1:len(gaps) - RUNS_APART + 1]))
    low, high = ordered[:cut], ordered[cut:]
    gap = high[0] - low[-1]
    if gap < GAP_FACTOR * max(np.ptp(low), np.ptp(high)) or gap <= relevant * abs(np.median(ordered)):
        return None
    return low, high


def find_outlier(values, relevant):
    """(index of the run, its value, median of the others), or None. `relevant`: a run that is nearer to the others, as
    a share of their median, is none."""
    known = [(index, float(value)) for index, value in enumerate(values) if value is not None]
    if len(known) < OUTLIER_RUNS_FEWEST:
        return None
    numbers = np.array([value for _, value in known])
    place = int(np.argmax(np.abs(numbers - np.median(numbers))))
    others = np.delete(numbers, place)
    middle = float(np.median(others))
    spreads_less = np.std(numbers, ddof=1) < SPREAD_FACTOR * np.std(others, ddof=1)
    if spreads_less or abs(numbers[place] - middle) <= relevant * abs(middle):
        return None
    return known[place][0], float(numbers[place]), middle
