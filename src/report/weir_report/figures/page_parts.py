"""What pages share: a chart as templates take it, and the template environment."""

from pathlib import Path

import jinja2

from ..basics import units
from . import svg_figures, svg_plots


def shown(identity, chart):
    """A chart as templates take it. `identity`: of its element."""
    return {"id": identity, "name": chart.name, "title": chart.title, "caption": chart.caption, "drawn": svg_figures.figure(chart)}


def render(template, **more):
    """A page of `template`."""
    return templates().get_template(template).render(**more)


def templates():
    """Everything that comes from run directories is escaped."""
    of_rooms = sorted(Path(__file__).parents[1].glob("*/templates"))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(of_rooms), autoescape=True, undefined=jinja2.StrictUndefined,
                                     trim_blocks=True, lstrip_blocks=True)
    environment.filters["unit"] = units.text
    environment.filters["counted"] = units.counted
    environment.filters["number"] = units.number
    environment.filters |= {"track": svg_figures.track, "axis": svg_figures.axis, "plot": svg_plots.plot,
                            "capitalize_first": lambda text: text[:1].upper() + text[1:]}
    return environment
