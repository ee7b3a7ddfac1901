"""The scheduler: a decision by itself (bench/micro), grants over MPI against the same messages without weir, packets of a grant, and
how long a grant takes when all links are busy."""

import json

from . import running
from .samples import Comparison

EVENT_BYTES = 1000
LAYOUTS = ((1, 1, 4), (1, 1, 64), (2, 2, 4), (4, 6, 4))
NODES = (8, 86, 512, 4500, 32768)
LINK_MBPS = 200


def comparisons():
    for nodes in NODES:
        bound = {86: 250, 4500: 500}.get(nodes)
        yield Comparison("scheduler", f"{nodes} ranks", f"offer, ready, decision with grant, done: {nodes} ranks", "time per event", "weir",
                         bound=bound, at_least=False, unit="ns")
    yield Comparison("scheduler", "4500 ranks", "allocations per event in the steady state", "allocations", "weir", bound=0, at_least=False)
    for producers, consumers, slots in LAYOUTS:
        case = f"memory 1x{producers}x{consumers}, {slots} slots"
        yield Comparison("scheduler", case, f"grants, {case}, events of 1 kB / the same messages without weir", "grants", "weir",
                         "bare control", 0.7, unit="/s")
        yield Comparison("scheduler", case, f"control packets per grant, {case}", "packets per grant", "weir", bound=1.5, at_least=False)
    yield Comparison("scheduler", "lab 4x6", "offer to grant, p99, lab 4x6: producers' links 92 % busy / idle", "offer to grant p99", "weir loaded", "weir idle", None, unit="us")
    yield Comparison("scheduler", "lab 4x6", "offer to grant, median, lab 4x6: producers' links 92 % busy / idle", "offer to grant p50",
                     "weir loaded", "weir idle", unit="us")


COMPARISONS = list(comparisons())


def measure(options, samples):
    benchmark = options.bare.parent / "micro/scheduler_benchmark"
    local = running.Local(options.weir, options.bare)
    for number in range(options.rounds):
        decisions(benchmark, samples, number)
        for producers, consumers, slots in LAYOUTS:
            case = f"memory 1x{producers}x{consumers}, {slots} slots"
            # Both only yield while they wait: with more ranks than cores, naps would be measured.
            found = running.run_bare(local, "control", producers, consumers,
                                     ["--event-bytes", EVENT_BYTES + 64, "--slots", slots, "--nap-us", 0, "--seconds", options.seconds])
            samples.add("scheduler", case, "bare control", "grants", number, found["events_per_s"])
            for engine, words in running.ENGINES.items():
                run = running.run_weir(local, producers, consumers, saturating(slots, options.seconds) + words)
                samples.add("scheduler", case, f"weir{engine}", "grants", number, running.goodput(run) / 8 / EVENT_BYTES)
                grants = next(rank for rank in run["ranks"] if rank["role"] == "scheduler")["grants"]
                samples.add("scheduler", case, f"weir{engine}", "packets per grant", number, run["totals"]["control_packets"] / grants)
    with running.lab(options.weir, options.bare, 4, 6, f"{LINK_MBPS}Mb/s") as lab:
        for number in range(options.rounds):
            # The same number of events, 800/s, so that only their size differs: 1 % and 92 % of the producers' links.
            for load, size in (("idle", "1250B"), ("loaded", "115000B")):
                rate = int(size[:-1]) * 8 * 200
                for engine, words in running.ENGINES.items():
                    run = running.run_weir(lab, 4, 6, ["--generation", "steady", "--rate", f"{rate}b/s", "--event-size", size, "--slots", "64",
                                                       "--streams", "16", "--buffer", "64MiB", "--duration", f"{3 * options.seconds}s",
                                                       "--warmup", "1s", *words])
                    for name, key in (("p99", "p99_us"), ("p50", "p50_us")):
                        samples.add("scheduler", "lab 4x6", f"weir {load}{engine}", f"offer to grant {name}", number,
                                    run["latency"]["offer_to_grant"][key])


def saturating(slots, seconds):
    return ["--generation", "saturate", "--event-size", f"{EVENT_BYTES}B", "--slots", slots, "--streams", slots, "--buffer", "1MiB",
            "--idle", "yield", "--duration", f"{seconds}s", "--warmup", "1s"]


def decisions(benchmark, samples, number):
    """The balanced policy, the dearer of the two shortages."""
    output = running.program([benchmark, "--benchmark_filter=balanced", "--benchmark_format=json", "--benchmark_min_time=0.2"])
    worst = {}
    for line in json.loads(output)["benchmarks"]:
        nodes = int(line["name"].rsplit("/", 1)[1])
        worst[nodes] = max(worst.get(nodes, (0, 0)), (line["cpu_time"], line["allocations"]))
    for nodes in NODES:
        time, allocations = worst[nodes]
        samples.add("scheduler", f"{nodes} ranks", "weir", "time per event", number, time)
        samples.add("scheduler", f"{nodes} ranks", "weir", "allocations", number, allocations)
