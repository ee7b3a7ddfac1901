"""The per-second rows of ranks: many small CSV files into one array per column.

Thousands of files are parsed in batches, as one text each, which is some ten times faster than one by one. If a batch
cannot be parsed, its files are looked through line by line to say which line is wrong.
"""

import csv
import io
import math

import numpy as np

from ..basics.errors import ReportError
from ..basics.input_file import read_bytes

BATCH_FILES = 256
ROWS = "a file of rows as weir writes it"
TEXT_COLUMNS = ("phase", "wall_time", "peer")
PHASES = ("warmup", "measure", "drain")
# Seconds of a run and numbers of ranks are below this; what is above would only take memory.
LARGEST_NUMBER = 10_000_000


class Rows:
    """Values by rank and second; NaN where a rank has no row of a second, or nothing in a column."""

    def __init__(self, seconds, phases, columns, spans=()):
        self.seconds = seconds  # numbers of seconds, ascending
        self.spans = spans  # first and last second of each rank; None: it has none
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
    parts, cut, names = [], [], None
    for begin in range(0, len(paths), BATCH_FILES):
        batch, bodies, counts = paths[begin:begin + BATCH_FILES], [], []
        for path in batch:
            header, body, is_cut = _header_and_body(path, complete)
            cut += [path] if is_cut else []
            if header is not None:
                mine = columns_of(path, header, ("second", "phase"), "a rank file of weir")
                if "covered_s" not in mine:
                    raise ReportError(f"{path}, line 1: no column 'covered_s': this is not a rank file of weir")
                names = names or mine
                if mine != names:
                    raise several_versions(path, paths[0])
                if body.count(b",") != _lines(body) * (len(names) - 1):
                    blame(path, names)
            bodies.append(body)
            counts.append(_lines(body))
        if names is not None:
            counts = np.array(counts)
            parts.append(_Part(_parse(batch, names, b"".join(bodies), counts), counts))
    if not any(part.seconds for part in parts):
        return Rows(np.empty(0, int), np.empty(0, object), {}), cut
    return _joined(parts, len(paths)), cut


def _header_and_body(path, complete):
    """(first line, or None, the whole lines after it, whether the last line is cut)"""
    content = read_bytes(path, ROWS)
    end_of_header = content.find(b"\n")
    if end_of_header < 0:  # the rank ended before its first row, or the file is empty
        if complete:
            raise ReportError(f"{path}, line 1: the header is missing or cut")
        return None, b"", True
    body = content[end_of_header + 1:]
    is_cut = bool(body) and not body.endswith(b"\n")
    if is_cut and complete:
        raise ReportError(f"{path}, line {_lines(content) + 1}: the line is cut, though the run is complete: the file "
                          "is damaged")
    return content[:end_of_header], body[:body.rfind(b"\n") + 1], is_cut


def _lines(content):
    return content.count(b"\n")


def columns_of(path, header, first, what):
    """The names of columns, of which the `first` are known. `what`: the file is."""
    names = header.decode("utf-8", "replace").rstrip("\r\n").split(",")
    if tuple(names[:len(first)]) != first:
        raise ReportError(f"{path}, line 1: the columns begin with '{','.join(names[:len(first)])}', expected "
                          f"'{','.join(first)}': this is not {what}")
    return names


def several_versions(path, other):
    return ReportError(f"{path}, line 1: the columns differ from those of {other.name}: files of several versions of "
                       "weir lie here")


def parsed(body, names, paths, texts=()):
    """The lines `body` of the files `paths` by column: numbers, NaN where there are none, and `texts`, without other
    texts."""
    places = [place for place, name in enumerate(names) if name not in TEXT_COLUMNS and name not in texts]
    values = np.empty((0, len(places)))
    if body:
        filled = (b"\n" + body).replace(b"\r\n", b"\n").replace(b",,", b",nan,").replace(b",,", b",nan,")
        filled = filled.replace(b",\n", b",nan\n").replace(b"\n,", b"\nnan,")
        try:
            values = np.loadtxt(io.BytesIO(filled), delimiter=",", usecols=places, comments=None, ndmin=2)
        except ValueError:
            _blame_all(paths, names)
            which = paths[0] if len(paths) == 1 else f"one of {paths[0]} ... {paths[-1].name}"
            raise ReportError(f"{which}: not a table of numbers; the file is damaged") from None
        if np.isinf(values).any() or b"nan" in body.lower():  # which NumPy reads, and weir does not write
            _blame_all(paths, names)
    # As the numbers are: a form feed ends no line.
    lines = [line for line in body.decode("utf-8", "replace").split("\n") if line.strip("\r")] if texts else ()
    return {**{names[place]: column for place, column in zip(places, values.T)},
            **{name: np.array([line.split(",", place + 1)[place] for line in lines], str)
               for place, name in enumerate(names) if name in texts}}


