"""Virtual machines under plain QEMU emulation: what they boot, how they are spoken with, and that they end.

A machine boots a kernel with an initial memory file system that is made here (busybox, modules, first_process, the
task), and runs on this machine's own files: the root directory comes through 9p and can only be read, what is written
lies in the virtual machine's memory, and the directories of Task.writable are this machine's. Several machines hang on
one link, a pair of sockets. Nothing of it has a name in this machine's file system or network, QEMU is killed when this
process ends, however it ends, and so nothing is left.

Rejected: virtme-ng, which does the like. It is packaged in Debian 13 only, wants the kernel's whole module tree, and
knows one machine, without a link and without limits. Rejected: virtiofs, which needs one more process per machine and
shared memory.
"""

import collections
import ctypes
import dataclasses
import io
import os
import pathlib
import platform
import re
import selectors
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time

from soft_roce import kernel
from soft_roce.problem import Problem

QEMU = "qemu-system-x86_64"
INSTALL = "bench/install-dependencies --soft-roce installs what is missing"
BOOT_LIMIT_S = 300       # 10 s are usual
ENDING_LIMIT_S = 20      # how long a command may take to end after a signal
CONSOLE_LINES = 25
LINK_MTU = 4200          # leaves room for RoCE packets with 4096 bytes of payload
CHANNELS = ("control", "stdout", "stderr")
PR_SET_PDEATHSIG = 1


@dataclasses.dataclass
class Task:
    """What to run, and on which machines. The command runs on the first one."""

    words: list
    environment: dict
    kernel: kernel.Kernel
    busybox: pathlib.Path
    machines: int = 1
    slots: tuple = (1,)            # ranks that mpirun puts on each machine, one after the other
    cores: int = 1                 # of each machine
    memory_bytes: int = 2**31      # of each machine
    loss_percent: float = 0        # of the packets that a machine sends over the link
    writable: tuple = ()           # directories whose changes are kept
    capture: pathlib.Path = None   # pcap file of the link
    limit_s: float = 600
    rdma: bool = True              # Soft-RoCE and its interface; without, the machine has no interface at all
    name: str = "roce"             # of the machines, before their number


# ------------------------------------------------------------------------------------------------ what a machine boots


class Archive:
    """A cpio archive, of the kind that the kernel unpacks at its start."""

    def __init__(self):
        self.bytes = io.BytesIO()
        self.entries = 0

    def add(self, name, mode, content=b""):
        self.entries += 1
        name = name.encode() + b"\0"
        fields = (self.entries, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
        self.bytes.write(b"070701" + b"".join(b"%08x" % field for field in fields) + name)
        self.pad()
        self.bytes.write(content)
        self.pad()

    def pad(self):
        self.bytes.write(b"\0" * (-self.bytes.tell() % 4))

    def add_directory(self, name):
        self.add(name, stat.S_IFDIR | 0o755)

    def add_program(self, name, content):
        self.add(name, stat.S_IFREG | 0o755, content)

    def add_file(self, name, content):
        self.add(name, stat.S_IFREG | 0o644, content)

    def end(self):
        self.add("TRAILER!!!", 0)
        return self.bytes.getvalue()


# What mpirun calls instead of ssh: RSH HOST COMMAND...; and what answers on the other machine. Both see only each
# other.
RSH = """#!/bin/sh
host=$1
shift
printf '%s\\n' "$*" | /run/soft-roce/busybox nc "$host" 514
"""
ANSWER = """#!/bin/sh
read -r line
exec sh -c "$line" 2>&1 < /dev/null
"""
SERVE = """. /run/soft-roce/environment
exec /run/soft-roce/busybox nc -ll -p 514 -e /run/soft-roce/answer
"""


def write_task(archive, task, number):
    """The files in /task: what this machine is, and what it runs."""
    settings = {"machine": number, "machines": task.machines, "mtu": LINK_MTU, "loss": f"{task.loss_percent:g}",
                "rdma": int(task.rdma), "prefix": task.name}
    names = [f"{task.name}{index}" for index in range(1, task.machines + 1)]
    variables = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in task.environment.items()
                        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name))
    job = (". /run/soft-roce/environment\n"
           f"cd {shlex.quote(os.getcwd())} || exit 1\n"
           "echo $$ > /run/soft-roce/pid\n"
           f"exec {shlex.join(task.words)}\n")
    archive.add_directory("task")
    archive.add_file("task/settings", "".join(f"{name}={value}\n" for name, value in settings.items()).encode())
    archive.add_file("task/environment", os.fsencode(variables))
    archive.add_file("task/job", os.fsencode(job))
    archive.add_file("task/writable", os.fsencode("".join(f"{tag} {path}\n" for tag, path in shared(task))))
    archive.add_file("task/hosts", ("127.0.0.1 localhost\n::1 localhost\n" + "".join(
        f"198.18.0.{index} {name}\n" for index, name in enumerate(names, start=1))).encode())
    archive.add_file("task/hostfile", "".join(f"{name} slots={slots}\n"
                                              for name, slots in zip(names, task.slots)).encode())
    for name, content in (("rsh", RSH), ("answer", ANSWER), ("serve", SERVE)):
        archive.add_program(f"task/{name}", content.encode())


