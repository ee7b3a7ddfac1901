"""Switch settings for the LHCb 2021 layouts, simulated packet by packet: which of PFC and ECN carries how much, and who
suffers.

    bench/study switch-settings measure [PART...] [--jobs 2] [--minutes 60]
    bench/study switch-settings measure --again VERSION
    bench/study switch-settings check [PART...]
    bench/study switch-settings list [PART...]

measure: runs what is missing of the parts (default: all), in the order of the table below, several at a time; each run
is a line of runs.csv, found again by its command, so that a study that was stopped goes on where it was. --again: runs
the lines that this version of weir made once more, and replaces them. Stops starting runs after --minutes. `check` runs
a few stored lines again, or all of the named parts, and compares them, `list` prints the commands of runs. Parts:

    fluid      rows 1, 3, 4 with a switch without limits, for comparison
    ladder     rows 1, 3, 4 at 70 to 110 % of the row's rate, all settings
    refine     row 3 between two rates of which one is on time and the other is not; repeat it for finer steps
    factors    streams, chunk sizes, policies, class of grants, loss recovery, one at a time
    seeds      two more seeds at the rows' rates
    unscaled   row 3 with the full interval of 1 s

A run takes 8 to 20 s of CPU time, an unscaled one a minute. Figures need matplotlib (bench/install-dependencies
--report).
"""

import concurrent.futures
import shlex
import statistics
import sys
import threading
import time

import page
import studies

# Rate of the row in Gb/s; busy at that rate: mean and quantum of an event's processing, in seconds.
ROWS = {1: (85.8, None), 3: (74.0, None), 4: (63.3, (0.1468, 0.010))}
# name: options. `tuned` are DCQCN parameters as a vendor sets them.
SETTINGS = {"none": ("off", "off"), "pfc": ("on", "off"), "ecn": ("off", "on"), "pfc+ecn": ("on", "on")}
PARTS = ("fluid", "ladder", "refine", "factors", "seeds", "unscaled")
FAST, DEAF = "results/switch-settings/dcqcn-fast.toml", "results/switch-settings/deaf-nics.toml"
# The rules of DCQCN in HPCC's simulator: with the numbers of 2015, and with HPCC's numbers and window.
HPCC_RULES, HPCC = "results/switch-settings/dcqcn-hpcc-rules.toml", "results/switch-settings/dcqcn-hpcc.toml"
DECAYING = page.DECAYING  # the other reading of a rest
WINDOW = "results/switch-settings/window.toml"  # without HPCC's rules and numbers
# Row and percent of its rate. Row 1 with policy `balanced` has no two events for one consumer: nothing to see below its
# rate.
RUNGS = (("shallow", 3, 85), ("shallow", 4, 100), ("dcqcn-tuned", 3, 85), (FAST, 3, 85), (FAST, 3, 100), (FAST, 4, 100),
         ("deep", 3, 85), ("shallow", 1, 100), ("shallow", 3, 70),
         ("shallow", 3, 100), ("shallow", 4, 70), ("dcqcn-tuned", 4, 100), ("deep", 4, 100), ("shallow", 1, 110),
         ("deep", 1, 100),
         ("deep", 3, 100), (DEAF, 3, 85), (HPCC_RULES, 3, 85), (HPCC_RULES, 3, 100), (HPCC_RULES, 4, 100),
         (HPCC, 3, 85), (HPCC, 4, 100),
         (WINDOW, 3, 85), (DECAYING, 3, 85), (DECAYING, 3, 100), (DECAYING, 4, 100))
FACTORS = ((3, "--chunk-size", "64KiB"), (3, "--loss-recovery", "selective"), (1, "--policy", "token"),
           (3, "--streams", "16"),
           (1, "--policy", "none"), (3, "--policy", "none"), (3, "--policy", "token"), (3, "--control-priority", "own"),
           (3, "--chunk-size", "256KiB"), (3, "--streams", "1"))
