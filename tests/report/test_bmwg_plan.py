"""Plans, catalogue, arithmetic and reports of weir-sweep bmwg, without a run."""

import copy
import itertools
import re

import pytest

from weir_suites import sweep_command
from weir_compare.sweep.sweep_file import read_sweep_file
from weir_runs.basics.errors import ReportError
from weir_suites.bmwg import (arithmetic, bmwg_command, catalogue, draft_suite, plan_file, submission_page,
                              submission_reader, submission_record)
from weir_suites.bmwg.arithmetic import ROCE
from weir_suites.bmwg.campaign_steps import Step, sweep_text
from weir_suites.bmwg.draft_setup import Setup
from weir_suites.bmwg.result_tables import Column, HOST, Outcome, POINTS, Primary, SETTING, Table, variation

PLAN = """production-network = false
[fabric]
hosts = 8
"""


@pytest.fixture
def plan_of(file_of):
    """plan_of(text): the plan with this content."""
    return lambda content: plan_file.read(file_of(content))


def test_a_production_network_is_refused(plan_of):
    with pytest.raises(ReportError, match="must not be run on a production network"):
        plan_of(PLAN.replace("false", "true"))
    for answer in ('production-network = "?"\n', ""):
        with pytest.raises(ReportError, match="production-network: write false if this is no production network"):
            plan_of(answer + "[fabric]\nhosts = 8\n")


def test_the_template_is_a_plan_once_its_question_is_answered(plan_of):
    assert plan_file.TEMPLATE.splitlines()[1].endswith("Write false if it is not.")
    with pytest.raises(ReportError, match="production-network"):
        plan_of(plan_file.TEMPLATE)
    plan = plan_of(plan_file.TEMPLATE.replace('"?"', "false"))
    assert len(plan.missing()) == len(plan_file.DEVICE) + len(plan_file.HOST)
    assert plan.hosts == 32 and plan.link == 100 * 10**9


@pytest.mark.parametrize("content, message", [
    (PLAN.replace("hosts = 8", ""), "fabric.hosts: missing"),
    (PLAN.replace("hosts = 8", "hosts = 1"), "fabric.hosts: 1 is not a whole number from 2"),
    (PLAN + 'link = "fast"\n', "fabric.link: 'fast' is not a rate"),
    (PLAN + 'packet-payload = "much"\n', "fabric.packet-payload: 'much' is not a size"),
    (PLAN + "[classes]\ndata = 8\n", "classes.data: 8 is not a whole number from 0 to 7"),
    (PLAN + "leaves = 4\n", "fabric.leaves: there is no such key"),
    (PLAN + '[tests]\nonly = ["5.9"]\n', "tests.only: there is no section '5.9'"),
    (PLAN + '[parameters."5.3"]\nsender = [2]\n', "5.3 has no such parameter; known are: senders, bursts"),
    (PLAN + '[parameters."5.3"]\nsenders = [0]\n', "0 is not above 0"),
    (PLAN + '[parameters."5.3"]\nsenders = [2.5]\n', "2.5 is not a number such as"),
    (PLAN + '[parameters."5.3"]\nsenders = [1]\n', 'parameters."5.3".senders: 1 is below 2, the least with which'),
    (PLAN + '[environment]\nUCX_TLS = ["rc"]\n', "plan.toml: environment.UCX_TLS: ['rc'] is not a value"),
    (PLAN + "[local]\nlauncher = [1]\n", "plan.toml: local.launcher: 1 is not a text"),
    (PLAN + "[run]\nRate = 1\n", "plan.toml: run.Rate: 'Rate' is not the name of an option"),
    (PLAN + '[parameters."5.1"]\nsizes = ["4 KiB"]\n', "'4 KiB' is not a size"),
    (PLAN + '[parameters."9.1"]\nbalancing = ["fair"]\n', "'fair' is not one of ecmp"),
    (PLAN + "[device]\nmodell = 'x'\n", "device.modell: there is no such key; did you mean model"),
])
def test_a_wrong_plan_names_the_key(plan_of, content, message):
    with pytest.raises(ReportError, match=re.escape(message)):
        plan_of(content)


