"""What is drawn, without how: charts as plain data. svg_figures.py draws them on pages, matplotlib_figures.py in
files."""

import dataclasses
import typing

import numpy as np

# What a line means. `member`: one of many, in the background; `limit`: what must not be exceeded; `target`: the planned
# rate; `link`: what the network can carry; `curve`: one of several that differ in colour only; `bar`: no line, a bar at
# each point.
Style = typing.Literal["member", "mean", "lowest", "highest", "limit", "target", "link", "curve", "bar"]


# Less time than this is drawn in milliseconds.
MS_BELOW_S = 1.5
# What takes less of an axis beside something larger is flat.
FLAT_BELOW = 0.2
# Lines that differ by less show nothing.
FLAT_SHARE = 0.01


def _known(values):
    """As numbers; what is not finite is absent."""
    values = np.asarray(values, float)
    return np.where(np.isfinite(values), values, np.nan)


@dataclasses.dataclass
class Line:
    """`notes`: what hovering shows beside the value, one per point. `colour`: instead of that of the style. `low`,
    `high`: an interval at each point, if any; `points`: a dot at each point; `dashes`: lengths of dashes and gaps, of
    lines that may lie on each other."""

    name: str
    x: np.ndarray
    y: np.ndarray
    style: Style = "curve"
    notes: list | None = None
    colour: str | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    points: bool = False
    dashes: str = ""

    def __post_init__(self):
        self.x, self.y = np.asarray(self.x, float), _known(self.y)

    @property
    def is_rule(self):
        """A straight line across the plot that something is compared with, and no values."""
        return self.style in DASHED

    @property
    def ink(self):
        """The name of its colour."""
        return self.colour or LINE_COLOURS[self.style]


def rule(name, value, style, colour=None):
    """The line across a plot at `value`."""
    return Line(name, np.zeros(1), [value], style, colour=colour)


def extreme(name, x, values, name_of, style="highest"):
    """The line of the largest value of any row of `values` (rows x points), or of style `lowest` the smallest, noting
    whose it is. `name_of`: the name of a row by its index."""
    sign = -1.0 if style == "lowest" else 1.0
    which = np.where(np.isnan(values), -np.inf, sign * values).argmax(axis=0)
    names = {index: name_of(index) for index in np.unique(which)}
    return Line(name, x, values[which, np.arange(len(x))], style, [names[index] for index in which])


@dataclasses.dataclass
class Area:
    """From `low` to `high`; stacked areas touch."""

    name: str
    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    colour: str

    def __post_init__(self):
        self.x, self.low, self.high = np.asarray(self.x, float), _known(self.low), _known(self.high)


@dataclasses.dataclass
class Panel:
    """One plot. `unit`: of the values drawn. `largest`: top of the axis, if fixed; `least_top`: the axis reaches at
    least so far, so that noise is not drawn as large as the plot; `note` and `colour`: beside its title; `measured`: as
    of a PanelChart, if it is not the same for all plots of a row."""

    title: str
    unit: str
    lines: list = dataclasses.field(default_factory=list)
    areas: list = dataclasses.field(default_factory=list)
    whole_numbers: bool = False
    largest: float | None = None
    least_top: float = 0.0
    members: str = "single ranks"
    note: str = ""
    colour: str | None = None
    measured: tuple | None = None

    @property
    def top(self):
        """A little more than the largest value."""
        if self.largest:
            return self.largest
        values = [line.y for line in self.lines] + [area.high for area in self.areas]
        highest = max((float(np.nanmax(part)) for part in values if np.isfinite(part).any()), default=0.0)
        return max(1.06 * highest, self.least_top) or 1.0

    @property
    def series(self):
        """Its lines of values, without rules."""
        return [line for line in self.lines if not line.is_rule]

    @property
    def constant(self):
        """The value of all its lines and of a band, in the measured time if that is known, if it is one, so that a plot
        has no more to tell; else None."""
        first, last = self.measured or (-np.inf, np.inf)
        values = [(line.x, line.y) for line in self.series] + [
            (area.x, edge) for area in self.areas for edge in (area.low, area.high)]
        if len(self.areas) > 1 or not self.series:
            return None
        return _one_value(np.concatenate([y[(x >= first) & (x <= last)] for x, y in values]))


