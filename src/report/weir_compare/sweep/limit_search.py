"""Looks for the limit of one setting by bisection over runs whose outcome is noisy. Pure logic: it is given outcomes,
and has the next value to try.

1. From the start outwards, in steps that double up to a factor of two, until one value holds and another does not.
2. The middle of the bracket, until the bracket is as narrow as the resolution. An end that two halvings in a row moved
   to is tried again: if it was wrong, all that follows would be in vain.
3. Both ends of the narrow bracket are tried once more. An end whose two runs disagree is tried a third time, and the
   majority decides; if that moves the end, the search goes on from there. A value far from the limit is tried once.
4. Where more is expected to be easier (slots) and yet the greatest value does not hold, fewer may: a switch that loses
   packets when many send at once. So values below the start are tried, halved down to the least, until one holds; the
   ends of the values that hold are then looked for.

Where runs contradict each other (a value holds, a smaller one did not), the bracket is put where the fewest outcomes
are contradicted. A search that is led on by such runs ends after most_runs(), with the bracket that it has by then: it
is `cut_short`. statistics.md has how far the results of whole campaigns are from the truth."""

import dataclasses
import math
import random
import statistics

from weir_runs.reading.capacity import least_contradicted

VOTES_MAX = 3
# The factor of the first step outwards: where the limit is not known yet, and where it is.
FIRST_STEP, LATER_STEP = 2.0, 1.25
# Runs beyond those of a search without noise, after which it ends: both ends may need VOTES_MAX, and may move as often.
SLACK = 6
LATER_OUTWARD = 3


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
        return self.rounded(math.floor((low + high) / 2.0 / self.step) * self.step if self.step
                            else math.sqrt(low * high))


class LimitSearch:
    """One search. `start`: its first value, which is about the limit; None: that of the space, which may be
    anywhere."""

    def __init__(self, space, start=None):
        self.space = space
        self._outcomes = {}  # value: [runs that held, runs that did not]
        self._first = space.rounded(space.start if start is None else start)
        self._step = max(1.0 + space.resolution, FIRST_STEP if start is None else LATER_STEP)
        self._most = most_runs(space, self._first if start is None else None)
        self._fewer = None  # Fewer, once the greatest value does not hold where more is expected to be easier

    def add(self, value, held):
        self._outcomes.setdefault(value, [0, 0])[0 if held else 1] += 1
        if self._fewer is not None:
            self._fewer.add(value, held)
        elif not self.space.larger_is_harder and self._bracket() == (self.space.most,
                                                                     None) and self._is_confirmed(self.space.most):
            self._fewer = Fewer(self.space, self._outcomes)

    @property
    def runs(self):
        return sum(map(sum, self._outcomes.values()))

    def next_value(self):
        """The value to try; None if the search is complete."""
        return None if self.runs >= self._most else self._wanted()

    def _wanted(self):
        if self._fewer is not None:
            return self._fewer.wanted()
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
            doubtful = self._doubtful(low, high)
            return self.space.middle(low, high) if doubtful is None else doubtful
        return self._to_confirm(low, high)

    @property
    def complete(self):
        return self.next_value() is None

    @property
    def cut_short(self):
        """Whether it ended because runs contradicted each other for too long."""
        return self.runs >= self._most and self._wanted() is not None

    @property
    def bracket(self):
        """(low, high): the values on both sides of the limit; None where there is none yet or the range ended."""
        return self._bracket() if self._fewer is None or self._fewer.bracket is None else self._fewer.bracket

    @property
    def until(self):
        """The largest value that holds, where fewer hold and the greatest does not; None: there is no such value."""
        return None if self._fewer is None else self._fewer.until

    def expected_runs(self):
        """(expected, most) runs that are left: with little noise, and with any."""
        if self.complete:
            return 0, 0
        if self._fewer is not None:
            most = self._most - self.runs
            return min(self._fewer.expected_runs(), most), most
        low, high = self._bracket()
        outward = 0
        if low is None or high is None:
            low, high, outward = (self._first, self._first * self._step, 2 if not self._outcomes else 1)
        confirmed = sum(self._is_confirmed(value) for value in (low, high))
        expected = outward + _halvings(self.space, low, high) + 2 - confirmed + (not self._outcomes)
        most = self._most - self.runs
        return min(expected, most), most

    # --- The bracket.

    def _bracket(self):
        """Between the two values, in their order, where the fewest outcomes are contradicted: easier ones held, harder
        ones did not. Of equals the one on the easy side."""
        easy_to_hard = sorted(self._outcomes, reverse=not self.space.larger_is_harder)
        cut, _ = least_contradicted([self._outcomes[value] for value in easy_to_hard])
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
        """The factor from `edge` outwards: doubles with each step from the first value, up to two."""
        done = abs(math.log(edge / self._first)) / math.log(self._step)
        return min(2.0, self._step ** max(1.0, 1.0 + round(done)))

    def _doubtful(self, low, high):
        """An end of one run, of which two halvings in a row went in its direction: so it may have been wrong. None:
        none is."""
        below = sorted((value for value in self._outcomes if value < low), reverse=True)
        above = sorted(value for value in self._outcomes if value > high)
        for end, near, behind in ((high, low, below), (low, high, above)):
            if sum(self._outcomes[end]) == 1 and len(behind) > 1 and near == self._between(behind[0], end) and \
                    behind[0] == self._between(behind[1], end):
                return end
        return None

    def _between(self, one, other):
        return self.space.middle(*sorted((one, other)))

    def _to_confirm(self, low, high):
        ends = [value for value in (low, high) if value is not None]
        return next((value for value in ends if not self._is_confirmed(value)), None)

    def _is_confirmed(self, value):
        yes, no = self._outcomes.get(value, (0, 0))
        return yes + no >= 2 and yes != no or yes + no >= VOTES_MAX


