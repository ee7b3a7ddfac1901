"""A lab in a virtual machine with another kernel than this machine's: Debian's, whose switch ports can mark packets.

The virtual machines are those of bench/soft-roce: plain QEMU emulation on this machine's own files.
"""

import os
import pathlib
import sys

import open_mpi
from lab_machine.running import EMULATED
from soft_roce import busybox, kernel, machine

DEBIAN = "debian"
MEMORY_BYTES = 4 * 2**30
MOST_CORES = 4
# In the first network namespace, and for all: what network namespaces may choose.
ALLOW = 'echo "reno cubic dctcp" > /proc/sys/net/ipv4/tcp_allowed_congestion_control && exec "$@"'


def say(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


def environment():
    """That of this process, with the program `weir` that it would run, and a directory for temporary files that is the
    machine's own."""
    found = open_mpi.clean_environment() | {"TMPDIR": "/run/tmp", EMULATED: "1"}
    program = open_mpi.weir_program("weir")
    return found | ({"WEIR": os.path.abspath(program)} if os.path.sep in program else {})


def find_kernel(place):
    """place: DEBIAN, or a directory as bench/soft-roce takes it."""
    return kernel.find(None if str(place) == DEBIAN else pathlib.Path(place), machine.cache(), say, kernel.LAB)


def run(words, options):
    """Runs a command in a virtual machine and returns its exit status. options: kernel, cores, memory, write, limit,
    console."""
    machine.check_host(1, rdma=False)
    task = machine.Task(
        words=["sh", "-c", ALLOW, "lab", *words], environment=environment(), kernel=find_kernel(options.kernel),
        busybox=busybox.find(machine.cache(), say), cores=options.cores
        or min(MOST_CORES, len(os.sched_getaffinity(0))),
        memory_bytes=options.memory, writable=machine.writable_directories(options.write), limit_s=options.limit,
        rdma=False, name="lab")
    return machine.Session(task, options.console and open(options.console, "w", encoding="utf-8")).run()
