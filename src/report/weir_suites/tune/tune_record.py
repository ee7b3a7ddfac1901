"""tune.json: what a tuning found. Schema weir-tune/1; docs/files-and-exit-statuses.md describes it."""

import dataclasses

from weir_runs.version import VERSION
from . import axes as tune_axes, objective, tune_text
from .found import FLAT

SCHEMA = "weir-tune/1"
FILE, PAGE = "tune.json", "tune.html"


def make(tune, found, do=""):
    figure = objective.FIGURES[tune.figure]
    good, tried = found.settings_within()

    def setting(candidate):
        return tune_axes.texts_of(found.axes, candidate)

    return {
        "schema": SCHEMA, "name": tune.name, "file": str(tune.path), "weir_version": VERSION, "world": "simulation",
        "figure": {"name": tune.figure, "key_figure": figure.name, "title": figure.title, "unit": figure.unit,
                   "better": figure.better}, "constraints": dataclasses.asdict(tune.constraints), "budget": tune.budget,
        "confirm": tune.confirm, "pairs": found.pairs, "runs": found.runs,
        "axes": [_axis(found, axis) for axis in found.axes],
        "answer": {**tune_text.short(tune, found, do).record(), "headline": tune_text.headline(tune, found)},
        "lines": tune_text.answer_lines(tune, found, do),
        "present": setting(found.present),
        "present_values": found.values[0], "present_keeps": found.present_keeps,
        "confirmed_again": found.again and {"finalist": found.again[0] + 1, "present_values": found.again[1],
                                            "values": found.again[2]},
        "confirmed_neighbour": None if found.moved is None else dict(zip(("present_values", "values"), found.moved)),
        "proposed": None if found.chosen is None else setting(found.best), "change": _change(found.change),
        "words": None if found.words is None else dataclasses.asdict(found.words),
        "audit": [{"severity": one.severity, "kind": one.kind, "text": one.text, "advice": one.advice}
                  for one in found.audited],
        "put_back": {"axes": list(found.put_back), "change": _change(found.put_back_change)},
        "finalists": [{"setting": setting(candidate), "values": values, "keeps": keeps, "change": _change(change)}
                      for candidate, values, keeps, change in zip(found.finalists, found.values[1:], found.keeps,
                                                                  found.changes)],
        "beside": [{"key_figure": one.name, **_change(change)} for one, change in found.beside],
        "sustained": found.sustained and dict(zip(("present", "proposed"), found.sustained)),
        "observed": dict(zip(("present", "proposed"), found.observed)),
        "flat": {"within": FLAT, "settings": len(good), "tried": tried, "good": list(map(setting, good))},
        "loads": [{"load": one.words, "sustained": one.sustained and dict(zip(("present", "proposed"), one.sustained)),
                   "present": _kept(one.present), "proposed": _kept(one.proposed), "breaks": one.breaks,
                   **_change(one.change)} for one in found.loads],
        "trials": [{"setting": setting(trial.candidate), "seed": trial.seed,
                    "value": objective.value_of_score(tune.figure, trial.score), "excess": trial.excess,
                    "died": trial.died} for trial in found.history], "died": found.died}


def _axis(found, axis):
    place = found.axes.index(axis)
    return {"name": axis.name, "kind": "choice" if axis.is_choice else "number", "unit": axis.unit,
            "values": list(axis.texts), "from": None if axis.values else axis.text(axis.low),
            "to": None if axis.values else axis.text(axis.high),
            "scale": None if axis.values else "log" if axis.log else "linear", "cannot_act": found.idle.get(axis.name),
            "judged": found.judged(axis.name),
            "neighbours": [{"value": axis.text(one.candidate[place]), "words": one.words, "median": one.value,
                            "keeps": one.kept.keeps, **_kept(one.kept), "breaks": one.breaks, **_change(one.change)}
                           for one in found.of_axis(axis.name)]}


def _kept(kept):
    return {**dataclasses.asdict(kept), "broken": list(kept.broken)}


def _change(change):
    return None if change is None else dataclasses.asdict(change)
