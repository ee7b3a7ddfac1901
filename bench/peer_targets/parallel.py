"""What several cores give simulations: the same work by one process at a time and by as many as there are cores."""

import os
import pathlib
import tempfile
import time

from . import running
from .samples import Comparison

CORES = os.cpu_count()
CASES = {"exploration": "3000 random scenarios (`explorer`)", "groups": "12 groups of 14 x 72, 40 s (`--groups`)",
         "sweep": "a sweep of two switch settings (`weir-sweep submit --simulate`)"}
SWEEP = """
repetitions = 4
[run]
producers = 3
consumers = 2
rate = "4Gb/s"
interval = "100ms"
event-size = "10MB"
duration = "2s"
warmup = "500ms"
[switch]
settings = [{ name = "pfc-off", simulate = { pfc = "off" } }, { name = "pfc-on", simulate = { pfc = "on" } }]
on-change = "true"
[simulation]
network = "packet"
producer-link = "10Gb/s"
consumer-link = "10Gb/s"
"""

COMPARISONS = [Comparison("parallel", case, f"{words}: work per second on all cores / on one", "speed", "all cores",
                          "one core", unit="/s")
               for case, words in CASES.items()]


def measure(options, samples):
    # Removed at the end: some file systems search long for a place for thousands of files where as many were just
    # removed.
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        for number in range(options.rounds):
            for case in CASES:
                for name, jobs in (("one core", 1), ("all cores", CORES)):
                    out = pathlib.Path(directory) / f"{number}-{case}-{jobs}"
                    out.mkdir()
                    samples.add("parallel", case, name, "speed", number,
                                1 / elapsed_s(line(case, options.weir, out, jobs)))


def line(case, weir, directory, jobs):
    if case == "exploration":
        return [weir.parent.parent / "tests/explorer/explorer", 3000, "--jobs", jobs, "--quiet"]
    if case == "groups":
        return [weir, "simulate", "--groups", 12, "--producers", 12 * 14, "--consumers", 12 * 72, "--rate", "64Gb/s",
                "--event-size", "2GB", "--buffer", "16GB",
                "--consumer-link", "25Gb/s", "--duration", "40s", "--warmup", "0s", "--jobs", jobs, "--quiet", "--out",
                directory / "run"]
    (directory / "sweep.toml").write_text(SWEEP)
    return [weir.parent / "weir-sweep", "submit", directory / "sweep.toml", "--simulate", "--jobs", jobs]


def elapsed_s(words):
    start = time.monotonic()
    running.program(words)
    return time.monotonic() - start
