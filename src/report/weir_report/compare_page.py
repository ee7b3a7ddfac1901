"""A comparison as one self-contained page: the table, a dot per run for every key figure, and the runs'
seconds laid over each other. Interactive where plotly is installed; the still pictures are always there."""

import base64
import io

import numpy as np

from . import compare_text, network_mechanisms, page_parts, run_charts, units
from .charts import BLUE, GREEN, ORANGE, PURPLE, VERMILION
from .errors import naming
from .key_figures import KEY_FIGURES

# The baseline is blue; of many new groups, colours repeat after the fourth.
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE)
COLUMNS = 3
# Longer runs are drawn with fewer points: the worst of each group of seconds.
POINTS_MAX = 600


def write_page(report, path, footer):
    content = page_text(report, footer)
    with naming(path):
        path.write_text(content, encoding="utf-8")


def page_text(report, footer, template="compare.html.j2", **more):
    """The page. `template` may extend compare.html.j2, and gets `more`."""
    dots, series = _dots(report), _series(report)
    charts = [("dots", "Every run", dots, _dot_caption(report)),
              ("seconds", "Second by second", series,
               "One line per run: " + _colour_names(report) + ". Pale lines: warm-up and drain.")]
    plotly = page_parts.plotly_source()
    interactive = {"dots": _plotly_dots(dots), "seconds": _plotly_series(series)}
    title = more.pop("title", None) or _title(report)
    return page_parts.templates().get_template(template).render(
        **more,
        title=title,
        conclusion=compare_text.conclusion(report),
        conclusions=[(comparison.new.name, compare_text.conclude(comparison)) for comparison in report.comparisons],
        tone=_tone(report),
        short=_short(report),
        remarks=report.remarks,
        pairing=compare_text.pairing_lines(report, hints=False),
        alike=compare_text.alike_lines(report),
        groups=[{
            "name": group.name,
            "runs": [str(run.directory) for run in group.runs],
            "colour": _colour(index)
        } for index, group in enumerate(report.groups)],
        plan_differences=report.plan_differences,
        tables=[{
            "name": comparison.new.name,
            "network": _network(report, comparison),
            "rows": [_row(result) for result in comparison.scored],
            "explaining": [_row(result) for result in comparison.explaining],
            "silent": compare_text.silent(comparison)
        } for comparison in report.comparisons],
        relevant=f"{100.0 * report.settings.relevant:g} %",
        charts=[{
            "id": name,
            "title": title,
            "caption": caption,
            "picture": picture
        } for name, title, panels, caption in charts if panels for picture in [_still(panels)]],
        footer=footer,
        plotly=page_parts.packed(plotly) if plotly else None,
        figures=page_parts.packed_figures({
            name: interactive[name]
            for name, _, panels, _ in charts
            if panels
        }) if plotly else None)


def _title(report):
    title = f"{' and '.join(group.name for group in report.groups[1:])} against {report.groups[0].name}"
    return title[:1].upper() + title[1:] if title.startswith("the ") else title


def _tone(report):
    return "bad" if report.calls("worse") else "good" if report.calls("better") else "none"


def _short(report):
    if all(comparison.too_few for comparison in report.comparisons):
        return "Cannot judge"
    if report.calls("worse") and report.calls("better"):
        return "Worse in some key figures, better in others"
    return {"bad": "Worse", "good": "Better", "none": "Nothing got worse or better"}[_tone(report)]


def _row(result):
    return {
        "title": result.figure.title,
        "baseline": compare_text.value_of(result, result.baseline),
        "new": compare_text.value_of(result, result.new),
        "difference": compare_text.change(result, result.difference),
        "interval": compare_text.interval(result),
        "threshold": compare_text.least(result, result.threshold),
        "detectable": compare_text.least(result, result.detectable),
        "call": compare_text.judgement(result),
        "tone": {
            "better": "good-text",
            "worse": "bad-text"
        }.get(result.call, "")
    }


