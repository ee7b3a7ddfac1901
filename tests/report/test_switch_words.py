"""What weir-sweep tune proposes, in the words of the switch: typed there and imported again, it is the proposed switch
file, and what goes back makes the present one."""

import copy
import json
import re
import shlex
from types import SimpleNamespace

import pytest
from switch_configurations import EOS, LOOKUP, NVUE, SONIC, sonic, with_field, written
from tune_cases import PLAN, found_of

from weir_runs.basics import toml_file
from weir_runs.basics.errors import ReportError
from weir_suites import sweep_actions
from weir_suites.switches import proposal_audit, switch_import_command, switch_words
from weir_suites.switches.switch_words import of_change
from weir_suites.tune import (axes as tune_axes, campaigns, candidate_search, tune_command, tune_file, tune_record,
                              tune_text)


@pytest.fixture
def imported(tmp_path, capsys):
    """The switch file of configurations."""
    def run(*documents):
        files = [written(tmp_path / f"{number}.txt", document) for number, document in enumerate(documents)]
        assert switch_import_command.run(SimpleNamespace(files=files, dscp=26, port=None, audit=False, json=False)) == 0
        return capsys.readouterr().out
    return run


def keys(text):
    return {f"{section}.{name}": value for section, table in toml_file.parse("it", text).items()
            if isinstance(table, dict) for name, value in table.items()}


def patched(document, patch):
    """As RFC 6902 has it, of paths of three names."""
    made = copy.deepcopy(document)
    for one in patch:
        table, key, name = (part.replace("~1", "/").replace("~0", "~") for part in one["path"][1:].split("/"))
        assert (name in made[table][key]) == (one["op"] != "add")
        if one["op"] == "remove":
            del made[table][key][name]
        else:
            made[table][key][name] = one["value"]
    return made


def set_by_nvue(document, lines):
    made = copy.deepcopy(document)
    for line in lines[:-1]:
        here = made[1]["set"]
        *path, name, value = line.split()[2:] + [""] * line.startswith("nv unset ")
        for part in path:
            here = here.setdefault(part, {})
        here.pop(name, None) if line.startswith("nv unset qos ") else here.update(
            {name: int(value) if value.isdigit() else value})
    assert lines[-1] == "nv config apply"
    return made


def set_by_eos(text, lines):
    """The last line replaces the one of its kind in the block that the others lead to."""
    block, queue, line = lines
    before, begin, after = text.partition(f"\n{block}\n")
    head, at_queue, rest = after.partition(f"\n{queue}\n")
    assert begin and at_queue
    return before + begin + head + at_queue + re.sub(r"      random-detect ecn minimum.*", line, rest, count=1)


FASTER = {"ecn.none-below": "50kB", "ecn.all-above": "400kB", "ecn.probability": "0.2"}
PROPOSED = {"ecn.none-below": "50000B", "ecn.all-above": "400000B", "ecn.probability": 0.2}
BUFFERS = {**FASTER, "switch.ingress-alpha": "2", "switch.egress-alpha": "0.25", "switch.headroom": "96kB",
           "switch.resume-offset": "4kB"}
OF_BUFFERS = {**PROPOSED, "switch.ingress-alpha": 2, "switch.egress-alpha": 0.25, "switch.headroom": "96000B",
              "switch.resume-offset": "4000B"}


@pytest.mark.parametrize("document", [SONIC, sonic({"WRED_PROFILE": {"ROCE": {
    name: value for name, value in SONIC["WRED_PROFILE"]["ROCE"].items() if name != "green_drop_probability"}}})])
def test_sonic(imported, document):
    before = imported(document)
    words = of_change(before, BUFFERS)
    assert words.family == "SONiC" and not words.unwritten and not words.apply  # ecnconfig knows no buffers
    after = patched(document, words.patch)
    assert keys(imported(after)) == {**keys(before), **OF_BUFFERS}
    assert patched(after, words.patch_back) == document
    line, = words.sides[0][1]
    assert json.loads(line.partition("'")[2].partition("'")[0]) == words.patch


def test_ecnconfig_where_it_does_all(imported):
    words = of_change(imported(SONIC), FASTER)
    assert words.apply == ["sudo ecnconfig -p ROCE -gmin 50000 -gmax 400000 -gdrop 20"]
    assert words.back == ["sudo ecnconfig -p ROCE -gmin 150000 -gmax 1500000 -gdrop 5"]


