"""Starts a campaign, or continues it: in SLURM, on this machine, in the simulator.

Everything is checked before anything is written, and a submission is recorded before it is sent to SLURM; so if this is
interrupted, the next `weir-sweep submit` finds all jobs."""

from __future__ import annotations

import dataclasses
import math
import os
import secrets
import shlex
import sys
import time

from weir_runs.basics import programs, whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.units import counted, duration
from . import (claim_files, dry_runs, find_plan, find_state, find_text, find_values, find_worker, launch,
               run_plan, slurm_jobs)
from .campaign import Campaign, FAILED, TO_DO, now_text
from .worker import TIME_RESERVE_S

SIGNAL_S = 60  # so long before the time limit, the worker gets a signal to end the run


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A campaign that was checked for one world; nothing of it is written yet."""

    sweep: object
    plan: run_plan.Plan
    world: str
    campaign: Campaign
    weir: str
    forecasts: tuple  # by setting
    nodes: object | None  # in SLURM
    disk_bytes: int
    free_bytes: int
    points: tuple  # of this world; with `find`, those of a rehearsal, for the cost
    # With `find`:
    searched: tuple = ()  # the settings that are searched in this world
    spaces: dict = dataclasses.field(default_factory=dict)  # by their index
    most_runs: int = 0

    @property
    def options(self):
        return world_options(self.sweep, self.world)

    @property
    def hook(self):
        """The command that sets the switch, where it is called."""
        return self.sweep.switch.on_change if self.sweep.switch and self.world != "simulation" else None

    @property
    def read(self):
        """How the switch's counters are read, for the worker; None: they are not."""
        return self._command("read", "every_s", "limit_s")

    @property
    def verify(self):
        """The command that prints what the switch has, and its limit; None: none is called."""
        return self._command("verify", "limit_s")

    def _command(self, name, *times):
        switch = self.sweep.switch if self.world != "simulation" else None
        if not switch or not switch.commands[name]:
            return None
        return {"command": switch.commands[name], **{time: getattr(switch, f"read_{time}") for time in times}}

    @property
    def job_size(self):
        if self.plan.find:
            first_round = sum(point.repetition == 1 for point in self.points)
            return min(self.sweep.slurm.runs_per_job or first_round,
                       len(self.points)) if self.world == "slurm" else self.most_runs * 100
        return run_plan.runs_per_job(self.plan, self.sweep.slurm) if self.world == "slurm" else len(self.points)

    def job_times(self, points):
        measured = self.world != "simulation"
        expected, longest = dry_runs.job_times(self.plan, points, self.forecasts,
                                               self.sweep.switch if measured else None)
        checks = len({self.plan.setting_of(point).switch for point in points}) if measured and self.sweep.check_s else 0
        check_s = self.sweep.check_s + self.sweep.start_s
        return expected + checks * check_s, longest + 2 * checks * check_s


def world_options(sweep, world):
    return {"slurm": (), "local": sweep.local.options, "simulation": sweep.simulation.options}[world]


def prepare(sweep, world, directory):
    """Checks everything that can be checked without SLURM. Raises ReportError."""
    plan = run_plan.make_plan(sweep)
    options = world_options(sweep, world)
    _check_sweep(sweep, plan, world, options)
    weir, base, simulated = programs.find_weir(), sweep.path.parent, world == "simulation"
    made = dry_runs.forecasts(weir, "simulate" if simulated else "run", plan, options,
                              0.0 if simulated else sweep.start_s, base)
    _check_forecasts(sweep, plan, world, made)
    nodes = None
    if world == "slurm":
        launch.weir_sbatch()
        nodes = dry_runs.nodes_needed(sweep, made)
        dry_runs.check_memory(sweep, plan.settings, made, nodes)
    campaign = Campaign(directory, plan)
    points, found = campaign.world(world).points() if not plan.find else (), {}
    if plan.find:
        searched = find_state.settings_here(campaign.world(world))
        base_plans = {setting.index: made[setting.index].plan for setting in searched}
        both = find_plan.spaces(find_plan.DryRuns(weir, simulated, options, base), plan.find, searched, base_plans)
        for index, (_, warning) in both.items():
            if warning:
                made[index] = dataclasses.replace(made[index], warnings=(*made[index].warnings, warning))
        spaces = {index: space for index, (space, _) in both.items()}
        points, most = find_plan.rehearsed(plan, searched, spaces)
        found = {"searched": tuple(searched), "spaces": spaces, "most_runs": most}
    disk = sum(made[point.setting].disk_bytes() for point in points)
    free = dry_runs.check_disk(directory, disk)
    return Prepared(sweep, plan, world, campaign, weir, tuple(made), nodes, disk, free, tuple(points), **found)


