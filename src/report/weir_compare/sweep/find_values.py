"""What a sweep file looks for (find = "rate", or a table [find]), the range of values, and weir's options for a value.

When the rate changes, events keep their size: what is found then does not depend on the rate at which the search
begins. Where a set is cut into events of one size, it is that with which sets have whole events, for what is left of a
set is an event as well, and may take a consumer as long as a large one. With `events = "scale"` the number of events
per set is kept, and they grow with the rate."""

from __future__ import annotations

import dataclasses
import math
import re
from fractions import Fraction

from weir_runs.basics import quantities, toml_table
from weir_runs.basics.errors import ReportError
from weir_runs.basics.quantities import BYTES, TIMES_NS, rate_text
from weir_runs.basics.toml_table import choice, is_number, key, share, shown, whole
from weir_runs.reading.capacity import CRITERIA, EVENTS, QUANTITIES
from .limit_search import Space

# Number of the rules by which a search acts on outcomes. Campaigns with others cannot be continued: their rounds
# differ.
RULES = 3
# How far from the value of the sweep file it is looked for, unless the file has a range.
RANGE = 64.0
ROUNDS_MAX = 100
# Of what is not counted, unless the file has another one.
RESOLUTION = 0.02


def _end_given(_, value):
    """An end of the range: what it can be depends on what is looked for."""
    return value


@dataclasses.dataclass(frozen=True)
class Find:
    what: str = key(choice(*QUANTITIES), "rate")
    rounds: int | None = key(whole(1, ROUNDS_MAX))  # None: as many as the file has repetitions
    resolution: float = key(share(0.001, 0.5, "2%"), RESOLUTION)
    criterion: str = key(choice(*CRITERIA), "sustained")
    events: str | None = key(choice(*EVENTS))  # None: it is not the rate
    least: float | None = key(_end_given)  # in the quantity's unit; None: a part or a multiple of the file's value
    most: float | None = key(_end_given)
    rules: int = RULES

    @property
    def quantity(self):
        return QUANTITIES[self.what]

    def question(self):
        """largest rate per producer that is sustained"""
        return f"{self.quantity.title} that {CRITERIA[self.criterion]}"


# --- From the sweep file.


def read_find(place, value):
    """Of the name of a quantity, or of a table ([find])."""
    if not isinstance(value, (str, dict)):
        place.refuse(f"{shown(value)} is not one of {', '.join(QUANTITIES)}, nor a table ([find])")
    given = value if isinstance(value, dict) else {"what": choice(*QUANTITIES)(place, value)}
    found = toml_table.read(Find, place, given)
    quantity = found.quantity
    if found.events and found.what != "rate":
        (place / "events").refuse("only with what = \"rate\", which changes the size of events")
    if "resolution" in given and quantity.whole:
        (place / "resolution").refuse(f"{found.what} are whole numbers and searched exactly; leave it out")
    least, most = (_end(place / name, given.get(name), quantity) for name in ("least", "most"))
    if least is not None and most is not None and least >= most:
        (place / "least").refuse("it is not below most")
    criterion = choice(*quantity.criteria)(place / "criterion", given.get("criterion", quantity.criteria[0]))
    return dataclasses.replace(found, criterion=criterion, least=least, most=most,
                               events=found.events or (EVENTS[0] if found.what == "rate" else None))


def _end(place, value, quantity):
    if value is None:
        return None
    number = value_of(quantity, str(value)) if is_number(value, (str, int)) else None
    if number is None or number <= 0:
        example = {"rate": '"40Gb/s"', "busy": '"20ms"', "burst": '"1MB"'}.get(quantity.name, "4")
        place.refuse(f"{shown(value)} is not a value of {quantity.name}, such as {example}")
    return number


