"""Tests of category 4: collectives (sections 9.1 to 9.4)."""

import math

from weir_runs.basics import quantities
from weir_runs.basics.errors import ReportError
from ..traffic import collectives
from ..traffic.traffic_files import COLLECTIVES_FILE, collectives_text, trace_text
from ..traffic.traffic_summary import unscheduled
from .campaign_steps import Step, of_case
from .draft_setup import RECEIVERS_KEEP
from .result_tables import (ARITHMETIC, Column, HOST, NIC, Outcome, Primary, SETTING, SWITCH, Table, by_name, mean,
                            mean_of)

KINDS = {"9.1": "all-reduce", "9.2": "all-to-all", "9.3": "all-gather"}
AS_CONFIGURED = "as configured"
# An iteration may take so many times its ideal before it reaches into the next one.
ROOM, ROOM_NS = 10, 5_000_000
# That comes ahead of a missing packet, with every way of balancing: without it, packets that overtake each other count
# as lost.


def collective(setup):
    kind = KINDS[setup.section.number]
    files, values, left_out = {}, [], list(setup.left_out("workers", setup.plan.hosts))
    ways = setup.values("balancing") if setup.simulated else (AS_CONFIGURED,)
    if setup.simulated and setup.fabric.parallel < 2 and len(ways) > 1:
        ways = ways[:1]
        left_out.append(
            "The fabric has no parallel links, so ways of balancing make no difference: only the first is run.")
    for workers in setup.fitting("workers", setup.plan.hosts):
        for size in setup.values("sizes"):
            try:
                _, more, options = job_traffic(setup, [(kind, workers, quantities.size(size), 0, 0, 0)])
            except ReportError as error:
                left_out.append(f"N = {workers}, S = {size}: left out, {error}")
                continue
            files.update(more)
            for way in ways:
                values.append({"name": f"{workers} {size} {way}", **options, **setup.ranks(workers, workers),
                               **setup.only_simulated(setup.spread, workers, f"balancing.kind={way}",
                                                      f"nic.reorder={RECEIVERS_KEEP}")})
    trials = yield Step(kind, {"window": 64}, {"case": values}, setup.repetitions, files)
    return _outcome(setup, [value["name"] for value in values], trials, left_out)


def job_traffic(setup, jobs, interval_ns=None):
    """(directory, its files, options of its runs) of collectives that begin in every interval. `jobs`: (kind, workers,
    S in bytes, C in ns, first worker, ns after the interval's beginning) of each; `interval_ns` None: so that an
    iteration has room."""
    parts = []
    for place, (kind, workers, size, compute_ns, first, at_ns) in enumerate(jobs):
        algorithm = collectives.ALGORITHMS[kind][0]
        name = f"{kind}-{place}" if place else kind
        parts.append(collectives.Collective(name, f"{name}.csv",
                                            collectives.make(kind, algorithm, workers, size, compute_ns), kind,
                                            algorithm, workers, size, compute_ns, first, at_ns, setup.plan.link))
    longest_ns = max(part.compute_ns + ROOM * (1e9 * part.unhindered_s(setup.plan.link) - part.compute_ns)
                     for part in parts)
    made = collectives.Collectives(tuple(parts), interval_ns or 1000 * math.ceil((longest_ns + ROOM_NS) / 1000.0))
    directory = "-and-".join(f"{kind}-{workers}-{size}" + (f"-{compute_ns}" if compute_ns else "")
                             for kind, workers, size, compute_ns, *_ in jobs)
    options = {"pattern": f"collectives:{directory}/{COLLECTIVES_FILE}", **dict(unscheduled(made)),
               "warmup": f"{made.interval_ns}ns"}
    if interval_ns is None:
        options["duration"] = f"{int(setup.value('iterations')) * made.interval_ns}ns"
    return directory, {**{f"{directory}/{part.file}": trace_text(part.trace) for part in parts},
                       f"{directory}/{COLLECTIVES_FILE}": collectives_text(made)}, options


def _outcome(setup, names, trials, left_out):
    rows, network, primary, lines, anomalies = [], [], {}, {}, []
    figure = "jct_s_mean" if setup.section.number == "9.2" else "busbw_bps_mean"
    for name in names:
        workers, size, way = name.split(" ", 2)
        found = of_case(trials, name)
        records = [trial.record["collectives"][0] for trial in found]
        complete = [record for record in records if record["complete_iterations"]]
        anomalies += [f"{name}, run {trial.repetition}: {record['complete_iterations']} of {record['iterations']} "
                      "iterations are complete."
                      for trial, record in zip(found, records) if record["complete_iterations"] < record["iterations"]]
        if not complete:
            continue
        rows.append(_row(setup, workers, size, way, complete))
        network.append((int(workers), size, way, *_of_network(found)))
        primary[name] = [record[figure] for record in complete]
        lines.setdefault(f"{way}, N = {workers}", []).append((size, mean_of(complete, "efficiency")))
    unit = "s" if figure == "jct_s_mean" else "b/s"
    title = "JCT, mean" if unit == "s" else "BusBW, mean"
    return Outcome((Table("Iterations", _COLUMNS, tuple(rows)),
                    Table("The network meanwhile", _NETWORK, tuple(network))), (Primary(title, unit, HOST, primary),),
                   (by_name("BusBW / line rate over S", "S", "1", lines),),
                   deviations=(*left_out, "Steps are those of weir, each sent when its input is there; no collective "
                                          "library and no accelerators take part.",
                               *((f"Receivers keep {RECEIVERS_KEEP} that comes ahead of a missing packet.",)
                                 if setup.simulated else ()), *few_iterations(setup, 100)), anomalies=tuple(anomalies))


