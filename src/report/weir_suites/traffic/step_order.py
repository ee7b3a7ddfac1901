"""Whether a run kept the order of its steps: each transfer's last byte came after that of every transfer that it waited
for, and the time to compute. Read from completions.csv, which the consumers' own clocks made; so what is known only to
the error of the common clock is not judged."""

import csv
import io

from weir_runs.basics import units
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_text
from weir_runs.reading.run_record import read_run_record

SCHEMA = "weir-order/1"
FILE = "completions.csv"
_BYTES_MAX = 1 << 30
_LISTED_MAX = 20


def check(file, traffic, run):
    """A record for --json, `violations` with the first ones. `file`: of the traffic. Raises ReportError."""
    directory, run_record = read_run_record(run)
    inputs = _inputs(traffic)
    if not inputs:
        raise ReportError(f"{file}: none of its transfers waits for another one")
    interval_s = run_record.get("plan", {}).get("resolved", {}).get("interval_s")
    if not interval_s:
        raise ReportError(f"{directory / 'run.json'}: it has no interval; the run of this traffic is expected")
    error_s = ((run_record.get("clock") or {}).get("error_us") or 0) * 1e-6
    arrivals = _arrivals(directory / FILE, round(interval_s * 1e9))
    record = {"schema": SCHEMA, "run": str(run), "intervals": len(arrivals), "checked": 0, "incomplete": 0,
              "violation_count": 0, "clock_error_s": error_s, "violations": []}
    for number, arrived in arrivals.items():
        for waiting, needed in inputs.items():
            for needs, compute_ns in needed:
                if arrived.get(waiting) is None or arrived.get(needs) is None:
                    record["incomplete"] += 1
                    continue
                record["checked"] += 1
                if arrived[waiting] < arrived[needs] + compute_ns * 1e-9 - error_s:
                    record["violation_count"] += 1
                    _list(record["violations"], number, waiting, needs, arrived)
    return record


def _list(violations, number, waiting, needs, arrived):
    if len(violations) < _LISTED_MAX:
        violations.append({"interval": number, "transfer": _named(waiting), "input": _named(needs),
                           "transfer_s": arrived[waiting], "input_s": arrived[needs]})


def _named(key):
    return {"at_s": key[0] * 1e-9, "producer": key[1], "consumer": key[2]}


def _inputs(traffic):
    """What each transfer that waits waits for: key -> [(key, ns)], keys (ns of the interval, producer, consumer)."""
    lines = list(traffic.lines()) if traffic.kind in ("trace", "collectives") else []
    return {line[:3]: [(lines[number][:3], compute_ns) for number in after] for line in lines
            for *_, after, compute_ns in [line] if after}


def _arrivals(path, interval_ns):
    """By interval: key -> s at which the last byte was there, None if it is incomplete."""
    found = {}
    try:
        for row in csv.DictReader(io.StringIO(read_text(path, "the completions of a trace's transfers", _BYTES_MAX))):
            begins_ns = round(float(row["begins_s"]) * 1e9)
            number, at_ns = divmod(begins_ns, interval_ns)
            arrived = float(row["begins_s"]) + float(row["completion_s"]) if row["completion_s"] else None
            found.setdefault(number, {})[at_ns, int(row["producer"]), int(row["consumer"])] = arrived
    except (KeyError, TypeError, ValueError) as error:
        raise ReportError(f"{path}: it is not what weir writes: {error!r}") from error
    return found


def text_lines(record):
    made = [f"{units.counted(record['checked'], 'input')} of {units.counted(record['intervals'], 'interval')} arrived "
            f"before what waited for {'it' if record['checked'] == 1 else 'them'}" if not record["violation_count"]
            else f"{record['violation_count']} of {units.counted(record['checked'], 'input')} arrived after what "
                 "waited for them"]
    made += [f"interval {one['interval']}: {one['transfer']} was there at {one['transfer_s']:.9f} s, its input "
             f"{one['input']} at {one['input_s']:.9f} s" for one in record["violations"]]
    if record["incomplete"]:
        made.append(f"{units.counted(record['incomplete'], 'input')} not judged: a transfer was incomplete")
    return made
