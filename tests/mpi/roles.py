"""Who plays which part: by rank order, by host list, MPMD; impossible assignments are refused with the numbers."""

import os
import socket
import subprocess

from weir_run import MPIRUN, WEIR, Run, check, check_complete, main, mpi_command, weir

SHORT = ["--rate", "10Mb/s", "--event-size", "64KiB", "--interval", "250ms", "--duration", "500ms", "--warmup", "0s",
         "--output", "quiet"]


def roles_of(run):
    return [rank["role"] for rank in run.json["ranks"]]


def by_rank_order():
    run = weir(4, "--producers", "1", "--consumers", "2", *SHORT)
    check_complete(run, 4)
    check(roles_of(run) == ["scheduler", "producer", "consumer", "consumer"], roles_of(run))


def scheduler_last():
    run = weir(4, "--producers", "1", "--consumers", "2", "--scheduler-rank", "last", *SHORT)
    check_complete(run, 4)
    check(roles_of(run) == ["producer", "consumer", "consumer", "scheduler"], roles_of(run))


def by_host_list():
    host = socket.gethostname()
    run = weir(5, "--producer-hosts", host, "--producers-per-host", "2", "--consumer-hosts", host,
               "--consumers-per-host", "2", "--leaf-hosts", "elsewhere=fn[01-20]", "--leaf-hosts", f"left={host},fn21",
               *SHORT)
    check_complete(run, 5)
    check({rank["leaf"] for rank in run.json["ranks"]} == {"left"}, run.json["ranks"])
    check(sorted(roles_of(run)) == ["consumer", "consumer", "producer", "producer", "scheduler"], roles_of(run))


def mpmd():
    def part(ranks, role):
        return ["-np", str(ranks), WEIR, "run", "--role", role, "--out", "run", *SHORT]

    command = [MPIRUN, *part(2, "consumer"), ":", *part(1, "scheduler"), ":", *part(1, "producer")]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    run = Run("run", process.returncode, process.stdout, process.stderr, 0)
    check(run.status == 0, run.stderr)
    check_complete(run, 4)
    check(roles_of(run) == ["consumer", "consumer", "scheduler", "producer"], roles_of(run))


def refused(ranks, *options, words=()):
    process = subprocess.run(mpi_command(ranks, options), capture_output=True, text=True, timeout=30, check=False)
    check(process.returncode == 2, f"{options}: exit status {process.returncode}: {process.stderr}")
    lines = [line for line in process.stderr.splitlines() if line.startswith("weir")]
    check(len(lines) == 1, f"{options}: {lines}")
    for word in words:
        check(word in lines[0], f"'{word}' is not in: {lines[0]}")
    check(not os.path.exists("run"), f"{options}: a run directory was made for a run that was refused")


def impossible_assignments():
    refused(7, "--producers", "3", "--consumers", "4", words=("8", "7", "--producers"))
    refused(4, "--producers", "1", "--consumers", "1", words=("3", "4"))
    refused(2, words=("3", "2"))
    refused(4, "--producer-hosts", "nobody[1-3]", "--consumer-hosts", "noone", words=("--producer-hosts",))


def bad_input_under_mpirun():
    refused(4, "--rate", "2", words=("--rate", "unit"))
    refused(4, "--rate", "1000Tb/s", "--event-size", "1TiB", "--chunk-size", "1GiB",
            words=("--buffer", "available"))


main(by_rank_order, scheduler_last, by_host_list, mpmd, impossible_assignments, bad_input_under_mpirun, at_once=3)