class Fewer:
    """The values below those of `outcomes`, of which none holds: {value: [runs that held, runs that did not]}."""

    def __init__(self, space, outcomes):
        self.space = space
        self._above = min(outcomes)  # the smallest value that did not hold
        self._least = list(outcomes.get(space.least, (0, 0)))
        self._down = self._up = None  # the searches for the ends of the values that hold, once one is known

    def add(self, value, held):
        if self._down is not None:
            for search in (self._down, self._up):
                if search.space.least <= value <= search.space.most:
                    search.add(value, held)
        elif held and (value > self.space.least or self._least[1] == 0):
            self._begin(value)
        elif value == self.space.least:
            self._least[0 if held else 1] += 1
            if self._least[0] > 1:
                self._begin(value)
        if not held:
            self._above = min(self._above, value) if self._down is None else self._above

    def _begin(self, value):
        """About a value that holds."""
        self._down = LimitSearch(dataclasses.replace(self.space, start=value, most=value))
        self._up = LimitSearch(dataclasses.replace(self.space, start=value, least=value, most=max(value, self._above),
                                                   larger_is_harder=True))
        self._down.add(value, True)
        self._up.add(value, True)
        if self._above > value:
            self._up.add(self._above, False)

    def wanted(self):
        if self._down is not None:
            return next((value for search in (self._down, self._up) if (value := search.next_value()) is not None),
                        None)
        if self._above > self.space.least:
            return min(self.space.rounded(self._above / FIRST_STEP), self._above - self.space.step)
        held, not_held = self._least
        return self.space.least if held == not_held or held + not_held < 2 else None

    @property
    def bracket(self):
        """As of LimitSearch; None: none of these values holds as far as is known."""
        return None if self._down is None or self._down.bracket[1] is None else self._down.bracket

    @property
    def until(self):
        if self._down is None:
            return None
        return self._down.until or self._up.bracket[0] or self._down.bracket[1]

    def expected_runs(self):
        if self._down is not None:
            return self._down.expected_runs()[0] + self._up.expected_runs()[0]
        return math.ceil(math.log2(self._above / self.space.least) - 1e-9) + 1


def most_runs(space, first=None):
    """After so many runs a search ends, whatever their outcomes: those to the further end of the range (None for
    `first`: of a round that begins about the limit, LATER_OUTWARD), the halvings of the widest bracket, VOTES_MAX runs
    at both ends, and SLACK."""
    outward = LATER_OUTWARD if first is None else math.ceil(math.log2(max(space.most / first,
                                                                          first / space.least)) - 1e-9)
    return 1 + outward + _halvings(space, space.most / 2.0, space.most) + 2 * (VOTES_MAX - 1) + SLACK


def later_runs(space):
    """(expected, most) runs of a round that begins about the limit, without noise and with any."""
    return LATER_OUTWARD + _halvings(space, space.start, space.start * LATER_STEP) + 2, most_runs(space)


