"""Charts for the page: plots as plotly.js takes them, in plain dictionaries, one for each panel of a chart. The page's
script (templates/page.js) writes titles and legends as HTML, so that they wrap on narrow screens.

Colours are written as var(--name), which the script replaces by the values of page.css, light or dark."""

import math

import numpy as np

from . import charts
from .charts import DASHED, LINE_COLOURS, curve_colour

# Four digits are more than a screen shows, and keep the page small.
_DIGITS = 4
_PANEL_HEIGHT = 160


def figure(chart):
    """{'kind': 'stack' or 'tabs', 'panels': [{'title', 'key', 'height', 'data', 'layout'}]} of any chart. The panels of a
    stack share their x axis; of tabs one is shown at a time."""
    draw = {charts.TimeChart: _time, charts.BarChart: _bars, charts.HeatMap: _heat, charts.CurveChart: _curves}[type(chart)]
    return {"kind": "tabs" if isinstance(chart, charts.HeatMap) else "stack", "panels": draw(chart)}


def _colour(name):
    return f"var(--{name})"


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


def _escaped(text):
    """plotly reads texts as HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _panel(title, height, data, layout, key=()):
    """`key`: (colour, sign, name) of each line."""
    layout = {"font": {"family": "system-ui, sans-serif", "size": 12, "color": _colour("ink")},
              "paper_bgcolor": _colour("paper"), "plot_bgcolor": _colour("paper"), "height": height, "showlegend": False,
              "margin": {"l": 52, "r": 12, "t": 9, "b": 34}, **layout}
    return {"title": title, "key": [list(entry) for entry in key], "data": data, "layout": layout}


def _axis(**settings):
    return {"gridcolor": _colour("line"), "zeroline": False, "automargin": False, "ticks": "outside", "ticklen": 4,
            "tickcolor": _colour("paper"), **settings}


def _x_title(text):
    return {"text": text, "standoff": 4}


def _titled(title, unit):
    return f"{title}, {unit}" if unit else title


def _time(chart):
    panels = []
    for position, panel in enumerate(chart.panels):
        last = position + 1 == len(chart.panels)
        data = _areas(panel) + _members(panel)
        data += [_line(line, panel) for line in panel.lines if line.style != "member"]
        layout = {
            "hovermode": "x unified" if len(panel.areas) > 1 else "x",
            "xaxis": _axis(**({"title": _x_title(chart.x_title)} if last else {}), showspikes=True, spikemode="across",
                           spikethickness=1, spikedash="dot", spikecolor=_colour("soft"), spikesnap="cursor"),
            "yaxis": _axis(nticks=5, range=[0, panel.top]),
            "margin": {"l": 52, "r": 12, "t": 9, "b": 40 if last else 22},
            "shapes": _pale(chart.measured, panel) if chart.measured else []}
        panels.append(_panel(_titled(panel.title, panel.unit), _PANEL_HEIGHT + (18 if last else 0), data, layout,
                             _key(panel)))
    return panels


def _line(line, panel):
    skip = line.style in DASHED
    return {"type": "scatter", "mode": "lines", "name": _escaped(line.name), "x": _list(line.x), "y": _list(line.y),
            "text": line.notes and [_escaped(note) for note in line.notes],
            "line": {"color": _colour(LINE_COLOURS[line.style]), "width": 1.5, "dash": "dash" if skip else "solid"},
            **({"hoverinfo": "skip"} if skip else
               {"hovertemplate": f"{_escaped(line.name)} %{{y}} {panel.unit}" + (" (%{text})" if line.notes else "") + "<extra></extra>"})}


def _key(panel):
    """The names of lines and areas, each once."""
    parts = [(area.colour, "area", area.name) for area in panel.areas]
    if any(line.style == "member" for line in panel.lines):
        parts.append((LINE_COLOURS["member"], "line", panel.members))
    parts += [(LINE_COLOURS[line.style], "dash" if line.style in DASHED else "line", line.name)
              for line in panel.lines if line.style != "member"]
    return [(_colour(colour), sign, name) for colour, sign, name in dict.fromkeys(parts)]


def _areas(panel):
    data = []
    stacked = len(panel.areas) > 1 and panel.largest
    for area in panel.areas:
        data.append({"type": "scatter", "mode": "lines", "x": _list(area.x), "y": _list(area.low), "line": {"width": 0},
                     "hoverinfo": "skip"})
        share = np.asarray(area.high) - np.asarray(area.low)
        data.append({"type": "scatter", "mode": "lines", "x": _list(area.x), "y": _list(area.high), "fill": "tonexty",
                     "fillcolor": _colour(area.colour), "line": {"width": 0}, "name": area.name,
                     **({"customdata": _list(share), "hovertemplate": f"{area.name} %{{customdata:.1f}} %<extra></extra>"}
                        if stacked else {"hoverinfo": "skip"})})
    return data


def _members(panel):
    """All single ranks as one trace with gaps: no hovering over 72 lines at once."""
    x, y = [], []
    for line in panel.lines:
        if line.style == "member":
            x += _list(line.x) + [None]
            y += _list(line.y) + [None]
    if not x:
        return []
    return [{"type": "scatter", "mode": "lines", "x": x, "y": y, "connectgaps": False, "hoverinfo": "skip", "opacity": 0.5,
             "line": {"color": _colour(LINE_COLOURS["member"]), "width": 0.8}}]


def _pale(measured, panel):
    xs = [float(value) for series in (*panel.lines, *panel.areas) for value in (series.x[0], series.x[-1])]
    return [{"type": "rect", "xref": "x", "yref": "y domain", "x0": begin, "x1": end, "y0": 0, "y1": 1,
             "fillcolor": _colour("paper"), "opacity": 0.6, "line": {"width": 0}, "layer": "above"}
            for begin, end in ((min(xs), measured[0]), (measured[1], max(xs))) if end > begin]


def _bars(chart):
    top = 1.1 * max(chart.limit, float(chart.values.max()))
    data = [{"type": "bar", "x": [_escaped(name) for name in chart.names], "y": _list(chart.values),
             "marker": {"color": [_colour("vermilion" if value > chart.limit else "blue") for value in chart.values]},
             "hovertemplate": f"%{{x}}: %{{y}} {chart.unit}<extra></extra>"}]
    layout = {"xaxis": _axis(showgrid=False, nticks=_labels_beside(chart.names), tickangle=0), "bargap": 0.25 if len(chart.names) > 1 else 0.7,
              "yaxis": _axis(nticks=5, range=[0, top]),
              "shapes": [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": chart.limit, "y1": chart.limit,
                          "line": {"color": _colour("ink"), "width": 1.5, "dash": "dash"}}]}
    return [_panel(_titled(chart.axis, chart.unit), 200, data, layout, [(_colour("ink"), "dash", chart.limit_name)])]


def _labels_beside(names):
    """How many of these fit beside each other below a plot."""
    return max(2, min(10, 110 // max(map(len, names))))


def _heat(chart):
    steps = len(charts.HEAT_COLOURS) - 1
    panels = []
    for view in chart.views:
        columns = _list(view.columns) if isinstance(view.columns, np.ndarray) else [_escaped(name) for name in view.columns]
        data = [{"type": "heatmap", "x": columns, "y": [_escaped(name) for name in view.row_names],
                 "z": [_list(row) for row in view.values], "zmin": 0, "zmax": view.high,
                 "colorscale": [[index / steps, colour] for index, colour in enumerate(charts.HEAT_COLOURS)],
                 "hoverongaps": False, "colorbar": {"thickness": 10, "outlinewidth": 0, "xpad": 4, "nticks": 5},
                 "hovertemplate": f"%{{y}}, {chart.x_title} %{{x}}: %{{z}} {view.unit}<extra></extra>"}]
        layout = {"xaxis": _axis(showgrid=False, tickangle=0,
                                 nticks=10 if isinstance(view.columns, np.ndarray) else _labels_beside(view.columns),
                                 **({"title": _x_title(chart.x_title)} if chart.x_title else {})),
                  "yaxis": _axis(autorange="reversed", showgrid=False, nticks=12) | {"automargin": True},
                  "plot_bgcolor": _colour("absent"), "margin": {"l": 52, "r": 4, "t": 9, "b": 40}}
        panels.append(_panel(_titled(view.title, view.unit), 70 + int(min(480, max(130, 14 * len(view.values)))), data, layout))
    return panels


def _curves(chart):
    axis = _axis(type="log", exponentformat="power", dtick=1)
    layout = {"hovermode": "closest", "xaxis": {**axis, "title": _x_title(chart.x_title)}, "yaxis": axis,
              "margin": {"l": 52, "r": 12, "t": 9, "b": 44}}
    data = [{"type": "scatter", "mode": "lines", "name": line.name, "x": _list(line.x), "y": _list(line.y),
             "text": line.notes, "line": {"color": _colour(curve_colour(index)), "width": 1.8},
             "hovertemplate": f"{line.name}: %{{y}} of the events took longer than %{{text}}<extra></extra>"}
            for index, line in enumerate(chart.lines)]
    key = [(_colour(curve_colour(index)), "line", line.name) for index, line in enumerate(chart.lines)]
    return [_panel("Share of events that took longer", 320, data, layout, key)]
