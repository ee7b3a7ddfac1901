"""Tests of category 1: throughput, latency and bursts, without collectives (sections 5.1 to 5.3)."""

import math
import statistics

from weir_compare.sweep.limit_search import LimitSearch, Space
from weir_runs.basics import quantities
from weir_runs.basics.list_values import known, nearest_rank
from ..traffic.traffic_files import matrix_text, trace_text
from ..traffic.traffic_model import Matrix, Trace
from . import arithmetic
from .campaign_steps import Step
from .result_tables import ARITHMETIC, Column, Curve, HOST, Outcome, Primary, SETTING, SWITCH, Table, by_name, mean

# Most chunks of a slot, and under way in a stream: src/config/limits.hpp.
CHUNKS_MAX, WINDOW_MAX = 65536, 64
# Families of counters of hosts: docs/files-and-exit-statuses.md.
LOSSES = ("out_of_sequence", "sequence_errors", "rdma_retransmissions", "ack_timeouts", "tcp_retransmissions",
          "tcp_timeouts", "dropped_by_hosts")
LEAST_DURATION_NS = 1_000_000
# Bytes that a pair needs under way: 100 Gb/s for 20 us, twice.
UNDER_WAY_BYTES = 500_000
BURST_START, BURST_LEAST, BURST_MOST = 100_000, 4096, 1 << 32


# --- Searches.


def search_rounds(setup, spaces, step_of, held):
    """A generator: gives steps, is sent their trials, and returns {name: the largest value that held in each round, or
    None}. `spaces`: {name: Space}; `step_of(round, number, values)`: the step with these values {name: value}, whose
    axis `case` has the names; `held(trial)`: does the value hold?"""
    found = {name: [] for name in spaces}
    for round_number in range(1, setup.repetitions + 1):
        # The first values of a round are near the limits that are known.
        searches = {name: LimitSearch(space, found[name][-1] or None if found[name] else None)
                    for name, space in spaces.items()}
        number = 0
        while values := {name: value for name, one in searches.items() if (value := one.next_value()) is not None}:
            number += 1
            for trial in (yield step_of(round_number, number, values)):
                name = trial.values["case"]
                searches[name].add(values[name], held(trial))
        for name, one in searches.items():
            found[name].append(one.bracket[0])
    return found


# --- 5.1


def throughput(setup):
    sizes, counts, directions = setup.values("sizes"), setup.values("queue-pairs"), setup.values("directions")
    if not setup.simulated:  # hosts take one role each; only with engine ucx has a pair of ranks several queue pairs
        counts, directions = counts if _has_queue_pairs(setup) else (1,), ("one",)
    cases = {f"{size} Q={count} {way}": (size, int(count), way) for size in sizes for count in counts
             for way in directions}
    spaces = {name: Space(0.9 * setup.plan.link, setup.plan.link / 1000.0, float(setup.plan.link),
                          resolution=setup.value("resolution")) for name in cases}
    found = yield from search_rounds(setup, spaces, lambda *step: _throughput_step(setup, cases, *step),
                                     _nothing_lost_or_late)
    return _throughput_outcome(setup, cases, found)


