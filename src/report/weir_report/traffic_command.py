"""weir-traffic: traffic matrices, sequences and traces for weir, and what they ask of the links."""

import shlex
import sys

from . import (sweep_launch, traffic_experts, traffic_files, traffic_flows, traffic_inference, traffic_isolate, traffic_patterns,
               traffic_replay, traffic_slowdown, traffic_summary, units, whole_file)
from .errors import ReportError, status_of
from .quantities import rate_text
from .traffic import INTERVAL_MAX_NS, sums
from .traffic_options import parse, parser  # noqa: F401: manual pages and completions are made from parser
from .traffic_summary import shown_path
from .version import VERSION



def main(argv=None):
    options = parse(sys.argv[1:] if argv is None else map(str, argv))
    chosen = {"show": _show, "isolate": _isolate, "slowdown": _slowdown, "replay": _replay}.get(options.command, _generate)
    return status_of("weir-traffic", lambda: chosen(options, argv))


def _generate(options, argv):
    made, remarks = _GENERATORS[options.command](options)
    if made.interval_ns and made.interval_ns > INTERVAL_MAX_NS:
        raise ReportError(f"{_interval_option(options)}: the interval is above 1h, which is weir's longest")
    _put(options, argv, made, remarks)


def _interval_option(options):
    return {"checkpoint": "--every", "mixture-of-experts": "--period, --layers"}.get(options.command, "--interval")


def _put(options, argv, made, remarks, next_commands=None):
    """Writes the traffic and prints its summary; `remarks`: (word, text) pairs for people. `next_commands(file)`: what to try next."""
    words = sys.argv[1:] if argv is None else argv
    written = traffic_files.write(options.out, made, [f"weir-traffic {VERSION}: {_one_line(shlex.join(words))}"])
    record = traffic_summary.summary(written, made, options.link, next_commands and next_commands(written))
    if options.json:
        print(whole_file.json_text(record), end="")
        return
    print("\n".join(traffic_summary.lines(record, remarks)))


def _one_line(text):
    """A comment ends at the end of its line."""
    return text.replace("\n", " ").replace("\r", " ")


# --- One function per kind: (traffic, remarks).


def _all_to_all(options):
    return traffic_patterns.all_to_all(options.workers, options.bytes_per_pair, options.bytes_per_producer, options.with_own,
                                       options.interval_ns), ()


def _permutation(options):
    shift = 1 if options.shift is None else options.shift
    if not options.random and shift % options.workers == 0:
        raise ReportError(f"--shift: with {shift} each of {options.workers} workers would send to itself; a number from 1 to "
                          f"{options.workers - 1} is expected")
    generator = traffic_patterns.seeded(options.seed) if options.random else None
    return traffic_patterns.permutation(options.workers, options.bytes_per_pair, shift, generator, options.interval_ns), ()


def _many_to_many(options):
    return traffic_patterns.many_to_many(options.producers, options.consumers, options.bytes_per_pair, options.bytes_per_producer,
                                         options.interval_ns), ()


def _checkpoint(options):
    stripes = options.stripe_count or options.targets
    if stripes > options.targets:
        raise ReportError(f"--stripe-count: {stripes} is more than there are --targets: {options.targets}")
    return traffic_patterns.checkpoint(options.workers, options.targets, options.shard, options.stripe_size, stripes,
                                       options.interval_ns), ()


def _prefill_to_decode(options):
    options.token_bytes = options.given_token_bytes or traffic_inference.bytes_per_token(
        options.layers, options.kv_heads, options.head_dimension, options.bytes_per_value)
    trace = traffic_inference.prefill_to_decode(options)
    prompts = len(trace.rows) // (options.layers if options.layers_apart else 1)
    rate = traffic_inference.requests_per_second(options)
    used = rate * options.prompt.mean / (options.prefill_workers * options.prefill_rate)
    return trace, (("prompts", f"{units.counted(prompts, 'prompt')} drawn, {rate:g} per second planned (prefill workers used for "
                               f"{units.percent(used)}), {options.token_bytes / 1024:g} KiB per token"),)


def _mixture_of_experts(options):
    return traffic_experts.mixture_of_experts(options), ()


_GENERATORS = {"all-to-all": _all_to_all, "permutation": _permutation, "incast": _many_to_many, "outcast": _many_to_many,
               "checkpoint": _checkpoint, "prefill-to-decode": _prefill_to_decode, "mixture-of-experts": _mixture_of_experts}


# --- What reads files.


def _show(options, _):
    record = traffic_summary.summary(shown_path(options.file), traffic_files.read(options.file), options.link)
    print(whole_file.json_text(record) if options.json else "\n".join(traffic_summary.lines(record)) + "\n", end="")


def _isolate(options, argv):
    loaded = traffic_files.read(options.file)
    try:
        made = traffic_isolate.isolate(loaded, options.link, options.factor, options.period_ns, options.sample, options.seed)
    except ReportError as error:
        raise ReportError(f"{options.file}: {error}") from error
    file = shown_path(options.file)

    def next_commands(written):
        return [traffic_summary.simulate_command(file, loaded, options.link, "loaded"),
                traffic_summary.simulate_command(written, made, options.link, "isolated", sums(loaded)), "weir-traffic slowdown loaded isolated"]

    all_of_them = units.counted(len(traffic_isolate.distinct(loaded)), "different transfer")
    _put(options, argv, made, (("isolated", f"{len(made.phases)} of {all_of_them} of {file}, for links of {rate_text(options.link)}"),),
         next_commands)


def _slowdown(options, _):
    result = traffic_slowdown.compare(traffic_slowdown.read_transfers(options.loaded), traffic_slowdown.read_transfers(options.isolated))
    for directory in (options.loaded, options.isolated):
        remark = traffic_slowdown.remark_on(directory)
        if remark:
            print(f"weir-traffic: {remark}", file=sys.stderr)
    if options.csv:
        traffic_files.put(options.csv, traffic_slowdown.as_csv(result))
    if options.json:
        print(whole_file.json_text(traffic_slowdown.record(result, options.loaded, options.isolated)), end="")
    else:
        print("\n".join(traffic_slowdown.text_lines(result)))


def _replay(options, argv):
    flows = traffic_flows.read(options.file)
    if options.out.exists():
        raise ReportError(f"--out: {options.out} exists already; the name of a new directory is expected")
    words = sys.argv[1:] if argv is None else argv
    file = traffic_files.write(f"{options.out}.csv", flows.trace, [f"weir-traffic {VERSION}: {_one_line(shlex.join(map(str, words)))}"])
    traffic_replay.run(traffic_replay.command(sweep_launch.find_weir(), file, flows, options.out, options.link, options.at_once,
                                              options.weir_options))
    made = traffic_replay.record(options.file, flows, options.out)
    print(whole_file.json_text(made) if options.json else "\n".join(traffic_replay.lines(made)) + "\n", end="")


if __name__ == "__main__":
    sys.exit(main())
