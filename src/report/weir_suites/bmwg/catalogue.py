"""The sections of the draft, in its order: what each asks for, and whether weir can answer it, measured and simulated.

No limit of good and bad stands here: the draft sets none for its results, and neither does weir."""

from __future__ import annotations

import dataclasses

DOCUMENT = {
    "name": "draft-calabria-bmwg-ai-fabric-training-bench",
    "revision": "editor's copy, commit 63a9ace of 2026-02-26 (github.com/fcalabri/bmwg-ai-fabric-training-bench)",
    "status": "work in progress",
}
OPERATORS = ("Where the draft leaves a figure open, it is taken as its editor's copy of 2026-10-01 has it: factors of "
             "the bus bandwidth by collective, S_fabric, observation points, trial accounting and comparability.")

NEEDS_UEC = "needs NICs of UEC 1.0; weir's simulator has no such transport"
# Which NIC a flow takes is not theirs to choose, so that N senders need not meet, and a host has more than one line
# rate.
NEEDS_ONE_NIC = "not in this version with several NICs for a host (topology.nics): the test counts on one"
WITH_SEVERAL_NICS = ("7.1",)
NEEDS_CLOCKS = ("not in this version: it needs time stamps in NICs; clocks of software differ by tens of microseconds "
                "between hosts, which is as long as a message takes")
NEEDS_DROPS = ("not in this version: it needs counters of drops of the switches, senders that begin within a "
               "microsecond, and PFC and ECN off")
NEEDS_SETTINGS = "not in this version: it needs PFC and ECN of the switches changed between runs"
NEEDS_LINKS = "not in this version: it needs counters of each uplink of the switches"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """`draft`: the values that the draft asks for; `quick`: those of --quick. `unit`: of a number; texts have their
    units. `ours`: the draft leaves it open, and `draft` is what is used without --quick. `simulated`: in the place of
    `draft` in the simulator, where a trial of a minute shows no more than a moment and costs days. `least`: of numbers;
    None: any above 0, and 0 where `quick` has it."""

    name: str
    meaning: str
    draft: tuple
    quick: tuple
    unit: str = ""
    ours: bool = False
    simulated: tuple = ()
    least: int | None = None


@dataclasses.dataclass(frozen=True)
class Section:
    """`measured`, `simulated`: why it cannot be run so; empty: it can. `needs`: sections whose results it starts
    from."""

    number: str
    title: str
    objective: str
    procedure: str = ""
    parameters: tuple = ()
    needs: tuple = ()
    measured: str = ""
    simulated: str = ""
    document: str = ""  # if it is another one

    def why_not(self, world):
        return self.simulated if world == "simulation" else self.measured

    def parameter(self, name):
        return next((one for one in self.parameters if one.name == name), None)


def _sizes(draft, quick):
    return Parameter("sizes", "bytes of a message", draft, quick)


MESSAGES = ("64B", "256B", "1KiB", "4KiB", "64KiB", "256KiB", "1MiB", "4MiB")
BUFFERS = ("1MiB", "8MiB", "64MiB", "256MiB", "1GiB", "4GiB")
WORKERS = (8, 16, 32, 64, 128, 256, 512, 1024)
BALANCING = ("ecmp", "flowlets", "spray")


def _collective(number, name, figure, quick_sizes=("1MiB", "8MiB")):
    return Section(number, f"{name} benchmark",
                   f"How fast {name} operations are, by size and number of participants, with each way of balancing.",
                   f"{name} of S bytes on N participants, one iteration after the other; {figure}. The algorithm is "
                   "weir's own, step by step, and its order is kept; no collective library takes part. Participants "
                   "are spread over the leaves in turn.",
                   (Parameter("sizes", "S, bytes of each participant", BUFFERS, quick_sizes),
                    Parameter("workers", "N, participants", WORKERS, (8, 16), least=2),
                    Parameter("balancing", "how switches choose among equal ways", BALANCING, BALANCING),
                    Parameter("iterations", "of each run", (100,), (5,)),
                    Parameter("repetitions", "runs of each setting", (3,), (2,), ours=True)))


_UEC = ("UET throughput by transport service", "UET latency characterization", "Packet spray efficacy under UET RUD",
        "UET congestion control benchmarks", "Link layer enhancement benchmarks",
        "UET collective communication performance", "UET PDC scalability and connection setup rate")

