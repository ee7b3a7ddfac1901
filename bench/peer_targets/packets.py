"""The network packet by packet: transmissions, each a packet over one link, per second of CPU time
(bench/micro/packet_benchmark)."""

import csv

from . import running
from .samples import Comparison

# As packet_benchmark calls them, and in words.
CASES = {"14x72": "14 x 72, links of 100 and 25 Gb/s, PFC and ECN",
         "14x72 lossy": "the same without PFC and ECN, packets are dropped",
         "18x14": "18 x 14, PFC and ECN", "one link": "one sender, one receiver",
         "64 to 1": "64 senders to one receiver, ECN",
         "500x500": "500 x 500, PFC and ECN"}

COMPARISONS = [
    *(Comparison("packets", case, f"transmissions per second of CPU time, {words}", "transmissions", "weir",
                 unit="/s") for case, words in CASES.items()),
    *(Comparison("packets", case, f"CPU seconds per simulated second, {words}", "cost", "weir",
                 bound=10 if case == "14x72" else None, at_least=False)
      for case, words in CASES.items()),
]


def measure(options, samples):
    for number in range(options.rounds):
        for line in costs(options.bare):
            samples.add("packets", line["case"], "weir", "transmissions", number, transmissions(line))
            samples.add("packets", line["case"], "weir", "cost", number, cost(line))


def costs(bare, *case):
    """Lines of packet_benchmark: of one case, or of all."""
    return list(csv.DictReader(running.program([bare.parent / "micro/packet_benchmark", 100, *case]).splitlines()))


def transmissions(line):
    """Per second of CPU time."""
    return 1e6 * float(line["million_per_cpu_s"])


def cost(line):
    """CPU seconds of a simulated second."""
    return float(line["cpu_s_per_simulated_s"])
