"""weir-traffic combine: several kinds of traffic in one trace."""

import json

from weir_suites import traffic_command
from weir_suites.traffic import combine, traffic_files
from weir_suites.traffic.traffic_model import Matrix, Trace, sums

US = 1000


def write(tmp_path, name, traffic):
    traffic_files.write(tmp_path / name, traffic, [])
    return str(tmp_path / name)


def combined(tmp_path, capsys, *words):
    out = tmp_path / "combined.csv"
    assert traffic_command.main(["combine", *map(str, words), "--out", str(out), "--json"]) == 0
    return traffic_files.read(out), json.loads(capsys.readouterr().out)


def refused(capsys, *words):
    try:
        assert traffic_command.main(["combine", *map(str, words)]) == 2
    except SystemExit as stopped:
        assert stopped.code == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    return said.err


def test_parts_are_moved_and_repeated_as_often_as_they_fit(tmp_path, capsys):
    long = write(tmp_path, "long.csv", Trace(((0, 0, 1, 5), (40 * US, 1, 0, 7)), 100 * US))
    short = write(tmp_path, "short.csv", Matrix({(0, 1): 3}, 30 * US))
    trace, summary = combined(tmp_path, capsys, f"{long},first-consumer=2", f"{short},first-worker=4,at=10us")
    assert trace.interval_ns == 100 * US and trace.after is None
    assert trace.rows == ((0, 0, 3, 5), (10 * US, 4, 5, 3), (40 * US, 1, 2, 7), (40 * US, 4, 5, 3), (70 * US, 4, 5, 3))
    assert summary["total_bytes"] == 5 + 7 + 3 * 3


def test_sums_are_those_of_the_parts(tmp_path, capsys):
    assert traffic_command.main(["prefill-to-decode", "--prefill-workers", "2", "--decode-workers", "4",
                                 "--interval", "200ms", "--out", str(tmp_path / "prefill.csv")]) == 0
    assert traffic_command.main(["mixture-of-experts", "--workers", "4", "--tokens", "64", "--period", "10ms",
                                 "--out", str(tmp_path / "experts")]) == 0
    capsys.readouterr()
    trace, _ = combined(tmp_path, capsys, f"{tmp_path / 'prefill.csv'},first-consumer=2",
                        f"{tmp_path / 'experts'},first-worker=2")
    prefill, experts = (sums(traffic_files.read(tmp_path / name)) for name in ("prefill.csv", "experts"))
    found = sums(trace)
    assert found.total == prefill.total + 10 * experts.total
    assert found.sent == prefill.sent + [10 * size for size in experts.sent]
    assert found.received == [0, 0] + [one + 10 * other for one, other in zip(prefill.received, experts.received)]


def test_transfers_wait_for_their_own_part_and_repetition(tmp_path, capsys):
    assert traffic_command.main(["collective", "--kind", "all-reduce", "--workers", "3", "--size", "3kB",
                                 "--interval", "100us", "--step-compute", "2us", "--out", str(tmp_path / "ring")]) == 0
    capsys.readouterr()
    other = write(tmp_path, "other.csv", Matrix({(0, 1): 3}, 200 * US))
    trace, _ = combined(tmp_path, capsys, tmp_path / "ring", other)
    assert len(trace.rows) == 2 * 12 + 1
    # The pair 0 -> 1 begins twice at 0: the second one 1 ns later.
    assert sorted(time for time, producer, consumer, _ in trace.rows if (producer, consumer) == (0, 1))[:2] == [0, 1]
    for place, inputs in enumerate(trace.after):
        time_ns, producer, _, _ = trace.rows[place]
        for one in inputs:
            assert one < place and trace.rows[one][2] == producer
            assert trace.rows[one][0] // (100 * US) == time_ns // (100 * US)
    assert sum(map(len, trace.after)) == 2 * 9 and sum(trace.compute) == 2 * 9 * 2 * US


def test_what_does_not_fit_is_refused(tmp_path, capsys):
    matrix = write(tmp_path, "matrix.csv", Matrix({(0, 1): 3}))
    trace = write(tmp_path, "trace.csv", Trace(((0, 0, 1, 5),), 100 * US))
    out = ("--out", tmp_path / "x.csv")
    assert "--interval: " in refused(capsys, matrix, *out) and not (tmp_path / "x.csv").exists()
    assert "trace.csv: it takes 100us, with the time before it, and the interval is 50us" in refused(
        capsys, trace, *out, "--interval", "50us")
    assert "repeated 2000000 times in 200s" in refused(capsys, trace, *out, "--interval", "200s")
    assert "is not the number of a worker" in refused(capsys, f"{trace},first-worker=-1", *out)
    assert "has first-worker and one of" in refused(capsys, f"{trace},first-worker=1,first-consumer=2", *out)
    assert "has at twice" in refused(capsys, f"{trace},at=1us,at=2us", *out)
    assert "above 1048574" in refused(capsys, f"{trace},first-worker=1048574", *out)
    assert "nowhere.csv" in refused(capsys, "nowhere.csv", *out)


def test_a_file_may_have_a_comma_in_its_name():
    assert combine.part("a,b.csv,at=1us") == combine.Part("a,b.csv", 0, 0, 1000)
