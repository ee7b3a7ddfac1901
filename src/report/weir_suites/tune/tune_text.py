"""What weir-sweep tune prints: the answer, then what it rests on."""

import textwrap

from weir_compare.comparison import statistics
from weir_compare.comparison.figure_results import NO_DIFFERENCE
from weir_runs.basics import units
from weir_runs.basics.list_values import median
from weir_runs.basics.short_answer import CANNOT_TELL, CERTAIN, LIKELY, paragraph, ShortAnswer, SUBJECT_WIDTH, WIDTH
from weir_runs.basics.units import capital, counted
from weir_suites.switches.audit import SERIOUS
from . import acting, axes as tune_axes, decide, objective
from .found import FLAT
from .tune_file import IN_TIME_MAX

DIED_SHOWN = 5
GOOD_SHOWN = 5
# A gain above this that would have been found says nothing: it is what anybody would see.
WORTH_SAYING = 0.5
JUDGED = {decide.MATTERS: "matters", decide.DOES_NOT_MATTER: "does not matter here", decide.NOT_TOLD: "cannot tell"}


def plan_lines(tune, forecast):
    """Before anything is run. `forecast`: of Tuning.forecast."""
    figure = objective.FIGURES[tune.figure]
    lines = [f"{tune.name}: {figure.title}, by {len(tune.axes)} {'axis' if len(tune.axes) == 1 else 'axes'}; simulated"]
    for axis in tune.axes:
        scale = "logarithmic" if axis.log else "linear"
        shown = ", ".join(axis.texts) if axis.values else f"{axis.text(axis.low)} to {axis.text(axis.high)}, {scale}"
        lines += _line("axis", f"{axis.name}: {shown}" + (f". Cannot act: {forecast.idle[axis.name]}"
                                                          if axis.name in forecast.idle else ""))
    for words in tune.constraints.words():
        lines += _line("kept", words)
    for words in acting.silent(forecast.answer.pressure):
        lines += _line("present", words)
    if 2 * forecast.refused > forecast.drawn:
        lines += _line("refused", f"{forecast.refused} of {forecast.drawn} settings drawn from these axes cannot be "
                                  f"run: {forecast.why_refused}. "
                       "The others are searched; ranges without what is refused are covered better")
    if tune.budget_s:
        lines += _line("budget", f"{units.duration(tune.budget_s)} on {counted(forecast.processes, 'core')}: as many "
                                 f"runs as the first {forecast.first} let expect, {IN_TIME_MAX} at most"
                       + ("" if forecast.runs else "; how long one takes is not known before"))
    return lines + (_cost(tune, forecast) if forecast.runs else [])


def _cost(tune, forecast):
    total = sum(forecast.runs.values())
    each, time = "searches of some ten runs each" if tune.figure == objective.CAPACITY else "runs", ""
    if forecast.run_s is not None:
        time = f"; about {units.duration(total * forecast.run_s)} of processor time"
    return _line("cost", f"{', '.join(f'{number} {part}' for part, number in forecast.runs.items())}: "
                         f"{'about' if tune.budget_s else 'at most'} {total} {each}{time}")


def answer_lines(tune, found, do="", colour=False):
    """The short answer first. `do`: of next_words."""
    lines = [*short(tune, found, do).lines(colour), ""]
    said = " ".join(evidence(tune, found))
    lines += [*textwrap.wrap(said, WIDTH, break_on_hyphens=False), ""] if said else []
    for heading, texts in parts(found):
        lines += paragraph(heading, texts)
    return lines


