"""What a traffic file describes: a matrix, a trace or a sequence of matrices, and the sums over their links.

`lines()` of each kind: (ns of the interval, producer, consumer, bytes, numbers of the lines that it waits for, ns of
computing) of the transfers of one interval, one by one.

A rank of weir has one role, so a worker that both sends and receives is a producer i and a consumer i: two ranks on one
host. A pair i -> i would stay inside that host; generators leave it out."""

from __future__ import annotations

import collections
import dataclasses
import itertools

# Those of weir (src/config/limits.hpp, src/core/plan.hpp), so that what is accepted here is accepted there.
TRANSFERS_MAX = 2**22  # of an interval
RANK_PAIRS_MAX = 2**26  # producers x consumers
PHASES_MAX = 4096  # with repetitions
INDEX_MAX = 2**20 - 2
TRANSFER_BYTES_MAX = 2**50
INTERVAL_BYTES_MAX = 2**62  # of all transfers together
FILE_BYTES_MAX = 64 << 20
INTERVAL_MAX_NS = 3600 * 10**9
SLOTS_MAX = STREAMS_MAX = 1024  # of a rank
# Most that generators make: pairs of a matrix, lines of a trace.
GENERATED_MAX = 1_000_000


@dataclasses.dataclass(frozen=True)
class Matrix:
    """Bytes of each pair in one interval; pairs without bytes are not in it."""

    pairs: dict  # (producer, consumer) -> bytes
    interval_ns: int | None = None  # None: whatever --interval says

    kind = "matrix"

    def transfers(self):
        """((producer, consumer), bytes) of each transfer of an interval."""
        return self.pairs.items()

    def lines(self, begin_ns=0):
        for (producer, consumer), size in sorted(self.pairs.items()):
            yield begin_ns, producer, consumer, size, (), 0

    def transposed(self):
        """What went from i to j comes back from j to i."""
        return Matrix({(consumer, producer): size for (producer, consumer), size in self.pairs.items()},
                      self.interval_ns)


@dataclasses.dataclass(frozen=True)
class Trace:
    """Transfers that begin at their times of the interval: (time_ns, producer, consumer, bytes), in ascending order.
    Those that wait for others begin when these have been received, and after a time of computing."""

    rows: tuple
    interval_ns: int | None = None
    after: tuple | None = None  # by row: the numbers of rows that it waits for
    compute: tuple | None = None  # by row: ns

    kind = "trace"

    def transfers(self):
        for _, producer, consumer, size in self.rows:
            yield (producer, consumer), size

    def lines(self):
        nothing = itertools.repeat(())
        for row, after, compute_ns in zip(self.rows, self.after or nothing, self.compute or itertools.repeat(0)):
            yield (*row, after, compute_ns)


@dataclasses.dataclass(frozen=True)
class Phase:
    """A matrix that is transferred `repeat` times, every `period_ns`."""

    name: str
    file: str  # relative to the sequence's file
    matrix: Matrix
    period_ns: int
    repeat: int = 1


@dataclasses.dataclass(frozen=True)
class Sequence:
    phases: tuple

    kind = "sequence"

    @property
    def interval_ns(self):
        return sum(phase.repeat * phase.period_ns for phase in self.phases)

    def transfers(self):
        for phase in self.phases:
            for pair, size in phase.matrix.pairs.items():
                yield pair, phase.repeat * size

    def lines(self):
        begin_ns = 0
        for phase in self.phases:
            for _ in range(phase.repeat):
                yield from phase.matrix.lines(begin_ns)
                begin_ns += phase.period_ns


@dataclasses.dataclass(frozen=True)
class Sums:
    """Bytes of an interval, by link. Every index up to the largest one is a rank, with or without bytes."""

    sent: list  # by producer
    received: list  # by consumer
    pairs: int
    total: int

    @property
    def largest(self):
        """Bytes over the busiest link: no schedule moves them faster than it can."""
        return max(max(self.sent), max(self.received))


def sums(traffic):
    sent, received, pairs, total = {}, {}, set(), 0
    for (producer, consumer), size in traffic.transfers():
        sent[producer] = sent.get(producer, 0) + size
        received[consumer] = received.get(consumer, 0) + size
        pairs.add((producer, consumer))
        total += size
    return Sums(_by_index(sent), _by_index(received), len(pairs), total)


def _by_index(by_rank):
    return [by_rank.get(index, 0) for index in range(max(by_rank) + 1)]


def peers(traffic):
    """(the most producers that send to one consumer, the most consumers that one producer sends to)"""
    pairs = {pair for pair, _ in traffic.transfers()}
    return (max(collections.Counter(consumer for _, consumer in pairs).values()),
            max(collections.Counter(producer for producer, _ in pairs).values()))


def ideal_ns(size, link):
    """How long `size` bytes take on a link of so many b/s, rounded up: nothing else on it, no headers."""
    return -(-size * 8 * 10**9 // link)
