"""Measured cases of a network that was away, or lost packets, for a while: planted at a port of the lab's switch, on a
quiet machine and on a busy one.

A network that is away passes nothing; one that loses drops packets at random; one with a hole passes none above a size.
Both are by a classic BPF program, which needs no module of its own: what is dropped at once is what the stack hands
over at once, up to 64 kB of a TCP connection.
"""

import contextlib
import subprocess
import sys

# ld rand; jgt share, drop, pass. And: ld len; jgt bytes, drop, pass. 2: TC_ACT_SHOT, 0: TC_ACT_OK.
LOSES = "4,32 0 0 4294963256,53 1 0 {},6 0 0 2,6 0 0 0"
HOLE = "4,128 0 0 0,37 0 1 {},6 0 0 2,6 0 0 0"

PATIENT = ("--warmup", "500ms", "--interval", "500ms", "--drain", "20s", "--idle", "nap", "--silence-timeout", "60s")
LINES = "--rate 80Mb/s --event-size 200kB --slots 4 --streams 4 --duration {}s"
GONE = "network-failure"


def outages(case):
    """`case` makes one: (name, truth, producers, consumers, words, engine, further fields)."""
    found = []
    for seconds in (1, 3):
        found += [case(f"link of consumer 1 away for {seconds} s", {GONE: "consumer 1"}, 3, 3,
                       LINES.format(seconds + 4), trouble=("away", "fn02", 0, 1.0, seconds)),
                  case(f"link of producer 1 away for {seconds} s, ucx", {GONE: "producer 1"}, 3, 3,
                       LINES.format(seconds + 4), "ucx", trouble=("away", "eb02", 0, 1.0, seconds))]
    # UCX gives up after some 8 s, and the run fails.
    found += [case("link of consumer 1 away for 10 s, ucx", {}, 3, 3, LINES.format(14), "ucx",
                   trouble=("away", "fn02", 0, 1.0, 10), failure="consumer 1"),
              case("link of producer 1 away for 10 s", {}, 3, 3, LINES.format(14),
                   trouble=("away", "eb02", 0, 1.0, 10), failure="producer 1"),
              case("link of the scheduler away for 3 s", {GONE: "scheduler"}, 3, 3, LINES.format(7),
                   trouble=("away", "ctl01", 0, 1.0, 3)),
              case("link of consumer 1 away for 3 s, ucx", {GONE: "consumer 1"}, 3, 3, LINES.format(7), "ucx",
                   trouble=("away", "fn02", 0, 1.0, 3)),
              case("link of consumer 1 away for 3 s, busy machine", {GONE: "consumer 1"}, 3, 3, LINES.format(7),
                   trouble=("away", "fn02", 0, 1.0, 3), load=3),
              case("link of producer 1 away for 3 s, busy machine", {GONE: "producer 1"}, 3, 3, LINES.format(7),
                   trouble=("away", "eb02", 0, 1.0, 3), load=3),
              case("no outage, busy machine", {}, 3, 3, LINES.format(7), load=3)]
    for percent in (1, 20):
        found += [case(f"{percent} % lost to consumer 1", {GONE: "consumer 1"}, 3, 3, LINES.format(6),
                       trouble=("loss", "fn02", percent, 0.5, 30)),
                  case(f"{percent} % lost from producer 1, ucx", {GONE: "producer 1"}, 3, 3, LINES.format(6), "ucx",
                       trouble=("loss", "eb02", percent, 0.5, 30))]
    found += [case("20 % lost to consumer 1, busy machine", {GONE: "consumer 1"}, 3, 3, LINES.format(6),
                   trouble=("loss", "fn02", 20, 0.5, 30), load=3),
              case("nothing above 1000 bytes to consumer 1 for 3 s", {GONE: "consumer 1"}, 3, 3, LINES.format(7),
                   trouble=("mtu", "fn02", 1000, 1.0, 3)),
              case("nothing above 1000 bytes from producer 1 for 3 s, ucx", {GONE: "producer 1"}, 3, 3,
                   LINES.format(7), "ucx", trouble=("mtu", "eb02", 1000, 1.0, 3))]
    return found


def commands(trouble):
    """(those that begin it, those that end it), on the lab's switch. Where packets come in from a host, which does not
    learn of it; what an interface of its own drops it sends again at once."""
    kind, host, amount = trouble[:3]
    if kind == "away":
        return [f"ip link set dev {host} down"], [f"ip link set dev {host} up"]
    way = "ingress" if host.startswith("eb") else "egress"
    program = LOSES.format(round(amount / 100 * (1 << 32))) if kind == "loss" else HOLE.format(amount)
    return ([f"tc qdisc add dev {host} clsact", f"tc filter add dev {host} {way} bpf da bytecode '{program}'"],
            [f"tc qdisc del dev {host} clsact"])


@contextlib.contextmanager
def busy(loops):
    """So many processes that compute all the time."""
    made = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in made:
            process.kill()
            process.wait()
