"""The counters of a switch as a site's own command prints them: text in, values out. Formats and names:
slurm/README.md.

It needs Python's own library only: it runs on the nodes of a job.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re

from ..basics.errors import ReportError
from ..basics.input_file import read_json

COUNTERS_MAX = 50_000
PRIORITIES = 8
LARGEST = 2**64 - 1
PORT = re.compile(r"[^\s\x00-\x1f\x7f,\"][^\x00-\x1f\x7f,\"]{0,99}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/+-]{0,63}")
# Ports that are made of others, by the names that SONiC, EOS, NX-OS, Junos, Linux and others give them, with what a
# reader of several switches puts in front.
AGGREGATE = re.compile(r"(?:.*[^a-z0-9])??(?=(?:port-?channel|po|ae|reth|bond|team|lag|bundle-ether|eth-trunk|"
                       r"bridge-aggregation)[-_ ]?[0-9]+(?:\.[0-9]+)?$)", re.IGNORECASE)
# What a value is. Counters only grow; peaks are the highest since they were last cleared; levels are of one moment.
COUNTER, PEAK, LEVEL = "counter", "peak", "level"

# {name: (title, unit)}: the names of the columns in switch/NAME.csv of a simulation where they mean the same, and more.
# Other names are shown as they are.
KNOWN = {
    "pauses_sent": ("pauses sent by ports", "frames"),
    "pauses_received": ("pauses received by ports", "frames"),
    "pausing_s": ("time for which ports stopped their peers", "s"),
    "paused_s": ("time for which ports were stopped", "s"),
    "marked_packets": ("packets marked (ECN)", "packets"),
    "dropped_packets": ("packets dropped", "packets"),
    "dropped_bytes": ("bytes dropped", "B"),
    "ingress_dropped_packets": ("packets dropped at their entry", "packets"),
    "ingress_dropped_bytes": ("bytes dropped at their entry", "B"),
    "early_dropped_packets": ("packets dropped early (WRED)", "packets"),
    "watchdog_dropped_packets": ("packets dropped by the PFC watchdog", "packets"),
    "watchdog_ingress_dropped_packets": ("arriving packets dropped by the PFC watchdog", "packets"),
    "credit_watchdog_dropped_packets": ("packets that waited too long in virtual output queues", "packets"),
    "voq_dropped_packets": ("packets dropped at virtual output queues", "packets"),
    "voq_dropped_bytes": ("bytes dropped at virtual output queues", "B"),
    "voq_sent_packets": ("packets through virtual output queues", "packets"),
    "voq_sent_bytes": ("bytes through virtual output queues", "B"),
    "watchdog_storms": ("pause storms found by the PFC watchdog", "times"),
    "queue_peak_bytes": ("longest queue", "B"),
    "ingress_peak_bytes": ("most stored for packets of one entry", "B"),
    "headroom_peak_bytes": ("most headroom in use", "B"),
    "pool_peak_bytes": ("most memory in use by all ports", "B"),
    "queue_now_bytes": ("longest queue at a reading", "B"),
    "sent_packets": ("packets sent", "packets"),
    "sent_bytes": ("bytes sent", "B"),
    "received_packets": ("packets received", "packets"),
    "received_bytes": ("bytes received", "B"),
}


@dataclasses.dataclass(frozen=True)
class Counter:
    """One line. `priority` None: of the whole port. `value` None: the switch does not count it."""

    port: str
    priority: int | None
    name: str
    value: int | float | None

    @property
    def key(self):
        return self.port, self.priority, self.name


def aggregates(keys):
    """Of (port, priority, name), those of ports that are made of others (PortChannel1, ae0, bond0) where a port that is
    not counts the name too: what went through an aggregate went through its members, and would be there twice."""
    front, single = {}, {}
    for port, _, name in keys:
        if port not in front:
            match = AGGREGATE.match(port)
            front[port] = match and match[0]
        if front[port] is None:
            single.setdefault(name, set()).add(port)
    return {key for key in keys if front[key[0]] is not None
            and any(port.startswith(front[key[0]]) for port in single.get(key[2], ()))}


def kind(name):
    if name.endswith("_now_bytes") or name.endswith("_now_packets"):
        return LEVEL
    return PEAK if re.search(r"_peak_(bytes|packets|cells)$", name) else COUNTER


def title_and_unit(name):
    """A name that is not known is its own title, with the unit that it ends with."""
    if name in KNOWN:
        return KNOWN[name]
    ending = name.rpartition("_")[2]
    return name, {"bytes": "B", "packets": "packets", "s": "s", "frames": "frames"}.get(ending, "")


def parse(text):
    """The counters of one reading. Raises ReportError that quotes what is wrong: a reading is used as a whole or not at
    all."""
    text = text.replace("\ufeff", "")  # the mark with which Windows begins a text
    made = _from_json(text) if text.lstrip()[:1] in ("{", "[") else _from_lines(text)
    if not made:
        raise ReportError("no counter was printed; lines 'port priority name value' or JSON are expected")
    if len(made) > COUNTERS_MAX:
        raise ReportError(f"{len(made)} counters are too many; at most {COUNTERS_MAX} are read")
    seen = set()
    for counter in made:
        if counter.key in seen:
            raise ReportError(f"{key_text(counter.key)} is there twice")
        seen.add(counter.key)
    return made


def key_text(key):
    """pauses_sent of Ethernet4, priority 3"""
    port, priority, name = key
    return f"{name} of {port}" + ("" if priority is None else f", priority {priority}")


def _from_lines(text):
    made = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if len(words) != 4:
                raise ReportError(f"{len(words)} words, expected 4")
            port, priority, name, value = words
            made.append(_counter(port, None if priority == "-" else _number(priority, "priority"), name,
                                 None if value == "-" else _number(value, "value")))
        except ReportError as error:
            raise ReportError(f"line {number} is '{line.strip()[:80]}': {error}; 'port priority name value' is "
                              "expected") from None
    return made


def _from_json(text):
    try:
        document = read_json(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"neither lines nor JSON: {error}") from None
    entries = document.get("counters") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise ReportError('JSON without a list "counters"')
    made = []
    for position, entry in enumerate(entries):
        try:
            if not isinstance(entry, dict):
                raise ReportError("not an object")
            missing = [key for key in ("port", "name", "value") if key not in entry]
            if missing:
                raise ReportError(f'no "{missing[0]}"')
            made.append(_counter(entry["port"], entry.get("priority"), entry["name"], entry["value"]))
        except ReportError as error:
            raise ReportError(f"counters[{position}] is {json.dumps(entry)[:80]}: {error}") from None
    return made


def _number(text, what):
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", text):
        raise ReportError(f"the {what} '{text}' is neither a number nor -")
    return int(text) if text.isdigit() else float(text)


def _counter(port, priority, name, value):
    if not isinstance(port, str) or not PORT.fullmatch(port):
        raise ReportError(f"the port {port!r} is not a name of at most 100 letters without commas")
    if priority is not None and (type(priority) is not int or not 0 <= priority < PRIORITIES):
        raise ReportError(f"the priority {priority!r} is not a number from 0 to {PRIORITIES - 1}")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ReportError(f"the name {name!r} is not made of at most 64 letters, digits and _.:/+-")
    if value is not None and (type(value) not in (int, float) or not math.isfinite(value) or not 0 <= value <= LARGEST):
        raise ReportError(f"the value {value!r} is not a number from 0 to 2^64 - 1")
    return Counter(port, priority, name, value)