def test_every_section_is_there_and_can_be_run_or_says_why_not(plan_of):
    numbers = [section.number for section in catalogue.SECTIONS if not section.document]
    assert numbers == sorted(set(numbers), key=lambda number: tuple(map(int, number.split("."))))
    assert ([len(list(group)) for _, group in itertools.groupby(numbers, lambda number: number.split(".")[0])]
            == [3, 7, 4, 4, 4, 3, 3, 2])
    assert ({section.number for section in catalogue.SECTIONS if not (section.measured and section.simulated)}
            == set(draft_suite.TESTS))
    plan = plan_of(PLAN)
    assert [section.number for section in plan_file.chosen(plan, (), "measurement")] == [
        "5.1", "7.2", "9.1", "9.2", "9.3", "9.4", "10.1", "12.1"]
    with pytest.raises(ReportError,
                       match="6.1 UET throughput by transport service cannot be run here: needs NICs of UEC 1.0"):
        plan_file.chosen(plan, ("6.1",), "simulation")
    with pytest.raises(ReportError,
                       match=r"plan.toml: tests.only: 8.1 ECMP entropy and polarization cannot be run here"):
        plan_file.chosen(plan_of(PLAN + '[tests]\nonly = ["8.1"]\n'), (), "measurement")
    lines = draft_suite.list_lines({"5.3": "a while"})
    assert "      takes a while" in lines
    assert sum(line.startswith("      measured: ") for line in lines) == len(catalogue.SECTIONS)


def test_arithmetic_agrees_with_counting():
    for balls, bins in ((3, 3), (4, 2), (5, 3)):
        ways = [[thrown.count(place) for place in range(bins)]
                for thrown in itertools.product(range(bins), repeat=balls)]
        assert arithmetic.expected_most(balls, bins) == pytest.approx(sum(map(max, ways)) / len(ways))
        jain = [balls**2 / (bins * sum(count * count for count in way)) for way in ways]
        assert arithmetic.expected_jain(balls, bins) == pytest.approx(sum(jain) / len(jain))
    most = arithmetic.EXACT_BALLS
    # the bound beside the exact value
    assert arithmetic.expected_jain(most, 4) == pytest.approx(most / (most + 3), rel=0.01)
    assert arithmetic.burst_bytes(8e6, 8, ROCE) == pytest.approx(1.12e6, rel=0.001)
    assert arithmetic.payload_rate(100e9, 256, ROCE) == pytest.approx(75.74e9, rel=0.001)


@pytest.mark.parametrize("flows, published_s", [(2, 0.097), (4, 0.064), (10, 0.036), (64, 0.0125)])
def test_dcqcn_bound_is_the_published_one(flows, published_s):
    assert arithmetic.dcqcn_bound_s(40e9, flows, 40e6, 200e3, 55e-6, 1 / 256) == pytest.approx(published_s, rel=0.01)


def test_a_step_is_a_sweep_file(plan_of, tmp_path):
    setup = Setup(plan_of(PLAN + '[environment]\nUCX_TLS = "rc"\n[local]\nlauncher = "mpirun \\"x\\""\n'),
                  catalogue.BY_NUMBER["5.3"], "simulation", True, None)
    step = Step("s", {"policy": "none", "duration": "1ms"},
                {"case": [{"name": "2:1", "slots": 2, "simulate": setup.simulation("pfc.on=true")}]}, 2)
    (tmp_path / "s.toml").write_text(sweep_text(step, setup))
    sweep = read_sweep_file(tmp_path / "s.toml")
    value = sweep.axes[0].values[0]
    assert value.name == "2:1" and ("slots", "2") in value.options
    assert [text for key, text in value.simulate if key == "switch-set"] == ["topology.hosts=8", "pfc.on=true"]
    with pytest.raises(ReportError, match="run.duration: 5.3 sets it itself; leave it out"):
        sweep_text(step, Setup(plan_of(PLAN + '[run]\nduration = "1s"\n'), catalogue.BY_NUMBER["5.3"], "simulation",
                               True, None))
    assert 'idle' in sweep_text(step, Setup(plan_of(PLAN + '[run]\nidle = "nap"\n'), catalogue.BY_NUMBER["5.3"],
                                            "simulation", True, None))
    simulation = Setup(plan_of(PLAN + "[classes]\ndata = 4\n"), catalogue.BY_NUMBER["5.3"], "simulation", True,
                       None).simulation("pfc.on=true")
    assert simulation["switch-set"] == ["topology.hosts=8", "classes.data=4", "pfc.on=true"]
    assert dict(sweep.environment) == {"UCX_TLS": "rc"}
    assert dict(sweep.tags) == {"bmwg": "5.3"} and sweep.repetitions == 2


