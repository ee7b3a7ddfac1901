"""The answer of a comparison: what is planted wins, equal settings have no winner, and what was not counted is
missing."""

import dataclasses
import json
import re
import shutil

import numpy as np
import pytest
from comparing import capacity_of, make, run  # noqa: F401 (a fixture)
from conftest import ROOT, RUNS, editing

from weir_compare.comparison import answer_lines, capacity_ranking, run_kinds, victims
from weir_compare.comparison.answer import make_answer, value_of
from weir_compare.comparison.figure_results import Settings
from weir_compare.comparison.run_groups import Group
from weir_runs.basics import units
from weir_runs.basics.short_answer import ShortAnswer
from weir_runs.reading.capacity import Capacity, Search, Setting, Trial
from weir_runs.reading.key_figures import SCORED_FIGURES
from weir_runs.reading.run import read_run

EXAMPLE = RUNS.parent / "capacity" / "capacity.json"


def groups(make, noise=0.005, runs=5, **goodput_of):
    """A group for each name, its consumers' rates multiplied by the value, with noise."""
    generator = np.random.default_rng(11)
    return [
        Group(f"switch={name}", [read_run(make(f"{name}-{index}", goodput=level + noise * generator.standard_normal()))
                                 for index in range(runs)]) for name, level in goodput_of.items()]


def test_the_chosen_figure_ranks_all_settings(make):
    answer = make_answer(groups(make, ecn=0.8, pfc=1.0, none=0.6), Settings(decide_by="goodput"))
    assert [(row.rank, row.setting, row.certain) for row in answer.ranking] == [
        (1, "pfc", True), (2, "ecn", True), (3, "none", None)]
    assert answer.winner == "pfc" and answer.decided_by.name == "goodput" and answer.chosen
    assert answer.short.word == "Use pfc" and answer.short.certainty == "certain" and answer.short.good
    assert re.fullmatch(r"It carries \S+ Mb/s to all consumers; ecn: \S+ Mb/s\.", answer.short.sentence)
    best = answer.ranking[0]
    assert best.first.low < best.first.value < best.first.high
    assert best.difference_low < best.difference < best.difference_high and best.difference > 0.0


def test_equal_settings_have_no_winner(make):
    answer = make_answer(groups(make, noise=0.02, a=1.0, b=1.0, c=1.0), Settings(decide_by="goodput"))
    assert answer.winner is None and {row.rank for row in answer.ranking} == {1}
    assert answer.short.word == "NO WINNER" and "would have been found" in answer.short.because


def test_shares_are_in_per_cent_however_small():
    shown = [units.percentage(value) for value in (0.0, 0.41, 0.05, 0.0042, 6.6e-4, 2.84e-5, 1e-7)]
    assert shown == ["0 %", "41 %", "5 %", "0.42 %", "0.066 %", "0.0028 %", "1e-5 %"]


def test_ports_that_stand_out_are_in_the_headline(make, monkeypatch):
    sentence = "the port p1 drops 2 % of packets, the median of the others is 0.0061 %"
    monkeypatch.setattr(victims, "find_victims", lambda groups, names: [
        victims.Victims(names[1], True, None, (), 5, {}, ports=(sentence, sentence, sentence))])
    answer = make_answer(groups(make, noise=0.004, a=1.0, b=0.5), Settings(decide_by="goodput"))
    assert answer.headline.count(f"With b, {sentence}.") == 2  # the others stand in the list of who is affected


def test_leaders_are_named_with_the_next_and_the_last_setting(make):
    answer = make_answer(groups(make, noise=0.004, a=1.0, b=1.004, c=0.9, d=0.5), Settings(decide_by="goodput"))
    assert {row.setting for row in answer.ranking if row.rank == 1} == {"a", "b"}
    assert re.fullmatch(r"Use b or a: b carries \S+ Mb/s to all consumers; a: \S+ Mb/s; c: \S+ Mb/s\.",
                        answer.short.verdict)
    assert "No winner between b and a: the goodput differs by " in answer.headline
    # The estimate of the test, which the ranking and the table show, too.
    pair = answer.measured.of_figure(answer.decided_by, 0, 1).result
    seen = float(re.search(r"differs by (\S+) Mb/s", answer.headline).group(1))
    assert seen == pytest.approx(abs(pair.difference) / 1e6, rel=0.05)
    assert abs(answer.ranking[0].difference) == abs(pair.difference)


