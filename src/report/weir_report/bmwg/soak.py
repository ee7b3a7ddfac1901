"""Test of category 7: is it the same after a day? (section 12.1)"""

from __future__ import annotations

import csv
import statistics

from ..basics import quantities
from .collective_tests import RECEIVERS_KEEP, job_traffic
from .results import HOST, SETTING, SWITCH, Column, Curve, Outcome, Primary, Table, mean, variation
from .steps import Step

ITERATIONS_LEAST = 4
KINDS = ("all-reduce", "all-to-all")
COUNTED = ("sent_packets", "marked_packets", "pauses_sent", "dropped_packets")


def soak(setup):
    workers = setup.fitting("workers", setup.plan.hosts)[-1]
    size = quantities.size(setup.value("sizes"))
    # The two follow each other; both together keep a participant's link busy for `load` of the interval.
    times_ns = [1e9 * _ideal_s(setup, kind, workers, size) / setup.value("load") for kind in KINDS]
    second_ns = int(times_ns[0])
    interval_ns = int(sum(times_ns))
    intervals = max(ITERATIONS_LEAST, round(setup.value("seconds") * 1e9 / interval_ns))
    _, files, options = job_traffic(setup, [(KINDS[0], workers, size, 0, 0, 0), (KINDS[1], workers, size, 0, 0, second_ns)], interval_ns)
    sample_s = max(interval_ns * 1e-9, setup.value("sample"))
    value = {**options, "duration": f"{intervals * interval_ns}ns", **setup.ranks(workers, workers), "name": f"N = {workers}",
             **setup.only_simulated(setup.spread, workers, f"nic.reorder={RECEIVERS_KEEP}", **{"switch-rows": f"{round(sample_s * 1e9)}ns"})}
    trials = yield Step("soak", {"window": 64}, {}, {"case": [value]}, setup.repetitions, files)
    return _outcome(trials, sample_s, _ideal_s(setup, KINDS[0], workers, size), intervals * interval_ns * 1e-9)


def _ideal_s(setup, kind, workers, size):
    """8 S f / B"""
    return 8.0 * size * (2 if kind == "all-reduce" else 1) * (workers - 1) / workers / setup.plan.link


def _outcome(trials, sample_s, roofline_s, seconds):
    rows, lines, series_of_runs, anomalies = [], {}, {}, []
    for trial in trials:
        name = f"run {trial.repetition}"
        series = _series(trial, sample_s, roofline_s)
        counted = _counted(trial, sample_s)
        series_of_runs[name] = [ratio for _, ratio, _, _ in series if ratio is not None]
        lines[name] = tuple((at_s, ratio) for at_s, ratio, _, _ in series if ratio is not None)
        lost = sum(missing for *_, missing in series)
        anomalies += [f"{name}: {lost} iterations are not complete."] if lost else []
        for at_s, ratio, done, missing in series:
            of_switch = counted.get(round(at_s / sample_s), {})
            rows.append((name, at_s, done, missing, ratio, *(of_switch.get(key) for key in COUNTED[1:])))
    columns = (Column("run", "", SETTING), Column("at", "s", HOST), Column("iterations", "1", HOST), Column("not complete", "1", HOST),
               Column("JCT ratio", "1", HOST, "the longer JCT of the two / 8 S f / B of AllReduce, which needs twice as long"),
               Column("marked", "packets", SWITCH), Column("pauses", "frames", SWITCH), Column("dropped", "packets", SWITCH))
    summary = tuple((name, len(values), mean(values), statistics.pstdev(values), variation(values), max(values))
                    for name, values in series_of_runs.items() if values)
    return Outcome((Table("Stability", (Column("run", "", SETTING), Column("samples", "1", HOST), Column("JCT ratio, mean", "1", HOST),
                                        Column("standard deviation", "1", HOST), Column("/ mean", "1", HOST), Column("largest sample", "1", HOST)),
                          summary),
                    Table("Samples", columns, tuple(rows))),
                   (Primary("JCT ratio, mean of samples", "1", HOST, {"all": [row[2] for row in summary]}),),
                   (Curve("JCT ratio over time", "time", "s", "1", lines),),
                   deviations=(f"{seconds:g} s and not 24 hours, sampled every {sample_s:g} s.",
                               "Load and memory of the switches' processors, crashes and power are not observed."), anomalies=tuple(anomalies))


def _series(trial, sample_s, roofline_s):
    """[(time, mean JCT ratio or None, complete iterations, others)] by sample."""
    samples = {}
    with open(trial.run.directory / "phases.csv", encoding="ascii", newline="") as file:
        for row in csv.DictReader(file):
            samples.setdefault(int(float(row["begins_s"]) / sample_s), []).append(float(row["completion_s"]) if row["completion_s"] else None)
    made = []
    for place, times in sorted(samples.items()):
        done = [time / roofline_s for time in times if time is not None]
        made.append((place * sample_s, mean(done), len(done), len(times) - len(done)))
    return made


def _counted(trial, sample_s):
    """{number of the sample: {counter: sum over all switches}}; empty where none were observed."""
    found = {}
    for path in sorted((trial.run.directory / "switch").glob("switch-*.csv")):
        with open(path, encoding="ascii", newline="") as file:
            for row in csv.DictReader(file):
                sample = found.setdefault(round(float(row["begin_s"]) / sample_s), dict.fromkeys(COUNTED, 0))
                for name in COUNTED:
                    sample[name] += int(row[name])
    return found
