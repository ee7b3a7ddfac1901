"""The five rows of the LHCb 2021 paper, measured: all 33 or 87 hosts of each in a lab on this machine, links and rates
scaled down, beside the simulator with the same scale, framing, seed and duration. Misses included.

    bench/study lhcb2021-lab rows [--scale 1/200] [--rows 1,2,3,4,5] [--buffer deep]
    bench/study lhcb2021-lab slow [--scale 1/800] [--rows 1,2,3,4,5]
    bench/study lhcb2021-lab buffers [--scale 1/800]

rows: rows 2, 4 and 5 for 300 s as in the paper, because their consumers are busy at random; rows 1 and 3 for 60 s; 20
minutes.
slow: the same with --time-scale 10, 15 and 30 seconds of the paper, and packets in small bundles: what a packet and a
message take is then a tenth of what it is in `rows`, beside an event; 23 minutes. buffers: row 3 with shallow and deep
switch buffers, at a scale at which the machine is not the limit; four minutes. Each run is written to runs.csv or
buffers.csv as it ends (a later run of the same kind replaces it), and README.md and its figures are made of them. Runs
need root, as bench/lab does.
"""

import fractions
import json
import os
import pathlib
import shlex
import statistics
import tempfile
import time

import studies
from studies import TOP, number

studies.borrow("lhcb2021")
import model  # noqa: E402

PAPER = {
    # row: sustained, producers Gb/s, consumers: lowest, mean, highest Gb/s in a second, most blocked at once
    1: ("yes", 85.8, 11.8, 16.8, 20.4, 0),
    2: ("yes", 85.8, 0.0, None, 20.4, 12),
    3: ("yes", 74.0, None, 95.2, None, 0),
    4: ("yes", 63.3, None, 81.4, None, 6),
    5: ("first, until about 200 s", 63.3, None, None, 95.0, 4),
}
# row: producers, consumers, links in Gb/s
LAYOUT = {1: (14, 72, 100, 25), 2: (14, 72, 100, 25), 3: (18, 14, 100, 100), 4: (18, 14, 100, 100),
          5: (18, 14, 100, 100)}
SECONDS = {1: 60, 2: 300, 3: 60, 4: 300, 5: 300}
# Lengths of `slow`, in seconds of the paper: each takes ten.
SLOW_SECONDS = {1: 15, 2: 30, 3: 15, 4: 30, 5: 30}
# Jumbo frames, as RDMA with 4096 bytes per packet needs them: rows 3 to 5 need 95.1 % of the consumers' links, and at
# MTU 1500 TCP leaves 94.1.
MTU = 9000
# The same in the comparison of buffers, or it would compare how much CPU time bundles save. Two packets.
BUNDLE = "18028B"
# scale, times longer, rows, buffers
DEFAULTS = {"rows": ("1/200", 1, "1,2,3,4,5", "deep"), "slow": ("1/800", 10, "1,2,3,4,5", "deep"),
            "buffers": ("1/800", 1, "3", "32KiB,64KiB,256KiB,1MiB,deep")}
RUN_NUMBERS = ("row", "world", "buffer", "scale", "time_scale", "duration_s", "seed", "sustained",
               "first_overflow_second", "max_occupancy",
               "blocked_at_once_max", "producers_gbps", "consumers_mean_gbps", "slowest_consumer_mean_gbps",
               "fastest_consumer_mean_gbps", "lowest_second_gbps", "highest_second_gbps", "delivery_us_p50",
               "delivery_us_p99",
               "delivery_us_max", "lost_events", "poll_gap_us_max", "cpu_busy_share", "cpu_own_share", "load_before",
               "segments_sent",
               "segments_retransmitted", "timeouts", "port_drops_packets", "weir", "mpi")
KEY = ("row", "world", "buffer", "scale", "time_scale", "seed")
# The page of the paper compares some of these for the five rows, too.
OBSERVED = (*KEY, *model.MEASURED, "weir")


def scaled(gbps, scale):
    return f"{float(gbps * 10**9 * scale):.0f}b/s"


def run_options(row, options, seconds):
    slower = ["--time-scale", str(options.time_scale)] if options.time_scale != 1 else []
    return ["--scenario", f"lhcb2021-{row}", "--scale", str(options.scale), *slower, "--duration", f"{seconds}s",
            "--warmup", f"{options.warmup}s",
            "--seed", str(options.seed)]


def cpu_times():
    user, nice, system, idle, wait, *rest = (int(value) for value in open("/proc/stat").readline().split()[1:9])
    return user + nice + system + sum(rest), idle + wait


