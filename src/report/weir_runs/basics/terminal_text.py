"""Text that terminals and pages show and do not obey: names in files of others can have escape sequences in them, or
turn the direction of a line."""

import contextlib
import os
import re
import sys

# Control characters, those that change the direction of text or cannot be seen, what was no UTF-8, and the marks below.
UNSAFE = ("\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufdd0-\ufdef"
          "\ud800-\udfff\U000e0000-\U000e007f")
_UNSAFE = re.compile(f"[{UNSAFE}]")
# Colours of weir's own, as characters that are none: they become escape sequences on their way to the terminal, when
# all others are spelt out.
RED, GREEN, FAINT, BOLD, RESET = MARKS = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4"
_SEQUENCES = dict(zip(MARKS, ("\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[1m", "\x1b[0m")))
_ON_A_TERMINAL = re.compile(f"[{UNSAFE}]|\r(?!\n)")


def is_coloured():
    """Whether standard output is a terminal that may have colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def shown(text):
    """`text` with what is unsafe spelt out: \\u202e, \\U000e0041, and \\xff for a byte that is no UTF-8."""
    return _UNSAFE.sub(_spelt_out, text)


def _spelt_out(match):
    number = ord(match[0])
    if 0xdc80 <= number <= 0xdcff:
        return f"\\x{number - 0xdc00:02x}"
    return f"\\u{number:04x}" if number <= 0xffff else f"\\U{number:08x}"


class _Stream:
    """Standard output or error, on which nothing unsafe is printed."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        self._stream.write(_ON_A_TERMINAL.sub(lambda match: _SEQUENCES.get(match[0]) or _spelt_out(match), text))
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __getattr__(self, name):
        return getattr(self._stream, name)


@contextlib.contextmanager
def safe_streams():
    """What is printed meanwhile, also messages of argparse, obeys nobody but weir."""
    with contextlib.redirect_stdout(_safe(sys.stdout)), contextlib.redirect_stderr(_safe(sys.stderr)):
        yield


def _safe(stream):
    return stream if isinstance(stream, _Stream) else _Stream(stream)
