"""How often weir names what really held a run up, and whether what it advises is enough: random plans with planted
limits, simulated, and measured cases.

    bench/study causes bench [--seed 1] [--plans 150] [--family TEXT]   # simulated plans
    bench/study causes measured [--only TEXT]   # cases in network namespaces, as root: six minutes of a quiet machine

`bench` draws a plan of one family after the other, each with its seed (families.py). It is simulated, and if it was not
on time, again with one thing relaxed at a time, in pairs if nothing suffices alone, and for single ranks: that is its
truth (truth.py). Then it is judged what weir names, proved, by its rules from the rows, and by `weir explain` of the
run's directory, and the remedy is tried: as advised, 3 % less of it, with three other seeds and for five times as long
(judging.py, remedies.py). bench.csv has a line for each plan. Seeds below 10000 are for work on weir; the published
ones are above 50000. `measured` has its truths by hand (cases.py), and holds what is said against the rows of the run
(refutation.py). `check` names some plans again: as many right by each source, and no more false.
"""

import concurrent.futures
import os
import shlex
import shutil
import sys

import cases
import families
import judging
import page
import refutation
import studies

KEY = ("family", "seed")
STEP = 24      # plans, after which they are written
REPLAYED = 60  # plans


def in_parallel(jobs, work, items):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, items))


def bench(given):
    file = given.out / "bench.csv"
    plans = families.chosen(given.family, given.seed, given.plans)
    for begin in range(0, len(plans), STEP):
        lines = in_parallel(given.jobs, lambda plan: judging.measure(given.weir, *plan), plans[begin:begin + STEP])
        made = {(line["family"], str(line["seed"])) for line in lines}
        kept = [line for line in studies.stored(file) if (line["family"], line["seed"]) not in made]
        order = {name: place for place, name in enumerate(families.FAMILIES)}
        kept = [line for line in kept if line["family"] in order]
        studies.write_lines(file, judging.COLUMNS,
                            sorted([*kept, *lines], key=lambda line: (order[line["family"]], int(line["seed"]))))
        print(f"{begin + len(lines)} of {len(plans)} plans, {studies.children_cpu_s():.0f} s of processor time",
              file=sys.stderr, flush=True)


def measured(given):
    """Every case once, or those whose name contains --only."""
    with cases.Lab() as lab:
        for case in [case for case in cases.cases() if given.only in case.name]:
            record, directory, said = cases.run_case(lab, case, given.weir)
            verdict, what, where, share = cases.judge(case, record)
            known = record is not None and verdict != "failed"
            line = {"case": case.name, "engine": case.engine, "hosts": case.where, "truth": " ".join(case.truth),
                    "named": what, "where": where,
                    "share": f"{share:.2f}", "judged": verdict, "refuted": refutation.refuted(record, directory / "run")
                    if known else "",
                    "text": record["verdict"]["text"] if known else said[-500:],
                    "weir": record["environment"]["weir_version"] if known else "",
                    "late_sets": record["verdict"]["late_sets"] if known else "", "sets": record["verdict"]["sets"]
                    if known else "",
                    "command": shlex.join(cases.command_of(case))}
            studies.store(given.out / "measured.csv", page.MEASURED, line, ("case",))
            shutil.rmtree(directory, ignore_errors=True)
            print(f"{verdict:10} {case.name}: {what} {where} ({share:.2f}), true: {', '.join(case.truth) or 'on time'}",
                  flush=True)
            print(f"           {line['text']}" + (f"\n           REFUTED: {line['refuted']}" if line["refuted"]
                                                  else ""), flush=True)
    lines = studies.stored(given.out / "measured.csv")
    print(page.measured_summary(lines))
    return 1 if any(line["refuted"] for line in lines) else 0


def replay(trial):
    """Some of the stored plans named again: as many right by each source, and no more false."""
    rows = [row for row in studies.stored(trial.stored / "bench.csv") if row["was"] in page.KNOWN]
    subset = rows[::max(1, len(rows) // REPLAYED)]
    again = in_parallel(trial.jobs, lambda row: judging.judged_again(trial.weir, row), subset)
    faults = []
    for source in judging.SOURCES:
        before, now = page.counts(subset, source), page.counts(again, source)
        faults += [f"FAIL: {source}: {', '.join(what)} {sum(now[one] for one in what)} of {len(subset)} plans, stored "
                   f"{sum(before[one] for one in what)}"
                   for what, sign in ((("right", "on time"), 1), (page.FALSE, -1))
                   if sum(sign * (now[one] - before[one]) for one in what) < 0]
    return len(subset), faults


def add_options(parser):
    parser.add_argument("--plans", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", default="", help="a family, or text that names have")
    parser.add_argument("--only", default="", help="measured cases whose name has this text")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())


STUDY = studies.Study(page.page, runs={"bench": bench, "measured": measured}, replay=replay, options=add_options)
