"""Runs of weir and of the bare programs, on this machine or in a lab, and their figures."""

import contextlib
import csv
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import threading
import time

from .samples import UCX

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
LAB = f"peers-{os.getpid()}"
# What stands behind the name of weir's samples, and the options of weir.
ENGINES = {"": [], UCX: ["--engine", "ucx"]}


def program(words, timeout=600, **more):
    """Standard output of a command; ends bench/peers with its output if it fails or takes too long."""
    line = [str(word) for word in words]
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=timeout, **more)
    except subprocess.TimeoutExpired:
        sys.exit(f"peers: {shlex.join(line)} did not end in {timeout} s")
    if done.returncode != 0:
        sys.exit(f"peers: {shlex.join(line)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def spent(words, timeout=600, **more):
    """(elapsed seconds, CPU seconds, bytes of the largest process) of a command and all that it starts; as
    program()."""
    line = [str(word) for word in words]
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output, subprocess.Popen(
        line, stdout=output, stderr=subprocess.STDOUT, **more) as job:
        ending = threading.Timer(timeout, job.kill)
        ending.start()
        try:
            _, status, used = os.wait4(job.pid, 0)
        finally:
            ending.cancel()  # also at Ctrl-C, or the program would not end before it
        job.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        if job.returncode != 0:
            sys.exit(f"peers: {shlex.join(line)} ended with "
                     f"{job.returncode}:\n{output.read().decode(errors='replace')}")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss


@contextlib.contextmanager
def started(words, **more):
    """A command that runs meanwhile; it is ended when something goes wrong, and not waited for however long it
    takes."""
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, **more) as job:
        try:
            yield job
        except BaseException:
            job.terminate()
            raise


class Local:
    """Ranks on this machine, which communicate through its memory, or along another path."""

    @dataclasses.dataclass(frozen=True)
    class Path:
        launcher: tuple = ()  # words for mpirun
        variables: dict = dataclasses.field(default_factory=dict)

    def __init__(self, weir, bare, path=Path()):
        self.weir, self.bare, self.path = weir, bare, path

    def ranks(self, producers, consumers, words):
        return [TOP / "bench/mpirun-local", *self.path.launcher, "-np", 1 + producers + consumers, *words]

    def environment(self):
        return {**os.environ, **self.path.variables}

    def weir_line(self, producers, consumers, options):
        return self.ranks(producers, consumers,
                          [self.weir, "run", "--producers", producers, "--consumers", consumers, *options])


class Lab:
    """Hosts as network namespaces, which use TCP over shaped links."""

    def __init__(self, weir, bare, producers, consumers):
        self.weir, self.bare = weir, bare
        self.producers, self.consumers = producers, consumers

    def ranks(self, producers, consumers, words):
        assert (producers, consumers) == (self.producers, self.consumers)
        return [TOP / "bench/lab", "run", "--name", LAB, "-q", "--", *words]

    def weir_line(self, producers, consumers, options):
        return self.ranks(producers, consumers, ["weir", "run", *options])

    def environment(self):
        return {**os.environ, "WEIR": str(self.weir)}

    def on(self, host, words):
        return [str(TOP / "bench/lab"), "exec", "--name", LAB, host, "--", *(str(word) for word in words)]


@contextlib.contextmanager
def lab(weir, bare, producers, consumers, link, *more):
    program([TOP / "bench/lab", "up", "--name", LAB, "--producers", producers, "--consumers", consumers, "--link", link,
             *more])
    try:
        yield Lab(weir, bare, producers, consumers)
    finally:
        subprocess.run([TOP / "bench/lab", "down", "--name", LAB], capture_output=True, check=False)


def run_weir(world, producers, consumers, options, look=None, start=program):
    """run.json of a run that ended well, and whose ledgers agree. `look`: is called with its directory, while that is
    there. `start`: runs the command."""
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        out = pathlib.Path(directory) / "run"
        start(world.weir_line(producers, consumers, [*options, "--quiet", "--out", out]), env=world.environment())
        if look:
            look(out)
        return record(out)


def record(directory):
    """run.json of a run that has ended well."""
    run = json.loads((directory / "run.json").read_text())
    if run["status"] != "complete" or not run["ledger"]["agrees"]:
        sys.exit(f"peers: a run of weir did not complete: {run['failure']}")
    return run


def run_bare(world, name, producers, consumers, options):
    """What a bare program prints."""
    output = program(world.ranks(producers, consumers,
                                 [world.bare / name, "--producers", producers, "--consumers", consumers, *options]))
    return json.loads(output.strip().splitlines()[-1])


def measured_sum(directory, role, column):
    """Sum over all ranks of a role, in the measured seconds."""
    total = 0
    for file in (directory / "ranks").glob(f"*-{role}.csv"):
        with open(file, newline="") as rows:
            total += sum(float(row[column]) for row in csv.DictReader(rows) if row["phase"] == "measure")
    return total


def goodput(run):
    """Bits of payload per second that all consumers received."""
    return sum(rank["mean_bits_per_second"] for rank in run["ranks"] if rank["role"] == "consumer")
