"""CPU time of building the program from nothing, without a compiler cache; beside it, an early version of it."""

import os
import pathlib
import resource
import subprocess
import tempfile

from . import running
from .samples import Comparison

EARLIER = "a8e89d9"
CASE = "program"

COMPARISONS = [
    Comparison("building", CASE, "CPU time of building the program from nothing", "CPU time", "weir", bound=72, at_least=False, unit="s"),
    Comparison("building", CASE, f"CPU time of building the program from nothing: now / at commit {EARLIER}", "CPU time", "weir",
               f"weir {EARLIER}", unit="s", optional=True),
]


def measure(options, samples):
    """Once: it takes minutes, and CPU time differs little from one time to the next."""
    del options
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        earlier = pathlib.Path(directory) / "source"
        if unpack(EARLIER, earlier):
            samples.add("building", CASE, f"weir {EARLIER}", "CPU time", 0, build_seconds(earlier, f"{directory}/earlier"))
        samples.add("building", CASE, "weir", "CPU time", 0, build_seconds(running.TOP, f"{directory}/now"))


def unpack(commit, directory):
    """Whether the repository has it."""
    directory.mkdir()
    with subprocess.Popen(["git", "archive", commit], cwd=running.TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as archive:
        unpacked = subprocess.run(["tar", "-x", "-C", directory], stdin=archive.stdout, stderr=subprocess.DEVNULL, check=False)
    return archive.returncode == 0 and unpacked.returncode == 0


def build_seconds(source, build):
    """User and system time of all processes, configuring included."""
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    running.program(["cmake", "--preset", "release", "-B", build, "-G", "Ninja", "-DCMAKE_UNITY_BUILD=ON", "-DWEIR_TESTS=OFF",
                     "-DCCACHE_PROGRAM="], cwd=source, env=environment)
    running.program(["cmake", "--build", build, "--target", "weir"], timeout=1800, cwd=source, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
