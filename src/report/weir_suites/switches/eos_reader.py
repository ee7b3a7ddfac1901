"""Arista EOS, `show running-config all`, as a description of the switch: maps, PFC, marks, weights, the watchdog. How
much memory a group or queue may have is not in that text.

Grammar: Arista, User Manual, "Quality of Service" (arista.com/en/um-eos/eos-quality-of-service, of EOS 4.2x), and the
configurations that aristanetworks/avd writes (read 2026-11). Sizes in bytes, kbytes and mbytes are powers of ten here;
segments have a size that differs by chip and are not read. Maps that the text lacks are those of the chip."""

from __future__ import annotations

import re
from dataclasses import replace

from .qos_description import Marking, Place, Port, Queue, Sourced, SwitchConfiguration, Watchdog

BLOCK = re.compile(r"(interface|qos profile) (\S+)$")
QUEUE_BLOCK = re.compile(r"(?:uc-)?tx-queue (\d)(?: |$)")
ECN = re.compile(r"random-detect ecn minimum-threshold (\d+) (\w+) maximum-threshold (\d+) (\w+)"
                 r"(?: max-mark-probability (\d+))?")
DSCP_MAP = re.compile(r"qos map dscp ([\d ]+?) to traffic-class (\d)")
QUEUE_MAP = re.compile(r"qos map traffic-class ([\d ]+?) to (?:uc-)?tx-queue (\d)")
PRIORITY = re.compile(r"priority-flow-control priority (\d) (no-drop|drop)")
WATCHDOG = re.compile(r"priority-flow-control pause watchdog (?:default )?"
                      r"(timeout|recovery-time|polling-interval|action) (\S+)")
SPEED = re.compile(r"speed (?:forced )?(\d+)(g|gfull)(?:-\d+)?$")
OF_QOS = re.compile(r"(no )?(qos|priority-flow-control|random-detect|platform \S+ (mmu|qos)|hardware buffer|bandwidth|"
                    r"shape|priority) ")
NOT_OF_DATA = re.compile(r"qos (map (cos|exp|traffic-class [\d ]+ to (cos|dscp|exp|mc))|rewrite|trust|profile)")
BYTES = {"bytes": 1, "kbytes": 10**3, "mbytes": 10**6}


def is_eos(text):
    """`feature` and network-qos are of NX-OS, whose blocks look alike."""
    return bool(re.search(r"^(! device: |qos profile |qos map |interface Ethernet\d)", text, re.MULTILINE)
                and not re.search(r"^(feature |policy-map type network-qos|!Command: )", text, re.MULTILINE))


class _Block:
    """Lines of an interface or profile, by what they set: later ones take the place of earlier ones."""

    def __init__(self):
        self.profile, self.speed, self.trust = None, None, None
        self.on, self.priorities, self.queues = None, {}, {}


def describe(files, file, text):
    made = SwitchConfiguration(files, "EOS")
    reader = _Eos(file, made)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.take(number, line.rstrip())
    classes = {}
    for name, block in reader.interfaces.items():
        key = (block.profile, *(str(part and part.value) for part in (block.speed, block.trust, block.on)),
               repr(sorted((number, state.value) for number, state in block.priorities.items())),
               repr(sorted((number, _plain(queue)) for number, queue in block.queues.items())))
        classes.setdefault(key, []).append(name)
    made.ports = sorted((reader.port(names) for names in classes.values()),
                        key=lambda port: (not port.pfc.value, not port.queues, -len(port.names)))
    return made


def _plain(queue):
    marks = queue.marking and [part and part.value for part in (queue.marking.none_below, queue.marking.all_above,
                                                                queue.marking.probability)]
    return str((queue.strict and queue.strict.value, queue.weight and queue.weight.value, marks))


