"""The bisection and its order, as pure logic: runs are functions here."""

import math
import statistics

import pytest

from weir_report import limit_calibration
from weir_report.known_limits import Case
from weir_report.limit_search import LimitSearch, Space
from weir_report.search_order import LATER_RUNS, Searches

RATES = Space(50.0, 50.0 / 16, 50.0 * 16)


def carry_out(search, holds):
    """Runs a search to its end. Returns its bracket and the values tried."""
    tried = []
    while (value := search.next_value()) is not None:
        tried.append(value)
        search.add(value, holds(value))
        assert len(tried) < 200
    return search.bracket, tried


@pytest.mark.parametrize("limit", [3.2, 20.0, 49.99, 50.0, 51.0, 100.0, 333.3, 799.0])
def test_the_limit_lies_in_a_narrow_bracket(limit):
    (low, high), tried = carry_out(LimitSearch(RATES), lambda value: value <= limit)
    assert low <= limit < high <= low * 1.0202
    # Values far from the limit once, the ends of the bracket twice.
    assert all(tried.count(value) == (2 if value in (low, high) else 1) for value in tried)


def test_an_estimate_saves_runs():
    (low, high), first = carry_out(LimitSearch(RATES), lambda value: value <= 61.0)
    (low, high), second = carry_out(LimitSearch(RATES, (low, high)), lambda value: value <= 61.0)
    assert low <= 61.0 < high and len(second) == 4 < len(first)
    # And does no harm where it is wrong.
    for limit in (7.0, 55.0, 700.0):
        (low, high), tried = carry_out(LimitSearch(RATES, (60.0, 61.0)), lambda value, limit=limit: value <= limit)
        assert low <= limit < high <= low * 1.0202 and len(tried) < 20


def test_ends_of_the_range():
    assert carry_out(LimitSearch(RATES), lambda _: True)[0] == (800.0, None)
    assert carry_out(LimitSearch(RATES), lambda _: False)[0] == (None, 3.125)
    assert carry_out(LimitSearch(RATES, (800.0, 800.0)), lambda _: True)[1] == [800.0, 800.0]


@pytest.mark.parametrize("start", [1, 3, 64])
@pytest.mark.parametrize("fewest", [1, 2, 3, 4, 17, 63, 64, 65])
def test_fewest_slots_are_exact(start, fewest):
    space = Space(start, 1, 64, larger_is_harder=False, step=1)
    (low, high), tried = carry_out(LimitSearch(space), lambda value: value >= fewest)
    assert (low, high) == ((None, 1) if fewest == 1 else (64, None) if fewest == 65 else (fewest - 1, fewest))
    assert all(value == int(value) for value in tried)


def test_only_multiples_of_a_step_are_tried():
    space = Space(10.5, 3.5, 3500.0, step=3.5)
    (low, high), tried = carry_out(LimitSearch(space), lambda value: value <= 72.0)
    assert (low, high) == (70.0, 73.5) and all((value / 3.5).is_integer() for value in tried)


def test_a_wrong_outcome_at_an_end_is_put_right():
    """Each single run of a search in turn has the wrong outcome. A bracket that is misled ends at the value that was wrong,
    which is tried again."""
    _, right = carry_out(LimitSearch(RATES), lambda value: value <= 61.0)
    for wrong in range(len(right)):
        count = iter(range(1000))
        (low, high), tried = carry_out(LimitSearch(RATES), lambda value, count=count, wrong=wrong:
                                       (value <= 61.0) != (next(count) == wrong))
        assert low <= 61.0 < high <= low * 1.0202, (wrong, low, high, tried)


def test_campaigns_without_noise_hold_the_truth_and_tell_nothing_apart():
    found = limit_calibration.rates(Case("no noise"), 3, 20)
    assert (found["certain"], found["covered"], found["over"]) == (0.0, 1.0, 0.0)


def searches(stays, rounds=2, hold=1, resolution=0.02):
    number = sum(map(len, stays))
    return Searches({index: Space(50.0, 3.125, 800.0, resolution=resolution) for index in range(number)}, stays, rounds, hold)


def run_all(made, limits, stopped=()):
    """[(setting, round)] in order. `limits`: by setting, a function of the number of the run."""
    order = []
    while (run := made.next_run(stopped)) is not None:
        setting, round_, value = run
        made.add(setting, round_, value, value <= limits[setting](len(order)))
        order.append((setting, round_))
        assert len(order) < 1000
    return order


def test_settings_take_turns_in_the_order_a_b_b_a():
    order = run_all(searches([[0], [1]], rounds=1), [lambda _: 61.0, lambda _: 61.0])
    settings = [setting for setting, _ in order]
    a, b = settings[0], 1 - settings[0]
    assert settings == [a, b, b, a] * (len(order) // 4) + [a, b][:len(order) % 4]


def test_a_stay_has_all_settings_of_a_switch_setting():
    """Two switch settings with two settings each: one change in each step."""
    order = [setting for setting, _ in run_all(searches([[0, 1], [2, 3]], rounds=1), [lambda _: 61.0] * 4)]
    switches = [setting // 2 for setting in order]
    changes = sum(one != other for one, other in zip(switches, switches[1:]))
    assert changes <= len(order) / 4 + 1
    held = [setting // 2 for setting, _ in run_all(searches([[0, 1], [2, 3]], rounds=1, hold=2), [lambda _: 61.0] * 4)]
    assert sum(one != other for one, other in zip(held, held[1:])) <= len(held) / 8 + 1


def test_a_drift_weighs_on_both_settings_alike():
    """Equal settings under a drift of 10 % over the whole time: the differences of the rounds do not lean to a side."""
    found = []
    for seed in range(40):
        made = Searches({0: RATES, 1: RATES}, [[0], [1]], 4, seed=seed)
        run_all(made, [lambda run: 60.0 * (1.0 + 0.10 * run / 60.0)] * 2)
        middles = [[math.prod(search.bracket) ** 0.5 for _, search in made.begun(setting)] for setting in (0, 1)]
        found.append(statistics.fmean(other / one - 1.0 for one, other in zip(*middles)))
    assert abs(statistics.fmean(found)) < 0.003


def test_later_rounds_begin_from_what_is_known():
    made = searches([[0]], rounds=4)
    order = run_all(made, [lambda _: 61.0])
    runs = [sum(round_ == number for _, round_ in order) for number in (1, 2, 3, 4)]
    assert runs[0] >= 9 and all(number <= LATER_RUNS[0] for number in runs[1:])
    brackets = [search.bracket for _, search in made.begun(0)]
    assert all(low <= 61.0 < high for low, high in brackets) and len(set(brackets)) == 4  # the grid moves


def test_a_stopped_setting_does_not_hold_up_the_others():
    made = searches([[0], [1]])
    order = run_all(made, [lambda _: 61.0] * 2, stopped={0})
    assert {setting for setting, _ in order} == {1} and made.next_run() is not None
    assert made.runs_left({0}) == (0, 0)


def test_what_is_left_is_said_beforehand():
    made = searches([[0], [1], [2]], rounds=3)
    expected, most = made.runs_left()
    order = run_all(made, [lambda _: 61.0, lambda _: 20.0, lambda _: 300.0])
    assert 0.6 * expected <= len(order) <= 1.3 * expected < most and made.runs_left() == (0, 0)
