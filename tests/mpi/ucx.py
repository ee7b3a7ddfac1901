"""Runs over the engine `ucx`: to the planned end with every pattern of control packets and several queue pairs, with
damaged and doubled chunks, and with ranks that are killed, stopped or signalled. Skipped where this weir cannot use
UCX."""

import contextlib
import os
import signal
from pathlib import Path

from weir_run import Background, check, check_complete, check_status, main, named, skip_without_ucx, weir

ENDS_WITHIN_S = 10


def complete(ranks, *options, directory="run"):
    run = weir(ranks, "--engine", "ucx", "--rate", "20Mb/s", "--interval", "250ms", "--duration", "1s",
               "--warmup", "250ms", "--verify", "full", *options, directory=directory)
    check(run.status == 0, f"{options}: exit {run.status}\n{run.stdout}\n{run.stderr}")
    check_complete(run, ranks)
    plan = run.json["plan"]
    transport = options[options.index("--transport") + 1] if "--transport" in options else "send"
    check((plan["engine"], plan["transport"]) == ("ucx", transport), f"{plan}")
    environment = run.json["environment"]
    check(environment["ucx_version"], "run.json does not name the UCX")
    check(set(environment["ucx_paths"]) == {"control", "data"} and all(environment["ucx_paths"].values()),
          f"{environment}")
    return run


VARIED = ("--event-size", "lognormal:48KiB,deviation=32KiB")
SMALL = ("--event-size", "10kB", "--chunk-size", "1000B", "--window", "3", "--streams")
FULL = ("--generation", "saturate", "--event-size", "1MiB", "--buffer", "16MiB")
COMPLETE = (
    named("push", complete, 3, "--event-size", "64KiB"),
    named("no_scheduler", complete, 4, *VARIED, "--policy", "none"),
    named("pull", complete, 7, "--event-size", "64KiB", "--pattern", "build", "--initiation", "pull", "--requests",
          "3"),
    named("small_chunks", complete, 7, *SMALL, "7", "--busy", "fixed:1ms",
          "--result-size", "lognormal:5kB,deviation=5kB,max=20kB"),
    *(named(f"{transport}{name}", complete, ranks, *options, "--transport", transport)
      for transport in ("put", "get")
      for name, ranks, options in (("", 7, VARIED), ("_saturated", 4, FULL), ("_small_chunks", 5, (*SMALL, "4")))),
)


@contextlib.contextmanager
def tcp_only():
    os.environ["UCX_TLS"] = "tcp,self"
    try:
        yield
    finally:
        del os.environ["UCX_TLS"]


def queue_pairs(transport, ranks, each):
    """Over TCP, where each is a socket: UCX has made as many connections as were asked for."""
    with tcp_only():
        run = complete(ranks, "--event-size", "256KiB", "--chunk-size", "64KiB", "--transport", transport,
                       "--queue-pairs", str(each))
    check(run.json["plan"]["queue-pairs"] == ("pair" if each == 1 else str(each)), f"{run.json['plan']}")
    roles = [rank["role"] for rank in run.json["ranks"]]
    producers, consumers = roles.count("producer"), roles.count("consumer")
    # With get, producers announce data to consumers, which read them.
    pairs = producers * consumers * (each + (1 if transport == "get" else 0))
    made = run.json["environment"]["ucx_connections"]["data"]
    check(sum(made.values()) == pairs, f"{transport}, {each} for each of {producers} x {consumers}: {made}")


def devices():
    plan = complete(3, "--event-size", "64KiB", "--control-device", "lo", "--data-device", "lo").json["plan"]
    check((plan["control-device"], plan["data-device"]) == ("lo", "lo"), f"{plan}")
    with tcp_only():
        refused = weir(3, "--engine", "ucx", "--data-device", "nosuch0", "--duration", "1s", directory="nosuch")
    check_status(refused, 1)
    check("nosuch0" in refused.stderr, refused.stderr)


