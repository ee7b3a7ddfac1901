"""Which key figures of some runs differ from those of baseline runs. Groups of runs in, judgements out;
nothing is read, printed or drawn here. What is decided how: statistics.py."""

from __future__ import annotations

import dataclasses

import numpy as np

from weir_runs.basics.errors import ReportError
from weir_runs.basics.units import counted, percent
from weir_runs.reading import host_counters, switch_counters
from weir_runs.reading.key_figures import COMPLETED, KEY_FIGURES, key_figures
from . import bad_runs, doubts, idle_settings, statistics
from .answer import Answer, make_answer, short_names
from .comparison_settings import BETTER, INCONCLUSIVE, NO_DIFFERENCE, Settings, WORSE
from .figure_results import Side, all_equal, measure_figure
from .run_groups import (Group, are_network_settings, describe_plan_differences, plan_differences, refuse_empty,
                         refuse_shared_runs, usable, worlds_and_versions)
from .run_pairs import PairsOfGroups


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
    def informative(self):
        """Scored, and not the same in all runs, within what the measurement resolves; both sides have it."""
        return [result for result in self.scored if _has_information(result)]

    @property
    def uninformative(self):
        return [result for result in self.scored if not _has_information(result)]

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
    answer: Answer
    capacity: object | None = None  # capacity.Capacity, if that decides

    def calls(self, call):
        return [result for comparison in self.comparisons for result in comparison.scored if result.call == call]

    def deciding_calls(self):
        """The call of the deciding figure for each setting against the first one, the baseline."""
        settings = range(1, len(self.answer.ranking))
        if self.answer.pressure.cannot_differ:
            return [INCONCLUSIVE for _ in settings]
        return [_deciding_call(self.answer.measured, index) for index in settings]


def _deciding_call(ranked, index):
    pair = ranked.told[0][index]
    if pair is not None:
        return WORSE if pair.better == 0 else BETTER
    if not (ranked.judged[0] and ranked.judged[index]) or ranked.doubt(0, index):
        return INCONCLUSIVE
    pair = ranked.decided_by and ranked.of_figure(ranked.decided_by, 0, index)
    if bad_runs.hinders(ranked, 0, index):
        return INCONCLUSIVE
    if pair is None or pair.is_called or all_equal(pair.result):
        return NO_DIFFERENCE
    return pair.result.call


def compare(baseline, new_groups, settings=Settings(), by=None, prover=None):
    """Judges each of `new_groups` against `baseline`; `prover`: a proofs.Prover. Raises ReportError if the runs cannot
    be compared."""
    remarks = []
    groups = [usable(group, remarks) for group in (baseline, *new_groups)]
    refuse_empty(groups)
    refuse_shared_runs(groups)
    differences = plan_differences(groups)
    only_settings = are_network_settings(differences)
    if not settings.allow_different_plans and not only_settings:
        raise ReportError(
            "the runs have different plans: " + describe_plan_differences(differences, groups) +
            ". Runs of one plan are expected; --allow-different-plans compares them nevertheless")
    if not only_settings:
        remarks.append(f"Plans differ (allowed): {describe_plan_differences(differences, groups)}.")
    remarks += worlds_and_versions(groups)
    remarks += _counters(groups) + _stalls(groups)
    pairs = PairsOfGroups(groups) if settings.pairs else None
    remarks += _unpaired(groups) if pairs else []
    pressure = idle_settings.found([group for group in groups if group.runs], differences, by)
    doubted = doubts.found(groups, short_names([group.name for group in groups]), differences)
    answer = make_answer(groups, settings, pressure=pressure, doubts=doubted, pairs=pairs, prover=prover)
    if prover and not answer.proofs:
        remarks.append("--prove tried nothing: it needs simulated runs of settings that certainly differ, and an "
                       "or a mechanism in which they differ.")
    comparisons = [_against(groups, index, answer.measured, settings, pairs) for index in range(1, len(groups))
                   if groups[0].runs and groups[index].runs]
    if pressure.cannot_differ:
        _leave_open(comparisons)
    return Report(comparisons, differences, groups, remarks, by, settings, answer)


