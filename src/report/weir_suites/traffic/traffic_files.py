"""Reads and writes traffic files: matrix and trace (CSV), sequence and collectives (TOML). docs/traffic.md describes
them.

What is wrong is refused with file and line. `# interval: 10s`, a comment, keeps the interval that a generator had in
mind: weir does not read it, and weir-traffic writes it into the command that it suggests."""

import os
import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from weir_runs.basics import quantities, toml_file, toml_table, whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_text
from weir_runs.basics.toml_table import Place, choice, matching, quantity, text, whole
from .collectives import Collective, Collectives, KINDS
from .traffic_model import (FILE_BYTES_MAX, INDEX_MAX, INTERVAL_BYTES_MAX, INTERVAL_MAX_NS, Matrix, PHASES_MAX, Phase,
                            RANK_PAIRS_MAX, Sequence, TRANSFERS_MAX, TRANSFER_BYTES_MAX, Trace, sums)

MATRIX_HEADER = "producer,consumer,bytes"
TIME_UNITS_NS = {"time_s": 10**9, "time_ms": 10**6, "time_us": 10**3, "time_ns": 1}
EXPECTED = "a traffic file (matrix or trace in CSV, sequence in TOML)"
HEADERS = f"the header '{MATRIX_HEADER}' (matrix) or 'time_us,{MATRIX_HEADER}' (trace)"
_WHOLE = re.compile(r"\d{1,19}", re.ASCII)
_TIME = re.compile(r"(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)
_INTERVAL = re.compile(r"#\s*interval:\s*(\S+)\s*")
_NAME = matching(re.compile(r"[A-Za-z0-9._-]{1,64}"), "a name: letters, digits and . _ - are allowed (at most 64)")
_PHASE_KEYS = {"name": _NAME, "matrix": text, "period": quantity(quantities.time_ns), "repeat": whole(1, 10**9)}
COLLECTIVES_FILE = "collectives.toml"
_COLLECTIVE_NEEDS = ("name", "trace", "kind", "algorithm", "workers", "size")
_COLLECTIVE_KEYS = {"name": _NAME, "trace": text, "kind": choice(*KINDS), "algorithm": _NAME,
                    "workers": whole(2, INDEX_MAX + 1), "size": quantity(quantities.size),
                    "compute": quantity(quantities.time_ns), "first_worker": whole(0, INDEX_MAX + 1),
                    "at": quantity(quantities.time_ns), "line_rate": quantity(quantities.rate)}


def read(path):
    """A Matrix, Trace, Sequence or Collectives. A directory stands for the TOML file in it. Raises ReportError."""
    path = file_of(path)
    traffic = _read_toml(path) if path.suffix == ".toml" else _read_csv(path)
    _check_sums(path, sums(traffic))
    return traffic


def _check_sums(path, found):
    if len(found.sent) * len(found.received) > RANK_PAIRS_MAX:
        raise ReportError(f"{path}: {len(found.sent)} producers x {len(found.received)} consumers are too many; their "
                          f"product is at most {RANK_PAIRS_MAX} (the largest indices give the numbers of ranks)")
    if found.total > INTERVAL_BYTES_MAX:
        raise ReportError(f"{path}: the transfers of an interval are {found.total} bytes in all; weir counts up to "
                          f"{INTERVAL_BYTES_MAX}")


def file_of(path):
    """The file that `path` stands for."""
    path = Path(path)
    if not path.is_dir():
        return path
    collectives = path / COLLECTIVES_FILE
    return collectives if collectives.exists() else path / "sequence.toml"


def _read_toml(path):
    document = toml_file.parse(path, read_text(path, EXPECTED, FILE_BYTES_MAX), "a sequence")
    if "collective" in document:
        return _read_collectives(path, document)
    return _read_sequence(path, document)


def _read_csv(path):
    header, interval_ns, rows = None, None, []
    for number, line in enumerate(read_text(path, EXPECTED, FILE_BYTES_MAX).split("\n"), 1):
        line = line.strip()
        if line.startswith("#"):
            interval_ns = _interval(path, number, line, interval_ns)
        elif line and header is None:
            header = line
            if header != MATRIX_HEADER and _time_unit(header) is None:
                raise ReportError(f"{path}, line {number}: '{_short(line)}' is no header; expected is {HEADERS}")
        elif line:
            rows.append((number, line.split(",")))
    if not rows:
        what = "it has no header and no lines" if header is None else "there is no line after the header"
        raise ReportError(f"{path}: {what}; expected is {EXPECTED}")
    if len(rows) > TRANSFERS_MAX:
        raise ReportError(f"{path}: {len(rows)} transfers are too many; at most {TRANSFERS_MAX} are allowed")
    try:
        return _matrix(rows, interval_ns) if header == MATRIX_HEADER else _trace(rows, header, interval_ns)
    except _LineError as error:
        raise ReportError(f"{path}, line {error.line}: {error}") from error


class _LineError(Exception):
    def __init__(self, line, message):
        super().__init__(message)
        self.line = line


def _interval(path, number, line, known):
    found = _INTERVAL.fullmatch(line)
    if not found:
        return known
    try:
        return quantities.time_ns(found[1])
    except quantities.QuantityError as error:
        raise ReportError(f"{path}, line {number}: interval: {error}") from error


def _time_unit(header):
    """ns of the unit of time in the header of a trace; None: it is none."""
    name, _, rest = header.partition(",")
    after = f"{MATRIX_HEADER},after"
    return TIME_UNITS_NS.get(name) if rest in (MATRIX_HEADER, after,
                                               f"{after},{name.replace('time', 'compute', 1)}") else None


def _matrix(rows, interval_ns):
    pairs, lines = {}, {}
    for number, fields in rows:
        producer, consumer, size = _transfer(number, fields, MATRIX_HEADER)
        if (producer, consumer) in pairs:
            raise _LineError(number, f"the pair {producer} -> {consumer} stands in line {lines[producer, consumer]} "
                                     "already; a pair has one line, with all its bytes")
        pairs[producer, consumer], lines[producer, consumer] = size, number
    return Matrix(pairs, interval_ns)


def _trace(rows, header, interval_ns):
    unit_ns, made, after, compute = _time_unit(header), [], [], []
    begun = set()
    for number, fields in rows:
        fields, more = fields[:4], fields[4:]
        if len(more) != max(header.count(",") - 3, 0) or len(fields) < 4:
            raise _LineError(number, f"{len(fields) + len(more)} fields were found; {header.count(',') + 1} are "
                                     f"expected: {header}")
        time_ns = _time_ns(number, fields[0].strip(), unit_ns)
        if made and time_ns < made[-1][0]:
            raise _LineError(number, f"{fields[0].strip()} is before the time of the line above; times have to ascend")
        made.append((time_ns, *_transfer(number, fields[1:], header)))
        if more:
            if made[-1][:3] in begun:
                raise _LineError(number, f"producer {made[-1][1]} begins two transfers to consumer {made[-1][2]} at "
                                         "the same time; with a column after, one of them begins 1 ns later")
            begun.add(made[-1][:3])
            after.append(_inputs(number, more[0], made))
            compute.append(_time_ns(number, more[1].strip(), unit_ns) if len(more) > 1 and more[1].strip() else 0)
            if compute[-1] and not after[-1]:
                raise _LineError(number, "it computes, but waits for no transfer; one is expected in the column after")
    if interval_ns is not None and made[-1][0] >= interval_ns:
        raise _LineError(rows[-1][0], f"the time is not in the interval, which is {quantities.time_text(interval_ns)} "
                                      "by the comment '# interval:'")
    return Trace(tuple(made), interval_ns, tuple(after) if after else None, tuple(compute) if after else None)


def _inputs(number, text, made):
    """Numbers of the transfers that the last one of `made` waits for."""
    inputs = []
    for word in text.split():
        if not _WHOLE.fullmatch(word) or int(word) >= len(made) - 1:
            raise _LineError(number,
                             f"after: '{_short(word)}' is not the number of a transfer above this one, counted from 0")
        if made[int(word)][2] != made[-1][1]:
            raise _LineError(number, f"after: transfer {word} goes to consumer {made[int(word)][2]}; producer "
                                     f"{made[-1][1]} can only wait for what consumer {made[-1][1]} receives")
        if int(word) in inputs:
            raise _LineError(number, f"after: transfer {word} stands there twice")
        inputs.append(int(word))
    return tuple(inputs)


def _time_ns(number, text, unit_ns):
    """Rounded to nanoseconds, as weir does."""
    if not _TIME.fullmatch(text):
        raise _LineError(number, f"'{_short(text)}' is not a time: a number that is not negative, such as 12.5 (the "
                                 "header has its unit)")
    time_ns = int((Decimal(text) * unit_ns).quantize(Decimal(1),
                                                     ROUND_HALF_UP)) if Decimal(
                                                         text) < INTERVAL_MAX_NS else INTERVAL_MAX_NS + 1
    if time_ns > INTERVAL_MAX_NS:
        raise _LineError(number, f"the time {_short(text)} is above 1 h, which is weir's longest interval")
    return time_ns


def _transfer(number, fields, header):
    if len(fields) != 3:
        found, wanted = len(fields) + header.count(",") - 2, header.count(",") + 1
        raise _LineError(number, f"{found} fields were found; {wanted} are expected: {header}")
    numbers = []
    for field, name in zip(fields, ("producer", "consumer", "bytes")):
        field = field.strip()
        if not _WHOLE.fullmatch(field):
            what = "a positive whole number of bytes" if name == "bytes" else "an index: a whole number from 0 on"
            raise _LineError(number, f"{name}: '{_short(field)}' is not {what}")
        numbers.append(int(field))
    for index, name in zip(numbers, ("producer", "consumer")):
        if index > INDEX_MAX:
            raise _LineError(number, f"{name}: {index} is too large; at most {INDEX_MAX} is allowed")
    if not 0 < numbers[2] <= TRANSFER_BYTES_MAX:
        raise _LineError(number, f"bytes: {numbers[2]} is not a positive number of bytes up to {TRANSFER_BYTES_MAX} (1 "
                                 "PiB)" + ("; leave pairs without bytes out" if numbers[2] == 0 else ""))
    return numbers


def _short(text):
    return text if len(text) <= 60 else f"{text[:57]}..."


def _read_sequence(path, document):
    if not document.get("phase"):
        raise ReportError(f"{path}: no phase was found; a sequence has one or more tables [[phase]] with name, matrix "
                          "and period")
    tables = toml_table.read_keys({"phase": toml_table.tables}, Place(path), document)["phase"]
    if len(tables) > PHASES_MAX:
        raise ReportError(f"{path}: {len(tables)} phases are too many; at most {PHASES_MAX} are allowed")
    matrices = {}
    sequence = Sequence(tuple(_phase(path, Place(f"{path}: phase {number}"), table, matrices)
                              for number, table in enumerate(tables, 1)))
    _check_size(path, sequence)
    return sequence


def _check_size(path, sequence):
    count = sum(phase.repeat for phase in sequence.phases)
    transfers = sum(phase.repeat * len(phase.matrix.pairs) for phase in sequence.phases)
    for value, most, what in ((count, PHASES_MAX, "phases (with repetitions)"),
                              (transfers, TRANSFERS_MAX, "transfers")):
        if value > most:
            raise ReportError(f"{path}: {value} {what} are too many; at most {most} are allowed")
    if sequence.interval_ns > INTERVAL_MAX_NS:
        raise ReportError(f"{path}: the phases take {quantities.time_text(sequence.interval_ns)}; weir's longest "
                          "interval is 1h")


def _phase(path, place, table, matrices):
    found = toml_table.read_keys(_PHASE_KEYS, place, table, ("name", "matrix", "period"))
    file = found["matrix"]
    if file not in matrices:
        matrices[file] = _read_csv(path.parent / file)
    if matrices[file].kind != "matrix":
        (place / "matrix").refuse(f"{path.parent / file} is a trace; a phase needs a matrix, with the header "
                                  f"'{MATRIX_HEADER}'")
    return Phase(found["name"], file, matrices[file], found["period"], found.get("repeat", 1))


def _read_collectives(path, document):
    place = Place(path)
    found = toml_table.read_keys({"interval": quantity(quantities.time_ns), "collective": toml_table.tables}, place,
                                 document, ("interval", "collective"))
    if not 0 < found["interval"] <= INTERVAL_MAX_NS:
        (place / "interval").refuse("it is not above 0 and up to 1h")
    made = Collectives(tuple(_collective(path, Place(f"{path}: collective {number}"), table)
                             for number, table in enumerate(found["collective"], 1)), found["interval"])
    _check_collectives(path, made)
    return made


def _check_collectives(path, made):
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


def _collective(path, place, table):
    found = toml_table.read_keys(_COLLECTIVE_KEYS, place, table, _COLLECTIVE_NEEDS)
    trace = _read_csv(path.parent / found["trace"])
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


# --- Writing.


def matrix_text(matrix, remarks=()):
    lines = _comments(matrix, remarks) + [MATRIX_HEADER]
    lines += [f"{producer},{consumer},{size}" for (producer, consumer), size in sorted(matrix.pairs.items())]
    return "\n".join(lines) + "\n"


def trace_text(trace, remarks=()):
    computes = trace.after is not None and any(trace.compute)
    header = f"time_us,{MATRIX_HEADER}" + (",after" if trace.after is not None
                                           else "") + (",compute_us" if computes else "")
    lines = _comments(trace, remarks) + [header]
    for place, (time_ns, producer, consumer, size) in enumerate(trace.rows):
        line = f"{_microseconds(time_ns)},{producer},{consumer},{size}"
        if trace.after is not None:
            line += "," + " ".join(map(str, trace.after[place]))
        if computes:
            line += "," + (_microseconds(trace.compute[place]) if trace.compute[place] else "")
        lines.append(line)
    return "\n".join(lines) + "\n"


def _microseconds(time_ns):
    whole, rest = divmod(time_ns, 1000)
    return f"{whole}.{rest:03d}".rstrip("0").rstrip(".")


def sequence_text(sequence, remarks=()):
    parts = "".join(f"# {remark}\n" for remark in remarks)
    for phase in sequence.phases:
        parts += (f'\n[[phase]]\nname = "{phase.name}"\nmatrix = "{phase.file}"\nperiod = '
                  f'"{quantities.time_text(phase.period_ns)}"\n')
        parts += f"repeat = {phase.repeat}\n" if phase.repeat > 1 else ""
    return parts.lstrip("\n")


def collectives_text(made, remarks=()):
    parts = "".join(f"# {remark}\n" for remark in remarks) + f'interval = "{quantities.time_text(made.interval_ns)}"\n'
    for part in made.parts:
        parts += (f'\n[[collective]]\nname = "{part.name}"\ntrace = "{part.file}"\nkind = "{part.collective}"\n'
                  f'algorithm = "{part.algorithm}"\nworkers = {part.workers}\nsize = "{part.size}B"\n')
        parts += f'compute = "{quantities.time_text(part.compute_ns)}"\n' if part.compute_ns else ""
        parts += f"first_worker = {part.first_worker}\n" if part.first_worker else ""
        parts += f'at = "{quantities.time_text(part.at_ns)}"\n' if part.at_ns else ""
        parts += f'line_rate = "{quantities.rate_text(part.line_rate)}"\n' if part.line_rate else ""
    return parts


def _comments(traffic, remarks):
    made = [f"# {remark}" for remark in remarks]
    return made + ([f"# interval: {quantities.time_text(traffic.interval_ns)}"] if traffic.interval_ns else [])


def write(path, traffic, remarks):
    """Writes `path`, which may be /dev/stdout; of a sequence and of collectives, `path` is a directory, and the TOML
    file and what it names lie in it. Returns the file that weir is to be given."""
    path = Path(path)
    _check_sums(path, sums(traffic))
    if traffic.kind in ("sequence", "collectives"):
        return _write_directory(path, traffic, remarks)
    if path.is_dir():
        raise ReportError(f"--out: {path} is a directory; a file is expected, such as {path / (traffic.kind + '.csv')}")
    if path.suffix == ".toml":
        raise ReportError(f"--out: {path} ends like a sequence; a {traffic.kind} is a CSV file, such as "
                          f"{path.with_suffix('.csv')}")
    whole_file.replace(path, (matrix_text if traffic.kind == "matrix" else trace_text)(traffic, remarks))
    return path


def _write_directory(path, traffic, remarks):
    is_sequence = traffic.kind == "sequence"
    if path.exists() and not path.is_dir():
        raise ReportError(f"--out: {path} is a file; a directory is expected: "
                          f"{'a sequence has' if is_sequence else 'collectives have'} several files")
    if is_sequence:
        file, text_of = path / "sequence.toml", sequence_text
        parts = [(phase.file, matrix_text(phase.matrix, remarks)) for phase in traffic.phases]
    else:
        _check_collectives(path, traffic)
        file, text_of = path / COLLECTIVES_FILE, collectives_text
        parts = [(part.file, trace_text(part.trace, remarks)) for part in traffic.parts]
    for name, content in parts:
        os.makedirs((path / name).parent, exist_ok=True)
        whole_file.replace(path / name, content)
    whole_file.replace(file, text_of(traffic, remarks))
    return file
