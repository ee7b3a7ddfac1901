"""A trace of flows, replayed: slowdowns of made-up traces against what closed forms give.

run: ten seconds of processor time: each case is a trace, which weir-traffic replay simulates with the fluid model and
packet by packet; `check` does all of it again.
What is expected stands beside each case here and was written before the runs; about.md has the formulas.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import studies

NAMES = ("case", "network", "flows", "ideal_us_min", "ideal_us_max", "expected", "least", "most", "slowdown_min",
         "slowdown_max", "outcome",
         "dropped_packets", "weir", "command")
LINK_BYTES_PER_US, LATENCY_US, PAYLOAD, PACKET = 12500, 5.0, 4096, 4178
NETWORKS = ("fluid", "packet")


def wire_us(size, network):
    """Time of a transfer's packets on a link; the fluid counts headers in proportion."""
    headers = -(-size // PAYLOAD) * (PACKET - PAYLOAD) if network == "packet" else size * (PACKET - PAYLOAD) / PAYLOAD
    return (size + headers) / LINK_BYTES_PER_US


def delay_us(size, network):
    """What a transfer takes besides: the latency, and a packet that the switch has stored before it sends it on."""
    return LATENCY_US + (min(PACKET, size + PACKET - PAYLOAD) / LINK_BYTES_PER_US if network == "packet" else 0)


def shared(size, count, network):
    """(least, expected, most) slowdown where `count` transfers go over a link. Packets: the first flow ends a packet of
    each other one before the last one; each waits for up to one in its host; and a last packet that is short need not
    wait in the switch for a full one of its flow, as it does alone."""
    delay, wire = delay_us(size, network), wire_us(size, network)
    if network == "fluid":
        return around((delay + count * wire) / (delay + wire), 0.0005)
    packet = PACKET / LINK_BYTES_PER_US
    return tuple((delay + count * wire + more) / (delay + wire) for more in (-(count + 1) * packet, 0, packet))


def together(size, senders, receivers, begin_us=0):
    return [(begin_us, sender, receiver, size) for sender in senders for receiver in receivers]


def queued(first, size, gap_us):
    """Slowdown of a short transfer that waits until the longer one of its pair has left."""
    ideal = delay_us(size, "packet") + wire_us(size, "packet")
    return (ideal + wire_us(first, "packet") - gap_us) / ideal


def around(value, tolerance):
    return value - tolerance, value, value + tolerance


# Name, flows, options, {network: (least, expected, most)}, which flow is judged (None: all). Tolerances: fluid,
# rounding to nanoseconds; packets, the random time of up to a packet, 0.33 us, that each flow may spend in its host.
def cases():
    sizes = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
    alone = [(5000 * number, 0, 1, size) for number, size in enumerate(sizes)]
    yield "alone", alone, (), {"fluid": around(1, 0.001), "packet": around(1, 0.07)}, None
    yield "alone, 4 hosts with 25 Gb/s", [(5000 * n, 0, 4 + n % 4, 1_000_000) for n in range(4)], (
        "--consumer-link", "100Gb/s,4-7=25Gb/s"), {"fluid": around(1, 0.001), "packet": around(1, 0.004)}, None
    yield "alone, 48 bytes of headers, payload 1000", alone, ("--mtu", "1000B", "--packet-overhead", "48B"), {
        "fluid": around(1, 0.001), "packet": around(1, 0.02)}, None
    yield "alone, to another leaf", alone, (
        "--switch-set", "topology.kind=leaf-spine", "--switch-set",
        "placement.kind=rows"), {"packet": around(1, 0.07)}, None
    yield "permutation of 8", [flow for host in range(8) for flow in together(
                                   1_000_000, [host],
                                   [(host + 1) % 8])], (), {"fluid": around(1, 0.001), "packet": around(1, 0.005)}, None
    for count, size in ((2, 4_000_000), (4, 1_000_000), (8, 500_000), (16, 250_000)):
        expected = {network: shared(size, count, network) for network in NETWORKS}
        yield f"incast of {count}", together(size, range(1, count + 1), [0]), (), expected, None
        yield f"outcast to {count}", together(size, [0], range(1, count + 1)), (), expected, None
    long, short, gap = 1_000_000, 4_000, 10
    behind = [(0, 0, 1, long), (gap, 0, 1, short)]
    yield "short behind long, a queue pair for both", behind, (), {"packet": around(queued(long, short, gap), 0.07)}, 1
    # In its turn: it waits for at most one packet before, in the host, and has its own one in the switch.
    yield "short behind long, a queue pair for each", behind, (
        "--queue-pairs", "event"), {"packet": around(1.06, 0.07)}, 1
    yield "short behind long, fluid", behind, (), {"fluid": shared(short, 2, "fluid")}, 1


def run_case(weir, name, flows, options, network, only):
    with tempfile.TemporaryDirectory(prefix="weir-flows-") as directory:
        top = pathlib.Path(directory)
        lines = [f"{time},{sender},{receiver},{size}" for time, sender, receiver, size in sorted(flows)]
        (top / "flows.csv").write_text("\n".join(["time_us,from,to,bytes", *lines]) + "\n")
        words = ["replay", "flows.csv", "--link", "100Gb/s", "--out", "run", "--", "--network", network, *options]
        done = subprocess.run([sys.executable, "-m", "weir_suites.traffic_command", *words], cwd=top,
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "WEIR": weir, "PYTHONPATH": str(studies.TOP / "src/report"),
                                   "PYTHONDONTWRITEBYTECODE": "1"})
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stderr}")
        run = json.loads((top / "run/run.json").read_text())
        found = list(studies.rows(top / "run/completions.csv"))
    judged = found if only is None else [found[only]]
    slowdowns = [float(line["slowdown"]) for line in judged]
    ideals = [1e6 * float(line["ideal_s"]) for line in judged]
    return {"case": name, "network": network, "flows": len(found), "ideal_us_min": min(ideals),
            "ideal_us_max": max(ideals),
            "slowdown_min": min(slowdowns), "slowdown_max": max(slowdowns), "weir": run["environment"]["weir_version"],
            "dropped_packets": (run.get("switch") or {}).get("dropped_packets"),
            "command": "weir-traffic " + shlex.join(words)}


