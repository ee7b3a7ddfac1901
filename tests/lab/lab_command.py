"""bench/lab as the tests call it, and what a machine looks like without any lab."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests/mpi"))

from weir_run import Failed, check  # noqa: E402

LAB = str(TOP / "bench/lab")
# Labs of a user, and of other tests, have other names.
NAME = f"test-{os.getpid()}"
STATE = Path("/run/weir-lab")
SKIPPED = 77


def skip_unless_possible():
    if os.geteuid() != 0:
        print("skipped: a lab needs root")
        sys.exit(SKIPPED)
    tried = subprocess.run(["unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "true"],
                           capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        print(f"skipped: namespaces cannot be made here: {tried.stderr.strip()}")
        sys.exit(SKIPPED)


def lab(*words, limit_s=30):
    """Runs bench/lab; words before `--` are its own. Returns the finished process."""
    return subprocess.run(
        [LAB, words[0], "--name", NAME, *words[1:]], capture_output=True, text=True, timeout=limit_s, check=False)


def lab_or_fail(*words, limit_s=30):
    done = lab(*words, limit_s=limit_s)
    check(done.returncode == 0,
          f"bench/lab {' '.join(words)} exited with {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def machine():
    """What a lab must not change: interfaces, named namespaces, mounts, settings of the machine's own network."""
    settings = {}
    for pattern in ("ipv4/neigh/default/*", "ipv4/conf/all/*", "ipv6/conf/all/*", "core/*"):
        for path in Path("/proc/sys/net").glob(pattern):
            with contextlib.suppress(OSError):
                settings[str(path)] = path.read_text()
    listed = subprocess.run(["ip", "-json", "link", "show"], capture_output=True, text=True, check=True)
    links = json.loads(listed.stdout)
    names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    return {
        "interfaces": sorted(link["ifname"] for link in links),
        "named namespaces": sorted(names.split()),
        "mounts of labs": [line for line in Path("/proc/mounts").read_text().splitlines() if "weir-lab" in line],
        "settings": settings,
        "host name": Path("/proc/sys/kernel/hostname").read_text(),
        "/etc/hosts": Path("/etc/hosts").read_text(),
    }


def check_nothing_left(before, limit_s=5):
    """The machine is as it was, and no process is left in a lab of this test."""
    now = machine()
    for name, value in before.items():
        check(now[name] == value, f"{name} before the lab: {value}; after: {now[name]}")
    check(not (STATE / NAME).exists(), f"{STATE / NAME} is still there")
    deadline = time.monotonic() + limit_s
    while left := lab_processes():
        check(time.monotonic() < deadline, f"processes left: {left}")
        time.sleep(0.05)


def lab_processes():
    """Command lines, by process id, of what runs in a PID namespace and carries this test's mark in its environment."""
    mark = f"WEIR_TEST_ID={os.environ.get('WEIR_TEST_ID', 'none')}".encode()
    found = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError, StopIteration):
            numbers = next(line for line in status.read_text().splitlines() if line.startswith("NSpid")).split()[1:]
            if len(numbers) > 1 and mark in (status.parent / "environ").read_bytes().split(b"\0"):
                found[int(status.parent.name)] = (status.parent / "cmdline").read_text().replace("\0", " ")
    return found


def wait_until(holds, what, limit_s=10):
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline:
            raise Failed(f"not within {limit_s} s: {what}")
        time.sleep(0.02)


def take_down():
    """Also after a test that failed in the middle."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        lab("down", "--quiet", limit_s=15)
    shutil.rmtree(STATE / NAME, ignore_errors=True)
