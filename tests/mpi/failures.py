"""What must happen when a run cannot go on: it ends within 10 s, reports what happened and where, leaves whole rows and
a run.json with the right status, and no processes (the test launcher looks for those)."""

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

from weir_run import Background, Run, check, check_status, main, mpi_command, named

LAYOUT = ["--producers", "3", "--consumers", "4", "--event-size", "1MiB", "--duration", "60s"]
OPTIONS = [*LAYOUT, "--rate", "50Mb/s", "--warmup", "1s"]
ENDS_WITHIN_S = 10


def disturbed(disturb, expect_status, expect_words, statuses=None, options=OPTIONS):
    run = Background(8, *options)
    run.wait_for_seconds(1)
    disturb(run)
    ended = run.end(ENDS_WITHIN_S)
    check(ended.json is not None, "no run.json")
    check(ended.json["status"] == expect_status, f"status {ended.json['status']}: {ended.json['failure']}")
    what = ended.json["failure"]["what"]
    for word in expect_words:
        check(word in what, f"'{word}' is not in run.json's failure: {what}")
    if expect_status == "failed":
        # On a busy machine the deputy may report the same as the leader. On a killed rank the launcher prints its own
        # message, and Open MPI 5 may then pass on nothing more.
        said = {line.strip("\0") for line in ended.stderr.splitlines() if "weir run:" in line}
        by_launcher = ended.status == 128 + signal.SIGKILL and re.search(
                rf"\brank {ended.json['failure']['rank']} .*signal 9", ended.stderr.replace("\n", " "))
        check(said == {f"weir run: {what}"} or (by_launcher and not said),
              f"stderr does not say '{what}' alone: {ended.stderr}")
    check(ended.status != 0, "exit status 0")
    check(not (ended.directory / "traffic.csv").exists(), "traffic without the accounts of all ranks")
    if statuses:
        check_status(ended, *statuses)
    for name, rows in ended.rows().items():
        check(len([row for row in rows if row["phase"] == "measure"]) >= 1, f"{name} has lost its seconds")
    return ended


def killed_scheduler():
    # as of a process that was killed while it wrote
    left = Path(f"run/traffic.csv.{socket.gethostname()}-{2**22 + 1}.tmp")

    def kill(run):
        left.touch()
        run.send(0, signal.SIGKILL)

    disturbed(kill, "failed", ["rank 0 (scheduler on ", "gone"])
    deadline = time.monotonic() + ENDS_WITHIN_S
    while left.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    check(not left.exists(), f"{left} is still there")


def signalled(rank, number, words, *options):
    disturbed(lambda run: run.send(rank, number), "failed", words, options=options or OPTIONS)


def one_sided(transport):
    """Others reach into a rank's memory or socket when it is killed or stopped."""
    return [*LAYOUT, "--transport", transport, "--rate", "400Mb/s", "--generation", "steady", "--warmup", "0s",
            "--silence-timeout", "2s"]


# mpirun reports the death of a rank itself: 128 + SIGKILL.
SIGNALLED = (
    named("killed_consumer", signalled, 5, signal.SIGKILL, ["rank 5 (consumer 1 on ", "gone"]),
    named("killed_producer", signalled, 2, signal.SIGKILL, ["rank 2 (producer 1 on ", "gone"]),
    named("stopped_consumer", signalled, 7, signal.SIGSTOP, ["rank 7 (consumer 3 on ", "not responded for 5 s"]),
    named("stopped_scheduler", signalled, 0, signal.SIGSTOP, ["rank 0 (scheduler on ", "not responded for 5 s"]),
    named("put_to_a_killed_consumer", signalled, 5, signal.SIGKILL, ["rank 5 (consumer 1 on ", "gone"],
          *one_sided("put")),
    named("put_to_a_stopped_consumer", signalled, 7, signal.SIGSTOP,
          ["rank 7 (consumer 3 on ", "not responded for 2 s"], *one_sided("put")),
    named("get_from_a_killed_producer", signalled, 2, signal.SIGKILL, ["rank 2 (producer 1 on ", "gone"],
          *one_sided("get")),
    named("get_from_a_stopped_producer", signalled, 3, signal.SIGSTOP,
          ["rank 3 (producer 2 on ", "not responded for 2 s"], *one_sided("get")),
    # On a busy machine its socket may refuse datagrams before somebody looks for dead processes.
    named("datagrams_to_a_killed_consumer", signalled, 5, signal.SIGKILL, ["rank 5 (consumer 1 on "],
          *one_sided("datagram")),
)