def parts(found):
    """What the answer rests on: [(heading, texts)]"""
    how = (f"{found.runs_text()}; by simulation, for this traffic. Which setting is best for other traffic, or on "
           "hardware, was not asked")
    made = (("costs", _costs(found)), ("beside", _observed(found)), ("put back", _put_back(found)),
            ("axes", [_axis(found, axis) for axis in found.axes]), ("flat", [_flat(found)]),
            ("loads", _loads(found)), ("lost", _why_lost(found)), ("cannot act", found.silent),
            ("audit", [f"new with the proposal, {one.severity}: {one.text}; {one.advice}" for one in found.audited]),
            ("assumed", list(filter(None, [found.assumed]))), ("died", _died(found)), ("found", [how]))
    return [(heading, texts) for heading, texts in made if texts]


def next_words(found, confirm, to_fill_in):
    """What to do with the sweep file that confirms; None: there is none. `to_fill_in`: the command that sets the switch
    is missing in it."""
    if found.overloaded:
        return "lower the load, by rate or event-size in [run], and tune again"
    if confirm is None:
        through = [acting.through(axis.name) for axis in found.axes]
        if found.acted is not None and all(names and not set(names) & set(found.acted) for names in through):
            return (f"keep the present setting: {_nothing_done(through)} with it, so nothing here can be gained by "
                    "these axes")
        return "keep the present setting"
    first = f"fill in on-change of {confirm.name}, the command that sets the switch; then " if to_fill_in else ""
    return (f"{first}weir-sweep all {confirm.name}: the present and the proposed setting in turns, measured; "
            "--simulate predicts that")


def _nothing_done(through):
    """nothing is marked or paused"""
    done = [words for name, words in (("ecn", "marked"), ("pfc", "paused"), ("drop", "dropped"))
            if any(name in names for names in through)]
    return f"nothing is {' or '.join(done)}"


def switch_lines(words):
    """The proposal in the words of the operator's switch; whole lines, for they are typed. `words`: Words, or None."""
    if words is None or not (words.sides or words.unwritten):
        return []
    lines = _line("switch", f"in the words of {words.family}, from {words.source}")
    for what, typed in words.sides:
        lines += [f"{'':<{SUBJECT_WIDTH}}{what}:", *(f"{'':<{SUBJECT_WIDTH}}  {line}" for line in typed)]
    return [*lines, *(line for note in words.notes for line in paragraph("", [note]))]


def short(tune, found, do=""):
    """The ShortAnswer. `do`: of next_words."""
    word, sentence, because, certainty = _overloaded(found) or _verdict(tune, found)
    basis = f"{counted(found.pairs, 'pair')} of runs" if certainty == CERTAIN else ""
    return ShortAnswer(word, sentence, because, f"{capital(do)}." if do else "", certainty, basis,
                       good=found.chosen is not None and not found.overloaded)


def evidence(tune, found):
    """Sentences: what is odd, and what stands against the proposal."""
    beyond = _verdict(tune, found)[1:3] if found.overloaded else ()
    return [*beyond, *_marks_nothing(found), *_objections(found), *_better_neighbour(found), *_breaking_loads(found)]


def headline(tune, found):
    """All of it in sentences."""
    answer = short(tune, found)
    sure = answer.certainty and f"({answer.how_sure})"
    return " ".join(filter(None, [answer.verdict, sure, answer.because, *evidence(tune, found)]))


def _overloaded(found):
    """That the plan is more than either setting carries: what is better there need not be better elsewhere."""
    if not found.overloaded:
        return None
    who = "The present setting does not sustain" if found.chosen is None else \
        "Neither the present setting nor the proposed one sustains"
    return "NOT SUSTAINED", f"{who} this plan, in any run.", "", CERTAIN


def _marks_nothing(found):
    """A proposal that changes ECN so that nothing is marked, where marks were on."""
    is_of_ecn = any(axis.name.startswith("ecn.") and best != present
                    for axis, best, present in zip(found.axes, found.best, found.present))
    on = ((found.in_force[1] or {}).get("ecn") or {}).get("on") == "true"
    if found.chosen is None or not is_of_ecn or not on or found.acted is None or "ecn" in found.acted:
        return []
    return ["It marks nothing in this plan: here it is as good as ECN off, and which thresholds would be good where "
            "marks are needed, this plan does not tell."]


