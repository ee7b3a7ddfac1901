"""Tests of categories 5 and 6: jobs that compute and communicate, alone, beside another one, and while a link fails (sections 10.1, 10.3,
11.2 and 11.3)."""

from __future__ import annotations

import csv

from ..basics import quantities
from ..basics.errors import ReportError
from ..basics.values import nearest_rank
from .collective_tests import few_iterations, job_traffic
from .results import ARITHMETIC, HOST, NIC, SETTING, SWITCH, Column, Outcome, Primary, Table, by_name, mean
from .setup import RECEIVERS_KEEP
from .steps import Step

JOB = "all-reduce"
# 10.3: each job sits on so many leaves, and the second one shares none to three of the first one's.
LEAVES_OF_A_JOB = 4
# 11.2: rows of the switches, by which loads are found even again. Shorter ones hold the end of a step only, which is not even.
ROW_NS, ROWS_MAX = 100_000, 19_000


# --- 10.1


def synthetic(setup):
    files, values, left_out = {}, [], list(setup.left_out("workers", setup.plan.hosts))
    for workers in setup.fitting("workers", setup.plan.hosts):
        for size in setup.values("sizes"):
            for compute in setup.values("compute"):
                _, more, options = job_traffic(setup, [(JOB, workers, quantities.size(size), quantities.time_ns(compute), 0, 0)])
                files.update(more)
                values.append({"name": f"{workers} {size} {compute}", **options, **setup.ranks(workers, workers),
                               **setup.only_simulated(setup.spread, workers, f"nic.reorder={RECEIVERS_KEEP}")})
    trials = yield Step("jct", {"window": 64}, {}, {"case": values}, setup.repetitions, files)
    rows, primary, lines = [], {}, {}
    for value in values:
        workers, size, compute = value["name"].split(" ")
        records = [trial.record["collectives"][0] for trial in trials if trial.values["case"] == value["name"]]
        records = [one for one in records if one["complete_iterations"]]
        if records:
            primary[value["name"]] = [one["jct_ratio_p50"] for one in records]
            rows.append((int(workers), size, compute, sum(one["complete_iterations"] for one in records),
                         *(mean([one[key] for one in records]) for key in ("jct_s_mean", "jct_s_p50", "jct_s_p99")), records[0]["ideal_s"],
                         mean(primary[value["name"]]), mean([one["jct_ratio_p99"] for one in records])))
            lines.setdefault(f"S = {size}, C = {compute}", []).append((workers, rows[-1][-2]))
    columns = (Column("N", "1", SETTING), Column("S", "", SETTING), Column("C", "", SETTING), Column("iterations", "1", HOST),
               Column("JCT mean", "s", HOST, "computing, then communication until the last byte"), Column("JCT P50", "s", HOST),
               Column("JCT P99", "s", HOST), Column("roofline", "s", ARITHMETIC, "C + 8 S f / B"),
               Column("JCT ratio", "1", HOST, "P50 / roofline"), Column("JCT ratio P99", "1", HOST))
    return Outcome((Table("Iterations", columns, tuple(rows)),), (Primary("JCT ratio", "1", HOST, primary),),
                   (by_name("JCT ratio over N", "N", "1", lines),),
                   deviations=(*left_out, "Computing is a wait of exactly C; no accelerator takes part.", *few_iterations(setup, 1000)))


# --- 10.3


def interference(setup):
    if setup.fabric.leaves < 2 or setup.fabric.parallel < 2:
        raise ReportError(f"{setup.plan.path}: {setup.section.number}: fabric.switch: {setup.plan.switch} has no leaves and spines, so jobs share no "
                          "uplinks")
    each = setup.plan.hosts // setup.fabric.leaves // 2  # hosts of a leaf that a job may take
    if not each:
        raise ReportError(f"{setup.plan.path}: fabric.hosts: 10.3 needs two hosts at each leaf; {setup.plan.hosts} hosts have "
                          f"{setup.fabric.leaves} leaves")
    workers, leaves = LEAVES_OF_A_JOB * each, 2 * LEAVES_OF_A_JOB
    size, files, values = quantities.size(setup.value("sizes")), {}, []
    _, more, options = job_traffic(setup, [(JOB, workers, size, 0, 0, 0)])
    files.update(more)
    for way in setup.values("balancing"):
        values.append({"name": f"{way} alone", **options, "simulate": _of_jobs(setup, leaves, each, way, [0])})
    _, more, options = job_traffic(setup, [(JOB, workers, size, 0, 0, 0), (JOB, workers, size, 0, workers, 1000)])
    files.update(more)
    for way in setup.values("balancing"):
        for share in setup.values("share"):
            first = LEAVES_OF_A_JOB - round(share * LEAVES_OF_A_JOB)
            values.append({"name": f"{way} {share:g}", **options, "simulate": _of_jobs(setup, leaves, each, way, [0, first])})
    trials = yield Step("interference", {"window": 64}, {}, {"case": values}, setup.repetitions, files)
    return _interference_outcome(setup, workers, each, trials)


