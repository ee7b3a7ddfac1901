"""One run directory: run.json, the rows of its ranks, its traffic and its hosts' counters.

Files come from outside: they may be cut, foreign, or written by a newer weir. What cannot be understood is refused
with the file and the line; what is merely missing (an interrupted run) is absent and listed in `Run.remarks`.
"""

import dataclasses
import datetime
import functools
import re
from pathlib import Path

import numpy as np

from ..basics.errors import ReportError
from ..basics.terminal_text import shown
from ..basics.units import counted
from . import json_schema
from .burst_rows import read_bursts
from .rows import read_rows, read_table
from .run_record import read_record, refuse_others
from .run_state import LOST, RUNNING

SWITCH_COLUMNS = ("begin_s", "covered_s", "sent_bytes", "queue_peak_bytes", "queue_mean_bytes", "marked_packets",
                  "dropped_packets", "pausing_s", "pool_peak_bytes")
# Above this, a table with a line for each pair would need more memory than all else.
LARGEST_TABLE_BYTES = 256 << 20
PARALLEL_LINK_COLUMNS = ("begin_s", "covered_s", "most_over_mean", "jain_index")
RANK_FILE = re.compile(r"rank-(\d+)-(producer|consumer|scheduler)\.csv")


def kept(method):
    """What `method` gives is kept as long as its run, by its arguments."""
    @functools.wraps(method)
    def of_run(run, *arguments):
        key = (method.__name__, *arguments)
        if key not in run.known:
            run.known[key] = method(run, *arguments)
        return run.known[key]
    return of_run


@dataclasses.dataclass(eq=False)
class Recorded:
    """What has a run.json: a run, or a job with several groups."""

    directory: Path
    record: dict  # run.json
    name: str  # as people call it: --label, or the directory's name
    remarks: list  # what is missing or was left out, as sentences
    heading: str = ""  # of its page, in the place of the label
    known: dict = dataclasses.field(default_factory=dict, init=False, repr=False)  # see kept()
    depth: int = 1  # of its directory's path, from the end: the names that short_name has, see tell_apart()

    @property
    def short_name(self):
        """The directory's name, with those above it where that is needed to tell it from other runs."""
        return "/".join(self.directory.absolute().parts[-self.depth:])

    @property
    def status(self):
        return self.record["status"]

    @property
    def verdict(self):
        return self.record["verdict"]

    @property
    def title(self):
        """The label; without one the scenario, or else the directory's name."""
        scenario = self.plan.get("scenario")
        return self.heading or self.labels.get("label") or (Path(scenario).name.removesuffix(".toml") if scenario
                                                            else self.name)

    @property
    def labels(self):
        return self.record.get("labels", {})

    @property
    def plan(self):
        """Every option in force, as text."""
        return {name: value for name, value in self.record["plan"].items() if name != "resolved"}

    @property
    def resolved(self):
        """The numbers among the options, in the units that their names end with."""
        return self.record["plan"].get("resolved", {})

    @property
    def world(self):
        return "simulation" if self.record["environment"].get("world") == "simulation" else "measurement"

    @property
    def started_at(self):
        stamp = self.record.get("started_at")
        return datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")) if stamp else None

    def _remark(self, sentence):
        if sentence not in self.remarks:
            self.remarks.append(sentence)

    def _remark_lost(self, lost, consequence):
        """Names the files `lost`, if there are any."""
        if lost:
            self._remark(f"{lost[0]}{f' and {len(lost) - 1} more are' if len(lost) > 1 else ' is'} missing: "
                         f"{consequence}.")


