"""Numbers of a list."""

import math


def nearest_rank(ascending, share):
    """The smallest of the sorted values that at least `share` of them do not exceed."""
    return ascending[max(0, math.ceil(share * len(ascending)) - 1)]


def known(values):
    return [value for value in values if value is not None]
