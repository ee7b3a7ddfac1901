"""The headline of an answer: what won, by how much, and how certain that is; or that nothing did, and which difference
would have been found."""

from __future__ import annotations

from ..basics import units
from ..runs.key_figures import COMPLETED
from . import answer_failures, answer_limits, bad_runs, ranking, reasons, statistics
from .answer_next import nothing_sustained
from .answer_text import capital, difference, does, listed, plain
from .figure_results import all_equal

# Sentences on ports in a headline; the answer has all of them.
PORTS_MAX = 2
# Figures that are worse with the winner.
PRICES_MAX = 3


def headline(found, suffering=()):
    """A few sentences out of answer_text.Findings, and of ports that stand out (`suffering`: of victims.Victims)."""
    if found.pressure.cannot_differ:
        other = [] if found.ranked.winner is None else ["What differs between these runs all the same has another cause."]
        return " ".join([found.pressure.headline, *other])
    if found.capacity:
        return answer_limits.headline(found, suffering)
    parts = [*answer_failures.not_measured(found), _nothing_on_time(found), *bad_runs.sentences(found)]
    if not found.is_judged and found.ranked.winner is None:
        parts.append(_too_few(found))
    elif found.ranked.decided_by is None:
        parts.append("No winner: no figure that could decide differs between these runs.")
    elif found.ranked.winner is not None:
        parts.append(_winner(found))
        parts.append(_price(found))
    else:
        parts += _no_winner(found)
    parts += answer_failures.sentences(found)
    parts += [f"With {one.setting}, {sentence}." for one in suffering for sentence in one.ports][:PORTS_MAX]
    return " ".join(part for part in parts if part)


def _nothing_on_time(found):
    if nothing_sustained(found):
        return "No setting sustained the load in any run."
    verdicts = [run.record["verdict"] for group in found.groups for run in group.runs]
    if verdicts and all(verdict.get("on_time") is False for verdict in verdicts):
        return "No setting was on time in any run."
    return None


def _winner(found):
    best, second = found.rows[0], found.rows[1]
    figure = best.told_by or found.ranked.decided_by
    beside = reasons.text(found, second, best)
    if figure.kind == "share":
        return f"{_sustains(found, figure, [best])}, {_with(found, figure, [row for row in found.rows[1:] if row.judged])} (certain){beside}."
    return (f"{best.setting} {does(figure, _value(best, figure))}, {second.setting} {_value(second, figure)} "
            f"(difference {difference(figure, best.difference)}{within_pairs(found, best, second, figure)}, certain){beside}.")


def _price(found):
    """What is certainly better with the second than with the first; None: nothing is."""
    best, second = found.rows[0], found.rows[1]
    pairs = [pair for pair in found.ranked.pairs
             if {pair.first, pair.second} == {best.index, second.index} and pair.is_told and pair.better == second.index]
    if not pairs:
        return None
    shown = [f"{plain(pair.figure)} ({difference(pair.figure, pair.result.difference)})" for pair in pairs[:PRICES_MAX]]
    more = [f"{len(pairs) - PRICES_MAX} more"] if len(pairs) > PRICES_MAX else []
    return f"It is worse than {second.setting} in {listed(shown + more)}, certain."


def within_pairs(found, one, other, figure):
    """What is the median within pairs is not the difference of the medians beside it."""
    pair = found.ranked.of_figure(figure, one.index, other.index)
    if pair is None or not pair.result.paired:
        return ""
    return " within pairs of runs"


def _value(row, figure):
    return next(value.text for value in row.details if value.figure is figure)


def _runs_of(found, figure, row):
    """Runs that were sustained, or completed: 5 of 5"""
    known = [value for value in found.values[figure.name][row.index] if value is not None]
    return f"{int(sum(known))} of {len(known)}"


def _load(found):
    """5 Gb/s per producer, if all runs had one rate."""
    rates = {run.resolved.get("rate_bits_per_second") for group in found.groups for run in group.runs}
    rate = rates.pop() if len(rates) == 1 else None
    return f"{units.short_text(rate, 'b/s')} per producer" if rate else "the load"


def _sustains(found, figure, rows):
    """ecn and pfc sustain 5 Gb/s per producer in 5 of 5 runs each"""
    if figure is COMPLETED:
        return listed([f"{row.setting} completed {_runs_of(found, figure, row)} runs" for row in rows])
    counts = list(dict.fromkeys(_runs_of(found, figure, row) for row in rows))
    verb = "sustains" if len(rows) == 1 else "sustain"
    if len(counts) == 1:
        return (f"{listed([row.setting for row in rows])} {verb} {_load(found)} in {counts[0]} runs"
                f"{' each' if len(rows) > 1 else ''}")
    return f"{_load(found)} is sustained {_with(found, figure, rows)}"


def _with(found, figure, rows):
    """none in 0 of 5, late in 2 of 5"""
    return listed([f"{row.setting}{'' if figure is COMPLETED else ' in'} {_runs_of(found, figure, row)}" for row in rows])


def _too_few(found):
    names = [row.setting for row in found.rows if not row.judged and (found.groups[row.index].made or not found.groups[row.index].not_set)]
    few = (f"Not judged: {statistics.FEWEST_RUNS} or more complete runs per setting are needed, "
           f"{listed(names)} {'has' if len(names) == 1 else 'have'} fewer.") if names else "So there is nothing to compare with."
    figure = found.ranked.decided_by
    return few if figure is None else f"{few} {capital(figure.title)}: {listed([f'{row.setting} {row.text}' for row in found.rows])}."


