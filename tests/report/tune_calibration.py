"""How often weir-sweep tune's choice is right, on tables whose best is known, with the noise of runs; and what other
searches with as many runs reach. `python3 tests/report/tune_calibration.py` prints the tables of
docs/tuning-a-switch.md; test_tune_search.py asserts a part."""

import argparse
import dataclasses
import functools
import itertools
import math
import sys
import zlib
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "src" / "report"), str(Path(__file__).parent)]

import tune_grids  # noqa: E402
from weir_runs.reading.key_figures import KeyFigure  # noqa: E402
from weir_suites.tune import axes as tune_axes, candidate_search, decide, tune_file  # noqa: E402
from weir_suites.tune.axes import of_list  # noqa: E402

FIGURE = KeyFigure("margin", "longest delivery time", "s", "lower")
# 400 settings: three axes of numbers and one of choices; and the setting that is in force.
MADE_UP_AXES = (of_list("kmin", [10, 20, 40, 80, 160]), of_list("kmax", [100, 200, 400, 800, 1600]),
                of_list("slots", [1, 2, 4, 8]), of_list("policy", ["balanced", "token", "random", "none"]))
MADE_UP_PRESENT = (20.0, 200.0, 2.0, "balanced")
WITHIN = 0.01


@dataclasses.dataclass(frozen=True)
class Grid:
    """Means of all settings, and how their runs differ: `noise` of each run, `of_seed` of a seed for all settings, as
    shares."""

    means: dict
    noise: float
    of_seed: float = 0.05
    axes: tuple = MADE_UP_AXES
    present: tuple = MADE_UP_PRESENT

    def value(self, candidate, seed, draw):
        """One run; the same setting and seed give the same. `draw`: of the try."""
        of_run = np.random.default_rng([draw, seed, zlib.crc32(repr(candidate).encode())]).standard_normal()
        of_seed = np.random.default_rng([draw, seed]).standard_normal()
        return self.means[candidate] * math.exp(self.noise * of_run + self.of_seed * of_seed)

    @functools.cached_property
    def best(self):
        return min(self.means.values())


@dataclasses.dataclass(frozen=True)
class Recorded:
    """A grid that was simulated wholly. `fixed`: all runs have seed 1; else each try has its own order of the seeds:
    those of the search, then those of the confirmation."""

    values: dict
    axes: tuple
    present: tuple
    fixed: bool

    def value(self, candidate, seed, draw):
        if self.fixed:
            return self.values[candidate][0]
        order = np.random.default_rng([draw, 7]).permutation(len(self.values[candidate]))
        # The search and the first confirmation have seeds from the front, the others from the end; of more than there
        # are, some come again.
        place = (seed - 1 if seed < 1000 else candidate_search.SEEDS_MAX + seed - 1000 if seed < 2000 else -1
                 - seed % 1000)
        return self.values[candidate][order[place % len(order)]]

    @functools.cached_property
    def means(self):
        return {candidate: values[0] if self.fixed else sum(values) / len(values)
                for candidate, values in self.values.items()}

    @functools.cached_property
    def best(self):
        return min(self.means.values())


def recorded(name, fixed):
    layout = tune_grids.LAYOUTS[name]
    return Recorded(tune_grids.read(name), layout.axes, layout.present_candidate, fixed)


def places(candidate):
    return [axis.place_of(value) for axis, value in zip(MADE_UP_AXES, candidate)]


def grid_of(surface, noise, draw):
    """`surface(places, choice's number, generator's numbers)`: logarithm of the mean."""
    numbers = np.random.default_rng([draw, 99]).random(16)
    candidates = itertools.product(*(axis.values for axis in MADE_UP_AXES))
    choices = MADE_UP_AXES[3].values
    return Grid({candidate: math.exp(surface(places(candidate), choices.index(candidate[3]), numbers))
                 for candidate in candidates}, noise)


