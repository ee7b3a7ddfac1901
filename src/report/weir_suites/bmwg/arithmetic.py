"""Closed forms that stand beside what was observed. Sources: docs/results-by-the-draft.md."""

import dataclasses
import math

EXACT_BALLS = 32


@dataclasses.dataclass(frozen=True)
class Framing:
    """Payload of a packet, and all that is added to it on the wire, in bytes."""

    mtu: int
    overhead: int

    @property
    def wire(self):
        return self.mtu + self.overhead


ROCE = Framing(4096, 82)  # what weir simulate uses unless told otherwise: docs/options.md

def wire_bytes(payload, framing):
    """Bytes of a message on the wire, with headers, preamble and gap."""
    return payload + math.ceil(payload / framing.mtu) * framing.overhead


def payload_rate(line_rate, message, framing):
    """b/s of payload in messages of this size on a link that sends nothing else."""
    return line_rate * message / wire_bytes(message, framing)


def burst_bytes(limit, senders, framing):
    """Payload of each of N equal bursts that meet at line rate at a port whose queue holds `limit` bytes: of N bytes
    that come one leaves, so b = limit / (N - 1), less headers."""
    return limit / (senders - 1) * framing.mtu / framing.wire


def dynamic_limit(pool, alpha):
    """What the only full queue holds of a pool that it may take alpha times the free part of."""
    return pool * alpha / (1.0 + alpha)


def expected_most(balls, bins):
    """Expectation of the fullest of `bins` into which `balls` were thrown, each bin as likely as the others: the sum
    over m of P(fullest > m), with P(all bins <= m) from one bin after the other."""
    total = 0.0
    for most in range(balls):
        # P(so many of the balls lie in the bins so far, none of which has more than `most`)
        ways = [1.0] + [0.0] * balls
        for left in range(bins, 0, -1):
            ways = _next_bin(ways, 1.0 / left, most, balls)
        total += 1.0 - ways[balls]
        if most > balls / bins and 1.0 - ways[balls] < 1e-12:
            break
    return total


def _next_bin(ways, share, most, balls):
    """`share`: probability that a ball that lies in no earlier bin lies in this one."""
    made = [0.0] * (balls + 1)
    for have, probability in enumerate(ways):
        if probability:
            free = balls - have
            for count in range(min(most, free) + 1):
                made[have + count] += probability * _binomial(free, count, share)
    return made


def _binomial(tries, count, share):
    if share >= 1.0:
        return 1.0 if count == tries else 0.0
    log = math.lgamma(tries + 1) - math.lgamma(count + 1) - math.lgamma(tries - count + 1)
    return math.exp(log + count * math.log(share) + (tries - count) * math.log1p(-share))


def expected_jain(balls, bins):
    """Expectation of k^2 / (n x sum of squares) of k balls in n bins. Of many balls k^2 / (n x expectation of the sum
    of squares), which is a little less."""
    if balls > EXACT_BALLS:
        return balls / (bins + balls - 1.0)
    states = {(0, 0): 1.0}  # (balls in the bins so far, their sum of squares): probability
    for left in range(bins, 0, -1):
        made = {}
        for (have, squares), probability in states.items():
            for count in range(balls - have + 1):
                if share := _binomial(balls - have, count, 1.0 / left):
                    key = have + count, squares + count * count
                    made[key] = made.get(key, 0.0) + probability * share
        states = made
    return sum(probability * balls**2 / (bins * squares) for (_, squares), probability in states.items())


def paused_share(senders):
    """Of N senders at line rate to one receiver each may send for one Nth of the time."""
    return 1.0 - 1.0 / senders


def dcqcn_bound_s(line_rate, flows, increase, all_above, period_s, gain, *, tolerance=0.1):
    """Seconds after which no two of `flows` DCQCN flows differ by more than `tolerance` of the fair share, however
    unequal they began: with the rules of 2015, if all have their peaks together, rates rise by `increase` (b/s) and
    alpha falls by `gain` once in `period_s`, and the switch marks from `all_above` bytes on only. Of two cuts `cycle`
    periods apart each divides the difference by 1 - alpha / 2, and alpha is the fixed point of (1 - g)^(cycle - 1) ((1
    - g) alpha + g). Source: Zhu, Ghobadi, Misra, Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and
    TIMELY", CoNEXT 2016, section "Convergence" and its appendix, and the inequality in the text's source; it has 97,
    64, 36 and 12.5 ms for 2, 4, 10 and 64 flows of 40 Gb/s."""
    # Periods in which the queue grows, as rates rise above the link's by a step for each.
    filling = (math.sqrt(1.0 + 64.0 * all_above / (flows * increase * period_s)) - 1.0) / 2.0

    def cycle(alpha):
        return 2.0 + (filling + line_rate / (flows * increase)) * alpha / 2.0

    low, high = 0.0, 1.0
    for _ in range(60):
        alpha = (low + high) / 2.0
        grows = (1.0 - gain) ** (cycle(alpha) - 1.0) * ((1.0 - gain) * alpha + gain) > alpha
        low, high = (alpha, high) if grows else (low, alpha)
    return period_s * cycle(low) * math.log(tolerance / flows) / math.log1p(-low / 2.0)
