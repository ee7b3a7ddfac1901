"""Made-up runs of several settings whose truth is known: what calibration.py and tests measure the comparison with.

A case says what happens to the runs; draw() gives the key figures of one set of them, as the engine takes them
(ranking.py). Whatever happens to a run shows in all of its figures, as it does in a network; each figure has its own
noise beside."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import types

import numpy as np

from weir_compare.comparison import ranking, run_order
from weir_compare.comparison.doubts import Doubt
from weir_compare.comparison.run_pairs import PairsOfGroups

# The chain of a fixed rate, without what is the same in all runs more often than not. For each, whether more is better.
FIGURES = {"late_share": False, "longest_stay": False, "worst_occupancy": False, "goodput": True, "delivery_p99": False,
           "evenness": True}
LEVEL = 100.0  # of all figures: a noise of 1 is 1 %
RUN_S = 60.0  # from one begin to the next
LOGNORMAL_SIGMA = 0.8
OUTLIER_SHARE, OUTLIER_FACTOR = 0.1, 5.0


@dataclasses.dataclass(frozen=True)
class Case:
    """`gains`: by how many points setting i is better than the first one. `order`: of the runs, see begins().
    `mode_share`: so many runs of every setting are `mode_points` worse, by chance. `fails`: chance that a run of
    setting i fails."""

    title: str
    noise: str = "normal"  # normal, lognormal or outliers
    percent: float = 1.0  # its spread
    spreads: tuple = ()  # factors of it, of the first settings; all others 1
    gains: tuple = ()
    order: str = "turns"  # ABBA; "alternate": ABAB; "blocks": AABB
    drift: str | None = None  # line, step or walk
    drift_points: float = 5.0  # from the first run to the last; of a walk: its standard deviation at the end
    mode_share: float = 0.0
    mode_points: float = 20.0
    modes_by_figure: bool = False  # each figure of a run is in its own one
    fails: tuple = ()
    sustained: float = 1.0  # chance that a complete run is
    sizes: tuple = ()  # runs of setting i, where they are not all as many

    def gain(self, index):
        return self.gains[index] if index < len(self.gains) else 0.0


@dataclasses.dataclass(frozen=True)
class Drawn:
    """The figures of each setting's complete runs, when they began (seconds), and how many failed."""

    values: dict  # {figure's name: [values of each setting's runs]}
    begins: list
    failed: list


def noise(kind, shape, generator):
    """Mean 0 and standard deviation 1. The lognormal has a skewness of 3.7; of `outliers`, one run in ten
    has five times the spread of the others."""
    normal = generator.standard_normal(shape)
    if kind == "normal":
        return normal
    if kind == "lognormal":
        square = LOGNORMAL_SIGMA ** 2
        return ((np.exp(LOGNORMAL_SIGMA * normal) - np.exp(square / 2.0))
                / np.sqrt((np.exp(square) - 1.0) * np.exp(square)))
    wide = generator.random(shape) < OUTLIER_SHARE
    spread = np.sqrt(1.0 - OUTLIER_SHARE + OUTLIER_SHARE * OUTLIER_FACTOR ** 2)
    return normal * np.where(wide, OUTLIER_FACTOR, 1.0) / spread


def draw(case, settings, size, generator):
    """One set of runs. `size`: of each setting, unless the case has sizes."""
    sizes = [case.sizes[index] if index < len(case.sizes) else size for index in range(settings)]
    begins = begin_times(case.order, sizes)
    drift = _drift(case, sum(sizes), generator)
    values = {name: [] for name in (*FIGURES, "sustained")}
    failed = []
    for index, of_setting in enumerate(begins):
        common = drift[np.round(of_setting / RUN_S).astype(int)] + case.gain(index)
        if not case.modes_by_figure:
            common = common - _modes(case, len(common), generator)
        kept = generator.random(len(common)) >= (case.fails[index] if index < len(case.fails) else 0.0)
        spread = case.percent * (case.spreads[index] if index < len(case.spreads) else 1.0)
        for name, more_is_better in FIGURES.items():
            own = spread * noise(case.noise, len(common), generator)
            if case.modes_by_figure:
                own = own - _modes(case, len(common), generator)
            values[name].append((LEVEL + (1.0 if more_is_better else -1.0) * (common + own))[kept].tolist())
        values["sustained"].append((generator.random(len(common)) < case.sustained)[kept].astype(float).tolist())
        begins[index] = of_setting[kept]
        failed.append(int((~kept).sum()))
    return Drawn(values, [of_setting.tolist() for of_setting in begins], failed)


