"""What held a simulated run up, proved by simulating the plan again with one thing relaxed, then with two; and what weir named."""

import itertools
import shlex
import subprocess

import studies

FAST_LINK = "1Tb/s"
MANY = 64
LIMIT_S = 120  # for a simulation
OFF = ("--explain", "off")
# Fields of run.json with how a run went.
Outcome = dict


def words_of(plan):
    words = []
    for name, value in plan.items():
        if isinstance(value, list):
            for one in value:
                words += [f"--{name}", one]
        else:
            words += [f"--{name}", str(value)]
    return words


def command_of(plan):
    return shlex.join(["weir", "simulate", *words_of(plan)])


def simulate(weir, plan, extra=()):
    """The record of a simulation; {"refused": why} if it was, or did not end."""
    try:
        with studies.tried([weir, "simulate", *words_of(plan), *extra], scratch=studies.MEMORY, timeout=LIMIT_S) as (run, _, done):
            return run if run and done.returncode in (0, 3) else {"refused": (done.stderr or done.stdout).strip()[-300:]}
    except subprocess.TimeoutExpired:
        return {"refused": f"too dear: not over after {LIMIT_S} s"}


def outcome(record):
    """(good, late share, lost share, worst lateness)."""
    verdict = record["verdict"]
    totals = record["totals"]
    late = verdict["late_sets"] / verdict["sets"] if verdict.get("sets") else 0.0
    lost = (verdict.get("lost_events") or 0) / max(1, totals["generated_events"]) if "generated_events" in totals else \
        (verdict.get("lost_events") or 0) / max(1, totals["generated"]["events"])
    good = bool(verdict["sustained"]) and verdict["on_time"] is not False
    return {"good": good, "late": late, "lost": lost, "overflow": not verdict["sustained"]}


def suffices(before, after):
    """On time, or nine tenths of the lateness are gone."""
    if after["good"]:
        return True
    return before["late"] > 0 and after["late"] <= 0.1 * before["late"] and after["lost"] <= 0.1 * before["lost"]


def takes_part(before, after):
    """Something is better: worth a try together with another."""
    return after["late"] < 0.97 * before["late"] or after["lost"] < 0.97 * before["lost"]


def without_faults(plan, *starts):
    return {**plan, "fault": [fault for fault in plan["fault"] if not fault.startswith(starts)]}


def relaxed_links(plan, role):
    return {**without_faults(plan, f"degrade:{role}"), f"{role}-link": FAST_LINK}


def relaxed_link_of(plan, role, index):
    faults = [fault for fault in plan["fault"] if not (fault.startswith(f"degrade:{role}={index},"))]
    return {**plan, "fault": faults, f"{role}-link": f"{plan[f'{role}-link']},{index}={FAST_LINK}"}


def dropped(plan, *names):
    return {name: value for name, value in plan.items() if name not in names}


def more(plan, name):
    return {**plan, name: MANY} if int(plan.get(name, 4)) < MANY else plan


def smaller_events(plan):
    return {**plan, "event-size": f"{max(1000, int(plan['event-size'].removesuffix('B')) // 8)}B"}


def larger_buffer(plan):
    if "buffer" not in plan:
        return plan
    return {**plan, "buffer": f"{int(plan['buffer'].removesuffix('B')) * 16}B"}


