"""weir-sweep find: the limit of one plan from one line, without a sweep file. It writes that file, so that the same
line continues, and other commands take it."""

import difflib
import json
import re
from pathlib import Path

from weir_runs.basics import programs, whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_text
from weir_runs.reading.capacity import QUANTITIES
from .sweep_file import OPTION, OWN_OPTIONS

WRITTEN = "# Written by weir-sweep find."
EXAMPLE = "weir-sweep find rate --simulate -- --producers 4 --consumers 2 --rate 1Gb/s --duration 10s"


def write_sweep_file(options):
    """(path, the campaign's directory) of the sweep file that was made of the command line. Raises ReportError."""
    if options.world is None:
        raise ReportError("find: where to run is missing: --simulate (in the simulator) or --local (on this machine); "
                          "for SLURM, write a sweep file (slurm/README.md)")
    directory = (options.out or Path(f"weir-find-{options.what}")).resolve()
    path = Path.cwd() / f"{directory.name}.toml"
    text = sweep_text(options)
    before = read_text(path, "a sweep file in TOML") if path.exists() else text
    # A line that was refused has left its file and no campaign: the next one takes its place.
    if before != text and (directory.exists() or not before.startswith(WRITTEN)):
        raise ReportError(
            f"{path}: it is of another search; remove it and {directory}, or name another directory with --out")
    whole_file.replace(path, text)
    return path, directory


def sweep_text(options):
    """The sweep file. Raises ReportError."""
    find = {"what": options.what, "rounds": options.rounds, "criterion": options.criterion
            or QUANTITIES[options.what].criteria[0]}
    find |= {key: value for key in ("resolution", "least", "most", "events")
             if (value := getattr(options, key)) is not None}
    if QUANTITIES[options.what].whole:
        find |= {key: int(find[key]) for key in ("least", "most") if key in find and re.fullmatch(r"\d+", find[key])}
    lines = [WRITTEN, 'name = "plan"', f"repetitions = {options.rounds}", 'start = "3s"', "", "[find]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in find.items()]
    lines += ["", "[run]"]
    for key, values in options_of(options.options).items():
        lines.append(f"{key} = {json.dumps(values if len(values) > 1 else values[0], ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def options_of(words):
    """{option of weir: [values]} of a command line: --rate 1Gb/s, --rate=1Gb/s. Raises ReportError."""
    found, words, weir = {}, list(words), programs.find_weir()
    known = {option for command in ("run", "simulate") for _, option, _ in programs.options_of(weir, command)}
    while words:
        word = words.pop(0)
        name, has_value, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not OPTION.fullmatch(name):
            raise ReportError(f"find: '{word}' is not an option of weir run, such as --rate 1Gb/s (example: {EXAMPLE})")
        if name in OWN_OPTIONS:
            raise ReportError(f"find: --{name}: weir-sweep sets it for each run; leave it out")
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise ReportError(f"find: --{name}: weir run has no such option; "
                              + (f"did you mean --{near[0]}?" if near else "see weir run --help"))
        if not has_value:
            if not words or words[0].startswith("--"):
                raise ReportError(f"find: --{name}: a value is missing")
            value = words.pop(0)
        found.setdefault(name, []).append(value)
    return found
