"""How often a ranking is wrong (src/report/statistics.md), and rankings whose truth is known."""

import numpy as np
import pytest

from weir_report import calibration, ranking, statistics
from weir_report.figure_results import Settings
from weir_report.key_figures import KEY_FIGURES

FIGURES = {figure.name: figure for figure in KEY_FIGURES}
QUICK = Settings(resamples=0)


@pytest.fixture
def generator():
    return np.random.default_rng(23)


@pytest.mark.parametrize("settings, size, sustained, draws", [(2, 3, 1.0, 300), (2, 3, 0.5, 200), (2, 5, 0.5, 200), (3, 5, 1.0, 80),
                                                             (6, 3, 1.0, 15)])
def test_equal_settings_are_rarely_told_apart(generator, settings, size, sustained, draws):
    winners, apart = calibration.headlines(settings, size, sustained, generator, draws)
    limit = 0.05 + 2.0 * np.sqrt(0.05 * 0.95 / draws)
    assert winners <= apart <= limit


def test_the_first_figure_that_differs_would_name_a_winner_too_often(generator):
    """What the common family of tests is for."""
    sides = [calibration.noise("normal", (2000, 6, 5), generator) for _ in range(2)]
    p_values = statistics.p_value(statistics.estimate_sides(*sides))
    assert (p_values <= statistics.ALPHA).any(axis=-1).mean() > 0.1


def rank(values, figures=("sustained", "longest_stay", "delivery_p99")):
    return ranking.rank([FIGURES[name] for name in figures], values, QUICK)


def noisy(level, generator, size=5):
    return (level * (1.0 + 0.005 * generator.standard_normal(size))).tolist()


def test_a_setting_that_is_never_sustained_is_last_with_three_runs_each(generator):
    made = rank({"sustained": [[1.0] * 3, [0.0] * 3, [1.0] * 3, [0.0] * 3],
                 "longest_stay": [noisy(level, generator, 3) for level in (1.0, 1.0, 1.0, 1.0)], "delivery_p99": [[1.0] * 3] * 4})
    assert made.decided_by.name == "sustained"
    assert [(made.ranks[i], made.last_ranks[i]) for i in range(4)] == [(1, 2), (3, 4), (1, 2), (3, 4)]
    assert made.winner is None


def test_the_first_figure_of_the_chain_decides_though_a_later_one_contradicts(generator):
    made = rank({"sustained": [[1.0] * 5] * 2, "longest_stay": [noisy(1.0, generator), noisy(1.2, generator)],
                 "delivery_p99": [noisy(2.0, generator), noisy(1.0, generator)]})
    assert made.winner == 0 and made.decided_by.name == "longest_stay"


def test_exchanged_settings_give_the_same_answer(generator):
    sides = [noisy(1.0, generator), [3.0 * value - 2.0 for value in noisy(1.0, generator)], noisy(1.03, generator)]
    one = rank({"longest_stay": sides}, ("longest_stay",))
    other = rank({"longest_stay": sides[::-1]}, ("longest_stay",))
    assert one.ranks == other.ranks[::-1] and one.last_ranks == other.last_ranks[::-1]


def test_a_setting_without_values_is_last_and_told_apart_from_none(generator):
    made = rank({"longest_stay": [[None] * 5, noisy(1.0, generator), noisy(1.2, generator)]}, ("longest_stay",))
    assert made.order == [1, 2, 0] and (made.ranks[0], made.last_ranks[0]) == (1, 3) and made.winner is None


def test_nothing_that_differs_has_no_winner():
    made = rank({"longest_stay": [[1.0] * 5, [1.0] * 5]}, ("longest_stay",))
    assert made.chain == () and made.winner is None and made.decided_by is None


def test_equal_shares_of_several_settings():
    # Two of four always fail, three runs each: C(4, 2) of the C(12, 6) ways to deal the runs out are so unlike.
    assert statistics.alike_p_value([3] * 4, [3, 3, 0, 0]) == pytest.approx(6 / 924, abs=0.003)
    assert statistics.alike_p_value([3] * 3, [3, 3, 0]) == pytest.approx(3 / 84, abs=0.004)
    assert statistics.alike_p_value([5] * 3, [2, 2, 2]) == 1.0
