"""Reasons that a comparison gives: options that differ first, with sizes, and "(proved)" only of what is. The
whole bench, whose table is in docs/statistics.md, is reason_calibration; here are three of its cases."""

import json
import os
import re
import signal

import pytest
from comparing import make, run  # noqa: F401 (a fixture)
from conftest import script, start, until

import reason_calibration
from weir_compare.comparison import proofs, reasons
from weir_compare.comparison.run_groups import Group
from weir_runs.reading.key_figures import KEY_FIGURES
from weir_runs.reading.run import read_run

GOODPUT = next(figure for figure in KEY_FIGURES if figure.name == "goodput")


@pytest.fixture
def because(capsys, make, tmp_path):  # noqa: F811
    """because({name: make's arguments}, options...): of five runs of each."""
    def of(settings, *options, seeds=lambda name, index: index):
        runs = [make(f"{name}-{index}", tags={"switch": name}, seed=str(seeds(name, index)),
                     **{**arguments, "goodput": arguments["goodput"] + index / 1000})
                for name, arguments in settings.items() for index in range(5)]
        status, out, err = run(capsys, "--by", "switch", *runs, "--allow-different-plans", "--decide-by", "goodput",
                               *options, "--json", tmp_path / "answer.json")
        assert status == 0, err
        said = json.loads((tmp_path / "answer.json").read_text())["answer"]["because"] or ""
        assert said in " ".join(out.split("\n\n")[0].split())
        return said
    return of


def lossy(goodput, drops, **more):
    return dict(goodput=goodput, network="lossy",
                counters={"eth0": {"dropped_by_hosts": drops, "received_packets": 1_000_000}}, **more)


def test_an_option_that_differs_is_named_first(because):
    text = because({"a": lossy(1.0, 4_000, plan={"slots": "8"}), "b": lossy(0.8, 85_000, plan={"slots": "2"})})
    assert text == "b has slots 2 instead of 8; packets are lost (dropped by hosts 8.5 % of packets; 0.4 % with a)."


def test_without_a_difference_in_size_a_mechanism_is_no_reason(because):
    text = because({"a": lossy(1.0, 80_000), "b": lossy(0.8, 85_000)})
    assert not text


def test_simulations_that_differ_in_one_option_prove_it(because):
    settings = {"a": lossy(1.0, 400, simulated=True, plan={"consumer-link": "10Gb/s"}),
                "b": lossy(0.8, 90_000, simulated=True, plan={"consumer-link": "7Gb/s"})}
    text = because(settings)
    assert text == ("With b, consumer-link is 7 Gb/s instead of 10 Gb/s (proved); packets are lost (dropped by hosts 9 "
                    "% of packets; 0.04 % with a).")
    # With other seeds it is not the same experiment.
    text = because({f"{name}2": arguments for name, arguments in settings.items()},
                    seeds=lambda name, index: f"{index}{name == 'b2':d}")
    assert "proved" not in text and "b2 has consumer-link 7 Gb/s instead of 10 Gb/s; " in text
    settings["b"]["plan"]["slots"] = "2"
    text = because({f"{name}3": arguments for name, arguments in settings.items()})
    assert "proved" not in text and "has slots 2 instead of 4 and consumer-link 7 Gb/s instead of 10 Gb/s" in text


def test_a_reason_is_not_half_of_what_a_third_setting_shows(because):
    off = {"pfc": "off", "ecn": "off"}
    settings = {name: lossy(1.0, 400, simulated=True, plan={**off, name: "on"}) for name in ("pfc", "ecn")}
    text = because({"none": lossy(0.8, 90_000, simulated=True, plan=off), **settings})
    assert ("neither PFC nor ECN is on (proved); packets are lost" in text
            or "neither ECN nor PFC is on (proved); packets are lost" in text)
    settings["ecn"] = lossy(1.0, 400, simulated=True, plan={**off, "slots": "8"})
    settings = {"none": lossy(0.8, 90_000, simulated=True, plan={**off, "slots": "4"}), **settings}
    text = because({f"{name}2": of for name, of in settings.items()})
    assert "neither PFC is on nor slots is 8" in text or "neither slots is 8 nor PFC is on" in text


def test_what_the_name_of_a_setting_says_is_not_said_again(capsys, make):  # noqa: F811
    runs = [make(f"{slots}-{index}", tags={"slots": slots}, plan={"slots": slots}, seed=str(index), simulated=True,
                 goodput=int(slots) / 8 + index / 1000) for slots in ("8", "6") for index in range(5)]
    _, out, _ = run(capsys, "--by", "slots", *runs, "--allow-different-plans", "--decide-by", "goodput")
    assert "(certain, 5 runs each)" in out and "slots=6" in out and "Why" not in out


def test_keys_of_a_switch_stand_for_its_name(make):  # noqa: F811
    def group(name, **keys):
        made = read_run(make(name, simulated=True, plan={"switch": f"{name}.toml", "ecn": keys.get("ecn", "on")}))
        made.record["environment"]["packet_network"] = {"name": name, "switch": {"pool": keys["pool"], "strict": ""},
                                                        "ecn": {"on": keys.get("ecn", "on")}}
        return Group(name, [made])
    found = reasons.differences(group("small", pool="8MB"), group("large", pool="16MB"))
    assert [one.text for one in found] == ["switch.pool 8 MB instead of 16 MB"]
    assert found[0].changes == {"switch.pool": "16MB"}
    found = reasons.differences(group("off", pool="8MB", ecn="off"), group("on", pool="8MB"))
    assert [one.text for one in found] == ["ECN off", "switch off.toml instead of on.toml"]


