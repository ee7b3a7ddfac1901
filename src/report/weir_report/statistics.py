"""Differences between two small sets of runs, and what they are worth. Pure functions; numpy and scipy only.

Three to ten runs a side are usual, so nothing here relies on large numbers:

- The difference is that of Hodges and Lehmann: the median of all differences between a new run and a baseline
  run (with pairs: the median of the means of two differences). One bad run does not move it far, and among
  normal noise it needs about as many runs as the mean; the difference of the medians needs more.
- The threshold is a quantile of Student's t times the spread inside the sides. The baseline's own spread is
  the least that counts: a new side that happens to spread less does not lower the threshold, one that spreads
  more raises it. Sides of unequal size get Welch's degrees of freedom.
- Many figures are compared at a time: Holm's levels keep the chance of any false call below ALPHA.
- Of several settings all pairs are compared: closed F tests (closed_p_values) do the same, and call more than
  Holm's levels for all pairs do.
- The interval is a percentile bootstrap, stretched for small samples.

Rejected: rank tests, which cannot call anything with three runs a side; permutations of all figures at
once, for the same reason; the spread of the baseline alone, which wastes half of the runs. statistics.md
has the rates of false and missed calls, calibration.py measures them.

Functions take any number of leading axes (many data sets at once); the last axis is the runs of one side.
"""

import dataclasses
import functools

import numpy as np
from scipy import stats

ALPHA = 0.05
POWER = 0.80
CONFIDENCE = 0.95
FEWEST_RUNS = 3
RESAMPLES = 4000
# Standard error of the Hodges-Lehmann difference over that of the difference of means, for normal noise:
# between 1.01 and 1.06 for three runs and more, two sides or pairs.
HODGES_LEHMANN_FACTOR = 1.05


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Arrays over data sets, or numbers."""

    difference: np.ndarray
    error: np.ndarray  # standard error of the difference
    freedom: np.ndarray  # degrees of freedom of the error


def difference_of_sides(baseline, new):
    """New minus baseline."""
    differences = new[..., :, None] - baseline[..., None, :]
    return np.median(differences.reshape(*differences.shape[:-2], -1), axis=-1)


def difference_of_pairs(differences):
    """`differences`: new minus baseline, one per pair."""
    first, second = np.triu_indices(differences.shape[-1])
    return np.median((differences[..., first] + differences[..., second]) / 2.0, axis=-1)


def estimate_sides(baseline, new, step=0.0):
    """`step`: values are multiples of it; a spread that is finer than the steps is not believed."""
    baseline, new = np.asarray(baseline, float), np.asarray(new, float)
    size_a, size_b = baseline.shape[-1], new.shape[-1]
    least = np.asarray(step, float) ** 2 / 12.0
    variance_a = np.maximum(_variance(baseline), least)
    variance_b = np.maximum(_variance(new), least)
    full = size_a + size_b - 2
    pooled = ((size_a - 1) * variance_a + (size_b - 1) * variance_b) / full
    error_2 = np.maximum(variance_a, pooled) * (1.0 / size_a + 1.0 / size_b)
    freedom = np.full(np.shape(error_2), float(full))
    if size_a != size_b:
        part_a, part_b = variance_a / size_a, variance_b / size_b
        error_2 = np.maximum(error_2, part_a + part_b)
        below = part_a ** 2 / (size_a - 1) + part_b ** 2 / (size_b - 1)
        freedom = np.where(below > 0.0, (part_a + part_b) ** 2 / np.where(below > 0.0, below, 1.0), full)
    return Estimate(difference_of_sides(baseline, new), HODGES_LEHMANN_FACTOR * np.sqrt(error_2), freedom)


def pair_differences(baseline, new, times_a=None, times_b=None):
    """(differences, inflation): run i of one side belongs to run i of the other, and what both had in common
    cancels. With the times of the runs, what drifts in proportion to time cancels too, though one side may
    always have been the later one: its slope is taken from inside the sides. `inflation` is by how much
    that widens the variance."""
    baseline, new = np.asarray(baseline, float), np.asarray(new, float)
    differences = new - baseline
    if times_a is None:
        return differences, 1.0
    gaps = np.asarray(times_b, float) - np.asarray(times_a, float)
    centred = [np.asarray(times, float) - np.mean(times) for times in (times_a, times_b)]
    square = sum((times ** 2).sum() for times in centred)
    slope = sum((times * values).sum(axis=-1) for times, values in zip(centred, (baseline, new))) / square
    return (differences - slope[..., None] * gaps,
            1.0 + differences.shape[-1] * gaps.mean() ** 2 / (2.0 * square))


def estimate_pairs(differences, inflation=1.0, step=0.0):
    """Of what pair_differences returned."""
    size = differences.shape[-1]
    variance = np.maximum(_variance(differences), np.asarray(step, float) ** 2 / 6.0)
    error = HODGES_LEHMANN_FACTOR * np.sqrt(inflation * variance / size)
    return Estimate(difference_of_pairs(differences), error, np.full(np.shape(error), size - 1.0))


def _variance(values):
    """Exactly 0 for equal values, which numpy's mean does not promise."""
    shifted = values - values[..., :1]
    return shifted.var(axis=-1, ddof=1)


