"""The headline of an answer: what won, by how much, and how certain that is; or that nothing did, and which difference
would have been found. Then runs that are not there, and settings whose runs are of two kinds."""

from __future__ import annotations

import collections

from weir_runs.basics import units
from weir_runs.basics.units import capital, counted, listed
from weir_runs.reading.key_figures import COMPLETED
from . import answer_limits, bad_runs, ranking, reasons, run_kinds, statistics
from .answer_next import nothing_sustained
from .figure_results import all_equal
from .run_groups import NOT_MEASURED

# Sentences on ports in a headline; the answer has all of them.
PORTS_MAX = 2
# Figures that are worse with the winner.
PRICES_MAX = 3
# A reason is cut after so many letters; the notes have all of it.
REASON_MAX = 120
MODES_MAX = 2


def headline(found, suffering=()):
    """A few sentences out of answer.Findings, and of ports that stand out (`suffering`: of victims.Victims)."""
    if found.pressure.cannot_differ:
        other = [] if found.ranked.winner is None else [
            "What differs between these runs all the same has another cause."]
        return " ".join([found.pressure.headline, *other])
    parts = answer_limits.sentences(found) if found.capacity else _at_one_rate(found)
    parts += _stopped(found) if found.capacity else _failures(found)
    parts += [f"With {one.setting}, {sentence}." for one in suffering for sentence in one.ports][:PORTS_MAX]
    parts += [answer_limits.events(found.capacity)] if found.capacity else []
    return " ".join(part for part in parts if part)


def _at_one_rate(found):
    parts = [_not_set(row.setting, found.groups[row.index]) for row in found.rows if found.groups[row.index].not_set]
    parts += [_nothing_on_time(found), *bad_runs.sentences(found)]
    if not found.is_judged and found.ranked.winner is None:
        return [*parts, _too_few(found)]
    if found.ranked.decided_by is None:
        return [*parts, "No winner: no figure that could decide differs between these runs."]
    return [*parts, *([_winner(found), _price(found)] if found.ranked.winner is not None else _no_winner(found))]


def _nothing_on_time(found):
    if nothing_sustained(found):
        return "No setting sustained the load in any run."
    verdicts = [run.record["verdict"] for group in found.groups for run in group.runs]
    if verdicts and all(verdict.get("on_time") is False for verdict in verdicts):
        return "No setting was on time in any run."
    return None


def _winner(found):
    best, second = found.rows[:2]
    figure = best.told_by or found.ranked.decided_by
    beside = reasons.text(found, second, best)
    if figure.kind == "share":
        return (f"{_sustains(found, figure, [best])}, "
                f"{_with(found, figure, [row for row in found.rows[1:] if row.judged])} (certain){beside}.")
    own, other = (next(value.text for value in row.details if value.figure is figure) for row in (best, second))
    return (f"{best.setting} {figure.what_it_does(own)}, {second.setting} {other} (difference "
            f"{figure.difference(best.difference)}{_within_pairs(found, best, second, figure)}, certain){beside}.")


def _price(found):
    """What is certainly better with the second than with the first; None: nothing is."""
    best, second = found.rows[:2]
    prices = [f"{pair.figure.in_sentence} ({pair.figure.difference(pair.result.difference)})"
              for pair in found.ranked.pairs if {pair.first, pair.second} == {best.index, second.index}
              and pair.is_told and pair.better == second.index]
    return f"It is worse than {second.setting} in {listed(prices, PRICES_MAX)}, certain." if prices else None


def _within_pairs(found, one, other, figure):
    """The median within pairs is not the difference of the medians beside it."""
    pair = found.pair(one, other, figure)
    return " within pairs of runs" if pair is not None and pair.result.paired else ""


def _runs_of(found, figure, row):
    """Runs that were sustained, or completed: 5 of 5"""
    known = [value for value in found.values[figure.name][row.index] if value is not None]
    return f"{int(sum(known))} of {len(known)}"


def _load(found):
    """5 Gb/s per producer, if all runs had one rate."""
    rates = {run.resolved.get("rate_bits_per_second") for group in found.groups for run in group.runs}
    rate = rates.pop() if len(rates) == 1 else None
    return f"{units.text(rate, 'b/s')} per producer" if rate else "the load"


