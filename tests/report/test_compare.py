"""weir-compare on run directories made from a stored one: what is planted is found, what is not is not, and
what cannot be compared is refused with a reason. And on fresh simulated runs with fewer slots."""

import csv
import io
import json
import re
import shutil

import numpy as np
import pytest
from comparing import compared, make, run  # noqa: F401 (a fixture)

from weir_compare.comparison import run_pairs
from weir_runs.reading.key_figures import KEY_FIGURES
from weir_runs.reading.run import read_run


@pytest.fixture
def sides(make):
    """Five runs a side with a noise of 0.5 %, the new ones 3 % slower."""
    noise = np.random.default_rng(7).normal(0.0, 0.005, 10)
    return ([make(f"new-{index}", goodput=0.97 + noise[index], label="ECN") for index in range(5)],
            [make(f"old-{index}", goodput=1.0 + noise[5 + index], label="PFC") for index in range(5)])


def test_a_planted_loss_is_named_with_its_size(capsys, sides):
    new, baseline = sides
    status, out, _ = run(capsys, *new, "--against", *baseline)
    assert status == 0
    assert re.search(r"^ECN against PFC: [1-9] of \d+ key figures worse, 0 better, ", out, re.MULTILINE)
    assert re.search(r"^  (worse|     )   goodput of all consumers \S+ \S+ -> \S+ \S+ \(-[23](\.\d+)? %\)", out,
                     re.MULTILINE)
    assert re.search(r"^goodput of all consumers .* worse$", out, re.MULTILINE)
    figures, record = compared(capsys, new, baseline)
    goodput = figures["goodput"]
    assert goodput["call"] == "worse" and -0.04 < goodput["relative_difference"] < -0.02
    assert goodput["interval_low"] <= goodput["difference"] <= goodput["interval_high"] < 0.0
    assert abs(goodput["difference"]
               ) > goodput["threshold"] and goodput["detectable_difference"] > goodput["threshold"]
    assert figures["delivery_p99"]["call"] == "no difference"
    assert "sustained" not in figures
    assert [result["name"] for result in record["comparisons"][0]["alike"]] == ["sustained"]
    assert "alike     sustained 5 of 5 | 5 of 5" in out and not re.search(r"^sustained", out, re.MULTILINE)


def test_the_other_way_round_it_is_better(capsys, sides):
    new, baseline = sides
    figures, record = compared(capsys, baseline, new)
    assert figures["goodput"]["call"] == "better"
    assert "worse" not in record["conclusion"].replace("nothing got worse", "")


def test_noise_alone_is_not_called(capsys, make):
    noise = np.random.default_rng(3).normal(0.0, 0.005, 10)
    directories = [make(f"run-{index}", goodput=1.0 + value) for index, value in enumerate(noise)]
    status, out, _ = run(capsys, *directories[:5], "--against", *directories[5:], "--fail-on", "different")
    assert status == 0 and ": 0 of 9 key figures worse, 0 better" in out


@pytest.mark.parametrize("what, expected", [("worse", 3), ("different", 3), ("inconclusive", 0), (None, 0)])
def test_fail_on(capsys, sides, what, expected):
    new, baseline = sides
    status, _, _ = run(capsys, *new, "--against", *baseline, *(["--fail-on", what] if what else []))
    assert status == expected


@pytest.mark.parametrize("words, instead",
                         [(("--seed", "3"), "--seed is gone: nothing is drawn at random, so leave it out"),
                          (("--fail-on", "cannot-tell"), "cannot-tell is gone: use inconclusive")])
def test_what_is_gone_says_what_to_use_instead(capsys, sides, words, instead):
    status, out, err = run(capsys, *sides[0], "--against", *sides[1], *words)
    assert status == 2 and not out and err.strip().endswith(instead) and err.count("\n") == 1


def test_better_is_not_worse(capsys, sides):
    new, baseline = sides
    assert run(capsys, *baseline, "--against", *new, "--fail-on", "worse")[0] == 0
    assert run(capsys, *baseline, "--against", *new, "--fail-on", "worse,different")[0] == 3


