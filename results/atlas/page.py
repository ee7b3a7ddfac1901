"""The page of bench/study atlas: what is simulated, the paper's observations and when they count as reproduced, and the
tables."""

import dataclasses

import studies
from studies import table

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14)  # kB, 6 x 1
SIZES_1 = (1, 2, 4, 7, 10, 14, 16, 20, 28)
SIZES_13 = (1, 2, 4, 7, 10, 14)
RATES = {"1x1": (5000, 10000, 15000, 20000, 25000), "6x1": (2000, 3000, 4000, 5000, 6000, 8000),
         "13x13": (13000, 26000, 39000)}  # events/s assigned, fragments of 1 kB
FIXED = {"1x1": 25000, "6x1": 5000, "13x13": 26000}  # events/s, against size
SHAPED = (20, 40, 50)  # Mb/s per source
# The lab: a tenth of the simulator's links, and of its rates, and as large fragments and buffers.
LAB_SIZES = (1, 4, 6, 8, 10, 14)
LAB_FIXED = 500
LAB_SHAPED = (2, 4, 10)

# ------------------------------------------------------------------------------------------------------------------
# scans

# Values of the scenarios; `changed` leaves them out.
DEFAULTS = {"--port-buffer": "512KiB", "--latency": "142us", "--fragment-timeout": "500ms", "--requests": "30",
            "--reasks": "10",
            "host.ring-packets": "128", "host.receive-time": "15.5us", "host.send-time": "26.9us"}
READ_US = {"push": 33.3, "pull": 41.7}
NO_HOSTS = {"--latency": "167us", "host.ring-packets": "0", "host.receive-time": "0us", "host.send-time": "0us",
            "host.read-time": "0us",
            "host.socket-buffer": "0B"}


def changed(values):
    return " ".join(f"{name}={value}" for name, value in values.items() if DEFAULTS.get(name) != value)


def behind_the_socket(way, size, ring, receive):
    """Another model of the builder's program: a time per byte; of pull at most 90 MB/s."""
    read = 27.8 + 5.55 * size if way == "push" else max(READ_US["pull"], 11.11 * size)
    return {"host.ring-packets": ring, "host.receive-time": receive, "host.read-time": f"{read:.1f}us"}


@dataclasses.dataclass
class Scan:
    rows: dict  # name of a row -> values, or a function of (way, size) that gives them
    sizes: dict  # way -> kB
    configuration: str = "6x1"
    assigned: int = 5000

    def changes(self, row, way, size):
        values = self.rows[row]
        return changed(values(way, size) if callable(values) else values)

    def points(self):
        for row in self.rows:
            for way, sizes in self.sizes.items():
                for size in sizes:
                    yield way, self.assigned, size, self.changes(row, way, size)


OBSERVED = {"push": (4, 5, 6, 7, 10), "pull": (7, 10, 14)}
RINGS = ("64", "80", "96", "112", "128", "144", "160", "192", "256", "512")
SOME_RINGS, RECEIVE = ("80", "112", "128", "160", "256"), ("14.5us", "15.5us", "16.7us")
SOCKET_RINGS, SOCKET_RECEIVE = ("112", "128", "160"), ("14us", "15us")
REQUEST_RINGS, REQUESTS = ("112", "128"), ("6", "10", "15", "20", "30")
RING = Scan({ring: {"host.ring-packets": ring} for ring in RINGS}, OBSERVED)
KERNEL = Scan({(ring, time): {"host.ring-packets": ring, "host.receive-time": time} for ring in SOME_RINGS
               for time in RECEIVE}, OBSERVED)
SOCKET = Scan({(ring, time): (lambda way, size, ring=ring, time=time: behind_the_socket(way, size, ring, time))
               for ring in SOCKET_RINGS for time in SOCKET_RECEIVE}, OBSERVED)
PORT = Scan({f"{size} KiB": {"--port-buffer": f"{size}KiB"} for size in (32, 64, 128, 512, 1024)}, OBSERVED)
PORT_ALONE = Scan({f"{size} KiB": NO_HOSTS | {"--port-buffer": f"{size}KiB"}
                   for size in (24, 32, 48, 64, 96, 128, 256)}, OBSERVED)
