"""Settings as campaigns of the simulator: what is run, in which directory, and what its runs gave."""

from __future__ import annotations

import dataclasses
import json

from weir_compare.comparison import capacity_estimates
from weir_compare.sweep import continued, dry_runs, find_state, run_plan, submission
from weir_compare.sweep.campaign import Campaign
from weir_compare.sweep.sweep_file import parse_sweep
from weir_runs.basics import programs, toml_file, whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.reading.run import read_run
from . import axes as tune_axes, objective
from .tune_file import is_key_of_switch

WORLD = "simulation"
# Seeds of the confirmation begin so far behind those of the search, which never gets there; those of the second one
# twice as far, and so on.
FRESH_SEEDS = 1000
CONFIRM, CONFIRM_AGAIN, CONFIRM_NEIGHBOUR, CONFIRM_FILE, CONFIRM_FEWEST = range(1, 6)
# In a campaign's directory: runs that did not end by themselves, and were repeated once in vain.
DIED = "died.json"
# Exit status of a simulation that weir does not take.
REFUSED = 2


@dataclasses.dataclass(frozen=True)
class Answer:
    """What weir's dry run says of a setting. `refused`: why weir does not take it, or None; `pressure`: its settings,
    as in the dry run; `cpu_s`: of a run, None: not known before."""

    refused: str | None
    pressure: tuple = ()
    cpu_s: float | None = None
    plan: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Result:
    """One run of a setting, or with a capacity one search. `value`: of the figure; `excess`, `broken`: as of
    objective.Constraints; `run`: None of a search; `record`: what constraints looked at, of a search the run at its
    limit; `died`: why there is nothing, though the setting is not to blame for it."""

    value: float | None
    excess: float = 0.0
    broken: tuple = ()
    run: object = None
    record: dict | None = None
    died: str = ""


