"""What is wrong with a configuration before any packet moves: findings with their numbers, the worst first."""

import math
from dataclasses import dataclass, field

from weir_runs.basics import units

from . import asics
from .qos_description import CNP_DSCP, NS_PER_METRE, path_of, why_no_queue
from .switch_keys import roles_of

SERIOUS, WARNING, NOTE = "serious", "warning", "note"
ORDER = (SERIOUS, WARNING, NOTE)
JUMBO_BYTES = 9216  # the largest frame that SONiC's ports take by default, with headers
ROCE_BYTES = 4096 + 98  # that of RoCE v2, with all headers, over IPv6 and with a VLAN tag
LEAST_PROBABILITY = 0.01
# Times in ms, as SONiC's command reference has them.
PFCWD_START = "sudo pfcwd start --action drop all 400 --restoration-time 400"


@dataclass
class Finding:
    severity: str
    kind: str
    text: str
    advice: str
    sources: tuple = ()  # places, as text
    ports: list = field(default_factory=list)


def audit(configuration, dscp, hosts=()):
    """Findings of all ports, the worst first. `dscp`: of data; `hosts`: what must agree with the switch."""
    found = {}
    for port in configuration.ports:
        if port.pfc is None and not port.queues:
            continue
        for check in (_not_judged, _pause_before_marks, _headroom, _groups, _data, _notifications, _marks, _watchdog):
            for one in check(configuration, port, roles_of(port, dscp)):
                found.setdefault((one.kind, one.text), one).ports += port.names
    more = [*_not_read(configuration), *_headroom_pool(configuration), *_neighbours(configuration),
            *(Finding(NOTE, "remark", line, "compare what is printed with the switch") for line in
              configuration.remarks),
            *(Finding(NOTE, "contradiction", line, "see to it that the switch has what is meant")
              for line in configuration.odd)]
    for host in hosts:
        more += host.findings(configuration.ports[0], dscp)
    for one in more:
        found.setdefault((one.kind, one.text), one)  # each of several ASICs may have it
    return sorted(found.values(), key=lambda one: ORDER.index(one.severity))


def _has_rdma(port):
    """Whether anything here is for lossless traffic."""
    return bool(port.pfc and port.pfc.value or any(queue.marking for queue in port.queues.values()))


def _not_read(configuration):
    """What was not understood, and a configuration of which nothing can be judged."""
    if configuration.not_understood:
        yield Finding(WARNING, "not-understood", "not understood, so what it sets was not judged: "
                      + units.listed(configuration.not_understood, most=3, between="; "),
                      "switch-import without --audit lists all; see to it yourself")
    if not any(map(_has_rdma, configuration.ports)):
        yield Finding(WARNING, "nothing-judged", "no check could be made: no port has PFC or marks in what was "
                      "understood of these files", "see whether the files have all of the configuration")


def _not_judged(configuration, port, roles):
    """Checks for which something is missing."""
    if _has_rdma(port) and (missing := [f"{check} ({why})" for check, why in (
            ("the queue of data, its marks and pauses", "" if roles.data.queue else
             why_no_queue(port, roles.data.dscp)),
            ("marks of data", _why_no_marks(roles)),
            ("whether ECN acts before PFC", _why_no_order(configuration, roles)),
            ("headroom", _why_no_headroom(configuration, port))) if why]):
        yield Finding(WARNING, "not-judged", f"not judged: {'; '.join(missing)}",
                      "give the files that have it too" if configuration.family == "SONiC" else
                      "see to it on the switch; in a switch file set pool, ingress-alpha and thresholds, and ask weir "
                      "simulate --dry-run")


def _why_no_marks(roles):
    marking = roles.queue and roles.queue.marking
    if roles.data.queue is None or roles.paused is False:
        return ""
    return f"queue {roles.data.queue.value} has no entry here" if roles.queue is None else \
        marking.unread if marking else ""


def _why_no_order(configuration, roles):
    marking, group = roles.queue and roles.queue.marking, roles.group
    if not (roles.paused and marking and marking.marks.value) or marking.unread or group and not group.lossless:
        return ""
    if marking.none_below is None:
        return f"{marking.name} has no threshold"
    known = group and threshold_bytes(_shared_bytes(configuration, group), group, 1) is not None
    return "" if known else (f"marks begin at {_size(marking.none_below.value)}, and the memory, or what the group of "
                             "data may have of it, is not in these files")


def _why_no_headroom(configuration, port):
    if not (port.pfc and port.pfc.value):
        return ""
    lossless = [group for group in port.groups.values() if group.lossless]
    if all(group.dynamic for group in lossless) and lossless:
        return ""  # the switch computes it
    if not any(group.lossless for each in configuration.ports for group in each.groups.values()):
        return "no group has any in these files"
    missing = [words for words, known in (("speed", port.rate), ("length of cable", port.cable_m)) if known is None]
    return f"no {' and no '.join(missing)} in these files" if missing else ""


