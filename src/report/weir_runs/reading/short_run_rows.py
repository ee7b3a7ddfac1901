"""A short run as its charts over time draw it: by its short rows (bursts/), of which there are 20 or more in the
measured time where rows of seconds would be a few points. weir writes them for every run of less than 20 s
(src/config/passes.hpp)."""

import math

import numpy as np

from ..basics.units import text
from .rows import Rows

# Runs with as many rows of seconds are drawn by those.
SECONDS_ENOUGH = 20
# More steps than this are not told apart, and values of all ranks and steps need memory.
STEPS_MAX = 600
VALUES_MAX = 500_000
# Warm-up and drain are shown for this part of the measured time.
AROUND = 0.5


def drawn(run):
    """The run with rows of steps in place of those of seconds, or the run itself where it has no short rows or too
    many."""
    interval, duration = run.resolved.get("row_interval_s"), run.resolved.get("duration_s")
    if not interval or not duration or duration >= SECONDS_ENOUGH or not (run.directory / "bursts").is_dir():
        return run
    steps = (1 + 2 * AROUND) * duration / interval
    ranks = max(run.resolved["producers"], run.resolved["consumers"])
    if steps > STEPS_MAX or steps * ranks > VALUES_MAX:
        return run
    return InSteps(run, interval, 0.0, duration, AROUND * duration)


class InSteps:
    """All that a Run has, but rows by the step, those that begin from `begin` to `end` and in the time `around` these
    (s), which counts as warm-up and drain. Columns that short rows lack are not in them: see by_second(). `read`:
    stretches of whole seconds that are read together, one of which has all this; `in_ms`: rows have their time from
    `begin` on in ms, in place of that of the run in s."""

    def __init__(self, run, step_s, begin, end, around, *, read=None, in_ms=False):
        self.run, self.step_s, self.begin, self.end, self.around, self.in_ms = run, step_s, begin, end, around, in_ms
        self.read = read or ((math.floor(begin - around), math.ceil(end + around) - 1),)
        # Rates are those of each step.
        self.record = {**run.record, "rate_window_s": 1}

    def __getattr__(self, name):
        return getattr(self.run, name)

    def rows(self, role):
        key = ("steps", role, self.begin, self.end, self.around)
        if key not in self.run.known:
            self.run.known[key] = self._rows(role)
        return self.run.known[key]

    def _rows(self, role):
        first, end = self.begin - self.around, self.end + self.around
        bursts = next(bursts for stretch, bursts in zip(self.read, self.run.bursts(role, self.read))
                      if stretch[0] <= first and end <= stretch[1] + 1)
        inside = (bursts.begins > first - self.step_s / 2) & (bursts.begins < end - self.step_s / 2)
        inside &= np.isfinite(bursts.column("covered_s")).any(axis=0)
        begins = np.round(bursts.begins[inside], 3)
        phases = np.where(begins < self.begin, "warmup", np.where(begins < self.end - 1e-9, "measure",
                                                                  "drain")).astype(object)
        times = np.round(1000 * (begins - self.begin), 3) if self.in_ms else begins
        return Rows(times, phases, {name: matrix[:, inside] for name, matrix in bursts.columns.items()})


def by_second(run):
    """The same run by its rows of seconds."""
    return run.run if isinstance(run, InSteps) else run


def length(run):
    """Length of a row, in what its rows have as time."""
    return run.step_s * (1000 if run.in_ms else 1) if isinstance(run, InSteps) else 1.0


def each(run):
    """What a row is of: second; step of 20 ms."""
    return f"step of {text(run.step_s, 's')}" if isinstance(run, InSteps) else "second"
