"""A run's directory as metrics, also while the run goes on: families for openmetrics.py.

While it goes on there is no verdict, so that is missing, and is not 0.
"""

import datetime
import re
from pathlib import Path

import numpy as np

from ..basics.errors import ReportError
from ..basics.input_file import read_bytes
from ..basics.terminal_text import shown
from .openmetrics import Family
from .rows import ROWS, read_rows, read_table
from .run import RANK_FILE, read_run
from .switch_counters import read_steps
from .switch_reading import COUNTER, kind

ROLES = ("scheduler", "producer", "consumer")
# Columns of ranks' rows, and what they are. Sums of all seconds since the run began, the warm-up included.
COUNTERS = {
    "generated_events": "Events that producers generated.",
    "generated_bytes": "Payload that producers generated.",
    "sent_events": "Events that are sent.",
    "sent_bytes": "Payload that is sent.",
    "lost_events": "Events dropped at overflow, or left over when the drain ended.",
    "lost_bytes": "Payload of these.",
    "late_sets": "Sets found late.",
    "received_events": "Events that consumers received.",
    "received_bytes": "Payload that consumers received.",
    "processed_events": "Events that consumers have processed.",
    "corrupt_events": "Events with wrong content.",
    "duplicate_events": "Events received twice.",
    "grants": "Grants that the scheduler gave, or that a producer received.",
    "blocked_s": "Time for which all slots of a consumer were busy.",
    "processing_s": "Time for which a consumer worked on events.",
    "receiving_s": "Time for which a consumer received.",
    "transferring_s": "Time for which a producer transferred.",
    "waiting_for_data_s": "Time without data to move.",
    "waiting_for_slot_s": "Time without a free slot.",
    "waiting_for_grant_s": "Time for which a producer waited for a grant.",
}
# As they are at the end of the second.
GAUGES = {
    "backlog_bytes": ("backlog_bytes", "bytes", "Generated and not gone."),
    "occupancy_peak": ("occupancy_ratio", "ratio", "Highest occupancy of a producer's buffer in the second."),
    "free_slots_min": ("free_slots", "", "Fewest free slots of a consumer in the second."),
}


def families(directory, history):
    """`history`: every second with its time, as far as the run has times; otherwise the last values only, without.
    Raises ReportError."""
    directory = Path(directory)
    run = read_run(directory) if (directory / "run.json").exists() else None
    if not (directory / "ranks").is_dir():
        raise ReportError(f"{directory}: this is no run directory, it has no ranks/")
    source = _Source(directory, run, history)
    made = [*_of_run(source), *_of_ranks(source), *_of_hosts(source), *_of_switch(directory, history)]
    for family in made:
        family.series = [({"run": shown(directory.resolve().name), **labels}, values)
                         for labels, values in family.series]
    return made


class _Source:
    def __init__(self, directory, run, history):
        self.directory, self.run = directory, run
        self.second_0 = second_0(directory)
        self.history = history and self.second_0 is not None
        self.hosts = {rank["rank"]: rank.get("host") or "" for rank in (run.record.get("ranks") or [])} if run else {}

    def values(self, seconds, numbers):
        """[(value, time)] of numbers by second; where there is none, there is no value."""
        known = np.isfinite(numbers)
        times = [None] * len(seconds) if not self.history else [self.second_0 + int(second) + 1.0 for second in seconds]
        found = [(number, time) for number, time, there in zip(numbers.tolist(), times, known) if there]
        return found if self.history else found[-1:]

    def sums(self, seconds, numbers):
        """The same of sums since the beginning."""
        return self.values(seconds, np.where(np.isfinite(numbers), np.nancumsum(numbers), np.nan))


def second_0(directory):
    """When second 0 began, in seconds since 1970; None if the run has no times, as a simulation."""
    for path in sorted((directory / "ranks").glob("rank-*.csv")):
        lines = read_bytes(path, ROWS)[:4000].decode("utf-8", "replace").splitlines()
        if len(lines) > 2 or len(lines) == 2 and len(lines[1]) > 60:
            row = dict(zip(lines[0].split(","), lines[1].split(",")))
            try:
                begun = datetime.datetime.fromisoformat(row["wall_time"].replace("Z", "+00:00")).timestamp()
                return begun - int(row["second"])
            except (KeyError, ValueError):
                return None
    return None


