"""The rates that docs/statistics.md states, and small cases whose answers are known."""

import numpy as np
import pytest
from scipy import stats

import calibration
from weir_compare.comparison import statistics

# Rates are counted in this many data sets: their own standard error is 0.3 points at 5 %.
DRAWS = 4000
SLACK = 0.010


@pytest.fixture
def generator():
    return np.random.default_rng(20)


@pytest.mark.parametrize("size", [3, 5, 10])
@pytest.mark.parametrize("kind", calibration.NOISES)
def test_without_a_change_something_is_called_in_less_than_5_percent(generator, kind, size):
    for figures in (1, 10):
        assert calibration.false_calls(kind, size, size, figures, generator, draws=DRAWS) <= 0.05 + SLACK


def test_ten_figures_without_holms_levels_would_be_called_falsely(generator):
    sides = [calibration.noise("normal", (DRAWS, 10, 5), generator) for _ in range(2)]
    without = (statistics.p_value(statistics.estimate_sides(*sides)) <= statistics.ALPHA).any(axis=-1).mean()
    assert without > 0.2


@pytest.mark.parametrize("size_a, size_b, spread", [(3, 10, 1.0), (10, 3, 1.0), (10, 3, 3.0), (3, 10, 1 / 3)])
def test_sides_of_unequal_size_and_spread(generator, size_a, size_b, spread):
    assert calibration.false_calls("normal", size_a, size_b, 1, generator, draws=DRAWS, spread_b=spread) <= 0.05 + SLACK


@pytest.mark.parametrize("size, figures, percent, least", [
    (3, 1, 0.5, 0.97), (3, 10, 0.5, 0.35), (5, 10, 0.5, 0.98), (3, 1, 1.0, 0.53), (5, 1, 1.0, 0.93),
    (5, 10, 1.0, 0.53), (10, 10, 1.0, 0.98), (5, 1, 2.0, 0.41), (10, 1, 2.0, 0.79), (10, 10, 2.0, 0.41)])
def test_a_change_of_3_percent_is_called(generator, size, figures, percent, least):
    assert calibration.power("normal", size, figures, 3.0, percent, generator, draws=DRAWS) >= least


@pytest.mark.parametrize("size", [3, 5, 10])
def test_intervals_hold_the_truth(generator, size):
    for kind in ("normal", "lognormal"):
        for paired in (False, True):
            rate = calibration.coverage(kind, size, size, paired, generator, DRAWS)
            assert 0.94 <= rate <= 0.995, (kind, paired)


@pytest.mark.parametrize("size", [3, 5, 10])
def test_a_detectable_change_is_called_in_80_percent(generator, size):
    assert calibration.detected(size, generator, DRAWS) == pytest.approx(0.79, abs=0.06)


def test_no_difference_is_rarely_said_of_a_relevant_change_and_often_of_none(generator):
    for size in (3, 5, 10):
        for percent in (0.5, 1.0):
            assert calibration.no_difference(size, 2.0, percent, generator, DRAWS) <= 0.04
    assert calibration.no_difference(5, 0.0, 0.5, generator, DRAWS) >= 0.9
    # Too noisy: neither shown nor excluded.
    assert calibration.no_difference(3, 0.0, 2.0, generator, DRAWS) <= 0.05


def test_drift_cancels_in_pairs(generator):
    paired, false = calibration.drift_calls(5, -3.0, True, generator, DRAWS)
    unpaired, _ = calibration.drift_calls(5, -3.0, False, generator, DRAWS)
    assert paired > 0.9 and unpaired < 0.05
    assert false <= 0.05 + SLACK


def test_the_later_side_is_not_called_for_the_drift():
    early, late = np.array([100.0, 102.0, 104.0, 106.0]), np.array([101.0, 103.0, 105.0, 107.0])
    differences, inflation = statistics.pair_differences(early, late, [0, 2, 4, 6], [1, 3, 5, 7])
    assert differences == pytest.approx([0.0] * 4) and inflation == pytest.approx(1.05)
    # Sides that take turns in being first need no correction.
    assert statistics.pair_differences(early, late, [0, 3, 4, 7], [1, 2, 5, 6])[1] == 1.0


def test_the_sustained_share_is_not_called_falsely():
    for size in (3, 5, 10):
        assert calibration.share_false_calls(size) <= 0.05


@pytest.mark.parametrize("size_a, size_b", [(3, 3), (3, 7), (5, 5)])
def test_boschloos_test_is_scipys(size_a, size_b):
    mine = statistics.boschloo_p_values(size_a, size_b)
    for yes_a, yes_b in ((0, 1), (size_a, 0), (size_a, 1), (1, size_b), (2, 2)):
        theirs = stats.boschloo_exact([[yes_a, yes_b], [size_a - yes_a, size_b - yes_b]], n=64).pvalue
        assert mine[yes_a, yes_b] == pytest.approx(theirs, abs=1e-4)


