"""What a tuning found: settings, changes and runs, from which text, page and record are made. Pure."""

from __future__ import annotations

import dataclasses

from weir_runs.basics.units import counted
from . import candidate_search, decide

# Within this share of the best, a setting is as good.
FLAT = decide.SETTINGS.relevant


@dataclasses.dataclass(frozen=True)
class Kept:
    """How many runs of a setting kept what was asked for."""

    runs: int = 0
    broke: int = 0  # of its runs: those that broke a constraint
    broken: tuple = ()  # how, in words
    died: int = 0  # of its runs: those that did not end by themselves

    @property
    def keeps(self):
        """Whether all its runs ended, and kept all constraints."""
        return not self.broke and not self.died


@dataclasses.dataclass(frozen=True)
class Neighbour:
    """A setting that differs from the chosen one in one axis. `words`: half, twice, present, or the value."""

    axis: str
    words: str
    candidate: tuple
    value: float | None  # median of the figure
    change: decide.Change  # against the chosen one
    kept: Kept = Kept()
    breaks: bool = False  # breaks a constraint certainly more often than the chosen one


@dataclasses.dataclass(frozen=True)
class Load:
    """The chosen setting against the present one with another load. `sustained`: so many of its runs, of the present
    and of the chosen one."""

    words: str
    change: decide.Change
    sustained: tuple | None  # None: each is a search for the largest rate
    present: Kept = Kept()
    proposed: Kept = Kept()
    breaks: bool = False  # the chosen one breaks a constraint certainly more often than the present one


@dataclasses.dataclass
class Found:
    """All that a tuning found. `values`: figures of the first confirmation, of `present` and of each finalist, in their
    order; of a neighbour that was chosen, those with the same seeds."""

    axes: tuple
    present: tuple
    history: list  # Trials of the search
    idle: dict  # {axis: why it cannot act}
    facts: list = dataclasses.field(default_factory=list)  # (name, words) of traffic, layout, links, switch
    assumed: str = ""  # what the switch's configuration does not have
    silent: list = dataclasses.field(default_factory=list)  # of the switch's settings: why each cannot act
    ruled_out: dict = dataclasses.field(default_factory=dict)  # {candidate of the search: what its runs did, in words}
    words: object = None  # switches.switch_words.Words: the proposal in those of the operator's switch; None: none
    finalists: list = dataclasses.field(default_factory=list)
    changes: list = dataclasses.field(default_factory=list)  # of each against the present one
    keeps: list = dataclasses.field(default_factory=list)  # whether it keeps all constraints
    values: list = dataclasses.field(default_factory=list)
    # (index of the finalist that was confirmed again, figures of the present one, its figures)
    again: tuple | None = None
    # of a neighbour, or of the setting with the fewest changes, that was confirmed and chosen, the last finalist:
    # (figures of the present one, its figures)
    moved: tuple | None = None
    put_back: tuple = ()  # axes that went back to their present value, for there it made no difference
    put_back_change: decide.Change | None = None  # of the setting with them against the one before
    present_keeps: bool = True
    present_kept: Kept = Kept()  # of the runs that decided
    seeds: int = 0  # with which settings are compared now
    pairs: int = 0  # of runs behind the changes that decided
    chosen: int | None = None  # of finalists; None: none is better than the present one
    beside: list = dataclasses.field(default_factory=list)  # (KeyFigure, Change) of others than the figure
    # means of what constraints look at: of the present one, of the chosen one
    observed: list = dataclasses.field(default_factory=list)
    # so many of these runs, of the present setting and of the chosen one, if there is one; None: that is not judged
    sustained: tuple | None = None
    # {section: {key: text}} of the switch in these runs, of the present setting and of the chosen one
    in_force: tuple = (None, None)
    acted: tuple | None = None  # what the switch did in these runs of the chosen setting, as of objective.acted
    plan: dict = dataclasses.field(default_factory=dict)  # of one of these runs, as its record has it
    audited: list = dataclasses.field(default_factory=list)  # switches.audit.Finding: new with the proposal
    neighbours: list = dataclasses.field(default_factory=list)
    loads: list = dataclasses.field(default_factory=list)
    runs: dict = dataclasses.field(default_factory=dict)  # {part: number}
    died: dict = dataclasses.field(default_factory=dict)  # {run: why it did not end by itself}

    @property
    def best(self):
        """The candidate that is proposed: the chosen one, or the present one."""
        return self.present if self.chosen is None else self.finalists[self.chosen]

    @property
    def overloaded(self):
        """Whether no run of either setting was sustained."""
        return self.sustained is not None and not any(self.sustained)

    @property
    def change(self):
        return None if self.chosen is None else self.changes[self.chosen]

    @property
    def behind(self):
        """(figures of the present setting, of the best one) of the confirmation that decided."""
        if self.moved is not None:
            return self.moved
        if self.again is not None and self.again[0] == self.chosen:
            return self.again[1:]
        return self.values[0], self.values[0 if self.chosen is None else 1 + self.chosen]

    @property
    def better_neighbours(self):
        """Those that are certainly better than the chosen setting, and keep all constraints."""
        return [one for one in self.neighbours if one.change.is_better and one.kept.keeps]

    def of_axis(self, name):
        return [neighbour for neighbour in self.neighbours if neighbour.axis == name]

    def judged(self, name):
        """Whether the axis matters at the best setting: by the figure, or because a neighbour certainly breaks a
        constraint more often."""
        near = self.of_axis(name)
        if any(neighbour.breaks for neighbour in near):
            return decide.MATTERS
        found = decide.judged([neighbour.change for neighbour in near])
        return found if found != decide.DOES_NOT_MATTER or all(neighbour.kept.keeps
                                                               for neighbour in near) else decide.NOT_TOLD

    def settings_within(self):
        """(the settings of the search that are within FLAT of the best, the best first; how many were tried). No ranges
        of axes: a setting of values that are each among the good ones need not be good."""
        tried = sorted(candidate_search.standings(self.history), key=lambda one: one.score)
        return [one.candidate for one in tried if one.score <= tried[0].score + FLAT], len(tried)

    def runs_text(self):
        """120 runs of the search, 20 of the confirmation, ..."""
        return ", ".join(f"{counted(number, 'run') if place == 0 else number} of the {part}"
                         for place, (part, number) in enumerate(self.runs.items()) if number)
