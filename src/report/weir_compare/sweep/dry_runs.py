"""Checks the settings of a campaign before anything is started: each goes through a dry run of weir. All errors are
reported together."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import math
import os
import re
import shlex
import subprocess
from pathlib import Path

from weir_runs.basics import programs, units
from weir_runs.basics.errors import ReportError
from weir_runs.basics.quantities import seconds_of
from . import run_plan

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
    """For one setting. Times in seconds; None: it depends on the number of ranks, which is not known before."""

    plan: dict  # options in force
    producers: int | None
    consumers: int | None
    expected_s: float
    limit_s: float  # after which a run is ended
    warnings: tuple
    # For one simulation.
    memory_bytes: float = 0.0
    cpu_s: float | None = None  # known with packets only
    burst_bytes: float = 0.0  # of one run, with --row-interval
    pressure: dict | None = None  # as in the dry run; None: the layout is not known
    # For the data of one rank of a run; None: not known.
    producer_bytes: float | None = None
    consumer_bytes: float | None = None

    @property
    def ranks(self):
        return self.producers + self.consumers + 1 if self.producers and self.consumers else None

    def disk_bytes(self):
        seconds = seconds_of(self.plan["duration"]) + seconds_of(self.plan["warmup"]) + 2
        return int(RUN_BYTES + self.burst_bytes + (self.ranks or 1) * (RANK_BYTES + seconds * ROW_BYTES))


def in_world(setting, world_options, simulated, of_point=()):
    """A setting's options where [local] or [simulation] change some, in the simulator what stands for the switch, and
    what one point changes."""
    options = _changed(run_plan.simulated_options(setting) if simulated else setting.options, world_options)
    return _changed(_changed(options, setting.simulate) if simulated else options, of_point)


def _changed(options, by):
    changed = {key for key, _ in by}
    return tuple(pair for pair in options if pair[0] not in changed) + tuple(by)


def check_world_options(sweep, world, options):
    """An axis that [local] overrides would not be one."""
    for key, _ in options:
        for axis in sweep.all_axes:
            if any(key == option for value in axis.values for option, _ in value.options):
                raise ReportError(f"{sweep.path}: {world}.{key}: the axis {axis.name} sets it; leave it out here")


def forecasts(weir, command, plan, world_options, start_s, directory):
    """For all settings, by `weir run --dry-run` or `weir simulate --dry-run` (`command`) in `directory`. Raises
    ReportError that lists every setting that is refused."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda setting: dry_run(
            weir, command, in_world(setting, world_options, command == "simulate"), directory,
            label_words(plan, setting.values, setting.tags)), plan.settings))
    refused = {}
    for setting, (_, message) in zip(plan.settings, results):
        if message:
            refused.setdefault(message, []).append(setting.name)
    if refused:
        raise ReportError(_refusal(refused, len(plan.settings)))
    return [_forecast(document, start_s) for document, _ in results]


# What slurm/sites leaves to be filled in, in capitals.
PLACEHOLDERS = ("ACCOUNT", "PARTITION", "VENDOR MODEL, OPERATING SYSTEM AND VERSION", "KMIN-KMAX-PMAX",
                "MODEL AND FIRMWARE")
_IN_COMMANDS = re.compile(r"(?:^|[@ ])LEAF\b|(?:^| )/path/to/")


def refuse_placeholders(sweep, world="slurm"):
    """Raises ReportError if a sweep file that is for a cluster, or for hosts without SLURM, still has some. In the
    simulator they do no harm."""
    parts = [sweep.slurm, *(part for _, part in sweep.slurm.parts)] if world == "slurm" else []
    found = [option for part in parts for option in part.sbatch if option.partition("=")[2] in PLACEHOLDERS]
    found += [f"tags.{name} = \"{value}\"" for name, value in sweep.tags if value in PLACEHOLDERS]
    commands = sweep.switch.commands if sweep.switch else {}
    found += [f"switch.{name} = \"{command}\"" for name, command in commands.items() if command
              and _IN_COMMANDS.search(command)]
    if found:
        raise ReportError(f"{sweep.path}: placeholders are to be filled in, or left out: {', '.join(found)}")


_HOST_FILES = ("--hostfile", "-hostfile", "--machinefile", "-machinefile", "--default-hostfile")
# What runs the file behind it.
_INTERPRETERS = ("sh", "bash", "dash", "python", "python3", "perl")


