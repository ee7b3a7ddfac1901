"""The limit of each setting, with its interval, out of the rounds of a Capacity.

A round gives one value of each setting: the middle of its bracket, or of whole numbers the end that held. That is where half of the runs
hold. Rounds begin at starts of their own, so they are repetitions, as runs are for other figures (statistics.py), and their spread has
all that runs differ by: noise, two modes, failures for no reason, drift. The width of the brackets is the resolution of the
measurement: a spread finer than that is not believed, and an interval is never narrower than the bracket.

What every run held is another value: the hardest of which no run failed, nor of any that is easier.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..runs.capacity import contradictions
from . import statistics
from .statistics import CONFIDENCE, HODGES_LEHMANN_FACTOR, t_quantile

ABOVE, BELOW, NONE_HELD = "above", "below", "none held up to"
# An interval that is wider than this part of its value to each side is no answer.
HALF_WIDTH_MAX = 0.25
WHOLE_WIDTH_MAX = 2.0


@dataclasses.dataclass(frozen=True)
class Limit:
    """What half of the runs of one setting hold, in the unit of the quantity."""

    value: float
    low: float  # interval of CONFIDENCE; with one round, the bracket
    high: float
    rounds: int
    bound: str | None = None  # ABOVE or BELOW: it is outside of the range that was searched, of which `value` is the end; NONE_HELD
    every_run: float | None = None  # the hardest value that every run held; None: there is none
    runs: int = 0  # with an outcome
    contradictions: int = 0  # as limit_search.contradictions
    cut_short: int = 0  # rounds that ended before their brackets were narrow
    whole: bool = False  # it is counted, and the ends of the interval are whole numbers
    until: float | None = None  # where fewer are better: the largest value that holds, if the greatest do not
    tried: tuple = ()  # the least and the greatest value with an outcome

    @property
    def scatter(self):
        """Half of the interval, as a part of the value."""
        return (self.high - self.low) / 2.0 / self.value if self.value else 0.0

    @property
    def is_answer(self):
        """`high` - `low` of what is counted may be a large part of a small number, if it is small itself."""
        if self.bound is not None or self.rounds < 2:
            return True
        return (self.scatter <= HALF_WIDTH_MAX or self.whole and self.high - self.low <= WHOLE_WIDTH_MAX) and 2 * self.cut_short <= self.rounds


def limit(capacity, setting):
    """None if no round of this Setting is complete."""
    searches = complete_searches(setting)
    if not searches:
        return None
    values = np.array([value_of(capacity, search) for search in searches])
    value, bound = _middle(capacity, values), _bound(capacity, searches)
    trials = [(trial.value, trial.held) for search in setting.searches for trial in search.runs if trial.held is not None]
    tried = (min(trials)[0], max(trials)[0]) if trials else ()
    until = min((search.until for search in searches if search.until is not None), default=None)
    if until is not None:  # beyond it other things keep values from holding than below the limit
        trials = [trial for trial in trials if trial[0] <= until]
    harder = capacity.quantity.better == "higher"
    half = half_of(trials, harder)
    crossings = [value, *([] if half is None else [half[0] if capacity.quantity.whole else sum(half) / 2.0])]
    low, high = _interval(capacity, searches, values, crossings)
    return Limit(value, 0.0 if bound == BELOW else max(0.0, low), np.inf if bound in (ABOVE, NONE_HELD) else high, len(searches), bound,
                 _held_by_all(trials, harder), len(trials), contradictions(trials, harder),
                 sum(_is_wide(capacity, search) for search in searches), capacity.quantity.whole, until, tried)


def _middle(capacity, values):
    """Median of the means of two; of what is counted the median, and of the two in the middle the easier one."""
    if not capacity.quantity.whole:
        return float(statistics.difference_of_pairs(values))
    return float(np.quantile(values, 0.5, method="higher" if capacity.quantity.better == "lower" else "lower"))


def _interval(capacity, searches, values, crossings):
    """About all of `crossings`, two estimates: where many runs hold by chance alone, that of rounds leans to the easy side."""
    low, high = (float(np.median([end for search in searches if (end := getattr(search, name)) is not None] or [crossings[0]]))
                 for name in ("low", "high"))
    half = _half_width(values, _width(searches)) if len(searches) > 1 else 0.0
    if capacity.quantity.whole:
        # The end that held is exact, if all rounds agree; else whole numbers that hold the interval.
        if np.ptp(values) == 0.0:
            return float(min(crossings)), float(max(crossings))
        return float(np.floor(min(crossings) - half)), float(np.ceil(max(crossings) + half))
    return (min(low, min(crossings) - half), max(high, max(crossings) + half)) if half else (low, high)


def complete_searches(setting):
    return [search for search in setting.searches if search.complete]


def value_of(capacity, search):
    """The limit that one complete round found."""
    if search.low is None or search.high is None:
        return search.high if search.low is None else search.low
    if capacity.quantity.whole:
        return search.low if capacity.quantity.better == "higher" else search.high
    return (search.low + search.high) / 2.0


def _bound(capacity, searches):
    """One round that came to the end of the range is enough: the others are near it."""
    if any(search.high is None for search in searches):
        return ABOVE if capacity.quantity.better == "higher" else NONE_HELD
    # There are no fewer than one.
    one_held = capacity.quantity.whole and capacity.quantity.better == "lower"
    return BELOW if any(search.low is None and not (one_held and search.high <= 1.0) for search in searches) else None


def half_of(trials, harder_is_larger):
    """(the hardest value that more than half of the runs hold, the easiest that fewer do), where the share that holds is fitted to all
    outcomes, whatever their round, as one that only falls from easy to hard; None if there are no two such values."""
    order = 1.0 if harder_is_larger else -1.0
    blocks = []  # [runs that held, runs, first value, last value], of which the shares fall
    for value in sorted({order * value for value, _ in trials}):
        outcomes = [held for tried, held in trials if order * tried == value]
        blocks.append([sum(outcomes), len(outcomes), value, value])
        while len(blocks) > 1 and blocks[-1][0] * blocks[-2][1] >= blocks[-2][0] * blocks[-1][1]:
            held, runs, _, last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + held, blocks[-1][1] + runs, blocks[-1][2], last]
    above = max((last for held, runs, _, last in blocks if 2 * held > runs), default=None)
    below = min((first for held, runs, first, _ in blocks if 2 * held < runs), default=None)
    return None if None in (above, below) else (order * above, order * below)


def _held_by_all(trials, harder_is_larger):
    order = 1.0 if harder_is_larger else -1.0
    failed = min((order * value for value, held in trials if not held), default=np.inf)
    return max((value for value, held in trials if held and order * value < failed), key=lambda value: order * value, default=None)


def _is_wide(capacity, search):
    if None in (search.low, search.high) or capacity.resolution is None:
        return False
    return search.high - search.low > 1.05 * capacity.resolution * search.low


def _width(searches):
    """Mean width of the brackets that have two ends."""
    widths = [search.high - search.low for search in searches if search.low is not None and search.high is not None]
    return sum(widths) / len(widths) if widths else 0.0


def _half_width(values, width):
    """Half of the interval of a limit: Student's t on the spread between rounds, which is at least that of the bracket."""
    variance = max(float(np.var(values, ddof=1)), width ** 2 / 12.0)
    tail = (1.0 - CONFIDENCE) / 2.0
    return float(t_quantile(tail, len(values) - 1)) * HODGES_LEHMANN_FACTOR * (variance / len(values)) ** 0.5