def shared(task):
    return [(f"writable{index}", path) for index, path in enumerate(task.writable)]


def boot_files(task, number):
    """The initial memory file system of one machine."""
    archive = Archive()
    for name in ("bin", "dev", "proc", "sys", "lower", "upper", "root", "modules"):
        archive.add_directory(name)
    archive.add_program("init", (pathlib.Path(__file__).parent / "first_process").read_bytes())
    archive.add_program("bin/busybox", task.busybox.read_bytes())
    for place, (name, path) in enumerate(task.kernel.modules):
        archive.add_file(f"modules/{place:02}-{name}.ko", kernel.module_bytes(path))
    write_task(archive, task, number)
    return archive.end()


# ------------------------------------------------------------------------------------------------- what must be here


def cache():
    """Where kernel and busybox are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "weir" / "soft-roce"


def writable_directories(more):
    """For Task.writable: the current directory and those of --write, each only once."""
    found = []
    for path in (os.getcwd(), *more):
        whole = os.path.realpath(path)
        if not os.path.isdir(whole):
            raise Problem(f"--write {path}: not a directory", 2)
        if "\n" in whole:
            raise Problem(
                f"--write {path!r}: directories with line ends in their names cannot be given to a virtual machine", 2)
        # Below one that is there already, nothing is to be done; and the whole root directory is never writable.
        if whole != "/" and not any(pathlib.Path(whole).is_relative_to(other) for other in found):
            found.append(whole)
    return tuple(found)

def check_host(machines, rdma=True):
    """All but what can be fetched."""
    if platform.machine() != "x86_64":
        raise Problem(f"the virtual machines have x86-64 processors, and run this machine's programs, which are for "
                      f"{platform.machine()}", unavailable=True)
    if not shutil.which(QEMU):
        raise Problem(f"there is no {QEMU} here; {INSTALL}", unavailable=True)
    missing = [tool for tool in ("ip", "tc", *(["rdma"] if rdma else []))
               if not shutil.which(tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")]
    if missing:
        raise Problem(f"{', '.join(missing)} (iproute2): not here; {INSTALL}", unavailable=True)
    if rdma and not pathlib.Path("/etc/libibverbs.d/rxe.driver").exists():
        print("soft-roce: /etc/libibverbs.d/rxe.driver is not here: programs will not see the RDMA device, unless "
              f"another libibverbs than the distribution's is in use (Debian's package: ibverbs-providers); {INSTALL}",
              file=sys.stderr)
    first = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=False).stdout.partition("\n")[0]
    version = re.search(r"version ([0-9]+)\.([0-9]+)", first)
    if not version:
        raise Problem(f"`{QEMU} --version` says '{first}', which is no version", unavailable=True)
    if machines > 1 and (int(version[1]), int(version[2])) < (7, 2):
        raise Problem(f"--machines {machines}: QEMU {version[1]}.{version[2]} is here, and a link needs 7.2 at least",
                      unavailable=True)


# -------------------------------------------------------------------------------------------------------- one machine


def escaped(path):
    """In the form of QEMU's options."""
    return str(path).replace(",", ",,")


