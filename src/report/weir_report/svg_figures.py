"""Charts of a comparison as HTML and SVG, without a script: they need neither plotly nor matplotlib, are sharp at every size,
take the colours of page.css (light or dark), and a page with many of them stays small.

Positions are percentages, so that a chart fills the width that it gets, and texts are HTML, so that they keep their size."""

import math

import numpy as np
from markupsafe import Markup, escape

from . import units

TRACK_HEIGHT = 34
# With runs that held above the interval and those that did not below it.
LANES_HEIGHT = 46
LANE_OFFSET = 16
BAR_HEIGHT = 12
MARK_SIZE = 4


def nice_ticks(low, high, most=5, least_step=0.0):
    """Round numbers between `low` and `high`, about `most` of them."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    raw = span / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= 0.9 * raw)
    step = max(step, least_step)
    first = math.ceil(low / step - 1e-9)
    ticks = [index * step for index in range(first, int(math.floor(high / step + 1e-9)) + 1)]
    return [0.0 if abs(tick) < step / 1e6 else tick for tick in ticks]


def tick_text(value):
    return f"{value:.6g}"


def _share(value, low, high, log=False):
    """Percent of the axis."""
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return 100.0 * (value - low) / (high - low) if high > low else 50.0


def _number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def track(row, chart):
    """One row of a RowChart as an svg of the row's whole width."""
    low, high = chart.range
    has_lanes = any(mark.held is not None for mark in row.marks)
    height = 2 * BAR_HEIGHT if chart.bars else LANES_HEIGHT if has_lanes else TRACK_HEIGHT
    middle = height / 2
    parts = [] if chart.bars else [
        f'<line class="tick" x1="{_at(tick, low, high)}" x2="{_at(tick, low, high)}" y1="0" y2="{height}"/>'
        for tick in nice_ticks(low, high)]
    colour = f"var(--{row.colour})"
    if row.missing:
        parts.append(f'<text class="uncounted" x="2" y="{middle + 4}">{escape(row.missing)}</text>')
    elif chart.bars:
        if row.value is not None:
            width = max(0.0, _share(min(row.value, high), low, high))
            parts.append(f'<rect x="0" y="{middle - BAR_HEIGHT / 2}" width="{_number(width)}%" height="{BAR_HEIGHT}" fill="{colour}"/>')
    else:
        parts += _interval(row, low, high, middle, colour)
        if row.ideal is not None:
            at = _at(row.ideal, low, high)
            parts.append(f'<line x1="{at}" x2="{at}" y1="2" y2="{height - 2}" stroke="var(--green)" stroke-width="2" stroke-dasharray="4 2"/>')
        offsets = [-LANE_OFFSET if mark.held else LANE_OFFSET for mark in row.marks] if has_lanes else \
            [0.0] * len(row.marks) if chart.from_zero else _offsets(len(row.marks))
        parts += [_mark(mark, offset, low, high, middle, colour) for mark, offset in zip(row.marks, offsets)]
    return Markup(f'<svg class="track" width="100%" height="{height}" aria-hidden="true">{"".join(parts)}</svg>')


def _at(value, low, high):
    return _number(_share(value, low, high)) + "%"


def _interval(row, low, high, middle, colour):
    parts = []
    if row.low is not None and row.high is not None:
        begin, end = (_share(min(max(value, low), high), low, high) for value in (row.low, row.high))
        parts.append(f'<rect class="interval" x="{_number(begin)}%" y="{middle - 9}" width="{_number(max(end - begin, 0.2))}%" '
                     f'height="18" rx="3" fill="{colour}"/>')
    if row.value is not None:
        at = _at(row.value, low, high)
        parts.append(f'<line x1="{at}" x2="{at}" y1="{middle - 10}" y2="{middle + 10}" stroke="{colour}" stroke-width="3"/>')
    return parts


def _offsets(count):
    """Runs of equal value must not hide each other."""
    return [0.0] if count < 2 else [8.0 * (index % 5 - 2) / 2 for index in range(count)]


def _mark(mark, offset, low, high, middle, colour):
    """A dot; of a run that did not hold what it tried, a cross."""
    if mark.held is False:
        shape = f'<path d="M-3.5-3.5L3.5 3.5M-3.5 3.5L3.5-3.5" stroke="{colour}" stroke-width="1.8" fill="none"/>'
    else:
        shape = f'<circle r="{MARK_SIZE}" fill="{colour}" stroke="var(--paper)" stroke-width="1"/>'
    return (f'<svg x="{_at(mark.value, low, high)}" y="{_number(middle + offset)}" overflow="visible"><g>{shape}'
            f"<title>{escape(mark.note)}</title></g></svg>")


