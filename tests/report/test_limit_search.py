"""The bisection, its order, and whole campaigns of known truth, as pure logic: runs are functions here."""

import json
import math
import random
import statistics
from types import SimpleNamespace

import pytest

import limit_calibration
from known_limits import Case, campaign
from weir_compare.comparison import capacity_estimates
from weir_compare.sweep import find_state
from weir_compare.sweep.limit_search import LimitSearch, Searches, Space, later_runs, most_runs
from weir_runs.reading.capacity import contradictions

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
    # The ends of the bracket twice; others once, or twice if they were doubtful.
    assert all(tried.count(value) == 2 if value in (low, high) else tried.count(value) <= 2 for value in tried)
    assert sum(tried.count(value) == 2 for value in set(tried)) <= 5


def test_an_end_that_was_wrong_is_found_out_early():
    """A single wrong run at the first value, before the search has come near to it."""
    first = iter([False])
    (low, high), tried = carry_out(LimitSearch(RATES), lambda value: next(first, value <= 333.0))
    assert low <= 333.0 < high
    assert tried[:5] == [50.0, 25.0, 35.355, 42.045, 50.0] and len(tried) < most_runs(RATES, 50.0)


def test_a_start_about_the_limit_saves_runs():
    first = carry_out(LimitSearch(RATES), lambda value: value <= 400.0)[1]
    (low, high), second = carry_out(LimitSearch(RATES, 440.0), lambda value: value <= 400.0)
    assert low <= 400.0 < high and len(second) < len(first)
    # And does no harm where it is wrong.
    for limit in (7.0, 55.0, 700.0):
        (low, high), tried = carry_out(LimitSearch(RATES, 60.0), lambda value, limit=limit: value <= limit)
        assert low <= limit < high <= low * 1.0202 and len(tried) < 20


def test_ends_of_the_range():
    assert carry_out(LimitSearch(RATES), lambda _: True)[0] == (800.0, None)
    assert carry_out(LimitSearch(RATES), lambda _: False)[0] == (None, 3.125)
    assert carry_out(LimitSearch(RATES, 800.0), lambda _: True)[1] == [800.0, 800.0]


@pytest.mark.parametrize("start", [1, 3, 64])
@pytest.mark.parametrize("fewest", [1, 2, 3, 4, 17, 63, 64, 65])
def test_fewest_slots_are_exact(start, fewest):
    space = Space(start, 1, 64, larger_is_harder=False, step=1)
    (low, high), tried = carry_out(LimitSearch(space), lambda value: value >= fewest)
    assert (low, high) == ((None, 1) if fewest == 1 else (64, None) if fewest == 65 else (fewest - 1, fewest))
    assert all(value == int(value) for value in tried)


@pytest.mark.parametrize("start", [1, 2, 3, 5, 8, 16, 100, 256])
@pytest.mark.parametrize("first, last", [(1, 2), (1, 1), (1, 40), (60, 64)])
def test_fewer_are_tried_where_the_greatest_does_not_hold(start, first, last):
    """A switch that loses packets as soon as many send at once."""
    space = Space(start, 1, 256, larger_is_harder=False, step=1)
    search = LimitSearch(space)
    (low, high), tried = carry_out(search, lambda value: first <= value <= last)
    assert len(tried) <= most_runs(space, start) and all(value == int(value) for value in tried) and min(tried) >= 1
    if search.until is not None:
        assert high == first and low == (None if first == 1 else first - 1) and search.until == last
    else:  # the first value that held was met on the way, or none was
        assert (low, high) == (first - 1 or None, first) or first == 60 and (low, high) == (256, None) and 1 in tried


@pytest.mark.parametrize("start", [1, 8, 256])
def test_that_none_holds_is_found_after_the_least_was_tried_twice(start):
    search = LimitSearch(Space(start, 1, 256, larger_is_harder=False, step=1))
    bracket, tried = carry_out(search, lambda _: False)
    assert bracket == (256, None) and search.until is None and tried.count(1) == tried.count(256) == 2


def test_one_wrong_run_makes_no_values_that_hold_below_those_that_do_not():
    space = Space(8, 1, 256, larger_is_harder=False, step=1)
    for wrong in range(12):
        count = iter(range(1000))
        search = LimitSearch(space)
        bracket, tried = carry_out(search, lambda _, count=count, wrong=wrong: next(count) == wrong)
        assert bracket == (256, None) and len(tried) <= most_runs(space, 8), (wrong, tried)


def test_only_multiples_of_a_step_are_tried():
    space = Space(10.5, 3.5, 3500.0, step=3.5)
    (low, high), tried = carry_out(LimitSearch(space), lambda value: value <= 72.0)
    assert (low, high) == (70.0, 73.5) and all((value / 3.5).is_integer() for value in tried)


