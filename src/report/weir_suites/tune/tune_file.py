"""The file of weir-sweep tune: a sweep file with a table [tune] in the place of [axes]. Everything in it is checked
here; values of options are checked by weir's dry run, before anything is started."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from weir_compare.sweep.sweep_file import OPTION, OWN_OPTIONS, SWEEP_BYTES_MAX, parse_sweep, plain
from weir_runs.basics import quantities, toml_file, toml_table
from weir_runs.basics.input_file import read_text
from weir_runs.basics.toml_table import Place, choice, flag, is_number, key, share, shown, text, time, whole
from . import axes as tune_axes, candidate_search, objective

KEY_OF_SWITCH = re.compile(r"[a-z][a-z0-9-]{0,40}(\.[A-Za-z0-9_-]{1,40}){1,2}")
# The model costs the cube of the runs: a minute for 1000 and ten for 2000, in all rungs together.
BUDGET_MAX, IN_TIME_MAX = 2000, 1000
BUDGET_S_LEAST, BUDGET_S_MAX = 10.0, 30 * 86400.0
BUDGET = 'a number of runs, such as 120, or a time from 10s to 720h, such as "2h"'
CONFIRM_LEAST, CONFIRM_MAX = 5, 100
# Of the budget, runs of a setting in the confirmation: with more runs, the search comes nearer to settings that only
# many seeds tell apart.
CONFIRM_PART = 1 / 20
# Of a search: runs of the first sample and of a few rungs.
SEARCH_LEAST = 16
DEFAULT_SEARCH, DEFAULT_OF_AXIS = 40, 15
FINALISTS_AND_PRESENT = candidate_search.FINALISTS + 1
EXAMPLE = '{ from = "10kB", to = "1MB", scale = "log" }'
_NOT_HERE = {"axes": "what is varied stands in [tune.axes]",
             "switch": "settings are made of [tune.axes]; a command that sets the switch is on-change in [tune]",
             "find": 'the largest rate is looked for with figure = "capacity" in [tune]',
             "baseline": "settings are compared with that of [tune.present]"}
_NO_AXES = "missing; it has what is varied, such as slots = { from = 1, to = 16 }"


def _axes(place, value):
    given = toml_table.content(place, value)
    if not given:
        place.refuse(_NO_AXES)
    if len(given) > candidate_search.AXES_MAX:
        place.refuse(f"{len(given)} axes are too many; at most {candidate_search.AXES_MAX} are searched together")
    flat = _flat(given, lambda one: not isinstance(one, dict) or bool({"from", "to", "scale"} & set(one)))
    return tuple(_axis(place / name, name, one) for name, one in flat.items())


def _flat(content, is_value):
    """{"ecn.none-below": value}: without quotation marks TOML makes tables of such names."""
    found = {}
    for name, value in content.items():
        found |= {name: value} if is_value(value) else {f"{name}.{inner}": given
                                                        for inner, given in _flat(value, is_value).items()}
    return found


def _axis(place, name, value):
    if not (OPTION.fullmatch(name) or KEY_OF_SWITCH.fullmatch(name)):
        place.refuse(f"'{name}' is neither an option of weir, such as slots, nor a key of a switch, such as "
                     "ecn.none-below")
    if name in OWN_OPTIONS or name in ("seed", "switch-set"):
        place.refuse('name the key itself: "ecn.none-below"' if name == "switch-set" else
                     "weir-sweep sets it itself; leave it out")
    if isinstance(value, list):
        texts = {str(one) for one in value}
        if len(texts) < max(2, len(value)) or not all(isinstance(one, str) or is_number(one) for one in value):
            place.refuse("a list has two different texts or numbers at least, such as [\"balanced\", \"token\"]")
        return tune_axes.of_list(name, value)
    return _range(place, name, value)


def _range(place, name, value):
    if not isinstance(value, dict):
        place.refuse(f"{shown(value)} is neither a range, such as {EXAMPLE}, nor a list of values")
    unknown = set(value) - {"from", "to", "scale"}
    if unknown or not {"from", "to"} <= set(value):
        place.refuse(f"a range has from, to and scale, such as {EXAMPLE}"
                     + (f"; '{min(unknown)}' was found" if unknown else ""))
    scale = choice("log", "linear")(place / "scale", value.get("scale", "linear"))
    try:
        return tune_axes.of_range(name, value["from"], value["to"], scale == "log")
    except ValueError as error:
        return place.refuse(error)


def _present(place, value):
    flat = _flat(toml_table.content(place, value), lambda one: not isinstance(one, dict))
    return {name: plain(place / name, one) for name, one in flat.items()}


def _check_present(place, axes, present):
    by_name = {axis.name: axis for axis in axes}
    for name, shown_value in present.items():
        if name not in by_name:
            (place / name).refuse(f"there is no such axis; axes are: {', '.join(by_name)}")
        try:
            by_name[name].with_text(shown_value)
        except ValueError as error:
            (place / name).refuse(error)


def _budget(place, value):
    """A number of runs, or seconds as a float."""
    if isinstance(value, str) and not re.fullmatch(r"-?\d{1,9}", value):
        seconds = quantities.seconds_of(value)
        if seconds is None or not BUDGET_S_LEAST <= seconds <= BUDGET_S_MAX:
            place.refuse(f"'{value}' is not {BUDGET}")
        return seconds
    return int(value) if is_number(value, (int, str)) else place.refuse(f"{shown(value)} is not {BUDGET}")


@dataclasses.dataclass(frozen=True)
class TuneFile:
    """A file with [tune], whose keys are fields, too."""

    path: Path
    name: str
    text: str
    document: dict  # the file without [tune]
    figure: str = key(choice(*objective.FIGURES), objective.MARGIN)
    axes: tuple = key(_axes)  # of Axis
    present: dict = key(_present, ())  # {axis: text}; else the file's value or weir's default
    # of search and confirmation: runs, of a budget in time the least that there can be, until the first runs tell how
    # long one takes
    budget: int | None = key(_budget)
    confirm_given: int | None = key(whole(CONFIRM_LEAST, CONFIRM_MAX), None, "confirm")  # seeds of the confirmation
    seed: int = key(whole(0, 2**31 - 1), 1)  # of the search
    on_change: str | None = key(text)  # for the confirming sweep file
    lossless: bool = key(flag, False)
    paused_at_most: float | None = key(share(0.0, 1.0, "5%"))
    control_latency_at_most_s: float | None = key(time)
    budget_s: float | None = None  # of wall time, for all that is run

    @property
    def constraints(self):
        return objective.Constraints(self.lossless, self.paused_at_most, self.control_latency_at_most_s)

    @property
    def first_seed(self):
        """Of the search."""
        return int(self.document.get("run", {}).get("seed", 1))

    @property
    def confirm(self):
        """Seeds of the confirmation."""
        return self.confirm_given or confirm_of(self.budget)

    def seeds(self, history):
        """With how many seeds settings are compared after this search: those that the file has, else no more than are
        needed."""
        if self.confirm_given or self.figure == objective.CAPACITY:  # whose searches begin elsewhere in each round
            return self.confirm
        return seeds_of(self.budget, history)

    def search_runs(self, history=()):
        """What the search has of the budget."""
        return search_runs(self.budget, history, self.seeds(history))

    def given(self, name):
        """What the file sets for all runs: the text of an option in force in the simulator, or of a key of the switch;
        None: nothing."""
        if name in self.document.get("simulation", {}):
            return str(self.document["simulation"][name])
        if name in self.document.get("run", {}):
            return str(self.document["run"][name])
        return next((text.partition("=")[2] for text in reversed(self.switch_keys) if text.partition("=")[0] == name),
                    None)

    @property
    def switch_keys(self):
        """SECTION.KEY=VALUE that the file sets itself."""
        given = self.document.get("simulation", {}).get("switch-set",
                                                        self.document.get("run", {}).get("switch-set", []))
        return [given] if isinstance(given, str) else list(given)


def is_key_of_switch(name):
    return "." in name


def read(path, budget=None, of_run=None):
    """`budget`: as text, in the place of the file's; `of_run`: ([run], [simulation]) of a run that was made, in the
    place of the file's [run], and below its [simulation]. Raises ReportError with file and key."""
    path = Path(path)
    content = read_text(path, "a sweep file in TOML with a table [tune]", SWEEP_BYTES_MAX)
    document = toml_file.parse(path, content, "a file of weir-sweep tune")
    given = document.pop("tune", None)
    whole_file, place = Place(path), Place(path) / "tune"
    if not isinstance(given, dict):
        whole_file.refuse("there is no table [tune]; it names what is varied: [tune.axes] slots = { from = 1, to = 16 "
                          "}")
    for name, why in _NOT_HERE.items():
        if name in document:
            (whole_file / name).refuse(f"not in a file with [tune]: {why}")
    if of_run is not None:
        if "run" in document:
            (whole_file / "run").refuse("with --from, its options are those of the run; leave it out")
        document |= {"run": of_run[0], "simulation": {**of_run[1], **document.get("simulation", {})}}
    for name in ("simulation", "local"):
        if "seed" in document.get(name, {}):
            (whole_file / name / "seed").refuse("each run of a setting has a seed of its own; leave it out. The first "
                                                "one is seed in [run]")
    document.pop("repetitions", None)
    base = parse_sweep(path, toml_file.text(document) or "repetitions = 1\n")
    made = toml_table.read(TuneFile, place, given, path=base.path, name=base.name, text=content, document=document)
    if made.axes is None:
        (place / "axes").refuse(_NO_AXES)
    made = dataclasses.replace(made, present=dict(made.present))
    _check_present(place / "present", made.axes, made.present)
    return _with_budget(made, place / "budget", made.budget) if budget is None else \
        _with_budget(made, Place("--budget"), _budget(Place("--budget"), budget))


