"""Campaigns with `find`: what they find, beside weir's own search, and what they make of kills, failures and hooks."""

import csv
import json
import re
import signal

import pytest
from conftest import call, editing, until

from test_sweep_campaign import sweep  # noqa: F401, a fixture
from weir_compare.comparison import capacity_ranking
from weir_compare.comparison.capacity_estimates import limit
from weir_compare.comparison.figure_results import Settings
from weir_compare.sweep import find_command, find_values
from weir_compare.sweep.sweep_file import parse_sweep
from weir_runs.basics import quantities
from weir_runs.basics.errors import ReportError
from weir_runs.reading.capacity import read_capacity

# Each of two producers has a link of 1 Gb/s, or of 700 Mb/s: in the simulator, and where the launcher takes mpirun's
# place.
LINK = """{{ name = "{name}", environment = {{ LINK = "{link}" }}, simulate = {{ producer-link = "{link}" }} }}"""
LINKS = {"wide": "1Gb/s", "narrow": "700Mb/s"}
SWEEP = """
{find}
repetitions = {rounds}
[run]
producers = 2
consumers = 2
rate = "{rate}"
interval = "100ms"
event-size = "400kB"
duration = "2s"
warmup = "0s"
[axes]
link = [{links}]
[simulation]
consumer-link = "10Gb/s"
[local]
launcher = ["./launcher"]
"""


@pytest.fixture
def find(sweep):  # noqa: F811
    """find(...): writes the sweep file; `find.sweep` runs commands on it."""
    def write(find='find = "rate"', rounds=1, rate="400Mb/s", more=""):
        links = ", ".join(LINK.format(name=name, link=link) for name, link in LINKS.items())
        sweep.file.write_text(SWEEP.format(find=find, rounds=rounds, rate=rate, links=links) + more)
    write.sweep = sweep
    launcher = sweep.directory / "launcher"
    launcher.write_text(
        launcher.read_text().replace("--quiet", '--quiet --producer-link "$LINK" --consumer-link 10Gb/s'))
    write()
    return write


def capacity_of(find):
    return read_capacity(find.sweep.campaign)


def test_the_limit_is_that_of_the_link_wherever_the_search_begins(find):
    find(rounds=3)
    said = find.sweep("plan", "--simulate")
    assert "2 settings, 3 rounds: about" in said and "range       6.25 Mb/s to 25.6 Gb/s, beginning at 400 Mb/s" in said
    assert "; events keep their size" in said and not find.sweep.campaign.exists()
    winners = []
    for rate in ("400Mb/s", "40Mb/s", "4Gb/s"):
        find(f'find = {{resolution = "{"5%" if rate == "400Mb/s" else "20%"}"}}', 3, rate)
        find.sweep("submit", "--simulate", "--out", find.sweep.directory / rate[:3])
        capacity = read_capacity(find.sweep.directory / rate[:3])
        for name, link in LINKS.items():
            found = limit(capacity, capacity.setting(f"link={name}"))
            # Framing and headers of RoCE take 2.4 % of the link at most, and nothing else is in the way.
            value = find_values.value_of(capacity.quantity, link)
            assert found.low < value and found.high > 0.95 * value
        winners.append(capacity_ranking.rank(capacity, Settings()).winner)
    assert winners == [0] * 3 and capacity.events == "hold" and capacity.settings[0].run_s == 2.0
    # Events keep their size: what is nearest with whole events in each set, here of half of a set and more.
    plans = [json.loads(path.read_text())["plan"]
             for path in find.sweep.directory.glob("400/simulation/runs/*/run.json")]
    sizes = [quantities.size(plan["event-size"]) for plan in plans
             if find_values.value_of(capacity.quantity, plan["rate"]) > 300e6]
    assert len(set(sizes)) > 10 and all(0.85 * 400e3 < size < 1.15 * 400e3 for size in sizes)


