"""What held a simulated run up, proved by simulating the plan again with one thing relaxed, then with two; and whether
one rank's part of it is enough. Knows nothing of what weir names."""

import functools
import itertools
import shlex

import families
import studies

FAST_LINK = "1Tb/s"
MANY = 64
LIMIT_S = 120  # for a simulation, which needs a second at most: the machine may do other work
OFF = ("--explain", "off")
OF_NETWORK = ("cut:link", "cut:switch", "degrade:link", "errors:", "storm:")
PAIRS_MAX = 21
RANKS_MAX = 3  # with faults of one kind: of more of them, none is looked at alone


def words_of(plan):
    return [word for name, value in plan.items() for one in (value if isinstance(value, list) else [value])
            for word in (f"--{name}", str(one))]


def command_of(plan):
    return shlex.join(["weir", "simulate", *words_of(plan)])


def attempt(weir, plan, read, extra=OFF):
    """What read(record, directory) gives of a simulation; None if it was refused. subprocess.TimeoutExpired: too
    dear."""
    with studies.tried([weir, "simulate", *words_of(plan), *extra], scratch=studies.MEMORY,
                       timeout=LIMIT_S) as (record, directory, done):
        return read(record, directory) if record and done.returncode in (0, 3) else None


def outcome(record):
    """{good, and the shares of sets that were late and of events that were lost}. Where weir cannot judge what lasts,
    what was on time is good."""
    verdict = record["verdict"]
    return {"good": verdict["sustained"] is not False and verdict["on_time"] is not False,
            "late": verdict["late_sets"] / verdict["sets"] if verdict.get("sets") else 0.0,
            "lost": (verdict.get("lost_events") or 0) / max(1, record["totals"]["generated_events"])}


def outcome_of(weir, plan):
    return attempt(weir, plan, lambda record, _: outcome(record))


def is_good(weir, plan):
    """`plan`: None is not."""
    after = plan and outcome_of(weir, plan)
    return bool(after) and after["good"]


# ---------------------------------------------------------------------------------------------------------- relaxations


def without_faults(plan, *starts):
    return {**plan, "fault": [fault for fault in plan["fault"] if not fault.startswith(starts)]}


def dropped(plan, *names):
    return {name: value for name, value in plan.items() if name not in names}


def changed_if(condition, plan, **options):
    """`options`: high_water is high-water."""
    return {**plan, **{name.replace("_", "-"): value for name, value in options.items()}} if condition else plan


def more(plan, name):
    return changed_if(int(plan.get(name, 4)) < MANY, plan, **{name: MANY})


def larger(plan, option):
    return changed_if(option in plan, plan, **{option: f"{int(plan.get(option, 'B')[:-1] or 0) * 16}B"})


def links(plan, role):
    return {**without_faults(plan, f"degrade:{role}"), f"{role}-link": FAST_LINK}


def links_by_half(plan, role):
    """And no more: what 1 Tb/s pours into a switch may be too much for it."""
    speed = 1.5e6 * float(plan[f"{role}-link"].split("Mb/s")[0].removesuffix(FAST_LINK) or 0)
    return {**without_faults(plan, f"degrade:{role}"), f"{role}-link": families.bits(speed)} \
        if is_packets(plan) and speed else plan


def is_packets(plan):
    return plan.get("network") == "packet"


def with_much_memory(plan):
    if not is_packets(plan):
        return larger(plan, "port-buffer")
    for key in ("switch.ingress-threshold", "switch.egress-threshold"):
        plan = families.without_key(plan, key)
    return families.with_key(plan, "switch.pool", "1GB")


# What is relaxed for each cause; after a dot: another way.
RELAX = {
    "shaping": lambda plan: dropped(plan, "shaping"),
    "outstanding": lambda plan: dropped(plan, "outstanding"),
    "requests": lambda plan: changed_if(plan.get("initiation") == "pull", plan, requests=4096),
    "high-water": lambda plan: dropped(plan, "high-water", "low-water"),
    "slots": lambda plan: more(plan, "slots"),
    "streams": lambda plan: more(plan, "streams"),
    "window": lambda plan: changed_if(is_packets(plan), plan, window=MANY),
    "buffer": lambda plan: larger(plan, "buffer"),
    "stalled-rank": lambda plan: without_faults(plan, "pause:"),
    "lost-consumers": lambda plan: without_faults(plan, "die:", "cut:consumer"),
    "scheduler": lambda plan: {**without_faults(plan, "slow:scheduler"), "scheduler-time": "0us"},
    "control-latency": lambda plan: {**without_faults(plan, "delay:"), "latency": "0us"},
    "processing": lambda plan: dropped(without_faults(plan, "slow:consumer"), "busy"),
    "event-size": lambda plan: {**plan, "event-size": f"{max(1000, int(plan['event-size'][:-1]) // 8)}B"},
    "consumer-links": lambda plan: links(plan, "consumer"),
    "consumer-links.half": lambda plan: links_by_half(plan, "consumer"),
    "producer-links": lambda plan: links(plan, "producer"),
    "producer-links.half": lambda plan: links_by_half(plan, "producer"),
    "switch-loss": with_much_memory,
    "switch-loss.lossless": lambda plan: changed_if(is_packets(plan), plan, pfc="on"),
    "ecn": lambda plan: families.with_key({**plan, "ecn": "off"}, "dcqcn.on", "false") if is_packets(plan) else plan,
    "pfc": lambda plan: changed_if(is_packets(plan), plan, pfc="off"),
    "host-loss": lambda plan: dropped(plan, "socket-buffer"),
    "network-failure": lambda plan: without_faults(plan, *OF_NETWORK),
    "other-traffic": lambda plan: families.without_key(plan, "background.rate"),
    "uplinks": lambda plan: families.with_key(plan, "topology.uplink-rate", FAST_LINK)
    if "topology.kind=leaf-spine" in plan["switch-set"] else plan,
}
FAULTS = {"consumer-links": "degrade:", "producer-links": "degrade:", "processing": "slow:", "stalled-rank": "pause:",
          "lost-consumers": "die:"}


