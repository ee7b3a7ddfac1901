"""weir-report: a page and figures from run directories."""

import argparse
import gc
import sys
import time
from pathlib import Path

from .basics.errors import ReportError, status_of
from .pages import GROUP_PAGES
from .version import VERSION


def parser():
    made = argparse.ArgumentParser(
        prog="weir-report", description="Writes a self-contained page (it needs no network) and the figures of one or "
                                        "more runs.",
        epilog="Exit status: 0 written; 2 a run directory cannot be read or the page cannot be written.")
    made.add_argument("runs", nargs="+", metavar="RUN",
                      help="run directory, as weir run --out or weir simulate --out wrote it; also that of a job with "
                           "several groups, alone")
    made.add_argument("--out", metavar="FILE.html",
                      help="the page; the figures go beside it (default: RUN/report.html, and for several runs "
                           "weir-report/report.html)")
    made.add_argument("--figures", metavar="FORMATS", default="none",
                      help="write the figures as files too, for papers and slides: png, pdf, svg, or several with "
                           "commas (default: none; needs matplotlib)")
    made.add_argument("--group-pages", metavar="NUMBER", default=str(GROUP_PAGES),
                      help="of a job with several groups: write the pages of so many groups too, the worst first, as "
                           f"group-07/report.html beside the job's; all, or none (default: {GROUP_PAGES})")
    made.add_argument("--openmetrics", metavar="FILE",
                      help="write the run's metrics, every second with its time, as OpenMetrics text instead of a page "
                           "(-: standard output); for `promtool tsdb create-blocks-from openmetrics`")
    made.add_argument("--prometheus", metavar="FILE.prom",
                      help="write the newest values in Prometheus' text format 0.0.4 instead of a page, also of a run "
                           "that goes on; for node_exporter's textfile collector")
    made.add_argument("--every", metavar="SECONDS", type=float,
                      help="with --prometheus: write again at this distance until the run has ended")
    made.add_argument("--quiet", action="store_true", help="print errors only")
    made.add_argument("--version", action="version", version=f"weir-report {VERSION}")
    return made


def write_metrics(options):
    """--openmetrics and --prometheus."""
    # What reads runs takes longer to load than the help may take.
    from .reading import metrics as run_metrics, openmetrics
    from .reading.run_state import is_over

    if len(options.runs) != 1:
        raise ReportError(f"--openmetrics and --prometheus: {len(options.runs)} runs were given; they write one")
    if options.every is not None and (not options.prometheus or not 1.0 <= options.every <= 3600.0):
        raise ReportError(f"--every: {options.every:g} is not a number of seconds from 1 to 3600 beside --prometheus "
                          "FILE.prom")
    directory = Path(options.runs[0])
    if options.openmetrics:
        _write_lines(options.openmetrics, openmetrics.openmetrics_lines(run_metrics.families(directory, history=True)))
    while options.prometheus:
        finished = is_over(directory)  # before it is read: what it ends with is written
        _write_lines(options.prometheus, openmetrics.prometheus_lines(run_metrics.families(directory, history=False)))
        if options.every is None or finished:
            break
        time.sleep(options.every)


def _write_lines(name, lines):
    """Readers find the old file or the whole new one."""
    if name == "-":
        sys.stdout.writelines(lines)
        return
    from .basics import whole_file
    whole_file.replace(name, "".join(lines))


def _work(options):
    if options.openmetrics or options.prometheus or options.every is not None:
        write_metrics(options)
        return
    from .pages.written_pages import write_pages

    lines = write_pages(options)
    if not options.quiet:
        print(*lines, sep="\n")


def main(arguments=None):
    # Next to nothing that is made from here on is garbage with cycles, and to look for it takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000)
    return status_of("weir-report", lambda: _work(parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
