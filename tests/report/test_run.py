"""Reading run directories: what is there is read exactly, what is broken is named with file and line."""

import csv
import json

import numpy as np
import pytest
from conftest import editing

from weir_runs.basics.errors import ReportError
from weir_runs.figures import counter_charts, latency_charts
from weir_runs.pages.report_page import section
from weir_runs.reading.key_figures import key_figures
from weir_runs.reading.run import read_run


def test_rows_are_those_of_the_files(stored):
    directory = stored("measured")
    rows = read_run(directory).rows("consumer")
    for index, path in enumerate(sorted((directory / "ranks").glob("*-consumer.csv"))):
        with open(path, newline="") as file:
            lines = list(csv.DictReader(file))
        assert [int(line["second"]) for line in lines] == list(rows.seconds)
        assert [line["phase"] for line in lines] == list(rows.phases)
        for name in ("received_bytes", "blocked_s", "poll_gap_max_us"):
            assert list(rows.column(name)[index]) == [float(line[name]) for line in lines]


def test_key_figures_of_a_measured_run(stored):
    run = read_run(stored("measured"))
    figures = key_figures(run)
    rows = run.rows("consumer")
    rates = 8 * rows.measured("received_bytes") / rows.measured("covered_s")
    assert run.name == "small measured run"
    assert figures["sustained"] == 1.0
    assert figures["worst_occupancy"] == run.record["totals"]["max_occupancy"]
    # Rates of run.json are whole bits per second.
    assert figures["goodput"] == pytest.approx(rates.mean(axis=1).sum(), rel=1e-6)
    assert figures["slowest_consumer_lowest_second"] == pytest.approx(rates.min(), rel=1e-6)
    blocked = rows.measured("blocked_s").sum() / rows.measured("covered_s").sum()
    assert figures["blocked_share"] == pytest.approx(blocked, abs=1e-6)
    assert figures["pause_frames_received"] is None


def test_an_overflow_is_not_sustained(stored):
    figures = key_figures(read_run(stored("overflow")))
    assert figures["sustained"] == 0.0
    assert figures["worst_occupancy"] > 1


def test_an_interrupted_run_is_read_for_what_it_has(stored):
    run = read_run(stored("interrupted"))
    assert run.status == "interrupted"
    assert "was interrupted: signal 15" in run.remarks[0]
    assert len(run.rows("consumer").seconds) >= 3
    assert key_figures(run)["sustained"] is None


def test_a_cut_last_line_is_left_out_of_an_interrupted_run(stored):
    directory = stored("interrupted")
    whole = read_run(directory).rows("consumer").seconds
    path = next((directory / "ranks").glob("*-consumer.csv"))
    path.write_bytes(path.read_bytes()[:-20])
    run = read_run(directory)
    rows = run.rows("consumer")
    assert np.isnan(rows.column("received_bytes")[0][-1])
    assert len(rows.seconds) == len(whole)
    assert any("is cut" in remark and path.name in remark for remark in run.remarks)


def test_an_empty_file_of_an_interrupted_run_is_a_rank_without_seconds(stored):
    directory = stored("interrupted")
    path = sorted((directory / "ranks").glob("*-consumer.csv"))[0]
    path.write_bytes(b"")
    rows = read_run(directory).rows("consumer")
    assert np.isnan(rows.column("received_bytes")[0]).all()
    assert np.isfinite(rows.column("received_bytes")[1]).any()


def test_ranks_that_begin_and_end_at_other_seconds_keep_theirs(stored, monkeypatch):
    """In batches of one file, of all, and of some that begin alike."""
    directory = stored("interrupted")
    paths = sorted((directory / "ranks").glob("*-consumer.csv"))
    lines = paths[0].read_text().splitlines(keepends=True)
    paths[0].write_text("".join([lines[0], *lines[2:]]))
    last = paths[1].read_text().splitlines(keepends=True)
    paths[1].write_text("".join(last[:-1]))
    found = []
    for files in (1, 2, 256):
        monkeypatch.setattr("weir_runs.reading.rows.BATCH_FILES", files)
        found.append(read_run(directory).rows("consumer"))
    for rows in found:
        assert list(rows.seconds) == list(found[0].seconds) and list(rows.phases) == list(found[0].phases)
        covered = rows.column("covered_s")
        assert np.isnan(covered[0][0])
        assert np.isfinite(covered[0][1:]).all() and np.isfinite(covered[1][0]) and np.isnan(covered[1][-1])
        for name in ("received_bytes", "corrupt_events", "poll_gap_max_us"):
            np.testing.assert_array_equal(rows.column(name), found[0].column(name))


