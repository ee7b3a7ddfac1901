"""Files of weir-sweep tune, and tunings in the simulator."""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT

from weir_report.basics.errors import ReportError
from weir_report.sweep.file import read_sweep_file
from weir_report.tune import axes as tune_axes
from weir_report.tune import campaigns, decide, from_run, objective, tune_file, tuning

# Four senders to one port of 10 Gb/s that is nearly full: few bytes under way leave it idle, many pause the switch.
PLAN = """repetitions = 2
[run]
producers = 4
consumers = 1
rate = "2.3Gb/s"
interval = "2ms"
event-size = "64KiB"
chunk-size = "8KiB"
duration = "10ms"
warmup = "2ms"

[simulation]
network = "packet"
producer-link = "10Gb/s"
consumer-link = "10Gb/s"
"""
TUNE = PLAN + """
[tune]
budget = 40
[tune.axes]
slots = { from = 1, to = 16, scale = "log" }
window = [1, 2, 4, 8]
[tune.present]
slots = 1
"""


@pytest.fixture
def file_of(tmp_path):
    """file_of(text): the path of a file with this content."""
    def write(content):
        (tmp_path / "plan.toml").write_text(content)
        return tmp_path / "plan.toml"
    return write


def test_a_file_says_what_is_varied_and_what_must_hold(file_of):
    tune = tune_file.read(file_of(PLAN + """
[tune]
figure = "goodput"
lossless = true
paused-at-most = "5%"
control-latency-at-most = "50us"
budget = 100
confirm = 6
[tune.axes]
ecn.none-below = { from = "10kB", to = "1MB", scale = "log" }
"class.storage.weight" = { from = 1, to = 8 }
policy = ["balanced", "token"]
[tune.present]
ecn.none-below = "5kB"
"""))
    assert [(axis.name, axis.unit) for axis in tune.axes] == [("ecn.none-below", "B"), ("class.storage.weight", ""), ("policy", None)]
    assert tune.present == {"ecn.none-below": "5kB"} and tune.search_runs == 100 - 4 * 6
    assert tune.constraints == objective.Constraints(True, 0.05, pytest.approx(50e-6))
    assert tune.given("producer-link") == "10Gb/s" and tune.given("rate") == "2.3Gb/s" and tune.given("ecn.all-above") is None
    assert tune_file.read(tune.path, budget=60).budget == 60


@pytest.mark.parametrize("content, message", [
    (PLAN, r"there is no table \[tune\]"),
    (PLAN + "[tune]\n", "tune.axes: missing"),
    (PLAN + "[axes]\nslots = [1]\n[tune.axes]\nslots = [1, 2]\n", "axes: not in a file with"),
    (PLAN + "[tune.axes]\nslots = [1]\n", "tune.axes.slots: a list has two different texts or numbers"),
    (PLAN + "[tune.axes]\nslots = 4\n", "tune.axes.slots: 4 is neither a range"),
    (PLAN + "[tune.axes]\nslots = { from = 4, to = 4 }\n", "is not below"),
    (PLAN + '[tune.axes]\nslots = { from = 1, to = 4, scale = "square" }\n', "scale: 'square' is neither log nor linear"),
    (PLAN + "[tune.axes]\nseed = [1, 2]\n", "tune.axes.seed: weir-sweep sets it itself"),
    (PLAN + '[tune.axes]\nSlots = [1, 2]\n', "'Slots' is neither an option of weir"),
    (PLAN + "[tune]\nbudget = 5\n[tune.axes]\nslots = [1, 2]\n", "tune.budget: 5 is not a whole number from 36"),
    (PLAN + '[tune]\nfigure = "speed"\n[tune.axes]\nslots = [1, 2]\n', "tune.figure: 'speed' is not one of margin, capacity"),
    (PLAN + '[tune]\npaused-at-most = "a lot"\n[tune.axes]\nslots = [1, 2]\n', "'a lot' is not a share"),
    (PLAN + "[tune]\nlossless = 1\n[tune.axes]\nslots = [1, 2]\n", "tune.lossless: 1 is neither true nor false"),
    (PLAN + '[tune]\nfigure = "capacity"\nlossless = true\n[tune.axes]\nslots = [1, 2]\n', "go with runs at one rate"),
    (PLAN + "[tune.axes]\nslots = [1, 2]\n[tune.present]\nstreams = 1\n", "tune.present.streams: there is no such axis"),
    (PLAN + "[tune]\nbudgets = 50\n[tune.axes]\nslots = [1, 2]\n", "did you mean budget?"),
])
def test_a_wrong_file_is_refused_with_its_key(file_of, content, message):
    with pytest.raises(ReportError, match=message):
        tune_file.read(file_of(content))


