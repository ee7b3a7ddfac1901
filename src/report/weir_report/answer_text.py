"""Words and numbers of an answer, which its sentences are made of (answer_headline.py, answer_next.py)."""

from __future__ import annotations

import dataclasses
import math

from . import units
from .plan_pressure import PlanPressure

# What a setting does, by the figure that decides. {}: the value.
_PHRASES = {
    "lost_events": "loses {}",
    "late_share": "has {} late sets",
    "longest_stay": "delivers every event within {}",
    "worst_occupancy": "fills the producers' buffers to {}",
    "goodput": "carries {} to all consumers",
    "slowest_consumer_lowest_second": "gives its slowest consumer {} in the worst rate window",
    "slowest_consumer_mean": "gives its slowest consumer {}",
    "delivery_p99": "delivers 99 % of events within {}",
    "delivery_p99_9": "delivers 99.9 % of events within {}",
    "evenness": "has a fairness (Jain index) of {}",
}
# Titles that are too long for a column.
_SHORT = {"longest_stay": "slowest delivery", "goodput": "goodput", "evenness": "fairness",
          "slowest_consumer_lowest_second": "lowest rate", "slowest_consumer_mean": "slowest consumer"}


@dataclasses.dataclass(frozen=True)
class Findings:
    """What the sentences are made of."""

    groups: list
    names: tuple
    ranked: object  # ranking.Ranking
    rows: list  # of answer.Ranked
    values: dict
    settings: object
    why: list
    capacity: object | None = None  # capacity.Capacity, if that decides
    pressure: PlanPressure = PlanPressure()
    prover: object | None = None  # proofs.Prover; None: nothing is simulated

    @property
    def few(self):
        """Names of settings with fewer repetitions than are judged."""
        return [name for name, judged in zip(self.names, self.ranked.judged) if not judged]

    @property
    def is_judged(self):
        """Whether two settings or more have enough repetitions."""
        return sum(self.ranked.judged) > 1

    @property
    def repetition(self):
        return "round" if self.capacity else "run"

    @property
    def full_load(self):
        return full_load(self.groups)

    @property
    def leaders(self):
        """Rows that no other setting is better than."""
        return [row for row in self.rows if row.rank == 1 and row.judged]


def full_load(groups):
    """Producers of all runs send as much as they can."""
    return all(run.resolved.get("generation") == "saturate" for group in groups for run in group.runs)


def amount(figure, value):
    """Three digits with a unit: 85.8 Gb/s, 12 events, 91.1 ms."""
    if value is None:
        return "-"
    if figure.unit == "%":
        return units.percent(value)
    if figure.unit in ("b/s", "B", "s"):
        factor, name = units.scale(figure.unit, float(f"{value:.3g}"))  # 999.9 ns are 1 us
        return f"{_digits(value / factor)} {name}"
    if figure.name == "worst_occupancy":
        return f"{_digits(100.0 * value)} %"
    if figure.unit == "1":
        return f"{value:.4f}"
    return f"{_digits(value)} {figure.unit}"


def _like(value, largest):
    """With as many decimals as the larger end has."""
    decimals = 0 if largest == 0 or largest >= 100 else max(0, 2 - math.floor(math.log10(largest)))
    return f"{value:.{decimals}f}"


def _digits(value):
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}".rstrip("0").rstrip(".") or "0"


def rate_text(value):
    factor, name = units.scale("b/s", value)
    return f"{_digits(value / factor)} {name}"


def span(figure, low, high):
    """89.7 .. 93.5 ms: both ends in one unit. An open end is None."""
    largest = max(abs(end) for end in (low, high) if end is not None)
    if figure.unit in ("b/s", "B", "s"):
        factor, name = units.scale(figure.unit, largest)
    elif figure.unit == "%" or figure.name == "worst_occupancy":
        factor, name = 0.01, "%"
    else:
        factor, name = 1.0, "" if figure.unit == "1" else figure.unit
    ends = [_like(end / factor, largest / factor) if figure.unit != "1" or figure.name == "worst_occupancy" else f"{end:.4f}"
            for end in (low, high) if end is not None]
    if high is None:
        return f"from {ends[0]} {name}".rstrip()
    return f"{' .. '.join(ends)} {name}".rstrip()


def column_title(figure):
    """Of a column of the ranking: short."""
    return _SHORT.get(figure.name, figure.title)


def plain(figure):
    """A title inside a sentence."""
    if figure.name == "late_share":
        return "the share of late sets"
    return f"the {_SHORT[figure.name]}" if figure.name in _SHORT else figure.title


def difference(figure, value):
    """Without a sign; shares in points."""
    if figure.unit == "%" or figure.name == "worst_occupancy":
        return f"{_digits(100.0 * abs(value))} points"
    return amount(figure, abs(value))


def does(figure, text, capacity=None):
    """'delivers every event within 91 ms'"""
    if capacity is not None:
        return _carries(capacity, text)
    phrase = _PHRASES.get(figure.name)
    return phrase.format(text) if phrase else f"has {figure.title} {text}"


def _carries(capacity, text):
    on_time = capacity.criterion == "on-time"
    if capacity.find == "rate":
        return f"carries {text} per producer on time" if on_time else f"sustains {text} per producer"
    what = "to be on time" if on_time else "to sustain the load"
    if capacity.find == "busy":
        return f"allows a mean processing time of {text}" + (" on time" if on_time else "")
    return f"needs {text} per {'consumer' if capacity.find == 'slots' else 'producer'} {what}"


def listed(names, most=4):
    """a, b and c; of many the first: a, b and 6 others"""
    if len(names) > most:
        return f"{', '.join(names[:2])} and {len(names) - 2} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def capital(text):
    return text[:1].upper() + text[1:]
