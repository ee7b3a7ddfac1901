"""The tests of the draft in the simulator, against their closed forms, on small fabrics."""

import json

import pytest

from conftest import call

STAR = """production-network = false
[fabric]
hosts = 9
switch = "shallow"
[parameters."5.1"]
sizes = ["256KiB"]
queue-pairs = [1]
resolution = 0.03
[parameters."5.2"]
sizes = ["256KiB"]
samples = 50
repetitions = 1
[parameters."5.3"]
senders = [4]
bursts = 3
repetitions = 1
[parameters."7.1"]
thresholds = "1MB"
repetitions = 1
[parameters."7.2"]
senders = [2, 4]
seconds = 0.03
repetitions = 1
[parameters."7.3"]
flows = [4]
settings = ["dcqcn.rate-period=300us"]
seconds = 0.4
repetitions = 1
[parameters."9.1"]
workers = [4]
sizes = ["8MiB"]
iterations = 2
repetitions = 1
[parameters."9.2"]
workers = [4]
sizes = ["8MiB"]
iterations = 1
repetitions = 1
[parameters."9.3"]
workers = [4]
sizes = ["8MiB"]
iterations = 1
repetitions = 1
[parameters.rfc8239-2]
frames = [64, 9216]
[parameters."10.1"]
workers = [4]
compute = ["10ms"]
iterations = 2
repetitions = 1
"""
LEAVES = """production-network = false
[fabric]
hosts = 32
switch = "fabric.toml"
pfc = "on"
[parameters."8.1"]
leaves = [0]
queue-pairs = [1, 4]
hash = "with"
bytes = "128KiB"
repetitions = 4
[parameters."8.2"]
gaps = "500ns"
bytes = "128KiB"
repetitions = 1
[parameters."8.3"]
reorder = "1MiB"
bytes = "128KiB"
repetitions = 1
[parameters."10.3"]
share = [0.0, 0.25]
balancing = "spray"
iterations = 2
repetitions = 1
[parameters."11.2"]
balancing = "spray"
iterations = 3
repetitions = 1
[parameters."12.1"]
seconds = 0.03
[parameters.rfc8239-5]
repetitions = 1
[parameters.inference-kv]
context = 64
iterations = 1
repetitions = 1
"""
FABRIC = """base = "shallow"
[topology]
kind = "leaf-spine"
leaves = 4
spines = 2
uplinks = 2
"""


@pytest.fixture(scope="module")
def bmwg(weir, tmp_path_factory):
    """bmwg(plan's text, words...): (the suite's directory, submission.json by section, what was printed)."""
    top = tmp_path_factory.mktemp("bmwg")
    (top / "fabric.toml").write_text(FABRIC)

    def run(name, plan, *words, expect=0):
        path = top / f"{name}.toml"
        path.write_text(plan)
        said = call("weir-sweep", "bmwg", path, "--simulate", "--quick", *words, expect=expect)
        file = top / name / "submission.json"
        record = json.loads(file.read_text()) if file.exists() else None
        return top / name, record and {result["section"]: result for result in record["results"]}, said
    run.top = top
    return run


@pytest.fixture(scope="module")
def star(bmwg):
    return bmwg("star", STAR, "--only", "5.2,5.3,7.1,7.2,7.3,9.4,10.1,rfc8239-2")


@pytest.fixture(scope="module")
def leaves(bmwg):
    return bmwg("leaves", LEAVES, "--only", "7.4,8.4,10.3,11.3,12.1,rfc8239-5,inference-kv")[1]


def rows(result, table=0):
    """The rows of a table as dictionaries by title."""
    assert result["state"] == "done", result["why"]
    titles = [column["title"] for column in result["tables"][table]["columns"]]
    return [dict(zip(titles, row)) for row in result["tables"][table]["rows"]]


def test_throughput_is_line_rate_less_headers(star):
    for row in rows(star[1]["5.1"]):
        # Bracket of 3 %, and some 10 us of an interval of 2 ms.
        assert 0.96 < row["efficiency"] <= 1.0, row
        assert row["theoretical"] == pytest.approx(98.04e9, rel=1e-3)


def test_latency_alone_is_what_is_calculated(star):
    alone, loaded = rows(star[1]["5.2"])
    assert alone["load"] == "alone" and alone["P50"] == pytest.approx(alone["alone, calculated"], rel=0.03)
    assert alone["min"] <= alone["P50"] <= alone["P95"] <= alone["P99.9"] <= alone["max"]
    assert loaded["loaded / alone"] == pytest.approx(loaded["P50"] / alone["P50"])


def test_burst_is_what_a_dynamic_threshold_holds(star):
    row = rows(star[1]["5.3"])[0]
    assert row["burst of each sender"] == pytest.approx(16e6 / 2 / (4 - 1) * 4096 / 4178, rel=0.01)
    assert row["found / closed form"] == pytest.approx(1.0, abs=0.01)


