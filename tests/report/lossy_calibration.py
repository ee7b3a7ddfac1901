"""How often weir-compare recommends a setting that lost data, was not sustained or was late, over one that never was:
made-up runs of known truth, the whole way from run.json to the answer.

    PYTHONPATH=src/report python3 tests/report/lossy_calibration.py

prints the table of statistics.md. The same seed gives the same numbers.
"""

import argparse
import copy
import dataclasses
import datetime
import re

import numpy as np

from conftest import RUNS
from weir_compare.comparison.comparison import compare
from weir_compare.comparison.run_groups import Group
from weir_runs.reading.run import read_run

SEED = 1
DRAWS = 100
SIZES = (3, 5, 10)
NOISE = 0.01
BEGINNING = datetime.datetime(2026, 11, 20, 12, 0, tzinfo=datetime.timezone.utc)
LOST, NOT_SUSTAINED, LOST_BUT_SUSTAINED, LATE = "lost", "not sustained", "lost, but sustained", "late"


@dataclasses.dataclass(frozen=True)
class Case:
    """`gains`: by which share setting i is faster. `chances`: that something bad, `what`, happens in a run of setting
    i."""

    title: str
    gains: tuple
    chances: tuple
    what: str = LOST


ONE_IS_BAD = (
    Case("the faster one loses data in 1 of 2 runs", (0.0, 0.05), (0.0, 0.5)),
    Case("the faster one loses data in 3 of 10 runs", (0.0, 0.05), (0.0, 0.3)),
    Case("the faster one loses data in 1 of 5 runs", (0.0, 0.2), (0.0, 0.2)),
    Case("the faster one always loses data", (0.0, 0.2), (0.0, 1.0)),
    Case("the faster one is not sustained in 2 of 5 runs", (0.0, 0.2), (0.0, 0.4), NOT_SUSTAINED),
    Case("the faster one loses data in 2 of 5 runs, and is called sustained", (0.0, 0.2), (0.0, 0.4),
         LOST_BUT_SUSTAINED),
    Case("the faster one is late in 2 of 5 runs", (0.0, 0.2), (0.0, 0.4), LATE),
    Case("two of three lose data in 2 of 5 runs", (0.0, 0.1, 0.2), (0.0, 0.4, 0.4)),
    Case("the slower one loses data in 2 of 5 runs", (0.0, 0.1), (0.4, 0.0)),
)
ALL_ARE_BAD = (
    Case("both lose data in 2 of 5 runs", (0.0, 0.2), (0.4, 0.4)),
    Case("both lose data in 4 of 5 runs", (0.0, 0.2), (0.8, 0.8)),
)
EQUALLY_BAD = (
    Case("equal, both lose data in 1 of 5 runs", (0.0, 0.0), (0.2, 0.2)),
    Case("equal, both are late in 1 of 5 runs", (0.0, 0.0), (0.2, 0.2), LATE),
    Case("equal, three lose data in 1 of 5 runs", (0.0, 0.0, 0.0), (0.2, 0.2, 0.2)),
)
ALL_ARE_GOOD = (
    Case("all good, equal", (0.0, 0.0), (0.0, 0.0)),
    Case("all good, one 5 % faster", (0.0, 0.05), (0.0, 0.0)),
    Case("all good, three settings, one 20 % faster", (0.0, 0.1, 0.2), (0.0, 0.0, 0.0)),
)


def run_of(template, name, faster, minute, bad, generator):
    """A run whose times are shorter by `faster`, with noise; `bad`: what happened in it, or None."""
    record = copy.deepcopy(template.record)
    record["started_at"] = (BEGINNING + datetime.timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")
    speed = (1.0 + faster) * (1.0 + NOISE * generator.standard_normal())
    interval = record["plan"]["resolved"]["interval_s"]
    record["verdict"].update(sustained=bad not in (LOST, NOT_SUSTAINED), sets=600, late_sets=30 if bad == LATE else 0,
                             on_time=bad != LATE, least_slack_s=interval * (1.0 - 0.5 / speed))
    record["totals"].update(lost_events=int(generator.poisson(30)) + 1 if bad in (LOST, LOST_BUT_SUSTAINED) else 0,
                            max_occupancy=0.5 / speed)
    for quantile in ("p99_us", "p99_9_us", "max_us"):
        record["latency"]["delivery"][quantile] /= speed
    made = copy.copy(template)
    made.directory, made.record, made.name, made.known = template.directory / name, record, name, {}
    return made


def draw(case, size, generator, template):
    """Groups of runs that took turns, and how many of each were bad."""
    groups, bad = [Group(f"switch={name}", []) for name in "abcdef"[:len(case.gains)]], [0] * len(case.gains)
    for number in range(size):
        order = range(len(groups))
        for place, index in enumerate(reversed(order) if number % 2 else order):
            is_bad = generator.random() < case.chances[index]
            bad[index] += is_bad
            groups[index].runs.append(run_of(template, f"{groups[index].name}-{number}", case.gains[index],
                                             number * len(groups) + place, case.what if is_bad else None, generator))
    return groups, bad


def recommended(answer, names):
    """Index of the setting that one is told to use, or None."""
    used = re.fullmatch(r"Use (\w+)", answer.short.word)
    return names.index(used.group(1)) if used else None


def rates(case, size, draws=DRAWS, seed=SEED):
    """Shares: `wrong`, of draws in which one is told to use a setting of which runs were bad, of those in which none of
    another were (where all have bad runs: of all these); `silent`, of those in which any were bad, whose headline does
    not say so; `good`, of all draws, in which one is told to use a setting without a bad run; `fastest`, the fastest;
    `any`, any setting."""
    generator, template = np.random.default_rng(seed), read_run(RUNS / "measured")
    wrong = silent = good = fastest = told = mixed = with_bad = 0
    for _ in range(draws):
        groups, bad = draw(case, size, generator, template)
        answer = compare(groups[0], groups[1:]).answer
        used = recommended(answer, list(answer.names))
        with_bad += any(bad)
        silent += any(bad) and not re.search(r"lost data|not sustained|late|sustain|events lost|loses", answer.headline)
        comparable = any(bad) and (min(bad) == 0 or all(case.chances))
        mixed += comparable
        wrong += comparable and used is not None and bad[used] > 0
        told += used is not None
        good += used is not None and bad[used] == 0
        fastest += used == int(np.argmax(case.gains)) and bad[used] == 0
    return {"wrong": wrong / mixed if mixed else None, "silent": silent / with_bad if with_bad else None,
            "good": good / draws, "fastest": fastest / draws, "any": told / draws}


def percent(share):
    return "-" if share is None else f"{100.0 * share:.0f} %"


def print_table(title, cases, what, draws):
    print(f"| {title} | {' | '.join(f'{size} runs' for size in SIZES)} |\n|---|{'---|' * len(SIZES)}")
    for case in cases:
        cells = []
        for size in SIZES:
            found = rates(case, size, draws)
            cells.append(" / ".join(percent(found[each]) for each in what))
        print(f"| {case.title} | {' | '.join(cells)} |", flush=True)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=DRAWS)
    draws = parser.parse_args(argv).draws
    print_table("runs", (*ONE_IS_BAD, *ALL_ARE_BAD, *ALL_ARE_GOOD), ("wrong", "silent", "good"), draws)
    print()
    print_table("one is told to use any of equal settings", EQUALLY_BAD, ("any",), draws)


if __name__ == "__main__":
    main()
