"""What a campaign runs, and in which order. A sweep file in, settings and points out; nothing is read or started here.

A *setting* is one value of each axis. A *point* is one repetition of a setting: one run. The order is what keeps drift
from looking like a difference:

- Without a switch, every repetition goes through all settings, each time in a fresh random order.
- With a switch, the points of one switch setting follow each other (`stay`), so that the switch is set once per stay.
  A block of `hold` repetitions stays at every switch setting once. The second block takes the switch settings in the
  reverse order of the first (A B B A), the third begins where the second ended, and so on: what drifts evenly over two
  blocks weighs on all switch settings alike. Inside a stay the other axes are shuffled.

Each block is drawn from the seed and its number alone, so more repetitions later add points and change none."""

from __future__ import annotations

import dataclasses
import itertools
import random
import re

from weir_runs.basics import units

from . import find_values

SCHEMA = "weir-sweep/1"
SAFE_NAME_MAX = 80
# Options of `weir run` that describe a real switch.
OF_A_REAL_SWITCH = ("acts-at",)


@dataclasses.dataclass(frozen=True)
class Setting:
    index: int
    name: str  # switch=pfc policy=token
    values: tuple  # of (axis, value's name)
    switch: str | None
    options: tuple  # of (option, text): those of all runs, then those of the axes
    environment: tuple
    tags: tuple
    # Changes predictions and no measurement, so a campaign may get it later.
    # (option, text) in the simulator, for what a switch has
    simulate: tuple = dataclasses.field(default=(), compare=False)


@dataclasses.dataclass(frozen=True)
class Point:
    """One run. `number` counts from 1 in the order of the plan; `run_seed`: --seed."""

    number: int
    setting: int
    repetition: int  # from 1; with `find` the round
    run_seed: int
    # With `find`: the value that is tried, and the options that make it.
    value: float | None = None
    options: tuple = ()
    expected: dict | None = dataclasses.field(default=None, compare=False)  # the options in force, {option: text}

    @property
    def name(self):
        return f"{self.number:04d}"


@dataclasses.dataclass(frozen=True)
class Plan:
    name: str
    seed: int
    repetitions: int
    hold: int
    settings: tuple
    points: tuple  # none with `find`: they depend on the outcomes of those before
    axes: tuple  # names, the switch first
    find: find_values.Find | None = None
    # Without consequence for what is run.
    baseline: str | None = dataclasses.field(default=None, compare=False)  # a setting's name; None: the first
    file: str | None = dataclasses.field(default=None, compare=False)  # the sweep file's path
    # Lines that do not count in what `verify` prints; None: what the switch has is not verified.
    verify_ignores: tuple | None = dataclasses.field(default=None, compare=False)

    def setting_of(self, point):
        return self.settings[point.setting]

    def run_name(self, point, without=()):
        """The name of the run directory: sorts in the order of the plan, and describes it. `without`: these axes."""
        values = [pair for pair in self.setting_of(point).values if pair[0] not in without] + list(point.options[:1])
        safe = re.sub(r"[^A-Za-z0-9._+=-]+", "_", name_of(values) or self.name)[:SAFE_NAME_MAX]
        return f"{point.name}-{safe.strip('_')}-r{point.repetition}"


def make_plan(sweep):
    settings = make_settings(sweep)
    first_seed = int(dict(sweep.options).get("seed", "1"))
    hold = sweep.switch.hold if sweep.switch else 1
    order = [] if sweep.find else make_order(settings, sweep.repetitions, hold, sweep.seed)
    points = tuple(Point(number, setting, repetition, first_seed + repetition - 1)
                   for number, (setting, repetition) in enumerate(order, start=1))
    return Plan(sweep.name, sweep.seed, sweep.find.rounds if sweep.find else sweep.repetitions, hold, settings, points,
                tuple(axis.name for axis in sweep.all_axes), sweep.find, sweep.baseline, str(sweep.path),
                sweep.switch.verify_ignores if sweep.switch and sweep.switch.verify else None)


