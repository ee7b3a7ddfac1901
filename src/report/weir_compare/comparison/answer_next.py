"""What an answer leaves open, how many more runs would show it, and what to do next."""

import itertools

from weir_runs.basics.units import counted, listed
from . import answer_limits, bad_runs, doubts, run_kinds, run_order, statistics
from .figure_results import NO_DIFFERENCE, all_equal

RUNS_MOST = 50
RUNS_FEW = 10
SENTENCES_MAX = 2
_BELOW_FULL_LOAD = "These runs were at full load: check the rate that you plan with a long run below what was carried."
_CAPACITY = 'weir-sweep with find = "rate"'
# A counter that is missing is 0 where this other one is.
_ZERO_WITH = {"switch_marked_packets": "ecn_marked_packets"} | {
    f"pause_{what}_{side}": f"pause_frames_{side}" for what in ("time", "transitions") for side in ("received", "sent")}


def not_told(found):
    """What these runs leave open, and how many would show it."""
    if found.pressure.cannot_differ:
        return []
    sentences = []
    for one, other in zip(found.rows, found.rows[1:]):
        if one.certain or not (one.judged and other.judged):
            continue
        if one.doubt:
            sentences.append(f"Whether {one.setting} and {other.setting} differ: {one.doubt.reason}.")
        elif more := (answer_limits.not_told if found.capacity else runs_for)(found, one, other):
            sentences.append(more)
    return [*sentences[:SENTENCES_MAX], *(f"{sentence}." for sentence in found.pressure.sentences),
            *_counted_by_some(found), *_elsewhere(found)]


def _elsewhere(found):
    """Settings whose measured runs have no host in common: no test can tell those apart. Where whole clusters are
    compared that is meant."""
    hosts = [{rank.get("host") for run in group.runs if run.world == "measurement"
              for rank in run.record.get("ranks", [])} - {None}
             for group in found.groups]
    for one, other in itertools.combinations(range(len(hosts)), 2):
        if hosts[one] and hosts[other] and not hosts[one] & hosts[other]:
            return [f"{found.names[one]} and {found.names[other]} were measured on different hosts "
                    f"({listed(sorted(hosts[one]), 1)}; {listed(sorted(hosts[other]), 1)}): what differs may be "
                    "theirs."]
    return []


def _counted_by_some(found):
    """What moved with one setting and is not counted with another."""
    missing = {}
    moved = {counter.name for why in found.why for counter in why.counters if counter.value}
    for why in found.why:
        zero = {counter.name for counter in why.counters if counter.value == 0.0}
        titles = tuple(counter.title for counter in why.counters
                       if why.runs and counter.value is None and counter.name in moved
                       and _ZERO_WITH.get(counter.name) not in zero)
        if titles:
            missing.setdefault(titles, []).append(why.setting)
    return [f"{listed(settings)} {'does' if len(settings) == 1 else 'do'} not count {listed(titles)}; other settings "
            "do." for titles, settings in missing.items()]


def _is_open(pair):
    """Whether more runs can tell the settings of a Pair apart, or None, by its figure."""
    return (pair is not None and pair.result.estimate is not None and pair.result.level is not None
            and not (pair.is_called or pair.result.reason))


def runs_for(found, one, other):
    """How many runs would tell two rows apart, if their difference is what it seems; None: nothing to say."""
    pair = found.pair(one, other)
    if not _is_open(pair) or bad_runs.hinders(found.ranked, one.index, other.index):
        return None
    result, figure = pair.result, pair.figure
    two, seen = f"{one.setting} and {other.setting}", figure.difference(result.difference)
    if _seems_too_small(result):
        least = max(result.detectable or 1.0, result.relevant)  # None: of no two shares that may be
        return (f"{two} differ by less than {figure.difference(least)} in {figure.in_sentence}, if at all: "
                f"{seen} was seen, and {figure.difference(result.relevant)} count.")
    needed, size = result.runs_needed(RUNS_MOST), _runs_a_side(result)
    runs = f"about {needed} runs each ({needed - size} more)" if needed else f"more than {RUNS_MOST} runs each"
    found_from = "none" if result.detectable is None else figure.difference(result.detectable)
    in_pairs = f", for from {statistics.FEWEST_PAIRS} on they are compared in pairs" if result.later is not None else ""
    return (f"Whether {two} differ in {figure.in_sentence}: {seen} was seen, {found_from} could have been found; "
            f"{runs} would tell{in_pairs}.")


def _runs_a_side(result):
    return min(len(result.baseline.values), len(result.new.values))


def _seems_too_small(result):
    """Whether the difference that was seen is less than counts: no number of runs would make a winner of it, if it is
    real."""
    return abs((result.later or result).difference) < (result.relevant or 0.0)


def next_step(found):
    """What to do, in a sentence or two."""
    if found.pressure.cannot_differ:
        return found.pressure.next
    if found.capacity:
        return answer_limits.next_step(found)
    if found.ranked.winner is not None:
        return _check(found, found.rows[0].setting)
    return _repair(found) or _choose(found)


