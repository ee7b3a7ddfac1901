"""weir-compare: what differs between runs, and whether that is more than their spread."""

import argparse
import json
import shlex
import sys
from pathlib import Path

from weir_runs.basics.command_parser import CommandParser
from weir_runs.basics.errors import ReportError, status_of
from weir_runs.basics.quantities import share, share_text, time_ns
from weir_runs.basics.terminal_text import is_coloured, shown
from weir_runs.version import VERSION
from .comparison.comparison_settings import BETTER, INCONCLUSIVE, Settings, WORSE

# --fail-on: of the deciding figure; with any- of every key figure.
_CALLS = {"worse": (WORSE,), "different": (WORSE, BETTER), "inconclusive": (INCONCLUSIVE,)}
FAIL_ON = (*_CALLS, *(f"any-{name}" for name in _CALLS))
# Options that there were, and what to do without them.
_GONE = {"--seed": "nothing is drawn at random, so leave it out"}
USAGE = """weir-compare NEW... --against BASELINE... [OPTION...]
       weir-compare --by KEY RUN... [--baseline VALUE] [OPTION...]
       weir-compare CAMPAIGN [OPTION...]"""
DESCRIPTION = """Which setting is best, by how much, and is that certain? Ranks repeated runs, three or more of each
setting. One figure decides: lost data and sustained first; then the capacity, if weir-sweep measured it (CAMPAIGN is
its directory or its capacity.json), else late sets, slack, worst occupancy and carried rate; then latency and fairness.
Counters of hosts (pauses, marks, retransmissions) explain the result and decide nothing. Of a directory without
run.json, the runs in it are compared."""
EPILOG = """Exit status: 0 compared; 2 bad usage or input; 3 the deciding figure has a result that --fail-on names."""


