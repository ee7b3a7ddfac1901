"""What the search of LHCb 2021 and its page share: the paper's observations with their scales, the choices that the
paper leaves open, the simulation of one row with them, what is measured of it, and the distance of that from the paper.

The scales were written down before the first simulation of the search; that of 3-most after its grid."""

import math
import statistics

import studies

PRODUCERS = {1: 14, 2: 14, 3: 18, 4: 18, 5: 18}
CONSUMERS = {1: 72, 2: 72, 3: 14, 4: 14, 5: 14}
CONSUMER_LINK_GBPS = {1: 25, 2: 25, 3: 100, 4: 100, 5: 100}
# Payload of each producer as printed, and as whole events of 128 MiB.
PRINTED_RATE_BPS = {1: 85.8e9, 2: 85.8e9, 3: 74e9, 4: 63.3e9, 5: 63.3e9}
# The printed means of processing: read as a quantum, they are how long a consumer is busy when it is.
PRINTED_BUSY_MS = {2: 1200, 4: 900, 5: 1200}
MIB128 = 128 << 20
EVENTS_OF_128MIB = {1: 80, 2: 80, 3: 69, 4: 59, 5: 59}

# name: row, what, the paper's value, scale (a deviation of this size counts 1). Scales of rates are about an event of
# 128 MiB (6 % of a consumer's mean); those of numbers of consumers are a fifth to a third of the number; "about 200 s"
# is read to a fifth. "yes": counts 0 without a late set, else 1 to 3, 3 from a tenth of all sets on. No observation
# counts more than LIMIT.
OBSERVATIONS = {
    "1-on-time": (1, "every set left before the next", "yes", None),
    "1-producers": (1, "a producer's second, furthest from the mean, Gb/s", 85.8, 1.0),
    "1-mean": (1, "consumers, mean Gb/s", 16.8, 0.2),
    "1-lowest": (1, "a consumer's second, lowest Gb/s", 11.8, 1.0),
    "1-highest": (1, "a consumer's second, highest Gb/s", 20.4, 1.0),
    "2-on-time": (2, "every set left before the next", "yes", None),
    "2-lowest": (2, "a consumer's second, lowest Gb/s", 0.0, 1.0),
    "2-highest": (2, "a consumer's second, highest Gb/s", 20.4, 1.0),
    "2-blocked": (2, "most consumers blocked", 12, 2.5),
    "3-on-time": (3, "every set left before the next", "yes", None),
    "3-producers": (3, "a producer's second, furthest from the mean, Gb/s", 74.0, 1.0),
    "3-most": (3, "highest rate with which every set is on time, Gb/s", 74.0, 1.0),
    "3-mean": (3, "consumers, mean Gb/s", 95.2, 1.0),
    "4-on-time": (4, "every set left before the next", "yes", None),
    "4-mean": (4, "consumers, mean Gb/s", 81.4, 1.0),
    "4-blocked": (4, "most consumers blocked", 6, 1.5),
    "5-onset": (5, "above one interval's worth from second", 200, 40),
    "5-blocked": (5, "most consumers blocked in the first 200 s", 4, 1.5),
    "5-for-good": (5, "fewest consumers blocked after 200 s", 2, 1.0),
    "5-highest": (5, "a consumer's second, highest Gb/s", 95.0, 1.5),
}
LIMIT = 4.0
FIT_ROWS = (1, 2, 5)

# What "blocked" in the paper's plots may count, and what a consumer's probe may count.
BLOCKED_READINGS = ("instants", "samples", "means")
PROBES = ("bytes", "events")

CHOICES = ("event", "generation", "phase", "slots", "streams", "quantum_ms", "load", "policy", "network")
RUN = ("row", *CHOICES, "seconds", "seed")
MEASURED = ("late_share", "on_time", "max_occupancy", "first_above", "onset", "last_below", "late_onset",
            "producers_low", "producers_high",
            "mean", "bytes_low", "bytes_high", "events_low", "events_high", "blocked_instants", "blocked_samples",
            "blocked_means",
            "good_instants", "good_samples", "good_means", "blocked_share")


