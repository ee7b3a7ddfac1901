"""Tests of category 2: what switches do about congestion (sections 7.2 and 7.4)."""

from __future__ import annotations

from ..basics.values import known
from ..traffic.files import matrix_text
from ..traffic.model import Matrix
from . import arithmetic
from .results import ARITHMETIC, HOST, NIC, SETTING, SWITCH, Column, Outcome, Primary, Table, by_name, mean
from .steps import Step


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
    trials = yield Step("incast", {"policy": "none", "event-size": f"{size}B", "slot-size": f"{size}B", "streams": 2, "warmup": "0s",
                                   "interval": f"{interval_ns}ns", "duration": f"{intervals * interval_ns}ns",
                                   "drain": f"{max(10, 2 * max(counts) * intervals * interval_ns // 10**9)}s"},
                        {}, {"incast": values}, setup.repetitions, files)
    return _outcome(setup, counts, trials)


def _outcome(setup, counts, trials):
    by_case = {f"{count}:1": [trial for trial in trials if trial.values["incast"] == f"{count}:1"] for count in counts}
    rows, hops = [], []
    for count in counts:
        name = f"{count}:1"
        found = by_case[name]
        of_switches = [_of_switches(trial) for trial in found]
        rate = mean([throughput_bps(trial) for trial in found])
        rows.append((name, mean([one and one["pauses"] for one in of_switches]), mean([one and one["pausing"] for one in of_switches]),
                     mean([one and one["most"] for one in of_switches]), mean([one and one["dropped"] for one in of_switches]),
                     mean([_per_second(trial, "pause_frames_received") for trial in found]), rate,
                     arithmetic.payload_rate(setup.plan.link, 1 << 30, setup.framing), arithmetic.paused_share(count)))
        hops += [(name, hop, *values) for hop, values in _by_hop(found).items()]
    columns = (Column("incast", "", SETTING), Column("pauses", "/s", SWITCH, "PAUSE with quanta above 0, sent by all ports"),
               Column("paused, mean of senders' ports", "%", SWITCH), Column("paused, most paused port", "%", SWITCH),
               Column("dropped", "packets", SWITCH), Column("pauses received", "/s", NIC, "by the hosts' NICs, all together"),
               Column("throughput", "b/s", HOST, "payload that arrived, until the last set was there"),
               Column("line rate less headers", "b/s", ARITHMETIC), Column("1 - 1/N", "%", ARITHMETIC, "share of time a sender has to wait"))
    tables = [Table("Pauses under incast", columns, tuple(rows))]
    if hops:
        tables.append(Table("Pauses by hop", (Column("incast", "", SETTING), Column("hop", "", SETTING), Column("ports", "1", SETTING),
                                              Column("pauses sent", "/s", SWITCH), Column("paused, mean", "%", SWITCH)), tuple(hops)))
    return Outcome(
        tuple(tables),
        (Primary("throughput", "b/s", HOST, {name: known(map(throughput_bps, found)) for name, found in by_case.items()}),),
        (by_name("Pauses over the ratio of the incast", "incast", "pauses per second",
                 {"sent by switches": [(row[0], row[1]) for row in rows if row[1] is not None],
                  "received by NICs": [(row[0], row[5]) for row in rows if row[5] is not None]}),),
        deviations=(*setup.left_out("senders", setup.plan.hosts - 1),
                    "Sets are offered for the time of a trial; it is counted until all of them have arrived, N times as long.",
                    "The onset of a storm and the watchdog are not tried here."))


