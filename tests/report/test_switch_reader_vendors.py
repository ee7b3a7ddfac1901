"""slurm/switch-readers for EOS, NX-OS and gNMI. Their samples in switch_output are made after the forms that
slurm/switch-readers/README.md names."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import script
from reading_switches import READERS, call, read, refusal

OUTPUT = Path(__file__).parent / "switch_output"


def sample(reader, *more):
    return read(reader, (OUTPUT / f"{reader}.txt").read_text(), *more)


def of(found, port, priority):
    return {name: value for (of_port, of_priority, name), value in found.items()
            if (of_port, of_priority) == (port, priority)}


def test_eos():
    found = sample("eos")
    assert of(found, "Ethernet1/1", 3) == {  # of all drop precedences, without the multicast queue
        "sent_packets": 1002, "sent_bytes": 1503000, "dropped_packets": 8, "dropped_bytes": 12000,
        "marked_packets": 960}
    assert of(found, "Ethernet1/1", None) == {
        "pauses_received": 120, "pauses_sent": 45, "received_bytes": 5000, "received_packets": 42,
        "ingress_dropped_packets": 2, "sent_bytes": 6000, "sent_packets": 52, "dropped_packets": 8}
    assert found["Ethernet1/1", 0, "marked_packets"] is None  # ECN is not configured for this queue
    assert found["Ethernet1/1", 1, "sent_packets"] == 5  # TC1-2
    assert of(found, "Ethernet2/1", 6) == {"voq_sent_packets": 40, "voq_sent_bytes": 4000, "voq_dropped_packets": 8,
                                           "voq_dropped_bytes": 800}
    assert of(found, "Ethernet2/1", 5) == {"voq_dropped_packets": 6, "dropped_packets": 4}
    assert found["Ethernet2/1", 3, "marked_packets"] == 2**64 - 1
    assert {port for port, _, _ in found} == {"Ethernet1/1", "Ethernet2/1"}


def test_nxos():
    found = sample("nxos")
    assert of(found, "Ethernet1/1", 3) == {
        "pauses_received": 110, "pauses_sent": 40, "sent_packets": 1000, "sent_bytes": 1500000, "dropped_packets": 7,
        "dropped_bytes": 10500, "marked_packets": 960, "queue_now_bytes": 4160}
    assert of(found, "Ethernet1/1", 0) == {"sent_packets": 11, "dropped_packets": 0}
    assert of(found, "Ethernet1/1", None) == {"pauses_received": 120, "pauses_sent": 45, "received_bytes": 5000,
                                              "received_packets": 42, "sent_bytes": 6000, "sent_packets": 52}
    assert {port for port, _, _ in found} == {"Ethernet1/1", "Ethernet1/2"}


def test_gnmi_as_gnmic_prints_it():
    found = sample("gnmi")
    assert of(found, "swp1", 3) == {"sent_bytes": 1500000, "marked_packets": 960, "dropped_packets": 7}
    assert of(found, "swp1", None) == {"received_bytes": 5000, "received_packets": 42, "sent_bytes": 6000,
                                       "sent_packets": 50, "dropped_packets": 8}


def tree(queues, **more):
    """All of a model in one document, as a Get of /qos answers."""
    listed = [{"name": name, "state": {"name": name, "dropped-pkts": value}} for name, value in queues.items()]
    return json.dumps([{"updates": [{"Path": "", "values": {"": {"openconfig-qos:qos": {"interfaces": {"interface": [
        {"interface-id": "Ethernet0", "output": {"queues": {"queue": listed}}, **more}]}}}}}]}])


def test_names_of_queues_and_lists_in_gnmi():
    pfc = {"pfc": {"pfc-priorities": {"pfc-priority": [
        {"dot1p": 3, "state": {"openconfig-qos-ext:statistics": {"pause-frames-rx": "1", "pause-frames-tx": "2"}}}]}}}
    found = read("gnmi", tree({"Ethernet0:3": "5", "c-out-8q-q4": 6, "UC5": 7, "12": 8}, **pfc))
    assert found == {("Ethernet0", 3, "dropped_packets"): 5, ("Ethernet0", 4, "dropped_packets"): 6,
                     ("Ethernet0", 5, "dropped_packets"): 7, ("Ethernet0", 3, "pauses_received"): 1,
                     ("Ethernet0", 3, "pauses_sent"): 2}
    named = tree({"NC1": 5, "BE1": 6, "3": 9})
    assert "the queue 'NC1' has no number" in refusal("gnmi", named)
    assert read("gnmi", named, "--queues", "NC1=7,BE1=-") == {("Ethernet0", 7, "dropped_packets"): 5,
                                                              ("Ethernet0", 3, "dropped_packets"): 9}


HOSTILE = {
    "eos": ['{"interfaceCounters": [3]}', '{"interfaceCounters": {"Ethernet1": 3}}', '{"egressQueueCounters": null}',
            '{"intfQueueCounters": {"Ethernet1": {"queueCounters": 5}}}',
            '{"interfaceCounters": {"Ethernet1": {"rxFrames": ' + "9" * 5000 + "}}}",
            '{"interfaceCounters": {"Ethernet1": {"rxFrames": 3}}'],
    "nxos": ['{"TABLE_rx_counters": 5}', '{"TABLE_rx_counters": {"ROW_rx_counters": {"eth_inbytes": "5"}}}',
             '{"TABLE_module": {"ROW_module": "x"}}', '{"TABLE_rx_counters": {"ROW_rx_counters": [3]}}'],
    "gnmi": ['{"Path": "interfaces/interface[name=x]/state/counters", "values": 3}',
             '{"path": "interfaces/interface[name=x]/state/counters", "val": 3}',
             '{"updates": [{"Path": "", "values": {"": 3}}]}',
             '{"path": "interfaces/interface/state", "val": {"counters": 3}}',
             '{"path": "interfaces", "val": 3}{"path": "interfaces/interface[name=x]/state", "val": {}}'],
}


@pytest.mark.parametrize("reader, text", [(reader, text) for reader in HOSTILE for text in (
    *HOSTILE[reader], "", "\0", "{", "[" * 100_000, "% Invalid input (at token 2: 'x') at line 1", "[3]", '{"a": 1}',
    "Permission denied")], ids=lambda value: value[:12])
def test_what_is_no_output_is_refused_in_a_line(reader, text):
    refusal(reader, text)


@pytest.mark.parametrize("cell, value", [('"N/A"', None), ('"1,234"', 1234), ('"18446744073709551615"', 2**64 - 1),
                                         ("18446744073709551616", None), ("-1", None), ("1e400", None), ("true", None),
                                         ("[5]", None), ("null", None)])
def test_values(cell, value):
    for reader, text, port in (
            ("eos", '{"interfaceCounters": {"Ethernet1": {"rxFrames": %s}}}', "Ethernet1"),
            ("nxos", '{"TABLE_rx_counters": {"ROW_rx_counters": {"interface_rx": "Ethernet1/1", "eth_inbytes": %s}}}',
             "Ethernet1/1"),
            ("gnmi", '{"path": "interfaces/interface[name=Ethernet1/1]/state/counters/in-octets", "val": %s}',
             "Ethernet1/1")):
        assert [(key[0], found) for key, found in read(reader, text % cell).items()] == [(port, value)]


def test_a_command_that_a_switch_does_not_have_is_missing(tmp_path):
    """ssh passes the status on; 255 is its own."""
    answer = '{"interfaceCounters": {"Ethernet1": {"rxFrames": 3}}}'
    script(tmp_path / "ssh", f"""case "$2" in *flow*) echo '{answer}';; *) echo '% Invalid input'; exit 1;; esac""")
    assert call("eos", tmp_path / "ssh", "leaf1") == "Ethernet1 - pauses_received 3\n"
    script(tmp_path / "ssh", f"""case "$2" in *flow*) echo '{answer}';; *) exit 255;; esac""")
    assert "exited with 255" in call("eos", tmp_path / "ssh", "leaf1", expect=1)
    script(tmp_path / "ssh", "exit 1")
    assert "show interfaces counters | json | no-more exited with 1" in call("eos", tmp_path / "ssh", "leaf1", expect=1)


def test_gnmic_is_asked_for_one_path_at_a_time(tmp_path):
    log = tmp_path / "log"
    script(tmp_path / "gnmic", f"""echo "$*" >>{log}
