"""The rows of LHCb 2021 packet by packet: is 74 Gb/s the most, what tops come out, who is blocked for good, and which
flow control.

Parts: settings (rows 1 to 4 with PFC, ECN, both and neither), rate (row 3 at more and less than 69 events in a set),
tops (rows 1 and 2 for eight seconds), overload (six seconds of row 5). Each run is a line of
results/lhcb2021/packets.csv; what is stored is not run again. The choices are those of the scenario files. A second of
a row takes some 8 s of CPU time.
"""

import itertools
import shlex
import sys
import time

import model
import studies

SETTINGS = {"pfc": ("on", "off"), "ecn": ("off", "on"), "pfc+ecn": ("on", "on"), "neither": ("off", "off")}
PARTS = ("rate", "settings", "tops", "overload")
NAMES = ("part", "row", "setting", "switch", "events", "time_scale", "seconds", "seed", "late_share", "least_slack_s",
         "worst_late_s",
         *(name for name in model.MEASURED if name != "late_share"), "dropped_packets", "packets_sent_again",
         "pauses_sent",
         "marked_share", "queue_peak_bytes", "timeouts", "weir", "command")


def command(row, setting, switch, events, seconds):
    words = ["weir", "simulate", "--scenario", f"lhcb2021-{row}"]
    if setting == "fluid":
        words += ["--network", "fluid"]
    else:
        pfc, ecn = SETTINGS[setting]
        words += ["--network", "packet", "--switch", switch, "--pfc", pfc, "--ecn", ecn]
    if events:
        set_bytes = events * model.MIB128
        words += ["--rate", f"{set_bytes * 8}b/s", "--buffer", f"{2 * set_bytes}B"]
    return [*words, "--duration", f"{seconds}s", "--warmup", "1s", "--seed", "1"]


def point(part, row, setting, switch="shallow", *, events=None, seconds=2):
    return {"part": part, "row": row, "setting": setting, "switch": "" if setting == "fluid" else switch,
            "events": events or model.EVENTS_OF_128MIB[row], "time_scale": "1", "seconds": seconds, "seed": 1,
            "command": shlex.join(command(row, setting, switch, events, seconds))}


def all_points():
    for setting, events in itertools.product(("fluid", "pfc"), (68, 69, 70, 71)):
        yield point("rate", 3, setting, events=events)
    for row, setting in itertools.product((1, 3, 2, 4), ("fluid", *SETTINGS)):
        yield point("settings", row, setting)
    for row, setting in itertools.product((1, 3), ("ecn", "pfc+ecn")):
        yield point("settings", row, setting, "dcqcn-tuned")
    for row, setting in itertools.product((1, 2), ("fluid", "pfc")):
        yield point("tops", row, setting, seconds=8)
    for setting in ("fluid", "pfc"):
        yield point("overload", 5, setting, seconds=6)


def points(parts):
    return [one for one in all_points() if one["part"] in parts]


def run(weir, one):
    with studies.finished([weir, *shlex.split(one["command"])[1:]]) as (result, out):
        found = model.measured(out, result, one["row"], {"event": "128MiB"})
        switched = result.get("switch") or {}
        found.update({name: switched.get(name, "")
                      for name in ("dropped_packets", "packets_sent_again", "pauses_sent", "marked_share",
                                   "queue_peak_bytes", "timeouts")})
        found.update({**one, "least_slack_s": result["verdict"]["least_slack_s"],
                      "worst_late_s": result["verdict"]["worst_late_s"],
                      "weir": result["environment"]["weir_commit"][:12]})
        return {name: f"{value:.5g}" if isinstance(value, float) else value for name, value in found.items()}


def run_all(options):
    if unknown := set(options.parts) - set(PARTS):
        sys.exit(f"there is no part {unknown.pop()}; there are {', '.join(PARTS)}")
    file = options.out / "packets.csv"
    known, end = {line["command"] for line in studies.stored(file)}, time.monotonic() + 60 * options.minutes
    for one in points(options.parts or PARTS):
        if one["command"] not in known and time.monotonic() < end:
            print(one["command"], flush=True)
            studies.store(file, NAMES, run(options.weir, one), ("command",))
