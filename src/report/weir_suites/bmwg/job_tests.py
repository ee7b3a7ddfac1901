"""Tests of categories 5 to 7: jobs that compute and communicate, alone, beside another one, while a link fails, and for
a day (sections 10.1, 10.3, 11.2, 11.3 and 12.1)."""

import statistics

from weir_runs.basics import quantities
from weir_runs.basics.errors import ReportError
from weir_runs.basics.list_values import nearest_rank
from .campaign_steps import Step, of_case
from .collective_tests import few_iterations, job_traffic
from .draft_setup import RECEIVERS_KEEP
from .result_tables import (ARITHMETIC, Column, Curve, HOST, NIC, Outcome, Primary, SETTING, SWITCH, Table, by_name,
                            mean, mean_of, variation)

JOB = "all-reduce"
# 10.3: each job sits on so many leaves, and the second one shares none to three of the first one's.
LEAVES_OF_A_JOB = 4
# 11.2: rows of the switches, by which loads are found even again. Shorter ones hold the end of a step only, which is
# not even.
ROW_NS, ROWS_MAX = 100_000, 19_000


# --- 10.1


def synthetic(setup):
    files, values, left_out = {}, [], list(setup.left_out("workers", setup.plan.hosts))
    for workers in setup.fitting("workers", setup.plan.hosts):
        for size in setup.values("sizes"):
            for compute in setup.values("compute"):
                _, more, options = job_traffic(setup, [(JOB, workers, quantities.size(size),
                                                        quantities.time_ns(compute), 0, 0)])
                files.update(more)
                values.append({"name": f"{workers} {size} {compute}", **options, **setup.ranks(workers, workers),
                               **setup.only_simulated(setup.spread, workers, f"nic.reorder={RECEIVERS_KEEP}")})
    trials = yield Step("jct", {"window": 64}, {"case": values}, setup.repetitions, files)
    rows, primary, lines = [], {}, {}
    for value in values:
        workers, size, compute = value["name"].split(" ")
        records = [trial.record["collectives"][0] for trial in of_case(trials, value["name"])]
        records = [one for one in records if one["complete_iterations"]]
        if records:
            primary[value["name"]] = [one["jct_ratio_p50"] for one in records]
            rows.append((int(workers), size, compute, sum(one["complete_iterations"] for one in records),
                         *(mean([one[key] for one in records]) for key in ("jct_s_mean", "jct_s_p50", "jct_s_p99")),
                         records[0]["ideal_s"], mean(primary[value["name"]]), mean_of(records, "jct_ratio_p99")))
            lines.setdefault(f"S = {size}, C = {compute}", []).append((workers, rows[-1][-2]))
    columns = (Column("N", "1", SETTING), Column("S", "", SETTING), Column("C", "", SETTING),
               Column("iterations", "1", HOST), Column("JCT mean", "s", HOST,
                                                       "computing, then communication until the last byte"),
               Column("JCT P50", "s", HOST), Column("JCT P99", "s", HOST),
               Column("roofline", "s", ARITHMETIC, "C + 8 S f / B"),
               Column("JCT ratio", "1", HOST, "P50 / roofline"), Column("JCT ratio P99", "1", HOST))
    return Outcome((Table("Iterations", columns, tuple(rows)),), (Primary("JCT ratio", "1", HOST, primary),),
                   (by_name("JCT ratio over N", "N", "1", lines),),
                   deviations=(*left_out, "Computing is a wait of exactly C; no accelerator takes part.",
                               *few_iterations(setup, 1000)))


# --- 10.3


def interference(setup):
    if setup.fabric.leaves < 2 or setup.fabric.parallel < 2:
        raise ReportError(f"{setup.plan.path}: {setup.section.number}: fabric.switch: {setup.plan.switch} has no "
                          "leaves and spines, so jobs share no uplinks")
    each = setup.plan.hosts // setup.fabric.leaves // 2  # hosts of a leaf that a job may take
    if not each:
        raise ReportError(f"{setup.plan.path}: fabric.hosts: 10.3 needs two hosts at each leaf; {setup.plan.hosts} "
                          f"hosts have {setup.fabric.leaves} leaves")
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
            values.append({"name": f"{way} {share:g}", **options,
                           "simulate": _of_jobs(setup, leaves, each, way, [0, first])})
    trials = yield Step("interference", {"window": 64}, {"case": values}, setup.repetitions, files)
    return _interference_outcome(setup, workers, each, trials)