def test_what_a_few_more_runs_would_tell_is_the_next_step(make):
    answer = make_answer(groups(make, noise=0.05, runs=4, a=1.0, b=0.95), Settings(decide_by="goodput"))
    assert answer.winner is None
    needed = int(re.search(r"about (\d+) runs each", answer.not_told[0]).group(1))
    assert 4 < needed <= 14 and answer.next.startswith(f"Make {needed - 4} more run")


@pytest.mark.parametrize("runs", [3, 4])
def test_how_many_more_runs_is_by_pairs_where_these_would_be_compared_in_pairs(capsys, make, runs):
    directories, generator = [], np.random.default_rng(5)
    for minute in range(2 * runs):
        name = "abba"[minute % 4]
        level = (1.05 if name == "b" else 1.0) * (1.0 + 0.3 * minute / (2 * runs)) * (
            1.0 + 0.003 * generator.standard_normal())
        directories.append(make(f"{name}-{minute}", goodput=level, minute=minute, tags={"switch": name}))
    status, out, _ = run(capsys, "--by", "switch", *directories, "--decide-by", "goodput", "--json", "-")
    answer = json.loads(out)["answer"]
    assert status == 0 and answer["winner"] is None
    assert (f"about 5 runs each ({5 - runs} more) would tell, for from 5 on they are compared in pairs"
            in answer["not_told"][0])
    assert answer["next"].startswith(
        f"Make {5 - runs} more run{'s' if runs == 3 else ''} of each setting, which would tell")


def test_how_many_more_rounds_is_by_pairs():
    drifting = answer_of({"a": [5e9, 5.5e9, 6e9], "b": [5.25e9, 5.775e9, 6.3e9]})
    assert drifting.winner is None and "about 2 more rounds would tell" in drifting.not_told[0]
    told = answer_of({"a": [5e9, 5.25e9, 5.5e9, 5.75e9, 6e9], "b": [5.25e9, 5.51e9, 5.77e9, 6.04e9, 6.3e9]})
    assert told.winner == "b"


def test_settings_are_only_said_not_to_differ_where_that_was_shown(make):
    close = make_answer(groups(make, noise=0.002, a=1.0, b=1.0001), Settings(decide_by="goodput"))
    assert close.winner is None and close.next.endswith("At this rate they do not differ enough.")
    wide = make_answer(groups(make, noise=0.1, c=1.0, d=1.0), Settings(decide_by="goodput"))
    assert wide.winner is None and "do not differ enough" not in wide.next


def test_one_run_that_makes_the_spread_is_named(make):
    found = groups(make, noise=0.004, a=1.0, b=1.05)
    found[1].runs[2] = read_run(make("b-odd", goodput=0.5))
    answer = make_answer(found, Settings(decide_by="goodput"))
    assert answer.winner is None
    assert answer.next.startswith("Find out what b-odd had, which makes most of the spread of b (")
    generator = np.random.default_rng(4)
    assert sum(run_kinds.find_outlier(generator.standard_normal(5) + 100.0, 0.0) is not None for _ in range(1000)) < 25
    assert run_kinds.find_outlier([1.0, 1.0, 1.0, 1.0, 1.01], 0.02) is None
    assert run_kinds.find_outlier([1.0, 1.0, 1.0, 9.0], 0.02) is None


def test_settings_that_differ_by_less_than_matters_share_a_rank(make):
    answer = make_answer(groups(make, noise=0.0001, a=1.0, b=0.995), Settings(decide_by="goodput"))
    assert answer.winner is None and "certain but less than the 2 % that count" in answer.headline