@pytest.mark.parametrize("speed", ["400000", "25000", "10000"])
def test_headroom_of_ports_of_other_speeds(imported, speed):
    document = sonic({"PORT": {port: {"speed": speed} for port in SONIC["PORT"]}})
    before = imported(document)
    words = of_change(before, {"switch.headroom": "200kB"})
    after = patched(document, words.patch)
    assert int(keys(imported(after))["switch.headroom"][:-1]) == pytest.approx(200000, abs=4)
    assert patched(after, words.patch_back) == document


def test_names_are_one_word_for_the_shell(imported):
    name = "R'O/CE $(reboot);x"
    document = sonic({"WRED_PROFILE": {"ROCE": None, name: SONIC["WRED_PROFILE"]["ROCE"]}})
    for queue in document["QUEUE"].values():
        if "wred_profile" in queue:
            queue["wred_profile"] = name
    words = of_change(imported(document), {"ecn.none-below": "200kB"})
    (_, (patch, _, line)), _ = words.sides
    assert json.loads(shlex.split(patch)[1]) == words.patch and patched(document, words.patch)
    assert shlex.split(line)[:4] == ["sudo", "ecnconfig", "-p", name]


def test_nvue(imported):
    before = imported(NVUE)
    words = of_change(before, {**FASTER, "switch.ingress-alpha": "0.5", "switch.egress-alpha": "2"})
    after = set_by_nvue(NVUE, words.apply)
    assert keys(imported(after)) == {**keys(before), **PROPOSED, "switch.ingress-alpha": 0.5, "switch.egress-alpha": 2}
    assert keys(imported(set_by_nvue(after, words.back))) == keys(before) and not words.unwritten


def test_nvue_of_defaults_of_roce(imported):
    document = [{"header": {}}, {"set": {"interface": {"swp1-2": {}}, "qos": {"roce": {"mode": "lossless"}}}}]
    before = imported(document)
    words = of_change(before, FASTER)
    assert words.apply[0] == "nv set qos congestion-control default-global traffic-class 3 min-threshold 50000"
    after = set_by_nvue(document, words.apply)
    assert keys(imported(after)) == {**keys(before), **PROPOSED} and not words.unwritten
    assert words.back[0] == "nv unset qos congestion-control default-global traffic-class 3 min-threshold"
    assert keys(imported(set_by_nvue(after, words.back))) == keys(before)


def test_eos(imported):
    before = imported(EOS)
    words = of_change(before, FASTER)
    assert words.apply == ["qos profile ROCE", "   uc-tx-queue 3",
                           "      random-detect ecn minimum-threshold 50000 bytes maximum-threshold 400000 bytes "
                           "max-mark-probability 20 weight 0"]
    after = set_by_eos(EOS, words.apply)
    assert keys(imported(after)) == {**keys(before), **PROPOSED}
    assert set_by_eos(after, words.back) == EOS


@pytest.mark.parametrize("documents, values, why", [
    ([SONIC], {"switch.ingress-alpha": "3"}, "the switch takes powers of two; a list of them as the axis"),
    ([SONIC], {"ecn.probability": "0.125"}, "12.5 %; the switch takes whole percents"),
    ([SONIC], {"dcqcn.alpha-timer": "55us"}, "the configuration did not have it"),
    ([SONIC], {"switch.pool": "20MB"}, "weir does not write size: other settings follow from it"),
    ([SONIC], {"watchdog.detection": "300ms"}, "each port has its own; pfcwd start sets them"),
    ([sonic({"BUFFER_PG": {key: None for key in SONIC["BUFFER_PG"]}}), LOOKUP], {"switch.headroom": "90kB"},
     "it stands in pg_profile_lookup.ini"),
    ([NVUE], {"watchdog.detection": "2s"}, "weir does not write interface swp1 qos pfc-watchdog"),
    ([EOS], {"ecn.none-below": "900MB"}, "the switch takes 1 to 256000000 bytes"),
    ([EOS], {"watchdog.detection": "2s"}, "weir writes the numbers of random-detect ecn only")])
def test_what_has_no_words_is_said(imported, documents, values, why):
    words = of_change(imported(*documents), values)
    (named, said), = words.unwritten
    assert named == "=".join(*values.items()) and said.startswith(why)
    assert not words.patch and not words.apply and not words.sides and len(words.notes) == 1


def test_what_does_not_change_has_no_words_and_a_file_of_ones_own_neither(imported):
    before = imported(with_field("WRED_PROFILE", "ROCE", green_min_threshold="50000"))
    words = of_change(before, {"ecn.none-below": "50kB", "switch.ingress-alpha": "0.125", "pfc.on": "true"})
    assert not words.sides and not words.notes
    assert switch_words.of_change('base = "shallow"\n[ecn]\nnone-below = "50kB"\n', FASTER) is None


