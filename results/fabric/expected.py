"""What is expected of the runs of bench/study fabric, and the outcome. Written before them. Then some twenty of them
were tried, to see that they work and what they cost; because of what these showed, intervals became longer (phases met
the time-outs of those before), and NICs keep 192 KiB instead of 1 MiB (more than a transfer has under way, so that each
loss was found by a time-out only). Event building was first run with two slots, which are too few: sets were late where
nothing was lost and all links were even (part `two slots`). No band was changed.

Balls in bins: with ECMP the flows of a leaf to other leaves are thrown into its n uplinks. All-to-all: 8 x 24 = 192
flows for each queue pair; a link has 192 / n of them on average, with a deviation of the root of 192 (n - 1) / n². The
largest of 64 links of the fabric (1:1; as many down as up) lies 2.34 deviations above the mean, of 32 (2:1) 2.07. A
host's NIC has 31 flows, so with 1:1 links decide that have more than those.
"""

import statistics

import cases
import studies

ALL_TO_ALL = ("all-to-all", "all-to-all, scheduled")
EVEN = ("spray", "adaptive")
FLAT = ("1:1", "2:1")


def select(lines, part="main", **wanted):
    return studies.select(lines, part=part, **wanted)


def numbers(lines, column, part="main", **which):
    """This column of the runs that have it."""
    return [float(line[column]) for line in select(lines, part, **which) if line[column]]


def cells(column, traffic, fabrics=FLAT, kinds=cases.BALANCING, *, flows=tuple(cases.FLOWS), pairs=cases.QUEUE_PAIRS,
          part="main", reduce=statistics.median):
    """A function of the lines: of each cell the median of its seeds, or what `reduce` makes of them."""
    def of(lines):
        found = [numbers(lines, column, part, traffic=name, fabric=fabric, balancing=kind, flow=flow, queue_pairs=count)
                 for name in ([traffic] if isinstance(traffic, str) else traffic) for fabric in fabrics
                 for kind in kinds for flow in flows
                 for count in pairs]
        return [reduce(cell) for cell in found if cell]
    return of


def ratio(above, below):
    """Cell by cell; nothing if one of them was not run."""
    def of(lines):
        both = above(lines), below(lines)
        return [one / other for one, other in zip(*both, strict=True)] if all(both) else []
    return of


def pooled(*which, **more):
    """The mean over all cells and seeds."""
    def of(lines):
        found = cells(*which, **more, reduce=statistics.fmean)(lines)
        return [statistics.fmean(found)] if found else []
    return of


def over_fullest_link(fabric):
    """Time over the ideal, over that of the fullest link, run by run: what the loads alone explain."""
    share = {"1:1": 24 / 31, "2:1": 1}[fabric]  # of a link with the mean load, of the ideal time

    def of(lines):
        return [float(line["over_ideal_median"]) / max(1, share * float(line["most_over_mean_worst"]))
                for count in cases.QUEUE_PAIRS
                for line in select(lines, traffic="all-to-all", fabric=fabric, balancing="ecmp", flow="PFC",
                                   queue_pairs=count)]
    return of


MEDIAN, WORST = "over_ideal_median", "over_ideal_worst"
TIME = "time / ideal"
ALONE = {"pairs": (1,)}
PFC = {"flows": ("PFC",)}

