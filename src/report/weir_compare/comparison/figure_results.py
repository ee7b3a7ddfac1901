"""One key figure of two groups of runs: its values, their difference, and what that is worth. Pure; how it is
decided: statistics.py."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from . import statistics
from .comparison_settings import BETTER, INCONCLUSIVE, NO_DIFFERENCE, Settings, WORSE

NOT_SCORED = None  # the call of figures that explain
# Units of what is measured rather than counted; a counted value comes in steps of 1.
_MEASURED_UNITS = ("b/s", "B", "s", "%", "1")
# Deterministic runs have no spread: without this, rounding of the last digit would be a difference.
_ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True)
class Side:
    """One key figure of one group: its value in each run, in the group's order, or in that of the pairs."""

    values: tuple
    whole: float | None = None  # median of what the values are parts of

    @functools.cached_property
    def median(self):
        return float(np.median(self.values)) if self.values else None

    @property
    def spread(self):
        """Standard deviation between runs."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None

    @property
    def yes(self):
        return int(sum(self.values))


@dataclasses.dataclass
class FigureResult:
    """All differences are new minus baseline, in the figure's own unit; None where there is none."""

    figure: object  # KeyFigure
    baseline: Side
    new: Side
    difference: float | None = None
    scale: float | None = None  # of relative differences; None: both sides are 0
    low: float | None = None  # interval of the difference
    high: float | None = None
    threshold: float | None = None  # from here on a difference is called better or worse
    detectable: float | None = None  # minimum detectable effect: would be called with a chance of 80 %
    estimate: statistics.Estimate | None = None
    p_value: float | None = None
    paired: bool = False
    later: statistics.Estimate | None = None  # within pairs, where there are pairs and too few of them to be used
    level: float | None = None
    relevant: float | None = None
    call: str | None = INCONCLUSIVE
    reason: str | None = None  # why it is inconclusive, if not for spread

    def opposite(self):
        """The same with the sides exchanged."""
        turned = dataclasses.replace(self, baseline=self.new, new=self.baseline,
                                     call={BETTER: WORSE, WORSE: BETTER}.get(self.call, self.call))
        turned.difference = None if self.difference is None else -self.difference
        if self.low is not None:
            turned.low, turned.high = -self.high, -self.low
        if self.estimate is not None:
            turned.estimate = dataclasses.replace(self.estimate, difference=-self.estimate.difference)
        return turned

    def runs_needed(self, most):
        """How many runs of each side would tell them apart, if their difference is what it seems; None: more than
        `most`. Where more runs would be compared in pairs, the spread within pairs counts."""
        estimate, size = self.later or self.estimate, min(len(self.baseline.values), len(self.new.values))
        return statistics.runs_needed(estimate, size, abs(estimate.difference), self.level, most, self.paired
                                      or self.later is not None)

    @property
    def is_relevant(self):
        return self.relevant is None or abs(self.difference) >= self.relevant


def measure_figure(figure, baseline, new, settings=Settings(), pair_times=None, beside=()):
    """Everything but the call. `pair_times`: value i of both sides is a pair; times or two None. `beside`: as of
    statistics.largest_chance, where runs of both sides are known to fall into two groups by chance."""
    result = FigureResult(figure, baseline, new, call=INCONCLUSIVE if figure.is_scored else NOT_SCORED)
    if not baseline.values or not new.values:
        result.reason = "only one side has it"
        return result
    if not figure.is_scored:
        result.scale = abs(baseline.median) or abs(new.median) or None
        result.difference = float(statistics.difference_of_sides(np.array(baseline.values), np.array(new.values)))
        return result
    if min(len(baseline.values), len(new.values)) < statistics.FEWEST_RUNS:
        result.reason = f"fewer than {statistics.FEWEST_RUNS} runs"
    if figure.kind == "share":
        _measure_share(result, settings)
    else:
        _measure_number(result, settings, pair_times, beside)
    return result


