"""Tunings of weir-sweep tune in the simulator."""

import json
import sys

import pytest
from conftest import call, editing, script
from tune_cases import PLAN, TUNE, found_of

from weir_compare.sweep import continued
from weir_compare.sweep.sweep_file import read_sweep_file
from weir_runs.basics.errors import ReportError
from weir_suites.tune import (campaigns, candidate_search, decide, from_run, tune_file, tune_text, tuning)


@pytest.fixture(scope="module")
def tuned(weir, tmp_path_factory):
    path = tmp_path_factory.mktemp("tune") / "plan.toml"
    path.write_text(TUNE)
    return path, call("weir-sweep", "tune", path, "--jobs", "1")


def test_a_present_setting_that_is_known_to_be_bad_is_replaced(tuned):
    path, printed = tuned
    record = json.loads((path.with_suffix("") / "tune.json").read_text())
    assert record["present"] == {"slots": "1", "window": "4"} and int(record["proposed"]["slots"]) >= 2
    assert record["change"]["call"] == decide.BETTER and record["change"]["low"] > 0.0
    assert record["runs"]["search"] + record["runs"]["confirmation"] <= 40
    said, answer = " ".join(printed.split()), record["answer"]
    assert list(answer) == ["verdict", "because", "do", "certainty", "headline"]  # as in run.json, and all in sentences
    assert all(answer[part] in said for part in ("because", "do")) and answer["certainty"] == "certain"
    assert f"{answer['verdict'].replace(': ', ' ', 1)} (certain, " in said and "slots=" in answer["verdict"]
    assert answer["headline"].startswith(answer["verdict"])
    assert next(axis for axis in record["axes"] if axis["name"] == "slots")["neighbours"]
    assert [one["load"] for one in record["loads"]] == ["80 % of the rate", "110 % of the rate", "events half as large",
                                                        "events twice as large"]
    page = (path.with_suffix("") / "tune.html").read_text()
    assert answer["because"][:20] in page and "<strong>Use the proposal</strong>" in page
    assert page.count('class="plot-area"') == 2


def test_the_same_command_reads_what_is_there_and_another_file_is_refused(weir, tuned):
    path, printed = tuned
    runs = sorted(path.with_suffix("").glob("*/simulation/runs/*/run.json"))
    before = [one.stat().st_mtime_ns for one in runs]
    assert call("weir-sweep", "tune", path, "--jobs", "1") == printed
    assert [one.stat().st_mtime_ns for one in runs] == before
    tune = tune_file.read(path, budget="41")
    with pytest.raises(ReportError, match="was begun with another budget"):
        tuning.Tuning(tune, path.with_suffix(""), print).begin()


def test_the_file_that_confirms_is_an_ordinary_sweep_file(weir, tuned):
    path, _ = tuned
    sweep = read_sweep_file(path.with_name("plan-confirm.toml"))
    setting, = sweep.axes
    assert [value.name for value in setting.values] == ["present", "proposed"] and sweep.repetitions == 6
    record = json.loads((path.with_suffix("") / "tune.json").read_text())
    assert dict(setting.values[1].options) == record["proposed"] and dict(setting.values[0].options) == {"slots": "1"}
    assert dict(sweep.options)["seed"] == "4001"  # six that neither search nor confirmation had


def test_the_figure_of_a_capacity_is_the_limit_of_a_search(weir, file_of, monkeypatch):
    monkeypatch.setenv("WEIR", weir)
    tune = tune_file.read(
        file_of(PLAN + '[tune]\nfigure = "capacity"\ncontrol-latency-at-most = "1ns"\n[tune.axes]\nslots = [1, 8]\n'))
    found = campaigns.Campaigns(tune, tune.path.with_suffix(""), print,
                                jobs=1).run("limits", {"one": {"slots": "1"}, "eight": {"slots": "8"}}, 1)
    assert {name: len(results) for name, results in found.items()} == {"one": 1, "eight": 1}
    assert 1.5e9 < found["one"][0].value < found["eight"][0].value < 2.6e9  # a quarter of the port of 10 Gb/s
    # constraints look at a run of the largest rate that held
    held = found["eight"][0].record["plan"]["resolved"]["rate_bits_per_second"]
    assert held == pytest.approx(found["eight"][0].value, rel=0.03) and found["eight"][0].excess > 0.0
    assert found["eight"][0].broken == ("had a scheduling latency (p99) above 0.001 us",)