class _Eos:
    def __init__(self, file, made):
        self.file, self.made = file, made
        self.interfaces, self.profiles = {}, {}
        self.block, self.block_name, self.queue, self.queue_words = None, "", None, ""
        self.class_of_dscp, self.queue_of_class, self.watchdog = {}, {}, {}

    def take(self, number, line):
        words = line.strip()
        if not line.startswith(" "):
            self.block, self.queue, self.queue_words, begun = None, None, "", BLOCK.match(line)
            self.block_name = line if begun else ""
            if begun and (begun[1] == "qos profile" or re.match(r"Ethernet\d", begun[2])):
                of = self.profiles if begun[1] == "qos profile" else self.interfaces
                self.block = of.setdefault(begun[2], _Block())
        elif not words or words.startswith("!"):
            return
        context = f"{self.block_name} > {self.queue_words}" if self.queue_words else ""
        source = Place(self.file, f"line {number}", context, words)
        if self.block is None:
            known = not self.block_name and not line.startswith(" ") and self.take_global(words, source)
        else:
            known = line == self.block_name or self.take_in_block(words, source)
        if not known and OF_QOS.match(words) and not NOT_OF_DATA.match(words) and self.block_name != line:
            self.made.not_understood.append(f"line {number}: {words}")

    def take_global(self, words, source):
        for pattern, target in ((DSCP_MAP, self.class_of_dscp), (QUEUE_MAP, self.queue_of_class)):
            if found := pattern.match(words):
                target.update((int(each), Sourced(int(found[2]), source)) for each in found[1].split())
                return True
        if found := WATCHDOG.match(words):
            self.watchdog[found[1]] = Sourced(found[2], source)
            return True
        return False

    def take_in_block(self, words, source):
        block = self.block
        if found := re.match(r"service-profile (\S+)", words):
            block.profile = found[1]
        elif found := SPEED.match(words):
            block.speed = Sourced(int(found[1]) * 1e9, source)
        elif found := re.match(r"qos trust (\S+)", words):
            block.trust = Sourced(found[1], source)
        elif found := PRIORITY.match(words):
            block.priorities[int(found[1])] = Sourced(found[2] == "no-drop", source)
        elif re.fullmatch(r"(no )?priority-flow-control( mode)? (on|off)", words):
            block.on = Sourced(words.endswith("on"), source)
        elif found := QUEUE_BLOCK.match(words):
            self.queue, self.queue_words = int(found[1]), words
            block.queues.setdefault(self.queue, Queue())
        elif self.queue is not None:
            return self.take_in_queue(words, source)
        else:
            return False
        return True

    def take_in_queue(self, words, source):
        queue = self.block.queues[self.queue]
        if found := ECN.match(words):
            share = Sourced(int(found[5]) / 100, source) if found[5] else None
            queue = replace(queue, marking=Marking(f"queue {self.queue}", Sourced(True, source), None,
                                                   _size(found[1], found[2], source), _size(found[3], found[4], source),
                                                   share))
        elif words == "priority strict":
            queue = replace(queue, strict=Sourced(True, source))
        elif found := re.match(r"bandwidth percent (\d+)", words):
            queue = replace(queue, weight=Sourced(int(found[1]), source))
        else:
            return words in ("no priority", "random-detect ecn count")
        self.block.queues[self.queue] = queue
        return True

    def port(self, names):
        own = self.interfaces[names[0]]
        of_profile = self.profiles.get(own.profile, _Block())
        made = Port(names, own.speed)
        on = own.on or of_profile.on
        priorities = {**of_profile.priorities, **own.priorities}
        stopped = frozenset(number for number, state in priorities.items() if state.value)
        source = next((state for state in priorities.values() if state.value), on)
        made.pfc = Sourced(stopped if on and on.value else frozenset(),
                           source.place if source else Place(self.file, f"interface {names[0]}"),
                           "" if stopped and on and on.value else "none")
        made.queues = {**of_profile.queues, **own.queues}
        trust = own.trust or of_profile.trust
        if trust is not None and trust.value == "dscp" and self.class_of_dscp:
            made.class_of_dscp = self.class_of_dscp
        made.queue_of_class = made.queue_of_priority = self.queue_of_class or None
        if made.pfc.value and {"timeout", "action"} & self.watchdog.keys():
            made.watchdog = Watchdog(self.seconds("timeout"), self.seconds("recovery-time"),
                                     self.watchdog.get("action"))
        self.made.watchdog_poll_s = self.seconds("polling-interval")
        return made

    def seconds(self, name):
        found = self.watchdog.get(name)
        return replace(found, value=float(found.value)) if found and re.fullmatch(r"\d+(\.\d+)?", found.value) else None


def _size(number, unit, source):
    return Sourced(int(number) * BYTES[unit], source) if unit in BYTES else None
