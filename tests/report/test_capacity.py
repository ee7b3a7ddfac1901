"""capacity.json: what its reader refuses, and the limits and differences that are estimated from it."""

import copy
import json
import random
from pathlib import Path

import pytest

import known_limits
from weir_compare.comparison import capacity_estimates, capacity_ranking
from weir_compare.comparison.figure_results import BETTER, INCONCLUSIVE, NO_DIFFERENCE, Settings, WORSE
from weir_compare.sweep import find_text
from weir_compare.sweep.limit_search import Space
from weir_runs.basics.errors import ReportError
from weir_runs.reading.capacity import (Capacity, Search, Setting, Trial, as_record, from_record, read_capacity,
                                        write_capacity)

EXAMPLE = Path(__file__).parent / "capacity" / "capacity.json"


def settings_of(brackets, find="rate", resolution=0.02, **more):
    """A Capacity with one setting per name, whose rounds have these (low, high)."""
    return Capacity(find, "sustained", "local", tuple(
        Setting(name, {"switch": name},
                tuple(Search(number, low, high) for number, (low, high) in enumerate(rounds, 1)))
        for name, rounds in brackets.items()), resolution=None if find == "slots" else resolution, **more)


def difference(capacity, baseline, new):
    """FigureResult of the two, new minus baseline; None: they are ranked against nothing."""
    names = [setting.name for setting in capacity.settings]
    ranked = capacity_ranking.rank(capacity, Settings())
    pair = ranked.of_figure(ranked.decided_by, names.index(baseline), names.index(new))
    return pair and pair.seen_from(names.index(new)).opposite()


def limit(capacity, name):
    return capacity_estimates.limit(capacity, capacity.setting(name))


def test_the_example_is_read_and_written_alike(tmp_path):
    capacity = read_capacity(EXAMPLE)
    assert [setting.name for setting in capacity.settings] == ["switch=pfc", "switch=ecn", "switch=none"]
    path = write_capacity(tmp_path, capacity)
    assert read_capacity(tmp_path) == capacity and path == tmp_path / "capacity.json"


@pytest.mark.parametrize("where, value, message", [
    (("schema",), "weir-capacity/2", "schema: 'weir-capacity/2' is not one of"),
    (("find",), "speed", "find: 'speed' is not one of"),
    (("unit",), "Gb/s", "unit: 'Gb/s' is not b/s"),
    (("better",), "lower", "better: 'lower' is not higher"),
    (("criterion",), None, "criterion: None is not one of"),
    (("rounds",), 0, "rounds: 0 is less than the minimum of 1"),
    (("settings",), {}, "settings: {} is not of type 'array'"),
    (("settings", 1, "name"), "switch=pfc", r"settings\[1\].name: 'switch=pfc' is there twice"),
    (("settings", 0, "values"), {"switch": 1}, r"settings\[0\].values.switch: 1 is not of type 'string'"),
    (("settings", 0, "event_sizes"), ["1MB", "much"], r"settings\[0\].event_sizes: 'much'"),
    (("settings", 0, "event_sizes"), 3 * ["1MB"], r"settings\[0\].event_sizes: two texts at most"),
    (("settings", 0, "event_sizes"), [1], r"settings\[0\].event_sizes\[0\]: 1 is not of type 'string'"),
    (("settings", 0, "searches", 1, "round"), 1, r"settings\[0\].searches: rounds are \[1, 1, 3, 4\]"),
    (("settings", 0, "searches", 0, "low"), 9e10, r"settings\[0\].searches\[0\]: low is 9e\+10 and high"),
    (("settings", 0, "searches", 0, "high"), "much",
     r"settings\[0\].searches\[0\].high: 'much' is not of type 'number' or 'null'"),
    (("settings", 0, "searches", 0, "runs", 0, "held"), 1, r"runs\[0\].held: 1 is not of type 'boolean' or 'null'"),
    (("settings", 0, "searches", 0, "runs", 0), 7, r"runs\[0\]: 7 is not of type 'object'"),
])
def test_what_is_wrong_is_named(tmp_path, where, value, message):
    record = json.loads(EXAMPLE.read_text())
    inner = record
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    path = tmp_path / "capacity.json"
    path.write_text(json.dumps(record))
    with pytest.raises(ReportError, match=message) as error:
        read_capacity(path)
    assert str(path) in str(error.value)


