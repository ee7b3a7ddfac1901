"""Files of weir-sweep tune, and what it says of what was found."""

import sys
import tomllib

import pytest
from tune_cases import PLAN, TUNE, found_of

from weir_compare.comparison import what_was_run
from weir_compare.sweep.sweep_file import read_sweep_file
from weir_runs.basics.errors import ReportError
from weir_suites.tune import (acting, axes as tune_axes, campaigns, candidate_search, confirm_file, confirmation,
                              decide, found, objective, tune_file, tune_page, tune_record, tune_text, tuning)


def test_a_file_says_what_is_varied_and_what_must_hold(file_of):
    tune = tune_file.read(file_of(PLAN + """
[tune]
figure = "goodput"
lossless = true
paused-at-most = "5%"
control-latency-at-most = "50us"
budget = 100
confirm = 6
[tune.axes]
ecn.none-below = { from = "10kB", to = "1MB", scale = "log" }
"class.storage.weight" = { from = 1, to = 8 }
policy = ["balanced", "token"]
[tune.present]
ecn.none-below = "5kB"
"""))
    assert [(axis.name, axis.unit) for axis in tune.axes] == [("ecn.none-below", "B"), ("class.storage.weight", ""),
                                                              ("policy", None)]
    assert tune.present == {"ecn.none-below": "5kB"} and tune.search_runs() == 100 - 4 * 6
    assert tune.constraints == objective.Constraints(True, 0.05, pytest.approx(50e-6))
    assert tune.given("producer-link") == "10Gb/s"
    assert tune.given("rate") == "2.3Gb/s" and tune.given("ecn.all-above") is None
    assert tune_file.read(tune.path, budget="60").budget == 60


@pytest.mark.parametrize("content, message", [
    (PLAN, r"there is no table \[tune\]"),
    (PLAN + "[tune]\n", "tune.axes: missing"),
    (PLAN + "[axes]\nslots = [1]\n[tune.axes]\nslots = [1, 2]\n", "axes: not in a file with"),
    (PLAN + "[tune.axes]\nslots = [1]\n", "tune.axes.slots: a list has two different texts or numbers"),
    (PLAN + "[tune.axes]\nslots = 4\n", "tune.axes.slots: 4 is neither a range"),
    (PLAN + "[tune.axes]\nslots = { from = 4, to = 4 }\n", "is not below"),
    (PLAN + '[tune.axes]\nslots = { from = 1, to = 4, scale = "square" }\n',
     "scale: 'square' is not one of log, linear"),
    (PLAN + "[tune.axes]\nseed = [1, 2]\n", "tune.axes.seed: weir-sweep sets it itself"),
    (PLAN + '[tune.axes]\nSlots = [1, 2]\n', "'Slots' is neither an option of weir"),
    (PLAN + "[tune]\nbudget = 5\n[tune.axes]\nslots = [1, 2]\n", "tune.budget: 5 is not a number of runs from 36"),
    (PLAN + '[tune]\nfigure = "speed"\n[tune.axes]\nslots = [1, 2]\n',
     "tune.figure: 'speed' is not one of margin, capacity"),
    (PLAN + '[tune]\npaused-at-most = "a lot"\n[tune.axes]\nslots = [1, 2]\n', "'a lot' is not a share"),
    (PLAN + "[tune]\nlossless = 1\n[tune.axes]\nslots = [1, 2]\n", "tune.lossless: 1 is neither true nor false"),
    (PLAN + '[tune]\nbudget = "soon"\n[tune.axes]\nslots = [1, 2]\n',
     "tune.budget: 'soon' is not a number of runs.*or a time from 10s"),
    (PLAN + "seed = 5\n[tune.axes]\nslots = [1, 2]\n", "simulation.seed: each run of a setting has a seed of its own"),
    (PLAN + '[tune.axes]\nslots = [1, 2]\n[tune.present]\nslots = "1kB"\n',
     "tune.present.slots: '1kB' is not a number without a unit"),
    (PLAN + '[tune.axes]\nslots = [1, 2]\n[tune.present]\nslots = true\n',
     "tune.present.slots: true is not a value of an option: a text or a number"),
    (PLAN + "[tune.axes]\nslots = [1, 2]\n[tune.present]\nstreams = 1\n",
     "tune.present.streams: there is no such axis"),
    (PLAN + "[tune]\nbudgets = 50\n[tune.axes]\nslots = [1, 2]\n", "did you mean budget?"),
])
def test_a_wrong_file_is_refused_with_its_key(file_of, content, message):
    with pytest.raises(ReportError, match=message):
        tune_file.read(file_of(content))


