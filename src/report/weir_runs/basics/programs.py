"""Where weir, its SLURM script and the launcher of one machine are, and how many cores there are for them."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .errors import ReportError

PACKAGE_ROOT = Path(__file__).resolve().parents[2]  # the directory that holds the packages
OF_THE_WHEEL = PACKAGE_ROOT / "weir_runs/bin/weir"  # weir-offline; only the wheel has it


def programs():
    """The directory of weir-sweep's launcher; None if there was no launcher."""
    named = os.environ.get("WEIR_PROGRAMS")
    return Path(named) if named else None


def find_weir():
    """$WEIR, the one beside the program, that of the wheel, or that of the PATH."""
    if named := os.environ.get("WEIR"):
        if not os.access(named, os.X_OK):
            raise ReportError(f"WEIR: '{named}' is not a program")
        return str(Path(named).resolve())
    beside = programs() / "weir" if programs() else OF_THE_WHEEL
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("weir")
    if not found:
        raise ReportError("no weir was found beside this program or in the PATH; set the variable WEIR to its path")
    return found


def start_weir():
    """The command `weir` of the wheel: becomes its program."""
    os.execv(OF_THE_WHEEL, ["weir", *sys.argv[1:]])


@functools.cache
def simulator(weir):
    """What simulates as `weir` does and starts sooner: weir-offline, which loads no MPI. `weir` itself where none of
    the same version is beside it."""
    offline = Path(weir).resolve().parent.parent / "libexec" / "weir" / "weir-offline"
    if not (offline.is_file() and os.access(offline, os.X_OK)):
        return weir
    return str(offline) if _version(offline) == _version(weir) else weir


def _version(program):
    """As it says itself; None: it does not."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60,
                              check=False).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return None
    return said[1] if len(said) > 1 else None


def options_of(weir, command):
    """[(group, option without its dashes, default)] of a command, as weir's own help has them. Raises ReportError."""
    try:
        said = subprocess.run([weir, "--help", "json"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=True).stdout
        commands = {each["name"]: each for each in json.loads(said)["commands"]}
        return [(group["name"], option["name"].removeprefix("--"), option["default"])
                for group in commands[command]["groups"] for option in group["options"]]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{weir} --help json: options of weir {command} are expected, and were not printed "
                          f"({error!r}); set the variable WEIR to the path of a weir of this version") from error


def find_script(name):
    """weir.sbatch or mpirun-local, in the source tree or where both were installed (share/weir); None: not there."""
    source, share = PACKAGE_ROOT.parents[1], PACKAGE_ROOT.parent
    for directory in (share / "slurm", share / "bench", source / "slurm", source / "bench"):
        if (directory / name).is_file():
            return str(directory / name)
    return None


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
