"""Charts of an answer (answer.py): the ranking with every run, and what the network did in each setting. Data only;
svg_figures.py draws them."""

import math
import statistics

from . import answer_text, run_charts, switch_counters, units
from .charts import Mark, Row, RowChart
from .key_figures import key_figures

# What is drawn, in this order: the families of hosts' counters that have it, the best first, and what switches count of it: (name,
# title). A family of frames stands for times where there are no times.
_KINDS = (
    (("pause_time_received", "pause_frames_received"), (("pausing_s", "time for which switches stopped hosts"),
                                                        ("pauses_sent", "pauses sent by switches"))),
    (("pause_time_sent", "pause_frames_sent"), (("paused_s", "time for which switches were stopped"),
                                                ("pauses_received", "pauses received by switches"))),
    (("ecn_marked_packets",), (("marked_packets", "packets marked by switches (ECN)"),)),
    (("cnp_sent",), ()),
    (("cnp_handled",), ()),
    (("rdma_retransmissions",), ()),
    (("tcp_retransmissions",), ()),
    (("out_of_sequence",), ()),
    (("dropped_by_hosts",), ()),
    ((), (("dropped_packets", "packets dropped by switches"),)),
)
# Of what a switch's counter is a share.
_WHOLE = {"pausing_s": "time", "paused_s": "time", "marked_packets": "sent_packets", "dropped_packets": "sent_packets"}


def ranking_chart(answer, groups, capacity=None):
    """A row per setting, the best first: value and interval, every run, and what is certain."""
    figure = answer.decided_by
    factor, unit = _scale(figure, answer, capacity)
    counted = figure is not None and figure.kind == "share"
    rows = []
    for place, ranked in enumerate(answer.ranking):
        following = answer.ranking[place + 1] if place + 1 < len(answer.ranking) else None
        group = groups[ranked.index]
        if capacity:
            marks = _trials(capacity, group.name, factor)
        else:
            marks = _yes_or_no(figure, group) if counted else _runs(figure, group, factor)
        row = Row(ranked.setting, run_charts.colour(ranked.index), marks=marks, text=_text(figure, ranked),
                  note=_certainty(answer, ranked, following), rank=f"{ranked.rank}{'=' if ranked.shared else ''}")
        if not counted:
            row.value, row.low, row.high = (_in(value, factor) for value in (ranked.value, ranked.low, ranked.high))
            row.missing = "" if marks or row.value is not None else "not measured"
        rows.append(row)
    if counted:
        return RowChart(figure.title, "", rows, least_span=max(12.0, max(len(row.marks) for row in rows)), has_axis=False)
    largest = max((abs(row.value) for row in rows if row.value is not None), default=0.0)
    return RowChart(figure.title if figure else "", unit, rows, least_span=run_charts.LEAST_SPAN * largest)


def _scale(figure, answer, capacity):
    if figure is None:
        return 1.0, ""
    if figure.unit == "%":
        return 0.01, "%"
    known = [abs(row.value) for row in answer.ranking if row.value is not None]
    known += [trial.value for setting in capacity.settings for search in setting.searches for trial in search.runs] if capacity else []
    factor, unit = units.scale(figure.unit, max(known, default=0.0))
    return factor, "" if unit == "1" else unit


def _in(value, factor):
    return None if value is None or not math.isfinite(value) else value / factor


def _runs(figure, group, factor):
    """A mark per run at its value."""
    values = [(run, key_figures(run).get(figure.name)) for run in group.runs] if figure else []
    return [Mark(value / factor, f"{run.directory.name}: {answer_text.amount(figure, value)}")
            for run, value in values if value is not None]


def _yes_or_no(figure, group):
    """A mark per run, beside each other: those with yes first."""
    values = [(run, key_figures(run).get(figure.name)) for run in group.runs]
    known = sorted((pair for pair in values if pair[1] is not None), key=lambda pair: -pair[1])
    return [Mark(float(place), f"{run.directory.name}: {'' if value else 'not '}{figure.title}", bool(value))
            for place, (run, value) in enumerate(known)]


def _trials(capacity, name, factor):
    """A mark per run of the search: whether it held what was tried."""
    setting = capacity.setting(name)
    quantity = capacity.quantity
    return [Mark(trial.value / factor, f"{units.text(trial.value, quantity.unit)}: {'held' if trial.held else 'not held'}, round "
                 f"{search.round}" + (f", {trial.directory.rsplit('/', 1)[-1]}" if trial.directory else ""), trial.held)
            for search in (setting.searches if setting else ()) for trial in search.runs if trial.held is not None]


def _text(figure, ranked):
    if figure is None or ranked.value is None or ranked.low is None or ranked.high is None or figure.kind == "share":
        return ranked.text
    low, high = (answer_text.amount(figure, value) if math.isfinite(value) else "∞" for value in (ranked.low, ranked.high))
    if low == high:
        return ranked.text
    unit = ranked.text.rpartition(" ")[2]
    if low.endswith(f" {unit}") and high.endswith(f" {unit}"):
        low = low[:-len(unit) - 1]
    return f"{ranked.text} ({low} to {high})"


def _certainty(answer, ranked, following):
    if following is None:
        return ""
    if not ranked.certain:
        return f"not told apart from {following.setting}"
    if ranked.told_by is None or ranked.difference is None:
        return f"certain: better than {following.setting}"
    by = "" if ranked.told_by == answer.decided_by else f" in {ranked.told_by.title}"
    size = "" if ranked.told_by.kind == "share" else f" by {answer_text.difference(ranked.told_by, ranked.difference)}"
    return f"certain: better than {following.setting}{size}{by}"


def mechanism_charts(answer, groups):
    """A RowChart of bars for each kind of counter that is not 0 everywhere: shares of time or of packets, or numbers where that is
    not known. What a setting does not count is missing."""
    rows = answer.ranking
    by_setting = {why.setting: {counter.name: counter for counter in why.counters} for why in answer.why}
    of_hosts = [by_setting.get(row.setting, {}) for row in rows]
    of_switches = [[(run, switch_counters.sums(run)) for run in groups[row.index].runs] for row in rows]
    charts = []
    for families, names in _KINDS:
        makers = [lambda family=family: _hosts(family, families, of_hosts, rows) for family in families]
        makers += [lambda name=name, title=title: _switches(name, title, of_switches, rows) for name, title in names]
        chart = next((chart for chart in (make() for make in makers) if chart), None)
        if chart:
            charts.append(chart)
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
    return f"Not counted in any setting: {', '.join(missing)}." if missing else ""


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
    of = {"time": " of the time", "sent_packets": " of packets"}.get(_WHOLE.get(name))
    return RowChart(title, "", [
        _bar(row, value, "" if value is None else units.percent(value) + of if of else f"{units.number(value)} frames")
        for row, value in zip(rows, middles)], bars=True)


def _bar(row, value, text):
    return Row(row.setting, run_charts.colour(row.index), value, text=text, missing="" if value is not None else "not counted")


def _middle(side, name):
    """Median of the runs that counted it, as share if it is one; None: none did."""
    values, of = [], _WHOLE.get(name)
    for run, counted in side:
        value = counted.get(name)
        whole = 1.0 if of is None else _port_seconds(run) if of == "time" else counted.get(of)
        if value is not None and whole:
            values.append(value / whole)
    return statistics.median(values) if values else None


def _port_seconds(run):
    """Seconds of all ports of simulated switches; of real ones the number of ports is not known."""
    record = run.record.get("switch") or {}
    return record.get("measured_s", 0.0) * len(record.get("ports") or []) or None