TIMEOUT = Scan({value: {"--fragment-timeout": value} for value in ("5ms", "50ms", "500ms", "5s")}, OBSERVED)
REASKS = Scan({value: {"--reasks": value} for value in ("1", "10", "100")}, {"push": (5, 7, 10)})
REQUEST = Scan({(number, ring): {"--requests": number, "host.ring-packets": ring} for number in REQUESTS
                for ring in REQUEST_RINGS},
               {"pull": (1, 7, 10, 14)})
LATENCY = Scan({value: {"--latency": value} for value in ("120us", "130us", "142us", "150us", "167us")},
               {"push": (1,), "pull": (1,)},
               "1x1", 25000)
SEND = Scan({value: {"host.send-time": value} for value in ("0us", "20us", "26.9us", "35us")}, {"push": (4, 14)}, "1x1",
            25000)
BUILDER = Scan({ring: {"host.ring-packets": ring, "host.receive-time": "26.9us", "host.send-time": "0us"}
                for ring in ("80", "96", "128")},
               {"push": (14, 16, 20, 28)}, "1x1", 25000)
SOURCES = Scan({"as it is": {}, "port buffer 96 KiB": {"--port-buffer": "96KiB"},
                "port buffer 2 MiB": {"--port-buffer": "2MiB"},
                "port buffer 2 MiB, ring 512": {"--port-buffer": "2MiB", "host.ring-packets": "512"},
                "sources that cost no time": {"host.send-time": "0us"}}, {"push": (7, 14), "pull": (14,)}, "13x13",
               26000)
BURSTS = Scan({(rate, burst): {"--shaping": f"bucket:{rate}Mb/s,burst={burst}kB"} for rate in SHAPED
               for burst in (16, 64, 256)},
              {"push": (7, 14)})
SCANS = (RING, SOCKET, KERNEL, PORT, PORT_ALONE, TIMEOUT, REASKS, REQUEST, LATENCY, SEND, BUILDER, SOURCES, BURSTS)

# -------------------------------------------------------------------------------------------------------- ticks of a
# kernel

TICK_US = 1e6 / 4096  # the paper's HZ
TICK_SIZES = (1, 4, 7, 14)


def ticks(frame_bytes, megabits):
    """What a packet costs a token bucket that counts in whole ticks; its table has a row for each 8 B."""
    return int((frame_bytes & ~7) * 8 / megabits / TICK_US)


def frames(kilobytes):
    """Bytes of the frames of a fragment: what the kernel's queue counts, without checksum and preamble."""
    rest, found = 1000 * kilobytes + 8, []
    while rest > 0:
        found.append(14 + 20 + min(rest, 1480))
        rest -= 1480
    return found


def tick_rates():
    """(Mb/s asked for, kB, kb/s that such a bucket gives, None: no limit)."""
    for rate in SHAPED:
        for size in TICK_SIZES:
            cost = sum(ticks(frame, rate) for frame in frames(size))
            yield rate, size, round(8e6 * size / (cost * TICK_US)) if cost else None


# ------------------------------------------------------------------------------------------------------------- stored
# runs


class Runs:
    def __init__(self, lines):
        self.lines = {(line["configuration"], line["way"], line["assigned_per_second"], line["fragment_bytes"],
                       line["changes"]): line
                      for line in lines}

    def get(self, configuration, way, assigned, size, changes=""):
        return self.lines.get((configuration, way, str(assigned), str(1000 * size), changes))

    def number(self, name, *point):
        line = self.get(*point)
        return float(line[name]) if line else float("nan")

    def rate(self, *point):
        return self.number("mb_per_second_per_builder", *point)

    def events(self, *point):
        return self.number("finished_per_second", *point)

    def again(self, *point):
        return self.number("asked_again_per_second", *point)


def cell(runs, *point):
    """MB/s, and in brackets fragments requested again per second."""
    if runs.get(*point) is None:
        return ""
    again = runs.again(*point)
    return f"{runs.rate(*point):.1f}" + (f" ({again:.0f})" if again > 0 else "")


