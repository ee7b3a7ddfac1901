"""Charts as files, by several processes: matplotlib takes longer than all else. It is loaded only where files are asked
for."""

import importlib.util
import os
import sys

from ..basics import whole_file
from ..basics.errors import ReportError
from ..basics.programs import cores

FORMATS = ("png", "pdf", "svg")

# More would wait for the largest chart.
PROCESSES_MAX = 8


def formats_of(text):
    """--figures: names of formats, or none."""
    formats = [] if text == "none" else text.split(",")
    for name in formats:
        if name not in FORMATS:
            raise ReportError(f"--figures: '{name}' is not one of {', '.join(FORMATS)}, none")
    if formats and importlib.util.find_spec("matplotlib") is None:
        raise ReportError("--figures: figure files need matplotlib, which this Python lacks (Debian, Ubuntu: "
                          "python3-matplotlib); the page needs none")
    return formats


def write(directory, charts, formats, title):
    """Writes every chart in every format; returns the paths. This process and its copies take a share each; what a copy
    does not come to, whatever the reason, this one does."""
    if not formats or not charts:
        return []
    whole_file.make_directory(directory)
    largest_first = sorted(charts, key=lambda chart: -len(getattr(chart, "panels", None) or 2 * chart.views))
    count = min(cores() if hasattr(os, "fork") else 1, len(charts), PROCESSES_MAX)
    mine, *others = (lambda share=largest_first[begin::count]: _write(directory, share, formats, title)
                     for begin in range(count))
    copies = [(work, _begin(work)) for work in others]
    mine()
    for work, child in copies:
        if child is None or os.waitpid(child, 0)[1]:
            work()
    return [directory / f"{chart.name}.{kind}" for chart in charts for kind in formats]


def _write(directory, charts, formats, title):
    from . import matplotlib_figures
    for chart in charts:
        for kind, content in matplotlib_figures.rendered(chart, formats, title).items():
            path = directory / f"{chart.name}.{kind}"
            whole_file.replace(path, content)


def _begin(work):
    """The number of a copy of this process that does `work`; None if there is no room for one."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        child = os.fork()
    except OSError:
        return None
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)  # without what this process does at its end