def test_pauses_of_switch_and_nics_are_the_same(star):
    for row in rows(star[1]["7.2"]):
        assert row["pauses"] == row["pauses received"] > 0
        assert row["dropped"] == 0
        assert row["throughput"] == pytest.approx(row["line rate less headers"], rel=0.01)
        assert row["paused, mean of senders' ports"] == pytest.approx(row["1 - 1/N"], abs=0.03)


def test_throughput_counts_until_the_last_set_is_there(bmwg):
    """0.6 s of sets of three senders take 1.8 s: longer than a second of rows."""
    plan = STAR.replace("hosts = 9", 'hosts = 9\nlink = "1Gb/s"').replace(
        "senders = [2, 4]\nseconds = 0.03", "senders = [3]\nseconds = 0.6")
    row = rows(bmwg("slow", plan, "--only", "7.2")[1]["7.2"])[0]
    assert row["throughput"] == pytest.approx(row["line rate less headers"], rel=0.01)


@pytest.mark.parametrize("section, factor, steps", [("9.1", 1.5, 6), ("9.2", 0.75, 3), ("9.3", 0.75, 3)])
def test_bus_bandwidth_is_from_s_and_f(star, section, factor, steps):
    row = rows(star[1][section])[0]
    assert row["f"] == factor and row["S_fabric"] == factor * 8 * 2**20
    assert row["BusBW P50"] == pytest.approx(8 * 8 * 2**20 * factor / row["JCT P50"], rel=1e-6)
    # Steps of 2 MiB at line rate less headers, each with its latency.
    assert row["8 S f / B"] * 4178 / 4096 < row["JCT P50"] < row["8 S f / B"] * 4178 / 4096 + steps * 20e-6
    assert (rows(star[1]["9.4"])[0][f"BusBW, {('all-reduce', 'all-to-all', 'all-gather')[int(section[-1]) - 1]}"]
            == row["BusBW mean"])


def test_a_switch_carries_line_rate(star):
    """Latency is some 10 us of 4 ms."""
    found = rows(star[1]["rfc8239-2"])
    assert [(row["frame"], row["ports"]) for row in found] == [(9216, "pairs"), (9216, "mesh")]
    assert all(0.99 < row["received"] <= 0.9998 and row["dropped"] == row["sent again"] == 0 for row in found)


def test_marks_follow_the_ramp(star):
    row = rows(star[1]["7.1"])[0]
    assert row["marked below T"] == 0 < row["packets below T"] and row["marked above 1.5 T"] == 1.0
    assert 0.0 < row["deviation from T"] < 0.02 and abs(row["from the ramp, mean"]) < 1.0
    for part in rows(star[1]["7.1"], 1):
        assert abs(part["difference"]) < 1.0 + 3.0 * part["chance"], part


def test_flows_converge_within_the_published_bound(star):
    """And later with a period for which there is none; flows go on to swing by more than a twentieth."""
    row, slow = rows(star[1]["7.3"])
    assert row["bound"] == pytest.approx(0.0903, rel=0.01) and slow["bound"] is None
    assert 0.01 < row["until both halves are fair, mean"] < row["bound"] < slow["until both halves are fair, mean"]
    assert 0.05 < row["swing of a flow"] < 0.15


def test_jct_ratio_is_of_the_roofline(star):
    row = rows(star[1]["10.1"])[0]
    assert row["roofline"] == pytest.approx(0.010 + 8 * 8 * 2**20 * 1.5 / 100e9)
    assert row["JCT ratio"] == pytest.approx(row["JCT P50"] / row["roofline"]) and 1.0 < row["JCT ratio"] < 1.02


def test_a_second_call_runs_nothing_and_keeps_other_sections(bmwg, leaves):
    directory, results, printed = bmwg("leaves", LEAVES, "--only", "11.3")
    runs = list(directory.glob("section-*/**/run.json"))
    assert len(runs) == 26 and not list(directory.glob("section-*/**/submission-2.json"))
    assert results["8.1"]["tables"] == leaves["8.1"]["tables"] and results["8.4"]["state"] == "done"
    assert "8.1   ECMP entropy and polarization: done" in printed
    _, _, printed = bmwg("leaves", LEAVES.replace('"128KiB"', '"64KiB"'), expect=2)
    assert "was begun with another plan" in printed


def test_without_parallel_links_balancing_is_refused(bmwg):
    plan = "production-network = false\n[fabric]\nhosts = 4\n"
    _, results, printed = bmwg("none", plan, "--only", "8.1", expect=1)
    assert results["8.1"]["state"] == "cannot" and "has no parallel links" in results["8.1"]["why"]
    assert "8.1   ECMP entropy and polarization: cannot" in printed


