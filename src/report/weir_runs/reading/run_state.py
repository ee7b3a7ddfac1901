"""How a run stands that has written no end yet. Its run.json is there from the start and says "failed: the run has not
ended", for then nobody need come back to write that. Whether the run is still running is seen from outside: by its
processes, and by files that change."""

import datetime
import os
import socket
import time
from pathlib import Path

from ..basics import processes
from ..basics.errors import ReportError
from ..basics.input_file import read_json, read_text
from .groups_record import is_groups_record

RUNNING, LOST = "running", "lost"
NOT_ENDED = "the run has not ended"  # show/run_record.hpp has it
# So long after the last change of a file a run without a process here can still be going on. Beside rank 0, the process
# that writes how the run ended needs a moment. What runs on other hosts writes rows again and again, and a shared file
# system shows that up to a minute later.
QUIET_HERE_S = 3.0
QUIET_ELSEWHERE_S = 60.0


def with_state(directory, record, simulated_here=False):
    """`record`, of run.json in `directory`; a run that has written no end has the status "running" or "lost".
    `simulated_here`: it is known to be a simulation on this host."""
    failure = record.get("failure") if isinstance(record, dict) else None
    if not isinstance(failure, dict) or record.get("status") != "failed" or failure.get("what") != NOT_ENDED:
        return record
    directory = Path(directory)
    here, elsewhere = _ranks(directory, record)
    can_be_elsewhere = elsewhere or not (here or simulated_here)  # a simulation names no host
    changed = _last_change(directory)
    if time.time() - changed < (QUIET_ELSEWHERE_S if can_be_elsewhere else QUIET_HERE_S) or is_here(directory, record):
        return {**record, "status": RUNNING, "failure": None,
                "verdict": _verdict(record, "Still running: it is judged when it has ended.")}
    at = datetime.datetime.fromtimestamp(changed, datetime.timezone.utc)
    what = ("no process has written how it ended, none of its processes is "
            f"{'on this host' if can_be_elsewhere else 'there'}, and its files have not changed since "
            f"{at:%Y-%m-%d %H:%M:%S} UTC")
    return {**record, "status": LOST, "failure": {**failure, "what": what},
            "verdict": _verdict(record, "Lost: it is not judged.")}


def is_here(directory, record):
    """Whether a process of the run is found on this host."""
    here, elsewhere = _ranks(directory, record)
    if here or elsewhere:
        return any(_is_process(pid, record) for pid in here)
    return processes.writes("weir", directory)  # a simulation


def _verdict(record, text):
    verdict = record.get("verdict")
    return {**verdict, "text": text} if isinstance(verdict, dict) else verdict


def _ranks(directory, record):
    """(processes of its ranks on this host, how many are on others); none for a simulation."""
    here, elsewhere, name = [], 0, socket.gethostname()
    for rank in (rank for run in _runs(directory, record) for rank in _list(run, "ranks")):
        if rank.get("host") == name:
            here.append(rank.get("pid"))
        elif rank.get("host") is not None:
            elsewhere += 1
    return here, elsewhere


def _runs(directory, record):
    """The record of the run, or those of a job's groups."""
    if not is_groups_record(record):
        yield record
        return
    for group in _list(record, "groups"):
        try:
            yield read_json(read_text(directory / str(group.get("directory")) / "run.json", "the record of a run"))
        except (ReportError, ValueError, RecursionError):
            continue


def _list(record, name):
    """The objects in the list `name`; what is none is damage, which others refuse."""
    found = record.get(name) if isinstance(record, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _is_process(pid, record):
    try:
        started = datetime.datetime.fromisoformat(record["started_at"].replace("Z", "+00:00")).timestamp()
    except (KeyError, AttributeError, ValueError):
        return False
    return isinstance(pid, int) and processes.began_before(pid, started)


def _last_change(directory):
    """When a file of the run, or of a group of it, was changed last."""
    newest = 0.0
    for place, directories, files in os.walk(directory):
        if place != str(directory) and Path(place).name == "figures":
            directories.clear()
            continue
        for name in files:
            if name.endswith((".csv", "run.json")):
                try:
                    newest = max(newest, os.lstat(os.path.join(place, name)).st_mtime)
                except OSError:  # replaced meanwhile
                    pass
    return newest
