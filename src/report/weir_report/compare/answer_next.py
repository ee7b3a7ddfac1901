"""What an answer leaves open, how many more runs would show it, and what to do next."""

from __future__ import annotations

import itertools

from ..basics.units import counted
from . import answer_limits, bad_runs, doubts, outliers, run_order, statistics
from .answer_text import amount, difference, listed, plain
from .figure_results import NO_DIFFERENCE, all_equal

RUNS_MOST = 50
RUNS_FEW = 10
SENTENCES_MAX = 2
_BELOW_FULL_LOAD = "These runs were at full load: check the rate that you plan with a long run below what was carried."
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
            continue
        more = answer_limits.not_told(found, one, other) if found.capacity else runs_for(found, one.index, other.index)
        if more:
            sentences.append(more)
    return sentences[:SENTENCES_MAX] + [f"{sentence}." for sentence in found.pressure.sentences] + _counted_by_some(found) + _elsewhere(found)


def _elsewhere(found):
    """Settings whose measured runs have no host in common: no test can tell those apart. Where whole clusters are compared that is meant."""
    hosts = [{rank.get("host") for run in group.runs if run.world == "measurement" for rank in run.record.get("ranks", [])} - {None}
             for group in found.groups]
    for one, other in itertools.combinations(range(len(hosts)), 2):
        if hosts[one] and hosts[other] and not hosts[one] & hosts[other]:
            return [f"{found.names[one]} and {found.names[other]} were measured on different hosts ({_some(hosts[one])}; {_some(hosts[other])}): "
                    "what differs may be theirs."]
    return []


def _some(hosts):
    names = sorted(hosts)
    return listed(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} more"


def _counted_by_some(found):
    """What moved with one setting and is not counted with another."""
    missing = {}
    moved = {counter.name for why in found.why for counter in why.counters if counter.value}
    for why in found.why:
        zero = {counter.name for counter in why.counters if counter.value == 0.0}
        titles = tuple(counter.title for counter in why.counters
                       if why.runs and counter.value is None and counter.name in moved and _ZERO_WITH.get(counter.name) not in zero)
        if titles:
            missing.setdefault(titles, []).append(why.setting)
    return [f"{listed(settings)} {'does' if len(settings) == 1 else 'do'} not count {listed(titles)}; other settings do."
            for titles, settings in missing.items()]


def runs_for(found, i, j):
    """How many runs would tell two settings apart, if their difference is what it seems; None: nothing to say."""
    figure = found.ranked.decided_by
    pair = figure and found.ranked.of_figure(figure, i, j)
    if pair is None or pair.result.estimate is None or pair.result.level is None or pair.is_called or pair.result.reason:
        return None
    if bad_runs.hinders(found.ranked, i, j):
        return None
    result, two = pair.result, f"{found.names[i]} and {found.names[j]}"
    size = min(len(result.baseline.values), len(result.new.values))
    seen = result.difference
    if _seems_too_small(result):
        least = max(result.detectable or 1.0, result.relevant)  # None: of no two shares that may be
        return (f"{two} differ by less than {difference(figure, least)} in {plain(figure)}, if at all: "
                f"{difference(figure, seen)} was seen, and {difference(figure, result.relevant)} count.")
    needed = result.runs_needed(RUNS_MOST)
    runs = f"about {needed} runs each ({needed - size} more)" if needed else f"more than {RUNS_MOST} runs each"
    found_from = "none" if result.detectable is None else difference(figure, result.detectable)
    return (f"Whether {two} differ in {plain(figure)}: {difference(figure, seen)} was seen, "
            f"{found_from} could have been found; {runs} would tell{_in_pairs(result)}.")


def _seems_too_small(result):
    """Whether the difference that was seen is less than counts: no number of runs would make a winner of it, if it is real."""
    return abs((result.later or result).difference) < (result.relevant or 0.0)


def _in_pairs(result):
    return f", for from {statistics.FEWEST_PAIRS} on they are compared in pairs" if result.later is not None else ""


