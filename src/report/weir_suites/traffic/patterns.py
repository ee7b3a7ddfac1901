"""Matrices with a closed form: all-to-all, permutation, incast, outcast, checkpoint."""

from weir_runs.basics.errors import ReportError
from .traffic_model import GENERATED_MAX, Matrix


def shares(total, count):
    """`total` as `count` whole numbers that differ by 1 at most, the larger ones first."""
    small, larger = divmod(total, count)
    return [small + 1] * larger + [small] * (count - larger)


def all_to_all(workers, per_pair=None, per_producer=None, with_own=False, interval_ns=None):
    """Every worker to every other one. Consumers are given shares in turn after the producer's own index, so that the
    bytes that are left of a division do not all go to the first ones."""
    check_pairs(workers * (workers - (0 if with_own else 1)), "--workers", workers)
    pairs = {}
    for producer in range(workers):
        others = [(producer + distance) % workers for distance in range(0 if with_own else 1, workers)]
        pairs.update(_row(producer, others, per_pair, per_producer))
    return Matrix(pairs, interval_ns)


def permutation(workers, per_pair, shift=None, generator=None, interval_ns=None):
    """Every worker sends to one other, and receives from one: to the next but `shift` - 1, or by a random permutation
    in which no worker sends to itself."""
    check_pairs(workers, "--workers", workers)
    targets = [(worker + shift) % workers for worker in range(workers)] if generator is None else derangement(workers,
                                                                                                              generator)
    return Matrix({(worker, target): per_pair for worker, target in enumerate(targets)}, interval_ns)


def derangement(count, generator):
    """A permutation without a fixed point, each of them with the same chance. Whole permutations are drawn until one
    fits: about one of e does, however many there are. To repair a drawn one would prefer some."""
    drawn = list(range(count))
    while True:
        generator.shuffle(drawn)
        if all(place != value for place, value in enumerate(drawn)):
            return drawn


def many_to_many(producers, consumers, per_pair=None, per_producer=None, interval_ns=None):
    """Every producer to every consumer: incast with one consumer or few, outcast with one producer."""
    check_pairs(producers * consumers, "--producers x --consumers", f"{producers} x {consumers}")
    pairs = {}
    for producer in range(producers):
        turned = [(producer + distance) % consumers for distance in range(consumers)]
        pairs.update(_row(producer, turned, per_pair, per_producer))
    return Matrix(pairs, interval_ns)


def checkpoint(workers, targets, shard, stripe, stripe_count, interval_ns):
    """Every worker writes a shard of a checkpoint to storage targets. Its stripes go in turn to `stripe_count` targets;
    the first of them is the one after the last of the worker before, as parallel file systems choose them when all
    targets are equally full."""
    check_pairs(workers * stripe_count, "--workers x --stripe-count", f"{workers} x {stripe_count}")
    whole, rest = divmod(shard, stripe)
    pairs = {}
    for worker in range(workers):
        for place in range(stripe_count):
            stripes = whole // stripe_count + (1 if place < whole % stripe_count else 0)
            size = stripes * stripe + (rest if place == whole % stripe_count else 0)
            if size:
                pairs[worker, (worker * stripe_count + place) % targets] = size
    return Matrix(pairs, interval_ns)


def check_pairs(count, option, value):
    if count > GENERATED_MAX:
        raise ReportError(f"{option}: {value} makes {count} pairs; at most {GENERATED_MAX} are allowed")


def _row(producer, consumers, per_pair, per_producer):
    sizes = [per_pair] * len(consumers) if per_producer is None else shares(per_producer, len(consumers))
    return {(producer, consumer): size for consumer, size in zip(consumers, sizes) if size}
