"""weir-report: a page and figures from run directories."""

import argparse
import os
import sys
import time
from pathlib import Path

from . import openmetrics, run_metrics, switch_counters, whole_file
from .errors import ReportError, end_quietly_when_interrupted, os_error_text
from .matplotlib_figures import FORMATS
from .report_page import short_verdict, write_report
from .run import read_run
from .version import VERSION


def parser():
    made = argparse.ArgumentParser(
        prog="weir-report", description="Writes a self-contained page (it needs no network) and the figures of one or more runs.",
        epilog="Exit status: 0 written; 2 a run directory cannot be read or the page cannot be written.")
    made.add_argument("runs", nargs="+", metavar="RUN", help="run directory, as weir run --out or weir simulate --out wrote it")
    made.add_argument("--out", metavar="FILE.html",
                      help="the page; the figures go beside it (default: RUN/report.html, and for several runs "
                           "weir-report/report.html)")
    made.add_argument("--figures", metavar="FORMATS", default="png,pdf,svg",
                      help="formats of the figure files, or none (default: png,pdf,svg)")
    made.add_argument("--openmetrics", metavar="FILE",
                      help="write the run's metrics, every second with its time, as OpenMetrics text instead of a page (-: standard "
                           "output); for `promtool tsdb create-blocks-from openmetrics`")
    made.add_argument("--prometheus", metavar="FILE.prom",
                      help="write the newest values in Prometheus' text format 0.0.4 instead of a page, also of a run that goes on; "
                           "for node_exporter's textfile collector")
    made.add_argument("--every", metavar="SECONDS", type=float,
                      help="with --prometheus: write again at this distance until the run has ended")
    made.add_argument("--quiet", action="store_true", help="print errors only")
    made.add_argument("--version", action="version", version=f"weir-report {VERSION}")
    return made


def switch_lines(run):
    """What the switch counted, in short: signs of congestion that moved, and what is missing."""
    counters = switch_counters.of_run(run)
    if not counters:
        return []
    moved = [f"{title} {total}" for title, total, _ in switch_counters.lines(counters, of_traffic=False) if total.split()[0] != "0"]
    return ["switch: " + ("; ".join(moved) or "no pause, mark or drop was counted")] + list(counters.problems)


def write_metrics(options):
    """--openmetrics and --prometheus. Exit status."""
    if len(options.runs) != 1:
        raise ReportError(f"--openmetrics and --prometheus: {len(options.runs)} runs were given; they write one")
    if options.every is not None and (not options.prometheus or not 1.0 <= options.every <= 3600.0):
        raise ReportError(f"--every: {options.every:g} is not a number of seconds from 1 to 3600 beside --prometheus FILE.prom")
    directory = Path(options.runs[0])
    if options.openmetrics:
        _write_lines(options.openmetrics, openmetrics.openmetrics_lines(run_metrics.families(directory, history=True)))
    while options.prometheus:
        finished = run_metrics.is_finished(directory)  # before it is read: what it ends with is written
        _write_lines(options.prometheus, openmetrics.prometheus_lines(run_metrics.families(directory, history=False)))
        if options.every is None or finished:
            break
        time.sleep(options.every)
    return 0


def _write_lines(name, lines):
    """Readers see the old file or the whole new one."""
    if name == "-":
        sys.stdout.writelines(lines)
    else:
        whole_file.replace(name, "".join(lines))


def main(arguments=None):
    end_quietly_when_interrupted()
    options = parser().parse_args(arguments)
    try:
        if options.openmetrics or options.prometheus or options.every is not None:
            return write_metrics(options)
        formats = [] if options.figures == "none" else options.figures.split(",")
        for name in formats:
            if name not in FORMATS:
                raise ReportError(f"--figures: '{name}' is not one of {', '.join(FORMATS)}, none")
        runs = [read_run(path) for path in options.runs]
        if options.out:
            page = Path(options.out)
            if page.suffix != ".html":
                page = page / "report.html"
        else:
            page = (runs[0].directory if len(runs) == 1 else Path("weir-report")) / "report.html"
        figures = page.parent / "figures"
        written = write_report(runs, page, figures, formats, f"Written by weir-report {VERSION}.")
    except ReportError as error:
        print(f"weir-report: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"weir-report: {os_error_text(error)}", file=sys.stderr)
        return 2
    if not options.quiet:
        for run in runs:
            print(f"{run.name}: {short_verdict(run)[0]}")
            for remark in run.remarks:
                print(f"  {remark}")
            for line in switch_lines(run):
                print(f"  {line}")
        print(f"page     {page}")
        if written:
            print(f"figures  {figures} ({len(written)} files)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
