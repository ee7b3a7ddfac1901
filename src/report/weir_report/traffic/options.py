"""The command line of weir-traffic."""

import argparse
import math
from pathlib import Path

from ..basics import quantities
from ..version import VERSION
from . import collectives, combine, experts, inference, isolate, replay
from .model import INDEX_MAX, SLOTS_MAX

DESCRIPTION = """Writes traffic for weir run and weir simulate (--pattern matrix:FILE, sequence:FILE, trace:FILE, collectives:FILE): who sends how
many bytes to whom, and when. Each kind prints what its traffic asks of the links, and the command to try next. docs/traffic.md
describes the files."""
EPILOG = """Sizes, rates and times have units: 1MiB, 100Gb/s, 2ms. A worker is a producer and a consumer of the same number. The same
options and seed make the same file. Exit status: 0 written or shown; 2 bad usage or input, nothing was written."""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help shows the usage)\n")


def parse(words):
    """Options of a command line. What is behind '--' is for weir simulate."""
    words = list(words)
    place = words.index("--") if words[:1] == ["replay"] and "--" in words else len(words)
    options = parser().parse_args(words[:place])
    options.weir_options = words[place + 1:]
    return options


def parser():
    made = _Parser(prog="weir-traffic", description=DESCRIPTION, epilog=EPILOG)
    made.add_argument("--version", action="version", version=f"weir-traffic {VERSION}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    def command(name, summary, description):
        return commands.add_parser(name, help=summary, description=description, epilog=EPILOG)

    for add in (_all_to_all, _permutation, _incast, _outcast, _prefill_to_decode, _mixture_of_experts, _checkpoint, _collective, _combine, _show,
                _isolate, _slowdown, _interference, _check_order, _replay):
        add(command)
    return made


def count(least=1, most=INDEX_MAX + 1):
    """A whole number in this range, for argparse."""
    def read(text):
        value = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} to {most}")
        return value
    return read


