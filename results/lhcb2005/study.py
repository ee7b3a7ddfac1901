"""LHCb 2005, the Force10 E600 note: senders in step on a grid, simulated packet by packet, with hosts that cost time.

scan: what the note's table 1 leaves open: buffers, the time that sender and receiver need for a packet, and two
readings of its delay; three minutes. simulate: gaps, senders that are held up, how long a receiver may take for a
packet, clocks that drift, a switch that has forgotten ports; two minutes. growing: the note's data sets up to 2 GB;
--seconds 25 is the next one, a minute. A line for each run is kept in runs.csv, histograms of gaps in gaps.csv, (a
later run of the same replaces them); README.md and its figures are made of them, `table` makes only those. `check`
replays some lines. Figures need matplotlib (bench/install-dependencies --report).
"""

import studies
from studies import first, select, table

ONE_RECEIVER = ((0, 10.20), (50, 79.88), (100, 100.00))  # delay in us, % of 20000 packets in the note
SEND_US = 8  # what a packet costs its sender: the note's "0(8)"
# Readings of "delay": between packets of each sender, or between packets at the receiver; with the sender's 8 us or
# without.
READINGS = {"sender": (1, 0), "sender + 8": (1, SEND_US), "receiver": (20, 0), "receiver + 8": (20, SEND_US)}
PORTS = ("1MB", "2MB", "5MB", "9.5MB", "10.5MB", "12MB")
SENDER_READ_US = (0, 8, 10, 15, 40)
RECEIVER_READ_US = (5, 15, 30, 55, 60, 65, 70, 73, 76, 80)
NOTE = {"port": "5MB", "socket": "100kB"}
GAPS = (9, 10, 15, 25, 50, 100)  # us
STRESS_READ_US = (10, 15, 16, 25, 26, 73)
GROWING = ((0.25, 25, "200 MB"), (2.5, 25, "2 GB"), (25, 25, "20 GB"), (250, 25, "200 GB"), (2500, 25, "2 TB"),
           (1500, 15, "3 TB"))
RUN_BY_DEFAULT = ((0.25, 25), (2.5, 25), (0.5, 15))
TICKS_US = (2500, 25_000, 250_000)
PPM = 100  # the note: 0.05 us in 500 us between the fastest and the slowest sender
FLOODED = (1, 2, 4, 20)
KEY = ("what", "reading", "delay_us", "port", "socket", "overhead_bytes", "send_us", "read_us", "x")
NAMES = (*KEY, "packet_bytes", "packets", "received", "success_percent", "received_bytes", "switch_dropped",
         "socket_dropped",
         "queue_peak_bytes", "send_gap_us_p50", "send_gap_us_p99", "send_gap_us_p99_9", "send_gap_us_max",
         "pacing_error_us_p50",
         "pacing_error_us_p99", "pacing_error_us_max", "receive_gap_us_mean", "weir", "command")
PATIENT = ("--slots", "1000", "--fragment-timeout", "1s")  # late is not lost, and nobody waits for a credit


