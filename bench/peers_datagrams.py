"""Datagrams over loopback: weir's transport `datagram` beside a bare sendmmsg loop (bench/bare/datagrams.cpp) and `iperf3 -u`.

One sender, one receiver, the same size of datagrams and the same socket buffers for all. weir and the bare loop send out of as much
memory; iperf3 sends the same buffer again and again, which the cache holds, so the last case has all of them do about that.

First each goes as fast as it can. Then all offer the same rate, half of what iperf3 received in this round, and what counts is loss.
At full speed the bare loop also runs with a window, which weir's credits are a kind of: without one, what it receives on a machine
that is not idle is held down by datagrams that it sends to be dropped.
"""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import time

import paper_runs

TARGET = 7
SOCKET_BUFFER = 4 << 20
# Name, bytes of a datagram, memory that weir and the bare loop send from, further options of weir.
CASES = (
    ("64 B", 64, 64 << 20, ()),
    ("1472 B", 1472, 64 << 20, ()),
    ("9000 B", 9000, 64 << 20, ()),
    ("64 KiB", 65507, 64 << 20, ()),
    ("64 KiB out of 1 MiB", 65507, 1 << 20, ("--window", "4")),
)
WEIR, BARE, WINDOW, IPERF3 = "weir", "bare sendmmsg", "bare sendmmsg with a window", "iperf3"


def measure(weir, bare, rounds, seconds):
    """Yields samples as they come: {"target", "case", "peer", "quantity", "value", "round"}. `weir` is the executable, `bare` the
    directory with the bare loops; each run measures `seconds` (a whole number). Without iperf3 on PATH, iperf3's are left out.
    Ends the program if a run fails."""
    peers = {WEIR: lambda *what: run_weir(weir, *what),
             BARE: lambda *what: run_bare(bare, False, *what),
             WINDOW: lambda *what: run_bare(bare, True, *what)}
    if shutil.which("iperf3"):
        peers[IPERF3] = run_iperf3
    else:
        print("no iperf3 on PATH: bench/install-dependencies installs it", file=sys.stderr)
    for turn in range(rounds):
        for case, size, memory, options in CASES:
            def sample(peer, quantity, value):
                return {"target": TARGET, "case": case, "peer": peer, "quantity": quantity, "value": value, "round": turn}

            received = {}
            for peer, run in peers.items():
                sent, lost = run(size, memory, options, seconds, None)
                received[peer] = sent * (1 - lost)
                yield sample(peer, "received datagrams per second", received[peer])
                yield sample(peer, "received Gb/s", received[peer] * size * 8e-9)
                yield sample(peer, "loss share at full speed", lost)
            rate = received.get(IPERF3, received[WINDOW]) / 2
            for peer, run in peers.items():
                if peer != WINDOW:
                    sent, lost = run(size, memory, options, seconds, rate)
                    yield sample(peer, "sent share of equal offered rate", sent / rate)
                    yield sample(peer, "loss share at equal offered rate", lost)


# Each runs one peer, at full speed or at `rate` datagrams/s, and returns how many it sent per second, and which share of all was lost.


def run_weir(weir, size, memory, options, seconds, rate):
    words = ["--producers", "1", "--consumers", "1", "--policy", "none", "--transport", "datagram", "--chunk-size", f"{size}B",
             "--socket-buffer", f"{SOCKET_BUFFER}B", "--buffer", f"{memory}B", "--warmup", "1s", "--duration", f"{seconds}s", *options]
    if rate is None:
        words += ["--generation", "saturate", "--event-size", "1MiB"]
    else:
        # An event is what iperf3 sends at a time: of a millisecond.
        event = size * max(1, min(round(rate / 1000), memory // size // 2))
        words += ["--generation", "steady", "--overflow", "drop", "--event-size", f"{event}B", "--rate", f"{round(rate * size * 8)}b/s"]
    record, sums, _ = paper_runs.run(words, "local", weir, ranks=3)
    # The loss is of the whole run, so that no datagram on its way at the end of the measured time counts.
    return sums["producer", "sent_datagrams"] / seconds, record["datagrams"]["missing"] / record["datagrams"]["sent"]


def run_bare(bare, window, size, memory, _, seconds, rate):
    words = ["--size", str(size), "--buffer", str(memory), "--socket-buffer", str(SOCKET_BUFFER), "--seconds", str(seconds)]
    if rate is not None:
        words += ["--rate", str(rate)]
    if window:
        # As many as fit into the socket buffer: the kernel doubles it, and charges some 700 bytes of its own for each.
        words += ["--window", str(SOCKET_BUFFER // (size + 1024))]
    counts = json.loads(output_of([str(pathlib.Path(bare) / "datagrams"), *words]))
    sender = counts["sender"]
    return sender["datagrams"] / sender["seconds"], counts["lost"] / sender["datagrams"]


def run_iperf3(size, _, __, seconds, rate):
    port = free_port()
    bits = "0" if rate is None else str(round(rate * size * 8))
    with subprocess.Popen(["iperf3", "-s", "-1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(port)
            words = ["-c", "127.0.0.1", "-p", str(port), "-u", "-l", str(size), "-b", bits,
                     "-w", str(SOCKET_BUFFER), "-t", str(seconds), "-J"]
            end = json.loads(output_of(["iperf3", *words]))["end"]
        finally:
            server.terminate()
    total = end["sum"]
    return total["packets"] / total["seconds"], total["lost_packets"] / total["packets"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for(port):
    """Until someone listens there. Not by connecting: iperf3 would take that for its one client."""
    for _ in range(200):
        with open("/proc/net/tcp", encoding="ascii") as ipv4, open("/proc/net/tcp6", encoding="ascii") as ipv6:
            rows = [line.split() for line in [*ipv4, *ipv6]]
        if any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows):
            return
        time.sleep(0.01)
    sys.exit(f"iperf3 does not listen on port {port}")


def output_of(line):
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout
