"""Consumers that were lost in a run with --on-failure continue: how many at a time, and each loss in a table."""

import numpy as np

from ..basics.units import counted, instant, number, share, text
from .charts import Line, Panel


def losses_of(run):
    """The list in run.json; empty for a run that ends with the first loss, or without any."""
    return (run.record.get("recovery") or {}).get("losses") or []


def panel(run):
    """How many were silent or out in each second, the most at once; None if none was lost."""
    losses, seconds = losses_of(run), run.rows("consumer").seconds
    if not losses or not len(seconds):
        return None
    counts = np.zeros(len(seconds))
    for position, second in enumerate(seconds):
        begins = [loss["silent_since_s"] for loss in losses if loss["silent_since_s"] < second + 1]
        instants = [second, *(begin for begin in begins if begin >= second)]
        counts[position] = max(sum(loss["silent_since_s"] <= instant
                                   and (loss["back_at_s"] is None or instant < loss["back_at_s"])
                                   for loss in losses) for instant in instants)
    return Panel("Consumers silent or lost", f"of {len(run.rows('consumer'))}", whole_numbers=True, least_top=1.0,
                 lines=[Line("most at one instant", seconds, counts, "highest")])


def table(run):
    """Rows of the page's table, and what was sent in vain; None if no consumer was lost."""
    recovery = run.record.get("recovery") or {}
    if not recovery.get("loss_count"):
        return None
    rows = [[run.rank_name("consumer", loss["consumer"]), instant(loss["silent_since_s"]), instant(loss["lost_at_s"]),
             "not" if loss["back_at_s"] is None else instant(loss["back_at_s"]), *_rate(loss)]
            for loss in losses_of(run)]
    more = recovery["loss_count"] - len(rows)
    return {"rows": rows, "more": more,
            "redelivered": counted(recovery["redelivered_events"], "event"), "doubtful": recovery["doubtful_events"]}


def _rate(loss):
    """How deep the rate sank, for how long it was below, the recovery time, and the worst occupancy meanwhile."""
    occupancy = number(loss.get("max_occupancy"))
    if loss.get("rate_before_bits_per_second") is None:
        return ["-", "-", "-", occupancy]
    if loss.get("lowest_bits_per_second") is None:
        return ["above 95 %", "0 s", "0 s", occupancy]
    lowest = share(loss["lowest_bits_per_second"], loss["rate_before_bits_per_second"])
    recovery = "not before the next loss or the end" if loss["recovery_s"] is None else text(loss["recovery_s"], "s")
    return [lowest, f"{loss['seconds_below']} s", recovery, occupancy]
