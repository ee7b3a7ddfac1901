"""A campaign as text and as JSON: what is planned, and its progress."""

import dataclasses
import math

from weir_runs.basics.units import counted, duration, number, text
from weir_runs.reading import capacity, plan_pressure
from . import dry_runs, find_text, run_plan, simulate
from .campaign import STATES, counts
from .find_state import FindState
from .submission import job_limit_s

WHERE = {"slurm": "in SLURM", "local": "on this machine", "simulation": "in the simulator"}
NAMED_MAX = 20


def plan_record(prepared, search=None):
    """What `plan --json` prints. `search`: see plan_lines."""
    jobs = run_plan.split(prepared.points, prepared.job_size)
    expected = sum(prepared.job_times(part)[0] for part in jobs)
    record = {
        "schema": "weir-sweep-plan/1",
        "world": prepared.world,
        "directory": str(prepared.campaign.directory),
        "settings": len(prepared.plan.settings),
        "repetitions": prepared.plan.repetitions,
        "runs": len(prepared.points),
        "changes": sum(run_plan.changes(prepared.plan, part) for part in jobs) if prepared.hook else 0,
        "expected_s": expected if prepared.world != "simulation" else None,
        "expected_cpu_s": simulate.expected_cpu_s(prepared) if prepared.world == "simulation" else None,
        "disk_bytes": prepared.disk_bytes,
        "pressure": {setting.name: forecast.pressure
                     for setting, forecast in zip(prepared.plan.settings, prepared.forecasts)},
        "capacity": None,
        "jobs": None,
        "plan": run_plan.as_record(prepared.plan),
    }
    if search:
        searched = plan_record(search)
        record["capacity"] = {key: searched[key] for key in ("runs", "most_runs", "expected_s", "most_s")}
    if prepared.plan.find:
        most = prepared.most_runs / len(prepared.points)
        record |= {
            "most_runs": prepared.most_runs,
            "most_s": expected * most if prepared.world != "simulation" else None,
            "find": dataclasses.asdict(prepared.plan.find),
            "ranges": {setting.name: [prepared.spaces[setting.index].least, prepared.spaces[setting.index].most]
                       for setting in prepared.searched},
        }
    if prepared.world == "slurm":
        record["jobs"] = {
            "number": len(jobs),
            "runs_per_job": prepared.job_size,
            "nodes": prepared.nodes.total,
            "parts": {name or "all": number for name, number, _ in prepared.nodes.parts},
            "time_limit_s": 60 * math.ceil(job_limit_s(prepared, prepared.points) / 60),
            "node_hours": expected / 3600.0 * prepared.nodes.total,
        }
    return record


def plan_lines(prepared, with_points=True, search=None):
    """What the campaign will cost, and in which order it runs. `search`: the same settings prepared with find = "rate",
    of which the cost is told, too."""
    record = plan_record(prepared, search)
    lines = [_runs_line(prepared, record)]
    if prepared.plan.find:
        lines += find_text.plan_lines(prepared)
    lines += {"slurm": _cost, "local": _local_cost, "simulation": _simulated_cost}[prepared.world](prepared, record)
    if search:
        capacity_of = record["capacity"]
        lines.append("capacity    with find = \"rate\" instead (how much each setting carries): about "
                     f"{counted(capacity_of['runs'], 'run')}, {duration(capacity_of['expected_s'])}; at most "
                     f"{duration(capacity_of['most_s'])}")
    lines += [*_checks(prepared), *_axes(prepared), *_order(prepared, record), *_pressure(prepared)]
    lines.append(f"disk        about {text(record['disk_bytes'], 'B')} in {record['directory']} "
                 f"({text(prepared.free_bytes, 'B')} free)")
    lines += _warnings(prepared)
    # With `find`, which runs there are depends on their outcomes.
    return lines + (_points(prepared) if with_points and not prepared.plan.find else [])