def test_runs_at_full_load_are_not_followed_by_a_search_for_the_limit(make):
    for factors in ({"a": 1.0, "b": 0.5}, {"c": 1.0, "d": 1.0}):
        found = groups(make, noise=0.001, **factors)
        for group in found:
            for one in group.runs:
                one.record["plan"].setdefault("resolved", {})["generation"] = "saturate"
        answer = make_answer(found, Settings())
        assert "full load" in answer.next and answer.decided_by.name == "goodput"


def test_the_words_of_a_ranking_are_explained_and_in_the_glossary(make):
    answer = make_answer(groups(make, noise=0.02, a=1.0, b=1.0, c=1.0), Settings(decide_by="goodput"))
    assert answer.meanings == ["tied: these runs cannot tell the settings apart",
                               "goodput: payload that arrived, per second"]
    assert any(re.match(r"words +tied: ", line) for line in answer_lines.lines(answer))
    glossary = (ROOT / "docs/glossary.md").read_text().lower()
    titles = re.findall(r"(?m)^\| (.+?) \|", glossary)
    words = {word.rstrip("s") for title in titles for word in title.split(", ")}
    rounds = capacity_ranking.figure_of(capacity_of({"a": (1.0,)}))
    for meaning in filter(None, (figure.meaning for figure in (*SCORED_FIGURES, rounds))):
        assert meaning.split(":")[0].split(" (")[0].rstrip("s") in words, meaning


def test_too_few_runs_are_not_judged(make):
    answer = make_answer(groups(make, runs=2, a=1.0, b=0.5), Settings(decide_by="goodput"))
    assert answer.winner is None and answer.headline.startswith("NOT JUDGED: 3 or more complete runs")
    assert "more runs" in answer.next


def test_a_measured_capacity_decides(capsys, tmp_path):
    status, out, _ = run(capsys, EXAMPLE, "--json", tmp_path / "answer.json")
    assert status == 0
    assert re.match(r"Use pfc {14}It sustains \S+ Gb/s per producer in every run; ecn: \S+ Gb/s\. \(certain, 4 "
                    r"rounds\)\nDo {19}Make one long run at \S+ Gb/s before you rely on it\.\n\nrank ", out)
    answer = json.loads((tmp_path / "answer.json").read_text())["answer"]
    assert answer["decided_by"]["name"] == "capacity" and answer["decided_by"]["unit"] == "b/s"
    assert [(row["rank"], row["setting"], row["certain"]) for row in answer["ranking"]] == [
        (1, "pfc", True), (2, "ecn", True), (3, "none", None)]
    # The difference of the ranking is that of the pairs.
    first = answer["ranking"][0]
    pair = next(pair for pair in answer["pairs"] if {pair["first"], pair["second"]} == {"pfc", "ecn"})
    assert abs(first["difference"]) == abs(pair["difference"])
    assert first["difference_low"] <= first["difference"] <= first["difference_high"]


def answer_of(limits, **more):
    capacity = capacity_of(limits)
    capacity = dataclasses.replace(
        capacity, settings=tuple(dataclasses.replace(setting, run_s=20.0) for setting in capacity.settings), **more)
    return make_answer([], Settings(), capacity)


def test_a_limit_outside_of_the_range_is_named_and_nobody_wins():
    capacity = capacity_of({"pfc": [5e9, 5.05e9, 4.95e9], "ecn": [4e9, 4.05e9, 3.95e9], "both": [8e9] * 3})
    beyond = tuple(dataclasses.replace(search, low=8e9, high=None, runs=search.runs[:1])
                   for search in capacity.settings[2].searches)
    capacity = dataclasses.replace(capacity, settings=(*capacity.settings[:2],
                                                       dataclasses.replace(capacity.settings[2], searches=beyond)))
    answer = make_answer([], Settings(), capacity)
    assert "The limit of both is above 8 Gb/s, the end of the range: it is ranked against nothing." in answer.headline
    assert answer.winner is None and answer.short.word == "NO WINNER" and "most in [find]" in answer.next
    assert [(row.setting, row.judged) for row in answer.ranking] == [("pfc", True), ("ecn", True), ("both", False)]
    last = dataclasses.replace(capacity.settings[2],
                               searches=(*capacity_of({"both": [7e9] * 2}).settings[0].searches, beyond[2]))
    answer = make_answer([], Settings(), dataclasses.replace(capacity, settings=(*capacity.settings[:2], last)))
    assert ("With both, 1 of 3 rounds held to the end of the range, 8 Gb/s: its limit may be higher, and it is ranked"
            in answer.headline)
    assert answer.winner is None and "the limit of both may lie outside of it" in answer.next


