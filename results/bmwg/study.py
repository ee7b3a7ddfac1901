"""The tests of the IETF's draft, by weir-sweep bmwg: shallow and deep switches, as leaves and spines, with PFC, ECN,
both and neither.

    bench/study bmwg run [--switch deep] [--control PFC] [--section 11.2]
    bench/study bmwg time                     # one whole suite with --quick: how long it takes here

What is expected stands in expected.py and was written before the runs.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import cases
import page
import provenance
import studies

FIGURES = ("switch", "control", "section", "setting", "figure", "unit", "point", "value", "weir")
SECTIONS = ("switch", "control", "section", "state", "why", "tried", "counted", "wall_s", "weir")
TIMES = ("switch", "sections", "runs", "wall_s", "cpu_s", "load_before", "weir")


def suite(weir, switch, control, sections):
    """submission.json, and {wall_s, cpu_s, load_before}."""
    load, begin, spent = os.getloadavg()[0], time.monotonic(), _children_s()
    with tempfile.TemporaryDirectory(prefix="weir-bmwg-") as directory:
        plan = pathlib.Path(directory) / "plan.toml"
        plan.write_text(cases.plan(switch, control))
        # The command beside the program finds a Python that has its libraries.
        beside = pathlib.Path(weir).resolve().parent / "weir-sweep"
        command = [str(beside)] if beside.exists() else [sys.executable, "-m", "weir_suites.sweep_command"]
        words = [*command, "bmwg", str(plan), "--simulate", "--quick",
                 *(["--only", ",".join(sections)] if sections else [])]
        done = subprocess.run(words, check=False,
                              env={**os.environ, "WEIR": weir, "PYTHONPATH": str(studies.TOP / "src/report"),
                                   "PYTHONDONTWRITEBYTECODE": "1"})
        if done.returncode not in (0, 1):
            sys.exit(f"{switch}, {control}: exit status {done.returncode}")
        record = plan.with_suffix("") / "submission.json"
        if not record.exists():
            sys.exit(f"{switch}, {control}: {' '.join(words)} wrote no {record.name} (exit status {done.returncode})")
        found = json.loads(record.read_text())
    return found, {"wall_s": time.monotonic() - begin, "cpu_s": _children_s() - spent, "load_before": load}


def _children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def store(options, switch, control, sections):
    found, _ = suite(options.weir, switch, control, sections)
    version = {"weir": provenance.program_version(options.weir)[0]}
    accounts = {trial["section"]: trial for trial in found["trials"]}
    key = ("switch", "control", "section")
    for result in (result for result in found["results"] if result["section"] in accounts):
        account = accounts[result["section"]]
        studies.store(options.out / "sections.csv", SECTIONS, {
            "switch": switch, "control": control, "section": result["section"], "state": result["state"],
            "why": result["why"],
            "tried": account["tried"], "counted": account["counted"], "wall_s": account["seconds"], **version}, key)
        if lines := [{**line, **version} for line in cases.figures(switch, control, result)]:
            studies.store_lines(options.out / "figures.csv", FIGURES, lines, key)


def run(options):
    os.nice(5)
    for switch, control, sections in cases.suites():
        chosen = [section for section in sections if options.section in (None, section)]
        if chosen and options.switch in (None, switch) and options.control in (None, control):
            print(f"== {switch}, {control}", flush=True)
            store(options, switch, control, chosen)


def timed(options):
    """A suite of each switch with all sections, as an operator calls it."""
    for switch in cases.SWITCHES:
        if options.switch in (None, switch):
            found, times = suite(options.weir, switch, "both", ())
            line = {"switch": switch, "sections": len(found["trials"]),
                    "runs": sum(trial["tried"] for trial in found["trials"]),
                    "weir": provenance.program_version(options.weir)[0], **times}
            studies.store(options.out / "times.csv", TIMES, line, ("switch",))


def replay(trial):
    store(trial, *cases.CHEAP)


def add_options(parser):
    parser.add_argument("--switch", choices=cases.SWITCHES, help="the suites of this one only")
    parser.add_argument("--section", help="these tests only, as 11.2")
    parser.add_argument("--control", choices=(cases.OWN, *cases.CONTROLS), help="the suites with this setting only")


STUDY = studies.Study(page.page, runs={"run": run, "time": timed},
                      keys={"figures.csv": FIGURES[:5], "sections.csv": SECTIONS[:3]}, replay=replay,
                      options=add_options)