def test_from_plan_to_table(find):
    said = find.sweep("plan", "--local")
    assert "find        largest rate per producer that is sustained, within 2 %, 1 round" in said
    assert "time        about" in said
    said = find.sweep("submit", "--local")
    runs = find.sweep.begun()
    assert "round 1  link=wide  rate=400Mb/s" in said and "(found)" in said
    assert "nothing to do: all is found" in find.sweep("submit", "--local") and find.sweep.begun() == runs
    said = find.sweep("status")
    assert f"{runs} runs done, all is found" in said
    find.sweep("collect")
    rows = list(csv.DictReader((find.sweep.campaign / "table.csv").open()))
    assert len(rows) == runs and {row["held"] for row in rows} == {"True", "False"}
    assert [row["rate_bits_per_second"] for row in rows][:2] == ["400000000.0"] * 2
    limits = list(csv.DictReader((find.sweep.campaign / "limits.csv").open()))
    assert [row["link"] for row in limits] == ["wide", "narrow"]
    assert (float(limits[0]["limit_rate_bits_per_second_low"]) < 0.975e9
            < float(limits[0]["limit_rate_bits_per_second_high"]) < 1e9)
    # More rounds go on; another question does not.
    find(rounds=2)
    find.sweep("submit", "--local")
    assert runs < find.sweep.begun() <= runs + 40
    assert [search.round for search in capacity_of(find).settings[0].searches] == [1, 2]
    find('find = {resolution = "5%"}', rounds=2)
    assert "find: resolution was 0.02 and is 0.05" in find.sweep("submit", "--local", expect=2)


