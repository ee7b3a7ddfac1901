"""Whole simulations and what surrounds them, as their users start them: processor time and memory of the command."""

import pathlib
import tempfile

from . import earlier, running

BEFORE = "10c3bea"  # the weir that fluid simulations are compared with
FLUID = {"lhcb2021-5, 300 s": ("lhcb2021-5", 300), "farm of 500 x 4000, 60 s": ("lhcb2021-farm", 60)}
BUILDING_S = 10
RUNS = 1000
FABRIC = """
base = "shallow"
[topology]
kind = "leaf-spine"
leaves = 64
spines = 4
uplinks = 4
uplink-rate = "400Gb/s"
[placement]
kind = "by-worker"
"""
SWEEP = f"""
repetitions = {RUNS // 2}
[run]
producers = 3
consumers = 2
rate = "1Gb/s"
interval = "100ms"
event-size = "10MB"
duration = "2s"
warmup = "500ms"
[axes]
streams = [1, 4]
"""


def measure_round(weir, add):
    """Each of them once; add(case, peer, quantity, value)."""
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as name:
        directory = pathlib.Path(name)
        for case, (scenario, seconds) in FLUID.items():
            for peer, program in (("weir before", earlier.program(BEFORE)), ("weir", weir)):
                if program:
                    _, cpu_s, _ = simulate(program, directory / f"{scenario}-{program.name}", "--scenario", scenario,
                                           "--duration", f"{seconds}s", "--warmup", "0s")
                    add(case, peer, "processor time", cpu_s)
        _, cpu_s, _ = simulate(weir, directory / "building", "--producers", 300, "--consumers", 200,
                               "--pattern", "build", "--rate", "10Gb/s", "--event-size", "10MB", "--streams", 64,
                               "--buffer", "8GB", "--duration", f"{BUILDING_S}s", "--warmup", "0s")
        add("building", "weir", "speed", BUILDING_S / cpu_s)
        permutation(weir, directory, add)
        campaign(weir, directory, add)


def simulate(program, out, *words):
    return running.spent([program, "simulate", *words, "--quiet", "--out", out])  # and so without a search for causes


def permutation(weir, directory, add):
    (directory / "fabric.toml").write_text(FABRIC)
    running.program([weir.parent / "weir-traffic", "permutation", "--workers", 4096, "--bytes-per-pair", "1MB", "--out",
                     directory / "pairs.csv"])
    _, cpu_s, memory_bytes = simulate(
        weir, directory / "fabric", "--network", "packet", "--switch", directory / "fabric.toml", "--policy", "none",
        "--pattern", f"matrix:{directory / 'pairs.csv'}", "--interval", "1ms", "--producer-link", "100Gb/s",
        "--consumer-link", "100Gb/s", "--duration", "1ms", "--warmup", "0s")
    add("4096 hosts", "weir", "processor time", cpu_s)
    add("4096 hosts", "weir", "memory", memory_bytes)


def campaign(weir, directory, add):
    (directory / "campaign.toml").write_text(SWEEP)
    _, cpu_s, _ = running.spent([weir.parent / "weir-sweep", "submit", directory / "campaign.toml", "--simulate",
                                 "--jobs", 1])
    add("sweep", "weir", "processor time of a run", 1e3 * cpu_s / RUNS)
    _, cpu_s, memory_bytes = running.spent([weir.parent / "weir-compare", directory / "campaign"])
    add("compare", "weir", "processor time", cpu_s)
    add("compare", "weir", "memory", memory_bytes)
