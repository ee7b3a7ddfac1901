"""weir-report: a page and figures from run directories."""

import argparse
import sys
from pathlib import Path

from . import switch_counters
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


def main(arguments=None):
    end_quietly_when_interrupted()
    options = parser().parse_args(arguments)
    try:
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
