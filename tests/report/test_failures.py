"""Runs that failed are the worst outcome: they stand in headline and ranking, and nobody is recommended over more of
them. And what nothing certain can be said of: runs that did not take turns, other versions of weir."""

import dataclasses
import json

import numpy as np
import pytest
from comparing import capacity_of, make, run  # noqa: F401 (a fixture)
from conftest import editing

from weir_compare.comparison import run_order
from weir_compare.sweep import collect as sweep_collect, run_plan
from weir_compare.sweep.campaign import PointState
from weir_compare.sweep.collect import Measured
from weir_runs.reading.capacity import write_capacity
from weir_runs.reading.run import read_run


def directories(make, name, complete, failed=0, *, goodput=1.0, minutes=None, seed=1, **more):
    noise = 0.002 * np.random.default_rng(seed).standard_normal(complete + failed)
    return [make(f"{name}-{index}", goodput=goodput + noise[index], tags={"switch": name},
                 status="complete" if index < complete else "failed", minute=minutes[index] if minutes else None,
                 **more)
            for index in range(complete + failed)]


def answer_of(capsys, *arguments):
    status, out, err = run(capsys, "--by", "switch", *arguments, "--json", "-")
    assert status == 0, err
    return json.loads(out)["answer"]


def test_ten_complete_runs_win_over_three_that_are_better_beside_seven_that_failed(capsys, make):
    a, b = directories(make, "a", 10), directories(make, "b", 3, 7, goodput=1.1, seed=2)
    status, out, _ = run(capsys, "--by", "switch", *a, *b)
    assert status == 0 and "7 of 10 runs of b failed: no reason is recorded" in out and out.startswith("Use a  ")
    answer = answer_of(capsys, *a, *b)
    assert answer["winner"] == "a"
    assert [(row["setting"], row["failed"]) for row in answer["ranking"]] == [("a", 0), ("b", 7)]
    assert answer["verdict"] == "Use a: It completed 10 of 10 runs; b: 3 of 10." and answer["certainty"] == "certain"


def test_a_setting_with_one_failure_more_is_not_recommended(capsys, make):
    a, b = directories(make, "a", 6), directories(make, "b", 5, 1, goodput=1.1, seed=2)
    answer = answer_of(capsys, *a, *b)
    assert answer["winner"] is None and "1 of 6 runs of b failed" in answer["headline"]
    assert "for the better with b. More of its runs failed" in answer["headline"]
    assert "why runs failed" in answer["next"]
    # As many on both sides weigh the same; fewer are no hindrance.
    assert answer_of(capsys, *a, *directories(make, "c", 6, goodput=1.1, seed=3))["winner"] == "c"


def test_a_setting_of_which_every_run_died_is_named_with_the_reason(capsys, make, tmp_path):
    a, b = directories(make, "a", 5), directories(make, "b", 5, goodput=0.8, seed=2)
    c = directories(make, "c", 0, 5)
    for directory in c:
        with editing(directory) as record:
            record["failure"] = {"what": "rank 3 on eb04 is gone"}
    status, out, _ = run(capsys, "--by", "switch", *c, *a, *b, "--page", tmp_path / "page.html")
    assert status == 0 and "c has no complete run, all 5 failed: rank 3 on eb04 is gone." in " ".join(out.split())
    answer = answer_of(capsys, *c, *a, *b)
    assert answer["winner"] == "a" and [row["setting"] for row in answer["ranking"]] == ["a", "b", "c"]
    assert "all 5 failed" in (tmp_path / "page.html").read_text()
    status, _, err = run(capsys, "--by", "switch", *c, *directories(make, "d", 0, 3))
    assert status == 2
    assert "no complete run in any setting; 5 of 5 runs of switch=c failed: rank 3 on eb04 is gone" in err


def test_a_setting_with_two_runs_does_not_unjudge_the_others(capsys, make):
    a, b, c = directories(make, "a", 5), directories(make, "b", 5, goodput=0.8,
                                                     seed=2), directories(make, "c", 2, goodput=1.5)
    status, out, _ = run(capsys, "--by", "switch", *a, *b, *c)
    assert status == 0 and "c is not judged: it has 2 complete runs, 3 are the least." in " ".join(out.split())
    assert out.count("not judged") == 2  # in headline and ranking
    answer = answer_of(capsys, *a, *b, *c)
    assert answer["winner"] == "a"
    assert [(row["setting"], row["judged"]) for row in answer["ranking"]] == [("a", True), ("b", True), ("c", False)]


def test_runs_that_did_not_take_turns_are_never_certain(capsys, make):
    a = directories(make, "a", 5, minutes=range(5))
    b = directories(make, "b", 5, goodput=1.1, seed=2, minutes=range(5, 10))
    status, out, _ = run(capsys, "--by", "switch", *a, *b, "--table")
    words = " ".join(out.split())
    assert status == 0
    assert "all runs of a were made in a row, with none of b between" in words and "not certain (" in words
    assert "Make new runs that take turns (a, b, b, a, and again)" in words
    assert "better" not in out.split("key figure")[1].split("\n\n")[0]
    assert answer_of(capsys, *a, *b)["winner"] is None
    in_turns = directories(make, "c", 5, goodput=1.1, seed=2, minutes=[0.5 + index for index in range(5)])
    assert answer_of(capsys, *a, *in_turns)["winner"] == "c"


