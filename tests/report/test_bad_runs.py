"""Complete runs that lost data, were not sustained or were late: no setting is recommended over one without, however
fast what it delivered was."""

import json

import pytest
from comparing import make, run  # noqa: F401 (a fixture)
from conftest import RUNS

import lossy_calibration
from lossy_calibration import (ALL_ARE_BAD, ALL_ARE_GOOD, EQUALLY_BAD, LATE, LOST, LOST_BUT_SUSTAINED, NOT_SUSTAINED,
                               ONE_IS_BAD)
from weir_compare.comparison import answer_lines, bad_runs
from weir_compare.comparison.comparison import compare
from weir_compare.comparison.run_groups import Group
from weir_runs.reading.run import read_run

CASES = {case.title: case for case in (*ONE_IS_BAD, *ALL_ARE_BAD, *ALL_ARE_GOOD)}


def report_of(*settings, size=5, seed=1):
    """A Report of settings (gain, {number of a run: what is bad in it})."""
    generator, template = lossy_calibration.np.random.default_rng(seed), read_run(RUNS / "measured")
    groups = [Group(f"switch={name}", []) for name in "abcdef"[:len(settings)]]
    for number in range(size):
        for place, (group, (gain, bad)) in enumerate(zip(groups, settings)):
            minute = 10 * number + (place if number % 2 else len(groups) - place)
            group.runs.append(lossy_calibration.run_of(template, f"{group.name}-{number}", gain, minute,
                                                       bad.get(number), generator))
    return compare(groups[0], groups[1:])


@pytest.mark.parametrize("what, said", [
    (LOST, "2 of 5 runs of b lost data; none of a"), (NOT_SUSTAINED, "2 of 5 runs of b were not sustained; none of a"),
    (LOST_BUT_SUSTAINED, "2 of 5 runs of b lost data; none of a"), (LATE, "2 of 5 runs of b had late sets; none of a")])
def test_a_faster_setting_of_which_runs_were_bad_is_not_recommended(what, said):
    report = report_of((0.0, {}), (0.2, {1: what, 3: what}))
    answer = report.answer
    assert answer.short.sentence.startswith(said) and "longest delivery time differs by" in answer.short.because
    assert answer.winner is answer.recommended is None and answer.next == (
        "Make 8 more runs of each setting: that runs of b are bad more often than those of a may be chance, and 13 of "
        "each would tell, if it is as often as it seems.")
    if what != LATE:
        assert "(by chance alone in up to " in answer.headline
    # The best of these, though it shares its place.
    assert [row.setting for row in answer.ranking] == ["a", "b"]
    assert [row.place for row in answer.ranking] == ["1 (tied)", "1 (tied)"]
    assert report.deciding_calls() == ["inconclusive"]
    if what in (LOST, NOT_SUSTAINED):
        assert any(line.startswith("    rank") and "sustained  " in line for line in answer_lines.lines(answer))


def test_a_faster_setting_of_which_nearly_all_runs_were_bad_is_advised_against():
    answer = report_of((0.0, {}), (0.2, dict.fromkeys(range(4), LOST_BUT_SUSTAINED))).answer
    assert answer.winner is None and answer.recommended == "a"
    assert answer.short.verdict == ("Use a: None of 5 runs of a lost data or was not sustained, though the longest "
                                    "delivery time of what arrived is better with b.")


def test_rare_bad_runs_need_more_runs_than_are_worth_it():
    answer = report_of((0.0, {}), (0.2, {1: LOST})).answer
    assert answer.recommended is None and answer.next == (
        "Measure what each setting carries without loss: weir-sweep with find = \"rate\". That runs of b are bad more "
        "often than those of a may be chance, and more than 20 runs of each would be needed to tell.")


@pytest.mark.parametrize("case", EQUALLY_BAD, ids=lambda case: case.title)
def test_of_equal_settings_one_is_rarely_to_be_used(case):
    """Before the test of their shares, in 46 % of these comparisons."""
    assert lossy_calibration.rates(case, 5, draws=12)["any"] <= 1 / 12