def _check_sweep(sweep, plan, world, options):
    """What shows without weir."""
    names = [setting.name for setting in plan.settings]
    if sweep.baseline is not None and sweep.baseline not in names:
        raise ReportError(f"{sweep.path}: baseline: there is no setting '{sweep.baseline}'; the first one is "
                          f"'{names[0]}'")
    dry_runs.check_world_options(sweep, world, options)
    if world == "slurm" and plan.find and plan.find.what == "consumers":
        raise ReportError(f"{sweep.path}: find: the number of consumers can be searched with --simulate and --local; a "
                          "job of SLURM has the nodes of one number. Use an axis: consumers = [4, 8, 16]")
    if world != "simulation":
        dry_runs.refuse_placeholders(sweep, world)
    if world == "local":
        dry_runs.refuse_missing_files(sweep)


def _check_forecasts(sweep, plan, world, made):
    if plan.find and plan.find.what == "burst" and any(forecast.plan.get("network") != "packet" for forecast in made):
        raise ReportError(f"{sweep.path}: find: what switches drop of a burst is known in the simulator with packets "
                          "only: --simulate, and network = \"packet\"")
    unknown = next((setting.name for setting, forecast in zip(plan.settings, made) if not forecast.ranks), None)
    if world == "local" and unknown:
        raise ReportError(f"{sweep.path}: no option gives the numbers of producers and consumers of {unknown}; give "
                          "both, in [run] or in [local]")


def prepare_search(prepared):
    """The same with find = "rate" instead of runs at one rate, for its cost; None where that cannot be, or it is
    one."""
    sweep = prepared.sweep
    if sweep.find or prepared.world == "simulation":
        return None
    searching = dataclasses.replace(sweep,
                                    find=find_values.Find("rate", min(sweep.repetitions, find_values.ROUNDS_MAX)))
    try:
        find_values.check_with(searching)
        return prepare(searching, prepared.world, prepared.campaign.directory)
    except ReportError:
        return None


def begin(prepared):
    """Writes the campaign's directory, or checks that it continues what is there. The world's directory."""
    prepared.campaign.begin(prepared.plan, prepared.sweep.text)
    world = prepared.campaign.world(prepared.world)
    world.begin([forecast.plan for forecast in prepared.forecasts],
                {setting.name: (prepared.spaces[setting.index].least, prepared.spaces[setting.index].most)
                 for setting in prepared.searched})
    return world


def to_do(world, states, retry_failed):
    """(points, or with `find` the most runs that are left; what there is to say if there are none)."""
    if world.plan.find:
        find = find_state.FindState(world)
        stopped = find.stopped(retry_failed)
        if find.searches.next_run(stopped) is not None:
            return find.searches.runs_left(stopped)[1], ""
        lines = [f"nothing to do: {len(stopped)} of {counted(len(find.settings), 'setting')} stopped after a failed "
                 "run; --retry-failed goes on" if stopped else "nothing to do: all is found",
                 *find_text.limit_lines(find.capacity())]
        return 0, "\n".join(lines)
    wanted = TO_DO + (FAILED if retry_failed else ())
    points = [state.point for state in states if state.state in wanted]
    return points, "" if points else nothing_to_do(states, retry_failed)


