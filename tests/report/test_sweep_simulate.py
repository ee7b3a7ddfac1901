"""Simulated campaigns with several processes, and as SLURM arrays. The real SLURM: tests/slurm/sweep.py."""

import json
import re
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import call, script, start, until
from weir_compare.sweep import simulate as sweep_simulate
from weir_compare.sweep.dry_runs import Forecast

SWEEP = """
repetitions = 3
[run]
producers = 2
consumers = 2
rate = "100Mb/s"
event-size = "1MiB"
duration = "2s"
warmup = "0s"
[axes]
policy = ["balanced", "token"]
"""
FIND = """
repetitions = 1
[run]
rate = "9Gb/s"
producers = 2
consumers = 2
duration = "2s"
warmup = "0s"
consumer-link = "10Gb/s"
[axes]
slots = [2, 4]
[find]
what = "rate"
least = "8Gb/s"
most = "11Gb/s"
"""
OPTIONS_OF_FIND = "--rate 9Gb/s --producers 2 --consumers 2 --duration 2s --warmup 0s --consumer-link 10Gb/s".split()


@pytest.fixture
def sweep(weir, tmp_path):
    """sweep(words...): what weir-sweep prints; sweep.start(words...): the process."""
    (tmp_path / "some.toml").write_text(SWEEP)
    environment = {"WEIR": weir}

    def sweep(command, *words, expect=0):
        return call("weir-sweep", command, tmp_path / "some.toml", *words, expect=expect, **environment)
    sweep.start = lambda command, *words: start("weir-sweep", command, tmp_path / "some.toml", *words, **environment)

    def instead(cases):
        """Has a program run that does this before weir, by its arguments: branches of a `case`. Gives weir."""
        environment["WEIR"] = str(script(tmp_path / "other", f'case "$*" in {cases};; esac\nexec {weir} "$@"'))
        return weir
    sweep.directory, sweep.environment, sweep.instead = tmp_path, environment, instead
    return sweep


def claims(directory):
    return sorted(path.name for path in (directory / "simulation/claims").glob("*.json")
                  if not path.name.endswith(".end.json"))


def test_processes_share_the_runs_and_change_nothing(sweep):
    # Runs that are long enough for the other processes to begin, however busy the machine.
    weir = sweep.instead("*--dry-run*) ;; *) sleep 1.5")
    said = sweep("submit", "--simulate", "--jobs", "3")
    assert all(f"000{number}  repetition" in said for number in range(1, 7))
    some = sweep.directory / "some"
    assert claims(some) == [f"000{number}-1.json" for number in range(1, 7)]  # each once
    holders = {json.loads(path.read_text())["holder"]["pid"]
               for path in (some / "simulation/claims").glob("????-1.json")}
    assert len(holders) >= 2
    sweep.environment["WEIR"] = weir
    sweep("submit", "--simulate", "--jobs", "1", "--out", str(sweep.directory / "alone"))
    for run in (some / "simulation/runs").iterdir():
        for file in (run / "ranks").iterdir():
            assert file.read_bytes() == (
                sweep.directory / "alone/simulation/runs" / run.name / "ranks" / file.name).read_bytes()
    assert "nothing to do: all runs are complete" in sweep("submit", "--simulate")


def test_settings_that_are_one_simulation_are_said_so(sweep):
    said = "switch=one, switch=same are the same simulation (equal options): they do not differ"
    switch = """[switch]
settings = [
  { name = "one", simulate = {} }, { name = "same", simulate = {} }, { name = "late", simulate = { latency = "1ms" } },
]
on-change = "true"
"""
    (sweep.directory / "some.toml").write_text(SWEEP.split("[axes]")[0] + switch)
    assert said in sweep("plan", "--simulate") and said not in sweep("plan", "--local")
    assert said in " ".join(sweep("all", "--simulate").partition("\nnotes")[2].split())
    # A switch that nothing of the simulator knows makes no difference at all, which the line of the axis says.
    (sweep.directory / "some.toml").write_text(SWEEP + re.sub(", simulate = {.*?}", "", switch))
    assert "same simulation" not in sweep("plan", "--simulate", "--out", str(sweep.directory / "other"))


def test_a_signal_ends_all_and_the_next_call_continues(sweep):
    pids = sweep.directory / "pids"
    weir = sweep.instead(f"*--dry-run*) ;; *) echo $$ >>{pids}; sleep 31.5 & wait $!")
    process = sweep.start("submit", "--simulate", "--jobs", "2")
    until(lambda: pids.exists() and len(pids.read_text().split()) >= 2, process)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=30)[0]
    assert process.returncode == 143, said
    for pid in pids.read_text().split():
        assert not Path(f"/proc/{pid}").exists()
    sweep.environment["WEIR"] = weir
    sweep("submit", "--simulate", "--jobs", "2")
    assert "6 complete" in sweep("status")


def test_a_run_that_fails_fails_the_campaign(sweep):
    sweep.instead("*--dry-run*) ;; *policy=token*) echo 'weir simulate: no' >&2; exit 1")
    assert "failed: weir simulate: no" in sweep("submit", "--simulate", "--jobs", "2", expect=1)
    assert "3 complete, 3 failed" in sweep("status", expect=1)


