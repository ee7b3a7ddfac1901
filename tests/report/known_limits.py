"""Made-up campaigns with `find` whose truth is known: what limit_calibration.py and tests measure the search with.

A case says how the limit of each run differs from that of its setting. campaign() makes all runs of a campaign, asking
Searches for each value as weir-sweep does, and gives what weir-sweep would write: a Capacity."""

from __future__ import annotations

import dataclasses
import math

from weir_compare.sweep.limit_search import Searches, Space
from weir_runs.reading.capacity import Capacity, Search, Setting, Trial

LIMIT = 60.0  # of the first setting
START = 50.0
RANGE = 16.0  # the search may go to so many times the start, and to such a part of it
MODE_FACTOR = 0.8  # the limit of runs in the other mode, over that of the others
COUNTED_LIMIT, COUNTED_SPACE = 12.4, Space(10.0, 1.0, 200.0, larger_is_harder=False, step=1.0)


@dataclasses.dataclass(frozen=True)
class Case:
    """`noise`: standard deviation of the limits of single runs. `gains`: by how much the limit of setting i is above
    that of the first one. `mode_share`: so many runs have MODE_FACTOR times the limit, by chance. `drift`: of all
    limits, from the first run to the last. `fails`: so many runs do not hold whatever is asked of them. `counted`: the
    fewest whole number is looked for."""

    title: str
    noise: float = 0.0
    gains: tuple = (0.0, 0.0)
    mode_share: float = 0.0
    drift: float = 0.0
    walk: bool = False  # the drift is a random walk; `drift` is its standard deviation at the end
    fails: float = 0.0
    counted: bool = False

    def limit(self, setting):
        return (COUNTED_LIMIT / (1.0 + self.gains[setting])) if self.counted else LIMIT * (1.0 + self.gains[setting])

    def holds(self, setting, value):
        """The chance that a run holds, where nothing drifts."""
        limit = self.limit(setting)
        if self.counted:
            return (1.0 - self.fails) * (1.0 - _above(value, limit, self.noise))
        return (1.0 - self.fails) * sum(share * _above(value, factor * limit, self.noise) for share, factor in
                                        ((1.0 - self.mode_share, 1.0), (self.mode_share, MODE_FACTOR)))

    def half(self, setting):
        """(lowest, highest) value that half of the runs hold without a drift: one, or a stretch where there are two
        modes."""
        if self.counted:
            fewest = float(next(number for number in range(1, 200) if self.holds(setting, number) > 0.5))
            return fewest, fewest
        return self._crossing(setting, 0.5 + 1e-3), self._crossing(setting, 0.5 - 1e-3)

    def _crossing(self, setting, chance):
        low, high = 0.0, 4.0 * self.limit(setting)
        for _ in range(60):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.holds(setting, middle) > chance else (low, middle)
        return (low + high) / 2.0


def _above(value, limit, noise):
    """The chance that a run with this limit holds `value`."""
    if not noise:
        return float(value <= limit)
    return 0.5 * math.erfc((value / limit - 1.0) / noise / math.sqrt(2.0))


@dataclasses.dataclass(frozen=True)
class Made:
    """A campaign: what was found, how many runs it took, and how many the plan allowed for."""

    capacity: Capacity
    runs: int
    planned: int  # the most
    drift: float  # of all limits, on average over the runs


def campaign(case, rounds, generator, start=START, space=None):
    """`generator`: random.Random. `space`: of all settings; else one about `start`."""
    count = len(case.gains)
    space = space or (COUNTED_SPACE if case.counted else Space(start, start / RANGE, start * RANGE))
    searches = Searches({index: space for index in range(count)}, [[index] for index in range(count)], rounds,
                        seed=generator.randrange(2**31))
    expected, planned = searches.runs_left()
    trials, walked, number, drifts = {}, 0.0, 0, 0.0
    while (run := searches.next_run()) is not None:
        setting, round_, value = run
        if case.walk:
            walked += generator.gauss(0.0, case.drift / math.sqrt(expected))
            drifted = walked
        else:
            drifted = case.drift * (number / expected - 0.5)
        drifts += drifted
        limit = _limit_of_run(case, setting, generator) * (1.0 + drifted)
        held = limit > 0.0 and (value >= limit if case.counted else value <= limit)
        searches.add(setting, round_, value, held)
        trials.setdefault((setting, round_), []).append(Trial(value, held, "complete", None))
        number += 1
    settings = tuple(Setting(f"setting-{index}", {}, tuple(
        Search(round_, *search.bracket, tuple(trials[index, round_]), search.complete)
        for round_, search in searches.begun(index)))
                     for index in range(count))
    return Made(Capacity("slots" if case.counted else "rate", "sustained", "local", settings,
                         resolution=None if case.counted else space.resolution, rounds=rounds, least=space.least,
                         most=space.most), number, planned, drifts / number)


def _limit_of_run(case, setting, generator):
    if generator.random() < case.fails:
        return 0.0
    factor = MODE_FACTOR if generator.random() < case.mode_share else 1.0
    return case.limit(setting) * factor * (1.0 + generator.gauss(0.0, case.noise))


# Equal settings: whichever is placed before the other, is so by chance.
EQUAL = (
    *(Case(f"noise {100.0 * noise:g} %", noise) for noise in (0.0, 0.01, 0.02, 0.05, 0.1)),
    Case("a fifth of the runs in another mode", 0.005, mode_share=0.2),
    Case("half of the runs in another mode", 0.005, mode_share=0.5),
    Case("a third in another mode, noise 5 %", 0.05, mode_share=1.0 / 3.0),
    Case("drift of 10 % in a line, noise 1 %", 0.01, drift=0.1),
    Case("a random walk of 5 %, noise 1 %", 0.01, drift=0.05, walk=True),
    *(Case(f"{100.0 * fails:g} % of runs fail for no reason, noise 1 %", 0.01, fails=fails)
      for fails in (0.05, 0.1, 0.2, 0.3)),
)
# The fewest of what is counted: 13.
COUNTED = tuple(Case(f"counted, {title}", noise, fails=fails, counted=True) for title, noise, fails in (
    ("noise 0 %", 0.0, 0.0), ("noise 5 %", 0.05, 0.0), ("noise 20 %", 0.2, 0.0),
    ("10 % of runs fail for no reason, noise 5 %", 0.05, 0.1)))
# The second setting is better.
UNEQUAL = (
    Case("3 % better, noise 0", 0.0, (0.0, 0.03)),
    Case("5 % better, noise 1 %", 0.01, (0.0, 0.05)),
    Case("5 % better, noise 2 %", 0.02, (0.0, 0.05)),
    Case("20 % better, noise 5 %", 0.05, (0.0, 0.2)),
    Case("20 % better, noise 10 %", 0.1, (0.0, 0.2)),
    Case("20 % better, 10 % of runs fail for no reason", 0.01, (0.0, 0.2), fails=0.1),
    Case("20 % better, a fifth in another mode", 0.005, (0.0, 0.2), mode_share=0.2),
    Case("5 % better, drift of 10 %, noise 1 %", 0.01, (0.0, 0.05), drift=0.1),
)
