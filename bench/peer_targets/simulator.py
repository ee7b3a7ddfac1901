"""The simulator: simulated seconds per second, for the published layouts and for growing farms, and against an earlier build
where one is given."""

import os
import pathlib
import tempfile

from . import running
from .samples import Comparison

GROWTH = ((14, 72), (50, 200), (125, 1000), (250, 2000), (500, 4000))
SCENARIOS = tuple(f"lhcb2021-{row}" for row in (1, 2, 3, 4, 5)) + ("lhcb2021-farm", "lhcb2002-token", "atlas-13x13-pull")


def cases():
    """Name, options, simulated seconds."""
    for producers, consumers in GROWTH:
        farm = ["--producers", producers, "--consumers", consumers, "--rate", "64Gb/s", "--event-size", "2GB", "--buffer", "16GB",
                "--slots", 3, "--consumer-link", "25Gb/s", "--duration", "60s", "--warmup", "0s"]
        yield f"{producers}x{consumers}", farm, 60
    for scenario in SCENARIOS:
        seconds = 300 if scenario == "lhcb2021-5" else 60 if scenario.startswith("lhcb2021") else 5
        yield scenario, ["--scenario", scenario, "--duration", f"{seconds}s", "--warmup", "0s"], seconds


COMPARISONS = [Comparison("simulator", name, f"simulated seconds per second of CPU, {name}: now / before", "speed", "weir", "weir before")
               for name, _, _ in cases()]
COMPARISONS.append(Comparison("simulator", "all", "simulated seconds per second of CPU, geometric mean: now / before", "speed", "weir",
                              "weir before", 3, optional=True))


def measure(options, samples):
    for number in range(options.rounds):
        products = {}
        for name, words, seconds in cases():
            for peer, program in (("weir before", options.before), ("weir", options.weir)):
                if program:
                    speed = seconds / cpu_seconds([program, "simulate", *words, "--quiet"])
                    samples.add("simulator", name, peer, "speed", number, speed)
                    products.setdefault(peer, []).append(speed)
        for peer, speeds in products.items():
            mean = 1.0
            for speed in speeds:
                mean *= speed ** (1 / len(speeds))
            samples.add("simulator", "all", peer, "speed", number, mean)


def cpu_seconds(words):
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        before = os.times()
        running.program([*words, "--out", pathlib.Path(directory) / "run"])
        after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system
