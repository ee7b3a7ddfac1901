"""Figures of studies as SVG, without a library: rows of dots on a logarithmic axis, one panel for each column."""

import math
from xml.sax.saxutils import escape

COLOURS = ("#d95f02", "#1f77b4", "#1b9e77", "#7570b3", "#e7298a", "#a6761d")
LEFT, TOP, ROW, PANEL, GAP, BOTTOM = 110, 62, 34, 150, 16, 48
PIXEL = 5  # radius of a dot


def text(x, y, words, anchor="middle", size=12, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{escape(words)}</text>')


def ticks(low, high):
    found = [factor * 10 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
             for factor in (1, 2, 5)]
    found = [value for value in found if low <= value <= high * 1.0001]
    return found if len(found) < 6 else [value for value in found if f"{value:g}"[0] == "1"]


def panels(title, unit, columns, rows, *, series, values, high):
    """values(row, column, name): (median, largest) or None. Dots are medians, lines reach to the largest. series:
    {name: its label}."""
    first = max(LEFT, 7 * max(map(len, rows)) + 12)
    height = TOP + ROW * len(rows) + BOTTOM
    width = first + len(columns) * (PANEL + GAP) + 10
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} '
             f'{height}" font-family="sans-serif" fill="#222222">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             text(8, 18, title, "start", 14, "bold")]
    along = first
    for colour, label in zip(COLOURS, series.values()):
        parts += [f'<circle cx="{along}" cy="34" r="{PIXEL}" fill="{colour}"/>', text(along + 9, 38, label, "start")]
        along += 34 + 7 * len(label)
    for place, column in enumerate(columns):
        parts += panel(first + place * (PANEL + GAP), column, rows, series, values, high)
    for index, row in enumerate(rows):
        parts.append(text(first - 8, TOP + ROW * (index + 0.5) + 4, row, "end"))
    parts.append(text(first + (width - first) / 2, height - 8, unit))
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(left, column, rows, series, values, high):
    def at(value):
        return left + PANEL * math.log(min(max(value, 1), high)) / math.log(high)

    bottom = TOP + ROW * len(rows)
    parts = [f'<rect x="{left}" y="{TOP}" width="{PANEL}" height="{bottom - TOP}" fill="#f6f6f6"/>',
             text(left + PANEL / 2, TOP - 6, column, weight="bold")]
    for tick in ticks(1, high):
        parts += [f'<line x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="{TOP}" y2="{bottom}" stroke="#d0d0d0"/>',
                  *([text(at(tick), bottom + 15, f"{tick:g}", size=11)] if tick < high else [])]
    for index, row in enumerate(rows):
        for order, (name, colour) in enumerate(zip(series, COLOURS)):
            found = values(row, column, name)
            if found is None:
                continue
            y = TOP + ROW * index + ROW * (order + 1) / (len(series) + 1)
            parts += [f'<line x1="{at(found[0]):.1f}" x2="{at(found[1]):.1f}" y1="{y:.1f}" y2="{y:.1f}" '
                      f'stroke="{colour}" stroke-width="2"/>',
                      f'<circle cx="{at(found[0]):.1f}" cy="{y:.1f}" r="{PIXEL}" fill="{colour}"/>']
    return parts
