"""Charts as files: PNG, PDF and SVG, for papers and slides. Light, and readable when printed in grey."""

import io
import warnings

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import charts
from .charts import COLOURS, DASHED

matplotlib.use("Agg")

_STYLE = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#E5E8EC",
    "axes.axisbelow": True, "legend.frameon": False, "axes.titlesize": 9, "axes.titlelocation": "left",
    "axes.titleweight": "bold", "svg.hashsalt": "weir", "figure.dpi": 110, "text.parse_math": False,
}
_HEAT = LinearSegmentedColormap.from_list("weir", charts.HEAT_COLOURS)


def draw(chart, title=None):
    """A matplotlib figure of any chart; the caller closes it."""
    with plt.rc_context(_STYLE):
        figure = {charts.TimeChart: _time, charts.BarChart: _bars, charts.HeatMap: _heat, charts.CurveChart: _curves}[type(chart)](chart)
        if title:
            figure.suptitle(title, fontsize=9, x=0.01, ha="left", color="#444444")
    return figure


def rendered(chart, formats, title=None):
    """{format: content of a file}. The same chart gives the same bytes."""
    figure = draw(chart, title)
    contents = {}
    with plt.rc_context(_STYLE):
        # Where everything lies is found once for all formats, and not by drawing it.
        figure.get_layout_engine().execute(figure)
    figure.set_layout_engine(None)  # and not "none", with which each format would look for it again
    for kind in formats:
        metadata = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}[kind]
        file = io.BytesIO()
        with plt.rc_context(_STYLE):
            figure.savefig(file, format=kind, metadata=metadata)
        contents[kind] = file.getvalue()
    plt.close(figure)
    return contents


def _time(chart):
    panels = chart.panels
    figure, axes = plt.subplots(len(panels), 1, sharex=True, squeeze=False, layout="constrained",
                                figsize=(8.2, 0.5 + 1.75 * len(panels)))
    axes = axes[:, 0]
    for axis, panel in zip(axes, panels):
        for area in panel.areas:
            axis.fill_between(area.x, area.low, area.high, color=COLOURS[area.colour], label=area.name, linewidth=0, step=None)
        members = [line for line in panel.lines if line.style == "member"]
        for number, line in enumerate(members):
            axis.plot(line.x, line.y, color=COLOURS[line.ink], linewidth=0.5,
                      alpha=max(0.25, min(0.8, 8 / len(members))), label=panel.members if number == 0 else None,
                      rasterized=len(members) > 30)
        for line in panel.lines:
            if line.style != "member":
                one_point = np.count_nonzero(np.isfinite(np.asarray(line.y, float))) == 1  # no line goes through it
                axis.plot(line.x, line.y, color=COLOURS[line.ink], linewidth=1.1, marker="." if one_point else None,
                          linestyle="--" if line.style in DASHED else "-", label=line.name)
        axis.set_title(panel.title)
        axis.set_ylabel(panel.unit)
        axis.set_ylim(0, panel.top)
        axis.yaxis.set_major_locator(MaxNLocator(4, integer=panel.whole_numbers))
        if axis.get_legend_handles_labels()[1]:
            axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, handlelength=1.2)
        axis.margins(x=0)
        if chart.measured:
            left, right = axis.get_xlim()
            for begin, end in ((left, chart.measured[0]), (chart.measured[1], right)):
                if end > begin:
                    axis.axvspan(begin, end, color="white", alpha=0.6, zorder=3, linewidth=0)
    axes[-1].set_xlabel(chart.x_title)
    return figure


def _bars(chart):
    figure, axis = plt.subplots(layout="constrained", figsize=(8.2, 2.4))
    axis.bar(range(len(chart.names)), chart.values, width=0.75 if len(chart.names) > 1 else 0.3,
             color=[COLOURS["vermilion" if value > chart.limit else "blue"] for value in chart.values])
    axis.axhline(chart.limit, color=COLOURS["ink"], linewidth=1.1, linestyle="--", label=chart.limit_name)
    axis.set_ylim(0, 1.1 * max(chart.limit, chart.values.max()))
    axis.set_ylabel(chart.unit)
    axis.set_title(chart.axis)
    axis.grid(False, axis="x")
    ticks = np.unique(np.linspace(0, len(chart.names) - 1, min(len(chart.names), 5)).round().astype(int))
    axis.set_xticks(ticks, [chart.names[tick] for tick in ticks], fontsize=7)
    axis.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def _heat(chart):
    figure, axes = plt.subplots(len(chart.views), 1, squeeze=False, layout="constrained",
                                figsize=(8.2, 0.4 + sum(_height(view) for view in chart.views)),
                                gridspec_kw={"height_ratios": [_height(view) for view in chart.views]})
    for axis, view in zip(axes[:, 0], chart.views):
        numeric = isinstance(view.columns, np.ndarray)
        half = (view.columns[1] - view.columns[0]) / 2 if numeric and len(view.columns) > 1 else 0.5
        extent = ((view.columns[0] - half, view.columns[-1] + half) if numeric else (-0.5, len(view.columns) - 0.5))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = axis.imshow(view.values, aspect="auto", interpolation="nearest", vmin=0, vmax=view.high, cmap=_HEAT,
                                extent=(*extent, len(view.values) - 0.5, -0.5))
        axis.set_title(view.title)
        axis.grid(False)
        ticks = np.unique(np.linspace(0, len(view.values) - 1, min(len(view.values), 5)).round().astype(int))
        axis.set_yticks(ticks, [view.row_names[tick] for tick in ticks], fontsize=7)
        if not numeric:
            ticks = np.unique(np.linspace(0, len(view.columns) - 1, min(len(view.columns), 5)).round().astype(int))
            axis.set_xticks(ticks, [view.columns[tick] for tick in ticks], fontsize=7)
        bar = figure.colorbar(image, ax=axis, pad=0.01, aspect=15)
        bar.set_label(view.unit)
        bar.outline.set_visible(False)
    axes[-1, 0].set_xlabel(chart.x_title)
    return figure


def _height(view):
    return 0.9 + min(2.4, 0.045 * len(view.values))


def _curves(chart):
    figure, axis = plt.subplots(layout="constrained", figsize=(8.2, 3.4))
    for line in chart.lines:
        axis.plot(line.x, line.y, color=COLOURS[line.ink], linewidth=1.3, label=line.name)
    axis.set_xscale("log")
    axis.set_yscale("log")
    for each in (axis.xaxis, axis.yaxis):
        each.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_xlabel(chart.x_title)
    axis.set_ylabel("share of events that took longer")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    axis.set_title(chart.title)
    return figure