def refuse_missing_files(sweep):
    """Raises ReportError if a command or a file that runs on this machine need is not there: all of them would fail."""
    base, launcher = sweep.path.parent, sweep.local.launcher
    problems = [("local.launcher", _program_problem(word, base)) for word in launcher[:1]]
    problems += [("local.launcher", _file_problem(name, base)) for name in _host_files(launcher)]
    commands = sweep.switch.commands if sweep.switch else {}
    problems += [(f"switch.{key}", _command_problem(command, base)) for key, command in commands.items() if command]
    found = [f"{key}: {problem}" for key, problem in problems if problem]
    if found:
        raise ReportError(f"{sweep.path}: {'; '.join(found)}")


def _host_files(launcher):
    behind = [value for option, value in zip(launcher, launcher[1:]) if option in _HOST_FILES]
    return behind + [value for option, _, value in (word.partition("=") for word in launcher) if option in _HOST_FILES
                     and value]


def _command_problem(command, base):
    """Why a shell command cannot begin; None: it can, or that is not told without a shell."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    plain = [word for word in words[:2] if re.fullmatch(r"[\w./+-]+", word)]
    if not words or plain[:1] != words[:1]:
        return None
    if words[0] in _INTERPRETERS and len(plain) == 2 and not plain[1].startswith("-"):
        return _file_problem(plain[1], base)
    return _program_problem(words[0], base)


def _program_problem(word, base):
    if "/" in word:
        return _file_problem(word, base) or (None if os.access(base / word, os.X_OK)
                                             else f"'{word}' may not be executed (chmod +x)")
    known = subprocess.run(["/bin/sh", "-c", 'command -v "$1"', "sh", word], cwd=base, capture_output=True,
                           check=False).returncode == 0
    return None if known else f"there is no command '{word}'"


def _file_problem(name, base):
    return None if (base / name).exists() else f"there is no file '{name}'" + ("" if os.path.isabs(name)
                                                                               else f" in {base}")


def label_words(plan, values, tags):
    """The options by which runs are told apart: `values` of axes, tags, and the sweep's name."""
    words = ["--label", " ".join(f"{axis}={value}" for axis, value in values) or plan.name]
    for key, value in (*tags, ("sweep", plan.name)):
        words += ["--tag", f"{key}={value}"]
    return words


def dry_run(weir, command, options, directory, labels=()):
    """(what the dry run printed, None), or (None, why it failed). `labels`: what the runs are called, which weir
    checks, too."""
    line = [programs.simulator(weir) if command == "simulate" else weir, command, *option_words(options), *labels,
            "--dry-run", "--json"]
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
        if bad == number and len(refused) == 1:
            return f"every setting is refused: {message}"
        lines.append(f"  {units.listed(names)}: {message}")
    more = [f"  and {len(lines) - MESSAGES_MAX} more"] if len(lines) > MESSAGES_MAX else []
    return "\n".join([f"{bad} of {number} settings cannot be run:", *lines[:MESSAGES_MAX], *more])


def _forecast(document, start_s):
    plan = document["plan"]
    times = {key: seconds_of(plan[key]) for key in ("warmup", "duration", "drain")}
    planned = times["warmup"] + times["duration"]
    return Forecast(plan=plan,
                    producers=int(plan["producers"]) if plan.get("producers") else None,
                    consumers=int(plan["consumers"]) if plan.get("consumers") else None,
                    expected_s=planned + start_s,
                    limit_s=planned + times["drain"] + start_s + GRACE_S,
                    warnings=tuple(document.get("warnings", ())),
                    memory_bytes=_memory_bytes(document),
                    cpu_s=(document.get("packets") or {}).get("cpu_seconds"),
                    burst_bytes=(document.get("bursts") or {}).get("bytes") or 0.0,
                    pressure=document.get("pressure"),
                    producer_bytes=(document.get("per_producer") or {}).get("memory_bytes"),
                    consumer_bytes=(document.get("per_consumer") or {}).get("memory_bytes"))


def _memory_bytes(document):
    """Memory of a simulation: 130 MB were measured for 4501 ranks without packets."""
    ranks = (document.get("all") or {}).get("ranks") or 0
    bursts = document.get("bursts") or {}
    of_bursts = 20e3 * ranks + 112.0 * (bursts.get("rows_per_second") or 0.0) if bursts else 0.0
    return 32e6 + 32e3 * ranks + of_bursts + 2.0 * ((document.get("packets") or {}).get("memory_bytes") or 0.0)


# --- What a campaign needs: nodes, time and disk space.


@dataclasses.dataclass(frozen=True)
class Nodes:
    """Nodes of one job by part, in the order of sbatch's command line. Homogeneous: one part, named ''."""

    parts: tuple  # of (name, number, ranks per node)

    @property
    def total(self):
        return sum(number for _, number, _ in self.parts)


