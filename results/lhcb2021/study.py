"""The five rows of the LHCb 2021 paper, simulated with the scenarios lhcb2021-1 to -5: paper against weir, misses
included.

measure: runs each row for 300 s, busy rows once for each seed (runs.csv), the whole farm (farm.json), and draws the
figures of seed 1; five minutes of CPU time. packets [PART...]: packets.py, whose parts are rate, settings, tops and
overload. What the paper leaves open is searched (search.py), with lines in search.csv and most.csv:

    grid     the coarse grid: one seed, 60 s; row 5: 300 s, where rows 3 and 4 are close
    most     the highest rate of row 3 with each choice of the grid
    refine   neighbours of the best, one choice at a time; 300 s
    fine     a finer grid around the events, slots and streams that were closest; 300 s
    phases   what was close, with producers that generate at different instants: spread, random
    seeds    what was nearly chosen, with other seeds; 300 s
    again --rows 3 --events 6 12 24    simulates these stored lines anew, after a change of weir
    rank     prints the ranking of what is stored

What is stored is not simulated again, so that each step can be stopped and goes on where it was. README.md is made of
these files and of about.md.
"""

import concurrent.futures
import json
import os
import shlex

import model
import packets
import page
import search
import studies
from store import Store

ROWS = (1, 2, 3, 4, 5)
BUSY_ROWS = (2, 4, 5)
NAMES = ("row", "seed", "sustained", "first_overflow_second", "late_sets", "sets", "least_slack_s", "worst_late_s",
         *model.MEASURED, "weir", "command")
# Lines that `check` replays: of search.csv, 60 s each; and row 3 of runs.csv.
CHEAP = {"event": ("8", "128MiB"), "generation": ("sets",), "slots": ("1",), "streams": ("2", "8"),
         "row": ("1", "3", "4"), "seconds": ("60",),
         "quantum_ms": ("", "300"), "load": ("", "0.12")}


def simulate(weir, row, seed, look=None):
    """Simulates a row as its scenario has it. Returns its line; look(directory) is called with the run before it is
    removed."""
    line = ["weir", "simulate", "--scenario", f"lhcb2021-{row}", "--seed", str(seed)]
    with studies.finished([weir, *line[1:]]) as (run, out):
        if look:
            look(out)
        return {"row": row, "seed": seed, **{name: run["verdict"][name] for name in NAMES[2:8]},
                **model.measured(out, run, row, {"event": "128MiB"}), "weir": run["environment"]["weir_commit"][:12],
                "command": shlex.join(line)}


def store_run(out, line):
    text = {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in line.items()}
    studies.store(out / "runs.csv", NAMES, text, ("row", "seed"))


def draw(options):
    """The first seed of each row: what the paper's figures 3 to 7 show."""
    if figures := studies.drawing():
        for row in ROWS:
            simulate(options.weir, row, 1, lambda run, row=row: figures.draw(
                row, run, options.out / f"row-{row}.png", model.MIB128 * 8e-9, True, f"row {row}, simulated, seed 1"))


def farm(weir):
    with studies.finished([weir, "simulate", "--scenario", "lhcb2021-farm"]) as (run, _):
        return {"verdict": run["verdict"]["text"], "sustained": run["verdict"]["sustained"],
                "max_occupancy": run["totals"]["max_occupancy"],
                "blocked_at_once_max": run["verdict"]["blocked_at_once_max"],
                "delivered_events": run["totals"]["received_events"],
                "delivered_bytes": run["totals"]["received_bytes"],
                "weir": run["environment"]["weir_commit"][:12]}


def replay(trial):
    store_run(trial.out, simulate(trial.weir, 3, 1))
    again = Store(trial.out / "search.csv")
    for line in studies.stored(trial.stored / "search.csv"):
        if all(line[name] in values for name, values in CHEAP.items()):
            again.add(model.simulate(trial.weir, {name: line[name] for name in model.RUN}))


def measure(options):
    wanted = [(row, seed) for row in ROWS for seed in range(1, 1 + ((options.seeds or 20) if row in BUSY_ROWS else 1))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(lambda point: simulate(options.weir, *point), wanted):
            store_run(options.out, line)
            print(f"row {line['row']}, seed {line['seed']}", flush=True)
    (options.out / "farm.json").write_text(json.dumps(farm(options.weir), indent=2) + "\n")
    draw(options)


def add_options(parser):
    parser.add_argument("parts", nargs="*", metavar="PART", help="of packets")
    parser.add_argument("--seeds", type=int, help="measure: 20; seeds: 10")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, default=30,
                        help="of packets and the search: stop after so long; the next call goes on (default 30)")
    search.add_options(parser)


STUDY = studies.Study(
    page.page, runs={"measure": measure, "figures": draw, "packets": packets.run_all, **search.STEPS},
    others={"rank": search.rank},
    keys={"runs.csv": ("row", "seed"), "search.csv": model.RUN}, replay=replay, options=add_options)
