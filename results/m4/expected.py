"""What others published of this data set, and what was expected of weir before its runs, with the reasons."""

import studies

# (who, median error of a flow in %, of an application in %, scenarios): testbed/results/accuracy_summary.txt of
# netiken/m4 at its commits 3375ffef (newer) and 04932aaf (older).
PUBLISHED = (("m4, a trained model; newer summary", 24.5, 10.5, 24), ("ns-3 with DCQCN; newer summary", 49.7, 30.1, 24),
             ("flowSim, max-min; newer summary", 75.9, 88.4, 24),
             ("m4, a trained model; older summary", 25.3, 22.1, 23), ("ns-3 with DCQCN; older summary", 73.8, 22.3, 23),
             ("flowSim, max-min; older summary", 69.1, 85.2, 23))
BEST = 0.245  # of a flow, published

# Scenario, part, requests at a time, least and most of the median error (signed).
# T, the time of the data on the server's link with 82 bytes for each packet of 1024: 88.5 us for 100 kB, 221.2, 442.4
# and 796.3 us for 250, 500 and 900. The server's link is the bottleneck; k requests of each of 11 clients share it, so
# a flow takes at most 11 k T and 87 us of the server, and at least 11 k T less what its client spends elsewhere.
FLOWS = (
    ("500_1", "alone", 1, 0.15, 0.22, "T + 87 us + 7 us against 452 us: alone, the server needs a tenth of its "
                                      "constant time"),
    ("250_1", "middle", 1, 0.00, 0.08, "11 T + 93 us = 2530 us against 2450 us"),
    ("500_1", "middle", 1, 0.06, 0.10, "11 T + 93 us = 4960 us against 4600 us: clients that are out of step share "
                                       "with fewer"),
    ("900_1", "middle", 1, 0.04, 0.07, "11 T + 93 us = 8850 us against 8400 us"),
    ("100_2", "middle", 2, 1.00, 1.70, "22 T = 1950 us against 800 us"),
    ("500_2", "middle", 2, 1.00, 1.25, "22 T against 4500 us"),
    ("250_4", "middle", 4, 2.70, 3.20, "44 T = 9730 us against 2430 us"),
    ("900_4", "middle", 4, 3.05, 3.30, "44 T = 35.0 ms against 8.36 ms"),
    ("100_2", "middle", 1, 0.28, 0.42, "11 T + 93 us = 1070 us against 800 us"),
    ("500_2", "middle", 1, 0.08, 0.12, "as 500_1; measured 4500 us"),
    ("250_4", "middle", 1, 0.00, 0.10, "as 250_1; measured 2430 us"),
    ("900_4", "middle", 1, 0.045, 0.075, "as 900_1; measured 8360 us"),
)
# Scenario, requests at a time, least and most of the signed error of the application. One at a time a round is 11 T and
# what a request needs besides (215 us), when all begin together; with more the link is never idle, 7150 T in all.
APPLICATIONS = (("500_1", 1, 0.02, 0.06), ("250_4", 1, 0.00, 0.06), ("100_2", 1, -0.06, 0.06),
                ("100_2", 2, -0.25, -0.10), ("250_4", 4, -0.08, -0.03))


def outcome(value, least, most):
    """PASS, or MISS with its size in points of per cent."""
    over = 100 * max(least - value, value - most)
    return "PASS" if over <= 0 else f"MISS by {over:.1f} points"


def judged(found, middle, pooled):
    """studies.Expectations of the lines that are there."""
    checked, found = studies.Expectations(), [one for one in found if not one.apart]

    def add(what, value, least, most):
        checked.lines.append([what, f"{100 * value:+.1f} %", outcome(value, least, most)])

    for scenario, part, at_once, least, most, why in FLOWS:
        for one in (one for one in found if (one.scenario, one.part, one.at_once) == (scenario, part, at_once)):
            alone = ", a client alone" if part == "alone" else ""
            add(f"{scenario}{alone}, {at_once} at a time, {one.network}: {100 * least:.3g} to {100 * most:.3g} % "
                f"({why})",
                middle(one.signed), least, most)
    for scenario, at_once, least, most in APPLICATIONS:
        for one in (one for one in found if (one.scenario, one.part, one.at_once) == (scenario, "middle", at_once)):
            add(f"application {scenario}, {at_once} at a time, {one.network}: {100 * least:.3g} to {100 * most:.3g} %",
                one.application, least, most)
    for network in ("fluid", "packet"):
        add(f"all flows, one at a time, {network}: the median absolute error is at most 10 %",
            middle(pooled(found, network, "one")), 0, 0.10)
        add(f"all flows, as the windows say, {network}: the median absolute error is above the best published, "
            f"{100 * BEST:.1f} %",
            middle(pooled(found, network, "as_written")), BEST, float("inf"))
    add("fluid and packets differ by at most 2 % in every median: the largest difference",
        max(differences(found, middle)), 0, 0.02)
    return checked


def differences(found, middle):
    """By how much the medians of the two networks differ, for each sample and number of requests."""
    medians = {}
    for one in found:
        medians.setdefault((one.scenario, one.part, one.at_once), []).append(middle(one.predicted))
    return [max(pair) / min(pair) - 1 for pair in medians.values()]