# The stored lines that `check` runs again: the fluid ones at some rates, and two of packets, 7 s of processor time.
CHEAP = (*({"part": "fluid", "percent": str(percent)} for percent in (70, 85, 100, 110)),
         {"part": "ladder", "row": "4", "setting": "pfc", "switch": "shallow", "percent": "70"},
         {"part": "ladder", "row": "3", "setting": "pfc+ecn", "switch": "shallow", "percent": "70"})
PACKET_BYTES = 4096
WARMUP_SETS, SETS = 2, 5
EVENTS_PER_SET = 4  # as the scenarios have it


def settings_of(switch):
    """Those in which a switch differs from `shallow`: parameters of ECN, or what follows a loss."""
    if switch == DEAF:
        return ["none"]
    return [setting for setting in SETTINGS if "dcqcn" not in switch or "ecn" in setting]


def network_words(setting, switch):
    if setting == "fluid":
        return ["--network", "fluid"]
    pfc, ecn = SETTINGS[setting]
    return ["--network", "packet", "--switch", switch, "--pfc", pfc, "--ecn", ecn]


def command(row, setting, switch, rate, *, interval_ms=100, sets=SETS, warmup_sets=WARMUP_SETS, seed=1, more=()):
    """The options of one run: a row of the paper with events, buffer and processing in proportion to rate and
    interval."""
    row_rate, busy = ROWS[row]
    event = round(rate * 1e9 / 8 * interval_ms / 1000 / EVENTS_PER_SET)
    words = ["--scenario", f"results/switch-settings/row-{row}.toml", *network_words(setting, switch), "--rate",
             f"{rate * 1e9:.0f}b/s",
             "--interval", f"{interval_ms}ms", "--event-size", f"{event}B", "--buffer",
             f"{2 * EVENTS_PER_SET * event}B",
             "--duration", f"{sets * interval_ms}ms", "--warmup", f"{warmup_sets * interval_ms}ms",
             "--drain", f"{interval_ms}ms", "--seed", str(seed)]
    if busy:
        mean, quantum = (round(seconds * 1e6 * interval_ms / 1000 * rate / row_rate) for seconds in busy)
        words += ["--busy", f"poisson:{mean}us,quantum={quantum}us"]
    if "--chunk-size" not in more:
        words += ["--chunk-size", "2MiB"]
    return [*words, *more]


def ladder():
    for switch, row, percent in RUNGS:
        for setting in settings_of(switch):
            yield point("ladder", row, setting, switch, percent)


def fluid():
    for row in ROWS:
        for percent in range(70, 132 if row == 1 else 112, 1):
            yield point("fluid", row, "fluid", "", percent)


def point(part, row, setting, switch, percent, *, factor="", value="", **rest):
    rate = round(ROWS[row][0] * percent / 100, 2)
    more = (factor, value) if factor else ()
    return {"part": part, "row": row, "setting": setting, "switch": switch, "percent": percent, "rate_gbps": rate,
            "factor": factor.lstrip("-"), "value": value, "seed": rest.get("seed", 1),
            "interval_ms": rest.get("interval_ms", 100),
            "command": shlex.join(["weir", "simulate", *command(row, setting, switch, rate, more=more, **rest)])}


def refine(stored):
    """One step of the search for the highest rate at which row 3 is on time: run it again for the next step."""
    for switch in ("shallow", FAST, HPCC_RULES):
        for setting in settings_of(switch):
            low, high = page.bracket(stored, 3, setting, switch)
            if high and low is None:
                yield point("refine", 3, setting, switch, round(high * 0.7))
            elif high and high - low > 4:
                yield point("refine", 3, setting, switch, round((low + high) / 2, 1))


def factors():
    for row, factor, value in FACTORS:
        for setting in ("none", "pfc", "pfc+ecn"):
            if factor != "--loss-recovery" or setting == "none":
                yield point("factors", row, setting, "shallow", 85, factor=factor, value=value)


