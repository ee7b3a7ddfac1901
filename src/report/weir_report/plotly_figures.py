"""Charts for the page: figures as plotly.js takes them, in plain dictionaries. Hover and zoom come with it."""

import math

import numpy as np

from . import charts
from .charts import LINE_COLOURS
from .run_charts import curve_colour

_FONT = {"family": "system-ui, sans-serif", "size": 12, "color": "#222222"}
_DASHES = {"rule": "dash"}
# Four digits are more than a screen shows, and keep the page small.
_DIGITS = 4


def figure(chart):
    """{'data': [...], 'layout': {...}} of any chart."""
    return {charts.TimeChart: _time, charts.HeatMap: _heat, charts.CurveChart: _curves}[type(chart)](chart)


def _list(values):
    """JSON has no NaN."""
    rounded = []
    for value in np.asarray(values, float):
        if not math.isfinite(value):
            rounded.append(None)
        elif value == int(value):
            rounded.append(int(value))
        else:
            rounded.append(float(f"{value:.{_DIGITS}g}"))
    return rounded


def _time(chart):
    data, layout = [], _layout(chart)
    count = len(chart.panels)
    gap = 0.30 / count if count > 1 else 0.0
    height = (1.0 - gap * (count - 1)) / count
    layout["height"] = 90 + 175 * count
    layout["hovermode"] = "x unified" if all(len(panel.areas) > 1 for panel in chart.panels) else "x"
    layout["xaxis"] = {"title": {"text": chart.x_title}, "anchor": f"y{count if count > 1 else ''}", "zeroline": False,
                       "gridcolor": "#E5E8EC", "showspikes": True, "spikemode": "across", "spikethickness": 1,
                       "spikedash": "dot", "spikecolor": "#888888"}
    layout["annotations"], layout["shapes"] = [], []
    for index, panel in enumerate(chart.panels):
        axis = "y" if index == 0 else f"y{index + 1}"
        top = 1.0 - index * (height + gap)
        layout["yaxis" + axis[1:]] = {
            "domain": [max(0.0, top - height), top], "title": {"text": panel.unit}, "rangemode": "tozero",
            "gridcolor": "#E5E8EC", "zeroline": False, "nticks": 5,
            "range": [0, panel.largest or _top(panel)]}
        layout["annotations"].append({"text": f"<b>{panel.title}</b>", "xref": "paper", "yref": "paper", "x": 0,
                                      "y": top, "xanchor": "left", "yanchor": "bottom", "showarrow": False})
        data += _areas(panel, axis)
        data += _members(panel, axis)
        for line in panel.lines:
            if line.style != "member":
                data.append({"type": "scatter", "mode": "lines", "name": line.name, "x": _list(line.x), "y": _list(line.y),
                             "yaxis": axis, "xaxis": "x", "legendgroup": axis, "showlegend": False,
                             "text": line.notes,
                             "line": {"color": LINE_COLOURS[line.style], "width": 1.4, "dash": _DASHES.get(line.style, "solid")},
                             **({"hoverinfo": "skip"} if line.style == "rule" else
                                {"hovertemplate": f"{line.name} %{{y}} {panel.unit}"
                                                  + (" (%{text})" if line.notes else "") + "<extra></extra>"})})
        layout["annotations"].append(_key(panel, top))
        if chart.measured:
            layout["shapes"] += _pale(chart.measured, axis, panel)
    return {"data": data, "layout": layout}


def _top(panel):
    """A little more than the largest value."""
    values = [np.asarray(line.y, float) for line in panel.lines] + [np.asarray(area.high, float) for area in panel.areas]
    values = np.concatenate(values) if values else np.zeros(1)
    largest = float(np.nanmax(values)) if np.isfinite(values).any() else 0.0
    return 1.06 * largest if largest > 0 else 1.0


def _key(panel, top):
    """The names of lines in their colours, in the panel's top right corner: a legend of its own for each panel."""
    parts = [(area.colour, area.name, "■") for area in panel.areas]
    if any(line.style == "member" for line in panel.lines):
        parts.append((LINE_COLOURS["member"], "single ranks", "—"))
    parts += [(LINE_COLOURS[line.style], line.name, "- -" if line.style == "rule" else "—")
              for line in panel.lines if line.style != "member"]
    text = "   ".join(f'<span style="color:{_dark(colour)}">{sign} {name}</span>' for colour, name, sign in parts)
    return {"text": text, "xref": "paper", "yref": "paper", "x": 1, "y": top, "xanchor": "right", "yanchor": "bottom",
            "showarrow": False, "font": {"size": 11}}


def _dark(colour):
    return {charts.LIGHT: "#8A929B", charts.SKY: "#2B86BE", charts.ORANGE: "#B87D00"}.get(colour, colour)


