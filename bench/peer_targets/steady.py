"""A long run at saturation: does memory grow, do rate or latency drift?"""

import csv
import json
import os
import pathlib
import statistics
import tempfile
import time

from . import running
from .samples import Comparison

PRODUCERS, CONSUMERS, LINK_MBPS = 4, 6, 100
CASE = "lab 4x6"

COMPARISONS = [
    Comparison("steady", CASE, "memory of the largest rank, last tenth of the run / second tenth", "resident memory",
               "last tenth", "second tenth", 1.01, at_least=False, unit="B"),
    Comparison("steady", CASE, "goodput, last tenth of the run / second tenth", "goodput", "last tenth", "second tenth",
               0.99, unit="b/s"),
    Comparison("steady", CASE, "time from grant to sent, mean, last tenth of the run / second tenth", "grant to sent",
               "last tenth", "second tenth", 1.02, at_least=False, unit="s"),
    Comparison("steady", CASE, "slowest second of all consumers together / median second", "goodput of a second",
               "slowest", "median", unit="b/s"),
    Comparison("steady", CASE, "seconds of it", "duration", "weir", bound=3600, unit="s"),
]


def measure(options, samples):
    """The links are the limit, so that other work on the machine does not look like drift."""
    with running.lab(options.weir, options.bare, PRODUCERS, CONSUMERS, f"{LINK_MBPS}Mb/s") as lab, \
            tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        out = pathlib.Path(directory) / "run"
        line = lab.weir_line(PRODUCERS, CONSUMERS,
                             ["--generation", "saturate", "--event-size", "1MiB", "--buffer", "64MiB", "--quiet",
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
        bits = {second: 8 * received for second, received in by_second(out, "consumer", "received_bytes").items()}
        events = by_second(out, "producer", "sent_events")
        # A share of the time of all streams of a producer.
        in_transfer = {second: int(record["plan"]["streams"]) * share
                       for second, share in by_second(out, "producer", "transferring_s").items()}
    tenth = options.steady_seconds / 10
    parts = {"second tenth": (tenth, 2 * tenth), "last tenth": (9 * tenth, 10 * tenth)}
    for name, (begin, end) in parts.items():
        samples.add("steady", CASE, name, "goodput", 0, statistics.mean(between(bits, begin, end)))
        samples.add("steady", CASE, name, "grant to sent", 0,
                    sum(between(in_transfer, begin, end)) / sum(between(events, begin, end)))
        # Before the measured time come the start and the warm-up.
        samples.add("steady", CASE, name, "resident memory", 0,
                    max(value for at, value in memory if begin <= at - 6 < end and value))
    samples.add("steady", CASE, "slowest", "goodput of a second", 0, min(bits.values()))
    samples.add("steady", CASE, "median", "goodput of a second", 0, statistics.median(bits.values()))
    samples.add("steady", CASE, "weir", "duration", 0, len(bits))


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


def between(seconds, begin, end):
    return [value for second, value in seconds.items() if begin <= second < end]


def by_second(directory, role, column):
    """Sums over all ranks of a role, by measured second; whole seconds only."""
    sums = {}
    for file in (directory / "ranks").glob(f"*-{role}.csv"):
        with open(file, newline="") as rows:
            for row in csv.DictReader(rows):
                if row["phase"] == "measure" and float(row["covered_s"]) == 1:
                    second = int(row["second"])
                    sums[second] = sums.get(second, 0) + float(row[column])
    return sums
