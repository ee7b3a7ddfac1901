"""Packets by class: hosts against switches, of a simulation, of its tables after they were edited, and of a run with a
real switch."""

import csv
import json
import shutil

import pytest

from weir_runs.reading import class_counters
from weir_runs.reading.run import read_run

CLASSES = ("--network", "packet", "--producers", "3", "--consumers", "3", "--rate", "2Gb/s", "--interval", "10ms",
           "--duration", "40ms", "--warmup", "10ms", "--producer-link", "10Gb/s", "--consumer-link", "10Gb/s",
           "--pfc", "on", "--control-priority", "own", "--switch-set", "class.storage.priority=1",
           "--switch-set", "class.storage.rate=1Gb/s", "--switch-set", "class.urgent.priority=6")


@pytest.fixture(scope="module")
def with_classes(simulate):
    return simulate(*CLASSES)


def edited(directory, column, factor, priority):
    """The run after one column of its switch's table was changed for a class: a switch that counts something else."""
    path = directory / "switch/switch-0.csv"
    rows = list(csv.DictReader(path.open()))
    for row in rows:
        if row["priority"] == str(priority):
            row[column] = str(int(int(row[column]) * factor))
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return read_run(directory)


def copy_of(directory, tmp_path):
    return shutil.copytree(directory, tmp_path / "copy")


def test_hosts_and_switches_of_a_simulation_agree(with_classes):
    run = read_run(with_classes)
    assert [one.name for one in class_counters.of_run(run)] == ["storage", "priority 3", "urgent"]
    for one in class_counters.of_run(run):
        assert one.hosts_sent > 100
        assert abs(one.hosts_sent - one.from_hosts) <= 32 and abs(one.hosts_received - one.to_hosts) <= 32
        assert 0 <= one.switches_received - one.switches_sent - one.dropped <= one.stored
    assert class_counters.findings(run) == []
    assert class_counters.table(run)["rows"][0][0] == "storage"
    # 1 Gb/s of packets of 1538 B from each of three hosts.
    seconds = run.record["switch"]["measured_s"]
    sent = next(one for one in run.record["switch"]["classes"] if one["name"] == "storage")["received_bytes"]
    assert sent == pytest.approx(3 * 1e9 / 8 * seconds, rel=0.02)


def test_a_switch_that_drops_without_counting_is_found(with_classes, tmp_path):
    run = edited(copy_of(with_classes, tmp_path), "sent_packets", 0.9, 1)
    found = class_counters.findings(run)
    assert len(found) == 2 and all(words.startswith("storage: ") for words in found)
    assert "switches sent to hosts" in found[0] and "more: of others" in found[0]
    assert "lost in a switch and not counted" in found[1] and "10 % fewer" in found[1]


def test_what_a_switch_does_not_count_of_what_comes_is_found(with_classes, tmp_path):
    found = class_counters.findings(edited(copy_of(with_classes, tmp_path), "received_packets", 0.95, 1))
    assert [words.partition(":")[0] for words in found] == ["storage", "storage"]
    assert "hosts sent" in found[0] and "fewer: lost on cables and not counted" in found[0]
    assert "more: it made copies" in found[1]


def test_links_that_lose_packets_are_found_and_explained(simulate):
    run = read_run(simulate(*CLASSES, "--loss-recovery", "selective",
                            "--fault", "errors:link=switch-0:producer-1,share=0.2,for=40ms"))
    found = class_counters.findings(run)
    assert any(words.startswith("storage: hosts sent") and "fewer: lost on cables" in words for words in found)
    assert all("failures that were simulated lost" in words for words in found if "not counted" in words)
    assert not any("lost in a switch" in words for words in found)


def test_counters_of_a_real_run(stored):
    """nic counters of mlx5 and bnxt on two hosts, and a switch that prints packets by priority."""
    directory = stored("measured")
    (directory / "hosts").mkdir()
    head = "second,phase,wall_time,"
    (directory / "hosts/a.csv").write_text(f"{head}eth0.tx_prio3_packets,eth0.rx_prio3_packets\n-1,warmup,,1000,0\n"
                                           "0,measure,,4000,100\n")
    (directory / "hosts/b.csv").write_text(f"{head}eth0.tx_packets_pri3,eth0.rx_packets_pri3\n0,measure,,100,5000\n")
    record = json.loads((directory / "run.json").read_text())
    (directory / "run.json").write_text(json.dumps(record))
    (directory / "switch").mkdir()

    def findings(received, sent):
        rows = [("before", 10, 20), ("after", 10 + received, 20 + sent)]
        lines = [f"2026-01-01T00:00:00.000Z,{when},swp1,3,{name},{value}" for when, *values in rows
                 for name, value in zip(("received_packets", "sent_packets"), values)]
        (directory / "switch/read.csv").write_text("\n".join(["time,when,port,priority,name,value", *lines]) + "\n")
        (directory / "switch/read.json").write_text(json.dumps({"command": "x", "readings": [
            {"when": when, "time": "2026-01-01T00:00:00.000Z", "problem": None} for when, *_ in rows]}))
        return class_counters.findings(read_run(directory))

    assert findings(5100, 5100) == []
    assert findings(5190, 5010) == []  # within 2 %
    lost, = findings(4800, 5100)
    assert lost == ("priority 3: hosts sent 5100, and switches received from them 4800, 5.9 % fewer: lost on cables "
                    "and not counted.")
    more, = findings(9000, 5100)
    assert "9000, 43 % more: of others" in more
    # A second that is not known makes no finding.
    (directory / "hosts/a.csv").write_text(f"{head}eth0.tx_prio3_packets,eth0.rx_prio3_packets\n-1,warmup,,,\n"
                                           "0,measure,,4000,100\n")
    assert findings(4800, 5100) == []


def test_runs_without_such_counters_have_none(stored):
    run = read_run(stored("measured"))
    assert class_counters.of_run(run) == [] and class_counters.table(run) is None
