"""slurm/switch-readers: what switches print, as lines that weir-sweep reads. Where the formats are from: their
README."""

import argparse
import importlib.machinery
import importlib.util
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import RUNS, script
from reading_switches import READERS, call, read
from weir_compare.sweep import switch_reader
from weir_runs.basics.child import Stop
from weir_runs.reading import switch_counters, switch_reading
from weir_runs.reading.run import read_run

OUTPUT = Path(__file__).parent / "switch_output"


def values(reader, file, *more):
    """{(port, priority, name): value} of one output; what the reader prints is what weir-sweep accepts."""
    return {counter.key: counter.value
            for counter in switch_reading.parse(call(reader, "--from", OUTPUT / file, *more))}


def test_sonic():
    found = values("sonic", "sonic-after.txt")
    expected = {"pauses_received": 300, "pauses_sent": 3000, "paused_s": 4.5, "ingress_dropped_packets": 0,
                "sent_packets": 12000, "sent_bytes": 12000000, "dropped_packets": 9, "dropped_bytes": 13500,
                "early_dropped_packets": None, "marked_packets": 1500, "queue_peak_bytes": 120000,
                "ingress_peak_bytes": 27000, "headroom_peak_bytes": 2400}
    assert ({name: value for (port, priority, name), value in found.items() if (port, priority) == ("Ethernet0", 3)}
            == expected)
    assert found["Ethernet4", 3, "pauses_sent"] == 6000 and found["Ethernet4", 0, "ingress_dropped_packets"] == 21
    assert found["Ethernet4", 3, "ingress_peak_bytes"] is None  # N/A
    assert {priority for _, priority, _ in found} == set(range(8))


def test_sonic_prints_queues_as_tables_or_as_json():
    assert values("sonic", "sonic-tables.txt") == values("sonic", "sonic-before.txt")


def test_junos():
    found = values("junos", "junos-before.txt")
    assert {name: value for (port, priority, name), value in found.items() if (port, priority) == ("et-0/0/1", 3)} == {
        "pauses_received": 120, "pauses_sent": 90, "sent_packets": 4000, "sent_bytes": 6000000, "dropped_packets": 10,
        "early_dropped_packets": 4, "marked_packets": 960, "queue_now_bytes": 0, "queue_peak_bytes": 120000}
    assert found["et-0/0/0", None, "pauses_sent"] == 0
    assert found["et-0/0/0", 0, "dropped_packets"] == 0  # of `extensive`, for tail drops are Not Available
    found = values("junos", "junos.json")
    assert found["et-0/0/0", 3, "sent_packets"] == 14
    assert found["et-0/0/0", 3, "dropped_packets"] == 1 and len(found) == 8


PFC = """
     Port    Priority    RX Pause Transitions    Total RX Pause Time {unit}    Recent RX Pause Time {unit}    Recent RX Pause Timestamp
---------  ----------  ----------------------  ------------------------  -------------------------  ---------------------------
Ethernet0        PFC3                      12                 {total}                  1,200,000         01/10/2008, 21:20:00
Ethernet0        PFC4                     N/A                       N/A                        N/A                          N/A
"""  # noqa: E501 (as a switch prints it)
WATCHDOG = """
      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP
-----------  -----------  -------------------------  ------------  ------------  -----------------  -----------------
Ethernet0:3      stormed                        1/0       100/300       100/301              0/200              0/200
Ethernet4:3  operational                        2/2       100/100       100/100                0/0                0/0
"""
VOQ = """For namespace asic0:
                     Port    Voq    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes    Credit-WD-Del/pkts
-------------------------  -----  --------------  ---------------  -----------  ------------  --------------------
sonic-lc1|asic0|Ethernet0   VOQ3               8              976           10          1220                     7

     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet0    UC3               5              500            1           100
"""
VOQ_JSON = """{
  "sonic-lc1|asic0|Ethernet0": {
    "VOQ3": {"creditWDPkts": "7", "dropbytes": "1220", "droppacket": "10", "totalbytes": "976", "totalpacket": "8"},
    "time": "2025-04-07T15:57:11.881430"
  }
}
"""
PEAKS_JSON = """admin@leaf1:~$ show {command} --json
[
    {{"Port": "Ethernet0", "{queue}3": "2057328", "{queue}4": "N/A"}},
    {{"Port": "Ethernet4", "{queue}3": "5", "MC10": "9"}}
]
"""