def test_other_commands_name_the_one_that_takes_the_file(file_of):
    with pytest.raises(ReportError, match="a file with this table is for weir-sweep tune"):
        read_sweep_file(file_of(TUNE))


@pytest.mark.parametrize("values, is_log", [
    ([1, 2, 4, 8, 16], True), (["64kB", "1MB", "16MB"], True), ([0, 1000, 1000000], True), ([0.125, 0.25, 1, 4], True),
    ([1, 2, 3, 4], False), ([1, 4, 8], False), ([-3, 0, 3], False), ([0, 1, 2], False), (["balanced", "token"], False)])
def test_a_list_of_numbers_is_drawn_on_the_scale_on_which_it_is_more_even(values, is_log):
    axis = tune_axes.of_list("some", values)
    assert axis.draws_log is is_log
    places = [tune_page._number(axis, value) for value in axis.values]
    assert places == sorted(set(places)) and (not is_log or places[0] > 0.0)


def test_facts_of_what_is_tuned():
    plan = {"producers": "6", "consumers": "2", "rate": "30Gb/s", "interval": "2ms", "event-size": "256KiB",
            "network": "packet", "pfc": "on", "ecn": "off", "switch": "shallow", "producer-link": "100Gb/s",
            "consumer-link": "10Gb/s", "duration": "20ms", "warmup": "4ms"}
    assert dict(what_was_run.facts_of_plan(plan, None)) == {
        "traffic": "30 Gb/s per producer, a set every 2 ms, events of 256 KiB", "layout": "6 producers to 2 consumers",
        "links": "100 Gb/s of producers, 10 Gb/s of consumers", "switch": "shallow with PFC",
        "length": "20 ms, after a warm-up of 4 ms"}
    assert dict(what_was_run.facts_of_plan({**plan, "network": "fluid"}, None)).keys() == {"traffic", "layout", "links",
                                                                                          "length"}


def test_constraints_are_judged_by_what_a_run_counted():
    record = {"switch": {"dropped_packets": 3, "producers_paused_share": {"mean": 0.1}}, "totals": {"lost_events": 0},
              "latency": {"offer_to_grant": {"count": 5, "p99_us": 100.0}}}
    assert objective.Constraints().excess(record) == 0.0
    assert objective.Constraints(lossless=True).excess(record) == pytest.approx(1.386, abs=1e-3)
    assert (objective.Constraints(paused_at_most=0.1).excess(record) == 0.0
            < objective.Constraints(paused_at_most=0.05).excess(record))
    assert objective.Constraints(control_latency_at_most_s=50e-6).excess(record) == pytest.approx(0.693, abs=1e-3)
    assert objective.Constraints(True, 0.1, 1e-3).excess({}) == 0.0
    assert objective.Constraints(True).unseen({}) == "lossless" and objective.Constraints(True).unseen(record) is None


def test_what_a_run_did_that_was_not_asked_for_is_said_in_words():
    asked = objective.Constraints(True, 0.05, 50e-6)
    record = {"switch": {"dropped_packets": 3, "producers_paused_share": {"mean": 0.1}},
              "latency": {"offer_to_grant": {"count": 5, "p99_us": 100.0}}}
    assert asked.broken(record) == ("lost packets", "paused producers for more than 5 % of the time",
                                    "had a scheduling latency (p99) above 50 us")
    assert asked.broken({"totals": {"lost_events": 1}}) == ("lost events",) and asked.broken({}) == ()


def test_a_setting_whose_run_died_keeps_nothing():
    lived, died = campaigns.Result(1.0, 0.0), campaigns.Result(None)
    assert confirmation.kept([lived, lived])
    assert not confirmation.kept([lived, died]) and not confirmation.kept([campaigns.Result(1.0, 0.5)])


def test_ends_of_axes_are_asked_whether_they_can_act():
    axes = [tune_axes.Axis("ecn.none-below", "B", low=1e3, high=8e8),
            tune_axes.Axis("slots", "", low=1, high=16, whole=True)]
    assert {(1e3, 1), (1e3, 16), (8e8, 1), (8e8, 16)} <= set(tuning._corners(axes))
    assert tune_axes.number_of(float("inf")) is None and len(axes[0].neighbours(1e12)) == 1