case "$*" in *interface*/state/counters) echo '[{{"updates": [{{"Path": "interfaces/interface[name=Ethernet1/1]/state/\
counters", "values": {{"x": {{"out-discards": "4"}}}}}}]}}]';; *) exit 1;; esac""")
    assert call("gnmi", tmp_path / "gnmic", "-a", "leaf1:6030") == "Ethernet1/1 - dropped_packets 4\n"
    assert "-a leaf1:6030 get --format json --path /interfaces/interface[name=*]/state/counters\n" in log.read_text()
    call("gnmi", "--subscribe", tmp_path / "gnmic", "-a", "leaf1:6030")
    assert "-a leaf1:6030 subscribe --mode once --format json --path /qos/interfaces/interface[" in log.read_text()
    assert "--target: missing" in call("gnmi", expect=1)


@pytest.fixture(name="target")
def a_target(request):
    """A gNMI server on loopback with these leaves."""
    if not importlib.util.find_spec("pygnmi"):
        pytest.skip("no pygnmi here (pip install pygnmi)")
    port = "interfaces/interface[name={}]/state/{}".format
    queue = "qos/interfaces/interface[interface-id=Ethernet1/1]/output/queues/queue[name={}]/state/{}".format
    leaves = {port("Ethernet1/1", "counters/in-octets"): 2**64 - 1, port("Ethernet1/1", "counters/out-discards"): 4,
              port("Ethernet1/1", "type"): "iana-if-type:ethernetCsmacd", port("uplink", "counters/out-discards"): 4,
              port("uplink", "type"): "iana-if-type:ieee8023adLag", port("Management1", "counters/out-discards"): 9,
              queue("Ethernet1/1:3", "dropped-pkts"): 5, queue("12", "dropped-pkts"): 9}
    server = subprocess.Popen([sys.executable, str(Path(__file__).with_name("gnmi_server.py"))], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.stdin.write(json.dumps(leaves) + "\n")
    server.stdin.flush()
    yield f"127.0.0.1:{int(server.stdout.readline())}"
    server.stdin.close()
    assert server.wait(20) == 0


@pytest.mark.parametrize("how", [(), ("--subscribe",)])
def test_a_gnmi_server_is_read(target, how):
    done = subprocess.run([sys.executable, "-B", str(READERS / "gnmi"), *how, "--target", target, "--insecure"],
                          capture_output=True, text=True, timeout=60, check=True)
    assert sorted(done.stdout.splitlines()) == [
        "Ethernet1/1 - dropped_packets 4", "Ethernet1/1 - received_bytes 18446744073709551615",
        "Ethernet1/1 3 dropped_packets 5"]
    assert "Traceback" not in done.stderr
    assert ("/interfaces/interface[name=*]/ethernet/state/counters: nothing at interfaces/interface[name=*]/ethernet/"
            "state/counters; its counters are missing\n") in done.stderr


def test_a_gnmi_server_that_is_not_there_is_named():
    if not importlib.util.find_spec("pygnmi"):
        assert "--target needs pygnmi (pip install pygnmi)" in call("gnmi", "--target", "127.0.0.1:1", expect=1)
    else:
        message = call("gnmi", "--target", "127.0.0.1:1", "--insecure", expect=1)
        assert message == "gnmi: --target 127.0.0.1:1: FutureTimeoutError\n"
