"""What the studies of results/ share. A study is a directory there: study.py has its runs and STUDY, what `bench/study
NAME` can do; beside it lie what it stored (CSV files), its texts, and README.md, the page that is made of both.

Worlds: `simulator` is `weir simulate`, `lab` is bench/lab (hosts as network namespaces), `local` is bench/mpirun-local.
"""

import argparse
import collections.abc
import contextlib
import csv
import dataclasses
import importlib
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

import provenance

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "results"
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # for directories of many short runs
Function = collections.abc.Callable


@dataclasses.dataclass(frozen=True)
class Study:
    """`table` and `check` are of all studies. options: what was given, as argparse has it, with `out`, the directory of
    the files."""
    page: Function  # page(out): {file: text} of what the files in `out` give
    # name: function(options) that stores runs in options.out; then the page is made
    runs: dict = dataclasses.field(default_factory=dict)
    # name: function(options) that stores no runs; returns the exit status
    others: dict = dataclasses.field(default_factory=dict)
    # name: function(words) that takes the words behind it as they are
    raw: dict = dataclasses.field(default_factory=dict)
    keys: dict = dataclasses.field(default_factory=dict)  # file: the columns that identify a line, for `check`
    # replay(options): makes some lines of options.stored anew in options.out, 10 s of processor time; returns None if
    # they shall be equal, or (how many, faults as text). No function: measured.
    replay: Function | None = None
    not_replayed: tuple = ()  # columns that a new line need not have again, for a reason that the page gives
    draw: Function | None = None  # draw(out, figures): the pictures of the page; figures: figures.py beside study.py
    options: Function | None = None  # options(parser): adds the study's own
    # what makes the runs: a file in build/release, or a function that builds it and returns its path
    program: str | Function = "bin/weir"


def names():
    return sorted(file.parent.name for file in RESULTS.glob("*/study.py"))


def load(name):
    """The module study.py of a study; its directory comes first among those from which modules are imported."""
    sys.path.insert(0, str(RESULTS / name))
    return importlib.import_module("study")


def borrow(name):
    """Modules of another study can be imported from now on."""
    sys.path.append(str(RESULTS / name))


def main(words):
    if not words or words[0] not in names():
        print(f"usage: bench/study NAME WHAT [OPTIONS]\nNAME: {', '.join(names())}\nWHAT: bench/study NAME --help "
              "lists it")
        return 0 if words in ([], ["-h"], ["--help"]) else 2
    name, *words = words
    module = load(name)
    study = module.STUDY
    if words and words[0] in study.raw:
        return study.raw[words[0]](words[1:])
    parser = argparse.ArgumentParser(prog=f"bench/study {name}", description=module.__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=(*study.runs, *study.others, "table", "check"))
    parser.add_argument("--weir", "--program", help="what makes the runs (default: as built in build/)")
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS / name)
    provenance.add_option(parser)
    if study.options:
        study.options(parser)
    options = parser.parse_args(words)
    if options.what != "table" and not options.weir:
        options.weir = study.program() if callable(study.program) else TOP / "build/release" / study.program
    options.weir = options.weir and str(pathlib.Path(options.weir).resolve())
    if options.what in study.others:
        return study.others[options.what](options)
    if options.what == "check":
        import replay
        return replay.check(options, study)
    if options.what in study.runs:
        provenance.require(options.weir, options.out, options.allow_unpublished)
        options.out.mkdir(parents=True, exist_ok=True)
        status = study.runs[options.what](options)
        if status:
            return status
    return write(study, options.out)


# -------------------------------------------------------------------------------------------------------------- pages


def write(study, out):
    for name, text in study.page(out).items():
        (out / name).write_text(text)
        print(out / name)
    if study.draw and (figures := drawing()):
        study.draw(out, figures)
    return 0


def drawing():
    """The study's figures.py, or None, and a line on standard error, without matplotlib."""
    try:
        return importlib.import_module("figures")
    except ImportError as error:
        print(f"no figures: {error}; bench/install-dependencies --report installs what they need", file=sys.stderr)
        return None


def text(out, name):
    """A text beside a page; in another directory than the study's, the study's text; "" without one."""
    file = out / name if (out / name).exists() else pathlib.Path(sys.modules["study"].__file__).with_name(name)
    return file.read_text().strip() if file.exists() else ""


def joined(parts):
    return "\n\n".join(part for part in parts if part).rstrip() + "\n"


def filled(text, parts):
    """The text with each <!-- name --> replaced."""
    return re.sub(r"<!-- ([\w-]+) -->", lambda place: str(parts[place[1]]), text)


def about(out, name, parts, tail):
    """README.md of about.md, in which <!-- name --> stands for a part."""
    return {"README.md": joined([f"<!-- Made by bench/study {name}; edit about.md, not this file. -->",
                                 filled(text(out, "about.md"), parts), tail])}