def _of_run(source):
    run, at = source.run, None
    if run is None:
        return
    if source.history:  # promtool needs a time for every value
        at = source.second_0 + (run.record.get("seconds") or 0)
    labels = {"label": run.title, "status": run.status, "world": run.world,
              "version": str(run.record["environment"].get("weir_version") or "")}
    yield Family("weir_run", "info", "", "The run.", [(labels, [(1, at)])])
    verdict = run.record["verdict"]
    for name, key, text in (("weir_run_sustained", "sustained", "Whether no producer exceeded its buffer."),
                            ("weir_run_on_time", "on_time", "Whether no set was late.")):
        if verdict.get(key) is not None:
            yield Family(name, "gauge", "", text, [({}, [(int(verdict[key]), at)])])
    for latency in ("offer_to_grant", "delivery"):
        entry = run.record["latency"].get(latency) or {}
        series = [({"quantile": quantile}, [(entry[f"{key}_us"] * 1e-6, at)])
                  for quantile, key in (("0.5", "p50"), ("0.9", "p90"), ("0.99", "p99"), ("0.999", "p99_9"),
                                        ("1", "max"))
                  if entry.get("count") and entry.get(f"{key}_us") is not None]
        if series:
            yield Family(f"weir_{latency}_latency_seconds", "gauge", "seconds",
                         {"offer_to_grant": "Scheduling latency", "delivery": "Delivery latency"}[latency]
                         + " of the whole run.", series)


def _counter(column, text):
    """A family named like its column, with the unit written out."""
    name = re.sub("_s$", "_seconds", column)
    unit = next((unit for unit in ("seconds", "bytes") if name.endswith(f"_{unit}")), "")
    return Family(f"weir_{name}", "counter", unit, text)


def _of_ranks(source):
    found = {column: _counter(column, text) for column, text in COUNTERS.items()}
    found |= {column: Family(f"weir_{name}", "gauge", unit, text) for column, (name, unit, text) in GAUGES.items()}
    for role in ROLES:
        paths = [path for path in sorted((source.directory / "ranks").glob(f"rank-*-{role}.csv"))
                 if RANK_FILE.fullmatch(path.name)]
        rows, _ = read_rows(paths, complete=source.run is not None and source.run.status == "complete")
        for line, path in enumerate(paths if len(rows.seconds) else ()):
            rank = int(RANK_FILE.fullmatch(path.name)[1])
            labels = {"role": role, "rank": str(rank), "index": str(line), "host": source.hosts.get(rank, "")}
            for column, family in found.items():
                if column in rows:
                    numbers = rows.column(column)[line]
                    values = (source.sums if family.kind == "counter" else source.values)(rows.seconds, numbers)
                    family.series.append((labels, values))
    return found.values()


def _of_hosts(source):
    family = Family("weir_host_counter", "counter", "",
                    "What an interface or protocol of a host counted, by its driver's name.")
    for path in sorted((source.directory / "hosts").glob("*.csv")):
        columns = read_table(path, ("second",))
        for column, numbers in columns.items():
            if "." in column:
                device, _, counter = column.rpartition(".")
                labels = {"host": path.stem, "device": device, "counter": counter}
                family.series.append((labels, source.sums(columns["second"], numbers)))
    return [family]


def _of_switch(directory, history):
    """Readings of a switch, as it printed them."""
    path = directory / "switch" / "read.csv"
    if not path.exists():
        return []
    counters = Family("weir_switch_counter", "counter", "", "What a switch counted, by the names of slurm/README.md.")
    levels = Family("weir_switch_level", "gauge", "", "Peaks and levels of a switch, by the names of slurm/README.md.")
    for (port, priority, name), steps in read_steps(path).items():
        values = [(float(value), at.timestamp() if history else None) for at, _, value in steps if value is not None]
        if values:
            labels = {"port": port, "priority": "" if priority is None else str(priority), "name": name}
            family = counters if kind(name) == COUNTER else levels
            family.series.append((labels, values if history else values[-1:]))
    return [counters, levels]