def test_a_complete_search_without_ends_is_refused():
    record = json.loads(json.dumps(as_record(settings_of({"a": [(None, None)]}))))
    with pytest.raises(ValueError, match="a complete search has low, high or both"):
        from_record(record)
    record["settings"][0]["searches"][0]["complete"] = False
    assert from_record(record).settings[0].searches[0].low is None


def test_damaged_files_are_refused(tmp_path):
    """No change of one value of the example makes the reader fail in another way than with its message."""
    draw = random.Random(1)
    original = json.loads(EXAMPLE.read_text())
    for _ in range(300):
        record = copy.deepcopy(original)
        inner = record
        while True:
            key = draw.choice(list(inner)) if isinstance(inner, dict) else draw.randrange(len(inner))
            if not isinstance(inner[key], (dict, list)) or not inner[key] or draw.random() < 0.2:
                break
            inner = inner[key]
        inner[key] = draw.choice([None, -1, 1e400, "x", [], {}, [[]], True, float("nan")])
        try:
            from_record(record)
        except ValueError:
            pass


def test_limits_of_the_example():
    capacity = read_capacity(EXAMPLE)
    best = limit(capacity, "switch=pfc")
    assert best.rounds == 4 and best.bound is None
    assert best.low <= 85.2e9 and best.high >= 86.1e9 and best.value == pytest.approx(85.8e9, rel=0.01)
    # Two settings that are far apart against their spread, by the order of the sides.
    gain = difference(capacity, "switch=ecn", "switch=pfc")
    assert gain.call == BETTER
    assert gain.difference == pytest.approx(14.8e9, rel=0.1) and gain.low < gain.difference < gain.high
    loss = difference(capacity, "switch=pfc", "switch=ecn")
    assert loss.call == WORSE and loss.difference == -gain.difference


def test_one_round_gives_the_bracket_and_calls_nothing():
    capacity = settings_of({"a": [(50, 51)], "b": [(60, 61)]})
    assert (limit(capacity, "a").low, limit(capacity, "a").high) == (50, 51)
    found = difference(capacity, "a", "b")
    assert found.call == INCONCLUSIVE and found.difference == 10 and found.reason == "fewer than 3 runs"


def test_resolution_counts_though_the_rounds_agree():
    """Simulations with one seed find the same bracket each time; how wide it is remains."""
    capacity = settings_of({"a": [(50, 51)] * 5, "b": [(52, 53)] * 5, "c": [(50.4, 51.4)] * 5})
    assert limit(capacity, "a").low == 50 and limit(capacity, "a").high == 51
    assert difference(capacity, "a", "b").call == BETTER
    near = difference(capacity, "a", "c")
    assert near.call == NO_DIFFERENCE and near.low < 0.4 < near.high


def test_noise_between_rounds_is_in_the_interval():
    capacity = settings_of({"a": [(50, 51), (40, 41), (60, 61), (45, 46), (55, 56), (52, 53)],
                            "b": [(53, 54), (43, 44), (63, 64), (48, 49), (58, 59), (55, 56)]})
    wide = limit(capacity, "a")
    assert wide.low < 46 and wide.high > 56
    # What both share in a round cancels.
    assert difference(capacity, "a", "b").call == BETTER and difference(capacity, "a", "b").paired
    others = settings_of({"a": [(50, 51), (46, 47), (54, 55)], "c": [(55, 56), (48, 49), (52, 53)]})
    assert difference(others, "a", "c").call == INCONCLUSIVE


