"""The charts of a run hold its rows and its record's numbers. Nothing is rendered here."""


import numpy as np
import pytest
from conftest import editing

from weir_runs.figures import charts, counter_charts, heat_maps, latency_charts, svg_heat_maps, time_charts
from weir_runs.reading import host_counters, series
from weir_runs.reading.key_figures import key_figures
from weir_runs.reading.run import read_run


def test_the_series_of_events_is_drawn(stored):
    run = read_run(stored("measured"))
    assert time_charts.by_events(run) is None  # of a version that had none
    run.record["event_series"] = {"events": [1000, 2000, 3000], "at_s": [0.5, 1.0, 2.0],
                                  "bytes": [10**6, 2 * 10**6, 3 * 10**6], "events_without_credit": [0, 100, 350]}
    run.resolved["generation"] = "steady"
    chart = time_charts.by_events(run)
    assert chart.x_title == "events done"
    rate, time, without = chart.panels
    assert rate.unit == "Mb/s" and list(rate.lines[0].y) == pytest.approx([16, 16, 8])
    assert list(rate.lines[0].x) == [500, 1500, 2500]
    assert list(time.lines[0].y) == pytest.approx([0.5, 0.5, 1.0])
    # Not a share of the events that were done meanwhile: that came to 450 %.
    assert list(without.lines[0].y) == [0, 100, 250] and without.unit == "events per step"
    run.resolved["generation"] = "saturate"  # there is always an event more
    assert len(time_charts.by_events(run).panels) == 2


def test_gaps_of_senders_in_step_are_drawn(stored):
    run = read_run(stored("measured"))
    assert latency_charts.gaps(run) is None  # not shaped
    run.record["latency"]["send_gap"] = {"count": 100, "p50_us": 25,
                                         "buckets": {"upper_us": [10, 25, 2000], "events": [9, 90, 1]}}
    run.record["latency"]["pacing_error"] = {"count": 100, "p50_us": 0.001,
                                             "buckets": {"upper_us": [0.001, 2000], "events": [99, 1]}}
    run.record["latency"]["receive_gap"] = {"count": 0}
    senders, late = latency_charts.gaps(run).panels
    line = senders.lines[0]  # a rectangle per bucket; the long one is left to the latencies
    assert list(line.x) == pytest.approx([10 * 31 / 32, 10 * 31 / 32, 10, 10, 25 * 31 / 32, 25 * 31 / 32, 25, 25])
    assert list(line.y) == [0, 9, 9, 0, 0, 90, 90, 0]
    assert max(late.lines[0].y) == 99


def test_events_built_are_drawn(simulate):
    run = read_run(simulate("--scenario", "atlas-6x1-push", "--rate", "400Mb/s", "--event-size", "10kB",
                            "--duration", "2s"))
    built, again = time_charts.throughput(run).panels[-2:]
    assert (built.title, again.title) == ("Events built", "Fragments requested again")
    assert built.lines[0].y.sum() == run.record["totals"]["finished_events"]
    assert again.lines[0].y.sum() == run.record["totals"]["asked_again"] > 0


def test_charts_draw_the_rows(stored):
    run = read_run(stored("measured"))
    producers, consumers, blocked, fairness = time_charts.throughput(run).panels
    occupancy, = time_charts.buffers(run).panels
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
    assert fairness.lines[0].y[received] == pytest.approx((rates.sum(axis=0)**2 / (len(rates) * squares))[received])
    worst = {line.name: line for line in occupancy.lines}["highest"].y
    assert worst.max() == pytest.approx(run.record["totals"]["max_occupancy"], abs=1e-6)
    assert len(producers.lines) == 3 + 3 + 1
    target = producers.lines[-1]
    assert target.style == "target" and list(target.y) == [run.resolved["rate_bits_per_second"] / 1e6]


