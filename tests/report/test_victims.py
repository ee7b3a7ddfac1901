"""Who is affected: ranks and ports that were planted are named, others are not."""

import csv
import json

import pytest
from conftest import RUNS

from weir_compare.comparison.comparison import compare
from weir_compare.comparison.comparison_record import as_record
from weir_compare.comparison.run_groups import Group
from weir_compare.comparison.victims import find_victims
from weir_runs.reading.run import read_run

LOAD = ("--network", "packet", "--producers", "6", "--consumers", "4", "--rate", "3.5Gb/s", "--interval", "100ms",
        "--event-size", "normal:10MB,deviation=2MB", "--producer-link", "10Gb/s", "--consumer-link", "10Gb/s",
        "--duration", "2s", "--warmup", "1s", "--time-scale", "1/10", "--counters", "on")
SLOW = ("--fault", "degrade:consumer=1,factor=0.3")


@pytest.fixture
def write(tmp_path):
    """write(name, rates): a run with consumers of these rates (b/s) in each of four half seconds; options: see
    below."""
    template = json.loads((RUNS / "measured" / "run.json").read_text())

    def build(name, rates, *, blocked=0.0, hosts=True, jitter=1.0, sent_s=0.5, speed="10Gb/s"):
        record = json.loads(json.dumps(template))
        entry = next(rank for rank in record["ranks"] if rank["role"] == "consumer")
        record["ranks"] = [{**entry, "index": index, "rank": index + 1, "host": f"fn{index:02}" if hosts else None,
                            "mean_bits_per_second": rate, "measured_s": 4 * sent_s,
                            "time": {"blocked_s": blocked * 4 * sent_s if index == 1 else 0.0},
                            "file": f"ranks/rank-{index + 1:05}-consumer.csv"} for index, rate in enumerate(rates)]
        record["plan"]["resolved"].update(consumers=len(rates))
        record["plan"]["consumer-link"] = speed
        record["environment"]["world"] = "simulation"
        record["hosts"], record["rate_window_s"] = [], 1
        directory = tmp_path / name
        (directory / "ranks").mkdir(parents=True)
        for index, rate in enumerate(rates):
            with open(directory / f"ranks/rank-{index + 1:05}-consumer.csv", "w", encoding="utf-8", newline="") as file:
                rows = csv.writer(file, lineterminator="\n")
                rows.writerow(["second", "phase", "wall_time", "covered_s", "received_bytes"])
                for second in range(4):
                    factor = jitter if (second + index) % 2 else 1.0
                    rows.writerow([second, "measure", "", sent_s, round(rate * factor * sent_s / 8)])
        (directory / "run.json").write_text(json.dumps(record))
        return read_run(directory)
    return build


def victims_of(runs, name="pfc"):
    return find_victims([Group(name, runs)], [name])[0]


def test_a_slow_rank_is_named_with_its_host_share_and_link(write):
    runs = [write(f"run-{number}", [5e9, 5.1e9 + number * 1e7, 2e9, 4.9e9]) for number in range(3)]
    found = victims_of(runs)
    assert ([(victim.role, victim.index, victim.host, victim.runs) for victim in found.ranks]
            == [("consumer", 2, "fn02", 3)])
    assert found.ranks[0].share == pytest.approx(0.404, abs=0.01)
    assert found.text(4).startswith("consumer 2 on fn02 receives 40 % of its peers' median (link 20 % busy)")
    record = as_record(compare(Group("a", runs),
                               [Group("b", [write(f"b-{number}", [5e9] * 4) for number in range(3)])]))
    of_settings = {each["setting"]: each
                   for each in json.loads(json.dumps(record, allow_nan=False))["answer"]["victims"]}
    assert [rank["host"] for rank in of_settings["a"]["ranks"]] == ["fn02"] and not of_settings["b"]["ranks"]


def ports_of(write, drops, marks, sent=100_000, odd=(2, 2, 2)):
    """What is found of ports 0 to 3; `drops`, `marks`, `sent`: of the odd port of each run, the others have the
    usual."""
    runs = [write(f"{drops}-{marks}-{odd}-{number}", [5e9] * 4) for number in range(len(odd))]
    for run, one in zip(runs, odd):
        run.record["switch"] = {"files": [], "measured_s": 2.0, "ports": [
            {"switch": "s", "peer": f"consumer-{port}", "priority": 3, "use": 0.5,
             "sent_packets": sent if port == one else 100_000, "dropped_packets": drops if port == one else 200,
             "marked_packets": marks if port == one else 5000} for port in range(4)]}
    return victims_of(runs).ports