def test_equal_is_shown_and_not_taken_for_granted():
    """What was not found is not equal: the whole interval has to be small."""
    equal = settings_of({"a": [(50, 50.2), (50.1, 50.3), (49.9, 50.1)] * 2,
                         "b": [(50.1, 50.3), (50, 50.2), (49.9, 50.1)] * 2}, resolution=0.004)
    assert difference(equal, "a", "b").call == NO_DIFFERENCE
    coarse = settings_of({"a": [(48, 52)] * 6, "b": [(48.5, 52.5)] * 6}, resolution=0.08)
    assert difference(coarse, "a", "b").call == INCONCLUSIVE
    noisy = settings_of({"a": [(48, 49), (52, 53), (50, 51)], "b": [(51, 52), (48, 49), (51, 52)]})
    assert difference(noisy, "a", "b").call == INCONCLUSIVE


def test_intervals_hold_the_truth():
    """95 % are meant; brackets make the intervals a little wider."""
    draw = random.Random(7)
    inside = [0, 0]
    for _ in range(400):
        rounds = {"a": [], "b": []}
        for _ in range(4):
            drift = draw.gauss(0, 2)
            for name, truth in (("a", 100.0), ("b", 107.0)):
                value = truth + drift + draw.gauss(0, 1)
                low = value - draw.random()
                rounds[name].append((low, low + 1.0))
        capacity = settings_of(rounds)
        inside[0] += limit(capacity, "a").low <= 100.0 <= limit(capacity, "a").high
        found = difference(capacity, "a", "b")
        inside[1] += found.low <= 7.0 <= found.high
    assert min(inside) >= 0.93 * 400


def test_a_limit_outside_of_the_range_is_ranked_against_nothing():
    capacity = settings_of({"all": [(100, None)] * 3, "some": [(60, 61)] * 3, "less": [(50, 51)] * 3,
                            "nothing": [(None, 10)] * 3})
    assert limit(capacity, "all").bound == "above" and limit(capacity, "all").high == float("inf")
    assert limit(capacity, "nothing").bound == "below" and limit(capacity, "nothing").low == 0.0
    for name in ("all", "nothing"):
        assert difference(capacity, "some", name) is None
    assert difference(capacity, "less", "some").call == BETTER
    # One that may be better than all is why there is no winner.
    assert capacity_ranking.rank(capacity, Settings()).winner is None
    closed = settings_of({"some": [(60, 61)] * 3, "less": [(50, 51)] * 3, "nothing": [(None, 10)] * 3})
    assert capacity_ranking.rank(closed, Settings()).winner == 0


def test_a_few_rounds_that_came_to_the_end_of_the_range_leave_the_median_known():
    rounds = {"some": [(60, 61), (60, None), (50, 51), (60, None), (55, 56)],
              "most": [(60, 61), (60, None), (50, 51), (60, None), (60, None)],
              "half": [(50, 51), (60, None)], "low": [(None, 12), (12.4, 12.6), (13, 13.2)]}
    some, most, half, low = (limit(settings_of(rounds), name) for name in rounds)
    assert (some.value, some.bound, some.beyond, some.end, some.high) == (60.5, None, 2, 60.0, float("inf"))
    assert some.low <= 50.5 and some.is_answer and not some.is_closed
    assert (most.value, most.bound, most.beyond) == (60.0, "above", 3)
    assert (half.value, half.bound, half.beyond) == (60.0, "above", 1)
    assert (low.value, low.bound, low.end, low.low) == (12.5, None, 12.0, 0.0) and low.high >= 13.1
    ranked = capacity_ranking.rank(settings_of(rounds | {"closed": [(50, 51)] * 3}), Settings())
    assert ranked.winner is None and difference(settings_of(rounds), "some", "most") is None
    said = "\n".join(find_text.limit_lines(settings_of(rounds)))
    assert "2 of 5 rounds held to the end of the range, 60 b/s" in said
    assert "above 60 b/s, the end of the range, in 3 of 5 rounds" in said
    assert "1 of 3 rounds did not hold to the end of the range, 12 b/s" in said


def test_intervals_of_limits_near_the_end_of_the_range_hold_the_truth():
    """The end is a little above the limit, so that some rounds come to it; what is said to be above is above the
    end."""
    inside = answers = 0
    case, space = known_limits.Case("near the end", noise=0.05, gains=(0,)), Space(50.0, 50.0 / 16, 61.0)
    for seed in range(60):
        made = known_limits.campaign(case, 5, random.Random(seed), space=space)
        found, = capacity_ranking.limits(made.capacity)
        if found.bound:
            assert found.value == 61.0
        else:
            answers += 1
            inside += found.low <= known_limits.LIMIT <= found.high
    assert answers >= 40 and inside >= 0.93 * answers


