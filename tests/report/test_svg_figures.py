"""What pages hold of a chart: paths and pictures have its values, whatever they are, and a bounded size."""

import base64
import os
import re
import resource
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from conftest import ROOT

from weir_runs import report_command
from weir_runs.figures import figure_files, heat_maps, svg_figures, svg_heat_maps, svg_plots
from weir_runs.figures.charts import Area, HeatMap, HeatView, Line, Panel, PanelChart, rule


def chart_of(*panels, **more):
    return PanelChart("name", "title", list(panels), more.pop("measured", None), "", **more)


def values_of(drawn, panel=0):
    """{name: (x, y)} of the lines of a panel, as page.js reads them."""
    area = drawn.split('<div class="plot-area"')[1 + panel]
    x_step, y_step = map(float, re.search('data-steps="([^"]*)"', area)[1].split())
    found = {}
    for name, path in re.findall('<path class="line[^"]*" data-name="([^"]*)"[^>]* d="([^"]*)"', area):
        points = []
        for part in path.split("M")[1:]:
            numbers = [int(number) for number in re.findall(r"-?[0-9]+", part)]
            steps = np.array(numbers[:len(numbers) // 2 * 2]).reshape(-1, 2)
            points.append(np.cumsum(steps, axis=0)[:1 if part.endswith("l0 0") else None])
        points = np.concatenate(points)
        found[name] = points[:, 0] * x_step, points[:, 1] * y_step
    return found


@pytest.mark.parametrize("x", [np.arange(-2, 30), np.arange(32) * 10.0 - 50, np.arange(32) / 10 + 4321,
                               np.cumsum(np.linspace(0.01, 1, 32)), np.arange(32) * 1e-6])
@pytest.mark.parametrize("y", [np.linspace(0, 1.2, 32), np.full(32, 5.0), np.zeros(32), np.arange(32) * 12_345.0,
                               np.linspace(1e-9, 3e-7, 32), np.linspace(2e9, 8e12, 32)])
def test_a_path_has_the_values(x, y):
    y = y.copy()
    y[[0, 5, 7]] = np.nan  # value 6 is alone
    other = Line("b", x[:1], np.array([2.0 * np.nanmax(y) or 1.0]), "mean")  # all the same would be a line of text
    panel = Panel("p", "s", [Line("a", x, y, "mean"), other])
    found = values_of(svg_figures.figure(chart_of(panel, x_title="time")))["a"]
    known = np.isfinite(y)
    assert found[0] == pytest.approx(x[known], abs=1e-6 * max(1e-3, np.abs(x).max()))
    assert found[1] == pytest.approx(y[known], abs=1e-4 * max(y[known].max(), 1e-12))


@pytest.mark.parametrize("panel", [
    Panel("no lines", ""), Panel("nothing known", "s", [Line("a", np.arange(3), np.full(3, np.nan), "mean")]),
    Panel("without end", "s", [Line("a", np.arange(4), [-np.inf, 2.0, np.inf, 1.0], "mean")],
          [Area("b", np.arange(2), [0, -np.inf], [np.inf, 1], "sky")]),
    Panel("one point", "s", [Line("a", np.array([4]), np.array([1.0]), "mean")],
          [Area("b", np.array([4]), np.zeros(1), np.ones(1), "sky")])])
def test_charts_of_little_are_drawn(panel):
    others = [Panel("other", "s", [Line("a", np.array([4, 5]), np.array([2.0, 3.0]), "mean")])]
    drawn = svg_figures.figure(chart_of(panel, *others, measured=(4, 4)))
    assert "nan" not in drawn and "inf" not in drawn and drawn.count('class="plot-area"') == 2


def test_what_holds_for_a_time_is_level_for_that_time():
    """Each pair of numbers is still a step to the next value, and of an area there and back."""
    line, band = Line("a", [0, 1, 2, 4], [1, 3, np.nan, 2], "mean"), Area("b", [0, 1], [0, 1], [2, 3], "sky")
    drawn = svg_figures.figure(chart_of(Panel("p", "s", [line, rule("most", 3, "limit")], [band]), holds=1.0,
                                        measured=(0, 1)))
    assert 'd="M0 1h1v2h1M4 2h1"' in drawn and 'd="M0 2h1v1h1v-2h-1v-1h-1z"' in drawn and 'd="M0 3h5"' in drawn
    assert 'data-holds="1"' in drawn and '<rect class="pale" x="2" width="3"' in drawn and "dots" not in drawn
    assert values_of(drawn)["a"][0].tolist() == [0, 1, 4] and values_of(drawn)["a"][1].tolist() == [1, 3, 2]


def test_what_is_the_same_everywhere_is_a_line_of_text():
    seconds = np.arange(5)
    flat = Panel("Rate", "Mb/s",
                 [Line("p0", seconds, np.full(5, 400.0), "member"), Line("mean", seconds, np.full(5, 401.0), "mean"),
                  rule("target 400 Mb/s", 400.0, "target")])
    moving = Panel("Occupancy", "", [Line("mean", seconds, np.linspace(0.5, 0.6, 5), "mean")])
    said = '<p class="constant"><b>Rate</b>: 400 Mb/s throughout (target 400 Mb/s).</p>'
    assert svg_figures.figure(chart_of(flat)) == said
    both = svg_figures.figure(chart_of(flat, moving))
    assert said in both and both.count('class="plot-area"') == 1 and 'aria-label="Occupancy: mean: 0.5 to 0.6"' in both


def test_logarithms_of_curves_are_exact_enough():
    x, y = np.array([0.0123, 4.567, 890.1]), np.array([1.0, 0.0345, 1e-6])
    found = values_of(svg_figures.figure(chart_of(Panel("p", "", [Line("a", x, y, colour="blue")]), log=True)))["a"]
    assert 10 ** found[0] == pytest.approx(x, rel=2e-4) and 10 ** found[1] == pytest.approx(y, rel=2e-4)


def test_text_from_outside_stays_text():
    nasty = "<b>\"x\"</b>\nline"
    line = Line(nasty, np.arange(2), np.ones(2), "highest", [nasty, nasty])
    bars = chart_of(Panel(nasty, "s", [Line(nasty, np.arange(2), [1.0, 3.0], "bar"), rule(nasty, 2, "limit")]),
                    x_names=[nasty, "b"])
    heat = HeatMap("heat", "", nasty, [HeatView(nasty, nasty, np.ones((1, 2)), [nasty], [nasty, "b"], 1.0)], "")
    for chart in (chart_of(Panel(nasty, nasty, [line])), bars, heat):
        drawn = svg_figures.figure(chart)
        assert "<b>\"" not in drawn and "&lt;b&gt;" in drawn


def test_long_lines_keep_their_extremes_and_a_bounded_size():
    """An hour of 100 ranks, and a day of one line."""
    generator = np.random.default_rng(1)
    members = [Line(f"consumer {index}", np.arange(3600), 80 + generator.normal(size=3600), "member")
               for index in range(100)]
    y = np.full(86_400, 50.0)
    y[[1234, 80_000]] = 99.0, 1.0
    long_line = Line("day", np.arange(86_400), y, "mean", [f"host {index % 7}" for index in range(86_400)])
    area = Area("band", np.arange(86_400), y - 1, y + 1, "light")
    drawn = svg_figures.figure(chart_of(Panel("members", "Gb/s", members), Panel("line", "Gb/s", [long_line], [area])))
    found = values_of(drawn, 1)["day"]
    assert len(found[0]) <= svg_plots.POINTS_MAX
    assert ((found[0][found[1].argmax()], found[1].max(), found[0][found[1].argmin()], found[1].min())
            == (1234, 99, 80_000, 1))
    assert len(drawn) < 400_000


def test_the_picture_of_a_heat_map_has_its_values():
    values = np.array([[0.0, 0.001, 5.0], [np.nan, 10.0, 12.0]])
    pixels = svg_heat_maps.levels(values, 10.0)
    # a little is more than nothing; nothing is above the scale
    assert pixels.tolist() == [[0, 1, 127], [255, 254, 254]]
    drawn = svg_figures.figure(HeatMap("h", "", "second", [HeatView("v", "s", values, ["a", "b"], np.arange(3), 10.0)],
                                       ""))
    picture = base64.b64decode(re.search('base64,([^"]*)"', drawn)[1])
    assert struct.unpack(">II", picture[16:24]) == (3, 2)
    begin = picture.index(b"IDAT")
    length, = struct.unpack(">I", picture[begin - 4:begin])
    lines = zlib.decompress(picture[begin + 4:begin + 4 + length])
    assert lines == b"\0" + pixels[0].tobytes() + b"\0" + pixels[1].tobytes()
    assert "absent" in drawn and svg_heat_maps.png(pixels) == picture


def test_heat_maps_of_long_runs_have_the_worst_of_each_column():
    values = np.full((3, 36_000), 5.0)
    values[1, 30_001], values[2, :100] = 0.0, np.nan
    for worst, least in (("low", 0.0), ("high", 5.0)):
        reduced, x = heat_maps._worst_columns(values, np.arange(36_000.0), worst)
        assert reduced.shape == (3, heat_maps.COLUMNS_MAX) and x[:2].tolist() == [29.5, 89.5]
        assert reduced[1, 500] == least and np.isnan(reduced[2, 0]) and reduced[2, 1] == 5.0


def test_a_page_is_small_and_soon_made_and_loads_no_library_for_drawing_or_statistics(stored):
    """Nor is one needed: whatever a distribution packages, the page is the same. 0.3 s of one core."""
    directory = stored("measured")
    program = ("import sys; sys.modules.update(dict.fromkeys(('matplotlib', 'scipy', 'pandas', 'PIL'))); "
               "from weir_runs import report_command; sys.exit(report_command.main(sys.argv[1:]))")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program, str(directory), "--quiet"], check=True, capture_output=True,
                   env={**os.environ, "PYTHONPATH": str(ROOT / "src" / "report")})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (directory / "report.html").stat().st_size < 100_000
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2


