"""weir-sweep pack and all: what is in the archive, and that no name of the site is left in it."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from conftest import call_inside, script
from weir_suites import sweep_command
from weir_compare.sweep import pack_names
from weir_compare.sweep.campaign import Campaign
from weir_runs.basics import toml_file, whole_file
from weir_runs.basics.errors import ReportError

# In mpirun's place: launcher -np 5 WEIR run OPTIONS, or WEIR check OPTIONS.
LAUNCHER = """
weir=$3 what=$4
shift 4
if test $what = check; then cat check.json; exit 0; fi
exec $weir simulate "$@" --quiet"""
SWEEP = """# Written by alice; the switch is sw-leaf1 (10.20.30.40)
repetitions = 3
check = "1s"
[run]
producers = 2
consumers = 2
rate = "100Mb/s"
event-size = "1MiB"
duration = "1s"
warmup = "0s"
[switch]
settings = ["pfc", "ecn"]
on-change = "API_KEY=hunter4 echo \\"at /opt/daq/set-switch on eb01\\""
[environment]
MY_SECRET_TOKEN = "hunter2"
"API_KEY" = 'hunter3, "]} # no'
UCX_TLS = "tcp"
[slurm]
account = "lhcbonline"
partition = "normal"
setup = "module load secret-mpi"
[local]
launcher = ["./launcher"]
"""
CHECK = {"schema": "weir-check/1", "serious": 0, "warnings": 1,
         "findings": [{"severity": "warning", "topic": "cores", "hosts": ["eb01"], "what": "few", "advice": "more"}],
         "facts": [{"name": "GID",
                    "values": [{"value": "fe80:0000:0000:0000:ba59:9fff:fe12:3456", "hosts": ["eb01", "fn02"]},
                               {"value": "0000:0000:0000:0000:0000:ffff:0a14:0102", "hosts": ["fn02"]}]},
                   {"name": "MAC", "values": [{"value": "b8:59:9f:12:34:56", "hosts": ["eb01"]}]}]}
# What must not be in any file of an archive with other names.
SECRETS = ("eb01", "eb02", "fn02", "daq.example.org", "alice", "sw-leaf1", "10.20.30.40", "b8:59:9f", "9fff:fe12",
           "ffff:0a14", "lhcbonline", "hunter", "set-switch", "secret-mpi", "/nfs/", "example.org")


@pytest.fixture(scope="module")
def campaign(weir, tmp_path_factory):
    """A campaign that was run by `weir-sweep all --local`, and then made one of hosts with names."""
    directory = tmp_path_factory.mktemp("pack")
    (directory / "some.toml").write_text(SWEEP)
    (directory / "check.json").write_text(json.dumps(CHECK))
    script(directory / "launcher", LAUNCHER)
    said = call_inside("weir-sweep", "all", directory / "some.toml", "--local")
    assert "weir check: 0 serious findings, 1 warning; the first: few (more)" in said
    assert "packed   6 complete runs" in said
    for path in (directory / "some" / "local").glob("runs/*/run.json"):
        _of_site(path)
    return directory / "some"


def _of_site(path):
    """Gives a simulated run the hosts and variables of a measured one."""
    record = json.loads(path.read_text())
    for rank, host in zip(record["ranks"], ("eb01.daq.example.org", "eb02", "fn02", "fn02", "fn02")):
        rank["host"] = host
    (path.parent / "hosts").mkdir(exist_ok=True)
    (path.parent / "hosts" / "fn02.csv").write_text("second\n")
    record["verdict"]["text"] += " Producer 0 on EB01 was late."
    record["environment"]["variables"] = {
        "SLURM_JOB_NODELIST": "eb[01-02],fn02", "SLURM_JOB_ACCOUNT": "lhcbonline", "SLURM_JOB_USER": "alice",
        "SLURM_NTASKS": "5", "HOME": "/nfs/home/alice", "UCX_NET_DEVICES": "mlx5_0:1",
        "OMPI_MCA_if": "eb02,10.20.30.40"}
    record["environment"]["job"] = {"manager": "slurm", "account": "lhcbonline", "partition": "normal",
                                    "submitted_from": "eb01", "node_list": "eb[01-02],fn02", "nodes": 3, "parts": []}
    path.write_text(whole_file.json_text(record))


def packed(campaign, target, *words):
    assert sweep_command.main(["pack", str(campaign), "--archive", str(target), *words]) == 0
    with tarfile.open(target) as archive:
        assert {(entry.uid, entry.uname, entry.gname) for entry in archive} == {(0, "", "")}
    (target.parent / "out").mkdir()
    subprocess.run(["tar", "-xzf", str(target), "-C", str(target.parent / "out")], check=True, timeout=20)
    return target.parent / "out" / "some"


def files(directory):
    return {str(path.relative_to(directory)): path.read_text() for path in directory.rglob("*") if path.is_file()}


def test_an_archive_has_all_that_is_needed_and_is_a_campaign(campaign, tmp_path):
    directory = packed(campaign, tmp_path / "a.tar.gz")
    there = files(directory)
    assert {"plan.json", "sweep.toml", "table.csv", "comparison.html", "README.txt", "pack.json"} <= set(there)
    assert sum(name.endswith("run.json") for name in there) == 6
    assert sum("/check/" in name and name.endswith(".json") for name in there) == 2
    for line in there["SHA256SUMS"].splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((directory / name).read_bytes()).hexdigest() == digest
    assert json.loads(there["pack.json"])["versions"][0]["weir"]
    assert "eb01.daq.example.org" in there["local/runs/0001-switch=pfc-r1/run.json"]
    before = there["table.csv"]
    assert sweep_command.main(["collect", str(directory), "--quiet"]) == 0
    columns = [[{name: value for name, value in row.items() if name != "run_directory"}
                for row in csv.DictReader(text.splitlines())]
               for text in (before, (directory / "table.csv").read_text())]
    assert columns[0] == columns[1] and len(columns[0]) == 6


def test_no_name_is_left_and_equal_names_stay_equal(campaign, tmp_path, capsys):
    directory = packed(campaign, tmp_path / "a.tar.gz", "--replace-names", "--replace", "alice",
                       "--replace", "sw-leaf1")
    assert "none of them is left" in capsys.readouterr().out
    secrets = (*SECRETS, str(campaign.parent), os.uname().nodename)
    for name, text in files(directory).items():
        for secret in () if name == "SHA256SUMS" else secrets:
            assert secret.lower() not in name.lower(), name
            assert secret.lower() not in text.lower(), f"{secret} in {name}"
    record = json.loads((directory / "local/runs/0001-switch=pfc-r1/run.json").read_text())
    hosts = [rank["host"] for rank in record["ranks"]]
    assert len(set(hosts)) == 3 and hosts[2] == hosts[3] == hosts[4]
    variables = record["environment"]["variables"]
    assert variables["SLURM_JOB_NODELIST"] == "removed" and variables["SLURM_NTASKS"] == "5"
    assert variables["UCX_NET_DEVICES"] == "mlx5_0:1"
    assert f"Producer 0 on {hosts[0]} was late" in record["verdict"]["text"]
    assert variables["OMPI_MCA_if"].startswith(hosts[1] + ",ip-")
    assert 'partition = "removed"' in (directory / "sweep.toml").read_text()
    assert 'UCX_TLS = "tcp"' in (directory / "sweep.toml").read_text()
    assert json.loads((directory / "plan.json").read_text())["settings"][0]["environment"] == {
        "MY_SECRET_TOKEN": "removed", "API_KEY": "removed", "UCX_TLS": "tcp"}
    with open(tmp_path / "a.tar.gz.names.csv", encoding="utf-8") as table:
        assert {"replacement": hosts[2], "name": "fn02"} in list(csv.DictReader(table))
    assert Campaign(directory).read_plan().name == "some"


def test_nothing_is_packed_while_a_name_is_left(campaign, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pack_names.Names, "replaced", lambda self, text: text)
    assert sweep_command.main(["pack", str(campaign), "--archive", str(tmp_path / "a.tar.gz"), "--replace-names"]) == 2
    assert "nothing was packed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_packed_is_refused(campaign, tmp_path, capsys):
    for words, message in (([str(campaign), "--replace", "x"], "only with --replace-names"),
                           ([str(campaign), "--replace-names", "--replace", "producer"], "a word of weir's own files"),
                           ([str(tmp_path)], "no campaign was started here")):
        assert sweep_command.main(["pack", "--archive", str(tmp_path / "a.tar.gz"), *words]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "a.tar.gz").exists()


def test_a_job_with_several_groups_is_not_packed_and_not_collected(campaign, tmp_path, capsys):
    copy = Path(shutil.copytree(campaign, tmp_path / "some"))
    path = sorted((copy / "local").glob("runs/*/run.json"))[0]
    path.write_text(whole_file.json_text({**json.loads(path.read_text()), "schema": "weir-groups/1"}))
    message = f"{path}: it is the record of a job with several groups"
    assert sweep_command.main(["pack", str(copy), "--archive", str(tmp_path / "a.tar.gz")]) == 2
    assert message in capsys.readouterr().err
    assert sweep_command.main(["collect", str(copy)]) == 0
    printed = capsys.readouterr()
    assert f"Left out: {message}" in " ".join((printed.out + printed.err).split())


@pytest.mark.parametrize("text, expected", [
    ("on eb01 and eb01.daq.org at daq.org, not web01 or eb011", "on host-1 and host-1 at domain-1, not web01 or eb011"),
    ("EB01: eb[01-03,7]", "host-1: hosts"),
    ("at 22:26:52, 4.1.4, 1/100, Gb/s, https://x.org/a/b", "at 22:26:52, 4.1.4, 1/100, Gb/s, https://x.org/a/b"),
    ("10.0.0.1 fe80::1:2 0xb8599f0003123456", "ip-2 ip-1 guid-1"),
    ("/home/u/x and /usr/lib/x", "/path-1 and /usr/lib/x")])
def test_words_and_forms(text, expected):
    names = pack_names.Names()
    names.add("host", "eb01.daq.org")
    names.add_forms(text)
    assert names.replaced(text) == expected
    assert names.left_in(expected) is None


def test_a_user_without_a_name_of_his_own_is_not_replaced():
    names = pack_names.Names()
    names.add("user", "root")
    assert names.replacements == {}
    with pytest.raises(ReportError):
        names.add("host", "Scheduler")


def test_links_are_not_followed(campaign, tmp_path, capsys):
    copy = Path(shutil.copytree(campaign, tmp_path / "some"))
    (tmp_path / "private").mkdir()
    (tmp_path / "private/key.txt").write_text("a private key")
    (copy / "local/hooks/0009-x.txt").symlink_to(tmp_path / "private/key.txt")
    shutil.rmtree(copy / "local/check")
    (copy / "local/check").symlink_to(tmp_path / "private")
    there = files(packed(copy, tmp_path / "a.tar.gz"))
    assert not any("a private key" in text for text in there.values())
    assert ("left out 2 symbolic links, which pack does not follow: local/hooks/0009-x.txt, local/check/key.txt"
            in capsys.readouterr().out)

    os.rename(copy / "local/runs", tmp_path / "private/runs")
    (copy / "local/runs").symlink_to(tmp_path / "private/runs")
    assert sweep_command.main(["pack", str(copy), "--archive", str(tmp_path / "b.tar.gz")]) == 2
    assert "run.json: a symbolic link leads there; pack follows none" in capsys.readouterr().err


@pytest.mark.parametrize("text", [
    'environment = { A = "s3cret", UCX_TLS = "rc" }\n', '[environment]\nA="s3cret" # c\n',
    '[environment]\n  "A"  =  \'s3cret\'\n', 'environment.A = "s3cret"\n',
    '[environment]\nA = """s3cret\n "s3cret" \\""""\nB = "x"\n', "[environment]\nA = \'\'\'s3cret\n\'s3cret\'\'\'\'\n",
    "[environment]\nA = 53.5\n",
    '[axes]\nv = [{ name = "a", environment = { A = "s3cret" } }, { name = "b", environment = { A = "s3cret]}" } }]\n',
    '[environment]\nMPICH_TOKEN = "s3cret"\n',
    '[environment]\nNCCL_DEBUG = "s3cret"\n[slurm]\nsetup = "export NCCL_DEBUG=s3cret"\n',
    '[switch]\non-change = "SW_HOST=s3cret ./set"\n[environment]\nSW_HOST = "s3cret"\n'])
def test_variables_have_no_value_in_a_sweep_file(text):
    found = pack_names.without_variables(text)
    assert "s3cret" not in found
    assert "53.5" not in found and "removed" in found and ("UCX_TLS" not in text or 'UCX_TLS = "rc"' in found)
    assert pack_names.without_variables(found) == found


@pytest.mark.parametrize("text, expected", [
    ('"export A=s3cret"', "export A=removed"), ('"A=s3cret ./set --b"', "A=removed ./set --b"),
    ("'A=\"s3cret s3cret\" ./set # x'", "A=removed ./set # x"),
    ('"A=\\"s3 \\\\\\"s3cret\\"\'s3cret x\'; B=b ./set"', "A=removed; B=b ./set"),
    ('"""\nexport A=s3cret\\\\ s3cret\nexport B=b\n"""', "export A=removed\nexport B=b\n"),
    ("'''\nexport A=s3cret && x\n\texport A=\"s3cret\ns3cret\"\n'''", "export A=removed && x\n\texport A=removed\n"),
    ('"BA=b # A = b"', "BA=b # A = removed")])
def test_values_in_commands_are_removed_as_words_of_a_shell(text, expected):
    found = pack_names.without_variables("# A='s3cret'\n[environment]\nA = \"s3cret\"\n[slurm]\n"
                                         f"setup = {text} # \"A=s3cret\n")
    assert "s3cret" not in found
    assert toml_file.parse("", found) == {"environment": {"A": "removed"}, "slurm": {"setup": expected}}
    assert pack_names.without_variables(found) == found


def test_what_cannot_be_removed_is_refused():
    with pytest.raises(ReportError, match="the value of A cannot be removed"):
        pack_names.without_variables('[environment]\nA = ["x", "y"]\n')
