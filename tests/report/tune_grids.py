"""Grids that were simulated wholly: 400 settings of four axes in three layouts, each with all seeds, for
tune_calibration.py. Files: tune_grids/NAME.csv, a line for each setting with the longest delivery time in us by seed.
To make them again (five minutes of processor time):

    WEIR=build/release/bin/weir PYTHONPATH=src/report python3 tests/report/tune_grids.py"""

import concurrent.futures
import csv
import dataclasses
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "report"))

from weir_runs.reading.key_figures import key_figures  # noqa: E402
from weir_runs.reading.run import read_run  # noqa: E402
from weir_suites.tune.axes import of_list, texts_of  # noqa: E402

DIRECTORY = Path(__file__).parent / "tune_grids"
SEEDS = 12
COMMON = ("--network", "packet", "--producer-link", "10Gb/s", "--consumer-link", "10Gb/s", "--interval", "2ms",
          "--duration", "20ms", "--warmup", "4ms", "--explain", "off", "--quiet")


@dataclasses.dataclass(frozen=True)
class Layout:
    """`present`: texts of the setting that is in force."""

    options: tuple
    axes: tuple
    present: tuple

    @property
    def candidates(self):
        return list(itertools.product(*(axis.values for axis in self.axes)))

    @property
    def present_candidate(self):
        return tuple(axis.with_text(text)[1] for axis, text in zip(self.axes, self.present))


LAYOUTS = {
    # Thresholds of ECN against bytes under way.
    "ecn": Layout(("--producers", "6", "--consumers", "2", "--rate", "2.6Gb/s", "--event-size", "128KiB",
                   "--chunk-size", "16KiB", "--ecn", "on", "--switch-set", "ecn.all-above=400kB"),
                  (of_list("ecn.none-below", ["5kB", "20kB", "50kB", "100kB", "200kB"]),
                   of_list("ecn.probability", [0.01, 0.05, 0.2, 0.6, 1.0]),
                   of_list("slots", [1, 2, 4, 8]), of_list("window", [1, 2, 4, 8])), ("5kB", "0.01", "4", "4")),
    # PFC with consumers that are busy, and what waits for them.
    "pfc": Layout(("--producers", "6", "--consumers", "3", "--rate", "2.5Gb/s", "--chunk-size", "16KiB",
                   "--busy", "exponential:40us", "--pfc", "on"),
                  (of_list("switch.ingress-alpha", [0.015625, 0.03125, 0.0625, 0.125, 0.25]),
                   of_list("event-size", ["32KiB", "64KiB", "128KiB", "256KiB", "512KiB"]),
                   of_list("slots", [1, 2, 4, 8]),
                   of_list("streams", [1, 2, 4, 8])), ("0.125", "256KiB", "4", "4")),
    # Leaves and spines: which way packets take, and how much is under way.
    "fabric": Layout(("--producers", "6", "--consumers", "6", "--rate", "6Gb/s", "--event-size", "128KiB",
                      "--pfc", "on", "--switch-set", "topology.kind=leaf-spine", "--switch-set", "topology.leaves=3",
                      "--switch-set", "topology.spines=2", "--switch-set", "topology.uplink-rate=10Gb/s",
                      "--switch-set", "nic.reorder=256kB"),
                     (of_list("balancing.kind", ["ecmp", "flowlets", "spray", "adaptive"]),
                      of_list("chunk-size", ["4KiB", "8KiB", "16KiB", "32KiB", "64KiB"]),
                      of_list("slots", [1, 2, 4, 8]),
                      of_list("window", [1, 2, 4, 8, 16])), ("ecmp", "64KiB", "4", "4")),
}


def words(layout, candidate):
    found = []
    for name, text in texts_of(layout.axes, candidate).items():
        found += ["--switch-set", f"{name}={text}"] if "." in name else [f"--{name}", text]
    return found


def values(weir, layout, candidate):
    """Longest delivery time in us by seed."""
    found = []
    for seed in range(1, SEEDS + 1):
        with tempfile.TemporaryDirectory(prefix="weir-grid-") as directory:
            out = Path(directory) / "run"
            subprocess.run([weir, "simulate", *COMMON, *layout.options, *words(layout, candidate), "--seed", str(seed),
                            "--out", str(out)],
                           check=True, capture_output=True, timeout=120)
            found.append(1e6 * key_figures(read_run(out))["longest_stay"])
    return found


def make(weir, name):
    layout = LAYOUTS[name]
    version = subprocess.run([weir, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        rows = list(pool.map(lambda candidate: values(weir, layout, candidate), layout.candidates))
    with open(DIRECTORY / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
        file.write(f"# longest delivery time in us by seed; {version}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(axis.name for axis in layout.axes), *range(1, SEEDS + 1)])
        for candidate, row in zip(layout.candidates, rows):
            writer.writerow([*texts_of(layout.axes, candidate).values(), *(f"{value:.5g}" for value in row)])


def read(name):
    """{candidate: [value of each seed]}"""
    with open(DIRECTORY / f"{name}.csv", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    layout = LAYOUTS[name]
    size = len(layout.axes)
    return {candidate: [float(value) for value in row[size:]] for candidate, row in zip(layout.candidates, rows[1:])
            if list(texts_of(layout.axes, candidate).values()) == row[:size]}


if __name__ == "__main__":
    for each in sys.argv[1:] or LAYOUTS:
        make(os.environ["WEIR"], each)
