"""Arista EOS, `show running-config`, as a description of the switch: maps, PFC, marks, weights, the watchdog. How much
memory a group or queue may have is not in that text.

Grammar: Arista, User Manual, "Quality of Service" (arista.com/en/um-eos/eos-quality-of-service, of EOS 4.2x), and the
configurations that aristanetworks/avd writes (3cac535c16). Sizes in bytes, kbytes and mbytes are powers of ten here;
segments have a size that differs by chip and are not read. The same manual has what holds without a line: the map of
DSCPs, which is one for Arad, Jericho, Trident and Tomahawk; a class goes to the queue of its number; routed ports trust
DSCPs, and others CoS."""

import re
from dataclasses import replace

from .eos_policies import APPLIED, Policies
from .qos_description import Marking, Place, Port, Queue, Sourced, SwitchConfiguration, Watchdog, alike

BLOCK = re.compile(r"(interface|qos profile) (\S+)$")
PHYSICAL = re.compile(r"Ethernet\d+(/\d+)*")
QUEUE_BLOCK = re.compile(r"(uc-|mc-)?tx-queue (\d)(?: |$)")
THRESHOLDS = re.compile(r"random-detect (ecn|drop) minimum-threshold (\d{1,15}) (\w+) maximum-threshold (\d{1,15}) "
                        r"(\w+)(?: (?:max-mark|drop)-probability (\d{1,3}))?")
DSCP_MAP = re.compile(r"qos map dscp ((?:\d{1,2} )+)to traffic-class (\d)")
QUEUE_MAP = re.compile(r"qos map traffic-class ((?:\d )+)to (?:uc-)?tx-queue (\d)")
PRIORITY = re.compile(r"priority-flow-control priority (\d) (no-drop|drop)")
WATCHDOG = re.compile(r"priority-flow-control pause watchdog (?:default |port )?"
                      r"(timeout|recovery-time|polling-interval|action) (\S+)")
PORT_TIMER = re.compile(r"priority-flow-control pause watchdog port timer timeout (\S+) polling-interval (\S+) "
                        r"recovery-time (\S+)")
SPEED = re.compile(r"speed (?:forced |auto )?(\d{1,4})g(?:full)?(?:-\d+)?$")
OF_QOS = re.compile(r"(qos|priority-flow-control|random-detect|platform \S+ (mmu|qos)|hardware buffer|bandwidth|shape|"
                    r"priority|service-policy)( |$)")
NOT_OF_DATA = re.compile(r"qos (map (cos|exp|traffic-class [\d ]+ to (cos|exp|mc))|trust|profile|cos|dscp)|"
                         r"random-detect ecn count$")
NOT_MODELLED = {re.compile(r"qos (map traffic-class [\d ]+ to dscp|rewrite)"): "DSCPs that the switch writes",
                re.compile(r"shape rate"): "shaping of ports and queues",
                re.compile(r"bandwidth guaranteed"): "bandwidth that a queue has for itself",
                re.compile(r"service-policy type tx-queue"): "queues, their shares and marks by a policy-map; weir "
                                                             "reads them of tx-queue in an interface or a qos profile"}
CLASS_OF_EIGHT = (1, 0, 2, 3, 4, 5, 6, 7)  # DSCPs 0 to 7, 8 to 15 and so on
DEFAULT = "no line: EOS's default"
# Whose blocks look alike.
OF_NXOS = re.compile(r"^(feature |vrf context |policy-map type (network-qos|queuing)|!Command: |"
                     r" +priority-flow-control mode auto)", re.MULTILINE)
BYTES = {"bytes": 1, "kbytes": 10**3, "mbytes": 10**6}


def is_eos(text):
    return bool(re.search(r"^(! device: |qos profile |qos map |interface Ethernet\d)", text, re.MULTILINE)
                and not OF_NXOS.search(text))


class _Block:
    """Lines of an interface or profile, by what they set: later ones take the place of earlier ones."""

    def __init__(self):
        self.settings, self.priorities, self.queues, self.watchdog = {}, {}, {}, {}

    def key(self):
        """Equal for equal interfaces."""
        queues = {number: queue for number, queue in self.queues.items() if queue != Queue()}
        return tuple(frozenset(of.items()) for of in (self.settings, self.priorities, self.watchdog, queues))


