"""weir-report: a page and figures from run directories."""

import argparse
import gc
import sys
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
    made.add_argument("--serve", metavar="[ADDRESS:]PORT", nargs="?", const="0",
                      help="answer requests instead of writing a page, until Ctrl-C: / is the page, also of a run that "
                           "goes on, /metrics is OpenMetrics for Prometheus. Stands behind the run, and prints the "
                           "address, which has a token (WEIR_REPORT_TOKEN gives one) (default: a free port, of this "
                           "host's loopback alone)")
    made.add_argument("--quiet", action="store_true", help="print errors only")
    made.add_argument("--version", action="version", version=f"weir-report {VERSION}")
    return made


def write_metrics(options):
    """--openmetrics and --prometheus."""
    # What reads runs takes longer to load than the help may take.
    from .reading import metrics as run_metrics, openmetrics

    if len(options.runs) != 1:
        raise ReportError(f"--openmetrics and --prometheus: {len(options.runs)} runs were given; they write one")
    directory = Path(options.runs[0])
    if options.openmetrics:
        _write_lines(options.openmetrics, openmetrics.openmetrics_lines(run_metrics.families(directory, history=True)))
    if options.prometheus:
        _write_lines(options.prometheus, openmetrics.prometheus_lines(run_metrics.families(directory, history=False)))


def serve(options):
    """--serve."""
    from .pages import live_server
    if options.out or options.openmetrics or options.prometheus or options.figures != "none":
        raise ReportError("--serve: writes no file; leave out --out, --figures, --openmetrics and --prometheus")
    if len(options.runs) != 1:
        raise ReportError(f"--serve: {len(options.runs)} runs were given; it serves one")
    live_server.serve(options.runs[0], options.serve, options.quiet)


def _write_lines(name, lines):
    """Readers find the old file or the whole new one."""
    if name == "-":
        sys.stdout.writelines(lines)
        return
    from .basics import whole_file
    whole_file.replace(name, "".join(lines))


def _work(options):
    if options.serve is not None:
        serve(options)
        return
    if options.openmetrics or options.prometheus:
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
