"""The counters of a switch: what its command prints, how it is called around runs, what the differences are."""

import csv
import json
import shutil
import time
from pathlib import Path

import pytest

from conftest import RUNS, call_inside, script, start, until
from weir_compare.sweep import switch_reader
from weir_runs.basics.child import Stop
from weir_runs.basics.errors import ReportError
from weir_runs.reading import metrics, switch_counters, switch_reading
from weir_runs.reading.run import read_run


# --- What is printed.


def test_a_mark_of_the_byte_order_is_no_letter_of_a_port():
    for text in ("\ufeffEthernet0 3 a 1\n", "\ufeff# remark\nEthernet0 3 a 1\n",
                 '\ufeff[{"port": "Ethernet0", "priority": 3, "name": "a", "value": 1}]'):
        assert [counter.key for counter in switch_reading.parse(text)] == [("Ethernet0", 3, "a")]


def test_lines_and_json_are_the_same():
    lines = ("# taken at noon\n\nEthernet0 3 pauses_sent 12\nEthernet0 - dropped_packets 0\nEthernet4 - pausing_s 0.5\n"
             "Ethernet4 3 x -\n")
    entries = [{"port": "Ethernet0", "priority": 3, "name": "pauses_sent", "value": 12},
               {"port": "Ethernet0", "priority": None, "name": "dropped_packets", "value": 0},
               {"port": "Ethernet4", "name": "pausing_s", "value": 0.5},
               {"port": "Ethernet4", "priority": 3, "name": "x", "value": None}]
    made = switch_reading.parse(lines)
    assert made == switch_reading.parse(json.dumps({"counters": entries})) == switch_reading.parse(json.dumps(entries))
    assert [counter.value for counter in made] == [12, 0, 0.5, None]
    # 64 bits survive: a float would have 18446744073709551616.
    assert switch_reading.parse("a - b 18446744073709551615")[0].value == 2**64 - 1


@pytest.mark.parametrize("text, words", [
    ("", "no counter was printed"),
    ("# only a remark\n", "no counter was printed"),
    ("Ethernet0 3 pauses_sent\n", "line 1 is 'Ethernet0 3 pauses_sent': 3 words, expected 4"),
    ("a 3 b 1\na 8 b 1\n", "line 2 .* priority 8 is not a number from 0 to 7"),
    ("a 3 b N/A\n", "the value 'N/A' is neither a number nor -"),
    ("a 3 b 1,234\n", "the value '1,234'"),
    ("a 3 b -1\n", "the value '-1'"),
    ("a 3 b 1e400\n", "from 0 to 2.64"),
    ("a 3 b 18446744073709551616\n", "from 0 to 2.64"),
    ("a 3 b 1\na 3 b 2\n", "b of a, priority 3 is there twice"),
    ("Permission denied (publickey).\n", "3 words, expected 4|neither"),
    ("{\"counters\": 3}", 'without a list "counters"'),
    ("{\"counters\": [{\"port\": \"a\", \"value\": 3}]}", 'no "name"'),
    ("[{\"port\": \"a\", \"name\": \"b\", \"value\": true}]", "the value True"),
    ("[{\"port\": \"a\", \"name\": \"b\", \"value\": NaN}]", "neither lines nor JSON: NaN"),
    ("[{\"port\": \"a\", \"priority\": \"3\", \"name\": \"b\", \"value\": 1}]", "the priority '3'"),
    ("[3]", "not an object"),
    ("{\"counters\": [", "neither lines nor JSON"),
    ("[" * 100000, "neither lines nor JSON"),
    ("".join(f"p{number} - x 1\n" for number in range(50001)), "50001 counters are too many"),
])
def test_what_is_wrong_is_quoted(text, words):
    with pytest.raises(ReportError, match=words):
        switch_reading.parse(text)


# --- How it is called.


def reader(tmp_path, command, every_s=None, limit_s=5.0, said=None):
    return switch_reader.SwitchReader({"command": command, "every_s": every_s, "limit_s": limit_s},
                                      tmp_path / "collected", tmp_path, {"WEIR_SWITCH": "pfc"}, Stop(),
                                      lambda words, **_: None if said is None else said.append(words))


