"""SONiC's CONFIG_DB as files have it: tables of QoS out of config_db.json, sonic-cfggen --print-data, `show
runningconfiguration all`, buffers.json, qos.json and pg_profile_lookup.ini, in old and new forms. Nothing else is kept,
so that no secret of a configuration can come out of here.

Names of tables and fields: sonic-net/sonic-buildimage, src/sonic-yang-models, of 2026-08-22."""

import json
import re
from dataclasses import dataclass, field

from weir_runs.basics.errors import ReportError

# Tables that are read, and the fields of each; None: the fields are ports, or numbers of classes.
READ = {
    "BUFFER_POOL": {"size", "xoff", "mode", "type", "percentage"},
    "BUFFER_PROFILE": {"pool", "size", "xon", "xon_offset", "xoff", "dynamic_th", "static_th", "headroom_type",
                       "packet_discard_action"},
    "BUFFER_PG": {"profile"},
    "BUFFER_QUEUE": {"profile"},
    "CABLE_LENGTH": None,
    "PORT": {"speed", "alias"},
    "WRED_PROFILE": {"ecn", *(field.format(colour) for colour in ("green", "yellow", "red") for field in (
        "{}_min_threshold", "{}_max_threshold", "{}_drop_probability", "wred_{}_enable", "ecn_{}_min_threshold",
        "ecn_{}_max_threshold", "ecn_{}_mark_probability"))},
    "QUEUE": {"scheduler", "wred_profile"},
    "SCHEDULER": {"type", "weight", "priority", "meter_type", "cir", "pir", "cbs", "pbs"},
    "DSCP_TO_TC_MAP": None, "DOT1P_TO_TC_MAP": None, "TC_TO_QUEUE_MAP": None, "TC_TO_PRIORITY_GROUP_MAP": None,
    "MAP_PFC_PRIORITY_TO_QUEUE": None, "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": None,
    "PORT_QOS_MAP": {"dscp_to_tc_map", "dot1p_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map",
                     "pfc_to_pg_map", "pfc_enable", "pfcwd_sw_enable", "tc_to_dscp_map", "scheduler"},
    "PFC_WD": {"detection_time", "restoration_time", "action", "POLL_INTERVAL", "pfc_stat_history", "BIG_RED_SWITCH"},
    "DEVICE_METADATA": {"hwsku", "platform", "hostname", "asic_name", "buffer_model"},
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"default_dynamic_th", "over_subscribe_ratio"},
}
ALIASES = {"PFC_PRIORITY_TO_QUEUE_MAP": "MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_QUEUE":
           "MAP_PFC_PRIORITY_TO_QUEUE", "TC_TO_PG_MAP": "TC_TO_PRIORITY_GROUP_MAP"}
# Those of QoS whose effect the model lacks.
NOT_MODELLED = {
    "BUFFER_PORT_INGRESS_PROFILE_LIST": "limits of whole ports at ingress",
    "BUFFER_PORT_EGRESS_PROFILE_LIST": "limits of whole ports at egress",
    "LOSSLESS_TRAFFIC_PATTERN": "sizes of packets from which the switch computes headroom",
    "TC_TO_DSCP_MAP": "DSCPs that the switch writes", "DSCP_TO_FC_MAP": "forwarding classes",
    "EXP_TO_FC_MAP": "forwarding classes", "MPLS_TC_TO_TC_MAP": "classes of MPLS", "TC_TO_DOT1P_MAP": "PCP that the "
    "switch writes", "PORT_STORM_CONTROL": "storm control", "SWITCH_TRIMMING": "trimmed packets",
}
OF_QOS = re.compile(r"BUFFER_|.*_TO_.*_MAP$|WRED|SCHEDULER|PFC|.*QOS|.*QUEUE|.*WATERMARK|ECN")
NAMESPACE = re.compile(r"localhost|host|asic\d+", re.IGNORECASE)


