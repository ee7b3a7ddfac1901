"""A comparison for machines: JSON and CSV. The fields are those of docs/files-and-exit-statuses.md."""

from __future__ import annotations

import math

from ..basics.csv_text import csv_text
from . import network_mechanisms, terminal

SCHEMA = "weir-compare/1"


def _side(result, side):
    return {
        "runs": len(side.values),
        "median": side.median,
        "spread": side.spread,
        "values": list(side.values),
        "of": side.whole,
        **({
            "yes": side.yes
        } if result.figure.kind == "share" else {})
    }


def _result(result):
    return {
        "name": result.figure.name,
        "title": result.figure.title,
        "unit": _plain_unit(result.figure),
        "better": result.figure.better,
        "baseline": _side(result, result.baseline),
        "new": _side(result, result.new),
        "difference": result.difference,
        "relative_difference": _relative(result),
        "interval_low": result.low,
        "interval_high": result.high,
        "threshold": result.threshold,
        "detectable_difference": result.detectable,
        "relevant_difference": result.relevant,
        "p_value": result.p_value,
        "level": result.level,
        "scored": result.figure.is_scored,
        "call": result.call,
        "reason": result.reason
    }


def _plain_unit(figure):
    """Values of shares are 0 to 1 here."""
    return "1" if figure.unit == "%" else figure.unit


def _relative(result):
    if result.difference is None or not terminal.is_relative(result):
        return None
    return result.difference / abs(result.baseline.median)


def as_record(report):
    return {
        "schema": SCHEMA,
        "by": report.by,
        "answer": answer_record(report.answer),
        "conclusion": terminal.conclusion(report),
        "remarks": report.remarks,
        "plan_differences": {
            option: dict(zip((group.name
                              for group in report.groups), values))
            for option, values in report.plan_differences.items()
        },
        "groups": [{
            "name": group.name,
            "baseline": index == 0,
            "runs": [str(run.directory) for run in group.runs],
            "failed": [{"name": failure.name, "why": failure.why} for failure in group.failed],
            "missing": group.missing,
            "network": network_mechanisms.count(group)
        } for index, group in enumerate(report.groups)],
        "comparisons": [{
            "baseline": comparison.baseline.name,
            "new": comparison.new.name,
            "judged": comparison.too_few is None,
            "paired": comparison.pairing is not None,
            "pairing": comparison.pairing,
            "too_few": comparison.too_few,
            "pairs": ([[str(one.directory), str(other.directory)]
                       for one, other in zip(comparison.baseline.runs, comparison.new.runs)]
                      if comparison.pairing else []),
            "network_differs": network_mechanisms.differs(comparison.baseline, comparison.new),
            "figures": [_result(result)
                        for result in comparison.results],
            "alike": [_result(result) for result in comparison.alike]
        }
                        for comparison in report.comparisons],
    }


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
            sides = [
                record[side][what] for side in ("baseline", "new") for what in ("runs", "median", "spread")
            ]
            rows.append(
                [comparison.baseline.name, comparison.new.name, record["name"], record["unit"], *sides] +
                [record[column] for column in CSV_COLUMNS[10:-2]] + networks)
    return csv_text(rows)


def answer_record(answer):
    """Values in the unit of their figure; shares are 0 to 1."""
    return {
        "headline": answer.headline,
        "winner": answer.winner,
        "recommended": answer.recommended,
        "decided_by": _figure(answer.decided_by),
        "chosen": answer.chosen,
        "ranking": [{
            "rank": row.rank,
            "last_rank": row.last_rank,
            "setting": row.setting,
            "shared": row.shared,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "runs": row.runs,
            "judged": row.judged,
            "failed": row.failed,
            "missing": row.missing,
            "certain": row.certain,
            "told_by": _figure(row.told_by),
            "difference": _finite(row.difference),
            "difference_low": row.difference_low,
            "difference_high": row.difference_high,
            "values": [{"name": value.figure.name, "unit": _plain_unit(value.figure), "value": value.value, "low": value.low,
                        "high": value.high, "runs": value.runs} for value in row.details]
        } for row in answer.ranking],
        "pairs": [{
            "first": answer.names[pair.first],
            "second": answer.names[pair.second],
            "figure": pair.figure.name,
            "difference": _finite(pair.result.difference),
            "low": pair.result.low,
            "high": pair.result.high,
            "p_value": pair.result.p_value,
            "level": pair.result.level,
            "detectable": pair.result.detectable,
            "paired": pair.result.paired,
            "call": pair.result.call,
            "reason": pair.result.reason,
            "told_apart": pair.is_told,
        } for pair in answer.measured.pairs],
        "why": [{
            "setting": why.setting,
            "at": why.at,
            "mechanism": why.mechanism,
            "counters": [{"name": counter.name, "title": counter.title, "unit": counter.unit, "value": counter.value,
                          "share": counter.share, "of": counter.of, "runs": counter.runs} for counter in why.counters],
            "missing": list(why.missing),
        } for why in answer.why],
        "proofs": [{
            "worse": trial.worse,
            "better": trial.better,
            "changed": trial.changed,
            "figure": trial.figure.name,
            "worse_value": trial.own,
            "value": trial.got,
            "better_value": trial.aim,
            "runs": trial.runs,
            "share": trial.gone,
            "is_cause": trial.is_cause,
            "problem": trial.problem or None,
            "text": trial.text,
        } for trial in answer.proofs],
        "victims": [{
            "setting": each.setting,
            "known": each.known,
            "reason": each.reason,
            "runs": each.runs,
            "ranks": [{"role": rank.role, "index": rank.index, "host": rank.host, "share": rank.share,
                       "against": rank.against, "link_use": rank.link_use, "paused": rank.paused, "runs": rank.runs}
                      for rank in each.ranks],
            "causes": list(each.causes),
            "ports": list(each.ports),
        } for each in answer.victims],
        "pressure": {"cannot_differ": answer.pressure.cannot_differ, "sentences": list(answer.pressure.sentences),
                     "remedy": answer.pressure.remedy},
        "not_told": list(answer.not_told),
        "next": answer.next,
    }


def _figure(figure):
    return None if figure is None else {"name": figure.name, "title": figure.title, "unit": _plain_unit(figure),
                                        "better": figure.better}


def _finite(value):
    return value if value is None or math.isfinite(value) else None