def describe(files, file, text):
    made = SwitchConfiguration(files, "EOS")
    reader = _Eos(file, made)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.take(number, line.rstrip())
    if not re.search(r"^ +\S", text, re.MULTILINE):
        made.not_understood.insert(0, "no line is indented, so what belongs to which interface or profile; show "
                                      "running-config prints it so")
    made.ports = sorted((reader.port(names) for names in
                         alike({name: block.key() for name, block in reader.interfaces.items()})),
                        key=lambda port: (not port.pfc.value, not port.queues, -len(port.names)))
    made.watchdog_poll_s = _seconds(reader.watchdog, "polling-interval")
    return made


class _Eos:
    def __init__(self, file, made):
        self.file, self.made = file, made
        self.interfaces, self.profiles = {}, {}
        self.block, self.depth, self.queues, self.queue = None, 0, {}, None
        self.context = []  # lines that lead to the one that is taken
        self.watchdog, self.all_off, self.policies = {}, None, Policies()
        self.class_of_dscp = {dscp: self.default("qos map dscp", CLASS_OF_EIGHT[dscp >> 3]) for dscp in range(64)}
        self.queue_of_class = {number: self.default("qos map traffic-class", number) for number in range(8)}

    def default(self, line, value):
        return Sourced(value, Place(self.file, line), DEFAULT)

    def take(self, number, line):
        words = line.strip()
        depth = len(line) - len(line.lstrip())
        if not words or words.startswith("!"):
            return
        if depth == 0:
            self.block, self.depth, self.queue, self.context = None, 0, None, [words]
            known = self.begins_block(words) or self.take_global(words, Place(self.file, f"line {number}", "", words))
        else:
            self.depth = self.depth or depth
            if depth <= self.depth:
                self.queue, self.context = None, self.context[:1]
            context = " > ".join(self.context) if self.queue is not None else ""
            source = Place(self.file, f"line {number}", context, words)
            known = self.block is not None and (self.take_in_block(words, source) if self.queue is None else
                                                self.take_in_queue(words, source))
            if self.policies.current:
                self.policies.take(words, source)
                known = True
        lacks = [why for pattern, why in NOT_MODELLED.items() if pattern.match(words)]
        if lacks:
            self.made.not_modelled.append(f"line {number}: {words}: {lacks[0]}")
        elif not known and OF_QOS.match(words) and not NOT_OF_DATA.match(words):
            self.made.not_understood.append(f"line {number}: {words}")

    def begins_block(self, words):
        if self.policies.begins(words):
            return True
        begun = BLOCK.match(words)
        if begun and (begun[1] == "qos profile" or PHYSICAL.fullmatch(begun[2])):
            of = self.profiles if begun[1] == "qos profile" else self.interfaces
            self.block = of.setdefault(begun[2], _Block())
        return bool(begun)

    def take_global(self, words, source):
        for pattern, target in ((DSCP_MAP, self.class_of_dscp), (QUEUE_MAP, self.queue_of_class)):
            if found := pattern.match(words):
                target.update((int(each), Sourced(int(found[2]), source)) for each in found[1].split())
                return True
        if re.fullmatch(r"(no )?priority-flow-control all off", words):
            self.all_off = None if words.startswith("no") else source
            return True
        return _take_watchdog(self.watchdog, words, source)

    def take_in_block(self, words, source):
        block = self.block
        # Other lines with `no` are of what is not set, and `all` has them.
        if found := re.match(r"(service-profile|qos trust) (\S+)|no (qos trust)$", words):
            block.settings[found[1] or found[3]] = Sourced(found[2] or "nothing", source)
        elif re.match(r"no switchport$|ip address |ipv6 address ", words):
            block.settings["routed"] = Sourced(True, source)
        elif found := APPLIED.match(words):
            block.settings["policy"] = Sourced(found[1], source)
        elif found := SPEED.match(words):
            block.settings["speed"] = Sourced(int(found[1]) * 1e9, source)
        elif found := PRIORITY.match(words):
            block.priorities[int(found[1])] = Sourced(found[2] == "no-drop", source)
        elif re.fullmatch(r"priority-flow-control( mode)? (on|off)", words):
            block.settings["pfc"] = Sourced(words.endswith("on"), source)
        elif found := QUEUE_BLOCK.match(words):
            # Queues of multicast are not those of data.
            self.queues, self.queue = {} if found[1] == "mc-" else block.queues, int(found[2])
            self.queues.setdefault(self.queue, Queue())
            self.context.append(words)
        else:
            return _take_watchdog(block.watchdog, words, source)
        return True

    def take_in_queue(self, words, source):
        queue = self.queues[self.queue]
        if found := THRESHOLDS.match(words):
            if unread := sorted({found[3], found[5]} - BYTES.keys()):
                self.made.not_understood.append(f"{source.table}: {words} (thresholds that are not in bytes)")
            ecn = found[1] == "ecn"
            queue = replace(queue, marking=Marking(
                f"queue {self.queue}", Sourced(ecn, source), None if ecn else Sourced(True, source),
                _size(found[2], found[3], source), _size(found[4], found[5], source),
                Sourced(int(found[6]) / 100, source) if found[6] else None,
                f"{source.table}: thresholds in {' and '.join(unread)} are not read, only those in bytes" if unread
                else ""))
        elif words == "priority strict":
            queue = replace(queue, strict=Sourced(True, source))
        elif found := re.match(r"bandwidth percent (\d{1,3})$", words):
            queue = replace(queue, weight=Sourced(int(found[1]), source))
        else:
            return False
        self.queues[self.queue] = queue
        return True

    def port(self, names):
        own = self.interfaces[names[0]]
        named = own.settings.get("service-profile")
        of_profile = self.profiles.get(named and named.value, _Block())
        settings, priorities, watchdog = ({**getattr(of_profile, name), **getattr(own, name)}
                                          for name in ("settings", "priorities", "watchdog"))
        made = Port(names, own.settings.get("speed"))
        on, off = settings.get("pfc"), self.all_off
        stopped = frozenset(number for number, state in priorities.items() if state.value)
        stopped = stopped if on and on.value and not off else frozenset()
        source = next((state for state in priorities.values() if state.value), on)
        made.pfc = Sourced(stopped, off or (source.place if source else Place(self.file, f"interface {names[0]}")),
                           "" if stopped else "none")
        made.queues = {number: own.queues.get(number, Queue()).over(of_profile.queues.get(number, Queue()))
                       for number in sorted({*of_profile.queues, *own.queues})}
        trust = settings.get("qos trust")
        if trust.value == "dscp" if trust else "routed" in settings:
            made.class_of_dscp = self.class_of_dscp
        else:
            made.no_map = f"the port trusts {trust.value}, and no DSCP ({trust})" if trust else \
                "a port that is not routed trusts CoS: qos trust dscp is missing"
        if policy := settings.get("policy"):
            self.follow(made, policy)
        made.queue_of_class = made.queue_of_priority = self.queue_of_class
        times = {**self.watchdog, **watchdog}
        if stopped and (watchdog or {"timeout", "action"} & times.keys()):
            made.watchdog = Watchdog(_seconds(times, "timeout"), _seconds(times, "recovery-time"), times.get("action"))
        return made


    def follow(self, made, policy):
        """A policy-map at ingress decides, whatever the port trusts; what it leaves open has the class of before."""
        classes, why = self.policies.classes(policy.value, made.class_of_dscp or {})
        if classes is None:
            made.class_of_dscp, made.no_map = None, f"the port has a policy that weir does not follow: {why} ({policy})"
            line = f"{policy.place}: decides the class of packets; {why}"
            self.made.not_modelled += [] if line in self.made.not_modelled else [line]
        else:
            made.class_of_dscp = classes
            made.no_map = made.no_map and f"{made.no_map}, and policy-map {policy.value} leaves it open"


def _take_watchdog(of, words, source):
    """Whether it is a line of a watchdog; then `of` has what it sets."""
    if found := PORT_TIMER.match(words):
        of.update((name, Sourced(value, source)) for name, value in
                  zip(("timeout", "polling-interval", "recovery-time"), found.groups()))
    elif found := WATCHDOG.match(words):
        of[found[1]] = Sourced(found[2], source)
    elif words == "priority-flow-control pause watchdog":
        of["on"] = Sourced(True, source)
    else:
        return False
    return True


def _seconds(of, name):
    found = of.get(name)
    return replace(found, value=float(found.value)) if found and re.fullmatch(r"\d+(\.\d+)?", found.value) else None


def _size(number, unit, source):
    return Sourced(int(number) * BYTES[unit], source) if unit in BYTES else None