class Run(Recorded):
    """What a run directory holds. Rows are read when they are first needed, and kept."""

    def ranks(self, role):
        """The entries of run.json's `ranks` of one role, by index."""
        return sorted((rank for rank in self.record.get("ranks", []) if rank["role"] == role),
                      key=lambda rank: rank["index"])

    def rank_name(self, role, index):
        """producer 3 on eb04"""
        entries = self.ranks(role)
        host = entries[index].get("host") if index < len(entries) else None
        return f"{role} {index} on {host}" if host else f"{role} {index}"

    @kept
    def rows(self, role):
        """The rows of all ranks of a role, one line per rank and one column per second."""
        paths = self._rank_files(role)
        expected = self.resolved.get({"producer": "producers", "consumer": "consumers"}.get(role, ""), 1)
        if len(paths) < expected:
            self._remark(f"{expected - len(paths)} of {expected} {role} files are missing in {self.directory}/ranks.")
        if len(paths) > expected:
            raise ReportError(f"{self.directory}/ranks has {len(paths)} {role} files, but the plan in run.json has "
                              f"{expected}: files of several runs lie there")
        rows, cut = read_rows(paths, complete=self.status == "complete")
        self._remark_short(role, paths, rows)
        if cut:
            self._remark(f"The last line of {len(cut)} of {len(paths)} {role} files is cut and was left out "
                         f"(first: {cut[0].name}).")
        return rows

    def _remark_short(self, role, paths, rows):
        """Measured seconds without a row: of a complete run only ranks that were lost lack any."""
        seconds = self.record.get("seconds") or 0
        if self.status != "complete" or seconds < 1 or self.record.get("recovery"):
            return
        short = [(path, seconds - max(0, min(span[1], seconds - 1) - max(span[0], 0) + 1) if span else seconds)
                 for path, span in zip(paths, rows.spans) if span is None or span[0] > 0 or span[1] < seconds - 1]
        if short:
            path, lacks = short[0]
            more = f", and {len(short) - 1} more {role} files lack some" if len(short) > 1 else ""
            self._remark(f"{path}: {counted(lacks, 'row')} of the {seconds} measured seconds "
                         f"{'is' if lacks == 1 else 'are'} missing, though the run is complete{more}: charts have gaps "
                         "there.")

    @kept
    def bursts(self, role, stretches):
        """The rows of --row-interval of all ranks of a role, of each of `stretches` (first and last second)."""
        paths = [self.directory / "bursts" / path.name for path in self._rank_files(role)]
        self._remark_lost([path for path in paths if not path.exists()],
                          "the charts of single seconds lack these ranks")
        return read_bursts(paths, stretches, self.resolved["row_interval_s"])

    def _rank_files(self, role):
        return [path for path in sorted((self.directory / "ranks").glob(f"rank-*-{role}.csv"))
                if RANK_FILE.fullmatch(path.name)]

    @kept
    def traffic(self):
        """Bytes received, producers x consumers, or None if the run left no traffic.csv."""
        path = self.directory / "traffic.csv"
        if not path.exists():
            # Written at the end, so runs that ended before their time have none.
            self._remark_lost([path] if self.status == "complete" else [], "the traffic matrix is not shown")
            return None
        columns = read_table(path, ("producer", "consumer"), ("received_events", "received_bytes"))
        producers, consumers = self.resolved["producers"], self.resolved["consumers"]
        matrix = np.zeros((producers, consumers))
        outside = ((columns["producer"] >= producers) | (columns["consumer"] >= consumers)
                   | (columns["producer"] < 0) | (columns["consumer"] < 0))
        if outside.any():
            raise ReportError(f"{path}, line {int(np.argmax(outside)) + 2}: a producer or consumer that is not in the "
                              f"plan of {producers} producers and {consumers} consumers")
        matrix[columns["producer"].astype(int), columns["consumer"].astype(int)] = columns["received_bytes"]
        return matrix

    @kept
    def phases(self):
        """phases.csv by column. None without one."""
        return self._of_addressed("phases.csv", ("begins_s", "completion_s", "ideal_s"))

    @kept
    def transfers(self):
        """transfers.csv by column. None without one."""
        return self._of_addressed("transfers.csv", ("completion_s_mean", "completion_s_max"))

    def _of_addressed(self, name, columns):
        path = self.directory / name
        if not self.record.get("phases"):
            return None
        if not path.exists() or path.stat().st_size > LARGEST_TABLE_BYTES:
            self._remark(f"{path} {'is too large' if path.exists() else 'is missing'}: it is not drawn.")
            return None
        found = read_table(path, (), columns, ("phase",))
        return found if len(found["phase"]) else None

    @kept
    def host_counters(self):
        """Counters of network interfaces by host: {host: {column: values by row}}, each with its `second`."""
        found = {path.stem: read_table(path, ("second",))
                 for path in sorted((self.directory / "hosts").glob("*.csv"))}
        files = [self.directory / entry["file"] for entry in self.record.get("hosts") or [] if not entry.get("problem")]
        self._remark_lost([file for file in files if not file.exists()], "counters of these hosts are not drawn")
        return found

    @kept
    def switch_rows(self):
        """What the switches of a simulation counted: {switch: {column: values by row}}; nothing for other runs."""
        files = [self.directory / file for file in (self.record.get("switch") or {}).get("files", [])]
        self._remark_lost([file for file in files if not file.exists()], "what switches counted is not drawn")
        return {file.stem: read_table(file, ("port", "priority"), SWITCH_COLUMNS) for file in files if file.exists()}

    @kept
    def parallel_link_rows(self):
        """How evenly parallel links of a simulation were loaded: {column: values by row}; None for other runs."""
        name = (self.record.get("switch") or {}).get("parallel_links_file")
        if not name:
            return None
        file = self.directory / name
        self._remark_lost([] if file.exists() else [file], "the balance of parallel links is not drawn")
        return read_table(file, (), PARALLEL_LINK_COLUMNS, ("switch", "direction")) if file.exists() else None


