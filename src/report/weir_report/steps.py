"""A short run as its charts over time draw it: by its short rows (bursts/), of which there are 20 or more in the measured time where
rows of seconds would be a few points. weir writes them for every run of less than 20 s (src/config/row_interval.hpp)."""

import math

import numpy as np

from .rows import Rows
from .units import text

# Runs with as many rows of seconds are drawn by those.
SECONDS_ENOUGH = 20
# More steps than this are not told apart, and values of all ranks and steps need memory.
STEPS_MAX = 600
VALUES_MAX = 500_000
# Warm-up and drain are shown for this part of the measured time.
AROUND = 0.5


def drawn(run):
    """The run with rows of steps in place of those of seconds, or the run itself where it has no short rows or too many."""
    interval, duration = run.resolved.get("row_interval_s"), run.resolved.get("duration_s")
    if not interval or not duration or duration >= SECONDS_ENOUGH or not (run.directory / "bursts").is_dir():
        return run
    steps = (1 + 2 * AROUND) * duration / interval
    ranks = max(run.resolved["producers"], run.resolved["consumers"])
    return InSteps(run, interval) if steps <= STEPS_MAX and steps * ranks <= VALUES_MAX else run


class InSteps:
    """All that a Run has, but rows by the step. Columns that short rows lack are not in them: see by_second()."""

    def __init__(self, run, step_s):
        self.run, self.step_s = run, step_s
        # Rates are those of each step.
        self.record = {**run.record, "rate_window_s": 1}

    def __getattr__(self, name):
        return getattr(self.run, name)

    def rows(self, role):
        key = ("steps", role)
        if key not in self.run.known:
            self.run.known[key] = self._rows(role)
        return self.run.known[key]

    def _rows(self, role):
        duration = self.run.resolved["duration_s"]
        first, end = -AROUND * duration, (1 + AROUND) * duration
        bursts, = self.run.bursts(role, ((math.floor(first), math.ceil(end) - 1),))
        inside = (bursts.begins > first - self.step_s / 2) & (bursts.begins < end - self.step_s / 2)
        inside &= np.isfinite(bursts.column("covered_s")).any(axis=0)
        begins = np.round(bursts.begins[inside], 3)
        phases = np.where(begins < 0, "warmup", np.where(begins < duration - 1e-9, "measure", "drain")).astype(object)
        return Rows(begins, phases, {name: matrix[:, inside] for name, matrix in bursts.columns.items()})


def by_second(run):
    """The same run by its rows of seconds."""
    return run.run if isinstance(run, InSteps) else run


def length_s(run):
    """Of a row."""
    return run.step_s if isinstance(run, InSteps) else 1.0


def each(run):
    """What a row is of: second; step of 20 ms."""
    return f"step of {text(run.step_s, 's')}" if isinstance(run, InSteps) else "second"
