"""How goodput grows with streams, sizes of events and ranks, beside a bare MPI stream of the same messages between the
same ranks. With the scheduler, in shared memory."""

from . import goodput, running
from .samples import Comparison

MIB = 1 << 20
STREAMS = (1, 2, 4, 16)
SIZES = (64 << 10, MIB, 16 * MIB)
LAYOUTS = ((1, 1), (2, 2), (4, 6))
SLOTS = 4


def size_text(size):
    return f"{size // MIB}MiB" if size >= MIB else f"{size >> 10}KiB"


def comparisons():
    for streams in STREAMS:
        words = f"{streams} stream{'s' if streams > 1 else ''}"
        yield Comparison("growth", f"{streams} streams", f"memory 1x1x1, events of 16MiB, {words} / bare MPI stream",
                         "goodput", "weir",
                         "bare stream", unit="b/s")
    for size in SIZES:
        case = f"events of {size_text(size)}"
        yield Comparison("growth", case, f"memory 1x1x1, {case}, 4 streams / bare MPI stream", "goodput", "weir",
                         "bare stream",
                         unit="b/s")
    for producers, consumers in LAYOUTS:
        yield Comparison("growth", f"{producers}x{consumers}",
                         f"memory 1x{producers}x{consumers}, events of 1MiB, 4 streams / bare MPI stream",
                         "goodput", "weir", "bare stream", unit="b/s")


COMPARISONS = list(comparisons())


def weir(local, producers, consumers, size, streams, options, *, words, slots=SLOTS):
    """Goodput with the scheduler."""
    return running.goodput(running.run_weir(local, producers, consumers,
                                            goodput.weir_options("balanced", size_text(size), options.seconds)
                                            + ["--streams", streams, "--slots", slots, *words]))


def bare(local, producers, consumers, size, options, slots=SLOTS):
    """That of a bare stream of the same messages. With more ranks than cores both nap."""
    return goodput.bare(local, producers, consumers, options, max(size // MIB, 1), goodput.BUFFER,
                        receive_buffer=slots * size, message=min(size, MIB) + 64,
                        nap_us=0 if producers + consumers <= 2 else 20)


def measure(options, samples):
    local = running.Local(options.weir, options.bare)

    def pair(case, number, producers, consumers, size, streams):
        for engine, words in running.ENGINES.items():
            samples.add("growth", case, f"weir{engine}", "goodput", number,
                        weir(local, producers, consumers, size, streams, options, words=words))
        samples.add("growth", case, "bare stream", "goodput", number, bare(local, producers, consumers, size, options))

    for number in range(options.rounds):
        for streams in STREAMS:
            pair(f"{streams} streams", number, 1, 1, 16 * MIB, streams)
        for size in SIZES:
            pair(f"events of {size_text(size)}", number, 1, 1, size, 4)
        for producers, consumers in LAYOUTS:
            pair(f"{producers}x{consumers}", number, producers, consumers, MIB, 4)
