"""Plots of lines, areas and bars as HTML and SVG: they are sharp at every size, take the colours of page.css (light or
dark), and need no script.

Labels are HTML at percentages, so that they keep their size at every width. Lines are paths in an svg that is stretched
to the plot. Their coordinates are the values themselves, as whole numbers in the steps that the plot names (data-steps;
of logarithms where data-log has the axis): templates/page.js takes from there what it shows under the pointer, so that
a page holds every value once."""

import dataclasses
import math

import numpy as np
from markupsafe import Markup, escape

from ..basics.units import number
from .charts import Area

# Significant digits of the largest value of an axis; x needs more, because it does not begin at 0.
Y_DIGITS = 5
X_DIGITS = 7
# A line of more points is drawn by the lowest and the highest of every few.
POINTS_MAX = 2000
# For all lines in the background of a plot together, and for each at least.
MEMBER_POINTS = 20_000
MEMBER_POINTS_LEAST = 60
# Width of a bar as share of its place: of many, and at least, with what each more adds to that.
BAR_WIDTH, FEW_BARS_WIDTH = 0.75, 0.1
# Height of a plot in pixels, and of one with logarithmic axes.
HEIGHT, LOG_HEIGHT = 150, 280
# Letters of names that fit below a plot, and how many names at most.
NAMES_LETTERS, NAMES_MAX = 90, 10


@dataclasses.dataclass(frozen=True)
class Axis:
    """From `low` to `high`, or their decimal logarithms; `step`: what a coordinate of 1 is."""

    low: float
    high: float
    step: float
    log: bool = False

    @staticmethod
    def of(low, high, parts, digits, log=False):
        """With a step that keeps so many digits of the values (`parts`: arrays of them)."""
        if log:
            low, high = math.log10(low), math.log10(high)
        if not high > low:
            low, high = low - 0.5, high + 0.5
        known = np.concatenate([np.asarray(part, float).ravel() for part in parts] or [np.zeros(0)])
        known = known[np.isfinite(known)]
        if log:
            return Axis(low, high, 1e-4, True)
        if len(known) and np.abs(known).max() < 1e7 and (known == np.rint(known)).all():
            return Axis(low, high, 1.0)
        # A step common to all values, if it is longer: neighbours are 1 apart then, and not 1000.
        power = math.floor(math.log10(max(abs(low), abs(high)))) + 1 - digits
        common = int(np.gcd.reduce(np.rint(known / 10.0**power).astype(np.int64))) if len(known) else 1
        return Axis(low, high, float(f"{max(common, 1) * 10.0**power:.12g}"))

    def places(self, values):
        with np.errstate(divide="ignore", invalid="ignore"):
            return (np.log10(values) if self.log else values) / self.step

    def share(self, value):
        """Percent of the axis."""
        return 100.0 * ((math.log10(value) if self.log else value) - self.low) / (self.high - self.low)

    @property
    def ends(self):
        """(begin, length) in steps."""
        return self.low / self.step, (self.high - self.low) / self.step

    def ticks(self, most, least_step=0.0):
        """[(value, text)]"""
        if not self.log:
            return [(tick, f"{tick:.6g}") for tick in nice_ticks(self.low, self.high, most, least_step)]
        powers = range(math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9) + 1)
        return [(10.0**power, power_text(power)) for power in powers]


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