def _with_budget(tune, place, budget):
    """`budget`: of _budget, or None: the file has none."""
    least = SEARCH_LEAST + (tune.confirm_given or CONFIRM_LEAST) * FINALISTS_AND_PRESENT
    if isinstance(budget, float):
        return dataclasses.replace(tune, budget=least, budget_s=budget)
    if budget is None:
        budget = least - SEARCH_LEAST + DEFAULT_SEARCH + DEFAULT_OF_AXIS * len(tune.axes)
    if not least <= budget <= BUDGET_MAX:
        place.refuse(f"{budget} is not a number of runs from {least} ({SEARCH_LEAST} to search, {least - SEARCH_LEAST} "
                     f"to confirm) to {BUDGET_MAX}, nor a time, such as \"2h\"")
    return dataclasses.replace(tune, budget=budget)


def confirm_of(budget):
    """Seeds of the confirmation where runs of equal settings differ, unless the file has another number."""
    return min(max(CONFIRM_LEAST, int(budget * CONFIRM_PART)), CONFIRM_MAX)


def seeds_of(budget, history):
    """The same, as far as the runs of the search show whether they differ."""
    return candidate_search.seeds_wanted(history, confirm_of(budget))


def search_runs(budget, history, seeds):
    """What is left of the budget beside the confirmation, as far as the runs of the search show how many finalists
    there will be."""
    return budget - seeds * (candidate_search.finalists_wanted(history) + 1)
