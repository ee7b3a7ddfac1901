"""Curves against an axis of numbers (thresholds, buffers, streams, rates): how a figure depends on it, a line for each
value of the other axes. Data only; figures/svg_figures.py draws them."""

import dataclasses
import math
import re

import numpy as np

from weir_runs.basics import quantities, units
from weir_runs.figures.charts import CURVE_COLOURS, Line, Panel, PlotRow, curve_colour

FEWEST_VALUES = 3
LINES_MAX = len(CURVE_COLOURS)
# Values that span more than this are drawn on a logarithmic axis.
LOG_FROM = 12.0
# Width of a letter of a label as share of a plot's, at the least that plots have.
LETTER_SHARE = 0.022
LONGEST_UNIT = 5
_DASHES = ("", "9 6", "3 4")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?)\s*(.*)")


@dataclasses.dataclass(frozen=True)
class NumericAxis:
    """`numbers`: {value as text: as number, in its base unit}, in rising order. `prefix`: the word that all texts begin
    with."""

    name: str
    numbers: dict
    prefix: str = ""

    @property
    def is_log(self):
        values = list(self.numbers.values())
        return values[0] > 0 and values[-1] / values[0] >= LOG_FROM


def number_of(text):
    """(number, unit) of '200kB', '0.5', '10 ms' (in s), '4-slots'; None if it does not begin with a number."""
    match = _NUMBER.fullmatch(text.strip())
    if not match:
        return None
    found = quantities.number_of(match[1] + match[2])
    if not found:
        return float(match[1]), match[2]
    number, base = found
    return (float(number / 10**9), "s") if base == "ns" else (float(number), base)


def numeric_axes(settings):
    """Axes of which every value is a number, alone or behind a word that all values share (ecn-100kB, ecn-200kB).
    `settings`: {axis: value as text} of each."""
    found = []
    for name in settings[0] if settings else ():
        texts = list(dict.fromkeys(values[name] for values in settings if name in values))
        prefix = _common_word(texts)
        numbers = {text: number_of(text[len(prefix):]) for text in texts}
        if len(texts) < FEWEST_VALUES or None in numbers.values() or len({unit for _, unit in numbers.values()}) > 1:
            continue
        values = {text: number for text, (number, _) in sorted(numbers.items(), key=lambda item: item[1])}
        if len(set(values.values())) == len(values):
            found.append(NumericAxis(name, values, prefix))
    return found


def _common_word(texts):
    """What all begin with, up to the first digit."""
    words = {re.match(r"[^0-9]*", text)[0] for text in texts}
    return words.pop() if len(words) == 1 else ""


def curves(settings, figures):
    """For each numeric axis of `settings` (as in numeric_axes) its PlotRows: one plot for each of `figures`: (title,
    unit, [(value, low, high) of each setting]); all three may be None."""
    return [(axis.name, rows) for axis in numeric_axes(settings) if (rows := _rows(settings, axis, figures))]


def _rows(settings, axis, figures):
    made = []
    ticks = _ticks(axis)
    for title, unit, values in figures:
        known = [value for three in values for value in three if value is not None and np.isfinite(value)]
        if len(known) < 2:
            continue
        factor, name = units.scale(unit, max(abs(value) for value in known))
        lines = _lines(settings, axis, values, factor)
        if lines:
            made.append(PlotRow(title, "" if name == "1" else name, [Panel("", "", lines)], "", axis.is_log, ticks,
                                from_zero=min(known) < 0.5 * max(known)))
    return made


def _ticks(axis):
    """The values that were tried, without those whose labels would lie on others."""
    numbers = list(axis.numbers.values())
    ticks, free_from = [], -math.inf
    for text, number in axis.numbers.items():
        label = _label(text[len(axis.prefix):])
        half = LETTER_SHARE * len(label) / 2
        at = _place(number, numbers[0], numbers[-1], axis.is_log)
        if at - half >= free_from:
            ticks.append((number, label))
            free_from = at + half + LETTER_SHARE
    return ticks


def _place(number, low, high, log):
    """0 to 1"""
    if log:
        number, low, high = math.log(number), math.log(low), math.log(high)
    return (number - low) / (high - low)


def _label(text):
    """'200kB'; of '4-slots with a long name' the number."""
    number, unit = _NUMBER.fullmatch(text.strip()).groups()
    return f"{number}{unit}" if len(unit) <= LONGEST_UNIT else number


def _lines(settings, axis, values, factor):
    by_others = {}
    for of_setting, three in zip(settings, values):
        if three[0] is None:
            continue
        others = " ".join(f"{name}={value}" for name, value in of_setting.items() if name != axis.name)
        by_others.setdefault(others, []).append((axis.numbers[of_setting[axis.name]], of_setting[axis.name], three))
    lines = []
    for index, (others, points) in enumerate(list(by_others.items())[:LINES_MAX]):
        points.sort()
        x = np.array([number for number, _, _ in points])
        y, low, high = (np.array([np.nan if three[part] is None else three[part] / factor for _, _, three in points])
                        for part in range(3))
        notes = [f"{axis.name} {text}" + ("" if np.isnan(bottom) else f"; {units.number(bottom)} to "
                                                                      f"{units.number(top)}")
                 for (_, text, _), bottom, top in zip(points, low, high)]
        lines.append(Line(others, x, y, notes=notes, colour=curve_colour(index), low=low, high=high, points=True,
                          dashes=_DASHES[index % len(_DASHES)]))
    return lines