def dying_with(parent):
    """What a child of that process does first, so that the kernel kills it when its parent ends."""
    prctl = ctypes.CDLL(None).prctl

    def bind():
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return bind


class Machine:
    """One QEMU process and the channels to its first process."""

    def __init__(self, task, number, link):
        self.number = number
        self.is_up = False
        self.console = collections.deque(maxlen=CONSOLE_LINES)
        self.parts = {"control": b"", "console": b""}  # of lines
        self.channels = {}
        handed_on = []
        words = [QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(task.cores), "-m",
                 f"{task.memory_bytes // 2**20}M",
                 "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
                 "-kernel", str(task.kernel.image), "-append", "console=ttyS0 quiet panic=-1 mitigations=off",
                 "-virtfs", "local,path=/,security_model=none,mount_tag=root,readonly=on,multidevs=remap"]
        for tag, path in shared(task):
            words += ["-virtfs", f"local,path={escaped(path)},security_model=none,mount_tag={tag},multidevs=remap"]

        memory = os.memfd_create("initial files")
        handed_on.append(memory)
        with open(os.dup(memory), "wb") as file:
            file.write(boot_files(task, number))
        words += ["-initrd", f"/proc/self/fd/{memory}"]

        words += ["-device", "virtio-serial-pci"]
        for name in ("console", *CHANNELS):
            ours, theirs = socket.socketpair()
            self.channels[name] = ours
            handed_on.append(theirs.detach())
            words += ["-chardev", f"socket,id={name},fd={handed_on[-1]}"]
            words += (["-serial", f"chardev:{name}"] if name == "console"
                      else ["-device", f"virtserialport,chardev={name},name={name}"])

        if link is not None:
            handed_on.append(link.detach())
            words += ["-netdev", f"dgram,id=link,local.type=fd,local.str={handed_on[-1]}",
                      "-device",
                      f"virtio-net-pci,netdev=link,mac=02:c6:12:00:00:{number:02x},host_mtu={LINK_MTU},romfile="]
            if task.capture is not None and number == 1:
                words += ["-object", f"filter-dump,id=dump,netdev=link,maxlen=65536,file={escaped(task.capture)}"]
        try:
            # A session of its own: Ctrl-C is for the command in the machine, not for QEMU.
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.PIPE,
                                            pass_fds=handed_on, start_new_session=True,
                                            preexec_fn=dying_with(os.getpid()))
        finally:
            for descriptor in handed_on:
                os.close(descriptor)
        self.channels["qemu"] = self.process.stderr
        self.parts["qemu"] = b""

    def lines(self, name, data):
        """Whole lines of what has come so far."""
        *lines, self.parts[name] = (self.parts[name] + data).split(b"\n")
        return [line.decode(errors="replace").rstrip("\r") for line in lines]

    def tell(self, text):
        """Sends something to the first process."""
        try:
            self.channels["control"].sendall(f"{text}\n".encode())
        except OSError:
            pass  # it has just ended, and that is seen elsewhere

    def last_words(self):
        return "".join(f"\n    {line}" for line in self.console) or " (nothing)"

    def kill(self):
        self.process.kill()
        self.process.wait()
        for channel in self.channels.values():
            channel.close()


# ------------------------------------------------------------------------------------------------------------ running


