"""What pages share: a chart as templates take it, and the template environment."""

from pathlib import Path

import jinja2

from ..basics import units
from . import svg_figures, svg_plots

TEMPLATES = Path(__file__).parent / "templates"


def shown(identity, chart):
    """A chart as templates take it. `identity`: of its element."""
    return {"id": identity, "name": chart.name, "title": chart.title, "caption": chart.caption,
            "drawn": svg_figures.figure(chart)}


def render(template, **more):
    """A page of the file `template`, which may use the templates beside it and those of this room."""
    return templates(template.parent).get_template(template.name).render(**more)


def templates(directory=TEMPLATES):
    """Everything that comes from run directories is escaped."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader([directory, TEMPLATES]), autoescape=True,
                                     undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"unit": units.text, "counted": units.counted, "number": units.number,
                            "capitalize_first": units.capital, "track": svg_figures.track, "axis": svg_figures.axis,
                            "plot": svg_plots.plot}
    return environment