# ---------------------------------------------------------------------------------------------------------------
# observations


def near(value, paper, tolerance=0.1):
    return f"{'PASS' if abs(value / paper - 1) <= tolerance else 'MISS'}, {100 * (value / paper - 1):+.0f} %"


def verdict(holds, size):
    return "PASS" if holds else f"MISS, {size}"


# Marks of the scans. The paper has "~" and no errors: 10 %. "Almost no traffic": a tenth of what push carries at most.
MARKS = {"a": "push 80 MB/s at 4 kB, within 10 %", "b": "push at 6 kB at most half of that",
         "c": "push below 8 MB/s at 7 and 10 kB",
         "d": "pull 90 MB/s at 7 kB, within 10 %", "e": "pull at least 81 MB/s at 10 and 14 kB"}


def missed(rate):
    """Letters of MARKS that do not hold; rate(way, kB)."""
    holds = {"a": abs(rate("push", 4) / 80 - 1) <= 0.1, "b": rate("push", 6) <= 40,
             "c": max(rate("push", 7), rate("push", 10)) < 8,
             "d": abs(rate("pull", 7) / 90 - 1) <= 0.1, "e": min(rate("pull", 10), rate("pull", 14)) >= 81}
    return "".join(letter for letter, true in holds.items() if not true) or "none"


