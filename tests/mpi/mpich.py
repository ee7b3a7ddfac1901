"""weir built against MPICH, in a build directory of its own: a short run over each transport and engine with every byte
checked, a job of groups, and runs of which a rank is killed.

Building weir once more takes minutes, so only where MPICH is installed (Debian: mpich) and WEIR_MPICH=1 is set."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
COMPILER, LAUNCHER = "mpicxx.mpich", "mpiexec.mpich"
BUILD = Path(sys.argv[1])
RANKS = 4


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


missing = [program for program in (COMPILER, LAUNCHER) if not shutil.which(program)]
if missing:
    skip(f"no {' and no '.join(missing)} here (Debian: package mpich)")
if os.environ.get("WEIR_MPICH") != "1":
    skip("builds weir once more, which takes minutes: set WEIR_MPICH=1")


def built():
    ccache = shutil.which("ccache")
    for command in (
            ["cmake", "-S", os.environ["WEIR_SOURCE_DIR"], "-B", str(BUILD), "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_CXX_FLAGS_RELEASE=-O2", "-DCMAKE_UNITY_BUILD=ON", "-DWEIR_TESTS=OFF",
             f"-DMPI_CXX_COMPILER={shutil.which(COMPILER)}",
             *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}"] if ccache else []),
             *(["-G", "Ninja"] if shutil.which("ninja") else [])],
            ["cmake", "--build", str(BUILD), "--parallel", str(os.cpu_count()), "--target", "weir"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return str(BUILD / "bin" / "weir")


os.environ["WEIR"] = built()

from weir_run import WEIR, Background, Run, check, check_complete, main, weir, why_no_ucx  # noqa: E402

LOAD = ("--producers", "1", "--consumers", "2", "--rate", "40Mb/s", "--event-size", "256KiB", "--warmup", "500ms")


def command(ranks, *options):
    return [LAUNCHER, "-n", str(ranks), WEIR, "run", "--out", "run", *LOAD, *options]


def run(*options):
    ended = weir(RANKS, command=command(RANKS, "--duration", "2s", "--verify", "full", *options), limit_s=90)
    check(ended.status == 0, f"exit status {ended.status}: {ended.stdout[-2000:]} {ended.stderr[-2000:]}")
    check_complete(ended, RANKS)
    check("MPICH" in str(ended.json["environment"]), f"not with MPICH: {ended.json['environment']}")


def send():
    run("--transport", "send")


def put():
    run("--transport", "put")


def get():
    run("--transport", "get")


def datagram():
    # What full sockets drop is asked for again.
    run("--transport", "datagram", "--chunk-size", "8KiB", "--socket-buffer", "1MiB", "--reasks", "20")


def ucx():
    if why := why_no_ucx():
        print(f"left out: {why}")
        return
    for transport in ("send", "put", "get"):
        run("--transport", transport, "--engine", "ucx")
        shutil.rmtree("run")


def groups():
    ended = weir(2 * RANKS, command=command(2 * RANKS, "--duration", "2s", "--groups", "2"), limit_s=90)
    check(ended.status == 0 and ended.json["status"] == "complete",
          f"exit status {ended.status}: {ended.stdout[-2000:]} {ended.stderr[-2000:]}")
    for group in range(2):
        check_complete(Run(f"run/group-{group:02}", 0, "", "", 0), RANKS)


def killed():
    """Hydra ends all other processes at once, and may find an end before the kernel shows it: nobody else is named
    without a doubt."""
    for rank, role in enumerate(("scheduler", "producer 0", "consumer 0", "consumer 1")):
        going = Background(RANKS, command=command(RANKS, "--duration", "60s"))
        going.wait_for_seconds(1)
        os.kill(Run("run", None, "", "", 0).json["ranks"][rank]["pid"], signal.SIGKILL)
        ended = going.end(10)
        failure = ended.json["failure"]
        check(ended.json["status"] == "failed"
              and (failure["rank"] == rank and failure["role"] == role or " more ended within " in failure["what"]),
              f"of rank {rank}: {failure}")
        shutil.rmtree("run")


main(send, put, get, datagram, ucx, groups, killed)