def table(head, lines):
    """A table of Markdown."""
    return "\n".join(["| " + " | ".join(str(cell) for cell in cells) + " |"
                      for cells in (head, ["---"] * len(head), *lines)])


def versions(lines, column="weir"):
    return ", ".join(sorted({line[column] for line in lines} - {""}))


def made_with(lines):
    return "Made with " + ", ".join(sorted({f"weir {line['weir']}" for line in lines})) + "."


# By list of lines and names of columns, the lines with each value of these: pages ask for thousands of cells.
_indexes = {}


def select(lines, **wanted):
    """Those with these values. The lines are not changed later; more of them may come."""
    columns = tuple(wanted)
    indexed, count, index = _indexes.get((id(lines), columns), (None, 0, {}))
    if indexed is not lines or count != len(lines):
        index = {}
        for line in lines:
            index.setdefault(tuple(line[name] for name in columns), []).append(line)
        _indexes[id(lines), columns] = lines, len(lines), index
    return list(index.get(tuple(str(value) for value in wanted.values()), ()))


def first(lines):
    return next(iter(lines), None)


def number(line, name, form="{:.1f}"):
    """A cell of a table; empty without a line or a value."""
    return "" if line is None or line[name] in ("", None) else form.format(float(line[name]))


def verdict(holds, miss=""):
    return "PASS" if holds else f"MISS: {miss}" if miss else "MISS"


def outcome(found, least=None, most=None):
    """PASS, or MISS with its size, of a value that shall be at least or at most so much."""
    if least is not None:
        return "PASS" if found >= least else f"MISS by {100 * (1 - found / least):.0f} %"
    return "PASS" if found <= most else f"MISS by {100 * (found / most - 1):.0f} %"


def band(least, most):
    """A band of values, either end of which may be None."""
    if least is None:
        return f"at most {most:g}"
    return f"at least {least:g}" if most is None else f"{least:g} to {most:g}"


def outcome_of(values, least, most):
    """PASS, MISS with the size of the largest distance from the band, or VOID without values."""
    if not values:
        return "VOID"
    low = max(least - value for value in values) if least is not None else 0
    high = max(value - most for value in values) if most is not None else 0
    if low <= 0 and high <= 0:
        return "PASS"
    limit, distance = (least, low) if low > high else (most, high)
    if limit and 100 * distance < abs(limit) / 2:  # a distance that rounds to 0 %
        return f"MISS: {limit + (distance if limit is most else -distance):.6g} for {limit:g}"
    return f"MISS by {100 * distance / abs(limit):.0f} %" if limit else f"MISS by {distance:g}"


def rows_of(expected, lines):
    """Rows of a page's table: the words of each expectation, its band, what was found, and the outcome. `expected`:
    tuples (word..., find, least, most); find(lines) gives the values, None is no limit."""
    made = []
    for *words, find, least, most in expected:
        values = find(lines)
        found = f"{min(values):.4g}" + (f" to {max(values):.4g}" if max(values) > min(values) else "") if values else ""
        made.append([*words, band(least, most), found, outcome_of(values, least, most)])
    return made


class Expectations:
    """What was expected before the runs, and what was found."""

    def __init__(self):
        self.lines = []

    def add(self, what, found, holds):
        self.lines.append([what, found, verdict(holds)])

    def table(self):
        return table(["expected before the runs", "found", ""], self.lines)


# --------------------------------------------------------------------------------------------------------------- runs


@contextlib.contextmanager
def tried(line, scratch=None, **more):
    """Runs this command of weir, in the directory of the repository. Yields run.json (None: there is none), its
    directory, which goes afterwards, and what subprocess.run returned; more: of that."""
    with tempfile.TemporaryDirectory(prefix="weir-study-", dir=scratch) as directory:
        out = pathlib.Path(directory) / "run"
        done = subprocess.run([*line, "--quiet", "--out", str(out)], capture_output=True, text=True, check=False,
                              cwd=TOP, **more)
        yield json.loads((out / "run.json").read_text()) if (out / "run.json").exists() else None, out, done


def is_whole(run):
    """Complete, and its integrity check passed. A job of groups has no ledger of its own."""
    return run is not None and run["status"] == "complete" and run.get("ledger", {"agrees": True})["agrees"]


@contextlib.contextmanager
def finished(line, **more):
    """As tried, but ends the program if the run is not whole. Yields run.json and its directory."""
    with tried(line, **more) as (run, out, done):
        if not is_whole(run):
            sys.exit("the run did not complete: "
                     f"{shlex.join(line)}\n{run.get('failure') if run else 'no run.json'}\n{done.stdout}{done.stderr}")
        yield run, out


def attempted(weir, command, limit_s, read):
    """{status, weir, and of a complete run what read(run, directory) gives} of a command that begins with `weir`."""
    try:
        with tried([weir, *shlex.split(command)[1:]], timeout=limit_s) as (run, out, done):
            if run is None:
                return {"status": f"refused: {done.stderr.strip()}"}
            if run["status"] == "complete" and not is_whole(run):
                sys.exit(f"{command}\nthe integrity check failed")
            found = read(run, out) if run["status"] == "complete" else {}
            return {"status": run["status"], "weir": run["environment"]["weir_version"], **found}
    except subprocess.TimeoutExpired:
        return {"status": f"longer than {limit_s} s"}