def _areas(panel, axis):
    data = []
    stacked = len(panel.areas) > 1
    for area in panel.areas:
        data.append({"type": "scatter", "mode": "lines", "x": _list(area.x), "y": _list(area.low), "yaxis": axis,
                     "xaxis": "x", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False})
        share = np.asarray(area.high) - np.asarray(area.low)
        data.append({"type": "scatter", "mode": "lines", "x": _list(area.x), "y": _list(area.high), "yaxis": axis,
                     "xaxis": "x", "fill": "tonexty", "fillcolor": area.colour, "line": {"width": 0}, "name": area.name,
                     "showlegend": False, "customdata": _list(share),
                     **({"hovertemplate": f"{area.name} %{{customdata:.1f}} %<extra></extra>"} if stacked else
                        {"hoverinfo": "skip"})})
    return data


def _members(panel, axis):
    """All single ranks as one trace with gaps: no legend, no hovering over 72 lines at once."""
    x, y = [], []
    for line in panel.lines:
        if line.style == "member":
            x += _list(line.x) + [None]
            y += _list(line.y) + [None]
    if not x:
        return []
    return [{"type": "scatter", "mode": "lines", "x": x, "y": y, "yaxis": axis, "xaxis": "x", "connectgaps": False,
             "hoverinfo": "skip", "showlegend": False, "opacity": 0.45,
             "line": {"color": LINE_COLOURS["member"], "width": 0.7}}]


def _pale(measured, axis, panel):
    xs = [float(value) for series in (*panel.lines, *panel.areas) for value in (series.x[0], series.x[-1])]
    shapes = []
    for begin, end in ((min(xs), measured[0]), (measured[1], max(xs))):
        if end > begin:
            shapes.append({"type": "rect", "xref": "x", "yref": f"{axis} domain", "x0": begin, "x1": end, "y0": 0, "y1": 1,
                           "fillcolor": "white", "opacity": 0.6, "line": {"width": 0}, "layer": "above"})
    return shapes


def _heat(chart):
    layout = _layout(chart)
    layout["height"] = 110 + int(min(480, max(150, 14 * max(len(view.values) for view in chart.views))))
    layout["xaxis"] = {"title": {"text": chart.x_title}, "showgrid": False, "zeroline": False, "nticks": 10}
    layout["yaxis"] = {"autorange": "reversed", "showgrid": False, "zeroline": False, "nticks": 12, "automargin": True}
    columns = _list(chart.columns) if isinstance(chart.columns, np.ndarray) else list(chart.columns)
    data, buttons = [], []
    for index, view in enumerate(chart.views):
        data.append({"type": "heatmap", "x": columns, "y": view.row_names, "z": [_list(row) for row in view.values],
                     "zmin": view.low, "zmax": view.high, "colorscale": "Cividis", "reversescale": view.bad_is_high,
                     "visible": index == 0, "hoverongaps": False,
                     "colorbar": {"title": {"text": view.unit}, "thickness": 12, "outlinewidth": 0},
                     "hovertemplate": f"%{{y}}, {chart.x_title} %{{x}}: %{{z}} {view.unit}<extra></extra>"})
        buttons.append({"label": view.title, "method": "restyle",
                        "args": [{"visible": [other == index for other in range(len(chart.views))]}]})
    if len(buttons) > 1:
        layout["updatemenus"] = [{"type": "buttons", "direction": "right", "buttons": buttons, "x": 0, "y": 1.02,
                                  "xanchor": "left", "yanchor": "bottom", "showactive": True, "font": {"size": 11},
                                  "pad": {"b": 4}, "bgcolor": "#FFFFFF", "bordercolor": "#C8CED6"}]
        layout["margin"]["t"] = 52
    return {"data": data, "layout": layout}


def _curves(chart):
    layout = _layout(chart)
    layout["height"] = 380
    layout["showlegend"] = True
    layout["legend"] = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    layout["hovermode"] = "closest"
    layout["xaxis"] = {"type": "log", "title": {"text": chart.x_title}, "gridcolor": "#E5E8EC", "exponentformat": "power",
                       "dtick": 1}
    layout["yaxis"] = {"type": "log", "title": {"text": "share of events that took longer"}, "gridcolor": "#E5E8EC",
                       "exponentformat": "power", "dtick": 1}
    data = [{"type": "scatter", "mode": "lines", "name": line.name, "x": _list(line.x), "y": _list(line.y),
             "text": line.notes, "line": {"color": curve_colour(index), "width": 1.8},
             "hovertemplate": f"{line.name}: %{{y}} of the events took longer than %{{text}}<extra></extra>"}
            for index, line in enumerate(chart.lines)]
    return {"data": data, "layout": layout}


def _layout(_chart):
    return {"font": _FONT, "paper_bgcolor": "#FFFFFF", "plot_bgcolor": "#FFFFFF",
            "margin": {"l": 70, "r": 20, "t": 54, "b": 46}, "showlegend": False}
