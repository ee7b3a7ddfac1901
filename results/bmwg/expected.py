"""What is expected of the suites of bench/study bmwg, and the outcome. Written before them.
Before that, 11.2 and 7.3 were tried on the shallow switch while their tests were written.

The fabric: 32 hosts at four leaves of eight, each leaf with four uplinks (two spines, two cables to each), all of 100
Gb/s: eight hosts of a leaf can send twice what it can send on. Participants are spread over the leaves in turn. Of a
packet of 4178 bytes 4096 are payload.
"""

import re

import cases

PAYLOAD = 4096 / 4178
POOL, DEEP_QUEUE = 16e6, 125e6
LATENCY_S = 12e-6  # of a message from leaf to leaf: cables, and a packet for each switch


def lines_of(lines, section, figure, setting=".*", switch=None, control=None):
    """{(switch, control, setting): value} of the lines that have one; `setting` is a regular expression of all of
    it."""
    return {(line["switch"], line["control"], line["setting"]): float(line["value"]) for line in lines
            if line["section"] == section and line["figure"] == figure and line["value"] != ""
            and re.fullmatch(setting, line["setting"])
            and switch in (None, line["switch"]) and control in (None, line["control"])}


def of(section, figure, setting=".*", switch=None, control=None, *, scale=1.0, reduce=None):
    """A function of the lines: the values, over `scale`; or what `reduce` makes of them."""
    def find(lines):
        found = [value / scale for value in lines_of(lines, section, figure, setting, switch, control).values()]
        return found if reduce is None or not found else [reduce(found)]
    return find


def over(section, figure, below, setting=".*", switch=None, control=None):
    """One figure over another one of the same line of a table."""
    def find(lines):
        above, under = (lines_of(lines, section, name, setting, switch, control) for name in (figure, below))
        return [value / under[key] for key, value in above.items() if under.get(key)]
    return find


def against(section, figure, one, other, setting=".*", switch=None):
    """The same figure and setting with control `one` over that with `other`."""
    def find(lines):
        above, under = (lines_of(lines, section, figure, setting, switch, control) for control in (one, other))
        return [value / under[place, other, name] for (place, _, name), value in above.items()
                if under.get((place, other, name))]
    return find


def settings(section, figure, one, other, switch=None, control=None):
    """The figure with setting `one` over that with `other`, of the same suite."""
    def find(lines):
        above, under = (lines_of(lines, section, figure, setting, switch, control) for setting in (one, other))
        return [value / denominator for (place, way, _), value in above.items() for (where, which, _),
                denominator in under.items()
                if (place, way) == (where, which) and denominator]
    return find


def spread(section, figure, setting=".*"):
    """Of each setting of a section: its largest value of all suites over the least."""
    def find(lines):
        by_setting = {}
        for (_, _, name), value in lines_of(lines, section, figure, setting).items():
            by_setting.setdefault(name, []).append(value)
        return [max(values) / min(values) for values in by_setting.values() if min(values) > 0]
    return find


def ring_s(workers, size):
    """Steps of AllReduce at line rate, each with its latency."""
    return 2 * (workers - 1) * (8 * size / workers / PAYLOAD / 100e9 + LATENCY_S)


