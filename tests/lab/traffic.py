"""Addressed events between hosts: a permutation and an incast take about as long as by their closed form and in the
simulations, and every pair receives exactly its bytes."""

import csv
import json
import subprocess
from pathlib import Path

from lab_command import check_nothing_left, lab_or_fail, machine, skip_unless_possible, take_down
from weir_run import WEIR, Run, check, check_complete, main

LINK_BITS_PER_SECOND = 100e6
BYTES = {"permutation": {(0, 1): 2500000, (1, 2): 2500000, (2, 0): 2500000},
         "incast": {(0, 0): 1250000, (1, 0): 1250000, (2, 0): 1250000}}
SETS = 5
OPTIONS = ("--producers", "3", "--consumers", "3", "--interval", "1s", "--warmup", "1s", "--duration", "4s")
# TCP's headers, its start, and a machine of two cores that has seven ranks and a switch to run.
SLOWER_MAX = 2.0


def ideal_s(matrix):
    """It is that of the busiest link."""
    consumers = {consumer: sum(size for (_, to), size in matrix.items() if to == consumer) for _, consumer in matrix}
    return max(consumers.values()) * 8 / LINK_BITS_PER_SECOND


def phase_of(directory):
    return json.loads(Path(directory, "run.json").read_text(encoding="utf-8"))["phases"][0]


def three_worlds():
    before = machine()
    try:
        lab_or_fail("up", "--producers", "3", "--consumers", "3", "--link", "100Mb/s")
        for name, matrix in BYTES.items():
            lines = "".join(f"{producer},{consumer},{size}\n" for (producer, consumer), size in matrix.items())
            Path(f"{name}.csv").write_text("producer,consumer,bytes\n" + lines, encoding="utf-8")
            options = ("--pattern", f"matrix:{name}.csv", *OPTIONS)
            lab_or_fail("run", "--", "weir", "run", *options, "--silence-timeout", "15s", "--out", name, limit_s=60)
            run = Run(name, 0, "", "", 0)
            check_complete(run, 7)
            with open(f"{name}/traffic.csv", encoding="utf-8") as file:
                received = {(int(row["producer"]), int(row["consumer"])): int(row["received_bytes"])
                            for row in csv.DictReader(file)}
            check(received == {pair: size * SETS for pair, size in matrix.items()}, f"{name}: {received}")
            # In the lab each rank has a host of its own.
            for network in ("fluid", "packet"):
                simulated = f"{name}-{network}"
                subprocess.run([WEIR, "simulate", *options, "--network", network, "--producer-link", "100Mb/s",
                                "--consumer-link", "100Mb/s", "--quiet", "--out", simulated],
                               check=True)
                took_s = phase_of(simulated)["completion_s_max"]
                check(1 <= took_s / ideal_s(matrix) < 1.05, f"{simulated}: {took_s} s, ideal {ideal_s(matrix)} s")
                totals = json.loads(Path(simulated, "run.json").read_text(encoding="utf-8"))["totals"]
                check(totals["received_bytes"] == run.json["totals"]["received_bytes"], f"{simulated}: {totals}")
            took_s = phase_of(name)["completion_s_median"]
            check(1 <= took_s / ideal_s(matrix) < SLOWER_MAX, f"{name}: {took_s} s, ideal {ideal_s(matrix)} s")
        lab_or_fail("down")
        check_nothing_left(before)
    finally:
        take_down()


skip_unless_possible()
main(three_worlds)
