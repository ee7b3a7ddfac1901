"""slurm/switch-readers: forms of output that look like less or more than they are, and outputs that are cut."""

import json

import pytest

from reading_switches import read, refusal

# sonic-net/sonic-utilities: tests/queue_counter_test.py
QUEUES = """     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet0    UC3               5              500{cut}
Ethernet0    UC4               7              700            3           300
"""
WHOLE = "            1           100"
ONE_LINE = '{"Ethernet0": {"UC3": {"droppacket": "5", "totalpacket": "9"}}}'


def test_a_mark_of_the_byte_order_is_no_letter():
    for text in (QUEUES.format(cut=WHOLE), ONE_LINE):
        assert read("sonic", "\ufeff" + text) == read("sonic", text)
    assert read("tc", '\ufeff[{"kind": "red", "dev": "a", "marked": 3}]') == {("a", None, "marked_packets"): 3}


@pytest.mark.parametrize("cut", ["", "            1", "  1  2  3"])
def test_a_row_with_other_cells_than_its_table_is_refused(cut):
    assert "cells and its table 6: 'Ethernet0 UC3 5 500" in refusal("sonic", QUEUES.format(cut=cut))


def test_a_row_that_is_a_port_alone_is_refused_and_a_prompt_is_not():
    table = QUEUES.format(cut=WHOLE)
    assert "a row has 1 cells" in refusal("sonic", table + "Ethernet4")
    assert read("sonic", table + "admin@leaf1:~$ exit\n") == read("sonic", table)


@pytest.mark.parametrize("reader", ["sonic", "junos", "nvue", "eos", "nxos", "gnmi"])
def test_json_on_one_line_that_is_cut_is_refused(reader):
    for text in (ONE_LINE[:-1], ONE_LINE[:20], '{"a": 1', "[{", ' \n[{"Port": "Ethernet0", "UC0": "3"}'):
        assert "begins JSON that is cut or damaged" in refusal(reader, text + "\n")


def test_a_document_may_follow_another_on_its_line():
    found = read("sonic", ONE_LINE + " " + ONE_LINE.replace("Ethernet0", "Ethernet4") + "\n")
    assert {port for port, _, _ in found} == {"Ethernet0", "Ethernet4"}


def test_nvue_prints_rows_as_a_list_or_several_ports_in_one_document():
    """As aliaydemir/lldpq reads them (process_pfc_ecn_data.py): a list whose objects name their class, and ports below
    `interface`."""
    rows = {"3": {"tx-frames": "2,000", "tx-uc-buffer-discards": 4}}
    listed = [{"traffic-class": 3, **rows["3"]}]
    expected = {("swp1", 3, "sent_packets"): 2000, ("swp1", 3, "dropped_packets"): 4}
    assert read("nvue", "port swp1\n" + json.dumps({"egress-queue-stats": rows})) == expected
    assert read("nvue", "port swp1\n" + json.dumps({"egress-queue-stats": listed})) == expected
    ports = {f"swp{number}": {"qos": {"egress-queue-stats": listed}} for number in (1, 2)}
    assert len(read("nvue", json.dumps({"operational": {"interface": ports}}))) == 4
    assert "rows were expected" in refusal("nvue", json.dumps({"egress-queue-stats": [3]}).replace("[3]", '{"3": 5}'))


def test_junos_prints_compact_json_and_that_of_several_routing_engines():
    """Elements as in CiscoTestAutomation/genieparser, src/genie/libs/parser/junos/show_interface.py; Junos has the list
    of engines around every answer of a virtual chassis or cluster."""
    queue = {"queue-number": "3", "queue-counters-trans-packets": "2000", "queue-counters-total-drop-packets": "7",
             "queue-counters-tail-drop-packets": "0", "queue-counters-red-packets": "7"}
    ports = {"physical-interface": {"name": "et-0/0/1", "queue-counters": {"queue": queue}}}
    expected = {("et-0/0/1", 3, "sent_packets"): 2000, ("et-0/0/1", 3, "dropped_packets"): 7,
                ("et-0/0/1", 3, "early_dropped_packets"): 7}
    assert read("junos", json.dumps({"interface-information": ports})) == expected

    def verbose(node):
        if isinstance(node, dict):
            return [{key: verbose(part) for key, part in node.items()}]
        return [{"data": node}]

    other = json.loads(json.dumps(ports).replace("et-0/0/1", "et-1/0/1"))
    engines = [{"multi-routing-engine-item": [{"re-name": [{"data": name}], "interface-information": verbose(of)}
                                              for name, of in (("fpc0", ports), ("fpc1", other))]}]
    found = read("junos", json.dumps({"multi-routing-engine-results": engines}))
    assert {key: found[key] for key in expected} == expected and len(found) == 6
    ports["physical-interface"]["ingress-queue-counters"] = {"queue": queue}
    assert read("junos", json.dumps({"interface-information": ports})) == expected | {
        ("et-0/0/1", 3, "ingress_dropped_packets"): 7}


def test_tc_reads_the_marks_of_cake_and_dualpi2():
    """iproute2: tc/q_cake.c prints its tins, tc/q_dualpi2.c `ecn-mark` (of which `step-mark` are a part)."""
    cake = {"kind": "cake", "dev": "a", "root": True, "packets": 90, "drops": 2,
            "tins": [{"ecn_mark": 3, "drops": 1, "sent_packets": 40}, {"ecn_mark": 4, "drops": 1}]}
    dualpi2 = {"kind": "dualpi2", "dev": "b", "root": True, "packets": 9, "ecn-mark": 5, "step-mark": 2}
    found = read("tc", json.dumps([cake, dualpi2]))
    assert found["a", None, "marked_packets"] == 7 and found["b", None, "marked_packets"] == 5
    assert found["a", None, "dropped_packets"] == 2
    cake["tins"][1]["ecn_mark"] = "?"
    assert read("tc", json.dumps([cake]))["a", None, "marked_packets"] is None
    refusal("tc", json.dumps([{**cake, "tins": 3}]))
