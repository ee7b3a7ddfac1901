"""The worker of a submission: in a job, here, or several as processes of this machine that share its claims."""

from __future__ import annotations

import math
import os
import sys

from ..basics.child import Child, Stop
from ..basics.errors import ReportError
from ..basics.programs import PACKAGE_ROOT
from ..basics.units import counted
from .worker import Worker


def worker_for(world, number, job, say=print):
    if world.plan.find:
        from .find_worker import FindWorker  # what most commands need not load
        return FindWorker(world, number, job, say)
    return Worker(world, number, job, say)


def work(world, number, job, count, say, quiet=False):
    """Works on a submission with `count` processes; `quiet`: they print nothing. Exit status as Worker.work."""
    if count == 1:
        return worker_for(world, number, job, say).work()
    stop = Stop()
    with stop.listening():
        statuses = _statuses(world, number, count, quiet, stop)
        worker_for(world, number, job, say).announce()
    return 128 + int(stop.signal) if stop else max(1 if status else 0 for status in statuses)


def _statuses(world, number, count, quiet, stop):
    """Exit statuses of so many processes that share the submission."""
    words = [sys.executable, "-m", "weir_report.sweep_command", "work", str(world.campaign.directory), str(number), "--simulate"]
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, (str(PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))}
    with open(os.devnull, "wb") as nowhere:
        group = _Group([Child(words, nowhere if quiet else None, None, variables, own_session=True) for _ in range(count)])
    with stop.while_running(group):
        return group.wait()


class _Group:
    def __init__(self, children):
        self._children = children

    def end(self, number):
        for child in self._children:
            child.end(number)

    def wait(self):
        return [child.wait(math.inf) for child in self._children]


def work_in_job(world, number):
    """What one of the workers of a submission does: a job, or a process beside others."""
    claims = world.submissions()
    if not 1 <= number <= len(claims):
        raise ReportError(f"{world.directory / 'submissions'}: there is no submission {number}")
    worker = worker_for(world, number, claims[number - 1].record["job"])
    worker.announces = world.name == "slurm"
    status = worker.work()
    if worker.announces:
        print(f"{counted(len(worker.outcomes), 'run')}, {worker.outcomes.count('complete')} complete", file=sys.stderr)
    return status
