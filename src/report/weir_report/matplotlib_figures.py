"""Charts as files: PNG, PDF and SVG, for papers and slides. Light, and readable when printed in grey."""

import warnings

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from . import charts
from .charts import LINE_COLOURS
from .errors import naming
from .run_charts import curve_colour

matplotlib.use("Agg")

FORMATS = ("png", "pdf", "svg")
_STYLE = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#E5E8EC",
    "axes.axisbelow": True, "legend.frameon": False, "axes.titlesize": 9, "axes.titlelocation": "left",
    "axes.titleweight": "bold", "svg.hashsalt": "weir", "figure.dpi": 110,
}


def draw(chart, title=None):
    """A matplotlib figure of any chart; the caller closes it."""
    with plt.rc_context(_STYLE):
        figure = {charts.TimeChart: _time, charts.HeatMap: _heat, charts.CurveChart: _curves}[type(chart)](chart)
        if title:
            figure.suptitle(title, fontsize=9, x=0.01, ha="left", color="#444444")
    return figure


def write(chart, directory, formats, title=None):
    """Writes `directory`/`chart.name`.FORMAT for each format and returns the paths."""
    figure = draw(chart, title)
    paths = []
    for kind in formats:
        path = directory / f"{chart.name}.{kind}"
        # Without a date, the same run gives the same bytes.
        metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
        with plt.rc_context(_STYLE), naming(path):
            figure.savefig(path, metadata=metadata)
        paths.append(path)
    plt.close(figure)
    return paths


def _time(chart):
    panels = chart.panels
    figure, axes = plt.subplots(len(panels), 1, sharex=True, squeeze=False, layout="constrained",
                                figsize=(8.2, 0.5 + 1.75 * len(panels)))
    axes = axes[:, 0]
    for axis, panel in zip(axes, panels):
        for area in panel.areas:
            axis.fill_between(area.x, area.low, area.high, color=area.colour, label=area.name, linewidth=0, step=None)
        members = [line for line in panel.lines if line.style == "member"]
        for number, line in enumerate(members):
            axis.plot(line.x, line.y, color=LINE_COLOURS["member"], linewidth=0.5, alpha=max(0.25, min(0.8, 8 / len(members))),
                      label="single ranks" if number == 0 else None, rasterized=len(members) > 30)
        for line in panel.lines:
            if line.style != "member":
                axis.plot(line.x, line.y, color=LINE_COLOURS[line.style], linewidth=1.1,
                          linestyle="--" if line.style == "rule" else "-", label=line.name)
        axis.set_title(panel.title)
        axis.set_ylabel(panel.unit)
        axis.set_ylim(0, panel.largest)
        if panel.largest is None:
            axis.set_ylim(0, axis.get_ylim()[1] * 1.02)
        axis.yaxis.set_major_locator(MaxNLocator(4, integer=panel.whole_numbers))
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, handlelength=1.2)
        axis.margins(x=0)
        if chart.measured:
            left, right = axis.get_xlim()
            for begin, end in ((left, chart.measured[0]), (chart.measured[1], right)):
                if end > begin:
                    axis.axvspan(begin, end, color="white", alpha=0.6, zorder=3, linewidth=0)
    axes[-1].set_xlabel(chart.x_title)
    return figure


def _heat(chart):
    figure, axes = plt.subplots(len(chart.views), 1, squeeze=False, layout="constrained",
                                figsize=(8.2, 0.4 + sum(_height(view) for view in chart.views)),
                                gridspec_kw={"height_ratios": [_height(view) for view in chart.views]})
    for axis, view in zip(axes[:, 0], chart.views):
        numeric = isinstance(chart.columns, np.ndarray)
        extent = ((chart.columns[0] - 0.5, chart.columns[-1] + 0.5) if numeric else (-0.5, len(chart.columns) - 0.5))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = axis.imshow(view.values, aspect="auto", interpolation="nearest", vmin=view.low, vmax=view.high,
                                cmap="cividis_r" if view.bad_is_high else "cividis",
                                extent=(*extent, len(view.values) - 0.5, -0.5))
        axis.set_title(view.title)
        axis.grid(False)
        ticks = np.unique(np.linspace(0, len(view.values) - 1, min(len(view.values), 5)).round().astype(int))
        axis.set_yticks(ticks, [view.row_names[tick] for tick in ticks], fontsize=7)
        if not numeric:
            ticks = np.unique(np.linspace(0, len(chart.columns) - 1, min(len(chart.columns), 5)).round().astype(int))
            axis.set_xticks(ticks, [chart.columns[tick] for tick in ticks], fontsize=7)
        bar = figure.colorbar(image, ax=axis, pad=0.01, aspect=15)
        bar.set_label(view.unit)
        bar.outline.set_visible(False)
    axes[-1, 0].set_xlabel(chart.x_title)
    return figure


def _height(view):
    return 0.9 + min(2.4, 0.045 * len(view.values))


def _curves(chart):
    figure, axis = plt.subplots(layout="constrained", figsize=(8.2, 3.4))
    for index, line in enumerate(chart.lines):
        axis.plot(line.x, line.y, color=curve_colour(index), linewidth=1.3, label=line.name)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel(chart.x_title)
    axis.set_ylabel("share of events that took longer")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    axis.set_title(chart.title)
    return figure
