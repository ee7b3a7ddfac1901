"""How goodput grows with streams, sizes of events and ranks, beside a bare MPI stream of the same messages between the same
ranks. With the scheduler, in shared memory."""

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
        yield Comparison("growth", f"{streams} streams", f"memory 1x1x1, events of 16MiB, {words} / bare MPI stream", "goodput", "weir",
                         "bare stream", unit="b/s")
    for size in SIZES:
        case = f"events of {size_text(size)}"
        yield Comparison("growth", case, f"memory 1x1x1, {case}, 4 streams / bare MPI stream", "goodput", "weir", "bare stream",
                         0.9 if size == SIZES[0] else None, unit="b/s")
    for producers, consumers in LAYOUTS:
        yield Comparison("growth", f"{producers}x{consumers}", f"memory 1x{producers}x{consumers}, events of 1MiB, 4 streams / bare MPI stream",
                         "goodput", "weir", "bare stream", unit="b/s")


COMPARISONS = list(comparisons())


def measure(options, samples):
    local = running.Local(options.weir, options.bare)

    def weir(case, number, producers, consumers, size, streams):
        for engine, words in running.ENGINES.items():
            run = running.run_weir(local, producers, consumers, goodput.weir_options("balanced", size_text(size), options.seconds)
                                   + ["--streams", streams, "--slots", SLOTS, *words])
            samples.add("growth", case, f"weir{engine}", "goodput", number, running.goodput(run))

    def bare(case, number, producers, consumers, size):
        message = min(size, MIB)
        # With more ranks than cores both nap.
        rate = goodput.bare(local, producers, consumers, options, max(size // MIB, 1), goodput.BUFFER, SLOTS * size, message=message + 64,
                            nap_us=0 if producers + consumers <= 2 else 20)
        samples.add("growth", case, "bare stream", "goodput", number, rate)

    for number in range(options.rounds):
        for streams in STREAMS:
            weir(f"{streams} streams", number, 1, 1, 16 * MIB, streams)
            bare(f"{streams} streams", number, 1, 1, 16 * MIB)
        for size in SIZES:
            weir(f"events of {size_text(size)}", number, 1, 1, size, 4)
            bare(f"events of {size_text(size)}", number, 1, 1, size)
        for producers, consumers in LAYOUTS:
            weir(f"{producers}x{consumers}", number, producers, consumers, MIB, 4)
            bare(f"{producers}x{consumers}", number, producers, consumers, MIB)