@pytest.mark.parametrize("unit, total", [("MS", "1,500"), ("US", "1,500,000")])
def test_pause_times_are_in_the_unit_of_the_release(unit, total):
    assert read("sonic", PFC.format(unit=unit, total=total)) == {("Ethernet0", 3, "paused_s"): 1.5,
                                                                 ("Ethernet0", 4, "paused_s"): None}


def test_the_watchdog_of_sonic():
    found = read("sonic", "[ WARNING ] fallback config in use\n" + WATCHDOG)
    assert found["Ethernet0", 3, "watchdog_storms"] == 1 and found["Ethernet4", 3, "watchdog_storms"] == 2
    assert found["Ethernet0", 3, "watchdog_dropped_packets"] == 300
    assert found["Ethernet0", 3, "watchdog_ingress_dropped_packets"] == 301
    assert len(found) == 6


def test_virtual_output_queues_are_not_mixed_with_queues():
    found = read("sonic", VOQ)
    port = "sonic-lc1|asic0|Ethernet0"
    assert {key: value for key, value in found.items() if key[0] == port} == read("sonic", VOQ_JSON) == {
        (port, 3, "voq_sent_packets"): 8, (port, 3, "voq_sent_bytes"): 976, (port, 3, "voq_dropped_packets"): 10,
        (port, 3, "voq_dropped_bytes"): 1220, (port, 3, "credit_watchdog_dropped_packets"): 7}
    assert found["Ethernet0", 3, "sent_packets"] == 5 and found["Ethernet0", 3, "dropped_packets"] == 1


@pytest.mark.parametrize("command, queue, name", [("queue watermark unicast", "UC", "queue_peak_bytes"),
                                                  ("priority-group watermark shared", "PG", "ingress_peak_bytes"),
                                                  ("priority-group watermark headroom", "PG", "headroom_peak_bytes")])
def test_watermarks_as_json(command, queue, name):
    assert read("sonic", PEAKS_JSON.format(command=command, queue=queue)) == {
        ("Ethernet0", 3, name): 2057328, ("Ethernet0", 4, name): None, ("Ethernet4", 3, name): 5}


QFX = """{master:0}
Physical interface: et-0/0/1, up, Physical link is Up
Egress queues: 12 supported, 2 in use
Queue: 3, Forwarding classes: roce
  Queued:
    Packets              :                  3000                     0 pps
  Transmitted:
    Packets              :                  2000                     0 pps
    Bytes                :                200000                     0 bps
    Tail-dropped packets : Not Available
    RL-dropped packets   :                     0                     0 pps
    Total-dropped packets:                  1000                     0 pps
    Total-dropped bytes  :                100000                     0 bps
Queue: 10, Forwarding classes: mcast
  Transmitted:
    Packets              :                     7                     0 pps
{master:0}
"""


def test_junos_prints_lines_that_look_like_json():
    found = read("junos", QFX)
    assert found == {("et-0/0/1", 3, "sent_packets"): 2000, ("et-0/0/1", 3, "sent_bytes"): 200000,
                     ("et-0/0/1", 3, "dropped_packets"): 1000, ("et-0/0/1", 3, "dropped_bytes"): 100000}


DROPS = "Physical interface: et-0/0/1, up\n  Egress queues: 8 supported\nQueue: 3, Forwarding classes: roce\n"
TRANSMITTED = """  Transmitted:
    Packets              :                  2000                     0 pps
    Tail-dropped packets : {tail}
    RL-dropped packets   :                     0                     0 pps
    RED-dropped packets  :                     1                     0 pps
"""
TOTALS = """    Total-dropped packets:                  1000                     0 pps
    Total-dropped bytes  :               1500000                     0 bps
"""
EXTENSIVE = """Physical interface: et-0/0/1, up
  Egress queues: 8 supported, 2 in use
  Queue counters:       Queued packets  Transmitted packets      Dropped packets
    3                           3000                 2000                   93
"""


@pytest.mark.parametrize("text, packets, of_bytes", [
    (DROPS + TRANSMITTED.format(tail="0") + TOTALS, 1000, 1500000),
    (DROPS + TRANSMITTED.format(tail="7"), 7, None),
    (EXTENSIVE + DROPS + TRANSMITTED.format(tail="7"), 93, None),
    (EXTENSIVE + DROPS + TRANSMITTED.format(tail="7") + TOTALS, 1000, 1500000),
    (EXTENSIVE.replace("Egress", "Ingress") + DROPS + TRANSMITTED.format(tail="Not Available"), None, None)])