def seeds():
    for seed in (2, 3):
        for row, percent in ((3, 85), (4, 100)):
            for switch in ("shallow", DECAYING):
                for setting in settings_of(switch):
                    yield point("seeds", row, setting, switch, percent, seed=seed)


def unscaled():
    for setting, switch, percent in (("fluid", "", 100), ("fluid", "", 85), ("pfc+ecn", "shallow", 100),
                                     ("pfc", "shallow", 100),
                                     ("ecn", "shallow", 100), ("ecn", "shallow", 85), ("pfc+ecn", "dcqcn-tuned", 85),
                                     ("pfc+ecn", "shallow", 85), ("pfc+ecn", HPCC_RULES, 85), ("pfc", "shallow", 85),
                                     ("none", "shallow", 85),
                                     *((setting, DECAYING, percent) for setting in ("ecn", "pfc+ecn")
                                       for percent in (85, 100))):
        yield point("unscaled", 3, setting, switch, percent, interval_ms=1000, sets=2, warmup_sets=1)


def parts_of(options):
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    return options.parts or PARTS


def points(parts, stored):
    made = {"fluid": fluid, "ladder": ladder, "refine": lambda: refine(stored), "factors": factors, "seeds": seeds,
            "unscaled": unscaled}
    found = {}
    for part in parts:
        for one in made[part]():
            found.setdefault(one["command"], one)
    return list(found.values())


# ---------------------------------------------------------------------------------------------------------- one run


def simulate(weir, one, limit_s):
    begin = time.monotonic()
    return {**one, **studies.attempted(weir, one["command"], limit_s, measured), "wall_s": time.monotonic() - begin}


def measured(run, out):
    """Rates are means from the first measured set until all was delivered."""
    verdict, rates, received = run["verdict"], {"producer": [], "consumer": []}, 0
    for file in (out / "ranks").glob("*.csv"):
        role = file.stem.rsplit("-", 1)[1]
        if role in rates:
            rows = list(studies.rows(file))
            column = "sent_bytes" if role == "producer" else "received_bytes"
            received += sum(int(row[column]) for row in rows) if role == "consumer" else 0
            rows = [row for row in rows if row["phase"] == "measure"]
            rates[role].append(sum(int(row[column])
                                   for row in rows) * 8e-9 / sum(float(row["covered_s"]) for row in rows))
    line = {"on_time": int(verdict["on_time"]), "sets": verdict["sets"],
            "late_sets": verdict["late_sets"], "late_producers": len(verdict["late_producers"]),
            "worst_late_s": verdict["worst_late_s"], "least_slack_s": verdict["least_slack_s"],
            "max_occupancy": run["totals"]["max_occupancy"]}
    for role, values in rates.items():
        line |= {f"{role}_mean_gbps": statistics.fmean(values), f"{role}_min_gbps": min(values),
                 f"{role}_max_gbps": max(values)}
    return line | (counted(run, out, received) if (out / "switch").exists() else {})


