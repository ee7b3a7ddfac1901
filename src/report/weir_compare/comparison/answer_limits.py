"""The answer by measured capacities: the verdict and its evidence, what could not be told, what to do next.

What was held in every run comes first: it is what a network can be planned with. Settings are ranked by the median
limit, which has an interval; it is named so."""

from weir_runs.basics import units
from weir_runs.basics.quantities import size
from weir_runs.basics.short_answer import CANNOT_TELL, CERTAIN, ShortAnswer, either
from weir_runs.basics.units import capital, counted, listed
from . import reasons, statistics
from .capacity_estimates import BELOW, NONE_HELD
from .figure_results import NO_DIFFERENCE

# Events that differ by less have one size.
SAME_SIZE = 1.01
LEADERS_MAX = 3
# The long run before a limit is relied on: at so much of it.
MARGIN = 0.95


def verdict(found):
    """(ShortAnswer but for what to do, [sentences of evidence, or None]), out of answer.Findings of a capacity."""
    known = [row for row in found.rows if (limit := found.limit(row)) and limit.bound is None and limit.is_answer]
    outside = [_outside(found, row) for row in found.rows]
    if found.ranked.winner is not None:
        short = _winner(found)
    elif len(found.rows) == 1 and known and found.ranked.judged[0]:
        short = _single(found, known[0])
    elif found.is_judged:
        short = _no_winner(found)
    elif known or found.few and not any(found.limits):
        held = f"{_held(found, known[:2])}." if known else ""
        few = _too_few(found)
        short = ShortAnswer("NOT JUDGED", few or held, held if few else "", certainty=CANNOT_TELL)
    else:
        said = list(filter(None, outside))
        short = ShortAnswer("NO LIMIT", said[0] if said else "No round is complete.", certainty=CANNOT_TELL)
        outside = said[1:]
    return short, outside


def _basis(found, rows):
    """3 rounds, runs of 20 s"""
    rounds = sorted({found.limit(row).rounds for row in rows})
    lengths = sorted({setting.run_s for row in rows if (setting := found.capacity.settings[row.index]).run_s})
    shown = " to ".join(dict.fromkeys(units.text(length, "s") for length in (*lengths[:1], *lengths[-1:])))
    return (" to ".join(map(str, dict.fromkeys((rounds[0], rounds[-1])))) + f" round{'' if rounds[-1] == 1 else 's'}"
            + (f", runs of {shown}" if lengths else ""))


def events(capacity):
    """What became of events when the rate changed."""
    if capacity.events == "scale":
        return "Events grow with the rate: as many in each set."
    if capacity.events != "hold":
        return None
    sizes = [setting.event_sizes for setting in capacity.settings if setting.event_sizes]
    if not sizes:
        return "Events keep their size, or have the nearest one with which sets have whole events."
    varied = [tuple(map(size, of_setting)) for of_setting in sizes if len(of_setting) == 2]
    varied = [(least, most) for least, most in varied if most > SAME_SIZE * least]
    if not varied:
        return "Events keep their size at every rate."
    least, most = min(one[0] for one in varied), max(one[1] for one in varied)
    return (f"Events have {units.text(least, 'B')} to {units.text(most, 'B')}, so that sets have whole "
            "events at each rate.")


def _winner(found):
    best, second = judged = [row for row in found.rows if row.judged][:2]
    own, other = (found.limit(row).every_run for row in judged)
    is_usable = own is not None
    agree = not is_usable or other is None or own == other or (own > other) == (found.capacity.quantity.better
                                                                               == "higher")
    texts = [found.ranked.decided_by.text(found.limit(row).value) for row in judged]
    sentence = (f"{_held(found, judged, 'It' if is_usable else None)}." if agree else
                f"Its median limit is {texts[0]}; {second.setting}: {texts[1]}.")
    return ShortAnswer(f"Use {best.setting}" if is_usable else "NOT YET", sentence,
                       reasons.because(found, second, best), certainty=CERTAIN, basis=_basis(found, judged),
                       good=is_usable)


def _single(found, row):
    every, why = found.limit(row).every_run, found.why_of(row)
    return ShortAnswer("NOT YET" if every is None else found.ranked.decided_by.text(every), f"{_held(found, [row])}.",
                       f"{capital(why.at)}: {why.text(1)}." if why.runs and why.text(1) else "", certainty=CERTAIN,
                       basis=_basis(found, [row]), good=every is not None)


