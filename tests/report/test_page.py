"""The report page: its numbers are run.json's, and strange text stays text. What its charts hold: test_charts.py."""

import json
import os
import re
import signal

import pytest
from conftest import edited, editing

from weir_compare import compare_command
from weir_suites import sweep_command
from weir_runs import report_command
from weir_runs.figures import page_parts, time_charts
from weir_runs.reading.run import read_run
from weir_suites import traffic_command

FIGURES = ("buffers", "over-time", "heat-map", "where-the-time-went")


def values_of(page):
    """{path in run.json: value} of the numbers on a page that have their source beside them."""
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
    assert report_command.main([str(directory), "--figures", "png,pdf,svg"]) == 0
    page = (directory / "report.html").read_text()
    record = json.loads((directory / "run.json").read_text())
    for path, value in values_of(page).items():
        assert value == str(value_at(record, path)), path
    for figure in FIGURES:
        for kind in ("png", "pdf", "svg"):
            assert (directory / "figures" / f"{figure}.{kind}").stat().st_size > 2000
        assert f'id="run-1-{figure}"' in page
    verdict = {"measured": "SUSTAINED", "overflow": "NOT SUSTAINED", "interrupted": "NOT JUDGED"}[name]
    assert f"<strong>{verdict}</strong>" in page
    assert verdict in capsys.readouterr().out


def test_a_page_needs_nothing_from_outside(stored, page_of):
    directory = stored("measured")
    page = page_of(directory)
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page)
    assert not re.search(r"https?:|fetch\(|import[ (]|XMLHttpRequest", page[page.index("<script"):])
    assert not (directory / "figures").exists()


SENDER = "/home/alice/experiments"


@pytest.mark.parametrize("text, shown", [
    (f"{SENDER}/runs/first/traffic.csv is missing", "first/traffic.csv is missing"), ("/tmp/x", "x"),
    (f"matrix:{SENDER}/pairs.csv", "matrix:experiments/pairs.csv"),
    ("/home/alice/a.toml, /tmp/b.toml", "a.toml, b.toml"),
    ("/proc/sys/net/core/rmem_max", None),
    ("set /interfaces/interface[name=e1]/config/mtu", None), ("10 Gb/s and/or https://weir/x/y", None),
    ("runs/first/run.json, ../x/y, ~/a/b", None)])
def test_pages_show_no_path_from_the_root(text, shown):
    assert page_parts.without_directories(text) == (shown or text)


def test_a_page_is_small_and_does_not_tell_where_the_sender_works(stored, page_of):
    def change(record):
        record["environment"]["variables"] = {"OMPI_MCA_initial_wdir": f"{SENDER}/runs"}
        record["plan"]["scenario"] = f"{SENDER}/farm.toml"
    directory = edited(stored("measured"), change)
    next((directory / "ranks").glob("*-consumer.csv")).unlink()
    page = page_of(directory)
    assert "files are missing" in page and "farm.toml" in page
    assert "/home/" not in page and str(directory.parent) not in page
    assert len(page.encode()) < 250_000


def test_the_same_run_gives_the_same_page(stored):
    directory = stored("measured")
    pages = []
    for _ in range(2):
        report_command.main([str(directory), "--quiet", "--figures", "svg"])
        pages.append((directory / "report.html").read_bytes())
        pages.append((directory / "figures" / "over-time.svg").read_bytes())
    assert pages[0] == pages[2] and pages[1] == pages[3]


def test_text_from_outside_is_escaped(stored, page_of):
    directory = stored("measured")
    nasty = "<script>alert('x')</script>"
    with editing(directory) as record:
        record["labels"] = {"label": nasty}
        record["verdict"]["text"] = nasty
        record["plan"]["policy"] = nasty
        for rank in record["ranks"]:
            rank["host"] = nasty
    page = page_of(directory)
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_network_and_advice_stand_beside_the_verdict(stored, page_of):
    def change(record):
        record["network"] = {"mechanism": "lossy", "evidence": "lossy: 279 tcp.retransmitted_segments (on eb01)"}
        record["verdict"]["advice"] = "Use more consumers"
    page = page_of(edited(stored("measured"), change))
    assert "Lossy: 279 tcp.retransmitted_segments (on eb01)." in page
    assert "<b>Do:</b> Use more consumers." in page
    assert "Advice" not in page_of(stored("overflow"))


def test_the_title_is_the_label_or_the_scenario(stored, page_of):
    assert "<h1>small measured run</h1>" in page_of(stored("measured"))
    assert "<h1>overflow</h1>" in page_of(stored("overflow"))  # neither: the directory's name
    page = page_of(edited(stored("overflow", "again"), lambda record: record["plan"].update(scenario="/tmp/farm.toml")))
    assert "<h1>farm</h1>" in page and "Run directory: again." in page


def test_what_decides_comes_first(simulate, page_of):
    page = page_of(simulate("--scenario", "lhcb2021-2", "--duration", "3s"))
    places = [page.index(text)
              for text in ('class="verdict', 'id="run-1-slowest-sets"', ">Where time went<", ">Who was affected<",
                           'id="run-1-over-time"', ">The network<", 'id="run-1-traffic"', ">All figures<",
                           "goodput of all consumers")]
    assert places == sorted(places)


def test_several_runs_share_a_page(stored, tmp_path, no_pictures):
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


@pytest.mark.parametrize("command, first, words", [
    (report_command, "parser", []), (report_command, "_work", ["run"]), (compare_command, "parser", []),
    (sweep_command, "parser", []), (traffic_command, "_command", [])])
