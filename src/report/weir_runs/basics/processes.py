"""Processes of this host, as the kernel has them."""

import contextlib
import os
from pathlib import Path


def boot_id():
    """Another after each start of the host; empty where it is not known."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def stat_fields(pid):
    """What /proc has of a process behind its name, which can be any bytes: state, parent, group, ... None: there is no
    such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def started_ticks(pid):
    """When a process began, in the kernel's ticks: process numbers are used again. None: there is no such process, or
    it has ended."""
    fields = stat_fields(pid)
    return None if fields is None or fields[0] in ("Z", "X") else int(fields[19])


def began_before(pid, instant):
    """Whether process `pid` is there and is as old as `instant` (seconds since 1970), so that it can be the one that
    had this number then."""
    ticks = started_ticks(pid)
    if ticks is None:
        return False
    try:
        with open("/proc/stat", encoding="ascii") as file:
            booted = next(int(line.split()[1]) for line in file if line.startswith("btime "))
    except (OSError, StopIteration, ValueError):
        return True
    return booted + ticks / os.sysconf("SC_CLK_TCK") <= instant + 2  # both are rounded


def writes(program, directory):
    """Whether a process of this host was told to write `directory` with --out, of a program whose name begins with
    `program`."""
    wanted = os.path.realpath(directory)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            words = [os.fsdecode(word) for word in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
            if os.path.basename(words[0]).startswith(program) and any(_is_place(pid, out, wanted)
                                                                      for out in _outs(words)):
                return True
    return False


def _outs(words):
    return [after for word, after in zip(words, words[1:])
            if word == "--out"] + [word[6:] for word in words if word.startswith("--out=")]


def _is_place(pid, path, wanted):
    if not os.path.isabs(path):
        path = os.path.join(os.readlink(f"/proc/{pid}/cwd"), path)
    return os.path.realpath(path) == wanted