def measured(run, directory, time_scale):
    """What the page shows of a run: its run.json, and the rows of its ranks. `time_scale`: as model.measured has it."""
    consumers, producers = ([[second[0] * 8e-9 for second in rank] for rank in model.paper_seconds(
        model.seconds_of(directory, role, (column,)), of, statistics.fmean)]
        for role, column, of in (("consumer", "received_bytes", time_scale), ("producer", "sent_bytes", 1)))
    means = [statistics.fmean(rank) for rank in consumers]
    first = run["verdict"]["first_overflow_second"]
    return {
        "sustained": run["verdict"]["sustained"], "first_overflow_second": None if first is None
        else first // time_scale,
        "max_occupancy": run["totals"]["max_occupancy"], "blocked_at_once_max": run["verdict"]["blocked_at_once_max"],
        "producers_gbps": statistics.fmean(statistics.fmean(rank) for rank in producers),
        "consumers_mean_gbps": statistics.fmean(means),
        "slowest_consumer_mean_gbps": min(means), "fastest_consumer_mean_gbps": max(means),
        "lowest_second_gbps": min(min(rank) for rank in consumers),
        "highest_second_gbps": max(max(rank) for rank in consumers),
    }


def one_run(options, row, world, buffer, seconds):
    """A run in the lab or in the simulator: its numbers, in the paper's scale."""
    producers, consumers, producer_link, consumer_link = LAYOUT[row]
    scale = options.scale
    with tempfile.TemporaryDirectory(prefix="weir-lab-") as directory:
        counters = pathlib.Path(directory) / "counters.json"
        common = run_options(row, options, seconds)
        if world == "lab":
            words = [str(TOP / "bench/lab"), "with", "--name", "paper", "--producers", str(producers), "--consumers",
                     str(consumers),
                     "--producer-link", scaled(producer_link, scale), "--consumer-link", scaled(consumer_link, scale),
                     "--buffer", buffer, "--mtu", f"{MTU}B", "--pml", options.pml, "--counters", str(counters), "-q",
                     *(["--bundle", BUNDLE] if options.what != "rows" else []), "--", "weir", "run", *common]
        else:
            words = [options.weir, "simulate", *common, "--framing", "tcp", "--mtu", f"{MTU}B"]
        print(f"== row {row}, {world}" + (f", buffer {buffer}" if world == "lab" else "")
              + f": {shlex.join(words)} --out ...", flush=True)
        load_before, before, own_before = os.getloadavg()[0], cpu_times(), os.times()
        with studies.finished(words, env={**os.environ, "WEIR": options.weir}) as (run, out):
            after, own_after = cpu_times(), os.times()
            numbers = measured(run, out, options.time_scale)
            numbers = {name: value / float(scale) if name.endswith("_gbps") else value
                       for name, value in numbers.items()}
            if options.what != "buffers":
                numbers |= model.measured(out, run, row, {"event": "128MiB"}, float(scale), options.time_scale)
        own_s = sum(now - then for now, then in zip(own_after[2:4], own_before[2:4]))
        delivery = run["latency"]["delivery"]
        busy, idle = (now - then for now, then in zip(after, before))
        numbers |= {
            "row": row, "world": world, "buffer": buffer if world == "lab" else "", "scale": str(scale),
            "time_scale": options.time_scale,
            "duration_s": seconds,
            "seed": options.seed, "delivery_us_p50": delivery["p50_us"], "delivery_us_p99": delivery["p99_us"],
            "delivery_us_max": delivery["max_us"], "lost_events": run["totals"]["lost_events"],
            "weir": run["environment"]["weir_version"],
        }
        if world == "lab":
            counted = json.loads(counters.read_text()).values()
            numbers |= {name: sum(host[name] for host in counted)
                        for name in ("segments_sent", "segments_retransmitted", "timeouts", "port_drops_packets")}
            numbers |= {"poll_gap_us_max": max(rank["poll_gap_max_us"] for rank in run["ranks"]),
                        "cpu_busy_share": busy / (busy + idle),
                        "cpu_own_share": own_s / os.cpu_count() / (own_after.elapsed - own_before.elapsed),
                        "load_before": load_before,
                        "mpi": run["environment"]["mpi_library"].split(",")[0]}
        print(f"   {run['verdict']['text']}", flush=True)
        return numbers


