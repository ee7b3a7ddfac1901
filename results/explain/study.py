"""Whether `weir explain` is right about real runs: runs of which the limit is known, explained from their directory
alone, and the remedy tried.

    bench/study explain measured [--only NAME]   # in network namespaces (bench/lab): root, ten minutes of a quiet
    machine

The remedy is applied to the run (cases.py): every set must be on time. Simulated runs: bench/study causes.
"""

import json
import pathlib
import subprocess

import studies

studies.borrow("causes")
import cases  # noqa: E402

NAMES = ("name", "planted", "weir", "late", "near", "differs", "causes", "remedy", "tried", "outcome", "rate",
         "rate_outcome", "simulations",
         "command", "text")
FOREIGN = "foreign load"


def explain(weir, directory):
    """explain.json of a run; or why there is none."""
    done = subprocess.run([weir, "explain", str(directory), "--json", "--jobs", "1"], capture_output=True, text=True,
                          check=False, timeout=600)
    if done.returncode not in (0, 3):
        return {"refused": done.stderr.strip()}
    return json.loads(done.stdout)


def fill(row, found, late):
    """What was explained, without what came of it."""
    row.update(near=str(found["near"]), differs=found["differs_most"] or "", remedy=found["remedy"] or "",
               simulations=found["simulations"],
               causes=" ".join(cause["what"] for cause in found["causes"]), text=found["text"].replace("\n", " "))
    if not found["near"]:
        row["outcome"] = "not reproduced"
    elif not late:
        row["outcome"] = "on time" if not found["causes"] else "false alarm"
    elif not found["remedy"]:
        row["outcome"] = "no remedy"
    return row


def verdict(value, goal, what):
    return f"{studies.verdict(value >= goal)}: {what}"


def expectations(rows):
    """Each expectation of about.md with what came out."""
    foreign = [row for row in rows if row["name"].startswith(FOREIGN)]
    planted = [row for row in rows if row not in foreign and not row["name"].startswith("on time")]
    helped = sum(row["outcome"] == "helps" for row in planted)
    wrong = sum(row["outcome"] == "does not help" for row in planted)
    refused = sum(row["outcome"] == "not reproduced" for row in foreign)
    lines = [["planted limits, on time with the remedy", "9 of 10",
              verdict(helped, 0.9 * len(planted), f"{helped} of {len(planted)}")],
             ["remedies that do not hold", "0", verdict(0, wrong, str(wrong))],
             ["runs with a foreign load, not reproduced", "all",
              verdict(refused, len(foreign), f"{refused} of {len(foreign)}")]]
    return studies.table(["expected before the runs", "goal", "outcome"], lines)


def cases_table(rows):
    return studies.table(["case", "late sets", "near", "causes named", "remedy", "outcome"],
                            [[row["name"], f"{100 * float(row['late'] or 0):.0f} %",
                              {"True": "yes", "False": f"no: {row['differs']}"}.get(row["near"], ""),
                              row["causes"].replace(" ", ", "), row["remedy"], row["outcome"]] for row in rows])


def page(out):
    rows = studies.stored(out / "measured.csv")
    return studies.about(out, "explain", {"expectations": expectations(rows), "measured": cases_table(rows)},
                         f"Made by `bench/study explain` with weir {studies.versions(rows)}.")


def measure_all(given):
    studies.write_lines(given.out / "measured.csv", NAMES,
                        cases.run_all(given.weir, given.runs, given.only, explain, fill, NAMES))


def add_options(parser):
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("runs/explain"),
                        help="where measured runs are kept")
    parser.add_argument("--only", action="append", default=[], help="a case of `measured`; repeatable")


STUDY = studies.Study(page, runs={"measured": measure_all}, options=add_options)
