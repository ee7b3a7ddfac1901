"""The course of weir-sweep tune: present setting, rungs of the search, confirmation, neighbours, other loads. Each is a campaign, and what follows
depends on their runs alone; so the same command continues."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from pathlib import Path

from ..basics import toml_file, whole_file
from ..basics.errors import ReportError
from ..basics.quantities import size_text
from ..basics.units import counted
from ..runs.capacity import QUANTITIES
from ..runs.key_figures import key_figures
from ..sweep import continued, find_values
from . import acting, axes as tune_axes, decide, objective, search
from .campaigns import FRESH_SEEDS, Campaigns

SCHEMA = "weir-tune-begun/1"
# Number of the rules by which runs follow from runs: a tuning with others cannot be continued.
RULES = 1
PRESENT = "present"
# Values of an axis besides the chosen one: of numbers below and above, of choices so many others.
CHOICES_MAX = 3
RATES, EVENTS = (("80 % of the rate", 0.8), ("110 % of the rate", 1.1)), (("events half as large", 0.5), ("events twice as large", 2.0))
# Within this share of the best, a setting is as good.
FLAT = decide.SETTINGS.relevant


class NothingCanAct(Exception):
    """No axis can act in this plan: what to say."""


@dataclasses.dataclass(frozen=True)
class Neighbour:
    """A setting that differs from the chosen one in one axis. `words`: half, twice, present, or the value."""

    axis: str
    words: str
    candidate: tuple
    value: float | None  # median of the figure
    change: decide.Change  # against the chosen one
    keeps: bool  # all constraints, in all its runs


@dataclasses.dataclass(frozen=True)
class Load:
    """The chosen setting against the present one with another load. `sustained`: so many runs, of the present and of the chosen one."""

    words: str
    change: decide.Change
    sustained: tuple | None  # None: each is a search for the largest rate


@dataclasses.dataclass
class Found:
    """All that a tuning found. `values`: {name: figures of the confirming runs} of `present` and each finalist, in their order."""

    axes: tuple
    present: tuple
    history: list  # Trials of the search
    idle: dict  # {axis: why it cannot act}
    finalists: list = dataclasses.field(default_factory=list)
    changes: list = dataclasses.field(default_factory=list)  # of each against the present one
    keeps: list = dataclasses.field(default_factory=list)  # whether it keeps all constraints
    values: list = dataclasses.field(default_factory=list)
    present_keeps: bool = True
    pairs: int = 0  # of runs behind the chosen one's change
    chosen: int | None = None  # of finalists; None: none is better than the present one
    beside: list = dataclasses.field(default_factory=list)  # (KeyFigure, Change) of others than the figure
    observed: list = dataclasses.field(default_factory=list)  # means of what constraints look at: of the present one, of the chosen one
    sustained: tuple | None = None  # so many runs of the first confirmation, of the present setting and of the chosen one
    neighbours: list = dataclasses.field(default_factory=list)
    loads: list = dataclasses.field(default_factory=list)
    runs: dict = dataclasses.field(default_factory=dict)  # {part: number}

    @property
    def best(self):
        """The candidate that is proposed: the chosen one, or the present one."""
        return self.present if self.chosen is None else self.finalists[self.chosen]

    @property
    def change(self):
        return None if self.chosen is None else self.changes[self.chosen]

    def of_axis(self, name):
        return [neighbour for neighbour in self.neighbours if neighbour.axis == name]

    def judged(self, name):
        if any(not neighbour.keeps for neighbour in self.of_axis(name)) and (self.present_keeps or self.chosen is not None):
            return decide.MATTERS
        return decide.judged([neighbour.change for neighbour in self.of_axis(name)])


class Tuning:
    def __init__(self, tune, directory, say, jobs=None, as_array=False):
        self.tune, self.say = tune, say
        self.directory = Path(directory).resolve()
        self.campaigns = Campaigns(tune, self.directory, say, jobs, as_array)
        self.figure = objective.FIGURES[tune.figure]

    def begin(self):
        """Writes what is tuned, or checks that it continues what is there. Raises ReportError."""
        whole = self.tune.text + toml_file.text(self.tune.document)
        record = {"schema": SCHEMA, "rules": RULES, "file_sha256": hashlib.sha256(whole.encode()).hexdigest(), "budget": self.tune.budget}
        continued.begin(self.directory, "begun.json", record, {"rules": "by another version of weir-sweep", "file_sha256": "with another file",
                                                               "budget": "with another budget"})
        whole_file.replace(self.directory / "tune.toml", self.tune.text)

    def rehearsed(self):
        """({axis: why it cannot act}, the Answer on the present setting), without a run. Raises ReportError, NothingCanAct."""
        answer = self.campaigns.ask(self.campaigns.of_present())
        if answer.refused:
            raise ReportError(f"{self.tune.path}: the present setting cannot be run: {answer.refused}")
        sample = [self.campaigns.ask(self.campaigns.of_candidate(self.tune.axes, candidate))
                  for candidate in (*search.halton(self.tune.axes, self.tune.seed, 4 * search.FIRST_LEAST), *_corners(self.tune.axes))]
        possible = [one for one in sample if not one.refused]
        if not possible:
            raise ReportError(f"{self.tune.path}: tune.axes: none of {len(sample)} settings drawn from these axes can be run: {sample[0].refused}")
        idle = acting.idle(self.tune.axes, [one.pressure for one in possible])
        if len(idle) == len(self.tune.axes):
            raise NothingCanAct("None of these axes can act in this plan, so no setting of them is better than the present one: "
                                + "; ".join(dict.fromkeys(idle.values())) + ".")
        return idle, answer

    def run(self):
        """Found. Raises ReportError, NothingCanAct, continued.Interrupted."""
        idle, answer = self.rehearsed()
        first = self.campaigns.run(PRESENT, {PRESENT: self.campaigns.of_present()}, self.campaigns.first_seed)[PRESENT][0]
        if first.value is None:
            raise ReportError(f"{self.tune.path}: tune.figure: a run of the present setting has no {self.figure.title}"
                              + ("; with generation steady or saturate, tune for goodput" if self.tune.figure == objective.MARGIN else ""))
        unseen = self.tune.constraints.unseen(first.run.record) if first.run is not None else None
        if unseen:
            raise ReportError(f"{self.tune.path}: tune.{unseen}: runs of this network do not count packets; write network = \"packet\" into "
                              "[simulation], or leave it out")
        axes, present = self._with_present(answer, first)
        found = Found(axes, present, [self._trial(present, 1, first)], idle)
        self._search(found)
        best = search.finalists(found.history, axes, self.tune.seed, search.FINALISTS + 1)
        found.finalists = [one for one in best if one != present][:search.FINALISTS]
        confirmed = self._confirm(found)
        self._around(found, confirmed)
        self._loads(found, answer)
        return found

    # --- The present setting.

    def _with_present(self, answer, first):
        """(the axes, of which lists have the present values, too; the present candidate)."""
        axes, present = [], []
        for axis in self.tune.axes:
            text = self.tune.present.get(axis.name) or self.tune.given(axis.name) or self._default(axis.name, answer, first)
            if text is None:
                raise ReportError(f"{self.tune.path}: tune.axes.{axis.name}: the present value is not known: a run shows none; write it into "
                                  "[tune.present]")
            try:
                widened, value = axis.with_text(text)
            except ValueError as error:
                raise ReportError(f"{self.tune.path}: tune.axes.{axis.name}: the present value {error}; write another one into "
                                  "[tune.present]") from error
            axes.append(widened)
            present.append(value)
        return tuple(axes), tuple(present)

    @staticmethod
    def _default(name, answer, first):
        """As the run has it; None: it does not show it."""
        section, _, key = name.rpartition(".")
        if not section:
            return answer.plan.get(name)
        record = first.run.record if first.run else {}
        return ((record.get("environment") or {}).get("packet_network") or {}).get(section, {}).get(key)

    # --- The search.

    def options(self, found, candidate, more=()):
        """{option of weir simulate: text or texts} of a candidate. `more`: (option, text) pairs besides."""
        if candidate == found.present:
            return self.campaigns.of_present(more)
        return self.campaigns.of_candidate(found.axes, candidate, more)

    def _trial(self, candidate, seed, result):
        return search.Trial(candidate, seed, objective.score(self.tune.figure, result.value), result.excess)

    def _search(self, found):
        number = 0
        while rung := search.propose(found.history, found.axes, found.present, self.tune.search_runs, self.tune.seed,
                                     lambda candidate: self.campaigns.is_possible(self.options(found, candidate))):
            number += 1
            for seed, candidates in sorted(rung.items()):
                names = {f"{place:03d}": candidate for place, candidate in enumerate(candidates, start=1)}
                results = self.campaigns.run(f"search-{number:02d}-seed-{seed}", {name: self.options(found, one) for name, one in names.items()},
                                             self.campaigns.first_seed + seed - 1)
                found.history += [self._trial(candidate, seed, results[name][0]) for name, candidate in names.items()]
            best = min(search.standings(found.history), key=lambda one: one.score)
            self.say(f"search, rung {number}: {len(found.history)} of {self.tune.search_runs} runs; best so far: "
                     + tune_axes.words(found.axes, best.candidate))
        found.runs["search"] = len(found.history)

    # --- What is confirmed, with seeds that the search has not seen.

    @property
    def _fresh(self):
        return self.campaigns.first_seed + FRESH_SEEDS

    def _confirm(self, found):
        """{candidate: [Result]} of the present setting and the finalists."""
        candidates = [found.present, *found.finalists]
        names = [PRESENT, *(f"finalist-{place}" for place in range(1, len(candidates)))]
        results = self.campaigns.run("confirm", {name: self.options(found, one) for name, one in zip(names, candidates)}, self._fresh,
                                     self.tune.confirm)
        by_candidate = dict(zip(candidates, (results[name] for name in names)))
        found.values = [[result.value for result in by_candidate[one]] for one in candidates]
        found.changes = decide.confirmed(self.figure, found.values[0], found.values[1:])
        found.keeps = [_kept(by_candidate[one]) for one in found.finalists]
        found.present_keeps = all(result.excess == 0.0 for result in by_candidate[found.present])
        found.runs["confirmation"] = len(candidates) * self.tune.confirm
        found.pairs = self.tune.confirm
        if found.present_keeps and (again := decide.again(found.changes, found.keeps, self.tune.confirm)):
            self._confirm_again(found, *again)
        found.chosen = decide.choose(found.changes, found.keeps, found.present_keeps)
        self._costs(found, by_candidate)
        self.say(f"confirmed with {found.pairs} fresh seeds: " + (
            "no finalist is better than the present setting" if found.chosen is None else f"proposed is {tune_axes.words(found.axes, found.best)}"))
        return by_candidate

    def _confirm_again(self, found, index, seeds):
        """Replaces the change of a finalist by that of other seeds, and more of them."""
        candidates = {PRESENT: found.present, f"finalist-{index + 1}": found.finalists[index]}
        results = self.campaigns.run("confirm-again", {name: self.options(found, one) for name, one in candidates.items()},
                                     self._fresh + FRESH_SEEDS, seeds)
        present, other = results.values()
        found.changes[index] = decide.confirmed_again(self.figure, *([result.value for result in side] for side in (present, other)))
        found.keeps[index] &= _kept(other)
        found.present_keeps = all(result.excess == 0.0 for result in present)
        found.pairs = seeds
        found.runs["confirmation"] += 2 * seeds

    def _costs(self, found, by_candidate):
        """What other figures say of the chosen setting, and what constraints look at."""
        runs = [[result.run for result in by_candidate[one]] for one in dict.fromkeys((found.present, found.best))]
        if any(run is None for side in runs for run in side):  # searches of a capacity, or runs that failed
            return
        found.observed = [{key: decide.mean([objective.observed(run.record)[key] for run in side]) for key in objective.observed({})}
                          for side in runs]
        if found.chosen is not None:
            found.sustained = tuple(_sustained(side) for side in runs)
            figures = [(figure, *([key_figures(run)[figure.name] for run in side] for side in runs))
                       for figure in objective.beside(self.tune.figure)]
            figures = [one for one in figures if None not in one[1] and None not in one[2]]
            found.beside = [(one[0], change) for one, change in zip(figures, decide.changes(figures))]

    # --- Around the proposal, and with other loads.

    def _around(self, found, confirmed):
        near = []
        for place, axis in enumerate(found.axes):
            before = found.present[place]
            others = [(PRESENT if value == before else words, value) for words, value in axis.neighbours(found.best[place])[:CHOICES_MAX]]
            if before not in (found.best[place], *(value for _, value in others)):
                others.append((PRESENT, before))
            for words, value in others:
                candidate = (*found.best[:place], value, *found.best[place + 1:])
                if self.campaigns.is_possible(self.options(found, candidate)):
                    near.append((axis, words, candidate))
        new = {f"near-{number}": candidate for number, (_, _, candidate) in enumerate(near, start=1) if candidate not in confirmed}
        if new:
            results = self.campaigns.run("around", {name: self.options(found, one) for name, one in new.items()}, self._fresh, self.tune.confirm)
            confirmed |= {candidate: results[name] for name, candidate in new.items()}
        values = {candidate: [result.value for result in results] for candidate, results in confirmed.items()}
        changes = decide.changes([(self.figure, values[found.best], values[candidate]) for _, _, candidate in near])
        found.neighbours = [Neighbour(axis.name, words, candidate, decide.median(values[candidate]), change,
                                      _kept(confirmed[candidate]))
                            for (axis, words, candidate), change in zip(near, changes)]
        found.runs["neighbours"] = len(new) * self.tune.confirm

    def _loads(self, found, answer):
        """The chosen setting with other loads."""
        taken, compared = {axis.name for axis in found.axes}, []
        for number, (words, more) in enumerate(self._other_loads(answer) if found.chosen is not None else (), start=1):
            options = {name: self.options(found, candidate, more) for name, candidate in ((PRESENT, found.present), ("proposed", found.best))}
            if taken & dict(more).keys() or not all(self.campaigns.is_possible(one) for one in options.values()):
                continue
            results = self.campaigns.run(f"load-{number}", options, self._fresh, self.tune.confirm)
            values = [[result.value for result in results[name]] for name in options]
            sustained = None if self.tune.figure == objective.CAPACITY else tuple(
                _sustained([result.run for result in results[name]]) for name in options)
            compared.append((words, values, sustained))
            found.runs["other loads"] = found.runs.get("other loads", 0) + 2 * self.tune.confirm
        changes = decide.changes([(self.figure, *values) for _, values, _ in compared])
        found.loads = [Load(words, change, sustained) for (words, _, sustained), change in zip(compared, changes)]

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

    def forecast(self):
        """What it will take: lines, without a run. Raises ReportError, NothingCanAct."""
        idle, answer = self.rehearsed()
        near = sum(3 if not axis.is_choice else min(CHOICES_MAX + 1, len(axis.values) - 1) for axis in self.tune.axes)
        more = (near + 2 * decide.AGAIN_MOST) * self.tune.confirm + len(self._other_loads(answer)) * 2 * self.tune.confirm
        return idle, answer, {"search": self.tune.search_runs, "confirmation": self.tune.budget - self.tune.search_runs, "afterwards": more}


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
    return all(result.value is not None and result.excess == 0.0 for result in results)


def _sustained(runs):
    return sum(bool(run and run.verdict.get("sustained")) for run in runs)


def settings_within(found):
    """(how many settings of the search are within FLAT of the best, how many were tried, {axis: the texts of their least and greatest value, or of
    their choices})."""
    tried = [one for one in search.standings(found.history)]
    best = min(one.score for one in tried)
    good = [one.candidate for one in tried if one.score <= best + FLAT]
    ranges = {}
    for place, axis in enumerate(found.axes):
        values = [candidate[place] for candidate in good]
        if axis.is_choice:
            ranges[axis.name] = [axis.text(value) for value in dict.fromkeys(values)]
        else:
            ranges[axis.name] = list(dict.fromkeys((axis.text(min(values)), axis.text(max(values)))))
    return len(good), len(tried), ranges


def counts(found):
    """120 runs of the search, 20 of the confirmation, ..."""
    return ", ".join(f"{counted(number, 'run') if place == 0 else number} of the {part}"
                     for place, (part, number) in enumerate(found.runs.items()) if number)