def _network(report, comparison):
    """The mechanisms of both sides; None for simulations alone."""
    if not network_mechanisms.is_shown(report.groups):
        return None
    sides = comparison.baseline, comparison.new
    return {
        "baseline": network_mechanisms.text(sides[0]),
        "new": network_mechanisms.text(sides[1]),
        "call": {True: "differs", False: "", None: "not known"}[network_mechanisms.differs(*sides)]
    }


def _colour(index):
    return COLOURS[index if index < len(COLOURS) else 1 + (index - 1) % (len(COLOURS) - 1)]


def _colour_names(report):
    names = {BLUE: "blue", VERMILION: "red", GREEN: "green", PURPLE: "pink", ORANGE: "orange"}
    return ", ".join(f"{names[_colour(index)]} {group.name}" for index, group in enumerate(report.groups))


def _dot_caption(report):
    pairs = " Grey lines join pairs." if any(comparison.pairing for comparison in report.comparisons) else ""
    return f"One dot per run, a bar at the median: {_colour_names(report)}.{pairs}"


def _dots(report):
    """Panels of key figures: columns of dots, one per group."""
    panels = []
    for figure in KEY_FIGURES:
        results = [next((result for result in comparison.results + comparison.alike if result.figure == figure), None)
                   for comparison in report.comparisons]
        first = next((result for result in results if result), None)
        if first is None or not any(result in comparison.scored + comparison.explaining
                                    for comparison, result in zip(report.comparisons, results)):
            continue
        sides = [first.baseline] + [result.new if result else None for result in results]
        largest = max((abs(value) for side in sides if side for value in side.values), default=0.0)
        if not largest:
            continue  # dots on the floor say nothing that the table does not
        percent = first.figure.unit == "%"
        factor, unit = (0.01, "%") if percent else units.scale(first.figure.unit, largest)
        panels.append({
            "title": first.figure.title,
            "unit": "" if unit == "1" else unit,
            "columns": [{
                "name": group.name,
                "colour": _colour(index),
                "runs": [run.directory.name for run in group.runs],
                "values": [value / factor for value in side.values] if side else []
            } for index, (group, side) in enumerate(zip(_in_order(report), sides))],
            "paired": len(report.comparisons) == 1 and report.comparisons[0].pairing is not None
        })
    return panels


def _in_order(report):
    """Groups with their runs in the order of the values."""
    return [report.comparisons[0].baseline] + [comparison.new for comparison in report.comparisons]


SERIES = (
    ("Slowest consumer of each second", "b/s", "consumer", "min"),
    ("Fullest producer of each second, occupancy", "1", "producer", "max"),
    ("Blocked consumers, share of their time", "%", "consumer", "mean"),
)


def _series(report):
    """Panels of seconds: a line per run."""
    panels = []
    for title, unit, role, how in SERIES:
        lines = []
        for index, group in enumerate(report.groups):
            for run in group.runs:
                values = _per_second(run, role, unit, how)
                if values is not None:
                    lines.append({"name": f"{group.name}: {run.directory.name}", "colour": _colour(index),
                                  **_thinned(run.rows(role), values, how)})
        if not lines:
            continue
        largest = max(np.nanmax(line["y"]) for line in lines)
        factor, unit_name = (0.01, "%") if unit == "%" else units.scale(unit, largest)
        for line in lines:
            line["y"] = line["y"] / factor
        panels.append({"title": title, "unit": "" if unit_name == "1" else unit_name, "lines": lines})
    return panels


def _per_second(run, role, unit, how):
    rows = run.rows(role)
    if unit == "b/s":
        values = run_charts.rates(run, role)
    elif role == "producer":
        values = rows.column("occupancy_peak") if "occupancy_peak" in rows else None
    else:
        values = rows.column("blocked_s") / rows.column("covered_s") if "blocked_s" in rows else None
    if values is None or not np.isfinite(values).any():
        return None
    # Seconds that no rank has stay empty, without numpy's warning about them.
    there = np.isfinite(values).any(axis=0)
    reduced = np.full(values.shape[1], np.nan)
    reduced[there] = {"min": np.nanmin, "max": np.nanmax, "mean": np.nanmean}[how](values[:, there], axis=0)
    return reduced


