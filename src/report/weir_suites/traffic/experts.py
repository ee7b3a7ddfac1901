"""Mixture-of-experts: dispatch and combine of the layers of a language model whose experts are spread over workers.

In each such layer a router sends every token to `top_k` experts, which other workers hold (dispatch), and what they
compute comes back (combine): the transposed matrix. Each copy of a token is counted by itself, also where two of its
experts are on one worker; dispatchers that send it once then send less.

Routers do not choose all experts equally often. `skew` is the bytes of the largest receiver over the mean receiver. In
practice 2.6 to 5.1 were seen for a single layer and batch; the default is the lower end, so that a network that fails
fails for a likely load. It is a number to vary, not a constant of nature: training with a balancing term has less, and
serving prompts of one subject has more.

How the other workers follow the largest is a choice: shares as r ** -s of the worker with rank r in popularity, with
the s that gives the skew (s = 0: all equal). All workers draw tokens for the same experts, so all senders have the same
shares; which workers are popular is drawn by the seed, anew for each layer. Rejected: to draw each token, because then
the largest receiver differs from the skew that was asked for, by chance.

The default sizes are those of DeepSeek-V3 as its makers publish them with their communication library: 4096 tokens per
worker and batch, hidden size 7168 of 2 bytes (14 KiB), 8 experts per token."""

import random

from weir_runs.basics.errors import ReportError
from weir_runs.basics.quantities import rounded_up_ns
from .traffic_model import GENERATED_MAX, Matrix, PHASES_MAX, Phase, Sequence, ideal_ns, sums

SKEW = 2.6
TOKENS = 4096
TOKEN_BYTES = 7168 * 2
TOP_K = 8
COPIES_MAX = 10**12  # of tokens, per worker; 64-bit sums stay exact
_STEEPEST = 64.0


def popularity(workers, skew):
    """Shares of `workers` receivers, the largest first; the first is `skew` times their mean."""
    low, high = 0.0, _STEEPEST
    for _ in range(200):
        middle = (low + high) / 2.0
        if workers / sum(rank**-middle for rank in range(1, workers + 1)) < skew:
            low = middle
        else:
            high = middle
    weights = [rank**-high for rank in range(1, workers + 1)]
    total = sum(weights)
    return [weight / total for weight in weights]


def token_counts(workers, copies, shares):
    """counts[sender][receiver], own worker included: every sender has `copies`, and every receiver its share of all,
    rounded. What a row rounds off is kept for the next row, so columns are exact as well (to about 1)."""
    kept = [0.0] * workers
    counts = []
    for _ in range(workers):
        wanted = [copies * share + rest for share, rest in zip(shares, kept)]
        row = [max(0, int(value)) for value in wanted]
        lacking = copies - sum(row)
        by_rest = sorted(range(workers), key=lambda index: (row[index] - wanted[index], index))
        for index in by_rest[:lacking] if lacking > 0 else []:
            row[index] += 1
        # Where receivers that had too much wanted less than nothing, others give back.
        for index in [index for index in reversed(by_rest) if row[index]][:max(0, -lacking)]:
            row[index] -= 1
        kept = [value - count for value, count in zip(wanted, row)]
        counts.append(row)
    return counts


def mixture_of_experts(options):
    """The sequence of a Namespace with workers, tokens, token_bytes, combine_bytes, top_k, skew, layers, period_ns,
    link, seed and with_own. Raises ReportError."""
    _check(options)
    shares = popularity(options.workers, options.skew)
    generator = random.Random(options.seed)
    phases = []
    for layer in range(1, options.layers + 1):
        of_workers = list(shares)
        generator.shuffle(of_workers)
        counts = token_counts(options.workers, options.tokens * options.top_k, of_workers)
        dispatch = _matrix(counts, options.token_bytes, options.with_own)
        combine = _matrix(counts, options.combine_bytes or options.token_bytes, options.with_own).transposed()
        for name, matrix in (("dispatch", dispatch), ("combine", combine)):
            name += f"-{layer}" if options.layers > 1 else ""
            period_ns = options.period_ns or rounded_up_ns(2 * ideal_ns(sums(matrix).largest, options.link))
            phases.append(Phase(name, f"{name}.csv", matrix, period_ns))
    return Sequence(tuple(phases))


def _check(options):
    if options.workers < 2:
        raise ReportError(f"--workers: {options.workers} is too few; 2 or more are expected, which send to each other")
    if not 1.0 <= options.skew <= options.workers:
        raise ReportError(f"--skew: {options.skew:g} is not a number from 1 (all receivers equal) to {options.workers} "
                          f"(one of {options.workers} workers receives everything)")
    if options.tokens * options.top_k > COPIES_MAX:
        raise ReportError(f"--tokens x --top-k: {options.tokens} x {options.top_k} is too much; at most {COPIES_MAX} "
                          "is allowed")
    pairs = 2 * options.layers * options.workers**2
    if options.workers**2 > GENERATED_MAX or pairs > 4 * GENERATED_MAX or 2 * options.layers > PHASES_MAX:
        raise ReportError(f"--workers, --layers: {options.workers} workers and {options.layers} layers make {pairs} "
                          f"pairs; at most {GENERATED_MAX} per matrix and {4 * GENERATED_MAX} in all are allowed")


def _matrix(counts, token_bytes, with_own):
    return Matrix({(sender, receiver): count * token_bytes for sender, row in enumerate(counts)
                   for receiver, count in enumerate(row) if count and (with_own or sender != receiver)})
