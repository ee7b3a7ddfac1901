"""How long the phases of a run with addressed events took: one line for each name, the slowest first."""

from ..basics.units import number, text

SHOWN = 20


def table(run):
    """Rows of the page's table and how many more there are; None if events have no address."""
    phases = run.record.get("phases") or []
    if not phases:
        return None
    ordered = slowest_first(run)
    return {"rows": [_row(phase) for phase in ordered[:SHOWN]], "more": len(ordered) - SHOWN,
            "has_ideal": any(phase["ideal_s"] for phase in phases)}


def slowest_first(run):
    return sorted(run.record.get("phases") or [], key=lambda phase: -(phase["completion_s_max"] or 0))


def _row(phase):
    longest, ideal = phase["completion_s_max"], phase["ideal_s"]
    return [phase["name"], f"{phase['complete_phases']} of {phase['phases']}", text(phase["bytes"], "B"),
            _time(phase["completion_s_median"]), _time(longest), _time(ideal), f"{number(longest / ideal)} x" if longest
            and ideal else "-",
            f"{phase['phases_over_period']} of {phase['phases']}", str(phase["incomplete_transfers"])]


def _time(seconds):
    return "-" if seconds is None else text(seconds, "s")
