"""Charts as files: PNG, PDF and SVG, for papers and slides. Light, and readable when printed in grey."""

import io
import warnings

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import charts
from .charts import COLOURS

matplotlib.use("Agg")

NAMES_MAX = 5
_STYLE = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#E5E8EC",
    "axes.axisbelow": True, "legend.frameon": False, "axes.titlesize": 9, "axes.titlelocation": "left",
    "axes.titleweight": "bold", "svg.hashsalt": "weir", "figure.dpi": 110, "text.parse_math": False,
}
_HEAT = LinearSegmentedColormap.from_list("weir", charts.HEAT_COLOURS)


def draw(chart, title=None):
    """A matplotlib figure of any chart; the caller closes it."""
    with plt.rc_context(_STYLE):
        chart = charts.in_fitting_time(chart)
        figure = _heat(chart) if isinstance(chart, charts.HeatMap) else _panels(chart)
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


def _panels(chart):
    panels = chart.panels
    figure, axes = plt.subplots(len(panels), 1, sharex=True, squeeze=False, layout="constrained",
                                figsize=(8.2, 0.5 + (2.9 if chart.log else 1.75) * len(panels)))
    axes = axes[:, 0]
    for axis, panel in zip(axes, panels):
        for area in panel.areas:
            axis.fill_between(_held(area.x, chart.holds, 1), _held(area.low, chart.holds),
                              _held(area.high, chart.holds), color=COLOURS[area.colour],
                              label=area.name, linewidth=0, step="post" if chart.holds else None)
        _lines(axis, panel, chart.holds)
        axis.set_title(panel.title)
        axis.set_ylabel(panel.unit)
        if axis.get_legend_handles_labels()[1]:
            axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, handlelength=1.2)
        if chart.log:
            axis.set(xscale="log", yscale="log")
            for each in (axis.xaxis, axis.yaxis):
                each.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            continue
        axis.set_ylim(0, panel.top)
        axis.yaxis.set_major_locator(MaxNLocator(4, integer=panel.whole_numbers))
        axis.margins(x=0)
        if chart.measured:
            left, right = axis.get_xlim()
            for begin, end in ((left, chart.measured[0]), (chart.measured[1] + chart.holds, right)):
                if end > begin:
                    axis.axvspan(begin, end, color="white", alpha=0.6, zorder=3, linewidth=0)
    axes[-1].set_xlabel(chart.x_title)
    if chart.x_names:
        axes[-1].set_xticks(*zip(*_named(chart.x_names)), fontsize=7)
        axes[-1].set_xlim(-0.5, len(chart.x_names) - 0.5)
    return figure


def _held(values, holds, more=0):
    """With the last of them once more, `more` times `holds` further, if there is a time for which it holds."""
    return np.append(values, values[-1] + more * holds) if holds else values


def _lines(axis, panel, holds):
    drawn = {"drawstyle": "steps-post" if holds else "default"}
    members = [line for line in panel.lines if line.style == "member"]
    for number, line in enumerate(members):
        axis.plot(_held(line.x, holds, 1), _held(line.y, holds), color=COLOURS[line.ink], linewidth=0.5,
                  alpha=max(0.25, min(0.8, 8 / len(members))),
                  label=panel.members if number == 0 else None, rasterized=len(members) > 30, **drawn)
    for line in panel.lines:
        if line.style == "bar":
            axis.bar(line.x, line.y, width=0.75 if len(line.x) > 1 else 0.3, color=COLOURS[line.ink], label=line.name)
        elif line.is_rule:
            axis.axhline(line.y[0], color=COLOURS[line.ink], linewidth=1.1, linestyle="--", label=line.name)
        elif line.style != "member":
            one_point = np.count_nonzero(np.isfinite(line.y)) == 1 and not holds  # no line goes through it
            axis.plot(_held(line.x, holds, 1), _held(line.y, holds), color=COLOURS[line.ink], linewidth=1.1,
                      marker="." if one_point else None, label=line.name, **drawn)


def _named(names):
    """[(place, name)] of as many as are told apart."""
    return [(place, names[place])
            for place in np.unique(np.linspace(0, len(names) - 1, min(len(names), NAMES_MAX)).round().astype(int))]


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
        axis.set_yticks(*zip(*_named(view.row_names)), fontsize=7)
        if not numeric:
            axis.set_xticks(*zip(*_named(view.columns)), fontsize=7)
        bar = figure.colorbar(image, ax=axis, pad=0.01, aspect=15)
        bar.set_label(view.unit)
        bar.outline.set_visible(False)
    axes[-1, 0].set_xlabel(chart.x_title)
    return figure


def _height(view):
    return 0.9 + min(2.4, 0.045 * len(view.values))
