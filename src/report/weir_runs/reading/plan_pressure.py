"""Whether the settings of a switch can act in the plan of a run at all. weir works this out (src/core/pressure.hpp) and
writes it to run.json, plan.resolved.pressure; here it is only read."""


def cannot_act(run):
    """Sentences on settings of the switch that cannot act in the plan of one run, without full stops."""
    return [sentence(entry) for entry in (of_run(run) or {}).get("settings", ()) if not entry["can_act"]]


def sentence(entry):
    """On one of plan.resolved.pressure.settings, without a full stop."""
    remedy = "" if entry["can_act"] else entry["remedy"]
    return entry["text"] + (f": it cannot act in this plan, but with {remedy}" if remedy else "")


def of_run(run):
    pressure = run.resolved.get("pressure")
    return pressure if isinstance(pressure, dict) else None
