"""What bench/study best-settings tunes: five cases with four groups of settings each. Here are the files of weir-sweep
tune, and the commands of runs.

Four cases are the layouts of the LHCb 2021 paper, as in scenarios lhcb2021-1 to -4: links, rates, who is busy, and for
how much of the time. Times are a hundredth of the paper's, and a set has 16 events. In rows 3 and 4 the scenarios have
one slot, with which nothing ever waits in the switch; here they have weir's four."""

import dataclasses
import json
import math
import shlex

INTERVAL_MS, WARMUP_SETS, SETS, EVENTS_PER_SET = 10, 1, 3, 32
# Where DCQCN acts, whose times do not shrink with the interval, both settings are compared once more with one that is
# so many times as long.
LONGER = 10
LONGER_OPTIONS = {"time-scale": LONGER, "duration": f"{INTERVAL_MS}ms"}  # a set of warm-up, and one that is measured
FIRST_FRESH, PAIRS = 1001, 5  # seeds of the confirmation: the first one, and how many
MIB = 2 ** 20
# 4 MiB of a transfer under way at most, as weir has it with large events
WINDOW = {"chunk-size": "128KiB", "window": 32}


@dataclasses.dataclass(frozen=True)
class Case:
    title: str
    options: dict  # of weir run and weir simulate
    consumer_link: str
    keys: tuple = ()  # SECTION.KEY=VALUE of the switch
    hosts: tuple = ()  # (axis, range or list) of the group "hosts"
    present: dict = dataclasses.field(default_factory=dict)  # of it, where weir's default is no number


@dataclasses.dataclass(frozen=True)
class Group:
    title: str
    pfc: str
    ecn: str
    axes: tuple  # (axis, range or list); of the group "hosts" empty: those of the case
    budget: int
    lossless: bool


def row(number, producers, consumers, rate_gbps, busy=None):
    """busy: (share of the time in which a consumer works, of all consumers; quantum in ms)."""
    # rounded up, or a set would have another one of a few bytes
    event_bytes = math.ceil(rate_gbps * 1e6 / 8 * INTERVAL_MS / EVENTS_PER_SET)
    mean_us = busy and 1000 * busy[0] * consumers * INTERVAL_MS / (producers * EVENTS_PER_SET)
    return {"producers": producers, "consumers": consumers, "rate": f"{rate_gbps:g}Gb/s",
            "event-size": f"{event_bytes}B",
            "buffer": f"{2 * EVENTS_PER_SET * event_bytes}B", "slots": 1 if number < 3 else 4, "streams": 8
            if number < 3 else 4, **WINDOW,
            **({"busy": f"poisson:{mean_us:.0f}us,quantum={1000 * busy[1]:.0f}us"} if busy else {})}


def crosswise(workers, pair_bytes):
    """Each worker sends so much to every other one in an interval; what it has for itself stays in its host, and counts
    for the rate."""
    return {"producers": workers, "consumers": workers, "destination": "addressed", "policy": "none",
            "rate": f"{workers * pair_bytes * 8 * 1000 // INTERVAL_MS}b/s", "event-size": f"{pair_bytes}B",
            "slots": workers, "streams": workers, **WINDOW}


def log(low, high):
    return {"from": low, "to": high, "scale": "log"}