def test_fewer_than_three_runs_are_shown_and_not_judged(capsys, sides):
    new, baseline = sides
    status, out, _ = run(capsys, *new[:2], "--against", *baseline, "--fail-on", "worse")
    assert status == 0
    assert "not judged: 3 or more complete runs per side are needed, found 2 in ECN" in out.splitlines()[-1]
    assert re.search(r"^goodput of all consumers +\S+ \S+ ±.* -[23](\.\d+)? % .* inconclusive$", out, re.M)


def test_runs_that_are_not_complete_are_left_out(capsys, sides, make):
    new, baseline = sides
    broken = make("broken", goodput=0.1, status="failed", label="ECN")
    status, out, _ = run(capsys, *new, broken, "--against", *baseline)
    assert status == 0
    assert "1 of 6 runs of ECN failed: no reason is recorded" in out and "ECN  5 runs" in out
    cut = [make(f"cut-{index}", status="interrupted", label="ECN") for index in range(3)]
    status, out, _ = run(capsys, *cut, *new[:2], "--against", *baseline)
    assert "Runs of ECN that are missing: 3 interrupted." in out and out.startswith("NOT JUDGED ")
    status, _, err = run(capsys, *cut, "--against", *cut)
    assert status == 2 and "no complete run in any setting; Runs of" in err


def test_different_plans_are_refused_and_listed(capsys, make):
    new = [make(f"new-{index}", plan={"slots": "2"}) for index in range(3)]
    baseline = [make(f"old-{index}", plan={"slots": "9"}) for index in range(3)]
    status, out, err = run(capsys, *new, "--against", *baseline)
    assert status == 2 and out == ""
    assert "slots: 9 in the baseline, 2 in the new runs" in err and "--allow-different-plans" in err
    status, out, _ = run(capsys, *new, "--against", *baseline, "--allow-different-plans")
    assert status == 0 and "plans differ (allowed): slots 9, 2" in out


def test_settings_of_a_simulated_network_are_compared(capsys, make):
    new = [make(f"new-{seed}", plan={"pfc": "on"}, seed=str(seed), simulated=True) for seed in range(3)]
    baseline = [make(f"old-{seed}", plan={"pfc": "off"}, seed=str(seed), simulated=True) for seed in range(3)]
    status, out, _ = run(capsys, *new, "--against", *baseline)
    assert status == 0 and "settings  pfc off, on" in out
    mixed = [make("mixed", plan={"pfc": "off"}, seed="9", simulated=True)]
    status, _, err = run(capsys, *new, *mixed, "--against", *baseline)
    assert status == 2 and "pfc: off in the baseline, on or off in the new runs" in err


def test_a_seed_is_not_a_difference(capsys, make):
    directories = [make(f"run-{seed}", seed=str(seed), goodput=1 + seed / 1000) for seed in range(6)]
    assert run(capsys, *directories[:3], "--against", *directories[3:])[0] == 0


def test_copies_of_simulations_count_once(capsys, make):
    baseline = [make(f"old-{seed}", seed=str(seed), simulated=True) for seed in (1, 2, 3)]
    new = [make(f"new-{index}", seed="4", simulated=True) for index in range(3)]
    status, out, _ = run(capsys, *new, "--against", *baseline)
    assert status == 0
    said = " ".join(out.split())  # where lines end depends on the names of directories
    assert said.count("is a copy of") == 2 and "found 1 in the new runs" in said


def test_measured_runs_with_one_seed_are_repetitions(capsys, sides):
    new, baseline = sides
    assert "copy" not in run(capsys, *new, "--against", *baseline)[1]
    assert "is a copy of" in " ".join(run(capsys, *new, new[0], "--against", *baseline)[1].split())


