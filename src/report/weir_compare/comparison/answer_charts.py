"""Charts of an answer (answer.py): the ranking with every run, and what the network did in each setting. Data only;
figures/svg_figures.py draws them."""

import math

from weir_runs.basics import units
from weir_runs.basics.list_values import median
from weir_runs.figures.charts import FLAT_SHARE, Mark, Row, RowChart, curve_colour
from weir_runs.reading import switch_counters
from weir_runs.reading.key_figures import KeyFigure, key_figures
from . import answer_lines, answer_why, run_charts

BIG_NUMBERS_MAX = 3
# Decides nothing: only shown.
_RATE = KeyFigure("carried", "carried per producer", "b/s", "higher")

# What is drawn, in this order: the counters of answer_why.py that have it, the best first, and what switches count of
# it: (name, title). Frames stand for times where there are no times.
_KINDS = (
    (("pause_time_received", "pause_frames_received"), (("pausing_s", "time for which switches stopped hosts"),
                                                        ("pauses_sent", "pauses sent by switches"))),
    (("pause_time_sent", "pause_frames_sent"), (("paused_s", "time for which switches were stopped"),
                                                ("pauses_received", "pauses received by switches"))),
    (("ecn_marked_packets", "switch_marked_packets"), ()),
    *(((name,), ()) for name in ("cnp_sent", "cnp_handled", "rdma_retransmissions", "tcp_retransmissions",
                                 "out_of_sequence", "dropped_by_hosts", "switch_dropped_packets",
                                 "missing_datagrams")),
)


def ranking_chart(answer, groups, capacity=None):
    """A row per setting, the best first: value and interval, every run, and what is certain. Where yes or no decides,
    the number that stands beside it is drawn, with a cross for each run with no."""
    figure = next((figure for figure in answer.columns if figure.kind == "number"), answer.decided_by)
    column = answer.columns.index(figure) if figure in answer.columns else 0
    factor, unit = _scale(figure, answer, column)
    rows = []
    for place, ranked in enumerate(answer.ranking):
        following = answer.ranking[place + 1] if place + 1 < len(answer.ranking) else None
        group = groups[ranked.index]
        value = ranked.details[column] if ranked.details else None
        row = Row(ranked.setting, curve_colour(ranked.index), text=_text(ranked, figure),
                  rank=str(ranked.rank) if ranked.judged else "-", note=_note(answer, ranked, figure, following),
                  marks=_trials(capacity, group.name, factor) if capacity
                  else _runs(figure, answer.decided_by, group, factor))
        if value is not None and value.value is not None:
            row.value, row.low, row.high = (_in(each, factor) for each in (value.value, value.low, value.high))
            if capacity:  # a limit beyond the range has one end
                row.low, row.high = (-math.inf if row.low is None else row.low, math.inf if row.high is None
                                     else row.high)
        row.missing = "" if row.marks or row.value is not None else "not measured"
        rows.append(row)
    largest = max((abs(row.value) for row in rows if row.value is not None), default=0.0)
    least_span = run_charts.LEAST_SPAN * largest
    if capacity:
        _leave_out_far_marks(rows, least_span)
    return RowChart(figure.title if figure else "", unit, rows, least_span=least_span)


def _leave_out_far_marks(rows, least_span):
    """A search begins with values far from any limit, beside which intervals would be too small to be seen."""
    ends = [value for row in rows for value in (row.value, row.low, row.high) if value is not None
            and math.isfinite(value)]
    if not ends:
        return
    span = max(max(ends) - min(ends), least_span)
    for row in rows:
        row.marks = [mark for mark in row.marks if min(ends) - span <= mark.value <= max(ends) + span]


def _scale(figure, answer, column):
    if figure is None:
        return 1.0, ""
    known = [abs(row.details[column].value) for row in answer.ranking if row.details
             and row.details[column].value is not None]
    factor, unit = units.scale(figure.unit, max(known, default=0.0))
    return factor, "" if unit == "1" else unit


def _in(value, factor):
    return None if value is None or not math.isfinite(value) else value / factor


