"""A step of a test: one campaign, as a sweep file and the traffic files that it names."""

import csv
import dataclasses

from weir_runs.basics import toml_file
from weir_runs.basics.errors import ReportError


@dataclasses.dataclass(frozen=True)
class Step:
    """`name`: of its files. `run`: options {name: text, number or list}; `axes`: {axis: values}; `files`: {name: text},
    beside the sweep file."""

    name: str
    run: dict
    axes: dict = dataclasses.field(default_factory=dict)
    repetitions: int = 1
    files: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Trial:
    """A complete run of a step. `values`: {axis: name of its value}."""

    values: dict
    repetition: int
    run: object  # runs.run.Run

    @property
    def record(self):
        return self.run.record

    @property
    def switch(self):
        """What the simulated switches counted."""
        return self.run.record.get("switch") or {}

    def counted_by_nics(self, *families):
        """The sum over the hosts of counters of these families. None: no host counts any of them."""
        found = [host["families"][family] for host in self.record.get("hosts") or [] for family in families
                 if family in (host.get("families") or {})]
        return sum(found) if found else None

    def rows(self, files):
        """{column: text} of each line of a CSV file of the run, or of all that the pattern fits."""
        for path in sorted(self.run.directory.glob(files)):
            with open(path, encoding="ascii", newline="") as file:
                yield from csv.DictReader(file)

    @property
    def seconds(self):
        """So long was counted."""
        return self.switch.get("measured_s") or self.run.resolved["duration_s"]


def of_case(trials, name, axis="case"):
    return [trial for trial in trials if trial.values[axis] == name]


def sweep_text(step, setup):
    """The sweep file. What the plan hands on is taken over. Raises ReportError where the plan sets what a test sets."""
    given = setup.plan.handed_on["run"]
    of_cases = {key for values in step.axes.values() for value in values for key in value}
    for key in given:
        if key in step.run or key in of_cases:
            raise ReportError(f"{setup.plan.path}: run.{key}: {setup.section.number} sets it itself; leave it out")
    tables = {**setup.plan.handed_on, "run": {**given, **step.run}, "axes": step.axes,
              "tags": {"bmwg": setup.section.number}}
    document = {"name": step.name, "repetitions": step.repetitions, **tables}
    return f"# Written by weir-sweep bmwg: {setup.section.number} {setup.section.title}\n" + toml_file.text(document)
