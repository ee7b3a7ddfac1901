"""A host that is lost in mid-run, or a rank on another host: the run ends, and its message and run.json name the host.
Arguments: Open MPI's path to TCP; `cut`, `kill`, or `late` (cut, while its rank is stopped: it is the
last to find out); the host whose link is cut, or whose rank is killed."""

import json
import os
import signal
import sys
import time

from lab_command import (
    LAB, NAME, check_nothing_left, lab_or_fail, lab_processes, machine, skip_unless_possible, take_down)
from weir_run import Background, Failed, check, check_status, main

PML, HOW, HOST = sys.argv[1:]
SILENCE_S = 3
# After that, mpirun retransmits to the lost host for some 13 s (see bench/lab), and ends what is left for 5 s more.
ENDS_WITHIN_S = 60


def cut():
    lab_or_fail("exec", "switch", "--", "ip", "link", "set", "dev", HOST, "down")


def stop_and_cut():
    """In this order, because a rank without its link ends by itself after SILENCE_S, and finding and stopping it can
    take longer than that."""
    pid = pid_on_host()
    os.kill(pid, signal.SIGSTOP)
    cut()
    time.sleep(1.5)  # after more than a second without its turn, a rank begins to wait anew
    os.kill(pid, signal.SIGCONT)


def kill():
    os.kill(pid_on_host(), signal.SIGKILL)


def pid_on_host():
    """The process of the rank that runs on the host; the lab's names of hosts are those of its processes."""
    rank = str([host["name"] for host in json.loads(lab_or_fail("status", "--json"))[0]["hosts"]
                if host["role"] != "login"].index(HOST))
    for pid, words in lab_processes().items():
        with open(f"/proc/{pid}/environ", encoding="utf-8") as environment:
            if " run " in words and f"OMPI_COMM_WORLD_RANK={rank}" in environment.read().split("\0"):
                return pid
    raise Failed(f"rank {rank} is not among {lab_processes()}")


def watch_what_is_written(run):
    """Until the end of the run: what is right in run.json is not overwritten by a rank that has less of it."""
    right = False
    deadline = time.monotonic() + ENDS_WITHIN_S
    while run.process.poll() is None and time.monotonic() < deadline:
        failure = json.loads((run.directory / "run.json").read_text())["failure"]
        check(failure["host"] == HOST or not right,
              f"the host was {HOST}, and then run.json was overwritten: {failure}")
        right = failure["host"] == HOST
        time.sleep(0.02)


def run_ends_and_names_the_host():
    before = machine()
    try:
        lab_or_fail("up", "--producers", "2", "--consumers", "3", "--link", "100Mb/s")
        run = Background(0,
                         command=[LAB, "run", "--name", NAME, "--pml", PML, "--", "weir", "run", "--out", "run",
                                  "--rate", "20Mb/s", "--event-size", "256KiB", "--interval", "500ms",
                                  "--duration", "120s", "--warmup", "0s", "--silence-timeout", f"{SILENCE_S}s"])
        run.wait_for_seconds(1, limit_s=30)
        {"cut": cut, "kill": kill, "late": stop_and_cut}[HOW]()
        watch_what_is_written(run)
        ended = run.end(ENDS_WITHIN_S)

        check(ended.json is not None and ended.json["status"] == "failed",
              f"run.json: {ended.json and ended.json['failure']}")
        failure = ended.json["failure"]
        check(failure["host"] == HOST, f"the host is {HOST}, but blamed is: {failure}")
        check(f" on {HOST})" in failure["what"], f"{HOST} is not named: {failure['what']}")
        check(f"weir run: {failure['what']}" in ended.stderr,
              f"stderr does not say '{failure['what']}': {ended.stderr}")
        # mpirun reports a killed rank itself, unless MPI_Abort of a rank that misses it comes first.
        check_status(ended, *((137, 1) if HOW == "kill" else (1,)))
        for name, rows in ended.rows().items():
            check(any(row["phase"] == "measure" for row in rows), f"{name} has lost its seconds")
        keeper_only = lab_processes()
        check(len(keeper_only) == 1, f"processes left of the run: {keeper_only}")
        lab_or_fail("down")
        check_nothing_left(before)
    finally:
        take_down()


skip_unless_possible()
main(run_ends_and_names_the_host)