@pytest.mark.parametrize("sizes, said", [
    ([("50MB",), ("normal:500kB,deviation=150kB",)], "Events keep their size at every rate."),
    ([("50MB", "50.4MB"), ("50MB",)], "Events keep their size at every rate."),
    ([("33.1MB", "50MB"), ("34MB", "52MB")],
     "Events have 33.1 MB to 52 MB, so that sets have whole events at each rate.")])
def test_the_sizes_that_events_had_are_said(sizes, said):
    capacity = capacity_of({"pfc": [5e9, 5.05e9, 4.95e9], "ecn": [4e9, 4.05e9, 3.95e9]})
    settings = tuple(dataclasses.replace(setting, event_sizes=one) for setting, one in zip(capacity.settings, sizes))
    assert make_answer([], Settings(),
                       dataclasses.replace(capacity, settings=settings, events="hold")).headline.endswith(said)


def test_slots_that_never_hold_or_only_a_few_of_them_are_said_so():
    def setting(name, low, high, until, *outcomes):
        trials = tuple(Trial(value, held, "complete", None) for value, held in outcomes)
        return Setting(f"switch={name}", {"switch": name},
                       tuple(Search(number, low, high, trials, True, until) for number in (1, 2, 3)))

    found = make_answer([], Settings(), Capacity("slots", "sustained", "local", (
        setting("never", 256.0, None, None, (1.0, False), (256.0, False)),
        setting("few", None, 1.0, 2.0, (8.0, False), (2.0, True), (1.0, True)))))
    assert ("With never, none of the values that were tried holds, from 1 to 256 slots: it is ranked against nothing."
            in found.headline)
    assert "With few, more is not better: it holds from 1 to 2 slots and not above." in found.headline
    assert "above 256" not in found.headline and "wider range" not in found.next


def test_equal_needs_small_intervals_and_the_rest_is_not_told():
    equal = answer_of({"pfc": [5e9, 5.005e9, 4.995e9] * 3, "ecn": [5.001e9, 4.996e9, 5.004e9] * 3}, events="hold")
    assert ("pfc and ecn are equal: their difference is below 2 %, with 95 % confidence."
            in equal.headline.replace("ecn and pfc", "pfc and ecn"))
    assert equal.short.word == "Use pfc or ecn" and equal.short.how_sure == "certain, 9 rounds, runs of 20 s"
    assert equal.headline.endswith("or have the nearest one with which sets have whole events.")
    assert not equal.not_told and equal.next.startswith("Choose by the latency")
    noisy = answer_of({"pfc": [5e9, 5.4e9, 4.6e9], "ecn": [5.2e9, 4.7e9, 5e9]})
    assert noisy.short.word == "NO WINNER" and noisy.short.certainty == "cannot tell"
    assert " was seen; " in noisy.short.because and "equal" not in noisy.headline + noisy.next
    assert noisy.not_told


def test_no_margin_is_kept_to_what_no_run_held():
    capacity = capacity_of({"a": [5e9] * 3, "b": [5.5e9] * 3})
    searches = capacity.settings[1].searches
    odd = dataclasses.replace(searches[2], runs=(*searches[2].runs, Trial(1e9, False, "complete", "local/runs/odd")))
    capacity = dataclasses.replace(capacity, settings=(
        capacity.settings[0], dataclasses.replace(capacity.settings[1], searches=(*searches[:2], odd))))
    answer = make_answer([], Settings(), capacity)
    assert answer.winner == "b"
    assert answer.recommended is None and "b has no value that was held in every run" in answer.headline
    assert answer.next.startswith("Find out why b did not hold what is easy in every run")
    assert "margin" not in answer.next


