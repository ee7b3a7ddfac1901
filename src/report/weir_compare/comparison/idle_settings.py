"""Settings of the switch that are compared and cannot act in the plan of the runs. They cannot differ, whatever the
runs show: a comparison of them finds nothing, and that is no finding."""

from __future__ import annotations

import dataclasses
import json

from weir_runs.reading import plan_pressure

# Options that change what the switch does when ports fill, and nothing else; --switch and --switch-set by the keys of
# the file.
_OPTIONS = ("switch", "switch-set", "pfc", "ecn", "acts-at")
# Keys of a switch file that matter only where a port has paused, marked or dropped. None: all of the section.
_KEYS = {
    "name": None,
    "pfc": None,
    "ecn": None,
    "dcqcn": None,
    "switch": ("pool", "ingress-alpha", "ingress-threshold", "egress-alpha", "egress-threshold", "headroom",
               "resume-offset"),
    "nic": ("nak-spacing", "ack-timeout", "selective-timeout-low", "selective-timeout-high"),
}
# Tags that name nothing else than the run, and of which setting of the switch.
_TAGS = ("label", "switch", "sweep", "point", "repetition")


@dataclasses.dataclass(frozen=True)
class IdleSettings:
    """`cannot_differ`: only settings of the switch are compared, and none of them can act. `sentences`: on those that
    cannot act, or why that is not known, each without a full stop."""

    cannot_differ: bool = False
    sentences: tuple = ()
    remedy: str | None = None  # what lets the first of them act

    @property
    def next(self):
        return f"Compare them in a plan in which they can act: with {self.remedy}."


def found(groups, differences, by=None):
    """For groups of usable runs. `differences`: run_groups.plan_differences; `by`: the tag that makes the groups."""
    known = [[plan_pressure.of_run(run) for run in group.runs] for group in groups]
    if not all(pressure and pressure.get("settings") for of_group in known for pressure in of_group):
        return IdleSettings(sentences=_unknown(groups, known))
    entries = [entry for of_group in known for pressure in of_group for entry in pressure["settings"]]
    idle = sorted((entry for entry in entries if not entry["can_act"]), key=lambda entry: -entry["pressure"])
    sentences = tuple(dict.fromkeys(entry["text"] for entry in idle))
    if not idle:
        return IdleSettings()
    if len(idle) == len(entries) and len(groups) > 1 and _are_of_the_switch(groups, differences, by):
        return IdleSettings(True, sentences, idle[0]["remedy"])
    # A setting that acts in some group is none of which this can be said.
    acting = {entry["setting"] for entry in entries if entry["can_act"]}
    return IdleSettings(False,
                        tuple(dict.fromkeys(plan_pressure.sentence(entry) for entry in idle
                                            if entry["setting"] not in acting)))


def _unknown(groups, known):
    """Only where the runs are told apart by the settings of a switch: it is a question there."""
    settings = [{run.labels.get("switch") for run in group.runs} for group in groups]
    first = next((pressure for of_group in known for pressure in of_group if pressure), None)
    if first is None or not first.get("unknown") or len({value for of_group in settings for value in of_group}) < 2:
        return ()
    return (f"Whether these settings can differ in this plan is not known: {first['text']}; {first['unknown']}",)


def _are_of_the_switch(groups, differences, by):
    if any(option not in _OPTIONS for option in differences):
        return False
    runs = [run for group in groups for run in group.runs]
    if all(run.world == "measurement" for run in runs):
        return len({_what_else(run, by) for run in runs}) == 1
    switches = [run.record["environment"].get("packet_network") or {} for run in runs]
    return all(_differ_in_known_keys(switches[0], other) for other in switches[1:])


def _what_else(run, by):
    """By what measured runs are told apart beside the switch: tags, and variables that steer MPI and UCX."""
    tags = {name: value for name, value in run.labels.items() if name not in (*_TAGS, by)}
    return json.dumps([tags, run.record["environment"].get("variables")], sort_keys=True)


def _differ_in_known_keys(one, other):
    for section in {**one, **other}:
        first, second = one.get(section), other.get(section)
        if first == second or (section in _KEYS and _KEYS[section] is None):
            continue
        if section not in _KEYS or not isinstance(first, dict) or not isinstance(second, dict):
            return False
        if any(first.get(key) != second.get(key) and key not in _KEYS[section] for key in {**first, **second}):
            return False
    return True
