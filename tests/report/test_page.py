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
from weir_report.key_figures import key_figures
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
    # Not a share of the events that were done meanwhile: that came to 450 %.
    assert list(without.lines[0].y) == [0, 100, 250] and without.unit == "events per step"
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


def test_ranks_are_compared_over_enough_events(simulate):
    """Perfect, and in every second half of the consumers get nothing: an event of a second's data takes 0.4 s to come."""
    run = read_run(simulate("--producers", "2", "--consumers", "4", "--rate", "10Gb/s", "--event-size", "1.25GB", "--chunk-size",
                            "1GB", "--duration", "40s", "--warmup", "4s"))
    assert run.record["rate_window_s"] == run_charts.rate_window(run) == 16
    alone = run_charts.rates(run, "consumer")
    assert (alone.min(axis=0)[4:-1] == 0).all()
    compared = run_charts.compared_rates(run, "consumer")
    assert np.isnan(compared[:, :15]).all()
    assert compared[2, 30] == pytest.approx(alone[2, 15:31].mean())
    measured = compared[:, 20:44]
    assert measured.min() > 0.85 * 5e9
    assert np.nanmin(run_charts.evenness_by_second(run)[20:44]) > 0.98
    views = {view.title: view for view in run_charts.heat_map(run).views}
    assert "Consumers: throughput, mean of 16 s" in views
    for rank in run.ranks("consumer"):
        first = rank["slowest_window_second"] + 4
        assert rank["slowest_window_bits_per_second"] == pytest.approx(alone[rank["index"], first:first + 16].mean(), rel=1e-6)
    figures = key_figures(run)
    assert figures["slowest_consumer_lowest_second"] == min(rank["slowest_window_bits_per_second"]
                                                            for rank in run.ranks("consumer"))


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
    run = read_run(simulate("--producers", "40", "--consumers", "300", "--rate", "80Mb/s", "--event-size", "100kB",
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
    assert titles == ["Payload received, all consumers",
                      "mlx5_0.rx_prio3_pause (13 in the measured seconds, most on eb01: 12)",
                      "mlx5_0.port_rcv_packets (600 in the measured seconds, most on eb01: 300)"]
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


def edited(directory, change):
    """`change` is called with run.json as a dictionary."""
    record = json.loads((directory / "run.json").read_text())
    change(record)
    (directory / "run.json").write_text(json.dumps(record))
    return directory


def page_of(directory, *options):
    assert report_command.main([str(directory), "--quiet", "--figures", "none", *options]) == 0
    return (directory / "report.html").read_text()


def tile(page, title):
    """The text of a tile, by the beginning of its title."""
    found = re.findall(r'<div class="tile"><b[^>]*>([^<]*)</b><span>([^<]*)</span>', page)
    return next((shown, whole) for shown, whole in found if whole.startswith(title))


@pytest.mark.parametrize("overflow, words", [("count", "above 1: overflow, counted and kept"),
                                             ("drop", "full: what is generated then is lost")])
def test_what_a_full_buffer_means_depends_on_the_option(stored, overflow, words):
    run = read_run(edited(stored("overflow"), lambda record: record["plan"].update(overflow=overflow)))
    occupancy = next(panel for panel in run_charts.over_time(run).panels if "occupancy" in panel.title)
    assert [line.name for line in occupancy.lines if line.style == "rule"] == [words]


def late_run(record):
    record["verdict"].update(on_time=False, sets=15, late_sets=4, first_late_second=2, late_producers=[1, 0],
                             worst_late_s=0.35, least_slack_s=-0.35, lost_events=0)
    for rank in record["ranks"]:
        if rank["role"] == "producer":
            rank.update(sets=5, late_sets=3 if rank["index"] == 1 else 0, least_slack_s=-0.35 if rank["index"] == 1 else 0.2,
                        first_late_second=2 if rank["index"] == 1 else None)


def test_late_sets_are_shown_with_second_producer_and_how_late(stored):
    directory = edited(stored("measured"), late_run)
    for path in (directory / "ranks").glob("*-producer.csv"):
        lines = path.read_text().splitlines()
        counts = ["late_sets"] + ["1" if line.startswith(("2,", "3,")) else "0" for line in lines[1:]]
        path.write_text("".join(f"{line},{count}\n" for line, count in zip(lines, counts)))
    page = page_of(directory)
    shown, title = tile(page, "sets late, of 15")
    assert shown == "4 (26.67 %)" and title == "sets late, of 15: from second 2 on, worst producer 1 on vm"
    assert tile(page, "latest departure after its deadline")[0] == "350 ms"
    assert "<strong>Sustained, but not on time</strong>" in page
    assert "late sets (first second)" in page and "3 (60 %) (second 2)" in page
    panel = next(panel for panel in run_charts.over_time(read_run(directory)).panels if panel.title.startswith("Late sets"))
    assert panel.lines[0].y.sum() == 2 * len(list((directory / "ranks").glob("*-producer.csv")))


def test_a_run_on_time_shows_its_slack_and_an_older_one_nothing(stored):
    def on_time(record):
        record["verdict"].update(on_time=True, sets=15, late_sets=0, first_late_second=None, late_producers=[],
                                 worst_late_s=None, least_slack_s=0.62, lost_events=0)
    page = page_of(edited(stored("measured"), on_time))
    assert tile(page, "sets late, of 15")[0] == "0"
    assert tile(page, "least slack between the last departure and its deadline")[0] == "620 ms"
    assert "<strong>Sustained</strong>" in page
    older = page_of(stored("overflow"))
    assert "sets late" not in older and "slack" not in older and "Late sets" not in older


@pytest.mark.parametrize("lost, generated, shown", [
    (0, 1000, "0"), (6, 100_000, "6 (6e-05)"), (981, 2386, "981 (41.11 %)"), (1, 10**9, "1 (1e-09)"),
    (92, 113_400, "92 (0.081 %)"), (999_999, 1_000_000, "999999 (&gt; 99.99 %)"), (5, None, "5")])
def test_losses_have_a_count_and_a_share(stored, lost, generated, shown):
    page = page_of(edited(stored("measured"),
                          lambda record: record["totals"].update(lost_events=lost, generated_events=generated)))
    assert tile(page, "events lost")[0] == shown


def test_missing_datagrams_have_a_count_and_a_share(stored):
    page = page_of(edited(stored("measured"), lambda record: record.update(
        datagrams={"sent": 990_000, "sent_again": 10_000, "missing": 128})))
    assert tile(page, "datagrams that did not arrive")[0] == "128 (0.013 %)"


def test_a_file_that_is_missing_is_said(simulate):
    directory = simulate("--producers", "1", "--consumers", "1", "--rate", "80Mb/s", "--event-size", "1MB",
                         "--duration", "2s", "--warmup", "0s")
    assert "missing" not in page_of(directory)
    (directory / "traffic.csv").unlink()
    edited(directory, lambda record: record.update(hosts=[{"name": "eb01", "file": "hosts/eb01.csv", "totals": {}}]))
    page = page_of(directory)
    assert f"{directory}/traffic.csv is missing: who sent how much to whom is not shown." in page
    assert f"{directory}/hosts/eb01.csv is missing: counters of these hosts are not drawn." in page


def test_a_full_disk_is_named_with_the_file(stored, capsys):
    directory = stored("measured")
    page = directory / "page.html"
    page.symlink_to("/dev/full")
    assert report_command.main([str(directory), "--out", str(page), "--figures", "none"]) == 2
    assert capsys.readouterr().err == f"weir-report: {page}: No space left on device\n"
    (directory / "figures" / "over-time.png").symlink_to("/dev/full")
    assert report_command.main([str(directory), "--figures", "png"]) == 2
    assert capsys.readouterr().err == f"weir-report: {directory}/figures/over-time.png: No space left on device\n"