def _no_winner(found):
    leaders, others = found.leaders, [row for row in found.rows if row.rank > 1 and row.judged]
    figure, parts = found.ranked.decided_by, []
    if others and figure.kind == "share":
        parts.append(f"{_sustains(found, figure, leaders)}, {_with(found, figure, others)} (certain){reasons.text(found, others[0], leaders[0])}.")
    elif others:
        parts.append(_lead(found, leaders, others, figure))
    names = f"these {len(leaders)} settings" if others and len(leaders) > 2 else listed([row.setting for row in leaders])
    parts.append(f"No winner {'between' if len(leaders) == 2 else 'among'} {names}: {_least_found(found, leaders)}")
    return parts


def _lead(found, leaders, others, figure):
    """pfc and ecn share the lead: pfc sustains 5.5 Gb/s per producer, ecn 5.4 Gb/s (not told apart); behind is none 4.3 Gb/s (1.1 Gb/s
    less, certain)"""
    best, end = leaders[0], leaders[-1]
    words = f"{best.setting} {does(figure, best.text)}, {end.setting} {end.text} (not told apart)"
    last = f"; last is {_behind(found, best, others[-1], figure)}" if len(others) > 1 else ""
    return (f"{listed([row.setting for row in leaders])} share the lead: {words}; behind is {_behind(found, best, others[0], figure)}"
            f"{last}.")


def _behind(found, best, row, figure):
    """none 4.3 Gb/s (1.1 Gb/s less, certain), where packets are lost (dropped by the switch 1.4 % of packets; none with pfc)"""
    told, gap = found.ranked.told[best.index][row.index], ""
    if told is not None and told.figure is figure and None not in (best.value, row.value):
        change = "less" if (figure.better == "higher") else "more"
        gap = (f" ({difference(figure, told.result.difference)} {change}{within_pairs(found, best, row, figure)}, certain)"
               f"{reasons.text(found, row, best)}")
    return f"{row.setting} {row.text}{gap}"


def _least_found(found, leaders):
    """Which difference between the leaders was seen, and which would have been found; or why it is not certain."""
    pair = _objected(found, leaders) or _pair_of_leaders(found, leaders)
    doubt = next((doubt for one, other in zip(leaders, leaders[1:]) if (doubt := found.ranked.doubt(one.index, other.index))), None)
    if pair is None or pair.result.difference is None:
        return f"{doubt.reason}." if doubt else _shares(found, leaders) or "they have nothing that differs."
    figure, result = pair.figure, pair.result
    text = f"{plain(figure)} {_differs(figure, result.difference)}{within_pairs(found, leaders[0], leaders[-1], figure)}"
    if doubt:
        return f"{text}, but {doubt.reason}."
    reason = pair.objection or result.reason
    if reason in (ranking.FAILED_MORE, *bad_runs.REASONS):
        return f"{text}, for the better with {found.names[pair.better]}, but {reason}."
    if result.difference and pair.is_called:
        return f"{text}, which is certain but less than the {units.percent(found.settings.relevant)} that count."
    if result.detectable is not None and result.detectable > 1e-9 * (result.scale or 1.0):
        return f"{text}; {difference(figure, result.detectable)} or more would have been found."
    return f"{text}."


def _shares(found, leaders):
    """sustained in 5 of 5 runs with deep and in 3 of 5 with shallow, ...; None: yes or no is not what decides."""
    figure = found.ranked.decided_by
    pair = found.ranked.of_figure(figure, leaders[0].index, leaders[-1].index) if len(leaders) > 1 else None
    if pair is None or figure.kind != "share" or pair.result.p_value is None:
        return None
    counts = [_runs_of(found, figure, row) for row in (leaders[0], leaders[-1])]
    if not pair.result.difference:
        return f"{figure.title} in {counts[0]} and {counts[1]} runs, the same share."
    found_from = f"; {difference(figure, pair.result.detectable)} or more would have been found" if pair.result.detectable is not None else ""
    return (f"{figure.title} in {counts[0]} runs of {leaders[0].setting} and in {counts[1]} of {leaders[-1].setting}, which is not told apart "
            f"(by chance alone in up to {units.percent(pair.result.p_value)} of cases){found_from}.")


def _objected(found, leaders):
    """The first pair of leaders whose call does not hold for bad runs."""
    indices = {row.index for row in leaders}
    return next((pair for pair in found.ranked.objected if {pair.first, pair.second} <= indices and pair.result.difference), None)


def _differs(figure, size):
    return f"differs by {difference(figure, size)}" if size else "is the same"


def _pair_of_leaders(found, leaders):
    """First and last of them, by the first number of the chain that is not the same in all their runs."""
    figures = [figure for figure in (found.ranked.decided_by, *found.ranked.chain) if figure and figure.kind != "share"]
    if len(leaders) < 2:
        return None
    of_figures = [found.ranked.of_figure(figure, leaders[0].index, leaders[-1].index) for figure in figures]
    return next((pair for pair in of_figures if pair is not None and not all_equal(pair.result)), None)
