"""Runs that outlive a rank, in a lab: what happens when ranks are killed, stopped or cut off, and how long it takes
until all is as before.

kills: every role, in every phase: 15 minutes; goes on where it was left. steady: ten minutes, a consumer killed every
30 s.

2 producers and 3 consumers on hosts of their own (bench/lab, links of 100 Mb/s), started without a launcher (--join),
with `--on-failure continue`. Needs root. Leave the machine alone meanwhile.
"""

import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import studies

HOSTS = ("ctl01", "eb01", "eb02", "fn01", "fn02", "fn03")
ENVIRONMENT = {**os.environ, "WEIR_JOIN_TOKEN": "a token for recovery", "UCX_TLS": "tcp,self",
               "UCX_NET_DEVICES": "eth0"}
OPTIONS = ("--producers", "2", "--rate", "30Mb/s", "--event-size", "256KiB", "--interval", "500ms", "--buffer", "16MiB",
           "--warmup", "2s",
           "--drain", "5s", "--streams", "2", "--idle", "nap", "--on-failure", "continue", "--silence-timeout", "2s")
ROLES = {"scheduler": "ctl01", "producer": "eb02", "consumer": "fn02"}
PHASES = {"start": "before the warm-up", "measurement": "in second 3", "end": "just before the last second ends",
          "record": "after the last second, as the record is made"}
NAMES = ("what", "role", "phase", "returns", "status", "named", "ended_after_s", "left", "losses", "unnoticed_s",
         "away_s", "lowest_share",
         "below_s", "redelivered", "doubtful", "lost_events", "received_events", "ledger", "late_sets", "weir",
         "command")
ENDS_WITHIN_S = 10
TRIES_S = 60  # so long a consumer that was cut off tries to come back
LIMIT_S = 60


def descendants(pid):
    found = [pid]
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    for child in children:
        found += descendants(int(child))
    return found


class Lab(studies.Lab):
    """A lab with the processes of one run."""

    def __init__(self, weir, directory):
        super().__init__("recovery", "--producers", "2", "--consumers", "3", "--link", "100Mb/s")
        self.weir, self.directory, self.processes = weir, pathlib.Path(directory), {}

    def __enter__(self):
        self.log = open(self.directory / "log.txt", "w+", encoding="utf-8")
        return super().__enter__()

    def __exit__(self, *_):
        for processes in self.processes.values():
            for process in processes:
                for pid in descendants(process.pid):
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
        self.log.close()
        super().__exit__()

    def start(self, host, *options):
        # A session each: the kernel hangs up a group whose leader has gone and in which somebody is stopped.
        process = self.process(host, self.weir, "run", "--join", "ctl01:7000", *options,
                               env=studies.as_rank(HOSTS.index(host), ENVIRONMENT),
                               stdout=self.log, stderr=self.log, start_new_session=True)
        self.processes.setdefault(host, []).append(process)

    def start_all(self, *options):
        self.start("ctl01", "--ranks", str(len(HOSTS)), "--out", str(self.directory / "run"), *OPTIONS, *options)
        for host in HOSTS[1:]:
            self.start(host)

    def pid(self, host):
        """weir's, of the host's last process; None: it has ended."""
        for pid in descendants(self.processes[host][-1].pid):
            try:
                if pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0] in (self.weir, "weir"):
                    return pid
            except OSError:
                continue
        return None

    def signal(self, host, number):
        pid = self.pid(host)
        if pid is not None:
            os.kill(pid, number)

    def link(self, host, state):
        self.on("switch", f"ip link set dev {host} {state}")

    def seconds(self):
        """That every rank has logged in the measurement."""
        rows = [path.read_text().count(",measure,") for path in (self.directory / "run/ranks").glob("rank-*.csv")]
        return min(rows) if len(rows) == len(HOSTS) else -1

    def wait(self, ready, limit_s):
        deadline = time.monotonic() + limit_s
        while not ready():
            if time.monotonic() > deadline:
                self.log.flush()
                sys.exit(f"nothing happened for {limit_s} s: {pathlib.Path(self.log.name).read_text()[-3000:]}")
            time.sleep(0.02)

    def is_over(self, but=()):
        """Whether all processes have ended; but those on some hosts."""
        return not self.left(but)

    def left(self, but=()):
        return [host for host, processes in self.processes.items() for process in processes
                if host not in but and process.poll() is None]

    def record(self):
        try:
            return json.loads((self.directory / "run/run.json").read_text())
        except OSError:
            return {}


