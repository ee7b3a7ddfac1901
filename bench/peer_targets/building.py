"""CPU time of building the program from nothing, without a compiler cache, beside that of an earlier weir."""

import os
import pathlib
import tempfile

from . import earlier, running
from .samples import Comparison

CASE = "program"

COMPARISONS = [
    Comparison("building", CASE, "CPU time of building the program from nothing", "CPU time", "weir", bound=72,
               at_least=False, unit="s"),
    Comparison("building", CASE, f"the same: now / at commit {earlier.COMMIT}", "CPU time", "weir", "weir before",
               unit="s", optional=True),
]


def measure(options, samples):
    """Once: it takes minutes, and CPU time differs little from one time to the next."""
    del options
    if earlier.has(earlier.COMMIT):
        with earlier.checkout(earlier.COMMIT) as tree:
            samples.add("building", CASE, "weir before", "CPU time", 0, build_seconds(tree))
    samples.add("building", CASE, "weir", "CPU time", 0, build_seconds(running.TOP))


def build_seconds(source):
    return spent(source)[1]


def spent(source):
    """Elapsed seconds, and user and system time of all processes; configuring included."""
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        build = pathlib.Path(directory) / "build"
        configuring = ["cmake", "--preset", "release", "-B", build, "-G", "Ninja", "-DCMAKE_UNITY_BUILD=ON",
                       "-DWEIR_TESTS=OFF", "-DCCACHE_PROGRAM="]
        building = ["cmake", "--build", build, "--parallel", os.cpu_count(), "--target", "weir"]
        times = [running.spent(words, timeout=1800, cwd=source, env=environment) for words in (configuring, building)]
    return sum(each[0] for each in times), sum(each[1] for each in times)
