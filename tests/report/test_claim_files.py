"""Claims of runs on shared files: one of many gets one, and what is damaged is not taken for missing."""

import os
import subprocess
import sys
import types

import pytest

from conftest import ROOT
from weir_compare.sweep import claim_files
from weir_compare.sweep.campaign import Campaign
from weir_runs.basics.errors import ReportError


@pytest.mark.parametrize("content", ["", "{", "[]", '{"x": NaN}', "[" * 100000])
def test_what_is_damaged_is_not_taken_for_missing(tmp_path, content):
    world = Campaign(tmp_path).world("local")
    world.directory.mkdir()
    claim = claim_files.create_claim(tmp_path, "0001", 0)
    claim.finish(outcome="failed")
    for path, read in ((world.directory / "settings.json", world.ranges),
                       (world.directory / "settings.json", world.expected_plans),
                       (claim.path.with_suffix(".end.json"), lambda: claim_files.claims(tmp_path, "0001"))):
        path.write_text(content)
        with pytest.raises(ReportError, match=f"{path.name}: damaged") as error:
            read()
        assert str(path) in str(error.value)


def test_records_are_as_they_were_written(tmp_path):
    """What a sweep file has, such as joined emojis, is compared with them."""
    (tmp_path / "x.json").write_text('{"x": "a\u200db"}')
    assert claim_files.record_in(tmp_path / "x.json") == {"x": "a\u200db"}
    assert claim_files.record_in(tmp_path / "y.json") is None


def test_one_of_many_gets_a_claim(tmp_path):
    script = ("import sys; from weir_compare.sweep import claim_files\n"
              "won = sum(claim_files.create_claim(sys.argv[1], f'{n}', 0) is not None for n in range(200))\nprint(won)")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src/report")}
    several = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True,
                                env=environment) for _ in range(4)]
    won = [int(process.communicate(timeout=60)[0]) for process in several]
    assert sum(won) == 200
    assert len(list(tmp_path.iterdir())) == 200  # nothing temporary is left


def test_who_is_alive(monkeypatch):
    mine = claim_files.this_holder()
    assert claim_files.is_alive(mine, None) is True
    assert claim_files.is_alive({**mine, "started": 1}, None) is False  # the number is used again
    assert claim_files.is_alive({**mine, "boot": "another"}, None) is False
    assert claim_files.is_alive({**mine, "host": "elsewhere"}, None) is None
    asked = []

    def answer(job):
        asked.append(job)
        return {"1": True, "2": False}.get(job)

    jobs = types.SimpleNamespace(is_running=answer)
    assert [claim_files.is_alive({**mine, "job": job}, jobs) for job in ("1", "2", "3")] == [True, False, None]
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    # The same job after a requeue holds nothing of what it held before.
    assert claim_files.is_alive({**mine, "job": "1", "restart": 0}, jobs) is False
    assert claim_files.is_alive({**mine, "job": "1", "restart": 1}, jobs) is True
    assert asked == ["1", "2", "3"]
