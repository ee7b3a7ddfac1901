"""What the tests of weir-compare share: run directories made from a stored one, and the command in this process."""

import copy
import datetime
import itertools
import json

import pytest
from conftest import RUNS

from weir_compare import compare_command
from weir_runs.reading.capacity import Capacity, Search, Setting, Trial

BEGINNING = datetime.datetime(2026, 11, 20, 12, 0, tzinfo=datetime.timezone.utc)


@pytest.fixture
def make(tmp_path):
    """make(name, ...): a run directory with chosen numbers; `goodput` multiplies all consumers' rates; `counters`:
    {device or protocol of its only host: {family: sum}}."""
    template = json.loads((RUNS / "measured" / "run.json").read_text())
    processes = itertools.count(1)

    def build(name, *, goodput=1.0, sustained=True, delivery=1.0, status="complete", minute=None, label=None, tags=None,
              seed="1", simulated=False, plan=None, lost=0, network=None, verdict=None, counters=None, stalled_s=0.0):
        record = copy.deepcopy(template)
        record["status"] = status
        record["ranks"][0]["pid"] = next(processes)  # no two measurements have the same record
        record["labels"] = {**({"label": label} if label else {}), **(tags or {})}
        record["verdict"]["sustained"] = sustained
        record["verdict"].update(verdict or {})
        record["totals"]["lost_events"] = lost
        record["plan"].update(plan or {}, seed=seed)
        record["ranks"][1]["stalled_s"] = stalled_s
        for rank in record["ranks"]:
            if rank["role"] == "consumer":
                rank["mean_bits_per_second"] *= goodput
                rank["slowest_second_bits_per_second"] *= goodput
        for quantile in ("p99_us", "p99_9_us", "max_us"):
            record["latency"]["delivery"][quantile] *= delivery
        record["started_at"] = (None if simulated or minute is None else
                                (BEGINNING + datetime.timedelta(minutes=minute)).isoformat().replace("+00:00", "Z"))
        if network:
            record["network"] = {"mechanism": network, "mechanisms": [network], "evidence": network}
        if simulated:
            record["environment"]["world"] = "simulation"
        directory = tmp_path / name
        directory.mkdir(parents=True)
        if counters is not None:
            families = {}
            for of_source in counters.values():
                for family, value in of_source.items():
                    families[family] = families.get(family, 0) + value
            record["hosts"] = [{"name": "eb01", "file": "hosts/eb01.csv", "sources": list(counters), "seconds": 5,
                                "counters": len(families), "totals": {}, "families": families,
                                "families_by_source": counters}]
            (directory / "hosts").mkdir()
            (directory / "hosts" / "eb01.csv").write_text("second,phase,wall_time\n")
        (directory / "run.json").write_text(json.dumps(record))
        return str(directory)
    return build


def capacity_of(limits):
    """A Capacity of settings; `limits`: {setting: [limit of each round]}; each round tried 1 % less, which held, and
    1 % more."""
    def search(name, number, limit):
        trials = [Trial(limit * factor, held, "complete", f"local/runs/{name}-{number}-{'held' if held else 'failed'}")
                  for factor, held in ((0.2, True), (0.99, True), (1.01, False))]
        return Search(number + 1, 0.99 * limit, 1.01 * limit, tuple(trials))
    return Capacity("rate", "sustained", "local", tuple(
        Setting(f"switch={name}", {"threshold": name},
                tuple(search(name, number, limit) for number, limit in enumerate(of_rounds)))
        for name, of_rounds in limits.items()), resolution=0.02, rounds=3)


def run(capsys, *arguments):
    """(exit status, standard output, standard error)"""
    try:
        status = compare_command.main([str(argument) for argument in arguments])
    except SystemExit as left:
        status = left.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def figures_of(text):
    return {figure["name"]: figure for figure in json.loads(text)["comparisons"][0]["figures"]}


def compared(capsys, new, baseline, *options):
    status, out, err = run(capsys, *new, "--against", *baseline, "--json", "-", *options)
    assert status == 0, err
    return figures_of(out), json.loads(out)
