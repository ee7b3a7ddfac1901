"""srun starts a run without MPI (--join), and the run outlives a consumer: a rank is killed, and started again outside
of the job. Skipped where this weir cannot use UCX."""

import json
import os
import signal
import subprocess
from pathlib import Path

import cluster
from cluster import ADDRESS, NODES, wait_until
from weir_run import WEIR, check, main, skip_without_ucx

# UCX looks for devices in /sys, which shows those of the machine: of them only lo is also in the cluster.
ENVIRONMENT = {"WEIR_JOIN_TOKEN": "a token for slurm", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
OPTIONS = ("--producers", "2", "--rate", "20Mb/s", "--event-size", "64KiB", "--interval", "250ms", "--warmup", "250ms",
           "--duration", "8s", "--idle", "nap", "--on-failure", "continue")
CONSUMER = 4


def outlives_a_consumer():
    directory = Path("run").resolve()
    output = Path("out.txt").resolve()
    join = [WEIR, "run", "--join", f"{ADDRESS}:7000"]
    script = Path("job.sh")
    words = [*join, "--out", str(directory), *OPTIONS]
    script.write_text(f"#!/bin/sh\nexec srun --kill-on-bad-exit=0 --no-kill --mpi=none {' '.join(words)}\n")
    cluster_of_test = cluster.Cluster()
    os.environ.update(ENVIRONMENT)
    job = cluster_of_test.submit(
        f"--nodes={len(NODES)}", "--ntasks-per-node=1", "--no-kill", f"--output={output}", script)

    def said():
        return output.read_text()[-3000:] if output.exists() else "no output"

    def seconds():
        rows = [path.read_text().count(",measure,") for path in directory.glob("ranks/rank-*.csv")]
        return min(rows) if len(rows) == len(NODES) else 0

    wait_until(lambda: seconds() >= 2 or cluster_of_test.are_over(job), said)
    check(seconds() >= 2, said)
    os.kill(json.loads((directory / "run.json").read_text())["ranks"][CONSUMER]["pid"], signal.SIGKILL)
    again = subprocess.run(join, capture_output=True, text=True, timeout=60, check=False)
    check(again.returncode == 0,
          f"exit status {again.returncode} of the process that came back: {again.stderr}{said()}")
    cluster_of_test.wait(job)
    record = json.loads((directory / "run.json").read_text())
    check(record["status"] == "complete" and record["ledger"]["agrees"], f"{record['failure']}: {said()}")
    [loss] = record["recovery"]["losses"]
    check(loss["consumer"] == CONSUMER - 3 and loss["back_at_s"] is not None, f"{loss}")
    check(record["recovery"]["without_ledger"] == [] and record["totals"]["lost_events"] == 0, f"{record['recovery']}")


cluster.enter()
skip_without_ucx()
main(outlives_a_consumer)