def test_a_file_that_was_changed_since_it_was_written_stays(tmp_path):
    path = tmp_path / "plan-confirm.toml"
    assert confirm_file.write(path, tmp_path, "first") == (path, False)
    assert confirm_file.write(path, tmp_path, "second") == (path, False) and path.read_text() == "second"
    path.write_text("second, and the command that sets my switch")
    assert confirm_file.write(path, tmp_path, "second") == (path, True)
    other, kept = confirm_file.write(path, tmp_path, "third")
    assert other.name == "plan-confirm-2.toml"
    assert not kept and other.read_text() == "third" and path.read_text().startswith("second, and")
    assert confirm_file.write(path, tmp_path, "fourth") == (other, False) and other.read_text() == "fourth"
    assert confirm_file.write(path, tmp_path, "fourth") == (other, False)


def test_the_plan_belongs_to_a_proposal_that_changes_it_and_the_switch(file_of):
    tune = tune_file.read(file_of(PLAN + '[tune.axes]\nslots = [1, 8]\n"ecn.none-below" = ["5kB", "50kB"]\n'))

    def tags(axes):
        made = found.Found(axes, tuple(axis.values[0] for axis in axes), [], {},
                           finalists=[tuple(axis.values[1] for axis in axes)], chosen=0)
        document = tomllib.loads(confirm_file.text(tune, made, lambda candidate: tune_axes.texts_of(axes, candidate),
                                                   {"switch-set"}))
        assert [setting["name"] for setting in document["switch"]["settings"]] == ["present", "proposed"]
        return document.get("tags")

    assert tags(tune.axes) == {"plan": "of the setting"} and tags(tune.axes[1:]) is None


def test_the_figures_shown_are_those_of_the_confirmation_that_decided(file_of):
    tune = tune_file.read(file_of(TUNE))
    assert "longest delivery time 1 ms instead of 2 ms" in tune_text.headline(tune, found_of())
    twice = found_of(again=(0, [4e-3] * 9, [3e-3] * 9), pairs=9, sustained=(0, 9))
    assert "longest delivery time 3 ms instead of 4 ms" in tune_text.headline(tune, twice)
    assert "in 9 of 9 runs instead of 0" in tune_text.headline(tune, twice)
    shown = tune_page.page_text(tune, twice, "")
    assert "proposed, other seeds" in shown and "present, other seeds" in shown
    assert tune_record.make(tune, twice)["confirmed_again"] == {"finalist": 1, "present_values": [4e-3] * 9,
                                                                "values": [3e-3] * 9}


def test_one_run_of_a_neighbour_that_lost_packets_is_said_and_not_taken_for_certain():
    same = decide.Change(0.0, -0.001, 0.001, decide.NO_DIFFERENCE)

    def near(broke):
        more_often, = decide.breaks([((0, 5), (broke, 5))])
        return found_of(neighbours=[found.Neighbour("slots", "8", (8.0,), 1e-3, same,
                                                    found.Kept(5, broke, ("lost packets",)), more_often)])

    assert near(0).judged("slots") == decide.DOES_NOT_MATTER
    assert near(1).judged("slots") == decide.NOT_TOLD and near(5).judged("slots") == decide.MATTERS
    assert dict(tune_text.parts(near(1)))["axes"][0].endswith(
        "8 no difference, but 1 of 5 runs lost packets, which is not certain")
    assert dict(tune_text.parts(near(5)))["axes"][0].endswith("8 no difference, but 5 of 5 runs lost packets")


def test_what_is_flat_is_said_by_settings_that_were_run_and_not_by_ranges(file_of):
    """4 and 2MB are good values, and together they are bad."""
    axes = (tune_axes.of_list("slots", [3, 4, 8]), tune_axes.of_list("switch.pool", ["2MB", "16MB"]))
    tried = {(3.0, 2e6): 0.0, (8.0, 16e6): 0.001, (8.0, 2e6): 2.0, (4.0, 16e6): -0.001}
    made = found.Found(axes, (3.0, 2e6), [candidate_search.Trial(candidate, 1, score)
                                          for candidate, score in tried.items()], {}, values=[[1e-3] * 5])
    flat, = dict(tune_text.parts(made))["flat"]
    assert flat == ("3 of 4 settings that were tried are within 2 % of the best, a run or a few each: slots=4 "
                    "switch.pool=16MB; slots=3 switch.pool=2MB and slots=8 switch.pool=16MB")
    assert tune_record.make(tune_file.read(file_of(TUNE)), made)["flat"] == {
        "within": 0.02, "settings": 3, "tried": 4, "good": [
        {"slots": "4", "switch.pool": "16MB"}, {"slots": "3", "switch.pool": "2MB"},
        {"slots": "8", "switch.pool": "16MB"}]}


