"""weir-traffic slowdown: completion of a loaded run over completion alone."""

import csv
import json

import pytest

from weir_runs.basics.list_values import nearest_rank
from weir_suites import traffic_command
from weir_suites.traffic.slowdown import COLUMNS


@pytest.fixture
def run(tmp_path):
    """run(name, rows): a directory with a transfers.csv of (phase, producer, consumer, transfers, incomplete, bytes,
    min, mean, max)."""
    def build(name, rows, header=COLUMNS, status="complete"):
        directory = tmp_path / name
        directory.mkdir()
        (directory / "run.json").write_text(json.dumps({"status": status}))
        with open(directory / "transfers.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([header, *rows])
        return directory
    return build


def slowdown(capsys, loaded, isolated, *words):
    status = traffic_command.main(["slowdown", str(loaded), str(isolated), *map(str, words)])
    return status, capsys.readouterr()


def line(phase, producer, consumer, size, mean, *, transfers=10, incomplete=0, worst=None):
    return (phase, producer, consumer, transfers, incomplete, size, mean, mean, mean if worst is None else worst)


ISOLATED = [line(f"{p}-{c}-1000", p, c, 1000, 0.001) for p in range(4) for c in range(4) if p != c]


def test_slowdown_per_pair_and_in_total(run, capsys, tmp_path):
    loaded = run("loaded", [line("all", p, c, 1000, 0.004 if c == 2 else 0.0015, worst=0.006) for p in range(4)
                            for c in range(4) if p != c])
    status, said = slowdown(capsys, loaded, run("isolated", ISOLATED), "--json", "--csv", tmp_path / "s.csv")
    assert status == 0 and said.err == ""
    found = json.loads(said.out)
    assert (found["lines"], found["joined_lines"], found["incomplete_transfers"]) == (12, 12, 0)
    assert found["slowdown_median"] == pytest.approx(1.5)
    assert found["slowdown_p99"] == found["slowdown_worst"] == pytest.approx(4.0)
    assert found["receivers"][0] == {"consumer": 2, "slowdown_median": pytest.approx(4.0),
                                     "slowdown_max": pytest.approx(6.0), "lines": 3}
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    assert len(rows) == 12 and [row["consumer"] for row in rows[:3]] == ["2", "2", "2"]
    assert float(rows[0]["slowdown"]) == pytest.approx(4.0) and float(rows[-1]["completion_isolated_s"]) == 0.001
    status, said = slowdown(capsys, loaded, tmp_path / "isolated")
    assert (said.out.splitlines()[0]
            == "slowdown        median 1.5, p99 4, worst 4 (completion loaded / isolated, of 12 lines)")
    assert said.out.splitlines()[2] == "victims         consumer 2: median 4, single transfer up to 6 (3 lines)"


def test_lines_are_joined_by_pair_and_bytes(run, capsys):
    loaded = run("loaded", [line("dispatch", 0, 1, 1000, 0.002),
                            line("combine", 0, 1, 1000, 0.003), line("other", 0, 1, 2000, 0.004),
                            line("mixed", 0, 2, "", 0.004), line("never", 0, 3, 1000, "", transfers=0, incomplete=10),
                            line("some", 0, 2, 1000, 0.009, incomplete=4)])
    status, said = slowdown(capsys, loaded, run("isolated", ISOLATED), "--json")
    found = json.loads(said.out)
    assert [(pair["phase"], pair["slowdown"]) for pair in found["pairs"]] == [
        ("some", pytest.approx(9.0)), ("combine", pytest.approx(3.0)), ("dispatch", pytest.approx(2.0))]
    assert [found[key] for key in ("not_measured_lines", "several_sizes_lines", "never_complete_lines",
                                   "incomplete_transfers")] == [1, 1, 1, 4]
    status, said = slowdown(capsys, loaded, loaded.parent / "isolated")
    for words in ("incomplete ", "4 transfers of these lines had no end", "1 line of 6: not measured alone",
                  "1 line of 6: transfers of several sizes", "1 line of 6: no transfer complete"):
        assert words in said.out


def test_isolated_lines_of_the_same_transfer_are_taken_together(run, capsys):
    isolated = run("isolated", [line("a", 0, 1, 1000, 0.001, transfers=30), line("b", 0, 1, 1000, 0.005, transfers=10)])
    found = json.loads(slowdown(capsys, run("loaded", [line("all", 0, 1, 1000, 0.004)]), isolated, "--json")[1].out)
    assert found["pairs"][0]["completion_isolated_s"] == pytest.approx(0.002)


def test_a_run_that_ended_early_is_remarked(run, capsys):
    loaded = run("loaded", [line("all", 0, 1, 1000, 0.004)], status="interrupted")
    status, said = slowdown(capsys, loaded, run("isolated", ISOLATED))
    assert status == 0 and said.err == f"weir-traffic: {loaded}: the run is interrupted, not complete\n"


def test_quantiles_are_values():
    assert nearest_rank(range(1, 101), 0.99) == 99 and nearest_rank([5.0], 0.99) == 5.0
    assert nearest_rank([1, 2, 3, 4], 0.5) == 2


@pytest.mark.parametrize("rows, header, said", [
    ([], COLUMNS, ": there is no line after the header: the run had no transfer"),
    ([], COLUMNS[:-1], ", line 1: there is no column completion_s_max"),
    ([(1, 2)], COLUMNS, ", line 2: 2 fields were found; the header has 9"),
    ([line("all", 0, -1, 1000, 0.1)], COLUMNS, ", line 2: consumer: '-1' is not a whole number from 0 on"),
    ([line("all", 0, 1, 0, 0.1)], COLUMNS, ", line 2: bytes: '0' is not a whole number from 1 on"),
    ([line("all", 0, 1, 1000, "nan")], COLUMNS,
     ", line 2: completion_s_mean: 'nan' is not a time in seconds from 0 on"),
    ([line("all", 0, 1, 1000, "")], COLUMNS,
     ", line 2: completion_s_mean or completion_s_max is empty, though 10 transfers"),
])
def test_broken_files_are_refused(run, capsys, rows, header, said):
    loaded = run("loaded", rows, header)
    status, found = slowdown(capsys, loaded, run("isolated", ISOLATED))
    assert status == 2
    assert found.err.startswith(f"weir-traffic: {loaded / 'transfers.csv'}{said}") and found.err.count("\n") == 1


def test_runs_that_do_not_belong_together(run, capsys, tmp_path):
    loaded = run("loaded", [line("all", 0, 1, 77, 0.004)])
    status, said = slowdown(capsys, loaded, run("isolated", ISOLATED))
    assert status == 2 and "no transfer of the loaded run (1 lines) is in the isolated one: 1 have no line" in said.err
    status, said = slowdown(capsys, tmp_path, tmp_path / "isolated")
    assert status == 2
    assert f"{tmp_path / 'transfers.csv'}: no such file; the directory of a run with --pattern" in said.err
