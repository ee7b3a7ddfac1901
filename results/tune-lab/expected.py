"""What is expected of the measured runs of bench/study tune-lab: (what, figure, find(data), least, most). Why stands in
expected.md."""

import statistics

import cases
from cases import GOODPUT

LOW = ("3kB", "6kB", "13kB")  # far below the 32 kB of a port
PLATEAU = ("6kB", "13kB", "20kB")
NEAR = 0.95


def medians(data, column=GOODPUT):
    """{threshold: median} of the scan, as far as it has runs."""
    return {one: statistics.median(data.values("scan", one, column)) for one in data.scanned()
            if data.values("scan", one, column)}


def whole(data):
    """The same of a scan that has all values, else empty."""
    found = medians(data)
    return found if len(found) == len(cases.SCANNED) else {}


def gain(of):
    """Of the proposed over the present setting, percent: `gain`, or `low`, the lower end of its interval."""
    return lambda data: [100 * getattr(data.confirmed(), of)] if data.confirmed() else []


def behind_best(which):
    """Percent by which the `present` or the `proposed` threshold is behind the best one of the scan."""
    return lambda data: [100 * (1 - found[data.threshold(which)] / max(found.values()))] if (
        found := whole(data)) else []


def first_near_best(data):
    """The lowest threshold in kB that carries 95 % of the best."""
    found = whole(data)
    return [min(cases.size(one) for one, value in found.items()
                if value >= NEAR * max(found.values())) / 1000] if found else []


def beside_model(thresholds, column=GOODPUT):
    """Measured over simulated."""
    return lambda data: [found / statistics.median(data.model(one, column))
                         for one, found in medians(data, column).items() if one in thresholds]


def sent_again(thresholds):
    """Percent of packets that senders sent again, in the median run."""
    return lambda data: [100 * share for one, share in medians(data, "again_share").items() if one in thresholds]


EXPECTED = (
    ("the machine is not the limit", "longest stall of a rank in any run, ms; a round trip is 100",
     lambda data: [max(float(line["longest_stall_ms"]) for line in data.measured)] if data.measured else [], None, 100),
    ("the proposal of the simulator is better where it is measured", "goodput beside the present setting, percent",
     gain("gain"), 5, 35),
    ("and certainly so", "lower end of its 95 % interval, percent", gain("low"), 0, None),
    ("a scan by measurement finds the same: the proposal is near its best", "behind the best of the scan, percent",
     behind_best("proposed"), 0, 5),
    ("and the present setting is not", "behind the best of the scan, percent", behind_best("present"), 5, 35),
    ("thresholds are too low up to the same length", "lowest threshold within 5 % of the best, kB", first_near_best, 6,
     13),
    ("the port carries what the model's does", "measured over simulated goodput, 6 to 20 kB", beside_model(PLATEAU),
     0.75, 1.0),
    ("also where it marks too early", "measured over simulated goodput, 3 kB", beside_model(LOW[:1]), 0.65, 1.0),
    ("ports mark as often as the model's", "measured over simulated share of marked packets, 3 to 13 kB",
     beside_model(LOW, "marked_share"), 0.5, 2),
    ("low thresholds lose little", "packets sent again in percent, 3 to 13 kB", sent_again(LOW), 0, 0.3),
    ("the highest one loses, for kernels send in bursts that the model does not have",
     "packets sent again in percent, 30 kB", sent_again(("30kB",)), 0.05, 5),
)
