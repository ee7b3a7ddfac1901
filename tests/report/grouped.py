"""Jobs with several groups for tests: simulated runs as their groups, and the run.json that `weir simulate --groups`
writes beside them."""

import json
import shutil
from pathlib import Path

OPTIONS = ("--producers", "2", "--consumers", "3", "--rate", "400Mb/s", "--event-size", "2MB", "--duration", "3s",
           "--warmup", "1s")
# A consumer that is busy for so long does not keep up.
TOO_BUSY = ("--busy", "poisson:60ms", "--slots", "1")
SUMMED = ("generated_events", "generated_bytes", "sent_events", "sent_bytes", "received_events", "received_bytes",
          "lost_events", "lost_bytes")


def entry_of(directory, number):
    """What the job's record has of a group, from the group's own."""
    record = json.loads((directory / "run.json").read_text())
    resolved = record["plan"]["resolved"]
    rates = [rank["mean_bits_per_second"] for rank in record["ranks"] if rank["role"] == "consumer"]
    return {"group": number, "directory": directory.name, "status": record["status"], "failure": record["failure"],
            "seconds": record["seconds"], "producers": resolved["producers"], "consumers": resolved["consumers"],
            "hosts": [], "seed": int(record["plan"]["seed"]), "exit_status": 0, "goodput_bits_per_second": sum(rates),
            "clock_error_us": None, "verdict": record["verdict"], "totals": record["totals"]}


def lost_entry(number):
    return {"group": number, "directory": f"group-{number:02}", "status": "failed",
            "failure": {"what": "nothing came from this group"}, "verdict": None, "totals": None}


def groups_record(entries, plan, environment):
    judged = [entry for entry in entries if entry["verdict"] and entry["verdict"]["judged"]]
    failed = [entry for entry in entries if entry["status"] == "failed"]
    totals = [entry["totals"] for entry in entries if entry["totals"]]
    full = max(judged, key=lambda entry: entry["totals"]["max_occupancy"])
    overflowing = [entry["group"] for entry in judged if not entry["verdict"]["sustained"]]
    late = [entry["group"] for entry in judged if entry["verdict"]["late_sets"]]
    worst = sorted(entries,
                   key=lambda entry: (entry["status"] != "failed", entry["group"] not in overflowing,
                                      entry["group"] not in late, -((entry["totals"] or {}).get("max_occupancy") or 0)))
    sustained = "NOT sustained: " if overflowing else "Sustained: "
    return {
        "schema": "weir-groups/1", "status": "failed" if failed else "complete",
        "failure": {"what": f"group {failed[0]['group']}: {failed[0]['failure']['what']}", "group": failed[0]["group"]}
        if failed else None,
        "started_at": None, "seconds": min(entry["seconds"] for entry in judged), "labels": {},
        "verdict": {"judged": not failed, "sustained": None if failed else not overflowing, "on_time": not late,
                    "sets": sum(entry["verdict"]["sets"] for entry in judged),
                    "late_sets": sum(entry["verdict"]["late_sets"] for entry in judged),
                    "lost_events": sum(entry["verdict"]["lost_events"] for entry in judged),
                    "max_occupancy": full["totals"]["max_occupancy"],
                    "worst_group": full["group"], "unsustained_groups": overflowing, "late_groups": late,
                    "unjudged_groups": [entry["group"] for entry in entries if entry not in judged],
                    "worst_first": [entry["group"] for entry in worst],
                    "text": f"{sustained}{len(judged) - len(overflowing)} of {len(entries)} groups were sustained."},
        "totals": {**{name: sum(part[name] for part in totals) for name in SUMMED},
                   "max_occupancy": full["totals"]["max_occupancy"]},
        "goodput_bits_per_second": sum(entry["goodput_bits_per_second"] for entry in judged),
        "clock": {"error_us": None},
        "groups": entries, "plan": {**plan, "groups": str(len(entries))}, "environment": environment}


def make_groups(simulate, directory, groups):
    """A job in `directory`. `groups`: the options of each; None: nothing came from this one."""
    directory.mkdir()
    entries, first = [], None
    for number, options in enumerate(groups):
        if options is None:
            entries.append(lost_entry(number))
            continue
        place = directory / f"group-{number:02}"
        shutil.move(simulate("--seed", str(number + 1), *OPTIONS, *options), place)
        entries.append(entry_of(place, number))
        first = first or json.loads((place / "run.json").read_text())
    (directory / "run.json").write_text(json.dumps(groups_record(entries, first["plan"], first["environment"])))
    return Path(directory)
