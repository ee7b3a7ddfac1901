"""Which key figures of some runs differ from those of baseline runs. Groups of runs in, judgements out;
nothing is read, printed or drawn here. What is decided how: statistics.py."""

from __future__ import annotations

import dataclasses
import zlib

import numpy as np

from . import statistics
from .errors import ReportError
from .key_figures import KEY_FIGURES, key_figures
from .run_groups import (Group, are_network_settings, describe_plan_differences, plan_differences, refuse_shared_runs, usable,
                         worlds_and_versions)
from .run_pairs import find_pairs
from .units import counted

BETTER, WORSE, NO_DIFFERENCE, INCONCLUSIVE = "better", "worse", "no difference", "inconclusive"
NOT_SCORED = None  # the call of figures that explain
SEED = 20211021
# Units of what is measured rather than counted; a counted value comes in steps of 1.
_MEASURED_UNITS = ("b/s", "B", "s", "%", "1")
# Deterministic runs have no spread: without this, rounding of the last digit would be a difference.
_ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True)
class Settings:
    relevant: float = 0.02  # share of the baseline's value; of yes or no: of the runs
    ignore_below: float = 0.0  # in the same measure: smaller differences are never called
    pairs: bool = True
    allow_different_plans: bool = False
    figures: tuple | None = None  # names; None: all
    seed: int = SEED


@dataclasses.dataclass(frozen=True)
class Side:
    """One key figure of one group: its value in each run, in the group's order, or in that of the pairs."""

    values: tuple
    whole: float | None = None  # median of what the values are parts of

    @property
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
    level: float | None = None
    relevant: float | None = None
    call: str | None = INCONCLUSIVE
    reason: str | None = None  # why it is inconclusive, if not for spread

    @property
    def is_relevant(self):
        return self.relevant is None or abs(self.difference) >= self.relevant


@dataclasses.dataclass
class Comparison:
    baseline: Group
    new: Group
    results: list  # of FigureResult
    alike: list  # of FigureResult: yes or no, and the same in all runs, so that there is nothing to compare
    pairing: str | None  # why pairs were used; None: they were not
    too_few: str | None  # why nothing can be judged

    @property
    def scored(self):
        return [result for result in self.results if result.figure.is_scored]

    @property
    def explaining(self):
        """What any run counted; what stayed at 0 in all of them is in `silent`."""
        return [result for result in self.results if not result.figure.is_scored and _any(result)]

    @property
    def silent(self):
        return [result for result in self.results if not result.figure.is_scored and not _any(result)]


@dataclasses.dataclass
class Report:
    """One comparison, or one per value of a label; all share the baseline."""

    comparisons: list
    plan_differences: dict  # option -> texts of its values, one per group
    groups: list  # all of them, the baseline first
    remarks: list
    by: str | None
    settings: Settings

    def calls(self, call):
        return [
            result for comparison in self.comparisons for result in comparison.scored if result.call == call
        ]


def compare(baseline, new_groups, settings=Settings(), by=None):
    """Judges each of `new_groups` against `baseline`. Raises ReportError if the runs cannot be compared."""
    remarks = []
    groups = [usable(group, remarks) for group in (baseline, *new_groups)]
    baseline, new_groups = groups[0], groups[1:]
    refuse_shared_runs(groups)
    differences = plan_differences(groups)
    if not settings.allow_different_plans and not are_network_settings(differences):
        raise ReportError(
            "the runs have different plans: " + describe_plan_differences(differences, groups) +
            ". Runs of one plan are expected; --allow-different-plans compares them nevertheless")
    remarks += worlds_and_versions(groups)
    comparisons = [_measure(baseline, group, settings, remarks) for group in new_groups]
    _judge(comparisons, settings)
    return Report(comparisons, differences, groups, remarks, by, settings)


def _measure(baseline, new, settings, remarks):
    """Everything but the calls, which need all figures of all comparisons."""
    few = [f"{len(group.runs)} in {group.name}" for group in (baseline, new)
           if len(group.runs) < statistics.FEWEST_RUNS]
    too_few = (f"{statistics.FEWEST_RUNS} or more complete runs per side are needed, found " + " and ".join(few)
               if few else None)
    found = find_pairs(baseline.runs, new.runs) if settings.pairs and not few else None
    if found:
        baseline, new = Group(baseline.name, found.baseline), Group(new.name, found.new)
        times = found.times()
    elif settings.pairs and not few:
        shared = {run.plan.get("seed") for run in baseline.runs} & {run.plan.get("seed") for run in new.runs}
        if all(run.world == "simulation" for run in (*baseline.runs, *new.runs)) and shared:
            remarks.append(
                f"Not paired: {baseline.name} and {new.name} have {counted(len(shared), 'seed')} in common, but not all.")
    values = [[key_figures(run) for run in group.runs] for group in (baseline, new)]
    results, alike = [], []
    for figure in KEY_FIGURES:
        if settings.figures is not None and figure.name not in settings.figures:
            continue
        sides = [[of_run[figure.name] for of_run in side] for side in values]
        if all(value is None for side in sides for value in side):
            continue
        if found:
            # A pair that lacks one value is no pair for this figure.
            kept = [index for index, two in enumerate(zip(*sides)) if None not in two]
            sides = [[side[index] for index in kept] for side in sides]
            of_pairs = tuple(None if side is None else [side[index] for index in kept] for side in times)
        sides = [Side(tuple(float(value) for value in side if value is not None), _whole(figure, group))
                 for side, group in zip(sides, values)]
        result = measure_figure(figure, *sides, settings, of_pairs if found else None)
        (alike if _is_alike(result) else results).append(result)
    return Comparison(baseline, new, results, alike, found.why if found else None, too_few)


