"""Charts as files, by several processes: matplotlib takes longer than all else. It is loaded only where files are asked for."""

import importlib.util
import os
import pickle
import sys

from .errors import ReportError, naming

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
        raise ReportError("--figures: figure files need matplotlib, which this Python lacks (Debian, Ubuntu: python3-matplotlib); the page "
                          "needs none")
    return formats


def write(directory, charts, formats, title):
    """Writes every chart in every format; returns the paths."""
    paths = []
    for chart, files in zip(charts, rendered_all(charts, formats, title) if formats else ()):
        directory.mkdir(parents=True, exist_ok=True)
        for kind, content in files.items():
            paths.append(directory / f"{chart.name}.{kind}")
            with naming(paths[-1]):
                paths[-1].write_bytes(content)
    return paths


def rendered_all(charts, formats, title):
    """matplotlib_figures.rendered() of each chart, in their order. This process and its copies take a share each."""
    shares = _shares(charts, min(_cores(), len(charts), PROCESSES_MAX))
    pipes = [_begin(lambda share=share: _render(charts, share, formats, title)) for share in shares[1:]]
    files = _render(charts, shares[0], formats, title) if shares else {}
    for share, pipe in zip(shares[1:], pipes):
        files |= _end(pipe) or _render(charts, share, formats, title)
    return [files[index] for index in range(len(charts))]


def _render(charts, share, formats, title):
    from . import matplotlib_figures
    return {index: matplotlib_figures.rendered(charts[index], formats, title) for index in share}


def _cores():
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shares(charts, count):
    """Indices of charts for each process: the largest first, each to the one that has least."""
    shares, sizes = [[] for _ in range(count)], [0] * count
    for index in sorted(range(len(charts)), key=lambda index: -_size(charts[index])):
        least = sizes.index(min(sizes))
        shares[least].append(index)
        sizes[least] += _size(charts[index])
    return shares


def _size(chart):
    """How long it takes, in panels."""
    return len(getattr(chart, "panels", ())) or 2 * len(getattr(chart, "views", ())) or 2


def _begin(work):
    """A copy of this process that does `work`: where its pickled result can be read, and its number. None if there is no room for one."""
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child:
        os.close(writing)
        return reading, child
    status = 1
    try:
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(work(), pipe)
        status = 0
    finally:
        os._exit(status)  # without what this process does at its end


def _end(pipe):
    """The result; None if the copy did not come to its end, whatever the reason: then this process does its work."""
    if pipe is None:
        return None
    reading, child = pipe
    with os.fdopen(reading, "rb") as file:
        content = file.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(content) if status == 0 else None