def test_a_capacity_without_its_runs_has_a_page(capsys, tmp_path):
    shutil.copy(EXAMPLE, tmp_path / "capacity.json")
    assert run(capsys, tmp_path / "capacity.json", "--page", tmp_path / "page.html")[0] == 0
    assert ("<title>switch=ecn and" in (tmp_path / "page.html").read_text()
            or "against" in (tmp_path / "page.html").read_text())


def test_runs_that_scatter_are_no_answer():
    answer = answer_of({"pfc": [5e9, 2e9, 9e9], "ecn": [4e9, 4.05e9, 3.95e9]})
    assert "No answer for pfc: runs scatter by " in answer.headline
    assert "of 9 outcomes contradict the others)" in answer.headline
    assert answer.winner is None and "Find out why runs of pfc differ from each other" in answer.next
    assert answer.short.verdict.startswith("NOT JUDGED: ecn sustains ")


def test_a_figure_is_chosen_and_refused(capsys, make):
    sides = groups(make, a=1.0, b=0.9)
    directories = [each.directory for group in sides for each in group.runs]
    status, out, _ = run(capsys, *directories[5:], "--against", *directories[:5], "--decide-by", "goodput",
                         "--fail-on", "worse")
    assert status == 3 and out.startswith("Use baseline         It carries ")
    assert run(capsys, *directories[:5], "--against", *directories[5:], "--decide-by", "goodput",
               "--fail-on", "worse")[0] == 0
    status, _, err = run(capsys, *directories[5:], "--against", *directories[:5], "--decide-by", "speed")
    assert status == 2 and "--decide-by: 'speed' is not one of sustained, lost_events" in err


def test_fail_on_looks_at_the_deciding_figure_alone(capsys, make):
    old = [make(f"old-{index}", delivery=1.0 + 0.001 * index) for index in range(5)]
    new = [make(f"new-{index}", delivery=1.3 + 0.001 * index, goodput=1.1 + 0.001 * index) for index in range(5)]
    # A higher carried rate decides; that latency is worse is found by any-worse.
    assert run(capsys, *new, "--against", *old, "--fail-on", "worse")[0] == 0
    assert run(capsys, *new, "--against", *old, "--fail-on", "different")[0] == 3
    assert run(capsys, *new, "--against", *old, "--fail-on", "any-worse")[0] == 3


def in_turns(make, first, second, runs=5, **options):
    """`first`, `second`: what `make` gets for run number i of settings a and b, which take turns."""
    return [make(f"{name}-{number}", minute=2 * number + place, tags={"switch": name}, **values(number), **options)
            for number in range(runs) for place, (name, values) in enumerate((("a", first), ("b", second)))]


def answered(capsys, runs):
    status, out, _ = run(capsys, "--by", "switch", *runs, "--json", "-")
    assert status == 0
    return json.loads(out)["answer"]


NOISE = (1.0, 1.01, 0.99, 1.012, 0.991)


def test_no_runs_are_asked_for_where_the_difference_would_not_count(capsys, make):
    answer = answered(capsys, in_turns(make, lambda number: {"delivery": NOISE[number]},
                                       lambda number: {"delivery": NOISE[-1 - number] * 1.006}))
    assert answer["recommended"] is None and " would tell" not in answer["next"]
    assert not any(" would tell" in sentence for sentence in answer["not_told"])
    assert "was seen, and " in answer["not_told"][0]


def test_what_is_worse_with_the_winner_is_said(capsys, make):
    answer = answered(
        capsys, in_turns(make, lambda number: {"delivery": NOISE[number]},
                         lambda number: {"delivery": 0.8 * NOISE[number], "goodput": 0.9 + 0.001 * NOISE[number]}))
    assert answer["recommended"] == "a" and "It is worse than b in delivery latency p99 (" in answer["headline"]


