"""Searches what the LHCb 2021 paper leaves open: which events, generation, slots, streams, quanta and loads come
closest to all that the paper prints.

    bench/study lhcb2021 grid [--minutes 30]     the coarse grid: one seed, 60 s; row 5: 300 s, where rows 3 and 4 are
    close bench/study lhcb2021 most                    the highest rate of row 3 with each choice of the grid: most.csv
    bench/study lhcb2021 refine [--minutes 30]   neighbours of the best, one choice at a time; 300 s
    bench/study lhcb2021 fine                    a finer grid around the events, slots and streams that were closest;
    300 s bench/study lhcb2021 phases                  what was close, with producers that generate at different
    instants: spread, random bench/study lhcb2021 seeds [--seeds 20]      what was nearly chosen, with other seeds; 300
    s bench/study lhcb2021 again --rows 3 --events 6 12 24    simulates these stored lines anew, after a change of weir;
    most.csv too bench/study lhcb2021 rank                    the ranking of what is stored

Every simulation is a line of results/lhcb2021/search.csv with the commit of weir; what is stored is not simulated
again, so each step can be stopped and goes on where it was. Observations, scales and the distance are in model.py.
"""

import concurrent.futures
import itertools
import random
import time

import model
from store import LAYOUTS, Store, most, network_choices, ranking, shared

EVENTS = ("4", "6", "8", "12", "16", "24", "32", "128MiB")
SLOTS = (1, 2, 3, 6, 16)
STREAMS = {1: (4, 8), 2: (4, 8), 3: (2, 4), 4: (2, 4), 5: (2, 4)}
# `paper`: the printed 1.2 s, and 0.9 s in row 4.
QUANTA_MS = {1: ("",), 3: ("",), **dict.fromkeys((2, 4, 5), (10, 30, 100, 300, 1000, "paper"))}


def loads(row, slots):
    """Shares of their time for which consumers work, if all is delivered. With one slot a consumer does not receive
    while it works: 0.83 of row 5's time is for receiving. With more, row 2 has the paper's ratio of ports, and 1.2 s
    for what a port carries in a second; row 5 is overloaded by half a percent, to need some 200 s. Row 4 has 0.9 / 1.2
    of row 5's load."""
    row5 = (0.16, 0.165, 0.17, 0.175) if slots == 1 else (1.005,)
    # 0.0349: the time for an event is that of row 5 at 0.17.
    row2 = (0.0349, 0.06, 0.1, 0.15, 0.2, 0.25) if slots == 1 else (0.933, 0.82)
    return {2: row2, 4: tuple(round(0.75 * load, 6) for load in row5), 5: row5}.get(row, ("",))


# The finer grid: events of 128 MiB in sets, one slot.
FINE = {"streams": {1: (8,), 2: (8,), 3: (2,), 4: (2,), 5: (2,)},
        "quanta_ms": {2: (1000, "paper"), 4: (5, 10, 20, 30), 5: (5, 10, 20, 30)},
        "loads": {2: (0.04, 0.05, 0.06, 0.07, 0.08), 5: (0.1705, 0.1715, 0.1725, 0.1735, 0.1745)}}
ROW_5_WITHIN = 1.0
# Which choices are tried with other phases: layouts that came this close in any reading, with sets at the same instant
# or steady, and events of 128 MiB with one slot and these streams, quanta and loads.
PHASES = ("spread", "random")
PHASES_WITHIN = {(1, 2): 1.3, (3, 4, 5): 1.7}
PHASES_FINE = {1: (range(3, 11), ("",), ("",)), 2: (range(3, 11), (1000, "paper"), (0.05, 0.06, 0.07)),
               3: (range(1, 4), ("",), ("",)), 4: (range(1, 4), (10, 20, 30), (0.127875, 0.129375, 0.130875)),
               5: (range(1, 4), (10, 20, 30), (0.1705, 0.1725, 0.1745))}
GRID_SECONDS = {1: 60, 2: 60, 3: 60, 4: 60, 5: 300}


def grid(rows, events, generations):
    for row in rows:
        for event, (generation, phase), slots, streams, quantum in itertools.product(
                events, generations, SLOTS, STREAMS[row], QUANTA_MS[row]):
            for load in loads(row, slots):
                yield {"row": row, "event": event, "generation": generation, "phase": phase, "slots": slots,
                       "streams": streams,
                       "quantum_ms": quantum, "load": load, "policy": "balanced", "network": "fluid",
                       "seconds": GRID_SECONDS[row], "seed": 1}


def fine():
    for row, streams in FINE["streams"].items():
        loads_of = FINE["loads"].get(row, tuple(round(0.75 * load, 6) for load in FINE["loads"][5]) if row == 4
                                     else ("",))
        for of, quantum, load in itertools.product(streams, FINE["quanta_ms"].get(row, ("",)), loads_of):
            yield {"row": row, "event": "128MiB", "generation": "sets", "phase": "", "slots": 1, "streams": of,
                   "quantum_ms": quantum,
                   "load": load, "policy": "balanced", "network": "fluid", "seconds": 300, "seed": 1}