def outcome(line):
    over = max(float(line["slowdown_max"]) - line["most"], line["least"] - float(line["slowdown_min"]))
    return "PASS" if over <= 0 else f"MISS by {over:.3g}"


def make_lines(options):
    lines = []
    for name, flows, more, expected, only in cases():
        for network, (least, value, most) in expected.items():
            line = run_case(options.weir, name, flows, more, network, only)
            # Not below 1 by more than rounding, whatever the tolerance.
            line |= {"expected": value, "least": max(least, 0.999), "most": most}
            lines.append({**line, "outcome": outcome(line)})
    studies.store_lines(options.out / "runs.csv", NAMES, lines, ())


def page(out):
    lines = studies.stored(out / "runs.csv")
    rows = []
    for line in lines:
        low, high = (float(line[f"slowdown_{end}"]) for end in ("min", "max"))
        found = f"{low:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"
        rows.append([line["case"], line["network"], line["flows"], f"{float(line['expected']):.3f}",
                     f"{float(line['least']):.3f} to {float(line['most']):.3f}", found, line["outcome"]])
    passed = sum(line["outcome"] == "PASS" for line in lines)
    head = ["case", "network", "flows", "expected slowdown", "band", "found", "outcome"]
    parts = {"cases": studies.table(head, rows), "count": f"{passed} of {len(lines)} PASS."}
    return studies.about(out, "flow-trace", parts,
                         "Made by `bench/study flow-trace run`; `table` makes the page of runs.csv. "
                         f"{studies.made_with(lines)}")


STUDY = studies.Study(page, runs={"run": make_lines}, keys={"runs.csv": ("case", "network")}, replay=make_lines)
