"""Charts as HTML and SVG, sharp at every size, in the colours of page.css (light or dark): those of a run by kind, and
rows with dots and intervals. Without a script they are whole; it adds what the pointer shows, and zoom.

Positions are percentages, so that a chart fills the width that it gets, and texts are HTML, so that they keep their
size."""

from markupsafe import Markup, escape

from ..basics.units import counted, number
from . import charts, svg_heat_maps, svg_plots
from .svg_plots import Axis, nice_ticks, short, x_labels

TRACK_HEIGHT = 34
# With runs that held above the interval and those that did not below it.
LANES_HEIGHT = 46
LANE_OFFSET = 16
# Others lie on so many lines.
LANES = 5
BAR_HEIGHT = 12
MARK_SIZE = 4
# Where labels below rows are longer, every second one is shown.
LABEL_LETTERS = 5


def figure(chart):
    """Any chart of a run, without its caption."""
    chart = charts.in_fitting_time(chart)
    return svg_heat_maps.heat_map(chart) if isinstance(chart, charts.HeatMap) else svg_plots.stack(chart)


def track(row, chart):
    """One row of a RowChart as an svg of the row's whole width."""
    x = Axis(*chart.range, 1.0)
    has_lanes = any(mark.held is not None for mark in row.marks)
    height = 2 * BAR_HEIGHT if chart.bars else LANES_HEIGHT if has_lanes else TRACK_HEIGHT
    middle = height / 2
    parts = [] if chart.bars else [
        f'<line class="tick" x1="{_at(tick, x)}" x2="{_at(tick, x)}" y1="0" y2="{height}"/>'
        for tick in nice_ticks(x.low, x.high)]
    colour = f"var(--{row.colour})"
    if row.missing:
        parts.append(f'<text class="uncounted" x="2" y="{middle + 4}">{escape(row.missing)}</text>')
    elif chart.bars:
        if row.value is not None:
            parts.append(f'<rect x="0" y="{middle - BAR_HEIGHT / 2}" width="{_at(max(0.0, row.value), x)}" '
                         f'height="{BAR_HEIGHT}" fill="{colour}"/>')
    else:
        parts += _interval(row, x, middle, colour)
        if row.ideal is not None:
            at = _at(row.ideal, x)
            parts.append(f'<line x1="{at}" x2="{at}" y1="2" y2="{height - 2}" stroke="var(--green)" stroke-width="2" '
                         'stroke-dasharray="4 2"/>')
        offsets = [-LANE_OFFSET if mark.held else LANE_OFFSET for mark in row.marks] if has_lanes else \
            [0.0] * len(row.marks) if chart.from_zero else _offsets(len(row.marks))
        parts += [_mark(mark, x, middle + offset, colour) for mark, offset in zip(row.marks, offsets)]
    return Markup(f'<svg class="track" width="100%" height="{height}" role="img" '
                  f'aria-label="{escape(_in_words(row, chart))}">{"".join(parts)}</svg>')


def _in_words(row, chart):
    """What a screen reader reads instead of the picture: pfc, longest delivery time: 91.8 ms (90.1 to 93.2); 5 runs
    from 90.4 to 93.2"""
    value = "not known" if row.value is None else f"{number(row.value)} {chart.unit}".rstrip()
    words = f"{row.name}, {chart.title}: {row.missing or value}"
    if row.value is not None and row.low is not None and row.high is not None:
        words += f" ({number(row.low)} to {number(row.high)})"
    if row.marks:
        values = [mark.value for mark in row.marks]
        words += f"; {counted(len(values), chart.marks_are)} from {number(min(values))} to {number(max(values))}"
    return words


def _at(value, x):
    return short(x.share(value)) + "%"


def _interval(row, x, middle, colour):
    parts = []
    if row.low is not None and row.high is not None:
        begin, end = (min(max(x.share(value), 0.0), 100.0) for value in (row.low, row.high))
        parts.append(f'<rect class="interval" x="{short(begin)}%" y="{middle - 9}" '
                     f'width="{short(max(end - begin, 0.2))}%" height="18" rx="3" fill="{colour}"/>')
    if row.value is not None:
        at = _at(row.value, x)
        parts.append(f'<line x1="{at}" x2="{at}" y1="{middle - 10}" y2="{middle + 10}" stroke="{colour}" '
                     'stroke-width="3"/>')
    return parts


def _offsets(count):
    """Runs of equal value must not hide each other."""
    return [4.0 * (index % LANES) - 2.0 * (min(count, LANES) - 1) for index in range(count)]


def _mark(mark, x, y, colour):
    """A dot; of a run that did not hold what it tried, a cross."""
    if mark.held is False:
        shape = f'<path d="M-3.5-3.5L3.5 3.5M-3.5 3.5L3.5-3.5" stroke="{colour}" stroke-width="1.8" fill="none"/>'
    else:
        shape = f'<circle r="{MARK_SIZE}" fill="{colour}" stroke="var(--paper)" stroke-width="1"/>'
    return (f'<svg x="{_at(mark.value, x)}" y="{short(y)}" '
            f'overflow="visible"><g>{shape}<title>{escape(mark.note)}</title></g></svg>')


def axis(chart):
    """The axis below the rows of a RowChart."""
    x = Axis(*chart.range, 1.0)
    ticks = x.ticks(5)
    if max((len(text) for _, text in ticks), default=0) > LABEL_LETTERS:
        ticks = ticks[::2]
    return Markup(x_labels(ticks, x))
