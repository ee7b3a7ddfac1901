"""What the commands of weir-traffic do: one function for each."""

import random
import shlex
import sys

from weir_runs.basics import programs, units, whole_file
from weir_runs.basics.errors import ReportError
from weir_runs.basics.quantities import rate_text, rounded_up_ns
from weir_runs.version import VERSION
from . import (collectives, combine, experts, flows as traffic_flows, inference, interference, isolate, patterns,
               replay, slowdown, step_order, traffic_files, traffic_summary)
from .traffic_files import file_of
from .traffic_model import INTERVAL_MAX_NS, sums


def act(options, words):
    """`words`: of the command line. The exit status, or None."""
    chosen = {"show": _show, "isolate": _isolate, "slowdown": _slowdown, "replay": _replay,
              "interference": _interference, "check-order": _check_order}.get(options.command, _generate)
    return chosen(options, words)


def _generate(options, words):
    made, remarks = _GENERATORS[options.command](options)
    if made.interval_ns and made.interval_ns > INTERVAL_MAX_NS:
        option = {"checkpoint": "--every", "mixture-of-experts": "--period, --layers",
                  "collective": "--interval, --compute, --size"}.get(options.command, "--interval")
        raise ReportError(f"{option}: the interval is above 1h, which is weir's longest")
    _put(options, words, made, remarks)


def _put(options, words, made, remarks, next_commands=None):
    """Writes the traffic and prints its summary; `remarks`: (word, text) pairs for people. `next_commands(file)`: what
    to try next."""
    written = traffic_files.write(options.out, made, [f"weir-traffic {VERSION}: {_one_line(shlex.join(words))}"])
    record = traffic_summary.summary(written, made, options.link, next_commands and next_commands(written))
    _print(options, record, traffic_summary.lines(record, remarks))


def _print(options, record, lines):
    print(whole_file.printed_json(record) if options.json else "\n".join(lines) + "\n", end="")


def _one_line(text):
    """A comment ends at the end of its line."""
    return text.replace("\n", " ").replace("\r", " ")


# --- One function per kind: (traffic, remarks).


def _permutation(options):
    shift = 1 if options.shift is None else options.shift
    if not options.random and shift % options.workers == 0:
        raise ReportError(f"--shift: with {shift} each of {options.workers} workers would send to itself; a number "
                          f"from 1 to {options.workers - 1} is expected")
    generator = random.Random(options.seed) if options.random else None
    return patterns.permutation(options.workers, options.bytes_per_pair, shift, generator, options.interval_ns), ()


def _checkpoint(options):
    stripes = options.stripe_count or options.targets
    if stripes > options.targets:
        raise ReportError(f"--stripe-count: {stripes} is more than there are --targets: {options.targets}")
    return patterns.checkpoint(options.workers, options.targets, options.shard, options.stripe_size, stripes,
                                       options.interval_ns), ()


def _prefill_to_decode(options):
    options.token_bytes = options.given_token_bytes or inference.bytes_per_token(
        options.layers, options.kv_heads, options.head_dimension, options.bytes_per_value)
    trace = inference.prefill_to_decode(options)
    prompts = len(trace.rows) // (options.layers if options.layers_apart else 1)
    rate = inference.requests_per_second(options)
    used = rate * options.prompt.mean / (options.prefill_workers * options.prefill_rate)
    return trace, (("prompts",
                    f"{units.counted(prompts, 'prompt')} drawn, {rate:g} per second planned (prefill workers used for "
                    f"{units.percent(used)}), {options.token_bytes / 1024:g} KiB per token"),)


def _collective(options):
    algorithm = options.algorithm or collectives.ALGORITHMS[options.kind][0]
    trace = collectives.make(options.kind, algorithm, options.workers, options.size, options.compute_ns,
                             step_compute_ns=options.step_compute_ns, pieces=options.pieces)
    name = options.name or f"{options.kind}-{algorithm}"
    made = collectives.Collective(name, f"{name}.csv", trace, options.kind, algorithm, options.workers, options.size,
                                  options.compute_ns, options.first_worker, options.at_ns)
    before = traffic_files.read(options.out) if options.add else collectives.Collectives((), 0)
    if before.kind != "collectives":
        raise ReportError(f"--add: {options.out} is a {before.kind}; a directory with collectives.toml is expected")
    twice_ns = options.at_ns + rounded_up_ns(int(2e9 * made.unhindered_s(options.link)))
    return collectives.Collectives(before.parts + (made,), options.interval_ns or max(before.interval_ns, twice_ns)), ()


