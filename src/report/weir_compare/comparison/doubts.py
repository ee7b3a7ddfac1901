"""Why nothing can be certain of two settings, whatever their runs show: something else than the setting may be what
differs. Groups of runs in, {(i, j): Doubt} out; i < j."""

from __future__ import annotations

import itertools
import typing

from weir_runs.basics.units import listed, text
from weir_runs.reading import plan_pressure
from . import run_order
from .run_groups import OF_THE_NETWORK

# The tag of runs whose plan belongs to the setting that is compared: slots that are set together with thresholds, as a
# proposal of weir-sweep tune.
PLAN_OF_THE_SETTING = ("plan", "of the setting")


class Doubt(typing.NamedTuple):
    """`reason`: a clause, without a full stop. `remedy`: what to do, a sentence; None: said elsewhere."""

    reason: str
    remedy: str | None = None


def found(groups, names, differences):
    """`groups`: usable runs; `differences`: run_groups.plan_differences."""
    doubts = {}
    for i, j in itertools.combinations(range(len(groups)), 2):
        two, named = (groups[i], groups[j]), (names[i], names[j])
        if all(group.made for group in two):
            reason = _order(two, named) or _world(two) or _version(two, named) or _pressure(two, named, differences)
            if reason:
                doubts[(i, j)] = reason
    return doubts


def begins(group):
    """When the runs of a group that were made began, in seconds since 1970; None if that is not known of all of
    them."""
    instants = [run.started_at if run.world == "measurement" else None for run in group.runs]
    instants += [failure.begun for failure in group.failed if failure.begun is not None]
    return None if None in instants or not instants else [instant.timestamp() for instant in instants]


def _order(two, names):
    known = [begins(group) for group in two]
    stretch = None if None in known else run_order.separating_stretch(*known)
    if stretch is None:
        return None
    sequence = [names[index] for index in run_order.next_runs([[], []])]
    return Doubt(f"their runs did not take turns ({run_order.in_words(stretch, names, tuple(map(len, known)))}), and "
                 "what changed meanwhile would look the same",
                 f"Make new runs that take turns ({', '.join(sequence)}, and again), three or more of each, and "
                 "compare these alone.")


def _world(two):
    worlds = [{run.world for run in group.runs} for group in two]
    return Doubt("measured runs are compared with simulated ones") if all(worlds) and worlds[0] != worlds[1] else None


def _version(two, names):
    versions = [sorted({str(run.record["environment"].get("weir_version")) for run in group.runs}) for group in two]
    if not all(versions) or versions[0] == versions[1]:
        return None
    shown = "; ".join(f"{name}: {listed(of_group)}" for name, of_group in zip(names, versions))
    return Doubt(f"their runs were made by different versions of weir ({shown})",
                 "Make the runs of all settings with one version of weir.")


def _pressure(two, names, differences):
    """Where something else is compared as well, a plan that puts another load on the ports is another question."""
    key, value = PLAN_OF_THE_SETTING
    if all(run.labels.get(key) == value for group in two for run in group.runs):
        return None
    under_way = [{(plan_pressure.of_run(run) or {}).get("under_way_bytes") for run in group.runs} for group in two]
    if not all(under_way) or under_way[0] == under_way[1] or None in under_way[0] | under_way[1] or not _compares_more(
        two, differences):
        return None
    shown = [listed([text(size, "B") for size in sorted(of_group)]) for of_group in under_way]
    return Doubt(f"their plans put different loads on the ports ({shown[0]} at most under way into a port with "
                 f"{names[0]}, {shown[1]} with {names[1]})", "Make the runs of all settings with one plan.")


def _compares_more(two, differences):
    """Whether the network, or the tag with the setting that the switch had, differs as well."""
    switches = [{run.labels.get("switch") for run in group.runs} for group in two]
    return any(option in OF_THE_NETWORK for option in differences) or switches[0] != switches[1]