def test_junos_takes_the_total_of_drops_where_it_is(text, packets, of_bytes):
    found = read("junos", text)
    assert (found["et-0/0/1", 3, "dropped_packets"], found.get(("et-0/0/1", 3, "dropped_bytes"))) == (packets, of_bytes)
    assert found.get(("et-0/0/1", 3, "ingress_dropped_packets")) == (93 if "Ingress" in text else None)


def test_junos_keeps_the_directions_apart():
    found = read("junos", QFX.replace("Egress queues", "Ingress queues")
                 + QFX.partition("\n")[2].partition("\n")[2].replace("1000 ", "5 "))
    assert found["et-0/0/1", 3, "sent_packets"] == 2000
    assert found["et-0/0/1", 3, "ingress_dropped_packets"] == 1000 and found["et-0/0/1", 3, "dropped_packets"] == 5


def module(name):
    sys.path.insert(0, str(READERS))
    loader = importlib.machinery.SourceFileLoader(f"switch_reader_{name}", str(READERS / name))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(made)
    return made


@pytest.mark.parametrize("name", ["sonic", "junos", "nvue", "eos", "nxos", "gnmi", "tc"])
def test_whatever_is_read_there_is_no_traceback(name):
    """Outputs of all vendors: cut, mixed, with lines and letters in other places. What is read is what weir-sweep
    accepts."""
    random.seed(20261125)
    reader = module(name)
    options = argparse.Namespace(devices="", ports="swp1", clear_peaks=False, queues="")
    files = [file for file in sorted(OUTPUT.iterdir()) if file.suffix in (".txt", ".json")]
    texts = [file.read_text() for file in files for _ in range(8 if file.name.startswith(name) else 1)]
    texts += [PFC.format(unit="US", total="1"), WATCHDOG, VOQ, VOQ_JSON, PEAKS_JSON.format(command="x", queue="UC"),
              QFX]
    texts += ["", "\0", "[" * 100_000, '{"interface-information": [{"physical-interface": 5}]}',
              '[{"kind": "red", "dev": 3}]', "{\n", '[\n[[]]\n]', '{"a": {"UC0": {"totalpacket": ' + "9" * 5000 + "}}}"]
    read_ones = 0
    for _ in range(300):
        text = random.choice(texts)
        kind = random.randrange(5)
        if kind == 0:
            text = text[:random.randrange(len(text) + 1)]
        elif kind == 1:
            lines = text.splitlines(keepends=True)
            random.shuffle(lines)
            text = "".join(lines)
        elif kind == 2:
            text = text[:random.randrange(len(text) + 1)] + random.choice(texts)
        elif kind == 3:
            for _ in range(20):
                at = random.randrange(len(text) + 1)
                text = text[:at] + random.choice(["", " ", "{", "]", ":", "-1", "N/A", "\u202e", "1e99", ",", '"',
                                                  "\n"]) + text[at + 1:]
        try:
            rows = reader.reader.converted(reader.convert, text, options)
        except reader.reader.UnknownForm as error:
            assert "\n" not in str(error)
            continue
        if rows:
            switch_reading.parse("\n".join(reader.reader.line(*row) for row in rows))
            read_ones += 1
    assert read_ones > 10


def test_nvue():
    found = values("nvue", "nvue.txt")
    for name, value in (("pauses_received", 240), ("pauses_sent", 90), ("sent_packets", 2000), ("sent_bytes", 3000000),
                        ("marked_packets", 1920), ("early_dropped_packets", 0), ("received_packets", 1800)):
        assert found["swp2", 3, name] == value, name
    assert found["swp1", 0, "dropped_packets"] == 3000
    found = values("nvue", "nvue-tables.txt")
    assert found["swp1", 3, "pauses_received"] == 120
    assert found["swp1", 3, "pauses_sent"] == 45 and found["swp1", 3, "sent_bytes"] == 1500
    assert found["swp1", None, "marked_packets"] == 960
    # 1.43 MB is rounded: no difference of such values is one
    assert found["swp1", 3, "ingress_shared_dropped_packets"] is None