def facts(runs):
    """(what, paper, fitted or predicted, simulator, verdict) of all that the paper's text has numbers or words for."""
    fitted, predicted = "fitted", "predicted"
    push = {size: runs.rate("6x1", "push", 5000, size) for size in SIZES}
    pull = {size: runs.rate("6x1", "pull", 5000, size) for size in SIZES}
    again = {size: runs.again("6x1", "push", 5000, size) for size in SIZES}
    one = {size: runs.rate("1x1", "push", 25000, size) for size in SIZES_1}
    grid = {size: runs.rate("13x13", "push", 26000, size) for size in SIZES_13}
    one_push, one_pull = (runs.events("1x1", way, 25000, 1) for way in ("push", "pull"))
    six_push, six_pull = (runs.events("6x1", way, 8000, 1) for way in ("push", "pull"))
    grid_push, grid_pull = (runs.events("13x13", way, 39000, 1) for way in ("push", "pull"))
    lost = {size: runs.again("13x13", "push", 26000, size) for size in SIZES_13}
    apart = max((abs(grid[size] / one[size] - 1), size) for size in SIZES_13 if size > 1)
    worst_lost = max(SIZES_13, key=lambda size: lost[size])
    above, pull_above = max(push[size] for size in SIZES if size > 6), {size: pull[size] for size in SIZES if size > 7}
    lowest = min(pull_above, key=pull_above.get)
    yield "1 x 1, 1 kB: most events/s, push", "20 000", fitted, f"{one_push:.0f}", near(one_push, 20000)
    yield "1 x 1, 1 kB: most events/s, pull", "14 000", predicted, f"{one_pull:.0f}", near(one_pull, 14000)
    yield "1 x 1, 14 kB: MB/s", "52", fitted, f"{one[14]:.1f}", near(one[14], 52)
    yield ("1 x 1, above 14 kB", "a rapid drop", predicted, f"16 kB: {one[16]:.1f}, 28 kB: {one[28]:.1f}",
           verdict(one[16] < 26, "no drop"))
    yield "6 x 1, 1 kB: most events/s, push", "5 000", fitted, f"{six_push:.0f}", near(six_push, 5000)
    yield "6 x 1, 1 kB: most events/s, pull", "4 000", fitted, f"{six_pull:.0f}", near(six_pull, 4000)
    yield "6 x 1, push, 4 kB: MB/s", "80", predicted, f"{push[4]:.1f}", near(push[4], 80)
    yield ("6 x 1, push, above 4 kB", "drops rapidly", fitted, f"5 kB: {push[5]:.1f}, 6 kB: {push[6]:.1f}",
           verdict(push[6] <= 40, f"{push[6]:.0f} at 6 kB"))
    yield ("6 x 1, push, above 6 kB", "almost no traffic", predicted, f"at most {above:.1f} at 7 to 14 kB",
           verdict(above < 8, f"{above:.0f} MB/s"))
    yield ("6 x 1, push, above 6 kB: requested again", "a lot", predicted,
           f"{again[7]:.0f} fragments/s at 7 kB; {again[4]:.0f} at 4 kB",
           verdict(again[7] > 10, "few"))
    yield "6 x 1, pull, 7 kB: MB/s", "90", fitted, f"{pull[7]:.1f}", near(pull[7], 90)
    yield ("6 x 1, pull, above 7 kB: MB/s", "90", predicted,
           ", ".join(f"{size} kB: {rate:.1f}" for size, rate in pull_above.items()),
           f"{near(pull_above[lowest], 90)} at {lowest} kB")
    yield ("13 x 13, 1 kB: events/s of push and pull", "push above pull", predicted,
           f"{grid_push:.0f}, {grid_pull:.0f}", verdict(grid_push > grid_pull, "pull above push"))
    yield ("13 x 13, push: MB/s of a builder against size", "like 1 x 1, not concentrated", predicted,
           f"within {100 * apart[0]:.0f} % of 1 x 1 at 2 to 14 kB",
           verdict(apart[0] <= 0.1, f"{100 * apart[0]:.0f} % off at {apart[1]} kB"))
    yield ("13 x 13, push: lost", "nothing", predicted,
           f"requested again: {lost[4]:.0f}/s at 4 kB, {lost[worst_lost]:.0f}/s at {worst_lost} kB",
           verdict(lost[worst_lost] == 0, f"{lost[worst_lost]:.0f} of "
                   f"{13 * runs.events('13x13', 'push', 26000, worst_lost):.0f} fragments/s"))
    for rate, limit in ((20, 15), (40, 30)):
        rates = {size: runs.rate("6x1", "push", 5000, size, f"--shaping=bucket:{rate}Mb/s,burst={size}kB")
                 for size in SIZES if size > 1}
        lossless = all(runs.again("6x1", "push", 5000, size, f"--shaping=bucket:{rate}Mb/s,burst={size}kB") == 0
                       for size in rates)
        far = max(rates.values(), key=lambda value, limit=limit: abs(value - limit))
        yield (f"6 x 1, push at {rate} Mb/s", "constant, few requested again", predicted,
               f"{min(rates.values()):.1f} to {max(rates.values()):.1f} MB/s at 2 to 14 kB, "
               f"{'none' if lossless else 'some'} requested again",
               near(far, limit, 0.02) if lossless else "MISS, losses")
    fifty = runs.rate("6x1", "push", 5000, 7, "--shaping=bucket:50Mb/s,burst=7kB")
    yield ("6 x 1, push at 50 Mb/s, 7 kB: MB/s", "as without shaping", predicted, f"{fifty:.1f}",
           verdict(fifty < 8, f"{fifty:.1f}, no collapse; with ticks {push[7]:.1f}"))


def answer(runs):
    found = list(facts(runs))
    predicted = [fact for fact in found if fact[2] == "predicted"]
    return {"observations": len(found), "fitted": len(found) - len(predicted), "predicted": len(predicted),
            "passed": sum(fact[4].startswith("PASS") for fact in predicted),
            "fitted_passed": sum(fact[4].startswith("PASS") for fact in found if fact[2] == "fitted")}


# ---------------------------------------------------------------------------------------------------------------------
# tables


def rates_table(runs):
    parts = []
    for configuration, rates in RATES.items():
        lines = []
        for rate in rates:
            lines.append([str(rate)])
            for way in ("push", "pull"):
                lines[-1] += [f"{runs.events(configuration, way, rate, 1):.0f}",
                              f"{runs.number('building_us_p50', configuration, way, rate, 1):.0f}"]
        parts.append(table([f"{configuration.replace('x', ' x ')}: events/s assigned", "push: finished/s",
                            "median time to build, us",
                            "pull: finished/s", "median time to build, us"], lines))
    return "\n\n".join(parts)


