"""The report page: its numbers are run.json's, its charts hold the rows, and strange text stays text."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from weir_report import report_command, run_charts
from weir_report.run import read_run

SOURCE = Path(report_command.__file__).parents[1]
FIGURES = ("over-time", "heat-map", "where-the-time-went")


def values_of(page):
    """{path in run.json: value} of the numbers on a page that say where they come from."""
    found = re.findall(r'data-path="([^"]*)" data-value="([^"]*)"', page)
    assert found
    return dict(found)


def value_at(record, path):
    steps = path.split(".")
    if steps[0] == "ranks":
        return next(rank for rank in record["ranks"] if rank["rank"] == int(steps[1]))[steps[2]]
    for step in steps:
        record = record[step]
    return record


@pytest.mark.parametrize("name", ["measured", "overflow", "interrupted"])
def test_numbers_of_the_page_are_those_of_the_record(stored, name, capsys):
    directory = stored(name)
    assert report_command.main([str(directory)]) == 0
    page = (directory / "report.html").read_text()
    record = json.loads((directory / "run.json").read_text())
    for path, value in values_of(page).items():
        assert value == str(value_at(record, path)), path
    for figure in FIGURES:
        for kind in ("png", "pdf", "svg"):
            assert (directory / "figures" / f"{figure}.{kind}").stat().st_size > 2000
        assert f'id="run-1-{figure}"' in page
    verdict = {"measured": "Sustained", "overflow": "NOT sustained", "interrupted": "Not judged"}[name]
    assert f"<strong>{verdict}</strong>" in page
    assert verdict in capsys.readouterr().out


def test_a_page_needs_nothing_from_outside(stored):
    directory = stored("measured")
    report_command.main([str(directory), "--figures", "none", "--quiet"])
    page = (directory / "report.html").read_text()
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page)
    assert not list((directory / "figures").iterdir())


def test_the_same_run_gives_the_same_page(stored):
    directory = stored("measured")
    pages = []
    for _ in range(2):
        report_command.main([str(directory), "--quiet"])
        pages.append((directory / "report.html").read_bytes())
        pages.append((directory / "figures" / "over-time.svg").read_bytes())
    assert pages[0] == pages[2] and pages[1] == pages[3]


def test_text_from_outside_is_escaped(stored):
    directory = stored("measured")
    record = json.loads((directory / "run.json").read_text())
    nasty = "<script>alert('x')</script>"
    record["labels"] = {"label": nasty}
    record["verdict"]["text"] = nasty
    record["plan"]["policy"] = nasty
    for rank in record["ranks"]:
        rank["host"] = nasty
    (directory / "run.json").write_text(json.dumps(record))
    assert report_command.main([str(directory), "--quiet", "--figures", "none"]) == 0
    page = (directory / "report.html").read_text()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_the_word_on_the_network_stands_beside_the_verdict(stored):
    directory = stored("measured")
    record = json.loads((directory / "run.json").read_text())
    record["network"] = {"mechanism": "lossy", "evidence": "lossy: 279 tcp.retransmitted_segments (on eb01)"}
    (directory / "run.json").write_text(json.dumps(record))
    assert report_command.main([str(directory), "--quiet", "--figures", "none"]) == 0
    assert "Network: lossy: 279 tcp.retransmitted_segments (on eb01)." in (directory / "report.html").read_text()


def test_several_runs_share_a_page(stored, tmp_path):
    runs = [stored("measured"), stored("overflow"), stored("interrupted")]
    assert report_command.main([*map(str, runs), "--out", str(tmp_path / "all" / "page.html"), "--figures", "png"]) == 0
    page = (tmp_path / "all" / "page.html").read_text()
    assert page.count('<section class="run"') == 3
    assert [f'href="#run-{number}"' in page for number in (1, 2, 3)] == [True] * 3
    assert (tmp_path / "all" / "figures" / "1-small-measured-run" / "over-time.png").exists()


@pytest.mark.parametrize("arguments, words", [
    (["nowhere"], "weir-report: nowhere: no such directory"),
    (["--figures", "gif", "RUN"], "--figures: 'gif' is not one of png, pdf, svg, none"),
])
def test_bad_input_is_one_line_and_status_2(stored, arguments, words, capsys):
    arguments = [str(stored("measured")) if argument == "RUN" else argument for argument in arguments]
    assert report_command.main(arguments) == 2
    printed = capsys.readouterr()
    assert words in printed.err and printed.err.count("\n") == 1 and not printed.out


def test_an_interruption_ends_the_command_without_a_trace(stored):
    directory = stored("measured")
    program = ("import os, signal, sys; from weir_report import report_command as command; "
               "command.read_run = lambda path: os.kill(os.getpid(), signal.SIGINT); command.main(['run'])")
    ended = subprocess.run([sys.executable, "-c", program], cwd=directory, capture_output=True, text=True, timeout=60,
                           check=False, env={**os.environ, "PYTHONPATH": str(SOURCE)})
    assert ended.returncode == -signal.SIGINT and not ended.stderr


def test_a_page_that_cannot_be_written_is_said(stored, capsys):
    assert report_command.main([str(stored("measured")), "--out", "/proc/nowhere/page.html"]) == 2
    assert "/proc/nowhere" in capsys.readouterr().err


def test_the_series_of_events_is_drawn(stored):
    run = read_run(stored("measured"))
    assert run_charts.by_events(run) is None  # of a version that had none
    run.record["event_series"] = {"events": [1000, 2000, 3000], "at_s": [0.5, 1.0, 2.0], "bytes": [10**6, 2 * 10**6, 3 * 10**6],
                                  "events_without_credit": [0, 100, 350]}
    run.resolved["generation"] = "steady"
    chart = run_charts.by_events(run)
    assert chart.x_title == "events done"
    rate, time, without = chart.panels
    assert rate.unit == "Mb/s" and list(rate.lines[0].y) == pytest.approx([16, 16, 8])
    assert list(rate.lines[0].x) == [500, 1500, 2500]
    assert list(time.lines[0].y) == pytest.approx([0.5, 0.5, 1.0])
    assert list(without.lines[0].y) == pytest.approx([0, 10, 25])
    run.resolved["generation"] = "saturate"  # there is always an event more
    assert len(run_charts.by_events(run).panels) == 2


def test_gaps_of_senders_in_step_are_drawn(stored):
    run = read_run(stored("measured"))
    assert run_charts.gaps(run) is None  # not shaped
    run.record["latency"]["send_gap"] = {"count": 100, "p50_us": 25, "buckets": {"upper_us": [10, 25, 2000], "events": [9, 90, 1]}}
    run.record["latency"]["pacing_error"] = {"count": 100, "p50_us": 0.001, "buckets": {"upper_us": [0.001, 2000], "events": [99, 1]}}
    run.record["latency"]["receive_gap"] = {"count": 0}
    senders, late = run_charts.gaps(run).panels
    line = senders.lines[0]  # a rectangle per bucket; the long one is left to the latencies
    assert list(line.x) == pytest.approx([10 * 31 / 32, 10 * 31 / 32, 10, 10, 25 * 31 / 32, 25 * 31 / 32, 25, 25])
    assert list(line.y) == [0, 9, 9, 0, 0, 90, 90, 0]
    assert max(late.lines[0].y) == 99


def test_events_built_are_drawn(simulate):
    run = read_run(simulate("--scenario", "atlas-6x1-push", "--rate", "400Mb/s", "--event-size", "10kB", "--duration", "2s"))
    built, again = run_charts.over_time(run).panels[-2:]
    assert (built.title, again.title) == ("Events built", "Fragments asked for again")
    assert built.lines[0].y.sum() == run.record["totals"]["finished_events"]
    assert again.lines[0].y.sum() == run.record["totals"]["asked_again"] > 0


def test_charts_draw_the_rows(stored):
    run = read_run(stored("measured"))
    producers, consumers, blocked, evenness, occupancy = run_charts.over_time(run).panels
    rows = run.rows("consumer")
    rates = 8 * rows.column("received_bytes") / rows.column("covered_s")
    by_name = {line.name: line for line in consumers.lines}
    assert consumers.unit == "Mb/s"
    assert by_name["consumer 1 on vm"].y == pytest.approx(rates[1] / 1e6)
    assert by_name["lowest"].y == pytest.approx(rates.min(axis=0) / 1e6)
    assert by_name["mean"].y == pytest.approx(rates.mean(axis=0) / 1e6)
    assert by_name["lowest"].notes[2] == f"consumer {rates[:, 2].argmin()} on vm"
    masks = rows.column("blocked_samples_50ms").astype(int)
    most = max(sum(mask >> bit & 1 for mask in masks[:, 3]) for bit in range(20))
    assert {line.name: line for line in blocked.lines}["most at one instant"].y[3] == most
    squares = (rates**2).sum(axis=0)
    received = squares > 0
    assert evenness.lines[0].y[received] == pytest.approx((rates.sum(axis=0)**2 / (len(rates) * squares))[received])
    worst = {line.name: line for line in occupancy.lines}["highest"].y
    assert worst.max() == pytest.approx(run.record["totals"]["max_occupancy"], abs=1e-6)
    assert len(producers.lines) == 3 + 3


def test_shares_of_time_are_stacked_to_all_of_it(stored):
    chart = run_charts.where_the_time_went(read_run(stored("measured")))
    assert [panel.title for panel in chart.panels] == ["Producers' streams", "Consumers", "Scheduler"]
    inner = slice(1, -1)
    for panel in chart.panels:
        assert panel.areas[0].low[inner] == pytest.approx(0)
        assert panel.areas[-1].high[inner] == pytest.approx(100, abs=0.5)
        for lower, upper in zip(panel.areas, panel.areas[1:]):
            assert (lower.high == upper.low).all()


def test_many_ranks_become_groups_and_a_band(simulate):
    run = read_run(simulate("--producers", "40", "--consumers", "300", "--rate", "80Mb/s", "--event-size", "1MB",
                            "--duration", "3s", "--warmup", "0s"))
    consumers = run_charts.over_time(run).panels[1]
    assert not [line for line in consumers.lines if line.style == "member"]
    assert [area.name for area in consumers.areas] == ["80 % of consumers"]
    view = run_charts.heat_map(run).views[0]
    assert len(view.values) == len(view.row_names) == run_charts.CELLS_MAX
    rows = run.rows("consumer")
    rates = 8 * rows.column("received_bytes") / rows.column("covered_s")
    assert np.nanmin(view.values, axis=0) == pytest.approx(np.nanmin(rates, axis=0) / 1e6)


def test_counters_of_hosts_are_drawn(stored):
    directory = stored("measured")
    (directory / "hosts").mkdir()
    for host, pauses in (("eb01", (0, 5, 7)), ("eb02", (1, 0, 0))):
        lines = [f"{second},measure,,{pauses[second]},{100 * second},0" for second in range(3)]
        (directory / "hosts" / f"{host}.csv").write_text(
            "second,phase,wall_time,mlx5_0.rx_prio3_pause,mlx5_0.port_rcv_packets,mlx5_0.out_of_buffer\n"
            + "\n".join(lines) + "\n")
    chart = run_charts.counters(read_run(directory))
    titles = [panel.title for panel in chart.panels]
    assert titles == ["Payload received, all consumers", "mlx5_0.rx_prio3_pause (most on eb01: 12)",
                      "mlx5_0.port_rcv_packets (most on eb01: 300)"]
    assert list(chart.panels[1].lines[0].y) == [1, 5, 7]


def test_latency_curves_end_at_the_slowest_event(stored):
    directory = stored("measured")
    record = json.loads((directory / "run.json").read_text())
    record["latency"]["transfer"] = {"count": 1000, "p50_us": 10, "p90_us": 10, "p99_us": 20, "p99_9_us": 20, "max_us": 39.5,
                                     "buckets": {"upper_us": [10, 20, 40], "events": [900, 99, 1]}}
    (directory / "run.json").write_text(json.dumps(record))
    line = {line.name: line for line in run_charts.latencies(read_run(directory)).lines}["transfer"]
    assert line.x == pytest.approx([10 * 31 / 32, 10, 20, 39.5])
    assert line.y == pytest.approx([1, 0.1, 0.001, 0.001])