def throughput_bps(trial):
    """Of payload, from the first set until the last one was there, which may be long after the measured seconds. None: some was lost."""
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
    return {hop: (len(values) // max(1, len(trials)), sum(count for count, _ in values) / len(trials), mean([share for _, share in values]))
            for hop, values in found.items()}


# --- 7.4

STORMS = {"traffic in a circle": {}, "storm": {"storm": True}, "storm, watchdog": {"storm": True, "watchdog": True}}


def storm(setup):
    hosts, each = setup.plan.hosts, max(1, setup.plan.hosts // setup.fabric.leaves)
    interval_ns = setup.interval_ns
    intervals = max(4, round(setup.value("seconds") * 1e9 / interval_ns))
    # Both together are a fourth of what a host can send; host 0 gets half of what it can take.
    size = setup.plan.link * interval_ns // (8 * 10**9) // 4
    senders = [host for host in range(1, hosts) if host % each < 2 and host >= each] or list(range(1, hosts))
    pairs = {(host, (host + each) % hosts if setup.fabric.leaves > 1 else (host + 1) % hosts): size for host in range(hosts)}
    for host in senders:
        pairs[host, 0] = pairs.get((host, 0), 0) + 2 * size // len(senders)
    values = []
    begin_ns, length_ns = intervals * interval_ns // 4, intervals * interval_ns // 2
    for name, what in STORMS.items():
        keys = ("watchdog.on=true", f"watchdog.detection={setup.value('detection')}", f"watchdog.restoration={setup.value('detection')}")
        faults = {"fault": f"storm:host=worker-0,at={begin_ns}ns,for={length_ns}ns"} if "storm" in what else {}
        simulation = setup.simulation("placement.kind=by-worker", *(keys if "watchdog" in what else ()))
        values.append({"name": name, "simulate": {**simulation, "pfc": "on", "ecn": "off", **faults}})
    trials = yield Step("storm", {"policy": "none", "pattern": "matrix:circle.csv", "event-size": f"{size}B", "slots": 2 * max(2, len(senders)),
                                  "streams": 8, "window": 64, "interval": f"{interval_ns}ns", "duration": f"{intervals * interval_ns}ns",
                                  "warmup": f"{interval_ns}ns"}, {}, {"case": values}, setup.repetitions,
                        {"circle.csv": matrix_text(Matrix(pairs))})
    return _storm_outcome(setup, trials)


def _storm_outcome(setup, trials):
    rows, primary, anomalies = [], {}, []
    for name in STORMS:
        found = [trial for trial in trials if trial.values["case"] == name]
        failures = [trial.switch.get("failures") or {} for trial in found]
        dogs = [one["watchdog"] for one in failures if one.get("watchdog")]
        primary[name] = [_sets_on_time(trial) for trial in found]
        stopped = sum(bool(one.get("deadlocked")) for one in failures)
        anomalies += [f"{name}: {stopped} of {len(found)} runs deadlocked."] if stopped else []
        rows.append((name, f"{stopped} of {len(found)}", mean([len(one.get("possible_deadlock") or []) for one in failures]),
                     mean([dog["storms_detected"] for dog in dogs]), mean([dog["storms_restored"] for dog in dogs]),
                     mean([dog["dropped"]["packets"] for dog in dogs]), mean([trial.switch["pauses_sent"] / trial.seconds for trial in found]),
                     mean([max(port["paused_share"] for port in trial.switch["ports"]) for trial in found]), mean(primary[name])))
    columns = (Column("case", "", SETTING), Column("deadlocked", "", SWITCH, "runs"),
               Column("links that could wait in a circle", "links", ARITHMETIC, "by the routes; none: a deadlock is not possible"),
               Column("storms found by watchdogs", "queues", SWITCH), Column("ended", "queues", SWITCH),
               Column("dropped by watchdogs", "packets", SWITCH), Column("pauses", "/s", SWITCH),
               Column("paused, most paused port", "%", SWITCH), Column("sets on time", "%", HOST, "of all hosts, within their interval"))
    return Outcome((Table("Storms and deadlocks", columns, tuple(rows)),), (Primary("sets on time", "1", HOST, primary),), (),
                   deviations=("Leaves and spines have no circle of buffers, and weir's fabrics are such: the circle is one of traffic.",),
                   anomalies=tuple(anomalies))


def _sets_on_time(trial):
    verdict = trial.record["verdict"]
    return 1.0 - verdict["late_sets"] / verdict["sets"]