def _runs(figure, decided_by, group, factor):
    """A mark per run at its value; where yes or no decides, with that."""
    marks = []
    for run in group.runs:
        figures = key_figures(run)
        value = figures.get(figure.name) if figure else None
        if value is None:
            continue
        held = bool(figures[decided_by.name]) if decided_by.kind == "share" and figures.get(
            decided_by.name) is not None else None
        outcome = "" if held is None else f", {'' if held else 'not '}{decided_by.title}"
        marks.append(Mark(value / factor, f"{run.short_name}: {figure.text(value)}{outcome}", held))
    return marks


def _trials(capacity, name, factor):
    """A mark per run of the search: whether it held what was tried."""
    setting = capacity.setting(name)
    quantity = capacity.quantity
    return [Mark(trial.value / factor, f"{units.text(trial.value, quantity.unit)}: "
                                       f"{'held' if trial.held else 'not held'}, round "
                 f"{search.round}" + (f", {trial.directory.rsplit('/', 1)[-1]}" if trial.directory else ""), trial.held)
            for search in (setting.searches if setting else ()) for trial in search.runs if trial.held is not None]


def _text(ranked, figure):
    """The yes or no, and what is drawn: 5 of 5 runs; 91.1 ms (89.7 .. 93.5 ms)"""
    parts = []
    for value in ranked.details:
        if value.figure is not None and value.figure is not figure and value.figure.kind != "share":
            continue
        interval = "" if value.low is None or value.figure.kind == "share" else answer_lines.interval(value)
        parts.append(f"{value.text} ({interval})" if " .. " in interval else value.text)
    return "; ".join(parts)


def _note(answer, ranked, figure, following):
    """What stands below: the other figures that tell settings apart, and what is certain."""
    others = [f"{value.figure.head} {value.text}" for value in ranked.details
              if value.figure is not None and value.figure is not figure and value.figure.kind != "share"]
    return "; ".join(part for part in (*others, _certainty(answer, ranked, following)) if part)


def _certainty(answer, ranked, following):
    if following is None:
        return ""
    if answer.pressure.cannot_differ:
        return "cannot differ"
    if not ranked.certain:
        return f"cannot tell from {following.setting}"
    if ranked.told_by is None or ranked.difference is None:
        return f"certain: better than {following.setting}"
    by = "" if ranked.told_by == answer.decided_by else f" in {ranked.told_by.head}"
    size = "" if ranked.told_by.kind == "share" else f" by {ranked.told_by.difference(ranked.difference)}"
    return f"certain: better than {following.setting}{size}{by}"


def big_numbers(answer, groups, capacity):
    """The two or three numbers of the verdict as bars: {shown: [{text, name, width}], mark, about}; None: there are
    none. `mark`: where the rate is that is needed. Widths and mark in per cent."""
    rows = answer.ranking[:BIG_NUMBERS_MAX]
    figure, of_rows, needed = next((one for one in answer.columns if one.kind != "share"), None), [], None
    if capacity:
        about = f"{units.capital(answer.columns[1].title)}."
        figure, of_rows = answer.columns[1], [row.details[1].value if len(row.details) > 1 else None for row in rows]
    elif (carried := _carried([groups[row.index] for row in rows])) and not _alike(carried[0]):
        figure, of_rows, needed = _RATE, *carried
        about = f"Carried per producer, mean; the line is the {units.text(needed, 'b/s')} that are needed."
    elif figure:
        of_rows = [row.details[answer.columns.index(figure)].value for row in rows]
        about = f"{units.capital(figure.title)}, median of the runs."
    most = max([needed or 0.0, *(value for value in of_rows if value)], default=0.0)
    if not most or None in of_rows:
        return None
    return {"shown": [{"text": figure.text(value), "name": row.setting, "width": f"{95 * value / most:.1f}",
                       "colour": curve_colour(row.index)}
                      for row, value in zip(rows, of_rows)],
            "mark": needed and f"{95 * needed / most:.1f}", "about": about}


def _alike(values):
    """Bars of equal length prove nothing."""
    return len(values) > 1 and max(values) - min(values) <= FLAT_SHARE * max(values)


