"""tune.html: the answer, what each axis is worth as a plot, and the confirming runs."""

from pathlib import Path

from weir_runs.basics import units
from weir_runs.basics.list_values import median
from weir_runs.figures import page_parts
from weir_runs.figures.charts import BLUE, GREY, Line, ORANGE, Panel, PlotRow
from . import axes as tune_axes, objective, tune_text

# A plot has so many values at most of what was tried; more are put together.
VALUES_MAX = 24
# What is worse than so many times the worst of the confirmed ones would hide all others.
WORST_SHOWN = 2.0
TICKS = 6
TICK_LETTERS = 30  # of all of them: more would run into each other


def page_text(tune, found, footer, next_words=""):
    figure = objective.FIGURES[tune.figure]
    names = ["proposed" if place == found.chosen else f"finalist {place + 1}" for place in range(len(found.finalists))]
    index = None if found.again is None else found.again[0]
    elsewhere = {index, found.chosen if found.moved is not None else None}  # their changes are those of other seeds
    sides = [("present", found.present, found.values[0], None)]
    sides += [(name, candidate, found.values[place + 1], None if place in elsewhere else found.changes[place])
              for place, (name, candidate) in enumerate(zip(names, found.finalists))]
    if index is not None:
        sides += [("present, other seeds", found.present, found.again[1], None),
                  (f"{names[index]}, other seeds", found.finalists[index], found.again[2], found.changes[index])]
    if found.moved is not None:
        how = "with the fewest changes" if found.put_back else "as a neighbour"
        sides += [("present, beside that", found.present, found.moved[0], None),
                  (f"proposed, confirmed {how}", found.best, found.moved[1], found.change)]
    return page_parts.render(
        Path(__file__).parent / "templates/tune.html.j2", title=tune.name, footer=footer,
        short=tune_text.short(tune, found, next_words), evidence=tune_text.evidence(tune, found), facts=found.facts,
        numbers=_numbers(found, figure), words=found.words,
        parts=tune_text.parts(found), figure=figure,
        axes=[(axis.name, _plot(found, place, figure, tune.figure)) for place, axis in enumerate(found.axes)],
        confirmed=[{"name": name, "setting": tune_axes.words(found.axes, candidate),
                    "values": [units.text(value, figure.unit) for value in values],
                    "change": "" if change is None else tune_text.change(change)}
                   for name, candidate, values, change in sides])


def _numbers(found, figure):
    """The figure of the proposed and of the present setting as bars; None: there is no proposal."""
    if found.chosen is None:
        return None
    values = [median(of_setting) for of_setting in reversed(found.behind)]
    most = max(values)
    return {"shown": [{"text": units.text(value, figure.unit), "name": name, "colour": colour,
                       "width": f"{95 * value / most:.1f}" if most else "0"}
                      for name, value, colour in zip(("proposed", "present"), values, (BLUE, ORANGE))],
            "mark": None, "about": f"{units.capital(figure.title)}, median of the confirming runs."}


def _plot(found, place, figure, name):
    """The figure over one axis: the best of what was tried at each value, and with all else as proposed what was
    confirmed."""
    axis = found.axes[place]
    best = median(found.values[0 if found.chosen is None else 1 + found.chosen])
    confirmed = {one.candidate[place]: one.value for one in found.of_axis(axis.name)
                 if one.value is not None} | {found.best[place]: best}
    present = median(found.values[0])
    worst = WORST_SHOWN * max((value for value in (*confirmed.values(), present) if value is not None), default=0.0)
    tried = {value: seen for value, seen in _envelope(found, place, name).items() if figure.better == "higher"
             or seen <= worst}
    lines = [(title, points, colour) for title, points, colour in (
        ("best of what was tried with this value", tried, GREY), ("this axis alone, confirmed", confirmed, BLUE),
        ("present setting", {found.present[place]: present}, ORANGE)) if points and None not in points.values()]
    values = [value for _, points, _ in lines for value in points.values()]
    factor, unit = units.scale(figure.unit, max(values, default=1.0))
    drawn = []
    for title, points, colour in lines:
        ordered = sorted(points, key=lambda value: _number(axis, value))
        drawn.append(Line(title, [_number(axis, value) for value in ordered],
                          [points[value] / factor for value in ordered], colour=colour, points=True))
    return PlotRow(figure.title, "" if unit == "1" else unit, [Panel("", "", drawn)], axis.name + axis.known_as,
                   axis.draws_log,
                   _ticks(axis, drawn), from_zero=min(values, default=0.0) < 0.5 * max(values, default=0.0))


def _ticks(axis, lines):
    """[(place, text)]: all values of a list, if there are few; else those that divide the axis evenly. Only where
    `lines` are."""
    values = axis.values if 0 < len(axis.values) <= TICKS else [axis.value_at(part / (TICKS - 1))
                                                                for part in range(TICKS)]
    values = values[::2] if sum(len(axis.text(value)) for value in values) > TICK_LETTERS else values
    places = [place for line in lines for place in line.x]
    return [(_number(axis, value), axis.text(value)) for value in dict.fromkeys(values)
            if min(places) <= _number(axis, value) <= max(places)]


def _number(axis, value):
    """Where a value is on the axis of a plot; 0 has no place on a logarithmic one."""
    if axis.is_choice:
        return float(axis.values.index(value))
    return max(value, axis.least_drawn) if axis.draws_log else value


def _envelope(found, place, name):
    """{value: the best figure of any setting that was tried with it}"""
    axis, better = found.axes[place], {}
    known = [trial for trial in found.history if trial.score is not None and trial.excess <= 0.0]
    values = sorted({trial.candidate[place] for trial in known}, key=lambda value: _number(axis, value))
    size = -(-len(values) // VALUES_MAX) or 1
    stands_for = {value: values[index - index % size] for index, value in enumerate(values)}
    for trial in known:
        value = stands_for[trial.candidate[place]]
        better[value] = min(better.get(value, trial.score), trial.score)
    return {value: objective.value_of_score(name, score) for value, score in better.items()}
