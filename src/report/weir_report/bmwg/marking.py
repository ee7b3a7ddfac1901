"""Test of category 2 about marks: where a switch marks (section 7.1)."""

from __future__ import annotations

import csv
import math

from ..basics import quantities
from ..traffic.files import matrix_text
from ..traffic.model import Matrix
from .results import ARITHMETIC, SETTING, SWITCH, Column, Curve, Outcome, Primary, Table, mean
from .steps import Step

# Marks begin at T and take every packet at so many times T; the queue grows up to PEAK of that.
ALL_ABOVE, PEAK = 1.5, 1.05
RAMP_NS, SLOWEST, ROW_NS = 20_000_000, 100_000_000, 10_000
BINS = 10


def ecn_accuracy(setup):
    files, values = {}, []
    for threshold in setup.values("thresholds"):
        least = quantities.size(threshold)
        most = int(ALL_ABOVE * least)
        # One sender fills the port; what a second, slow one adds is how fast the queue grows.
        slow = max(SLOWEST, 8 * 10**9 * (most - least) // RAMP_NS)
        wire = setup.framing.wire / setup.framing.mtu
        grows_s = PEAK * most * 8.0 / slow
        file = f"ramp-{least}.csv"
        files[file] = matrix_text(Matrix({(0, 0): int(setup.plan.link / 8 * grows_s / wire), (1, 0): int(slow / 8 * grows_s / wire)}))
        interval_us = math.ceil(1.5e6 * grows_s) + 1000
        link = quantities.rate_text(setup.plan.link)
        values.append({"name": threshold, "pattern": f"matrix:{file}", "interval": f"{interval_us}us", "duration": f"{interval_us}us",
                       **setup.only_simulated(setup.incast_hosts, 2, f"ecn.none-below={least}B", f"ecn.all-above={most}B", "ecn.probability=1",
                                              "dcqcn.on=false", pfc="off", ecn="on", **{
                                                  "producer-link": f"{link},1={quantities.rate_text(slow)}", "switch-rows": f"{ROW_NS}ns"})})
    trials = yield Step("ramp", {"policy": "none", "event-size": "4GB", "slots": 2, "streams": 1, "window": 64, "chunk-size": "1MiB",
                                 "warmup": "0s"}, {}, {"threshold": values}, setup.repetitions, files)
    return _accuracy(setup, trials)


def _accuracy(setup, trials):
    rows, ramp, lines, primary = [], [], {}, {}
    for threshold in setup.values("thresholds"):
        least = quantities.size(threshold)
        most = int(ALL_ABOVE * least)
        by_run = [_observed(trial) for trial in trials if trial.values["threshold"] == threshold]
        seen = [row for run in by_run for row in run]
        first = [min(mean_bytes for mean_bytes, _, marked, _ in run if marked) for run in by_run if any(row[2] for row in run)]
        primary[threshold] = [one / least - 1.0 for one in first]
        above = [(marked, sent) for mean_bytes, _, marked, sent in seen if mean_bytes > most]
        bins = list(_bins(seen, least, most))
        rows.append((threshold, mean(first), mean(primary[threshold]), sum(marked for _, peak, marked, _ in seen if peak <= least),
                     sum(sent for _, peak, _, sent in seen if peak <= least),
                     sum(marked for marked, _ in above) / max(1, sum(sent for _, sent in above)),
                     mean([100.0 * (found - (depth - least) / (most - least)) for _, depth, found, _ in bins]),
                     100.0 * setup.framing.wire / (most - least)))
        for low, depth, found, packets in bins:
            ideal = (depth - least) / (most - least)
            ramp.append((threshold, low, depth, found, ideal, 100.0 * (found - ideal), packets,
                         100.0 * math.sqrt(ideal * (1.0 - ideal) / packets)))
            lines.setdefault(f"{threshold}, found", []).append((depth / least, found))
    lines["as configured"] = [(1.0, 0.0), (ALL_ABOVE, 1.0)]
    columns = (Column("threshold T", "", SETTING), Column("first marks at", "B", SWITCH, f"mean queue of the first {ROW_NS // 1000} us with a mark"),
               Column("deviation from T", "%", SWITCH), Column("marked below T", "packets", SWITCH), Column("packets below T", "packets", SWITCH),
               Column(f"marked above {ALL_ABOVE:g} T", "%", SWITCH),
               Column("from the ramp, mean", "points", SWITCH), Column("a packet more", "points", ARITHMETIC, "by so much it raises the probability"))
    of_ramp = (Column("threshold T", "", SETTING), Column("part of the ramp", "", SETTING), Column("queue", "B", SWITCH, "mean of its packets"),
               Column("marked", "%", SWITCH), Column("as configured", "%", ARITHMETIC, "RED: in proportion between the thresholds"),
               Column("difference", "points", SWITCH), Column("packets", "1", SWITCH),
               Column("chance", "points", ARITHMETIC, "standard deviation of the marked share of so many packets"))
    return Outcome((Table("Thresholds", columns, tuple(rows)), Table("Marking between the thresholds", of_ramp, tuple(ramp))),
                   (Primary("deviation of the first mark", "1", SWITCH, primary),),
                   (Curve("Marking probability over the depth of the queue", "queue / T", "", "probability",
                          {name: tuple(line) for name, line in lines.items()}),),
                   deviations=(f"T is where marks begin; every packet is marked from {ALL_ABOVE:g} T on, in proportion between.",
                               f"The depth is the mean over {ROW_NS // 1000} us, in which the queue grows by less than a packet; NICs do not react. "
                               "What is marked while it falls, at line rate, is left out."))


def _observed(trial):
    """(mean and peak of the queue, packets marked and sent) of the rows of the port to the receiver, until the queue falls: then it changes by
    a row's worth of line rate within a row."""
    port = _port_to_receiver(trial)
    with open(trial.run.directory / "switch" / f"{port['switch']}.csv", encoding="ascii", newline="") as file:
        rows = [(float(row["queue_mean_bytes"]), float(row["queue_peak_bytes"]), int(row["marked_packets"]), int(row["sent_packets"]))
                for row in csv.DictReader(file) if row["peer"] == port["peer"] and row["priority"] == str(port["priority"])
                and int(row["sent_packets"])]
    highest = max(range(len(rows)), key=lambda place: rows[place][0])
    return rows[:highest + 1]


def _port_to_receiver(trial):
    """That of its NIC which got the data, in the class of the data."""
    ports = [port for port in trial.switch["ports"] if str(port["peer"]).partition(".")[0] == "consumer-0"]
    return max(ports, key=lambda port: port["sent_bytes"])


def _bins(seen, least, most):
    """(name, mean queue, share marked, packets) of equal parts of the ramp."""
    for place in range(BINS):
        low, high = (least + (most - least) * part / BINS for part in (place, place + 1))
        rows = [(mean_bytes, marked, sent) for mean_bytes, _, marked, sent in seen if low < mean_bytes <= high]
        packets = sum(sent for _, _, sent in rows)
        if packets:
            yield (f"{place}/{BINS} to {place + 1}/{BINS}", sum(depth * sent for depth, _, sent in rows) / packets,
                   sum(marked for _, marked, _ in rows) / packets, packets)