def _combine(options):
    trace, parts = combine.combine([(one, traffic_files.read(one.file)) for one in options.parts], options.interval_ns)
    return trace, [("part", f"{one.file}: {units.counted(times, 'time')}, producers from {one.first_producer}, "
                            f"consumers from {one.first_consumer}") for one, times in parts]


def _many_to_many(options):
    return patterns.many_to_many(options.producers, options.consumers, options.bytes_per_pair,
                                 options.bytes_per_producer, options.interval_ns), ()


def _all_to_all(options):
    return patterns.all_to_all(options.workers, options.bytes_per_pair, options.bytes_per_producer, options.with_own,
                               options.interval_ns), ()


_GENERATORS = {
    "combine": _combine, "collective": _collective, "all-to-all": _all_to_all, "permutation": _permutation,
    "incast": _many_to_many, "outcast": _many_to_many, "checkpoint": _checkpoint,
    "prefill-to-decode": _prefill_to_decode,
    "mixture-of-experts": lambda options: (experts.mixture_of_experts(options), ())}


# --- What reads files.


def _show(options, _):
    record = traffic_summary.summary(file_of(options.file), traffic_files.read(options.file), options.link)
    _print(options, record, traffic_summary.lines(record))


def _isolate(options, words):
    loaded = traffic_files.read(options.file)
    try:
        made = isolate.isolate(loaded, options.link, options.factor, options.period_ns, options.sample, options.seed)
    except ReportError as error:
        raise ReportError(f"{options.file}: {error}") from error
    file = file_of(options.file)

    def next_commands(written):
        return [traffic_summary.simulate_command(file, loaded, options.link, "loaded"),
                traffic_summary.simulate_command(written, made, options.link, "isolated", sums(loaded)),
                "weir-traffic slowdown loaded isolated"]

    all_of_them = units.counted(len(isolate.distinct(loaded)), "different transfer")
    _put(options, words, made, (("isolated", f"{len(made.phases)} of {all_of_them} of {file}, for links of "
                                            f"{rate_text(options.link)}"),),
         next_commands)


def _slowdown(options, _):
    result = slowdown.compare(slowdown.read_transfers(options.loaded), slowdown.read_transfers(options.isolated))
    for directory in (options.loaded, options.isolated):
        remark = slowdown.remark_on(directory)
        if remark:
            print(f"weir-traffic: {remark}", file=sys.stderr)
    if options.csv:
        whole_file.replace(options.csv, slowdown.as_csv(result))
    _print(options, slowdown.record(result, options.loaded, options.isolated), slowdown.text_lines(result))


def _interference(options, _):
    record = interference.compare(options.beside, options.alone)
    _print(options, record, interference.text_lines(record))


def _check_order(options, _):
    record = step_order.check(options.file, traffic_files.read(options.file), options.run)
    _print(options, record, step_order.text_lines(record))
    return 1 if record["violation_count"] else 0


def _replay(options, words):
    flows = traffic_flows.read(options.file)
    if options.out.exists():
        raise ReportError(f"--out: {options.out} exists already; the name of a new directory is expected")
    file = traffic_files.write(f"{options.out}.csv", flows.trace,
                               [f"weir-traffic {VERSION}: {_one_line(shlex.join(words))}"])
    printed = replay.run(replay.command(programs.find_weir(), file, flows, options.out, options.link,
                                        at_once=options.at_once, more=options.weir_options))
    if "--dry-run" in options.weir_options:
        print(printed, end="")
        return
    made = replay.record(options.file, flows, options.out)
    _print(options, made, replay.lines(made))
