"""Tests of category 2: what switches do about congestion (sections 7.1, 7.2 and 7.4)."""

import math

from weir_runs.basics import quantities
from weir_runs.basics.list_values import known
from ..traffic.traffic_files import matrix_text
from ..traffic.traffic_model import Matrix
from . import arithmetic
from .campaign_steps import Step, of_case
from .result_tables import (ARITHMETIC, Column, Curve, HOST, NIC, Outcome, Primary, SETTING, SWITCH, Table, by_name,
                            mean, mean_of)

# --- 7.1: where a switch marks.

# Marks begin at T and take every packet at so many times T; the queue grows up to PEAK of that.
ALL_ABOVE, PEAK = 1.5, 1.05
RAMP_NS, SLOWEST, RAMP_ROW_NS = 20_000_000, 100_000_000, 10_000
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
        files[file] = matrix_text(Matrix({(0, 0): int(setup.plan.link / 8 * grows_s / wire),
                                          (1, 0): int(slow / 8 * grows_s / wire)}))
        interval_us = math.ceil(1.5e6 * grows_s) + 1000
        link = quantities.rate_text(setup.plan.link)
        values.append({"name": threshold, "pattern": f"matrix:{file}", "interval": f"{interval_us}us",
                       "duration": f"{interval_us}us",
                       **setup.only_simulated(setup.incast_hosts, 2, f"ecn.none-below={least}B",
                                              f"ecn.all-above={most}B", "ecn.probability=1",
                                              "dcqcn.on=false", pfc="off", ecn="on", **{
                                                  "producer-link": f"{link},1={quantities.rate_text(slow)}",
                                                  "switch-rows": f"{RAMP_ROW_NS}ns"})})
    trials = yield Step("ramp", {"policy": "none", "event-size": "4GB", "slots": 2, "streams": 1, "window": 64,
                                 "chunk-size": "1MiB", "warmup": "0s"}, {"threshold": values}, setup.repetitions, files)
    return _marking_outcome(setup, trials)