def _modes(case, runs, generator):
    return case.mode_points * (generator.random(runs) < case.mode_share)


def begin_times(order, sizes):
    """When the runs of each setting begin, in seconds. "turns": every round in the reverse order of the one before."""
    if order == "blocks":
        sequence = [index for index, size in enumerate(sizes) for _ in range(size)]
    else:
        sequence = []
        for number in range(max(sizes)):
            of_round = [index for index, size in enumerate(sizes) if number < size]
            sequence += of_round[::-1] if order == "turns" and number % 2 else of_round
    places = np.array(sequence)
    return [RUN_S * np.flatnonzero(places == index) for index in range(len(sizes))]


def _drift(case, runs, generator):
    """Points by which each run, in the order of time, is better."""
    places = np.linspace(0.0, 1.0, runs)
    if case.drift == "line":
        return case.drift_points * places
    if case.drift == "step":
        return case.drift_points * (places > generator.random())
    if case.drift == "walk":
        return case.drift_points * np.cumsum(generator.standard_normal(runs)) / np.sqrt(runs)
    return np.zeros(runs)


def as_runs(drawn):
    """ranking.Runs, with doubts and pairs as of measured runs."""
    beginning = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    groups = [types.SimpleNamespace(runs=[
        types.SimpleNamespace(world="measurement", started_at=beginning + datetime.timedelta(seconds=begun))
        for begun in of_setting]) for of_setting in drawn.begins]
    doubts = {(i, j): Doubt("no turns") for i, j in itertools.combinations(range(len(groups)), 2)
              if run_order.separating_stretch(drawn.begins[i], drawn.begins[j]) is not None}
    pairs = PairsOfGroups(groups)
    return ranking.Runs(drawn.values, tuple(drawn.failed), doubts, pairs.times_of, pairs.few_times_of)


# Equal settings: whoever is placed before another, is so by chance.
EQUAL = (
    Case("equal, noise 1 %"),
    Case("equal, lognormal noise", noise="lognormal"),
    Case("equal, outliers", noise="outliers"),
    Case("one spreads five times as much", spreads=(5.0,)),
    Case("all but one spread five times as much", spreads=(1.0, *[5.0] * 9)),
    Case("one spreads three times as much, outliers", noise="outliers", spreads=(3.0,)),
    Case("half of the runs in another mode", percent=0.5, mode_share=0.5),
    Case("a fifth of the runs in another mode", percent=0.5, mode_share=0.2),
    Case("half of the runs in another mode, by figure", percent=0.5, mode_share=0.5, modes_by_figure=True),
    Case("half of the runs sustained", sustained=0.5),
    Case("drift in a line, A B B A", percent=0.5, drift="line"),
    Case("drift in a line, A B A B", percent=0.5, drift="line", order="alternate"),
    Case("a step at any time, A B B A", percent=0.5, drift="step"),
    Case("a random walk, A B B A", percent=0.5, drift="walk"),
    Case("drift in a line, A A B B", percent=0.5, drift="line", order="blocks"),
    Case("a step at any time, A A B B", percent=0.5, drift="step", order="blocks"),
    Case("a random walk, A A B B", percent=0.5, drift="walk", order="blocks"),
    Case("three runs in ten fail, whatever the setting", fails=(0.3,) * 10),
)
# The last setting is better.
UNEQUAL = (
    Case("3 % better, noise 0.5 %", percent=0.5, gains=(0.0, 3.0)),
    Case("3 % better, noise 1 %", gains=(0.0, 3.0)),
    Case("3 % better, noise 2 %", percent=2.0, gains=(0.0, 3.0)),
    Case("3 % better, noise 1 %, lognormal", noise="lognormal", gains=(0.0, 3.0)),
    Case("3 % better, drift of 5 %, noise 0.5 %", percent=0.5, gains=(0.0, 3.0), drift="line"),
    Case("20 % better, spreads of 1 and 5 %", gains=(0.0, 20.0), spreads=(5.0,)),
    Case("20 % better, half of the runs 20 % worse", percent=0.5, gains=(0.0, 20.0), mode_share=0.5),
    Case("never fails, the other in 7 of 10", fails=(0.7, 0.0)),
)
