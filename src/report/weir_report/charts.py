"""What is drawn, without how: charts as plain data. matplotlib_figures.py and plotly_figures.py draw each kind once."""

import dataclasses
import typing

import numpy as np

# What a line means. `limit`: what must not be exceeded; `target`: the planned rate; `link`: what the network can carry.
Style = typing.Literal["member", "mean", "lowest", "highest", "limit", "target", "link"]


@dataclasses.dataclass
class Line:
    """`notes`: what hovering shows beside the value, one per point. `colour`: instead of the style's."""

    name: str
    x: np.ndarray
    y: np.ndarray
    style: Style
    notes: list | None = None
    colour: str | None = None


@dataclasses.dataclass
class Area:
    """From `low` to `high`; stacked areas touch."""

    name: str
    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    colour: str


@dataclasses.dataclass
class Panel:
    """One plot over seconds. `unit`: of the values drawn. `largest`: top of the axis, if fixed; `least_top`: the axis reaches
    at least so far, so that noise is not drawn as large as the plot."""

    title: str
    unit: str
    lines: list = dataclasses.field(default_factory=list)
    areas: list = dataclasses.field(default_factory=list)
    whole_numbers: bool = False
    largest: float | None = None
    least_top: float = 0.0

    @property
    def top(self):
        """A little more than the largest value."""
        if self.largest:
            return self.largest
        values = [np.asarray(line.y, float) for line in self.lines] + [np.asarray(area.high, float) for area in self.areas]
        finite = [value for series in values for value in series[np.isfinite(series)]]
        return max(1.06 * max(finite, default=0.0), self.least_top) or 1.0


@dataclasses.dataclass
class TimeChart:
    """Panels one below the other that share the axis of seconds, or what `x_title` names. Outside of `measured` (first and
    last second) is warm-up and drain."""

    name: str
    title: str
    panels: list
    measured: tuple | None
    caption: str
    x_title: str = "second"


@dataclasses.dataclass
class BarChart:
    """One bar per name. Bars above `limit` are marked. `axis`: what they measure."""

    name: str
    title: str
    axis: str
    unit: str
    names: list
    values: np.ndarray
    limit: float
    limit_name: str
    caption: str


@dataclasses.dataclass
class HeatView:
    """One of the views of a heat map. Dark is more in all of them; colours begin at 0 and end at `high`."""

    title: str
    unit: str
    values: np.ndarray  # rows x columns, NaN = absent
    row_names: list
    columns: np.ndarray | list  # seconds or names
    high: float


@dataclasses.dataclass
class HeatMap:
    name: str
    title: str
    x_title: str
    views: list
    caption: str


@dataclasses.dataclass
class CurveChart:
    """Shares of events that took longer, both axes logarithmic."""

    name: str
    title: str
    x_title: str
    lines: list
    caption: str


@dataclasses.dataclass
class DotColumn:
    """The values of one group of runs. `names`: what hovering shows, one per value."""

    name: str
    colour: str
    values: list
    names: list


@dataclasses.dataclass
class DotPanel:
    """Columns of dots, a bar at each median. `paired`: lines join value i of two columns. `least_span`: the axis covers at
    least so much."""

    title: str
    unit: str
    columns: list
    paired: bool
    least_span: float

    @property
    def range(self):
        """Ends of the axis: all values, and at least `least_span`; not below 0 if no value is."""
        values = [value for column in self.columns for value in column.values]
        low, high = min(values), max(values)
        span = max(1.2 * (high - low), self.least_span)
        middle = (low + high) / 2
        bottom = middle - span / 2
        if low >= 0:
            bottom = max(bottom, -0.04 * span)
        return bottom, bottom + span


@dataclasses.dataclass
class DotChart:
    name: str
    title: str
    panels: list
    caption: str


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
                "link": PURPLE}
CURVE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, INK)
DASHED = ("limit", "target", "link")
# Pale to dark: more is darker, on screens of both kinds.
HEAT_COLOURS = ("#F4EDD3", "#DCC873", "#8FA66E", "#3F7E86", "#1F4C7A", "#14224F")


def line_colour(line):
    return line.colour or LINE_COLOURS[line.style]


def curve_colour(index):
    return CURVE_COLOURS[index % len(CURVE_COLOURS)]


def short_name(name):
    return name if len(name) <= 16 else name[:15] + "…"


def spread_out(count, paired):
    """Equal values must not hide each other; dots that lines join stay in their column."""
    return np.zeros(count) if paired or count < 2 else np.linspace(-0.15, 0.15, count)
