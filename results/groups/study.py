"""The farm of the LHCb paper of 2021 as 36 groups and as one: simulates both at several loads, and writes
results/groups.

run: some 6 minutes. A line for each simulation is kept in runs.csv; README.md is made of it and of about.md. `check`
runs the first lines again, and expects the same figures.
"""

import provenance
import studies

# Name: groups, producers and consumers of each.
LAYOUTS = {"groups": (36, 14, 72), "one": (1, 504, 2592), "proposed": (1, 500, 4000)}
LOADS = (0.5, 0.7, 0.8, 0.9, 0.933, 0.95, 0.97, 0.99)
SEEDS = {"groups": (1,), "one": (1, 2, 3), "proposed": (1, 2, 3)}  # a job of groups has 36 seeds
EVENTS_PER_SECOND = 4  # of a producer
OPTIONS = ("--scenario", "lhcb2021-farm", "--duration", "100s", "--warmup", "10s")
NAMES = ("layout", "load", "seed", "late_sets", "sets", "late_groups", "max_occupancy", "goodput_tbps", "cpu_s", "weir",
         "command")
KEY = ("layout", "load", "seed")
RATE_TBPS = {name: groups * producers * 0.064 for name, (groups, producers, _) in LAYOUTS.items()}


def words_of(layout, load, seed):
    groups, producers, consumers = LAYOUTS[layout]
    busy_s = load * consumers / (producers * EVENTS_PER_SECOND)
    parts = ("--groups", str(groups)) if groups > 1 else ()
    return ["simulate", *OPTIONS, *parts, "--producers", str(producers), "--consumers", str(consumers), "--busy",
            f"poisson:{busy_s:.4g}s,quantum=50ms", "--seed", str(seed)]


def goodput_tbps(run):
    if "goodput_bits_per_second" in run:
        return run["goodput_bits_per_second"] / 1e12
    return sum(rank["mean_bits_per_second"] for rank in run["ranks"] if rank["role"] == "consumer") / 1e12


def one(options, layout, load, seed):
    words, before = words_of(layout, load, seed), studies.children_cpu_s()
    with studies.finished([options.weir, *words]) as (run, _):
        verdict = run["verdict"]
        line = {"layout": layout, "load": load, "seed": seed, "late_sets": verdict["late_sets"],
                "sets": verdict["sets"],
                "late_groups": len(verdict["late_groups"]) if "late_groups" in verdict else int(not verdict["on_time"]),
                "max_occupancy": round(run["totals"]["max_occupancy"], 3), "goodput_tbps": round(goodput_tbps(run), 3),
                "cpu_s": round(studies.children_cpu_s() - before, 1),
                "weir": provenance.program_version(options.weir)[0],
                "command": f"weir {' '.join(words)}"}
    studies.store(options.out / "runs.csv", NAMES, line, KEY)
    print(f"{layout}, load {load}, seed {seed}: {line['late_sets']} of {line['sets']} sets late", flush=True)


def run_all(options):
    (options.out / "runs.csv").unlink(missing_ok=True)  # lines of another program are not mixed with these
    for load in LOADS:
        for layout in LAYOUTS:
            for seed in SEEDS[layout]:
                one(options, layout, load, seed)


class Cell:
    """All runs of a layout at a load."""

    def __init__(self, runs, layout, load):
        lines = [line for line in runs if line["layout"] == layout and float(line["load"]) == load]
        self.late = sum(int(line["late_sets"]) for line in lines) / sum(int(line["sets"]) for line in lines)
        self.occupancy = max(float(line["max_occupancy"]) for line in lines)
        self.goodput = sum(float(line["goodput_tbps"]) for line in lines) / len(lines) / RATE_TBPS[layout]
        self.cpu_s = sum(float(line["cpu_s"]) for line in lines) / len(lines)


def expectation(number, text, holds):
    failed = [where for where, one_holds in holds if not one_holds]
    return [number, text, "MISS at " + ", ".join(failed) if failed else "PASS"]


def page(out):
    runs = studies.stored(out / "runs.csv")
    cells = {(layout, load): Cell(runs, layout, load) for layout in LAYOUTS for load in LOADS}
    late = [[load, *(f"{100 * cells[layout, load].late:.2f} %" for layout in LAYOUTS),
             *(f"{cells[layout, load].occupancy:.2f}" for layout in LAYOUTS)]
            for load in LOADS]
    cpu = {layout: sum(cells[layout, load].cpu_s for load in LOADS) for layout in LAYOUTS}
    on_time = {layout: max((load for load in LOADS if cells[layout, load].late == 0), default=None)
               for layout in LAYOUTS}
    expected = [expectation(1, "all is carried up to load 0.90",
                            [(f"{layout} {load}", abs(cells[layout, load].goodput - 1) < 0.01)
                             for layout in LAYOUTS
                             for load in LOADS if load <= 0.9]),
                expectation(2, "groups are late at least as often as one scheduler for the same hosts",
                            [(str(load), cells["groups", load].late >= cells["one", load].late) for load in LOADS]),
                expectation(3, "the proposed farm is not late more often than the others",
                            [(str(load),
                              cells["proposed", load].late <= min(cells["one", load].late, cells["groups", load].late))
                             for load in LOADS]),
                expectation(4, "groups cost less CPU time than one farm of the same hosts",
                            [("", cpu["groups"] < cpu["one"])])]
    largest = ", ".join(f"{name} {f'at none that was tried ({LOADS[0]} and more)' if load is None else f'up to {load}'}"
                        for name, load in on_time.items())
    return {"README.md": studies.joined([
        "# The farm as 36 groups, and as one",
        "Made by `bench/study groups run`; edit `about.md`, not this file. " + studies.made_with(runs),
        f"**Up to which load is no set late? {largest}.** Simulated. Load is a share of what the consumers can bear. "
        "Late is the share of late sets of all runs. Occupancy is the worst; one new set is 0.5, and above 1 the "
        "buffer of two sets overflows.",
        studies.table(["load", "late: groups", "one", "proposed", "occupancy: groups", "one", "proposed"], late),
        studies.table(["", "expected", ""], expected),
        "CPU time of all loads, 100 s each: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in cpu.items())
        + ". [runs.csv](runs.csv) has every run with its command.", studies.text(out, "about.md")])}


STUDY = studies.Study(page, runs={"run": run_all}, keys={"runs.csv": KEY},
                      replay=lambda trial: one(trial, "groups", LOADS[0], 1))
