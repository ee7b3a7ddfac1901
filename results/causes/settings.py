"""Plans for bench/study causes whose limit is a setting of the switch or of NICs: too little memory without PFC, marks that come too early and rates
that recover slowly, pauses that come too early.

One switch, packet by packet. Unlike in plans.py producers compete for the ports of consumers: several events are under way to one of them. The
truth is proved as in truth.py, with more memory to relax, and rates that are never cut.
"""

import fabrics
import plans
import truth

KINDS = ("switch-loss", "ecn", "pfc")
LEAST_POOL = 150_000  # bytes: a pool holds the headroom of a port


def lossless(plan):
    return {**plan, "pfc": "on"} if plan["pfc"] == "off" else plan


def with_much_memory(plan):
    for key in ("switch.ingress-threshold", "switch.egress-threshold"):
        plan = fabrics.without_key(plan, key)
    return fabrics.with_key(plan, "switch.pool", "1GB")


def never_slowed(plan):
    return fabrics.with_key({**plan, "ecn": "off"}, "dcqcn.on", "false")


def faster(plan, role):
    """By a half, and no more: what 1 Tb/s pours into a switch may be too much for it."""
    link = f"{role}-link"
    if plan[link] == truth.FAST_LINK:
        return plan
    return {**truth.without_faults(plan, f"degrade:{role}"), link: plans.bits(1.5e6 * float(plan[link].removesuffix("Mb/s")))}


# After the dot: another remedy of the same cause.
RELAX = {**{kind: relax for kind, relax in truth.RELAX.items() if kind not in KINDS},
         "switch-loss": with_much_memory,
         "switch-loss.lossless": lossless,
         "ecn": never_slowed,
         "pfc": lambda plan: {**plan, "pfc": "off"},
         "consumer-links.half": lambda plan: faster(plan, "consumer"),
         "producer-links.half": lambda plan: faster(plan, "producer")}


class SettingsPlan(plans.Plan):
    """With links that would do, and a switch that has memory enough and neither marks nor pauses."""

    def __init__(self, seed):
        super().__init__(seed, (), packet=True)
        draw = self.draw
        self.producers, self.consumers = draw.randint(4, 8), draw.randint(2, 4)
        self.interval, self.duration = 0.05, 0.5
        self.event = int(self.rate * self.interval / 8 / draw.choice([4, 8, 16]))
        self.to_consumer = self.rate * self.producers / self.consumers
        self.producer_speed = self.rate * draw.uniform(1.3, 3.0) * plans.WIRE
        self.consumer_speed = self.to_consumer * draw.uniform(1.15, 1.8) * plans.WIRE
        for name in ("busy", "chunk-size"):
            self.options.pop(name, None)
        self.options.update({
            "producers": self.producers, "consumers": self.consumers, "interval": plans.time_of(self.interval), "event-size": f"{self.event}B",
            "slots": draw.randint(2, 8), "streams": draw.randint(4, 8), "producer-link": plans.bits(self.producer_speed),
            "consumer-link": plans.bits(self.consumer_speed), "latency": plans.time_of(draw.uniform(2e-6, 10e-6)), "scheduler-time": "0.2us",
            "duration": plans.time_of(self.duration), "warmup": "100ms", "pfc": "off", "ecn": "off",
            "switch-set": ["switch.pool=1GB", f"nic.ack-timeout={draw.choice(['1ms', '4ms', '16.777216ms', '67.108864ms'])}"]})

    def set_key(self, key, value):
        self.options = fabrics.with_key(self.options, key, value)

    def switch_loss(self):
        """A part of what may be under way to a port has room."""
        draw = self.draw
        under_way = self.event * self.options["slots"] * self.consumers
        self.set_key("switch.pool", f"{max(LEAST_POOL, int(under_way * 10 ** draw.uniform(-2.5, -0.8)))}B")
        self.options["loss-recovery"] = draw.choice(["go-back-n", "selective"])
        self.options["ecn"] = draw.choice(["off", "on"])

    def ecn(self):
        draw = self.draw
        self.options.update(ecn="on", pfc=draw.choice(["on", "off"]))
        below = int(10 ** draw.uniform(3.3, 4.7))
        self.set_key("ecn.none-below", f"{below}B")
        self.set_key("ecn.all-above", f"{int(below * draw.uniform(1.5, 40))}B")
        self.set_key("ecn.probability", f"{10 ** draw.uniform(-1.5, 0):.3f}")
        self.set_key("dcqcn.rate-period", draw.choice(["55us", "300us", "1500us"]))
        for increase in ("additive", "hyper"):
            self.set_key(f"dcqcn.{increase}-increase", plans.bits(10 ** draw.uniform(5.7, 7.6)))

    def pfc(self):
        draw = self.draw
        self.options["pfc"] = "on"
        self.set_key("switch.ingress-threshold", f"{int(10 ** draw.uniform(3.7, 5.3))}B")
        if draw.random() < 0.7:  # who sends to this one is paused for what it sends to the others, too
            self.fault(f"degrade:consumer={draw.randrange(self.consumers)},factor={draw.uniform(0.1, 0.6):.3f}")
        self.options["ecn"] = draw.choice(["off", "off", "on"])


PLANT = {"switch-loss": SettingsPlan.switch_loss, "ecn": SettingsPlan.ecn, "pfc": SettingsPlan.pfc}


def draw_plan(seed):
    return fabrics.drawn_with("setting", seed, SettingsPlan(seed), PLANT)


def measure(weir, seed):
    return fabrics.measure(weir, seed, draw_plan, RELAX)
