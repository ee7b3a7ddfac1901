"""Reads traces of flows as simulators and data sets publish them, and makes a Trace of them: every host is a producer
and a consumer.

Two forms. The flow.txt of HPCC and of what was built on it (ns-3): the number of flows, then a line `src dst pg dport
size start` each, with bytes and seconds. CSV with a header that names a time, a sender, a receiver and bytes, in any
order and among others."""

import dataclasses
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_text
from .traffic_model import INDEX_MAX, INTERVAL_MAX_NS, TRANSFERS_MAX, TRANSFER_BYTES_MAX, Trace

EXPECTED = ("a trace of flows: flow.txt of HPCC or ns-3 (src dst pg dport size start), or CSV with a header such as "
            "time_us,from,to,bytes")
FILE_BYTES_MAX = 512 << 20
FLOW_FIELDS = 6
LEAD_NS = 10**6  # in which consumers grant their slots, before the first flow
_UNITS_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_TIMES = ("time", "start", "start_time", "begin", "arrival", "arrival_time")
_TIME_COLUMNS = {name if unit is None else f"{name}_{unit}": _UNITS_NS[unit or "s"] for name in _TIMES
                 for unit in (None, *_UNITS_NS)}
_COLUMNS = {"from": ("from", "src", "source", "sender", "producer"), "to": ("to", "dst", "destination", "receiver",
                                                                            "consumer"),
            "bytes": ("bytes", "size", "size_bytes", "flow_size")}
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)


@dataclasses.dataclass(frozen=True)
class Flows:
    trace: Trace
    hosts: int
    first_ns: int  # when the first flow began: the instant LEAD_NS of the trace
    moved: int  # flows that begin 1 ns or more later than they should, because one of the same pair began then
    within_hosts: int  # flows from a host to itself: left out


def read(path):
    """Flows. Raises ReportError with file and line."""
    lines = read_text(path, EXPECTED, FILE_BYTES_MAX).split("\n")
    numbered = [(number, line) for number, line in enumerate((line.strip() for line in lines), 1) if line
                and not line.startswith("#")]
    if not numbered:
        raise ReportError(f"{path}: it has no lines; expected is {EXPECTED}")
    number, first = numbered[0]
    fields = first.split()
    if "," in first:
        rows = _csv_rows(path, number, first.split(","), numbered[1:])
    elif len(fields) == 1 and _WHOLE.fullmatch(first):
        rows = _flow_rows(path, numbered[1:], int(first))
    elif len(fields) == FLOW_FIELDS:
        rows = _flow_rows(path, numbered, len(numbered))
    else:
        raise ReportError(f"{path}, line {number}: '{first[:40]}' begins no trace of flows; expected is {EXPECTED}")
    return _flows(path, rows)


def _flow_rows(path, numbered, count):
    if len(numbered) < count:
        raise ReportError(f"{path}: its first line says {count} flows, and there are {len(numbered)}")
    for number, line in numbered[:count]:
        fields = line.split()
        if len(fields) != FLOW_FIELDS:
            raise ReportError(f"{path}, line {number}: {len(fields)} fields were found; {FLOW_FIELDS} are expected: "
                              "src dst pg dport size start")
        yield number, fields[5], 10**9, fields[0], fields[1], fields[4]


def _csv_rows(path, number, names, numbered):
    names = [name.strip().lower() for name in names]
    place = {}
    for what, known in (("time", tuple(_TIME_COLUMNS)), *_COLUMNS.items()):
        found = [index for index, name in enumerate(names) if name in known]
        if len(found) != 1:
            raise ReportError(f"{path}, line {number}: {len(found)} columns say the {what}; the header must have one "
                              f"of {', '.join(known[:8])}")
        place[what] = found[0]
    unit_ns = _TIME_COLUMNS[names[place["time"]]]
    for line_number, line in numbered:
        fields = line.split(",")
        if len(fields) != len(names):
            raise ReportError(f"{path}, line {line_number}: {len(fields)} fields were found; {len(names)} are expected")
        yield line_number, fields[place["time"]].strip(), unit_ns, *(fields[place[what]].strip()
                                                                     for what in ("from", "to", "bytes"))


def _flows(path, rows):
    found, within = [], 0
    for number, time, unit_ns, *rest in rows:
        sender, receiver, size = (_whole(path, number, text, name, most) for text, name, most in
                                  zip(rest, ("from", "to", "bytes"), (INDEX_MAX, INDEX_MAX, TRANSFER_BYTES_MAX)))
        if size == 0:
            raise ReportError(f"{path}, line {number}: a flow of 0 bytes; at least 1 is expected")
        if sender == receiver:
            within += 1
            continue
        found.append((_time_ns(path, number, time, unit_ns), sender, receiver, size))
    if not found:
        raise ReportError(f"{path}: it has no flow between two hosts")
    if len(found) > TRANSFERS_MAX:
        raise ReportError(f"{path}: {len(found)} flows are too many; at most {TRANSFERS_MAX} are allowed")
    found.sort(key=lambda flow: flow[0])  # of equal times in the order of the file
    first_ns = found[0][0]
    if found[-1][0] - first_ns + LEAD_NS >= INTERVAL_MAX_NS:
        raise ReportError(f"{path}: the flows begin in more than 1 h, which is weir's longest interval; cut the trace")
    rows, moved = _apart([(LEAD_NS + time_ns - first_ns, *flow) for time_ns, *flow in found])
    hosts = 1 + max(max(sender, receiver) for _, sender, receiver, _ in rows)
    return Flows(Trace(tuple(rows)), hosts, first_ns, moved, within)


def _apart(rows):
    """A transfer is known by its pair and its time, so flows of a pair that begin together are put 1 ns apart."""
    last, made, moved = {}, [], 0
    for time_ns, sender, receiver, size in rows:
        begin = max(time_ns, last.get((sender, receiver), -1) + 1)
        moved += begin > time_ns
        last[sender, receiver] = begin
        made.append((begin, sender, receiver, size))
    made.sort(key=lambda flow: flow[0])
    return made, moved


def _whole(path, number, text, name, most):
    if not _WHOLE.fullmatch(text) or int(text) > most:
        raise ReportError(f"{path}, line {number}: {name}: '{text[:40]}' is not a whole number from 0 to {most}")
    return int(text)


def _time_ns(path, number, text, unit_ns):
    try:
        time = Decimal(text)
    except InvalidOperation:
        time = Decimal("nan")
    if not time.is_finite() or time < 0 or time > 10**15:
        raise ReportError(f"{path}, line {number}: '{text[:40]}' is not a time: a number that is not negative is "
                          "expected")
    return int((time * unit_ns).quantize(Decimal(1), ROUND_HALF_UP))