def _checks(prepared):
    """What is done besides the runs."""
    if prepared.sweep.check_s and prepared.world != "simulation":
        yield ("check       weir check before the first run of each switch setting of a job "
               f"({prepared.sweep.check_s:g} s of data)")
    if prepared.read:
        every = prepared.read["every_s"]
        yield (f"read        switch, before and after each run{f' and every {every:g} s' if every else ''}: "
               f"{prepared.read['command']}")
    if prepared.verify:
        yield f"verify      what the switch has, before and after each run: {prepared.verify['command']}"


def _axes(prepared):
    left_out = prepared.campaign.world(prepared.world).axes_left_out()
    for axis in prepared.sweep.all_axes:
        note = " (makes no difference here)" if axis.name in left_out else ""
        yield f"axis        {axis.name}: " + ", ".join(value.name for value in axis.values) + note


def _warnings(prepared):
    plan, warnings = prepared.plan, {}
    if prepared.world == "simulation":
        yield from (f"warning     {sentence}" for sentence in run_plan.same_simulations(plan))
    for setting, forecast in zip(plan.settings, prepared.forecasts):
        for warning in forecast.warnings:
            warnings.setdefault(warning, []).append(setting.name)
    for warning, names in warnings.items():
        who = "all settings" if len(names) == len(plan.settings) else ", ".join(names[:3])
        yield f"warning     {warning} ({who})"


def _points(prepared):
    shown = prepared.points if len(prepared.points) <= 2 * NAMED_MAX else prepared.points[:NAMED_MAX]
    lines = ["", "run   repetition  setting",
             *(f"{point.name}  {point.repetition:<10}  {prepared.plan.setting_of(point).name}" for point in shown)]
    if len(shown) < len(prepared.points):
        lines.append(f"... and {len(prepared.points) - len(shown)} more (--json has all)")
    return lines


def _pressure(prepared):
    """How much can be under way into a port, and from where on settings of the switch act."""
    known = [(setting.name, forecast.pressure) for setting, forecast in zip(prepared.plan.settings, prepared.forecasts)
             if forecast.pressure]
    told = {}
    for name, pressure in known:
        entries = pressure["settings"]
        for sentence in (pressure["text"], *([pressure["unknown"]] if pressure["unknown"] else []),
                         *map(plan_pressure.sentence, entries)):
            told.setdefault(sentence, []).append(name)
    lines = []
    for sentence, names in told.items():
        who = "" if len(names) == len(known) else f" ({', '.join(names[:3])})"
        lines.append(f"{'' if lines else 'pressure':<12}{sentence}{who}")
    entries = [entry for _, pressure in known for entry in pressure["settings"]]
    have_all = len(known) > 1 and all(pressure["settings"] for _, pressure in known)
    if have_all and not any(entry["can_act"] for entry in entries):
        nearest = max(entries, key=lambda entry: entry["pressure"])
        lines.append("warning     settings of the switch cannot differ in this plan, for none can act; they can with "
                     + nearest["remedy"])
    return lines


def _runs_line(prepared, record):
    plan, runs = prepared.plan, record["runs"]
    if plan.find:
        return (f"{plan.name}: {counted(len(prepared.searched), 'setting')}, {counted(plan.find.rounds, 'round')}: "
                f"about {counted(runs, 'run')}, at most {prepared.most_runs}, {WHERE[prepared.world]}")
    return (f"{plan.name}: {counted(len(plan.settings), 'setting')} x {counted(plan.repetitions, 'repetition')}"
            + (f" = {counted(runs, 'run')}" if runs == len(plan.points) else f", {runs} different runs")
            + f" {WHERE[prepared.world]}")


def _local_cost(prepared, record):
    most = f", at most {duration(record['most_s'])}" if prepared.plan.find else ""
    return [f"time        about {duration(record['expected_s'])}{most}"]


def _simulated_cost(prepared, _):
    seconds, number = simulate.expected_cpu_s(prepared), simulate.processes(prepared)
    if seconds is None:
        return ["time        is shown after the first runs"] if prepared.plan.find else []
    here = f", {duration(simulate.expected_s(prepared, number))} on {counted(number, 'core')}" if number > 1 else ""
    most = (f"; at most {duration(seconds * prepared.most_runs / len(prepared.points))} of one core"
            if prepared.plan.find else "")
    return [f"time        about {duration(seconds)} of one core{here} (from the number of packets){most}"]


