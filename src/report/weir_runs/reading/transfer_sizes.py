"""A trace: how long its transfers took and how much longer than alone, of all and by size. Rows of the page's table."""

from ..basics.units import number, text

HEADER = ("size", "transfers", "incomplete", "median completion", "p99", "slowdown, mean", "median", "p99", "worst")


def table(run):
    """None if the run is not one of a trace."""
    classes = run.record.get("size_classes") or []
    return [_row(sizes, position == 0) for position, sizes in enumerate(classes)] or None


def size_text(sizes, is_all):
    if is_all:
        return "all"
    below = text(sizes["below_bytes"], "B")
    return f"below {below}" if sizes["least_bytes"] == 1 else f"{text(sizes['least_bytes'], 'B')} to {below}"


def _row(sizes, is_all):
    times = [sizes["completion_s_median"], sizes["completion_s_p99"]]
    slowdowns = [sizes[f"slowdown_{name}"] for name in ("mean", "median", "p99", "max")]
    return [size_text(sizes, is_all), str(sizes["transfers"]), str(sizes["incomplete_transfers"]),
            *("-" if time is None else text(time, "s") for time in times),
            *("-" if slowdown is None else f"{number(slowdown)} x" for slowdown in slowdowns)]
