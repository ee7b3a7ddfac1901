"""What bench/study fabric simulates: two fabrics, four kinds of traffic, how switches choose among equal ways, and the
commands of all runs.

32 workers, each a producer and a consumer of one host with one NIC of 100 Gb/s, at four leaves of eight hosts.
"""

import shlex

WORKERS, LEAVES, LINK_GBPS = 32, 4, 100
PER_LEAF = WORKERS // LEAVES
FABRICS = {"1:1": ("one-to-one", 8), "2:1": ("two-to-one", 4)}  # file of the switch; uplinks of a leaf
FLOWS = {"neither": ("off", "off"), "PFC": ("on", "off"), "ECN": ("off", "on"), "PFC+ECN": ("on", "on")}
BALANCING = ("ecmp", "flowlets", "spray", "adaptive")
QUEUE_PAIRS = (1, 8)
SEEDS = (1, 2, 3)
MORE_SEEDS = tuple(range(4, 16))
# What a NIC keeps of packets that come ahead: [nic] reorder of the two files. More than these fabrics reorder, and less
# than a transfer has under way, so that a lost packet is found before a time-out.
REORDER = "192KiB"
# Payload of a packet over all that it takes of a link: MTU 4096, 82 bytes of headers, preamble and gap.
PAYLOAD = 4096 / 4178
MIB = 2 ** 20
# Of a pair in an interval; as many chunks of 32 KiB under way as make 256 KiB of a transfer. Intervals are long enough
# for two time-outs of 67 and 134 ms, so that no phase meets the rest of the one before.
PAIR_BYTES, INTERVAL_US, INTERVALS = MIB, 262144, (1, 1)
WINDOW = ("--chunk-size", "32KiB", "--window", "8")
# Event building: fragments, and 80 % of the rate at which the first part of the fabric is full.
FRAGMENT, BUILD_US, BUILD_INTERVALS = "100kB", 4000, (3, 1)
BUILD_RATE_GBPS = {"1:1": 80, "2:1": 52}
RING, RING_US, RING_INTERVALS = "results/fabric/files/ring", INTERVAL_US, (1, 1)
RING_BYTES = 32 * MIB
# Worker w of the ring is at leaf w modulo 4: each of its steps goes to another leaf.
RING_PLACES = [worker % LEAVES * PER_LEAF + worker // LEAVES for worker in range(WORKERS)]
RING_WORDS = (f"collective --kind all-reduce --algorithm ring --workers {WORKERS} --size {RING_BYTES // MIB}MiB "
              f"--interval {RING_US / 1000:g}ms")
TRAFFIC = {
    "all-to-all": f"each worker sends {PAIR_BYTES // MIB} MiB to every other one, all at once; nobody schedules",
    "all-to-all, scheduled": "the same; a scheduler grants each transfer, and a consumer takes four at a time "
                             "(round-robin)",
    "event building": f"each event has a fragment of {FRAGMENT} of every worker and is built by one of them, which a "
                      "scheduler chooses; 80 % of what the fabric carries",
    "ring": f"AllReduce of {RING_BYTES // MIB} MiB as a ring, worker w at leaf w modulo 4: every step of every worker "
            "crosses a spine",
}


def all_to_all(policy, pair_bytes=PAIR_BYTES, workers=WORKERS):
    """The rate gives each pair so much in an interval; a worker's own part stays in its host."""
    return ["--producers", str(workers), "--consumers", str(workers), "--switch-set", "placement.kind=by-worker",
            "--destination", "addressed", "--rate",
            f"{workers * pair_bytes * 8 * 1000000 // INTERVAL_US}b/s", "--event-size", f"{pair_bytes}B",
            *times(INTERVAL_US, INTERVALS), *WINDOW, *policy]


def times(interval_us, intervals):
    return ["--interval", f"{interval_us}us", "--duration", f"{intervals[0] * interval_us}us", "--warmup",
            f"{intervals[1] * interval_us}us",
            "--drain", "2s"]


FREE = ("--policy", "none", "--slots", str(WORKERS), "--streams", str(WORKERS))
SCHEDULED = ("--policy", "round-robin", "--slots", "4", "--streams", "4")


def building(rate_gbps, slots=4):
    return ["--producers", str(WORKERS), "--consumers", str(WORKERS), "--switch-set", "placement.kind=by-worker",
            "--pattern", "build", "--rate",
            f"{rate_gbps}Gb/s", "--event-size", FRAGMENT, *times(BUILD_US, BUILD_INTERVALS), *WINDOW, "--slots",
            str(slots), "--streams", str(WORKERS)]


def traffic_words(traffic, fabric):
    if traffic == "ring":
        return ["--pattern", f"collectives:{RING}/collectives.toml", "--switch-set", "placement.kind=explicit",
                "--switch-set",
                "placement.hosts=" + ",".join(map(str, RING_PLACES)), "--policy", "none", "--event-size",
                f"{RING_BYTES // WORKERS}B",
                "--chunk-size", "32KiB", "--window", "32", "--slots", "2", "--streams", "2",
                *times(RING_US, RING_INTERVALS)]
    if traffic == "event building":
        return building(BUILD_RATE_GBPS[fabric])
    return all_to_all(FREE if traffic == "all-to-all" else SCHEDULED)


def ideal_us(traffic, fabric):
    """What the fullest part of the fabric needs: hosts' NICs, or all uplinks of a leaf. Only where the record of a run
    has no ideal: the sets of event building, of which a worker keeps 1/32 and 24/32 leave its leaf; and the ring."""
    uplinks = FABRICS[fabric][1]
    if traffic == "ring":
        steps, bits = 2 * (WORKERS - 1), RING_BYTES / WORKERS * 8
        return steps * bits * max(1, PER_LEAF / uplinks) / (LINK_GBPS * PAYLOAD) / 1000
    bits = BUILD_RATE_GBPS[fabric] * BUILD_US * 1000
    away = (WORKERS - PER_LEAF) / WORKERS
    return bits * max((WORKERS - 1) / WORKERS, PER_LEAF * away / uplinks) / (LINK_GBPS * PAYLOAD) / 1000


def point(part, traffic, fabric, balancing, flow, queue_pairs, *, seed, more=(), words=None, switch=None):
    pfc, ecn = FLOWS[flow]
    command = shlex.join(["weir", "simulate", "--network", "packet",
                          *(switch or ("--switch", f"./results/fabric/{FABRICS[fabric][0]}.toml")),
                          "--switch-set", f"balancing.kind={balancing}", "--pfc", pfc, "--ecn", ecn, "--queue-pairs",
                          str(queue_pairs),
                          "--producer-link", f"{LINK_GBPS}Gb/s", "--consumer-link", f"{LINK_GBPS}Gb/s",
                          *(words or traffic_words(traffic, fabric)), "--seed", str(seed), *more])
    ideal = ideal_us(traffic, fabric) if traffic in ("ring", "event building") else None
    return {"part": part, "traffic": traffic, "fabric": fabric, "balancing": balancing, "flow": flow,
            "queue_pairs": queue_pairs,
            "more": " ".join(more), "seed": seed, "ideal_us": ideal, "command": command}


def main_points():
    for traffic in TRAFFIC:
        for fabric in FABRICS:
            for balancing in BALANCING:
                for flow in FLOWS:
                    for queue_pairs in QUEUE_PAIRS:
                        # Where packets choose their way one by one, queue pairs have nothing to spread: one seed.
                        for seed in SEEDS if queue_pairs == 1 or balancing == "ecmp" else SEEDS[:1]:
                            yield point("main", traffic, fabric, balancing, flow, queue_pairs, seed=seed)


def varied(part, more=(), traffic="all-to-all", balancing=BALANCING, *, flows=("PFC",), queue_pairs=(1,), seeds=SEEDS,
           words=None, switch=None):
    """One thing changed: `more`, words of weir, or all words of the traffic, or the switch; both are functions of the
    fabric."""
    for fabric in FABRICS:
        for kind in balancing:
            for flow in flows:
                for count in queue_pairs:
                    for seed in seeds:
                        yield point(part, traffic, fabric, kind, flow, count, seed=seed, more=more,
                                    words=words and words(fabric), switch=switch and switch(fabric))


def switch_set(*values):
    return tuple(word for value in values for word in ("--switch-set", value))


def tuned(fabric):
    """The same topology with the built-in switch `dcqcn-tuned`."""
    return ("--switch", "dcqcn-tuned",
            *switch_set("topology.kind=leaf-spine", f"topology.leaves={LEAVES}",
                        f"topology.spines={FABRICS[fabric][1]}", f"nic.reorder={REORDER}"))


# One thing changed: {part: what it is}.
PARTS = {
    "seeds": f"{len(MORE_SEEDS)} other seeds",
    "small": "transfers of 128 KiB",
    "large": "transfers of 4 MiB",
    "128 hosts": "eight leaves of 16 hosts, 16 or 8 spines; transfers of 128 KiB",
    "slow cable": "the cable from leaf 0 to spine 0 has 25 Gb/s",
    "in order": "NICs take the first packet ahead for a loss (`nic.reorder=0B`)",
    "in order, selective": "the same NICs with selective repeat",
    "selective": "selective repeat, and NICs that put packets in order",
    "reorder 64 KiB": "NICs keep 64 KiB of what comes ahead instead of 192 KiB",
    "reorder 1 MiB": "1 MiB, more than a transfer has under way",
    "one hash": "8 queue pairs have one hash (`balancing.hash-queue-pairs=false`)",
    "tuned": "ECN and DCQCN of `dcqcn-tuned`",
    "gap 20 us": "flowlets after 20 us instead of 2 us",
    "time-out": "`nic.ack-timeout=1ms` instead of 67 ms",
    "own class": "grants in a class of their own (`--control-priority own`)",
    "two credits": "a consumer takes two transfers at a time instead of four",
    "two slots": "a consumer has room for two events instead of four",
    "95 %": "95 % of what the fabric carries instead of 80 %",
}
OTHER_SIZES = ("small", "large", "128 hosts", "95 %")  # not beside the main part: other traffic
NEARLY_FULL_GBPS = {"1:1": 95, "2:1": 62}


def change_points():
    fixed = ("ecmp", "spray")
    yield from varied("seeds", seeds=MORE_SEEDS)
    yield from varied("small", flows=("PFC", "neither"), words=lambda fabric: all_to_all(FREE, MIB // 8))
    yield from varied("large", balancing=fixed, seeds=(1,), words=lambda fabric: all_to_all(FREE, 4 * MIB))
    for fabric, (_, spines) in FABRICS.items():
        larger = switch_set("topology.leaves=8", f"topology.spines={2 * spines}")
        yield from (one for one in varied("128 hosts", larger, balancing=fixed, flows=("PFC", "neither"), seeds=(1,),
                                          words=lambda fabric: all_to_all(
            ("--policy", "none", "--slots", "128", "--streams", "128"), MIB // 8, 128)) if one["fabric"] == fabric)
    yield from varied("slow cable", switch_set("topology.own-rates=leaf-0:spine-0=25Gb/s"))
    yield from varied("in order", switch_set("nic.reorder=0B"), flows=("PFC", "neither"), seeds=(1,))
    yield from varied("in order, selective", (*switch_set("nic.reorder=0B"), "--loss-recovery", "selective"),
                      flows=("PFC", "neither"), seeds=(1,))
    yield from varied("reorder 64 KiB", switch_set("nic.reorder=64KiB"), "event building", seeds=(1,))
    yield from varied("reorder 1 MiB", switch_set("nic.reorder=1MiB"), flows=("PFC", "neither"), seeds=(1,))
    yield from varied("reorder 1 MiB", switch_set("nic.reorder=1MiB"), "event building")
    yield from varied("selective", ("--loss-recovery", "selective"), flows=("neither",))
    yield from varied("one hash", switch_set("balancing.hash-queue-pairs=false"), balancing=("ecmp",), queue_pairs=(8,))
    for traffic in ("all-to-all", "ring"):
        yield from varied("tuned", traffic=traffic, flows=("ECN", "PFC+ECN"), seeds=(1,), switch=tuned)
        yield from varied("gap 20 us", switch_set("balancing.gap=20us"), traffic, ("flowlets",))
    yield from varied("time-out", switch_set("nic.ack-timeout=1ms"), flows=("neither",))
    yield from varied("own class", ("--control-priority", "own"), "all-to-all, scheduled", fixed,
                      flows=("PFC", "neither"))
    yield from varied("two credits", traffic="all-to-all, scheduled", flows=("PFC", "neither"), balancing=fixed,
                      words=lambda fabric: all_to_all(("--policy", "round-robin", "--slots", "2", "--streams", "2")))
    yield from varied("two slots", traffic="event building", words=lambda fabric: building(BUILD_RATE_GBPS[fabric], 2))
    yield from varied("95 %", traffic="event building", words=lambda fabric: building(NEARLY_FULL_GBPS[fabric]))


def all_points():
    return [*main_points(), *change_points()]