def test_a_run_cannot_be_on_both_sides(capsys, sides):
    new, baseline = sides
    status, _, err = run(capsys, *new, "--against", *baseline, new[0])
    assert status == 2 and f"{new[0]} is in PFC and in ECN" in err.replace("the baseline", "PFC").replace(
        "the new runs", "ECN")


def test_a_copy_of_a_measured_run_is_no_repetition(capsys, make, tmp_path):
    new, baseline = ([make(f"{side}-{number}") for number in range(3)] for side in ("new", "old"))
    shutil.copytree(new[0], tmp_path / "copy")
    _, record = compared(capsys, [*new, tmp_path / "copy"], baseline)
    assert any("new-0, not a repetition (its record is the same)" in remark for remark in record["remarks"])


def test_measured_and_simulated_runs_are_named(capsys, make):
    new = [make(f"new-{seed}", seed=str(seed), simulated=True) for seed in (1, 2, 3)]
    baseline = [make(f"old-{seed}") for seed in (1, 2, 3)]
    _, record = compared(capsys, new, baseline)
    assert any(
        remark.startswith("Measured and simulated runs are mixed: 3 measured in the baseline; 3 simulated in")
        for remark in record["remarks"])


def test_alternating_runs_are_pairs_and_drift_cancels(capsys, make):
    # 1 % per run of drift, 0.1 % of noise, and the new side is 3 % slower.
    noise = np.random.default_rng(5).normal(0.0, 0.001, 12)
    level = [1.0 + 0.01 * place + noise[place] for place in range(12)]
    baseline = [make(f"old-{place}", goodput=level[place], minute=place) for place in range(0, 12, 2)]
    new = [make(f"new-{place}", goodput=level[place] - 0.03, minute=place) for place in range(1, 12, 2)]
    figures, record = compared(capsys, new, baseline[::-1])
    assert record["comparisons"][0]["pairing"].startswith("by time")
    assert all(one.endswith(f"old-{2 * place}") and other.endswith(f"new-{2 * place + 1}")
               for place, (one, other) in enumerate(record["comparisons"][0]["pairs"]))
    assert figures["goodput"]["call"] == "worse"
    assert figures["goodput"]["relative_difference"] == pytest.approx(-0.03, abs=0.003)
    figures, record = compared(capsys, new, baseline, "--unpaired")
    assert not record["comparisons"][0]["paired"] and figures["goodput"]["call"] == "inconclusive"


def test_drift_alone_is_no_change(capsys, make):
    noise = np.random.default_rng(6).normal(0.0, 0.001, 12)
    directories = [
        make(f"run-{place}", goodput=1.0 + 0.01 * place + noise[place], minute=place) for place in range(12)
    ]
    figures, _ = compared(capsys, directories[1::2], directories[0::2])
    assert figures["goodput"]["call"] == "no difference"


@pytest.mark.parametrize("order", ["AAABBB", "ABBBAA"])
def test_runs_that_do_not_take_turns_are_no_pairs(make, order):
    runs = [read_run(make(f"run-{place}", minute=place)) for place in range(6)]
    sides = [[one for one, letter in zip(runs, order) if letter == side] for side in "AB"]
    assert run_pairs.find_pairs(*sides) is None


@pytest.mark.parametrize("order", ["ABABAB", "ABBAAB", "BABABA"])
def test_runs_that_take_turns_are_pairs(make, order):
    runs = [read_run(make(f"run-{place}", minute=place)) for place in range(6)]
    sides = [[one for one, letter in zip(runs, order) if letter == side] for side in "AB"]
    assert len(run_pairs.find_pairs(*sides).baseline) == 3


