"""What writing a row and checking data cost."""

import json
import re
import shutil
import subprocess

from . import running
from .samples import Comparison

LEVELS = ("none", "header", "full")

COMPARISONS = [
    Comparison("costs", "rows", "CPU share of a core that the rows of a rank take", "share of a core", "weir",
               bound=0.005, at_least=False),
    Comparison("costs", "verify", "goodput, memory 1x1x1, 16 MiB: `--verify header` / `none`", "goodput", "weir header",
               "weir none", 0.98,
               unit="b/s"),
    Comparison("costs", "verify", "goodput, memory 1x1x1, 16 MiB: `--verify full` / `none`", "goodput", "weir full",
               "weir none", unit="b/s"),
    *(Comparison("costs", "verify", f"payload of a chunk of 1 MiB out of 64 MiB that a {role} handles with `--verify "
                                    "full`, per second of a core",
                 f"payload {role}", "weir", bound=12e9, unit="B/s") for role in ("producer", "consumer")),
    Comparison("costs", "verify", "speed of XXH3 on this machine, by xxhsum", "speed", "xxhsum", unit="B/s"),
]


def measure(options, samples):
    local = running.Local(options.weir, options.bare)
    for number in range(options.rounds):
        for level in LEVELS:
            for engine, words in running.ENGINES.items():
                samples.add("costs", "verify", f"weir {level}{engine}", "goodput", number,
                            verified(local, level, options.seconds, words))
        if shutil.which("xxhsum"):
            samples.add("costs", "verify", "xxhsum", "speed", number, hash_speed())
        for role, speed in payload_speeds(options.bare).items():
            samples.add("costs", "verify", "weir", f"payload {role}", number, speed)
        samples.add("costs", "rows", "weir", "share of a core", number, row_share(options.bare))


def verified(local, level, seconds, words):
    """Goodput with this `--verify`."""
    return running.goodput(running.run_weir(local, 1, 1, ["--generation", "saturate", "--event-size", "16MiB",
                                                          "--buffer", "256MiB", "--verify", level,
                                                          "--duration", f"{seconds}s", "--warmup", "1s", *words]))


def hash_speed():
    done = subprocess.run(["xxhsum", "-b5", "-i1"], capture_output=True, text=True, check=True)
    return (1 << 20) * float(re.findall(r"([\d.]+) MB/s", done.stdout + done.stderr)[-1])


def payload_speeds(bare):
    """Bytes per second of CPU time that each side writes or inspects, with headers."""
    output = running.program([bare.parent / "micro/payload_benchmark", "--benchmark_format=json",
                              "--benchmark_min_time=0.2",
                              f"--benchmark_filter=full/{1 << 20}"])
    return {line["name"].split("/")[0]: line["bytes_per_second"] for line in json.loads(output)["benchmarks"]}


def row_share(bare):
    """A row per second: the time that making and writing it takes is the share."""
    output = running.program([bare.parent / "micro/row_benchmark", "--benchmark_format=json",
                              "--benchmark_min_time=0.2"])
    return max(line["cpu_time"] for line in json.loads(output)["benchmarks"]) / 1e9