def _sustains(found, figure, rows):
    """ecn and pfc sustain 5 Gb/s per producer in 5 of 5 runs each"""
    if figure is COMPLETED:
        return listed([f"{row.setting} completed {_runs_of(found, figure, row)} runs" for row in rows])
    counts = {_runs_of(found, figure, row) for row in rows}
    if len(counts) > 1:
        return f"{_load(found)} is sustained {_with(found, figure, rows)}"
    verb, each = ("sustains", "") if len(rows) == 1 else ("sustain", " each")
    return f"{listed([row.setting for row in rows])} {verb} {_load(found)} in {counts.pop()} runs{each}"


def _with(found, figure, rows):
    """none in 0 of 5, late in 2 of 5"""
    where = "" if figure is COMPLETED else " in"
    return listed([f"{row.setting}{where} {_runs_of(found, figure, row)}" for row in rows])


def _too_few(found):
    names = [row.setting for row in found.rows if not row.judged
             and (found.groups[row.index].made or not found.groups[row.index].not_set)]
    few = "So there is nothing to compare with."
    if names:
        few = (f"Not judged: {statistics.FEWEST_RUNS} or more complete runs per setting are needed, {listed(names)} "
               f"{'has' if len(names) == 1 else 'have'} fewer.")
    figure = found.ranked.decided_by
    values = listed([f"{row.setting} {row.first.text}" for row in found.rows])
    return few if figure is None else f"{few} {capital(figure.title)}: {values}."


def _no_winner(found):
    leaders, others = found.leaders, [row for row in found.rows if row.rank > 1 and row.judged]
    figure, parts = found.ranked.decided_by, []
    if others and figure.kind == "share":
        parts.append(f"{_sustains(found, figure, leaders)}, {_with(found, figure, others)} "
                     f"(certain){reasons.text(found, others[0], leaders[0])}.")
    elif others:
        parts.append(_lead(found, leaders, others, figure))
    names = (f"these {len(leaders)} settings" if others and len(leaders) > 2
             else listed([row.setting for row in leaders]))
    parts.append(f"No winner {'between' if len(leaders) == 2 else 'among'} {names}: {_least_found(found, leaders)}")
    return parts


def _lead(found, leaders, others, figure):
    """pfc and ecn share the lead: pfc sustains 5.5 Gb/s per producer, ecn 5.4 Gb/s (not told apart); behind is none 4.3
    Gb/s (1.1 Gb/s less, certain)"""
    best, end = leaders[0], leaders[-1]
    words = f"{best.setting} {figure.what_it_does(best.first.text)}, {end.setting} {end.first.text} (not told apart)"
    last = f"; last is {_behind(found, best, others[-1], figure)}" if len(others) > 1 else ""
    return (f"{listed([row.setting for row in leaders])} share the lead: {words}; behind is "
            f"{_behind(found, best, others[0], figure)}{last}.")


def _behind(found, best, row, figure):
    """none 4.3 Gb/s (1.1 Gb/s less, certain), where packets are lost (dropped by the switch 1.4 % of packets; none with
    pfc)"""
    told, gap = found.ranked.told[best.index][row.index], ""
    if told is not None and told.figure is figure and None not in (best.first.value, row.first.value):
        change = "less" if figure.better == "higher" else "more"
        gap = (f" ({figure.difference(told.result.difference)} {change}{_within_pairs(found, best, row, figure)}, "
               f"certain){reasons.text(found, row, best)}")
    return f"{row.setting} {row.first.text}{gap}"


def _least_found(found, leaders):
    """Which difference between the leaders was seen, and which would have been found; or why it is not certain."""
    pair, doubt = _objected(found, leaders) or _pair_of_leaders(found, leaders), found.doubt_of_leaders
    if pair is None or pair.result.difference is None:
        return f"{doubt.reason}." if doubt else _shares(found, leaders) or "they have nothing that differs."
    figure, result = pair.figure, pair.result
    differs = f"differs by {figure.difference(result.difference)}" if result.difference else "is the same"
    text = f"{figure.in_sentence} {differs}{_within_pairs(found, leaders[0], leaders[-1], figure)}"
    if doubt:
        return f"{text}, but {doubt.reason}."
    reason = pair.objection or result.reason
    if reason in (ranking.FAILED_MORE, *bad_runs.REASONS):
        return f"{text}, for the better with {found.names[pair.better]}, but {reason}."
    if result.difference and pair.is_called:
        return f"{text}, which is certain but less than the {units.percent(found.settings.relevant)} that count."
    if result.detectable is not None and result.detectable > 1e-9 * (result.scale or 1.0):
        return f"{text}; {figure.difference(result.detectable)} or more would have been found."
    return f"{text}."


