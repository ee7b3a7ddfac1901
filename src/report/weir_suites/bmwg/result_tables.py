"""What a test found: tables whose columns have a unit and an observation point, primary figures, and what was not as
the draft has it."""

import dataclasses
import statistics

from weir_runs.basics.list_values import mean

# Observation points. Values of different points never stand in one column.
SETTING = "setting"  # what was chosen, not observed
SWITCH, NIC, HOST, ARITHMETIC, VERDICT = "switch", "nic", "host", "arithmetic", "weir's verdict"
POINTS = {
    SETTING: "what was set",
    SWITCH: "counters of switches, by port, direction and class",
    NIC: "counters of the hosts' NICs",
    HOST: "software of a host: when weir handed a message over, or had all of it",
    ARITHMETIC: "a formula of what was set; nothing was observed",
    VERDICT: "weir's own judgement; the draft knows none",
}


@dataclasses.dataclass(frozen=True)
class Column:
    title: str
    unit: str  # b/s, B, s, %, 1 or a word; of texts ""
    point: str  # of POINTS
    source: str = ""  # what exactly was counted


@dataclasses.dataclass(frozen=True)
class Table:
    title: str
    columns: tuple  # of Column
    rows: tuple  # of tuples: numbers, texts or None


@dataclasses.dataclass(frozen=True)
class Curve:
    """A plot of one figure over another. `lines`: {name: ((x, y), ...)}; `x_unit`, `unit`: b/s, B, s, 1 or a word; with
    `names` x counts from 0 and has these names."""

    title: str
    x_title: str
    x_unit: str
    unit: str
    lines: dict
    names: tuple = ()


def by_name(title, x_title, unit, lines):
    """A Curve over things that have names: `lines`: {name: ((name of x, y), ...)}."""
    names = tuple(dict.fromkeys(x for points in lines.values() for x, _ in points))
    return Curve(title, x_title, "", unit, {name: tuple((float(names.index(x)), y) for x, y in points)
                                            for name, points in lines.items()}, names)


@dataclasses.dataclass(frozen=True)
class Primary:
    """The figure of a test that is compared. `values`: {setting: values of its repetitions}."""

    title: str
    unit: str
    point: str
    values: dict

    def variations(self):
        """{setting: (runs, mean, coefficient of variation or None)}"""
        return {name: (len(values), statistics.fmean(values), variation(values)) for name, values in self.values.items()
                if values}


@dataclasses.dataclass(frozen=True)
class Outcome:
    tables: tuple
    primary: tuple = ()
    curves: tuple = ()
    deviations: tuple = ()  # sentences: how the procedure differs from the draft's
    anomalies: tuple = ()  # sentences: what was unexpected


def variation(values):
    """Standard deviation / mean; None: of one value, or where the mean is 0."""
    middle = mean(values)
    return statistics.stdev(values) / abs(middle) if len(values) > 1 and middle else None


def mean_of(found, key):
    """The mean of one figure of each, of those that have it."""
    return mean([one[key] for one in found])
