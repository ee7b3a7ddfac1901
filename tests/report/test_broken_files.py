"""Broken files: whatever happened to a run directory, its readers print a sentence that names the file, or read it.
Never another exception. Seeded, so that a failure comes again: the seed is in the test's name."""

import json
import random
import time

import pytest

from weir_runs.basics.errors import ReportError
from weir_runs.figures import counter_charts, heat_maps, latency_charts, time_charts
from weir_runs.pages.report_page import section
from weir_runs.reading.key_figures import key_figures
from weir_runs.reading.run import read_run

SECONDS_EACH = 3
CHARTS = (time_charts.slowest_sets, time_charts.buffers, time_charts.throughput, time_charts.by_events,
          time_charts.where_the_time_went, heat_maps.ranks_by_second, heat_maps.traffic, latency_charts.latencies,
          latency_charts.gaps, counter_charts.counters)
ODD_TEXTS = [b"", b",", b"\n", b"\r\n", b'"', b"nan", b"inf", b"-1", b"1e308", b"1e999", b"9223372036854775808",
             b"\x00", b"\xff\xfe", b"measure", b"0x10", b"{", b"]", b"null", b"0.5", b"99999999999999999999"]
ODD_VALUES = [None, True, -1, 0, 0.5, 1e308, 2**63, 10**30, "", "text", "NaN", [], {}, [1], {"a": 1}]


def damage_text(content, chance):
    """Some bytes written over, put in or left out, or the end cut off."""
    content = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(content) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            content[at:at + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            content[at:at] = chance.choice(ODD_TEXTS)
        elif kind == 2:
            del content[at:at + chance.randint(1, 40)]
        elif kind == 3:
            lines = content.split(b"\n")
            line = chance.randrange(len(lines))
            fields = lines[line].split(b",")
            fields[chance.randrange(len(fields))] = chance.choice(ODD_TEXTS)
            lines[line] = b",".join(fields)
            content = bytearray(b"\n".join(lines))
        else:
            del content[at:]
    return bytes(content)


def damage_value(record, chance):
    """Another value somewhere in the record, or one left out."""
    places = []

    def walk(value):
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            walk(value[key])
    walk(record)
    container, key = chance.choice(places)
    if isinstance(container, dict) and chance.randrange(4) == 0:
        del container[key]
    else:
        container[key] = chance.choice(ODD_VALUES)


def read_everything(directory):
    run = read_run(directory)
    for role in ("producer", "consumer", "scheduler"):
        run.rows(role)
    run.traffic()
    run.host_counters()
    assert run.started_at is None or run.started_at.year > 0
    key_figures(run)
    section(run, 0, [], [])
    for make in CHARTS:
        make(run)


def damaged(directory, chance):
    """Damages one file, and returns what undoes it."""
    path = chance.choice(sorted(path for path in directory.rglob("*") if path.is_file()))
    before = path.read_bytes()
    if path.name == "run.json" and chance.randrange(4) > 0:
        record = json.loads(before)
        damage_value(record, chance)
        path.write_text(json.dumps(record), encoding="utf-8")
    else:
        path.write_bytes(damage_text(before, chance))
    return path, before


@pytest.mark.parametrize("old,new,refusal", ((b",covered_s,", b",\xff,", "no column 'covered_s'"),
                                             (b"3355443200,", b"33554432\x0c,", None)))
def test_a_damaged_name_is_refused_and_a_form_feed_ends_no_line(stored, old, new, refusal):
    directory = stored("overflow")
    for path in (directory / "ranks").glob("*-producer.csv"):
        path.write_bytes(path.read_bytes().replace(old, new))
    if refusal is None:
        read_everything(directory)
        return
    with pytest.raises(ReportError, match=refusal):
        read_everything(directory)


@pytest.mark.parametrize("name", ["measured", "overflow", "interrupted"])
@pytest.mark.parametrize("seed", [1])
def test_broken_files_are_named(stored, name, seed):
    directory = stored(name)
    (directory / "traffic.csv").write_text("producer,consumer,received_events,received_bytes\n0,0,3,300\n0,1,1,9\n")
    (directory / "hosts").mkdir(exist_ok=True)
    (directory / "hosts" / "eb01.csv").write_text("second,phase,wall_time,eth0.rx_bytes\n0,measure,x,3\n"
                                                  "1,measure,x,4\n")
    chance = random.Random(seed)
    end = time.monotonic() + SECONDS_EACH
    tried = 0
    while tried <= 10 or time.monotonic() < end:
        tried += 1
        path, before = damaged(directory, chance)
        try:
            read_everything(directory)
        except ReportError as error:
            assert str(directory) in str(error)
        except Exception as error:
            raise AssertionError(f"attempt {tried}, {path.name}: {path.read_bytes()[:20000]!r}") from error
        path.write_bytes(before)
    assert tried > 10


@pytest.mark.parametrize("wrong", ("1e999", "nan", "inf", "x", "1 2"))
def test_what_is_no_number_is_named(stored, wrong):
    directory = stored("overflow")
    (directory / "hosts").mkdir()
    path = directory / "hosts" / "eb01.csv"
    path.write_text(f"second,phase,wall_time,eth0.rx_bytes\n0,measure,nan,3\n1,measure,x,{wrong}\n")
    with pytest.raises(ReportError, match=f"eb01.csv, line 3: '{wrong}' in column eth0.rx_bytes is not a number"):
        read_run(directory).host_counters()


def test_cells_without_a_number_are_none_wherever_they_stand(stored):
    directory = stored("overflow")
    (directory / "hosts").mkdir()
    (directory / "hosts" / "eb01.csv").write_bytes(b"second,a,b,phase,c\r\n0,,,measure,\r\n1,2,,nan,3\r\n")
    counters = read_run(directory).host_counters()["eb01"]
    assert {name: repr(values.tolist()) for name, values in counters.items()} == {
        "second": "[0.0, 1.0]", "a": "[nan, 2.0]", "b": "[nan, nan]", "c": "[nan, 3.0]"}


def test_files_without_a_whole_row_are_no_rows(stored):
    directory = stored("interrupted")
    path = next((directory / "ranks").glob("*-producer.csv"))
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n-1,warmup,2026")
    run = read_run(directory)
    assert len(run.rows("producer").seconds) == 0
    assert "The last line of 1 of 1 producer files is cut" in run.remarks[-1]


def test_counters_without_a_row_make_no_chart(stored):
    directory = stored("overflow")
    (directory / "hosts").mkdir()
    (directory / "hosts" / "eb01.csv").write_text("second,phase,wall_time,eth0.rx_bytes\n0,mea")
    assert counter_charts.counters(read_run(directory)) is None
