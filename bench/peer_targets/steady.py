"""A long run at saturation: does memory grow, does the rate drift? And what writing a row and checking data cost."""

import csv
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from . import running
from .samples import Comparison

PRODUCERS, CONSUMERS, LINK_MBPS = 4, 6, 100
CASE = "lab 4x6"
LEVELS = ("none", "header", "full")

COMPARISONS = [
    Comparison("steady", CASE, "memory of the largest rank, last tenth of the run / second tenth", "resident memory", "last tenth", "second tenth",
               1.01, at_least=False, unit="B"),
    Comparison("steady", CASE, "goodput, last tenth of the run / second tenth", "goodput", "last tenth", "second tenth", 0.99, unit="b/s"),
    Comparison("steady", CASE, "slowest second of all consumers together / median second", "goodput of a second", "slowest", "median", unit="b/s"),
    Comparison("steady", CASE, "seconds of it", "duration", "weir", unit="s"),
    Comparison("steady", "rows", "CPU share of a core that the rows of a rank take", "share of a core", "weir", bound=0.005, at_least=False),
    Comparison("steady", "verify", "goodput, memory 1x1x1, 16 MiB: `--verify header` / `none`", "goodput", "weir header", "weir none", 0.98,
               unit="b/s"),
    Comparison("steady", "verify", "goodput, memory 1x1x1, 16 MiB: `--verify full` / `none`", "goodput", "weir full", "weir none", unit="b/s"),
    Comparison("steady", "verify", "bytes that `--verify full` stamps and checks per second, a core on each side", "checked", "weir full", unit="B/s"),
    Comparison("steady", "verify", "speed of XXH3 on this machine, by xxhsum", "speed", "xxhsum", unit="B/s"),
]


def measure(options, samples):
    local = running.Local(options.weir, options.bare)
    for number in range(options.rounds):
        for level in LEVELS:
            run = running.run_weir(local, 1, 1, ["--generation", "saturate", "--event-size", "16MiB", "--buffer", "256MiB", "--verify", level,
                                                 "--duration", f"{options.seconds}s", "--warmup", "1s"])
            samples.add("steady", "verify", f"weir {level}", "goodput", number, running.goodput(run))
            if level == "full":
                samples.add("steady", "verify", "weir full", "checked", number, running.goodput(run) / 8)
        if shutil.which("xxhsum"):
            samples.add("steady", "verify", "xxhsum", "speed", number, hash_speed())
        samples.add("steady", "rows", "weir", "share of a core", number, row_share(options.bare))
    hour(options, samples)


def hash_speed():
    done = subprocess.run(["xxhsum", "-b5", "-i1"], capture_output=True, text=True, check=True)
    return (1 << 20) * float(re.findall(r"([\d.]+) MB/s", done.stdout + done.stderr)[-1])


def row_share(bare):
    """A row per second: the time that making and writing it takes is the share."""
    output = running.program([bare.parent / "micro/row_benchmark", "--benchmark_format=json", "--benchmark_min_time=0.2"])
    return max(line["cpu_time"] for line in json.loads(output)["benchmarks"]) / 1e9


def hour(options, samples):
    """The links are the limit, so that other work on the machine does not look like drift."""
    with running.lab(options.weir, options.bare, PRODUCERS, CONSUMERS, f"{LINK_MBPS}Mb/s") as lab, \
            tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        out = pathlib.Path(directory) / "run"
        line = lab.weir_line(PRODUCERS, CONSUMERS, ["--generation", "saturate", "--event-size", "1MiB", "--buffer", "64MiB", "--quiet",
                                                    "--duration", f"{options.steady_seconds}s", "--warmup", "5s", "--out", out])
        memory = []
        with running.started(line, env={**os.environ, "WEIR": str(options.weir)}) as job:
            start = time.monotonic()
            while job.poll() is None:
                memory.append((time.monotonic() - start, resident(options.weir)))
                time.sleep(min(10, options.steady_seconds / 50))
        if not (out / "run.json").exists():
            raise SystemExit("peers: the long run left no run.json")
        record = json.loads((out / "run.json").read_text())
        if record["status"] != "complete" or not record["ledger"]["agrees"]:
            raise SystemExit(f"peers: the long run did not complete: {record['failure']}")
        seconds = by_second(out)
    tenth = options.steady_seconds / 10
    parts = {"second tenth": (tenth, 2 * tenth), "last tenth": (9 * tenth, 10 * tenth)}
    for name, (begin, end) in parts.items():
        inside = [value for second, value in seconds.items() if begin <= second < end]
        samples.add("steady", CASE, name, "goodput", 0, statistics.mean(inside))
        # Before the measured time come the start and the warm-up.
        samples.add("steady", CASE, name, "resident memory", 0,
                    max(value for at, value in memory if begin <= at - 6 < end and value))
    samples.add("steady", CASE, "slowest", "goodput of a second", 0, min(seconds.values()))
    samples.add("steady", CASE, "median", "goodput of a second", 0, statistics.median(seconds.values()))
    samples.add("steady", CASE, "weir", "duration", 0, len(seconds))


def resident(program):
    """Bytes of the largest process of this program."""
    largest = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.path.samefile(process / "exe", program):
                largest = max(largest, int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        except OSError:
            continue
    return largest


def by_second(directory):
    """Bits that all consumers received in each whole measured second."""
    sums = {}
    for file in (directory / "ranks").glob("*-consumer.csv"):
        with open(file, newline="") as rows:
            for row in csv.DictReader(rows):
                if row["phase"] == "measure" and float(row["covered_s"]) == 1:
                    second = int(row["second"])
                    sums[second] = sums.get(second, 0) + 8 * int(row["received_bytes"])
    return sums