def readings(run):
    return json.loads((run / "switch/read.json").read_text())["readings"]


def counters_of(tmp_path, run):
    """The counters of a stored run with these readings."""
    target = tmp_path / "with-run"
    shutil.copytree(RUNS / "measured", target)
    shutil.copytree(run / "switch", target / "switch")
    return switch_counters.of_run(read_run(target))


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path):
    begun = time.monotonic()
    # `sleep` outlives its shell and would keep the pipe open.
    counters, _, problem, _ = switch_reader.read_once("trap '' TERM; sleep 61.25 & echo $! >pid; sleep 61.25", tmp_path,
                                                      {}, 0.3)
    assert counters is None and problem == "its command did not end within 0.3 s" and time.monotonic() - begun < 5
    child = int((tmp_path / "pid").read_text())
    until(lambda: not Path(f"/proc/{child}").exists()
          or "Z" in Path(f"/proc/{child}/stat").read_text().rpartition(")")[2][:3], limit_s=5)


def test_what_fails_has_a_reason(tmp_path):
    def problem(command):
        counters, _, why, _ = switch_reader.read_once(command, tmp_path, {}, 5.0)
        assert counters is None
        return why
    assert problem("echo 'no such host: switch' >&2; exit 255") == "it exited with 255: no such host: switch"
    assert problem("kill -9 $$") == "it was killed by signal 9"
    assert problem("no-such-command-here").startswith("it exited with 127")
    assert problem("echo hello") == "line 1 is 'hello': 1 words, expected 4; 'port priority name value' is expected"
    assert "printed more than" in problem("yes a 3 b 1")
    assert problem("true").startswith("no counter was printed")


def test_before_during_and_after(tmp_path):
    (tmp_path / "count").write_text("5")
    made = reader(tmp_path,
                  'n=$(cat count); echo $((n + 2)) >count; echo "p1 3 pauses_sent $n"; echo "p1 - queue_now_bytes $n"; '
                  'echo "# $WEIR_SWITCH $WEIR_SWITCH_READ"', every_s=0.05)
    made.before()
    deadline = time.monotonic() + 20
    while len(made._readings) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.01)
        made.tick()
    made.after()
    run = tmp_path / "run"
    made.move_to(run)  # the run was not even started: readings stay where they are
    assert (tmp_path / "collected/read.json").exists()
    run.mkdir()
    made.move_to(run)
    assert not (tmp_path / "collected").exists()
    kept = readings(run)
    assert [reading["when"] for reading in kept[:1] + kept[-1:]] == ["before", "after"]
    assert {reading["when"] for reading in kept[1:-1]} == {"during"} and not any(reading["problem"] for reading in kept)
    assert (run / "switch" / kept[0]["raw"]).read_text() == "p1 3 pauses_sent 5\np1 - queue_now_bytes 5\n# pfc before\n"
    rows = list(csv.DictReader((run / "switch/read.csv").open()))
    assert rows[0] == {"time": kept[0]["time"], "when": "before", "port": "p1", "priority": "3", "name": "pauses_sent",
                       "value": "5"}
    assert len(rows) == 2 * len(kept)
    last = float(rows[-1]["value"])
    assert counters_of(tmp_path, run).sums == {"pauses_sent": last - 5, "queue_now_bytes": last}


def test_a_reading_that_fails_is_missing_and_the_run_goes_on(tmp_path):
    said = []
    made = reader(tmp_path, 'test $WEIR_SWITCH_READ = before || { echo "p1 3 pauses_sent 9"; exit 0; }; sleep 30',
                  limit_s=0.2, said=said)
    made.before()
    made.after()
    (tmp_path / "run").mkdir()
    made.move_to(tmp_path / "run")
    assert said == ["      switch not read (before the run): its command did not end within 0.2 s"]
    counters = counters_of(tmp_path, tmp_path / "run")
    assert counters.sums == {"pauses_sent": None}
    assert counters.problems == ("The switch was not read before the run: its command did not end within 0.2 s.",)
    assert counters.changes[0].why == "it was not read before the run"


