"""The sweep file that confirms a proposal: the present and the proposed setting in turns, simulated or measured, as any other comparison."""

from __future__ import annotations

import json
import subprocess

from ..basics import toml_file
from . import axes as tune_axes, objective
from .tune_file import is_key_of_switch

REPETITIONS = 6
# What weir-sweep refuses to call until it is filled in.
PLACEHOLDER = "/path/to/set-switch"


def text(tune, found, options_of, only_simulated):
    """`options_of(candidate)`: {option of weir simulate: text or texts}; `only_simulated`: options that weir run does not have."""
    document = dict(tune.document)
    document |= {"name": f"{tune.name}-confirm"[:64], "repetitions": REPETITIONS}
    if tune.figure == objective.CAPACITY:
        document["find"] = {"what": "rate", "rounds": REPETITIONS}
    # What an axis sets, [simulation] must not set as well.
    simulation = dict(document.get("simulation", {}))
    moved = {axis.name: simulation.pop(axis.name) for axis in found.axes if axis.name in simulation}
    document["simulation"] = simulation
    settings = []
    for name, candidate in (("present", found.present), ("proposed", found.best)):
        options = {**moved, **options_of(candidate)}
        settings.append({"name": name, **{key: value for key, value in options.items() if key not in only_simulated},
                         "simulate": {key: value for key, value in options.items() if key in only_simulated}})
    lines = [f"# Written by weir-sweep tune: {tune.path.name}", "# present:  " + tune_axes.words(found.axes, found.present),
             "# proposed: " + tune_axes.words(found.axes, found.best)]
    of_switch = any(is_key_of_switch(axis.name) or axis.name in only_simulated for axis in found.axes)
    if of_switch:
        document["switch"] = {"settings": settings, "on-change": tune.on_change or PLACEHOLDER, "hold": 1}
        lines += ["# Measured, on-change is called with the name of the setting, present or proposed, behind it, and sets the switch and the network",
                  "# cards to the values above. Simulated, it is not called."]
    else:
        document["axes"] = {"setting": settings}
    return "\n".join(lines) + "\n\n" + toml_file.text(document)


def only_simulated(weir):
    """Options of weir simulate that weir run does not have."""
    commands = {command["name"]: command for command in json.loads(subprocess.run(
        [weir, "--help", "json"], capture_output=True, text=True, timeout=60, check=True).stdout)["commands"]}

    def names(command):
        return {option["name"].removeprefix("--") for group in commands[command]["groups"] for option in group["options"]}

    return names("simulate") - names("run")
