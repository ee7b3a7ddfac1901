"""How often a ranking is wrong (docs/statistics.md has the rates, with more draws), and rankings whose truth is
known."""

import numpy as np
import pytest

import calibration
import known_truth
from weir_compare.comparison import ranking, statistics
from weir_runs.reading.key_figures import KEY_FIGURES

FIGURES = {figure.name: figure for figure in KEY_FIGURES}
CASES = {case.title: case for case in (*known_truth.EQUAL, *known_truth.UNEQUAL)}


@pytest.fixture
def generator():
    return np.random.default_rng(23)


def most_of(chance, draws):
    """What a rate of `chance` shows at most, but for one case in forty."""
    return chance + 2.0 * np.sqrt(chance * (1.0 - chance) / draws)


@pytest.mark.parametrize("title, settings, size, draws", [
    ("equal, noise 1 %", 2, 3, 200), ("equal, noise 1 %", 3, 5, 60), ("equal, noise 1 %", 6, 3, 15),
    ("half of the runs sustained", 2, 3, 150), ("all but one spread five times as much", 2, 3, 150),
    ("half of the runs in another mode", 2, 3, 150), ("half of the runs in another mode", 2, 5, 150),
    ("half of the runs in another mode", 3, 3, 60), ("a fifth of the runs in another mode", 2, 10, 60),
    ("half of the runs in another mode, by figure", 2, 3, 60),
    ("half of the runs in another mode, by figure", 2, 4, 40), ("drift in a line, A B B A", 2, 5, 100),
    ("a random walk, A B B A", 2, 5, 100), ("three runs in ten fail, whatever the setting", 2, 10, 60)])
@pytest.mark.slow
def test_equal_settings_are_rarely_told_apart(generator, title, settings, size, draws):
    apart, right, wrong, held = calibration.rates(CASES[title], settings, size, generator, draws)
    assert right + wrong <= apart + 1e-9 and apart <= most_of(0.05, draws)
    assert held >= 0.93 - 2.0 * np.sqrt(0.07 * 0.93 / draws)


@pytest.mark.parametrize("title", ["drift in a line, A A B B", "a step at any time, A A B B", "a random walk, A A B B"])
def test_runs_that_did_not_take_turns_are_never_told_apart(generator, title):
    for size in (3, 5, 10):
        assert calibration.rates(CASES[title], 2, size, generator, 20)[:3] == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("title, size, least",
                         [("3 % better, noise 0.5 %", 5, 0.95), ("3 % better, noise 1 %", 5, 0.85),
                          ("20 % better, spreads of 1 and 5 %", 5, 0.9), ("never fails, the other in 7 of 10", 10, 0.6),
                          ("3 % better, drift of 5 %, noise 0.5 %", 5, 0.9)])
def test_a_better_setting_wins_and_no_other_one(generator, title, size, least):
    _, right, wrong, held = calibration.rates(CASES[title], 2, size, generator, 40)
    assert right >= least and wrong == 0.0 and held > 0.8


def test_the_first_figure_that_differs_would_name_a_winner_too_often(generator):
    """What the common family of tests is for."""
    sides = [calibration.noise("normal", (2000, 6, 5), generator) for _ in range(2)]
    p_values = statistics.p_value(statistics.estimate_sides(*sides))
    assert (p_values <= statistics.ALPHA).any(axis=-1).mean() > 0.1


@pytest.mark.parametrize("levels, spreads", [([0.0] * 6, [1.0] * 6), ([0.0] * 6, [5.0] + [1.0] * 5),
                                             ([0.0, 0.0, 50.0, 50.0, 99.0, 99.0], [1.0] * 6)])
def test_equal_settings_are_rarely_told_apart_by_a_single_figure(generator, levels, spreads):
    draws = 60
    assert calibration.one_figure(levels, spreads, 5, generator, draws)[0] <= 0.05 + 2.0 * np.sqrt(0.05 * 0.95 / draws)


def test_one_setting_that_is_worse_is_told_apart_more_often_than_by_holm_s_levels(generator):
    _, told, told_by_holm = calibration.one_figure([-10.0] + [0.0] * 5, [5.0] + [1.0] * 5, 5, generator, 40)
    assert told > told_by_holm + 0.15


def test_a_setting_that_spreads_more_is_told_from_those_it_never_reaches():
    """Goodput of settings in a lab, Mb/s: 21 pairs, five runs each."""
    made = rank({"goodput": [[2.2, 2.3, 2.3, 2.2, 2.3], [12.5, 12.7, 12.9, 12.6, 12.8], [12.9, 12.6, 13.0, 12.8, 13.1],
                             [10.4, 9.0, 11.5, 10.9, 10.0], [12.5, 12.3, 12.7, 12.6, 12.2], [8.8, 6.5, 10.7, 8.0, 9.5],
                             [12.3, 12.5, 12.1, 12.0, 12.6]]}, ("goodput",))
    assert (made.ranks[0], made.last_ranks[0]) == (7, 7)
    assert all(made.told[i][5] is not None for i in (0, 1, 2, 4, 6))
    assert made.told[1][2] is None and made.told[3][5] is None
    for pair in made.pairs:
        assert pair.is_called == (abs(pair.result.difference) >= pair.result.threshold)


def rank(values, figures=("sustained", "longest_stay", "delivery_p99"), **more):
    return ranking.rank([FIGURES[name] for name in figures], ranking.Runs(values, **more))


