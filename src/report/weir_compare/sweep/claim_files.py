"""Claims on a point, on a submission, on the switch: which worker has it. They are files on a shared file system.

A claim is one file, NAME-1.json, created so that one of several that try succeeds (whole_file.create). It names its
holder; NAME-1.end.json beside it records how that ended. Files are never removed or reused: a worker that wants a claim
whose holder is dead creates the next number, NAME-2.json, and again one of several succeeds. So a claim survives its
holder's death, and a live holder keeps it. (Locks of the file system were the alternative: they vanish with their
holder, but many parallel file systems do not have them, and they do not record their holder.)

A holder is a SLURM job (alive according to SLURM) or a process of a host."""

from __future__ import annotations

import dataclasses
import os
import socket
from pathlib import Path

from weir_runs.basics import whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_object
from weir_runs.basics.processes import boot_id, started_ticks
from .slurm_jobs import Jobs


@dataclasses.dataclass(frozen=True)
class Claim:
    name: str
    number: int
    path: Path
    record: dict
    end: dict | None

    @property
    def holder(self):
        return self.record["holder"]

    def finish(self, **record):
        """Ends the claim; the first recorded end counts."""
        return whole_file.create(self.path.with_suffix(".end.json"), whole_file.json_text(record))


def claims(directory, name):
    """All claims of a name, in order. Numbers have no gaps."""
    found = []
    while True:
        path = Path(directory) / f"{name}-{len(found) + 1}.json"
        try:
            record = record_in(path)
            if record is not None and not isinstance(record.get("holder"), dict):
                raise ReportError(f"{path}: damaged (it names no holder)")
        except ReportError as error:
            raise ReportError(f"{error}. It is the record of a worker: check that this one has ended, then remove it "
                              "and those with higher numbers") from error
        if record is None:
            return found
        found.append(Claim(name, len(found) + 1, path, record, _end(path.with_suffix(".end.json"))))


def _end(path):
    try:
        return record_in(path)
    except ReportError as error:
        raise ReportError(f"{error}. It records how the work of a worker ended; if it is removed, that is taken for "
                          "interrupted") from error


def create_claim(directory, name, after, **record):
    """Makes the claim that follows number `after` (0: none yet). None if another worker was first."""
    path = Path(directory) / f"{name}-{after + 1}.json"
    record = {"holder": this_holder(), **record}
    if not whole_file.create(path, whole_file.json_text(record)):
        return None
    return Claim(name, after + 1, path, record, None)


def record_in(path):
    """The object in a file of a campaign; None if there is no file. These files are written whole, so a part of one is
    damage: raises ReportError. Texts are as they are in the file, because a campaign compares them with its sweep
    file."""
    return read_object(path, "a record of weir", as_written=True) if path.exists() else None


def this_holder():
    """This process, or the SLURM job in which it runs."""
    holder = {"host": socket.gethostname(), "boot": boot_id(), "pid": os.getpid(),
              "started": started_ticks(os.getpid())}
    if job := os.environ.get("SLURM_JOB_ID"):
        holder["job"] = job
        holder["restart"] = int(os.environ.get("SLURM_RESTART_COUNT") or 0)
        if task := os.environ.get("SLURM_ARRAY_TASK_ID"):
            holder["array"] = f"{os.environ.get('SLURM_ARRAY_JOB_ID')}_{task}"
    return holder


def is_alive(holder, jobs=None):
    """True, False, or None if that is unknown here. `jobs`: slurm_jobs.Jobs, if several holders are asked for."""
    if "job" in holder:
        if holder["job"] == os.environ.get("SLURM_JOB_ID"):
            # The same job after a requeue: what ran before is gone.
            return holder.get("restart", 0) == int(os.environ.get("SLURM_RESTART_COUNT") or 0)
        return (jobs or Jobs()).is_running(holder["job"])
    if holder.get("host") != socket.gethostname():
        return None
    return holder.get("boot") == boot_id() and holder.get("started") == started_ticks(holder.get("pid"))


def holder_text(holder):
    """job 41_3 on n1; process 4711 on n1"""
    who = f"job {holder.get('array', holder['job'])}" if "job" in holder else f"process {holder.get('pid')}"
    return f"{who} on {holder.get('host')}"