def test_equal_seeds_of_simulations_are_pairs(capsys, make):
    def simulated(name, seed, slots):
        return make(f"{name}-{seed}",
                    seed=seed,
                    simulated=True,
                    plan={"slots": slots},
                    goodput=1 + int(seed) / 100)
    new = [simulated("new", seed, "2") for seed in ("3", "1", "2", "4", "5")]
    baseline = [simulated("old", seed, "9") for seed in ("1", "2", "3", "4", "5")]
    figures, record = compared(capsys, new, baseline, "--allow-different-plans")
    assert record["comparisons"][0]["pairing"].startswith("by seed")
    assert record["comparisons"][0]["pairs"][2] == [baseline[2], new[0]]
    assert figures["goodput"]["difference"] == 0.0 and figures["goodput"]["call"] == "no difference"
    other = [simulated("other", seed, "2") for seed in ("2", "3", "6", "7", "8")]
    _, record = compared(capsys, other, baseline, "--allow-different-plans")
    assert not record["comparisons"][0]["paired"] and any("have 2 seeds in common" in remark
                                                          for remark in record["remarks"])


def test_runs_without_spread(capsys, make):
    baseline = [make(f"old-{index}") for index in range(3)]
    new = [make(f"new-{index}", goodput=0.99) for index in range(3)]
    same = [make(f"same-{index}") for index in range(3)]
    figures, _ = compared(capsys, new, baseline)
    assert figures["goodput"]["call"] == "worse"
    figures, record = compared(capsys, same, baseline)
    assert {figure["call"] for figure in figures.values() if figure["scored"]} == {"no difference"}
    assert {figure["call"] for figure in figures.values() if not figure["scored"]} == {None}
    figures, _ = compared(capsys, new, baseline, "--ignore-below", "1.5%")
    assert figures["goodput"]["call"] == "no difference"


def test_one_bucket_of_a_latency_is_no_change(capsys, make):
    baseline = [make(f"old-{index}") for index in range(5)]
    next_bucket = [make(f"new-{index}", delivery=1 + 1 / 33) for index in range(5)]
    far = [make(f"far-{index}", delivery=1.2) for index in range(5)]
    assert compared(capsys, next_bucket, baseline)[0]["delivery_p99"]["call"] == "no difference"
    assert compared(capsys, far, baseline)[0]["delivery_p99"]["call"] == "worse"


def test_the_sustained_share(capsys, make):
    baseline = [make(f"old-{index}") for index in range(5)]
    new = [make(f"new-{index}", sustained=index == 0) for index in range(5)]
    figures, record = compared(capsys, new, baseline)
    assert figures["sustained"]["call"] == "worse" and figures["sustained"]["p_value"] < 0.05
    assert "worse: sustained in 1 of 5 runs instead of 5 of 5" in record["conclusion"]


def test_what_appears_from_nothing(capsys, make):
    baseline = [make(f"old-{index}") for index in range(4)]
    new = [make(f"new-{index}", lost=40 + index) for index in range(4)]
    figures, record = compared(capsys, new, baseline)
    assert figures["lost_events"]["call"] == "worse" and figures["lost_events"]["relative_difference"] is None
    assert re.search(r"events lost 0 -> 4[12]\S* \(12 %\) \(\+4[12]", record["conclusion"])


def test_a_sweep_by_tag(capsys, make):
    noise = iter(np.random.default_rng(9).normal(0.0, 0.002, 12))
    directories = [make(f"{value}-{index}", goodput=level + next(noise), tags={"switch": value})
                   for value, level in (("deep", 1.0), ("shallow", 0.95), ("ecn", 1.0)) for index in range(4)]
    status, out, _ = run(capsys, "--by", "switch", *directories, "--table")
    assert status == 0
    assert re.search(r"^switch=shallow against switch=deep: [1-9] of 9 key figures worse", out, re.MULTILINE)
    assert re.search(r"^switch=ecn against switch=deep: 0 of 9 key figures worse, 0 better", out, re.MULTILINE)
    assert re.search(r"^key figure +switch=deep +switch=shallow +switch=ecn$", out, re.MULTILINE)
    _, out, _ = run(capsys, "--by", "switch", *directories, "--baseline", "shallow", "--json", "-")
    assert [comparison["new"]
            for comparison in json.loads(out)["comparisons"]] == ["switch=deep", "switch=ecn"]
    assert {
        figure["call"]
        for comparison in json.loads(out)["comparisons"]
        for figure in comparison["figures"]
        if figure["name"] == "goodput"
    } == {"better"}


