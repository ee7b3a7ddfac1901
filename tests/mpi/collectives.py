#!/usr/bin/env python3
"""A measured ring: every step is received before the one that waits for it is sent, with and without a scheduler, over
MPI and over UCX; figures by name are in the record, and the record agrees."""

import json
import subprocess
from pathlib import Path

from weir_run import WEIR, check, check_complete, main, weir, why_no_ucx

WORKERS, SIZE = 3, 300_000


def weir_traffic(*words):
    command = [str(Path(WEIR).parent / "weir-traffic"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def steps_are_in_order():
    weir_traffic("collective", "--kind", "all-reduce", "--workers", str(WORKERS), "--size", f"{SIZE}B",
                 "--compute", "5ms", "--interval", "250ms", "--out", "ring")
    pattern = ("--pattern", "collectives:ring/collectives.toml", "--warmup", "250ms", "--duration", "1s")
    worlds = {"granted": (),
              "unscheduled": ("--policy", "none", "--event-size", f"{SIZE // WORKERS}B", "--slots", "2",
                              "--transport", "put")}
    if not why_no_ucx():
        worlds["ucx"] = ("--engine", "ucx", "--policy", "none", "--slots", "2")
    for name, words in worlds.items():
        run = weir(2 * WORKERS + 1, *pattern, *words, directory=name)
        check_complete(run, 2 * WORKERS + 1)
        found = run.json["collectives"][0]
        check(found["complete_iterations"] == found["iterations"] == 4, f"{name}: {found}")
        check(found["jct_s_p50"] > 5e-3 and found["line_rate_bps"] is None and found["efficiency"] is None,
              f"{name}: {found}")
        factor = 2 * (WORKERS - 1) / WORKERS
        check(found["fabric_bytes_mean"] == SIZE * factor and abs(found["bus_factor"] - factor) < 1e-9,
              f"{name}: {found}")
        check(abs(found["busbw_bps_p50"] / (8 * SIZE * factor / (found["jct_s_p50"] - 5e-3)) - 1) < 1e-6,
              f"{name}: {found}")
        order = json.loads(weir_traffic("check-order", "ring", name, "--json"))
        check((order["checked"], order["incomplete"], order["violation_count"]) == (4 * 9, 0, 0), f"{name}: {order}")


main(steps_are_in_order)
