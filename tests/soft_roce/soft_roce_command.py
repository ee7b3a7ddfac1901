"""bench/soft-roce as the tests call it."""

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TOP / "tests/mpi"), str(TOP / "bench")]
sys.dont_write_bytecode = True

COMMAND = str(TOP / "bench/soft-roce")
LONG = os.environ.get("WEIR_SOFT_ROCE") == "long"
UNAVAILABLE = 69
SKIPPED = 77
# For one boot and what runs after it: many times what it takes on a machine that has nothing else to do, and longer
# than bench/soft-roce gives itself, so that it is the one to report what was late.
LIMIT_S = 960


def skip_unless_possible():
    """Only what this machine lacks is a reason to skip; a kernel is fetched here if none is there."""
    done = subprocess.run([COMMAND, "prepare"], capture_output=True, text=True, check=False)
    if done.returncode == UNAVAILABLE:
        print(f"skipped: {done.stderr.strip().splitlines()[-1]}")
        sys.exit(SKIPPED)
    if done.returncode != 0:
        print(f"bench/soft-roce prepare exited with {done.returncode}: {done.stdout}{done.stderr}")
        sys.exit(1)
    print(done.stdout.strip(), flush=True)


def soft_roce(*words):
    """Runs it to its end; words before `--` are its own. Returns the finished process."""
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False)