def few_iterations(setup, wanted):
    iterations = int(setup.value("iterations"))
    return () if iterations >= wanted else (f"{iterations} iterations in each run, not {wanted}.",)


_COLUMNS = (
    Column("N", "1", SETTING), Column("S", "", SETTING), Column("balancing", "", SETTING), Column("f", "1", ARITHMETIC),
    Column("S_fabric", "B", ARITHMETIC, "payload that a participant sends to others, each byte once; mean"),
    Column("iterations", "1", HOST, "complete ones of all runs"),
    Column("JCT mean", "s", HOST, "until the last participant has its last byte"), Column("JCT P50", "s", HOST),
    Column("JCT P95", "s", HOST), Column("JCT P99", "s", HOST),
    Column("BusBW mean", "b/s", HOST, "of the participant that was last"), Column("BusBW P50", "b/s", HOST),
    Column("BusBW P95", "b/s", HOST), Column("BusBW P99", "b/s", HOST, "that 99 of 100 iterations reach"),
    Column("efficiency", "1", HOST, "BusBW / line rate"), Column("8 S f / B", "s", ARITHMETIC, "the least time"))
_NETWORK = (
    *_COLUMNS[:3], Column("marked", "%", SWITCH), Column("pauses", "/s", SWITCH), Column("dropped", "packets", SWITCH),
    Column("JFI of uplinks", "1", SWITCH, "least of any switch, all bytes"), Column("pauses received", "/s", NIC))


def _row(setup, workers, size, way, records):
    """Means over the runs of their figures."""
    def over_runs(key):
        return mean([record[key] for record in records])

    return (int(workers), size, way, records[0]["bus_factor"], records[0]["fabric_bytes_mean"],
            sum(one["complete_iterations"] for one in records),
            *(over_runs(f"jct_s_{name}") for name in ("mean", "p50", "p95", "p99")),
            *(over_runs(f"busbw_bps_{name}") for name in ("mean", "p50", "p95", "p99")), over_runs("efficiency"),
            8.0 * records[0]["bytes"] * records[0]["bus_factor"] / setup.plan.link)


def _of_network(trials):
    """Means over the runs: share marked, pauses per second, packets dropped, least JFI, pauses that NICs received per
    second."""
    switches = [trial.switch for trial in trials if trial.switch]
    jain = [links["jain_index"] for switch in switches for links in switch.get("parallel_links") or []
            if links["jain_index"] is not None]
    received = [None if (count := trial.counted_by_nics("pause_frames_received")) is None else count / trial.seconds
                for trial in trials]
    return (mean_of(switches, "marked_share"),
            mean([trial.switch["pauses_sent"] / trial.seconds for trial in trials if trial.switch]),
            mean([float(switch["dropped_packets"]) for switch in switches]), min(jain, default=None), mean(received))


def summary(setup):
    """9.4: the largest N and S that all three have, by way of balancing."""
    yield from ()
    tables = {number: {row[:3]: row for row in setup.results[number].tables[0].rows} for number in KINDS}
    common = set.intersection(*(set(table) for table in tables.values()))
    if not common:
        return Outcome((), deviations=("9.1 to 9.3 have no N and S in common.",))
    workers, size = max({(row[0], row[1]) for row in common}, key=lambda pair: (pair[0], quantities.size(pair[1])))
    ways = list(dict.fromkeys(row[2] for row in tables["9.1"].values() if (workers, size, row[2]) in common))
    rows = tuple((way, *(tables[number][workers, size, way][10] for number in KINDS)) for way in ways)
    columns = (Column("balancing", "", SETTING), *(Column(f"BusBW, {kind}", "b/s", HOST) for kind in KINDS.values()))
    curve = by_name(f"Mean bus bandwidth, N = {workers}, S = {size}", "balancing", "b/s",
                    {kind: [(row[0], row[column]) for row in rows] for column, kind in enumerate(KINDS.values(), 1)})
    return Outcome((Table(f"Mean bus bandwidth, N = {workers}, S = {size}", columns, rows),), (), (curve,),
                   deviations=("The draft's template for this section is the one of 6.3 and has no column for a "
                               "collective; this table has one for each.",))
