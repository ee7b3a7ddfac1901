"""The few numbers by which runs are judged and compared, and those that explain them."""

from __future__ import annotations

import dataclasses

from ..basics import units
from . import host_counters

# A quantile of a latency is the upper end of a bucket that is 3.1 % wide (src/record/latencies.hpp).
LATENCY_RESOLUTION = 1 / 32

# The order of a conclusion: was all data delivered in time, by which margin, how fast and how fairly.
OUTCOME, MARGIN, SPEED, EXPLAINS = range(4)


@dataclasses.dataclass(frozen=True)
class KeyFigure:
    """One number of a run. `unit` as in units.text; `resolution`: differences below this share of the value are not
    seen by the measurement; `kind`: 'share' is yes or no for one run and a share of many. `better`: 'higher' or
    'lower'; None: the figure explains others, and is never better or worse. `of`: the number of which this is a
    part. `short`: the head of a column, where the title is too long; `does`: what a setting does, {} is the value;
    `meaning`: in short (docs/glossary.md, which `weir help WORD` prints, has all of it)."""

    name: str
    title: str
    unit: str
    better: str | None
    resolution: float = 0.0
    kind: str = "number"
    rank: int = SPEED
    of: str | None = None
    short: str = ""
    does: str = ""
    meaning: str = ""

    @property
    def is_scored(self):
        return self.better is not None

    @property
    def is_part(self):
        """Whether it is a number from 0 to 1 in each run. An occupancy may be above 1."""
        return self.kind == "number" and self.unit == "%" and self.name != "worst_occupancy"

    @property
    def head(self):
        """The title as the head of a column."""
        return self.short or self.title

    @property
    def in_sentence(self):
        if self.name == "late_share":
            return "the share of late sets"
        return f"the {self.short}" if self.short else self.title

    def text(self, value, like=None):
        """A value with its unit: 85.8 Gb/s, 12 events, 91.1 ms, 1 frame. `like`: as of units.text."""
        unit = self.unit.removesuffix("s") if value == 1 and len(self.unit) > 1 else self.unit
        # An index of fairness is near 1.
        return units.text(value, unit, like, 4 if unit == "1" else units.DIGITS)

    def difference(self, value):
        """Without a sign, with two digits, for it is known less exactly than the value; shares in points."""
        value = abs(float(f"{value:.2g}"))
        return f"{units.number(100.0 * value)} points" if self.unit == "%" else self.text(value)

    def span(self, low, high):
        """89.7 .. 93.5 ms: both ends in one unit. An open end is None."""
        known = [end for end in (low, high) if end is not None]
        factor, name = units.scale(self.unit, max(map(abs, known)))
        ends = [units.number(end / factor, 4 if self.unit == "1" else units.DIGITS) for end in known]
        unit = "" if name == "1" else f" {name}"
        return f"from {ends[0]}{unit}" if high is None else f"{' .. '.join(dict.fromkeys(ends))}{unit}"

    def what_it_does(self, text):
        """delivers every event within 91 ms"""
        return self.does.format(text) if self.does else f"has {self.title} {text}"


# Not of a run, but of whether there is one: runs that failed are no.
COMPLETED = KeyFigure("completed", "completed", "%", "higher", kind="share", rank=OUTCOME)
# In the order of the tables.
SCORED_FIGURES = (
    KeyFigure("sustained", "sustained", "%", "higher", kind="share", rank=OUTCOME,
              meaning="sustained: no buffer overflowed, nothing was lost and no backlog grew"),
    KeyFigure("lost_events", "events lost", "events", "lower", rank=OUTCOME, of="generated_events", does="loses {}"),
    KeyFigure("late_share", "late sets", "%", "lower", rank=MARGIN, does="has {} late sets",
              meaning="late sets: those of which something was left when the next was generated; a set is what a "
                      "producer generates per interval"),
    # And not the slack, which has no size to take a share of where it crosses 0.
    KeyFigure("longest_stay", "longest delivery time", "s", "lower", rank=MARGIN, short="longest delivery time",
              does="delivers every event within {}",
              meaning="longest delivery time: until an event had left its producer and was whole at its consumer"),
    KeyFigure("worst_occupancy", "worst occupancy", "%", "lower", rank=MARGIN,
              does="fills the producers' buffers to {}",
              meaning="worst occupancy: the most data that waited in a producer, of its buffer; above 100 % it "
                      "overflows"),
    KeyFigure("goodput", "goodput of all consumers", "b/s", "higher", short="goodput",
              does="carries {} to all consumers", meaning="goodput: payload that arrived, per second"),
    KeyFigure("slowest_consumer_lowest_second", "lowest rate of any consumer in a rate window", "b/s", "higher",
              short="lowest rate", does="gives its slowest consumer {} in the worst rate window"),
    KeyFigure("slowest_consumer_mean", "mean rate of the slowest consumer", "b/s", "higher", short="slowest consumer",
              does="gives its slowest consumer {}"),
    KeyFigure("delivery_p99", "delivery latency p99", "s", "lower", LATENCY_RESOLUTION,
              does="delivers 99 % of events within {}"),
    KeyFigure("delivery_p99_9", "delivery latency p99.9", "s", "lower", LATENCY_RESOLUTION,
              does="delivers 99.9 % of events within {}"),
    KeyFigure("offer_to_grant_p99", "scheduling latency p99", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("offer_to_grant_p99_9", "scheduling latency p99.9", "s", "lower", LATENCY_RESOLUTION),
    KeyFigure("evenness", "fairness of consumers (Jain index)", "1", "higher", short="fairness",
              does="has a fairness (Jain index) of {}",
              meaning="fairness (Jain index): 1 if all consumers got the same"),
)
EXPLAINING_FIGURES = (
    KeyFigure("blocked_share", "blocked time of consumers", "%", None, rank=EXPLAINS),
    KeyFigure("blocked_at_once", "consumers blocked at once", "consumers", None, rank=EXPLAINS),
    KeyFigure("missing_datagrams", "datagrams missing", "packets", None, rank=EXPLAINS, of="sent_datagrams"),
    *(KeyFigure(family.name, family.title, family.unit, None, rank=EXPLAINS) for family in host_counters.FAMILIES),
)
KEY_FIGURES = SCORED_FIGURES + EXPLAINING_FIGURES


def key_figures(run):
    """Each key figure of a run by name, and what they are parts of; None if the run does not have it. Everything is
    run.json's own."""
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
    figures["sent_datagrams"] = (datagrams["sent"] + (datagrams.get("sent_again") or 0) if datagrams.get("sent")
                                 else None)
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
    """The longest time in seconds from generation until an event was gone for the producer (interval minus least slack)
    and whole at the consumer, whichever was later: an eager message is gone as soon as MPI has copied it, even if the
    network then loses it. None for loads without sets, which have no deadline."""
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
    """A rank's lowest rate over the window in which rates are compared, and its first second. Runs that have no window
    were compared by the second."""
    part = "slowest_window" if "slowest_window_second" in rank else "slowest_second"
    first = rank.get("slowest_window_second" if part == "slowest_window" else "slowest_second")
    return rank.get(f"{part}_bits_per_second"), first
