"""The directory of a campaign, and the state of each point, which is read from these files:

    CAMPAIGN/plan.json            settings, points, order
    CAMPAIGN/sweep.toml           the sweep file as it was last submitted
    CAMPAIGN/WORLD/               slurm, local or simulation
      settings.json               the options in force of each setting, from weir's dry run
      runs/POINT-SETTING-rN/      run directories (-try2: a second attempt)
      output/                     what was printed, one file for each attempt
      hooks/                      how the switch was set: what was typed, what it answered, what came of it
      check/                      what `weir check` printed before the runs of a switch setting
      switch/                     readings of the switch, until they are moved into the run's directory
      runs/*/switch/verify-*.txt  what the switch had, see in_force.py
      claims/POINT-N.json         attempts, see claim_files.py
      submissions/submission-N.json, job scripts and what jobs printed
      turns/turn-N.json           the worker that may run, where one at a time may
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import functools
import json
import socket
from pathlib import Path

from weir_runs.basics import whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.reading.run_state import RUNNING, with_state
from . import claim_files, find_state, in_force, run_plan, slurm_jobs

WORLDS = ("slurm", "local", "simulation")
SUBDIRECTORIES = ("runs", "output", "hooks", "check", "switch", "claims", "submissions", "turns")
# In the order in which `status` shows them.
STATES = ("complete", "running", "unknown", "waiting", "interrupted", "failed", "hook failed", "not in force")
# What the next submission does by itself, and what only with --retry-failed.
TO_DO = ("waiting", "interrupted")
# Of these nothing is known of the setting: the switch was not set to it, or did not have it.
NOT_SET = ("hook failed", "not in force")
FAILED = ("failed", *NOT_SET)


@dataclasses.dataclass
class PointState:
    point: run_plan.Point
    state: str  # one of STATES
    reason: str = ""
    attempts: tuple = ()  # of Claim
    directory: Path | None = None  # of the complete run

    @property
    def last(self):
        return self.attempts[-1] if self.attempts else None


class Campaign:
    """A campaign's directory; it need not exist before `begin`."""

    def __init__(self, directory, plan=None):
        self.directory = Path(directory)
        self.plan = plan

    def check_continues(self, plan):
        """Raises ReportError if what is there was begun with another plan."""
        existing = self.read_plan()
        why = existing and run_plan.difference(existing, plan)
        if why:
            raise ReportError(f"{self.directory} was started with another sweep: {why}. Undo that, or start a new "
                              "campaign with --out DIRECTORY")

    def begin(self, plan, sweep_text):
        """Writes the plan, if it continues what is there. Raises ReportError, OSError."""
        self.check_continues(plan)
        self.directory.mkdir(parents=True, exist_ok=True)
        whole_file.replace(self.directory / "plan.json", whole_file.json_text(run_plan.as_record(plan)))
        whole_file.replace(self.directory / "sweep.toml", sweep_text)
        self.plan = plan

    def read_plan(self):
        """None if there is none yet."""
        path = self.directory / "plan.json"
        record = claim_files.record_in(path)
        if record is None:
            return None
        try:
            return run_plan.from_record(record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ReportError(f"{path}: damaged ({error}); it is written by weir-sweep submit") from error

    def world(self, name):
        return World(self, name)

    def worlds_begun(self):
        return [self.world(name) for name in WORLDS if (self.directory / name / "settings.json").exists()]


class World:
    """One way of running a campaign, with runs of its own."""

    def __init__(self, campaign, name):
        self.campaign = campaign
        self.name = name
        self.directory = campaign.directory / name

    @property
    def plan(self):
        return self.campaign.plan

    def begin(self, expected_plans, ranges=None):
        """`expected_plans`: of each setting the options in force, {option: text}. `ranges`: with `find`, the least and
        the most value by the setting's name."""
        for name in SUBDIRECTORIES:
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        whole_file.replace(self.directory / "settings.json", whole_file.json_text({
            "schema": run_plan.SCHEMA,
            "plans": {setting.name: expected for setting, expected in zip(self.plan.settings, expected_plans)},
            "ranges": ranges or {}
        }))

    def expected_plans(self):
        return self._settings("plans")

    def ranges(self):
        """(least, most) by the name of a setting, as given to `begin`."""
        return {name: tuple(pair) for name, pair in self._settings("ranges").items()}

    def _settings(self, key):
        """What `begin` wrote as `key`."""
        record = claim_files.record_in(self.directory / "settings.json")
        if record is None or not isinstance(record.get(key), dict):
            raise ReportError(f"{self.directory / 'settings.json'}: missing or damaged (no {key}); weir-sweep submit "
                              "writes it")
        return record[key]

    def points(self):
        """Those that are run here; with `find`, those that were begun."""
        if self.plan.find:
            return find_state.points(self.plan, self.directory / "claims")
        return run_plan.simulated_points(self.plan)[0] if self.name == "simulation" else list(self.plan.points)

    def run_directory(self, point, attempt):
        suffix = "" if attempt == 1 else f"-try{attempt}"
        return self.directory / "runs" / (self.plan.run_name(point, self.axes_left_out()) + suffix)

    @functools.cache
    def axes_left_out(self):
        """Axes that make no difference here."""
        return tuple(run_plan.axes_without_options(self.plan)) if self.name == "simulation" else ()

    def is_simulated_here(self, claim):
        """Whether the run of a claim is a simulation on this host: its worker starts it without a launcher."""
        return self.name == "simulation" and claim.holder.get("host") == socket.gethostname()

    def output_file(self, point, attempt):
        return self.directory / "output" / (self.run_directory(point, attempt).name + ".txt")

    def states(self):
        """The state of each point of this world, in the order of the plan."""
        expected = self.expected_plans()
        jobs = slurm_jobs.Jobs()
        doubts = in_force.doubts(self)
        return [self._state(point, expected, jobs, doubts) for point in self.points()]

    def state(self, point, jobs=None):
        """`jobs`: see claim_files.is_alive."""
        return self._state(point, self.expected_plans(), jobs, in_force.doubts(self))

    def _state(self, point, expected, jobs, doubts):
        """`doubts`: of in_force.doubts."""
        attempts = tuple(claim_files.claims(self.directory / "claims", point.name))
        if not attempts:
            return PointState(point, "waiting")
        foreign = damaged = why = ""
        for claim in attempts:
            directory = self.run_directory(point, claim.number)
            try:
                record = with_state(directory, claim_files.record_in(directory / "run.json"),
                                    self.is_simulated_here(claim))
            except ReportError as error:  # concerns this attempt alone: there may be another one
                record, damaged = None, str(error)
            if record is not None and record.get("status") == "complete":
                foreign = self.not_this_point(point, directory, record, expected)
                if not foreign and not (why := doubts.get(directory, "")):
                    return PointState(point, "complete", "", attempts, directory)
        last = attempts[-1]
        if last.end is None:
            return self._unended(point, attempts, record, claim_files.is_alive(last.holder, jobs))
        if why:
            return PointState(point, "not in force", why, attempts)
        outcome = last.end.get("outcome")
        if foreign or outcome == "complete":
            return PointState(point, "failed", foreign or damaged or "its run directory does not exist", attempts)
        return PointState(point, outcome if outcome in STATES else "failed", last.end.get("reason", ""), attempts)

    @staticmethod
    def _unended(point, attempts, record, alive):
        """The state by the last claim, whose end is not recorded, and the record of its run. `alive`: its holder."""
        who = claim_files.holder_text(attempts[-1].holder)
        if alive:
            return PointState(point, "running", who, attempts)
        if record is not None and record.get("status") == RUNNING:
            how = "has ended" if alive is False else "is out of sight"
            return PointState(point, "running", f"the run goes on; {who} {how}", attempts)
        if alive is None:
            return PointState(point, "unknown", f"claimed by {who}, whose state is unknown here", attempts)
        return PointState(point, "interrupted", f"{who} ended without a record", attempts)

    def not_this_point(self, point, directory, record, expected):
        """Why a complete run is not one of this point; empty if it is."""
        setting = self.plan.setting_of(point)
        labels = record.get("labels") or {}
        if labels.get("point") != point.name or labels.get("sweep") != self.plan.name:
            return f"{directory.name} is the run of another point"
        there = record.get("plan") or {}
        in_force = point.expected if point.expected is not None else expected.get(setting.name, {})
        simulated = (record.get("environment") or {}).get("world") == "simulation"
        for option, value in {**in_force, "seed": str(point.run_seed)}.items():
            if simulated and option not in there:
                continue  # it means nothing in a simulation, as --engine
            if there.get(option) != value:
                return self._changed_option(option, there.get(option), value, expected)
        return ""

    def _changed_option(self, option, there, value, expected):
        if there is None or self.name == "simulation":
            return f"it has --{option} {there}, not {value}"
        varied = len({of_setting.get(option) for of_setting in expected.values()}) > 1
        is_axis = varied or option in ("seed", self.plan.find and self.plan.find.what)
        advice = "it must leave it as it is" if is_axis else f"put {option} = {json.dumps(there)} into [run]"
        return f"the launcher changed --{option}, which is {there}, not {value}: {advice}"

    # --- Submissions.

    def submissions(self):
        return claim_files.claims(self.directory / "submissions", "submission")

    def submission_file(self, number, ending):
        return self.directory / "submissions" / f"submission-{number}{ending}"


def counts(states):
    return collections.Counter(state.state for state in states)


def now_text():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
