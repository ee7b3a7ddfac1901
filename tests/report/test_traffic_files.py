"""Traffic files: what is read, what is refused with file and line, and sequences with every transfer alone."""

import json
import os

import pytest

from weir_runs.basics.errors import ReportError
from weir_suites import traffic_command
from weir_suites.traffic import isolate as traffic_isolate, traffic_files
from weir_suites.traffic.traffic_model import Matrix, Phase, Sequence, Trace

MATRIX = "producer,consumer,bytes\n"
TRACE = "time_us,producer,consumer,bytes\n"
PHASE = '[[phase]]\nname = "a"\nmatrix = "a.csv"\nperiod = "2ms"\n'


def test_a_matrix_with_comments(write):
    path = write("m.csv", f"# first\n{MATRIX}# between\n0,1,1000\n2,0,1\n# interval: 2.5ms\n")
    assert traffic_files.read(path) == Matrix({(0, 1): 1000, (2, 0): 1}, 2_500_000)
    assert traffic_files.read(write("windows.csv", MATRIX.replace("\n", "\r\n") + "0,1,5\r\n")).pairs == {(0, 1): 5}


@pytest.mark.parametrize("unit, text, time_ns",
                         [("time_s", "1.000000001", 1_000_000_001), ("time_ms", "0.25", 250_000),
                          ("time_us", "12.5", 12_500), ("time_us", "3", 3000), ("time_ns", "7.0", 7),
                          ("time_us", "0.0015", 2), ("time_s", "1e-06", 1000)])
def test_a_trace_in_each_unit(write, unit, text, time_ns):
    path = write("t.csv", f"{unit},{MATRIX}0,0,1,5\n{text},1,0,6\n{text},1,0,6\n")
    assert traffic_files.read(path) == Trace(((0, 0, 1, 5), (time_ns, 1, 0, 6), (time_ns, 1, 0, 6)))


def test_a_sequence(write, tmp_path):
    write("a.csv", f"{MATRIX}0,1,1000\n")
    path = write("sequence.toml", PHASE + PHASE.replace('"a"', '"b"') + "repeat = 8\n")
    sequence = traffic_files.read(path)
    assert [(phase.name, phase.period_ns, phase.repeat) for phase in sequence.phases] == [
        ("a", 2_000_000, 1), ("b", 2_000_000, 8)]
    assert sequence.interval_ns == 18_000_000 and sum(size for _, size in sequence.transfers()) == 9000
    assert traffic_files.read(tmp_path) == sequence  # the directory stands for it


@pytest.mark.parametrize("text, said", [
    ("", ": it has no header and no lines; expected is a traffic file"),
    ("# nothing\n", ": it has no header and no lines"),
    (MATRIX, ": there is no line after the header"),
    ("0,1,5\n",
     ", line 1: '0,1,5' is no header; expected is the header 'producer,consumer,bytes' (matrix) or 'time_us,"),
    ("producer;consumer;bytes\n", ", line 1: 'producer;consumer;bytes' is no header"),
    ("time_min,producer,consumer,bytes\n", ", line 1: 'time_min,producer"),
    (MATRIX + "0,1\n", ", line 2: 2 fields were found; 3 are expected: producer,consumer,bytes"),
    (MATRIX + "0,1,5,6\n", ", line 2: 4 fields were found; 3 are expected"),
    (TRACE + "0,1,5\n", ", line 2: 3 fields were found; 4 are expected: time_us,producer"),
    (MATRIX + "# x\n0,1,5\n0,-1,5\n", ", line 4: consumer: '-1' is not an index: a whole number from 0 on"),
    (MATRIX + "a,1,5\n", ", line 2: producer: 'a' is not an index"),
    (MATRIX + "1048575,1,5\n", ", line 2: producer: 1048575 is too large; at most 1048574"),
    (MATRIX + "0,1,0\n", ", line 2: bytes: 0 is not a positive number of bytes up to"),
    (MATRIX + "0,1,1MiB\n", ", line 2: bytes: '1MiB' is not a positive whole number of bytes"),
    (MATRIX + "0,1,1.5\n", ", line 2: bytes: '1.5' is not"),
    (MATRIX + "0,1,9999999999999999999\n",
     ", line 2: bytes: 9999999999999999999 is not a positive number of bytes up to"),
    (MATRIX + "0,1,5\n1,1,5\n0,1,6\n", ", line 4: the pair 0 -> 1 stands in line 2 already"),
    (MATRIX + "# interval: 5\n0,1,5\n", ", line 2: interval: '5' is not a time with its unit"),
    (TRACE + "5,0,1,5\n4.9,0,1,5\n", ", line 3: 4.9 is before the time of the line above; times have to ascend"),
    (TRACE + "-1,0,1,5\n", ", line 2: '-1' is not a time: a number that is not negative"),
    (TRACE + "1h,0,1,5\n", ", line 2: '1h' is not a time"),
    (TRACE + "3600000001,0,1,5\n", ", line 2: the time 3600000001 is above 1 h"),
    (TRACE + "1e99,0,1,5\n", ", line 2: the time 1e99 is above 1 h"),
    (MATRIX + "100000,100000,5\n",
     ": 100001 producers x 100001 consumers are too many; their product is at most 67108864"),
    (TRACE + f"0,0,0,{2**50}\n" * 4097,
     f": the transfers of an interval are {4097 * 2**50} bytes in all; weir counts up to {2**62}"),
    (f"# interval: 1us\n{TRACE}0,0,1,5\n1,0,1,5\n", ", line 4: the time is not in the interval, which is 1us"),
])
def test_a_broken_csv_file_is_refused_with_its_line(write, capsys, text, said):
    path = write("x.csv", text)
    assert traffic_command.main(["show", str(path)]) == 2
    found = capsys.readouterr()
    assert found.err.startswith(f"weir-traffic: {path}{said}") and found.err.count("\n") == 1 and found.out == ""


