"""What an answer begins with: the verdict in one sentence, the reason and how certain that is; and as evidence which
difference was or would have been found, runs that are not there, and settings whose runs are of two kinds."""

import collections

from weir_runs.basics import units
from weir_runs.basics.short_answer import CANNOT_TELL, CERTAIN, LIKELY, ShortAnswer, either
from weir_runs.basics.units import capital, counted, listed
from weir_runs.reading.key_figures import COMPLETED
from . import answer_limits, bad_runs, ranking, reasons, run_kinds, statistics
from .answer_next import nothing_sustained, recommended
from .figure_results import all_equal
from .run_groups import NOT_MEASURED

# Sentences on ports in the evidence; the answer has all of them.
PORTS_MAX = 2
# Figures that are worse with the winner.
PRICES_MAX = 3
# A reason is cut after so many letters; the notes have all of it.
REASON_MAX = 120
MODES_MAX = 2
# So many settings that share the lead are named in a verdict.
LEADERS_MAX = 3


def verdict(found, suffering=()):
    """(ShortAnswer but for what to do, [sentences of evidence]) out of answer.Findings, and of ports that stand out
    (`suffering`: of victims.Victims)."""
    if found.pressure.cannot_differ:
        why, *others = (f"{sentence}." for sentence in found.pressure.sentences)
        other = [] if found.ranked.winner is None else [
            "What differs between these runs all the same has another cause."]
        return ShortAnswer("CANNOT DIFFER", "These settings cannot differ in this plan.", why, certainty=CERTAIN), [
            *others, *other]
    short, evidence = answer_limits.verdict(found) if found.capacity else _at_one_rate(found)
    evidence += _stopped(found) if found.capacity else _failures(found)
    evidence += [f"With {one.setting}, {sentence}." for one in suffering for sentence in one.ports][:PORTS_MAX]
    evidence += [answer_limits.events(found.capacity)] if found.capacity else []
    said = f"{short.sentence} {short.because}"
    return short, [sentence for sentence in evidence if sentence and sentence not in said]


def _at_one_rate(found):
    evidence = [_not_set(row.setting, found.groups[row.index]) for row in found.rows
                if found.groups[row.index].not_set]
    of_bad = bad_runs.sentences(found)
    evidence += [_nothing_on_time(found), *of_bad]
    if not found.is_judged and found.ranked.winner is None:
        return _too_few(found), evidence
    if found.ranked.decided_by is None:
        return ShortAnswer("NO WINNER", "No figure that could decide differs between these runs.",
                           certainty=CANNOT_TELL), evidence
    if found.ranked.winner is not None:
        short, more = _winner(found)
    else:
        short, more = _no_winner(found, of_bad)
    return short, [*evidence, *more]


def _basis(found):
    """5 runs each; 3 to 5 runs each"""
    runs = sorted({len(found.groups[row.index].runs) for row in found.rows if row.judged})
    return f"{' to '.join(map(str, dict.fromkeys((runs[0], runs[-1]))))} runs each" if runs else ""


def _nothing_on_time(found):
    if nothing_sustained(found):
        return "No setting sustained the load in any run."
    verdicts = [run.record["verdict"] for group in found.groups for run in group.runs]
    if verdicts and all(verdict.get("on_time") is False for verdict in verdicts):
        return "No setting was on time in any run."
    return None


def _word(found, rows):
    """Use pfc; Use pfc or ecn"""
    return "NOT SUSTAINED" if nothing_sustained(found) else f"Use {either([row.setting for row in rows])}"


def _winner(found):
    best, second = found.rows[:2]
    figure = best.told_by or found.ranked.decided_by
    if figure.kind == "share":
        sentence, evidence = _shares_of(found, figure, [best], [row for row in found.rows[1:] if row.judged]), []
    else:
        own, other = (next(value.text for value in row.details if value.figure is figure) for row in (best, second))
        sentence = f"It {figure.what_it_does(own)}; {second.setting}: {other}."
        evidence = [f"Difference: {figure.difference(best.difference)}{_within_pairs(found, best, second, figure)}."]
    if nothing_sustained(found):
        sentence = f"No setting sustained the load in any run. {best.setting}{sentence.removeprefix('It')}"
    return ShortAnswer(_word(found, [best]), sentence, reasons.because(found, second, best), certainty=CERTAIN,
                       basis=_basis(found), good=not nothing_sustained(found)), [*evidence, _price(found)]


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


def _shares_of(found, figure, leaders, others):
    """It sustains 5 Gb/s per producer in 5 of 5 runs; none: 0 of 5. Where several lead: each sustains, or a: 5 of 5."""
    counts = list(dict.fromkeys(_runs_of(found, figure, row) for row in leaders))
    what = "completed {} runs" if figure is COMPLETED else f"sustains {_load(found)} in {{}} runs"
    rest = listed([f"{row.setting}: {_runs_of(found, figure, row)}" for row in others])
    if len(counts) == 1:
        return f"{'It' if len(leaders) == 1 else 'Each'} {what.format(counts[0])}; {rest}."
    own = listed([f"{row.setting}: {_runs_of(found, figure, row)}" for row in leaders])
    return f"Runs that {'completed' if figure is COMPLETED else f'sustained {_load(found)}'}: {own}; {rest}."


