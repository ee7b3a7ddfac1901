"""weir-compare: what differs between runs, and whether that is more than their spread."""

import argparse
import csv
import io
import json
import math
import os
import sys
from pathlib import Path

from . import compare_text, network_mechanisms
from .compare import BETTER, INCONCLUSIVE, SEED, WORSE, Settings, compare
from .errors import ReportError, end_quietly_when_interrupted, naming, os_error_text
from .key_figures import KEY_FIGURES
from .run import read_run
from .run_groups import Group
from .version import VERSION

SCHEMA = "weir-compare/1"
FAIL_ON = {"worse": (WORSE,), "different": (WORSE, BETTER), "inconclusive": (INCONCLUSIVE,),
           "cannot-tell": (INCONCLUSIVE,)}  # the last one: the older name
USAGE = """weir-compare NEW... --against BASELINE... [OPTION...]
       weir-compare --by KEY RUN... [--baseline VALUE] [OPTION...]"""
DESCRIPTION = """Compares repeated runs. For every key figure: medians, spread, the difference and its interval, the
minimum detectable effect, and the result: better, worse, no difference, or inconclusive. Counters of hosts (pauses,
marks, retransmissions) explain the result and are never better or worse. Three or more runs per side are needed. A
directory without run.json stands for the run directories in it."""
EPILOG = """Exit status: 0 compared; 2 bad usage or input; 3 a key figure has a result that --fail-on names."""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help shows the usage)\n")


