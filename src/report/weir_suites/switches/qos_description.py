"""What a switch's configuration says about queues, memory and flow control, whatever its vendor's words: numbers in
bytes, bits per second and seconds, each with the place that it comes from: there it is named, and can be changed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from weir_runs.basics.errors import ReportError

ROCE_DSCP = 26  # of data; NVIDIA's and SONiC's convention
CNP_DSCP = 48
NS_PER_METRE = 5  # of fibre and copper, one way


@dataclass(frozen=True)
class Place:
    """Where a value stands: SONiC's table, key and field; of text the line's number, its context and the words."""
    file: str
    table: str
    key: str = ""
    field: str = ""

    def __str__(self):
        first, *others = self.key.split(",")  # ports, in SONiC
        key = self.key if len(others) < 4 else f"{first} and {len(others)} more"
        return " ".join(filter(None, ("|".join(filter(None, (self.table, key))), self.field)))


@dataclass(frozen=True)
class Sourced:
    """A value, its place, and how it follows from what stands there (`2^-3`), unless it stands there itself. Equal
    values are, wherever they stand."""
    value: object
    place: Place = field(compare=False)
    how: str = field(default="", compare=False)

    def __str__(self):
        return f"{self.place}{': ' if self.how else ''}{self.how}"


@dataclass(frozen=True)
class Pool:
    name: str
    size: Sourced | None = None  # bytes that are shared
    headroom: Sourced | None = None  # bytes beside them that priority groups share for what comes after a pause


@dataclass(frozen=True)
class Profile:
    """What a priority group or a queue may hold. Absent values do not follow from the configuration."""
    name: str
    pool: Pool | None = None
    reserved: Sourced | None = None
    alpha: Sourced | None = None  # of what is free of the pool
    limit: Sourced | None = None  # bytes, instead of alpha
    headroom: Sourced | None = None  # bytes after a pause; a group without it is lossy
    resume_at: Sourced | None = None
    resume_offset: Sourced | None = None
    of_rate: float | None = None  # b/s of the port that the headroom is for
    of_cable_m: float | None = None
    dynamic: bool = False  # the switch itself computes the headroom

    @property
    def lossless(self):
        return self.dynamic or bool(self.headroom and self.headroom.value)


@dataclass(frozen=True)
class Marking:
    name: str
    marks: Sourced | None = None  # bool
    drops: Sourced | None = None  # bool: packets that cannot be marked are dropped by the same rule
    none_below: Sourced | None = None
    all_above: Sourced | None = None
    probability: Sourced | None = None  # of 1, at all_above
    unread: str = ""  # why thresholds are missing though the configuration has them


@dataclass(frozen=True)
class Queue:
    profile: Profile | None = None
    marking: Marking | None = None
    strict: Sourced | None = None  # bool
    weight: Sourced | None = None

    def over(self, other):
        """With the values of `other` where this one has none."""
        return Queue(self.profile or other.profile, self.marking or other.marking, self.strict or other.strict,
                     self.weight or other.weight)


@dataclass(frozen=True)
class Watchdog:
    detection_s: Sourced | None = None
    restoration_s: Sourced | None = None
    action: Sourced | None = None
    priorities: Sourced | None = None  # frozenset of those that it looks at, if not all with PFC


@dataclass
class Port:
    """Ports with the same settings, and what these are. `names`: of all of them."""
    names: list
    rate: Sourced | None = None  # b/s
    cable_m: Sourced | None = None
    pfc: Sourced | None = None  # frozenset of priorities
    groups: dict = field(default_factory=dict)  # number: Profile
    queues: dict = field(default_factory=dict)  # number: Queue
    class_of_dscp: dict | None = None  # DSCP: Sourced number of a traffic class
    queue_of_class: dict | None = None
    group_of_class: dict | None = None
    queue_of_priority: dict | None = None
    watchdog: Watchdog | None = None
    no_map: str = ""  # why DSCPs have no class here, if the configuration says so

    @property
    def title(self):
        others = len(self.names) - 1
        return self.names[0] + (f" and {others} like it" if others else "")


@dataclass
class SwitchConfiguration:
    files: list
    family: str  # SONiC, NVUE, EOS
    model: str = ""
    ports: list = field(default_factory=list)  # Port for each class of ports, the most members first
    pools: dict = field(default_factory=dict)  # name: Pool
    watchdog_poll_s: Sourced | None = None
    not_modelled: list = field(default_factory=list)
    not_understood: list = field(default_factory=list)
    odd: list = field(default_factory=list)
    remarks: list = field(default_factory=list)
    senders: int | None = None  # to one queue at most; None: as many as there are ports
    receivers: int | None = None  # queues that can be full at the same time; None: as many as there are ports


MOST = 10**15


def whole(found, scale=1, least=0, most=MOST):
    """A text as a whole number, times `scale`. None of None. Raises ReportError."""
    if found is None:
        return None
    if not re.fullmatch(r"-?\d{1,16}", found.value) or not least <= int(found.value) <= most:
        raise ReportError(f"{found.place.file}: {found.place}: a whole number from {least} "
                          f"{'on' if most == MOST else f'to {most}'} is expected")
    return replace(found, value=int(found.value) * scale)


def alike(settings):
    """Lists of the names that have equal settings (which hash)."""
    made = {}
    for name, of in settings.items():
        made.setdefault(of, []).append(name)
    return list(made.values())


@dataclass(frozen=True)
class Path:
    """What a packet with a DSCP meets on a port; absent parts do not follow from the configuration."""
    dscp: int
    traffic_class: Sourced | None = None
    queue: Sourced | None = None
    group: Sourced | None = None
    priority: int | None = None  # of PFC, that stops this queue


def why_no_queue(port, dscp):
    """Why it is not known where packets with a DSCP go. Without a map other families have defaults."""
    return (f"DSCP {dscp} is not looked at: {port.no_map}" if port.no_map else f"where DSCP {dscp} goes is not there: "
            "PORT_QOS_MAP of config_db.json or qos.json names DSCP_TO_TC_MAP and TC_TO_QUEUE_MAP")


def path_of(port, dscp):
    traffic_class = (port.class_of_dscp or {}).get(dscp)
    if traffic_class is None:
        return Path(dscp)
    number = traffic_class.value
    queue = (port.queue_of_class or {}).get(number)
    group = (port.group_of_class or {}).get(number)
    priority = None
    if queue is not None:
        priorities = [each for each, of in (port.queue_of_priority or {}).items() if of.value == queue.value]
        priority = number if number in priorities or port.queue_of_priority is None else min(priorities, default=None)
    return Path(dscp, traffic_class, queue, group, priority)