def _shared_bytes(configuration, profile):
    """Of the pool of a group, what a packet can use. None if it is not known."""
    of_pool = asics.of_pool(configuration, profile.pool)
    return of_pool and of_pool.shared_bytes / of_pool.slices


def threshold_bytes(shared, profile, groups):
    """Bytes with which each of so many groups that are equally full is at its threshold. None if it is not known."""
    if profile.limit is not None:
        return profile.limit.value
    if profile.alpha is None or shared is None:
        return None
    return profile.alpha.value * shared / (1 + groups * profile.alpha.value)


def _size(number):
    return units.text(number, "B", like=number)  # not in KiB: configurations have powers of ten


def _listed(numbers):
    return units.listed(map(str, sorted(numbers)), most=8) or "none"


def _places(*sources):
    return tuple(str(source.place) for source in sources if source is not None)


def _ports_of_pool(configuration, group):
    return sum(len(each.names) for each in configuration.ports if each.pfc and each.pfc.value
               and any(other.pool is group.pool for other in each.groups.values()))


def _pause_before_marks(configuration, port, roles):
    """A queue holds what came in by all ports that send to it, and PFC looks at each port's group: with N senders to a
    queue, N groups have what waits in it."""
    marking, group = roles.queue and roles.queue.marking, roles.group
    if not (roles.paused and marking and marking.marks.value and marking.none_below and group and group.lossless):
        return
    kmin, shared = marking.none_below.value, _shared_bytes(configuration, group)
    ports = configuration.senders or _ports_of_pool(configuration, group)
    paused_from = [threshold_bytes(shared, group, number) for number in range(1, ports + 1)]
    if not paused_from or None in paused_from:
        return
    all_of = [number * of_each for number, of_each in enumerate(paused_from, start=1)]
    marked_first = next((number for number, together in enumerate(all_of, start=1) if together > kmin), None)
    severity, text, advice = WARNING, "", f"set Kmin below {_size(all_of[0])}, or a larger threshold of the group"
    if marked_first is None:
        severity, text = SERIOUS, (
            f"ECN cannot act before PFC: marks begin at {_size(kmin)} in a queue, and with "
            f"{units.counted(ports, 'sender')} to it, all that there are, their groups are paused from "
            f"{_size(all_of[-1])} on, all together")
    elif marked_first > 1:
        text = (f"with {'1 sender' if marked_first == 2 else f'1 to {marked_first - 1} senders'} to a queue PFC acts "
                f"before ECN: the group of a single one is paused from {_size(all_of[0])} on, and marks begin at "
                f"{_size(kmin)}; with {marked_first} or more senders marks begin first, for their groups are paused "
                f"from {_size(all_of[marked_first - 1])} on, all together")
    elif paused_from[:configuration.receivers][-1] <= kmin:
        least = next(number for number, of_each in enumerate(paused_from, start=1) if of_each <= kmin)
        text = (f"PFC acts before ECN when groups of {least} of {ports} ports are full at the same time, each for a "
                f"queue of its own: each is then paused from {_size(paused_from[least - 1])} on, and marks begin at "
                f"{_size(kmin)}")
        advice = f"for all {ports} ports: set Kmin below {_size(paused_from[-1])}"
    if text:
        yield Finding(severity, "ecn-after-pfc", text, advice,
                      _places(marking.none_below, group.alpha or group.limit, group.pool and group.pool.size))


def _headroom(configuration, port, roles):
    """What still arrives after a pause: the cable, there and back, and a frame that was begun on each side, of RoCE if
    there is no other traffic."""
    if port.rate is None or port.cable_m is None:
        return
    round_trip = 2 * port.cable_m.value * NS_PER_METRE * 1e-9 * port.rate.value / 8
    least, need = round_trip + 2 * ROCE_BYTES, round_trip + 2 * JUMBO_BYTES
    for group in {id(each): each for each in port.groups.values() if each.headroom and each.headroom.value}.values():
        if group.headroom.value < need:
            is_lost = group.headroom.value < least
            yield Finding(SERIOUS if is_lost else WARNING, "headroom", f"headroom of {group.name} is "
                          f"{_size(group.headroom.value)}, and {'at least' if is_lost else 'with jumbo frames'} "
                          f"{_size(least if is_lost else need)} arrive after a pause: {_size(round_trip)} on "
                          f"{port.cable_m.value:g} m at {units.text(port.rate.value, 'b/s')}, and 2 frames"
                          + ("; packets are lost in spite of PFC" if is_lost else ""),
                          f"set xoff to {math.ceil(need)} or more", _places(group.headroom, port.cable_m, port.rate))
        if group.of_rate and group.of_rate != port.rate.value:
            yield Finding(WARNING, "headroom-of-other-rate", f"{group.name} is for "
                          f"{units.text(group.of_rate, 'b/s')}, and the port has {units.text(port.rate.value, 'b/s')}",
                          "use the profile of the port's speed", _places(group.headroom, port.rate))


