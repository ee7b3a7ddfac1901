"""However a command in a virtual machine ends, the virtual machine ends with it; and what cannot work is refused.

WEIR_SOFT_ROCE=long: also runs that are interrupted, that take too long, and that lose their virtual machine.
"""

import contextlib
import os
import signal
import time
from pathlib import Path

from soft_roce_command import COMMAND, LONG, skip_unless_possible, soft_roce
from weir_run import WEIR, Background, check, main

SLEEP = ("--", "sleep", "1000")
RUN = ("--", WEIR, "run", "--out", "run", "--producers", "1", "--consumers", "2", "--rate", "4Mb/s",
       "--event-size", "64KiB", "--interval", "250ms", "--duration", "600s", "--warmup", "0s", "--idle", "nap",
       "--silence-timeout", "30s")


def start(*words):
    return Background(0, command=[COMMAND, *words])


def emulators():
    """Process ids of QEMU that carry this test's mark in their environment."""
    mark = f"WEIR_TEST_ID={os.environ.get('WEIR_TEST_ID', 'none')}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_machine = (path / "comm").read_text().startswith("qemu-system")
            if is_machine and mark in (path / "environ").read_bytes().split(b"\0"):
                found.append(int(path.name))
    return found


def wait_until(holds, what, limit_s=30):
    deadline = time.monotonic() + limit_s
    while not holds():
        check(time.monotonic() < deadline, f"not within {limit_s} s: {what}")
        time.sleep(0.05)


def killed_while_booting():
    for machines, number in (("1", signal.SIGKILL), ("2", signal.SIGTERM)):
        started = start("exec", "--machines", machines, *SLEEP)
        wait_until(lambda: len(emulators()) == int(machines), "QEMU runs")
        started.process.send_signal(number)
        check(started.process.wait(10) == (-number if number == signal.SIGKILL else 128 + number), "exit status")
        wait_until(lambda: not emulators(), f"QEMU ends with a command that got signal {number}")


def refusals():
    for words, status, said in (
            (("exec",), 2, "nothing to run after `--`"),
            (("exec", "--capture", "x.pcap", "--", "true"), 2, "one machine has no link"),
            (("exec", "--machines", "2", "--loss", "5", "--", "true"), 2, "'5' is not a percentage below 100%"),
            (("exec", "--memory", "2", "--", "true"), 2, "'2' is not a number above 0 with one of the units"),
            (("exec", "--write", "missing", "--", "true"), 2, "--write missing: not a directory"),
            (("exec", "--kernel", ".", "--", "true"), 2, "it has no boot/vmlinuz-VERSION and lib/modules/VERSION"),
            (("prepare", "--", "true"), 2, "this command runs nothing")):
        done = soft_roce(*words)
        check(done.returncode == status and said in done.stderr,
              f"{words}: exit status {done.returncode}, {done.stderr}")
    check(not emulators(), "QEMU runs although nothing was to be run")


def interrupted():
    """weir gets the signal, and its files are whole."""
    started = start("run", *RUN)
    started.wait_for_seconds(2, limit_s=300)
    started.process.send_signal(signal.SIGTERM)
    ended = started.end(60)
    check(ended.status in (1, 143), f"exit status {ended.status}")
    check(ended.json["status"] == "interrupted", f"{ended.json['status']}, {ended.json['failure']}")
    ended.rows()
    check(not emulators(), "QEMU runs on")


def too_long():
    done = soft_roce("exec", "--limit", "2s", *SLEEP)
    check(done.returncode == 1 and "--limit: sleep 1000 had not ended after 2 s" in done.stderr,
          f"{done.returncode}: {done.stderr}")
    check(not emulators(), "QEMU runs on")


def machine_lost():
    """A virtual machine that ends early ends the command, with a message."""
    started = start("run", "--machines", "2", *RUN)
    started.wait_for_seconds(1, limit_s=300)
    os.kill(max(emulators()), signal.SIGKILL)
    ended = started.end(30)
    check(ended.status == 1 and "ended by itself" in ended.stderr, f"{ended.status}: {ended.stderr}")
    check(not emulators(), "QEMU runs on")


skip_unless_possible()
main(killed_while_booting, refusals, *((interrupted, too_long, machine_lost) if LONG else ()))