# What is relaxed for each cause, cheapest remedy first.
RELAX = {
    "shaping": lambda plan: dropped(plan, "shaping"),
    "outstanding": lambda plan: dropped(plan, "outstanding"),
    "requests": lambda plan: {**plan, "requests": 4096} if plan.get("initiation") == "pull" else plan,
    "high-water": lambda plan: dropped(plan, "high-water", "low-water"),
    "slots": lambda plan: more(plan, "slots"),
    "streams": lambda plan: more(plan, "streams"),
    "window": lambda plan: {**plan, "window": MANY} if plan.get("network") == "packet" else plan,
    "buffer": larger_buffer,
    "stalled-rank": lambda plan: without_faults(plan, "pause:"),
    "lost-consumers": lambda plan: without_faults(plan, "die:", "cut:"),
    "scheduler": lambda plan: {**without_faults(plan, "slow:scheduler"), "scheduler-time": "0us"},
    "control-latency": lambda plan: {**without_faults(plan, "delay:"), "latency": "0us"},
    "processing": lambda plan: dropped(without_faults(plan, "slow:consumer"), "busy"),
    "event-size": smaller_events,
    "pfc": lambda plan: {**plan, "pfc": "off"} if plan.get("pfc") == "on" else plan,
    "ecn": lambda plan: {**plan, "ecn": "off"} if plan.get("ecn") == "on" else plan,
    "switch-loss": lambda plan: {**plan, "pfc": "on"} if plan.get("pfc") == "off" else plan,
    "consumer-links": lambda plan: relaxed_links(plan, "consumer"),
    "producer-links": lambda plan: relaxed_links(plan, "producer"),
}
PAIRS_MAX = 21


def prove(weir, plan, before, planted, relaxed=None):
    """Kinds that suffice alone; if there is none, pairs that do; and how many simulations that took."""
    alone = []
    helpful = []
    simulations = 0
    relaxed = relaxed or RELAX
    for kind, relax in relaxed.items():
        changed = relax(plan)
        if changed == plan:
            continue
        record = simulate(weir, changed, OFF)
        simulations += 1
        if "refused" in record:
            continue
        after = outcome(record)
        if suffices(before, after):
            alone.append(kind)
        elif takes_part(before, after) or kind in planted:
            helpful.append(kind)
    pairs = []
    if not alone:
        for first, second in list(itertools.combinations(helpful or list(relaxed), 2))[:PAIRS_MAX]:
            changed = relaxed[second](relaxed[first](plan))
            record = simulate(weir, changed, OFF)
            simulations += 1
            if "refused" not in record and suffices(before, outcome(record)):
                pairs.append(f"{first}+{second}")
    return alone, pairs, simulations


def named_by(record):
    """(what, where, share, text) of the first cause; what is "none" without one. Of records of before verdict.causes, their words."""
    verdict = record["verdict"]
    causes = verdict.get("causes")
    if causes is None:
        return verdict.get("cause", "none"), "", 0, verdict["text"]
    if not causes:
        return "none", "", 0, ""
    first = causes[0]
    where = (first.get("where") or {}).get("name", "")
    return first["what"], where, first["share"], first["text"]


# Words of rules that name classes, for the comparison with them: a class is right if one of its causes suffices.
CLASSES = {"consumers_blocked": {"processing", "slots", "high-water"}, "scheduler": {"scheduler", "control-latency"},
           "network": {"consumer-links", "producer-links", "slots", "streams", "window", "switch-loss", "pfc", "ecn"},
           "producer_late": {"stalled-rank"}, "losses": {"switch-loss", "host-loss"}, "buffer": {"buffer"},
           "consumers_lost": {"lost-consumers"}}


def judge(what, where, alone, pairs, weir=None, plan=None, before=None):
    """right, false, wrong rank, not-told, or unproved where nothing suffices, not even two. A cause at one rank is held to its rank."""
    if what in ("not-told", "none"):
        return "not-told" if alone or pairs or what == "not-told" else "right"
    meant = CLASSES.get(what, {what})
    enough = set(alone) if alone else {kind for pair in pairs for kind in pair.split("+")}
    if not meant & enough:
        return "unproved" if not enough else "false"
    role, _, index = where.partition(" ")
    if what == "stalled-rank" and plan is not None:
        rank = role if not index else f"{role}={index}"
        return "right" if any(fault.startswith((f"pause:{rank},", f"slow:{rank},")) for fault in plan["fault"]) else "wrong rank"
    if what in ("consumer-links", "producer-links") and index and what in alone and plan is not None:
        record = simulate(weir, relaxed_link_of(plan, role, index), OFF)
        return "right" if "refused" not in record and suffices(before, outcome(record)) else "wrong rank"
    return "right"
