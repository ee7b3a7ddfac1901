"""Applies what `weir explain` advises to the plan that was simulated: the remedy's words, read as a user would."""

import re

WIRE = (4096 + 82) / 4096  # links are advised as payload, plans have RoCE on the wire
UNITS = {"b/s": 1, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12}
TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
SIZES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
OPTIONS = r"--(slots|streams|requests|outstanding|window) (\d+)"


def without(plan, *starts):
    return {**plan, "fault": [fault for fault in plan["fault"] if not fault.startswith(starts)]}


def quantity(text, units):
    number, unit = text.split()
    return float(number) * units[unit]


def links(plan, role, wire):
    return {**without(plan, f"degrade:{role}="), f"{role}-link": f"{wire / 1e6:.3f}Mb/s"}


def link_of(plan, role, index, wire):
    plan = without(plan, f"degrade:{role}={index},")
    usual = str(plan[f"{role}-link"]).split(",")[0]
    return {**plan, f"{role}-link": f"{usual},{index}={wire / 1e6:.3f}Mb/s"}


def scaled_busy(plan, seconds):
    kind = plan["busy"].split(":")[0]
    return {**plan, "busy": f"{kind}:{seconds * 1e6:.3f}us"}


def named_ranks(text):
    """"the scheduler and consumers 1 and 2": "scheduler", "consumer=1", "consumer=2"; a role alone where not all are named."""
    found = ["scheduler"] if "the scheduler" in text else []
    for role, indices in re.findall(r"(producer|consumer)s? ((?:\d+(?:, | and )?)+)", text):
        found += [role] if " more" in text else [f"{role}={index}" for index in re.findall(r"\d+", indices)]
    return found


def without_ranks(plan, kind, ranks):
    return without(plan, *(f"{kind}:{rank}" + ("," if "=" in rank else "") for rank in named_ranks(ranks)))


def parts_of(found):
    """The remedy, or both of a pair: each begins with what is to be done or had."""
    if not found["causes"][0]["together_with"]:
        return [found["remedy"]]
    return re.split(r" and (?=--|an? |keep |look |leave |processing |producers' |consumers' )", found["remedy"])


def one(plan, remedy):
    """The plan with one remedy; None: its words are not known here."""
    if found := re.search(OPTIONS, remedy):
        return {**plan, found[1]: int(found[2])}
    if found := re.fullmatch(r"(producers|consumers)' links of ([\d.]+ \S+) \(--\S+\)", remedy):
        return links(plan, found[1][:-1], quantity(found[2], UNITS) * WIRE)
    if found := re.fullmatch(r"(producers|consumers)' links ([\d.]+) times as fast \(--\S+\)", remedy):
        role = found[1][:-1]
        speeds = [float(part.split("=")[-1].removesuffix("Mb/s")) for part in plan[f"{role}-link"].split(",")]
        return {**without(plan, f"degrade:{role}="), f"{role}-link": f"{min(speeds) * float(found[2]):.3f}Mb/s"}
    if found := re.fullmatch(r"a link of ([\d.]+ \S+) for (producer|consumer)s? (\d+) \(--\S+\)", remedy):
        return link_of(plan, found[2], int(found[3]), quantity(found[1], UNITS) * WIRE)
    if found := re.fullmatch(r"processing that takes ([\d.]+ \S+) on average \(--busy\)", remedy):
        return scaled_busy(without(plan, "slow:consumer"), quantity(found[1], TIMES))
    if found := re.fullmatch(r"a scheduler that needs ([\d.]+ \S+) for a message \(--scheduler-time\)", remedy):
        return {**without(plan, "slow:scheduler"), "scheduler-time": f"{quantity(found[1], TIMES) * 1e6:.3f}us"}
    if found := re.fullmatch(r"a --latency of ([\d.]+ \S+)", remedy):
        return {**without(plan, "delay:"), "latency": f"{quantity(found[1], TIMES) * 1e6:.3f}us"}
    if found := re.fullmatch(r"a --buffer of ([\d.]+ \S+)", remedy):
        return {**plan, "buffer": f"{int(quantity(found[1], SIZES))}B"}
    if found := re.fullmatch(r"an --event-size of (\d+) B", remedy):
        return {**plan, "event-size": f"{found[1]}B"}
    if found := re.fullmatch(r"leave --(shaping|high-water) out", remedy):
        return {name: value for name, value in plan.items() if name not in (found[1], "low-water" if found[1] == "high-water" else "")}
    if found := re.fullmatch(r"keep (.+) running", remedy):
        return without_ranks(plan, "pause", found[1])
    if found := re.fullmatch(r"keep (.+) from being lost", remedy):
        return without_ranks(plan, "die", found[1])
    if found := re.fullmatch(r"look for what slows (.+) down", remedy):
        return without_ranks(plan, "slow", found[1])
    return None


def applied(plan, found):
    """The plan with the first remedy, or with both of a pair; and which it was."""
    remedy = found["remedy"]
    changed = plan
    for part in parts_of(found):
        step = one(changed, part)
        if step is None:
            return plan, f"? {part}"
        changed = step
    return changed, remedy


def with_rate(plan, rate):
    return {**plan, "rate": rate}