def _cost(prepared, record):
    jobs, slurm = record["jobs"], prepared.sweep.slurm
    parts = jobs["parts"]
    by_part = ", ".join(f"{number} for {'the scheduler' if name == 'scheduler' else name}"
                        for name, number in parts.items())
    nodes = counted(jobs["nodes"], "node") + ("" if "all" in parts else f" ({by_part})")
    each = "one job" if jobs["number"] == 1 else f"{jobs['number']} jobs" + (
        ", one after the other" if slurm.concurrent == 1 else f", {slurm.concurrent} at a time")
    kind = "" if slurm.parts or jobs["number"] == 1 else " (a job array)"
    memory = max(dry_runs.needed_bytes(forecast, *part) for forecast in prepared.forecasts
                 for part in prepared.nodes.parts)
    return [f"jobs        {each}{kind}, {counted(jobs['runs_per_job'], 'run')} each on {nodes}, "
            f"time limit {duration(jobs['time_limit_s'])}",
            f"time        about {duration(record['expected_s'] / slurm.concurrent)} without waiting in the queue",
            f"node hours  {number(jobs['node_hours'])}",
            *([f"memory      {text(memory, 'B')} for data on the node that needs most"] if memory else [])]


def _order(prepared, record):
    plan = prepared.plan
    if plan.find and (plan.settings[0].switch is None or prepared.world == "simulation"):
        return ["order       all settings take turns, every second step in reverse (A B B A)"]
    if plan.settings[0].switch is None or prepared.world == "simulation":
        return [f"order       random, seed {plan.seed}: each repetition goes through all settings"]
    one = "step" if plan.find else "repetition"
    hold = f"each {one}" if plan.hold == 1 else f"each block of {plan.hold} {one}s"
    lines = [f"order       random, seed {plan.seed}: {hold} goes through all switch settings, every second one in "
             "reverse (A B B A)"]
    if plan.hold >= plan.repetitions and not plan.find:
        lines.append("warning     hold: all repetitions of a switch setting follow each other, so a drift looks like a "
                     "difference")
    if prepared.hook:
        lines.append(f"switch      set {counted(record['changes'], 'time')} by: {prepared.hook}")
    else:
        lines.append("warning     switch: no on-change, so it is not set; runs are only labelled")
    return lines


# --- Progress.


def status_record(world, states):
    return {
        "world": world.name,
        "runs": len(states),
        "states": {state: number for state, number in counts(states).items() if number},
        "points": [{
            "point": state.point.name,
            "setting": world.plan.setting_of(state.point).name,
            "repetition": state.point.repetition,
            "state": state.state,
            "reason": state.reason,
            "attempts": len(state.attempts),
            "run_directory": str(state.directory) if state.directory else None
        } for state in states],
    } | ({"capacity": capacity.as_record(FindState(world).capacity())} if world.plan.find
         else {})


def status_lines(world, states, every):
    """One line of numbers, and the points that are neither complete nor waiting."""
    if world.plan.find:
        lines = find_text.status_lines(FindState(world), WHERE[world.name])
    else:
        number = counts(states)
        numbers = ", ".join(f"{number[state]} {state}" for state in STATES if number[state])
        lines = [f"{world.plan.name} {WHERE[world.name]}: {numbers}, of {counted(len(states), 'run')}"]
    shown = [state for state in states if every or state.state not in ("complete", "waiting")]
    for state in shown if every else shown[:NAMED_MAX]:
        tries = f", attempt {len(state.attempts)}" if len(state.attempts) > 1 else ""
        reason = f": {state.reason}" if state.reason else ""
        lines.append(f"  {state.point.name}  {_point_text(world.plan, state.point)}{tries}  {state.state}{reason}")
    if not every and len(shown) > NAMED_MAX:
        lines.append(f"  ... and {len(shown) - NAMED_MAX} more (--all)")
    return lines


def _point_text(plan, point):
    value = ", ".join(f"{key} {text}" for key, text in point.options[:1])
    return f"{plan.setting_of(point).name}, " + (f"{value}, round {point.repetition}"
                                                 if value else f"repetition {point.repetition}")
