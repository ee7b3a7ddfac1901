"""Strangers at the address of a run with --join, from before its start to its end: idle connections beyond the limit of
open files, frames without a hello, signs of life without end, greetings without the token. Meanwhile a consumer is
killed and started again, and the run goes on (--on-failure continue). The run ends well, its memory does not grow, its
figures are those of the same run without strangers, and nobody gets in. The figures of more pairs of runs, for their
noise: strangers.py PAIRS (WEIR and WEIR_MPIRUN set)."""

import atexit
import os
import resource
import signal
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

from joined import ENVIRONMENT, Joined, kill_all
from weir_run import WEIR, check, main, skip_without_ucx

PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
RANKS, PRODUCERS, LOST = 5, 2, 3  # LOST: a rank, the first consumer
SECONDS, INTERVAL_MS = 4, 250
LOAD = ("--producers", str(PRODUCERS), "--rate", "40Mb/s", "--event-size", "256kB", "--interval", f"{INTERVAL_MS}ms",
        "--warmup", "500ms", "--duration", f"{SECONDS}s", "--verify", "full", "--on-failure", "continue",
        "--silence-timeout", "2s")
OPEN_FILES = 1024
IDLE = 1100
HELLO, CHALLENGE, PROOF, REFUSAL, TEXTS, PULSE = 1, 2, 3, 6, 7, 21  # FrameKind of join_connection.hpp
NO_GREETING, NO_TOKEN = "no greeting of weir", "the token is not that of rank 0"


def frame(kind, content=b""):
    return struct.pack("<IHHII", 0x324A5257, kind, 0, 0, len(content)) + content


def texts(*each):
    return b"".join(struct.pack("<I", len(one)) + one for one in each)


GREETING = frame(HELLO, texts(b"n" * 32, b"1", b"fn01", b"7", b"", b"-1", b"-1", b"0"))
ATTACKS = {
    "frames without a hello": frame(TEXTS, b"x" * 1000) * 60,
    "signs of life": frame(PULSE) * 4000,
    "a greeting and frames": GREETING + frame(TEXTS, b"x" * 1000) * 60,
    "only greetings": GREETING,
    "a length that never comes": frame(TEXTS)[:12] + struct.pack("<I", 1 << 30),
}
# Those that wait for an answer: what they send, and what they receive.
REFUSED = {NO_GREETING: [frame(HELLO, b"hello")], NO_TOKEN: [GREETING, frame(PROOF, b"p" * 32)]}


class Strangers:
    """Connect and send until close(); some megabytes each second, so that the machine has time for the run."""

    def __init__(self, address):
        host, port = address.split(":")
        self.address = (host, int(port))
        self.over = False
        self.kinds = set()  # of frames that came as an answer
        self.refused = dict.fromkeys(REFUSED, 0)
        self.idle = []
        what = [(self.stay_idle, ())]
        what += [(self.attack, (frames,)) for frames in ATTACKS.values()]
        what += [(self.ask, (words, frames)) for words, frames in REFUSED.items()]
        self.threads = [threading.Thread(target=target, args=arguments, daemon=True) for target, arguments in what]
        for thread in self.threads:
            thread.start()

    def stay_idle(self):
        while not self.over and len(self.idle) < IDLE:
            try:
                self.idle.append(socket.create_connection(self.address, timeout=5))
            except OSError:
                time.sleep(0.02)

    def attack(self, what):
        while not self.over:
            try:
                with socket.create_connection(self.address, timeout=1) as one:
                    one.settimeout(0.05)
                    for _ in range(20):
                        one.sendall(what)
                        time.sleep(0.01)
                    self.note(one.recv(65536))
            except OSError:
                time.sleep(0.02)

    def note(self, answer):
        if len(answer) >= len(frame(0)):
            self.kinds.add(struct.unpack_from("<IH", answer)[1])

    def ask(self, words, frames):
        """Sends a frame after each answer; where strangers crowd, the connection may be closed first."""
        while not self.over:
            answer = b""
            try:
                with socket.create_connection(self.address, timeout=1) as one:
                    for each in frames:
                        one.sendall(each)
                        answer = one.recv(65536)
            except OSError:
                pass
            self.note(answer)
            self.refused[words] += words.encode() in answer
            time.sleep(0.05)

    def close(self):
        self.over = True
        for thread in self.threads:
            thread.join()
        for one in self.idle:
            one.close()


