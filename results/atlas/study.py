"""Event building by push and by pull, as ATLAS measured it: simulated with hosts that cost time, and in a lab.

simulate: 1 x 1, 6 x 1 and 13 x 13 against the assigned rate and the size of fragments, sources shaped, seeds. scan:
what other values of what was fitted or assumed would give. Both run what runs.csv does not have yet (all of it again
with --again); together ten minutes of processor time. lab: the same facts with UDP between hosts of this machine, on
links of 100 Mb/s; five minutes, and needs root, as bench/lab does. README.md is about.md with the numbers and tables of
these runs; `table` makes only that and the figures (matplotlib: bench/install-dependencies --report). `check` runs a
few stored lines again and compares.
"""

import page
import studies
from page import FIXED, LAB_FIXED, LAB_SHAPED, LAB_SIZES, RATES, SHAPED, SIZES, SIZES_1, SIZES_13

NAMES = ("configuration", "way", "assigned_per_second", "fragment_bytes", "changes", "finished_per_second",
         "mb_per_second_per_builder",
         "asked_again_per_second", "given_up_events", "dropped_at_switch", "building_us_p50", "duration_s", "weir",
         "command")
LAB_NAMES = (*NAMES, "poll_gap_us_max", "load_before")
SECONDS = {"1x1": (1, "500ms"), "6x1": (4, "2s"), "13x13": (1, "500ms")}  # measured, warm-up
LAB_SECONDS = 6
# The points that `check` runs again, 9 s of processor time.
CHEAP = (("1x1", "push", 25000, 1, ""), ("1x1", "pull", 25000, 1, ""), ("6x1", "push", 8000, 1, ""),
         ("6x1", "pull", 5000, 14, ""), ("6x1", "push", 5000, 7, "--shaping=bucket:40Mb/s,burst=7kB"),
         ("13x13", "push", 26000, 10, ""))


def words_of(way, changes):
    """The scenario's way and the options of changes such as `--port-buffer=96KiB host.ring-packets=96`."""
    words = []
    for change in changes.split():
        name, value = change.split("=", 1)
        words += [name, value] if name.startswith("--") else ["--switch-set", change]
    return ("shaped" if way == "push" and "--shaping" in words else way), words


def simulate_one(options, configuration, way, assigned, kilobytes, changes=""):
    builders = int(configuration.split("x")[1])
    scenario, more = words_of(way, changes)
    seconds, warmup = SECONDS[configuration]
    run, sums, _ = studies.run(["--scenario", f"atlas-{configuration}-{scenario}", "--rate",
                                f"{assigned * kilobytes * 8}kb/s",
                                   "--event-size", f"{kilobytes}kB", "--duration", f"{seconds}s", "--warmup", warmup,
                                *more],
                                  "simulator", options.weir)
    line = {"configuration": configuration, "way": way, "assigned_per_second": assigned,
            "fragment_bytes": 1000 * kilobytes, "changes": changes,
            "dropped_at_switch": run["switch"]["dropped_packets"]} | measured(run, sums, seconds, builders)
    print(f"   {line['finished_per_second']:.0f} events/s, {line['mb_per_second_per_builder']:.1f} MB/s, "
          f"{line['asked_again_per_second']:.0f}/s requested again", flush=True)
    studies.store(options.out / "runs.csv", NAMES, line, NAMES[:5])


def measured(run, sums, seconds, builders):
    return {"finished_per_second": sums["consumer", "finished_events"] / seconds,
            "mb_per_second_per_builder": sums["consumer", "received_bytes"] / seconds / builders / 1e6,
            "asked_again_per_second": sums["consumer", "asked_again"] / seconds,
            "given_up_events": run["totals"]["given_up_events"],
            "building_us_p50": run["latency"]["building"]["p50_us"], "duration_s": seconds,
            "weir": run["environment"]["weir_version"], "command": run["command"]}