def parser():
    made = CommandParser(prog="weir-compare", usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    add = made.add_argument
    add("runs", nargs="*", metavar="RUN", help="run directories: the new ones, or with --by all")
    add("--against", nargs="+", metavar="RUN", help="run directories of the baseline")
    add("--by", metavar="KEY", help="group runs by the value of this --tag, or by 'label'")
    add("--baseline", metavar="VALUE", help="with --by or CAMPAIGN: the baseline of the table (default: the first)")
    add("--allow-different-plans", action="store_true", help="compare runs with different options, and list these")
    add("--unpaired", action="store_true",
        help="do not compare in pairs (runs with equal seeds, alternating runs)")
    add("--relevant", metavar="PERCENT", default=share_text(Settings.relevant), type=_share,
        help="smaller differences are 'no difference' (default: %(default)s)")
    add("--ignore-below", metavar="PERCENT", default=share_text(Settings.ignore_below), type=_share,
        help="smaller differences are never better or worse (default: %(default)s)")
    add("--figures", metavar="NAME,...",
        help="only these key figures; with fewer figures, smaller differences are detected")
    add("--decide-by", metavar="FIGURE",
        help="the key figure that decides (default: the first in which settings differ)")
    add("--prove", action="store_true",
        help="simulated runs: simulate the worse setting again with one option, or without one mechanism, changed, and "
             "say what is the reason")
    add("--prove-limit", metavar="TIME", default="2min", type=_limit_s,
        help="of all these simulations together (default: 2min)")
    add("--table", action="store_true", help="also show all key figures (as --against and --baseline do)")
    add("--page", metavar="FILE.html", help="write a self-contained page with the answer and charts")
    add("--json", metavar="FILE", help="write it as JSON; '-': to standard output, without the text")
    add("--csv", metavar="FILE", help="the table, one line per key figure")
    add("--fail-on", metavar="WHAT",
        help="exit with 3 if a setting is so against the baseline in the figure that decides: worse, different, "
             "inconclusive; any-worse and so on: in any key figure (several: comma-separated)")
    add("--version", action="version", version=f"weir-compare {VERSION}")
    return made


def _limit_s(text):
    return time_ns(text) * 1e-9


def _share(text):
    value = share(text)
    if value is None or value >= 10.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share in percent, such as 2%")
    return value


def main(argv=None):
    return status_of("weir-compare", lambda: _work(sys.argv[1:] if argv is None else argv))


def _work(argv):
    gone = next((name for name in (word.partition("=")[0] for word in argv) if name in _GONE), None)
    if gone:
        raise ReportError(f"{gone} is gone: {_GONE[gone]}")
    options = parser().parse_args(argv)
    options.command_line = _shortened(shlex.join(["weir-compare", *argv]))
    fail_on = _names("--fail-on", options.fail_on, FAIL_ON)
    report = _compare(options)
    # What is found counts also where nobody reads it to the end.
    status = status_of("weir-compare", lambda: _write(report, options))
    return status or (3 if any(_fails(report, name) for name in fail_on) else 0)


def _shortened(text, most=400):
    """The first of thousands of run directories."""
    return shown(text if len(text) <= most else text[:most - 3] + "...")


def _fails(report, name):
    if name.startswith("any-"):
        return any(report.calls(call) for call in _CALLS[name.removeprefix("any-")])
    return any(call in _CALLS[name] for call in report.deciding_calls())


def _names(option, text, known):
    names = [name.strip() for name in text.split(",")] if text is not None else []
    for name in names:
        if name == "cannot-tell":
            raise ReportError(f"{option}: {name} is gone: use inconclusive")
        if name not in known:
            raise ReportError(f"{option}: '{name}' is not one of {', '.join(known)}")
    return names


def _compare(options):
    # What reads and compares runs takes longer to load than a message or the help may take.
    from .comparison.comparison import compare
    from .comparison.comparison_inputs import grouped, is_campaign, read_runs, two_groups
    from weir_runs.reading.key_figures import KEY_FIGURES

    figures = _names("--figures", options.figures, [figure.name for figure in KEY_FIGURES])
    settings = Settings(options.relevant, options.ignore_below, not options.unpaired, options.allow_different_plans,
                        tuple(figures) or None, decide_by=options.decide_by)
    prover = _prover(options.prove_limit) if options.prove else None
    is_alone = len(options.runs) == 1 and not (options.by or options.against)
    if is_alone and is_campaign(Path(options.runs[0])):
        return _compare_campaign(Path(options.runs[0]), settings, options.baseline, prover)
    _check_usage(options)
    runs = read_runs(options.runs)
    if options.by:
        groups = grouped(runs, options.by, options.baseline)
        return compare(groups[0], groups[1:], settings, options.by, prover)
    return compare(*two_groups(read_runs(options.against), runs), settings, prover=prover)


def _check_usage(options):
    """Raises a ReportError on what is not given together, or not there."""
    if options.by and options.against:
        raise ReportError(
            "--by and --against exclude each other; with --by, --baseline VALUE names the baseline")
    for path in (*options.runs, *(options.against or ())):
        if not Path(path).exists():
            raise ReportError(f"{path}: no such directory; a run directory, one that holds run directories, or a "
                              "campaign is expected")
    if options.baseline is not None and not options.by:
        raise ReportError("--baseline is for --by and for campaigns; else --against gives the runs of the baseline")
    if not options.by and not options.against:
        raise ReportError("no baseline: give its runs with --against, or group all runs with --by")
    if not options.runs:
        raise ReportError(f"no runs to compare: give their directories {'after' if options.by else 'before'} "
                          f"{'--by KEY' if options.by else '--against'}")


def _compare_campaign(path, settings, baseline, prover):
    """Compares measured capacities, or the campaign's complete runs at fixed rates."""
    from weir_runs.reading.capacity import FILE_NAME

    if path.is_dir() and not (path / FILE_NAME).is_file():
        # Only campaigns need what reads them.
        from .sweep.collect import compare_runs
        return compare_runs(path, baseline, settings, prover)
    if prover is not None:
        raise ReportError("--prove: what was searched for has no single rate at which a run could be made again; give "
                          "it runs at one rate")
    from .comparison.comparison_inputs import compare_limits
    return compare_limits(path, settings)


def _prover(limit_s):
    # What simulates is only needed here.
    from .comparison.proofs import Prover
    return Prover(limit_s, lambda line: print(f"weir-compare: {line}", file=sys.stderr, flush=True))


def _write(report, options):
    from .comparison.comparison_record import as_csv, as_record

    if options.page:
        # jinja2 is only needed here.
        from .comparison.comparison_page import write_page
        write_page(report, Path(options.page), f"Written by weir-compare {VERSION}: {options.command_line}")
    if options.json:
        # On standard output what is unsafe would be spelt out for people.
        _put(options.json, json.dumps(as_record(report), indent=2, allow_nan=False, ensure_ascii=options.json == "-")
             + "\n")
    if options.csv:
        _put(options.csv, as_csv(report))
    if "-" not in (options.json, options.csv):
        with_table = options.table or options.against or options.baseline is not None
        print(_on_screen(report, is_coloured(), with_table), flush=True)
    else:
        for remark in report.remarks:
            print(f"weir-compare: {remark}", file=sys.stderr)


def _on_screen(report, colour, with_table):
    from .comparison import comparison_text

    if not with_table or not report.comparisons:
        return comparison_text.answer(report, colour)
    return f"{comparison_text.answer(report, colour, hints=False)}\n\n{comparison_text.table(report, colour)}"


def _put(where, content):
    if where == "-":
        sys.stdout.write(content)
        sys.stdout.flush()
        return
    from weir_runs.basics import whole_file
    whole_file.replace(where, content)


if __name__ == "__main__":
    sys.exit(main())
