"""Random scenarios under the simulator's checkers: runs them in blocks and writes the page.

run: the explorer (tests/explorer) for the seeds 1 to --scenarios, in blocks; 1.3 s of CPU time for a thousand. A line
for each block is kept in runs.csv; README.md is made of it and of about.md, `table` makes only that. `check` runs the
first block, of 1000 scenarios, again, and compares its outcome: which scenarios a seed draws changes with every new
option and scenario file.
"""

import re
import subprocess
import sys

import provenance
import studies

FIRST, BLOCK = 1000, 20000
NAMES = ("first_seed", "scenarios", "events", "outcome", "cpu_s", "weir")
KEY = ("first_seed",)


def blocks(scenarios):
    """(first seed, how many); the first block is a short one, for `check`."""
    seed, size = 1, FIRST
    while seed <= scenarios:
        count = min(size, scenarios - seed + 1)
        yield seed, count
        seed, size = seed + count, BLOCK


def run_block(options, seed, count):
    words = [options.weir, str(count), "--seed", str(seed)]
    before = studies.children_cpu_s()
    done = subprocess.run([*words, "--jobs", str(options.jobs)], capture_output=True, text=True, check=False)
    found = re.search(r"(\d+) random scenarios from seed (\d+) on, (\d+) events delivered, (.*)",
                      done.stdout + done.stderr)
    if not found or done.returncode:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    spent = studies.children_cpu_s() - before
    line = {"first_seed": seed, "scenarios": int(found[1]), "events": int(found[3]), "outcome": found[4],
            "cpu_s": round(spent, 1),
            "weir": provenance.program_version(options.weir)[0]}
    studies.store(options.out / "runs.csv", NAMES, line, KEY)
    print(f"seeds {seed} to {seed + count - 1}: {found[3]} events, {found[4]}, {spent:.0f} s of CPU time", flush=True)


def run(options):
    (options.out / "runs.csv").unlink(missing_ok=True)  # lines of another program are not mixed with these
    for seed, count in blocks(options.scenarios):
        run_block(options, seed, count)


def page(out):
    runs = studies.stored(out / "runs.csv")
    scenarios, events = (sum(int(line[name]) for line in runs) for name in ("scenarios", "events"))
    seconds = sum(float(line["cpu_s"]) for line in runs)
    outcomes = ", ".join(sorted({line["outcome"] for line in runs}))
    return {"README.md": studies.joined([
        "# Exploration: random scenarios under the checkers",
        "Made by `bench/study exploration run`; edit `about.md`, not this file. " + studies.made_with(runs),
        f"**{scenarios} random scenarios from seed 1 on, {events} events delivered: {outcomes}.** {seconds / 60:.0f} "
        f"minutes of CPU time, in {len(runs)} blocks ([runs.csv](runs.csv) has each; the first one:)",
        f"    build/release/tests/explorer/explorer {runs[0]['scenarios']} --seed {runs[0]['first_seed']}\n\n"
        f"prints {runs[0]['events']} events delivered. What a seed draws changes with every option and scenario file "
        "that weir gets, so the number of events is that of the program above; the outcome is that of every program.",
        studies.text(out, "about.md")])}


def add_options(parser):
    parser.add_argument("--scenarios", type=int, default=200000)
    parser.add_argument("--jobs", type=int, default=2)


STUDY = studies.Study(page, runs={"run": run}, keys={"runs.csv": KEY}, replay=lambda trial: run_block(trial, 1, FIRST),
                      not_replayed=("events",),
                      options=add_options, program="tests/explorer/explorer")
