"""The sweep file: one TOML file with what a campaign varies, how often it repeats, and where it runs.

Everything in it is checked here, before anything is planned or started; values of options are checked by
`weir run --dry-run` (dry_runs.py). All keys: slurm/README.md.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from pathlib import Path

from ..basics import quantities, toml_file
from ..basics.errors import ReportError
from ..basics.input_file import read_text
from . import find_values

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
OPTION = re.compile(r"[a-z][a-z0-9-]{0,40}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
SCHEDULERS = ("own", "producers", "consumers")
REPETITIONS_MAX = 1000
SWEEP_BYTES_MAX = 1_000_000
SETTINGS_MAX = 10000
# Set by the sweep itself, for each run.
OWN_OPTIONS = ("out", "label", "output", "json", "quiet", "dry-run", "help", "find")
OWN_TAGS = ("sweep", "point", "repetition")


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
    is_option: bool  # the name is an option of weir run; else a tag, given as --tag NAME=VALUE


@dataclasses.dataclass(frozen=True)
class Switch:
    """What a site's own tool sets: an axis that changes nothing on weir's command line by itself."""

    axis: Axis
    on_change: str | None = None  # shell command; the setting's name is its argument
    change_s: float = 10.0  # expected time of a change
    change_limit_s: float = 600.0
    hold: int = 1  # repetitions between two changes
    read: str | None = None  # shell command that prints the switch's counters
    read_every_s: float | None = None  # None: before and after each run only
    read_limit_s: float = 10.0


@dataclasses.dataclass(frozen=True)
class Part:
    """A kind of node of a heterogeneous job: `ranks_per_node`, and sbatch's options."""

    ranks_per_node: int = 1
    nodes: int | None = None
    sbatch: tuple = ()


@dataclasses.dataclass(frozen=True)
class Slurm:
    launcher: str | None = None
    launcher_options: tuple = ()
    nodes: int | None = None
    ranks_per_node: int = 1
    scheduler: str | None = None  # one of SCHEDULERS
    concurrent: int = 1
    runs_per_job: int | None = None  # None: one repetition of all settings
    time_s: float | None = None  # limit of a job; None: from the runs' own limits
    sbatch: tuple = ()  # options as sbatch takes them
    setup: str = ""
    parts: tuple = ()  # of (name, Part): scheduler, producers, consumers; heterogeneous if any


@dataclasses.dataclass(frozen=True)
class World:
    """What one way of running changes: [local] and [simulation]."""

    options: tuple = ()
    launcher: tuple = ()


@dataclasses.dataclass(frozen=True)
class SweepFile:
    path: Path
    name: str
    text: str
    repetitions: int
    seed: int  # of the order
    options: tuple  # of all runs
    tags: tuple
    environment: tuple
    axes: tuple  # without the switch
    switch: Switch | None
    start_s: float  # expected time from the launcher's start to second 0, and for the end
    baseline: str | None
    check_s: float  # `weir check` transfers data for about so long before the runs of each switch setting; 0: no check
    slurm: Slurm
    local: World
    simulation: World
    find: find_values.Find | None = None  # the limit that is looked for, instead of runs with fixed options

    @property
    def all_axes(self):
        """The switch first: it changes least often."""
        return ((self.switch.axis,) if self.switch else ()) + self.axes


def read_sweep_file(path):
    """Raises ReportError with the file and the key."""
    path = Path(path)
    text = read_text(path, "a sweep file in TOML", SWEEP_BYTES_MAX)
    if not text.strip():
        raise ReportError(f"{path}: it is empty; a sweep file in TOML is expected, with a table [axes] or [run]")
    return parse_sweep(path, text)


def parse_sweep(path, text):
    document = toml_file.parse(path, text)
    if not document:
        raise ReportError(f"{path}: it has no content; a sweep file has tables such as [run] and [axes]")
    top = Table(path, "", document)
    if "tune" in document:
        raise ReportError(f"{top.where('tune')}: a file with this table is for weir-sweep tune")
    tables = {name: top.table(name) for name in ("run", "tags", "environment", "axes", "switch", "slurm", "local",
                                                 "simulation")}
    name = top.text("name", path.stem)
    if not NAME.fullmatch(name):
        raise ReportError(f"{path}: name: '{name}' cannot name directories and jobs: letters, digits and ._+- are allowed (at most 64)")
    repetitions = top.integer("repetitions", 3, 1, REPETITIONS_MAX)
    sweep = SweepFile(
        path=path.resolve(),
        name=name,
        text=text,
        repetitions=repetitions,
        seed=top.integer("seed", 1, 0, 2**63 - 1),
        options=_options(tables["run"]),
        tags=_tags(tables["tags"]),
        environment=_environment(tables["environment"]),
        axes=_axes(tables["axes"]),
        switch=_switch(tables["switch"]),
        start_s=top.time("start", 15.0),
        baseline=top.text("baseline", None),
        check_s=top.time("check", 0.0),
        slurm=_slurm(tables["slurm"]),
        local=_world(tables["local"]),
        simulation=_world(tables["simulation"]),
        find=find_values.read_find(top, repetitions))
    top.no_others()
    _check_together(sweep)
    return sweep


