"""The rows of bursts/ (--row-interval): parts of many large files.

A run may have 2 GiB of them, and a page shows a few seconds. So each file is read once, the wanted part of it is found
by bisection, and only that is parsed."""

import numpy as np

from ..basics.errors import ReportError
from ..basics.input_file import read_bytes
from . import rows


class Bursts:
    """Values by rank and interval of one stretch of time; NaN where a rank has no row, or nothing in a column."""

    def __init__(self, begins, columns):
        self.begins = begins  # of the intervals, s
        self.columns = columns
        self._nothing = np.full_like(columns["covered_s"], np.nan)

    def column(self, name):
        """Ranks x intervals; NaN only where no file has the column."""
        return self.columns.get(name, self._nothing)


def read_bursts(paths, stretches, interval):
    """From the files of one role, in the order of `paths`: the rows of each of `stretches` (first and last second), as
    Bursts. A file that is not there has none. `interval`: length of a row, s."""
    bodies, counts = [[] for _ in stretches], [[] for _ in stretches]
    header, names = None, ["begin_s", "covered_s"]
    for path in paths:
        content = read_bytes(path, rows.ROWS) if path.exists() else b""
        end_of_header = content.find(b"\n") + 1
        mine = content[:end_of_header]
        if mine and header is None:
            header, names = mine, rows.columns_of(path, mine, ("begin_s", "covered_s"), "a file of short rows of weir")
        elif mine and mine != header:
            raise rows.several_versions(path, paths[0])
        whole = content.rfind(b"\n") + 1  # a last line that is cut belongs to a rank that was killed
        for body, count, (first, last) in zip(bodies, counts, stretches):
            part = content[_line_of(path, content, end_of_header, whole, first):
                           _line_of(path, content, end_of_header, whole, last + 1)]
            lines = part.count(b"\n")
            if part.count(b",") != lines * (len(names) - 1):
                rows.blame(path, names)
            body.append(part)
            count.append((path, lines))
    return [_matrices(b"".join(body), count, names, stretch, interval)
            for body, count, stretch in zip(bodies, counts, stretches)]


def _line_of(path, content, low, high, second):
    """Where the first line begins that is not before `second`; lines lie between `low` and `high`, in order of time."""
    while low < high:
        begin = content.rfind(b"\n", low, (low + high) // 2) + 1 or low
        cell = content[begin:content.find(b",", begin, begin + 40)]
        try:
            before = float(cell) < second
        except ValueError:
            line = content.count(b"\n", 0, begin) + 1
            raise ReportError(
                f"{path}, line {line}: '{cell.decode('utf-8', 'replace')}' in column begin_s is not a number") from None
        if before:
            low = content.find(b"\n", begin) + 1
        else:
            high = begin
    return low


def _matrices(body, counts, names, stretch, interval):
    per_second = round(1 / interval)
    begins = stretch[0] + np.arange((stretch[1] + 1 - stretch[0]) * per_second) / per_second
    columns = {name: np.full((len(counts), len(begins)), np.nan) for name in names[1:]}
    if body:
        parsed = rows.parsed(body, names, [path for path, _ in counts])
        rank = np.repeat(np.arange(len(counts)), [lines for _, lines in counts])
        # A row that began with the recording, and not with the interval, belongs to the interval.
        begin = np.nan_to_num(parsed["begin_s"], nan=np.inf)
        position = np.floor(np.clip((begin - stretch[0]) * per_second, -1.0, 1e6) + 1e-6).astype(int)
        outside = (position < 0) | (position >= len(begins))
        if outside.any():
            row = int(np.argmax(outside))
            raise ReportError(f"{counts[rank[row]][0]}: second {parsed['begin_s'][row]:g} among those from "
                              f"{stretch[0]} to {stretch[1]}: rows follow each other in time")
        for name, matrix in columns.items():
            matrix[rank, position] = parsed[name]
    return Bursts(begins, columns)
