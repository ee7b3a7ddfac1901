"""What the figure may be where it was not measured: a Gaussian process over the places of candidates, with a length of
its own for each axis (Matern 5/2). Pure; numpy and scipy.linalg only.

An axis that does not matter gets a long length, so that all runs count for the others. Lengths are those of the
greatest likelihood, drawn and then refined, with a mild preference for half of the range: few runs would otherwise be
explained by lengths that fit them by chance."""

import math

import numpy as np
from scipy.linalg import solve_triangular

DRAWS, PASSES = 48, 2
# Preferred length of an axis and how far it may be from that, as standard deviation of its logarithm.
USUAL_LENGTH, LENGTH_SPREAD = 0.5, 0.9
SHORTEST, LONGEST = 0.06, 12.0
# Variance of a run over that of the surface.
NOISES = (1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.2, 0.6)
ROOT5 = math.sqrt(5.0)


class Model:
    """`points`: candidates x coordinates; `values`: one each; `runs`: behind each value, whose noise falls with them;
    `axis_of`: the axis of each coordinate (a choice has several). `known_noise`: least variance of one run."""

    def __init__(self, points, values, runs, axis_of, generator, *, known_noise=0.0, is_noisy=True):
        self.points, self.runs, self.axis_of = np.asarray(points, float), np.asarray(runs, float), np.asarray(axis_of)
        values = np.asarray(values, float)
        self._mean, self._scale = float(values.mean()), float(values.std()) or 1.0
        self._values = (values - self._mean) / self._scale
        self._least_noise = min(known_noise / self._scale ** 2, 4.0)
        self._measure_distances()
        self.lengths, self.noise = self._fitted(generator, NOISES if is_noisy else NOISES[:1])
        self._decompose()

    def predict(self, points):
        """(mean, standard deviation) of the surface at each of `points`."""
        between = self._correlation(np.asarray(points, float), self.points, self.lengths)
        mean = between @ self._weights
        half = solve_triangular(self._root, between.T, lower=True)
        variance = np.maximum(1.0 - (half ** 2).sum(axis=0), 1e-12) * self._variance
        return self._mean + self._scale * mean, self._scale * np.sqrt(variance)

    def with_believed(self, points):
        """The same model as if these points had been measured and were as predicted: to choose several at a time."""
        mean, _ = self.predict(points)
        believed = object.__new__(Model)
        believed.__dict__.update(self.__dict__)
        believed.points = np.vstack([self.points, points])
        believed.runs = np.append(self.runs, np.ones(len(points)))
        believed._values = np.append(self._values, (mean - self._mean) / self._scale)
        believed._measure_distances()
        believed._decompose(self._variance)
        return believed

    # --- Fit.

    def _correlation(self, one, other, lengths):
        scaled = 1.0 / lengths[self.axis_of]
        first, second = one * scaled, other * scaled
        square = np.maximum((first ** 2).sum(axis=1)[:, None]
                            + (second ** 2).sum(axis=1)[None, :] - 2.0 * first @ second.T, 0.0)
        return _matern(square)

    def _measure_distances(self):
        """Of all pairs of points, by axis: a fit asks for them a hundred times."""
        self._pairs = np.tril_indices(len(self.points), -1)
        squares = (self.points[self._pairs[0]] - self.points[self._pairs[1]]) ** 2
        self._squares = np.array([squares[:, self.axis_of == axis].sum(axis=1)
                                  for axis in range(int(self.axis_of.max()) + 1)])

    def _root_of(self, lengths, noise):
        """Cholesky's root of the covariance of the points. Raises LinAlgError."""
        matrix = np.diag(1.0 + noise / self.runs + 1e-8)
        matrix[self._pairs] = _matern(lengths ** -2.0 @ self._squares)
        return np.linalg.cholesky(matrix)  # which reads the lower half only

    def _decompose(self, variance=None):
        self._root = self._root_of(self.lengths, self.noise)
        self._weights = solve_triangular(self._root, solve_triangular(self._root, self._values, lower=True), lower=True,
                                         trans="T")
        self._variance = float(self._values @ self._weights) / len(self._values) if variance is None else variance

    def _loss(self, lengths, noise):
        """Minus the logarithm of the likelihood, and of the preference for usual lengths."""
        try:
            root = self._root_of(lengths, noise)
        except np.linalg.LinAlgError:
            return math.inf
        half = solve_triangular(root, self._values, lower=True, check_finite=False)
        size = len(self._values)
        variance = max(float(half @ half) / size, 1e-12)
        # Noise that repetitions have shown is there.
        if noise * variance < self._least_noise / 4.0:
            return math.inf
        return (0.5 * size * math.log(variance) + float(np.log(np.diag(root)).sum())
                + float((np.log(lengths / USUAL_LENGTH) ** 2).sum()) / (2.0 * LENGTH_SPREAD ** 2))

    def _fitted(self, generator, noises):
        count = int(self.axis_of.max()) + 1
        best = (np.full(count, USUAL_LENGTH), noises[-1])
        loss = self._loss(*best)
        for _ in range(DRAWS):
            lengths = np.clip(USUAL_LENGTH * np.exp(1.5 * generator.standard_normal(count)), SHORTEST, LONGEST)
            tried = (lengths, noises[int(generator.integers(len(noises)))])
            if (found := self._loss(*tried)) < loss:
                best, loss = tried, found
        for _ in range(PASSES):
            for axis in range(count):
                for factor in (0.5, 0.75, 1.33, 2.0):
                    lengths = best[0].copy()
                    lengths[axis] = min(max(lengths[axis] * factor, SHORTEST), LONGEST)
                    if (found := self._loss(lengths, best[1])) < loss:
                        best, loss = (lengths, best[1]), found
            for noise in noises:
                if (found := self._loss(best[0], noise)) < loss:
                    best, loss = (best[0], noise), found
        return best


def _matern(square):
    """Matern 5/2 of squared distances in lengths."""
    distance = ROOT5 * np.sqrt(square)
    return (1.0 + distance + distance ** 2 / 3.0) * np.exp(-distance)
