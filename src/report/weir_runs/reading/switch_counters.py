"""What a switch counted during a run, from its readings (switch/read.csv) or from the simulator (run.json). It explains
a run and is never better or worse.

    switch_counters.of_run(run)     None if the switch was not read, else a SwitchCounters
    switch_counters.sums(run)       {name: value, or None if unknown}; empty if the switch was not read

Names and their units: switch_reading.KNOWN. What is missing is missing, and not 0: a counter that went back, because it
was reset or wrapped, is unknown, and so is a sum of which a part is.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io

from ..basics.errors import ReportError
from ..basics.input_file import read_json, read_text
from ..basics.quantities import number_of
from ..basics.units import counted, counter, listed
from .switch_reading import COUNTER, KNOWN, LARGEST, LEVEL, PEAK, aggregates, key_text, kind, title_and_unit

COLUMNS = ["time", "when", "port", "priority", "name", "value"]
OF_PACKETS = ("marked_packets", "dropped_packets", "early_dropped_packets")
OF_TIME = ("pausing_s", "paused_s")
NOT_COUNTED = "the switch does not count it"
READINGS = "the readings of a switch as weir-sweep writes them"
# What a simulation records under the same names, over the measured seconds.
SIMULATED = ("sent_packets", "sent_bytes", "marked_packets", "dropped_packets", "dropped_bytes", "pauses_sent",
             "pauses_received", "queue_peak_bytes", "pool_peak_bytes")


@dataclasses.dataclass(frozen=True)
class Change:
    """By how much one counter changed over the run. `value` None: unknown, and `why`."""

    port: str
    priority: int | None
    name: str
    value: float | None
    why: str = ""

    @property
    def key(self):
        return self.port, self.priority, self.name


@dataclasses.dataclass(frozen=True)
class SwitchCounters:
    """`changes`: by port and priority, in the order in which the switch printed them. `problems`: sentences on what is
    missing."""

    changes: tuple
    problems: tuple
    when: str  # of which time, as a sentence
    seconds: float | None  # how long that was; None: unknown

    @property
    def parts(self):
        """The changes that sums are made of: of a port that counts a name by priority and as a whole, the
        priorities."""
        counted = [change for change in self.changes if change.why != NOT_COUNTED]
        by_priority = {(change.name, change.port) for change in counted if change.priority is not None}
        return [change for change in counted
                if change.priority is not None or (change.name, change.port) not in by_priority]

    @property
    def sums(self):
        """{name: over all ports that count it; None: unknown}. Of peaks and levels the highest."""
        found = {change.name: [] for change in self.changes}
        for change in self.parts:
            found[change.name].append(change.value)
        return {name: None if not values or None in values else float(sum(values) if kind(name) == COUNTER
                                                                      else max(values))
                for name, values in found.items()}


def sums(run):
    counters = of_run(run)
    return counters.sums if counters else {}


def shares(run):
    """{name: (sum, share, of)} of what is known: the share of the packets that the ports sent (`of`: 'packets'), or of
    the time of all ports that count it ('time'); None where it is a share of neither."""
    counters = of_run(run)
    if not counters:
        return {}
    found = {}
    sent = counters.sums.get("sent_packets")
    for name, total in counters.sums.items():
        if total is None:
            continue
        ports = len({change.port for change in counters.changes if change.name == name and change.value is not None})
        if name in OF_PACKETS and sent:
            found[name] = (total, total / (sent + (total if "dropped" in name else 0.0)), "packets")
        elif name in OF_TIME and counters.seconds:
            found[name] = (total, total / (counters.seconds * ports), "time")
        else:
            found[name] = (total, None, None)
    return found


def of_run(run):
    """Raises ReportError if the files of the readings are damaged."""
    path = run.directory / "switch" / "read.json"
    if path.exists():
        return _of_readings(run.directory / "switch")
    ports = (run.record.get("switch") or {}).get("ports")
    return SwitchCounters(tuple(_simulated(run.record["switch"])), (),
                          "In the measured seconds, by the simulated switches.",
                          run.record["switch"]["measured_s"]) if ports else None


def bytes_of_lost_acknowledgements(record):
    """Of each, where a simulated switch lost nothing but acknowledgements: in the model they cannot be marked, and WRED
    that drops takes them where it marks data. Else None."""
    switch, model = ({**(part or {})} for part in (
        record.get("switch"), (record.get("environment") or {}).get("packet_network")))
    size, lost = number_of(str(model.get("nic", {}).get("ack-bytes"))), switch.get("dropped_packets")
    drops = model.get("ecn", {}).get("drops") == "true"
    return int(size[0]) if drops and lost and size and switch.get("dropped_bytes") == lost * size[0] else None


def ranks_behind(port):
    """Names of the ranks on the host to which a port of a simulated switch leads: "consumer-3"."""
    return port.get("ranks") or [str(port.get("peer", ""))]


def _simulated(record):
    several = len({port["switch"] for port in record["ports"]}) > 1
    for port in record["ports"]:
        shown = f"{port['switch']} to {port['peer']}" if several else f"to {port['peer']}"
        for name in SIMULATED:
            if port.get(name) is not None:
                yield Change(shown, port["priority"], name, float(port[name]))
        for share, name in (("pausing_share", "pausing_s"), ("paused_share", "paused_s")):
            if port.get(share) is not None:
                yield Change(shown, port["priority"], name, port[share] * record["measured_s"])
    if record.get("pool_peak_bytes") is not None:
        yield Change("all ports", None, "pool_peak_bytes", float(record["pool_peak_bytes"]))


# --- Readings.


def _of_readings(directory):
    record = _record(directory / "read.json")
    problems = [f"The switch was not read {reading['when']} the run: {reading['problem']}."
                for reading in record["readings"]
                if reading["problem"] and reading["when"] != "during"]
    failed = [reading for reading in record["readings"] if reading["problem"] and reading["when"] == "during"]
    if failed:
        problems.append(f"{counted(len(failed), 'reading')} of the switch during the run failed (first: "
                        f"{failed[0]['problem']}).")
    for when in ("before", "after"):
        if not any(reading["when"] == when for reading in record["readings"]):
            problems.append(f"The switch was not read {when} the run.")
    steps = read_steps(directory / "read.csv")
    changes = [_change(key, values) for key, values in steps.items()]
    twice = aggregates([change.key for change in changes if change.why != NOT_COUNTED])
    changes = tuple(change for change in changes if change.key not in twice)
    gone_back = [change for change in changes if "went back" in change.why]
    if gone_back:
        problems.append(f"{listed([key_text(change.key) for change in gone_back], 1)}: unknown, {gone_back[0].why}.")
    during = sum(reading["when"] == "during" for reading in record["readings"])
    more = f" ({counted(during, 'more reading')} in between)" if during else ""
    made_of_others = sorted({port for port, _, _ in twice})
    left_out = f" Without {listed(made_of_others, PORTS_SHOWN)}: made of other ports." if twice else ""
    return SwitchCounters(changes, tuple(problems),
                          f"Between the readings before and after the run, with its warm-up{more}, by: "
                          f"{record.get('command')}.{left_out}",
                          _seconds(record["readings"]))


def _seconds(readings):
    """From the reading before the run to the one after it."""
    times = [datetime.datetime.fromisoformat(reading["time"].replace("Z", "+00:00")) for reading in readings
             if reading["when"] != "during"]
    return (times[-1] - times[0]).total_seconds() or None if len(times) == 2 else None


def _record(path):
    try:
        record = read_json(read_text(path, READINGS))
        for reading in record["readings"]:
            if not isinstance(reading["when"], str) or not isinstance(reading["problem"], (str, type(None))):
                raise ValueError("a reading without when it was made")
            datetime.datetime.fromisoformat(reading["time"].replace("Z", "+00:00"))
        return record
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReportError(f"{path}: damaged ({error!r}); {READINGS} is expected") from error


def read_steps(path):
    """{(port, priority, name): [(time, when, value)]} of a read.csv, in the order of the readings. Raises
    ReportError."""
    lines = csv.reader(io.StringIO(read_text(path, READINGS), newline=""))
    if next(lines, None) != COLUMNS:
        raise ReportError(f"{path}, line 1: the columns are not {','.join(COLUMNS)}; the file is damaged")
    found = {}
    for number, fields in enumerate(lines, start=2):
        try:
            time, when, port, priority, name, value = fields
            at = datetime.datetime.fromisoformat(time.replace("Z", "+00:00"))
            key = port, int(priority) if priority else None, name
            found.setdefault(key, []).append((at, when, _value(value)))
        except ValueError:
            raise ReportError(
                f"{path}, line {number}: '{','.join(fields)[:80]}' is no reading; the file is damaged") from None
    return found


def _value(words):
    if words == "":
        return None
    value = int(words) if words.isdigit() else float(words)
    if not 0 <= value <= LARGEST:
        raise ValueError(f"{words} is no value of a counter")
    return value


def _change(key, steps):
    steps = [(when, value) for _, when, value in steps]
    before = [value for when, value in steps if when == "before"]
    later = [value for when, value in steps if when != "before"]
    after = [value for when, value in steps if when == "after"]
    if all(value is None for _, value in steps):
        return Change(*key, None, NOT_COUNTED)
    if not before or not after or before[0] is None or after[-1] is None:
        if kind(key[2]) == LEVEL and any(value is not None for value in later):
            return Change(*key, float(max(value for value in later if value is not None)))
        missing = "before" if not before or before[0] is None else "after"
        return Change(*key, None, f"it was not read {missing} the run")
    known = [value for _, value in steps if value is not None]
    if kind(key[2]) == COUNTER:
        return _difference(key, known)
    if kind(key[2]) == PEAK and known[0] == max(known) and known[0] > 0:
        return Change(*key, None, "it was as high before the run; the command has to clear it in the reading before")
    return Change(*key, float(max(known[1:])))


def _difference(key, values):
    for earlier, later in zip(values[:-1], values[1:]):
        if later < earlier:
            return Change(*key, None, f"it went back from {earlier} to {later}: it was reset, or wrapped")
    return Change(*key, float(values[-1] - values[0]))


def series(run):
    """{(port, priority, name): [(time in seconds since 1970, value)]} of the readings with a value, without those of
    `aggregates`; empty without readings."""
    path = run.directory / "switch" / "read.csv"
    if not path.exists():
        return {}
    found = {key: [(at.timestamp(), value) for at, _, value in steps if value is not None]
             for key, steps in read_steps(path).items()}
    twice = aggregates([key for key, values in found.items() if values])
    return {key: values for key, values in found.items() if key not in twice}


def missing(runs):
    """A sentence on runs of which a reading of the switch is missing, or None."""
    incomplete = [(run, counters.problems[0]) for run in runs if (counters := of_run(run)) and counters.problems]
    if not incomplete:
        return None
    run, problem = incomplete[0]
    return (f"The switch's counters are incomplete in {len(incomplete)} of {counted(len(runs), 'run')} (first in "
            f"{run.directory.name}: {problem.rstrip('.')}).")


# --- As text.

PORTS_SHOWN = 3
TRAFFIC = ("sent_packets", "sent_bytes", "received_packets", "received_bytes")


def lines(counters, of_traffic=True):
    """What a page or a terminal shows: [(title, sum, where most)], what moved first, then what is unknown, then what
    did not move. `of_traffic`: also packets and bytes."""
    made = []
    for name, total in sorted(counters.sums.items(), key=lambda item: (_group(item[1]), _place(item[0]))):
        if name in TRAFFIC and not of_traffic:
            continue
        title, unit = title_and_unit(name)
        ports = [(change.port if change.priority is None else f"{change.port} priority {change.priority}", change.value)
                 for change in counters.parts if change.name == name and change.value]
        most = sorted(ports, key=lambda pair: -pair[1])
        where = listed([f"{port}: {counter(value, unit)}" for port, value in most], PORTS_SHOWN)
        why = next((change.why for change in counters.changes if change.name == name and change.value is None), "")
        made.append((title, counter(total, unit) if total is not None else "unknown", where if total is not None
                     else why))
    return made


def _group(total):
    return 1 if total is None else 2 if total == 0 else 0


def _place(name):
    names = list(KNOWN)
    return names.index(name) if name in names else len(names)