def _no_winner(found):
    leaders, others = found.leaders, [row for row in found.rows if row.rank > 1 and row.judged]
    are_usable = all(found.limit(row).every_run is not None for row in leaders)
    names = listed([row.setting for row in leaders])
    relevant = units.exact_percent(found.settings.relevant)
    word, certainty, why = "NO WINNER", CANNOT_TELL, ""
    if len(leaders) > 1 and are_equal(found, leaders):
        certainty, why = CERTAIN, f"{names} are equal: their difference is below {relevant}, with 95 % confidence."
        word = f"Use {either([row.setting for row in leaders])}"
    elif others and len(leaders) <= LEADERS_MAX and not found.ranked.is_open:
        certainty, word = CERTAIN, f"Use {either([row.setting for row in leaders])}"
    if others:
        why = reasons.because(found, others[0], leaders[0]) or why
    elif not why and len(leaders) > 1:
        why = f"{capital(_seen(found.pair(leaders[0], leaders[-1]), relevant))}."
    return ShortAnswer(word if are_usable else "NO WINNER", f"{_held(found, [*leaders[:LEADERS_MAX], *others[:1]])}.",
                       why, certainty=certainty, basis=_basis(found, [*leaders, *others]),
                       good=are_usable and word != "NO WINNER")


def are_equal(found, leaders):
    """Whether the differences of all pairs are shown to be smaller than what is relevant."""
    pairs = [found.pair(one, other) for place, one in enumerate(leaders) for other in leaders[place + 1:]]
    return bool(pairs) and all(pair is not None and pair.result.call == NO_DIFFERENCE for pair in pairs)


def _seen(pair, relevant):
    if pair is None or pair.result.difference is None:
        return "Nothing is known of the difference"
    size = pair.figure.difference(pair.result.difference)
    if pair.is_called:
        return f"they differ by {size}, which is certain but less than the {relevant} that count"
    least = (f"; {pair.figure.difference(pair.result.detectable)} or more would have been found"
             if pair.result.detectable is not None else "")
    return f"{size} was seen{least}"


def _held(found, rows, who=None):
    """pfc sustains 8.4 Gb/s per producer in every run; ecn: 7.1 Gb/s. `who`: in the place of the first name."""
    figure, limits = found.ranked.decided_by, [found.limit(row) for row in rows]
    every = ["nothing" if limit.every_run is None else figure.text(limit.every_run) for limit in limits]
    return "; ".join([f"{who or rows[0].setting} {_carries(found.capacity, every[0])}",
                      *(f"{row.setting}: {text}" for row, text in zip(rows[1:], every[1:]))])


def _carries(capacity, text):
    """What was held in every run."""
    if text == "nothing":
        return "has no value that was held in every run"
    on_time = capacity.criterion == "on-time"
    if capacity.find == "burst":
        return f"takes bursts of {text} from each producer without loss in every run"
    if capacity.find == "rate":
        return (f"carries {text} per producer on time in every run" if on_time
                else f"sustains {text} per producer in every run")
    if capacity.find == "busy":
        return f"allows a mean processing time of {text}{' on time' if on_time else ''} in every run"
    per = {"slots": " per consumer", "streams": " per producer"}.get(capacity.find, "")
    return f"needs {text}{per} {'to be on time' if on_time else 'to sustain the load'} in every run"


def _outside(found, row):
    """A sentence on a limit that was not found, or beyond which values do not hold either, else None."""
    limit = found.limit(row)
    if limit is None:
        return None
    if limit.bound == NONE_HELD:
        return f"With {row.setting}, {none_held(found.capacity, limit)}: it is ranked against nothing."
    if limit.bound is not None:
        return (f"The limit of {row.setting} is {limit.bound} {found.ranked.decided_by.text(limit.value)}, the end "
                f"of the range{in_rounds(limit)}: it is ranked against nothing.")
    if limit.beyond:
        return (f"With {row.setting}, {some_beyond(found.capacity, limit)}: its limit may be "
                f"{'higher' if limit.above >= limit.below else 'lower'}, and it is ranked against nothing.")
    if not limit.is_answer:
        return f"No answer for {row.setting}: {scatter_text(limit)}."
    if limit.until is not None:
        return (f"With {row.setting}, more is not better: it holds from "
                f"{from_to(found.capacity, limit.value, limit.until)} and not above.")
    return None


def none_held(capacity, limit):
    """none of the values that were tried holds, from 1 to 256 slots, in 3 of 5 rounds"""
    tried = f", from {from_to(capacity, *limit.tried)}" if limit.tried else ""
    return f"none of the values that were tried holds{tried}{in_rounds(limit)}"


def in_rounds(limit):
    """, in 3 of 5 rounds, if it is not all of them"""
    return "" if limit.beyond == limit.rounds else f", in {limit.beyond} of {limit.rounds} rounds"


def some_beyond(capacity, limit):
    """2 of 5 rounds held to the end of the range, 1.23 Gb/s, where the others found the limit."""
    said = "did not hold" if (limit.above >= limit.below) == (capacity.quantity.better == "lower") else "held"
    return (f"{limit.beyond} of {limit.rounds} rounds {said} to the end of the range, "
            f"{units.text(limit.end, capacity.quantity.unit)}")


