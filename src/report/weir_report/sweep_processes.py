"""Several workers that share the claims of one submission, as processes of this machine."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

from .sweep_child import Child, Stop
from .sweep_worker import worker_for


def work(world, number, job, count, say):
    """Works on a submission with `count` processes. Exit status as Worker.work."""
    if count == 1:
        return worker_for(world, number, job, say).work()
    stop = Stop()
    stop.listen()
    package = str(Path(__file__).resolve().parents[1])
    words = [sys.executable, "-m", "weir_report.sweep_command", "work", str(world.campaign.directory), str(number), "--simulate"]
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))}
    group = _Group([Child(words, None, None, variables, own_session=True) for _ in range(count)])
    with stop.while_running(group):
        statuses = group.wait()
    worker_for(world, number, job, say).announce()
    return 128 + int(stop.signal) if stop else max(1 if status else 0 for status in statuses)


class _Group:
    def __init__(self, children):
        self._children = children

    def end(self, number):
        for child in self._children:
            child.end(number)

    def wait(self):
        return [child.wait(math.inf) for child in self._children]
