"""Checks of a campaign before anything is started: every setting goes through a dry run of weir, and the nodes, time and disk
space that it needs are added up. All errors are found here and reported together."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import math
import os
import subprocess
from pathlib import Path

from . import sweep_plan
from .errors import ReportError
from .sweep_file import seconds_of

# A row of a rank's file, and what there is once per run and rank (measured: 60 to 170 and some 1200 bytes).
ROW_BYTES = 200
RANK_BYTES = 2000
# What the campaign itself keeps of a run, in blocks of the file system.
RUN_BYTES = 32000
MESSAGES_MAX = 20
# A run that is late by this much hangs.
GRACE_S = 300.0


@dataclasses.dataclass(frozen=True)
class Forecast:
    """Of one setting. Times in seconds; None: the number of ranks decides, which is not known before."""

    plan: dict  # options in force
    producers: int | None
    consumers: int | None
    expected_s: float
    limit_s: float  # after which a run is ended
    warnings: tuple

    @property
    def ranks(self):
        return self.producers + self.consumers + 1 if self.producers and self.consumers else None

    def disk_bytes(self):
        seconds = seconds_of(self.plan["duration"]) + seconds_of(self.plan["warmup"]) + 2
        return int(RUN_BYTES + (self.ranks or 1) * (RANK_BYTES + seconds * ROW_BYTES))


def in_world(setting, world_options):
    """A setting's options where [local] or [simulation] change some."""
    changed = {key for key, _ in world_options}
    return tuple(pair for pair in setting.options if pair[0] not in changed) + tuple(world_options)


def check_world_options(sweep, world, options):
    """An axis that [local] overrides would not be one."""
    for key, _ in options:
        for axis in sweep.all_axes:
            if any(key == option for value in axis.values for option, _ in value.options):
                raise ReportError(f"{sweep.path}: {world}.{key}: the axis {axis.name} sets it; leave it out here")


def forecasts(weir, command, plan, world_options, start_s, directory):
    """Of all settings, by `weir run --dry-run` or `weir simulate --dry-run` (`command`) in `directory`. Raises ReportError
    that lists every setting that is refused."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        answers = list(pool.map(lambda setting: _dry_run(weir, command, in_world(setting, world_options), directory),
                                plan.settings))
    refused = {}
    for setting, (_, message) in zip(plan.settings, answers):
        if message:
            refused.setdefault(message, []).append(setting.name)
    if refused:
        raise ReportError(_refusal(refused, len(plan.settings)))
    return [_forecast(answer, start_s) for answer, _ in answers]


def _dry_run(weir, command, options, directory):
    """(what the dry run printed, None), or (None, why it failed)."""
    line = [weir, command, *option_words(options), "--dry-run", "--json"]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, cwd=directory,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            return None, lines[-1] if lines else f"weir {command} --dry-run exited with {done.returncode}"
        return json.loads(done.stdout), None
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return None, f"{weir} {command} --dry-run: {error}"


def option_words(options):
    return [word for key, value in options for word in (f"--{key}", value)]


def _refusal(refused, number):
    """One line if one thing is wrong everywhere, else a line for each."""
    bad = sum(len(names) for names in refused.values())
    lines = []
    for message, names in refused.items():
        where = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        if bad == number and len(refused) == 1:
            return f"every setting is refused: {message}"
        lines.append(f"  {where}: {message}")
    more = [f"  and {len(lines) - MESSAGES_MAX} more"] if len(lines) > MESSAGES_MAX else []
    return "\n".join([f"{bad} of {number} settings cannot be run:", *lines[:MESSAGES_MAX], *more])


def _forecast(answer, start_s):
    plan = answer["plan"]
    times = {key: seconds_of(plan[key]) for key in ("warmup", "duration", "drain")}
    planned = times["warmup"] + times["duration"]
    return Forecast(plan=plan,
                    producers=int(plan["producers"]) if plan.get("producers") else None,
                    consumers=int(plan["consumers"]) if plan.get("consumers") else None,
                    expected_s=planned + start_s,
                    limit_s=planned + times["drain"] + start_s + GRACE_S,
                    warnings=tuple(answer.get("warnings", ())))


# --- Nodes and jobs.


@dataclasses.dataclass(frozen=True)
class Nodes:
    """Of one job: by part, in the order of sbatch's command line. Homogeneous: one part, named ''."""

    parts: tuple  # of (name, number, ranks per node)

    @property
    def total(self):
        return sum(number for _, number, _ in self.parts)


def nodes_needed(sweep, all_forecasts):
    """All jobs of a campaign have the same nodes, those of the largest setting: runs that are compared begin from the same
    allocation. Raises ReportError if the file has too few."""
    slurm = sweep.slurm
    if slurm.parts:
        made = []
        for name, part in slurm.parts:
            need = 1 if name == "scheduler" else _most(all_forecasts, name, part.ranks_per_node)
            if need is None and part.nodes is None:
                raise ReportError(f"{sweep.path}: slurm.{name}.nodes: missing, and no option gives the number of {name}")
            if part.nodes is not None and need is not None and part.nodes < need:
                raise ReportError(f"{sweep.path}: slurm.{name}.nodes: {part.nodes} is too small; {need} are needed at "
                                  f"{part.ranks_per_node} ranks per node")
            made.append((name, part.nodes or need, part.ranks_per_node))
        return Nodes(tuple(made))
    needs = [_nodes_of(forecast, slurm) for forecast in all_forecasts if forecast.ranks]
    if slurm.nodes is None and len(needs) < len(all_forecasts):
        raise ReportError(f"{sweep.path}: slurm.nodes: missing, and no option gives the numbers of producers and consumers")
    number = slurm.nodes or max(needs)
    if slurm.scheduler and needs and number < max(needs):
        raise ReportError(f"{sweep.path}: slurm.nodes: {number} is too small for scheduler = \"{slurm.scheduler}\"; "
                          f"{max(needs)} are needed at {slurm.ranks_per_node} ranks per node")
    return Nodes((("", number, slurm.ranks_per_node),))


def _most(all_forecasts, part, per_node):
    numbers = [getattr(forecast, part) for forecast in all_forecasts]
    return None if None in numbers else max(math.ceil(number / per_node) for number in numbers)


def _nodes_of(forecast, slurm):
    own = 0 if slurm.scheduler in ("producers", "consumers") else 1
    return (math.ceil(forecast.producers / slurm.ranks_per_node) + math.ceil(forecast.consumers / slurm.ranks_per_node) + own)


def job_times(plan, points, all_forecasts, switch):
    """Expected and longest time of a job that runs these points, in seconds."""
    changes = sweep_plan.changes(plan, points) if switch and switch.on_change else 0
    change_s = switch.change_s if switch else 0.0
    expected = sum(all_forecasts[point.setting].expected_s for point in points) + changes * change_s
    # Buffers that take the whole drain to empty, and changes that take twice as long, are still in time.
    drains = sum(seconds_of(all_forecasts[point.setting].plan["drain"]) for point in points)
    return expected, expected + drains + changes * change_s + 120.0


def check_disk(directory, needed):
    """Raises ReportError if the file system does not have that much; asks the directory that exists."""
    place = Path(directory)
    while not place.exists():
        place = place.parent
    free = os.statvfs(place)
    available = free.f_bavail * free.f_frsize
    if available < needed:
        raise ReportError(f"{directory}: its file system has {available / 1e6:.0f} MB left; the campaign needs about "
                          f"{needed / 1e6:.0f} MB. Make room, or name another place with --out")
    return available
