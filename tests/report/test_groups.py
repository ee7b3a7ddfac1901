"""The page of a job with several groups, and what other commands do with its directory."""

import csv
import json
import random
import re
import shutil
import time
from pathlib import Path

import grouped
import numpy as np
import pytest
from conftest import edited
from test_broken_files import damaged

from weir_compare import compare_command
from weir_runs import report_command
from weir_runs.basics.errors import ReportError
from weir_runs.figures import groups_charts
from weir_runs.pages import groups_page
from weir_runs.reading import grouped_runs
from weir_runs.reading.run import read_record, read_run
from weir_suites import traffic_command

# Group 1 does not keep up, and nothing came from group 3.
GROUPS = ((), grouped.TOO_BUSY, (), None, ("--busy", "poisson:5ms"))


@pytest.fixture(scope="module")
def pattern(simulate, tmp_path_factory):
    return grouped.make_groups(simulate, tmp_path_factory.mktemp("grouped") / "farm", GROUPS)


@pytest.fixture
def directory(pattern, tmp_path):
    """A copy that may be damaged."""
    return Path(shutil.copytree(pattern, tmp_path / "farm"))


def read_groups(directory):
    return grouped_runs.grouped_runs_of(*read_record(directory))


def section_of(page, number):
    begin = page.index(f'id="group-{number}"')
    return page[begin:page.index("</section>", begin)]


def test_the_job_comes_first_and_the_worst_group_before_the_others(directory, page_of):
    page = page_of(directory)
    record = json.loads((directory / "run.json").read_text())
    places = [page.index(words)
              for words in ("<strong>NOT JUDGED</strong>", " of 5 groups were on time", "This job failed: group 3: "
                            "nothing came from this group", ">Groups, the worst first<", 'id="goodput"', 'id="buffers"',
                            'id="group-3"', 'id="group-1"', "goodput of all groups together")]
    assert places == sorted(places)
    assert [int(number) for number in re.findall(r'<section class="group" id="group-(\d+)"', page)][:2] == [3, 1]
    assert '<b class="bad-text">3 of 5</b><span>groups that were sustained; 1 not judged</span>' in page
    assert "worst occupancy of any producer: group 1" in page
    for path, value in re.findall(r'data-path="([^"]*)" data-value="([^"]*)"', page):
        found = record
        for step in path.split("."):
            found = found[step]
        assert value == str(found), path


def test_a_section_has_verdict_advice_numbers_and_a_link(directory, page_of):
    page = page_of(directory)
    bad = section_of(page, 1)
    assert "Group 1: NOT SUSTAINED" in bad and "exceeded their buffers" in bad
    assert "<b>Do:</b>" in bad and "<b>Why:</b>" in bad
    assert "seed <b>2</b>" in bad and "layout <b>2 -&gt; 3</b>" in bad and 'href="group-01/report.html"' in bad
    assert "Group 0: SUSTAINED" in section_of(page, 0)
    lost = section_of(page, 3)
    assert "Group 3: FAILED" in lost
    assert "Nothing came from this group." in lost and "group-03: no such directory" in lost
    assert "report.html" not in lost


def test_pages_of_the_worst_groups_are_written(directory, page_of):
    page = page_of(directory, "--group-pages", "2")
    written = sorted(path.parent.name for path in directory.glob("group-*/report.html"))
    assert len(written) == 2 and "group-01" in written
    assert "2 groups of 5 have a page of their own" in page
    group = (directory / "group-01" / "report.html").read_text()
    assert "<h1>farm: group 1</h1>" in group and "NOT SUSTAINED" in group
    page_of(directory, "--group-pages", "all")
    assert len(list(directory.glob("group-*/report.html"))) == 4


def test_pages_lie_beside_the_page_of_the_job(directory, tmp_path, no_pictures, capsys):
    out = tmp_path / "elsewhere" / "page.html"
    assert report_command.main([str(directory), "--out", str(out), "--figures", "png", "--group-pages", "1"]) == 0
    assert (out.parent / "group-01" / "report.html").exists() and (out.parent / "figures" / "goodput.png").exists()
    assert not list(directory.rglob("report.html"))
    printed = capsys.readouterr().out
    assert "group 1: NOT SUSTAINED" in printed
    assert "groups   1 page of 5: group-01 (--group-pages all writes all)" in printed