def test_a_time_is_as_many_runs_as_fit_into_it():
    total = lambda budget: 3 * budget  # noqa: E731
    assert tuning.runs_in(720.0, total, 36, 2.0, 4) == int(
        (720.0 - tuning.CAMPAIGNS * continued.CAMPAIGN_S) * 4 / 2.0 / 3)
    assert tuning.runs_in(7200.0, total, 36, 1e-6, 4) == tune_file.IN_TIME_MAX
    assert tuning.runs_in(60.0, total, 36, 2.0, 1) is None


def test_the_first_runs_say_how_many_fit_and_a_continued_tuning_has_the_same(weir, file_of, monkeypatch):
    monkeypatch.setenv("WEIR", weir)
    path = file_of(TUNE.replace("budget = 40", 'budget = "2h"'))
    tune = tune_file.read(path)
    assert tune.budget == 36 and tune.budget_s == 7200.0

    def stop(found):
        raise InterruptedError(len(found.history))

    def measured(message):
        made = tuning.Tuning(tune, path.with_suffix(""), message.append, jobs=2)
        made.begin()
        monkeypatch.setattr(made, "_search", stop)
        with pytest.raises(InterruptedError) as stopped:
            made.run()
        assert stopped.value.args[0] == candidate_search.FIRST_LEAST
        return made.tune.budget

    said = []
    runs = measured(said)
    assert 36 < runs <= tune_file.IN_TIME_MAX and measured(said) == runs and said[-1].startswith(f"budget: {runs} runs")
    lines = "\n".join(tune_text.plan_lines(tune, tuning.Tuning(tune, path.with_suffix(""), print, jobs=2).forecast()))
    assert "budget               2 h on 2 cores: as many runs as the first 6 let expect" in lines and "about" in lines
    with pytest.raises(ReportError,
                       match="10 s is too short: the fewest runs that give an answer are .*, and take about"):
        tuning.Tuning(tune_file.read(path, budget="10s"), path.with_suffix(""), print, jobs=2).forecast()


@pytest.mark.parametrize("rung, names", [({2: [(1.0,)], 1: [(4.0,)]}, ["first-seed-1", "first-seed-2"]), ({}, [])])
def test_the_first_runs_of_a_budget_in_time_may_have_several_seeds_or_be_none(
        file_of, monkeypatch, tmp_path, rung, names):
    monkeypatch.setenv("WEIR", sys.executable)  # nothing is run
    tune = tune_file.read(file_of(PLAN + '[tune]\nbudget = "2h"\n[tune.axes]\nslots = [1, 4, 8]\n'))
    made, asked = tuning.Tuning(tune, tmp_path, lambda line: None), []
    monkeypatch.setattr(made, "_propose", lambda found: rung)
    monkeypatch.setattr(made, "_try", lambda found, name, candidates, seed: asked.append(name))
    monkeypatch.setattr(made.campaigns, "seconds_of", lambda of, count: asked.append(of) or 0.1)
    made._measure(found_of(), campaigns.Answer(None))
    assert asked == [*names, ["present", *names]] and made.tune.budget > tune.budget


# Ends simulations of 8 slots by SIGKILL, as a machine does that has no memory left; but not once the file $SPARED is
# there.
KILLER = """
case "$*" in *--dry-run*|*--help*) ;; *"--slots 8"*) [ -e "$SPARED" ] || {{ : > "{touched}"; kill -9 $$; }} ;; esac
exec {weir} "$@"
"""


@pytest.mark.parametrize("once", [True, False])
def test_a_run_that_was_killed_is_repeated_once_and_then_says_nothing_of_its_setting(
        weir, file_of, tmp_path, monkeypatch, once):
    killer = script(tmp_path / "weir", KILLER.format(weir=weir, touched=tmp_path / "killed"))
    monkeypatch.setenv("WEIR", str(killer))
    monkeypatch.setenv("SPARED", str(tmp_path / ("killed" if once else "never")))
    tune = tune_file.read(file_of(TUNE))
    settings = {"one": {"slots": "1"}, "eight": {"slots": "8"}}

    def run(needed=None):
        made = campaigns.Campaigns(tune, tmp_path / "plan", print, jobs=1)
        return made.run("killed", settings, 1, needed=needed), made.died

    if not once:
        with pytest.raises(ReportError,
                           match="a run of the eight setting did not end by itself, nor when it was repeated"):
            run(needed="eight")
    found, died = run()
    assert (tmp_path / "killed").exists() and found["one"][0].value > 0.0
    assert bool(died) == bool(found["eight"][0].died) != once
    if not once:
        assert list(died) == ["killed, eight slots=8, seed 1"] and found["eight"][0].value is None
        monkeypatch.setenv("WEIR", weir)
        assert run()[1] == died  # what followed from the other runs still does


