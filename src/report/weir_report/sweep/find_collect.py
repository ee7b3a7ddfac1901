"""What a search has found, as a table: one row for each setting, so that a numeric axis gives a curve."""

from __future__ import annotations

from ..compare import capacity_estimates
from .find_state import FindState

_COLUMNS = {"rate": "rate_bits_per_second", "busy": "busy_s", "slots": "slots", "streams": "streams", "consumers": "consumers",
            "burst": "burst_bytes"}


def value_column(what):
    return _COLUMNS[what]


def capacity_of(world, job_is_alive):
    return FindState(world, job_is_alive).capacity()


def rows(capacity, predicted=None):
    """`predicted`: the Capacity of the simulator, or None. An absent value is None."""
    column = f"limit_{value_column(capacity.find)}"
    made = []
    for setting in capacity.settings:
        row = {"setting": setting.name, **setting.values, "world": capacity.world, "criterion": capacity.criterion}
        row |= _limit(capacity, setting, column)
        row |= {"rounds": sum(search.complete for search in setting.searches),
                "runs": sum(len(search.runs) for search in setting.searches), "stopped": setting.stopped}
        if predicted:
            # Settings that differ in the switch only can be one simulation.
            there = next((other for other in predicted.settings
                          if all(setting.values.get(axis) == value for axis, value in other.values.items())), None)
            simulated = _limit(predicted, there, column)
            row |= {f"predicted_{name}": simulated[name] for name in (column, f"{column}_low", f"{column}_high")}
        made.append(row)
    return made


def _limit(capacity, setting, column):
    limit = capacity_estimates.limit(capacity, setting) if setting else None
    if limit is None:
        return dict.fromkeys((column, f"{column}_low", f"{column}_high", f"{column}_of_every_run", f"{column}_until", "bound", "contradictions"))
    return {column: limit.value, f"{column}_low": None if limit.below else limit.low,
            f"{column}_high": None if limit.above else limit.high, f"{column}_of_every_run": limit.every_run, f"{column}_until": limit.until,
            "bound": limit.bound or (None if limit.is_answer else "no answer"), "contradictions": limit.contradictions}


def unfinished(capacity):
    """A sentence on each setting that has fewer rounds than planned."""
    made = []
    for setting in capacity.settings:
        complete = sum(search.complete for search in setting.searches)
        if setting.stopped:
            made.append(f"{setting.name} stopped after {complete} of {capacity.rounds} rounds: {setting.stopped}.")
        elif complete < (capacity.rounds or 0):
            made.append(f"{setting.name}: {complete} of {capacity.rounds} rounds are complete.")
    return made