SECTIONS = (
    Section("5.1", "Baseline throughput", "The highest rate at which pairs of hosts lose nothing and fall behind with "
                                          "nothing, by size of message.",
            "Half of the hosts send to the other half, a pair each; both ways: every host sends and receives. In each "
            "interval a producer gets the bytes of the rate, cuts them into messages, and sends them. A rate holds "
            "when everything arrived within its interval in every interval, and nothing was dropped or sent again. "
            "Bisection, the bracket as narrow as the resolution; both its ends are tried twice.",
            (_sizes(MESSAGES, ("4KiB", "64KiB", "1MiB")),
             Parameter("queue-pairs", "Q, of each pair of hosts", (1, 4, 16, 32), (1, 4)),
             Parameter("directions", "one or both", ("one", "both"), ("one", "both")),
             Parameter("seconds", "of each trial, at least", (60.0,), (0.01,), "s", simulated=(0.05,)),
             Parameter("resolution", "of the rate", (0.005,), (0.02,), ours=True),
             Parameter("repetitions", "searches, each with another seed", (3,), (1,), ours=True))),
    Section("5.2", "Latency characterization", "How long a message takes, at the rate of 5.1 and alone.",
            "Loaded: all pairs of 5.1 send messages, evenly spaced, at the rate that 5.1 found for this size with one "
            "queue pair. Alone: one pair, and a message only when the last one has long arrived. Time counts from the "
            "message's generation until its last byte is there: one way. Percentiles are those of all samples of all "
            "repetitions together.",
            (_sizes(MESSAGES, ("4KiB", "64KiB", "1MiB")),
             Parameter("samples", "of each repetition, at least", (10000,), (200,), ours=True),
             Parameter("repetitions", "runs of each setting", (20,), (3,))),
            needs=("5.1",), measured=NEEDS_CLOCKS),
    Section("5.3", "Back-to-back burst absorption", "The longest burst of N senders to one receiver of which nothing "
                                                    "is lost (RFC 9004).",
            "N hosts of different leaves send one message each at the same instant, at line rate; nothing of weir "
            "paces or divides it. The bytes of each grow until the first packet is lost, in any burst of the trial; "
            "then bisection. PFC and ECN are off.",
            (Parameter("senders", "N, the ratio of the incast", (2, 4, 8, 16, 32), (2, 4, 8), least=2),
             Parameter("bursts", "of each length", (50,), (10,)),
             Parameter("resolution", "of the length", (0.005,), (0.005,), ours=True),
             Parameter("repetitions", "searches, each with another seed", (3,), (2,), ours=True)),
            measured=NEEDS_DROPS),
    *(Section(f"6.{number}", title, "Of the transport of the Ultra Ethernet Consortium.", measured=NEEDS_UEC,
              simulated=NEEDS_UEC)
      for number, title in enumerate(_UEC, 1)),
    Section("7.1", "ECN marking accuracy and threshold", "Are packets marked at the thresholds that are configured?",
            "One sender fills the receiver's port, and a second one adds a little, so that the queue grows slowly "
            "through the thresholds, up to where the senders stop. NICs do not react to marks; PFC is off.",
            (Parameter("thresholds", "T, where marks begin", ("100kB", "1MB", "5MB"), ("100kB", "1MB", "5MB")),
             Parameter("repetitions", "ramps", (20,), (3,), ours=True)),
            measured="not in this version: it needs the depth of the queue while packets are marked"),
    Section("7.2", "PFC behavior under incast", "How often and how long ports pause when N senders at line rate meet "
                                                "at one receiver.",
            "N hosts of different leaves send to one, each at its line rate, with PFC on and ECN off; the next message "
            "is granted before the last one has left, so that nothing of weir holds a sender back.",
            (Parameter("senders", "N, the ratio of the incast", (2, 4, 8, 16, 32, 64), (2, 4, 8), least=2),
             Parameter("seconds", "of each run", (1.0,), (0.005,), "s", ours=True, simulated=(0.1,)),
             Parameter("repetitions", "runs of each setting", (3,), (2,), ours=True))),
    Section("7.3", "DCQCN convergence time", "How long until flows through a bottleneck have equal shares again, after "
                                             "as many more began.",
            "M hosts send to one, and at a quarter of the trial M more begin. PFC and ECN are on, with the switch "
            "file's settings of both and of DCQCN, and with one of them changed at a time.",
            (Parameter("flows", "M, before and besides", (4, 16, 64, 256), (4,), least=2),
             Parameter("settings", "keys of the switch file, each changed alone",
                       ("dcqcn.additive-increase=400Mb/s", "dcqcn.cnp-spacing=10us",
                                                                                 "dcqcn.rate-period=300us"),
                       ("dcqcn.rate-period=300us",), ours=True),
             Parameter("seconds", "of a trial", (4.0,), (0.8,), "s", ours=True),
             Parameter("window", "over which rates of single flows are taken", ("100ms",), ("100ms",), ours=True),
             Parameter("repetitions", "runs of each setting", (5,), (2,), ours=True)),
            measured="not in this version: it needs rates of single flows"),
    Section("7.4", "PFC storm and deadlock resilience", "Does traffic in a circle stop the fabric for good, and what "
                                                        "does a NIC that pauses for half of the "
            "time?",
            "Every host sends to the host of its number at the next leaf, so that traffic goes around all leaves in a "
            "circle, and a few hosts of each leaf to host 0 as well; PFC is on. Then the same while the NIC of host 0 "
            "pauses its switch for half of the time, without and with the switches' watchdog.",
            (Parameter("seconds", "of each run", (300.0,), (0.02,), "s", simulated=(0.5,)),
             Parameter("detection", "time of the watchdog", ("200ms",), ("2ms",), ours=True, simulated=("20ms",)),
             Parameter("repetitions", "runs of each setting", (3,), (1,), ours=True)),
            measured="not in this version: it needs a NIC that pauses on demand"),
    Section("8.1", "ECMP entropy and polarization", "How evenly a hash spreads flows over parallel links, by number of "
                                                    "queue pairs.",
            "Every host sends to the host of its number at the next leaf, its bytes in Q equal messages, one for each "
            "queue pair. Bytes of each uplink of each leaf, all intervals together; MMR and JFI of the uplinks of a "
            "leaf, mean of all leaves and the worst.",
            (Parameter("queue-pairs", "Q, of each pair of hosts", (1, 4, 8, 16, 32), (1, 4, 16)),
             Parameter("leaves", "switches with hosts; 0: as the fabric has", (8, 16, 32, 64), (0, 8)),
             Parameter("hash", "does it take the queue pair", ("with", "without"), ("with", "without")),
             Parameter("bytes", "of each pair and interval", ("4MiB",), ("512KiB",), ours=True),
             Parameter("repetitions", "runs of each setting, each with hashes of its own", (20,), (6,), ours=True)),
            measured=NEEDS_LINKS),
    Section("8.2", "Dynamic load balancing (flowlet)", "What flowlets change: how even links are, and what arrives out "
                                                       "of order.",
            "Traffic of 8.1 with four queue pairs; a packet may take another way after a gap.",
            (Parameter("gaps", "after which a packet may take another way", ("500ns", "1us", "2us", "10us"),
                       ("500ns", "2us")),
             Parameter("bytes", "of each pair and interval", ("4MiB",), ("512KiB",), ours=True),
             Parameter("repetitions", "runs of each setting", (20,), (3,), ours=True)),
            measured=NEEDS_LINKS),
    Section("8.3", "Packet spraying",
            "How even links are when each packet takes another way, and what that costs in order.",
            "Traffic of 8.1 with four queue pairs, every packet by itself; with receivers that keep what comes ahead, "
            "and with those that do not.",
            (Parameter("reorder", "bytes ahead that a receiver keeps", ("0B", "1MiB"), ("0B", "1MiB"), ours=True),
             Parameter("bytes", "of each pair and interval", ("4MiB",), ("512KiB",), ours=True),
             Parameter("repetitions", "runs of each setting", (20,), (3,), ours=True)),
            measured=NEEDS_LINKS),
    Section("8.4", "Jain fairness index measurement", "One number for each way of balancing: the fairness index of "
                                                      "parallel links.",
            "Taken from the runs of 8.1 (four queue pairs, the hash takes them, the fabric's own leaves), 8.2 (the "
            "smallest gap) and 8.3 (the most reordering); nothing is run for it.",
            needs=("8.1", "8.2", "8.3"), measured=NEEDS_LINKS),
    _collective("9.1", "AllReduce", "BusBW = S f / time of communication with f = 2 (N - 1) / N, by ring"),
    _collective("9.2", "AlltoAll", "JCT of an iteration, pairwise; f = (N - 1) / N"),
    _collective("9.3", "AllGather", "BusBW with f = (N - 1) / N, by ring"),
    Section("9.4", "Bus bandwidth summary", "Mean bus bandwidth of all collectives by way of balancing, side by side.",
            "Taken from 9.1 to 9.3, the largest S and N that all of them have. The draft's own template there is that "
            "of section 6.3.",
            needs=("9.1", "9.2", "9.3")),
    Section("10.1", "Synthetic JCT under controlled conditions",
            "How much longer an iteration takes than its roofline.",
            "Each participant computes for C, then all take part in an AllReduce of S bytes, by ring; one iteration "
            "after the other. Participants are spread over the leaves in turn.",
            (Parameter("compute", "C, the time of computing", ("10ms", "50ms", "100ms", "500ms"), ("10ms", "50ms")),
             Parameter("sizes", "S, bytes of each participant", ("256MiB", "1GiB", "4GiB"), ("8MiB",)),
             Parameter("workers", "N, participants", (64, 128, 256, 512, 1024), (8, 16), least=2),
             Parameter("iterations", "of each run", (1000,), (5,)),
             Parameter("repetitions", "runs of each setting", (3,), (2,), ours=True))),
    Section("10.2", "MLPerf-aligned JCT", "Training workloads by the rules of MLPerf.",
            measured="needs accelerators and training software; weir moves no tensors",
            simulated="there is no model of training software"),
    Section("10.3", "Multi-tenant JCT interference", "How much longer a job takes beside another one.",
            "Two AllReduce jobs, by ring, each on half of the hosts of four leaves, every step from leaf to leaf; the "
            "second one shares none to three of the first one's leaves. The factor is the median JCT of the first "
            "beside the second over that of the same job alone.",
            (Parameter("share", "of the leaves whose uplinks the first job uses", (0.0, 0.25, 0.5, 0.75), (0.0, 0.5)),
             Parameter("sizes", "S, bytes of each participant", ("1GiB",), ("8MiB",), ours=True),
             Parameter("balancing", "how switches choose among equal ways", BALANCING, ("ecmp", "spray"), ours=True),
             Parameter("iterations", "of each run", (100,), (3,), ours=True),
             Parameter("repetitions", "runs of each setting", (3,), (2,), ours=True)),
            measured="not in this version: it needs two jobs on chosen leaves"),
    Section("11.1", "Fabric scale limits", "The largest number of participants with acceptable figures.",
            measured="asks for load of the switches' processors and for routing to converge, which weir does not "
                     "observe",
            simulated="not in this version; 9.1 has figures by number of participants"),
    Section("11.2", "Link failure convergence", "What a link that fails costs: time, packets, and the iteration in "
                                                "which it fails.",
            "AllReduce by ring, over all leaves in turn; in the middle of one iteration an uplink of the first leaf, "
            "or a spine, is cut, and mended before the next iteration. Until routes follow, what is sent to it is "
            "lost.",
            (Parameter("workers", "N, participants; as many as there are hosts at most", (128,), (16,), least=2),
             Parameter("sizes", "S, bytes of each participant", ("1GiB",), ("8MiB",)),
             Parameter("balancing", "how switches choose among equal ways", BALANCING, ("ecmp", "spray")),
             Parameter("fails", "an uplink, or a spine with all its links", ("uplink", "spine"), ("uplink",)),
             Parameter("convergence", "time until routes follow", ("1ms", "100ms"), ("1ms",), ours=True),
             Parameter("ack-timeout", "after which a NIC sends again", ("67.108864ms",), ("1ms",), ours=True),
             Parameter("iterations", "of each run", (100,), (6,), ours=True),
             Parameter("repetitions", "runs of each setting", (3,), (2,), ours=True)),
            measured="not in this version: it needs a command that takes a link down"),
    Section("11.3", "Zero-impact failover measurement", "Is the iteration with a failure within the P99 of the others?",
            "Taken from the trials of 11.2; nothing is run for it. With fewer than 100 iterations the P99 is the "
            "longest of the others.",
            needs=("11.2",), measured="not in this version, as 11.2"),
    Section("12.1", "24-hour sustained load", "Are figures stable over a day?",
            "AllReduce by ring and AllToAll in pairs take turns, so that both together would fill the given share of a "
            "participant's link at line rate; figures of each sample of the time.",
            (Parameter("workers", "N, participants; the largest that fits", WORKERS, (8,), least=2),
             Parameter("sizes", "S, bytes of each participant", ("64MiB",), ("8MiB",), ours=True),
             Parameter("load", "share of a participant's link, at line rate", (0.8,), (0.5,), ours=True),
             Parameter("seconds", "of a run", (86400.0,), (0.1,), "s", simulated=(10.0,)),
             Parameter("sample", "time of a sample", (60.0,), (0.01,), "s", simulated=(0.5,)),
             Parameter("repetitions", "runs", (1,), (1,), ours=True))),
    Section("12.2", "Resource leak detection", "Does memory of the switches' software grow?",
            measured="asks for memory of the switches' processes, which weir does not observe",
            simulated="a simulated switch has no software"),
    # Of other documents.
    Section("rfc8239-2", "Line rate (RFC 8239)",
            "What arrives when all hosts send at 99.98 % of line rate, by size of frames.",
            "In pairs: every host sends to the one half of all hosts further on; mesh: every host sends to all others "
            "alike. Frames of one size, from Ethernet's header to its check sequence; each interval's bytes are sent "
            "as they come, whatever became of those before.",
            (Parameter("frames", "bytes of a frame; 64, 128 and 256 are left out, as a simulated packet has 256 B of "
                                 "payload at least",
                       (64, 128, 256, 512, 1024, 1518, 4096, 8000, 9216), (1518, 9216), "B", least=64),
             Parameter("ports", "who sends to whom", ("pairs", "mesh"), ("pairs", "mesh")),
             Parameter("seconds", "of each run", (0.1,), (0.004,), "s", ours=True),
             Parameter("repetitions", "runs of each setting", (3,), (1,), ours=True)),
            measured="answered by 5.1", document="RFC 8239"),
    Section("rfc8239-3", "Buffering (RFC 8239)", "What a port stores, by its name in RFC 8239.", "Answered by 5.3.",
            measured=NEEDS_DROPS, simulated="answered by 5.3", document="RFC 8239"),
    Section("rfc8239-4", "Microburst (RFC 8239)", "The largest burst to one port, by its name in RFC 8239.",
            "Answered by 5.3.",
            measured=NEEDS_DROPS, simulated="answered by 5.3", document="RFC 8239"),
    Section("rfc8239-5", "Head-of-line blocking (RFC 8239)", "Does a port that is crowded hold up a flow to a port "
                                                             "that is not?",
            "One host sends a fourth of its line rate to a free port, and to a port into which others send, too, twice "
            "what it can take; without and with PFC, and with ECN.",
            (Parameter("crowd", "hosts beside the first that send to the crowded port", (3,), (3,), ours=True, least=2),
             Parameter("seconds", "of each run", (0.1,), (0.01,), "s", ours=True),
             Parameter("repetitions", "runs of each setting", (5,), (2,), ours=True)),
            measured=NEEDS_SETTINGS, document="RFC 8239"),
    Section("rfc8239-6", "Incast, stateful and stateless (RFC 8239)", "Many to one, by its name in RFC 8239.",
            "Answered by 7.2 and 5.3.",
            measured="answered by 7.2", simulated="answered by 7.2 and 5.3", document="RFC 8239"),
    Section("inference-kv", "KV cache transfer", "How long caches take from prefill to decode workers, alone and "
                                                 "beside the exchange of experts.",
            "x prefill workers each send the cache of a context to a decode worker of their own, at the same time; "
            "then the same while the decode workers exchange among all, as experts do, at half of their line rate.",
            (Parameter("workers", "prefill workers, and as many decode workers", (8, 16, 32), (4,), ours=True, least=2),
             Parameter("context", "tokens", (4096, 32768), (128,), ours=True),
             Parameter("iterations", "of each run", (10,), (2,), ours=True),
             Parameter("repetitions", "runs of each setting", (3,), (2,), ours=True)),
            measured="not in this version: tried with simulated hosts only",
            document="draft-calabria-bmwg-ai-fabric-inference-bench, as its editor's copy of 2026-08-12 names it"),
)
BY_NUMBER = {section.number: section for section in SECTIONS}


def with_needs(sections):
    """These and what they need, in the draft's order."""
    wanted = {number for section in sections for number in (section.number, *section.needs)}
    return [section for section in SECTIONS if section.number in wanted]