def test_pairs_of_a_sweep_are_named_once(capsys, make, tmp_path):
    directories = [make(f"{value}-{turn}", minute=3 * turn + place, tags={"switch": value})
                   for turn in range(5) for place, value in enumerate(("deep", "shallow", "ecn"))]
    page = tmp_path / "page.html"
    status, out, _ = run(capsys, "--by", "switch", *directories, "--page", page, "--table")
    assert status == 0
    said = "5 pairs each with switch=shallow and switch=ecn, by time: the runs of both sides took turns"
    assert out.count(said) == 1 and out.count(" pairs ") == 1 and "(--unpaired ignores this)" in out
    # Who reads a page has no command line; each comparison has a table of its own there.
    page = page.read_text(encoding="utf-8")
    assert page.count(said) == 1 and "--unpaired" not in page
    assert len(re.findall(r"<h3>switch=(?:shallow|ecn) against switch=deep \(baseline\)</h3>", page)) == 2


@pytest.mark.parametrize("arguments, complaint", [
    ([], "no baseline"),
    (["NEW"], "no baseline"),
    (["--against", "OLD"], "no runs to compare"),
    (["NEW", "--against", "nowhere"], "nowhere: no such directory"),
    (["NEW", "--against", "OLD", "--relevant", "2"], "'2' is not a share in percent, such as 2%"),
    (["NEW", "--against", "OLD", "--fail-on", "worst"], "--fail-on: 'worst' is not one of worse, different"),
    (["NEW", "--against", "OLD", "--figures", "speed"
      ], "--figures: 'speed' is not one of sustained, lost_events"),
    (["NEW", "--against", "OLD", "--by", "label"], "--by and --against"),
    (["NEW", "--by", "colour"], "--by colour: {NEW} has no such label; it has: label"),
    (["NEW", "OLD", "--by", "label", "--baseline", "x"], "--baseline: no run has label 'x'; found: b, a"),
    (["NEW", "--against", "OLD", "--page", "/nowhere/page.html"
      ], "/nowhere/page.html: there is no directory /nowhere; make it first"),
])
def test_bad_usage_is_one_line(capsys, make, arguments, complaint):
    named = {"NEW": make("one", label="b"), "OLD": make("other", label="a")}
    status, out, err = run(capsys, *(named.get(argument, argument) for argument in arguments))
    assert status == 2 and out == ""
    assert err.startswith("weir-compare: ") and err.count("\n") == 1 and complaint.format(**named) in err


def test_a_full_disk_is_named_with_the_file(capsys, sides, tmp_path, full_disk):
    new, baseline = sides
    for option in ("--page", "--json", "--csv"):
        path = tmp_path / f"full{option}"
        full_disk(path.name)
        status, _, err = run(capsys, *new, "--against", *baseline, option, path)
        assert status == 2 and err == f"weir-compare: {path}: No space left on device\n"


def test_help_fits_on_a_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "110")
    status, out, _ = run(capsys, "--help")
    assert status == 0 and len(out.splitlines()) <= 50


def test_outputs_for_machines(capsys, sides, tmp_path):
    new, baseline = sides
    status, out, _ = run(capsys, *new, "--against", *baseline, "--csv", "-", "--json",
                         tmp_path / "compared.json")
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    record = json.loads((tmp_path / "compared.json").read_text())
    assert record["schema"] == "weir-compare/1"
    figures = record["comparisons"][0]["figures"]
    assert [row["key_figure"] for row in rows] == [figure["name"] for figure in figures]
    assert set(row["key_figure"] for row in rows) <= {figure.name for figure in KEY_FIGURES}
    for row, figure in zip(rows, figures):
        assert row["call"] == (figure["call"] or "")
        assert row["scored"] == str(figure["scored"]) and float(row["difference"]) == figure["difference"]
    # The same runs and seed give the same bytes.
    assert run(capsys, *new, "--against", *baseline, "--csv", "-")[1] == out