def _whole(figure, group):
    wholes = [of_run[figure.of] for of_run in group if of_run.get(figure.of)] if figure.of else []
    return float(np.median(wholes)) if wholes else None


def _any(result):
    return any(value != 0.0 for side in (result.baseline, result.new) for value in side.values)


def _is_alike(result):
    """Yes in all runs of both sides, or no in all: nothing to compare."""
    sides = (result.baseline, result.new)
    return (result.figure.kind == "share" and all(side.values for side in sides)
            and len({value for side in sides for value in side.values}) == 1)


def measure_figure(figure, baseline, new, settings=Settings(), pair_times=None):
    """Everything but the call. `pair_times`: value i of both sides is a pair; times or two None."""
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
        _measure_number(result, settings, pair_times)
    return result


def _measure_share(result, settings):
    yes_a, size_a = result.baseline.yes, len(result.baseline.values)
    yes_b, size_b = result.new.yes, len(result.new.values)
    result.scale = 1.0
    result.relevant = settings.relevant
    result.difference = yes_b / size_b - yes_a / size_a
    if result.reason is None:
        result.p_value = float(statistics.boschloo_p_values(size_a, size_b)[yes_a, yes_b])
        result.low, result.high = statistics.share_interval(yes_a, size_a, yes_b, size_b)


def _measure_number(result, settings, pair_times):
    figure = result.figure
    a, b = np.array(result.baseline.values), np.array(result.new.values)
    result.scale = abs(result.baseline.median) or abs(result.new.median) or None
    result.relevant = max(settings.relevant, 2.0 * figure.resolution) * (result.scale or 0.0)
    if result.reason is not None:
        result.difference = float(statistics.difference_of_sides(a, b))
        return
    generator = np.random.default_rng([settings.seed, zlib.crc32(figure.name.encode())])
    if pair_times is None:
        result.estimate = statistics.estimate_sides(a, b, _step(result))
        low, high = statistics.interval_of_sides(a, b, generator)
    else:
        differences, inflation = statistics.pair_differences(a, b, *pair_times)
        result.estimate = statistics.estimate_pairs(differences, inflation, _step(result))
        low, high = statistics.interval_of_pairs(differences, generator, inflation)
    result.difference = float(result.estimate.difference)
    result.p_value = float(statistics.p_value(result.estimate))
    if abs(result.difference) <= _floor(result, settings):
        result.p_value = 1.0
    # Latencies that fell into the same bucket are not equal, only not told apart.
    width = _step(result) if figure.resolution else 0.0
    result.low = min(float(low), result.difference - width / 2.0)
    result.high = max(float(high), result.difference + width / 2.0)


def _step(result):
    if result.figure.resolution:
        return result.figure.resolution * (result.scale or 0.0)
    return 0.0 if result.figure.unit in _MEASURED_UNITS else 1.0


def _floor(result, settings):
    return max(result.figure.resolution, settings.ignore_below, _ROUNDING) * (result.scale or 0.0)


def _judge(comparisons, settings):
    """All figures of all comparisons are one family, and the shares another: however many are looked at, the
    chance of any false call stays below ALPHA in each."""
    for kind in ("number", "share"):
        members = [(comparison, result) for comparison in comparisons for result in comparison.scored
                   if result.figure.kind == kind]
        tested = [
            np.nan if comparison.too_few or result.p_value is None or _all_equal(result) else result.p_value
            for comparison, result in members
        ]
        levels = statistics.holm_levels(np.array(tested)) if members else []
        for (comparison, result), level in zip(members, levels):
            if comparison.too_few:
                result.reason, result.low, result.high = "too few runs", None, None
            elif result.p_value is not None:
                _call(result, level, settings)


def _all_equal(result):
    """Equal in every run of both sides: it cannot be called falsely, and does not take part in the family."""
    values = (*result.baseline.values, *result.new.values)
    return result.figure.kind == "number" and max(values) - min(values) <= _ROUNDING * abs(values[0])


def _call(result, level, settings):
    if _all_equal(result):
        result.call = NO_DIFFERENCE
        result.threshold = result.detectable = _floor(result, settings)
        return
    result.level = float(level)
    if result.figure.kind == "share":
        sizes = result.baseline.yes, len(result.baseline.values), len(result.new.values)
        result.threshold = statistics.share_threshold(*sizes, level)
        result.detectable = statistics.share_detectable(*sizes, level)
    else:
        floor = _floor(result, settings)
        result.threshold = float(statistics.threshold(result.estimate, level, floor))
        result.detectable = float(statistics.detectable(result.estimate, level, floor))
    if result.p_value <= level:
        result.call = BETTER if (result.difference > 0.0) == (result.figure.better == "higher") else WORSE
    elif (result.detectable is not None and result.detectable <= result.relevant
          and -result.relevant <= result.low and result.high <= result.relevant):
        result.call = NO_DIFFERENCE