def store(file, numbers, names=RUN_NUMBERS):
    """Adds a run, in place of an earlier one of the same kind; in order."""
    studies.store(file, names, numbers, KEY)
    studies.write_lines(file, names, sorted(studies.stored(file), key=lambda run: [run[name] for name in KEY]))


def store_row(out, numbers):
    store(out / "runs.csv", numbers)
    store(out / "observations.csv", numbers, OBSERVED)


def replay(trial):
    """Two of the simulated rows: one on time, and one that fills its buffers slowly."""
    for what, row, seconds in (("rows", 3, SECONDS), ("slow", 5, SLOW_SECONDS)):
        choose_scale(trial, what)
        store_row(trial.out, one_run(trial, row, "simulator", "", seconds[row]))


def choose_scale(options, what):
    """What was not given, as usual for `what`."""
    scale, options.time_scale, _, _ = DEFAULTS[what]
    options.scale = options.given_scale or fractions.Fraction(scale)
    options.warmup = options.given_warmup or (2 if what == "slow" else 10)


# ---------------------------------------------------------------------------------------------------------- tables


def verdict_text(run):
    if run is None:
        return "not run"
    if run["sustained"] == "True":
        return f"yes ({run['duration_s']} s)"
    first = run["first_overflow_second"]
    return (f"no; first overflow in second {first}" if first else "no") + f" of {run['duration_s']}"


def late_text(run):
    return "" if run is None else "0" if float(run["late_share"]) == 0 else f"{100 * float(run['late_share']):.3g} %"


def rows_table(runs):
    lines = []
    for row, (sustained, producers, low, mean, high, blocked) in PAPER.items():
        pair = [next((run for run in runs if run["row"] == str(row) and run["world"] == world), None)
                for world in ("simulator", "lab")]
        if pair == [None, None]:
            continue
        lines += [[row, "sustained", sustained, *(verdict_text(run) for run in pair)],
                  ["", "late sets", "", *(late_text(run) for run in pair)]]
        for what, said, name, form in (
                ("producers, Gb/s", paper_text(producers), "producers_gbps", "{:.1f}"),
                ("consumers, mean Gb/s", paper_text(mean), "consumers_mean_gbps", "{:.1f}"),
                ("slowest consumer, mean Gb/s", "", "slowest_consumer_mean_gbps", "{:.1f}"),
                ("one consumer in one second, lowest Gb/s", paper_text(low), "lowest_second_gbps", "{:.1f}"),
                ("highest Gb/s", paper_text(high), "highest_second_gbps", "{:.1f}"),
                ("most consumers blocked at once", str(blocked), "blocked_at_once_max", "{:.0f}"),
                ("worst occupancy (of a buffer of two sets)", "", "max_occupancy", "{:.2f}")):
            lines.append(["", what, said, *(number(run, name, form) for run in pair)])
    return studies.table(["row", "what", "paper", "simulator", "lab"], lines)


def facts_table(runs):
    lines = [[run["row"], run["scale"], run["buffer"], sent_again(run), run["port_drops_packets"],
              f"{float(run['poll_gap_us_max']) / 1000:.0f} ms",
              *cpu_shares(run)] for run in runs if run["world"] == "lab"]
    return studies.table(["row", "scale", "switch buffer", "sent again", "ports dropped", "longest turn of a rank",
                          "CPU: all", "of the lab"], lines)


def cpu_shares(run):
    return [f"{100 * float(run[name]):.0f} %" for name in ("cpu_busy_share", "cpu_own_share")]


def sent_again(run):
    return f"{100 * int(run['segments_retransmitted']) / max(1, int(run['segments_sent'])):.2f} %"


def size_order(text):
    return float("inf") if text == "deep" else int(text.rstrip("KMiB")) * (1024 if "M" in text else 1)


def buffers_table(runs):
    lines = []
    for run in sorted(runs, key=lambda run: (run["row"], size_order(run["buffer"]))):
        delivery = " / ".join(f"{float(run[f'delivery_us_{name}']) / 1e6:.2f}" for name in ("p50", "p99", "max"))
        lines.append([run["row"], run["buffer"], verdict_text(run), number(run, "max_occupancy", "{:.2f}"),
                      number(run, "slowest_consumer_mean_gbps"), delivery, sent_again(run), run["port_drops_packets"],
                      run["timeouts"], *cpu_shares(run)])
    return studies.table(["row", "buffer per port", "sustained", "worst occupancy", "slowest consumer, mean Gb/s",
                          "delivery p50 / p99 / max, s", "sent again", "ports dropped", "timeouts", "CPU: all",
                          "of the lab"], lines)


