"""The simulator with the fluid network: simulated seconds per second of CPU time, for the published layouts and for
growing farms, beside those of an earlier weir."""

import pathlib
import tempfile

from . import earlier, running
from .samples import Comparison

# Producers, consumers, simulated seconds; scenarios and simulated seconds: so many that a run takes some 0.3 s of CPU
# or more, so that neither the start of the program nor the clock's ticks are what is measured.
GROWTH = ((14, 72, 1800), (50, 200, 600), (125, 1000, 180), (250, 2000, 90), (500, 4000, 60))
SCENARIOS = {"lhcb2021-1": 1800, "lhcb2021-2": 1800, "lhcb2021-3": 900, "lhcb2021-4": 600, "lhcb2021-5": 1800,
             "lhcb2021-farm": 60, "lhcb2002-token": 30, "atlas-13x13-pull": 1}


def cases():
    """Name, options, simulated seconds."""
    for producers, consumers, seconds in GROWTH:
        farm = ["--producers", producers, "--consumers", consumers, "--rate", "64Gb/s", "--event-size", "2GB",
                "--buffer", "16GB",
                "--slots", 3, "--consumer-link", "25Gb/s", "--duration", f"{seconds}s", "--warmup", "0s"]
        yield f"{producers}x{consumers}", farm, seconds
    for scenario, seconds in SCENARIOS.items():
        yield scenario, ["--scenario", scenario, "--duration", f"{seconds}s", "--warmup", "0s"], seconds


# At least so many times as fast as before.
ASKED = {"atlas-13x13-pull": 5, "lhcb2002-token": 3}
COMPARISONS = [Comparison("simulator", name, f"simulated seconds per second of CPU, {words}: now / before", "speed",
                          "weir", "weir before", ASKED.get(name), optional=True)
               for name, words in [*((name, name) for name, *_ in cases()), ("all", "geometric mean")]]


def measure(options, samples):
    before = options.before or earlier.program(earlier.COMMIT)
    # Removed at the end: some file systems search long for a place for thousands of files where as many were just
    # removed.
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        for number in range(options.rounds):
            products = {}
            for name, words, seconds in cases():
                for peer, program in (("weir before", before), ("weir", options.weir)):
                    if program:
                        out = pathlib.Path(
                            directory) / f"{number}-{name}-{'before' if peer == 'weir before' else 'now'}"
                        _, cpu_s, _ = running.spent([program, "simulate", *words, "--quiet", "--out", out])
                        speed = seconds / cpu_s
                        samples.add("simulator", name, peer, "speed", number, speed)
                        products.setdefault(peer, []).append(speed)
            for peer, speeds in products.items():
                mean = 1.0
                for speed in speeds:
                    mean *= speed ** (1 / len(speeds))
                samples.add("simulator", "all", peer, "speed", number, mean)
