"""What the readers of switches share: run a switch's commands, convert what they print, print the lines that weir-sweep
reads."""

import argparse
import json
import re
import subprocess
import sys

PRIORITIES = 8
LARGEST = 2**64 - 1
PORT = re.compile(r"(?![#\[{])[^\s\x00-\x1f\x7f,\"]{1,100}")
BLANK = re.compile(r"[ \t\r]*\n?")
BEGINS_JSON = re.compile(r"[{\[]\s*(?:$|[\"{])")


class UnknownForm(ValueError):
    """Output in a form that the reader does not know. The message says which."""


def main(description, commands, convert, options=()):
    """`commands(options)`: the words to run, one list per call, behind the words of the command line (`ssh
    admin@leaf1`), or a text that was received otherwise. `convert(text, options)`: from all that was printed, (port,
    priority or None, name, number or None)."""
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
            text = _printed(chosen.before, commands(chosen))
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
    text = text.replace("\ufeff", "")  # the mark with which Windows begins a text
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


def _printed(before, calls):
    """What all calls print. A command that this switch does not have ends with a status of its own, and its counters
    are missing; where none can be run, or ssh reaches nothing (255), there is no reading."""
    printed, problem = [], None
    for words in calls:
        if isinstance(words, str):
            printed.append(words)
            continue
        words = [*before, *words]
        done = subprocess.run(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, encoding="utf-8",
                              errors="replace", check=False)
        if not done.returncode:
            printed.append(done.stdout.rstrip("\n") + "\n")
            continue
        problem = f"{' '.join(words)[-100:]} exited with {done.returncode}"
        if done.returncode == 255 or done.returncode < 0:
            raise ValueError(problem)
        print(f"{problem}; its counters are missing", file=sys.stderr)
    if not printed:
        raise ValueError(problem or "nothing was received")
    return "".join(printed)


def line(port, priority, name, value):
    return f"{port} {'-' if priority is None else priority} {name} {'-' if value is None else value}"


def number(text):
    """1,200 as 1200; None for N/A and whatever else is no whole number below 2^64."""
    plain = str(text).replace(",", "").strip()
    return int(plain) if re.fullmatch(r"[0-9]{1,20}", plain) and int(plain) <= LARGEST else None


def is_row(cells, head, certain=False):
    """Whether a line below the head of a table is a row of it, and no other line, which is one cell unless that is
    `certain`. Raises UnknownForm for a row that is cut: what is missing would pass for what the switch does not
    count."""
    if len(cells) != len(head) and (certain or len(cells) > 1):
        raise UnknownForm(f"a row has {len(cells)} cells and its table {len(head)}: {' '.join(cells)[:60]!r}")
    return len(cells) == len(head)


def json_blocks(text):
    """The JSON documents among other lines: each begins at the beginning of a line, or behind another. Yields (the line
    before, document). A line such as `{master:0}` or `[ WARNING ] ...` is no document. What begins like one and does
    not end is an error: what is missing would pass for a counter that the switch does not have."""
    decoder, position, before = json.JSONDecoder(), 0, ""
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        line = text[position:end].strip()
        if text[position] in "{[":
            try:
                document, end = decoder.raw_decode(text, position)
                yield before, document
                line, end = "", BLANK.match(text, end).end()
            except (ValueError, RecursionError):
                if BEGINS_JSON.match(line):
                    raise UnknownForm(
                        f"line {text.count(chr(10), 0, position) + 1} begins JSON that is cut or damaged") from None
        before, position = line, end


def as_list(node):
    """Where a format has a list, or what would be its only element."""
    return node if isinstance(node, list) else [node]


def rows(document, table, ports=r"\S+", number_of=None):
    """(port, priority, name, number or None) from a JSON document, as a table says: [(where, {field: name})]. `where`
    is a path of keys. In it, PORT and QUEUE stand for any key, PORT=field for the objects of a list by that field, *
    for any key that does not matter. Other ports than `ports` are left out, and queues without a number from 0 to 7
    (`number_of` a name; queue_number). Fields and places that give the same counter are added: it is unknown if one of
    them is."""
    for where, fields in table:
        found = {}
        for (port, queue), node in _places(document, where.split("/"), {}):
            if not re.fullmatch(ports, port) or queue is not None and (
                    queue := (number_of or queue_number)(queue)) is None:
                continue
            if isinstance(fields, str):
                _add(found, (port, queue, fields), node)
                continue
            if not isinstance(node, dict):
                raise UnknownForm(f"{where} is {str(node)[:40]!r} where an object was expected")
            for field, name in fields.items():
                if field in node:
                    _add(found, (port, queue, name), node[field])
        yield from ((*key, value) for key, value in found.items())


def queue_number(name):
    """Of 3, TC3 and UC3; of TC1-5, a queue of several classes, the first; None for other queues."""
    match = re.fullmatch(r"(?:TC|UC)?([0-7])(?:-[0-9]+)?", str(name))
    return int(match[1]) if match else None


def _add(found, key, cell):
    parts = found.get(key, 0), number(cell)
    found[key] = None if None in parts else sum(parts)


def _places(node, steps, names):
    """((port, queue), node) of all places to which the steps lead."""
    if isinstance(node, list):
        for part in node:
            yield from _places(part, steps, names)
        return
    if not steps:
        yield (names.get("PORT"), names.get("QUEUE")), node
        return
    if not isinstance(node, dict):
        raise UnknownForm(f"{steps[0]!r} was expected in an object, and there is {str(node)[:40]!r}")
    what, _, field = steps[0].partition("=")
    if field:
        if field not in node:
            raise UnknownForm(f"{str(node)[:40]!r} has no {field!r}")
        yield from _places(node, steps[1:], {**names, what: str(node[field])})
    elif what in ("PORT", "QUEUE", "*"):
        for key, part in node.items():
            yield from _places(part, steps[1:], {**names, what: key})
    elif what in node:
        yield from _places(node[what], steps[1:], names)