def test_other_commands_name_the_one_that_takes_the_file(file_of):
    with pytest.raises(ReportError, match="a file with this table is for weir-sweep tune"):
        read_sweep_file(file_of(TUNE))


def test_constraints_are_judged_by_what_a_run_counted():
    record = {"switch": {"dropped_packets": 3, "producers_paused_share": {"mean": 0.1}}, "totals": {"lost_events": 0},
              "latency": {"offer_to_grant": {"count": 5, "p99_us": 100.0}}}
    assert objective.Constraints().excess(record) == 0.0
    assert objective.Constraints(lossless=True).excess(record) == pytest.approx(1.386, abs=1e-3)
    assert objective.Constraints(paused_at_most=0.1).excess(record) == 0.0 < objective.Constraints(paused_at_most=0.05).excess(record)
    assert objective.Constraints(control_latency_at_most_s=50e-6).excess(record) == pytest.approx(0.693, abs=1e-3)
    assert objective.Constraints(True, 0.1, 1e-3).excess({}) == 0.0
    assert objective.Constraints(True).unseen({}) == "lossless" and objective.Constraints(True).unseen(record) is None


def test_a_setting_whose_run_died_keeps_nothing():
    lived, died = campaigns.Result(1.0, 0.0), campaigns.Result(None)
    assert tuning._kept([lived, lived]) and not tuning._kept([lived, died]) and not tuning._kept([campaigns.Result(1.0, 0.5)])


def test_ends_of_axes_are_asked_whether_they_can_act():
    axes = [tune_axes.Axis("ecn.none-below", "B", low=1e3, high=8e8), tune_axes.Axis("slots", "", low=1, high=16, whole=True)]
    assert {(1e3, 1), (1e3, 16), (8e8, 1), (8e8, 16)} <= set(tuning._corners(axes))
    assert tune_axes.number_of(float("inf")) is None and len(axes[0].neighbours(1e12)) == 1


def test_events_of_other_sizes_are_made_of_what_was_given_and_not_of_what_scales_made_of_it(file_of, monkeypatch):
    monkeypatch.setenv("WEIR", sys.executable)  # nothing is run
    made = tuning.Tuning(tune_file.read(file_of(TUNE)), "nowhere", print)
    plain, scaled = ({"event-size": "64kB"}, {"event-size": "64kB", "scale": "1/10", "time-scale": "0.01"})
    assert [dict(more)["event-size"] for _, more in made._other_loads(campaigns.Answer(None, plan=plain))] == ["32kB", "128kB"]
    assert [dict(more)["event-size"] for _, more in made._other_loads(campaigns.Answer(None, plan=scaled))] == ["32MB", "128MB"]


# --- In the simulator.


def call(weir, path, *words):
    done = subprocess.run([sys.executable, "-m", "weir_report.sweep_command", "tune", str(path), "--jobs", "1", *words], capture_output=True,
                          text=True, check=False, timeout=200, env={**os.environ, "PYTHONPATH": str(ROOT / "src" / "report"), "WEIR": weir})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def tuned(weir, tmp_path_factory):
    path = tmp_path_factory.mktemp("tune") / "plan.toml"
    path.write_text(TUNE)
    return path, call(weir, path)


def test_a_present_setting_that_is_known_to_be_bad_is_replaced(tuned):
    path, printed = tuned
    record = json.loads((path.with_suffix("") / "tune.json").read_text())
    assert record["present"] == {"slots": "1", "window": "4"} and int(record["proposed"]["slots"]) >= 2
    assert record["change"]["call"] == decide.BETTER and record["change"]["low"] > 0.0
    assert record["runs"]["search"] + record["runs"]["confirmation"] <= 40
    assert record["answer"].replace("\n", " ") in printed.replace("\n", " ") and "slots=" in record["answer"]
    assert next(axis for axis in record["axes"] if axis["name"] == "slots")["neighbours"]
    assert [one["load"] for one in record["loads"]] == ["80 % of the rate", "110 % of the rate", "events half as large", "events twice as large"]
    page = (path.with_suffix("") / "tune.html").read_text()
    assert record["answer"][:20] in page and page.count('class="plot-area"') == 2