def test_variation():
    assert variation([1.0]) is None and variation([]) is None and variation([2.0, 2.0]) == 0.0
    assert variation([1.0, 3.0]) == pytest.approx(2**0.5 / 2.0)


@pytest.fixture
def submission(plan_of):
    """The record of a suite in which 7.2 was run, with a column that nobody observed."""
    plan = plan_of(PLAN + '[device]\nvendor = "<b>me</b>"\n')
    section = catalogue.BY_NUMBER["7.2"]
    table = Table("Pauses", (Column("incast", "", SETTING), Column("pauses", "/s", "nic"),
                             Column("throughput", "b/s", HOST)), (("2:1", None, 9e9), ("4:1", None, 9e9)))
    outcome = Outcome((table,), (Primary("throughput", "b/s", HOST, {"2:1": [9e9, 9e9], "4:1": [5e9, 9e9]}),),
                      anomalies=("A port is dark.",))
    accounting = draft_suite.Accounting(tried=5, counted=4, left_out=[("incast, run 3", "a cable was pulled")], steps=1,
                                        verdicts={"sustained": 4})
    done = draft_suite.Finished(section, Setup(plan, section, "slurm", True, None), "done", "", outcome, accounting)
    return submission_record.make(plan, "slurm", True, None, [done])


def test_a_report_has_ten_sections_and_says_what_is_missing(submission):
    assert set(submission_record.SECTIONS) <= set(submission) and len(submission_record.SECTIONS) == 10
    assert set(submission["observation_points"]["points"]) == set(POINTS)
    shown = submission_page.page_text(submission, "footer")
    for number, title in enumerate(("Device under test", "Topology", "Configuration", "Observation points", "Hosts",
                                    "Results", "Deviations and anomalies", "Trial accounting", "Repeatability",
                                    "Comparability"), 1):
        assert f"<h2>{number}. {title}</h2>" in shown
    assert "&lt;b&gt;me&lt;/b&gt;" in shown and "<b>me</b>" not in shown
    assert "a cable was pulled" in shown and "A port is dark." in shown and "not the draft's: sustained 4." in shown
    for section in catalogue.SECTIONS:
        assert f"{section.number} {section.title}" in shown


def test_check_names_what_a_report_lacks(submission):
    found = "\n".join(submission_reader.lacks(submission))
    for lacking in ("device: model is not given", "hosts: nic is not given", "topology: neither drawn",
                    "configuration: settings of the switches",
                    "5.1 Baseline throughput: not run", "6.1 UET throughput by transport service: cannot, needs NICs",
                    "7.2 PFC behavior under incast: senders: not 16, 32, 64",
                    "7.2 PFC behavior under incast: Pauses: pauses was not observed",
                    "7.2: throughput, 4:1: the coefficient of variation is 40 %"):
        assert lacking in found
    assert "device: vendor" not in found and "repetitions" not in found and "throughput, 2:1" not in found
    del submission["trials"]
    assert "section trials: missing" in submission_reader.lacks(submission)
    del submission["results"][0]["state"]
    with pytest.raises(ReportError, match="damaged"):
        submission_reader.lacks(submission)


def test_check_refuses_what_is_no_submission(tmp_path):
    with pytest.raises(ReportError, match="no such file"):
        submission_reader.read(tmp_path)
    for content in ("{", '{"schema": "weir-run/1"}', "[]"):
        (tmp_path / "submission.json").write_text(content)
        with pytest.raises(ReportError, match="expected"):
            submission_reader.read(tmp_path)