def compare_capacities(capacity, groups, settings=Settings()):
    """A Report without comparisons of key figures: the runs of a search were made at different rates. `groups`: by
    name, of the settings of a capacity.Capacity; those without a complete run may be absent."""
    remarks = []
    kept = [usable(group, remarks) for group in groups if any(run.status == "complete" for run in group.runs)]
    remarks += _counters(kept) + _stalls(kept)
    # Runs of one search differ in the rate, and in what follows from it.
    differences = {option: values for option, values in plan_differences(kept).items()
                   if option not in ("rate", "buffer")}
    pressure = idle_settings.found(kept, differences) if capacity.find == "rate" else idle_settings.IdleSettings()
    return Report([], {}, kept, remarks, None, settings, make_answer(kept, settings, capacity, pressure), capacity)


def _leave_open(comparisons):
    """Figures of settings that cannot differ in the plan: that they do not is no finding."""
    for result in (result for comparison in comparisons for result in comparison.scored):
        if result.call == NO_DIFFERENCE:
            result.call, result.reason = INCONCLUSIVE, "the settings cannot differ in this plan"


def _counters(groups):
    runs = [run for group in groups for run in group.runs]
    return [sentence for sentence in (switch_counters.missing(runs), host_counters.unknown(runs),
                                      host_counters.missing(runs)) if sentence]


# Share of the measured time in stalls of 10 ms and more: a host that has time for its ranks has hardly any.
STALLED_FROM = 0.05


def _stalls(groups):
    """Runs whose hosts were busy with something else measure that, too."""
    shares = {group.name: float(np.median([_stalled_share(run) for run in group.runs])) for group in groups
              if group.runs}
    most, least = (choose(shares, key=shares.get, default=None) for choose in (max, min))
    if most is None or shares[most] < STALLED_FROM:
        return []
    beside = f", {least} {percent(shares[least])}" if most != least else ""
    return [f"Event loops stood still: {most} {percent(shares[most])} of the time{beside} (the worst rank, median of "
            "runs). Hosts that are slow or have other work were measured, too."]


def _stalled_share(run):
    return max(((rank.get("stalled_s") or 0.0) / rank["measured_s"] for rank in run.record.get("ranks", [])
                if rank.get("measured_s")), default=0.0)


def _unpaired(groups):
    """Simulations that share some seeds, and not all."""
    remarks = []
    for group in groups[1:]:
        runs = [*groups[0].runs, *group.runs]
        seeds = [{run.plan.get("seed") for run in side.runs} for side in (groups[0], group)]
        if all(run.world == "simulation" for run in runs) and seeds[0] & seeds[1] and seeds[0] != seeds[1]:
            remarks.append(f"Not paired: {groups[0].name} and {group.name} have "
                           f"{counted(len(seeds[0] & seeds[1]), 'seed')} in common, but not all.")
    return remarks


def _against(groups, index, ranked, settings, pairs):
    """The Comparison of a group with the first one: results of the ranking, and what explains them."""
    baseline, new = groups[0], groups[index]
    few = [f"{len(group.runs)} in {group.name}" for group in (baseline, new)
           if len(group.runs) < statistics.FEWEST_RUNS]
    found = pairs.pairs(0, index) if pairs else None
    values = [[key_figures(run) for run in group.runs] for group in (baseline, new)]
    results, alike = [], []
    for figure in (COMPLETED, *KEY_FIGURES):
        if settings.figures is not None and figure.name not in settings.figures:
            continue
        pair = ranked.of_figure(figure, 0, index) if figure.is_scored else None
        if pair is not None:
            result = pair.seen_from(0)
        elif figure is COMPLETED or all(of_run[figure.name] is None for side in values for of_run in side):
            continue
        else:
            sides = [Side(tuple(float(of_run[figure.name]) for of_run in side if of_run[figure.name] is not None))
                     for side in values]
            result = measure_figure(figure, *sides, settings)
        result.baseline, result.new = (dataclasses.replace(side, whole=_whole(figure, of_runs))
                                       for side, of_runs in zip((result.baseline, result.new), values))
        (alike if _is_alike(result) else results).append(result)
    if found:
        baseline, new = (dataclasses.replace(group, runs=runs)
                         for group, runs in ((baseline, found.baseline), (new, found.new)))
    too_few = (f"{statistics.FEWEST_RUNS} or more complete runs per side are needed, found {' and '.join(few)}"
               if few else None)
    return Comparison(baseline, new, results, alike, found.why if found else None, too_few)


def _has_information(result):
    values = (*result.baseline.values, *result.new.values)
    if not result.baseline.values or not result.new.values:
        return False
    return max(values) - min(values) > max(result.figure.resolution, 1e-9) * max(abs(value) for value in values)


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
