"""Campaigns on this machine: what is run, what survives kills, failures and company, and what is collected.

The launcher of these tests simulates instead of starting ranks, so a run takes a moment; weir-sweep cannot tell.
"""

import csv
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from conftest import call_inside, editing, script, start, until
from weir_suites import sweep_command
from weir_compare.sweep import claim_files, launch, slurm_jobs, worker
from weir_compare.sweep.campaign import Campaign
from weir_runs.basics.child import Stop

# Takes mpirun's place: launcher -np 5 WEIR run OPTIONS. Files in its directory select what is to go wrong.
LAUNCHER = """
echo begun >>begun
while test -e hold; do sleep 0.05; done
if test -e crash; then echo "weir run: something is wrong" >&2; exit 1; fi
weir=$3
shift 4
exec $weir simulate "$@" --quiet"""
SWEEP = """
repetitions = {repetitions}
[run]
producers = 2
consumers = 2
rate = "100Mb/s"
event-size = "1MiB"
duration = "2s"
warmup = "0s"
busy = "exponential:20ms"
[axes]
policy = ["balanced", "token"]
[local]
launcher = ["./launcher"]
"""


@pytest.fixture
def sweep(weir, tmp_path):
    """sweep(command, options...): weir-sweep with the sweep file of the test, in a directory of its own."""
    class Sweep:
        directory = tmp_path
        file = tmp_path / "some.toml"
        campaign = tmp_path / "some"
        variables = {}

        def write(self, more="", repetitions=3):
            self.file.write_text(SWEEP.format(repetitions=repetitions) + more)

        def __call__(self, command, *words, expect=0):
            return call_inside("weir-sweep", command, self.file, *words, expect=expect, **self.variables)

        def start(self, command, *words):
            return start("weir-sweep", command, self.file, *words, **self.variables)

        def states(self):
            said = self("status", "--json", expect=None)
            return [point["state"] for point in json.loads(said)["worlds"][0]["points"]]

        def begun(self):
            path = tmp_path / "begun"
            return len(path.read_text().split()) if path.exists() else 0

        def hold(self):
            """Starts submit, which stays in its first run until the file is gone."""
            (tmp_path / "hold").touch()
            process = self.start("submit", "--local")
            until(lambda: self.begun() == 1, process)
            return process

    script(tmp_path / "launcher", LAUNCHER)
    made = Sweep()
    made.write()
    return made


def test_from_plan_to_page(sweep):
    said = sweep("plan", "--local")
    assert "2 settings x 3 repetitions = 6 runs on this machine" in said and not sweep.campaign.exists()
    said = sweep("submit", "--local")
    assert sweep.states() == ["complete"] * 6 and sweep.begun() == 6
    assert "nothing to do: all runs are complete" in sweep("submit", "--local") and sweep.begun() == 6

    sweep("submit", "--simulate")
    said = sweep("collect", "--baseline", "policy=token")
    assert said.count("NO WINNER            token and balanced: ") == 1
    rows = list(csv.DictReader((sweep.campaign / "table.csv").open()))
    assert [row["point"] for row in rows] == [f"{number:04d}" for number in range(1, 7)]
    for row in rows:
        assert row["world"] == "local" and row["state"] == "complete" and row["policy"] in ("balanced", "token")
        # The same simulation stands for both here.
        assert row["goodput_bits_per_second"] == row["predicted_goodput_bits_per_second"] != ""
        assert row["run_directory"].endswith(f"-r{row['repetition']}")
    page = (sweep.campaign / "comparison.html").read_text()
    assert "Measured beside predicted" in page and "policy=balanced against policy=token (baseline)" in page
    record = json.loads((Path(rows[0]["run_directory"]) / "run.json").read_text())
    assert record["labels"] == {"label": f"policy={rows[0]['policy']}", "policy": rows[0]["policy"], "sweep": "some",
                                "point": "0001", "repetition": rows[0]["repetition"]}


