"""The pages and figures that weir-report writes of what it is given, and what it prints of them."""

from pathlib import Path

from ..basics.errors import ReportError
from ..basics.units import counted
from ..figures.figure_files import formats_of
from ..reading import class_counters, switch_counters
from ..reading.grouped_runs import grouped_runs_of, worst_first
from ..reading.groups_record import first_group, is_groups_record
from ..reading.run import run_of
from ..reading.run_record import read_record
from ..version import VERSION
from .groups_page import group_verdict, write_groups_page
from .report_page import short_verdict, write_report

# Groups of a job that the terminal names.
GROUPS_NAMED = 5


def switch_lines(run):
    """What the switch counted, in short: signs of congestion that moved, and what is missing."""
    counters = switch_counters.of_run(run)
    if not counters:
        return []
    moved = [f"{title} {total}" for title, total, _ in switch_counters.lines(counters, of_traffic=False)
             if total.split()[0] != "0"]
    return ["switch: " + ("; ".join(moved) or "no pause, mark or drop was counted")] + list(counters.problems)


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
        lines += [f"{run.name}: {short_verdict(run)[0]}",
                  *(f"  {line}" for line in (*run.remarks, *switch_lines(run), *class_counters.findings(run)))]
    return [*lines, f"page     {page}", *_about_figures(page, written)]


def report_groups(record, options, formats):
    """The page of a job with several groups. Lines for the terminal."""
    grouped = grouped_runs_of(*record)
    page = page_path(options, grouped.directory)
    pages = group_pages(options.group_pages, len(grouped.groups))
    written, drawn = write_groups_page(grouped, page, page.parent / "figures", formats,
                                       f"Written by weir-report {VERSION}.", pages)
    lines = [f"{grouped.name}: {short_verdict(grouped)[0]}", *(f"  {remark}" for remark in grouped.remarks)]
    bad = [group for group in worst_first(grouped) if group.problems or group_verdict(group)[1] == "bad"]
    for group in bad[:GROUPS_NAMED]:
        lines += [f"  {group.name}: {group_verdict(group)[0]}", *(f"    {problem}" for problem in group.problems)]
    if len(bad) > GROUPS_NAMED:
        lines.append(f"  and {counted(len(bad) - GROUPS_NAMED, 'group')} more that failed, were not sustained or "
                     "cannot be read")
    lines.append(f"page     {page}")
    if drawn:
        lines.append(f"groups   {counted(len(drawn), 'page')} of {len(grouped.groups)}: "
                     f"{', '.join(group.directory.name for group in drawn)}"
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
            raise ReportError(f"{directory / 'run.json'}: it is the record of a job with several groups, which has a "
                              "page of its own: give it alone, or directories of groups, as "
                              f"{directory / first_group(record)}")
    return report_runs(records, options, formats)
