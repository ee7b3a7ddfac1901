"""What the figure may be where it was not measured, the second opinion: extremely randomized trees over the places of
candidates (Geurts, Ernst and Wehenkel, Machine Learning 63, 2006). Pure; numpy only.

A switch has steps and plateaus: below a threshold nothing is marked, and all settings there are equal; beyond it
everything may be lost. A Gaussian process draws a smooth surface through that, and expects little behind a step. Trees
cut the settings into parts instead, at places drawn by chance; where they disagree, little is known. They take every
difference for real, so that noise misleads them."""

import numpy as np

TREES, LEAST_IN_PART = 16, 2
EQUAL = 1e-9  # values that differ by less are not parted


def predict(points, values, wanted, generator):
    """(mean, standard deviation between trees) at each of `wanted`. `points`: candidates x coordinates, with one of
    `values` each."""
    points, values, wanted = np.asarray(points, float), np.asarray(values, float), np.asarray(wanted, float)
    found = np.array([_tree(points, values, wanted, generator) for _ in range(TREES)])
    return found.mean(axis=0), found.std(axis=0)


def _tree(points, values, wanted, generator):
    found = np.empty(len(wanted))
    parts = [(np.arange(len(values)), np.arange(len(wanted)))]
    while parts:
        known, asked = parts.pop()
        cut = _cut(points[known], values[known], generator) if len(asked) else None
        if cut is None:
            found[asked] = values[known].mean()
            continue
        coordinate, place = cut
        below, asked_below = points[known, coordinate] <= place, wanted[asked, coordinate] <= place
        parts += [(known[below], asked[asked_below]), (known[~below], asked[~asked_below])]
    return found


def _cut(points, values, generator):
    """(coordinate, place) of a cut: of one at random in each coordinate, that which leaves the values most alike on
    both sides. None: nothing is to be cut."""
    low, high = points.min(axis=0), points.max(axis=0)
    possible = np.flatnonzero(high > low)
    if len(values) < 2 * LEAST_IN_PART or np.ptp(values) < EQUAL or not len(possible):
        return None
    places = low[possible] + (high - low)[possible] * generator.random(len(possible))
    below = points[:, possible] <= places
    count, total = below.sum(axis=0), values @ below
    # Each side has one at least: the place is below the highest, and not below the lowest. Rounding may undo that.
    both = (count > 0) & (count < len(values))
    if not both.any():
        return None
    alike = total ** 2 / np.maximum(count, 1) + (values.sum() - total) ** 2 / np.maximum(len(values) - count, 1)
    best = int(np.where(both, alike, -np.inf).argmax())
    return possible[best], places[best]