def points_of_way(way):
    for configuration, rates in RATES.items():
        for rate in rates:
            yield configuration, way, rate, 1
    for configuration, sizes in (("1x1", SIZES_1), ("6x1", SIZES), ("13x13", SIZES_13)):
        for size in sizes:
            yield configuration, way, FIXED[configuration], size
    for seed in (2, 3, 4, 5):
        for size in (4, 5, 6, 7, 10) if way == "push" else (7, 10, 14):
            yield "6x1", way, FIXED["6x1"], size, f"--seed={seed}"


def points():
    """All points of `simulate`."""
    for way in ("push", "pull"):
        yield from points_of_way(way)
    for rate in SHAPED:
        for size in SIZES:
            yield "6x1", "push", FIXED["6x1"], size, f"--shaping=bucket:{rate}Mb/s,burst={size}kB"
    for rate, size, counted in page.tick_rates():
        if counted is not None:
            yield "6x1", "push", FIXED["6x1"], size, f"--shaping=bucket:{counted}kb/s,burst={size}kB"


def scan_points():
    for scan in page.SCANS:
        for way, assigned, size, changes in scan.points():
            yield scan.configuration, way, assigned, size, changes


def simulate(options, wanted):
    """What is not stored yet."""
    def key(configuration, way, assigned, size, changes=""):
        return configuration, way, str(assigned), str(1000 * size), changes
    known = set() if options.again else {tuple(line[name] for name in NAMES[:5])
                                         for line in studies.stored(options.out / "runs.csv")}
    todo = {key(*point): point for point in wanted if key(*point) not in known}
    for number, point in enumerate(todo.values()):
        print(f"{number + 1} of {len(todo)}")
        simulate_one(options, *point)


def lab_one(options, configuration, way, assigned, kilobytes, changes=""):
    sources, builders = configuration.split("x")
    scenario, more = words_of(way, changes)
    # The kernel's send buffer is less than the events that credits let under way.
    words = ["--scenario", f"atlas-{configuration}-{scenario}", "--rate", f"{assigned * kilobytes * 8}kb/s",
             "--event-size", f"{kilobytes}kB",
             *more, "--socket-buffer", "4MiB", "--warmup", "2s", "--duration", f"{LAB_SECONDS}s"]
    run, sums, load = studies.run(words, "lab", options.weir,
                                  ["--producers", sources, "--consumers", builders, "--link", "100Mb/s",
                                   "--buffer", "96KiB"])
    line = {"configuration": configuration, "way": way, "assigned_per_second": assigned,
            "fragment_bytes": 1000 * kilobytes,
            "changes": changes, "poll_gap_us_max": max(rank["poll_gap_max_us"] for rank in run["ranks"]),
            "load_before": load}
    studies.store(options.out / "lab.csv", LAB_NAMES, line | measured(run, sums, LAB_SECONDS, int(builders)), NAMES[:5])


def lab(options):
    for way in ("push", "pull"):
        for kilobytes in LAB_SIZES:
            lab_one(options, "6x1", way, LAB_FIXED, kilobytes)
        lab_one(options, "1x1", way, 20000, 1)
        lab_one(options, "13x13", way, 5000, 1)
    for rate in LAB_SHAPED:
        for kilobytes in LAB_SIZES[2::2]:
            lab_one(options, "6x1", "push", LAB_FIXED, kilobytes, f"--shaping=bucket:{rate}Mb/s,burst={kilobytes}kB")


def replay_cheap(trial):
    for point in CHEAP:
        simulate_one(trial, *point)


def add_options(parser):
    parser.add_argument("--again", action="store_true", help="simulate and scan: also what is stored")


STUDY = studies.Study(page.page, keys={"runs.csv": NAMES[:5]}, replay=replay_cheap, draw=page.draw, options=add_options,
                      runs={"simulate": lambda options: simulate(options, points()),
                            "scan": lambda options: simulate(options, scan_points()), "lab": lab})
