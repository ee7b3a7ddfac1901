"""Differences between two small sets of runs, and what they are worth. Pure functions; numpy and scipy.special only,
which loads in a fraction of the time of scipy.stats, and only where something is tested.

Three to ten runs a side are usual, so nothing here relies on large numbers:

- The difference is that of Hodges and Lehmann: the median of all differences between a new run and a baseline
  run (with pairs: the median of the means of two differences). One bad run does not move it far, and among
  normal noise it needs about as many runs as the mean; the difference of the medians needs more.
- Each side has a spread of its own, and the error fewer degrees of freedom than Welch's.
- Test and interval are Student's t of both, so they agree.
- Student's t assumes one hump. Runs that are good or bad by chance have two, so a difference also has to be one that
  dealing out the runs by chance does not give (chance_p_value). Three runs a side can only show that all of one side
  are better than all of the other.
- Many figures are compared at a time: Holm's levels keep the chance of any false call below ALPHA.
- Of several settings all pairs are compared: closed F tests (closed_p_values) do the same, and call more than
  Holm's levels for all pairs do.

Rejected: rank tests alone, which cannot call anything with three runs a side; one spread for both sides, which calls up
to 18 % falsely where they are unlike; the bootstrap, whose intervals disagree with the test and cover less with three
runs. statistics.md has the rates of false and missed calls, tests/report/calibration.py measures them.

Functions take any number of leading axes (many data sets at once); the last axis is the runs of one side.
"""

import dataclasses
import functools
import itertools
import math

import numpy as np

ALPHA = 0.05
POWER = 0.80
CONFIDENCE = 0.95
Z_OF_CONFIDENCE = 1.959963984540054  # what the standard normal distribution exceeds with half of the rest
FEWEST_RUNS = 3
# With fewer, what pairs have in common is not worth the degrees of freedom that they cost.
FEWEST_PAIRS = 5
# Standard error of the Hodges-Lehmann difference over that of the difference of means, for normal noise:
# between 1.01 and 1.06 for three runs and more, two sides or pairs.
HODGES_LEHMANN_FACTOR = 1.05
# What comes to it where one side has all of the spread, and what is left of Welch's degrees of freedom above those of
# the smaller side, for sides of equal and unequal size: chosen by tests/report/calibration.py, so that false calls are
# as many as meant at levels of 5 % to 0.5 % where one side spreads 1 to 20 times as much as the other.
MEDIAN_FACTOR, FREEDOM_KEPT, FREEDOM_KEPT_UNEQUAL = 0.15, 0.7, 0.4


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Arrays over data sets, or numbers."""

    difference: np.ndarray
    error: np.ndarray  # standard error of the difference
    freedom: np.ndarray  # degrees of freedom of the error


@functools.cache
def _special():
    from scipy import special
    return special


def difference_of_sides(baseline, new):
    """New minus baseline."""
    differences = new[..., :, None] - baseline[..., None, :]
    return np.median(differences.reshape(*differences.shape[:-2], -1), axis=-1)


def difference_of_pairs(differences):
    """`differences`: new minus baseline, one per pair."""
    first, second = np.triu_indices(differences.shape[-1])
    return np.median((differences[..., first] + differences[..., second]) / 2.0, axis=-1)


def estimate_sides(baseline, new, step=0.0):
    """`step`: values are multiples of it; a spread that is finer than the steps is not used."""
    baseline, new = np.asarray(baseline, float), np.asarray(new, float)
    size_a, size_b = baseline.shape[-1], new.shape[-1]
    least = np.asarray(step, float) ** 2 / 12.0
    variance_a, variance_b = np.maximum(_variance(baseline), least), np.maximum(_variance(new), least)
    part_a, part_b = variance_a / size_a, variance_b / size_b
    both, below = part_a + part_b, part_a ** 2 / (size_a - 1) + part_b ** 2 / (size_b - 1)
    # Spreads of a few runs are estimates themselves, so the degrees of freedom are nearer to those of the smaller side
    # than Welch's.
    fewest, some = min(size_a, size_b) - 1.0, both > 0.0
    welch = np.where(some, both ** 2 / np.where(some, below, 1.0), size_a + size_b - 2.0)
    freedom = fewest + (FREEDOM_KEPT if size_a == size_b else FREEDOM_KEPT_UNEQUAL) * (welch - fewest)
    # If one side spreads far more, the difference is that of a median, which needs more runs than a mean.
    one_sided = (2.0 * np.maximum(part_a, part_b) / np.where(some, both, 1.0) - 1.0) ** 2 * some
    # The smaller side may look as if it did not spread at all.
    together = ((size_a - 1) * variance_a + (size_b - 1) * variance_b) / (size_a + size_b - 2.0)
    pooled = together * (1.0 / size_a + 1.0 / size_b)
    error = (HODGES_LEHMANN_FACTOR + MEDIAN_FACTOR * one_sided) * np.sqrt(np.maximum(both, pooled))
    return Estimate(difference_of_sides(baseline, new), error, freedom)


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
    """Estimates from what pair_differences returned."""
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
    return 2.0 * _special().stdtr(estimate.freedom, -ratio)


def t_quantile(tail, freedom):
    """What Student's t exceeds with the chance `tail`."""
    return -_special().stdtrit(freedom, np.asarray(tail, float))


