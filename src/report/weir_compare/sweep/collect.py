"""What a campaign has measured: one row for each point, and the runs in groups that can be compared.

Rows hold what runs recorded, in the units that their names end with, beside what was simulated for the same point."""

from __future__ import annotations

import dataclasses
import io

from weir_runs.basics.csv_text import csv_text
from weir_runs.basics.errors import ReportError
from weir_runs.basics.units import counted
from weir_runs.reading.capacity import Capacity
from weir_runs.reading.key_figures import KEY_FIGURES, key_figures
from weir_runs.reading.run import Run, read_run
from ..comparison import capacity_estimates
from ..comparison.comparison import Settings, compare, compare_capacities
from ..comparison.run_groups import Failure, Group, NOT_MEASURED
from . import find_state, in_force, run_plan
from .campaign import Campaign, FAILED, NOT_SET

# Ends of columns' names, by the key figures' units.
_ENDINGS = {"b/s": "_bits_per_second", "s": "_s"}


@dataclasses.dataclass
class Measured:
    """One point: its state, and its run and figures if that is complete."""

    point: run_plan.Point
    state: object  # PointState
    run: Run | None = None
    figures: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Collection:
    """`points`: of the chosen world; `predicted`: figures by the number of a point."""

    plan: run_plan.Plan
    world: str
    axes: tuple  # those that make a difference in this world
    points: list
    predicted: dict
    remarks: list
    capacity: Capacity | None = None  # with `find`
    predicted_capacity: Capacity | None = None
    switch: tuple = ()  # how it was set, see in_force.log

    def setting_name(self, point):
        values = [pair for pair in self.plan.setting_of(point).values if pair[0] in self.axes]
        return run_plan.name_of(values) or self.plan.name

    def complete(self):
        return [measured for measured in self.points if measured.run]


def collect(campaign, world_name=None):
    """Reads the runs of a campaign. `world_name` None: what was measured in SLURM, else here, else the simulation."""
    begun = campaign.worlds_begun()
    if not begun:
        raise ReportError(f"{campaign.directory}: nothing was run yet; weir-sweep submit starts the runs")
    read = {world.name: _read(world) for world in begun}
    if world_name is None:
        world_name = next((name for name in ("slurm", "local", "simulation")
                           if any(measured.run for measured in read.get(name, ([],))[0])), begun[0].name)
    if world_name not in read:
        where = {"slurm": "in SLURM", "local": "with --local", "simulation": "with --simulate"}[world_name]
        raise ReportError(f"{campaign.directory}: nothing was run {where}; found: {', '.join(read)}")
    points, remarks = read[world_name]
    plan = campaign.plan
    if world_name == "simulation":
        remarks = remarks + [f"{sentence}." for sentence in run_plan.same_simulations(plan)]
    left_out = campaign.world(world_name).axes_left_out()
    if plan.find:
        return _with_capacity(campaign, world_name, points, remarks)
    predicted = {}
    if world_name != "simulation" and "simulation" in read:
        simulated = {measured.point.number: measured for measured in read["simulation"][0] if measured.run}
        _, stands_for = run_plan.simulated_points(plan)
        predicted = {number: simulated[other].figures for number, other in stands_for.items() if other in simulated}
        remarks = remarks + read["simulation"][1] + _other_options(points, simulated, stands_for)
    return Collection(plan, world_name, tuple(axis for axis in plan.axes if axis not in left_out), points, predicted,
                      remarks, switch=in_force.log(campaign.world(world_name)))


def _with_capacity(campaign, world_name, points, remarks):
    """Runs of a search have no counterparts in the simulator: the limits have."""
    worlds = {name: campaign.world(name) for name in {world_name,
                                                      "simulation"} & {world.name for world in campaign.worlds_begun()}}
    capacities = {name: find_state.FindState(world).capacity() for name, world in worlds.items()}
    left_out = campaign.world(world_name).axes_left_out()
    return Collection(campaign.plan, world_name, tuple(axis for axis in campaign.plan.axes if axis not in left_out),
                      points, {}, remarks, capacities[world_name], capacities.get("simulation")
                      if world_name != "simulation" else None, in_force.log(campaign.world(world_name)))


def _read(world):
    points, remarks = [], []
    for state in world.states():
        measured = Measured(state.point, state)
        points.append(measured)
        if state.state != "complete":
            continue
        try:
            measured.run = read_run(state.directory)
            measured.figures = key_figures(measured.run)
        except ReportError as error:
            measured.run = None
            remarks.append(f"Left out: {error}.")
    return points, remarks


