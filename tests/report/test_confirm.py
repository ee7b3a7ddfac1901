"""weir explain --confirm: what is made of run.json and explain.json, what is refused, and how runs are judged. One is
measured in tests/mpi/explained.py."""

import json
import subprocess
from pathlib import Path

import pytest
from weir_compare.sweep import confirm
from weir_runs.basics.errors import ReportError

PLAN = ("--producers", "2", "--consumers", "2", "--duration", "3s", "--warmup", "200ms", "--rate", "800Mb/s",
        "--event-size", "4MB", "--producer-link", "3Gb/s")
SLOTS = (*PLAN, "--consumer-link", "3Gb/s", "--slots", "1", "--busy", "exponential:30ms", "--explain", "fast")
GOOD, LATE_ONE = True, False


@pytest.fixture
def explain(weir):
    """explain(directory, expected status): what it prints."""
    if not (Path(weir).parent / "weir-sweep").exists():
        pytest.skip("weir-sweep is not beside weir")

    def run(directory, status, *options):
        done = subprocess.run([weir, "explain", str(directory), "--confirm", *options], capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == status, done
        return done.stdout + done.stderr
    return run


def causes_of(directory, changed):
    """Plants a remedy in run.json."""
    path = directory / "run.json"
    record = json.loads(path.read_text())
    record["verdict"]["causes"][0] |= changed
    path.write_text(json.dumps(record))


def confirmation(directory):
    return json.loads((directory / "explain.json").read_text())["confirmation"]


def test_a_remedy_that_helps_is_confirmed_with_other_seeds(explain, simulate):
    directory = simulate(*SLOTS)
    said = explain(directory, 0)
    slots = confirmation(directory)["options"][0]
    assert slots["option"] == "slots" and f"Confirming --slots {slots['value']}: 6 runs in turns" in said
    assert said.strip().endswith(f"Confirmed: with --slots {slots['value']}, 3 of 3 runs were on time, and 0 of 3 "
                                 "without it.")
    assert confirmation(directory)["outcome"] == "confirmed"
    assert "present" in (directory / confirmation(directory)["page"]).read_text()
    runs = [json.loads(path.read_text()) for path in (directory / "confirm").glob("simulation/runs/*/run.json")]
    assert sorted(run["plan"]["seed"] for run in runs) == ["2", "2", "3", "3", "4", "4"]
    assert sorted(run["plan"]["slots"] for run in runs) == ["1"] * 3 + [slots["value"]] * 3
    assert "nothing to do: all runs are complete" in explain(directory, 0)


def test_a_remedy_that_does_not_help_is_not_confirmed(explain, simulate):
    directory = simulate(*SLOTS)
    causes_of(directory, {"remedy": "--window 5", "options": [{"option": "window", "value": "5"}]})
    assert "Not confirmed: with --window 5, 0 of 3 runs were on time" in explain(directory, 3)
    assert confirmation(directory)["outcome"] == "not confirmed"
    causes_of(directory, {"options": [{"option": "window", "value": "6"}]})
    assert "it has runs with another remedy" in explain(directory, 2)


def test_what_no_option_is_the_remedy_of_is_said_and_not_run(explain, simulate):
    of_a_twin = simulate(*PLAN, "--consumer-link", "600Mb/s", "--explain", "off")
    assert "the remedy is nothing that an option of weir run changes: use consumers' links of " in explain(of_a_twin, 3)
    fault = simulate(*PLAN, "--consumer-link", "3Gb/s", "--explain", "fast", "--fault",
                     "pause:consumer=1,at=1s,for=1500ms")
    assert "the remedy is nothing that an option of weir simulate changes: keep consumer 1 running" in explain(fault, 3)
    good = simulate(*PLAN, "--consumer-link", "3Gb/s")
    assert "there is nothing to remedy" in explain(good, 0)
    assert not any((directory / "confirm").exists() for directory in (of_a_twin, fault, good))
    assert "--confirm: prints what comes of it; leave --json and --quiet out" in explain(good, 2, "--json")


def test_the_launcher_of_a_run_of_other_hosts_is_asked_for_and_kept(stored, weir, monkeypatch):
    monkeypatch.setenv("WEIR", weir)
    directory = stored("measured")
    run = confirm.run_reading.read_run(directory)
    run.record["ranks"][0]["host"] = "elsewhere"
    subject = confirm.Subject(run, "--slots 8", {"slots": "8", "high-water": None})
    assert subject.words == "--slots 8 and without --high-water"
    with pytest.raises(ReportError, match="a run does not record what started it.*under .local."):
        confirm.write_sweep_file(subject)
    path = directory / "confirm.toml"
    assert "# launcher" in path.read_text()
    path.write_text(path.read_text() + '[local]\nlauncher = ["srun"]\n')
    assert confirm.write_sweep_file(subject) == path
    assert 'launcher = ["srun"]' in path.read_text() and 'slots = "8"' in path.read_text()


@pytest.mark.parametrize("present, remedied, outcome", (
    ([LATE_ONE] * 3, [GOOD] * 3, confirm.CONFIRMED), ([LATE_ONE] * 3, [LATE_ONE] * 3, confirm.NOT_CONFIRMED),
    ([GOOD] * 3, [LATE_ONE] * 3, confirm.NOT_CONFIRMED), ([LATE_ONE, GOOD, LATE_ONE], [GOOD] * 3, confirm.NOT_TOLD),
    ([LATE_ONE] * 3, [GOOD, LATE_ONE, GOOD], confirm.NOT_TOLD), ([LATE_ONE] * 3, [GOOD], confirm.NOT_TOLD)))
def test_only_what_is_clear_is_said_to_be(present, remedied, outcome):
    said, sentence = confirm.judged("--slots 4", present, remedied)
    assert said == outcome and sentence.lower().startswith(outcome)