class Campaigns:
    def __init__(self, tune, directory, say, jobs=None, as_array=False):
        self.tune, self.directory, self.say = tune, directory, say
        self.jobs, self.as_array = jobs, as_array
        self.weir = programs.find_weir()
        self.died = {}  # {run: why it did not end by itself}
        self._asked = {}

    # --- Settings as options.

    def of_candidate(self, axes, candidate, more=()):
        """{option of weir simulate: text or texts} of a candidate. `more`: (option, text) pairs besides."""
        return self.of_texts(tune_axes.texts_of(axes, candidate), more)

    def of_present(self, more=()):
        """The same of the present setting: what the file says, and no more, for a value that is given may change what
        follows from its default."""
        return self.of_texts(self.tune.present, more)

    def of_setting(self, found, candidate, more=()):
        """The same of any candidate of a tuning, which may be the present one."""
        return self.of_present(more) if candidate == found.present else self.of_candidate(found.axes, candidate, more)

    def of_texts(self, texts, more=()):
        """The same of {option or key of the switch: text}."""
        options = {name: text for name, text in texts.items() if not is_key_of_switch(name)} | dict(more)
        keys = {name: text for name, text in texts.items() if is_key_of_switch(name)}
        if keys:
            own = [pair for pair in self.tune.switch_keys if pair.partition("=")[0] not in keys]
            options["switch-set"] = [*own, *(f"{name}={text}" for name, text in keys.items())]
        return options

    # --- Without runs.

    def ask(self, options):
        """The Answer of weir's dry run to a setting's options. Asked once."""
        key = json.dumps(options, sort_keys=True)
        if key not in self._asked:
            sweep = self._sweep("asked", {"asked": options}, 1, 1)
            plan = run_plan.make_plan(sweep)
            given = dry_runs.in_world(plan.settings[0], sweep.simulation.options, True)
            document, message = dry_runs.dry_run(self.weir, "simulate", given, sweep.path.parent)
            self._asked[key] = Answer(message) if message else Answer(
                None, tuple((document.get("pressure") or {}).get("settings") or ()),
                (document.get("packets") or {}).get("cpu_seconds"), document["plan"])
        return self._asked[key]

    def is_possible(self, options):
        """Whether weir takes a setting."""
        return self.ask(options).refused is None

    # --- Runs.

    def _sweep(self, name, settings, first_seed, repetitions):
        document = dict(self.tune.document)
        run = {**document.get("run", {}), "seed": first_seed}
        document |= {"name": f"{self.tune.name}-{name}"[:64], "repetitions": repetitions, "run": run,
                     "axes": {"setting": [{"name": key, "simulate": options} for key, options in settings.items()]}}
        if self.tune.figure == objective.CAPACITY:
            document["find"] = {"what": "rate", "rounds": repetitions}
        return parse_sweep(self.tune.path, toml_file.text(document))

    def run(self, name, settings, first_seed, repetitions=1, needed=None):
        """Makes the runs of a campaign that are missing: {setting: [Result of each repetition]}. `settings`: {name:
        options}. Runs that do not end by themselves are repeated once; then they stay as they are, so that what follows
        from the others stays, too. `needed`: the setting without whose runs nothing can follow. Raises ReportError,
        Interrupted."""
        sweep, directory = self._sweep(name, settings, first_seed, repetitions), self.directory / name

        def made():
            return continued.make(submission.prepare(sweep, WORLD, directory), self.say, self.jobs, self.as_array)

        campaign = continued.complete(sweep, WORLD, directory, settled=(directory / DIED).exists())
        results = self._results(campaign or made(), settings, repetitions)
        if campaign is None and _died(results):
            results = self._results(made(), settings, repetitions)
            self._settle(directory, _died(results), needed)
        self.died |= {f"{name}, {_words(key, settings[key])}, seed {first_seed + number - 1}": why
                      for key, number, why in _died(results)}
        return results

    @staticmethod
    def _settle(directory, died, needed):
        if why := next((why for key, _, why in died if key == needed), None):
            raise ReportError(f"{directory}: a run of the {needed} setting did not end by itself, nor when it was "
                              f"repeated: {why}")
        if died:
            whole_file.replace(directory / DIED, whole_file.json_text(died))

    def seconds_of(self, names, count):
        """How long each of `count` runs of these campaigns took, or with a capacity each search."""
        campaigns = [Campaign(self.directory / name) for name in names]
        for campaign in campaigns:
            campaign.plan = campaign.read_plan()
        return sum(sum(continued.seconds_of_runs(campaign, WORLD)) for campaign in campaigns) / count

    def _results(self, campaign, settings, repetitions):
        return (self._limits if campaign.plan.find else self._runs)(campaign, settings, repetitions)

    def _runs(self, campaign, settings, repetitions):
        states = {state.point.number: state for state in campaign.world(WORLD).states()}
        stands_for = run_plan.simulated_points(campaign.plan)[1]
        found = {key: [Result(None)] * repetitions for key in settings}
        for point in campaign.plan.points:
            key = dict(campaign.plan.setting_of(point).values)["setting"]
            found[key][point.repetition - 1] = self._of_run(states[stands_for[point.number]])
        return found

    def _of_run(self, state):
        if state.state != "complete":
            return Result(None, died=_why_died(state))
        run = read_run(state.directory)
        return Result(objective.value_of(self.tune.figure, run), **self._kept(run.record), run=run)

    def _kept(self, record):
        constraints = self.tune.constraints
        return {"excess": constraints.excess(record), "broken": constraints.broken(record), "record": record}

    def _limits(self, campaign, settings, repetitions):
        """The rates that half of the runs of each round hold; at an end of the range, that end. Constraints look at the
        runs with the largest rate that a round found to be sustained."""
        capacity = find_state.FindState(campaign.world(WORLD)).capacity()
        by_name = {setting.values.get("setting", next(iter(settings))): setting for setting in capacity.settings}
        found = {}
        for key in settings:
            searches = {one.round: one for one in by_name[key].searches if one.complete} if key in by_name else {}
            missing = Result(None, died=by_name[key].stopped
                             or "the search is not complete") if key in by_name else Result(None)
            found[key] = [self._of_limit(campaign, capacity, searches[number]) if number in searches else missing
                          for number in range(1, repetitions + 1)]
        return found

    def _of_limit(self, campaign, capacity, search):
        held = [read_run(campaign.directory / trial.directory).record for trial in search.runs
                if trial.held and trial.value == search.low and trial.directory]
        worst = max(held, key=self.tune.constraints.excess, default=None)
        return Result(capacity_estimates.value_of(capacity, search), **(self._kept(worst) if worst is not None else {}))


def fresh_seed(tune, stage):
    """The first seed of a stage behind the search, such as CONFIRM."""
    return tune.first_seed + stage * FRESH_SEEDS


def _died(results):
    """[(setting, repetition, why it has no result, which is not the setting's fault)]"""
    return [(key, number, result.died) for key, of_setting in results.items()
            for number, result in enumerate(of_setting, start=1) if result.died]


def _words(key, options):
    """003 slots=4 ecn.none-below=50kB"""
    pairs = [(name, text) for name, given in options.items() for text in ([given] if isinstance(given, str) else given)]
    return " ".join([key, *(text if name == "switch-set" else f"{name}={text}" for name, text in pairs)])


def _why_died(state):
    """Why a run is not complete, which says nothing of its setting; empty if weir refused it, which does."""
    if state.last is not None and (state.last.end or {}).get("exit_status") == REFUSED:
        return ""
    return state.reason or state.state
