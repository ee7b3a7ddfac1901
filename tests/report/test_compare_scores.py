"""What is scored and in which order, and what only explains: counters of hosts are never better or worse."""

import json
import re

import pytest
from comparing import compared, make, run  # noqa: F401 (a fixture)
from conftest import ROOT, RUNS, editing

from weir_runs.reading import host_counters
from weir_runs.reading.key_figures import KEY_FIGURES

CNPS = {"mlx5_0": {"cnp_sent": 0, "cnp_handled": 0}, "eth0": {"pause_frames_received": 0, "pause_frames_sent": 0}}


@pytest.fixture
def counting(make):
    """counting(name, counters): five runs that differ in nothing but their counters."""
    def build(name, counters):
        return [make(f"{name}-{index}", goodput=1.0 + 0.001 * index, counters=counters) for index in range(5)]
    return build


def test_counters_explain_and_are_never_scored(capsys, counting):
    new = counting("new", {**CNPS, "mlx5_0": {"cnp_sent": 4200, "cnp_handled": 4100}})
    baseline = counting("old", CNPS)
    status, out, _ = run(capsys, *new, "--against", *baseline, "--fail-on", "worse,different")
    assert status == 0
    assert ": 0 of 9 key figures worse, 0 better" in out
    table, explaining = out[out.index("key figure"):].split("not scored, explains")
    assert "CNP" not in table
    # Sent and received are two things.
    assert re.search(r"^congestion notifications \(CNP\) sent +0 +4200 ±0 +\+4200$", explaining, re.MULTILINE)
    assert re.search(r"^congestion notifications \(CNP\) received +0 +4100 ±0 +\+4100$", explaining, re.MULTILINE)
    figures, _ = compared(capsys, new, baseline)
    assert figures["cnp_sent"]["call"] is None and not figures["cnp_sent"]["scored"]
    assert figures["cnp_sent"]["difference"] == 4200 and figures["cnp_sent"]["better"] is None


def test_received_and_sent_pauses_are_not_added(capsys, counting):
    new = counting("new",
                   {"eth0": {"pause_frames_received": 750, "pause_frames_sent": 30, "pause_time_received_us": 2_500_000,
                             "pause_time_sent_us": 90, "pause_transitions_received": 6}})
    figures, _ = compared(capsys, new, counting("old", CNPS))
    medians = {name: figure["new"]["median"] for name, figure in figures.items() if "pause" in name}
    assert medians == {"pause_frames_received": 750, "pause_frames_sent": 30, "pause_time_received": 2.5,
                       "pause_time_sent": pytest.approx(90e-6), "pause_transitions_received": 6}


def test_what_is_not_counted_is_missing_and_not_zero(capsys, counting):
    new, baseline = counting("new", {"tcp": {"tcp_retransmissions": 12}}), counting("old", CNPS)
    figures, _ = compared(capsys, new, baseline)
    assert figures["tcp_retransmissions"]["baseline"]["values"] == []
    assert figures["tcp_retransmissions"]["difference"] is None
    assert "out_of_sequence" not in figures
    _, out, _ = run(capsys, *new, "--against", *baseline)
    assert re.search(r"^TCP segments sent again +- +12 ±0 +-$", out, re.MULTILINE)
    # Nothing is said of what only one side counts and what stayed at 0 there.
    assert "Counted, and 0 in all runs" not in out
    _, out, _ = run(capsys, *counting("other", CNPS), "--against", *baseline)
    assert ("Counted, and 0 in all runs: pause frames received, pause frames sent, congestion notifications (CNP) "
            "sent, congestion notifications (CNP) received.") in out


def late(sets, late_sets, slack):
    return {"on_time": late_sets == 0, "sets": sets, "late_sets": late_sets, "least_slack_s": slack}


def test_late_sets_and_slack_are_scored_before_speed(capsys, make):
    new = [make(f"new-{index}", verdict=late(300, 3 + index % 2, -0.21), goodput=0.97) for index in range(5)]
    baseline = [make(f"old-{index}", verdict=late(300, 0, 0.4 + 0.01 * index)) for index in range(5)]
    status, out, _ = run(capsys, *new, "--against", *baseline, "--fail-on", "worse")
    assert status == 3
    found = out[out.index("key figures worse, "):].splitlines()[1:]
    lines = [line.removeprefix("  worse").strip() for line in found]
    assert lines[0] == "late sets 0 % -> 1 % (+1 points)"
    assert lines[1].startswith("longest delivery time 0.58 s -> 1.21 s (+1")
    assert lines[2].startswith("goodput of all consumers ")
    # Older runs did not judge sets: absent, and not 0.
    older = [make(f"older-{index}") for index in range(5)]
    figures, _ = compared(capsys, older, baseline)
    assert figures["late_share"]["new"]["values"] == [] and figures["late_share"]["call"] == "inconclusive"


def test_runs_of_hosts_that_had_other_work_are_named(capsys, make):
    new = [make(f"new-{index}", stalled_s=0.3 + 0.1 * index) for index in range(3)]  # of 4 s
    baseline = [make(f"old-{index}", stalled_s=0.0) for index in range(3)]
    _, out, _ = run(capsys, *new, "--against", *baseline)
    assert "Event loops stood still: the new runs 10 % of the time, the baseline 0 %" in " ".join(out.split())
    _, out, _ = run(capsys, *[make(f"quiet-{index}", stalled_s=0.1) for index in range(3)], "--against", *baseline)
    assert "Event loops" not in out


