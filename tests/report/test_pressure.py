"""Settings of a switch that cannot act in the plan: a comparison reports that, and calls nothing the same."""

import json
import re
from pathlib import Path

import pytest
from comparing import make, run  # noqa: F401 (a fixture)
from conftest import editing

from weir_suites import sweep_command
from weir_compare.sweep import dry_runs, run_plan
from weir_compare.sweep.sweep_file import parse_sweep

PFC = {"setting": "pfc", "port": "consumer", "queue_bytes": 3200000, "acts_at_bytes": 4000000, "pressure": 0.8,
       "can_act": False,
       "text": "PFC pauses from 4 MB in a consumer's port on, and at most 3.2 MB can wait there (pressure 0.8)",
       "remedy": "events of 1.25 MiB or more (--event-size) or more slots (--slots)"}
DROP = {**PFC, "setting": "drop", "pressure": 0.5, "text": PFC["text"].replace("PFC pauses", "The switch drops"),
        "remedy": "events of 2 MiB or more (--event-size) or more slots (--slots)"}
ECN = {**PFC, "setting": "ecn", "pressure": 640.0, "can_act": True, "remedy": None,
       "text": "ECN marks from 5 kB in a consumer's port on, and at most 3.2 MB can wait there (pressure 640)"}
CANNOT = "These settings cannot differ in this plan"


def pressed(directory, *settings, unknown=None, **environment):
    """The run with these settings in its pressure."""
    with editing(directory) as record:
        record["plan"]["resolved"]["pressure"] = {"under_way_bytes": 4194304, "transfers": 4, "transfer_bytes": 1048576,
                                                  "limited_by": "slots", "settings": list(settings), "unknown": unknown,
                                                  "text": "at most 4 MiB under way into a consumer's port"}
        record["environment"].update(environment)
    return directory


def simulated(make, name, options, settings, switch, goodput=1.0):
    return [pressed(make(f"{name}-{seed}", simulated=True, seed=str(seed), tags={"setting": name}, plan=options,
                         goodput=goodput * (1 + 1e-4 * seed)),
                    *settings, packet_network=switch) for seed in range(1, 6)]


SHALLOW = {"name": "shallow", "pfc": {"on": "false"}, "switch": {"pool": "16MB", "arbitration": "fifo"}}


def compared(capsys, tmp_path, *sides, status=0):
    found, out, err = run(capsys, "--by", "setting", *(one for side in sides for one in side), "--json",
                          tmp_path / "answer.json", "--page", tmp_path / "page.html")
    assert found == status, err
    return out, json.loads((tmp_path / "answer.json").read_text()), (tmp_path / "page.html").read_text()


def test_settings_that_cannot_act_cannot_differ(make, capsys, tmp_path):
    pfc = simulated(make, "pfc", {"pfc": "on"}, [PFC], {**SHALLOW, "pfc": {"on": "true"}})
    none = simulated(make, "none", {"pfc": "off"}, [DROP], SHALLOW)
    out, record, page = compared(capsys, tmp_path, pfc, none)
    assert re.sub(r"\s+", " ", out).startswith(
        f"CANNOT DIFFER {CANNOT}. (certain) Why {PFC['text']}. Do Compare them ")
    assert f"{DROP['text']}." in re.sub(r"\s+", " ", out)
    answer = record["answer"]
    assert answer["winner"] is None and answer["not_told"] == [] and answer["pressure"]["cannot_differ"] is True
    assert answer["next"] == f"Compare them in a plan in which they can act: with {PFC['remedy']}."
    assert CANNOT in page and "<b>Do:</b>" in page
    # Nothing is called the same.
    assert record["conclusion"].startswith(f"CANNOT DIFFER: {CANNOT}")
    calls = {figure["call"] for comparison in record["comparisons"] for figure in comparison["figures"]}
    assert "no difference" not in calls
    assert any(line.endswith("cannot differ") for line in out.splitlines())
    for words in ("no difference", "No winner", "equal", "same"):
        assert words not in out and words not in record["conclusion"]
    table = run(capsys, "--by", "setting", *pfc, *none, "--table")[1]
    assert CANNOT in table and "no difference" not in table
    assert run(capsys, "--by", "setting", *pfc, *none, "--fail-on", "worse,different")[0] == 0


def test_a_difference_all_the_same_has_another_cause(make, capsys, tmp_path):
    out, record, _ = compared(capsys, tmp_path, simulated(make, "pfc", {"pfc": "on"}, [PFC], SHALLOW),
                              simulated(make, "none", {"pfc": "off"}, [DROP], SHALLOW, goodput=0.5))
    assert "all the same has another cause" in re.sub(r"\s+", " ", out)
    assert record["answer"]["winner"] is None


def test_a_setting_that_can_act_is_compared_and_one_that_cannot_is_named(make, capsys, tmp_path):
    out, record, _ = compared(capsys, tmp_path, simulated(make, "pfc", {"pfc": "on"}, [PFC], SHALLOW),
                              simulated(make, "ecn", {"ecn": "on"}, [ECN, DROP], {**SHALLOW, "ecn": {"on": "true"}}))
    assert CANNOT not in out
    assert f"{PFC['text']}: it cannot act in this plan, but with {PFC['remedy']}." in record["answer"]["not_told"]
    assert not any("ECN marks" in sentence for sentence in record["answer"]["not_told"])


