"""The file of weir-sweep tune: a sweep file with a table [tune] in the place of [axes]. Everything in it is checked here; values of options are
checked by weir's dry run, before anything is started."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from ..basics import quantities, toml_file
from ..basics.errors import ReportError
from ..basics.input_file import read_text
from ..sweep.file import OPTION, OWN_OPTIONS, SWEEP_BYTES_MAX, Table, parse_sweep
from . import axes as tune_axes, objective, search

KEY_OF_SWITCH = re.compile(r"[a-z][a-z0-9-]{0,40}(\.[A-Za-z0-9_-]{1,40}){1,2}")
# The model costs the cube of the runs: a minute for 1000 and ten for 2000, in all rungs together.
BUDGET_MAX, IN_TIME_MAX = 2000, 1000
BUDGET_S_LEAST, BUDGET_S_MAX = 10.0, 30 * 86400.0
BUDGET = 'a number of runs, such as 120, or a time from 10s to 720h, such as "2h"'
CONFIRM_LEAST, CONFIRM_MAX = 5, 100
# Of the budget, runs of a setting in the confirmation: with more runs, the search comes nearer to settings that only many seeds tell apart.
CONFIRM_PART = 1 / 20
# Of a search: runs of the first sample and of a few rungs.
SEARCH_LEAST = 16
DEFAULT_SEARCH, DEFAULT_OF_AXIS = 40, 15
FINALISTS_AND_PRESENT = search.FINALISTS + 1
EXAMPLE = '{ from = "10kB", to = "1MB", scale = "log" }'
TABLES = ("run", "tags", "environment", "slurm", "local", "simulation")


@dataclasses.dataclass(frozen=True)
class TuneFile:
    path: Path
    name: str
    text: str
    document: dict  # the file without [tune]
    figure: str  # of objective.FIGURES
    axes: tuple  # of Axis
    present: dict  # {axis: text}: as [tune.present] has it; else the file's value or weir's default
    constraints: objective.Constraints
    budget: int  # runs of search and confirmation; of a budget in time the least that there can be, until the first runs tell how long one takes
    budget_s: float | None  # of wall time, for all that is run
    confirm_given: int | None  # seeds of the confirmation, if the file has them
    seed: int  # of the search
    on_change: str | None  # for the confirming sweep file

    @property
    def first_seed(self):
        """Of the search."""
        return int(self.document.get("run", {}).get("seed", 1))

    @property
    def confirm(self):
        """Seeds of the confirmation."""
        return self.confirm_given or confirm_of(self.budget)

    def seeds(self, history):
        """With how many seeds settings are compared after this search: those that the file has, else no more than are needed."""
        if self.confirm_given or self.figure == objective.CAPACITY:  # whose searches begin elsewhere in each round
            return self.confirm
        return seeds_of(self.budget, history)

    def search_runs(self, history=()):
        """What the search has of the budget."""
        return search_runs(self.budget, history, self.seeds(history))

    def given(self, name):
        """What the file sets for all runs: the text of an option in force in the simulator, or of a key of the switch; None: nothing."""
        if name in self.document.get("simulation", {}):
            return str(self.document["simulation"][name])
        if name in self.document.get("run", {}):
            return str(self.document["run"][name])
        return next((text.partition("=")[2] for text in reversed(self.switch_keys) if text.partition("=")[0] == name), None)

    @property
    def switch_keys(self):
        """SECTION.KEY=VALUE that the file sets itself."""
        given = self.document.get("simulation", {}).get("switch-set", self.document.get("run", {}).get("switch-set", []))
        return [given] if isinstance(given, str) else list(given)


def is_key_of_switch(name):
    return "." in name


def read(path, budget=None, of_run=None):
    """`budget`: as text, in the place of the file's; `of_run`: ([run], [simulation]) of a run that was made, in the place of the file's [run], and
    below its [simulation]. Raises ReportError with file and key."""
    path = Path(path)
    text = read_text(path, "a sweep file in TOML with a table [tune]", SWEEP_BYTES_MAX)
    document = toml_file.parse(path, text, "a file of weir-sweep tune")
    given = document.pop("tune", None)
    if not isinstance(given, dict):
        raise ReportError(f"{path}: there is no table [tune]; it names what is varied: [tune.axes] slots = {{ from = 1, to = 16 }}")
    for key, why in (("axes", "what is varied stands in [tune.axes]"), ("switch", "settings are made of [tune.axes]; a command that sets the "
                     "switch is on-change in [tune]"), ("find", 'the largest rate is looked for with figure = "capacity" in [tune]'),
                     ("baseline", "settings are compared with that of [tune.present]")):
        if key in document:
            raise ReportError(f"{path}: {key}: not in a file with [tune]: {why}")
    if of_run is not None:
        if "run" in document:
            raise ReportError(f"{path}: run: with --from, its options are those of the run; leave it out")
        document |= {"run": of_run[0], "simulation": {**of_run[1], **document.get("simulation", {})}}
    for name in ("simulation", "local"):
        if "seed" in document.get(name, {}):
            raise ReportError(f"{path}: {name}.seed: each run of a setting has a seed of its own; leave it out. The first one is seed in [run]")
    document.pop("repetitions", None)
    base = parse_sweep(path, toml_file.text(document) or "repetitions = 1\n")
    table = Table(path, "tune", given)
    axes = _axes(path, table.table("axes").content)
    confirm = table.integer("confirm", None, CONFIRM_LEAST, CONFIRM_MAX)
    least = SEARCH_LEAST + (confirm or CONFIRM_LEAST) * FINALISTS_AND_PRESENT
    of_file = table.read("budget", least - SEARCH_LEAST + DEFAULT_SEARCH + DEFAULT_OF_AXIS * len(axes), (int, str), BUDGET)
    runs, seconds = _budget(table.where("budget"), of_file, least) if budget is None else _budget("--budget", budget, least)
    made = TuneFile(
        path=base.path, name=base.name, text=text, document=document,
        figure=table.choice("figure", tuple(objective.FIGURES)) or objective.MARGIN,
        axes=axes,
        present=_present(path, axes, table.table("present").content),
        constraints=_constraints(table),
        budget=runs, budget_s=seconds, confirm_given=confirm,
        seed=table.integer("seed", 1, 0, 2**31 - 1),
        on_change=table.text("on-change", None))
    table.no_others()
    return made


def _budget(where, given, least):
    """(runs, seconds or None): a number of runs, or a time, for which the runs are the least that there can be."""
    if isinstance(given, str) and not re.fullmatch(r"-?\d{1,9}", given):
        seconds = quantities.seconds_of(given)
        if seconds is None or not BUDGET_S_LEAST <= seconds <= BUDGET_S_MAX:
            raise ReportError(f"{where}: '{given}' is not {BUDGET}")
        return least, seconds
    if not least <= int(given) <= BUDGET_MAX:
        raise ReportError(f"{where}: {given} is not a number of runs from {least} ({SEARCH_LEAST} to search, {least - SEARCH_LEAST} to "
                          f"confirm) to {BUDGET_MAX}, nor a time, such as \"2h\"")
    return int(given), None


def confirm_of(budget):
    """Seeds of the confirmation where runs of equal settings differ, unless the file has another number."""
    return min(max(CONFIRM_LEAST, int(budget * CONFIRM_PART)), CONFIRM_MAX)


def seeds_of(budget, history):
    """The same, as far as the runs of the search show whether they differ."""
    return search.seeds_wanted(history, confirm_of(budget))


def search_runs(budget, history, seeds):
    """What is left of the budget beside the confirmation, as far as the runs of the search show how many finalists there will be."""
    return budget - seeds * (search.finalists_wanted(history) + 1)


def _constraints(table):
    paused = table.text("paused-at-most", None)
    share = None if paused is None else quantities.share(paused)
    if paused is not None and (share is None or share > 1.0):
        raise ReportError(f"{table.where('paused-at-most')}: '{paused}' is not a share from 0% to 100%, such as \"5%\"")
    return objective.Constraints(table.flag("lossless", False), share,
                                 table.time("control-latency-at-most", None))


def _axes(path, content):
    if not content:
        raise ReportError(f"{path}: tune.axes: missing; it has what is varied, such as slots = {{ from = 1, to = 16 }}")
    if len(content) > search.AXES_MAX:
        raise ReportError(f"{path}: tune.axes: {len(content)} axes are too many; at most {search.AXES_MAX} are searched together")
    flat = _flat(content, lambda value: not isinstance(value, dict) or bool({"from", "to", "scale"} & set(value)))
    return tuple(_axis(f"{path}: tune.axes.{name}", name, value) for name, value in flat.items())


def _flat(content, is_value):
    """{"ecn.none-below": value}: without quotation marks TOML makes tables of such names."""
    found = {}
    for name, value in content.items():
        found |= {name: value} if is_value(value) else {f"{name}.{inner}": given for inner, given in _flat(value, is_value).items()}
    return found


def _axis(where, name, value):
    if not (OPTION.fullmatch(name) or KEY_OF_SWITCH.fullmatch(name)):
        raise ReportError(f"{where}: '{name}' is neither an option of weir, such as slots, nor a key of a switch, such as ecn.none-below")
    if name in OWN_OPTIONS or name in ("seed", "switch-set"):
        raise ReportError(f"{where}: " + ('name the key itself: "ecn.none-below"' if name == "switch-set" else
                                          "weir-sweep sets it itself; leave it out"))
    if isinstance(value, list):
        texts = [str(one) for one in value]
        if len(set(texts)) < 2 or len(set(texts)) < len(texts) or any(isinstance(one, (bool, list, dict)) for one in value):
            raise ReportError(f"{where}: a list has two different texts or numbers at least, such as [\"balanced\", \"token\"]")
        return tune_axes.of_list(name, value)
    if not isinstance(value, dict):
        raise ReportError(f"{where}: {value!r} is neither a range, such as {EXAMPLE}, nor a list of values")
    unknown = set(value) - {"from", "to", "scale"}
    if unknown or not {"from", "to"} <= set(value):
        raise ReportError(f"{where}: a range has from, to and scale, such as {EXAMPLE}" + (f"; '{min(unknown)}' was found" if unknown else ""))
    if value.get("scale", "linear") not in ("log", "linear"):
        raise ReportError(f"{where}: scale: '{value['scale']}' is neither log nor linear")
    try:
        return tune_axes.of_range(name, value["from"], value["to"], value.get("scale") == "log")
    except ValueError as error:
        raise ReportError(f"{where}: {error}") from error


def _present(path, axes, content):
    by_name = {axis.name: axis for axis in axes}
    flat = _flat(content, lambda value: not isinstance(value, dict))
    for name, value in flat.items():
        where = f"{path}: tune.present.{name}"
        if name not in by_name:
            raise ReportError(f"{where}: there is no such axis; axes are: {', '.join(by_name)}")
        if isinstance(value, (bool, list)):
            raise ReportError(f"{where}: {value!r} is not a text or a number")
        try:
            by_name[name].with_text(str(value))
        except ValueError as error:
            raise ReportError(f"{where}: {error}") from error
    return {name: str(value) for name, value in flat.items()}