def _check(found, winner):
    """What is left before a setting is used."""
    if found.full_load:
        return _BELOW_FULL_LOAD
    if nothing_sustained(found):
        return (f"Lower the rate: {winner} is the better one beyond what the settings carry. {_CAPACITY} finds what "
                "each of them carries.")
    if all(run.world == "simulation" for group in found.groups for run in group.runs):
        return f"Measure {winner} before use: this was simulated."
    return f"Measure how much it carries, which these runs do not show: {_CAPACITY}."


def recommended(found):
    """(index of the setting without a bad run, why) where that is why to use it; else None."""
    advice = bad_runs.advice(found) if is_about_bad_runs(found) else None
    return None if advice is None or advice[0] is None else advice


def _repair(found):
    """What has to be put right before settings can be told apart; None: nothing."""
    not_set = [row.setting for row in found.rows if found.groups[row.index].not_set]
    if not_set:
        return (f"Find out why the switch did not have {listed(not_set)}, and let weir-sweep submit --retry-failed "
                "make these runs.")
    if not found.is_judged:
        return (f"Make more runs: {statistics.FEWEST_RUNS} per setting are the least that is judged, 5 are a good "
                f"choice; let the settings take turns{_turns(found)}.")
    doubt = found.doubt_of_leaders
    if doubt and doubt.remedy:
        return doubt.remedy
    if is_about_bad_runs(found) and (advice := bad_runs.advice(found)):
        return advice[1] if advice[0] is None else _check(found, found.names[advice[0]])
    if any(found.groups[row.index].failed for row in found.leaders):
        return ("Find out why runs failed, and make them again; no setting is recommended over one of which fewer runs "
                "failed.")
    return None


def _choose(found):
    """Between leaders that these runs do not tell apart."""
    leaders = found.leaders
    names = listed([row.setting for row in leaders])
    if found.full_load:
        return f"Choose between {names} by their latency at the rate that you need. {_BELOW_FULL_LOAD}"
    are_close = _are_close(found, leaders)
    if not are_close and (outlier := _outlier(found, leaders)):
        return outlier
    few = _few_more_runs(found, leaders)
    if few:
        return (f"Make {counted(few, 'more run')} of each setting, which would tell if their difference is as "
                f"seen{_turns(found)}; or measure their capacity: {_CAPACITY}.")
    if len(leaders) == len(found.rows):
        close = "they do not differ enough" if are_close else "these runs do not tell them apart"
        return f"Measure the capacity of each setting: {_CAPACITY}. At this rate {close}."
    return f"Choose between {names} by their capacity: {_CAPACITY} measures it."


def nothing_sustained(found):
    verdicts = [run.record["verdict"] for group in found.groups for run in group.runs]
    return bool(verdicts) and all(verdict.get("sustained") is False for verdict in verdicts)


def is_about_bad_runs(found):
    """Nothing that comes before hinders a recommendation for runs that lost data."""
    return (not found.pressure.cannot_differ and not found.capacity and found.is_judged and found.ranked.winner is None
            and found.doubt_of_leaders is None)


def _are_close(found, leaders):
    """Whether all differences of them that matter would have been found in the figure that decides."""
    if found.ranked.decided_by is None:
        return True
    pairs = [found.pair(one, other) for one, other in itertools.combinations(leaders, 2)]
    return all(pair is not None and (pair.is_called or pair.result.call == NO_DIFFERENCE or all_equal(pair.result)
                                     or None not in (pair.result.detectable, pair.result.relevant)
                                     and pair.result.detectable <= pair.result.relevant) for pair in pairs)


def _outlier(found, leaders):
    """What to do about one run that makes the spread of a leader; None: there is none."""
    figure = found.ranked.decided_by
    for row in leaders if figure is not None and figure.kind != "share" else ():
        outlier = run_kinds.find_outlier(found.values[figure.name][row.index], found.settings.relevant)
        if outlier is not None:
            place, own, others = outlier
            return (f"Find out what {found.groups[row.index].runs[place].short_name} had, which makes most of the "
                    f"spread of {row.setting} ({figure.in_sentence} {figure.text(own)}, {figure.text(others)} in the "
                    f"middle of its other runs), and make more runs: these do not tell{_turns(found)}.")
    return None


def _turns(found):
    """'; next is pfc, then ecn, ecn, pfc', where somebody makes the runs by hand; a campaign has an order of its
    own."""
    known = [doubts.begins(group) for group in found.groups]
    if None in known or any("sweep" in run.labels for group in found.groups for run in group.runs):
        return ""
    first, *others = [found.names[index] for index in run_order.next_runs(known, max(4, len(known)))]
    return f"; next is {first}, then {', '.join(others)}"


def _few_more_runs(found, leaders):
    """How many more runs would tell the first leader from the last, if they are at most RUNS_FEW; else None."""
    pair = found.pair(leaders[0], leaders[-1])
    if not _is_open(pair) or not pair.result.difference or _seems_too_small(pair.result):
        return None
    needed, size = pair.result.runs_needed(RUNS_MOST), _runs_a_side(pair.result)
    return needed - size if needed and size < needed <= size + RUNS_FEW else None
