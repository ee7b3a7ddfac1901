"""Errors of files and options that come from outside, and what Ctrl-C does."""

import contextlib
import os
import signal
from pathlib import Path


class ReportError(Exception):
    """A message for people: it names the file (and the line, where there is one), what was found, and what would be
    right. Commands print it after their name and exit with status 2."""


def end_quietly_when_interrupted():
    """Ctrl-C ends the command as it ends any other program. Python's own way, an exception, comes out of the libraries
    as other errors (pandas: ParserError), and there is nothing to tidy up: files are written at the end. What has temporary
    files meanwhile (proofs.py) removes them itself."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def naming(path):
    """Adds the file's name to errors of writing `path` that lack it (a full disk)."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def os_error_text(error):
    """An OSError as a message: the file, or the directory that it lacks, and the reason."""
    if isinstance(error, FileNotFoundError) and error.filename:
        directory = Path(os.fsdecode(error.filename)).parent
        if not directory.exists():
            return f"{error.filename}: there is no directory {directory}; make it first"
    return f"{error.filename or 'standard output'}: {error.strerror}"