def _parse(batch, names, body, counts):
    columns = parsed(body, names, batch, ("phase",))
    rank = np.repeat(np.arange(len(batch)), counts)
    seconds = columns["second"]
    same_rank = np.diff(rank, prepend=-1) == 0
    bad = ~_is_number(seconds) | ~np.isin(columns["phase"], PHASES)
    bad = bad | (same_rank & (np.diff(seconds, prepend=np.nan) != 1))
    if bad.any():
        row = int(np.argmax(bad))
        line = row - int(np.sum(counts[:rank[row]])) + 2
        raise ReportError(f"{batch[rank[row]]}, line {line}: second {seconds[row]:.0f} in phase "
                          f"'{columns['phase'][row]}': seconds follow each other, and phases are "
                          f"{', '.join(PHASES)}")
    return columns


def _blame_all(paths, names):
    for path in paths:
        blame(path, names)


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


class _Part:
    """The rows of one batch of files, by rank and second. A column of which all values are equal, as of what the run
    does not use, is one number: of some thousand ranks such columns would be most of the memory."""

    def __init__(self, columns, counts):
        second = columns["second"].astype(int)
        self.ranks = len(counts)
        begins = np.cumsum(counts) - counts
        self.spans = [(int(second[begin]), int(second[begin]) + count - 1) if count else None
                      for begin, count in zip(begins.tolist(), counts.tolist())]
        self.first = int(second.min()) if len(second) else 0
        self.seconds = int(second.max()) - self.first + 1 if len(second) else 0
        self.phases = np.full(self.seconds, -1)
        position = second - self.first
        for number, phase in enumerate(PHASES):
            self.phases[position[columns["phase"] == phase]] = number
        # Usually all ranks have the same seconds, and rows lie as they are needed.
        self._place = None if (counts == self.seconds).all() else (np.repeat(np.arange(self.ranks), counts), position)
        self.columns = {name: self._column(values) for name, values in columns.items()
                        if name not in ("second", "phase")}

    def _column(self, values):
        if self._place is None and len(values):
            if (values == values[0]).all() or np.isnan(values).all():
                return float(values[0])
            return values.reshape(self.ranks, self.seconds).copy()
        matrix = np.full((self.ranks, self.seconds), np.nan)
        if len(values):
            matrix[self._place] = values
        return matrix


def _joined(parts, ranks):
    """Rows of all parts, which lose their columns meanwhile."""
    filled = [part for part in parts if part.seconds]
    first = min(part.first for part in filled)
    seconds = np.arange(first, max(part.first + part.seconds for part in filled))
    phases = np.full(len(seconds), -1)
    for part in filled:
        span = phases[part.first - first:part.first - first + part.seconds]
        np.maximum(span, part.phases, out=span)
    columns = {name: _joined_column([(part, part.columns.pop(name)) for part in parts], ranks, seconds)
               for name in list(parts[0].columns)}
    phases[phases < 0] = PHASES.index("measure")
    return Rows(seconds, np.array(PHASES, object)[phases], columns, [span for part in parts for span in part.spans])


def _joined_column(parts, ranks, seconds):
    """Ranks x seconds. What is one number in all parts takes no memory, and cannot be written to."""
    numbers = [values for part, values in parts if isinstance(values, float) and part.seconds == len(seconds)]
    if len(numbers) == len(parts) and (len(set(numbers)) == 1 or np.isnan(numbers).all()):
        return np.broadcast_to(np.float64(numbers[0]), (ranks, len(seconds)))
    matrix = np.full((ranks, len(seconds)), np.nan)
    begin = 0
    for part, values in parts:
        left = part.first - int(seconds[0])
        if part.seconds:
            matrix[begin:begin + part.ranks, left:left + part.seconds] = values
        begin += part.ranks
    return matrix


def _is_number(values):
    """Whole and of a size that a second or a rank has."""
    with np.errstate(invalid="ignore"):
        return (np.abs(values) <= LARGEST_NUMBER) & (np.floor(values) == values)


def read_table(path, indices, others=(), texts=()):
    """A CSV file of numbers, by column, without phase and wall_time. The columns `indices`, `others` and `texts` must
    be there; `indices` hold a whole number in every line, `texts` are read as they stand."""
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
    columns = parsed(body, names, [path], texts)
    for name in indices:
        bad = ~_is_number(columns[name])
        if bad.any():
            row = int(np.argmax(bad))
            raise ReportError(f"{path}, line {row + 2}: {columns[name][row]:g} in column {name}, expected a whole "
                              f"number of at most {LARGEST_NUMBER}")
    return columns
