"""Credits and a scheduler against free-for-all, for traffic with addresses, on shallow and deep switches with PFC, ECN,
both or neither.

    bench/study traffic files                 # the traffic, by weir-traffic: results/traffic/files
    bench/study traffic run [--jobs 2]
    bench/study traffic list                  # the commands of all runs

`run` simulates 1695 runs, five minutes of processor time, and writes alone.csv (what each transfer takes alone) and
runs.csv. `check` makes the files anew, too.
What is expected stands in expected.py and was written before the runs.
"""

import concurrent.futures
import functools
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

sys.path.append(str(TOP / "src/report"))
from weir_suites.traffic.slowdown import quantile, read_transfers  # noqa: E402

NAMES = ("part", "workload", "network", "policy", "more", "seed", "status", "phases", "incomplete_transfers",
         "over_ideal_median",
         "over_ideal_worst", "completion_us_median", "slowdown_median", "slowdown_p99", "slowdown_worst",
         "others_slowdown_median",
         "others_slowdown_worst", "delivery_p50_us", "delivery_p99_us", "delivery_max_us", "sets", "late_sets",
         "dropped_packets",
         "sent_again_packets", "timeouts", "pauses_sent", "producers_paused_share", "marked_packets",
         "peak_queue_bytes", "weir", "command")
ALONE_NAMES = ("workload", "bytes", "pairs", "completion_us", "weir", "command")
LIMIT_S = 120
# A receiver with less than this of the largest receiver's bytes is not the one that bounds the phase.
OTHERS = 0.9
# Runs that `check` makes again: all with this workload, seed and one of these policies.
CHEAP = ("bystanders", "1", ("free", "rr-2"))


