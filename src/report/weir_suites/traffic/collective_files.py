"""Reads and writes files of collectives (TOML), each with the trace of its transfers. docs/traffic.md describes
them."""

import re
from pathlib import Path

from weir_runs.basics import quantities, toml_table
from weir_runs.basics.errors import ReportError
from weir_runs.basics.toml_table import Place, choice, matching, quantity, text, whole
from .collectives import Collective, Collectives, KINDS
from .traffic_model import INDEX_MAX, INTERVAL_MAX_NS, TRANSFERS_MAX

FILE = "collectives.toml"
_NAME = matching(re.compile(r"[A-Za-z0-9._-]{1,64}"), "a name: letters, digits and . _ - are allowed (at most 64)")
_NEEDED = ("name", "trace", "kind", "algorithm", "workers", "size")
_KEYS = {"name": _NAME, "trace": text, "kind": choice(*KINDS), "algorithm": _NAME, "workers": whole(2, INDEX_MAX + 1),
         "size": quantity(quantities.size), "compute": quantity(quantities.time_ns),
         "first_worker": whole(0, INDEX_MAX + 1), "at": quantity(quantities.time_ns),
         "line_rate": quantity(quantities.rate)}


def from_document(path, document, read_csv):
    """Collectives of the TOML `document` of `path`. `read_csv(path)`: a Matrix or Trace. Raises ReportError."""
    place = Place(path)
    found = toml_table.read_keys({"interval": quantity(quantities.time_ns), "collective": toml_table.tables}, place,
                                 document, ("interval", "collective"))
    if not 0 < found["interval"] <= INTERVAL_MAX_NS:
        (place / "interval").refuse("it is not above 0 and up to 1h")
    made = Collectives(tuple(_collective(path, Place(f"{path}: collective {number}"), table, read_csv)
                             for number, table in enumerate(found["collective"], 1)), found["interval"])
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
                raise ReportError(f"{path}: two collectives begin a transfer of worker {key[1]} to worker {key[2]} at "
                                  "the same time; write at = \"1us\" for one of them")
            begun.add(key)
        count += len(part.trace.rows)
        last_ns = part.at_ns + part.trace.rows[-1][0]
        if last_ns >= made.interval_ns:
            raise ReportError(f"{path}: {part.name}: its last transfer begins at {quantities.time_text(last_ns)}, and "
                              f"the interval is {quantities.time_text(made.interval_ns)}; a longer one is expected")
    if count > TRANSFERS_MAX:
        raise ReportError(f"{path}: {count} transfers are too many; at most {TRANSFERS_MAX} are allowed")


def _collective(path, place, table, read_csv):
    found = toml_table.read_keys(_KEYS, place, table, _NEEDED)
    trace = read_csv(path.parent / found["trace"])
    if trace.kind != "trace":
        (place / "trace").refuse(f"{path.parent / found['trace']} is a matrix; a collective needs a trace")
    made = Collective(found["name"], found["trace"], trace, found["kind"], found["algorithm"], found["workers"],
                      found["size"], found.get("compute", 0), found.get("first_worker", 0), found.get("at", 0),
                      found.get("line_rate"))
    for time_ns, producer, consumer, _ in trace.rows:
        largest = max(producer, consumer)
        if largest >= made.workers:
            (place / "workers").refuse(f"{made.file} has worker {largest}; at least {largest + 1} are expected")
        if time_ns < made.compute_ns:
            (place / "compute").refuse(f"{made.file} begins a transfer before the "
                                       f"{quantities.time_text(made.compute_ns)} are over")
    return made


def file_text(made, remarks=()):
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