def test_killed_and_resumed(find):
    """Killed outright: what was under way is made again, and the result is that of a campaign that was left alone."""
    find(COARSE)
    find.sweep("submit", "--simulate")
    (find.sweep.directory / "hold").touch()
    process = find.sweep.start("submit", "--local")
    until(lambda: find.sweep.begun() == 1, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (find.sweep.directory / "hold").unlink()
    process = find.sweep.start("submit", "--local")
    until(lambda: find.sweep.begun() >= 6, process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    find.sweep("submit", "--local")
    runs = find.sweep.begun()
    alone = find.sweep.campaign / "simulation" / "runs"
    assert len(list(alone.iterdir())) <= runs <= len(list(alone.iterdir())) + 2
    for setting in capacity_of(find).settings:
        assert all(trial.held is not None for search in setting.searches for trial in search.runs)


def test_a_run_that_fails_decides_nothing(find):
    find(COARSE)
    (find.sweep.directory / "crash").touch()
    said = find.sweep("submit", "--local", expect=1)
    assert find.sweep.begun() == 6 and "stopped  link=wide: run 0001: weir run: something is wrong" in said
    capacity = capacity_of(find)
    assert capacity.settings[0].stopped.endswith("something is wrong")
    assert [trial.held for search in capacity.settings[0].searches for trial in search.runs] == [None]
    (find.sweep.directory / "crash").unlink()
    assert "--retry-failed goes on" in find.sweep("submit", "--local")
    find.sweep("submit", "--local", "--retry-failed")
    assert all(setting.stopped is None and setting.searches[0].complete for setting in capacity_of(find).settings)


COARSE = 'find = {resolution = "20%"}'
@pytest.mark.parametrize("words, message",
                         [(["--foo"], "--foo: weir run has no such option; see weir run --help"),
                          (["--producrs"], "--producrs: weir run has no such option; did you mean --producers?"),
                          (["--rate"], "--rate: a value is missing")])
def test_an_option_without_a_value_is_unknown_or_lacks_it(weir, monkeypatch, words, message):
    monkeypatch.setenv("WEIR", weir)
    with pytest.raises(ReportError, match=re.escape(message)):
        find_command.options_of(words)


def test_a_launcher_that_changes_options_stops_the_setting(find):
    """A run of another plan is not the point's, however often it is made."""
    launcher = find.sweep.directory / "launcher"
    launcher.write_text(launcher.read_text().replace("--quiet", "--quiet --slots 7"))
    said = find.sweep("submit", "--local", expect=1)
    assert find.sweep.begun() == 6 and "the launcher changed --slots, which is 7, not 4" in said


SWITCH = """[switch]
settings = ["good", "bad"]
on-change = "sh ./set"
"""


def test_the_switch_is_set_and_one_that_cannot_be_stops(find):
    find(COARSE, more=SWITCH)
    (find.sweep.directory / "set").write_text('echo $1 >>set-log; test "$1" = good -o -e repaired\n')
    said = find.sweep("submit", "--local", expect=1)
    assert "stopped  switch=bad link=wide: sh ./set bad exited with 1" in said
    found = {setting.name: setting for setting in capacity_of(find).settings}
    assert all(setting.searches[0].complete == (setting.values["switch"] == "good") for setting in found.values()
               if setting.searches)
    (find.sweep.directory / "repaired").touch()
    find.sweep("submit", "--local", "--retry-failed")
    assert all(setting.searches[0].complete for setting in capacity_of(find).settings)


def test_the_switch_is_changed_once_for_both_settings_of_a_stay(find):
    find(COARSE, more=SWITCH.replace('"sh ./set"', '"echo $WEIR_SWITCH >>set-log; true"'))
    find.sweep("submit", "--local")
    changes = (find.sweep.directory / "set-log").read_text().split()
    assert find.sweep.begun() >= 20 and len(changes) <= find.sweep.begun() / 4 + 3


@pytest.mark.parametrize("find_text, message", [
    ('find = "speed"', "find: 'speed' is not one of rate, busy, slots, streams, consumers, burst"),
    ("find = 3", "find: 3 is not one of rate, busy, slots, streams, consumers, burst, nor a table"),
    ('find = {what = "burst", criterion = "sustained"}', "find.criterion: 'sustained' is not one of lossless"),
    ('find = {criterion = "lossless"}', "find.criterion: 'lossless' is not one of sustained, on-time"),
    ('find = {what = "burst", least = "1Gb/s"}', "find.least: '1Gb/s' is not a value of burst, such as \"1MB\""),
    ('find = "burst"\naxes.event-size = ["1MB"]', "axes: event-size sets event-size, which find varies"),
    ('find = "burst"\nrun.policy = "token"', "run.policy: find = \"burst\" sets it itself"),
    ('find = {what = "rate", least = "many"}', "find.least: 'many' is not a value of rate, such as \"40Gb/s\""),
    ('find = {least = "2Gb/s", most = "1Gb/s"}', "find.least: it is not below most"),
    ('find = {resolution = "2"}', "find.resolution: '2' is not a share from 0.1% to 50%"),
    ('find = {what = "slots", resolution = "2%"}', "find.resolution: slots are whole numbers"),
    ('find = {what = "slots", events = "hold"}', "find.events: only with what = \"rate\""),
    ('find = {criterion = "fast"}', "find.criterion: 'fast' is not one of sustained, on-time"),
    ('find = {round = 3}', "find.round: there is no such key; did you mean rounds?"),
    ('find = "rate"\naxes.rate = ["1Gb/s"]', "axes: rate sets rate, which find varies"),
    ('find = "rate"\nslurm.concurrent = 2', "slurm.concurrent: runs with find go one after the other"),
])
def test_what_is_wrong_with_find_is_named(tmp_path, find_text, message):
    with pytest.raises(ReportError, match="some.toml: ") as error:
        parse_sweep(tmp_path / "some.toml", find_text)
    assert message in str(error.value)


def test_what_weir_refuses_is_refused_before_anything_starts(find):
    find('find = {what = "rate", most = "9999Tb/s"}')
    assert "find.most: link=wide: rate = 9999Tb/s: weir simulate: " in find.sweep("submit", "--simulate", expect=2)
    find('find = "busy"')
    assert "busy needs a distribution to vary" in find.sweep("submit", "--simulate", expect=2)
    assert not find.sweep.campaign.exists()


def test_a_buffer_that_limits_the_rate_is_warned_of(find):
    assert "warning     buffer is kept" not in find.sweep("plan", "--simulate")
    text = find.sweep.file.read_text().replace("[run]", '[run]\nbuffer = "10MB"')
    find.sweep.file.write_text(text)
    assert ("warning     buffer is kept at 10MB, which is one set at 800 Mb/s: no higher rate is sustained, whatever "
            "the network does (all settings)") in find.sweep("plan", "--simulate")


@pytest.mark.parametrize("what, events, given, value, text", [
    ("rate", "scale", {"rate": "5Gb/s", "event-size": "normal:10MB,deviation=2MB,max=18MB", "slot-size": "18MB"}, 2.5e9,
     {"rate": "2.5Gb/s", "event-size": "normal:5000000B,deviation=1000000B,max=9000000B", "slot-size": "9000000B"}),
    ("busy", None, {"busy": "poisson:100ms,quantum=20ms"}, 0.05, {"busy": "poisson:50000000ns,quantum=10000000ns"}),
    ("busy", None, {"busy": "mixture:1ms,large=2s,every=200"}, 0.002,
     {"busy": "mixture:2000000ns,large=4000000000ns,every=200"}),
    ("slots", None, {"slots": "4"}, 6.0, {"slots": "6"}),
    ("burst", None, {"rate": "1Gb/s", "interval": "20ms", "producers": "4", "scale": "1/100"}, 2e6, {
        "event-size": "200000000B", "slot-size": "200000000B", "chunk-size": "200000000B", "rate": "80Gb/s",
        "policy": "none", "window": "1", "streams": "1", "slots": "4"}),
    ("consumers", None, {"consumers": "4"}, 6.0, {"consumers": "6"}),
    # What weir scales again.
    ("rate", "scale", {"rate": "5Gb/s", "event-size": "10MB", "time-scale": "1/200"}, 2.5e9,
     {"rate": "2.5Gb/s", "event-size": "1000000000B"}),
    ("rate", "scale", {"rate": "50Mb/s", "event-size": "1MB", "scale": "1/100"}, 25e6,
     {"rate": "2.5Gb/s", "event-size": "50000000B"}),
    ("busy", None, {"busy": "exponential:1ms", "time-scale": "1/10"}, 0.002, {"busy": "exponential:20000000ns"}),
    ("busy", None, {"busy": "exponential:1.1min"}, 66.0, {"busy": "exponential:66000000000ns"}),
    # The size is kept, as nearly as whole events allow: 25 MB are three of 8.3 MB; what is drawn is kept as it is.
    ("rate", "hold", {"rate": "4Gb/s", "event-size": "8MB", "interval": "100ms"}, 2e9,
     {"rate": "2Gb/s", "event-size": "8333334B"}),
    ("rate", "hold", {"rate": "4Gb/s", "event-size": "8MB", "interval": "100ms", "slot-size": "8MB"}, 2e9,
     {"rate": "2Gb/s", "event-size": "6250000B"}),
    ("rate", "hold", {"rate": "4Gb/s", "event-size": "8MB", "interval": "100ms"}, 320e6,
     {"rate": "320Mb/s", "event-size": "4000000B"}),
    ("rate", "hold", {"rate": "4Gb/s", "event-size": "8MB", "interval": "100ms", "generation": "steady"}, 2e9,
     {"rate": "2Gb/s"}),
    ("rate", "hold", {"rate": "4Gb/s", "event-size": "normal:8MB,deviation=1MB", "interval": "100ms"}, 2e9,
     {"rate": "2Gb/s"}),
])
def test_options_of_a_value(what, events, given, value, text):
    find = find_values.Find(what, 3, events=events)
    assert dict(find_values.options_at(find, given, value)) == text


def test_a_campaign_of_an_older_search_is_not_continued(find):
    find(COARSE)
    find.sweep("submit", "--simulate")
    path = find.sweep.campaign / "plan.json"
    with editing(path) as record:
        del record["find"]["rules"]
    assert ("another version of weir-sweep, which searched in another way"
            in find.sweep("submit", "--simulate", expect=2))
    find.sweep("collect")  # what there is, is read


def test_one_line_without_a_sweep_file(sweep):  # noqa: F811
    def line(*words, expect=0):
        return call("weir-sweep", "find", *words, expect=expect, cwd=sweep.directory)

    said = line("consumers", "--simulate", "--rounds", "3", "--", "--producers", "2", "--consumers", "10",
                "--rate", "80Mb/s", "--event-size", "1MB", "--generation", "steady", "--busy=fixed:220ms",
                "--duration", "60s", "--busy-consumers", "0-2")
    # 20 events/s of 220 ms each keep 4.4 consumers busy; there have to be three, which are named.
    assert "range       3 consumers to 640 consumers" in said
    capacity = read_capacity(sweep.directory / "weir-find-consumers")
    answer = json.loads((sweep.directory / "weir-find-consumers/capacity.json").read_text())["answer"]
    assert answer["certainty"] == "certain" and f" {answer['do']} " in " ".join(said.split())
    found = limit(capacity, capacity.settings[0])
    assert found.bound is None and found.rounds == 3
    assert (f"needs {found.every_run:.0f} consumers to sustain the load in every run. (certain, 3 rounds, runs of 60 s)"
            in " ".join(said.split()))
    again = line("consumers", "--simulate", "--", "--producers", "3", expect=2)
    assert "it is of another search" in again
    # A mistake in the line costs no more than to write it again.
    assert "unknown unit" in line("busy", "--simulate", "--", "--busy", "fixed:1x", expect=2)
    assert "unknown unit" in line("busy", "--simulate", "--", "--busy", "fixed:2x", expect=2)
    assert "'4' is not an option of weir run" in line("slots", "--simulate", "--", "4", expect=2)
    assert "where to run is missing" in line("slots", expect=2)


BURSTS = """
find = { what = "burst", rounds = 1 }
[run]
producers = 4
consumers = 1
interval = "5ms"
rate = "2Gb/s"
duration = "15ms"
warmup = "0s"
network = "packet"
producer-link = "100Gb/s"
consumer-link = "100Gb/s"
"""


def test_a_burst_is_what_a_dynamic_threshold_holds(sweep):  # noqa: F811
    """16 MB, of which a queue may take as much as is free; of N bytes that come at line rate one leaves."""
    sweep.file.write_text(BURSTS)
    assert ("find        longest burst of each producer that loses nothing, within 2 %"
            in (said := sweep("plan", "--simulate")))
    assert "beginning at 1.25 MB" in said
    sweep("submit", "--simulate")
    capacity = read_capacity(sweep.campaign)
    [found] = capacity.settings[0].searches
    assert capacity.criterion == "lossless"
    assert found.complete and found.low * 0.99 < 16e6 / 2 / (4 - 1) * 4096 / 4178 < found.high * 1.01
    assert "from each producer without loss in every run" in " ".join(sweep("collect").split())
    sweep.file.write_text(BURSTS.replace('network = "packet"', ""))
    assert "known in the simulator with packets only" in sweep("plan", "--simulate", expect=2)


PACKETS = """
find = { resolution = "10%", rounds = 1 }
[run]
producers = 6
consumers = 4
rate = "500Mb/s"
interval = "20ms"
event-size = "200kB"
duration = "300ms"
warmup = "0s"
[switch]
settings = [{ name = "none", simulate = {} }, { name = "pfc", simulate = { pfc = "on" } }]
[simulation]
network = "packet"
switch-set = "switch.pool=1MB"
producer-link = "1Gb/s"
consumer-link = "1Gb/s"
"""


def test_settings_of_a_switch_packet_by_packet(sweep):  # noqa: F811
    """A pool of 1 MB loses packets of six producers, which costs go-back-N rate, unless pauses keep them out."""
    sweep.file.write_text(PACKETS)
    sweep("submit", "--simulate")
    none, pfc = (limit(read_capacity(sweep.campaign), setting) for setting in read_capacity(sweep.campaign).settings)
    assert none.high < pfc.low and pfc.high < 4 / 6 * 1e9