def _other_options(points, simulated, stands_for):
    """A prediction with other rates or times than were measured is none."""
    for measured in points:
        other = simulated.get(stands_for[measured.point.number])
        if measured.run and other:
            for option, value in measured.run.plan.items():
                if option != "seed" and other.run.plan.get(option, value) != value:
                    return [f"Measured and simulated with different options: {option} {value} measured, "
                            f"{other.run.plan[option]} simulated ([local] or [simulation])."]
            return []
    return []


# --- The table.


def column(figure):
    """The name with its unit; shares have none."""
    return figure.name + ("" if figure.kind == "share" else _ENDINGS.get(figure.unit, ""))


def rows(collection):
    """One dictionary per point, in the order of the plan; absent is None."""
    made = []
    for measured in collection.points:
        setting = collection.plan.setting_of(measured.point)
        state, run = measured.state, measured.run
        row = {"sweep": collection.plan.name, "point": measured.point.name,
               "setting": collection.setting_name(measured.point)}
        row |= dict(setting.values)
        row |= {
            "repetition": measured.point.repetition,
            **_tried(collection, measured),
            "world": collection.world,
            "state": state.state,
            "reason": state.reason or None,
            "attempts": len(state.attempts),
            "job": state.last.holder.get("array", state.last.holder.get("job")) if state.last else None,
            "run_directory": str(state.directory) if state.directory else None,
            "started_at": run.record.get("started_at") if run else None,
            "seconds": run.record.get("seconds") if run else None,
            "weir_version": run.record["environment"].get("weir_version") if run else None,
            "cause": run.record["verdict"].get("cause") if run else None,
            "network": (run.record.get("network") or {}).get("mechanism") if run else None,
        }
        predicted = collection.predicted.get(measured.point.number, {})
        row |= {column(figure): measured.figures.get(figure.name) for figure in KEY_FIGURES}
        if collection.predicted:
            row |= {f"predicted_{column(figure)}": predicted.get(figure.name) for figure in KEY_FIGURES}
        made.append(row)
    return made


def _tried(collection, measured):
    """With `find`: the value and whether it held."""
    find = collection.plan.find
    if not find:
        return {}
    return {value_column(find.what): measured.point.value,
            "held": find_state.outcome(measured.state, find.criterion)[0]}


def as_csv(all_rows):
    columns = list(all_rows[0])
    return csv_text([columns, *([row.get(column) for column in columns] for row in all_rows)])


def as_parquet(all_rows):
    """Bytes, or None where pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return None
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(all_rows), out)
    return out.getvalue()


# --- The table of a search: one row for each setting, so that a numeric axis gives a curve.

_COLUMNS = {"rate": "rate_bits_per_second", "busy": "busy_s", "slots": "slots", "streams": "streams",
            "consumers": "consumers", "burst": "burst_bytes"}


def value_column(what):
    return _COLUMNS[what]


def limit_rows(capacity, predicted=None):
    """`predicted`: the Capacity of the simulator, or None. An absent value is None."""
    column = f"limit_{value_column(capacity.find)}"
    made = []
    for setting in capacity.settings:
        row = {"setting": setting.name, **setting.values, "world": capacity.world, "criterion": capacity.criterion}
        row |= _limit(capacity, setting, column)
        row |= {"rounds": sum(search.complete for search in setting.searches),
                "runs": sum(len(search.runs) for search in setting.searches), "stopped": setting.stopped}
        if predicted:
            # Settings that differ in the switch only can be one simulation.
            there = next((other for other in predicted.settings
                          if all(setting.values.get(axis) == value for axis, value in other.values.items())), None)
            simulated = _limit(predicted, there, column)
            row |= {f"predicted_{name}": simulated[name] for name in (column, f"{column}_low", f"{column}_high")}
        made.append(row)
    return made


def _limit(capacity, setting, column):
    limit = capacity_estimates.limit(capacity, setting) if setting else None
    if limit is None:
        return dict.fromkeys((column, f"{column}_low", f"{column}_high", f"{column}_of_every_run", f"{column}_until",
                              "bound", "contradictions"))
    return {column: limit.value, f"{column}_low": None if limit.below else limit.low,
            f"{column}_high": None if limit.above else limit.high, f"{column}_of_every_run": limit.every_run,
            f"{column}_until": limit.until,
            "bound": limit.bound or (None if limit.is_answer else "no answer"), "contradictions": limit.contradictions}


def unfinished(capacity):
    """A sentence on each setting that has fewer rounds than planned."""
    made = []
    for setting in capacity.settings:
        complete = sum(search.complete for search in setting.searches)
        if setting.stopped:
            made.append(f"{setting.name} stopped after {complete} of {capacity.rounds} rounds: {setting.stopped}.")
        elif complete < (capacity.rounds or 0):
            made.append(f"{setting.name}: {complete} of {capacity.rounds} rounds are complete.")
    return made


# --- Groups.


def members(collection, by=None):
    """{name of a group: [Measured] of its points}, in the order of the plan's settings."""
    made = {_group_name(collection, setting, by): [] for setting in collection.plan.settings}
    for measured in collection.points:
        made[_group_name(collection, collection.plan.setting_of(measured.point), by)].append(measured)
    return made


