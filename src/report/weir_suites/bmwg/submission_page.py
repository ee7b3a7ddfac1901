"""submission.html: the record as one page, for people."""

from pathlib import Path

from weir_runs.basics import units
from weir_runs.figures import network_drawing, page_parts
from weir_runs.figures.charts import Line, Panel, PanelChart, curve_colour
from .result_tables import POINTS, SETTING

DOTS_MAX = 20
SHORT_TEXT = 40  # of a cell that is not wrapped
SHORT_POINTS = {"switch": "switch", "nic": "NIC", "host": "host", "arithmetic": "arithmetic", "weir's verdict": "weir",
                SETTING: ""}


def page_text(record, footer):
    """`record`: of record.make, or read from its file."""
    links = record["topology"].get("links")
    return page_parts.render(Path(__file__).parent / "templates/bmwg.html.j2", record=record, footer=footer,
                             drawing=network_drawing.of_links(links) if links else None,
                             short=_short(record), title=record["name"], points=POINTS,
                             results=[_shown(result) for result in record["results"]],
                             repeatability=[[row["section"], row["figure"], row["setting"], str(row["runs"]),
                                             units.text(row["mean"], row["unit"]),
                                             "-" if row["cv"] is None else units.percentage(row["cv"])] for row
                                            in record["repeatability"]], duration=units.duration(record["seconds"]))


def _short(record):
    """The answer as the page's macro takes it; None in records of earlier versions."""
    answer = record.get("answer")
    word, _, sentence = (answer or {"verdict": ""})["verdict"].partition(": ")
    return answer and answer | {"word": word, "sentence": sentence}


def _shown(result):
    section = result["section"]
    charts = [page_parts.shown(f"section-{section.replace('.', '-')}-{place}", _chart(curve, f"{section}-{place}"))
              for place, curve in enumerate(result["curves"]) if any(curve["lines"].values())]
    parameters = [(name, values["meaning"], *(", ".join(map(str, values[key])) for key in ("used", "draft")))
                  for name, values in result["parameters"].items()]
    return result | {"tables": list(map(_table, result["tables"])), "charts": charts, "parameters": parameters}


def _table(table):
    rows = [[_cell(value, column["unit"]) for value, column in zip(row, table["columns"])] for row in table["rows"]]
    columns = [column | {"shown": SHORT_POINTS[column["point"]], "heading": _heading(column), "numbers": bool(rows)
                         and rows[0][place]["number"]}
               for place, column in enumerate(table["columns"])]
    return {"title": table["title"], "columns": columns, "rows": rows}


def _heading(column):
    """Cells have the units that scale; others stand beside the title."""
    scales = column["unit"] in ("", "1", "%", "b/s", "B", "s")
    return column["title"] if scales else f"{column['title']}, {column['unit']}"


def _cell(value, unit):
    """A number in the unit of its column, as people read it."""
    if value is None:
        return {"text": "-", "number": True}
    if isinstance(value, str):
        return {"text": value, "number": False, "short": len(value) <= SHORT_TEXT}
    if unit == "%":
        return {"text": ("-" if value < 0 else "") + units.percentage(abs(value)), "number": True}
    return {"text": units.text(value, unit if unit in ("b/s", "B", "s") else ""), "number": True}


def _chart(curve, name):
    """Both axes in units that read well."""
    points = [point for line in curve["lines"].values() for point in line]
    (x_factor, x_name), (factor, unit) = (units.scale(of, max(abs(point[axis]) for point in points))
                                          for axis, of in enumerate((curve["x_unit"], curve["unit"])))
    lines = []
    for place, (title, line) in enumerate(curve["lines"].items()):
        if line:
            x, y = zip(*sorted(map(tuple, line)))
            lines.append(Line(title, [one / x_factor for one in x], [one / factor for one in y],
                              style="bar" if curve["names"] and len(curve["lines"]) == 1 else "curve",
                              colour=curve_colour(place), points=len(line) <= DOTS_MAX))
    return PanelChart(name, curve["title"], [Panel(curve["title"], "" if unit == "1" else unit, lines)], None, "",
                      x_names=curve["names"] or None, x_title=", ".join(filter(None, (curve["x"], x_name))))
