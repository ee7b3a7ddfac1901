"""weir-traffic: traffic matrices, sequences and traces for weir, and what they ask of the links. What a command needs
is loaded when it is called (traffic_actions.py)."""

import math
import sys
from argparse import ArgumentTypeError
from pathlib import Path

from weir_runs.basics import quantities
from weir_runs.basics.command_parser import CommandParser, Either, flag, value
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
    made.add_commands((*command, EPILOG) for command in COMMANDS)
    return made


def count(least=1, most=INDEX_MAX + 1):
    """A whole number in this range, for argparse."""
    def read(text):
        found = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1
        if not least <= found <= most:
            raise ArgumentTypeError(f"'{text}' is not a whole number from {least} to {most}")
        return found
    return read


def number(least, what):
    def read(text):
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        if not (least <= found < 1e15) or found == 0:
            raise ArgumentTypeError(f"'{text}' is not {what}")
        return found
    return read


# --- Rows of the commands: see CommandParser.


# By type: what the value of an option is called, and what ends the name of its field.
_VALUES = {quantities.size: ("SIZE", ""), quantities.rate: ("RATE", ""), quantities.time_ns: ("TIME", "_ns")}


def option(name, kind, what, default=None, unless_given=None, **more):
    """Its value is of a type of argparse. `default`: is told behind `what`; `unless_given`: is not."""
    metavar, ending = _VALUES.get(kind, ("N", ""))
    told = "" if default is None else " (default: %(default)s)"
    return name, {"type": kind, "help": what + told, "default": unless_given if default is None else default,
                  "metavar": metavar, "dest": name[2:].replace("-", "_") + ending, **more}


def path(name, what, metavar="FILE", **more):
    return value(name, metavar, what, type=Path, **more)


def seed(of):
    return option("--seed", count(0, 2**63 - 1), f"seed of {of}", 1)


def json(what="the result", with_all=""):
    return flag("--json", f"print {what} as JSON{with_all}")


def output(what="the matrix", metavar="FILE"):
    return path("--out", f"write {what} there", metavar, required=True)


def many_to_many(many, few):
    return (option(f"--{many}", count(), f"number of {many}", required=True),
            option(f"--{few}", count(), f"number of {few}", 1, metavar="M"), SIZES, output(), INTERVAL, *LINK)


SIZES = Either((option("--bytes-per-pair", quantities.size, "bytes from each producer to each of its consumers"),
                option("--bytes-per-producer", quantities.size,
                       "bytes of each producer, shared evenly by its consumers")), required=True)
INTERVAL = option("--interval", quantities.time_ns,
                  "time between two repetitions (default: twice the ideal completion time)")
LINK = (option("--link", quantities.rate, "speed of every link, each direction, for ideal times and loads", "100Gb/s"),
        json("the summary"))
WORKERS = option("--workers", count(2), "number of workers: as many producers, and as many consumers", required=True)
WITH_OWN = flag("--with-own", "also pairs i -> i, which stay within a worker")
TRACE = output("the trace")
DIRECTORY = output("the TOML file and what it names", "DIRECTORY")