def test_settings_that_were_measured_on_different_hosts_are_named(capsys, make):
    runs = in_turns(make, lambda number: {"delivery": NOISE[number]}, lambda number: {"delivery": 0.8 * NOISE[number]})
    assert not any("different hosts" in sentence for sentence in answered(capsys, runs)["not_told"])
    for directory in runs[1::2]:
        with editing(directory) as record:
            for rank in record["ranks"]:
                rank["host"] = "eb99"
    assert any("a and b were measured on different hosts (" in sentence
               for sentence in answered(capsys, runs)["not_told"])


@pytest.mark.parametrize("simulated", [True, False])
def test_what_was_simulated_is_to_be_measured_before_it_is_used(make, simulated):
    def group(name, sustained):
        return Group(f"switch={name}", [read_run(make(f"{name}-{simulated}-{index}", simulated=simulated,
                                                      sustained=sustained, seed=str(index))) for index in range(5)])

    answer = make_answer([group("a", True), group("b", False)], Settings())
    assert answer.winner == "a"
    assert answer.next.startswith("Measure a before use: this was simulated." if simulated else
                                  "Measure how much it carries, which these runs do not show: ")


def test_what_cannot_be_0_has_an_interval_above_0():
    by_name = {figure.name: figure for figure in SCORED_FIGURES}
    wide = value_of(by_name["longest_stay"], [1.9e-3, 2.0e-3, 2.11e-3, 2.3e-3, 11e-3])
    assert 0.0 < wide.low < 1.9e-3 and wide.low < wide.value < wide.high < 11e-3
    narrow = value_of(by_name["longest_stay"], [1.9e-3, 2.0e-3, 2.1e-3])
    assert [round(1e3 * end, 2) for end in (narrow.low, narrow.high)] == [1.74, 2.26]
    assert value_of(by_name["late_share"], [0.0, 0.1, 0.9]).low == 0.0


def test_beyond_what_both_carry_the_rate_is_to_be_lowered(capsys, make):
    answer = answered(capsys, in_turns(make, lambda number: {"goodput": NOISE[number]},
                                       lambda number: {"goodput": 1.2 * NOISE[number]}, sustained=False))
    assert answer["headline"].startswith("NOT SUSTAINED: No setting sustained the load in any run. b carries ")
    assert answer["next"].startswith("Lower the rate: b is the better one")


def test_the_first_lines_are_those_of_the_page_and_of_json(capsys, make, tmp_path):
    runs = in_turns(make, lambda number: {"goodput": NOISE[number]}, lambda number: {"goodput": 0.5 * NOISE[number]})
    status, out, _ = run(capsys, "--by", "switch", *runs, "--decide-by", "goodput", "--json", tmp_path / "it.json",
                         "--page", tmp_path / "page.html")
    answer = json.loads((tmp_path / "it.json").read_text())["answer"]
    words, page = " ".join(out.split()), (tmp_path / "page.html").read_text()
    assert status == 0 and answer["certainty"] == "certain" and answer["do"] == answer["next"]
    word, _, sentence = answer["verdict"].partition(": ")
    assert words.startswith(f"{word} {sentence} (certain, 5 runs each) Do {answer['do']}") and word == "Use a"
    assert f"<strong>{word}</strong>{sentence}" in page and f"<b>Do:</b> {answer['do'].split('=')[0]}" in page
    # The numbers beside it, and where the rate is that was to be carried.
    assert page.count('<div class="bar">') == 2 and page.count("<u style=") == 2 and "that are needed." in page


def test_a_long_subject_has_the_sentence_behind_it_and_colour_changes_no_column():
    said = ShortAnswer("Use a-setting-with-a-long-name", "It carries 1 Gb/s.", certainty="certain", good=True)
    assert said.lines()[0].startswith("Use a-setting-with-a-long-name It carries 1 Gb/s. (certain)")
    plain, coloured = ShortAnswer("Use b", "It is on time.").lines(), ShortAnswer("Use b", "It is on time.").lines(True)
    assert plain == [f"{'Use b':<21}It is on time."]
    assert re.sub("[\ufdd0-\ufdd4]", "", coloured[0]) == plain[0] != coloured[0]