def test_what_every_run_held_is_below_the_first_that_failed():
    trials = [Trial(value, held, "complete", None)
              for value, held in ((40.0, True), (50.0, True), (52.0, False), (51.0, True), (50.5, False))]
    capacity = Capacity("rate", "sustained", "local", (Setting("a", {}, (Search(1, 51.0, 52.0, tuple(trials)),)),),
                        resolution=0.02)
    found = limit(capacity, "a")
    assert found.every_run == 50.0 and found.contradictions == 1 and found.runs == 5
    fewest = Capacity("slots", "sustained", "local", (Setting("a", {}, (Search(1, 3.0, 4.0, tuple(
        Trial(value, held, "complete", None)
        for value, held in ((8.0, True), (4.0, True), (3.0, False), (5.0, False)))),)),))
    assert limit(fewest, "a").every_run == 8.0


def test_rounds_that_scatter_are_no_answer():
    capacity = settings_of({"a": [(50, 51), (20, 21), (90, 91)], "b": [(50, 51)] * 3})
    assert not limit(capacity, "a").is_answer and limit(capacity, "b").is_answer
    assert difference(capacity, "a", "b") is None


def test_fewest_slots_are_the_end_that_held():
    capacity = settings_of({"a": [(3, 4)] * 4, "b": [(5, 6)] * 4}, find="slots")
    assert limit(capacity, "a").value == 4
    assert difference(capacity, "a", "b").difference == 2 and difference(capacity, "a", "b").call == WORSE
    # There are no fewer than one.
    assert limit(settings_of({"a": [(None, 1)] * 3}, find="slots"), "a").bound is None


def test_whole_numbers_next_to_each_other_are_an_answer():
    """Three rounds of 7, 6 and 6 differ by the least that they can."""
    found = limit(settings_of({"a": [(6, 7), (5, 6), (5, 6)]}, find="slots"), "a")
    assert (found.value, found.low, found.high) == (6.0, 4.0, 8.0) and found.is_answer
    assert not limit(settings_of({"a": [(6, 7), (3, 4), (9, 10)]}, find="slots"), "a").is_answer


def fewest_slots(*rounds):
    """Of rounds as (low, high, until, outcomes)."""
    return Capacity("slots", "sustained", "local", (Setting("a", {}, tuple(
        Search(number, low, high, tuple(Trial(value, held, "complete", None) for value, held in outcomes), True, until)
        for number, (low, high, until, outcomes) in enumerate(rounds, 1))),))


def test_what_does_not_hold_above_the_values_that_do_is_no_contradiction(tmp_path):
    above = ((8.0, False), (256.0, False), (256.0, False))
    capacity = fewest_slots((None, 1.0, 2.0, (*above, (2.0, True), (1.0, True))),
                            (None, 1.0, None, ((1.0, True), (1.0, True))))
    found = limit(capacity, "a")
    assert (found.value, found.until, found.every_run, found.contradictions, found.bound) == (1.0, 2.0, 1.0, 0, None)
    write_capacity(tmp_path, capacity)
    assert read_capacity(tmp_path) == capacity
    assert "it holds from 1 to 2 slots and not above" in find_text.limit_lines(capacity)[1]


def test_none_that_holds_is_no_limit_above_the_range():
    capacity = fewest_slots(*[(256.0, None, None, ((1.0, False), (8.0, False), (256.0, False)))] * 2)
    assert limit(capacity, "a").bound == "none held up to" and limit(capacity, "a").high == float("inf")
    assert find_text.limit_lines(capacity)[1].startswith(
        "  a  none of the values that were tried holds, from 1 to 256 slots, 2 rounds complete")


def test_a_search_in_progress_is_no_limit():
    capacity = Capacity("rate", "sustained", "local",
                        (Setting("a", {}, (Search(1, 5.0, None, (Trial(5.0, True, "complete", "x"),), False),)),))
    assert limit(capacity, "a") is None