def test_columns_of_one_value_take_no_memory(stored):
    rows = read_run(stored("measured")).rows("consumer")
    assert (rows.column("corrupt_events") == 0).all() and rows.column("corrupt_events").strides == (0, 0)
    assert rows.column("received_bytes").strides != (0, 0)


@pytest.mark.parametrize("change, words", [
    ({"rank": -1}, "ranks[1].rank: -1 is less than the minimum"), ({"sets": 1.5}, "ranks[1].sets: 1.5 is not of type"),
    ({"time": {"blocked_s": "x"}}, "ranks[1].time.blocked_s: 'x' is not of type"),
    ({"role": "idler"}, "ranks[1].role: 'idler' is not one of"),
    ({"host": 3}, "ranks[1].host: 3 is not of type"), ({"index": True}, "ranks[1].index: True is not of type")])
def test_one_rank_of_many_that_is_damaged_is_named(stored, change, words):
    directory = stored("measured")
    with editing(directory) as record:
        record["ranks"] = [{**record["ranks"][1], "rank": number, "sets": 2.0} for number in range(5)]
        record["ranks"][1].update(change)
    with pytest.raises(ReportError) as error:
        read_run(directory)
    assert words in str(error.value)


def test_missing_files_are_said(stored):
    directory = stored("measured")
    next((directory / "ranks").glob("*-producer.csv")).unlink()
    run = read_run(directory)
    run.rows("producer")
    assert any("1 of 3 producer files are missing" in remark for remark in run.remarks)


def change_line(path, line, change):
    lines = path.read_text().splitlines()
    lines[line - 1] = change(lines[line - 1])
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("line, change, words", [
    (3, lambda line: line + ",7", "line 3: 18 values, expected 17"),
    (4, lambda line: line.rsplit(",", 1)[0], "line 4: 16 values, expected 17"),
    (2, lambda line: line.replace("1.000000", "one", 1), "line 2: 'one' in column covered_s is not a number"),
    (4, lambda line: "77" + line[line.index(","):], "line 4: second 77"),
    (3, lambda line: line.replace("measure", "lunch"), "line 3: second 0 in phase 'lunch'"),
    (1, lambda line: "time,value", "line 1: the columns begin with 'time,value'"),
])
def test_a_broken_row_is_named(stored, line, change, words):
    directory = stored("measured")
    path = sorted((directory / "ranks").glob("*-consumer.csv"))[0]
    change_line(path, line, change)
    with pytest.raises(ReportError) as caught:
        read_run(directory).rows("consumer")
    assert str(path) in str(caught.value)
    assert words in str(caught.value)


def test_a_cut_line_of_a_complete_run_is_damage(stored):
    directory = stored("measured")
    path = sorted((directory / "ranks").glob("*-consumer.csv"))[2]
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ReportError, match=f"{path.name}, line 6: the line is cut"):
        read_run(directory).rows("consumer")


def test_files_of_two_runs_are_refused(stored):
    directory = stored("measured")
    path = next((directory / "ranks").glob("*-consumer.csv"))
    (directory / "ranks" / "rank-00099-consumer.csv").write_bytes(path.read_bytes())
    with pytest.raises(ReportError, match="5 consumer files, but the plan in run.json has 4"):
        read_run(directory).rows("consumer")


@pytest.mark.parametrize("content, words", [
    ("", "it is empty"),
    ("{\n \"schema\": \"weir-run/1\",\n", "line 3"),
    ("[1, 2]", "this is not the record of a weir run"),
    ("{\"schema\": \"iperf/3\"}", "this is not the record of a weir run"),
    ("{\"schema\": \"weir-run/2\"}", "reads up to \"weir-run/1\""),
    ("{\"schema\": \"weir-run/1\"}", "'status' is a required property"),
])
def test_a_record_that_is_none_is_refused(stored, content, words):
    directory = stored("measured")
    (directory / "run.json").write_text(content)
    with pytest.raises(ReportError) as caught:
        read_run(directory)
    assert "run.json" in str(caught.value) and words in str(caught.value)


