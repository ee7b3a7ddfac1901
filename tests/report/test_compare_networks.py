"""weir-compare on runs that the network held up in different ways: by which mechanism, and what of it is said."""

import csv
import io
import re

import pytest
from comparing import compared, make, run  # noqa: F401 (a fixture)


def networks(make, name, *mechanisms):
    """A run for each mechanism, all else equal; None: an old run without one."""
    return [make(f"{name}-{index}", label=name, network=mechanism) for index, mechanism in enumerate(mechanisms)]


@pytest.fixture
def other_networks(make):
    return (networks(make, "ECN", "lossy", "lossy", None, "lossy", "lossy"),
            networks(make, "PFC", *["nothing_counted"] * 5))


def test_another_mechanism_of_the_network_stands_out(capsys, other_networks):
    new, baseline = other_networks
    status, out, _ = run(capsys, *new, "--against", *baseline, "--fail-on", "worse,different")
    assert status == 0  # nothing was tested, so nothing is called
    lines = out.splitlines()
    assert "network   nothing to speak of in 5 of 5 runs | lossy in 4, unknown in 1 of 5 runs" in lines
    assert lines[-1] == ("The network's mechanism differs: lossy in 4, unknown in 1 of 5 runs instead of nothing to "
                         "speak of in 5 of 5 runs "
                         "(counted, not tested).")
    _, record = compared(capsys, new, baseline)
    assert [group["network"] for group in record["groups"]] == [{"nothing to speak of": 5}, {"lossy": 4, "unknown": 1}]
    assert record["comparisons"][0]["network_differs"] is True
    assert "the network's mechanism differs: lossy in 4, unknown in 1 of 5 runs instead of" in record["conclusion"]


def test_another_mechanism_stands_out_where_too_few_runs_can_be_judged(capsys, other_networks):
    new, baseline = other_networks
    _, out, _ = run(capsys, *new[:2], "--against", *baseline)
    assert "network   nothing to speak of in 5 of 5 runs | lossy in 2 of 2 runs" in out.splitlines()
    assert "mechanism differs: lossy in 2 of 2 runs instead of" in out and "not judged" in out.splitlines()[-1]


def test_the_mechanism_is_in_csv_and_page(capsys, other_networks, tmp_path):
    new, baseline = other_networks
    page = tmp_path / "page.html"
    _, out, _ = run(capsys, *new, "--against", *baseline, "--csv", "-", "--page", page)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert rows and all((row["baseline_network"], row["new_network"]) ==
                        ("nothing to speak of in 5 of 5 runs", "lossy in 4, unknown in 1 of 5 runs") for row in rows)
    text = page.read_text()
    assert re.search(r"network \(counted, not tested\)</td>.*differs.*nothing to speak of in 5 of 5 runs.*lossy in 4, "
                     "unknown in 1 of 5 runs",
                     text)
    assert re.search(r"<b>[^<]*</b>: lossy in 4, unknown in 1 of 5 runs", text)
    assert re.search(r"<b>[^<]*</b>: nothing to speak of in 5 of 5 runs", text)


@pytest.mark.parametrize("old, new, differs", [
    (["lossy"] * 3, ["lossy"] * 3, False),
    (["lossy", "lossy", "nothing_counted"], ["lossy", "lossy", "lossy", "nothing_counted"], False),
    (["lossy", "lossy", None], ["lossy", "lossy", "lossy"], False),
    (["nothing_counted"] * 3, ["nothing_counted", "nothing_counted", "lossy"], True),
    (["lossy", "lossy", "nothing_counted"], ["lossy", "nothing_counted", "nothing_counted"], True),
    (["uncongested"] * 3, ["nothing_counted"] * 3, False),  # the same, of an older version
    ([None] * 3, ["lossy"] * 3, None),
    ([None] * 3, [None] * 3, None),
])
def test_mechanisms_differ_by_name_or_by_majority_and_unknown_is_no_mechanism(capsys, make, old, new, differs):
    _, record = compared(capsys, networks(make, "new", *new), networks(make, "old", *old))
    assert record["comparisons"][0]["network_differs"] is differs
    assert ("mechanism differs" in record["conclusion"]) is (differs is True)


def test_several_groups_have_a_line_each(capsys, make):
    runs = [make(f"{value}-{index}", tags={"pfc": value}, network=mechanism)
            for value, mechanism in (("on", "held_back_by_pfc"), ("off", "lossy"), ("shallow", "controlled_by_ecn"))
            for index in range(3)]
    _, out, _ = run(capsys, "--by", "pfc", *runs, "--table")
    assert "network   pfc=on       PFC paused senders in 3 of 3 runs" in out
    assert "network   pfc=off      lossy in 3 of 3 runs" in out
    assert "network   pfc=shallow  ECN slowed senders in 3 of 3 runs" in out
    assert out.count("mechanism differs") == 2


def test_a_setting_has_the_main_cause_of_its_runs_in_their_own_words(capsys, make):
    links = "NOT sustained: 3 sets were late. Main cause: the link of consumer 0 on fn01.farm. It carried 1 Gb/s."
    texts = {"off": [links, links, "Late. Main cause: too few slots."], "on": ["Sustained."] * 3,
             "far": ["NOT sustained. Main cause: not told. The network gave 1 Gb/s."] * 3}
    runs = [make(f"{value}-{index}", tags={"pfc": value}, verdict={"text": text}, sustained=value == "on")
            for value, of_value in texts.items() for index, text in enumerate(of_value)]
    _, out, _ = run(capsys, "--by", "pfc", *runs)
    assert "off: held up by the link of consumer 0 on fn01.farm in 2 of 3 runs" in " ".join(out.split())
    assert out.count("held up by") == 1


def test_simulations_have_no_network_to_tell_of(capsys, make, tmp_path):
    sides = [[make(f"{name}-{index}", simulated=True, seed=str(index), plan={"slots": slots}) for index in range(3)]
             for name, slots in (("few", "2"), ("many", "4"))]
    page = tmp_path / "page.html"
    _, out, _ = run(capsys, *sides[0], "--against", *sides[1], "--allow-different-plans", "--page", page)
    assert "network" not in out and "counted, not tested" not in page.read_text()
