"""Balance of parallel links: chart and table of known rows, runs without such links; and a fresh simulation of leaves
and spines."""

from weir_runs.figures import switch_charts
from weir_runs.reading.run import read_run

HEADER = "begin_s,covered_s,phase,switch,direction,links,sent_bytes,most_sent_bytes,most_over_mean,jain_index\n"
ROWS = ("0.0,0.5,measure,switch-0,out,2,100,100,2.0,0.5\n"
        "0.0,0.5,measure,switch-1,in,2,100,50,1.0,1.0\n"
        "1.0,0.5,measure,switch-0,out,2,100,50,1.0,1.0\n")
LINKS = [{"from": "switch-0", "port": 0, "to": "switch-2", "sent_bytes": 150},
         {"from": "switch-0", "port": 1, "to": "switch-3", "sent_bytes": 50}]


def test_values_of_links_and_times_without_rows(stored):
    run = read_run(stored("measured"))
    run.record["switch"] = {"files": [], "row_s": 0.5, "measured_s": 1.5, "ports": [],
                            "parallel_links_file": "parallel-links.csv", "parallel_links": [
                                {"switch": "switch-1", "direction": "in", "most_over_mean": 1.0, "jain_index": 1.0,
                                 "highest_most_over_mean": 1.0, "lowest_jain_index": 1.0, "links": LINKS},
                                {"switch": "switch-2", "direction": "out", "most_over_mean": None, "jain_index": None,
                                 "highest_most_over_mean": None, "lowest_jain_index": None, "links": LINKS},
                                {"switch": "switch-0", "direction": "out", "most_over_mean": 1.5, "jain_index": 0.8,
                                 "highest_most_over_mean": 2.0, "lowest_jain_index": 0.5, "links": LINKS}]}
    (run.directory / "parallel-links.csv").write_text(HEADER + ROWS, encoding="utf-8")
    most, jain = switch_charts.parallel_links(run).panels
    assert list(most.lines[0].y) == [2, 1] and most.lines[0].notes == ["from switch-0", "from switch-0"]
    assert list(most.lines[1].y) == [1.5, 1]
    assert list(jain.lines[0].y) == [0.5, 1] and list(jain.lines[1].y) == [0.75, 1]
    assert switch_charts.links_table(run)["rows"] == [("from switch-0", "2", "1.5", "2", "0.8", "0.5"),
                                              ("to switch-1", "2", "1", "1", "1", "1")]


def test_runs_without_parallel_links_have_neither(stored):
    run = read_run(stored("measured"))
    assert switch_charts.parallel_links(run) is None and switch_charts.links_table(run) is None


def test_a_fresh_simulation_of_leaves_and_spines(simulate):
    run = read_run(simulate("--network", "packet", "--duration", "1s", "--switch-set", "topology.kind=leaf-spine",
                            "--switch-set", "topology.spines=4", "--switch-set", "balancing.kind=spray",
                            "--switch-set", "nic.reorder=1MB"))
    sent = [entry for entry in run.record["switch"]["parallel_links"] if entry["direction"] == "out"]
    assert len(sent) == 2 and all(len(entry["links"]) == 4 for entry in sent)
    assert all(entry["jain_index"] >= 0.999 for entry in sent)
    rows = run.parallel_link_rows()
    assert set(rows["switch"]) == {"switch-0", "switch-1"} and rows["most_over_mean"].min() >= 1
    assert switch_charts.parallel_links(run) is not None and len(switch_charts.links_table(run)["rows"]) == 4
    summed = {(port["switch"], port["port"]): 0 for port in run.record["switch"]["ports"]}
    for port in run.record["switch"]["ports"]:
        summed[port["switch"], port["port"]] += port["sent_bytes"]
    assert all(link["sent_bytes"] == summed[link["from"], link["port"]] for entry in sent for link in entry["links"])