def make_settings(sweep):
    """All combinations, in the order of the file; the last axis changes fastest."""
    axes = sweep.all_axes
    made = []
    for index, values in enumerate(itertools.product(*(axis.values for axis in axes))):
        pairs = tuple((axis.name, value.name) for axis, value in zip(axes, values))
        options = dict.fromkeys(key for key, _ in sweep.options if key != "seed")
        chosen = [pair for value in values for pair in value.options]
        for key, _ in chosen:
            options.pop(key, None)  # an axis takes the place of what all runs have
        kept = tuple(pair for pair in sweep.options if pair[0] in options)
        environment = {**dict(sweep.environment), **{key: text for value in values for key, text in value.environment}}
        made.append(Setting(index, name_of(pairs) or sweep.name, pairs, values[0].name if sweep.switch else None,
                            kept + tuple(chosen), tuple(environment.items()), sweep.tags + pairs,
                            tuple(pair for value in values for pair in value.simulate or ())))
    return tuple(made)


def make_order(settings, repetitions, hold, seed):
    """(setting, repetition) of every point."""
    switches = list(dict.fromkeys(setting.switch for setting in settings))
    order = []
    stays = []
    for block, first in enumerate(range(1, repetitions + 1, hold)):
        generator = random.Random(f"{seed}:{block}")
        stays = _next_stays(stays, switches, block, generator)
        for switch in stays:
            for repetition in range(first, min(first + hold, repetitions + 1)):
                there = [setting.index for setting in settings if setting.switch == switch]
                generator.shuffle(there)
                order += [(setting, repetition) for setting in there]
    return order


def _next_stays(before, switches, block, generator):
    """The order of the switch settings in a block."""
    if block % 2:
        return before[::-1]
    if not before:
        stays = list(switches)
        generator.shuffle(stays)
        return stays
    rest = [switch for switch in switches if switch != before[-1]]
    generator.shuffle(rest)
    return [before[-1], *rest]


def runs_per_job(plan, slurm):
    """One block of repetitions of all settings, unless the file has another number: what is compared runs on the same
    nodes."""
    return min(slurm.runs_per_job or plan.hold * len(plan.settings), len(plan.points))


def split(points, size):
    """Points of each job."""
    return [points[start:start + size] for start in range(0, len(points), size)]


def changes(plan, points):
    """How often the hook is called while one job runs these points: at its start, and at each change."""
    switches = [plan.setting_of(point).switch for point in points]
    return sum(1 for position, switch in enumerate(switches) if position == 0 or switch != switches[position - 1])


def simulation_key(plan, point):
    """Points that agree in this are one simulated run: a switch setting without `simulate` changes nothing there."""
    return (*_simulation_of(plan.setting_of(point)), point.run_seed)


def _simulation_of(setting):
    return tuple(sorted(simulated_options(setting))), tuple(sorted(setting.simulate))


def simulated_options(setting):
    return tuple(pair for pair in setting.options if pair[0] not in OF_A_REAL_SWITCH)


def simulated_settings(plan):
    """One setting for each different simulation, in the order of the plan."""
    first = {}
    for setting in plan.settings:
        first.setdefault(_simulation_of(setting), setting)
    return list(first.values())


def same_simulations(plan):
    """A sentence without a full stop on each set of settings that are one simulation, though the axes in which they
    differ make a difference elsewhere. Their runs are shared out between them."""
    left_out, of = axes_without_options(plan), {}
    for setting in plan.settings:
        name = name_of([pair for pair in setting.values if pair[0] not in left_out])
        of.setdefault(_simulation_of(setting), {})[name] = None
    return [f"{', '.join(names)} are the same simulation (equal options): they do not differ, and its runs are shared "
            "out between them" for names in of.values() if len(names) > 1]


def simulated_points(plan):
    """One point for each simulated run, in the order of the plan; and for the number of every point that of the one
    that stands for it."""
    first, stands_for = {}, {}
    for point in plan.points:
        stands_for[point.number] = first.setdefault(simulation_key(plan, point), point).number
    return [point for point in plan.points if stands_for[point.number] == point.number], stands_for


def axes_without_options(plan):
    """Axes that change nothing on the simulator's command line: a switch without `simulate`, and variables of the
    environment."""
    found = []
    for position, axis in enumerate(plan.axes):
        options = {}
        for setting in plan.settings:
            others = setting.values[:position] + setting.values[position + 1:]
            options.setdefault(others, set()).add((simulated_options(setting), setting.simulate))
        if all(len(of_others) == 1 for of_others in options.values()):
            found.append(axis)
    return found


def name_of(values):
    """switch=pfc policy=token"""
    return " ".join(f"{axis}={value}" for axis, value in values)