def test_all_against_none_is_called_with_three_runs():
    assert statistics.boschloo_p_values(3, 3)[3, 0] == pytest.approx(1 / 32)
    assert statistics.share_threshold(3, 3, 3) == 1.0
    assert statistics.share_threshold(5, 5, 5) == pytest.approx(0.8)
    assert 0.8 < statistics.share_detectable(5, 5, 5) < 0.9
    assert statistics.share_threshold(1, 2, 2) is None and statistics.share_detectable(1, 2, 2) is None


def test_holms_levels():
    levels = statistics.holm_levels([0.001, 0.2, 0.02, np.nan, 0.04])
    assert levels[[0, 1, 2, 4]] == pytest.approx([0.05 / 4, 0.05 / 3, 0.05 / 3, 0.05 / 3])
    assert np.isnan(levels[3])
    assert statistics.holm_levels([0.0, 0.0]) == pytest.approx([0.025, 0.05])
    assert np.isnan(statistics.holm_levels([np.nan])).all()


def test_differences_are_medians_over_pairs():
    assert statistics.difference_of_sides(np.array([1.0, 2.0, 9.0]), np.array([2.0, 3.0, 4.0])) == 1.0
    assert statistics.difference_of_pairs(np.array([1.0, 1.0, 7.0])) == 2.5


def test_without_spread_every_difference_is_certain():
    same, other = np.full(3, 0.1), np.full(3, 0.3)
    assert statistics.p_value(statistics.estimate_sides(same, same)) == 1.0
    assert statistics.p_value(statistics.estimate_sides(same, other)) == 0.0
    assert statistics.estimate_sides(same, other).error == 0.0
    assert statistics.interval(statistics.estimate_sides(same, other)) == pytest.approx((0.2, 0.2))


def test_values_in_one_step_are_not_taken_for_free_of_spread():
    estimate = statistics.estimate_sides(np.full(3, 32.0), np.full(3, 33.0), step=1.0)
    assert statistics.p_value(estimate) > 0.005


def test_each_side_has_its_own_spread():
    wide, narrow = np.array([98.0, 100.0, 102.0]), np.array([100.0, 100.0, 100.0])
    for sides in ((wide, narrow), (narrow, wide)):
        estimate = statistics.estimate_sides(*sides)
        assert estimate.error == pytest.approx(1.2 * 2.0 * np.sqrt(1 / 3)) and estimate.freedom == pytest.approx(2.0)


@pytest.mark.parametrize("one, other",
                         [([1, 2, 3], [4, 5, 6]), ([1, 5, 3, 8], [4, 2, 9, 7, 6]), ([1, 1, 2, 3, 3], [2, 2, 4, 4, 5])])
def test_runs_dealt_out_by_chance_are_ranked_as_scipy_does(one, other):
    result = stats.permutation_test((stats.rankdata([*one, *other])[:len(one)],
                                     stats.rankdata([*one, *other])[len(one):]),
                                    lambda a, b: abs(a.sum() - len(a) * (len(a) + len(b) + 1) / 2.0), vectorized=False,
                                    n_resamples=np.inf, alternative="greater")
    assert statistics.chance_p_value(one, other)[0] == pytest.approx(result.pvalue)


def test_pairs_by_chance_are_wilcoxons():
    differences = np.array([0.3, -0.1, 0.5, 0.7, 0.2, 0.9])
    assert statistics.chance_p_value_of_pairs(differences)[0] == pytest.approx(stats.wilcoxon(differences).pvalue)


def test_an_interval_holds_zero_where_chance_may_give_the_difference_and_is_no_wider_than_the_runs_show():
    for differences in ((0.02, -0.02, 0.01, -0.015, 0.006), (0.9, 1.0, 1.1, 1.0, -0.01), (1.0, 1.1, 0.9, 1.05, 1.02)):
        differences = np.array(differences)
        estimate, chance = statistics.estimate_pairs(differences), statistics.chance_p_value_of_pairs(differences)
        low, high = statistics.interval_beside_chance(estimate, *chance)
        plain = statistics.interval(estimate)
        assert low <= 0.0 <= high or chance[0] <= chance[1]
        assert high - low <= max(plain[1] - plain[0], 2.3 * abs(float(estimate.difference)))


def test_what_scipy_special_gives_is_that_of_scipy_stats():
    assert statistics.t_quantile(0.025, 3.3) == pytest.approx(stats.t.isf(0.025, 3.3))
    assert statistics.chances_of(7, 0.3) == pytest.approx(stats.binom.pmf(np.arange(8), 7, 0.3))
    # Large samples: Fisher's test, of which nothing overflows.
    fisher = stats.fisher_exact([[480, 450], [20, 50]]).pvalue
    assert statistics.share_p_values(480, 500, 500)[450] == pytest.approx(fisher, rel=0.1)
    assert 0.01 < statistics.share_threshold(480, 500, 500) < statistics.share_detectable(480, 500, 500) < 0.1
