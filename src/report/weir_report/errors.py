"""What can be wrong with files and options that come from outside, and what Ctrl-C does."""

import contextlib
import signal


class ReportError(Exception):
    """A message for people: it names the file (and the line, where there is one), what was found, and what would be
    right. Commands print it after their name and exit with status 2."""


def end_quietly_when_interrupted():
    """Ctrl-C ends the command as it ends any other program. Python's own way, an exception, comes out of the libraries
    as other errors (pandas: ParserError), and there is nothing to tidy up: files are written at the end."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def naming(path):
    """Errors of writing `path` that do not say which file it was (a full disk) do so afterwards."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def said(error):
    """An OSError as people read it."""
    return f"{error.filename or 'standard output'}: {error.strerror}"