def parser():
    made = _Parser(prog="weir-compare", usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    add = made.add_argument
    add("runs", nargs="*", metavar="RUN", help="run directories: the new ones, or with --by all")
    add("--against", nargs="+", metavar="RUN", help="run directories of the baseline")
    add("--by", metavar="KEY", help="group runs by the value of this --tag, or by 'label'")
    add("--baseline",
        metavar="VALUE",
        help="with --by: the value that is the baseline (default: the first run's)")
    add("--allow-different-plans", action="store_true", help="compare runs with different options, and list these")
    add("--unpaired",
        action="store_true",
        help="do not compare in pairs (runs with equal seeds, alternating runs)")
    add("--relevant", metavar="PERCENT", default="2%", type=_share,
        help="smaller differences are 'no difference' (default: 2%%)")
    add("--ignore-below", metavar="PERCENT", default="0%", type=_share,
        help="smaller differences are never better or worse (default: 0%%)")
    add("--figures", metavar="NAME,...", help="only these key figures; fewer of them have finer thresholds")
    add("--page", metavar="FILE.html", help="write a self-contained page with charts of all runs")
    add("--json", metavar="FILE", help="write the comparison as JSON; '-': to standard output, without the table")
    add("--csv", metavar="FILE", help="the same as a table, one line per key figure")
    add("--fail-on",
        metavar="WHAT",
        help="exit with 3 if a key figure is: worse, different, inconclusive (several: comma-separated)")
    add("--seed", type=int, default=SEED, metavar="N", help="seed of the bootstrap (default: %(default)s)")
    add("--version", action="version", version=f"weir-compare {VERSION}")
    return made


def _share(text):
    number = text[:-1] if text.endswith("%") else None
    try:
        value = float(number) / 100.0
    except (TypeError, ValueError):
        value = math.nan
    if not 0.0 <= value < 10.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share in percent, such as 2%")
    return value


def main(argv=None):
    end_quietly_when_interrupted()
    options = parser().parse_args(argv)
    try:
        fail_on = _names("--fail-on", options.fail_on, FAIL_ON)
        report = _compare(options)
        _write(report, options)
    except ReportError as error:
        print(f"weir-compare: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has closed the pipe, as head does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"weir-compare: {os_error_text(error)}", file=sys.stderr)
        return 2
    return 3 if any(report.calls(call) for name in fail_on for call in FAIL_ON[name]) else 0


def _names(option, text, known):
    names = [name.strip() for name in text.split(",")] if text is not None else []
    for name in names:
        if name not in known:
            raise ReportError(f"{option}: '{name}' is not one of {', '.join(known)}")
    return names


def _compare(options):
    figures = _names("--figures", options.figures, [figure.name for figure in KEY_FIGURES]) or None
    settings = Settings(options.relevant, options.ignore_below, not options.unpaired,
                        options.allow_different_plans,
                        tuple(figures) if figures else None, options.seed)
    if options.seed < 0:
        raise ReportError(f"--seed: {options.seed} is below 0")
    if options.by and options.against:
        raise ReportError(
            "--by and --against exclude each other; with --by, --baseline VALUE names the baseline")
    if options.baseline is not None and not options.by:
        raise ReportError("--baseline is for --by; without it, --against gives the runs of the baseline")
    if not options.by and not options.against:
        raise ReportError("no baseline: give its runs with --against, or group all runs with --by")
    if not options.runs:
        raise ReportError(f"no runs to compare: give their directories {'after' if options.by else 'before'} "
                          f"{'--by KEY' if options.by else '--against'}")
    runs = _read(options.runs)
    if options.by:
        groups = _grouped(runs, options.by, options.baseline)
        return compare(groups[0], groups[1:], settings, options.by)
    return compare(*_two_groups(_read(options.against), runs), settings)


def _read(paths):
    runs = []
    for path in map(Path, paths):
        if path.is_dir() and not (path / "run.json").exists():
            inside = sorted(record.parent for record in path.glob("*/run.json"))
            runs += [read_run(directory) for directory in inside or [path]]
        else:
            runs.append(read_run(path))
    return runs


def _two_groups(baseline, new):
    """Named by the runs' label where all of a side have the same."""
    names = []
    for role, runs in (("the baseline", baseline), ("the new runs", new)):
        labels = {run.labels.get("label") for run in runs}
        names.append(next(iter(labels)) if len(labels) == 1 and None not in labels else role)
    if names[0] == names[1]:
        names = ["the baseline", "the new runs"]
    return Group(names[0], baseline), [Group(names[1], new)]


def _grouped(runs, key, baseline):
    values = {}
    for run in runs:
        if key not in run.labels:
            known = ", ".join(run.labels) or "none"
            raise ReportError(
                f"--by {key}: {run.directory} has no such label; it has: {known}. "
                f"Labels are given with weir run --{'label TEXT' if key == 'label' else f'tag {key}=VALUE'}")
        values.setdefault(run.labels[key], []).append(run)
    if len(values) < 2:
        raise ReportError(
            f"--by {key}: all runs have the same value '{next(iter(values))}'; two or more are expected")
    first = next(iter(values)) if baseline is None else baseline
    if first not in values:
        raise ReportError(f"--baseline: no run has {key} '{first}'; found: {', '.join(values)}")
    order = [first] + [value for value in values if value != first]
    return [Group(value if key == "label" else f"{key}={value}", values[value]) for value in order]


def _write(report, options):
    if options.page:
        # plotly and jinja2 are only needed here.
        from .compare_page import write_page
        write_page(report, Path(options.page), f"Written by weir-compare {VERSION}.")
    if options.json:
        _put(options.json,
             json.dumps(as_record(report), indent=2, allow_nan=False, ensure_ascii=False) + "\n")
    if options.csv:
        _put(options.csv, as_csv(report))
    if "-" not in (options.json, options.csv):
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        print(compare_text.table(report, colour), flush=True)
    else:
        for remark in report.remarks:
            print(f"weir-compare: {remark}", file=sys.stderr)


def _put(where, content):
    if where == "-":
        sys.stdout.write(content)
        sys.stdout.flush()
    else:
        with naming(where):
            Path(where).write_text(content, encoding="utf-8")


def _side(result, side):
    return {
        "runs": len(side.values),
        "median": side.median,
        "spread": side.spread,
        "values": list(side.values),
        "of": side.whole,
        **({
            "yes": side.yes
        } if result.figure.kind == "share" else {})
    }


def _result(result):
    return {
        "name": result.figure.name,
        "title": result.figure.title,
        "unit": _plain_unit(result.figure),
        "better": result.figure.better,
        "baseline": _side(result, result.baseline),
        "new": _side(result, result.new),
        "difference": result.difference,
        "relative_difference": _relative(result),
        "interval_low": result.low,
        "interval_high": result.high,
        "threshold": result.threshold,
        "detectable_difference": result.detectable,
        "relevant_difference": result.relevant,
        "p_value": result.p_value,
        "level": result.level,
        "scored": result.figure.is_scored,
        "call": result.call,
        "reason": result.reason
    }


def _plain_unit(figure):
    """Values of shares are 0 to 1 here."""
    return "1" if figure.unit == "%" else figure.unit


def _relative(result):
    if result.difference is None or not compare_text.is_relative(result):
        return None
    return result.difference / abs(result.baseline.median)


def as_record(report):
    return {
        "schema": SCHEMA,
        "by": report.by,
        "conclusion": compare_text.conclusion(report),
        "remarks": report.remarks,
        "plan_differences": {
            option: dict(zip((group.name
                              for group in report.groups), values))
            for option, values in report.plan_differences.items()
        },
        "groups": [{
            "name": group.name,
            "baseline": index == 0,
            "runs": [str(run.directory) for run in group.runs],
            "network": network_mechanisms.count(group)
        } for index, group in enumerate(report.groups)],
        "comparisons": [{
            "baseline": comparison.baseline.name,
            "new": comparison.new.name,
            "judged": comparison.too_few is None,
            "paired": comparison.pairing is not None,
            "pairing": comparison.pairing,
            "too_few": comparison.too_few,
            "pairs": ([[str(one.directory), str(other.directory)]
                       for one, other in zip(comparison.baseline.runs, comparison.new.runs)]
                      if comparison.pairing else []),
            "network_differs": network_mechanisms.differs(comparison.baseline, comparison.new),
            "figures": [_result(result)
                        for result in comparison.results],
            "alike": [_result(result) for result in comparison.alike]
        }
                        for comparison in report.comparisons],
    }


CSV_COLUMNS = ("baseline", "new", "key_figure", "unit", "baseline_runs", "baseline_median", "baseline_spread",
               "new_runs", "new_median", "new_spread", "difference", "relative_difference", "interval_low",
               "interval_high", "threshold", "detectable_difference", "p_value", "level", "call", "scored",
               "baseline_network", "new_network")


def as_csv(report):
    """An absent value is empty, as in the files of a run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for comparison in report.comparisons:
        networks = [network_mechanisms.text(group) for group in (comparison.baseline, comparison.new)]
        for result in comparison.results:
            record = _result(result)
            sides = [
                record[side][what] for side in ("baseline", "new") for what in ("runs", "median", "spread")
            ]
            writer.writerow(
                [comparison.baseline.name, comparison.new.name, record["name"], record["unit"], *sides] +
                [record[column] for column in CSV_COLUMNS[10:-2]] + networks)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
