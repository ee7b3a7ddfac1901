"""What a campaign needs: nodes, time and disk space."""

from __future__ import annotations

import dataclasses
import math
import os
from pathlib import Path

from ..basics.errors import ReportError
from ..basics.quantities import seconds_of
from . import run_plan


@dataclasses.dataclass(frozen=True)
class Nodes:
    """Nodes of one job by part, in the order of sbatch's command line. Homogeneous: one part, named ''."""

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
    changes = run_plan.changes(plan, points) if switch and switch.on_change else 0
    change_s = switch.change_s if switch else 0.0
    expected = sum(all_forecasts[point.setting].expected_s for point in points) + changes * change_s
    reading = 2 * switch.read_limit_s * len(points) if switch and switch.read else 0.0
    # Buffers that take the whole drain to empty, and changes that take twice as long, are still in time.
    drains = sum(seconds_of(all_forecasts[point.setting].plan["drain"]) for point in points)
    return expected, expected + drains + changes * change_s + reading + 120.0


def check_disk(directory, needed):
    """Raises ReportError if the file system does not have that much; looks at the directory that exists."""
    place = Path(directory)
    while not place.exists():
        place = place.parent
    free = os.statvfs(place)
    available = free.f_bavail * free.f_frsize
    if available < needed:
        raise ReportError(f"{directory}: its file system has {available / 1e6:.0f} MB left; the campaign needs about "
                          f"{needed / 1e6:.0f} MB. Make room, or name another place with --out")
    return available
