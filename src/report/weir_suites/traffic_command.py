"""weir-traffic: traffic matrices, sequences and traces for weir, and what they ask of the links. What a command needs
is loaded when it is called (traffic_actions.py)."""

import math
import sys
from argparse import ArgumentTypeError
from pathlib import Path

from weir_runs.basics import quantities
from weir_runs.basics.command_parser import CommandParser
from weir_runs.basics.errors import status_of
from weir_runs.version import VERSION
from .traffic import collectives, combine, experts, inference, isolate
from .traffic.traffic_model import INDEX_MAX, SLOTS_MAX

DESCRIPTION = """Writes traffic for weir run and weir simulate (--pattern matrix:FILE, sequence:FILE, trace:FILE,
collectives:FILE): who sends how many bytes to whom, and when. Each kind prints what its traffic asks of the links, and
the command to try next. docs/traffic.md describes the files."""
EPILOG = """Sizes, rates and times have units: 1MiB, 100Gb/s, 2ms. A worker is a producer and a consumer of the same
number. The same options and seed make the same file. Exit status: 0 written or shown; 2 bad usage or input, nothing was
written."""
AT_ONCE = 8  # flows of a pair


def main(argv=None):
    return status_of("weir-traffic", lambda: _command(list(map(str, sys.argv[1:] if argv is None else argv))))


def _command(words):
    """What is behind '--' is for weir simulate."""
    place = words.index("--") if words[:1] == ["replay"] and "--" in words else len(words)
    options = parser().parse_args(words[:place])
    options.weir_options = words[place + 1:]
    from .traffic import traffic_actions
    return traffic_actions.act(options, words)


def parser():
    made = CommandParser(prog="weir-traffic", description=DESCRIPTION, epilog=EPILOG)
    made.add_argument("--version", action="version", version=f"weir-traffic {VERSION}")
    commands = made.add_commands()

    def command(name, summary, description):
        return commands.add_parser(name, help=summary, description=description, epilog=EPILOG)

    for add in (_all_to_all, _permutation, _incast, _outcast, _prefill_to_decode, _mixture_of_experts, _checkpoint,
                _collective, _combine, _show, _isolate, _slowdown, _interference, _check_order, _replay):
        add(command)
    return made


def count(least=1, most=INDEX_MAX + 1):
    """A whole number in this range, for argparse."""
    def read(text):
        value = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1
        if not least <= value <= most:
            raise ArgumentTypeError(f"'{text}' is not a whole number from {least} to {most}")
        return value
    return read