def streams():
    """Row 3 to 5 with other streams, all else as chosen."""
    for row, of in itertools.product((3, 4, 5), (1, 2, 3, 4)):
        yield {"row": row, "event": "128MiB", "generation": "sets", "phase": "", "slots": 1, "streams": of,
               "quantum_ms": 20 if row > 3 else "", "load": {3: "", 4: 0.129375, 5: 0.1725}[row], "policy": "balanced",
               "network": "fluid", "seconds": 300, "seed": 1}


def phases(store):
    """What was close and what is near to what was chosen, with other phases."""
    lines = [line for rows, within in PHASES_WITHIN.items()
             for blocked, probe in itertools.product(model.BLOCKED_READINGS, model.PROBES)
             for far, _, found in ranking(store, blocked, probe, rows) if far < within and not found[0]["phase"]
             for line in found]
    close = [{**{name: line[name] for name in model.CHOICES}, "row": int(line["row"])} for line in lines]
    fine = [{"row": row, "event": "128MiB", "slots": 1, "streams": of, "quantum_ms": quantum, "load": load,
             "policy": "balanced",
             "network": "fluid"} for row, values in PHASES_FINE.items()
            for of, quantum, load in itertools.product(*values)]
    for choice, phase in itertools.product(close + fine, PHASES):
        yield {**choice, "generation": "sets", "phase": phase, "seconds": GRID_SECONDS[choice["row"]], "seed": 1}


def worth_row_5(store, wanted):
    """Row 5 needs 300 s: only choices with which rows 3 and 4 come within ROW_5_WITHIN of the paper, in some
    reading."""
    close = set()
    for blocked, probe in itertools.product(model.BLOCKED_READINGS, model.PROBES):
        for far, _, lines in ranking(store, blocked, probe, (3, 4)):
            if far < ROW_5_WITHIN:
                close.add((*shared(lines[1]), lines[1]["quantum_ms"], round(float(lines[1]["load"]), 4)))
    return [choice for choice in wanted if choice["row"] != 5 or
            (*(str(value) for value in shared(choice)), str(choice["quantum_ms"]),
             round(0.75 * float(choice["load"]), 4)) in close]


def work(store, wanted, weir, jobs, minutes):
    """Simulates what is not stored, in this order, until the time is over. Returns how many were simulated and how many
    are left."""
    wanted = [choice for choice in wanted if store.key(choice) not in store.lines]
    end, done = time.monotonic() + 60 * minutes, 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        def one(choice):
            if time.monotonic() < end:
                store.add(model.simulate(weir, choice))
                return 1
            return 0
        for count in pool.map(one, wanted):
            done += count
    return done, len(wanted) - done


def forget(store, options):
    """Removes the lines of these rows, events and generations from the store, and from most.csv. Returns their
    choices."""
    lines = [line for line in store.lines.values() if int(line["row"]) in options.rows and chosen(line, options)]
    for line in lines:
        del store.lines[Store.key(line)]
    store.write()
    path = options.out / "most.csv"
    head, *rest = path.read_text().splitlines()
    kept = [line for line in rest
            if 3 not in options.rows or not chosen(dict(zip(head.split(","), line.split(","), strict=True)), options)]
    path.write_text("\n".join([head, *kept]) + "\n")
    store.most = most(path.parent)
    return [{**{name: line[name] for name in model.RUN}, "row": int(line["row"])} for line in lines]


def search_most(store, options):
    """Bisection of the rates of row 3; without a rate that is on time the cell is empty."""
    path = options.out / "most.csv"
    if not path.exists():
        path.write_text("event,generation,phase,slots,streams,policy,most_gbps,weir\n")
    wanted = {network_choices(line): line for line in store.lines.values() if line["row"] == "3"}

    def one(item):
        key, line = item
        rates = model.rates_to_try(line["event"])
        low, high = -1, len(rates)  # on time, and not
        while high - low > 1:
            middle = (low + high) // 2
            good, commit = model.on_time(options.weir, {**line, "seconds": "20"}, rates[middle])
            low, high = (middle, high) if good else (low, middle)
        with store.lock, open(path, "a") as file:
            file.write(",".join([*key, f"{rates[low] * 1e-9:.4f}" if low >= 0 else "", commit]) + "\n")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, [item for item in wanted.items() if item[0] not in store.most]))
    store.most = most(path.parent)


def describe(line):
    return (f"{line['event']:>7} {line['generation']:<6} {line['phase'] or 'same':<7} slots {line['slots']:>2} streams "
            f"{line['streams']} quantum {line['quantum_ms']:>5} load {line['load']:>7}")


