"""weir-sweep switch-import reads NVUE's JSON and Arista EOS's text as it reads SONiC's tables."""

import copy
import os
import subprocess

import pytest
from conftest import call_inside
from switch_configurations import EOS, LOOKUP, NVUE, SONIC, written

from weir_runs.basics import toml_file

WEIR = os.environ.get("WEIR")


@pytest.fixture
def imported(tmp_path):
    def run(*documents, options=(), expect=0):
        files = [written(tmp_path / f"{number}.txt", document) for number, document in enumerate(documents)]
        text = call_inside("weir-sweep", "switch-import", *files, *options, expect=expect)
        assert "hidden" not in text and "Traceback" not in text
        tables = toml_file.parse("printed", text) if expect == 0 and not options else {}
        return text, {f"{section}.{name}": value for section, keys in tables.items() if isinstance(keys, dict)
                      for name, value in keys.items()}
    return run


def nvue(**qos):
    made = copy.deepcopy(NVUE)
    made[1]["set"]["qos"].update(qos)
    return made


def test_nvue(imported):
    text, values = imported(NVUE)
    assert values == {
        "switch.ingress-alpha": 0.125, "switch.egress-alpha": 4, "switch.strict": [6], "switch.weights":
        [12, 12, 12, 12, 12, 12, 1, 1], "pfc.on": True, "watchdog.on": True, "watchdog.detection": "1s",
        "watchdog.restoration": "200ms", "watchdog.polling": "200ms", "watchdog.action": "drop", "ecn.on": True,
        "ecn.none-below": "150000B",
        "ecn.all-above": "1500000B", "ecn.probability": 0.1, "classes.data": 3, "classes.cnp": 6,
        "topology.host-delay": "250ns"}
    assert "Port: swp1 and 4 like it, 100 Gb/s; " in text and "swp8s0 and 1 like it" in text
    assert "# qos congestion-control ROCE traffic-class 3 min-threshold\n" in text
    assert "# not modelled: qos traffic-pool: pools as shares" in text
    assert imported(NVUE[1]["set"])[1] == values


def test_nvue_defaults_and_what_is_turned_off(imported):
    # Of a port without profiles, and of `nv set qos roce`.
    text, values = imported([{"set": {"interface": {"swp1-2": {}}, "qos": {"roce": {"mode": "lossless"}}}}])
    assert values["pfc.on"] is True and values["classes.data"] == 3 and values["classes.cnp"] == 6
    assert "RoCE's default" in text and values["ecn.none-below"] == "150000B" and values["ecn.all-above"] == "1500000B"
    assert values["switch.strict"] == [6] and values["switch.weights"][3] == 50 and values["ecn.on"] is True
    off = [{"set": {"interface": {"swp1-2": {}}, "qos": {"roce": {"mode": "lossless", "state": "disabled"}}}}]
    assert imported(off)[1].get("pfc.on") is not True
    lossy = imported([{"set": {"interface": {"swp1": {}}, "qos": {"roce": {"mode": "lossy"}}}}])[1]
    assert lossy["pfc.on"] is False
    silent = nvue(pfc={"ROCE": {"switch-priority": {"3": {}}, "tx": "disable"}})
    text, values = imported(silent)
    assert values["pfc.on"] is False and "obeys pauses and sends none" in text
    assert "classes.data" not in imported(nvue(mapping={"ROCE": {"trust": "l2"}}))[1]
    assert "qos new-thing" in imported(nvue(**{"new-thing": {"a": 1}}))[0]
    said = imported(nvue(**{"pfc": {"ROCE": {"cable-length": "hidden"}}}), expect=2)[0]
    assert "qos pfc ROCE cable-length: a whole number from 0 on is expected" in said


def test_eos(imported):
    text, values = imported(EOS)
    assert values == {
        "switch.strict": [6], "switch.weights": [1, 1, 1, 50, 1, 1, 1, 1], "pfc.on": True, "watchdog.on": True,
        "watchdog.detection": "200ms", "watchdog.restoration": "400ms", "watchdog.polling": "100ms",
        "watchdog.action": "drop", "ecn.on": True, "ecn.none-below": "150000B", "ecn.all-above": "2000000B",
        "ecn.probability": 0.2, "classes.data": 3, "classes.cnp": 6}
    assert "Port: Ethernet1/1 and 1 like it, 100 Gb/s; data has DSCP 26." in text
    assert "# line 22 priority-flow-control priority 3 no-drop\n" not in text
    assert "# line 21 priority-flow-control priority 3 no-drop\n" in text
    assert "not understood" not in text


