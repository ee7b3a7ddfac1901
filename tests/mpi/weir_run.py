"""Runs `weir run` under mpirun and checks what every run must leave behind, whatever it measured."""

import atexit
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parents[2] / "results/causes"))
import refutation  # noqa: E402

WEIR = os.environ["WEIR"]
MPIRUN = os.environ["WEIR_MPIRUN"]
# Times of rows that overlap others: only the others of a rank make up its time.
NOT_PARTS = {"covered_s", "processing_s", "backlogged_s", "sending_s", "all_streams_s", "free_slot_s",
             "receiving_slot_s", "queued_slot_s", "withheld_slot_s", "handling_s", "outstanding_event_s",
             "poll_gap_end_s"}
SKIPPED = 77  # the exit status that CTest reports as skipped


def why_no_ucx():
    """Why this weir has no engine ucx; nothing if it has one."""
    tried = subprocess.run([WEIR, "run", "--engine", "ucx", "--dry-run"], capture_output=True, text=True, check=False)
    return tried.stderr.strip() if tried.returncode == 2 and "--engine: ucx: " in tried.stderr else None


def skip_without_ucx():
    if why := why_no_ucx():
        print(f"skipped: {why}")
        sys.exit(SKIPPED)


class Failed(AssertionError):
    """A check that did not hold."""


def check(holds, message):
    """`message` may be a function, where it costs something to find the words."""
    if not holds:
        raise Failed(message() if callable(message) else message)


class Run:
    """One run: its exit status, output, run.json and rows."""

    def __init__(self, directory, status, stdout, stderr, seconds):
        self.directory = Path(directory)
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds
        record = self.directory / "run.json"
        self.json = json.loads(record.read_text()) if record.exists() else None

    def rows(self):
        """Rows by rank file name; every line must parse."""
        found = {}
        for path in sorted((self.directory / "ranks").glob("rank-*.csv")):
            text = path.read_text()
            check(text == "" or text.endswith("\n"), f"{path.name} ends in the middle of a line")
            rows = list(csv.DictReader(text.splitlines()))
            for row in rows:
                check(None not in row and None not in row.values(), f"{path.name}: a row with missing columns: {row}")
            found[path.name] = rows
        return found


def mpi_command(ranks, options, before_program=(), directory="run"):
    return [MPIRUN, "-np", str(ranks), *before_program, WEIR, "run", "--out", str(directory), *options]


def weir(ranks, *options, directory="run", limit_s=60, command=None):
    """Runs to the end."""
    command = command or mpi_command(ranks, options, directory=directory)
    begin = time.monotonic()
    process = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    return Run(directory, process.returncode, process.stdout, process.stderr, time.monotonic() - begin)


def check_status(run, *expected):
    """The exit status of mpirun. Open MPI 4.1's mpirun may crash after all ranks of a job that was ended have gone
    (PMIx 4.2.2 uses a null pointer in PMIx_server_finalize): its status then says nothing, and what weir left behind
    has to."""
    if run.status in (-signal.SIGSEGV,
                      128 + signal.SIGSEGV) and "PMIx_server_finalize" in run.stderr and 0 not in expected:
        print(f"mpirun crashed at its end, and {' or '.join(map(str, expected))} was lost", flush=True)
        return
    check(run.status in expected,
          lambda: f"exit status {run.status}, expected "
                  f"{' or '.join(map(str, expected))}\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")


