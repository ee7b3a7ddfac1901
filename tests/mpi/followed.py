"""What weir-report says of a run that goes on, at its end, and when nothing is left that could write an end."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
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


class Served:
    """weir-report --serve of the run, and who asks it."""

    def __enter__(self):
        self.process = subprocess.Popen([REPORT, "run", "--serve"], stdout=subprocess.PIPE, text=True)
        self.address, self.token = re.match(r"page +(.*)/\?token=(.*)", self.process.stdout.readline()).groups()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def get(self, path):
        with urllib.request.urlopen(f"{self.address}{path}?token={self.token}", timeout=60) as answer:
            return answer.read().decode(), answer.headers.get("Refresh")


def to_its_end():
    run = Background(4, *OPTIONS, "--duration", "15s")  # on a busy machine the server begins late
    run.wait_for_seconds(1)
    with Served() as served:
        page, refresh = served.get("/")
        check("STILL RUNNING" in page and re.search(r"Second \d+ of 15: ", page), "what the page begins with")
        check(refresh and int(refresh) >= 5, f"the page of a run that goes on asks again after {refresh}")
        seen = []
        while seen[-1:] != ["complete"] and time.monotonic() - run.begin < 60:
            text, _ = served.get("/metrics")
            seen.append(status_in(text))
            check(("weir_run_sustained" in text) == (seen[-1] == "complete"),
                  f"a verdict, or none, of a run that is {seen[-1]}")
            time.sleep(0.2)
        check(list(dict.fromkeys(seen)) == ["running", "complete"], f"the states seen: {seen}")
        until_page(served, lambda page, refresh: "SUSTAINED" in page and refresh is None)
    run.end(30)


def until_page(served, holds):
    """What is kept for a while may be older than the run's state."""
    deadline = time.monotonic() + 30
    while not holds(*served.get("/")):
        check(time.monotonic() < deadline, "the page that was waited for")
        time.sleep(0.5)


def on_the_page():
    run = Background(4, *OPTIONS, "--duration", "60s")
    run.wait_for_seconds(1)
    said = report("run")
    check("run: STILL RUNNING\n  This run is still running: what it has written so far is shown." in said
          and "failed" not in said,
          said)
    check("STILL RUNNING" in Path("run/report.html").read_text(), "the page does not say that the run goes on")
    with Served() as served:
        check(status_in(served.get("/metrics")[0]) == "running", "the run goes on")
        kill_all(run)
        until_page(served, lambda page, refresh: "LOST" in page and refresh is None)
        check(status_in(served.get("/metrics")[0]) == "lost", "metrics of a run whose processes are gone")
    for file in Path("run").rglob("*"):  # a minute ago
        os.utime(file, (time.time() - 60, time.time() - 60))
    said = report("run")
    check("run: LOST\n  This run was lost: no process has written how it ended" in said, said)
    check(status_in(report("run", "--prometheus", "-")) == "lost", "metrics of a lost run")


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
