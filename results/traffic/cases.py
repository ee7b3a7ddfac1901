"""What bench/study traffic simulates: the traffic files and the commands that make them, networks, policies, and the
commands of all runs."""

import shlex

FILES = "results/traffic/files"
LINK = "100Gb/s"
WARMUP_INTERVALS, INTERVALS = 2, 8
SEEDS = (1, 2, 3)
# Traffic: what it is, words of weir-traffic (none: written by bench/study traffic itself), interval in us, senders of a
# consumer, destinations of a producer.
WORKLOADS = {
    "permutation": ("12 workers, each sends 20 MB to one other, no two to the same",
                    "permutation --workers 12 --random --seed 1 --bytes-per-pair 20MB --interval 4ms", 4000, 1, 1),
    "incast": ("16 producers, each sends 4 MB to one consumer",
               "incast --producers 16 --bytes-per-pair 4MB --interval 12ms", 12000, 16, 1),
    "bystanders": ("8 producers, each sends 8 MB to the same consumer and 4 MB to one of its own", "", 12000, 8, 2),
    "all-to-all": ("12 workers, each sends 4 MB to every other one",
                   "all-to-all --workers 12 --bytes-per-pair 4MB --interval 8ms", 8000, 11, 11),
    "experts-2.6": ("12 workers, dispatch and combine of experts, largest receiver 2.6 times the mean",
                    "mixture-of-experts --workers 12 --tokens 128 --skew 2.6 --seed 1", 11200, 11, 11),
    "experts-5.1": ("the same, 5.1 times the mean",
                    "mixture-of-experts --workers 12 --tokens 128 --skew 5.1 --seed 1", 22000, 11, 11),
    "checkpoint": ("12 workers write 12 MiB each to 3 targets",
                   "checkpoint --workers 12 --targets 3 --shard 12MiB --every 10ms", 10000, 12, 3),
    "small": ("12 workers, each sends 4 KiB to every other one",
              "all-to-all --workers 12 --bytes-per-pair 4KiB --interval 500us", 500, 11, 11),
}
# Producer i and consumer i of these are one worker, with one NIC.
WORKERS = ("permutation", "all-to-all", "experts-2.6", "experts-5.1", "small")
MAX_MIN = "max-min"
# Caches of prompts in time, at a hundredth of the sizes and times of 2000 tokens with 320 KiB each; a file for each
# seed.
PREFILL = ("prefill-to-decode --prefill-workers 8 --decode-workers 4 --requests 4000 --prompt "
           "lognormal:2000,deviation=2000 --prefill-rate 2000000 --bytes-per-token 3277B --interval 50ms --seed")
PREFILL_INTERVAL_US = 50000
BUSY = {"idle": "none", "busy": "exponential:700us"}
# Written by hand: {name: (producer, consumer, bytes)}.
BY_HAND = {
    "bystanders": [(producer, consumer, size) for producer in range(8)
                   for consumer, size in ((0, 8000000), (producer + 1, 4000000))],
    MAX_MIN: [(producer, consumer, 10000000) for producer, consumer in ((0, 0), (0, 1), (1, 1), (2, 1))],
}
FLOWS = {"neither": ("off", "off"), "PFC": ("on", "off"), "ECN": ("off", "on"), "PFC+ECN": ("on", "on")}
NETWORKS = ("fluid", *(f"{switch} {flow}" for switch in ("shallow", "deep") for flow in FLOWS))
# Title, --policy, slots of a consumer, streams of a producer; None: as many as there are partners. A transfer has a
# window of 4 chunks under way; rr-4s has chunks of SMALL_CHUNK, so that 4 credits let as many bytes into the network as
# one does with the usual 1 MiB.
POLICIES = {"free": ("free-for-all", "none", None, None), "rr-2": ("round-robin, 2 credits", "round-robin", 2, 2),
            "lq-2": ("longest-queue, 2 credits", "longest-queue", 2, 2),
            "rr-4": ("round-robin, 4 credits", "round-robin", 4, 4),
            "rr-4s": ("round-robin, 4 credits of a quarter", "round-robin", 4, 4)}
SMALL_CHUNK = "256KiB"
PREFILL_POLICIES = ("free", "rr-2", "rr-4", "rr-4s", "rr-8", "lq-8")
PREFILL_NETWORKS = ("fluid", "shallow neither", "shallow PFC", "shallow ECN", "shallow PFC+ECN", "deep neither")
GRID_COUNTS = (1, 2, 4)
SELECTIVE = ("--loss-recovery", "selective")
SHORT_TIMEOUT = ("--switch-set", "nic.ack-timeout=1ms")
NIC_WINDOW = ("--switch-set", "nic.window=100kB")  # of a queue pair, as IRN has it: less than a round trip at full rate
RECEIVER_CREDITS, SWIFT = (("--switch-set", f"nic.control={control}") for control in ("credits", "swift"))
CONTROLS = {RECEIVER_CREDITS: "credits of receivers", SWIFT: "Swift"}
CONTROL_NETWORKS = ("shallow neither", "shallow PFC")
CONTROL_POLICIES = ("free", "rr-2", "rr-4s")


