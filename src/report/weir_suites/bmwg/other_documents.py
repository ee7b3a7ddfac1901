"""Tests that other documents name: line rate and head-of-line blocking (RFC 8239), and the transfer of KV caches (the
draft on inference)."""

import math

from weir_runs.basics.errors import ReportError
from weir_runs.basics.list_values import known, nearest_rank
from ..traffic.inference import bytes_per_token
from ..traffic.traffic_files import matrix_text, trace_text
from ..traffic.traffic_model import Matrix, Trace
from .arithmetic import Framing, wire_bytes
from .campaign_steps import Step, of_case
from .congestion import throughput_bps
from .result_tables import ARITHMETIC, Column, HOST, NIC, Outcome, Primary, SETTING, SWITCH, Table, by_name, mean

# --- Head-of-line blocking.

CONTROLS = {"PFC off": {"pfc": "off", "ecn": "off"}, "PFC on": {"pfc": "on", "ecn": "off"},
            "PFC and ECN": {"pfc": "on", "ecn": "on"}}
VICTIM = (0, 0)  # producer and consumer of the flow that has a port of its own
VICTIM_SHARE = 0.25


def head_of_line(setup):
    interval_ns = setup.interval_ns
    intervals = max(2, round(setup.value("seconds") * 1e9 / interval_ns))
    line = setup.plan.link * interval_ns // (8 * 10**9)
    size = int(VICTIM_SHARE * line)
    # Host 0 sends to a free port and to one into which others send, too, twice what that can take.
    crowd = setup.fitting("crowd", setup.plan.hosts - 3)[0]
    pairs = {VICTIM: size, **{(sender, 1): 2 * line // (crowd + 1) for sender in range(crowd + 1)}}
    alone = {VICTIM: size}
    values = [{"name": "alone", "pattern": "matrix:alone.csv", "producers": crowd + 1, "consumers": 2,
               **setup.only_simulated(setup.spread, crowd + 3, pfc="on", ecn="off")}]
    values += [{"name": name, "pattern": "matrix:crowd.csv", "producers": crowd + 1, "consumers": 2,
                **setup.only_simulated(setup.spread, crowd + 3, **options)} for name, options in CONTROLS.items()]
    trials = yield Step("blocking", {"policy": "none", "event-size": f"{max(size, 2 * line // (crowd + 1))}B",
                                     "slots": 2 * (crowd + 1),
                                     "streams": 4, "window": 64, "interval": f"{interval_ns}ns",
                                     "duration": f"{intervals * interval_ns}ns",
                                     "warmup": "0s", "drain": "60s"}, {"case": values}, setup.repetitions,
                        {"crowd.csv": matrix_text(Matrix(pairs)), "alone.csv": matrix_text(Matrix(alone))})
    rows, primary, base = [], {}, None
    for value in values:
        found = of_case(trials, value["name"])
        primary[value["name"]] = [_victim_s(trial) for trial in found]
        base = base or mean(primary[value["name"]])
        rows.append((value["name"], mean(primary[value["name"]]), mean(primary[value["name"]]) / base,
                     mean([trial.switch["pauses_sent"] / trial.seconds for trial in found]),
                     mean([float(trial.switch["dropped_packets"]) for trial in found])))
    columns = (Column("case", "", SETTING), Column("time of the free flow's bytes", "s", HOST,
                                                   "mean over intervals, until the last byte is there"),
               Column("/ alone", "1", HOST), Column("pauses", "/s", SWITCH), Column("dropped", "packets", SWITCH))
    return Outcome((Table("A flow with a port of its own, beside flows that crowd another", columns, tuple(rows)),),
                   (Primary("time of the free flow's bytes", "s", HOST, primary),),
                   (by_name("Time of the free flow's bytes", "case", "s",
                            {"mean": [(row[0], row[1]) for row in rows]}),),
                   deviations=("RFC 8239 names this test; frame sizes and loads are weir's own.",))


def _victim_s(trial):
    return next(float(row["completion_s_mean"]) for row in trial.rows("transfers.csv")
                if (int(row["producer"]), int(row["consumer"])) == VICTIM)


# --- Line rate.

OFFERED = 0.9998  # of line rate: RFC 8239, 2.2
PREAMBLE_AND_GAP = 20  # bytes of a packet's overhead that are in no frame
PAYLOAD_LEAST = 256  # of a simulated packet: weir simulate --mtu
STREAMS_MAX = 64


def line_rate(setup):
    headers = setup.framing.overhead - PREAMBLE_AND_GAP
    kept = [int(frame) for frame in setup.values("frames") if frame - headers >= PAYLOAD_LEAST]
    gone = [frame for frame in setup.values("frames") if frame - headers < PAYLOAD_LEAST]
    if not kept:
        raise ReportError(f"{setup.plan.path}: parameters.\"rfc8239-2\".frames: simulated packets have {PAYLOAD_LEAST} "
                          f"B of payload at least, so frames {PAYLOAD_LEAST + headers} B")
    interval_ns = setup.interval_ns
    intervals = max(2, round(setup.value("seconds") * 1e9 / interval_ns))
    files, values = {}, []
    for frame in kept:
        framing = Framing(frame - headers, setup.framing.overhead)
        for ports in setup.values("ports"):
            receivers = 1 if ports == "pairs" else setup.plan.hosts - 1
            size = int(OFFERED * setup.plan.link * interval_ns / 8e9 * framing.mtu / framing.wire / receivers)
            file = f"{ports}-{frame}.csv"
            files[file] = matrix_text(Matrix(_from_all(setup.plan.hosts, ports, size)))
            values.append({"name": f"{frame} {ports}", "pattern": f"matrix:{file}", "event-size": f"{size}B",
                           "slot-size": f"{size}B", "streams": min(STREAMS_MAX, 2 * receivers), "slots": 2 * receivers,
                           "simulate": {**setup.simulation("placement.kind=by-worker"), "mtu": f"{framing.mtu}B"}})
    trials = yield Step("line-rate", {"policy": "none", "window": 64, "interval": f"{interval_ns}ns",
                                      "duration": f"{intervals * interval_ns}ns",
                                      "warmup": "0s"}, {"case": values}, setup.repetitions, files)
    return _line_rate_outcome(setup, [value["name"] for value in values], trials,
                              (f"frames of {', '.join(map(str, gone))} B: left out, simulated packets have "
                               f"{PAYLOAD_LEAST} B of payload at least.",) if gone else ())


def _from_all(hosts, ports, size):
    if ports == "pairs":
        return {(host, (host + hosts // 2) % hosts): size for host in range(hosts)}
    return {(host, other): size for host in range(hosts) for other in range(hosts) if host != other}


def _line_rate_outcome(setup, names, trials, deviations):
    rows, primary, lines = [], {}, {}
    headers = setup.framing.overhead - PREAMBLE_AND_GAP
    for name in names:
        frame, ports = name.split(" ")
        framing = Framing(int(frame) - headers, setup.framing.overhead)
        found = of_case(trials, name)
        # Payload of all hosts, as bytes on the wire over their line rates.
        primary[name] = known(rate and rate / setup.plan.hosts * framing.wire / framing.mtu / setup.plan.link
                              for rate in map(throughput_bps, found))
        rows.append((int(frame), ports, mean(primary[name]),
                     mean([float(trial.switch["dropped_packets"]) for trial in found]),
                     mean([float(trial.switch["packets_sent_again"]) for trial in found])))
        lines.setdefault(ports, []).append((frame, rows[-1][2]))
    columns = (Column("frame", "B", SETTING), Column("ports", "", SETTING),
               Column("received", "%", HOST, "of line rate: payload with its headers, until the last set was there; "
                                             "mean of all hosts"),
               Column("dropped", "packets", SWITCH), Column("sent again", "packets", NIC, "by all senders"))
    return Outcome((Table("What arrives at 99.98 % of line rate", columns, tuple(rows)),),
                   (Primary("received, of line rate", "1", HOST,
                            {name: values for name, values in primary.items() if values}),),
                   (by_name("Received over the size of frames", "frame, B", "1",
                            {name: [point for point in line if point[1] is not None]
                             for name, line in lines.items()}),),
                   deviations=(*deviations, "Packets are sent again when they are lost, as by all of RoCE: what is "
                                            "lost costs time, and arrives.",
                               f"A trial lasts {setup.value('seconds'):g} s, and the latency of the last packet "
                               "counts: the share is low by latency / time."))


# --- KV caches.

LAYERS, KV_HEADS, HEAD_SIZE, VALUE_BYTES = 80, 8, 128, 2  # as in Llama 3 70B
# In each round a decode worker sends to all others; shorter ones would be those of grants.
EXPERTS_LOAD, ROUND_NS = 0.5, 200_000


def kv_transfer(setup):
    workers = setup.fitting("workers", setup.plan.hosts // 2)
    files, values = {}, []
    for count in workers:
        for context in setup.values("context"):
            size = int(context) * bytes_per_token(LAYERS, KV_HEADS, HEAD_SIZE, VALUE_BYTES)
            alone_ns = math.ceil(8e9 * wire_bytes(size, setup.framing) / setup.plan.link)
            for case in ("alone", "beside experts"):
                file = f"kv-{count}-{context}-{case.split()[0]}.csv"
                files[file] = trace_text(_caches(setup, count, size, alone_ns, case != "alone"))
                values.append({"name": f"{count} {context} {case}", "pattern": f"trace:{file}",
                               "interval": f"{6 * alone_ns + 2_000_000}ns",
                               "duration": f"{int(setup.value('iterations')) * (6 * alone_ns + 2_000_000)}ns",
                               "event-size": f"{size}B",
                               "slot-size": f"{size}B", "producers": 2 * count, "consumers": 2 * count,
                               "slots": 8 * count, "streams": 8 * count,
                               **setup.only_simulated(setup.spread, 2 * count)})
    trials = yield Step("kv", {"policy": "none", "window": 64, "warmup": "0s"}, {"case": values}, setup.repetitions,
                        files)
    rows, primary = [], {}
    for value in values:
        count, context, case = value["name"].split(" ", 2)
        size = int(context) * bytes_per_token(LAYERS, KV_HEADS, HEAD_SIZE, VALUE_BYTES)
        of_runs = [sorted(_of_caches(trial, int(count))) for trial in of_case(trials, value["name"])]
        times = sorted(time for run in of_runs for time in run)
        if times:
            primary[value["name"]] = [mean(run) for run in of_runs if run]
            rows.append((int(count), int(context), size, case, len(times), mean(times), nearest_rank(times, 0.99),
                         8.0 * size / mean(times), 8.0 * wire_bytes(size, setup.framing) / setup.plan.link))
    columns = (Column("prefill and decode workers", "1", SETTING), Column("context", "tokens", SETTING),
               Column("S_KV", "B", ARITHMETIC, "2 x layers x KV heads x head size x context x bytes of a value"),
               Column("case", "", SETTING), Column("transfers", "1", HOST),
               Column("transfer time, mean", "s", HOST, "the fabric's part of the time to the first token"),
               Column("P99", "s", HOST), Column("bandwidth", "b/s", HOST, "S_KV / mean time"),
               Column("at line rate", "s", ARITHMETIC, "S_KV with headers"))
    return Outcome((Table("Transfers of caches from prefill to decode workers", columns, tuple(rows)),),
                   (Primary("transfer time, mean", "s", HOST, primary),), (),
                   deviations=(f"A model with {LAYERS} layers, {KV_HEADS} KV heads of {HEAD_SIZE} values of "
                               f"{VALUE_BYTES} bytes, as Llama 3 70B.",
                               f"Experts: decode workers send to each other in rounds, {EXPERTS_LOAD:.0%} of their "
                               "link, for twice the time of a cache at line rate.",
                               "Computing is not part of it: what is timed is the transfer."))


def _caches(setup, count, size, alone_ns, experts):
    """Prefill worker i sends its cache to decode worker i; experts exchange among decode workers meanwhile."""
    rows = [(0, worker, count + worker, size) for worker in range(count)]
    if experts and count > 1:
        rounds = max(2, min(32, 2 * alone_ns // ROUND_NS))
        round_ns = 2 * alone_ns // rounds
        each = max(1, int(EXPERTS_LOAD * setup.plan.link / 8e9 * round_ns * setup.framing.mtu / setup.framing.wire
                          / (count - 1)))
        rows += [(number * round_ns, count + one, count + other, each) for number in range(rounds)
                 for one in range(count) for other in range(count) if one != other]
    return Trace(tuple(sorted(rows)))


def _of_caches(trial, count):
    return [float(row["completion_s"]) for row in trial.rows("completions.csv")
            if int(row["producer"]) < count and row["completion_s"]]
