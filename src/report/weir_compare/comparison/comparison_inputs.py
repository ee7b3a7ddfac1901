"""What weir-compare is given: run directories in two groups, in groups by a label, or the campaign of a sweep."""

from pathlib import Path

from weir_runs.basics.errors import ReportError
from weir_runs.basics.units import listed
from weir_runs.reading.capacity import FILE_NAME, read_capacity
from weir_runs.reading.run import read_run, tell_apart
from .comparison import compare_capacities
from .run_groups import Group


def is_campaign(path):
    """The directory of a campaign of weir-sweep, or its capacity.json."""
    return (path.name == FILE_NAME and path.is_file() or
            not (path / "run.json").exists() and any((path / name).is_file() for name in (FILE_NAME, "plan.json")))


def compare_limits(path, settings):
    """A Report of measured capacities. `path`: capacity.json or its directory."""
    capacity = read_capacity(path)
    directory = path if path.is_dir() else path.parent
    missing = []
    groups = [Group(setting.name, _runs_of(directory, setting, missing)) for setting in capacity.settings]
    report = compare_capacities(capacity, groups, settings)
    if missing:
        report.remarks.append(f"Runs of the search are missing: {listed(missing, 1)}.")
    return report


def _runs_of(directory, setting, missing):
    """Those at the ends of the brackets; the others show nothing of the limit."""
    wanted = dict.fromkeys(trial.directory for search in setting.searches for trial in search.runs
                           if trial.directory and trial.value in (search.low, search.high))
    runs = []
    for name in wanted:
        try:
            runs.append(read_run(directory / name))
        except ReportError as error:
            missing.append(str(error))
    return runs


def read_runs(paths):
    runs = []
    for path in map(Path, paths):
        if path.is_dir() and not (path / "run.json").exists():
            inside = sorted(record.parent for record in path.glob("*/run.json"))
            runs += [read_run(directory) for directory in inside or [path]]
        else:
            runs.append(read_run(path))
    return runs


def two_groups(baseline, new):
    """Named by the runs' label where all of a side have the same."""
    names = []
    for role, runs in (("the baseline", baseline), ("the new runs", new)):
        labels = {run.labels.get("label") for run in runs}
        names.append(next(iter(labels)) if len(labels) == 1 and None not in labels else role)
    if names[0] == names[1]:
        names = ["the baseline", "the new runs"]
    tell_apart(baseline)
    tell_apart(new)
    return Group(names[0], baseline), [Group(names[1], new)]


def grouped(runs, key, baseline):
    values = {}
    for run in runs:
        if key not in run.labels:
            known = ", ".join(run.labels) or "none"
            raise ReportError(f"--by {key}: {run.directory} has no such label; it has: {known}. Labels are given with "
                              f"weir run --{'label TEXT' if key == 'label' else f'tag {key}=VALUE'}")
        values.setdefault(run.labels[key], []).append(run)
    if len(values) < 2:
        raise ReportError(f"--by {key}: all runs have the same value '{next(iter(values))}'; two or more are expected")
    for of_value in values.values():
        tell_apart(of_value)
    first = next(iter(values)) if baseline is None else baseline
    if first not in values:
        raise ReportError(f"--baseline: no run has {key} '{first}'; found: {', '.join(values)}")
    order = [first] + [value for value in values if value != first]
    return [Group(value if key == "label" else f"{key}={value}", values[value]) for value in order]
