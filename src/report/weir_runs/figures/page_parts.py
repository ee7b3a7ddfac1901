"""What pages share: a chart as templates take it, and the template environment."""

import re
from pathlib import Path

import jinja2
from markupsafe import Markup

from ..basics import units
from . import svg_figures, svg_plots

TEMPLATES = Path(__file__).parent / "templates"
# A path from the root of the sender's machine, up to the last two names of a long one. Those of the kernel, and those
# in the tree of a switch (gNMI), say what was read or set there.
_ROOTS = "proc|sys|dev|interfaces?|qos|components?|network-instances?|system|platform|acl|lldp"
_NAME = r"[^\s/:;,'\"()<>]+"
_DIRECTORIES = re.compile(fr"(?<![^\s:;,='\"()<>])/(?!(?:{_ROOTS})\b)"
                          fr"(?:(?:{_NAME}/){{2,}}(?={_NAME}/{_NAME})|(?:{_NAME}/)+(?={_NAME}))")


def shown(identity, chart):
    """A chart as templates take it. `identity`: of its element."""
    return {"id": identity, "name": chart.name, "title": chart.title, "caption": chart.caption,
            "drawn": svg_figures.figure(chart)}


def render(template, **more):
    """A page of the file `template`, which may use the templates beside it and those of this room."""
    return templates(template.parent).get_template(template.name).render(**more)


def without_directories(value):
    """What a page shows of `value`: pages are sent to others, so of a text with a path from the root the last name."""
    return _DIRECTORIES.sub("", value) if isinstance(value, str) and not isinstance(value, Markup) else value


def templates(directory=TEMPLATES):
    """Everything that comes from run directories is escaped, and without the directories of whoever made it."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader([directory, TEMPLATES]), autoescape=True,
                                     undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
                                     finalize=without_directories)
    environment.filters |= {"unit": units.text, "counted": units.counted, "number": units.number,
                            "capitalize_first": units.capital, "track": svg_figures.track, "axis": svg_figures.axis,
                            "plot": svg_plots.plot}
    return environment
