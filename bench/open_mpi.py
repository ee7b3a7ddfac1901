"""What bench/lab and bench/soft-roce use of Open MPI's launcher: where it is, which one, and a clean environment for
it.

`find` and `version` raise NotUsable with a text for the user.
"""

import os
import pathlib
import re
import shutil
import subprocess

TOP = pathlib.Path(__file__).resolve().parent.parent


class NotUsable(Exception):
    """No mpirun, or one of another MPI library."""


def find():
    """Makes sure that `mpirun` is on this process's PATH."""
    if not shutil.which("mpirun") and pathlib.Path("/usr/lib64/openmpi/bin/mpirun").exists():
        # Fedora and the RHEL family keep each MPI library where no PATH has it.
        os.environ["PATH"] = f"/usr/lib64/openmpi/bin:{os.environ['PATH']}"
        os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None,
                                                        ["/usr/lib64/openmpi/lib", os.environ.get("LD_LIBRARY_PATH")]))
    if not shutil.which("mpirun"):
        raise NotUsable("there is no mpirun here; bench/install-dependencies installs one")


def version():
    """The major version: 4, 5."""
    first = subprocess.run(["mpirun", "--version"], capture_output=True, text=True,
                           check=False).stdout.partition("\n")[0]
    match = re.search(r"Open MPI\) ([0-9]+)\.", first)
    if not match:
        raise NotUsable(f"mpirun: `{first}` is not Open MPI, whose launcher is needed here")
    return int(match[1])


def launcher(major, words):
    """The program to call as mpirun with these words."""
    # Debian 13's mpirun (5.0.7) crashes on `-np 1 a : -np 2 b` (github.com/open-mpi/ompi/issues/13303); prterun,
    # which it calls, does not.
    return "prterun" if major >= 5 and ":" in words and shutil.which("prterun") else "mpirun"


def clean_environment():
    """This process's environment without what would make mpirun spread its ranks over a SLURM job, with leave for root,
    and without each rank's search of all PCI devices, which takes long in a virtual machine."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("SLURM_", "PBS_", "LSB_", "PMI_", "PMIX_"))}
    environment.setdefault("HWLOC_COMPONENTS", "-pci,-linuxio")
    return environment | {name: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                                 "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")}


def weir_program(program):
    """For the word `weir`: $WEIR, what was built here, or what PATH has. Other words as they are."""
    if program != "weir":
        return program
    built = TOP / "build/release/bin/weir"
    return os.environ.get("WEIR") or (str(built) if built.exists() else "weir")


def has_option(words, *names):
    """Whether one of these options is among the words, as `--name value` or `--name=value`."""
    return any(word == name or word.startswith(f"{name}=") for word in words for name in names)