def counted(run, out, received):
    """What NICs and the switch counted, warm-up included. Producers are paused by the switch; marks and losses are on
    the ports to consumers; packets sent again are a share of those that consumers needed."""
    paused, begin, end, marked, passed, dropped, peak, pool = {}, float("inf"), float("-inf"), 0, 0, 0, 0, 0
    for row in studies.rows(out / "switch/switch-0.csv"):
        # A port that was idle has no row for that time.
        begin, end = min(begin, float(row["begin_s"])), max(end, float(row["begin_s"]) + float(row["covered_s"]))
        if row["peer"].startswith("producer") and row["priority"] == "3":
            paused[row["peer"]] = paused.get(row["peer"], 0) + float(row["pausing_s"])
        elif row["peer"].startswith("consumer"):
            marked, passed = marked + int(row["marked_packets"]), passed + int(row["sent_packets"])
            dropped, peak = dropped + int(row["dropped_packets"]), max(peak, int(row["queue_peak_bytes"]))
        pool = max(pool, int(row["pool_peak_bytes"]))
    shares = [seconds / (end - begin) for seconds in paused.values()]
    sums = {}
    for file in (out / "hosts").glob("*.csv"):
        for row in studies.rows(file):
            for name, value in row.items():
                key = file.stem.split("-")[0], name.partition(".")[2]
                if key[1] and value:
                    sums[key] = sums.get(key, 0) + int(value)
    packets = -(-received // PACKET_BYTES)
    return {"paused_share": statistics.fmean(shares), "paused_share_worst": max(shares),
            "marked_share": marked / max(passed, 1),
            "cnps": sums.get(("producer", "rp_cnp_handled"), 0), "dropped_packets": dropped,
            "sent_again_share": run["switch"]["packets_sent_again"] / packets,
            "timeouts": sums.get(("producer", "local_ack_timeout_err"), 0), "peak_queue_bytes": peak,
            "pool_peak_bytes": pool}


NAMES = ("part", "row", "setting", "switch", "percent", "rate_gbps", "factor", "value", "seed", "interval_ms", "status",
         "on_time",
         "sets", "late_sets", "late_producers", "worst_late_s", "least_slack_s", "max_occupancy", "producer_mean_gbps",
         "producer_min_gbps", "producer_max_gbps", "consumer_mean_gbps", "consumer_min_gbps", "consumer_max_gbps",
         "paused_share",
         "paused_share_worst", "marked_share", "cnps", "sent_again_share", "dropped_packets", "timeouts",
         "peak_queue_bytes",
         "pool_peak_bytes", "weir", "command")


def given(line):
    """What is known of a stored line before it is run."""
    return {**{name: line[name] for name in NAMES[:NAMES.index("status")]}, "command": line["command"]}


def replay(trial):
    """Lines of runs.csv again: those of the named parts, or those that CHEAP names."""
    chosen = [{"part": part} for part in trial.parts] or CHEAP
    for line in studies.stored(trial.stored / "runs.csv"):
        if any(all(line[name] == value for name, value in one.items()) for one in chosen):
            studies.store(trial.out / "runs.csv", NAMES, simulate(trial.weir, given(line), 900), ("command",))


def measure(options):
    parts, file = parts_of(options), options.out / "runs.csv"
    stored = studies.stored(file)
    known = {line["command"] for line in stored}
    todo = ([given(line) for line in stored if line["weir"] == options.again and line["part"] in parts] if options.again
            else [one for one in points(parts, stored) if one["command"] not in known])
    until, writing, spent = time.monotonic() + options.minutes * 60, threading.Lock(), []

    def work(one):
        left = until - time.monotonic()
        if left < 5:
            return
        line = simulate(options.weir, one, max(60, min(left + 60, 900)))
        with writing:
            if line["status"].startswith("refused"):
                print(f"{one['command']}\n{line['status']}", file=sys.stderr, flush=True)
                return
            spent.append(line.get("wall_s", 0))
            studies.store(file, NAMES, line, ("command",))
            rest = statistics.fmean(spent) * (len(todo) - len(spent)) / options.jobs
            print(f"{len(spent)} of {len(todo)}, {rest / 60:.0f} min left: row {one['row']} {one['setting']} "
                  f"{one['switch']} {one['rate_gbps']} {one['factor']} {one['value']}: late {line.get('late_sets')} of "
                  f"{line.get('sets')}, consumers {line.get('consumer_mean_gbps', 0):.1f}, "
                  f"{line.get('wall_s', 0):.0f} s", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, todo))


def add_options(parser):
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--again", metavar="VERSION", help="run the lines of this weir again, as 0.1.0+g1234567")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60)


def show(options):
    for one in points(parts_of(options), studies.stored(options.out / "runs.csv")):
        print(one["command"])


STUDY = studies.Study(page.page, runs={"measure": measure}, others={"list": show}, keys={"runs.csv": ("command",)},
                      replay=replay, draw=page.draw,
                      options=add_options)