def test_ranks_are_compared_over_enough_events(simulate):
    """Perfect, and in every second half of the consumers get nothing: an event of a second's data takes 0.4 s to
    come."""
    run = read_run(simulate("--producers", "2", "--consumers", "4", "--rate", "10Gb/s", "--event-size", "1.25GB",
                            "--chunk-size", "1GB", "--duration", "40s", "--warmup", "4s"))
    assert run.record["rate_window_s"] == series.rate_window(run) == 16
    alone = series.rates(run, "consumer")
    assert (alone.min(axis=0)[4:-1] == 0).all()
    compared = series.compared_rates(run, "consumer")
    assert np.isnan(compared[:, :15]).all()
    assert compared[2, 30] == pytest.approx(alone[2, 15:31].mean())
    measured = compared[:, 20:44]
    assert measured.min() > 0.85 * 5e9
    assert np.nanmin(series.fairness_by_second(run)[0][20:44]) > 0.98
    views = {view.title: view for view in heat_maps.ranks_by_second(run).views}
    assert "Consumers: throughput, mean of 16 s" in views
    for rank in run.ranks("consumer"):
        first = rank["slowest_window_second"] + 4
        assert rank["slowest_window_bits_per_second"] == pytest.approx(alone[rank["index"], first:first + 16].mean(),
                                                                       rel=1e-6)
    figures = key_figures(run)
    assert figures["slowest_consumer_lowest_second"] == min(rank["slowest_window_bits_per_second"]
                                                            for rank in run.ranks("consumer"))


def test_shares_of_time_are_stacked_to_all_of_it(stored):
    chart = time_charts.where_the_time_went(read_run(stored("measured")))
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
    consumers = time_charts.throughput(run).panels[1]
    assert not [line for line in consumers.lines if line.style == "member"]
    assert [area.name for area in consumers.areas] == ["80 % of consumers"]
    view = next(view for view in heat_maps.ranks_by_second(run).views if view.title == "Consumers: throughput")
    assert len(view.values) == len(view.row_names) == heat_maps.CELLS_MAX
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
    chart = counter_charts.counters(read_run(directory))
    titles = [panel.title for panel in chart.panels]
    assert titles == ["Payload received, all consumers",
                      "mlx5_0.rx_prio3_pause (13 in the measured seconds, most on eb01: 12)",
                      "mlx5_0.port_rcv_packets (600 in the measured seconds, most on eb01: 300)"]
    assert list(chart.panels[1].lines[0].y) == [1, 5, 7]
    assert "Together" not in chart.caption
    with editing(directory) as record:
        record["hosts"] = [{"name": "eb01", "file": "hosts/eb01.csv", "totals": {},
                            "families": {"dropped_by_hosts": 90_000, "tcp_timeouts": 0},
                            "families_by_source": {"eth0": {"dropped_by_hosts": 50_000},
                                                   "udp": {"dropped_by_hosts": 40_000}, "tcp": {"tcp_timeouts": 0}}}]
    assert counter_charts.counters(read_run(directory)).caption.endswith(
        " Together: packets dropped by hosts 90000 (eth0 on eb01 50000 and udp on eb01 40000).")


def test_counters_that_were_gone_or_reset_are_not_0(stored):
    directory = stored("measured")
    (directory / "hosts").mkdir()
    rows = ["-1,warmup,,4,100", "0,measure,,,5", "1,measure,,,", "2,measure,,,7"]
    (directory / "hosts" / "eb01.csv").write_text(
        "second,phase,wall_time,mlx5_0.out_of_sequence,eth0.rx_prio3_pause\n" + "\n".join(rows) + "\n")
    with editing(directory) as record:
        record["seconds"] = 3
        record["hosts"] = [{"name": "eb01", "file": "hosts/eb01.csv", "totals": {"eth0.rx_prio3_pause": 12},
                            "gaps": [{"source": "mlx5_0", "what": "gone", "second": -1,
                                      "counters": ["out_of_sequence"]},
                                     {"source": "eth0", "what": "reset", "second": 1,
                                      "counters": ["rx_prio3_pause"]}]}]
    titles = [panel.title for panel in counter_charts.counters(read_run(directory)).panels]
    assert titles[1:] == ["eth0.rx_prio3_pause (12 in the measured seconds, on eb01; reset on eb01 in second 1)",
                          "mlx5_0.out_of_sequence (not known in the measured seconds; missing on eb01 from second 0 "
                          "on)"]
    assert host_counters.missing([read_run(directory)]) == (
        f"What hosts counted is of part of the run in 1 run: counters were gone or reset (first: {directory.name}, "
        "mlx5_0.out_of_sequence on eb01, gone from second 0).")