def terminated_rank():
    ended = disturbed(lambda run: run.send(6, signal.SIGTERM), "interrupted", ["signal 15"], statuses=[143])
    # Unless the machine is so busy that mpirun killed the leader before it had written, and its keeper wrote.
    check(ended.json["totals"]["received_events"] > 0 or "run directory" not in ended.stdout,
          "the totals of the completed seconds are missing")


def terminated_mpirun():
    # mpirun's own exit status after a signal is 1 with Open MPI 4.1; the ranks leave with 143.
    disturbed(lambda run: run.process.send_signal(signal.SIGTERM), "interrupted", ["signal 15"])


def interrupted_mpirun():
    disturbed(lambda run: run.process.send_signal(signal.SIGINT), "interrupted", ["signal"])


def with_its_end(directory):
    """The run, when its record has an end: that may be written a second after mpirun has ended."""
    deadline = time.monotonic() + ENDS_WITHIN_S
    while (ended := Run(directory, 0, "", "",
                        0)).json["failure"]["what"] == "the run has not ended" and time.monotonic() < deadline:
        time.sleep(0.05)
    return ended


def ended_at_once(end):
    """mpirun leaves, and its ranks have no instant to write anything: with Open MPI 4.1 they get no signal at all."""
    run = Background(8, *OPTIONS)
    run.wait_for_seconds(1)
    end(run.process)
    run.end(ENDS_WITHIN_S)
    ended = with_its_end(run.directory)
    what = ended.json["failure"]["what"]
    check(ended.json["status"] == "interrupted", f"status {ended.json['status']}: {what}")
    check("signal " in what or "the launcher (process " in what, what)


def interrupted_twice():
    def twice(mpirun):
        mpirun.send_signal(signal.SIGINT)
        time.sleep(0.05)
        mpirun.send_signal(signal.SIGINT)

    ended_at_once(twice)


def killed_mpirun():
    ended_at_once(lambda mpirun: mpirun.kill())


def all_killed_at_once():
    run = Background(8, *OPTIONS)
    wait_for_record(run)
    for pid in run.pids().values():
        os.kill(pid, signal.SIGSTOP)
    for pid in run.pids().values():
        with contextlib.suppress(ProcessLookupError):  # the launcher kills the others when it sees the first one end
            os.kill(pid, signal.SIGKILL)
    run.end(ENDS_WITHIN_S)
    ended = with_its_end(run.directory)
    # Launchers end as soon as their ranks have: a keeper that does not get a processor in between cannot tell who was
    # first, and names the launcher then.
    check("gone" in ended.json["failure"]["what"], f"{ended.json['failure']}")
    check(ended.json["status"] in ("failed", "interrupted"), ended.json["status"])


def wait_for_record(run):
    """Before the run has measured anything."""
    deadline = time.monotonic() + 60
    while not (run.directory / "run.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def log_cannot_grow():
    # What a full disk is to one rank: its next row cannot be written.
    def limit(run):
        pid = run.pids()[5]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (100, 100))

    ended = disturbed(limit, "failed", ["rank 5 (consumer 1 on ", "rank-00005-consumer.csv", "File too large"],
                      statuses=[1])
    check(ended.seconds < 5, f"took {ended.seconds:.1f} s")


def no_window():
    # Open MPI keeps the windows of ranks on one host in a file. One rank makes it, and the others wait for that.
    ended = Background(8, *OPTIONS, "--transport", "put",
                       # its start is in it
                       environment={"OMPI_MCA_osc_sm_backing_directory": "/nonexistent"}).end(3 * ENDS_WITHIN_S)
    check_status(ended, 1)
    lines = [line for line in ended.stderr.splitlines() if line.startswith("weir")]
    check(len(lines) == 1 and "--transport put: MPI made no window" in lines[0], f"message: {lines}")
    check(ended.json["status"] == "failed" and "made no window" in ended.json["failure"]["what"], f"{ended.json}")


def unwritable_directory():
    if os.geteuid() == 0:
        target = "/proc/weir-cannot-write-here"
    else:
        Path("locked").mkdir(mode=0o500)
        target = "locked/run"
    ended = subprocess.run(mpi_command(8, OPTIONS, directory=target), capture_output=True, text=True, timeout=30,
                           check=False)
    check(ended.returncode == 2, f"exit status {ended.returncode}: {ended.stderr}")
    lines = [line for line in ended.stderr.splitlines() if line.startswith("weir")]
    check(len(lines) == 1 and "--out" in lines[0] and target in lines[0], f"message: {lines}")


main(*SIGNALLED, killed_scheduler, terminated_rank, terminated_mpirun, interrupted_mpirun, interrupted_twice,
     killed_mpirun, all_killed_at_once, log_cannot_grow, no_window, unwritable_directory, at_once=3)