def test_a_present_value_that_weir_refuses_and_ranges_that_it_mostly_refuses_are_named(weir, file_of, monkeypatch):
    monkeypatch.setenv("WEIR", weir)
    ecn = PLAN.replace('network = "packet"', 'network = "packet"\necn = "on"')
    axes = ('[tune.axes]\n"ecn.none-below" = { from = "50kB", to = "900kB" }\n'
            '"ecn.all-above" = { from = "60kB", to = "300kB" }\n')
    path = file_of(ecn + axes + '[tune.present]\n"ecn.none-below" = "1GB"\n')
    with pytest.raises(ReportError, match=r"tune.present.ecn.none-below: the present setting cannot be run"):
        tuning.Tuning(tune_file.read(path), path.with_suffix(""), print).forecast()
    path = file_of(ecn + axes)
    forecast = tuning.Tuning(tune_file.read(path), path.with_suffix(""), print).forecast()
    assert forecast.drawn > forecast.refused > forecast.drawn / 2
    assert f"{forecast.refused} of 24 settings drawn from these axes cannot be run: " in " ".join(
        tune_text.plan_lines(tune_file.read(path), forecast))


def test_a_present_value_that_is_no_number_is_refused_before_anything_is_run(weir, file_of, monkeypatch):
    monkeypatch.setenv("WEIR", weir)
    path = file_of(PLAN + '[tune.axes]\n"queue-pairs" = [1, 2, 4]\n')
    with pytest.raises(ReportError, match=r"tune.axes.queue-pairs: the present value 'pair' is not a number without a "
                                          r"unit; write another one into"):
        tuning.Tuning(tune_file.read(path), path.with_suffix(""), print).forecast()


def test_settings_of_a_switch_that_cannot_act_end_it_before_it_starts(weir, file_of):
    path = file_of(PLAN.replace('network = "packet"', 'network = "packet"\necn = "on"') + """
[tune.axes]
ecn.none-below = { from = "50MB", to = "90MB" }
ecn.all-above = { from = "91MB", to = "99MB" }
""")
    with pytest.raises(tuning.NothingCanAct,
                       match="None of these axes can act in this plan.* ECN marks from .* but with more of each event"):
        tuning.Tuning(tune_file.read(path), path.with_suffix(""), print).forecast()


def test_a_run_that_was_made_is_tuned_by_its_twin_if_that_reproduces_it(weir, simulate, file_of):
    run = simulate("--producers", "2", "--consumers", "2", "--duration", "2s", "--warmup", "1s", "--rate", "600Mb/s",
                   "--event-size", "4MB", "--slots", "1", "--busy", "exponential:30ms", "--producer-link", "3Gb/s",
                   "--consumer-link", "3Gb/s", "--explain", "off")
    with editing(run) as record:  # of a measured run: what was given stands in it
        record["environment"]["options_given"] = [{"option": "busy", "value": "exponential:30ms"},
                                                  {"option": "out", "value": "here"}]
    path = file_of("[tune]\nbudget = 36\n[tune.axes]\nslots = [1, 2, 4, 8]\n")
    tune = tune_file.read(path, of_run=from_run.tables(run, weir))
    assert tune.document["run"] == {"busy": "exponential:30ms"} and tune.document["simulation"]["network"] == "fluid"
    forecast = tuning.Tuning(tune, path.with_suffix(""), print).forecast()
    assert forecast.answer.plan["slots"] == "1"
    assert forecast.answer.plan["rate"] == "600Mb/s" and forecast.runs["search"] == 16
    found = json.loads((run / "explain.json").read_text())
    (run / "explain.json").write_text(json.dumps(found | {"near": False, "differs_most": "goodput"}))
    with pytest.raises(ReportError, match="the twin does not reproduce this run.*goodput is"):
        from_run.tables(run, weir)