def test_latency_curves_end_at_the_slowest_event(stored):
    directory = stored("measured")
    with editing(directory) as record:
        record["latency"]["transfer"] = {"count": 1000, "p50_us": 10, "p90_us": 10, "p99_us": 20, "p99_9_us": 20,
                                         "max_us": 39.5,
                                         "buckets": {"upper_us": [10, 19.5, 20, 40], "events": [900, 49, 50, 1]}}
    line = {line.name: line for line in latency_charts.latencies(read_run(directory)).panels[0].lines}["transfer"]
    # In milliseconds, as the latest delivery of this run took more than 10 ms.
    # Level where no event is; the two buckets between 10 and 20 us that have one are side by side.
    assert 1e3 * line.x == pytest.approx([10 * 31 / 32, 10, 19.5 * 31 / 32, 19.5, 20, 39.5 * 31 / 32, 39.5])
    assert line.y == pytest.approx([1, 0.1, 0.1, 0.051, 0.001, 0.001, 0.001])


@pytest.mark.parametrize("overflow, words", [("count", "limit: above 1 is overflow"),
                                             ("drop", "full: what is generated then is lost")])
def test_what_a_full_buffer_means_depends_on_the_option(stored, overflow, words):
    run = read_run(stored("overflow"))
    run.record["plan"]["overflow"] = overflow
    occupancy = next(panel for panel in time_charts.buffers(run).panels if "occupancy" in panel.title)
    assert [line.name for line in occupancy.lines if line.style == "limit"] == [words]
    overflow, *_ = occupancy.areas
    assert overflow.name == "overflow"
    assert (overflow.low == 1).all() and overflow.high.max() == pytest.approx(run.record["totals"]["max_occupancy"])


def test_what_a_set_fills_is_explained(stored, simulate):
    """A buffer of one set is full whenever a set has been generated, which is healthy."""
    assert ("A set is generated at once and fills the whole buffer"
            in time_charts.buffers(read_run(stored("measured"))).caption)
    chart = time_charts.buffers(read_run(simulate("--scenario", "lhcb2021-2", "--duration", "3s")))
    assert "fills 0.5 of the buffer" in chart.caption
    assert [line.name for line in chart.panels[0].lines if line.style == "target"] == ["one new set: 0.5"]
    steady = time_charts.buffers(read_run(simulate("--generation", "steady", "--rate", "80Mb/s", "--event-size", "1MB",
                                                   "--duration", "2s")))
    assert "set" not in steady.caption


def test_the_slowest_set_of_each_producer_is_drawn_with_its_deadline(stored, simulate):
    assert time_charts.slowest_sets(read_run(stored("measured"))) is None  # of a version that did not record the slack
    run = read_run(simulate("--scenario", "lhcb2021-2", "--duration", "3s"))
    chart = time_charts.slowest_sets(run)
    slack = [rank["least_slack_s"] for rank in run.ranks("producer")]
    bars, deadline = chart.panels[0].lines
    assert (bars.name, chart.panels[0].unit) == ("in time", "s")
    assert list(bars.y) == pytest.approx([1 - value for value in slack])
    assert chart.x_names[3] == "producer 3"
    assert (deadline.name, list(deadline.y)) == ("deadline: the next set, after 1 s", [1])


