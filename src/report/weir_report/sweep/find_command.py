"""weir-sweep find: the limit of one plan from one line, without a sweep file. It writes that file, so that the same line continues, and
other commands take it."""

from __future__ import annotations

import difflib
import json
import re
from pathlib import Path

from ..basics import programs, whole_file
from ..basics.errors import ReportError
from ..basics.input_file import read_text
from ..runs.capacity import CRITERIA, EVENTS, QUANTITIES
from .file import OPTION, OWN_OPTIONS

DESCRIPTION = """Looks for the largest rate (the longest mean processing time, the fewest slots, streams or consumers) with which a plan is
sustained, or the longest burst of which nothing is lost, by bisection over runs, in several rounds. What follows -- are options of weir run, of which the one that is looked for says
where to begin. Writes weir-find-WHAT.toml into the current directory, and the runs into weir-find-WHAT, unless --out names it; the same
line continues what was interrupted."""
WRITTEN = "# Written by weir-sweep find."
EXAMPLE = "weir-sweep find rate --simulate -- --producers 4 --consumers 2 --rate 1Gb/s --duration 10s"


def add_parser(commands, where, epilog):
    """`where`: adds --local and --simulate."""
    added = commands.add_parser("find", help="the limit of one plan, without a sweep file", description=DESCRIPTION,
                                epilog=f"Example: {EXAMPLE}. {epilog[epilog.index('Exit status'):]}")
    added.add_argument("what", metavar="WHAT", choices=tuple(QUANTITIES), help=", ".join(QUANTITIES))
    where(added)
    added.add_argument("--out", metavar="DIRECTORY", type=Path, help="the campaign's directory (default: weir-find-WHAT)")
    added.add_argument("--rounds", metavar="N", type=int, default=3, help="whole searches, each with other seeds (default: 3)")
    added.add_argument("--resolution", metavar="PERCENT", help='width of the bracket of a limit (default: 2%%)')
    added.add_argument("--least", metavar="VALUE", help="lower end of the range (default: a 64th of the plan's value)")
    added.add_argument("--most", metavar="VALUE", help="upper end of the range (default: 64 times the plan's value)")
    added.add_argument("--criterion", choices=CRITERIA, help="when a value holds (default: sustained; of burst, lossless)")
    added.add_argument("--events", choices=EVENTS, help="with rate: events keep their size (hold, the default), or their number per set (scale)")
    added.add_argument("--jobs", metavar="N", type=int, help="with --simulate: simulations at a time (default: all cores)")
    added.set_defaults(retry_failed=True, options=[])


def split(words):
    """(words of weir-sweep, options of weir behind --): argparse would take all that follows WHAT."""
    if words[:1] != ["find"] or "--" not in words:
        return words, []
    place = words.index("--")
    return words[:place], words[place + 1:]


def write_sweep_file(options):
    """(path, the campaign's directory) of the sweep file that was made of the command line. Raises ReportError."""
    if options.world is None:
        raise ReportError("find: where to run is missing: --simulate (in the simulator) or --local (on this machine); for SLURM, write a "
                          "sweep file (slurm/README.md)")
    directory = (options.out or Path(f"weir-find-{options.what}")).resolve()
    path = Path.cwd() / f"{directory.name}.toml"
    text = sweep_text(options)
    before = read_text(path, "a sweep file in TOML") if path.exists() else text
    # A line that was refused has left its file and no campaign: the next one takes its place.
    if before != text and (directory.exists() or not before.startswith(WRITTEN)):
        raise ReportError(f"{path}: it is of another search; remove it and {directory}, or name another directory with --out")
    whole_file.replace(path, text)
    return path, directory


def sweep_text(options):
    """The sweep file. Raises ReportError."""
    find = {"what": options.what, "rounds": options.rounds, "criterion": options.criterion or QUANTITIES[options.what].criteria[0]}
    find |= {key: value for key in ("resolution", "least", "most", "events") if (value := getattr(options, key)) is not None}
    if QUANTITIES[options.what].whole:
        find |= {key: int(find[key]) for key in ("least", "most") if key in find and re.fullmatch(r"\d+", find[key])}
    lines = [WRITTEN, 'name = "plan"', f"repetitions = {options.rounds}", 'start = "3s"', "", "[find]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in find.items()]
    lines += ["", "[run]"]
    for key, values in options_of(options.options).items():
        lines.append(f"{key} = {json.dumps(values if len(values) > 1 else values[0], ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _why_no_value(name):
    known = [option for _, option, _ in programs.options_of(programs.find_weir(), "run")]
    if name in known:
        return "a value is missing"
    near = difflib.get_close_matches(name, known, 1)
    return "weir run has no such option" + (f"; did you mean --{near[0]}?" if near else "; see weir run --help")


def options_of(words):
    """{option of weir: [values]} of a command line: --rate 1Gb/s, --rate=1Gb/s. Raises ReportError."""
    found = {}
    words = list(words)
    while words:
        word = words.pop(0)
        name, has_value, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not OPTION.fullmatch(name):
            raise ReportError(f"find: '{word}' is not an option of weir run, such as --rate 1Gb/s (example: {EXAMPLE})")
        if name in OWN_OPTIONS:
            raise ReportError(f"find: --{name}: weir-sweep sets it for each run; leave it out")
        if not has_value:
            if not words or words[0].startswith("--"):
                raise ReportError(f"find: --{name}: {_why_no_value(name)}")
            value = words.pop(0)
        found.setdefault(name, []).append(value)
    return found
