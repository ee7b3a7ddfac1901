"""Sweep files, and the order in which their points are run."""

import contextlib
import dataclasses
import itertools
import json
import re
import statistics
from pathlib import Path

import pytest
from conftest import ROOT

from weir_compare.sweep import dry_runs, run_plan
from weir_compare.sweep.sweep_file import parse_sweep, read_sweep_file
from weir_runs.basics.errors import ReportError

AXES = """
[axes]
policy = ["balanced", "token"]
layout = [{ name = "small", producers = 2, consumers = 3 }, { name = "large", producers = 14, consumers = 72 }]
"""
SWITCH = """
[switch]
settings = ["none", "pfc", "ecn", { name = "both", environment = { UCX_IB_TRAFFIC_CLASS = "106" } }]
on-change = "./set-switch"
"""


def parse(text):
    return parse_sweep(Path("some.toml"), text)


def plan(text):
    return run_plan.make_plan(parse(text))


def switches(made):
    return [made.setting_of(point).switch for point in made.points]


def test_settings_are_all_combinations():
    made = plan("[run]\nrate = \"1Gb/s\"\nslots = 3\n" + AXES + SWITCH)
    assert len(made.settings) == 16 and len(set(made.settings)) == 16
    assert made.settings[0].name == "switch=none policy=balanced layout=small"
    last = made.settings[-1]
    assert last.values == (("switch", "both"), ("policy", "token"), ("layout", "large"))
    assert last.options == (("rate", "1Gb/s"), ("slots", "3"), ("policy", "token"), ("producers", "14"),
                            ("consumers", "72"))
    assert last.environment == (("UCX_IB_TRAFFIC_CLASS", "106"),) and made.settings[0].environment == ()
    assert dict(last.tags) == {"switch": "both", "policy": "token", "layout": "large"}


SIMULATED = """
[switch]
settings = [{ name = "pfc", simulate = { pfc = "on" } }, { name = "ecn", simulate = { ecn = "on", pfc = "off" } }]
"""


def test_simulate_makes_a_switch_setting_one_of_the_simulator():
    made = plan("[run]\nrate = \"1Gb/s\"\n[axes]\npolicy = [\"balanced\", \"token\"]\n" + SIMULATED)
    assert run_plan.axes_without_options(made) == []
    assert len(run_plan.simulated_points(made)[0]) == len(made.points) == 12
    first, last = made.settings[0], made.settings[-1]
    assert first.simulate == (("pfc", "on"),) and last.simulate == (("ecn", "on"), ("pfc", "off"))
    assert first.options == (("rate", "1Gb/s"), ("policy", "balanced"))  # of the measurement
    world = (("pfc", "headroom"), ("rate", "2Gb/s"))
    assert dry_runs.in_world(last, world, True) == (("policy", "token"), ("rate", "2Gb/s"), ("ecn", "on"),
                                                    ("pfc", "off"))
    assert dry_runs.in_world(last, world, False) == (("policy", "token"), *world)
    assert run_plan.from_record(json.loads(json.dumps(run_plan.as_record(made)))).settings[-1].simulate == last.simulate
    # It makes no other campaign of what was measured.
    without = plan("[run]\nrate = \"1Gb/s\"\n[axes]\npolicy = [\"balanced\", \"token\"]\n[switch]\n"
                   "settings = [\"pfc\", \"ecn\"]\n")
    assert run_plan.difference(without, made) is None and run_plan.axes_without_options(without) == ["switch"]


@pytest.mark.parametrize("settings, words", [
    ('["none", { name = "pfc", simulate = { pfc = "on" } }]',
     "switch.settings: 'none' has no simulate, and others have one"),
    ('[{ name = "pfc", simulate = "pfc" }]', "switch.settings.simulate: 'pfc' is not a table"),
    ('[{ name = "pfc", simulate = { out = "x" } }]', "weir-sweep sets --out itself"),
    ('[{ name = "pfc", simulate = { seed = 3 } }]', "switch sets seed"),
    ('[{ name = "pfc", simulate = { policy = "token" } }]', "switch and policy both set policy"),
])
def test_simulate_is_checked(settings, words):
    with pytest.raises(ReportError, match=re.escape(words)):
        plan(f"[axes]\npolicy = [\"balanced\", \"token\"]\n[switch]\nsettings = {settings}\n")


def test_an_axis_takes_the_place_of_what_all_runs_have():
    made = plan("[run]\nscenario = \"quickstart\"\nslots = 3\n[axes]\nslots = [4, 5]\n")
    assert [setting.options for setting in made.settings] == [(("scenario", "quickstart"), ("slots", "4")),
                                                             (("scenario", "quickstart"), ("slots", "5"))]


