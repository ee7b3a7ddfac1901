"""Collectives: the transfers of their algorithms, each waiting for what its worker has to receive before.

AllReduce as a ring (a ReduceScatter, then an AllGather) or a tree, ReduceScatter and AllGather as a ring, AllToAll in
pairs or all at once. Sizes and factors are those of draft-calabria-bmwg-ai-fabric-training-bench (editor's copy of
2026-10-01): S is what each participant has in all, BusBW = S f / time.

Steps that begin together by their dependencies are told apart by their times, 1 ns after each other: a line of a trace
is known by its time and pair."""

from __future__ import annotations

import dataclasses

from weir_runs.basics.errors import ReportError
from .patterns import shares
from .traffic_model import GENERATED_MAX, Trace

ALGORITHMS = {"all-reduce": ("ring", "tree"), "reduce-scatter": ("ring",), "all-gather": ("ring",),
              "all-to-all": ("pairwise", "at-once")}
KINDS = tuple(ALGORITHMS)
FACTORS = {"all-reduce": "2 (N - 1) / N", "reduce-scatter": "(N - 1) / N", "all-gather": "(N - 1) / N",
           "all-to-all": "(N - 1) / N"}


@dataclasses.dataclass(frozen=True)
class Collective:
    """Worker i of the trace is worker `first_worker` + i of the run."""

    name: str
    file: str  # of the trace, relative to the file of the collectives
    trace: Trace
    collective: str  # one of KINDS
    algorithm: str
    workers: int
    size: int  # S
    compute_ns: int = 0  # C, before the communication
    first_worker: int = 0
    at_ns: int = 0  # of the interval
    line_rate: int | None = None  # b/s

    @property
    def bus_factor(self):
        """f"""
        share = (self.workers - 1) / self.workers
        return 2 * share if self.collective == "all-reduce" else share

    def ideal_s(self, link):
        """C + 8 S f / B"""
        return self.compute_ns * 1e-9 + 8 * self.size * self.bus_factor / link

    def unhindered_s(self, link):
        """About what an iteration takes on links of this speed: of a tree, level by level, more than the ideal."""
        levels = (self.workers.bit_length() - 1) if self.algorithm == "tree" else 0
        return max(self.ideal_s(link), self.compute_ns * 1e-9 + 2 * levels * 16 * self.size / link)

    def fabric_bytes(self):
        """S_fabric by worker: what it sends to others, each byte once."""
        sent = [0] * self.workers
        for (producer, consumer), size in self.trace.transfers():
            sent[producer] += size if producer != consumer else 0
        return sent


@dataclasses.dataclass(frozen=True)
class Collectives:
    """Collectives of one run, each repeated every interval."""

    parts: tuple
    interval_ns: int

    kind = "collectives"

    def transfers(self):
        for part in self.parts:
            for (producer, consumer), size in part.trace.transfers():
                yield (producer + part.first_worker, consumer + part.first_worker), size

    def lines(self):
        before = 0
        for part in self.parts:
            for time_ns, producer, consumer, size, after, compute_ns in part.trace.lines():
                yield (part.at_ns + time_ns, part.first_worker + producer, part.first_worker + consumer, size,
                       tuple(before + place for place in after), compute_ns)
            before += len(part.trace.rows)


def make(kind, algorithm, workers, size, compute_ns=0, *, step_compute_ns=0, pieces=1):
    """The trace of one iteration. `pieces`: of a tree, how many follow each other along it."""
    if algorithm not in ALGORITHMS[kind]:
        raise ReportError(f"--algorithm: {kind} has no {algorithm}; there is {' and '.join(ALGORITHMS[kind])}")
    least = pieces if algorithm == "tree" else workers
    if size < least:
        raise ReportError(f"--size: {size} bytes are too few: they are cut into {least} parts")
    steps = {"ring": _ring, "tree": _tree, "pairwise": _pairwise, "at-once": _at_once}[algorithm]
    count = {"ring": workers * (workers - 1) * (2 if kind == "all-reduce" else 1), "tree": 2 * (workers - 1) * pieces}
    made = count.get(algorithm, workers * (workers - 1))
    if made > GENERATED_MAX:
        raise ReportError(f"--workers: {workers} makes {made} transfers; at most {GENERATED_MAX} are allowed")
    rows, after = [], []
    for step, producer, consumer, bytes_, inputs in steps(kind, workers, size, pieces):
        rows.append((compute_ns + step, producer, consumer, bytes_))
        after.append(tuple(inputs))
    return Trace(tuple(rows), None, tuple(after), tuple(step_compute_ns if inputs else 0 for inputs in after))


def _ring(kind, workers, size, _):
    """Each step every worker passes a part on to the next one: the one that it has just received (and added its own
    to)."""
    parts = shares(size, workers)
    for step in range((workers - 1) * (2 if kind == "all-reduce" else 1)):
        # Where the AllGather of an AllReduce begins, worker i has part i + 1 complete.
        for worker in range(workers):
            inputs = [(step - 1) * workers + (worker - 1) % workers] if step else ()
            yield step, worker, (worker + 1) % workers, parts[(worker - step) % workers], inputs


def _tree(_, workers, size, pieces):
    """A binary tree of workers in the order of a heap: sums go up to worker 0 and come down again."""
    for piece, bytes_ in enumerate(shares(size, pieces)):
        first, up, down = piece * 2 * (workers - 1), {}, {}
        for worker in range(workers - 1, 0, -1):
            up[worker] = first + len(up)
            yield piece, worker, (worker - 1) // 2, bytes_, [up[child] for child in _children(worker, workers)]
        for worker in range(workers):
            inputs = [down[worker]] if worker else [up[child] for child in _children(0, workers)]
            for child in _children(worker, workers):
                down[child] = first + len(up) + len(down)
                yield piece, worker, child, bytes_, inputs


def _children(worker, workers):
    return [child for child in (2 * worker + 1, 2 * worker + 2) if child < workers]


def _pairwise(_, workers, size, __):
    """Step k: worker i sends to i + k, when it has received what i - k + 1 sent it in the step before."""
    parts = shares(size, workers)
    for step in range(workers - 1):
        for worker in range(workers):
            inputs = [(step - 1) * workers + (worker - step) % workers] if step else ()
            target = (worker + step + 1) % workers
            yield step, worker, target, parts[target], inputs


def _at_once(_, workers, size, __):
    for row in _pairwise(_, workers, size, __):
        yield 0, *row[1:4], ()