def test_ports_that_drop_or_mark_far_more_than_the_others_are_named(write):
    assert ports_of(write, 3000, 5000) == (
        "the port to consumer-2 drops 2.9 % of packets, the median of the others is 0.2 %",)


def test_a_port_that_drops_more_in_some_runs_only_is_not_named(write):
    assert ports_of(write, 3000, 5000, odd=(2, 2, 1)) == ()
    assert ports_of(write, 3000, 5000, odd=(2,)) == ()
    assert ports_of(write, 3000, 5000, odd=(2, 2, 2, 1)) != ()


def test_a_port_that_marks_far_less_is_named_if_it_carries_as_much(write):
    assert ports_of(write, 200, 500) == (
        "the port to consumer-2 marks only 0.5 % of packets, the median of the others is 5 %",)
    assert ports_of(write, 0, 2500) == ()
    # Half of the load makes far fewer marks.
    assert ports_of(write, 100, 100, sent=50_000) == ()


def test_rows_of_half_a_second_have_the_same_rate_as_those_of_a_whole_one(write):
    halves, wholes = (
        victims_of([write(f"{seconds}-{number}", [5e9, 5e9, 2e9, 5e9], sent_s=seconds) for number in range(3)])
        for seconds in (0.5, 1.0))
    assert halves.ranks == wholes.ranks and len(halves.ranks) == 1


@pytest.mark.parametrize("rates", [[5e9, 5.1e9, 4.9e9, 5e9], [5e9, 5e9, 4.6e9, 5e9]])
def test_a_few_percent_are_no_fall(write, rates):
    assert not victims_of([write(f"run-{number}", rates) for number in range(3)]).is_shown


def test_ranks_that_differ_in_each_run_are_none(write):
    found = victims_of([write(f"run-{number}", [5e9 if index != number else 3e9 for index in range(5)])
                        for number in range(4)])
    assert not found.ranks


def test_a_rank_whose_link_is_full_is_none(write):
    found = victims_of([write(f"run-{number}", [2e9, 0.95e9, 2e9, 2e9], speed="1Gb/s") for number in range(3)])
    assert not found.ranks


def test_a_blocked_rank_limits_itself(write):
    found = victims_of([write(f"run-{number}", [5e9, 2e9, 5e9, 5e9], blocked=0.4) for number in range(3)])
    assert not found.ranks
    assert found.causes == ("consumer 1 on fn01 is blocked 40 % of the time by its own work",)


def test_what_falls_against_another_setting_with_the_same_load_is_named(write):
    fast = [write(f"fast-{number}", [5e9 + 1e7 * number] * 4) for number in range(3)]
    slow = [write(f"slow-{number}", [5e9, 4e9, 4e9, 4e9]) for number in range(3)]
    found = find_victims([Group("ecn", fast), Group("pfc", slow)], ["ecn", "pfc"])
    assert not found[0].ranks
    assert [(victim.index, victim.against) for victim in found[1].ranks] == [(1, "ecn"), (2, "ecn"), (3, "ecn")]
    assert found[1].text(2).startswith(
        "3 of 4 consumers receive 80 % of their rate with ecn (links 40 % busy): consumer 1 on fn01, ")
    for run in slow:
        run.record["plan"]["resolved"]["rate_bits_per_second"] = 1.0
    assert not find_victims([Group("ecn", fast), Group("pfc", slow)], ["ecn", "pfc"])[1].ranks


@pytest.mark.parametrize("count, who", [(4, "all 4 consumers receive"), (1, "the consumer receives")])
def test_where_all_are_affected_by_very_different_amounts_it_says_all(write, count, who):
    fast = [write(f"fast-{number}", [5e9 + 1e7 * number] * count) for number in range(3)]
    slow = [write(f"slow-{number}", [rate] * count) for number, rate in enumerate((1e9, 3e9, 4.4e9))]
    assert find_victims([Group("ecn", fast), Group("pfc", slow)], ["ecn", "pfc"])[1].text(4) == (
        f"{who} less than with ecn: 60 %")
    if count > 1:
        for run in slow:
            run.ranks("consumer")[0]["mean_bits_per_second"] = 5e9
        assert find_victims([Group("ecn", fast), Group("pfc", slow)], ["ecn", "pfc"])[1].text(4) == (
            "in each run about 3 of 4 consumers, not always the same, receive less than with ecn: 60 %")