def test_tc():
    assert values("tc", "tc.json", "--devices", "fn01") == {
        ("fn01", None, "sent_packets"): 6000, ("fn01", None, "sent_bytes"): 9000000,
        ("fn01", None, "dropped_packets"): 25, ("fn01", None, "queue_now_bytes"): 30280,
        ("fn01", None, "marked_packets"): 960, ("fn01", None, "early_dropped_packets"): 15}
    found = values("tc", "tc.json")
    assert found["fn02", None, "marked_packets"] == 12 and found["fn02", None, "sent_packets"] == 50
    assert {port for port, _, _ in found} == {"fn01", "fn02"}
    assert "there is no queue on fn03" in call("tc", "--from", OUTPUT / "tc.json", "--devices", "fn03", expect=1)


@pytest.mark.parametrize("reader", ["sonic", "junos", "nvue", "tc"])
def test_no_counter_is_an_error(reader):
    message = call(reader, "--from", "-", text="[]" if reader == "tc" else "Permission denied\n", expect=1)
    assert message.startswith(f"{reader}: no counter in ")
    # The switch's command fails: ssh that reaches nothing.
    assert "exited with" in call(reader, *(["--ports", "swp1"] if reader == "nvue" else []), "false", expect=1)


def test_the_commands_are_those_of_the_switch(tmp_path):
    log = tmp_path / "log"
    script(tmp_path / "ssh", f'printf "%s\\n" "$@" >>{log}')
    for reader, words in (("sonic", ["--clear-peaks"]), ("junos", []), ("nvue", ["--ports", "swp1,swp2"]), ("tc", [])):
        call(reader, *words, tmp_path / "ssh", "admin@leaf1", expect=1)
        assert log.read_text().startswith("admin@leaf1\n")
        called = log.read_text()
        log.unlink()
        expected = {"sonic": ("sonic-clear queue watermark unicast", "show pfc counters", "show queue counters --json"),
                    "junos": ("show interfaces extensive | no-more", "show interfaces queue | no-more"),
                    "nvue": ("echo port swp1; nv show interface swp1 counters qos -o json; echo port swp2",),
                    "tc": ("tc\n-s\n-j\nqdisc\nshow",)}[reader]
        assert all(words in called for words in expected), called


def test_differences_between_two_outputs(tmp_path):
    """From the switch's words to the sums on a page, as a campaign does it."""
    command = f"{sys.executable} -B {READERS}/sonic --from {OUTPUT}/sonic-$WEIR_SWITCH_READ.txt"
    reader = switch_reader.SwitchReader({"command": command, "limit_s": 20, "every_s": None}, tmp_path / "readings",
                                        tmp_path, {}, Stop(), print)
    reader.before()
    reader.after()
    run = Path(shutil.copytree(RUNS / "measured", tmp_path / "run"))
    reader.move_to(run)
    sums = switch_counters.sums(read_run(run))
    assert sums["pauses_sent"] == 2 * 1000 + 2 * 2000 and sums["marked_packets"] == 2 * 1000 and sums["paused_s"] == 3.0
    assert sums["queue_peak_bytes"] == 120000 and sums["early_dropped_packets"] is None


def test_tc_reads_real_queues(tmp_path):
    """In a network namespace of its own: packets over a veth pair with a token bucket that drops most of them."""
    script = f"""
set -e
ip link add a0 type veth peer name b0
ip addr add 198.18.0.1/24 dev a0
ip link set a0 up
ip link set b0 up
tc qdisc add dev a0 root handle 1: tbf rate 8kbit burst 1600 limit 3000
ip neigh add 198.18.0.2 lladdr 02:00:00:00:00:02 dev a0
{sys.executable} -B {READERS}/tc --devices a0 >before
{sys.executable} - <<END
import socket
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(50):
    try:
        one.sendto(bytes(1000), ("198.18.0.2", 9))
    except OSError:  # the queue is full
        pass
END
{sys.executable} -B {READERS}/tc >after
"""
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--net", "sh", "-c", script], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60, check=False)
    if done.returncode and ("unshare" in done.stderr or "not found" in done.stderr or "kind is unknown" in done.stderr):
        pytest.skip(f"no namespaces, tc or token bucket here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    before, after = ({counter.key: counter.value for counter in switch_reading.parse((tmp_path / name).read_text())}
                     for name in ("before", "after"))
    # One packet of 1042 bytes has tokens, two wait, the others have no room.
    dropped = after["a0", None, "dropped_packets"] - before["a0", None, "dropped_packets"]
    assert 40 <= dropped <= 49, (before, after)
    assert 1042 <= after["a0", None, "queue_now_bytes"] <= 3000
    assert after["a0", None, "sent_packets"] - before["a0", None, "sent_packets"] >= 1
