"""The ranking of settings by their measured capacity: by the engine of all comparisons (ranking.py), with rounds of
searches in the place of runs. A setting whose limit is outside of the range, or whose runs scatter too much for an
answer, is ranked against nothing."""

from pathlib import Path

from weir_runs.reading.key_figures import KeyFigure, MARGIN
from . import capacity_estimates, ranking
from .figure_results import INCONCLUSIVE, NO_DIFFERENCE, all_equal
from .run_groups import Group
from .statistics import FEWEST_PAIRS, FEWEST_RUNS


def figure_of(capacity):
    """The middle of a bracket is within half of its width of the limit."""
    quantity = capacity.quantity
    return KeyFigure("capacity", quantity.title, quantity.unit, quantity.better, rank=MARGIN, short="median limit",
                     resolution=(capacity.resolution or 0.0) / 2.0,
                     meaning="median limit: what half of the runs hold; round: one whole search for the limit of every "
                             "setting")


def every_run_of(capacity):
    """What was held in every run: shown beside, and decides nothing."""
    quantity = capacity.quantity
    return KeyFigure("every_run", f"{quantity.title} held in every run", quantity.unit, quantity.better, rank=MARGIN,
                     short="held in every run")


def limits(capacity):
    """capacity_estimates.Limit of every setting, None where no round is complete."""
    return [capacity_estimates.limit(capacity, setting) for setting in capacity.settings]


def rank(capacity, settings):
    """All pairs of settings; `settings`: figure_results.Settings."""
    figure, found = figure_of(capacity), limits(capacity)
    there = [limit is not None and limit.is_closed and limit.is_answer for limit in found]
    searches = [capacity_estimates.complete_searches(setting) if known else []
                for setting, known in zip(capacity.settings, there)]
    values = {figure.name: [[capacity_estimates.value_of(capacity, search) for search in side] for side in searches]}
    pairs = ranking.called_pairs([figure], ranking.Runs(values, times_of=_pairs_of(searches, settings, FEWEST_PAIRS),
                                                       few_times_of=_pairs_of(searches, settings, FEWEST_RUNS)),
                                 settings)
    for pair in pairs:
        _take_back_equal(pair.result, settings)
    judged = [known and len(side) >= FEWEST_RUNS for known, side in zip(there, searches)]
    shown = {figure.name: [[None if limit is None else limit.value] for limit in found]}
    made = ranking.made_of([figure], pairs, shown, figure, judged)
    made.is_open = any(limit is not None and (limit.above if figure.better == "higher" else limit.below)
                       for limit in found)
    return made


def _take_back_equal(result, settings):
    """A resolution that is coarser than what is relevant shows no equality within that."""
    within = settings.relevant * (result.scale or 0.0)
    if result.call == NO_DIFFERENCE and not all_equal(result) and max(abs(result.low), abs(result.high)) > within:
        result.call = INCONCLUSIVE


def _pairs_of(searches, settings, fewest):
    """Rounds of two settings took turns: with enough of them, what both have in common cancels. As times_of of
    ranking.Runs."""
    def times_of(i, j):
        numbers = [{search.round: index for index, search in enumerate(searches[side])} for side in (i, j)]
        common = sorted(set(numbers[0]) & set(numbers[1]))
        if not settings.pairs or len(common) < max(fewest, len(numbers[0]), len(numbers[1])):
            return None
        return tuple([of_side[number] for number in common] for of_side in numbers), (None, None)
    return times_of


def runs_beyond(setting, group):
    """Those runs of a group in which the setting (of a Capacity) just failed, which shows why; if there are none, those
    at the limit."""
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
