"""Runs that start without MPI (--join): to the planned end by hand and under a launcher; strangers and wrong tokens are
refused; ranks that are killed end the run. Skipped where this weir cannot use UCX."""

import atexit
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

from joined import ENVIRONMENT, TOKEN, Joined, free_port, kill_all
from weir_run import MPIRUN, WEIR, Run, check, check_complete, main, skip_without_ucx

ENDS_WITHIN_S = 10
LOAD = ("--rate", "40Mb/s", "--event-size", "256kB", "--interval", "250ms", "--warmup", "250ms")


def by_hand():
    run = Joined(6, *LOAD, "--producers", "2", "--duration", "1s", "--verify", "full").end(30)
    check(run.status == 0, f"exit status {run.status}\n{run.stderr}")
    check_complete(run, 6)
    check(run.json["plan"]["engine"] == "ucx" and run.json["environment"]["job_ranks"] == 6,
          f"{run.json['environment']}")
    check(run.stderr == "", run.stderr)
    listening = [rank["listening"] for rank in run.json["ranks"]]  # rank 0's own, and UCX's of all
    check(all("tcp " in sockets for sockets in listening), listening)
    port = run.json["environment"]["options_given"]
    port = next(option["value"] for option in port if option["option"] == "join").rpartition(":")[2]
    check(f":{port}" in listening[0] and f":{port}" not in listening[1], (port, listening))


def an_address_that_others_cannot_come_to():
    """Other hosts would wait in vain, and rank 0 for them: it says so before it waits."""
    for host, options, says in (("0.0.0.0", (), True), ("127.0.0.1", ("--producer-hosts", "eb01"), True),
                                ("127.0.0.1", (), False)):
        with subprocess.Popen([WEIR, "run", "--join", f"{host}:{free_port()}", "--ranks", "3", *options],
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=ENVIRONMENT) as rank_0:
            try:
                first = rank_0.stderr.readline()
            finally:
                rank_0.kill()
        check(says == (f"--join: {host} is not an address that other hosts can come to" in first), first)


def under_a_launcher():
    """All processes have the same command line; numbers and count of ranks are the launcher's."""
    command = [MPIRUN, "-np", "5", WEIR, "run", "--join", f"localhost:{free_port()}", "--out", "run", *LOAD,
               "--duration", "1s"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False)
    run = Run("run", done.returncode, done.stdout, done.stderr, 0)
    check(run.status == 0, f"exit status {run.status}\n{run.stderr}")
    check_complete(run, 5)


def token_in_a_file():
    Path("token").write_text(TOKEN + "\nmore\n", encoding="utf-8")
    Path("token").chmod(0o640)
    run = Joined(3, *LOAD, "--duration", "1s", missing=1)
    without = {name: value for name, value in os.environ.items() if name != "WEIR_JOIN_TOKEN"}
    run.processes.append(run.start("--join-token", "token", environment=without))
    check(run.end(30).status == 0, run.said())
    check("others than its owner may read 'token'" in run.said(), run.said())


def too_many():
    done = subprocess.run([WEIR, "run", "--join", f"localhost:{free_port()}", "--ranks", "1001"], capture_output=True,
                          text=True, timeout=20, env=ENVIRONMENT, check=False)
    check(done.returncode == 2 and "--join: 1001 ranks, and at most 1000 can join" in done.stderr, done.stderr)


def refused(run, message, *options, environment=None):
    done = subprocess.run([WEIR, "run", "--join", run.address, *options], capture_output=True, text=True, timeout=20,
                          env=environment or ENVIRONMENT, check=False)
    check(done.returncode != 0 and message in done.stderr, f"exit status {done.returncode}: {done.stderr}")


def strangers():
    """None of them gets in, or holds anybody up."""
    run = Joined(3, *LOAD, "--duration", "4s")
    host, port = run.address.split(":")
    run.wait_for_seconds(1)
    sockets = []
    for text in (b"GET / HTTP/1.0\r\n\r\n", b"", b"WRJ1" + b"\xff" * 60, os.urandom(4000)):
        sockets.append(socket.create_connection((host, int(port)), timeout=5))
        sockets[-1].sendall(text)
    ended = run.end(20)
    check(ended.status == 0, f"exit status {ended.status}\n{ended.stderr}")
    check_complete(ended, 3)