MIB = 2**20
# (what and why, figure, how to find it, least, most)
EXPECTED = (
    # 5
    ("5.1, PFC, 1 MiB, Q = 1, one way: 4 flows of a leaf on 4 uplinks; of 8 groups of links one has 2 to 4 flows on "
     "its fullest", "efficiency",
     of("5.1", "efficiency", "1MiB 1 one", control="PFC"), 0.24, 0.5),
    ("5.1, PFC, Q = 4: 16 flows, the fullest of 8 groups of links has 7 to 9 of 4 on average", "efficiency",
     of("5.1", "efficiency", "1MiB 4 one", control="PFC"), 0.42, 0.62),
    ("5.1, both ways: 8 flows of a leaf instead of 4 on the same uplinks: at most half", "efficiency",
     of("5.1", "efficiency", ".* both", control="PFC"), None, 0.5),
    ("5.1, with PFC nothing is lost, so buffers do not matter: deep as shallow", "largest / least of both",
     lambda lines: [max(one, 1 / one) for one in _deep_over_shallow(lines, "5.1", "rate of a pair", "PFC")], None,
     1.05),
    ("5.1, neither, shallow: sets of 2 ms are sent at line rate, and 3 flows that meet queue more than the 8 MB that a "
     "port may take: packets are lost at rates that PFC carries", "neither / PFC",
     against("5.1", "rate of a pair", "neither", "PFC", ".* 1 one", "shallow"), None, 0.95),
    ("5.1, neither, deep: 125 MB hold that", "neither / PFC", against("5.1", "rate of a pair", "neither", "PFC",
                                                                      switch="deep"), 0.95, 1.05),
    ("5.1, ECN never carries more than PFC: cut rates need longer than an interval to come back", "ECN / PFC",
     against("5.1", "rate of a pair", "ECN", "PFC"), None, 1.02),
    ("5.2, alone: line rate, headers, latency and a packet for each switch, in all suites", "P50 / calculated",
     over("5.2", "P50", "alone, calculated", ".* alone"), 0.97, 1.03),
    ("5.3, 2:1: two bursts meet at one port, of a spine or of the receiver's leaf: half of the pool, shallow",
     "bytes / closed form", of("5.3", "burst of each sender", "2:1", "shallow", scale=POOL / 2 * PAYLOAD), 0.98, 1.02),
    ("5.3, 2:1, deep: the threshold of a queue", "bytes / closed form",
     of("5.3", "burst of each sender", "2:1", "deep", scale=DEEP_QUEUE * PAYLOAD), 0.98, 1.02),
    ("5.3, 8:1: what collides on the way is stored there as well: at least what one switch stores",
     "bytes / closed form of one switch", of("5.3", "burst of each sender", "8:1", "shallow",
                                             scale=POOL / 2 / 7 * PAYLOAD), 0.98, 3),
    # 7
    ("7.1: marks are those of RED, on both switches: 1 MB and 5 MB", "points from the ramp",
     of("7.1", "from the ramp, mean", "[15]MB"), -1, 1),
    ("7.1: none below T", "packets marked", of("7.1", "marked below T"), 0, 0),
    ("7.2, shallow: incast pauses, and loses nothing", "dropped packets", of("7.2", "dropped", switch="shallow"), 0, 0),
    ("7.2, shallow: pauses with every N", "pauses/s", of("7.2", "pauses", switch="shallow"), 1, None),
    ("7.2, deep: 4 GB hold five sets of 12.5 MB of 8 hosts: PFC is on and never acts", "pauses/s",
     of("7.2", "pauses", switch="deep"), 0, 0),
    ("7.2: the receiver's link is full all the time, with and without pauses", "throughput / line rate less headers",
     over("7.2", "throughput", "line rate less headers"), 0.99, 1.0),
    ("7.3, M = 4, all settings as in the switch file: within the published bound of 90 ms, and of both switches alike, "
     "as DCQCN's queues are below 1 MB",
     "s until both halves are fair / bound", over("7.3", "until both halves are fair, mean", "bound"), 0.1, 1),
    ("7.3, single flows swing for good, by about a tenth of their share", "standard deviation / share",
     of("7.3", "swing of a flow", "4 as .*"), 0.05, 0.15),
    ("7.4, shallow: a NIC that pauses for half of the time stops the fabric, which has 16 MB for 50 Gb/s: 3 ms",
     "sets on time", of("7.4", "sets on time", "storm", "shallow"), None, 0.75),
    ("7.4, deep: 10 ms of 50 Gb/s are 63 MB, less than a queue: only sets with bytes for that host are late",
     "sets on time", of("7.4", "sets on time", "storm", "deep"), 0.8, None),
    ("7.4, shallow: the watchdog of 2 ms helps", "with / without watchdog",
     settings("7.4", "sets on time", "storm, watchdog", "storm", "shallow"), 1.1, None),
    ("7.4: no deadlock, on either", "runs with a deadlock, of 3 cases each",
     lambda lines: [sum(line["value"] != "0 of 1" for line in lines if line["figure"] == "deadlocked"
                        and line["switch"] == switch)
                    for switch in cases.SWITCHES if any(line["figure"] == "deadlocked" and line["switch"] == switch
                                                        for line in lines)], 0, 0),
    ("head-of-line blocking, shallow, PFC: the free flow waits with the crowd", "/ alone",
     of("rfc8239-5", "/ alone", "PFC on", "shallow"), 2, None),
    ("the same, deep: 10 ms of twice a port's rate are 125 MB too much, less than 4 GB: no pauses, no blocking",
     "/ alone", of("rfc8239-5", "/ alone", "PFC on", "deep"), None, 1.2),
    # 8
    ("8.1: loads are balls in bins, whatever the switch and the setting", "JFI / balls in bins",
     over("8.1", "JFI, mean of leaves", "JFI, balls in bins"), 0.88, 1.12),
    ("8.1: nothing is lost (4 MB of a leaf for 16 MB), so the bytes of each link are the same in all suites",
     "largest / least JFI", spread("8.1", "JFI, mean of leaves"), 1, 1.001),
    ("8.3: packets in turn are even, with every setting", "worst JFI",
     of("8.3", "JFI, worst leaf", "spray, .*", reduce=min), 0.99, None),
    ("8.3, PFC: 32 flows of a leaf on 4 uplinks: the fullest has 11 to 13 of 8; spraying is faster by so much",
     "% over ECMP / 100", of("8.3", "against ECMP", "spray, 1MiB kept", control="PFC"), 0.3, 0.7),
    ("8.3: receivers that keep nothing take packets that overtake each other for lost",
     "sent again/s, with nothing kept", of("8.3", "sent again", "spray, 0B kept", reduce=min), 1, None),
    # 9
    ("9.1 to 9.3: rings and pairs in steps of 1 MiB at most queue less than pauses or drops need", "dropped packets",
     lambda lines: [value for section in ("9.1", "9.2", "9.3") for value in of(section, "dropped", reduce=max)(lines)],
     0, 0),
    ("so neither is as PFC", "JCT P50, neither / PFC",
     lambda lines: [value for section in ("9.1", "9.2", "9.3")
                    for value in against(section, "JCT P50", "neither", "PFC")(lines)], 0.99, 1.01),
    ("9.1, spraying, N = 16, 8 MiB, PFC: 30 steps of 512 KiB at line rate, each with some 12 us", "JCT P50 / that",
     of("9.1", "JCT P50", "16 8MiB spray", control="PFC", scale=ring_s(16, 8 * MIB)), 0.95, 1.1),
    ("9.1, ECMP, N = 16: 4 flows on 4 uplinks of each of 4 leaves, and all wait for the fullest, with 2 to 4",
     "ECMP / spraying, JCT P50", settings("9.1", "JCT P50", "16 8MiB ecmp", "16 8MiB spray", control="PFC"), 1.6, 3.6),
    ("9.1 to 9.3: ECN never makes a lossless collective faster", "JCT P50, both / PFC",
     lambda lines: [value for section in ("9.1", "9.2", "9.3")
                    for value in against(section, "JCT P50", "both", "PFC")(lines)], 0.98, None),
    ("9.1, ECMP, N = 16, 8 MiB: flows that share a link for 90 us are marked, halve, and gain 40 Mb/s in 55 us",
     "JCT P50, both / PFC", against("9.1", "JCT P50", "both", "PFC", "16 8MiB ecmp"), 1.1, None),
    ("9.2, spraying: half of AllReduce for the same S: half of f, and half of the steps", "9.2 / 9.1, JCT P50",
     lambda lines: [one / other for one, other in zip(of("9.2", "JCT P50", "16 8MiB spray", control="PFC")(lines),
                                                      of("9.1", "JCT P50", "16 8MiB spray", control="PFC")(lines))],
     0.45, 0.6),
    ("9.3 is half of 9.1: AllReduce is a ReduceScatter and an AllGather", "9.3 / 9.1, JCT P50",
     lambda lines: [one / other for one, other in zip(of("9.3", "JCT P50", "16 8MiB spray", control="PFC")(lines),
                                                      of("9.1", "JCT P50", "16 8MiB spray", control="PFC")(lines))],
     0.48, 0.52),
    # 10, 11, 12
    ("10.1: hidden behind 50 ms of computing, a slow AllReduce costs less than behind 10 ms",
     "excess of the ratio, 50 ms / 10 ms, N = 16, PFC",
     lambda lines: [(long - 1) / (short - 1) for long, short in zip(of("10.1", "JCT ratio", "16 8MiB 50ms",
                                                                       control="PFC")(lines),
                                                                    of("10.1", "JCT ratio", "16 8MiB 10ms",
                                                                       control="PFC")(lines))], 0.15, 0.35),
    ("10.3, spraying, no leaf shared: nothing of the other job is felt", "interference factor",
     of("10.3", "interference factor", "spray 0.0", control="PFC"), 0.999, 1.001),
    ("10.3, spraying, half of the leaves shared: two jobs of 4 hosts on 4 uplinks, half the rate, less what latency is",
     "interference factor", of("10.3", "interference factor", "spray 0.5", control="PFC"), 1.6, 2.1),
    ("11.2, spraying: nothing comes before routes follow, after 1 ms; time-outs of 1 ms at most two later",
     "s without delivery", of("11.2", "without delivery", "spray .*", control="PFC"), 0.001, 0.0035),
    ("11.2, spraying: loads of the links that are left are even once routes have followed", "loads even after, s",
     of("11.2", "loads even after", "spray .*", control="PFC"), 0.001, 0.0012),
    ("11.3: the iteration with the failure is never within the P99 of the others", "runs within",
     lambda lines: [float(line["value"].split()[0]) for line in lines if line["section"] == "11.2"
                    and line["figure"] == "within P99"], 0, 0),
    ("12.1: steady, with every setting", "standard deviation / mean", of("12.1", "/ mean"), None, 0.05),
    # Others
    ("RFC 8239, pairs at line rate: two hosts for each uplink", "received", of("rfc8239-2", "received", ".* pairs"),
     None, 0.5),
    ("the same, PFC: the fullest link of all has 3 to 5 of 2 flows, and pauses slow others, too", "received",
     of("rfc8239-2", "received", ".* pairs", control="PFC"), 0.2, 0.5),
    ("RFC 8239, mesh, PFC: 24 of 31 parts cross; 192 flows on 4 links are nearly even", "received",
     of("rfc8239-2", "received", ".* mesh", control="PFC"), 0.45, 0.65),
    ("RFC 8239, neither, shallow: 200 MB of a leaf are too much for 16 MB", "dropped packets",
     of("rfc8239-2", "dropped", switch="shallow", control="neither"), 1, None),
    ("KV caches alone: 4 prefill workers, one at each leaf", "time / line rate",
     over("inference-kv", "transfer time, mean", "at line rate", ".* alone", control="PFC"), 0.99, 1.6),
)


def _deep_over_shallow(lines, section, figure, control):
    deep, shallow = (lines_of(lines, section, figure, switch=switch, control=control) for switch in ("deep", "shallow"))
    return [value / shallow["shallow", control, name] for (_, _, name), value in deep.items()
            if shallow.get(("shallow", control, name))]
