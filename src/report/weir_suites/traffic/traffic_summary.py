"""What a traffic file asks of the links: the summary that every kind of weir-traffic prints, as text and as JSON.

The ideal completion time is the bytes of the busiest link over its speed. No schedule is faster, and if all transfers
begin together a fluid that shares well reaches it; headers are not counted."""

import shlex
import statistics

from weir_runs.basics import units
from weir_runs.basics.quantities import rate_text, rounded_up_ns, time_text
from .collectives import FACTORS
from .traffic_model import SLOTS_MAX, STREAMS_MAX, ideal_ns, peers, sums

SCHEMA = "weir-traffic/1"
LINES_MAX = 12  # of phases
LINKS_MAX = 16  # whose loads are shown one by one
REPETITIONS, FEW_REPETITIONS = 10, 3  # intervals that the suggested command measures: of a short matrix, and else


def summary(path, traffic, link, next_commands=None):
    """The record that --json prints. `path`: the file that weir is given; `link`: b/s of every link, each direction;
    `next_commands`: what to try next, if that is not a simulation of it."""
    found = sums(traffic)
    interval_ns = traffic.interval_ns or suggested_interval_ns(traffic, found, link)
    record = {
        "schema": SCHEMA, "kind": traffic.kind, "file": str(path), "producers": len(found.sent),
        "consumers": len(found.received),
        "pairs": found.pairs, "transfers": _transfers(traffic), "total_bytes": found.total,
        "largest_sender": _largest(found.sent, "producer"), "largest_receiver": _largest(found.received, "consumer"),
        "link_bits_per_second": link, "interval_s": interval_ns * 1e-9,
        "interval_is_given": traffic.interval_ns is not None,
        # Phases and transfers of a trace are apart in time, so that only a matrix has one completion.
        "ideal_s": ideal_ns(found.largest, link) * 1e-9 if traffic.kind == "matrix" else None,
        "load": ideal_ns(found.largest, link) / interval_ns,
        "producer_load": [ideal_ns(size, link) / interval_ns for size in found.sent],
        "consumer_load": [ideal_ns(size, link) / interval_ns for size in found.received]}
    if traffic.kind == "sequence":
        record["phases"] = [_phase(phase, found, link) for phase in traffic.phases]
    if traffic.kind == "collectives":
        record["collectives"] = [_collective(part, link) for part in traffic.parts]
    if traffic.kind == "trace":
        record["largest_transfer_bytes"] = max(size for _, size in traffic.transfers())
    record["next"] = next_commands or [simulate_command(path, traffic, link)]
    return record


def _transfers(traffic):
    if traffic.kind == "sequence":
        return sum(phase.repeat * len(phase.matrix.pairs) for phase in traffic.phases)
    if traffic.kind == "collectives":
        return sum(len(part.trace.rows) for part in traffic.parts)
    return len(traffic.rows) if traffic.kind == "trace" else len(traffic.pairs)


def _collective(part, link):
    fabric = part.fabric_bytes()
    return {"name": part.name, "kind": part.collective, "algorithm": part.algorithm, "first_worker": part.first_worker,
            "workers": part.workers, "bytes": part.size, "bus_factor": part.bus_factor,
            "compute_s": part.compute_ns * 1e-9,
            "fabric_bytes_mean": sum(fabric) // part.workers, "fabric_bytes_max": max(fabric),
            "ideal_s": part.ideal_s(link)}


def _largest(by_rank, role, count=None):
    """`count`: of all ranks, over which the mean is taken; some may have nothing."""
    largest = max(by_rank)
    return {"role": role, "index": by_rank.index(largest), "bytes": largest,
            "over_mean": largest * (count or len(by_rank)) / sum(by_rank)}


def _phase(phase, whole, link):
    found = sums(phase.matrix)
    ideal = ideal_ns(found.largest, link)
    return {"name": phase.name, "period_s": phase.period_ns * 1e-9, "repeat": phase.repeat, "pairs": found.pairs,
            "bytes": found.total, "ideal_s": ideal * 1e-9, "load": ideal / phase.period_ns,
            "largest_sender": _largest(found.sent, "producer", len(whole.sent)),
            "largest_receiver": _largest(found.received, "consumer", len(whole.received))}


def suggested_interval_ns(traffic, found, link):
    """Twice the ideal time of a matrix; what a trace covers, rounded up."""
    if traffic.kind == "trace":
        return rounded_up_ns(traffic.rows[-1][0] + 1)
    return rounded_up_ns(2 * ideal_ns(found.largest, link))


