"""Measured runs that outlive consumers (--join, --on-failure continue): consumers that are killed and started again,
that stand still, that do not come back; every event done once or named. The death of any other rank still ends the run.
Skipped where this weir cannot use UCX."""

import atexit
import csv
import os
import signal
import subprocess
import time
from pathlib import Path

from joined import ENVIRONMENT, Joined, free_port, kill_all
from weir_run import MPIRUN, WEIR, Run, check, main, skip_without_ucx

ENDS_WITHIN_S = 10
LOAD = ("--rate", "60Mb/s", "--event-size", "200kB", "--interval", "250ms", "--warmup", "250ms", "--verify", "full",
        "--on-failure", "continue", "--silence-timeout", "2s")
PRODUCERS, CONSUMERS = 2, 3
FIRST_CONSUMER = 1 + PRODUCERS


def start(*options, duration="5s", **more):
    run = Joined(
        1 + PRODUCERS + CONSUMERS, *LOAD, "--producers", str(PRODUCERS), "--duration", duration, *options, **more)
    run.wait_for_seconds(1)
    return run


def outlived(run, losses, limit_s=40):
    """To the planned end, with ledgers that agree; returns the record."""
    ended = run.end(limit_s)
    report = f"\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
    check(ended.status == 0, f"exit status {ended.status}" + report)
    record = ended.json
    check(record["status"] == "complete", f"{record['status']}, {record['failure']}" + report)
    check(record["ledger"]["agrees"], f"{record['ledger']}" + report)
    recovery, totals = record["recovery"], record["totals"]
    check(recovery["loss_count"] == losses, f"lost {recovery['loss_count']} times, not {losses}" + report)
    check(totals["generated_bytes"] == totals["sent_bytes"] + totals["lost_bytes"], f"bytes unaccounted for: {totals}")
    check(totals["corrupt_events"] == 0 and totals["duplicate_events"] == 0, f"{totals}")
    check(record["seconds"] >= 4, f"{record['seconds']} seconds of producers and scheduler")
    # Who is killed while it writes into a queue in shared memory leaves a receiver that reads nothing more.
    paths = record["environment"]["ucx_paths"]
    check(set(paths) == {"control", "data"} and not any(name in str(paths) for name in ("posix", "sysv", "xpmem")),
          f"{paths}")
    check(recovery["redelivered_events"] >= recovery["doubtful_events"]
          and (len(recovery["broken_deliveries"]) == recovery["redelivered_events"]
               or recovery["redelivered_events"] > 100),
          f"{recovery}")
    return record


def restart(run):
    run.processes.append(run.start())


def killed_and_started_again():
    run = start(duration="6s")
    run.send(FIRST_CONSUMER + 1, signal.SIGKILL)
    time.sleep(1)
    restart(run)
    record = outlived(run, 1)
    [loss] = record["recovery"]["losses"]
    check(loss["consumer"] == 1 and loss["lost_at_s"] - loss["silent_since_s"] < 1.5, f"{loss}")
    check(1 <= loss["back_at_s"] - loss["lost_at_s"] < 3, f"{loss}")
    check(record["recovery"]["without_ledger"] == [], f"{record['recovery']}")
    check(record["totals"]["lost_events"] == 0, f"{record['totals']}")
    [path] = Path("run/ranks").glob(f"rank-*{FIRST_CONSUMER + 1}-consumer.csv")
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    seconds = [int(row["second"]) for row in rows]
    check(seconds == sorted(set(seconds)) and seconds[-1] >= 5, f"rows of both lives: {seconds}")
    check(int(rows[-2]["received_events"]) > 0, f"nothing was received after the return: {rows[-2]}")
    of_both = sum(int(row["received_events"]) for row in rows)
    entry = record["ranks"][FIRST_CONSUMER + 1]
    # The first process may have written its last row without having been able to report it.
    check(len(rows) - 1 <= entry["rows"] <= len(rows), f"{len(rows)} rows, {entry}")
    check(entry["received"]["events"] == of_both or entry["rows"] < len(rows), f"rows have {of_both} events, {entry}")
    check(entry["mean_bits_per_second"] > 0, f"{entry}")


