"""Whatever is killed, and whenever: nothing stays behind, and another lab can be made."""

import os
import signal
import time

from lab_command import (LAB, NAME, STATE, check_nothing_left, lab, lab_or_fail, lab_processes, machine,
                         skip_unless_possible, take_down, wait_until)
from weir_run import Background, check, main

SMALL = ["--producers", "1", "--consumers", "2"]
LONG_RUN = ["--", "weir", "run", "--out", "run", "--rate", "10Mb/s", "--event-size", "64KiB", "--interval", "250ms",
            "--duration", "60s", "--warmup", "0s"]


def start(*words):
    """bench/lab in the background."""
    return Background(0, command=[LAB, words[0], "--name", NAME, *words[1:]])


def killed_while_coming_up():
    before = machine()
    try:
        for delay_s in (0, 0.1, 0.2, 0.4):
            process = start("up", "--producers", "20", "--consumers", "40").process
            wait_until((STATE / NAME).exists, "the lab's directory")
            time.sleep(delay_s)
            process.kill()
            process.wait()
            lab_or_fail("down")
            check_nothing_left(before)
        lab_or_fail("up", *SMALL)
        lab_or_fail("down")
        check_nothing_left(before)
    finally:
        take_down()


def mpirun_killed():
    before = machine()
    try:
        lab_or_fail("up", *SMALL)
        run = start("run", *LONG_RUN)
        run.wait_for_seconds(1, limit_s=20)
        # Open MPI 5's mpirun becomes prterun.
        mpirun = [pid for pid, words in lab_processes().items()
                  if os.path.basename(words.split()[0]) in ("mpirun", "prterun")]
        check(len(mpirun) == 1, f"{len(mpirun)} processes mpirun; all: {lab_processes()}")
        os.kill(mpirun[0], signal.SIGKILL)
        check(run.end(limit_s=10).status == 137, "the exit status of a killed mpirun is lost")
        keeper_only = lab_processes()
        check(len(keeper_only) == 1, f"processes left of the run: {keeper_only}")
        lab_or_fail("down")
        check_nothing_left(before)
    finally:
        take_down()


def run_and_lab_killed():
    before = machine()
    try:
        lab_or_fail("up", *SMALL)
        run = start("run", *LONG_RUN)
        run.wait_for_seconds(1, limit_s=20)
        run.process.kill()
        wait_until(lambda: len(lab_processes()) == 1,
                   f"the end of all processes of a killed run; left: {lab_processes()}")

        # `down` while a run is under way ends it.
        os.rename("run", "killed")
        run = start("run", *LONG_RUN)
        run.wait_for_seconds(1, limit_s=20)
        lab_or_fail("down")
        run.end(limit_s=5)
        check_nothing_left(before)
    finally:
        take_down()


def with_killed_and_interrupted():
    before = machine()
    try:
        process = start("with", *SMALL, *LONG_RUN)
        process.wait_for_seconds(1, limit_s=20)
        process.process.kill()
        wait_until(lambda: not lab_processes(), "the end of all processes of a killed `with`")
        # Its directory is all that is left, and the next lab of this name takes that away.
        check((STATE / NAME).exists(), "a killed `with` cannot have removed its directory")
        wait_until(lambda: "is dead" in lab("status").stdout, "a dead lab that says so")
        os.rename("run", "killed")

        process = start("with", *SMALL, "-q", *LONG_RUN)
        process.wait_for_seconds(1, limit_s=20)
        process.process.send_signal(signal.SIGTERM)
        process.end(limit_s=10)
        check_nothing_left(before)
    finally:
        take_down()


skip_unless_possible()
main(killed_while_coming_up, mpirun_killed, run_and_lab_killed, with_killed_and_interrupted)
