"""Chunks that the network damages, doubles or loses are found and named; the run fails, but ends in order. With
datagrams it does not fail: they are counted."""

import csv

from weir_run import check, check_status, main, named, weir

OPTIONS = ["--producers", "1", "--consumers", "2", "--rate", "40Mb/s", "--event-size", "256KiB", "--chunk-size",
           "64KiB", "--interval", "250ms", "--duration", "1s", "--warmup", "0s", "--drain", "1s"]


def injected(kind, expect_fault, *options):
    run = weir(4, *OPTIONS, *options, "--inject", f"{kind}:producer=0,event=3,chunk=2")
    check_status(run, 1)
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


def counted(kind, expect_fault, verify, total, *options):
    run = injected(kind, expect_fault, "--verify", verify, *options)
    if total:
        check(run.json["totals"][total] == 1, f"{run.json['totals']}")
    elif kind == "lose":
        check(not run.json["ledger"]["agrees"], "the ledgers agree although an event did not arrive")


# What is injected, the fault that is found, the level of --verify, the total that counts it, transports.
INJECTED = (
    ("corrupt-payload", "corrupt_payload", "full", "corrupt_events", ("send", "put")),
    ("corrupt-header", "corrupt_header", "header", None, ("send",)),
    ("duplicate", "duplicate_chunk", "header", "duplicate_events", ("send", "get")),
    ("lose", "incomplete_event", "none", None, ("send", "put", "get")),
)


def sampled():
    """By default one chunk in 128 is looked at, by a hash of event and offset: of event 2 and chunks of 4 KiB that one
    which is number 36."""
    options = ["4KiB" if word == "64KiB" else word for word in OPTIONS]
    run = weir(4, *options, "--inject", "corrupt-payload:producer=0,event=2,chunk=36", directory="checked")
    check_status(run, 1)
    check("corrupt_payload" in run.json["failure"]["what"], f"{run.json['failure']}")
    check("ledgers agree (headers, counts and hashes of ids; payload of " in run.stdout and "passed" not in run.stdout,
          run.stdout)
    run = weir(4, *options, "--inject", "corrupt-payload:producer=0,event=2,chunk=35", directory="not-checked")
    check(run.status == 0, f"exit status {run.status}: {run.stderr}")
    share = run.json["ledger"]["verified_payload_share"]
    check(0.004 < share < 0.013, f"{share}")
    check(f"payload of {100 * share:.1f} % of the bytes checked" in run.stdout, run.stdout)


def unverified_corruption_passes():
    """What --verify none promises: nothing. The test shows that the other levels do the finding."""
    run = weir(4, *OPTIONS, "--verify", "none", "--inject", "corrupt-payload:producer=0,event=3,chunk=2")
    check(run.status == 0, f"exit status {run.status}: {run.stderr}")


def datagrams(verify, places, expected):
    """Damaged, doubled and lost datagrams are counted, by pair, and are no faults: that is what datagrams are."""
    options = ["8KiB" if word == "64KiB" else word for word in OPTIONS]
    faults = [word for place in places for word in ("--inject", place)]
    run = weir(4, *options, "--transport", "datagram", "--socket-buffer", "4MiB", "--verify", verify, *faults)
    check(run.status == 0, f"exit status {run.status}\n{run.stdout}\n{run.stderr}")
    check(run.json["status"] == "complete" and run.json["ledger"]["agrees"],
          f"{run.json['failure']}, {run.json['ledger']}")
    account = run.json["datagrams"]
    # On a busy machine a socket may be full: what it dropped is known exactly.
    dropped = account["explained"]["socket"]
    counted = {name: account[name] for name in ("missing", "unexplained", "duplicate", "late", "corrupt")}
    check(counted == {"missing": expected.get("lost", 0) + dropped, "unexplained": expected.get("lost", 0), "late": 0,
                      "duplicate": expected.get("duplicate", 0), "corrupt": expected.get("corrupt", 0)}, f"{account}")
    check(account["sent"] == account["received"] + account["missing"] + account["corrupt"], f"{account}")
    with open(run.directory / "datagrams.csv", encoding="utf-8") as file:
        pairs = list(csv.DictReader(file))
    for name in ("sent", "received", "missing", "duplicate", "late", "corrupt"):
        check(sum(int(pair[name]) for pair in pairs) == account[name], f"{name}: {pairs}, {account}")
    lost = run.json["totals"]["lost_events"]
    check((lost > 0) == (account["missing"] + account["corrupt"] > 0), f"{lost} events lost with {account}")


# (level of --verify, what is injected, what is counted). Of event 1 and chunks of 8 KiB the one that is looked at by
# default is number 18.
DATAGRAMS = tuple(named(f"datagrams_{verify}", datagrams, verify, places, counts) for verify, places, counts in (
    ("none", ("lose:producer=0,event=3,chunk=2", "corrupt-header:producer=0,event=4,chunk=2"),
     {"lost": 1, "corrupt": 1}),
    ("full", ("duplicate:producer=0,event=3,chunk=2", "corrupt-payload:producer=0,event=4,chunk=2"),
     {"duplicate": 1, "corrupt": 1}),
    ("sample", ("corrupt-payload:producer=0,event=1,chunk=18", "corrupt-payload:producer=0,event=3,chunk=2"),
     {"corrupt": 1}),
))

main(*(named(f"{kind}_{transport}", counted, kind, fault, verify, total,
             *(() if transport == "send" else ("--transport", transport)))
       for kind, fault, verify, total, transports in INJECTED
       for transport in transports),
     sampled, unverified_corruption_passes, *DATAGRAMS, at_once=3)