def number(least, what):
    def read(text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (least <= value < 1e15) or value == 0:
            raise argparse.ArgumentTypeError(f"'{text}' is not {what}")
        return value
    return read


def _output(added, out="FILE", interval=True):
    what = "the TOML file and what it names" if out == "DIRECTORY" else "the trace" if interval is None else "the matrix"
    added.add_argument("--out", metavar=out, type=Path, required=True, help=f"write {what} there")
    if interval:
        added.add_argument("--interval", metavar="TIME", type=quantities.time_ns, dest="interval_ns",
                           help="time between two repetitions (default: twice the ideal completion time)")
    _link(added)


def _link(added):
    added.add_argument("--link", metavar="RATE", type=quantities.rate, default="100Gb/s",
                       help="speed of every link, each direction, for ideal times and loads (default: %(default)s)")
    added.add_argument("--json", action="store_true", help="print the summary as JSON")


def _seed(added, of):
    added.add_argument("--seed", metavar="N", type=count(0, 2**63 - 1), default=1, help=f"seed of {of} (default: %(default)s)")


def _sizes(added):
    kind = added.add_mutually_exclusive_group(required=True)
    kind.add_argument("--bytes-per-pair", metavar="SIZE", type=quantities.size, help="bytes from each producer to each of its consumers")
    kind.add_argument("--bytes-per-producer", metavar="SIZE", type=quantities.size, help="bytes of each producer, shared evenly by its consumers")


def _workers(added):
    added.add_argument("--workers", metavar="N", type=count(2), required=True, help="number of workers: as many producers, and as many consumers")


def _with_own(added):
    added.add_argument("--with-own", action="store_true", help="also pairs i -> i, which stay within a worker")


def _all_to_all(command):
    added = command("all-to-all", "every worker to every other one", "Writes a matrix: every worker sends to every other one.")
    _workers(added)
    _sizes(added)
    _with_own(added)
    _output(added)


def _permutation(command):
    added = command("permutation", "every worker to one other, and from one other",
                    "Writes a matrix: every worker sends to one other worker and receives from one; no two share a link.")
    _workers(added)
    added.add_argument("--bytes-per-pair", metavar="SIZE", type=quantities.size, required=True, help="bytes of each worker")
    kind = added.add_mutually_exclusive_group()
    kind.add_argument("--shift", metavar="K", type=count(), help="worker i sends to i + K, counted around (default: 1)")
    kind.add_argument("--random", action="store_true", help="a random permutation in which no worker sends to itself")
    _seed(added, "--random")
    _output(added)


def _incast(command):
    added = command("incast", "many producers to one consumer or few",
                    "Writes a matrix: every producer sends to the same consumer, or to the same few.")
    added.add_argument("--producers", metavar="N", type=count(), required=True, help="number of producers")
    added.add_argument("--consumers", metavar="M", type=count(), default=1, help="number of consumers (default: %(default)s)")
    _sizes(added)
    _output(added)


def _outcast(command):
    added = command("outcast", "one producer to many consumers", "Writes a matrix: one producer, or a few, send to all consumers.")
    added.add_argument("--consumers", metavar="N", type=count(), required=True, help="number of consumers")
    added.add_argument("--producers", metavar="M", type=count(), default=1, help="number of producers (default: %(default)s)")
    _sizes(added)
    _output(added)


def _prefill_to_decode(command):
    added = command("prefill-to-decode", "caches of prompts, from prefill to decode workers",
                    "Writes a trace: prompts arrive at random, prefill workers compute their keys and values (KV), and each prompt's "
                    "cache goes to one decode worker. The defaults are those of a model like Llama 3 70B: 320 KiB per token.")
    add = added.add_argument
    add("--prefill-workers", metavar="P", type=count(), required=True, help="number of prefill workers, the producers")
    add("--decode-workers", metavar="D", type=count(), required=True, help="number of decode workers, the consumers")
    add("--requests", metavar="N", type=number(0, "a positive number of prompts per second"),
        help="prompts per second, of all (default: half of what the prefill workers can do)")
    add("--prompt", metavar="LENGTH", type=inference.PromptLength, default=inference.PROMPT,
        help="tokens of a prompt: 2000, or lognormal:MEAN,deviation=TOKENS, and ,max=TOKENS (default: %(default)s)")
    add("--prefill-rate", metavar="N", type=number(0, "a positive number of tokens per second"),
        default=inference.PREFILL_TOKENS_PER_SECOND, help="tokens per second of a prefill worker (default: 20000)")
    add("--bytes-per-token", metavar="SIZE", type=quantities.size, dest="given_token_bytes",
        help="bytes of a token's cache (default: 2 x layers x KV heads x head dimension x bytes per value)")
    add("--layers", metavar="N", type=count(1, 10000), default=80, help="layers of the model (default: %(default)s)")
    add("--kv-heads", metavar="N", type=count(1, 10**6), default=8, help="heads with keys and values of their own (default: %(default)s)")
    add("--head-dimension", metavar="N", type=count(1, 10**6), default=128, help="values of a key (default: %(default)s)")
    add("--bytes-per-value", metavar="N", type=count(1, 16), default=2, help="1: fp8, 2: fp16 or bf16 (default: %(default)s)")
    add("--layers-apart", action="store_true", help="a transfer per layer, when it has been computed, and not one per prompt at the end")
    add("--decode-choice", choices=inference.CHOICES, default="least",
        help="which decode worker gets a prompt: the one with the fewest bytes so far, in turn, or at random (default: %(default)s)")
    add("--interval", metavar="TIME", type=quantities.time_ns, default="10s", dest="interval_ns",
        help="length of the trace, after which it is repeated (default: %(default)s)")
    _seed(added, "arrivals, lengths and choices")
    _output(added, interval=None)


def _mixture_of_experts(command):
    added = command("mixture-of-experts", "dispatch and combine of experts",
                    "Writes a sequence of two phases per layer: workers send their tokens to the workers of the chosen experts (dispatch), "
                    "and the results come back (combine). Popular experts make some workers receive more than others.")
    _workers(added)
    add = added.add_argument
    add("--tokens", metavar="N", type=count(1, 10**9), default=experts.TOKENS, help="tokens of each worker (default: %(default)s)")
    add("--bytes-per-token", metavar="SIZE", type=quantities.size, default=experts.TOKEN_BYTES, dest="token_bytes",
        help="bytes of a token in the dispatch (default: 14KiB, 7168 values of 2 bytes)")
    add("--combine-bytes-per-token", metavar="SIZE", type=quantities.size, dest="combine_bytes",
        help="bytes of a token in the combine (default: as in the dispatch)")
    add("--top-k", metavar="K", type=count(1, 10**6), default=experts.TOP_K, help="experts of each token (default: %(default)s)")
    add("--skew", metavar="FACTOR", type=number(1, "a number from 1 on"), default=experts.SKEW,
        help="bytes of the largest receiver over the mean receiver; 2.6 to 5.1 were seen (default: %(default)s)")
    add("--layers", metavar="N", type=count(1, 5000), default=1, help="layers, each with popular experts of its own (default: %(default)s)")
    add("--period", metavar="TIME", type=quantities.time_ns, dest="period_ns",
        help="time from a phase to the next (default: twice its ideal completion time)")
    _with_own(added)
    _seed(added, "which workers are popular")
    _output(added, "DIRECTORY", interval=False)


def _checkpoint(command):
    added = command("checkpoint", "workers write shards to storage targets",
                    "Writes a matrix: every worker (producer) writes its shard of a checkpoint to storage targets (consumers), stripe by stripe.")
    add = added.add_argument
    add("--workers", metavar="N", type=count(), required=True, help="number of workers, the producers")
    add("--targets", metavar="M", type=count(), required=True, help="number of storage targets, the consumers")
    add("--shard", metavar="SIZE", type=quantities.size, required=True, help="bytes that each worker writes")
    add("--stripe-size", metavar="SIZE", type=quantities.size, default="1MiB", help="bytes that go to one target at a time (default: %(default)s)")
    add("--stripe-count", metavar="N", type=count(), help="targets of each shard (default: all)")
    add("--every", metavar="TIME", type=quantities.time_ns, dest="interval_ns", required=True, help="time between two checkpoints, at most 1h")
    _output(added, interval=False)


def _collective(command):
    added = command("collective", "AllReduce, ReduceScatter, AllGather, AllToAll, step by step",
                    "Writes a collective as a trace whose transfers wait for what their worker receives, and collectives.toml, which says "
                    "what it is. With --add it goes beside those that are there, in the same run.")
    add = added.add_argument
    add("--kind", choices=collectives.KINDS, required=True, help="the operation")
    add("--algorithm", choices=sorted({name for names in collectives.ALGORITHMS.values() for name in names}),
        help="how it is done (default: ring; of all-to-all: pairwise)")
    _workers(added)
    add("--size", metavar="S", type=quantities.size, required=True, help="bytes of each participant")
    add("--compute", metavar="TIME", type=quantities.time_ns, default=0, dest="compute_ns",
        help="C: time to compute before the communication of each iteration (default: none)")
    add("--step-compute", metavar="TIME", type=quantities.time_ns, default=0, dest="step_compute_ns",
        help="time from the last input of a step to the step, as for adding up (default: none)")
    add("--pieces", metavar="N", type=count(1, 10**6), default=1, help="of a tree: parts of S that follow each other (default: %(default)s)")
    add("--name", metavar="NAME", help="what the collective is called (default: KIND-ALGORITHM)")
    add("--first-worker", metavar="N", type=count(0), default=0, help="worker of the run that is its worker 0 (default: %(default)s)")
    add("--at", metavar="TIME", type=quantities.time_ns, default=0, dest="at_ns",
        help="when it begins in the interval (default: at its beginning)")
    add("--add", action="store_true", help="to the collectives in DIRECTORY, and not alone")
    add("--interval", metavar="TIME", type=quantities.time_ns, dest="interval_ns",
        help="from one iteration to the next (default: twice what one takes on --link; with --add at least that of the others)")
    _output(added, "DIRECTORY", interval=False)


def _combine(command):
    added = command("combine", "several of them at the same time",
                    "Writes a trace in which the traffic of several files goes on at the same time, each repeated as often as it fits into the "
                    "interval: prefill and decode beside mixture-of-experts, for example.")
    add = added.add_argument
    add("parts", metavar="PART", type=combine.part, nargs="+",
        help="FILE or its directory; with ,first-worker=N (or ,first-producer=N and ,first-consumer=N) its worker 0 is worker N of the "
             "whole, and with ,at=TIME it begins then")
    add("--interval", metavar="TIME", type=quantities.time_ns, dest="interval_ns",
        help="after which all of it is repeated (default: that of the longest part)")
    _output(added, interval=None)


def _show(command):
    added = command("show", "check a file, and print its summary",
                    "Reads a matrix, a trace, a sequence or collectives, refuses what is wrong with file and line, and prints the summary.")
    added.add_argument("file", metavar="FILE", type=Path, help="matrix or trace (CSV), or sequence or collectives (TOML, or its directory)")
    _link(added)


def _isolate(command):
    added = command("isolate", "the same transfers, each of them alone",
                    "Writes a sequence in which each transfer of a matrix or sequence is alone in its phase: its completion times are those "
                    "without competition, for weir-traffic slowdown.")
    added.add_argument("file", metavar="FILE", type=Path, help="matrix (CSV), or sequence (TOML, or its directory)")
    add = added.add_argument
    add("--period", metavar="TIME", type=quantities.time_ns, dest="period_ns",
        help="length of every phase (default: what the transfer needs on --link x --factor, and 1ms)")
    add("--factor", metavar="F", type=number(1, "a number from 1 on"), default=isolate.FACTOR, help="see --period (default: %(default)s)")
    add("--sample", metavar="N", type=count(), help="only so many transfers, chosen at random")
    _seed(added, "--sample")
    _output(added, "DIRECTORY", interval=False)


def _slowdown(command):
    added = command("slowdown", "by how much transfers of a run were slower than alone",
                    "Compares transfers.csv of a loaded run with that of a run of the isolated sequence: completion loaded / completion "
                    "isolated, per pair and in total, and the receivers that suffer most.")
    added.add_argument("loaded", metavar="LOADED-RUN", type=Path, help="run directory with all transfers together")
    added.add_argument("isolated", metavar="ISOLATED-RUN", type=Path, help="run directory of the sequence made by weir-traffic isolate")
    added.add_argument("--csv", metavar="FILE.csv", type=Path, help="write a line per phase and pair")
    added.add_argument("--json", action="store_true", help="print the result as JSON, with all pairs")


def _interference(command):
    added = command("interference", "by how much collectives of a run took longer than in another one",
                    "Interference factor of each collective that both runs have: its job completion time (JCT) beside others over that alone, "
                    "median over median.")
    added.add_argument("beside", metavar="RUN", type=Path, help="run directory with several collectives")
    added.add_argument("alone", metavar="RUN-ALONE", type=Path, nargs="+", help="run directories in which each of them is alone")
    added.add_argument("--json", action="store_true", help="print the result as JSON")


def _check_order(command):
    added = command("check-order", "whether a run kept the order of its steps",
                    "Reads completions.csv of a run: each transfer has to arrive after what it waits for, and the time to compute. Exit status "
                    "1 if one did not.")
    added.add_argument("file", metavar="FILE", type=Path, help="trace or collectives of the run")
    added.add_argument("run", metavar="RUN", type=Path, help="run directory")
    added.add_argument("--json", action="store_true", help="print the result as JSON")


def _replay(command):
    added = command("replay", "replay a trace of flows, and print slowdowns by size",
                    "Converts a trace of flows (flow.txt of HPCC or ns-3, or CSV with time, from, to and bytes), simulates it packet by packet "
                    "without a scheduler, and prints by how much flows were slower than alone, by size. The links are --link unless "
                    "options of weir simulate after '--' say otherwise: -- --pfc on --producer-link 100Gb/s,0-3=25Gb/s.")
    added.add_argument("file", metavar="FILE", type=Path, help="trace of flows")
    added.add_argument("--out", metavar="DIRECTORY", type=Path, required=True,
                       help="run directory, which must not exist; DIRECTORY.csv is the trace as weir reads it")
    added.add_argument("--at-once", metavar="N", type=count(1, SLOTS_MAX), default=replay.AT_ONCE,
                       help="flows of a pair under way at a time; further ones wait (default: %(default)s)")
    _link(added)