def line_of(lab_of_run, what, role, phase, returns, *, ended_after_s, left, options):
    record = lab_of_run.record()
    recovery = record.get("recovery") or {}
    losses = recovery.get("losses", [])
    first = losses[0] if losses else {}
    totals = record.get("totals", {})

    def span(begin, end):
        known = first.get(begin) is not None and first.get(end) is not None
        return f"{first[end] - first[begin]:.2f}" if known else ""

    failure = (record.get("failure") or {}).get("host") or ""
    share = first["lowest_bits_per_second"] / first["rate_before_bits_per_second"] if first.get(
        "lowest_bits_per_second") else ""
    return {"what": what, "role": role, "phase": phase, "returns": returns, "status": record.get("status", "none"),
            "named": failure,
            "ended_after_s": f"{ended_after_s:.1f}", "left": " ".join(left), "losses": recovery.get("loss_count", ""),
            "unnoticed_s": span("silent_since_s", "lost_at_s"), "away_s": span("lost_at_s", "back_at_s"),
            "lowest_share": f"{share:.2f}" if share != "" else "", "below_s": first.get("seconds_below", "")
            if first else "",
            "redelivered": recovery.get("redelivered_events", ""), "doubtful": recovery.get("doubtful_events", ""),
            "lost_events": totals.get("lost_events", ""), "received_events": totals.get("received_events", ""),
            "ledger": {True: "agrees", False: "differs"}.get((record.get("ledger") or {}).get("agrees"), ""),
            "late_sets": (record.get("verdict") or {}).get("late_sets", ""),
            "weir": (record.get("environment") or {}).get("weir_commit", "")[:12],
            "command": " ".join(["weir", "run", "--join", "ctl01:7000", "--ranks", str(len(HOSTS)), *OPTIONS,
                                 *options])}


def disturb(lab_of_run, what, host, begins):
    if what == "kill":
        if begins:
            lab_of_run.signal(host, signal.SIGKILL)
        else:
            lab_of_run.start(host)
    elif what == "stop":
        lab_of_run.signal(host, signal.SIGSTOP if begins else signal.SIGCONT)
    else:
        lab_of_run.link(host, "down" if begins else "up")


def one_kill(options, what, role, phase, returns):
    host, duration_s = ROLES[role], 12 if returns else 8
    with tempfile.TemporaryDirectory(prefix="weir-recovery-") as directory, Lab(options.weir, directory) as run:
        words = ("--duration", f"{duration_s}s")
        run.start_all(*words)
        if phase == "start":
            run.wait(lambda: run.record() != {}, 30)
        else:
            run.wait(lambda: run.seconds() >= {"measurement": 3, "end": duration_s - 1, "record": duration_s}[phase],
                     60)
            if phase == "end":
                time.sleep(0.7 if what == "cut" else 0.95)  # to cut a link takes a while
        disturb(run, what, host, True)
        begin = time.monotonic()
        if returns:
            time.sleep(4)
            disturb(run, what, host, False)
        # Consumers cannot tell whether rank 0 or they are cut off, and try to come back.
        trying = HOSTS[3:] if (what, role, phase) in (("cut", "scheduler", "measurement"),
                                                      ("cut", "scheduler", "end")) else ()
        run.wait(lambda: run.is_over((host, *trying)), LIMIT_S)
        after_s = time.monotonic() - begin
        if what == "cut" and not returns and not trying:
            disturb(run, what, host, False)  # a host without a network cannot learn that the run is over
        deadline = time.monotonic() + ENDS_WITHIN_S + (TRIES_S if trying else 0)
        stopped = (host,) if what == "stop" and not returns else ()
        while run.left(stopped) and time.monotonic() < deadline:
            time.sleep(0.05)
        return line_of(run, what, role, phase, "yes" if returns else "no", ended_after_s=after_s,
                       left=run.left(stopped), options=words)


def kills(options):
    cases = [(what, role, phase, False) for role in ROLES for what in ("kill", "stop", "cut") for phase in PHASES
             if (what, phase) != ("cut", "record")]  # that is over before a link is cut
    cases += [(what, "consumer", "measurement", True) for what in ("kill", "stop", "cut")]
    file = options.out / "runs.csv"
    done = {tuple(line[name] for name in NAMES[:4]) for line in studies.stored(file)} if file.exists() else set()
    for number, case in enumerate(cases, 1):
        key = (*case[:3], "yes" if case[3] else "no")
        if key in done or not " ".join(key).startswith(options.only):
            continue
        line = one_kill(options, *case)
        print(f"{number}/{len(cases)} " + " ".join(str(line[name]) for name in NAMES[:-2]), flush=True)
        studies.store(options.out / "runs.csv", NAMES, line, NAMES[:4])


