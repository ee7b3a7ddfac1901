"""The part of a headline on runs that are not there, and of settings whose runs are of two kinds."""

from __future__ import annotations

import collections

from ..basics.units import counted
from . import modes, statistics
from .answer_text import amount, plain
from .run_groups import NOT_MEASURED

# A reason is cut after so many letters; the notes have all of it.
REASON_MAX = 120
MODES_MAX = 2


def sentences(found):
    """What answer_text.Findings has of failures and missing runs by setting, of settings that are not judged, and of modes."""
    if found.capacity:
        return _stopped(found)
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
        if group.missing and not failed and set(group.missing) != {NOT_MEASURED}:
            said.append(f"Of {row.setting}, {counted(sum(group.missing.values()), 'run')} "
                        f"{'is' if sum(group.missing.values()) == 1 else 'are'} missing ({_states(group)}).")
    return said + _modes(found)


def _stopped(found):
    """Settings of a search whose runs failed, of which no more are made."""
    return [f"The search of {name} stopped after {sum(search.complete for search in setting.searches)} of {found.capacity.rounds} rounds: "
            f"{_short(setting.stopped)}." for name, setting in zip(found.names, found.capacity.settings) if setting.stopped]


def _short(why):
    return (why if len(why) <= REASON_MAX else why[:REASON_MAX - 3] + "...").rstrip(".")


def _failed(name, group):
    if not group.failed:
        return None
    why, _ = collections.Counter(failure.why for failure in group.failed).most_common(1)[0]
    missing = f"; missing: {_states(group)}" if group.missing else ""
    if not group.runs:
        return f"{name} has no complete run, {'its only one' if group.made == 1 else f'all {group.made}'} failed: {_short(why)}{missing}."
    return f"{len(group.failed)} of {group.made} runs of {name} failed: {_short(why)}{missing}."


def not_measured(found):
    """Sentences on settings that the switch did not take: b was not measured: ./set b exited with 1."""
    return [_not_set(row.setting, found.groups[row.index]) for row in found.rows if found.groups[row.index].not_set]


def _not_set(name, group):
    why = _short(group.not_set[-1].partition("; its output")[0])
    if not group.made:
        return f"{name} was not measured: {why}."
    number = len(group.not_set)
    return f"{counted(number, 'run')} of {name} {'was' if number == 1 else 'were'} not made: {why}."


def _states(group):
    return ", ".join(f"{number} {state}" for state, number in group.missing.items())


def _modes(found):
    """By the first number of the chain in which any setting has two modes."""
    said = []
    for figure in [figure for figure in (found.ranked.decided_by, *found.ranked.chain) if figure and figure.kind != "share"]:
        for row in found.rows:
            two = modes.find_modes(found.values.get(figure.name, [[]] * (row.index + 1))[row.index], found.settings.relevant)
            if two is not None:
                said.append(f"{two.fewer} of {two.runs} runs of {row.setting} are in another mode: {plain(figure)} is "
                            f"{amount(figure, two.there)} there and {amount(figure, two.rest)} in the others.")
        if said:
            break
    return said[:MODES_MAX]
