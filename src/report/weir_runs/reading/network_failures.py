"""Failures of a simulated network, in a table: what failed when, what it cost, and when loads were even again."""

from ..basics.units import counted, instant, text

HEADER = ("what failed", "from", "to", "packets lost", "bytes lost", "longest silence of a flow",
          "loads even again after")


def table(run):
    """Rows of texts, and what watchdogs and deadlocks add in sentences; None if nothing of the network failed."""
    failures = (run.record.get("switch") or {}).get("failures")
    if not failures or not failures["faults"]:
        return None
    return {"columns": HEADER, "rows": [_row(fault) for fault in failures["faults"]],
            "sentences": [*_watchdog(failures), *_deadlock(failures)]}


def lost_packets(record):
    """Of what failed and of watchdogs, in a run.json; what switches drop is counted elsewhere."""
    failures = (record.get("switch") or {}).get("failures") or {}
    watchdog = failures.get("watchdog") or {}
    lost = [fault["lost"] for fault in failures.get("faults") or []] + ([watchdog["dropped"]] if watchdog else [])
    return sum(part["packets"] for part in lost)


def _row(fault):
    lost = fault["lost"]
    silence = "-" if not fault["gaps"] else text(fault["longest_gap_s"], "s")
    if fault["open_gaps"]:
        silence += f", for {counted(fault['open_gaps'], 'flow')} to the end"
    return [fault["fault"], instant(fault["begin_s"]), "the end" if fault["end_s"] is None
            else instant(fault["end_s"]),
            f"{lost['packets']}", text(lost["bytes"], "B") if lost["bytes"] else "0 B", silence,
            text(fault.get("loads_even_after_s"), "s")]  # runs of versions before this field do not have it


def _watchdog(failures):
    watchdog = failures["watchdog"]
    if watchdog and watchdog["storms_detected"]:
        yield ("Watchdogs of switches found a queue paused for too long "
               f"{counted(watchdog['storms_detected'], 'time')}, and dropped "
               f"{counted(watchdog['dropped']['packets'], 'packet')}.")


def _deadlock(failures):
    first = next((event for event in failures["events"] if event["what"] == "deadlocked"), None)
    if first:
        yield (f"From {instant(first['at_s'])} on these links waited for each other in a circle: "
               f"{', '.join(first['cycle'])}.")
