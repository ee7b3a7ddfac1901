"""The sweep file that confirms a proposal: the present and the proposed setting in turns, simulated or measured, as any
other comparison."""

from weir_compare.comparison.doubts import PLAN_OF_THE_SETTING
from weir_runs.basics import programs, toml_file, whole_file
from weir_runs.basics.errors import ReportError
from . import axes as tune_axes, objective
from .campaigns import CONFIRM_FILE, fresh_seed
from .tune_file import is_key_of_switch

REPETITIONS = 6
# What weir-sweep refuses to call until it is filled in.
PLACEHOLDER = "/path/to/set-switch"
# In the tuning's directory: the file as it was written.
COPY = "confirm.toml"
NAMES_MAX = 99


def text(tune, found, options_of, only_simulated):
    """`options_of(candidate)`: {option of weir simulate: text or texts}; `only_simulated`: options that weir run does
    not have."""
    document = dict(tune.document)
    document |= {"name": f"{tune.name}-confirm"[:64], "repetitions": REPETITIONS,
                 "run": {**document.get("run", {}), "seed": fresh_seed(tune, CONFIRM_FILE)}}
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
    lines = [f"# Written by weir-sweep tune: {tune.path.name}",
             "# present:  " + tune_axes.words(found.axes, found.present),
             "# proposed: " + tune_axes.words(found.axes, found.best)]
    for what, typed in found.words.sides if found.words else ():
        lines += [f"# on the switch, {what}:", *(f"#   {line}" for line in typed)]
    of_switch = any(is_key_of_switch(axis.name) or axis.name in only_simulated for axis in found.axes)
    if of_switch:
        if not all(is_key_of_switch(axis.name) or axis.name in only_simulated for axis in found.axes):
            document["tags"] = dict([PLAN_OF_THE_SETTING]) | document.get("tags", {})
        document["switch"] = {"settings": settings, "on-change": tune.on_change or PLACEHOLDER, "hold": 1}
        lines += ["# Measured, on-change is called with the name of the setting, present or proposed, behind it, and "
                  "sets the switch and the network", "# cards to the values above. Simulated, it is not called."]
    else:
        document["axes"] = {"setting": settings}
    return "\n".join(lines) + "\n\n" + toml_file.text(document)


def write(path, directory, content):
    """Writes the sweep file as `path`, and a copy of it into the tuning's `directory`. A file that was changed since
    stays: it is taken for this one if the copy says the same, and else the next name is taken, with -2. (the path,
    whether it was left as it is). Raises ReportError."""
    copy = directory / COPY
    before = copy.read_text(encoding="utf-8") if copy.exists() else None
    names = (path, *(path.with_name(f"{path.stem}-{number}{path.suffix}") for number in range(2, NAMES_MAX + 1)))
    written = [named for named in names if named.exists()]
    if written and before == content:  # the last one is the newest
        return written[-1], written[-1].read_text(encoding="utf-8") != content
    for named in names:
        if not named.exists() or named.read_text(encoding="utf-8") in (content, before):
            whole_file.replace(named, content)
            whole_file.replace(copy, content)
            return named, False
    raise ReportError(f"{path} and {NAMES_MAX - 1} others after it were changed since weir-sweep tune wrote them; "
                      "remove those that are not needed")


def only_simulated(weir):
    """Options of weir simulate that weir run does not have."""
    simulate, run = ({option for _, option, _ in programs.options_of(weir, command)} for command in ("simulate", "run"))
    return simulate - run
