"""A switch's description in the words of weir's switch files: each key with what it is from, and what is left out."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace

from weir_runs.basics import units

from . import asics
from .qos_description import CNP_DSCP, NS_PER_METRE, path_of, why_no_queue

PRIORITIES = range(8)
LANE_RATE = 25e9  # of a port as slow or slower, weir takes a quarter of `headroom`
LEAST_PROBABILITY = 0.0001
LEAST_ALPHA, MOST_ALPHA = 0.001, 1000
BASE_POOL, BASE_HEADROOM = 16_000_000, 102_528  # of "shallow"


@dataclass
class Translation:
    keys: dict = field(default_factory=dict)  # section: [(name, value, comment)]
    left_out: list = field(default_factory=list)  # (key as text, why)
    not_known: list = field(default_factory=list)
    not_modelled: list = field(default_factory=list)
    memory: object = None  # Memory of the pool, if it is among the keys
    reserves: dict = field(default_factory=dict)  # key: bytes that each port of a simulation takes of it for itself

    @property
    def pool_bytes(self):
        return self.memory.shared_bytes + self.memory.headroom_bytes if self.memory else BASE_POOL

    def put(self, place, value, *sources, note=""):
        """`value`: bool, number, text, or list of numbers; `sources`: values of the configuration that it is from."""
        section, name = place.split(".")
        comment = "; ".join([*map(str, sources), *filter(None, (note,))])
        self.keys.setdefault(section, []).append((name, value, comment))

    def leave_out(self, place, why):
        section, name = place.split(".", 1)
        self.left_out.append((f"[{section}] {name}", why))

    def lack(self, line):
        if line not in self.not_modelled:
            self.not_modelled.append(line)


@dataclass(frozen=True)
class Roles:
    """What data (of one DSCP) meets on a port."""
    port: object
    data: object  # Path
    group: object  # Profile of the priority group that it comes into, or None
    queue: object  # Queue that it leaves by, or None
    paused: bool | None  # whether PFC is on for it


def roles_of(port, dscp):
    data = path_of(port, dscp)
    if data.traffic_class is not None:
        group = port.groups.get(data.group.value if data.group else None)
    else:
        lossless = {id(profile): profile for profile in port.groups.values() if profile.lossless}
        group = next(iter(lossless.values())) if len(lossless) == 1 else None
    queue = port.queues.get(data.queue.value) if data.queue else None
    paused = data.priority in port.pfc.value if port.pfc and data.queue and data.priority is not None else None
    return Roles(port, data, group, queue, paused)


def translate(configuration, port, dscp):
    """The Translation for data with `dscp` on `port`."""
    made, roles = Translation(), roles_of(port, dscp)
    for part in (_memory, _ingress, _egress, _reserves, _scheduling, _pfc, _watchdog, _ecn, _classes, _cable):
        part(made, configuration, roles)
    return made


def size(number):
    return f"{number:.0f}B"


def time(seconds):
    """Exactly, to a nanosecond: 200ms, 1500ns."""
    ns = round(seconds * 1e9)
    factor, unit = next((pair for pair in ((10**9, "s"), (10**6, "ms"), (10**3, "us")) if ns % pair[0] == 0), (1, "ns"))
    return f"{ns // factor}{unit}"


def _listed(numbers):
    return units.listed(map(str, numbers), most=8)


def _pool_of(configuration, roles):
    """Where data comes in: if its group has no profile here, the pool of all groups, if they have the same one. Where
    data leaves tells nothing of it."""
    if roles.group:
        return roles.group.pool
    found = {profile.pool for port in configuration.ports for profile in port.groups.values() if profile.pool}
    return found.pop() if len(found) == 1 else None


def _memory(made, configuration, roles):
    pool, chip = _pool_of(configuration, roles), asics.of_sku(configuration.model)
    of_pool = asics.of_pool(configuration, pool)
    if chip:
        made.put("switch.cell", size(chip.cell_bytes), note=f"{configuration.model}: {chip.title}")
        if chip.slices > 1:
            made.put("switch.slices", chip.slices, note=f"parts of the memory of a {chip.title}; a packet can use one")
    else:
        made.leave_out("switch.cell, slices", f"the chip of {configuration.model} is not in weir's table"
                       if configuration.model else "which chip it is, is not there")
    if of_pool is None or of_pool.shared_bytes < 10000:
        made.leave_out("switch.pool", f"{pool.name} has no size: the switch computes it" if pool and not pool.size else
                       f"{pool.name} has {of_pool.shared_bytes} B to share" if pool else
                       "which pool data uses is not there" + (": config_db.json and buffers.json have BUFFER_POOL and "
                                                              "profiles" if configuration.family == "SONiC" else ""))
        return
    # Where data is lossy, no headroom is in use.
    made.memory = of_pool if roles.group and roles.group.lossless else replace(of_pool, headroom_bytes=0)
    headroom, xoff = made.memory.headroom_bytes, asics.headroom_of(pool)
    if xoff and not chip:
        made.not_known.append(f"whether size of {pool.name} holds its xoff: SONiC's documents say no, as here, and "
                              f"SAI's yes; then pool = \"{pool.size.value - xoff + headroom}B\", and thresholds are "
                              f"{xoff / pool.size.value:.0%} lower")
    made.put("switch.pool", size(of_pool.shared_bytes + headroom), pool.size,
             note=of_pool.how + " + headroom-pool" * bool(headroom))
    if headroom:
        made.put("switch.headroom-pool", size(headroom), *([pool.headroom] if xoff else []),
                 note="" if xoff else f"{pool.name} has no xoff: that of all groups together, each has its own")


def _threshold(made, side, profile, pool):
    """alpha or a fixed size, as the profile has it."""
    limit = profile.limit
    if profile.alpha is not None and not LEAST_ALPHA <= profile.alpha.value <= MOST_ALPHA:
        made.leave_out(f"switch.{side}-alpha", f"{profile.alpha.value} ({profile.alpha}) is not from {LEAST_ALPHA} to "
                       f"{MOST_ALPHA}")
    elif profile.alpha is not None:
        made.put(f"switch.{side}-alpha", profile.alpha.value, profile.alpha)
    elif limit is None:
        made.leave_out(f"switch.{side}-alpha", f"{profile.name} has no threshold")
    else:
        most = min(made.pool_bytes, pool.size.value if pool and pool.size else made.pool_bytes)
        if limit.value > most and made.memory is None:
            made.leave_out(f"switch.{side}-threshold", f"{limit.value} B ({limit}) of a pool whose size is not there")
        else:
            made.put(f"switch.{side}-threshold", size(min(limit.value, most)), limit, note="" if limit.value <= most
                     else f"{limit.value} B are above the pool, which is the limit")


def _ingress(made, configuration, roles):
    group = roles.group
    if group is None or not group.lossless:
        why = f"{group.name} has no headroom (xoff): the group is lossy" if group else \
            "the priority group of data has no profile here" if roles.data.traffic_class else \
            "which priority group data has is not there"
        made.leave_out("switch.ingress-alpha, headroom, resume-offset", why)
        return
    _threshold(made, "ingress", group, group.pool)
    _headroom(made, roles)
    offset, reserved = group.resume_offset, asics.reserved_bytes(group)
    if group.dynamic:
        made.leave_out("switch.headroom, resume-offset", f"the switch computes them itself ({group.name})")
    elif offset is None or (group.limit and not group.alpha and offset.value > group.limit.value):
        made.leave_out("switch.resume-offset", f"that of {group.name} is above its threshold" if offset else
                       f"{group.name} has no xon_offset")
    else:
        made.put("switch.resume-offset", size(offset.value), offset)
    if reserved:
        made.put("switch.pg-reserved", size(reserved), group.reserved, note="" if reserved == group.reserved.value else
                 "without xoff, which is in it: the pool has none")
        made.reserves["pool"] = _in_cells(configuration, reserved)
    # A pause also ends when only what is reserved is in use.
    if group.resume_at is not None and group.resume_at.value > reserved:
        made.lack(f"a pause that does not end above a fixed size: {group.resume_at.value} B ({group.resume_at})")


def _headroom(made, roles):
    group, rate = roles.group, roles.port.rate.value if roles.port.rate else None
    if group.dynamic or rate is None and group.of_rate is None:
        if not group.dynamic:
            made.leave_out("switch.headroom", f"{group.headroom.value} B ({group.headroom}), for a rate that is not "
                           "there; give the file with PORT too")
        if made.memory and 0 < made.memory.headroom_bytes < BASE_HEADROOM:
            made.put("switch.headroom", size(made.memory.headroom_bytes), note="all of headroom-pool; that of the base "
                     "is more")
        return
    of_rate = rate or group.of_rate
    note = f"{group.headroom.value} B of a port of {units.text(of_rate, 'b/s')}"
    if of_rate != 100e9:
        note += ", here as for 100 Gb/s"
    if rate and group.of_rate and rate != group.of_rate:
        note += f"; the profile is for {units.text(group.of_rate, 'b/s')}"
    wanted = math.ceil(group.headroom.value * 100e9 / max(of_rate, LANE_RATE))
    if made.memory and made.memory.headroom_bytes < wanted:
        wanted, note = made.memory.headroom_bytes, note + ", but no more than headroom-pool"
    made.put("switch.headroom", size(wanted), group.headroom, note=note)


def _egress(made, configuration, roles):
    """That of data, if they are lossy; else that of most other queues."""
    own = roles.queue.profile if roles.queue else None
    lossless = bool(roles.group and roles.group.lossless)
    profile = own
    if lossless:
        stopped = roles.port.pfc.value if roles.port.pfc else frozenset()
        others = Counter(queue.profile for number, queue in roles.port.queues.items()
                         if queue.profile and number not in stopped and queue.profile is not own)
        profile = others.most_common(1)[0][0] if others else None
        if own and (own.alpha or own.limit):
            made.lack(f"a limit at egress for a lossless queue ({own.alpha or own.limit})")
    if profile is None:
        made.leave_out("switch.egress-alpha", "no queue that loses packets has a profile here")
        return
    pool, ingress = profile.pool, _pool_of(configuration, roles)
    _threshold(made, "egress", profile, pool)
    apart = bool(made.memory and pool and pool is not ingress and pool.size and pool.size.value)
    if apart:
        as_large = pool.size.value == ingress.size.value
        made.put("switch.egress-pool", size(made.memory.shared_bytes if as_large else pool.size.value), pool.size,
                 note=f"as large as {ingress.name}: what is shared of that" if as_large else "")
    if reserved := asics.reserved_bytes(profile):
        made.put("switch.queue-reserved", size(reserved), profile.reserved)
        key, queues = "egress-pool" if apart else "pool", 7 if roles.paused else 8
        made.reserves[key] = made.reserves.get(key, 0) + queues * _in_cells(configuration, reserved)
    others = [each for each in configuration.pools.values()
              if each.size and each.size.value and each not in (pool, ingress) and made.memory]
    if others:
        made.lack("other pools: " + units.listed([f"{each.name} ({each.size.value} B)" for each in others], most=6))


def _in_cells(configuration, number):
    chip = asics.of_sku(configuration.model)
    return asics.cells(number, chip) * chip.cell_bytes if chip else number


def _reserves(made, configuration, roles):
    if made.memory and made.reserves:
        made.lack("reserves beside the shared memory: weir takes those of a simulation's ports out of it; for N ports "
                  "to share as much as on the switch, add " + units.listed(
                      [f"N x {number}B to {key}" for key, number in made.reserves.items()], most=2))


def _scheduling(made, configuration, roles):
    queues = {number: queue for number, queue in roles.port.queues.items() if queue.weight or queue.strict}
    if beyond := sorted(number for number in roles.port.queues if number not in PRIORITIES):
        made.lack(f"queues beyond 7: {_listed(beyond)}")
    queues = {number: queue for number, queue in queues.items() if number in PRIORITIES}
    if not queues:
        made.leave_out("switch.weights, strict", "no queue has a scheduler here")
        return
    strict = [number for number in sorted(queues) if queues[number].strict]
    if strict:
        made.put("switch.strict", strict, queues[strict[0]].strict)
    weights = {number: queue.weight for number, queue in queues.items() if queue.weight}
    if any(not 1 <= weight.value <= 1000 for weight in weights.values()):
        made.leave_out("switch.weights", "a weight is not from 1 to 1000")
    elif weights:
        absent = [str(number) for number in PRIORITIES if number not in weights and number not in strict]
        made.put("switch.weights", [weights[number].value if number in weights else 1 for number in PRIORITIES],
                 *dict.fromkeys(map(str, weights.values())),
                 note=f"without one: {', '.join(absent)}" if absent else "")


def _pfc(made, configuration, roles):
    if roles.paused is None:
        made.leave_out("pfc.on", "PORT_QOS_MAP has nothing for this port" if not roles.port.pfc and configuration.family
                       == "SONiC" else "which priority pauses data is not there")
        return
    lossless = sorted(dscp for dscp in range(64) if (path := path_of(roles.port, dscp)).queue and path.priority in
                      roles.port.pfc.value)
    made.put("pfc.on", roles.paused, roles.port.pfc, note="" if roles.paused or not lossless else
             f"PFC is on for DSCP {_listed(lossless)} (--dscp)")
    others = sorted(roles.port.pfc.value - {roles.data.priority})
    if roles.paused and others:
        made.lack(f"PFC for priority {_listed(others)} too: a section [class.NAME] for each that has "
                  "traffic")
    if roles.data.priority != roles.data.queue.value:
        made.lack(f"pauses of priority {roles.data.priority} that stop queue {roles.data.queue.value}: weir has one "
                  "number for both, here that of the queue")


def _watchdog(made, configuration, roles):
    watchdog = roles.port.watchdog
    if watchdog is None:
        made.leave_out("watchdog.on", "no watchdog of this port is in these files")
        return
    action, known = watchdog.action, not watchdog.action or watchdog.action.value in ("drop", "forward")
    why = (f"{action.value} is neither drop nor forward" if not known else "PFC is off" if not roles.paused else
           f"not for priority {roles.data.priority}" if watchdog.priorities
           and roles.data.priority not in watchdog.priorities.value else "")
    source = action or watchdog.detection_s or watchdog.restoration_s
    if roles.paused is None:
        made.leave_out("watchdog.on", "whether PFC is on for data is not there")
    else:
        made.put("watchdog.on", not why, *filter(None, (source, watchdog.priorities)), note=why)
    for name, value in (("detection", watchdog.detection_s), ("restoration", watchdog.restoration_s),
                        ("polling", configuration.watchdog_poll_s)):
        if value is None or not 1e-6 <= value.value <= 60:
            made.leave_out(f"watchdog.{name}", "it is not there" if value is None else "it is not from 1 us to 60 s")
        else:
            made.put(f"watchdog.{name}", time(value.value), value)
    if action and known:
        made.put("watchdog.action", action.value, action)


def _ecn(made, configuration, roles):
    if roles.queue is None or roles.data.queue is None:
        made.leave_out("ecn.on", "which queue data has is not there" if roles.data.queue is None else
                       f"queue {roles.data.queue.value} has no entry here")
        return
    marking = roles.queue.marking
    if marking is None:
        made.put("ecn.on", False, roles.data.queue, note="the queue has no profile that marks")
        return
    made.put("ecn.on", marking.marks.value, marking.marks)
    if marking.drops is not None:
        made.put("ecn.drops", marking.drops.value, marking.drops)
    if not marking.marks.value and not (marking.drops and marking.drops.value):
        return
    below, above, probability = marking.none_below, marking.all_above, marking.probability
    if below is None or above is None or below.value > above.value:
        made.leave_out("ecn.none-below, all-above", marking.unread or (
            f"{marking.name} lacks a threshold" if below is None or above is None else
            f"{marking.name}: none-below, {below.value}, is above all-above, {above.value}"))
    else:
        made.put("ecn.none-below", size(below.value), below)
        made.put("ecn.all-above", size(above.value), above)
    if probability is None or not LEAST_PROBABILITY <= probability.value <= 1:
        made.leave_out("ecn.probability", f"{marking.name} has none from 0.01 % to 100 %")
    else:
        made.put("ecn.probability", float(f"{probability.value:.12g}"), probability)


def _classes(made, configuration, roles):
    if roles.data.queue is None or roles.data.queue.value not in PRIORITIES:
        made.leave_out("classes.data", why_no_queue(roles.port, roles.data.dscp)
                       if roles.data.queue is None else f"its queue is {roles.data.queue.value}, and weir has 0 to 7")
        return
    made.put("classes.data", roles.data.queue.value, roles.data.traffic_class, roles.data.queue)
    cnp = path_of(roles.port, CNP_DSCP)
    if cnp.queue is None or cnp.queue.value not in PRIORITIES:
        made.leave_out("classes.cnp", f"where DSCP {CNP_DSCP} goes is not there")
    else:
        made.put("classes.cnp", cnp.queue.value, cnp.traffic_class, cnp.queue)


def _cable(made, configuration, roles):
    cable = roles.port.cable_m
    if cable is None or not cable.value:
        made.leave_out("topology.host-delay", "the length of the cable is not there")
    elif cable.value * NS_PER_METRE > 1e8:
        made.leave_out("topology.host-delay", f"{cable.value:g} m are more than 0.1 s")
    else:
        made.put("topology.host-delay", time(cable.value * NS_PER_METRE * 1e-9), cable,
                 note=f"{cable.value:g} m x {NS_PER_METRE} ns")