def test_in_a_directory_whose_name_is_no_utf8(sweep, tmp_path):
    sweep.file = tmp_path / os.fsdecode(b"caf\xe9") / "some.toml"
    sweep.file.parent.mkdir()
    sweep.write(repetitions=1)
    sweep.file.write_text(sweep.file.read_text().replace("./launcher", "../launcher"))
    sweep("submit", "--local")
    assert set(sweep.states()) == {"complete"}
    assert r"caf\xe9/some/table.csv" in sweep("collect")
    assert "2 complete runs" in sweep("pack")


def test_more_repetitions_go_on(sweep):
    sweep.write(repetitions=1)
    sweep("submit", "--local")
    sweep.write(repetitions=3)
    sweep("submit", "--local")
    assert sweep.begun() == 6 and sweep.states() == ["complete"] * 6
    sweep.write("[tags]\nfloor = 2\n")
    for command in ("plan", "submit"):
        assert ("was started with another sweep: floor of policy=balanced was not given and is 2"
                in sweep(command, "--local", expect=2))


@pytest.mark.parametrize("program, says, expected", [
    ("mpirun", "mpirun (Open MPI) 4.1.4", ["-x", "UCX_TLS"]), ("prterun", "prterun (PRRTE) 3.0.8", ["-x", "UCX_TLS"]),
    ("mpiexec", "HYDRA build details:", []), ("start-ranks", "mpirun (Open MPI) 4.1.4", [])])
def test_open_mpi_gets_to_know_what_to_hand_on_to_other_hosts(tmp_path, program, says, expected):
    launcher = script(tmp_path / program, f"echo '{says}'")
    variables = {"OMPI_MCA_pml": "ucx", "UCX_TLS": "rc", "UCX_NET_DEVICES": "mlx5_0:1"}
    words = [str(launcher), "--hostfile", "hosts", "-x", "UCX_NET_DEVICES=mlx5_1:1"]
    assert launch.handed_on(words, variables) == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed(sweep, number):
    process = sweep.hold()
    process.send_signal(number)
    assert process.wait(30) == 128 + number
    assert sweep.states() == ["interrupted"] + ["waiting"] * 5
    (sweep.directory / "hold").unlink()
    sweep("submit", "--local")
    assert sweep.states() == ["complete"] * 6 and sweep.begun() == 7


def test_signals_between_campaigns_are_those_of_the_command():
    """A suite of several campaigns ends by a signal that comes between two of them."""
    before = signal.getsignal(signal.SIGINT)
    stop = Stop()
    with stop.listening():
        os.kill(os.getpid(), signal.SIGINT)
        assert stop and stop.reason == "by SIGINT"
    assert signal.getsignal(signal.SIGINT) is before


def test_killed_and_resumed(sweep):
    process = sweep.hold()
    assert "is running on" in sweep("submit", "--local", expect=2)
    assert sweep.states()[0] == "running"
    process.kill()
    process.wait()
    # Its run ends with it, and its claim is known to be nobody's.
    until(lambda: not processes_in(sweep.directory))
    assert sweep.states()[0] == "interrupted"
    (sweep.directory / "hold").unlink()
    sweep("submit", "--local")
    assert sweep.states() == ["complete"] * 6
    assert len(list((sweep.campaign / "local/runs").iterdir())) == 6


def processes_in(directory):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.path.realpath(entry / "cwd") == str(directory) and (entry / "cmdline").read_text():
                found.append(entry.name)
        except OSError:
            continue
    return found


def test_two_at_once(sweep):
    """Each point is claimed by one of them, and both end."""
    sweep.write("[switch]\nsettings = [\"a\"]\n")
    both = [sweep.start("submit", "--local") for _ in range(2)]
    ends = [process.wait(60) for process in both]
    assert 0 in ends and set(ends) <= {0, 2}
    assert sweep.begun() == 6 and sweep.states() == ["complete"] * 6


