"""The sentences of an answer: what won, by how much, how certain that is; what could not be told; what to do next."""

from __future__ import annotations

import dataclasses
import math

from . import statistics, units
from .figure_results import all_equal

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
_RUNS_MOST = 200


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

    @property
    def few(self):
        return [name for name, group in zip(self.names, self.groups) if len(group.runs) < statistics.FEWEST_RUNS]

    @property
    def leaders(self):
        """Rows that no other setting is better than."""
        return [row for row in self.rows if row.rank == 1]


def amount(figure, value):
    """Three digits with a unit: 85.8 Gb/s, 12 events, 91.1 ms."""
    if value is None:
        return "-"
    if figure.unit == "%":
        return units.percent(value)
    if figure.unit in ("b/s", "B", "s"):
        factor, name = units.scale(figure.unit, value)
        return f"{_digits(value / factor)} {name}"
    if figure.name == "worst_occupancy":
        return f"{_digits(100.0 * value)} %"
    if figure.unit == "1":
        return f"{value:.4f}"
    return f"{_digits(value)} {figure.unit}"


def _digits(value):
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}".rstrip("0").rstrip(".") or "0"


def difference(figure, value):
    """Without a sign; shares in points."""
    if figure.unit == "%" or figure.name == "worst_occupancy":
        return f"{_digits(100.0 * abs(value))} points"
    return amount(figure, abs(value))


def does(figure, text):
    """'delivers every event within 91 ms'"""
    phrase = _PHRASES.get(figure.name)
    return phrase.format(text) if phrase else f"has {figure.title} {text}"


