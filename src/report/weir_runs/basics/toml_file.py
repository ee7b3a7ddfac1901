"""TOML, by Python's own library or by the package tomli, and as text."""

import json
import re

from .errors import ReportError

try:
    import tomllib
except ImportError:  # Python before 3.11
    tomllib = None


def parse(path, text, what="a sweep file"):
    """The tables of `text`, unchecked. Raises ReportError with the path; `what`: what the file is to be."""
    loads, error_kind = _toml(what)
    try:
        return loads(text)
    except RecursionError as error:
        raise ReportError(f"{path}: nested too deeply for {what}") from error
    except error_kind as error:
        raise ReportError(f"{path}: {error}") from error


def _toml(what):
    if tomllib:
        return tomllib.loads, tomllib.TOMLDecodeError
    try:
        import tomli
    except ImportError as error:
        raise ReportError(f"{what} needs Python 3.11 or newer, or the package tomli (pip install tomli)") from error
    return tomli.loads, tomli.TOMLDecodeError


def text(document):
    """A document of plain values and tables as TOML; tables in tables stand in one line."""
    plain = [f"{_key(key)} = {_value(value)}" for key, value in document.items() if not isinstance(value, dict)]
    lines = list(plain)
    for name, content in document.items():
        if isinstance(content, dict) and content:
            lines += [*([""] if lines else []), f"[{_key(name)}]",
                      *(f"{_key(key)} = {_value(value)}" for key, value in content.items())]
    return "\n".join(lines) + "\n" if lines else ""


def _key(name):
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
