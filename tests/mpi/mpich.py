"""weir built against MPICH, in a build directory of its own: a short run over each transport with every byte checked.

Building weir once more takes minutes, so only where MPICH is installed (Debian: mpich) and WEIR_MPICH=1 is set."""

import os
import shutil
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

from weir_run import WEIR, check, check_complete, main, weir  # noqa: E402


def run(transport):
    options = ["--producers", "1", "--consumers", "2", "--rate", "40Mb/s", "--event-size", "256KiB", "--warmup", "500ms",
               "--duration", "2s", "--verify", "full", "--transport", transport,
               # What full sockets drop is asked for again.
               *(["--chunk-size", "8KiB", "--socket-buffer", "1MiB", "--reasks", "20"] if transport == "datagram" else [])]
    ended = weir(RANKS, command=[LAUNCHER, "-n", str(RANKS), WEIR, "run", "--out", "run", *options], limit_s=90)
    check(ended.status == 0, f"exit status {ended.status}: {ended.stdout[-2000:]} {ended.stderr[-2000:]}")
    check_complete(ended, RANKS)
    check("MPICH" in str(ended.json["environment"]), f"not with MPICH: {ended.json['environment']}")


def send():
    run("send")


def put():
    run("put")


def get():
    run("get")


def datagram():
    run("datagram")


main(send, put, get, datagram)
