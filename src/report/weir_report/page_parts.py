"""What pages share: plotly.js and data packed into the page itself, pictures as data URLs, the template environment.

plotly.js has several MB; packed it takes a third, which is what keeps a page small enough for a mail. The browser
unpacks it (DecompressionStream: every browser since 2023). Without the Python package plotly, or in an older
browser, the still pictures stay."""

import base64
import gzip
import json
from pathlib import Path

import jinja2

from . import units


def plotly_source():
    """plotly.js as text, or None if the Python package plotly is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        return None
    return get_plotlyjs()


def packed(text):
    """gzip and base64, the same bytes every time."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def packed_figures(figures):
    """{element id: plotly figure} for the page's script."""
    return packed(json.dumps(figures, allow_nan=False, separators=(",", ":")))


def picture(path):
    """A PNG file as a data URL."""
    return "data:image/png;base64," + base64.b64encode(Path(path).read_bytes()).decode()


def templates():
    """Everything that comes from run directories is escaped."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
                                     autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
                                     lstrip_blocks=True)
    environment.filters["unit"] = units.text
    environment.filters["number"] = units.number
    return environment