def event_bytes(row, event, rate=None):
    """Bytes of an event: `event` is 128MiB, or the number of events in a set of this rate (b/s; none: that of the
    row)."""
    if event == "128MiB":
        return MIB128
    return math.ceil((rate or PRINTED_RATE_BPS[row]) / 8 / int(event))


def events_per_set(row, event):
    return EVENTS_OF_128MIB[row] if event == "128MiB" else int(event)


def rate_bps(row, event):
    return EVENTS_OF_128MIB[row] * MIB128 * 8 if event == "128MiB" else PRINTED_RATE_BPS[row]


def words(choice, rate=None):
    """Options of `weir simulate` for a row with these choices. All is given, so that scenario files do not matter."""
    row, event = int(choice["row"]), choice["event"]
    size, events = event_bytes(row, event, rate), events_per_set(row, event)
    rate = rate or rate_bps(row, event)
    slots = int(choice["slots"])
    options = {
        "producers": PRODUCERS[row], "consumers": CONSUMERS[row], "rate": f"{rate:.0f}b/s", "interval": "1s",
        "generation": choice["generation"], "event-size": f"{size}B", "slots": slots, "streams": choice["streams"],
        # Two intervals' worth: above 1 is above one interval's worth when the next set is there.
        "buffer": f"{rate / 8 * (2 if choice['generation'] == 'sets' else 1):.0f}B",
        "producer-link": "100Gb/s", "consumer-link": f"{CONSUMER_LINK_GBPS[row]}Gb/s", "policy": choice["policy"],
        "duration": f"{choice['seconds']}s", "warmup": "10s", "seed": choice["seed"], "network": choice["network"],
    }
    if choice["phase"] not in ("", "same"):
        options["set-phase"] = choice["phase"]
    if row in (2, 4, 5):
        mean_s = float(choice["load"]) * CONSUMERS[row] / (PRODUCERS[row] * events)
        quantum_ms = PRINTED_BUSY_MS[row] if choice["quantum_ms"] == "paper" else float(choice["quantum_ms"])
        options["busy"] = f"poisson:{mean_s * 1e9:.0f}ns,quantum={quantum_ms * 1e6:.0f}ns"
    return [word for name, value in options.items() for word in (f"--{name}", str(value))]


def simulate(weir, choice):
    """Simulates a row with these choices. Returns the line to store; ends the program if the run is not complete."""
    with studies.finished([weir, "simulate", *words(choice)], scratch=studies.MEMORY) as (run, out):
        result = {**choice, **measured(out, run, int(choice["row"]), choice),
                  "weir": run["environment"]["weir_commit"][:12]}
        return {name: f"{value:.5g}" if isinstance(value, float) and name not in choice else str(value)
                for name, value in result.items()}


def on_time(weir, choice, rate):
    """Whether every set of row 3 is on time at this rate (b/s), and the commit of weir."""
    with studies.finished([weir, "simulate", *words(choice, rate)]) as (run, _):
        return run["verdict"]["on_time"], run["environment"]["weir_commit"][:12]


def rates_to_try(event):
    """Rates of row 3, ascending, b/s: whole events of 128 MiB; else 90 to 106 % of the printed rate."""
    if event == "128MiB":
        return [count * MIB128 * 8 for count in range(62, 74)]
    return [PRINTED_RATE_BPS[3] * percent / 100 for percent in range(90, 107)]


def seconds_of(directory, role, columns):
    """[rank][second] of the measured seconds: a tuple of the columns."""
    ranks = []
    for file in sorted((directory / "ranks").glob(f"*-{role}.csv")):
        ranks.append([tuple(float(row[name]) for name in columns) for row in studies.rows(file)
                      if row["phase"] == "measure"])
    return ranks


def paper_seconds(ranks, time_scale, *reductions):
    """[rank][second] of seconds of the paper: with --time-scale, so many of the run's, each column reduced by its
    function."""
    return [[tuple(reduce(values) for reduce, values in zip(reductions, zip(*rows[start:start + time_scale])))
             for start in range(0, len(rows), time_scale)] for rows in ranks]


def held(flags, length=20):
    """The first second from which at least half of the next `length` seconds are true; None without one."""
    for second in range(len(flags)):
        window = flags[second:second + length]
        if flags[second] and sum(window) * 2 >= len(window):
            return second
    return None


