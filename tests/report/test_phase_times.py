"""The page of a run with addressed events."""

import pytest

from weir_runs.basics.errors import ReportError
from weir_runs.figures import phase_charts
from weir_runs.pages.report_page import write_report
from weir_runs.reading import transfer_tables
from weir_runs.reading.run import read_run

LINKS = ("--producer-link", "1Gb/s", "--consumer-link", "1Gb/s", "--framing", "none", "--interval", "200ms",
         "--warmup", "0s", "--duration", "1s", "--event-size", "100kB")


def run_of(simulate, tmp_path, *options):
    matrix = tmp_path / "incast.csv"
    matrix.write_text("producer,consumer,bytes\n0,0,1000000\n1,0,1000000\n")
    return read_run(simulate("--pattern", f"matrix:{matrix}", *LINKS, *options))


def test_phases_are_in_a_table(simulate, no_pictures, tmp_path):
    run = run_of(simulate, tmp_path)
    table = transfer_tables.phases(run)
    assert table["more"] <= 0 and table["has_ideal"]
    (row,) = table["rows"]
    assert row[0] == "all"
    assert row[1] == "5 of 5"
    assert row[5] == "16 ms"  # 2 MB over 1 Gb/s
    assert row[7:] == ["0 of 5", "0"]
    page = tmp_path / "page.html"
    write_report([run], page, tmp_path / "figures", [], "")
    assert "Phases" in page.read_text()
    assert "of addressed events every" in page.read_text()


def test_a_run_without_addresses_has_none(simulate):
    assert transfer_tables.phases(
        read_run(simulate("--producers", "1", "--consumers", "1", "--duration", "1s", "--warmup", "0s"))) is None


def test_what_was_never_complete_is_missing_and_not_zero(simulate, tmp_path):
    run = run_of(simulate, tmp_path)
    run.record["phases"][0].update(completion_s_median=None, completion_s_max=None, ideal_s=None)
    assert transfer_tables.phases(run)["rows"][0][3:7] == ["-", "-", "-", "-"]


def sequence_run(simulate, tmp_path, phases, *options):
    """A sequence of so many phases of 10 ms: in each, producer 1 sends, and in every second of them producer 0 too, to
    consumer 0."""
    (tmp_path / "one.csv").write_text("producer,consumer,bytes\n1,0,100000\n")
    (tmp_path / "both.csv").write_text("producer,consumer,bytes\n0,0,100000\n1,0,100000\n")
    (tmp_path / "sequence.toml").write_text("".join(
        f'[[phase]]\nname = "phase-{number}"\nmatrix = "{("one", "both")[number % 2]}.csv"\nperiod = "10ms"\n'
        for number in range(phases)))
    return read_run(simulate("--pattern", f"sequence:{tmp_path}/sequence.toml", *LINKS[:6], "--warmup", "0s",
                             "--duration", "1s", "--event-size", "100kB", *options))


def test_a_row_has_completion_ideal_and_transfers(simulate, tmp_path):
    chart = phase_charts.rows(run_of(simulate, tmp_path))
    (row,) = chart.rows
    assert chart.unit == "ms" and chart.range[0] == 0
    assert row.ideal == pytest.approx(16) and row.low <= row.value <= row.high
    half, most, longest = row.marks
    assert half.value <= most.value <= longest.value == pytest.approx(row.high, rel=0.01)
    assert "x ideal" in row.text and row.note.startswith("transfers ") and row.note.endswith(" ms")
    assert "Green: the ideal" in phase_charts.about_rows(chart)


def test_the_slowest_of_many_phases_have_rows(simulate, no_pictures, tmp_path):
    run = sequence_run(simulate, tmp_path, 25)
    chart = phase_charts.rows(run)
    assert len(chart.rows) == transfer_tables.PHASES_SHOWN
    # Two transfers to one consumer take longer than one.
    assert all(int(row.name.split("-")[1]) % 2 == 1 for row in chart.rows[:12])
    page = tmp_path / "page.html"
    write_report([run], page, tmp_path / "figures", [], "")
    text = page.read_text()
    assert "And 5 faster ones, in run.json." in text
    assert text.count('class="row"') == transfer_tables.PHASES_SHOWN and 'id="run-1-phases"' in text


def test_phases_over_time(simulate, tmp_path):
    completion = phase_charts.over_time(run_of(simulate, tmp_path)).panels[0]
    assert [line.name for line in completion.lines] == ["completion", "ideal 16 ms"]
    assert len(completion.lines[0].x) == 5 and completion.lines[0].notes is None
    run = sequence_run(simulate, tmp_path, 25)
    first, second = phase_charts.over_time(run).panels
    assert first.lines[0].notes[:3] == ["phase-0", "phase-1", "phase-2"]
    assert second.title == "Completion / ideal" and (second.lines[0].y > 0.99).all()


def test_many_phases_are_drawn_as_the_slowest_of_neighbours(simulate, tmp_path, monkeypatch):
    run = sequence_run(simulate, tmp_path, 25)
    monkeypatch.setattr(phase_charts, "POINTS_MAX", 7)
    chart = phase_charts.over_time(run)
    line = chart.panels[0].lines[0]
    assert len(line.x) == 7 and "Of up to" in chart.caption
    assert all(int(note.split("-")[1]) % 2 == 1 for note in line.notes)
    assert max(line.y) == pytest.approx(1e3 * run.phases()["completion_s"].max())


def test_tables_that_are_missing_too_large_or_broken(simulate, tmp_path, monkeypatch):
    directory = run_of(simulate, tmp_path).directory
    monkeypatch.setattr("weir_runs.reading.run.LARGEST_TABLE_BYTES", 10)
    run = read_run(directory)
    assert phase_charts.over_time(run) is None and phase_charts.rows(run).rows[0].marks == []
    assert run.remarks == [f"{directory}/phases.csv is too large: it is not drawn.",
                           f"{directory}/transfers.csv is too large: it is not drawn."]
    monkeypatch.undo()
    path = directory / "phases.csv"
    path.write_text(path.read_text().replace("\nall,0.2", "\nall,zwei"))
    with pytest.raises(ReportError, match=r"phases.csv, line 3: 'zwei\d*' in column begins_s is not a number"):
        read_run(directory).phases()
    path.unlink()
    run = read_run(directory)
    assert run.phases() is None and run.remarks == [f"{path} is missing: it is not drawn."]


def test_phases_that_were_never_complete_have_no_row(simulate, tmp_path):
    run = run_of(simulate, tmp_path)
    run.record["phases"][0].update(completion_s_min=None, completion_s_median=None, completion_s_max=None, ideal_s=None)
    assert phase_charts.rows(run) is None


def test_transfers_of_a_trace_are_in_a_table_by_size(simulate, no_pictures, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("time_ms,producer,consumer,bytes\n10,0,0,500\n50,0,0,1000000\n50,1,0,1000000\n")
    run = read_run(simulate("--pattern", f"trace:{trace}", *LINKS[:-2], "--event-size", "1MB", "--policy", "none"))
    every, small, large = transfer_tables.sizes(run)
    assert every[:3] == ["all", "15", "0"] and small[:2] == ["below 1 kB", "5"] and large[0] == "1 MB to 10 MB"
    assert large[6] == "2 x"  # 16 ms instead of 8, and 5 us
    page = tmp_path / "page.html"
    write_report([run], page, tmp_path / "figures", [], "")
    assert "Transfers by size" in page.read_text() and "2 x" in page.read_text()
    assert transfer_tables.sizes(run_of(simulate, tmp_path)) is None
