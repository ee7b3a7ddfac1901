"""submission.json, read again: what it lacks of what the draft asks for, and two of them side by side."""

from pathlib import Path

from weir_runs.basics import text_table, units
from weir_runs.basics.errors import ReportError
from weir_runs.basics.input_file import read_object
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
    return _whole("submission.json", _lacks(submission))


def compared(names, first, second):
    """Two side by side, for a terminal. `names`: of A and B. A single figure (B / A) is formed only where all that must
    be equal is: nothing is judged. Raises ReportError where a submission is damaged."""
    return _whole(f"{names[0]}, {names[1]}", _compared(names, first, second))


def _whole(name, lines):
    try:
        return list(lines)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"{name}: damaged ({error!r}); {WHAT} is expected") from error


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
            yield (f"{where} the coefficient of variation is {units.percent(row['cv'])}; the draft recommends less "
                   "than 5 %")


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


# --- Two side by side.


def _differences(first, second):
    """[(what must be equal, of A, of B)] that is not."""
    both = [("document", first["document"]["revision"], second["document"]["revision"])]
    both += [(key, first["comparability"].get(key), second["comparability"].get(key))
             for key in dict.fromkeys((*first["comparability"], *second["comparability"]))]
    return [(key, one, other) for key, one, other in both if one != other]


def _compared(names, first, second):
    yield from (f"A  {names[0]}", f"B  {names[1]}", "")
    found = _differences(first, second)
    for key, one, other in found:
        yield f"not equal: {key.replace('_', ' ')}: A {_shown(one)}, B {_shown(other)}"
    if found:
        yield "So no single figure is formed: A and B stand beside each other."
        yield ""
    table = [("section", "figure", "setting", "A", "runs", "B", "runs",
              "B / A")] + list(_rows(first, second, not found))
    yield from text_table.aligned(table, left=(0, 1, 2))
    yield from _not_in_both(first, second)


def _rows(first, second, comparable):
    """Primary figures of the same section, name, unit, observation point and setting; of sections run with the same
    parameters a ratio, too."""
    of_second = {_key(row): row for row in second["repeatability"]}
    same = _same_parameters(first, second)
    for row in first["repeatability"]:
        other = of_second.get(_key(row))
        if other:
            ratio = units.number(other["mean"] / row["mean"]) if comparable and row["section"] in same and row[
                "mean"] else "-"
            yield (row["section"], row["figure"], row["setting"], units.text(row["mean"], row["unit"]),
                   str(row["runs"]), units.text(other["mean"], other["unit"]), str(other["runs"]), ratio)


def _key(row):
    return tuple(row[name] for name in ("section", "figure", "unit", "point", "setting"))


def _same_parameters(first, second):
    """Sections whose runs had the same parameters, but for how often they were repeated."""
    def used(submission):
        return {result["section"]: {name: values["used"] for name, values in result["parameters"].items()
                                    if name != "repetitions"}
                for result in submission["results"] if result["state"] == "done"}

    one, other = used(first), used(second)
    return {section for section in one if section in other
            and _but_settings(one[section]) == _but_settings(other[section])}


def _but_settings(parameters):
    """Lists of settings may differ: rows of the same setting are compared. Single values make a run."""
    return {name: values for name, values in parameters.items() if len(values) == 1}


def _not_in_both(first, second):
    for name, one, other in (("A", first, second), ("B", second, first)):
        keys = {_key(row) for row in other["repeatability"]}
        gone = sorted({row["section"] for row in one["repeatability"] if _key(row) not in keys},
                      key=lambda number: [len(number), number])
        if gone:
            yield f"only in {name}: settings of {', '.join(gone)}"


def _shown(value):
    return "-" if value is None else str(value)