def _one_value(values):
    """What all of them are, within FLAT_SHARE; None: they differ, or there are none."""
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    low, high = float(known.min()), float(known.max())
    return (low + high) / 2 if high - low <= FLAT_SHARE * max(abs(low), abs(high)) else None


@dataclasses.dataclass
class PanelChart:
    """Panels one below the other that share the axis of seconds, or what `x_title` names. Outside of `measured` (first
    and last second) is warm-up and drain. `holds`: how long the last value of a line holds, and others do up to the
    next one; 0: values are those of instants, between which lines run straight. `x_names`: names of x = 0, 1, ..., in
    the place of numbers; `log`: both axes are logarithmic."""

    name: str
    title: str
    panels: list
    measured: tuple | None
    caption: str
    x_title: str = "second"
    holds: float = 0.0
    x_names: list | None = None
    log: bool = False


def in_fitting_time(chart):
    """A chart over seconds, or the same in ms where it covers little time."""
    of_panels = "plots" if isinstance(chart, PlotRow) else "panels"
    panels = [] if isinstance(chart, HeatMap) else getattr(chart, of_panels)
    times = [view.columns for view in chart.views] if isinstance(chart, HeatMap) else [
        one.x for panel in panels for one in (*panel.series, *panel.areas)]
    if chart.x_title != "second" or not times or np.ptp(np.concatenate(times)) > MS_BELOW_S:
        return chart
    if isinstance(chart, HeatMap):
        views = [dataclasses.replace(view, columns=1000 * view.columns) for view in chart.views]
        return dataclasses.replace(chart, x_title="ms", views=views)
    scaled = [_in_ms(panel, lines=[dataclasses.replace(line, x=1000 * line.x) for line in panel.lines],
                     areas=[dataclasses.replace(area, x=1000 * area.x) for area in panel.areas]) for panel in panels]
    return (dataclasses.replace if isinstance(chart, PlotRow) else _in_ms)(
        chart, x_title="ms", holds=1000 * chart.holds, **{of_panels: scaled})


def _in_ms(measured, **more):
    """A panel or chart, of which `measured` becomes ms."""
    ends = measured.measured and tuple(1000 * end for end in measured.measured)
    return dataclasses.replace(measured, measured=ends, **more)


@dataclasses.dataclass
class HeatView:
    """One of the views of a heat map. Dark is more in all of them; colours begin at 0 and end at `high`."""

    title: str
    unit: str
    values: np.ndarray  # rows x columns, NaN = absent
    row_names: list
    columns: np.ndarray | list  # seconds or names
    high: float

    @property
    def constant(self):
        """As of a Panel."""
        return _one_value(self.values)


@dataclasses.dataclass
class HeatMap:
    name: str
    title: str
    x_title: str
    views: list
    caption: str


@dataclasses.dataclass
class Mark:
    """One run on a row. `note`: what hovering shows. `held`: whether the run held what it tried, where that was the
    question."""

    value: float
    note: str
    held: bool | None = None


@dataclasses.dataclass
class Row:
    """One setting. `value` with its interval (`low`, `high`); None: not known. `text`: the same in words, beside the
    row; `note`: more words below it. `bar`: a bar from 0 to `value`; `missing`: instead of a value, why there is none;
    `ideal`: what could not be better."""

    name: str
    colour: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    marks: list = dataclasses.field(default_factory=list)
    text: str = ""
    note: str = ""
    rank: str = ""
    missing: str = ""
    ideal: float | None = None


