"""What the studies share whose hosts and switch are in the virtual machine of bench/lab: its commands, weir-sweep, and
weir-compare."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import open_mpi
import studies

BENCH = studies.TOP / "bench"


def lab(*words):
    """Runs a command of bench/lab; ends the program with its status unless that is 0."""
    done = subprocess.run([BENCH / "lab", *words], check=False)
    if done.returncode != 0:
        raise SystemExit(done.returncode)


def sweep(*words):
    """weir-sweep beside the program weir. Returns the exit status."""
    program = pathlib.Path(open_mpi.weir_program("weir")).resolve()
    environment = {**os.environ, "PATH": f"{BENCH}:{os.environ['PATH']}"}  # campaigns call study and lab
    return subprocess.run([program.with_name("weir-sweep"), *words], check=False, env=environment).returncode


def answer(runs):
    """What weir-compare prints of these run directories, by settings of the switch; without the directory in which they
    are."""
    program = pathlib.Path(open_mpi.weir_program("weir")).with_name("weir-compare")
    done = subprocess.run([program, "--by", "switch", *runs], capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).replace(f"{pathlib.Path(runs[0]).parent}/", "")


def in_machine(study, words, runs, minutes):
    """`bench/study STUDY inside WORDS --runs RUNS` in the virtual machine, which can write into the directory above
    `runs`. The exit status."""
    return subprocess.run([BENCH / "lab", "machine", "--limit", f"{minutes}min", "--", sys.executable, BENCH / "study",
                           study, "inside", *words,
                           "--runs", str(runs)], check=False, cwd=runs.parent).returncode


def sustains_unshaped(network, words, out):
    """Whether the machine carries a run of weir (`words`) in a lab without limits at its ports; else the machine would
    be measured, and not they. It is kept in the directory `out`, and removed if it was not sustained."""
    if not out.exists():
        lab("up", *network, "--link", "none")
        lab("run", "-q", "--", "weir", *words, "--out", str(out))
        lab("down", "-q")
    if json.loads((out / "run.json").read_text())["verdict"]["sustained"]:
        return True
    shutil.rmtree(out)
    return False