OF_BUILDING = (("slots", log(1, 16)), ("streams", log(1, 16)), ("window", log(1, 64)))
CASES = {
    "row-1": Case("14 producers, 72 consumers with 25 Gb/s, never busy", row(1, 14, 72, 72.9), "25Gb/s",
                  hosts=OF_BUILDING),
    "row-2": Case("the same, sometimes busy", row(2, 14, 72, 72.9, (0.07, 12)), "25Gb/s", hosts=OF_BUILDING),
    "row-3": Case("18 producers, 14 consumers with 100 Gb/s, never busy", row(3, 18, 14, 62.9), "100Gb/s",
                  hosts=OF_BUILDING),
    "row-4": Case("the same, busy for three quarters of the time", row(4, 18, 14, 62.9, (0.755, 0.1)), "100Gb/s",
                  hosts=OF_BUILDING),
    "all-to-all": Case("16 workers at four leaves, each with two uplinks", crosswise(16, 2 * MIB), "100Gb/s",
                       ("topology.kind=leaf-spine", "topology.leaves=4", "topology.spines=2",
                        "placement.kind=by-worker"),
                       (("streams", log(1, 16)), ("window", log(1, 64)), ("queue-pairs", [1, 2, 4, 8])),
                       {"queue-pairs": 1}),
}
ALPHA = ("switch.ingress-alpha", log(0.01, 8.0))
MARKS = (("ecn.none-below", log("5kB", "1MB")), ("ecn.all-above", log("50kB", "4MB")),
         ("ecn.probability", log(0.01, 1.0)),
         ("dcqcn.additive-increase", log("5Mb/s", "1Gb/s")))
TIME_OUT = ("nic.ack-timeout", ["1048576ns", "4194304ns", "16777216ns", "67108864ns"])
GROUPS = {
    "pfc": Group("PFC alone", "on", "off", (ALPHA, ("switch.resume-offset", log("3kB", "300kB")),
                                            ("switch.arbitration", ["fifo", "ingress-round-robin"])), 52, True),
    "ecn": Group("ECN alone", "off", "on", (*MARKS, TIME_OUT), 80, False),
    "both": Group("PFC and ECN", "on", "on", (*MARKS, ALPHA), 80, True),
    "hosts": Group("hosts, with PFC", "on", "off", (), 52, True),
}


def pairs():
    """(case, group) of all files."""
    return [(case, group) for case in CASES for group in GROUPS]


def name(case, group):
    return f"{case}-{group}"


def axes(case, group):
    return dict(GROUPS[group].axes or CASES[case].hosts)


def _simulation(case, group):
    one, flow = CASES[case], GROUPS[group]
    return {"network": "packet", "switch": "shallow", "pfc": flow.pfc, "ecn": flow.ecn, "producer-link": "100Gb/s",
            "consumer-link": one.consumer_link,
            **({"switch-set": list(one.keys)} if one.keys else {})}


def _run(case):
    return {**CASES[case].options, "interval": f"{INTERVAL_MS}ms", "duration": f"{SETS * INTERVAL_MS}ms",
            "warmup": f"{WARMUP_SETS * INTERVAL_MS}ms",
            "drain": "2s"}


def toml(case, group):
    """The file of weir-sweep tune."""
    def value(given):
        if isinstance(given, dict):
            return "{ " + ", ".join(f"{key} = {value(inner)}" for key, inner in given.items()) + " }"
        return json.dumps(given)

    def table(heading, content):
        return [f"\n[{heading}]", *(f"{json.dumps(key) if '.' in key else key} = {value(given)}"
                                    for key, given in content.items())]

    tune = {"figure": "margin", **({"lossless": True} if GROUPS[group].lossless else {}),
            "budget": GROUPS[group].budget}
    lines = ["# Made by bench/study best-settings table, of cases.py.",
             f"# {CASES[case].title}: {GROUPS[group].title}.",
             *table("run", _run(case)), *table("simulation", _simulation(case, group)), *table("tune", tune),
             *table("tune.axes", axes(case, group)),
             *(table("tune.present", CASES[case].present) if group == "hosts" and CASES[case].present else [])]
    return "\n".join(lines) + "\n"


def command(case, group, setting, seed, more=None):
    """A run of a setting, {axis: text}, as a reader types it; {}: the present one. more: options, in the place of those
    of the file."""
    words = ["weir", "simulate"]
    for option, given in {**_run(case), **_simulation(case, group), **(more or {})}.items():
        if option not in setting:
            for one in given if isinstance(given, list) else [given]:
                words += [f"--{option}", str(one)]
    for axis, text in setting.items():
        words += ["--switch-set", f"{axis}={text}"] if "." in axis else [f"--{axis}", text]
    return shlex.join([*words, "--seed", str(seed)])