@pytest.mark.parametrize("excess, keeps, said", [
    ({1.0: 0.0, 4.0: 0.0, 8.0: 1.0}, True, "No setting was found that is better than the present one, in 2 others, "
                                           "of which 1 kept what was asked for."),
    ({1.0: 0.0, 4.0: 1.0, 8.0: 1.0}, True, "Of 2 other settings that the search tried none keeps what was asked for, "
                                           "and the present one does: "),
    ({1.0: 1.0, 4.0: 1.0}, False, "Of 1 other setting that the search tried none keeps what was asked for, and the "
                                  "present one does not, either: "),
    ({1.0: 0.0}, True, "No setting besides the present one could be run.")])
def test_where_nothing_is_worth_a_confirmation_it_is_said_what_keeps_what_was_asked_for(file_of, excess, keeps, said):
    made = found_of(finalists=[], changes=[], keeps=[], chosen=None, values=[[1e-3] * 5], present_keeps=keeps)
    made.history = [candidate_search.Trial((slots,), 1, 0.0, of_it) for slots, of_it in excess.items()]
    tune = tune_file.read(file_of(PLAN + "[tune]\nlossless = true\n[tune.axes]\nslots = [1, 4, 8]\n"))
    answer = tune_text.short(tune, made)
    assert answer.sentence.startswith(said) and answer.word == "Keep the setting"


@pytest.mark.parametrize("share, said, relevant", [
    (1.0, "no difference", False), (0.9997, "no difference", False), (0.985, "a little worse (1.5 %)", False),
    (0.977, "2.3 % worse (95 % interval 2.1 % to 2.5 %)", True)])
def test_of_a_capacity_2_percent_is_relevant_and_less_a_little(share, said, relevant):
    rates = [1e9 + 2e6 * number for number in range(5)]
    others = [share * rate * (1.0 + 1e-4 * (share < 1.0) * sign) for rate, sign in zip(rates, (1, -1, 2, -2, 0))]
    change, = decide.changes([(objective.FIGURES[objective.CAPACITY], rates, others)])
    line = dict(tune_text.parts(found_of(neighbours=[found.Neighbour("slots", "8", (8.0,), 1e9, change)])))["axes"][0]
    assert change.relevant is relevant and said.split(" (95")[0] in line, line


@pytest.mark.parametrize("present, proposed, ends", [
    (0, 0, "; sustained in 0 of 5 runs, present setting 0"),
    (0, 5, ", but 5 of 5 runs lost packets, present setting 0"),
    (0, 1, ", but 1 of 5 runs lost packets, present setting 0, which is not certain"),
    (5, 5, ", but 5 of 5 runs lost packets, present setting 5"),
    (5, 0, "; of the present setting, 5 of 5 runs lost packets")])
def test_another_load_with_which_a_constraint_breaks_is_said(file_of, monkeypatch, present, proposed, ends):
    monkeypatch.setenv("WEIR", sys.executable)  # nothing is run
    tune = tune_file.read(file_of(PLAN + "[tune]\nlossless = true\n[tune.axes]\nslots = [1, 4, 8]\n"))
    made, lost = tuning.Tuning(tune, "nowhere", lambda line: None), campaigns.Result(1e-3, 1.0, ("lost packets",))
    monkeypatch.setattr(confirmation, "other_loads", lambda *_: [("events twice as large", (("event-size", "128kB"),))])
    monkeypatch.setattr(made.campaigns, "is_possible", lambda options: True)
    monkeypatch.setattr(made.campaigns, "run", lambda name, settings, first_seed, repetitions: {
        key: [lost] * broke + [campaigns.Result(1e-3 * number) for number in range(1, 6 - broke)]
        for key, broke in ((confirmation.PRESENT, present), ("proposed", proposed))})
    of_it = found_of()
    confirmation.Confirmation(tune, made.campaigns, made.say, of_it).loads(None)
    assert dict(tune_text.parts(of_it))["loads"][0].endswith(ends)
    load, = tune_record.make(tune, of_it)["loads"]
    assert (load["present"]["broke"], load["proposed"]["broke"], load["breaks"]) == (
        present, proposed, (present, proposed) == (0, 5))
    said = "With events twice as large, 5 of 5 runs lost packets, of the present setting none."
    assert (said in tune_text.headline(tune, of_it)) is load["breaks"] is (said in tune_page.page_text(tune, of_it, ""))