# --- What the differences are.


def run_with(tmp_path, *rows, problem=None):
    """A stored run with readings; `rows`: (when, port, priority, name, value)."""
    target = tmp_path / "run"
    shutil.copytree(RUNS / "measured", target)
    (target / "switch").mkdir()
    lines = [",".join(switch_reader.COLUMNS)]
    lines += [",".join(("2026-01-01T00:00:00.000Z", *map(str, row))) for row in rows]
    (target / "switch/read.csv").write_text("\n".join(lines) + "\n")
    whens = list(dict.fromkeys(row[0] for row in rows))
    (target / "switch/read.json").write_text(json.dumps({
        "schema": switch_reader.SCHEMA, "command": "x", "every_s": None, "limit_s": 10,
        "readings": [{"when": when, "time": f"2026-01-01T00:00:{10 * number:02}.000Z", "seconds": 0.1, "counters": 1,
                      "problem": problem, "raw": None}
                     for number, when in enumerate(whens)]}))
    return read_run(target)


def test_differences_by_port_and_in_all(tmp_path):
    run = run_with(tmp_path, ("before", "p1", 3, "pauses_sent", 100), ("before", "p2", 3, "pauses_sent", 7),
                   ("before", "p1", "", "marked_packets", 2**64 - 11),
                   ("after", "p1", 3, "pauses_sent", 150), ("after", "p2", 3, "pauses_sent", 7),
                   ("after", "p1", "", "marked_packets", 2**64 - 1))
    counters = switch_counters.of_run(run)
    assert [(change.key, change.value) for change in counters.changes] == [
        (("p1", 3, "pauses_sent"), 50), (("p2", 3, "pauses_sent"), 0), (("p1", None, "marked_packets"), 10)]
    assert counters.sums == switch_counters.sums(run) == {"pauses_sent": 50, "marked_packets": 10}
    assert counters.problems == ()
    assert switch_counters.lines(counters) == [("pauses sent by ports", "50", "p1 priority 3: 50"),
                                               ("packets marked (ECN)", "10", "p1: 10")]


def test_the_page_and_the_terminal_show_them(tmp_path, no_pictures, capsys):
    from weir_runs import report_command
    run = run_with(tmp_path, *((when, f"swp{port}", 3, name, value * factor)
                               for when, factor in (("before", 1), ("during", 2), ("after", 3))
                               for port in (1, 2) for name, value in (("pauses_sent", 1000 * port),
                                                                      ("dropped_packets", 0), ("sent_packets", 5))),
                   ("before", "swp1", 3, "marked_packets", 7), ("after", "swp1", 3, "marked_packets", 5))
    assert report_command.main([str(run.directory), "--figures", "none"]) == 0
    said = capsys.readouterr().out
    assert "  switch: pauses sent by ports 6000; packets marked (ECN) unknown\n" in said
    assert ("  marked_packets of swp1, priority 3: unknown, it went back from 7 to 5: it was reset, or wrapped.\n"
            in said)
    page = (run.directory / "report.html").read_text()
    assert "<h3>What the switch counted</h3>" in page and "with its warm-up (1 more reading in between), by: x." in page
    assert ("<td>pauses sent by ports</td><td class=\"n\">6000</td><td>swp2 priority 3: 4000 and swp1 priority "
            "3: 2000</td>" in page)
    assert "<td>packets dropped</td><td class=\"n\">0</td><td>-</td>" in page
    assert "<td>packets marked (ECN)</td><td class=\"n\">unknown</td><td>it went back from 7 to 5" in page
    report_command.main([str(RUNS / "measured"), "--figures", "none", "--out", str(tmp_path / "other.html")])
    assert "  switch:" not in capsys.readouterr().out
    assert "What the switch counted" not in (tmp_path / "other.html").read_text()


