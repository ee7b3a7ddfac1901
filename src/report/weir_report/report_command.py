"""weir-report: a page and figures from run directories."""

import argparse
import gc
import sys
import time
from pathlib import Path

from .basics import whole_file
from .basics.errors import ReportError, status_of
from .basics.units import counted
from .figures.files import formats_of
from .pages.groups_page import GROUP_PAGES, group_verdict, write_groups_page
from .pages.report_page import short_verdict, write_report
from .runs import class_counters, metrics as run_metrics, openmetrics, switch_counters
from .runs.grouped_runs import grouped_runs_of, worst_first
from .runs.groups_record import first_group, is_groups_record
from .runs.run import run_of
from .runs.run_record import read_record
from .runs.run_state import is_over
from .version import VERSION

# Groups of a job that the terminal names.
GROUPS_NAMED = 5


def parser():
    made = argparse.ArgumentParser(
        prog="weir-report", description="Writes a self-contained page (it needs no network) and the figures of one or more runs.",
        epilog="Exit status: 0 written; 2 a run directory cannot be read or the page cannot be written.")
    made.add_argument("runs", nargs="+", metavar="RUN",
                      help="run directory, as weir run --out or weir simulate --out wrote it; also that of a job with several groups, alone")
    made.add_argument("--out", metavar="FILE.html",
                      help="the page; the figures go beside it (default: RUN/report.html, and for several runs "
                           "weir-report/report.html)")
    made.add_argument("--figures", metavar="FORMATS", default="none",
                      help="write the figures as files too, for papers and slides: png, pdf, svg, or several with commas (default: none; "
                           "needs matplotlib)")
    made.add_argument("--group-pages", metavar="NUMBER", default=str(GROUP_PAGES),
                      help="of a job with several groups: write the pages of so many groups too, the worst first, as group-07/report.html "
                           f"beside the job's; all, or none (default: {GROUP_PAGES})")
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
    """--openmetrics and --prometheus."""
    if len(options.runs) != 1:
        raise ReportError(f"--openmetrics and --prometheus: {len(options.runs)} runs were given; they write one")
    if options.every is not None and (not options.prometheus or not 1.0 <= options.every <= 3600.0):
        raise ReportError(f"--every: {options.every:g} is not a number of seconds from 1 to 3600 beside --prometheus FILE.prom")
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
    else:
        whole_file.replace(name, "".join(lines))


def group_pages(text, count):
    """--group-pages: how many pages of `count` groups are written."""
    if text in ("all", "none"):
        return count if text == "all" else 0
    if not text.isascii() or not text.isdigit():
        raise ReportError(f"--group-pages: '{text}' is not a number of groups, all or none")
    return min(int(text[:9]), count)


def page_path(options, directory):
    """The page: --out, or in `directory`."""
    page = Path(options.out) if options.out else directory / "report.html"
    return page if page.suffix == ".html" else page / "report.html"


def report_runs(records, options, formats):
    """The page of one or more runs. Lines for the terminal."""
    runs = [run_of(*record) for record in records]
    page = page_path(options, runs[0].directory if len(runs) == 1 else Path("weir-report"))
    written = write_report(runs, page, page.parent / "figures", formats, f"Written by weir-report {VERSION}.")
    lines = []
    for run in runs:
        lines += [f"{run.name}: {short_verdict(run)[0]}", *(f"  {line}" for line in (*run.remarks, *switch_lines(run), *class_counters.findings(run)))]
    return [*lines, f"page     {page}", *_about_figures(page, written)]


def report_groups(record, options, formats):
    """The page of a job with several groups. Lines for the terminal."""
    grouped = grouped_runs_of(*record)
    page = page_path(options, grouped.directory)
    pages = group_pages(options.group_pages, len(grouped.groups))
    written, drawn = write_groups_page(grouped, page, page.parent / "figures", formats, f"Written by weir-report {VERSION}.", pages)
    lines = [f"{grouped.name}: {short_verdict(grouped)[0]}", *(f"  {remark}" for remark in grouped.remarks)]
    bad = [group for group in worst_first(grouped) if group.problems or group_verdict(group)[1] == "bad"]
    for group in bad[:GROUPS_NAMED]:
        lines += [f"  {group.name}: {group_verdict(group)[0]}", *(f"    {problem}" for problem in group.problems)]
    if len(bad) > GROUPS_NAMED:
        lines.append(f"  and {counted(len(bad) - GROUPS_NAMED, 'group')} more that failed, were not sustained or cannot be read")
    lines.append(f"page     {page}")
    if drawn:
        lines.append(f"groups   {counted(len(drawn), 'page')} of {len(grouped.groups)}: {', '.join(group.directory.name for group in drawn)}"
                     + ("" if len(drawn) == len(grouped.groups) else " (--group-pages all writes all)"))
    return lines + _about_figures(page, written)


def _about_figures(page, written):
    return [f"figures  {page.parent / 'figures'} ({len(written)} files)"] if written else []


def write_pages(options):
    """Lines for the terminal."""
    formats = formats_of(options.figures)
    group_pages(options.group_pages, 0)
    records = [read_record(path) for path in options.runs]
    if len(records) == 1 and is_groups_record(records[0][1]):
        return report_groups(records[0], options, formats)
    for directory, record in records:
        if is_groups_record(record):
            raise ReportError(f"{directory / 'run.json'}: it is the record of a job with several groups, which has a page of its own: give it "
                              f"alone, or directories of groups, as {directory / first_group(record)}")
    return report_runs(records, options, formats)


def _work(options):
    if options.openmetrics or options.prometheus or options.every is not None:
        write_metrics(options)
        return
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
