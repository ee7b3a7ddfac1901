"""The process that a lab hangs on: starts, finds and ends it.

Why namespaces are entered by system calls and not by `ip netns`: names made with `ip netns add` outlive whoever made
them, so a crash would leave them behind. Here the namespaces are bound in a mount namespace that belongs to one
process, the keeper, which is also the first process of a PID namespace: with it, the kernel ends all processes in the
lab, and with the last of them go mounts, namespaces, interfaces and queues.
"""

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import shutil
import signal
import time

from lab_machine.build import build
from lab_machine.kernel_calls import (CLONE_NEWPID, NS_GET_PARENT, PR_SET_NAME, PR_SET_PDEATHSIG, die_with_parent,
                                      process_start, system_call, unshare)
from lab_machine.plan import STATE
from soft_roce.problem import Problem


def keep(lab, go_ahead, report, attached):
    """The keeper, first process of the lab's PID namespace. Builds the lab, reports it, and waits for its end."""
    die_with_parent()
    os.setsid()
    if not os.read(go_ahead, 1):
        os._exit(1)  # the parent was gone before die_with_parent
    try:
        system_call("prctl", PR_SET_NAME, b"weir-lab", 0, 0, 0)
        build(lab)
        if not attached:
            system_call("prctl", PR_SET_PDEATHSIG, 0, 0, 0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries the lab's orphans
        os.chdir("/")
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.write(report, b"ready")
        os.close(report)
        while True:
            signal.pause()
    except BaseException as error:  # pylint: disable=broad-except
        os.write(report, str(error).encode())
    finally:
        os._exit(1)


def start(lab, attached=False):
    """The whole of `up`. attached: the lab ends with this process."""
    take_away_if_dead(lab.name)
    try:
        STATE.mkdir(exist_ok=True)
        lab.directory.mkdir()
    except FileExistsError:
        raise Problem(f"--name: a lab '{lab.name}' is up already; `bench/lab down --name {lab.name}` takes it down, "
                      "another --name makes another lab") from None
    keeper = None
    try:
        lab.inside.mkdir()
        go_read, go_write = os.pipe()
        report_read, report_write = os.pipe()
        # The fork that comes next is the first process of the new PID namespace.
        try:
            unshare(CLONE_NEWPID)
        except PermissionError:
            raise Problem("namespaces cannot be made here, although this is root; in a container they need the right "
                          "to administrate it (docker run --privileged)") from None
        keeper = os.fork()
        if keeper == 0:
            os.close(go_write)
            os.close(report_read)
            keep(lab, go_read, report_write, attached)
        os.close(go_read)
        os.close(report_write)
        # Written before the keeper does anything, so there is never a lab that `down` does not find.
        write_whole(lab.directory / "keeper.json", {"pid": keeper, "start": process_start(keeper)})
        write_whole(lab.directory / "lab.json", dataclasses.asdict(lab))
        os.write(go_write, b"g")
        said = b""
        while part := os.read(report_read, 65536):
            said += part
        if said != b"ready":
            raise Problem(f"the lab did not come up: {said.decode() or 'its first process was killed'}")
        write_whole(lab.directory / "up.json", {"since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
    except BaseException:
        take_down(lab.name)
        raise


def write_whole(path, value):
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value, indent=1) + "\n")
    part.rename(path)


def keeper_of(name):
    """Its process id; None if it is gone."""
    try:
        found = json.loads((STATE / name / "keeper.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    alive = found["start"] is not None and process_start(found["pid"]) == found["start"]
    return found["pid"] if alive else None


def take_down(name):
    """Whatever state it is in; True if there was anything."""
    directory = STATE / name
    existed = directory.exists()
    keeper = keeper_of(name)
    if keeper is not None:
        os.kill(keeper, signal.SIGKILL)
        limit = time.monotonic() + 10
        # The kernel ends all processes of the lab before their first one counts as ended.
        while keeper_of(name) is not None:
            if time.monotonic() > limit:
                raise Problem(f"process {keeper} of lab '{name}' does not end 10 s after SIGKILL; `ps -p {keeper} -o "
                              "stat,wchan` says what it waits for")
            try:
                os.waitpid(keeper, os.WNOHANG)
            except ChildProcessError:
                pass
            time.sleep(0.01)
    if existed:
        shutil.rmtree(directory, ignore_errors=True)
    try:
        STATE.rmdir()
    except OSError:
        pass  # other labs, or none at all
    return existed


def take_away_if_dead(name):
    """What a crash left of an earlier lab; one that another `up` is making at this moment gets time to show its
    keeper."""
    directory = STATE / name
    limit = time.monotonic() + 1
    while directory.exists() and keeper_of(name) is None:
        if time.monotonic() > limit:
            take_down(name)
        time.sleep(0.05)


def need_keeper(name):
    keeper = keeper_of(name)
    if keeper is None or not (STATE / name / "up.json").exists():
        raise Problem(f"no lab '{name}' is up; `bench/lab up` makes one, `bench/lab status` lists them")
    return keeper


def lab_names():
    return sorted(path.name for path in STATE.iterdir()) if STATE.exists() else []


def processes_in(keeper):
    """Processes in the keeper's PID namespace and in those below it, without the keeper."""
    ours = os.stat(f"/proc/{keeper}/ns/pid").st_ino
    found = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/ns/pid"):
        with contextlib.suppress(OSError):
            found += int(path.parts[2]) != keeper and is_namespace_below(path, ours)
    return found


def is_namespace_below(path, inode):
    """Whether this is the namespace with that inode, or one of its descendants."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        while os.fstat(descriptor).st_ino != inode:
            # Fails with EPERM at the namespace of this process.
            parent = fcntl.ioctl(descriptor, NS_GET_PARENT)
            os.close(descriptor)
            descriptor = parent
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