def _halvings(space, low, high):
    """How often a bracket is halved until it is narrow."""
    ratio = (high - low) / space.step if space.step else math.log(high / low) / math.log1p(space.resolution)
    return math.ceil(math.log2(ratio)) if ratio > 1.0 + 1e-9 else 0


# --- The searches of all settings.

# Starts lie within this factor, from the lowest to the highest.
STARTS_WITHIN = 2.0


class Searches:
    """Which setting is tried next, and with which value: the searches of all settings, interleaved.

    A step is one run of each setting. Settings of one switch setting follow each other (a stay), and every second step
    takes the stays in the reverse order (A B B A), so that a drift weighs on all settings alike. `hold`: steps made at
    one stay before the switch is changed (A A B B B B A A). A setting whose search is complete waits for the others;
    then the next round begins.

    Each round begins at a start of its own, drawn about the limit that is known, and takes wide steps: so rounds are
    repetitions, which agree only as far as runs do. A round that began with the bracket of the one before would find it
    again, and the spread between rounds, on which every interval rests, would be too small (statistics.md).

    `spaces`: a Space for each setting, by its index. `stays`: lists of indices, those of one switch setting
    together."""

    def __init__(self, spaces, stays, rounds, hold=1, seed=1):
        self.spaces = spaces
        self.rounds = rounds
        self._stays = stays
        self._hold = hold
        self._seed = seed
        self._searches = {}  # (setting, round): LimitSearch

    def add(self, setting, round_, value, held):
        """The outcome of a run, in the order in which they were made."""
        self.search(setting, round_).add(value, held)

    def search(self, setting, round_):
        key = setting, round_
        if key not in self._searches:
            self._searches[key] = LimitSearch(self.spaces[setting], self._start(setting, round_))
        return self._searches[key]

    def begun(self, setting):
        """[(round, LimitSearch)] of those with runs."""
        return [(round_, search) for (of, round_), search in sorted(self._searches.items(), key=lambda item: item[0])
                if of == setting and search.runs]

    @property
    def settings(self):
        return [setting for stay in self._stays for setting in stay]

    def next_run(self, stopped=()):
        """(setting, round, value), or None if all is found. `stopped`: settings of which no more runs are made."""
        for round_ in range(1, self.rounds + 1):
            active = {setting for setting in self.settings
                      if setting not in stopped and not self.search(setting, round_).complete}
            if active:
                setting = self._turn(active, round_)
                return setting, round_, self.search(setting, round_).next_value()
        return None

    def _turn(self, active, round_):
        """The first of the active settings, in the order of this round's steps, that has not had its run of the
        step."""
        generator = random.Random(f"{self._seed}:{round_}")
        order = [list(stay) for stay in self._stays]
        generator.shuffle(order)
        for stay in order:
            generator.shuffle(stay)
        block = min(self.search(setting, round_).runs for setting in active) // self._hold
        while True:
            stays = order if block % 2 == 0 else [stay[::-1] for stay in order[::-1]]
            for stay in stays:
                for step in range(block * self._hold, (block + 1) * self._hold):
                    for setting in stay:
                        if setting in active and self.search(setting, round_).runs <= step:
                            return setting
            block += 1

    def _start(self, setting, round_):
        """Where a round starts: drawn about the median of those before; None: nothing is known yet."""
        found = [self._searches[setting, number].bracket for number in range(1, round_)
                 if (setting, number) in self._searches and self._searches[setting, number].complete]
        if not found:
            return None
        closed = [(low * high) ** 0.5 for low, high in found if None not in (low, high)]
        if not closed:
            return next(value for value in found[-1] if value is not None)
        drawn = random.Random(f"{self._seed}:{setting}:{round_}").random()
        space = self.spaces[setting]
        return min(max(statistics.median(closed) * STARTS_WITHIN ** (drawn - 0.5), space.least), space.most)

    # --- What is left.

    def runs_left(self, stopped=()):
        """(expected, most) runs."""
        expected = most = 0
        for setting in self.settings:
            if setting in stopped:
                continue
            for round_ in range(1, self.rounds + 1):
                begun = (setting, round_) in self._searches and self._searches[setting, round_].runs
                parts = self.search(setting,
                                    round_).expected_runs() if round_ == 1 or begun else later_runs(
                                        self.spaces[setting])
                expected, most = expected + parts[0], most + parts[1]
        return expected, most
