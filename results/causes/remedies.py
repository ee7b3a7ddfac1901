"""What weir advises, applied to the plan that was simulated: the words, read as a user would; and less of it."""

import dataclasses
import re

import families

UNITS = {"b/s": 1, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12}
TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
SIZES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
         "TiB": 2**40}
OPTIONS = r"--(slots|streams|requests|outstanding|window) (\d+)"
LESS = 0.97
NOW = r"(?: instead of [\d.]+ ?\S+)?"


@dataclasses.dataclass(frozen=True)
class Reading:
    """How a remedy is meant. repairs: with links, times or processing as advised whatever slowed them down is gone too;
    else what is advised is the plan's, and faults stay."""
    repairs: bool


TWIN = Reading(True)     # of what the run showed
PROOF = Reading(False)   # of the plan that was simulated


def without(plan, *starts):
    return {**plan, "fault": [fault for fault in plan["fault"] if not fault.startswith(starts)]}


def repaired(plan, reading, *starts):
    return without(plan, *starts) if reading.repairs else plan


def quantity(text, units):
    number, unit = re.fullmatch(r"([\d.]+) ?(\D\S*)", text).groups()
    return float(number) * units[unit]


def rate(text):
    return families.bits(quantity(text, UNITS))


def us(text):
    return families.time_of(quantity(text, TIMES))


def size(text):
    return f"{int(quantity(text, SIZES))}B"


def links(plan, found, reading):
    role = found[1][:-1]
    return {**repaired(plan, reading, f"degrade:{role}="), f"{role}-link": rate(found[2])}


def link_of(plan, found, reading):
    role, index = found[2], found[3]
    usual, *own = str(plan[f"{role}-link"]).split(",")
    own = [part for part in own if not part.startswith(f"{index}=")]
    return {**repaired(plan, reading, f"degrade:{role}={index},"),
            f"{role}-link": ",".join([usual, *own, f"{index}={rate(found[1])}"])}


def faster_links(plan, found, _):
    """Times what they are, whatever slows them down."""
    option, factor = f"{found[1][:-1]}-link", float(found[2])
    speeds = [part.rpartition("=") for part in plan[option].split(",")]
    return {**plan, option: ",".join(f"{who}{equal}{families.bits(quantity(speed, UNITS) * factor)}"
                                     for who, equal, speed in speeds)}


def faster_cables(plan, found, _):
    now = next((one.partition("=")[2] for one in plan["switch-set"] if one.startswith("topology.uplink-rate=")), None)
    return now and families.with_key(plan, "topology.uplink-rate",
                                     families.bits(quantity(now, UNITS) * float(found[1])))


def memory(plan, found, _):
    plan = families.with_key(plan, "switch.pool", size(found[1]))
    return families.with_key(plan, "switch.egress-threshold", size(found[2])) if found[2] else plan


def processing(plan, found, reading):
    kind = plan["busy"].split(":")[0]
    return {**repaired(plan, reading, "slow:consumer"), "busy": f"{kind}:{us(found[1])}"}


def named_ranks(text):
    """"the scheduler and consumers 1 and 2": "scheduler", "consumer=1", "consumer=2"; a role alone where not all are
    named."""
    found = ["scheduler"] if "the scheduler" in text else []
    for role, indices in re.findall(r"(producer|consumer)s? ((?:\d+(?:, | and )?)+)", text):
        found += [role] if " more" in text else [f"{role}={index}" for index in re.findall(r"\d+", indices)]
    return found


def without_ranks(*kinds):
    return lambda plan, found, _: without(plan, *(f"{kind}:{rank}" + ("," if "=" in rank else "") for kind in kinds
                                                  for rank in named_ranks(found[1])))


def without_places(plan, found, _):
    places = re.findall(r"(?:leaf|spine|core|consumer|producer)-\d+(?::[\w-]+)?", found[0])
    return {**plan, "fault": [fault for fault in plan["fault"] if not any(f"={place}," in fault for place in places)]}


def without_option(plan, found, _):
    left_out = (found[1], "low-water") if found[1] == "high-water" else (found[1],)
    return {name: value for name, value in plan.items() if name not in left_out}


