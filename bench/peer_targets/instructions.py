"""Instructions of an event over its three ranks, counted with callgrind: one producer, one consumer, 64 slots, events
of 1 kB.

Counted is the loop of each rank, without start and end. Turns that find nothing are taken off, because how many there
are depends on when a rank gets a core: a run in which next to nothing is generated says what one of them costs each
role.
"""

import pathlib
import re
import sys
import tempfile

from . import running
from .samples import Comparison

CASE = "1x1x1, 64 slots"
ROLES = ("scheduler", "producer", "consumer")
SECONDS = 2  # under callgrind: some 10000 events
OPTIONS = ["--event-size", "1000B", "--slots", "64", "--streams", "64", "--buffer", "1MiB", "--idle", "yield",
           "--warmup", "1s",
           "--silence-timeout", "60s"]
BUSY = ["--generation", "saturate", *OPTIONS]
IDLE = ["--generation", "steady", "--rate", "1kb/s", *OPTIONS]
LOOP = "weir::loop::RankLoop::"

COMPARISONS = [Comparison("instructions", CASE, f"instructions per event, memory {CASE}, events of 1 kB: {of}",
                          f"instructions of {of}", "weir",
                          bound=3000 if of == "all ranks" else None, at_least=False) for of in ("all ranks", *ROLES)]


def measure(options, samples):
    """Not once a round: these are counts, and valgrind is slow."""
    for engine, words in running.ENGINES.items():
        found = per_event(options.weir, words)
        for of, instructions in {"all ranks": sum(found.values()), **found}.items():
            samples.add("instructions", CASE, f"weir{engine}", f"instructions of {of}", 0, instructions)


def per_event(weir, engine):
    """{role: instructions of an event}, without empty turns."""
    idle, _ = count(weir, engine, IDLE)
    busy, events = count(weir, engine, BUSY)
    found = {}
    for role in ROLES:
        of_empty_turn = idle[role]["instructions"] / idle[role]["turns"]
        empty_turns = busy[role]["turns"] - busy[role]["turns of nodes"]
        found[role] = (busy[role]["instructions"] - empty_turns * of_empty_turn) / events
    return found


def count(weir, engine, options):
    """({role: what callgrind counted}, events) of a run."""
    with tempfile.TemporaryDirectory(prefix="weir-peers-") as directory:
        out = pathlib.Path(directory)
        under = ["valgrind", "--tool=callgrind", f"--toggle-collect={LOOP}run()", "--compress-strings=no",
                 f"--callgrind-out-file={out}/%q{{OMPI_COMM_WORLD_RANK}}"]
        running.program([running.TOP / "bench/mpirun-local", "-np", len(ROLES), *under, weir, "run", "--producers", 1,
                         "--consumers", 1,
                         *engine, *options, "--duration", f"{SECONDS}s", "--quiet", "--out", out / "run"], timeout=120)
        run = running.record(out / "run")
        return {role: counted(out / str(rank)) for rank, role in enumerate(ROLES)}, run["totals"]["received_events"]


def counted(profile):
    text = profile.read_text()
    instructions = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
    calls = {function: sum(int(n) for n in re.findall(rf"^cfn={re.escape(LOOP + function)}\(.*\ncalls=(\d+)", text,
                                                      re.MULTILINE)) for function in ("turn", "turn_of_node")}
    if not instructions or not calls["turn"] or not calls["turn_of_node"]:
        sys.exit(f"peers: {profile} does not tell the turns of the loop")
    return {"instructions": int(instructions[1]), "turns": calls["turn"], "turns of nodes": calls["turn_of_node"]}
