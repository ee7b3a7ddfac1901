"""Instructions of short simulations, counted with callgrind, against those of instructions.json: a step that makes
simulations slower is seen, on a busy machine, too.

    WEIR_RENEW=1 tests/run -R instructions     writes the figures of this build

Compilers differ, so there are figures for each build (the argument: compiler, flags and processor), and without any for
this one the test is skipped. What a program needs to start counts apart: of the others, a short run is taken off a
longer one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from weir_command import OFFLINE, environment

FIGURES = Path(__file__).with_suffix(".json")
SKIPPED = 77
BOUND = 0.05  # more than that slower fails; more than that faster is worth new figures
PLAN = ("simulate", "--producers", "4", "--consumers", "4", "--rate", "8Gb/s", "--interval", "10ms",
        "--event-size", "1MB", "--producer-link", "10Gb/s", "--consumer-link", "10Gb/s", "--streams", "2", "--warmup",
        "0s", "--explain", "off", "--quiet")
FLUID = ("--network", "fluid")
PACKET = ("--network", "packet", "--pfc", "on", "--ecn", "on")
# What is counted: options, the duration, and that of the run which is taken off.
CASES = {"start and 100 ms of fluid": (FLUID, "100ms", None), "300 ms of fluid": (FLUID, "400ms", "100ms"),
         "15 ms of packets": (PACKET, "25ms", "10ms")}
RENEW = "WEIR_RENEW=1 tests/run -R instructions"


def counted(options, duration):
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", OFFLINE, *PLAN,
                               *options, "--duration", duration, "--out", "run"], cwd=directory, env=environment(),
                              capture_output=True, text=True, timeout=100, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"valgrind exited with {done.returncode}: {done.stderr}")
    return int(found[1])


def measured():
    return {name: counted(options, duration) - (counted(options, less) if less else 0)
            for name, (options, duration, less) in CASES.items()}


def main():
    build, renew = sys.argv[1], os.environ.get("WEIR_RENEW")
    stored = json.loads(FIGURES.read_text(encoding="utf-8"))
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed (bench/install-dependencies --tests)")
        return SKIPPED
    if not renew and build not in stored:
        print(f"skipped: instructions.json has no figures for {build}; {RENEW} adds them")
        return SKIPPED
    now = measured()
    if renew:
        FIGURES.write_text(json.dumps({**stored, build: now}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        return 0
    slower = False
    for name, instructions in now.items():
        change = instructions / stored[build][name] - 1
        slower |= change > BOUND
        word = "FAIL" if change > BOUND else "renew" if change < -BOUND else "ok"
        print(f"{word:5} {name}: {instructions} instructions, {change:+.1%} of {stored[build][name]}")
    if slower:
        print(f"Make it faster, or say in the commit what the instructions are for and renew the figures: {RENEW}")
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