def one_run(options, what, scenario, grid, seconds, *, receivers=20, size=1024, tick=None, warmup="0s", more=(), **key):
    """grid: us from packet to packet of a sender. more: further options. key: columns of KEY."""
    tick = tick or max(2500 // grid, 1) * grid  # the note's 2.5 ms, or the next below that is on the grid
    place = {"reading": "", "delay_us": grid, "overhead_bytes": 0, "send_us": 0, "read_us": 0, "x": "", **NOTE, **key,
             "what": what}
    words = ["--scenario", scenario, "--shaping", f"in-step:{grid}us,tick={tick}us", "--rate",
             f"{8e6 * size / grid:.0f}b/s",
             "--event-size", f"{size}B", "--duration", f"{1e6 * seconds:.0f}us", "--warmup", warmup, "--port-buffer",
             place["port"]]
    for name, value in (("socket-buffer", place["socket"]), ("socket-overhead", f"{place['overhead_bytes']}B"),
                        ("send-time", f"{place['send_us']}us"), ("read-time", f"{place['read_us']}us")):
        if value not in ("0B", "0us"):
            words += ["--switch-set", f"host.{name}={value}"]
    run, sums, _ = studies.run([*words, *more], "simulator", options.weir)
    totals, latency = run["totals"], run["latency"]
    numbers = {**place, "packet_bytes": size, "packets": totals["sent_events"], "received": totals["received_events"],
               "success_percent": 100 * totals["received_events"] / totals["sent_events"],
               "received_bytes": totals["received_bytes"],
               "switch_dropped": run["switch"]["dropped_packets"],
               "socket_dropped": run["datagrams"]["explained"]["socket"],
               "queue_peak_bytes": run["switch"]["queue_peak_bytes"], "weir": run["environment"]["weir_version"],
               "command": run["command"]}
    for name in ("send_gap", "pacing_error"):
        for part in ("p50", "p99", "p99_9", "max"):
            numbers[f"{name}_us_{part}"] = latency[name][f"{part}_us"]
    came = sums.get(("consumer", "received_events"))
    numbers["receive_gap_us_mean"] = 1e6 * run["plan"]["resolved"]["duration_s"] * receivers / came if came else None
    print(f"   {numbers['success_percent']:.2f} %", flush=True)
    studies.store(options.out / "runs.csv", NAMES, numbers, KEY)
    if what == "held up":
        buckets = latency["send_gap"]["buckets"]
        lines = [{**numbers, "upper_us": f"{upper:.6g}", "gaps": count}
                 for upper, count in zip(buckets["upper_us"], buckets["events"]) if count]
        studies.store_lines(options.out / "gaps.csv", ("what", "upper_us", "gaps"), lines, ("what",))


def table1(options, reading, delay, **key):
    """1000 packets of each of 20 senders to one receiver."""
    senders, added = READINGS[reading]
    gap = senders * max(delay + added, SEND_US)
    one_run(options, "table 1", "lhcb2005-one-receiver", gap, gap / 1000, receivers=1, reading=reading, delay_us=delay,
            **key)


def scan(options):
    for delay, _ in ONE_RECEIVER:
        for reading in ("sender", "sender + 8"):
            for port in PORTS:
                for read in SENDER_READ_US:
                    table1(options, reading, delay, port=port, read_us=read)
        for send in (SEND_US, 20):
            for port in ("5MB", "10.5MB"):
                table1(options, "sender", delay, port=port, send_us=send)
        for reading in ("receiver", "receiver + 8"):
            for read in RECEIVER_READ_US:
                table1(options, reading, delay, read_us=read)
        for socket, overhead in (("100kB", 1280), ("1MB", 0), ("8MB", 0)):
            table1(options, "receiver + 8", delay, read_us=73, socket=socket, overhead_bytes=overhead)


def drift(options, tick):
    faults = [word for sender in range(20) for word in ("--fault",
                                                        f"drift:producer={sender},ppm={-PPM * sender / 19:.4g}")]
    one_run(options, "drift", "lhcb2005-in-step", 25, max(0.1, tick / 1e6), tick=tick, x=tick, warmup="50ms"
            if tick < 100_000 else f"{tick}us", more=faults)


def flood(options, entries):
    faults = [word for receiver in range(entries)
              for word in ("--fault", f"flood:consumer={receiver},at=20ms,for=100ms")]
    one_run(options, "flood", "lhcb2005-in-step", 25, 0.14, x=entries, socket="8MB", more=(*PATIENT, *faults))


def stress(options, gap, read):
    scenario, size = ("lhcb2005-in-step", 1024) if gap == 25 else ("lhcb2005-fast", 1472)
    one_run(options, "receiver's time", scenario, gap, 0.1, size=size, read_us=read, more=PATIENT)


def simulate(options):
    for gap in GAPS:
        one_run(options, "gap", "lhcb2005-in-step", gap, 0.1, socket="8MB", warmup="50ms", more=PATIENT)
    held_up = ("--fault", "pause:producer=3,at=50ms,for=300us", "--fault", "pause:producer=7,at=120ms,for=2ms")
    one_run(options, "held up", "lhcb2005-in-step", 25, 0.25, socket="8MB", more=held_up)
    for gap in (25, 15):
        for read in STRESS_READ_US:
            stress(options, gap, read)
    for tick in TICKS_US:
        drift(options, tick)
    for entries in FLOODED:
        flood(options, entries)


def growing(options):
    chosen = RUN_BY_DEFAULT if options.seconds is None else ((options.seconds, 25),)
    for seconds, gap in chosen:
        scenario, size = ("lhcb2005-in-step", 1024) if gap == 25 else ("lhcb2005-fast", 1472)
        one_run(options, "growing", scenario, gap, seconds, size=size, socket="8MB", x=f"{seconds:g}")


# ---------------------------------------------------------------------------------------------------------- tables


def number(run, name, form="{:.2f}"):
    return studies.number(run, name, form)


def points(runs):
    """[(worst distance in points, key without delay, {delay: %})] of all that was tried for table 1, nearest first."""
    grouped = {}
    for run in select(runs, what="table 1"):
        key = tuple(run[name] for name in KEY if name != "delay_us")
        grouped.setdefault(key, {})[int(run["delay_us"])] = float(run["success_percent"])
    whole = [(max(abs(found[delay] - paper) for delay, paper in ONE_RECEIVER), key, found)
             for key, found in grouped.items()
             if len(found) == len(ONE_RECEIVER)]
    return sorted(whole, key=lambda point: point[:2])


def key_of(point):
    return dict(zip([name for name in KEY if name != "delay_us"], point[1]))


def is_note(key):
    return key["port"] == NOTE["port"] and key["socket"] == NOTE["socket"]


def table1_line(name, point):
    key = key_of(point)
    return [name, key["port"], key["socket"], f"{key['send_us']} / {key['read_us']}",
            *(f"{point[2][delay]:.2f} ({point[2][delay] - paper:+.2f})" for delay, paper in ONE_RECEIVER),
            f"{point[0]:.1f}"]


def table1_table(runs):
    all_points = points(runs)
    lines = [["the note", "5 MB on average", "100 kB", "8 / -", *(f"{paper:.2f}" for _, paper in ONE_RECEIVER), ""]]
    for reading in READINGS:
        mine = [point for point in all_points if key_of(point)["reading"] == reading]
        if reading.startswith("sender"):
            bare = [point for point in mine if is_note(key_of(point)) and key_of(point)["read_us"] == "0"
                    and key_of(point)["send_us"] == "0"]
            lines += [table1_line(f"{reading}: the note's buffers, free hosts", point) for point in bare]
            lines += [table1_line(f"{reading}: the note's buffers, best of the others", point) for point in mine
                      if is_note(key_of(point))][:1]
        lines += [table1_line(f"{reading}: best of all {len(mine)}", point) for point in mine[:1]]
    return table(["delay is between packets of ...", "port", "socket", "send / read, us a packet",
                  *(f"{delay} us" for delay, _ in ONE_RECEIVER), "worst miss, points"], lines)


def expectations(runs):
    """(what was expected before the runs, what came, verdict)."""
    all_points = points(runs)
    sender = [point for point in all_points if key_of(point)["reading"].startswith("sender")]
    receiver = [point for point in all_points if key_of(point)["reading"].startswith("receiver")]
    expected = studies.Expectations()
    add = expected.add
    bare = next((point for point in sender if key_of(point)["reading"] == "sender" and is_note(key_of(point))
                 and key_of(point)["read_us"] == "0" and key_of(point)["send_us"] == "0"), None)
    if bare and receiver:
        add("table 1 with the note's buffers, within 1 point", f"misses by {bare[0]:.1f} points", bare[0] <= 1)
        add(f"one of {len(sender)} choices of buffers and times within 1 point, delay at each sender",
            f"the nearest misses by {sender[0][0]:.1f} points", sender[0][0] <= 1)
        add(f"one of {len(receiver)} times of the receiver within 1 point, delay at the receiver",
            f"{key_of(receiver[0])['read_us']} us a packet misses by {receiver[0][0]:.1f} points", receiver[0][0] <= 1)
    grown = select(runs, what="growing")
    if grown:
        add("growing data sets, as far as they were run: 100 %",
            f"lost {sum(int(run['packets']) - int(run['received']) for run in grown)} of "
            f"{sum(int(run['packets']) for run in grown)} packets",
            all(run["packets"] == run["received"] for run in grown))
    for gap in (25, 15):
        times = {float(run["read_us"]): float(run["success_percent"])
                 for run in select(runs, what="receiver's time", delay_us=gap)}
        if times:
            kept = max((read for read, share in times.items() if share == 100), default=0)
            add(f"a receiver may take {gap} us a packet with a packet per {gap} us, and 73 us not",
                f"100 % up to {kept:g} us, {times[73.0]:.1f} % at 73 us", kept == gap and times[73.0] < 100)
    drifted = select(runs, what="drift", x=2500)
    if drifted:
        error = float(drifted[0]["pacing_error_us_max"])
        add("clocks 100 ppm apart and a broadcast every 2.5 ms: at most 0.25 us apart", f"{error:.3f} us",
            0.23 <= error <= 0.25)
    gaps = [run for run in select(runs, what="gap")]
    if gaps:
        apart = max(abs(float(run["receive_gap_us_mean"]) / float(run["delay_us"]) - 1) for run in gaps)
        add("mean gap at a receiver = gap of the senders, down to 9 us (a frame takes 8.72), within 1 %",
            f"{100 * apart:.2f} % apart at most", apart <= 0.01)
    floods = {int(run["x"]): run for run in select(runs, what="flood")}
    if floods:
        lost = {entries: int(run["packets"]) - int(run["received"]) for entries, run in floods.items()}
        add("of 20 entries one or two forgotten for 0.1 s lose nothing (0.70 and 1.05 Gb/s at a port of 5 MB), four "
            "and more do",
            ", ".join(f"{entries}: {count}" for entries, count in sorted(lost.items())),
            all((count > 0) == (entries > 2) for entries, count in lost.items()))
    return expected.table()


def growing_table(runs):
    lines = []
    for seconds, gap, paper in GROWING:
        run = first(select(runs, what="growing", delay_us=gap, x=f"{seconds:g}"))
        short = first(select(runs, what="growing", delay_us=gap)) if run is None and gap == 15 else None
        shown = run or short
        size = int(shown["packet_bytes"]) if shown else 0
        lines.append([str(gap), f"{seconds:g} s", paper, "100", "not run" if shown is None
                      else f"{float(shown['received_bytes']) / 1e9:.2f} GB"
                      + (f" in {shown['x']} s" if short else ""), f"{8e-9 * size * 20 / (gap * 1e-6):.2f}"
                      if shown else "", number(shown, "packets", "{:.0f}"), number(shown, "success_percent")])
    return table(["gap, us", "time", "the note's data set", "the note: %", "simulated", "Gb/s", "packets", "%"], lines)


def stress_table(runs):
    lines = []
    for read in STRESS_READ_US:
        found = [first(select(runs, what="receiver's time", delay_us=gap, read_us=read)) for gap in (25, 15)]
        lines.append([str(read), *(number(run, "success_percent") for run in found)])
    return table(["time of a receiver for a packet, us", "% of 1 KiB every 25 us", "% of 1472 B every 15 us"], lines)


def drift_table(runs):
    lines = [[f"{float(run['x']) / 1000:g}", number(run, "pacing_error_us_max", "{:.3f}"),
              f"{PPM * float(run['x']) * 1e-6:g}", number(run, "queue_peak_bytes", "{:.0f}"),
              number(run, "success_percent")] for run in select(runs, what="drift")]
    return table(["broadcast every, ms", "furthest from the grid, us", "arithmetic: 100 ppm of it", "longest queue, B",
                  "%"], lines)


def flood_table(runs):
    lines = []
    for run in select(runs, what="flood"):
        lost = int(run["packets"]) - int(run["received"])
        lines.append([run["x"], number(run, "success_percent"), str(lost), number(run, "queue_peak_bytes", "{:.0f}")])
    return table(["entries forgotten of 20, 0.1 of 0.14 s", "% that arrived", "packets lost", "longest queue, B"],
                 lines)


def gaps_table(runs):
    lines = [[run["what"], run["delay_us"], *(number(run, f"send_gap_us_{part}", "{:.1f}")
                                              for part in ("p50", "p99", "p99_9", "max")),
              number(run, "receive_gap_us_mean", "{:.2f}"), number(run, "success_percent")]
             for run in (*select(runs, what="gap"), *select(runs, what="held up"))]
    return table(["run", "grid, us", "send gap, us: p50", "p99", "p99.9", "longest", "mean receive gap, us", "%"],
                 lines)


def page(out):
    runs = studies.stored(out / "runs.csv")
    return {"README.md": studies.joined(
                ["# LHCb 2005, the Force10 E600: paper and simulator",
                 "Made by `bench/study lhcb2005`; edit `answer.md` and `about.md`, not this file. "
                 + studies.made_with(runs)
                 + " Each run's command is in `runs.csv`; `bench/study lhcb2005 check` replays some. Nothing here was "
                   "measured.",
                 studies.text(out, "answer.md"), "## Expected, and found", expectations(runs),
                 "## Table 1: 20 senders to one receiver, 20000 packets", "    bench/study lhcb2005 scan",
                 table1_table(runs), "In brackets: simulated less printed, in percentage points.",
                 "![What each buffer and each time gives](table1.png)", "## How long a receiver may take",
                 "    bench/study lhcb2005 simulate",
                 "20 senders to 20 receivers, 0.1 s, ports of 5 MB, sockets of 100 kB.", stress_table(runs),
                 "## Table 2: growing data sets", "    bench/study lhcb2005 growing", growing_table(runs),
                 "## Clocks that drift", drift_table(runs), "## A switch that has forgotten ports", flood_table(runs),
                 "## Gaps", gaps_table(runs), "![Receive gap against send gap](receive.png)",
                 "![Distribution of send gaps](gaps.png)", studies.text(out, "about.md")])}


def draw(out, figures):
    runs, gaps = (studies.stored(out / f"{name}.csv") for name in ("runs", "gaps"))
    figures.table1(runs, ONE_RECEIVER, out / "table1.png")
    figures.receive([(float(run["delay_us"]), float(run["receive_gap_us_mean"])) for run in select(runs, what="gap")],
                    out / "receive.png")
    figures.gaps([(float(line["upper_us"]), int(line["gaps"])) for line in gaps], out / "gaps.png")


def replay(trial):
    for delay, _ in ONE_RECEIVER:
        table1(trial, "sender", delay)
        table1(trial, "receiver + 8", delay, read_us=73)
    drift(trial, TICKS_US[0])
    flood(trial, 1)
    stress(trial, 15, 16)


def add_options(parser):
    parser.add_argument("--seconds", type=float, help="growing: only a data set of so many seconds at 25 us")


STUDY = studies.Study(page, runs={"scan": scan, "simulate": simulate, "growing": growing}, keys={"runs.csv": KEY},
                      replay=replay, draw=draw,
                      options=add_options)