def test_the_next_run_is_named(capsys, make):
    a = directories(make, "a", 2, minutes=(0, 3))
    b = directories(make, "b", 2, minutes=(1, 2), seed=2)
    assert "; next is a, then b, b, a." in " ".join(run(capsys, "--by", "switch", *a, *b)[1].split())


def test_other_versions_of_weir_are_not_certain(capsys, make):
    a, b = directories(make, "a", 5), directories(make, "b", 5, goodput=1.1, seed=2)
    for directory in b:
        with editing(directory) as record:
            record["environment"]["weir_version"] = "9.9"
    answer = answer_of(capsys, *a, *b)
    assert answer["winner"] is None
    assert "made by different versions of weir (a: " in answer["headline"] and "one version" in answer["next"]


def test_plans_that_load_ports_differently_are_not_certain_if_the_switch_differs_too(capsys, make):
    a, b = directories(make, "a", 5), directories(make, "b", 5, goodput=1.1, seed=2, plan={"slots": "9"})
    for directory in (*a, *b):
        with editing(directory) as record:
            record["plan"]["resolved"]["pressure"] = {"under_way_bytes": 9e6 if directory in b else 4e6, "settings": [],
                                                      "unknown": None, "text": ""}
    answer = answer_of(capsys, *a, *b, "--allow-different-plans")
    assert answer["winner"] is None and "4 MB at most under way into a port with a, 9 MB with b" in answer["headline"]
    for directory in (*a, *b):  # the plan belongs to what is compared
        with editing(directory) as record:
            record["labels"]["plan"] = "of the setting"
    assert answer_of(capsys, *a, *b, "--allow-different-plans")["winner"] == "b"
    # One option that differs, and nothing else, is what is compared.
    status, out, _ = run(capsys, *b, "--against", *a, "--allow-different-plans")
    assert status == 0 and "Plans differ (allowed): slots: " in out


@pytest.mark.parametrize("order, separated", [
    ("AAABBB", (3, 0)), ("ABBBAA", (0, 3)), ("ABBAAB", None), ("ABABAB", None), ("AABBAABB", None),
    ("AAABBBBA", (0, 4)), ("AAAAABBBBBAAAAABBBBB", (5, 0)), ("AABBBAAABB", None), ("AABB", None)])
def test_one_disturbance_may_not_separate_the_runs(order, separated):
    sides = [[place for place, letter in enumerate(order) if letter == side] for side in "AB"]
    found = run_order.separating_stretch(*sides)
    assert (found and (found.first, found.second)) == separated


@pytest.mark.parametrize("order, following",
                         [("", "ABBA"), ("AB", "BAAB"), ("ABBA", "ABBA"), ("AABB", "BAAB"), ("ABB", "AABB"),
                          # To catch up would put them in a row, apart from the others.
                          ("AAA", "BAAB"), ("AAAAABB", "ABBA"), ("ABABAAA", "BAAB")])
def test_the_next_runs_take_turns(order, following):
    begins = [[place for place, letter in enumerate(order) if letter == side] for side in "AB"]
    made = "".join("AB"[index] for index in run_order.next_runs(begins))
    assert made == following


def test_a_campaign_names_a_setting_whose_runs_died(make):
    settings = [run_plan.Setting(index, f"switch={name}", (("switch", name),), name, (), (), ())
                for index, name in enumerate("ab")]
    points = [run_plan.Point(number + 1, number % 2, number // 2 + 1, 1) for number in range(6)]
    measured = [Measured(point, PointState(point, "failed", "srun exited with 1"))
                if point.setting else Measured(point, PointState(point, "complete"),
                                               read_run(make(point.name, goodput=1 + point.number / 1000)))
                for point in points]
    plan = run_plan.Plan("sweep", 1, 3, 1, tuple(settings), tuple(points), ("switch",))
    report = sweep_collect.comparison(sweep_collect.Collection(plan, "local", ("switch",), measured, {}, []))
    assert "b has no complete run, all 3 failed: srun exited with 1." in report.answer.headline
    assert [(row.setting, row.complete, row.failed) for row in report.answer.ranking] == [("a", 3, 0), ("b", 0, 3)]
    assert report.answer.winner == "a" and "3 of 3 runs of switch=b failed" in " ".join(report.remarks)


def test_a_search_whose_runs_died_says_so(capsys, tmp_path):
    capacity = capacity_of({"pfc": [5e9, 5.1e9, 5e9], "ecn": [4e9, 4.1e9, 4e9], "none": [3e9]})
    dead = dataclasses.replace(capacity.settings[2], searches=(), stopped="run 0007: rank 3 on eb04 is gone")
    write_capacity(tmp_path, dataclasses.replace(capacity, settings=(*capacity.settings[:2], dead)))
    status, out, _ = run(capsys, tmp_path)
    words = " ".join(out.split())
    assert status == 0 and "The search of none stopped after 0 of 3 rounds: run 0007: rank 3 on eb04 is gone." in words
    # The others are judged.
    assert words.startswith("Use pfc It sustains ") and "(certain, 3 rounds)" in words
    write_capacity(tmp_path, dataclasses.replace(capacity, settings=(capacity.settings[0], dead)))
    assert "Find out why runs of the search failed" in " ".join(run(capsys, tmp_path)[1].split())
