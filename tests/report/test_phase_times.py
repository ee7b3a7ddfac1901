"""The page of a run with addressed events."""

from weir_report import phase_times
from weir_report.report_page import write_report
from weir_report.run import read_run

LINKS = ("--producer-link", "1Gb/s", "--consumer-link", "1Gb/s", "--framing", "none", "--interval", "200ms", "--warmup", "0s", "--duration", "1s",
         "--event-size", "100kB")


def run_of(simulate, tmp_path, *options):
    matrix = tmp_path / "incast.csv"
    matrix.write_text("producer,consumer,bytes\n0,0,1000000\n1,0,1000000\n")
    return read_run(simulate("--pattern", f"matrix:{matrix}", *LINKS, *options))


def test_phases_are_in_a_table(simulate, no_pictures, tmp_path):
    run = run_of(simulate, tmp_path)
    table = phase_times.table(run)
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
    assert phase_times.table(read_run(simulate("--producers", "1", "--consumers", "1", "--duration", "1s", "--warmup", "0s"))) is None


def test_what_was_never_complete_is_missing_and_not_zero(simulate, tmp_path):
    run = run_of(simulate, tmp_path)
    run.record["phases"][0].update(completion_s_median=None, completion_s_max=None, ideal_s=None)
    assert phase_times.table(run)["rows"][0][3:7] == ["-", "-", "-", "-"]