def sizes_table(runs):
    shaped = [f"--shaping=bucket:{rate}Mb/s,burst={{}}kB" for rate in SHAPED]
    lines = [[str(size), cell(runs, "6x1", "push", 5000, size), cell(runs, "6x1", "pull", 5000, size),
              *(cell(runs, "6x1", "push", 5000, size, form.format(size)) for form in shaped)] for size in SIZES]
    return table(["kB", "push", "pull", *(f"push at {rate} Mb/s" for rate in SHAPED)], lines)


def others_table(runs):
    def columns(configuration, size, sizes):
        return [cell(runs, configuration, way, FIXED[configuration], size) if size in sizes else ""
                for way in ("push", "pull")]
    lines = [[str(size), *columns("1x1", size, SIZES_1), *columns("13x13", size, SIZES_13)] for size in SIZES_1]
    return table(["kB", "1 x 1: push", "pull", "13 x 13: push", "pull"], lines)


def seeds_table(runs):
    lines = []
    for way, sizes in (("push", (4, 5, 6, 7, 10)), ("pull", (7, 10, 14))):
        for size in sizes:
            found = [runs.rate("6x1", way, 5000, size, seed)
                     for seed in ("", *(f"--seed={seed}" for seed in (2, 3, 4, 5)))]
            lines.append([way, str(size), ", ".join(f"{rate:.1f}" for rate in found)])
    return table(["way", "kB", "MB/s with seeds 1 to 5"], lines)


def scan_table(runs, scan, head, judged=True):
    """A row for each value, a column for each way and size."""
    points = [(way, size) for way, sizes in scan.sizes.items() for size in sizes]
    lines = []
    for row in scan.rows:
        def point(way, size, row=row):
            return scan.configuration, way, scan.assigned, size, scan.changes(row, way, size)
        more = [missed(lambda way, size: runs.rate(*point(way, size)))] if judged else []
        lines.append([*(row if isinstance(row, tuple) else (row,)),
                      *(cell(runs, *point(way, size)) for way, size in points), *more])
    return table([*head, *(f"{way} {size} kB" for way, size in points), *(["missed"] if judged else [])],
                 [[str(value) for value in line] for line in lines])


def scan_matrix(runs, scan, rows, columns, head):
    """What a scan of two values misses."""
    def one(key):
        return missed(lambda way, size: runs.rate(
                          scan.configuration, way, scan.assigned, size, scan.changes(key, way, size)))
    return table(head, [[row, *(one((row, column)) for column in columns)] for row in rows])


def latency_table(runs):
    return table(["latency", "push: events/s", "pull: events/s"],
                 [[row, *(f"{runs.events('1x1', way, 25000, 1, LATENCY.changes(row, way, 1)):.0f}"
                          for way in ("push", "pull"))]
                  for row in LATENCY.rows])


def tick_table(runs):
    lines = []
    for rate in SHAPED:
        line = [f"{rate} Mb/s"]
        for frame in (1042, 1514):
            line.append(f"{frame * 8 / rate:.0f} us: {ticks(frame, rate)}")
        for _, size, counted in (one for one in tick_rates() if one[0] == rate):
            changes = f"--shaping=bucket:{counted}kb/s,burst={size}kB" if counted else ""
            line.append(f"{f'{counted / 1000:.1f} Mb/s' if counted else 'no limit'}: "
                        f"{cell(runs, '6x1', 'push', 5000, size, changes)}")
        lines.append(line)
    return table(["asked for", "1 kB message: time, ticks", "full packet: time, ticks",
                  *(f"{size} kB: gets, MB/s" for size in TICK_SIZES)], lines)


