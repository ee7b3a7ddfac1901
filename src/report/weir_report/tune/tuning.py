"""The course of weir-sweep tune: present setting, rungs of the search, confirmation, neighbours, other loads. Each is a campaign, and what follows
depends on their runs alone; so the same command continues."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import math
from pathlib import Path

from ..basics import programs, toml_file, whole_file
from ..basics.errors import ReportError
from ..basics.input_file import read_json, read_text
from ..basics.quantities import size_text
from ..basics.units import duration, text
from ..runs.capacity import QUANTITIES
from ..runs.key_figures import key_figures
from ..sweep import continued, find_values
from . import acting, axes as tune_axes, budget as tune_budget, decide, objective, search
from .campaigns import CONFIRM, CONFIRM_AGAIN, CONFIRM_NEIGHBOUR, Campaigns, fresh_seed
from .found import Found, Kept, Load, Neighbour

SCHEMA = "weir-tune-begun/1"
# Number of the rules by which runs follow from runs: a tuning with others cannot be continued.
RULES = 5
PRESENT, PROPOSED, NEIGHBOUR = "present", "proposed", "neighbour"
RATES, EVENTS = (("80 % of the rate", 0.8), ("110 % of the rate", 1.1)), (("events half as large", 0.5), ("events twice as large", 2.0))


# In the directory: what a budget in time came to, so that a continued tuning has the same.
BUDGET_FILE = "budget.json"


class NothingCanAct(Exception):
    """No axis can act in this plan: what to say."""


@dataclasses.dataclass(frozen=True)
class Forecast:
    """What is known before anything is run. `runs`: {part: number}; none of a budget in time, where it is not known how long a run takes."""

    idle: dict  # {axis: why it cannot act}
    answer: object  # of campaigns.Answer, on the present setting
    drawn: int  # settings of the axes
    refused: int  # of these, by weir
    why_refused: str
    runs: dict = dataclasses.field(default_factory=dict)
    run_s: float | None = None  # processor time of each; None: not known
    processes: int = 1
    first: int = search.FIRST_LEAST  # runs that tell how long one takes


class Tuning:
    def __init__(self, tune, directory, say, jobs=None, as_array=False):
        self.tune, self.say = tune, say
        self.processes = jobs or programs.cores()
        self.directory = Path(directory).resolve()
        self.campaigns = Campaigns(tune, self.directory, say, jobs, as_array)
        self.figure = objective.FIGURES[tune.figure]

    def begin(self):
        """Writes what is tuned, or checks that it continues what is there. Raises ReportError."""
        whole = self.tune.text + toml_file.text(self.tune.document)
        record = {"schema": SCHEMA, "rules": RULES, "file_sha256": hashlib.sha256(whole.encode()).hexdigest(),
                  "budget": self.tune.budget_s or self.tune.budget}
        continued.begin(self.directory, "begun.json", record, {"rules": "by another version of weir-sweep", "file_sha256": "with another file",
                                                               "budget": "with another budget"})
        whole_file.replace(self.directory / "tune.toml", self.tune.text)

    def rehearsed(self):
        """Forecast without the runs. Raises ReportError, NothingCanAct."""
        tune, campaigns = self.tune, self.campaigns
        answer = campaigns.ask(campaigns.of_present())
        if answer.refused:
            blamed = [f"tune.present.{name}: " for name, text in tune.present.items() if campaigns.ask(campaigns.of_texts({name: text})).refused]
            raise ReportError(f"{tune.path}: {''.join(blamed)}the present setting cannot be run: {answer.refused}")
        for axis in tune.axes:
            if text := self._present_text(axis.name, answer):
                self._with_text(axis, text)
        drawn, corners = ([campaigns.ask(campaigns.of_candidate(tune.axes, candidate)) for candidate in candidates] for candidates in (
            search.halton(tune.axes, tune.seed, 4 * search.FIRST_LEAST), _corners(tune.axes)))
        possible = [one for one in (*drawn, *corners) if not one.refused]
        refused = [one.refused for one in drawn if one.refused]
        if not possible:
            raise ReportError(f"{tune.path}: tune.axes: none of {len(drawn) + len(corners)} settings drawn from these axes can be run: {refused[0]}")
        idle = acting.idle(tune.axes, [one.pressure for one in possible])
        if len(idle) == len(tune.axes):
            raise NothingCanAct("None of these axes can act in this plan, so no setting of them is better than the present one: "
                                + "; ".join(dict.fromkeys(idle.values())) + ".")
        return Forecast(idle, answer, len(drawn), len(refused), collections.Counter(refused).most_common(1)[0][0] if refused else "",
                        processes=self.processes)

    def forecast(self):
        """What it will take, without a run. Raises ReportError, NothingCanAct."""
        made = self.rehearsed()
        searches = self.tune.figure == objective.CAPACITY
        run_s = None if made.answer.cpu_s is None or searches else made.answer.cpu_s + continued.RUN_S
        tune = self.tune
        if tune.budget_s:
            budget = run_s and self._runs_in_time(run_s, made.answer)
            if budget is None:
                return made
            tune = dataclasses.replace(tune, budget=budget)
        return dataclasses.replace(made, run_s=run_s, runs={"search": tune.search_runs(), "confirmation": tune.budget - tune.search_runs(),
                                                            "afterwards": self._afterwards(tune, made.answer)})

    def _afterwards(self, tune, answer):
        """Runs besides those of the budget, at most."""
        near = sum(3 if not axis.is_choice else min(tune_axes.CHOICES_MAX + 1, len(axis.values) - 1) for axis in tune.axes)
        moved = len((PRESENT, PROPOSED, NEIGHBOUR)) + near
        return (near + moved + 2 * decide.AGAIN_MOST + 2 * len(self._other_loads(answer)) + len((PRESENT, PROPOSED))) * tune.confirm

    def _runs_in_time(self, run_s, answer):
        """The budget in runs of one in time, if each takes so long. Raises ReportError."""
        def total(budget):
            tune = dataclasses.replace(self.tune, budget=budget)
            return budget + self._afterwards(tune, answer)

        least = self.tune.budget
        found = tune_budget.runs_in(self.tune.budget_s, total, least, run_s, self.processes)
        if found is None:
            raise ReportError(f"{self.tune.path}: tune.budget: {duration(self.tune.budget_s)} is too short: the fewest runs that give an answer are "
                              f"{total(least)}, and take about {duration(tune_budget.seconds(total(least), run_s, self.processes))} on "
                              f"{self.processes} cores")
        return found

    def run(self):
        """Found. Raises ReportError, NothingCanAct, continued.Interrupted."""
        forecast = self.rehearsed()
        idle, answer = forecast.idle, forecast.answer
        first = self.campaigns.run(PRESENT, {PRESENT: self.campaigns.of_present()}, self.tune.first_seed, needed=PRESENT)[PRESENT][0]
        if first.value is None:
            raise ReportError(f"{self.tune.path}: tune.figure: a run of the present setting has no {self.figure.title}"
                              + ("; with generation steady or saturate, tune for goodput" if self.tune.figure == objective.MARGIN else ""))
        unseen = self.tune.constraints.unseen(first.record) if first.record is not None else None
        if unseen:
            raise ReportError(f"{self.tune.path}: tune.{unseen}: runs of this network do not count packets; write network = \"packet\" into "
                              "[simulation], or leave it out")
        axes, present = self._with_present(answer, first)
        found = Found(axes, present, [self._trial(present, 1, first)], idle)
        if self.tune.budget_s:
            self._measure(found, answer)
        self._search(found)
        found.finalists = search.finalists(found.history, axes, present, self.tune.seed)
        self._propose_setting(found)
        self._loads(found, answer)
        found.died = dict(self.campaigns.died)
        return found

    # --- The present setting.

    def _with_present(self, answer, first):
        """(the axes, of which lists have the present values, too; the present candidate)."""
        axes, present = [], []
        for axis in self.tune.axes:
            text = self._present_text(axis.name, answer) or self._default_of_switch(axis.name, first)
            if text is None:
                raise ReportError(f"{self.tune.path}: tune.axes.{axis.name}: the present value is not known: a run shows none; write it into "
                                  "[tune.present]")
            widened, value = self._with_text(axis, text)
            axes.append(widened)
            present.append(value)
        return tuple(axes), tuple(present)

    def _present_text(self, name, answer):
        """As the file has it, or the plan; None: only a run shows it, as of keys of the switch."""
        return self.tune.present.get(name) or self.tune.given(name) or answer.plan.get(name)

    @staticmethod
    def _default_of_switch(name, first):
        """As the run has it; None: it does not show it."""
        section, _, key = name.rpartition(".")
        return (((first.record or {}).get("environment") or {}).get("packet_network") or {}).get(section, {}).get(key)

    def _with_text(self, axis, text):
        """(the axis, with this present value; the value). Raises ReportError."""
        try:
            return axis.with_text(text)
        except ValueError as error:
            raise ReportError(f"{self.tune.path}: tune.axes.{axis.name}: the present value {error}; write another one into "
                              "[tune.present]") from error

    # --- The search.

    def options(self, found, candidate, more=()):
        """{option of weir simulate: text or texts} of a candidate. `more`: (option, text) pairs besides."""
        if candidate == found.present:
            return self.campaigns.of_present(more)
        return self.campaigns.of_candidate(found.axes, candidate, more)

    def _trial(self, candidate, seed, result):
        return search.Trial(candidate, seed, objective.score(self.tune.figure, result.value), result.excess, bool(result.died),
                            self._others(result))

    def _search_runs(self, found):
        return self.tune.search_runs(found.history)

    def _propose(self, found):
        return search.propose(found.history, found.axes, found.present, self._search_runs(found), self.tune.seed,
                              lambda candidate: self.campaigns.is_possible(self.options(found, candidate)))

    def _try(self, found, name, candidates, seed):
        """Runs candidates of the search, and adds them to its history."""
        names = {f"{place:03d}": candidate for place, candidate in enumerate(candidates, start=1)}
        results = self.campaigns.run(name, {key: self.options(found, one) for key, one in names.items()}, self.tune.first_seed + seed - 1)
        found.history += [self._trial(candidate, seed, results[key][0]) for key, candidate in names.items()]

    def _measure(self, found, answer):
        """A budget in time becomes one in runs, by how long the first ones take: those with which a search of the fewest runs begins."""
        names = [PRESENT]
        for seed, candidates in sorted(self._propose(found).items()):
            names.append(f"first-seed-{seed}")
            self._try(found, names[-1], candidates, seed)
        path = self.directory / BUDGET_FILE
        if not path.exists():
            run_s = self.campaigns.seconds_of(names, len(found.history)) + continued.RUN_S
            whole_file.replace(path, whole_file.json_text({"runs": self._runs_in_time(run_s, answer), "run_s": run_s}))
        try:
            known = read_json(read_text(path, "a record of weir-sweep"))
            self.tune = dataclasses.replace(self.tune, budget=int(known["runs"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ReportError(f"{path}: damaged ({error}); remove it") from error
        self.say(f"budget: {self.tune.budget} runs of search and confirmation, for each of the first {len(found.history)} took "
                 f"{text(known['run_s'], 's')}, {self.processes} at a time")

    def _search(self, found):
        number = 0
        while rung := self._propose(found):
            number += 1
            for seed, candidates in sorted(rung.items()):
                self._try(found, f"search-{number:02d}-seed-{seed}", candidates, seed)
            best = min(search.standings(found.history), key=lambda one: one.score)
            self.say(f"search, rung {number}: {len(found.history)} of {self._search_runs(found)} runs; best so far: "
                     + tune_axes.words(found.axes, best.candidate))
        found.runs["search"] = len(found.history)
        found.seeds = self.tune.seeds(found.history)

    # --- What is confirmed, with seeds that the search has not seen.

    @property
    def _fresh(self):
        return fresh_seed(self.tune, CONFIRM)

    def _compare(self, found, part, name, settings, first_seed, known=()):
        """{setting: [Result]} of runs with the seeds that are compared now. Where runs are found to differ from seed to seed, they and all that is
        compared later get as many as the file says. `part`: of found.runs; `settings`: {name: options}; `known`: [Result] of the setting that all
        are compared with, if it is not the first one."""
        results = self.campaigns.run(name, settings, first_seed, found.seeds)
        self._count(found, part, len(settings) * found.seeds)
        if found.seeds < self.tune.confirm and self._differ(known or next(iter(results.values())), results.values()):
            found.seeds = self.tune.confirm
            results = self._complete(found, part, name, settings, first_seed, results)
        return results

    def _differ(self, baseline, results):
        """Whether runs of a setting differ: in the figure beside that of the baseline's run with the same seed, or in anything else that is judged."""
        values = [result.value for result in baseline]
        return any(decide.differ(values, [result.value for result in of_one]) or len({self._others(result) for result in of_one}) > 1
                   for of_one in results)

    def _others(self, result):
        """What is judged of a run besides the figure."""
        if result.run is None:
            return (result.excess,)
        figures = key_figures(result.run)
        return (result.excess, *(figures[one.name] for one in objective.beside(self.tune.figure)), *objective.observed(result.record).values())

    def _complete(self, found, part, name, settings, first_seed, results):
        """The same results, and runs with the seeds that they do not have."""
        done = len(next(iter(results.values())))
        more = self.campaigns.run(f"{name}-more", settings, first_seed + done, found.seeds - done)
        self._count(found, part, len(settings) * (found.seeds - done))
        return {key: [*of_one, *more[key]] for key, of_one in results.items()}

    @staticmethod
    def _count(found, part, runs):
        found.runs[part] = found.runs.get(part, 0) + runs

    def _propose_setting(self, found):
        """From the finalists to the setting that is proposed, and its neighbours."""
        confirmed = self._confirm(found)
        self._around(found, confirmed, "around")
        if self._move(found, confirmed) or found.pairs < found.seeds:
            self._around(found, confirmed, "around-again")

    def _confirm(self, found):
        """{candidate: [Result]} of the present setting and the finalists."""
        candidates = [found.present, *found.finalists]
        names = [PRESENT, *(f"finalist-{place}" for place in range(1, len(candidates)))]
        results = self._compare(found, "confirmation", "confirm", {name: self.options(found, one) for name, one in zip(names, candidates)},
                                self._fresh)
        confirmed = dict(zip(candidates, (results[name] for name in names)))
        self._decide(found, confirmed)
        return confirmed

    def _decide(self, found, confirmed):
        """What is proposed, by these runs of the present setting and the finalists: {candidate: [Result]}."""
        found.values = [[result.value for result in confirmed[one]] for one in (found.present, *found.finalists)]
        found.changes = decide.confirmed(self.figure, found.values[0], found.values[1:])
        found.keeps = [_kept(confirmed[one]) for one in found.finalists]
        found.present_keeps = _keeps(confirmed[found.present])
        found.pairs = found.seeds
        behind = confirmed
        if found.present_keeps and (again := decide.again(found.changes, found.keeps, found.seeds, self._most_seeds)):
            behind = confirmed | self._confirm_again(found, *again)
        found.chosen = decide.choose(found.changes, found.keeps, found.present_keeps)
        self._costs(found, behind)
        self.say(f"confirmed with {found.pairs} fresh seeds: " + (
            "no finalist is better than the present setting" if found.chosen is None else f"proposed is {tune_axes.words(found.axes, found.best)}"))

    @property
    def _most_seeds(self):
        """Of one campaign; None: any number."""
        return find_values.ROUNDS_MAX if self.tune.figure == objective.CAPACITY else None

    def _confirm_again(self, found, index, seeds):
        """Replaces the change of a finalist by that of other seeds, and more of them. {candidate: [Result]} of it and of the present setting."""
        candidates = {PRESENT: found.present, f"finalist-{index + 1}": found.finalists[index]}
        results = self.campaigns.run("confirm-again", {name: self.options(found, one) for name, one in candidates.items()},
                                     fresh_seed(self.tune, CONFIRM_AGAIN), seeds)
        present, other = results.values()
        found.again = (index, *([result.value for result in side] for side in (present, other)))
        found.changes[index] = decide.confirmed_again(self.figure, *found.again[1:])
        found.keeps[index] &= _kept(other)
        found.present_keeps = _keeps(present)
        found.pairs = seeds
        self._count(found, "confirmation", 2 * seeds)
        return {found.present: present, found.finalists[index]: other}

    def _costs(self, found, behind):
        """What other figures say of the chosen setting, and what constraints look at. `behind`: [Result] of the confirmation that decided."""
        sides = [behind[one] for one in dict.fromkeys((found.present, found.best))]
        records = [[result.record for result in side] for side in sides]
        found.beside, found.sustained = [], None
        if any(record is None for side in records for record in side):
            return
        found.observed = [{key: decide.mean([objective.observed(record)[key] for record in side]) for key in objective.observed({})}
                          for side in records]
        runs = [[result.run for result in side] for side in sides]
        if found.chosen is None or any(run is None for side in runs for run in side):  # or searches of a capacity
            return
        found.sustained = tuple(_sustained(side) for side in runs)
        figures = [(figure, *([key_figures(run)[figure.name] for run in side] for side in runs))
                   for figure in objective.beside(self.tune.figure)]
        figures = [one for one in figures if None not in one[1] and None not in one[2]]
        losses = [(figure, *([objective.observed(record)[key] for record in side] for side in records)) for key, figure in objective.LOSSES.items()]
        figures += [one for one in losses if any(one[1]) or any(one[2])]
        found.beside = [(one[0], change) for one, change in zip(figures, decide.changes(figures))]

    # --- Around the proposal, and with other loads.

    def _move(self, found, confirmed):
        """Proposes the best of the neighbours that are certainly better than what was chosen, if runs with other seeds say so, too. Whether it is
        proposed. `confirmed`: {candidate: [Result]}."""
        if (near := max(found.better_neighbours, key=lambda one: one.change.gain, default=None)) is None:
            return False
        candidates = {PRESENT: found.present, **({} if found.chosen is None else {PROPOSED: found.best}), NEIGHBOUR: near.candidate}
        results = self.campaigns.run("confirm-neighbour", {name: self.options(found, one) for name, one in candidates.items()},
                                     fresh_seed(self.tune, CONFIRM_NEIGHBOUR), self.tune.confirm)
        self._count(found, "confirmation of a neighbour", len(candidates) * self.tune.confirm)
        if self._differ(results[PRESENT], results.values()):
            found.seeds = self.tune.confirm
        values = {name: [result.value for result in of_one] for name, of_one in results.items()}
        present_keeps = found.present_keeps and _keeps(results[PRESENT])
        change, replaces = decide.replaces(self.figure, values[NEIGHBOUR], values[PRESENT], values.get(PROPOSED), present_keeps)
        if not replaces or not _kept(results[NEIGHBOUR]):
            return False
        found.finalists.append(near.candidate)
        found.changes.append(change)
        found.keeps.append(True)
        found.values.append([result.value for result in confirmed[near.candidate]])
        found.chosen, found.moved, found.pairs = len(found.finalists) - 1, (values[PRESENT], values[NEIGHBOUR]), self.tune.confirm
        found.present_keeps = present_keeps
        self._costs(found, {candidate: results[name] for name, candidate in candidates.items()})
        self.say(f"a neighbour is certainly better, with {found.pairs} other seeds, too: proposed is {tune_axes.words(found.axes, found.best)}")
        return True

    def _around(self, found, confirmed, name):
        near = [one for one in tune_axes.around(found.axes, found.best, found.present) if self.campaigns.is_possible(self.options(found, one[-1]))]
        new = {f"near-{number}": candidate for number, (_, _, candidate) in enumerate(near, start=1) if candidate not in confirmed}
        if new:
            results = self._compare(found, "neighbours", name, {key: self.options(found, one) for key, one in new.items()}, self._fresh,
                                    confirmed[found.best])
            confirmed |= {candidate: results[key] for key, candidate in new.items()}
        best = found.best
        self._complete_confirmed(found, confirmed, (found.present, *found.finalists, *(candidate for _, _, candidate in near)), f"{name}-before")
        if found.best != best:
            self._around(found, confirmed, "around-other")
            return
        values = {candidate: [result.value for result in results] for candidate, results in confirmed.items()}
        changes = decide.changes([(self.figure, values[found.best], values[candidate]) for _, _, candidate in near])
        kept = {candidate: _counted(results) for candidate, results in confirmed.items()}
        breaks = _breaks([(kept[found.best], kept[candidate]) for _, _, candidate in near])
        found.neighbours = [Neighbour(axis.name, words, candidate, decide.median(values[candidate]), change, kept[candidate], more_often)
                            for (axis, words, candidate), change, more_often in zip(near, changes, breaks)]

    def _complete_confirmed(self, found, confirmed, candidates, name):
        """Runs with further seeds of what was compared before runs were found to differ; then it is decided again what is proposed."""
        short = {f"before-{place}": candidate for place, candidate in enumerate(dict.fromkeys(candidates), start=1)
                 if len(confirmed[candidate]) < found.seeds}
        if not short:
            return
        results = self._complete(found, "confirmation", name, {key: self.options(found, one) for key, one in short.items()}, self._fresh,
                                 {key: confirmed[one] for key, one in short.items()})
        confirmed |= {candidate: results[key] for key, candidate in short.items()}
        if found.moved is None:
            self._decide(found, confirmed)

    def _loads(self, found, answer):
        """The chosen setting with other loads."""
        taken, compared = {axis.name for axis in found.axes}, []
        for number, (words, more) in enumerate(self._other_loads(answer) if found.chosen is not None else (), start=1):
            options = {name: self.options(found, candidate, more) for name, candidate in ((PRESENT, found.present), ("proposed", found.best))}
            if taken & dict(more).keys() or not all(self.campaigns.is_possible(one) for one in options.values()):
                continue
            results = self._compare(found, "other loads", f"load-{number}", options, self._fresh)
            values = [[result.value for result in results[name]] for name in options]
            sustained = None if self.tune.figure == objective.CAPACITY else tuple(
                _sustained([result.run for result in results[name]]) for name in options)
            compared.append((words, values, sustained, [_counted(results[name]) for name in options]))
        changes = decide.changes([(self.figure, *values) for _, values, _, _ in compared])
        breaks = _breaks([kept for _, _, _, kept in compared])
        found.loads = [Load(words, change, sustained, *kept, more_often)
                       for (words, _, sustained, kept), change, more_often in zip(compared, changes, breaks)]

    def _other_loads(self, answer):
        """[(words, (option, text) pairs)]: other rates, but of a rate that is looked for and of full load, and events of other sizes."""
        loads = []
        rate = find_values.value_of(QUANTITIES["rate"], answer.plan.get("rate", ""))
        if rate is not None and self.tune.figure != objective.CAPACITY and answer.plan.get("generation") != "saturate":
            find = find_values.Find("rate", 1, events="hold")
            loads += [(words, find_values.options_at(find, answer.plan, rate * factor)) for words, factor in RATES]
        size = tune_axes.number_of(answer.plan.get("event-size", ""))
        if size is not None and size[1] == "B":
            whole = size[0] / math.prod(find_values.scales_of(answer.plan))
            loads += [(words, (("event-size", size_text(round(whole * factor))),)) for words, factor in EVENTS]
        return loads


def _corners(axes):
    """Each axis at its ends, with the others at their ends and in their middles: what can act at all may act there only."""
    found = {}
    for place in (0.0, 1.0):
        for others in (0.0, 0.5, 1.0):
            for chosen in axes:
                found[tuple(axis.value_at(place if axis is chosen else others) for axis in axes)] = None
    return list(found)


def _kept(results):
    """Whether all runs of a setting ended with the figure, and kept what was asked for: a run that died says nothing good of it."""
    return _keeps(results) and all(result.value is not None for result in results)


def _keeps(results):
    """Whether no run of a setting broke a constraint."""
    return all(result.excess == 0.0 for result in results)


def _counted(results):
    """The Kept of a setting's runs. What they did that was not asked for stands there once."""
    return Kept(len(results), sum(result.excess > 0.0 for result in results),
                tuple(dict.fromkeys(words for result in results for words in result.broken)), sum(bool(result.died) for result in results))


def _breaks(compared):
    """Whether the second Kept of each pair has certainly more runs that broke a constraint than the first one."""
    return decide.breaks([tuple((kept.broke, kept.runs) for kept in pair) for pair in compared])


def _sustained(runs):
    return sum(bool(run and run.verdict.get("sustained")) for run in runs)
