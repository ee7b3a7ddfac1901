"""Random plans for bench/study causes: healthy ones, and ones with a limit planted. A plan is a dict of options of `weir simulate`, in which
`fault` is a list. The same seed gives the same plan."""

import random

# What can be planted in a fluid network, and where a plan must have room for it.
KINDS = ("consumer-links", "consumer-link", "producer-links", "producer-link", "slots", "processing", "streams", "scheduler",
         "control-latency", "shaping", "outstanding", "requests", "high-water", "stalled-rank", "lost-consumers", "buffer", "event-size")
BUILDS = {"outstanding", "requests"}  # only with --pattern build
NOT_BUILDS = {"lost-consumers"}       # only without
# Packet by packet: dearer, so fewer and smaller. The window holds back nothing in a fluid.
PACKET_KINDS = ("consumer-links", "consumer-link", "producer-links", "producer-link", "slots", "processing", "control-latency", "window")
WIRE = 1.03  # payload to wire, RoCE with 4096 bytes and a little more


def bits(value):
    return f"{value / 1e6:.3f}Mb/s"


def time_of(seconds):
    return f"{seconds * 1e6:.3f}us"


class Plan:
    """What is drawn first: a plan that is on time with some margin, and the figures by which limits are planted."""

    def __init__(self, seed, kinds, packet=False):
        self.draw = random.Random(seed)
        draw = self.draw
        builds = any(kind in BUILDS for kind in kinds) or \
            (draw.random() < 0.15 and not packet and not any(kind in NOT_BUILDS for kind in kinds))
        self.builds = builds
        self.producers = draw.randint(2, 4 if packet else 8)
        self.consumers = draw.randint(2, 4 if packet else 8)
        self.rate = 10 ** draw.uniform(8.5, 10.0) if not packet else draw.choice([1e9, 2e9, 4e9])
        self.interval = draw.choice([0.1] if packet else [0.2, 0.5, 1.0])
        self.duration = 1.0 if packet else draw.choice([2.0, 3.0, 4.0])
        set_bytes = self.rate * self.interval / 8
        per_set = draw.choice([8, 16, 32, 64]) if packet else draw.choice([10, 20, 40, 80, 160])
        self.event = max(20000, int(set_bytes / per_set))
        self.per_second = self.rate / 8 / self.event * (1 if builds else self.producers)  # events, of all
        self.to_consumer = self.rate * self.producers / self.consumers
        self.generation = "steady" if draw.random() < 0.3 else "sets"
        self.slots = draw.randint(4, 8)
        self.streams = draw.randint(4, 8)
        # A consumer's room is bounded by what its producers can send: more than a link's worth of events at a time.
        self.producer_speed = self.rate * draw.uniform(2.0, 5.0) * WIRE
        self.consumer_speed = self.to_consumer * draw.uniform(2.0, 5.0) * WIRE
        messages = (3 + self.producers) if builds else 3
        self.scheduler_time = min(2e-6, 0.1 / (self.per_second * messages))
        self.messages = self.per_second * messages
        self.latency = min(20e-6, 0.05 * self.event * 8 / min(self.producer_speed, self.consumer_speed))
        self.options = {
            "producers": self.producers, "consumers": self.consumers, "rate": bits(self.rate), "interval": time_of(self.interval),
            "generation": self.generation, "event-size": f"{self.event}B", "slots": self.slots, "streams": self.streams,
            "producer-link": bits(self.producer_speed), "consumer-link": bits(self.consumer_speed), "latency": time_of(self.latency),
            "scheduler-time": time_of(self.scheduler_time), "duration": time_of(self.duration),
            "warmup": "200ms" if packet else "500ms", "drain": "1s", "seed": seed, "fault": []}
        if builds:
            self.options["pattern"] = "build"
            self.options["initiation"] = "pull" if "requests" in kinds or draw.random() < 0.5 else "push"
        elif draw.random() < 0.2:
            self.options["policy"] = draw.choice(["token", "round-robin", "random"])
        if draw.random() < 0.5:
            self.options["chunk-size"] = f"{max(4096, self.event // draw.choice([4, 16, 32]))}B"
        if draw.random() < 0.25 and "processing" not in kinds:
            self.options["busy"] = f"exponential:{time_of(self.busy(0.25))}"
        if packet:
            self.options["network"] = "packet"
            self.options["pfc"] = draw.choice(["on", "off"])
            self.options["ecn"] = draw.choice(["on", "off"])

    def busy(self, load):
        """Time for an event with which consumers work for this share of theirs."""
        return load * self.consumers / self.per_second

    def scarce(self):
        return self.draw.uniform(0.6, 0.95)

    def fault(self, text):
        self.options["fault"].append(text)

    # One for each kind. `self.options` is changed so that this, more or less surely, is too little.

    def links_of_all(self, role, needed, speed, count):
        """Slow by their nature, or hidden: interfaces whose nominal speed is above the link's."""
        wanted = needed * self.scarce() * WIRE
        if self.draw.random() < 0.5:
            self.options[f"{role}-link"] = bits(wanted)
            return
        for index in range(count):
            self.fault(f"degrade:{role}={index},factor={wanted / speed:.4f}")

    def consumer_links(self):
        self.links_of_all("consumer", self.to_consumer, self.consumer_speed, self.consumers)

    def consumer_link(self):
        self.fault(f"degrade:consumer={self.draw.randrange(self.consumers)}{self.since()},factor={10 ** self.draw.uniform(-2, -0.8):.4f}")

    def producer_links(self):
        self.links_of_all("producer", self.rate, self.producer_speed, self.producers)

    def producer_link(self):
        factor = self.rate * self.scarce() * WIRE / self.producer_speed
        self.fault(f"degrade:producer={self.draw.randrange(self.producers)}{self.since()},factor={factor:.4f}")

    def since(self):
        """From the beginning, or from the middle on."""
        return "" if self.draw.random() < 0.6 else f",at={time_of(self.duration * self.draw.uniform(0.2, 0.6))}"

    def slots_(self):
        self.options["slots"] = 1
        # The slot is empty while its credit and a grant travel, so that its events keep it below the rate.
        transfer = self.event * 8 / self.consumer_speed
        wanted = self.consumers / self.per_second / self.scarce()
        if self.draw.random() < 0.5 and wanted > transfer:
            self.options["latency"] = time_of(max(self.latency, (wanted - transfer) / 3))
        else:
            self.options["busy"] = f"exponential:{time_of(max(1e-6, self.busy(self.draw.uniform(0.5, 0.85))))}"

    def processing(self):
        self.options["busy"] = f"{self.draw.choice(['exponential', 'fixed'])}:{time_of(self.busy(1 / self.scarce()))}"

    def streams_(self):
        self.options["streams"] = 1
        transfer = self.event * 8 / self.producer_speed
        each = (self.rate / 8 / self.event)
        wanted = 1 / each / self.scarce()
        if wanted > transfer:
            self.options["latency"] = time_of(max(self.latency, (wanted - transfer) / 3))

    def scheduler(self):
        self.options["scheduler-time"] = time_of(self.draw.uniform(1.05, 2.5) / self.messages)

    def control_latency(self):
        """So long that the slots of all consumers, or the streams of a producer, are empty too often."""
        slots = self.slots * self.consumers / self.per_second
        streams = self.streams / (self.rate / 8 / self.event) if not self.builds else slots
        self.options["latency"] = time_of(min(slots, streams) / 2 / self.scarce())

    def shaping(self):
        self.options["shaping"] = f"bucket:{bits(self.rate * self.scarce())},burst={max(self.event, 65536)}B"

    def outstanding(self):
        self.options["outstanding"] = self.draw.randint(1, 2)
        wanted = self.options["outstanding"] / self.per_second / self.scarce()
        self.options["latency"] = time_of(max(self.latency, wanted / 4))

    def requests(self):
        self.options["requests"] = 1
        fragments = self.per_second * self.producers / self.consumers
        wanted = 1 / fragments / self.scarce()
        transfer = self.event * 8 / self.consumer_speed
        self.options["latency"] = time_of(max(self.latency, (wanted - transfer) / 2))

    def high_water(self):
        self.options["high-water"] = 1
        self.options["low-water"] = 0
        self.options["busy"] = f"exponential:{time_of(self.busy(self.draw.uniform(0.5, 0.85)))}"

    def stalled_rank(self):
        who = self.draw.choice([f"producer={self.draw.randrange(self.producers)}", f"consumer={self.draw.randrange(self.consumers)}",
                                "scheduler"])
        for _ in range(self.draw.choice([1, 1, 1, 3])):
            at = self.draw.uniform(0.1, 0.6) * self.duration
            self.fault(f"pause:{who},at={time_of(at)},for={time_of(self.interval * self.draw.uniform(0.9, 2.0))}")

    def lost_consumers(self):
        self.options["on-failure"] = "continue"
        self.options["silence-timeout"] = "500ms"
        gone = self.draw.sample(range(self.consumers), self.draw.randint(1, max(1, self.consumers - 1)))
        at = 0.3 * self.duration
        for index in gone:
            self.fault(f"die:consumer={index},at={time_of(at)},back={time_of(at + self.draw.uniform(0.6, 1.5))}")

    def buffer(self):
        self.options["generation"] = "sets"
        self.options["buffer"] = f"{max(self.event, int(self.rate * self.interval / 8 * self.draw.uniform(0.3, 0.9)))}B"

    def event_size(self):
        """A set is so few events that some consumer gets one too many for the time."""
        self.options["generation"] = "sets"
        set_bytes = self.rate * self.interval / 8
        self.options["event-size"] = f"{int(0.999 * set_bytes / self.draw.choice([1, 2]))}B"
        self.options["slots"] = self.options["streams"] = 1
        self.options["consumer-link"] = bits(self.to_consumer * self.draw.uniform(1.1, 1.4) * WIRE)
        self.options["producer-link"] = bits(self.rate * self.draw.uniform(1.1, 1.4) * WIRE)


    def window(self):
        """One chunk under way for each stream, which its way there and back does not cover."""
        chunk = max(4096, self.event // 64)
        self.options["chunk-size"] = f"{chunk}B"
        self.options["window"] = 1
        self.options["streams"] = self.draw.randint(1, 2)
        round_trip = self.options["streams"] * chunk * 8 / (self.rate * self.scarce())
        self.options["latency"] = time_of(max(self.latency, (round_trip - chunk * 8 / self.producer_speed) / 2))


PLANT = {"consumer-links": Plan.consumer_links, "consumer-link": Plan.consumer_link, "producer-links": Plan.producer_links,
         "producer-link": Plan.producer_link, "slots": Plan.slots_, "processing": Plan.processing, "streams": Plan.streams_,
         "scheduler": Plan.scheduler, "control-latency": Plan.control_latency, "shaping": Plan.shaping,
         "outstanding": Plan.outstanding, "requests": Plan.requests, "high-water": Plan.high_water, "stalled-rank": Plan.stalled_rank,
         "lost-consumers": Plan.lost_consumers, "buffer": Plan.buffer, "event-size": Plan.event_size, "window": Plan.window}


def draw_plan(seed, packets_one_in=20):
    """(options, what was planted): one limit of 13 plans in 20, two of four, three of one, none of two."""
    draw = random.Random(f"kind {seed}")
    packet = packets_one_in > 0 and draw.randrange(packets_one_in) == 0
    choice = PACKET_KINDS if packet else KINDS
    number = draw.choices([1, 2, 3, 0], weights=[13, 4, 1, 2])[0]
    kinds = draw.sample(choice, number)
    if BUILDS & set(kinds):
        kinds = [kind for kind in kinds if kind not in NOT_BUILDS]
    plan = Plan(seed, kinds, packet)
    for kind in kinds:
        PLANT[kind](plan)
    return plan.options, kinds
