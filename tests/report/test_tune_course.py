"""The course of a tuning behind its search: what is compared, with how many seeds, and when it is decided again."""

import sys

import pytest
from tune_cases import PLAN, found_of

from weir_suites.tune import (axes as tune_axes, campaigns, candidate_search, confirmation, decide, found, tune_file,
                              tune_page, tune_record, tune_text)


@pytest.mark.parametrize("holds", [True, False])
def test_a_neighbour_that_is_certainly_better_is_proposed_if_other_seeds_agree(file_of, monkeypatch, holds):
    monkeypatch.setenv("WEIR", sys.executable)  # nothing is run
    tune = tune_file.read(file_of(PLAN + "[tune.axes]\nslots = [1, 4, 8]\n"))
    runs, asked = campaigns.Campaigns(tune, "nowhere", lambda line: None), []
    seconds = {"1": 2e-3, "4": 1e-3, "8": 0.9e-3 if holds else 1.0e-3}

    def run(name, settings, first_seed, repetitions):
        asked.append((name, first_seed))
        return {key: [campaigns.Result(seconds[options.get("slots", "1")] * (1.0 + 0.01 * number))
                      for number in range(repetitions)]
                for key, options in settings.items()}

    def moves(of_it):
        course = confirmation.Confirmation(tune, runs, lambda line: None, of_it)
        course._confirmed = {(8.0,): [campaigns.Result(0.9e-3)] * 5}
        return course._move()

    monkeypatch.setattr(runs, "run", run)
    better = decide.Change(0.1, 0.08, 0.12, decide.BETTER, relevant=True)
    of_it = found_of(neighbours=[found.Neighbour("slots", "8", (8.0,), 0.9e-3, better, found.Kept(5))])
    assert "Beside it, slots=8 alone is 10 % better (95 % interval 8 % to 12 %)" in tune_text.headline(tune, of_it)
    assert moves(of_it) is holds
    assert asked == [("confirm-neighbour", 3001)] and of_it.best == ((8.0,) if holds else (4.0,))
    of_it.neighbours = []
    said = tune_text.short(tune, of_it).sentence
    assert said.startswith(f"slots={'8' if holds else '4'} instead of 1: longest delivery "
                           f"time {'918 us instead of 2.04' if holds else '1 ms instead of 2'} "
                           "ms")
    assert ("confirmed as a neighbour" in tune_page.page_text(tune, of_it, "")) is holds
    assert (tune_record.make(tune, of_it)["confirmed_neighbour"] is not None) is holds
    broken = found_of(
        neighbours=[found.Neighbour("slots", "8", (8.0,), 0.9e-3, better, found.Kept(5, 1, ("lost packets",)))])
    assert not moves(broken) and len(asked) == 1


def compared_by(tune, monkeypatch, value, excess=lambda slots, seed: 0.0):
    """([campaign, first seed, seeds], Found) of all from the confirmation to the last neighbours, whose runs are
    `value(slots, seed)`."""
    monkeypatch.setenv("WEIR", sys.executable)  # nothing is run
    runs, seen = campaigns.Campaigns(tune, "nowhere", lambda line: None), []

    def run(name, settings, first_seed, repetitions):
        seen.append((name, first_seed, repetitions))
        return {key: [campaigns.Result(value(slots, seed), excess(slots, seed))
                      for seed in range(first_seed, first_seed + repetitions)]
                for key, options in settings.items() for slots in [options.get("slots", "1")]}

    monkeypatch.setattr(runs, "run", run)
    monkeypatch.setattr(runs, "is_possible", lambda options: True)
    of_it = found_of(changes=[], keeps=[], values=[], chosen=None, seeds=2)
    confirmation.Confirmation(tune, runs, lambda line: None, of_it).propose()
    return seen, of_it


@pytest.mark.parametrize("differs, asked, pairs", [
    (None, [("confirm", 1001, 2), ("around", 1001, 2)], 2),
    ("4", [("confirm", 1001, 2), ("confirm-more", 1003, 3), ("around", 1001, 5)], 5),
    ("8", [("confirm", 1001, 2), ("around", 1001, 2), ("around-more", 1003, 3), ("around-before-more", 1003, 3)], 5)])
def test_settings_are_compared_with_two_seeds_until_some_differ_from_seed_to_seed(
        file_of, monkeypatch, differs, asked, pairs):
    tune = tune_file.read(file_of(PLAN + "[tune.axes]\nslots = [1, 4, 8]\n"))

    def value(slots, seed):
        return {"1": 2.0, "4": 1.0, "8": 1.5}[slots] * (
            1.0 + 0.1 * (seed - 1000) + 0.01 * (slots == differs) * (seed % 2))

    seen, of_it = compared_by(tune, monkeypatch, value)
    assert seen == asked and (of_it.pairs, of_it.best) == (pairs, (4.0,))
    assert of_it.runs == {"confirmation": 2 * pairs, "neighbours": 2 if differs is None else 5}
    assert (
        "(certain, 2 pairs of runs) 50 % better, in runs that the search has not seen: runs of equal settings do not "
        "differ."
        in tune_text.headline(tune, of_it)) is (pairs == 2)
    assert of_it.neighbours[-1].change.is_worse and of_it.neighbours[-1].kept.runs == of_it.seeds