def stopped_for_a_while():
    """Given up while it stands still; when it goes on, it begins again as a new process of the same number."""
    run = start("--streams", "2", duration="7s")
    pid = run.pid(FIRST_CONSUMER)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(3.5)
    os.kill(pid, signal.SIGCONT)
    [loss] = outlived(run, 1)["recovery"]["losses"]
    check(1.8 < loss["lost_at_s"] - loss["silent_since_s"] < 3, f"{loss}")
    check(loss["back_at_s"] is not None, f"{loss}")


def not_back():
    run = start("--streams", "4")
    run.send(FIRST_CONSUMER, signal.SIGKILL)
    record = outlived(run, 1)
    check(record["recovery"]["without_ledger"] == [0], f"{record['recovery']}")
    check(record["totals"]["lost_events"] == 0, f"{record['totals']}")


def all_of_them():
    """One after the other, at full load, over TCP."""
    ENVIRONMENT["UCX_TLS"] = "tcp,self"
    try:
        run = start(
            "--generation", "saturate", "--buffer", "4MB", "--streams", "4", "--queue-pairs", "3", duration="8s")
        for consumer in range(CONSUMERS):
            run.send(FIRST_CONSUMER + consumer, signal.SIGKILL)
            time.sleep(0.7)
            restart(run)
            time.sleep(1)
        record = outlived(run, CONSUMERS)
    finally:
        del ENVIRONMENT["UCX_TLS"]
    check(all(loss["back_at_s"] is not None for loss in record["recovery"]["losses"]),
          f"{record['recovery']['losses']}")


def none_left():
    """With no consumer at all, producers keep what they have until one is back."""
    run = start(duration="6s")
    for consumer in range(CONSUMERS):
        run.send(FIRST_CONSUMER + consumer, signal.SIGKILL)
    time.sleep(1.5)
    restart(run)
    record = outlived(run, CONSUMERS)
    check(record["totals"]["lost_events"] == 0 and len(record["recovery"]["without_ledger"]) == CONSUMERS - 1,
          f"{record['recovery']}")


def under_a_launcher():
    """Open MPI's mpirun leaves the other ranks alone with the right option; weir calls no MPI."""
    command = [MPIRUN, "--enable-recovery", "-np", "5", WEIR, "run", "--join", f"localhost:{free_port()}",
               "--out", "run", *LOAD, "--producers", "2", "--duration", "5s"]
    with open("out.txt", "w+",
              encoding="utf-8") as out, subprocess.Popen(command, stdout=out, stderr=out, env=ENVIRONMENT) as process:
        deadline = time.monotonic() + 30
        while not list(Path("run/ranks").glob("rank-*4-consumer.csv")) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1.5)
        run = Run("run", None, "", "", 0)
        os.kill(run.json["ranks"][4]["pid"], signal.SIGKILL)
        process.wait(40)
    run = Run("run", process.returncode, Path("out.txt").read_text(), "", 0)
    check(run.json["status"] == "complete" and run.json["ledger"]["agrees"],
          f"{run.json['failure']}\n{run.stdout[-3000:]}")
    check(run.json["recovery"]["loss_count"] == 1, f"{run.json['recovery']}")


def ended_by(rank, words):
    run = start(duration="60s")
    run.send(rank, signal.SIGKILL)
    ended = run.end(ENDS_WITHIN_S)
    check(ended.json["status"] == "failed", f"{ended.json['status']}")
    check(all(word in ended.json["failure"]["what"] for word in words), ended.json["failure"]["what"])


def killed_producer():
    ended_by(1, ["rank 1 (producer 0 on ", "gone"])


def killed_scheduler():
    ended_by(0, ["rank 0 (scheduler on ", "gone"])


def needs_a_start_without_mpi():
    done = subprocess.run(
        [WEIR, "run", "--on-failure", "continue"], capture_output=True, text=True, timeout=20, check=False)
    check(done.returncode == 2 and "--on-failure: continue needs --join HOST:PORT" in done.stderr, done.stderr)
    done = subprocess.run([WEIR, "run", "--join", "localhost:1", "--transport", "put", "--on-failure", "continue"],
                          capture_output=True, text=True, timeout=20, check=False)
    check(done.returncode == 2
          and "--on-failure: continue does not work with --transport put and get yet" in done.stderr,
          done.stderr)


atexit.register(kill_all)
skip_without_ucx()
main(killed_and_started_again, stopped_for_a_while, not_back, all_of_them, none_left, under_a_launcher, killed_producer,
     killed_scheduler, needs_a_start_without_mpi, at_once=3)
