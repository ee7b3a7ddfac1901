"""What the audit of a switch finds in a proposal of weir-sweep tune that it does not find in the present setting. Both
are keys in force of a simulation, and the ports are those of its hosts."""

import re

from weir_runs.basics import quantities

from .audit import NOTE, ORDER, audit
from .qos_description import (CNP_DSCP, NS_PER_METRE, ROCE_DSCP, Marking, Place, Pool, Port, Profile, Queue, Sourced,
                              SwitchConfiguration, Watchdog)

LANE_RATE, RATE_OF_HEADROOM = 25e9, 100e9  # see switch_keys


def new_findings(before, after, hosts, link):
    """Findings, the worst first. `before`, `after`: {section: {key: text}} in force; `hosts`: how many send, and how
    many receive; `link`: text of their rate."""
    old, new = ({one.kind: one for one in reversed(audit(_configuration(keys, *hosts, link), ROCE_DSCP))}
                for keys in (before, after))
    worse = [one for kind, one in new.items() if one.severity != NOTE
             and (kind not in old or ORDER.index(one.severity) < ORDER.index(old[kind].severity))]
    return sorted(worse, key=lambda one: ORDER.index(one.severity))


def _configuration(keys, senders, receivers, link):
    made = _Keys(keys)
    data, cnp = int(made.text("classes.data") or 0), made.text("classes.cnp") or ""
    rate = made.sourced(quantities.number_of(link or "")) if link else None
    headroom_pool, slices = made.value("switch.headroom-pool") or 0.0, made.value("switch.slices") or 1.0
    pool = Pool("the pool", made.sourced((((made.value("switch.pool") or 0.0) - headroom_pool) / slices, "B")),
                made.sourced((headroom_pool, "B")))
    limit = made.number("switch.ingress-threshold")
    limit = limit if limit and limit.value else None
    headroom = made.number("switch.headroom", max(rate.value, LANE_RATE) / RATE_OF_HEADROOM if rate else 1.0)
    group = Profile("the group of data", pool, None, None if limit else made.number("switch.ingress-alpha"), limit,
                    headroom)
    port = Port([f"host {number}" for number in range(senders)], rate,
                made.number("topology.host-delay", 1.0 / NS_PER_METRE))
    on = made.is_on("pfc.on")
    port.pfc = Sourced(frozenset({data} if on else ()), Place("", "pfc.on"))
    port.groups = {data: group} if on else {}
    port.queues = {data: Queue(marking=Marking("data", Sourced(made.is_on("ecn.on"), Place("", "ecn.on")), None,
                                               made.number("ecn.none-below"), made.number("ecn.all-above"),
                                               made.number("ecn.probability")))}
    classes = {ROCE_DSCP: data, **({CNP_DSCP: int(cnp)} if re.fullmatch(r"\d", cnp) else {})}
    port.class_of_dscp = {dscp: Sourced(number, Place("", "classes")) for dscp, number in classes.items()}
    port.queue_of_class = port.group_of_class = {number: Sourced(number, Place("", "classes"))
                                                 for number in classes.values()}
    if made.is_on("watchdog.on"):
        port.watchdog = Watchdog()
    return SwitchConfiguration([], "", ports=[port], senders=senders, receivers=receivers)


class _Keys:
    def __init__(self, keys):
        self.keys = keys

    def text(self, name):
        section, _, key = name.partition(".")
        return self.keys.get(section, {}).get(key)

    def is_on(self, name):
        return self.text(name) == "true"

    def value(self, name):
        found = quantities.number_of(self.text(name) or "")
        return found and float(found[0])

    def number(self, name, factor=1.0):
        value = self.value(name)
        return None if value is None else Sourced(value * factor, Place("", name))

    @staticmethod
    def sourced(found):
        return found and Sourced(float(found[0]), Place("", ""))
