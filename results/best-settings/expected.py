"""What is expected of bench/study best-settings, and why. Written before the runs. Known were what other studies of
results/ found, and a run of each present setting with seed 1, by which the load was chosen: with PFC all sets are on
time but one, with ECN many are late, without both packets are lost."""

import cases

ROWS = ("row-1", "row-2", "row-3", "row-4")
PAPER = ("row-3", "row-4")
THRESHOLDS = ("ecn.none-below", "ecn.all-above", "ecn.probability")


def gains(group, of=tuple(cases.CASES), part="pair"):
    """Percent by which the proposed setting is ahead of the present one; 0 where none is proposed."""
    def find(data):
        found = []
        for case in of:
            tuning = data.tuning(case, group)
            if tuning and not tuning["proposed"]:
                found.append(0.0)
            elif tuning and (change := data.change(case, group, part)):
                found.append(100 * change.gain)
        return found
    return find


def first_axes(group, axes, of=tuple(cases.CASES)):
    """In how many cases one of these axes, alone, brings most."""
    def find(data):
        first = [data.first_axis(case, group) for case in of]
        return [sum(one in axes for one in first)] if any(first) else []
    return find


def against(group, other, of=tuple(cases.CASES)):
    """Percent by which the best of one group is ahead of the best of another one, with the same seeds."""
    def find(data):
        found = [data.against(case, group, other) for case in of]
        return [100 * change.gain for change in found if change]
    return find


def counted(group, column):
    """A column of the runs of the proposed setting."""
    return lambda data: [int(line[column]) for case in cases.CASES for line in data.of(case, group, "pair", "proposed")]


def tunings(reduce):
    """A figure of each tuning that ran."""
    return lambda data: [reduce(data, case, group) for case, group in cases.pairs()
                         if data.of(case, group, "pair", "present")]


def replayed(data, case, group):
    """The largest difference between tune's figures of the present setting and those of the commands here, in
    percent."""
    mine, tuned = data.values(case, group, "pair", "present"), data.tuning(case, group)["present_s"].split()
    return max(abs(100 * (own / (1000 * float(one)) - 1)) for own, one in zip(mine, tuned, strict=False))


def worse_loads(data, case, group):
    return sum(change.is_worse for change in data.found(case, group, "load").values())


def flat(data, case, group):
    return int(data.tuning(case, group)["within"])


def longer_over_short(data):
    """What ten times the interval leaves of a gain, where both settings were run."""
    found = [(data.change(case, "both"), data.change(case, "both", "longer")) for case in cases.CASES]
    return [after.gain / before.gain for before, after in found if after and before and before.gain > 0.02]


# (what and why, figure, how to find it, least, most)
EXPECTED = (
    ("rows 1 and 2, PFC alone: with the paper's times, PFC costs 2 and 3 ms of 1 s against a network without limits "
     "(results/lhcb2021), so there is little to gain",
     "gain, %", gains("pfc", ("row-1", "row-2")), None, 5),
    ("rows 3 and 4, PFC alone: a larger share of the pool for an input means fewer pauses, and fewer that wait for "
     "another one's port",
     "gain, %", gains("pfc", PAPER), 2, 30),
    ("rows, ECN alone: marks from 5 kB on cut rates for queues that hurt nobody, and recovery takes longer than the "
     "interval (results/switch-settings)",
     "gain, %", gains("ecn", ROWS), 20, None),
    ("there a threshold or the probability of marks brings most alone, in 3 of 4 rows", "rows",
     first_axes("ecn", THRESHOLDS, ROWS), 3, None),
    ("ECN alone, tuned: a packet lost can cost a time-out, so the proposal marks early enough to lose hardly any",
     "time-outs in a run", counted("ecn", "timeouts"), 0, 1),
    ("PFC and ECN: the same reason; with PFC marks can be put where they hardly ever come", "gain, %", gains("both"),
     10, None),
    ("there a threshold or the probability of marks brings most alone, in 4 of 5 cases", "cases",
     first_axes("both", THRESHOLDS), 4, None),
    ("tuned, PFC and ECN is nowhere behind PFC alone: marks can be put where they never come", "both against PFC, %",
     against("both", "pfc"), -3, None),
    ("tuned, PFC and ECN is ahead of PFC alone by something in the exchange, where a paused uplink stops those who did "
     "nothing",
     "both against PFC, %", against("both", "pfc", ("all-to-all",)), 2, None),
    ("tuned, ECN alone is not ahead of PFC alone in the rows", "ECN against PFC, %", against("ecn", "pfc", ROWS), None,
     3),
    ("hosts, rows 3 and 4: with fewer slots less waits in the switch; the paper's fit has one slot", "gain, %",
     gains("hosts", PAPER), 5, None),
    ("hosts tuned and the switch as it is, against a tuned switch: what does not come into the switch need not be "
     "paused",
     "hosts against PFC, %", against("hosts", "pfc", PAPER), 0, None),
    ("the settings are not made for one load: no tuning is certainly worse at 80 and 110 % or with other events",
     "loads", tunings(worse_loads), 0, 0),
    ("a best setting is no single point: others that were tried are within 2 % of it", "settings", tunings(flat), 3,
     None),
    ("PFC and ECN with ten times the interval: recovery of rates weighs less, so less is gained by avoiding it",
     "gain, share of the gain", longer_over_short, 0, 0.9),
    ("the commands of this page give tune's figures again, digit by digit", "largest difference, %", tunings(replayed),
     0, 0.001),
)
