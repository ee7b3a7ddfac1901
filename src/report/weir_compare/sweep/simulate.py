"""Simulated campaigns on all cores: how many run at a time, and what they cost; and as a SLURM array."""

import contextlib
import math
from pathlib import Path

from weir_runs.basics.errors import ReportError
from weir_runs.basics.programs import cores
from weir_runs.basics.units import counted
from . import find_values, slurm_jobs, submission

MEMORY_SHARE = 0.8  # of what is free; the rest is for everything else
ARRAY_MAX = 1000  # tasks: SLURM's own default allows 1001
# sbatch's options of [slurm] that are right for a job of one core, too.
SBATCH = ("--account=", "--partition=", "--qos=", "--reservation=", "--constraint=")


def free_memory_bytes():
    """None where the system does not have it."""
    with contextlib.suppress(OSError, StopIteration, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])
    return None


def side_by_side(prepared):
    """How many simulations can go on at the same time: runs, or with `find` settings."""
    return len(prepared.searched) if prepared.plan.find else len(prepared.points)


def processes(prepared, wanted=None, free=None):
    """How many simulations run at a time: as many as asked for or as there are cores, as there are runs, and as have
    room in memory."""
    free = free_memory_bytes() if free is None else free
    each = max(forecast.memory_bytes for forecast in prepared.forecasts)
    room = math.inf if free is None else int(MEMORY_SHARE * free / each)
    return max(1, min(wanted or cores(), side_by_side(prepared), room))


# --- As a SLURM array.


def submit(prepared, retry_failed, say):
    """Hands the simulations to SLURM: one core for each task. Returns the exit status."""
    if not slurm_jobs.is_here():
        raise ReportError("--slurm: there is no sbatch here. Use a login host of the cluster, or leave --slurm out")

    def jobs_of(points, name, output, script):
        tasks = min(ARRAY_MAX, side_by_side(prepared) if prepared.plan.find else len(points))
        job = submission.job_record(prepared, points, retry_failed)
        if not prepared.plan.find:
            job["runs_per_job"] = math.ceil(len(points) / tasks)
        command = array_command(prepared, tasks, job["runs_per_job"], name, output)
        slurm_jobs.check_submission([*command, "--wrap=true"])
        runs = "settings" if prepared.plan.find else counted(len(points), "simulation")
        return job, [[*command, script]], lambda jobs: (
            f"submitted {runs} as job {jobs[0]}: an array of {counted(tasks, 'task')} with one core each")

    return submission.hand_over(prepared, retry_failed, say, lambda: None, jobs_of)


def array_command(prepared, tasks, runs_each, name, output):
    """sbatch's arguments but for the script. A job of one core needs nothing that the site's runs need, such as whole
    nodes."""
    memory = max(forecast.memory_bytes for forecast in prepared.forecasts)
    words = [f"--job-name={name}", f"--array=1-{tasks}", "--ntasks=1", "--cpus-per-task=1",
             f"--mem={math.ceil(memory / 1e6) + 100}M", f"--signal=B:USR1@{submission.SIGNAL_S}", f"--output={output}",
             "--open-mode=append", f"--chdir={prepared.sweep.path.parent}"]
    words += [option for option in prepared.sweep.slurm.sbatch if option.startswith(SBATCH)]
    seconds = expected_cpu_s(prepared, runs_each)
    limit_s = prepared.sweep.slurm.time_s or (None if seconds is None else 3.0 * seconds + 600.0)
    return [*words, *([f"--time={math.ceil(limit_s / 60.0)}"] if limit_s else [])]


def expected_cpu_s(prepared, runs=None):
    """Processor time of all simulations, or of so many of the longest setting; None: not known before, as without
    packets, or for single runs of a search."""
    times = [forecast.cpu_s for forecast in prepared.forecasts]
    if None in times or runs and prepared.plan.find:
        return None
    return runs * max(times) if runs else sum(_each_cpu_s(prepared))


def expected_s(prepared, number):
    """How long `number` processes take for them; the runs of one search follow each other. None: not known."""
    total = expected_cpu_s(prepared)
    if total is None or not prepared.plan.find:
        return total and total / number
    of_settings = {}
    for point, seconds in zip(prepared.points, _each_cpu_s(prepared)):
        of_settings[point.setting] = of_settings.get(point.setting, 0.0) + seconds
    return max(total / number, *of_settings.values())


def _each_cpu_s(prepared):
    """CPU seconds of each run. In a search for a rate the packets are in proportion to it."""
    find, forecasts = prepared.plan.find, prepared.forecasts
    if not find or find.what != "rate":
        return [forecasts[point.setting].cpu_s for point in prepared.points]
    return [forecasts[point.setting].cpu_s * point.value
            / find_values.value_of(find.quantity, forecasts[point.setting].plan["rate"]) for point in prepared.points]