class Session:
    """All machines of a task, from their boot to the end of the command."""

    def __init__(self, task, console=None):
        self.task = task
        self.console = console      # a file for the output of the consoles, or None
        self.machines = []
        self.selector = selectors.DefaultSelector()
        self.status = None          # of the command
        self.failure = None
        self.signals = []           # that this process got, and that the command got
        self.deadline = 0
        self.began = time.monotonic()
        self.booted_s = None

    def run(self):
        """The command's exit status. All machines are gone when it returns."""
        woken, wake = socket.socketpair()
        for end in (woken, wake):
            end.setblocking(False)
        before = {number: signal.signal(number, lambda number, _: self.signals.append(number))
                  for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        old_wake = signal.set_wakeup_fd(wake.fileno())
        self.selector.register(woken, selectors.EVENT_READ, (None, "signal"))
        try:
            self.start()
            while self.status is None:
                self.turn()
            return self.status
        finally:
            for machine in self.machines:
                machine.kill()
            signal.set_wakeup_fd(old_wake)
            for number, handler in before.items():
                signal.signal(number, handler)
            self.selector.close()
            woken.close()
            wake.close()

    def start(self):
        links = [None]
        if self.task.machines > 1:
            links = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            for link in links:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
        for number, link in enumerate(links, start=1):
            machine = Machine(self.task, number, link)
            self.machines.append(machine)
            for name, channel in machine.channels.items():
                os.set_blocking(channel.fileno(), False)
                self.selector.register(channel, selectors.EVENT_READ, (machine, name))
        self.deadline = time.monotonic() + BOOT_LIMIT_S

    def turn(self):
        for key, _ in self.selector.select(max(0, self.deadline - time.monotonic())):
            machine, name = key.data
            if name == "signal":
                key.fileobj.recv(4096)
                self.hand_on_signals()
            else:
                self.read(machine, name, key.fileobj)
        if self.status is None and time.monotonic() >= self.deadline:
            self.out_of_time()

    def read(self, machine, name, channel):
        try:
            data = os.read(channel.fileno(), 65536)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            self.selector.unregister(channel)
            if name == "control" and self.status is None:
                self.lost(machine)
        elif name in ("stdout", "stderr"):
            write_through(sys.stdout if name == "stdout" else sys.stderr, data)
        else:
            take = self.heard if name == "control" else self.keep
            for line in machine.lines(name, data):
                take(machine, line)

    def keep(self, machine, line):
        """A line of the console."""
        machine.console.append(line)
        if self.console is not None:
            print(f"{self.task.name}{machine.number}: {line}", file=self.console, flush=True)

    def heard(self, machine, line):
        word, _, rest = line.partition(" ")
        if word == "failed":
            raise Problem(f"virtual machine {self.task.name}{machine.number} did not come up: {rest}. Its console's "
                          f"last lines:{machine.last_words()}")
        if word == "up":
            machine.is_up = True
            if all(other.is_up for other in self.machines):
                self.booted_s = time.monotonic() - self.began
                self.deadline = time.monotonic() + self.task.limit_s
                self.machines[0].tell("go")
        if word == "exit" and self.status is None:
            self.drain()
            self.status = int(rest)

    def drain(self):
        """What the command has printed is here before its exit status is, but may not have been read."""
        for machine in self.machines:
            for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
                try:
                    while data := os.read(machine.channels[name].fileno(), 65536):
                        write_through(stream, data)
                except OSError:
                    pass

    def hand_on_signals(self):
        number = self.signals[-1]
        if self.booted_s is None or len(self.signals) > 1:
            raise SystemExit(128 + number)
        self.machines[0].tell(f"signal {number}")
        self.deadline = min(self.deadline, time.monotonic() + ENDING_LIMIT_S)

    def out_of_time(self):
        if self.signals:
            raise SystemExit(128 + self.signals[-1])
        if self.booted_s is None:
            late = next(machine for machine in self.machines if not machine.is_up)
            raise Problem(f"virtual machine {self.task.name}{late.number} is not up after {BOOT_LIMIT_S} s. Its "
                          f"console's last lines:{late.last_words()}")
        raise Problem(f"--limit: {shlex.join(self.task.words)[:200]} had not ended after {self.task.limit_s:g} s, and "
                      "was killed")

    def lost(self, machine):
        # The console and QEMU's own messages have the reason, if they have come.
        end = time.monotonic() + 1
        while (keys := self.selector.select(max(0, end - time.monotonic()))):
            for key, _ in keys:
                if key.data[0] is machine and key.data[1] in ("console", "qemu"):
                    self.read(machine, key.data[1], key.fileobj)
                else:
                    self.selector.unregister(key.fileobj)
        machine.console.extend(part.decode(errors="replace") for name in ("console", "qemu")
                               if (part := machine.parts[name]))
        raise Problem(f"virtual machine {self.task.name}{machine.number} ended by itself. Its last "
                      f"lines:{machine.last_words()}")


def write_through(stream, data):
    stream.flush()
    view = memoryview(data)
    while view:
        view = view[os.write(stream.fileno(), view):]