@pytest.mark.parametrize("lost, change, said", [
    ((0, 13635), decide.Change(-1.0, -1.1, -0.9, decide.WORSE, relevant=True),
     "packets lost in a run 13635 instead of 0; no other key figure"),
    ((0, 3), decide.Change(-1.0, -3.0, 1.0, "inconclusive", relevant=True),
     "packets lost in a run 3 instead of 0, which is not certain; no other"),
    ((5, 0), decide.Change(1.0, 0.9, 1.1, decide.BETTER, relevant=True), "no other key figure is certainly worse")])
def test_what_is_lost_is_a_cost(lost, change, said):
    observed = [{"lost_packets": count, "lost_events": 0, "paused_share": None, "control_latency_s": None}
                for count in lost]
    parts = dict(tune_text.parts(found_of(beside=[(objective.LOSSES["lost_packets"], change)], observed=observed)))
    assert parts["costs"][0].startswith(said)
    assert parts.get("beside", []) == (["packets lost in a run 0 instead of 5"] if lost[1] == 0 else [])


def test_events_of_other_sizes_are_made_of_what_was_given_and_not_of_what_scales_made_of_it(file_of, monkeypatch):
    monkeypatch.setenv("WEIR", sys.executable)  # nothing is run
    tune = tune_file.read(file_of(TUNE))
    plain, scaled = ({"event-size": "64kB"}, {"event-size": "64kB", "scale": "1/10", "time-scale": "0.01"})
    assert ([dict(more)["event-size"] for _, more in confirmation.other_loads(tune, campaigns.Answer(None, plan=plain))]
            == ["32kB", "128kB"])
    assert [dict(more)["event-size"]
            for _, more in confirmation.other_loads(tune, campaigns.Answer(None, plan=scaled))] == ["32MB", "128MB"]


@pytest.mark.parametrize("chosen, sustained, said", [
    (0, (0, 0), "NOT SUSTAINED: Neither the present setting nor the proposed one sustains this plan, in any run."),
    (None, (0,), "NOT SUSTAINED: The present setting does not sustain this plan, in any run."),
    (0, (0, 5), "Use the proposal: slots=4 instead of 1: "), (0, None, "Use the proposal: slots=4 instead of 1: ")])
def test_a_plan_that_no_setting_sustains_is_said_first(file_of, chosen, sustained, said):
    made = found_of(chosen=chosen, sustained=sustained)
    tune = tune_file.read(file_of(TUNE))
    assert tune_text.headline(tune, made).startswith(said)
    then = tune_text.next_words(made, None if made.overloaded else tune.path, False)
    assert then.startswith("lower the load, by rate or event-size" if made.overloaded else "weir-sweep all")


def of_ecn(**given):
    """Kmin 100 kB now, 1 MB proposed, with ECN on."""
    on = {"ecn": {"on": "true"}}
    made = found_of(finalists=[(1e6,)], in_force=(on, on), **given)
    made.axes, made.present = (tune_axes.of_range("ecn.none-below", "20kB", "2MB", True),), (1e5,)
    made.history = [candidate_search.Trial((1e5,), 1, 0.0), candidate_search.Trial((1e6,), 1, -0.7)]
    return made


def test_a_proposal_that_marks_nothing_is_said_to_be_as_good_as_none(file_of):
    tune = tune_file.read(file_of(TUNE))
    said = "It marks nothing in this plan: here it is as good as ECN off"
    assert said in tune_text.headline(tune, of_ecn(acted=()))
    assert said in tune_text.headline(tune, of_ecn(acted=("pfc",)))
    for other in (of_ecn(acted=("ecn",)), of_ecn(acted=None), of_ecn(acted=(), chosen=None), found_of(acted=())):
        assert said not in tune_text.headline(tune, other)


def test_where_an_axis_does_nothing_nothing_can_be_gained_by_it():
    idle = tune_text.next_words(of_ecn(acted=(), chosen=None), None, False)
    assert idle.endswith("nothing is marked with it, so nothing here can be gained by these axes")
    for other in (of_ecn(acted=("ecn",), chosen=None), of_ecn(acted=None, chosen=None),
                  found_of(acted=(), chosen=None)):
        assert tune_text.next_words(other, None, False) == "keep the present setting"
    assert objective.acted([{"switch": {"marked_packets": 0, "pauses_sent": 3}}]) == ("pfc",)
    assert objective.acted([{"switch": {"marked_packets": 0}}, {}]) is None