def test_a_wrong_outcome_at_an_end_is_put_right():
    """Each single run of a search in turn has the wrong outcome. A bracket that is misled ends at the value that was
    wrong, which is tried again."""
    _, right = carry_out(LimitSearch(RATES), lambda value: value <= 61.0)
    for wrong in range(len(right)):
        count = iter(range(1000))
        (low, high), tried = carry_out(LimitSearch(RATES), lambda value, count=count, wrong=wrong:
                                       (value <= 61.0) != (next(count) == wrong))
        assert low <= 61.0 < high <= low * 1.0202, (wrong, low, high, tried)


def test_a_search_ends_when_runs_contradict_each_other_for_too_long():
    """An adversary: each bracket is moved on by the runs at its ends."""
    draw = random.Random(3)
    for _ in range(50):
        search = LimitSearch(RATES)
        carry_out(search, lambda value: draw.random() < 0.5)
        assert search.complete and search.runs <= most_runs(RATES, RATES.start)
        assert search.next_value() is None and search.expected_runs() == (0, 0)


def test_contradictions_are_counted():
    assert contradictions([(1, True), (2, True), (3, False)]) == 0
    assert contradictions([(1, False), (2, True), (3, False)]) == 1
    assert contradictions([(1, True), (2, False), (2, True), (2, True), (3, True), (4, False)]) == 1
    assert contradictions([(3, True), (2, False), (1, True)], larger_is_harder=False) == 1
    assert contradictions([]) == 0


def searches(stays, rounds=2, hold=1, resolution=0.02):
    number = sum(map(len, stays))
    return Searches({index: Space(50.0, 3.125, 800.0, resolution=resolution) for index in range(number)}, stays, rounds,
                    hold)


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


def test_later_rounds_begin_about_what_is_known_at_starts_of_their_own():
    made = searches([[0]], rounds=4)
    order = run_all(made, [lambda _: 61.0])
    runs = [sum(round_ == number for _, round_ in order) for number in (1, 2, 3, 4)]
    assert runs[0] >= 9 and all(number <= later_runs(made.spaces[0])[0] + 2 for number in runs[1:])
    brackets = [search.bracket for _, search in made.begun(0)]
    assert all(low <= 61.0 < high for low, high in brackets) and len(set(brackets)) == 4  # each has a start of its own


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


# --- Whole campaigns: statistics.md has the rates, of more of them.


@pytest.mark.parametrize("case", [Case("noise 2 %", 0.02), Case("modes", 0.005, mode_share=0.5),
                                  Case("failures", 0.01, fails=0.2), Case("drift", 0.01, drift=0.1)],
                         ids=lambda case: case.title)
def test_equal_settings_are_not_told_apart_and_intervals_hold_the_truth(case):
    found = limit_calibration.rates(case, 3, 40)
    assert found["certain"] <= 0.1 and found["covered"] >= 0.88 and found["over"] == 0.0
    assert found["answered"] >= 0.4


def test_what_is_different_is_found():
    found = limit_calibration.rates(Case("better", 0.01, (0.0, 0.05)), 5, 20)
    assert found["certain"] >= 0.8 and found["wrong"] == 0.0


def test_where_a_search_begins_makes_no_difference():
    """From a tenth of the value to ten times of it: the same winner, and limits that hold the truth."""
    case = Case("better", 0.01, (0.0, 0.1))
    for start in (5.0, 15.0, 50.0, 150.0, 500.0):
        made = campaign(case, 3, random.Random(2), start, Space(start, 3.0, 800.0))
        assert limit_calibration.called(made.capacity) == 1, start
        for index, setting in enumerate(made.capacity.settings):
            limit = capacity_estimates.limit(made.capacity, setting)
            assert limit.low <= case.limit(index) <= limit.high, (start, limit)


def test_runs_that_scatter_end_in_no_answer_and_within_the_plan():
    """Half of all runs fail, whatever is asked of them."""
    for seed in range(10):
        made = campaign(Case("scatter", 0.1, fails=0.5), 3, random.Random(seed))
        assert made.runs <= made.planned
        limits = [capacity_estimates.limit(made.capacity, setting) for setting in made.capacity.settings]
        assert all(limit.contradictions > 0 for limit in limits)
        assert any(limit.bound or not limit.is_answer for limit in limits)


def test_a_run_with_late_sets_is_not_on_time_even_where_nothing_tells_whether_it_is_sustained(tmp_path):
    verdict = {"judged": False, "sustained": None, "on_time": False,
               "answer": {"verdict": "NOT JUDGED: No producer exceeded its buffer."}, "text": "Not judged: long. More."}
    (tmp_path / "run.json").write_text(json.dumps({"verdict": verdict}))
    state = SimpleNamespace(state="complete", directory=tmp_path)
    assert find_state.outcome(state, "on-time") == (False, "")
    held, why = find_state.outcome(state, "sustained")
    assert held is None and why.endswith("was not judged by whether it is sustained: No producer exceeded its buffer")
