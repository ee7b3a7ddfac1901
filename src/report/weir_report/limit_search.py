"""Looks for the limit of one setting by bisection over runs whose outcome is noisy. Pure logic: it is given outcomes, and has
the next value to try.

1. Without an estimate: twice or half the value until one holds and another does not. With one (of earlier rounds): the
   two values beside it, and outwards from there in steps that double.
2. The middle of the bracket, until the bracket is as narrow as the resolution.
3. Both ends of the narrow bracket are tried once more. An end whose two runs disagree is tried a third time, and the
   majority decides; if that moves the end, the search goes on from there. A value far from the limit is tried once.

Where runs contradict each other (a value holds, a smaller one did not), the bracket is put where the fewest outcomes are
contradicted. statistics.md has how far the result is from the truth, by simulation of noisy limits.
"""

from __future__ import annotations

import dataclasses
import math

VOTES_MAX = 3


@dataclasses.dataclass(frozen=True)
class Space:
    """Where values are looked for. `step`: values are multiples of it (1: whole numbers); 0: any value."""

    start: float
    least: float
    most: float
    larger_is_harder: bool = True
    step: float = 0.0
    resolution: float = 0.02  # relative width of a narrow bracket, where `step` is 0

    def rounded(self, value):
        """A value that can be tried: in the range, a multiple of the step or of five significant digits."""
        if self.step:
            value = round(value / self.step) * self.step
        elif value > 0:
            digits = 4 - math.floor(math.log10(value))
            value = round(value, digits)
        return min(max(value, self.least), self.most)

    def is_narrow(self, low, high):
        if self.step:
            return high - low <= self.step * (1.0 + 1e-9)
        # Values are rounded to five digits, so a bracket can be a little wider than it was made.
        return high - low <= self.resolution * low * 1.01 or self.middle(low, high) in (low, high)

    def middle(self, low, high):
        return self.rounded(math.floor((low + high) / 2.0 / self.step) * self.step if self.step else math.sqrt(low * high))


class LimitSearch:
    """One search. `estimate`: (low, high) of an earlier one, or None."""

    def __init__(self, space, estimate=None):
        self.space = space
        self._outcomes = {}  # value: [runs that held, runs that did not]
        self._first = space.rounded(estimate[0] if estimate else space.start)
        # How far the second value is from the first, as a factor.
        self._factor = 2.0 if estimate is None else max(1.0 + space.resolution, estimate[1] / estimate[0])

    def add(self, value, held):
        self._outcomes.setdefault(value, [0, 0])[0 if held else 1] += 1

    @property
    def runs(self):
        return sum(map(sum, self._outcomes.values()))

    def next_value(self):
        """The value to try; None if the search is complete."""
        undecided = next((value for value, (yes, no) in self._outcomes.items() if yes == no), None)
        if undecided is not None:
            return undecided
        if not self._outcomes:
            return self._first
        low, high = self._bracket()
        if low is None or high is None:
            outward = self._outward(low, high)
            if outward is not None:
                return outward
        elif not self.space.is_narrow(low, high):
            return self.space.middle(low, high)
        return self._to_confirm(low, high)

    @property
    def complete(self):
        return self.next_value() is None

    @property
    def bracket(self):
        """(low, high): the values on both sides of the limit; None where there is none yet or the range ended."""
        return self._bracket()

    def expected_runs(self):
        """(expected, most) runs that are left, roughly: with little noise, and if ends move when they are tried again."""
        if self.complete:
            return 0, 0
        low, high = self._bracket()
        outward = 0
        if low is None or high is None:
            low, high, outward = (self._first, self._first * self._factor, 2 if not self._outcomes else 1)
        ratio = (high - low) / self.space.step if self.space.step else math.log(high / low) / math.log1p(self.space.resolution)
        halvings = math.ceil(math.log2(ratio)) if ratio > 1.0 + 1e-9 else 0
        confirmed = sum(self._is_confirmed(value) for value in (low, high))
        expected = outward + halvings + 2 - confirmed + (not self._outcomes)
        return expected, 2 * expected + 4

    # --- The bracket.

    def _held(self, value):
        yes, no = self._outcomes[value]
        return yes > no

    def _bracket(self):
        """Between the two values, in their order, where the fewest outcomes are contradicted: easier ones held, harder ones
        did not. Of equals the one on the easy side."""
        easy_to_hard = sorted(self._outcomes, reverse=not self.space.larger_is_harder)
        wrong = sum(self._outcomes[value][0] for value in easy_to_hard)
        best, cut = wrong, 0
        for position, value in enumerate(easy_to_hard, start=1):
            yes, no = self._outcomes[value]
            wrong += no - yes
            if wrong < best:
                best, cut = wrong, position
        easy = easy_to_hard[cut - 1] if cut else None
        hard = easy_to_hard[cut] if cut < len(easy_to_hard) else None
        return (easy, hard) if self.space.larger_is_harder else (hard, easy)

    def _outward(self, low, high):
        """The next value towards the side on which there is no end; None at the end of the range."""
        space = self.space
        if high is None:
            edge, value = low, space.rounded(low * self._stride(low))
            value = max(value, space.rounded(low + space.step))
        else:
            edge, value = high, space.rounded(high / self._stride(high))
            value = min(value, space.rounded(high - space.step))
        return value if value != edge else None

    def _stride(self, edge):
        """Doubles with each step outwards, unless it is a factor of two already."""
        if self._factor >= 2.0:
            return 2.0
        done = abs(math.log(edge / self._first)) / math.log(self._factor)
        return min(2.0, self._factor ** max(1.0, 1.0 + round(done)))

    def _to_confirm(self, low, high):
        ends = [value for value in (low, high) if value is not None]
        return next((value for value in ends if not self._is_confirmed(value)), None)

    def _is_confirmed(self, value):
        yes, no = self._outcomes.get(value, (0, 0))
        return yes + no >= 2 and yes != no or yes + no >= VOTES_MAX