def run(words, world, weir, lab=(), ranks=0):
    """Runs weir with these options. Returns run.json, with `command` added (what a reader types), the totals of the
    measured phase, and the load of the machine before it; ends the program if the run did not complete or its integrity
    check failed."""
    load_before = os.getloadavg()[0]
    if world == "simulator":
        line = [weir, "simulate", *words]
    elif world == "lab":
        line = [str(TOP / "bench/lab"), "with", "--name", "paper", *lab, "-q", "--", "weir", "run", *words]
    else:
        line = [str(TOP / "bench/mpirun-local"), "-np", str(ranks), weir, "run", *words]
    print(f"== {shlex.join(line)}", flush=True)
    with finished(line, env={**os.environ, "WEIR": weir}) as (result, out):
        command = shlex.join(["weir", "simulate" if world == "simulator" else "run", *words])
        return {**result, "command": command}, measured(out), load_before


class Lab:
    """Hosts as network namespaces of this machine (bench/lab), which are there within the context. up: options of
    `bench/lab up`."""

    def __init__(self, name, *up):
        self.name, self.up = f"{name}{os.getpid()}", up

    def __enter__(self):
        self.down()
        self("up", *self.up)
        return self

    def __exit__(self, *_):
        self.down()

    def down(self):
        subprocess.run(self.words("down"), capture_output=True, check=False)

    def words(self, command, *more):
        return [str(TOP / "bench/lab"), command, "--name", self.name, *more]

    def __call__(self, command, *more):
        """What a command of bench/lab prints."""
        done = subprocess.run(self.words(command, *more), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"bench/lab {command} {' '.join(more)}: {done.stdout}{done.stderr}")
        return done.stdout

    def on(self, host, *lines):
        """What these lines of a shell print there."""
        return self("exec", host, "--", "sh", "-e", "-c", "\n".join(lines))

    def process(self, host, *words, **more):
        """Begins a program there; more: of subprocess.Popen."""
        return subprocess.Popen(self.words("exec", host, "--", *words), **more)

    @contextlib.contextmanager
    def traffic(self, sender, receiver):
        """One TCP connection between two hosts, as fast as it goes."""
        take = "import socket\ns=socket.create_server(('0.0.0.0',7777))\nc,_=s.accept()\nwhile c.recv(1<<20): pass"
        send = ("import socket,time\nwhile True:\n"
                f" try: s=socket.create_connection(('{receiver}',7777)); break\n"
                " except OSError: time.sleep(.05)\n"
                "while True: s.sendall(bytes(65536))")
        ends = []
        try:
            for host, code in ((receiver, take), (sender, send)):
                ends.append(self.process(host, sys.executable, "-c", code, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL))
            yield
        finally:
            for end in ends:
                end.terminate()
                end.wait()


def as_rank(rank, environment):
    """The environment of a process that joins a run: it says its rank as a launcher's would. Without, ranks are
    numbered as they come, and on a busy machine not in the order in which they were started."""
    return {**environment, "PMI_RANK": str(rank)}


def measured(directory):
    """Sums of the measured seconds, by role and column; columns of another unit than a count are left out."""
    sums = {}
    for file in (directory / "ranks").glob("*.csv"):
        role = file.stem.rsplit("-", 1)[1]
        for row in rows(file):
            for name, value in row.items():
                if row.get("phase") == "measure" and name.endswith(
                        ("_events", "_bytes", "_datagrams", "asked_again")) and value:
                    sums[role, name] = sums.get((role, name), 0) + int(value)
    return sums


def children_cpu_s():
    """Processor time of all programs that have ended so far."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


# ------------------------------------------------------------------------------------------------------- stored lines


def rows(file):
    with open(file, newline="") as stream:
        yield from csv.DictReader(stream)


def stored(file):
    return list(csv.DictReader(file.read_text().splitlines())) if file.exists() else []


def store(file, columns, line, key):
    """Puts a line in the place of an earlier one that is alike in `key`, else at the end."""
    store_lines(file, columns, [line], key)


def store_lines(file, columns, lines, key):
    """Puts lines, which are alike in `key`, in the place of the earlier ones that are alike to them, else at the
    end."""
    def cell(value):
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    new = [{name: cell(line.get(name)) for name in columns} for line in lines]
    same = [new[0][name] for name in key]
    old = stored(file)
    alike = [place for place, other in enumerate(old) if [other.get(name) for name in key] == same]
    begin = alike[0] if alike else len(old)
    rest = [other for place, other in enumerate(old) if place >= begin and place not in alike]
    write_lines(file, columns, [*old[:begin], *new, *rest])


def write_lines(file, columns, lines):
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(lines)