def test_failures_are_repeated_on_demand_only(sweep):
    (sweep.directory / "crash").touch()
    assert "failed: weir run: something is wrong" in sweep("submit", "--local", expect=1)
    assert sorted(sweep.states()) == ["failed"] * 2 + ["waiting"] * 4
    (sweep.directory / "crash").unlink()
    sweep("submit", "--local")
    assert "2 runs failed; --retry-failed repeats them" in sweep("submit", "--local")
    assert "something is wrong" in sweep("status", expect=1)
    assert "2 of 6 runs are missing: 2 failed" in sweep("collect")
    sweep("submit", "--local", "--retry-failed")
    assert sweep.states() == ["complete"] * 6 and sweep.begun() == 8


def test_a_campaign_stops_when_every_setting_has_failed_for_one_reason(sweep):
    (sweep.directory / "crash").touch()
    said = sweep("submit", "--local", expect=1)
    assert sweep.begun() == 2
    assert ("stopped: a run of every setting failed, and each as this one: weir run: something is wrong. Mend that; "
            "then weir-sweep submit --retry-failed makes these and the others") in said
    # Of one setting only: the other one goes on.
    (sweep.directory / "crash").unlink()
    launcher = sweep.directory / "launcher"
    launcher.write_text(launcher.read_text().replace("weir=$3", 'case "$*" in *token*) echo "weir run: no token" >&2; '
                                                     'exit 1 ;; esac; weir=$3'))
    sweep("submit", "--local", "--retry-failed", expect=1)
    assert sorted(sweep.states()) == ["complete"] * 3 + ["failed"] * 3
    # That all which are made again are of one setting says nothing of the others.
    assert "stopped" not in sweep("submit", "--local", "--retry-failed", expect=1)
    assert sweep.begun() == 2 + 6 + 3


def test_a_worker_for_which_nothing_is_left_stops_nothing(sweep):
    sweep.write(repetitions=1)
    (sweep.directory / "crash").touch()
    sweep("submit", "--local", expect=1)
    campaign = Campaign(sweep.campaign)
    campaign.plan, said = campaign.read_plan(), []
    job = json.loads((sweep.campaign / "local/submissions/submission-1.json").read_text())["job"]
    assert worker.Worker(campaign.world("local"), 1, job, lambda text, **_: said.append(text)).work() == 0
    assert said == []


def test_a_launcher_that_changes_an_option_is_named_right_after_the_run(sweep):
    launcher = sweep.directory / "launcher"
    launcher.write_text(launcher.read_text().replace("--quiet", "--quiet --slots 7"))
    said = sweep("submit", "--local", expect=1)
    assert sweep.begun() == 2
    assert 'failed: the launcher changed --slots, which is 7, not 4: put slots = "7" into [run]' in said
    assert "stopped: " in said


def test_runs_of_another_plan_do_not_count(sweep):
    sweep("submit", "--local")
    runs = sorted((sweep.campaign / "local/runs").iterdir())
    with editing(runs[0]) as record:
        record["plan"]["rate"] = "200Mb/s"
    with editing(runs[1]) as record:
        record["labels"]["point"] = "0099"
    said = sweep("status", expect=1)
    assert "the launcher changed --rate, which is 200Mb/s, not 100Mb/s" in said
    assert "is the run of another point" in said
    sweep("submit", "--local", "--retry-failed")
    assert sweep.states() == ["complete"] * 6 and sweep.begun() == 8


def test_runs_of_a_setting_that_cannot_be_set_are_not_made(sweep):
    sweep.write("[switch]\nsettings = [\"good\", \"bad\"]\non-change = \"sh ./hook\"\n", repetitions=1)
    hook = sweep.directory / "hook"
    hook.write_text('echo "from $WEIR_SWITCH_BEFORE to $WEIR_SWITCH, $1"; test $1 != bad\n')
    assert "sh ./hook bad exited with 1; its output: " in sweep("submit", "--local", expect=1)
    assert sorted(sweep.states()) == ["complete"] * 2 + ["hook failed"] * 2 and sweep.begun() == 2
    printed = [path.read_text() for path in sorted((sweep.campaign / "local/hooks").iterdir())]
    assert sum("to bad, bad" in text for text in printed) == 3  # tried again, and not once more for the same round
    assert "2 runs failed; --retry-failed repeats them" in sweep("submit", "--local")

    sweep("submit", "--local", "--retry-failed", "--on-change", "echo")
    assert sweep.states() == ["complete"] * 4
    kept = sorted((sweep.campaign / "local/hooks").iterdir())
    assert len(kept) == len(printed) + 1 and kept[-1].read_text() == "$ echo bad\nbad\n-> set\n"