def wrong_tokens():
    run = Joined(4, *LOAD, "--duration", "1s", missing=1)
    refused(run, "the token is not that of rank 0",
            environment={**ENVIRONMENT, "WEIR_JOIN_TOKEN": "another token for tests"})
    refused(run, "there is a rank 9 already, or none is expected",
            environment={**ENVIRONMENT, "OMPI_COMM_WORLD_RANK": "9"})
    refused(run, "its launcher has started 5 ranks, and rank 0 waits for 4",
            environment={**ENVIRONMENT, "OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "5"})
    run.processes.append(run.start())
    check(run.end(30).status == 0, run.said())


def disturbed(rank, number, words, limit_s=ENDS_WITHIN_S):
    run = Joined(6, *LOAD, "--producers", "2", "--duration", "60s", "--silence-timeout", "2s")
    run.wait_for_seconds(1)
    pid = run.pid(rank)
    run.send(rank, number)
    ended = run.end(limit_s, stopped=[pid])
    check(ended.json["status"] == "failed", f"{ended.json['status']}, {ended.json['failure']}")
    what = ended.json["failure"]["what"]
    check(all(word in what for word in words), what)


def killed_consumer():
    disturbed(4, signal.SIGKILL, ["rank 4 (consumer 1 on ", "gone"])


def killed_producer():
    disturbed(1, signal.SIGKILL, ["rank 1 (producer 0 on ", "gone"])


def killed_scheduler():
    disturbed(0, signal.SIGKILL, ["rank 0 (scheduler on ", "gone"])


def aborted_consumer():
    disturbed(4, signal.SIGABRT, ["rank 4 (consumer 1 on ", "ended by abort(), as UCX"])


def stopped_consumer():
    disturbed(5, signal.SIGSTOP, ["rank 5 (consumer 2 on ", "not responded for 2 s"])


def scheduler_that_comes_back():
    """It finds that the others have gone. What they wrote stands: it was itself that stood still."""
    run = Joined(4, *LOAD, "--duration", "60s", "--silence-timeout", "2s")
    run.wait_for_seconds(1)
    scheduler = run.processes[0]
    scheduler.send_signal(signal.SIGSTOP)
    for process in run.processes[1:]:
        process.wait(ENDS_WITHIN_S)
    before = run.record()["failure"]
    scheduler.send_signal(signal.SIGCONT)
    check(scheduler.wait(ENDS_WITHIN_S) == 1, run.said())
    check(before["rank"] == 0 and "has not responded for 2 s" in before["what"], f"{before}")
    check(run.record()["failure"] == before, f"{run.record()['failure']} instead of {before}")
    check("this rank stood still" in run.said() and "is gone" not in run.said(), run.said())


def stopped_before_the_introduction():
    """One of the processes that wait for the last one, which comes later than the silence time-out."""
    run = Joined(6, *LOAD, "--producers", "2", "--duration", "1s", "--silence-timeout", "1s", missing=1)
    time.sleep(2.5)
    stopped = run.processes[2]
    stopped.send_signal(signal.SIGSTOP)
    run.processes.append(run.start())
    ended = run.end(ENDS_WITHIN_S, stopped=[stopped.pid])
    check(ended.status == 1, f"exit status {ended.status}")
    check(re.search(r"rank 0 has had no sign of life of rank (\d) for 1 s: .*; no answer from rank \1 ",
                    ended.stderr),
          ended.stderr)


def late_to_join():
    """Whoever waits for the last process, which comes later than the silence time-out, misses nobody."""
    run = Joined(3, *LOAD, "--duration", "1s", "--silence-timeout", "1s", missing=1)
    time.sleep(2.5)
    run.processes.append(run.start())
    check(run.end(30).status == 0, run.said())


def stopped_outside_the_loop():
    """Where no heartbeats are: before the warm-up, or as the record is made."""
    for rank in (0, 3):
        run = Joined(6, *LOAD, "--producers", "2", "--duration", "2s", "--silence-timeout", "2s",
                     directory=f"run{rank}")
        deadline = time.monotonic() + 20
        while run.record() is None:
            check(time.monotonic() < deadline, run.said)
            time.sleep(0.005)
        pid = run.pid(rank)
        run.send(rank, signal.SIGSTOP)
        ended = run.end(ENDS_WITHIN_S, stopped=[pid])
        check(ended.json["status"] == "failed" and ended.json["failure"]["rank"] == rank, f"{ended.json['failure']}")


def keeper_of(pid):
    """The process that writes the record when rank 0 cannot."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = path.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if name == "run-record" and int(fields.split()[1]) == pid:
            return int(path.parent.name)
    raise AssertionError("rank 0 has no keeper")


def all_killed_at_once():
    """As MPICH's launcher does when one rank ends: the first is named, whatever its number, and whenever somebody can
    look."""
    run = Joined(5, *LOAD, "--producers", "2", "--duration", "60s")
    run.wait_for_seconds(1)
    pids = [run.pid(rank) for rank in range(5)]
    keeper = keeper_of(pids[0])
    for pid in [keeper, *pids]:
        os.kill(pid, signal.SIGSTOP)
    for rank in (3, 1, 0, 2, 4):
        os.kill(pids[rank], signal.SIGKILL)
        next(process for process in run.processes if process.pid == pids[rank]).wait(10)
    os.kill(keeper, signal.SIGCONT)
    deadline = time.monotonic() + 10
    while run.record()["failure"] is None or run.record()["failure"]["rank"] is None:
        check(time.monotonic() < deadline, f"{run.record()['failure']}")
        time.sleep(0.05)
    check(run.record()["failure"]["rank"] == 3, f"{run.record()['failure']}")


def interrupted():
    run = Joined(4, *LOAD, "--duration", "60s")
    run.wait_for_seconds(1)
    run.processes[0].send_signal(signal.SIGUSR1)  # as a batch system before the end of a job's time
    ended = run.end(ENDS_WITHIN_S)
    check(ended.json["status"] == "interrupted" and "signal 10" in ended.json["failure"]["what"],
          f"{ended.json['status']}, {ended.json['failure']}")
    check(ended.status == 138, f"exit status {ended.status}")


atexit.register(kill_all)
skip_without_ucx()
main(by_hand, an_address_that_others_cannot_come_to, under_a_launcher, token_in_a_file, too_many, strangers,
     wrong_tokens, killed_consumer, killed_producer, killed_scheduler, aborted_consumer, stopped_consumer,
     scheduler_that_comes_back, stopped_before_the_introduction, late_to_join, stopped_outside_the_loop,
     all_killed_at_once, interrupted, at_once=2)
