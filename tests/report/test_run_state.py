"""Runs that have written no end: whether they are running or lost. tests/mpi/followed.py follows real ones."""

import json
import os
import re
import socket
import subprocess
import time

import pytest

from conftest import RUNS, editing
from weir_compare.comparison.run_groups import Group, refuse_empty, usable
from weir_runs import report_command
from weir_runs.basics import processes
from weir_runs.basics.errors import ReportError
from weir_runs.pages import so_far
from weir_runs.reading import run_state
from weir_runs.reading.run import read_run
from weir_runs.reading.run_state import with_state


@pytest.fixture
def unended(stored):
    """unended(host, pid, quiet_s): a run without an end, whose ranks are there, and whose files changed so long ago."""
    def make(host, pid, quiet_s, started_at="2026-01-01T00:00:00.000Z"):
        run = stored("measured", f"run-{host}-{pid}-{quiet_s}")
        with editing(run) as record:
            record.update(status="failed", failure={"what": "the run has not ended", "rank": None},
                          started_at=started_at)
            for rank in record["ranks"]:
                rank.update(host=host, pid=pid)
        age(run, quiet_s)
        return run
    return make


def age(run, quiet_s):
    for file in (run / "run.json", *run.rglob("*.csv")):
        os.utime(file, (time.time() - quiet_s,) * 2)


HERE = socket.gethostname()
NO_PROCESS = 2**22 + 1  # Linux has none with such a number
TOMORROW = time.strftime("%Y-%m-%dT00:00:00.000Z", time.gmtime(time.time() + 86400))


@pytest.mark.parametrize("host, pid, quiet_s, started_at, status", [
    (HERE, os.getpid(), 1000, TOMORROW, "running"),  # it is the process that the run had
    # It began after the run did: the number is used again.
    (HERE, os.getpid(), 1000, "2026-01-01T00:00:00.000Z", "lost"),
    (HERE, NO_PROCESS, 1000, TOMORROW, "lost"),
    (HERE, NO_PROCESS, 0, TOMORROW, "running"),  # who writes its end needs a moment
    (HERE, NO_PROCESS, 10, TOMORROW, "lost"),
    ("elsewhere", os.getpid(), 10, TOMORROW, "running"),  # rows of other hosts come late
    ("elsewhere", os.getpid(), 100, TOMORROW, "lost"),
])
def test_what_is_said_of_a_run_without_an_end(unended, host, pid, quiet_s, started_at, status):
    assert read_run(unended(host, pid, quiet_s, started_at)).status == status


def test_what_has_an_end_stays(stored):
    for name in ("measured", "interrupted", "overflow"):
        record = json.loads((RUNS / name / "run.json").read_text())
        assert with_state(stored(name), record) is record
    for damaged in (None, [], {}, {"status": "failed", "failure": "x"}):
        assert with_state(RUNS / "measured", damaged) is damaged
    odd = {"status": "failed", "failure": {"what": "the run has not ended"}, "ranks": [3, {"host": HERE, "pid": "x"}],
           "started_at": 7}
    assert with_state(RUNS / "measured", odd)["status"] in ("running", "lost")


def test_a_simulation_is_running_as_long_as_its_process(weir, tmp_path, monkeypatch):
    with subprocess.Popen([weir, "simulate", "--duration", "2000s", "--producers", "8", "--consumers", "8", "--rate",
                           "8Gb/s", "--event-size", "100kB", "--out", "run", "--quiet"], cwd=tmp_path) as process:
        try:
            while not (tmp_path / "run/run.json").exists():
                assert process.poll() is None
                time.sleep(0.02)
            assert processes.writes("weir", tmp_path / "run") and not processes.writes("weir", tmp_path / "ru")
            with monkeypatch.context() as patched:
                patched.setattr(run_state, "_last_change", lambda _: time.time() - 1000)  # it goes on writing
                assert read_run(tmp_path / "run").status == "running"
        finally:
            process.kill()
    assert not processes.writes("weir", tmp_path / "run")
    for quiet_s, status in ((10, "running"), (100, "lost")):  # it can be another host's
        age(tmp_path / "run", quiet_s)
        found = read_run(tmp_path / "run")
        assert found.status == status
    assert "none of its processes is on this host" in found.record["failure"]["what"]


def test_a_comparison_counts_no_running_run_as_failed(unended):
    running, lost = (read_run(unended(HERE, NO_PROCESS, quiet_s)) for quiet_s in (0, 100))
    group, remarks = usable(Group("a", [running, lost]), found := []), found
    assert group.missing == {"running": 1} and len(group.failed) == 1
    assert "none of its processes is there" in group.failed[0].why
    assert "Runs of a that are missing: 1 running." in remarks
    with pytest.raises(ReportError, match="1 running"):
        refuse_empty([usable(Group("a", [running]), [])])


def without_an_end(stored, of, name="so-far"):
    run = stored(of, name)
    with editing(run) as record:
        record.update(status="failed", failure={"what": "the run has not ended", "rank": None})
    return run


@pytest.mark.parametrize("of, tone, sentence", [
    ("measured", "none", r"Second \d+ of \d+: no buffer has overflowed and no set was late so far\."),
    ("overflow", "bad", r"Second \d+ of \d+: buffers overflow since second \d+( and sets are late since second \d+|)\.")
])
def test_what_is_bad_already_is_said_while_the_run_goes_on(stored, of, tone, sentence):
    run = without_an_end(stored, of)
    age(run, 0)
    assert report_command.main([str(run)]) == 0
    page = (run / "report.html").read_text()
    assert re.search(f'<div class="verdict {tone}"><strong>STILL RUNNING</strong>{sentence}', page)
    # What run.json has before the end are zeros.
    assert "Key figures" not in page and "Slowest and fastest ranks" not in page


def test_a_rank_that_stopped_is_the_slowest(stored):
    run = without_an_end(stored, "measured")
    path = sorted((run / "ranks").glob("*-consumer.csv"))[0]
    path.write_text(path.read_text().partition("\n")[0] + "\n")
    age(run, 0)
    shown = {tile["title"]: tile["text"] for tile in so_far.tiles(read_run(run))}
    assert shown["slowest consumer: consumer 0 on vm"] == "0 b/s"


def test_pages_of_runs_without_an_end(unended, capsys):
    for quiet_s, words, remark in ((0, "STILL RUNNING",
                                    "This run is still running: what it has written so far is shown."),
                                   (100, "LOST", "This run was lost: no process")):
        run = unended(HERE, NO_PROCESS, quiet_s)
        assert report_command.main([str(run)]) == 0
        said, page = capsys.readouterr().out, (run / "report.html").read_text()
        assert f": {words}\n  {remark}" in said and words in page and remark in page
        assert "has not ended" not in page and "failed" not in said
