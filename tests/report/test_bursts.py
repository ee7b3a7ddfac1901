"""The page of a run with --row-interval: which seconds it shows at that interval, and what of files that are missing or
broken."""

import shutil

import numpy as np
import pytest

from weir_runs.basics.errors import ReportError
from weir_runs.figures import burst_charts
from weir_runs.pages.report_page import write_report
from weir_runs.reading import burst_rows, short_run_rows
from weir_runs.reading.run import read_run

# Sets of 1 MB at the beginning of each second; consumers that are busy for longer than they may be.
SMALL = ("--producers", "3", "--consumers", "2", "--rate", "8Mb/s", "--event-size", "100kB", "--duration", "5s",
         "--warmup", "1s", "--drain", "2s", "--buffer", "1200kB", "--producer-link", "40Mb/s",
         "--consumer-link", "40Mb/s", "--busy", "fixed:80ms", "--slots", "2", "--row-interval", "100ms")


@pytest.fixture(scope="module")
def overflowing(simulate):
    return simulate(*SMALL)


def test_the_worst_seconds_are_chosen_and_named(overflowing):
    run = read_run(overflowing)
    seconds = burst_charts.worst_seconds(run)
    assert run.resolved["row_interval_s"] == 0.1
    assert [second for second, reasons in seconds.items() if "first overflow" in reasons] == [
        run.record["verdict"]["first_overflow_second"]]
    assert sum(map(len, seconds.values())) == 3 and list(seconds) == sorted(seconds)


def test_steps_are_those_of_the_files(overflowing):
    run = read_run(overflowing)
    chart, heat = burst_charts.bursts(run)[:2]
    second = next(iter(burst_charts.worst_seconds(run)))
    assert chart.name == f"burst-second-{second}" and chart.title.startswith(f"Second {second} in steps of 100 ms")
    together = chart.panels[0].lines[0]
    assert list(together.x[:3]) == [-1000, -900, -800] and together.x[-1] == 1900 and len(together.x) == 30
    received = sum(float(line.split(",")[2]) for path in (overflowing / "bursts").glob("*-consumer.csv")
                   for line in path.read_text().splitlines() if line.startswith(f"{second}.30,"))
    unit = {"kb/s": 1e3, "Mb/s": 1e6}[chart.panels[0].unit]
    assert together.y[list(together.x).index(300)] * unit == pytest.approx(80 * received)
    assert [panel.title for panel in chart.panels] == [
        "Throughput of all consumers together", "Buffer occupancy, peak of each step of 100 ms",
        "Throughput of consumers", "Blocked consumers", "Events and slots at the scheduler"]
    view = next(view for view in heat.views if view.title == "Consumers: throughput")
    assert list(view.columns) == list(range(0, 1000, 100)) and np.shape(view.values) == (2, 10)


def test_long_chunks_are_said(simulate, overflowing):
    said = "takes 200 ms at the line rate"
    slow = simulate(*SMALL[:8], "--duration", "1s", "--warmup", "0s", "--drain", "2s", "--chunk-size", "100kB",
                    "--consumer-link", "4Mb/s", "--row-interval", "100ms")
    assert said in burst_charts.bursts(read_run(slow))[0].caption
    assert said not in burst_charts.bursts(read_run(overflowing))[0].caption


def test_they_sum_up_to_the_rows_of_seconds(overflowing):
    """But for chunks that are under way at the end of a second."""
    run = read_run(overflowing)
    seconds = run.rows("consumer")
    table, = run.bursts("consumer", ((0, 4),))
    sums = np.nansum(table.column("received_bytes").reshape(2, 5, 10), axis=2)
    measured = seconds.measured("received_bytes")
    assert np.abs(sums - measured).max() <= run.resolved["chunk_size_bytes"] * run.resolved["slots"]
    blocked = np.nansum(table.column("blocked_s").reshape(2, 5, 10), axis=2)
    assert blocked == pytest.approx(seconds.measured("blocked_s"), abs=1e-5)


