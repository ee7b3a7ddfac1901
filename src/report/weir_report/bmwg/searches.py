"""Searches for several settings side by side: every step is one campaign with the next value of each."""

from __future__ import annotations

from ..sweep.limit_search import LimitSearch


def search(spaces, step_of, held, starts=None):
    """A generator: gives steps, is sent their trials, and returns {name: LimitSearch}. `spaces`: {name: Space}. `step_of(number, values)`:
    the step with these values {name: value}, whose axis `case` has the names; `held(trial)`: does the value hold? `starts`: first values
    near the limit, where they are known."""
    searches = {name: LimitSearch(space, (starts or {}).get(name)) for name, space in spaces.items()}
    number = 0
    while values := {name: value for name, one in searches.items() if (value := one.next_value()) is not None}:
        number += 1
        for trial in (yield step_of(number, values)):
            name = trial.values["case"]
            searches[name].add(values[name], held(trial))
    return searches


def limit_of(one):
    """The largest value that held; None: none did."""
    return one.bracket[0]
