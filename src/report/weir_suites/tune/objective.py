"""What is to be made better, and what must hold: from the record of a run to a score, and how far it is from what is
allowed."""

from __future__ import annotations

import dataclasses
import math

from weir_compare.sweep import find_values
from weir_runs.basics.units import exact_percent
from weir_runs.reading import network_failures, switch_counters
from weir_runs.reading.key_figures import KEY_FIGURES, KeyFigure, SCORED_FIGURES, key_figures

MARGIN, CAPACITY = "margin", "capacity"
_BY_NAME = {figure.name: figure for figure in SCORED_FIGURES}
# Figures of which a share can be said: they are above 0 in every run that delivers something.
FIGURES = {MARGIN: _BY_NAME["longest_stay"],
           CAPACITY: KeyFigure("capacity", "largest rate per producer that is sustained", "b/s", "higher",
                                 # the middle of a bracket is so near to the limit
                                 resolution=find_values.RESOLUTION / 2.0),
           **{name: _BY_NAME[name] for name in ("goodput", "slowest_consumer_mean", "delivery_p99", "delivery_p99_9",
                                                "offer_to_grant_p99")}}
# Counts that no key figure has, but which a gain may cost: {key of `observed`: figure}.
LOSSES = {"lost_packets": KeyFigure("lost_packets", "packets lost", "packets", "lower"),
          "lost_events": KeyFigure("lost_events", "events lost", "events", "lower")}
LOST_ACKNOWLEDGEMENTS = "lost acknowledgements to WRED"
PAUSED, LATENCY = "producers_paused_share", "offer_to_grant"


@dataclasses.dataclass(frozen=True)
class Constraints:
    lossless: bool = False  # no packet is lost, and no event
    paused_at_most: float | None = None  # share of the time for which switches stop producers, mean of all
    control_latency_at_most_s: float | None = None  # from offer to grant, p99

    def excess(self, record):
        """0 if a run keeps all; else how far it is from that: the sum of ln(value / limit), and of ln(1 + what is
        lost)."""
        found = observed(record)
        total = 0.0
        if self.lossless:
            total += math.log1p(found["lost_packets"] + found["lost_events"])
        for limit, value in ((self.paused_at_most, found["paused_share"]),
                             (self.control_latency_at_most_s, found["control_latency_s"])):
            if limit is not None and value is not None and value > limit:
                total += math.log(value / limit) if limit > 0.0 else 1.0 + value
        return total

    def broken(self, record):
        """What a run did that was not asked for, in words that go on from "1 of 5 runs": empty if it keeps all."""
        found = observed(record)
        said = []
        if self.lossless and found["lost_packets"]:
            said.append(LOST_ACKNOWLEDGEMENTS if switch_counters.bytes_of_lost_acknowledgements(record) else
                        "lost packets")
        elif self.lossless and found["lost_events"]:
            said.append("lost events")
        if self.paused_at_most is not None and (found["paused_share"] or 0.0) > self.paused_at_most:
            said.append(f"paused producers for more than {exact_percent(self.paused_at_most)} of the time")
        if self.control_latency_at_most_s is not None and (found["control_latency_s"]
                                                           or 0.0) > self.control_latency_at_most_s:
            said.append(f"had a scheduling latency (p99) above {1e6 * self.control_latency_at_most_s:g} us")
        return tuple(said)

    def unseen(self, record):
        """The key of a constraint that no run of this network can break or keep, because nothing counts there; or
        None."""
        if "switch" in record:
            return None
        return "lossless" if self.lossless else "paused-at-most" if self.paused_at_most is not None else None

    def words(self):
        """What is asked for, as a list of texts."""
        paused, latency_s = self.paused_at_most, self.control_latency_at_most_s
        return [text for is_asked, text in (
            (self.lossless, "nothing lost"),
            (paused is not None, f"producers paused for at most {exact_percent(paused or 0.0)} of the time"),
            (latency_s is not None, f"scheduling latency (p99) at most {1e6 * (latency_s or 0.0):g} us")) if is_asked]


# What a switch does where it fills, and the counter of it.
ACTS = {"ecn": "marked_packets", "pfc": "pauses_sent", "drop": "dropped_packets"}


def acted(records):
    """Which of ACTS the switch did in any of these runs; None: nothing counts it."""
    if not all(record.get("switch") for record in records):
        return None
    return tuple(name for name, counter in ACTS.items() if any(record["switch"].get(counter) for record in records))


def observed(record):
    """What constraints look at, of a run.json: absent is None, but what nobody counts of losses is 0."""
    switch = record.get("switch") or {}
    latency = (record.get("latency") or {}).get(LATENCY) or {}
    return {"lost_packets": (switch.get("dropped_packets") or 0) + network_failures.lost_packets(record),
            "lost_events": (record.get("totals") or {}).get("lost_events") or 0,
            "paused_share": (switch.get(PAUSED) or {}).get("mean"),
            "control_latency_s": latency["p99_us"] * 1e-6 if latency.get("count") else None}


def value_of(name, run):
    """The figure of a run; None: it has none. Not of a capacity, which is that of several runs."""
    return key_figures(run)[FIGURES[name].name]


def score(name, value):
    """Smaller is better, and differences are shares; None without a figure above 0."""
    if value is None or not value > 0.0:
        return None
    return math.log(value) if FIGURES[name].better == "lower" else -math.log(value)


def value_of_score(name, score_of_it):
    """The opposite of `score`; None of None."""
    if score_of_it is None:
        return None
    return math.exp(score_of_it if FIGURES[name].better == "lower" else -score_of_it)


def beside(name):
    """Key figures that may pay for the gain, but for LOSSES."""
    return [figure for figure in KEY_FIGURES if figure.is_scored and figure.kind == "number"
            and figure.name not in (FIGURES[name].name, *LOSSES)]
