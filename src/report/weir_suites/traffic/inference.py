"""Inference with prefill and decode on different workers: the caches of prompts travel from the one to the other.

A prefill worker computes the keys and values (KV) of all tokens of a prompt; a decode worker needs them to write the
answer. For each token, each layer keeps one key and one value vector per KV head:

    bytes per token = 2 x layers x KV heads x head dimension x bytes per value

The defaults are the published sizes of Llama 3 with 70 billion parameters: 80 layers, 8 KV heads (several query heads
share one), head dimension 128, 2 bytes: 320 KiB per token.

Prompts arrive at random (Poisson), wait for a free prefill worker, first come first served, and are computed one at a
time by each. Their cache is sent when the prefill is over, or layer by layer as layers are finished, in equal times.
The decode worker is the one that has got the fewest bytes so far, the next in turn, or a random one.

The trace is repeated every interval, so what would begin after the interval's end stands at its beginning: there it is
the rest of the repetition before.

Lengths of prompts: real ones are spread widely and have a long tail, for which a lognormal distribution stands: mean
2000 tokens with a deviation as large, half of them below 1414. Chat has shorter prompts, and whole documents have far
longer ones. Prefill of 20000 tokens per second and worker: some 140 Gflop per token (2 per parameter) on a worker of 8
accelerators with 350 Tflop/s each that reach the network through the one link of a rank; a worker that is one
accelerator of these does 2500. Both are there to be replaced by one's own."""

import heapq
import math
import random
import re

from weir_runs.basics.errors import ReportError
from weir_runs.basics.quantities import QuantityError
from .patterns import shares
from .traffic_model import GENERATED_MAX, Trace

PROMPT = "lognormal:2000,deviation=2000"
PREFILL_TOKENS_PER_SECOND = 20000.0
USED_BY_DEFAULT = 0.5  # of what the prefill workers can do
TOKENS_MAX = 10_000_000
CHOICES = ("least", "round-robin", "random")
_PROMPT = re.compile(
    r"(?:(?:fixed:)?(?P<fixed>\d{1,8})|lognormal:(?P<mean>\d{1,8}),deviation=(?P<deviation>\d{1,8}))(?:,max=(?P<most>\d{1,8}))?")


class PromptLength:
    """A number of tokens, fixed or drawn; mean and deviation are those of the length, not of its logarithm."""

    def __init__(self, text):
        found = _PROMPT.fullmatch(text)
        if not found or found["fixed"] and found["most"]:
            raise QuantityError(f"'{text}' is not a length of prompts in tokens, such as 2000 or {PROMPT} (and "
                                ",max=TOKENS)")
        self.text = text
        self.mean = int(found["fixed"] or found["mean"])
        self.deviation = int(found["deviation"] or 0)
        self.most = int(found["most"] or TOKENS_MAX)
        if not 0 < self.mean <= TOKENS_MAX or not 0 < self.most <= TOKENS_MAX:
            raise QuantityError(f"'{text}' has a number that is not from 1 to {TOKENS_MAX} tokens")

    def draw(self, generator):
        if not self.deviation:
            return min(self.mean, self.most)
        variance = math.log1p((self.deviation / self.mean)**2)
        value = generator.lognormvariate(math.log(self.mean) - variance / 2.0, math.sqrt(variance))
        return min(self.most, max(1, round(value)))


def bytes_per_token(layers, kv_heads, head_dimension, bytes_per_value):
    """For keys and values, hence 2."""
    return 2 * layers * kv_heads * head_dimension * bytes_per_value


def requests_per_second(options):
    """What is asked for, or what keeps the prefill workers busy for half of the time."""
    return options.requests or USED_BY_DEFAULT * options.prefill_workers * options.prefill_rate / options.prompt.mean


def prefill_to_decode(options):
    """The trace of a Namespace with prefill_workers, decode_workers, prompt, requests, prefill_rate, token_bytes,
    layers, layers_apart, decode_choice, interval_ns and seed. Raises ReportError."""
    rate, duration_s = requests_per_second(options), options.interval_ns * 1e-9
    _check(options, rate, duration_s)
    generator = random.Random(options.seed)
    free = [(0.0, worker) for worker in range(options.prefill_workers)]
    decode = _Decode(options, generator)
    rows, now = [], generator.expovariate(rate)
    while now < duration_s:
        tokens = options.prompt.draw(generator)
        idle_from, worker = heapq.heappop(free)
        begin, took = max(now, idle_from), tokens / options.prefill_rate
        heapq.heappush(free, (begin + took, worker))
        rows += _transfers(options, begin, took, worker, decode.choose(tokens * options.token_bytes),
                           tokens * options.token_bytes)
        if len(rows) > GENERATED_MAX:
            raise ReportError(f"--interval, --requests: more than {GENERATED_MAX} transfers; a shorter interval or "
                              "fewer requests are expected")
        now += generator.expovariate(rate)
    if not rows:
        raise ReportError(f"--interval: no prompt arrives in {duration_s:g} s, with {rate:g} requests per second; a "
                          "longer one is expected")
    return Trace(tuple(sorted(rows)), options.interval_ns)


def _check(options, rate, duration_s):
    capacity = options.prefill_workers * options.prefill_rate / options.prompt.mean
    if rate >= capacity:
        raise ReportError(f"--requests: {rate:g} per second are more than the prefill workers can do, {capacity:g} "
                          f"({options.prefill_workers} workers x {options.prefill_rate:g} tokens per second / "
                          f"{options.prompt.mean} tokens); fewer are expected, or a higher --prefill-rate")
    expected = rate * duration_s * (options.layers if options.layers_apart else 1)
    if expected > GENERATED_MAX:
        raise ReportError(f"--interval, --requests: some {expected:.0f} transfers are too many; at most "
                          f"{GENERATED_MAX} are allowed")


class _Decode:
    """Which decode worker gets the next prompt."""

    def __init__(self, options, generator):
        self.kind, self.generator = options.decode_choice, generator
        self.received = [0] * options.decode_workers
        self.next = 0

    def choose(self, size):
        count = len(self.received)
        if self.kind == "random":
            chosen = self.generator.randrange(count)
        elif self.kind == "round-robin":
            chosen, self.next = self.next, (self.next + 1) % count
        else:
            chosen = min(range(count), key=self.received.__getitem__)
        self.received[chosen] += size
        return chosen


def _transfers(options, begin_s, took_s, prefill, decode, size):
    """The transfers of one prompt: one, or one per layer at the time at which it is computed."""
    parts = shares(size, options.layers) if options.layers_apart else [size]
    made = []
    for number, part in enumerate(parts, 1):
        time_ns = round((begin_s + took_s * number / len(parts)) * 1e9) % options.interval_ns
        if part:
            made.append((time_ns, prefill, decode, part))
    return made
