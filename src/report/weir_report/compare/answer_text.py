"""Words and numbers of an answer, which its sentences are made of (answer_headline.py, answer_next.py)."""

from __future__ import annotations

import dataclasses
import math

from ..basics import units
from ..runs.plan_pressure import PlanPressure

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
          "capacity": "half hold", "every_run": "every run held", "slowest_consumer_lowest_second": "lowest rate", "slowest_consumer_mean": "slowest consumer"}

# What the heads of a ranking mean, in short; docs/glossary.md, which `weir help WORD` prints, has all of it.
MEANINGS = {
    "sustained": "sustained: no buffer overflowed, nothing was lost and no backlog grew",
    "late_share": "late sets: those of which something was left when the next was generated; a set is what a producer generates per interval",
    "longest_stay": "slowest delivery: the longest time until an event had left its producer and was whole at its consumer",
    "worst_occupancy": "worst occupancy: the most data that waited in a producer, of its buffer; above 100 % it overflows",
    "goodput": "goodput: payload that arrived, per second",
    "evenness": "fairness (Jain index): 1 if all consumers got the same",
    "capacity": "round: one whole search for the limit of every setting",
}


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
    limits: tuple = ()  # capacity_estimates.Limit of each setting, or None; with a capacity
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
    def full_load(self):
        return full_load(self.groups)

    @property
    def leaders(self):
        """Rows that no other setting is better than; where each is worse than some other one, those that the fewest are better than."""
        judged = [row for row in self.rows if row.judged]
        return [row for row in judged if row.rank == min(row.rank for row in judged)]


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
        return units.short_text(value, figure.unit)
    if figure.name == "worst_occupancy":
        return f"{units.short(100.0 * value)} %"
    if figure.unit == "1":
        return f"{value:.4f}"
    return f"{units.short(value)} {figure.unit}"


def _like(value, largest):
    """With as many decimals as the larger end has."""
    decimals = 0 if largest == 0 or largest >= 100 else max(0, 2 - math.floor(math.log10(largest)))
    return f"{value:.{decimals}f}"


def span(figure, low, high):
    """89.7 .. 93.5 ms: both ends in one unit. An open end is None."""
    largest = max(abs(end) for end in (low, high) if end is not None)
    factor, name = units.scale("%" if figure.name == "worst_occupancy" else figure.unit, largest)
    name = "" if name == "1" else name
    known = [end for end in (low, high) if end is not None]
    if figure.unit == "1" and figure.name != "worst_occupancy":
        ends = [f"{end:.4f}" for end in known]
    elif factor == 1.0 and all(float(end).is_integer() for end in known):  # what is counted
        ends = [f"{end:.0f}" for end in known]
    else:
        ends = [_like(end / factor, largest / factor) for end in known]
    if high is None:
        return f"from {ends[0]} {name}".rstrip()
    if low is not None and ends[0] == ends[1]:
        ends = ends[:1]
    return f"{' .. '.join(ends)} {name}".rstrip()


def column_title(figure):
    """The short title of a column of the ranking."""
    return _SHORT.get(figure.name, figure.title)


def meanings(answer):
    """What the words of its ranking mean: of its columns, and of a place such as 1-2."""
    shared = next((row for row in answer.ranking if row.shared and row.judged and not answer.pressure.cannot_differ), None)
    place = [f"rank {shared.place}: not told apart, so the place may be {shared.rank} "
             f"{'or' if shared.last_rank == shared.rank + 1 else 'to'} {shared.last_rank}"] if shared else []
    return place + [MEANINGS[figure.name] for figure in answer.columns if figure.name in MEANINGS]


def plain(figure):
    """A title inside a sentence."""
    if figure.name == "late_share":
        return "the share of late sets"
    return f"the {_SHORT[figure.name]}" if figure.name in _SHORT else figure.title


def difference(figure, value):
    """Without a sign, with two digits, for it is known less exactly than what it is of; shares in points."""
    value = float(f"{value:.2g}")
    if figure.unit == "%" or figure.name == "worst_occupancy":
        return f"{units.short(100.0 * abs(value))} points"
    return amount(figure, abs(value))


def does(figure, text):
    """'delivers every event within 91 ms'"""
    phrase = _PHRASES.get(figure.name)
    return phrase.format(text) if phrase else f"has {figure.title} {text}"


def listed(names, most=4):
    """a, b and c; of many the first: a, b and 6 others"""
    if len(names) > most:
        return f"{', '.join(names[:2])} and {len(names) - 2} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def capital(text):
    return text[:1].upper() + text[1:]