def from_to(capacity, least, most):
    """1 to 256 slots"""
    end = units.text(most, capacity.quantity.unit)
    return end if least == most else f"{units.number(least)} to {end}"


def scatter_text(limit):
    """runs scatter by 34 % (13 of 61 outcomes contradict the others)"""
    against = f" ({limit.contradictions} of {limit.runs} outcomes contradict the others)" if limit.runs else ""
    return f"runs scatter by {units.percent(limit.scatter)}{against}"


def _too_few(found):
    few = [row.setting for row in found.rows if (limit := found.limit(row)) is None
           or limit.rounds < statistics.FEWEST_RUNS]
    return (f"{statistics.FEWEST_RUNS} or more rounds per setting are needed; {listed(few)} "
            f"{'has' if len(few) == 1 else 'have'} fewer.") if few else None


# --- What could not be told, and what to do next.


def not_told(found, one, other):
    """A sentence on two rows that these runs cannot tell apart; None: they are equal."""
    pair = found.pair(one, other)
    if pair is None or pair.is_called or pair.result.threshold is None or pair.result.call == NO_DIFFERENCE:
        return None
    needed, sized = _more_rounds(pair), pair.figure.difference
    more = (f"about {counted(needed, 'more round')} would tell"
            if needed else "more rounds would hardly tell, it is too small")
    return (f"Whether {one.setting} and {other.setting} differ: {sized(pair.result.difference)} was seen, "
            f"{sized(pair.result.detectable)} could have been found; {more}.")


def _more_rounds(pair, most=50):
    """So many more would tell two settings apart, if their difference is what it seems; None."""
    result = pair.result
    seen = abs((result.later or result).difference or 0.0)
    if result.estimate is None or result.level is None or seen <= result.figure.resolution * (result.scale or 0.0):
        return None
    needed, size = result.runs_needed(most), min(len(result.baseline.values), len(result.new.values))
    return needed - size if needed and needed > size else None


def next_step(found):
    """One piece of advice."""
    leaders, no_winner = found.leaders, found.ranked.winner is None
    if no_winner and (remedy := _remedy(found)):
        return remedy
    if not found.is_judged and _too_few(found):
        return (f"Let weir-sweep make {statistics.FEWEST_RUNS} rounds or more (rounds in the sweep file, --rounds of "
                "weir-sweep find): one round does not show how much a limit spreads.")
    if no_winner and len(found.rows) > 1:
        return _between(found, leaders)
    limit = found.limit(leaders[0])
    if limit is None or limit.every_run is None:
        return (f"Find out why {leaders[0].setting} did not hold what is easy in every run: there is no value that all "
                "of them held.")
    return _long_run(found, limit)


def _long_run(found, limit):
    """Make one long run at 5.4 Gb/s before you rely on it, or of what was simulated: on the hosts."""
    quantity, value, is_simulated = found.capacity.quantity, limit.every_run, found.capacity.world == "simulation"
    value = value if quantity.better == "lower" or quantity.whole else MARGIN * value
    run = f"Make one long run {'with' if quantity.whole else 'at'} {found.ranked.decided_by.text(value)}"
    return f"{run}{' on the hosts: this was simulated' if is_simulated else ' before you rely on it'}."


def _remedy(found):
    """What keeps limits from being known, and what to do about it; None: nothing."""
    capacity = found.capacity
    known = [(row, limit) for row in found.rows if (limit := found.limit(row)) is not None]
    if any(setting.stopped for setting in capacity.settings):
        return "Find out why runs of the search failed, and let weir-sweep submit make them again (--retry-failed)."
    for row, limit in known:
        if not limit.is_closed and limit.bound != NONE_HELD:
            end = "least" if limit.bound == BELOW or limit.below > limit.above else "most"
            return (f"Search in a wider range ({end} in [find] of the sweep file): the limit of {row.setting} "
                    f"{'may lie' if limit.bound is None else 'lies'} outside of it.")
    failing = next((row for row, limit in known if limit.bound == NONE_HELD), None)
    if failing:
        return (f"Find out what fails with {failing.setting}, or ask for less: {capacity.quantity.name} do not "
                "help it.")
    scattered = next((row for row, limit in known if not limit.is_answer), None)
    return scattered and (
        f"Find out why runs of {scattered.setting} differ from each other: longer runs (duration) scatter less, runs "
        "that fail at any value or that have two modes have a reason of their own.")


def _between(found, leaders):
    """Which of the leaders to choose."""
    instead = "choose by the latency at the rate that you need: a sweep at that rate, without find"
    if are_equal(found, leaders):
        return capital(f"{instead}.")
    pair = found.pair(leaders[0], leaders[-1]) if len(leaders) > 1 else None
    needed = pair and _more_rounds(pair)
    return f"Make about {counted(needed, 'more round')}, or {instead}." if needed else capital(f"{instead}.")
