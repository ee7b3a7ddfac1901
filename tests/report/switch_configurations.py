"""Small configurations of switches, in the form of real ones, for tests to change."""

import copy
import json

POOLS = {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "10000000", "xoff": "3000000"},
         "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "8000000"}}
PROFILES = {
    "pg_lossless_100000_40m_profile": {"pool": "ingress_lossless_pool", "size": "1248", "xon": "1248", "xon_offset":
                                       "2496", "xoff": "60000", "dynamic_th": "-3"},
    "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "static_th": "10000000"},
    "egress_lossless_profile": {"pool": "ingress_lossless_pool", "size": "0", "static_th": "10000000"},
    "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "1664", "dynamic_th": "-1"}}
SONIC = {
    "DEVICE_METADATA": {"localhost": {"hwsku": "Example-32x100G", "hostname": "leaf7"}},
    "PORT": {f"Ethernet{4 * number}": {"speed": "100000"} for number in range(4)},
    "CABLE_LENGTH": {"AZURE": {f"Ethernet{4 * number}": "40m" for number in range(4)}},
    "BUFFER_POOL": POOLS, "BUFFER_PROFILE": PROFILES,
    "BUFFER_PG": {"Ethernet0,Ethernet4,Ethernet8,Ethernet12|3-4": {"profile": "pg_lossless_100000_40m_profile"},
                  "Ethernet0,Ethernet4,Ethernet8,Ethernet12|0": {"profile": "ingress_lossy_profile"}},
    "BUFFER_QUEUE": {"Ethernet0,Ethernet4,Ethernet8,Ethernet12|3-4": {"profile": "egress_lossless_profile"},
                     "Ethernet0,Ethernet4,Ethernet8,Ethernet12|0-2": {"profile": "egress_lossy_profile"},
                     "Ethernet0,Ethernet4,Ethernet8,Ethernet12|5-6": {"profile": "egress_lossy_profile"}},
    "WRED_PROFILE": {"ROCE": {"ecn": "ecn_all", "wred_green_enable": "false", "green_min_threshold": "150000",
                              "green_max_threshold": "1500000", "green_drop_probability": "5"}},
    "SCHEDULER": {"data": {"type": "DWRR", "weight": "15"}, "rest": {"type": "DWRR", "weight": "14"},
                  "first": {"type": "STRICT"}},
    "QUEUE": {"Ethernet0,Ethernet4,Ethernet8,Ethernet12|3-4": {"scheduler": "data", "wred_profile": "ROCE"},
              "Ethernet0,Ethernet4,Ethernet8,Ethernet12|0-2": {"scheduler": "rest"},
              "Ethernet0,Ethernet4,Ethernet8,Ethernet12|6": {"scheduler": "first"}},
    "DSCP_TO_TC_MAP": {"AZURE": {**{str(dscp): "0" for dscp in range(64)}, "26": "3", "48": "6"}},
    "TC_TO_QUEUE_MAP": {"AZURE": {str(number): str(number) for number in range(8)}},
    "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {**{str(number): "0" for number in range(8)}, "3": "3", "4": "4"}},
    "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {str(number): str(number) for number in range(8)}},
    "PORT_QOS_MAP": {"Ethernet0,Ethernet4,Ethernet8,Ethernet12": {
        "dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE",
        "pfc_enable": "3,4"}},
    "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"},
               **{f"Ethernet{4 * number}": {"detection_time": "200", "restoration_time": "400", "action": "drop"}
                  for number in range(4)}},
}
LOOKUP = """# PG lossless profiles.
# speed cable size xon xoff threshold xon_offset
  100000  40m  1248 1248 59696 0 2496
   40000  300m 1248 1248 48256 -3 2496
"""


def sonic(changes=None):
    """SONIC with `changes`: of the tables that they name, entries replace those of the same name; None takes out a
    table or an entry."""
    made = copy.deepcopy(SONIC)
    for table, entries in (changes or {}).items():
        if entries is None:
            made.pop(table)
            continue
        merged = {**made.get(table, {}), **entries}
        made[table] = {key: fields for key, fields in merged.items() if fields is not None}
    return made


def with_field(table, key, **fields):
    """SONIC with other fields in one entry."""
    return sonic({table: {key: {**SONIC[table].get(key, {}), **fields}}})


