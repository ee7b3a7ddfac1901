"""Test of category 7: is it the same after a day? (section 12.1)"""

from __future__ import annotations

import csv
import statistics

from ..basics import quantities
from .collective_tests import job_traffic
from .results import HOST, SETTING, SWITCH, Column, Curve, Outcome, Primary, Table, mean, variation
from .setup import RECEIVERS_KEEP
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
    return _outcome(trials, sample_s, {kind: _ideal_s(setup, kind, workers, size) for kind in KINDS}, intervals * interval_ns * 1e-9)


def _ideal_s(setup, kind, workers, size):
    """8 S f / B"""
    return 8.0 * size * (2 if kind == "all-reduce" else 1) * (workers - 1) / workers / setup.plan.link


def _outcome(trials, sample_s, ideals_s, seconds):
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
            rows += [(name, kind, at_s, done, missing, ratio, *(counted.get(round(at_s / sample_s), {}).get(key) for key in COUNTED[1:]))
                     for at_s, ratio, done, missing in samples]
            if ratios:
                summary.append((name, kind, len(ratios), mean(ratios), statistics.pstdev(ratios), variation(ratios), max(ratios)))
    columns = (Column("run", "", SETTING), Column("collective", "", SETTING), Column("at", "s", HOST), Column("iterations", "1", HOST),
               Column("not complete", "1", HOST), Column("JCT ratio", "1", HOST, "mean of the sample: until the last byte / 8 S f / B"),
               Column("marked", "packets", SWITCH, "of the whole sample, both collectives"), Column("pauses", "frames", SWITCH),
               Column("dropped", "packets", SWITCH))
    return Outcome((Table("Stability", (Column("run", "", SETTING), Column("collective", "", SETTING), Column("samples", "1", HOST),
                                        Column("JCT ratio, mean", "1", HOST), Column("standard deviation", "1", HOST), Column("/ mean", "1", HOST),
                                        Column("largest sample", "1", HOST)), tuple(summary)),
                    Table("Samples", columns, tuple(rows))),
                   (Primary("JCT ratio, mean of samples", "1", HOST, {kind: [row[3] for row in summary if row[1] == kind] for kind in KINDS}),),
                   (Curve("JCT ratio over time", "time", "s", "1", lines),),
                   deviations=(f"{seconds:g} s and not 24 hours, sampled every {sample_s:g} s.",
                               "Load and memory of the switches' processors, crashes and power are not observed."), anomalies=tuple(anomalies))


def _series(trial, sample_s, ideals_s):
    """{kind: [(time, mean JCT ratio or None, complete iterations, others)] by sample}"""
    samples = {kind: {} for kind in KINDS}
    with open(trial.run.directory / "phases.csv", encoding="ascii", newline="") as file:
        for row in csv.DictReader(file):
            kind = next(kind for kind in KINDS if row["phase"].startswith(kind))
            samples[kind].setdefault(int(float(row["begins_s"]) / sample_s), []).append(float(row["completion_s"]) if row["completion_s"] else None)
    made = {}
    for kind, of_kind in samples.items():
        for place, times in sorted(of_kind.items()):
            done = [time / ideals_s[kind] for time in times if time is not None]
            made.setdefault(kind, []).append((place * sample_s, mean(done), len(done), len(times) - len(done)))
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
