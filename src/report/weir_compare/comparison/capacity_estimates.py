"""The limit of each setting, with its interval, out of the rounds of a Capacity.

A round gives one value of each setting: the middle of its bracket, or of whole numbers the end that held. That is where
half of the runs hold. Of rounds that came to the end of the range the limit is only known to be beyond it: as long as
they are fewer than half, the median round has a value, and its interval is open on that side. Rounds begin at starts of
their own, so they are repetitions, as runs are for other figures (statistics.py), and their spread has all that runs
differ by: noise, two modes, failures for no reason, drift. The width of the brackets is the resolution of the
measurement: a spread finer than that is not believed, and an interval is never narrower than the bracket.

What every run held is another value: the hardest of which no run failed, nor of any that is easier.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from weir_runs.reading.capacity import contradictions
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
    # ABOVE or BELOW: it is outside of the range that was searched, of which `value` is the end; NONE_HELD
    bound: str | None = None
    above: int = 0  # rounds that did not find an end above, or of what is better if lower, none that holds
    below: int = 0  # rounds that did not find an end below
    end: float | None = None  # of the range, which they came to
    every_run: float | None = None  # the hardest value that every run held; None: there is none
    runs: int = 0  # with an outcome
    contradictions: int = 0  # see runs.capacity.contradictions
    cut_short: int = 0  # rounds that ended before their brackets were narrow
    whole: bool = False  # it is counted, and the ends of the interval are whole numbers
    until: float | None = None  # where fewer are better: the largest value that holds, if the greatest do not
    agree: bool = False  # it is counted, and all rounds found the same number or one next to it
    tried: tuple = ()  # the least and the greatest value with an outcome

    @property
    def scatter(self):
        """Half of the interval, as a part of the value; of an open one the half that is known."""
        half = self.value - self.low if self.above else self.high - self.value if self.below else (
            self.high - self.low) / 2.0
        return half / self.value if self.value else 0.0

    @property
    def beyond(self):
        """Rounds that came to the end of the range at which more of them did."""
        return max(self.above, self.below)

    @property
    def is_closed(self):
        """Whether all rounds found it."""
        return self.bound is None and not self.beyond

    @property
    def is_answer(self):
        """`high` - `low` of what is counted may be a large part of a small number, if it is small itself, or if rounds
        do not differ by more than one, which is the resolution."""
        if self.bound is not None or self.rounds < 2:
            return True
        is_near = (self.scatter <= HALF_WIDTH_MAX or self.agree or self.whole
                   and 2.0 * self.scatter * self.value <= WHOLE_WIDTH_MAX)
        return is_near and 2 * self.cut_short <= self.rounds


def limit(capacity, setting):
    """None if no round of this Setting is complete."""
    searches = complete_searches(setting)
    if not searches:
        return None
    values = np.array([value_of(capacity, search) for search in searches])
    sides = np.array([_beyond(capacity, search) for search in searches])
    above, below = int(np.sum(sides > 0)), int(np.sum(sides < 0))
    value, bound = _middle(capacity, values, sides)
    trials = [(trial.value, trial.held) for search in setting.searches for trial in search.runs
              if trial.held is not None]
    tried = (min(trials)[0], max(trials)[0]) if trials else ()
    until = min((search.until for search in searches if search.until is not None), default=None)
    if until is not None:  # beyond it other things keep values from holding than below the limit
        trials = [trial for trial in trials if trial[0] <= until]
    harder = capacity.quantity.better == "higher"
    half = half_of(trials, harder)
    crossings = [value, *([] if half is None else [half[0] if capacity.quantity.whole else sum(half) / 2.0])]
    low, high = _interval(capacity, searches, values, crossings)
    if above or below:  # the spread is larger than that of these values
        low, high = (function([end, *values[sides == 0]]) for function, end in ((min, low), (max, high)))
    end = None if above == below == 0 else float(max(values[sides > 0]) if above >= below else min(values[sides < 0]))
    return Limit(value, 0.0 if below else max(0.0, low), np.inf if above else high, len(searches), bound, above, below,
                 end, _held_by_all(trials, harder), len(trials), contradictions(trials, harder),
                 sum(_is_wide(capacity, search) for search in searches), capacity.quantity.whole, until,
                 capacity.quantity.whole and not (above or below) and float(np.ptp(values)) <= 1.0, tried)


def _middle(capacity, values, sides):
    """(the value, its bound). Median of the means of two; of what is counted the median, and of the two in the middle
    the easier one. The median too where rounds came to an end of the range (`sides`): if one in the middle did, that
    end."""
    ordered = sorted(zip(sides, values))
    middle = ordered[(len(ordered) - 1) // 2: len(ordered) // 2 + 1]
    side, value = max(middle, key=lambda one: abs(one[0]))
    if side:
        return float(value), BELOW if side < 0 else ABOVE if capacity.quantity.better == "higher" else NONE_HELD
    if capacity.quantity.whole:
        return float(middle[-1 if capacity.quantity.better == "lower" else 0][1]), None
    return float(np.mean([value for _, value in middle]) if np.any(sides)
                 else statistics.difference_of_pairs(values)), None


def _interval(capacity, searches, values, crossings):
    """About all of `crossings`, two estimates: where many runs hold by chance alone, that of rounds leans to the easy
    side."""
    low, high = (float(np.median([end for search in searches if (end := getattr(search, name)) is not None]
                                 or [crossings[0]]))
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


def _beyond(capacity, search):
    """1, -1: a round came to the end of the range above or below; 0: it found the limit."""
    if search.high is None:
        return 1
    # There are no fewer than one.
    one_held = capacity.quantity.whole and capacity.quantity.better == "lower"
    return -1 if search.low is None and not (one_held and search.high <= 1.0) else 0


def half_of(trials, harder_is_larger):
    """(the hardest value that more than half of the runs hold, the easiest that fewer do), where the share that holds
    is fitted to all outcomes, whatever their round, as one that only falls from easy to hard; None if there are no two
    such values."""
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
    return max((value for value, held in trials if held and order * value < failed),
               key=lambda value: order * value, default=None)


def _is_wide(capacity, search):
    if None in (search.low, search.high) or capacity.resolution is None:
        return False
    return search.high - search.low > 1.05 * capacity.resolution * search.low


def _width(searches):
    """Mean width of the brackets that have two ends."""
    widths = [search.high - search.low for search in searches if search.low is not None and search.high is not None]
    return sum(widths) / len(widths) if widths else 0.0


def _half_width(values, width):
    """Half of the interval of a limit: Student's t on the spread between rounds, which is at least that of the
    bracket."""
    variance = max(float(np.var(values, ddof=1)), width ** 2 / 12.0)
    tail = (1.0 - CONFIDENCE) / 2.0
    return float(t_quantile(tail, len(values) - 1)) * HODGES_LEHMANN_FACTOR * (variance / len(values)) ** 0.5
