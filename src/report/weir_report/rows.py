"""The per-second rows of ranks: many small CSV files into one array per column.

Thousands of files are parsed in batches, as one text each, which is some ten times faster than one by one. If a batch
cannot be parsed, its files are looked through line by line to say which line is wrong.
"""

import csv
import io
import math

import numpy as np
import pandas

from .errors import ReportError
from .input_file import read_bytes

BATCH_FILES = 256
ROWS = "a file of rows as weir writes it"
TEXT_COLUMNS = ("phase", "wall_time", "peer")
PHASES = ("warmup", "measure", "drain")
# Seconds of a run and numbers of ranks are below this; what is above would only ask for memory.
LARGEST_NUMBER = 10_000_000


class Rows:
    """Values by rank and second; NaN where a rank has no row of a second, or nothing in a column."""

    def __init__(self, seconds, phases, columns):
        self.seconds = seconds  # numbers of seconds, ascending
        self.phases = phases  # of each second
        self._columns = columns

    def __len__(self):
        """Number of ranks."""
        return next(iter(self._columns.values())).shape[0] if self._columns else 0

    def __contains__(self, name):
        return name in self._columns

    def column(self, name):
        """Ranks x seconds."""
        return self._columns[name]

    def measured(self, name):
        """Ranks x measured seconds: no warm-up, no drain."""
        return self._columns[name][:, self.phases == "measure"]

    @property
    def measured_seconds(self):
        return self.seconds[self.phases == "measure"]


def read_rows(paths, complete):
    """Rows of the files of one role, in the order of `paths`, and the files whose last line is cut. In a complete run,
    a cut line is an error."""
    if not paths:
        return Rows(np.empty(0, int), np.empty(0, object), {}), []
    header = None
    cut = []
    frames = []
    for begin in range(0, len(paths), BATCH_FILES):
        bodies = []
        counts = []
        batch = paths[begin:begin + BATCH_FILES]
        for path in batch:
            content = read_bytes(path, ROWS)
            end_of_header = content.find(b"\n")
            if end_of_header < 0:
                # The rank ended before its first row, or the file is empty.
                if complete:
                    raise ReportError(f"{path}, line 1: the header is missing or cut")
                cut.append(path)
                counts.append(0)
                continue
            mine = content[:end_of_header]
            if header is None:
                header = mine
                names = _check_header(path, mine)
            elif mine != header:
                raise ReportError(f"{path}, line 1: the columns differ from those of {paths[0].name}: "
                                  "files of several versions of weir lie here")
            body = content[end_of_header + 1:]
            if body and not body.endswith(b"\n"):
                if complete:
                    raise ReportError(f"{path}, line {_lines(content) + 1}: "
                                      "the line is cut, though the run is complete: the file is damaged")
                cut.append(path)
                body = body[:body.rfind(b"\n") + 1]
            lines = _lines(body)
            if body.count(b",") != lines * (len(names) - 1):
                blame(path, names)
            bodies.append(body)
            counts.append(lines)
        if header is None:
            continue
        frames.append(_parse(batch, names, b"".join(bodies), np.array(counts), begin))
    if not any(len(frame) for frame in frames):
        return Rows(np.empty(0, int), np.empty(0, object), {}), cut
    return _matrices(pandas.concat(frames, ignore_index=True), paths, names), cut


def _lines(content):
    return content.count(b"\n")


def _check_header(path, header):
    names = header.decode("utf-8", "replace").rstrip("\r").split(",")
    if names[:2] != ["second", "phase"]:
        raise ReportError(f"{path}, line 1: the columns begin with '{','.join(names[:2])}', expected 'second,phase': "
                          "this is not a rank file of weir")
    return names


