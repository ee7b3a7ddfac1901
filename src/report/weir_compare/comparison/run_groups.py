"""Groups of runs that are to be compared: which runs count, and what else than the question differs between the
groups."""

import collections
import dataclasses
import json

from weir_runs.basics.errors import ReportError
from weir_runs.basics.units import counted, listed
from weir_runs.reading.run_state import RUNNING

# Different seeds are what makes simulated repetitions different; how long rows are is no part of what was run.
NEVER_A_DIFFERENCE = ("seed", "row-interval", "switch-rows")
# Options that describe the simulated network. Between groups they are what is compared, as the settings of a real
# switch are.
OF_THE_NETWORK = ("network", "switch", "switch-set", "pfc", "ecn", "loss-recovery", "control-priority",
                  "control-network", "background", "port-buffer", "mtu", "acts-at")

# State of a run whose setting the switch did not have.
NOT_MEASURED = "not measured"

# Differences between more groups than these do not name the groups.
NAMED_GROUPS = 3


@dataclasses.dataclass(frozen=True)
class Failure:
    """A run that did not become complete: where it is or which one it is, and why."""

    name: str
    why: str
    begun: object = None  # datetime, if that is known


@dataclasses.dataclass
class Group:
    """`failed`: runs that ended before their time by themselves. `missing`: in words, how many others are not there, by
    their state: interrupted, waiting, ... `not_set`: why runs do not count, whose setting the switch did not have; they
    are among the missing."""

    name: str
    runs: list
    failed: list = dataclasses.field(default_factory=list)
    missing: dict = dataclasses.field(default_factory=dict)
    not_set: list = dataclasses.field(default_factory=list)

    @property
    def made(self):
        """Complete runs and those that failed."""
        return len(self.runs) + len(self.failed)


# Reasons why runs failed that are named of one group.
REASONS_MAX = 2


def usable(group, remarks):
    """The group with complete runs, each of them once; which others there are stands in `failed` and `missing`."""
    kept, seen, failed, missing = [], {}, list(group.failed), dict(group.missing)
    for run in group.runs:
        if run.status in ("interrupted", RUNNING):
            missing[run.status] = missing.get(run.status, 0) + 1
            continue
        if run.status != "complete":
            why = str((run.record.get("failure") or {}).get("what") or "no reason is recorded")
            failed.append(Failure(str(run.directory), why, run.started_at))
            continue
        # Two measurements never have the same record: it has instants, processes and latencies.
        identities = [("directory", str(run.directory.resolve())), _simulation(run) if run.world == "simulation" else
                      ("measurement", json.dumps(run.record, sort_keys=True))]
        first = next((seen[identity] for identity in identities if identity in seen), None)
        if first is None:
            seen.update(dict.fromkeys(identities, run))
            kept.append(run)
            continue
        reason = ("it is the same directory" if first.directory.resolve() == run.directory.resolve() else
                  f"simulated with the same seed {run.plan.get('seed')}, plan and commit"
                  if run.world == "simulation" else "its record is the same")
        remarks.append(f"Counted once in {group.name}: {run.directory} is a copy of {first.directory}, not a "
                       f"repetition ({reason}).")
    made = Group(group.name, kept, failed, missing, group.not_set)
    # The caller has named those of the group that were missing before.
    remarks += why_not_there(made if missing != group.missing else dataclasses.replace(made, missing={}))
    return made


def why_not_there(group):
    """Sentences on the runs of a group that are not complete."""
    sentences = []
    if group.failed:
        reasons = collections.Counter(failure.why for failure in group.failed).most_common()
        told = listed([why.rstrip(".") + (f" ({number} times)" if number > 1 and len(reasons) > 1 else "")
                       for why, number in reasons], REASONS_MAX, "; ")
        sentences.append(f"{len(group.failed)} of {counted(group.made, 'run')} of {group.name} failed: {told} (first: "
                         f"{group.failed[0].name}).")
    if group.missing:
        sentences.append(f"Runs of {group.name} that are missing: " +
                         ", ".join(f"{number} {state}" for state, number in group.missing.items()) + ".")
    return sentences


def refuse_empty(groups):
    """Raises ReportError if no group has a complete run."""
    if not any(group.runs for group in groups):
        reasons = [sentence for group in groups for sentence in why_not_there(group)]
        raise ReportError(" ".join(["no complete run in any setting;", *reasons[:4]]).rstrip("."))


def _simulation(run):
    """Simulations that have this in common are the same, byte for byte."""
    environment = run.record["environment"]
    return ("simulation", tuple(sorted(run.plan.items())), environment.get("weir_commit"),
            environment.get("weir_version"))


def refuse_shared_runs(groups):
    owners = {}
    for group in groups:
        for run in group.runs:
            other = owners.setdefault(str(run.directory.resolve()), group)
            if other is not group:
                raise ReportError(f"{run.directory} is in {other.name} and in {group.name}; "
                                  "a run can be on one side only")


def plan_differences(groups):
    """Options whose values are not the same in all runs: {option: [values in each group, as text]}."""
    options = dict.fromkeys(option for group in groups for run in group.runs for option in run.plan)
    differences = {}
    for option in options:
        if option in NEVER_A_DIFFERENCE:
            continue
        values = [list(dict.fromkeys(str(run.plan.get(option, "not given")) for run in group.runs))
                  for group in groups]
        if len({value for of_group in values for value in of_group}) > 1:
            differences[option] = [" or ".join(of_group) or "-" for of_group in values]
    return differences


def are_network_settings(differences):
    """Whether these differences are between simulated networks only, each group having one of its own."""
    return all(option in OF_THE_NETWORK and not any(" or " in value for value in values)
               for option, values in differences.items())


def describe_plan_differences(differences, groups):
    """slots: 10 in the baseline, 2 in the new runs; ... Of many groups: slots: 10 or 2."""
    if len(groups) > NAMED_GROUPS:
        return "; ".join(f"{option}: {' or '.join(dict.fromkeys(map(str, values)))}"
                         for option, values in differences.items())
    return "; ".join(f"{option}: " + ", ".join(f"{value} in {group.name}" for value, group in zip(values, groups))
                     for option, values in differences.items())


def worlds_and_versions(groups):
    remarks, groups = [], [group for group in groups if group.runs]
    worlds = [{run.world for run in group.runs} for group in groups]
    if len(set.union(*worlds)) > 1:
        names = {"measurement": "measured", "simulation": "simulated"}
        counts = [", ".join(f"{sum(run.world == world for run in group.runs)} {names[world]}"
                            for world in sorted(of_group)) + f" in {group.name}"
                  for group, of_group in zip(groups, worlds)]
        remarks.append(f"Measured and simulated runs are mixed: {'; '.join(counts)}. Their differences are those of "
                       "the model as well as those of the network.")
    of_baseline = {_simulation(run) for run in groups[0].runs if run.world == "simulation"}
    for group in groups[1:]:
        copies = sum(run.world == "simulation" and _simulation(run) in of_baseline for run in group.runs)
        if copies:
            remarks.append(f"Copies: {copies} of {counted(len(group.runs), 'run')} in {group.name} simulated with "
                           f"the same seed, plan and commit as runs in {groups[0].name}; they cannot differ.")
    versions = [list(dict.fromkeys(str(run.record["environment"].get("weir_version")) for run in group.runs))
                for group in groups]
    if len({version for of_group in versions for version in of_group}) > 1:
        remarks.append("Different versions of weir: " + "; ".join(
            f"{' and '.join(of_group)} in {group.name}" for group, of_group in zip(groups, versions)) + ".")
    return remarks