def of_row(row):
    """The switch of a row of results/asic-thresholds/rows.csv."""
    groups = row["reserved"].split("x")[0] or 64
    ports = [f"Ethernet{number}" for number in range(int(groups) // 2)]
    profile, all_ports = {"pool": "ingress_lossless_pool"}, ",".join(ports)
    for field in ("size", "xoff", "xon_offset"):
        profile[field] = row[f"{field}_bytes"]
    pool = {"size": row["pool_bytes"], **({"xoff": row["pool_xoff_bytes"]} if row["pool_xoff_bytes"] else {})}
    return sonic({
        "DEVICE_METADATA": {"localhost": {"hwsku": row["hwsku"]}},
        "PORT": {port: {"speed": row["speed_mbps"]} for port in ports},
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(ports, f"{row['cable_m']}m")},
        "BUFFER_POOL": {"ingress_lossless_pool": pool, "egress_lossy_pool": {"size": row["egress_pool_bytes"]}},
        "BUFFER_PROFILE": {"lossless": {**profile, "dynamic_th": row["dynamic_th"]}, "lossy": {
            "pool": "egress_lossy_pool", "size": row["egress_size_bytes"], "dynamic_th": row["egress_dynamic_th"]}},
        "BUFFER_PG": {**dict.fromkeys(SONIC["BUFFER_PG"]), f"{all_ports}|3-4": {"profile": "lossless"}},
        "BUFFER_QUEUE": {**dict.fromkeys(SONIC["BUFFER_QUEUE"]), f"{all_ports}|0-2": {"profile": "lossy"}},
        "PORT_QOS_MAP": {all_ports: next(iter(SONIC["PORT_QOS_MAP"].values()))}})


def written(path, document):
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path

EOS = """! device: leaf7 (DCS-7060CX2-32S, EOS-4.31.1F)
!
snmp-server community hidden ro
username admin privilege 15 secret sha512 hidden
!
qos map cos 3 to traffic-class 3
qos map dscp 26 27 to traffic-class 3
qos map dscp 48 to traffic-class 6
qos map traffic-class 0 1 to tx-queue 0
qos map traffic-class 3 to tx-queue 3
qos map traffic-class 6 to uc-tx-queue 6
!
priority-flow-control pause watchdog default timeout 0.20
priority-flow-control pause watchdog default recovery-time 0.40
priority-flow-control pause watchdog default polling-interval 0.10
priority-flow-control pause watchdog action drop
!
qos profile ROCE
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   !
   uc-tx-queue 3
      no priority
      bandwidth percent 50
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 2 mbytes max-mark-probability 20 weight 0
      random-detect ecn count
   !
   uc-tx-queue 6
      priority strict
!
interface Ethernet1/1
   description hidden
   speed 100g-4
   service-profile ROCE
!
interface Ethernet2/1
   speed forced 100gfull
   service-profile ROCE
!
interface Ethernet3/1
!
interface Management1
   ip address 10.0.0.1/24
end
"""
NVUE = [
    {"header": {"model": "MSN4700", "nvue-api-version": "nvue_v1"}},
    {"set": {
        "system": {"hostname": "hidden", "aaa": {"user": {"cumulus": {"hashed-password": "hidden"}}}},
        "interface": {
            "swp1-4,swp6": {"link": {"speed": "100G"}, "qos": {
                **{kind: {"profile": "ROCE"} for kind in ("mapping", "pfc", "congestion-control")},
                "pfc-watchdog": {"state": "enable"}}},
            "swp8s0-1": {"type": "swp"}, "eth0": {"type": "eth"}},
        "qos": {
            "mapping": {"ROCE": {"trust": "both", "dscp": {"26": {"switch-priority": 3}}}},
            "egress-queue-mapping": {"default-global": {"switch-priority": {"3": {"traffic-class": 3}}}},
            "pfc": {"ROCE": {"switch-priority": {"3": {}}, "tx": "enable", "rx": "enable", "cable-length": 50}},
            "congestion-control": {"ROCE": {"traffic-class": {"3": {
                "ecn": "enable", "min-threshold": 150000, "max-threshold": 1500000, "probability": 10}}}},
            "egress-scheduler": {"default-global": {"traffic-class": {
                "0-5": {"mode": "dwrr", "bw-percent": 12}, "6": {"mode": "strict"}}}},
            "advance-buffer-config": {"default-global": {
                "ingress-lossless-buffer": {"shared-alpha": "alpha_1_8"},
                "egress-lossy-buffer": {"traffic-class": {"0": {"shared-alpha": "alpha_4"}}}}},
            "traffic-pool": {"default-lossless": {"memory-percent": 50}},
            "pfc-watchdog": {"polling-interval": 200, "robustness": 5}}}}]