# (name, summary, description, rows)
COMMANDS = (
    ("all-to-all", "every worker to every other one", "Writes a matrix: every worker sends to every other one.",
     (WORKERS, SIZES, WITH_OWN, output(), INTERVAL, *LINK)),
    ("permutation", "every worker to one other, and from one other",
     "Writes a matrix: every worker sends to one other worker and receives from one; no two share a link.",
     (WORKERS, option("--bytes-per-pair", quantities.size, "bytes of each worker", required=True),
      Either((option("--shift", count(), "worker i sends to i + K, counted around (default: 1)", metavar="K"),
              flag("--random", "a random permutation in which no worker sends to itself"))),
      seed("--random"), output(), INTERVAL, *LINK)),
    ("incast", "many producers to one consumer or few",
     "Writes a matrix: every producer sends to the same consumer, or to the same few.",
     many_to_many("producers", "consumers")),
    ("outcast", "one producer to many consumers",
     "Writes a matrix: one producer, or a few, send to all consumers.", many_to_many("consumers", "producers")),
    ("prefill-to-decode", "caches of prompts, from prefill to decode workers",
     "Writes a trace: prompts arrive at random, prefill workers compute their keys and values (KV), and each prompt's "
     "cache goes to one decode worker. The defaults are those of a model like Llama 3 70B: 320 KiB per token.",
     (option("--prefill-workers", count(), "number of prefill workers, the producers", required=True, metavar="P"),
      option("--decode-workers", count(), "number of decode workers, the consumers", required=True, metavar="D"),
      option("--requests", number(0, "a positive number of prompts per second"),
             "prompts per second, of all (default: half of what the prefill workers can do)"),
      option("--prompt", inference.PromptLength,
             "tokens of a prompt: 2000, or lognormal:MEAN,deviation=TOKENS, and ,max=TOKENS", inference.PROMPT,
             metavar="LENGTH"),
      option("--prefill-rate", number(0, "a positive number of tokens per second"),
             "tokens per second of a prefill worker (default: 20000)",
             unless_given=inference.PREFILL_TOKENS_PER_SECOND),
      option("--bytes-per-token", quantities.size, "bytes of a token's cache (default: 2 x layers x KV heads x head "
             "dimension x bytes per value)", dest="given_token_bytes"),
      option("--layers", count(1, 10000), "layers of the model", 80),
      option("--kv-heads", count(1, 10**6), "heads with keys and values of their own", 8),
      option("--head-dimension", count(1, 10**6), "values of a key", 128),
      option("--bytes-per-value", count(1, 16), "1: fp8, 2: fp16 or bf16", 2),
      flag("--layers-apart", "a transfer per layer, when it has been computed, and not one per prompt at the end"),
      option("--decode-choice", str, "which decode worker gets a prompt: the one with the fewest bytes so far, in "
             "turn, or at random", "least", choices=inference.CHOICES, metavar=None),
      option("--interval", quantities.time_ns, "length of the trace, after which it is repeated", "10s"),
      seed("arrivals, lengths and choices"), TRACE, *LINK)),
    ("mixture-of-experts", "dispatch and combine of experts",
     "Writes a sequence of two phases per layer: workers send their tokens to the workers of the chosen experts "
     "(dispatch), and the results come back (combine). Popular experts make some workers receive more than others.",
     (WORKERS, option("--tokens", count(1, 10**9), "tokens of each worker", experts.TOKENS),
      option("--bytes-per-token", quantities.size, "bytes of a token in the dispatch (default: 14KiB, 7168 values of 2 "
             "bytes)", unless_given=experts.TOKEN_BYTES, dest="token_bytes"),
      option("--combine-bytes-per-token", quantities.size,
             "bytes of a token in the combine (default: as in the dispatch)", dest="combine_bytes"),
      option("--top-k", count(1, 10**6), "experts of each token", experts.TOP_K, metavar="K"),
      option("--skew", number(1, "a number from 1 on"), "bytes of the largest receiver over the mean receiver; 2.6 to "
             "5.1 were seen", experts.SKEW, metavar="FACTOR"),
      option("--layers", count(1, 5000), "layers, each with popular experts of its own", 1),
      option("--period", quantities.time_ns,
             "time from a phase to the next (default: twice its ideal completion time)"),
      WITH_OWN, seed("which workers are popular"), DIRECTORY, *LINK)),
    ("checkpoint", "workers write shards to storage targets",
     "Writes a matrix: every worker (producer) writes its shard of a checkpoint to storage targets (consumers), stripe "
     "by stripe.",
     (option("--workers", count(), "number of workers, the producers", required=True),
      option("--targets", count(), "number of storage targets, the consumers", required=True, metavar="M"),
      option("--shard", quantities.size, "bytes that each worker writes", required=True),
      option("--stripe-size", quantities.size, "bytes that go to one target at a time", "1MiB"),
      option("--stripe-count", count(), "targets of each shard (default: all)"),
      option("--every", quantities.time_ns, "time between two checkpoints, at most 1h", dest="interval_ns",
             required=True),
      output(), *LINK)),
    ("collective", "AllReduce, ReduceScatter, AllGather, AllToAll, step by step",
     "Writes a collective as a trace whose transfers wait for what their worker receives, and collectives.toml, which "
     "says what it is. With --add it goes beside those that are there, in the same run.",
     (option("--kind", str, "the operation", choices=collectives.KINDS, required=True, metavar=None),
      option("--algorithm", str, "how it is done (default: ring; of all-to-all: pairwise)", metavar=None,
             choices=sorted({name for names in collectives.ALGORITHMS.values() for name in names})),
      WORKERS, option("--size", quantities.size, "bytes of each participant", required=True, metavar="S"),
      option("--compute", quantities.time_ns, "C: time to compute before the communication of each iteration (default: "
             "none)", unless_given=0),
      option("--step-compute", quantities.time_ns, "time from the last input of a step to the step, as for adding up "
             "(default: none)", unless_given=0),
      option("--pieces", count(1, 10**6), "of a tree: parts of S that follow each other", 1),
      option("--name", str, "what the collective is called (default: KIND-ALGORITHM)", metavar="NAME"),
      option("--first-worker", count(0), "worker of the run that is its worker 0", 0),
      option("--at", quantities.time_ns, "when it begins in the interval (default: at its beginning)", unless_given=0),
      flag("--add", "to the collectives in DIRECTORY, and not alone"),
      option("--interval", quantities.time_ns, "from one iteration to the next (default: twice what one takes on "
             "--link; with --add at least that of the others)"),
      DIRECTORY, *LINK)),
    ("combine", "several of them at the same time",
     "Writes a trace in which the traffic of several files goes on at the same time, each repeated as often as it fits "
     "into the interval: prefill and decode beside mixture-of-experts, for example.",
     (value("parts", "PART", "FILE or its directory; with ,first-worker=N (or ,first-producer=N and ,first-consumer=N) "
            "its worker 0 is worker N of the whole, and with ,at=TIME it begins then", type=combine.part, nargs="+"),
      option("--interval", quantities.time_ns,
             "after which all of it is repeated (default: that of the longest part)"), TRACE, *LINK)),
    ("show", "check a file, and print its summary",
     "Reads a matrix, a trace, a sequence or collectives, refuses what is wrong with file and line, and prints the "
     "summary.",
     (path("file", "matrix or trace (CSV), or sequence or collectives (TOML, or its directory)"), *LINK)),
    ("isolate", "the same transfers, each of them alone",
     "Writes a sequence in which each transfer of a matrix or sequence is alone in its phase: its completion times are "
     "those without competition, for weir-traffic slowdown.",
     (path("file", "matrix (CSV), or sequence (TOML, or its directory)"),
      option("--period", quantities.time_ns,
             "length of every phase (default: what the transfer needs on --link x --factor, and 1ms)"),
      option("--factor", number(1, "a number from 1 on"), "see --period", isolate.FACTOR, metavar="F"),
      option("--sample", count(), "only so many transfers, chosen at random"), seed("--sample"), DIRECTORY, *LINK)),
    ("slowdown", "by how much transfers of a run were slower than alone",
     "Compares transfers.csv of a loaded run with that of a run of the isolated sequence: completion loaded / "
     "completion isolated, per pair and in total, and the receivers that are affected most.",
     (path("loaded", "run directory with all transfers together", "LOADED-RUN"),
      path("isolated", "run directory of the sequence made by weir-traffic isolate", "ISOLATED-RUN"),
      path("--csv", "write a line per phase and pair", "FILE.csv"), json(with_all=", with all pairs"))),
    ("interference", "by how much collectives of a run took longer than in another one",
     "Interference factor of each collective that both runs have: its job completion time (JCT) beside others over "
     "that alone, median over median.",
     (path("beside", "run directory with several collectives", "RUN"),
      path("alone", "run directories in which each of them is alone", "RUN-ALONE", nargs="+"), json())),
    ("check-order", "whether a run kept the order of its steps",
     "Reads completions.csv of a run: each transfer has to arrive after what it waits for, and the time to compute. "
     "Exit status 1 if one did not.",
     (path("file", "trace or collectives of the run"), path("run", "run directory", "RUN"), json())),
    ("replay", "replay a trace of flows, and print slowdowns by size",
     "Converts a trace of flows (flow.txt of HPCC or ns-3, or CSV with time, from, to and bytes), simulates it packet "
     "by packet without a scheduler, and prints by how much flows were slower than alone, by size. The links are "
     "--link unless options of weir simulate after '--' say otherwise: -- --pfc on --producer-link "
     "100Gb/s,0-3=25Gb/s.",
     (path("file", "trace of flows"),
      path("--out", "run directory, which must not exist; DIRECTORY.csv is the trace as weir reads it", "DIRECTORY",
           required=True),
      option("--at-once", count(1, SLOTS_MAX), "flows of a pair under way at a time; further ones wait", AT_ONCE),
      *LINK)),
)


if __name__ == "__main__":
    sys.exit(main())
