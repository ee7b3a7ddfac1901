"""The directory of a job with several groups: its run.json, and one run directory for each group.

Groups are independent, and so are their files: what cannot be read of one group is a problem of that group, and the
others are read.
"""

import dataclasses
from pathlib import Path

from ..basics.errors import ReportError
from .run import Recorded, Run, check_fields, ended_early, name_of, read_run
from .run_record import check_schema
from .run_state import LOST, RUNNING


@dataclasses.dataclass
class Group:
    """One group of a job. `entry`: what the job's run.json has of it; `run`: its own run, None if it cannot be read;
    `problems`: why something of it is not shown, as sentences."""

    number: int
    directory: Path
    entry: dict
    run: Run | None
    problems: list

    @property
    def name(self):
        return f"group {self.number}"

    @property
    def status(self):
        return self.entry["status"]

    @property
    def verdict(self):
        """Empty if nothing came from the group."""
        return self.entry.get("verdict") or (self.run.record["verdict"] if self.run else {})

    @property
    def totals(self):
        return self.entry.get("totals") or (self.run.record["totals"] if self.run else {})


@dataclasses.dataclass(eq=False)
class GroupedRuns(Recorded):
    """`groups`: in the order of their numbers."""

    groups: list = dataclasses.field(default_factory=list)

    def rank_name(self, role, index):
        """As Run.rank_name, for charts of which each line is a group: `index` is its place in `groups`."""
        return self.groups[index].name


def grouped_runs_of(directory, record):
    """The job in `directory`, whose run.json holds `record`. Raises ReportError if that is damaged; groups may lack
    anything."""
    record_path = directory / "run.json"
    check_schema(record_path, record, "weir-groups", "the record of a job with several groups")
    check_fields(record_path, record, "groups.schema.json")
    unended = record["status"] in (RUNNING, LOST)
    groups = [_group(directory, entry, unended) for entry in sorted(record["groups"], key=lambda entry: entry["group"])]
    return GroupedRuns(directory, record, name_of(directory, record), ended_early(record, "job"), groups=groups)


def _group(directory, entry, unended):
    place = directory / entry["directory"]
    try:
        run = read_run(place)
    except ReportError as error:
        return Group(entry["group"], place, entry, None, [f"The files of this group are not shown: {error}."])
    # Until the job's record has its end, nothing came from any group; each has a record of its own.
    told = {**entry, "status": run.status, "failure": run.record.get("failure")} if unended else entry
    return Group(entry["group"], place, told, run, [])


def worst_first(grouped):
    """Its groups, in the order of the record: those that failed, then those that were not sustained, were not on time
    or were not judged, then the others; among equals by occupancy and late sets."""
    order = {group: place for place, group in enumerate((grouped.record["verdict"] or {}).get("worst_first") or [])}
    return sorted(grouped.groups, key=lambda group: order.get(group.number, len(order)))
