"""Figures by several processes: the same as by one, and also if a process comes to no end."""

import os
import signal

import numpy as np
import pytest

from weir_report import figure_files, matplotlib_figures
from weir_report.charts import Line, Panel, PanelChart


def charts_of(count):
    x = np.arange(3.0)
    return [PanelChart(f"chart-{number}", "", [Panel(f"panel {number}", "s", [Line("line", x, x * number, "mean")])] * (1 + number % 3), None, "")
            for number in range(count)]


@pytest.fixture
def cores(monkeypatch):
    return lambda count: monkeypatch.setattr(figure_files, "_cores", lambda: count)


def test_any_number_of_processes_gives_the_same_files(cores):
    charts, found = charts_of(3), []
    for count in (1, 2, 5):
        cores(count)
        found.append(figure_files.rendered_all(charts, ["png", "svg"], "title"))
    assert found[0] == found[1] == found[2]
    assert found[0] == [matplotlib_figures.rendered(chart, ["png", "svg"], "title") for chart in charts]
    assert figure_files.rendered_all([], ["png"], "") == []


def test_every_chart_is_drawn_once_and_in_its_place(cores, monkeypatch):
    cores(4)
    monkeypatch.setattr(matplotlib_figures, "rendered", lambda chart, formats, title: {"png": chart.name, "process": os.getpid()})
    files = figure_files.rendered_all(charts_of(11), ["png"], "")
    assert [one["png"] for one in files] == [f"chart-{number}" for number in range(11)]
    assert len({one["process"] for one in files}) == 4


@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(3)])
def test_the_work_of_a_process_that_ended_early_is_done_all_the_same(cores, monkeypatch, end):
    cores(3)
    first = os.getpid()

    def rendered(chart, formats, title):
        if os.getpid() != first:
            end()
        return {"png": chart.name}
    monkeypatch.setattr(matplotlib_figures, "rendered", rendered)
    assert [one["png"] for one in figure_files.rendered_all(charts_of(6), ["png"], "")] == [f"chart-{number}" for number in range(6)]


def test_without_room_for_processes_one_draws_all(cores, monkeypatch):
    def refuse():
        raise BlockingIOError("no more processes")
    cores(3)
    monkeypatch.setattr(os, "fork", refuse)
    assert len(figure_files.rendered_all(charts_of(4), ["png"], "")) == 4
