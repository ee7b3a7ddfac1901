"""Calls of slurm/switch-readers, for their tests."""

import contextlib
import io
import runpy
import subprocess
import sys
from unittest import mock

from conftest import ROOT
from weir_runs.reading import switch_reading

READERS = ROOT / "slurm/switch-readers"


def call(*words, expect=0, text=None):
    done = subprocess.run([sys.executable, "-B", str(READERS / words[0]), *map(str, words[1:])], capture_output=True,
                          text=True, timeout=30, check=False, input=text)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout if expect == 0 else done.stderr


def read(reader, text, *more):
    """{(port, priority, name): value} of an output; what the reader prints is what weir-sweep accepts."""
    said, printed = _inside(reader, text, *more)
    assert said is None, said
    return {counter.key: counter.value for counter in switch_reading.parse(printed)}


def refusal(reader, text, *more):
    """What a reader says of an output that it does not take: one line, and no traceback."""
    said, printed = _inside(reader, text, *more)
    assert said and said.startswith(f"{reader}: ") and "\n" not in said and not printed, (said, printed)
    return said


def _inside(reader, text, *more):
    """As `call`, in this process: Python takes longer to start than a reader to read."""
    path, printed, said = READERS / reader, io.StringIO(), None
    given = mock.Mock(buffer=io.BytesIO(text.encode()))
    with mock.patch.object(sys, "argv", [str(path), *more, "--from", "-"]), mock.patch.object(sys, "stdin", given), \
            mock.patch.object(sys, "path", [str(READERS), *sys.path]), contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as end:
            said = end.code
    return said, printed.getvalue()