def test_a_record_that_is_not_text_is_refused(stored):
    directory = stored("measured")
    (directory / "run.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReportError, match="not text in UTF-8"):
        read_run(directory)


@pytest.mark.parametrize("name", ["nothing-here", "."])
def test_a_directory_without_a_run_is_refused(tmp_path, name):
    with pytest.raises(ReportError, match="a run directory"):
        read_run(tmp_path / name)


def places(value, path=()):
    """Every place in a JSON value, but of lists only the first and last element."""
    yield path
    if isinstance(value, dict):
        for name, part in value.items():
            yield from places(part, (*path, name))
    elif isinstance(value, list):
        for index in {0, len(value) - 1} if value else ():
            yield from places(value[index], (*path, index))


@pytest.mark.parametrize("what", ["dropped", None, "text", -1, []], ids=str)
def test_nothing_in_a_record_is_trusted(stored, what):
    """Each place of run.json in turn is dropped or is something else: it is refused, or the page does without."""
    directory = stored("measured")
    whole = (directory / "run.json").read_text()
    for path in list(places(json.loads(whole)))[1:]:
        record = json.loads(whole)
        parent = record
        for step in path[:-1]:
            parent = parent[step]
        if what == "dropped":
            del parent[path[-1]]
        else:
            parent[path[-1]] = what
        (directory / "run.json").write_text(json.dumps(record))
        try:
            run = read_run(directory)
            section(run, 0, [], [])
            key_figures(run)
            latency_charts.latencies(run)
        except ReportError:
            pass


def test_traffic_is_read_and_checked(stored):
    directory = stored("measured")
    path = directory / "traffic.csv"
    path.write_text("producer,consumer,received_events,received_bytes\n0,1,2,2048\n2,3,1,1024\n")
    matrix = read_run(directory).traffic()
    assert matrix.shape == (3, 4) and matrix[0, 1] == 2048 and matrix[2, 3] == 1024 and matrix.sum() == 3072
    path.write_text("producer,consumer,received_events,received_bytes\n0,1,2,2048\n3,3,1,1024\n")
    with pytest.raises(ReportError, match="traffic.csv, line 3"):
        read_run(directory).traffic()
    path.write_text("producer,consumer,bytes\n0,1,2\n")
    with pytest.raises(ReportError, match="line 1: no column 'received_events'"):
        read_run(directory).traffic()


@pytest.mark.parametrize("line", ["0,,1,1024", "0,1e300,1,1024", "0,-1,1,1024", "0,0.5,1,1024"])
def test_a_number_that_is_no_index_is_refused(stored, line):
    directory = stored("measured")
    (directory / "traffic.csv").write_text(f"producer,consumer,received_events,received_bytes\n0,1,2,2048\n{line}\n")
    with pytest.raises(ReportError, match="traffic.csv, line 3"):
        read_run(directory).traffic()


def test_a_second_that_no_run_has_is_refused(stored):
    directory = stored("measured")
    path = sorted((directory / "ranks").glob("*-consumer.csv"))[0]
    change_line(path, 2, lambda line: "1e15" + line[line.index(","):])
    with pytest.raises(ReportError, match="line 2: second 1000000000000000"):
        read_run(directory).rows("consumer")


def test_counters_of_the_warm_up_and_the_drain_are_no_part_of_a_sum(stored):
    directory = stored("measured")
    (directory / "hosts").mkdir()
    seconds = json.loads((directory / "run.json").read_text())["seconds"]
    lines = [f"{second},,,{10 ** (second + 1)}" for second in range(-1, seconds + 1)]
    (directory / "hosts" / "eb01.csv").write_text(
        "second,phase,wall_time,eth0.rx_prio3_pause\n" + "\n".join(lines) + "\n")
    assert counter_charts.measured(read_run(directory)) == {
        "eb01": {"eth0.rx_prio3_pause": sum(10 ** (second + 1) for second in range(seconds))}}
    (directory / "hosts" / "eb01.csv").write_text("second,phase,wall_time,eth0.rx_prio3_pause\n,,,1\n")
    with pytest.raises(ReportError, match="eb01.csv, line 2: nan in column second"):
        counter_charts.measured(read_run(directory))


def test_sums_of_counters_are_those_of_the_record(stored):
    """A page must not have two numbers for one counter: run.json's, which the word on the network is made of,
    counts."""
    directory = stored("measured")
    (directory / "hosts").mkdir()
    (directory / "hosts" / "eb01.csv").write_text(
        "second,phase,wall_time,eth0.rx_prio3_pause,tcp.timeouts\n0,measure,,5,0\n1,measure,,6,0\n")
    with editing(directory) as record:
        record["hosts"] = [{"name": "eb01", "file": "hosts/eb01.csv", "totals": {"eth0.rx_prio3_pause": 12}}]
    assert counter_charts.measured(read_run(directory)) == {"eb01": {"eth0.rx_prio3_pause": 12, "tcp.timeouts": 0}}