def test_what_follows_from_an_option_is_changed_with_it(make):  # noqa: F811
    slow, fast = (Group(name, [read_run(make(name, plan={"rate": f"{name}b/s", "buffer": f"{name}B"}))])
                  for name in ("1G", "2G"))
    found = reasons.differences(slow, fast)
    assert [one.option for one in found] == ["rate"] and found[0].changes == {"rate": "2Gb/s", "buffer": "2GB"}
    assert reasons.differences(slow, fast, searched=True) == []


def test_words_of_a_simulation_that_is_made_again(make):  # noqa: F811
    made = read_run(make("made", simulated=True, seed="7", plan={
        "slots": "8", "busy-cpu": "idle", "fault": "die:consumer=0 stall:producer=1",
        "find": "rate"}))  # find is no option of a plan
    for option in [*made.plan]:
        if option not in ("slots", "busy-cpu", "fault", "seed", "scenario", "find"):
            del made.record["plan"][option]
    words = proofs.command("weir", made, {"slots": "2", "ecn.probability": "1"}, "out",
                           {"busy-cpu": "idle", "slots": "4", "fault": None})
    assert sorted(words) == sorted(["weir", "simulate", "--slots", "2", "--fault", "die:consumer=0",
                                    "--fault", "stall:producer=1", "--switch-set", "ecn.probability=1", "--seed", "7",
                                    "--explain", "off", "--quiet", "--out", "out"])


@pytest.mark.parametrize("got, words", [
    (98.0, "as good as a (100 b/s): a reason"), (120.0, "as good as a (100 b/s): a reason"),
    (55.0, "no better: not the reason (a: 100 b/s)"),
    (30.0, "no better: not the reason (a: 100 b/s)"), (70.0, "40 % of the way to a (100 b/s): part of the reason")])
def test_a_trial_is_a_cause_by_what_is_gone_of_the_difference(got, words):
    trial = proofs.Trial("b", "a", "without ECN", "ECN slows its senders", GOODPUT, own=50.0, got=got, aim=100.0,
                         runs=3)
    assert trial.text == f"b without ECN: goodput {got:g} b/s instead of 50 b/s, {words}"
    assert trial.is_cause == (got > 90.0) and trial.is_none == (got < 60.0)


@pytest.mark.parametrize("name", ["ports of 7 Gb/s, ECN on in both", "PFC off, and half of the memory",
                                  "nothing differs but the seeds"])
@pytest.mark.slow
def test_planted_reasons_are_found(capsys, weir, tmp_path, monkeypatch, name):
    case = next(case for case in reason_calibration.CASES if case.name == name)
    monkeypatch.setenv("WEIR", weir)
    runs = reason_calibration.make_runs(weir, case, tmp_path, seeds=(1, 2, 3) if case.truth else None)
    status, out, err = run(capsys, "--by", "setting", "--baseline", "good", "--allow-different-plans", "--prove", *runs)
    assert status == 0, err
    text = " ".join(out.split())
    because = re.search(r"^Use .* Why (.*?) Do ", " ".join(out.split("\n\n")[0].split()))
    verdict = reason_calibration.judged(case, because[1] if because else "")
    assert verdict == ("proved" if case.truth else "right"), text
    if case.truth == "consumer-link":
        assert "bad without ECN: sustained in 0 of 3 runs instead of 0, no better: not shown to be the reason" in text
    if case.truth == "pfc":
        assert "bad with switch.pool 16 MB instead of 8 MB: sustained in 0 of 3 runs" in text
        assert "100 times the memory in the switch: sustained in 3 of 3 runs" in text


@pytest.mark.slow
def test_time_is_bounded(capsys, weir, tmp_path, monkeypatch):
    monkeypatch.setenv("WEIR", weir)
    runs = reason_calibration.make_runs(weir, next(case for case in reason_calibration.CASES if case.truth == "pfc"),
                                        tmp_path, seeds=(1, 2, 3))
    status, out, _ = run(capsys, "--by", "setting", "--baseline", "good", "--prove", "--prove-limit", "1ns", *runs)
    assert status == 0 and "cannot tell (the time of --prove-limit, 1 ns, was over)" in " ".join(out.split())


@pytest.mark.slow
def test_nothing_stays_of_what_is_interrupted(weir, tmp_path):
    runs = reason_calibration.make_runs(weir, next(case for case in reason_calibration.CASES if case.truth == "pfc"),
                                        tmp_path, seeds=(1, 2, 3))
    pids, temporary = tmp_path / "pids", tmp_path / "temporary"
    temporary.mkdir()
    slow = script(tmp_path / "slow", f'case "$*" in *json*) exec {weir} "$@";; esac\necho $$ >>{pids}\nexec sleep 60')
    process = start("weir-compare", "--by", "setting", "--baseline", "good", "--prove", *runs, WEIR=str(slow),
                    TMPDIR=str(temporary))
    try:
        until(lambda: pids.exists() and pids.read_text().endswith("\n"), process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == -signal.SIGINT
    finally:
        process.kill()
    assert not list(temporary.iterdir())
    # No simulation goes on.
    until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids.read_text().split()), limit_s=20)