def steady(options):
    """A consumer is killed every 30 s, in turn, and started again 3 s later."""
    duration_s, period_s, away_s = options.seconds, 30, 3
    with tempfile.TemporaryDirectory(prefix="weir-recovery-") as directory, Lab(options.weir, directory) as run:
        words = ("--duration", f"{duration_s}s")
        run.start_all(*words)
        run.wait(lambda: run.seconds() >= 5, 60)
        begin = time.monotonic()
        for number in range((duration_s - 10) // period_s):
            time.sleep(max(0, begin + number * period_s - time.monotonic()))
            host = HOSTS[3 + number % 3]
            run.signal(host, signal.SIGKILL)
            time.sleep(away_s)
            run.start(host)
            print(f"{number + 1} killed and started again: {host}", flush=True)
        run.wait(run.is_over, duration_s + LIMIT_S)
        line = line_of(run, f"kill every {period_s} s", "consumer", "measurement", "yes",
                       ended_after_s=time.monotonic() - begin, left=run.left(), options=words)
        shutil.copy(run.directory / "run/run.json", options.out / "steady.json")
    print(" ".join(str(line[name]) for name in NAMES[:-2]))
    studies.store(options.out / "runs.csv", NAMES, line, NAMES[:4])


# ---------------------------------------------------------------------------------------------------------------- page


def expected_of(line):
    """(what was expected, whether it holds)."""
    complete = line["status"] == "complete" and line["ledger"] == "agrees" and not line["left"]
    named = line["status"] == "failed" and line["named"] == ROLES[line["role"]] and not line["left"]
    in_time = float(line["ended_after_s"]) <= ENDS_WITHIN_S
    if line["role"] == "consumer" and line["phase"] != "start":
        return "goes on; ledgers agree", complete and (line["returns"] == "yes" or in_time)
    if line["phase"] == "record":
        return f"ends within {ENDS_WITHIN_S} s: complete, or named", (complete or named) and in_time
    return f"ends within {ENDS_WITHIN_S} s, named", named and in_time


def page(out):
    lines = studies.stored(out / "runs.csv")
    single = [line for line in lines if not line["what"].startswith("kill every")]
    rows = []
    for line in single:
        expected, holds = expected_of(line)
        found = f"{line['status']}, ledgers: {line['ledger']}" if line["status"] == "complete" else \
            f"{line['status']}, {line['named'] or 'nobody'} named, after {line['ended_after_s']} s"
        rows.append([line["role"], line["what"],
                     PHASES[line["phase"]] + (", back 4 s later" if line["returns"] == "yes" else ""), expected,
                     found + (f"; left: {line['left']}" if line["left"] else ""), studies.verdict(holds)])
    losses = [[line["what"] + (", back 4 s later" if line["returns"] == "yes" else ""), PHASES[line["phase"]],
               line["unnoticed_s"], line["away_s"], line["lowest_share"], line["below_s"], line["late_sets"],
               line["redelivered"], line["doubtful"], line["lost_events"], line["received_events"]]
              for line in lines if line["losses"] not in ("", "0") and line["status"] == "complete" and line in single]
    parts = {"kills": studies.table(["role", "what", "when", "expected", "found", "outcome"], rows),
             "losses": studies.table(["what", "when", "unnoticed, s", "away, s", "lowest rate", "seconds below 95 %",
                                      "late sets",
                                      "sent in vain", "doubtful", "lost", "received events"], losses),
             "steady": steady_table(out / "steady.json"),
             "passed": f"{sum(row[-1] == 'PASS' for row in rows)} of {len(rows)}"}
    return studies.about(out, "recovery", parts,
                         "Made by `bench/study recovery` of runs.csv and steady.json, with weir "
                         f"{studies.versions(lines)}.")


def steady_table(path):
    if not path.exists():
        return "Not run."
    record = json.loads(path.read_text())
    recovery, totals = record["recovery"], record["totals"]
    losses = recovery["losses"]
    unnoticed = sorted(loss["lost_at_s"] - loss["silent_since_s"] for loss in losses)
    away = sorted(loss["back_at_s"] - loss["lost_at_s"] for loss in losses if loss["back_at_s"] is not None)
    shares = sorted((loss["lowest_bits_per_second"]
                     or loss["rate_before_bits_per_second"]) / loss["rate_before_bits_per_second"]
                    for loss in losses)
    below = sorted(loss["seconds_below"] for loss in losses)

    def middle(values, form):
        return f"{format(values[len(values) // 2], form)} ({format(values[0], form)} .. {format(values[-1], form)})"

    return studies.table(["figure", "found: median (least .. most)"], [
        ["consumers lost", str(recovery["loss_count"])], ["of them back", str(len(away))],
        ["from the last sign of life to the loss, s", middle(unnoticed, ".2f")],
        ["from the loss to the return, s (3 s of it until it was started)", middle(away, ".2f")],
        ["lowest rate of a second, of the rate before", middle(shares, ".2f")],
        ["seconds below 95 %", middle(below, "d")],
        ["late sets", f"{record['verdict']['late_sets']} of {record['verdict']['sets']}"],
        ["events generated, sent, received; lost", f"{totals['generated_events']}, {totals['sent_events']}, "
                                                   f"{totals['received_events']}; {totals['lost_events']}"],
        ["deliveries in vain, doubtful", f"{recovery['redelivered_events']}, {recovery['doubtful_events']}"],
        ["ledgers", "agree" if record["ledger"]["agrees"] else "differ"]])


def add_options(parser):
    parser.add_argument("--only", default="", help="kills: the cases that begin so, as 'cut consumer measurement yes'")
    parser.add_argument("--seconds", type=int, default=600, help="of the steady run")


STUDY = studies.Study(page, runs={"kills": kills, "steady": steady}, options=add_options)