def test_steps_of_a_second_are_not_those_of_a_short_run(simulate):
    """Both begin at 0 here, and have a second around them."""
    run = read_run(simulate("--producers", "2", "--consumers", "2", "--rate", "8Mb/s", "--event-size", "100kB",
                            "--duration", "2s", "--warmup", "1s", "--row-interval", "100ms"))
    seconds = short_run_rows.drawn(run).rows("consumer").seconds
    chart = next(chart for chart in burst_charts.bursts(run) if chart.name == "burst-second-0")
    assert (seconds[0], seconds[-1]) == (-1.0, 1.9) and chart.panels[0].lines[0].x[[0, -1]].tolist() == [-1000, 1900]
    assert chart.measured == (0, 900)


def test_runs_without_the_option_have_none(simulate):
    """A short run has short rows, but for its charts over time only."""
    run = read_run(simulate("--duration", "1s"))
    assert burst_charts.bursts(run) == [] and run.resolved["row_interval_asked_for"] is False
    for options in (("--duration", "20s"), ("--duration", "1s", "--row-interval", "1s")):
        run = read_run(simulate(*options))
        assert burst_charts.bursts(run) == [] and "row_interval_s" not in run.resolved
        assert not (run.directory / "bursts").exists()


def test_the_page_has_them(overflowing, no_pictures, tmp_path):
    page = tmp_path / "page.html"
    run = read_run(overflowing)
    written = write_report([run], page, tmp_path / "figures", ["png"], "")
    names = [path.stem for path in written]
    assert sum(name.startswith("burst-second-") for name in names) == len(burst_charts.worst_seconds(run))
    assert "in steps of 100 ms" in page.read_text()


def test_lines_are_found_wherever_they_lie(tmp_path):
    header = "begin_s,covered_s,received_bytes,blocked_s,free_slots_min\n"
    path = tmp_path / "rank-00001-consumer.csv"
    lines = [f"{tenth / 10:.2f},0.10,{tenth + 30},0," for tenth in range(-25, 100)]
    path.write_text(header + "\n".join(lines) + "\n9.9")  # killed in the middle of a line
    for first, last in ((-3, -3), (-1, 1), (3, 3), (9, 12)):
        table, = burst_rows.read_bursts([path, tmp_path / "absent.csv"], [(first, last)], 0.1)
        expected = [tenth + 30 if -25 <= tenth < 100 else np.nan for tenth in range(10 * first, 10 * last + 10)]
        np.testing.assert_array_equal(table.column("received_bytes")[0], expected)
        assert np.isnan(table.column("received_bytes")[1]).all() and np.isnan(table.column("free_slots_min")).all()
    partial = header + "-0.37,0.07,5,0,1\n-0.30,0.10,6,0,1\n"
    path.write_text(partial)
    table, = burst_rows.read_bursts([path], [(-1, -1)], 0.1)
    assert list(table.column("received_bytes")[0][6:8]) == [5, 6]


@pytest.mark.parametrize("content, problem", [
    ("second,phase\n", "line 1: the columns begin with 'second,phase'"),
    ("begin_s,covered_s,a\n0.00,0.10,1\nx,0.10,2\n", "line 3: 'x' in column begin_s is not a number"),
    ("begin_s,covered_s,a\n0.00,0.10,1\n0.10,0.10\n", "line 3: 2 values, expected 3"),
    ("begin_s,covered_s,a\n0.00,0.10,1\n0.10,0.10,x\n", "line 3: 'x' in column a is not a number"),
    ("begin_s,covered_s,a\n0.00,0.10,1\n7.00,0.10,2\n0.20,0.10,3\n0.30,0.10,4\n", "second 7 among"),
])
def test_broken_files_are_named_with_their_line(content, problem, tmp_path):
    path = tmp_path / "rank-00001-consumer.csv"
    path.write_text(content)
    with pytest.raises(ReportError, match=f"{path.name}.*{problem}"):
        burst_rows.read_bursts([path], [(0, 0)], 0.1)


def test_missing_files_are_a_remark(overflowing, tmp_path):
    copy = shutil.copytree(overflowing, tmp_path / "copy")
    (copy / "bursts/rank-00004-consumer.csv").unlink()
    run = read_run(copy)
    assert burst_charts.bursts(run)
    assert any("bursts/rank-00004-consumer.csv is missing" in remark for remark in run.remarks)