def test_what_the_configuration_lacks_is_said(imported):
    assert switch_words.assumed(imported(SONIC)) == "cell, slices: not in the configuration, so simulated as in the " \
        "built-in switch shallow"
    text = imported(EOS)
    assert switch_words.assumed(text).startswith("cell, slices, pool, ingress-alpha, headroom, resume-offset, egress-")
    assert "pool" not in switch_words.assumed(text.replace("\n[switch]\n", '\n[switch]\npool = "32MB"\n'))
    assert switch_words.assumed(text.partition("\n")[2]) == ""


def test_what_the_configuration_lacks_is_said_of_simulated_runs(imported, tmp_path):
    (tmp_path / "mine.toml").write_text(imported(EOS))
    campaign = SimpleNamespace(plan=SimpleNamespace(file=str(tmp_path / "plan.toml")))

    def said(world, switch):
        return sweep_actions._assumed(campaign, [SimpleNamespace(world=world, plan={"switch": switch})] * 2)

    assert said("simulation", "mine.toml").startswith("\nassumed              cell, slices, pool, ingress-alpha, ")
    assert said("measurement", "mine.toml") == said("simulation", "shallow") == said("simulation", "") == ""


def test_what_tune_writes_has_them(weir, imported, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WEIR", weir)
    (tmp_path / "mine.toml").write_text(imported(SONIC))
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace('network = "packet"', 'network = "packet"\nswitch = "mine.toml"')
                    + '[tune.axes]\n"ecn.none-below" = { from = "10kB", to = "1MB", scale = "log" }\n')
    axes = (tune_axes.of_range("ecn.none-below", "10kB", "1MB", True),)
    found = found_of(finalists=[(50000.0,)], facts=[("switch", "mine.toml with PFC, ECN")])
    found.axes, found.present, found.history = axes, (150000.0,), [
        candidate_search.Trial((150000.0,), 1, 0.0), candidate_search.Trial((50000.0,), 1, -0.7)]
    tune = tune_file.read(path)
    made = SimpleNamespace(tune=tune, directory=tmp_path / "plan", campaigns=campaigns.Campaigns(tune, tmp_path, print))
    made.directory.mkdir()
    tune_command._write(made, found)
    typed = "sudo ecnconfig -p ROCE -gmin 50000"
    said, page = capsys.readouterr().out, (tmp_path / "plan/tune.html").read_text()
    assert f"\n{'':23}{typed}\n" in said and "sudo ecnconfig -p ROCE -gmin 150000\n" in said
    assert said.startswith("\nUse the proposal     ecn.none-below=50kB (Kmin) instead of 150kB: longest delivery time")
    assert typed in page and "mine.toml with PFC, ECN" in page and "<b>Do:</b> Fill in on-change" in page
    assert "ecn.none-below (Kmin)" in page
    assert json.loads((tmp_path / "plan/tune.json").read_text())["words"]["patch"] == [
        {"op": "replace", "path": "/WRED_PROFILE/ROCE/green_min_threshold", "value": "50000"}]
    confirming = (tmp_path / "plan-confirm.toml").read_text()
    assert f"#   {typed}\n" in confirming and toml_file.parse("it", confirming)["switch"]["settings"]
    (tmp_path / "plan-confirm.toml").unlink()
    found.sustained = (0, 0)  # no commands where neither setting carries the load
    tune_command._write(made, found)
    said = capsys.readouterr().out
    assert "ecnconfig" not in said and "Do                   Lower the load" in said
    assert not (tmp_path / "plan-confirm.toml").exists()
    found.chosen, found.sustained = None, None
    tune_command._write(made, found)
    assert "Keep the present setting" in capsys.readouterr().out


def tune_of(tmp_path, switch, more=""):
    (tmp_path / "mine.toml").write_text(switch)
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace('network = "packet"', 'network = "packet"\nswitch = "mine.toml"')
                    + f'[tune.axes]\n"ecn.none-below" = {{ from = "10kB", to = "1MB" }}\n{more}')
    return tune_file.read(path)


