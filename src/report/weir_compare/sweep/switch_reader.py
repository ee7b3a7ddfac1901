"""Runs the command that reads a switch's counters, before, during and after a run, and keeps what it printed:

    switch/read.json          the command, and of each reading: when, how long it took, or why it is missing
    switch/read.csv           its values; they are read by runs/switch_counters.py
    switch/read/0001-before.txt     what was printed

A reading never fails a run and never holds it up for longer than the limit. It needs Python's own library only: it runs
on the nodes of a job."""

import contextlib
import csv
import fcntl
import io
import os
import shutil
import signal
import subprocess
import time
from datetime import datetime, timezone
from pathlib import Path

from weir_runs.basics import whole_file
from weir_runs.basics.child import die_with_parent
from weir_runs.basics.errors import ReportError
from weir_runs.reading import switch_reading

SCHEMA = "weir-switch-read/1"
COLUMNS = ("time", "when", "port", "priority", "name", "value")
OUTPUT_BYTES_MAX = 8 << 20  # of one reading
RAW_BYTES_MAX = 32 << 20  # of all readings of a run; of later ones, the values are kept
ROWS_MAX = 2_000_000  # of a run; later readings during the run are not made
MESSAGE_BYTES = 2000
PIPE_BYTES = 1 << 20
KILL_AFTER_S = 2.0
GIVE_UP_AFTER_S = 5.0  # after a kill that has no effect: a program that waits for a dead file system
POLL_S = 0.02


class Call:
    """The command, once. It is killed, with all that it started, when it takes longer than `limit_s` or prints too
    much."""

    def __init__(self, command, directory, variables, limit_s):
        self.output, self.problem = b"", None
        self._message = b""
        self._limit_s = limit_s
        self._begun = time.monotonic()
        self._kill_at = None
        self.seconds = None  # when it has ended
        self._process = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, cwd=directory, env={**os.environ, **variables},
                                         start_new_session=True, preexec_fn=die_with_parent)
        for pipe in (self._process.stdout, self._process.stderr):
            os.set_blocking(pipe.fileno(), False)
        with contextlib.suppress(OSError):  # so that it need not wait for the next poll
            fcntl.fcntl(self._process.stdout.fileno(), getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE_BYTES)

    def poll(self):
        """Receives what was printed. True when it has ended."""
        if self.seconds is not None:
            return True
        status = self._process.poll()  # first: what is in the pipes after that is all
        self.output += self._received(self._process.stdout, OUTPUT_BYTES_MAX + 1 - len(self.output))
        self._message = (self._message + self._received(self._process.stderr, 1 << 20))[-MESSAGE_BYTES:]
        if status is not None:
            self._finish(status)
            return True
        now = time.monotonic()
        if len(self.output) > OUTPUT_BYTES_MAX:
            self._refuse(f"it printed more than {OUTPUT_BYTES_MAX} bytes")
        elif now - self._begun > self._limit_s:
            self._refuse(f"its command did not end within {self._limit_s:g} s")
        if self._kill_at is not None and now > self._kill_at:
            self._send(signal.SIGKILL)
            if now > self._kill_at + GIVE_UP_AFTER_S:
                self._finish(-signal.SIGKILL)
                return True
        return False

    def wait(self):
        while not self.poll():
            time.sleep(POLL_S)

    def end(self, _):
        """The worker got a signal."""
        self._refuse("weir-sweep was stopped")

    def _refuse(self, why):
        if self.problem is None:
            self.problem = why
            self._kill_at = time.monotonic() + KILL_AFTER_S
            self._send(signal.SIGTERM)

    def _received(self, pipe, most):
        parts = []
        while most > 0:
            try:
                part = os.read(pipe.fileno(), min(most, PIPE_BYTES))
            except BlockingIOError:
                break
            if not part:
                break
            parts.append(part)
            most -= len(part)
        return b"".join(parts)

    def _finish(self, status):
        self._send(signal.SIGKILL)  # what it started and left behind
        self._process.stdout.close()
        self._process.stderr.close()
        self.seconds = time.monotonic() - self._begun
        if self.problem is None and len(self.output) > OUTPUT_BYTES_MAX:
            self.problem = f"it printed more than {OUTPUT_BYTES_MAX} bytes"
        if self.problem is None and status != 0:
            how = f"it exited with {status}" if status > 0 else f"it was killed by signal {-status}"
            self.problem = how + (f": {self.said[-1][:200]}" if self.said else "")

    @property
    def said(self):
        """The last lines on its standard error."""
        return self._message.decode("utf-8", "replace").strip().splitlines()

    def _send(self, number):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def read_once(command, directory, variables, limit_s):
    """(counters, text, problem, lines on standard error): one of counters and problem is None."""
    call = Call(command, directory, variables, limit_s)
    call.wait()
    return *parsed(call), call.said


