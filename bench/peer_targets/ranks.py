"""Many ranks on few cores: what idle ranks take of a core, and how much 87 ranks move together."""

import os
import pathlib
import tempfile
import time

from . import running
from .samples import Comparison

PRODUCERS, CONSUMERS = 14, 72
EVENT = "1MiB"
MESSAGE = (1 << 20) + 64
CASE = f"memory 1x{PRODUCERS}x{CONSUMERS}"
# Row 1 of the LHCb 2021 paper at a scale at which every rank has next to nothing to do.
IDLE = ["--scenario", "lhcb2021-1", "--scale", "1/20000", "--warmup", "1s"]

COMPARISONS = [
    Comparison("ranks", CASE, f"CPU of an idle rank, {CASE}, row 1 at 1/20000: mean of all", "share of a core, mean",
               "weir"),
    Comparison("ranks", CASE, f"CPU of an idle rank, {CASE}, row 1 at 1/20000: the busiest", "share of a core, most",
               "weir"),
    Comparison("ranks", CASE, f"goodput, {CASE}, events of {EVENT}, saturated / bare MPI loop that naps", "goodput",
               "weir", "bare stream",
               unit="b/s"),
]


def measure(options, samples):
    local = running.Local(options.weir, options.bare)
    for number in range(options.rounds):
        for engine, words in running.ENGINES.items():
            shares = idle_shares(local, 4 * options.seconds, words)
            samples.add("ranks", CASE, f"weir{engine}", "share of a core, mean", number, sum(shares) / len(shares))
            samples.add("ranks", CASE, f"weir{engine}", "share of a core, most", number, max(shares))
        samples.add("ranks", CASE, "bare stream", "goodput", number, bare(local, 2 * options.seconds))
        for engine, words in running.ENGINES.items():
            samples.add("ranks", CASE, f"weir{engine}", "goodput", number, saturated(local, 2 * options.seconds, words))


def bare(local, seconds):
    """Goodput of a bare loop that naps."""
    return 8 * running.run_bare(local, "stream", PRODUCERS, CONSUMERS,
                                ["--message-bytes", MESSAGE, "--buffer-bytes", 64 << 20, "--receive-buffer-bytes",
                                 4 << 20, "--window", 4,
                                 "--nap-us", nap_us(), "--warmup", 2, "--seconds", seconds])["bytes_per_s"]


def saturated(local, seconds, words):
    """Goodput of weir."""
    return running.goodput(running.run_weir(local, PRODUCERS, CONSUMERS,
                                            ["--generation", "saturate", "--event-size", EVENT, "--buffer", "64MiB",
                                             "--duration", f"{seconds}s",
                                             "--warmup", "2s", *words]))


def nap_us():
    """As long as weir's ranks nap here (src/host/idle.cpp)."""
    return min(max((1 + PRODUCERS + CONSUMERS) // os.cpu_count() * 5, 20), 500)


def idle_shares(world, seconds, words):
    """By rank, the CPU time that it took per second in the middle of a run."""
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        out = pathlib.Path(directory) / "run"
        line = world.weir_line(PRODUCERS, CONSUMERS,
                               [*IDLE, *words, "--duration", f"{seconds + 4}s", "--quiet", "--out", out])
        with running.started(line) as job:
            while job.poll() is None and not any((out / "ranks").glob("*.csv")):
                time.sleep(0.1)
            time.sleep(3)
            before = cpu_times(world.weir)
            time.sleep(seconds)
            after = cpu_times(world.weir)
            if job.wait() != 0 or not before:
                raise SystemExit("peers: the run of idle ranks failed")
    return [(after[process] - before[process]) / seconds for process in before.keys() & after.keys()]


def cpu_times(program):
    """Seconds of CPU time by process, of all processes of this program."""
    times = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.path.samefile(process / "exe", program):
                fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
                times[process.name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue
    return times
