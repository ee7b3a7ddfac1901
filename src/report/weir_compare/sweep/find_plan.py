"""Before a search: the range of each setting, and the runs that it will need, by a rehearsal."""

import concurrent.futures
import dataclasses
import math
import os

from weir_runs.basics.errors import ReportError
from weir_runs.basics.quantities import rate_text, spaced
from . import dry_runs, find_state, find_values, run_plan


@dataclasses.dataclass(frozen=True)
class DryRuns:
    """Dry runs of a search's values, in one world."""

    weir: str
    simulated: bool
    world_options: tuple
    directory: object

    def of_options(self, setting, options):
        """(what weir printed, None), or (None, why it takes no such value)."""
        given = dry_runs.in_world(setting, self.world_options, self.simulated, options)
        document, message = dry_runs.dry_run(self.weir, "simulate" if self.simulated else "run", given, self.directory)
        return document, message and f"{setting.name}: {options[0][0]} = {options[0][1]}: {message}"


def spaces(runs, find, settings, base_plans):
    """A Space and a warning (or None) for each setting, by its index. Ends of the range that the file names are checked
    by dry runs and refused; without them, the range is as wide as weir allows. `runs`: DryRuns. Raises ReportError."""
    def one(setting):
        base_plan = base_plans[setting.index]
        space = find_values.space_of(find, base_plan, setting.name)
        ends = {}
        for key in ("least", "most"):
            value, refused = getattr(space, key), None
            while (tried := runs.of_options(setting, find_values.options_at(find, base_plan, value)))[1] or \
                    refused is not None and not _is_near(space, *sorted((value, refused))):
                # Towards the value of the file, which weir has accepted; then back to the last that is possible.
                if tried[1]:
                    refused = value
                    nearer = space.rounded((value * space.start) ** 0.5)
                else:
                    nearer = space.middle(*sorted((value, refused)))
                if tried[1] and (getattr(find, key) is not None or nearer == value):
                    raise ReportError(f"find.{key}: {tried[1]}")
                value = nearer
            ends[key] = value
        cap = find_values.rate_of_buffer(find, base_plan, tried[0]["plan"])
        warning = None if cap is None or cap >= ends["most"] else (
            f"buffer is kept at {base_plan['buffer']}, which is one set at {spaced(rate_text(math.floor(cap)))}: no "
            "higher rate is sustained, whatever the network does")
        return dataclasses.replace(space, **ends), warning

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(zip((setting.index for setting in settings), pool.map(one, settings)))


# An end of the range is found to this factor.
END_WITHIN = 1.05


def _is_near(space, low, high):
    return space.is_narrow(low, high) if space.step else high <= low * END_WITHIN


def rehearsed(plan, settings, all_spaces):
    """Points in the order in which they would be run if runs agreed with each other and the limit was a little beyond
    the value of the file: for the cost. Returns (points, most runs)."""
    searches = find_state.searches_of(plan, settings, all_spaces)
    most = searches.runs_left()[1]
    points = []
    while (run := searches.next_run()) is not None:
        setting, round_, value = run
        space = all_spaces[setting]
        limit = space.start * 1.37 if space.larger_is_harder else space.start / 1.37
        searches.add(setting, round_, value, value <= limit if space.larger_is_harder else value >= limit)
        points.append(run_plan.Point(len(points) + 1, setting, round_, 1, value))
    return tuple(points), max(most, len(points))
