"""Which runs of two groups belong together, so that what they share cancels in their difference."""

import dataclasses

from . import statistics


@dataclasses.dataclass
class Pairs:
    baseline: list  # runs
    new: list  # run i belongs to baseline's run i
    in_time: bool
    why: str

    def times(self):
        """When the runs of both sides began, in seconds."""
        if not self.in_time:
            return None, None
        sides = [[run.started_at.timestamp() for run in side] for side in (self.baseline, self.new)]
        first = min(min(side) for side in sides)
        return tuple([time - first for time in side] for side in sides)


def find_pairs(baseline, new):
    """Pairs, if runs belong together beyond doubt, else None."""
    if len(baseline) != len(new):
        return None
    runs = [*baseline, *new]
    if all(run.world == "simulation" for run in runs):
        seeds = [[run.plan.get("seed") for run in side] for side in (baseline, new)]
        if None in seeds[0] or len(set(seeds[0])) < len(baseline) or set(seeds[0]) != set(seeds[1]):
            return None
        place = {run.plan["seed"]: run for run in new}
        return Pairs(baseline, [place[seed] for seed in seeds[0]], False,
                     "by seed: both sides were simulated with the same seeds")
    if any(run.world != "measurement" or run.started_at is None for run in runs):
        return None
    in_time = sorted(runs, key=lambda run: run.started_at)
    if any(one.started_at == other.started_at for one, other in zip(in_time, in_time[1:])):
        return None
    of_baseline = {id(run) for run in baseline}
    order_a, order_b = [], []
    for two in zip(in_time[0::2], in_time[1::2]):
        first = [run for run in two if id(run) in of_baseline]
        if len(first) != 1:
            return None
        order_a += first
        order_b += [run for run in two if id(run) not in of_baseline]
    return Pairs(order_a, order_b, True,
                 "by time: the runs of both sides took turns, so that a slow drift cancels")


class PairsOfGroups:
    """Which runs of two groups are pairs, for ranking.Runs."""

    def __init__(self, groups):
        self._groups = groups
        self._found = {}

    def pairs(self, i, j):
        """Pairs, the runs of group i as the baseline; None if there are none, or too few."""
        found = self._all(i, j)
        return found if found and len(found.new) >= statistics.FEWEST_PAIRS else None

    def _all(self, i, j):
        if (i, j) not in self._found:
            self._found[(i, j)] = find_pairs(self._groups[i].runs, self._groups[j].runs)
        return self._found[(i, j)]

    def times_of(self, i, j):
        return self._times(i, j, self.pairs(i, j))

    def few_times_of(self, i, j):
        """The same of pairs that are too few to be used."""
        return self._times(i, j, self._all(i, j))

    def _times(self, i, j, pairs):
        return pairs and ((_indices(self._groups[i].runs, pairs.baseline), _indices(self._groups[j].runs, pairs.new)),
                          pairs.times())


def _indices(runs, chosen):
    place = {id(run): index for index, run in enumerate(runs)}
    return [place[id(run)] for run in chosen]
