"""A run of the full farm: 4500 rank files of 300 s are read and drawn in under 14 s of one core and 330 MB, and the
page has 200 kB at most."""

import json
import os
import resource
import time

from conftest import call

PRODUCERS, CONSUMERS, SECONDS = 500, 4000, 300
LIMIT_S = 14  # of one core; beside much other work a core needs up to twice as long
LIMIT_BYTES = 330 * 10**6
PAGE_BYTES = 200_000


def write_farm(directory, pattern):
    """The rank files of `pattern`, a small run, as often as the farm has ranks. Files of one role are one file."""
    record = json.loads((pattern / "run.json").read_text())
    record["plan"]["resolved"].update(producers=PRODUCERS, consumers=CONSUMERS)
    originals = {rank["role"]: rank for rank in record["ranks"]}
    record["ranks"] = []
    (directory / "ranks").mkdir(parents=True)
    roles = ["scheduler"] + ["producer"] * PRODUCERS + ["consumer"] * CONSUMERS
    for rank, role in enumerate(roles):
        name = f"ranks/rank-{rank:05d}-{role}.csv"
        os.link(pattern / originals[role]["file"], directory / name)
        index = rank if role == "scheduler" else rank - 1 if role == "producer" else rank - 1 - PRODUCERS
        record["ranks"].append({**originals[role], "rank": rank, "index": index, "file": name})
    (directory / "run.json").write_text(json.dumps(record))


def test_the_farm(simulate, tmp_path):
    pattern = simulate("--producers", "2", "--consumers", "3", "--rate", "80Mb/s", "--event-size", "1MB", "--duration",
                       f"{SECONDS}s")
    farm = tmp_path / "farm"
    write_farm(farm, pattern)
    assert len(list((farm / "ranks").iterdir())) == PRODUCERS + CONSUMERS + 1
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    call("weir-report", "--quiet", farm)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Time of one core: how long it takes beside other work shows nothing.
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    largest = after.ru_maxrss * 1024
    print(f"{seconds:.1f} s of one core in {time.monotonic() - begin:.1f} s, {largest / 1e6:.0f} MB")
    assert (farm / "report.html").stat().st_size < PAGE_BYTES
    assert seconds < LIMIT_S
    assert largest < LIMIT_BYTES
