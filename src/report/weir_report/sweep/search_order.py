"""Which setting is tried next, and with which value: the searches of all settings, interleaved. Pure logic.

A step is one run of each setting. Settings of one switch setting follow each other (a stay), and every second step takes the
stays in the reverse order (A B B A), so that a drift weighs on all settings alike. `hold`: steps made at one stay before
the switch is changed (A A B B B B A A). A setting whose search is complete waits for the others; then the next round begins.

Each round begins at a start of its own, drawn about the limit that is known, and takes wide steps: so rounds are repetitions, which
agree only as far as runs do. A round that began with the bracket of the one before would find it again, and the spread between rounds,
on which every interval rests, would be too small (statistics.md).
"""

from __future__ import annotations

import random
import statistics

from .limit_search import LimitSearch, later_runs

# Starts lie within this factor, from the lowest to the highest.
STARTS_WITHIN = 2.0


class Searches:
    """`spaces`: a Space for each setting, by its index. `stays`: lists of indices, those of one switch setting together."""

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
        """The first of the active settings, in the order of this round's steps, that has not had its run of the step."""
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
                parts = self.search(setting, round_).expected_runs() if round_ == 1 or begun else later_runs(self.spaces[setting])
                expected, most = expected + parts[0], most + parts[1]
        return expected, most
