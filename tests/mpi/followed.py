"""What weir-report says of a run that goes on, at its end, and when nothing is left that could write an end."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from weir_run import SKIPPED, Background, check, main

OPTIONS = ["--producers", "1", "--consumers", "2", "--rate", "20Mb/s", "--event-size", "256KiB", "--warmup", "0s",
           "--drain", "1s", "--idle", "nap", "--quiet"]
REPORT = str(Path(os.environ["WEIR"]).with_name("weir-report"))


def report(*words):
    done = subprocess.run([REPORT, *words], capture_output=True, text=True, timeout=60, check=False)
    check(done.returncode == 0, done.stderr)
    return done.stdout


def status_in(text):
    found = re.search(r'^weir_run_info\{.*status="([a-z]+)"', text, re.MULTILINE)
    return found and found[1]


def to_its_end():
    run = Background(4, *OPTIONS, "--duration", "5s")
    run.wait_for_seconds(1)
    target = Path("weir.prom")
    follow = subprocess.Popen([REPORT, "run", "--prometheus", str(target), "--every", "1"])
    try:
        seen = []
        while follow.poll() is None and time.monotonic() - run.begin < 60:
            text = target.read_text() if target.exists() else ""
            if text and (not seen or seen[-1] != status_in(text)):
                seen.append(status_in(text))
                check(("weir_run_sustained" in text) == (seen[-1] == "complete"),
                      f"a verdict, or none, of a run that is {seen[-1]}")
            time.sleep(0.05)
        check(follow.wait(timeout=1) == 0, f"weir-report ended with {follow.returncode}")
    finally:
        follow.kill()
    seen.append(status_in(target.read_text()))
    check(list(dict.fromkeys(seen)) == ["running", "complete"], f"the states seen: {seen}")
    run.end(20)


def on_the_page():
    run = Background(4, *OPTIONS, "--duration", "60s")
    run.wait_for_seconds(1)
    said = report("run")
    check("run: STILL RUNNING\n  This run is still running: what it has written so far is shown." in said
          and "failed" not in said,
          said)
    check("STILL RUNNING" in Path("run/report.html").read_text(), "the page does not say that the run goes on")
    kill_all(run)
    for file in Path("run").rglob("*"):  # a minute ago
        os.utime(file, (time.time() - 60, time.time() - 60))
    said = report("run")
    check("run: LOST\n  This run was lost: no process has written how it ended" in said, said)
    check(status_in(report("run", "--prometheus", "-", "--every", "1")) == "lost", "to follow a lost run has no end")


def kill_all(run):
    """Ranks, launcher and what would write the end: as when the host loses its power."""
    keepers = [int(entry.name)
               for entry in Path("/proc").iterdir() if entry.name.isdigit() and is_keeper(entry, run.pids().values())]
    check(len(keepers) == 1, f"processes that keep the record: {keepers}")
    for pid in (*keepers, run.process.pid, *run.pids().values()):
        os.kill(pid, signal.SIGKILL)
    run.end(10)


def is_keeper(entry, ranks):
    try:
        return b"--keep-record" in (entry / "cmdline").read_bytes() and os.path.realpath(entry / "cwd") == os.getcwd()
    except OSError:
        return False


if subprocess.run([REPORT, "--version"], capture_output=True, check=False).returncode != 0:
    print("skipped: no Python here has what weir-report needs")
    sys.exit(SKIPPED)
main(to_its_end, on_the_page)
