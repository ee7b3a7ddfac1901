"""Whether the runs of two settings took turns, and which run is to be made next. Pure: instants in, words and indices
out.

Everything drifts: hosts warm up, others come and go, cables age. If all runs of one setting are made before all of
another, what changed meanwhile is the difference between them, and no test can see that. So a pair of settings has
taken turns if one disturbance, which begins at any time and lasts for any time, cannot separate their runs by
itself."""

import dataclasses
import itertools
import math

from . import statistics

# A disturbance that meets a smaller part of the runs of one side than this, more than of the other, does not move the
# middle.
PART_FROM = 0.5


@dataclasses.dataclass(frozen=True)
class Stretch:
    """Runs that follow each other in time: so many of each side are in it."""

    first: int
    second: int


def separating_stretch(first, second):
    """The Stretch that separates the runs of two settings most, if a disturbance during it would tell them apart with
    ALPHA; None: they took turns. `first`, `second`: when the runs began, in any unit."""
    ordered = sorted([(begun, 0) for begun in first] + [(begun, 1) for begun in second])
    sizes = len(first), len(second)
    if min(sizes) < statistics.FEWEST_RUNS:
        return None
    sums = [(0, 0)]
    for _, side in ordered:
        sums.append((sums[-1][0] + (side == 0), sums[-1][1] + (side == 1)))
    worst, found = PART_FROM - 1e-9, None
    # What only one end of a stretch moves is the difference of two sums, so its extremes are those of the path of sums.
    path = [a / sizes[0] - b / sizes[1] for a, b in sums]
    low = high = 0
    for end in range(1, len(path)):
        for begin in (low, high):
            if abs(path[end] - path[begin]) > worst:
                worst = abs(path[end] - path[begin])
                found = sums[end][0] - sums[begin][0], sums[end][1] - sums[begin][1]
        low = end if path[end] < path[low] else low
        high = end if path[end] > path[high] else high
    if found is None or statistics.share_p_values(found[0], *sizes)[found[1]] > statistics.ALPHA:
        return None
    return Stretch(*found)


def in_words(stretch, names, sizes):
    """'pfc and ecn did not take turns: 5 of 5 runs of pfc and 0 of 5 of ecn were made without a change between them'"""
    if stretch.first * sizes[1] < stretch.second * sizes[0]:
        stretch, names, sizes = Stretch(stretch.second, stretch.first), names[::-1], sizes[::-1]
    most, fewest = f"{stretch.first} of {sizes[0]} runs of {names[0]}", f"{stretch.second} of {sizes[1]} of {names[1]}"
    if stretch.second == 0 and stretch.first == sizes[0]:
        return f"all runs of {names[0]} were made in a row, with none of {names[1]} between"
    return f"in one stretch of time lie {most}, and {fewest}"


def next_runs(begins, count=4):
    """Indices of the settings of the next runs: whoever has fewer runs catches up, unless its runs would then be made
    in a row, and every round takes the reverse order of the one before (A B B A). `begins`: when the runs of each
    setting began."""
    made = _following(begins, count)
    if any(separated and not before for separated, before in zip(_separated(begins, made), _separated(begins, []))):
        # In turns from now on, whoever has more.
        last = max(range(len(begins)), key=lambda index: max(begins[index], default=-math.inf))
        made = _following([[] for _ in begins], count)
        made = [(index + last + 1) % len(begins) for index in made]
    return made


def _separated(begins, more):
    """For each pair of settings, whether something separates their runs once those of `more` are made as well."""
    end = max((begun for side in begins for begun in side), default=0.0)
    sides = [[*side, *(end + 1 + place for place, index in enumerate(more) if index == number)]
             for number, side in enumerate(begins)]
    return [separating_stretch(one, other) is not None for one, other in itertools.combinations(sides, 2)]


def _following(begins, count):
    sequence = [index for _, index in sorted((begun, index) for index, side in enumerate(begins) for begun in side)]
    made = []
    for _ in range(count):
        so_far = sequence + made
        counts = [so_far.count(index) for index in range(len(begins))]
        fewest = [index for index, number in enumerate(counts) if number == min(counts)]
        # Who was last begins the next round; who never was has the order of the names.
        last = {index: len(so_far) - 1 - so_far[::-1].index(index) if index in so_far else -1 - index
                for index in fewest}
        made.append(max(fewest, key=last.get))
    return made
