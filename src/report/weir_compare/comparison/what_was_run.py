"""What was run for a comparison, as names and words: layout, load, network, length, hosts, dates, versions; and the
command."""

import shlex
import types

from weir_runs.basics import units
from weir_runs.basics.quantities import spaced
from weir_runs.reading import series

VALUES_MAX = 3  # that are named; of more the first two
COMMAND_MAX = 3000
# Options that belong to one run, or to how weir was called: not what was measured.
_IN_THE_OTHERS = ("scale", "time-scale", "scenario", "resolved")
_OF_EACH_RUN = ("out", "seed", "tag", "label", "output", "quiet", "json")


def facts(groups, sweep=None):
    """[(name, words)] of all runs of all groups; what differs between them stands with its values. Empty if there are
    none. `sweep`: name and file of a campaign."""
    runs = [run for group in groups for run in group.runs]
    if not runs:
        return []
    named = (("sweep", sweep), ("layout", _layout(runs)), ("load", _load(runs)), ("links", _links(runs)),
             ("path", _shown(runs, ("transport", "transport {}"), ("network", "network model {}"))),
             ("length", _shown(runs, ("duration", "{}"), ("warmup", "after a warm-up of {}"))), ("hosts", _hosts(runs)),
             ("begun", _dates(runs)),
             ("weir", _either(list(dict.fromkeys(str(run.record["environment"].get("weir_version")) for run in runs)))))
    return [(name, words) for name, words in named if words]


def facts_of_plan(plan, switch_file):
    """The same of runs that are to be simulated, by a dry run's plan, {option: text}, with the switch."""
    numbers = {role: int(plan[role]) for role in ("producers", "consumers") if str(plan.get(role, "")).isdigit()}
    run = types.SimpleNamespace(plan=plan, world="simulation",
                                resolved={**numbers, "generation": plan.get("generation")})
    on = ", ".join(name.upper() for name in ("pfc", "ecn") if plan.get(name) == "on")
    switch = " ".join(filter(None, (switch_file or plan.get("switch"), f"with {on}" if on else "")))
    named = (("traffic", _load([run])), ("layout", _layout([run])), ("links", _links([run])),
             ("switch", switch if plan.get("network") == "packet" else ""),
             ("length", _shown([run], ("duration", "{}"), ("warmup", "after a warm-up of {}"))))
    return [(name, words) for name, words in named if words]


def _values(runs, option):
    return list(dict.fromkeys(spaced(str(run.plan[option])) for run in runs if run.plan.get(option) not in (None, "")))


def _either(values):
    return " or ".join(values) if len(values) <= VALUES_MAX else units.listed(values, VALUES_MAX - 1)


def _shown(runs, *options):
    """`options`: (option, words) each; those that no run has are left out."""
    return ", ".join(words.format(_either(values)) for option, words in options if (values := _values(runs, option)))


def _layout(runs):
    numbers = [sorted({run.resolved[role] for run in runs if role in run.resolved})
               for role in ("producers", "consumers")]
    if not all(numbers):
        return ""
    return " to ".join(f"{_either(list(map(str, of_role)))} {role}{'' if of_role == [1] else 's'}"
                       for of_role, role in zip(numbers, ("producer", "consumer")))


def _load(runs):
    full = all(run.resolved.get("generation") == "saturate" for run in runs)
    at = "as fast as possible" if full else _shown(runs, ("rate", "{} per producer"), ("interval", "a set every {}"))
    return ", ".join(part for part in (at, _shown(runs, ("event-size", "events of {}"))) if part)


def _links(runs):
    """Speeds of the links of both roles, where they are known."""
    ends = [_either(list(dict.fromkeys(text for run in runs if (text := _link(run, role)))))
            for role in ("producer", "consumer")]
    if not any(ends):
        return ""
    if ends[0] == ends[1]:
        return ends[0]
    return ", ".join(f"{words} of {role}s" for words, role in zip(ends, ("producer", "consumer")) if words)


def _link(run, role):
    if run.world == "simulation":
        return spaced(str(run.plan.get(f"{role}-link") or ""))
    speed = series.line_rate(run, role)
    return units.text(speed, "b/s") if speed else ""


def _hosts(runs):
    if any(run.world != "measurement" for run in runs):
        return "none, simulated" if all(run.world == "simulation" for run in runs) else ""
    names = list(dict.fromkeys(rank["host"] for run in runs for rank in run.record.get("ranks", ())
                               if rank.get("host")))
    return f"{len(names)} ({units.listed(names, VALUES_MAX - 1)})" if names else ""


def _dates(runs):
    instants = sorted(run.started_at for run in runs if run.started_at is not None and run.world == "measurement")
    if not instants:
        return ""
    first, last = (f"{instant:%Y-%m-%d %H:%M}" for instant in (instants[0], instants[-1]))
    return first + (f" to {last}" if last != first else "") + " UTC"


def command(groups):
    """(title, words): the options that all runs were given, of simulations those in force, and the names of those in
    which they differ; None if nothing is known."""
    runs = [run for group in groups for run in group.runs]
    given = [[(option, value) for option, value in _given(run) if option not in _OF_EACH_RUN] for run in runs]
    if not any(given):
        return None
    first = given[0]
    common = [pair for pair in first if all(pair in of_run for of_run in given)]
    differing = sorted({option for of_run in given for option, value in of_run if (option, value) not in common})
    simulated = runs[0].world == "simulation"
    words = [] if simulated else ["weir", "run"]
    words += [word for option, value in common for word in (f"--{option}", value) if word]
    line = shlex.join(words) + "".join(f" --{option} ..." for option in differing)
    return ("options in effect" if simulated else "command of the runs",
            line if len(line) <= COMMAND_MAX else line[:COMMAND_MAX - 3] + "...")


def _given(run):
    """[(option, value)]. A simulation keeps no words of its command line, but all options in force, with scales and
    scenarios in them."""
    if run.world == "simulation":
        return [(option, str(value)) for option, value in run.plan.items() if option not in _IN_THE_OTHERS
                and value not in (None, "")]
    return [(entry.get("option"), str(entry.get("value"))) for entry in run.record["environment"].get("options_given")
            or ()
            if isinstance(entry, dict)]