@dataclasses.dataclass
class RowChart:
    """A row per setting on one axis. `bars`: each from 0 to its value; otherwise dots with intervals, and the axis
    covers at least `least_span`, so that the spread of equal runs does not look large. `from_zero`: the axis begins at
    0, and marks lie on one line. `marks_are`: what each of them is."""

    title: str
    unit: str
    rows: list
    bars: bool = False
    least_span: float = 0.0
    from_zero: bool = False
    marks_are: str = "run"

    def leaders(self):
        """The first rows, as many as the scale of all rows makes alike, on a scale of their own; None if there are no
        such rows, or nothing differs in them."""
        known = [row for row in self.rows if row.value is not None]
        for count in range(len(known) - 1, 1, -1):
            own = RowChart(self.title, self.unit, known[:count])
            if own.extent < FLAT_BELOW * self.extent:
                return own if own.extent else None
        return None

    @property
    def extent(self):
        """From the smallest to the largest of all that it shows."""
        values = self._values()
        return max(values) - min(values) if values else 0.0

    def _values(self):
        return [value for row in self.rows for value in (row.value, row.low, row.high, row.ideal,
                                                         *(mark.value for mark in row.marks))
                if value is not None and np.isfinite(value)]

    @property
    def range(self):
        """Ends of the axis; not below 0 if no value is."""
        values = self._values()
        if self.bars or self.from_zero:
            return 0.0, 1.02 * max(values, default=0.0) or 1.0
        if not values:
            return 0.0, 1.0
        low, high = min(values), max(values)
        span = max(1.15 * (high - low), self.least_span) or 1.0
        bottom = (low + high) / 2 - span / 2
        if low >= 0:
            bottom = max(bottom, -0.04 * span)
        return bottom, bottom + span


@dataclasses.dataclass
class PlotRow:
    """Panels on the same scale, side by side. `x_ticks`: where the axis has labels, with their texts; None: round
    numbers. `points_max`: of each line; `holds`: as of a PanelChart."""

    title: str
    unit: str
    plots: list
    x_title: str = "second"
    x_log: bool = False
    x_ticks: list | None = None
    least_top: float = 0.0
    from_zero: bool = True
    points_max: int = 2000
    holds: float = 0.0

    @property
    def constant(self):
        """The value of all its plots, if that is one; else None."""
        values = [plot.constant for plot in self.plots if plot.lines]
        return None if not values or None in values else _one_value(np.array(values))

    @property
    def series(self):
        """The lines of values of all plots."""
        return [line for plot in self.plots for line in plot.series]

    def y_range(self):
        """A little more than all values."""
        values = np.concatenate([part for line in self.series for part in (line.y, line.low, line.high)
                                 if part is not None])
        values = values[np.isfinite(values)]
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        if self.from_zero:
            return 0.0, max(1.06 * high, self.least_top) or 1.0
        span = max(1.2 * (high - low), 0.1 * abs(high)) or 1.0
        bottom = (low + high) / 2 - span / 2
        return max(bottom, 0.0) if low >= 0 else bottom, (low + high) / 2 + span / 2


# Okabe and Ito's colours, which people with any kind of colour vision can tell apart. The names are those of the
# variables in page.css, which has lighter ones for dark screens.
COLOURS = {
    "ink": "#1C2127",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "grey": "#9AA3AD",
    "light": "#D5DAE0",
}
INK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE, GREY, LIGHT = COLOURS

LINE_COLOURS = {"member": GREY, "mean": INK, "lowest": ORANGE, "highest": BLUE, "limit": VERMILION, "target": GREEN,
                "link": PURPLE, "bar": BLUE}
CURVE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, INK)
DASHED = ("limit", "target", "link")
# Pale to dark: more is darker, on screens of both kinds.
HEAT_COLOURS = ("#F4EDD3", "#DCC873", "#8FA66E", "#3F7E86", "#1F4C7A", "#14224F")


def curve_colour(index):
    return CURVE_COLOURS[index % len(CURVE_COLOURS)]