def job_record(prepared, points, retry_failed):
    """What the worker dry_runs. It does not read the sweep file, which may change meanwhile."""
    sweep, plan = prepared.sweep, prepared.plan
    hook = prepared.hook
    by_setting = list(zip(plan.settings, prepared.forecasts))
    record = {
        # With `find`, it depends on the outcomes which points there are.
        "points": [] if prepared.plan.find else [point.name for point in points],
        "retry_failed": retry_failed,
        "base": str(sweep.path.parent),
        "weir": prepared.weir,
        "options": [list(pair) for pair in prepared.options],
        "runs_per_job": prepared.job_size,
        "exclusive": prepared.world == "local" or prepared.world == "slurm" and sweep.slurm.concurrent == 1,
        "hook": hook,
        "change_limit_s": sweep.switch.change_limit_s if hook else 0.0,
        "settle_s": sweep.switch.settle_s if hook else 0.0,
        "verify": prepared.verify,
        "read": prepared.read,
        "check_s": sweep.check_s if prepared.world != "simulation" else 0.0,
        "expected_s": {setting.name: forecast.expected_s for setting, forecast in by_setting},
        "limit_s": {setting.name: forecast.limit_s for setting, forecast in by_setting},
    }
    if prepared.world == "local":
        record["launcher"] = launch.local_launcher(sweep.local.launcher)
        record["ranks"] = {setting.name: forecast.ranks for setting, forecast in by_setting}
    elif prepared.world == "slurm":
        slurm = sweep.slurm
        record |= {
            "script": launch.weir_sbatch(),
            "launcher": slurm.launcher,
            "launcher_options": " ".join(slurm.launcher_options),
            "scheduler": slurm.scheduler,
            "parts": ",".join(name for name, _ in slurm.parts),
        }
    elif prepared.world == "simulation":
        # A simulation may take longer than what it simulates, and holds nothing up.
        record["limit_s"] = {setting.name: 86400.0 for setting in plan.settings}
    return record


def run_here(prepared, retry_failed, say, count=1, quiet=False):
    """--local and --simulate: works here, with `count` processes, which are `quiet` or print what they do. Returns the
    exit status."""
    world = begin(prepared)
    states = world.states()
    points, nothing = to_do(world, states, retry_failed)
    if not points:
        say(nothing)
        return 0
    number = len(world.submissions())
    job = job_record(prepared, points, retry_failed)
    submission = claim_files.create_claim(world.directory / "submissions", "submission", number, begun=now_text(),
                                          job=job)
    if submission is None:
        raise ReportError(f"{world.directory}: another weir-sweep submit has started")
    status = 1
    try:
        status = find_worker.work(world, number + 1, job, count, say, quiet)
    finally:
        submission.finish(at=now_text(), exit_status=status)
    return status


def nothing_to_do(states, retry_failed):
    failed = sum(state.state in FAILED for state in states)
    busy = sum(state.state in ("running", "unknown") for state in states)
    if failed and not retry_failed:
        return (f"nothing to do: {counted(failed, 'run')} failed; --retry-failed repeats "
                f"{'it' if failed == 1 else 'them'}")
    return "nothing to do: " + (f"{counted(busy, 'run')} in progress" if busy else "all runs are complete")


# --- SLURM.


