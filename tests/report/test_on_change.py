"""slurm/on-change: a setting's name makes the switches have it, or the command fails; against fakes of switches."""

import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from conftest import ROOT

SCRIPTS = ROOT / "slurm/on-change"
FAKE = Path(__file__).parent / "fake_switch.py"


@pytest.fixture
def switches(tmp_path):
    """A directory with a command of each name, and two switches of each kind."""
    (tmp_path / "bin").mkdir()
    for name in ("ssh", "sudo", "ecnconfig", "show", "config", "nv"):
        command = tmp_path / "bin" / name
        command.write_text(f"#!{sys.executable}\n" + FAKE.read_text().partition("\n")[2])
        command.chmod(0o755)
    for name in ("admin@leaf1", "admin@leaf2"):
        profile = {"green_max_threshold": "3000", "green_min_threshold": "2000", "green_drop_probability": "1",
                   "ecn": "ecn_all"}
        (tmp_path / name).write_text(json.dumps({"profiles": {"OTHER": dict(profile), "AZURE_LOSSLESS": profile}}))
    for name in ("cumulus@leaf1", "cumulus@leaf2"):
        (tmp_path / name).write_text("{}")
    return tmp_path


def call(script, setting, directory, change=(r'switches="(.*@)leaf1"', r'switches="\1leaf1 \1leaf2"')):
    """A copy of the script with `change`, called with a setting."""
    text, changes = re.subn(*change, (SCRIPTS / script).read_text())
    assert changes or script == "eos"
    (directory / script).write_text(text)
    return subprocess.run([sys.executable if script == "eos" else "sh", directory / script, setting], check=False,
                          env={**os.environ, "PATH": f"{directory / 'bin'}:{os.environ['PATH']}",
                               "HOME": str(directory), "FAKE_SWITCHES": str(directory)},
                          capture_output=True, text=True, timeout=60)


def state(directory, name):
    return json.loads((directory / name).read_text())


def test_sonic_sets_every_switch_and_looks(switches):
    for setting, thresholds in (("ecn-high", ["400000", "1600000", "5"]), ("ecn-low", ["100000", "400000", "5"])):
        done = call("sonic", setting, switches)
        assert done.returncode == 0, done.stderr
        for name in ("admin@leaf1", "admin@leaf2"):
            profile = state(switches, name)["profiles"]["AZURE_LOSSLESS"]
            names = ("green_min_threshold", "green_max_threshold", "green_drop_probability")
            assert [profile[name] for name in names] == thresholds
            assert state(switches, name)["profiles"]["OTHER"]["green_min_threshold"] == "2000"
    assert "400000" in call("sonic", "--show", switches).stdout
    assert call("sonic", "pfc-off", switches).returncode == 0
    assert state(switches, "admin@leaf2")["pfc"] == {"Ethernet0 3": "off", "Ethernet4 3": "off"}


def test_sonic_fails_where_a_switch_keeps_what_it_had(switches):
    stuck = {**state(switches, "admin@leaf2"), "stuck": True}
    (switches / "admin@leaf2").write_text(json.dumps(stuck))
    done = call("sonic", "ecn-high", switches)
    assert done.returncode == 1 and "admin@leaf2 has '2000 3000 1'" in done.stderr, done.stderr


def test_nvue_applies_all_or_nothing(switches):
    assert call("nvue", "ecn-low", switches).returncode == 0
    assert state(switches, "cumulus@leaf2") == {"pending": [], "applied": [
        f"set qos congestion-control default-global traffic-class 3 {what}"
        for what in ("min-threshold 100000", "max-threshold 400000", "probability 5")]}
    (switches / "cumulus@leaf1").write_text("{}")
    done = call("nvue", "ecn-high", switches, ("ecn 400000 1600000 5", "ecn 400000 1600000 500"))
    assert done.returncode == 1 and "probability is not in 0 to 100" in done.stderr
    assert state(switches, "cumulus@leaf1") == {"pending": []}


@pytest.mark.parametrize("script", ["sonic", "nvue", "eos"])
def test_an_unknown_setting_is_refused(script, switches):
    (switches / ".netrc").write_text("")
    for setting in ("ecn-medium", ""):
        done = call(script, setting, switches)
        assert done.returncode == 2 and f"{script}: '{setting}' is no setting of this file" in done.stderr


class Eapi(BaseHTTPRequestHandler):
    """Arista's eAPI as far as `eos` uses it: sessions are committed whole; a command that is not known is an error."""
    running, sessions, known = [], {}, re.compile(
        r"interface \S+|tx-queue \d|random-detect ecn minimum-threshold \d+ bytes maximum-threshold \d+ bytes "
        r"max-mark-probability \d+|(no )?priority-flow-control priority \d no-drop")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/command-api" and asked["method"] == "runCmds"
        assert self.headers["Authorization"] == "Basic d2VpcjpzZWNyZXQ="
        commands, session = asked["params"]["cmds"], None
        said = {"result": [{"output": ""} for _ in commands]}
        for number, command in enumerate(commands, 1):
            if command.startswith("configure session "):
                session = self.sessions.setdefault(command.split()[2], [])
            elif command == "commit":
                self.running[:] = session
            elif command == "show running-config":
                said["result"][number - 1]["output"] = "\n".join(self.running)
            elif session is not None and self.known.fullmatch(command):
                session.append(command)
            elif command not in ("enable", "abort"):
                message = f"CLI command {number} of {len(commands)} '{command}' failed: invalid command"
                said = {"error": {"code": 1002, "message": message}}
                break
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_eos_commits_all_or_nothing(switches, monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Eapi)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    there = ("https://leaf1", f"http://127.0.0.1:{server.server_port}")
    (switches / ".netrc").write_text("machine 127.0.0.1 login weir password secret\n")
    (switches / ".netrc").chmod(0o600)
    try:
        assert call("eos", "ecn-low", switches, there).returncode == 0
        thresholds = ("random-detect ecn minimum-threshold 100000 bytes maximum-threshold 400000 bytes "
                      "max-mark-probability 5")
        assert Eapi.running == ["interface Ethernet1-32", "tx-queue 3", thresholds]
        assert thresholds in call("eos", "--show", switches, there).stdout
        monkeypatch.setattr(Eapi, "known", re.compile("interface .*"))
        done = call("eos", "ecn-high", switches, there)
        assert done.returncode == 1 and "'tx-queue 3' failed: invalid command" in done.stderr
        assert Eapi.running[2] == thresholds
    finally:
        server.shutdown()
        server.server_close()
    done = call("eos", "ecn-high", switches, there)
    assert done.returncode == 1 and "Connection refused" in done.stderr
