"""What was run for a comparison, as one line of words: layout, load, network, length, hosts, dates, versions."""

from __future__ import annotations

from .units import counted

# (options, words): shown with the values of all runs.
_LOAD = (("rate", "{} per producer"), ("interval", "sets every {}"), ("event-size", "events of {}"))
_LINKS = (("producer-link", "links of producers {}"), ("consumer-link", "of consumers {}"))
_LENGTH = (("duration", "runs of {}"), ("warmup", "after a warm-up of {}"))
VALUES_MAX = 3


def described(groups):
    """Of all runs of all groups; what differs between them stands with its values. '' if there are none."""
    runs = [run for group in groups for run in group.runs]
    if not runs:
        return ""
    parts = [_layout(runs), _load(runs), *_shown(runs, _LINKS), *_shown(runs, (("transport", "transport {}"), ("network", "network model {}"))),
             *_shown(runs, _LENGTH), _hosts(runs), _dates(runs), _versions(runs)]
    text = ", ".join(part for part in parts if part)
    return text[:1].upper() + text[1:] + "."


def _values(runs, option):
    return list(dict.fromkeys(str(run.plan[option]) for run in runs if run.plan.get(option) not in (None, "")))


def _either(values):
    shown = values if len(values) <= VALUES_MAX else [*values[:VALUES_MAX - 1], f"{len(values) - VALUES_MAX + 1} others"]
    return " or ".join(shown)


def _shown(runs, options):
    return [words.format(_either(values)) for option, words in options if (values := _values(runs, option))]


def _layout(runs):
    return _either(list(dict.fromkeys(f"{run.resolved['producers']} -> {run.resolved['consumers']}" for run in runs
                                      if {"producers", "consumers"} <= run.resolved.keys())))


def _load(runs):
    full = [run.resolved.get("generation") == "saturate" for run in runs]
    if all(full):
        return ", ".join(["full load", *_shown(runs, _LOAD[2:])])
    return ", ".join(_shown(runs, _LOAD))


def _hosts(runs):
    names = {rank["host"] for run in runs for rank in run.record.get("ranks", ()) if rank.get("host")}
    return counted(len(names), "host") if names and all(run.world == "measurement" for run in runs) else ""


def _dates(runs):
    instants = sorted(run.started_at for run in runs if run.started_at is not None and run.world == "measurement")
    if not instants:
        return ""
    first, last = (f"{instant:%Y-%m-%d %H:%M}" for instant in (instants[0], instants[-1]))
    return f"begun {first}" + (f" to {last}" if last != first else "")


def _versions(runs):
    return "weir " + _either(list(dict.fromkeys(str(run.record["environment"].get("weir_version")) for run in runs)))