def number(least, what):
    def read(text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (least <= value < 1e15) or value == 0:
            raise ArgumentTypeError(f"'{text}' is not {what}")
        return value
    return read


# By type: what the value of an option is called, and what ends the name of its field.
_VALUES = {quantities.size: ("SIZE", ""), quantities.rate: ("RATE", ""), quantities.time_ns: ("TIME", "_ns")}


def _adder(added):
    """Adds an option whose value is of a type of argparse. `default`: is told behind `what`; `unless_given`: is not."""
    def add(flag, kind, what, default=None, unless_given=None, **more):
        metavar, ending = _VALUES.get(kind, ("N", ""))
        told = "" if default is None else " (default: %(default)s)"
        added.add_argument(flag, type=kind, help=what + told, default=unless_given if default is None else default,
                           **{"metavar": metavar, "dest": flag[2:].replace("-", "_") + ending, **more})
    return add


def _output(added, out="FILE", interval=True):
    what = ("the TOML file and what it names" if out == "DIRECTORY" else "the trace" if interval is None
            else "the matrix")
    added.add_argument("--out", metavar=out, type=Path, required=True, help=f"write {what} there")
    if interval:
        _adder(added)("--interval", quantities.time_ns,
                      "time between two repetitions (default: twice the ideal completion time)")
    _link(added)


def _link(added):
    what = "speed of every link, each direction, for ideal times and loads"
    _adder(added)("--link", quantities.rate, what, "100Gb/s")
    _json(added, "the summary")


def _json(added, what="the result", with_all=""):
    added.add_argument("--json", action="store_true", help=f"print {what} as JSON{with_all}")


def _seed(added, of):
    _adder(added)("--seed", count(0, 2**63 - 1), f"seed of {of}", 1)


def _sizes(added):
    add = _adder(added.add_mutually_exclusive_group(required=True))
    add("--bytes-per-pair", quantities.size, "bytes from each producer to each of its consumers")
    add("--bytes-per-producer", quantities.size, "bytes of each producer, shared evenly by its consumers")


def _workers(added):
    _adder(added)("--workers", count(2), "number of workers: as many producers, and as many consumers", required=True)


def _with_own(added):
    added.add_argument("--with-own", action="store_true", help="also pairs i -> i, which stay within a worker")


def _all_to_all(command):
    added = command("all-to-all", "every worker to every other one",
                    "Writes a matrix: every worker sends to every other one.")
    _workers(added)
    _sizes(added)
    _with_own(added)
    _output(added)


def _permutation(command):
    added = command("permutation", "every worker to one other, and from one other",
                    "Writes a matrix: every worker sends to one other worker and receives from one; no two share a "
                    "link.")
    _workers(added)
    _adder(added)("--bytes-per-pair", quantities.size, "bytes of each worker", required=True)
    kind = added.add_mutually_exclusive_group()
    _adder(kind)("--shift", count(), "worker i sends to i + K, counted around (default: 1)", metavar="K")
    kind.add_argument("--random", action="store_true", help="a random permutation in which no worker sends to itself")
    _seed(added, "--random")
    _output(added)


def _incast(command):
    _many(command("incast", "many producers to one consumer or few",
                  "Writes a matrix: every producer sends to the same consumer, or to the same few."),
          "producers", "consumers")


def _outcast(command):
    _many(command("outcast", "one producer to many consumers",
                  "Writes a matrix: one producer, or a few, send to all consumers."), "consumers", "producers")


def _many(added, many, few):
    _adder(added)(f"--{many}", count(), f"number of {many}", required=True)
    _adder(added)(f"--{few}", count(), f"number of {few}", 1, metavar="M")
    _sizes(added)
    _output(added)


def _prefill_to_decode(command):
    added = command("prefill-to-decode", "caches of prompts, from prefill to decode workers",
                    "Writes a trace: prompts arrive at random, prefill workers compute their keys and values (KV), and "
                    "each prompt's cache goes to one decode worker. The defaults are those of a model like Llama 3 "
                    "70B: 320 KiB per token.")
    add = _adder(added)
    add("--prefill-workers", count(), "number of prefill workers, the producers", required=True, metavar="P")
    add("--decode-workers", count(), "number of decode workers, the consumers", required=True, metavar="D")
    add("--requests", number(0, "a positive number of prompts per second"),
        "prompts per second, of all (default: half of what the prefill workers can do)")
    add("--prompt", inference.PromptLength, "tokens of a prompt: 2000, or lognormal:MEAN,deviation=TOKENS, and "
        ",max=TOKENS", inference.PROMPT, metavar="LENGTH")
    add("--prefill-rate", number(0, "a positive number of tokens per second"),
        "tokens per second of a prefill worker (default: 20000)", unless_given=inference.PREFILL_TOKENS_PER_SECOND)
    add("--bytes-per-token", quantities.size, "bytes of a token's cache (default: 2 x layers x KV heads x head "
        "dimension x bytes per value)", dest="given_token_bytes")
    add("--layers", count(1, 10000), "layers of the model", 80)
    add("--kv-heads", count(1, 10**6), "heads with keys and values of their own", 8)
    add("--head-dimension", count(1, 10**6), "values of a key", 128)
    add("--bytes-per-value", count(1, 16), "1: fp8, 2: fp16 or bf16", 2)
    added.add_argument("--layers-apart", action="store_true",
                       help="a transfer per layer, when it has been computed, and not one per prompt at the end")
    add("--decode-choice", str, "which decode worker gets a prompt: the one with the fewest bytes so far, in turn, or "
        "at random", "least", choices=inference.CHOICES, metavar=None)
    add("--interval", quantities.time_ns, "length of the trace, after which it is repeated", "10s")
    _seed(added, "arrivals, lengths and choices")
    _output(added, interval=None)


def _mixture_of_experts(command):
    added = command("mixture-of-experts", "dispatch and combine of experts",
                    "Writes a sequence of two phases per layer: workers send their tokens to the workers of the chosen "
                    "experts (dispatch), and the results come back (combine). Popular experts make some workers "
                    "receive more than others.")
    _workers(added)
    add = _adder(added)
    add("--tokens", count(1, 10**9), "tokens of each worker", experts.TOKENS)
    add("--bytes-per-token", quantities.size, "bytes of a token in the dispatch (default: 14KiB, 7168 values of 2 "
        "bytes)", unless_given=experts.TOKEN_BYTES, dest="token_bytes")
    add("--combine-bytes-per-token", quantities.size, "bytes of a token in the combine (default: as in the dispatch)",
        dest="combine_bytes")
    add("--top-k", count(1, 10**6), "experts of each token", experts.TOP_K, metavar="K")
    add("--skew", number(1, "a number from 1 on"), "bytes of the largest receiver over the mean receiver; 2.6 to 5.1 "
        "were seen", experts.SKEW, metavar="FACTOR")
    add("--layers", count(1, 5000), "layers, each with popular experts of its own", 1)
    add("--period", quantities.time_ns, "time from a phase to the next (default: twice its ideal completion time)")
    _with_own(added)
    _seed(added, "which workers are popular")
    _output(added, "DIRECTORY", interval=False)


def _checkpoint(command):
    added = command("checkpoint", "workers write shards to storage targets",
                    "Writes a matrix: every worker (producer) writes its shard of a checkpoint to storage targets "
                    "(consumers), stripe by stripe.")
    add = _adder(added)
    add("--workers", count(), "number of workers, the producers", required=True)
    add("--targets", count(), "number of storage targets, the consumers", required=True, metavar="M")
    add("--shard", quantities.size, "bytes that each worker writes", required=True)
    add("--stripe-size", quantities.size, "bytes that go to one target at a time", "1MiB")
    add("--stripe-count", count(), "targets of each shard (default: all)")
    add("--every", quantities.time_ns, "time between two checkpoints, at most 1h", dest="interval_ns", required=True)
    _output(added, interval=False)


def _collective(command):
    added = command("collective", "AllReduce, ReduceScatter, AllGather, AllToAll, step by step",
                    "Writes a collective as a trace whose transfers wait for what their worker receives, and "
                    "collectives.toml, which says what it is. With --add it goes beside those that are there, in the "
                    "same run.")
    added.add_argument("--kind", choices=collectives.KINDS, required=True, help="the operation")
    added.add_argument("--algorithm", help="how it is done (default: ring; of all-to-all: pairwise)",
                       choices=sorted({name for names in collectives.ALGORITHMS.values() for name in names}))
    _workers(added)
    add = _adder(added)
    add("--size", quantities.size, "bytes of each participant", required=True, metavar="S")
    add("--compute", quantities.time_ns, "C: time to compute before the communication of each iteration (default: "
        "none)", unless_given=0)
    add("--step-compute", quantities.time_ns, "time from the last input of a step to the step, as for adding up "
        "(default: none)", unless_given=0)
    add("--pieces", count(1, 10**6), "of a tree: parts of S that follow each other", 1)
    add("--name", str, "what the collective is called (default: KIND-ALGORITHM)", metavar="NAME")
    add("--first-worker", count(0), "worker of the run that is its worker 0", 0)
    add("--at", quantities.time_ns, "when it begins in the interval (default: at its beginning)", unless_given=0)
    added.add_argument("--add", action="store_true", help="to the collectives in DIRECTORY, and not alone")
    add("--interval", quantities.time_ns, "from one iteration to the next (default: twice what one takes on --link; "
        "with --add at least that of the others)")
    _output(added, "DIRECTORY", interval=False)


def _combine(command):
    added = command("combine", "several of them at the same time",
                    "Writes a trace in which the traffic of several files goes on at the same time, each repeated as "
                    "often as it fits into the interval: prefill and decode beside mixture-of-experts, for example.")
    added.add_argument("parts", metavar="PART", type=combine.part, nargs="+",
                       help="FILE or its directory; with ,first-worker=N (or ,first-producer=N and ,first-consumer=N) "
                            "its worker 0 is worker N of the whole, and with ,at=TIME it begins then")
    _adder(added)("--interval", quantities.time_ns,
                  "after which all of it is repeated (default: that of the longest part)")
    _output(added, interval=None)


def _show(command):
    added = command("show", "check a file, and print its summary",
                    "Reads a matrix, a trace, a sequence or collectives, refuses what is wrong with file and line, and "
                    "prints the summary.")
    _path(added, "file", "matrix or trace (CSV), or sequence or collectives (TOML, or its directory)")
    _link(added)


def _path(added, name, what, metavar="FILE", **more):
    added.add_argument(name, metavar=metavar, type=Path, help=what, **more)


def _isolate(command):
    added = command("isolate", "the same transfers, each of them alone",
                    "Writes a sequence in which each transfer of a matrix or sequence is alone in its phase: its "
                    "completion times are those without competition, for weir-traffic slowdown.")
    _path(added, "file", "matrix (CSV), or sequence (TOML, or its directory)")
    add = _adder(added)
    add("--period", quantities.time_ns,
        "length of every phase (default: what the transfer needs on --link x --factor, and 1ms)")
    add("--factor", number(1, "a number from 1 on"), "see --period", isolate.FACTOR, metavar="F")
    add("--sample", count(), "only so many transfers, chosen at random")
    _seed(added, "--sample")
    _output(added, "DIRECTORY", interval=False)


def _slowdown(command):
    added = command("slowdown", "by how much transfers of a run were slower than alone",
                    "Compares transfers.csv of a loaded run with that of a run of the isolated sequence: completion "
                    "loaded / completion isolated, per pair and in total, and the receivers that suffer most.")
    _path(added, "loaded", "run directory with all transfers together", "LOADED-RUN")
    _path(added, "isolated", "run directory of the sequence made by weir-traffic isolate", "ISOLATED-RUN")
    _path(added, "--csv", "write a line per phase and pair", "FILE.csv")
    _json(added, with_all=", with all pairs")


def _interference(command):
    added = command("interference", "by how much collectives of a run took longer than in another one",
                    "Interference factor of each collective that both runs have: its job completion time (JCT) beside "
                    "others over that alone, median over median.")
    _path(added, "beside", "run directory with several collectives", "RUN")
    _path(added, "alone", "run directories in which each of them is alone", "RUN-ALONE", nargs="+")
    _json(added)


def _check_order(command):
    added = command("check-order", "whether a run kept the order of its steps",
                    "Reads completions.csv of a run: each transfer has to arrive after what it waits for, and the time "
                    "to compute. Exit status 1 if one did not.")
    _path(added, "file", "trace or collectives of the run")
    _path(added, "run", "run directory", "RUN")
    _json(added)


def _replay(command):
    added = command("replay", "replay a trace of flows, and print slowdowns by size",
                    "Converts a trace of flows (flow.txt of HPCC or ns-3, or CSV with time, from, to and bytes), "
                    "simulates it packet by packet without a scheduler, and prints by how much flows were slower than "
                    "alone, by size. The links are --link unless options of weir simulate after '--' say otherwise: -- "
                    "--pfc on --producer-link 100Gb/s,0-3=25Gb/s.")
    _path(added, "file", "trace of flows")
    _path(added, "--out", "run directory, which must not exist; DIRECTORY.csv is the trace as weir reads it",
          "DIRECTORY", required=True)
    _adder(added)("--at-once", count(1, SLOTS_MAX), "flows of a pair under way at a time; further ones wait", AT_ONCE)
    _link(added)


if __name__ == "__main__":
    sys.exit(main())
