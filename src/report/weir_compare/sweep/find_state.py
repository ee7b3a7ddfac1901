"""How far a campaign with `find` is: its points, read from their claims and run directories, and the searches that
follow from their outcomes. The claims are the only record, so whoever is killed, the next worker goes on from what is
there."""

from __future__ import annotations

import dataclasses
import os

from weir_runs.basics.errors import ReportError
from weir_runs.basics.quantities import seconds_of
from weir_runs.reading.capacity import Capacity, Search, Setting, Trial, write_capacity
from . import claim_files, find_values, run_plan, slurm_jobs
from .limit_search import Searches, Space

# Seeds of one value in one round: a second and third run get other traffic.
SEEDS_PER_ROUND = 3


def points(plan, directory):
    """All points begun, in their order, from the claims in `directory`."""
    made = []
    while True:
        name = f"{len(made) + 1:04d}"
        first = next(iter(claim_files.claims(directory, name)[:1]), None)
        if first is None:
            return made
        try:
            made.append(_point(plan, len(made) + 1, first.record["try"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ReportError(f"{first.path}: damaged ({error!r}); weir-sweep submit writes it") from error


def _point(plan, number, record):
    if not 0 <= record["setting"] < len(plan.settings):
        raise ValueError("no such setting")
    return run_plan.Point(number, record["setting"], record["round"], record["seed"], float(record["value"]),
                            tuple((key, text) for key, text in record["options"]), dict(record["plan"]))


def try_record(point):
    """What the first claim of a point keeps of it."""
    return {"setting": point.setting, "round": point.repetition, "seed": point.run_seed, "value": point.value,
            "options": [list(pair) for pair in point.options], "plan": point.expected}


def settings_here(world):
    return run_plan.simulated_settings(world.plan) if world.name == "simulation" else list(world.plan.settings)


def searches_of(plan, settings, spaces):
    """`settings`: those that are run; `spaces`: a Space for each, by its index."""
    stays = {}
    for setting in settings:
        stays.setdefault(setting.index if setting.switch is None else setting.switch, []).append(setting.index)
    return Searches(spaces, list(stays.values()), plan.find.rounds, plan.hold, plan.seed)


def outcome(state, criterion):
    """(held, why there is no outcome) of a PointState; held is None if there is none."""
    if state.state != "complete":
        return None, state.reason
    record = claim_files.record_in(state.directory / "run.json") or {}
    if criterion == "lossless":
        dropped = (record.get("switch") or {}).get("dropped_packets")
        return (None,
                f"{state.directory.name} has no count of what switches dropped") if dropped is None else (dropped == 0,
                                                                                                          "")
    verdict = record.get("verdict") or {}
    if criterion == "on-time" and verdict.get("on_time") is False:  # also where nothing tells whether it is sustained
        return False, ""
    held = verdict.get("sustained") if verdict.get("judged") else None
    if held and criterion == "on-time":
        held = verdict.get("on_time")
    if isinstance(held, bool):
        return held, ""
    why = (verdict.get("answer") or {}).get("verdict") or verdict.get("text", "it has no verdict")
    return None, (f"{state.directory.name} was not judged by whether it is {criterion}: "
                  f"{why.removeprefix('NOT JUDGED: ').rstrip('.')}")


@dataclasses.dataclass
class Tried:
    state: object  # PointState
    held: bool | None
    reason: str  # why it has no outcome


class FindState:
    def __init__(self, world):
        self.world = world
        self.plan = world.plan
        self._jobs = slurm_jobs.Jobs()
        self.settings = settings_here(world)
        base = world.expected_plans()
        self.spaces = {setting.index: _space(world, self.plan.find, base[setting.name], setting)
                       for setting in self.settings}
        self.base_plans = {setting.index: base[setting.name] for setting in self.settings}
        self.searches = searches_of(self.plan, self.settings, self.spaces)
        self.tried = []  # Tried, by the points' numbers
        self.refresh()

    def refresh(self):
        """Reads what is new: the points begun since, and the outcomes of those that had none."""
        known = {tried.state.point.number: tried for tried in self.tried if tried.held is not None}
        self.tried = [known.get(point.number) or self._read(point) for point in self.world.points()]

    def _read(self, point):
        state = self.world.state(point, self._jobs)
        held, reason = outcome(state, self.plan.find.criterion)
        if held is not None:
            self.searches.add(point.setting, point.repetition, point.value, held)
        return Tried(state, held, reason)

    def open(self, setting):
        """The point of a setting whose outcome is not known yet (failed, interrupted, under way): Tried, or None."""
        return next((tried for tried in self.tried if tried.state.point.setting == setting and tried.held is None),
                    None)

    def stopped(self, retry_failed=False):
        """Settings of which no more runs are made until they are retried, and why."""
        found = {}
        for setting in self.settings:
            tried = self.open(setting.index)
            if tried is None:
                continue
            if tried.state.state == "complete":
                found[setting.index] = tried.reason
            elif tried.state.state in ("failed", "hook failed", "not in force") and not retry_failed:
                found[setting.index] = f"run {tried.state.point.name}: {tried.reason}"
        return found

    def new_point(self, setting, round_, value, expected):
        """`expected(setting, options, seed)`: the options in force, from a dry run."""
        first_seed = int(self.base_plans[setting].get("seed", "1"))
        before = sum(1 for tried in self.tried if tried.state.point.setting == setting
                     and tried.state.point.repetition == round_ and tried.state.point.value == value)
        options = find_values.options_at(self.plan.find, self.base_plans[setting], value)
        seed = first_seed + (round_ - 1) * SEEDS_PER_ROUND + before
        return run_plan.Point(len(self.tried) + 1, setting, round_, seed, value, options,
                                expected(self.plan.settings[setting], options))

    # --- Results.

    def capacity(self, retry_failed=False):
        stopped = self.stopped(retry_failed)
        find, spaces = self.plan.find, self.spaces.values()
        version, commit = self._version()
        left_out = self.world.axes_left_out()
        return Capacity(
            find=find.what, criterion=find.criterion, world=self.world.name, rounds=find.rounds,
            resolution=None if any(space.step for space in spaces) else find.resolution,
            least=min(space.least for space in spaces), most=max(space.most for space in spaces), events=find.events,
            weir_version=version, weir_commit=commit,
            settings=tuple(
                Setting(run_plan.name_of([pair for pair in setting.values if pair[0] not in left_out])
                        or self.plan.name,
                        {axis: value for axis, value in setting.values if axis not in left_out},
                        self._searches(setting.index), stopped.get(setting.index),
                        seconds_of(self.base_plans[setting.index].get("duration", "")),
                        self._event_sizes(setting.index))
                for setting in self.settings))

    def _event_sizes(self, setting):
        """As Setting has them."""
        if self.plan.find.what != "rate":
            return ()
        return find_values.event_sizes(tried.state.point.expected for tried in self.tried
                                       if tried.state.point.setting == setting)

    def write_capacity(self, retry_failed=False):
        """Into the world's directory; and into the campaign's, unless that has limits that count more."""
        capacity = self.capacity(retry_failed)
        path = write_capacity(self.world.directory, capacity)
        if self.world.campaign.worlds_begun()[0].name == self.world.name:
            path = write_capacity(self.world.campaign.directory, capacity)
        return path

    def _searches(self, setting):
        runs = {}
        for tried in self.tried:
            point = tried.state.point
            if point.setting == setting:
                directory = tried.state.directory
                relative = os.path.relpath(directory, self.world.campaign.directory) if directory else None
                runs.setdefault(point.repetition, []).append(Trial(point.value, tried.held, tried.state.state,
                                                                   relative))
        made = []
        begun = dict(self.searches.begun(setting))
        for round_, trials in sorted(runs.items()):
            search = begun.get(round_)
            low, high = search.bracket if search else (None, None)
            made.append(Search(round_, low, high, tuple(trials), search is not None and search.complete,
                               search and search.until))
        return tuple(made)

    def _version(self):
        for tried in self.tried:
            if tried.state.directory:
                environment = (claim_files.record_in(tried.state.directory / "run.json") or {}).get("environment") or {}
                return environment.get("weir_version"), environment.get("weir_commit")
        return None, None


def _space(world, find, base_plan, setting):
    """With the range that was found when the campaign was begun."""
    space = find_values.space_of(find, base_plan, setting.name)
    least, most = world.ranges().get(setting.name, (space.least, space.most))
    return Space(min(max(space.start, least), most), least, most, space.larger_is_harder, space.step, space.resolution)
