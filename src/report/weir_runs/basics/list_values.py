"""Numbers of a list."""

import math
import statistics


def nearest_rank(ascending, share):
    """The smallest of the sorted values that at least `share` of them do not exceed."""
    return ascending[max(0, math.ceil(share * len(ascending)) - 1)]


def known(values):
    return [value for value in values if value is not None]


def mean(values):
    """Of those that are known. None: there are none."""
    values = known(values)
    return statistics.fmean(values) if values else None


def median(values):
    """The same of the median."""
    values = known(values)
    return statistics.median(values) if values else None
