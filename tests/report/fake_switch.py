#!/usr/bin/env python3
"""The commands of switches that slurm/on-change calls, by the name under which this file is called. The state of each
switch is in a file of $FAKE_SWITCHES. `ssh` runs a command as on the switch that it names. SONiC: `ecnconfig`, `show`
and `config` with the checks of sonic-utilities@0ed3461e. NVUE: `nv` with pending and applied settings."""

import json
import os
import subprocess
import sys
from pathlib import Path

FIELDS = {"-gmin": "green_min_threshold", "-gmax": "green_max_threshold", "-gdrop": "green_drop_probability"}


def ssh(words):
    assert words[:2] == ["-o", "BatchMode=yes"], words
    return subprocess.run(["sh", "-c", words[3]], env={**os.environ, "FAKE_SWITCH": words[2]}, check=False).returncode


def sudo(words):
    return subprocess.run(words, env={**os.environ, "FAKE_ROOT": "1"}, check=False).returncode


def ecnconfig(words, state):
    if words == ["-l"]:
        for name, profile in state["profiles"].items():
            print(f"Profile: {name}\n{'-' * 22}  {'-' * 7}")
            print("\n".join(f"{field:<22}  {value}" for field, value in profile.items()) + f"\n{'-' * 22}  {'-' * 7}\n")
        return 0
    given = dict(zip(words[::2], words[1::2], strict=True))
    profile = {**state["profiles"].get(given.pop("-p"), {}), **{FIELDS[name]: value for name, value in given.items()}}
    if "FAKE_ROOT" not in os.environ or int(profile[FIELDS["-gmin"]]) > int(profile[FIELDS["-gmax"]]):
        return 1
    if not state.get("stuck"):
        state["profiles"][words[1]] = profile
    return 0


def show(words, state):
    if words == ["ecn"]:
        return ecnconfig(["-l"], state)
    print(json.dumps(state.get("pfc", {})))
    return 0


def config(words, state):
    assert words[:3] == ["interface", "pfc", "priority"] and words[5] in ("on", "off"), words
    if "FAKE_ROOT" not in os.environ:
        return 1
    state.setdefault("pfc", {})[f"{words[3]} {words[4]}"] = words[5]
    return 0


def nv(words, state):
    pending = state.setdefault("pending", [])
    if words == ["config", "apply", "-y"]:
        state["applied"], state["pending"] = state.get("applied", []) + pending, []
        return int(bool(state.get("stuck")))
    if words == ["config", "detach"]:
        state["pending"] = []
    elif words == ["config", "show", "-o", "commands"]:
        print("\n".join(state.get("applied", [])))
    elif words[-2:-1] == ["probability"] and int(words[-1]) > 100:
        print("Error: probability is not in 0 to 100", file=sys.stderr)
        return 1
    else:
        pending.append(" ".join(words))
    return 0


def main():
    name, words = Path(sys.argv[0]).name, sys.argv[1:]
    if name in ("ssh", "sudo"):
        return globals()[name](words)
    file = Path(os.environ["FAKE_SWITCHES"]) / os.environ["FAKE_SWITCH"]
    state = json.loads(file.read_text())
    done = globals()[name](words, state)
    file.write_text(json.dumps(state))
    return done


if __name__ == "__main__":
    sys.exit(main())
