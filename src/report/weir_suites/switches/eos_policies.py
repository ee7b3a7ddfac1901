"""EOS's policy-maps at ingress: which traffic class a DSCP gets. Lines as in Arista, User Manual, "Traffic Management"
(class-map type qos, policy-map type quality-of-service). A policy whose classes match anything else than DSCPs is not
followed."""

import re
from dataclasses import dataclass, field

from .qos_description import Sourced

BEGINS = re.compile(r"(class-map|policy-map) type (?:qos|quality-of-service) (?:match-any )?(\S+)$")
APPLIED = re.compile(r"service-policy type qos input (\S+)$")
MATCH = re.compile(r"match (?:ip|ipv6) dscp (.+)")
NAMES = {"ef": 46, "default": 0, **{f"cs{number}": 8 * number for number in range(8)},
         **{f"af{number}{drop}": 8 * number + 2 * drop for number in range(1, 5) for drop in range(1, 4)}}


@dataclass
class _Map:
    dscps: set = field(default_factory=set)  # of a class-map
    classes: dict = field(default_factory=dict)  # of a policy-map: {name: Sourced traffic class, or None}
    name: str = ""  # of the class that lines are of
    others: list = field(default_factory=list)  # lines that are not followed


class Policies:
    def __init__(self):
        self.maps = {"class-map": {}, "policy-map": {}}
        self.current = None

    def begins(self, words):
        """Whether a block of these begins; then lines of it are for `take`."""
        begun = BEGINS.match(words)
        self.current = self.maps[begun[1]].setdefault(begun[2], _Map()) if begun else None
        return bool(begun)

    def take(self, words, source):
        here = self.current
        if found := re.match(r"class (?:type \S+ )?(\S+)$", words):
            here.name = found[1]
            here.classes.setdefault(here.name, None)
        elif found := re.match(r"set traffic-class (\d)$", words):
            here.classes[here.name] = Sourced(int(found[1]), source)
        elif (found := MATCH.match(words)) and (dscps := _dscps(found[1])) is not None:
            here.dscps |= dscps
        elif words.startswith("match "):
            here.others.append(words)

    def classes(self, name, otherwise):
        """({DSCP: traffic class}, "") of a policy-map, whose classes are tried in their order; `otherwise`: for those
        that no class has. (None, why) of one that is not followed."""
        policy = self.maps["policy-map"].get(name)
        if policy is None:
            return None, f"policy-map {name} is not there"
        made = dict(otherwise)
        for of_class, value in reversed(policy.classes.items()):
            matched = self.maps["class-map"].get(of_class)
            if of_class != "class-default" and (matched is None or matched.others or not matched.dscps):
                return None, (f"policy-map {name}: class-map {of_class} " + (
                    "is not there" if matched is None else f"has '{matched.others[0]}', and weir follows only DSCPs"
                    if matched.others else "matches no DSCP"))
            if value is not None:
                made.update(dict.fromkeys(range(64) if of_class == "class-default" else matched.dscps, value))
        return made, ""


def _dscps(text):
    """Those of `24 26`, `24-26`, `af31`; None of anything else."""
    found = set()
    for word in re.split(r"[\s,]+", text.strip()):
        ends = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", word)
        if not ends and word.lower() not in NAMES:
            return None
        found.update(range(int(ends[1]), int(ends[2] or ends[1]) + 1) if ends else [NAMES[word.lower()]])
    return found if max(found) < 64 else None
