"""What follows the search of weir-sweep tune: the finalists, the neighbours of the proposal and other loads are run
with seeds that the search has not seen. What is compared follows from these runs alone."""

import math

from weir_compare.sweep import find_values
from weir_runs.basics.list_values import mean, median
from weir_runs.basics.quantities import size_text
from weir_runs.reading.capacity import QUANTITIES
from weir_runs.reading.key_figures import key_figures
from . import axes as tune_axes, decide, objective
from .campaigns import CONFIRM, CONFIRM_AGAIN, CONFIRM_FEWEST, CONFIRM_NEIGHBOUR, fresh_seed
from .found import Kept, Load, Neighbour

PRESENT, PROPOSED, NEIGHBOUR, FEWEST = "present", "proposed", "neighbour", "fewest"
RATES = (("80 % of the rate", 0.8), ("110 % of the rate", 1.1))
EVENTS = (("events half as large", 0.5), ("events twice as large", 2.0))


class Confirmation:
    """`found`: of the search, with its finalists; what is found is added to it."""

    def __init__(self, tune, campaigns, say, found):
        self.tune, self.campaigns, self.say, self.found = tune, campaigns, say, found
        self.figure = objective.FIGURES[tune.figure]
        self._fresh = fresh_seed(tune, CONFIRM)
        self._confirmed = {}  # {candidate: [Result]} with these seeds

    def propose(self):
        """From the finalists to the setting that is proposed, and its neighbours."""
        found = self.found
        candidates = {PRESENT: found.present,
                      **{f"finalist-{place}": one for place, one in enumerate(found.finalists, start=1)}}
        results = self._compare("confirmation", "confirm", self._options(candidates))
        self._confirmed = {one: results[name] for name, one in candidates.items()}
        self._decide()
        self._around("around")
        if self._move() or found.pairs < found.seeds:
            self._around("around-again")
        if self._put_back():
            self._around("around-fewest")

    # --- Runs.

    def _options(self, candidates, more=()):
        """{name: options} of {name: candidate}."""
        return {name: self.campaigns.of_setting(self.found, one, more) for name, one in candidates.items()}

    def _run(self, part, name, settings, first_seed, seeds):
        """{setting: [Result]} of a campaign. `part`: of found.runs; `settings`: {name: options}."""
        self.found.runs[part] = self.found.runs.get(part, 0) + len(settings) * seeds
        return self.campaigns.run(name, settings, first_seed, seeds)

    def _compare(self, part, name, settings, known=()):
        """{setting: [Result]} of runs with the seeds that are compared now. Where runs are found to differ from seed to
        seed, they and all that is compared later get as many as the file says. `known`: [Result] of the setting that
        all are compared with, if it is not the first one."""
        results = self._run(part, name, settings, self._fresh, self.found.seeds)
        if self.found.seeds < self.tune.confirm and self._differ(known or next(iter(results.values())),
                                                                 results.values()):
            self.found.seeds = self.tune.confirm
            results = self._complete(part, name, settings, results)
        return results

    def _complete(self, part, name, settings, results):
        """The same results, and runs with the seeds that they do not have."""
        done = len(next(iter(results.values())))
        more = self._run(part, f"{name}-more", settings, self._fresh + done, self.found.seeds - done)
        return {key: [*of_one, *more[key]] for key, of_one in results.items()}

    def _differ(self, baseline, results):
        """Whether runs of a setting differ: in the figure beside that of the baseline's run with the same seed, or in
        anything else that is judged."""
        return any(decide.differ(_values(baseline), _values(of_one))
                   or len({others(self.tune.figure, result) for result in of_one}) > 1 for of_one in results)

    # --- What is proposed.

    def _decide(self):
        """What is proposed, by the runs of the present setting and the finalists."""
        found, behind = self.found, self._confirmed
        found.values = [_values(behind[one]) for one in (found.present, *found.finalists)]
        found.changes = decide.confirmed(self.figure, found.values[0], found.values[1:])
        found.keeps = [kept(behind[one]) for one in found.finalists]
        found.present_keeps, found.present_kept = keeps(behind[found.present]), counted(behind[found.present])
        found.pairs = found.seeds
        most = find_values.ROUNDS_MAX if self.tune.figure == objective.CAPACITY else None
        if found.present_keeps and (again := decide.again(found.changes, found.keeps, found.seeds, most)):
            behind = behind | self._confirm_again(*again)
        found.chosen = decide.choose(found.changes, found.keeps, found.present_keeps)
        self._costs(behind)
        self.say(f"confirmed with {found.pairs} fresh seeds: " + (
            "no finalist is better than the present setting" if found.chosen is None
            else f"proposed is {tune_axes.words(found.axes, found.best)}"))

    def _confirm_again(self, index, seeds):
        """Replaces the change of a finalist by that of other seeds, and more of them. {candidate: [Result]} of it and
        of the present setting."""
        found = self.found
        candidates = {PRESENT: found.present, f"finalist-{index + 1}": found.finalists[index]}
        present, other = self._run("confirmation", "confirm-again", self._options(candidates),
                                   fresh_seed(self.tune, CONFIRM_AGAIN), seeds).values()
        found.again = (index, _values(present), _values(other))
        found.changes[index] = decide.confirmed_again(self.figure, *found.again[1:])
        found.keeps[index] &= kept(other)
        found.present_keeps, found.present_kept, found.pairs = keeps(present), counted(present), seeds
        return {found.present: present, found.finalists[index]: other}

    def _costs(self, behind):
        """What other figures say of the chosen setting, and what constraints look at. `behind`: {candidate: [Result]}
        of the confirmation that decided."""
        found = self.found
        sides = [behind[one] for one in dict.fromkeys((found.present, found.best))]
        records = [[result.record for result in side] for side in sides]
        found.beside, found.sustained = [], None
        if any(record is None for side in records for record in side):
            return
        seen = [[objective.observed(record) for record in side] for side in records]
        found.observed = [{key: mean([one[key] for one in side]) for key in objective.observed({})}
                          for side in seen]
        found.in_force = tuple((records[side][0].get("environment") or {}).get("packet_network") for side in (0, -1))
        found.acted = objective.acted(records[-1])
        found.plan = records[-1][0].get("plan") or {}
        runs = [[result.run for result in side] for side in sides]
        if any(run is None for side in runs for run in side):  # searches of a capacity
            return
        if all(run.verdict.get("sustained") is not None for side in runs for run in side):  # as without full load
            found.sustained = tuple(_sustained(side) for side in sides)
        if found.chosen is None:
            return
        figures = [(figure, *([key_figures(run)[figure.name] for run in side] for side in runs))
                   for figure in objective.beside(self.tune.figure)]
        losses = [(figure, *([one[key] for one in side] for side in seen)) for key, figure in objective.LOSSES.items()]
        compared = [one for one in figures if None not in (*one[1], *one[2])]
        compared += [one for one in losses if any((*one[1], *one[2]))]
        found.beside = [(one[0], change) for one, change in zip(compared, decide.changes(compared))]

    # --- Around the proposal, and with other loads.

    def _move(self):
        """Proposes the best of the neighbours that are certainly better than what was chosen, if runs with other seeds
        say so, too. Whether it is proposed."""
        found = self.found
        if (near := max(found.better_neighbours, key=lambda one: one.change.gain, default=None)) is None:
            return False
        candidates = {PRESENT: found.present, **({} if found.chosen is None else {PROPOSED: found.best}),
                      NEIGHBOUR: near.candidate}
        results = self._with_other_seeds("confirmation of a neighbour", "confirm-neighbour", self._options(candidates),
                                         CONFIRM_NEIGHBOUR, self.tune.confirm)
        values = {name: _values(of_one) for name, of_one in results.items()}
        change, replaces = decide.replaces(self.figure, values[NEIGHBOUR], values[PRESENT], values.get(PROPOSED),
                                           self._present_keeps(results))
        if not replaces or not kept(results[NEIGHBOUR]):
            return False
        self._choose(near.candidate, change, results, NEIGHBOUR)
        self.say(f"a neighbour is certainly better, with {found.pairs} other seeds, too: proposed is "
                 f"{tune_axes.words(found.axes, found.best)}")
        return True

    def _with_other_seeds(self, part, name, options, stage, seeds):
        """{setting: [Result]} with seeds by which none of them was found."""
        results = self._run(part, name, options, fresh_seed(self.tune, stage), seeds)
        if self._differ(results[PRESENT], results.values()):
            self.found.seeds = self.tune.confirm
        return results

    def _present_keeps(self, results):
        return self.found.present_keeps and keeps(results[PRESENT])

    def _choose(self, candidate, change, results, name):
        """As the last finalist; `results`: [Result] of the present setting and of the candidate's name, by which it was
        confirmed."""
        found, (present, own) = self.found, (results[PRESENT], results[name])
        found.finalists.append(candidate)
        found.changes.append(change)
        found.keeps.append(True)
        found.values.append(_values(self._confirmed[candidate]))
        found.chosen, found.pairs = len(found.finalists) - 1, len(present)
        found.moved = _values(present), _values(own)
        found.present_keeps, found.present_kept = self._present_keeps(results), counted(present)
        self._costs({found.present: present, candidate: own})

    def _put_back(self):
        """Puts axes whose present value makes no difference back to it, all of them together, if runs with other seeds
        say so, too: the fewest changes are proposed. Whether it is."""
        found = self.found
        same = {one.axis for one in found.neighbours if one.words == PRESENT and one.kept.keeps
                and one.change.is_worth_nothing}
        fewest = tune_axes.put_back(found.axes, found.best, found.present, same)
        options = self._options({PRESENT: found.present, PROPOSED: found.best, FEWEST: fewest})
        if fewest in (found.best, found.present) or not self.campaigns.is_possible(options[FEWEST]):
            return False
        results = self._with_other_seeds("confirmation of the fewest changes", "confirm-fewest", options,
                                         CONFIRM_FEWEST, max(found.pairs, self.tune.confirm))
        change, beside, is_as_good = decide.is_as_good(self.figure, *(
            _values(results[name]) for name in (FEWEST, PRESENT, PROPOSED)), self._present_keeps(results))
        if not is_as_good or not kept(results[FEWEST]):
            return False
        if fewest not in self._confirmed:
            self._confirmed[fewest] = self._run("confirmation of the fewest changes", "fewest",
                                                {FEWEST: options[FEWEST]}, self._fresh, found.seeds)[FEWEST]
        found.put_back = tuple(axis.name for axis, before, best in zip(found.axes, found.present, found.best)
                               if axis.name in same and before != best)
        found.put_back_change = beside
        self._choose(fewest, change, results, FEWEST)
        self.say(f"{', '.join(found.put_back)} back to the present value makes no difference, with {found.pairs} other "
                 f"seeds, too: proposed is {tune_axes.words(found.axes, found.best)}")
        return True

    def _around(self, name):
        found, confirmed = self.found, self._confirmed
        near = [one for one in tune_axes.around(found.axes, found.best, found.present)
                if self.campaigns.is_possible(self.campaigns.of_setting(found, one[-1]))]
        new = {f"near-{number}": candidate for number, (_, _, candidate) in enumerate(near, start=1)
               if candidate not in confirmed}
        if new:
            results = self._compare("neighbours", name, self._options(new), confirmed[found.best])
            confirmed |= {candidate: results[key] for key, candidate in new.items()}
        best = found.best
        self._complete_confirmed((found.present, *found.finalists, *(candidate for *_, candidate in near)),
                                 f"{name}-before")
        if found.best != best:
            self._around("around-other")
            return
        changes = decide.changes([(self.figure, _values(confirmed[found.best]), _values(confirmed[candidate]))
                                  for *_, candidate in near])
        counts = {candidate: counted(results) for candidate, results in confirmed.items()}
        breaks = _breaks([(counts[found.best], counts[candidate]) for *_, candidate in near])
        found.neighbours = [Neighbour(axis.name, words, candidate, median(_values(confirmed[candidate])), change,
                                      counts[candidate], more_often)
                            for (axis, words, candidate), change, more_often in zip(near, changes, breaks)]

    def _complete_confirmed(self, candidates, name):
        """Runs with further seeds of what was compared before runs were found to differ; then it is decided again what
        is proposed."""
        confirmed = self._confirmed
        short = {f"before-{place}": candidate for place, candidate in enumerate(dict.fromkeys(candidates), start=1)
                 if len(confirmed[candidate]) < self.found.seeds}
        if not short:
            return
        results = self._complete("confirmation", name, self._options(short),
                                 {key: confirmed[one] for key, one in short.items()})
        confirmed |= {candidate: results[key] for key, candidate in short.items()}
        if self.found.moved is None:
            self._decide()

    def loads(self, answer):
        """The chosen setting with other loads. `answer`: of the dry run of the present one."""
        found, compared = self.found, []
        taken = {axis.name for axis in found.axes}
        loads = other_loads(self.tune, answer) if found.chosen is not None else ()
        for number, (words, more) in enumerate(loads, start=1):
            options = self._options({PRESENT: found.present, PROPOSED: found.best}, more)
            if taken & dict(more).keys() or not all(self.campaigns.is_possible(one) for one in options.values()):
                continue
            sides = self._compare("other loads", f"load-{number}", options).values()
            sustained = None if self.tune.figure == objective.CAPACITY else tuple(map(_sustained, sides))
            compared.append((words, list(map(_values, sides)), sustained, list(map(counted, sides))))
        changes = decide.changes([(self.figure, *values) for _, values, _, _ in compared])
        breaks = _breaks([counts for *_, counts in compared])
        found.loads = [Load(words, change, sustained, *counts, more_often)
                       for (words, _, sustained, counts), change, more_often in zip(compared, changes, breaks)]