# (what and why, figure, how to find it, least, most)
EXPECTED = (
    # Loads
    ("all-to-all, ECMP, 1:1, 1 queue pair: 192 flows on 8 links, k / (k + n - 1) = 0.965", "mean JFI",
     pooled("jain_index_mean", "all-to-all", ("1:1",), ("ecmp",), **PFC, **ALONE), 0.955, 0.975),
    ("the same, 2:1: 192 flows on 4 links, 0.985", "mean JFI", pooled("jain_index_mean", "all-to-all", ("2:1",),
                                                                      ("ecmp",), **PFC, **ALONE), 0.978, 0.992),
    ("the same, 1:1, 8 queue pairs: 1536 flows, 0.9955", "mean JFI",
     pooled("jain_index_mean", "all-to-all", ("1:1",), ("ecmp",), **PFC, pairs=(8,)), 0.994, 0.997),
    ("spraying: each flow uses all ways in turn", "worst JFI", cells("jain_index_worst", "all-to-all", kinds=("spray",),
                                                                     **PFC, reduce=min), 0.999, None),
    # All-to-all, free-for-all, PFC
    ("all-to-all, PFC, spraying or adaptive: even links, nothing is lost: the ideal time, and a few round trips", TIME,
     cells(MEDIAN, "all-to-all", kinds=EVEN, **PFC), None, 1.05),
    ("flowlets: 31 flows share a NIC, so packets of one are 10 us apart, more than the gap: flowlets are packets",
     "flowlets / spraying", ratio(cells(MEDIAN, "all-to-all", kinds=("flowlets",), **PFC),
                                  cells(MEDIAN, "all-to-all", kinds=("spray",), **PFC)), 0.95, 1.05),
    ("ECMP, 1:1, 1 queue pair: the fullest link has 24 + 2.34 x 4.6 = 35 flows where a NIC has 31: 1.13", TIME,
     cells(MEDIAN, "all-to-all", ("1:1",), ("ecmp",), **PFC, **ALONE), 1.05, 1.3),
    ("ECMP, 2:1, 1 queue pair: 48 + 2.07 x 6 = 60 flows where the mean is 48: 1.26", TIME,
     cells(MEDIAN, "all-to-all", ("2:1",), ("ecmp",), **PFC, **ALONE), 1.15, 1.4),
    ("ECMP, 8 queue pairs: deviations are 1 / 2.8 of that: 1:1 no link has more than a NIC, 2:1 1.09", TIME,
     cells(MEDIAN, "all-to-all", kinds=("ecmp",), **PFC, pairs=(8,)), None, 1.15),
    ("ECMP, 1:1: the fullest link explains the time; what PFC's pauses of others add is less than 10 %",
     "time / that of the fullest link", over_fullest_link("1:1"), 0.98, 1.1),
    ("the same, 2:1", "time / that of the fullest link", over_fullest_link("2:1"), 0.98, 1.1),
    # All-to-all without PFC, with ECN
    ("all-to-all, neither, 1:1, spraying or adaptive: in the mean no port gets more than it sends: nothing is lost",
     TIME, cells(MEDIAN, "all-to-all", ("1:1",), EVEN, flows=("neither",)), None, 1.05),
    ("all-to-all, neither, 2:1: hosts send twice what uplinks carry, 16 MB are full after 0.3 ms: packets are lost, "
     "whatever the balancing", "dropped packets",
     cells("dropped", "all-to-all", ("2:1",), flows=("neither",), reduce=min), 1, None),
    ("and go-back-N takes time for that", TIME, cells(MEDIAN, "all-to-all", ("2:1",), flows=("neither",)), 1.3, None),
    ("ECN loses nothing by itself where nothing is too much: 1:1, spraying", TIME,
     cells(MEDIAN, "all-to-all", ("1:1",), EVEN, flows=("ECN", "PFC+ECN")), None, 1.1),
    ("ECN never makes a lossless fabric faster: PFC+ECN against PFC", "PFC+ECN / PFC",
     ratio(cells(MEDIAN, "all-to-all", flows=("PFC+ECN",)), cells(MEDIAN, "all-to-all", **PFC)), 0.98, None),
    ("2:1, ECN instead of neither: rates fall before the pool is full, so fewer packets are lost",
     "ECN / neither, dropped packets", ratio(cells("dropped", "all-to-all", ("2:1",), flows=("ECN",)),
                                             cells("dropped", "all-to-all", ("2:1",), flows=("neither",))), None, 0.5),
    # With a scheduler
    ("all-to-all, scheduled, 2:1, spraying, neither: four times 256 KiB for each of 8 consumers of a leaf are 8.4 MB, "
     "less than the pool: nothing is lost",
     "dropped packets",
     cells("dropped", "all-to-all, scheduled", ("2:1",), ("spray",), flows=("neither",), reduce=max), None, 0),
    ("so a scheduler needs no PFC: with spraying it takes the same time with and without", "neither / PFC",
     ratio(cells(MEDIAN, "all-to-all, scheduled", kinds=("spray",), flows=("neither",)),
           cells(MEDIAN, "all-to-all, scheduled", kinds=("spray",), **PFC)), 0.97, 1.03),
    ("and costs what matching costs on one switch (results/traffic: 1.09)", TIME,
     cells(MEDIAN, "all-to-all, scheduled", kinds=EVEN, **PFC), None, 1.2),
    ("a scheduler does not help ECMP: it does not see links. 2:1, PFC, 1 queue pair", "scheduled / free-for-all",
     ratio(cells(MEDIAN, "all-to-all, scheduled", ("2:1",), ("ecmp",), **PFC, **ALONE),
           cells(MEDIAN, "all-to-all", ("2:1",), ("ecmp",), **PFC, **ALONE)), 1, None),
    # Event building
    ("event building at 80 %, PFC, spraying or adaptive: every set is gone before the next one", "late sets",
     cells("late_sets", "event building", kinds=EVEN, **PFC, reduce=max), None, 0),
    ("ECMP, 2:1, 1 queue pair: the fullest link is 1.26 x 0.8 = 101 % full: sets are late", "late sets",
     cells("late_sets", "event building", ("2:1",), ("ecmp",), **PFC, **ALONE, reduce=max), 1, None),
    ("ECMP, 1:1: 35 flows where a NIC has 31, at 80 %: 90 % full: none is late", "late sets",
     cells("late_sets", "event building", ("1:1",), ("ecmp",), **PFC, reduce=max), None, 0),
    ("neither: slots for 4 x 32 fragments of 100 kB at each of 8 consumers of a leaf are 102 MB for a pool of 16 MB: "
     "packets are lost", "dropped packets",
     cells("dropped", "event building", flows=("neither",), reduce=min), 1, None),
    # Ring
    ("ring, PFC, 1:1, ECMP, 1 queue pair: 8 flows on 8 links; of 64 links the fullest has 3 or 4, and every step waits "
     "for it", TIME,
     cells(MEDIAN, "ring", ("1:1",), ("ecmp",), **PFC, **ALONE), 2.9, 4.6),
    ("2:1: 8 flows on 4 links; of 32 links the fullest has 4 to 6 where 2 are the mean", TIME,
     cells(MEDIAN, "ring", ("2:1",), ("ecmp",), **PFC, **ALONE), 2, 3.2),
    ("8 queue pairs: 64 flows on 8 links, 8 + 2.34 x 2.65 = 14.2: 1.8", TIME,
     cells(MEDIAN, "ring", ("1:1",), ("ecmp",), **PFC, pairs=(8,)), 1.5, 2.3),
    ("spraying or adaptive: the ideal, and about 12 us of latency in each of 62 steps: 1.14 (1:1), 1.07 (2:1)", TIME,
     cells(MEDIAN, "ring", kinds=EVEN, **PFC), None, 1.2),
    ("flowlets: a flow that is alone on its NIC has gaps only between steps: far from spraying", "flowlets / spraying",
     ratio(cells(MEDIAN, "ring", ("1:1",), ("flowlets",), **PFC, **ALONE),
           cells(MEDIAN, "ring", ("1:1",), ("spray",), **PFC, **ALONE)), 1.3, None),
    ("ECN, 2:1: two flows at each link all the time; a flow that is halved gains 40 Mb/s in 55 us: slower than PFC",
     "ECN / PFC", ratio(cells(MEDIAN, "ring", ("2:1",), EVEN, flows=("ECN",)),
                        cells(MEDIAN, "ring", ("2:1",), EVEN, flows=("PFC",))), 1.1, None),
    # One thing changed
    ("12 other seeds: spraying is as good with each", TIME, cells(WORST, "all-to-all", kinds=("spray",), **PFC, **ALONE,
                                                                  part="seeds", reduce=max), None, 1.08),
    ("NICs that know only order, spraying, PFC: packets that overtake each other are taken for lost",
     "without / with reordering", ratio(cells(MEDIAN, "all-to-all", kinds=("spray",), **PFC, **ALONE, part="in order"),
                                        cells(MEDIAN, "all-to-all", kinds=("spray",), **PFC, **ALONE)), 1.5, None),
    ("one cable of 25 Gb/s, spraying: an eighth (2:1: a quarter) of leaf 0's flows takes it: 24 x 4 / 31 = 3.1 (48 x 4 "
     "/ 59 = 3.25)", TIME,
     cells(MEDIAN, "all-to-all", kinds=("spray",), **PFC, **ALONE, part="slow cable"), 2.8, 3.8),
    ("adaptive sees the slow cable, but only from leaf 0; other leaves send to it over spine 0 as if it were fast",
     TIME, cells(MEDIAN, "all-to-all", kinds=("adaptive",), **PFC, **ALONE, part="slow cable"), 1.1, 3),
    ("8 queue pairs with one hash are as one", "8 with one hash / 1",
     ratio(cells(MEDIAN, "all-to-all", kinds=("ecmp",), **PFC, pairs=(8,), part="one hash"),
           cells(MEDIAN, "all-to-all", kinds=("ecmp",), **PFC, **ALONE)), 0.85, 1.15),
    ("128 hosts, PFC, spraying: as with 32", TIME, cells(MEDIAN, "all-to-all", kinds=("spray",), **PFC, **ALONE,
                                                         part="128 hosts"), None, 1.08),
)
