"""A lab in a virtual machine with Debian's kernel: its ports mark packets of DCTCP and drop none, and are set and
read while it is up; ports drop; and in a campaign in which the port to one host is mis-set, weir-compare names it.

Skipped without WEIR_SOFT_ROCE=long, because the machine is computed instruction by instruction, and where QEMU or the
kernel cannot be had.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from lab_command import LAB, SKIPPED, TOP
from weir_run import WEIR, check, main

UNAVAILABLE = 69
LONG = os.environ.get("WEIR_SOFT_ROCE") == "long"
LIMIT_S = 1500  # many times what it takes on a machine that has nothing else to do

# Two hosts send to a third for some seconds, as fast as their TCP allows. One Python for all: it takes a second to
# start in the machine.
TRAFFIC = """
import os, socket, sys, time
sys.path.insert(0, sys.argv[1])
from lab_machine.kernel_calls import CLONE_NEWNET, enter
def on(host, action):
    child = os.fork()
    if child == 0:
        enter(f"/run/weir-lab/lab/inside/net/{host}", CLONE_NEWNET)
        action()
        os._exit(0)
    return child
def receive():
    server = socket.create_server(("", 7))
    for _ in range(2):
        connection = server.accept()[0]
        if os.fork() == 0:
            while connection.recv(65536):
                pass
            os._exit(0)
    os.wait(), os.wait()
def send():
    while True:
        try:
            connection = socket.create_connection(("fn01", 7))
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        connection.sendall(bytes(16384))
children = [on("fn01", receive), on("eb01", send), on("eb02", send)]
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""

SCRIPT = """set -e
lab up --producers 2 --consumers 1 --link 5Mb/s --delay 10ms --bundle 3040B --buffer 128kB --mark 10kB --tcp dctcp
lab exec login -- python3 traffic.py $BENCH
echo marking; lab ports
lab set --buffer 15kB --mark none --tcp cubic
"""
DROPPING = """lab exec login -- python3 traffic.py $BENCH
echo dropping; lab ports
lab counters
"""

SWEEP = """
name = "mis-set"
repetitions = 1
start = "30s"
[run]
producers = 3
consumers = 3
rate = "2.5Mb/s"
event-size = "64kB"
interval = "1s"
duration = "6s"
warmup = "2s"
idle = "nap"
[switch]
settings = ["even", "mis-set"]
on-change = "sh set.sh"
read = "lab ports"
[local]
launcher = ["lab", "mpirun", "--"]
"""
SET = """set -e
lab set --buffer 128kB --mark 48kB --tcp dctcp
[ "$1" = even ] || lab set --mark 1.5kB fn02
"""
CAMPAIGN = """set -e
lab up --producers 3 --consumers 3 --link 5Mb/s --delay 20ms --bundle 3040B
weir-sweep submit sweep.toml --local --out campaign
"""


def in_machine(script):
    """What a shell script prints in a virtual machine; its PATH has bench/ and the programs that were built."""
    variables = os.environ | {"PATH": f"{TOP / 'bench'}:{Path(WEIR).parent}:{os.environ['PATH']}", "WEIR": WEIR,
                              "BENCH": str(TOP / "bench")}
    done = subprocess.run([LAB, "machine", "--", "sh", "-c", script], capture_output=True, text=True, timeout=LIMIT_S,
                          check=False, env=variables)
    if done.returncode == UNAVAILABLE:
        print(f"skipped: {done.stderr.strip().splitlines()[-1]}")
        sys.exit(SKIPPED)
    check(done.returncode == 0, f"exit status {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def counters(text):
    """{(port, counter): value} of the lines that `bench/lab ports` prints."""
    lines = [line.split() for line in text.strip().splitlines()]
    check(all(len(line) == 4 and line[1] == "-" for line in lines), text)
    return {(port, name): int(value) for port, _, name, value in lines}


def ports_mark_or_drop():
    Path("traffic.py").write_text(TRAFFIC)
    printed = in_machine(SCRIPT + DROPPING)
    parts = re.fullmatch(r"marking\n(.*)dropping\n(.*?)(host .*)?", printed, re.DOTALL).groups()
    marking, dropping = (counters(part) for part in parts[:2])
    check(marking["fn01", "marked_packets"] > 20, f"hardly any packet was marked: {marking}")
    check(marking["fn01", "dropped_packets"] == 0,
          f"packets were dropped where they should have been marked: {marking}")
    check(marking["fn01", "sent_bytes"] > 200_000, f"two senders sent next to nothing: {marking}")
    check(("fn01", "marked_packets") not in dropping, f"a port without marks has counted some: {dropping}")
    check(dropping["fn01", "dropped_packets"] > 0, f"a shallow port dropped nothing: {dropping}")


def a_mis_set_port_is_named():
    for name, text in (("sweep.toml", SWEEP), ("set.sh", SET)):
        Path(name).write_text(text)
    in_machine(CAMPAIGN)
    runs = sorted(str(path) for path in Path("campaign/local/runs").iterdir())
    check(len(runs) == 2, f"runs: {runs}")
    done = subprocess.run([Path(WEIR).with_name("weir-compare"), "--by", "switch", *runs], capture_output=True,
                          text=True, check=False)
    who = re.findall(r"mis-set: [^.]*?\bfn02\b.*", done.stdout)
    check(who and not re.search(r"mis-set: .*\bfn0[13]\b", done.stdout),
          f"the port to fn02 is not named: {done.stdout}{done.stderr}")


if not LONG:
    print("skipped: it takes minutes; WEIR_SOFT_ROCE=long runs it")
    sys.exit(SKIPPED)
main(ports_mark_or_drop, a_mis_set_port_is_named)