def bowl(at, choice, numbers):
    """A best place somewhere, and a worst choice."""
    return (0.8 * sum((place - number) ** 2 for place, number in zip(at[:3], numbers)) + 0.15
            * ((choice + int(4 * numbers[3])) % 4 > 0))


def flat(at, choice, numbers):
    return 0.0


def ridge(at, choice, numbers):
    """Two axes only matter together: the sum of both must be right."""
    return (1.5 * (at[0] + at[1] - 0.5 - numbers[0]) ** 2 + 0.1 * (at[2] - numbers[1]) ** 2 + 0.05
            * (choice == int(4 * numbers[2])))


def cliff(at, choice, numbers):
    """Below a threshold everything is lost; beyond it a slope leads away from it."""
    edge = 0.2 + 0.5 * numbers[0]
    return (2.5 if at[0] + 0.3 * at[1] < edge else 0.0) + 0.6 * at[0] + 0.2 * (at[2] - numbers[1]) ** 2 + 0.02 * choice


def interaction(at, choice, numbers):
    """Which slots are best depends on the choice."""
    wanted = numbers[choice]
    return 0.6 * (at[2] - wanted) ** 2 + 0.5 * (at[0] - numbers[4]) ** 2 + 0.1 * numbers[5 + choice]


def planted(at, choice, numbers):
    """Half of all axes makes no difference; one corner of two others is 15 % better."""
    return -0.15 * math.exp(-12.0 * ((at[0] - numbers[0]) ** 2 + (at[1] - numbers[1]) ** 2))


SURFACES = {"flat": flat, "bowl": bowl, "ridge": ridge, "cliff": cliff, "interaction": interaction, "planted": planted}


@dataclasses.dataclass
class Try:
    """`loss`: how much worse the choice is than the best of the grid; `claimed`: a setting was called better than the
    present one; `wrongly`: and is not. `runs`: of the search and of the confirmation; `around`: of neighbours, besides;
    `moved`: one of them was proposed; `loss_before`: without them. `put_back`: axes went back to their present value;
    `loss_with_all`: without that."""

    loss: float
    claimed: bool
    wrongly: bool
    runs: int
    around: int
    moved: bool
    loss_before: float
    put_back: bool
    loss_with_all: float


def tune(grid, budget, draw, propose=candidate_search.propose, finalists=candidate_search.finalists):
    """One whole search with its confirmation."""
    history = []
    while rung := propose(history, grid.axes, grid.present,
                          tune_file.search_runs(budget, history, tune_file.seeds_of(budget, history)), draw):
        history += [candidate_search.Trial(candidate, seed, math.log(grid.value(candidate, seed, draw)))
                    for seed, candidates in rung.items() for candidate in candidates]
    chosen = finalists(history, grid.axes, grid.present, draw)
    seeds = tune_file.seeds_of(budget, history)
    runs = confirmed_with(grid, (grid.present, *chosen), seeds, 1000, draw)
    if some_differ(runs):
        seeds = tune_file.confirm_of(budget)
        runs = confirmed_with(grid, runs, seeds, 1000, draw)
    changes, keeps = decide.confirmed(FIGURE, runs[grid.present],
                                      [runs[candidate] for candidate in chosen]), [True] * len(chosen)
    more = 0
    if again := decide.again(changes, keeps, seeds):
        index, more = again
        sides = [[grid.value(candidate, 2000 + number, draw) for number in range(more)]
                 for candidate in (grid.present, chosen[index])]
        changes[index] = decide.confirmed_again(FIGURE, *sides)
    place = decide.choose(changes, keeps)
    chosen_first = grid.present if place is None else chosen[place]
    moved_to, around = neighbour_of(grid, chosen_first, seeds, tune_file.confirm_of(budget), draw)
    choice = moved_to if moved_to == grid.present else fewest_changes(grid, moved_to, tune_file.confirm_of(budget),
                                                                      draw)
    claimed = choice != grid.present
    return Try(grid.means[choice] / grid.best - 1.0, claimed,
               claimed and grid.means[choice] >= grid.means[grid.present], len(history) + len(runs) * seeds + 2 * more,
               around, moved_to != chosen_first, grid.means[chosen_first] / grid.best - 1.0, choice != moved_to,
               grid.means[moved_to] / grid.best - 1.0)


