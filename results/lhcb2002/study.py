"""LHCb note 2002-049, one source and 20 nodes with tokens: simulated packet by packet, with a source that needs time
for each packet.

scan: the source's time for a packet, what could make the nodes uneven, and part 1's jumbo frames and interrupt
coalescence.
simulate: the note's three versions and round robin with the time that was fitted. Two minutes each. A line for each run
is kept in runs.csv (a later run of the same replaces it); README.md and its figures are made of it, `table` makes only
those. `check` replays some lines. Figures need matplotlib (bench/install-dependencies --report).
"""

import studies
from studies import first, number, select, table

# Version 1 of the note: seconds for every further 100000 events, and events so far that found no token.
PAPER_SERIES = ((33, 7), (34, 52), (54, 56), (100, 7186), (103, 17557), (104, 27920), (104, 38296), (104, 48663),
                (103, 59037),
                (89, 63183), (87, 66885), (118, 75571), (150, 90589), (145, 105120), (132, 118229), (186, 136892),
                (215, 158380),
                (215, 179868), (215, 201379), (215, 222875))
TICK_S = 0.01  # of the timer of Linux 2.4 on a PC
# Version 2 after 200 million events, and 20 netperf processes: Mb/s to each node.
PAPER_NODES = (43.3, 44.5, 41.6, 39.4, 39.3, 41.2, 41.1, 43.0, 40.3, 42.3, 41.3, 42.6, 40.1, 40.7, 43.5, 44.4, 41.6,
               40.3, 42.4, 38.1)
NETPERF_NODES = (75.02, 39.78, 18.98, 40.06, 75.9, 36.65, 7.54, 40.48, 69.09, 36.82, 52.07, 36.56, 45.46, 35.6, 53.96,
                 37.37, 15.3, 37.02, 52.13, 35.44)
NETPERF_MBPS = 841.23
SEND_US = (0, 11.5, 12, 12.3, 12.6, 12.7, 12.8, 13, 14)
FITTED_US = 12.7  # of SEND_US the nearest to netperf's total with version 3
BUSY = ("--busy", "exponential:5ms")
# row: scenario, further options, the note's Mb/s from ... to
ROWS = {
    "version 1": ("queued", (), (762.1, 775.8)),
    "version 2": ("token", (), (830.6, 891.3)),
    "version 2, one token": ("one-token", (), None),
    "version 3": ("stream", (), (817.3, 831.8)),
    "version 2, nodes busy": ("token", BUSY, None),
    "round robin, nodes busy": ("round-robin", (), None),
    "round robin ungated, nodes busy": ("ungated", (), None),
}
ROW_SECONDS = {"version 1": 60, "version 2": 60}
PORTS = ("4KiB", "16KiB", "512KiB")
CONTROLS = ("newreno", "cubic")
WINDOWS = (44, 4096)  # packets: the socket buffer of 64 kB of its time, and no limit
# a receiver's us for a packet, and Mb/s for its bytes (0: no time)
RECEIVE = ((14, 0), (18, 0), (1, 800), (2, 900), (2, 800), (2, 700), (4, 800))
COALESCE_US = (32, 1024)
KEY = ("what", "row", "send_us", "port", "control", "window", "mtu", "receive_us", "receive_mbps", "coalesce_us")
NAMES = (*KEY, "duration_s", "events_per_second", "mbps", "node_smallest_mbps", "node_largest_mbps",
         "smallest_over_largest", "jain_index",
         "events", "events_without_credit", "results", "result_bytes", "first_100000_s", "last_100000_s",
         "switch_dropped", "sent_again",
         "timeouts", "weir", "command")
PACKETS = ("--network", "packet", "--switch", "plain")


