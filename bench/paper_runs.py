"""Runs for the pages of papers: one run in a world, its figures out of the run directory, lines in a CSV file.

Worlds: `simulator` is `weir simulate`, `lab` is bench/lab (hosts as network namespaces), `local` is bench/mpirun-local.
"""

import contextlib
import csv
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import provenance

TOP = pathlib.Path(__file__).resolve().parent.parent


def arguments(parser, results, worlds):
    """The options that all pages have."""
    parser.add_argument("what", choices=(*worlds, "table"))
    parser.add_argument("--weir", default=str(TOP / "build/release/bin/weir"))
    parser.add_argument("--out", type=pathlib.Path, default=TOP / "results" / results)
    provenance.add_option(parser)
    return parser


def parse(parser):
    """The options; ends the program if it is to store runs of a weir that is not published (bench/provenance.py)."""
    options = parser.parse_args()
    if options.what not in ("table", "check"):
        provenance.require(options.weir, options.out, options.allow_unpublished)
    return options


def run(words, world, weir, lab=(), ranks=0):
    """Runs weir with these options. Returns run.json, with `command` added (what a reader types), the totals of the measured phase, and
    the load of the machine before it; ends the program if the run did not complete or its integrity check failed."""
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="weir-paper-") as directory:
        out = pathlib.Path(directory) / "run"
        command = shlex.join(["weir", "simulate" if world == "simulator" else "run", *words])
        words = [*words, "--quiet", "--out", str(out)]
        if world == "simulator":
            line = [weir, "simulate", *words]
        elif world == "lab":
            line = [str(TOP / "bench/lab"), "with", "--name", "paper", *lab, "-q", "--", "weir", "run", *words]
        else:
            line = [str(TOP / "bench/mpirun-local"), "-np", str(ranks), weir, "run", *words]
        print(f"== {shlex.join(line)}", flush=True)
        done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "WEIR": weir}, check=False)
        record = out / "run.json"
        result = json.loads(record.read_text()) if record.exists() else None
        if result is None or result["status"] != "complete" or not result["ledger"]["agrees"]:
            sys.exit(f"the run did not complete: {'no run.json' if result is None else result['failure']}\n{done.stdout}{done.stderr}")
        return {**result, "command": command}, measured(out), load_before


def measured(directory):
    """Sums of the measured seconds, by role and column; columns of another unit than a count are left out."""
    sums = {}
    for file in (directory / "ranks").glob("*.csv"):
        role = file.stem.rsplit("-", 1)[1]
        with open(file, newline="") as rows:
            for row in csv.DictReader(rows):
                for name, value in row.items():
                    if row.get("phase") == "measure" and name.endswith(("_events", "_bytes", "_datagrams", "asked_again")) and value:
                        sums[role, name] = sums.get((role, name), 0) + int(value)
    return sums


def stored(file):
    return list(csv.DictReader(file.read_text().splitlines())) if file.exists() else []


def store(file, names, line, key):
    """Puts a line in the place of an earlier one that is alike in `key`, else at the end."""
    store_lines(file, names, [line], key)


def store_lines(file, names, lines, key):
    """Puts lines, which are alike in `key`, in the place of the earlier ones that are alike to them, else at the end."""
    def cell(value):
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    new = [{name: cell(line.get(name)) for name in names} for line in lines]
    same = [new[0][name] for name in key]
    old = stored(file)
    alike = [place for place, other in enumerate(old) if [other.get(name) for name in key] == same]
    begin = alike[0] if alike else len(old)
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w", newline="") as stream:
        writer = csv.DictWriter(stream, names, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows([*old[:begin], *new, *(other for place, other in enumerate(old) if place >= begin and place not in alike)])


def table(head, lines):
    """A table of Markdown."""
    return "\n".join(["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines)])


def made_with(lines):
    return "Made with " + ", ".join(sorted({f"weir {line['weir']}" for line in lines})) + "."


def write_page(out, parts):
    about = out / "about.md"
    if about.exists():
        parts = [*parts, about.read_text().strip()]
    (out / "README.md").write_text("\n\n".join(parts).rstrip() + "\n")
    print(out / "README.md")


@contextlib.contextmanager
def without_figures():
    """Within this context pages are written without their figures."""
    global drawing
    drawing = False
    try:
        yield
    finally:
        drawing = True


drawing = True


def figures(name):
    """The module that draws, or None, and a line on standard error, without matplotlib."""
    sys.dont_write_bytecode = True
    if not drawing:
        return None
    try:
        return __import__(name)
    except ImportError as error:
        print(f"no figures: {error}; bench/install-dependencies --report installs what they need", file=sys.stderr)
        return None