def _marking_outcome(setup, trials):
    rows, ramp, lines, primary = [], [], {}, {}
    for threshold in setup.values("thresholds"):
        least = quantities.size(threshold)
        most = int(ALL_ABOVE * least)
        by_run = [_observed(trial) for trial in of_case(trials, threshold, "threshold")]
        seen = [row for run in by_run for row in run]
        first = [min(mean_bytes for mean_bytes, _, marked, _ in run if marked) for run in by_run
                 if any(row[2] for row in run)]
        primary[threshold] = [one / least - 1.0 for one in first]
        above = [(marked, sent) for mean_bytes, _, marked, sent in seen if mean_bytes > most]
        bins = list(_bins(seen, least, most))
        rows.append((threshold, mean(first), mean(primary[threshold]),
                     sum(marked for _, peak, marked, _ in seen if peak <= least),
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
    columns = (Column("threshold T", "", SETTING),
               Column("first marks at", "B", SWITCH, f"mean queue of the first {RAMP_ROW_NS // 1000} us with a mark"),
               Column("deviation from T", "%", SWITCH), Column("marked below T", "packets", SWITCH),
               Column("packets below T", "packets", SWITCH), Column(f"marked above {ALL_ABOVE:g} T", "%", SWITCH),
               Column("from the ramp, mean", "points", SWITCH),
               Column("a packet more", "points", ARITHMETIC, "by so much it raises the probability"))
    of_ramp = (Column("threshold T", "", SETTING), Column("part of the ramp", "", SETTING),
               Column("queue", "B", SWITCH, "mean of its packets"), Column("marked", "%", SWITCH),
               Column("as configured", "%", ARITHMETIC, "RED: in proportion between the thresholds"),
               Column("difference", "points", SWITCH), Column("packets", "1", SWITCH),
               Column("chance", "points", ARITHMETIC, "standard deviation of the marked share of so many packets"))
    return Outcome((Table("Thresholds", columns, tuple(rows)),
                    Table("Marking between the thresholds", of_ramp, tuple(ramp))),
                   (Primary("deviation of the first mark", "1", SWITCH, primary),),
                   (Curve("Marking probability over the depth of the queue", "queue / T", "", "probability",
                          {name: tuple(line) for name, line in lines.items()}),),
                   deviations=(f"T is where marks begin; every packet is marked from {ALL_ABOVE:g} T on, in proportion "
                               "between.",
                               f"The depth is the mean over {RAMP_ROW_NS // 1000} us, in which the queue grows by less "
                               "than a packet; NICs do not react. What is marked while it falls, at line rate, is left "
                               "out."))


def _observed(trial):
    """(mean and peak of the queue, packets marked and sent) of the rows of the port to the receiver, until the queue
    falls: then it changes by a row's worth of line rate within a row."""
    port = _port_to_receiver(trial)
    rows = [(float(row["queue_mean_bytes"]), float(row["queue_peak_bytes"]), int(row["marked_packets"]),
             int(row["sent_packets"])) for row in trial.rows(f"switch/{port['switch']}.csv")
            if row["peer"] == port["peer"] and row["priority"] == str(port["priority"]) and int(row["sent_packets"])]
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


# --- 7.2


def pfc_under_incast(setup):
    counts = setup.fitting("senders", setup.plan.hosts - 1)
    interval_ns = setup.interval_ns // 2
    intervals = max(1, round(setup.value("seconds") * 1e9 / interval_ns))
    size = setup.plan.link * interval_ns // (8 * 10**9)
    files, values = {}, []
    for count in counts:
        file = f"incast-{count}.csv"
        files[file] = matrix_text(Matrix({(index, 0): size for index in range(count)}))
        values.append({"name": f"{count}:1", "pattern": f"matrix:{file}", "slots": 2 * count, **setup.ranks(count, 1),
                       **setup.only_simulated(setup.incast_hosts, count, pfc="on", ecn="off")})
    trials = yield Step("incast", {"policy": "none", "event-size": f"{size}B", "slot-size": f"{size}B", "streams": 2,
                                   "warmup": "0s",
                                   "interval": f"{interval_ns}ns", "duration": f"{intervals * interval_ns}ns",
                                   "drain": f"{max(10, 2 * max(counts) * intervals * interval_ns // 10**9)}s"},
                        {"incast": values}, setup.repetitions, files)
    return _outcome(setup, counts, trials)


def _outcome(setup, counts, trials):
    by_case = {f"{count}:1": of_case(trials, f"{count}:1", "incast") for count in counts}
    rows, hops = [], []
    for count in counts:
        name = f"{count}:1"
        found = by_case[name]
        of_switches = [_of_switches(trial) for trial in found]
        rate = mean([throughput_bps(trial) for trial in found])
        rows.append((name, mean([one and one["pauses"] for one in of_switches]),
                     mean([one and one["pausing"] for one in of_switches]),
                     mean([one and one["most"] for one in of_switches]),
                     mean([one and one["dropped"] for one in of_switches]),
                     mean([_per_second(trial, "pause_frames_received") for trial in found]), rate,
                     arithmetic.payload_rate(setup.plan.link, 1 << 30, setup.framing), arithmetic.paused_share(count)))
        hops += [(name, hop, *values) for hop, values in _by_hop(found).items()]
    columns = (Column("incast", "", SETTING), Column("pauses", "/s", SWITCH,
                                                     "PAUSE with quanta above 0, sent by all ports"),
               Column("paused, mean of senders' ports", "%", SWITCH), Column("paused, most paused port", "%", SWITCH),
               Column("dropped", "packets", SWITCH), Column("pauses received", "/s", NIC,
                                                            "by the hosts' NICs, all together"),
               Column("throughput", "b/s", HOST, "payload that arrived, until the last set was there"),
               Column("line rate less headers", "b/s", ARITHMETIC),
               Column("1 - 1/N", "%", ARITHMETIC, "share of time a sender has to wait"))
    tables = [Table("Pauses under incast", columns, tuple(rows))]
    if hops:
        tables.append(Table("Pauses by hop",
                            (Column("incast", "", SETTING), Column("hop", "", SETTING), Column("ports", "1", SETTING),
                             Column("pauses sent", "/s", SWITCH), Column("paused, mean", "%", SWITCH)), tuple(hops)))
    return Outcome(
        tuple(tables), (Primary("throughput", "b/s", HOST,
                                {name: known(map(throughput_bps, found)) for name, found in by_case.items()}),),
        (by_name("Pauses over the ratio of the incast", "incast", "pauses per second",
                 {"sent by switches": [(row[0], row[1]) for row in rows if row[1] is not None],
                  "received by NICs": [(row[0], row[5]) for row in rows if row[5] is not None]}),),
        deviations=(*setup.left_out("senders", setup.plan.hosts - 1),
                    "Sets are offered for the time of a trial; it is counted until all of them have arrived, N times "
                    "as long.", "The onset of a storm and the watchdog are not tried here."))


def throughput_bps(trial):
    """Of payload, from the first set until the last one was there, which may be long after the measured seconds. None:
    some was lost."""
    phases = trial.run.phases()
    if phases is None:
        return None
    last = (phases["begins_s"] + phases["completion_s"]).max()  # NaN if one is not complete
    return trial.record["totals"]["received_bytes"] * 8.0 / float(last) if last == last else None


def _per_second(trial, family):
    count = trial.counted_by_nics(family)
    return None if count is None else count / trial.seconds


def _of_switches(trial):
    """None: they were not observed."""
    ports = trial.switch.get("ports")
    if not ports:
        return None
    senders = [port["pausing_share"] for port in ports if str(port["peer"]).startswith(("producer", "host", "worker"))
               and port["pausing_share"] > 0.0]
    return {"pauses": trial.switch["pauses_sent"] / trial.seconds, "pausing": mean(senders) or 0.0,
            "most": max(port["pausing_share"] for port in ports), "dropped": trial.switch["dropped_packets"]}


def _by_hop(trials):
    """{hop: (ports, pauses/s, mean share)} of ports that paused anything in any trial."""
    found = {}
    for trial in trials:
        for port in trial.switch.get("ports") or []:
            hop = "switch to switch" if str(port["peer"]).startswith("switch") else "switch to host"
            found.setdefault(hop, []).append((port["pauses_sent"] / trial.seconds, port["pausing_share"]))
    return {hop: (len(values) // max(1, len(trials)), sum(count for count, _ in values) / len(trials),
                  mean([share for _, share in values])) for hop, values in found.items()}


# --- 7.4

STORMS = {"traffic in a circle": {}, "storm": {"storm": True}, "storm, watchdog": {"storm": True, "watchdog": True}}


def storm(setup):
    hosts, each = setup.plan.hosts, max(1, setup.plan.hosts // setup.fabric.leaves)
    interval_ns = setup.interval_ns
    intervals = max(4, round(setup.value("seconds") * 1e9 / interval_ns))
    # Both together are a fourth of what a host can send; host 0 gets half of what it can take.
    size = setup.plan.link * interval_ns // (8 * 10**9) // 4
    senders = [host for host in range(1, hosts) if host % each < 2 and host >= each] or list(range(1, hosts))
    pairs = {(host, (host + each) % hosts if setup.fabric.leaves > 1 else (host + 1) % hosts): size
             for host in range(hosts)}
    for host in senders:
        pairs[host, 0] = pairs.get((host, 0), 0) + 2 * size // len(senders)
    values = []
    begin_ns, length_ns = intervals * interval_ns // 4, intervals * interval_ns // 2
    for name, what in STORMS.items():
        keys = ("watchdog.on=true", f"watchdog.detection={setup.value('detection')}",
                f"watchdog.restoration={setup.value('detection')}")
        faults = {"fault": f"storm:host=worker-0,at={begin_ns}ns,for={length_ns}ns"} if "storm" in what else {}
        simulation = setup.simulation("placement.kind=by-worker", *(keys if "watchdog" in what else ()))
        values.append({"name": name, "simulate": {**simulation, "pfc": "on", "ecn": "off", **faults}})
    trials = yield Step("storm", {"policy": "none", "pattern": "matrix:circle.csv", "event-size": f"{size}B",
                                  "slots": 2 * max(2, len(senders)),
                                  "streams": 8, "window": 64, "interval": f"{interval_ns}ns",
                                  "duration": f"{intervals * interval_ns}ns",
                                  "warmup": f"{interval_ns}ns"}, {"case": values}, setup.repetitions,
                        {"circle.csv": matrix_text(Matrix(pairs))})
    return _storm_outcome(trials)


def _storm_outcome(trials):
    rows, primary, anomalies = [], {}, []
    for name in STORMS:
        found = of_case(trials, name)
        failures = [trial.switch.get("failures") or {} for trial in found]
        dogs = [one["watchdog"] for one in failures if one.get("watchdog")]
        primary[name] = [_sets_on_time(trial) for trial in found]
        stopped = sum(bool(one.get("deadlocked")) for one in failures)
        anomalies += [f"{name}: {stopped} of {len(found)} runs deadlocked."] if stopped else []
        rows.append((name, f"{stopped} of {len(found)}",
                     mean([len(one.get("possible_deadlock") or []) for one in failures]),
                     mean_of(dogs, "storms_detected"), mean_of(dogs, "storms_restored"),
                     mean([dog["dropped"]["packets"] for dog in dogs]),
                     mean([trial.switch["pauses_sent"] / trial.seconds for trial in found]),
                     mean([max(port["paused_share"] for port in trial.switch["ports"]) for trial in found]),
                     mean(primary[name])))
    columns = (Column("case", "", SETTING), Column("deadlocked", "", SWITCH, "runs"),
               Column("links that could wait in a circle", "links", ARITHMETIC,
                      "by the routes; none: a deadlock is not possible"),
               Column("storms found by watchdogs", "queues", SWITCH), Column("ended", "queues", SWITCH),
               Column("dropped by watchdogs", "packets", SWITCH), Column("pauses", "/s", SWITCH),
               Column("paused, most paused port", "%", SWITCH),
               Column("sets on time", "%", HOST, "of all hosts, within their interval"))
    return Outcome((Table("Storms and deadlocks", columns, tuple(rows)),),
                   (Primary("sets on time", "1", HOST, primary),), (),
                   deviations=("Leaves and spines have no circle of buffers, and weir's fabrics are such: the circle "
                               "is one of traffic.",), anomalies=tuple(anomalies))


def _sets_on_time(trial):
    verdict = trial.record["verdict"]
    return 1.0 - verdict["late_sets"] / verdict["sets"]
