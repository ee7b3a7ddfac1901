"""Strangers at the address of a run with --join, from before its start to its end: idle connections beyond the limit of open files, frames
without a hello, signs of life without end, greetings without the token. The run ends well, its memory does not grow, and nobody gets in."""

import atexit
import resource
import socket
import struct
import threading
import time

from joined import Joined, kill_all
from weir_run import check, check_complete, main, skip_without_ucx

LOAD = ("--rate", "40Mb/s", "--event-size", "256kB", "--interval", "250ms", "--warmup", "500ms", "--duration", "2s")
OPEN_FILES = 1024
IDLE = 1100
GROWTH_MAX_KB = 30_000
HELLO, TEXTS, PULSE = 1, 7, 21  # FrameKind of join_connection.hpp


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


class Strangers:
    """Connect and send until close(); some megabytes each second, so that the machine has time for the run."""

    def __init__(self, address):
        host, port = address.split(":")
        self.address = (host, int(port))
        self.over = False
        self.answers = b""
        self.idle = []
        self.threads = [threading.Thread(target=self.attack, args=(what,), daemon=True) for what in ATTACKS.values()]
        self.threads.append(threading.Thread(target=self.stay_idle, daemon=True))
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
                    self.answers += one.recv(65536)
            except OSError:
                time.sleep(0.02)

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


def carried_out(directory, with_strangers):
    """The run, and the most memory that rank 0 had before its end."""
    own = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, own[1]), own[1]))  # of the ranks
    run = Joined(4, *LOAD, directory=directory, missing=1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (own[1], own[1]))
    strangers = None
    if with_strangers:
        time.sleep(0.3)
        strangers = Strangers(run.address)
        time.sleep(1)
    run.processes.append(run.start())
    run.wait_for_seconds(2)
    memory = memory_kb(run.processes[0].pid)
    ended = run.end(30)
    if strangers:
        strangers.close()
        check(b"rank 0" not in strangers.answers, "something of the run was told to strangers")
    check(ended.status == 0, f"exit status {ended.status}\n{ended.stderr}\n{ended.json['failure']}")
    check_complete(ended, 4)
    check(ended.json["verdict"]["sustained"], f"{ended.json['verdict']}")
    check(ended.json["fault_count"] == 0, f"{ended.json['faults']}")
    return ended, memory


def from_start_to_end():
    alone, memory_alone = carried_out("alone", False)
    among, memory_among = carried_out("among", True)
    check(memory_among - memory_alone < GROWTH_MAX_KB, f"rank 0 had {memory_alone} kB alone and {memory_among} kB among strangers")
    events = [one.json["totals"]["received_events"] for one in (alone, among)]
    check(events[0] == events[1], f"events received alone and among strangers: {events}")
    print(f"rank 0: {memory_alone} kB alone, {memory_among} kB among strangers")


atexit.register(kill_all)
skip_without_ucx()
main(from_start_to_end)