@pytest.mark.parametrize("text, said", [
    ("", ": no phase was found; a sequence has one or more tables [[phase]]"),
    ("[phase]\n", ": no phase was found"),
    ("x = 1\n" + PHASE, ": x: there is no such key"),
    ("[[phase]\n", ": "),
    (PHASE + "repeats = 2\n", ": phase 1: repeats: there is no such key; did you mean repeat?"),
    (PHASE + "repeat = 0\n", ": phase 1: repeat: 0 is not a whole number from 1 to 1000000000"),
    (PHASE + "repeat = true\n", ": phase 1: repeat: true is not"),
    (PHASE.replace('"2ms"', '"2"'), ": phase 1: period: '2' is not a time with its unit"),
    (PHASE.replace('"2ms"', "2"), ": phase 1: period: 2 is not a text"),
    (PHASE.replace("period", "# period"), ": phase 1: period: it is missing"),
    (PHASE.replace('name = "a"', 'name = "a b"'), ": phase 1: name: 'a b' is not a name"),
    (PHASE + "repeat = 4097\n", ": 4097 phases (with repetitions) are too many; at most 4096"),
    (PHASE.replace("2ms", "1s") + "repeat = 4000\n", ": the phases take 4000s; weir's longest interval is 1h"),
    (PHASE + PHASE.replace("a.csv", "t.csv").replace('"a"', '"b"'), ": phase 2: matrix: "),
])
def test_a_broken_sequence_is_refused(write, capsys, text, said):
    write("a.csv", f"{MATRIX}0,1,1000\n")
    write("t.csv", f"{TRACE}0,0,1,1000\n")
    path = write("s.toml", text)
    assert traffic_command.main(["show", str(path)]) == 2
    found = capsys.readouterr()
    assert found.err.startswith(f"weir-traffic: {path}{said}") and found.err.count("\n") == 1


def test_a_file_of_a_sequence_is_named(write, capsys, tmp_path):
    path = write("s.toml", PHASE)
    assert traffic_command.main(["show", str(path)]) == 2
    assert f"{tmp_path / 'a.csv'}: No such file or directory; a traffic file" in capsys.readouterr().err
    write("a.csv", f"{MATRIX}0,1,x\n")
    assert traffic_command.main(["show", str(path)]) == 2
    assert f"{tmp_path / 'a.csv'}, line 2: bytes: 'x'" in capsys.readouterr().err


def test_what_is_written_is_what_is_read(tmp_path):
    matrix = Matrix({(0, 1): 5, (3, 0): 2**40}, 1_500_000)
    trace = Trace(((0, 0, 1, 5), (1, 2, 3, 4), (1_234_567, 1, 0, 6)), 10**9)
    sequence = Sequence((Phase("a", "a.csv", Matrix({(0, 1): 5}), 2_500, 3),
                         Phase("b", "deep/b.csv", Matrix({(1, 0): 5}), 10**9)))
    for name, traffic in (("m.csv", matrix), ("t.csv", trace), ("s", sequence)):
        assert traffic_files.read(traffic_files.write(tmp_path / name, traffic, ["a remark"])) == traffic


def test_what_is_no_file(tmp_path, capsys):
    os.mkfifo(tmp_path / "x.csv")
    assert traffic_command.main(["show", str(tmp_path / "x.csv")]) == 2
    assert "it is a pipe, not a file; a traffic file" in capsys.readouterr().err