def test_eos_lines_that_are_missing_or_other(imported):
    text, values = imported(EOS.replace("qos map traffic-class 3 to tx-queue 3\n", "").replace(" 26 27 to", " 30 to"))
    assert values["classes.data"] == 3 and "# qos map dscp: no line: EOS's default; qos map traffic-class: no" in text
    assert "ecn.none-below" not in imported(EOS.replace("150 kbytes", "720 segments"))[1]
    assert imported(EOS.replace("priority-flow-control on", "priority-flow-control off"))[1]["pfc.on"] is False
    text, values = imported(EOS.replace("   service-profile ROCE\n!\ninterface Ethernet3",
                                        "   service-profile ROCE\n   priority-flow-control priority 4 no-drop\n!\n"
                                        "interface Ethernet3") + "platform trident mmu queue profile x\n")
    assert "Ethernet2/1" in text and "PFC for priority 4" not in text
    assert f"not understood: line {EOS.count(chr(10)) + 2}: platform trident mmu queue profile x" in text
    assert "PFC for priority 4" in imported(EOS.replace("priority 3 no-drop", "priority 3 no-drop\n"
                                                        "   priority-flow-control priority 4 no-drop"))[0]


def with_lines(before, lines):
    """EOS with more lines ahead of one."""
    assert before in EOS
    return EOS.replace(before, lines + before, 1)


def test_eos_queues_of_an_interface_add_to_those_of_its_profile(imported):
    whole = imported(EOS)[1]
    counting = with_lines("!\ninterface Ethernet3/1", "   !\n   uc-tx-queue 3\n      random-detect ecn count\n")
    assert imported(counting, options=("--port", "Ethernet2/1"))[0].count("all-above = \"2000000B\"") == 1
    multicast = "   !\n   mc-tx-queue 3\n      priority strict\n      bandwidth percent 7\n"
    assert imported(with_lines("!\ninterface Ethernet1/1", multicast))[1] == whole
    # What follows a queue at the depth of the profile is the profile's.
    assert imported(with_lines("   !\n   uc-tx-queue 6", "   priority strict\n"))[1] == whole
    assert imported(with_lines("interface Management1", "interface Ethernet3/1.7\n   speed 10g\n!\n"))[1] == whole


def test_eos_drops_and_units(imported):
    ecn = "random-detect ecn minimum-threshold 150 kbytes maximum-threshold 2 mbytes max-mark-probability 20 weight 0"
    text, values = imported(EOS.replace(ecn, "random-detect drop minimum-threshold 1 kbytes maximum-threshold 10 "
                                             "kbytes drop-probability 90"))
    assert (values["ecn.on"], values["ecn.drops"], values["ecn.all-above"]) == (False, True, "10000B")
    assert values["ecn.probability"] == 0.9
    text, values = imported(EOS.replace("150 kbytes", "720 segments"))
    assert "not understood: line 26: random-detect ecn" in text and "(thresholds that are not in bytes)" in text
    assert "ecn.none-below" not in values and values["ecn.on"] is True


def test_eos_watchdogs_of_ports_and_pfc_that_is_off(imported):
    globally = "".join(line + "\n" for line in EOS.splitlines() if "pause watchdog" not in line)
    assert "PFC is on without a watchdog" in imported(globally, options=("--audit",))[0]
    lines = ("   priority-flow-control pause watchdog\n   priority-flow-control pause watchdog port action drop\n"
             "   priority-flow-control pause watchdog port timer timeout 0.05 polling-interval auto recovery-time 1.5 "
             "forced\n")
    text, values = imported(globally.replace("   priority-flow-control on\n", "   priority-flow-control on\n" + lines))
    assert values["watchdog.on"] is True and values["watchdog.detection"] == "50ms"
    assert values["watchdog.restoration"] == "1500ms" and "watchdog.polling" not in values
    action = EOS.replace("watchdog action drop", "watchdog action errdisable")
    assert "errdisable is neither drop nor forward" in imported(action)[0]
    assert "watchdog" not in imported(action, options=("--audit",))[0]
    # As `all` has what is not set; the profile has it.
    unset = EOS.replace("   speed 100g-4\n", "   speed 100g-4\n   no priority-flow-control\n   no shape rate\n   no "
                        "priority-flow-control priority 3\n   no priority-flow-control pause watchdog port timer\n   "
                        "uc-tx-queue 3\n      no bandwidth percent\n      no random-detect ecn minimum-threshold\n")
    assert imported(unset)[1] == imported(EOS)[1] and "not understood" not in imported(unset)[0]
    text, values = imported(EOS + "priority-flow-control all off\n")
    assert values["pfc.on"] is False and "priority-flow-control all off" in text