def _throughput_step(setup, cases, round_number, number, rates):
    pairs = setup.plan.hosts // 2
    interval_ns = setup.interval_ns
    count = max(2, math.ceil(setup.value("seconds") * 1e9 / interval_ns))
    files, values = {}, []
    for name, rate in rates.items():
        size, queue_pairs, way = cases[name]
        message = quantities.size(size)
        chosen = max(message, int(rate * interval_ns / 8e9))
        streams = max(queue_pairs, min(64, math.ceil(UNDER_WAY_BYTES / (WINDOW_MAX * message))))
        event = max(message, -(-chosen // max(streams, -(-chosen // (message * CHUNKS_MAX)))))
        file = f"r{round_number}-{number:02d}-{len(files)}.csv"
        files[file] = matrix_text(Matrix(_pairs(pairs, way, chosen)))
        values.append({"name": name, "pattern": f"matrix:{file}", "event-size": f"{event}B", "slot-size": f"{event}B",
                       "chunk-size": f"{min(message, event)}B", "streams": streams, "slots": 2 * streams,
                       **setup.ranks(pairs, pairs), **({"queue-pairs": str(queue_pairs)} if _has_queue_pairs(setup)
                                                       else {}),
                       **setup.only_simulated(setup.pair_hosts, pairs, **{"queue-pairs": str(queue_pairs)})})
    return Step(f"r{round_number}-{number:02d}",
                {"policy": "none", "window": WINDOW_MAX, "interval": f"{interval_ns}ns",
                 "duration": f"{count * interval_ns}ns", "warmup": f"{interval_ns}ns", "seed": 1000 * round_number},
                {"case": values}, files=files)


def _has_queue_pairs(setup):
    """Whether measured runs have several queue pairs for two ranks."""
    return not setup.simulated and setup.plan.handed_on["run"].get("engine") == "ucx"


def _pairs(pairs, way, size):
    """One way: producer i sends to consumer i. Both: workers i and i + pairs send to each other."""
    if way == "one":
        return {(index, index): size for index in range(pairs)}
    return {(index, (index + pairs) % (2 * pairs)): size for index in range(2 * pairs)}


def _nothing_lost_or_late(trial):
    """What the simulated switches dropped and NICs sent again; of a measured run what NICs found missing."""
    lost = (trial.switch.get("dropped_packets"), trial.switch.get("packets_sent_again"), trial.counted_by_nics(*LOSSES))
    return bool(trial.record["verdict"]["on_time"]) and not any(lost)


def _throughput_outcome(setup, cases, found):
    rows, lines = [], {}
    for name, (size, queue_pairs, way) in cases.items():
        rate = mean(found[name])
        flows = (setup.plan.hosts // 2) * (2 if way == "both" else 1)
        ideal = arithmetic.payload_rate(setup.plan.link, quantities.size(size), setup.framing)
        rows.append((size, queue_pairs, way, rate, rate and flows * rate, rate and rate / setup.plan.link, ideal,
                     rate and rate / ideal))
        if rate:
            lines.setdefault(f"Q = {queue_pairs}, {way}", []).append((size, rate))
    columns = (Column("message", "", SETTING), Column("Q", "1", SETTING), Column("ways", "", SETTING),
               Column("rate of a pair", "b/s", HOST, "payload that arrived within its interval"),
               Column("aggregate", "b/s", HOST, "rate times pairs and ways"),
               Column("of the port's line rate", "%", HOST),
               Column("theoretical", "b/s", ARITHMETIC, f"line rate, {setup.framing.mtu} of {setup.framing.wire} bytes "
                                                        "of a packet are payload"),
               Column("efficiency", "1", HOST, "rate of a pair / theoretical"))
    titles = {name: f"{size}, Q = {queue_pairs}, {way}" for name, (size, queue_pairs, way) in cases.items()}
    return Outcome(
        (Table("Largest rate without loss", columns, tuple(rows)),),
        (Primary("rate of a pair", "b/s", HOST, {titles[name]: known(values) for name, values in found.items()}),),
        (by_name("Rate of a pair over the size of messages", "message", "b/s", lines),),
        anomalies=_nothing_held(found, "rate"), deviations=_short_trials(setup, 60.0)
        + (() if setup.simulated else ("One way only: a host has one role.",
                                         *(() if _has_queue_pairs(setup) else ("One queue pair for each pair: engine = "
                                                                               "\"ucx\" in [run] has more.",))))
        + (f"A set must be gone within its interval of {setup.interval_ns / 1e6:g} ms, with the latency of the fabric: "
           "the rate is low by latency / interval.",
           f"At most {WINDOW_MAX} messages are under way in each of at most 64 streams of a pair."))


def _nothing_held(found, what):
    return tuple(f"{name}: in {values.count(None)} of {len(values)} searches no {what} held, not even the least."
                 for name, values in found.items() if None in values)


def _short_trials(setup, wanted_s):
    seconds = setup.value("seconds")
    return () if seconds >= wanted_s else (f"Trials last {seconds:g} s and not {wanted_s:g} s.",)


# --- 5.2


def latency(setup):
    # b/s of a pair with one queue pair, one way, by size.
    rates = {row[0]: row[3] for row in setup.results["5.1"].tables[0].rows if row[1] == 1 and row[2] == "one"}
    files, values, deviations = {}, [], []
    pairs = setup.plan.hosts // 2
    for size in setup.values("sizes"):
        message = quantities.size(size)
        alone_ns = 2_000 * math.ceil((20_000 + 10 * message * 8e9 / setup.plan.link) / 1000.0)
        loads = [("alone", 1, alone_ns)]
        if rates.get(size):
            loads.append(("loaded", pairs, math.ceil(message * 8e9 / rates[size])))
        else:
            deviations.append(f"{size} loaded: 5.1 found no rate for it with one queue pair, one way.")
        for load, count, gap_ns in loads:
            file = f"{load}-{size}.csv"
            each = max(1, math.ceil(setup.value("samples") / count / 10))
            files[file] = _messages(count, message, gap_ns, each)
            intervals = max(10, -(-LEAST_DURATION_NS // (each * gap_ns)))
            values.append({"name": f"{size} {load}", "pattern": f"trace:{file}", "interval": f"{each * gap_ns}ns",
                           "duration": f"{intervals * each * gap_ns}ns", "warmup": f"{each * gap_ns}ns",
                           "event-size": size, "slot-size": size,
                           "chunk-size": size, **setup.only_simulated(setup.pair_hosts, count)})
    trials = yield Step("latency", {"policy": "none", "window": WINDOW_MAX, "streams": 64, "slots": 64}, 
                        {"case": values}, setup.repetitions, files)
    return _latency_outcome(trials, deviations)


def _messages(pairs, message, gap_ns, each):
    """A trace: every pair one message after each gap; pairs begin one after the other within the gap."""
    times = sorted((index * gap_ns + pair * gap_ns // pairs, pair) for index in range(each) for pair in range(pairs))
    return trace_text(Trace(tuple((time_ns, pair, pair, message) for time_ns, pair in times)))


def _latency_outcome(trials, deviations):
    samples, by_run, ideals = {}, {}, {}
    for trial in sorted(trials, key=_size_and_load):
        found, ideals[trial.values["case"]] = _completions(trial)
        samples.setdefault(trial.values["case"], []).extend(found)
        by_run.setdefault(trial.values["case"], []).append(nearest_rank(sorted(found), 0.99) if found else math.nan)
    rows, lines = [], {}
    for case, times in samples.items():
        times.sort()
        size, load = case.split(" ")
        alone = samples.get(f"{size} alone")
        rows.append((size, load, len(times), times[0], statistics.fmean(times),
                     *(nearest_rank(times, share) for share in (0.5, 0.95, 0.99, 0.999)),
                     times[-1], nearest_rank(times, 0.5) / nearest_rank(alone, 0.5) if load == "loaded"
                     and alone else None, ideals[case]))
        lines[case] = tuple((nearest_rank(times, share / 100.0), share / 100.0) for share in range(1, 101))
    times = ("min", "mean", "P50", "P95", "P99", "P99.9", "max")
    columns = (Column("message", "", SETTING), Column("load", "", SETTING), Column("samples", "1", HOST),
               *(Column(name, "s", HOST, "one way, generation to last byte") for name in times),
               Column("loaded / alone", "1", HOST, "of the medians"),
               Column("alone, calculated", "s", ARITHMETIC, "line rate, headers, latency, and a packet for each switch "
                                                            "on the way"))
    few = [case for case, times in samples.items() if len(times) < 10000]
    return Outcome((Table("Latency of messages", columns, tuple(rows)),), (Primary("P99 of a run", "s", HOST, by_run),),
                   (Curve("Distribution of latency", "latency", "s", "share of messages", lines),),
                   deviations=(*deviations, "One way only: no round trip is observed.",
                               "All messages are timed, from the first one on, not tagged frames from the middle of "
                               "120 s.", *((f"Fewer than 10000 samples: {', '.join(few)}.",) if few else ())))


def _size_and_load(trial):
    size, load = trial.values["case"].split(" ")
    return quantities.size(size), load, trial.repetition


def _completions(trial):
    """(times, what the longest takes alone or None) of the messages that arrived."""
    rows = [row for row in trial.rows("completions.csv") if row["completion_s"]]
    ideals = [float(row["ideal_s"]) for row in rows if row["ideal_s"]]
    return [float(row["completion_s"]) for row in rows], max(ideals, default=None)


# --- 5.3


def burst_absorption(setup):
    most = setup.plan.hosts - 1
    cases = {f"{count}:1": count for count in setup.fitting("senders", most)}
    spaces = {name: Space(BURST_START, BURST_LEAST, BURST_MOST, step=0.0, resolution=setup.value("resolution"))
              for name in cases}
    found = yield from search_rounds(setup, spaces, lambda *step: _burst_step(setup, cases, *step),
                                     lambda trial: trial.switch["dropped_packets"] == 0)
    return _burst_outcome(setup, cases, found)


def _burst_step(setup, cases, round_number, number, sizes):
    files, values = {}, []
    for name, size in sizes.items():
        count, burst = cases[name], int(size)
        file = f"r{round_number}-{number:02d}-{count}.csv"
        files[file] = matrix_text(Matrix({(index, 0): burst for index in range(count)}))
        # Until all of it has left through the one port, twice.
        interval_us = max(math.ceil(2e6 * (count * burst * 8 * 1.03 / setup.plan.link + 50e-6)),
                          math.ceil(LEAST_DURATION_NS / 1000 / setup.value("bursts")))
        values.append({"name": name, "pattern": f"matrix:{file}", "interval": f"{interval_us}us",
                       "duration": f"{interval_us * int(setup.value('bursts'))}us", "event-size": f"{burst}B",
                       "slot-size": f"{burst}B",
                       "chunk-size": f"{burst}B", "slots": count,
                       **setup.only_simulated(setup.incast_hosts, count, pfc="off", ecn="off")})
    return Step(f"r{round_number}-{number:02d}", {"policy": "none", "window": 1, "streams": 1, "warmup": "0s",
                                                  "seed": 1000 * round_number},
                {"case": values}, files=files)


def _burst_outcome(setup, cases, found):
    switch = setup.fabric.keys["switch"]
    fixed = quantities_or_zero(switch["egress-threshold"])
    limit = fixed or arithmetic.dynamic_limit(quantities_or_zero(switch["pool"]), float(switch["egress-alpha"]))
    closed = setup.fabric.is_star and switch.get("drop-tail") not in (True, "true")
    rows = []
    for name, count in cases.items():
        burst = mean(found[name])
        ideal = arithmetic.burst_bytes(limit, count, setup.framing) if closed else None
        rows.append((name, burst, burst and math.floor(burst / setup.framing.mtu),
                     *((ideal, burst and burst / ideal) if closed else ())))
    columns = (Column("incast", "", SETTING), Column("burst of each sender", "B", SWITCH,
                                                     "payload; no packet dropped in any port"),
               Column("frames of each sender", "frames", SWITCH, f"whole ones, {setup.framing.mtu} B of payload each"))
    if closed:
        columns += (Column("closed form", "B", ARITHMETIC, "P alpha / ((1 + alpha)(N - 1)) less headers, or the fixed "
                                                           "threshold in its place"),
                    Column("found / closed form", "1", SWITCH))
    return Outcome((Table("Longest burst without loss", columns, tuple(rows)),),
                   (Primary("burst of each sender", "B", SWITCH,
                            {name: known(values) for name, values in found.items()}),),
                   (by_name("Burst over the ratio of the incast", "incast", "B",
                            {"found": [row[:2] for row in rows if row[1]],
                             **({"closed form": [(row[0], row[3]) for row in rows]} if closed else {})}),),
                   anomalies=_nothing_held(found, "burst"),
                   deviations=(*setup.left_out("senders", setup.plan.hosts - 1),
                               f"{int(setup.value('bursts'))} bursts of each length in one trial."
                               if setup.value("bursts") < 50 else "All bursts of a length are in one trial.",
                               "One message is one burst: sizes of messages make no difference to what leaves a NIC at "
                               "line rate."))


def quantities_or_zero(text):
    """Bytes of '16MB' or of a number."""
    return int(text) if isinstance(text, (int, float)) else 0 if text == "0B" else quantities.size(text)
