#!/usr/bin/env python3
"""A job of several groups: each is a run of its own, the record of the job has the sum, and a group that fails does not
hide the others."""

import signal
from pathlib import Path

from weir_run import MPIRUN, WEIR, Background, Run, check, check_complete, check_status, main, weir

GROUPS = 2  # unless it matters that there are more: to start MPI is most of what these runs cost
RANKS = 5  # of a group
FIRST_RANK = {"scheduler": 0, "producer": 1, "consumer": 3}
LAYOUT = ("--producers", "2", "--consumers", "2", "--event-size", "100kB", "--rate", "8Mb/s", "--warmup", "500ms")


def group_run(directory, group):
    return Run(Path(directory) / f"group-{group:02}", 0, "", "", 0)


def all_end_well():
    groups = 3
    run = weir(groups * RANKS, *LAYOUT, "--groups", str(groups), "--duration", "2s", "--interval", "2s", "--seed", "5")
    check(run.status == 0, f"exit {run.status}: {run.stderr}")
    job = run.json
    check(job["schema"] == "weir-groups/1" and job["status"] == "complete", f"{job['status']}: {job['failure']}")
    check(job["verdict"]["sustained"] is True and job["seconds"] == 2, f"{job['verdict']}")
    error_us = job["clock"]["error_us"]
    check(error_us is not None and 0 < error_us < 1e6, f"after {run.seconds:.1f} s: {job['clock']}\n{run.stderr}")
    runs = [group_run(run.directory, group) for group in range(groups)]
    for group, one in enumerate(runs):
        check_complete(one, RANKS)
        entry = job["groups"][group]
        check(entry["totals"] == one.json["totals"] and entry["verdict"] == one.json["verdict"],
              f"group {group}: {entry}")
        check(one.json["plan"]["seed"] == str(5 + group), f"group {group}: seed {one.json['plan']['seed']}")
        check(one.json["environment"]["job_ranks"] == RANKS, f"{one.json['environment']}")
    for name in ("generated_bytes", "received_bytes", "received_events"):
        check(job["totals"][name] == sum(one.json["totals"][name] for one in runs), f"{name}: {job['totals'][name]}")
    check("Sustained in all 3 groups." in run.stdout and "all 3" in run.stdout, run.stdout)


def a_late_group_is_explained():
    """Producers that are held at three quarters of their rate are late on every machine."""
    late = ("--producers", "2", "--consumers", "2", "--event-size", "1MB", "--rate", "400Mb/s", "--warmup", "500ms",
            "--interval", "400ms", "--shaping", "bucket:300Mb/s", "--duration", "2s")
    run = weir(GROUPS * RANKS, *late, "--groups", str(GROUPS))
    check(run.status == 0, f"exit {run.status}: {run.stderr}")
    for group in range(GROUPS):
        verdict = group_run(run.directory, group).json["verdict"]
        check(verdict["observed"] and verdict["causes"], f"group {group} was not explained: {verdict}")
        # On a machine that has other things to do ranks stand still.
        check(verdict["causes"][0]["what"] in ("shaping", "stalled-rank"), f"group {group}: {verdict['causes']}")
        check(run.json["groups"][group]["verdict"] == verdict, f"group {group}: {run.json['groups'][group]}")


def ranks_that_cannot_be_divided():
    run = weir(3 * RANKS + 1, *LAYOUT, "--groups", "3")
    check_status(run, 2)
    check("16 ranks cannot be divided into 3 equal groups; start 15 or 18 ranks" in run.stderr, run.stderr)


def hosts_without_a_group():
    run = weir(2 * RANKS, "--group-hosts", "elsewhere1", "--group-hosts", "elsewhere2")
    check_status(run, 2)
    check(run.stderr.count("weir run: --group-hosts: there are ranks on ") == 1, run.stderr)


def too_few_ranks_in_a_group():
    run = weir(2 * RANKS, "--groups", "2", "--producers", "3", "--consumers", "4")
    check_status(run, 2)
    check(run.stderr.count("weir run:") == 1, run.stderr)