@pytest.mark.parametrize("text",
                         [AXES, AXES + SWITCH, SWITCH, AXES + SWITCH.replace("on-change", "hold = 2\non-change"), ""])
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_every_repetition_has_every_setting_once(text, seed):
    made = plan(f"repetitions = 6\nseed = {seed}\n" + text)
    assert [point.number for point in made.points] == list(range(1, len(made.points) + 1))
    found = sorted((point.repetition, point.setting) for point in made.points)
    assert found == sorted(itertools.product(range(1, 7), range(len(made.settings))))
    assert {point.run_seed - point.repetition for point in made.points} == {0}  # both sides of a pair have the same


def test_the_order_is_random_and_the_seeds():
    orders = {seed: plan(f"repetitions = 4\nseed = {seed}\n" + AXES).points for seed in range(20)}
    assert orders[3] == plan("repetitions = 4\nseed = 3\n" + AXES).points
    assert len(set(orders.values())) > 15
    firsts = {points[0].setting for points in orders.values()}
    assert firsts == {0, 1, 2, 3}
    # Not the same order in every repetition.
    blocks = {tuple(point.setting for point in orders[0][start:start + 4]) for start in range(0, 16, 4)}
    assert len(blocks) > 1


@pytest.mark.parametrize("hold", [1, 2, 3])
def test_switch_settings_mirror_each_other(hold):
    """A B B A: one stay per block, reversed in every second block, the next begins where the last ended."""
    made = plan(f"repetitions = {4 * hold}\n" + AXES + SWITCH.replace("on-change", f"hold = {hold}\non-change"))
    size = 16 * hold
    blocks = [switches(made)[start:start + size] for start in range(0, 4 * size, size)]
    stays = [[switch for switch, _ in itertools.groupby(block)] for block in blocks]
    assert all(sorted(stay) == ["both", "ecn", "none", "pfc"] for stay in stays)
    assert stays[1] == stays[0][::-1] and stays[3] == stays[2][::-1] and stays[2][0] == stays[1][-1]
    changes = sum(1 for one, other in itertools.pairwise(switches(made)) if one != other)
    assert changes == 3 * 4  # none between blocks
    # An even drift weighs on all switch settings alike.
    means = {switch: statistics.fmean(position for position, other in enumerate(switches(made)[:2 * size])
                                      if other == switch)
             for switch in stays[0]}
    assert max(means.values()) - min(means.values()) < 1e-9


def test_more_repetitions_change_nothing_that_was_planned():
    for text in (AXES, AXES + SWITCH):
        few, many = plan("repetitions = 3\n" + text), plan("repetitions = 7\n" + text)
        assert many.points[:len(few.points)] == few.points
        assert run_plan.difference(few, many) is None
        assert "had 7 repetitions and has 3" in run_plan.difference(many, few)


def test_what_cannot_go_on_is_named():
    made = plan("[run]\nrate = \"1Gb/s\"\n" + AXES)
    for text, part in (("[run]\nrate = \"2Gb/s\"\n" + AXES,
                        "rate of policy=balanced layout=small was 1Gb/s and is 2Gb/s"),
                       ("seed = 9\n[run]\nrate = \"1Gb/s\"\n" + AXES, "its seed was 1 and is 9"),
                       ("name = \"b\"\n[run]\nrate = \"1Gb/s\"\n" + AXES, "its name was some and is b"),
                       ("[run]\nrate = \"1Gb/s\"\n", "its settings changed: without policy=balanced")):
        assert part in run_plan.difference(made, plan(text)), text


