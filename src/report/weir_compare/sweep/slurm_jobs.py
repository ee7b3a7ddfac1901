"""What a sweep needs of SLURM: is a job alive, submit jobs, cancel them. SLURM's tools are called, each with a time
limit: a controller that is down must not hang a command."""

import functools
import os
import re
import shutil
import subprocess

from weir_runs.basics.errors import ReportError

LIMIT_S = 60.0
# States of jobs whose processes are gone for good. A requeued job waits: what it ran before is gone, too.
_OVER = ("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
         "TIMEOUT", "REVOKED", "SPECIAL_EXIT")
_WAITING = ("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD")


class SlurmError(ReportError):
    """SLURM did not respond, or not as expected."""


def is_here():
    return shutil.which("sbatch") is not None and shutil.which("squeue") is not None


def is_responding():
    """Whether the controller responds."""
    try:
        status, out, _ = call("scontrol", "ping", limit_s=20.0)
    except SlurmError:
        return False
    return status == 0 and " is UP" in out


def starts_steps():
    """Whether the job in which this runs can start something on all of its nodes, as runs must. For some seconds after
    its start, the controller responds and starts nothing."""
    parts = int(os.environ.get("SLURM_HET_SIZE") or 1)
    # Each node once, whatever numbers of tasks the job has in its variables.
    where = [f"--het-group=0-{parts - 1}"] if parts > 1 else [f"--nodes={os.environ.get('SLURM_JOB_NUM_NODES', '1')}",
                                                             f"--ntasks={os.environ.get('SLURM_JOB_NUM_NODES', '1')}"]
    try:
        status, _, _ = call("srun", "--mpi=none", "--overlap", "--overcommit", "--quiet", *where, "true", limit_s=10.0)
    except SlurmError:
        return False
    return status == 0


def call(*command, limit_s=LIMIT_S):
    """Exit status, standard output and error of one of SLURM's tools."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False,
                              stdin=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise SlurmError(f"there is no {command[0]} here; a host with SLURM's commands is needed") from error
    except subprocess.TimeoutExpired as error:
        raise SlurmError(f"SLURM does not respond: {command[0]} took more than {limit_s:.0f} s. Is its controller "
                         "down? (scontrol ping)") from error
    return done.returncode, done.stdout, done.stderr


def _states(form, jobs):
    """What squeue prints of jobs; nothing if SLURM no longer has them."""
    status, out, error = call("squeue", "--noheader", "--states=all", f"--format={form}", f"--jobs={jobs}")
    if status == 0 or "Invalid job id" in error:
        return out if status == 0 else ""
    raise SlurmError(f"SLURM does not show the state of job {jobs.replace(',', ', ')}: {last_line(error)}")


def queued_or_running(jobs):
    """Those of which any task or part is still to come or under way."""
    alive = set()
    for line in _states("%A %F %T", ",".join(jobs)).splitlines() if jobs else ():
        number, array, state = line.split()
        if state not in _OVER:
            alive |= {number, array}
    return [job for job in jobs if job in alive]


class Jobs:
    """States of jobs, each of which is read once."""

    @functools.cache
    def _is_responding(self):
        return shutil.which("squeue") is not None and is_responding()

    @functools.cache
    def is_running(self, job):
        """Whether a job's processes may be there: True, False, or None if SLURM does not respond."""
        if not self._is_responding():  # squeue would wait for half a minute
            return None
        try:
            return any(state not in _OVER and state not in _WAITING for state in _states("%T", job).split())
        except SlurmError:
            return None


def jobs_named(name):
    """Numbers of the jobs of this user and name that are still to come or under way."""
    status, out, error = call("squeue", "--noheader", "--format=%A %T", f"--name={name}", f"--user={os.getuid()}")
    if status != 0:
        raise SlurmError(f"SLURM does not list the jobs named {name}: {last_line(error)}")
    return sorted({line.split()[0] for line in out.splitlines() if line.split()[1] not in _OVER})


def seconds_left(job):
    """Until a running job's time limit; None if it has none or SLURM does not respond."""
    try:
        status, out, _ = call("squeue", "--noheader", "--format=%L", f"--jobs={job}")
    except SlurmError:
        return None
    return duration_s(out) if status == 0 else None


def duration_s(text):
    """Seconds of SLURM's 2-03:00:00 or 10:00; None if it is none, as `infinite`."""
    match = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text.strip())
    if not match:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60.0 + seconds


def partition_limit_s(partition):
    """Longest time of a job in a partition, None for the default one; None if there is no limit."""
    status, out, _ = call("sinfo", "--noheader", "--format=%P %l")
    for line in out.splitlines() if status == 0 else ():
        name, _, limit = line.partition(" ")
        if name.rstrip("*") == partition if partition else name.endswith("*"):
            return duration_s(limit)
    return None


def check_submission(arguments):
    """Checks with SLURM whether it would accept this job, and submits nothing. Raises ReportError with SLURM's
    reason."""
    status, _, error = call("sbatch", "--test-only", *arguments)
    if status != 0:
        raise ReportError(f"SLURM would not accept the jobs: {reason(error)}. Nothing was submitted; look at [slurm] "
                          "in the sweep file")


def submit(arguments):
    """The job's number."""
    status, out, error = call("sbatch", "--parsable", *arguments)
    number = out.strip().split(";")[0]
    if status != 0 or not number.isdigit():
        raise ReportError(f"sbatch did not accept a job: {reason(error) or out.strip() or 'no message'}")
    return number


def cancel(jobs):
    if jobs:
        call("scancel", *jobs)


def release(job):
    status, _, error = call("scontrol", "release", job)
    if status != 0:
        raise SlurmError(f"job {job} stays on hold: {last_line(error)} (scontrol release {job})")


def reason(error):
    """SLURM's message, without its names of tools and functions."""
    lines = [re.sub(r"^(sbatch|allocation failure|error|fatal)\s*: *", "", line) for line in error.splitlines()]
    lines = [re.sub(r"^(error|fatal): *", "", line).strip() for line in lines]
    reasons = [line.removeprefix("Batch job submission failed: ") for line in lines if line]
    return "; ".join(dict.fromkeys(reasons))


def last_line(error):
    lines = [line for line in error.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no message"
