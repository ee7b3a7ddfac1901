"""What `weir explain` found about a run, from the explain.json beside its run.json: how near its twin comes, and what
would help."""

import shlex

from ..basics.errors import ReportError
from ..basics.input_file import read_json, read_text
from ..basics.units import change, percent, text
from .run import check_fields
from .run_record import check_schema

FILE = "explain.json"
HEADER = ("", "run", "twin", "deviation", "tolerance")


def of_run(run):
    """What the page shows of it; None if the run was not explained. Raises ReportError."""
    found = read(run)
    if found is None:
        return None
    return {"near": found["near"], "answer": found.get("answer") if found.get("causes") else None,
            "sentences": [line for line in found["text"].strip().split("\n")
                          if not line.startswith(("Main cause: ", "Remedy: "))],
            "rows": [_row(figure) for figure in found["figures"]], "header": HEADER,
            "command": shlex.join(["weir", "simulate",
                                   *(word for one in found["twin"] for word in (f"--{one['option']}", one["value"]))])}


def read(run):
    """The content of explain.json; None if the run was not explained. Raises ReportError."""
    path = run.directory / FILE
    if not path.exists():
        return None
    try:
        found = read_json(read_text(path, "what weir explain found"))
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path}: {error}; the file is damaged: make it anew with weir explain") from error
    check_schema(path, found, "weir-explain", "what weir explain found")
    check_fields(path, found, "explain.schema.json")
    return found


def _row(figure):
    return {"cells": [figure["name"], *(_value(figure, figure[side]) for side in ("run", "twin")),
                      _share(figure, figure["deviation"], "+") , _share(figure, figure["tolerance"], "")],
            "near": figure["near"]}


def _value(figure, value):
    return percent(value / 100.0) if figure["unit"] == "%" else text(value, figure["unit"])


def _share(figure, value, sign):
    """A deviation or a tolerance: of the run's value, or in its unit."""
    if figure["relative"]:
        return change(1.0 + value, 1.0) if sign else percent(value)
    words = _value(figure, abs(value))
    return words if value == 0 or words.startswith("below") else ("-" if value < 0 else sign) + words