def _headroom_pool(configuration):
    of_pool = {}
    for port in configuration.ports:
        for group in port.groups.values():
            if group.headroom and group.headroom.value and group.pool:
                # By itself: each ASIC has one of this name.
                _, total, most, number = of_pool.get(id(group.pool), (None, 0, 0, 0))
                of_pool[id(group.pool)] = (group.pool, total + group.headroom.value * len(port.names),
                                           max(most, group.headroom.value), number + len(port.names))
    for pool, total, most, number in of_pool.values():
        # Without a pool of its own headroom is in the size where the chip is known.
        limit = pool.headroom if asics.headroom_of(pool) else pool.size if asics.of_sku(configuration.model) else None
        if limit is not None and total > limit.value:
            yield Finding(SERIOUS if limit is pool.size else WARNING, "headroom-pool",
                          f"{number} groups of all ports have headroom of {_size(total)} together, and {pool.name} "
                          f"has {_size(limit.value)} for it: enough for {int(limit.value // most)} at once",
                          f"give it more, or less to groups: with {number // 2} paused at once it takes "
                          f"{_size(total / 2)}", _places(limit))


def _priority_of_group(port):
    """group -> priorities whose packets it holds; empty if the map is not there."""
    made = {}
    for priority, group in (port.group_of_class or {}).items():
        made.setdefault(group.value, set()).add(priority)
    return made


def _groups(configuration, port, roles):
    known = any(group.lossless for each in configuration.ports for group in each.groups.values())  # in these files
    for number, priorities in _priority_of_group(port).items() if port.pfc else ():
        group, paused = port.groups.get(number), priorities & port.pfc.value
        if group and group.lossless and not paused:
            yield Finding(SERIOUS, "lossless-without-pfc", f"priority group {number} has headroom ({group.name}), and "
                          f"PFC is off for its priorities {_listed(priorities)}: it loses packets when it is full",
                          "turn PFC on for the priority, or use a lossy profile", _places(port.pfc, group.headroom))
        elif paused and known and not (group and group.lossless):
            yield Finding(SERIOUS, "pfc-of-lossy-group", f"PFC is on for priority {min(paused)}, and its priority "
                          f"group {number} is lossy: {group.name + ' has no headroom' if group else 'no profile'}",
                          "give the group a profile with headroom, or turn PFC off for the priority",
                          _places(port.pfc, group.reserved if group else None))


def _data(configuration, port, roles):
    path = roles.data
    if path.queue is None:
        return
    rest = path_of(port, 0)
    lossless = sorted(dscp for dscp in range(64) if (each := path_of(port, dscp)).queue and port.pfc
                      and each.priority in port.pfc.value)
    if roles.paused is False and port.pfc.value:
        yield Finding(SERIOUS, "data-in-lossy-queue", f"data with DSCP {path.dscp} goes to queue {path.queue.value}, "
                      f"which no PFC protects; PFC is on for DSCP {_listed(lossless)}",
                      f"map DSCP {path.dscp} to a class with PFC, or let hosts send another DSCP (--dscp)",
                      _places(path.traffic_class, path.queue, port.pfc))
    if path.dscp and rest.queue and rest.queue.value == path.queue.value:
        yield Finding(WARNING, "data-in-shared-queue", f"data with DSCP {path.dscp} shares queue {path.queue.value} "
                      "with traffic without a DSCP (0)", "give data a class of its own", _places(path.traffic_class))


def _notifications(configuration, port, roles):
    cnp, data, rest = path_of(port, CNP_DSCP), roles.data, path_of(port, 0)
    if cnp.queue is None or data.queue is None:
        return
    with_whom = ("data, and waits behind it" if cnp.queue.value == data.queue.value else
                 "traffic without a DSCP (0), and is lost with it" if rest.queue and cnp.queue.value == rest.queue.value
                 else "")
    if with_whom:
        yield Finding(WARNING, "cnp-in-shared-queue", f"a CNP with DSCP {CNP_DSCP} shares queue {cnp.queue.value} with "
                      f"{with_whom}", "map it to a queue of its own with strict priority", _places(cnp.traffic_class))


