"""Datagrams over loopback: weir's transport `datagram` beside a bare sendmmsg loop (bench/bare/datagrams.cpp) and
`iperf3 -u`.

One sender, one receiver, the same size of datagrams and the same socket buffers for all. weir and the bare loop send
out of as much memory; iperf3 sends the same buffer again and again, which the cache holds, so the last case has all of
them do about that.

First each goes as fast as it can. Then all offer the same rate, half of what iperf3 received in this round, and what
counts is loss. At full speed the bare loop also runs with a window, which weir's credits are a kind of: without one,
what it receives on a machine that is not idle is held down by datagrams that it sends to be dropped. weir's events are
so short that all slots together hold no more than that window: of a longer one that loses a datagram, the slot is taken
until --fragment-timeout.
"""

import json
import shutil
import socket
import subprocess
import sys
import time

from . import running
from .samples import Comparison

SOCKET_BUFFER = 4 << 20
SLOTS = 4
# Name, bytes of a datagram, memory that weir and the bare loop send from, further options of weir.
CASES = (
    ("64 B", 64, 64 << 20, ()),
    ("1472 B", 1472, 64 << 20, ()),
    ("9000 B", 9000, 64 << 20, ()),
    ("64 KiB", 65507, 64 << 20, ()),
    ("64 KiB out of 1 MiB", 65507, 1 << 20, ("--window", "4")),
)
WEIR, BARE, WINDOW, IPERF3 = "weir", "bare sendmmsg", "bare sendmmsg with a window", "iperf3"


def comparisons():
    speed, loss = "received datagrams per second", "loss share at equal offered rate"
    for case, *_ in CASES:
        yield Comparison("datagrams", case, f"datagrams of {case}, loopback: received / iperf3 -u", speed, WEIR, IPERF3,
                         1.5, unit="/s",
                         optional=True)
        yield Comparison("datagrams", case, f"datagrams of {case}: received / bare sendmmsg loop with a window", speed,
                         WEIR, WINDOW, 0.8 if case == "64 B" else 0.9, unit="/s")
        yield Comparison("datagrams", case, f"datagrams of {case}: received / bare sendmmsg loop without one", speed,
                         WEIR, BARE, unit="/s")
        yield Comparison("datagrams", case, f"datagrams of {case}: share lost at half of iperf3's rate, weir - iperf3",
                         "more lost than iperf3", WEIR,
                         bound=0, at_least=False, optional=True)
        yield Comparison("datagrams", case, f"datagrams of {case}: share lost at half of iperf3's rate, iperf3 itself",
                         loss, IPERF3)
        yield Comparison("datagrams", case, f"datagrams of {case}: share of that rate which weir sent",
                         "sent share of equal offered rate", WEIR,
                         bound=0.98)
        if case.startswith("64 KiB"):
            yield Comparison("datagrams", case, f"datagrams of {case}: received / iperf3 -u",
                             "received bits per second", WEIR, IPERF3, unit="b/s")


COMPARISONS = list(comparisons())


def measure(options, samples):
    peers = {WEIR: lambda *what: run_weir(running.Local(options.weir, options.bare), *what),
             BARE: lambda *what: run_bare(options.bare, False, *what),
             WINDOW: lambda *what: run_bare(options.bare, True, *what)}
    if shutil.which("iperf3"):
        peers[IPERF3] = run_iperf3
    for number in range(options.rounds):
        for case, size, memory, more in CASES:
            received, lost_share = {}, {}
            for peer, run in peers.items():
                sent, lost = run(size, memory, more, options.seconds, None)
                received[peer] = sent * (1 - lost)
                samples.add("datagrams", case, peer, "received datagrams per second", number, received[peer])
                samples.add("datagrams", case, peer, "received bits per second", number, 8 * size * received[peer])
                samples.add("datagrams", case, peer, "loss share at full speed", number, lost)
            rate = received.get(IPERF3, received[WINDOW]) / 2
            for peer in peers:
                if peer == WINDOW:
                    continue
                sent, lost_share[peer] = peers[peer](size, memory, more, options.seconds, rate)
                samples.add("datagrams", case, peer, "sent share of equal offered rate", number, sent / rate)
                samples.add("datagrams", case, peer, "loss share at equal offered rate", number, lost_share[peer])
            if IPERF3 in lost_share:
                samples.add("datagrams", case, WEIR, "more lost than iperf3", number,
                            lost_share[WEIR] - lost_share[IPERF3])


def window_of(size):
    """Datagrams that fit into the socket buffer: the kernel doubles it, and charges some 700 bytes of its own for
    each."""
    return SOCKET_BUFFER // (size + 1024)


# Each runs one peer, at full speed or at `rate` datagrams/s, and returns how many it sent per second, and which share
# of all was lost.


def run_weir(world, size, memory, options, seconds, rate):
    words = ["--policy", "none", "--transport", "datagram", "--chunk-size", f"{size}B",
             "--socket-buffer", f"{SOCKET_BUFFER}B", "--buffer", f"{memory}B", "--warmup", "1s", "--duration",
             f"{seconds}s", *options]
    if rate is None:
        event = size * min((1 << 20) // size, window_of(size) // SLOTS)
        words += ["--generation", "saturate", "--slots", str(SLOTS), "--event-size", f"{event}B"]
    else:
        # An event is what iperf3 sends at a time: of a millisecond.
        event = size * max(1, min(round(rate / 1000), memory // size // 2))
        words += ["--generation", "steady", "--overflow", "drop", "--event-size", f"{event}B", "--rate",
                  f"{round(rate * size * 8)}b/s"]
    sent = []
    record = running.run_weir(world, 1, 1, words,
                              lambda directory: sent.append(
                                  running.measured_sum(directory, "producer", "sent_datagrams")))
    # The loss is of the whole run, so that no datagram on its way at the end of the measured time counts.
    return sent[0] / seconds, record["datagrams"]["missing"] / record["datagrams"]["sent"]


def run_bare(bare, window, size, memory, _, seconds, rate):
    words = ["--size", str(size), "--buffer", str(memory), "--socket-buffer", str(SOCKET_BUFFER), "--seconds",
             str(seconds)]
    if rate is not None:
        words += ["--rate", str(rate)]
    if window:
        words += ["--window", str(window_of(size))]
    counts = json.loads(running.program([bare / "datagrams", *words]))
    sender = counts["sender"]
    return sender["datagrams"] / sender["seconds"], counts["lost"] / sender["datagrams"]


def run_iperf3(size, _, __, seconds, rate):
    port = free_port()
    bits = "0" if rate is None else str(round(rate * size * 8))
    with subprocess.Popen(["iperf3", "-s", "-1", "-p", str(port)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(port)
            words = ["-c", "127.0.0.1", "-p", str(port), "-u", "-l", str(size), "-b", bits,
                     "-w", str(SOCKET_BUFFER), "-t", str(seconds), "-J"]
            end = json.loads(running.program(["iperf3", *words]))["end"]
        finally:
            server.terminate()
    total = end["sum"]
    return total["packets"] / total["seconds"], total["lost_packets"] / total["packets"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for(port):
    """Until a process listens there. Not by connecting: iperf3 would take that for its one client."""
    for _ in range(200):
        with open("/proc/net/tcp", encoding="ascii") as ipv4, open("/proc/net/tcp6", encoding="ascii") as ipv6:
            rows = [line.split() for line in [*ipv4, *ipv6]]
        if any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows):
            return
        time.sleep(0.01)
    sys.exit(f"iperf3 does not listen on port {port}")