def confirmed_with(grid, candidates, seeds, first_seed, draw):
    return {candidate: [grid.value(candidate, first_seed + number, draw) for number in range(seeds)]
            for candidate in candidates}


def some_differ(values):
    first = next(iter(values.values()))
    return any(decide.differ(first, of_one) for of_one in values.values())


def neighbour_of(grid, choice, seeds, most, draw):
    """(the best of the neighbours of a choice, if two sets of seeds say that it is better, else the choice; the runs of
    them). `seeds` of each, or `most` of all where some differ."""
    near = [candidate for _, _, candidate in tune_axes.around(grid.axes, choice, grid.present)]
    values = confirmed_with(grid, (choice, *near), seeds, 1000, draw)
    if some_differ(values):
        more = (most - seeds) * len({choice, grid.present})
        seeds = most
        values = confirmed_with(grid, values, seeds, 1000, draw)
    else:
        more = 0
    runs = more + seeds * len(set(near) - {grid.present})
    changes = decide.changes([(FIGURE, values[choice], values[candidate]) for candidate in near])
    better = [(change.gain, candidate) for change, candidate in zip(changes, near) if change.is_better]
    if not better:
        return choice, runs
    neighbour = max(better)[1]
    last = dict.fromkeys((neighbour, grid.present, choice))
    sides = confirmed_with(grid, last, most, 3000, draw)
    return neighbour if decide.replaces(FIGURE, *sides.values())[1] else choice, runs + most * len(sides)


def fewest_changes(grid, choice, seeds, draw):
    """The choice with all axes back at the present value where that makes no difference, if other seeds say so, too."""
    alone = [(axis.name, candidate) for axis, words, candidate in tune_axes.around(grid.axes, choice, grid.present)
             if words == "present"]
    values = confirmed_with(grid, (choice, *(candidate for _, candidate in alone)), seeds, 1000, draw)
    changes = decide.changes([(FIGURE, values[choice], values[candidate]) for _, candidate in alone])
    fewest = tune_axes.put_back(grid.axes, choice, grid.present,
                                {name for (name, _), change in zip(alone, changes) if change.is_worth_nothing})
    if fewest in (choice, grid.present):
        return choice
    sides = confirmed_with(grid, (fewest, grid.present, choice), seeds, 5000, draw)
    return fewest if decide.is_as_good(FIGURE, *sides.values())[2] else choice


def sample_only(history, axes, present, budget, seed):
    """The whole budget for an even sample, a run each."""
    return {} if history else {1: candidate_search._first([], axes, present, budget, seed, lambda candidate: True)}