def one_run(options, what, row, scenario, seconds, *, more=(), **key):
    place = {"send_us": FITTED_US, "port": "512KiB", "control": "cubic", "window": 4096, "mtu": 1500, "receive_us": 0,
             "receive_mbps": 0,
             "coalesce_us": 0, **key, "what": what, "row": row}
    words = ["--scenario", f"lhcb2002-{scenario}", *PACKETS, "--port-buffer", place["port"], "--duration",
             f"{seconds}s", "--warmup", "1s",
             "--mtu", f"{place['mtu']}B"]
    for name, value, usual in (("tcp.control", place["control"], "cubic"),
                               ("tcp.most-packets", f"{place['window']}", "4096"),
                               ("host.send-time", f"{place['send_us']}us", "0us"),
                               ("host.receive-time", f"{place['receive_us']}us", "0us"),
                               ("host.receive-rate", f"{place['receive_mbps']}Mb/s", "0Mb/s"),
                               ("host.interrupt-delay", f"{place['coalesce_us']}us", "0us")):
        if value != usual:
            words += ["--switch-set", f"{name}={value}"]
    run, sums, _ = studies.run([*words, *more], "simulator", options.weir)
    nodes = [rank["mean_bits_per_second"] / 1e6 for rank in run["ranks"] if rank["role"] == "consumer"]
    totals, switch = run["totals"], run["switch"]
    series = run["event_series"] or {}
    at = [float(value) for value in series.get("at_s", ())]
    numbers = {**place, "duration_s": seconds, "events_per_second": sums["consumer", "received_events"] / seconds,
               "mbps": sum(nodes),
               "node_smallest_mbps": min(nodes), "node_largest_mbps": max(nodes), **run["evenness"]["consumers"],
               "events": totals["received_events"], "events_without_credit": totals["events_without_credit"],
               "results": totals["results"],
               "result_bytes": totals["result_bytes"], "switch_dropped": switch["dropped_packets"],
               "sent_again": switch["packets_sent_again"],
               "timeouts": switch["timeouts"], "weir": run["environment"]["weir_version"], "command": run["command"]}
    if len(at) > 2:  # steps of so many events, as 100000 events
        counts = series["events"]
        numbers["first_100000_s"] = 1e5 * (at[1] - at[0]) / (counts[1] - counts[0])
        numbers["last_100000_s"] = 1e5 * (at[-1] - at[-2]) / (counts[-1] - counts[-2])
    print(f"   {numbers['mbps']:.1f} Mb/s", flush=True)
    studies.store(options.out / "runs.csv", NAMES, numbers, KEY)


def send_time(options, send):
    for row in ("version 2", "version 3"):
        one_run(options, "source", row, ROWS[row][0], 2, send_us=send)


def evenness(options, port, control, window):
    one_run(options, "evenness", "version 3", "stream", 10, port=port, control=control, window=window)


def pair(options, mtu, receive_us, receive_mbps, coalesce_us=0):
    """Part 1: two hosts, and the receiver is the slower one."""
    one_run(options, "part 1", "two hosts", "stream", 1, mtu=mtu, receive_us=receive_us, receive_mbps=receive_mbps,
            coalesce_us=coalesce_us,
            send_us=0, more=("--consumers", "1", "--consumer-link", "1Gb/s", "--slots", "40"))


def scan(options):
    for send in SEND_US:
        send_time(options, send)
    for port in PORTS:
        for control in CONTROLS:
            for window in WINDOWS:
                evenness(options, port, control, window)
    for receive_us, receive_mbps in RECEIVE:
        for mtu in (1500, 9000):
            pair(options, mtu, receive_us, receive_mbps)
        for coalesce in COALESCE_US:
            pair(options, 1500, receive_us, receive_mbps, coalesce)


def simulate(options):
    for row, (scenario, more, _) in ROWS.items():
        one_run(options, "row", row, scenario, ROW_SECONDS.get(row, 10), more=more)


# ---------------------------------------------------------------------------------------------------------- tables


def steps():
    """(seconds of 100000 events, of them without a token) of the note."""
    before = 0
    for seconds, total in PAPER_SERIES:
        yield seconds, total - before
        before = total


def fitted(runs):
    return min((run for run in select(runs, what="source", row="version 3")),
               key=lambda run: abs(float(run["mbps"]) - NETPERF_MBPS))


def pairs(runs):
    """(receive_us, receive_mbps, gain of jumbo frames in %, gain of coalescence in %)"""
    found = []
    for receive_us, receive_mbps in RECEIVE:
        runs_of = select(runs, what="part 1", receive_us=receive_us, receive_mbps=receive_mbps)
        rate = {(run["mtu"], run["coalesce_us"]): float(run["mbps"]) for run in runs_of}
        if len(rate) == 4:
            found.append((receive_us, receive_mbps, rate["1500", "0"],
                          100 * (rate["9000", "0"] / rate["1500", "0"] - 1),
                          100 * (rate["1500", "1024"] / rate["1500", "32"] - 1)))
    return found