@pytest.mark.parametrize("wanted", ["-1", "some", "1.5", "²"])
def test_a_wrong_number_of_pages_is_refused(directory, wanted, capsys):
    assert report_command.main([str(directory), f"--group-pages={wanted}"]) == 2
    assert f"--group-pages: '{wanted}' is not a number of groups, all or none" in capsys.readouterr().err


def test_sums_and_extremes_are_those_of_the_rows(directory):
    series = groups_charts.groups_series(read_groups(directory))
    assert [group.number for group in series.grouped.groups] == [0, 1, 2, 4] and len(series.planned) == 5
    received = dict.fromkeys(series.seconds, 0.0)
    for path in directory.glob("group-*/ranks/*-consumer.csv"):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                received[int(row["second"])] += 8 * float(row["received_bytes"]) / float(row["covered_s"])
    total, single = groups_charts.goodput(series).panels
    factor = {"Gb/s": 1e9, "Mb/s": 1e6}[total.unit]
    np.testing.assert_allclose(total.lines[0].y * factor, list(received.values()))
    assert total.lines[1].y[0] * factor == pytest.approx(5 * 2 * 400e6)
    slowest = next(line for line in single.lines if line.name == "slowest group")
    assert slowest.notes[1:3] == ["group 1"] * 2
    occupancy = groups_charts.buffers(series).panels[0]
    fullest = next(line for line in occupancy.lines if line.name == "fullest group")
    worst = read_groups(directory).groups[1].totals["max_occupancy"]
    assert np.nanmax(fullest.y) == pytest.approx(worst, rel=1e-3)
    assert fullest.notes[int(np.nanargmax(fullest.y))] == "group 1"
    assert series.measured == (0, 2)


def test_groups_that_end_at_other_seconds_are_summed_by_second(directory):
    for path in (directory / "group-02" / "ranks").glob("*.csv"):
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    series = groups_charts.groups_series(read_groups(directory))
    assert np.isfinite(series.rates[2][0]) and np.isnan(series.rates[2][1:]).all()
    total = groups_charts.goodput(series).panels[0]
    assert np.isfinite(total.lines[0].y).all()


def test_groups_of_different_sizes_have_a_common_target(directory, page_of):
    edited(directory, lambda record: record["groups"][0].update(producers=4, consumers=5))
    series = groups_charts.groups_series(read_groups(directory))
    total, single = groups_charts.goodput(series).panels
    assert total.lines[1].name == "target 4.8 Gb/s"  # 4 + 4 x 2 producers of 400 Mb/s
    assert not [line for line in single.lines if line.style == "target"]
    assert "5 groups with 10 producers and 14 consumers in all" in page_of(directory)


def test_a_job_as_weir_writes_it(simulate, page_of):
    directory = simulate(*grouped.OPTIONS, "--groups", "3")
    page = page_of(directory)
    assert "3 groups of 2 producers and 3 consumers each" in page
    assert "3 of 3</b>" in page and "<strong>SUSTAINED</strong>" in page
    assert page.count('<section class="group"') == 3 and "group-02/report.html" in page and "target 2.4 Gb/s" in str(
        groups_charts.goodput(groups_charts.groups_series(read_groups(directory))))


def break_record(place):
    (place / "run.json").write_text("{")


def remove_record(place):
    (place / "run.json").unlink()


def break_rows(place):
    path = next((place / "ranks").glob("*-consumer.csv"))
    path.write_text(path.read_text().replace("measure", "mesure"))


@pytest.mark.parametrize("change, words", [
    (break_record, "group-01/run.json, line 1"), (remove_record, "no run.json in it"),
    (shutil.rmtree, "no such directory"), (break_rows, "-consumer.csv, line 3"),
    (lambda place: shutil.rmtree(place / "ranks"), "consumer files are missing")])
def test_what_is_broken_of_one_group_is_named_and_the_others_are_drawn(directory, page_of, change, words):
    change(directory / "group-01")
    page = page_of(directory)
    broken = section_of(page, 1)
    assert words in broken and "Group 1: NOT SUSTAINED" in broken
    assert words not in section_of(page, 0)
    assert 'id="goodput"' in page
    drawn = groups_charts.groups_series(read_groups(directory)).grouped.groups
    assert [group.number for group in drawn] == [0, 2, 4]


