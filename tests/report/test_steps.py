"""Short runs are drawn by their short rows: 20 to 100 points where rows of seconds would be one or two."""

import shutil

import numpy as np
import pytest

from weir_compare.comparison import run_charts
from weir_compare.comparison.run_groups import Group
from weir_runs.figures import burst_charts, heat_maps, time_charts
from weir_runs.pages.report_page import section, write_report
from weir_runs.reading import short_run_rows
from weir_runs.reading.run import read_run

SMALL = ("--producers", "3", "--consumers", "2", "--rate", "80Mb/s", "--interval", "100ms", "--event-size", "100kB",
         "--warmup", "100ms", "--drain", "1s", "--producer-link", "400Mb/s", "--consumer-link", "400Mb/s",
         "--chunk-size", "10kB", "--busy", "fixed:3ms")


@pytest.fixture(scope="module")
def short(simulate):
    return simulate(*SMALL, "--duration", "1s")


@pytest.mark.parametrize("duration, expected", [("200ms", 20), ("1s", 50), ("5s", 50)])
def test_points_of_a_short_run(simulate, duration, expected):
    run = read_run(simulate(*SMALL, "--duration", duration))
    for chart in (time_charts.buffers(short_run_rows.drawn(run)), time_charts.throughput(short_run_rows.drawn(run))):
        for panel in chart.panels:
            for line in panel.lines:
                if line.style in ("mean", "highest", "lowest") and "in the second" not in panel.unit:
                    inside = (line.x >= 0) & (line.x < run.resolved["duration_s"] - 1e-9)
                    assert np.isfinite(line.y[inside]).sum() == expected, (panel.title, line.name)
        assert chart.measured[0] == 0
        assert chart.measured[1] == pytest.approx(run.resolved["duration_s"] - run.resolved["row_interval_s"])
    heat = heat_maps.ranks_by_second(short_run_rows.drawn(run))
    assert "step of" in heat.title and np.shape(heat.views[0].values)[1] >= expected


def test_steps_sum_up_to_the_second(short):
    run = read_run(short)
    shown = short_run_rows.drawn(run)
    for role, name in (("producer", "generated_bytes"), ("consumer", "received_bytes")):
        whole = run.rows(role).column(name)[:, run.rows(role).seconds == 0].sum()
        rows = shown.rows(role)
        steps = rows.column(name)[:, (rows.seconds >= 0) & (rows.seconds < 1)]
        assert np.nansum(steps) == pytest.approx(whole, abs=10_000 * 6)  # a chunk of each pair under way
    assert short_run_rows.by_second(shown) is run
    assert short_run_rows.each(run) == "second" and short_run_rows.each(shown) == "step of 20 ms"
    assert shown.verdict == run.verdict and shown.plan == run.plan


def test_the_page_of_a_run_of_a_second_has_lines(short, tmp_path, no_pictures):
    run = read_run(short)
    page = tmp_path / "report.html"
    write_report([run], page, tmp_path / "figures", (), "")
    text = page.read_text()
    assert "peak of each step of 20 ms" in text and "Every rank in every step of 20 ms" in text
    # Nobody asked for the worst seconds.
    assert burst_charts.bursts(run) == [] and "burst-second" not in text
    assert len(text) < 400_000


def test_a_second_of_shares_is_an_area(short):
    chart = time_charts.where_the_time_went(read_run(short))
    assert all(list(area.x) == [-1, 0] for panel in chart.panels for area in panel.areas)
    assert chart.measured == (0, 0) and chart.holds == 1


def test_runs_side_by_side_are_drawn_in_steps(short, simulate):
    groups = [Group("one", [read_run(short)]),
              Group("other", [read_run(simulate(*SMALL, "--duration", "1s", "--seed", "2"))])]
    rows = run_charts.side_by_side(groups, [0, 0], ["blue", "orange"])
    assert [row.title for row in rows][:2] == ["Fullest producer: occupancy", "Consumers: rate received, mean"]
    for row in rows:
        for plot in row.plots:
            assert 50 <= len(plot.series[-1].x) <= 100 and plot.measured[0] == 0


def test_without_short_rows_it_is_drawn_by_the_second(short, simulate, tmp_path):
    copy = shutil.copytree(short, tmp_path / "copy")
    shutil.rmtree(copy / "bursts")
    run = read_run(copy)
    assert short_run_rows.drawn(run) is run and section(run, 0, [], [])
    off = read_run(simulate(*SMALL, "--duration", "1s", "--row-interval", "1s"))
    assert short_run_rows.drawn(off) is off and not (off.directory / "bursts").exists()
    # Too many steps: those of the seconds.
    fine = read_run(simulate(*SMALL, "--duration", "8s", "--row-interval", "10ms"))
    assert short_run_rows.drawn(fine) is fine
