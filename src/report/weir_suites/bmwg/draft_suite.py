"""Runs the tests of a plan, or continues them. A test is a generator: it gives a step, a campaign, and is sent the
trials that it made. So a suite that was interrupted is simply run again: campaigns that are complete are read, and the
test gives the same next step."""

from __future__ import annotations

import dataclasses
import hashlib
import textwrap
import time
from pathlib import Path

from weir_compare.sweep import continued, simulate as sweep_simulate, submission
from weir_compare.sweep.sweep_file import read_sweep_file
from weir_runs.basics import programs, units, whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.units import counted, duration
from weir_runs.reading.run import read_run
from . import balancing, catalogue, collective_tests, congestion, dcqcn, job_tests, other_documents, rdma
from .campaign_steps import Trial, sweep_text
from .draft_setup import Setup, check_run, fabric_of
from .result_tables import Outcome

TESTS = {"5.1": rdma.throughput, "5.2": rdma.latency, "5.3": rdma.burst_absorption, "7.1": congestion.ecn_accuracy,
         "7.2": congestion.pfc_under_incast, "7.3": dcqcn.convergence, "7.4": congestion.storm,
         "8.1": balancing.ecmp, "8.2": balancing.flowlets, "8.3": balancing.spraying, "8.4": balancing.jain,
         "9.1": collective_tests.collective, "9.2": collective_tests.collective, "9.3": collective_tests.collective,
         "9.4": collective_tests.summary, "10.1": job_tests.synthetic, "10.3": job_tests.interference,
         "11.2": job_tests.link_failure, "11.3": job_tests.zero_impact,
         "12.1": job_tests.soak, "rfc8239-2": other_documents.line_rate, "rfc8239-5": other_documents.head_of_line,
         "inference-kv": other_documents.kv_transfer}
SCHEMA = "weir-bmwg-suite/1"
# Of a search without noise.
EXPECTED_STEPS = 14


@dataclasses.dataclass
class Accounting:
    """Of the trials of one section. `left_out`: (run, why)."""

    tried: int = 0
    counted: int = 0
    left_out: list = dataclasses.field(default_factory=list)
    seconds: float = 0.0  # of waiting, in this call
    steps: int = 0
    verdicts: dict = dataclasses.field(default_factory=dict)  # {weir's verdict: runs}


@dataclasses.dataclass
class Finished:
    """A section after the suite. `state`: done, incomplete or cannot; `why` of the latter two."""

    section: object
    setup: Setup | None
    state: str
    why: str = ""
    outcome: Outcome | None = None
    accounting: Accounting = dataclasses.field(default_factory=Accounting)