def test_an_axis_whose_present_value_was_not_read_is_refused(imported, tmp_path):
    segments = EOS.replace("150 kbytes maximum-threshold 2 mbytes", "2000 segments maximum-threshold 9000 segments")
    with pytest.raises(ReportError, match="tune.axes.ecn.none-below: its present value was not read from the "
                                          "configuration: line .* thresholds in segments are not read"):
        tune_command._refuse_unread(tune_of(tmp_path, imported(segments)))
    for switch, more in ((EOS, ""), (SONIC, ""), (segments, '[tune.present]\n"ecn.none-below" = "160kB"\n')):
        tune_command._refuse_unread(tune_of(tmp_path, imported(switch), more))
    own = imported(segments).replace("\n[ecn]\n", '\n[ecn]\nnone-below = "160kB"\n')  # as somebody who knows adds it
    tune_command._refuse_unread(tune_of(tmp_path, own))


def test_whose_the_lines_are_is_said(imported):
    def notes(document):
        return of_change(imported(document), {"ecn.none-below": "50kB"}).notes

    assert notes(SONIC)[0] == notes(EOS)[0] == "a profile is that of all ports and queues that name it"
    queue = EOS[EOS.index("   uc-tx-queue 3"):EOS.index("   uc-tx-queue 6")]
    of_interface = EOS.replace("interface Ethernet1/1\n", "interface Ethernet1/1\n" + queue)
    assert notes(of_interface)[0].startswith("these lines are of interface Ethernet1/1 alone: ")
    roce = [{"set": {"interface": {"swp1": {}}, "qos": {"roce": {"mode": "lossless"}}}}]
    assert notes(roce)[0] == "default-global is that of all ports that name no profile"


IN_FORCE = {"switch": {"pool": "14716KiB", "headroom-pool": "4.194112MB", "slices": "4", "ingress-alpha": "1",
                       "ingress-threshold": "0B", "headroom": "59.696kB"}, "pfc": {"on": "true"},
            "ecn": {"on": "true", "none-below": "100kB", "all-above": "400kB", "probability": "0.2"},
            "classes": {"data": "3", "cnp": "6"}, "topology": {"host-delay": "200ns"}}


@pytest.mark.parametrize("section, changed, hosts, found", [
    ("ecn", {"none-below": "800kB"}, (6, 2), {}),
    ("ecn", {"none-below": "1.6MB"}, (6, 2), {"ecn-after-pfc": "warning"}),
    ("ecn", {"none-below": "1.6MB"}, (1, 1), {"ecn-after-pfc": "serious"}),
    ("ecn", {"none-below": "2.4MB"}, (6, 2), {"ecn-after-pfc": "serious"}),
    ("ecn", {"probability": "0.01"}, (6, 2), {"few-marks": "warning"}),
    ("ecn", {"on": "false"}, (6, 2), {"no-marks": "warning"}),
    ("switch", {"headroom": "5kB"}, (6, 2), {"headroom": "serious"}),
    ("switch", {"ingress-alpha": "0.03"}, (6, 2), {"ecn-after-pfc": "warning"})])
def test_what_the_audit_finds_new_in_a_proposal(section, changed, hosts, found):
    after = {**IN_FORCE, section: {**IN_FORCE[section], **changed}}
    new = proposal_audit.new_findings(IN_FORCE, after, hosts, "100Gb/s")
    assert {one.kind: one.severity for one in new} == found
    assert proposal_audit.new_findings(after, after, hosts, "100Gb/s") == []


def test_what_the_audit_finds_new_is_printed(tmp_path, imported):
    after = {**IN_FORCE, "ecn": {**IN_FORCE["ecn"], "none-below": "2.4MB"}}
    made = found_of(audited=proposal_audit.new_findings(IN_FORCE, after, (6, 2), "100Gb/s"))
    tune = tune_of(tmp_path, imported(SONIC))
    said = " ".join(" ".join(tune_text.answer_lines(tune, made)).split())
    assert "But the audit of the switch calls it serious: ECN cannot act before PFC: marks begin at 2.4 MB" in said
    assert "audit new with the proposal, serious: ECN cannot act before PFC" in said
    assert tune_record.make(tune, made)["audit"][0]["kind"] == "ecn-after-pfc"
    assert "audit" not in dict(tune_text.parts(found_of()))
    # By what the runs say of the plan.
    made = found_of(in_force=(IN_FORCE, after), plan={"resolved": {"producers": 6, "consumers": 2},
                                                      "consumer-link": "100Gb/s"})
    tune_command._add_words(tune, made)
    assert [one.kind for one in made.audited] == ["ecn-after-pfc"]
    for lacks in ({"plan": {}}, {"in_force": (IN_FORCE, None)}, {"chosen": None}):
        other = found_of(**{"in_force": (IN_FORCE, after), "plan": made.plan, **lacks})
        tune_command._add_words(tune, other)
        assert other.audited == []
