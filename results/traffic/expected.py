"""What is expected of the runs of bench/study traffic, written before them, and the outcome.

Closed forms: B is the payload rate of a link. A transfer has at most 4 chunks of 1 MiB under way (`rr-4s`: 4 of 256
KiB); a queue of the shallow switch holds at most as much as is free of 16 MB: 8 MB alone, 4 MB if three are full.
"""

import statistics

import cases
import studies

SCHEDULED = ("rr-2", "lq-2", "rr-4", "rr-4s")
WITHOUT_ECN = tuple(network for network in cases.NETWORKS if "ECN" not in network)
SAFE = tuple(network for network in WITHOUT_ECN if network != "shallow neither")
LARGE = tuple(workload for workload in cases.WORKLOADS if workload != "small")
EXPERTS = ("experts-2.6", "experts-5.1")


def numbers(lines, column, workload, network, policy, *, part="main", more=""):
    """This column, by seed."""
    lines = studies.select(lines, part=part, workload=workload, network=network, policy=policy, more=more)
    return [float(line[column]) for line in lines if line[column]]


def medians(column, workloads, networks, policies, part="main", more=""):
    """A function of the lines: the median over the seeds, of each cell."""
    def of(lines):
        cells = [numbers(lines, column, workload, network, policy, part=part, more=more)
                 for workload in workloads for network in networks for policy in policies]
        return [statistics.median(cell) for cell in cells if cell]
    return of


def largest(column, *cells, part="main", more=""):
    """The same with the largest of the seeds."""
    def of(lines):
        found = [numbers(lines, column, workload, network, policy, part=part, more=more)
                 for workload in cells[0] for network in cells[1] for policy in cells[2]]
        return [max(cell) for cell in found if cell]
    return of


def ratio(column, workload, networks, policy, other, *, part="main", more=""):
    """policy / other, of the medians over the seeds."""
    def of(lines):
        found = []
        for network in networks:
            above, below = (numbers(lines, column, workload, network, name, part=part, more=more)
                            for name in (policy, other))
            if above and below and statistics.median(below) > 0:
                found.append(statistics.median(above) / statistics.median(below))
        return found
    return of


CREDITS, SWIFT = ({"part": "controls", "more": " ".join(more)} for more in (cases.RECEIVER_CREDITS, cases.SWIFT))
CONTROLLED = cases.CONTROL_NETWORKS


