"""The few numbers by which runs are judged and compared, and those that explain them."""

import dataclasses

from . import host_counters

# A quantile of a latency is the upper end of a bucket that is 3.1 % wide (src/record/log_histogram.hpp).
LATENCY_RESOLUTION = 1 / 32

# The order of a conclusion: was all data delivered in time, by which margin, how fast and how fairly.
OUTCOME, MARGIN, SPEED, EXPLAINS = range(4)


@dataclasses.dataclass(frozen=True)
class KeyFigure:
    """One number of a run. `unit` as in units.text; `resolution`: differences below this share of the value are not
    seen by the measurement; `kind`: 'share' is yes or no for one run and a share of many. `better`: 'higher' or
    'lower'; None: the figure explains others, and is never better or worse. `of`: the number of which this is a
    part."""

    name: str
    title: str
    unit: str
    better: str | None
    resolution: float = 0.0
    kind: str = "number"
    rank: int = SPEED
    of: str | None = None

    @property
    def is_scored(self):
        return self.better is not None


# Not of a run, but of whether there is one: runs that failed are no.
COMPLETED = KeyFigure("completed", "completed", "%", "higher", kind="share", rank=OUTCOME)
# In the order of the tables.
SCORED_FIGURES = (
    KeyFigure("sustained", "sustained", "%", "higher", kind="share", rank=OUTCOME),
    KeyFigure("lost_events", "events lost", "events", "lower", rank=OUTCOME, of="generated_events"),
    KeyFigure("late_share", "late sets", "%", "lower", rank=MARGIN),
    # And not the slack, which has no size to take a share of where it crosses 0.
    KeyFigure("longest_stay", "slowest delivery", "s", "lower", rank=MARGIN),
    KeyFigure("worst_occupancy", "worst occupancy", "1", "lower", rank=MARGIN),
    KeyFigure("goodput", "goodput of all consumers", "b/s", "higher"),
    KeyFigure("slowest_consumer_lowest_second", "lowest rate of any consumer in a rate window", "b/s", "higher"),
    KeyFigure("slowest_consumer_mean", "mean rate of the slowest consumer", "b/s", "higher"),
    KeyFigure("delivery_p99", "delivery latency p99", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("delivery_p99_9", "delivery latency p99.9", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("offer_to_grant_p99", "scheduling latency p99", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("offer_to_grant_p99_9", "scheduling latency p99.9", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("evenness", "fairness of consumers (Jain index)", "1", "higher"),
)
EXPLAINING_FIGURES = (
    KeyFigure("blocked_share", "blocked time of consumers", "%", None, rank=EXPLAINS),
    KeyFigure("blocked_at_once", "consumers blocked at once", "consumers", None, rank=EXPLAINS),
    KeyFigure("missing_datagrams", "datagrams missing", "packets", None, rank=EXPLAINS, of="sent_datagrams"),
    *(KeyFigure(family.name, family.title, family.unit, None, rank=EXPLAINS) for family in host_counters.FAMILIES),
)
KEY_FIGURES = SCORED_FIGURES + EXPLAINING_FIGURES


def key_figures(run):
    """Each key figure of a run by name, and what they are parts of; None if the run does not have it. Everything is run.json's own."""
    record = run.record
    figures = dict.fromkeys((figure.name for figure in KEY_FIGURES))
    verdict, totals = record["verdict"], record["totals"]
    if verdict.get("judged") and verdict.get("sustained") is not None:
        figures["sustained"] = float(verdict["sustained"])
    if verdict.get("sets") and verdict.get("late_sets") is not None:
        figures["late_share"] = verdict["late_sets"] / verdict["sets"]
    figures["longest_stay"] = _longest_stay(run)
    figures["worst_occupancy"] = totals.get("max_occupancy")
    figures["blocked_at_once"] = verdict.get("blocked_at_once_max")
    figures["lost_events"] = totals.get("lost_events")
    figures["generated_events"] = totals.get("generated_events")
    datagrams = record.get("datagrams") or {}
    figures["missing_datagrams"] = datagrams.get("missing")
    figures["sent_datagrams"] = datagrams["sent"] + (datagrams.get("sent_again") or 0) if datagrams.get("sent") else None
    for latency in ("offer_to_grant", "delivery"):
        entry = record["latency"].get(latency) or {}
        for quantile in ("p99", "p99_9"):
            value = entry.get(f"{quantile}_us")
            if entry.get("count") and value is not None:
                figures[f"{latency}_{quantile}"] = value * 1e-6
    _of_consumers(run, figures)
    figures |= host_counters.sums(run)
    return figures


def _longest_stay(run):
    """The longest time in seconds from generation until an event was gone for the producer (interval minus least slack) and whole at
    the consumer, whichever was later: an eager message is gone as soon as MPI has copied it, even if the network then loses it.
    None for loads without sets, which have no deadline."""
    interval, slack = run.resolved.get("interval_s"), run.record["verdict"].get("least_slack_s")
    delivery = run.record["latency"].get("delivery") or {}
    if slack is None or interval is None:
        return None
    delivered = delivery["max_us"] * 1e-6 if delivery.get("count") and delivery.get("max_us") is not None else 0.0
    return max(interval - slack, delivered)


def _of_consumers(run, figures):
    consumers = run.ranks("consumer")
    means = [rank["mean_bits_per_second"] for rank in consumers if rank.get("mean_bits_per_second") is not None]
    if means:
        figures["goodput"] = float(sum(means))
        figures["slowest_consumer_mean"] = float(min(means))
    evenness = (run.record.get("evenness") or {}).get("consumers")
    if evenness and len(consumers) > 1:
        figures["evenness"] = evenness["jain_index"]
    lowest = [rate for rate, _ in map(slowest_window, consumers) if rate is not None]
    if lowest:
        figures["slowest_consumer_lowest_second"] = float(min(lowest))
    measured = sum(rank.get("measured_s") or 0.0 for rank in consumers)
    if measured > 0:
        figures["blocked_share"] = sum((rank.get("time") or {}).get("blocked_s", 0.0) for rank in consumers) / measured


def slowest_window(rank):
    """A rank's lowest rate over the window in which rates are compared, and its first second. Runs that have no window were
    compared by the second."""
    part = "slowest_window" if "slowest_window_second" in rank else "slowest_second"
    first = rank.get("slowest_window_second" if part == "slowest_window" else "slowest_second")
    return rank.get(f"{part}_bits_per_second"), first