def test_they_explain_a_setting(tmp_path):
    from weir_compare.comparison import answer_why
    from weir_compare.comparison.run_groups import Group
    run = run_with(tmp_path, *((when, "p1", 3, name, value * factor) for when, factor in (("before", 1), ("after", 2))
                               for name, value in (("pauses_sent", 70), ("marked_packets", 25), ("sent_packets", 1000),
                                                   ("paused_s", 0.5))),
                   ("before", "p1", 3, "dropped_packets", 9), ("after", "p1", 3, "dropped_packets", 1))
    why = answer_why.why(Group("pfc", [run]), "pfc")
    shown = {counter.title: counter.text for counter in why.counters if counter.name.startswith("switch_")
             and counter.value}
    assert shown == {"packets marked by the switch": "2.5 % of packets", "pauses sent by ports (switch)": "70 frames",
                     "time for which ports were stopped (switch)": "5 % of the time"}
    # Reset in between: missing, and not 0.
    assert "packets dropped by the switch" in why.missing
    unread = answer_why.why(Group("other", [read_run(RUNS / "measured")]), "other")
    assert "pauses sent by ports (switch)" in unread.missing
    assert not any(counter.name.startswith("switch_") for counter in unread.shown)


def test_readings_during_a_run_are_drawn(tmp_path):
    from weir_runs.figures import switch_charts
    run = run_with(tmp_path, ("before", "p1", 3, "pauses_sent", 0))
    # Second 0 of this run began at 12:35:19.36 UTC.
    rows = [f"2026-11-21T12:35:{second}.360Z,{when},{port},3,{name},{value}"
            for second, when, p1, p2, queue in ((15, "before", 100, 7, 0), (20, "during", 150, 7, 9000),
                                                (22, "during", 160, 307, 4000), (25, "after", 20, 337, 0))
            for port, name, value in (("p1", "pauses_sent", p1), ("p2", "pauses_sent", p2),
                                      ("p1", "queue_now_bytes", queue), ("p1", "still", 5))]
    (run.directory / "switch/read.csv").write_text("\n".join([",".join(switch_reader.COLUMNS), *rows]) + "\n")
    chart = switch_charts.readings(run)
    pauses, queue = chart.panels
    assert (pauses.title, pauses.unit, queue.unit) == ("pauses sent by ports", "frames per second", "kB")
    [line] = pauses.lines
    assert line.x == pytest.approx([1.0, 3.0, 6.0]) and line.y == pytest.approx([10.0, 150.0, 10.0])
    assert line.notes == ["p1 priority 3", "p2 priority 3", "p2 priority 3"]  # p1 went back at last
    assert list(queue.lines[0].y) == [0, 9, 4, 0]
    assert switch_charts.readings(read_run(RUNS / "measured")) is None


def test_a_comparison_says_what_is_missing(tmp_path):
    run = run_with(tmp_path, ("before", "p1", 3, "a", 1), ("after", "p1", 3, "a", 1),
                   problem="its command did not end within 10 s")
    other = read_run(RUNS / "measured")
    assert switch_counters.missing([other]) is None
    assert switch_counters.missing([other, run]) == (
        "The switch's counters are incomplete in 1 of 2 runs (first in run: The switch was not read before the run: "
        "its command did not end within 10 s).")


def test_a_counter_that_went_back_is_unknown_also_if_it_is_higher_in_the_end(tmp_path):
    counters = switch_counters.of_run(run_with(
        tmp_path, ("before", "p1", 3, "a", 100), ("before", "p1", 3, "b", 100), ("before", "p2", 3, "a", 1),
        ("during", "p1", 3, "a", 20), ("after", "p1", 3, "a", 150), ("after", "p1", 3, "b", 99),
        ("after", "p2", 3, "a", 2)))
    assert counters.sums == {"a": None, "b": None}
    assert [change.value for change in counters.changes] == [None, None, 1]
    assert counters.problems == (
        "a of p1, priority 3 and b of p1, priority 3: unknown, it went back from 100 to 20: it was reset, or wrapped.",)


