"""How often weir names what really held a run up: random plans with a planted limit, the truth proved by simulating again, and measured cases.

    bench/study causes truth [--plans 2400] [--seed 1]
    bench/study causes named         # the rules of this weir on the same plans: truth is kept
    bench/study causes measured [--only TEXT]   # cases in network namespaces, as root: six minutes of a quiet machine
    bench/study causes fabrics [--plans 60] [--seed 1]   # limits between the hosts (fabrics.py)
    bench/study causes settings [--plans 400] [--seed 1]   # a setting of the switch as the limit (settings.py)
    bench/study causes summary
    bench/study causes plan --seed N            # the command of a plan
    bench/study causes examples                 # plans with a truth that is known by hand

`truth` draws a plan for each seed (plans.py): one limit planted, two or three at once, or none; fluid, and one in twenty packet by
packet. It is simulated, and if it was not on time, again with one thing relaxed at a time (links of 1 Tb/s, 64 slots and streams, times
of 0, options and faults dropped), and in pairs if nothing suffices alone (truth.py). Sufficient is what puts the run on time, or
takes nine tenths of the lateness. `named` looks at what the rules make of it: they see the rows of the run and its plan, never the
network that was simulated. runs.csv has a line for each seed. `measured` has its truths by hand (cases.py), and holds what is
said against the rows of the run (refutation.py). `check` names one plan in eight of both kinds again: as many right, and no more false.
"""

import concurrent.futures
import os
import shlex
import shutil
import sys

import cases
import fabrics
import page
import plans
import refutation
import settings
import studies
import truth

NAMES = page.STORED
STEP = 50  # plans, after which they are written
# The examples of which the truth is known by hand: (name, what is true, options).
COMMON = "--producers 4 --consumers 4 --duration 4s --warmup 1s"
EXAMPLES = (
    ("consumers' links", {"consumer-links"}, f"{COMMON} --rate 4Gb/s --consumer-link 3.5Gb/s --busy exponential:200us --slots 1"),
    ("producers' links", {"producer-links"}, f"{COMMON} --rate 4Gb/s --producer-link 3.5Gb/s --consumer-link 10Gb/s"),
    ("link of consumer 0", {"consumer-links"},
     f"{COMMON} --rate 4Gb/s --producer-link 10Gb/s --consumer-link 10Gb/s --fault degrade:consumer=0,factor=0.02"),
    ("scheduler", {"scheduler"}, f"{COMMON} --rate 4Gb/s --event-size 1MB --scheduler-time 700us --slots 1"),
    ("--requests 1", {"requests", "control-latency"},
     f"{COMMON} --rate 4Gb/s --event-size 1MB --pattern build --initiation pull --requests 1 --latency 1ms"),
    ("processing or slots", {"processing", "slots"}, f"{COMMON} --rate 4Gb/s --busy exponential:33ms --slots 1"),
    ("consumer 0 stood still", {"stalled-rank"}, f"{COMMON} --rate 2Gb/s --fault pause:consumer=0,at=1s,for=1500ms"),
    ("scheduler stood still", {"stalled-rank"}, f"{COMMON} --rate 2Gb/s --fault pause:scheduler,at=1s,for=1500ms"),
    ("links, steady", {"consumer-links"},
     "--producers 4 --consumers 4 --warmup 1s --rate 1Gb/s --generation steady --event-size 100MB --consumer-link 0.7Gb/s --duration 3s"),
    ("latency or streams", {"control-latency", "streams", "slots", "event-size"},
     "--producers 1 --consumers 1 --rate 4Gb/s --event-size 1MB --latency 5ms --duration 4s"),
    ("link of producer 2", {"producer-links"},
     "--producers 4 --consumers 5 --duration 30s --rate 2Gb/s --producer-link 10Gb/s --consumer-link 10Gb/s --on-failure continue "
     "--fault die:consumer=0,at=1s,back=2s --fault degrade:producer=2,at=20s,factor=0.1"),
    ("link of consumer 0, packets", {"consumer-links"},
     "--network packet --producers 6 --consumers 4 --duration 1s --warmup 300ms --interval 100ms --producer-link 10Gb/s "
     "--consumer-link 10Gb/s --rate 4Gb/s --event-size 2MB --fault degrade:consumer=0,factor=0.05"),
)


def version_of(record):
    return record["environment"]["weir_version"]


def measure(weir, seed):
    plan, planted = plans.draw_plan(seed)
    record = truth.simulate(weir, plan, truth.OFF)
    row = dict.fromkeys(NAMES, "")
    row.update(seed=seed, planted="+".join(planted) or "none", packets=int("network" in plan))
    if "refused" in record:
        return {**row, "judged": "refused"}
    before = truth.outcome(record)
    row.update(truth_by=version_of(record), late=f"{before['late']:.4f}", lost=f"{before['lost']:.6f}", overflow=str(int(before["overflow"])), simulations=0)
    alone, pairs = [], []
    if not before["good"]:
        alone, pairs, row["simulations"] = truth.prove(weir, plan, before, planted)
    row.update(alone=" ".join(alone), pairs=" ".join(pairs))
    return judged(weir, row, record)


def judged(weir, row, record):
    plan, _ = plans.draw_plan(int(row["seed"]))
    what, where, share, _ = truth.named_by(record)
    causes = record["verdict"].get("causes") or []
    before = truth.outcome(record)
    good = not row["alone"] and not row["pairs"] and before["good"]
    verdict = ("right" if what == "none" else "false") if good else \
        truth.judge(what, where, row["alone"].split(), row["pairs"].split(), weir, plan, before)
    row.update(named=what, where=where, share=f"{share:.3f}", judged=verdict, named_by=version_of(record),
               second=causes[1]["what"] if len(causes) > 1 else "")
    return row