# (traffic, what, why, figure, how to find it, least, most)
EXPECTED = (
    ("permutation", "nobody shares a link: free-for-all takes the ideal time everywhere", "completion / ideal",
     medians("over_ideal_median", ["permutation"], cases.NETWORKS, ["free"]), None, 1.02),
    ("permutation", "a scheduler adds a round trip and 1 us per message, at most 40 us to 1.6 ms", "completion / ideal",
     medians("over_ideal_median", ["permutation"], cases.NETWORKS, SCHEDULED), None, 1.03),
    ("permutation", "no transfer is slower than alone, under any policy", "worst slowdown",
     largest("slowdown_worst", ["permutation"], cases.NETWORKS, cases.POLICIES), None, 1.03),
    ("incast", "fluid, free-for-all: all share evenly, each takes 16 times as long as alone, less the latency",
     "median slowdown", medians("slowdown_median", ["incast"], ["fluid"], ["free"]), 15.2, 16.2),
    ("incast", "fluid, 2 credits: two at a time, complete at 2, 4 .. 16: median 9", "median slowdown",
     medians("slowdown_median", ["incast"], ["fluid"], ["rr-2", "lq-2"]), 8.5, 9.5),
    ("incast", "fluid, 4 credits: complete at 4, 8, 12, 16: median 10", "median slowdown",
     medians("slowdown_median", ["incast"], ["fluid"], ["rr-4", "rr-4s"]), 9.5, 10.5),
    ("incast", "shallow, neither, free-for-all: 63 MB for a queue of 8 MB: packets are lost", "dropped packets",
     medians("dropped_packets", ["incast"], ["shallow neither"], ["free"]), 1, None),
    ("incast", "and what is sent again takes time", "completion / ideal",
     medians("over_ideal_median", ["incast"], ["shallow neither"], ["free"]), 1.1, None),
    ("incast", "shallow, PFC, free-for-all: nothing is lost, the link is always full", "completion / ideal",
     medians("over_ideal_median", ["incast"], ["shallow PFC"], ["free"]), None, 1.02),
    ("incast", "but producers are paused", "pauses", medians("pauses_sent", ["incast"], ["shallow PFC"], ["free"]), 1,
     None),
    ("incast", "2 credits: 2 x 4 MiB under way, of which half has left when all has come: 4.2 MB, nothing lost",
     "longest queue, MB", lambda lines: [size / 1e6 for size in largest("peak_queue_bytes", ["incast"],
                                                                        ["shallow neither"], ["rr-2", "lq-2"])(lines)],
     None, 4.2),
    ("incast", "4 credits: 4 x 4 MiB under way, a queue of 12.6 MB where there is room for 8: packets are lost",
     "dropped packets", medians("dropped_packets", ["incast"], ["shallow neither"], ["rr-4"]), 1, None),
    ("incast", "4 credits of a quarter: 4 MiB under way, nothing is lost", "dropped packets",
     largest("dropped_packets", ["incast"], ["shallow neither"], ["rr-4s"]), None, 0),
    ("incast", "ECN, free-for-all: DCQCN lowers 16 rates at once and raises them by 40 Mb/s per 55 us: no way back "
               "within 5 ms",
     "completion / ideal", medians("over_ideal_median", ["incast"], ["shallow ECN", "deep ECN"], ["free"]), 1.1, None),
    ("bystanders", "shallow, PFC, free-for-all: 1 MB of each flow until pauses (16 MB for 8 ports, alpha 1/8), then B "
                   "/ 8: 6.4 times alone",
     "median slowdown of bystanders", medians("others_slowdown_median", ["bystanders"], ["shallow PFC"], ["free"]), 5.4,
     7.4),
    ("bystanders", "without PFC nobody waits for others: a producer's two transfers share its link",
     "median slowdown of bystanders", medians("others_slowdown_median", ["bystanders"],
                                              ["shallow neither", "deep neither", "shallow ECN", "deep ECN"], ["free"]),
     None, 2.05),
    ("bystanders", "with few credits few wait, PFC or not", "median slowdown of bystanders",
     medians("others_slowdown_median", ["bystanders"], cases.NETWORKS, ["rr-2", "lq-2", "rr-4s"]), None, 2.05),
    ("all-to-all", "free-for-all: all send evenly to all, no queue grows: the ideal time, ECN or not",
     "completion / ideal", medians("over_ideal_median", ["all-to-all"], cases.NETWORKS, ["free"]), None, 1.02),
    ("all-to-all", "a scheduler comes near the ideal", "completion / ideal",
     medians("over_ideal_median", ["all-to-all"], SAFE, SCHEDULED), None, 1.1),
    ("all-to-all", "and never takes twice as long, as every matching is maximal", "completion / ideal",
     medians("over_ideal_median", ["all-to-all"], SAFE, SCHEDULED), None, 2.0),
    ("all-to-all", "fluid: rounds cost nothing where a pair has one transfer in a phase: as before there were any, "
                   "1.23 and 1.30",
     "completion / ideal", medians("over_ideal_median", ["all-to-all"], ["fluid"], SCHEDULED), 1.2, 1.33),
    ("experts", "the largest receiver bounds the time: with a scheduler near the ideal on every switch",
     "completion / ideal", medians("over_ideal_median", EXPERTS, WITHOUT_ECN, ["rr-2", "lq-2", "rr-4s"]), None, 1.1),
    ("experts", "free-for-all where nothing is lost: the ideal time as well", "completion / ideal",
     medians("over_ideal_median", EXPERTS, SAFE, ["free"]), None, 1.02),
    ("experts", "shallow, neither, free-for-all: 11 senders for a queue that holds less than two windows: lost packets",
     "completion / ideal", medians("over_ideal_median", EXPERTS, ["shallow neither"], ["free"]), 1.5, None),
    ("checkpoint",
     "shallow, neither: 2 credits need 4.2 MB in each of three queues of 4.0 MB: at times packets are lost",
     "dropped packets", medians("dropped_packets", ["checkpoint"], ["shallow neither"], ["rr-2"]), 1, None),
    ("checkpoint", "4 credits of a quarter fit", "completion / ideal",
     medians("over_ideal_median", ["checkpoint"], ["shallow neither"], ["rr-4s"]), None, 1.1),
    ("max-min", "fluid, free-for-all: the three to consumer 1 get B / 3: 3 times alone", "worst slowdown",
     medians("slowdown_worst", [cases.MAX_MIN], ["fluid"], ["free"]), 2.95, 3.05),
    ("max-min", "and the one to consumer 0 gets what is left of its producer, 2 B / 3: 1.5 times alone", "slowdown",
     medians("others_slowdown_median", [cases.MAX_MIN], ["fluid"], ["free"]), 1.475, 1.525),
    ("small", "the scheduler handles two messages of each transfer (offer, done) in 1 us each: 264 us",
     "completion, us", medians("completion_us_median", ["small"], ["fluid"], ["rr-2", "lq-2"]), 250, 290),
    ("all but small", "deep switch without ECN: free-for-all takes the ideal time", "completion / ideal",
     medians("over_ideal_median", LARGE, ["deep neither", "deep PFC"], ["free"]), None, 1.02),
    ("prefill, busy", "8 slots for anyone instead of one for each producer: the slowest are faster",
     "p99, scheduler / free-for-all", ratio("delivery_p99_us", "prefill", cases.PREFILL_NETWORKS, "rr-8", "free",
                                            part="prefill-busy"), None, 1.0),
    # Other congestion control, written before any run with it. Credits of receivers: 150 kB of each sender go unasked.
    ("permutation, small",
     "credits, free-for-all: what is alone fills its link, and 4 KiB need no credit: as with DCQCN",
     "completion / ideal", medians("over_ideal_median", ["permutation"], CONTROLLED, ["free"], **CREDITS), None, 1.02),
    ("small", "the same", "completion, us, over that with DCQCN",
     lambda lines: [a / b for a, b in zip(medians("completion_us_median", ["small"], CONTROLLED, ["free"],
                                                  **CREDITS)(lines),
                                          medians("completion_us_median", ["small"], CONTROLLED, ["free"])(lines))],
     0.95, 1.05),
    ("all",
     "credits, free-for-all: 16 x 150 kB and 12 x 150 kB fit into every queue: nothing is lost, with PFC or without",
     "dropped packets", largest("dropped_packets", LARGE, ["shallow neither"], ["free"], **CREDITS), None, 0),
    ("incast", "credits, free-for-all: the queue is what came unasked, 16 x 150 kB", "longest queue, MB",
     lambda lines: [size / 1e6 for size in largest("peak_queue_bytes", ["incast"], CONTROLLED, ["free"],
                                                   **CREDITS)(lines)], 2.0, 2.45),
    ("all but small", "credits, free-for-all: the receiver's link is always full, but for the share of 0.2 % that is "
                      "not given out",
     "completion / ideal", medians("over_ideal_median", LARGE, CONTROLLED, ["free"], **CREDITS), None, 1.03),
    ("incast", "so a scheduler makes no phase shorter that has credits", "completion, scheduler / free-for-all",
     ratio("over_ideal_median", "incast", CONTROLLED, "rr-4s", "free", **CREDITS), 0.99, 1.02),
    ("bystanders", "credits, PFC: nobody is paused; a bystander gets what its sender's transfer in the incast, an "
                   "eighth, leaves: B x 7 / 8",
     "median slowdown of bystanders", medians("others_slowdown_median", ["bystanders"], ["shallow PFC"], ["free"],
                                              **CREDITS), 1.05, 1.3),
    ("incast", "credits serve all in turn: 16 transfers end together, each 16 times as long as alone",
     "median slowdown", medians("slowdown_median", ["incast"], CONTROLLED, ["free"], **CREDITS), 15, 16.5),
    ("incast", "and with a scheduler two after two: half of them in half of the time", "median slowdown",
     medians("slowdown_median", ["incast"], CONTROLLED, ["rr-2"], **CREDITS), 8.5, 9.5),
    ("prefill, busy", "credits know of links, and not of consumers: shared slots are better than own ones, as without",
     "p99, scheduler / free-for-all", ratio("delivery_p99_us", "prefill", ["shallow PFC"], "rr-8", "free", **CREDITS),
     None, 0.9),
    ("all", "Swift, free-for-all: windows begin with 250 kB, of 16 senders 4 MB: nothing is lost", "dropped packets",
     largest("dropped_packets", LARGE, ["shallow neither"], ["free"], **SWIFT), None, 0),
    ("all but small", "Swift, free-for-all: a queue stays at its target, so the link is always full",
     "completion / ideal", medians("over_ideal_median", LARGE, CONTROLLED, ["free"], **SWIFT), None, 1.1),
    ("bystanders", "Swift, PFC: nobody is paused", "median slowdown of bystanders",
     medians("others_slowdown_median", ["bystanders"], ["shallow PFC"], ["free"], **SWIFT), None, 2.05),
    ("prefill, busy", "2 slots are too few, for consumers work on one of them", "p50, scheduler / free-for-all",
     ratio("delivery_p50_us", "prefill", cases.PREFILL_NETWORKS, "rr-2", "free", part="prefill-busy"), 1.0, None),
)