def axis(chart):
    """The axis below the rows of a RowChart."""
    return _x_labels([(tick, tick_text(tick)) for tick in nice_ticks(*chart.range)], *chart.range, False)


def _x_labels(ticks, low, high, log):
    parts = []
    for value, text in ticks:
        at = _share(value, low, high, log)
        shift = 0 if at < 4 else 100 if at > 96 else 50
        parts.append(f'<span style="left:{_number(at)}%;transform:translateX(-{shift}%)">{escape(text)}</span>')
    return Markup(f'<div class="x-labels">{"".join(parts)}</div>')


def plot(one, row):
    """One Plot of a PlotRow: labels of y, the plot, labels of x."""
    x_low, x_high = row.x_range()
    y_low, y_high = row.y_range()
    ticks = nice_ticks(y_low, y_high, 4)
    labels = "".join(f'<span style="bottom:{_number(_share(tick, y_low, y_high))}%">{tick_text(tick)}</span>' for tick in ticks)
    scaled, dots = [], []
    exact = [_shade(begin, end, x_low, x_high) for begin, end in one.shaded]
    for tick in ticks:
        at = _number(100 - _share(tick, y_low, y_high))
        exact.append(f'<line class="tick" x1="0" x2="100%" y1="{at}%" y2="{at}%"/>')
    for line in sorted(one.lines, key=lambda line: not line.pale):
        scaled.append(_path(line, (x_low, x_high, row.x_log), (y_low, y_high)))
        dots += _points(line, (x_low, x_high, row.x_log), (y_low, y_high))
    for value, name in row.limits:
        if y_low <= value <= y_high:
            at = _number(100 - _share(value, y_low, y_high))
            exact.append(f'<line class="limit" x1="0" x2="100%" y1="{at}%" y2="{at}%"><title>{escape(name)}</title></line>')
    x_ticks = row.x_ticks or [(tick, tick_text(tick)) for tick in nice_ticks(x_low, x_high, 5, 1.0)]
    return Markup(f'<div class="plot-box"><div class="y-labels">{labels}</div><div class="plot-area">'
                  f'<svg class="exact">{"".join(exact)}</svg>'
                  f'<svg class="scaled" viewBox="0 0 1000 1000" preserveAspectRatio="none">{"".join(scaled)}</svg>'
                  f'<svg class="exact">{"".join(dots)}</svg></div>'
                  f'{_x_labels(x_ticks, x_low, x_high, row.x_log)}</div>')


def _shade(begin, end, low, high):
    left, right = _share(max(begin, low), low, high), _share(min(end, high), low, high)
    if right <= left:
        return ""
    return f'<rect class="shade" x="{_number(left)}%" width="{_number(right - left)}%" y="0" height="100%"/>'


def _path(line, x_axis, y_axis):
    """A polyline with gaps where values are missing, in thousandths of the plot."""
    parts, pen = [], False
    for x, y in zip(line.x, line.y):
        if not math.isfinite(y):
            pen = False
            continue
        across = 10 * _share(x, x_axis[0], x_axis[1], x_axis[2])
        down = 1000 - 10 * _share(min(y, 2 * y_axis[1]), *y_axis)
        parts.append(f"{'L' if pen else 'M'}{across:.0f} {down:.0f}")
        pen = True
    dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
    kind = " pale" if line.pale else ""
    return f'<path class="line{kind}" d="{"".join(parts)}" stroke="var(--{line.colour})"{dashes}/>'


def _points(line, x_axis, y_axis):
    """Dots and intervals."""
    if not line.points:
        return []
    parts, colour = [], f"var(--{line.colour})"
    for index, (x, y) in enumerate(zip(line.x, line.y)):
        if not math.isfinite(y):
            continue
        across, down = _number(_share(x, *x_axis)), _number(100 - _share(y, *y_axis))
        if line.low is not None and np.isfinite([line.low[index], line.high[index]]).all():
            ends = [_number(100 - min(100, max(0, _share(value, *y_axis)))) for value in (line.low[index], line.high[index])]
            parts.append(f'<line x1="{across}%" x2="{across}%" y1="{ends[0]}%" y2="{ends[1]}%" stroke="{colour}" '
                         'stroke-width="5" opacity="0.35"/>')
        note = escape(line.notes[index] if line.notes else units.number(y))
        parts.append(f'<circle cx="{across}%" cy="{down}%" r="4" fill="{colour}" stroke="var(--paper)"><title>{note}</title></circle>')
    return parts