def test_what_two_seeds_said_is_taken_back_when_further_ones_do_not_say_so(file_of, monkeypatch):
    tune = tune_file.read(file_of(PLAN + "[tune.axes]\nslots = [1, 4, 8]\n"))
    seen, of_it = compared_by(tune, monkeypatch, lambda slots, seed: {
        "1": 2.0, "4": 1.8 if seed < 1003 else 2.2, "8": 2.5 + 0.01 * (seed % 2)}[slots])
    assert [name for name, _, _ in seen] == ["confirm", "around", "around-more", "around-before-more"]
    assert of_it.chosen is None and of_it.pairs == 5 and "certain" not in tune_text.headline(tune, of_it)
    assert [neighbour.candidate for neighbour in of_it.neighbours] == [(4.0,)]


def test_a_constraint_that_breaks_with_some_seeds_asks_for_all_of_them(file_of, monkeypatch):
    tune = tune_file.read(file_of(PLAN + "[tune]\nlossless = true\n[tune.axes]\nslots = [1, 4, 8]\n"))
    seen, of_it = compared_by(tune, monkeypatch, lambda slots, seed: {"1": 2.0, "4": 1.0, "8": 1.0}[slots],
                              lambda slots, seed: float(slots == "8" and seed in (1001, 1004)))
    assert ("around-more", 1003, 3) in seen and of_it.pairs == 5 and of_it.best == (4.0,)
    assert of_it.neighbours[-1].kept.broke == 2 and not of_it.neighbours[-1].breaks


def test_a_neighbour_whose_confirmation_shows_that_runs_differ_makes_all_be_decided_again(file_of, monkeypatch):
    tune = tune_file.read(file_of(PLAN + "[tune.axes]\nslots = [1, 4, 8]\n"))
    seen, of_it = compared_by(tune, monkeypatch, lambda slots, seed: {"1": 2.0, "4": 1.0, "8": 0.9}[slots] * (
        1.0 if slots != "8" or seed < 1003 else 1.0 + 0.1 * (seed % 3)))
    assert seen == [("confirm", 1001, 2), ("around", 1001, 2), ("confirm-neighbour", 3001, 5),
                    ("around-again-before-more", 1003, 3)]
    assert of_it.moved is None
    assert of_it.best == (4.0,) and of_it.pairs == 5 and "do not differ" not in tune_text.headline(tune, of_it)


def two_axes(file_of, monkeypatch, value):
    """Found of slots and window, 1 and 1 now; both 4 are proposed. `value(slots, window, seed)`."""
    monkeypatch.setenv("WEIR", sys.executable)  # nothing is run
    tune = tune_file.read(file_of(PLAN + "[tune.axes]\nslots = [1, 4, 8]\nwindow = [1, 4, 8]\n"))
    runs, seen = campaigns.Campaigns(tune, "nowhere", lambda line: None), []

    def run(name, settings, first_seed, repetitions):
        seen.append((name, first_seed, repetitions))
        return {key: [campaigns.Result(value(options.get("slots", "1"), options.get("window", "1"), seed))
                      for seed in range(first_seed, first_seed + repetitions)] for key, options in settings.items()}

    monkeypatch.setattr(runs, "run", run)
    monkeypatch.setattr(runs, "is_possible", lambda options: True)
    varied = (tune_axes.of_list("slots", [1, 4, 8]), tune_axes.of_list("window", [1, 4, 8]))
    of_it = found.Found(varied, (1.0, 1.0), [candidate_search.Trial((1.0, 1.0), 1, 0.0),
                                             candidate_search.Trial((4.0, 4.0), 1, -0.7)], {},
                        finalists=[(4.0, 4.0)], seeds=2)
    confirmation.Confirmation(tune, runs, lambda line: None, of_it).propose()
    return tune, of_it, seen


def test_an_axis_that_makes_no_difference_goes_back_to_its_present_value_and_that_is_confirmed(file_of, monkeypatch):
    tune, of_it, seen = two_axes(file_of, monkeypatch,
                                 lambda slots, window, seed: {"1": 2.0, "4": 1.0, "8": 1.2}[slots] * (1 + seed % 3))
    assert of_it.best == (4.0, 1.0) and of_it.put_back == ("window",)
    assert ("confirm-fewest", 5001, 5) in seen and seen[-1][0].startswith("around-fewest")
    assert {one.candidate for one in of_it.of_axis("window")} == {(4.0, 4.0)}  # around what is proposed
    assert tune_text.short(tune, of_it).sentence.startswith("slots=4 instead of 1: longest delivery time")
    assert dict(tune_text.parts(of_it))["put back"] == ["window, at the present value again: no difference against the "
                                                        "setting that the search found"]
    record = tune_record.make(tune, of_it)
    assert record["proposed"] == {"slots": "4", "window": "1"} and record["put_back"]["axes"] == ["window"]
    assert "proposed, confirmed with the fewest changes" in tune_page.page_text(tune, of_it, "")


def test_axes_that_matter_together_do_not_go_back_together(file_of, monkeypatch):
    """Each alone makes no difference, as long as the other one is 4."""
    _, of_it, seen = two_axes(file_of, monkeypatch,
                              lambda slots, window, seed: 2.0 if slots == window == "1" else 1.0)
    assert of_it.best == (4.0, 4.0) and not of_it.put_back and "confirm-fewest" not in [name for name, *_ in seen]


def test_what_other_seeds_do_not_confirm_does_not_go_back(file_of, monkeypatch):
    value = {"1": 2.0, "4": 1.0, "8": 1.2}
    _, of_it, seen = two_axes(file_of, monkeypatch, lambda slots, window, seed: value[slots] * (
        1.1 if seed > 5000 and window == "1" and slots == "4" else 1.0))
    assert ("confirm-fewest", 5001, 5) in seen and of_it.best == (4.0, 4.0) and not of_it.put_back