def simulate_command(path, traffic, link, out=None, like=None):
    """`like`: the Sums of a traffic whose ranks there are to be, also those that have nothing here."""
    found = sums(traffic)
    interval_ns = traffic.interval_ns or suggested_interval_ns(traffic, found, link)
    words = ["weir", "simulate", "--pattern", f"{traffic.kind}:{path}"]
    if traffic.kind not in ("sequence", "collectives"):  # which have their own
        words += ["--interval", time_text(interval_ns)]
    for option, ours, theirs in (("--producers", found.sent, like and like.sent),
                                 ("--consumers", found.received, like and like.received)):
        if theirs and len(theirs) > len(ours):
            words += [option, str(len(theirs))]
    speed = rate_text(link)
    if traffic.kind == "collectives":
        words += [word for option, value in unscheduled(traffic) for word in (f"--{option}", value)]
    repetitions = REPETITIONS if traffic.kind == "matrix" and interval_ns <= 10**9 else FEW_REPETITIONS
    words += ["--producer-link", speed, "--consumer-link", speed, "--duration", time_text(repetitions * interval_ns),
              "--warmup", time_text(interval_ns)]
    return shlex.join(words + (["--out", out] if out else []))


def unscheduled(traffic):
    """(option, text) pairs with which each transfer begins when its inputs are there, as in a library of collectives:
    as one event, and nothing grants."""
    senders, receivers = peers(traffic)
    largest = max(size for _, size in traffic.transfers())
    return [("policy", "none"), ("event-size", f"{largest}B"), ("slots", str(min(SLOTS_MAX, 2 * senders))),
            ("streams", str(min(STREAMS_MAX, 2 * receivers)))]


# --- Text.


def lines(record, remarks=()):
    """As the summary of a run: a word, then what there is to say. `remarks`: more pairs of these."""
    made = [("traffic", f"{record['kind']} {record['file']}"),
            ("ranks", f"{units.counted(record['producers'], 'producer')}, "
                      f"{units.counted(record['consumers'], 'consumer')}, {units.counted(record['pairs'], 'pair')}"
             + ("" if record["kind"] == "matrix"
                else f"; {units.counted(record['transfers'], 'transfer')} per interval")),
            ("bytes", f"{units.text(record['total_bytes'], 'B')} in all" + _transfer_size(record)),
            ("largest sender", _rank_text(record["largest_sender"])),
            ("largest receiver", _rank_text(record["largest_receiver"]))]
    speed = units.text(record["link_bits_per_second"], "b/s")
    if record["ideal_s"] is not None:
        made.append(("ideal completion", f"{units.text(record['ideal_s'], 's')} with {speed} on every link"))
    given = "" if record["interval_is_given"] else " (not in the file: suggested)"
    made.append(("interval", units.text(record["interval_s"], "s") + given))
    made.append(("load of links", f"with {speed}: " + _load_text(record["load"])))
    made += [(f"  {role}s", _loads(record[f"{role}_load"])) for role in ("producer", "consumer")]
    made += _phase_lines(record.get("phases", []))
    for collective in record.get("collectives", []):
        made += _collective_lines(collective, speed)
    made += remarks
    made += [("" if number else "next", command) for number, command in enumerate(record["next"])]
    width = max(len(word) for word, _ in made) + 2
    return [f"{word:<{width}}{text}" for word, text in made]


def _transfer_size(record):
    mean = f", {units.text(record['total_bytes'] / record['transfers'], 'B')} per transfer"
    if "largest_transfer_bytes" in record:
        mean += f" (largest {units.text(record['largest_transfer_bytes'], 'B')})"
    return mean


def _rank_text(rank):
    return (f"{rank['role']} {rank['index']}: {units.text(rank['bytes'], 'B')}, {units.number(rank['over_mean'])} x "
            "the mean")


def _load_text(load):
    over = ": more than they can carry" if load > 1 else ""
    return f"the busiest is used for {units.percent(load)} of the time{over}"


def _loads(loads):
    if len(loads) <= LINKS_MAX:
        return "  ".join(units.percent(load) for load in loads)
    return (f"{units.percent(min(loads))} to {units.percent(max(loads))}, median "
            f"{units.percent(statistics.median(loads))}")


def _phase_lines(phases):
    made = []
    for phase in phases[:LINES_MAX]:
        repeat = f" x {phase['repeat']}" if phase["repeat"] > 1 else ""
        receiver = (f", largest receiver {units.number(phase['largest_receiver']['over_mean'])} x the mean"
                    if phase["pairs"] > 1 else "")
        made.append((f"phase {phase['name']}", f"{units.text(phase['period_s'], 's')}{repeat}, "
                                               f"{units.counted(phase['pairs'], 'pair')}, "
                     f"{units.text(phase['bytes'], 'B')}, ideal completion {units.text(phase['ideal_s'], 's')} "
                     f"({units.percent(phase['load'])} of the period){receiver}"))
    if len(phases) > LINES_MAX:
        made.append(("", f"and {len(phases) - LINES_MAX} more phases"))
    return made


def _collective_lines(collective, speed):
    factor = FACTORS[collective["kind"]]
    size = f"S {units.text(collective['bytes'], 'B')}, f = {factor} = {collective['bus_factor']:g}"
    first, ideal = collective["first_worker"], units.text(collective["ideal_s"], "s")
    return [(collective["name"], f"{collective['kind']}, {collective['algorithm']}, workers {first} to "
                                 f"{first + collective['workers'] - 1}, {size}, S_fabric "
                                 f"{units.text(collective['fabric_bytes_mean'], 'B')}"),
            ("", f"BusBW = S x f / time; ideal JCT = C + 8 S f / B = {ideal} with {speed}")]
