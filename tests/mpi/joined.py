"""Processes of a run that starts without MPI (--join): rank 0 and the others, each started by itself."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from weir_run import WEIR, Run, check

TOKEN = "a token for tests"
ENVIRONMENT = {**os.environ, "WEIR_JOIN_TOKEN": TOKEN}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Joined:
    """A run of `ranks` processes: rank 0 has the options, the others only the address. The last `missing` are not
    started."""

    everyone = []

    def __init__(self, ranks, *options, directory="run", missing=0):
        self.directory = Path(directory)
        self.address = f"127.0.0.1:{free_port()}"
        self.err = open(f"{directory}.stderr.txt", "w+", encoding="utf-8")
        self.out = open(f"{directory}.stdout.txt", "w+", encoding="utf-8")
        self.begin = time.monotonic()
        self.processes = [self.start("--ranks", str(ranks), "--out", str(directory), *options)]
        self.processes += [self.start() for _ in range(ranks - 1 - missing)]

    def start(self, *options, environment=None):
        process = subprocess.Popen([WEIR, "run", "--join", self.address, *options], stdout=self.out, stderr=self.err,
                                   env=environment or ENVIRONMENT)
        Joined.everyone.append(process)
        return process

    def record(self):
        try:
            return json.loads((self.directory / "run.json").read_text())
        except (OSError, ValueError):
            return None

    def wait_for_seconds(self, count, limit_s=30):
        """Until each rank has so many rows."""
        deadline = time.monotonic() + limit_s
        while True:
            rows = [len(path.read_text().splitlines()) - 1 for path in (self.directory / "ranks").glob("rank-*.csv")]
            if len(rows) == len(self.processes) and min(rows) >= count:
                return
            check(time.monotonic() < deadline, lambda: f"rows after {limit_s} s: {rows}\n{self.said()}")
            time.sleep(0.05)

    def pid(self, rank):
        return self.record()["ranks"][rank]["pid"]

    def send(self, rank, number):
        os.kill(self.pid(rank), number)

    def said(self):
        texts = []
        for file in (self.out, self.err):
            file.flush()
            texts.append(Path(file.name).read_text(encoding="utf-8")[-4000:])
        return "\n".join(texts)

    def end(self, limit_s, stopped=()):
        """Waits for all processes but those that were stopped; returns what rank 0 left."""
        deadline = time.monotonic() + limit_s
        waiting = [process for process in self.processes if process.pid not in stopped]
        try:
            statuses = [process.wait(max(0.1, deadline - time.monotonic())) for process in waiting]
        except subprocess.TimeoutExpired:
            for process in self.processes:
                process.kill()
            check(False,
                  f"still there after {limit_s} s: "
                  f"{[process.pid for process in waiting if process.returncode is None]}\n{self.said()}")
        for process in self.processes:
            if process.pid in stopped:
                process.kill()
                process.wait()
        return Run(self.directory, statuses[0], self.out_text(), self.err_text(), time.monotonic() - self.begin)

    def out_text(self):
        return Path(self.out.name).read_text(encoding="utf-8")

    def err_text(self):
        return Path(self.err.name).read_text(encoding="utf-8")


def kill_all():
    for process in Joined.everyone:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
