"""Calls of slurm/switch-readers, for their tests."""

import subprocess
import sys

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
    return {counter.key: counter.value
            for counter in switch_reading.parse(call(reader, *more, "--from", "-", text=text))}


def refusal(reader, text, *more):
    """What a reader says of an output that it does not take: one line, and no traceback."""
    message = call(reader, *more, "--from", "-", text=text, expect=1)
    assert message.startswith(f"{reader}: ") and message.count("\n") == 1, message
    return message
