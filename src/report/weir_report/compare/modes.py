"""Runs of one setting that fall into two groups far apart, as it is where a flow's path is chosen by chance. Pure."""

from __future__ import annotations

import dataclasses

import numpy as np

# Fewer runs, or a single one apart from the others, are no mode.
RUNS_FEWEST = 6
RUNS_APART = 2
# The gap between both groups, over the wider of them.
GAP_FACTOR = 3.0


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
    """Whether the two groups into which the runs of two settings fall are the settings; None: they fall into none. `relevant`: as of
    find_modes."""
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
