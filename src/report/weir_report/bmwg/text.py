"""What weir-sweep bmwg prints."""

from __future__ import annotations

import textwrap

from ..basics import units
from . import catalogue


def list_lines(costs=None, sections=catalogue.SECTIONS):
    """Of each section: can it be run, measured and simulated, or why not. `costs`: {number: what it takes}."""
    lines = [f"{catalogue.DOCUMENT['name']}, {catalogue.DOCUMENT['revision']}", ""]
    for section in sections:
        lines.append(f"{section.number:5} {section.title}")
        lines += textwrap.wrap(section.objective, 110, initial_indent="      ", subsequent_indent="      ")
        if section.document:
            lines.append(f"      of {section.document}")
        for kind, why in (("simulated", section.simulated), ("measured", section.measured)):
            lines.append(f"      {kind}: {why or 'yes'}")
        if section.needs:
            lines.append(f"      needs: {', '.join(section.needs)}")
        if section.number in (costs or {}):
            lines.append(f"      takes {costs[section.number]}")
        for parameter in section.parameters:
            lines.append(f"      {parameter.name}, {parameter.meaning}: {_listed(parameter.draft)}"
                         + (f"; simulated: {_listed(parameter.simulated)}" if parameter.simulated else "")
                         + (f"; --quick: {_listed(parameter.quick)}" if parameter.quick != parameter.draft else ""))
    if costs:
        lines += ["", "Numbers of senders, flows, workers and a crowd that the fabric has no hosts for are left out; if none fits, the largest number that does",
                  "is run. What a section takes counts those that fit."]
    return lines


def _listed(values):
    return " ".join(map(str, values))


def result_lines(finished):
    """A line for each section: its primary figures in short, or why there are none."""
    lines = []
    for one in finished:
        lines.append(f"{one.section.number:5} {one.section.title}: {one.state}{', ' + one.why.splitlines()[0] if one.why else ''}")
        for figure in one.outcome.primary if one.outcome else ():
            values = list(figure.variations().items())
            shown = [f"{name} {units.text(mean, figure.unit)}" for name, (_, mean, _) in values[:3]]
            lines.append(f"      {figure.title}: {'; '.join(shown)}" + (f"; {len(values) - 3} more" if len(values) > 3 else ""))
    return lines