def listed(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def headline(found):
    parts = [_nothing_on_time(found)]
    if found.ranked.decided_by is None:
        parts.append("No figure of these runs differs between the settings.")
    elif found.ranked.winner is not None:
        parts.append(_winner(found))
    elif found.few:
        parts.append(_too_few(found))
    else:
        parts += _no_winner(found)
    return " ".join(part for part in parts if part)


def _nothing_on_time(found):
    verdicts = [run.record["verdict"] for group in found.groups for run in group.runs]
    if verdicts and all(verdict.get("sustained") is False for verdict in verdicts):
        return "No setting sustained the load in any run."
    if verdicts and all(verdict.get("on_time") is False for verdict in verdicts):
        return "No setting was on time in any run."
    return None


def _winner(found):
    best, second = found.rows[0], found.rows[1]
    figure = best.told_by or found.ranked.decided_by
    if figure.kind == "share":
        return f"{_sustains(found, [best.index])}, {_runs_of(found, figure, second.index)} with {second.setting} (certain)."
    one, other = _value(found, figure, best.index), _value(found, figure, second.index)
    return (f"{best.setting} {does(figure, one)}, {second.setting} {other} "
            f"(difference {difference(figure, best.difference)}, certain).")


def _value(found, figure, index):
    row = next(row for row in found.rows if row.index == index)
    return next(value.text for value in row.details if value.figure is figure)


def _runs_of(found, figure, index):
    known = [value for value in found.values[figure.name][index] if value is not None]
    return f"{int(sum(known))} of {len(known)}"


def _sustains(found, indices):
    figure = next(figure for figure in found.ranked.chain if figure.kind == "share")
    names = [found.names[index] for index in indices]
    counts = {_runs_of(found, figure, index) for index in indices}
    if len(counts) == 1:
        each = " each" if len(indices) > 1 else ""
        return f"{listed(names)} sustain{'s' if len(indices) == 1 else ''} the load in {counts.pop()} runs{each}"
    return "the load was sustained " + ", ".join(
        f"in {_runs_of(found, figure, index)} runs with {found.names[index]}" for index in indices)


def _too_few(found):
    figure = found.ranked.decided_by
    shown = ", ".join(f"{row.setting} {row.text}" for row in found.rows)
    return (f"Not judged: {statistics.FEWEST_RUNS} or more complete runs per setting are needed, {listed(found.few)} "
            f"{'has' if len(found.few) == 1 else 'have'} fewer. {_capital(figure.title)}: {shown}.")


def _no_winner(found):
    leaders, others = found.leaders, [row for row in found.rows if row.rank > 1]
    names = listed([row.setting for row in leaders])
    parts = []
    if others:
        figure = found.ranked.decided_by
        if figure.kind == "share":
            parts.append(_sustains(found, [row.index for row in leaders]) + ", " + listed(
                [f"{_runs_of(found, figure, row.index)} with {row.setting}" for row in others]) + " (certain).")
        else:
            parts.append(f"{_capital(figure.title)}: " + ", ".join(f"{row.setting} {row.text}" for row in found.rows) + ".")
    parts.append(f"No winner {'between' if len(leaders) == 2 else 'among'} {names}: {_least_found(found, leaders)}")
    return parts


def _least_found(found, leaders):
    """Which difference between the leaders was seen, and which could have been found."""
    pair = _pair_of_leaders(found, leaders)
    if pair is None or pair.result.difference is None:
        return "they have nothing that differs."
    figure, result = pair.figure, pair.result
    seen = "is the same" if result.difference == 0 else f"differs by {difference(figure, result.difference)}"
    text = f"{figure.title} {seen}"
    if result.difference and pair.is_called:
        share = units.percent(found.settings.relevant)
        return f"{text}, which is certain but less than the {share} that count."
    if result.detectable is not None and result.detectable > 1e-9 * (result.scale or 1.0):
        return f"{text}; {difference(figure, result.detectable)} or more would have been found."
    return f"{text}."


def _pair_of_leaders(found, leaders):
    """The first two leaders, by the figure of the chain that is a number: the deciding one, if it is."""
    figures = [figure for figure in (found.ranked.decided_by, *found.ranked.chain) if figure and figure.kind != "share"]
    if len(leaders) < 2:
        return None
    of_figures = [found.ranked.of_figure(figure, leaders[0].index, leaders[-1].index) for figure in figures]
    return next((pair for pair in of_figures if pair is not None and not all_equal(pair.result)), None)


def _capital(text):
    return text[:1].upper() + text[1:]


def not_told(found):
    """What these runs could not tell, and how many would."""
    sentences = []
    for one, other in zip(found.rows, found.rows[1:]):
        if one.certain or found.few:
            continue
        more = runs_for(found, one.index, other.index)
        if more:
            sentences.append(more)
    absent = sorted({title for why in found.why for title in why.missing} - _missing_everywhere(found))
    if absent:
        sentences.append("Counted with some settings only, so not comparable: " + ", ".join(absent) + ".")
    return sentences


def _missing_everywhere(found):
    return set.intersection(*(set(why.missing) for why in found.why)) if found.why else set()


def runs_for(found, i, j):
    """How many runs would tell two settings apart, if their difference is what it seems; None: nothing to say."""
    figure = found.ranked.decided_by
    pair = figure and found.ranked.of_figure(figure, i, j)
    if pair is None or pair.result.estimate is None or pair.result.level is None or pair.is_called:
        return None
    result, two = pair.result, f"{found.names[i]} and {found.names[j]}"
    size = min(len(result.baseline.values), len(result.new.values))
    seen = abs(result.difference)
    if seen < 0.1 * (result.relevant or 0.0):
        return f"{two} differ by less than {difference(figure, result.detectable)} in {figure.title}, if at all."
    needed = statistics.runs_needed(result.estimate, size, seen, result.level, _RUNS_MOST)
    runs = f"about {needed} runs each ({needed - size} more)" if needed else f"more than {_RUNS_MOST} runs each"
    return (f"Whether {two} differ in {figure.title}: {difference(figure, seen)} was seen, "
            f"{difference(figure, result.detectable)} could have been found; {runs} would tell.")


def next_step(found):
    """One piece of advice."""
    if found.few:
        return (f"Make more runs: {statistics.FEWEST_RUNS} per setting are the least that is judged, 5 are a good choice; let the "
                "settings take turns.")
    leaders = found.leaders
    if found.ranked.winner is not None:
        return (f"Use {found.rows[0].setting}. How much it can carry was not measured: weir-sweep with find = \"rate\" does "
                "that.")
    if len(leaders) == len(found.rows):
        return "Measure the capacity of each setting: weir-sweep with find = \"rate\". At this rate they do not differ enough."
    return (f"Choose between {listed([row.setting for row in leaders])} by their capacity: weir-sweep with find = \"rate\" "
            "measures it.")