def test_rails_are_for_marks_only(bmwg):
    """Of two NICs, data come to one; other tests would take its line rate for the host's."""
    (bmwg.top / "rails.toml").write_text('base = "shallow"\n[topology]\nkind = "rail-optimized"\nleaves = 4\n'
                                         'spines = 2\nnics = 2\n')
    plan = ('production-network = false\n[fabric]\nhosts = 8\nswitch = "rails.toml"\n[parameters."7.1"]\n'
            'thresholds = "1MB"\nrepetitions = 1\n')
    _, results, _ = bmwg("railed", plan, "--only", "5.3,7.1", expect=1)
    assert results["5.3"]["state"] == "cannot" and "several NICs" in results["5.3"]["why"]
    row = rows(results["7.1"])[0]
    assert row["marked below T"] == 0 < row["packets below T"]
    assert 0.0 < row["deviation from T"] < 0.02 and abs(row["from the ramp, mean"]) < 1.0


def test_an_unknown_option_is_refused_before_anything_is_run(bmwg):
    directory, results, printed = bmwg("unknown", "production-network = false\n[fabric]\nhosts = 4\n[run]\nfoo = 1\n",
                                       "--only", "7.2", expect=2)
    assert results is None and not list(directory.glob("section-*"))
    assert "unknown.toml: run: weir simulate: --foo: there is no such option" in printed


def test_ecmp_is_balls_in_bins(leaves):
    # 16 leaves in four runs: the mean of a leaf scatters by a fourth of what one leaf does.
    for row in rows(leaves["8.1"]):
        assert row["MMR, mean of leaves"] == pytest.approx(row["MMR, balls in bins"], rel=0.12)
        assert row["JFI, mean of leaves"] == pytest.approx(row["JFI, balls in bins"], rel=0.12)


def test_spraying_is_even_and_out_of_order(leaves):
    ecmp, spray = rows(leaves["8.3"])
    assert spray["JFI, worst leaf"] > 0.99 and spray["MMR, worst leaf"] < 1.05
    assert ecmp["out of order"] == 0
    assert spray["out of order"] > 0 and spray["sent again"] == 0
    assert [row["balancing"] for row in rows(leaves["8.4"])] == ["ecmp", "flowlets 500ns", "spray, 1MiB kept"]


def test_two_jobs_share_the_uplinks_of_a_leaf(leaves):
    apart, beside = rows(leaves["10.3"])
    assert apart["interference factor"] == pytest.approx(1.0, abs=0.001)
    # Eight hosts at four uplinks: each job gets half of what a ring of 16 needs, 8 S f / B with headers; steps have
    # some latency.
    half = 2 * 8 * 8 * 2**20 * 1.875 / 100e9 * 4178 / 4096
    assert half < beside["JCT beside, P50"] < 1.1 * half


def test_a_cut_stops_delivery_until_routes_follow(leaves):
    row = rows(leaves["11.2"])[0]
    # Time-outs of 1 ms are at most two late.
    assert 0.001 <= row["without delivery"] < 0.0035
    assert 0.001 <= row["loads even after"] <= 0.0011  # known to a row of 100 us
    assert row["lost"] > 0
    assert row["JCT with the failure"] > row["JCT P99 of the others"] and row["within P99"] == "0 of 1"
    assert rows(leaves["11.3"])[0]["within P99"] == "0 of 1"


def test_watchdogs_find_the_storm_and_nothing_deadlocks(leaves):
    circle, storm, watched = rows(leaves["7.4"])
    assert {row["deadlocked"] for row in (circle, storm, watched)} == {"0 of 1"}
    assert all(row["links that could wait in a circle"] == 0 for row in (storm, watched))
    assert watched["storms found by watchdogs"] > 0 and watched["dropped by watchdogs"] > 0
    assert storm["sets on time"] < watched["sets on time"] < circle["sets on time"]


def test_a_steady_fabric_is_stable(leaves):
    reduced, exchanged = rows(leaves["12.1"])
    for row in (reduced, exchanged):
        assert row["samples"] >= 3 and row["JCT ratio, mean"] > 4178 / 4096 and row["/ mean"] < 0.05
    assert {sample["collective"] for sample in rows(leaves["12.1"], 1)} == {"all-reduce", "all-to-all"}
    assert all(sample["dropped"] == 0 and sample["not complete"] == 0 for sample in rows(leaves["12.1"], 1))


def test_pauses_block_a_flow_with_a_free_port(leaves):
    ratios = {row["case"]: row["/ alone"] for row in rows(leaves["rfc8239-5"])}
    assert ratios["alone"] == 1.0 and ratios["PFC on"] > 2.0 and ratios["PFC off"] < 1.5


def test_caches_take_line_rate_alone_and_what_experts_leave(leaves):
    alone, beside = rows(leaves["inference-kv"])
    assert alone["S_KV"] == 64 * 320 * 1024
    assert alone["transfer time, mean"] == pytest.approx(alone["at line rate"], rel=0.02)
    assert beside["transfer time, mean"] == pytest.approx(2.0 * alone["at line rate"], rel=0.1)