def traffic_file(words, top=TOP):
    """Runs weir-traffic in a directory to which the paths in `words` are relative."""
    done = subprocess.run([sys.executable, "-m", "weir_suites.traffic_command", *words], cwd=top, capture_output=True,
                          text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(TOP / "src/report"), "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode != 0:
        sys.exit(f"weir-traffic {shlex.join(words)}: {done.stderr}")


def make_files(top):
    """All traffic files, in `top`/results/traffic/files; the command of each stands in its first line."""
    (top / cases.FILES).mkdir(parents=True, exist_ok=True)
    made = {name: words for name, (_, words, *_) in cases.WORKLOADS.items() if words}
    made |= {f"prefill-{seed}": f"{cases.PREFILL} {seed}" for seed in cases.SEEDS}
    for name, words in made.items():
        is_sequence = cases.file_of(name).startswith("sequence:")
        traffic_file([*words.split(), "--out", f"{cases.FILES}/{name}" + ("" if is_sequence else ".csv")], top)
    for name, entries in cases.BY_HAND.items():
        lines = ["# bench/study traffic files", "producer,consumer,bytes",
                 *(",".join(map(str, entry)) for entry in entries)]
        (top / cases.FILES / f"{name}.csv").write_text("\n".join(lines) + "\n")


# ---------------------------------------------------------------------------------------------------------- one run


def simulate(weir, command, read):
    line = studies.attempted(weir, command, LIMIT_S, read)
    if line["status"].startswith("refused"):
        sys.exit(f"{command}\n{line['status']}")
    return line


def measured(run, out, alone):
    phases = studies.stored(out / "phases.csv")
    done = [phase for phase in phases if phase["completion_s"]]
    line = {"phases": len(phases), "incomplete_transfers": sum(int(phase["incomplete_transfers"]) for phase in phases),
            "completion_us_median": statistics.median(1e6 * float(phase["completion_s"]) for phase in done)
            if done else None}
    ratios = [float(phase["completion_s"]) / float(phase["ideal_s"]) for phase in done if phase["ideal_s"]]
    if ratios:
        line |= {"over_ideal_median": statistics.median(ratios), "over_ideal_worst": max(ratios)}
    if alone:
        line |= slowdowns(read_transfers(out), alone)
    delivery, network = run["latency"]["delivery"], run.get("switch") or {}
    return line | {
        "delivery_p50_us": delivery["p50_us"], "delivery_p99_us": delivery["p99_us"],
        "delivery_max_us": delivery["max_us"], "sets": run["verdict"]["sets"], "late_sets": run["verdict"]["late_sets"],
        "producers_paused_share": network["producers_paused_share"]["mean"] if network else None,
        "sent_again_packets": network.get("packets_sent_again"), "peak_queue_bytes": network.get("queue_peak_bytes"),
        **{name: network.get(name) for name in ("dropped_packets", "timeouts", "pauses_sent", "marked_packets")}}


def slowdowns(lines, alone):
    """As weir-traffic slowdown: mean completion of a line over what this transfer takes alone; `others` are lines whose
    receiver is not the one with most bytes in its phase."""
    received = {}
    for line in lines:
        received[line.phase, line.consumer] = received.get((line.phase, line.consumer), 0) + line.size
    most = {phase: max(size for (of, _), size in received.items() if of == phase) for phase, _ in received}
    done = [line for line in lines if line.mean_s is not None]
    if not done:
        return {}
    means = [1e6 * line.mean_s / alone[line.size] for line in done]
    others = [line for line in done if received[line.phase, line.consumer] < OTHERS * most[line.phase]]
    found = {"slowdown_median": statistics.median(means), "slowdown_p99": quantile(means, 0.99),
             "slowdown_worst": max(1e6 * line.max_s / alone[line.size] for line in done)}
    if others:
        found |= {"others_slowdown_median": statistics.median(1e6 * line.mean_s / alone[line.size] for line in others),
                  "others_slowdown_worst": max(1e6 * line.max_s / alone[line.size] for line in others)}
    return found


def alone_lines(weir, workload):
    """What each size of the workload takes without others and without a scheduler, in a switch without limits that
    matter."""
    kind, _, file = cases.file_of(workload).partition(":")
    with tempfile.TemporaryDirectory(prefix="weir-traffic-") as directory:
        traffic_file(["isolate", file, "--link", cases.LINK, "--out", f"{directory}/alone"])
        text = (pathlib.Path(directory) / "alone/sequence.toml").read_text()
        interval_us = round(sum(1000 * float(line.split('"')[1].removesuffix("ms")) for line in text.splitlines()
                                if line.startswith("period")))
        command = cases.simulation(workload, f"sequence:{directory}/alone/sequence.toml", interval_us, "deep neither",
                                   ["--policy", "none", "--slots", "16", "--streams", "1"], 1, more=(), times=(1, 1))
        found = {}
        result = simulate(weir, command, lambda run, out: {"lines": read_transfers(out)})
    for line in result["lines"]:
        found.setdefault(line.size, []).append(1e6 * line.mean_s)
    steps = f"weir-traffic isolate {file} --link {cases.LINK} --out alone; {command.replace(directory + '/', '')}"
    return [{"workload": workload, "bytes": size, "pairs": len(times), "completion_us": statistics.fmean(times),
             "weir": result["weir"],
             "command": steps} for size, times in sorted(found.items())]


def alone_times(out):
    """{workload: {bytes: us}}"""
    found = {}
    for line in studies.stored(out / "alone.csv"):
        found.setdefault(line["workload"], {})[int(line["bytes"])] = float(line["completion_us"])
    return found


# ---------------------------------------------------------------------------------------------------------- the page


def run_lines(options, points, alone):
    def work(one):
        read = functools.partial(measured, alone=alone.get(one["workload"]))
        return {**one, **simulate(options.weir, one["command"], read)}

    begin, lines = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(work, points):
            lines.append(line)
            if len(lines) % 100 == 0:
                print(f"{len(lines)} of {len(points)}, {time.monotonic() - begin:.0f} s", flush=True)
    return lines


def make_alone(options, workloads):
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        lines = [line for found in pool.map(lambda workload: alone_lines(options.weir, workload), workloads)
                 for line in found]
    studies.store_lines(options.out / "alone.csv", ALONE_NAMES, lines, ())


def run(options):
    os.nice(5)
    make_alone(options, [*cases.WORKLOADS, cases.MAX_MIN])
    studies.store_lines(options.out / "runs.csv", NAMES,
                        run_lines(options, cases.all_points(), alone_times(options.out)), ())


def replay(trial):
    check_files()
    workload, seed, policies = CHEAP
    make_alone(trial, [workload])
    points = [one for one in cases.all_points()
              if (one["workload"], str(one["seed"]), one["part"]) == (workload, seed, "main")
              and one["policy"] in policies]
    studies.store_lines(trial.out / "runs.csv", NAMES, run_lines(trial, points, alone_times(trial.out)), ())


def check_files():
    """Ends the program if weir-traffic makes other files than those that are stored."""
    with tempfile.TemporaryDirectory(prefix="weir-traffic-") as directory:
        fresh = pathlib.Path(directory)
        make_files(fresh)
        for file in sorted(path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()):
            if (fresh / file).read_bytes() != (TOP / file).read_bytes():
                sys.exit(f"FAIL {file}: not what weir-traffic makes; bench/study traffic files")


STUDY = studies.Study(
    page.page, runs={"run": run}, keys={"runs.csv": ("command",), "alone.csv": ("workload", "bytes")}, replay=replay,
    others={"files": lambda options: make_files(TOP),
            "list": lambda options: print("\n".join(one["command"] for one in cases.all_points()))},
    options=lambda parser: parser.add_argument("--jobs", type=int, default=2))