def test_missing_is_not_zero(tmp_path):
    counters = switch_counters.of_run(run_with(
        tmp_path, ("before", "p1", 3, "only_before", 1), ("before", "p1", 3, "none", ""),
        ("before", "p1", 3, "some", 4), ("before", "p2", 3, "some", ""), ("after", "p1", 3, "only_after", 5),
        ("after", "p1", 3, "none", ""), ("after", "p1", 3, "some", 6), ("after", "p2", 3, "some", "")))
    # A port that does not count is no part of the sum; a reading that is missing makes it unknown.
    assert counters.sums == {"only_before": None, "none": None, "some": 2, "only_after": None}


def test_a_port_and_its_priorities_are_not_added(tmp_path):
    counters = switch_counters.of_run(run_with(
        tmp_path, *((when, "p1", priority, "pauses_sent", value) for when, factor in (("before", 0), ("after", 1))
                    for priority, value in ((3, 10 * factor), (4, 5 * factor), ("", 15 * factor)))))
    assert counters.sums == {"pauses_sent": 15}


@pytest.mark.parametrize("aggregate", ["PortChannel1", "PortChannel0001", "Port-Channel1", "port-channel1", "Po1",
                                       "ae0", "bond0", "leaf1:PortChannel1", "Bundle-Ether3"])
def test_a_port_that_is_made_of_others_is_not_added_to_them(tmp_path, aggregate):
    member = "leaf1:Ethernet8" if ":" in aggregate else "Ethernet8"
    run = run_with(tmp_path, *((when, port, priority, "sent_packets", value) for port in (aggregate, member)
                               for priority in ("", 3) for when, value in (("before", 1000), ("during", 2000),
                                                                           ("after", 3000))),
                   ("before", aggregate, "", "dropped_packets", 1), ("after", aggregate, "", "dropped_packets", 4),
                   ("before", member, "", "dropped_packets", ""), ("after", member, "", "dropped_packets", ""))
    counters = switch_counters.of_run(run)
    # What no member counts is that of the aggregate.
    assert counters.sums == {"sent_packets": 2000, "dropped_packets": 3}
    assert switch_counters.shares(run)["dropped_packets"][1] == pytest.approx(3 / 2003)
    assert switch_counters.lines(counters)[1] == ("packets sent", "2000", f"{member} priority 3: 2000")
    assert f"by: x. Without {aggregate}: made of other ports." in counters.when
    assert {port for port, _, _ in switch_counters.series(run)} == {aggregate, member}
    assert (aggregate, 3, "sent_packets") not in switch_counters.series(run)


def test_the_share_of_a_port_is_not_of_its_packets_twice(tmp_path):
    """EOS and NX-OS count what a port sent as a whole and by queue, and what it dropped by queue."""
    from weir_compare.comparison import victims
    rows = [(when, "p1", priority, name, value * factor) for when, factor in (("before", 0), ("after", 1))
            for priority, name, value in (("", "sent_packets", 90), (3, "sent_packets", 90),
                                          (3, "dropped_packets", 10))]
    assert victims._port_shares(run_with(tmp_path, *rows), "dropped_packets")["p1"].share == pytest.approx(0.1)


def test_a_port_that_is_made_of_others_stands_alone_where_they_are_not_read(tmp_path):
    rows = [(when, port, "", "sent_packets", value) for port in ("leaf1:ae0", "leaf2:et-0/0/0", "space", "lagoon5x")
            for when, value in (("before", 1000), ("after", 2000))]
    assert switch_counters.sums(run_with(tmp_path, *rows)) == {"sent_packets": 4000}


@pytest.mark.parametrize("before, during, after, value",
                         [(0, 5, 3, 5), (10, 20, 15, 20), (10, 10, 10, None), (10, 2, 4, None), (0, 0, 0, 0)])
