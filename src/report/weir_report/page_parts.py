"""What pages share: plotly.js and data packed into the page itself, pictures as data URLs, the template environment.

plotly.js has several MB; packed it takes a third, which is what keeps a page small enough for a mail. The browser
unpacks it (DecompressionStream: every browser since 2023). Without the Python package plotly, or in an older
browser, the still pictures stay."""

import base64
import functools
import gzip
import json
from pathlib import Path

import jinja2

from . import plotly_figures, svg_figures, units
from .plotly_bundle import without_unused


@functools.cache
def packed_plotly():
    """plotly.js, or None if the Python package plotly is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        return None
    return packed(without_unused(get_plotlyjs()))


def packed(text):
    """gzip and base64, the same bytes every time."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def shown(identity, chart, png):
    """A chart as templates take it. `identity`: the element in which the page's script draws it; `png`: its still picture."""
    return {"id": identity, "name": chart.name, "title": chart.title, "caption": chart.caption,
            "picture": "data:image/png;base64," + base64.b64encode(png).decode()}


def render(template, drawn=None, /, **more):
    """A page of `template`. `drawn`: {element id: chart}, for the page's script; None: the page has no script."""
    plotly = packed_plotly() if drawn is not None else None
    figures = {name: plotly_figures.figure(chart) for name, chart in drawn.items()} if plotly else None
    return templates().get_template(template).render(
        plotly=plotly, figures=figures and packed(json.dumps(figures, allow_nan=False, separators=(",", ":"))), **more)


def templates():
    """Everything that comes from run directories is escaped."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
                                     autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
                                     lstrip_blocks=True)
    environment.filters["unit"] = units.text
    environment.filters["counted"] = units.counted
    environment.filters |= {"track": svg_figures.track, "axis": svg_figures.axis, "plot": svg_figures.plot,
                            "capitalize_first": lambda text: text[:1].upper() + text[1:]}
    return environment