def check_traffic(run):
    """traffic.csv: every pair once, in order, and its sums are the totals and the ledger of each consumer."""
    lines = (run.directory / "traffic.csv").read_text().splitlines()
    check(lines[0] == "producer,consumer,received_events,received_bytes,under_way_s", lines[0])
    pairs = [tuple(map(int, line.split(",")[:4])) for line in lines[1:]]
    check(sum(float(line.split(",")[4]) for line in lines[1:]) > 0, f"traffic.csv: transfers took no time: {lines}")
    check(pairs == sorted(pairs) and len({pair[:2] for pair in pairs}) == len(pairs), f"traffic.csv: order of {pairs}")
    check(all(events > 0 and received_bytes > 0 for _, _, events, received_bytes in pairs), f"traffic.csv: {pairs}")
    totals = run.json["totals"]
    for place, name in ((2, "received_events"), (3, "received_bytes")):
        total = sum(pair[place] for pair in pairs)
        check(total == totals[name], f"totals.{name} is {totals[name]}, traffic.csv sums to {total}")
    for place, role, flow in ((0, "producer", "sent"), (1, "consumer", "received")):
        for rank in (rank for rank in run.json["ranks"] if rank["role"] == role):
            of_rank = [pair for pair in pairs if pair[place] == rank["index"]]
            there = {"events": sum(pair[2] for pair in of_rank), "bytes": sum(pair[3] for pair in of_rank)}
            check(there == rank[flow], f"{role} {rank['index']}: {flow} {rank[flow]}, in traffic.csv {there}")


def check_complete(run, ranks):
    """A run to the planned end: status, rows, ledgers, totals."""
    report = f"\nexit {run.status}\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}"
    check(run.json is not None, "no run.json" + report)
    check(run.json["schema"] == "weir-run/1", "schema")
    check(run.json["status"] == "complete", f"status {run.json['status']}, {run.json['failure']}" + report)
    check(run.json["ledger"]["agrees"], f"ledgers: {run.json['ledger']['differences']}")
    totals = run.json["totals"]
    rows = run.rows()
    check(len(rows) == ranks, f"{len(rows)} rank files, {ranks} ranks")

    def rank_files_sum(role, column):
        return sum(int(row[column]) for name, lines in rows.items() if role in name for row in lines)

    for name, role in (("generated", "producer"), ("sent", "producer"), ("received", "consumer"), ("lost", "producer")):
        for unit in ("events", "bytes"):
            total, of_rows = totals[f"{name}_{unit}"], rank_files_sum(role, f"{name}_{unit}")
            check(total == of_rows, f"totals.{name}_{unit} is {total}, the rank files sum to {of_rows}")
    check_traffic(run)
    for name, latency in run.json["latency"].items():
        upper_us, events = latency["buckets"]["upper_us"], latency["buckets"]["events"]
        check(len(upper_us) == len(events) and upper_us == sorted(set(upper_us)), f"buckets of {name}: {upper_us}")
        check(all(events) and sum(events) == latency["count"], f"{name}: {latency['count']} in buckets of {events}")
    check(totals["generated_bytes"] == totals["sent_bytes"] + totals["lost_bytes"], f"bytes unaccounted for: {totals}")
    check(totals["sent_events"] == totals["received_events"], f"events unaccounted for: {totals}")
    check(totals["sent_bytes"] == totals["received_bytes"], f"bytes unaccounted for: {totals}")
    check(totals["received_events"] > 0, "nothing was moved")
    check(totals["corrupt_events"] == 0 and totals["duplicate_events"] == 0, f"integrity: {totals}")
    for name, lines in rows.items():
        seconds = [int(row["second"]) for row in lines]
        check(seconds == list(range(seconds[0], seconds[0] + len(seconds))), f"{name}: seconds {seconds}")
        for row in lines:
            use = sum(float(value) for key, value in row.items()
                      if key.endswith("_s") and key not in NOT_PARTS)
            check(abs(use - float(row["covered_s"])) < 1e-4,
                  f"{name}: the times of second {row['second']} sum to {use}")
    if run.json["verdict"]["on_time"] is not None:
        against = refutation.refuted(run.json, run.directory)
        check(not against, f"{against}: {run.json['verdict']['text']}")