def read_run(path):
    """Reads `path` (a run directory, or its run.json). Raises ReportError."""
    return run_of(*read_record(path))


def run_of(directory, record):
    """The run in `directory`, whose run.json holds `record`. Raises ReportError."""
    _check_record(directory / "run.json", record)
    return Run(directory, record, name_of(directory, record), ended_early(record, "run"))


def name_of(directory, record):
    return record.get("labels", {}).get("label") or shown(directory.resolve().name)


def tell_apart(runs):
    """Makes the short names of `runs` as long as tells their directories apart."""
    places = {run.directory.absolute().parts for run in runs}
    longest = max(map(len, places), default=1)
    depth = next((depth for depth in range(1, longest) if len({place[-depth:] for place in places}) == len(places)),
                 longest)
    for run in runs:
        run.depth = depth


def ended_early(record, what):
    """The remark on a run or job that has not ended as planned, in a list; nothing if it has."""
    if record["status"] == "complete":
        return []
    if record["status"] == RUNNING:
        return [f"This {what} is still running: what it has written so far is shown."]
    failure = (record.get("failure") or {}).get("what", "no reason is recorded")
    ended = {"interrupted": "was interrupted", LOST: "was lost"}.get(record["status"], "failed")
    return [f"This {what} {ended}: {failure}. What it left behind is shown."]


def _check_record(path, record):
    refuse_others(path, record)
    check_fields(path, record, "run.schema.json")
    for latency, entry in record["latency"].items():
        buckets = entry.get("buckets")
        if buckets and (len(buckets["upper_us"]) != len(buckets["events"]) or sum(buckets["events"]) != entry["count"]):
            raise ReportError(f"{path}: latency.{latency}.buckets do not sum up to its count; the file is damaged")


def check_fields(path, record, schema_file):
    """Raises a ReportError that names the first place at which `record` is not as `schema_file` has it."""
    found = json_schema.problem(record, json_schema.read_schema(schema_file))
    if found:
        place, wrong = found
        raise ReportError(f"{path}: {place + ': ' if place else ''}{wrong[:200]}; the file is damaged")