def other_loads(tune, answer):
    """[(words, (option, text) pairs)]: other rates, but of a rate that is looked for and of full load, and events of
    other sizes."""
    loads = []
    rate = find_values.value_of(QUANTITIES["rate"], answer.plan.get("rate", ""))
    if rate is not None and tune.figure != objective.CAPACITY and answer.plan.get("generation") != "saturate":
        find = find_values.Find("rate", 1, events="hold")
        loads += [(words, find_values.options_at(find, answer.plan, rate * factor)) for words, factor in RATES]
    size = tune_axes.number_of(answer.plan.get("event-size", ""))
    if size is not None and size[1] == "B":
        whole = size[0] / math.prod(find_values.scales_of(answer.plan))
        loads += [(words, (("event-size", size_text(round(whole * factor))),)) for words, factor in EVENTS]
    return loads


def others(figure, result):
    """What is judged of a run besides the figure."""
    if result.run is None:
        return (result.excess,)
    figures = key_figures(result.run)
    return (result.excess, *(figures[one.name] for one in objective.beside(figure)),
            *objective.observed(result.record).values())


def _values(results):
    return [result.value for result in results]


def kept(results):
    """Whether all runs of a setting ended with the figure, and kept what was asked for: a run that died says nothing
    good of it."""
    return keeps(results) and None not in _values(results)


def keeps(results):
    """Whether no run of a setting broke a constraint."""
    return all(result.excess == 0.0 for result in results)


def counted(results):
    """The Kept of a setting's runs. What they did that was not asked for stands there once."""
    return Kept(len(results), sum(result.excess > 0.0 for result in results),
                tuple(dict.fromkeys(words for result in results for words in result.broken)),
                sum(bool(result.died) for result in results))


def _breaks(compared):
    """Whether the second Kept of each pair has certainly more runs that broke a constraint than the first one."""
    return decide.breaks([tuple((one.broke, one.runs) for one in pair) for pair in compared])


def _sustained(results):
    return sum(bool(result.run and result.run.verdict.get("sustained")) for result in results)
