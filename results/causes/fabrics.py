"""Plans for bench/study causes whose limit lies between the hosts: cables between switches, a failure of the network, traffic of others.

Leaf and spine, packet by packet, with packets sprayed, so that cables between switches are even and what was planted can be computed. All
else is drawn as in plans.py. The truth is proved as in truth.py, with three things more to relax.
"""

import random
import re

import plans
import truth

STORED = ("seed", "planted", "late", "lost", "overflow", "alone", "pairs", "simulations", "proved", "proved_judged", "named", "where", "share", "judged",
          "weir", "command")
OF_NETWORK = ("cut:link", "cut:switch", "degrade:link", "errors:", "storm:")


def without_key(plan, key):
    return {**plan, "switch-set": [setting for setting in plan["switch-set"] if not setting.startswith(key + "=")]}


def with_key(plan, key, value):
    return {**plan, "switch-set": [*without_key(plan, key)["switch-set"], f"{key}={value}"]}


def without_others(plan):
    return without_key(plan, "background.rate")


RELAX = {**truth.RELAX,
         "lost-consumers": lambda plan: truth.without_faults(plan, "die:", "cut:consumer"),
         "network-failure": lambda plan: truth.without_faults(plan, *OF_NETWORK),
         "other-traffic": without_others,
         "uplinks": lambda plan: with_key(plan, "topology.uplink-rate", truth.FAST_LINK)}


class FabricPlan(plans.Plan):
    """On time with some margin, over two leaves."""

    def __init__(self, seed):
        super().__init__(seed, (), packet=True)
        draw = self.draw
        self.duration = 0.4
        self.spines = draw.randint(1, 3)
        hosts = 1 + self.producers + self.consumers
        first = (hosts + 1) // 2  # at the first leaf: the scheduler, producers, and what is left for consumers
        producers = min(self.producers, first - 1)
        consumers = first - 1 - producers
        parts = (producers * (self.consumers - consumers), (self.producers - producers) * consumers)  # up from each leaf
        self.up = self.rate * self.producers * max(parts) / (self.producers * self.consumers) * plans.WIRE
        self.uplink = self.up * draw.uniform(2.0, 5.0) / self.spines
        self.options.update(duration=plans.time_of(self.duration), warmup="100ms")
        self.options.pop("busy", None)
        self.options["switch-set"] = ["topology.kind=leaf-spine", "topology.leaves=2", f"topology.spines={self.spines}", "balancing.kind=spray",
                                      "nic.reorder=1MB", "failures.convergence=20ms", f"topology.uplink-rate={plans.bits(self.uplink)}"]

    def set_key(self, key, value):
        self.options = with_key(self.options, key, value)

    def uplinks(self):
        self.set_key("topology.uplink-rate", plans.bits(self.up * self.scarce() / self.spines))

    def network_failure(self):
        draw = self.draw
        at = self.duration * draw.uniform(0.1, 0.4)
        lasts = f"at={plans.time_of(at)},for={plans.time_of(0.1 * draw.uniform(0.9, 2.0))}"
        spine = draw.randrange(self.spines)
        kinds = ["slow", "errors", "cut"] + (["storm"] if self.options["pfc"] == "on" else [])
        kind = draw.choice(kinds)
        if kind == "slow":
            self.fault(f"degrade:link=leaf-0:spine-{spine},factor={self.up * self.scarce() / self.spines / self.uplink:.4f}")
        elif kind == "errors":
            self.fault(f"errors:link=leaf-0:spine-{spine},share={10 ** draw.uniform(-3, -1):.2g}")
        elif kind == "storm":
            self.fault(f"storm:host=consumer-{draw.randrange(self.consumers)},{lasts}")
        else:
            self.fault(f"cut:link=leaf-0:spine-{spine},{lasts}" + (",disconnects" if self.spines == 1 else ""))

    def other_traffic(self):
        """Goes first, and leaves too little of the consumers' links, of the producers' or of those between switches."""
        scarce, wire = self.scarce(), plans.WIRE
        of_host = min((self.consumer_speed - scarce * self.to_consumer * wire) * self.consumers / self.producers,
                      self.producer_speed - scarce * self.rate * wire,
                      (self.uplink * self.spines - scarce * self.up) * self.rate * wire / self.up)
        self.set_key("switch.strict", 1)
        self.set_key("nic.strict", 1)
        self.set_key("background.rate", plans.bits(of_host))


PLANT = {"uplinks": FabricPlan.uplinks, "network-failure": FabricPlan.network_failure, "other-traffic": FabricPlan.other_traffic}


def drawn_with(name, seed, plan, plant):
    """(options, what was planted): one of the kinds of `plant`, or, once in ten, none."""
    draw = random.Random(f"{name} {seed}")
    kind = None if draw.randrange(10) == 0 else draw.choice(list(plant))
    if kind:
        plant[kind](plan)
    return plan.options, kind


def draw_plan(seed):
    return drawn_with("fabric", seed, FabricPlan(seed), PLANT)


def judged(record, weir, plan, before, row):
    """(what is named, where, its share, right or what else)."""
    what, where, share, _ = truth.named_by(record)
    if before["good"]:
        return what, where, share, "right" if what == "none" else "false"
    return what, where, share, truth.judge(what, where, row["alone"].split(), row["pairs"].split(), weir, plan, before)


def told_again(weir, row, drawn):
    """The line with what the rules of this weir tell."""
    plan, _ = drawn(int(row["seed"]))
    record = truth.simulate(weir, plan, truth.OFF)
    if "refused" in record:
        return {**row, "judged": "refused"}
    what, where, share, verdict = judged(record, weir, plan, truth.outcome(record), row)
    return {**row, "named": what, "where": where, "share": f"{share:.3f}", "judged": verdict}


def measure(weir, seed, drawn=draw_plan, relaxed=None):
    """A line of fabrics.csv: the truth, what weir proves of it, and what its rules tell from the rows."""
    plan, planted = drawn(seed)
    told = truth.simulate(weir, plan, truth.OFF)
    row = dict.fromkeys(STORED, "") | {"seed": seed, "planted": planted or "none", "command": truth.command_of(plan)}
    if "refused" in told:
        return {**row, "judged": "refused", "command": f"{row['command']}: {told['refused']}"}
    before = truth.outcome(told)
    alone, pairs, simulations = [], [], 0
    if not before["good"]:
        alone, pairs, simulations = truth.prove(weir, plan, before, [planted], relaxed or RELAX)
        alone, pairs = (list(dict.fromkeys(re.sub(r"\.\w+", "", kind) for kind in kinds)) for kinds in (alone, pairs))
    row.update(late=f"{before['late']:.4f}", lost=f"{before['lost']:.6f}", overflow=int(before["overflow"]), alone=" ".join(alone),
               pairs=" ".join(pairs), simulations=simulations, weir=told["environment"]["weir_version"])
    what, where, share, verdict = judged(told, weir, plan, before, row)
    row.update(named=what, where=where, share=f"{share:.3f}", judged=verdict)
    proved, _, _, verdict = judged(truth.simulate(weir, plan, ("--explain", "fast", "--jobs", "1")), weir, plan, before, row)
    return {**row, "proved": proved, "proved_judged": verdict}
