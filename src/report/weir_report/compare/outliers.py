"""One run that makes most of the spread of a setting. Pure."""

from __future__ import annotations

import numpy as np

# Of four normal runs, one would be named in 5 %.
RUNS_FEWEST = 5
# Of normal runs, the spread falls to a fifth without one of them in 1.1 % (five), 0.2 % (six) and less.
SPREAD_FACTOR = 5.0


def find_outlier(values, relevant):
    """(index of the run, its value, median of the others), or None. `relevant`: a run that is nearer to the others, as a share of their median, is none."""
    known = [(index, float(value)) for index, value in enumerate(values) if value is not None]
    if len(known) < RUNS_FEWEST:
        return None
    numbers = np.array([value for _, value in known])
    place = int(np.argmax(np.abs(numbers - np.median(numbers))))
    others = np.delete(numbers, place)
    middle = float(np.median(others))
    if abs(numbers[place] - middle) <= relevant * abs(middle) or np.std(numbers, ddof=1) < SPREAD_FACTOR * np.std(others, ddof=1):
        return None
    return known[place][0], float(numbers[place]), middle
