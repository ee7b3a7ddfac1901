"""capacity.json: what its reader refuses, and the limits and differences that are estimated from it."""

import copy
import json
import random
from pathlib import Path

import pytest

from weir_report import capacity_estimates
from weir_report.capacity import Capacity, Search, Setting, Trial, as_record, from_record, read_capacity, write_capacity
from weir_report.errors import ReportError

EXAMPLE = Path(__file__).parent / "capacity" / "capacity.json"


def settings_of(brackets, find="rate", **more):
    """A Capacity with one setting per name, whose rounds have these (low, high)."""
    return Capacity(find, "sustained", "local", tuple(
        Setting(name, {"switch": name}, tuple(Search(number, low, high) for number, (low, high) in enumerate(rounds, 1)))
        for name, rounds in brackets.items()), **more)


def difference(capacity, baseline, new):
    return capacity_estimates.difference(capacity, capacity.setting(baseline), capacity.setting(new))


def limit(capacity, name):
    return capacity_estimates.limit(capacity, capacity.setting(name))


def test_the_example_is_read_and_written_alike(tmp_path):
    capacity = read_capacity(EXAMPLE)
    assert [setting.name for setting in capacity.settings] == ["switch=pfc", "switch=ecn", "switch=none"]
    path = write_capacity(tmp_path, capacity)
    assert read_capacity(tmp_path) == capacity and path == tmp_path / "capacity.json"


@pytest.mark.parametrize("where, value, message", [
    (("schema",), "weir-capacity/2", "schema is 'weir-capacity/2', not 'weir-capacity/1'"),
    (("find",), "speed", "find: 'speed' is not one of rate, busy, slots, streams"),
    (("unit",), "Gb/s", "unit: 'Gb/s' is not one of b/s"),
    (("better",), "lower", "better: 'lower' is not one of higher"),
    (("criterion",), None, "criterion: None is not a text"),
    (("rounds",), 0, "rounds: 0 is not a whole number from 1 on"),
    (("settings",), {}, "settings: a list is expected"),
    (("settings", 1, "name"), "switch=pfc", r"settings\[1\].name: 'switch=pfc' is there twice"),
    (("settings", 0, "values"), {"switch": 1}, r"settings\[0\].values: an object with texts is expected"),
    (("settings", 0, "searches", 1, "round"), 1, r"settings\[0\].searches: rounds are \[1, 1, 3, 4\]"),
    (("settings", 0, "searches", 0, "low"), 9e10, r"settings\[0\].searches\[0\]: low is 9e\+10 and high"),
    (("settings", 0, "searches", 0, "high"), "much", r"settings\[0\].searches\[0\].high: 'much' is not a number from 0 on"),
    (("settings", 0, "searches", 0, "runs", 0, "held"), 1, r"runs\[0\].held: 1 is not true, false or null"),
    (("settings", 0, "searches", 0, "runs", 0), 7, r"runs\[0\]: an object is expected"),
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
    record = as_record(settings_of({"a": [(None, None)]}))
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
    assert gain.certain and gain.value == pytest.approx(14.8e9, rel=0.1) and gain.low < gain.value < gain.high
    loss = difference(capacity, "switch=pfc", "switch=ecn")
    assert loss.certain and loss.value == -gain.value


def test_one_round_gives_the_bracket_and_calls_nothing():
    capacity = settings_of({"a": [(50, 51)], "b": [(60, 61)]})
    assert (limit(capacity, "a").low, limit(capacity, "a").high) == (50, 51)
    found = difference(capacity, "a", "b")
    assert not found.certain and found.threshold is None and found.more_rounds == 2
    assert (found.low, found.high) == (9, 11)


def test_resolution_counts_though_the_rounds_agree():
    """Simulations with one seed find the same bracket each time; how wide it is remains."""
    capacity = settings_of({"a": [(50, 51)] * 5, "b": [(51, 52)] * 5, "c": [(50.5, 51.5)] * 5})
    assert limit(capacity, "a").low == 50 and limit(capacity, "a").high == 51
    assert difference(capacity, "a", "b").certain
    near = difference(capacity, "a", "c")
    assert not near.certain and near.low < 0.0 and near.high > 1.0


def test_noise_between_rounds_is_in_the_interval():
    capacity = settings_of({"a": [(50, 51), (40, 41), (60, 61)], "b": [(53, 54), (43, 44), (63, 64)],
                            "c": [(70, 71), (43, 44), (49, 50)]})
    wide = limit(capacity, "a")
    assert wide.low < 40 and wide.high > 61
    # What both share in a round cancels.
    assert difference(capacity, "a", "b").certain
    apart = difference(capacity, "a", "c")
    assert not apart.certain and apart.more_rounds > 0


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
    assert min(inside) >= 0.92 * 400


def test_rounds_that_reach_the_end_of_the_range_give_bounds():
    capacity = settings_of({"all": [(100, None)] * 3, "some": [(60, 61)] * 3, "nothing": [(None, 10)] * 3})
    assert limit(capacity, "all").bound == "at least" and limit(capacity, "all").high == float("inf")
    assert limit(capacity, "nothing").bound == "at most" and limit(capacity, "nothing").low == 0.0
    found = difference(capacity, "some", "all")
    assert found.certain and found.bound == "at least" and found.high == float("inf") and found.low > 0
    found = difference(capacity, "all", "nothing")
    assert found.certain and found.bound == "at most" and found.value == -90
    assert not difference(capacity, "all", "all").certain


def test_fewest_slots_are_the_end_that_held():
    capacity = settings_of({"a": [(3, 4)] * 4, "b": [(5, 6)] * 4}, find="slots")
    assert limit(capacity, "a").value == 4
    assert difference(capacity, "a", "b").value == 2 and difference(capacity, "a", "b").certain


def test_a_search_in_progress_is_no_limit():
    capacity = Capacity("rate", "sustained", "local",
                        (Setting("a", {}, (Search(1, 5.0, None, (Trial(5.0, True, "complete", "x"),), False),)),))
    assert limit(capacity, "a") is None
    assert capacity_estimates.difference(capacity, capacity.settings[0], capacity.settings[0]) is None