def test_files_in_the_wrong_place(tmp_path, capsys):
    words = ["all-to-all", "--workers", "3", "--bytes-per-pair", "1kB", "--out"]
    assert traffic_command.main([*words, str(tmp_path)]) == 2
    assert "is a directory; a file is expected, such as" in capsys.readouterr().err
    assert traffic_command.main([*words, str(tmp_path / "x.toml")]) == 2
    assert "ends like a sequence; a matrix is a CSV file" in capsys.readouterr().err
    assert traffic_command.main([*words, str(tmp_path / "no" / "x.csv")]) == 2
    assert f"x.csv: there is no directory {tmp_path / 'no'}; make it first" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert traffic_command.main(["mixture-of-experts", "--workers", "4", "--out", str(tmp_path / "file")]) == 2
    assert "is a file; a directory is expected" in capsys.readouterr().err


# --- Every transfer alone.


def isolate(capsys, path, out, *words):
    assert traffic_command.main(["isolate", str(path), "--out", str(out), "--json", *words]) == 0
    return traffic_files.read(out), json.loads(capsys.readouterr().out)


def test_every_transfer_is_alone_in_its_phase(write, tmp_path, capsys):
    path = write("m.csv", f"{MATRIX}0,1,1000000\n0,2,2000000\n11,2,1000000\n")
    sequence, found = isolate(capsys, path, tmp_path / "out", "--link", "8Gb/s")
    assert [dict(phase.matrix.pairs) for phase in sequence.phases] == [{(0, 1): 1_000_000}, {(0, 2): 2_000_000},
                                                                       {(11, 2): 1_000_000}]
    # twice 1 ms and 2 ms, and 1 ms
    assert [phase.period_ns for phase in sequence.phases] == [3_000_000, 5_000_000, 3_000_000]
    assert [phase.name for phase in sequence.phases] == ["00-01-1000000", "00-02-2000000", "11-02-1000000"]
    loaded, isolated, compare = found["next"]
    assert f"matrix:{path} " in loaded and loaded.endswith("--out loaded")
    assert f"sequence:{tmp_path / 'out' / 'sequence.toml'} " in isolated and isolated.endswith("--out isolated")
    assert compare == "weir-traffic slowdown loaded isolated"


def test_a_period_that_is_given_and_a_factor(write, tmp_path, capsys):
    path = write("m.csv", f"{MATRIX}0,1,1000000\n")
    assert isolate(capsys, path, tmp_path / "a", "--period", "7ms")[0].interval_ns == 7_000_000
    assert isolate(capsys, path, tmp_path / "b", "--link", "8Gb/s", "--factor", "1")[0].interval_ns == 2_000_000


def test_equal_transfers_of_a_sequence_are_measured_once(write, tmp_path, capsys):
    write("a.csv", f"{MATRIX}0,1,1000\n1,0,1000\n")
    write("b.csv", f"{MATRIX}0,1,1000\n1,0,2000\n")
    path = write("s.toml", PHASE + 'repeat = 9\n[[phase]]\nname = "b"\nmatrix = "b.csv"\nperiod = "1ms"\n')
    sequence, _ = isolate(capsys, path, tmp_path / "out")
    assert [dict(phase.matrix.pairs) for phase in sequence.phases] == [{(0, 1): 1000}, {(1, 0): 1000}, {(1, 0): 2000}]


def test_a_sample_is_that_of_its_seed(tmp_path, capsys):
    path = tmp_path / "m.csv"
    assert traffic_command.main(["all-to-all", "--workers", "70", "--bytes-per-pair", "1kB", "--out", str(path)]) == 0
    capsys.readouterr()
    assert traffic_command.main(["isolate", str(path), "--out", str(tmp_path / "x")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        f"weir-traffic: {path}: 4830 transfers would be as many phases; at most 4000 are allowed: --sample 4000")
    (one, found), (two, _), (other, _) = (
        isolate(capsys, path, tmp_path / str(number), "--sample", "20", "--seed", seed)
        for number, seed in enumerate("112"))
    pairs = [pair for phase in one.phases for pair in phase.matrix.pairs]
    assert "--producers" not in found["next"][0]
    assert ("--producers 70" in found["next"][1]) == (max(p for p, _ in pairs) < 69)
    assert one == two != other and len(one.phases) == len({tuple(phase.matrix.pairs) for phase in one.phases}) == 20


def test_what_cannot_be_isolated(write, tmp_path, capsys):
    path = write("t.csv", f"{TRACE}0,0,1,1000\n")
    assert traffic_command.main(["isolate", str(path), "--out", str(tmp_path / "x")]) == 2
    assert f"{path}: a trace cannot be isolated; a matrix or a sequence is expected" in capsys.readouterr().err
    with pytest.raises(ReportError, match="2 phases take 3601s; weir's longest interval is 1h"):
        traffic_isolate.isolate(Matrix({(0, 1): 1, (1, 0): 1}), 10**9, period_ns=3601 * 10**9 // 2)
