"""Reads and writes files of collectives (TOML), each with the trace of its transfers. docs/traffic.md describes them."""

from __future__ import annotations

import re
from pathlib import Path

from ..basics import quantities
from ..basics.errors import ReportError
from .collectives import KINDS, Collective, Collectives
from .model import INDEX_MAX, INTERVAL_MAX_NS, TRANSFERS_MAX

FILE = "collectives.toml"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_NEEDED = ("name", "trace", "kind", "algorithm", "workers", "size")
_KEYS = _NEEDED + ("compute", "first_worker", "at", "line_rate")


def from_document(path, document, read_csv):
    """Collectives of the TOML `document` of `path`. `read_csv(path)`: a Matrix or Trace. Raises ReportError."""
    for key in document:
        if key not in ("interval", "collective"):
            raise ReportError(f"{path}: {key}: there is no such key; collectives are an interval and tables [[collective]]")
    interval_ns = _quantity(f"{path}: interval", document.get("interval"), quantities.time_ns)
    if not 0 < interval_ns <= INTERVAL_MAX_NS:
        raise ReportError(f"{path}: interval: it is not above 0 and up to 1h")
    tables = document["collective"]
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise ReportError(f"{path}: collective: tables [[collective]] are expected")
    parts = tuple(_collective(path, f"{path}: collective {number}", table, read_csv) for number, table in enumerate(tables, 1))
    made = Collectives(parts, interval_ns)
    check(path, made)
    return made


def check(path, made):
    """What each collective cannot see alone."""
    names, begun, count = set(), set(), 0
    for part in made.parts:
        if part.name in names:
            raise ReportError(f"{path}: two collectives are called {part.name}; each needs a name of its own")
        names.add(part.name)
        for time_ns, producer, consumer, _ in part.trace.rows:
            key = part.at_ns + time_ns, producer + part.first_worker, consumer + part.first_worker
            if key in begun:
                raise ReportError(f"{path}: two collectives begin a transfer of worker {key[1]} to worker {key[2]} at the same time; "
                                  "write at = \"1us\" for one of them")
            begun.add(key)
        count += len(part.trace.rows)
        last_ns = part.at_ns + part.trace.rows[-1][0]
        if last_ns >= made.interval_ns:
            raise ReportError(f"{path}: {part.name}: its last transfer begins at {quantities.time_text(last_ns)}, and the interval is "
                              f"{quantities.time_text(made.interval_ns)}; a longer one is expected")
    if count > TRANSFERS_MAX:
        raise ReportError(f"{path}: {count} transfers are too many; at most {TRANSFERS_MAX} are allowed")


def _collective(path, where, table, read_csv):
    for key in table:
        if key not in _KEYS:
            raise ReportError(f"{where}: {key}: there is no such key; known are: {', '.join(_KEYS)}")
    for key in _NEEDED:
        if key not in table:
            raise ReportError(f"{where}: {key}: it is missing; a collective has {', '.join(_NEEDED)}")
    for key in ("name", "algorithm"):
        if not isinstance(table[key], str) or not _NAME.fullmatch(table[key]):
            raise ReportError(f"{where}: {key}: {table[key]!r} is not a name: letters, digits and . _ - are allowed (at most 64)")
    if table["kind"] not in KINDS:
        raise ReportError(f"{where}: kind: {table['kind']!r} is none of {', '.join(KINDS)}")
    if not isinstance(table["trace"], str) or not table["trace"]:
        raise ReportError(f"{where}: trace: {table['trace']!r} is not the name of a file")
    workers, first = _count(where, "workers", table, 2), _count(where, "first_worker", table, 0)
    trace = read_csv(path.parent / table["trace"])
    if trace.kind != "trace":
        raise ReportError(f"{where}: trace: {path.parent / table['trace']} is a matrix; a collective needs a trace")
    made = Collective(
        table["name"], table["trace"], trace, table["kind"], table["algorithm"], workers,
        _quantity(f"{where}: size", table["size"], quantities.size), _time(where, table, "compute"),
        first, _time(where, table, "at"),
        None if "line_rate" not in table else _quantity(f"{where}: line_rate", table["line_rate"], quantities.rate))
    _check_trace(where, made)
    return made


def _check_trace(where, made):
    for time_ns, producer, consumer, _ in made.trace.rows:
        if max(producer, consumer) >= made.workers:
            raise ReportError(f"{where}: workers: {made.file} has worker {max(producer, consumer)}; at least {max(producer, consumer) + 1} "
                              "are expected")
        if time_ns < made.compute_ns:
            raise ReportError(f"{where}: compute: {made.file} begins a transfer before the {quantities.time_text(made.compute_ns)} are over")


def _count(where, key, table, least):
    value = table.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= INDEX_MAX + 1:
        raise ReportError(f"{where}: {key}: {value!r} is not a whole number from {least} to {INDEX_MAX + 1}")
    return value


def _time(where, table, key):
    return _quantity(f"{where}: {key}", table[key], quantities.time_ns) if key in table else 0


def _quantity(where, value, parse):
    if not isinstance(value, str):
        raise ReportError(f"{where}: " + ("it is missing" if value is None else f"{value!r} is not a text such as \"20ms\""))
    try:
        return parse(value)
    except quantities.QuantityError as error:
        raise ReportError(f"{where}: {error}") from error


def text(made, remarks=()):
    parts = "".join(f"# {remark}\n" for remark in remarks) + f'interval = "{quantities.time_text(made.interval_ns)}"\n'
    for part in made.parts:
        parts += (f'\n[[collective]]\nname = "{part.name}"\ntrace = "{part.file}"\nkind = "{part.collective}"\n'
                  f'algorithm = "{part.algorithm}"\nworkers = {part.workers}\nsize = "{part.size}B"\n')
        parts += f'compute = "{quantities.time_text(part.compute_ns)}"\n' if part.compute_ns else ""
        parts += f"first_worker = {part.first_worker}\n" if part.first_worker else ""
        parts += f'at = "{quantities.time_text(part.at_ns)}"\n' if part.at_ns else ""
        parts += f'line_rate = "{quantities.rate_text(part.line_rate)}"\n' if part.line_rate else ""
    return parts


def file_of(directory):
    return Path(directory) / FILE
