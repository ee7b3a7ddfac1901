"""What the tests of the report share: the stored runs of runs/, and copies of them that may be damaged."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("WEIR_SOURCE_DIR", Path(__file__).resolve().parents[2]))
RUNS = Path(__file__).parent / "runs"
sys.path.insert(0, str(ROOT / "src" / "report"))


@pytest.fixture
def stored(tmp_path):
    """stored(name): a copy of a stored run."""
    def copy(name, new_name=None):
        return Path(shutil.copytree(RUNS / name, tmp_path / (new_name or name)))
    return copy


@pytest.fixture
def no_pictures(monkeypatch):
    """Figure files take longer than all else, and only tests of them need what is in them."""
    from weir_report.figures import matplotlib_figures
    monkeypatch.setattr(matplotlib_figures, "rendered", lambda chart, formats, title=None: dict.fromkeys(formats, b"picture"))


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
def file_of(tmp_path):
    """file_of(text): the path of a file with this content."""
    def write(content):
        (tmp_path / "plan.toml").write_text(content)
        return tmp_path / "plan.toml"
    return write


@pytest.fixture
def full_disk(monkeypatch):
    """full_disk(name): there is no space left when a file of this name is written."""
    def of(name):
        def fsync(descriptor):
            if name in os.readlink(f"/proc/self/fd/{descriptor}"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        monkeypatch.setattr(os, "fsync", fsync)
    return of
