"""Which axes cannot act in the plan, whatever their values: keys of a switch that matter only where a port marks,
pauses or drops, in a plan that never has so much waiting there. weir works out the pressure (src/core/pressure.hpp);
here it is only looked at."""

import re

from weir_runs.basics import quantities, units
from weir_runs.reading import plan_pressure

# What an axis acts through, of the settings of plan.resolved.pressure. Axes that are not named here may act in any
# plan.
_THROUGH = {
    "ecn": ("ecn",), "ecn.": ("ecn",), "pfc": ("pfc",), "pfc.": ("pfc",), "dcqcn.": ("ecn", "drop"),
    "switch.ingress-alpha": ("pfc",), "switch.ingress-threshold": ("pfc",), "switch.headroom": ("pfc",),
    "switch.resume-offset": ("pfc",),
    "switch.egress-alpha": ("drop",), "switch.egress-threshold": ("drop",), "switch.pool": ("pfc", "drop"),
    "nic.nak-spacing": ("drop",),
}


def through(name):
    """The settings of the switch through which an axis acts; None: it may act in any plan."""
    return _THROUGH.get(name) or _THROUGH.get(name.partition(".")[0] + "." if "." in name else name)


def idle(axes, answers):
    """{axis: why it cannot act, a sentence without a full stop} for plans of the simulator. `answers`: settings of the
    pressure of many settings, drawn from all axes; none of a plan of which it is not known."""
    known = [entries for entries in answers if entries]
    if not known or len(known) < len(answers):
        return {}
    found = {}
    for axis in axes:
        names = through(axis.name)
        entries = [entry for of_one in known for entry in of_one if names and entry["setting"] in names]
        if names and not any(entry["can_act"] for entry in entries):
            fullest = max(entries, key=lambda entry: entry["pressure"], default=None)
            found[axis.name] = (f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} not on in any of these "
                                "settings" if fullest is None else why_not(fullest))
    return found


def why_not(entry):
    """Of a setting of the pressure, in kB as axes and switches have them."""
    def decimal(found):
        number = float(quantities.number_of(found[1] + found[2])[0])
        return units.text(number, "B", like=number)
    return re.sub(r"([\d.]+) ([KMG]iB)", decimal, plan_pressure.sentence(entry))


def silent(entries):
    """Why settings of the switch cannot act, of one plan."""
    return [why_not(entry) for entry in entries if not entry["can_act"]]
