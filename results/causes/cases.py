"""Measured cases for bench/study causes: what weir names where a limit was planted by hand, in network namespaces.

All hosts are those of one lab (bench/lab): ctl01, eb01..., fn01..., each with a link of its own to a software switch. A
case says where ranks are, which links are slow (tc tbf, of a host's interface or of the switch's port to it) and for
how long, which rank is stopped (SIGSTOP, SIGCONT) and when, and what is true: every cause that, if it alone were
relaxed, would have put the run on time.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

import outages
import studies

PRODUCERS, CONSUMERS = 4, 4  # hosts of the lab
QUEUE_MS = 20                # what a slow link's queue holds
LIMIT_S = 60                 # for a case

# Ranks on hosts of their own; all producers and the scheduler on one host and all consumers on another, which share a
# link; all on one host, with the loopback interface for a link.
SPREAD, TWO, ONE = "spread", "two", "one"
LINKS = {"consumer-links": "", "producer-links": ""}  # one link that ranks of both roles share
ENGINES = {"mpi": ("--engine", "mpi"), "ucx": ("--engine", "ucx")}
COMMON = ("--warmup", "500ms", "--interval", "500ms", "--drain", "3s", "--idle", "nap", "--silence-timeout", "10s")


@dataclasses.dataclass
class Case:
    name: str
    truth: dict                 # cause -> the rank, "" for all of a role; empty: on time
    producers: int
    consumers: int
    words: str                  # options, besides COMMON
    engine: str = "mpi"
    where: str = SPREAD
    links: dict = dataclasses.field(default_factory=dict)  # "eb", "fn", "fn02", "lo": Mb/s
    span_s: tuple = ()          # of the measured time in which links are slow; else always
    stop: tuple = ()            # (host, first_s, stopped_s, period_s, times): from second 0 of the measured time on
    pml: str = "ucx"
    trouble: tuple = ()         # ("away" | "loss" | "mtu", host, amount, first_s, for_s) of the measured time
    others: tuple = ()          # (from, to): hosts between which others send as fast as it goes
    load: int = 0               # processes that compute beside the ranks
    failure: str = ""           # the run fails, and names this rank


def link(rate, *hosts):
    return {host: rate for host in hosts}


BASE = "--rate 80Mb/s --event-size 200kB --slots 4 --streams 4 --duration 3s"
TWO_BASE = "--rate 400Mb/s --event-size 1MB --slots 8 --duration 3s"
SMALL = "--rate 30Mb/s --event-size 8kB --duration 3s"


def cases():
    all_links = {"consumer-links": ""}
    of_producers = {"producer-links": ""}
    still = "stalled-rank"
    return [
        # On time: nothing may be named.
        Case("on time, mpi", {}, 3, 3, BASE),
        Case("on time, ucx", {}, 3, 3, BASE, "ucx"),
        Case("on time, two hosts", {}, 2, 2, "--rate 200Mb/s --event-size 1MB --slots 8 --duration 3s", "ucx", TWO),
        Case("on time, producer stopped 25 of 100 ms, two hosts", {}, 1, 1,
             "--rate 200Mb/s --event-size 1MB --slots 8 --duration 3s", "ucx",
             TWO, stop=("eb01", 0.0, 0.025, 0.1, 30)),
        # Links.
        Case("links of consumers", all_links, 3, 3, BASE, links=link(64, "fn")),
        Case("links of consumers, ucx", all_links, 3, 3, BASE, "ucx", links=link(64, "fn")),
        Case("links of consumers, steady", all_links, 3, 2, BASE + " --generation steady", links=link(100, "fn")),
        Case("links of producers", of_producers, 3, 3, BASE, links=link(64, "eb")),
        Case("links of producers, ucx", of_producers, 2, 3, BASE, "ucx", links=link(60, "eb")),
        Case("link of consumer 1", {"consumer-links": "consumer 1"}, 3, 3, BASE, links=link(8, "fn02")),
        Case("link of consumer 0, ucx", {"consumer-links": "consumer 0"}, 3, 3, BASE, "ucx", links=link(5, "fn01")),
        Case("link of producer 1", {"producer-links": "producer 1"}, 3, 3, BASE, links=link(64, "eb02")),
        Case("link of producer 2, ob1", {"producer-links": "producer 2"}, 3, 2, BASE, links=link(50, "eb03"),
             pml="ob1"),
        Case("incast", all_links, 3, 1, BASE, links=link(190, "fn01")),
        Case("incast, ucx, build", all_links, 3, 1, BASE + " --pattern build", "ucx", links=link(190, "fn01")),
        Case("links of consumers, from 1.0 to 2.2 s", all_links, 3, 3, BASE, links=link(30, "fn"), span_s=(1.0, 2.2)),
        Case("link of producer 0, from 1.0 s on, ucx", {"producer-links": "producer 0"}, 3, 3, BASE, "ucx",
             links=link(40, "eb01"),
             span_s=(1.0, 9.0)),
        # One link for both roles.
        Case("link of two hosts, 1 to 1", LINKS, 1, 1, TWO_BASE, "ucx", TWO, links=link(300, "eb01")),
        Case("link of two hosts, 2 to 2", LINKS, 2, 2, "--rate 200Mb/s --event-size 1MB --slots 8 --duration 3s", "ucx",
             TWO,
             links=link(300, "eb01")),
        Case("link of two hosts, 2 to 1", LINKS, 2, 1, "--rate 200Mb/s --event-size 1MB --slots 8 --duration 3s", "ucx",
             TWO,
             links=link(300, "eb01")),
        Case("link of two hosts, one slot, processing of 1 ms", LINKS, 1, 1,
             "--rate 400Mb/s --event-size 1MB --slots 1 --busy exponential:1ms --duration 3s", "ucx", TWO,
             links=link(300, "eb01")),
        Case("link of two hosts, 2 to 2, mpi", LINKS, 2, 2, "--rate 200Mb/s --event-size 1MB --slots 8 --duration 3s",
             "mpi", TWO,
             links=link(300, "fn01")),
        Case("loopback, 1 to 1", LINKS, 1, 1, TWO_BASE, "ucx", ONE, links=link(300, "lo")),
        Case("loopback, 2 to 2", LINKS, 2, 2, "--rate 200Mb/s --event-size 1MB --slots 8 --duration 3s", "ucx", ONE,
             links=link(300, "lo")),
        Case("link of two hosts, producer stopped 25 of 100 ms", LINKS, 1, 1, TWO_BASE, "ucx", TWO,
             links=link(300, "eb01"),
             stop=("eb01", 0.0, 0.025, 0.1, 30)),
        # Stopped ranks.
        Case("scheduler stopped 300 of 303 ms", {still: "scheduler", "scheduler": "", "control-latency": ""}, 2, 2,
             "--rate 100Mb/s --event-size 1MB --slots 8 --duration 3s", "ucx", stop=("ctl01", 0.0, 0.3, 0.303, 10)),
        Case("scheduler stopped once", {still: "scheduler"}, 3, 3, BASE, stop=("ctl01", 0.7, 1.2, 2.0, 1)),
        Case("producer 1 stopped once", {still: "producer 1"}, 3, 3, BASE, stop=("eb02", 0.7, 1.2, 2.0, 1)),
        Case("consumer 0 stopped once, ucx", {still: "consumer 0"}, 3, 3, BASE, "ucx", stop=("fn01", 0.7, 1.5, 2.0, 1)),
        Case("consumer 1 stopped 290 of 300 ms", {still: "consumer 1"}, 2, 2,
             "--rate 80Mb/s --event-size 2MB --slots 4 --duration 3s",
             stop=("fn02", 0.0, 0.29, 0.3, 10)),
        Case("producer 0 stopped 180 of 200 ms", {still: "producer 0"}, 2, 2,
             "--rate 160Mb/s --event-size 200kB --duration 3s", "ucx", stop=("eb01", 0.0, 0.18, 0.2, 15),
             links=link(400, "eb")),
        # Consumers.
        Case("processing", {"processing": ""}, 3, 3, BASE + " --busy fixed:26ms"),
        Case("processing, ucx, burning", {"processing": ""}, 2, 1,
             "--rate 40Mb/s --event-size 200kB --duration 3s --busy fixed:26ms", "ucx"),
        Case("processing or slots", {"processing": "", "slots": ""}, 3, 3,
             "--rate 80Mb/s --event-size 200kB --slots 1 --duration 3s --busy exponential:17ms",
             links=link(300, "eb", "fn")),
        Case("high-water", {"high-water": "", "processing": "", "consumer-links": ""}, 3, 3,
             "--rate 80Mb/s --event-size 200kB --slots 4 --duration 3s --busy exponential:18ms --high-water 1 "
             "--low-water 0", "ucx",
             links=link(180, "fn")),
        # Options.
        Case("shaping", {"shaping": ""}, 3, 3, BASE + " --shaping bucket:64Mb/s,burst=200kB"),
        Case("shaping, ucx, steady", {"shaping": ""}, 2, 2, BASE + " --generation steady --shaping "
                                                                   "bucket:60Mb/s,burst=200kB", "ucx"),
        Case("outstanding", {"outstanding": "", "consumer-links": ""}, 3, 3, BASE + " --pattern build --outstanding 1",
             links=link(150, "fn")),
        Case("requests", {"requests": "", "producer-links": "", "control-latency": ""}, 3, 2,
             "--rate 80Mb/s --event-size 1MB --slots 4 --streams 4 --duration 3s --pattern build --initiation pull "
             "--requests 1",
             links=link(85, "eb")),
        Case("streams", {"streams": "", "consumer-links": ""}, 1, 3,
             "--rate 80Mb/s --event-size 1MB --slots 4 --streams 1 --duration 3s",
             links=link(50, "fn")),
        Case("slots, ucx", {"slots": "", "producer-links": ""}, 3, 1,
             "--rate 30Mb/s --event-size 625kB --slots 1 --streams 4 --duration 3s",
             "ucx", links=link(40, "eb")),
        Case("link of the scheduler", {"control-latency": "", "scheduler": ""}, 2, 2, SMALL, links=link(0.3, "ctl01")),
        Case("buffer", {"buffer": ""}, 3, 3, BASE + " --buffer 3MB"),
        Case("others send to a consumer", {"other-traffic": "consumer 0", "consumer-links": "consumer 0"}, 2, 1, BASE,
             links=link(190, "fn01"), others=("ctl01", "fn01")),
        Case("others send to a consumer, ucx", {"other-traffic": "consumer 1", "consumer-links": "consumer 1"}, 2, 2,
             BASE + " --policy round-robin", "ucx", links=link(95, "fn02"), others=("ctl01", "fn02")),
        Case("others send from a producer", {"other-traffic": "producer 0", "producer-links": "producer 0"}, 2, 3, BASE,
             links=link(100, "eb01"), others=("eb01", "ctl01")),
        *outages.outages(Case),
    ]


# ---------------------------------------------------------------------------------------------------------------
# running


class Lab(studies.Lab):
    def __init__(self):
        super().__init__("causes", "--producers", str(PRODUCERS), "--consumers", str(CONSUMERS), "--link", "none")
        self.slow = []

    def __enter__(self):
        super().__enter__()
        hosts = ["ctl01", *(f"eb{i:02}" for i in range(1, PRODUCERS + 1)),
                 *(f"fn{i:02}" for i in range(1, CONSUMERS + 1))]
        self.network = {host: self.on(host, "readlink /proc/self/ns/net").strip() for host in hosts}
        return self

    def slow_down(self, links):
        """Links of hosts `eb...` and `ctl01` are slow where these send, those of `fn...` at the switch's port to
        them."""
        on_switch, commands = [], {}
        for key, mbit in links.items():
            for host in [host for host in self.network if host.startswith(key)] or [key]:
                rate = (f"tbf rate {mbit}mbit burst {max(140000 if mbit >= 1 else 16000, round(mbit * 125))}b limit "
                        f"{max(200000, round(mbit * 125 * QUEUE_MS))}b")
                if host == "lo":
                    commands["ctl01"] = [f"tc qdisc replace dev lo root {rate}"]
                    self.slow.append(("ctl01", "lo"))
                elif host.startswith(("eb", "ctl")):
                    commands[host] = [f"tc qdisc replace dev eth0 root {rate}"]
                    self.slow.append((host, "eth0"))
                else:
                    on_switch.append(f"tc qdisc replace dev {host} root {rate}")
                    self.slow.append(("switch", host))
        for host, lines in {**commands, **({"switch": on_switch} if on_switch else {})}.items():
            self.on(host, *lines)

    def speed_up(self):
        by_host = {}
        for host, device in self.slow:
            by_host.setdefault(host, []).append(f"tc qdisc del dev {device} root")
        for host, lines in by_host.items():
            self.on(host, *lines)
        self.slow = []

    def rank_on(self, host):
        """The process of the last rank there: of a host with a scheduler and a producer, the producer."""
        found = []
        for directory in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (directory / "cmdline").read_bytes().split(b"\0")
                if b"run" in words[1:2] and b"weir" in pathlib.Path(words[0].decode()).name.encode() and \
                        os.readlink(directory / "ns/net") == self.network[host]:
                    found.append(int(directory.name))
        return max(found, default=None)


def placed(case):
    """(lines of a hosts file, options that give roles)."""
    eb = [f"eb{i:02}" for i in range(1, case.producers + 1)]
    fn = [f"fn{i:02}" for i in range(1, case.consumers + 1)]
    if case.where == SPREAD:
        return [f"{host} slots=1" for host in ("ctl01", *eb, *fn)], \
            ["--scheduler-host", "ctl01", "--producer-hosts", ",".join(eb), "--consumer-hosts", ",".join(fn)]
    if case.where == TWO:
        return [f"eb01 slots={1 + case.producers}",
                f"fn01 slots={case.consumers}"], ["--producers", str(case.producers)]
    return [f"ctl01 slots={1 + case.producers + case.consumers}"], ["--producers", str(case.producers)]


def command_of(case):
    common = outages.PATIENT if case.trouble or case.load else COMMON
    return ["weir", "run", *placed(case)[1], *ENGINES[case.engine], *common, *case.words.split()]


def launch(a_lab, case, weir, directory):
    """mpirun in the lab, with a hosts file of this case."""
    hosts = directory / "hosts"
    hosts.write_text("\n".join(placed(case)[0]) + "\n")
    # In a process of its own: the lab enters namespaces.
    script = ("import sys, json; sys.path.insert(0, sys.argv[1]); from lab_machine import plan; from "
              "lab_machine.running import *\nname, pml, hosts, device, words = json.loads(sys.argv[2]); lab = "
              "plan.load_lab(name)\nlauncher, environment = mpirun_command(lab, pml, words)\n"
              "launcher[launcher.index('--hostfile') + 1] = hosts\n"
              "environment |= {'UCX_TLS': 'tcp,self', 'UCX_NET_DEVICES': device, 'OMPI_MCA_btl_tcp_if_include': "
              "device}\n"
              "sys.exit(run_in_lab(lab, plan.LOGIN, launcher + words, environment))\n")
    ranks = 1 + case.producers + case.consumers
    words = ["-np", str(ranks), weir, *command_of(case)[1:], "--quiet", "--out", str(directory / "run")]
    given = json.dumps([a_lab.name, case.pml, str(hosts), "lo" if case.where == ONE else "eth0", words])
    log = (directory / "log.txt").open("w")
    return subprocess.Popen([sys.executable, "-c", script, str(studies.TOP / "bench"), given], stdout=log, stderr=log,
                            start_new_session=True)


def wait_for_second_0(process, directory):
    """Until the row of the second before it is written."""
    while process.poll() is None:
        for path in (directory / "run/ranks").glob("*.csv"):
            if ",warmup," in path.read_text():
                return time.monotonic()
        time.sleep(0.005)
    return None


def disturb(a_lab, case, process, directory):
    begin = wait_for_second_0(process, directory)
    if begin is None:
        return

    def until(second):
        time.sleep(max(0.0, begin + second - time.monotonic()))
    if case.trouble:
        begins, ends = outages.commands(case.trouble)
        first_s, for_s = case.trouble[3:]
        until(first_s)
        a_lab.on("switch", *begins)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, begin + first_s + for_s - time.monotonic()))
        a_lab.on("switch", *ends)
    if case.span_s:
        until(case.span_s[0])
        a_lab.slow_down(case.links)
        if case.span_s[1] < 5:
            until(case.span_s[1])
            a_lab.speed_up()
    if case.stop:
        host, first, stopped, period, times = case.stop
        pid = a_lab.rank_on(host)
        for number in range(times if pid else 0):
            until(first + number * period)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                until(first + number * period + stopped)
                os.kill(pid, signal.SIGCONT)


def run_case(a_lab, case, weir):
    """(record, directory of the run, what was printed); the directory is the caller's to remove."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="weir-causes-"))
    if case.links and not case.span_s:
        a_lab.slow_down(case.links)
    others = a_lab.traffic(*case.others) if case.others else contextlib.nullcontext()
    with outages.busy(case.load), others:
        process = launch(a_lab, case, weir, directory)
        helper = threading.Thread(target=disturb, args=(a_lab, case, process, directory))
        helper.start()
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(10)
        helper.join()
    a_lab.speed_up()
    record = directory / "run/run.json"
    said = (directory / "log.txt").read_text()
    return json.loads(record.read_text()) if record.exists() else None, directory, said


def judge(case, record):
    """(right, false or not-told; cause; where; share)."""
    if case.failure and record is not None and record["status"] == "failed":
        role = record["failure"].get("role") or ""
        return "right" if role == case.failure else "wrong rank", "failure", role, 0.0
    if record is None or record["status"] != "complete":
        return "failed", "", "", 0.0
    causes = record["verdict"].get("causes") or []
    if not causes:  # packets that are lost are sent again, and may be in time
        in_time = not case.truth or (case.trouble and record["verdict"]["on_time"])
        return ("right" if in_time else "missed"), "none", "", 0.0
    what, where, share = causes[0]["what"], (causes[0].get("where") or {}).get("name", ""), causes[0]["share"]
    if what == "not-told":
        return "not-told", what, where, share
    if what not in case.truth:
        return "false", what, where, share
    wanted = case.truth[what]
    alone = {"consumer": case.consumers, "producer": case.producers}.get(where.partition(" ")[0], 1) == 1
    return ("right" if where == wanted or (not wanted and (alone or not where)) else "wrong rank"), what, where, share