def as_record(plan):
    return {
        "schema": SCHEMA, "name": plan.name, "seed": plan.seed, "repetitions": plan.repetitions, "hold": plan.hold,
        "baseline": plan.baseline, "file": plan.file, "verify_ignores": plan.verify_ignores, "axes": list(plan.axes),
        "find": plan.find and dataclasses.asdict(plan.find),
        "settings": [{"name": setting.name, "values": dict(setting.values), "switch": setting.switch,
                      "options": list(map(list, setting.options)), "environment": dict(setting.environment),
                      "tags": list(map(list, setting.tags)), "simulate": list(map(list, setting.simulate))}
                     for setting in plan.settings],
        "points": [{"point": point.name, "setting": point.setting, "repetition": point.repetition,
                    "seed": point.run_seed} for point in plan.points],
    }


def from_record(record):
    """Raises KeyError, TypeError or ValueError if the record is none of as_record."""
    if record["schema"] != SCHEMA:
        raise ValueError(f"schema is {record['schema']!r}, not {SCHEMA!r}")
    settings = tuple(Setting(index, entry["name"], tuple(entry["values"].items()), entry["switch"],
                             _pairs(entry["options"]), tuple(entry["environment"].items()), _pairs(entry["tags"]),
                             _pairs(entry.get("simulate", ()))) for index, entry in enumerate(record["settings"]))
    points = tuple(Point(int(entry["point"]), int(entry["setting"]), int(entry["repetition"]), int(entry["seed"]))
                   for entry in record["points"])
    if any(not 0 <= point.setting < len(settings) for point in points):
        raise ValueError("a point has a setting that does not exist")
    return Plan(record["name"], int(record["seed"]), int(record["repetitions"]), int(record["hold"]), settings, points,
                tuple(record["axes"]), find_values.from_record(record.get("find")), record.get("baseline"),
                record.get("file"), None if record.get("verify_ignores") is None else tuple(record["verify_ignores"]))


def _pairs(listed):
    return tuple((key, text) for key, text in listed)


def difference(old, new):
    """Why `new` cannot continue what was started as `old`: a sentence, or None. More repetitions at the end are
    fine."""
    return next((why for check in (_other_search, _other_settings, _other_order) if (why := check(old, new))), None)


def _other_search(old, new):
    if old.name != new.name:
        return f"its name was {old.name} and is {new.name}"
    if (old.find is None) != (new.find is None):
        return "it had a find" if old.find else "it had no find"
    if old.find is None:
        return None
    if old.find.rules != new.find.rules:
        return "it was begun by another version of weir-sweep, which searched in another way"
    for name in (field.name for field in dataclasses.fields(old.find) if field.name != "rounds"):
        if getattr(old.find, name) != getattr(new.find, name):
            return f"find: {name} was {getattr(old.find, name)} and is {getattr(new.find, name)}"
    if old.repetitions > new.repetitions:
        return f"it had {old.repetitions} rounds and has {new.repetitions}"
    return "its order changed (seed or hold)" if (old.seed, old.hold) != (new.seed, new.hold) else None


def _other_settings(old, new):
    if old.settings == new.settings:
        return None
    before, after = ({setting.name: setting for setting in plan.settings} for plan in (old, new))
    gone, added = [name for name in before if name not in after], [name for name in after if name not in before]
    if gone or added:
        return "its settings changed: " + ", ".join(
            f"{verb} {units.listed(names)}"
            for verb, names in (("without", gone), ("with", added)) if names)
    changed = next((name for name in before if before[name] != after[name]), None)
    if changed is None:
        return "the order of its settings changed"
    for what in ("options", "environment", "tags"):
        one, other = dict(getattr(before[changed], what)), dict(getattr(after[changed], what))
        for key in {**one, **other}:
            if one.get(key) != other.get(key):
                return f"{key} of {changed} was {one.get(key, 'not given')} and is {other.get(key, 'not given')}"
    return f"the setting {changed} changed"


def _other_order(old, new):
    if old.points == new.points[:len(old.points)]:
        return None
    if old.seed != new.seed:
        return f"its seed was {old.seed} and is {new.seed}"
    if old.repetitions > new.repetitions:
        return f"it had {old.repetitions} repetitions and has {new.repetitions}"
    return "its order changed (hold, seed of [run], or a last block that was not full)"
