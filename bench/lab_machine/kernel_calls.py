"""System calls and kernel interfaces that Python has no functions for, and the commands that stand for others."""

import ctypes
import os
import pathlib
import shlex
import signal
import subprocess

from soft_roce.problem import Problem

# <linux/sched.h>, <linux/mount.h>, <linux/prctl.h>, <linux/nsfs.h>
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = (
        0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000)
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_SLAVE = 2, 4, 8, 4096, 16384, 1 << 19
PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_TIMERSLACK = 1, 15, 29
NS_GET_PARENT = 0xB702

LIBC = ctypes.CDLL(None, use_errno=True)


def system_call(name, *arguments):
    if getattr(LIBC, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


def unshare(flags):
    system_call("unshare", flags)


def enter(path, kind):
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        system_call("setns", descriptor, kind)
    finally:
        os.close(descriptor)


def mount(source, target, kind=None, flags=0, data=None):
    def encoded(value):
        return None if value is None else os.fsencode(str(value))
    system_call("mount", encoded(source), encoded(target), encoded(kind), ctypes.c_ulong(flags), encoded(data))


def die_with_parent():
    """SIGKILL when the parent ends; for the first process of a PID namespace, that is the end of all in it."""
    system_call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def set_sysctl(name, value):
    """In the network namespace that this process is in; a kernel without that setting needs none."""
    path = pathlib.Path("/proc/sys/net") / name
    if path.exists():
        path.write_text(f"{value}\n")


def command(words, text=None):
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Problem(f"`{shlex.join(words)}` failed with {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def process_start(pid):
    """A process id is given to others later; with its start time it is one process only. None: no such process."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields[19]