def check_with(sweep):
    """Raises ReportError where the rest of the file contradicts `find`."""
    what = sweep.find.what
    varied = (*OF_A_BURST, "rate") if what == "burst" else (what,)
    for axis in sweep.all_axes:
        if other := next((key for value in axis.values for key, _ in value.options if key in varied), None):
            raise ReportError(f"{sweep.path}: axes: {axis.name} sets {other}, which find varies; leave it out")
    if what == "burst" and (other := next((key for key, _ in sweep.options if key in OF_A_BURST), None)):
        raise ReportError(f"{sweep.path}: run.{other}: find = \"burst\" sets it itself; leave it out")
    if sweep.slurm.concurrent > 1:
        raise ReportError(f"{sweep.path}: slurm.concurrent: runs with find go one after the other, because each "
                          "depends on those before; leave it out")


# --- Values and weir's options.


def value_of(quantity, text):
    """An option's text as a number in the quantity's unit: "62.5Gb/s", "4", "poisson:100ms,quantum=20ms" (the mean).
    None: it has none."""
    if quantity.whole:
        return float(text) if re.fullmatch(r"\d{1,9}", text) else None
    first = re.sub(r"^[a-z]+:", "", text).partition(",")[0]
    number, unit = quantities.number_of(first) or (None, "")
    if unit != {"rate": "b/s", "burst": "B"}.get(quantity.name, "ns"):
        return None
    return float(number / 10**9) if unit == "ns" else float(number)


def space_of(find, plan, where):
    """The Space of one setting. `plan`: its options in force, as weir's dry run has them. Raises ReportError."""
    quantity = find.quantity
    if find.what == "rate" and plan.get("generation") == "saturate":
        raise ReportError(f"{where}: find: generation saturate has no rate to sustain; use sets or steady")
    if find.events == "scale" and plan.get("event-size", "").startswith("trace:"):
        raise ReportError(
            f"{where}: find.events: the sizes of a trace are held, because they come from a file; use hold")
    start = value_of(quantity, plan.get(find.what, "")) if find.what != "burst" else \
        _set_bytes(plan, value_of(QUANTITIES["rate"], plan["rate"]))
    if start is None:
        raise ReportError(f"{where}: find: {find.what} is {plan.get(find.what, 'not given')}; "
                          + ("busy needs a distribution to vary, such as busy = \"exponential:20ms\""
                             if find.what == "busy" else "a value to start from is needed"))
    step = 1.0 if quantity.whole else 0.0
    least = find.least if find.least is not None else start / RANGE
    most = find.most if find.most is not None else start * RANGE
    if step:
        least, most = max(step, math.ceil(least / step - 1e-9) * step), math.floor(most / step + 1e-9) * step
    if not least < most:
        raise ReportError(f"{where}: find: there are no two values from {option_text(find, plan, least)} to "
                          f"{option_text(find, plan, most)} to choose from")
    space = Space(min(max(start, least), most), least, most, quantity.better == "higher", step, find.resolution)
    return dataclasses.replace(space, start=space.rounded(space.start))


def _is_cut(plan):
    """Whether sets are cut into events of one size."""
    return plan.get("generation", "sets") == "sets" and ":" not in plan.get("event-size", ":")


def scales_of(plan):
    """(scale, time scale): weir multiplies options by them, and has multiplied what stands in the plan. So an option
    that is made of the plan's values is divided by them."""
    return tuple(float(Fraction(plan.get(name, "1"))) for name in ("scale", "time-scale"))


def options_at(find, plan, value):
    """((option, text), ...) that make a run with this value. `plan`: of the setting, as for space_of."""
    scale, time_scale = scales_of(plan)
    if find.what == "burst":
        return _burst(plan, value, scale, time_scale)
    options = [(find.what, option_text(find, plan, value / {"rate": scale, "busy": time_scale}.get(find.what, 1.0)))]
    if find.events == "scale":
        factor = value / value_of(find.quantity, plan["rate"]) / (scale * time_scale)
        options += [(name, _scaled(plan[name], factor, BYTES)[0]) for name in ("event-size", "slot-size")
                    if name in plan]
    elif find.events == "hold" and _is_cut(plan):
        options.append(("event-size",
                        f"{max(1, math.ceil(_whole_events(plan, value) / (scale * time_scale) - 1e-6))}B"))
    return tuple(options)