def check_slurm(prepared):
    """Checks with SLURM whether it would accept the jobs. Raises ReportError."""
    if not slurm_jobs.is_here():
        raise ReportError("there is no sbatch here. Use a login host of the cluster; without SLURM, use --local or "
                          "--simulate")
    slurm_jobs.check_submission(_commands(prepared, len(prepared.points), prepared.points, "weir-check",
                                          "/dev/null")[0])
    limit = job_limit_s(prepared, prepared.points)
    longest = max(forecast.expected_s for forecast in prepared.forecasts)
    if limit < longest + TIME_RESERVE_S:
        raise ReportError(f"{prepared.sweep.path}: slurm.time: {duration(limit)} is too short for a run of "
                          f"{duration(longest)}; {duration(longest + TIME_RESERVE_S)} are needed")
    partitions = {option.partition("=")[2] for option in prepared.sweep.slurm.sbatch
                  if option.startswith("--partition=")}
    for partition in partitions or {None}:
        allowed = slurm_jobs.partition_limit_s(partition)
        if allowed is not None and limit > allowed:
            raise ReportError(f"{prepared.sweep.path}: slurm.runs-per-job: {prepared.job_size} runs per job need "
                              f"{duration(limit)}, but the partition allows {duration(allowed)}. Nothing was "
                              "submitted; use fewer runs per job")


def job_limit_s(prepared, points):
    """Time limit of the jobs: they all have the same."""
    if prepared.sweep.slurm.time_s:
        return prepared.sweep.slurm.time_s
    return max(prepared.job_times(part)[1] for part in run_plan.split(points, prepared.job_size))


def submit(prepared, retry_failed, say):
    """Hands the runs to SLURM. Returns the exit status."""
    def jobs_of(points, name, output, script):
        runs, timed = (points, prepared.points) if prepared.plan.find else (len(points), points)
        tasks, most = math.ceil(runs / prepared.job_size), "at most " if prepared.plan.find else ""

        def said(jobs):
            shown = jobs[0] if len(jobs) == 1 else f"{jobs[0]} to {jobs[-1]}"
            return (f"submitted {most}{counted(runs, 'run')} as job {shown} ({counted(tasks, 'job')} with at most "
                    f"{counted(prepared.job_size, 'run')} each"
                    + ("; those that find nothing left to do end at once)" if most else ")"))

        return job_record(prepared, points, retry_failed), _commands(prepared, runs, timed, name, output, script), said

    return hand_over(prepared, retry_failed, say, lambda: check_slurm(prepared), jobs_of)


def hand_over(prepared, retry_failed, say, check, jobs_of):
    """Hands what is left to SLURM. `check()`: before anything is written; `jobs_of(points, name, output, script)`: (the
    record of the jobs, sbatch's arguments for each call, a function of the jobs' numbers to what there is to say).
    Returns the exit status."""
    if slurm_jobs.is_here() and not slurm_jobs.is_responding():  # its other tools would wait for half a minute
        raise ReportError("SLURM's controller does not respond (scontrol ping). Nothing was submitted")
    submissions = prepared.campaign.world(prepared.world).submissions()
    if jobs := queued(submissions):
        say(f"nothing submitted: job {', '.join(jobs)} is queued or running, and runs what is left. `scancel "
            f"{' '.join(jobs)}` ends it")
        return 0
    check()
    world = begin(prepared)
    states = world.states()
    if unknown := next((state for state in states if state.state == "unknown"), None):
        raise ReportError(f"run {unknown.point.name}: {unknown.reason}. Nothing was submitted")
    points, nothing = to_do(world, states, retry_failed)
    if not points:
        say(nothing)
        return 0
    number = len(submissions) + 1  # if another one submits meanwhile, the claim below fails
    name, script = f"weir-{prepared.plan.name}-{secrets.token_hex(3)}", world.submission_file(number, ".sbatch")
    is_array = prepared.world == "simulation" or not prepared.sweep.slurm.parts
    output = world.submission_file(number, "-%A_%a.txt" if is_array else "-%j.txt")
    record, commands, said = jobs_of(points, name, str(output), str(script))
    whole_file.replace(script, os.fsencode(script_text(prepared, number)))
    claim = claim_files.create_claim(world.directory / "submissions", "submission", number - 1, begun=now_text(),
                                     job_name=name, job=record)
    if claim is None:
        raise ReportError(f"{world.directory}: another weir-sweep submit has started; look at weir-sweep status")
    jobs = []
    try:
        _submit_all(commands, jobs)
    except ReportError as error:
        slurm_jobs.cancel(jobs)
        claim.finish(at=now_text(), jobs=[], problem=str(error))
        raise ReportError(f"{error}. Nothing was submitted") from error
    claim.finish(at=now_text(), jobs=jobs)
    say(said(jobs))
    return 0


