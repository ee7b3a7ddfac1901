"""weir explain --confirm: a run made again, as it was and with the remedy, in turns. Out of run.json and explain.json
comes a sweep file of these two settings, whose campaign is as any other; out of its runs, what the remedy is worth."""

import dataclasses
import platform
from pathlib import Path

from weir_runs.basics import input_file, programs, text_table, toml_file, whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.units import counted, duration, listed, percent, text
from weir_runs.reading import run as run_reading, twin
from weir_runs.reading.key_figures import key_figures
from ..comparison import proofs
from .sweep_file import SWEEP_BYTES_MAX

NAME = "confirm"  # of the campaign in the run's directory
PRESENT, REMEDIED = "present", "remedied"
REPETITIONS = 3  # the least that weir-compare judges
LEAST = 2  # complete runs of each setting
CONFIRMED, NOT_CONFIRMED, NOT_TOLD = "confirmed", "not confirmed", "cannot be told"
# Options that were given to the run and are not to be given again, beside those that its plan has.
_NOT_AGAIN = {"out", "output", "label", "tag", "require", "role", "scenario", "scale", "time-scale", "ranks"}
_OTHER_START = {"groups": "it was a group of a job", "group-hosts": "it was a group of a job",
                "join": "its ranks were started one by one, with --join"}
# Of an older sweep file: what a user says there of how runs are started.
_KEPT = ("local", "slurm", "environment", "start", "check")
_LAUNCHER = """
# What starts the ranks on the hosts of the run:
# [local]
# launcher = ["mpirun", "--hostfile", "hosts"]
"""


class CannotTry(Exception):
    """There is no remedy that weir can make: a sentence."""


@dataclasses.dataclass(frozen=True)
class Subject:
    """A run and the remedy of its main cause. `changes`: {option: text; None: left out}."""

    run: object
    remedy: str
    changes: dict

    @property
    def words(self):
        """--slots 4, and without --high-water"""
        return listed([f"--{name} {value}" if value is not None else f"without --{name}"
                       for name, value in self.changes.items()])

    @property
    def simulated(self):
        return self.run.world == "simulation"


def read(directory):
    """The Subject in the directory of a run that was explained. Raises CannotTry and ReportError."""
    run = run_reading.read_run(directory)
    explained = twin.read(run) or {}
    # A twin has links of its own; of a simulation what was proved is about those that it had.
    proved = [cause for cause in run.verdict.get("causes", [])
              if cause["evidence"] == "proof" and cause.get("options") is not None]
    cause = next(iter(proved or explained.get("causes", [])), None)
    if cause is None or cause["what"] == "not-told":
        raise CannotTry("no cause is told, so there is no remedy to be confirmed")
    if not cause.get("remedy"):
        raise CannotTry("it is not known how much would help, so there is no remedy to be confirmed")
    changes = {one["option"]: one["value"] for one in cause.get("options") or ()}
    known = {option for _, option, _ in programs.options_of(programs.find_weir(), "run")}
    if not changes or not proved and not set(changes) <= known:
        raise CannotTry(f"the remedy is nothing that an option of weir {'simulate' if proved else 'run'} changes: "
                        f"{cause['remedy']}. Change that, make the run again with the same options, and compare: "
                        "weir-compare OLD NEW")
    return Subject(run, cause["remedy"], changes)


def write_sweep_file(subject):
    """The sweep file, DIRECTORY/confirm.toml; an older one keeps what says how runs are started. Raises ReportError."""
    path = subject.run.directory.resolve() / f"{NAME}.toml"
    kept = {}
    if path.exists():
        before = toml_file.parse(path, input_file.read_text(path, "a sweep file", SWEEP_BYTES_MAX))
        kept = {key: before[key] for key in _KEPT if key in before}
    has_launcher = bool(kept.get("local", {}).get("launcher")) or subject.simulated
    whole_file.replace(path, f"# Written by weir explain --confirm: {subject.words}\n" + toml_file.text(
        {"start": "5s"} | kept | document(subject)) + ("" if has_launcher else _LAUNCHER))
    hosts = list(dict.fromkeys(rank["host"] for rank in subject.run.record["ranks"] if rank.get("host")))
    here = platform.node().partition(".")[0]
    if not has_launcher and {host.partition(".")[0] for host in hosts} != {here}:
        raise ReportError(f"{path}: the run was made on {listed(hosts)}, this is {here}, and a run does not record what"
                          " started it. Say that there, launcher = [\"mpirun\", \"--hostfile\", \"hosts\"] under "
                          f"[local], and give the same command again; or fill in [slurm]: weir-sweep all {path}")
    return path


