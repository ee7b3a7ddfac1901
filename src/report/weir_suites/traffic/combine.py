"""Several kinds of traffic at the same time, as one trace: each part with workers of its own or shared ones, and
repeated as often as it fits into the interval.

A part's worker i is worker `first` + i of the whole. Producers and consumers can be moved apart from each other: the
caches of 4 prefill workers go to decode workers 4 to 11 with first-consumer=4, and experts of these 8 have
first-worker=4."""

import dataclasses
import re

from weir_runs.basics import quantities
from weir_runs.basics.errors import ReportError
from weir_runs.basics.quantities import time_text
from .traffic_model import GENERATED_MAX, INDEX_MAX, INTERVAL_MAX_NS, Trace

_KEY = re.compile(r"(first-worker|first-producer|first-consumer|at)=(.*)")


@dataclasses.dataclass(frozen=True)
class Part:
    """A traffic file and where it stands in the whole."""

    file: str
    first_producer: int = 0
    first_consumer: int = 0
    at_ns: int = 0


def part(text):
    """FILE,first-worker=4,at=2ms; for argparse."""
    words, found = text.split(","), {}
    while len(words) > 1 and (match := _KEY.fullmatch(words[-1])):
        if match[1] in found:
            raise quantities.QuantityError(f"'{text}' has {match[1]} twice")
        found[match[1]] = _value(match[1], match[2])
        words.pop()
    if "first-worker" in found and len(found.keys() - {"first-worker", "at"}):
        raise quantities.QuantityError(f"'{text}' has first-worker and one of first-producer, first-consumer; the "
                                       "first stands for both")
    worker = found.get("first-worker", 0)
    return Part(",".join(words), found.get("first-producer", worker), found.get("first-consumer", worker),
                found.get("at", 0))


def _value(key, text):
    if key == "at":
        return quantities.time_ns(text)
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= INDEX_MAX):
        raise quantities.QuantityError(f"'{key}={text}' is not the number of a worker, from 0 to {INDEX_MAX}")
    return int(text)


def combine(parts, interval_ns=None):
    """(trace, [(part, repetitions)]) of pairs of a Part and its traffic. Raises ReportError."""
    for one, traffic in parts:
        if not traffic.interval_ns and not interval_ns:
            raise ReportError(f"--interval: {one.file} does not say how long it takes; an interval is expected")
    whole = interval_ns or max(one.at_ns + traffic.interval_ns for one, traffic in parts)
    if whole > INTERVAL_MAX_NS:
        raise ReportError(f"--interval: {time_text(whole)} is above 1h, which is weir's longest")
    repeated = [(one, traffic, _repetitions(one, traffic, whole)) for one, traffic in parts]
    moved = [transfer for number, one in enumerate(repeated) for transfer in _transfers(number, *one)]
    waits = any(traffic.kind == "collectives" or traffic.kind == "trace" and traffic.after is not None
                for _, traffic in parts)
    return _trace(moved, whole, waits), [(one, times) for one, _, times in repeated]


def _repetitions(one, traffic, whole):
    own = traffic.interval_ns or whole - one.at_ns
    if own < 1 or one.at_ns + own > whole:
        raise ReportError(f"{one.file}: it takes {time_text(one.at_ns + max(own, 1))}, with the time before it, and "
                          f"the interval is {time_text(whole)}; a longer --interval is expected, or a shorter part")
    times = (whole - one.at_ns) // own
    count = times * sum(1 for _ in traffic.transfers())
    if count > GENERATED_MAX:
        raise ReportError(f"{one.file}: repeated {times} times in {time_text(whole)} it has {count} transfers; at most "
                          f"{GENERATED_MAX} are allowed: a shorter --interval is expected")
    return times


@dataclasses.dataclass(frozen=True)
class _Transfer:
    time_ns: int
    key: tuple  # part, repetition, place in it: unique, and in the order of its part
    producer: int
    consumer: int
    size: int
    after: tuple = ()  # keys
    compute_ns: int = 0


def _transfers(number, one, traffic, times):
    lines = list(traffic.lines())
    for repetition in range(times):
        begin = one.at_ns + repetition * (traffic.interval_ns or 0)
        for place, (time_ns, producer, consumer, size, after, compute_ns) in enumerate(lines):
            if max(producer + one.first_producer, consumer + one.first_consumer) > INDEX_MAX:
                raise ReportError(f"{one.file}: with what is added its workers are above {INDEX_MAX}")
            yield _Transfer(begin + time_ns, (number, repetition, place), producer + one.first_producer,
                            consumer + one.first_consumer, size, tuple((number, repetition, other) for other in after),
                            compute_ns)


def _trace(moved, whole, waits):
    moved.sort(key=lambda one: (one.time_ns, one.key))
    if waits:
        moved = _told_apart(moved)
    places = {one.key: place for place, one in enumerate(moved)}
    rows = tuple((one.time_ns, one.producer, one.consumer, one.size) for one in moved)
    if not waits:
        return Trace(rows, whole)
    return Trace(rows, whole, tuple(tuple(places[key] for key in one.after) for one in moved),
                 tuple(one.compute_ns for one in moved))


def _told_apart(moved):
    """Where transfers wait for others, each is known by its time and pair: equal ones begin 1 ns after each other."""
    taken, made = set(), []
    for one in moved:
        time_ns = one.time_ns
        while (time_ns, one.producer, one.consumer) in taken:
            time_ns += 1
        taken.add((time_ns, one.producer, one.consumer))
        made.append(dataclasses.replace(one, time_ns=time_ns))
    return sorted(made, key=lambda one: (one.time_ns, one.key))