def show(store, options):
    for rows in LAYOUTS:
        for blocked, probe in itertools.product(model.BLOCKED_READINGS, model.PROBES):
            ranked = [entry for entry in ranking(store, blocked, probe, rows) if chosen(entry[2][0], options)]
            print(f"\nrows {rows}, blocked as {blocked}, probe of {probe}: {len(ranked)} candidates")
            for far, counts, lines in ranked[:options.top]:
                print(f"{far:6.2f}  {describe(lines[1])}  " + "  ".join(
                    f"{name} {'-' if value is None else format(value, '.3g')}" for name, (value, _) in counts.items()))


def variations(lines):
    """The same candidate, and those that differ from it in one choice of its layout: lists of its rows' choices."""
    base = [{**{name: line[name] for name in model.RUN}, "seconds": "300"} for line in lines]
    yield base
    quantum = base[1]["quantum_ms"] or base[-1]["quantum_ms"]
    values = {"streams": {int(base[0]["streams"]) + step for step in (-2, -1, 1, 2)},
              "slots": {int(base[0]["slots"]) + step for step in (-1, 1)}
              | {round(int(base[0]["slots"]) * factor) for factor in (0.7, 1.4)},
              "quantum_ms": {f"{float(quantum) * factor:.4g}" for factor in (0.5, 0.7, 1.4, 2) if quantum != "paper"}}
    for name, others in values.items():
        for value in sorted(others, key=str):
            if name == "quantum_ms" or value > 0:
                yield [{**choice, name: str(value)} if choice[name] != "" else choice for choice in base]
    for factor in (0.8, 0.9, 1.1, 1.25) if len(base) == 2 else (0.985, 0.995, 1.005, 1.015):
        yield [{**choice, "load": f"{float(choice['load']) * factor:.6g}"} if choice["load"] else choice
               for choice in base]


def chosen(line, options):
    return (line["event"] in options.events and line["generation"] in options.generations
            and (not options.phases or line["phase"] in options.phases))


def refine(store, options):
    """The best of each reading, for 300 s, and their neighbours."""
    wanted = {}
    for rows in LAYOUTS:
        for blocked, probe in itertools.product(model.BLOCKED_READINGS, model.PROBES):
            ranked = [entry for entry in ranking(store, blocked, probe, rows) if chosen(entry[2][0], options)]
            for _, _, lines in ranked[:options.top]:
                for choices in variations(lines):
                    wanted.update({Store.key(choice): choice for choice in choices})
    return list(wanted.values())


def seeds(store, options):
    """What was chosen, one stream, and the printed times as busy times."""
    for seed, row, (streams, quantum) in itertools.product(range(1, (options.seeds or 10) + 1), (4, 5),
                                                           ((1, 20), (2, 20), (2, "paper"))):
        yield {"row": row, "event": "128MiB", "generation": "sets", "phase": "", "slots": 1, "streams": streams,
               "quantum_ms": quantum,
               "load": 0.129375 if row == 4 else 0.1725, "policy": "balanced", "network": "fluid", "seconds": 300,
               "seed": seed}


def rank(options):
    show(Store(options.out / "search.csv"), options)


def search(options):
    """A step of the search: options.what."""
    store = Store(options.out / "search.csv")
    if options.what == "most":
        search_most(store, options)
        return
    if options.what == "phases":
        # Row 5 after rows 3 and 4, which show where it is worth its time.
        wanted = list({Store.key(choice): choice for choice in phases(store)}.values())
        work(store, [choice for choice in wanted if choice["row"] != 5], options.weir, options.jobs, options.minutes)
        search_most(store, options)
        wanted = worth_row_5(store, wanted)
    elif options.what == "again":
        wanted = forget(store, options)
    elif options.what == "grid":
        wanted = list(grid(options.rows, options.events, [*((name, "") for name in options.generations),
                                                          *(("sets", phase) for phase in options.phases)]))
        wanted = worth_row_5(store, wanted)
        random.Random(1).shuffle(wanted)  # stopped early, it is a sample of the grid
    else:
        steps = {"fine": lambda store, options: [*fine(), *streams()], "refine": refine, "seeds": seeds}
        wanted = list(steps[options.what](store, options))
    done, left = work(store, wanted, options.weir, options.jobs, options.minutes)
    if options.what == "again":
        search_most(store, options)
    print(f"{done} simulated, {left} left, {len(store.lines)} stored")


STEPS = dict.fromkeys(("grid", "most", "refine", "fine", "phases", "seeds", "again"), search)


def add_options(parser):
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--events", nargs="+", default=EVENTS, help="numbers of events in a set, or 128MiB")
    parser.add_argument("--generations", nargs="+", default=["sets", "steady"])
    parser.add_argument("--phases", nargs="+", default=[],
                        help="of sets: spread, random; grid: beside same; else only these")
    parser.add_argument("--top", type=int, default=5,
                        help="how many of each ranking are shown, refined or repeated (default 5)")