def test_a_plan_is_the_same_after_its_travel():
    made = plan("baseline = \"x\"\n" + AXES + SWITCH)
    again = run_plan.from_record(json.loads(json.dumps(run_plan.as_record(made))))
    assert again == made and again.baseline == "x"
    for broken in ({}, {"schema": "weir-sweep/2"}, {**run_plan.as_record(made), "settings": []}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            run_plan.from_record(broken)


def test_jobs_and_changes():
    sweep = parse("repetitions = 4\n" + AXES + SWITCH)
    made = run_plan.make_plan(sweep)
    assert run_plan.runs_per_job(made, sweep.slurm) == 16
    assert run_plan.runs_per_job(made, dataclasses.replace(sweep.slurm, runs_per_job=5)) == 5
    jobs = run_plan.split(made.points, 16)
    assert [len(job) for job in jobs] == [16] * 4
    assert [run_plan.changes(made, job) for job in jobs] == [4] * 4


def test_the_simulator_knows_no_switch():
    made = plan("repetitions = 2\n" + AXES + SWITCH)
    points, stands_for = run_plan.simulated_points(made)
    assert len(made.points) == 32 and len(points) == 8
    assert run_plan.axes_without_options(made) == ["switch"]
    for point in made.points:
        other = made.points[stands_for[point.number] - 1]
        assert run_plan.simulation_key(made, point) == run_plan.simulation_key(made, other)


@pytest.mark.parametrize("text,part", [
    ("repetitions = 0", "repetitions: 0 is not a whole number from 1 to 1000"),
    ("repetitions = true", "repetitions: true is not"),
    ("repetition = 3", "repetition: there is no such key; did you mean repetitions?"),
    ("name = \"a b\"", "name: 'a b' cannot name directories"),
    ("start = \"5\"", "start: '5' is not a time with its unit"),
    ("axes = 3", "axes: 3 is not a table"),
    ("[axes]\npolicy = \"token\"", "axes.policy: an axis is a list of its values"),
    ("[axes]\npolicy = []", "axes.policy: an axis is a list of its values"),
    ("[axes]\npolicy = [\"token\", \"token\"]", "axes.policy: 'token' is there twice"),
    ("[axes]\npolicy = [\"token\", { name = \"a\" }]", "axes.policy: values are either all tables"),
    ("[axes]\nlayout = [{ producers = 2 }]", "axes.layout: a value that is a table needs a name"),
    ("[axes]\nswitch = [\"a\"]", "axes.switch: switch settings are in the table [switch]"),
    ("[axes]\nseed = [1, 2]", "axes: seed sets seed; each repetition has a seed of its own"),
    ("[axes]\nslots = [1]\nlayout = [{ name = \"a\", slots = 2 }]", "axes: slots and layout both set slots"),
    ("[axes]\n\"--policy\" = [\"token\"]",
     "is not the name of an option; write it without the dashes in front: policy"),
    ("[run]\nout = \"here\"", "run.out: weir-sweep sets --out itself"),
    ("[run]\nrate = true", "run.rate: true is not a value of an option"),
    ("[run]\nseed = \"x\"", "run.seed: x is not one whole number"),
    ("[tags]\npoint = 1", "tags.point: weir-sweep sets this tag itself"),
    ("[tags]\npolicy = 1\n[axes]\npolicy = [\"token\"]", "tags.policy: the axis of this name sets this tag"),
    ("[environment]\n\"A B\" = 1", "environment.A B: 'A B' is not the name of a variable"),
    ("[switch]\non-change = \"x\"", "switch.settings: missing"),
    ("[switch]\nsettings = [\"a\"]\nhold = 0", "switch.hold: 0 is not"),
    ("[switch]\nsettings = [\"a\"]\n[slurm]\nconcurrent = 2", "slurm.concurrent: runs with a table [switch]"),
    ("[slurm]\npartitions = \"a\"", "slurm.partitions: there is no such key; did you mean partition?"),
    ("[slurm]\nlauncher = \"ssh\"", "slurm.launcher: 'ssh' is not one of mpirun, srun"),
    ("[slurm]\noptions = [\"exclusive\"]", "slurm.options: 'exclusive' is not an option of sbatch"),
    ("[slurm]\noptions = [\"--array=1-3\"]", "slurm.options: weir-sweep sets --array itself"),
    ("[slurm.producers]\npartition = \"eb\"", "needs the tables [slurm.producers] and [slurm.consumers]"),
    ("[slurm.producers]\n[slurm.consumers]\n[slurm]\nscheduler = \"own\"", "some.toml"),
    ("policy = [", "some.toml: "),
    ("", "some.toml: it has no content; a sweep file has tables such as [run] and [axes]"),
    ("# policy = 1\n", "some.toml: it has no content"),
])
def test_refusals_name_the_key(text, part):
    with pytest.raises(ReportError) as refused:
        parse(text)
    assert part in str(refused.value) and "\n" not in str(refused.value)


def test_parts_of_a_job():
    sweep = parse("[slurm]\naccount = \"daq\"\noptions = \"--exclusive --mem=0\"\n[slurm.scheduler]\n"
                  "partition = \"ctl\"\n"
                  "[slurm.producers]\npartition = \"eb\"\nranks-per-node = 2\n[slurm.consumers]\n")
    assert [name for name, _ in sweep.slurm.parts] == ["scheduler", "producers", "consumers"]
    assert sweep.slurm.sbatch == ("--account=daq", "--exclusive", "--mem=0")
    assert dict(sweep.slurm.parts)["producers"].sbatch == ("--partition=eb",)
    assert dict(sweep.slurm.parts)["producers"].ranks_per_node == 2


@pytest.mark.parametrize("text, message", [
    ('[switch]\nsettings = ["a"]\non-change = "./set-switch"', "switch.on-change: there is no file './set-switch' in "),
    ('[switch]\nsettings = ["a"]\non-change = "sh ./set-switch --fast"',
     "switch.on-change: there is no file './set-switch' in "),
    ('[switch]\nsettings = ["a"]\non-change = "set-no-switch"',
     "switch.on-change: there is no command 'set-no-switch'"),
    ('[switch]\nsettings = ["a"]\nread = "./plain"', "switch.read: './plain' may not be executed (chmod +x)"),
    ('[local]\nlauncher = ["sh", "--hostfile", "no-hosts"]', "local.launcher: there is no file 'no-hosts' in "),
    ('[local]\nlauncher = ["sh", "--hostfile=/no/hosts"]', "local.launcher: there is no file '/no/hosts'")])
def test_commands_and_files_that_are_not_there_are_refused_before_any_run(tmp_path, text, message):
    (tmp_path / "plain").write_text("")
    with pytest.raises(ReportError, match=re.escape(f"{tmp_path}/some.toml: {message}")):
        dry_runs.refuse_missing_files(parse_sweep(tmp_path / "some.toml", AXES + text))


@pytest.mark.parametrize("command",
                         ["true", "test 1 = 1 &&", "$HOME/set", "X=1 ./set", "sh -c 'exit 0'", "'", "(cd /; true)"])
def test_what_only_a_shell_can_tell_is_left_to_it(tmp_path, command):
    text = (f'[switch]\nsettings = ["a"]\non-change = {json.dumps(command)}\n[local]\n'
            'launcher = ["sh", "--hostfile", "some.toml"]')
    (tmp_path / "some.toml").write_text("")
    dry_runs.refuse_missing_files(parse_sweep(tmp_path / "some.toml", AXES + text))


def test_placeholders_of_a_site_file_are_refused_on_a_cluster():
    sites = sorted((ROOT / "slurm" / "sites").glob("*.toml"))
    words = {text for path in sites for text in re.findall(r'"([A-Z][A-Z ,-]{3,})"', path.read_text())}
    assert words and words <= set(dry_runs.PLACEHOLDERS)
    with pytest.raises(ReportError, match="--account=ACCOUNT, --partition=PARTITION, tags.switch-model"):
        dry_runs.refuse_placeholders(read_sweep_file(ROOT / "slurm" / "sites" / "roce-comparison.toml"))
    dry_runs.refuse_placeholders(read_sweep_file(ROOT / "slurm" / "sites" / "ethernet-tcp.toml"))
    # Without SLURM, too, but for what is SLURM's.
    with pytest.raises(ReportError, match="left out: tags.switch-model = .*VERSION\"$"):
        dry_runs.refuse_placeholders(read_sweep_file(ROOT / "slurm" / "sites" / "ten-minutes.toml"), "local")


BIG = """
[run]
producers = 3
consumers = 2
rate = "10Gb/s"
interval = "1s"
[axes]
slots = [2, 4]
"""


@pytest.mark.parametrize("slurm, problem", [
    ("options = \"--mem=0\"", ""),
    ("options = \"--mem=0 --mem=1300\"", ""),  # MiB, and the last one counts
    ("options = \"--mem=2G\"\nranks-per-node = 2",
     r"slurm.options: --mem=2G is too little for slots=2, which needs 2.5\d* GB for data on a node: --mem=24\d\dM at "),
    ("options = \"--mem=1200M\"\nnodes = 2", r"needs 1.\d* GB for data on a node: "),  # three roles on two nodes
    ("options = \"--mem=2G\"\n[slurm.producers]\n[slurm.consumers]\nranks-per-node = 2", ""),
    ("options = \"--mem=2G\"\n[slurm.producers]\noptions = \"--mem=1g\"\n[slurm.consumers]",
     "slurm.options: --mem=1g is too little for slots=2, which needs .* on a node of producers: "),
])
def test_jobs_ask_for_the_memory_that_a_node_needs(weir, tmp_path, slurm, problem):
    sweep = parse(f"{BIG}[slurm]\n{slurm}\n")
    made = run_plan.make_plan(sweep)
    forecasts = dry_runs.forecasts(weir, "run", made, (), 0.0, tmp_path)
    with pytest.raises(ReportError, match=problem) if problem else contextlib.nullcontext():
        dry_runs.check_memory(sweep, made.settings, forecasts, dry_runs.nodes_needed(sweep, forecasts))
