"""Tables of TOML as objects. The fields of a dataclass that `key` makes are the keys of its table: what each takes, and
what stands for it where the file has none. One engine reads them, and refuses all else with file and key."""

import dataclasses
import difflib

from . import quantities
from .errors import ReportError


@dataclasses.dataclass(frozen=True)
class Place:
    """A key of a file, as messages name it: FILE: TABLE.KEY"""

    path: object
    keys: tuple = ()

    def __truediv__(self, name):
        return Place(self.path, (*self.keys, name))

    def __str__(self):
        return f"{self.path}: {'.'.join(self.keys)}" if self.keys else str(self.path)

    def refuse(self, why):
        raise ReportError(f"{self}: {why}")


def key(kind, default=None, name=None):
    """A field for a key. `kind(place, value)`: what the object gets, or ReportError. `name`: else that of the field,
    without its unit."""
    return dataclasses.field(default=default, metadata={"kind": kind, "key": name})


def read(made, place, content, **given):
    """An object of the dataclass `made`. `given`: its fields that are no keys. Raises ReportError."""
    found = read_keys({name: kind for name, (_, kind) in kinds_of(made).items()}, place, content)
    return made(**given, **{field: found[name] for name, (field, _) in kinds_of(made).items() if name in found})


def read_keys(kinds, place, content, needed=()):
    """{key: value} of those of `kinds`, {key: kind}, that are there. Raises ReportError, also for any other, and for
    one of `needed` that is not there."""
    for name in content:
        if name not in kinds:
            near = difflib.get_close_matches(name, kinds, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are: {', '.join(kinds)}"
            (place / name).refuse(f"there is no such key; {hint}")
    for name in needed:
        if name not in content:
            (place / name).refuse(f"it is missing; needed are {', '.join(needed)}")
    return {name: kind(place / name, content[name]) for name, kind in kinds.items() if name in content}


def kinds_of(made):
    """{key: (field, kind)}"""
    return {field.metadata["key"] or field.name.removesuffix("_s").replace("_", "-"):
            (field.name, field.metadata["kind"]) for field in dataclasses.fields(made) if "kind" in field.metadata}


# --- Kinds.


def text(place, value):
    return value if isinstance(value, str) else place.refuse(f"{shown(value)} is not a text, such as \"this\"")


def whole(least, most):
    def read_whole(place, value):
        if not is_number(value, int) or not least <= value <= most:
            place.refuse(f"{shown(value)} is not a whole number from {least} to {most}")
        return value
    return read_whole


def time(place, value):
    """Seconds."""
    seconds = quantities.seconds_of(value) if isinstance(value, str) else None
    return place.refuse(f"{shown(value)} is not a time with its unit (ns us ms s min h), such as \"90s\"") \
        if seconds is None else seconds


def matching(pattern, what):
    """A text that the compiled `pattern` fits."""
    return lambda place, value: value if pattern.fullmatch(text(place, value)) else place.refuse(
        f"{shown(value)} is not {what}")


def quantity(parse):
    """`parse`: of quantities."""
    def read_quantity(place, value):
        try:
            return parse(text(place, value))
        except quantities.QuantityError as error:
            return place.refuse(error)
    return read_quantity


def share(least, most, example):
    """Of 1, from a text in per cent."""
    def read_share(place, value):
        found = quantities.share(value) if isinstance(value, str) else None
        if found is None or not least <= found <= most:
            place.refuse(f"{shown(value)} is not a share from {100 * least:g}% to {100 * most:g}%, such as "
                         f"\"{example}\"")
        return found
    return read_share


def choice(*choices):
    return lambda place, value: value if value in choices else place.refuse(
        f"{shown(value)} is not one of {', '.join(choices)}")


def flag(place, value):
    return value if isinstance(value, bool) else place.refuse(f"{shown(value)} is neither true nor false")


def texts(place, value):
    """A list of texts, or the words of one."""
    value = value.split() if isinstance(value, str) else value
    if not isinstance(value, list):
        place.refuse(f"{shown(value)} is not a list of texts, such as [\"--exclusive\"]")
    for one in value:
        if not isinstance(one, str):
            place.refuse(f"{shown(one)} is not a text")
    return tuple(value)


def content(place, value):
    """A table as it is."""
    return value if isinstance(value, dict) else place.refuse(
        f"{shown(value)} is not a table ([{'.'.join(place.keys)}])")


def tables(place, value):
    """One or more tables [[...]]."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        place.refuse(f"tables [[{'.'.join(place.keys)}]] are expected")
    return value


def table(made):
    """An object of the dataclass `made`, or of {key: kind} the keys that are there."""
    reader = read_keys if isinstance(made, dict) else read
    return lambda place, value: reader(made, place, content(place, value))


def is_number(value, kinds=(int, float)):
    """To Python, true is a number."""
    return isinstance(value, kinds) and not isinstance(value, bool)


def shown(value):
    if isinstance(value, dict):
        return "a table"
    return f"'{value}'" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
