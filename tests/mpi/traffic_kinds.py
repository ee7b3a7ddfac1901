#!/usr/bin/env python3
"""Each kind of traffic that weir-traffic writes runs fluid, packet by packet and under MPI, with ledgers that agree and
the same bytes for every pair; transfers of a permutation notice nobody, and those of an incast wait for each other,
measured as in closed form."""

import csv
import json
import subprocess
from pathlib import Path

from weir_run import WEIR, check, check_complete, main, named, weir

# Small, and slow: all ranks share two cores.
KINDS = {
    "all-to-all": ("--workers", "3", "--bytes-per-pair", "100kB", "--interval", "250ms"),
    "permutation": ("--workers", "4", "--bytes-per-pair", "200kB", "--interval", "250ms"),
    "incast": ("--producers", "4", "--bytes-per-pair", "100kB", "--interval", "250ms"),
    "outcast": ("--consumers", "4", "--bytes-per-producer", "400kB", "--interval", "250ms"),
    "checkpoint": ("--workers", "4", "--targets", "2", "--shard", "200kB", "--stripe-size", "50kB", "--every", "250ms"),
    "mixture-of-experts": ("--workers", "4", "--tokens", "8", "--skew", "1.5", "--layers", "1"),
    "prefill-to-decode": ("--prefill-workers", "2", "--decode-workers", "2", "--requests", "20", "--prompt", "100",
                          "--layers", "2", "--interval", "500ms"),
}
TIMES = ("--warmup", "500ms", "--duration", "1500ms")  # of kinds whose interval is given


def weir_traffic(*words):
    command = [str(Path(WEIR).parent / "weir-traffic"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def options_of(line, names=("pattern", "interval", "warmup", "duration")):
    """Options of a command that weir-traffic suggests."""
    words = line.split()
    return tuple(word for name in names if f"--{name}" in words
                 for word in (f"--{name}", words[words.index(f"--{name}") + 1]))


def pairs_of(directory):
    with open(Path(directory) / "traffic.csv", encoding="utf-8") as file:
        return {(row["producer"], row["consumer"]): row["received_bytes"] for row in csv.DictReader(file)}


def simulate(network, options, directory):
    links = ("--producer-link", "1Gb/s", "--consumer-link", "1Gb/s", "--network", network)
    subprocess.run([WEIR, "simulate", *options, *links, "--quiet", "--out", directory], check=True)
    run = json.loads(Path(directory, "run.json").read_text(encoding="utf-8"))
    check(run["status"] == "complete" and run["ledger"]["agrees"], f"{directory}: {run['failure']} {run['ledger']}")


def in_three_worlds(kind):
    written = json.loads(weir_traffic(kind, *KINDS[kind], "--link", "1Gb/s", "--out", kind, "--json"))
    suggested = next(line for line in written["next"] if "--pattern" in line)
    # A sequence has an interval of its own, and a duration that goes with it.
    options = options_of(
        suggested) if kind == "mixture-of-experts" else (*options_of(suggested, ("pattern", "interval")), *TIMES)
    run = weir(written["producers"] + written["consumers"] + 1, *options, directory="run")
    check_complete(run, written["producers"] + written["consumers"] + 1)
    check(all(phase["incomplete_transfers"] == 0 for phase in run.json["phases"]), f"{run.json['phases']}")
    for network in ("fluid", "packet"):
        simulate(network, options, network)
        check(pairs_of(network) == pairs_of(run.directory), f"other pairs {network} than measured")


def alone_and_loaded(kind, ranks, least, most):
    """Under MPI there are no links to share: the ideal is not known, but permutation and incast differ as they must in
    the simulations. Slowdown of the least and of the most delayed transfer."""
    weir_traffic(kind, *KINDS[kind], "--out", f"{kind}.csv")
    told = weir_traffic("isolate", f"{kind}.csv", "--link", "1Gb/s", "--out", f"{kind}-alone")
    loaded = ("--pattern", f"matrix:{kind}.csv", "--interval", "250ms", *TIMES)
    alone = options_of(next(line for line in told.splitlines() if "sequence:" in line))
    for network in ("fluid", "packet"):
        simulate(network, loaded, f"loaded-{network}")
        simulate(network, alone, f"alone-{network}")
        weir_traffic("slowdown", f"loaded-{network}", f"alone-{network}", "--csv", f"{network}.csv")
        with open(f"{network}.csv", encoding="utf-8") as file:
            slowdowns = sorted(float(row["slowdown"]) for row in csv.DictReader(file))
        check(abs(slowdowns[-1] - most) < 0.1 * most and slowdowns[0] > 0.95 * least, f"{network}: {slowdowns}")
    runs = [weir(ranks, *options, directory=f"measured-{name}")
            for name, options in (("loaded", loaded), ("alone", alone))]
    for run in runs:
        check_complete(run, ranks)
    weir_traffic("slowdown", str(runs[0].directory), str(runs[1].directory), "--csv", "measured.csv")
    # A time that the clocks' error makes 0 has no slowdown.
    with open(runs[1].directory / "transfers.csv", encoding="utf-8") as file:
        told = sum(float(row["completion_s_mean"]) > 0 for row in csv.DictReader(file))
    measured = Path("measured.csv").read_text(encoding="utf-8")
    check(len(measured.splitlines()) == 1 + told > 1, f"{kind}: {measured}")


main(*(named(kind, in_three_worlds, kind) for kind in KINDS),
     named("alone_and_loaded_permutation", alone_and_loaded, "permutation", 9, 1.0, 1.0),
     named("alone_and_loaded_incast", alone_and_loaded, "incast", 6, 1.0, 4.0), at_once=3)