def _thinned(rows, values, how):
    step = -(-len(values) // POINTS_MAX)
    starts = np.arange(0, len(values), step)
    reduce = {"min": np.fmin, "max": np.fmax, "mean": np.fmax}[how]
    return {
        "x": rows.seconds[starts],
        "y": reduce.reduceat(values, starts),
        "measured": rows.phases[starts] == "measure"
    }


def _numbers(values):
    """JSON has no NaN; five digits are more than a screen shows."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in np.asarray(values, float)]


_FONT = {"family": "system-ui, sans-serif", "size": 12, "color": "#222222"}


def _layout(height):
    return {
        "font": _FONT,
        "paper_bgcolor": "#FFFFFF",
        "plot_bgcolor": "#FFFFFF",
        "showlegend": False,
        "height": height,
        "margin": {
            "l": 60,
            "r": 20,
            "t": 34,
            "b": 46
        },
        "annotations": [],
        "hovermode": "closest"
    }


def _place(position, columns, rows):
    """Domains of one plot in a grid."""
    column, row = position % columns, position // columns
    width, height = 1.0 / columns, 1.0 / rows
    return ([column * width + 0.04, (column + 1) * width - 0.02],
            [max(0.0, 1.0 - (row + 1) * height + 0.25 * height), 1.0 - row * height - 0.12 * height])


def _plotly_dots(panels):
    rows = -(-len(panels) // COLUMNS)
    data, layout = [], _layout(60 + 190 * rows)
    for position, panel in enumerate(panels):
        suffix = "" if position == 0 else str(position + 1)
        x_domain, y_domain = _place(position, COLUMNS, rows)
        names = [_short_name(column["name"]) for column in panel["columns"]]
        layout["xaxis" + suffix] = {
            "domain": x_domain,
            "anchor": "y" + suffix,
            "range": [-0.6, len(names) - 0.4],
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "showgrid": False,
            "zeroline": False,
            "tickangle": 0 if len(names) < 3 else 30
        }
        layout["yaxis" + suffix] = {"domain": y_domain, "anchor": "x" + suffix, "gridcolor": "#E5E8EC",
                                    "zeroline": False, "nticks": 4}
        layout["annotations"].append({
            "text": f"<b>{_escaped(panel['title'])}</b> {panel['unit']}", "x": x_domain[0], "y": y_domain[1],
            "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False,
            "font": {"size": 11}})
        axes = {"xaxis": "x" + suffix, "yaxis": "y" + suffix}
        if panel["paired"]:
            data += [{
                "type": "scatter",
                "mode": "lines",
                "x": [0, 1],
                "y": _numbers(two),
                "hoverinfo": "skip",
                "line": {
                    "color": "#C8CED6",
                    "width": 1
                },
                **axes
            } for two in zip(*(column["values"] for column in panel["columns"]))]
        for index, column in enumerate(panel["columns"]):
            if not column["values"]:
                continue
            data.append({"type": "scatter", "mode": "markers", "y": _numbers(column["values"]),
                         "x": _numbers(index + _spread_out(len(column["values"]), panel["paired"])),
                         "text": [_escaped(name) for name in column["runs"]],
                         "marker": {"color": column["colour"], "size": 8, "opacity": 0.75},
                         "hovertemplate": f"%{{text}}: %{{y}} {panel['unit']}<extra></extra>", **axes})
            median = float(np.median(column["values"]))
            data.append({"type": "scatter", "mode": "lines", "x": [index - 0.25, index + 0.25],
                         "y": _numbers([median, median]), "hoverinfo": "skip",
                         "line": {"color": column["colour"], "width": 2}, **axes})
    return {"data": data, "layout": layout}


def _spread_out(count, paired):
    """Equal values must not hide each other; dots that lines join stay in their column."""
    return np.zeros(count) if paired or count < 2 else np.linspace(-0.15, 0.15, count)


def _short_name(name):
    return _escaped(name if len(name) <= 16 else name[:15] + "…")


def _escaped(text):
    """plotly reads texts as HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _parts(line):
    """Measured seconds in full colour, the others pale; the pale ends reach to the next measured second."""
    outside = ~line["measured"]
    pale = outside.copy()
    pale[1:] |= outside[:-1]
    pale[:-1] |= outside[1:]
    return (np.where(outside, np.nan, line["y"]), 0.8), (np.where(pale, line["y"], np.nan), 0.25)


def _plotly_series(panels):
    data, layout = [], _layout(60 + 220 * len(panels))
    layout["xaxis"] = {"title": {"text": "second"}, "anchor": f"y{len(panels) if len(panels) > 1 else ''}",
                       "zeroline": False, "gridcolor": "#E5E8EC"}
    for position, panel in enumerate(panels):
        axis = "y" if position == 0 else f"y{position + 1}"
        domain = _place(position, 1, len(panels))[1]
        layout["yaxis" + axis[1:]] = {
            "domain": domain,
            "title": {
                "text": panel["unit"]
            },
            "rangemode": "tozero",
            "gridcolor": "#E5E8EC",
            "zeroline": False,
            "nticks": 5
        }
        layout["annotations"].append({
            "text": f"<b>{panel['title']}</b>",
            "x": 0,
            "y": domain[1],
            "xref": "paper",
            "yref": "paper",
            "xanchor": "left",
            "yanchor": "bottom",
            "showarrow": False
        })
        for line in panel["lines"]:
            for values, opacity in _parts(line):
                if np.isfinite(values).any():
                    data.append({
                        "type": "scatter",
                        "mode": "lines",
                        "x": _numbers(line["x"]),
                        "y": _numbers(values),
                        "yaxis": axis,
                        "name": _escaped(line["name"]),
                        "opacity": opacity,
                        "line": {
                            "color": line["colour"],
                            "width": 1.2
                        },
                        "hovertemplate": "%{fullData.name}, second %{x}: %{y} " + panel["unit"] +
                        "<extra></extra>"
                    })
    return {"data": data, "layout": layout}


def _still(panels):
    """The same figure as a PNG in a data URL."""
    # Not pyplot: no display is needed, and no figure stays behind.
    from matplotlib.figure import Figure
    columns = COLUMNS if "columns" in panels[0] else 1
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(10.0, 2.2 * rows + 0.3), layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    for axis, panel in zip(axes, panels):
        axis.set_title(f"{panel['title']}{', ' + panel['unit'] if panel['unit'] else ''}",
                       fontsize=9,
                       loc="left",
                       parse_math=False)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
        if columns == 1:
            for line in panel["lines"]:
                for values, opacity in _parts(line):
                    axis.plot(line["x"], values, color=line["colour"], linewidth=0.9, alpha=opacity)
            axis.set_ylim(bottom=0)
            continue
        if panel["paired"]:
            for two in zip(*(column["values"] for column in panel["columns"])):
                axis.plot([0, 1], two, color="#C8CED6", linewidth=0.8)
        for index, column in enumerate(panel["columns"]):
            if column["values"]:
                axis.plot(index + _spread_out(len(column["values"]), panel["paired"]), column["values"], "o",
                          color=column["colour"], markersize=4, alpha=0.75)
                axis.plot([index - 0.25, index + 0.25], [np.median(column["values"])] * 2,
                          color=column["colour"])
        axis.set_xticks(range(len(panel["columns"])), [column["name"][:16] for column in panel["columns"]],
                        parse_math=False)
        axis.set_xlim(-0.6, len(panel["columns"]) - 0.4)
        axis.ticklabel_format(axis="y", useOffset=False)
    for axis in axes[len(panels):]:
        axis.set_visible(False)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=100, metadata={"Software": None})
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()
