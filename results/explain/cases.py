"""Real runs of which the limit is known, in network namespaces (bench/lab), with 2 producers and 2 consumers; the
remedy is applied for real. Each case says what is planted and, by the words of the remedy, how the run is changed."""

import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

import remedies
import studies

WIRE = 1.06  # payload to what the port is given: Ethernet, IP, TCP and control packets at 1500 bytes
COMMON = {"event-size": "512KiB", "chunk-size": "64KiB", "slots": "8", "streams": "8", "duration": "6s", "warmup": "1s",
          "drain": "5s", "idle": "nap"}
LINKS = {"producer": 300.0, "consumer": 300.0}  # Mb/s


class Case:
    def __init__(self, name, options, links=None, own=None, stop=None, foreign=None):
        self.name, self.options = name, {**COMMON, **options}
        self.links = {**LINKS, **(links or {})}  # of a role, Mb/s
        self.own = own or {}  # host -> Mb/s
        self.stop = stop  # (rank, at second, for seconds) or None
        self.foreign = foreign  # "link" or "processor"


CASES = (
    Case("links of consumers", {"rate": "120Mb/s"}, links={"consumer": 100.0}),
    Case("links of producers", {"rate": "120Mb/s"}, links={"producer": 100.0}),
    Case("link of consumer 0", {"rate": "80Mb/s"}, own={"fn01": 30.0}),
    Case("link of producer 1", {"rate": "80Mb/s"}, own={"eb02": 60.0}),
    Case("processing", {"rate": "80Mb/s", "busy": "exponential:75ms"}),
    Case("slots", {"rate": "80Mb/s", "busy": "exponential:38ms", "slots": "1"}),
    Case("consumer 0 stopped", {"rate": "80Mb/s"}, stop=(3, 2, 1.5)),
    Case("producer 1 stopped", {"rate": "80Mb/s"}, stop=(2, 2, 1.5)),
    Case("scheduler stopped", {"rate": "80Mb/s"}, stop=(0, 2, 1.5)),
    Case("shaping", {"rate": "80Mb/s", "shaping": "bucket:60Mb/s,burst=2MiB"}),
    Case("high water", {"rate": "80Mb/s", "busy": "exponential:38ms", "high-water": "1", "low-water": "0"}),
    Case("buffer", {"rate": "80Mb/s", "buffer": "6MB"}),
    Case("on time", {"rate": "80Mb/s"}),
    Case("on time, busy", {"rate": "80Mb/s", "busy": "exponential:20ms"}),
    Case("foreign load on a link", {"rate": "80Mb/s"}, links={"consumer": 100.0}, foreign="link"),
    Case("foreign load on the processor", {"rate": "80Mb/s"}, foreign="processor"),
)

# Both cores, before everything else, for 3 s: 0.05 of each second is left for others (sched_rt_runtime_us).
BURN = "import time\ne=time.time()+3\nwhile time.time()<e: pass"


def set_speed(lab, host, mbit):
    """Both ends of the host's cable."""
    for where, device in ((host, "eth0"), ("switch", host)):
        lab.on(where, f"tc qdisc replace dev {device} root tbf rate {mbit:g}mbit burst 64kb limit 4mb")