def test_how_many_settings_lost_acknowledgements_ruled_out_is_said():
    out = {(4.0,): (objective.LOST_ACKNOWLEDGEMENTS,)}
    assert dict(tune_text.parts(found_of(ruled_out=out)))["lost"][0].startswith(
        "acknowledgements ruled out 1 of 2 settings that the search tried: they are not ECN-capable")
    assert "lost" not in dict(tune_text.parts(found_of(ruled_out={(4.0,): ("lost packets",)})))


@pytest.mark.parametrize("detectable, said", [
    (0.18, "Of the 1 that were confirmed, 18 % or more would have been found; "),
    (0.88, "Of the 1 that were confirmed, runs differ too much to say more; ")])
def test_a_gain_that_anybody_would_have_seen_is_not_said_to_be_found(file_of, detectable, said):
    made = found_of(chosen=None, changes=[decide.Change(0.0, -0.9, 0.9, "inconclusive", detectable)])
    assert said in tune_text.headline(tune_file.read(file_of(TUNE)), made)


def test_an_interval_holds_0_exactly_where_settings_are_not_told_apart():
    """Of several comparisons that share 5 % each one alone may leave out 0, and is not called for that."""
    figure, present = objective.FIGURES[objective.MARGIN], [1.0, 1.02, 0.98, 1.01, 0.99]
    slower = [1.1, 1.2, 1.15, 1.3, 1.1]
    alone, = decide.changes([(figure, present, slower)])
    assert alone.is_worse and alone.high < 0.0 and not alone.together
    noise = [[1.0, 0.9, 1.1, 1.2, 0.95]] * 6
    first, *_ = decide.changes([(figure, present, slower), *((figure, present, values) for values in noise)])
    assert first.call == "inconclusive" and first.low < 0.0 < first.high and first.together
    said = dict(tune_text.parts(found_of(neighbours=[found.Neighbour("slots", "8", (8.0,), 1e-3, first)])))["axes"][0]
    assert "% interval, of all comparisons together -" in said and said.endswith("which is not certain")


def test_what_lost_acknowledgements_to_wred_is_said(file_of):
    record = {"switch": {"dropped_packets": 2, "dropped_bytes": 168}, "totals": {}, "environment": {"packet_network": {
        "nic": {"ack-bytes": "84B"}, "ecn": {"drops": "true"}}}}
    lossless = objective.Constraints(lossless=True)
    assert lossless.broken(record) == (objective.LOST_ACKNOWLEDGEMENTS,)
    record["switch"]["dropped_bytes"] = 168 + 4096  # data, too
    assert lossless.broken(record) == ("lost packets",)
    record = {**record, "switch": {"dropped_packets": 2, "dropped_bytes": 168}, "environment": {}}
    assert lossless.broken(record) == ("lost packets",)
    tune = tune_file.read(file_of(TUNE.replace("budget = 40", "budget = 40\nlossless = true")))
    broke = found.Kept(5, 5, (objective.LOST_ACKNOWLEDGEMENTS,))
    made = found_of(present_keeps=False, present_kept=broke, silent=["ECN marks from 1 MB on: it cannot act"],
                    assumed="pool: not in the configuration")
    said = " ".join(" ".join(tune_text.answer_lines(tune, made)).split())
    assert ("none of 5 runs breaks what was asked for (nothing lost), each with another seed: of other seeds, up to "
            "43 % may yet. (likely) Why Of the present setting, 5 of 5 runs lost acknowledgements to WRED; ") in said
    assert "lost acknowledgements are not ECN-capable in the model: with ecn.drops, WRED drops them" in said
    assert "cannot act ECN marks from 1 MB on: it cannot act assumed pool: not in the configuration" in said
    assert "lost acknowledgements are" not in " ".join(tune_text.answer_lines(tune, found_of()))


def test_what_cannot_act_is_said_in_the_units_of_axes():
    entry = {"text": "ECN marks from 1 MiB on, and at most 812 kB can wait", "remedy": "events of 512 KiB",
             "can_act": False}
    assert acting.silent([entry, {**entry, "can_act": True}]) == [
        "ECN marks from 1.05 MB on, and at most 812 kB can wait: it cannot act in this plan, but with events of 524 kB"]


def test_a_present_value_of_a_list_has_the_unit_of_the_others():
    axis, value = tune_axes.of_list("ecn.all-above", ["50kB", "2MB"]).with_text("2MiB")
    assert value == 2097152.0 and axis.texts == ("50kB", "2MB", "2.097152MB")
    assert tune_axes.of_list("event-size", ["64KiB", "1MiB"]).with_text("2MiB")[0].texts[-1] == "2MiB"
