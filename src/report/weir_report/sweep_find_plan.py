"""Before a search: the range of each setting, and the runs that it will need, by a rehearsal."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import math
import os

from . import sweep_check, sweep_find, sweep_find_state, sweep_plan
from .errors import ReportError
from .quantities import rate_text


def spaces(weir, simulated, plan, settings, base_plans, world_options, directory):
    """A Space and a warning (or None) for each setting, by its index. Ends of the range that the file names are checked by dry runs and refused;
    without them, the range is as wide as weir allows. Raises ReportError."""
    def one(setting):
        space = sweep_find.space_of(plan.find, base_plans[setting.index], setting.name)

        def dry_run(value):
            options = sweep_find.options_at(plan.find, base_plans[setting.index], value)
            given = sweep_check.in_world(setting, world_options, simulated, options)
            document, message = sweep_check.dry_run(weir, "simulate" if simulated else "run", given, directory)
            return document, message and f"{setting.name}: {options[0][0]} = {options[0][1]}: {message}"

        ends = {}
        for key in ("least", "most"):
            value, refused = getattr(space, key), None
            while (tried := dry_run(value))[1] or refused is not None and not _is_near(space, *sorted((value, refused))):
                # Towards the value of the file, which weir has accepted; then back to the last that is possible.
                if tried[1]:
                    refused = value
                    nearer = space.rounded((value * space.start) ** 0.5)
                else:
                    nearer = space.middle(*sorted((value, refused)))
                if tried[1] and (getattr(plan.find, key) is not None or nearer == value):
                    raise ReportError(f"find.{key}: {tried[1]}")
                value = nearer
            ends[key] = value
        cap = sweep_find.rate_of_buffer(plan.find, base_plans[setting.index], tried[0]["plan"])
        warning = None if cap is None or cap >= ends["most"] else (
            f"buffer is kept at {base_plans[setting.index]['buffer']}, which is one set at {rate_text(math.floor(cap))}: no higher rate is "
            "sustained, whatever the network does")
        return dataclasses.replace(space, **ends), warning

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(zip((setting.index for setting in settings), pool.map(one, settings)))


# An end of the range is found to this factor.
END_WITHIN = 1.05


def _is_near(space, low, high):
    return space.is_narrow(low, high) if space.step else high <= low * END_WITHIN


def rehearsed(plan, settings, all_spaces):
    """Points in the order in which they would be run if runs agreed with each other and the limit was a little beyond the value
    of the file: for the cost. Returns (points, most runs)."""
    searches = sweep_find_state.searches_of(plan, settings, all_spaces)
    most = searches.runs_left()[1]
    points = []
    while (run := searches.next_run()) is not None:
        setting, round_, value = run
        space = all_spaces[setting]
        limit = space.start * 1.37 if space.larger_is_harder else space.start / 1.37
        searches.add(setting, round_, value, value <= limit if space.larger_is_harder else value >= limit)
        points.append(sweep_plan.Point(len(points) + 1, setting, round_, 1, value))
    return tuple(points), max(most, len(points))