def test_a_ratio_is_formed_only_where_all_is_equal(submission):
    other = copy.deepcopy(submission)
    for row in other["repeatability"]:
        row["mean"] /= 2.0
    printed = "\n".join(submission_reader.compared(("one", "two"), submission, other))
    assert "not equal" not in printed and re.search(r"7\.2 +throughput +2:1 +9 Gb/s +2 +4\.5 Gb/s +2 +0\.5", printed)
    other["comparability"]["hosts"] = 16
    printed = "\n".join(submission_reader.compared(("one", "two"), submission, other))
    assert "not equal: hosts: A 8, B 16" in printed and "no single figure" in printed
    assert re.search(r"7\.2 +throughput +2:1 +9 Gb/s +2 +4\.5 Gb/s +2 +-$", printed, re.MULTILINE)


def test_figures_of_other_observation_points_or_parameters_are_not_set_against_each_other(submission):
    other = copy.deepcopy(submission)
    other["repeatability"][0]["point"] = "nic"
    printed = "\n".join(submission_reader.compared(("one", "two"), submission, other))
    assert "2:1" not in printed and "only in A: settings of 7.2" in printed
    other = copy.deepcopy(submission)
    done = next(result for result in other["results"] if result["section"] == "7.2")
    done["parameters"]["seconds"]["used"] = [9.0]
    assert re.search(r"4:1 .* -$", "\n".join(submission_reader.compared(("one", "two"), submission, other)),
                     re.MULTILINE)
    del other["document"]
    with pytest.raises(ReportError, match="one, two: damaged"):
        submission_reader.compared(("one", "two"), submission, other)


def test_measured_throughput_has_queue_pairs_with_engine_ucx(plan_of):
    def cases(content):
        setup = Setup(plan_of(PLAN + '[parameters."5.1"]\nsizes = "1MiB"\n' + content), catalogue.BY_NUMBER["5.1"],
                      "slurm", True, None)
        return next(draft_suite.TESTS["5.1"](setup)).axes["case"]

    assert ([(case["name"], case.get("queue-pairs"), case["producers"]) for case in cases("")]
            == [("1MiB Q=1 one", None, 4)])
    assert [(case["name"], case["queue-pairs"]) for case in cases('[run]\nengine = "ucx"\n')] == [
        ("1MiB Q=1 one", "1"), ("1MiB Q=4 one", "4")]
    assert all("simulate" not in case for case in cases(""))


def test_a_list_has_what_is_chosen_and_what_it_needs(plan_of, monkeypatch, capsys):
    monkeypatch.setenv("WEIR", "/nowhere")  # nothing is run; no time is known then

    def listed(content, *words):
        assert bmwg_command.run(
            sweep_command.parser().parse_args(["bmwg", "--list", "--quick", str(plan_of(content).path), *words])) == 0
        return re.findall(r"^(\S+) +[A-Z0-9]", capsys.readouterr().out, re.MULTILINE)
    assert listed(PLAN, "--only", "9.4") == listed(PLAN + '[tests]\nonly = ["9.4"]\n') == ["9.1", "9.2", "9.3", "9.4"]
    assert listed(PLAN) == [section.number for section in catalogue.SECTIONS]


def test_a_damaged_suite_and_words_without_effect_are_refused(plan_of, tmp_path):
    plan = plan_of(PLAN)
    for content in ("{bad", "[]"):
        (tmp_path / "suite.json").write_text(content)
        with pytest.raises(ReportError, match="suite.json: damaged"):
            draft_suite.Suite(plan, "local", False, tmp_path, print).begin()
    for words, message in ((["--only", ""], "names no section"), (["--list", "--only", "7.2"], "goes with a plan")):
        given = words if "--list" in words else [str(plan.path), *words]
        with pytest.raises(ReportError, match=message):
            bmwg_command.run(sweep_command.parser().parse_args(["bmwg", *given]))
