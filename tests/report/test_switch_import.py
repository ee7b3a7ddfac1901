"""weir-sweep switch-import: configurations of SONiC as switch files, each key from its place, and nothing guessed."""

import csv
import json
import os
import re
import subprocess

import pytest
from conftest import ROOT, call_inside
from switch_configurations import LOOKUP, SONIC, of_row, sonic, with_field, written

from weir_runs.basics import toml_file
from weir_suites.switches import switch_keys

WEIR = os.environ.get("WEIR")
ALL_PORTS = "Ethernet0,Ethernet4,Ethernet8,Ethernet12"


@pytest.fixture
def imported(tmp_path):
    """What is printed for configurations, as text and as tables."""
    def run(*documents, options=(), expect=0):
        files = [written(tmp_path / f"{number}.json", document) for number, document in enumerate(documents)]
        text = call_inside("weir-sweep", "switch-import", *files, *options, expect=expect)
        assert "Traceback" not in text
        return text, toml_file.parse("printed", text) if expect == 0 else {}
    return run


def values(tables):
    return {f"{section}.{name}": value for section, keys in tables.items() if isinstance(keys, dict)
            for name, value in keys.items()}


WHOLE = {
    "switch.pool": "13000000B", "switch.headroom-pool": "3000000B", "switch.ingress-alpha": 0.125, "switch.headroom":
    "60000B", "switch.resume-offset": "2496B", "switch.pg-reserved": "1248B", "switch.egress-alpha": 0.5,
    "switch.egress-pool": "8000000B", "switch.queue-reserved": "1664B", "switch.strict": [6], "switch.weights":
    [14, 14, 14, 15, 15, 1, 1, 1], "pfc.on": True, "watchdog.on": True, "watchdog.detection": "200ms",
    "watchdog.restoration": "400ms", "watchdog.polling": "200ms", "watchdog.action": "drop", "ecn.on": True,
    "ecn.drops": False, "ecn.none-below": "150000B", "ecn.all-above": "1500000B",
    "ecn.probability": 0.05, "classes.data": 3, "classes.cnp": 6, "topology.host-delay": "200ns"}


def test_every_key_of_a_whole_configuration(imported):
    text, tables = imported(SONIC)
    assert values(tables) == WHOLE
    for line in ("pool = \"13000000B\"  # BUFFER_POOL|ingress_lossless_pool size; 10000000 B to share + headroom-pool",
                 "ingress-alpha = 0.125  # BUFFER_PROFILE|pg_lossless_100000_40m_profile dynamic_th: 2^-3\n",
                 f"on = true  # PORT_QOS_MAP|{ALL_PORTS} pfc_enable\n",
                 "none-below = \"150000B\"  # WRED_PROFILE|ROCE green_min_threshold\n",
                 "data = 3  # DSCP_TO_TC_MAP|AZURE 26; TC_TO_QUEUE_MAP|AZURE 3\n"):
        assert line in text
    assert "Example-32x100G" in tables["title"] and "leaf7" not in text
    assert "add N x 1248B to pool and N x 11648B to egress-pool\n" in text
    assert "# not known: whether size of ingress_lossless_pool holds its xoff: SONiC's documents say no, as here, " \
        "and SAI's yes; then pool = \"10000000B\", and thresholds are 30% lower\n" in text
    assert "not understood" not in text and "odd:" not in text
    assert re.findall("not in the configuration: .*", text) == [
        "not in the configuration: [switch] cell, slices: the chip of Example-32x100G is not in weir's table"]


@pytest.mark.skipif(not WEIR, reason="WEIR names no program")
def test_the_numbers_of_the_base_are_those_that_the_import_knows():
    base = toml_file.parse("base", subprocess.run([WEIR, "switches", "shallow"], capture_output=True, text=True,
                                                  check=True).stdout)["switch"]
    assert (base["pool"], base["headroom"]) == ("16MB", f"{switch_keys.BASE_HEADROOM}B")
    assert switch_keys.BASE_POOL == 16e6


@pytest.mark.skipif(not WEIR, reason="WEIR names no program")
@pytest.mark.parametrize("document", [SONIC, sonic({"BUFFER_PG": None}), sonic({"DSCP_TO_TC_MAP": None}),
                                      with_field("BUFFER_PROFILE", "egress_lossy_profile", dynamic_th=None,
                                                 static_th="99000000")])
