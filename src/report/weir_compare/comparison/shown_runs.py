"""Which runs of a comparison its page draws: all of them, or of a measured capacity those at the limit of each setting;
and which of them is typical."""

import dataclasses
from pathlib import PurePath

from weir_runs.figures.charts import curve_colour
from weir_runs.reading.key_figures import KEY_FIGURES, key_figures
from . import run_charts
from .run_groups import Group

# Typical runs are chosen by this where yes or no decides.
_FALLBACK = next(figure for figure in KEY_FIGURES if figure.name == "worst_occupancy")


@dataclasses.dataclass
class Shown:
    """In the order of the ranking, each with the setting's short name, its runs, their key figures, its colour, and the
    index of its typical run. `every`: the groups with all runs, in the order of the answer's names. `how`: how the
    typical run was chosen, a sentence."""

    groups: list
    figures: list
    colours: list
    chosen: list
    every: list
    how: str


def shown_runs(report):
    answer, capacity = report.answer, report.capacity
    order = [row.index for row in answer.ranking]
    every = list(report.groups)
    if capacity:
        by_name = {group.name: group for group in report.groups}
        every = [by_name.get(setting.name, Group(setting.name, [])) for setting in capacity.settings]
        found = [at_limit(capacity, setting, group.runs) for setting, group in zip(capacity.settings, every)]
        groups = [Group(answer.names[index], [run for _, run in found[index]]) for index in order]
        chosen = [run_charts.typical([value for value, _ in found[index]]) for index in order]
        how = ("At the limit of each setting: the best run of each round that held, so at other values than those of "
               "other settings. In colour the one in the middle, grey the others.")
    else:
        groups = [Group(answer.names[index], every[index].runs) for index in order]
    figures = [[key_figures(run) for run in group.runs] for group in groups]
    if not capacity:
        by = next((figure for figure in answer.columns if figure.kind == "number"), _FALLBACK)
        chosen = [run_charts.typical([of_run[by.name] for of_run in side]) for side in figures]
        how = f"In colour the run in the middle by {by.head}, grey the other runs."
    return Shown(groups, figures, [curve_colour(index) for index in order], chosen, every, how)


def at_limit(capacity, setting, runs):
    """[(value, run)]: of each complete round the best value that held."""
    by_name = {run.directory.name: run for run in runs}
    best = max if capacity.quantity.better == "higher" else min
    found = []
    for search in setting.searches:
        held = [trial for trial in search.runs if trial.held and trial.directory
                and PurePath(trial.directory).name in by_name]
        if search.complete and held:
            trial = best(held, key=lambda trial: trial.value)
            found.append((trial.value, by_name[PurePath(trial.directory).name]))
    return found
