"""A campaign whose switch is a port of the lab's: its settings are in force and told apart, and where the command that
sets one does nothing, no ranking rests on the runs."""

import json
import subprocess
import sys
from pathlib import Path

from lab_command import LAB, NAME, check_nothing_left, lab_or_fail, machine, skip_unless_possible, take_down
from weir_run import WEIR, check, main

SWEEP = """
name = "{name}"
repetitions = 2
[run]
idle = "nap"
producers = 2
consumers = 1
rate = "20Mb/s"
interval = "250ms"
event-size = "64KiB"
duration = "2s"
warmup = "500ms"
drain = "3s"
[switch]
settings = ["20Mb/s", "100Mb/s"]
on-change = "sh set.sh"
verify = "{lab} exec --name {of} switch -- tc qdisc show dev fn01"
settle = "100ms"
[local]
launcher = ["sh", "-c", 'shift 2; exec "{lab}" run --name {of} -- "$@"', "launcher"]
"""
SET = """{only}
rate=$(echo "$1" | sed 's,Mb/s,mbit,')
exec {lab} exec --name {of} switch -- tc qdisc replace dev fn01 root tbf rate "$rate" burst 20kb limit 100kb
"""


def campaign(name, only=""):
    """(what weir-sweep said, share of late sets by run.json) of settings that `set.sh` sets."""
    directory = Path(name).resolve()
    directory.mkdir()
    (directory / "sweep.toml").write_text(SWEEP.format(name=name, lab=LAB, of=NAME))
    (directory / "set.sh").write_text(SET.format(lab=LAB, of=NAME, only=only))
    sweep = str(Path(WEIR).with_name("weir-sweep"))
    said = subprocess.run([sweep, "submit", "--local", "sweep.toml"], cwd=directory, capture_output=True, text=True,
                          timeout=120, check=False)
    listed = subprocess.run([sweep, "status", "sweep.toml"], cwd=directory, capture_output=True, text=True, timeout=30,
                            check=False)
    collected = subprocess.run([sweep, "collect", "sweep.toml"], cwd=directory, capture_output=True, text=True,
                               timeout=60, check=False)
    texts = "\n".join([said.stdout, said.stderr, listed.stdout, listed.stderr, collected.stdout, collected.stderr])
    verdicts = {path: json.loads(path.read_text())["verdict"] for path in directory.rglob("run.json")}
    return texts, {path: verdict["late_sets"] / verdict["sets"] for path, verdict in verdicts.items()}


def settings_in_force_are_told_apart():
    texts, late = campaign("good")
    check(len(late) == 4, texts)
    for path, share in late.items():
        before = (path.parent / "switch/verify-before.txt").read_text()
        # Some sets of a machine that does other things are late at any rate; at 20 Mb/s all are.
        check((share > 0.5) == ("rate 20Mbit" in before), f"{path}: {share}\n{before}\n{texts}")
        check(before == (path.parent / "switch/verify-after.txt").read_text(), before)
    check("not measured" not in texts and "not in force" not in texts, texts)


def a_command_that_does_nothing_is_found_out():
    texts, _ = campaign("idle", 'case "$1" in 100*) exit 0;; esac')
    for setting in ("20Mb/s", "100Mb/s"):
        check(f"switch={setting} was not measured" in texts, texts)
    check("ended with 0, but the switch showed the same as with 20Mb/s" in texts and "no page" in texts, texts)


def in_a_lab():
    before = machine()
    try:
        lab_or_fail("up", "--producers", "2", "--consumers", "1", "--link", "200Mb/s")
        settings_in_force_are_told_apart()
        a_command_that_does_nothing_is_found_out()
    finally:
        take_down()
    check_nothing_left(before)


skip_unless_possible()
sys.exit(main(in_a_lab))