def saturated():
    run = complete(4, "--generation", "saturate", "--event-size", "1MiB", "--buffer", "16MiB")
    check(run.json["totals"]["received_events"] > 20, f"{run.json['totals']}")


def traffic_classes():
    plan = complete(3, "--event-size", "64KiB", "--control-traffic-class", "192", "--data-traffic-class",
                    "0").json["plan"]
    check((plan["control-traffic-class"], plan["data-traffic-class"]) == ("192", "0"), f"{plan}")


def injected(kind, fault, verify, transport="send"):
    run = weir(4, "--engine", "ucx", "--transport", transport, "--producers", "1", "--consumers", "2",
               "--rate", "40Mb/s", "--event-size", "256KiB", "--chunk-size", "64KiB", "--interval", "250ms",
               "--duration", "1s", "--warmup", "0s", "--drain", "1s", "--verify", verify,
               "--inject", f"{kind}:producer=0,event=3,chunk=2", directory=transport)
    check_status(run, 1)
    check(run.json["status"] == "failed", f"{run.json['status']}")
    first = run.json["faults"][0]
    check(first["kind"] == fault and first["source"] == "producer 0", f"{first}")


INJECTED = tuple(named(f"{fault}_{transport}", injected, kind, fault, verify, transport)
                 for kind, fault, verify in (("corrupt-payload", "corrupt_payload", "full"),
                                             ("duplicate", "duplicate_chunk", "header"))
                 for transport in ("send", "put", "get"))


def disturbed(disturb, expect_status, words, *options, environment=None):
    run = Background(8, "--engine", "ucx", "--producers", "3", "--consumers", "4", "--event-size", "1MiB",
                     "--duration", "60s", "--rate", "50Mb/s", "--warmup", "0s", "--silence-timeout", "4s", *options,
                     environment=environment)
    run.wait_for_seconds(1)
    disturb(run)
    ended = run.end(ENDS_WITHIN_S)
    check(ended.json is not None and ended.json["status"] == expect_status, f"{ended.json and ended.json['failure']}")
    what = ended.json["failure"]["what"]
    for word in words:
        check(word in what, f"'{word}' is not in run.json's failure: {what}")
    check(ended.status != 0, "exit status 0")
    check(not (ended.directory / "traffic.csv").exists(), "traffic without the accounts of all ranks")


def killed_consumer():
    disturbed(lambda run: run.send(5, signal.SIGKILL), "failed", ["rank 5 (consumer 1 on ", "gone"])


def killed_producer_over_tcp():
    """Where the death closes connections, which other ranks see before they look for dead processes."""
    def kill(run):
        sockets = []
        for file in Path(f"/proc/{run.pids()[2]}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                sockets.append(os.readlink(file))
        check(sum(name.startswith("socket:") for name in sockets) >= 4 * 8,
              f"4 consumers with 8 queue pairs each: {sockets}")
        run.send(2, signal.SIGKILL)

    disturbed(kill, "failed", ["rank 2 (producer 1 on ", "gone"], "--queue-pairs", "8",
              environment={"UCX_TLS": "tcp,self"})


def killed_scheduler():
    disturbed(lambda run: run.send(0, signal.SIGKILL), "failed", ["rank 0 (scheduler on ", "gone"])


def stopped_consumer():
    disturbed(lambda run: run.send(7, signal.SIGSTOP), "failed", ["rank 7 (consumer 3 on ", "not responded for 4 s"])


def interrupted_mpirun():
    disturbed(lambda run: run.process.send_signal(signal.SIGINT), "interrupted", ["signal"])


skip_without_ucx()
os.environ.pop("UCX_TLS", None)
main(*COMPLETE, *(named(f"queue_pairs_{transport}_{each}", queue_pairs, transport, ranks, each)
                  for transport, ranks, each in (("send", 3, 1), ("send", 4, 8), ("put", 7, 2), ("get", 7, 2))),
     devices, saturated, traffic_classes, *INJECTED, killed_consumer, killed_producer_over_tcp, killed_scheduler,
     stopped_consumer, interrupted_mpirun, at_once=3)