def named_ticks(names):
    """As Axis.ticks() of an axis with `names` at 0, 1, ..., as many as fit."""
    most = max(2, min(NAMES_MAX, NAMES_LETTERS // max(map(len, names))))
    return [(index, names[index]) for index in range(0, len(names), math.ceil(len(names) / most))]


def power_text(power):
    """1, 10, 100; 10⁻² for others."""
    if 0 <= power <= 3:
        return str(10**power)
    return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def short(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def x_labels(ticks, axis, kind=""):
    """`ticks`: [(value, text)]"""
    parts = []
    for value, text in ticks:
        at = axis.share(value)
        shift = 0 if at < 4 else 100 if at > 96 else 50
        parts.append(f'<span style="left:{short(at)}%;transform:translateX(-{shift}%)">{escape(text)}</span>')
    return f'<div class="x-labels{kind}">{"".join(parts)}</div>'


def y_labels(ticks, axis):
    labels = "".join(f'<span style="bottom:{short(axis.share(value))}%">{escape(text)}</span>' for value, text in ticks)
    return f'<div class="y-labels">{labels}</div>'


def box(area, left, below, attributes=""):
    """A plot with its labels. `attributes`: of the area, for the script."""
    return f'<div class="plot-box">{left}<div class="plot-area"{attributes}>{area}</div>{below}</div>'


def area_of(panel, x, y, measured=None, holds=0.0, points_max=POINTS_MAX):
    """The svg of a panel. `measured`: what lies outside is pale; `holds`: as of a PanelChart; `points_max`: of each
    line."""
    (left, width), (bottom, height) = x.ends, y.ends
    ticks = "".join(f"M{left:.6g} {y.places(value):.8g}h{width:.6g}"
                    for value, _ in y.ticks(4, 1.0 if panel.whole_numbers else 0.0))
    parts = [f'<path class="tick" d="{ticks}"/>']
    hold = round(holds / x.step)
    parts += [_area(area, x, y, hold, len(panel.areas) > 1) for area in panel.areas]
    members = [line for line in panel.lines if line.style == "member"]
    most = min(points_max, max(MEMBER_POINTS_LEAST, MEMBER_POINTS // max(1, len(members))))
    parts += [_line(line, x, y, hold, most) for line in members]
    parts += [_rule(line, x, y) if line.is_rule else _bars(line, x, y) if line.style == "bar"
              else _line(line, x, y, hold, points_max)
              for line in panel.lines if line.style != "member"]
    if measured:
        for begin, end in ((x.low, measured[0]), (measured[1] + holds, x.high)):
            if end > begin:
                parts.append(f'<rect class="pale" x="{begin / x.step:.8g}" width="{(end - begin) / x.step:.8g}" '
                             f'y="{bottom:.8g}" height="{height:.8g}"/>')
    return (f'<svg class="scaled" viewBox="{left:.8g} {-bottom - height:.8g} {width:.8g} {height:.8g}" '
            f'preserveAspectRatio="none" aria-hidden="true"><g transform="scale(1 -1)">{"".join(parts)}</g></svg>')


def attributes(panel, x, y, x_title, unit, *, holds=0.0, row="", **more):
    """What the script needs, and what a screen reader reads instead of the picture. `row`: the title of the row that it
    stands in."""
    log = "x" * x.log + "y" * y.log
    given = {"steps": f"{x.step:.12g} {y.step:.12g}", "holds": round(holds / x.step), "unit": unit, "x-title": x_title,
             "log": log, **more}
    described = [f"{line.name}: {_extent(line.y)}" for line in panel.series if line.style != "member"]
    described += [f"{area.name}: up to {_extent(area.high - area.low * (len(panel.areas) > 1))}"
                  for area in panel.areas]
    title = ", ".join(part for part in (row, panel.title, unit) if part)
    return described_as(title + (": " if described else "") + "; ".join(described[:12]), given)


def described_as(words, given):
    """`words`: for a screen reader; `given`: for the script."""
    return f' role="img" tabindex="0" aria-label="{escape(words)}"' + "".join(
        f' data-{name}="{escape(value)}"' for name, value in given.items() if value)


def _extent(values):
    values = values[np.isfinite(values)]
    if not len(values):
        return "no values"
    low, high = number(values.min()), number(values.max())
    return low if low == high else f"{low} to {high}"


def _stretches(known):
    """(begin, end) of neighbours that are all known."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    return edges.reshape(-1, 2)


def _path(points, hold):
    """Through `points` (x, y): straight, or level up to the next one and for `hold` at the end. Both hold relative
    coordinates of each point after the first, which the script reads. A single point is drawn as a dot."""
    begin = f"M{points[0, 0]} {points[0, 1]}"
    if not hold and len(points) < 2:
        return begin + "l0 0"
    steps = np.diff(points, axis=0).ravel().tolist()
    if hold:
        return begin + "".join(f"h{across}v{up}" for across, up in zip(steps[::2], steps[1::2])) + f"h{hold}"
    return begin + "l" + " ".join(map(str, steps)).replace(" -", "-")


def _whole(values):
    return np.where(np.isfinite(values), np.rint(values), 0).astype(np.int64)


def thinned(values, most):
    """Indices of at most `most` of the values: the lowest and the highest of every few, whose neighbours would share
    their pixels."""
    count = len(values)
    if count <= most:
        return np.arange(count)
    edges = np.linspace(0, count, most // 2 + 1).astype(int)
    kept = []
    for begin, end in zip(edges[:-1], edges[1:]):
        part = values[begin:end]
        known = np.isfinite(part)
        kept += sorted({begin + int(np.where(known, part, np.inf).argmin()),
                        begin + int(np.where(known, part, -np.inf).argmax())})
    return np.array(kept)


def _rule(line, x, y):
    (left, width), height = x.ends, y.places(line.y[0])
    return (f'<path class="line dashed" d="M{left:.8g} {height:.8g}h{width:.8g}" stroke="var(--{line.ink})">'
            f'<title>{escape(line.name)}</title></path>')


def _line(line, x, y, hold, most):
    across, down = x.places(line.x), y.places(line.y)
    if y.log is False:
        down = np.minimum(down, 2 * y.high / y.step)
    known = np.isfinite(down) & np.isfinite(across)
    kept = thinned(np.where(known, down, np.nan), most)
    across, down, known = _whole(across[kept]), _whole(down[kept]), known[kept]
    if not known.any():
        return ""
    points = np.stack([across, down], axis=1)
    drawn = "".join(_path(points[begin:end], hold) for begin, end in _stretches(known))
    colour = f'stroke="var(--{line.ink})"'
    name = f'data-name="{escape(line.name)}"'
    if line.notes is not None:
        shown = [str(line.notes[index]) for index, there in zip(kept, known) if there]
        different = list(dict.fromkeys(shown))
        place = {note: index for index, note in enumerate(different)}
        name += f' data-notes="{_names(different)}" data-note-of="{" ".join(str(place[note]) for note in shown)}"'
    kind = " member" if line.style == "member" else ""
    dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
    parts = [f'<path class="line{kind}" {name} d="{drawn}" {colour}{dashes}/>']
    if line.points or not hold and np.count_nonzero(known) == 1:  # no line goes through one point
        parts += _intervals(line, x, y, colour)
        parts.append('<path class="dots" '
                     f'd="{"".join(f"M{one} {other}l0 0" for one, other, there in zip(across, down, known) if there)}" '
                     f'{colour}/>')
    return "".join(parts)


def _intervals(line, x, y, colour):
    if line.low is None:
        return []
    across = _whole(x.places(line.x))
    low, high = (y.places(np.clip(end, y.low, y.high)) for end in (line.low, line.high))
    known = np.isfinite(low) & np.isfinite(high)
    low, high = _whole(low), _whole(high)
    drawn = "".join(f"M{across[index]} {low[index]}l0 {high[index] - low[index]}" for index in np.flatnonzero(known))
    return [f'<path class="interval" d="{drawn}" {colour}/>'] if drawn else []


def _names(names):
    """One a line, as an attribute."""
    return escape("\n".join(name.replace("\n", " ") for name in names))


def _area(area, x, y, hold, stacked):
    """There along the upper edge and back along the lower one, at which it is as level. Of several, which are stacked,
    the script shows the difference."""
    area = _thinned_area(area, stacked)
    across, low, high = x.places(area.x), y.places(area.low), y.places(area.high)
    known = np.isfinite(low) & np.isfinite(high) & np.isfinite(across)
    across, low, high = _whole(across), _whole(low), _whole(high)
    parts = []
    for begin, end in _stretches(known):
        there = across[begin:end]
        back = np.append(there[1:], there[-1] + hold) if hold else there
        points = np.concatenate([np.stack([there, high[begin:end]], axis=1),
                                 np.stack([back, low[begin:end]], axis=1)[::-1]])
        parts.append(_path(points, hold and int(there[0] - back[0])) + "z")
    kind = "share" if stacked else "band"
    return (f'<path class="area {kind}" data-name="{escape(area.name)}" d="{"".join(parts)}" '
            f'fill="var(--{area.colour})"/>' if parts else "")


def _thinned_area(area, stacked):
    """Stacked areas, which touch, keep their means; an area alone keeps its extremes."""
    if len(area.x) <= POINTS_MAX:
        return area
    begins = np.linspace(0, len(area.x), POINTS_MAX + 1).astype(int)[:-1]
    counts = np.diff(np.append(begins, len(area.x)))
    if stacked:
        low, high = (np.add.reduceat(edge, begins) / counts for edge in (area.low, area.high))
    else:
        low, high = np.fmin.reduceat(area.low, begins), np.fmax.reduceat(area.high, begins)
    return Area(area.name, area.x[begins], low, high, area.colour)


def _bars(line, x, y):
    across, heights = x.places(line.x), y.places(line.y)
    known = np.isfinite(heights)
    drawn = "".join(f"M{at} 0l0 {height}" for at, height in zip(_whole(across[known]), _whole(heights[known])))
    width = min(BAR_WIDTH, FEW_BARS_WIDTH * (1 + len(line.x))) / x.step
    return (f'<path class="bars" data-name="{escape(line.name)}" d="{drawn}" stroke="var(--{line.ink})" '
            f'stroke-width="{width:g}"/>')


def keys(panel):
    """The names of lines and areas, each once."""
    parts = [(area.colour, "area", area.name) for area in panel.areas]
    members = next((line for line in panel.lines if line.style == "member"), None)
    if members:
        parts.append((members.ink, "line members", panel.members))
    parts += [(line.ink, "dash" if line.is_rule else "area" if line.style == "bar" else "line", line.name)
              for line in panel.lines if line.style != "member"]
    return [(colour, sign, name) for colour, sign, name in dict.fromkeys(parts) if name]


def head(title, keys_shown=(), more=""):
    """Title and keys of a plot; they wrap on narrow screens."""
    shown = "".join(f'<span class="key {sign}" style="--key:var(--{colour})">{escape(name)}</span>'
                    for colour, sign, name in keys_shown)
    return f'<div class="panel-head"><b>{escape(title)}</b>{shown}{more}</div>'


def titled(title, unit):
    return f"{title}, {unit}" if unit else title


def stack(chart):
    """A PanelChart. A panel whose values are all the same is a line of text."""
    if chart.holds and chart.measured and chart.measured[0] == chart.measured[1]:
        return Markup("".join(_of_one_row(panel, chart.measured[0]) for panel in chart.panels))
    flat = [] if chart.log or chart.x_names else [panel for panel in chart.panels if panel.constant is not None]
    said = "".join(constant(panel.title, panel.constant, panel.unit,
                            [line.name for line in panel.lines if line.is_rule]) for panel in flat)
    panels = [panel for panel in chart.panels if panel not in flat]
    if not panels:
        return Markup(said)
    x = Axis(-0.5, len(chart.x_names) - 0.5, 1.0) if chart.x_names else _x_axis(panels, chart.holds, chart.log)
    if chart.log:  # to whole powers, so that each curve is seen from its beginning
        x = dataclasses.replace(x, low=math.floor(x.low), high=math.ceil(x.high + 1e-9))
    heights = [_y_axis(panel, chart.log) for panel in panels]
    ticks = [y.ticks(4, 1.0 if panel.whole_numbers else 0.0) for panel, y in zip(panels, heights)]
    below = x_labels(named_ticks(chart.x_names), x, " names") if chart.x_names else x_labels(x.ticks(10), x, " many")
    names = {"names": "\n".join(chart.x_names)} if chart.x_names else {}
    parts = []
    for panel, y, of_panel in zip(panels, heights, ticks):
        title = f'<div class="x-title">{escape(chart.x_title)}</div>' if panel is panels[-1] and chart.x_title else ""
        given = attributes(panel, x, y, chart.x_title, panel.unit, holds=chart.holds, **names)
        parts.append(f'<div class="panel">{head(titled(panel.title, panel.unit), keys(panel))}'
                     + box(area_of(panel, x, y, chart.measured, chart.holds), y_labels(of_panel, y), below + title,
                           given) + "</div>")
    zooms = "" if chart.log or chart.x_names else " zooms"
    letters = max((len(text) for of_panel in ticks for _, text in of_panel), default=0)
    width = max(40, 10 + math.ceil(6.4 * letters))  # pixels that labels left of the plots take
    size = f"--labels:{width}px;--height:{LOG_HEIGHT if chart.log else HEIGHT}px"
    return Markup(f'<div class="chart{zooms}" style="{size}">{"".join(parts)}</div>{said}')


def constant(title, value, unit, rules=()):
    """Instead of a plot that is flat: Throughput of producers: 400 Mb/s throughout (target 400 Mb/s)."""
    beside = f" ({'; '.join(rules)})" if rules else ""
    return (f'<p class="constant"><b>{escape(title)}</b>: {escape(f"{number(value)} {unit}".rstrip())} '
            f'throughout{escape(beside)}.</p>')


def _of_one_row(panel, at):
    """Instead of a plot with a single measured row: Throughput of producers: lowest 7.6; mean 7.9; highest 8 Gb/s. Of
    stacked areas a bar."""
    parts = [(line.name, line.y[line.x == at], line.ink) for line in panel.series if line.style != "member"]
    parts += [(area.name, (area.high - area.low * (len(panel.areas) > 1))[area.x == at], area.colour)
              for area in panel.areas]
    parts = [(name, float(values[0]), ink) for name, values, ink in parts if np.isfinite(values).any()]
    if not parts:
        return ""
    if panel.largest:
        pieces = "".join(f'<i style="width:{short(100 * value / panel.largest)}%;background:var(--{ink})"></i>'
                         for _, value, ink in parts)
        shown = [(ink, "area", f"{name} {number(value, 2)}") for name, value, ink in parts if value >= 0.05]
        return f'<div class="panel">{head(titled(panel.title, panel.unit), shown)}<div class="bar">{pieces}</div></div>'
    words = "; ".join(f"{name} {number(value)}" if len(parts) > 1 else number(value) for name, value, _ in parts)
    return f'<p class="constant"><b>{escape(panel.title)}</b>: {escape(f"{words} {panel.unit}".rstrip())}.</p>'


def _x_axis(panels, holds, log):
    """Over the values of all panels, up to the end of the last one."""
    values = np.concatenate([one.x for panel in panels for one in (*panel.series, *panel.areas)])
    low, high = float(values.min()), float(values.max()) + holds
    return Axis.of(low, high, [values, high], X_DIGITS, log)


def _y_axis(panel, log):
    parts = [line.y for line in panel.lines] + [edge for area in panel.areas for edge in (area.low, area.high)]
    if not log:
        return Axis.of(0.0, panel.top, parts, Y_DIGITS)
    known = np.concatenate(parts)
    known = known[np.isfinite(known) & (known > 0)]
    return Axis.of(10.0 ** math.floor(math.log10(known.min()) + 1e-9),
                   10.0 ** math.ceil(math.log10(known.max()) - 1e-9), parts, Y_DIGITS, True)


def plot(panel, row):
    """One panel of a PlotRow: labels of y, the plot, labels of x."""
    x = _x_axis(row.plots, row.holds, row.x_log)
    y = Axis.of(*row.y_range(), [line.y for line in row.series], Y_DIGITS)
    ticks = row.x_ticks or x.ticks(5, x.step)
    given = attributes(panel, x, y, row.x_title, row.unit, holds=row.holds, row=row.title)
    return Markup(box(area_of(panel, x, y, panel.measured, row.holds, row.points_max), y_labels(y.ticks(4), y),
                      x_labels(ticks, x), given))