def test_a_setting_that_cannot_be_set_once_is_set_when_it_is_tried_again(sweep):
    sweep.write("[switch]\nsettings = [\"a\", \"b\"]\non-change = \"sh ./hook\"\n", repetitions=1)
    (sweep.directory / "hook").write_text('test $1 != b || test -e tried || { touch tried; exit 255; }\n')
    sweep("submit", "--local")
    assert sweep.states() == ["complete"] * 4


def test_a_round_in_which_a_setting_cannot_be_set_leaves_the_next_to_be_tried(sweep):
    sweep.write("[switch]\nsettings = [\"a\", \"b\"]\non-change = \"sh ./hook\"\nchange-limit = \"300ms\"\n",
                repetitions=2)
    (sweep.directory / "hook").write_text('test $1 != b || test -e tried || { touch tried; sleep 60; }\n')
    sweep("submit", "--local", expect=1)
    assert sorted(sweep.states()) == ["complete"] * 6 + ["hook failed"] * 2  # both policies in the first round


def test_a_setting_that_was_not_set_is_not_measured_and_has_not_failed(sweep):
    sweep.write("[switch]\nsettings = [\"a\", \"b\"]\non-change = \"sh ./hook\"\nchange-limit = \"200ms\"\n",
                repetitions=3)
    (sweep.directory / "hook").write_text('test $1 != b || sleep 60\n')
    sweep("submit", "--local", expect=1)
    said = " ".join(sweep("collect", "--by", "switch").split())
    assert ("switch=b was not measured: sh ./hook b took more than" in said
            or "b was not measured: sh ./hook b took more than" in said)
    assert "certain" not in said and "Use " not in said and "b 0 of" not in said and "failed: sh" not in said
    assert "Do Find out why the switch did not have b, and let weir-sweep submit --retry-failed" in said


def test_a_hook_that_hangs_is_ended(sweep):
    sweep.write("[switch]\nsettings = [\"a\"]\non-change = \"sleep 60; true\"\nchange-limit = \"500ms\"\n",
                repetitions=1)
    assert "took more than" in sweep("submit", "--local", expect=1)


def test_collectors_do_not_disturb_each_other(sweep):
    sweep("submit", "--simulate")
    several = [sweep.start("collect", "--quiet") for _ in range(4)]
    table = None
    while any(process.poll() is None for process in several):
        path = sweep.campaign / "table.csv"
        if path.exists():
            table = list(csv.DictReader(path.open()))
            assert len(table) == 6 and None not in table[-1].values()  # whole at any moment
        time.sleep(0.02)
    assert [process.wait() for process in several] == [0] * 4 and table
    assert (sweep.campaign / "comparison.html").read_text().rstrip().endswith("</html>")
    assert sorted(path.name for path in sweep.campaign.iterdir() if path.is_file()) == [
        "comparison.html", "plan.json", "sweep.toml", "table.csv"] + (
            ["table.parquet"] if (sweep.campaign / "table.parquet").exists() else [])