def test_ports_that_trust_no_dscp_are_not_judged(imported):
    for line, why in (("", "a port that is not routed trusts CoS: qos trust dscp is missing"),
                      ("   qos trust cos\n", "the port trusts cos, and no DSCP (line 19 qos trust cos)"),
                      ("   no qos trust\n", "the port trusts nothing, and no DSCP (line 19 no qos trust)")):
        other = EOS.replace("   qos trust dscp\n", line)
        said = imported(other, options=("--audit",))[0]
        assert f"its marks and pauses (DSCP 26 is not looked at: {why}); headroom (" in said
        assert f"[classes] data: DSCP 26 is not looked at: {why}\n" in imported(other)[0]
    routed = EOS.replace("   qos trust dscp\n", "").replace("   speed 100g-4\n", "   no switchport\n   speed 100g-4\n")
    assert imported(routed)[1]["classes.data"] == 3
    said = imported(nvue(mapping={"ROCE": {"trust": "l2"}}))[0]
    assert "DSCP 26 is not looked at: the port trusts l2 (qos mapping ROCE trust)" in said


def test_eos_as_it_is_published(imported):
    """A service profile of AMD's guide for clusters, whose maps are those from classes to DSCPs, and lines of
    aristanetworks/avd."""
    text, values = imported("""qos map traffic-class 3 to dscp 26
qos profile QOS_ROCE_DCQCN
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   uc-tx-queue 3
      random-detect ecn minimum-threshold 2000 segments maximum-threshold 10000 segments max-mark-probability 20
   tx-queue 4
      bandwidth guaranteed percent 10
interface Ethernet2/5/1
   speed 200g-4
   service-profile QOS_ROCE_DCQCN
   uc-tx-queue 3
      random-detect ecn count
interface Ethernet2/5/5
   speed 200g-4
   service-profile QOS_ROCE_DCQCN
interface Ethernet2/5/9
   speed 200g-4
   shape rate 10 percent
   no priority-flow-control
""")
    assert "Port: Ethernet2/5/1 and 1 like it, 200 Gb/s; " in text and "takes them): Ethernet2/5/9." in text
    assert (values["pfc.on"], values["ecn.on"], values["classes.data"], values["classes.cnp"]) == (True, True, 3, 6)
    assert "# not modelled: line 1: qos map traffic-class 3 to dscp 26: DSCPs that the switch writes\n" in text
    assert "# not modelled: line 9: bandwidth guaranteed percent 10: bandwidth that a queue has for" in text
    assert "shape rate 10 percent: shaping" in text and text.count("not understood") == 1


def test_nvue_adds_to_defaults_and_has_no_ports_that_are_broken_out(imported):
    made = [{"set": {"interface": {"swp1": {"link": {"breakout": {"4x": {}}}}, "swp1s0-3": {"type": "swp"}}, "qos": {
        "roce": {"mode": "lossless", "state": "enabled"}, "congestion-control": {"default-global": {"traffic-class": {
            "3": {"max-threshold": 900000}, "12": {"ecn": "enable"}}}},
        "egress-scheduler": {"default-global": {"traffic-class": {"9": {"mode": "strict"}}}}}}}]
    text, values = imported(made)
    assert "Port: swp1s0 and 3 like it" in text and "Other ports" not in text
    assert values["ecn.none-below"] == "150000B" and values["ecn.all-above"] == "900000B"


def test_nvue_has_the_length_of_cables_with_roce(imported):
    def roce(**more):
        return [{"set": {"interface": {"swp1": {}}, "qos": {"roce": {"mode": "lossless", **more}}}}]

    text, values = imported(roce(**{"cable-length": 30}))
    assert values["topology.host-delay"] == "150ns" and "# qos roce cable-length; 30 m" in text
    text, values = imported(roce())
    assert values["topology.host-delay"] == "500ns" and "cable-length: not set: RoCE's default; 100 m" in text
    assert "topology.host-delay" not in imported(roce(state="disabled"))[1]


def test_nvue_says_which_version_and_chip_it_has(imported):
    def headed(version, model):
        return [{"header": {"version": f"Cumulus Linux {version}", "model": model}}, *NVUE[1:]]

    text = imported(headed("5.13.0", "SN5600"))[0]
    assert "# remark: the switch has Cumulus Linux 5.13; names and defaults here are those of 5.6 to 5.10" in text
    assert 'title = "SN5600 (Spectrum-4), swp1"' in text
    text = imported(headed("5.9.1", "SN9999"))[0]
    assert "remark" not in text and 'title = "SN9999, swp1"' in text
    said = imported(headed("5.13.0", "SN5600"), options=("--audit",))[0]
    assert "NOTE     the switch has Cumulus Linux 5.13" in said
    commands = imported("nv set interface swp1 link state up\nnv set qos roce mode lossless\n", expect=2)[0]
    assert "commands of nv set; on the switch, nv config show -o json prints what is read" in commands


POLICY = """class-map type qos match-any DATA
   match ip dscp 26 af11
class-map type qos match-any CNP
   match ip dscp 46-48
policy-map type quality-of-service FABRIC
   class DATA
      set traffic-class 4
   class CNP
      set traffic-class 5
   class class-default
      set traffic-class 1
interface Ethernet1
   service-policy type qos input FABRIC
   priority-flow-control on
   priority-flow-control priority 4 no-drop
   uc-tx-queue 4
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 3000 kbytes max-mark-probability 7
"""


