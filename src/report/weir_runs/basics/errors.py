"""Errors of files and options that come from outside, and how commands end."""

import contextlib
import os
import signal
import sys
from pathlib import Path

from .terminal_text import safe_streams


class ReportError(Exception):
    """A message for people: it names the file (and the line, where there is one), what was found, and what would be
    right. Commands print it after their name and exit with status 2."""


def status_of(command, work, of_files=2):
    """Exit status of a command: what `work` returns, or 0. What comes from outside and is wrong is a message and 2, or
    `of_files` if a file could not be read or written. That a reader has closed the pipe, as head does, is no error.

    Ctrl-C ends the command as it ends any other program. Python's own way, an exception, comes out of the libraries as
    other errors, and there is nothing to tidy up: files are written at the end. What has
    temporary files meanwhile (compare/proofs.py) removes them itself."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with safe_streams():
        return _status_of(command, work, of_files)


def _status_of(command, work, of_files):
    try:
        status = work() or 0
        sys.stdout.flush()
        return status
    except ReportError as error:
        print(f"{command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"{command}: {_os_error_text(error)}", file=sys.stderr)
        return of_files


@contextlib.contextmanager
def naming(path):
    """Adds the file's name to errors of writing `path` that lack it (a full disk)."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _os_error_text(error):
    """An OSError as a message: the file, or the directory that it lacks, and the reason."""
    if isinstance(error, FileNotFoundError) and error.filename:
        directory = Path(os.fsdecode(error.filename)).parent
        if not directory.exists():
            return f"{error.filename}: there is no directory {directory}; make it first"
    return f"{error.filename or 'standard output'}: {error.strerror}"