def paper_text(value):
    return "not given" if value is None else f"{value:g}"


def page(out):
    observed = {tuple(run[name] for name in KEY): run for run in studies.stored(out / "observations.csv")}
    rows = [{**run, "late_share": observed[tuple(run[name] for name in KEY)]["late_share"]}
            for run in studies.stored(out / "runs.csv")]
    buffers = studies.stored(out / "buffers.csv")
    parts = ["# LHCb 2021 in a lab: paper, simulator and measured runs",
             "Made by `bench/study lhcb2021-lab`; edit `answer.md`, `expected.md` and `about.md`, not this file. Every "
             "host of the paper is a network namespace of one machine, with a link and a switch port of its own "
             "(`bench/lab`); links, rates and event sizes are scaled down by the same factor, and the Gb/s below are "
             f"scaled up again. Simulator: `weir simulate` with the same options, `--framing tcp`, `--mtu {MTU}B`, and "
             "the same seed."]
    versions = sorted({f"weir {run['weir']}, {run['mpi']}" for run in rows + buffers if run["world"] == "lab"})
    parts += ["Measured with " + "; ".join(versions) + ".", studies.text(out, "answer.md"),
              studies.text(out, "expected.md")]
    for command, title in (("slow", "The five rows, ten times slower"), ("rows", "The five rows in the paper's time")):
        runs = [run for run in rows if run["time_scale"] == str(DEFAULTS[command][1])]
        if runs:
            parts += [f"## {title}", f"    bench/study lhcb2021-lab {command}", rows_table(runs),
                      f"![Rates of consumers and worst occupancy, paper, simulator and lab]({command}.png)",
                      "What it cost, from the counters of the lab:", facts_table(runs)]
    if buffers:
        parts += ["## Shallow against deep switch buffers", "    bench/study lhcb2021-lab buffers",
                  buffers_table(buffers),
                  "![Retransmissions, slowest consumer and worst occupancy against the buffer per port](buffers.png)"]
    return {"README.md": studies.joined([*parts, studies.text(out, "about.md")])}


def draw(out, figures):
    rows, buffers = (studies.stored(out / f"{name}.csv") for name in ("runs", "buffers"))
    rates = {row: printed[2:5] for row, printed in PAPER.items()}
    for command in ("slow", "rows"):
        runs = [run for run in rows if run["time_scale"] == str(DEFAULTS[command][1])]
        if runs:
            figures.five_rows(runs, rates, out / f"{command}.png")
    if buffers:
        figures.switch_buffers(sorted(buffers, key=lambda run: size_order(run["buffer"])), out / "buffers.png")


def measure(options):
    choose_scale(options, options.what)
    _, _, rows, buffers = DEFAULTS[options.what]
    usual = {"rows": SECONDS, "slow": SLOW_SECONDS}.get(options.what)
    begin = time.monotonic()
    for row in (int(row) for row in (options.rows or rows).split(",")):
        seconds = options.seconds or (usual[row] if usual else 20)
        if usual:
            store_row(options.out, one_run(options, row, "simulator", "", seconds))
        for buffer in (options.buffer or buffers).split(","):
            numbers = one_run(options, row, "lab", buffer, seconds)
            if usual:
                store_row(options.out, numbers)
            else:
                store(options.out / "buffers.csv", numbers)
    print(f"{time.monotonic() - begin:.0f} s")


def add_options(parser):
    parser.add_argument("--scale", dest="given_scale", metavar="SCALE", type=fractions.Fraction,
                        help="of links, rates and sizes (default 1/200; slow, buffers: 1/800)")
    parser.add_argument("--rows", default=None, help="which of the rows (default 1,2,3,4,5; buffers: 3)")
    parser.add_argument("--buffer", default=None, help="of the switch's ports, as for bench/lab; several with ',' "
                        "(default deep; buffers: 32KiB,64KiB,256KiB,1MiB,deep)")
    parser.add_argument("--seconds", type=int, help="of the paper, of every run, instead of the usual")
    parser.add_argument("--warmup", dest="given_warmup", metavar="SECONDS", type=int,
                        help="seconds (default 10, as in the paper's scenarios; slow: 2, which take 20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pml", choices=("ucx", "ob1"), default="ucx")


STUDY = studies.Study(page, runs=dict.fromkeys(DEFAULTS, measure), keys={"runs.csv": KEY, "observations.csv": KEY},
                      replay=replay, draw=draw,
                      options=add_options)