def with_p_value(estimate, p_value_wanted):
    """The estimate with the error at which its difference has this p-value, which is below 1."""
    return dataclasses.replace(
        estimate, error=np.abs(estimate.difference) / t_quantile(np.asarray(p_value_wanted) / 2.0, estimate.freedom))


def no_better_than(estimate, chance, least):
    """The estimate, with so large an error that its p-value is that of dealing out the runs by chance, where that one
    is above ALPHA and not the least that so many runs can have. Of one data set."""
    if chance <= max(ALPHA, least) + 1e-9 or float(p_value(estimate)) >= chance:
        return estimate
    return with_p_value(estimate, min(chance, 0.999))


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
    """For pairs (i, j) of several settings, with the Estimate and the p-value of each: p-values that need no correction
    for the number of pairs, to be judged at closed_level. A pair is told apart if no set of settings that has both of
    them can be all alike: a closed test, with the levels of Ryan, Einot, Gabriel and Welsch for sets of p of k
    settings, 1 - (1 - level)^(p / k), and the level itself for p >= k - 1. A set is judged by F = sum of squared
    differences / sum of squared errors of its pairs, which is the F of an analysis of variance (of pairs of runs: in
    blocks) if all sides have the same size. Sets with a pair that is not given are left out: those two settings are
    known to be unlike, or cannot be compared."""
    settings = sorted({index for two in pairs for index in two})
    bits = 1 << np.arange(len(settings))
    bit_of = dict(zip(settings, bits))
    masks = np.arange(1 << len(settings))
    holds = np.stack([(masks & bit_of[i] != 0) & (masks & bit_of[j] != 0) for i, j in pairs], axis=1)
    sizes = (masks[:, None] & bits != 0).sum(axis=1)
    whole = (sizes > 1) & (holds.sum(axis=1) == sizes * (sizes - 1) // 2)
    holds, sizes = holds[whole], sizes[whole]
    between, within, freedom, fourth = (holds @ np.array(terms, float) for terms in zip(*(
        (each.difference ** 2, each.error ** 2, each.freedom, each.error ** 4 / each.freedom) for each in estimates)))
    # Where one setting has most of the spread, its pairs have no more degrees of freedom together than one of them.
    freedom = np.where(fourth > 0.0, within ** 2 / np.where(fourth > 0.0, fourth, 1.0), freedom)
    ratios = np.where(within > 0.0, between / np.where(within > 0.0, within, 1.0), np.where(between > 0.0, np.inf, 0.0))
    of_sets = _special().fdtrc(sizes - 1, freedom / (sizes - 1), ratios)
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
    return np.maximum(t_quantile(np.asarray(level) / 2.0, estimate.freedom) * estimate.error, floor)


def detectable(estimate, level, floor=0.0):
    """The smallest true difference that would be called with a chance of POWER."""
    return threshold(estimate, level, floor) + t_quantile(1.0 - POWER, estimate.freedom) * estimate.error


def interval(estimate):
    """CONFIDENCE interval of the difference, low and high."""
    half = threshold(estimate, 1.0 - CONFIDENCE)
    return estimate.difference - half, estimate.difference + half


def interval_beside_chance(estimate, chance, least):
    """The same, and where dealing out the runs by chance (`chance`, `least`: as for no_better_than) may give the
    difference, wide enough to hold 0. Not as wide as the error of no_better_than: a difference near 0 has any p-value
    near 1 only with an error that no run showed."""
    return interval(no_better_than(estimate, min(chance, max(ALPHA, least) + 1e-6), least))


def interval_of_values(values):
    """CONFIDENCE interval of what the runs of one side are repetitions of: Student's t about their pseudo-median. Holds
    the median of the values."""
    values = np.asarray(values, float)
    size = values.shape[-1]
    first, second = np.triu_indices(size)
    centre = np.median((values[..., first] + values[..., second]) / 2.0, axis=-1)
    half = (t_quantile((1.0 - CONFIDENCE) / 2.0, size - 1) * HODGES_LEHMANN_FACTOR * np.sqrt(_variance(values) / size))
    middle = np.median(values, axis=-1)
    return np.minimum(centre - half, middle), np.maximum(centre + half, middle)


# Above so many ways to deal the runs out, the normal approximation takes their place.
DEALS_MAX = 20_000


def chance_p_value(one, other):
    """How often runs that are dealt out to both sides by chance differ as much as these in the sum of their ranks,
    two-sided. No assumption on how they spread is needed. (p-value, the smallest that so many runs can have)"""
    pooled = np.concatenate([np.asarray(one, float), np.asarray(other, float)])
    size, whole = len(one), len(pooled)
    ranks = _mid_ranks(pooled)
    centre = size * (whole + 1) / 2.0
    seen = abs(ranks[:size].sum() - centre)
    deals = math.comb(whole, size)
    if deals > DEALS_MAX:
        variance = size * (whole - size) / (whole * (whole - 1.0)) * ((ranks - (whole + 1) / 2.0) ** 2).sum()
        return (float(2.0 * _special().ndtr(-(seen - 0.5) / np.sqrt(variance))) if variance > 0.0 else 1.0), 0.0
    sums = ranks[_deals(whole, size)].sum(axis=1)
    return float((np.abs(sums - centre) >= seen - 1e-9).mean()), min(1.0, 2.0 / deals)


def largest_chance(one, other, beside):
    """chance_p_value where other figures of the same runs differ by chance as well: how often one of these or of
    `beside`, [(values of one, of other)], does as much, which is the step of Westfall and Young. It holds however few
    the runs are, so no p-value is the least."""
    deals = math.comb(len(one) + len(other), len(one))
    figures = [(one, other), *((a, b) for a, b in beside if (len(a), len(b)) == (len(one), len(other)))]
    if deals > DEALS_MAX:
        return min(1.0, len(figures) * chance_p_value(one, other)[0]), 0.0
    places = _deals(len(one) + len(other), len(one))
    ranks = [_mid_ranks(np.concatenate([np.asarray(side, float) for side in sides])) for sides in figures]
    centre = len(one) * (len(one) + len(other) + 1) / 2.0
    largest = np.max([np.abs(of_figure[places].sum(axis=1) - centre) for of_figure in ranks], axis=0)
    return float((largest >= abs(ranks[0][:len(one)].sum() - centre) - 1e-9).mean()), 0.0


@functools.lru_cache(maxsize=16)
def _deals(whole, size):
    return np.array(list(itertools.combinations(range(whole), size)))


def _mid_ranks(values):
    """From 1 on; equal values have the mean of their ranks."""
    ordered = np.sort(values)
    return (np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right") + 1) / 2.0


def chance_p_value_of_pairs(differences):
    """The same where the two runs of a pair are exchanged by chance: the signed ranks of their differences."""
    ranks = _mid_ranks(np.abs(differences)) * np.sign(differences)
    size = len(ranks)
    seen = abs(ranks.sum())
    if 2 ** size > DEALS_MAX:
        return float(2.0 * _special().ndtr(-(seen - 0.5) / np.sqrt((ranks ** 2).sum()))) if ranks.any() else 1.0, 0.0
    sums = np.array(list(itertools.product((-1.0, 1.0), repeat=size))) @ np.abs(ranks)
    return float((np.abs(sums) >= seen - 1e-9).mean()), 2.0 / 2 ** size


# Shares: of some runs, how many were sustained.

@functools.lru_cache(maxsize=32)
def boschloo_p_values(size_a, size_b):
    """Two-sided p-values of Boschloo's exact test for every outcome: array [yes of a, yes of b]. It sees
    more than Fisher's: all against none is called with three runs a side, for which Fisher's needs four."""
    yes_a, yes_b = np.meshgrid(np.arange(size_a + 1), np.arange(size_b + 1), indexing="ij")
    shares = np.linspace(0.0, 1.0, 401)[:, None]
    chances = (chances_of(size_a, shares)[:, :, None] * chances_of(size_b, shares)[:, None, :]).reshape(len(shares), -1)
    sides = []
    for fisher in _fishers(yes_a, yes_b, size_a, size_b):
        # Outcomes in order of Fisher's p-value; equal ones, but for rounding, belong together.
        flat = np.round(fisher.ravel(), 12)
        order = np.argsort(flat, kind="stable")
        last = np.searchsorted(flat[order], flat, side="right") - 1
        worst = np.cumsum(chances[:, order], axis=1)[:, last].max(axis=0)
        sides.append(worst.reshape(fisher.shape))
    return np.minimum(1.0, 2.0 * np.minimum(*sides))


def chances_of(size, share):
    """The chance of 0, 1, ..., `size` times yes; of several shares, a column, a line for each."""
    yes = np.arange(size + 1)
    return _special().comb(size, yes) * np.power(share, yes) * np.power(1.0 - share, size - yes)


def _fishers(yes_a, yes_b, size_a, size_b):
    """One-sided p-values of Fisher's test: as few of a say yes, or as many, given how many of both do."""
    together = yes_a + yes_b
    counts = np.arange(size_a + 1).reshape(-1, *[1] * np.ndim(together))
    possible = (counts <= together) & (together - counts <= size_b)
    logs = (_log_ways(size_a, counts) + _log_ways(size_b, np.where(possible, together - counts, 0))
            - _log_ways(size_a + size_b, together))
    each = np.where(possible, np.exp(logs), 0.0)
    return np.where(counts <= yes_a, each, 0.0).sum(axis=0), np.where(counts >= yes_a, each, 0.0).sum(axis=0)


def _log_ways(size, chosen):
    return _special().gammaln(size + 1.0) - _special().gammaln(chosen + 1.0) - _special().gammaln(size - chosen + 1.0)


# Above so many outcomes, Fisher's test takes the place of Boschloo's, which then hardly finds more.
OUTCOMES_MAX = 1600


def share_p_values(yes_a, size_a, size_b):
    """Two-sided p-values for each number of yes of b, 0 to size_b."""
    if size_a * size_b <= OUTCOMES_MAX:
        return boschloo_p_values(size_a, size_b)[yes_a]
    return np.minimum(1.0, 2.0 * np.minimum(*_fishers(yes_a, np.arange(size_b + 1), size_a, size_b)))


def share_interval(yes_a, size_a, yes_b, size_b):
    """Newcombe's CONFIDENCE interval of the difference of two shares, b minus a."""
    (low_a, high_a), (low_b, high_b) = interval_of_share(yes_a, size_a), interval_of_share(yes_b, size_b)
    share_a, share_b = yes_a / size_a, yes_b / size_b
    difference = share_b - share_a
    return (difference - np.hypot(share_b - low_b, high_a - share_a),
            difference + np.hypot(high_b - share_b, share_a - low_a))


def interval_of_share(yes, size):
    """Wilson's CONFIDENCE interval, low and high."""
    z = Z_OF_CONFIDENCE
    share = yes / size
    centre = (share + z * z / (2.0 * size)) / (1.0 + z * z / size)
    half = z / (1.0 + z * z / size) * np.sqrt(share * (1.0 - share) / size + z * z / (4.0 * size * size))
    return max(0.0, centre - half), min(1.0, centre + half)


def runs_needed(estimate, size, wanted, level, most=200, are_pairs=False):
    """How many runs a side would find a true difference of `wanted` with a chance of POWER, if they spread as these
    `size` runs a side did; None: more than `most`. `are_pairs`: the estimate is that of pairs."""
    for more in range(max(size, FEWEST_PAIRS) if are_pairs else size, most + 1):
        freedom = estimate.freedom + (1.0 if are_pairs else 2.0) * (more - size)
        scaled = Estimate(estimate.difference, estimate.error * np.sqrt(size / more), freedom)
        if detectable(scaled, level) <= wanted:
            return more
    return None


# So often all runs are dealt out by chance.
DRAWS = 20_000


@functools.lru_cache(maxsize=4096)
def _alike_p_value(sizes, yes):
    counts = np.random.default_rng(1).multivariate_hypergeometric(sizes, sum(yes), size=DRAWS)
    unlike = (counts ** 2 / np.array(sizes)).sum(axis=1)
    seen = sum(number ** 2 / size for size, number in zip(sizes, yes))
    return float(((unlike >= seen - 1e-9).sum() + 1) / (DRAWS + 1))


def alike_p_value(sizes, yes):
    """Whether several settings can have the same share of yes: with all runs dealt out to them by chance, how often
    their shares differ as much as they do (sum of squares between settings). The order of the settings makes no
    difference."""
    ordered = sorted(zip(sizes, yes))
    return _alike_p_value(tuple(size for size, _ in ordered), tuple(number for _, number in ordered))


def share_threshold(yes_a, size_a, size_b, level=ALPHA):
    """The smallest difference of shares that is called with this outcome of a; None if there is none."""
    called = share_p_values(yes_a, size_a, size_b) <= level
    distances = np.abs(np.arange(size_b + 1) / size_b - yes_a / size_a)[called]
    return float(distances.min()) if distances.size else None


def share_detectable(yes_a, size_a, size_b, level=ALPHA):
    """The smallest difference from the observed share of a that would be called with a chance of POWER, in
    steps of one point; None if there is none."""
    share_a, shares_b = yes_a / size_a, np.linspace(0.0, 1.0, 101)
    if size_a * size_b <= OUTCOMES_MAX:
        called = boschloo_p_values(size_a, size_b) <= level
        power = np.einsum("i,ij,kj->k", chances_of(size_a, share_a), called, chances_of(size_b, shares_b[:, None]))
    else:
        error = np.sqrt(share_a * (1.0 - share_a) / size_a + shares_b * (1.0 - shares_b) / size_b)
        distance = np.abs(shares_b - share_a)
        power = _special().ndtr(distance / np.maximum(error, 1e-9) + _special().ndtri(level / 2.0))
    distances = np.abs(shares_b - share_a)[power >= POWER]
    return float(distances.min()) if distances.size else None