def _objections(found):
    return [f"But the audit of the switch calls it serious: {one.text}." for one in found.audited
            if one.severity == SERIOUS]


def _better_neighbour(found):
    """A neighbour that is certainly better and yet not proposed: [the sentence]."""
    near = max(found.better_neighbours, key=lambda one: one.change.gain, default=None)
    if near is None:
        return []
    axis = next(axis for axis in found.axes if axis.name == near.axis)
    where = "the present setting" if found.chosen is None else "it"
    value = axis.text(near.candidate[found.axes.index(axis)])
    return [f"Beside {where}, {axis.name}={value} alone is {change(near.change)}, which is not confirmed: look for the "
            "best from there."]


def _breaking_loads(found):
    """Loads with which the proposed setting certainly breaks what was asked for, and the present one does not as often:
    [the sentences]."""
    return [f"With {one.words}, {_runs_that(one.proposed)}, of the present setting {one.present.broke or 'none'}."
            for one in found.loads if one.breaks]


def _verdict(tune, found):
    """(word, sentence, why, how certain)"""
    figure = objective.FIGURES[tune.figure]
    if found.chosen is None:
        return "Keep the setting", *_nothing_better(tune, found, figure)
    before, after = map(median, found.behind)
    values = f"{figure.title} {units.text(after, figure.unit)} instead of {units.text(before, figure.unit, before)}"
    if not found.present_keeps:
        most = statistics.interval_of_share(0, found.pairs)[1]
        seeds = (f", each with another seed: of other seeds, up to {units.percent(most)} may yet"
                 if found.pairs >= decide.FEWEST_PAIRS else "")
        return ("Use the proposal", f"{proposal(found)}: none of {counted(found.pairs, 'run')} breaks what was asked "
                f"for ({'; '.join(tune.constraints.words())}){seeds}.",
                f"Of the present setting, {_runs_that(found.present_kept)}; {values}, {change(found.change)}.", LIKELY)
    sustained = ""
    if found.sustained and found.sustained[0] != found.sustained[1]:
        sustained = (f"; sustained in {found.sustained[1]} of {counted(found.pairs, 'run')} instead of "
                     f"{found.sustained[0]}")
    alike = ": runs of equal settings do not differ" if found.pairs < decide.FEWEST_PAIRS else ""
    return ("Use the proposal", f"{proposal(found)}: {values}{sustained}.",
            f"{capital(change(found.change))}, in runs that the search has not seen{alike}.", CERTAIN)


def proposal(found):
    """The values that change: slots=8 instead of 4, ecn.none-below=50kB instead of 5kB."""
    return ", ".join(f"{axis.name}={axis.text(best)}{axis.known_as} instead of {axis.text(present)}"
                     for axis, best, present in zip(found.axes, found.best, found.present) if best != present)


def _nothing_better(tune, found, figure):
    """(sentence, why, how certain)"""
    if not found.finalists:
        return _none_to_confirm(tune, found), "", CANNOT_TELL
    kept = [change for change, keeps in zip(found.changes, found.keeps) if keeps] or found.changes
    seen, why, certainty = [change.detectable for change in kept], [], CANNOT_TELL
    if seen and None not in seen:
        least = max(*seen, FLAT)
        certainty = LIKELY if least <= WORTH_SAYING else CANNOT_TELL
        why.append(f"of the {len(kept)} that were confirmed, {units.percent(least)} or more would have been found"
                   if least <= WORTH_SAYING else f"of the {len(kept)} that were confirmed, runs differ too much to say "
                                                 "more")
    judged = {found.judged(axis.name) for axis in found.axes}
    if judged == {decide.DOES_NOT_MATTER}:
        why.append("nothing of these axes matters")
    elif decide.MATTERS not in judged:
        why.append("none of these axes was shown to matter")
    else:
        why.append("the axes below say how much worse its neighbours are")
    return (f"No setting was found that improves the {figure.title} of the present one.",
            f"{capital('; '.join(why))}.", certainty)