def check_tables(path, tables):
    """Checks tables of a sweep file that another file, `path`, hands on. The (option, text) pairs of [run], whose values are not checked.
    Raises ReportError with that file."""
    top = Table(path, "", tables)
    for name, check in (("environment", _environment), ("switch", _switch), ("slurm", _slurm), ("local", _world)):
        check(top.table(name))
    return _options(top.table("run"))


class Table:
    """A table of the file whose keys are read one by one; those that are left in the end are unknown."""

    def __init__(self, path, name, content):
        self.path, self.name, self.content = path, name, dict(content)
        self.known = []

    def where(self, key):
        return f"{self.path}: {self.name + '.' if self.name else ''}{key}"

    def read(self, key, default, kinds, what):
        self.known.append(key)
        if key not in self.content:
            return default
        value = self.content.pop(key)
        if not isinstance(value, kinds) or isinstance(value, bool):  # to Python, true is a number
            raise ReportError(f"{self.where(key)}: {_shown(value)} is not {what}")
        return value

    def text(self, key, default):
        return self.read(key, default, str, 'a text, such as "this"')

    def integer(self, key, default, least, most):
        value = self.read(key, default, int, f"a whole number from {least} to {most}")
        if value is not None and not least <= value <= most:
            raise ReportError(f"{self.where(key)}: {value} is not a whole number from {least} to {most}")
        return value

    def time(self, key, default):
        text = self.read(key, None, str, 'a time with its unit, such as "90s"')
        if text is None:
            return default
        seconds = quantities.seconds_of(text)
        if seconds is None:
            raise ReportError(f"{self.where(key)}: '{text}' is not a time with its unit (ns us ms s min h), such as \"90s\"")
        return seconds

    def choice(self, key, choices):
        value = self.text(key, None)
        if value is not None and value not in choices:
            raise ReportError(f"{self.where(key)}: '{value}' is not one of {', '.join(choices)}")
        return value

    def flag(self, key, default):
        self.known.append(key)
        value = self.content.pop(key, default)
        if not isinstance(value, bool):
            raise ReportError(f"{self.where(key)}: {_shown(value)} is neither true nor false")
        return value

    def texts(self, key):
        value = self.read(key, [], (list, str), 'a list of texts, such as ["--exclusive"]')
        value = value.split() if isinstance(value, str) else value
        for text in value:
            if not isinstance(text, str):
                raise ReportError(f"{self.where(key)}: {_shown(text)} is not a text")
        return tuple(value)

    def table(self, key):
        content = self.read(key, {}, dict, f"a table ([{key}])")
        return Table(self.path, f"{self.name}.{key}" if self.name else key, content)

    def no_others(self):
        for key in self.content:
            near = difflib.get_close_matches(key, self.known, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; known are: {', '.join(self.known)}"
            raise ReportError(f"{self.where(key)}: there is no such key{hint}")


def _shown(value):
    if isinstance(value, dict):
        return "a table"
    return f"'{value}'" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _plain(table, key, value):
    """A value of an option, as the command line takes it."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ReportError(f"{table.where(key)}: {_shown(value)} is not a value of an option: a text or a number")
    text = str(value)
    if "\n" in text or "\0" in text:
        raise ReportError(f"{table.where(key)}: a value is one line")
    return text


def _option(table, key, value):
    """The (option, text) pairs of one key; a list repeats the option."""
    if not OPTION.fullmatch(key):
        raise ReportError(f"{table.where(key)}: '{key}' is not the name of an option; write it without the dashes in front: "
                          f"{key.strip('-').lower() or 'rate'}")
    if key in OWN_OPTIONS:
        raise ReportError(f"{table.where(key)}: weir-sweep sets --{key} itself; leave it out")
    values = value if isinstance(value, list) else [value]
    return tuple((key, _plain(table, key, each)) for each in values)


def _options(table):
    return tuple(pair for key, value in table.content.items() for pair in _option(table, key, value))


def _tags(table):
    for key in table.content:
        if key in OWN_TAGS:
            raise ReportError(f"{table.where(key)}: weir-sweep sets this tag itself; use another name")
    return tuple((key, _plain(table, key, value)) for key, value in table.content.items())


def _environment(table):
    for key in table.content:
        if not VARIABLE.fullmatch(key):
            raise ReportError(f"{table.where(key)}: '{key}' is not the name of a variable")
    return tuple((key, _plain(table, key, value)) for key, value in table.content.items())


def _axes(table):
    return tuple(_axis(table, key, values) for key, values in table.content.items())


def _axis(table, key, values):
    if not isinstance(values, list) or not values:
        raise ReportError(f"{table.where(key)}: an axis is a list of its values, such as [\"balanced\", \"token\"]")
    if key in OWN_TAGS or key == "switch":
        raise ReportError(f"{table.where(key)}: " + ("switch settings are in the table [switch]" if key == "switch" else
                                                     "weir-sweep sets this tag itself; use another name"))
    compound = [isinstance(value, dict) for value in values]
    if any(compound) and not all(compound):
        raise ReportError(f"{table.where(key)}: values are either all tables, such as {{ name = \"a\", rate = \"1Gb/s\" }}, "
                          "or all plain")
    if all(compound):
        if not NAME.fullmatch(key):
            raise ReportError(f"{table.where(key)}: '{key}' cannot be a tag: letters, digits and ._+- are allowed")
        made = [_compound(table, key, value) for value in values]
        is_option = False
    else:
        made = []
        for value in values:
            option = _option(table, key, value)
            if len(option) != 1:
                raise ReportError(f"{table.where(key)}: a list is not one value")
            made.append(Value(option[0][1], option))
        is_option = True
    _no_doubles(table, key, made)
    return Axis(key, tuple(made), is_option)


def _compound(table, key, value):
    """{ name = "14x72", producers = 14, consumers = 72, environment = { UCX_TLS = "rc" } }"""
    inner = Table(table.path, f"{table.name}.{key}", value)
    name = inner.read("name", None, (str, int, float), "a name")
    if name is None:
        raise ReportError(f"{inner.path}: {inner.name}: a value that is a table needs a name, such as "
                          "{ name = \"small\", slots = 2 }")
    environment = _environment(inner.table("environment"))
    simulate = _options(inner.table("simulate")) if "simulate" in inner.content else None
    return Value(_plain(inner, "name", name), _options(inner), environment, simulate)


def _no_doubles(table, key, values):
    names = [value.name for value in values]
    for name in names:
        if names.count(name) > 1:
            raise ReportError(f"{table.where(key)}: '{name}' is there twice; for more runs of each value, use repetitions")


def _switch(table):
    if not table.content:
        return None
    acts_at = table.text("acts-at", None)
    values = table.read("settings", None, list, "a list of names")
    if not values:
        raise ReportError(f"{table.where('settings')}: missing; [switch] needs the names of its settings, such as "
                          "[\"pfc\", \"ecn\"]")
    made = []
    for value in values:
        if isinstance(value, dict):
            made.append(_compound(table, "settings", value))
        else:
            made.append(Value(_plain(table, "settings", value)))
    if acts_at is not None:  # of those that describe nothing else
        made = [value if "acts-at" in dict(value.options) else
                dataclasses.replace(value, options=(*value.options, ("acts-at", _plain(table, "acts-at", acts_at)))) for value in made]
    _no_doubles(table, "settings", made)
    switch = Switch(
        axis=Axis("switch", tuple(made), False),
        on_change=table.text("on-change", None),
        change_s=table.time("change", 10.0),
        change_limit_s=table.time("change-limit", 600.0),
        hold=table.integer("hold", 1, 1, REPETITIONS_MAX),
        read=table.text("read", None),
        read_every_s=table.time("read-every", None),
        read_limit_s=table.time("read-limit", 10.0))
    table.no_others()
    for key, least in (("read-every", switch.read_every_s), ("read-limit", switch.read_limit_s)):
        if least is not None and not 1.0 <= least <= 3600.0:
            raise ReportError(f"{table.where(key)}: {least:g} s is not a time from 1s to 1h")
    if switch.read_every_s is not None and switch.read is None:
        raise ReportError(f"{table.where('read-every')}: there is no command to call; add read = \"COMMAND\"")
    return switch


_SBATCH_KEYS = ("account", "partition", "qos", "reservation", "constraint")


def _sbatch(table):
    """What has a key of its own, and the rest as sbatch's own options."""
    options = [f"--{key}={value}" for key in _SBATCH_KEYS if (value := table.text(key, None)) is not None]
    options += table.texts("options")
    for option in options:
        if not option.startswith("-"):
            raise ReportError(f"{table.where('options')}: '{option}' is not an option of sbatch; write --NAME=VALUE")
        for own in ("--array", "-a", "--output", "-o", "--nodes", "-N", "--ntasks", "-n", "--time", "-t", "--signal",
                    "--wrap", "--job-name", "-J"):
            if option == own or option.startswith(own + "="):
                raise ReportError(f"{table.where('options')}: weir-sweep sets {own} itself; leave it out")
    return tuple(options)


def _part(table):
    made = Part(table.integer("ranks-per-node", 1, 1, 4096), table.integer("nodes", None, 1, 1000000), _sbatch(table))
    table.no_others()
    return made


def _slurm(table):
    present = [name for name in ("scheduler", "producers", "consumers") if isinstance(table.content.get(name), dict)]
    parts = {name: table.table(name) for name in ("producers", "consumers")}
    # A name where the scheduler runs, or a table: a part of its own.
    scheduler = table.content.get("scheduler")
    if isinstance(scheduler, dict):
        parts = {"scheduler": table.table("scheduler"), **parts}
        scheduler = None
    else:
        scheduler = table.choice("scheduler", SCHEDULERS)
    made = Slurm(
        launcher=table.choice("launcher", ("mpirun", "srun")),
        launcher_options=table.texts("launcher-options"),
        nodes=table.integer("nodes", None, 1, 1000000),
        ranks_per_node=table.integer("ranks-per-node", 1, 1, 4096),
        scheduler=scheduler,
        concurrent=table.integer("concurrent", 1, 1, 1000),
        runs_per_job=table.integer("runs-per-job", None, 1, 1000000),
        time_s=table.time("time", None),
        sbatch=_sbatch(table),
        setup=table.text("setup", ""),
        parts=tuple((name, _part(parts[name])) for name in present))
    table.no_others()
    names = [name for name, _ in made.parts]
    if names and not {"producers", "consumers"} <= set(names):
        raise ReportError(f"{table.path}: slurm: a heterogeneous job needs the tables [slurm.producers] and "
                          f"[slurm.consumers]; only [slurm.{names[0]}] was found")
    if names and scheduler == "own":
        raise ReportError(f"{table.where('scheduler')}: 'own' is a table of its own here: [slurm.scheduler]")
    if names and made.concurrent > 1:
        raise ReportError(f"{table.where('concurrent')}: heterogeneous jobs run one after the other; leave it out")
    return made


def _world(table):
    launcher = table.texts("launcher")
    return World(_options(table), launcher)


def _check_simulated(path, axis):
    """A value without `simulate` beside others that have one would be predicted with a switch that it does not have."""
    without = [value.name for value in axis.values if value.simulate is None]
    if without and len(without) < len(axis.values):
        where = "switch.settings" if axis.name == "switch" else f"axes.{axis.name}"
        raise ReportError(f"{path}: {where}: '{without[0]}' has no simulate, and others have one; simulate = {{}} stands for "
                          "the simulator's defaults")


def _check_together(sweep):
    count = 1
    for axis in sweep.all_axes:
        count *= len(axis.values)
    if count > SETTINGS_MAX:
        raise ReportError(f"{sweep.path}: axes: {count} settings are too many; at most {SETTINGS_MAX} are allowed")
    if sweep.find:
        find_values.check_with(sweep)
    owners = {}
    for axis in sweep.all_axes:
        _check_simulated(sweep.path, axis)
        for kind in ("options", "environment", "simulate"):
            for name in dict.fromkeys(key for value in axis.values for key, _ in getattr(value, kind) or ()):
                other = owners.setdefault(("options" if kind == "simulate" else kind, name), axis)
                if other is not axis:
                    raise ReportError(f"{sweep.path}: axes: {other.name} and {axis.name} both set {name}; only one axis can")
    if ("options", "seed") in owners:
        raise ReportError(f"{sweep.path}: axes: {owners['options', 'seed'].name} sets seed; each repetition has a seed of "
                          "its own already, counted from that of [run]")
    seeds = [text for key, text in sweep.options if key == "seed"]
    if len(seeds) > 1 or any(not re.fullmatch(r"[0-9]{1,18}", text) for text in seeds):
        raise ReportError(f"{sweep.path}: run.seed: {', '.join(seeds)} is not one whole number")
    tags = dict(sweep.tags)
    for axis in sweep.all_axes:
        if axis.name in tags:
            raise ReportError(f"{sweep.path}: tags.{axis.name}: the axis of this name sets this tag; leave it out")
    if sweep.switch and sweep.slurm.concurrent > 1:
        raise ReportError(f"{sweep.path}: slurm.concurrent: runs with a table [switch] run one after the other; leave it "
                          "out")