class Suite:
    def __init__(self, plan, world, quick, directory, say):
        self.plan, self.world, self.quick = plan, world, quick
        self.directory = Path(directory).resolve()  # runs are started elsewhere
        self.say = say
        self.fabric = None

    def begin(self):
        """Writes what the suite is, or checks that it continues what is there. Raises ReportError."""
        record = {"schema": SCHEMA, "world": self.world, "quick": self.quick,
                  "plan_sha256": hashlib.sha256(self.plan.text.encode()).hexdigest()}
        continued.begin(self.directory, "suite.json", record,
                        {"world": "in another world", "quick": "with other parameters (--quick)",
                         "plan_sha256": "with another plan"}, lambda: check_run(self.plan, self.world, self.directory))
        whole_file.replace(self.directory / "plan.toml", self.plan.text)
        if self.world == "simulation":
            self.fabric = fabric_of(self.plan, programs.find_weir(), self.directory / "fabric")

    def _has_its_nics(self, section):
        return self.fabric is None or self.fabric.nics == 1 or section.number in catalogue.WITH_SEVERAL_NICS

    def cost(self, section):
        """What a section takes, as text, from a dry run of its first campaign."""
        if not self._has_its_nics(section):
            return f"no time: {catalogue.NEEDS_ONE_NIC}"
        if section.needs:
            return f"as long as it follows from {', '.join(section.needs)}"
        setup = Setup(self.plan, section, self.world, self.quick, self.fabric, {})
        searched = section.parameter("resolution") is not None
        campaigns = EXPECTED_STEPS * setup.repetitions if searched else 1
        try:
            step = next(TESTS[section.number](setup))
            directory = self.directory / f"cost-{section.number}"
            self._write(directory, step, setup)
            prepared = submission.prepare(read_sweep_file(directory / f"{step.name}.toml"), self.world,
                                          directory / step.name)
        except ReportError as error:
            return f"no time: it cannot be run, {error}"
        runs = counted(campaigns * len(prepared.points), "run")
        seconds = sweep_simulate.expected_cpu_s(prepared) if self.world == "simulation" else prepared.job_times(
            prepared.points)[0]
        if seconds is None:
            return f"about {runs}"
        busy = seconds * campaigns + (continued.RUN_S * len(prepared.points)
                                      + continued.CAMPAIGN_S) * campaigns * (self.world == "simulation")
        return f"about {runs}, {duration(busy)}" + (" of processor time" if self.world == "simulation" else "")

    def run(self, only):
        """All chosen sections and what they need, in the draft's order: [Finished]. Sections that an earlier call began
        are read, too."""
        wanted = {section.number for section in catalogue.with_needs(only)}
        finished = {}
        for section in catalogue.SECTIONS:
            of_others = bool(section.needs) and not section.parameters and all(number in finished
                                                                               for number in section.needs)
            if section.number in wanted or self._directory(section).exists() or of_others:
                finished[section.number] = self._section(section, finished, section.number in wanted)
        return list(finished.values())

    def _directory(self, section):
        return self.directory / f"section-{section.number}"

    def _section(self, section, finished, may_run):
        lacking = [number for number in section.needs if number not in finished or finished[number].outcome is None]
        if lacking:
            return Finished(section, None, "cannot", f"it needs {', '.join(lacking)}, which has no results")
        if not self._has_its_nics(section):
            return Finished(section, None, "cannot", catalogue.NEEDS_ONE_NIC)
        setup = Setup(self.plan, section, self.world, self.quick, self.fabric,
                      {number: finished[number].outcome for number in section.needs})
        accounting = Accounting()
        begun = time.monotonic()
        say = self.say if may_run else lambda _: None
        say(f"{section.number} {section.title}")
        try:
            outcome, why = self._drive(setup, TESTS[section.number](setup), accounting, may_run)
        except ReportError as error:
            return Finished(section, setup, "cannot", str(error), accounting=accounting)
        accounting.seconds = time.monotonic() - begun
        say(f"    {why or 'done'}, {accounting.counted} of {accounting.tried} runs counted, "
            f"{duration(accounting.seconds)}")
        return Finished(section, setup, "done" if outcome else "incomplete", why, outcome, accounting)

    def _drive(self, setup, test, accounting, may_run):
        """(Outcome, ""), or (None, why)."""
        trials = None
        while True:
            try:
                step = test.send(trials)
            except StopIteration as stop:
                return stop.value, ""
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                # Nothing arrived, say. The report of all other sections must not be lost with it.
                return None, f"its runs do not have the figures that it needs ({type(error).__name__}: {error})"
            trials, why = self._campaign(step, setup, accounting, may_run)
            if why:
                return None, why

    def _campaign(self, step, setup, accounting, may_run):
        """(the trials of a step, "") or (None, why it is not complete)."""
        directory = self._directory(setup.section)
        self._write(directory, step, setup)
        campaign = self._run(read_sweep_file(directory / f"{step.name}.toml"), directory / step.name, may_run)
        if campaign is None:
            return None, f"step {step.name} is not complete, and was not asked for in this call"
        states = campaign.world(self.world).states()
        accounting.steps += 1
        accounting.tried += len(states)
        trials = []
        for state in states:
            setting = campaign.plan.setting_of(state.point)
            if state.state != "complete":
                accounting.left_out.append((f"{step.name}: {setting.name}, run {state.point.repetition}", state.reason
                                            or state.state))
                continue
            run = read_run(state.directory)
            verdict = _verdict(run)
            accounting.verdicts[verdict] = accounting.verdicts.get(verdict, 0) + 1
            trials.append(Trial(dict(setting.values), state.point.repetition, run))
        accounting.counted += len(trials)
        missing = len(states) - len(trials)
        if missing:
            return (None, f"{missing} of {len(states)} runs of step {step.name} are not complete: "
                          f"{accounting.left_out[-1][1]}")
        return trials, ""

    @staticmethod
    def _write(directory, step, setup):
        """The sweep file and what it names; traffic files are the same whenever they are made."""
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in step.files.items():
            path = directory / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                whole_file.replace(path, text)
        whole_file.replace(directory / f"{step.name}.toml", sweep_text(step, setup))

    def _run(self, sweep, directory, may_run):
        """Makes the runs that are missing. Nothing is prepared for a campaign that is complete. None: it is not, and
        may not run."""
        campaign = continued.complete(sweep, self.world, directory)
        if campaign is not None or not may_run:
            return campaign
        return continued.make(submission.prepare(sweep, self.world, directory), self.say)


def _verdict(run):
    if not run.verdict or not run.verdict.get("judged"):
        return "not judged"
    return "sustained" if run.verdict["sustained"] else "not sustained"


# --- What is printed.


def list_lines(costs=None, sections=catalogue.SECTIONS):
    """Of each section: can it be run, measured and simulated, or why not. `costs`: {number: what it takes}."""
    lines = [f"{catalogue.DOCUMENT['name']}, {catalogue.DOCUMENT['revision']}", ""]
    for section in sections:
        lines.append(f"{section.number:5} {section.title}")
        lines += textwrap.wrap(section.objective, 110, initial_indent="      ", subsequent_indent="      ")
        if section.document:
            lines.append(f"      of {section.document}")
        for kind, why in (("simulated", section.simulated), ("measured", section.measured)):
            lines.append(f"      {kind}: {why or 'yes'}")
        if section.needs:
            lines.append(f"      needs: {', '.join(section.needs)}")
        if section.number in (costs or {}):
            lines.append(f"      takes {costs[section.number]}")
        for parameter in section.parameters:
            lines.append(f"      {parameter.name}, {parameter.meaning}: {_listed(parameter.draft)}"
                         + (f"; simulated: {_listed(parameter.simulated)}" if parameter.simulated else "")
                         + (f"; --quick: {_listed(parameter.quick)}" if parameter.quick != parameter.draft else ""))
    if costs:
        lines += ["", "Numbers of senders, flows, workers and a crowd that the fabric has no hosts for are left out; "
                      "if none fits, the largest number that does",
                  "is run. What a section takes counts those that fit."]
    return lines


def _listed(values):
    return " ".join(map(str, values))


def result_lines(finished):
    """A line for each section: its primary figures in short, or why there are none."""
    lines = []
    for one in finished:
        lines.append(f"{one.section.number:5} {one.section.title}: "
                     f"{one.state}{', ' + one.why.splitlines()[0] if one.why else ''}")
        for figure in one.outcome.primary if one.outcome else ():
            shown = [f"{name} {units.text(mean, figure.unit)}" for name, (_, mean, _) in figure.variations().items()]
            lines.append(f"      {figure.title}: {units.listed(shown, between='; ')}")
    return lines
