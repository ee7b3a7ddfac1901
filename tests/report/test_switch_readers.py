"""slurm/switch-readers: what switches print, as lines that weir-sweep reads. Where the formats are from: their README."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, RUNS
from weir_report import switch_counters, switch_reader, switch_reading
from weir_report.run import read_run

READERS = ROOT / "slurm/switch-readers"
OUTPUT = Path(__file__).parent / "switch_output"


def call(*words, expect=0, text=None):
    done = subprocess.run([sys.executable, "-B", str(READERS / words[0]), *map(str, words[1:])], capture_output=True, text=True,
                          timeout=30, check=False, input=text)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout if expect == 0 else done.stderr


def values(reader, file, *more):
    """{(port, priority, name): value} of one output; what the reader prints is what weir-sweep accepts."""
    return {counter.key: counter.value for counter in switch_reading.parse(call(reader, "--from", OUTPUT / file, *more))}


def test_sonic():
    found = values("sonic", "sonic-after.txt")
    expected = {"pauses_received": 300, "pauses_sent": 3000, "paused_s": 4.5, "ingress_dropped_packets": 0, "sent_packets": 12000,
                "sent_bytes": 12000000, "dropped_packets": 9, "dropped_bytes": 13500, "early_dropped_packets": None,
                "marked_packets": 1500, "queue_peak_bytes": 120000, "ingress_peak_bytes": 27000, "headroom_peak_bytes": 2400}
    assert {name: value for (port, priority, name), value in found.items() if (port, priority) == ("Ethernet0", 3)} == expected
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
    assert found["et-0/0/0", 0, "dropped_packets"] is None  # Not Available
    found = values("junos", "junos.json")
    assert found["et-0/0/0", 3, "sent_packets"] == 14 and found["et-0/0/0", 3, "dropped_packets"] == 1 and len(found) == 8


def test_nvue():
    found = values("nvue", "nvue.txt")
    for name, value in (("pauses_received", 240), ("pauses_sent", 90), ("sent_packets", 2000), ("sent_bytes", 3000000),
                        ("marked_packets", 1920), ("early_dropped_packets", 0), ("received_packets", 1800)):
        assert found["swp2", 3, name] == value, name
    assert found["swp1", 0, "dropped_bytes"] == 3000
    found = values("nvue", "nvue-tables.txt")
    assert found["swp1", 3, "pauses_received"] == 120 and found["swp1", 3, "pauses_sent"] == 45 and found["swp1", 3, "sent_bytes"] == 1500
    assert found["swp1", None, "marked_packets"] == 960
    assert found["swp1", 3, "ingress_shared_dropped_bytes"] is None  # 1.43 MB is rounded: no difference of such values is one


def test_tc():
    assert values("tc", "tc.json", "--devices", "fn01") == {
        ("fn01", None, "sent_packets"): 6000, ("fn01", None, "sent_bytes"): 9000000, ("fn01", None, "dropped_packets"): 25,
        ("fn01", None, "queue_now_bytes"): 30280, ("fn01", None, "marked_packets"): 960, ("fn01", None, "early_dropped_packets"): 15}
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
    (tmp_path / "ssh").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>{log}\n')
    (tmp_path / "ssh").chmod(0o755)
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
    class Never:
        def __bool__(self):
            return False

        def while_running(self, _):
            import contextlib
            return contextlib.nullcontext()

    command = f"{sys.executable} -B {READERS}/sonic --from {OUTPUT}/sonic-$WEIR_SWITCH_READ.txt"
    reader = switch_reader.SwitchReader({"command": command, "limit_s": 20, "every_s": None}, tmp_path / "readings", tmp_path, {}, Never(),
                                        print)
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
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--net", "sh", "-c", script], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60, check=False)
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