def _of_jobs(setup, leaves, each, way, firsts):
    """Job number i takes its own half of the hosts of LEAVES_OF_A_JOB leaves from leaf firsts[i] on, the leaves in
    turn."""
    hosts = [(first + leaf) * 2 * each + job * each + place for job, first in enumerate(firsts) for place in range(each)
             for leaf in range(LEAVES_OF_A_JOB)]
    simulation = setup.simulation(f"topology.leaves={leaves}", "placement.kind=explicit",
                                  "placement.hosts=" + ",".join(map(str, hosts)),
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
                rows.append((way, share, mean([single for _, single in pairs]), mean([beside for beside, _ in pairs]),
                             mean(factors)))
                lines.setdefault(way, []).append((f"{share:.0%}", mean(factors)))
    columns = (Column("balancing", "", SETTING), Column("shared leaves", "%", SETTING,
                                                        "of the leaves whose uplinks the first job uses"),
               Column("JCT alone, P50", "s", HOST), Column("JCT beside, P50", "s", HOST),
               Column("interference factor", "1", HOST, "of the first job"))
    return Outcome((Table("The first job, alone and beside the second", columns, tuple(rows)),),
                   (Primary("interference factor", "1", HOST, primary),),
                   (by_name("Interference factor", "shared leaves", "1", lines),),
                   deviations=(f"Two jobs of {workers} participants, {each} at each of {LEAVES_OF_A_JOB} leaves; "
                               "overlap is the share of these leaves that both use. The fabric is that of the plan "
                               f"with {2 * LEAVES_OF_A_JOB} leaves.",
                               "Both jobs are alike and begin 1 us after each other, so they compete all the time."))


# --- 11.2 and 11.3


def link_failure(setup):
    if setup.fabric.parallel < 2:
        raise ReportError(f"{setup.plan.path}: {setup.section.number}: fabric.switch: {setup.plan.switch} has no "
                          "second way around a link that fails")
    workers = min(int(setup.value("workers")), setup.plan.hosts)
    _, files, options = job_traffic(setup, [(JOB, workers, quantities.size(setup.value("sizes")), 0, 0, 0)])
    interval_s = quantities.time_ns(options["warmup"]) * 1e-9
    failed = int(setup.value("iterations")) // 2
    # After half of the ideal time of the ring, 8 S f / B with f near 2; mended before the next one begins.
    at_s = failed * interval_s + quantities.size(setup.value("sizes")) * 8.0 / setup.plan.link
    row_ns = max(ROW_NS, quantities.time_ns(options["duration"]) // ROWS_MAX)
    what = {"uplink": "link=leaf-0:spine-0", "spine": "switch=spine-0"}
    when = f"at={at_s * 1e9:.0f}ns,for={0.8 * interval_s * 1e9:.0f}ns"
    values = [{"name": f"{way} {kind} {convergence}", **options,
               **setup.only_simulated(setup.spread, workers, f"balancing.kind={way}", f"nic.reorder={RECEIVERS_KEEP}",
                                      f"failures.convergence={convergence}",
                                      f"nic.ack-timeout={setup.value('ack-timeout')}", **{"switch-rows": f"{row_ns}ns"},
                                      fault=f"cut:{what[kind]},{when}")} for way in setup.values("balancing")
              for kind in setup.values("fails") for convergence in setup.values("convergence")]
    trials = yield Step("failure", {"window": 64}, {"case": values}, setup.repetitions, files)
    return _failure_outcome(setup, [value["name"] for value in values], failed, trials)


def _failure_outcome(setup, names, failed, trials):
    rows, primary, anomalies = [], {}, []
    for name in names:
        way, kind, convergence = name.split(" ")
        found = [_of_failure(trial, failed) for trial in of_case(trials, name)]
        anomalies += [f"{name}: an iteration is not complete." for one in found if one is None]
        found = [one for one in found if one]
        if not found:
            continue
        primary[name] = [one["gap"] for one in found]
        rows.append((way, kind, convergence, mean(primary[name]), quantities.time_ns(convergence) * 1e-9,
                     mean_of(found, "packets"), mean_of(found, "failed"), mean_of(found, "p50"), mean_of(found, "p99"),
                     mean([one["failed"] / one["p50"] for one in found]), mean_of(found, "even"),
                     f"{sum(one['failed'] <= one['p99'] for one in found)} of {len(found)}",
                     mean_of(found, "out_of_order")))
    columns = (Column("balancing", "", SETTING), Column("what fails", "", SETTING),
               Column("routes follow after", "", SETTING),
               Column("without delivery", "s", HOST,
                      "longest time in which nothing of a flow came in order that lost a packet"),
               Column("routes follow after, calculated", "s", ARITHMETIC,
                      "no packet that is sent to the link arrives before"), Column("lost", "packets", SWITCH),
               Column("JCT with the failure", "s", HOST), Column("JCT P50 of the others", "s", HOST),
               Column("JCT P99 of the others", "s", HOST), Column("with / P50", "1", HOST),
               Column("loads even after", "s", SWITCH, "until no row of the links that are left is less even than "
                                                       "before; '-': not while the failure lasts"),
               Column("within P99", "", HOST, "runs; 11.3 calls this zero impact"),
               Column("out of order", "packets", NIC, "in the whole run"))
    return Outcome((Table("The iteration with the failure", columns, tuple(rows)),),
                   (Primary("time without delivery", "s", HOST, primary),),
                   (by_name("Time without delivery", "balancing, what fails, routes follow after", "s",
                            {"observed": [(name, mean(values)) for name, values in primary.items()]}),),
                   deviations=(f"NICs give up waiting for an acknowledgement after {setup.value('ack-timeout')}.",
                               *few_iterations(setup, 100)), anomalies=tuple(anomalies))


def _of_failure(trial, failed):
    """None: an iteration is not complete."""
    times = [float(row["completion_s"]) if row["completion_s"] else None for row in trial.rows("phases.csv")]
    if None in times or len(times) <= failed:
        return None
    others = sorted(times[:failed] + times[failed + 1:])
    fault = trial.switch["failures"]["faults"][0]
    return {"failed": times[failed], "p50": nearest_rank(others, 0.5), "p99": nearest_rank(others, 0.99),
            "gap": fault["longest_gap_s"] or 0.0, "packets": fault["lost"]["packets"],
            "even": fault.get("loads_even_after_s"), "out_of_order": trial.counted_by_nics("out_of_sequence") or 0}


def zero_impact(setup):
    """11.3, from the trials of 11.2."""
    yield from ()
    rows = setup.results["11.2"].tables[0].rows
    columns = (Column("balancing", "", SETTING), Column("what fails", "", SETTING),
               Column("routes follow after", "", SETTING), Column("JCT with the failure", "s", HOST),
               Column("JCT P99 of the others", "s", HOST), Column("within P99", "", HOST, "runs"))
    return Outcome((Table("The iteration with the failure against the P99 of the others", columns,
                          tuple(row[:3] + (row[6], row[8], row[11]) for row in rows)),))


# --- 12.1: is it the same after a day?

ITERATIONS_LEAST = 4
SOAK_KINDS = ("all-reduce", "all-to-all")
COUNTED = ("sent_packets", "marked_packets", "pauses_sent", "dropped_packets")


def soak(setup):
    workers = setup.fitting("workers", setup.plan.hosts)[-1]
    size = quantities.size(setup.value("sizes"))
    # The two follow each other; both together keep a participant's link busy for `load` of the interval.
    times_ns = [1e9 * _ideal_s(setup, kind, workers, size) / setup.value("load") for kind in SOAK_KINDS]
    second_ns = int(times_ns[0])
    interval_ns = int(sum(times_ns))
    intervals = max(ITERATIONS_LEAST, round(setup.value("seconds") * 1e9 / interval_ns))
    _, files, options = job_traffic(setup, [(SOAK_KINDS[0], workers, size, 0, 0, 0),
                                            (SOAK_KINDS[1], workers, size, 0, 0, second_ns)], interval_ns)
    sample_s = max(interval_ns * 1e-9, setup.value("sample"))
    value = {**options, "duration": f"{intervals * interval_ns}ns", **setup.ranks(workers, workers),
             "name": f"N = {workers}", **setup.only_simulated(setup.spread, workers, f"nic.reorder={RECEIVERS_KEEP}",
                                                              **{"switch-rows": f"{round(sample_s * 1e9)}ns"})}
    trials = yield Step("soak", {"window": 64}, {"case": [value]}, setup.repetitions, files)
    return _soak_outcome(trials, sample_s, {kind: _ideal_s(setup, kind, workers, size) for kind in SOAK_KINDS},
                    intervals * interval_ns * 1e-9)


def _ideal_s(setup, kind, workers, size):
    """8 S f / B"""
    return 8.0 * size * (2 if kind == "all-reduce" else 1) * (workers - 1) / workers / setup.plan.link


def _soak_outcome(trials, sample_s, ideals_s, seconds):
    """`ideals_s`: by kind."""
    rows, summary, lines, anomalies = [], [], {}, []
    for trial in trials:
        counted = _counted(trial, sample_s)
        for kind, samples in _series(trial, sample_s, ideals_s).items():
            name = f"run {trial.repetition}"
            ratios = [ratio for _, ratio, _, _ in samples if ratio is not None]
            lines[f"{kind}, {name}"] = tuple((at_s, ratio) for at_s, ratio, _, _ in samples if ratio is not None)
            lost = sum(missing for *_, missing in samples)
            anomalies += [f"{name}: {lost} iterations of {kind} are not complete."] if lost else []
            rows += [(name, kind, at_s, done, missing, ratio,
                      *(counted.get(round(at_s / sample_s), {}).get(key) for key in COUNTED[1:]))
                     for at_s, ratio, done, missing in samples]
            if ratios:
                summary.append((name, kind, len(ratios), mean(ratios), statistics.pstdev(ratios), variation(ratios),
                                max(ratios)))
    columns = (Column("run", "", SETTING), Column("collective", "", SETTING), Column("at", "s", HOST),
               Column("iterations", "1", HOST), Column("not complete", "1", HOST),
               Column("JCT ratio", "1", HOST, "mean of the sample: until the last byte / 8 S f / B"),
               Column("marked", "packets", SWITCH, "of the whole sample, both collectives"),
               Column("pauses", "frames", SWITCH), Column("dropped", "packets", SWITCH))
    return Outcome((Table("Stability",
                          (Column("run", "", SETTING), Column("collective", "", SETTING), Column("samples", "1", HOST),
                           Column("JCT ratio, mean", "1", HOST), Column("standard deviation", "1", HOST),
                           Column("/ mean", "1", HOST), Column("largest sample", "1", HOST)), tuple(summary)),
                    Table("Samples", columns, tuple(rows))),
                   (Primary("JCT ratio, mean of samples", "1", HOST,
                            {kind: [row[3] for row in summary if row[1] == kind] for kind in SOAK_KINDS}),),
                   (Curve("JCT ratio over time", "time", "s", "1", lines),),
                   deviations=(f"{seconds:g} s and not 24 hours, sampled every {sample_s:g} s.",
                               "Load and memory of the switches' processors, crashes and power are not observed."),
                   anomalies=tuple(anomalies))


def _series(trial, sample_s, ideals_s):
    """{kind: [(time, mean JCT ratio or None, complete iterations, others)] by sample}"""
    samples = {kind: {} for kind in SOAK_KINDS}
    for row in trial.rows("phases.csv"):
        kind = next(kind for kind in SOAK_KINDS if row["phase"].startswith(kind))
        of_sample = samples[kind].setdefault(int(float(row["begins_s"]) / sample_s), [])
        of_sample.append(float(row["completion_s"]) if row["completion_s"] else None)
    made = {}
    for kind, of_kind in samples.items():
        for place, times in sorted(of_kind.items()):
            done = [time / ideals_s[kind] for time in times if time is not None]
            made.setdefault(kind, []).append((place * sample_s, mean(done), len(done), len(times) - len(done)))
    return made


def _counted(trial, sample_s):
    """{number of the sample: {counter: sum over all switches}}; empty where none were observed."""
    found = {}
    for row in trial.rows("switch/switch-*.csv"):
        sample = found.setdefault(round(float(row["begin_s"]) / sample_s), dict.fromkeys(COUNTED, 0))
        for name in COUNTED:
            sample[name] += int(row[name])
    return found