def name_again(weir, row):
    if row["judged"] == "refused":
        return row
    plan, _ = plans.draw_plan(int(row["seed"]))
    record = truth.simulate(weir, plan, truth.OFF)
    if "refused" in record:
        return {**row, "judged": "refused"}
    return judged(weir, {**row, "packets": int("network" in plan)}, record)


def write(out, rows):
    studies.write_lines(out / "runs.csv.partial", NAMES, sorted(rows, key=lambda row: int(row["seed"])))
    (out / "runs.csv.partial").replace(out / "runs.csv")


def in_parallel(jobs, work, items):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, items))


def summary(rows):
    return f"{page.confusion(rows)}\n\n{page.summary(rows)}"


def examples(weir):
    missed = 0
    for name, true, options in EXAMPLES:
        words = shlex.split(options)
        plan = {"fault": []}
        for option, value in zip(words[::2], words[1::2]):
            if option == "--fault":
                plan["fault"].append(value)
            else:
                plan[option.removeprefix("--")] = value
        record = truth.simulate(weir, plan, truth.OFF)
        what, where, share, text = truth.named_by(record) if "refused" not in record else ("refused", "", 0, record["refused"])
        right = bool(true & truth.CLASSES.get(what, {what}))
        missed += not right
        print(f"{'right' if right else 'MISS '} {name}: {what} {where} ({share:.2f}) {text}")
    print(f"{len(EXAMPLES) - missed} of {len(EXAMPLES)}")
    return 1 if missed else 0


def measured(given):
    """Every case once, or those whose name contains --only."""
    with cases.Lab() as lab:
        for case in [case for case in cases.cases() if given.only in case.name]:
            record, directory, said = cases.run_case(lab, case, given.weir)
            verdict, what, where, share = cases.judge(case, record)
            known = record is not None and verdict != "failed"
            line = {"case": case.name, "engine": case.engine, "hosts": case.where, "truth": " ".join(case.truth), "named": what, "where": where,
                    "share": f"{share:.2f}", "judged": verdict, "refuted": refutation.refuted(record, directory / "run") if known else "",
                    "text": record["verdict"]["text"] if known else said[-500:], "weir": version_of(record) if known else "",
                    "late_sets": record["verdict"]["late_sets"] if known else "", "sets": record["verdict"]["sets"] if known else "",
                    "command": shlex.join(cases.command_of(case))}
            studies.store(given.out / "measured.csv", page.MEASURED, line, ("case",))
            shutil.rmtree(directory, ignore_errors=True)
            print(f"{verdict:10} {case.name}: {what} {where} ({share:.2f}), true: {', '.join(case.truth) or 'on time'}", flush=True)
            print(f"           {line['text']}" + (f"\n           REFUTED: {line['refuted']}" if line["refuted"] else ""), flush=True)
    lines = studies.stored(given.out / "measured.csv")
    print(page.measured_summary(lines))
    return 1 if any(line["refuted"] for line in lines) else 0


def replay(trial):
    """One in page.SUBSET of the stored plans named again: as many right, no more false."""
    again = {"runs": name_again, "settings": lambda weir, row: fabrics.told_again(weir, row, settings.draw_plan)}
    runs, faults = 0, []
    for name, tell in again.items():
        subset = [row for row in studies.stored(trial.stored / f"{name}.csv") if int(row["seed"]) % page.SUBSET == 0 and row["judged"] != "refused"]
        before, now = page.shares(subset), page.shares(in_parallel(trial.jobs, lambda row, tell=tell: tell(trial.weir, row), subset))
        runs += now["runs"]
        faults += [f"FAIL: {name}.csv: {what} in {now[what]:.1%} of {now['runs']} plans, stored {before[what]:.1%}"
                   for what, worse in (("right", now["right"] < before["right"]), ("false", now["false"] > before["false"])) if worse]
    return runs, faults


def measure_all(given):
    rows = studies.stored(given.out / "runs.csv")
    seeds = sorted(set(range(given.seed, given.seed + given.plans)) - {int(row["seed"]) for row in rows})
    for begin in range(0, len(seeds), STEP):  # what is interrupted goes on from there
        rows += in_parallel(given.jobs, lambda seed: measure(given.weir, seed), seeds[begin:begin + STEP])
        write(given.out, rows)
        print(f"{len(rows)} of {given.plans}", file=sys.stderr, flush=True)


def drawn_all(given, kind):
    """`kind`: fabrics or settings."""
    file = given.out / f"{kind.__name__}.csv"
    for begin in range(given.seed, given.seed + given.plans, STEP):
        seeds = range(begin, min(begin + STEP, given.seed + given.plans))
        lines = in_parallel(given.jobs, lambda seed: kind.measure(given.weir, seed), seeds)
        kept = [line for line in studies.stored(file) if int(line["seed"]) not in seeds]
        studies.write_lines(file, fabrics.STORED, sorted([*kept, *lines], key=lambda line: int(line["seed"])))
        print(f"{studies.children_cpu_s():.0f} s of processor time", file=sys.stderr, flush=True)


def name_all(given):
    write(given.out, in_parallel(given.jobs, lambda row: name_again(given.weir, row), studies.stored(given.out / "runs.csv")))


def add_options(parser):
    parser.add_argument("--plans", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())


STUDY = studies.Study(
    page.page, replay=replay, options=add_options, runs={"truth": measure_all, "named": name_all, "measured": measured,
                                                         "fabrics": lambda given: drawn_all(given, fabrics),
                                                         "settings": lambda given: drawn_all(given, settings)},
    others={"summary": lambda given: print(summary(studies.stored(given.out / "runs.csv"))), "examples": lambda given: examples(given.weir),
            "plan": lambda given: print(truth.command_of(plans.draw_plan(given.seed)[0]))})