def test_figure_files_without_matplotlib_are_refused(stored, monkeypatch, capsys):
    monkeypatch.setattr(figure_files.importlib.util, "find_spec", lambda name: None)
    directory = stored("measured")
    assert report_command.main([str(directory), "--figures", "png"]) == 2
    assert "--figures: figure files need matplotlib" in capsys.readouterr().err
    assert not (directory / "report.html").exists()
    assert report_command.main([str(directory), "--quiet"]) == 0


def test_a_run_of_less_than_a_second_is_drawn_in_ms():
    x = np.arange(0, 0.5, 0.1)
    drawn = svg_figures.figure(chart_of(Panel("p", "s", [Line("a", x, x, "mean")]), measured=(0.1, 0.3), holds=0.1))
    assert 'data-x-title="ms"' in drawn and ">second<" not in drawn and ">400</span>" in drawn
    assert values_of(drawn)["a"][0][:3] == pytest.approx([0, 100, 200])
    view = HeatView("v", "", np.arange(5.0).reshape(1, 5), ["row"], x, 4.0)
    assert 'data-x-title="ms"' in svg_figures.figure(HeatMap("name", "title", "second", [view], ""))


def test_a_single_measured_row_is_said_and_shares_are_a_bar():
    x = np.array([-1.0, 0.0])
    drawn = svg_figures.figure(chart_of(
        Panel("Rates", "Gb/s", [Line("lowest", x, [1, 7.6], "lowest"), Line("mean", x, [1, 8], "mean"),
                                rule("limit", 9, "limit")]),
        Panel("Shares", "%", areas=[Area("busy", x, [0, 0], [50, 20], "blue"), Area("idle", x, [50, 20], [100, 100],
                                                                                  "sky")], largest=100.0),
        measured=(0, 0), holds=1.0))
    assert "<b>Rates</b>: lowest 7.6; mean 8 Gb/s." in drawn and "plot-area" not in drawn
    assert "width:20%;background:var(--blue)" in drawn and "width:80%;background:var(--sky)" in drawn


def test_a_band_of_one_value_is_a_line_of_text():
    x = np.arange(4.0)
    band = Area("80 % of producers", x, np.ones(4), np.ones(4), "light")
    panel = Panel("Occupancy", "", [Line("mean", x, np.ones(4), "mean"), rule("limit", 1.0, "limit")], [band])
    assert "<b>Occupancy</b>: 1 throughout (limit)." in svg_figures.figure(chart_of(panel))
    band.high[2] = 1.1
    assert "plot-area" in svg_figures.figure(chart_of(panel))


def test_names_below_a_plot_are_evenly_spaced():
    places = [place for place, _ in svg_plots.named_ticks([f"producer {index}" for index in range(32)])]
    assert len(set(np.diff(places))) == 1 and len(places) <= svg_plots.NAMES_MAX