def test_colours_only_on_a_terminal(capsys, sides, monkeypatch):
    new, baseline = sides
    assert "\x1b" not in run(capsys, *new, "--against", *baseline)[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = run(capsys, *new, "--against", *baseline)[1]
    assert "\x1b[31mworse\x1b[0m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    plain = run(capsys, *new, "--against", *baseline)[1]
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain and "\x1b" not in plain


def test_a_directory_of_runs_stands_for_them(capsys, make, tmp_path):
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        for index in range(3):
            make(f"{side}/{index}")
    assert "the new runs  3 runs: 0, 1 and 2" in run(capsys, tmp_path / "new", "--against", tmp_path / "old")[1]


def test_runs_whose_directories_have_the_same_name_are_told_apart(capsys, make, tmp_path):
    paths = {side: [make(f"{side}-{index}/at 10 %/run", tags={"switch": side}) for index in range(3)]
             for side in ("old", "new")}
    printed = run(capsys, *paths["new"], "--against", *paths["old"])[1]
    assert "3 runs: new-0/at 10 %/run, new-1/at 10 %/run and new-2/at 10 %/run" in printed
    (tmp_path / "chosen").symlink_to(paths["new"][0])
    assert "1 run: chosen" in run(capsys, tmp_path / "chosen", "--against", *paths["old"])[1]
    assert "3 runs: old-0/at 10 %/run," in run(capsys, *paths["new"], *paths["old"], "--by", "switch",
                                               "--baseline", "old")[1]


def test_the_page_is_whole_and_escaped(capsys, simulate, tmp_path):
    options = ("--producers", "2", "--consumers", "2", "--rate", "400Mb/s", "--event-size", "4MiB",
               "--duration", "3s", "--busy", "poisson:30ms")
    new = [simulate(*options, "--seed", seed, "--label", "<b>new</b>", "--slots", "2") for seed in "123"]
    baseline = [simulate(*options, "--seed", seed) for seed in "123"]
    page = tmp_path / "page.html"
    status, out, _ = run(capsys, *new, "--against", *baseline, "--allow-different-plans", "--page", page)
    assert status == 0
    content = page.read_text()
    # Nothing is loaded from elsewhere, not by the script either.
    assert not re.search(r"(src|href)=\"(?!#)|https?:|fetch\(|import[ (]|XMLHttpRequest", content)
    assert content.count("<script") == 1
    assert content.count('class="track"') > 10 and content.count('class="plot-area"') >= 4
    assert "<b>new</b>" not in content and "&lt;b&gt;new&lt;/b&gt;" in content


def test_fewer_slots_are_named_as_worse(capsys, simulate):
    """What weir-compare is for: overload shows, with names and sizes."""
    options = ("--scenario", "lhcb2021-4", "--duration", "20s", "--rate", "63.3Gb/s", "--event-size", "1.978125GB",
               "--streams", "4", "--busy", "poisson:146.8ms,quantum=10ms")
    baseline = [simulate(*options, "--seed", seed, "--label", "ten slots", "--slots", "10") for seed in "1234"]
    new = [simulate(*options, "--seed", seed, "--label", "two slots", "--slots", "2") for seed in "1234"]
    status, out, _ = run(capsys, *new, "--against", *baseline, "--allow-different-plans", "--fail-on",
                         "any-worse")
    assert status == 3
    assert "slots 10, 2" in out
    assert "Plans differ (allowed): slots: 10 in ten slots, 2 in two slots." in " ".join(out.split())
    worse = out[out.index("two slots against ten slots: "):out.index("\n  better")]
    assert re.search(r"  scheduling latency p99 \S+ ms -> \S+ ms \(\+\d+ %\)", worse)
    # That consumers were blocked explains it.
    assert re.search(r"^blocked time of consumers +0 % +\S+ % ±\S+ +\+\S+ points$", out, re.MULTILINE)
    assert "blocked time" not in worse