def relaxed_rank(plan, kind, rank):
    """The plan in which "consumer 3" is like the others; the plan itself where it is anyway. Not with a link of 1 Tb/s,
    which would take over what the others do."""
    role, _, index = rank.partition(" ")
    if kind.endswith("-links"):
        if kind != f"{role}-links":
            return plan
        usual, *own = plan[f"{role}-link"].split(",")
        own = [part for part in own if not part.startswith(f"{index}=")]
        plan = {**plan, f"{role}-link": ",".join([usual, *own])}
    fault = f"{role}={index}," if index else f"{role},"
    return without_faults(plan, FAULTS[kind] + fault) if kind in FAULTS else plan


def suspects(plan, kind):
    """Ranks of which this may be a matter, "consumer 3": those with faults, or links of their own; none where all of
    the role have."""
    role = kind.removesuffix("-links")
    begin = FAULTS.get(kind, "-") + (role if kind.endswith("-links") else "")
    found = [fault.removeprefix(FAULTS.get(kind, "")).split(",")[0].replace("=", " ") for fault in plan["fault"]
             if fault.startswith(begin)]
    own = str(plan.get(f"{role}-link", "")).split(",")[1:] if kind.endswith("-links") else []
    ranks = list(dict.fromkeys([*found, *(f"{role} {part.split('=')[0]}" for part in own)]))
    everyone = ranks and int(plan.get(f"{ranks[0].split()[0]}s", 0))
    return ranks if len(ranks) <= RANKS_MAX and len(ranks) != everyone else []


# --------------------------------------------------------------------------------------------------------------- proofs


def kind_of(name):
    return name.partition(".")[0]


def suffices(before, after):
    """On time, or nine tenths of the lateness are gone."""
    return after is not None and (after["good"] or before["late"] > 0 and after["late"] <= 0.1 * before["late"]
                                  and after["lost"] <= 0.1 * before["lost"])


def takes_part(before, after):
    """Something is better: worth a try together with another."""
    return after["late"] < 0.97 * before["late"] or after["lost"] < 0.97 * before["lost"]


class Truth:
    """Of a plan that was held up. alone: causes with which, if they are relaxed, it is on time; without any of these
    those that take away nine tenths. pairs: what is on time together, if nothing is alone, and if no two are, all that
    was planted. ranks: (cause, rank) where one rank's part of such a cause is enough."""

    def __init__(self, weir, plan, before):
        self.weir, self.plan, self.before = weir, plan, before
        self.alone, self.pairs, self.ranks = [], [], []

    def prove(self, planted):
        """By simulating; `planted`: causes that are tried in pairs in any case."""
        if self.before["good"]:
            return
        good, most, helpful = [], [], []
        for name, relax in RELAX.items():
            changed = relax(self.plan)
            after = changed != self.plan and outcome_of(self.weir, changed)
            if not after:
                continue
            if after["good"]:
                good.append(kind_of(name))
            elif suffices(self.before, after):
                most.append(kind_of(name))
            if suffices(self.before, after) or takes_part(self.before, after) or name in planted:
                helpful.append(name)
        self.alone = list(dict.fromkeys(good or most))
        if not good:
            pairs = [names for names in list(itertools.combinations(helpful, 2))[:PAIRS_MAX] if self.together(names)]
            if not pairs and len(planted) > 2 and self.together(sorted(planted)):
                pairs = [sorted(planted)]
            self.pairs = list(dict.fromkeys(tuple(kind_of(name) for name in names) for names in pairs))
        self.ranks = [(kind, rank) for kind in self.enough() for rank in suspects(self.plan, kind)
                      if self.rank_suffices(kind, rank)]

    def together(self, names, plan=None):
        return is_good(self.weir, functools.reduce(lambda changed, name: RELAX[name](changed), names,
                                                   plan or self.plan))

    def enough(self):
        return list(dict.fromkeys([*self.alone, *itertools.chain(*self.pairs)]))

    def rank_suffices(self, kind, rank):
        """One rank's part of a cause, with another cause where it takes two."""
        changed = relaxed_rank(self.plan, kind, rank)
        if changed == self.plan:
            return False
        if kind in self.alone:
            return suffices(self.before, outcome_of(self.weir, changed))
        return any(self.together([name for name in RELAX if kind_of(name) in pair and kind_of(name) != kind], changed)
                   for pair in self.pairs if kind in pair)
