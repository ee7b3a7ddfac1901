"""Traces of flows: what is read, what is refused with file and line, and a replay of one whose slowdowns are known."""

import csv
import json

import pytest

from weir_runs.basics.errors import ReportError
from weir_suites import traffic_command
from weir_suites.traffic import flows as traffic_flows, interference, replay, slowdown, step_order
from weir_suites.traffic.flows import LEAD_NS
from weir_suites.traffic.traffic_model import Trace

FLOWS = ("3\n0 1 3 100 1000 2.000000000\n2 1 3 100 500 2.0000015\n0 1 3 101 7 2.000000000\n"
         "9 9 9 this is more than was announced")


def test_flow_txt(write):
    flows = traffic_flows.read(write("flow.txt", FLOWS))
    assert flows.trace.rows == ((LEAD_NS, 0, 1, 1000), (LEAD_NS + 1, 0, 1, 7), (LEAD_NS + 1500, 2, 1, 500))
    assert (flows.hosts, flows.first_ns, flows.moved, flows.within_hosts) == (3, 2 * 10**9, 1, 0)
    # Without the number of flows, and not in the order of time.
    assert traffic_flows.read(write("bare.txt", "1 0 3 100 9 0.5\n0 1 3 100 8 0.25\n")).trace.rows == (
        (LEAD_NS, 0, 1, 8), (LEAD_NS + 250_000_000, 1, 0, 9))


@pytest.mark.parametrize("header, row", [("time_us,from,to,bytes", "1.5,0,4,10"),
                                         ("size,start_time,dst,src,kind", "10,0.0000015,4,0,a"),
                                         ("time_ns,producer,consumer,bytes", "1500,0,4,10")])
def test_csv_with_columns_in_any_order(write, header, row):
    flows = traffic_flows.read(write("f.csv", f"# made up\n{header}\n{row}\n"))
    assert flows.trace.rows == ((LEAD_NS, 0, 4, 10),) and flows.first_ns == 1500 and flows.hosts == 5


def test_flows_within_a_host_are_left_out(write):
    flows = traffic_flows.read(write("f.csv", "time_us,from,to,bytes\n0,1,1,5\n1,1,0,5\n"))
    assert flows.within_hosts == 1 and len(flows.trace.rows) == 1


@pytest.mark.parametrize("text, said", [
    ("", "it has no lines"), ("2\n0 1 3 100 5 1\n", "its first line says 2 flows, and there are 1"),
    ("hello world\n", "line 1: 'hello world' begins"),
    ("1\n0 1 3 100 5\n", "line 2: 5 fields were found; 6 are expected"),
    ("0 1 3 1 x 0\n", "line 1: bytes: 'x' is not a whole number"),
    ("0 1 3 1 0 0\n", "line 1: a flow of 0 bytes"), ("0 1 3 1 5 -1\n", "line 1: '-1' is not a time"),
    ("0 0 3 1 5 0\n", "no flow between two hosts"), ("time_us,from,bytes\n1,2,3\n", "line 1: 0 columns say the to"),
    ("time_us,from,to,bytes\n1,2,3\n", "line 2: 3 fields were found; 4 are expected"),
    ("0 1 3 1 5 0\n0 1 3 1 5 3601\n", "more than 1 h")])
def test_what_is_wrong_is_refused(write, text, said):
    path = write("f.txt", text)
    with pytest.raises(ReportError) as error:
        traffic_flows.read(path)
    assert str(error.value).startswith(str(path)) and said in str(error.value)


def test_options_of_the_caller_take_the_place_of_its_own(write):
    flows = traffic_flows.read(write("flow.txt", FLOWS))
    words = replay.command("weir", "t.csv", flows, "out", 10**11, at_once=8, more=["--slots", "3", "--network=fluid"])
    assert words.count("--slots") == 1 and "packet" not in words and "--control-network" not in words
    words = replay.command("weir", "t.csv", flows, "out", 10**11, at_once=8, more=[])
    assert words[words.index("--slots") + 1] == "16" and words[words.index("--streams") + 1] == "8"
    assert words[words.index("--event-size") + 1] == "1000B" and words[words.index("--producers") + 1] == "3"
    assert "placement.kind=by-worker" in words
    for more in (["--network", "fluid"], ["--switch", "./mine.toml"], ["--producer-link", "100Gb/s,0=25Gb/s"]):
        assert "placement.kind=by-worker" not in replay.command("weir", "t.csv", flows, "out", 10**11, at_once=8,
                                                                more=more)


def test_a_dry_run_is_one_of_weir(write, tmp_path, capsys, monkeypatch, weir):
    monkeypatch.setenv("WEIR", str(weir))
    path = write("f.csv", "time_us,from,to,bytes\n0,0,1,5000000\n")
    assert traffic_command.main(["replay", str(path), "--out", str(tmp_path / "run"), "--", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("Dry run: nothing is started.")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("network", ["fluid", "packet"])
def test_a_replay_of_known_slowdowns(write, tmp_path, capsys, monkeypatch, weir, network):
    """A flow alone has 1; two of 5 MB that share a port nearly 2: the delay in the ideal is there once. The switch
    holds 5 MB."""
    monkeypatch.setenv("WEIR", str(weir))
    path = write("f.csv", "time_us,from,to,bytes\n0,0,1,5000000\n5000,0,1,5000000\n5000,2,1,5000000\n")
    assert traffic_command.main(["replay", str(path), "--out", str(tmp_path / "run"), "--json", "--", "--network",
                                 network]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["schema"] == "weir-replay/1" and record["flows"] == 3 and record["hosts"] == 3
    with open(tmp_path / "run/completions.csv", newline="", encoding="utf-8") as file:
        slowdowns = [float(row["slowdown"]) for row in csv.DictReader(file)]
    assert slowdowns == pytest.approx([1, 1.99, 1.99], abs=0.012)
    assert record["size_classes"][0]["slowdown_max"] == pytest.approx(max(slowdowns), abs=1e-4)


def test_a_run_that_fails_is_said(write, tmp_path, capsys, monkeypatch, weir):
    monkeypatch.setenv("WEIR", str(weir))
    path = write("f.csv", "time_us,from,to,bytes\n0,0,1,1000\n")
    assert traffic_command.main(["replay", str(path), "--out", str(tmp_path / "run"), "--", "--pfc", "maybe"]) == 2
    assert "weir simulate ended with 2: weir simulate: --pfc: 'maybe'" in capsys.readouterr().err
    assert traffic_command.main(["replay", str(path), "--out", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err


WAITING = Trace(((0, 0, 1, 9), (1, 1, 0, 9)), after=((), (0,)), compute=(0, 0))


@pytest.mark.parametrize("content, said", [
    ("", "it is empty"), ("{", "line 1: "), ("[]", "schema is null"), ('{"schema": "weir-groups/1"}', "several groups"),
    ("[" * 100000, "nested too deeply"), ('{"schema": "weir-run/1", "x": NaN}', "NaN is no number of JSON"),
    ('{"schema": "weir-run/9"}', "reads up to"), ('{"schema": "weir-run/1"}', "it has no ")])
@pytest.mark.parametrize("read", [lambda path: replay.record("f.csv", None, path), interference.collectives_of,
                                  lambda path: step_order.check("f.csv", WAITING, path)])
def test_a_record_that_is_none_of_a_run_is_refused(write, tmp_path, content, said, read):
    write("run.json", content)
    with pytest.raises(ReportError) as error:
        read(tmp_path)
    assert str(error.value).startswith(str(tmp_path / "run.json")) and said in str(error.value)
    assert slowdown.remark_on(tmp_path) is None