def disturbed(group, role, number, limit_s, *options):
    run = Background(GROUPS * RANKS, *LAYOUT, "--groups", str(GROUPS), *options)
    for one in range(GROUPS):
        run.wait_for_seconds(2, rows=f"group-{one:02}/ranks")
    run.send(group * RANKS + FIRST_RANK[role], number)
    ended = run.end(limit_s)
    check(ended.json is not None and ended.json["status"] == "failed", f"{ended.json and ended.json['status']}")
    check(ended.json["failure"]["group"] == group, f"{ended.json['failure']}")
    check(ended.status != 0, "exit status 0")
    return ended


def killed_consumer():
    """mpirun ends the job with the first process that ends early: the other groups are interrupted, also in their
    records."""
    ended = disturbed(1, "consumer", signal.SIGKILL, 20, "--duration", "60s")
    check("gone" in ended.json["failure"]["what"], f"{ended.json['failure']}")
    entry = ended.json["groups"][0]
    check(entry["status"] == "interrupted" and entry["totals"]["received_events"] > 0, f"{entry}")


def killed_leader_of_the_job():
    ended = disturbed(0, "scheduler", signal.SIGKILL, 20, "--duration", "60s")
    check("rank 0 (scheduler on " in ended.json["failure"]["what"], f"{ended.json['failure']}")
    check(ended.json["groups"][1]["status"] == "interrupted", f"{ended.json['groups'][1]}")


def killed_leader_of_another_group():
    ended = disturbed(1, "scheduler", signal.SIGKILL, 20, "--duration", "60s")
    check("group 1: rank 0 (scheduler on " in ended.json["failure"]["what"], f"{ended.json['failure']}")


def stopped_consumer():
    """No process has died: the other groups go on to their end."""
    ended = disturbed(1, "consumer", signal.SIGSTOP, 40, "--duration", "6s", "--silence-timeout", "4s")
    check("not responded for 4 s" in ended.json["failure"]["what"], f"{ended.json['failure']}")
    check_complete(group_run(ended.directory, 0), RANKS)
    group = ended.json["groups"][0]  # whether it was in time depends on the machine
    check(group["status"] == "complete" and group["totals"]["received_bytes"] == group["totals"]["generated_bytes"],
          f"{group}")


def stopped_leader_of_the_job():
    ended = disturbed(0, "scheduler", signal.SIGSTOP, 60, "--duration", "4s", "--silence-timeout", "4s")
    check("rank 0 (scheduler on " in ended.json["failure"]["what"], f"{ended.json['failure']}")
    check_complete(group_run(ended.directory, 1), RANKS)


def a_group_that_cannot_start():
    """MPI makes no window for the ranks of group 0, which lead the job; the other groups are measured all the same."""
    run = (WEIR, "run", "--out", "run", *LAYOUT, "--groups", str(GROUPS), "--transport", "put", "--duration", "2s")
    ended = weir(0,
                 command=[MPIRUN, "-np", str(RANKS), "env", "OMPI_MCA_osc_sm_backing_directory=/nonexistent", *run, ":",
                          "-np", str((GROUPS - 1) * RANKS), *run],
                 limit_s=100)
    check(ended.status != 0 and ended.json["status"] == "failed", f"exit {ended.status}: {ended.json['status']}")
    check("made no window" in ended.json["failure"]["what"] and ended.json["failure"]["group"] == 0,
          f"{ended.json['failure']}")
    check_complete(group_run(ended.directory, 1), RANKS)


if __name__ == "__main__":
    main(all_end_well, a_late_group_is_explained, ranks_that_cannot_be_divided, hosts_without_a_group,
         too_few_ranks_in_a_group, killed_consumer, killed_leader_of_the_job, killed_leader_of_another_group,
         stopped_consumer, stopped_leader_of_the_job, a_group_that_cannot_start, at_once=3)
