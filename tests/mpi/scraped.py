"""A real Prometheus scrapes a run that goes on, from weir-report --serve, and answers the queries of the board."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from weir_run import SKIPPED, Background, check, main

OPTIONS = ["--producers", "1", "--consumers", "2", "--rate", "20Mb/s", "--event-size", "256KiB", "--warmup", "0s",
           "--drain", "1s", "--idle", "nap", "--quiet", "--duration", "30s"]
REPORT = str(Path(os.environ["WEIR"]).with_name("weir-report"))
PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
TOKEN = "a-token-for-prometheus"
# No such host or switch counts here, and a run that goes on has no verdict.
WITHOUT_DATA = ("weir_run_sustained", "weir_delivery_latency", "weir_host_counter", "weir_switch_")
CONFIGURATION = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: weir
    authorization: {{credentials: {token}}}
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Prometheus:
    """Prometheus on the loopback, which scrapes `target`."""

    def __init__(self, target):
        Path("prometheus.yml").write_text(CONFIGURATION.format(
            rules=PACKAGING / "prometheus/weir.rules.yml", token=TOKEN, port=target))
        self.port = free_port()
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", "--log.level=error",
             f"--web.listen-address=127.0.0.1:{self.port}"])

    def ask(self, what, **query):
        """The data of an answer of its API; None before it listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(query)}",
                                        timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            check(error.code == 503, f"{query}: {error.read().decode()}")
        except OSError:
            pass
        return None

    def result(self, expression):
        return (self.ask("query", query=expression) or {}).get("result", [])


def status(prometheus):
    return {series["metric"]["status"] for series in prometheus.result("weir_run_info")}


def until(holds, what, limit_s=60):
    deadline = time.monotonic() + limit_s
    while not holds():
        check(time.monotonic() < deadline, what)
        time.sleep(0.3)


def queries():
    """Of the board, with what Grafana puts in the place of its variables."""
    board = json.loads((PACKAGING / "grafana/weir.json").read_text())
    return [target["expr"].replace("$run", ".*").replace("$__rate_interval", "5s")
            for panel in board["panels"] for target in panel.get("targets", ())]


def board_and_alerts():
    run = Background(4, *OPTIONS)
    run.wait_for_seconds(1)
    served = subprocess.Popen([REPORT, "run", "--serve"], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "WEIR_REPORT_TOKEN": TOKEN})
    prometheus = None
    try:
        prometheus = Prometheus(int(re.search(r":(\d+)/", served.stdout.readline())[1]))
        until(lambda: status(prometheus) == {"running"}, "Prometheus does not see a run that goes on")
        rate = "8 * sum(rate(weir_received_bytes_total{role='consumer'}[5s]))"
        until(lambda: any(10e6 < float(series["value"][1]) < 40e6 for series in prometheus.result(rate)),
              "the rate of 20 Mb/s")
        for query in queries():
            found = prometheus.result(query)
            check(found or any(name in query for name in WITHOUT_DATA), f"the board's query has no answer: {query}")
        check(prometheus.ask("label/run/values") == ["run"], "the runs of the board's list")
        until(lambda: status(prometheus) == {"complete"}, "Prometheus does not see that the run has ended")
        check(prometheus.result("weir_run_sustained"), "the verdict of a run that has ended")
        rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
        check(len(rules) >= 7 and all(rule["health"] == "ok" and not rule["alerts"] for rule in rules), rules)
    finally:
        for process in filter(None, (served, prometheus and prometheus.process)):
            process.kill()
            process.wait()
    run.end(30)


def alerts_fire():
    file = Path(__file__).resolve().parents[1] / "report/prometheus/alerts.yml"
    done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, timeout=60,
                          check=False)
    check(done.returncode == 0, done.stdout + done.stderr)


if not (shutil.which("prometheus") and shutil.which("promtool")):
    print("skipped: prometheus is not installed (Debian: apt install prometheus)")
    sys.exit(SKIPPED)
if subprocess.run([REPORT, "--version"], capture_output=True, check=False).returncode != 0:
    print("skipped: no Python here has what weir-report needs")
    sys.exit(SKIPPED)
main(board_and_alerts, alerts_fire)
