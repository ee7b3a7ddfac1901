"""Whether `weir explain` is right: runs of which the limit is known, explained from their directory alone, and the remedy tried.

    bench/study explain simulated [--plans 150] [--seed 1] [--jobs 2]
    bench/study explain measured [--only NAME]   # in network namespaces (bench/lab): root, ten minutes of a quiet machine

`simulated` draws plans as bench/study causes does (plans.py: one limit planted, two at once, or none; fluid), simulates them, and
explains the run directory, of which `weir explain` reads neither the assumed network nor the faults. The remedy is then applied to the
plan that was simulated, with its true network: every set must be on time. `measured` (cases.py) does that with real runs. `check` explains some of the
simulated runs again.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess

import cases
import remedies
import studies

studies.borrow("causes")
import plans  # noqa: E402
import truth  # noqa: E402

NAMES = ("name", "planted", "weir", "late", "near", "differs", "causes", "remedy", "tried", "outcome", "rate", "rate_outcome", "simulations",
         "command", "text")


def explain(weir, directory):
    """explain.json of a run; or why there is none."""
    done = subprocess.run([weir, "explain", str(directory), "--json", "--jobs", "1"], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode not in (0, 3):
        return {"refused": done.stderr.strip()}
    return json.loads(done.stdout)


def is_good(record):
    return "refused" not in record and truth.outcome(record)["good"]


def fill(row, found, late):
    """What was explained, without what came of it."""
    row.update(near=str(found["near"]), differs=found["differs_most"] or "", remedy=found["remedy"] or "", simulations=found["simulations"],
               causes=" ".join(cause["what"] for cause in found["causes"]), text=found["text"].replace("\n", " "))
    if not found["near"]:
        row["outcome"] = "not reproduced"
    elif not late:
        row["outcome"] = "on time" if not found["causes"] else "false alarm"
    elif not found["remedy"]:
        row["outcome"] = "no remedy"
    return row


def simulated(weir, seed):
    plan, planted = plans.draw_plan(seed, packets_one_in=0)
    row = dict.fromkeys(NAMES, "")
    row.update(name=seed, planted="+".join(planted) or "none", command=shlex.join(["weir", "simulate", *truth.words_of(plan)]))
    with studies.tried([weir, "simulate", *truth.words_of(plan), *truth.OFF], scratch=studies.MEMORY, timeout=300) as (record, out, done):
        if done.returncode != 0:
            return {**row, "outcome": "refused", "text": done.stderr.strip()}
        row["weir"] = record["environment"]["weir_commit"][:12]
        before = truth.outcome(record)
        row["late"] = f"{before['late']:.4f}"
        found = explain(weir, out)
        if "refused" in found:
            return {**row, "outcome": "cannot be explained", "text": found["refused"]}
        fill(row, found, not before["good"])
    if not row["outcome"]:
        changed, row["tried"] = remedies.applied(plan, found)
        row["outcome"] = "helps" if is_good(truth.simulate(weir, changed, truth.OFF)) else "does not help"
    rate = found["largest_rate"] and found["largest_rate"]["limit"]
    if rate:
        row["rate"] = rate
        record = truth.simulate(weir, remedies.with_rate(plan, rate), truth.OFF)
        row["rate_outcome"] = "on time" if is_good(record) else "late"
    return row


OUTCOMES = ("helps", "does not help", "no remedy", "not reproduced", "on time", "false alarm", "cannot be explained", "void")
REPLAYED = 6
FOREIGN = "foreign load"


def counted(rows):
    counts = collections.Counter((row["planted"] if "+" not in row["planted"] else "two at once", row["outcome"]) for row in rows)
    shown = [outcome for outcome in OUTCOMES if any(key[1] == outcome for key in counts)]
    lines = []
    for planted in sorted({key[0] for key in counts}, key=lambda kind: (kind in ("two at once", "none"), kind)):
        of_it = sum(number for (kind, _), number in counts.items() if kind == planted)
        lines.append([planted, of_it, *(counts[planted, outcome] or "" for outcome in shown)])
    total = collections.Counter(row["outcome"] for row in rows)
    lines.append(["**all**", len(rows), *(total[outcome] for outcome in shown)])
    return studies.table(["planted", "runs", *shown], lines)


def verdict(value, goal, what):
    return f"{studies.verdict(value >= goal)}: {what}"


def expectations(simulated_rows, measured_rows):
    """Each expectation of about.md with what came out."""
    lines = []
    if simulated_rows:
        total = collections.Counter(row["outcome"] for row in simulated_rows)
        tried = total["helps"] + total["does not help"]
        late = tried + total["no remedy"] + sum(row["outcome"] == "not reproduced" and float(row["late"]) > 0 for row in simulated_rows)
        near = sum(row["near"] == "True" for row in simulated_rows)
        rates = collections.Counter(row["rate_outcome"] for row in simulated_rows if row["rate_outcome"])
        known = rates["on time"] + rates["late"]
        lines += [["simulated: remedies that hold", "95 %", verdict(total["helps"], 0.95 * tried, f"{total['helps']} of {tried}")],
                  ["simulated: late runs with a remedy that holds", "85 %", verdict(total["helps"], 0.85 * late, f"{total['helps']} of {late}")],
                  ["simulated: twins that are near", "90 %", verdict(near, 0.9 * len(simulated_rows), f"{near} of {len(simulated_rows)}")],
                  ["simulated: runs on time with causes", "0", verdict(0, total["false alarm"], str(total["false alarm"]))],
                  ["simulated: largest rates with which the run is on time", "95 %",
                   verdict(rates["on time"], 0.95 * known, f"{rates['on time']} of {known}")]]
    if measured_rows:
        foreign = [row for row in measured_rows if row["name"].startswith(FOREIGN)]
        planted = [row for row in measured_rows if row not in foreign and not row["name"].startswith("on time")]
        helped = sum(row["outcome"] == "helps" for row in planted)
        wrong = sum(row["outcome"] == "does not help" for row in planted)
        refused = sum(row["outcome"] == "not reproduced" for row in foreign)
        lines += [["measured: planted limits, on time with the remedy", "9 of 10", verdict(helped, 0.9 * len(planted), f"{helped} of {len(planted)}")],
                  ["measured: remedies that do not hold", "0", verdict(0, wrong, str(wrong))],
                  ["measured: runs with a foreign load, not reproduced", "all", verdict(refused, len(foreign), f"{refused} of {len(foreign)}")]]
    return studies.table(["expected before the runs", "goal", "outcome"], lines)


def cases_table(rows):
    return studies.table(["case", "late sets", "near", "causes named", "remedy", "outcome"],
                            [[row["name"], f"{100 * float(row['late'] or 0):.0f} %", {"True": "yes", "False": f"no: {row['differs']}"}.get(row["near"], ""),
                              row["causes"].replace(" ", ", "), row["remedy"], row["outcome"]] for row in rows])


def page(out):
    of = {name: studies.stored(out / f"{name}.csv") for name in ("simulated", "measured")}
    missed = [row for row in of["simulated"] if row["outcome"] in ("does not help", "no remedy", "cannot be explained") or row["rate_outcome"] == "late"]
    parts = {"expectations": expectations(of["simulated"], of["measured"]), "simulated": counted(of["simulated"]), "measured": cases_table(of["measured"]),
             "hidden": str(sum(row["differs"].startswith("links of ") for row in of["simulated"])),
             "misses": studies.table(["seed", "planted", "outcome", "remedy", "largest rate"],
                                     [[row["name"], row["planted"], row["outcome"], row["remedy"], row["rate_outcome"]] for row in missed])}
    return studies.about(out, "explain", parts, f"Made by `bench/study explain` with weir {studies.versions(of['simulated'] + of['measured'])}.")


def simulate_all(given):
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        rows = list(pool.map(lambda seed: simulated(given.weir, seed), range(given.seed, given.seed + given.plans)))
    studies.write_lines(given.out / "simulated.csv", NAMES, rows)


def measure_all(given):
    studies.write_lines(given.out / "measured.csv", NAMES, cases.run_all(given.weir, given.runs, given.only, explain, fill, NAMES))


def replay(trial):
    for stored in studies.stored(trial.stored / "simulated.csv")[:REPLAYED]:
        studies.store(trial.out / "simulated.csv", NAMES, simulated(trial.weir, int(stored["name"])), ("name",))


def add_options(parser):
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("runs/explain"), help="where measured runs are kept")
    parser.add_argument("--plans", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="a case of `measured`; repeatable")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())


STUDY = studies.Study(page, runs={"simulated": simulate_all, "measured": measure_all}, keys={"simulated.csv": ("name",)}, replay=replay,
                      options=add_options)