def _none_to_confirm(tune, found):
    """Of the settings that were tried none was worth a confirmation."""
    others = [trial for trial in found.history if trial.candidate != found.present and not trial.died]
    tried = {trial.candidate for trial in others}
    kept = tried - {trial.candidate for trial in others if trial.excess > 0.0}
    if not tried:
        return "No setting besides the present one could be run."
    if kept:
        of_them = (f", of which {len(kept)} kept what was asked for"
                   if tune.constraints != objective.Constraints() else "")
        return (f"No setting was found that is better than the present one, in {counted(len(tried), 'other')}"
                f"{of_them}.")
    return (f"Of {counted(len(tried), 'other setting')} that the search tried none keeps what was asked for, and the "
            f"present one {'does' if found.present_keeps else 'does not, either'}: "
            f"{'; '.join(tune.constraints.words())}.")


def change(one):
    """12 % better (95 % interval 10 % to 14 %)"""
    if one.gain is None:
        return "not known"
    sign = 1.0 if one.gain >= 0.0 else -1.0
    size = f"{units.percent(abs(one.gain))} {'better' if sign > 0.0 else 'worse'}"
    if one.low is None or one.low == one.high:
        return size
    low, high = sorted((sign * one.low, sign * one.high))
    together = ", of all comparisons together" if one.together else ""
    return f"{size} (95 % interval{together} {units.percent(low)} to {units.percent(high)})"


def _costs(found):
    """More losses, certain or not, and what is certainly worse."""
    said = _more_lost(found)
    worse = [f"{figure.title} {change(one)}" for figure, one in found.beside if one.is_worse
             and figure.name not in objective.LOSSES]
    said += worse or (["no other key figure is certainly worse"] if found.beside else [])
    return ["; ".join(said)] if said else []


def _more_lost(found):
    """Losses that are more with the proposed setting: [packets lost in a run 20 instead of 0]."""
    changes = {figure.name: one for figure, one in found.beside}
    said = []
    for key, figure in objective.LOSSES.items():
        before, after = (side[key] for side in found.observed) if len(found.observed) == 2 else (0, 0)
        if after > before:
            unsure = key in changes and not changes[key].is_worse
            said.append(f"{figure.title} in a run {units.text(after)} instead of "
                        f"{units.text(before)}{', which is not certain' if unsure else ''}")
    return said


def _observed(found):
    """What constraints look at, where it changes."""
    words = []
    for key, title, unit in (*((key, f"{figure.title} in a run", "") for key, figure in objective.LOSSES.items()),
                             ("paused_share", "producers paused", "%"),
                             ("control_latency_s", "scheduling latency (p99)", "s")):
        values = [side[key] for side in found.observed]
        more_lost = key in objective.LOSSES and len(values) == 2 and values[1] > values[0]  # that is one of the costs
        if len(values) == 2 and None not in values and values[0] != values[1] and not more_lost:
            words.append(f"{title} {units.text(values[1], unit)} instead of {units.text(values[0], unit)}")
    return ["; ".join(words)] if words else []


def _axis(found, axis):
    if axis.name in found.idle:
        return f"{axis.name} cannot act: {found.idle[axis.name]}"
    place = found.axes.index(axis)
    said = []
    for one in found.of_axis(axis.name):
        value = axis.text(one.candidate[place])
        name = value if value == one.words else f"{value} ({one.words})"
        said.append(f"{name} {_told(one.change)}{_not_kept(one.kept, one.breaks)}")
    at_end = ", at the end of its range" if axis.is_end(found.best[place]) else ""
    return (f"{axis.name}={axis.text(found.best[place])}{axis.known_as} {JUDGED[found.judged(axis.name)]}{at_end}: "
            f"{'; '.join(said) or 'no other value can be run'}")


