"""Files that a user names, and what lies in a directory that a user names: regular ones only, read without ever
waiting, up to a size. A FIFO or /dev/zero in the place of a file would hang the reader."""

import json
import math
import os
import re
import stat

from .errors import ReportError
from .terminal_text import UNSAFE, shown

MOST_BYTES = 2 << 30
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # of UTF-8
KINDS = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
         stat.S_IFSOCK: "a socket"}

# As it is in the text of a file: itself, or escaped.
_UNSAFE_IN_JSON = re.compile(
    f"[{UNSAFE}]|\\\\u(?:00[0189]|061[Cc]|20[026]|[Ff][Ee][Ff][Ff]|[Ff][Dd][DdEe]|[Dd][89A-Fa-f])|\\\\[bf]")


def read_json(text):
    """The value of a text in JSON, of which all texts are safe to show and all numbers finite. Raises ValueError."""
    value = json_as_written(text)
    return _safe(value) if _UNSAFE_IN_JSON.search(text) else value


def json_as_written(text):
    """The same with texts as they are: for what is compared with other files, or searched for in them."""
    return json.loads(text, parse_constant=_refuse, parse_float=_finite)


def _refuse(name):
    raise ValueError(f"{name} is no number of JSON")


def _finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large for a number")
    return value


def _safe(value):
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, list):
        return [_safe(each) for each in value]
    return {shown(name): _safe(each) for name, each in value.items()} if isinstance(value, dict) else value


def read_bytes(path, expected, most_bytes=MOST_BYTES):
    """The whole content, without the byte order mark that some editors put before it. `expected`: what would be right
    instead ("a sweep file in TOML"). Raises ReportError."""
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
    return content.removeprefix(BYTE_ORDER_MARK)


def read_text(path, expected, most_bytes=MOST_BYTES):
    try:
        return read_bytes(path, expected, most_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: not text in UTF-8 (byte {error.start})") from error


def read_object(path, expected, as_written=False):
    """The object of JSON in a file. `as_written`: see json_as_written. Raises ReportError."""
    return object_of(path, read_text(path, expected), expected, as_written)


def object_of(path, text, expected, as_written=False):
    """The same of a text that was read from `path`."""
    try:
        found = json_as_written(text) if as_written else read_json(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path}: damaged ({error}); {expected} is expected") from error
    if not isinstance(found, dict):
        raise ReportError(f"{path}: damaged (no object of JSON); {expected} is expected")
    return found


def _check_kind(path, mode, expected):
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "a special file")
        raise ReportError(f"{path}: it is {kind}, not a file; {expected} is expected")
