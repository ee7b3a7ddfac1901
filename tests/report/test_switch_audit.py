"""weir-sweep switch-import --audit: each fault of a configuration is found where it is planted, and nowhere else."""

import json

import pytest
from conftest import call_inside
from switch_configurations import LOOKUP, SONIC, sonic, with_field, written

ALL_PORTS = "Ethernet0,Ethernet4,Ethernet8,Ethernet12"
LOSSLESS = "pg_lossless_100000_40m_profile"


@pytest.fixture
def audited(tmp_path):
    """The findings on configurations and texts of hosts, by kind; `one of a kind` unless there are several."""
    def run(*documents, options=()):
        files = [written(tmp_path / f"{number}.txt", document) for number, document in enumerate(documents)]
        record = json.loads(call_inside("weir-sweep", "switch-import", *files, "--audit", "--json", *options))
        assert record["schema"] == "weir-switch-audit/1"
        order = [one["severity"] for one in record["findings"]]
        assert order == sorted(order, key=("serious", "warning", "note").index)
        assert [record["serious"], record["warnings"], record["notes"]] == [
            order.count(severity) for severity in ("serious", "warning", "note")]
        return {one["kind"]: one for one in record["findings"]}
    return run


def test_a_sound_configuration_has_no_findings(audited):
    assert audited(SONIC) == {}
    assert audited(sonic({"BUFFER_PG": {f"{ALL_PORTS}|3-4": None}}), LOOKUP) == {}


