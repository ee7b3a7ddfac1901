"""What commands write into directories of others: whole, and never through a link that lies there."""

import os
import stat

import pytest

from weir_compare import compare_command
from weir_runs import report_command
from weir_runs.basics import whole_file
from weir_runs.basics.errors import ReportError


@pytest.fixture
def victim(tmp_path):
    made = tmp_path / "victim"
    made.write_text("mine")
    yield made
    assert made.read_text() == "mine"


def test_a_link_in_the_place_of_a_page_is_replaced(stored, victim):
    run = stored("measured")
    (run / "report.html").symlink_to(victim)
    assert report_command.main([str(run), "--quiet"]) == 0
    assert not (run / "report.html").is_symlink() and (run / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert sorted(path.name for path in run.iterdir() if path.name.startswith(".")) == []


def test_a_link_in_the_place_of_figures_is_refused(stored, victim, capsys):
    run = stored("measured")
    (run / "figures").symlink_to(victim.parent)
    assert report_command.main([str(run), "--quiet", "--figures", "png"]) == 2
    assert f"{run}/figures: it is a symbolic link" in capsys.readouterr().err
    assert not list(victim.parent.glob("*.png"))


def test_a_link_in_the_place_of_a_comparison_is_replaced(stored, victim, tmp_path):
    runs = [str(stored("measured", f"run-{number}")) for number in range(2)]
    for name in ("page.html", "page.json"):
        (tmp_path / name).symlink_to(victim)
    compare_command.main([runs[0], "--against", runs[1], "--page", str(tmp_path / "page.html"), "--json",
                          str(tmp_path / "page.json")])
    assert not any((tmp_path / name).is_symlink() for name in ("page.html", "page.json"))


def test_what_is_given_as_a_device_is_written_to():
    reading, writing = os.pipe()
    whole_file.replace(f"/dev/fd/{writing}", "piped")
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "piped"
    whole_file.replace("/dev/null", "gone")
    assert stat.S_ISCHR(os.lstat("/dev/null").st_mode)


def test_what_is_given_as_a_pipe_is_written_to(tmp_path, monkeypatch):
    pipe = tmp_path / "p"
    os.mkfifo(pipe)
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as reading:
        whole_file.replace(pipe, "piped")
        assert reading.read() == "piped"
    (tmp_path / "link").symlink_to(pipe)
    whole_file.replace(tmp_path / "link", "a file")
    assert (tmp_path / "link").read_text() == "a file" and stat.S_ISFIFO(os.lstat(pipe).st_mode)
    monkeypatch.setattr(whole_file.os, "geteuid", lambda: os.getuid() + 1)  # of somebody else, whom nobody waits for
    whole_file.replace(pipe, "a file")
    assert pipe.read_text() == "a file"


def test_files_are_whole_or_not_at_all(tmp_path):
    target = tmp_path / "a"
    whole_file.replace(target, "one")
    with pytest.raises(KeyError), whole_file.writing(target) as file:
        file.write(b"half")
        raise KeyError
    assert target.read_text() == "one" and list(tmp_path.iterdir()) == [target]
    mask = os.umask(0o027)
    try:
        whole_file.replace(target, b"two")
    finally:
        os.umask(mask)
    assert target.read_bytes() == b"two" and target.stat().st_mode & 0o777 == 0o640
    assert not whole_file.create(target, "three")
    assert whole_file.create(tmp_path / "b", "four") and list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("place, named", [("nowhere/a", "nowhere/a"), ("directory", "directory")])
def test_errors_name_the_file_that_was_to_be_written(tmp_path, place, named):
    (tmp_path / "directory").mkdir()
    with pytest.raises(OSError) as raised:
        whole_file.replace(tmp_path / place, "x")
    assert raised.value.filename == str(tmp_path / named)
    with pytest.raises(ReportError, match="symbolic link"):
        (tmp_path / "link").symlink_to(tmp_path / "directory")
        whole_file.make_directory(tmp_path / "link")


def test_a_file_is_there_as_a_whole_or_not(tmp_path, monkeypatch):
    path = tmp_path / "file"
    whole_file.replace(path, "old")

    def full(_):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as refused:
        whole_file.replace(path, "new")
    assert refused.value.filename == str(path) and path.read_text() == "old"
    with pytest.raises(OSError):
        whole_file.create(tmp_path / "other", "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
