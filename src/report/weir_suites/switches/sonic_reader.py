"""SONiC's tables as a description of the switch: which profile, map and scheduler each port has, and their values.

Meanings: sonic-swss doc/swss-schema.md and the YANG models (2026-08-22); dynamic_th n is alpha 2^n (SAI,
SAI_BUFFER_PROFILE_ATTR_SHARED_DYNAMIC_TH). A port whose PFC is on gets its lossless priority groups from
pg_profile_lookup.ini by speed and cable, if CONFIG_DB names none (sonic-swss, cfgmgr/buffermgr.cpp). Marks have the
thresholds of ecn_green_*, and without them those of drops (SONiC, "WRED Profile Independent ECN Marking Thresholds",
2026-07-01). The watchdog looks at the priorities of pfcwd_sw_enable (sonic-swss, orchagent/pfcwdorch.cpp)."""

import re

from weir_runs.basics.errors import ReportError

from .qos_description import (Marking, Place, Pool, Port, Profile, Queue, Sourced, SwitchConfiguration, Watchdog, alike,
                              whole)
from .sonic_tables import numbers, plain_name

MARKS_GREEN = {"ecn_green", "ecn_green_yellow", "ecn_green_red", "ecn_all"}
ECN_WORDS = MARKS_GREEN | {"ecn_none", "ecn_yellow", "ecn_red", "ecn_yellow_red"}
DEFAULT = "the default of sonic-wred-profile.yang"
PROFILE_NAME = re.compile(r"pg_lossless_(\d{1,7})_(\d{1,6}(?:\.\d+)?)m_")
EXPONENTS = (-8, 7)  # of dynamic_th, sonic-buffer-profile.yang
LOOKED_UP = "pg_profile_lookup.ini"


def describe(files, of_namespaces):
    """A SwitchConfiguration of the tables of each ASIC."""
    made = SwitchConfiguration(files, "SONiC")
    for name, tables in of_namespaces.items():
        asic = _Asic(tables, made)
        asic.read()
        for lines, more in ((made.not_modelled, tables.not_modelled), (made.not_understood, tables.not_understood),
                            (made.odd, tables.odd)):
            lines += [f"{name}: {line}" if name else line for line in more]
    # Those without maps and queues are mostly not in use.
    made.ports.sort(key=lambda port: (port.pfc is None, not port.queues, -len(port.names)))
    return made