def measured(directory, run, row, choice, scaled_by=1.0, time_scale=1):
    """What a run has for the observations. `scaled_by`: its --scale; rates are given as without it. `time_scale`: a
    whole number; seconds are given as without it."""
    scale, verdict = 8e-9 / scaled_by, run["verdict"]
    consumers = paper_seconds(
        seconds_of(directory, "consumer", ("received_bytes", "received_events", "blocked_s", "blocked_samples_50ms")),
        time_scale, statistics.fmean, sum, statistics.fmean, tuple)
    producers = paper_seconds(seconds_of(directory, "producer", ("sent_bytes", "occupancy_peak", "late_sets")),
                              time_scale, statistics.fmean, max, sum)
    size = event_bytes(row, choice["event"]) * 8e-9
    by_bytes = [second[0] * scale for rank in consumers for second in rank]
    by_events = [second[1] * size for rank in consumers for second in rank]
    sent = [second[0] * scale for rank in producers for second in rank]
    length = len(consumers[0])
    instants = [[sum(int(rank[second][3][part]) >> bit & 1 for rank in consumers)
                 for part in range(len(consumers[0][second][3]))
                 for bit in range(20)] for second in range(length)]
    blocked = {"instants": ([max(counts) for counts in instants], [min(counts) for counts in instants]),
               "samples": ([counts[0] for counts in instants],) * 2,
               "means": ([sum(rank[second][2] for rank in consumers) for second in range(length)],) * 2}
    # Row 5: while buffers are not full, and after it. The paper's second is 200.
    early = slice(0, 200) if row == 5 else slice(0, length)
    above = [any(rank[second][1] > 1 for rank in producers) for second in range(length)]
    late = [any(rank[second][2] > 0 for rank in producers) for second in range(length)]
    first = above.index(True) if True in above else None
    below = max((second for second in range(length) if not above[second]), default=-1)
    result = {
        "late_share": verdict["late_sets"] / verdict["sets"], "on_time": int(verdict["on_time"]),
        "max_occupancy": run["totals"]["max_occupancy"], "first_above": first, "onset": held(above),
        "last_below": below,
        "late_onset": held(late), "producers_low": min(sent), "producers_high": max(sent),
        "mean": statistics.fmean(by_bytes),
        "bytes_low": min(by_bytes), "bytes_high": max(by_bytes), "events_low": min(by_events),
        "events_high": max(by_events),
        "blocked_share": statistics.fmean(second[2] for rank in consumers for second in rank),
    }
    for name, (most, least) in blocked.items():
        result[f"blocked_{name}"] = max(most[early])
        result[f"good_{name}"] = min(least[200:]) if row == 5 and length > 200 else None
    return {name: "" if value is None else value for name, value in result.items()}


def deviations(line, blocked="instants", probe="bytes", most=None):
    """What each observation of the line's row counts: {name: (value, count)}, LIMIT at most. `most`: of row 3, Gb/s."""
    row = int(line["row"])
    number = {name: None if line[name] in ("", None) else float(line[name]) for name in MEASURED}
    flat = max((number["producers_low"], number["producers_high"]),
               key=lambda value: abs(value - rate_bps(row, line["event"]) * 1e-9))
    values = {"on-time": number["late_share"], "producers": flat, "mean": number["mean"],
              "lowest": number[f"{probe}_low"],
              "highest": number[f"{probe}_high"], "blocked": number[f"blocked_{blocked}"], "onset": number["onset"],
              "most": most,
              "for-good": number[f"good_{blocked}"]}
    result = {}
    for name, (of, _, paper, scale) in OBSERVATIONS.items():
        if of != row:
            continue
        value = values[name.split("-", 1)[1]]
        if paper == "yes":
            count = 0.0 if value == 0 else 1 + 2 * min(1.0, value / 0.1)
        elif value is None:  # never above, or at no rate that was tried
            count = LIMIT
        else:
            count = abs(value - paper) / scale
        result[name] = (value, min(LIMIT, count))
    return result


def distance(counts):
    """Root of the mean square of what observations count."""
    return math.sqrt(statistics.fmean(count * count for count in counts)) if counts else float("nan")