def test_eos_policies_at_ingress_decide_the_class(imported):
    text, values = imported(POLICY)
    assert (values["classes.data"], values["classes.cnp"], values["pfc.on"]) == (4, 5, True)
    assert "not modelled" not in text and "data = 4  # line 7 set traffic-class 4; " in text
    # Of a qos profile, too, and before what the port trusts.
    of_profile = POLICY.replace("interface Ethernet1\n", "qos profile P\n   qos trust dscp\n")
    assert imported(of_profile + "interface Ethernet1\n   service-profile P\n")[1]["classes.data"] == 4
    # What has no class keeps that of before, which a port that trusts no DSCP does not have.
    text, values = imported(POLICY.replace("   class class-default\n      set traffic-class 1\n", "")
                            .replace("dscp 26 af11", "dscp 24"))
    assert "classes.data" not in values and "policy-map FABRIC leaves it open" in text


@pytest.mark.parametrize("before, after, why", [
    ("match ip dscp 26 af11", "match ip access-group X", "class-map DATA has 'match ip access-group X', and weir"),
    ("class-map type qos match-any DATA", "class-map type qos match-any X", "class-map DATA is not there"),
    ("input FABRIC", "input Y", "policy-map Y is not there")])
def test_eos_policies_that_are_not_followed_are_said(imported, before, after, why):
    text, values = imported(POLICY.replace(before, after))
    assert "classes.data" not in values and "# not modelled: line 13 service-policy type qos input" in text
    assert "[classes] data: DSCP 26 is not looked at: the port has a policy that weir does not follow: " in text
    assert why in text
    said = imported(POLICY.replace(before, after), options=("--audit",))[0]
    assert said.startswith("No serious finding in what could be judged") and why in said


def test_eos_what_is_not_read_is_said(imported):
    unindented = "\n".join(line.strip() for line in POLICY.splitlines()) + "\n"
    said = imported(unindented, options=("--audit",))[0]
    assert said.startswith("Nothing could be judged: 2 warnings") and "no line is indented" in said
    queues = POLICY + "   service-policy type tx-queue output OUT\n"
    assert "tx-queue output OUT: queues, their shares and marks by a policy-map" in imported(queues)[0]
    text, values = imported(POLICY.replace("150 kbytes", "2000 segments"))
    assert "[ecn] none-below, all-above: line 17: thresholds in segments are not read, only those in bytes" in text
    said = imported(POLICY.replace("150 kbytes", "2000 segments"), options=("--audit",))[0]
    assert "marks of data (line 17: thresholds in segments are not read" in said


def test_what_is_not_one_switch_is_refused(imported):
    assert "several switches are among the files" in imported(EOS, NVUE, expect=2)[0]
    assert "several switches are among the files" in imported(EOS, SONIC, expect=2)[0]
    nxos = "feature lldp\nsnmp-server community hidden\ninterface Ethernet1/1\n  priority-flow-control mode on\n"
    assert "not known" in imported(nxos, expect=2)[0]
    assert "not known" in imported(nxos.replace("feature lldp", "vrf context management"), expect=2)[0]
    assert "no configuration of a switch" in imported(LOOKUP, expect=2)[0]


@pytest.mark.skipif(not WEIR, reason="WEIR names no program")
@pytest.mark.parametrize("document", [EOS, NVUE])
def test_weir_takes_the_files(imported, tmp_path, document):
    path = written(tmp_path / "switch.toml", imported(document)[0])
    words = "simulate --network packet --dry-run --producers 2 --consumers 2 --rate 1Gb/s --switch".split()
    said = subprocess.run([WEIR, *words, path], capture_output=True, text=True, check=False)
    assert said.returncode == 0 and "ECN marks from 150 kB" in said.stdout, said.stderr


def test_the_audit_of_other_families(imported):
    said = imported(EOS, options=("--audit",))[0]
    assert said.startswith("No serious finding in what could be judged, 1 warning and 0 notes")
    assert "not judged: whether ECN acts before PFC (marks begin at 150 kB, and the memory" in said
    assert "headroom (no group has any in these files)" in said
    assert "No serious finding in what could be judged, 1 warning" in imported(NVUE, options=("--audit",))[0]
    said = imported(EOS.replace("qos map dscp 48 to traffic-class 6", "qos map dscp 48 to traffic-class 3"),
                    options=("--audit",))[0]
    assert "a CNP with DSCP 48 shares queue 3 with data" in said
    assert "queue 3 of data marks nothing" in imported(nvue(**{"congestion-control": {}}), options=("--audit",))[0]