def _shares(found, leaders):
    """sustained in 5 of 5 runs with deep and in 3 of 5 with shallow, ...; None: yes or no is not what decides."""
    figure = found.ranked.decided_by
    pair = found.pair(leaders[0], leaders[-1]) if len(leaders) > 1 else None
    if pair is None or figure.kind != "share" or pair.result.p_value is None:
        return None
    counts = [_runs_of(found, figure, row) for row in (leaders[0], leaders[-1])]
    if not pair.result.difference:
        return f"{figure.title} in {counts[0]} and {counts[1]} runs, the same share."
    found_from = (f"; {figure.difference(pair.result.detectable)} or more would have been found"
                  if pair.result.detectable is not None else "")
    return (f"{figure.title} in {counts[0]} runs of {leaders[0].setting} and in {counts[1]} of {leaders[-1].setting}, "
            f"which is not told apart (by chance alone in up to {units.percent(pair.result.p_value)} of "
            f"cases){found_from}.")


def _objected(found, leaders):
    """The first pair of leaders whose call does not hold for bad runs."""
    indices = {row.index for row in leaders}
    return next((pair for pair in found.ranked.objected if {pair.first, pair.second} <= indices
                 and pair.result.difference), None)


def _pair_of_leaders(found, leaders):
    """First and last of them, by the first number of the chain that is not the same in all their runs."""
    if len(leaders) < 2:
        return None
    pairs = [found.pair(leaders[0], leaders[-1], figure) for figure in found.numbers]
    return next((pair for pair in pairs if pair is not None and not all_equal(pair.result)), None)


# --- Runs that are not there, and runs of two kinds.


def _failures(found):
    """Failures and missing runs by setting, settings that are not judged, and modes."""
    said = []
    for row in found.rows:
        group = found.groups[row.index]
        failed = _failed(row.setting, group)
        if failed:
            said.append(failed)
        elif group.not_set and not group.runs:
            continue
        elif not row.judged and found.is_judged:
            said.append(f"{row.setting} is not judged: it has {counted(len(group.runs), 'complete run')}, "
                        f"{statistics.FEWEST_RUNS} are the least.")
        missing = sum(group.missing.values())
        if missing and not failed and set(group.missing) != {NOT_MEASURED}:
            said.append(f"Of {row.setting}, {counted(missing, 'run')} {'is' if missing == 1 else 'are'} missing "
                        f"({_states(group)}).")
    return said + _modes(found)


def _stopped(found):
    """Settings of a search whose runs failed, of which no more are made."""
    return [f"The search of {name} stopped after {sum(search.complete for search in setting.searches)} of "
            f"{found.capacity.rounds} rounds: {_cut(setting.stopped)}."
            for name, setting in zip(found.names, found.capacity.settings) if setting.stopped]


def _cut(why):
    return (why if len(why) <= REASON_MAX else why[:REASON_MAX - 3] + "...").rstrip(".")


def _failed(name, group):
    if not group.failed:
        return None
    why, _ = collections.Counter(failure.why for failure in group.failed).most_common(1)[0]
    missing = f"; missing: {_states(group)}" if group.missing else ""
    if not group.runs:
        return (f"{name} has no complete run, {'its only one' if group.made == 1 else f'all {group.made}'} failed: "
                f"{_cut(why)}{missing}.")
    return f"{len(group.failed)} of {group.made} runs of {name} failed: {_cut(why)}{missing}."


def _not_set(name, group):
    """A setting that the switch did not take: b was not measured: ./set b exited with 1."""
    why = _cut(group.not_set[-1].partition("; its output")[0])
    if not group.made:
        return f"{name} was not measured: {why}."
    number = len(group.not_set)
    return f"{counted(number, 'run')} of {name} {'does' if number == 1 else 'do'} not count: {why}."


def _states(group):
    return ", ".join(f"{number} {state}" for state, number in group.missing.items())


def _modes(found):
    """By the first number of the chain in which any setting has two modes."""
    for figure in found.numbers:
        by_setting = found.values.get(figure.name)
        modes = [(row, two) for row in found.rows if by_setting
                 and (two := run_kinds.find_modes(by_setting[row.index], found.settings.relevant))]
        if modes:
            return [f"{two.fewer} of {two.runs} runs of {row.setting} are in another mode: {figure.in_sentence} is "
                    f"{figure.text(two.there)} there and {figure.text(two.rest)} in the others."
                    for row, two in modes[:MODES_MAX]]
    return []
