"""Chunks that the network damages, doubles or loses are found and named; the run fails, but ends in order."""

from weir_run import check, main, weir

OPTIONS = ["--producers", "1", "--consumers", "2", "--rate", "40Mb/s", "--event-size", "256KiB", "--chunk-size",
           "64KiB", "--interval", "250ms", "--duration", "1s", "--warmup", "0s", "--drain", "1s"]


def injected(kind, expect_fault, *options):
    run = weir(4, *OPTIONS, *options, "--inject", f"{kind}:producer=0,event=3,chunk=2")
    check(run.status == 1, f"exit status {run.status}\n{run.stdout}\n{run.stderr}")
    check(run.json["status"] == "failed", run.json["status"])
    faults = run.json["faults"]
    first = faults[0]
    check(first["kind"] == expect_fault, f"{faults}")
    check(first["source"] == "producer 0" and first["destination"].startswith("consumer "), f"{first}")
    if expect_fault != "corrupt_header":
        check(first["event_sequence"] == 3 and first["chunk"] == 2 and first["offset_bytes"] == 2 * 65536, f"{first}")
    check(expect_fault in run.json["failure"]["what"], run.json["failure"]["what"])
    check(expect_fault in run.stdout, f"the summary does not name the fault: {run.stdout[-2500:]}")
    return run


def corrupt_payload(*options):
    run = injected("corrupt-payload", "corrupt_payload", "--verify", "full", *options)
    check(run.json["totals"]["corrupt_events"] == 1, f"{run.json['totals']}")


def corrupt_header():
    injected("corrupt-header", "corrupt_header", "--verify", "header")


def duplicate(*options):
    run = injected("duplicate", "duplicate_chunk", "--verify", "header", *options)
    check(run.json["totals"]["duplicate_events"] == 1, f"{run.json['totals']}")


def lose(*options):
    run = injected("lose", "incomplete_event", "--verify", "none", *options)
    check(not run.json["ledger"]["agrees"], "the ledgers agree although an event did not arrive")


def unverified_corruption_passes():
    """What --verify none promises: nothing. The test shows that the other levels do the finding."""
    run = weir(4, *OPTIONS, "--verify", "none", "--inject", "corrupt-payload:producer=0,event=3,chunk=2")
    check(run.status == 0, f"exit status {run.status}: {run.stderr}")


def corrupt_payload_put():
    corrupt_payload("--transport", "put")


def duplicate_get():
    duplicate("--transport", "get")


def lose_put():
    lose("--transport", "put")


def lose_get():
    lose("--transport", "get")


main(corrupt_payload, corrupt_header, duplicate, lose, unverified_corruption_passes, corrupt_payload_put, duplicate_get,
     lose_put, lose_get)
