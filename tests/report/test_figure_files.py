"""Figures by several processes: the same as by one, and also if a process comes to no end."""

import os
import signal

import numpy as np
import pytest

from weir_runs.figures import figure_files, matplotlib_figures
from weir_runs.figures.charts import Line, Panel, PanelChart


def charts_of(count):
    x = np.arange(3.0)
    return [PanelChart(f"chart-{number}", "", [Panel(f"panel {number}", "s", [Line("line", x, x * number, "mean")])]
                       * (1 + number % 3), None, "")
            for number in range(count)]


@pytest.fixture
def cores(monkeypatch):
    return lambda count: monkeypatch.setattr(figure_files, "cores", lambda: count)


@pytest.fixture
def written(tmp_path):
    """written(charts, formats): {file: content} of all that is written."""
    def write(charts, formats=("png",)):
        directory = tmp_path / str(len(list(tmp_path.iterdir())))
        paths = figure_files.write(directory, charts, formats, "title")
        assert paths == [directory / f"{chart.name}.{kind}" for chart in charts for kind in formats]
        assert sorted(paths) == (sorted(directory.iterdir()) if charts else [])
        return {path.name: path.read_bytes() for path in paths}
    return write


def test_any_number_of_processes_gives_the_same_files(cores, written):
    found = []
    for count in (1, 2, 5):
        cores(count)
        found.append(written(charts_of(3), ("png", "svg")))
    assert found[0] == found[1] == found[2]
    assert found[0] == {f"{chart.name}.{kind}": content for chart in charts_of(3)
                        for kind, content in matplotlib_figures.rendered(chart, ["png", "svg"], "title").items()}
    assert written([]) == {}


def test_every_chart_is_drawn_once_and_in_its_place(cores, written, monkeypatch):
    cores(4)
    monkeypatch.setattr(matplotlib_figures, "rendered",
                        lambda chart, formats, title: {"png": f"{chart.name} {os.getpid()}".encode()})
    drawn = {name: content.decode().split() for name, content in written(charts_of(11)).items()}
    assert all(name == f"{chart}.png" for name, (chart, _) in drawn.items())
    assert len({process for _, process in drawn.values()}) == 4


@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(3)])
def test_the_work_of_a_process_that_ended_early_is_done_all_the_same(cores, written, monkeypatch, end):
    cores(3)
    first = os.getpid()

    def rendered(chart, formats, title):
        if os.getpid() != first:
            end()
        return {"png": chart.name.encode()}
    monkeypatch.setattr(matplotlib_figures, "rendered", rendered)
    assert written(charts_of(6)) == {f"chart-{number}.png": f"chart-{number}".encode() for number in range(6)}


def test_without_room_for_processes_one_draws_all(cores, written, monkeypatch):
    def refuse():
        raise BlockingIOError("no more processes")
    cores(3)
    monkeypatch.setattr(os, "fork", refuse)
    assert len(written(charts_of(4))) == 4