# (the words of a remedy, the plan with it, what less of it is: a group that is a number and the factor, None for one
# less; () where it has no amount)
REMEDIES = (
    (rf".*?{OPTIONS}.*", lambda plan, found, _: {**plan, found[1]: int(found[2])}, (2, None)),
    (rf"use (producers|consumers)' links of ([\d.]+ \S+){NOW} \(--\S+\)", links, (2, LESS)),
    (r"use (producers|consumers)' links ([\d.]+) times as fast \(--\S+\)", faster_links, (2, LESS)),
    (rf"use a link of ([\d.]+ \S+) for (producer|consumer)s? (\d+){NOW} \(--\S+\)", link_of, (1, LESS)),
    (rf"use cables between switches of ([\d.]+ \S+){NOW} \(.*\)",
     lambda plan, found, _: families.with_key(plan, "topology.uplink-rate", rate(found[1])), (1, LESS)),
    (r"use cables between switches ([\d.]+) times as fast \(.*\)", faster_cables, (1, LESS)),
    (r"shorten processing of an event from .* to ([\d.]+ \S+) on average \(--busy\)", processing, (1, 1 / LESS)),
    (rf"speed up the scheduler, to ([\d.]+ \S+) for a message{NOW} \(--scheduler-time\)", lambda plan, found, reading: {
        **repaired(plan, reading, "slow:scheduler"), "scheduler-time": us(found[1])}, (1, 1 / LESS)),
    (r"lower the latency from .* to ([\d.]+ \S+) \(--latency\)",
     lambda plan, found, reading: {**repaired(plan, reading, "delay:"), "latency": us(found[1])}, (1, 1 / LESS)),
    (rf"use a --buffer of ([\d.]+ \S+){NOW}", lambda plan, found, _: {**plan, "buffer": size(found[1])}, (1, LESS)),
    (rf"use --port-buffer (\S+){NOW}", lambda plan, found, _: {**plan, "port-buffer": size(found[1])}, (1, LESS)),
    (rf"use sockets that hold ([\d.]+ \S+){NOW} \(--socket-buffer\)(?:, which .*)?",
     lambda plan, found, _: {**plan, "socket-buffer": size(found[1])}, (1, LESS)),
    (rf"use switches with ([\d.]+ \S+) of memory{NOW}(?: and ([\d.]+ \S+) for a queue of a port \(.*\))?",
     memory, (1, LESS)),
    (rf"use an --event-size of ([\d.]+ \S+){NOW}", lambda plan, found, _: {**plan, "event-size": size(found[1])}, ()),
    (r"leave --(shaping|high-water) out", without_option, ()),
    (r"switch (?:PFC|ECN) off \(--(pfc|ecn) (off)\)", lambda plan, found, _: {**plan, found[1]: found[2]}, ()),
    (r"use network cards that losses do not slow down .*",
     lambda plan, found, _: families.with_key(plan, "dcqcn.notify-losses", "false"), ()),
    (r"keep the traffic of others off .*", lambda plan, found, _: families.without_key(plan, "background.rate"),
     ()),
    (r"remove the delay of control messages", lambda plan, found, _: without(plan, "delay:"), ()),
    (r"keep (.+?) running(?:: look .*)?", without_ranks("pause"), ()),
    (r"keep (.+?) from being lost(?:: look .*)?", without_ranks("die", "cut"), ()),
    (r"look for what slows (.+) down", without_ranks("slow"), ()),
    (r"repair (?:links? )?(?:leaf|spine|core).*", without_places, ()),
    (r"repair the links? of (.+)", without_ranks("degrade"), ()),
    (r"replace the NICs? of .+", without_places, ()),
    # Who looks finds the one that was planted.
    (r"look at (?:this host's link|cables|this cable|this host and its NIC)\b.*",
     lambda plan, found, _: without(plan, "degrade:", "errors:", "cut:", "storm:"), ()),
    (r"move that traffic away\b.*", lambda plan, found, _: families.without_key(plan, "background.rate"), ()),
)


def parts_of(remedy, together):
    """The remedy, or both of a pair: each begins with what is to be done or had."""
    return re.split(r" and (?=use |speed |keep |look |leave |repair |replace |shorten |lower |remove |switch |spread "
                    r"|move )", remedy) if together else [remedy]


def known(remedy):
    """(match, the plan with it, its amount) of the first words that fit."""
    return next(((found, change, amount) for words, change, amount in REMEDIES
                 if (found := re.fullmatch(words, remedy))), (None, None, ()))


def one(plan, remedy, reading=TWIN):
    """The plan with one remedy; None: its words are not known here."""
    found, change, _ = known(remedy)
    return found and change(plan, found, reading)


def less_of(remedy):
    """The same words with less of it; None where it has no amount."""
    found, _, amount = known(remedy)
    if not amount:
        return None
    group, factor = amount
    begin, end = found.span(group)
    number, unit = re.fullmatch(r"([\d.]+)(.*)", found[group]).groups()
    wanted = f"{int(number) - 1}" if factor is None else f"{float(number) * factor:.6f}"
    return f"{remedy[:begin]}{wanted}{unit}{remedy[end:]}"


def applied(plan, parts, reading=TWIN):
    """The plan with these remedies; None: one of them is not known."""
    for part in parts:
        plan = plan and one(plan, part, reading)
    return plan