def test_the_speed_of_a_virtual_interface_is_not_that_of_a_link(write):
    """All of them carry less, and whether their links were idle is not known: nobody is named."""
    fast, slow = ([write(f"{name}-{number}", [rate + 1e6 * number] * 4) for number in range(3)]
                  for name, rate in (("fast", 5e9), ("slow", 3e9)))
    for run in fast + slow:
        run.record["environment"]["world"] = "measurement"
        run.record["hosts"] = [{"name": f"fn{index:02}", "file": "hosts/none.csv", "problem": "not read", "settings": {
            "expected_paths": [{"interface": "eth0", "rdma_port": None}],
            "interfaces": [{"name": "eth0", "driver": "", "speed_bits_per_second": 10_000_000_000}]}}
                               for index in range(4)]
    assert not find_victims([Group("a", fast), Group("b", slow)], ["a", "b"])[1].is_shown
    for run in fast + slow:
        for host in run.record["hosts"]:
            host["settings"]["interfaces"][0]["driver"] = "mlx5_core"
    assert find_victims([Group("a", fast), Group("b", slow)], ["a", "b"])[1].text(4) == (
        "all 4 consumers receive 60 % of their rate with a (links 30 % busy)")


def test_who_gets_less_because_others_get_more_is_none(write):
    even = [write(f"even-{number}", [5e9] * 4) for number in range(3)]
    uneven = [write(f"uneven-{number}", [6e9, 6e9, 2e9, 6.1e9]) for number in range(3)]
    found = find_victims([Group("even", even), Group("uneven", uneven)], ["even", "uneven"])
    assert not found[0].ranks and [victim.index for victim in found[1].ranks] == [2]


@pytest.mark.slow
def test_a_planted_consumer_is_found_in_simulated_packets_and_nobody_without_it(simulate):
    """A consumer whose link has 30 % of its speed. The scheduler gives its events to others: no other is affected."""
    names = ("pfc", "pfc-slow", "ecn", "ecn-slow")
    settings = {"pfc": ("--pfc", "on"), "ecn": ("--ecn", "on")}
    groups = [Group(name, [read_run(simulate(*LOAD, *settings[name[:3]], *(SLOW if name.endswith("slow") else ()),
                                             "--seed", seed))
                           for seed in "123"]) for name in names]
    found = dict(zip(names, find_victims(groups, names)))
    for name in ("pfc", "ecn"):
        assert not found[name].ranks and not found[name].changing, found[name].text(9)
        slow = found[f"{name}-slow"]
        assert ("consumer", 1) in [(victim.role, victim.index) for victim in slow.ranks]
        assert [victim for victim in slow.ranks if victim.role == "consumer"][0].share < 0.7


@pytest.mark.slow
def test_all_that_suffer_from_head_of_line_blocking_are_found(simulate):
    """Without a scheduler, what waits for the slow consumer fills the switch, and PFC stops all producers: the other
    consumers get half of what they get without it."""
    load = (*LOAD, "--pfc", "on", "--policy", "none", "--slots", "40")
    groups = [Group(name, [read_run(simulate(*load, *more, "--seed", seed)) for seed in "123"])
              for name, more in (("even", ()), ("slow", ("--fault", "degrade:consumer=1,factor=0.2")))]
    even, slow = find_victims(groups, ["even", "slow"])
    assert not even.ranks
    suffering = {(victim.role, victim.index) for victim in slow.ranks if victim.against == "even"
                 and victim.share < 0.7}
    assert suffering >= {("consumer", 0), ("consumer", 2), ("consumer", 3),
                         *(("producer", index) for index in range(6))}
    assert all(victim.link_use < 0.5 for victim in slow.ranks)
    assert all(victim.paused > 0.3 for victim in slow.ranks if victim.role == "producer")