def policy_of(name):
    """Title, --policy, slots, streams; rr-8 is round-robin with 8 of both, lq is longest-queue."""
    if name in POLICIES:
        return POLICIES[name]
    rule, slots, *streams = name.split("-")
    title = {"rr": "round-robin", "lq": "longest-queue"}[rule]
    return f"{title}, {slots} credits", title, int(slots), int(streams[0] if streams else slots)


def file_of(workload):
    kind = "sequence" if workload.startswith("experts") else "trace" if workload.startswith("prefill") else "matrix"
    return f"{kind}:{FILES}/{workload}" + ("/sequence.toml" if kind == "sequence" else ".csv")


def words_of_network(network, workload):
    if network == "fluid":
        return ["--network", "fluid"]
    switch, flow = network.split(" ")
    pfc, ecn = FLOWS[flow]
    placed = ["--switch-set", "placement.kind=by-worker"] if workload in WORKERS else []
    return ["--network", "packet", "--switch", switch, *placed, "--pfc", pfc, "--ecn", ecn]


def words_of_policy(policy, senders, destinations):
    _, rule, slots, streams = policy_of(policy)
    words = ["--policy", rule, "--slots", str(slots or senders), "--streams", str(streams or destinations)]
    return [*words, "--chunk-size", SMALL_CHUNK] if policy == "rr-4s" else words


def simulation(workload, pattern, interval_us, network, policy_words, seed, *, more=(),
               times=(INTERVALS, WARMUP_INTERVALS)):
    words = ["weir", "simulate", "--pattern", pattern]
    if not pattern.startswith("sequence:"):
        words += ["--interval", f"{interval_us}us"]
    return shlex.join([*words, "--producer-link", LINK, "--consumer-link", LINK, *words_of_network(network, workload),
                       *policy_words,
                       "--duration", f"{times[0] * interval_us}us", "--warmup", f"{times[1] * interval_us}us",
                       "--drain", "2s",
                       "--seed", str(seed), *more])


def point(part, workload, network, policy, seed, more=()):
    _, _, interval_us, senders, destinations = WORKLOADS.get(workload, ("", "", 6000, 3, 2))
    return {"part": part, "workload": workload, "network": network, "policy": policy, "more": " ".join(more),
            "seed": seed,
            "command": simulation(workload, file_of(workload), interval_us, network,
                                  words_of_policy(policy, senders, destinations), seed, more=more)}


def main_points():
    for workload in WORKLOADS:
        for network in NETWORKS:
            for policy in POLICIES:
                for seed in SEEDS if network != "fluid" else SEEDS[:1]:
                    yield point("main", workload, network, policy, seed)
    for policy in POLICIES:
        yield point("main", MAX_MIN, "fluid", policy, 1)


def prefill_point(part, busy, network, policy, seed, more=()):
    words = words_of_policy(policy, 8, 4)
    return {"part": part, "workload": "prefill", "network": network, "policy": policy, "more": " ".join(more),
            "seed": seed,
            "command": simulation("prefill", file_of(f"prefill-{seed}"), PREFILL_INTERVAL_US, network, words, seed,
                                  more=("--busy", BUSY[busy], *more),
                                  times=(3, 1))}


def prefill_points():
    for busy in BUSY:
        for network in PREFILL_NETWORKS:
            for policy in PREFILL_POLICIES:
                for seed in SEEDS:
                    yield prefill_point(f"prefill-{busy}", busy, network, policy, seed)


def credit_points():
    """Round-robin and longest-queue with other numbers of credits and of streams."""
    for workload in ("all-to-all", "experts-2.6"):
        for network in ("shallow neither", "shallow PFC"):
            for rule in ("rr", "lq"):
                for slots in GRID_COUNTS:
                    for streams in GRID_COUNTS:
                        yield point("credits", workload, network, f"{rule}-{slots}-{streams}", 1)


def factor_points():
    """One thing changed: what follows a loss, windows, parameters of ECN."""
    lossy = ("incast", "experts-2.6", "checkpoint")
    small_chunks = (("--chunk-size", "256KiB"), ("--chunk-size", "64KiB"))
    for seed in SEEDS:
        for policy in ("free", "rr-2"):
            for workload in lossy:
                for more in (SELECTIVE, SHORT_TIMEOUT, NIC_WINDOW, *(small_chunks if policy == "free" else ())):
                    yield point("factors", workload, "shallow neither", policy, seed, more)
            for workload in (*lossy, "bystanders"):
                yield point("factors", workload, "dcqcn-tuned ECN", policy, seed)
        for more in (NIC_WINDOW, small_chunks[1]):
            yield point("factors", "bystanders", "shallow PFC", "free", seed, more)


def control_points():
    """Other congestion control than DCQCN, with and without a scheduler."""
    for more in CONTROLS:
        for seed in SEEDS:
            for network in CONTROL_NETWORKS:
                for workload in WORKLOADS:
                    for policy in CONTROL_POLICIES:
                        yield point("controls", workload, network, policy, seed, more)
            for policy in ("free", "rr-8"):
                yield prefill_point("controls", "busy", "shallow PFC", policy, seed, more)


def all_points():
    return [*main_points(), *prefill_points(), *credit_points(), *factor_points(), *control_points()]
