"""The memory that the jobs of a sweep ask for, beside what a node needs for the data of its ranks by weir's dry run."""

import math
import re

from weir_runs.basics import units
from weir_runs.basics.errors import ReportError

_MIB = {"K": 1.0 / 1024.0, "M": 1.0, "": 1.0, "G": 1024.0, "T": 1024.0 ** 2}


def check(sweep, settings, forecasts, nodes):
    """Raises ReportError if a setting needs more than --mem of `sweep.slurm.options` or of the part says: SLURM kills
    such runs, or other jobs lack what they take. What a site gives without --mem is not known here; weir.sbatch looks
    at it in the job."""
    slurm, own = sweep.slurm, dict(sweep.slurm.parts)
    for name, number, per_node in nodes.parts:
        words = (*slurm.sbatch, *own[name].sbatch) if name else slurm.sbatch
        option, asked_for = _asked_for(words)
        for setting, forecast in zip(settings, forecasts):
            needed = needed_bytes(forecast, name, number, per_node)
            if asked_for and needed > asked_for:
                node = f"a node of {name}" if name else "a node"
                raise ReportError(f"{sweep.path}: slurm.options: {option} is too little for {setting.name}, which "
                                  f"needs {units.text(needed, 'B')} for data on {node}: --mem="
                                  f"{math.ceil(needed / 2**20)}M at least; --mem=0 asks for all that a node has")


def needed_bytes(forecast, name, nodes, per_node):
    """On one of the `nodes` of a part that has most of it, at least; 0: it is not known. `name`: of the part, empty:
    all of the job."""
    of_role = {role: (number or 0, bytes_ or 0.0) for role, number, bytes_ in (
        ("producers", forecast.producers, forecast.producer_bytes),
        ("consumers", forecast.consumers, forecast.consumer_bytes))}
    if name:
        of_role = {role: found for role, found in of_role.items() if role == name}
    if sum(math.ceil(number / per_node) for number, _ in of_role.values()) > nodes:  # they share nodes
        return sum(number * bytes_ for number, bytes_ in of_role.values()) / nodes
    return max((min(number, per_node) * bytes_ for number, bytes_ in of_role.values()), default=0.0)


def _asked_for(words):
    """(the option, bytes) of the last --mem; None: it is left to the site, or all that a node has."""
    option, asked_for = "", None
    for word in words:
        if found := re.fullmatch(r"--mem=(\d{1,12})([KMGT]?)B?", word, re.IGNORECASE):
            option, asked_for = word, int(found[1]) * _MIB[found[2].upper()] * 2**20 or None
    return option, asked_for
