"""weir-report --serve: who gets an answer, and what it is."""

import contextlib
import http.client
import os
import re
import shutil
import socket
import threading
import time
from pathlib import Path
from unittest import mock

import pytest

from conftest import RUNS, start
from test_openmetrics import checked
from weir_runs import report_command
from weir_runs.pages import live_server

TOKEN = "a-token-of-the-test"


class Served:
    def __init__(self, run, *words, **variables):
        self.process = start("weir-report", run, "--serve", *words, **variables)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"page     http://(.+):(\d+)/\?token=([\w-]+)\n", line)
        assert found, line + self.process.stdout.read()
        self.host, self.port, self.token = found[1], int(found[2]), found[3]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def get(self, path, host="localhost", method="GET", **headers):
        """(status, headers, text)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": host, **headers}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        with contextlib.closing(connection):
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()


@pytest.fixture(scope="module")
def served():
    with Served(RUNS / "measured", WEIR_REPORT_TOKEN=TOKEN) as server:
        assert server.token == TOKEN and server.host == "127.0.0.1"
        yield server


def test_ranks_on_this_host_go_first(served):
    assert served.get(f"/?token={TOKEN}")[0] == 200
    assert os.getpriority(os.PRIO_PROCESS, served.process.pid) == 19


def test_a_finished_run_has_its_page_and_its_metrics(served):
    status, headers, page = served.get(f"/?token={TOKEN}")
    assert status == 200 and "<title>" in page and "SUSTAINED" in page and "STILL RUNNING" not in page
    assert "Refresh" not in headers and headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    status, headers, text = served.get("/metrics", Authorization=f"Bearer {TOKEN}")
    assert status == 200 and headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert any('status="complete"' in labels for _, labels in checked(text))


@pytest.mark.parametrize("host, status", [
    ("localhost", 200), ("127.0.0.1:80", 200), ("[::1]:9464", 200), ("evil.example", 421),
    ("127.0.0.1.evil.example", 421), ("", 421), (None, 400), ("[", 400)])
def test_another_name_gets_nothing(served, host, status):
    """Else a page of someone whose name leads to this host could read the answer."""
    assert served.get(f"/?token={TOKEN}", host)[0] == status


@pytest.mark.parametrize("path, authorization", [
    ("/", None), ("/?token=", None), (f"/?token={TOKEN}x", None), (f"/?token={TOKEN[:-1]}", None),
    ("/?token=%ff", None), (f"/?token=x&token={TOKEN}", None), (f"/?token={TOKEN}", "Bearer wrong"),
    ("/", f"Basic {TOKEN}"), ("/metrics", "Bearer"), ("/nothing", None)])
def test_without_the_token_there_is_nothing(served, path, authorization):
    status, _, text = served.get(path, Authorization=authorization)
    assert status == 403 and TOKEN not in text and "measured" not in text


@pytest.mark.parametrize("path", ["/run.json", "/../run.json", "/..%2frun.json", "//etc/passwd", "/metrics/",
                                  "/%2e%2e/", "/ranks/rank-00000-scheduler.csv", "/metrics%00"])
def test_no_path_names_a_file(served, path):
    assert served.get(f"{path}?token={TOKEN}")[0] == 404


def test_only_get_and_requests_of_a_bounded_size(served):
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert served.get(f"/?token={TOKEN}", method=method)[0] == 501
    assert served.get("/?token=" + 70_000 * "x")[0] == 414
    assert served.get(f"/?token={TOKEN}", **{f"X-{number}": "x" for number in range(200)})[0] == 431
    assert served.get("/?" + "&".join(f"a{number}=1" for number in range(100)))[0] == 400


def test_connections_that_say_nothing_are_bounded(served):
    idle = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(8)]
    time.sleep(0.3)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        served.get(f"/?token={TOKEN}")
    for connection in idle:
        connection.close()
    deadline = time.monotonic() + 20
    while True:
        try:
            assert served.get(f"/?token={TOKEN}")[0] == 200
            break
        except (http.client.RemoteDisconnected, ConnectionError):
            assert time.monotonic() < deadline


def test_a_client_that_sends_a_byte_now_and_then_is_cut_off():
    server = live_server._Server("127.0.0.1", 0, TOKEN, None)
    with mock.patch.object(live_server, "_CONNECTION_S", 0.5), server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        with socket.create_connection(server.server_address) as slow, pytest.raises(OSError):
            for _ in range(100):
                slow.sendall(b"G")
                time.sleep(0.05)
        server.shutdown()


def test_each_start_has_a_token_of_its_own():
    with Served(RUNS / "measured") as one, Served(RUNS / "measured", "127.0.0.1:0") as other:
        assert one.token != other.token and min(len(one.token), len(other.token)) >= 32
        assert one.get(f"/metrics?token={other.token}")[0] == 403


def test_a_run_that_cannot_be_read_any_more_is_said_and_served_again(tmp_path):
    run = Path(shutil.copytree(RUNS / "measured", tmp_path / "run"))
    with Served(run) as server:
        (run / "run.json").rename(run / "away")
        status, _, text = server.get(f"/?token={server.token}")
        assert status == 503 and "run.json" in text
        (run / "away").rename(run / "run.json")
        assert server.get(f"/?token={server.token}")[0] == 200


@pytest.mark.parametrize("words, message", [
    (["--serve", "run"], "--serve: 'run' is not PORT or ADDRESS:PORT"),
    (["--serve", "65536"], "with a port from 0 to 65535"),
    (["--serve", "0.0.0.0:0"], "0.0.0.0 is every address of this host; name one"),
    (["--serve", "[::]:0"], "is every address of this host; name one"),
    (["--serve", "192.0.2.1:0"], "--serve: 192.0.2.1:0: "),
    (["--serve", "--out", "x.html"], "--serve: writes no file; leave out --out"),
    (["--serve", "--prometheus", "-"], "--serve: writes no file"),
    ([str(RUNS / "overflow"), "--serve"], "--serve: 2 runs were given; it serves one"),
])
def test_wrong_options_are_refused(capsys, words, message):
    assert report_command.main([str(RUNS / "measured"), *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("token", ["short", "", 201 * "x", "a token with spaces in it", "ä" * 20])
def test_a_token_that_can_be_guessed_or_not_sent_is_refused(capsys, monkeypatch, token):
    monkeypatch.setenv("WEIR_REPORT_TOKEN", token)
    assert report_command.main([str(RUNS / "measured"), "--serve"]) == 2
    assert "WEIR_REPORT_TOKEN: not 16 to 200 letters" in capsys.readouterr().err
