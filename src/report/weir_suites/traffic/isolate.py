"""A sequence in which every transfer of a matrix or sequence is alone: its completion times are those without
competition.

Transfers between the same two ranks and of the same size take equally long, so one phase stands for all of them."""

import random

from weir_runs.basics.errors import ReportError
from weir_runs.basics.quantities import time_text
from .traffic_model import INTERVAL_MAX_NS, Matrix, Phase, Sequence, ideal_ns

PAIRS_MAX = 4000  # a phase each; weir has 4096 at most
FACTOR = 2.0
MARGIN_NS = 1_000_000
_GRAIN_NS = 1000


def isolate(traffic, link, factor=FACTOR, period_ns=None, sample=None, seed=1):
    """Raises ReportError. A phase takes `factor` times what its transfer needs on a link of `link` b/s, and 1 ms for
    what is not the link; or `period_ns`."""
    if traffic.kind not in ("matrix", "sequence"):
        what = "a trace" if traffic.kind == "trace" else traffic.kind
        raise ReportError(f"{what} cannot be isolated; a matrix or a sequence is expected")
    chosen = distinct(traffic)
    if sample is not None and sample < len(chosen):
        chosen = sorted(random.Random(seed).sample(chosen, sample), key=lambda transfer: transfer[1:])
    if len(chosen) > PAIRS_MAX:
        raise ReportError(f"{len(chosen)} transfers would be as many phases; at most {PAIRS_MAX} are allowed: --sample "
                          f"{PAIRS_MAX} chooses some at random")
    width = len(str(max(max(producer, consumer) for _, producer, consumer, _ in chosen)))
    phases = [_phase(transfer, link, factor, period_ns, width) for transfer in chosen]
    made = Sequence(tuple(phases))
    if made.interval_ns > INTERVAL_MAX_NS:
        raise ReportError(f"{len(phases)} phases take {time_text(made.interval_ns)}; weir's longest interval is 1h: a "
                          "shorter --period, a smaller --factor or a --sample is expected")
    return made


def distinct(traffic):
    """(phase, producer, consumer, bytes) of all transfers that differ in more than the phase."""
    phases = [("all", traffic)] if traffic.kind == "matrix" else [(phase.name, phase.matrix)
                                                                  for phase in traffic.phases]
    found = {}
    for name, matrix in phases:
        for (producer, consumer), size in matrix.pairs.items():
            found.setdefault((producer, consumer, size), name)
    return sorted(((name, *key) for key, name in found.items()), key=lambda transfer: transfer[1:])


def _phase(transfer, link, factor, period_ns, width):
    _, producer, consumer, size = transfer
    name = f"{producer:0{width}}-{consumer:0{width}}-{size}"
    needed = int(factor * ideal_ns(size, link)) + MARGIN_NS
    return Phase(name, f"pairs/{name}.csv", Matrix({(producer, consumer): size}),
                 period_ns or -(-needed // _GRAIN_NS) * _GRAIN_NS)