def halving(history, axes, present, budget, seed):
    """Successive halving: half of the candidates get a run with the next seed, until four are left."""
    if not history:
        return {1: candidate_search._first([], axes, present, budget // 2, seed, lambda candidate: True)}
    found = sorted(candidate_search.standings(history), key=lambda one: one.score)
    seeds = max(trial.seed for trial in history)
    survivors = [one.candidate for one in found
                 if one.runs == seeds][:max(4, len([one for one in found if one.runs == seeds]) // 2)]
    left = budget - len(history)
    return {seeds + 1: survivors[:left]} if left > 0 else {}


def best_seen(history, axes, present, seed):
    found = sorted(candidate_search.standings(history), key=lambda one: (-one.runs, one.score))
    return [one.candidate for one in found if one.candidate != present][:candidate_search.finalists_wanted(history)]


SEARCHES = {"tune": (candidate_search.propose, candidate_search.finalists), "sample alone": (sample_only, best_seen),
            "successive halving": (halving, best_seen)}


def tries(grid_for, budget, count, which="tune", first=0):
    """`grid_for(draw)`: the grid of a try; `first`: its number."""
    return [tune(grid_for(draw), budget, draw, *SEARCHES[which]) for draw in range(first, first + count)]


def made_up(name, noise):
    return lambda draw: grid_of(SURFACES[name], noise, draw)


def share(values):
    values = list(values)
    return sum(values) / len(values)


def cells(grid_for, budgets, count, first, made):
    """Of each budget of tune, then of the other searches with the last one: tries within 1 % of the best, and the loss
    of 19 in 20. `made`: gets the tries of tune."""
    found = []
    for which in SEARCHES:
        for budget in budgets if which == "tune" else budgets[-1:]:
            got = tries(grid_for, budget, count, which, first)
            made += got if which == "tune" else []
            losses = sorted(one.loss for one in got)
            found.append(f"{100 * share(loss <= WITHIN for loss in losses):.0f} % / "
                         f"{100 * losses[math.ceil(0.95 * count) - 1]:.1f} %")
    return found


def head(first, budgets):
    titles = [*(f"tune, {budget} runs" for budget in budgets),
              *(f"{which}, {budgets[-1]}" for which in list(SEARCHES)[1:])]
    print(f"| {first} | " + " | ".join(titles) + " |")
    print("|---|---|" + "---|" * (len(budgets) + len(SEARCHES) - 1))


def print_moves(made):
    """What the neighbours of a choice came to."""
    moved, back = [one for one in made if one.moved], [one for one in made if one.put_back]
    print(f"\nA neighbour was proposed in {len(moved)} of {len(made)} tries of tune, and was better in "
          f"{sum(one.loss_with_all < one.loss_before for one in moved)} of them; "
          f"{share(one.around for one in made):.0f} runs of neighbours in a try. Axes went back to their present value "
          f"in {len(back)}, by which the choice became worse by "
          f"{100 * max((one.loss - one.loss_with_all for one in back), default=0.0):.2f} % at most\n", flush=True)



def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first try: the search was chosen by tries "
                                                             "from 1000 on, the page has those from 0")
    parser.add_argument("--budgets", default="60,90,120")
    parser.add_argument("--tables", default="simulated,made-up,flat", help="these, or the names of simulated grids")
    options = parser.parse_args()
    budgets = [int(text) for text in options.budgets.split(",")]
    wanted = options.tables.split(",")
    if simulated := [name for name in tune_grids.LAYOUTS if name in wanted or "simulated" in wanted]:
        made = []
        head("simulated grid | seeds", budgets)
        for name in simulated:
            for fixed in (True, False):
                grid = recorded(name, fixed)
                found = cells(lambda draw, grid=grid: grid, budgets, options.tries, options.first, made)
                print(f"| {name} | {'one' if fixed else 'others in each try'} | " + " | ".join(found) + " |",
                      flush=True)
        print_moves(made)
    if "made-up" in wanted:
        made = []
        head("made-up table | noise", budgets)
        for name in [name for name in SURFACES if name != "flat"]:
            for noise in (0.0, 0.005, 0.02):
                found = cells(made_up(name, noise), budgets, options.tries, options.first, made)
                print(f"| {name} | {100 * noise:g} % | " + " | ".join(found) + " |", flush=True)
        print_moves(made)
    if "flat" in wanted:
        made = []
        print("| all settings are equal, noise | " + " | ".join(f"{budget} runs" for budget in budgets) + " |")
        print("|---|" + "---|" * len(budgets))
        for noise in (0.0, 0.005, 0.02, 0.1):
            of_budgets = [tries(made_up("flat", noise), budget, 4 * options.tries, first=options.first)
                          for budget in budgets]
            made += sum(of_budgets, [])
            claims = [share(one.claimed for one in got) for got in of_budgets]
            print(f"| {100 * noise:g} % | " + " | ".join(f"{100 * one:.1f} %" for one in claims) + " |", flush=True)
        print_moves(made)


if __name__ == "__main__":
    main()
