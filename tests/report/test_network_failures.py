"""The table of what failed in a simulated network."""

from weir_runs.pages.report_page import write_report
from weir_runs.reading import network_failures
from weir_runs.reading.run import read_run
from weir_suites.tune import objective

FABRIC = ("--network", "packet", "--producers", "4", "--consumers", "4", "--rate", "5Gb/s", "--interval", "10ms",
          "--duration", "200ms", "--warmup", "20ms",
          *(word for key in ("topology.kind=leaf-spine", "topology.spines=3", "balancing.kind=spray",
                             "nic.reorder=1MiB", "failures.convergence=5ms") for word in ("--switch-set", key)))


def test_a_cut_has_what_it_lost_how_long_nothing_came_and_when_loads_were_even(simulate, no_pictures, tmp_path):
    run = read_run(simulate(*FABRIC, "--pfc", "on", "--fault", "cut:link=leaf-0:spine-1,at=50ms,for=100ms", "--fault",
                            "errors:link=leaf-1:spine-2,share=0.001,at=160ms"))
    cut, errors = network_failures.table(run)["rows"]
    assert cut[:3] == ["cut:link=leaf-0:spine-1", "0.05 s", "0.15 s"] and int(cut[3]) > 0 and cut[5].endswith(" ms")
    # Rows of 10 ms: routes follow in the one that begins with the failure.
    assert cut[6] == "10 ms"
    assert errors[2] == "the end" and int(errors[3]) > 0
    assert network_failures.lost_packets(run.record) == int(cut[3]) + int(errors[3])
    assert objective.observed(run.record)["lost_packets"] >= int(cut[3]) + int(errors[3])  # and what switches dropped
    page = tmp_path / "page.html"
    write_report([run], page, tmp_path / "figures", [], "")
    assert "Failures of the network" in page.read_text()


def test_runs_without_a_failure_and_records_of_earlier_versions(simulate):
    run = read_run(simulate(*FABRIC))
    assert network_failures.table(run) is None and network_failures.lost_packets(run.record) == 0
    run.record["switch"]["failures"] = {
        "faults": [{"fault": "storm:host=consumer-0", "begin_s": 1.5, "end_s": None, "lost": {"packets": 0, "bytes": 0},
                    "gaps": 1, "open_gaps": 1, "longest_gap_s": 0.25}],
        "watchdog": {"storms_detected": 2, "storms_restored": 0, "dropped": {"packets": 5, "bytes": 5000}},
        "events": [{"at_s": 2.0, "what": "deadlocked", "cycle": ["switch-0:switch-4", "switch-4:switch-1"]}]}
    assert network_failures.lost_packets(run.record) == 5
    table = network_failures.table(run)
    assert table["rows"] == [["storm:host=consumer-0", "1.5 s", "the end", "0", "0 B", "250 ms, for 1 flow to the end",
                              "-"]]
    assert [sentence.split()[0] for sentence in table["sentences"]] == ["Watchdogs", "From"]