def lab_section(out):
    lines = studies.stored(out / "lab.csv")
    if not lines:
        return "Not measured again since the scenarios were made anew; `bench/study atlas lab` measures it."
    runs = Runs(lines)
    shaped = [f"--shaping=bucket:{rate}Mb/s,burst={{}}kB" for rate in LAB_SHAPED]
    rows = [[str(size), cell(runs, "6x1", "push", LAB_FIXED, size), cell(runs, "6x1", "pull", LAB_FIXED, size),
             *(cell(runs, "6x1", "push", LAB_FIXED, size, form.format(size)) for form in shaped)] for size in LAB_SIZES]
    other = [[configuration.replace("x", " x "), way, str(assigned),
              f"{runs.events(configuration, way, assigned, 1):.0f}",
              f"{runs.again(configuration, way, assigned, 1):.0f}"]
             for configuration, assigned in (("1x1", 20000), ("13x13", 5000))
             for way in ("push", "pull")]
    return "\n\n".join([f"6 x 1 on links of 100 Mb/s, {LAB_FIXED} events/s assigned; measured, not replayed. "
                        + studies.made_with(lines),
                        table(["kB", "push", "pull", *(f"push at {rate} Mb/s" for rate in LAB_SHAPED)], rows),
                        table(["1 kB", "way", "assigned/s", "finished/s", "requested again/s"], other)])


def page(out):
    """README.md of about.md."""
    lines = studies.stored(out / "runs.csv")
    runs = Runs(lines)
    parts = {name: str(value) for name, value in answer(runs).items()} | {
        "made_with": studies.made_with(lines), "runs": str(len(lines)),
        "facts": table(["what", "paper", "", "simulator", "verdict"], [list(fact) for fact in facts(runs)]),
        "rates": rates_table(runs), "sizes": sizes_table(runs), "others": others_table(runs),
        "seeds": seeds_table(runs),
        "marks": table(["", "observation"], [[letter, text] for letter, text in MARKS.items()]),
        "ring": scan_table(runs, RING, ["ring, packets"]),
        "ring_matrix": scan_matrix(runs, KERNEL, SOME_RINGS, RECEIVE, ["ring, packets", *RECEIVE]),
        "socket": scan_matrix(runs, SOCKET, SOCKET_RINGS, SOCKET_RECEIVE, ["ring, packets", *SOCKET_RECEIVE]),
        "socket_best": scan_table(runs, Scan({("128", "14us"): SOCKET.rows["128", "14us"]}, OBSERVED),
                                  ["ring", "kernel"]),
        "requests": scan_table(runs, REQUEST, ["requests", "ring, packets"], judged=False),
        "port": scan_table(runs, PORT, ["port buffer"]), "port_alone": scan_table(runs, PORT_ALONE, ["port buffer"]),
        "timeout": scan_table(runs, TIMEOUT, ["time-out"]),
        "reasks": scan_table(runs, REASKS, ["re-asks"], judged=False),
        "latency": latency_table(runs), "send": scan_table(runs, SEND, ["time per packet"], judged=False),
        "builder": scan_table(runs, BUILDER, ["ring, packets"], judged=False),
        "sources": scan_table(runs, SOURCES, ["13 x 13"], judged=False),
        "bursts": scan_table(runs, BURSTS, ["Mb/s", "burst, kB"], judged=False),
        "ticks": tick_table(runs), "lab": lab_section(out)}
    return {"README.md": studies.joined([studies.filled(studies.text(out, "about.md"), parts)])}


def draw(out, figures):
    runs = Runs(studies.stored(out / "runs.csv"))
    rates = {configuration: {way: [(rate, runs.events(configuration, way, rate, 1)) for rate in values]
                             for way in ("push", "pull")}
             for configuration, values in RATES.items()}
    figures.rates(rates, {"1x1": {"push": 20000, "pull": 14000}, "6x1": {"push": 5000, "pull": 4000}},
                  out / "rates.png")
    curves = {way: [(size, runs.rate("6x1", way, 5000, size)) for size in SIZES] for way in ("push", "pull")}
    curves |= {f"push at {rate} Mb/s": [(size, runs.rate("6x1", "push", 5000, size,
                                                         f"--shaping=bucket:{rate}Mb/s,burst={size}kB"))
                                        for size in SIZES] for rate in SHAPED}
    figures.sizes(curves, {"push": [(4, 80), (7, 0)], "pull": [(7, 90)]}, out / "sizes.png")