FAULTS = [
    ("ecn-after-pfc", "serious", with_field("WRED_PROFILE", "ROCE", green_min_threshold="3400000"),
     "ECN cannot act before PFC: marks begin at 3.4 MB in a queue, and with 4 senders to it, all that there are, their "
     "groups are paused from 3.33 MB on, all together"),
    ("ecn-after-pfc", "warning", with_field("WRED_PROFILE", "ROCE", green_min_threshold="1200000"),
     "with 1 sender to a queue PFC acts before ECN: the group of a single one is paused from 1.11 MB on, and marks "
     "begin at 1.2 MB; with 2 or more senders marks begin first, for their groups are paused from 2 MB on"),
    ("ecn-after-pfc", "warning", with_field("WRED_PROFILE", "ROCE", green_min_threshold="950000"),
     "PFC acts before ECN when groups of 3 of 4 ports are full at the same time, each for a queue of its own: each is "
     "then paused from 909 kB on"),
    ("headroom", "serious", sonic({"CABLE_LENGTH": {"AZURE": dict.fromkeys(SONIC["PORT"], "2000m")}}),
     "headroom of pg_lossless_100000_40m_profile is 60 kB, and at least 258 kB arrive after a pause: 250 kB on 2000 m "
     "at 100 Gb/s, and 2 frames; packets are lost in spite of PFC"),
    ("headroom", "warning", with_field("BUFFER_PROFILE", LOSSLESS, xoff="18432"),
     "headroom of pg_lossless_100000_40m_profile is 18.4 kB, and with jumbo frames 23.4 kB arrive after a pause"),
    ("headroom-of-other-rate", "warning", sonic({"PORT": dict.fromkeys(SONIC["PORT"], {"speed": "25000"})}),
     "pg_lossless_100000_40m_profile is for 100 Gb/s, and the port has 25 Gb/s"),
    ("headroom-pool", "warning", with_field("BUFFER_POOL", "ingress_lossless_pool", xoff="400000"),
     "8 groups of all ports have headroom of 480 kB together, and ingress_lossless_pool has 400 kB for it: enough for "
     "6"),
    ("pfc-of-lossy-group", "serious", sonic({"BUFFER_PG": {
        f"{ALL_PORTS}|3-4": None, f"{ALL_PORTS}|3": {"profile": LOSSLESS}, f"{ALL_PORTS}|4": {
            "profile": "ingress_lossy_profile"}}}),
     "PFC is on for priority 4, and its priority group 4 is lossy: ingress_lossy_profile has no headroom"),
    ("lossless-without-pfc", "serious", with_field("PORT_QOS_MAP", ALL_PORTS, pfc_enable="3"),
     "priority group 4 has headroom (pg_lossless_100000_40m_profile), and PFC is off for its priorities 4"),
    ("data-in-lossy-queue", "serious", with_field("DSCP_TO_TC_MAP", "AZURE", **{"26": "1", "3": "3"}),
     "data with DSCP 26 goes to queue 1, which no PFC protects; PFC is on for DSCP 3"),
    ("data-in-shared-queue", "warning", with_field("DSCP_TO_TC_MAP", "AZURE", **{"0": "3"}),
     "data with DSCP 26 shares queue 3 with traffic without a DSCP (0)"),
    ("cnp-in-shared-queue", "warning", with_field("DSCP_TO_TC_MAP", "AZURE", **{"48": "3"}),
     "a CNP with DSCP 48 shares queue 3 with data, and waits behind it"),
    ("cnp-in-shared-queue", "warning", with_field("DSCP_TO_TC_MAP", "AZURE", **{"48": "0"}),
     "a CNP with DSCP 48 shares queue 0 with traffic without a DSCP (0), and is lost with it"),
    ("no-marks", "warning", with_field("WRED_PROFILE", "ROCE", ecn="ecn_none"), "queue 3 of data marks nothing"),
    ("few-marks", "warning", with_field("WRED_PROFILE", "ROCE", green_drop_probability="1"),
     "at 1.5 MB only 1 % of the packets are marked"),
    ("watchdog", "note", sonic({"PFC_WD": None}), "PFC is on without a watchdog in these files"),
    ("watchdog", "warning", with_field("PFC_WD", "Ethernet0", action="alert"), "the watchdog's action is alert"),
    ("watchdog", "warning", with_field("PORT_QOS_MAP", ALL_PORTS, pfcwd_sw_enable="3"),
     "the watchdog looks at priority 3, and PFC is on for priority 4 too"),
    ("not-judged", "warning", sonic({"PORT_QOS_MAP": {ALL_PORTS: {
        "dot1p_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "pfc_enable": "3,4"}}}),
     "not judged: the queue of data, its marks and pauses (DSCP 26 is not looked at: the port maps PCP"),
    ("not-judged", "warning", sonic({"BUFFER_POOL": {"ingress_lossless_pool": {"xoff": "3000000"}}}),
     "not judged: whether ECN acts before PFC (marks begin at 150 kB, and the memory, "),
    ("not-judged", "warning", sonic({"PORT": dict.fromkeys(SONIC["PORT"], {})}),
     "not judged: headroom (no speed in these files)"),
    ("not-judged", "warning", sonic({"QUEUE": None, "BUFFER_QUEUE": None}),
     "not judged: marks of data (queue 3 has no entry here)"),
    ("not-understood", "warning", with_field("BUFFER_PROFILE", LOSSLESS, shade="blue"),
     "not understood, so what it sets was not judged: BUFFER_PROFILE: field shade"),
    ("contradiction", "note", sonic({"SCHEDULER": {"rest": None}}), "SCHEDULER|rest is named, and is not there"),
]


@pytest.mark.parametrize("kind, severity, document, text", FAULTS, ids=[fault[0] for fault in FAULTS])
def test_a_fault_that_is_planted_is_found(audited, kind, severity, document, text):
    found = audited(document)
    assert found[kind]["severity"] == severity and text in found[kind]["text"]
    # Ports that differ follow from faults that were planted in one port.
    assert found.keys() - {"other-than-neighbours"} == {kind}
    assert kind in ("contradiction", "not-judged", "not-understood") or found[kind]["sources"]


def test_ports_that_differ_from_their_neighbours(audited):
    document = sonic({"BUFFER_PG": {"Ethernet8|3-4": {"profile": "other"}, f"{ALL_PORTS}|3-4": None,
                                    "Ethernet0,Ethernet4,Ethernet12|3-4": {"profile": LOSSLESS}},
                      "BUFFER_PROFILE": {"other": SONIC["BUFFER_PROFILE"][LOSSLESS]}, "PFC_WD": {"Ethernet12": None}})
    found = audited(document)
    assert found["watchdog"]["severity"] == "warning" and found["watchdog"]["ports"] == ["Ethernet12"]
    said = found["other-than-neighbours"]["text"]
    assert said.endswith(("in: priority groups", "in: watchdog")) and "at the same speed and length of cable" in said
    assert audited(document, options=("--port", "Ethernet0")) == {}
    assert "other-than-neighbours" not in audited(sonic({"PORT": {"Ethernet8": {"speed": "400000"}}}))


def test_the_threshold_of_a_known_chip_is_that_of_a_part_of_its_memory(audited):
    document = with_field("WRED_PROFILE", "ROCE", green_min_threshold="300000")
    assert audited(document) == {}
    document["DEVICE_METADATA"]["localhost"]["hwsku"] = "Force10-S6100"  # 4 parts: 10 MB / 4 / 9
    assert "is paused from 278 kB on" in audited(document)["ecn-after-pfc"]["text"]


def test_headroom_is_in_a_pool_without_xoff_where_the_chip_is_known(audited):
    document = sonic({"BUFFER_POOL": {"ingress_lossless_pool": {"size": "1400000"}}})
    document["BUFFER_PROFILE"][LOSSLESS].update(xoff="200000", size="201248")
    assert "headroom-pool" not in audited(document)
    document["DEVICE_METADATA"]["localhost"]["hwsku"] = "Force10-S6000"
    found = audited(document)["headroom-pool"]
    assert found["severity"] == "serious" and "headroom of 1.6 MB together" in found["text"]


def test_each_asic_has_headroom_of_its_own(audited):
    one = with_field("BUFFER_POOL", "ingress_lossless_pool", xoff="500000")  # 8 groups of 60000 B
    assert "headroom-pool" not in audited({"asic0": one, "asic1": one})
    late = with_field("WRED_PROFILE", "ROCE", green_min_threshold="950000")
    assert "groups of 3 of 4 ports" in audited({"asic0": late, "asic1": late})["ecn-after-pfc"]["text"]


def test_groups_without_a_map_are_not_judged(audited):
    document = sonic({"TC_TO_PRIORITY_GROUP_MAP": None})
    document["PORT_QOS_MAP"][ALL_PORTS]["pfc_enable"] = ""
    assert "lossless-without-pfc" not in audited(document)


MLNX_QOS = """DCBX mode: OS controlled
Priority trust state: {trust}
dscp2prio mapping:
\tprio:0 dscp:07,06,05,04,03,02,01,00,
\tprio:{priority} dscp:26,
default priority:
Receive buffer size (bytes): 130944,130944,0,0,0,0,0,0,
Cable len: 7
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     {enabled}
\tbuffer      0   0   0   1   0   0   0   0
"""
ON_3_4 = "0   0   0   1   1   0   0   0"
ON_3 = "0   0   0   1   0   0   0   0"


NICCLI = """IEEE 8021QAZ ETS Configuration TLV:
\t PRIO_MAP: 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:2
IEEE 8021QAZ PFC TLV:
\t PFC enabled: {enabled}
IEEE 8021QAZ APP TLV:
\t APP#0:
\t  Priority: 7
\t  Sel: 5
\t  DSCP: 48

\t APP#1:
\t  Priority: {priority}
\t  Sel: 5
\t  DSCP: 26

\t APP#2:
\t  Priority: 3
\t  Sel: 3
\t  UDP or DCCP: 4791
"""


@pytest.mark.parametrize("text, kind, severity, said", [
    (NICCLI.format(enabled="3 4", priority=3), None, "", ""),
    (NICCLI.format(enabled="3", priority=3), "host-pfc", "warning", "the NICs have PFC for priority 3, the switch for"),
    (NICCLI.format(enabled="3, 4", priority=5), "host-pfc", "serious", "3 and 4 and take it for priority 5"),
    (NICCLI.format(enabled="none", priority=3), "host-pfc", "serious", "pause priority none, the switch expects it in"),
    (MLNX_QOS.format(trust="dscp", priority=3, enabled=ON_3_4), None, "", ""),
    (MLNX_QOS.format(trust="dscp", priority=3, enabled=ON_3), "host-pfc", "warning",
     "the NICs have PFC for priority 3, the switch for 3 and 4"),
    (MLNX_QOS.format(trust="dscp", priority=5, enabled=ON_3_4), "host-pfc", "serious",
     "pause priority 3 and 4 and take it for priority 5, the switch expects it in priority 3"),
    (MLNX_QOS.format(trust="pcp", priority=3, enabled=ON_3_4), "host-trust", "warning", "the NICs trust PCP"),
    ("106\n", None, "", ""), ("184\n", "host-dscp", "warning", "hosts send RoCE with DSCP 46"),
    ("/sys/class/net/eth2/ecn/roce_np/enable/3:1\n/sys/class/net/eth2/ecn/roce_np/cnp_dscp:48\n", None, "", ""),
    ("/sys/class/net/eth2/ecn/roce_rp/enable/3:0\n", "host-ecn", "serious", "do not react to CNPs"),
    ("/sys/class/net/eth2/ecn/roce_np/enable/3 = 0\n", "host-ecn", "serious", "send no CNPs"),
    ("/sys/class/net/eth2/ecn/roce_np/cnp_dscp:26\n", "host-cnp", "warning", "the queue of data (3)"),
    ("/sys/class/infiniband/mlx5_0/tc/1/traffic_class:Global tclass=106\n", None, "", ""),
    ("".join(f"dev.mce.0.{way}x_priority_flow_control_{number}: {int(number == 3)}\n" for way in "rt"
             for number in range(8)), "host-pfc", "warning", "the NICs have PFC for priority 3, the switch for 3 and")])
def test_what_hosts_say_of_their_nics(audited, text, kind, severity, said):
    found = audited(SONIC, text)
    assert set(found) == ({kind} if kind else set())
    assert kind is None or found[kind]["severity"] == severity and said in found[kind]["text"]
    assert kind is None or found[kind]["text"].startswith("1.txt: ")


def test_the_switch_expects_another_priority(audited):
    document = sonic({"DSCP_TO_TC_MAP": {"AZURE": {**SONIC["DSCP_TO_TC_MAP"]["AZURE"], "26": "4"}}})
    found = audited(document, MLNX_QOS.format(trust="dscp", priority=3, enabled=ON_3))
    assert ("of RoCE with DSCP 26 the NICs pause priority 3 and take it for priority 3, the switch expects it "
            "in priority 4") in found["host-pfc"]["text"]


def check(**more):
    interface = {"name": "eth2", "dscp_trusted": True, "pfc_priorities": [3, 4], "priority_of_dscp": [[26, 3]],
                 "ecn_notification_priorities": [3], "ecn_reaction_priorities": None, **more}
    return {"schema": "weir-check/1", "hosts": [{"host": "fn03", "rdma_ports": [
        {"interface": "eth2", "traffic_class": 106}], "interfaces": [interface, {"name": "eth0"}]}]}


def test_what_weir_check_found_on_hosts(audited, tmp_path):
    assert audited(SONIC, check()) == {}
    found = audited(check(pfc_priorities=[5], ecn_notification_priorities=[]), SONIC)
    assert set(found) == {"host-pfc", "host-ecn"} and "0.txt, fn03 eth2: " in found["host-pfc"]["text"]
    files = [written(tmp_path / "c", check(priority_of_dscp="x")), written(tmp_path / "s", SONIC)]
    said = call_inside("weir-sweep", "switch-import", *files, "--audit", expect=2)
    assert "c: not as weir check --json writes it" in said and said.count("\n") == 1


def test_text_for_people(tmp_path):
    path = written(tmp_path / "config_db.json", with_field("PORT_QOS_MAP", ALL_PORTS, pfc_enable="3"))
    said = call_inside("weir-sweep", "switch-import", path, "--audit")
    assert said.startswith("1 serious finding, 0 warnings and 0 notes in config_db.json\n\nSERIOUS  priority group 4 ")
    assert "(Ethernet0 and 3 more)" in said and f"PORT_QOS_MAP|{ALL_PORTS} pfc_enable" in said
    assert "-> turn PFC on" in said
    sound = call_inside("weir-sweep", "switch-import", written(path, SONIC), "--audit")
    assert sound.startswith("0 serious findings, 0 warnings and 0 notes in config_db.json")
    less = call_inside("weir-sweep", "switch-import", written(path, sonic({"BUFFER_PG": None})), "--audit")
    assert less.startswith("No serious finding in what could be judged, 1 warning ")
    nothing = {"PORT_QOS_MAP": {ALL_PORTS: {"dscp_to_tc_map": "AZURE"}}, "QUEUE": None, "BUFFER_PG": None}
    said = call_inside("weir-sweep", "switch-import", written(path, sonic(nothing)), "--audit")
    assert said.startswith("Nothing could be judged: 1 warning and 0 notes in config_db.json\n\nWARNING  no check ")
    said = call_inside("weir-sweep", "switch-import", written(path, sonic({"PFC_WD": None})), "--audit")
    assert "-> turn the watchdog on: sudo pfcwd start --action drop all 400 --restoration-time 400\n" in said
    assert "--json: it goes with --audit" in call_inside("weir-sweep", "switch-import", path, "--json", expect=2)
    alone = written(tmp_path / "x", "106")
    assert "no configuration of a switch" in call_inside("weir-sweep", "switch-import", alone, expect=2)