def _marks(configuration, port, roles):
    if roles.queue is None or not roles.paused:
        return
    marking = roles.queue.marking
    if marking is None or not marking.marks.value:
        yield Finding(WARNING, "no-marks", f"queue {roles.data.queue.value} of data marks nothing: only PFC slows "
                      "senders down, and it stops others too", "turn ECN on for the queue",
                      _places(marking.marks if marking else roles.data.queue))
    elif marking.probability and marking.probability.value <= LEAST_PROBABILITY and marking.all_above:
        yield Finding(WARNING, "few-marks", f"at {_size(marking.all_above.value)} only "
                      f"{units.exact_percent(marking.probability.value)} of the packets are marked: senders hardly "
                      "slow down before every packet is", "set the probability at Kmax to 5 % or more",
                      _places(marking.probability))


def _watchdog(configuration, port, roles):
    if port.pfc and port.pfc.value and port.watchdog is None:
        known = any(each.watchdog for each in configuration.ports)
        yield Finding(WARNING if known else NOTE, "watchdog", "PFC is on without a watchdog"
                      + ("" if known else " in these files") + ": a host that pauses without end stops others too",
                      "turn the watchdog on" + (f": {PFCWD_START}" if configuration.family == "SONiC" else ""),
                      _places(port.pfc))
    elif port.watchdog and port.watchdog.priorities and (
            unwatched := (port.pfc.value if port.pfc else frozenset()) - port.watchdog.priorities.value):
        yield Finding(WARNING, "watchdog", f"the watchdog looks at priority {_listed(port.watchdog.priorities.value)}, "
                      f"and PFC is on for priority {_listed(unwatched)} too", "name the same priorities in both",
                      _places(port.watchdog.priorities, port.pfc))
    elif port.watchdog and port.watchdog.action and port.watchdog.action.value == "alert":
        yield Finding(WARNING, "watchdog", f"the watchdog's action is {port.watchdog.action.value}: it ends no storm",
                      "use drop or forward", _places(port.watchdog.action))


def _neighbours(configuration):
    """Ports of one speed and cable that have not the same settings."""
    alike = {}
    for port in configuration.ports:
        if port.pfc is not None or port.queues:
            alike.setdefault((port.rate and port.rate.value, port.cable_m and port.cable_m.value), []).append(port)
    for most, *others in alike.values():
        for port in others:
            differ = [name for name, part in (
                ("PFC", "pfc"), ("priority groups", "groups"), ("queues", "queues"), ("watchdog", "watchdog"),
                ("map of DSCPs", "class_of_dscp"), ("map of queues", "queue_of_class"),
                ("map of groups", "group_of_class")) if getattr(port, part) != getattr(most, part)]
            if differ:
                alike = " and ".join(words for known, words in (
                    (port.rate, "speed"), (port.cable_m, "length of cable")) if known)
                yield Finding(NOTE, "other-than-neighbours", f"{port.title} and {most.title} differ"
                              f"{f', at the same {alike},' if alike else ''} in: {units.listed(differ, most=7)}",
                              "see whether that is meant", ports=port.names)


def lines(configuration, findings):
    """For terminals."""
    serious, warnings = (sum(one.severity == severity for one in findings) for severity in (SERIOUS, WARNING))
    notes = units.counted(len(findings) - serious - warnings, "note")
    rest = f"{units.counted(warnings, 'warning')} and {notes} in {units.listed(configuration.files, most=6)}"
    kinds = {one.kind for one in findings}
    if "nothing-judged" in kinds and not serious:
        yield f"Nothing could be judged: {rest}"
    elif not serious and kinds & {"not-judged", "not-understood"}:
        yield f"No serious finding in what could be judged, {rest}"
    else:
        yield f"{units.counted(serious, 'serious finding')}, {rest}"
    for one in findings:
        where = f" ({one.ports[0]}" + (f" and {len(one.ports) - 1} more)" if len(one.ports) > 1 else ")") \
            if one.ports else ""
        yield f"\n{one.severity.upper():8} {one.text}{where}"
        if one.sources:
            yield f"{'':8} {units.listed(one.sources, most=4)}"
        yield f"{'':8} -> {one.advice}"
    yield "\nWhich threshold acts in a plan: weir simulate --switch FILE ... --dry-run prints the pressure on each."


def record(configuration, findings):
    """For programs."""
    return {"schema": "weir-switch-audit/1", "files": configuration.files, "family": configuration.family,
            **{f"{severity}s" if severity != SERIOUS else severity: sum(one.severity == severity for one in findings)
               for severity in ORDER},
            "findings": [{"severity": one.severity, "kind": one.kind, "text": one.text, "advice": one.advice,
                          "sources": list(one.sources), "ports": one.ports} for one in findings]}
