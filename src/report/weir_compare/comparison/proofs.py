"""weir-compare --prove: why a simulated setting is worse than another, by counterfactuals. The worse one is simulated
again, by weir and with the seeds of its own runs, with one thing changed: an option as the better setting has it, or
without the mechanism that was counted. If it then does as well as the better one, this is the reason; if it does no
better, it is not. First its first run is made again unchanged: a weir that does not repeat it proves nothing.

Chosen: the whole run anew, judged by the figure that told the settings apart. (Rejected: verdict.causes of the worse
run, which says what would have put it on time, and nothing of a difference between two runs that were late, or between
two that were not.)"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from weir_runs.basics import programs, quantities, units
from weir_runs.basics.child import die_with_parent, handling
from weir_runs.basics.errors import ReportError
from weir_runs.reading.key_figures import COMPLETED, key_figures
from weir_runs.reading.run import read_run
from . import reasons

# If so much of the difference is gone, it does as well; if hardly any, it does no better.
AS_WELL, NO_BETTER = 0.8, 0.2
SEEDS_MAX = 3
OPTIONS_MAX = 6
PAIRS_MAX = 3
PROGRESS_S = 3.0
# In the plan of run.json, which is as it was after scaling: not options of a simulation that is made again.
_NOT_OPTIONS = ("scenario", "scale", "time-scale", "seed")
_NO_PLAN = ("output", "more")  # groups of options
# Given several times, they are one text with spaces there.
REPEATED = ("fault", "switch-set")
MORE_MEMORY = 100


@dataclasses.dataclass(frozen=True)
class Trial:
    """A simulation with one thing changed. `changed`: 'with consumer-link 10 Gb/s instead of 7 Gb/s'; `reason`: what is
    proved if it does as well; `own`, `got`, `aim`: the figure of the worse setting, of the trial and of the better
    setting, medians over the same seeds; `problem`: why it was not made."""

    worse: str
    better: str
    changed: str
    reason: str
    figure: object  # KeyFigure
    own: float | None = None
    got: float | None = None
    aim: float | None = None
    runs: int = 0
    problem: str = ""
    mechanism: bool = False

    @property
    def gone(self):
        """Which part of the difference is gone with the change; None: not known."""
        if None in (self.own, self.got, self.aim) or self.own == self.aim:
            return None
        return (self.own - self.got) / (self.own - self.aim)

    @property
    def is_cause(self):
        return self.gone is not None and self.gone >= AS_WELL

    @property
    def is_none(self):
        return self.gone is not None and self.gone <= NO_BETTER

    @property
    def text(self):
        """b with consumer-link 10 Gb/s instead of 7 Gb/s: longest delivery time 91 ms instead of 659 ms, as good as a
        (90.8 ms): a reason."""
        if self.problem or self.gone is None:
            return f"{self.worse} {self.changed}: cannot tell ({self.problem or 'the figure is not known'})"
        own, got, aim = (self.figure.text(value) for value in (self.own, self.got, self.aim))
        if self.figure.kind == "share":
            own, got = (f"{self.own * self.runs:.0f}",
                        f"in {self.got * self.runs:.0f} of {units.counted(self.runs, 'run')}")
        outcome = (f"as good as {self.better} ({aim}): a reason" if self.is_cause else
                   f"no better: not {'shown to be ' * self.mechanism}the reason ({self.better}: {aim})"
                   if self.is_none else
                   f"{units.percent(self.gone)} of the way to {self.better} ({aim}): part of the reason")
        return f"{self.worse} {self.changed}: {self.figure.head} {got} instead of {own}, {outcome}"


class Prover:
    """`limit_s`: of all simulations together. `say`: is called with a line on the progress from time to time."""

    def __init__(self, limit_s, say=lambda line: None):
        self._weir, self._limit_s, self._say = programs.find_weir(), limit_s, say
        self._deadline = None  # from the first simulation on
        self._pairs = {}

    @property
    def made(self):
        return [trial for trials in self._pairs.values() for trial in trials]

    def of(self, found, worse, better, options, mechanism):
        """Trials of two rows of the ranking; none if there is nothing that could be tried. `options`: of
        reasons.differences; `mechanism`: (name, words) of what was counted, or None."""
        key = worse.index, better.index
        if key not in self._pairs and len(self._pairs) < PAIRS_MAX:
            self._pairs[key] = self._trials(found, worse, better, options, mechanism)
        return self._pairs.get(key, ())

    def _trials(self, found, worse, better, options, mechanism):
        groups = found.groups[worse.index], found.groups[better.index]
        told = found.ranked.told[better.index][worse.index]
        runs = sorted(groups[0].runs, key=lambda run: int(run.plan.get("seed", 0)))[:SEEDS_MAX]
        simulated = all(run.world == "simulation" for group in groups for run in group.runs)
        if told is None or told.figure is COMPLETED or found.capacity is not None or not simulated:
            return ()
        middle = statistics.fmean if told.figure.kind == "share" else statistics.median
        seeds = {run.plan.get("seed") for run in runs}
        aims = [run for run in groups[1].runs if run.plan.get("seed") in seeds] or groups[1].runs
        own, aim = (_of(middle, told.figure, side) for side in (runs, aims))
        common = dict(worse=worse.setting, better=better.setting, figure=told.figure, own=own, aim=aim)
        # (what is said of each trial, options that it changes)
        wanted = [(dict(changed=f"with {option.opposite}",
                        reason=option.reason), option.changes)
                  for option in options[:OPTIONS_MAX]]
        without = _without(mechanism, runs[0]) if mechanism else None
        if without and without[1] not in [changes for _, changes in wanted]:
            wanted.append((dict(changed=without[0], reason=mechanism[1], mechanism=True), without[1]))
        made = []
        if reasons.is_experiment(*groups, options) and wanted:  # the better setting is that trial
            made.append(Trial(**common, **wanted.pop(0)[0], got=aim, runs=len(aims)))
        if not wanted:
            return tuple(made)
        if problem := self._not_repeated(runs[0], told.figure):
            return (*made, *(Trial(**common, **said, problem=problem) for said, _ in wanted))
        outcomes = self._simulate([(run, changes) for _, changes in wanted for run in runs], told.figure)
        for place, (said, _) in enumerate(wanted):
            values = outcomes[place * len(runs):(place + 1) * len(runs)]
            problem = next((value for value in values if isinstance(value, str)), "")
            got = None if problem or None in values else float(middle(values))
            made.append(Trial(**common, **said, problem=problem, got=got, runs=len(values)))
        return tuple(made)

    def _not_repeated(self, run, figure):
        """Why nothing is proved with this weir: a sentence; '' if it repeats the run."""
        value, recorded = self._simulate([(run, {})], figure)[0], key_figures(run)[figure.name]
        if isinstance(value, str):
            return value
        same = value == recorded or None not in (value, recorded) and abs(value - recorded) <= 1e-9 * abs(recorded)
        return ("" if same else f"this weir gives {figure.text(value)} instead of "
                                f"{figure.text(recorded)} for its first run")

    def _simulate(self, wanted, figure):
        """[value of the figure, or why there is none] of [(run, changed options)], on all cores."""
        began, shown, defaults = time.monotonic(), time.monotonic(), self._defaults
        self._deadline = self._deadline or began + self._limit_s
        with tempfile.TemporaryDirectory(prefix="weir-prove-") as top, _removed_at_signals(top), \
                concurrent.futures.ThreadPoolExecutor(programs.cores()) as pool:
            tasks = [pool.submit(self._one, (run, changes, Path(top) / str(place), defaults), figure)
                     for place, (run, changes) in enumerate(wanted)]
            left = set(tasks)
            while left:
                finished, left = concurrent.futures.wait(left, timeout=PROGRESS_S)
                now, done = time.monotonic(), len(tasks) - len(left)
                if left and now - shown >= PROGRESS_S:
                    shown = now
                    rest = f", about {units.duration((now - began) / done * len(left))} left" if done else ""
                    self._say(f"--prove: {done} of {len(tasks)} simulations{rest}, at most "
                              f"{units.duration(max(0.0, self._deadline - now))}")
            return [task.result() for task in tasks]

    @functools.cached_property
    def _defaults(self):
        return plan_defaults(self._weir, "simulate")

    def _one(self, what, figure):
        """`what`: arguments of command()."""
        left = self._deadline - time.monotonic()
        if left <= 0.0:
            return f"the time of --prove-limit, {units.text(self._limit_s, 's')}, was over"
        try:
            done = subprocess.run(command(self._weir, *what), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, timeout=left, check=False,
                                  preexec_fn=die_with_parent)
            if done.returncode not in (0, 3):
                return (done.stderr.strip().splitlines() or [f"weir ended with {done.returncode}"])[0][:200]
            return key_figures(read_run(what[2]))[figure.name]
        except subprocess.TimeoutExpired:
            return f"the time of --prove-limit, {units.text(self._limit_s, 's')}, was over"
        except ReportError as error:
            return str(error)
        finally:
            shutil.rmtree(what[2], ignore_errors=True)


def _removed_at_signals(directory):
    """A signal ends this process at once; nothing of it may stay. Simulations end with it (die_with_parent)."""
    def end(number, _):
        shutil.rmtree(directory, ignore_errors=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    return handling((signal.SIGINT, signal.SIGTERM), end)


def plan_defaults(weir, command_name):
    """{option: value} of those that a plan has."""
    return {option: default for group, option, default in programs.options_of(weir, command_name)
            if group not in _NO_PLAN}


def plan_options(run, defaults):
    """{option: text} that makes the run's plan again. run.json has every option in force, and some are refused beside
    others even with their default; what else it names is no option of a plan and is left out. `defaults`: of
    plan_defaults()."""
    return {option: value for option, value in run.plan.items()
            if option not in _NOT_OPTIONS and value != defaults.get(option, value)}


def command(weir, run, changes, directory, defaults):
    """Words that simulate a run again with some options changed. `changes`: {option: value; None: leave it out};
    'KEY.KEY' is a key of the switch. `defaults`: of all options of a plan."""
    plan = plan_options(run, defaults)
    keys = {option: value for option, value in changes.items() if "." in option}
    plan.update((option, value) for option, value in changes.items() if option not in keys)
    words = [word for option, value in plan.items() if value is not None
             for one in (value.split() if option in REPEATED else [value]) for word in (f"--{option}", one)]
    words += [word for key, value in keys.items() for word in ("--switch-set", f"{key}={value}")]
    return [programs.simulator(weir), "simulate", *words, "--seed", str(run.plan.get("seed", 1)), "--explain", "off",
            "--quiet", "--out", str(directory)]


def _of(middle, figure, runs):
    values = [value for run in runs if (value := key_figures(run)[figure.name]) is not None]
    return float(middle(values)) if values else None


def _without(mechanism, run):
    """(in words, changed options) of a run without a mechanism; None: there is no such run."""
    switch = (run.record["environment"].get("packet_network") or {}).get("switch", {})
    more = {f"switch.{key}": _times(switch[key]) for key in ("pool", "egress-threshold") if _times(switch.get(key))}
    return {
        "lossy": (f"with {MORE_MEMORY} times the memory in the switch", {**more, **_more_buffer(run)}),
        "held_back_by_pfc": ("without PFC", {"pfc": "off"}),
        "controlled_by_ecn": ("without ECN", {"ecn": "off"}),
        "slowed_by_cnp": ("without CNPs", {"dcqcn.on": "false"}),
        "blocked": ("without processing", {"busy": "none"}),
    }.get(mechanism[0])


def _more_buffer(run):
    """Where each port has a buffer of its own."""
    wanted = _times(run.plan.get("port-buffer"))
    return {"port-buffer": wanted} if wanted else {}


def _times(text):
    """MORE_MEMORY times a size; None if it is none, or 0."""
    try:
        return f"{MORE_MEMORY * quantities.size(str(text))}B"
    except quantities.QuantityError:
        return None