def _of_jobs(setup, leaves, each, way, firsts):
    """Job number i takes its own half of the hosts of LEAVES_OF_A_JOB leaves from leaf firsts[i] on, the leaves in turn."""
    hosts = [(first + leaf) * 2 * each + job * each + place for job, first in enumerate(firsts) for place in range(each)
             for leaf in range(LEAVES_OF_A_JOB)]
    simulation = setup.simulation(f"topology.leaves={leaves}", "placement.kind=explicit", "placement.hosts=" + ",".join(map(str, hosts)),
                                  f"balancing.kind={way}", f"nic.reorder={RECEIVERS_KEEP}")
    simulation["switch-set"] = [f"topology.hosts={leaves * 2 * each}", *simulation["switch-set"][1:]]
    return simulation


def _interference_outcome(setup, workers, each, trials):
    """The factor of a repetition is by the run alone with the same seed."""
    jct = {(trial.values["case"], trial.repetition): trial.record["collectives"][0]["jct_s_p50"] for trial in trials}
    rows, primary, lines = [], {}, {}
    for way in setup.values("balancing"):
        for share in setup.values("share"):
            case = f"{way} {share:g}"
            pairs = [(jct[case, number], jct[f"{way} alone", number]) for number in range(1, setup.repetitions + 1)]
            factors = [beside / single for beside, single in pairs if beside and single]
            if factors:
                primary[case] = factors
                rows.append((way, share, mean([single for _, single in pairs]), mean([beside for beside, _ in pairs]), mean(factors)))
                lines.setdefault(way, []).append((f"{share:.0%}", mean(factors)))
    columns = (Column("balancing", "", SETTING), Column("shared leaves", "%", SETTING, "of the leaves whose uplinks the first job uses"),
               Column("JCT alone, P50", "s", HOST), Column("JCT beside, P50", "s", HOST), Column("interference factor", "1", HOST, "of the first job"))
    return Outcome((Table("The first job, alone and beside the second", columns, tuple(rows)),),
                   (Primary("interference factor", "1", HOST, primary),), (by_name("Interference factor", "shared leaves", "1", lines),),
                   deviations=(f"Two jobs of {workers} participants, {each} at each of {LEAVES_OF_A_JOB} leaves; overlap is the share of these leaves that "
                               f"both use. The fabric is that of the plan with {2 * LEAVES_OF_A_JOB} leaves.",
                               "Both jobs are alike and begin 1 us after each other, so that they compete all the time."))


# --- 11.2 and 11.3


