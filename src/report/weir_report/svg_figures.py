"""Charts as HTML and SVG, sharp at every size, in the colours of page.css (light or dark): those of a run by kind, and rows with
dots and intervals. Without a script they are whole; it adds what the pointer shows, and zoom.

Positions are percentages, so that a chart fills the width that it gets, and texts are HTML, so that they keep their size."""

from markupsafe import Markup, escape

from . import charts, svg_heat_maps, svg_plots
from .svg_plots import Axis, nice_ticks, short, tick_text, x_labels
from .units import counted

TRACK_HEIGHT = 34
# With runs that held above the interval and those that did not below it.
LANES_HEIGHT = 46
LANE_OFFSET = 16
BAR_HEIGHT = 12
MARK_SIZE = 4
# Of longer labels below rows, every second one is shown.
LABEL_LETTERS = 5


def figure(chart):
    """Any chart of a run, without its caption."""
    return svg_heat_maps.heat_map(chart) if isinstance(chart, charts.HeatMap) else svg_plots.stack(chart)


def _share(value, low, high):
    """Percent of the axis."""
    return 100.0 * (value - low) / (high - low) if high > low else 50.0


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
            parts.append(f'<rect x="0" y="{middle - BAR_HEIGHT / 2}" width="{short(width)}%" height="{BAR_HEIGHT}" fill="{colour}"/>')
    else:
        parts += _interval(row, low, high, middle, colour)
        if row.ideal is not None:
            at = _at(row.ideal, low, high)
            parts.append(f'<line x1="{at}" x2="{at}" y1="2" y2="{height - 2}" stroke="var(--green)" stroke-width="2" stroke-dasharray="4 2"/>')
        offsets = [-LANE_OFFSET if mark.held else LANE_OFFSET for mark in row.marks] if has_lanes else \
            [0.0] * len(row.marks) if chart.from_zero else _offsets(len(row.marks))
        parts += [_mark(mark, offset, low, high, middle, colour) for mark, offset in zip(row.marks, offsets)]
    return Markup(f'<svg class="track" width="100%" height="{height}" role="img" aria-label="{escape(_in_words(row, chart))}">{"".join(parts)}</svg>')


def _in_words(row, chart):
    """What a screen reader reads instead of the picture: pfc, slowest delivery: 91.8 ms (90.1 to 93.2); 5 runs from 90.4 to 93.2"""
    words = f"{row.name}, {chart.title}: " + (row.missing or ("not known" if row.value is None else f"{row.value:.4g} {chart.unit}".rstrip()))
    if row.value is not None and row.low is not None and row.high is not None:
        words += f" ({row.low:.4g} to {row.high:.4g})"
    if row.marks:
        values = [mark.value for mark in row.marks]
        words += f"; {counted(len(values), 'run')} from {min(values):.4g} to {max(values):.4g}"
    return words


def _at(value, low, high):
    return short(_share(value, low, high)) + "%"


def _interval(row, low, high, middle, colour):
    parts = []
    if row.low is not None and row.high is not None:
        begin, end = (_share(min(max(value, low), high), low, high) for value in (row.low, row.high))
        parts.append(f'<rect class="interval" x="{short(begin)}%" y="{middle - 9}" width="{short(max(end - begin, 0.2))}%" '
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
    return (f'<svg x="{_at(mark.value, low, high)}" y="{short(middle + offset)}" overflow="visible"><g>{shape}'
            f"<title>{escape(mark.note)}</title></g></svg>")


def axis(chart):
    """The axis below the rows of a RowChart."""
    low, high = chart.range
    ticks = [(tick, tick_text(tick)) for tick in nice_ticks(low, high)]
    if max((len(text) for _, text in ticks), default=0) > LABEL_LETTERS:
        ticks = ticks[::2]
    return Markup(x_labels(ticks, Axis(low, high, 1.0)))