def next_step(found):
    """One piece of advice."""
    if found.pressure.cannot_differ:
        return found.pressure.next
    if found.capacity:
        return answer_limits.next_step(found)
    not_set = [row.setting for row in found.rows if found.groups[row.index].not_set]
    if not_set and found.ranked.winner is None:
        return (f"Find out why the switch command failed for {listed(not_set)}, and let weir-sweep submit --retry-failed make the runs that are not "
                "there.")
    if not found.is_judged and found.ranked.winner is None:
        return (f"Make more runs: {statistics.FEWEST_RUNS} per setting are the least that is judged, 5 are a good choice; let the "
                f"settings take turns{_turns(found)}.")
    leaders, doubt = found.leaders, _doubt(found)
    if doubt and doubt.remedy:
        return doubt.remedy
    if is_about_bad_runs(found) and (advice := bad_runs.advice(found)):
        return advice[1]
    if found.ranked.winner is None and any(found.groups[row.index].failed for row in leaders):
        return "Find out why runs failed, and make them again; no setting is recommended over one of which fewer runs failed."
    if found.ranked.winner is not None and found.full_load:
        return f"Use {found.rows[0].setting}. {_BELOW_FULL_LOAD}"
    if found.ranked.winner is not None and nothing_sustained(found):
        return (f"Lower the rate: these runs say only that {found.rows[0].setting} is the better one beyond what the settings carry. weir-sweep "
                "with find = \"rate\" finds what each of them carries.")
    if found.ranked.winner is not None:
        return (f"Use {found.rows[0].setting}. How much it can carry was not measured: weir-sweep with find = \"rate\" does "
                "that.")
    if found.full_load:
        return f"Choose between {listed([row.setting for row in leaders])} by their latency at the rate that you need. {_BELOW_FULL_LOAD}"
    if not _are_close(found, leaders) and (outlier := _outlier(found, leaders)):
        return outlier
    few = _few_more_runs(found, leaders)
    if few:
        return (f"Make {counted(few, 'more run')} of each setting, which would tell if their difference is as seen{_turns(found)}; or measure their capacity: weir-sweep with "
                "find = \"rate\".")
    if len(leaders) == len(found.rows):
        close = "they do not differ enough" if _are_close(found, leaders) else "these runs do not tell them apart"
        return f"Measure the capacity of each setting: weir-sweep with find = \"rate\". At this rate {close}."
    return (f"Choose between {listed([row.setting for row in leaders])} by their capacity: weir-sweep with find = \"rate\" "
            "measures it.")


def _doubt(found):
    leaders = found.leaders
    return next((doubt for one, other in zip(leaders, leaders[1:]) if (doubt := found.ranked.doubt(one.index, other.index))), None)


def nothing_sustained(found):
    verdicts = [run.record["verdict"] for group in found.groups for run in group.runs]
    return bool(verdicts) and all(verdict.get("sustained") is False for verdict in verdicts)


def is_about_bad_runs(found):
    """Nothing that comes before hinders a recommendation for runs that lost data."""
    return (not found.pressure.cannot_differ and not found.capacity and found.is_judged and found.ranked.winner is None and _doubt(found) is None)


def _are_close(found, leaders):
    """Whether all differences of them that matter would have been found in the figure that decides."""
    figure = found.ranked.decided_by
    if figure is None:
        return True
    pairs = [found.ranked.of_figure(figure, one.index, other.index) for place, one in enumerate(leaders) for other in leaders[place + 1:]]
    return all(pair is not None and (pair.is_called or pair.result.call == NO_DIFFERENCE or all_equal(pair.result) or _is_fine(pair.result))
               for pair in pairs)


def _is_fine(result):
    return None not in (result.detectable, result.relevant) and result.detectable <= result.relevant


def _outlier(found, leaders):
    """What to do about one run that makes the spread of a leader; None: there is none."""
    figure = found.ranked.decided_by
    for row in leaders if figure is not None and figure.kind != "share" else ():
        outlier = outliers.find_outlier(found.values[figure.name][row.index], found.settings.relevant)
        if outlier is not None:
            place, own, others = outlier
            return (f"Find out what {found.groups[row.index].runs[place].short_name} had, which makes most of the spread of {row.setting} "
                    f"({plain(figure)} {amount(figure, own)}, {amount(figure, others)} in the middle of its other runs), and make more runs: these "
                    f"do not tell{_turns(found)}.")
    return None


def _turns(found):
    """'; next is pfc, then ecn, ecn, pfc', where somebody makes the runs by hand; a campaign has an order of its own."""
    known = [doubts.begins(group) for group in found.groups]
    if None in known or any("sweep" in run.labels for group in found.groups for run in group.runs):
        return ""
    first, *others = [found.names[index] for index in run_order.next_runs(known, max(4, len(known)))]
    return f"; next is {first}, then {', '.join(others)}"


def _few_more_runs(found, leaders):
    """How many more runs would tell the first leader from the last, if they are at most RUNS_FEW; else None."""
    pair = found.ranked.of_figure(found.ranked.decided_by, leaders[0].index, leaders[-1].index) if found.ranked.decided_by else None
    if pair is None or pair.result.estimate is None or pair.result.level is None or pair.is_called or pair.result.reason or not pair.result.difference:
        return None
    if _seems_too_small(pair.result):
        return None
    needed, size = pair.result.runs_needed(RUNS_MOST), min(len(pair.result.baseline.values), len(pair.result.new.values))
    return needed - size if needed and size < needed <= size + RUNS_FEW else None