def p_value(estimate):
    """Two-sided. Without any spread, every difference is certain."""
    certain = np.where(np.asarray(estimate.difference) != 0.0, np.inf, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(estimate.error > 0.0, np.abs(estimate.difference) / estimate.error, certain)
    return 2.0 * stats.t.sf(ratio, estimate.freedom)


def with_p_value(estimate, p_value_wanted):
    """The estimate with the error at which its difference has this p-value, which is below 1."""
    return dataclasses.replace(
        estimate, error=np.abs(estimate.difference) / stats.t.isf(np.asarray(p_value_wanted) / 2.0, estimate.freedom))


def holm_levels(p_values, alpha=ALPHA):
    """The level at which each of a family (last axis) is judged: it is called if its p-value is not above it.
    NaN: not a member of the family; its level is NaN too."""
    p_values = np.asarray(p_values, float)
    member = ~np.isnan(p_values)
    order = np.argsort(np.where(member, p_values, np.inf), axis=-1, kind="stable")
    ordered = np.take_along_axis(p_values, order, -1)
    rank = np.arange(p_values.shape[-1])
    remaining = np.maximum(member.sum(axis=-1, keepdims=True) - rank, 1)
    passes = np.logical_and.accumulate(ordered <= alpha / remaining, axis=-1)
    passed = passes.sum(axis=-1, keepdims=True)
    # All that come after the first that failed are judged at its level.
    stop = np.maximum(member.sum(axis=-1, keepdims=True) - passed, 1)
    levels = np.where(passes, alpha / remaining, alpha / stop)
    unordered = np.empty_like(levels)
    np.put_along_axis(unordered, order, levels, -1)
    return np.where(member, unordered, np.nan)


def closed_p_values(pairs, estimates, p_values):
    """Of pairs (i, j) of several settings, with the Estimate and the p-value of each: p-values that need no correction for
    the number of pairs, to be judged at closed_level. A pair is told apart if no set of settings that has both of them can be
    all alike: a closed test, with the levels of Ryan, Einot, Gabriel and Welsch for sets of p of k settings,
    1 - (1 - level)^(p / k), and the level itself for p >= k - 1. A set is judged by F = sum of squared differences / sum of
    squared errors of its pairs, which is the F of an analysis of variance (of pairs of runs: in blocks) if all sides have
    the same size. Sets with a pair that is not given are left out: those two settings are known to be unlike, or cannot be
    compared."""
    settings = sorted({index for two in pairs for index in two})
    bits = 1 << np.arange(len(settings))
    bit_of = dict(zip(settings, bits))
    masks = np.arange(1 << len(settings))
    holds = np.stack([(masks & bit_of[i] != 0) & (masks & bit_of[j] != 0) for i, j in pairs], axis=1)
    sizes = (masks[:, None] & bits != 0).sum(axis=1)
    whole = (sizes > 1) & (holds.sum(axis=1) == sizes * (sizes - 1) // 2)
    holds, sizes = holds[whole], sizes[whole]
    between, within, freedom = (holds @ np.array(terms, float) for terms in zip(*(
        (each.difference ** 2, each.error ** 2, each.freedom) for each in estimates)))
    ratios = np.where(within > 0.0, between / np.where(within > 0.0, within, 1.0), np.where(between > 0.0, np.inf, 0.0))
    of_sets = stats.f.sf(ratios, sizes - 1, freedom / (sizes - 1))
    for index, of_pair in enumerate(p_values):
        of_sets[holds[:, index] & (sizes == 2)] = of_pair
    exponents = _closed_exponent(len(settings), sizes) / _closed_exponent(len(settings), 2)
    with np.errstate(divide="ignore"):
        adjusted = -np.expm1(np.log1p(-of_sets) * exponents)
    return np.array([adjusted[holds[:, index]].max() for index in range(len(pairs))])


def closed_level(level, count):
    """The level of a pair of `count` settings, where that of all of them is `level`."""
    return float(-np.expm1(np.log1p(-level) / _closed_exponent(count, 2)))


def _closed_exponent(count, size):
    return np.where(np.asarray(size) >= count - 1, 1.0, count / np.asarray(size))


def threshold(estimate, level, floor=0.0):
    """The smallest difference that is called at this level."""
    return np.maximum(stats.t.isf(np.asarray(level) / 2.0, estimate.freedom) * estimate.error, floor)


def detectable(estimate, level, floor=0.0):
    """The smallest true difference that would be called with a chance of POWER."""
    return threshold(estimate, level, floor) + stats.t.ppf(POWER, estimate.freedom) * estimate.error


def interval_of_sides(baseline, new, generator, resamples=RESAMPLES):
    """CONFIDENCE interval of the difference, low and high."""
    baseline, new = np.asarray(baseline, float), np.asarray(new, float)
    size_a, size_b = baseline.shape[-1], new.shape[-1]
    draws = _in_parts(resamples, baseline[..., 0].size * size_a * size_b, lambda count: difference_of_sides(
        baseline[..., generator.integers(size_a, size=(count, size_a))],
        new[..., generator.integers(size_b, size=(count, size_b))]))
    freedom = estimate_sides(baseline, new).freedom
    small = (size_a / (size_a - 1.0) + size_b / (size_b - 1.0)) / 2.0
    return _stretched(difference_of_sides(baseline, new), draws, freedom, small)


def interval_of_pairs(differences, generator, inflation=1.0, resamples=RESAMPLES):
    size = differences.shape[-1]
    draws = _in_parts(resamples, differences[..., 0].size * size * size, lambda count: difference_of_pairs(
        differences[..., generator.integers(size, size=(count, size))]))
    return _stretched(difference_of_pairs(differences), draws, size - 1.0, inflation * size / (size - 1.0))


def interval_of_values(values):
    """CONFIDENCE interval of what the runs of one side are repetitions of: Student's t about their pseudo-median. Holds
    the median of the values."""
    values = np.asarray(values, float)
    size = values.shape[-1]
    first, second = np.triu_indices(size)
    centre = np.median((values[..., first] + values[..., second]) / 2.0, axis=-1)
    half = (stats.t.isf((1.0 - CONFIDENCE) / 2.0, size - 1) * HODGES_LEHMANN_FACTOR * np.sqrt(_variance(values) / size))
    middle = np.median(values, axis=-1)
    return np.minimum(centre - half, middle), np.maximum(centre + half, middle)


def _in_parts(resamples, cells_each, draw):
    """What is worked on at a time stays small, however many data sets there are."""
    part = int(max(1, min(resamples, 300_000 // max(1, cells_each))))
    return np.concatenate([draw(min(part, resamples - begin)) for begin in range(0, resamples, part)],
                          axis=-1)


def _stretched(centre, draws, freedom, small):
    """Percentiles of a bootstrap are too near to each other in small samples: its variance lacks the factor
    n/(n-1) (`small`), and it does not know that the spread itself is only estimated (Student's t over the
    normal quantile)."""
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(draws, (tail, 1.0 - tail), axis=-1)
    stretch = stats.t.isf(tail, freedom) / stats.norm.isf(tail) * np.sqrt(small)
    return centre + stretch * (low - centre), centre + stretch * (high - centre)


# Shares: of some runs, how many were sustained.

@functools.lru_cache(maxsize=32)
def boschloo_p_values(size_a, size_b):
    """Two-sided p-values of Boschloo's exact test for every outcome: array [yes of a, yes of b]. It sees
    more than Fisher's: all against none is called with three runs a side, for which Fisher's needs four."""
    yes_a, yes_b = np.meshgrid(np.arange(size_a + 1), np.arange(size_b + 1), indexing="ij")
    both = size_a + size_b
    sides = []
    for fisher in (stats.hypergeom.cdf(yes_a, both, yes_a + yes_b, size_a),
                   stats.hypergeom.sf(yes_a - 1, both, yes_a + yes_b, size_a)):
        # Outcomes in order of Fisher's p-value; equal ones, but for rounding, belong together.
        flat = np.round(fisher.ravel(), 12)
        order = np.argsort(flat, kind="stable")
        last = np.searchsorted(flat[order], flat, side="right") - 1
        worst = np.zeros(flat.size)
        for share in np.linspace(0.0, 1.0, 401):
            chance = np.outer(stats.binom.pmf(np.arange(size_a + 1), size_a, share),
                              stats.binom.pmf(np.arange(size_b + 1), size_b, share)).ravel()
            worst = np.maximum(worst, np.cumsum(chance[order])[last])
        sides.append(worst.reshape(fisher.shape))
    return np.minimum(1.0, 2.0 * np.minimum(*sides))


def share_interval(yes_a, size_a, yes_b, size_b):
    """Newcombe's CONFIDENCE interval of the difference of two shares, b minus a."""
    (low_a, high_a), (low_b, high_b) = interval_of_share(yes_a, size_a), interval_of_share(yes_b, size_b)
    share_a, share_b = yes_a / size_a, yes_b / size_b
    difference = share_b - share_a
    return (difference - np.hypot(share_b - low_b, high_a - share_a),
            difference + np.hypot(high_b - share_b, share_a - low_a))


def interval_of_share(yes, size):
    """Wilson's CONFIDENCE interval, low and high."""
    z = stats.norm.isf((1.0 - CONFIDENCE) / 2.0)
    share = yes / size
    centre = (share + z * z / (2.0 * size)) / (1.0 + z * z / size)
    half = z / (1.0 + z * z / size) * np.sqrt(share * (1.0 - share) / size + z * z / (4.0 * size * size))
    return max(0.0, centre - half), min(1.0, centre + half)


def runs_needed(estimate, size, wanted, level, most=200):
    """How many runs a side would find a true difference of `wanted` with a chance of POWER, if they spread as these `size`
    runs a side did; None: more than `most`."""
    for more in range(size, most + 1):
        scaled = Estimate(estimate.difference, estimate.error * np.sqrt(size / more), estimate.freedom + 2.0 * (more - size))
        if detectable(scaled, level) <= wanted:
            return more
    return None


@functools.lru_cache(maxsize=4096)
def _alike_p_value(sizes, yes, draws):
    generator = np.random.default_rng(1)
    counts = generator.multivariate_hypergeometric(sizes, sum(yes), size=draws)
    unlike = (counts ** 2 / np.array(sizes)).sum(axis=1)
    seen = sum(number ** 2 / size for size, number in zip(sizes, yes))
    return float(((unlike >= seen - 1e-9).sum() + 1) / (draws + 1))


def alike_p_value(sizes, yes, draws=20_000):
    """Whether several settings can have the same share of yes: with all runs dealt out to them by chance, how often their
    shares differ as much as they do (sum of squares between settings). The order of the settings makes no difference."""
    ordered = sorted(zip(sizes, yes))
    return _alike_p_value(tuple(size for size, _ in ordered), tuple(number for _, number in ordered), draws)


def share_threshold(yes_a, size_a, size_b, level=ALPHA):
    """The smallest difference of shares that is called with this outcome of a; None if there is none."""
    called = boschloo_p_values(size_a, size_b)[yes_a] <= level
    distances = np.abs(np.arange(size_b + 1) / size_b - yes_a / size_a)[called]
    return float(distances.min()) if distances.size else None


def share_detectable(yes_a, size_a, size_b, level=ALPHA):
    """The smallest difference from the observed share of a that would be called with a chance of POWER, in
    steps of one point; None if there is none."""
    called = boschloo_p_values(size_a, size_b) <= level
    share_a = yes_a / size_a
    chances_a = stats.binom.pmf(np.arange(size_a + 1), size_a, share_a)
    shares_b = np.linspace(0.0, 1.0, 101)
    chances_b = stats.binom.pmf(np.arange(size_b + 1)[:, None], size_b, shares_b[None, :])
    power = np.einsum("i,ij,jk->k", chances_a, called, chances_b)
    distances = np.abs(shares_b - share_a)[power >= POWER]
    return float(distances.min()) if distances.size else None
