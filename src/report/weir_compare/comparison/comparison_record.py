"""A comparison for machines: JSON and CSV. The fields are those of docs/files-and-exit-statuses.md."""

import math

from weir_runs.basics.csv_text import csv_text
from . import comparison_text, network_mechanisms

SCHEMA = "weir-compare/1"


def _fields(one, *names):
    """{name: attribute} of an object."""
    return {name: getattr(one, name) for name in names}


def _side(result, side):
    yes = {"yes": side.yes} if result.figure.kind == "share" else {}
    return {"runs": len(side.values), "median": side.median, "spread": side.spread, "values": list(side.values),
            "of": side.whole, **yes}


def _result(result):
    return {**_figure(result.figure), "baseline": _side(result, result.baseline), "new": _side(result, result.new),
            "difference": result.difference, "relative_difference": _relative(result), "interval_low": result.low,
            "interval_high": result.high, "threshold": result.threshold, "detectable_difference": result.detectable,
            "relevant_difference": result.relevant, "p_value": result.p_value, "level": result.level,
            "scored": result.figure.is_scored, "call": result.call, "reason": result.reason}


def _plain_unit(figure):
    """Values of shares are 0 to 1 here."""
    return "1" if figure.unit == "%" else figure.unit


def _relative(result):
    if result.difference is None or not comparison_text.is_relative(result):
        return None
    return result.difference / abs(result.baseline.median)


def as_record(report):
    return {
        "schema": SCHEMA,
        "by": report.by,
        "answer": answer_record(report.answer),
        "conclusion": comparison_text.conclusion(report),
        "remarks": report.remarks,
        "plan_differences": {option: dict(zip((group.name for group in report.groups), values))
                             for option, values in report.plan_differences.items()},
        "groups": [{"name": group.name, "baseline": index == 0, "runs": [str(run.directory) for run in group.runs],
                    "failed": [_fields(failure, "name", "why") for failure in group.failed],
                    "missing": group.missing, "network": network_mechanisms.count(group)}
                   for index, group in enumerate(report.groups)],
        "comparisons": [_comparison(comparison) for comparison in report.comparisons],
    }


def _comparison(comparison):
    pairs = zip(comparison.baseline.runs, comparison.new.runs) if comparison.pairing else ()
    return {"baseline": comparison.baseline.name, "new": comparison.new.name, "judged": comparison.too_few is None,
            "paired": comparison.pairing is not None, "pairing": comparison.pairing, "too_few": comparison.too_few,
            "pairs": [[str(one.directory), str(other.directory)] for one, other in pairs],
            "network_differs": network_mechanisms.differs(comparison.baseline, comparison.new),
            "figures": [_result(result) for result in comparison.results],
            "alike": [_result(result) for result in comparison.alike]}


CSV_COLUMNS = ("baseline", "new", "key_figure", "unit", "baseline_runs", "baseline_median", "baseline_spread",
               "new_runs", "new_median", "new_spread", "difference", "relative_difference", "interval_low",
               "interval_high", "threshold", "detectable_difference", "p_value", "level", "call", "scored",
               "baseline_network", "new_network")


def as_csv(report):
    rows = [CSV_COLUMNS]
    for comparison in report.comparisons:
        networks = [network_mechanisms.text(group) for group in (comparison.baseline, comparison.new)]
        for result in comparison.results:
            record = _result(result)
            sides = [record[side][what] for side in ("baseline", "new") for what in ("runs", "median", "spread")]
            rows.append([comparison.baseline.name, comparison.new.name, record["name"], record["unit"], *sides,
                         *(record[column] for column in CSV_COLUMNS[10:-2]), *networks])
    return csv_text(rows)


def answer_record(answer):
    """Values in the unit of their figure; shares are 0 to 1."""
    return {
        **answer.short.record(),
        **_fields(answer, "headline", "evidence", "winner", "recommended"),
        "decided_by": _figure(answer.decided_by),
        "chosen": answer.chosen,
        "ranking": [_row(row) for row in answer.ranking],
        "pairs": [{"first": answer.names[pair.first], "second": answer.names[pair.second], "figure": pair.figure.name,
                   "difference": _finite(pair.result.difference),
                   **_fields(pair.result, "low", "high", "p_value", "level", "detectable", "paired", "call", "reason"),
                   "told_apart": pair.is_told} for pair in answer.measured.pairs],
        "why": [{**_fields(why, "setting", "at", "mechanism", "held_up"),
                 "counters": [_fields(counter, "name", "title", "unit", "value", "share", "of", "runs")
                              for counter in why.counters],
                 "missing": list(why.missing)} for why in answer.why],
        "proofs": [{**_fields(trial, "worse", "better", "changed"), "figure": trial.figure.name,
                    "worse_value": trial.own, "value": trial.got, "better_value": trial.aim, "runs": trial.runs,
                    "share": trial.gone, "is_cause": trial.is_cause, "problem": trial.problem or None,
                    "text": trial.text} for trial in answer.proofs],
        "victims": [{**_fields(each, "setting", "known", "reason", "runs"),
                     "ranks": [_fields(rank, "role", "index", "host", "share", "against", "link_use", "paused", "runs")
                               for rank in each.ranks],
                     "causes": list(each.causes), "ports": list(each.ports)} for each in answer.victims],
        "pressure": {"cannot_differ": answer.pressure.cannot_differ, "sentences": list(answer.pressure.sentences),
                     "remedy": answer.pressure.remedy},
        "not_told": list(answer.not_told),
        "next": answer.next,
    }


def _row(row):
    return {**_fields(row, "rank", "last_rank", "setting", "shared"),
            **_fields(row.first, "value", "low", "high", "runs"),
            **_fields(row, "judged", "failed", "missing", "certain"), "told_by": _figure(row.told_by),
            "difference": _finite(row.difference), **_fields(row, "difference_low", "difference_high"),
            "values": [{"name": value.figure.name, "unit": _plain_unit(value.figure),
                        **_fields(value, "value", "low", "high", "runs")} for value in row.details]}


def _figure(figure):
    return None if figure is None else {"name": figure.name, "title": figure.title, "unit": _plain_unit(figure),
                                        "better": figure.better}


def _finite(value):
    return value if value is None or math.isfinite(value) else None