def link_failure(setup):
    if setup.fabric.parallel < 2:
        raise ReportError(f"{setup.plan.path}: {setup.section.number}: fabric.switch: {setup.plan.switch} has no second way around a link that "
                          "fails")
    workers = min(int(setup.value("workers")), setup.plan.hosts)
    _, files, options = job_traffic(setup, [(JOB, workers, quantities.size(setup.value("sizes")), 0, 0, 0)])
    interval_s = quantities.time_ns(options["warmup"]) * 1e-9
    failed = int(setup.value("iterations")) // 2
    # After half of the ideal time of the ring, 8 S f / B with f near 2; mended before the next one begins.
    at_s = failed * interval_s + quantities.size(setup.value("sizes")) * 8.0 / setup.plan.link
    row_ns = max(ROW_NS, quantities.time_ns(options["duration"]) // ROWS_MAX)
    what = {"uplink": "link=leaf-0:spine-0", "spine": "switch=spine-0"}
    values = [{"name": f"{way} {kind} {convergence}", **options,
               **setup.only_simulated(setup.spread, workers, f"balancing.kind={way}", f"nic.reorder={RECEIVERS_KEEP}",
                                      f"failures.convergence={convergence}", f"nic.ack-timeout={setup.value('ack-timeout')}",
                                      **{"switch-rows": f"{row_ns}ns"}, fault=f"cut:{what[kind]},at={at_s * 1e9:.0f}ns,for={0.8 * interval_s * 1e9:.0f}ns")}
              for way in setup.values("balancing") for kind in setup.values("fails") for convergence in setup.values("convergence")]
    trials = yield Step("failure", {"window": 64}, {}, {"case": values}, setup.repetitions, files)
    return _failure_outcome(setup, [value["name"] for value in values], failed, trials)


def _failure_outcome(setup, names, failed, trials):
    rows, primary, anomalies = [], {}, []
    for name in names:
        way, kind, convergence = name.split(" ")
        found = [_of_failure(trial, failed) for trial in trials if trial.values["case"] == name]
        anomalies += [f"{name}: an iteration is not complete." for one in found if one is None]
        found = [one for one in found if one]
        if not found:
            continue
        primary[name] = [one["gap"] for one in found]
        rows.append((way, kind, convergence, mean(primary[name]), quantities.time_ns(convergence) * 1e-9, mean([one["packets"] for one in found]),
                     mean([one["failed"] for one in found]), mean([one["p50"] for one in found]), mean([one["p99"] for one in found]),
                     mean([one["failed"] / one["p50"] for one in found]),
                     mean([one["even"] for one in found]),
                     f"{sum(one['failed'] <= one['p99'] for one in found)} of {len(found)}", mean([one["out_of_order"] for one in found])))
    columns = (Column("balancing", "", SETTING), Column("what fails", "", SETTING), Column("routes follow after", "", SETTING),
               Column("without delivery", "s", HOST, "longest time in which nothing of a flow came in order that lost a packet"),
               Column("routes follow after, calculated", "s", ARITHMETIC, "no packet that is sent to the link arrives before"),
               Column("lost", "packets", SWITCH), Column("JCT with the failure", "s", HOST), Column("JCT P50 of the others", "s", HOST),
               Column("JCT P99 of the others", "s", HOST), Column("with / P50", "1", HOST),
               Column("loads even after", "s", SWITCH,
                      "until no row of the links that are left is less even than before; '-': not while the failure lasts"),
               Column("within P99", "", HOST, "runs; 11.3 calls this zero impact"), Column("out of order", "packets", NIC, "in the whole run"))
    return Outcome((Table("The iteration with the failure", columns, tuple(rows)),), (Primary("time without delivery", "s", HOST, primary),),
                   (by_name("Time without delivery", "balancing, what fails, routes follow after", "s",
                            {"observed": [(name, mean(values)) for name, values in primary.items()]}),),
                   deviations=(f"NICs give up waiting for an acknowledgement after {setup.value('ack-timeout')}.",
                               *few_iterations(setup, 100)), anomalies=tuple(anomalies))


def _of_failure(trial, failed):
    """None: an iteration is not complete."""
    with open(trial.run.directory / "phases.csv", encoding="ascii", newline="") as file:
        times = [float(row["completion_s"]) if row["completion_s"] else None for row in csv.DictReader(file)]
    if None in times or len(times) <= failed:
        return None
    others = sorted(times[:failed] + times[failed + 1:])
    fault = trial.switch["failures"]["faults"][0]
    return {"failed": times[failed], "p50": nearest_rank(others, 0.5), "p99": nearest_rank(others, 0.99), "gap": fault["longest_gap_s"] or 0.0,
            "packets": fault["lost"]["packets"], "even": fault.get("loads_even_after_s"), "out_of_order": trial.counted_by_nics("out_of_sequence") or 0}


def zero_impact(setup):
    """11.3, from the trials of 11.2."""
    yield from ()
    rows = setup.results["11.2"].tables[0].rows
    columns = (Column("balancing", "", SETTING), Column("what fails", "", SETTING), Column("routes follow after", "", SETTING),
               Column("JCT with the failure", "s", HOST), Column("JCT P99 of the others", "s", HOST), Column("within P99", "", HOST, "runs"))
    return Outcome((Table("The iteration with the failure against the P99 of the others", columns, tuple(row[:3] + (row[6], row[8], row[11])
                                                                                                     for row in rows)),))