def wait(prepared, poll_s, say):
    """Until no job of the campaign is queued or running; `say` gets a line whenever another run is complete."""
    world = prepared.campaign.world(prepared.world)
    complete = None
    while True:
        left = queued(world.submissions())
        now = sum(state.state == "complete" for state in world.states())
        if now != complete:
            complete = now
            say(f"{counted(complete, 'run')} complete")
        if not left:
            return
        time.sleep(poll_s)


def _submit_all(commands, jobs):
    """One array; or jobs of which each waits for the one before, held back until all are there."""
    for command in commands:
        chain = [f"--dependency=afterany:{jobs[-1]}"] if jobs else ["--hold"] if len(commands) > 1 else []
        jobs.append(slurm_jobs.submit(chain + command))
    if len(commands) > 1:
        slurm_jobs.release(jobs[0])


def queued(submissions):
    """Jobs of earlier submissions that are still to come or under way."""
    found = []
    for claim in submissions:
        if claim.end is not None:
            found += slurm_jobs.queued_or_running(claim.end.get("jobs", []))
        elif claim_files.is_alive(claim.holder) is not False:
            raise ReportError(f"{claim_files.holder_text(claim.holder)} is submitting now. Nothing was submitted; if "
                              f"it no longer exists, remove {claim.path}")
        else:
            # It was killed, before or after SLURM took the jobs.
            jobs = slurm_jobs.jobs_named(claim.record.get("job_name", ""))
            claim.finish(at=now_text(), jobs=jobs, problem="weir-sweep submit was killed")
            found += jobs
    return found


def _commands(prepared, runs, points, name, output, script="--wrap=true"):
    """sbatch's arguments, for each call. `runs`: how many there are to do, `points`: from which the time follows;
    `script`: else one that does nothing, for a check."""
    slurm, nodes = prepared.sweep.slurm, prepared.nodes
    tasks = math.ceil(runs / prepared.job_size)
    minutes = max(1, math.ceil(job_limit_s(prepared, points) / 60.0))
    common = [f"--job-name={name}", f"--time={minutes}", f"--signal=B:USR1@{SIGNAL_S}", f"--output={output}",
              "--open-mode=append", f"--chdir={prepared.sweep.path.parent}"]
    if not slurm.parts:
        array = f"--array=1-{tasks}%{min(slurm.concurrent, tasks)}"
        return [[*common, array, f"--nodes={nodes.total}", f"--ntasks-per-node={slurm.ranks_per_node}", *slurm.sbatch,
                 script]]
    # SLURM has no arrays of heterogeneous jobs.
    words = list(common)
    for position, ((_, number, per_node), (_, part)) in enumerate(zip(nodes.parts, slurm.parts)):
        words += [":", f"--time={minutes}"] if position else []
        words += [f"--nodes={number}", f"--ntasks-per-node={per_node}", *slurm.sbatch, *part.sbatch]
    return [words + [script] for _ in range(tasks)]


def script_text(prepared, number):
    """The batch script of a submission."""
    if programs.programs():
        work = shlex.quote(str(programs.programs() / "weir-sweep"))
    else:
        work = (f"env PYTHONPATH={shlex.quote(str(programs.PACKAGE_ROOT))} {shlex.quote(sys.executable)} -m "
                "weir_suites.sweep_command")
    setup = prepared.sweep.slurm.setup.rstrip()
    simulated = " --simulate" if prepared.world == "simulation" else ""
    return "\n".join(["#!/bin/bash", f"# Written by weir-sweep submit: submission {number} of {prepared.plan.name}.",
                      *([setup] if setup else []), f"exec {work} work "
                      f"{shlex.quote(str(prepared.campaign.directory.resolve()))} {number}{simulated}", ""])
