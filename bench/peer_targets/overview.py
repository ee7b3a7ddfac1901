"""The first table of the page: lines with the few figures that answer a question each, and what is asked of them.
Every figure is measured anew, by the functions of the other targets and of `simulations`."""

import dataclasses

from . import building, costs, goodput, growth, packets, ranks, running, scheduler, simulations
from .samples import Comparison

MIB = 1 << 20
TWIN = "14x72"  # of packets.CASES: the layout of which 300 s are asked for
TWIN_SECONDS = 300
CARRIED = (64 << 10, MIB, 16 * MIB)
# Both engines over the loopback interface; and both with one copy from process to process.
TCP = running.Local.Path(("--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"),
                         {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"})
ONE_COPY = running.Local.Path(("--mca", "btl_vader_single_copy_mechanism", "cma"))


@dataclasses.dataclass(frozen=True)
class Line:
    question: str
    parts: tuple  # Comparisons, whose `what` says what this one is of


def part(case, what, quantity, unit="", at_least=None, *, at_most=None, theirs=""):
    return Comparison("overview", case, what, quantity, "weir", theirs, at_least if at_most is None else at_most,
                      at_most is None, unit)


def ratio(case, what, theirs, at_least):
    return part(case, what, "goodput", "b/s", at_least, theirs=theirs)


FEW, MANY = "1x1x1, 64 slots", "1x4x6, 4 slots"
LAYOUTS = {FEW: (1, 1, 64), MANY: (4, 6, 4)}

LINES = (
    Line("A decision: offer, ready, the choice with its grant, done",
         (part("86 ranks", "86 ranks", "time per event", "ns"),
          part("4500 ranks", "4500 ranks", "time per event", "ns", at_most=100))),
    Line("Grants in shared memory, events of 1 kB",
         (part(FEW, FEW, "grants", "/s", 10e6), part(MANY, MANY, "grants", "/s", 3e6))),
    Line("What weir adds to the time of an event, beside its three messages without weir",
         (part(FEW, FEW, "added", "ns"), part(MANY, MANY, "added", "ns"))),
    Line("What a scheduler with a core of its own carries",
         tuple(part(MANY, f"events of {growth.size_text(size)}", f"carried with {growth.size_text(size)}", "b/s")
               for size in CARRIED)),
    Line("Small events: goodput over that of a bare MPI stream",
         (ratio("64KiB", "64 KiB, 16 streams", "bare stream", 0.9),)),
    Line("Large events: goodput over that of a bare MPI stream",
         (ratio("16MiB, 1 stream", "16 MiB, 1 stream", "bare stream", 0.95),
          ratio("16MiB, 4 streams", "16 MiB, 4 streams", "bare stream", 0.95))),
    Line("87 ranks on this machine's cores",
         (ratio(ranks.CASE, "goodput over that of a bare loop that naps", "bare stream", 0.9),
          part(ranks.CASE, "share of a core that an idle rank takes", "share of a core", at_most=0.007))),
    Line("`--verify full`, events of 16 MiB", (part("verify", "stamped and checked", "checked", "B/s", 12e9),)),
    Line("Engine ucx: goodput over that of engine mpi",
         (ratio("64MiB over TCP", "64 MiB over TCP", "weir over mpi", 0.95),
          ratio("1MiB get", "1 MiB, get", "weir over mpi", 0.9))),
    Line("Simulation packet by packet",
         (part(TWIN, "14 x 72, transmissions per CPU second", "transmissions", "/s", 20e6),
          part("18x14", "18 x 14", "transmissions", "/s", 20e6),
          part("500x500", "500 x 500", "transmissions", "/s", 12e6),
          part(TWIN, f"{TWIN_SECONDS} s of 14 x 72, on a core", "time of a run", "s", at_most=120))),
    Line("A permutation of 1 MB over 4096 hosts and 64 leaves, packet by packet",
         (part("4096 hosts", "processor time", "processor time", "s", at_most=4),
          part("4096 hosts", "memory", "memory", "B", at_most=300e6))),
    Line(f"Fluid simulation: processor time over that of commit {simulations.BEFORE}",
         tuple(part(case, case, "processor time", "s", at_most=0.5, theirs="weir before")
               for case in simulations.FLUID)),
    Line("Fluid simulation of event building, 300 x 200, fragments of 10 MB",
         (part("building", "simulated seconds per CPU second", "speed", at_least=1),)),
    Line(f"A sweep of {simulations.RUNS} short simulations",
         (part("sweep", "processor time of each", "processor time of a run", "ms", at_most=15),
          part("compare", "`weir-compare` of all: processor time", "processor time", "s", at_most=10),
          part("compare", "its memory", "memory", "B", at_most=200e6))),
    Line("Building the program from nothing on these cores",
         (part("program", "elapsed, without a compiler cache", "elapsed", "s", at_most=100),)),
)
COMPARISONS = [each for line in LINES for each in line.parts]


def measure(options, samples):
    for number in range(options.rounds):
        def add(case, peer, quantity, value, number=number):
            samples.add("overview", case, peer, quantity, number, value)

        if number == 0:
            measure_once(add)
        measure_round(options, add)


def measure_once(add):
    """What takes minutes."""
    add("program", "weir", "elapsed", building.spent(running.TOP)[0])


def measure_round(options, add):
    local = running.Local(options.weir, options.bare)
    for nodes, (time_ns, _) in scheduler.decisions(options.bare, (86, 4500)).items():
        add(f"{nodes} ranks", "weir", "time per event", time_ns)
    for case, layout in LAYOUTS.items():
        grants(local, case, layout, options.seconds, add)
    # An event of 64 KiB is one message: so many streams have as many under way as the bare stream.
    for case, size, slots, streams, engines in (("64KiB", 64 << 10, goodput.WINDOW, goodput.WINDOW, running.ENGINES),
                                                ("16MiB, 1 stream", 16 * MIB, growth.SLOTS, 1, {"": []}),
                                                ("16MiB, 4 streams", 16 * MIB, growth.SLOTS, 4, {"": []})):
        add(case, "bare stream", "goodput", growth.bare(local, 1, 1, size, options, slots))
        for engine, words in engines.items():
            add(case, f"weir{engine}", "goodput",
                growth.weir(local, 1, 1, size, streams, options, words=words, slots=slots))
    add(ranks.CASE, "bare stream", "goodput", ranks.bare(local, options.seconds))
    for engine, words in running.ENGINES.items():
        add(ranks.CASE, f"weir{engine}", "goodput", ranks.saturated(local, options.seconds, words))
        add("verify", f"weir{engine}", "checked", costs.verified(local, "full", options.seconds, words) / 8)
    shares = ranks.idle_shares(local, 2 * options.seconds, [])
    add(ranks.CASE, "weir", "share of a core", sum(shares) / len(shares))
    compare_engines(options, add)
    for case in (TWIN, "18x14", "500x500"):
        for line in packets.costs(options.bare, case):
            add(case, "weir", "transmissions", packets.transmissions(line))
            if case == TWIN:
                add(case, "weir", "time of a run", TWIN_SECONDS * packets.cost(line))
    simulations.measure_round(options.weir, add)


def grants(local, case, layout, seconds, add):
    """Grants with and without weir. What a core of the scheduler carries: as many events as fit into a second of its
    turns with messages."""
    bare = scheduler.bare_grants(local, *layout, seconds)
    for engine, words in running.ENGINES.items():
        handling_s = []
        weir = scheduler.grants(scheduler.granting(local, *layout, seconds, words,
                                                   look=lambda out: handling_s.append(scheduler.handling_s(out))))
        add(case, f"weir{engine}", "grants", weir)
        add(case, f"weir{engine}", "added", 1e9 / weir - 1e9 / bare)
        if case == MANY:
            for size in CARRIED:
                add(case, f"weir{engine}", f"carried with {growth.size_text(size)}", 8 * size / handling_s[0])


def compare_engines(options, add):
    for case, size, path, words in (("64MiB over TCP", 64 * MIB, TCP, []),
                                    ("1MiB get", MIB, ONE_COPY, ["--transport", "get"])):
        local = running.Local(options.weir, options.bare, path)
        for peer, engine in (("weir", "ucx"), ("weir over mpi", "mpi")):
            add(case, peer, "goodput", growth.weir(local, 1, 1, size, 4, options, words=[*words, "--engine", engine]))
