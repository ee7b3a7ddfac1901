"""How many runs a budget in time is worth. Pure."""

from __future__ import annotations

from ..sweep.continued import CAMPAIGN_S
from .tune_file import IN_TIME_MAX

# Campaigns of a tuning: the present setting, the rungs, two confirmations, the neighbours, the other loads.
CAMPAIGNS = 20


def seconds(runs, run_s, processes):
    """How long all of a tuning takes with so many runs of `run_s` seconds each, `processes` at a time."""
    return runs * run_s / processes + CAMPAIGNS * CAMPAIGN_S


def runs_in(budget_s, total_of, least, run_s, processes):
    """The largest budget in runs, up to IN_TIME_MAX, with which all is expected to take `budget_s` seconds at most; None: not even `least` runs do.
    `total_of(budget)`: how many runs there are in all, which grows with the budget."""
    def fits(budget):
        return seconds(total_of(budget), run_s, processes) <= budget_s

    if not fits(least):
        return None
    low, high = least, IN_TIME_MAX + 1  # it fits, it is one too many
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
