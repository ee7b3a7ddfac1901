"""By how much transfers became slower through others: completion in a loaded run over completion alone.

Both runs have a transfers.csv; lines are joined by producer, consumer and bytes. A slowdown of 1 is a transfer that no
other slows; the last of k equal transfers to one receiver has about k, whatever the network."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import statistics
from pathlib import Path

from weir_runs.basics import units
from weir_runs.basics.csv_text import csv_text
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_text
from weir_runs.basics.list_values import nearest_rank
from weir_runs.reading.groups_record import refuse_groups
from weir_runs.reading.run_record import read_record

SCHEMA = "weir-slowdown/1"
FILE = "transfers.csv"
COLUMNS = ("phase", "producer", "consumer", "transfers", "incomplete_transfers", "bytes", "completion_s_min",
           "completion_s_mean", "completion_s_max")
CSV_COLUMNS = ("phase", "producer", "consumer", "bytes", "transfers", "incomplete_transfers", "completion_loaded_s",
               "completion_isolated_s", "slowdown", "slowdown_max")
VICTIMS_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Line:
    """One line of transfers.csv. `size` None: the transfers had several; `mean_s`, `max_s` None: none of them was
    completed."""

    phase: str
    producer: int
    consumer: int
    transfers: int
    incomplete: int
    size: int | None
    mean_s: float | None
    max_s: float | None

    @property
    def key(self):
        return self.producer, self.consumer, self.size


@dataclasses.dataclass(frozen=True)
class Pair:
    """A line of the loaded run with what its transfers took alone."""

    line: Line
    isolated_s: float

    @property
    def slowdown(self):
        return self.line.mean_s / self.isolated_s

    @property
    def slowdown_max(self):
        return self.line.max_s / self.isolated_s


def read_transfers(directory):
    """The Lines of a run directory, or of the transfers.csv itself. Raises ReportError with file and line."""
    path = Path(directory)
    if path.is_dir():
        refuse_groups(path)
        path = path / FILE
    if not path.exists():
        raise ReportError(f"{path}: no such file; the directory of a run with --pattern matrix:, sequence: or trace: "
                          "is expected")
    rows = csv.reader(io.StringIO(read_text(path, f"a {FILE} of weir"), newline=""))
    header = next(rows, [])
    for name in COLUMNS:
        if name not in header:
            raise ReportError(f"{path}, line 1: there is no column {name}; a {FILE} of weir is expected")
    lines = []
    for row in rows:
        if len(row) != len(header):
            raise ReportError(f"{path}, line {rows.line_num}: {len(row)} fields were found; the header has "
                              f"{len(header)}")
        lines.append(_line(f"{path}, line {rows.line_num}", dict(zip(header, row))))
    if not lines:
        raise ReportError(f"{path}: there is no line after the header: the run had no transfer")
    return lines


def _line(where, fields):
    def number(name, kind, least, may_be_empty=False):
        text = fields[name]
        if text == "" and may_be_empty:
            return None
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value >= least):
            what = "a whole number" if kind is int else "a time in seconds"
            raise ReportError(f"{where}: {name}: '{text[:60]}' is not {what} from {least} on")
        return value

    made = Line(fields["phase"], number("producer", int, 0), number("consumer", int, 0), number("transfers", int, 0),
                number("incomplete_transfers", int, 0), number("bytes", int, 1, True),
                number("completion_s_mean", float, 0, True), number("completion_s_max", float, 0, True))
    if made.transfers and (made.mean_s is None or made.max_s is None):
        raise ReportError(f"{where}: completion_s_mean or completion_s_max is empty, though {made.transfers} transfers "
                          "are complete")
    return made


@dataclasses.dataclass(frozen=True)
class Result:
    pairs: tuple  # of Pair, the slowest first
    lines: int  # of the loaded run
    not_measured: int  # lines whose transfer has no counterpart in the isolated run
    several_sizes: int  # lines without bytes
    never_complete: int  # lines without any complete transfer
    incomplete: int  # transfers of the joined lines that were not completed

    @property
    def slowdowns(self):
        return [pair.slowdown for pair in self.pairs]


def compare(loaded, isolated):
    """Joins the Lines of two runs. Raises ReportError if nothing can be joined."""
    alone = _alone(isolated)
    pairs, not_measured, several, never = [], 0, 0, 0
    for line in loaded:
        if line.size is None:
            several += 1
        elif not line.transfers:
            never += 1
        elif line.key not in alone:
            not_measured += 1
        else:
            pairs.append(Pair(line, alone[line.key]))
    if not pairs:
        raise ReportError(f"no transfer of the loaded run ({len(loaded)} lines) is in the isolated one: {not_measured} "
                          f"have no line of the same producer, consumer and bytes there, {several} have several sizes, "
                          f"{never} were never complete. The isolated run is one of the sequence that weir-traffic "
                          "isolate makes of the same file")
    pairs.sort(key=lambda pair: (-pair.slowdown, pair.line.phase, pair.line.producer, pair.line.consumer))
    return Result(tuple(pairs), len(loaded), not_measured, several, never, sum(pair.line.incomplete for pair in pairs))


def _alone(isolated):
    """{(producer, consumer, bytes): mean completion in s}; lines of the same are taken together."""
    found = {}
    for line in isolated:
        if line.size is not None and line.transfers and line.mean_s:
            count, total = found.get(line.key, (0, 0.0))
            found[line.key] = count + line.transfers, total + line.transfers * line.mean_s
    return {key: total / count for key, (count, total) in found.items()}


def quantile(values, share):
    return nearest_rank(sorted(values), share)


def by_receiver(result):
    """(consumer, median slowdown, worst slowdown, lines), the most affected first."""
    of = {}
    for pair in result.pairs:
        of.setdefault(pair.line.consumer, []).append(pair)
    made = [(consumer, statistics.median(pair.slowdown for pair in pairs), max(pair.slowdown_max for pair in pairs),
             len(pairs)) for consumer, pairs in of.items()]
    return sorted(made, key=lambda entry: (-entry[1], entry[0]))


def record(result, loaded, isolated):
    slowdowns = result.slowdowns
    return {"schema": SCHEMA, "loaded": str(loaded), "isolated": str(isolated), "lines": result.lines,
            "joined_lines": len(result.pairs),
            "not_measured_lines": result.not_measured, "several_sizes_lines": result.several_sizes,
            "never_complete_lines": result.never_complete, "incomplete_transfers": result.incomplete,
            "slowdown_median": statistics.median(slowdowns), "slowdown_p99": quantile(slowdowns, 0.99),
            "slowdown_worst": slowdowns[0],
            "receivers": [{"consumer": consumer, "slowdown_median": median, "slowdown_max": worst, "lines": count}
                          for consumer, median, worst, count in by_receiver(result)],
            "pairs": [dict(zip(CSV_COLUMNS, _fields(pair))) for pair in result.pairs]}


def as_csv(result):
    return csv_text([CSV_COLUMNS, *map(_fields, result.pairs)])


def _fields(pair):
    line = pair.line
    return (line.phase, line.producer, line.consumer, line.size, line.transfers, line.incomplete, line.mean_s,
            pair.isolated_s, pair.slowdown, pair.slowdown_max)


def text_lines(result):
    worst = result.pairs[0]
    made = [("slowdown", f"median {units.number(statistics.median(result.slowdowns))}, p99 "
                         f"{units.number(quantile(result.slowdowns, 0.99))}, worst {units.number(worst.slowdown)} "
                         f"(completion loaded / isolated, of {units.counted(len(result.pairs), 'line')})"),
            ("worst transfer", f"phase {worst.line.phase}, producer {worst.line.producer} -> consumer "
                               f"{worst.line.consumer}, {units.text(worst.line.size, 'B')}: "
                               f"{units.text(worst.line.mean_s, 's')} instead of {units.text(worst.isolated_s, 's')}")]
    victims = by_receiver(result)
    for number, (consumer, median, most, count) in enumerate(victims[:VICTIMS_SHOWN]):
        made.append(("" if number else "victims", f"consumer {consumer}: median {units.number(median)}, single "
                                                  f"transfer up to {units.number(most)} "
                                                  f"({units.counted(count, 'line')})"))
    made += _left_out(result)
    width = max(len(word) for word, _ in made) + 2
    return [f"{word:<{width}}{text}" for word, text in made]


def _left_out(result):
    made = []
    if result.incomplete:
        made.append(("incomplete", f"{units.counted(result.incomplete, 'transfer')} of these lines had no end within "
                                   "the run, so the true slowdown is larger"))
    for count, why in ((result.not_measured, "not measured alone"),
                       (result.several_sizes, "transfers of several sizes"),
                       (result.never_complete, "no transfer complete")):
        if count:
            made.append(("left out", f"{units.counted(count, 'line')} of {result.lines}: {why}"))
    return made


def remark_on(directory):
    """A sentence if the run in `directory` did not end as planned, or None."""
    try:
        status = read_record(directory)[1]["status"]
    except (ReportError, KeyError, TypeError):
        return None
    return None if status == "complete" else f"{directory}: the run is {status}, not complete"
