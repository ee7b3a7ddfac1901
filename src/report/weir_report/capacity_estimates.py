"""The limit of each setting and the differences between settings, with intervals, out of the rounds of a Capacity.

A round gives one value of each setting: the middle of its bracket, or of whole numbers the end that held. The rounds
are repetitions, as runs are for other figures (statistics.py), and a difference between settings is one of pairs: both
were searched in turns in the same round, so drift between rounds cancels. The width of the brackets is the resolution
of the measurement: a spread finer than that is not believed, an interval is never narrower than the bracket, and a
difference below it is not called.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from . import statistics
from .statistics import ALPHA, CONFIDENCE, FEWEST_RUNS, HODGES_LEHMANN_FACTOR, t_quantile


@dataclasses.dataclass(frozen=True)
class Limit:
    """Of one setting, in the unit of the quantity."""

    value: float
    low: float  # interval of CONFIDENCE; with one round, the bracket
    high: float
    rounds: int
    bound: str | None = None  # "at least" or "at most": rounds came to the end of the range that was searched


@dataclasses.dataclass(frozen=True)
class Difference:
    """New minus baseline."""

    value: float
    low: float  # interval of CONFIDENCE; with fewer than FEWEST_RUNS rounds, what the brackets allow
    high: float
    rounds: int  # in which both settings have a limit
    threshold: float | None  # the smallest difference that is called; None: too few rounds
    certain: bool
    more_rounds: int | None = None  # so many more rounds would call a difference of this size; None: certain, or not known
    bound: str | None = None  # "at least" or "at most": one of them came to the end of its range


def limit(capacity, setting):
    """None if no round of this Setting is complete."""
    searches = [search for search in setting.searches if search.complete]
    if not searches:
        return None
    values = np.array([_value(capacity, search) for search in searches])
    # Rounds that came to the range's end give a bound; the others are limits.
    bound = "at least" if any(search.high is None for search in searches) else \
        "at most" if any(search.low is None for search in searches) else None
    lows = [search.low if search.low is not None else 0.0 for search in searches]
    highs = [search.high if search.high is not None else np.inf for search in searches]
    value = float(statistics.difference_of_pairs(values))
    low, high = float(np.median(lows)), float(np.median(highs))
    if len(searches) > 1:
        half = _half_width(values, _width(searches))
        low, high = min(low, value - half), max(high, value + half)
    if bound == "at least":
        high = float("inf")
    if bound == "at most":
        low = 0.0
    return Limit(value, max(0.0, low), high, len(searches), bound)


def difference(capacity, baseline, new, level=ALPHA):
    """Of two Settings, paired by round. `level`: at which it is called (Holm's, among several). None if no round has both."""
    pairs = _pairs(baseline, new)
    if not pairs:
        return None
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    values_a, values_b = (np.array([_value(capacity, search) for search in side]) for side in (first, second))
    differences = values_b - values_a
    value = float(statistics.difference_of_pairs(differences))
    width_a, width_b = _width(first), _width(second)
    # Middles of brackets can be off by half of each; the end that held of whole numbers is exact.
    floor = 0.0 if capacity.quantity.whole else (width_a + width_b) / 2.0
    bound = _bound(first, second)
    if len(pairs) < FEWEST_RUNS:
        return Difference(value, float(differences.min() - floor), float(differences.max() + floor), len(pairs), None, False,
                          FEWEST_RUNS - len(pairs), bound)
    estimate = statistics.estimate_pairs(differences, step=np.sqrt((width_a ** 2 + width_b ** 2) / 2.0))
    threshold = float(statistics.threshold(estimate, level, floor))
    half = max(float(statistics.threshold(estimate, 1.0 - CONFIDENCE)), floor)
    # An end of the range hides how far a limit is beyond it, never on which side.
    outward = bound is None or bound == "at least" and value > 0 or bound == "at most" and value < 0
    certain = value != 0.0 and abs(value) >= threshold * (1.0 - 1e-9) and outward
    low = -np.inf if bound in ("at most", "unknown") else value - half
    high = np.inf if bound in ("at least", "unknown") else value + half
    more = None if certain or bound else _more_rounds(abs(value), float(estimate.error), len(pairs), level, floor)
    return Difference(value, float(low), float(high), len(pairs), threshold, certain, more, bound)


def _pairs(baseline, new):
    by_round = {search.round: search for search in baseline.searches if search.complete}
    return [(by_round[search.round], search) for search in new.searches if search.complete and search.round in by_round]


def _value(capacity, search):
    if search.low is None or search.high is None:
        return search.high if search.low is None else search.low
    if capacity.quantity.whole:
        return search.low if capacity.quantity.better == "higher" else search.high
    return (search.low + search.high) / 2.0


def _width(searches):
    """Mean width of the brackets that have two ends."""
    widths = [search.high - search.low for search in searches if search.low is not None and search.high is not None]
    return sum(widths) / len(widths) if widths else 0.0


def _half_width(values, width):
    """Of the interval of a limit: Student's t on the spread between rounds, which is at least that of the bracket."""
    variance = max(float(np.var(values, ddof=1)), width ** 2 / 12.0)
    tail = (1.0 - CONFIDENCE) / 2.0
    return float(t_quantile(tail, len(values) - 1)) * HODGES_LEHMANN_FACTOR * (variance / len(values)) ** 0.5


def _bound(first, second):
    """What is known of second - first where rounds came to the end of the range."""
    upper_a, upper_b = (any(search.high is None for search in side) for side in (first, second))
    lower_a, lower_b = (any(search.low is None for search in side) for side in (first, second))
    at_least, at_most = upper_b or lower_a, upper_a or lower_b
    return "unknown" if at_least and at_most else "at least" if at_least else "at most" if at_most else None


def _more_rounds(size, error, rounds, level, floor):
    """How many more rounds with this spread would call a difference of this size; None if none or above 200."""
    if size <= floor:
        return None
    spread = error * rounds ** 0.5
    for more in range(1, 200):
        number = rounds + more
        if t_quantile(level / 2.0, number - 1) * spread / number ** 0.5 <= size:
            return more
    return None