def document(subject):
    """The sweep file as tables. Raises ReportError."""
    given = subject.run.record["environment"].get("options_given") or ()
    for one in given:
        if one["option"] in _OTHER_START:
            raise ReportError(f"{subject.run.directory}: --confirm: {_OTHER_START[one['option']]}; make the run again "
                              f"yourself, with {subject.words}, and compare: weir-compare OLD NEW")
    options = proofs.plan_options(subject.run, proofs.plan_defaults(programs.find_weir(),
                                                                    "simulate" if subject.simulated else "run"))
    options = {name: value.split() if name in proofs.REPEATED else value for name, value in options.items()
               if name not in _NOT_AGAIN}
    for one in given:
        if one["option"] not in {*subject.run.plan, *_NOT_AGAIN}:
            options.setdefault(one["option"], []).append(one["value"])
    present = {name: options.pop(name) for name in subject.changes if name in options}
    remedied = {name: value for name, value in subject.changes.items() if value is not None}
    # Measured, the search for the cause would only take time; simulated, weir-sweep leaves it out.
    options |= {"seed": int(subject.run.plan.get("seed", 1)) + 1} | ({} if subject.simulated else {"explain": "off"})
    return {"name": NAME, "repetitions": REPETITIONS, "run": options,
            "axes": {"setting": [{"name": PRESENT, **present}, {"name": REMEDIED, **remedied}]}}


def cost_text(subject, prepared, at_a_time):
    """What is about to be run, and how long that takes at most."""
    limits = sum(prepared.forecasts[point.setting].limit_s for point in prepared.points) / at_a_time
    expected = sum(prepared.forecasts[point.setting].expected_s for point in prepared.points)
    return (f"Confirming {subject.words}: {counted(len(prepared.points), 'run')} in turns in "
            f"{prepared.campaign.directory}"
            + ("" if subject.simulated else f", about {duration(expected)}")
            + f"; each is ended when it takes too long, all after {duration(limits)} at most.")


def is_good(run):
    verdict = run.verdict
    return (verdict.get("on_time") is True and verdict.get("sustained") is not False
            and not verdict.get("lost_events"))


def judged(words, present, remedied):
    """(outcome, sentence) of complete runs: whether each was good, in lists."""
    if min(len(present), len(remedied)) < LEAST:
        return NOT_TOLD, (f"Cannot be told: {len(remedied)} of the runs with {words} came to an end, and {len(present)}"
                          " of those without it.")
    found = (f"with {words}, {sum(remedied)} of {counted(len(remedied), 'run')} were on time, and {sum(present)} of "
             f"{len(present)} without it")
    if not any(remedied):
        return NOT_CONFIRMED, f"Not confirmed: {found}."
    if all(remedied) and not any(present):
        return CONFIRMED, f"Confirmed: {found}."
    return NOT_TOLD, f"Cannot be told: {found}{', which is late by chance' if any(present) else ''}."


def table_lines(runs):
    """`runs`: of (setting, run), in the order in which they were made."""
    return text_table.aligned([("", "sets on time", "least slack", "goodput"),
                               *((setting, *_cells(run)) for setting, run in runs)])


def _cells(run):
    sets, late, slack = (run.verdict.get(name) for name in ("sets", "late_sets", "least_slack_s"))
    on_time = f"{sets - late} of {sets} ({percent(1 - late / sets)})" if sets and late is not None else "-"
    return on_time, text(slack, "s"), text(key_figures(run)["goodput"], "b/s")


def keep(subject, outcome, sentence, page):
    """Writes what came of it into explain.json, which the page of the run shows."""
    path = Path(subject.run.directory) / twin.FILE
    found = twin.read(subject.run)
    found["text"] += sentence + "\n"
    found["confirmation"] = {
        "outcome": outcome, "text": sentence, "page": page,
        "options": [{"option": name, "value": value} for name, value in subject.changes.items()]}
    whole_file.replace(path, whole_file.json_text(found))