def _told(one):
    """As `change`, but of what is no difference that matters only that: no difference, a little worse (0.4 %)"""
    if one.is_same:
        size = abs(one.gain)
        return ("no difference" if one.call == NO_DIFFERENCE or size < 0.0005
                else f"a little {one.call} ({units.percent(size)})")
    return change(one) + ("" if one.is_better or one.is_worse else ", which is not certain")


def _not_kept(kept, is_certain):
    """, but 1 of 5 runs lost packets"""
    return ("" if kept.keeps
            else f", but {_runs_that(kept)}{'' if is_certain or not kept.broke else ', which is not certain'}")


def _runs_that(kept):
    """1 of 5 runs lost packets and 2 of 5 runs did not end by themselves"""
    return " and ".join(f"{number} of {counted(kept.runs, 'run')} {words}" for number, words in (
        (kept.broke, " and ".join(kept.broken)), (kept.died, "did not end by themselves" if kept.died > 1
                                                  else "did not end by itself")) if number)


def _put_back(found):
    """Axes that are not changed, though the search had changed them."""
    if not found.put_back:
        return []
    return [f"{units.listed(found.put_back)}, at the present value again: {_told(found.put_back_change)} against the "
            "setting that the search found"]


def _flat(found):
    good, tried = found.settings_within()
    shown = units.listed([tune_axes.words(found.axes, candidate) for candidate in good], GOOD_SHOWN, "; ")
    more = ": flat in tune.json" if len(good) > GOOD_SHOWN + 1 else ""
    return (f"{len(good)} of {counted(tried, 'setting')} that were tried {'is' if len(good) == 1 else 'are'} within "
            f"{units.exact_percent(FLAT)} of the best, a run or a few each: {shown}{more}")


def _loads(found):
    lines = []
    for one in found.loads:
        told = ("" if one.change.is_better or one.change.is_worse else ", no difference that matters"
                if one.change.is_same else ", which is not certain")
        runs = one.proposed.runs
        sustained = "" if one.sustained in ((runs, runs),
                                            None) else (f"; sustained in {one.sustained[1]} of {counted(runs, 'run')}, "
                                                              f"present setting {one.sustained[0]}")
        lines.append(f"{one.words}: {change(one.change)}{told}{sustained}{_load_not_kept(one)}")
    return lines


def _load_not_kept(one):
    """, but 5 of 5 runs lost packets, present setting 0"""
    if one.proposed.keeps:
        return "" if one.present.keeps else f"; of the present setting, {_runs_that(one.present)}"
    present = f", present setting {one.present.broke}" if one.proposed.broke else ""
    unsure = one.proposed.broke > one.present.broke and not one.breaks
    return f", but {_runs_that(one.proposed)}{present}{', which is not certain' if unsure else ''}"


def _why_lost(found):
    kept = [found.present_kept, *(one.kept for one in found.neighbours),
            *(side for one in found.loads for side in (one.present, one.proposed))]
    lost = [candidate for candidate, broken in found.ruled_out.items() if objective.LOST_ACKNOWLEDGEMENTS in broken]
    if not lost and not any(objective.LOST_ACKNOWLEDGEMENTS in one.broken for one in kept):
        return []
    tried = len({trial.candidate for trial in found.history})
    ruled_out = f"ruled out {len(lost)} of {counted(tried, 'setting')} that the search tried: they " if lost else ""
    return [f"acknowledgements {ruled_out}are not ECN-capable in the model: with ecn.drops, WRED drops them where it "
            "marks data, and what is not acknowledged is sent again"]


def _died(found):
    """Runs that did not end by themselves, by name."""
    more = [f"and {len(found.died) - DIED_SHOWN} more: died in tune.json"] if len(found.died) > DIED_SHOWN else []
    return [*(f"{run}: {why}; repeated once in vain, taken for nothing that its setting does"
              for run, why in list(found.died.items())[:DIED_SHOWN]), *more]


def _line(heading, text):
    return paragraph(heading, [text])