def test_all_that_is_written_agrees(capsys, make, tmp_path):
    a = [make(f"a-{number}", delivery=1.2 + 0.002 * number, tags={"switch": "a"}) for number in range(5)]
    b = [make(f"b-{number}", delivery=1.0 + 0.002 * number, tags={"switch": "b"}, lost=500 * (number % 2),
              sustained=number % 2 == 0)
         for number in range(5)]
    for sides in ((a, b), (b, a)):
        for fail_on, status in (("worse", 0), ("different", 0), ("inconclusive", 3)):
            assert run(capsys, *sides[1], "--against", *sides[0], "--fail-on", fail_on)[0] == status
    status, out, _ = run(capsys, "--by", "switch", *a, *b, "--json", "-", "--page", tmp_path / "page.html")
    answer = json.loads(out)["answer"]
    assert status == 0 and answer["winner"] is None and answer["recommended"] is None
    assert {pair["call"] for pair in answer["pairs"] if pair["figure"] == "delivery_p99"} == {"inconclusive"}
    page = (tmp_path / "page.html").read_text()
    assert "</strong>2 of 5 runs of b lost data; none of a" in page
    assert "Make 8 more runs of each setting" in page and "verdict good" not in page


def test_shares_that_differ_and_are_not_told_apart_are_not_called_the_same(capsys, make):
    a = [make(f"a-{number}", tags={"switch": "a"}) for number in range(5)]
    b = [make(f"b-{number}", tags={"switch": "b"}, sustained=number > 1) for number in range(5)]
    status, out, _ = run(capsys, "--by", "switch", *a, *b, "--decide-by", "sustained", "--json", "-")
    answer = json.loads(out)["answer"]
    assert status == 0 and "nothing that differs" not in answer["headline"] and answer["recommended"] is None
    assert answer["verdict"] == "NO WINNER: a and b: sustained in 5 of 5 runs of a and in 3 of 5 of b."
    assert answer["because"].startswith("By chance alone in up to ")


def test_a_slower_setting_of_which_runs_were_bad_loses_as_before():
    answer = report_of((0.2, {}), (0.0, {1: LOST, 3: LOST})).answer
    assert answer.winner == answer.recommended == "a"
    assert answer.evidence[0].startswith("2 of 5 runs of b lost data; none of a")


def test_bad_runs_of_one_of_three_are_named_though_the_other_two_differ_in_something_else():
    answer = report_of((0.0, {}), (0.1, dict.fromkeys(range(5), LOST)), (0.2, {})).answer
    assert answer.winner == "c" and answer.evidence[0].startswith("5 of 5 runs of b lost data; none of c and a")


def test_where_runs_of_all_were_bad_nothing_is_recommended_by_what_was_delivered():
    answer = report_of((0.0, {0: LOST, 1: LOST}), (0.2, {1: LOST})).answer
    assert answer.short.sentence == (
        "No setting is without fault: 1 of 5 runs of b lost data and 2 of 5 runs of a lost data.")
    assert answer.winner is None
    assert answer.recommended is None and "Use " not in answer.next and "without loss" in answer.next
    assert bad_runs.BOTH_LOST in answer.headline
    assert not any(pair.is_told for pair in answer.measured.pairs)


def test_of_several_settings_without_a_bad_run_none_is_taken_at_random():
    answer = report_of((0.0, {}), (0.001, {}), (0.2, {1: LOST, 3: LOST})).answer
    assert answer.recommended is None
    assert answer.next.startswith("Choose between ") and " c" not in answer.next.split(",")[0]


@pytest.mark.parametrize("case", [case.title for case in (*ONE_IS_BAD, *ALL_ARE_BAD)])
def test_planted_bad_runs_are_never_recommended_nor_kept_quiet(case):
    found = lossy_calibration.rates(CASES[case], 5, draws=6)
    assert not found["wrong"] and not found["silent"]


def test_settings_without_a_bad_run_are_compared_as_before():
    assert lossy_calibration.rates(CASES["all good, equal"], 5, draws=8)["good"] <= 2 / 8
    assert lossy_calibration.rates(CASES["all good, one 5 % faster"], 5, draws=5)["fastest"] == 1.0
