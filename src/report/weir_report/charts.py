"""What is drawn, without how: charts as plain data. matplotlib_figures.py and plotly_figures.py draw each kind once."""

import dataclasses
import typing

import numpy as np

Style = typing.Literal["member", "mean", "lowest", "highest", "rule"]


@dataclasses.dataclass
class Line:
    """`notes`: what hovering shows beside the value, one per point."""

    name: str
    x: np.ndarray
    y: np.ndarray
    style: Style
    notes: list | None = None


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
    """One plot over seconds."""

    title: str
    unit: str  # of the values drawn, as the axis says it
    lines: list = dataclasses.field(default_factory=list)
    areas: list = dataclasses.field(default_factory=list)
    whole_numbers: bool = False
    largest: float | None = None  # top of the axis, if fixed


@dataclasses.dataclass
class TimeChart:
    """Panels one below the other that share the axis of seconds, or what `x_title` says. Outside of `measured` (first and last second) is
    warm-up and drain."""

    name: str
    title: str
    panels: list
    measured: tuple | None
    caption: str
    x_title: str = "second"


@dataclasses.dataclass
class HeatView:
    """One of the views of a heat map: what it shows, and where colour ends."""

    title: str
    unit: str
    values: np.ndarray  # rows x columns, NaN = absent
    row_names: list
    low: float
    high: float
    bad_is_high: bool


@dataclasses.dataclass
class HeatMap:
    name: str
    title: str
    x_title: str
    columns: np.ndarray | list
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


# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#9AA3AD"
LIGHT = "#D5DAE0"

LINE_COLOURS = {"member": GREY, "mean": BLACK, "lowest": VERMILION, "highest": BLUE, "rule": VERMILION}
CURVE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, BLACK, GREY)