def test_line_rates_are_drawn_where_they_are_near(simulate):
    options = ("--producers", "4", "--consumers", "2", "--rate", "4Gb/s", "--event-size", "10MB", "--duration", "3s",
               "--producer-link", "100Gb/s", "--consumer-link", "10Gb/s")
    chart = time_charts.throughput(read_run(simulate(*options)))
    rules = [[(line.name, line.y[0]) for line in panel.lines if line.style in ("target", "link")]
             for panel in chart.panels[:2]]
    assert rules == [[("target 4 Gb/s", 4)], [("needed in the mean 8 Gb/s", 8), ("line rate 10 Gb/s", 10)]]
    assert "Line rates are far above: producers 100 Gb/s." in chart.caption


def test_the_line_rate_of_a_host_is_that_of_the_path_it_uses(stored):
    run = read_run(stored("measured"))
    assert series.line_rate(run, "producer") is None  # of a version that did not record it
    for index, rank in enumerate(run.record["ranks"]):
        rank["host"] = f"host{index}"
    ports = [{"device": "mlx5_0", "port": 1, "speed_bits_per_second": 100e9}, {"device": "mlx5_1", "port": 1}]
    interfaces = [{"name": "eth0", "speed_bits_per_second": 10e9}]
    run.record["hosts"] = [
        {"name": rank["host"], "settings": {"rdma_ports": ports, "interfaces": interfaces, "expected_paths": [
            {"rdma_port": "mlx5_0:1" if rank["role"] == "producer" else None, "interface": "eth0"}]}}
        for rank in run.record["ranks"]]
    assert series.line_rate(run, "producer") == 100e9 and series.line_rate(run, "consumer") == 10e9
    run.record["ranks"][-1]["host"] = run.record["ranks"][-2]["host"]  # they share a link
    assert series.line_rate(run, "consumer") is None


def test_all_latencies_of_a_run_have_one_unit(stored):
    run = read_run(stored("measured"))
    run.record["latency"] = {"transfer": {"count": 2, "max_us": 9000.0,
                                          "buckets": {"upper_us": [3, 10000], "events": [1, 1]}}}
    assert latency_charts.latency_unit(run)[0] == "us" and latency_charts.latency_number(run, 12.34) == "12.3"
    run.record["latency"]["delivery"] = {"count": 1, "max_us": 45000.0}
    chart = latency_charts.latencies(run)
    assert chart.x_title == "ms" and chart.panels[0].lines[0].x[-1] == 9


def test_axes_do_not_enlarge_noise():
    row = charts.Row("a", "blue", 100.01, marks=[charts.Mark(100.0, "x"), charts.Mark(100.03, "y")])
    chart = charts.RowChart("goodput", "Gb/s", [row], least_span=10.0)
    low, high = chart.range
    assert high - low == pytest.approx(10.0) and low < 100 < 100.03 < high
    row.marks, row.value = [charts.Mark(0.0, "x"), charts.Mark(0.1, "y")], 0.05
    assert chart.range[0] == pytest.approx(-0.4) and chart.range[1] >= 0.1
    assert charts.Panel("", "", lines=[charts.Line("", np.zeros(2), np.array([0.5, np.nan]),
                                                   "mean")], least_top=1.2).top == 1.2


def test_dark_is_more_in_every_heat_map(stored):
    run = read_run(stored("measured"))
    for view in heat_maps.ranks_by_second(run).views:
        pixels = svg_heat_maps.levels(view.values, view.high)
        known = np.isfinite(view.values)
        assert (np.diff(pixels[known][np.argsort(view.values[known])].astype(int)) >= 0).all()
        assert (pixels[view.values == 0] == 0).all()
    palette = svg_heat_maps._palette()
    assert [tuple(palette[3 * level:3 * level + 3]) for level in (0, 254)] == [
        tuple(bytes.fromhex(colour[1:])) for colour in (charts.HEAT_COLOURS[0], charts.HEAT_COLOURS[-1])]
    brightness = [sum(int(colour[i:i + 2], 16) for i in (1, 3, 5)) for colour in charts.HEAT_COLOURS]
    assert brightness == sorted(brightness, reverse=True)
