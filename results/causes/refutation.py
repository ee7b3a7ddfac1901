"""Compares the causes that a measured run names with its own rows: the files of its ranks, and nothing of what the
verdict was made from."""

import csv
import re

UNITS = {"b/s": 1, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12, "us": 1e-6, "ms": 1e-3, "s": 1.0, "ns": 1e-9}


def rows_of(directory):
    """{name of rank: rows of the measured time and of the drain}"""
    found = {}
    for path in sorted((directory / "ranks").glob("rank-*.csv")):
        with path.open(newline="") as file:
            found[path.stem] = [row for row in csv.DictReader(file) if row["phase"] != "warmup"]
    return found


def of_role(rows, role):
    return [rank for name, rank in rows.items() if name.endswith(role)]


def total(ranks, column, phase="measure"):
    return sum(float(row[column] or 0) for rank in ranks for row in rank if phase in ("", row["phase"]))


def quantity(text, unit):
    match = re.search(r"([0-9.]+) (" + unit + r")\b", text)
    return float(match[1]) * UNITS[match[2]] if match else None


def refuted(record, directory):
    """The first sentence that rows refute, with what they have; "" if there is none."""
    rows, verdict = rows_of(directory), record["verdict"]
    late = total(of_role(rows, "producer"), "late_sets", "")
    if verdict["on_time"] and late > 0:
        return f"on time, and rows count {late:.0f} late sets"
    if not verdict["on_time"] and verdict["late_sets"] > 0 and late == 0:
        return "sets are called late, and rows count none"
    if verdict["on_time"] and verdict["sustained"] and verdict["causes"]:
        return "on time, and a cause is named"
    return next((against for cause in verdict["causes"] if (against := refuted_cause(cause, record, rows))), "")


def interfaces_of(record, role):
    """{name of rank: speed of its part of its host's interface}; a host's ranks of one role share it evenly."""
    speeds = {host["name"]: max((one.get("speed_bits_per_second") or 0
                                 for one in (host.get("settings") or {}).get("interfaces") or []), default=0)
              for host in record["hosts"]}
    there = [rank for rank in record["ranks"] if rank["role"] == role]
    return {f"{role} {rank['index']}": speeds.get(rank["host"], 0) / sum(one["host"] == rank["host"] for one in there)
            for rank in there}


def refuted_interface(text, record):
    """Against the speeds of interfaces: those said to be of one rank or of each of a role."""
    for match in re.finditer(r"[iI]nterfaces? of ((consumer|producer)(s| [0-9]+)) (?:has|have) ([0-9.]+ [kMGT]?b/s)(?! "
                             r"together)", text):
        speeds = interfaces_of(record, match[2])
        known = [speed for name, speed in speeds.items() if speed and match[3] in ("s", name.removeprefix(match[2]))]
        said = quantity(match[4], "[kMGT]?b/s")
        if known and any(abs(said - speed) > 0.01 * speed for speed in known):
            return f"{match[0]}, and it is {' and '.join(f'{speed / 1e6:.1f} Mb/s' for speed in sorted(set(known)))}"
    return ""


def refuted_cause(cause, record, rows):
    what, text = cause["what"], cause.get("text", "")
    if against := refuted_interface(text, record):
        return against
    where = cause.get("where")
    ranks = [rank for name, rank in rows.items() if where and int(name.split("-")[1]) == where["rank"]]
    producers, consumers, scheduler = (of_role(rows, role) for role in ("producer", "consumer", "scheduler"))
    role = {"consumer-links": "consumer", "producer-links": "producer"}.get(what)
    if role and where and where["role"] != role:
        return f"the link of a {role} is said to be that of {where['name']}"
    needed = {"slots": ((producers, "waiting_for_slot_s"), (scheduler, "waiting_for_slot_s")),
              "processing": ((consumers, "processing_s"),),
              "high-water": ((consumers, "withheld_slot_s"),), "streams": ((producers, "all_streams_s"),),
              "scheduler": ((scheduler, "handling_s"),), "consumer-links": ((ranks or consumers, "received_bytes"),),
              "producer-links": ((ranks or producers, "sent_bytes"),)}.get(what, ())
    if needed and all(total(*one) <= 0 for one in needed):
        return f"{what} is named, and rows have nothing of it"
    if what == "stalled-rank" and "generated only" not in text:
        longest = max((float(row["poll_gap_max_us"] or 0) for rank in ranks for row in rank), default=0) * 1e-6
        said = quantity(text.partition("for up to")[2], "s|ms|us")
        if longest < 0.01 or (said is not None and abs(said - longest) > 0.02 * longest):
            return f"{where['name']} is said to have stood still for {said} s, and its rows say {longest:.3f} s"
    if what in ("shaping", "outstanding", "requests",
                "high-water") and str(record["plan"].get(what) or "none") in ("none", "never", "0"):
        return f"--{what} is named, which was not given"
    moved = re.search(r"(consumers|producers) (?:received|moved) ([0-9.]+ [kMG]?b/s) each while data waited", text)
    if moved:
        role, column = (consumers, "received_bytes") if moved[1] == "consumers" else (producers, "sent_bytes")
        with_work = total(producers, "backlogged_s") / max(1, len(producers))
        rate = 8 * total(role, column) / max(1, len(role)) / max(1e-9, with_work)
        said = quantity(moved[2], "[kMG]?b/s")
        # Only producers that were held up count, and these have the most work.
        if not 0.5 * rate < said < 1.5 * rate:
            return f"{moved[0]}, and rows say {rate / 1e6:.1f} Mb/s"
    return ""