def test_a_search_with_several_processes_finds_the_same(sweep):
    (sweep.directory / "some.toml").write_text(FIND)
    said = sweep("submit", "--simulate", "--jobs", "2")
    assert said.count("written  ") == 1
    sweep("submit", "--simulate", "--jobs", "1", "--out", str(sweep.directory / "alone"))

    def limits(name):
        record = json.loads((sweep.directory / name / "capacity.json").read_text())
        return [(setting["name"], [(search["round"], search["low"], search["high"]) for search in setting["searches"]])
                for setting in record["settings"]]
    assert limits("some") == limits("alone") and len(limits("some")) == 2


def prepared(memory_bytes=1e9, cpu_s=60.0, points=8, sbatch=(), time_s=None):
    forecast = Forecast({}, 2, 2, 1.0, 1.0, (), memory_bytes, cpu_s)
    return SimpleNamespace(
        forecasts=(forecast,), points=tuple(SimpleNamespace(setting=0) for _ in range(points)), searched=(),
        plan=SimpleNamespace(find=None),
        sweep=SimpleNamespace(path=Path("/x/some.toml"), slurm=SimpleNamespace(sbatch=sbatch, time_s=time_s)))


def test_as_many_as_there_are_cores_runs_and_room(monkeypatch):
    monkeypatch.setattr(sweep_simulate, "cores", lambda: 16)
    assert sweep_simulate.processes(prepared(), free=100e9) == 8  # runs
    assert sweep_simulate.processes(prepared(points=99), free=100e9) == 16  # cores
    assert sweep_simulate.processes(prepared(points=99), wanted=3, free=100e9) == 3
    assert sweep_simulate.processes(prepared(points=99), free=5e9) == 4  # memory: 80 % of 5 GB
    assert sweep_simulate.processes(prepared(points=99), free=0.1e9) == 1  # one may fail, none is no campaign


def test_the_time_of_a_search_is_told_before_from_its_packets(sweep):
    file = sweep.directory / "some.toml"
    file.write_text(FIND.replace("[axes]", 'network = "packet"\n[axes]'))
    plan = json.loads(sweep("plan", "--simulate", "--json"))
    each = json.loads(subprocess.run([sweep.environment["WEIR"], "simulate", *OPTIONS_OF_FIND, "--network", "packet",
                                      "--dry-run", "--json"],
                                     capture_output=True, text=True, check=True).stdout)["packets"]["cpu_seconds"]
    # Rates are from 8 to 11 Gb/s, and the file's is 9.
    assert plan["runs"] * each * 8 / 9 < plan["expected_cpu_s"] < plan["runs"] * each * 11 / 9
    assert "of one core" in sweep("plan", "--simulate")
    assert "(from the number of packets); at most" in sweep("plan", "--simulate")


def test_a_plan_at_one_rate_tells_what_the_capacity_would_take(sweep):
    plan = json.loads(sweep("plan", "--local", "--json"))
    assert plan["expected_s"] == 6 * 17.0 and plan["capacity"]["runs"] > 6
    assert plan["capacity"]["expected_s"] == 17.0 * plan["capacity"]["runs"] < plan["capacity"]["most_s"]
    assert f"(how much each setting carries): about {plan['capacity']['runs']} runs, " in sweep("plan", "--local")
    # Not where the rate is an axis, or in the simulator.
    file = sweep.directory / "some.toml"
    file.write_text(SWEEP + 'rate = ["50Mb/s", "100Mb/s"]')
    assert json.loads(sweep("plan", "--local", "--json"))["capacity"] is None
    assert json.loads(sweep("plan", "--simulate", "--json"))["capacity"] is None


def test_an_array_wants_one_core_whatever_the_runs_want():
    words = sweep_simulate.array_command(
        prepared(sbatch=("--account=daq", "--partition=bench", "--exclusive", "--mem=0", "--gres=x")), 8, 1, "name",
        "out")
    assert {"--account=daq", "--partition=bench", "--cpus-per-task=1", "--array=1-8"} <= set(words)
    assert not {"--exclusive", "--mem=0", "--gres=x"} & set(words) and "--mem=1100M" in words
    assert "--time=13" in words  # 3 x 60 s + 10 min
    words = sweep_simulate.array_command(prepared(cpu_s=None), 8, 1, "name", "out")
    assert not any(word.startswith("--time") for word in words)  # the partition's
    assert "--time=90" in sweep_simulate.array_command(prepared(time_s=5400.0), 8, 1, "name", "out")


@pytest.mark.parametrize("words, message", [
    (["--local", "--jobs", "2"], "--jobs: it is a number of processes"),
    (["--simulate", "--jobs", "0"], "--jobs: it is a number of processes"),
    (["--simulate", "--slurm", "--jobs", "2"], "--jobs: it is"),
    (["--local", "--slurm"], "--slurm: it goes with --simulate"),
])
def test_wrong_options_are_refused(sweep, words, message):
    assert message in sweep("submit", *words, expect=2) and not (sweep.directory / "some").exists()
