"""Distinguishes the record of a job with several groups from that of a run, for commands that read runs only."""

from ..basics.errors import ReportError
from ..basics.input_file import read_json, read_text


def is_groups_record(record):
    """Whether it is the record of a job with several groups, of whatever version."""
    schema = record.get("schema") if isinstance(record, dict) else None
    return isinstance(schema, str) and schema.startswith("weir-groups/")


def first_group(record):
    """The directory of a job's first group, as its record names it."""
    groups = record.get("groups")
    first = groups[0] if isinstance(groups, list) and groups else None
    name = first.get("directory") if isinstance(first, dict) else None
    return name if isinstance(name, str) and name else "group-00"


def refusal(directory, record):
    """Why a job's record in `directory` is not read as a run, and what would be right."""
    return (f"{directory / 'run.json'}: it is the record of a job with several groups (schema "
            f"\"{record['schema'][:40]}\"), not of one run; give the directory of one group, for example "
            f"{directory / first_group(record)}")


def refuse_groups(directory):
    """Raises a ReportError if `directory` is that of a job with several groups. What cannot be read is none."""
    try:
        record = read_json(read_text(directory / "run.json", "the record of a run"))
    except (ReportError, ValueError, RecursionError):
        return
    if is_groups_record(record):
        raise ReportError(refusal(directory, record))
