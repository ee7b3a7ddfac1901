"""A search as text: what it will cost, how far it is, what it found."""

from weir_runs.basics import units
from weir_runs.basics.units import counted, duration
from weir_runs.reading.capacity import CRITERIA, QUANTITIES


def value_text(find, value):
    return units.text(value, QUANTITIES[find].unit)


def bracket_text(find, low, high):
    """between 61.2 and 62.1 Gb/s; above 61.2 Gb/s; below 62.1 Gb/s; of slots, which may be better if they are fewer:
    not found up to 256 slots"""
    if high is None and low is not None and QUANTITIES[find].better == "lower":
        return f"not found up to {value_text(find, low)}"
    if low is None or high is None:
        return ("not begun" if low is high else f"above {value_text(find, low)}" if high is None
                else f"below {value_text(find, high)}")
    if low == high:
        return value_text(find, low)
    quantity = QUANTITIES[find]
    factor, name = units.scale(quantity.unit, high)
    return f"between {units.number(low / factor)} and {units.number(high / factor)} {name}"


def progress(find_state, tried, seconds_per_run, stopped):
    """After a run: 62.5 Gb/s held; limit between 61.2 and 63.1 Gb/s; about 12 runs and 9 min left"""
    point = tried.state.point
    what = find_state.plan.find.what
    search = find_state.searches.search(point.setting, point.repetition)
    held = {True: "held", False: "did not hold", None: f"{tried.state.state}: {tried.reason}"}[tried.held]
    if tried.held is None and not search.runs:
        return f"{value_text(what, point.value)} {held}"
    where = bracket_text(what, *search.bracket) + (" (found)" if search.complete else "")
    expected, _ = find_state.searches.runs_left(stopped)
    if not expected:
        return f"{value_text(what, point.value)} {held}; limit {where}"
    left = f"about {counted(expected, 'run')}" + (f" and {duration(expected * seconds_per_run)}" if seconds_per_run
                                                  else "") + " left"
    return f"{value_text(what, point.value)} {held}; limit {where}; " + left


def planned_seconds_per_run(find_state, job):
    """None in the simulator, where it is known after some runs only."""
    if find_state.world.name == "simulation":
        return None
    each = [job["expected_s"][setting.name] for setting in find_state.settings]
    return sum(each) / len(each)


def limit_lines(capacity):
    """A line for each setting: its limit so far, and the bracket of the search that is in progress."""
    width = max(len(setting.name) for setting in capacity.settings)
    lines = [f"{capacity.quantity.title} that {CRITERIA[capacity.criterion]}"]
    for setting in capacity.settings:
        complete = sum(search.complete for search in setting.searches)
        runs = sum(len(search.runs) for search in setting.searches)
        parts = [_limit_text(capacity, setting)] if complete else []
        parts += [f"round {search.round}: {bracket_text(capacity.find, search.low, search.high)}"
                  for search in setting.searches if not search.complete]
        lines.append(f"  {setting.name:<{width}}  {', '.join(parts) or 'not begun'}, {counted(complete, 'round')} "
                     f"complete, {counted(runs, 'run')}" + (f"; stopped: {setting.stopped}" if setting.stopped else ""))
    return lines


def _limit_text(capacity, setting):
    """median limit 85.8 Gb/s (85.2 to 86.4 Gb/s), held in every run 84.9 Gb/s; the brackets where Python lacks numpy
    and scipy, as on the nodes of a cluster."""
    try:
        from ..comparison import answer_limits, capacity_estimates
    except ImportError:
        return "; ".join(bracket_text(capacity.find, search.low, search.high) for search in setting.searches
                         if search.complete)
    limit = capacity_estimates.limit(capacity, setting)
    text, every = (units.text(value, capacity.quantity.unit) for value in (limit.value, limit.every_run))
    if limit.bound == capacity_estimates.NONE_HELD:
        return answer_limits.none_held(capacity, limit)
    if limit.bound:
        return f"{limit.bound} {text}, the end of the range{answer_limits.in_rounds(limit)}"
    if not limit.is_answer:
        return f"no answer: {answer_limits.scatter_text(limit)}"
    factor, name = units.scale(capacity.quantity.unit, limit.value)
    against = (f", {limit.contradictions} of {counted(limit.runs, 'outcome')} contradict the others"
               if limit.contradictions else "")
    if limit.beyond:
        side = f"{units.text(limit.low, capacity.quantity.unit)} or more" if limit.above else \
            f"{units.text(limit.high, capacity.quantity.unit)} or less"
        return (f"median limit {text} ({side}: {answer_limits.some_beyond(capacity, limit)}), held in every "
                f"run {every}{against}")
    until = ("" if limit.until is None
             else f", it holds from {answer_limits.from_to(capacity, limit.value, limit.until)} and not above")
    return (f"median limit {text} ({units.number(limit.low / factor)} to {units.number(limit.high / factor)} "
            f"{name}), held in every run {every}{against}{until}")


def status_lines(find_state, where):
    """For `weir-sweep status`."""
    stopped = find_state.stopped()
    expected, most = find_state.searches.runs_left(stopped)
    done = sum(tried.held is not None for tried in find_state.tried)
    left = (f"about {counted(expected, 'run')} left (at most {most})" if expected else "nothing left" if stopped
            else "all is found")
    submissions = find_state.world.submissions()
    if expected and submissions and (each := planned_seconds_per_run(find_state, submissions[-1].record["job"])):
        left += f", {duration(expected * each)}"
    return [f"{find_state.plan.name} {where}: {counted(done, 'run')} done, {left}"] + limit_lines(find_state.capacity())


def plan_lines(prepared):
    """What is looked for, and between which values."""
    find = prepared.plan.find
    events = {None: "", "hold": "; events keep their size, as far as sets have whole events",
              "scale": "; events grow with the rate"}[find.events]
    lines = [f"find        {find.question()}, " + ("exactly" if find.quantity.whole
                                                   else f"within {units.exact_percent(find.resolution)}")
             + f", {counted(find.rounds, 'round')}{events}"]
    by_range = {}
    for setting in prepared.searched:
        space = prepared.spaces[setting.index]
        by_range.setdefault((space.least, space.start, space.most), []).append(setting.name)
    for (least, start, most), names in by_range.items():
        who = "" if len(by_range) == 1 else f" ({units.listed(names)})"
        lines.append(f"range       {value_text(find.what, least)} to {value_text(find.what, most)}, beginning at "
                     f"{value_text(find.what, start)}{who}")
    return lines
