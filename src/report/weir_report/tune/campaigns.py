"""Settings as campaigns of the simulator: what is run, in which directory, and what its runs gave."""

from __future__ import annotations

import dataclasses
import json

from ..basics import programs, toml_file
from ..compare import capacity_estimates
from ..runs.run import read_run
from ..sweep import continued, dry_runs, find_collect, run_plan, slurm_jobs, submission
from ..sweep.file import parse_sweep
from . import axes as tune_axes, objective
from .tune_file import is_key_of_switch

WORLD = "simulation"
# Seeds of the confirmation begin so far behind those of the search, which never gets there.
FRESH_SEEDS = 1000


@dataclasses.dataclass(frozen=True)
class Answer:
    """What weir's dry run says of a setting. `refused`: why weir does not take it, or None; `pressure`: its settings, as in the dry run;
    `cpu_s`: of a run, None: not known before."""

    refused: str | None
    pressure: tuple = ()
    cpu_s: float | None = None
    plan: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Result:
    """One run of a setting, or with a capacity one search. `value`: of the figure; `excess`: of the constraints; `run`: None of a search."""

    value: float | None
    excess: float = 0.0
    run: object = None


class Campaigns:
    def __init__(self, tune, directory, say, jobs=None, as_array=False):
        self.tune, self.directory, self.say = tune, directory, say
        self.jobs, self.as_array = jobs, as_array
        self.weir = programs.find_weir()
        self.made = 0  # runs of this call and of those before
        self._asked = {}

    # --- Settings as options.

    def of_candidate(self, axes, candidate, more=()):
        """{option of weir simulate: text or texts} of a candidate. `more`: (option, text) pairs besides."""
        return self._options(tune_axes.texts_of(axes, candidate), more)

    def of_present(self, more=()):
        """The same of the present setting: what the file says, and no more, for a value that is given may change what follows from its default."""
        return self._options(self.tune.present, more)

    def _options(self, texts, more):
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
                None, tuple((document.get("pressure") or {}).get("settings") or ()), (document.get("packets") or {}).get("cpu_seconds"),
                document["plan"])
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

    @property
    def first_seed(self):
        return int(self.tune.document.get("run", {}).get("seed", 1))

    def run(self, name, settings, first_seed, repetitions=1):
        """Makes the runs of a campaign that are missing: {setting: [Result of each repetition]}. `settings`: {name: options}. Raises ReportError,
        Interrupted."""
        sweep = self._sweep(name, settings, first_seed, repetitions)
        directory = self.directory / name
        campaign = continued.complete(sweep, WORLD, directory)
        if campaign is None:
            campaign = continued.make(submission.prepare(sweep, WORLD, directory), self.say, self.jobs, self.as_array)
        self.made += len(settings) * repetitions
        return (self._limits if campaign.plan.find else self._runs)(campaign, settings, repetitions)

    def _runs(self, campaign, settings, repetitions):
        states = {state.point.number: state for state in continued.states(campaign, WORLD)}
        stands_for = run_plan.simulated_points(campaign.plan)[1]
        found = {key: [Result(None)] * repetitions for key in settings}
        for point in campaign.plan.points:
            state = states[stands_for[point.number]]
            if state.state == "complete":
                run = read_run(state.directory)
                key = dict(campaign.plan.setting_of(point).values)["setting"]
                found[key][point.repetition - 1] = Result(objective.value_of(self.tune.figure, run), self.tune.constraints.excess(run.record), run)
        return found

    def _limits(self, campaign, settings, repetitions):
        """The rates that half of the runs of each round hold; at an end of the range, that end."""
        capacity = find_collect.capacity_of(campaign.world(WORLD), slurm_jobs.Jobs().is_running)
        by_name = {setting.values.get("setting", next(iter(settings))): setting for setting in capacity.settings}
        found = {}
        for key in settings:
            searches = {one.round: one for one in by_name[key].searches if one.complete} if key in by_name else {}
            found[key] = [Result(capacity_estimates.value_of(capacity, searches[number])) if number in searches else Result(None)
                          for number in range(1, repetitions + 1)]
        return found
