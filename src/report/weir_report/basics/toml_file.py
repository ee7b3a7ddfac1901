"""TOML, by Python's own library or by the package tomli."""

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
