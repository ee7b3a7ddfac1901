"""capacity.json: the largest rate (the longest processing time, the fewest slots or streams) that each setting of a
campaign carries, with every run that was made to find it. Data, reader and writer; estimates are in
compare/capacity_estimates.py.

A search is one whole bisection of one setting; a campaign makes one for each round and setting, and the rounds are the
repetitions. Written by weir-sweep, on the nodes too, so this needs Python's own library only.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from ..basics.errors import ReportError
from . import json_schema

SCHEMA = "weir-capacity/1"
FILE_NAME = "capacity.json"
BYTES_MAX = 200_000_000
# When a value holds, of a run: what a limit "that ..." does.
CRITERIA = {"sustained": "is sustained", "on-time": "is on time", "lossless": "loses nothing"}
WORLDS = ("slurm", "local", "simulation")
EVENTS = ("hold", "scale")  # they keep their size, or their number per set
# In the order of the file.
_FIELDS = ("schema", "weir_version", "weir_commit", "find", "unit", "better", "criterion", "world", "resolution",
           "rounds", "least", "most", "events", "settings")
_OF_SETTINGS = ("name", "values", "stopped", "run_s", "event_sizes", "searches")


@dataclasses.dataclass(frozen=True)
class Quantity:
    """What can be looked for."""

    name: str  # the option of weir run; of a burst there is none
    unit: str
    better: str  # higher or lower
    whole: bool  # whole numbers only
    title: str
    criteria: tuple = ("sustained", "on-time")  # of CRITERIA; the first is the default


QUANTITIES = {quantity.name: quantity for quantity in (
    Quantity("rate", "b/s", "higher", False, "largest rate per producer"),
    Quantity("busy", "s", "higher", False, "longest mean processing time"),
    Quantity("slots", "slots", "lower", True, "fewest slots per consumer"),
    Quantity("streams", "streams", "lower", True, "fewest streams per producer"),
    Quantity("consumers", "consumers", "lower", True, "fewest consumers"),
    Quantity("burst", "B", "higher", False, "longest burst of each producer", ("lossless",)),
)}


@dataclasses.dataclass(frozen=True)
class Trial:
    """One run of a search."""

    value: float  # in the unit of the quantity
    held: bool | None  # None: the run failed or was interrupted: no outcome
    state: str  # complete, failed, interrupted, ...
    directory: str | None  # of the run, relative to the campaign's directory


@dataclasses.dataclass(frozen=True)
class Search:
    """The bracket of one setting in one round. If higher is better, `low` is the largest value that held and `high` the
    smallest that did not; if lower is better, `low` is the largest that did not hold and `high` the smallest that held.
    None: the search came to the end of its range, or has no such value yet. `until`: where lower is better and values
    from `high` on hold, but the greatest ones do not, the largest that holds."""

    round: int
    low: float | None
    high: float | None
    runs: tuple = ()  # of Trial, in the order in which they were made
    complete: bool = True  # False: in progress, or stopped
    until: float | None = None


@dataclasses.dataclass(frozen=True)
class Setting:
    name: str
    values: dict  # of the axes, as text
    searches: tuple  # of Search, by round
    stopped: str | None = None  # why no more runs of this setting are made
    run_s: float | None = None  # how long its runs are measured
    # the options of its runs, if the rate was looked for: the smallest and the largest, or the only one; (): not known
    event_sizes: tuple = ()


@dataclasses.dataclass(frozen=True)
class Capacity:
    find: str  # name of a Quantity
    criterion: str
    world: str
    settings: tuple  # of Setting
    resolution: float | None = None  # relative width of a complete bracket; None: whole numbers
    rounds: int | None = None  # as planned
    least: float | None = None  # the range in which it was looked for
    most: float | None = None
    events: str | None = None  # of EVENTS, what becomes of them when the rate changes; None: not the rate, or not known
    weir_version: str | None = None
    weir_commit: str | None = None

    @property
    def quantity(self):
        return QUANTITIES[self.find]

    def setting(self, name):
        """None if there is no such setting."""
        return next((setting for setting in self.settings if setting.name == name), None)


def write_capacity(directory, capacity, answer=None):
    """Replaces capacity.json in a campaign's directory. `answer`: {verdict, because, do, certainty}, for other readers.
    Returns its path. Raises OSError."""
    path = Path(directory) / FILE_NAME
    from ..basics.whole_file import json_text, replace  # what a command line's help need not load
    replace(path, json_text(as_record(capacity) | {"answer": answer}))
    return path


def read_capacity(path):
    """Reads capacity.json, or the one in this directory. Raises ReportError."""
    path = Path(path)
    path = path / FILE_NAME if path.is_dir() else path
    from ..basics.input_file import read_json, read_text
    text = read_text(path, "a capacity.json of weir-sweep", BYTES_MAX)
    try:
        return from_record(read_json(text))
    except (ValueError, RecursionError) as error:
        raise ReportError(
            f"{path}: {error}; weir-sweep writes this file, and weir-sweep collect writes it anew") from error


def as_record(capacity):
    record = {**dataclasses.asdict(capacity), "schema": SCHEMA, "unit": capacity.quantity.unit,
              "better": capacity.quantity.better}
    record["settings"] = [{name: setting[name] for name in _OF_SETTINGS} for setting in record["settings"]]
    return {name: record[name] for name in _FIELDS}


def from_record(record):
    """Checks everything. Raises ValueError with the place and what is wrong there."""
    found = json_schema.problem(record, json_schema.read_schema("capacity.schema.json"))
    if found:
        raise ValueError(": ".join(filter(None, found))[:300])
    quantity = QUANTITIES[record["find"]]
    for name in ("unit", "better"):
        if record[name] != getattr(quantity, name):
            raise ValueError(f"{name}: '{record[name]}' is not {getattr(quantity, name)}")
    settings = [_setting(entry, f"settings[{index}]") for index, entry in enumerate(record["settings"])]
    names = [setting.name for setting in settings]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ValueError(f"settings[{index}].name: '{name}' is there twice")
    known = {name: record.get(name) for name in ("rounds", "events", "weir_version", "weir_commit")}
    return Capacity(quantity.name, record["criterion"], record["world"], tuple(settings), **known,
                    **{name: _number(record.get(name)) for name in ("resolution", "least", "most")})


def _setting(entry, where):
    searches = tuple(_search(each, f"{where}.searches[{index}]") for index, each in enumerate(entry["searches"]))
    rounds = [search.round for search in searches]
    if rounds != sorted(set(rounds)):
        raise ValueError(f"{where}.searches: rounds are {rounds}; each once and in order is expected")
    return Setting(entry["name"], entry["values"], searches, entry.get("stopped"), _number(entry.get("run_s")),
                   _event_sizes(entry, where))


def _event_sizes(entry, where):
    sizes = entry.get("event_sizes", [])
    if len(sizes) > 2:
        raise ValueError(f"{where}.event_sizes: two texts at most are expected")
    from ..basics.quantities import QuantityError, size
    try:
        _ = [size(text) for text in sizes] if len(sizes) == 2 else []
    except QuantityError as error:
        raise ValueError(f"{where}.event_sizes: {error}") from error
    return tuple(sizes)


def _search(entry, where):
    low, high, until = (_number(entry.get(key)) for key in ("low", "high", "until"))
    complete = entry.get("complete", True)
    if low is not None and high is not None and low >= high:
        raise ValueError(f"{where}: low is {low:g} and high {high:g}; low is to be the smaller one")
    if complete and low is None and high is None:
        raise ValueError(f"{where}: a complete search has low, high or both")
    runs = tuple(Trial(_number(run["value"]), run.get("held"), run["state"], run.get("directory"))
                 for run in entry["runs"])
    return Search(entry["round"], low, high, runs, complete, until)


def _number(value):
    return None if value is None else float(value)


def contradictions(trials, larger_is_harder=True):
    """How many outcomes contradict the others: so many at least would have to be otherwise for a limit to separate
    those that held from those that did not. `trials`: (value, held)."""
    outcomes = {}
    for value, held in trials:
        outcomes.setdefault(value, [0, 0])[0 if held else 1] += 1
    return least_contradicted([outcomes[value] for value in sorted(outcomes, reverse=not larger_is_harder)])[1]


def least_contradicted(outcomes):
    """Where a limit contradicts the fewest [held, did not], which are in the order from easy to hard: (how many lie on
    the easy side, how many are contradicted). Of equals the one on the easy side."""
    wrong = sum(yes for yes, _ in outcomes)
    best, cut = wrong, 0
    for position, (yes, no) in enumerate(outcomes, start=1):
        wrong += no - yes
        if wrong < best:
            best, cut = wrong, position
    return cut, best