def memory_kb(pid):
    """The most that the process had at a time."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1])


def processor_s(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def without_the_token(run):
    """While a place is free: refused with the reason, by weir's own words."""
    done = subprocess.run([WEIR, "run", "--join", run.address], capture_output=True, text=True, timeout=20, check=False,
                          env={**ENVIRONMENT, "WEIR_JOIN_TOKEN": "another token for tests"})
    check(done.returncode != 0 and f"refused by {run.address}: {NO_TOKEN}" in done.stderr,
          f"{done.returncode}: {done.stderr}")


def carried_out(directory, with_strangers):
    """A run, the last of whose ranks comes late, and one of whose consumers is lost and comes back. Its figures."""
    own = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, own[1]), own[1]))  # of the ranks
    run = Joined(RANKS, *LOAD, directory=directory, missing=1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (own[1], own[1]))
    strangers = None
    if with_strangers:
        time.sleep(0.3)
        strangers = Strangers(run.address)
        time.sleep(1)
    run.processes.append(run.start())
    run.wait_for_seconds(1)
    run.send(LOST, signal.SIGKILL)
    without_the_token(run)
    run.processes.append(run.start())
    time.sleep(2)
    rank_0 = run.processes[0].pid
    figures = {"rank 0 memory, kB": memory_kb(rank_0), "rank 0 processor, s": processor_s(rank_0)}
    ended = run.end(30)
    if strangers:
        strangers.close()
        check(strangers.kinds <= {CHALLENGE, REFUSAL}, f"strangers were sent frames of the kinds {strangers.kinds}")
        check(all(strangers.refused.values()), f"nobody was told why: {strangers.refused}\n{run.said()}")
    figures |= figures_of(ended)
    return figures


def figures_of(ended):
    """Of a run that went well."""
    report = f"\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
    record = ended.json
    check(ended.status == 0 and record["status"] == "complete",
          f"exit status {ended.status}, {record['failure']}" + report)
    check(record["ledger"]["agrees"], f"{record['ledger']}" + report)
    check(record["fault_count"] == 0, f"{record['faults']}" + report)
    losses = record["recovery"]["losses"]
    check([loss["consumer"] for loss in losses] == [0] and losses[0]["back_at_s"] is not None, f"{losses}" + report)
    totals = record["totals"]
    check(totals["lost_events"] == totals["corrupt_events"] == totals["duplicate_events"] == 0, f"{totals}" + report)
    latency = record["latency"]
    return {"sustained": record["verdict"]["sustained"], "generated, bytes": totals["generated_bytes"],
            "sent, bytes": totals["sent_bytes"], "sets": record["verdict"]["sets"],
            "late sets": record["verdict"]["late_sets"], "occupancy": totals["max_occupancy"],
            "lost for, s": losses[0]["back_at_s"] - losses[0]["lost_at_s"],
            "scheduling, p50 ms": latency["offer_to_grant"]["p50_us"] / 1000,
            "delivery, p50 ms": latency["delivery"]["p50_us"] / 1000,
            "delivery, p90 ms": latency["delivery"]["p90_us"] / 1000}


def same_but_for_noise(alone, among):
    """The limits are wide, for a machine that does other things, too, and narrower by far than what strangers could do
    before they were bounded: 1.4 GB on rank 0, and half of each second away from the run."""
    # Not the verdict: the machine alone may make one set late, and late sets have their limit below.
    for exact in ("generated, bytes", "sent, bytes", "sets"):
        check(alone[exact] == among[exact], f"{exact}: {alone[exact]} alone, {among[exact]} among strangers")
    # A set is late by a hold-up of its interval.
    limits = {"rank 0 memory, kB": 30_000, "late sets": alone["sets"] // 4, "occupancy": 1,
              "scheduling, p50 ms": INTERVAL_MS / 2, "delivery, p50 ms": INTERVAL_MS / 2}
    for name, limit in limits.items():
        check(among[name] - alone[name] <= limit, f"{name}: {alone[name]} alone, {among[name]} among strangers")


def from_start_to_end():
    pairs = []
    for number in range(PAIRS):
        pairs.append([carried_out(f"alone{number}", False), carried_out(f"among{number}", True)])
        same_but_for_noise(*pairs[-1])
    print(f"{'of each, alone and among strangers:':36} median (least to most) of {PAIRS}")
    for name in pairs[0][0]:
        each = ((min(values), statistics.median(values), max(values))
                for values in zip(*([run[name] for run in pair] for pair in pairs)))
        print(f"{name:36}"
              + "".join(f"{f'{middle:.4g} ({least:.4g} to {most:.4g})':36}" for least, middle, most in each))


atexit.register(kill_all)
skip_without_ucx()
main(from_start_to_end)