def test_refusals(sweep, tmp_path):
    sweep.write("[simulation]\npolicy = \"token\"\n")
    assert "simulation.policy: the axis policy sets it" in sweep("plan", "--simulate", expect=2)
    sweep.file.write_text("[axes]\npolcy = [\"token\"]\n")
    assert "every setting is refused: weir run: --polcy: there is no such option; did you mean --policy?" in sweep(
        "plan", "--local", expect=2)
    sweep.file.write_text("[run]\nproducers=2\nconsumers=2\n[axes]\nslots = [4, 0]\nwindow = [1, 99]\n")
    said = sweep("submit", "--local", expect=2)
    assert "3 of 4 settings cannot be run:" in said
    assert "slots=4 window=99 and slots=0 window=99: weir run: --window: 99 is out of" in said
    sweep.file.write_text("[axes]\nslots = [4, 5]\n")
    assert "no option gives the numbers of producers and consumers of slots=4" in sweep("plan", "--local", expect=2)
    sweep.file.write_text("baseline = \"slots=9\"\n[axes]\nslots = [4, 5]\n")
    assert "baseline: there is no setting 'slots=9'" in sweep("plan", "--simulate", expect=2)
    assert "no campaign was started here" in sweep("status", expect=2)
    assert not sweep.campaign.exists()
    sweep.file = tmp_path / "nowhere.toml"
    assert "No such file or directory; a sweep file in TOML is expected" in sweep("plan", expect=2)


def test_a_damaged_campaign_is_refused(sweep):
    sweep("submit", "--simulate")
    claim = sweep.campaign / "simulation/claims/0001-1.json"
    claim.write_text("{")
    assert "0001-1.json: damaged" in sweep("status", expect=2)
    claim.write_text(json.dumps({"holder": claim_files.this_holder()}))
    next(sweep.campaign.glob("simulation/runs/0001-*/run.json")).write_text("{")
    # Of one run: it can be repeated, and the others are as they were.
    said = sweep("status", "--json", expect=1)
    first, *others = json.loads(said)["worlds"][0]["points"]
    assert first["state"] == "failed" and "run.json: damaged" in first["reason"], first
    assert others and {point["state"] for point in others} == {"complete"}
    (sweep.campaign / "plan.json").write_text("[]")
    assert "plan.json: damaged" in sweep("status", expect=2)


# --- Claims, and files as a whole.


def test_slurms_words():
    assert slurm_jobs.duration_s("2-03:04:05\n") == 2 * 86400 + 3 * 3600 + 245
    assert slurm_jobs.duration_s("59:59") == 3599 and slurm_jobs.duration_s("infinite") is None
    assert slurm_jobs.duration_s("") is None
    error = "sbatch: error: invalid partition specified: nope\nallocation failure: Invalid partition name specified\n"
    assert slurm_jobs.reason(error) == "invalid partition specified: nope; Invalid partition name specified"
    error = "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified\n"
    assert slurm_jobs.reason(error) == "Invalid account or account/partition combination specified"


def test_slurm_that_refuses_an_account(sweep):
    """SLURM reads accounts from its database, which the tests' own SLURM does not have."""
    tools = sweep.directory / "tools"
    tools.mkdir()
    said = "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified"
    for name, body in (("sbatch", f"echo '{said}' >&2; exit 1"), ("squeue", "exit 0"), ("sinfo", "exit 0"),
                       ("scontrol", "echo 'Slurmctld(primary) at here is UP'")):
        script(tools / name, body)
    sweep.variables["PATH"] = f"{tools}:{os.environ['PATH']}"
    said = sweep("submit", expect=2)
    assert ("SLURM would not accept the jobs: Invalid account or account/partition combination specified. Nothing "
            "was submitted" in said)
    assert not sweep.campaign.exists()


def test_a_campaign_that_was_not_begun(tmp_path):
    assert Campaign(tmp_path).read_plan() is None


def test_what_stands_for_a_switch_setting_is_predicted_beside_what_is_measured(sweep):
    settings = '\n[switch]\nsettings = [{ name = "deep", simulate = { network = "packet", switch = "deep" } }, ' \
               '{ name = "pfc", simulate = { network = "packet", pfc = "%s" } }]\non-change = "true"\n'
    sweep.write(settings % "of", repetitions=1)
    message = sweep("plan", "--simulate", expect=2)
    assert "2 of 4 settings cannot be run" in message
    assert "switch=pfc policy=balanced and switch=pfc policy=token" in message
    assert "--pfc" in message and sweep("plan", "--local")  # what is measured has no such option

    sweep.write(settings % "on", repetitions=1)
    assert "4 settings x 1 repetition = 4 runs in the simulator" in sweep("plan", "--simulate")
    sweep("submit", "--local")
    sweep("submit", "--simulate")
    sweep("collect")
    rows = list(csv.DictReader((sweep.campaign / "table.csv").open()))
    assert len(rows) == 4 and all(row["world"] == "local" and row["predicted_goodput_bits_per_second"] for row in rows)
    simulated = {path.name: json.loads((path / "run.json").read_text())
                 for path in (sweep.campaign / "simulation/runs").iterdir()}
    assert {(record["labels"]["switch"], record["plan"]["switch"], record["plan"]["pfc"])
            for record in simulated.values()} == \
        {("deep", "deep", "off"), ("pfc", "shallow", "on")}


def test_a_run_that_outlives_its_worker_is_running(sweep):
    sweep.write(repetitions=1)
    sweep("submit", "--local")
    claim = json.loads((sweep.campaign / "local/claims/0001-1.json").read_text())
    claim["holder"].update(boot="another", pid=1)
    (sweep.campaign / "local/claims/0001-1.json").write_text(json.dumps(claim))
    (sweep.campaign / "local/claims/0001-1.end.json").unlink()
    [path] = sweep.campaign.glob("local/runs/0001-*/run.json")
    record = json.loads(path.read_text())
    record.update(status="failed", failure={"what": "the run has not ended"}, started_at="2100-01-01T00:00:00Z")
    for pid, state in ((os.getpid(), "running"), (2**22 + 1, "interrupted")):
        record["ranks"][0].update(host=socket.gethostname(), pid=pid)
        path.write_text(json.dumps(record))
        for file in (path, *path.parent.rglob("*.csv")):
            os.utime(file, (time.time() - 100,) * 2)
        assert sweep.states() == [state, "complete"]


def test_a_simulation_of_a_worker_that_was_killed_is_not_waited_for(sweep):
    """No host is in the record of a simulation that has not ended; that of its worker is in the claim."""
    sweep.write(repetitions=1)
    sweep("submit", "--simulate")
    (sweep.campaign / "simulation/claims/0001-1.end.json").unlink()
    [path] = sweep.campaign.glob("simulation/runs/0001-*/run.json")
    with editing(path) as record:
        record.update(status="failed", failure={"what": "the run has not ended"})
    for file in (path, *path.parent.rglob("*.csv")):
        os.utime(file, (time.time() - 10,) * 2)
    claim = json.loads((sweep.campaign / "simulation/claims/0001-1.json").read_text())
    for host, state in ((socket.gethostname(), "interrupted"), ("another", "running")):
        claim["holder"].update(host=host, boot="another")
        (sweep.campaign / "simulation/claims/0001-1.json").write_text(json.dumps(claim))
        assert sweep.states() == [state, "complete"]


UNENDED = """
import json, os, sys
path = sys.argv[1] + "/run.json"
record = json.load(open(path))
record.update(status="failed", failure={"what": "the run has not ended"}, started_at="2100-01-01T00:00:00Z")
host, pid = (os.uname().nodename, os.getppid()) if "token" in path else ("another", 1)
for rank in record["ranks"]:
    rank.update(host=host, pid=pid)
json.dump(record, open(path, "w"))
"""


def test_what_is_said_of_a_run_whose_launcher_ended_first(sweep, monkeypatch, capsys):
    sweep.write(repetitions=1)
    launcher = sweep.directory / "launcher"
    launcher.write_text(launcher.read_text().replace('exec $weir simulate "$@" --quiet', f"""$weir simulate "$@" --quiet
while test "$1" != --out; do shift; done
exec {sys.executable} unended "$2"
"""))
    (sweep.directory / "unended").write_text(UNENDED)
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(worker, "RECORD_LIMIT_S", 0.1)
    assert sweep_command.main(["submit", "--local", str(sweep.file)]) == 1
    said = capsys.readouterr().out
    assert said.count("failed: it goes on without its launcher, which has ended\n") == 1
    assert said.count("failed: its launcher ended and no end was recorded; whether ranks on other hosts still run is "
                      "not known\n") == 1
