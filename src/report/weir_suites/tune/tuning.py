"""The course of weir-sweep tune: present setting, rungs of the search, confirmation, neighbours, other loads. Each is a
campaign, and what follows depends on their runs alone; so the same command continues."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
from pathlib import Path

from weir_compare.comparison import what_was_run
from weir_compare.sweep import continued
from weir_runs.basics import programs, toml_file, whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_object
from weir_runs.basics.units import duration, text
from . import acting, axes as tune_axes, candidate_search, decide, objective, tune_file
from .campaigns import Campaigns
from .confirmation import Confirmation, FEWEST, NEIGHBOUR, PRESENT, PROPOSED, other_loads, others
from .found import Found

SCHEMA = "weir-tune-begun/1"
# Number of the rules by which runs follow from runs: a tuning with others cannot be continued.
RULES = 6
# In the directory: what a budget in time came to, so that a continued tuning has the same.
BUDGET_FILE = "budget.json"


class NothingCanAct(Exception):
    """No axis can act in this plan: what to say."""


@dataclasses.dataclass(frozen=True)
class Forecast:
    """What is known before anything is run. `runs`: {part: number}; none of a budget in time, where it is not known how
    long a run takes."""

    idle: dict  # {axis: why it cannot act}
    answer: object  # of campaigns.Answer, on the present setting
    drawn: int  # settings of the axes
    refused: int  # of these, by weir
    why_refused: str
    runs: dict = dataclasses.field(default_factory=dict)
    run_s: float | None = None  # processor time of each; None: not known
    processes: int = 1
    first: int = candidate_search.FIRST_LEAST  # runs that tell how long one takes


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
        continued.begin(self.directory, "begun.json", record, {"rules": "by another version of weir-sweep",
                                                               "file_sha256": "with another file",
                                                               "budget": "with another budget"})
        whole_file.replace(self.directory / "tune.toml", self.tune.text)

    def rehearsed(self):
        """Forecast without the runs. Raises ReportError, NothingCanAct."""
        tune, campaigns = self.tune, self.campaigns
        answer = campaigns.ask(campaigns.of_present())
        if answer.refused:
            blamed = [f"tune.present.{name}: " for name, text in tune.present.items()
                      if campaigns.ask(campaigns.of_texts({name: text})).refused]
            raise ReportError(f"{tune.path}: {''.join(blamed)}the present setting cannot be run: {answer.refused}")
        for axis in tune.axes:
            if text := self._present_text(axis.name, answer):
                self._with_text(axis, text)
        drawn, corners = ([campaigns.ask(campaigns.of_candidate(tune.axes, candidate)) for candidate in candidates]
                          for candidates in (
            candidate_search.halton(tune.axes, tune.seed, 4 * candidate_search.FIRST_LEAST), _corners(tune.axes)))
        possible = [one for one in (*drawn, *corners) if not one.refused]
        refused = [one.refused for one in drawn if one.refused]
        if not possible:
            raise ReportError(f"{tune.path}: tune.axes: none of {len(drawn) + len(corners)} settings drawn from these "
                              f"axes can be run: {refused[0]}")
        idle = acting.idle(tune.axes, [one.pressure for one in possible])
        if len(idle) == len(tune.axes):
            raise NothingCanAct("None of these axes can act in this plan, so no setting of them is better than the "
                                "present one: " + "; ".join(dict.fromkeys(idle.values())) + ".")
        return Forecast(idle, answer, len(drawn), len(refused),
                        collections.Counter(refused).most_common(1)[0][0] if refused else "", processes=self.processes)

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
        return dataclasses.replace(made, run_s=run_s, runs={"search": tune.search_runs(),
                                                            "confirmation": tune.budget - tune.search_runs(),
                                                            "afterwards": self._afterwards(tune, made.answer)})

    def _afterwards(self, tune, answer):
        """Runs besides those of the budget, at most."""
        near = sum(3 if not axis.is_choice else min(tune_axes.CHOICES_MAX + 1, len(axis.values) - 1)
                   for axis in tune.axes)
        moved = len((PRESENT, PROPOSED, NEIGHBOUR)) + near
        fewest = decide.AGAIN_MOST * len((PRESENT, PROPOSED, FEWEST)) + 1 + near
        return (near + moved + fewest + 2 * decide.AGAIN_MOST + 2 * len(other_loads(self.tune, answer))
                + len((PRESENT, PROPOSED))) * tune.confirm

    def _runs_in_time(self, run_s, answer):
        """The budget in runs of one in time, if each takes so long. Raises ReportError."""
        def total(budget):
            tune = dataclasses.replace(self.tune, budget=budget)
            return budget + self._afterwards(tune, answer)

        least = self.tune.budget
        found = runs_in(self.tune.budget_s, total, least, run_s, self.processes)
        if found is None:
            raise ReportError(f"{self.tune.path}: tune.budget: {duration(self.tune.budget_s)} is too short: the fewest "
                              f"runs that give an answer are {total(least)}, and take about "
                              f"{duration(seconds_of(total(least), run_s, self.processes))} on {self.processes} cores")
        return found

    def run(self):
        """Found. Raises ReportError, NothingCanAct, continued.Interrupted."""
        forecast = self.rehearsed()
        idle, answer = forecast.idle, forecast.answer
        first = self.campaigns.run(PRESENT, {PRESENT: self.campaigns.of_present()}, self.tune.first_seed,
                                   needed=PRESENT)[PRESENT][0]
        if first.value is None:
            raise ReportError(f"{self.tune.path}: tune.figure: a run of the present setting has no {self.figure.title}"
                              + ("; with generation steady or saturate, tune for goodput"
                                 if self.tune.figure == objective.MARGIN else ""))
        unseen = self.tune.constraints.unseen(first.record) if first.record is not None else None
        if unseen:
            raise ReportError(f"{self.tune.path}: tune.{unseen}: runs of this network do not count packets; write "
                              "network = \"packet\" into [simulation], or leave it out")
        axes, present = self._with_present(answer, first)
        found = Found(axes, present, [self._trial(present, 1, first)], idle)
        found.facts = what_was_run.facts_of_plan(answer.plan, self.tune.given("switch"))
        if self.tune.budget_s:
            self._measure(found, answer)
        self._search(found)
        found.finalists = candidate_search.finalists(found.history, axes, present, self.tune.seed)
        confirmation = Confirmation(self.tune, self.campaigns, self.say, found)
        confirmation.propose()
        confirmation.loads(answer)
        found.died = dict(self.campaigns.died)
        pressure = self.campaigns.ask(self.campaigns.of_setting(found, found.best)).pressure
        found.silent = acting.silent([entry for entry in pressure if entry["setting"] not in (found.acted or ())])
        return found

    # --- The present setting.

    def _with_present(self, answer, first):
        """(the axes, of which lists have the present values, too; the present candidate)."""
        axes, present = [], []
        for axis in self.tune.axes:
            text = self._present_text(axis.name, answer) or self._default_of_switch(axis.name, first)
            if text is None:
                raise ReportError(f"{self.tune.path}: tune.axes.{axis.name}: the present value is not known: a run "
                                  "shows none; write it into [tune.present]")
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
            raise ReportError(f"{self.tune.path}: tune.axes.{axis.name}: the present value {error}; write another one "
                              "into [tune.present]") from error

    # --- The search.

    def _trial(self, candidate, seed, result):
        return candidate_search.Trial(candidate, seed, objective.score(self.tune.figure, result.value), result.excess,
                                      bool(result.died), others(self.tune.figure, result))

    def _search_runs(self, found):
        return self.tune.search_runs(found.history)

    def _propose(self, found):
        return candidate_search.propose(found.history, found.axes, found.present, self._search_runs(found),
                                        self.tune.seed,
                              lambda candidate: self.campaigns.is_possible(self.campaigns.of_setting(found, candidate)))

    def _try(self, found, name, candidates, seed):
        """Runs candidates of the search, and adds them to its history."""
        names = {f"{place:03d}": candidate for place, candidate in enumerate(candidates, start=1)}
        results = self.campaigns.run(name, {key: self.campaigns.of_setting(found, one) for key, one in names.items()},
                                     self.tune.first_seed + seed - 1)
        found.history += [self._trial(candidate, seed, results[key][0]) for key, candidate in names.items()]
        found.ruled_out |= {candidate: results[key][0].broken for key, candidate in names.items()
                            if results[key][0].broken}

    def _measure(self, found, answer):
        """A budget in time becomes one in runs, by how long the first ones take: those with which a search of the
        fewest runs begins."""
        names = [PRESENT]
        for seed, candidates in sorted(self._propose(found).items()):
            names.append(f"first-seed-{seed}")
            self._try(found, names[-1], candidates, seed)
        path = self.directory / BUDGET_FILE
        if not path.exists():
            run_s = self.campaigns.seconds_of(names, len(found.history)) + continued.RUN_S
            whole_file.replace(path, whole_file.json_text({"runs": self._runs_in_time(run_s, answer), "run_s": run_s}))
        known = read_object(path, "a record of weir-sweep")
        try:
            self.tune = dataclasses.replace(self.tune, budget=int(known["runs"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ReportError(f"{path}: damaged ({error}); remove it") from error
        self.say(f"budget: {self.tune.budget} runs of search and confirmation, for each of the first "
                 f"{len(found.history)} took {text(known['run_s'], 's')}, {self.processes} at a time")

    def _search(self, found):
        number = 0
        while rung := self._propose(found):
            number += 1
            for seed, candidates in sorted(rung.items()):
                self._try(found, f"search-{number:02d}-seed-{seed}", candidates, seed)
            best = min(candidate_search.standings(found.history), key=lambda one: one.score)
            self.say(f"search, rung {number}: {len(found.history)} of {self._search_runs(found)} runs; best so far: "
                     + tune_axes.words(found.axes, best.candidate))
        found.runs["search"] = len(found.history)
        found.seeds = self.tune.seeds(found.history)


def _corners(axes):
    """Each axis at its ends, with the others at their ends and in their middles: what can act at all may act there
    only."""
    found = {}
    for place in (0.0, 1.0):
        for beside in (0.0, 0.5, 1.0):
            for chosen in axes:
                found[tuple(axis.value_at(place if axis is chosen else beside) for axis in axes)] = None
    return list(found)


# --- How many runs a budget in time is worth.

# Campaigns of a tuning: the present setting, the rungs, two confirmations, the neighbours, the other loads.
CAMPAIGNS = 20


def seconds_of(runs, run_s, processes):
    """How long all of a tuning takes with so many runs of `run_s` seconds each, `processes` at a time."""
    return runs * run_s / processes + CAMPAIGNS * continued.CAMPAIGN_S


def runs_in(budget_s, total_of, least, run_s, processes):
    """The largest budget in runs, up to IN_TIME_MAX, with which all is expected to take `budget_s` seconds at most;
    None: not even `least` runs do. `total_of(budget)`: how many runs there are in all, which grows with the budget."""
    def fits(budget):
        return seconds_of(total_of(budget), run_s, processes) <= budget_s

    if not fits(least):
        return None
    low, high = least, tune_file.IN_TIME_MAX + 1  # it fits, it is one too many
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