def parsed(call):
    text = call.output[:OUTPUT_BYTES_MAX].decode("utf-8", "replace")
    if call.problem is not None:
        return None, text, call.problem
    try:
        return switch_reading.parse(text), text, None
    except ReportError as error:
        return None, text, str(error)


class SwitchReader:
    """The readings of one run. `job`: {'command', 'limit_s', 'every_s' or None}; `directory`: in which they are
    collected until `move_to`, which must not exist; `base`: in which the command runs; `stop`: the worker's signals."""

    def __init__(self, job, directory, base, variables, stop, say):
        self._job, self._directory, self._base, self._variables = job, Path(directory), base, variables
        self._stop, self._say = stop, say
        self._readings = []
        self._call = self._called_at = None
        self._next_at = None
        self._raw_bytes = self._rows = 0
        (self._directory / "read").mkdir(parents=True)
        (self._directory / "read.csv").write_text(",".join(COLUMNS) + "\n", encoding="utf-8")

    def before(self):
        self._read("before")
        if self._job.get("every_s"):
            self._next_at = time.monotonic() + self._job["every_s"]

    def tick(self):
        """While the run is running: never waits."""
        if self._call is not None:
            if self._call.poll():
                self._keep("during")
        elif self._next_at is not None and time.monotonic() >= self._next_at and self._rows < ROWS_MAX:
            self._next_at = max(self._next_at + self._job["every_s"], time.monotonic())
            self._start("during")

    def after(self):
        if self._call is not None:
            self._wait("during")
        self._read("after")

    def move_to(self, run_directory):
        """Into the run's directory, if the run has made one."""
        self._write_record()
        if Path(run_directory).is_dir():
            target = Path(run_directory) / "switch"
            if target.exists():
                shutil.copytree(self._directory, target, dirs_exist_ok=True)
                shutil.rmtree(self._directory)
            else:
                os.rename(self._directory, target)

    def _read(self, when):
        self._start(when)
        if self._call is not None:
            self._wait(when)

    def _start(self, when):
        if self._stop:
            return
        self._called_at = datetime.now(timezone.utc)
        self._call = Call(self._job["command"], self._base, {**self._variables, "WEIR_SWITCH_READ": when},
                          self._job["limit_s"])

    def _wait(self, when):
        with self._stop.while_running(self._call):
            self._call.wait()
        self._keep(when)

    def _keep(self, when):
        call, self._call = self._call, None
        counters, text, problem = parsed(call)
        stamp = self._called_at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        number = len(self._readings) + 1
        raw = None
        if text and self._raw_bytes + len(call.output) <= RAW_BYTES_MAX:
            raw = f"read/{number:04d}-{when}.txt"
            self._raw_bytes += len(call.output)
            (self._directory / raw).write_text(text, encoding="utf-8", errors="replace")
        if counters:
            self._rows += len(counters)
            with open(self._directory / "read.csv", "a", encoding="utf-8") as file:
                file.write(_lines(stamp, when, counters))
        if problem and not any(reading["problem"] for reading in self._readings):
            self._say(f"      switch not read ({when} the run): {problem}", flush=True)
        self._readings.append({"when": when, "time": stamp, "seconds": round(call.seconds, 3),
                               "counters": len(counters or ()), "problem": problem, "raw": raw})
        self._write_record()

    def _write_record(self):
        whole_file.replace(self._directory / "read.json", whole_file.json_text({
            "schema": SCHEMA, "command": self._job["command"], "every_s": self._job.get("every_s"),
            "limit_s": self._job["limit_s"], "readings": self._readings}))


def _lines(stamp, when, counters):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for counter in counters:
        writer.writerow((stamp, when, counter.port, "" if counter.priority is None else counter.priority, counter.name,
                         "" if counter.value is None else counter.value))
    return out.getvalue()
