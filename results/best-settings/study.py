"""The best setting that weir-sweep tune finds with PFC, ECN, both, and on hosts, for the layouts of the LHCb 2021 paper
and an all-to-all exchange.

    bench/study best-settings tune [--case row-3] [--group pfc] [--jobs 2]
    bench/study best-settings runs [--case row-3] [--group pfc] [--jobs 2]
    bench/study best-settings list                # the commands of all runs

tune: weir-sweep tune with each file of results/best-settings/files. What the page needs of a tuning goes into
tunings.csv and changes.csv, what it printed into answers.md. A tuning that was stopped goes on where it was
(--work, default build/best-settings). runs: with the seeds of the confirmation, which no search has seen, the present
and the proposed setting once more (they must give the figures of the confirmation again), the present one with each
axis alone as proposed, and both settings at ten times the interval. What is expected stands in expected.py and was
written before the runs.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import threading

import cases
import page
import provenance
import studies

sys.path.append(str(studies.TOP / "src/report"))
from weir_runs.reading.key_figures import key_figures  # noqa: E402
from weir_runs.reading.run import read_run  # noqa: E402

TUNINGS = ("case", "group", "weir", "cpu_s", "runs", "within", "tried", "nothing", "present", "proposed", "present_s")
CHANGES = ("case", "group", "part", "of", "gain", "low", "high", "call", "relevant")
NAMES = ("case", "group", "part", "axis", "setting", "seed", "status", "slowest_ms", "sustained", "late_sets", "sets",
         "lost_packets", "paused_share",
         "marked_share", "timeouts", "weir", "command")
KEYS = ("case", "group", "part", "axis", "seed")
LIMIT_S = 300
# Lines that `check` makes again: two settings of the exchange, and one of the paper's layouts.
CHEAP = (("all-to-all", "both", "pair"), ("all-to-all", "ecn", "pair"))
PRESENT, PROPOSED = "present", "proposed"


# ------------------------------------------------------------------------------------------------------------- tuning


def tune(options):
    """Tunes what is not in tunings.csv yet."""
    os.nice(10)
    for case, group in chosen(options):
        if not page.Data(options.out).tuning(case, group):
            spent = studies.children_cpu_s()
            document = tuned(options, cases.name(case, group))
            keep(options.out, case, group, document, {"weir": provenance.program_version(options.weir)[0],
                                                      "cpu_s": round(studies.children_cpu_s() - spent, 1)})


def tuned(options, name):
    """tune.json; None if no axis can act."""
    directory = options.work.resolve() / name
    directory.parent.mkdir(parents=True, exist_ok=True)
    file = directory.with_suffix(".toml")
    file.write_text((studies.RESULTS / "best-settings" / page.FILES / file.name).read_text())
    environment = {**os.environ, "WEIR": options.weir, "PYTHONPATH": str(studies.TOP / "src/report"),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-m", "weir_suites.sweep_command", "tune", str(file), "--jobs",
                           str(options.jobs)], check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"weir-sweep tune {file}: exit status {done.returncode}")
    record = directory / "tune.json"
    return json.loads(record.read_text()) if record.exists() else None


def keep(out, case, group, document, made):
    """Stores what the page needs of a tuning. made: with which weir, in which processor time."""
    known = {"case": case, "group": group}
    line = {**known, **made, "nothing": "" if document else "no axis can act"}
    changes = []
    if document:
        present, proposed = document["present"], document["proposed"] or {}
        line |= {"runs": sum(document["runs"].values()), "within": document["flat"]["settings"],
                 "tried": document["flat"]["tried"],
                 "present": page.words(present), "proposed": page.words(proposed),
                 "present_s": " ".join(f"{value:.12g}" for value in document["present_values"])}
        if document["change"]:
            changes.append({**document["change"], "part": "together"})
        changes += [{**near, "part": "back", "of": axis["name"]} for axis in document["axes"]
                    for near in axis["neighbours"]
                    if near["words"] == PRESENT
                    and proposed.get(axis["name"], present[axis["name"]]) != present[axis["name"]]]
        changes += [{**load, "part": "load", "of": load["load"]} for load in document["loads"]]
    if changes:
        studies.store_lines(out / page.CHANGES, CHANGES, [{**change, **known} for change in changes], known)
    studies.store(out / page.TUNINGS, TUNINGS, line, known)
    page.store_answer(out, case, group, line, document["lines"] if document else [line["nothing"]])


# --------------------------------------------------------------------------------------------------------------- runs


def point(case, group, part, axis, setting, seed, *, more=None):
    return {"case": case, "group": group, "part": part, "axis": axis,
            "setting": " ".join(f"{name}={text}" for name, text in setting.items()),
            "seed": seed, "command": cases.command(case, group, setting, seed, more)}


def points(case, group, found):
    """What is run of a case and group, by what tune found there; nothing without a tuning."""
    if not found:
        return []
    proposed = found["proposed"]
    both = {PRESENT: {}, **({PROPOSED: proposed} if proposed else {})}
    wanted = [("pair", which, setting, None) for which, setting in both.items()]
    if group == "pfc":
        wanted.append(("neither", PRESENT, {}, {"pfc": "off"}))
    changed = {axis: text for axis, text in proposed.items() if text != found["present"][axis]}
    if len(changed) > 1:
        wanted += [("alone", axis, {axis: text}, None) for axis, text in changed.items()]
    if proposed and cases.GROUPS[group].ecn == "on":
        wanted += [("longer", which, setting, cases.LONGER_OPTIONS) for which, setting in both.items()]
    return [point(case, group, part, axis, setting, seed, more=more) for part, axis, setting, more in wanted
            for seed in range(cases.FIRST_FRESH, cases.FIRST_FRESH + cases.PAIRS)]


def all_points(options):
    """What costs most comes last."""
    data = page.Data(options.out)
    made = [one for case, group in chosen(options) for one in points(case, group, data.tuning(case, group))]
    return sorted(made, key=lambda one: ("pair", "neither", "alone", "longer").index(one["part"]))


def simulate(weir, one):
    return {**one, **studies.attempted(weir, one["command"], LIMIT_S, measured)}


def measured(run, out):
    figures, switch = key_figures(read_run(out)), run["switch"]
    return {"slowest_ms": 1000 * figures["longest_stay"], "sustained": int(run["verdict"]["sustained"]),
            "late_sets": run["verdict"]["late_sets"],
            "sets": run["verdict"]["sets"], "lost_packets": switch["dropped_packets"],
            "paused_share": switch["producers_paused_share"]["mean"],
            "marked_share": switch["marked_share"], "timeouts": switch["timeouts"]}


def make_lines(options, wanted):
    writing = threading.Lock()

    def work(one):
        line = simulate(options.weir, one)
        with writing:
            studies.store(options.out / "runs.csv", NAMES, line, KEYS)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, wanted))


def is_known(status):
    """Whether a run need not be made again: one that was interrupted says nothing."""
    return status == "complete" or status.startswith(("refused", "longer than"))


def run(options):
    os.nice(10)
    wanted, stored = all_points(options), studies.stored(options.out / "runs.csv")
    known = {line["command"]: line for line in stored if is_known(line["status"])}
    for one in wanted:  # the present setting of two groups is the same run
        if one["command"] in known and not studies.select(stored, **{key: one[key] for key in KEYS}):
            studies.store(options.out / "runs.csv", NAMES, {**known[one["command"]], **one}, KEYS)
    make_lines(options, [one for one in wanted if one["command"] not in known])


def replay(trial):
    stored = studies.stored(trial.stored / "runs.csv")
    make_lines(trial, [{name: line[name] for name in (*NAMES[:NAMES.index("status")], "command")} for line in stored
                       if (line["case"], line["group"], line["part"]) in CHEAP
                       and line["seed"] == str(cases.FIRST_FRESH)])


def show(options):
    for one in all_points(options):
        print(one["command"])


def chosen(options):
    return [(case, group) for case, group in cases.pairs() if options.case in (None, case)
            and options.group in (None, group)]


def add_options(parser):
    parser.add_argument("--case", choices=cases.CASES, help="this one only")
    parser.add_argument("--group", choices=cases.GROUPS, help="this one only")
    parser.add_argument("--jobs", type=int, default=1, help="simulations at a time")
    parser.add_argument("--work", type=pathlib.Path, default=studies.TOP / "build/best-settings",
                        help="where tunings are while they run")


STUDY = studies.Study(page.page, runs={"tune": tune, "runs": run}, others={"list": show}, keys={"runs.csv": KEYS},
                      replay=replay,
                      options=add_options)