# What find = "burst" sets, beside the rate: each producer sends one event at once, and nothing of weir paces or divides
# it.
OF_A_BURST = ("event-size", "policy", "window", "streams", "slots", "slot-size", "chunk-size", "pattern", "generation")


def _set_bytes(plan, rate):
    return math.floor(rate + 1e-6) * _scaled(plan["interval"], 1.0, TIMES_NS)[1] // (8 * 10**9)


def _burst(plan, value, scale, time_scale):
    """`value`: bytes of each producer, in each interval."""
    size = f"{math.floor(value / (scale * time_scale) + 1e-6)}B"
    rate = math.ceil(math.floor(value + 1e-6) * 8e9 / _scaled(plan["interval"], 1.0, TIMES_NS)[1] / scale - 1e-6)
    return (("event-size", size), ("slot-size", size), ("chunk-size", size), ("rate", rate_text(rate)),
            ("policy", "none"), ("window", "1"), ("streams", "1"), ("slots", plan.get("producers") or "1"))


def event_sizes(plans):
    """The smallest and the largest event-size of plans, as text; one if it is the same in all; (): it is not known, or
    not in bytes."""
    texts = dict.fromkeys(plan.get("event-size", "") for plan in plans)
    sizes = {text: number for text in texts for number, unit in [quantities.number_of(text) or (0, "")] if unit == "B"}
    if len(texts) < 2 or len(sizes) < len(texts):
        return tuple(texts) if len(texts) == 1 and "" not in texts else ()
    ordered = sorted(texts, key=sizes.get)
    return ordered[0], ordered[-1]


def _whole_events(plan, rate):
    """Bytes of an event: nearest to its size in the plan, so that a set at this rate has whole events, which fit into a
    slot."""
    set_bytes = _set_bytes(plan, rate)
    count = max(1, round(set_bytes / _scaled(plan["event-size"], 1.0, BYTES)[1]))
    if "slot-size" in plan:
        count = max(count, -(-set_bytes // _scaled(plan["slot-size"], 1.0, BYTES)[1]))
    return -(-set_bytes // count)


def rate_of_buffer(find, plan, plan_at_most):
    """Above it a set is larger than the buffer, so that nothing is sustained, whatever the network does; None: there is
    no such rate. `plan_at_most`: the options in force at the end of the range, by which a buffer that grows with the
    rate is told."""
    if find.what != "rate" or plan.get("generation") != "sets" or plan["buffer"] != plan_at_most["buffer"]:
        return None
    return _scaled(plan["buffer"], 1.0, BYTES)[1] * 8e9 / _scaled(plan["interval"], 1.0, TIMES_NS)[1]


def option_text(find, plan, value):
    if find.what == "rate":
        return rate_text(math.floor(value + 1e-6))
    if find.what == "burst":
        return f"{value:.0f}B"
    if find.what == "busy":
        text = plan["busy"]
        return _scaled(text, value / value_of(find.quantity, text), TIMES_NS)[0]
    return f"{value:.0f}"


def _scaled(text, factor, units):
    """All quantities of a distribution times a factor, rounded up to whole bytes or nanoseconds, and the first of them.
    Numbers without a unit stay."""
    first = None

    def replaced(match):
        nonlocal first
        exact = float(quantities.number_of(match[0])[0]) * factor
        count = max(1, math.ceil(exact - 1e-6))
        first = count if first is None else first
        return f"{count}{'B' if units is BYTES else 'ns'}"

    names = "|".join(sorted(units, key=len, reverse=True))
    scaled = re.sub(rf"[0-9]+(?:\.[0-9]+)?(?:{names})(?![A-Za-z])", replaced, text)
    return scaled, first


# --- In plan.json.


def from_record(record):
    """Raises KeyError, TypeError or ValueError."""
    if record is None:
        return None
    if record["what"] not in QUANTITIES:
        raise ValueError(f"find.what is {record['what']!r}")
    return Find(**{"rules": 1, **record})