class Background:
    """A run that is disturbed while it goes on."""

    started = []

    def __init__(self, ranks, *options, directory="run", command=None, environment=None):
        self.directory = Path(directory)
        self.command = command or mpi_command(ranks, options, directory=directory)
        self.out = open("stdout.txt", "w+", encoding="utf-8")
        self.err = open("stderr.txt", "w+", encoding="utf-8")
        self.begin = time.monotonic()
        self.process = subprocess.Popen(self.command, stdout=self.out, stderr=self.err,
                                        env={**os.environ, **(environment or {})})
        Background.started.append(self)

    def wait_for_seconds(self, seconds, limit_s=60, rows="ranks"):
        """Until every rank has logged that many seconds of phase `measure`; `rows`: where, in the run directory."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            check(self.process.poll() is None, "the run ended before it was disturbed: " + self.text())
            files = list(self.directory.glob(f"{rows}/rank-*.csv"))
            if files and all(path.read_text().count(",measure,") >= seconds for path in files):
                return
            time.sleep(0.05)
        raise Failed("the run did not get going: " + self.text())

    def pids(self):
        """Process by rank, from the environment that mpirun gave each."""
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                variables = dict(part.split("=", 1)
                                 for part in (entry / "environ").read_text().split("\0") if "=" in part)
                arguments = (entry / "cmdline").read_text().split("\0")
            except (OSError, UnicodeDecodeError):
                continue
            if arguments[0] == WEIR and str(self.directory) in arguments and "OMPI_COMM_WORLD_RANK" in variables \
                    and os.path.realpath(entry / "cwd") == os.getcwd():
                found[int(variables["OMPI_COMM_WORLD_RANK"])] = int(entry.name)
        return found

    def send(self, rank, number):
        os.kill(self.pids()[rank], number)

    def end(self, limit_s):
        """Waits for the end, which must come within the limit."""
        begin = time.monotonic()
        try:
            self.process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            raise Failed(f"the run did not end within {limit_s} s: " + self.text()) from None
        for stream in (self.out, self.err):
            stream.seek(0)
        return Run(self.directory, self.process.returncode, self.out.read(), self.err.read(), time.monotonic() - begin)

    def text(self):
        return Path("stdout.txt").read_text()[-2000:] + Path("stderr.txt").read_text()[-2000:]


def run_test(test, place):
    """Whether it passed, in this directory."""
    place.mkdir()
    os.chdir(place)
    begin = time.monotonic()
    try:
        test()
        print(f"passed {test.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
        passed = True
    except Exception as error:  # whatever it is: the other tests are still worth running
        print(f"FAILED {test.__name__}: {type(error).__name__}: {error}", flush=True)
        passed = False
    for run in Background.started:
        if run.process.poll() is None:
            run.process.terminate()
            run.process.wait(timeout=20)
    return passed


def named(name, function, *arguments):
    """A test of a table: the function with these arguments."""
    def test():
        function(*arguments)

    test.__name__ = name
    return test


def run_beside(test, place):
    """In a process of its own, with its own place for MPI's files; returns the process's id."""
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    status = 1
    os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="")
    try:
        status = 0 if run_test(test, place) else 1
        atexit._run_exitfuncs()
    finally:
        os._exit(status)


def passed_one_of(begun):
    """Waits for one of these processes, and takes it from them."""
    pid, status = os.wait()
    begun.discard(pid)
    return status == 0


def main(*tests, at_once=1):
    """Runs the tests, each in a directory of its own; all are tried, any failure fails. at_once: so many beside each
    other, where they mostly wait for mpirun, for silence or for the end of a run."""
    top = Path.cwd()
    failed, begun = 0, set()
    for test in tests:
        if at_once == 1:
            failed += not run_test(test, top / test.__name__)
            os.chdir(top)
            continue
        if len(begun) == at_once:
            failed += not passed_one_of(begun)
        begun.add(run_beside(test, top / test.__name__))
    while begun:
        failed += not passed_one_of(begun)
    sys.exit(1 if failed else 0)
