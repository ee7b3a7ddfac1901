"""The scheduler: a decision by itself (bench/micro), grants over MPI against the same messages without weir, packets of
a grant, and how long a grant takes when all links are busy."""

import json

from . import running
from .samples import Comparison

EVENT_BYTES = 1000
LAYOUTS = ((1, 1, 4), (1, 1, 64), (2, 2, 4), (4, 6, 4))
NODES = (8, 86, 512, 4500, 32768)
LINK_MBPS = 200


def comparisons():
    for nodes in NODES:
        bound = 250 if nodes == 86 else None
        yield Comparison("scheduler", f"{nodes} ranks", f"offer, ready, decision with grant, done: {nodes} ranks",
                         "time per event", "weir",
                         bound=bound, at_least=False, unit="ns")
    yield Comparison("scheduler", "4500 ranks", "allocations per event in the steady state", "allocations", "weir",
                     bound=0, at_least=False)
    for producers, consumers, slots in LAYOUTS:
        case = f"memory 1x{producers}x{consumers}, {slots} slots"
        yield Comparison("scheduler", case, f"grants, {case}, events of 1 kB / the same messages without weir",
                         "grants", "weir",
                         "bare control", 0.7, unit="/s")
        yield Comparison("scheduler", case, f"control packets per grant, {case}", "packets per grant", "weir",
                         bound=1.5, at_least=False)
    yield Comparison("scheduler", "lab 4x6", "offer to grant, p99, lab 4x6: producers' links 92 % busy / idle",
                     "offer to grant p99", "weir loaded", "weir idle", None, unit="us")
    yield Comparison("scheduler", "lab 4x6", "offer to grant, median, lab 4x6: producers' links 92 % busy / idle",
                     "offer to grant p50",
                     "weir loaded", "weir idle", unit="us")


COMPARISONS = list(comparisons())


def measure(options, samples):
    local = running.Local(options.weir, options.bare)
    for number in range(options.rounds):
        for nodes, (time_ns, allocations) in decisions(options.bare, NODES).items():
            samples.add("scheduler", f"{nodes} ranks", "weir", "time per event", number, time_ns)
            samples.add("scheduler", f"{nodes} ranks", "weir", "allocations", number, allocations)
        for producers, consumers, slots in LAYOUTS:
            case = f"memory 1x{producers}x{consumers}, {slots} slots"
            samples.add("scheduler", case, "bare control", "grants", number,
                        bare_grants(local, producers, consumers, slots, options.seconds))
            for engine, words in running.ENGINES.items():
                run = granting(local, producers, consumers, slots, options.seconds, words)
                samples.add("scheduler", case, f"weir{engine}", "grants", number, grants(run))
                samples.add("scheduler", case, f"weir{engine}", "packets per grant", number,
                            run["totals"]["control_packets"] / scheduler_of(run)["grants"])
    with running.lab(options.weir, options.bare, 4, 6, f"{LINK_MBPS}Mb/s") as lab:
        for number in range(options.rounds):
            # The same number of events, 800/s, so that only their size differs: 1 % and 92 % of the producers' links.
            for load, size in (("idle", "1250B"), ("loaded", "115000B")):
                rate = int(size[:-1]) * 8 * 200
                for engine, words in running.ENGINES.items():
                    run = running.run_weir(lab, 4, 6,
                                           ["--generation", "steady", "--rate", f"{rate}b/s", "--event-size", size,
                                            "--slots", "64", "--streams", "16", "--buffer", "64MiB",
                                            "--duration", f"{3 * options.seconds}s", "--warmup", "1s", *words])
                    for name, key in (("p99", "p99_us"), ("p50", "p50_us")):
                        samples.add("scheduler", "lab 4x6", f"weir {load}{engine}", f"offer to grant {name}", number,
                                    run["latency"]["offer_to_grant"][key])


# Both only yield while they wait: with more ranks than cores, naps would be measured.


def bare_grants(local, producers, consumers, slots, seconds):
    """Events per second of the same messages without weir."""
    return running.run_bare(local, "control", producers, consumers,
                            ["--event-bytes", EVENT_BYTES + 64, "--slots", slots, "--nap-us", 0, "--seconds",
                             seconds])["events_per_s"]


def granting(local, producers, consumers, slots, seconds, words, *, look=None):
    """run.json of a run of as many small events as possible."""
    return running.run_weir(local, producers, consumers,
                            ["--generation", "saturate", "--event-size", f"{EVENT_BYTES}B", "--slots", slots,
                             "--streams", slots, "--buffer", "1MiB",
                             "--idle", "yield", "--duration", f"{seconds}s", "--warmup", "1s", *words], look)


def grants(run):
    """Per second, of granting()."""
    return running.goodput(run) / 8 / EVENT_BYTES


def scheduler_of(run):
    return next(rank for rank in run["ranks"] if rank["role"] == "scheduler")


def handling_s(directory):
    """For a grant, the scheduler's turns in which messages came."""
    return running.measured_sum(directory, "scheduler",
                                "handling_s") / running.measured_sum(directory, "scheduler", "grants")


def decisions(bare, nodes):
    """{nodes: (ns, allocations)} of an event. The balanced policy, the dearer of the two shortages."""
    output = running.program([bare.parent / "micro/scheduler_benchmark",
                              f"--benchmark_filter=balanced.*/({'|'.join(map(str, nodes))})$",
                              "--benchmark_format=json", "--benchmark_min_time=0.2"])
    worst = {}
    for line in json.loads(output)["benchmarks"]:
        found = int(line["name"].rsplit("/", 1)[1])
        worst[found] = max(worst.get(found, (0, 0)), (line["cpu_time"], line["allocations"]))
    return worst