def test_weir_takes_the_file(imported, tmp_path, document):
    text, tables = imported(document)
    path = written(tmp_path / "switch.toml", text)
    words = "simulate --network packet --dry-run --producers 2 --consumers 2 --rate 1Gb/s --switch".split()
    said = subprocess.run([WEIR, *words, path], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    if document is SONIC:
        assert "ECN marks from 150 kB to 1.5 MB, 5 % there" in said.stdout
        assert "paused above 0.125 x what is free" in said.stdout


def filled(switch, limit_mb, out):
    """What the switch counted when one sender alone filled it: by a link so slow that next to nothing comes after a
    pause, to one that takes next to nothing."""
    event = f"{limit_mb}MB"
    words = ("simulate --network packet --producers 1 --consumers 1 --mtu 256B --producer-link 1Gb/s --consumer-link "
             "1Mb/s --slots 1 --streams 1 --interval 500ms --duration 500ms --warmup 0s --policy none "
             f"--control-network separate --explain off --quiet --event-size {event} --chunk-size {event} "
             f"--slot-size {event} --rate {16 * limit_mb}Mb/s --out {out} --switch {switch}").split()
    said = subprocess.run([WEIR, *words], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    return json.loads((out / "run.json").read_text())["switch"]


@pytest.mark.skipif(not WEIR, reason="WEIR names no program")
@pytest.mark.parametrize("asic, topology, speed, cable", [
    ("th", "any", "100000", "300"), ("td2", "t0-backend", "40000", "300"), ("td2", "t1-backend", "40000", "300"),
    ("td2", "any", "40000", "5"), ("th2", "any", "40000", "300"), ("th3", "t1-lag", "400000", "300")])
def test_a_known_chip_pauses_and_loses_with_the_packets_that_real_ones_took(imported, tmp_path, asic, topology, speed,
                                                                            cable):
    with open(ROOT / "results/asic-thresholds/rows.csv", encoding="utf-8") as file:
        row = next(row for row in csv.DictReader(file) if [row["asic"], row["topology"], row["speed_mbps"],
                                                           row["cable_m"]] == [asic, topology, speed, cable])
    # Data of a lossless class, and of a lossy one. Packets have 2 cells, and what 3 ports reserve is not shared.
    for dscp, column in (("26", "pause"), ("0", "egress_drop")):
        text, tables = imported(of_row(row), options=("--dscp", dscp))
        cell, measured = int(tables["switch"]["cell"][:-1]), int(row[column])
        path = written(tmp_path / "switch.toml", text)
        counted = filled(path, int(1.5 * measured * cell / 1e6) + 1, tmp_path / column)
        assert abs(counted["pool_peak_bytes"] / cell - measured) <= 0.01 * measured, (column, counted, measured)
        assert bool(counted["pauses_sent"]) == (column == "pause") != bool(counted["dropped_packets"])


def test_a_pool_without_xoff_has_the_headroom_of_all_groups(imported):
    pool = {"size": "10000000", "type": "ingress"}
    document = sonic({"BUFFER_POOL": {"ingress_lossless_pool": pool}})
    document["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"]["size"] = "61248"
    text, tables = imported(document)
    switch = tables["switch"]
    assert (switch["pool"], switch["headroom-pool"], switch["pg-reserved"]) == ("10480000B", "480000B", "1248B")
    assert "ingress_lossless_pool has no xoff: that of all groups together" in text and "not known" not in text
    document["DEVICE_METADATA"]["localhost"]["hwsku"] = "Force10-S6000"
    text, tables = imported(document)  # 48076 cells of 208 B, of which 8 groups have 295 each
    assert (tables["switch"]["cell"], tables["switch"]["pool"]) == ("208B", f"{(48076 - 8 * 295) * 208 + 480000}B")
    assert "B to share (size less what 8 groups and queues reserve) + headroom-pool" in text
    assert "slices" not in tables["switch"] and "add N x 1248B to pool and N x 11648B to egress-pool" in text


def test_an_egress_pool_as_large_as_the_ingress_pool_has_what_that_shares(imported):
    document = sonic({"BUFFER_POOL": {"egress_lossy_pool": {"size": "10000000"}}})
    document["DEVICE_METADATA"]["localhost"]["hwsku"] = "NH-4010"
    text, tables = imported(document)  # 2 slices of 254 B: without xoff, 8 groups of 5 cells, 40 queues of 7 cells
    shared = (7000000 // 254 - 8 * 5 - 40 * 7) * 254
    assert tables["switch"]["pool"] == f"{shared + 3000000}B" and tables["switch"]["egress-pool"] == f"{shared}B"
    assert tables["switch"]["slices"] == 2 and "size less xoff and what 48 groups and queues reserve" in text


def test_what_weir_would_refuse_is_cut_or_left_out(imported):
    text, tables = imported(sonic({"BUFFER_POOL": {"ingress_lossless_pool": {"size": "10000000", "xoff": "50000"}}}))
    assert tables["switch"]["headroom"] == "50000B" and "no more than headroom-pool" in text
    small = sonic({"BUFFER_POOL": {"ingress_lossless_pool": {"size": "10000000", "xoff": "40000"}}})
    switch = imported(small, options=("--dscp", "0"))[1]["switch"]
    assert switch["pool"] == "10000000B" and "headroom-pool" not in switch and "headroom" not in switch
    small["PORT"] = {}
    del small["BUFFER_PG"]["Ethernet0,Ethernet4,Ethernet8,Ethernet12|3-4"]
    small["BUFFER_PG"][f"{ALL_PORTS}|3-4"] = {"profile": "NULL"}
    switch = imported(small)[1]["switch"]
    assert switch["headroom"] == switch["headroom-pool"] == "40000B"
    profile = {**SONIC["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"], "static_th": "2000", "dynamic_th": None}
    text, tables = imported(sonic({"BUFFER_PROFILE": {"pg_lossless_100000_40m_profile": {
        name: value for name, value in profile.items() if value}}}))
    assert "resume-offset" not in tables["switch"] and "is above its threshold" in text
    text, tables = imported(sonic({"BUFFER_POOL": None, "BUFFER_PROFILE": {"egress_lossy_profile": {
        "static_th": "99000000"}}}))
    assert "egress-threshold" not in tables["switch"] and "of a pool whose size is not there" in text


def test_old_forms_and_numbers_mean_the_same(imported):
    old = json.loads(json.dumps(SONIC))
    for table, field, of in (("BUFFER_PROFILE", "pool", "BUFFER_POOL"), ("BUFFER_PG", "profile", "BUFFER_PROFILE"),
                             ("BUFFER_QUEUE", "profile", "BUFFER_PROFILE"), ("QUEUE", "scheduler", "SCHEDULER"),
                             ("QUEUE", "wred_profile", "WRED_PROFILE"), ("PORT_QOS_MAP", "dscp_to_tc_map",
                                                                         "DSCP_TO_TC_MAP")):
        for fields in old[table].values():
            if field in fields:
                fields[field] = f"[{of}|{fields[field]}]"
    assert values(imported(old)[1]) == WHOLE
    numbers = with_field("BUFFER_POOL", "ingress_lossless_pool", size=10000000)
    assert values(imported(numbers)[1]) == WHOLE
    renamed = {**SONIC, "PFC_PRIORITY_TO_QUEUE": SONIC["MAP_PFC_PRIORITY_TO_QUEUE"]}
    del renamed["MAP_PFC_PRIORITY_TO_QUEUE"]
    assert values(imported(renamed)[1]) == WHOLE
    flat = {f"{table}|{key}": fields for table, entries in SONIC.items() for key, fields in entries.items()}
    assert values(imported(flat)[1]) == WHOLE


def test_parts_in_several_files(imported):
    buffers = {name: SONIC[name] for name in SONIC if name.startswith(("BUFFER", "CABLE"))}
    others = {name: SONIC[name] for name in SONIC if name not in buffers}
    assert values(imported(others, buffers)[1]) == WHOLE
    text, tables = imported(others)
    assert "switch.pool" not in values(tables) and "ecn.on" in values(tables)
    assert "# not in the configuration: [switch] pool: " in text


@pytest.mark.parametrize("exponent, alpha", [("-8", 2**-8), ("-3", 0.125), ("0", 1), ("3", 8), ("7", 128)])
def test_alpha_is_a_power_of_two(imported, exponent, alpha):
    document = with_field("BUFFER_PROFILE", "pg_lossless_100000_40m_profile", dynamic_th=exponent)
    assert imported(document)[1]["switch"]["ingress-alpha"] == alpha


@pytest.mark.parametrize("speed, headroom", [("400000", 15000), ("100000", 60000), ("25000", 240000),
                                             ("10000", 240000), ("40000", 150000)])
def test_headroom_is_that_of_a_port_of_100g(imported, speed, headroom):
    text, tables = imported(sonic({"PORT": {"Ethernet0": {"speed": speed}}}), options=("--port", "Ethernet0"))
    assert tables["switch"]["headroom"] == f"{headroom}B"
    assert ("the profile is for 100 Gb/s" in text) == (speed != "100000")
    assert f"60000 B of a port of {int(speed) // 1000} Gb/s" in text


def test_thresholds_in_bytes(imported):
    profile = {**SONIC["BUFFER_PROFILE"]["pg_lossless_100000_40m_profile"], "static_th": "500000"}
    del profile["dynamic_th"]
    document = sonic({"BUFFER_PROFILE": {"pg_lossless_100000_40m_profile": profile, "egress_lossy_profile": {
        "pool": "egress_lossy_pool", "static_th": "99000000"}}})
    text, tables = imported(document)
    assert tables["switch"]["ingress-threshold"] == "500000B" and "ingress-alpha" not in tables["switch"]
    assert tables["switch"]["egress-threshold"] == "8000000B" and "99000000 B are above the pool" in text


def test_profiles_that_the_switch_looks_up(imported):
    computed = sonic({"BUFFER_PG": {f"{ALL_PORTS}|3-4": None}})
    text, tables = imported(computed, LOOKUP)
    assert tables["switch"]["headroom"] == "59696B" and tables["switch"]["ingress-alpha"] == 1
    assert "# pg_profile_lookup.ini|line 3 xoff; " in text
    text, tables = imported({**computed, "PORT": {"Ethernet0": {"speed": "40000"}}}, LOOKUP,
                            options=("--port", "Ethernet0"))
    assert "headroom" not in tables["switch"]
    assert "pg_profile_lookup.ini has no line for 40000 Mb/s and 40m; headroom of other speeds" in text
    text, tables = imported(sonic({"BUFFER_PG": {f"{ALL_PORTS}|3-4": {"profile": "NULL"}},
                                   "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "1"}}}))
    assert tables["switch"]["ingress-alpha"] == 2
    assert "[switch] headroom, resume-offset: the switch computes them itself (BUFFER_PG's NULL)\n" in text


def test_where_the_group_of_data_is_not_there_memory_is_that_of_groups_and_not_where_data_leaves(imported):
    """Without PORT nothing is looked up."""
    text, tables = imported(sonic({
        "PORT": None, "BUFFER_PG": {f"{ALL_PORTS}|3-4": None},
        "BUFFER_PROFILE": {"egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th":
                                                       "20000000"}},
        "BUFFER_POOL": {"egress_lossless_pool": {"type": "egress", "mode": "static", "size": "20000000"}}}), LOOKUP)
    assert tables["switch"]["pool"] == "10000000B" and "headroom" not in tables["switch"]
    assert "# odd: pg_profile_lookup.ini is by speed and length of the cable; PORT does not say it" in text
    assert "then pool = \"7000000B\", and thresholds are 30% lower" in text


def test_ports_that_differ(imported):
    document = sonic({"PORT": {"Ethernet8": {"speed": "25000"}}, "PFC_WD": {"Ethernet12": None}})
    text, tables = imported(document)
    assert "# Port: Ethernet0 and 1 like it, 100 Gb/s; " in text and "Ethernet8 and Ethernet12" in text
    assert "watchdog.on" not in values(imported(document, options=("--port", "Ethernet12"))[1])
    assert tables["title"].endswith("Ethernet0")
    assert "--port: Ethernet99 is no port" in imported(document, options=("--port", "Ethernet99"), expect=2)[0]


def test_a_key_of_many_ports_is_named_by_its_first(imported):
    ports = ",".join(f"Ethernet{number}" for number in range(32))
    text, tables = imported(json.loads(json.dumps(SONIC).replace(ALL_PORTS, ports)), options=("--port", "Ethernet0"))
    assert "on = true  # PORT_QOS_MAP|Ethernet0 and 31 more pfc_enable\n" in text and values(tables) == WHOLE


def test_queues_of_a_chassis(imported):
    document = sonic({"QUEUE": None, "DEVICE_METADATA": {"localhost": {"hostname": "lc1", "asic_name": "Asic0"}}})
    document["QUEUE"] = {f"{asic}|{port}|3-4": {"wred_profile": "ROCE", **more}
                         for asic, more in (("lc1|Asic0", {"scheduler": "data"}), ("lc2|Asic0", {}))
                         for port in SONIC["PORT"]}
    assert imported(document)[1]["switch"]["weights"][3] == 15
    del document["DEVICE_METADATA"]
    assert imported(document)[1]["ecn"]["on"] is True
    for port in SONIC["PORT"]:
        document["QUEUE"][f"lc2|Asic0|{port}|3-4"] = {"scheduler": "rest"}
    text, tables = imported(document)
    assert "QUEUE|3-4 of Ethernet0: entries of several ASICs or lists differ" in text
    assert tables["ecn"]["on"] is False


def test_several_asics(imported):
    other = {name.replace("Ethernet", "Ethernet-BP"): fields for name, fields in SONIC["PORT"].items()}
    text, tables = imported({"localhost": {"DEVICE_METADATA": SONIC["DEVICE_METADATA"]}, "asic0": SONIC,
                             "asic1": {"PORT": other}})
    assert values(tables) == WHOLE and "Ethernet-BP0" in text


@pytest.mark.parametrize("changes, key, line", [
    ({"DSCP_TO_TC_MAP": None}, "classes.data", "where DSCP 26 goes is not there"),
    ({"PORT_QOS_MAP": None}, "pfc.on", "PORT_QOS_MAP has nothing for this port"),
    ({"TC_TO_QUEUE_MAP": None}, "watchdog.on", "[watchdog] on: whether PFC is on for data is not there"),
    ({"PFC_WD": None}, "watchdog.on", "no watchdog of this port is in these files"),
    ({"CABLE_LENGTH": None, "BUFFER_PG": None}, "topology.host-delay", "the length of the cable is not there"),
    ({"SCHEDULER": None}, "switch.weights", "no queue has a scheduler here"),
    ({"BUFFER_POOL": None}, "switch.pool", "which pool data uses is not there"),
    ({"WRED_PROFILE": {"ROCE": {"ecn": "ecn_all", "green_min_threshold": "9", "green_max_threshold": "1"}}},
     "ecn.none-below", "none-below, 9, is above all-above, 1")])
def test_what_is_not_there_is_left_out(imported, changes, key, line):
    text, tables = imported(sonic(changes))
    assert key not in values(tables) and line in text


def test_the_length_of_a_cable_that_the_name_of_the_profile_says(imported):
    text, tables = imported(sonic({"CABLE_LENGTH": None}))
    assert values(tables)["topology.host-delay"] == "200ns"
    assert "# BUFFER_PROFILE|pg_lossless_100000_40m_profile: as its name says; 40 m x 5 ns\n" in text
    assert "# CABLE_LENGTH|AZURE Ethernet0; 30 m" in imported(sonic({"CABLE_LENGTH": {"AZURE": dict.fromkeys(
        SONIC["PORT"], "30m")}}))[0]


def test_other_data_and_other_marks(imported):
    text, tables = imported(SONIC, options=("--dscp", "0"))
    assert values(tables)["pfc.on"] is False and "PFC is on for DSCP 26 (--dscp)" in text
    assert tables["switch"]["pool"] == "10000000B" and tables["ecn"]["on"] is False
    text, tables = imported(with_field("WRED_PROFILE", "ROCE", ecn="ecn_none", wred_green_enable="true"))
    assert tables["ecn"] == {"on": False, "drops": True, "none-below": "150000B", "all-above": "1500000B",
                             "probability": 0.05}
    assert imported(with_field("WRED_PROFILE", "ROCE", ecn="ecn_none"))[1]["ecn"] == {"on": False, "drops": False}
    text, tables = imported(with_field("PFC_WD", "Ethernet0", action="alert"), options=("--port", "Ethernet0"))
    assert tables["watchdog"]["on"] is False and "alert is neither drop nor forward" in text
    text, tables = imported(sonic({"MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"4": "3", "3": "4"}}}))
    assert "pauses of priority 4 that stop queue 3" in text


def test_what_is_not_understood_is_listed(imported):
    text, _ = imported({**with_field("BUFFER_PROFILE", "egress_lossy_profile", new_th="3"), "WRED_FUTURE": {"a": {}},
                        "BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": "x"}}, "BGP_NEIGHBOR": {}})
    assert "# not understood: BUFFER_PROFILE: field new_th\n" in text
    assert "# not understood: WRED_FUTURE: a table that weir does not know\n" in text
    assert "# not modelled: BUFFER_PORT_INGRESS_PROFILE_LIST: " in text and "BGP" not in text
    text, _ = imported(json.dumps(SONIC).replace('"size": "1664"', '"size": "9", "size": "1664"'))
    assert "odd: 0.json: 1 name of one table more than once; the last counts" in text


SECRETS = {"SNMP_COMMUNITY": {"hidden-community": {"TYPE": "RO"}}, "TACPLUS": {"global": {"passkey": "hidden-key"}},
           "DEVICE_METADATA": {"localhost": {"hwsku": "x", "password": "hidden-hash", "hostname": "hidden-name"}},
           "PORT": {"Ethernet0": {"speed": "100000", "description": "hidden-description"}}}


@pytest.mark.parametrize("document, said", [
    (json.dumps(sonic(SECRETS))[:-900], "damaged"),
    (json.dumps({"hidden": [1, 2]}), "JSON without a table"),
    (json.dumps([sonic(SECRETS)]), "JSON without a table"),
    ("hidden text\n", "not known"), ("", "not known"), ("[" * 100000, "damaged"),
    (json.dumps({"PORT_QOS_MAP": {}, **SECRETS})[:-2] + ', "x": NaN}}', "damaged"),
    (with_field("BUFFER_POOL", "ingress_lossless_pool", size="hidden"), "BUFFER_POOL|ingress_lossless_pool size: a"),
    (with_field("PORT_QOS_MAP", ALL_PORTS, pfc_enable="hidden"), "a list of priorities is expected"),
    ({"BUFFER_POOL": {}}, "no port has queues")])
def test_bad_input_is_one_line_without_secrets(imported, document, said):
    text, _ = imported(document, expect=2)
    assert text.count("\n") == 1 and said in text and "0.json" in text and "hidden" not in text


def test_secrets_stay_in(imported):
    assert "hidden" not in imported(sonic(SECRETS))[0]


def test_files_that_contradict_each_other(imported):
    text, _ = imported(SONIC, with_field("BUFFER_POOL", "ingress_lossless_pool", size="5"), expect=2)
    assert re.search(r"1\.json: BUFFER_POOL\|ingress_lossless_pool size differs from that in 0\.json", text)
    text, _ = imported(SONIC, LOOKUP, LOOKUP.replace("59696", "59697"), expect=2)
    assert "2.json:3: 100000 40m stands in 1.json, line 3, with other values" in text
    assert "--dscp: 64" in imported(SONIC, options=("--dscp", "64"), expect=2)[0]


def test_names_cannot_leave_their_comment(imported):
    name = "x\n[pfc]\non = false #\u202e\x1b[31m"
    document = json.loads(json.dumps(SONIC).replace("ROCE", json.dumps(name)[1:-1]))
    text, tables = imported(document)
    assert values(tables) == WHOLE and "\x1b" not in text and "\u202e" not in text


def test_64k_ports_take_seconds(imported):
    ports = [f"Ethernet{number}" for number in range(65536)]
    document = sonic({"PORT": {port: {"speed": "100000"} for port in ports},
                      "QUEUE": {f"{port}|3-4": {"scheduler": "data"} for port in ports},
                      "PORT_QOS_MAP": {port: {"dscp_to_tc_map": "AZURE", "pfc_enable": "3"} for port in ports}})
    before = os.times().children_user
    text, _ = imported(document)
    assert "and 65531 like it" in text
    assert os.times().children_user - before < 40


def test_marks_with_thresholds_of_their_own(imported):
    text, tables = imported(with_field("WRED_PROFILE", "ROCE", wred_green_enable="true", ecn_green_min_threshold="9000",
                                       ecn_green_max_threshold="90000", ecn_green_mark_probability="7"))
    assert tables["ecn"] == {"on": True, "none-below": "9000B", "all-above": "90000B", "probability": 0.07}
    assert "WRED_PROFILE|ROCE ecn_green_min_threshold\n" in text and "not understood" not in text
    assert "# not modelled: WRED_PROFILE|ROCE wred_green_enable: drops with other thresholds than marks\n" in text


@pytest.mark.parametrize("enabled, on", [("3,4", True), ("4", False)])
def test_the_watchdog_looks_at_some_priorities(imported, enabled, on):
    text, tables = imported(with_field("PORT_QOS_MAP", ALL_PORTS, pfcwd_sw_enable=enabled))
    assert tables["watchdog"]["on"] is on and f"PORT_QOS_MAP|{ALL_PORTS} pfcwd_sw_enable" in text
    assert ("; not for priority 3\n" in text) is not on


def test_a_lookup_file_without_rows(imported):
    header = "# PG lossless profiles.\n# speed cable size    xon  xoff threshold xon_offset\n"
    text, _ = imported(sonic({"BUFFER_PG": {f"{ALL_PORTS}|3-4": None}}), header)
    assert "the priority group of data has no profile here" in text
