"""What is no file, has no end or nobody writes to: refused at once, by each of the commands that read it."""

import os

import pytest

from conftest import call, start
from weir_compare.sweep import claim_files
from weir_runs.basics import input_file
from weir_runs.basics.errors import ReportError
from weir_runs.reading.run import Run, read_run


def put(path, kind):
    """Something else in the place of a file."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    elif kind == "directory":
        path.mkdir()
    return path


def refused(*words):
    """The one line that a command prints."""
    said = call(*words, expect=2)
    assert said.count("\n") == 1, said
    return said


@pytest.mark.parametrize("kind, words",
                         [("pipe", "it is a pipe, not a file"), ("endless", "it is a device, not a file"),
                          ("directory", "it is a directory, not a file")])
def test_what_is_no_file_is_refused(tmp_path, kind, words):
    path = put(tmp_path / "x", kind)
    with pytest.raises(ReportError, match=f"x: {words}; a thing is expected"):
        input_file.read_bytes(path, "a thing")
    with pytest.raises(ReportError, match=f"x: {words}; a record of weir is expected"):
        claim_files.record_in(path)


def test_what_is_read_is_bounded(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert input_file.read_bytes(path, "a thing", 5) == b"12345"
    with pytest.raises(ReportError, match="more than 4 bytes; a thing is expected"):
        input_file.read_bytes(path, "a thing", 4)
    with pytest.raises(ReportError, match="No such file or directory; a thing is expected"):
        input_file.read_bytes(tmp_path / "y", "a thing")
    path.write_bytes(b"a\xff")
    with pytest.raises(ReportError, match="not text in UTF-8"):
        input_file.read_text(path, "a thing")


@pytest.mark.parametrize("place, read", [("run.json", lambda run: None), ("traffic.csv", Run.traffic),
                                         ("hosts/a.csv", Run.host_counters),
                                         ("ranks/rank-00001-producer.csv", lambda run: run.rows("producer"))])
def test_every_file_of_a_run_is_read_so(stored, place, read):
    directory = stored("measured")
    (directory / "hosts").mkdir(exist_ok=True)
    put(directory / place, "pipe")
    with pytest.raises(ReportError, match=f"{place}: it is a pipe, not a file; "):
        read(read_run(directory))


@pytest.mark.parametrize("name", ["weir-report", "weir-compare"])
def test_commands_say_it_in_a_line(stored, name):
    directory = stored("measured")
    put(directory / "run.json", "endless")
    more = ("--against", stored("measured", "other")) if name == "weir-compare" else ()
    said = refused(name, directory, *more)
    assert said.startswith(f"{name}: ") and "run.json: it is a device, not a file; " in said


@pytest.mark.parametrize("begin, filler, words",
                         [("", 0, "it is empty; a sweep file in TOML is expected"),
                          ("x = ", 100000, "nested too deeply"), ("", 1000001, "more than 1000000 bytes")])
def test_a_sweep_file_that_is_none(tmp_path, begin, filler, words):
    path = tmp_path / "s.toml"
    path.write_text(begin + "[" * filler)
    said = refused("weir-sweep", "plan", path)
    assert said.startswith(f"weir-sweep: {path}: ") and words in said


def test_a_sweep_file_that_is_no_file(tmp_path):
    path = put(tmp_path / "s.toml", "pipe")
    assert ", not a file; a sweep file in TOML is expected" in refused("weir-sweep", "plan", path)


@pytest.mark.parametrize("brackets, words", [(0, "it is empty"), (100000, "nested too deeply")])
def test_a_record_that_is_damaged(stored, brackets, words):
    directory = stored("measured")
    (directory / "run.json").write_text("[" * brackets)
    said = refused("weir-report", directory)
    assert words in said and "run.json" in said


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    """As spreadsheets and editors of Windows write it."""
    path = tmp_path / "sweep.toml"
    path.write_bytes(b"\xef\xbb\xbfrepetitions = 1\n[run]\nproducers = 1\n")
    assert input_file.read_text(path, "a thing").startswith("repetitions")
    assert "Invalid statement" not in start("weir-sweep", "plan", path).communicate(timeout=60)[0]
