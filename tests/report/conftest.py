"""What the tests of the report share: the stored runs of runs/, and copies of them that may be damaged."""

import contextlib
import errno
import functools
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

ROOT = Path(os.environ.get("WEIR_SOURCE_DIR", Path(__file__).resolve().parents[2]))
RUNS = Path(__file__).parent / "runs"
COMMANDS = {"weir-report": "weir_runs.report_command", "weir-compare": "weir_compare.compare_command",
            "weir-sweep": "weir_suites.sweep_command"}
sys.path.insert(0, str(ROOT / "src" / "report"))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out by tests/run --quick")


def start(command, *words, cwd="/", **variables):
    """The process of a command, as outside of any job of SLURM. What it prints comes together."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    return subprocess.Popen([sys.executable, "-m", COMMANDS[command], *map(str, words)], cwd=cwd, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**clean, "PYTHONPATH": str(ROOT / "src/report"), "PYTHONDONTWRITEBYTECODE": "1",
                                 **variables})


def call(command, *words, expect=0, **more):
    """What a command prints that ends with this status; `more`: see start()."""
    process = start(command, *words, **more)
    try:
        said = process.communicate(timeout=200)[0]
    finally:
        process.kill()
    assert process.returncode == expect, f"{words}: {process.returncode}\n{said}"
    return said


def call_inside(command, *words, expect=0, **variables):
    """As `call`, in this process: Python and its libraries take longer to start than many a command takes.
    `expect`: None for any status."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), mock.patch.dict(os.environ, variables):
        try:
            status = importlib.import_module(COMMANDS[command]).main(list(map(str, words)))
        except SystemExit as ended:
            status = ended.code
    assert expect in (status, None), f"{words}: {status}\n{said.getvalue()}"
    return said.getvalue()


def until(holds, process=None, limit_s=60):
    """Waits, and fails if `process` ends before."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None, process.communicate()[0]
        time.sleep(0.02)


def script(path, body):
    """A program of the shell."""
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@contextlib.contextmanager
def editing(path):
    """A record in JSON, or the run.json of a directory, which is written again after the block."""
    path = Path(path, "run.json") if Path(path).is_dir() else Path(path)
    record = json.loads(path.read_text())
    yield record
    path.write_text(json.dumps(record))


def edited(directory, change):
    """`change` is called with run.json as a dictionary."""
    with editing(directory) as record:
        change(record)
    return directory


@pytest.fixture
def stored(tmp_path):
    """stored(name): a copy of a stored run."""
    def copy(name, new_name=None):
        return Path(shutil.copytree(RUNS / name, tmp_path / (new_name or name)))
    return copy


@pytest.fixture
def no_pictures(monkeypatch):
    """Figure files take longer than all else, and only tests of them need what is in them."""
    from weir_runs.figures import matplotlib_figures
    monkeypatch.setattr(matplotlib_figures, "rendered",
                        lambda chart, formats, title=None: dict.fromkeys(formats, b"picture"))


@pytest.fixture
def page_of(no_pictures):
    """page_of(directory, options...): the text of the page, with empty pictures."""
    from weir_runs import report_command

    def of(directory, *options):
        assert report_command.main([str(directory), "--quiet", "--figures", "none", *options]) == 0
        return (directory / "report.html").read_text()
    return of


@pytest.fixture(scope="session")
def weir():
    """The program; tests that need fresh runs are skipped where ctest does not pass its path."""
    program = os.environ.get("WEIR")
    if not program:
        pytest.skip("WEIR does not name the program")
    return program


@pytest.fixture(scope="session")
def simulate(weir, tmp_path_factory):
    """simulate(options...): the directory of a new simulated run."""
    top = tmp_path_factory.mktemp("simulated")
    count = iter(range(1000))

    def run(*options):
        directory = top / f"run-{next(count)}"
        subprocess.run([weir, "simulate", "--out", str(directory), "--quiet", *options], check=True,
                       capture_output=True, timeout=60)
        return directory
    return run


@pytest.fixture
def write(tmp_path):
    """write(name, text): the path of a file with this content."""
    def put(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path
    return put


@pytest.fixture
def file_of(write):
    """file_of(text): the path of a plan with this content."""
    return functools.partial(write, "plan.toml")


@pytest.fixture
def full_disk(monkeypatch):
    """full_disk(name): there is no space left when a file of this name is written."""
    def of(name):
        def fsync(descriptor):
            if name in os.readlink(f"/proc/self/fd/{descriptor}"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        monkeypatch.setattr(os, "fsync", fsync)
    return of
