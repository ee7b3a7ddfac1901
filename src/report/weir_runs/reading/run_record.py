"""run.json: read safely, and told from what is no record of a run. It needs Python's own library only, so commands that
look at single fields start without what rows of a run need."""

import json
import re
from pathlib import Path

from ..basics.errors import ReportError
from ..basics.input_file import read_json, read_text
from .groups_record import is_groups_record, refusal
from .run_state import with_state

KNOWN_SCHEMA = 1


def read_record(path):
    """(directory, content of run.json) of `path`: a run directory, or its run.json. Its status can also be one of
    run_state.py. Raises ReportError."""
    directory = Path(path)
    if directory.name == "run.json":
        directory = directory.parent
    record_path = directory / "run.json"
    if not directory.is_dir():
        raise ReportError(f"{path}: no such directory; a run directory (weir run --out) is expected")
    if not record_path.exists():
        raise ReportError(f"{path}: no run.json in it; a run directory (weir run --out) is expected")
    text = read_text(record_path, "the record of a run")
    if not text.strip():
        raise ReportError(f"{record_path}: it is empty; the file is damaged")
    try:
        return directory, with_state(directory, read_json(text))
    except RecursionError as error:
        raise ReportError(f"{record_path}: nested too deeply; the file is damaged") from error
    except json.JSONDecodeError as error:
        raise ReportError(f"{record_path}, line {error.lineno}: {error.msg}; the file is damaged") from error
    except ValueError as error:
        raise ReportError(f"{record_path}: {error}; the file is damaged") from error


def read_run_record(path):
    """The same of one run only; its fields are not checked. Raises ReportError."""
    directory, record = read_record(path)
    refuse_others(directory / "run.json", record)
    return directory, record


def refuse_others(path, record):
    """Raises a ReportError if `record` is not that of a run."""
    if is_groups_record(record):
        raise ReportError(refusal(path.parent, record))
    check_schema(path, record, "weir-run", "the record of a weir run")


def check_schema(path, record, name, expected):
    """Raises a ReportError if `record` is not of the schema `name`, or of a newer version of it."""
    schema = record.get("schema") if isinstance(record, dict) else None
    match = re.fullmatch(rf"{name}/(\d+)", schema) if isinstance(schema, str) else None
    if not match:
        raise ReportError(f"{path}: schema is {json.dumps(schema)}, not \"{name}/{KNOWN_SCHEMA}\": this is not "
                          f"{expected}")
    if int(match[1]) > KNOWN_SCHEMA:
        raise ReportError(f"{path}: schema is \"{schema}\"; this weir-report reads up to \"{name}/{KNOWN_SCHEMA}\": "
                          "use the one that came with that weir")