def _carried(groups):
    """([what each carried per producer], what every producer was to send); None: not known, or not one rate."""
    rates = {run.resolved.get("rate_bits_per_second") for group in groups for run in group.runs}
    carried = [median([sum(rank.get("mean_bits_per_second") or 0.0 for rank in run.ranks("consumer"))
                       / run.resolved["producers"] for run in group.runs]) for group in groups if group.runs]
    rate = rates.pop() if len(rates) == 1 else None
    return (carried, rate) if rate and len(carried) == len(groups) and all(carried) else None


def mechanism_charts(answer, groups):
    """A RowChart of bars for each kind of counter that is not 0 everywhere: shares of time or of packets, or numbers
    where that is not known. What a setting does not count is missing."""
    rows = answer.ranking
    by_setting = {why.setting: {counter.name: counter for counter in why.counters} for why in answer.why}
    of_hosts = [by_setting.get(row.setting, {}) for row in rows]
    unmarked = {why.setting for why in answer.why if why.cnps_without_marks}
    of_switches = [[(run, switch_counters.sums(run)) for run in groups[row.index].runs] for row in rows]
    charts = []
    for families, names in _KINDS:
        makers = [lambda family=family: _hosts(family, families, of_hosts, rows) for family in families]
        makers += [lambda name=name, title=title: _switches(name, title, of_switches, rows) for name, title in names]
        chart = next((chart for chart in (make() for make in makers) if chart), None)
        if chart:
            charts.append(chart)
        for row in chart.rows if chart and families[0].startswith("cnp_") else ():
            row.note = answer_why.CNPS_WITHOUT_MARKS if row.value and row.name in unmarked else ""
    return charts


def not_counted(answer):
    """What no setting counts, of the kinds that are drawn, as a sentence; empty if there is no such counter."""
    counters = {}
    for why in answer.why:
        for counter in why.counters:
            counters.setdefault(counter.name, []).append(counter)
    if all(counter.value is None for of_family in counters.values() for counter in of_family):
        return "No host counted anything: there are no counters of network interfaces in these runs."
    missing = [counters[families[0]][0].title for families, _ in _KINDS if families and all(
        counter.value is None for family in families for counter in counters.get(family, ()))]
    return f"Not counted in any setting: {'; '.join(missing)}." if missing else ""


def _hosts(family, families, of_hosts, rows):
    """None if no setting has more than 0."""
    counters = [counters.get(family) for counters in of_hosts]
    if not any(counter and counter.value for counter in counters):
        return None
    are_shares = all(counter is None or not counter.value or counter.share is not None for counter in counters)
    made = []
    for row, counter, all_of_setting in zip(rows, counters, of_hosts):
        value = counter.value if counter else None
        text = "" if value is None else counter.text if are_shares else units.text(value, counter.unit)
        if value and are_shares:
            value = counter.share
        others = [all_of_setting.get(other) for other in families if other != family]
        if value is None and any(other and other.value == 0 for other in others):
            value, text = 0.0, "0"  # without a frame there was no time
        made.append(_bar(row, value, text))
    return RowChart(next(counter.title for counter in counters if counter), "", made, bars=True)


def _switches(name, title, of_switches, rows):
    middles = [_middle(side, name) for side in of_switches]
    if not any(middles):
        return None
    return RowChart(title, "", [
        _bar(row, value, "" if value is None else f"{units.percent(value)} of the time" if name.endswith("_s") else
             f"{units.number(value)} frames") for row, value in zip(rows, middles)], bars=True)


def _bar(row, value, text):
    return Row(row.setting, curve_colour(row.index), value, text=text, missing="" if value is not None
               else "not counted")


def _middle(side, name):
    """Median of the runs that counted it, of times as share of the time of all ports; None: none did."""
    values = []
    for run, counted in side:
        value, whole = counted.get(name), _port_seconds(run) if name.endswith("_s") else 1.0
        if value is not None and whole:
            values.append(value / whole)
    return median(values)


def _port_seconds(run):
    """Seconds of all ports of simulated switches; of real ones the number of ports is not known."""
    record = run.record.get("switch") or {}
    return record.get("measured_s", 0.0) * len(record.get("ports") or []) or None