def _too_few(found):
    names = [row.setting for row in found.rows if not row.judged
             and (found.groups[row.index].made or not found.groups[row.index].not_set)]
    few = "There is nothing to compare with."
    if names:
        few = (f"{statistics.FEWEST_RUNS} or more complete runs per setting are needed; {listed(names)} "
               f"{'has' if len(names) == 1 else 'have'} fewer.")
    figure = found.ranked.decided_by
    values = listed([f"{row.setting} {row.first.text}" for row in found.rows])
    return ShortAnswer("NOT JUDGED", few, "" if figure is None else f"{capital(figure.title)}: {values}.",
                       certainty=CANNOT_TELL)


def _no_winner(found, of_bad):
    leaders, others = found.leaders, [row for row in found.rows if row.rank > 1 and row.judged]
    figure = found.ranked.decided_by
    seen, why = _least_found(found, leaders)
    names = f"these {len(leaders)} settings" if len(leaders) > LEADERS_MAX else listed([row.setting for row in leaders])
    between = f"No winner {'between' if len(leaders) == 2 else 'among'} {names}: {seen}{f'; {why}' if why else ''}."
    if (advised := recommended(found)) is not None:
        return ShortAnswer(f"Use {found.names[advised[0]]}", advised[1], certainty=LIKELY, basis=_basis(found),
                           good=True), [between]
    if others and len(leaders) <= LEADERS_MAX and not _is_in_doubt(found, leaders):
        sentence = (_shares_of(found, figure, leaders, others) if figure.kind == "share" else
                    f"{leaders[0].setting} {figure.what_it_does(leaders[0].first.text)}; "
                    f"{'; '.join(f'{row.setting}: {row.first.text}' for row in (*leaders[1:], others[0]))}.")
        return ShortAnswer(_word(found, leaders), sentence, reasons.because(found, others[0], leaders[0]),
                           certainty=CERTAIN, basis=_basis(found), good=not nothing_sustained(found)), [between]
    if of_bad and _objected(found, leaders):
        return ShortAnswer("NO WINNER", of_bad[0], f"{capital(seen)}, but {why}.", certainty=CANNOT_TELL,
                           basis=_basis(found)), []
    return ShortAnswer("NO WINNER", f"{capital(names) if len(leaders) > LEADERS_MAX else names}: {seen}.",
                       why and f"{capital(why)}.", certainty=CANNOT_TELL, basis=_basis(found)), []


def _is_in_doubt(found, leaders):
    """Whether something stands against one of those that share the lead."""
    return (found.doubt_of_leaders is not None or _objected(found, leaders) is not None
            or any(found.groups[row.index].failed or found.ranked.bad and found.ranked.bad[row.index].spoiled
                   for row in leaders) and not nothing_sustained(found))


def _least_found(found, leaders):
    """(which difference between the leaders was seen, which would have been found, or why it is not certain)"""
    pair, doubt = _objected(found, leaders) or _pair_of_leaders(found, leaders), found.doubt_of_leaders
    if pair is None or pair.result.difference is None:
        return ("nothing is certain", doubt.reason) if doubt else _shares(found, leaders) or ("nothing differs", "")
    figure, result = pair.figure, pair.result
    differs = f"differs by {figure.difference(result.difference)}" if result.difference else "is the same"
    text = f"{figure.in_sentence} {differs}{_within_pairs(found, leaders[0], leaders[-1], figure)}"
    if doubt:
        return text, doubt.reason
    reason = pair.objection or result.reason
    if reason in (ranking.FAILED_MORE, *bad_runs.REASONS):
        return f"{text}, for the better with {found.names[pair.better]}", reason
    if result.difference and pair.is_called:
        return text, f"that is certain but less than the {units.percent(found.settings.relevant)} that count"
    if result.detectable is not None and result.detectable > 1e-9 * (result.scale or 1.0):
        return text, f"a difference of {figure.difference(result.detectable)} or more would have been found"
    return text, ""


def _shares(found, leaders):
    """As _least_found: sustained in 5 of 5 runs of deep and in 3 of 5 of shallow; None: yes or no is not what
    decides."""
    figure = found.ranked.decided_by
    pair = found.pair(leaders[0], leaders[-1]) if len(leaders) > 1 else None
    if pair is None or figure.kind != "share" or pair.result.p_value is None:
        return None
    counts = [_runs_of(found, figure, row) for row in (leaders[0], leaders[-1])]
    if not pair.result.difference:
        return f"{figure.title} in {counts[0]} and {counts[1]} runs, the same share", ""
    found_from = (f"; {figure.difference(pair.result.detectable)} or more would have been found"
                  if pair.result.detectable is not None else "")
    return (f"{figure.title} in {counts[0]} runs of {leaders[0].setting} and in {counts[1]} of {leaders[-1].setting}",
            f"by chance alone in up to {units.percent(pair.result.p_value)} of cases{found_from}")


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