def pid_of(rank, out):
    """The weir of this rank: the one that this run started."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if str(out).encode() in words and f"OMPI_COMM_WORLD_RANK={rank}".encode() in (
                entry / "environ").read_bytes().split(b"\0"):
                return int(entry.name)
        except (OSError, ValueError):
            continue
    return None


def wait_for_second(out, second, limit_s=60):
    """Until the scheduler has written the row of this second."""
    rows = out / "ranks/rank-00000-scheduler.csv"
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if rows.exists() and f"\n{second},measure" in rows.read_text():
            return True
        time.sleep(0.02)
    return False


def disturb(case, out):
    """What is wrong during the run; returns processes to be ended after it."""
    helpers = []
    if (case.stop or case.foreign == "processor") and wait_for_second(out, case.stop[1] - 1 if case.stop else 0):
        if case.stop:
            pid = pid_of(case.stop[0], out)
            os.kill(pid, signal.SIGSTOP)
            time.sleep(case.stop[2])
            os.kill(pid, signal.SIGCONT)
        else:
            helpers += [subprocess.Popen(["chrt", "-f", "10", sys.executable, "-c", BURN])
                        for _ in range(os.cpu_count())]
    return helpers


def run(weir, case, out):
    """The record of a real run."""
    words = [weir, "run", "--out", str(out), "--quiet"]
    for option, value in case.options.items():
        words += [f"--{option}", str(value)]
    up = ["--producers", "2", "--consumers", "2", "--producer-link", f"{case.links['producer']:g}Mb/s",
          "--consumer-link",
          f"{case.links['consumer']:g}Mb/s", "--scheduler-link", "300Mb/s", "--buffer", "deep"]
    with studies.Lab("explain", *up) as lab:
        for host, mbit in case.own.items():
            set_speed(lab, host, mbit)
        others = lab.traffic("ctl01", "fn01") if case.foreign == "link" else contextlib.nullcontext()
        process = subprocess.Popen(lab.words("run", "-q", "--", *words), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        with others:
            helpers = disturb(case, out)
            problem = process.communicate(timeout=120)[1]
        for helper in helpers:
            helper.terminate()
    record = out / "run.json"
    return (json.loads(record.read_text()) if record.exists()
            else {"refused": problem}), shlex.join(["bench/lab", *up, "--", *words])


def changed(case, remedy):
    """The case with one remedy applied; None: it cannot be."""
    links, own = dict(case.links), dict(case.own)
    host = {"producer": "eb{:02}", "consumer": "fn{:02}"}
    if found := re.fullmatch(r"(producers|consumers)' links of ([\d.]+ \S+) \(--\S+\)", remedy):
        role = found[1][:-1]
        links[role] = remedies.quantity(found[2], remedies.UNITS) / 1e6 * WIRE
        own = {name: mbit for name, mbit in own.items() if not name.startswith(host[role][:2])}
    elif found := re.fullmatch(r"(producers|consumers)' links ([\d.]+) times as fast \(--\S+\)", remedy):
        role = found[1][:-1]
        links[role] *= float(found[2])
        own = {name: mbit * (float(found[2]) if name.startswith(host[role][:2]) else 1) for name, mbit in own.items()}
    elif found := re.fullmatch(r"a link of ([\d.]+ \S+) for (producer|consumer) (\d+) \(--\S+\)", remedy):
        own[host[found[2]].format(int(found[3]) + 1)] = remedies.quantity(found[1], remedies.UNITS) / 1e6 * WIRE
    elif found := re.fullmatch(r"keep (?:the )?(scheduler|producer|consumer)(?: (\d+))? running", remedy):
        rank = {"scheduler": 0, "producer": 1, "consumer": 3}[found[1]] + int(found[2] or 0)
        return case if not case.stop or case.stop[
                0] != rank else Case(case.name, case.options, links, own, None, case.foreign)
    else:
        plan = remedies.one({**case.options, "fault": []}, remedy)
        if plan is None:
            return None
        return Case(case.name, {name: value for name, value in plan.items() if name != "fault"}, links, own, case.stop,
                    case.foreign)
    return Case(case.name, case.options, links, own, case.stop, case.foreign)


def good(record):
    return "refused" not in record and record["status"] == "complete" and bool(
        record["verdict"]["sustained"]) and record["verdict"]["on_time"]


def stalled(record):
    """Ranks stood still for long, which no remedied case has: the machine was busy with something else."""
    return any(rank["poll_gap_max_us"] > 200e3 for rank in record["ranks"])


def one(weir, case, directory, explain, fill, row):
    out = directory / case.name.replace(" ", "-").replace(",", "")
    record, row["command"] = run(weir, case, out)
    row.update(name=case.name, planted=case.name, weir=record.get("environment", {}).get("weir_commit", "")[:12])
    if "refused" in record or record["status"] != "complete":
        return {**row, "outcome": "did not run", "text": str(record.get("refused") or record["failure"])}
    row["late"] = f"{record['verdict']['late_sets'] / max(1, record['verdict']['sets']):.4f}"
    found = explain(weir, out)
    if "refused" in found:
        return {**row, "outcome": "cannot be explained", "text": found["refused"]}
    fill(row, found, not good(record))
    if row["outcome"]:
        return row
    fixed = case
    for part in remedies.parts_of(found["remedy"], found["causes"][0]["together_with"]):
        fixed = fixed and changed(fixed, part)
    row["tried"] = found["remedy"]
    if fixed is None:
        return {**row, "outcome": "does not help", "tried": f"? {found['remedy']}"}
    for attempt in range(3):
        again, _ = run(weir, fixed, out.with_name(f"{out.name}-remedied-{attempt}"))
        if "refused" in again or not stalled(again) or good(again):
            break
    row["outcome"] = "helps" if good(again) else "void" if stalled(again) else "does not help"
    return row


def run_all(weir, directory, only, explain, fill, names):
    runs = (directory / "runs").resolve()
    runs.mkdir(parents=True, exist_ok=True)
    rows = []
    for case in CASES:
        if only and case.name not in only:
            continue
        rows.append(one(os.path.abspath(weir), case, runs, explain, fill, dict.fromkeys(names, "")))
        rows[-1]["command"] = rows[-1]["command"].replace(str(runs), "runs").replace(os.path.abspath(weir), "weir")
        print(f"{case.name}: {rows[-1]['outcome']}: {rows[-1]['text'][:300]}", file=sys.stderr, flush=True)
    return rows