def test_peaks_are_those_of_the_run(tmp_path, before, during, after, value):
    counters = switch_counters.of_run(run_with(
        tmp_path, *((when, "p1", 3, "queue_peak_bytes", number) for when, number in
                    (("before", before), ("during", during), ("after", after)))))
    assert counters.changes[0].value == value
    assert (value is not None or "as high before the run" in counters.changes[0].why)


@pytest.mark.parametrize("content",
                         ["", "time,when\n", "time,when,port,priority,name,value\nx\n",
                          "time,when,port,priority,name,value\nt,before,p,three,a,1\n",
                          "time,when,port,priority,name,value\nt,before,p,3,a,much\n",
                          *(f"time,when,port,priority,name,value\n2026-01-01T00:00:00Z,before,p,{words}\n"
                            for words in ("three,a,1", "3,a,much", "3,a,nan", "3,a,-1", f"3,a,{'9' * 400}"))])
def test_damaged_readings_are_refused(tmp_path, content):
    run = run_with(tmp_path, ("before", "p1", 3, "a", 1), ("after", "p1", 3, "a", 1))
    (run.directory / "switch/read.csv").write_text(content)
    for read in (switch_counters.of_run, switch_counters.series,
                 lambda run: metrics.families(run.directory, history=False)):
        with pytest.raises(ReportError, match=r"read\.csv, line [12]: .*damaged"):
            read(run)
    (run.directory / "switch/read.json").write_text("{}")
    with pytest.raises(ReportError, match=r"read\.json: damaged"):
        switch_counters.of_run(run)


def test_runs_without_readings_have_none():
    assert switch_counters.of_run(read_run(RUNS / "measured")) is None
    assert switch_counters.sums(read_run(RUNS / "measured")) == {}


def test_simulated_switches_use_the_same_names(simulate):
    run = read_run(simulate("--producers", "4", "--consumers", "4", "--rate", "2Gb/s", "--producer-link", "10Gb/s",
                            "--consumer-link", "2.5Gb/s", "--duration", "1s", "--warmup", "0s", "--network", "packet",
                            "--pfc", "on"))
    sums = switch_counters.sums(run)
    for name in ("sent_packets", "sent_bytes", "pauses_sent", "dropped_packets", "marked_packets"):
        assert sums[name] == run.record["switch"][name], name
    assert sums["pauses_sent"] > 0
    assert sums["pausing_s"] > 0 and sums["pool_peak_bytes"] == run.record["switch"]["pool_peak_bytes"]
    for port in run.record["switch"]["ports"]:
        assert set(switch_counters.SIMULATED) - set(port) == {"pool_peak_bytes"}
    # Every name has words.
    assert set(sums) <= set(switch_reading.KNOWN)


# --- In a campaign.

LAUNCHER = """
weir=$3
shift 4
sleep "$(cat nap 2>/dev/null || echo 0)"
exec $weir simulate "$@" --quiet"""
SWEEP = """
repetitions = 1
[run]
producers = 2
consumers = 2
rate = "100Mb/s"
event-size = "1MiB"
duration = "1s"
warmup = "0s"
[local]
launcher = ["./launcher"]
[switch]
settings = ["a", "b"]
on-change = "true"
"""


@pytest.fixture
def sweep(weir, tmp_path):
    """sweep(more, words...): what weir-sweep prints with a sweep file that has `more` in [switch]."""
    script(tmp_path / "launcher", LAUNCHER)
    file = tmp_path / "some.toml"

    def sweep(more, command, *words, expect=0):
        file.write_text(SWEEP + more)
        return call_inside("weir-sweep", command, file, *words, expect=expect)
    sweep.directory, sweep.file = tmp_path, file
    return sweep