def test_an_interruption_ends_a_command_without_a_trace(command, first, words, monkeypatch, capfd):
    """From its beginning on: `first` is what it calls, in which the signal comes."""
    monkeypatch.setattr(command, first, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    child = os.fork()
    if not child:
        try:
            command.main(words)
        finally:
            os._exit(77)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGINT
    assert capfd.readouterr() == ("", "")


def test_a_page_that_cannot_be_written_is_said(stored, capsys):
    assert report_command.main([str(stored("measured")), "--out", "/proc/nowhere/page.html"]) == 2
    assert "/proc/nowhere" in capsys.readouterr().err


def tile(page, title):
    """The text of a tile, by the beginning of its title."""
    found = re.findall(r'<div class="tile"><b[^>]*>([^<]*)</b><span>([^<]*)</span>', page)
    return next((shown, whole) for shown, whole in found if whole.startswith(title))


def late_run(record):
    record["verdict"].update(on_time=False, sets=15, late_sets=4, first_late_second=2, late_producers=[1, 0],
                             worst_late_s=0.35, least_slack_s=-0.35, lost_events=0)
    for rank in record["ranks"]:
        if rank["role"] == "producer":
            rank.update(sets=5, late_sets=3 if rank["index"] == 1 else 0, least_slack_s=-0.35 if rank["index"] == 1
                        else 0.2, first_late_second=2 if rank["index"] == 1 else None)


def test_late_sets_are_shown_with_second_producer_and_how_late(stored, page_of):
    directory = edited(stored("measured"), late_run)
    for path in (directory / "ranks").glob("*-producer.csv"):
        lines = path.read_text().splitlines()
        counts = ["late_sets"] + ["1" if line.startswith(("2,", "3,")) else "0" for line in lines[1:]]
        path.write_text("".join(f"{line},{count}\n" for line, count in zip(lines, counts)))
    page = page_of(directory)
    shown, title = tile(page, "late sets, of 15")
    assert shown == "4 (27 %)" and title == "late sets, of 15: from second 2 on, worst producer 1 on vm"
    assert tile(page, "lateness of the latest set")[0] == "350 ms"
    assert "<strong>LATE</strong>" in page
    assert "late sets (first second)" in page and "3 (60 %) (second 2)" in page
    panel = next(panel for panel in time_charts.buffers(read_run(directory)).panels
                 if panel.title.startswith("Late sets"))
    assert panel.lines[0].y.sum() == 2 * len(list((directory / "ranks").glob("*-producer.csv")))


def test_a_run_on_time_shows_its_slack_and_an_older_one_nothing(stored, page_of):
    def on_time(record):
        record["verdict"].update(on_time=True, sets=15, late_sets=0, first_late_second=None, late_producers=[],
                                 worst_late_s=None, least_slack_s=0.62, lost_events=0)
    page = page_of(edited(stored("measured"), on_time))
    assert tile(page, "late sets, of 15")[0] == "0"
    assert tile(page, "least slack of any set")[0] == "620 ms"
    assert "<strong>SUSTAINED</strong>" in page
    older = page_of(stored("overflow"))
    assert "late sets" not in older and "least slack" not in older and "Late sets" not in older


@pytest.mark.parametrize("lost, generated, shown", [
    (0, 1000, "0"), (6, 100_000, "6 (6e-5)"), (981, 2386, "981 (41 %)"), (1, 10**9, "1 (1e-9)"),
    (92, 113_400, "92 (0.00081)"), (999_999, 1_000_000, "999999 (above 99.9 %)"), (5, None, "5")])
def test_losses_have_a_count_and_a_share(stored, lost, generated, shown, page_of):
    page = page_of(edited(stored("measured"),
                          lambda record: record["totals"].update(lost_events=lost, generated_events=generated)))
    assert tile(page, "events lost")[0] == shown


def test_missing_datagrams_have_a_count_and_a_share(stored, page_of):
    page = page_of(edited(stored("measured"), lambda record: record.update(
        datagrams={"sent": 990_000, "sent_again": 10_000, "missing": 128})))
    assert tile(page, "datagrams that did not arrive")[0] == "128 (0.00013)"


def test_a_file_that_is_missing_is_said(simulate, page_of):
    directory = simulate("--producers", "1", "--consumers", "1", "--rate", "80Mb/s", "--event-size", "1MB",
                         "--duration", "2s", "--warmup", "0s")
    assert "missing" not in page_of(directory)
    (directory / "traffic.csv").unlink()
    edited(directory, lambda record: record.update(hosts=[{"name": "eb01", "file": "hosts/eb01.csv", "totals": {}}]))
    page = page_of(directory)
    assert "/traffic.csv is missing: the traffic matrix is not shown." in page
    assert ">hosts/eb01.csv is missing: counters of these hosts are not drawn." in page


def test_a_full_disk_is_named_with_the_file(stored, capsys, full_disk):
    directory = stored("measured")
    page = directory / "page.html"
    full_disk("page.html")
    assert report_command.main([str(directory), "--out", str(page), "--figures", "none"]) == 2
    assert capsys.readouterr().err == f"weir-report: {page}: No space left on device\n"
    full_disk("buffers.png")
    assert report_command.main([str(directory), "--figures", "png"]) == 2
    assert capsys.readouterr().err == f"weir-report: {directory}/figures/buffers.png: No space left on device\n"
