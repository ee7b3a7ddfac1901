#!/usr/bin/env python3
"""Events with an address under MPI: every pair of a traffic file receives exactly its bytes, with every transport and
policy."""

import csv
from pathlib import Path

from weir_run import check, check_complete, check_status, main, named, weir, why_no_ucx

MATRIX = {(0, 0): 200000, (0, 2): 30001, (1, 1): 70000, (2, 0): 100, (2, 2): 150000}
SETS = 2 + 6  # warm-up and measured: intervals of 250 ms
OPTIONS = ("--interval", "250ms", "--warmup", "500ms", "--duration", "1500ms", "--event-size", "20kB",
           "--chunk-size", "8kB", "--slots", "3")


def write_matrix(name, matrix):
    lines = [f"{producer},{consumer},{size}\n" for (producer, consumer), size in matrix.items()]
    Path(name).write_text("producer,consumer,bytes\n" + "".join(lines), encoding="utf-8")


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_pairs(run, expected):
    received = {(int(row["producer"]), int(row["consumer"])): int(row["received_bytes"])
                for row in rows(run.directory / "traffic.csv")}
    check(received == expected, f"received {received} instead of {expected}")


def every_pair(transport, policy):
    write_matrix("matrix.csv", MATRIX)
    run = weir(
        7, "--pattern", "matrix:matrix.csv", "--transport", transport, "--policy", policy, "--verify", "full", *OPTIONS)
    check_complete(run, 7)
    check_pairs(run, {pair: size * SETS for pair, size in MATRIX.items()})
    phase = run.json["phases"][0]
    check(phase["complete_phases"] == 6 and phase["incomplete_transfers"] == 0, f"{phase}")
    # How soon depends on the machine's other work: lost datagrams are sent again after a time-out.
    check(0 < phase["completion_s_min"] <= phase["completion_s_median"] <= phase["completion_s_max"], f"{phase}")
    transfers = rows(run.directory / "transfers.csv")
    check(len(transfers) == len(MATRIX) and all(row["transfers"] == "6" for row in transfers), f"{transfers}")


def one_producer_serves_in_turn():
    """With one stream: whoever is first has all but its last event when the other one has all. One after the other, the
    first would have all in half of the time."""
    write_matrix("two.csv", {(0, 0): 4000000, (0, 1): 4000000})
    run = weir(4, "--pattern", "matrix:two.csv", "--interval", "250ms", "--warmup", "500ms", "--duration", "1500ms",
               "--event-size", "100kB", "--slots", "2", "--streams", "1", directory="in-turn")
    check_complete(run, 4)
    means = sorted(float(row["completion_s_mean"]) for row in rows(run.directory / "transfers.csv"))
    check(len(means) == 2 and means[0] > 0.7 * means[1], f"mean completion {means}")


def a_sequence():
    write_matrix("a.csv", {(0, 1): 50000, (1, 0): 50000})
    write_matrix("b.csv", {(0, 0): 10000, (1, 0): 10000})
    Path("sequence.toml").write_text(
        '[[phase]]\nname = "a"\nmatrix = "a.csv"\nperiod = "100ms"\nrepeat = 2\n[[phase]]\nname = "b"\nmatrix = '
        '"b.csv"\nperiod = "50ms"\n',
        encoding="utf-8",
    )
    run = weir(5, "--pattern", "sequence:sequence.toml", "--warmup", "500ms", "--duration", "1500ms")
    check_complete(run, 5)
    check_pairs(run, {(0, 0): 80000, (0, 1): 800000, (1, 0): 880000})
    check([phase["phases"] for phase in run.json["phases"]] == [12, 6], f"{run.json['phases']}")
    begins = [float(row["begins_s"]) for row in rows(run.directory / "phases.csv")][:4]
    check(begins == [0, 0.1, 0.2, 0.25], f"{begins}")


def without_a_file():
    run = weir(5, "--producers", "2", "--consumers", "2", "--destination", "addressed", "--rate", "8Mb/s",
               "--warmup", "1s", "--duration", "2s")
    check_complete(run, 5)
    check_pairs(run, {(producer, consumer): 1500000 for producer in (0, 1) for consumer in (0, 1)})


def a_trace():
    """Times are relative to the beginning of each interval; two transfers of a pair are two events."""
    Path("trace.csv").write_text("time_s,producer,consumer,bytes\n0,0,1,40000\n0.05,1,0,30000\n0.1,0,1,20001\n",
                                 encoding="utf-8")
    run = weir(5, "--pattern", "trace:trace.csv", "--interval", "250ms", "--warmup", "500ms", "--duration", "1500ms")
    check_complete(run, 5)
    check_pairs(run, {(0, 1): 60001 * SETS, (1, 0): 30000 * SETS})


def engine_ucx(transport):
    write_matrix("matrix.csv", MATRIX)
    run = weir(
        7, "--engine", "ucx", "--pattern", "matrix:matrix.csv", "--transport", transport, "--verify", "full", *OPTIONS)
    check_complete(run, 7)
    check_pairs(run, {pair: size * SETS for pair, size in MATRIX.items()})


def too_few_ranks():
    write_matrix("matrix.csv", MATRIX)
    run = weir(5, "--pattern", "matrix:matrix.csv")
    check_status(run, 2)
    check("need 7 ranks, but 5 ranks were started" in run.stderr, run.stderr)


# Every transport and every policy, not every pair of them: neither looks at the other.
PAIRS = (("send", "balanced"), ("send", "none"), ("put", "longest-queue"), ("get", "balanced"),
         ("datagram", "longest-queue"), ("datagram", "none"))
UCX = () if (why := why_no_ucx()) else ("send", "put", "get")
if why:
    print(f"without the engine ucx: {why}")
main(*(named(f"{transport}_{policy}", every_pair, transport, policy) for transport, policy in PAIRS),
     *(named(f"ucx_{transport}", engine_ucx, transport) for transport in UCX),
     one_producer_serves_in_turn, a_sequence, a_trace, without_a_file, too_few_ranks, at_once=3)
