"""What a submission lacks of what the draft asks for."""

from pathlib import Path

from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_object
from weir_runs.basics.units import percent
from . import submission_record as of_record

WHAT = "what weir-sweep bmwg writes"


def read(path):
    """The submission in `path`: a suite's directory, or submission.json. Raises ReportError."""
    path = Path(path)
    path = path / of_record.FILE if path.is_dir() else path
    if not path.exists():
        raise ReportError(f"{path}: no such file; {WHAT} is expected: run weir-sweep bmwg PLAN.toml first")
    found = read_object(path, WHAT)
    if found.get("schema") != of_record.SCHEMA:
        raise ReportError(f"{path}: it is not of schema {of_record.SCHEMA}; {WHAT} is expected")
    return found


def lacks(submission):
    """Sentences, in the order of the report's sections. Raises ReportError where it is damaged."""
    try:
        return list(_lacks(submission))
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"submission.json: damaged ({error!r}); {WHAT} is expected") from error


def _lacks(submission):
    yield from (f"section {name}: missing" for name in of_record.SECTIONS if name not in submission)
    for section in ("device", "hosts"):
        yield from (f"{section}: {key} is not given" for key in submission.get(section, {}).get("missing", ()))
    topology = submission.get("topology", {})
    if not topology.get("described") and not topology.get("drawing"):
        yield "topology: neither drawn nor described (fabric.topology of the plan)"
    if not submission.get("configuration", {}).get("known"):
        yield "configuration: settings of the switches are not in it; add them by hand, from the switches"
    for result in submission.get("results", ()):
        yield from _of_result(result)
    for row in submission.get("repeatability", ()):
        where = f"{row['section']}: {row['figure']}, {row['setting']}:"
        if row["cv"] is None:
            yield f"{where} one run has no coefficient of variation"
        elif row["cv"] > 0.05:
            yield (f"{where} the coefficient of variation is {percent(row['cv'])}; the draft recommends less than "
                   "5 %")


def _of_result(result):
    name = f"{result['section']} {result['title']}"
    if result["state"] != "done":
        yield f"{name}: {result['state']}, {result['why']}"
        return
    for parameter, values in result["parameters"].items():
        gone = [str(value) for value in values["draft"] if value not in values["used"]]
        if gone and values["of_draft"]:
            yield f"{name}: {parameter}: not {', '.join(gone)}"
    for table in result["tables"]:
        for column, values in zip(table["columns"], zip(*table["rows"])):
            if column["point"] not in ("setting", "arithmetic") and all(value is None for value in values):
                yield f"{name}: {table['title']}: {column['title']} was not observed"