def test_an_event_is_late_by_the_consumer_too(capsys, make):
    """An eager message is gone for the producer before it has arrived: what the network loses is seen in the
    delivery."""
    verdict, slow = late(300, 0, 0.4), 0.9e6 / json.loads(
        (RUNS / "measured" / "run.json").read_text())["latency"]["delivery"]["max_us"]
    new = [make(f"new-{index}", verdict=verdict, delivery=slow * (1 + 0.01 * index)) for index in range(4)]
    baseline = [make(f"old-{index}", verdict=verdict) for index in range(4)]
    figures, _ = compared(capsys, new, baseline)
    assert figures["longest_stay"]["baseline"]["values"] == [pytest.approx(0.6)] * 4
    assert figures["longest_stay"]["new"]["values"] == [pytest.approx(0.9 * (1 + 0.01 * index)) for index in range(4)]
    assert figures["longest_stay"]["call"] == "worse"


def test_the_order_is_lost_then_margin_then_speed_then_what_explains():
    ranks = [figure.rank for figure in KEY_FIGURES]
    assert ranks == sorted(ranks)
    assert [figure.name for figure in KEY_FIGURES[:5]] == ["sustained", "lost_events", "late_share", "longest_stay",
                                                           "worst_occupancy"]
    assert all(figure.is_scored == (figure.rank < 3) for figure in KEY_FIGURES)


def test_losses_have_a_count_and_a_share(capsys, make):
    generated = json.loads((RUNS / "measured" / "run.json").read_text())["totals"]["generated_events"]
    new = [make(f"new-{index}", lost=3) for index in range(3)]
    _, out, _ = run(capsys, *new, "--against", *[make(f"old-{index}") for index in range(3)])
    assert re.search(rf"^events lost +0 +3 \({100 * 3 / generated:.2g} %\) ±0 ", out, re.MULTILINE)


def test_families_are_those_of_the_catalogue():
    """Names, units and titles; packets of both directions are what they are shares of."""
    table = (ROOT / "src" / "record" / "counter_catalogue.cpp").read_text()
    written = re.findall(r'^    \{"(\w+)", "(\w+)", "([^"]*)",', table, re.MULTILINE)
    wholes = {"received_packets", "sent_packets", "sent_segments"}
    assert [row for row in written if row[0] not in wholes] == [
        (family.key, "us" if family.unit == "s" else family.unit, family.title)
        for family in host_counters.FAMILIES]
    assert {family.of for family in host_counters.FAMILIES} == wholes | {"time", None}


def test_runs_of_a_weir_without_families_are_named(capsys, make, counting):
    old = counting("old", CNPS)
    for name in old[:2]:
        with editing(name) as record:
            del record["hosts"][0]["families"], record["hosts"][0]["families_by_source"]
    out = " ".join(run(capsys, *counting("new", CNPS), "--against", *old)[1].split())
    assert ("What hosts counted is not compared of 2 runs of an earlier weir, whose run.json has no sums by family "
            "(first: old-0)." in out)


def test_notifications_without_marks_are_explained(capsys, make):
    def side(name, marks):
        return [make(f"{name}-{index}", counters={"mlx5_0": {"ecn_marked_packets": marks, "cnp_handled": 500}},
                     network="slowed_by_cnp", goodput=1.0 + index / 1000, tags={"switch": name}) for index in range(3)]
    out = " ".join(run(capsys, "--by", "switch", "--table", *side("off", 0), *side("on", 900))[1].split())
    assert ("500 CNPs received (no packet was marked: network cards also send CNPs for packets that come out of order)"
            in out)
    assert out.count("no packet was marked") == 2 and "CNPs with switch=off: no packet was marked" in out


def test_drops_that_hosts_count_are_shown(capsys, make):
    def side(name, counters):
        return [make(f"{name}-{index}", counters=counters, network="lossy", goodput=1.0 + index / 1000,
                     tags={"switch": name}) for index in range(3)]
    few = side("few", {"eth0": {"dropped_by_hosts": 400}, "udp": {"dropped_by_hosts": 0}})
    many = side("many", {"eth0": {"dropped_by_hosts": 50_000}, "udp": {"dropped_by_hosts": 40_000}})
    status, out, _ = run(capsys, "--by", "switch", *few, *many)
    assert status == 0
    assert "many: lossy in 3 of 3 runs; 90000 dropped by hosts" in out
    assert "few: lossy in 3 of 3 runs; 400 dropped by hosts" in out


def test_sizes_are_compared_and_not_only_names(capsys, make):
    def side(name, goodput, drops):
        return [make(f"{name}-{index}", counters={"eth0": {"dropped_by_hosts": drops}}, network="lossy",
                     goodput=goodput + index / 1000, tags={"switch": name}) for index in range(5)]
    a, b, c = side("a", 1.0, 400), side("b", 0.8, 90_000), side("c", 0.8, 90_001)
    assert "packets are lost (dropped by hosts 90000 packets; 400 packets with a)" in " ".join(
        run(capsys, "--by", "switch", *a, *b)[1].split())
    same = side("d", 1.0, 80_000)
    assert "where" not in run(capsys, "--by", "switch", *same, *c)[1].split("\n\n")[0]
