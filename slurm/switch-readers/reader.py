"""What the readers of switches share: run a switch's commands, convert what they print, print the lines that weir-sweep
reads."""

import argparse
import json
import re
import subprocess
import sys

PRIORITIES = 8
LARGEST = 2**64 - 1
PORT = re.compile(r"[^\s\x00-\x1f\x7f,\"]{1,100}")


class UnknownForm(ValueError):
    """Output in a form that the reader does not know. The message says which."""


def main(description, commands, convert, options=()):
    """`commands(options)`: the words to run, one list per call, behind the words of the command line (`ssh
    admin@leaf1`). `convert(text, options)`: from all that was printed, (port, priority or None, name, number or
    None)."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--from", dest="source", metavar="FILE",
                      help="convert this output of the switch instead (-: standard input)")
    for names, settings in options:
        made.add_argument(*names, **settings)
    made.add_argument("before", nargs=argparse.REMAINDER, metavar="COMMAND",
                      help="what to put before the switch's commands: ssh admin@leaf1")
    chosen = made.parse_args()
    try:
        if chosen.source:
            text = _contents(chosen.source)
        else:
            text = "".join(_output([*chosen.before, *words]) for words in commands(chosen))
        rows = converted(convert, text, chosen)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"{made.prog}: {error}")
    if not rows:
        sys.exit(f"{made.prog}: no counter in {len(text)} bytes of output, which begin with {text[:60]!r}")
    print("\n".join(line(*row) for row in rows))


def converted(convert, text, options):
    """The rows of an output, each counter once: of several values the first, for two commands may print the same.
    Raises UnknownForm (or ValueError for JSON that is cut), and nothing else, whatever the text is."""
    found = {}
    try:
        for port, priority, name, value in convert(text, options):
            if found.get((port, priority, name)) is None:
                found[port, priority, name] = value
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnknownForm(
            f"the output has a form that this reader does not know ({type(error).__name__}: {error})") from None
    for port, _, _ in found:
        if not isinstance(port, str) or not PORT.fullmatch(port):
            raise UnknownForm(f"the output has {str(port)[:40]!r} where the name of a port was expected")
    return [(*key, value) for key, value in found.items()]


def _contents(source):
    if source == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    with open(source, encoding="utf-8", errors="replace") as file:
        return file.read()


def _output(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace",
                          check=False)
    if done.returncode:
        raise ValueError(f"{' '.join(words)[:100]} exited with {done.returncode}")
    return done.stdout


def line(port, priority, name, value):
    return f"{port} {'-' if priority is None else priority} {name} {'-' if value is None else value}"


def number(text):
    """1,200 as 1200; None for N/A and whatever else is no whole number below 2^64."""
    plain = str(text).replace(",", "").strip()
    return int(plain) if re.fullmatch(r"[0-9]{1,20}", plain) and int(plain) <= LARGEST else None


def json_blocks(text):
    """The JSON documents among other lines: each begins at the beginning of a line. Yields (the line before, document).
    A line such as `{master:0}` or `[ WARNING ] ...` is no document. A document that begins with a bracket alone and
    does not end is an
    error: what is missing would pass for a counter that the switch does not have."""
    decoder, position, before = json.JSONDecoder(), 0, ""
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        first = text[position:end].strip()
        if text[position] in "{[":
            try:
                document, end = decoder.raw_decode(text, position)
                yield before, document
                end = text.find("\n", end) + 1 or len(text)
            except (ValueError, RecursionError):
                if first in ("{", "["):
                    raise UnknownForm(
                        f"line {text.count(chr(10), 0, position) + 1} begins JSON that is cut or damaged") from None
        before, position = first, end
