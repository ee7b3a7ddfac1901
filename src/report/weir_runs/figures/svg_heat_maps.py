"""Heat maps as HTML: one pixel for each cell in a PNG picture, which zlib of the standard library is enough to write,
stretched to the plot. The colour of a pixel is its value in steps of 1/254 of the largest, from which templates/page.js
has what it shows under the pointer."""

import base64
import math
import struct
import zlib

import numpy as np
from markupsafe import Markup, escape

from ..basics.units import number
from . import charts
from .svg_plots import Axis, box, constant, described_as, head, named_ticks, titled, x_labels

# Pixels of the palette: 0 is nothing, so that a value above 0 is told from it, and the last one is a cell that is
# absent.
LEVELS = 254
ABSENT = 255
# Labels of lines and columns.
ROWS_NAMED = 12
LINE_HEIGHT = 14
HEIGHT_LEAST, HEIGHT_MOST = 130, 480
LETTER = 6.4


def levels(values, high):
    """Pixels of a table of values."""
    values = np.asarray(values, float)
    known = np.isfinite(values)
    shares = np.clip(np.where(known, values, 0.0) / high, 0.0, 1.0)
    pixels = np.rint(LEVELS * shares)
    pixels[(shares > 0) & (pixels == 0)] = 1
    pixels[~known] = ABSENT
    return pixels.astype(np.uint8)


def png(pixels):
    """A picture with the palette of heat maps: one byte for each pixel, lines as they are."""
    height, width = pixels.shape
    lines = np.zeros((height, width + 1), np.uint8)
    lines[:, 1:] = pixels
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", _palette()),
            (b"tRNS", b"\xff" * ABSENT + b"\0"), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")))


def _palette():
    stops = np.array([[int(colour[place:place + 2], 16) for place in (1, 3, 5)] for colour in charts.HEAT_COLOURS],
                     float)
    at = np.linspace(0, len(stops) - 1, LEVELS + 1)
    mixed = [np.interp(at, np.arange(len(stops)), stops[:, part]) for part in range(3)]
    colours = np.rint(np.stack(mixed, axis=1)).astype(np.uint8)
    return colours.tobytes() + bytes(3 * (256 - len(colours)))


def heat_map(chart):
    """All views, one below the other; the script shows one at a time. A view whose values are all the same is a line of
    text."""
    said = "".join(constant(view.title, view.constant, view.unit) for view in chart.views if view.constant is not None)
    views = "".join(_view(chart, view) for view in chart.views if view.constant is None)
    zooms = " zooms" if _is_numeric(chart.views[0]) else ""
    return Markup((f'<div class="chart tabs{zooms}">{views}</div>' if views else "") + said)


def _is_numeric(view):
    return isinstance(view.columns, np.ndarray)


def _view(chart, view):
    rows, columns = view.values.shape
    if _is_numeric(view):
        step = float(view.columns[-1] - view.columns[0]) / (columns - 1) if columns > 1 else 1.0
        x = Axis(float(view.columns[0]) - step / 2, float(view.columns[-1]) + step / 2, 1.0)
        below, names = x_labels(x.ticks(10), x, " many"), ""
    else:
        x, step = Axis(-0.5, columns - 0.5, 1.0), 1.0
        below, names = x_labels(named_ticks(view.columns), x, " names"), "\n".join(view.columns)
    shown = np.arange(0, rows, math.ceil(rows / ROWS_NAMED))
    left = "".join(
        f'<span style="bottom:{100 - 100 * (index + 0.5) / rows:.4g}%">{escape(view.row_names[index])}</span>'
        for index in shown)
    longest = max(len(view.row_names[index]) for index in shown)
    known = view.values[np.isfinite(view.values)]
    extent = f": {number(known.min())} to {number(known.max())}" if len(known) else ""
    given = {"unit": view.unit, "x-title": chart.x_title, "high": f"{view.high:.8g}", "x": f"{x.low:.8g} {x.high:.8g}",
             "columns": names, "rows": "\n".join(view.row_names)}
    words = f"{titled(view.title, view.unit)}, {rows} lines{extent}"
    picture = ('<img class="cells" alt="" '
               f'src="data:image/png;base64,{base64.b64encode(png(levels(view.values, view.high))).decode()}">')
    title = f'<div class="x-title">{escape(chart.x_title)}</div>' if chart.x_title else ""
    height = min(HEIGHT_MOST, max(HEIGHT_LEAST, LINE_HEIGHT * rows))
    size = f"--labels:{min(220, 10 + math.ceil(LETTER * longest))}px;--height:{height}px"
    return (f'<div class="panel heat" style="{size}">{head(titled(view.title, view.unit), more=_scale(view))}'
            + box(picture, f'<div class="y-labels">{left}</div>', below + title, described_as(words, given)) + "</div>")


def _scale(view):
    """From 0 to the largest value, in its colours."""
    is_whole = np.isfinite(view.values).all()
    absent = "" if is_whole else '<span class="key area" style="--key:var(--absent)">absent</span>'
    colours = f'<i style="background:linear-gradient(to right,{",".join(charts.HEAT_COLOURS)})"></i>'
    most = escape(f"{number(view.high)} {view.unit}".rstrip())
    return f'{absent}<span class="scale"><span>0</span>{colours}<span>{most}</span></span>'