class _Asic:
    def __init__(self, tables, made):
        self.tables, self.made = tables, made
        self.kept = {}  # what was made of a table and a name
        self.metadata = tables.of("DEVICE_METADATA").get("localhost", ({}, ""))[0]
        self.found = {}  # of each port: see read_ports
        self.cables = {port: (str(length), key) for key, (fields, _) in tables.of("CABLE_LENGTH").items()
                       for port, length in fields.items()}

    def read(self):
        self.made.model = self.made.model or str(self.metadata.get("hwsku") or self.metadata.get("platform") or "")
        for name in self.tables.of("BUFFER_POOL"):
            self.made.pools[name] = self.pool(name)
        poll = self.number("PFC_WD", "GLOBAL", "POLL_INTERVAL", 1e-3)
        self.made.watchdog_poll_s = self.made.watchdog_poll_s or poll
        self.read_ports()
        self.made.ports += [self.port(sorted(names, key=_in_order))
                            for names in alike({name: self.settings(name) for name in self.found})]

    # --- Values.

    def field(self, table, key, field):
        """A field as Sourced text, or None."""
        fields, file = self.tables.of(table).get(key, ({}, ""))
        value = fields.get(field)
        return None if value is None else Sourced(str(value).strip(), Place(file, table, key, field))

    def number(self, table, key, field, *limits):
        """A field as a number; `limits`: see whole()."""
        return whole(self.field(table, key, field), *limits)

    def once(self, table, named, make):
        """What `make` gives for a name, as text or as a field has it, made once. None without one, and with a line, of
        a name that the table lacks."""
        if named is None:
            return None
        name = plain_name(named.value if isinstance(named, Sourced) else named)
        if (table, name) not in self.kept:
            there = name in self.tables.of(table)
            if not there:
                self.tables.odd[f"{table}|{name} is named, and is not there"] = None
            self.kept[table, name] = make(name) if there else None
        return self.kept[table, name]

    def pool(self, name):
        return self.once("BUFFER_POOL", name, lambda name: Pool(
            name, self.number("BUFFER_POOL", name, "size"), self.number("BUFFER_POOL", name, "xoff")))

    def profile(self, name):
        table = "BUFFER_PROFILE"
        pool = self.field(table, name, "pool")
        exponent = self.number(table, name, "dynamic_th", 1, *EXPONENTS)
        limit = self.number(table, name, "static_th")
        if exponent and limit:
            self.tables.odd[f"{table}|{name} has both dynamic_th and static_th"] = None
        named = PROFILE_NAME.match(name)
        return Profile(name, self.pool(pool), self.number(table, name, "size"),
                       _alpha(exponent), limit if not exponent else None, self.number(table, name, "xoff"),
                       self.number(table, name, "xon"), self.number(table, name, "xon_offset"),
                       int(named[1]) * 1e6 if named else None, float(named[2]) if named else None)

    def marking(self, name):
        table = "WRED_PROFILE"
        ecn, enabled = self.field(table, name, "ecn"), self.field(table, name, "wred_green_enable")
        if ecn and ecn.value not in ECN_WORDS:
            self.tables.not_understood[f"{table}|{name} ecn: none of SONiC's words"] = None
        values = [self.number(table, name, f"ecn_green_{new}", scale) or self.number(table, name, f"green_{old}", scale)
                  for new, old, scale in (("min_threshold", "min_threshold", 1), ("max_threshold", "max_threshold", 1),
                                          ("mark_probability", "drop_probability", 0.01))]
        drops = Sourced(enabled.value == "true", enabled.place) if enabled else None
        if drops and drops.value and any(value and value.place.field.startswith("ecn_") for value in values):
            drops = None
            self.tables.not_modelled[f"{table}|{name} wred_green_enable: drops with other thresholds than marks"] = None
        return Marking(name,
                       Sourced(ecn.value in MARKS_GREEN, ecn.place) if ecn else
                       Sourced(False, self.place(table, name, "ecn"), f"not set: ecn_none, {DEFAULT}"),
                       drops, *values[:2], values[2] or Sourced(1.0, self.place(table, name, "green_drop_probability"),
                                                                f"not set: 100 %, {DEFAULT}"))

    def place(self, table, key, field):
        return Place(self.tables.of(table).get(key, ({}, ""))[1], table, key, field)

    def map(self, table, name):
        """number -> Sourced number, of a map by its name."""
        made = {}
        for each in self.tables.of(table)[name][0]:
            source, target = numbers(each), self.number(table, name, each)
            if source is None or target is None:
                self.tables.not_understood[f"{table}|{name}: an entry that is no number"] = None
                continue
            made.update(dict.fromkeys(source, target))
        return made

    # --- Ports.

    def read_ports(self):
        """port -> table|queues -> (settings, the key that has them); PORT_QOS_MAP| has those of the port. Of queues in
        a chassis each ASIC has an entry for each port: the one with a scheduler is the port's own."""
        seen = {}
        for kind in ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE"):
            for key, (fields, _) in self.tables.of(kind).items():
                ports, _, index = key.rpartition("|")
                what = tuple(sorted((name, plain_name(value)) for name, value in fields.items()))
                for port in self.ports_named(ports):
                    seen.setdefault(port, {}).setdefault(f"{kind}|{index}", {})[what] = key
        for key, (fields, _) in self.tables.of("PORT_QOS_MAP").items():
            for port in self.ports_named(key) if key != "global" else ():
                seen.setdefault(port, {})["PORT_QOS_MAP|"] = {_as_tuple(fields): key}
        for port in {**seen, **self.tables.of("PORT")}:
            self.found[port] = {}
            for index, choices in seen.get(port, {}).items():
                most = max(choices, key=len)
                if all(set(most).issuperset(each) for each in choices):
                    self.found[port][index] = (most, choices[most])
                else:
                    self.tables.odd[f"{index} of {port}: entries of several ASICs or lists differ; left out"] = None
        self.found.pop("", None)

    def ports_named(self, text):
        """The ports of a key: a list with commas. Of `host|asic|Ethernet0` in a chassis those of this ASIC, if the
        configuration says which it is; else all, whose settings must then be the same."""
        host, _, port = text.rpartition("|")
        if host and self.metadata.get("hostname") and self.metadata.get("asic_name"):
            mine = f"{self.metadata['hostname']}|{self.metadata['asic_name']}"
            if host.lower() != mine.lower():
                return []
        return port.split(",")

    def settings(self, port):
        """All in which a port can differ from others, as a tuple that is equal for equal ports."""
        entries = [(index, what) for index, (what, _) in self.found[port].items()]
        speed, watchdog = (self.tables.of(table).get(port, ({}, ""))[0] for table in ("PORT", "PFC_WD"))
        return (str(speed.get("speed", "")), self.cables.get(port, ("",))[0], _as_tuple(watchdog), port in
                self.tables.of("PFC_WD"), tuple(sorted(entries)))

    def port(self, names):
        name = names[0]
        made = Port(names, self.number("PORT", name, "speed", 1e6), self.cable(name))
        has = {index: key for index, (_, key) in self.found[name].items()}
        of_port = has.pop("PORT_QOS_MAP|", None)
        for index, key in has.items():
            kind, _, text = index.partition("|")
            if (index := numbers(text)) is None:
                self.tables.not_understood[f"{kind}: an entry whose queues or groups are no numbers"] = None
            else:
                self.add_entry(made, kind, key, index)
        self.add_maps(made, of_port)
        self.add_looked_up(made)
        made.cable_m = made.cable_m or self.cable_of_profile(made)
        made.watchdog = self.watchdog(name, of_port)
        return made

    def add_entry(self, made, kind, key, index):
        if kind == "QUEUE":
            scheduler, wred = self.field(kind, key, "scheduler"), self.field(kind, key, "wred_profile")
            strict, weight = self.once("SCHEDULER", scheduler, self.scheduler) or (None, None)
            marking = self.once("WRED_PROFILE", wred, self.marking)
            for each in index:
                made.queues[each] = Queue(None, marking, strict, weight).over(made.queues.get(each, Queue()))
            return
        named = self.field(kind, key, "profile")
        profile = (self.dynamic_profile() if named and plain_name(named.value) == "NULL" else
                   self.once("BUFFER_PROFILE", named, self.profile))
        for each in index if profile else ():
            if kind == "BUFFER_PG":
                made.groups[each] = profile
            else:
                made.queues[each] = Queue(profile).over(made.queues.get(each, Queue()))

    def dynamic_profile(self):
        """Of a group whose headroom the switch computes itself (buffer_model dynamic)."""
        table = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
        exponents = [self.number(table, key, "default_dynamic_th", 1, *EXPONENTS) for key in self.tables.of(table)]
        return Profile("BUFFER_PG's NULL", self.pool("ingress_lossless_pool"), None,
                       _alpha(next(iter(exponents), None)), dynamic=True)

    def scheduler(self, name):
        """(strict, weight)"""
        kind, weight = self.field("SCHEDULER", name, "type"), self.number("SCHEDULER", name, "weight")
        if any(self.field("SCHEDULER", name, rate) for rate in ("cir", "pir")):
            self.tables.not_modelled[f"SCHEDULER|{name} cir, pir: shaping of a queue"] = None
        if kind and kind.value == "STRICT":
            return Sourced(True, kind.place), None
        return None, weight or Sourced(1, self.place("SCHEDULER", name, "weight"), "not set: 1, the default of "
                                       "sonic-scheduler.yang")

    def add_maps(self, made, key):
        table = "PORT_QOS_MAP"
        for field, of_table, attribute in (("dscp_to_tc_map", "DSCP_TO_TC_MAP", "class_of_dscp"),
                                           ("tc_to_queue_map", "TC_TO_QUEUE_MAP", "queue_of_class"),
                                           ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "group_of_class"),
                                           ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", "queue_of_priority")):
            named = (self.field(table, key, field) if key else None) or self.field(table, "global", field)
            if named:
                setattr(made, attribute, self.once(of_table, named, lambda name, table=of_table: self.map(table, name)))
        if made.class_of_dscp is None and key and (other := self.field(table, key, "dot1p_to_tc_map")):
            made.no_map = f"the port maps PCP ({other.place}), and no DSCPs"
        if key:
            made.pfc = self.priorities(key, "pfc_enable")

    def priorities(self, key, name):
        """A field of PORT_QOS_MAP as a set; empty without the field. Raises ReportError."""
        found = self.field("PORT_QOS_MAP", key, name) or Sourced("", self.place("PORT_QOS_MAP", key, name))
        made = numbers(found.value) if found.value else []
        if made is None:
            raise ReportError(f"{found.place.file}: {found.place}: a list of priorities is expected, as 3,4")
        return Sourced(frozenset(made), found.place, "" if made else "none")

    def add_looked_up(self, made):
        """Lossless priority groups that CONFIG_DB does not name, out of pg_profile_lookup.ini."""
        missing = (made.pfc.value if made.pfc else frozenset()) - made.groups.keys()
        if not missing or not self.tables.lookup:
            return
        if made.rate is None or made.cable_m is None:
            self.tables.odd[f"{LOOKED_UP} is by speed and length of the cable; "
                            f"{'PORT' if made.rate is None else 'CABLE_LENGTH'} does not say it"] = None
            return
        speed, cable = int(made.rate.value / 1e6), f"{made.cable_m.value:g}m"
        row, file, line = self.tables.lookup.get((speed, cable), (None, "", 0))
        if row is None:
            self.tables.odd[f"{LOOKED_UP} has no line for {speed} Mb/s and {cable}; headroom of other speeds or cables "
                            "is not taken"] = None
            return
        values = {name: Sourced(int(text), Place(file, LOOKED_UP, f"line {line}", name))
                  for name, text in row.items() if name not in ("speed", "cable")}
        mode = self.field("BUFFER_POOL", "ingress_lossless_pool", "mode")
        static = mode is not None and mode.value == "static"
        profile = Profile(f"pg_lossless_{speed}_{cable}_profile", self.pool("ingress_lossless_pool"), values["size"],
                          None if static else _alpha(values["threshold"]), values["threshold"] if static else None,
                          values["xoff"], values["xon"], values.get("xon_offset"), speed * 1e6, made.cable_m.value)
        made.groups.update(dict.fromkeys(missing, profile))

    def cable(self, port):
        text, key = self.cables.get(port, (None, None))
        length = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)m", text or "")
        if text and not length:
            self.tables.not_understood["CABLE_LENGTH: a length that is not in metres, as 40m"] = None
        return Sourced(float(length[1]), self.place("CABLE_LENGTH", key, port)) if length else None

    def cable_of_profile(self, made):
        """As the names of the profiles in use say it, if they agree."""
        found = {group.of_cable_m: group.name for group in made.groups.values() if group.lossless and group.of_cable_m}
        if len(found) != 1:
            return None
        (length, name), = found.items()
        return Sourced(length, self.place("BUFFER_PROFILE", name, ""), "as its name says")

    def watchdog(self, port, key):
        """`key`: of PORT_QOS_MAP."""
        if port not in self.tables.of("PFC_WD"):
            return None
        named = key and self.field("PORT_QOS_MAP", key, "pfcwd_sw_enable")
        return Watchdog(self.number("PFC_WD", port, "detection_time", 1e-3),
                        self.number("PFC_WD", port, "restoration_time", 1e-3), self.field("PFC_WD", port, "action"),
                        self.priorities(key, "pfcwd_sw_enable") if named else None)


def _alpha(exponent):
    known = exponent and EXPONENTS[0] <= exponent.value <= EXPONENTS[1]
    return Sourced(2.0 ** exponent.value, exponent.place, f"2^{exponent.value}") if known else None


def _as_tuple(fields):
    return tuple(sorted((name, str(value)) for name, value in fields.items()))


def _in_order(name):
    """Ethernet8 before Ethernet10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d{1,9})", name)]
