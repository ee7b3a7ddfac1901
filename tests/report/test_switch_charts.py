"""Charts of switches: values of known rows, times without rows, runs without switches; and a fresh packet
simulation."""

import pytest

from weir_compare.comparison import network_mechanisms
from weir_runs.figures import switch_charts
from weir_runs.reading.run import read_run

HEADER = (
    "begin_s,covered_s,phase,port,peer,priority,sent_packets,sent_bytes,queue_peak_bytes,queue_mean_bytes,"
    "marked_packets,dropped_packets,dropped_bytes,pauses_sent,pausing_s,pauses_received,paused_s,pool_peak_bytes\n")
ROWS = ("0.0,0.5,measure,0,producer-0,3,1,100,10,1,0,0,0,4,0.25,0,0,5000\n"
        "0.0,0.5,measure,1,consumer-0,0,1,1000000,300,100,0,0,0,0,0,0,0,5000\n"
        "0.0,0.5,measure,1,consumer-0,3,1,1000000,4000,2000,7,3,12,0,0,0,0,5000\n"
        "1.0,0.5,measure,1,consumer-0,3,1,500000,100,50,0,0,0,0,0,0,0,100\n")


def test_values_of_ports_and_times_without_rows(stored):
    run = read_run(stored("measured"))
    run.record["switch"] = {"files": ["switch/switch-0.csv"], "row_s": 0.5, "measured_s": 1.5, "ports": [
        {"switch": "switch-0", "port": 0, "peer": "producer-0", "priority": 3},
        {"switch": "switch-0", "port": 1, "peer": "consumer-0", "priority": 3}]}
    (run.directory / "switch").mkdir()
    (run.directory / "switch/switch-0.csv").write_text(HEADER + ROWS, encoding="utf-8")
    queues, pauses, packets, rates = switch_charts.switches(run).panels
    assert queues.unit == "kB" and list(queues.areas[0].high) == pytest.approx([5, 0, 0.1])
    peak, mean = queues.lines
    assert list(peak.x) == pytest.approx([0, 0.5, 1]) and list(peak.y) == pytest.approx([4, 0, 0.1])
    assert peak.notes[0] == "consumer-0" and list(mean.y) == pytest.approx([2.1, 0, 0.05])
    assert list(pauses.lines[0].y) == pytest.approx([50, 0, 0]) and pauses.lines[0].notes[0] == "producer-0"
    assert [list(line.y) for line in packets.lines] == [[14, 0, 0], [6, 0, 0]]
    assert rates.unit == "Mb/s" and list(rates.lines[1].y) == pytest.approx([32, 0, 8])


def test_runs_without_switches_have_no_chart(stored):
    assert switch_charts.switches(read_run(stored("measured"))) is None


def test_a_fresh_packet_simulation_has_charts_and_a_mechanism(simulate):
    run = read_run(simulate("--network", "packet", "--pfc", "on", "--duration", "1s", "--switch-rows", "100ms"))
    titles = [panel.title for panel in switch_charts.switches(run).panels]
    assert titles[0] == "Queues in front of ports" and titles[-1] == "Sent to each consumer, on the wire"
    assert network_mechanisms.mechanism(run) == "nothing to speak of"
    assert network_mechanisms.mechanism(read_run(simulate("--duration", "1s"))) == network_mechanisms.SIMULATED