def test_a_campaign_reads_the_switch_around_each_run(sweep):
    (sweep.directory / "nap").write_text("2.2")
    (sweep.directory / "n").write_text("100\n")
    read = "read = 'n=$(cat n); echo $((n + 10)) >n; echo \"$WEIR_SWITCH 3 pauses_sent $n\"'\nread-every = \"1s\"\n"
    assert "read        switch, before and after each run and every 1 s: n=$(cat n)" in sweep(read, "plan", "--local")
    sweep(read, "submit", "--local")
    directories = sorted((sweep.directory / "some/local/runs").iterdir())
    assert len(directories) == 2 and not list((sweep.directory / "some/local/switch").iterdir())
    for directory in directories:
        run = read_run(directory)
        whens = [reading["when"] for reading in readings(directory)]
        assert whens[0] == "before" and whens[-1] == "after" and 1 <= whens.count("during") <= 3, whens
        [change] = switch_counters.of_run(run).changes
        assert change.port == run.labels["switch"] and change.value == 10 * (len(whens) - 1)


def test_a_hanging_reader_leaves_the_campaign_complete(sweep):
    said = sweep("read = \"sleep 60\"\nread-limit = \"1s\"\n", "submit", "--local")
    assert said.count("switch not read (before the run): its command did not end within 1 s") == 2
    assert "2 complete" in sweep("read = \"sleep 60\"\nread-limit = \"1s\"\n", "status")


def test_a_signal_during_a_reading_ends_the_campaign_at_once(sweep):
    more = "read = 'touch reading; sleep 30'\n"
    sweep.file.write_text(SWEEP + more)
    process = start("weir-sweep", "submit", sweep.file, "--local")
    until((sweep.directory / "reading").exists, process)
    process.terminate()
    said = process.communicate(timeout=8)[0]
    assert process.returncode == 143, said
    assert not list((sweep.directory / "some/local/runs").iterdir())  # the run was not begun
    assert "1 waiting, 1 interrupted" in sweep(more, "status")


def test_a_trial_of_the_command(sweep):
    said = sweep("read = 'echo \"Ethernet0 3 pauses_sent 12\"; echo \"Ethernet0 - odd -\"'\n", "read")
    assert said == ("Ethernet0  3  pauses_sent                   12\n"
                    "Ethernet0  -  odd                           not counted\n\n"
                    "2 counters of 1 port; names without a known meaning: odd\n")
    aggregate = "printf 'ae0 - a 2\\net-0/0/1 - a 2\\n'; echo drops are missing >&2"
    said = sweep(f"read = {json.dumps(aggregate)}\n", "read")
    assert "of 2 ports; names without a known meaning: a; made of other ports, and not added to them: ae0\n" in said
    assert "its command said: drops are missing\n" in said
    assert "switch.read: line 1 is 'hello'" in sweep("read = \"echo hello\"\n", "read", expect=1)
    assert "switch.read: it exited with 3: no route" in sweep("read = \"echo no route >&2; exit 3\"\n", "read",
                                                              expect=1)
    assert "no command reads the switch" in sweep("", "read", expect=2)
    assert not (sweep.directory / "some").exists()


@pytest.mark.parametrize("more, words", [
    ("read-every = \"5s\"\n", "switch.read-every: there is no command to call"),
    ("read = \"true\"\nread-limit = \"0s\"\n", "switch.read-limit: 0 s is not a time from 1s to 1h"),
    ("read = \"true\"\nread-every = \"10ms\"\n", "switch.read-every: 0.01 s is not a time from 1s to 1h"),
    ("read = 3\n", "switch.read: 3 is not a text"),
])
def test_wrong_keys_are_refused(sweep, more, words):
    assert words in sweep(more, "plan", "--local", expect=2)


def test_acknowledgements_that_wred_drops_are_named():
    from weir_compare.comparison import answer_why
    family = answer_why.Family("switch_dropped_packets", "", "packets", short="dropped by the switch")
    drops = answer_why.Counter(family, 2.0, 2e-5, "packets")
    said = answer_why.Why("a", 3, "nothing", (drops,), (), acknowledgement_bytes=84).text(3)
    assert said == ("nothing; dropped by the switch 0.002 % of packets (all of 84 B: acknowledgements, which are not "
                    "ECN-capable in the model, so that WRED drops them)")
    assert answer_why.Why("a", 3, "nothing", (drops,), ()).text(3).endswith("0.002 % of packets")
