"""NVUE's configuration (Cumulus Linux: `nv config show -o json`) as a description of the switch.

Names and meanings: NVIDIA, "Quality of Service", "RDMA over Converged Ethernet" and the NVUE command reference of
Cumulus Linux 5.6 to 5.10 (docs.nvidia.com, read 2026-11): thresholds in bytes, cable-length in metres, of `nv set qos
roce` 100 without one, the watchdog's polling-interval in ms. Without `mapping ... dscp` a port that trusts L3 takes
DSCP / 8, a switch priority has the queue of its own number. What `nv set qos roce` sets besides is in `nv show qos
roce`, not in the configuration. The size of a pool is a share of a memory whose size is not there."""

import re
from dataclasses import replace

from .qos_description import (Marking, Place, Port, Profile, Queue, Sourced, SwitchConfiguration, Watchdog, alike,
                              whole)
from .sonic_tables import numbers

READ = {"congestion-control", "egress-queue-mapping", "egress-scheduler", "mapping", "pfc", "pfc-watchdog",
        "advance-buffer-config", "roce"}
NOT_MODELLED = {"traffic-pool": "pools as shares of a memory whose size is not there", "egress-shaper": "shaping of "
                "queues", "remark": "DSCPs that the switch writes", "link-pause": "pauses of whole links by profiles"}
KNOWN_VERSIONS = ((5, 6), (5, 10))
# NVIDIA, "Cumulus Linux Hardware Compatibility List".
CHIPS = {r"M?SN2\d{3}": "Spectrum", r"M?SN3\d{3}": "Spectrum-2", r"M?SN4\d{3}": "Spectrum-3",
         r"M?SN5(400|600D?)$": "Spectrum-4"}
CABLE_OF_ROCE_M = 100
ON = ("on", "enable", "enabled")
ALPHA = re.compile(r"alpha_(\d{1,6})(?:_(\d{1,6}))?", re.IGNORECASE)


def tree_of(document):
    """What `nv config show -o json` has under "set", or None of other JSON."""
    parts = document.get("list")
    if isinstance(parts, list):
        document = next((part["set"] for part in parts if isinstance(part, dict) and "set" in part), {})
    return document if isinstance(document, dict) and isinstance(document.get("qos"), dict) else None


def header_of(document):
    """What `nv config show -o json` says of the switch; {} where it does not."""
    parts = document.get("list")
    return next((_table(part["header"]) for part in parts if isinstance(part, dict) and "header" in part),
                {}) if isinstance(parts, list) else {}


def describe(files, file, tree, header):
    made = SwitchConfiguration(files, "NVUE", _model(str(header.get("model", ""))))
    version = re.match(r"Cumulus Linux (\d{1,3})\.(\d{1,3})", str(header.get("version", "")))
    if version and not KNOWN_VERSIONS[0] <= (int(version[1]), int(version[2])) <= KNOWN_VERSIONS[1]:
        made.remarks.append(f"the switch has {version[0]}; names and defaults here are those of 5.6 to 5.10, and "
                            "others may differ")
    reader = _Nvue(file, tree)
    for name in tree["qos"]:
        if name in NOT_MODELLED and tree["qos"][name]:
            made.not_modelled.append(f"qos {name}: {NOT_MODELLED[name]}")
        elif name not in READ and tree["qos"][name]:
            made.not_understood.append(f"qos {name}")
    interfaces = reader.interfaces()
    made.ports = sorted((reader.port(names, interfaces[names[0]]) for names in
                         alike({name: tuple(sorted(has.items())) for name, has in interfaces.items()})),
                        key=lambda port: -len(port.names))
    made.not_modelled += reader.not_modelled
    made.watchdog_poll_s = reader.watchdog_poll_s
    return made