def test_a_job_of_which_nothing_is_left_has_a_page(directory, page_of):
    for place in directory.glob("group-*"):
        shutil.rmtree(place)
    page = page_of(directory)
    assert "Group 1: NOT SUSTAINED" in page and 'id="goodput"' not in page and "None of the groups has a page" in page


def test_many_groups_fold(directory, page_of):
    def many(record):
        record["groups"] = [{**record["groups"][0], "group": number, "directory": f"group-{number:03}"}
                            for number in range(130)]
    page = page_of(edited(directory, many))
    assert page.count('<section class="group"') == groups_page.SECTIONS_MAX
    assert "The other 30 groups are in the table only." in page
    assert "<summary>The other 118 groups</summary>" in page


@pytest.mark.parametrize("change, words", [
    (lambda record: record.update(schema="weir-groups/2"), 'reads up to "weir-groups/1"'),
    (lambda record: record.update(groups=None), "groups: None is not of type 'array'; the file is damaged"),
    (lambda record: record["groups"][0].update(directory="../elsewhere"),
     "groups[0].directory: '../elsewhere' does not match"),
    (lambda record: record["groups"][1].update(verdict=3), "groups[1].verdict"),
    (lambda record: record["verdict"].update(text=None), "verdict.text: None is not of type 'string'"),
    (lambda record: record.pop("plan"), "'plan' is a required property")])
def test_a_damaged_record_is_named(directory, change, words, capsys):
    edited(directory, change)
    assert report_command.main([str(directory)]) == 2
    printed = capsys.readouterr().err
    assert f"{directory}/run.json: " in printed and words in printed and printed.count("\n") == 1


def test_text_from_outside_is_escaped(directory, page_of):
    nasty = "<script>alert('x')</script>"

    def change(record):
        record["labels"] = {"label": nasty}
        record["verdict"]["text"] = nasty
        record["groups"][3]["failure"]["what"] = nasty
        record["groups"][0]["hosts"] = [nasty]
    page = page_of(edited(directory, change))
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


@pytest.mark.parametrize("seed", [1])
def test_broken_files_are_named_or_shown(directory, no_pictures, seed):
    chance, end, tried = random.Random(seed), time.monotonic() + 3, 0
    out = directory.parent / "page.html"
    while tried <= 10 or time.monotonic() < end:
        tried += 1
        path, before = damaged(directory, chance)
        if chance.randrange(2):
            path.write_bytes(before)
            path, before = directory / "run.json", (directory / "run.json").read_bytes()
            record = json.loads(before)
            place = chance.choice([record, record["verdict"], record["groups"][0], record["groups"][1]["verdict"],
                                   record["plan"]["resolved"]])
            place[chance.choice(sorted(place))] = chance.choice(
                [None, True, -1, 0, 0.5, 1e308, 10**30, "", "text", [], {}, [1]])
            path.write_text(json.dumps(record))
        try:
            groups_page.write_groups_page(read_groups(directory), out, directory.parent / "figures", [], "", 0)
        except ReportError as error:
            assert str(directory) in str(error)
        except Exception as error:
            raise AssertionError(f"attempt {tried}, {path.name}: {path.read_bytes()[:20000]!r}") from error
        path.write_bytes(before)
    assert tried > 10


REFUSED = ('run.json: it is the record of a job with several groups (schema "weir-groups/1"), not of one run; give the '
           'directory of one group, for example {}/group-00')


def test_other_commands_name_what_would_be_right(directory, tmp_path, capsys):
    expected = f"{directory}/{REFUSED.format(directory)}"
    with pytest.raises(ReportError, match=re.escape(expected)):
        read_run(directory)
    group = str(directory / "group-00")
    for command, arguments in ((compare_command, [group, "--against", str(directory)]),
                               (report_command, [str(directory), "--openmetrics", str(tmp_path / "out.txt")]),
                               (report_command, [str(directory), "--prometheus", str(tmp_path / "out.prom")]),
                               (traffic_command, ["slowdown", str(directory), group])):
        assert command.main(arguments) == 2, command
        assert expected in capsys.readouterr().err
    assert report_command.main([str(directory), "--serve"]) == 2
    assert f"--serve: {directory} is a job with several groups; give the directory of one" in capsys.readouterr().err
    assert report_command.main([str(directory), group]) == 2
    assert ("it is the record of a job with several groups, which has a page of its own: give it alone"
            in capsys.readouterr().err)
