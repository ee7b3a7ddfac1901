"""What the readers of switches share: run a switch's commands, convert what they print, print the lines that weir-sweep reads."""

import argparse
import re
import subprocess
import sys


def main(description, commands, convert, options=()):
    """`commands(options)`: the words to run, one list per call, behind the words of the command line (`ssh admin@leaf1`).
    `convert(text, options)`: from all that was printed, (port, priority or None, name, number or None)."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--from", dest="source", metavar="FILE", help="convert this output of the switch instead (-: standard input)")
    for names, settings in options:
        made.add_argument(*names, **settings)
    made.add_argument("before", nargs=argparse.REMAINDER, metavar="COMMAND",
                      help="what to put before the switch's commands: ssh admin@leaf1")
    chosen = made.parse_args()
    try:
        if chosen.source:
            text = sys.stdin.read() if chosen.source == "-" else open(chosen.source, encoding="utf-8").read()
        else:
            text = "".join(_output([*chosen.before, *words]) for words in commands(chosen))
        rows = list(convert(text, chosen))
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
        sys.exit(f"{made.prog}: {error}")
    if not rows:
        sys.exit(f"{made.prog}: no counter in {len(text)} bytes of output, which begin with {text[:60]!r}")
    print("\n".join(line(*row) for row in rows))


def _output(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{' '.join(words)[:100]} exited with {done.returncode}")
    return done.stdout


def line(port, priority, name, value):
    return f"{port} {'-' if priority is None else priority} {name} {'-' if value is None else value}"


def number(text):
    """1,200 as 1200; None for N/A and whatever else is no whole number."""
    plain = str(text).replace(",", "").strip()
    return int(plain) if re.fullmatch(r"[0-9]+", plain) else None


def json_blocks(text):
    """The JSON documents among other lines: each begins and ends with a line that is a bracket alone, or is one line.
    Yields (the line before, document)."""
    import json
    decoder, lines, position = json.JSONDecoder(), text.splitlines(keepends=True), 0
    while position < len(lines):
        if lines[position][:1] in ("{", "["):
            rest = "".join(lines[position:])
            document, end = decoder.raw_decode(rest)
            yield (lines[position - 1].strip() if position else ""), document
            position += max(1, rest[:end].count("\n") + 1)
        else:
            position += 1
