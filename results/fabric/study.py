"""ECMP, flowlets, spraying or the shorter queue, with PFC, ECN, both or neither: a leaf-spine fabric under all-to-all,
event building and a ring.

    bench/study fabric files                  # the ring, by weir-traffic: results/fabric/files
    bench/study fabric run [--jobs 2] [--part seeds]
    bench/study fabric list                   # the commands of all runs

What is expected stands in expected.py and was written before the runs.
"""

import concurrent.futures
import csv
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import cases
import page
import studies
from studies import TOP

NAMES = ("part", "traffic", "fabric", "balancing", "flow", "queue_pairs", "more", "seed", "status", "over_ideal_median",
         "over_ideal_worst",
         "late_sets", "sets", "jain_index_mean", "jain_index_worst", "most_over_mean_worst", "out_of_sequence",
         "reordered", "sent_again", "dropped",
         "timeouts", "pauses_sent", "marked", "queue_peak_bytes", "weir", "command")
LIMIT_S = 120
NEVER = float("inf")  # a phase that was not complete 2 s after the last one had begun
# Runs that `check` makes again.
CHEAP = {"part": "main", "traffic": "all-to-all", "fabric": "1:1", "flow": "PFC", "queue_pairs": 1, "seed": 1}


def make_files(top):
    """The ring, in `top`/results/fabric/files."""
    done = subprocess.run([sys.executable, "-m", "weir_suites.traffic_command", *shlex.split(cases.RING_WORDS), "--out",
                           cases.RING], cwd=top,
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(TOP / "src/report"), "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode != 0:
        sys.exit(f"weir-traffic {cases.RING_WORDS}: {done.stderr}")


def check_files():
    """Ends the program if weir-traffic makes other files than those that are stored."""
    with tempfile.TemporaryDirectory(prefix="weir-fabric-") as directory:
        make_files(pathlib.Path(directory))
        for file in (pathlib.Path(directory) / cases.RING).iterdir():
            if file.read_bytes() != (TOP / cases.RING / file.name).read_bytes():
                sys.exit(f"FAIL {cases.RING}/{file.name}: not what weir-traffic makes; bench/study fabric files")


# ---------------------------------------------------------------------------------------------------------- one run


def ratios(run, out, one):
    """Times over the ideal: of phases, of the iteration, or of each producer's slowest set."""
    if one["traffic"] == "event building":
        interval_s, ideal_s = cases.BUILD_US * 1e-6, float(one["ideal_us"]) * 1e-6
        return [NEVER if rank["least_slack_s"] is None else (interval_s - rank["least_slack_s"]) / ideal_s
                for rank in run["ranks"]
                if rank["role"] == "producer"]
    if one["traffic"] == "ring":
        ideal_s = float(one["ideal_us"]) * 1e-6
        jct_s = run["collectives"][0]["jct_s_max"]
        return [NEVER if jct_s is None else jct_s / ideal_s]
    with open(out / "phases.csv", newline="") as stream:
        return [float(phase["completion_s"]) / float(phase["ideal_s"]) if phase["completion_s"] else NEVER
                for phase in csv.DictReader(stream)]


def measured(run, out, one):
    network, found = run["switch"], ratios(run, out, one)
    loads = [links for links in network["parallel_links"] if links["jain_index"] is not None]
    totals = [host["totals"] for host in run["hosts"] if host["totals"]]

    def counted(name):
        return sum(total.get(f"nic0.{name}", 0) for total in totals)
    return {"over_ideal_median": statistics.median(found), "over_ideal_worst": max(found),
            "late_sets": run["verdict"]["late_sets"], "sets": run["verdict"]["sets"],
            "jain_index_mean": statistics.fmean(links["jain_index"] for links in loads),
            "jain_index_worst": min(links["jain_index"] for links in loads),
            "most_over_mean_worst": max(links["most_over_mean"] for links in loads),
            "out_of_sequence": counted("out_of_sequence"), "reordered": counted("reordered_packets"),
            "sent_again": network["packets_sent_again"], "dropped": network["dropped_packets"],
            "timeouts": network["timeouts"],
            "pauses_sent": network["pauses_sent"], "marked": network["marked_packets"],
            "queue_peak_bytes": network["queue_peak_bytes"]}


def simulate(weir, one):
    line = studies.attempted(weir, one["command"], LIMIT_S, lambda run, out: measured(run, out, one))
    if line["status"].startswith("refused"):
        sys.exit(f"{one['command']}\n{line['status']}")
    return {**one, **line}


def run_lines(options, points):
    begin, lines = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(lambda one: simulate(options.weir, one), points):
            lines.append(line)
            if len(lines) % 50 == 0:
                print(f"{len(lines)} of {len(points)}, {time.monotonic() - begin:.0f} s", flush=True)
    return lines


# ---------------------------------------------------------------------------------------------------------- the page


def run(options):
    os.nice(5)
    points = cases.all_points()
    for part in [options.part] if options.part else sorted({one["part"] for one in points}):
        chosen = [one for one in points if one["part"] == part]
        studies.store_lines(options.out / "runs.csv", NAMES, run_lines(options, chosen), ("part",))
    print(f"{studies.children_cpu_s():.0f} s of processor time")


def replay(trial):
    check_files()
    points = [one for one in cases.all_points() if all(one[name] == value for name, value in CHEAP.items())]
    studies.store_lines(trial.out / "runs.csv", NAMES, run_lines(trial, points), ())


def add_options(parser):
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", help="only the runs of this part (default: all)")


STUDY = studies.Study(page.page, runs={"run": run}, keys={"runs.csv": ("command",)}, replay=replay, options=add_options,
                      others={"files": lambda options: make_files(TOP),
                              "list": lambda options: print("\n".join(one["command"] for one in cases.all_points()))})
