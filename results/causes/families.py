"""Plans for bench/study causes bench: families, each of which plants one limit, some, or none. A plan is drawn from
its family's name and a seed, so that the same pair gives the same plan on every machine.

What is drawn first is on time with some margin: links have room for two to five times the load. `planted` has what was
then made too little, as (cause, rank); the rank is "" where all of a role, or none, are meant. Whether that holds the
run up is not said here: truth.py simulates it.
"""

import collections
import random
from functools import partial

WIRE = (4096 + 82) / 4096  # wire to payload, of RoCE
FLUID, SWITCH, BETWEEN = "fluid", "one switch", "between hosts"
INTERVAL_S = {FLUID: (0.2, 0.5), SWITCH: (0.05,), BETWEEN: (0.05,)}


def bits(value):
    return f"{value / 1e6:.3f}Mb/s"


def time_of(seconds):
    return f"{seconds * 1e6:.3f}us"


class Plan:
    """`options` are those of `weir simulate`; `fault` and `switch-set` are lists. `given`: what the family fixes."""

    def __init__(self, draw, seed, group, given):
        self.draw, self.planted = draw, []
        fluid = group == FLUID
        self.builds = given.get("pattern") == "build"
        self.producers, self.consumers = (draw.randint(2, 6 if fluid else 4) for _ in range(2))
        self.interval = draw.choice(INTERVAL_S[group])
        self.duration = draw.choice([2.0, 3.0]) if fluid else 0.3
        self.rate = 10 ** draw.uniform(8.5, 10) if fluid else draw.choice([3e8, 6e8, 1e9])
        self.event = max(20000, int(self.rate * self.interval / 8 / draw.choice([10, 20, 40] if fluid else [8, 16])))
        self.slots, self.streams = draw.randint(4, 8), draw.randint(4, 8)
        self.speed = {"producer": self.rate * draw.uniform(2, 5) * WIRE,
                      "consumer": self.to_consumer() * draw.uniform(2, 5) * WIRE}
        self.latency = min(20e-6, 0.05 * self.event * 8 / min(self.speed.values()))
        self.options = {"producers": self.producers, "consumers": self.consumers, "rate": bits(self.rate),
                        "interval": time_of(self.interval), "generation": draw.choice(["sets", "sets", "steady"]),
                        "event-size": f"{self.event}B", "slots": self.slots, "streams": self.streams,
                        "producer-link": bits(self.speed["producer"]), "consumer-link": bits(self.speed["consumer"]),
                        "latency": time_of(self.latency),
                        "scheduler-time": time_of(min(2e-6, 0.03 / self.per_second())),
                        "duration": time_of(self.duration), "warmup": "400ms" if fluid else "100ms",
                        "drain": "20s" if fluid else "3s", "seed": seed, "fault": [], "switch-set": [], **given}
        if draw.random() < 0.5:
            self.options["chunk-size"] = f"{max(4096, self.event // draw.choice([4, 16, 32]))}B"
        if not fluid:
            self.options.update(network="packet", pfc=draw.choice(["on", "off"]), ecn=draw.choice(["on", "off"]))

    # Figures of the plan.

    def to_consumer(self):
        return self.rate * self.producers / self.consumers

    def per_second(self):
        """Events, of all."""
        return self.rate / 8 / self.event * (1 if self.builds else self.producers)

    def messages(self):
        """That the scheduler handles each second. Of events that come one by one: an offer, in event building of each
        producer, and that it is done. Offers of a set come together."""
        steady = self.options["generation"] == "steady"
        return self.per_second() * ((2 if steady else 1) + (self.producers * (1 if steady else 0.5) if self.builds
                                                            else 0))

    def needed(self, role):
        """On the wire of a link."""
        return WIRE * (self.rate if role == "producer" else self.to_consumer())

    def count(self, role):
        return self.producers if role == "producer" else self.consumers

    def busy(self, load):
        """Time for an event with which consumers work for this share of theirs."""
        return load * self.consumers / self.per_second()

    def share(self, given=None):
        return given or self.draw.uniform(0.6, 0.95)

    # How limits are planted. `share`: of what is needed, there is so much.

    def plants(self, what, share=0.0, rank=""):
        if share < 1:
            self.planted.append((what, rank))

    def fault(self, text):
        self.options["fault"].append(text)

    def set_keys(self, **keys):
        """Of the switch: ecn_none__below is ecn.none-below."""
        for key, value in keys.items():
            self.options = with_key(self.options, key.replace("__", "-").replace("_", ".", 1), value)

    def latency_of(self, cycle, role):
        """So long that a transfer, and three messages that follow one another, take a `cycle`."""
        self.options["latency"] = time_of(max(self.latency, (
            cycle - self.event * 8 * WIRE / self.speed[role]) / 3))

    def links(self, role, share=None, hidden=False):
        """`hidden`: interfaces say more than their links carry."""
        share = self.share(share)
        if hidden:
            for index in range(self.count(role)):
                self.fault(f"degrade:{role}={index},factor={self.needed(role) * share / self.speed[role]:.4f}")
        else:
            self.options[f"{role}-link"] = bits(self.needed(role) * share)
        self.plants(f"{role}-links", share)

    def link(self, role, when="always", share=None):
        """Of one rank: a consumer's is so slow that one event takes too long, since others take what it cannot."""
        index = self.draw.randrange(self.count(role))
        event = self.event * 8 * WIRE * (self.producers if self.builds else 1)
        wanted = event / (self.interval * self.draw.uniform(0.8, 4)) if role == "consumer" and not share else \
            self.needed(role) * self.share(share)
        slow = wanted / self.speed[role]
        begin = self.duration * self.draw.uniform(0.3, 0.6)
        if when == "declared":
            self.options[f"{role}-link"] += f",{index}={bits(slow * self.speed[role])}"
        elif when == "comes and goes":
            for number in range(3):
                self.fault(f"degrade:{role}={index},at={time_of((0.1 + 0.3 * number) * self.duration)},"
                           f"for={time_of(0.2 * self.duration)},factor={slow / 3:.4f}")
        else:
            since = f",at={time_of(begin)}" if when == "later" else ""
            self.fault(f"degrade:{role}={index}{since},factor={slow:.4f}")
        self.plants(f"{role}-links", share or 0, f"{role} {index}")

    def slots_by_latency(self, share=None):
        share = self.share(share)
        self.options["slots"] = 1
        self.latency_of(self.consumers / self.per_second() / share, "consumer")
        self.plants("slots", share)

    def slots_by_processing(self, share=None):
        self.options["slots"] = 1
        load = self.draw.uniform(0.7, 0.92)
        if share:  # a transfer takes what processing leaves
            load = 1 / share - self.event * 8 * WIRE / self.speed["consumer"] * self.per_second() / self.consumers
        self.options["busy"] = f"{'fixed' if share else 'exponential'}:{time_of(self.busy(load))}"
        self.plants("slots", share or 0)

    def processing(self, share=None, kind="exponential"):
        share = self.share(share)
        self.options["busy"] = f"{kind}:{time_of(self.busy(1 / share))}"
        self.plants("processing", share)

    def slow_consumer(self):
        """What it cannot do is too much for the others."""
        load, index = self.draw.uniform(1.05, 1.3) * (1 - 1 / self.consumers), self.draw.randrange(self.consumers)
        load = min(0.8, load) if self.options.get("policy") != "round-robin" else 0.3  # then they do not take it over
        self.options["busy"] = f"exponential:{time_of(self.busy(load))}"
        self.fault(f"slow:consumer={index},factor={self.draw.uniform(5, 30):.1f}")
        self.plants("processing", rank=f"consumer {index}")

    def one_stream(self):
        self.options["streams"] = 1
        self.latency_of(self.event * 8 / self.rate / self.share(), "producer")
        self.plants("streams")

    def scheduler(self, share=None, slow=False):
        """`slow`: slower than the plan says."""
        if share or self.builds:
            self.options["generation"] = "steady"
        share = self.share(share)
        wanted, now = 1 / self.messages() / share, float(self.options["scheduler-time"].removesuffix("us")) * 1e-6
        if slow:
            self.fault(f"slow:scheduler,factor={wanted / now:.2f}")
        else:
            self.options["scheduler-time"] = time_of(wanted)
        self.plants("scheduler", share)

    def control_latency(self, delay=False):
        """So long that the slots of all consumers, or the streams of a producer, are empty too often. `delay`: of
        control messages only."""
        slots = self.slots * self.consumers / self.per_second()
        long = min(slots, slots if self.builds else self.streams * self.event * 8 / self.rate) / 2 / self.share()
        if delay:
            self.fault(f"delay:extra={time_of(2 * long)}")
        else:
            self.options["latency"] = time_of(long)
        self.plants("control-latency")

    def option(self, what):
        """`what` is the cause, too. For some of them the way is longer, so that they are too small."""
        draw, wanted = self.draw, self.latency
        if what == "shaping":
            self.options["shaping"] = f"bucket:{bits(self.rate * self.share())},burst={max(self.event, 65536)}B"
        elif what == "outstanding":
            self.options["outstanding"] = draw.randint(1, 2)
            wanted = self.options["outstanding"] / self.per_second() / self.share() / 4
        elif what == "requests":
            self.options["requests"] = 1
            cycle = self.event * 8 / self.to_consumer() / self.share()
            wanted = (cycle - self.event * 8 * WIRE / self.speed["consumer"]) / 2
        elif what == "buffer":
            room = max(self.event, int(self.rate * self.interval / 8 * draw.uniform(0.3, 0.9)))
            self.options.update(generation="sets", buffer=f"{room}B")
        elif what == "high-water":
            busy = time_of(self.busy(draw.uniform(0.7, 0.92)))
            self.options.update({"high-water": 1, "low-water": 0, "busy": f"exponential:{busy}"})
        else:  # a window of one chunk for each stream, which its way there and back does not cover
            chunk, streams = max(4096, self.event // 64), draw.randint(1, 2)
            self.options.update({"chunk-size": f"{chunk}B", "window": 1, "streams": streams})
            wanted = (streams * chunk * 8 / (self.rate * self.share()) - chunk * 8 * WIRE / self.speed["producer"]) / 2
        if wanted > self.latency:
            self.options["latency"] = time_of(wanted)
        self.plants(what)

    def stall(self, role, times=1):
        index = "" if role == "scheduler" else self.draw.randrange(self.count(role))
        rank = role if role == "scheduler" else f"{role}={index}"
        for number in range(times):
            at = (0.15 + (number + 0.4 * self.draw.random()) * 0.7 / times) * self.duration
            length = self.interval * self.draw.uniform(1, 2)
            self.fault(f"pause:{rank},at={time_of(at)},for={time_of(length)}")
        self.plants("stalled-rank", rank=f"{role} {index}".strip())

    def lost(self, most=1):
        self.options.update({"on-failure": "continue", "silence-timeout": "500ms"})
        at = 0.3 * self.duration
        for index in self.draw.sample(range(self.consumers), min(self.draw.randint(min(2, most), most),
                                                                       self.consumers)):
            self.fault(f"die:consumer={index},at={time_of(at)},back={time_of(at + self.draw.uniform(0.6, 1.5))}")
            self.plants("lost-consumers", rank=f"consumer {index}")

    def event_size(self):
        """A set is so few events that some consumer gets one too many for the time."""
        self.event = int(0.999 * self.rate * self.interval / 8 / self.draw.choice([1, 2]))
        self.options.update({"generation": "sets", "event-size": f"{self.event}B", "slots": 1, "streams": 1})
        self.options.pop("chunk-size", None)
        for role in ("producer", "consumer"):
            self.options[f"{role}-link"] = bits(self.needed(role) * self.draw.uniform(1.1, 1.4))
        self.plants("event-size")

    # Settings of one switch: producers compete for the ports of consumers.

    def contended(self, **options):
        draw = self.draw
        self.producers, self.consumers, self.rate = draw.randint(4, 6), draw.randint(2, 3), 1e9
        self.event, self.slots = int(self.rate * self.interval / 8 / draw.choice([4, 8])), draw.randint(2, 8)
        self.speed = {"producer": self.needed("producer") * draw.uniform(1.3, 3),
                      "consumer": self.needed("consumer") * draw.uniform(1.15, 1.8)}
        self.options.pop("chunk-size", None)
        self.options.update({"producers": self.producers, "consumers": self.consumers, "rate": bits(self.rate),
                             "event-size": f"{self.event}B", "slots": self.slots, "pfc": "off", "ecn": "off",
                             "latency": time_of(draw.uniform(2e-6, 1e-5)), "scheduler-time": "0.2us",
                             **{f"{role}-link": bits(speed) for role, speed in self.speed.items()}, **options})
        self.set_keys(switch_pool="1GB", nic_ack__timeout=draw.choice(["1ms", "4ms", "16.777216ms", "67.108864ms"]))

    def switch_loss(self):
        """A part of what may be under way has room, and at least the headroom of a port; losses are noticed late."""
        self.contended(window=16)
        self.set_keys(switch_pool=f"{int(10 ** self.draw.uniform(5.18, 5.7))}B",
                      nic_ack__timeout=self.draw.choice(["16.777216ms", "67.108864ms"]))
        self.options["loss-recovery"] = self.draw.choice(["go-back-n", "selective"])
        self.plants("switch-loss")

    def ecn(self):
        draw, below = self.draw, int(10 ** self.draw.uniform(3.3, 4.3))
        self.contended(ecn="on", pfc=draw.choice(["on", "off"]))
        self.set_keys(ecn_none__below=f"{below}B", ecn_all__above=f"{int(below * draw.uniform(1.5, 20))}B",
                      ecn_probability=f"{10 ** draw.uniform(-1, 0):.3f}",
                      dcqcn_rate__period=draw.choice(["300us", "1500us"]),
                      dcqcn_additive__increase=bits(10 ** draw.uniform(5.7, 7)),
                      dcqcn_hyper__increase=bits(10 ** draw.uniform(5.7, 7)))
        self.plants("ecn")

    def pfc(self):
        """Who sends to the slow consumer is paused for what it sends to the others, too."""
        self.contended(pfc="on")
        self.set_keys(switch_ingress__threshold=f"{int(10 ** self.draw.uniform(3.7, 5))}B")
        index = self.draw.randrange(self.consumers)
        self.fault(f"degrade:consumer={index},factor={self.draw.uniform(0.1, 0.6):.3f}")
        self.plants("pfc")
        self.plants("consumer-links", rank=f"consumer {index}")

    def datagrams(self, lost):
        """Programs read them more slowly than they come, or a port holds less than a burst."""
        self.options.update({"transport": "datagram", "generation": "steady", "streams": 1, "slots": 2})
        for name in ("chunk-size", "pfc", "ecn", "network"):
            self.options.pop(name, None)
        room = int(self.event * self.draw.uniform(0.05, 0.4))
        if lost == "host-loss":
            self.options.update({"socket-buffer": f"{room}B", "port-buffer": "100000000B"})
            self.set_keys(host_read__time=time_of(1472 * 8 / self.speed["consumer"] * self.draw.uniform(1.1, 1.8)))
        else:
            self.options["port-buffer"] = f"{room}B"
        self.plants(lost)

    # Leaf and spine, with packets sprayed, so that cables between switches are even.

    def leaf_spine(self):
        self.spines = self.draw.randint(1, 3)
        first = (2 + self.producers + self.consumers) // 2  # hosts of a leaf: scheduler, producers, some consumers
        producers = min(self.producers, first - 1)
        consumers = first - 1 - producers
        most = max(producers * (self.consumers - consumers), (self.producers - producers) * consumers)
        self.up = WIRE * self.rate * most / self.consumers  # from a leaf
        self.cable = self.up * self.draw.uniform(2, 5) / self.spines
        self.set_keys(topology_kind="leaf-spine", topology_leaves=2, topology_spines=self.spines,
                      balancing_kind="spray", nic_reorder="1MB", failures_convergence="20ms",
                      topology_uplink__rate=bits(self.cable))

    def uplinks(self):
        self.leaf_spine()
        self.set_keys(topology_uplink__rate=bits(self.up * self.share() / self.spines))
        self.plants("uplinks")

    def of_network(self, fault):
        self.leaf_spine()
        draw = self.draw
        link = f"link=leaf-0:spine-{draw.randrange(self.spines)}"
        lasts = (f",at={time_of(self.duration * draw.uniform(0.1, 0.4))}"
                 f",for={time_of(self.interval * draw.uniform(0.9, 2))}")
        if fault == "slow cable":
            self.fault(f"degrade:{link},factor={self.up * self.share() / self.spines / self.cable:.4f}")
        elif fault == "lossy cable":
            self.fault(f"errors:{link},share={10 ** draw.uniform(-3, -1):.2g}")
        elif fault == "cut cable":
            self.fault(f"cut:{link}{lasts}" + (",disconnects" if self.spines == 1 else ""))
        else:
            self.options["pfc"] = "on"
            self.fault(f"storm:host=consumer-{draw.randrange(self.consumers)}{lasts}")
        self.plants("network-failure")

    def other_traffic(self):
        """Goes first, and leaves too little of the consumers' links, of the producers' or of those between switches."""
        self.leaf_spine()
        share = self.share()
        of_host = min((self.speed["consumer"] - share * self.needed("consumer")) * self.consumers / self.producers,
                      self.speed["producer"] - share * self.needed("producer"),
                      (self.cable * self.spines - share * self.up) * self.rate * WIRE / self.up)
        self.set_keys(switch_strict=1, nic_strict=1, background_rate=bits(of_host))
        self.plants("other-traffic")

    def busy_but_enough(self):
        self.options["busy"] = f"exponential:{time_of(self.busy(self.draw.uniform(0.1, 0.3)))}"

    def at_random(self, number):
        for name in self.draw.sample(TOGETHER, number):
            SINGLE[name](self)


def without_key(plan, key):
    return {**plan, "switch-set": [setting for setting in plan["switch-set"] if not setting.startswith(key + "=")]}


def with_key(plan, key, value):
    return {**plan, "switch-set": [*without_key(plan, key)["switch-set"], f"{key}={value}"]}


# -------------------------------------------------------------------------------------------------------- the families

Family = collections.namedtuple("Family", "group given plants")  # each of `plants` is called with the plan
BUILD_PUSH, BUILD_PULL = ({"pattern": "build", "initiation": way} for way in ("push", "pull"))


def with_roles(name, plant, **more):
    return {name.format(role): partial(plant, role=role, **more) for role in ("consumer", "producer")}


SINGLE = {
    **with_roles("links of {}s", Plan.links),
    **with_roles("links of {}s, hidden", Plan.links, hidden=True),
    **with_roles("link of a {}", Plan.link),
    **with_roles("link of a {}, declared", Plan.link, when="declared"),
    **with_roles("link of a {}, later", Plan.link, when="later"),
    **with_roles("link of a {}, comes and goes", Plan.link, when="comes and goes"),
    "slots, latency": Plan.slots_by_latency,
    "slots, processing": Plan.slots_by_processing,
    "processing, exponential": Plan.processing,
    "processing, fixed": partial(Plan.processing, kind="fixed"),
    "slow consumer": Plan.slow_consumer,
    "streams": Plan.one_stream,
    "scheduler": Plan.scheduler,
    "slow scheduler": partial(Plan.scheduler, slow=True),
    "control latency": Plan.control_latency,
    "control delay": partial(Plan.control_latency, delay=True),
    **{what: partial(Plan.option, what=what) for what in ("shaping", "high-water", "buffer")},
    **with_roles("stalled {}", Plan.stall),
    "stalled scheduler": partial(Plan.stall, role="scheduler"),
    **with_roles("{} stalls again and again", Plan.stall, times=3),
    "lost consumer": Plan.lost,
    "lost consumers": partial(Plan.lost, most=5),
    "event size": Plan.event_size,
}
VARIANTS = (("steady", {"generation": "steady"}, ("links of consumers", "links of producers", "slots, latency",
                                                  "processing, exponential", "link of a producer")),
            ("build, push", BUILD_PUSH, ("links of consumers", "link of a producer", "slots, latency",
                                         "processing, fixed", "scheduler", "stalled consumer")),
            ("build, pull", BUILD_PULL, ("links of consumers, hidden", "links of producers", "link of a consumer",
                                         "processing, exponential", "control latency")),
            ("round robin", {"policy": "round-robin"}, ("links of producers", "link of a consumer", "slow consumer")),
            ("token", {"policy": "token"}, ("links of consumers", "link of a producer", "stalled producer")))
NEAR = ("links of consumers", "links of producers", "processing, fixed", "slots, latency", "slots, processing",
        "scheduler")
PAIRS = (("links of consumers", "links of producers"), ("links of consumers", "processing, exponential"),
         ("link of a producer", "slots, processing"), ("scheduler", "link of a consumer"),
         ("shaping", "stalled consumer"), ("processing, exponential", "lost consumer"),
         ("stalled producer", "links of producers"), ("link of a producer", "link of a consumer"))
TOGETHER = ("links of consumers", "links of producers", "link of a consumer", "link of a producer", "slots, processing",
            "processing, exponential", "slow consumer", "scheduler", "control latency", "stalled consumer", "shaping",
            "high-water", "buffer")
PACKETS = ("links of consumers", "links of producers", "link of a consumer", "link of a producer", "slots, processing",
           "processing, exponential", "control latency")
FAMILIES = {
    **{name: Family(FLUID, {}, [plant]) for name, plant in SINGLE.items()},
    "outstanding": Family(FLUID, BUILD_PUSH, [partial(Plan.option, what="outstanding")]),
    "requests": Family(FLUID, BUILD_PULL, [partial(Plan.option, what="requests")]),
    **{f"{name}; {variant}": Family(FLUID, given, [SINGLE[name]]) for variant, given, names in VARIANTS
       for name in names},
    **{f"{name}; {text}": Family(FLUID, {}, [partial(SINGLE[name], share=share)]) for name in NEAR
       for text, share in (("just enough", 1.03), ("just too little", 0.97))},
    **{" and ".join(names): Family(FLUID, {}, [SINGLE[name] for name in names]) for names in PAIRS},
    "two at random": Family(FLUID, {}, [partial(Plan.at_random, number=2)]),
    "three at random": Family(FLUID, {}, [partial(Plan.at_random, number=3)]),
    "on time": Family(FLUID, {}, []),
    "on time, busy": Family(FLUID, {}, [Plan.busy_but_enough]),
    "on time, build": Family(FLUID, BUILD_PUSH, [Plan.busy_but_enough]),
    **{name: Family(FLUID, {}, [plant]) for name, plant in with_roles(
        "slower link of a {}, enough", Plan.link, when="declared", share=1.3).items()},
    **{f"packets: {name}": Family(SWITCH, {}, [SINGLE[name]]) for name in PACKETS},
    "packets: window": Family(SWITCH, {}, [partial(Plan.option, what="window")]),
    "packets: on time": Family(SWITCH, {}, []),
    "switch: memory": Family(SWITCH, {}, [Plan.switch_loss]),
    "switch: marks": Family(SWITCH, {}, [Plan.ecn]),
    "switch: pauses": Family(SWITCH, {}, [Plan.pfc]),
    "switch: on time": Family(SWITCH, {}, [Plan.contended]),
    "datagrams: sockets": Family(SWITCH, {}, [partial(Plan.datagrams, lost="host-loss")]),
    "datagrams: switch": Family(SWITCH, {}, [partial(Plan.datagrams, lost="switch-loss")]),
    "fabric: uplinks": Family(BETWEEN, {}, [Plan.uplinks]),
    **{f"fabric: {fault}": Family(BETWEEN, {}, [partial(Plan.of_network, fault=fault)])
       for fault in ("slow cable", "lossy cable", "cut cable", "storm")},
    "fabric: traffic of others": Family(BETWEEN, {}, [Plan.other_traffic]),
    "fabric: on time": Family(BETWEEN, {}, [Plan.leaf_spine]),
}


def draw_plan(name, seed):
    """(options, [(what was planted, the rank)])."""
    family = FAMILIES[name]
    plan = Plan(random.Random(f"{name} {seed}"), seed, family.group, family.given)
    for plant in family.plants:
        plant(plan)
    return plan.options, plan.planted


def chosen(text, seed, plans):
    """(family, seed) of so many plans: families in turn, each plan with the next seed. `text`: a family, or a part of
    the names of several."""
    names = [text] if text in FAMILIES else [name for name in FAMILIES if text in name]
    return [(names[(seed + number) % len(names)], seed + number) for number in range(plans if names else 0)]
