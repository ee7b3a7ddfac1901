"""The sweep file: one TOML file with what a campaign varies, how often it repeats, and where it runs.

Everything in it is checked here, before anything is planned or started; values of options are checked by `weir run
--dry-run` (dry_runs.py). All keys: slurm/README.md."""

from __future__ import annotations

import collections
import dataclasses
import math
import re
from pathlib import Path

from weir_runs.basics import toml_file, toml_table
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_text
from weir_runs.basics.toml_table import Place, choice, is_number, key, shown, text, texts, time, whole
from . import find_values

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
OPTION = re.compile(r"[a-z][a-z0-9-]{0,40}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
SCHEDULERS = ("own", "producers", "consumers")
REPETITIONS_MAX = 1000
NODES_MAX = 1_000_000
SWEEP_BYTES_MAX = 1_000_000
SETTINGS_MAX = 10000
# Set by the sweep itself, for each run.
OWN_OPTIONS = ("out", "label", "output", "json", "quiet", "dry-run", "help", "find")
OWN_TAGS = ("sweep", "point", "repetition")


# --- Options and axes.


@dataclasses.dataclass(frozen=True)
class Value:
    """One value of an axis: its name, and what it changes."""

    name: str
    options: tuple = ()  # of (option, text)
    environment: tuple = ()  # of (variable, text)
    simulate: tuple | None = None  # options that stand for it in the simulator; None: the file has none


@dataclasses.dataclass(frozen=True)
class Axis:
    name: str
    values: tuple  # of Value


def plain(place, value):
    """A value of an option, as the command line takes it."""
    if not isinstance(value, str) and not is_number(value):
        place.refuse(f"{shown(value)} is not a value of an option: a text or a number")
    value = str(value)
    return place.refuse("a value is one line") if "\n" in value or "\0" in value else value


def _option(place, name, value):
    """The (option, text) pairs of one key; a list repeats the option."""
    if not OPTION.fullmatch(name):
        place.refuse(f"'{name}' is not the name of an option; write it without the dashes in front: "
                     f"{name.strip('-').lower() or 'rate'}")
    if name in OWN_OPTIONS:
        place.refuse(f"weir-sweep sets --{name} itself; leave it out")
    return tuple((name, plain(place, each)) for each in (value if isinstance(value, list) else [value]))


def _options(place, value):
    return tuple(pair for name, one in toml_table.content(place, value).items()
                 for pair in _option(place / name, name, one))


def _pairs(place, value, why_not):
    """(name, text) pairs of a table. `why_not(name)`: why there can be none of that name, or None."""
    for name in toml_table.content(place, value):
        if why := why_not(name):
            (place / name).refuse(why)
    return tuple((name, plain(place / name, one)) for name, one in value.items())


def _tags(place, value):
    return _pairs(place, value, lambda name: name in OWN_TAGS and "weir-sweep sets this tag itself; use another name")


def _environment(place, value):
    return _pairs(place, value, lambda name: None if VARIABLE.fullmatch(name) else f"'{name}' is not the name of a "
                                                                                   "variable")


def _axes(place, value):
    return tuple(_axis(place / name, name, values) for name, values in toml_table.content(place, value).items())


def _axis(place, name, values):
    if not isinstance(values, list) or not values:
        place.refuse("an axis is a list of its values, such as [\"balanced\", \"token\"]")
    if name == "switch" or name in OWN_TAGS:
        place.refuse("switch settings are in the table [switch]" if name == "switch" else
                     "weir-sweep sets this tag itself; use another name")
    compound = [isinstance(value, dict) for value in values]
    if any(compound) and not all(compound):
        place.refuse("values are either all tables, such as { name = \"a\", rate = \"1Gb/s\" }, or all plain")
    if all(compound) and not NAME.fullmatch(name):
        place.refuse(f"'{name}' cannot be a tag: letters, digits and ._+- are allowed")
    return Axis(name, _unlike(place, [_value(place, name, value) for value in values]))


def _value(place, option, value):
    """{ name = "14x72", producers = 14, consumers = 72, environment = { UCX_TLS = "rc" } }, or what `option` takes;
    None: it is no option, and there is the name alone."""
    if isinstance(value, dict):
        rest = dict(value)
        name, environment, simulate = (rest.pop(one, None) for one in ("name", "environment", "simulate"))
        if name is None:
            place.refuse("a value that is a table needs a name, such as { name = \"small\", slots = 2 }")
        return Value(plain(place / "name", name), _options(place, rest),
                     _environment(place / "environment", environment or {}),
                     None if simulate is None else _options(place / "simulate", simulate))
    if isinstance(value, list):
        place.refuse("a list is not one value")
    return Value(plain(place, value)) if option is None else Value(plain(place, value), _option(place, option, value))


def _unlike(place, values):
    for name, count in collections.Counter(value.name for value in values).items():
        if count > 1:
            place.refuse(f"'{name}' is there twice; for more runs of each value, use repetitions")
    return tuple(values)


# --- The switch.


def _settings(place, value):
    if not isinstance(value, list):
        place.refuse(f"{shown(value)} is not a list of names")
    return _unlike(place, [_value(place, None, one) for one in value])


def _patterns(place, value):
    for pattern in texts(place, [value] if isinstance(value, str) else value):
        try:
            re.compile(pattern)
        except re.error as error:
            place.refuse(f"'{pattern}' is not a regular expression: {error}")
    return (value,) if isinstance(value, str) else tuple(value)


def _reading_time(place, value):
    seconds = time(place, value)
    return seconds if 1.0 <= seconds <= 3600.0 else place.refuse(f"{seconds:g} s is not a time from 1s to 1h")


@dataclasses.dataclass(frozen=True)
class Switch:
    """What a site's own tool sets: an axis that changes nothing on weir's command line by itself."""

    settings: tuple = key(_settings, ())
    acts_at: str | None = key(text)  # of settings that do not say it themselves
    on_change: str | None = key(text)  # shell command; the setting's name is its argument
    change_s: float = key(time, 10.0)  # expected time of a change
    change_limit_s: float = key(time, 600.0)
    settle_s: float = key(time, 0.0)  # from the end of the command until the setting is in force
    verify: str | None = key(text)  # shell command that prints what the switch has
    verify_ignores: tuple = key(_patterns, ())  # of lines that always change
    hold: int = key(whole(1, REPETITIONS_MAX), 1)  # repetitions between two changes
    read: str | None = key(text)  # shell command that prints the switch's counters
    read_every_s: float | None = key(_reading_time)  # None: before and after each run only
    read_limit_s: float = key(_reading_time, 10.0)

    @property
    def commands(self):
        return {"on-change": self.on_change, "read": self.read, "verify": self.verify}

    @property
    def axis(self):
        own = () if self.acts_at is None else (("acts-at", self.acts_at),)
        return Axis("switch", tuple(value if "acts-at" in dict(value.options) else
                                    dataclasses.replace(value, options=(*value.options, *own))
                                    for value in self.settings))


def _switch(place, value):
    if not toml_table.content(place, value):
        return None
    switch = toml_table.read(Switch, place, value)
    if not switch.settings:
        (place / "settings").refuse("missing; [switch] needs the names of its settings, such as [\"pfc\", \"ecn\"]")
    if switch.read_every_s is not None and switch.read is None:
        (place / "read-every").refuse("there is no command to call; add read = \"COMMAND\"")
    if switch.verify_ignores and switch.verify is None:
        (place / "verify-ignores").refuse("there is no command to call; add verify = \"COMMAND\"")
    plain(place / "acts-at", switch.acts_at or "")
    return switch


# --- Where it runs.

_SBATCH_KEYS = ("account", "partition", "qos", "reservation", "constraint")
_SBATCH_OWN = ("--array", "-a", "--output", "-o", "--nodes", "-N", "--ntasks", "-n", "--time", "-t", "--signal",
               "--wrap", "--job-name", "-J")


def _sbatch(place, value):
    options = texts(place, value)
    for option in options:
        if not option.startswith("-"):
            place.refuse(f"'{option}' is not an option of sbatch; write --NAME=VALUE")
        if option.partition("=")[0] in _SBATCH_OWN:
            place.refuse(f"weir-sweep sets {option.partition('=')[0]} itself; leave it out")
    return options


@dataclasses.dataclass(frozen=True)
class Part:
    """A kind of node: of a heterogeneous job, or of all of a job."""

    ranks_per_node: int = key(whole(1, 4096), 1)
    nodes: int | None = key(whole(1, NODES_MAX))
    account: str | None = key(text)
    partition: str | None = key(text)
    qos: str | None = key(text)
    reservation: str | None = key(text)
    constraint: str | None = key(text)
    options: tuple = key(_sbatch, ())

    @property
    def sbatch(self):
        """What has a key of its own, and the rest as sbatch's own options."""
        return (*(f"--{name}={value}" for name in _SBATCH_KEYS if (value := getattr(self, name)) is not None),
                *self.options)


def _scheduler(place, value):
    """A name where the scheduler runs, or a table: a part of its own."""
    return toml_table.read(Part, place, value) if isinstance(value, dict) else choice(*SCHEDULERS)(place, value)


@dataclasses.dataclass(frozen=True)
class Slurm(Part):
    launcher: str | None = key(choice("mpirun", "srun"))
    launcher_options: tuple = key(texts, ())
    scheduler_given: str | Part | None = key(_scheduler, None, "scheduler")
    producers: Part | None = key(toml_table.table(Part))
    consumers: Part | None = key(toml_table.table(Part))
    concurrent: int = key(whole(1, 1000), 1)
    runs_per_job: int | None = key(whole(1, NODES_MAX))  # None: one repetition of all settings
    time_s: float | None = key(time)  # limit of a job; None: from the runs' own limits
    setup: str = key(text, "")

    @property
    def scheduler(self):
        """One of SCHEDULERS, or None."""
        return self.scheduler_given if isinstance(self.scheduler_given, str) else None

    @property
    def parts(self):
        """(name, Part) of a heterogeneous job; empty: it is none."""
        named = (("scheduler", self.scheduler_given), ("producers", self.producers), ("consumers", self.consumers))
        return tuple((name, part) for name, part in named if isinstance(part, Part))


def _slurm(place, value):
    slurm = toml_table.read(Slurm, place, toml_table.content(place, value))
    names = [name for name, _ in slurm.parts]
    if names and not {"producers", "consumers"} <= set(names):
        place.refuse("a heterogeneous job needs the tables [slurm.producers] and [slurm.consumers]; only "
                     f"[slurm.{names[0]}] was found")
    if names and slurm.scheduler == "own":
        (place / "scheduler").refuse("'own' is a table of its own here: [slurm.scheduler]")
    if names and slurm.concurrent > 1:
        (place / "concurrent").refuse("heterogeneous jobs run one after the other; leave it out")
    return slurm


@dataclasses.dataclass(frozen=True)
class World:
    """What one way of running changes: [local] and [simulation]."""

    options: tuple = ()
    launcher: tuple = ()


def _world(place, value):
    rest = dict(toml_table.content(place, value))
    launcher = texts(place / "launcher", rest.pop("launcher", []))
    return World(_options(place, rest), launcher)


# --- The file.


def _name(place, value):
    return value if NAME.fullmatch(text(place, value)) else place.refuse(
        f"'{value}' cannot name directories and jobs: letters, digits and ._+- are allowed (at most 64)")


@dataclasses.dataclass(frozen=True)
class SweepFile:
    path: Path
    text: str
    name: str = key(_name)
    repetitions: int = key(whole(1, REPETITIONS_MAX), 3)
    seed: int = key(whole(0, 2**63 - 1), 1)  # of the order
    options: tuple = key(_options, (), "run")  # of all runs
    tags: tuple = key(_tags, ())
    environment: tuple = key(_environment, ())
    axes: tuple = key(_axes, ())  # without the switch
    switch: Switch | None = key(_switch)
    start_s: float = key(time, 15.0)  # expected time from the launcher's start to second 0, and for the end
    baseline: str | None = key(text)
    check_s: float = key(time, 0.0)  # `weir check` transfers data so long before the runs of each switch setting
    slurm: Slurm = key(_slurm, Slurm())
    local: World = key(_world, World())
    simulation: World = key(_world, World())
    find: find_values.Find | None = key(find_values.read_find)  # the limit that is looked for

    @property
    def all_axes(self):
        """The switch first: it changes least often."""
        return ((self.switch.axis,) if self.switch else ()) + self.axes


def read_sweep_file(path):
    """Raises ReportError with the file and the key."""
    path = Path(path)
    content = read_text(path, "a sweep file in TOML", SWEEP_BYTES_MAX)
    if not content.strip():
        raise ReportError(f"{path}: it is empty; a sweep file in TOML is expected, with a table [axes] or [run]")
    return parse_sweep(path, content)


def parse_sweep(path, content):
    document = toml_file.parse(path, content)
    if not document:
        raise ReportError(f"{path}: it has no content; a sweep file has tables such as [run] and [axes]")
    if "tune" in document:
        raise ReportError(f"{path}: tune: a file with this table is for weir-sweep tune")
    sweep = toml_table.read(SweepFile, Place(path), {"name": path.stem, **document}, path=path.resolve(), text=content)
    if sweep.find and sweep.find.rounds is None:
        sweep = dataclasses.replace(sweep, find=dataclasses.replace(
            sweep.find, rounds=min(sweep.repetitions, find_values.ROUNDS_MAX)))
    _check_together(sweep)
    return sweep


def kind_of(name):
    """How a table or key of a sweep file is read, for files that hand it on."""
    return toml_table.kinds_of(SweepFile)[name][1]


# --- What contradicts each other.


def _check_together(sweep):
    place = Place(sweep.path)
    count = math.prod(len(axis.values) for axis in sweep.all_axes)
    if count > SETTINGS_MAX:
        (place / "axes").refuse(f"{count} settings are too many; at most {SETTINGS_MAX} are allowed")
    if sweep.find:
        find_values.check_with(sweep)
    for axis in sweep.all_axes:
        _check_simulated(place, axis)
        if axis.name in dict(sweep.tags):
            (place / "tags" / axis.name).refuse("the axis of this name sets this tag; leave it out")
    _check_owners(place / "axes", sweep.all_axes)
    seeds = [text for name, text in sweep.options if name == "seed"]
    if len(seeds) > 1 or any(not re.fullmatch(r"[0-9]{1,18}", text) for text in seeds):
        (place / "run" / "seed").refuse(f"{', '.join(seeds)} is not one whole number")
    if sweep.switch and sweep.slurm.concurrent > 1:
        (place / "slurm" / "concurrent").refuse("runs with a table [switch] run one after the other; leave it out")


def _check_simulated(place, axis):
    """A value without `simulate` beside others that have one would be predicted with a switch that it does not have."""
    without = [value.name for value in axis.values if value.simulate is None]
    if without and len(without) < len(axis.values):
        place = place / "switch" / "settings" if axis.name == "switch" else place / "axes" / axis.name
        place.refuse(f"'{without[0]}' has no simulate, and others have one; simulate = {{}} stands for the simulator's "
                     "defaults")


def _check_owners(place, axes):
    """Two axes cannot set the same."""
    owners = {}
    for axis in axes:
        for value in axis.values:
            for kind in ("options", "environment", "simulate"):
                for name, _ in getattr(value, kind) or ():
                    other = owners.setdefault(("options" if kind == "simulate" else kind, name), axis)
                    if other is not axis:
                        place.refuse(f"{other.name} and {axis.name} both set {name}; only one axis can")
    if seed := owners.get(("options", "seed")):
        place.refuse(f"{seed.name} sets seed; each repetition has a seed of its own already, counted from that of "
                     "[run]")