def noisy(level, generator, size=5):
    return (level * (1.0 + 0.005 * generator.standard_normal(size))).tolist()


def test_a_setting_that_is_never_sustained_is_last_with_three_runs_each(generator):
    made = rank({"sustained": [[1.0] * 3, [0.0] * 3, [1.0] * 3, [0.0] * 3],
                 "longest_stay": [noisy(level, generator, 3) for level in (1.0, 1.0, 1.0, 1.0)],
                 "delivery_p99": [[1.0] * 3] * 4})
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


@pytest.mark.parametrize("fewer_first", [True, False])
def test_groups_by_chance_count_with_unequal_numbers_of_runs(fewer_first):
    """One figure tells 3 runs from 4 and another one divides the same runs otherwise: of 35 ways to deal them out, as
    much in three."""
    values = {"longest_stay": [[1.0, 1.01, 1.02], [2.0, 2.01, 2.02, 2.03]],
              "delivery_p99": [[1.0, 1.01, 2.0], [1.02, 2.01, 2.02, 2.03]]}
    made = rank({name: sides if fewer_first else sides[::-1] for name, sides in values.items()})
    assert made.of_figure(FIGURES["longest_stay"], 0, 1).result.p_value == pytest.approx(3 / 35)


def test_a_setting_without_values_is_last_and_told_apart_from_none(generator):
    made = rank({"longest_stay": [[None] * 5, noisy(1.0, generator), noisy(1.2, generator)]}, ("longest_stay",))
    assert made.order == [1, 2, 0] and (made.ranks[0], made.last_ranks[0]) == (1, 3) and made.winner is None


@pytest.mark.parametrize("failed, is_enough", [(0, False), (1, False), (2, True)])
def test_a_run_that_failed_is_one_of_those_that_are_enough_and_not_two(failed, is_enough):
    made = rank({"sustained": [[1.0] * 3, [1.0]], "longest_stay": [[1.0, 1.1, 1.2], [1.5]]},
                ("sustained", "longest_stay"), failed=(0, failed))
    assert made.judged == (True, is_enough)


def test_nothing_that_differs_has_no_winner():
    made = rank({"longest_stay": [[1.0] * 5, [1.0] * 5]}, ("longest_stay",))
    assert made.chain == () and made.winner is None and made.decided_by is None


def closed(differences, error=1.0):
    """closed_p_values of settings in one row, with these differences between neighbours."""
    places = np.cumsum([0.0, *differences])
    pairs = [(i, j) for i in range(len(places)) for j in range(i)]
    estimates = [statistics.Estimate(np.array(places[i] - places[j]), np.array(error), np.array(8.0)) for i, j in pairs]
    alone = [float(statistics.p_value(estimate)) for estimate in estimates]
    return pairs, np.array(alone), lambda kept=None: statistics.closed_p_values(
        *zip(*[(two, estimate, p) for two, estimate, p in zip(pairs, estimates, alone) if kept is None or kept(two)]))


def test_a_closed_test_of_two_settings_is_that_of_the_pair():
    _, alone, adjusted = closed([2.5])
    assert adjusted()[0] == pytest.approx(alone[0])
    assert statistics.closed_level(0.05, 2) == statistics.closed_level(0.05, 3) == pytest.approx(0.05)
    assert statistics.closed_level(0.05, 6) == pytest.approx(1.0 - 0.95 ** (2 / 6))


def test_a_set_of_settings_that_may_be_alike_keeps_its_pairs_together():
    # The outer two alone would be called; with what lies between them, they are not.
    pairs, alone, adjusted = closed([1.0, 0.3, 0.0, 1.05])
    outer = pairs.index((4, 0))
    level = statistics.closed_level(0.05, 5)
    assert alone[outer] < 0.05 and adjusted()[outer] > alone[outer] and adjusted()[outer] > level
    assert (adjusted() >= alone).all()


def test_a_closed_test_leaves_out_sets_with_two_that_are_known_to_be_unlike():
    pairs, _, adjusted = closed([2.6, 0.0, 0.0, 30.0])
    apart = [two for two in pairs if 4 not in two]
    assert adjusted(lambda two: 4 not in two).shape == (len(apart),)
    # Nothing is given of settings 0 and 4: no set has both, and 4 still counts as one of five.
    without = adjusted(lambda two: two != (4, 0))
    whole = adjusted()
    assert without[pairs.index((1, 0))] == pytest.approx(whole[pairs.index((1, 0))])


def test_equal_shares_of_several_settings():
    # Two of four always fail, three runs each: C(4, 2) of the C(12, 6) ways to deal the runs out are so unlike.
    assert statistics.alike_p_value([3] * 4, [3, 3, 0, 0]) == pytest.approx(6 / 924, abs=0.003)
    assert statistics.alike_p_value([3] * 3, [3, 3, 0]) == pytest.approx(3 / 84, abs=0.004)
    assert statistics.alike_p_value([5] * 3, [2, 2, 2]) == 1.0


def test_shares_never_differ_by_more_than_a_hundred_points():
    made = rank({"late_share": [[0.0, 1.0, 0.1], [0.9, 0.0, 1.0]]}, ("late_share",))
    result = made.pairs[0].result
    assert result.detectable is None and -1.0 <= result.low <= result.high <= 1.0 and not made.pairs[0].is_called