def groups(collection, by=None):
    """Complete runs, and which others failed or are missing, by setting or by the value of one axis, in the order of
    the plan's settings."""
    if by is not None and by not in collection.axes:
        raise ReportError(f"--by: '{by}' is not an axis here; axes are: {', '.join(collection.axes) or 'none'}")
    return [_group(name, points) for name, points in members(collection, by).items()]


def _group(name, points):
    group = Group(name, [])
    for measured in points:
        state = measured.state
        if measured.run:
            group.runs.append(measured.run)
        elif state.state in NOT_SET:
            group.not_set.append(state.reason)
            group.missing[NOT_MEASURED] = group.missing.get(NOT_MEASURED, 0) + 1
        elif state.state in FAILED:
            group.failed.append(Failure(state.point.name, state.reason or "no reason is recorded"))
        else:
            group.missing[state.state] = group.missing.get(state.state, 0) + 1
    return group


def _group_name(collection, setting, by):
    values = [pair for pair in setting.values if pair[0] in ((by,) if by else collection.axes)]
    return run_plan.name_of(values) or collection.plan.name


def settings_of_groups(collection, names, by=None):
    """{axis: value} for each group of this name."""
    axes = (by,) if by else collection.axes
    by_name = {_group_name(collection, setting, by): {axis: value for axis, value in setting.values if axis in axes}
               for setting in collection.plan.settings}
    return [by_name[name] for name in names]


def comparison(collection, baseline=None, by=None, settings=Settings(), prover=None):
    """The report of compare/comparison.py, or None if there are not two groups with complete runs. With `find`, of the
    limits; None if no search is complete."""
    made = groups(collection, by)
    if collection.plan.find:
        return _of_limits(collection, made, settings)
    wanted = baseline or (collection.plan.baseline if by is None else None)
    first = made[0] if wanted is None else next((group for group in made if group.name == wanted), None)
    if first is None and baseline is None:
        first = made[0]  # the plan's baseline has an axis that makes no difference here
    if first is None:
        raise ReportError(f"--baseline: there is no setting '{baseline}'; found: "
                          f"{', '.join(group.name for group in made)}")
    there = [group for group in made if group.runs or group.failed or group.not_set]
    if len(there) < 2 or not any(group.runs for group in there):
        return None
    if not first.runs and baseline is not None:
        raise ReportError(f"the baseline {first.name} has no complete run; choose another one with --baseline: "
                          f"{', '.join(group.name for group in there if group.runs)}")
    if not first.runs:
        first = next(group for group in there if group.runs)
    report = compare(first, [group for group in there if group is not first],
                     dataclasses.replace(settings, allow_different_plans=True), by, prover)
    report.remarks[:0] = collection.remarks + missing(collection)
    return report


def compare_runs(path, baseline, settings, prover):
    """The report of weir-compare on a campaign's complete runs at fixed rates. `path`: its directory."""
    campaign = Campaign(path)
    campaign.plan = campaign.read_plan()
    report = comparison(collect(campaign), baseline, settings=settings, prover=prover)
    if report is None:
        raise ReportError(f"{path}: fewer than two settings have complete runs")
    return report


def _of_limits(collection, made, settings):
    if not collection.capacity or not any(search.complete for setting in collection.capacity.settings
                                          for search in setting.searches):
        return None
    report = compare_capacities(collection.capacity, made, settings)
    report.remarks[:0] = collection.remarks + missing(collection)
    return report


def missing(collection):
    """Sentences on the runs that are not there."""
    if collection.capacity:
        return unfinished(collection.capacity)
    left = [measured for measured in collection.points if not measured.run]
    if not left:
        return []
    number = {}
    for measured in left:
        number[measured.state.state] = number.get(measured.state.state, 0) + 1
    states = ", ".join(f"{count} {state}" for state, count in number.items())
    return [f"{len(left)} of {counted(len(collection.points), 'run')} {'is' if len(left) == 1 else 'are'} missing: "
            f"{states}."]


def not_set(collection):
    """Why settings have no run, for the switch did not have them, and what it answered last: lines."""
    why = {collection.setting_name(measured.point): measured.state.reason for measured in collection.points
           if measured.state.state in NOT_SET}
    return [*(f"{name} was not measured: {reason}." for name, reason in why.items()),
            *(line for one in collection.switch for answer in one["answers"] for line in ("", *answer.splitlines()))]
