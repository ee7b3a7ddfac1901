"""weir-sweep switch-import and inputs that are cut, foreign, contradictory or mean: a line or a list of what is odd,
never a traceback, and no secret in any output."""

import contextlib
import io
import json
import random
import time
from types import SimpleNamespace

import pytest
from switch_configurations import EOS, LOOKUP, NVUE, SONIC, sonic, written
from weir_suites.switches import switch_import_command

from weir_runs.basics.errors import ReportError

SECRETS = {"SNMP_COMMUNITY": {"hidden": {"TYPE": "RO"}}, "TACPLUS_SERVER": {"10.0.0.9": {"passkey": "hidden"}},
           "DEVICE_METADATA": {"localhost": {"hwsku": "Force10-S6100", "hostname": "hidden", "password": "hidden"}},
           "PORT": {"Ethernet0": {"speed": "100000", "description": "hidden"}}, "USER": {"hidden": {"hash": "hidden"}}}
TEXTS = [json.dumps(sonic(SECRETS)), EOS, json.dumps(NVUE), LOOKUP]
VALUES = [None, True, -1, 1e308, "", "0", "-5", "3-4", "7-1", "x", "nan", [], {}, {"a": {}}, ["x"], "NULL", "|",
          "\u202e", "99", "9999999999999999", "99999999999999999999", 10**30,
          "9" * 400 + "m", "pg_lossless_" + "9" * 400 + "_1..m_profile"]
KEYS = ["Ethernet0,Ethernet4|3-4", "x|y|z|3", "9", "0-7", "|", "", "swp1-9999", "localhost", "asic0"]


def run(*paths, audit=False, dscp=26):
    """What is printed, or the one line of a refusal."""
    out = io.StringIO()
    options = SimpleNamespace(files=list(paths), port=None, dscp=dscp, audit=audit, json=audit)
    try:
        with contextlib.redirect_stdout(out):
            switch_import_command.run(options)
    except ReportError as error:
        assert "\n" not in str(error)
        return str(error)
    return out.getvalue()


def changed(tree, draw):
    """The tree with something else in one place."""
    node = tree
    for _ in range(draw.randrange(1, 7)):
        inner = [each for each in (node.values() if isinstance(node, dict) else node) if isinstance(each, (dict, list))]
        if not inner:
            break
        node = draw.choice(inner)
    if not node:
        return
    place = draw.choice(list(node) if isinstance(node, dict) else range(len(node)))
    if draw.random() < 0.2:
        del node[place]
    elif draw.random() < 0.3 and isinstance(node, dict):
        node[draw.choice(KEYS)] = node[place]
    else:
        node[place] = draw.choice(VALUES)


def mutated(text, draw):
    kind = draw.randrange(3)
    if kind == 0:
        return text[:draw.randrange(len(text))]
    if kind == 1 and text[0] in "{[":
        tree = json.loads(text)
        for _ in range(draw.randrange(1, 6)):
            changed(tree, draw)
        return json.dumps(tree)
    lines = text.splitlines(keepends=True)
    for _ in range(draw.randrange(1, 9)):
        at = draw.randrange(len(lines))
        lines[at] = draw.choice(["", " ", "      ", lines[at][:9] + "\n"]) + draw.choice([
            lines[at].strip() + "\n", draw.choice(lines), lines[at].replace(draw.choice("0123456789"), "9" * 400)])
    return "".join(lines)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_read_there_is_no_traceback_and_no_secret(tmp_path, seed):
    draw = random.Random(seed)
    refused = 0
    for _ in range(250):
        files = [written(tmp_path / str(number), mutated(draw.choice(TEXTS), draw)) for number in range(2)]
        for audit in (False, True):
            said = run(*files[:draw.randrange(1, 3)], audit=audit, dscp=draw.choice([0, 3, 26, 48]))
            assert "hidden" not in said
            refused += said.count("\n") == 0
    assert 50 < refused < 450


@pytest.mark.parametrize("table, key, value", [
    ("BUFFER_PROFILE", "dynamic_th", "99"), ("BUFFER_PROFILE", "dynamic_th", "-9"), ("BUFFER_PROFILE", "size", "-1"),
    ("BUFFER_PROFILE", "xoff", "9" * 20), ("BUFFER_POOL", "size", "1e9")])
def test_numbers_that_no_switch_has_are_refused_with_their_place(tmp_path, table, key, value):
    document = json.loads(json.dumps(SONIC))
    name = next(iter(document[table]))
    document[table][name][key] = value
    said = run(written(tmp_path / "c", document))
    assert said.startswith(f"c: {table}|{name} {key}: a whole number from ") and value not in said


def test_entries_that_are_no_numbers_are_listed(tmp_path):
    document = sonic({"DSCP_TO_TC_MAP": {"AZURE": {**SONIC["DSCP_TO_TC_MAP"]["AZURE"], "5": None, "x": "3"}}})
    assert "not understood: DSCP_TO_TC_MAP|AZURE: an entry that is no number" in run(written(tmp_path / "c", document))
    assert "2:2: whole numbers are expected beside the cable" in run(
        written(tmp_path / "1", SONIC), written(tmp_path / "2", LOOKUP.replace("59696", "59k").replace("#", "", 1)
                                                .split("\n", 1)[1]))
    beyond = json.loads(json.dumps(NVUE))
    beyond[1]["set"]["qos"]["egress-queue-mapping"]["default-global"]["switch-priority"] = {"12": {}, "3": {}}
    beyond[1]["set"]["qos"]["mapping"]["ROCE"]["dscp"] = {"99": {}}
    assert "data = 3" in run(written(tmp_path / "b", beyond))
    with_alpha = json.loads(json.dumps(NVUE))
    with_alpha[1]["set"]["qos"]["advance-buffer-config"]["default-global"]["ingress-lossless-buffer"] = {
        "shared-alpha": "alpha_99999"}
    assert "is not from 0.001 to 1000" in run(written(tmp_path / "n", with_alpha))


def test_a_long_line_takes_no_long_time(tmp_path):
    begun = time.process_time()
    assert "not known" in run(written(tmp_path / "c", "9" * 1000000))
    named = json.dumps(SONIC).replace("Ethernet12", "Ethernet" + "1" * 5000)
    assert "Port: Ethernet0 and 3 like it" in run(written(tmp_path / "s", named))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("family", ["EOS", "NVUE"])
def test_64k_ports_of_other_families(tmp_path, family):
    if family == "EOS":
        ports = "".join(f"interface Ethernet{number // 64 + 1}/{number % 64 + 1}\n   service-profile ROCE\n!\n"
                        for number in range(65536))
        text = EOS.split("interface Ethernet1/1")[0] + ports
    else:
        text = json.loads(json.dumps(NVUE))
        text[1]["set"]["interface"] = {f"swp{number}s{lane}": {} for number in range(1, 8193) for lane in range(8)}
    begun = time.process_time()
    assert "and 65535 like it" in run(written(tmp_path / "c", text))
    assert time.process_time() - begun < 30
