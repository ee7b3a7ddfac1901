"""Tables of a run with addressed events, as texts: how long its phases took, its collectives, and its transfers by
size."""

from ..basics.units import number, percent, text

PHASES_SHOWN = 20


def phases(run):
    """{'rows', 'more', 'has_ideal'}: a row for each name, the slowest first, and how many more there are; None if
    events have no address."""
    ordered = slowest_first(run)
    return {"rows": [_phase(phase) for phase in ordered[:PHASES_SHOWN]], "more": len(ordered) - PHASES_SHOWN,
            "has_ideal": any(phase["ideal_s"] for phase in ordered)} if ordered else None


def slowest_first(run):
    return sorted(run.record.get("phases") or [], key=lambda phase: -(phase["completion_s_max"] or 0))


def _phase(phase):
    longest, ideal = phase["completion_s_max"], phase["ideal_s"]
    return [phase["name"], f"{phase['complete_phases']} of {phase['phases']}", text(phase["bytes"], "B"),
            *(text(seconds, "s") for seconds in (phase["completion_s_median"], longest, ideal)),
            f"{number(longest / ideal)} x" if longest and ideal else "-",
            f"{phase['phases_over_period']} of {phase['phases']}", str(phase["incomplete_transfers"])]


COLLECTIVE_HEADS = ("collective", "kind, algorithm", "workers", "S", "S_fabric", "complete", "JCT, median", "p95",
                    "p99", "JCT ratio", "p99", "BusBW, mean", "p99", "efficiency")


def collectives(run):
    """Rows: how long iterations took, and the bandwidth of the bus; None if the run has none."""
    return [[one["name"], f"{one['kind']}, {one['algorithm']}",
             f"{one['first_worker']} to {one['first_worker'] + one['workers'] - 1}", text(one["bytes"], "B"),
             text(one["fabric_bytes_mean"], "B"), f"{one['complete_iterations']} of {one['iterations']}",
             *(text(one[f"jct_s_{name}"], "s") for name in ("p50", "p95", "p99")),
             *(number(one[f"jct_ratio_{name}"]) for name in ("p50", "p99")),
             *(text(one[f"busbw_bps_{name}"], "b/s") for name in ("mean", "p99")), percent(one["efficiency"])]
            for one in run.record.get("collectives") or []] or None


SIZE_HEADS = ("size", "transfers", "incomplete", "median completion", "p99", "slowdown, mean", "median", "p99", "worst")


def sizes(run):
    """Rows: how long transfers of a trace took and how much longer than alone; None if the run is not one of a
    trace."""
    return rows_of_sizes(run.record.get("size_classes") or [], " x") or None


def rows_of_sizes(classes, times=""):
    """Of all sizes, then of each class. `times`: behind a slowdown."""
    return [[_size(one, position == 0), str(one["transfers"]), str(one["incomplete_transfers"]),
             *(text(one[f"completion_s_{name}"], "s") for name in ("median", "p99")),
             *("-" if slowdown is None else number(slowdown) + times
               for slowdown in (one[f"slowdown_{name}"] for name in ("mean", "median", "p99", "max")))]
            for position, one in enumerate(classes)]


def _size(one, is_all):
    if is_all:
        return "all"
    below = text(one["below_bytes"], "B")
    return f"below {below}" if one["least_bytes"] == 1 else f"{text(one['least_bytes'], 'B')} to {below}"