def expectations(runs):
    expected = studies.Expectations()
    add = expected.add
    rows = {run["row"]: run for run in select(runs, what="row")}
    for row, (_, _, printed) in ROWS.items():
        if printed and row in rows and row != "version 1":  # whose rate is what is offered
            low, high = printed
            rate = float(rows[row]["mbps"])
            miss = min(rate - low, 0) + max(rate - high, 0)
            miss *= 100 / (low if miss < 0 else high)
            add(f"{row}: {low:g} to {high:g} Mb/s, within the 5 % by which the note's own results vary",
                f"{rate:.1f}, {miss:+.1f} %", abs(miss) <= 5)
    if "version 2" in rows:
        run = rows["version 2"]
        spread = float(run["node_smallest_mbps"]), float(run["node_largest_mbps"])
        add("version 2: nodes 38.1 to 44.5 Mb/s apart", f"{spread[0]:.2f} to {spread[1]:.2f}: all alike",
            spread[1] / spread[0] > 1.1)
        add("version 2 does not become slower",
            f"first 100000 events {number(run, 'first_100000_s', '{:.2f}')} s, last "
            f"{number(run, 'last_100000_s', '{:.2f}')} s",
            abs(float(run["last_100000_s"]) / float(run["first_100000_s"]) - 1) < 0.01)
    if "version 1" in rows:
        run = rows["version 1"]
        add("version 1: from 33 s for 100000 events to 215 s",
            f"first {number(run, 'first_100000_s', '{:.2f}')} s, last "
            f"{number(run, 'last_100000_s', '{:.2f}')} s: weir's does not decay", float(run["last_100000_s"]) > 200)
    uneven = select(runs, what="evenness")
    if uneven:
        worst = min(uneven, key=lambda run: float(run["smallest_over_largest"]))
        add(f"one of {len(uneven)} choices of port buffer, congestion control and window as uneven as netperf, 7.5 to "
            "75.9 Mb/s",
            f"at most {number(worst, 'node_smallest_mbps')} to {number(worst, 'node_largest_mbps')}",
            float(worst["smallest_over_largest"]) < 0.2)
    late = [(seconds, without) for seconds, without in steps() if seconds > 140 or 100 < seconds < 110]
    apart = max(abs(without * TICK_S / seconds - 1) for seconds, without in late)
    add(f"the note's version 1 as waits of one timer tick, 10 ms, per event without a token: its {len(late)} steps of "
        "101 to 109 s and above 140 s, within 2 %",
        f"{100 * apart:.1f} % apart at most", apart < 0.02)
    part1 = pairs(runs)
    if part1:
        jumbo = min(part1, key=lambda found: abs(found[3] - 17))
        add("jumbo frames: TCP + 17 % with one of the receiver's costs, within 2 points", f"nearest {jumbo[3]:+.1f} %",
            abs(jumbo[3] - 17) <= 2)
        coalesced = max(found[4] for found in part1)
        add("coalescence of 1024 us instead of 32: TCP + 20 %", f"at most {coalesced:+.1f} %", coalesced >= 15)
    return expected.table()


def rows_table(runs):
    lines = []
    for row, (_, _, printed) in ROWS.items():
        run = first(select(runs, what="row", row=row))
        lines.append([row, " to ".join(f"{value:g}" for value in printed) if printed else "", number(run, "mbps"),
                      number(run, "events_per_second", "{:.0f}"),
                      f"{number(run, 'node_smallest_mbps', '{:.2f}')} .. {number(run, 'node_largest_mbps', '{:.2f}')}",
                      number(run, "first_100000_s", "{:.2f}"), number(run, "last_100000_s", "{:.2f}"),
                      number(run, "events_without_credit", "{:.0f}") if row == "version 1" else "",
                      number(run, "duration_s", "{:.0f}")])
    return table(["row", "the note: Mb/s", "simulated: Mb/s", "events/s", "Mb/s of a node", "first 100000 events, s",
                  "last, s", "found no token",
                  "s"], lines)


