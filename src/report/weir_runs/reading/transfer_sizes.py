"""A trace: how long its transfers took and how much longer than alone, of all and by size. Rows of the page's table."""

from ..basics.units import number, text

HEADER = ("size", "transfers", "incomplete", "median completion", "p99", "slowdown, mean", "median", "p99", "worst")


def table(run):
    """None if the run is not one of a trace."""
    return rows(run.record.get("size_classes") or [], " x") or None


def rows(classes, times=""):
    """Of all sizes, then of each class. `times`: behind a slowdown."""
    return [[_size_text(sizes, position == 0), str(sizes["transfers"]), str(sizes["incomplete_transfers"]),
             *(text(sizes[f"completion_s_{name}"], "s") for name in ("median", "p99")),
             *("-" if slowdown is None else number(slowdown) + times
               for slowdown in (sizes[f"slowdown_{name}"] for name in ("mean", "median", "p99", "max")))]
            for position, sizes in enumerate(classes)]


def _size_text(sizes, is_all):
    if is_all:
        return "all"
    below = text(sizes["below_bytes"], "B")
    return f"below {below}" if sizes["least_bytes"] == 1 else f"{text(sizes['least_bytes'], 'B')} to {below}"