def test_the_same_command_reads_what_is_there_and_another_file_is_refused(weir, tuned):
    path, printed = tuned
    runs = sorted(path.with_suffix("").glob("*/simulation/runs/*/run.json"))
    before = [one.stat().st_mtime_ns for one in runs]
    assert call(weir, path) == printed
    assert [one.stat().st_mtime_ns for one in runs] == before
    tune = tune_file.read(path, budget=41)
    with pytest.raises(ReportError, match="was begun with another budget"):
        tuning.Tuning(tune, path.with_suffix(""), print).begin()


def test_the_file_that_confirms_is_an_ordinary_sweep_file(weir, tuned):
    path, _ = tuned
    sweep = read_sweep_file(path.with_name("plan-confirm.toml"))
    setting, = sweep.axes
    assert [value.name for value in setting.values] == ["present", "proposed"] and sweep.repetitions == 6
    record = json.loads((path.with_suffix("") / "tune.json").read_text())
    assert dict(setting.values[1].options) == record["proposed"] and dict(setting.values[0].options) == {"slots": "1"}


def test_the_figure_of_a_capacity_is_the_limit_of_a_search(weir, file_of, monkeypatch):
    monkeypatch.setenv("WEIR", weir)
    tune = tune_file.read(file_of(PLAN + '[tune]\nfigure = "capacity"\n[tune.axes]\nslots = [1, 8]\n'))
    found = campaigns.Campaigns(tune, tune.path.with_suffix(""), print, jobs=1).run("limits", {"one": {"slots": "1"}, "eight": {"slots": "8"}}, 1)
    assert {name: len(results) for name, results in found.items()} == {"one": 1, "eight": 1}
    assert 1.5e9 < found["one"][0].value < found["eight"][0].value < 2.6e9  # a quarter of the port of 10 Gb/s


def test_settings_of_a_switch_that_cannot_act_end_it_before_it_starts(weir, file_of):
    path = file_of(PLAN.replace('network = "packet"', 'network = "packet"\necn = "on"') + """
[tune.axes]
ecn.none-below = { from = "50MB", to = "90MB" }
ecn.all-above = { from = "91MB", to = "99MB" }
""")
    with pytest.raises(tuning.NothingCanAct, match="None of these axes can act in this plan.* ECN marks from .* but with more of each event"):
        tuning.Tuning(tune_file.read(path), path.with_suffix(""), print).forecast()


def test_a_run_that_was_made_is_tuned_by_its_twin_if_that_reproduces_it(weir, simulate, file_of):
    run = simulate("--producers", "2", "--consumers", "2", "--duration", "2s", "--warmup", "1s", "--rate", "600Mb/s", "--event-size", "4MB",
                   "--slots", "1", "--busy", "exponential:30ms", "--producer-link", "3Gb/s", "--consumer-link", "3Gb/s", "--explain", "off")
    record = json.loads((run / "run.json").read_text())  # of a measured run: what was given stands in it
    record["environment"]["options_given"] = [{"option": "busy", "value": "exponential:30ms"}, {"option": "out", "value": "here"}]
    (run / "run.json").write_text(json.dumps(record))
    path = file_of("[tune]\nbudget = 36\n[tune.axes]\nslots = [1, 2, 4, 8]\n")
    tune = tune_file.read(path, of_run=from_run.tables(run, weir))
    assert tune.document["run"] == {"busy": "exponential:30ms"} and tune.document["simulation"]["network"] == "fluid"
    _, answer, runs = tuning.Tuning(tune, path.with_suffix(""), print).forecast()
    assert answer.plan["slots"] == "1" and answer.plan["rate"] == "600Mb/s" and runs["search"] == 16
    found = json.loads((run / "explain.json").read_text())
    (run / "explain.json").write_text(json.dumps(found | {"near": False, "differs_most": "goodput"}))
    with pytest.raises(ReportError, match="the twin does not reproduce this run.*goodput is"):
        from_run.tables(run, weir)