def source_table(runs):
    lines = [[f"{send:g}", *(number(first(select(runs, what="source", row=row, send_us=send)), "mbps")
                             for row in ("version 2", "version 3"))]
             for send in SEND_US]
    return table(["source's time for a packet, us", "version 2, Mb/s", "version 3, Mb/s"], lines)


def evenness_table(runs):
    lines = []
    for run in select(runs, what="evenness"):
        lines.append([run["port"], run["control"], run["window"], number(run, "mbps"),
                      f"{number(run, 'node_smallest_mbps', '{:.2f}')} .. "
                      f"{number(run, 'node_largest_mbps', '{:.2f}')}", run["switch_dropped"], run["timeouts"]])
    return table(["port", "control", "window, packets", "Mb/s", "Mb/s of a node", "dropped", "time-outs"], lines)


def series_table():
    lines, done = [], 0
    for seconds, without in steps():
        done += 100000
        per_wait = f"{100000 / without:.1f}" if without > 1000 else ""
        lines.append([str(done), str(seconds), str(without), f"{without * TICK_S:.1f}",
                      f"{seconds - without * TICK_S:.1f}", per_wait])
    return table(["events", "the note: s for 100000", "of them without a token", "10 ms each, s", "rest, s",
                  "events per wait"], lines)


def part1_table(runs):
    lines = [[str(receive), str(rate or ""), f"{bare:.0f}", f"{jumbo:+.1f}", f"{coalesced:+.1f}"]
             for receive, rate, bare, jumbo, coalesced in pairs(runs)]
    lines.insert(0, ["the note, TCP", "", "only in its figures", "about +17", "about +20"])
    return table(["receiver's time for a packet, us", "and its rate for bytes, Mb/s", "Mb/s, 1500 B", "jumbo frames, %",
                  "coalescence 1024 for 32 us, %"], lines)


def page(out):
    runs = studies.stored(out / "runs.csv")
    return {"README.md": studies.joined([
        "# LHCb 2002, a sub-farm with tokens: paper and simulator",
        "Made by `bench/study lhcb2002`; edit `answer.md` and `about.md`, not this file. One source, 20 nodes, events "
        "of 32 kB, results of 28 B and on average every 200th of 64 kB with the tokens (`weir scenarios`: "
        "`lhcb2002-...`). " + studies.made_with(runs)
        + " Each run's command is in `runs.csv`; `bench/study lhcb2002 check` replays some. Nothing here was measured.",
        studies.text(out, "answer.md"),
        "## Expected, and found", expectations(runs),
        "## Rates", "    bench/study lhcb2002 simulate", rows_table(runs), "![Rates, paper and simulator](rates.png)",
        "## The source's time for a packet", "    bench/study lhcb2002 scan", source_table(runs),
        f"Fitted: {float(fitted(runs)['send_us']):g} us, of these the nearest to netperf's total of {NETPERF_MBPS} "
        "Mb/s with version 3.",
        "## Evenness of nodes", evenness_table(runs), "![Rate of each node](nodes.png)",
        "## What decays: the note's own table of version 1", series_table(), "![Waits and time](series.png)",
        "## Part 1: jumbo frames and coalescence", part1_table(runs), studies.text(out, "about.md")])}


def draw(out, figures):
    runs = studies.stored(out / "runs.csv")
    rates = [(row, ROWS[row][2], float(run["mbps"])) for row in ROWS for run in select(runs, what="row", row=row)]
    figures.rates(rates, out / "rates.png")
    version2 = first(select(runs, what="row", row="version 2"))
    figures.nodes(PAPER_NODES, NETPERF_NODES, (float(version2["node_smallest_mbps"]),
                                               float(version2["node_largest_mbps"])), out / "nodes.png")
    figures.series(list(steps()), TICK_S, out / "series.png")


def replay(trial):
    send_time(trial, 0)
    send_time(trial, FITTED_US)
    evenness(trial, "16KiB", "newreno", 44)
    for mtu in (1500, 9000):
        pair(trial, mtu, *RECEIVE[4])


STUDY = studies.Study(page, runs={"scan": scan, "simulate": simulate}, keys={"runs.csv": KEY}, replay=replay, draw=draw)
