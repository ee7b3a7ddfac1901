"""Files that a user names, and what lies in a directory that a user names: regular ones only, read without ever waiting,
up to a size. A FIFO or /dev/zero in the place of a file would hang the reader."""

import os
import stat

from .errors import ReportError

MOST_BYTES = 2 << 30
KINDS = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
         stat.S_IFSOCK: "a socket"}


def read_bytes(path, expected, most_bytes=MOST_BYTES):
    """The whole content. `expected`: what would be right instead ("a sweep file in TOML"). Raises ReportError."""
    try:
        # Looked at before it is opened, because to open a device can do something to it.
        _check_kind(path, os.stat(path).st_mode, expected)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            _check_kind(path, os.fstat(descriptor).st_mode, expected)
            content = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: {getattr(error, 'strerror', None) or error}; {expected} is expected") from error
    if content is None:  # it would have to be waited for
        raise ReportError(f"{path}: it has no content now; {expected} is expected")
    if len(content) > most_bytes:
        raise ReportError(f"{path}: it has more than {most_bytes} bytes; {expected} is expected")
    return content


def read_text(path, expected, most_bytes=MOST_BYTES):
    try:
        return read_bytes(path, expected, most_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: not text in UTF-8 (byte {error.start})") from error


def _check_kind(path, mode, expected):
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "a special file")
        raise ReportError(f"{path}: it is {kind}, not a file; {expected} is expected")
