"""The charts of a comparison hold the runs' numbers, and how they are drawn."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from comparing import capacity_of, make  # noqa: F401
from comparing import run as compare_runs
from conftest import ROOT

from weir_compare.comparison import answer_charts, axis_curves, comparison, run_charts
from weir_compare.comparison.comparison_page import page_text
from weir_compare.comparison.run_groups import Group
from weir_runs.figures import charts, svg_figures, svg_plots
from weir_runs.reading.run import read_run


@pytest.fixture
def compared_runs(make):  # noqa: F811
    """compared_runs({setting: [goodput of each run]}, **more): the report, and its groups. `more`: for each setting."""
    def build(settings, **more):
        groups = [Group(f"switch={name}",
                        [read_run(make(f"{name}-{index}", goodput=value, minute=10 * index + place,
                                       **{key: values[name] for key, values in more.items() if name in values}))
                         for index, value in enumerate(goodputs)])
                  for place, (name, goodputs) in enumerate(settings.items())]
        return comparison.compare(groups[0], groups[1:], comparison.Settings(decide_by="goodput"))
    return build


def test_the_typical_run_is_the_one_in_the_middle():
    assert run_charts.typical([5.0, 1.0, 3.0]) == 2
    assert run_charts.typical([4.0, 1.0, 3.0, 2.0]) == 3  # the lower one of two
    assert run_charts.typical([None, 7.0, None]) == 1 and run_charts.typical([None]) == 0


def test_long_runs_keep_their_worst_seconds(stored):
    run_ = read_run(stored("measured"))
    rows = run_charts.side_by_side([Group("a", [run_])], [0], ["blue"])
    occupancy, rates = rows[:2]
    assert occupancy.plots[0].lines[0].y.max() == pytest.approx(run_.rows("producer").column("occupancy_peak").max())
    # What came in a tenth of a second of the warm-up is no rate of a second.
    rows = run_.rows("consumer")
    assert rows.seconds[0] < run_charts.series.measured_seconds(run_)[0]
    rows._columns["covered_s"] = rows.column("covered_s").copy()  # which is one number so far
    for covered, is_drawn in ((0.9, True), (0.1, False)):
        rows.column("covered_s")[:, 0] = covered
        drawn = run_charts.side_by_side([Group("a", [run_])], [0], ["blue"])[1].plots[0].lines[0]
        assert np.isfinite(drawn.y[0]) == is_drawn and np.isfinite(drawn.y[1:]).all()
    assert rates.unit == "Mb/s" and rates.plots[0].lines[-1].name == "planned rate"


def test_the_ranking_has_every_run_and_what_is_certain(compared_runs):
    report = compared_runs({"pfc": [1.0, 1.01, 1.02, 1.0, 1.01], "ecn": [0.7, 0.71, 0.7, 0.72, 0.71],
                            "none": [0.705, 0.7, 0.715, 0.71, 0.72]})
    chart = answer_charts.ranking_chart(report.answer, report.groups)
    assert [row.name for row in chart.rows][0] == "pfc" and [row.rank for row in chart.rows] == ["1", "2", "2"]
    assert chart.unit == "Mb/s" and all(len(row.marks) == 5 for row in chart.rows)
    first = chart.rows[0]
    assert first.low <= first.value <= first.high and first.value == np.median([mark.value for mark in first.marks])
    assert first.note.startswith("certain: better than") and "cannot tell from" in chart.rows[1].note
    assert re.fullmatch(r"\S+ Mb/s \(\S+ \.\. \S+ Mb/s\)", first.text)
    low, high = chart.range
    assert all(low < mark.value < high for row in chart.rows for mark in row.marks)


def test_what_is_not_counted_is_missing_and_not_zero(compared_runs):
    report = compared_runs({"pfc": [1.0, 1.01, 1.02], "ecn": [0.7, 0.71, 0.7], "old": [0.5, 0.51, 0.5]}, counters={
        "pfc": {"eth0": {"pause_frames_received": 500, "pause_time_received_us": 1_000_000},
                "mlx5_0": {"ecn_marked_packets": 0}},
        "ecn": {"eth0": {"pause_frames_received": 0},
                "mlx5_0": {"ecn_marked_packets": 900, "received_packets": 10_000}}})
    shown = {chart.title: {row.name: row for row in chart.rows}
             for chart in answer_charts.mechanism_charts(report.answer, report.groups)}
    assert list(shown) == ["pause time, received", "packets with an ECN mark"]  # sent pauses are in no chart
    pauses, marks = shown.values()
    assert pauses["pfc"].value > 0 and pauses["ecn"].value == 0.0 and not pauses["ecn"].missing  # no frame, no time
    assert pauses["old"].value is None and pauses["old"].missing == "not counted"
    assert marks["ecn"].text == "9 % of packets"
    assert marks["ecn"].value == pytest.approx(0.09) and marks["pfc"].value == 0.0 and marks["old"].missing
    assert "RDMA retransmissions" in answer_charts.not_counted(report.answer)
    assert "old</span>" in page_text(report, "") and page_text(report, "").count("not counted</text>") == 2


def test_a_capacity_shows_limits_and_the_runs_around_them(make):  # noqa: F811
    limits = {"20kB": [61e9, 62e9, 61.5e9], "100kB": [80e9, 80.5e9, 81e9], "1MB": [70e9, 69e9, 70.5e9]}
    groups = [Group(f"switch={name}", [read_run(make(f"{name}-{number}-{end}", goodput=0.1 + number + place,
                                                     plan={"rate": f"{place}b/s"}))
                                       for number in range(3) for end in ("held", "failed")])
              for place, name in enumerate(list(limits)[:2])]  # of the third no run is left
    report = comparison.compare_capacities(capacity_of(limits), groups)
    chart = answer_charts.ranking_chart(report.answer, run_charts.shown_runs(report).every, report.capacity)
    assert [row.name for row in chart.rows] == ["switch=100kB", "switch=1MB", "switch=20kB"] and chart.unit == "Gb/s"
    best = chart.rows[0]
    assert best.value == pytest.approx(80.5) and best.low < 80.5 < best.high
    # Trials far from all limits are left out.
    assert sorted((mark.value, mark.held) for mark in best.marks) == pytest.approx(
        sorted([(0.99 * limit / 1e9, True) for limit in limits["100kB"]]
               + [(1.01 * limit / 1e9, False) for limit in limits["100kB"]]))
    shown = run_charts.shown_runs(report)
    assert [[run_.directory.name for run_ in group.runs] for group in shown.groups] == [
        [f"100kB-{number}-held" for number in range(3)], [], [f"20kB-{number}-held" for number in range(3)]]
    assert shown.chosen[0] == 1  # the round in the middle
    page = page_text(report, "")
    assert "the limit of each searched with 27 runs in all" in page
    assert "<h2>Against threshold</h2>" in page


def test_numbers_are_axes_and_words_are_not():
    settings = [{"threshold": f"ecn-{size}", "policy": policy, "few": "1"}
                for size in ("100kB", "20kB", "1MB") for policy in ("a", "b", "c")]
    axis, = axis_curves.numeric_axes(settings)
    assert axis.name == "threshold" and axis.is_log
    assert list(axis.numbers.items()) == [("ecn-20kB", 2e4), ("ecn-100kB", 1e5), ("ecn-1MB", 1e6)]
    assert axis_curves.number_of("4KiB") == (4096, "B") and axis_curves.number_of("10ms") == (0.01, "s")
    assert axis_curves.number_of("0.5") == (0.5, "") and axis_curves.number_of("on") is None
    # 1kB and 2ms are no axis.
    assert axis_curves.numeric_axes([{"x": text} for text in ("1kB", "2ms", "3kB")]) == []
    values = [(1e9 * (index + 1), None, None) for index in range(9)]
    values[4] = (None, None, None)
    (name, (row,)), = axis_curves.curves(settings, [("rate", "b/s", values), ("absent", "s", [(None, None, None)] * 9)])
    assert name == "threshold" and row.unit == "Gb/s" and [text for _, text in row.x_ticks] == ["20kB", "100kB", "1MB"]
    # Labels that would lie on others are left out, and so are the words behind a number.
    (_, (row,)), = axis_curves.curves([{"x": f"profile {n}-slots with a long name"} for n in (1, 2, 3, 100)],
                                      [("rate", "b/s", [(1e9 * n, None, None) for n in range(4)])])
    assert [text for _, text in row.x_ticks] == ["1", "2", "3", "100"] and row.x_log
    (_, (row,)), = axis_curves.curves([{"x": f"{n}kB"} for n in (100, 101, 110, 140)],
                                      [("rate", "b/s", [(1e9 * n, None, None) for n in range(4)])])
    assert [text for _, text in row.x_ticks] == ["100kB", "110kB", "140kB"]
    assert [line.y.size for line in row.plots[0].lines] == [4]


def test_curves_have_a_line_for_each_value_of_other_axes():
    settings = [{"threshold": f"ecn-{size}", "policy": policy, "few": "1"}
                for size in ("100kB", "20kB", "1MB") for policy in ("a", "b", "c")]
    values = [(1e9 * (index + 1), None, None) for index in range(9)]
    values[4] = (None, None, None)
    (_, (row,)), = axis_curves.curves(settings, [("rate", "b/s", values)])
    lines = {line.name: line for line in row.plots[0].lines}
    assert list(lines["policy=a few=1"].y) == [4, 1, 7] and list(lines["policy=b few=1"].y) == [2, 8]


def test_the_page_needs_no_library_for_drawing(make, tmp_path):  # noqa: F811
    directories = [make(f"{side}-{index}", goodput=value + 0.01 * index) for side, value in (("old", 1.0), ("new", 0.8))
                   for index in range(3)]
    program = ("import sys; sys.modules['matplotlib'] = None; from weir_compare import compare_command; "
               "sys.exit(compare_command.main(sys.argv[1:]))")
    page = tmp_path / "page.html"
    subprocess.run([sys.executable, "-c", program, *directories[3:], "--against", *directories[:3], "--page",
                    str(page)], check=True,
                   capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src" / "report")})
    assert 'class="track"' in page.read_text()


def test_ticks_are_round_and_inside():
    assert svg_plots.nice_ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert svg_plots.nice_ticks(-0.4, 9.9) == [0, 2, 4, 6, 8]
    assert svg_plots.nice_ticks(61.2e-3, 63.9e-3) == pytest.approx([0.0615, 0.062, 0.0625, 0.063, 0.0635])
    assert svg_plots.nice_ticks(3, 3) == [3]


def test_marks_and_intervals_lie_where_their_values_are():
    row = charts.Row("a", "blue", 50.0, 40.0, 60.0,
                     [charts.Mark(0.0, "<low>", False), charts.Mark(100.0, "high", True)])
    chart = charts.RowChart("", "", [row])
    low, high = chart.range
    drawn = svg_figures.track(row, chart)
    at = 100 * (50 - low) / (high - low)
    assert f'<line x1="{at:.2f}'.rstrip("0").rstrip(".") in drawn
    assert drawn.count("<circle") == 1 and drawn.count("<path") == 1  # held, and not held
    assert "&lt;low&gt;" in drawn and 'aria-label="a, : 50 (40 to 60); 2 runs from 0 to 100"' in drawn
    panel = charts.Panel("", "", [charts.Line("", np.arange(4), np.array([1.0, np.nan, 2.0, 3.0]), colour="blue")])
    line, = re.findall('<path class="line"[^>]* d="([^"]*)"', svg_plots.plot(panel, charts.PlotRow("", "", [panel])))
    assert line.count("M") == 2


def test_many_long_runs_make_a_page_of_bounded_size(simulate):
    """600 s each; the number of ranks makes no difference, for each run is one line."""
    directory = simulate("--producers", "2", "--consumers", "2", "--rate", "1Mb/s", "--event-size", "10kB",
                         "--duration", "600s")
    long_run = read_run(directory)
    rows = run_charts.side_by_side([Group("a", [long_run] * 3)], [1], ["blue"])
    assert {row.points_max for row in rows} == {run_charts.POINTS_MAX}
    sizes = []
    for settings, runs in ((2, 5), (24, 10)):
        groups = [Group(str(number), [long_run] * runs) for number in range(settings)]
        rows = run_charts.side_by_side(groups, [0] * settings, ["blue"] * settings)
        sizes.append(sum(len(svg_plots.plot(plot, row)) for row in rows for plot in row.plots))
    assert sizes[0] < 300_000 and sizes[1] < 1_500_000, sizes


def test_a_page_says_on_top_what_was_run(capsys, make, tmp_path):
    runs = [make(f"run-{index}", minute=index, tags={"switch": "ab"[index % 2]}, goodput=1.0 + index / 1000)
            for index in range(6)]
    page = tmp_path / "page.html"
    assert compare_runs(capsys, "--by", "switch", *runs, "--page", page)[0] == 0
    top = page.read_text().split("<h1>")[0]
    found = dict(re.findall(r"<span><b>(\w+)</b> (.*?)</span>", top))
    assert found.pop("weir").startswith("0.1.0")
    assert found == {
        "layout": "3 producers to 4 consumers", "load": "200 Mb/s per producer, a set every 1 s, events of 1 MiB",
        "length": "4 s, after a warm-up of 1 s", "hosts": "1 (vm)", "begun": "2026-11-20 12:00 to 2026-11-20 12:05 UTC"}
    command = re.search("<code>(.*?)</code>", top)[1]
    assert command.startswith("weir run --duration 4s ") and "--out" not in command
    assert f"weir-compare --by switch {'/'.join(runs[0].split('/')[-2:])} " in page.read_text()


def test_plots_that_one_setting_makes_flat_have_a_scale_of_their_own():
    def row(*tops):
        return charts.PlotRow(
            "Occupancy", "",
            [charts.Panel(f"s{index}", "", [charts.Line("run", np.arange(3), np.array([0.1, 0.5, 1.0]) * top)])
             for index, top in enumerate(tops)])
    closer = run_charts._closer(row(1.0, 0.9, 20.0))
    assert [plot.title for plot in closer.plots] == ["s0", "s1"] and closer.y_range()[1] < 1.1
    assert closer.title == "Occupancy, on a scale of their own"
    assert run_charts._closer(row(1.0, 3.0)) is None and run_charts._closer(None) is None


def test_settings_that_share_the_lead_have_a_scale_of_their_own(capsys, make, tmp_path):
    runs = [make(f"{name}-{index}", tags={"switch": name}, goodput=level + 0.002 * (index % 3)) for name, level in
            (("a", 1.0), ("b", 1.001), ("c", 0.2)) for index in range(5)]
    page = tmp_path / "page.html"
    assert compare_runs(capsys, "--by", "switch", *runs, "--page", page)[0] == 0
    assert "The best 2, on a scale of their own" in page.read_text()
    assert compare_runs(capsys, "--by", "switch", *runs[:10], "--page", page)[0] == 0
    assert "on a scale of their own" not in page.read_text()