@pytest.mark.parametrize("options, switch", [
    ({"control-network": "separate"}, SHALLOW),  # another option than those of the switch
    ({"switch-set": "x"}, {**SHALLOW, "switch": {"pool": "16MB", "arbitration": "ingress-round-robin"}}),
    ({"switch-set": "x"}, {**SHALLOW, "tcp": {"control": "cubic"}}),
])
def test_what_else_differs_can_make_a_difference(make, capsys, tmp_path, options, switch):
    out, _, _ = compared(capsys, tmp_path, simulated(make, "one", {}, [DROP], SHALLOW),
                         simulated(make, "other", options, [DROP], switch))
    assert CANNOT not in out


def test_measured_settings_by_what_is_said_of_the_switch(make, capsys, tmp_path):
    given = {**PFC, "setting": "switch"}

    def sides(*settings, **more):
        return [[pressed(make(f"{next(names)}-{name}", minute=2 * number + (name == "pfc"),
                              tags={"setting": name, "switch": name},
                              goodput=1 + 1e-4 * number), *settings, variables={"UCX_TLS": "rc"} | more.get(name, {}),
                         **({"unknown": more["unknown"]} if "unknown" in more else {})) for number in range(5)]
                for name in ("none", "pfc")]
    names = iter(range(1000))
    assert CANNOT in compared(capsys, tmp_path, *sides(given))[0]
    # Another variable of UCX, and it may be that.
    assert CANNOT not in compared(capsys, tmp_path, *sides(given, pfc={"UCX_IB_TRAFFIC_CLASS": "106"}))[0]
    _, record, _ = compared(capsys, tmp_path, *sides(unknown="it is not known; --acts-at SIZE says it"))
    assert any("at most 4 MiB under way" in sentence and "--acts-at SIZE" in sentence
               for sentence in record["answer"]["not_told"])


@pytest.mark.slow
def test_simulations_at_a_pressure_below_1_are_the_same_and_are_not_called_so(simulate, capsys, tmp_path):
    def runs(size, *options):
        return [simulate("--producers", "8", "--consumers", "1", "--generation", "saturate", "--event-size", size,
                         "--network", "packet", "--duration", "20ms", "--warmup", "0s", "--drain", "1s", "--seed",
                         str(seed), *options) for seed in (1, 2, 3)]
    for size, cannot in (("512KiB", True), ("4MiB", False)):
        sides = [runs(size, "--pfc", pfc, "--tag", f"setting=pfc-{pfc}") for pfc in ("on", "off")]
        out, record, _ = compared(capsys, tmp_path, *sides)
        assert (CANNOT in out) is cannot, out
        records = [json.loads((directory / "run.json").read_text()) for side in sides for directory in side]
        moved = {(one["switch"]["pauses_sent"], one["switch"]["dropped_packets"]) for one in records}
        assert (moved == {(0, 0)}) is cannot
        if cannot:
            assert len({one["totals"]["received_bytes"] for one in records[::3]}) == 1


# weir-sweep: [switch] acts-at.

SWEEP = """
[run]
producers = 32
consumers = 1
generation = "saturate"
event-size = "1MiB"
[switch]
settings = ["none", { name = "pfc", acts-at = "100kB", simulate = { pfc = "on" } }, { name = "ecn", simulate = {} }]
acts-at = "8MB"
"""


def test_acts_at_is_an_option_of_measured_runs_alone():
    made = run_plan.make_plan(parse_sweep(Path("some.toml"),
                                          SWEEP.replace('"none"', '{ name = "none", simulate = {} }')))
    assert [dict(setting.options)["acts-at"] for setting in made.settings] == ["8MB", "100kB", "8MB"]
    assert ("acts-at", "100kB") in dry_runs.in_world(made.settings[1], (), False)
    assert all("acts-at" not in dict(dry_runs.in_world(setting, (), True)) for setting in made.settings)
    # In the simulator none and ecn are one setting here.
    assert len(run_plan.simulated_settings(made)) == 2


def test_the_plan_of_a_sweep_says_what_cannot_act(weir, tmp_path, capsys):
    def planned(text):
        path = tmp_path / "campaign.toml"
        path.write_text(text)
        assert sweep_command.main(["plan", str(path), "--local"]) == 0
        return capsys.readouterr().out
    plain = SWEEP[:SWEEP.index("settings")] + 'settings = ["none", "pfc"]\n'
    assert "pressure    at most 4 MiB under way into a consumer's port" in planned(plain)
    assert "--acts-at SIZE says it" in planned(plain) and "cannot differ" not in planned(plain)
    out = planned(plain + 'acts-at = "8MB"\n')
    assert "it cannot act in this plan, but with events of " in out
    assert "warning     settings of the switch cannot differ in this plan" in out
    assert "cannot differ" not in planned(plain + 'acts-at = "100kB"\n')