@dataclass
class Tables:
    """Of one ASIC: table -> key -> (fields, file)."""
    tables: dict = field(default_factory=dict)
    lookup: dict = field(default_factory=dict)  # (b/s, cable): (fields, file, line)
    not_modelled: dict = field(default_factory=dict)  # line: None, in order
    not_understood: dict = field(default_factory=dict)
    odd: dict = field(default_factory=dict)

    def of(self, table):
        return self.tables.get(table, {})

    def add(self, file, tables):
        """Adds the tables of one file. Raises ReportError where it contradicts another one."""
        for name, content in tables.items():
            name = ALIASES.get(name, name)
            if name not in READ or not isinstance(content, dict):
                self._name_unknown(name, content)
                continue
            mine = self.tables.setdefault(name, {})
            for key, fields in content.items():
                if not isinstance(fields, dict):
                    self.not_understood[f"{name}|{key}: not a table of fields"] = None
                    continue
                self._check_fields(name, fields)
                mine[key] = (fields, file) if key not in mine else _merged(name, key, mine[key], fields, file)

    def _name_unknown(self, name, content):
        if name in NOT_MODELLED and content:
            self.not_modelled[f"{name}: {NOT_MODELLED[name]}"] = None
        elif OF_QOS.match(name) and content:
            self.not_understood[f"{name}: a table that weir does not know"] = None

    def _check_fields(self, name, fields):
        if READ[name] is not None and name not in ("PORT", "DEVICE_METADATA"):
            for unknown in fields.keys() - READ[name] - {"NULL"}:
                self.not_understood[f"{name}: field {unknown}"] = None


def _merged(name, key, known, fields, file):
    both, other = known
    for each in fields.keys() & both.keys():
        if str(fields[each]) != str(both[each]):
            raise ReportError(f"{file}: {name}|{key} {each} differs from that in {other}; give files of one switch, "
                              "made at one time")
    return {**both, **fields}, file


def namespaces(document):
    """name of the ASIC ("" of a switch with one) -> its tables. `TABLE|key` at the top is taken apart."""
    if document and all(NAMESPACE.fullmatch(name) and isinstance(tables, dict) for name, tables in document.items()):
        return {name: _nested(tables) for name, tables in document.items()}
    return {"": _nested(document)}


def _nested(document):
    made = {}
    for name, content in document.items():
        table, bar, key = name.partition("|")
        if bar and isinstance(content, dict):
            # redis-dump has the fields in `value`.
            is_dump = content.get("type") == "hash" and isinstance(content.get("value"), dict)
            made.setdefault(table, {})[key] = content["value"] if is_dump else content
        elif not bar:
            made[name] = content
    return made


def is_sonic(document):
    return any(ALIASES.get(name, name) in READ.keys() - {"DEVICE_METADATA"}
               for tables in namespaces(document).values() for name in tables)


def count_of_names_twice(text):
    """How many names stand again in the object of JSON in which they stand already: the parser takes the last."""
    again = 0

    def look(pairs):
        nonlocal again
        made = dict(pairs)
        again += len(pairs) - len(made)
        return made
    json.loads(text, object_pairs_hook=look)
    return again


LOOKUP_COLUMNS = ("speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset")


def is_lookup(text):
    rows = [line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return bool(rows or re.search(r"^#\s*speed\s+cable\s", text, re.MULTILINE)) and all(
        len(row) in (6, 7) and re.fullmatch(r"\d+", row[0]) and re.fullmatch(r"[\d.]+m", row[1]) for row in rows)


def read_lookup(tables, file, text):
    """Rows of pg_profile_lookup.ini: headroom of priority groups by speed (Mb/s) and cable."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            row = dict(zip(LOOKUP_COLUMNS, line.split()))
            if not all(re.fullmatch(r"-?\d{1,15}", text) for name, text in row.items() if name != "cable"):
                raise ReportError(f"{file}:{number}: whole numbers are expected beside the cable")
            place = (int(row["speed"]), row["cable"])
            if place in tables.lookup and tables.lookup[place][0] != row:
                raise ReportError(f"{file}:{number}: {place[0]} {place[1]} stands in {tables.lookup[place][1]}, line "
                                  f"{tables.lookup[place][2]}, with other values; give the file of one switch")
            tables.lookup[place] = (row, file, number)


def plain_name(value):
    """The name that a field refers to: `x` of x and of [TABLE|x]."""
    text = str(value).strip()
    return text[1:-1].rpartition("|")[2] if text.startswith("[") and text.endswith("]") else text


def numbers(text):
    """3-4 and 3,4: [3, 4]. None of anything else, or of more than 64."""
    found = []
    for part in str(text).split(","):
        ends = re.fullmatch(r"\s*(\d{1,3})(?:\s*-\s*(\d{1,3}))?\s*", part)
        if not ends:
            return None
        found += range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    return found if found and len(found) <= 64 else None
