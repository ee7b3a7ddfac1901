"""By which mechanism the network slowed runs down (run.json), counted over the runs of a side. Counted
and shown, not tested: a name is no number, and what it rests on is written in each run. "nothing to speak of": no loss,
pause, mark or notification, or hardly any, which a full link does not rule out."""

import collections

from weir_runs.basics import units

UNKNOWN, SIMULATED = "unknown", "none (simulated)"
WORDS = {
    "lossy": "lossy",
    "held_back_by_pfc": "PFC paused senders",
    "pauses_sent": "pauses sent",
    "controlled_by_ecn": "ECN slowed senders",
    "slowed_by_cnp": "CNPs slowed senders",
    "nothing_counted": "nothing to speak of",
    "uncongested": "nothing to speak of",  # in stored runs of earlier builds
}
_ORDER = [*dict.fromkeys(WORDS.values()), UNKNOWN, SIMULATED]


def mechanism(run):
    """In words. Runs of versions that did not record any are unknown; a network simulated without packets has none;
    what a newer version may have found is shown as it is called there."""
    if run.world == "simulation" and not run.record.get("network"):
        return SIMULATED
    name = (run.record.get("network") or {}).get("mechanism", "unknown")
    return WORDS.get(name, name.replace("_", " "))


def count(group):
    """{mechanism: runs}, the most frequent first, and the worse before the better."""
    found = collections.Counter(mechanism(run) for run in group.runs)
    place = {name: position for position, name in enumerate(_ORDER)}
    return dict(sorted(found.items(), key=lambda item: (-item[1], place.get(item[0], len(place)), item[0])))


def text(group):
    """nothing to speak of in 5 of 5 runs; lossy in 4, unknown in 1 of 5 runs"""
    counts = count(group)
    if len(counts) == 1:
        return f"{next(iter(counts))} in {len(group.runs)} of {units.counted(len(group.runs), 'run')}"
    return ", ".join(f"{name} in {number}" for name, number in counts.items()) + f" of {len(group.runs)} runs"


def is_shown(groups):
    """Whether any of the runs had a network of which something could be known."""
    return any(name != SIMULATED for group in groups for name in count(group))


def differs(baseline, new):
    """Whether the sides have other mechanisms, or another one in most runs; None: one of them is unknown."""
    known = [{name: number for name, number in count(group).items() if name not in (UNKNOWN, SIMULATED)}
             for group in (baseline, new)]
    if not all(known):
        return None
    most = [{name for name, number in side.items() if number == max(side.values())} for side in known]
    return set(known[0]) != set(known[1]) or most[0] != most[1]


def finding(baseline, new):
    """What stands out, as a sentence without a full stop; None: nothing."""
    if not differs(baseline, new):
        return None
    return f"the network's mechanism differs: {text(new)} instead of {text(baseline)} (counted, not tested)"