def _measure_share(result, settings):
    yes_a, size_a = result.baseline.yes, len(result.baseline.values)
    yes_b, size_b = result.new.yes, len(result.new.values)
    result.scale = 1.0
    result.relevant = settings.relevant
    result.difference = yes_b / size_b - yes_a / size_a
    if result.reason is None:
        result.p_value = float(statistics.share_p_values(yes_a, size_a, size_b)[yes_b])
        result.low, result.high = statistics.share_interval(yes_a, size_a, yes_b, size_b)


def _measure_number(result, settings, pair_times, beside):
    figure = result.figure
    a, b = np.array(result.baseline.values), np.array(result.new.values)
    result.scale = max(abs(result.baseline.median), abs(result.new.median)) or None
    result.relevant = max(settings.relevant, 2.0 * figure.resolution) * (result.scale or 0.0)
    if result.reason is not None:
        result.difference = float(statistics.difference_of_sides(a, b))
        return
    if pair_times is None:
        result.estimate = statistics.estimate_sides(a, b, _step(result))
        chance = statistics.largest_chance(a, b, beside) if beside else statistics.chance_p_value(a, b)
    else:
        differences, inflation = statistics.pair_differences(a, b, *pair_times)
        result.estimate, result.paired = statistics.estimate_pairs(differences, inflation, _step(result)), True
        chance = statistics.chance_p_value_of_pairs(differences)
    result.difference = float(result.estimate.difference)
    limited = statistics.no_better_than(result.estimate, *chance)
    result.p_value = 1.0 if abs(result.difference) <= floor(result, settings) else float(statistics.p_value(limited))
    low, high = statistics.interval_beside_chance(result.estimate, *chance)
    # Latencies that fell into the same bucket are not equal, only not told apart.
    width = _step(result) if figure.resolution else 0.0
    result.low = min(float(low), result.difference - width / 2.0)
    result.high = max(float(high), result.difference + width / 2.0)
    if figure.is_part:
        result.low, result.high = max(result.low, -1.0), min(result.high, 1.0)


def add_pairs(result, baseline, new, times):
    """Sets `later`. Values i of `baseline` and `new` are a pair."""
    result.later = statistics.estimate_pairs(*statistics.pair_differences(baseline, new, *times), _step(result))


def _step(result):
    if result.figure.resolution:
        return result.figure.resolution * (result.scale or 0.0)
    return 0.0 if result.figure.unit in _MEASURED_UNITS else 1.0


def floor(result, settings):
    """Differences up to this one are never called."""
    return max(result.figure.resolution, settings.ignore_below, _ROUNDING) * (result.scale or 0.0)


def all_equal(result):
    """Equal in every run of both sides: it cannot be called falsely, and does not take part in the family."""
    values = (*result.baseline.values, *result.new.values)
    return result.figure.kind == "number" and max(values) - min(values) <= _ROUNDING * abs(values[0])


def call_figure(result, level, settings):
    if all_equal(result):
        result.call = NO_DIFFERENCE
        result.threshold = result.detectable = floor(result, settings)
        return
    result.level = float(level)
    if result.figure.kind == "share":
        sizes = result.baseline.yes, len(result.baseline.values), len(result.new.values)
        result.threshold = statistics.share_threshold(*sizes, level)
        result.detectable = statistics.share_detectable(*sizes, level)
    else:
        least = floor(result, settings)
        result.threshold = float(statistics.threshold(result.estimate, level, least))
        result.detectable = float(statistics.detectable(result.estimate, level, least))
        if result.figure.is_part and result.detectable > 1.0:  # no two shares differ by as much
            result.detectable = None
    if result.p_value <= level:
        result.call = BETTER if (result.difference > 0.0) == (result.figure.better == "higher") else WORSE
    elif (result.detectable is not None and result.detectable <= result.relevant
          and -result.relevant <= result.low and result.high <= result.relevant):
        result.call = NO_DIFFERENCE