def _parse(batch, names, body, counts, first_rank):
    numeric = {name: float for name in names if name not in TEXT_COLUMNS}
    if not body:
        frame = pandas.DataFrame({name: pandas.Series(dtype=kind) for name, kind in numeric.items()})
        frame["phase"] = pandas.Series(dtype=object)
    else:
        try:
            frame = pandas.read_csv(io.BytesIO(body), header=None, names=names, dtype={**numeric, "phase": "category"},
                                    usecols=[name for name in names if name != "wall_time"], engine="c",
                                    na_values=[""], keep_default_na=False)
        except (ValueError, pandas.errors.ParserError):
            for path in batch:
                blame(path, names)
            raise _unreadable(batch[0] if len(batch) == 1 else f"one of {batch[0]} ... {batch[-1].name}") from None
    frame["rank"] = np.repeat(np.arange(first_rank, first_rank + len(batch)), counts)
    seconds = frame["second"].to_numpy()
    same_rank = np.diff(frame["rank"].to_numpy(), prepend=-1) == 0
    bad = ~_is_number(seconds) | ~frame["phase"].isin(PHASES).to_numpy()
    bad = bad | (same_rank & (np.diff(seconds, prepend=np.nan) != 1))
    if bad.any():
        row = int(np.argmax(bad))
        rank = int(frame["rank"].iloc[row])
        line = row - int(np.sum(counts[:rank - first_rank])) + 2
        raise ReportError(f"{batch[rank - first_rank]}, line {line}: second {frame['second'].iloc[row]:.0f} in phase "
                          f"'{frame['phase'].iloc[row]}': seconds follow each other, and phases are "
                          f"{', '.join(PHASES)}")
    return frame


def blame(path, names):
    """Raises a ReportError for the first line of `path` that is not a row with these columns."""
    lines = io.StringIO(read_bytes(path, ROWS).decode("utf-8", "replace"), newline="")
    for number, fields in enumerate(csv.reader(lines), start=1):
        if number == 1:
            continue
        if len(fields) != len(names):
            raise ReportError(f"{path}, line {number}: {len(fields)} values, expected {len(names)}")
        for name, value in zip(names, fields):
            if name not in TEXT_COLUMNS and value != "":
                if not _is_finite(value):
                    raise ReportError(f"{path}, line {number}: '{value}' in column {name} is not a number")


def _is_finite(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _unreadable(what):
    return ReportError(f"{what}: not a table of numbers; the file is damaged")


def _matrices(frame, paths, names):
    first, last = int(frame["second"].min()), int(frame["second"].max())
    seconds = np.arange(first, last + 1)
    rank = frame["rank"].to_numpy()
    position = frame["second"].to_numpy().astype(int) - first
    phases = np.full(len(seconds), "measure", dtype=object)
    for phase in PHASES:
        phases[position[(frame["phase"] == phase).to_numpy()]] = phase
    columns = {}
    for name in names:
        if name in TEXT_COLUMNS or name == "second":
            continue
        matrix = np.full((len(paths), len(seconds)), np.nan)
        matrix[rank, position] = frame[name].to_numpy()
        columns[name] = matrix
    return Rows(seconds, phases, columns)


def _is_number(values):
    """Whole and of a size that a second or a rank has."""
    with np.errstate(invalid="ignore"):
        return (np.abs(values) <= LARGEST_NUMBER) & (np.floor(values) == values)


def read_table(path, indices, others=(), texts=()):
    """A CSV file of numbers, by column, without phase and wall_time. The columns `indices`, `others` and `texts` must be there;
    `indices` hold a whole number in every line, `texts` are read as pandas.Categorical."""
    content = read_bytes(path, ROWS)
    names = content[:max(content.find(b"\n"), 0)].decode("utf-8", "replace").rstrip("\r").split(",")
    missing = [name for name in (*indices, *others, *texts) if name not in names]
    if missing:
        raise ReportError(f"{path}, line 1: no column '{missing[0]}'; found '{','.join(names)}'")
    body = content[content.find(b"\n") + 1:]
    body = body[:body.rfind(b"\n") + 1]
    lines = _lines(body)
    if body.count(b",") != lines * (len(names) - 1):
        blame(path, names)
    numeric = [name for name in names if name not in TEXT_COLUMNS]
    if not body:
        return {name: np.empty(0) for name in (*numeric, *texts)}
    try:
        frame = pandas.read_csv(io.BytesIO(body), header=None, names=names, usecols=[*numeric, *texts],
                                dtype={name: float for name in numeric} | {name: "category" for name in texts}, na_values=[""],
                                keep_default_na=False)
    except (ValueError, pandas.errors.ParserError):
        blame(path, names)
        raise _unreadable(path) from None
    for name in indices:
        bad = ~_is_number(frame[name].to_numpy())
        if bad.any():
            row = int(np.argmax(bad))
            raise ReportError(f"{path}, line {row + 2}: {frame[name].iloc[row]:g} in column {name}, expected a whole number "
                              f"of at most {LARGEST_NUMBER}")
    return {name: frame[name].to_numpy() for name in numeric} | {name: frame[name].array for name in texts}