class _Nvue:
    def __init__(self, file, tree):
        self.file, self.tree = file, tree
        self.not_modelled = {}
        self.watchdog_poll_s = None

    def at(self, *path):
        """What stands at a path of names below `qos`: {} where nothing does."""
        here = self.tree["qos"]
        for name in path:
            here = here.get(name) if isinstance(here, dict) else None
        return {} if here is None else here

    def word(self, *path):
        found = self.at(*path)
        return None if isinstance(found, (dict, list)) else Sourced(str(found), self.place(path))

    def number(self, *path, scale=1):
        return whole(self.word(*path), scale)

    def place(self, path):
        return Place(self.file, " ".join(("qos", *path[:-1])), "", path[-1])

    def entries(self, *path):
        """(number, path of it) below a path whose keys are numbers, as 4,5,7."""
        found = self.at(*path)
        for key in found if isinstance(found, (dict, list)) else [found]:
            for number in numbers(key) or ():
                yield number, (*path, str(key))

    def interfaces(self):
        """swp -> what decides which class of ports it is in."""
        made = {}
        for key, content in _table(self.tree.get("interface")).items():
            qos, link = (_table(_table(content).get(part)) for part in ("qos", "link"))
            has = {kind: str(qos[kind]["profile"])
                   for kind in ("mapping", "pfc", "congestion-control", "egress-scheduler")
                   if "profile" in _table(qos.get(kind))}
            if "speed" in link:
                has["speed"] = str(link["speed"])
            if "pfc-watchdog" in qos:
                has["watchdog"] = str(_table(qos["pfc-watchdog"]).get("state", "enable"))
            for name in () if "breakout" in link else _expanded(key):
                made.setdefault(name, {}).update(has)
        return made

    def port(self, names, settings):
        profile = {kind: settings.get(kind, "default-global")
                   for kind in ("mapping", "pfc", "congestion-control", "egress-scheduler")}
        place = Place(self.file, f"interface {names[0]} link", "", "speed")
        made = Port(names, _rate(settings.get("speed", ""), place),
                    self.number("pfc", profile["pfc"], "cable-length") or self.cable_of_roce())
        self.add_maps(made, profile["mapping"])
        self.add_pfc(made, profile["pfc"])
        self.add_queues(made, profile)
        if settings.get("watchdog") in ON:
            self.add_watchdog(made, names[0])
        return made

    def cable_of_roce(self):
        if not self.roce_is_on():
            return None
        return self.number("roce", "cable-length") or Sourced(CABLE_OF_ROCE_M, self.place(("roce", "cable-length")),
                                                              "not set: RoCE's default")

    def add_maps(self, made, mapping):
        roce = self.place(("roce", "mode"))
        trust = self.word("mapping", mapping, "trust")
        if self.roce_is_on() and trust is None:
            trust = Sourced("l3", roce, "RoCE's default")
        if trust is not None and trust.value in ("l3", "both"):
            made.class_of_dscp = {dscp: Sourced(dscp >> 3, trust.place, "no entry: DSCP / 8") for dscp in range(64)}
            for dscp, path in self.entries("mapping", mapping, "dscp"):
                if to := self.number(*path, "switch-priority"):
                    made.class_of_dscp[dscp] = to
        else:
            made.no_map = f"the port trusts {trust.value} ({trust.place})" if trust else \
                "the port trusts PCP, NVUE's default, and no DSCP"
        base = ("egress-queue-mapping", "default-global", "switch-priority")
        identity = Sourced(None, self.place(base), "no entry: the queue of the same number")
        made.queue_of_class = {number: replace(identity, value=number) for number in range(8)}
        if self.roce_is_on() and not self.at(*base):
            made.queue_of_class = {number: Sourced(number if number in (3, 6) else 0, roce, "RoCE's default")
                                   for number in range(8)}
        for number, path in self.entries(*base):
            if to := self.number(*path, "traffic-class"):
                made.queue_of_class[number] = to
        made.queue_of_priority = made.queue_of_class
        made.group_of_class = {number: replace(identity, value=number, how="") for number in range(8)}

    def roce_is_on(self):
        roce = self.tree["qos"].get("roce")
        return isinstance(roce, dict) and str(roce.get("enable", roce.get("state", "on"))) in ON

    def add_pfc(self, made, profile):
        place = self.place(("pfc", profile, "switch-priority"))
        on = frozenset(number for number, _ in self.entries("pfc", profile, "switch-priority"))
        if not on and self.roce_is_on():
            lossless = str(_table(self.at("roce")).get("mode", "lossless")).startswith("lossless")
            place, on = self.place(("roce", "mode")), frozenset({3} if lossless else ())
        sends = self.word("pfc", profile, "tx")
        if sends is not None and sends.value not in ON and on:
            self.not_modelled[f"PFC that obeys pauses and sends none ({sends.place})"] = None
            on = frozenset()
        made.pfc = Sourced(on, place, "" if on else "none")
        for name in ("port-buffer", "xoff-threshold", "xon-threshold"):
            if self.word("pfc", profile, name):
                self.not_modelled[f"qos pfc {profile} {name}: sizes of a port's own buffer"] = None
        buffer = ("advance-buffer-config", "default-global", "ingress-lossless-buffer")
        alpha, limit = self.word(*buffer, "shared-alpha"), self.number(*buffer, "shared-bytes")
        group = Profile("ingress-lossless-buffer", None, None, _alpha(alpha), limit, dynamic=True)
        made.groups = dict.fromkeys(sorted(on), group)

    def add_queues(self, made, profile):
        marks, weights = profile["congestion-control"], profile["egress-scheduler"]
        queues = {number: Queue() for number in range(8)}
        if self.roce_is_on():
            queues |= self.queues_of_roce(marks)
        for number, path in self.entries("congestion-control", marks, "traffic-class"):
            ecn, red = self.word(*path, "ecn"), self.word(*path, "red")
            queue = queues.get(number, Queue())
            had = queue.marking or Marking("")
            queues[number] = replace(queue, marking=Marking(
                f"{marks} traffic-class {path[-1]}",
                replace(ecn, value=ecn.value in ON) if ecn else Sourced(True, self.place(path), "not disabled"),
                replace(red, value=red.value in ON) if red else had.drops,
                self.number(*path, "min-threshold") or had.none_below,
                self.number(*path, "max-threshold") or had.all_above,
                self.number(*path, "probability", scale=0.01) or had.probability))
        for number, path in self.entries("egress-scheduler", weights, "traffic-class"):
            mode = self.word(*path, "mode")
            strict = mode is not None and mode.value == "strict"
            queues[number] = replace(queues.get(number, Queue()), strict=Sourced(True, mode.place) if strict else None,
                                     weight=None if strict else self.number(*path, "bw-percent"))
        for number, path in self.entries("advance-buffer-config", "default-global", "egress-lossy-buffer",
                                         "traffic-class"):
            alpha, limit = self.word(*path, "shared-alpha"), self.number(*path, "shared-bytes")
            if number in queues and (alpha or limit):
                profile = Profile(f"egress-lossy-buffer {path[-1]}", None, None, _alpha(alpha), limit)
                queues[number] = replace(queues[number], profile=profile)
        made.queues = {number: queue for number, queue in queues.items() if number < 8}

    def queues_of_roce(self, profile):
        """As RoCE's defaults have them (`nv show qos roce` of 5.10), at the places that would change them."""
        def default(value, *path):
            return Sourced(value, self.place(path or ("roce", "mode")), "RoCE's default")
        numbers_of = ("congestion-control", profile, "traffic-class", "3")
        marking = Marking("RoCE", default(True), default(False), default(150000, *numbers_of, "min-threshold"),
                          default(1500000, *numbers_of, "max-threshold"), default(1.0, *numbers_of, "probability"))
        shared = Queue(marking=marking, weight=default(50))
        return {0: shared, 3: shared, 6: Queue(strict=default(True))}

    def add_watchdog(self, made, name):
        place = Place(self.file, f"interface {name} qos", "", "pfc-watchdog")
        every, times = self.number("pfc-watchdog", "polling-interval"), self.number("pfc-watchdog", "robustness")
        every_ms, count = every.value if every else 100, times.value if times else 3
        self.watchdog_poll_s = Sourced(every_ms / 1e3, place, f"{every_ms} ms")
        made.watchdog = Watchdog(Sourced(every_ms * count / 1e3, place, f"{count} x {every_ms} ms"),
                                 self.watchdog_poll_s, Sourced("drop", place, "what NVUE does"))


def _table(content):
    return content if isinstance(content, dict) else {}


def _model(name):
    """With the chip, where it is known."""
    chip = next((chip for pattern, chip in CHIPS.items() if re.match(pattern, name)), None)
    return f"{name} ({chip})" if chip else name


def _alpha(word):
    found = word and ALPHA.fullmatch(word.value)
    alpha = int(found[1]) / max(1, int(found[2] or 1)) if found else 0
    return Sourced(alpha, word.place) if alpha else None


def _rate(text, place):
    found = re.fullmatch(r"(\d{1,4})G", text)
    return Sourced(int(found[1]) * 1e9, place) if found else None


def _expanded(key):
    """swp1-4,swp6 and swp1-swp4: the ports. Others than swp are not physical ports."""
    for part in key.split(","):
        ends = re.fullmatch(r"(swp(?:\d+s)?)(\d{1,4})(?:-(?:\1)?(\d{1,4}))?", part.strip())
        for number in range(int(ends[2]), int(ends[3] or ends[2]) + 1) if ends else ():
            yield f"{ends[1]}{number}"