def nodes_needed(sweep, all_forecasts):
    """All jobs of a campaign have the same nodes, those of the largest setting: runs that are compared begin from the
    same allocation. Raises ReportError if the file has too few."""
    slurm = sweep.slurm
    if slurm.parts:
        made = []
        for name, part in slurm.parts:
            need = 1 if name == "scheduler" else _most(all_forecasts, name, part.ranks_per_node)
            if need is None and part.nodes is None:
                raise ReportError(
                    f"{sweep.path}: slurm.{name}.nodes: missing, and no option gives the number of {name}")
            if part.nodes is not None and need is not None and part.nodes < need:
                raise ReportError(f"{sweep.path}: slurm.{name}.nodes: {part.nodes} is too small; {need} are needed at "
                                  f"{part.ranks_per_node} ranks per node")
            made.append((name, part.nodes or need, part.ranks_per_node))
        return Nodes(tuple(made))
    needs = [_nodes_of(forecast, slurm) for forecast in all_forecasts if forecast.ranks]
    if slurm.nodes is None and len(needs) < len(all_forecasts):
        raise ReportError(f"{sweep.path}: slurm.nodes: missing, and no option gives the numbers of producers and "
                          "consumers")
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
    return (math.ceil(forecast.producers / slurm.ranks_per_node) + math.ceil(forecast.consumers / slurm.ranks_per_node)
            + own)


def job_times(plan, points, all_forecasts, switch):
    """Expected and longest time of a job that runs these points, in seconds."""
    changes = run_plan.changes(plan, points) if switch and switch.on_change else 0
    change_s = switch.change_s + switch.settle_s if switch else 0.0
    expected = sum(all_forecasts[point.setting].expected_s for point in points) + changes * change_s
    commands = sum(map(bool, (switch.read, switch.verify))) if switch else 0
    reading = 2 * switch.read_limit_s * len(points) * commands if switch else 0.0
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
        raise ReportError(f"{directory}: its file system has {units.text(available, 'B')} left; the campaign needs "
                          f"about {units.text(needed, 'B')}. Make room, or name another place with --out")
    return available


# --- The memory that jobs ask for, beside what a node needs for the data of its ranks.

_MIB = {"K": 1.0 / 1024.0, "M": 1.0, "": 1.0, "G": 1024.0, "T": 1024.0 ** 2}


def check_memory(sweep, settings, forecasts, nodes):
    """Raises ReportError if a setting needs more than --mem of `sweep.slurm.options` or of the part says: SLURM kills
    such runs, or other jobs lack what they take. What a site gives without --mem is not known here; weir.sbatch looks
    at it in the job."""
    slurm, own = sweep.slurm, dict(sweep.slurm.parts)
    for name, number, per_node in nodes.parts:
        words = (*slurm.sbatch, *own[name].sbatch) if name else slurm.sbatch
        option, asked_for = _asked_for(words)
        for setting, forecast in zip(settings, forecasts):
            needed = needed_bytes(forecast, name, number, per_node)
            if asked_for and needed > asked_for:
                node = f"a node of {name}" if name else "a node"
                raise ReportError(f"{sweep.path}: slurm.options: {option} is too little for {setting.name}, which "
                                  f"needs {units.text(needed, 'B')} for data on {node}: --mem="
                                  f"{math.ceil(needed / 2**20)}M at least; --mem=0 asks for all that a node has")


def needed_bytes(forecast, name, nodes, per_node):
    """On one of the `nodes` of a part that has most of it, at least; 0: it is not known. `name`: of the part, empty:
    all of the job."""
    of_role = {role: (number or 0, bytes_ or 0.0) for role, number, bytes_ in (
        ("producers", forecast.producers, forecast.producer_bytes),
        ("consumers", forecast.consumers, forecast.consumer_bytes))}
    if name:
        of_role = {role: found for role, found in of_role.items() if role == name}
    if sum(math.ceil(number / per_node) for number, _ in of_role.values()) > nodes:  # they share nodes
        return sum(number * bytes_ for number, bytes_ in of_role.values()) / nodes
    return max((min(number, per_node) * bytes_ for number, bytes_ in of_role.values()), default=0.0)


def _asked_for(words):
    """(the option, bytes) of the last --mem; None: it is left to the site, or all that a node has."""
    option, asked_for = "", None
    for word in words:
        if found := re.fullmatch(r"--mem=(\d{1,12})([KMGT]?)B?", word, re.IGNORECASE):
            option, asked_for = word, int(found[1]) * _MIB[found[2].upper()] * 2**20 or None
    return option, asked_for
