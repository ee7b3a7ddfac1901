"""How a run grows with its ranks, up to 1 x 60 x 60: goodput, grants, start and end, memory. With more ranks than cores
it shows what ranks cost each other; on a machine with many cores, what the scheduler carries."""

from . import running
from .samples import Comparison

LAYOUTS = ((4, 6), (15, 15), (30, 30), (60, 60))
EVENT_BYTES = 1000

COMPARISONS = [Comparison("scale", f"1x{producers}x{consumers}", f"memory 1x{producers}x{consumers}: {words}", quantity,
                          "weir", unit=unit)
               for quantity, words, unit in (("goodput", "goodput, events of 1 MiB", "b/s"),
                                             ("grants", "grants, events of 1 kB", "/s"),
                                             ("start and end", "start and end of a run", "s"),
                                             ("memory", "largest process", "B"))
               for producers, consumers in LAYOUTS]


def measure(options, samples):
    local = running.Local(options.weir, options.bare)
    for number in range(options.rounds):
        for producers, consumers in LAYOUTS:
            for engine, words in running.ENGINES.items():
                name, case = f"weir{engine}", f"1x{producers}x{consumers}"
                run, around_s, memory_bytes = timed(local, producers, consumers, options.seconds,
                                                    ["--event-size", "1MiB", "--buffer", "64MiB", *words])
                samples.add("scale", case, name, "goodput", number, running.goodput(run))
                samples.add("scale", case, name, "start and end", number, around_s)
                samples.add("scale", case, name, "memory", number, memory_bytes)
                run, *_ = timed(local, producers, consumers, options.seconds,
                                ["--event-size", f"{EVENT_BYTES}B", "--buffer", "1MiB", *words])
                samples.add("scale", case, name, "grants", number, running.goodput(run) / 8 / EVENT_BYTES)


def timed(world, producers, consumers, seconds, words):
    """(run.json, seconds of the whole run beside its warm-up and measured time, bytes of the largest process)."""
    spent = []
    run = running.run_weir(world, producers, consumers,
                           ["--generation", "saturate", "--duration", f"{seconds}s", "--warmup", "1s", *words],
                           start=lambda line, **more: spent.extend(running.spent(line, **more)))
    elapsed_s, _, memory_bytes = spent
    return run, elapsed_s - seconds - 1, memory_bytes
