"""Replays a trace of flows with weir simulate, and says by how much its flows were slower than alone, by size.

Nothing schedules (--policy none): a flow begins at its time. What holds flows up is then the network alone. Each is one
event and one message, and so many of a pair can be under way at a time; control messages do not share the links."""

import subprocess

from weir_runs.basics import programs, quantities, text_table, units
from weir_runs.basics.errors import ReportError
from weir_runs.reading import transfer_tables
from weir_runs.reading.run_record import read_run_record
from .traffic_model import SLOTS_MAX, STREAMS_MAX, peers

SCHEMA = "weir-replay/1"
# Of weir (src/config/limits.hpp).
_CHUNK_MAX = 1 << 30


def command(weir, file, flows, out, link, *, at_once, more):
    """The words of the simulation. `file`: the trace as weir reads it; `more`: the caller's options, which take the
    place of these."""
    most, receivers = peers(flows.trace)
    if most > SLOTS_MAX:
        raise ReportError(f"{most} hosts send to one; weir allows {SLOTS_MAX} slots, and each sender needs one")
    largest = max(size for *_, size in flows.trace.rows)
    span = quantities.time_text(quantities.rounded_up_ns(flows.trace.rows[-1][0] + 1))
    speed = quantities.rate_text(link)
    ours = {"pattern": f"trace:{file}", "producers": flows.hosts, "consumers": flows.hosts, "policy": "none",
            "interval": span, "duration": span, "warmup": "0s", "event-size": f"{largest}B", "slot-size": f"{largest}B",
            "chunk-size": f"{min(largest, _CHUNK_MAX)}B", "slots": min(SLOTS_MAX, most * at_once),
            "streams": min(STREAMS_MAX, receivers * at_once), "scheduler-time": "0ns",
            "network": "packet", "control-network": "separate",
            "producer-link": speed, "consumer-link": speed}
    given = {word[2:].partition("=")[0] for word in more if word.startswith("--")}
    fluid = "fluid" in more or "--network=fluid" in more
    if fluid:
        given.add("control-network")
    words = [programs.simulator(weir), "simulate"]
    for option, value in ours.items():
        if option not in given:
            words += [f"--{option}", str(value)]
    has_hosts = not given & {"producer-link", "consumer-link",
                             "transport"} and not any(word.endswith(".toml") for word in more)
    if has_hosts and not fluid:  # a host of the trace sends and receives by one NIC
        words += ["--switch-set", "placement.kind=by-worker"]
    return words + ["--quiet", "--out", str(out), *more]


def run(words):
    """What weir prints. Raises ReportError if it does not end as it should."""
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        said = ended.stderr.strip().splitlines()
        raise ReportError(f"weir simulate ended with {ended.returncode}" + (f": {said[-1]}" if said else ""))
    return ended.stdout


def record(file, flows, out):
    directory, run_record = read_run_record(out)
    classes = run_record.get("size_classes")
    if classes is None:
        raise ReportError(f"{directory / 'run.json'}: it has no sizes of transfers; the run of a trace is expected")
    return {"schema": SCHEMA, "file": str(file), "run": str(out), "hosts": flows.hosts, "flows": len(flows.trace.rows),
            "bytes": sum(size for *_, size in flows.trace.rows), "first_s": flows.first_ns * 1e-9,
            "moved_flows": flows.moved, "flows_within_hosts": flows.within_hosts, "size_classes": classes}


def lines(made):
    remarks = [f"{units.counted(made['flows'], 'flow')} of {units.counted(made['hosts'], 'host')}, "
               f"{units.text(made['bytes'], 'B')}; the first begins at {units.text(made['first_s'], 's')}"]
    if made["moved_flows"]:
        remarks.append(f"{units.counted(made['moved_flows'], 'flow')} moved by nanoseconds: another of the same pair "
                       "begins at that time")
    if made["flows_within_hosts"]:
        remarks.append(f"{units.counted(made['flows_within_hosts'], 'flow')} within a host left out")
    rows = [("size", "flows", "incomplete", "median", "p99", "slowdown", "median", "p99", "worst"),
            *transfer_tables.rows_of_sizes(made["size_classes"])]
    words = ["trace", *[""] * (len(remarks) - 1)]
    return [f"{word:<7}{remark}" for word, remark in zip(words, remarks)] + [f"{'run':<7}{made['run']}",
                                                                             ""] + text_table.aligned(rows)
